//! The rules of a grammar and how they are written, and the types and rules of the typed grammar; [`super::typed`] says
//! why they are as they are.

use super::function::Function;

use crate::{ItemKind, Signatures, TypeId, phrases};

/// How a rule is written.
#[derive(Clone, Copy, Debug)]
pub(super) enum RuleTemplate {
    /// `( call function argument … )`
    Call(Function),
    /// `( string text )`
    Text(&'static str),
    /// `( call SW.getProperty ( call SW.singleton argument ) ( string !type ) )`
    Instances,
}

impl RuleTemplate {
    /// Returns what people say for a rule that is written so.
    fn phrases(self) -> &'static [&'static str] {
        match self {
            RuleTemplate::Call(Function::Size) => phrases::COUNT,
            RuleTemplate::Call(Function::Concat) => phrases::EITHER,
            RuleTemplate::Text("=") => phrases::EQUAL,
            RuleTemplate::Text("!=") => phrases::NOT_EQUAL,
            RuleTemplate::Text("<") => phrases::LESS,
            RuleTemplate::Text(">") => phrases::GREATER,
            RuleTemplate::Text("<=") => phrases::AT_MOST,
            RuleTemplate::Text(">=") => phrases::AT_LEAST,
            RuleTemplate::Text("min") => phrases::MINIMUM,
            RuleTemplate::Text("max") => phrases::MAXIMUM,
            RuleTemplate::Text("avg") => phrases::AVERAGE,
            RuleTemplate::Text("sum") => phrases::SUM,
            _ => &[],
        }
    }
}

/// The signatures, and how each rule is written.
///
/// The order of types, rules and kinds is part of a trained model.
#[derive(Debug)]
pub(super) struct LambdaRules {
    pub(super) signatures: Signatures,
    /// One for each rule, in order.
    pub(super) templates: Vec<RuleTemplate>,
    pub(super) kinds: LambdaItemKinds,
}

/// The kinds of items. Things that a grammar does not distinguish have the same kind.
#[derive(Debug)]
pub(super) struct LambdaItemKinds {
    pub(super) relation: ItemKind,
    pub(super) numeric: ItemKind,
    pub(super) unary: ItemKind,
    pub(super) entity_type: ItemKind,
    pub(super) entity: ItemKind,
    pub(super) date: ItemKind,
    pub(super) time: ItemKind,
    pub(super) quantity: ItemKind,
    pub(super) number: ItemKind,
    pub(super) count: ItemKind,
}

struct LambdaTypes {
    answer: TypeId,
    result: TypeId,
    set: TypeId,
    count: TypeId,
    /// A set or a single value.
    operand: TypeId,
    numeric_set: TypeId,
    value: TypeId,
    /// A number to compare a count with.
    threshold: TypeId,
    entity_type: TypeId,
    property: TypeId,
    /// A property that is not reversed.
    forward: TypeId,
    /// A property whose values can be counted.
    counted: TypeId,
    reversed: TypeId,
    /// A property that passed `ensureNumericProperty`.
    numeric_property: TypeId,
    numeric_forward: TypeId,
    unary: TypeId,
    relation: TypeId,
    equality: TypeId,
    order: TypeId,
    count_comparison: TypeId,
    extreme: TypeId,
    aggregate: TypeId,
}

impl LambdaRules {
    /// Returns the rules of the typed grammar.
    pub(super) fn typed() -> Self {
        let mut signatures = Signatures::new("Answer");
        let types = LambdaTypes::new(&mut signatures);
        let kinds = LambdaItemKinds::new(&mut signatures, &types);
        let mut rules = LambdaRules { signatures, templates: vec![], kinds };
        rules.add_calls(&types);
        rules.add_constants(&types);
        rules
    }

    pub(super) fn add(&mut self, name: &str, result: TypeId, arguments: &[TypeId], template: RuleTemplate) {
        let rule = self.signatures.add_rule(name, result, arguments);
        self.signatures.set_phrases(rule, template.phrases());
        self.templates.push(template);
    }

