//! What is known about the values of a partial program.

use super::partial::{NodeId, PartialQuery, Scopes, Source, SourceIndex, Step};
use crate::sql::environment::ItemMeaning;
use crate::sql::function::{Aggregate, ValueType};
use crate::sql::operator::{ArithmeticOperator, CastType};
use crate::sql::rules::SqlRule;
use crate::sql::schema::{ColumnId, ColumnType, TableId};
use crate::sql::scope::Occurrence;

/// How a value comes about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// It is in a column.
    Column,
    /// The least or greatest value of a column.
    Extreme,
    /// The mean of a column.
    Mean,
    /// The sum of a column.
    Sum,
    /// A number of rows or values.
    Count,
    /// Anything else.
    Computed,
}

/// What is known about a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Value {
    pub(super) ty: ColumnType,
    pub(super) origin: Origin,
    /// The column that it comes from; none if it comes from several or none.
    pub(super) column: Option<ColumnId>,
    /// The source that it comes from, among those that the expression sees.
    pub(super) source: Option<SourceIndex>,
}

impl Value {
    pub(super) const UNKNOWN: Value = Value::computed(ColumnType::Other);

    pub(super) const fn computed(ty: ColumnType) -> Value {
        Value { ty, origin: Origin::Computed, column: None, source: None }
    }

    fn of_type(ty: ValueType) -> Value {
        Value::computed(match ty {
            ValueType::Number => ColumnType::Number,
            ValueType::Text => ColumnType::Text,
            ValueType::Any => ColumnType::Other,
        })
    }
}

