//! The rules about what is compared with what: columns with columns, and constants with what they may mean.

use super::context::{Clause, Target, is_order, may_be_equal};
use super::next::{Next, is_orderable};
use super::partial::Step;
use super::values::{Origin, Value};
use crate::sql::environment::{ItemMeaning, LiteralMeaning};
use crate::sql::label_patterns::ConstantUse;
use crate::sql::literal::LiteralKind;
use crate::sql::operator::ComparisonOperator;
use crate::sql::rules::SqlRule;
use crate::sql::schema::{ColumnId, ColumnType};
use crate::{Environment, ItemId};

/// Returns how far from the values of a column a number may be that they are compared with by order. What is longer than all
/// may be asked for; a year is no score.
fn margin([least, greatest]: [f64; 2]) -> f64 {
    (greatest - least).max(least.abs().max(greatest.abs()) / 2.0)
}

impl Next<'_> {
    /// Returns whether a value may be compared with what it would be compared with here.
    ///
    /// Values of columns are equal only along keys, or as a label says. Numbers that are no keys may also be compared by
    /// their order.
    pub(super) fn is_comparable(&self, target: &Target, right: Value) -> bool {
        let Target { left, operator, is_in_query } = *target;
        let by_order = is_order(operator);
        if by_order && !is_orderable(right.ty) {
            return false;
        }
        if left.origin == Origin::Count || right.origin == Origin::Count {
            return self.is_countable(left) && self.is_countable(right);
        }
        let (Some(left_column), Some(right_column)) = (left.column, right.column) else {
            return may_be_equal(left.ty, right.ty) && [left, right].iter().all(|side| !self.is_key(*side));
        };
        let is_same_row = !is_in_query && left.source == right.source;
        if is_same_row && left_column == right_column {
            return false;
        }
        if self.facts().are_joinable(left_column, right_column) {
            // Two occurrences of a table with the same key are the same row.
            let is_same_row =
                !is_in_query && left_column == right_column && self.facts().is_whole_key(left_column);
            return by_order || !(is_same_row && operator == ComparisonOperator::Equal);
        }
        by_order && !is_in_query && left.ty == right.ty && !self.is_key(left) && !self.is_key(right)
    }

    /// Returns whether a value may be compared with a number of rows.
    pub(super) fn is_countable(&self, value: Value) -> bool {
        let is_number = matches!(value.ty, ColumnType::Number | ColumnType::Other);
        value.origin == Origin::Count || is_number && !self.is_key(value)
    }

    fn is_key(&self, value: Value) -> bool {
        value.origin == Origin::Column && value.column.is_some_and(|column| self.facts().is_key(column))
    }

    /// Returns whether a constant makes sense as the next action.
    pub(super) fn literal_makes_sense(&self, item: ItemId) -> bool {
        use SqlRule::*;
        let ItemMeaning::Literal(literal) = self.query.environment.meaning(item) else { return false };
        if self.context.clause == Clause::Limit {
            return self.limit_makes_sense(literal);
        }
        let is_said_or_used = |used| literal.is_said || self.is_used(item, used);
        match self.parent() {
            (Some(Compare(..) | Between(_) | AndElement | AndNumber), _) => {
                let Some(target) = self.target() else { return false };
                !self.must_join()
                    && self.constant_makes_sense(&target, item, literal)
                    && self.is_upper_bound(literal)
            }
            (Some(Arithmetic(_)), argument) => {
                let first = self.slot.parent.and_then(|parent| self.query.argument(parent, 0));
                let is_second_constant = argument == 1
                    && first.is_some_and(|first| matches!(self.query.step_of(first), Step::Literal(_)));
                // A number that the question says is what something is compared with, and not a part of it.
                let is_compared = matches!(self.context.clause, Clause::Where | Clause::Having | Clause::On);
                let is_called_for =
                    self.is_used(item, ConstantUse::Computed) || literal.is_said && !is_compared;
                literal.number.is_some() && !is_second_constant && is_called_for
            }
            (Some(Call(_) | Case), _) => is_said_or_used(ConstantUse::Computed),
            // Without a percent sign, `LIKE` is `=`, but for case.
            (Some(Like), 1) => literal.has_wildcard && literal.is_said || self.is_used_with_left(item),
            (Some(Pattern(_)), _) => {
                literal.is_said || self.query.up(self.slot).is_some_and(|_| self.is_used_in_pattern(item))
            }
            _ => false,
        }
    }

    /// The number of rows is one that the question says as a count, or 1 of sorted rows: the first of them.
    fn limit_makes_sense(&self, literal: LiteralMeaning) -> bool {
        let Some(number) = literal.number.filter(|number| number.fract() == 0.0 && *number >= 1.0) else {
            return false;
        };
        let parent = self.query.parent_rule(self.slot);
        let is_skipped = parent == Some(SqlRule::Offset) && self.slot.argument == 1;
        let clause = match parent {
            Some(SqlRule::Offset) => self.query.up(self.slot).and_then(|up| self.query.parent_rule(up)),
            other => other,
        };
        let is_sorted = matches!(clause, Some(SqlRule::Top | SqlRule::TopOutputs));
        literal.is_said && (literal.is_count || is_skipped) || is_sorted && number == 1.0
    }

    /// The second bound of `BETWEEN` is greater than the first.
    fn is_upper_bound(&self, literal: LiteralMeaning) -> bool {
        let (Some(SqlRule::Between(_)), 2) = self.parent() else { return true };
        let lower = self.slot.parent.and_then(|parent| self.query.argument(parent, 1));
        let lower = lower.and_then(|lower| match self.query.step_of(lower) {
            Step::Literal(item) => match self.query.environment.meaning(item) {
                ItemMeaning::Literal(lower) => lower.number,
                _ => None,
            },
            _ => None,
        });
        lower.zip(literal.number).is_none_or(|(lower, upper)| lower < upper)
    }

    fn is_used(&self, item: ItemId, used: ConstantUse) -> bool {
        self.facts().is_used(&self.query.environment.items()[item.index()].symbol, used)
    }

    /// Returns whether labels have a constant as the pattern of the column on the left side.
    fn is_used_with_left(&self, item: ItemId) -> bool {
        let left = self.slot.parent.and_then(|like| self.query.argument(like, 0));
        let column = left.and_then(|left| self.query.value(left).column);
        column.is_some_and(|column| self.is_used(item, ConstantUse::Column(column)))
    }

    /// Returns whether labels look for a constant inside the texts of the column on the left side of `LIKE`.
    fn is_used_in_pattern(&self, item: ItemId) -> bool {
        let like = self.query.up(self.slot).and_then(|pattern| pattern.parent);
        let left = like.and_then(|like| self.query.argument(like, 0));
        let column = left.and_then(|left| self.query.value(left).column);
        column.is_some_and(|column| self.is_used(item, ConstantUse::Column(column)))
    }

    /// Returns whether a constant may be compared with what it would be compared with here.
    fn constant_makes_sense(&self, target: &Target, item: ItemId, literal: LiteralMeaning) -> bool {
        let Target { left, operator, .. } = *target;
        let by_order = is_order(operator);
        if by_order && literal.kind == LiteralKind::Word {
            return false;
        }
        match (left.origin, left.column) {
            (Origin::Count, _) => {
                let is_count = literal.number.is_some_and(|number| number.fract() == 0.0 && number >= 0.0);
                is_count
                    && (literal.is_said || literal.is_zero_or_one() || self.is_used(item, ConstantUse::Count))
            }
            (Origin::Column | Origin::Extreme | Origin::Mean, Some(column)) => {
                let is_flag = literal.is_zero_or_one() && self.facts().is_flag(column);
                let is_called_for =
                    literal.is_said || is_flag || self.is_used(item, ConstantUse::Column(column));
                is_called_for && self.column_may_hold(column, item, literal, by_order)
            }
            _ => {
                let is_called_for = literal.is_said || self.is_used(item, ConstantUse::Computed);
                is_called_for && (literal.number.is_some() || left.ty != ColumnType::Number)
            }
        }
    }

    /// Returns whether a column may hold a constant, or a value near it if it is compared by order.
    fn column_may_hold(
        &self,
        column: ColumnId,
        item: ItemId,
        literal: LiteralMeaning,
        by_order: bool,
    ) -> bool {
        let ty = self.facts().schema().column(column).ty;
        let range = self.facts().range(column);
        match (literal.kind, literal.number) {
            (LiteralKind::Number, Some(number)) => match (ty, range) {
                (ColumnType::Text, _) | (ColumnType::Time, None) => false,
                (ColumnType::Boolean, _) => literal.is_zero_or_one() && !by_order,
                (_, Some([least, greatest])) => {
                    let margin = if by_order { margin([least, greatest]) } else { 0.0 };
                    (least - margin..=greatest + margin).contains(&number)
                }
                (_, None) => true,
            },
            _ if ty == ColumnType::Number => false,
            // A date need not be one of those in the column to be before or after them.
            (LiteralKind::Time, _) if by_order && ty != ColumnType::Text => true,
            _ => self.query.environment.may_contain(column, item),
        }
    }
}
