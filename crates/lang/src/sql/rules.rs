//! The rules of the language: what each action says, and where it may stand.
//!
//! | type | what it accepts |
//! |---|---|
//! | `Query` | a `Body`, or one that is sorted or cut off |
//! | `Body` | a `Select`, or several combined |
//! | `Rows` | a `From`, or one that is filtered |
//! | `From` | a `Source` (a table or a query), or several joined |
//! | `Expr` | any value: `Number`, `Text`, `Loose` (computed or in columns), and literals of four kinds |
//! | `Condition` | a comparison, another test, or several of them |
//!
//! Lists are chains: an element alone is a list, and one action says that another follows. Chains of `AND` and `OR`
//! have one shape only, since what is chained is not of its own kind. A query stands for its value, a table for its
//! rows, a column for the value in it without an action of their own.

use super::function::{Aggregate, Function, Sort};
use super::literal::LiteralKind;
use super::operator::{Arithmetic, Cast, Comparison, SetOperator};
use super::pattern::Wildcards;
use super::schema::ColumnType;
use super::types::Types;
use crate::{ItemKind, RuleId, Signatures, TypeId};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// What a rule says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Op {
    // Queries.
    Order,
    Top,
    OrderOutputs,
    TopOutputs,
    Limit,
    Skip,
    Set(SetOperator),
    Select,
    Group,
    GroupHaving,
    Compute,
    Distinct,
    AndOutput,
    All,
    AllOf,
    Where,
    Join,
    LeftJoin,
    ThenBy,
    Descending,
    ThenByOutput,
    DescendingOutput,
    AndKey,
    // Columns: which table, or which output of which query in `FROM`.
    Again(Columns),
    Outer(Columns),
    AgainTable,
    Field,
    NextField,
    AgainField,
    OuterField,
    // Values.
    Null,
    Negate,
    Arithmetic(Arithmetic),
    Cast(Cast),
    Call(Function),
    CountRows,
    Aggregate(Aggregate),
    Case,
    Truth,
    // Conditions; the flag says that the left side is a number.
    Compare(Comparison, bool),
    Between(bool),
    InList(bool),
    AndElement,
    AndNumber,
    InQuery,
    Exists,
    IsNull,
    Like,
    Pattern(Wildcards),
    Holds,
    And,
    Or,
    Not,
}

/// Where among a rule's arguments a word from a question makes sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Room {
    Anywhere,
    /// Something comes first, which it is compared with.
    OnTheRight,
    Nowhere,
}

/// Columns that the grammar tells apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Columns {
    Number,
    Text,
    Loose,
}

/// Signatures and the meaning of each rule.
#[derive(Debug)]
pub(super) struct Rules {
    pub(super) signatures: Signatures,
    ops: Vec<Op>,
    ids: FxHashMap<Op, RuleId>,
    pub(super) table: ItemKind,
    columns: [ItemKind; 5],
    values: [ItemKind; 4],
}

impl Rules {
    pub(super) fn op(&self, rule: RuleId) -> Op {
        self.ops[rule.index()]
    }

    pub(super) fn id(&self, op: Op) -> RuleId {
        self.ids[&op]
    }

    /// Where words make sense, by rule.
    pub(super) fn rooms(&self) -> Arc<[Room]> {
        let room = |op: &Op| match op {
            Op::Compare(..) | Op::Between(_) | Op::InList(_) => Room::OnTheRight,
            Op::AndElement | Op::Pattern(_) | Op::Call(_) | Op::Case => Room::Anywhere,
            _ => Room::Nowhere,
        };
        self.ops.iter().map(room).collect()
    }

    pub(super) fn column(&self, ty: ColumnType) -> ItemKind {
        self.columns[ty as usize]
    }

    pub(super) fn value(&self, kind: LiteralKind) -> ItemKind {
        self.values[kind as usize]
    }

    fn rule(&mut self, op: Op, name: &str, result: TypeId, arguments: &[TypeId]) {
        let id = self.signatures.rule(name, result, arguments);
        self.ops.push(op);
        self.ids.insert(op, id);
    }

