//! The lambda-DCS that a parser writes, with one action for each function application. It has two grammars.
//!
//! # The typed grammar
//!
//! [`LambdaDcs::new`] has one way to express each meaning. Its rules follow the signatures of Overnight's functions, and
//! exclude what the functions reject *for every input*. A program outside the grammar therefore fails in every world, or is
//! equivalent to one inside it:
//!
//! - `ensureNumericProperty` fails unless its property has numeric values, `filter/2` fails unless
//!   its property is unary, and the counting functions fail if their property is numeric. Hence
//!   there are three kinds of properties.
//! - Order comparisons and superlatives take their arguments through the `ensureNumeric…` functions,
//!   as in SEMPRE's own grammar, and nothing else does.
//! - A list and a single value are often interchangeable. The type `Operand` accepts both, so
//!   choosing between them costs no action.
//! - All entities of a type, `( call SW.getProperty ( call SW.singleton T ) ( string !type ) )`, is
//!   one action, `instances`. It is the only use of `singleton` and `!type`: elsewhere a list of one
//!   value means the same as the value.
//!
//! The types do *not* say which entities a property belongs to. SEMPRE checks that for each element
//! at run time, so an empty list hides a mismatch, and some gold programs depend on it.
//!
//! # The grammar of signatures
//!
//! [`LambdaDcs::from_signatures`] is as loose as the grammar of the paper's authors: it has the types of the functions'
//! arguments, and leaves the rest to execution. There is one kind of properties. `ensureNumericProperty` and
//! `ensureNumericEntity` are functions like others, which a program may use or not. Every comparison takes all six
//! operators, and every superlative and aggregate takes `min`, `max`, `sum` and `avg`. Any list is a whole program.
//!
//! It is there to measure what the types are worth. Both grammars write every program of the benchmark.

use super::explanation::Explainer;
use super::form::{Form, FormNode, NodeId};
use super::function::Function;
use super::rules::{LambdaRules, RuleTemplate};
use crate::{
    Action, Environment, Grammar, ItemKind, Language, Node, Program, ReadError, RuleId, Signatures,
    SyntaxError, TypeId,
};

/// The kind of a property's values, which decides where a program may use the property.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PropertyKind {
    /// Entities.
    Relation,
    /// Numbers, dates or times.
    Numeric,
    /// None: the property of an entity holds or does not hold.
    Unary,
}

/// The kind of a value, which decides where a program may use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ValueKind {
    /// An entity.
    Entity,
    /// A date.
    Date,
    /// A time.
    Time,
    /// A number with a unit.
    Quantity,
    /// A number without a unit, in a world whose properties have such numbers.
    Number,
    /// A number without a unit, in a world whose properties have none: it can only be compared with a count.
    Count,
}

/// Lambda-DCS with one of its grammars; the module's description explains their rules.
#[derive(Debug)]
pub struct LambdaDcs {
    pub(super) rules: LambdaRules,
}

impl Default for LambdaDcs {
    fn default() -> Self {
        LambdaDcs::new()
    }
}

impl LambdaDcs {
    /// Creates the language with the typed grammar.
    pub fn new() -> Self {
        LambdaDcs { rules: LambdaRules::typed() }
    }

    /// Creates the language with the grammar of signatures.
    pub fn from_signatures() -> Self {
        LambdaDcs { rules: LambdaRules::from_signatures() }
    }

    /// Returns the kind of items for properties.
    pub fn property_kind(&self, kind: PropertyKind) -> ItemKind {
        match kind {
            PropertyKind::Relation => self.rules.kinds.relation,
            PropertyKind::Numeric => self.rules.kinds.numeric,
            PropertyKind::Unary => self.rules.kinds.unary,
        }
    }

    /// Returns the kind of items for entities, numbers, dates and times.
    pub fn value_kind(&self, kind: ValueKind) -> ItemKind {
        match kind {
            ValueKind::Entity => self.rules.kinds.entity,
            ValueKind::Date => self.rules.kinds.date,
            ValueKind::Time => self.rules.kinds.time,
            ValueKind::Quantity => self.rules.kinds.quantity,
            ValueKind::Number => self.rules.kinds.number,
            ValueKind::Count => self.rules.kinds.count,
        }
    }

    /// Returns the kind of items for types of entities.
    pub fn type_kind(&self) -> ItemKind {
        self.rules.kinds.entity_type
    }
}

