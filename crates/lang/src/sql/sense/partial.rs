//! The tree of a partial program, and what the next action of it sees.

use super::facts::SenseFacts;
use crate::sql::environment::{ItemMeaning, SqlEnvironment};
use crate::sql::rules::SqlRule;
use crate::sql::schema::{ColumnId, TableId};
use crate::{Action, Grammar, ItemId};
use smallvec::SmallVec;

/// The index of an action.
pub(super) type NodeId = usize;

/// The meaning of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Rule(SqlRule),
    Table(TableId),
    Column(ColumnId),
    Literal(ItemId),
}

/// A place in the tree: an argument of a rule, or the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) parent: Option<NodeId>,
    pub(super) argument: usize,
}

struct TreeNode {
    step: Step,
    action: Action,
    place: Place,
    /// The index after the last action of its subtree; none if it is not complete.
    end: Option<usize>,
    /// The number of arguments that are not complete.
    open: usize,
}

/// A source in `FROM`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    Table(TableId),
    Query(NodeId),
}

/// The sources of a `FROM` list; empty for a select without one.
pub(super) type FromList = SmallVec<[Source; 4]>;

/// The `FROM` lists that an expression sees, nearest first.
pub(super) type Scopes = SmallVec<[FromList; 3]>;

/// A source of a `FROM` list that an expression sees: the index of the list, and of the source in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SourceIndex {
    pub(super) list: usize,
    pub(super) source: usize,
}

/// The tree of a partial program.
pub(super) struct PartialQuery<'a> {
    pub(super) environment: &'a SqlEnvironment,
    pub(super) facts: &'a SenseFacts,
    nodes: Vec<TreeNode>,
    /// The places without an action, the next one last.
    open: SmallVec<[Place; 24]>,
}

impl<'a> PartialQuery<'a> {
    pub(super) fn new(
        environment: &'a SqlEnvironment,
        facts: &'a SenseFacts,
        grammar: &Grammar,
        actions: &[Action],
    ) -> Self {
        let root = Place { parent: None, argument: 0 };
        let mut query = PartialQuery {
            environment,
            facts,
            nodes: Vec::with_capacity(actions.len() + 1),
            open: SmallVec::from_slice(&[root]),
        };
        actions.iter().for_each(|&action| query.push(grammar, action));
        query
    }

    fn push(&mut self, grammar: &Grammar, action: Action) {
        let Some(place) = self.open.pop() else { return };
        let node = self.nodes.len();
        let arguments = grammar.arguments(action).len();
        let step = self.step(action);
        self.nodes.push(TreeNode { step, action, place, end: None, open: arguments });
        self.open.extend((0..arguments).rev().map(|argument| Place { parent: Some(node), argument }));
        let mut complete = (arguments == 0).then_some(node);
        while let Some(node) = complete {
            self.nodes[node].end = Some(self.nodes.len());
            complete = self.nodes[node].place.parent.filter(|&parent| {
                self.nodes[parent].open -= 1;
                self.nodes[parent].open == 0
            });
        }
    }

    /// Returns the meaning of an action.
    pub(super) fn step(&self, action: Action) -> Step {
        match action {
            Action::Rule(rule) => Step::Rule(self.facts.language.rules.rule(rule)),
            Action::Item(item) => match self.environment.meaning(item) {
                ItemMeaning::Table(table) => Step::Table(table),
                ItemMeaning::Column(column) => Step::Column(column),
                ItemMeaning::Literal(_) => Step::Literal(item),
            },
        }
    }

    /// Returns the number of actions.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns the place of the next action.
    pub(super) fn next_place(&self) -> Place {
        self.open.last().copied().unwrap_or(Place { parent: None, argument: 0 })
    }

    /// Returns the places whose subtrees would be complete after a leaf at the next place, innermost first.
    pub(super) fn completed_by_leaf(&self) -> SmallVec<[Place; 8]> {
        let mut places = SmallVec::new();
        let mut place = self.next_place();
        loop {
            places.push(place);
            match place.parent {
                Some(parent) if self.nodes[parent].open == 1 => place = self.nodes[parent].place,
                _ => return places,
            }
        }
    }

    /// Returns the rule of the parent of a place.
    pub(super) fn parent_rule(&self, place: Place) -> Option<SqlRule> {
        self.rule(place.parent?)
    }

    pub(super) fn rule(&self, node: NodeId) -> Option<SqlRule> {
        match self.nodes[node].step {
            Step::Rule(rule) => Some(rule),
            _ => None,
        }
    }

    pub(super) fn step_of(&self, node: NodeId) -> Step {
        self.nodes[node].step
    }

    pub(super) fn place(&self, node: NodeId) -> Place {
        self.nodes[node].place
    }

    /// Returns the place of the parent of a place.
    pub(super) fn up(&self, place: Place) -> Option<Place> {
        Some(self.nodes[place.parent?].place)
    }

    pub(super) fn is_complete(&self, node: NodeId) -> bool {
        self.nodes[node].end.is_some()
    }