    pub(super) fn new() -> Self {
        let mut signatures = Signatures::new("Query");
        let s = &mut signatures;
        let table = s.kind("tables");
        let columns = ["text columns", "number columns", "time columns", "Boolean columns", "other columns"]
            .map(|name| s.kind(name));
        let values = ["numbers", "numbers in quotes", "times", "words"].map(|name| s.kind(name));
        let types = Types::new(s);
        s.points(types.source, table);
        s.points(types.table, table);
        let mut rules = Rules { signatures, ops: vec![], ids: FxHashMap::default(), table, columns, values };
        rules.point_to_values(&types);
        rules.queries(&types);
        rules.columns(&types);
        rules.values(&types);
        rules.conditions(&types);
        rules
    }

    fn point_to_values(&mut self, t: &Types) {
        let [text, number, time, boolean, other] = self.columns;
        let s = &mut self.signatures;
        s.points(t.occurrences[0], number);
        s.points(t.occurrences[1], text);
        for kind in [time, boolean, other] {
            s.points(t.occurrences[2], kind);
        }
        let [number, quoted, time, word] = self.values;
        s.points(t.number_literal, number);
        s.points(t.quoted_literal, quoted);
        s.points(t.quoted_literal, time);
        s.points(t.word_literal, word);
    }

    fn queries(&mut self, t: &Types) {
        self.rule(Op::Select, "select", t.select, &[t.rows, t.outputs]);
        self.rule(Op::Group, "group", t.select, &[t.rows, t.keys, t.outputs]);
        self.rule(Op::GroupHaving, "groupHaving", t.select, &[t.rows, t.keys, t.condition, t.outputs]);
        self.rule(Op::Compute, "compute", t.select, &[t.outputs]);
        self.rule(Op::Order, "order", t.query, &[t.select, t.order]);
        self.rule(Op::Top, "top", t.query, &[t.select, t.order, t.limit]);
        self.rule(Op::OrderOutputs, "orderOutputs", t.query, &[t.compound, t.output_order]);
        self.rule(Op::TopOutputs, "topOutputs", t.query, &[t.compound, t.output_order, t.limit]);
        self.rule(Op::Limit, "limit", t.query, &[t.body, t.limit]);
        self.rule(Op::Skip, "skip", t.limit, &[t.number_literal, t.number_literal]);
        for operator in SetOperator::ALL {
            let name = operator.name().to_lowercase();
            self.rule(Op::Set(operator), &name, t.compound, &[t.body, t.select]);
        }
        self.rule(Op::Where, "where", t.rows, &[t.from, t.condition]);
        self.rule(Op::Join, "join", t.from, &[t.source, t.from]);
        self.rule(Op::LeftJoin, "leftJoin", t.from, &[t.source, t.from, t.condition]);
        self.rule(Op::Distinct, "distinct", t.outputs, &[t.output_list]);
        self.rule(Op::AndOutput, "andOutput", t.output_list, &[t.output, t.output_list]);
        self.rule(Op::All, "all", t.output, &[]);
        self.rule(Op::AllOf, "allOf", t.output, &[t.table]);
        self.rule(Op::ThenBy, "thenBy", t.order, &[t.order_key, t.order]);
        self.rule(Op::Descending, "descending", t.order_key, &[t.computed]);
        self.rule(Op::ThenByOutput, "thenByOutput", t.output_order, &[t.output_key, t.output_order]);
        self.rule(Op::DescendingOutput, "descendingOutput", t.output_key, &[t.field]);
        self.rule(Op::AndKey, "andKey", t.keys, &[t.computed, t.keys]);
    }

    fn columns(&mut self, t: &Types) {
        for (index, (columns, name)) in
            [(Columns::Number, "Number"), (Columns::Text, "Text"), (Columns::Loose, "Loose")]
                .into_iter()
                .enumerate()
        {
            let (occurrence, reference) = (t.occurrences[index], t.references[index]);
            self.rule(Op::Again(columns), &format!("again{name}"), occurrence, &[occurrence]);
            self.rule(Op::Outer(columns), &format!("outer{name}"), reference, &[reference]);
        }
        self.rule(Op::AgainTable, "againTable", t.table, &[t.table]);
        self.rule(Op::Field, "field", t.field, &[]);
        self.rule(Op::NextField, "nextField", t.field, &[t.field]);
        self.rule(Op::AgainField, "againField", t.field_occurrence, &[t.field_occurrence]);
        self.rule(Op::OuterField, "outerField", t.field_reference, &[t.field_reference]);
    }