impl Language for LambdaDcs {
    fn name(&self) -> &'static str {
        "lambda-dcs"
    }

    fn signatures(&self) -> &Signatures {
        &self.rules.signatures
    }

    /// Counts as the paper's authors do: two actions for an application, one for a leaf and one for the start. The
    /// mean lengths are within 0.6 of those that they report for each of the eight domains.
    fn length(&self, program: &Program) -> usize {
        let action_length = |action: &Action| match action {
            Action::Item(_) => 1,
            Action::Rule(rule) => match self.rules.templates[rule.index()] {
                RuleTemplate::Call(_) => 2,
                RuleTemplate::Text(_) => 1,
                // Two applications and the leaf `!type`.
                RuleTemplate::Instances => 5,
            },
        };
        1 + program.actions().iter().map(action_length).sum::<usize>()
    }

    fn read(
        &self,
        text: &str,
        grammar: &Grammar,
        environment: &dyn Environment,
    ) -> Result<Program, ReadError> {
        let form = Form::parse(text)?;
        let root = form.root().ok_or_else(|| SyntaxError::new(1, "there is no form"))?;
        let mut finder = ActionFinder {
            language: self,
            form: &form,
            grammar,
            environment,
            actions: vec![],
            fuel: 1 << 20,
        };
        finder.find(root, grammar.root()).map_err(ReadError::NotCovered)?;
        Ok(Program::from_actions(grammar, &finder.actions)?)
    }

    fn write(&self, program: &Program, _: &Grammar, environment: &dyn Environment) -> String {
        let mut text = String::new();
        self.write_node(&mut text, program.root(), environment);
        text
    }

    fn explain(&self, program: &Program, _: &Grammar, environment: &dyn Environment) -> Option<String> {
        Some(Explainer::new(self, environment).explain(program.root()))
    }
}

impl LambdaDcs {
    pub(super) fn write_node(&self, out: &mut String, node: Node<'_>, environment: &dyn Environment) {
        let rule = match node.action() {
            Action::Item(item) => {
                out.push_str(&environment.items()[item.index()].symbol);
                return;
            }
            Action::Rule(rule) => rule,
        };
        match self.rules.templates[rule.index()] {
            RuleTemplate::Text(text) => {
                out.push_str("( string ");
                out.push_str(text);
            }
            RuleTemplate::Call(function) => {
                out.push_str("( call ");
                out.push_str(function.name());
                for argument in node.arguments() {
                    out.push(' ');
                    self.write_node(out, argument, environment);
                }
            }
            RuleTemplate::Instances => {
                out.push_str("( call SW.getProperty ( call SW.singleton ");
                for argument in node.arguments() {
                    self.write_node(out, argument, environment);
                }
                out.push_str(" ) ( string !type )");
            }
        }
        out.push_str(" )");
    }
}

/// Finds the actions that write a form.
struct ActionFinder<'a> {
    language: &'a LambdaDcs,
    form: &'a Form,
    grammar: &'a Grammar,
    environment: &'a dyn Environment,
    actions: Vec<Action>,
    /// How many more rules may be tried. Overloads are resolved by trial, and forms are untrusted.
    fuel: usize,
}

impl ActionFinder<'_> {
    /// Appends the actions that write the subtree at `id` as a program of type `ty`. If there are none,
    /// returns why and appends nothing.
    fn find(&mut self, id: NodeId, ty: TypeId) -> Result<(), String> {
        let mut failure = None;
        for &rule in self.grammar.allowed(ty).rules {
            let Some(arguments) = self.arguments(id, rule) else { continue };
            self.fuel = self.fuel.checked_sub(1).ok_or("the form is too large")?;
            let start = self.actions.len();
            self.actions.push(Action::Rule(rule));
            let types = &self.grammar.signatures().rules()[rule.index()].arguments;
            let found = arguments.iter().zip(types).try_for_each(|(&argument, &ty)| self.find(argument, ty));
            match found {
                Ok(()) => return Ok(()),
                Err(reason) => failure = Some(reason),
            }
            self.actions.truncate(start);
        }
        let mut symbol = String::new();
        self.form.write(&mut symbol, id);
        if let Some(item) = self.environment.find(&symbol) {
            let action = Action::Item(item);
            if self.grammar.allows(ty, action) {
                self.actions.push(action);
                return Ok(());
            }
        }
        Err(failure.unwrap_or_else(|| {
            format!("`{symbol}` where a {} is expected", self.grammar.signatures().type_name(ty))
        }))
    }

    /// Returns the arguments of `rule` if the node at `id` matches its template.
    fn arguments(&self, id: NodeId, rule: RuleId) -> Option<Vec<NodeId>> {
        let types = &self.grammar.signatures().rules()[rule.index()].arguments;
        match self.language.rules.templates[rule.index()] {
            RuleTemplate::Text(text) => self.is_text(id, text).then(Vec::new),
            RuleTemplate::Call(function) => {
                self.call(id, function).filter(|arguments| arguments.len() == types.len()).map(<[_]>::to_vec)
            }
            RuleTemplate::Instances => {
                let [list, property] = *self.call(id, Function::GetProperty)? else { return None };
                let [ty] = *self.call(list, Function::Singleton)? else { return None };
                self.is_text(property, "!type").then(|| vec![ty])
            }
        }
    }

    /// Returns the arguments of the node at `id` if it is a call of `function`.
    fn call(&self, id: NodeId, function: Function) -> Option<&[NodeId]> {
        let FormNode::Call { function: called, arguments } = self.form.node(id) else { return None };
        let FormNode::Name { id, .. } = self.form.node(called) else { return None };
        (self.form.atom(id)? == function.name()).then(|| self.form.children(arguments))
    }

    fn is_text(&self, id: NodeId, text: &str) -> bool {
        matches!(self.form.node(id), FormNode::Text(atom) if self.form.atom(atom) == Some(text))
    }
}
