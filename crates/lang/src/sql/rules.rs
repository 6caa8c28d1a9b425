//! The rules of the grammar: the meaning of each action, and where it is allowed.
//!
//! | type | accepts |
//! |---|---|
//! | `Query` | a `Body`, or one with `ORDER BY` or `LIMIT` |
//! | `Body` | a `Select`, or several combined by set operators |
//! | `Rows` | a `From`, or one with `WHERE` |
//! | `From` | a `Source` (a table or a query), or several joined |
//! | `Expr` | any value: `Number`, `Text` and `Loose` (computed or in columns), and literals of four kinds |
//! | `Condition` | a comparison, another test, or several combined |
//!
//! Lists are chains: a single element is a list, and one action adds an element in front of a list. Chains of `AND`
//! and `OR` have one shape only, because the first element of an `AND` is not an `AND`. A query used as a value, a
//! table used as rows and a column used as a value cost no action of their own.

use super::function::{Aggregate, ScalarFunction, ValueType};
use super::literal::LiteralKind;
use super::operator::{ArithmeticOperator, CastType, ComparisonOperator, SetOperator};
use super::pattern::Wildcards;
use super::schema::ColumnType;
use super::types::SqlTypes;
use crate::{ItemKind, LiteralClass, RuleId, Signatures, TypeId};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The meaning of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum SqlRule {
    // Queries.
    /// `ORDER BY`
    Order,
    /// `ORDER BY` and `LIMIT`
    Top,
    /// `Order` of a compound.
    OrderOutputs,
    /// `Top` of a compound.
    TopOutputs,
    Limit,
    /// `LIMIT` with `OFFSET`
    Offset,
    Set(SetOperator),
    Select,
    Group,
    GroupHaving,
    /// A select without `FROM`.
    Compute,
    Distinct,
    /// One more output.
    AndOutput,
    All,
    AllOf,
    Where,
    Join,
    LeftJoin,
    /// One more key of `ORDER BY`.
    ThenBy,
    Descending,
    /// `ThenBy` of a compound.
    ThenByOutput,
    /// `Descending` of a compound.
    DescendingOutput,
    /// One more key of `GROUP BY`.
    AndKey,
    // Columns; see [`super::scope::Occurrence`].
    /// Skips one occurrence of the column's table in a `FROM` list.
    Again(ColumnClass),
    /// Skips one `FROM` list that has the column's table.
    Outer(ColumnClass),
    AgainTable,
    /// The first output of a query in `FROM`.
    Field,
    /// The output after another one.
    NextField,
    AgainField,
    OuterField,
    // Values.
    Null,
    Negate,
    Arithmetic(ArithmeticOperator),
    Cast(CastType),
    Call(ScalarFunction),
    CountRows,
    Aggregate(Aggregate),
    Case,
    /// A condition used as a value.
    Truth,
    // Conditions. The flag says that the left side is a number.
    Compare(ComparisonOperator, bool),
    Between(bool),
    InList(bool),
    /// One more element of an `IN` list.
    AndElement,
    /// One more element of an `IN` list with a number on its left.
    AndNumber,
    InQuery,
    Exists,
    IsNull,
    Like,
    /// A pattern of `LIKE` with percent signs.
    Pattern(Wildcards),
    /// A value used as a condition.
    Holds,
    And,
    Or,
    Not,
}

impl SqlRule {
    /// Returns whether the rule is a condition.
    pub(super) fn is_condition(self) -> bool {
        use SqlRule::*;
        matches!(
            self,
            Compare(..) | Between(_) | InList(_) | InQuery | Exists | IsNull | Like | Holds | And | Or | Not
        )
    }
}

/// Where among a rule's arguments search may put a word of the question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LiteralPosition {
    Anywhere,
    /// Not as the first argument, which is compared with the others.
    OnTheRight,
    Nowhere,
}

/// The classes of columns that the grammar distinguishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum ColumnClass {
    Number,
    Text,
    Loose,
}

