//! The tree of a partial program, and what the next action of it sees.

use super::facts::SenseFacts;
use crate::sql::environment::{ItemMeaning, SqlEnvironment};
use crate::sql::function::{Aggregate, ValueType};
use crate::sql::operator::{ArithmeticOperator, CastType};
use crate::sql::rules::SqlRule;
use crate::sql::schema::{ColumnId, ColumnType, TableId};
use crate::sql::scope::Occurrence;
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

/// A `FROM` list that an expression sees.
#[derive(Clone, Debug, Default)]
pub(super) struct FromList {
    /// The first action of the list; none without `FROM`.
    pub(super) from: Option<NodeId>,
    pub(super) sources: SmallVec<[Source; 4]>,
}

/// The `FROM` lists that an expression sees, nearest first.
pub(super) type Scopes = SmallVec<[FromList; 3]>;

/// A source of a `FROM` list that an expression sees: the index of the list, and of the source in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SourceIndex {
    pub(super) list: usize,
    pub(super) source: usize,
}

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
    pub(super) fn sources(&self, from: NodeId) -> SmallVec<[Source; 4]> {
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
    pub(super) fn from_of(&self, select: NodeId) -> Option<NodeId> {
        if self.rule(select) == Some(SqlRule::Compute) {
            return None;
        }
        let rows = self.argument(select, 0)?;
        if self.rule(rows) == Some(SqlRule::Where) { self.argument(rows, 0) } else { Some(rows) }
    }

    fn list(&self, from: Option<NodeId>) -> FromList {
        FromList { from, sources: from.map(|from| self.sources(from)).unwrap_or_default() }
    }

    /// Returns the `FROM` lists that an expression at a place sees.
    pub(super) fn scopes(&self, place: Place) -> Scopes {
        let mut scopes = Scopes::new();
        let mut at = place;
        while let Some(parent) = at.parent {
            match (self.rule(parent), at.argument) {
                (Some(SqlRule::Select | SqlRule::Group | SqlRule::GroupHaving), 1..) => {
                    scopes.push(self.list(self.from_of(parent)));
                }
                (Some(SqlRule::Compute), _) => scopes.push(FromList::default()),
                (Some(SqlRule::Where), 1) => scopes.push(self.list(self.argument(parent, 0))),
                (Some(SqlRule::LeftJoin), 2) => {
                    // The whole list, which begins at its first join.
                    let mut first = parent;
                    while let Place { parent: Some(outer), argument: 1 } = self.nodes[first].place
                        && matches!(self.rule(outer), Some(SqlRule::Join | SqlRule::LeftJoin))
                    {
                        first = outer;
                    }
                    scopes.push(self.list(Some(first)));
                    at = self.nodes[first].place;
                    continue;
                }
                (Some(SqlRule::Order | SqlRule::Top), 1) => {
                    let select = self.argument(parent, 0);
                    scopes.push(self.list(select.and_then(|select| self.from_of(select))));
                }
                _ => {}
            }
            at = self.nodes[parent].place;
        }
        scopes
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

    /// Returns the outputs of a complete query, with stars expanded. An output that text cannot refer to is none.
    pub(super) fn outputs(&self, query: NodeId) -> Vec<Option<Value>> {
        let Some(select) = self.first_select(query) else { return vec![] };
        let sources = self.from_of(select).map(|from| self.sources(from)).unwrap_or_default();
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
        let Step::Table(table) = self.nodes[node].step else { return None };
        let scopes = self.scopes(self.nodes[output].place);
        let mut same =
            scopes.first()?.sources.iter().enumerate().filter(|(_, s)| **s == Source::Table(table));
        same.nth(again).map(|(index, _)| index)
    }

    /// Returns the number of columns of a complete output.
    pub(super) fn width(&self, output: NodeId) -> usize {
        let sources = |place| self.scopes(place).first().map(|list| list.sources.clone()).unwrap_or_default();
        match self.rule(output) {
            Some(SqlRule::All) => {
                sources(self.nodes[output].place).iter().map(|source| self.source_width(*source)).sum()
            }
            Some(SqlRule::AllOf) => {
                let sources = sources(self.nodes[output].place);
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
        let Source::Query(query) = scopes[source.list].sources[source.source] else { return None };
        let value = (*self.outputs(query).get(index)?)?;
        // An output of a query is a value like one in a column, however it was computed.
        let origin = if value.origin == Origin::Extreme { Origin::Column } else { value.origin };
        Some(Value { source: Some(source), origin, ..value })
    }

    /// Returns what is known about the value of a complete expression.
    pub(super) fn value(&self, node: NodeId) -> Value {
        let argument = || self.argument(node, 0).map_or(Value::UNKNOWN, |argument| self.value(argument));
        let rule = match self.nodes[node].step {
            Step::Column(column) => {
                return self
                    .bound_column(&self.scopes(self.nodes[node].place), column, ZERO)
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
        let scopes = self.scopes(self.nodes[node].place);
        let mut at = ZERO;
        let mut field = 0;
        let mut rest = node;
        loop {
            match self.nodes[rest].step {
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
    let mut lists = scopes.iter().enumerate().filter(|(_, list)| list.sources.iter().any(is_same));
    let (list, sources) = lists.nth(at.outer as usize)?;
    let mut same = sources.sources.iter().enumerate().filter(|(_, source)| is_same(source));
    let (source, _) = same.nth(at.again as usize)?;
    Some(SourceIndex { list, source })
}
