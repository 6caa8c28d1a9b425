//! The rules about joins: comparisons connect all sources of a `FROM` list, along keys or as labels do.

use super::context::QueryUse;
use super::next::Next;
use super::partial::{NodeId, PartialQuery, Place, Source, Step};
use super::values::Value;
use crate::sql::operator::ComparisonOperator;
use crate::sql::rules::SqlRule;
use smallvec::SmallVec;

/// What no comparison connects yet where a condition is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unconnected {
    /// The number of comparisons that are needed to connect all sources.
    pub(super) sources: usize,
    /// Whether no other condition follows.
    pub(super) is_last: bool,
}

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

    /// Returns whether the comparison that the value is a side of must connect the sources of `FROM`, because no other condition
    /// follows.
    pub(super) fn must_join(&self) -> bool {
        matches!(self.unconnected_of_comparison(), Some(Unconnected { sources: 1, is_last: true }))
    }

    /// Returns what is unconnected where the comparison is that the value is a side of.
    fn unconnected_of_comparison(&self) -> Option<Unconnected> {
        let compare = self.slot.parent?;
        *self
            .cache
            .unconnected_of_comparison
            .get_or_init(|| self.query.unconnected(self.query.place(compare)))
    }

    /// Returns what is unconnected where the next action is.
    pub(super) fn unconnected(&self) -> Option<Unconnected> {
        *self.cache.unconnected.get_or_init(|| self.query.unconnected(self.place))
    }

    /// Returns whether an action connects sources that nothing connects yet, or whether none need to be connected.
    pub(super) fn connects_sources(&self, step: Step) -> bool {
        match (step, self.parent().0) {
            (Step::Rule(rule @ (SqlRule::And | SqlRule::Compare(..))), _) => {
                let is_equation = matches!(rule, SqlRule::Compare(ComparisonOperator::Equal, _));
                match self.unconnected() {
                    None | Some(Unconnected { sources: 0, .. }) => true,
                    Some(Unconnected { sources: 1, .. } | Unconnected { is_last: false, .. }) => is_equation,
                    Some(_) => rule == SqlRule::And,
                }
            }
            (Step::Rule(rule), _) if rule.is_condition() => {
                self.unconnected().is_none_or(|unconnected| unconnected.sources == 0)
            }
            (Step::Column(column), Some(SqlRule::Compare(ComparisonOperator::Equal, _))) => {
                let needs =
                    self.unconnected_of_comparison().is_some_and(|unconnected| unconnected.sources > 0);
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
        let others = self.scopes[0].iter().enumerate();
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

impl PartialQuery<'_> {
    /// Returns for each source of the `FROM` list whose condition has a part at this place a number that is the same for
    /// sources that earlier parts connect.
    pub(super) fn connected_sources(&self, place: Place) -> SmallVec<[usize; 4]> {
        let Some((condition, _)) = self.conjunct(place) else { return SmallVec::new() };
        let Some(from) = self.argument(condition, 0) else { return SmallVec::new() };
        let count = self.sources(from).len();
        let mut groups: SmallVec<[usize; 4]> = (0..count).collect();
        for node in from..self.len() {
            if !matches!(self.rule(node), Some(SqlRule::Compare(ComparisonOperator::Equal, _)))
                || !self.is_complete(node)
            {
                continue;
            }
            if self.lists_in_scope(self.place(node)).next() != Some(Some(from)) {
                continue;
            }
            let sides = [0, 1].map(|side| self.argument(node, side).map(|side| self.value(side)));
            let [Some(left), Some(right)] = sides else { continue };
            let (Some(left), Some(right)) = (left.source, right.source) else { continue };
            if left.list == 0 && right.list == 0 {
                let (old, new) = (groups[left.source], groups[right.source]);
                groups.iter_mut().filter(|group| **group == old).for_each(|group| *group = new);
            }
        }
        groups
    }

    /// Returns what is unconnected where a condition is; none if it is no conjunct of `WHERE`.
    fn unconnected(&self, place: Place) -> Option<Unconnected> {
        let (_, is_last) = self.conjunct(place)?;
        let mut groups = self.connected_sources(place);
        groups.sort_unstable();
        groups.dedup();
        Some(Unconnected { sources: groups.len().saturating_sub(1), is_last })
    }

    /// Returns the `WHERE` that a condition at a place is a conjunct of, and whether it is the last one.
    fn conjunct(&self, place: Place) -> Option<(NodeId, bool)> {
        let mut is_last = true;
        let mut at = place;
        loop {
            let parent = at.parent?;
            match (self.rule(parent)?, at.argument) {
                (SqlRule::Where, 1) => return Some((parent, is_last)),
                (SqlRule::And, argument) => is_last &= argument == 1,
                _ => return None,
            }
            at = self.place(parent);
        }
    }
}