impl ColumnClass {
    pub(super) fn of(ty: ColumnType) -> Self {
        match ty {
            ColumnType::Number => ColumnClass::Number,
            ColumnType::Text => ColumnClass::Text,
            ColumnType::Time | ColumnType::Boolean | ColumnType::Other => ColumnClass::Loose,
        }
    }
}

/// The signatures, and the meaning of each rule.
///
/// The order of types, rules and kinds is part of a trained model.
#[derive(Clone, Debug)]
pub(super) struct SqlRules {
    pub(super) signatures: Signatures,
    /// One for each rule, in order.
    rules: Vec<SqlRule>,
    ids: FxHashMap<SqlRule, RuleId>,
    pub(super) table: ItemKind,
    /// In the order of [`ColumnType`].
    columns: [ItemKind; 5],
    /// In the order of [`LiteralKind`].
    values: [ItemKind; 4],
    /// The types of parts that usually name no literals: outputs, keys, orders and columns.
    without_literals: Vec<TypeId>,
    /// The type of `LIMIT`, which names no texts.
    limit: TypeId,
}

impl SqlRules {
    pub(super) fn rule(&self, id: RuleId) -> SqlRule {
        self.rules[id.index()]
    }

    pub(super) fn id(&self, rule: SqlRule) -> RuleId {
        self.ids[&rule]
    }

    /// Returns for each rule where search may put a word of the question.
    pub(super) fn literal_positions(&self) -> Arc<[LiteralPosition]> {
        use SqlRule::*;
        let position = |rule: &SqlRule| match rule {
            Compare(..) | Between(_) | InList(_) => LiteralPosition::OnTheRight,
            AndElement | Pattern(_) | Call(_) | Case => LiteralPosition::Anywhere,
            _ => LiteralPosition::Nowhere,
        };
        self.rules.iter().map(position).collect()
    }

    /// Returns whether a part of this type may name a literal of a class, leaving aside what few queries have: constants among
    /// outputs and keys.
    pub(super) fn may_name(&self, part: TypeId, class: LiteralClass) -> bool {
        let is_limit = part == self.limit;
        !(self.without_literals.contains(&part) || is_limit && class == LiteralClass::Text)
    }

    pub(super) fn column(&self, ty: ColumnType) -> ItemKind {
        self.columns[ty as usize]
    }

    pub(super) fn value(&self, kind: LiteralKind) -> ItemKind {
        self.values[kind as usize]
    }

    pub(super) fn new() -> Self {
        let mut signatures = Signatures::new("Query");
        let s = &mut signatures;
        let table = s.add_item_kind("tables");
        let columns = ["text columns", "number columns", "time columns", "Boolean columns", "other columns"]
            .map(|name| s.add_item_kind(name));
        let values = ["numbers", "numbers in quotes", "times", "words"].map(|name| s.add_item_kind(name));
        let types = SqlTypes::new(s);
        let (without_literals, limit) = (types.without_literals(), types.limit);
        let mut rules = SqlRules {
            signatures,
            rules: vec![],
            ids: FxHashMap::default(),
            table,
            columns,
            values,
            without_literals,
            limit,
        };
        rules.accept_items(&types);
        rules.add_queries(&types);
        rules.add_columns(&types);
        rules.add_values(&types);
        rules.add_conditions(&types);
        rules
    }

    fn add(&mut self, rule: SqlRule, name: &str, result: TypeId, arguments: &[TypeId]) {
        let id = self.signatures.add_rule(name, result, arguments);
        self.rules.push(rule);
        self.ids.insert(rule, id);
    }

    fn accept_items(&mut self, t: &SqlTypes) {
        let s = &mut self.signatures;
        s.accept_items(t.source, self.table);
        s.accept_items(t.table, self.table);
        let [text, number, time, boolean, other] = self.columns;
        s.accept_items(t.occurrences[0], number);
        s.accept_items(t.occurrences[1], text);
        for kind in [time, boolean, other] {
            s.accept_items(t.occurrences[2], kind);
        }
        let [number, quoted, time, word] = self.values;
        s.accept_items(t.number_literal, number);
        s.accept_items(t.quoted_literal, quoted);
        s.accept_items(t.quoted_literal, time);
        s.accept_items(t.word_literal, word);
    }

