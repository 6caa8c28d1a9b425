//! Where in a query the next action is.

use super::partial::{NodeId, PartialQuery, Place};
use super::values::Value;
use crate::sql::function::Aggregate;
use crate::sql::operator::ComparisonOperator;
use crate::sql::rules::SqlRule;
use crate::sql::schema::ColumnType;
use smallvec::SmallVec;

/// A clause of a select or query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Clause {
    /// A whole query, or one in a compound.
    Query,
    From,
    /// The condition of a left join.
    On,
    Where,
    Keys,
    Having,
    Outputs,
    Order,
    /// `ORDER BY` of a compound.
    OutputOrder,
    Limit,
}

/// The clause of a place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Context {
    pub(super) clause: Clause,
    /// The select of the clause; for `ORDER BY` of a compound, the compound.
    pub(super) select: Option<NodeId>,
    /// Whether the place is inside an aggregate.
    pub(super) in_aggregate: bool,
}

/// What a query is used for.
#[derive(Clone, Copy, Debug)]
pub(super) enum QueryUse {
    Root,
    /// A part of a query: a select of a compound, or what is sorted.
    Body,
    /// In `FROM`.
    Source,
    /// The right side of a comparison, with the left side.
    Compared(NodeId, ComparisonOperator),
    /// The right side of `IN`, with the left side.
    In(NodeId),
    Exists,
    /// Another value.
    Value,
}

/// What a value is compared with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Target {
    pub(super) left: Value,
    pub(super) operator: ComparisonOperator,
    /// Whether the value is the output of a query that is compared.
    pub(super) is_in_query: bool,
}

