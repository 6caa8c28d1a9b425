//! The rules against saying the same twice, or the opposite.

use super::next::Next;
use super::partial::{NodeId, Place, Step};
use crate::Action;
use crate::sql::operator::ComparisonOperator;
use crate::sql::rules::SqlRule;

impl Next<'_> {
    /// Returns whether an action completes what an earlier part says, or contradicts: `a AND a`, `a = b AND b = a`,
    /// `a = 1 AND a = 2`, `x = x`, `SELECT a, a`.
    pub(super) fn repeats(&self, leaf: Action) -> bool {
        let query = &self.query;
        let is_same = |part: NodeId, place: Place| {
            let new = query.node_at(place).map(|node| query.actions(node)).into_iter().flatten();
            query.actions(part).eq(new.chain([leaf]))
                || self.is_mirrored_or_contradicted(part, place, leaf)
                || self.is_negation(part, place, leaf)
        };
        let places = self.cache.repeatable.get_or_init(|| {
            let places = query.completed_by_leaf().into_iter();
            places
                .flat_map(|place| query.earlier_siblings(place).into_iter().map(move |part| (place, part)))
                .collect()
        });
        places.iter().any(|&(place, part)| is_same(part, place))
    }

    /// Returns whether one of two parts is the negation of the other, one of which a leaf completes.
    fn is_negation(&self, part: NodeId, place: Place, leaf: Action) -> bool {
        let query = &self.query;
        let Some(new) = query.node_at(place) else { return false };
        let inside = |node: NodeId| match query.rule(node) {
            Some(SqlRule::Not) => query.argument(node, 0),
            _ => None,
        };
        let is_same = |old: NodeId, new: Option<NodeId>| {
            query.actions(old).eq(new.map(|new| query.actions(new)).into_iter().flatten().chain([leaf]))
        };
        match (inside(part), query.rule(new)) {
            (Some(old), _) => is_same(old, Some(new)),
            (None, Some(SqlRule::Not)) => is_same(part, inside(new)),
            _ => false,
        }
    }

    /// Returns whether a comparison that a leaf completes has the sides of an earlier one exchanged, or says that another
    /// constant is equal to the same value.
    fn is_mirrored_or_contradicted(&self, part: NodeId, place: Place, leaf: Action) -> bool {
        let query = &self.query;
        let Some(new) = query.node_at(place) else { return false };
        let (Some(SqlRule::Compare(operator, _)), Some(SqlRule::Compare(other, _))) =
            (query.rule(new), query.rule(part))
        else {
            return false;
        };
        let sides = [query.argument(new, 0), query.argument(part, 0), query.argument(part, 1)];
        let [Some(left), Some(part_left), Some(part_right)] = sides else { return false };
        let is_same = |one: NodeId, other: NodeId| query.actions(one).eq(query.actions(other));
        let right =
            query.argument(new, 1).map(|right| query.actions(right)).into_iter().flatten().chain([leaf]);
        let is_mirrored =
            other == operator.flipped() && is_same(left, part_right) && query.actions(part_left).eq(right);
        let is_constant = |step| matches!(step, Step::Literal(_));
        let is_contradicted = operator == ComparisonOperator::Equal
            && other == operator
            && query.parent_rule(place) == Some(SqlRule::And)
            && is_constant(query.step(leaf))
            && query.argument(new, 1).is_none()
            && is_constant(query.step_of(part_right))
            && is_same(left, part_left);
        is_mirrored || is_contradicted
    }
}
