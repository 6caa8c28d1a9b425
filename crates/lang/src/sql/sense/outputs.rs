//! The rules about outputs and aggregates: how many columns a select has, and whether it is one row or many.

use super::context::{Clause, QueryUse};
use super::next::Next;
use super::partial::{NodeId, Step};
use super::values::{Origin, Value};
use crate::Action;
use crate::sql::function::Aggregate;
use crate::sql::rules::SqlRule;
use crate::sql::schema::ColumnType;

impl Next<'_> {
    /// Whether there are rows does not depend on duplicates.
    pub(super) fn distinct_makes_sense(&self) -> bool {
        let select = self.context.select;
        select.is_some_and(|select| !matches!(self.query.use_of_select(select), QueryUse::Exists))
    }

    pub(super) fn another_output_makes_sense(&self) -> bool {
        self.remaining_width().is_none_or(|width| width >= 2)
    }

    /// Returns the number of columns that the select must still have; none if it may have any number.
    fn remaining_width(&self) -> Option<usize> {
        *self.cache.remaining_width.get_or_init(|| {
            let select = self.context.select?;
            let wanted = self.query.wanted_width(select)?;
            let written = self.query.output_nodes(select);
            let written = written.iter().filter(|output| self.query.is_complete(**output));
            Some(wanted.saturating_sub(written.map(|output| self.query.width(*output)).sum()))
        })
    }

    pub(super) fn star_makes_sense(&self, rule: SqlRule) -> bool {
        let Some(select) = self.context.select else { return false };
        let is_grouped = self.query.is_grouped(select);
        let sources = self.scopes.first().map(|list| list.as_slice()).unwrap_or_default();
        let is_bare = !is_grouped && !self.has_aggregate_output(select);
        match rule {
            SqlRule::All => {
                let width: usize = sources.iter().map(|source| self.query.source_width(*source)).sum();
                !sources.is_empty()
                    && is_bare
                    && self.parent().0 != Some(SqlRule::AndOutput)
                    && self.remaining_width().is_none_or(|wanted| wanted == width)
            }
            // Of a single table, all columns are `*`.
            _ => sources.len() > 1 && is_bare && self.remaining_width().is_none(),
        }
    }

    /// A value of a single row has no place beside an aggregate of all rows, and none in `HAVING`.
    pub(super) fn bare_value_makes_sense(&self) -> bool {
        match (self.context.clause, self.context.select) {
            (Clause::Outputs, Some(select)) => {
                self.query.is_grouped(select)
                    || !self.has_aggregate_output(select)
                    || self.facts().has_rows_of_extremes
                        && self.query.is_output_place(self.slot)
                        && self.query.has_extreme_output(select)
            }
            (Clause::Having, _) => false,
            _ => true,
        }
    }

    pub(super) fn aggregate_makes_sense(&self, rule: SqlRule) -> bool {
        use SqlRule::*;
        let Some(select) = self.context.select else { return false };
        let is_grouped = self.query.is_grouped(select);
        let by_clause = match self.context.clause {
            Clause::Outputs => {
                is_grouped
                    || self.is_beside_nothing_or_extreme(rule, select)
                        && !self.query.is_sorted_or_distinct(select)
                        && self.query.rule(select) != Some(Compute)
            }
            Clause::Having => true,
            Clause::Order => is_grouped,
            _ => false,
        };
        let is_count =
            matches!(rule, CountRows | Aggregate(self::Aggregate::Count | self::Aggregate::CountDistinct));
        let by_place = match self.parent() {
            (Some(IsNull | InQuery | Like | Holds | AndElement | AndNumber | Pattern(_)), _) => false,
            // An aggregate is compared with a constant or a query, not with another aggregate.
            (Some(Compare(..) | Between(_) | InList(_)), argument) => argument == 0,
            _ => true,
        };
        let count = Value { origin: Origin::Count, ..Value::computed(ColumnType::Number) };
        let is_set = self.context.clause == Clause::Outputs
            && matches!(self.query.use_of_select(select), QueryUse::In(_));
        let is_wanted = |value| self.target().is_none_or(|target| self.is_comparable(&target, value));
        // That the column of another aggregate can be compared is decided when it is named.
        !self.context.in_aggregate && by_clause && by_place && (!is_count || is_wanted(count) && !is_set)
    }

    /// Returns whether an aggregate of all rows has no value of a single row beside it, or is the extreme that says which row
    /// that is.
    fn is_beside_nothing_or_extreme(&self, rule: SqlRule, select: NodeId) -> bool {
        let has_bare_output = *self.cache.has_bare_output.get_or_init(|| self.query.has_bare_output(select));
        let is_extreme = matches!(rule, SqlRule::Aggregate(Aggregate::Min | Aggregate::Max));
        match self.facts().has_rows_of_extremes {
            true if has_bare_output => {
                is_extreme
                    && self.query.is_output_place(self.slot)
                    && !self.has_aggregate_output(select)
                    && self.query.has_only_columns(select)
            }
            _ => !has_bare_output,
        }
    }

    /// `x IN ('a')` is `x = 'a'`, so that a list of values has two or more. An output is the last one only if the select
    /// then has as many columns as it needs.
    pub(super) fn list_makes_sense(&self, action: Action) -> bool {
        let step = self.query.step(action);
        match self.query.parent_rule(self.place) {
            Some(SqlRule::InList(_)) if self.place.argument == 1 => {
                matches!(step, Step::Rule(SqlRule::AndElement | SqlRule::AndNumber))
            }
            _ if self.context.clause == Clause::Outputs && self.query.is_output_place(self.place) => {
                let is_list = matches!(step, Step::Rule(SqlRule::AndOutput | SqlRule::Distinct));
                let is_star = matches!(step, Step::Rule(SqlRule::All | SqlRule::AllOf));
                let is_first = self.query.parent_rule(self.place) == Some(SqlRule::AndOutput)
                    && self.place.argument == 0;
                let wants_more = self.remaining_width().is_some_and(|width| width > 1);
                is_list || is_star || is_first || !wants_more
            }
            _ => true,
        }
    }
}