    fn add_queries(&mut self, t: &SqlTypes) {
        self.add(SqlRule::Select, "select", t.select, &[t.rows, t.outputs]);
        self.add(SqlRule::Group, "group", t.select, &[t.rows, t.keys, t.outputs]);
        self.add(SqlRule::GroupHaving, "groupHaving", t.select, &[t.rows, t.keys, t.condition, t.outputs]);
        self.add(SqlRule::Compute, "compute", t.select, &[t.outputs]);
        self.add(SqlRule::Order, "order", t.query, &[t.select, t.order]);
        self.add(SqlRule::Top, "top", t.query, &[t.select, t.order, t.limit]);
        self.add(SqlRule::OrderOutputs, "orderOutputs", t.query, &[t.compound, t.output_order]);
        self.add(SqlRule::TopOutputs, "topOutputs", t.query, &[t.compound, t.output_order, t.limit]);
        self.add(SqlRule::Limit, "limit", t.query, &[t.body, t.limit]);
        self.add(SqlRule::Offset, "skip", t.limit, &[t.number_literal, t.number_literal]);
        for &operator in SetOperator::ALL {
            let name = operator.name().to_lowercase();
            self.add(SqlRule::Set(operator), &name, t.compound, &[t.body, t.select]);
        }
        self.add(SqlRule::Where, "where", t.rows, &[t.from, t.condition]);
        self.add(SqlRule::Join, "join", t.from, &[t.source, t.from]);
        self.add(SqlRule::LeftJoin, "leftJoin", t.from, &[t.source, t.from, t.condition]);
        self.add(SqlRule::Distinct, "distinct", t.outputs, &[t.output_list]);
        self.add(SqlRule::AndOutput, "andOutput", t.output_list, &[t.output, t.output_list]);
        self.add(SqlRule::All, "all", t.output, &[]);
        self.add(SqlRule::AllOf, "allOf", t.output, &[t.table]);
        self.add(SqlRule::ThenBy, "thenBy", t.order, &[t.order_key, t.order]);
        self.add(SqlRule::Descending, "descending", t.order_key, &[t.computed]);
        self.add(SqlRule::ThenByOutput, "thenByOutput", t.output_order, &[t.output_key, t.output_order]);
        self.add(SqlRule::DescendingOutput, "descendingOutput", t.output_key, &[t.field]);
        self.add(SqlRule::AndKey, "andKey", t.keys, &[t.computed, t.keys]);
    }

    fn add_columns(&mut self, t: &SqlTypes) {
        for (index, (class, name)) in
            [(ColumnClass::Number, "Number"), (ColumnClass::Text, "Text"), (ColumnClass::Loose, "Loose")]
                .into_iter()
                .enumerate()
        {
            let (occurrence, reference) = (t.occurrences[index], t.references[index]);
            self.add(SqlRule::Again(class), &format!("again{name}"), occurrence, &[occurrence]);
            self.add(SqlRule::Outer(class), &format!("outer{name}"), reference, &[reference]);
        }
        self.add(SqlRule::AgainTable, "againTable", t.table, &[t.table]);
        self.add(SqlRule::Field, "field", t.field, &[]);
        self.add(SqlRule::NextField, "nextField", t.field, &[t.field]);
        self.add(SqlRule::AgainField, "againField", t.field_occurrence, &[t.field_occurrence]);
        self.add(SqlRule::OuterField, "outerField", t.field_reference, &[t.field_reference]);
    }

