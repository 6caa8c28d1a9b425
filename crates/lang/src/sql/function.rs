//! The functions a query may call.

/// A scalar function of SQLite with a fixed number of arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Function(u8);

/// What is known of a function's result or wanted of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort {
    Number,
    Text,
    Any,
}

struct Definition {
    name: &'static str,
    arguments: &'static [Sort],
    result: Sort,
}

macro_rules! functions {
    ($($name:literal ($($argument:ident),*) $result:ident;)*) => {
        &[$(Definition { name: $name, arguments: &[$(Sort::$argument),*], result: Sort::$result }),*]
    };
}

/// One line an arity, so that one action says all there is to say.
const FUNCTIONS: &[Definition] = functions! {
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
    // With one argument these two aggregate.
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

impl Function {
    /// The function called `name` (upper or lower case) with so many arguments.
    pub fn find(name: &str, arguments: usize) -> Option<Self> {
        // Two names for one function.
        let name = match name.to_ascii_lowercase().as_str() {
            "substring" => "substr".to_owned(),
            "ifnull" if arguments == 2 => "coalesce".to_owned(),
            other => other.to_owned(),
        };
        let index = FUNCTIONS.iter().position(|f| f.name == name && f.arguments.len() == arguments);
        index.map(|index| Function(index as u8))
    }

    /// Whether there is a function called `name` with any number of arguments.
    pub(super) fn is_name(name: &str) -> bool {
        (0..4).any(|arguments| Function::find(name, arguments).is_some())
    }

    pub(super) fn all() -> impl Iterator<Item = Function> {
        (0..FUNCTIONS.len()).map(|index| Function(index as u8))
    }

    /// Its name in SQL.
    pub fn name(self) -> &'static str {
        self.definition().name
    }

    pub(super) fn arguments(self) -> &'static [Sort] {
        self.definition().arguments
    }

    pub(super) fn result(self) -> Sort {
        self.definition().result
    }

    fn definition(self) -> &'static Definition {
        &FUNCTIONS[usize::from(self.0)]
    }
}

/// A function of all rows of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Aggregate {
    /// How many values there are.
    Count,
    /// How many different values there are.
    CountDistinct,
    /// Their sum.
    Sum,
    /// The sum of the different ones.
    SumDistinct,
    /// Their mean.
    Avg,
    /// The mean of the different ones.
    AvgDistinct,
    /// The least.
    Min,
    /// The greatest.
    Max,
    /// All of them in one text.
    GroupConcat,
}

impl Aggregate {
    pub(super) const ALL: [Aggregate; 9] = {
        use Aggregate::*;
        [Count, CountDistinct, Sum, SumDistinct, Avg, AvgDistinct, Min, Max, GroupConcat]
    };

    /// The aggregate called `name`, of all values or of different ones.
    pub fn find(name: &str, distinct: bool) -> Option<Self> {
        use Aggregate::*;
        Some(match (name.to_ascii_lowercase().as_str(), distinct) {
            ("count", false) => Count,
            ("count", true) => CountDistinct,
            ("sum", false) => Sum,
            ("sum", true) => SumDistinct,
            ("avg", false) => Avg,
            ("avg", true) => AvgDistinct,
            // The least of the different values is the least value.
            ("min", _) => Min,
            ("max", _) => Max,
            ("group_concat", false) => GroupConcat,
            _ => return None,
        })
    }

    /// Its name in SQL.
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

    /// Whether it looks at different values only.
    pub fn is_distinct(self) -> bool {
        matches!(self, Aggregate::CountDistinct | Aggregate::SumDistinct | Aggregate::AvgDistinct)
    }

    /// Whether it adds values up, which makes no sense of words.
    pub fn adds(self) -> bool {
        use Aggregate::*;
        matches!(self, Sum | SumDistinct | Avg | AvgDistinct)
    }

    /// What is known of its result.
    pub(super) fn result(self) -> Sort {
        match self {
            Aggregate::Min | Aggregate::Max => Sort::Any,
            Aggregate::GroupConcat => Sort::Text,
            _ => Sort::Number,
        }
    }
}
