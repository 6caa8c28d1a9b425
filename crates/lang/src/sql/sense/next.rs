//! The rules about the next action of a partial program, by what the action is.

use super::context::{Clause, Context, QueryUse, Target};
use super::facts::SenseFacts;
use super::joins::Unconnected;
use super::partial::{NodeId, PartialQuery, Place, Scopes, Source, Step};
use super::values::{Value, ZERO};
use crate::sql::environment::SqlEnvironment;
use crate::sql::function::{Aggregate, ValueType};
use crate::sql::operator::{ArithmeticOperator, CastType, ComparisonOperator};
use crate::sql::rules::{ColumnClass, SqlRule};
use crate::sql::schema::{ColumnId, ColumnType, TableId};
use crate::sql::scope::Occurrence;
use crate::{Action, Grammar, NextAction};
use smallvec::SmallVec;
use std::cell::OnceCell;

/// The judge of the next action.
pub(super) struct Next<'a> {
    pub(super) query: PartialQuery<'a>,
    /// The place of the next action.
    pub(super) place: Place,
    /// The place of the value that the next action is part of: rules that say which occurrence of a table a column belongs
    /// to are above the column.
    pub(super) slot: Place,
    /// The occurrence that these rules say.
    pub(super) at: Occurrence,
    /// The number of outputs that a reference to an output skips.
    field: usize,
    pub(super) scopes: Scopes,
    pub(super) context: Context,
    pub(super) cache: Cache,
}

/// What depends on the place only and is asked for many actions.
#[derive(Default)]
pub(super) struct Cache {
    target: OnceCell<Option<Target>>,
    pub(super) has_aggregate_output: OnceCell<bool>,
    pub(super) has_bare_output: OnceCell<bool>,
    pub(super) remaining_width: OnceCell<Option<usize>>,
    pub(super) unconnected: OnceCell<Option<Unconnected>>,
    pub(super) unconnected_of_comparison: OnceCell<Option<Unconnected>>,
    pub(super) connected: OnceCell<SmallVec<[usize; 4]>>,
    pub(super) repeatable: OnceCell<RepeatablePlaces>,
}

/// The places that a leaf would complete, each with the earlier parts that it must differ from.
pub(super) type RepeatablePlaces = SmallVec<[(Place, NodeId); 4]>;

impl<'a> Next<'a> {
    pub(super) fn new(
        environment: &'a SqlEnvironment,
        facts: &'a SenseFacts,
        grammar: &Grammar,
        actions: &[Action],
    ) -> Self {
        let query = PartialQuery::new(environment, facts, grammar, actions);
        let place = query.next_place();
        let (mut slot, mut at, mut field) = (place, ZERO, 0);
        while let Some(rule) = query.parent_rule(slot) {
            match rule {
                SqlRule::Again(_) | SqlRule::AgainField | SqlRule::AgainTable => at.again += 1,
                SqlRule::Outer(_) | SqlRule::OuterField => at.outer += 1,
                SqlRule::NextField => field += 1,
                _ => break,
            }
            let Some(up) = query.up(slot) else { break };
            slot = up;
        }
        let scopes = query.scopes(slot);
        let context = query.context(slot);
        Next { query, place, slot, at, field, scopes, context, cache: Cache::default() }
    }

    /// Returns what the value is compared with.
    pub(super) fn target(&self) -> Option<Target> {
        *self.cache.target.get_or_init(|| self.query.target(self.slot))
    }

    /// Returns whether an output of a select that was written has an aggregate.
    pub(super) fn has_aggregate_output(&self, select: NodeId) -> bool {
        *self.cache.has_aggregate_output.get_or_init(|| self.query.has_aggregate_output(select))
    }

    pub(super) fn facts(&self) -> &SenseFacts {
        self.query.facts
    }

    /// Returns the rule whose argument the value is, and the index of the argument.
    pub(super) fn parent(&self) -> (Option<SqlRule>, usize) {
        (self.query.parent_rule(self.slot), self.slot.argument)
    }