    /// Returns an argument of a rule, if it was begun.
    pub(super) fn argument(&self, node: NodeId, index: usize) -> Option<NodeId> {
        let mut argument = node + 1;
        for _ in 0..index {
            argument = self.nodes.get(argument)?.end?;
        }
        self.nodes.get(argument).filter(|child| child.place.parent == Some(node)).map(|_| argument)
    }

    /// Returns the actions of a subtree, as far as it was written.
    pub(super) fn actions(&self, node: NodeId) -> impl Iterator<Item = Action> {
        let end = self.nodes[node].end.unwrap_or(self.nodes.len());
        self.nodes[node..end].iter().map(|node| node.action)
    }

    /// Returns the node at a place, if there is one.
    pub(super) fn node_at(&self, place: Place) -> Option<NodeId> {
        match place.parent {
            Some(parent) => self.argument(parent, place.argument),
            None => (!self.nodes.is_empty()).then_some(0),
        }
    }

    /// Returns the sources of a `FROM` list, as far as it was written.
    pub(super) fn sources(&self, from: NodeId) -> FromList {
        let mut sources = SmallVec::new();
        let mut rest = Some(from);
        while let Some(node) = rest {
            let is_join = matches!(self.rule(node), Some(SqlRule::Join | SqlRule::LeftJoin));
            let source = if is_join { self.argument(node, 0) } else { Some(node) };
            if let Some(source) = source {
                sources.push(match self.nodes[source].step {
                    Step::Table(table) => Source::Table(table),
                    _ => Source::Query(source),
                });
            }
            rest = if is_join { self.argument(node, 1) } else { None };
        }
        sources
    }

    /// Returns the first action of the `FROM` list of a select.
    pub(super) fn first_source(&self, select: NodeId) -> Option<NodeId> {
        if self.rule(select) == Some(SqlRule::Compute) {
            return None;
        }
        let rows = self.argument(select, 0)?;
        if self.rule(rows) == Some(SqlRule::Where) { self.argument(rows, 0) } else { Some(rows) }
    }

    /// Returns the `FROM` lists that an expression at a place sees.
    pub(super) fn scopes(&self, place: Place) -> Scopes {
        let sources = |from: Option<NodeId>| from.map(|from| self.sources(from)).unwrap_or_default();
        self.lists_in_scope(place).map(sources).collect()
    }

    /// Returns the first actions of the `FROM` lists that an expression at a place sees, nearest first; none for a select without
    /// `FROM`.
    pub(super) fn lists_in_scope(&self, place: Place) -> impl Iterator<Item = Option<NodeId>> {
        let mut at = place;
        std::iter::from_fn(move || {
            while let Some(parent) = at.parent {
                let argument = at.argument;
                at = self.nodes[parent].place;
                match (self.rule(parent), argument) {
                    (Some(SqlRule::Select | SqlRule::Group | SqlRule::GroupHaving), 1..) => {
                        return Some(self.first_source(parent));
                    }
                    (Some(SqlRule::Compute), _) => return Some(None),
                    (Some(SqlRule::Where), 1) => return Some(self.argument(parent, 0)),
                    (Some(SqlRule::LeftJoin), 2) => {
                        // The whole list, which begins at its first join.
                        let mut first = parent;
                        while let Place { parent: Some(outer), argument: 1 } = self.nodes[first].place
                            && matches!(self.rule(outer), Some(SqlRule::Join | SqlRule::LeftJoin))
                        {
                            first = outer;
                        }
                        at = self.nodes[first].place;
                        return Some(Some(first));
                    }
                    (Some(SqlRule::Order | SqlRule::Top), 1) => {
                        let select = self.argument(parent, 0);
                        return Some(select.and_then(|select| self.first_source(select)));
                    }
                    _ => {}
                }
            }
            None
        })
    }

    /// Returns the first select of a query.
    pub(super) fn first_select(&self, query: NodeId) -> Option<NodeId> {
        let mut node = query;
        loop {
            match self.rule(node)? {
                SqlRule::Select | SqlRule::Group | SqlRule::GroupHaving | SqlRule::Compute => {
                    return Some(node);
                }
                _ => node = self.argument(node, 0)?,
            }
        }
    }

    /// Returns the outputs of a select, as far as they were written.
    pub(super) fn output_nodes(&self, select: NodeId) -> SmallVec<[NodeId; 4]> {
        let argument = match self.rule(select) {
            Some(SqlRule::Compute) => 0,
            Some(SqlRule::Select) => 1,
            Some(SqlRule::Group) => 2,
            _ => 3,
        };
        let mut outputs = SmallVec::new();
        let mut rest = self.argument(select, argument);
        if let Some(node) = rest
            && self.rule(node) == Some(SqlRule::Distinct)
        {
            rest = self.argument(node, 0);
        }
        while let Some(node) = rest {
            if self.rule(node) == Some(SqlRule::AndOutput) {
                outputs.extend(self.argument(node, 0));
                rest = self.argument(node, 1);
            } else {
                outputs.push(node);
                rest = None;
            }
        }
        outputs
    }
}