    fn values(&mut self, t: &Types) {
        self.rule(Op::Null, "null", t.plain, &[]);
        self.rule(Op::Negate, "negate", t.number, &[t.computed]);
        for operation in Arithmetic::ALL {
            let op = Op::Arithmetic(operation);
            match operation {
                Arithmetic::Concatenate => self.rule(op, "concatenate", t.text, &[t.expr, t.expr]),
                _ => self.rule(op, operation.sign(), t.number, &[t.not_word, t.not_word]),
            }
        }
        for to in Cast::ALL {
            let result = if to == Cast::Text { t.text } else { t.number };
            self.rule(Op::Cast(to), &format!("cast{}", to.name()), result, &[t.expr]);
        }
        let result = |sort: Sort| match sort {
            Sort::Number => t.number,
            Sort::Text => t.text,
            Sort::Any => t.plain,
        };
        for function in Function::all() {
            let wanted = |sort: &Sort| if *sort == Sort::Number { t.not_word } else { t.expr };
            let arguments: Vec<TypeId> = function.arguments().iter().map(wanted).collect();
            let name = format!("{}/{}", function.name(), arguments.len());
            self.rule(Op::Call(function), &name, result(function.result()), &arguments);
        }
        self.rule(Op::CountRows, "countRows", t.number, &[]);
        for aggregate in Aggregate::ALL {
            let distinct = if aggregate.is_distinct() { "Distinct" } else { "" };
            let name = format!("{}{distinct}", aggregate.name().to_lowercase());
            let argument = match aggregate {
                _ if aggregate.adds() => t.summable,
                // A constant is counted as rows are.
                Aggregate::Count => t.computed,
                _ => t.expr,
            };
            self.rule(Op::Aggregate(aggregate), &name, result(aggregate.result()), &[argument]);
        }
        self.rule(Op::Case, "case", t.plain, &[t.condition, t.expr, t.expr]);
        self.rule(Op::Truth, "truth", t.loose, &[t.proper]);
    }

    fn conditions(&mut self, t: &Types) {
        // Left sides that are numbers, and those that are not.
        let sides = [(false, "", t.not_number, t.expr), (true, "Number", t.number, t.not_word)];
        for comparison in Comparison::ALL {
            for (number, suffix, left, right) in sides {
                let name = format!("{}{suffix}", comparison.sign());
                self.rule(Op::Compare(comparison, number), &name, t.comparison, &[left, right]);
            }
        }
        for (number, suffix, left, right) in sides {
            let elements = if number { t.number_element_list } else { t.element_list };
            self.rule(Op::Between(number), &format!("between{suffix}"), t.test, &[left, right, right]);
            self.rule(Op::InList(number), &format!("in{suffix}"), t.test, &[left, elements]);
        }
        self.rule(Op::AndElement, "andElement", t.element_list, &[t.element, t.element_list]);
        let numbers = t.number_element_list;
        self.rule(Op::AndNumber, "andNumber", numbers, &[t.number_element, numbers]);
        self.rule(Op::InQuery, "inQuery", t.test, &[t.expr, t.query]);
        self.rule(Op::Exists, "exists", t.test, &[t.query]);
        self.rule(Op::IsNull, "isNull", t.test, &[t.expr]);
        self.rule(Op::Like, "like", t.test, &[t.expr, t.pattern]);
        for (wildcards, name) in Wildcards::ALL.into_iter().zip(["contains", "startsWith", "endsWith"]) {
            self.rule(Op::Pattern(wildcards), name, t.pattern, &[t.text_literal]);
        }
        self.rule(Op::Holds, "holds", t.holds, &[t.not_condition]);
        self.rule(Op::And, "and", t.and, &[t.not_and, t.condition]);
        self.rule(Op::Or, "or", t.or, &[t.not_or, t.condition]);
        self.rule(Op::Not, "not", t.not, &[t.negatable]);
    }
}