    fn table_makes_sense(&self, table: TableId) -> bool {
        if let Some(SqlRule::AllOf | SqlRule::AgainTable) = self.query.parent_rule(self.place) {
            return self.has_occurrence(table, self.at.again);
        }
        // A table is joined with itself only if that can mean something.
        let from = self.query.list_of_place(self.place);
        let earlier = from.map(|from| self.query.sources(from)).unwrap_or_default();
        let is_new = !earlier.contains(&Source::Table(table)) || self.facts().is_repeatable(table);
        let is_last = !matches!(
            (self.query.parent_rule(self.place), self.place.argument),
            (Some(SqlRule::Join | SqlRule::LeftJoin), 0)
        );
        let mut sources = earlier;
        sources.push(Source::Table(table));
        is_new && (!is_last || self.sources_make_sense(&sources))
    }

    /// Returns whether the nearest list has a table more often than `again` times.
    fn has_occurrence(&self, table: TableId, again: u32) -> bool {
        let sources = self.scopes.first().map(|list| list.as_slice()).unwrap_or_default();
        sources.iter().filter(|source| **source == Source::Table(table)).count() > again as usize
    }

    fn rule_makes_sense(&self, rule: SqlRule) -> bool {
        use SqlRule::*;
        if !self.facts().knows(rule) {
            return false;
        }
        match rule {
            Select | Group | GroupHaving | Compute | Order | Top | OrderOutputs | TopOutputs | Limit
            | Set(_) => self.query_makes_sense(rule),
            Join => self.query.has_where(self.slot),
            Where | LeftJoin | AndKey | ThenBy | Descending | ThenByOutput | DescendingOutput | Offset => {
                true
            }
            Distinct => self.distinct_makes_sense(),
            AndOutput => self.another_output_makes_sense(),
            All | AllOf => self.star_makes_sense(rule),
            AgainTable => {
                let tables = self.scopes.first().map(|list| list.as_slice()).unwrap_or_default();
                tables.iter().any(|source| {
                    matches!(source, Source::Table(table) if self.has_occurrence(*table, self.at.again + 1))
                })
            }
            Again(class) => self.some_column(class, Occurrence { again: self.at.again + 1, ..self.at }),
            Outer(class) => self.some_column(class, Occurrence { outer: self.at.outer + 1, ..self.at }),
            Field | NextField if self.context.clause == Clause::OutputOrder => {
                let width = self.context.select.map_or(0, |query| self.query.query_width(query));
                self.field + usize::from(rule == NextField) < width
            }
            Field => self.field_makes_sense(self.field, self.at),
            NextField => self.some_field(self.field + 1, self.at),
            AgainField => self.some_field(0, Occurrence { again: self.at.again + 1, ..self.at }),
            OuterField => self.some_field(0, Occurrence { outer: self.at.outer + 1, ..self.at }),
            Null => matches!(self.parent().0, Some(Case | Call(_))),
            Negate | Arithmetic(_) | Cast(_) | Call(_) | Case | Truth => self.computation_makes_sense(rule),
            CountRows | Aggregate(_) => self.aggregate_makes_sense(rule),
            Compare(..) | Between(_) | InList(_) | InQuery | Exists | IsNull | Like | Holds | And | Or
            | Not => self.condition_makes_sense(rule),
            // `x IN ('a')` is `x = 'a'`.
            AndElement | AndNumber | Pattern(_) => true,
        }
    }

    fn query_makes_sense(&self, rule: SqlRule) -> bool {
        use SqlRule::*;
        let depth = self.query.depth(self.place);
        if self.facts().max_depth().is_some_and(|most| depth >= most) {
            return false;
        }
        match self.query.query_use(self.slot) {
            QueryUse::Body => rule != Compute,
            QueryUse::Root => true,
            // The order of rows that are only counted, compared or joined means nothing.
            QueryUse::Source | QueryUse::In(_) => !matches!(rule, Order | OrderOutputs | Compute),
            QueryUse::Exists => rule == Select,
            // One row is compared.
            QueryUse::Compared(..) => matches!(rule, Select | Top | Limit) && !self.must_join(),
            QueryUse::Value => {
                let is_computed =
                    self.context.select.is_some_and(|select| self.query.rule(select) == Some(Compute));
                is_computed && !self.context.in_aggregate && matches!(rule, Select | Top | Limit)
            }
        }
    }

