//! The lambda-DCS a parser writes: typed, one action an application, one way to say each thing.
//!
//! The rules come from the signatures of Overnight's functions, sharpened by what the functions
//! check *whatever their input*, so that a program outside the grammar either fails in every
//! world or has an equal inside it:
//!
//! - `ensureNumericProperty` fails unless its property has numeric values, `filter/2` unless it is
//!   unary, the counting functions unless it is not numeric. Hence three kinds of properties.
//! - Order comparisons and superlatives go through the `ensureNumeric…` functions, as in SEMPRE's own
//!   grammar, and nothing else does.
//! - A list and a single value are often interchangeable (`Operand`), and choosing between them
//!   costs no action.
//! - All entities of a type, `( call SW.getProperty ( call SW.singleton T ) ( string !type ) )`, is
//!   one action, `instances`, and the only use of `singleton` and `!type`: a list of one value
//!   elsewhere says what the value alone says.
//!
//! What is *not* typed is which entities a property belongs to: types are checked per element at
//! run time, so an empty list hides a mismatch, and some gold programs depend on it.

use super::form::{Form, FormNode, NodeId};
use super::function::Function;
use crate::{
    Action, Environment, Grammar, ItemKind, Language, Node, Program, ReadError, RuleId, Signatures,
    SyntaxError, TypeId,
};

/// What kind of values a property has, which decides where a program may use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PropertyKind {
    /// Entities.
    Relation,
    /// Numbers, dates or times.
    Numeric,
    /// It holds or it does not.
    Unary,
}

/// What a value can be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ValueKind {
    /// To compare with: an entity, a date, a time, a number with a unit.
    Operand,
    /// To count up to: a number without a unit.
    Threshold,
    /// Both: a number without a unit where the world has such numbers.
    Both,
}