impl PartialQuery<'_> {
    pub(super) fn context(&self, place: Place) -> Context {
        use SqlRule::*;
        let mut in_aggregate = false;
        let mut at = place;
        while let Some(parent) = at.parent {
            let clause = match (self.rule(parent), at.argument) {
                (Some(Select | Group | GroupHaving), 0) | (Some(Where | LeftJoin), 0) | (Some(Join), _) => {
                    Clause::From
                }
                (Some(LeftJoin), 1) => Clause::From,
                (Some(LeftJoin), _) => Clause::On,
                (Some(Where), _) => Clause::Where,
                (Some(Select), _) | (Some(Group), 2) | (Some(GroupHaving), 3) | (Some(Compute), _) => {
                    Clause::Outputs
                }
                (Some(Group | GroupHaving), 1) => Clause::Keys,
                (Some(GroupHaving), _) => Clause::Having,
                (Some(Order | Top), 1) => Clause::Order,
                (Some(OrderOutputs | TopOutputs), 1) => Clause::OutputOrder,
                (Some(Top | TopOutputs), 2) | (Some(Limit), 1) => Clause::Limit,
                (Some(Order | Top | OrderOutputs | TopOutputs | Limit | Set(_)), _) => Clause::Query,
                (rule, _) => {
                    in_aggregate |= matches!(rule, Some(Aggregate(_)));
                    at = self.place(parent);
                    continue;
                }
            };
            let select = match clause {
                Clause::Order | Clause::OutputOrder => self.argument(parent, 0),
                Clause::Query | Clause::Limit => None,
                _ => self.select_above(parent),
            };
            return Context { clause, select, in_aggregate };
        }
        Context { clause: Clause::Query, select: None, in_aggregate }
    }

    /// Returns a node, if it is a select, or the nearest select above it.
    fn select_above(&self, node: NodeId) -> Option<NodeId> {
        let mut node = node;
        loop {
            if let Some(SqlRule::Select | SqlRule::Group | SqlRule::GroupHaving | SqlRule::Compute) =
                self.rule(node)
            {
                return Some(node);
            }
            node = self.place(node).parent?;
        }
    }

    /// Returns what a query that begins at a place is used for.
    pub(super) fn query_use(&self, place: Place) -> QueryUse {
        use SqlRule::*;
        let Some(parent) = place.parent else { return QueryUse::Root };
        let left = || self.argument(parent, 0).unwrap_or(parent);
        match (self.rule(parent), place.argument) {
            (Some(Order | Top | OrderOutputs | TopOutputs | Limit), 0) | (Some(Set(_)), _) => QueryUse::Body,
            (Some(Select | Group | GroupHaving | Where | Join | LeftJoin), 0)
            | (Some(Join | LeftJoin), 1) => QueryUse::Source,
            (Some(Compare(operator, _)), 1) => QueryUse::Compared(left(), operator),
            (Some(InQuery), 1) => QueryUse::In(left()),
            (Some(Exists), _) => QueryUse::Exists,
            _ => QueryUse::Value,
        }
    }

    /// Returns the first action of the query that a select is part of.
    fn query_of_select(&self, select: NodeId) -> NodeId {
        let mut node = select;
        while let QueryUse::Body = self.query_use(self.place(node))
            && let Some(parent) = self.place(node).parent
        {
            node = parent;
        }
        node
    }

    /// Returns what the query of a select is used for.
    pub(super) fn use_of_select(&self, select: NodeId) -> QueryUse {
        self.query_use(self.place(self.query_of_select(select)))
    }

    /// Returns the number of columns that a select must have, because others in a compound have it or because it is a
    /// value; none if it may have any.
    pub(super) fn wanted_width(&self, select: NodeId) -> Option<usize> {
        let query = self.query_of_select(select);
        match self.query_use(self.place(query)) {
            QueryUse::Compared(..) | QueryUse::In(_) | QueryUse::Value => return Some(1),
            QueryUse::Exists => return None,
            _ => {}
        }
        let first = self.first_select(query)?;
        (first != select).then(|| self.query_width(first))
    }

    pub(super) fn is_grouped(&self, select: NodeId) -> bool {
        matches!(self.rule(select), Some(SqlRule::Group | SqlRule::GroupHaving))
    }

    /// Returns whether a select is sorted, or has `DISTINCT`.
    pub(super) fn is_sorted_or_distinct(&self, select: NodeId) -> bool {
        let is_sorted = matches!(self.parent_rule(self.place(select)), Some(SqlRule::Order | SqlRule::Top));
        let outputs = self.argument(select, if self.rule(select) == Some(SqlRule::Select) { 1 } else { 0 });
        is_sorted || outputs.is_some_and(|outputs| self.rule(outputs) == Some(SqlRule::Distinct))
    }

    /// Returns the nodes that are part of the outputs of a select, without those of queries inside.
    fn nodes_of_outputs(&self, select: NodeId) -> impl Iterator<Item = (NodeId, Context)> {
        let first = self.output_nodes(select).first().copied().unwrap_or(self.len());
        (first..self.len())
            .map(|node| (node, self.context(self.place(node))))
            .filter(move |(_, context)| context.clause == Clause::Outputs && context.select == Some(select))
    }

    /// Returns whether an output of a select has an aggregate, as far as they were written.
    pub(super) fn has_aggregate_output(&self, select: NodeId) -> bool {
        self.nodes_of_outputs(select)
            .any(|(node, _)| matches!(self.rule(node), Some(SqlRule::CountRows | SqlRule::Aggregate(_))))
    }

    /// Returns whether the only aggregate in the outputs of a select is the least or greatest value of all rows.
    pub(super) fn has_extreme_output(&self, select: NodeId) -> bool {
        let is_extreme = |node| {
            let is_extreme =
                matches!(self.rule(node), Some(SqlRule::Aggregate(Aggregate::Min | Aggregate::Max)));
            is_extreme && self.is_output_place(self.place(node))
        };
        let mut aggregates = self
            .nodes_of_outputs(select)
            .map(|(node, _)| node)
            .filter(|&node| matches!(self.rule(node), Some(SqlRule::CountRows | SqlRule::Aggregate(_))));
        aggregates.next().is_some_and(is_extreme) && aggregates.next().is_none()
    }

    /// Returns whether the outputs of a select are columns, as far as they were written.
    pub(super) fn has_only_columns(&self, select: NodeId) -> bool {
        use SqlRule::{Again, AgainField, Field, NextField};
        self.output_nodes(select).iter().all(|&output| match self.step_of(output) {
            super::partial::Step::Column(_) => true,
            super::partial::Step::Rule(rule) => matches!(rule, Again(_) | AgainField | Field | NextField),
            _ => false,
        })
    }

    /// Returns whether an output of a select has a value of a single row, as far as they were written.
    pub(super) fn has_bare_output(&self, select: NodeId) -> bool {
        self.nodes_of_outputs(select).any(|(node, context)| {
            let is_value = match self.step_of(node) {
                super::partial::Step::Column(_) => true,
                super::partial::Step::Rule(rule) => {
                    matches!(rule, SqlRule::All | SqlRule::AllOf | SqlRule::Field)
                }
                _ => false,
            };
            is_value && !context.in_aggregate
        })
    }

    /// Returns whether a place is that of an output, or of a list of outputs.
    pub(super) fn is_output_place(&self, place: Place) -> bool {
        matches!(
            (self.parent_rule(place), place.argument),
            (Some(SqlRule::AndOutput | SqlRule::Distinct | SqlRule::Compute), _)
                | (Some(SqlRule::Select), 1)
                | (Some(SqlRule::Group), 2)
                | (Some(SqlRule::GroupHaving), 3)
        )
    }

    /// Returns whether a value at a place is the left side of `<` or the like, or the extreme of it.
    pub(super) fn is_ordered_side(&self, place: Place) -> bool {
        match (self.parent_rule(place), place.argument) {
            (Some(SqlRule::Compare(operator, _)), 0) => is_order(operator),
            (Some(SqlRule::Between(_)), 0) => true,
            (Some(SqlRule::Aggregate(Aggregate::Min | Aggregate::Max)), _) => {
                self.up(place).is_some_and(|up| self.is_ordered_side(up))
            }
            _ => false,
        }
    }

    /// Returns what a value at a place is compared with. The least, greatest or mean value of a column is compared with
    /// what a value of the column may be compared with.
    pub(super) fn target(&self, place: Place) -> Option<Target> {
        use SqlRule::*;
        let parent = place.parent?;
        let target = |node: Option<NodeId>, operator, is_in_query| {
            Some(Target { left: self.value(node?), operator, is_in_query })
        };
        match (self.rule(parent)?, place.argument) {
            (SqlRule::Aggregate(aggregate), _)
                if aggregate.adds() || matches!(aggregate, self::Aggregate::Min | self::Aggregate::Max) =>
            {
                self.target(self.place(parent))
            }
            (Compare(operator, _), 1) => target(self.argument(parent, 0), operator, false),
            (Between(_), 1..) => target(self.argument(parent, 0), ComparisonOperator::LessOrEqual, false),
            (AndElement | AndNumber, _) => {
                let mut list = parent;
                while let Some(up) = self.place(list).parent
                    && matches!(self.rule(list), Some(AndElement | AndNumber))
                {
                    list = up;
                }
                target(self.argument(list, 0), ComparisonOperator::Equal, false)
            }
            _ if self.is_output_place(place) => {
                let select = self.select_above(parent)?;
                match self.use_of_select(select) {
                    QueryUse::Compared(left, operator) => target(Some(left), operator, true),
                    QueryUse::In(left) => target(Some(left), ComparisonOperator::Equal, true),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// Returns whether a condition at a place is inside `NOT`.
    pub(super) fn is_negated(&self, place: Place) -> bool {
        let mut at = place;
        while let Some(rule @ (SqlRule::And | SqlRule::Or | SqlRule::Not)) = self.parent_rule(at)
            && let Some(up) = self.up(at)
        {
            if rule == SqlRule::Not {
                return true;
            }
            at = up;
        }
        false
    }

    /// Returns the first action of the `FROM` list that a source at a place belongs to; none if the source is the first.
    pub(super) fn list_of_place(&self, place: Place) -> Option<NodeId> {
        let mut first = None;
        let mut at = place;
        while let Some(parent) = at.parent
            && matches!(self.rule(parent), Some(SqlRule::Join | SqlRule::LeftJoin))
            && at.argument < 2
        {
            first = Some(parent);
            at = self.place(parent);
        }
        first
    }

    /// Returns whether the `FROM` list that continues at a place has a condition.
    pub(super) fn has_where(&self, place: Place) -> bool {
        let at = self.list_of_place(place).map_or(place, |first| self.place(first));
        self.parent_rule(at) == Some(SqlRule::Where)
    }

    /// Returns the nodes of earlier parts that the part at a place must differ from: other conditions of `AND` and `OR`,
    /// other elements of a list, and the other side of a comparison or set operator.
    pub(super) fn earlier_siblings(&self, place: Place) -> SmallVec<[NodeId; 4]> {
        use SqlRule::*;
        let mut siblings = SmallVec::new();
        let Some(parent) = place.parent else { return siblings };
        let Some(rule) = self.rule(parent) else { return siblings };
        match rule {
            And | Or | AndOutput | AndKey | ThenBy | AndElement | AndNumber => {
                if place.argument == 1 {
                    siblings.extend(self.argument(parent, 0));
                }
                let mut list = parent;
                while let Place { parent: Some(up), argument: 1 } = self.place(list)
                    && self.rule(up) == Some(rule)
                {
                    siblings.extend(self.argument(up, 0));
                    list = up;
                }
            }
            Compare(..) | Between(_) | Arithmetic(_) | Set(_) => {
                siblings.extend((0..place.argument).filter_map(|argument| self.argument(parent, argument)));
            }
            _ => {}
        }
        siblings
    }

    /// Returns the number of queries that a place is in.
    pub(super) fn depth(&self, place: Place) -> usize {
        let mut depth = 0;
        let mut at = place;
        while let Some(parent) = at.parent {
            let is_select = matches!(
                self.rule(parent),
                Some(SqlRule::Select | SqlRule::Group | SqlRule::GroupHaving | SqlRule::Compute)
            );
            depth += usize::from(is_select);
            at = self.place(parent);
        }
        depth
    }
}

/// Returns whether an operator compares by order.
pub(super) fn is_order(operator: ComparisonOperator) -> bool {
    !matches!(operator, ComparisonOperator::Equal | ComparisonOperator::NotEqual)
}

/// Returns whether values of two types can be the same.
pub(super) fn may_be_equal(left: ColumnType, right: ColumnType) -> bool {
    left == right || left == ColumnType::Other || right == ColumnType::Other
}
