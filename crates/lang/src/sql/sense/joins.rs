//! The rules about joins: comparisons connect all sources of a `FROM` list, along keys or as labels do.

use super::context::QueryUse;
use super::next::Next;
use super::partial::{NodeId, Source, Step, Value};
use crate::sql::operator::ComparisonOperator;
use crate::sql::rules::SqlRule;
use smallvec::SmallVec;

impl Next<'_> {
    /// Returns whether keys or labels can connect the sources of a `FROM` list, and whether one of them has what the query is
    /// for. Later rules decide this as well, but by then it takes long to find out that nothing is left.
    pub(super) fn sources_make_sense(&self, sources: &[Source]) -> bool {
        let can_join = |left: &Source, right: &Source| match (left, right) {
            (Source::Table(left), Source::Table(right)) => self.facts().are_joinable_tables(*left, *right),
            _ => true,
        };
        let mut connected: SmallVec<[usize; 4]> = SmallVec::from_slice(&[0]);
        let mut next = 0;
        while let Some(&from) = connected.get(next) {
            let others = (0..sources.len()).filter(|to| can_join(&sources[from], &sources[*to]));
            let new: SmallVec<[usize; 4]> = others.filter(|to| !connected.contains(to)).collect();
            connected.extend(new);
            next += 1;
        }
        let target = self.context.select.map(|select| self.query.use_of_select(select));
        let left = match target {
            Some(QueryUse::In(left) | QueryUse::Compared(left, _)) => self.query.value(left),
            _ => return connected.len() == sources.len(),
        };
        let may_be_count = matches!(target, Some(QueryUse::Compared(..))) && self.is_countable(left);
        let has_wanted = |column| {
            sources.iter().any(|source| match source {
                Source::Table(table) => self.facts().has_joinable_column(*table, column),
                Source::Query(_) => true,
            })
        };
        connected.len() == sources.len() && (may_be_count || left.column.is_none_or(has_wanted))
    }

    /// Returns whether a comparison must connect the sources of `FROM`, because no other condition follows.
    pub(super) fn must_join(&self, compare: Option<NodeId>) -> bool {
        *self.cache.must_join.get_or_init(|| {
            compare.is_some_and(|compare| self.query.unconnected_sources(self.query.place(compare)) == 1)
        })
    }

    /// Returns whether an action connects sources that nothing connects yet, or whether none need to be connected.
    pub(super) fn connects_sources(&self, step: Step) -> bool {
        let unconnected = |place| self.query.unconnected_sources_now(place);
        match (step, self.parent().0, self.slot.parent) {
            (Step::Rule(rule @ (SqlRule::And | SqlRule::Compare(..))), ..) => {
                let is_equation = matches!(rule, SqlRule::Compare(ComparisonOperator::Equal, _));
                match unconnected(self.place) {
                    None | Some((0, _)) => true,
                    Some((1, _)) | Some((_, false)) => is_equation,
                    Some((_, true)) => rule == SqlRule::And,
                }
            }
            (Step::Rule(rule), ..) if rule.is_condition() => {
                unconnected(self.place).is_none_or(|(count, _)| count == 0)
            }
            (Step::Column(column), Some(SqlRule::Compare(ComparisonOperator::Equal, _)), Some(compare)) => {
                let needs = unconnected(self.query.place(compare)).is_some_and(|(count, _)| count > 0);
                let value = self.query.bound_column(&self.scopes, column, self.at);
                let connects = |value| match self.slot.argument {
                    0 => self.is_joining_side(value),
                    _ => self.joins_with_left(value),
                };
                !needs || value.is_some_and(connects)
            }
            _ => true,
        }
    }

    /// Returns whether a value may be the left side of a comparison that connects its source with another.
    pub(super) fn is_joining_side(&self, value: Value) -> bool {
        let source = value.source.filter(|source| source.list == 0);
        let (Some(source), Some(compare)) = (source, self.slot.parent) else { return false };
        let groups = self.connected(compare);
        let others = self.scopes[0].sources.iter().enumerate();
        let mut others = others.filter(|(other, _)| groups.get(*other) != groups.get(source.source));
        others.any(|(_, other)| match (other, value.column) {
            (Source::Table(table), Some(column)) => self.facts().has_joinable_column(*table, column),
            _ => true,
        })
    }

    /// Returns whether a value is of a source that is not connected with that of the left side of the comparison.
    pub(super) fn joins_with_left(&self, value: Value) -> bool {
        let Some(compare) = self.slot.parent else { return false };
        let left = self.query.argument(compare, 0).map(|left| self.query.value(left));
        let (Some(left), Some(right)) = (left.and_then(|left| left.source), value.source) else {
            return false;
        };
        let groups = self.connected(compare);
        right.list == 0 && groups.get(left.source) != groups.get(right.source)
    }

    /// Returns for each source of the nearest list the group of sources that earlier comparisons connect it with.
    fn connected(&self, compare: NodeId) -> &[usize] {
        self.cache.connected.get_or_init(|| self.query.connected_sources(self.query.place(compare)))
    }
}