/// How a rule is written.
#[derive(Clone, Copy, Debug)]
enum Template {
    /// `( call function argument … )`
    Call(Function),
    /// `( string text )`
    Text(&'static str),
    /// `( call SW.getProperty ( call SW.singleton argument ) ( string !type ) )`
    Instances,
}

/// The language; see the module's description.
#[derive(Debug)]
pub struct LambdaDcs {
    signatures: Signatures,
    /// One a rule, in order.
    templates: Vec<Template>,
    relation: ItemKind,
    numeric: ItemKind,
    unary: ItemKind,
    entity_type: ItemKind,
    operand: ItemKind,
    threshold: ItemKind,
    both: ItemKind,
}

impl Default for LambdaDcs {
    fn default() -> Self {
        LambdaDcs::new()
    }
}

impl LambdaDcs {
    /// The language.
    pub fn new() -> Self {
        use Function::*;
        let mut s = Signatures::new("Answer");
        let mut templates = Vec::new();

        let answer = s.root();
        let result = s.ty("Result");
        let set = s.ty("Set");
        let count = s.ty("Count");
        let operand = s.ty("Operand");
        let numeric_set = s.ty("NumericSet");
        let value = s.ty("Value");
        let threshold = s.ty("Threshold");
        let entity_type = s.ty("Type");
        let property = s.ty("Property");
        let forward = s.ty("ForwardProperty");
        let counted = s.ty("CountedProperty");
        let reversed = s.ty("ReversedProperty");
        let numeric_property = s.ty("NumericProperty");
        let numeric_forward = s.ty("NumericForwardProperty");
        let unary = s.ty("UnaryProperty");
        let relation = s.ty("Relation");
        let equality = s.ty("Equality");
        let order = s.ty("Order");
        let comparison = s.ty("CountComparison");
        let extreme = s.ty("Extreme");
        let aggregate = s.ty("Aggregate");

        s.includes(result, set);
        s.includes(result, count);
        s.includes(operand, set);
        s.includes(operand, value);
        s.includes(forward, relation);
        s.includes(forward, numeric_forward);
        s.includes(property, forward);
        s.includes(property, reversed);
        s.includes(counted, relation);
        s.includes(counted, reversed);

        let mut rule = |name: &str, ty: TypeId, arguments: &[TypeId], template: Template| {
            s.rule(name, ty, arguments);
            templates.push(template);
        };
        let mut call = |name: &str, ty: TypeId, arguments: &[TypeId], function: Function| {
            rule(name, ty, arguments, Template::Call(function));
        };
        call("answer", answer, &[result], ListValue);
        call("size", count, &[set], Size);
        call("domain", set, &[property], Domain);
        call("getProperty", set, &[operand, property], GetProperty);
        call("filter", set, &[set, unary], Filter);
        call("filterEqual", set, &[set, property, equality, operand], Filter);
        call("filterOrder", set, &[set, numeric_property, order, numeric_set], Filter);
        call("concatValues", set, &[value, value], Concat);
        call("concatSets", set, &[set, set], Concat);
        call("superlative", set, &[set, extreme, numeric_property], Superlative);
        call("countSuperlative", set, &[set, extreme, counted], CountSuperlative);
        call("countSuperlativeOf", set, &[set, extreme, counted, set], CountSuperlative);
        call("countComparative", set, &[set, counted, comparison, threshold], CountComparative);
        call("countComparativeOf", set, &[set, counted, comparison, threshold, set], CountComparative);
        call("aggregate", set, &[aggregate, set], Aggregate);
        call("ensureNumericEntity", numeric_set, &[operand], EnsureNumericEntity);
        call("ensureNumericProperty", numeric_property, &[numeric_forward], EnsureNumericProperty);
        call("reverse", reversed, &[forward], Reverse);
        rule("instances", set, &[entity_type], Template::Instances);
        for text in ["=", "!="] {
            rule(text, equality, &[], Template::Text(text));
        }
        for (name, text) in [("<", "<"), (">", ">"), ("<=", "<="), (">=", ">=")] {
            rule(name, order, &[], Template::Text(text));
        }
        for (name, text) in
            [("count=", "="), ("count<", "<"), ("count>", ">"), ("count<=", "<="), ("count>=", ">=")]
        {
            rule(name, comparison, &[], Template::Text(text));
        }
        for text in ["min", "max"] {
            rule(text, extreme, &[], Template::Text(text));
        }
        for text in ["avg", "sum"] {
            rule(text, aggregate, &[], Template::Text(text));
        }

        let mut kind = |name: &str, places: &[TypeId]| {
            let kind = s.kind(name);
            for &place in places {
                s.points(place, kind);
            }
            kind
        };
        LambdaDcs {
            relation: kind("relations", &[relation]),
            numeric: kind("numeric properties", &[numeric_forward]),
            unary: kind("unary properties", &[unary]),
            entity_type: kind("types", &[entity_type]),
            operand: kind("values", &[value]),
            threshold: kind("numbers to count to", &[threshold]),
            both: kind("numbers", &[value, threshold]),
            signatures: s,
            templates,
        }
    }

    /// The kind of items that are properties.
    pub fn property_kind(&self, kind: PropertyKind) -> ItemKind {
        match kind {
            PropertyKind::Relation => self.relation,
            PropertyKind::Numeric => self.numeric,
            PropertyKind::Unary => self.unary,
        }
    }

    /// The kind of items that are entities, numbers, dates and times.
    pub fn value_kind(&self, kind: ValueKind) -> ItemKind {
        match kind {
            ValueKind::Operand => self.operand,
            ValueKind::Threshold => self.threshold,
            ValueKind::Both => self.both,
        }
    }

    /// The kind of items that are types of entities.
    pub fn type_kind(&self) -> ItemKind {
        self.entity_type
    }
}

impl Language for LambdaDcs {
    fn name(&self) -> &'static str {
        "lambda-dcs"
    }

    fn signatures(&self) -> &Signatures {
        &self.signatures
    }

    /// The authors' grammar takes two actions an application, one a leaf and one to begin: within 0.6 of the mean
    /// length that they report for each of the eight domains.
    fn length(&self, program: &Program) -> usize {
        let of_action = |action: &Action| match action {
            Action::Item(_) => 1,
            Action::Rule(rule) => match self.templates[rule.index()] {
                Template::Call(_) => 2,
                Template::Text(_) => 1,
                // Two applications and the leaf `!type`.
                Template::Instances => 5,
            },
        };
        1 + program.actions().iter().map(of_action).sum::<usize>()
    }