    fn add_calls(&mut self, t: &LambdaTypes) {
        use Function::*;
        let mut call = |name: &str, result: TypeId, arguments: &[TypeId], function: Function| {
            self.add(name, result, arguments, RuleTemplate::Call(function));
        };
        call("answer", t.answer, &[t.result], ListValue);
        call("size", t.count, &[t.set], Size);
        call("domain", t.set, &[t.property], Domain);
        call("getProperty", t.set, &[t.operand, t.property], GetProperty);
        call("filter", t.set, &[t.set, t.unary], Filter);
        call("filterEqual", t.set, &[t.set, t.property, t.equality, t.operand], Filter);
        call("filterOrder", t.set, &[t.set, t.numeric_property, t.order, t.numeric_set], Filter);
        call("concatValues", t.set, &[t.value, t.value], Concat);
        call("concatSets", t.set, &[t.set, t.set], Concat);
        call("superlative", t.set, &[t.set, t.extreme, t.numeric_property], Superlative);
        call("countSuperlative", t.set, &[t.set, t.extreme, t.counted], CountSuperlative);
        call("countSuperlativeOf", t.set, &[t.set, t.extreme, t.counted, t.set], CountSuperlative);
        let compared = [t.set, t.counted, t.count_comparison, t.threshold, t.set];
        call("countComparative", t.set, &compared[..4], CountComparative);
        call("countComparativeOf", t.set, &compared, CountComparative);
        call("aggregate", t.set, &[t.aggregate, t.set], Aggregate);
        call("ensureNumericEntity", t.numeric_set, &[t.operand], EnsureNumericEntity);
        call("ensureNumericProperty", t.numeric_property, &[t.numeric_forward], EnsureNumericProperty);
        call("reverse", t.reversed, &[t.forward], Reverse);
        self.add("instances", t.set, &[t.entity_type], RuleTemplate::Instances);
    }

    /// Adds operators and the like, which have no arguments.
    fn add_constants(&mut self, t: &LambdaTypes) {
        let constants: [(TypeId, &[(&str, &'static str)]); 5] = [
            (t.equality, &[("=", "="), ("!=", "!=")]),
            (t.order, &[("<", "<"), (">", ">"), ("<=", "<="), (">=", ">=")]),
            (
                t.count_comparison,
                &[("count=", "="), ("count<", "<"), ("count>", ">"), ("count<=", "<="), ("count>=", ">=")],
            ),
            (t.extreme, &[("min", "min"), ("max", "max")]),
            (t.aggregate, &[("avg", "avg"), ("sum", "sum")]),
        ];
        for (result, names) in constants {
            for &(name, text) in names {
                self.add(name, result, &[], RuleTemplate::Text(text));
            }
        }
    }
}

impl LambdaTypes {
    fn new(s: &mut Signatures) -> Self {
        let types = LambdaTypes {
            answer: s.root(),
            result: s.add_type("Result"),
            set: s.add_type("Set"),
            count: s.add_type("Count"),
            operand: s.add_type("Operand"),
            numeric_set: s.add_type("NumericSet"),
            value: s.add_type("Value"),
            threshold: s.add_type("Threshold"),
            entity_type: s.add_type("Type"),
            property: s.add_type("Property"),
            forward: s.add_type("ForwardProperty"),
            counted: s.add_type("CountedProperty"),
            reversed: s.add_type("ReversedProperty"),
            numeric_property: s.add_type("NumericProperty"),
            numeric_forward: s.add_type("NumericForwardProperty"),
            unary: s.add_type("UnaryProperty"),
            relation: s.add_type("Relation"),
            equality: s.add_type("Equality"),
            order: s.add_type("Order"),
            count_comparison: s.add_type("CountComparison"),
            extreme: s.add_type("Extreme"),
            aggregate: s.add_type("Aggregate"),
        };
        let t = &types;
        for (wide, narrow) in [
            (t.result, t.set),
            (t.result, t.count),
            (t.operand, t.set),
            (t.operand, t.value),
            (t.forward, t.relation),
            (t.forward, t.numeric_forward),
            (t.property, t.forward),
            (t.property, t.reversed),
            (t.counted, t.relation),
            (t.counted, t.reversed),
        ] {
            s.accept_type(wide, narrow);
        }
        types
    }
}

impl LambdaItemKinds {
    fn new(s: &mut Signatures, t: &LambdaTypes) -> Self {
        let mut kind = |name: &str, accepted_by: &[TypeId]| {
            let kind = s.add_item_kind(name);
            for &ty in accepted_by {
                s.accept_items(ty, kind);
            }
            kind
        };
        let relation = kind("relations", &[t.relation]);
        let numeric = kind("numeric properties", &[t.numeric_forward]);
        let unary = kind("unary properties", &[t.unary]);
        let entity_type = kind("types", &[t.entity_type]);
        let value = kind("values", &[t.value]);
        let count = kind("numbers to count to", &[t.threshold]);
        let number = kind("numbers", &[t.value, t.threshold]);
        LambdaItemKinds {
            relation,
            numeric,
            unary,
            entity_type,
            entity: value,
            date: value,
            time: value,
            quantity: value,
            number,
            count,
        }
    }
}