impl PartialQuery<'_> {
    /// Returns the outputs of a complete query, with stars expanded. An output that text cannot refer to is none.
    pub(super) fn outputs(&self, query: NodeId) -> Vec<Option<Value>> {
        let Some(select) = self.first_select(query) else { return vec![] };
        let sources = self.first_source(select).map(|from| self.sources(from)).unwrap_or_default();
        let nodes = self.output_nodes(select);
        let is_star = |output: &&NodeId| matches!(self.rule(**output), Some(SqlRule::All | SqlRule::AllOf));
        // Columns of several stars may have the same name, and then text can refer to the first only.
        let has_unique_names = sources.len() < 2 || nodes.iter().filter(is_star).count() == 0;
        let mut all = Vec::new();
        for output in nodes {
            let star: &[Source] = match self.rule(output) {
                Some(SqlRule::All) => &sources,
                Some(SqlRule::AllOf) => self
                    .table_of_star(output)
                    .and_then(|at| sources.get(at))
                    .map_or(&[], std::slice::from_ref),
                _ => {
                    all.push(Some(Value { source: None, ..self.value(output) }));
                    continue;
                }
            };
            let columns = star.iter().flat_map(|source| self.columns_of(*source));
            all.extend(columns.map(|value| value.filter(|_| has_unique_names)));
        }
        all
    }

    /// Returns the columns of a source.
    fn columns_of(&self, source: Source) -> Vec<Option<Value>> {
        match source {
            Source::Query(query) => self.outputs(query),
            Source::Table(table) => {
                let columns = &self.facts.schema().table(table).columns;
                (0..columns.len() as u32)
                    .map(|column| {
                        Some(Value { source: None, ..self.column_value(ColumnId { table, column }) })
                    })
                    .collect()
            }
        }
    }

    /// Returns the index of the source of `t.*`.
    fn table_of_star(&self, output: NodeId) -> Option<usize> {
        let mut again = 0;
        let mut node = self.argument(output, 0)?;
        while self.rule(node) == Some(SqlRule::AgainTable) {
            again += 1;
            node = self.argument(node, 0)?;
        }
        let Step::Table(table) = self.step_of(node) else { return None };
        let scopes = self.scopes(self.place(output));
        let mut same = scopes.first()?.iter().enumerate().filter(|(_, s)| **s == Source::Table(table));
        same.nth(again).map(|(index, _)| index)
    }

    /// Returns the number of columns of a complete output.
    pub(super) fn width(&self, output: NodeId) -> usize {
        let sources = |place| self.scopes(place).first().cloned().unwrap_or_default();
        match self.rule(output) {
            Some(SqlRule::All) => {
                sources(self.place(output)).iter().map(|source| self.source_width(*source)).sum()
            }
            Some(SqlRule::AllOf) => {
                let sources = sources(self.place(output));
                let source = self.table_of_star(output).and_then(|index| sources.get(index).copied());
                source.map_or(0, |source| self.source_width(source))
            }
            _ => 1,
        }
    }

    pub(super) fn source_width(&self, source: Source) -> usize {
        match source {
            Source::Table(table) => self.facts.schema().table(table).columns.len(),
            Source::Query(query) => self.query_width(query),
        }
    }

    /// Returns the number of columns of a query whose first select is complete.
    pub(super) fn query_width(&self, query: NodeId) -> usize {
        let outputs = self.first_select(query).map(|select| self.output_nodes(select)).unwrap_or_default();
        outputs.iter().map(|output| self.width(*output)).sum()
    }

    fn column_value(&self, column: ColumnId) -> Value {
        let ty = self.facts.schema().column(column).ty;
        Value { ty, origin: Origin::Column, column: Some(column), source: None }
    }

    /// Returns a column of a table at an occurrence; none if it is out of scope.
    pub(super) fn bound_column(&self, scopes: &Scopes, column: ColumnId, at: Occurrence) -> Option<Value> {
        let source = find(scopes, Some(column.table), at)?;
        Some(Value { source: Some(source), ..self.column_value(column) })
    }

    /// Returns an output of a query in `FROM` at an occurrence; none if it is out of scope.
    pub(super) fn bound_field(&self, scopes: &Scopes, index: usize, at: Occurrence) -> Option<Value> {
        let source = find(scopes, None, at)?;
        let Source::Query(query) = scopes[source.list][source.source] else { return None };
        let value = (*self.outputs(query).get(index)?)?;
        // An output of a query is a value like one in a column, however it was computed.
        let origin = if value.origin == Origin::Extreme { Origin::Column } else { value.origin };
        Some(Value { source: Some(source), origin, ..value })
    }

    /// Returns what is known about the value of a complete expression.
    pub(super) fn value(&self, node: NodeId) -> Value {
        let argument = || self.argument(node, 0).map_or(Value::UNKNOWN, |argument| self.value(argument));
        let rule = match self.step_of(node) {
            Step::Column(column) => {
                return self
                    .bound_column(&self.scopes(self.place(node)), column, ZERO)
                    .unwrap_or(Value::UNKNOWN);
            }
            Step::Literal(item) => {
                let is_number = matches!(self.environment.meaning(item), ItemMeaning::Literal(literal) if literal.number.is_some());
                return Value::computed(if is_number { ColumnType::Number } else { ColumnType::Text });
            }
            Step::Table(_) => return Value::UNKNOWN,
            Step::Rule(rule) => rule,
        };
        match rule {
            SqlRule::Again(_)
            | SqlRule::Outer(_)
            | SqlRule::Field
            | SqlRule::NextField
            | SqlRule::AgainField
            | SqlRule::OuterField => self.reference(node).unwrap_or(Value::UNKNOWN),
            SqlRule::CountRows => Value { origin: Origin::Count, ..Value::computed(ColumnType::Number) },
            SqlRule::Aggregate(aggregate) => match aggregate {
                Aggregate::Count | Aggregate::CountDistinct => {
                    Value { origin: Origin::Count, ..Value::computed(ColumnType::Number) }
                }
                Aggregate::Min | Aggregate::Max => Value { origin: Origin::Extreme, ..argument() },
                Aggregate::Avg | Aggregate::AvgDistinct => {
                    Value { origin: Origin::Mean, ty: ColumnType::Number, ..argument() }
                }
                Aggregate::Sum | Aggregate::SumDistinct => {
                    Value { origin: Origin::Sum, ty: ColumnType::Number, ..argument() }
                }
                Aggregate::GroupConcat => Value::computed(ColumnType::Text),
            },
            SqlRule::Arithmetic(ArithmeticOperator::Concatenate) | SqlRule::Cast(CastType::Text) => {
                Value::computed(ColumnType::Text)
            }
            SqlRule::Negate | SqlRule::Arithmetic(_) | SqlRule::Cast(_) => {
                Value::computed(ColumnType::Number)
            }
            SqlRule::Call(function) => Value::of_type(function.result()),
            SqlRule::Select
            | SqlRule::Group
            | SqlRule::GroupHaving
            | SqlRule::Compute
            | SqlRule::Order
            | SqlRule::Top
            | SqlRule::OrderOutputs
            | SqlRule::TopOutputs
            | SqlRule::Limit
            | SqlRule::Set(_) => self.outputs(node).first().copied().flatten().unwrap_or(Value::UNKNOWN),
            _ => Value::UNKNOWN,
        }
    }

    /// Returns the column or field that a complete reference is.
    fn reference(&self, node: NodeId) -> Option<Value> {
        let scopes = self.scopes(self.place(node));
        let mut at = ZERO;
        let mut field = 0;
        let mut rest = node;
        loop {
            match self.step_of(rest) {
                Step::Column(column) => return self.bound_column(&scopes, column, at),
                Step::Rule(SqlRule::Field) => return self.bound_field(&scopes, field, at),
                Step::Rule(SqlRule::NextField) => field += 1,
                Step::Rule(SqlRule::Outer(_) | SqlRule::OuterField) => at.outer += 1,
                Step::Rule(SqlRule::Again(_) | SqlRule::AgainField) => at.again += 1,
                _ => return None,
            }
            rest = self.argument(rest, 0)?;
        }
    }
}

pub(super) const ZERO: Occurrence = Occurrence { outer: 0, again: 0 };

/// Returns the source that an occurrence of a table, or of a query in `FROM`, is.
fn find(scopes: &Scopes, table: Option<TableId>, at: Occurrence) -> Option<SourceIndex> {
    let is_same = |source: &Source| match (source, table) {
        (Source::Table(other), Some(table)) => *other == table,
        (Source::Query(_), None) => true,
        _ => false,
    };
    let mut lists = scopes.iter().enumerate().filter(|(_, list)| list.iter().any(is_same));
    let (list, sources) = lists.nth(at.outer as usize)?;
    let mut same = sources.iter().enumerate().filter(|(_, source)| is_same(source));
    let (source, _) = same.nth(at.again as usize)?;
    Some(SourceIndex { list, source })
}