    /// Returns whether some column of a class makes sense at an occurrence.
    fn some_column(&self, class: ColumnClass, at: Occurrence) -> bool {
        let schema = self.facts().schema();
        let tables = self.scopes.iter().flatten().filter_map(|source| match source {
            Source::Table(table) => Some(*table),
            Source::Query(_) => None,
        });
        tables.into_iter().any(|table| {
            let columns = (0..).zip(&schema.table(table).columns);
            let of_class = columns.filter(|(_, column)| ColumnClass::of(column.ty) == class);
            of_class.into_iter().any(|(column, _)| self.column_makes_sense(ColumnId { table, column }, at))
        })
    }

    /// Returns whether some output of a query in `FROM` makes sense, from an index on.
    fn some_field(&self, first: usize, at: Occurrence) -> bool {
        let last =
            self.query.facts.schema().tables.iter().map(|table| table.columns.len()).sum::<usize>().max(16);
        (first..last)
            .take_while(|index| *index == 0 || self.query.bound_field(&self.scopes, *index - 1, at).is_some())
            .any(|index| self.field_makes_sense(index, at))
    }

    fn column_makes_sense(&self, column: ColumnId, at: Occurrence) -> bool {
        let value = self.query.bound_column(&self.scopes, column, at);
        value.is_some_and(|value| self.value_makes_sense(value, at.outer > 0))
    }

    fn field_makes_sense(&self, index: usize, at: Occurrence) -> bool {
        let value = self.query.bound_field(&self.scopes, index, at);
        value.is_some_and(|value| self.value_makes_sense(value, at.outer > 0))
    }

    /// Returns whether a column, or an output of a query in `FROM`, makes sense as the next value.
    fn value_makes_sense(&self, value: Value, is_skipping: bool) -> bool {
        use SqlRule::*;
        let is_outer = is_skipping || value.source.is_some_and(|source| source.list > 0);
        if is_outer && !self.outer_makes_sense() {
            return false;
        }
        if !is_outer && !self.context.in_aggregate && !self.bare_value_makes_sense() {
            return false;
        }
        if self.query.is_ordered_side(self.slot) && !is_orderable(value.ty) {
            return false;
        }
        let by_place = match self.parent() {
            (Some(Compare(_, _)), 0) => !self.must_join() || self.is_joining_side(value),
            (Some(Compare(..)), _) if self.must_join() => self.joins_with_left(value),
            (Some(Between(_)), 1..)
            | (Some(InList(_)), 1..)
            | (Some(AndElement | AndNumber | Pattern(_)), _) => false,
            (Some(Like), argument) => argument == 0 && value.ty != ColumnType::Number,
            (Some(Holds), _) => value.column.is_some_and(|column| self.facts().is_flag(column)),
            (Some(Negate | Arithmetic(_)), _) if !self.is_concatenation() => {
                self.is_addable(value) && !value.column.is_some_and(|column| self.facts().is_key(column))
            }
            // The mean of dates is a year; their sum is nothing.
            (Some(Aggregate(self::Aggregate::Avg)), _) if value.ty == ColumnType::Time => true,
            (Some(Aggregate(aggregate)), _) if aggregate.adds() => {
                self.is_addable(value) && !value.column.is_some_and(|column| self.facts().is_key(column))
            }
            _ => true,
        };
        by_place && self.target().is_none_or(|target| self.is_comparable(&target, value))
    }

    fn is_concatenation(&self) -> bool {
        self.parent().0 == Some(SqlRule::Arithmetic(ArithmeticOperator::Concatenate))
    }

    /// Returns whether the parent is arithmetic inside arithmetic.
    fn is_nested_twice(&self) -> bool {
        let outer = self.query.up(self.slot).and_then(|up| self.query.parent_rule(up));
        matches!(outer, Some(SqlRule::Arithmetic(_)))
    }

