//! The functions that a query may call.

/// A scalar function of SQLite with a fixed number of arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ScalarFunction(u8);

/// The type of an argument or result, as far as the grammar distinguishes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueType {
    Number,
    Text,
    Any,
}

struct FunctionDefinition {
    name: &'static str,
    arguments: &'static [ValueType],
    result: ValueType,
}

macro_rules! functions {
    ($($name:literal ($($argument:ident),*) $result:ident;)*) => {
        &[$(FunctionDefinition { name: $name, arguments: &[$(ValueType::$argument),*], result: ValueType::$result }),*]
    };
}

/// A function with several arities has one line for each, so that one action determines the arity.
const FUNCTIONS: &[FunctionDefinition] = functions! {
    "abs" (Number) Number;
    "round" (Number) Number;
    "round" (Number, Number) Number;
    "length" (Any) Number;
    "lower" (Any) Text;
    "upper" (Any) Text;
    "trim" (Any) Text;
    "ltrim" (Any) Text;
    "rtrim" (Any) Text;
    "substr" (Any, Any) Text;
    "substr" (Any, Any, Any) Text;
    "replace" (Any, Any, Any) Text;
    "instr" (Any, Any) Number;
    "coalesce" (Any, Any) Any;
    "coalesce" (Any, Any, Any) Any;
    "nullif" (Any, Any) Any;
    // With one argument, these two are aggregates.
    "max" (Any, Any) Any;
    "min" (Any, Any) Any;
    "strftime" (Any, Any) Any;
    "strftime" (Any, Any, Any) Any;
    "date" (Any) Any;
    "date" (Any, Any) Any;
    "date" (Any, Any, Any) Any;
    "time" (Any) Any;
    "datetime" (Any) Any;
    "datetime" (Any, Any) Any;
    "julianday" (Any) Number;
    "julianday" (Any, Any) Number;
    "random" () Number;
};

impl ScalarFunction {
    /// Returns the function with this name, in upper or lower case, and this number of arguments.
    pub fn find(name: &str, arguments: usize) -> Option<Self> {
        let name = match name.to_ascii_lowercase().as_str() {
            // Synonyms.
            "substring" => "substr".to_owned(),
            "ifnull" if arguments == 2 => "coalesce".to_owned(),
            other => other.to_owned(),
        };
        let index = FUNCTIONS.iter().position(|f| f.name == name && f.arguments.len() == arguments);
        index.map(|index| ScalarFunction(index as u8))
    }

    /// Returns whether there is a function with this name, for any number of arguments.
    pub(super) fn is_name(name: &str) -> bool {
        (0..4).any(|arguments| ScalarFunction::find(name, arguments).is_some())
    }

    /// Returns all functions, in the order of their grammar rules.
    pub(super) fn all() -> impl Iterator<Item = ScalarFunction> {
        (0..FUNCTIONS.len()).map(|index| ScalarFunction(index as u8))
    }

    /// Returns the name in SQL.
    pub fn name(self) -> &'static str {
        self.definition().name
    }

    pub(super) fn arguments(self) -> &'static [ValueType] {
        self.definition().arguments
    }

    pub(super) fn result(self) -> ValueType {
        self.definition().result
    }

    fn definition(self) -> &'static FunctionDefinition {
        &FUNCTIONS[usize::from(self.0)]
    }
}

/// A function of all rows of a group, or of their distinct values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Aggregate {
    /// The number of values.
    Count,
    /// The number of distinct values.
    CountDistinct,
    /// The sum.
    Sum,
    /// The sum of the distinct values.
    SumDistinct,
    /// The mean.
    Avg,
    /// The mean of the distinct values.
    AvgDistinct,
    /// The least value.
    Min,
    /// The greatest value.
    Max,
    /// All values, joined to one text.
    GroupConcat,
}

impl Aggregate {
    /// All aggregates. Their order is the order of grammar rules.
    pub(super) const ALL: [Aggregate; 9] = {
        use Aggregate::*;
        [Count, CountDistinct, Sum, SumDistinct, Avg, AvgDistinct, Min, Max, GroupConcat]
    };

    /// Returns the aggregate with this name, of all values or of the distinct ones.
    pub fn find(name: &str, distinct: bool) -> Option<Self> {
        use Aggregate::*;
        Some(match (name.to_ascii_lowercase().as_str(), distinct) {
            ("count", false) => Count,
            ("count", true) => CountDistinct,
            ("sum", false) => Sum,
            ("sum", true) => SumDistinct,
            ("avg", false) => Avg,
            ("avg", true) => AvgDistinct,
            // `DISTINCT` makes no difference to these two.
            ("min", _) => Min,
            ("max", _) => Max,
            ("group_concat", false) => GroupConcat,
            _ => return None,
        })
    }

    /// Returns the name in SQL.
    pub fn name(self) -> &'static str {
        use Aggregate::*;
        match self {
            Count | CountDistinct => "COUNT",
            Sum | SumDistinct => "SUM",
            Avg | AvgDistinct => "AVG",
            Min => "MIN",
            Max => "MAX",
            GroupConcat => "GROUP_CONCAT",
        }
    }

    /// Returns whether it ignores duplicate values.
    pub fn is_distinct(self) -> bool {
        matches!(self, Aggregate::CountDistinct | Aggregate::SumDistinct | Aggregate::AvgDistinct)
    }

    /// Returns whether it adds values up, which makes no sense for text.
    pub fn adds(self) -> bool {
        use Aggregate::*;
        matches!(self, Sum | SumDistinct | Avg | AvgDistinct)
    }

    /// Returns the type of the result.
    pub(super) fn result(self) -> ValueType {
        match self {
            Aggregate::Min | Aggregate::Max => ValueType::Any,
            Aggregate::GroupConcat => ValueType::Text,
            _ => ValueType::Number,
        }
    }
}