    fn read(
        &self,
        text: &str,
        grammar: &Grammar,
        environment: &dyn Environment,
    ) -> Result<Program, ReadError> {
        let form = Form::parse(text)?;
        let root =
            form.root().ok_or_else(|| SyntaxError { column: 1, message: "there is no form".into() })?;
        let mut covering =
            Covering { language: self, form: &form, grammar, environment, actions: vec![], fuel: 1 << 20 };
        covering.cover(root, grammar.root()).map_err(ReadError::NotCovered)?;
        Program::from_actions(grammar, &covering.actions)
            .map_err(|error| ReadError::NotCovered(error.to_string()))
    }

    fn write(&self, program: &Program, _: &Grammar, environment: &dyn Environment) -> String {
        let mut text = String::new();
        self.write_node(&mut text, program.root(), environment);
        text
    }
}

impl LambdaDcs {
    fn write_node(&self, out: &mut String, node: Node<'_>, environment: &dyn Environment) {
        let rule = match node.action() {
            Action::Item(item) => {
                out.push_str(&environment.items()[item.index()].symbol);
                return;
            }
            Action::Rule(rule) => rule,
        };
        match self.templates[rule.index()] {
            Template::Text(text) => {
                out.push_str("( string ");
                out.push_str(text);
            }
            Template::Call(function) => {
                out.push_str("( call ");
                out.push_str(function.name());
                for argument in node.arguments() {
                    out.push(' ');
                    self.write_node(out, argument, environment);
                }
            }
            Template::Instances => {
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

/// Finding the actions that write a form.
struct Covering<'a> {
    language: &'a LambdaDcs,
    form: &'a Form,
    grammar: &'a Grammar,
    environment: &'a dyn Environment,
    actions: Vec<Action>,
    /// Rules tried; overloads are told apart by trying, and forms come from strangers.
    fuel: usize,
}

impl Covering<'_> {
    /// Appends the actions of the subtree at `id`, as a `ty`; undone if there are none.
    fn cover(&mut self, id: NodeId, ty: TypeId) -> Result<(), String> {
        let mut why = None;
        for &rule in self.grammar.allowed(ty).rules {
            let Some(arguments) = self.arguments(id, rule) else { continue };
            self.fuel = self.fuel.checked_sub(1).ok_or("the form is too large")?;
            let start = self.actions.len();
            self.actions.push(Action::Rule(rule));
            let types = &self.grammar.signatures().rules()[rule.index()].arguments;
            let covered =
                arguments.iter().zip(types).try_for_each(|(&argument, &ty)| self.cover(argument, ty));
            match covered {
                Ok(()) => return Ok(()),
                Err(reason) => why = Some(reason),
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
        Err(why.unwrap_or_else(|| {
            format!("`{symbol}` where a {} is expected", self.grammar.signatures().type_name(ty))
        }))
    }

    /// The arguments that `rule` would have at `id`, if the node looks like it at all.
    fn arguments(&self, id: NodeId, rule: RuleId) -> Option<Vec<NodeId>> {
        let types = &self.grammar.signatures().rules()[rule.index()].arguments;
        match self.language.templates[rule.index()] {
            Template::Text(text) => self.is_text(id, text).then(Vec::new),
            Template::Call(function) => {
                self.call(id, function).filter(|arguments| arguments.len() == types.len()).map(<[_]>::to_vec)
            }
            Template::Instances => {
                let [list, property] = *self.call(id, Function::GetProperty)? else { return None };
                let [ty] = *self.call(list, Function::Singleton)? else { return None };
                self.is_text(property, "!type").then(|| vec![ty])
            }
        }
    }

    fn call(&self, id: NodeId, function: Function) -> Option<&[NodeId]> {
        let FormNode::Call { function: called, arguments } = self.form.node(id) else { return None };
        let FormNode::Name { id, .. } = self.form.node(called) else { return None };
        (self.form.atom(id)? == function.name()).then(|| self.form.children(arguments))
    }

    fn is_text(&self, id: NodeId, text: &str) -> bool {
        matches!(self.form.node(id), FormNode::Text(atom) if self.form.atom(atom) == Some(text))
    }
}