    /// Sums and means of text, of truth values and of dates mean nothing.
    fn is_addable(&self, value: Value) -> bool {
        match value.ty {
            ColumnType::Number | ColumnType::Other => true,
            ColumnType::Text | ColumnType::Boolean => false,
            // A year is a number.
            ColumnType::Time => value.column.is_some_and(|column| self.facts().range(column).is_some()),
        }
    }

    /// A column of an enclosing query is compared with one of this query, and nothing else.
    fn outer_makes_sense(&self) -> bool {
        let left = |compare: NodeId| self.query.argument(compare, 0).map(|left| self.query.value(left));
        match (self.parent(), self.slot.parent) {
            ((Some(SqlRule::Compare(..)), 0), _) => {
                matches!(self.context.clause, Clause::Where | Clause::On)
            }
            ((Some(SqlRule::Compare(..)), _), Some(compare)) => {
                let is_inner = |value: Value| value.source.is_some_and(|source| source.list == 0);
                matches!(self.context.clause, Clause::Where | Clause::On)
                    && left(compare).is_some_and(is_inner)
            }
            _ => false,
        }
    }

    fn computation_makes_sense(&self, rule: SqlRule) -> bool {
        use SqlRule::*;
        let ty = match rule {
            Arithmetic(ArithmeticOperator::Concatenate) | Cast(CastType::Text) => ColumnType::Text,
            Negate | Arithmetic(_) | Cast(_) => ColumnType::Number,
            Call(function) => match function.result() {
                ValueType::Number => ColumnType::Number,
                ValueType::Text => ColumnType::Text,
                ValueType::Any => ColumnType::Other,
            },
            _ => ColumnType::Other,
        };
        if self.query.is_ordered_side(self.slot) && !is_orderable(ty) {
            return false;
        }
        let by_place = match self.parent().0 {
            Some(Holds | IsNull | InQuery | AndElement | AndNumber | Pattern(_)) => false,
            Some(Compare(..)) => !matches!(rule, Case | Truth) && !self.must_join(),
            Some(Aggregate(aggregate)) if aggregate.adds() => ty != ColumnType::Text,
            Some(Arithmetic(_)) => {
                (ty != ColumnType::Text || self.is_concatenation()) && !self.is_nested_twice()
            }
            _ => self.context.clause != Clause::Keys || !matches!(rule, Negate | Arithmetic(_) | Truth),
        };
        let computed = Value::computed(ty);
        by_place && self.target().is_none_or(|target| self.is_comparable(&target, computed))
    }

    fn condition_makes_sense(&self, rule: SqlRule) -> bool {
        use SqlRule::*;
        let by_joins = match self.unconnected() {
            None | Some(Unconnected { sources: 0, .. } | Unconnected { is_last: false, .. }) => true,
            Some(Unconnected { sources: 1, .. }) => {
                matches!(rule, And | Compare(ComparisonOperator::Equal, _))
            }
            Some(_) => rule == And,
        };
        let by_clause = match self.context.clause {
            Clause::Having => !matches!(rule, InQuery | IsNull | Like | Holds | Exists),
            _ => true,
        };
        // Two negations are none.
        by_joins && by_clause && (rule != Not || !self.query.is_negated(self.place))
    }
}

impl NextAction for Next<'_> {
    fn makes_sense(&self, action: Action) -> bool {
        let (makes_sense, is_leaf) = match self.query.step(action) {
            Step::Table(table) => (self.table_makes_sense(table), true),
            Step::Column(column) => (self.column_makes_sense(column, self.at), true),
            Step::Literal(item) => (self.literal_makes_sense(item), true),
            Step::Rule(rule) => {
                let is_leaf =
                    matches!(rule, SqlRule::All | SqlRule::Field | SqlRule::CountRows | SqlRule::Null);
                (self.rule_makes_sense(rule), is_leaf)
            }
        };
        makes_sense && self.list_makes_sense(action) && !(is_leaf && self.repeats(action))
    }

    fn leads_to_the_end(&self, action: Action) -> bool {
        self.connects_sources(self.query.step(action))
    }
}

/// Returns whether `<` means something for values of a type. The order of free text does not.
pub(super) fn is_orderable(ty: ColumnType) -> bool {
    matches!(ty, ColumnType::Number | ColumnType::Time | ColumnType::Other)
}