    fn add_values(&mut self, t: &SqlTypes) {
        self.add(SqlRule::Null, "null", t.plain, &[]);
        self.add(SqlRule::Negate, "negate", t.number, &[t.computed]);
        for &operation in ArithmeticOperator::ALL {
            let rule = SqlRule::Arithmetic(operation);
            match operation {
                ArithmeticOperator::Concatenate => self.add(rule, "concatenate", t.text, &[t.expr, t.expr]),
                _ => self.add(rule, operation.name(), t.number, &[t.not_word, t.not_word]),
            }
        }
        for &to in CastType::ALL {
            let result = if to == CastType::Text { t.text } else { t.number };
            self.add(SqlRule::Cast(to), &format!("cast{}", to.name()), result, &[t.expr]);
        }
        let result = |ty: ValueType| match ty {
            ValueType::Number => t.number,
            ValueType::Text => t.text,
            ValueType::Any => t.plain,
        };
        for function in ScalarFunction::all() {
            let argument_type = |ty: &ValueType| if *ty == ValueType::Number { t.not_word } else { t.expr };
            let arguments: Vec<TypeId> = function.arguments().iter().map(argument_type).collect();
            let name = format!("{}/{}", function.name(), arguments.len());
            self.add(SqlRule::Call(function), &name, result(function.result()), &arguments);
        }
        self.add(SqlRule::CountRows, "countRows", t.number, &[]);
        for aggregate in Aggregate::ALL {
            let distinct = if aggregate.is_distinct() { "Distinct" } else { "" };
            let name = format!("{}{distinct}", aggregate.name().to_lowercase());
            let argument = match aggregate {
                _ if aggregate.adds() => t.summable,
                // The count of a constant is the count of rows.
                Aggregate::Count => t.computed,
                _ => t.expr,
            };
            self.add(SqlRule::Aggregate(aggregate), &name, result(aggregate.result()), &[argument]);
        }
        self.add(SqlRule::Case, "case", t.plain, &[t.condition, t.expr, t.expr]);
        self.add(SqlRule::Truth, "truth", t.loose, &[t.proper]);
    }

    fn add_conditions(&mut self, t: &SqlTypes) {
        // Whether the left side is a number, the suffix of the rule's name, and the types of both sides.
        let sides = [(false, "", t.not_number, t.expr), (true, "Number", t.number, t.not_word)];
        for &comparison in ComparisonOperator::ALL {
            for (number, suffix, left, right) in sides {
                let name = format!("{}{suffix}", comparison.name());
                self.add(SqlRule::Compare(comparison, number), &name, t.comparison, &[left, right]);
            }
        }
        for (number, suffix, left, right) in sides {
            let elements = if number { t.number_element_list } else { t.element_list };
            self.add(SqlRule::Between(number), &format!("between{suffix}"), t.test, &[left, right, right]);
            self.add(SqlRule::InList(number), &format!("in{suffix}"), t.test, &[left, elements]);
        }
        self.add(SqlRule::AndElement, "andElement", t.element_list, &[t.element, t.element_list]);
        let numbers = t.number_element_list;
        self.add(SqlRule::AndNumber, "andNumber", numbers, &[t.number_element, numbers]);
        self.add(SqlRule::InQuery, "inQuery", t.test, &[t.expr, t.query]);
        self.add(SqlRule::Exists, "exists", t.test, &[t.query]);
        self.add(SqlRule::IsNull, "isNull", t.test, &[t.expr]);
        self.add(SqlRule::Like, "like", t.test, &[t.expr, t.pattern]);
        for (wildcards, name) in Wildcards::ALL.into_iter().zip(["contains", "startsWith", "endsWith"]) {
            self.add(SqlRule::Pattern(wildcards), name, t.pattern, &[t.text_literal]);
        }
        self.add(SqlRule::Holds, "holds", t.holds, &[t.not_condition]);
        self.add(SqlRule::And, "and", t.and, &[t.not_and, t.condition]);
        self.add(SqlRule::Or, "or", t.or, &[t.not_or, t.condition]);
        self.add(SqlRule::Not, "not", t.not, &[t.negatable]);
    }
}
