//! The types and rules of the grammar of signatures: what the signatures of SEMPRE's functions say, and no more.
//!
//! They are those of the grammar of the paper's authors, 26 overloads of 14 functions, with one action for each application
//! instead of two. Overloads that take a list or a value in the same place are one rule.

use super::function::Function;
use super::rules::{LambdaItemKinds, LambdaRules, RuleTemplate};
use crate::{ItemKind, Signatures, TypeId};

struct SignatureTypes {
    list: TypeId,
    value: TypeId,
    /// A list or a value.
    operand: TypeId,
    entity: TypeId,
    number: TypeId,
    date: TypeId,
    time: TypeId,
    /// A list, or a value that is not an entity.
    numeric_operand: TypeId,
    entity_type: TypeId,
    property: TypeId,
    comparison: TypeId,
    /// `min` and `max`, but also `sum` and `avg`: the signatures do not tell them apart.
    mode: TypeId,
}

impl LambdaRules {
    /// Returns the rules of the grammar of signatures.
    pub(super) fn from_signatures() -> Self {
        let mut signatures = Signatures::new("List");
        let types = SignatureTypes::new(&mut signatures);
        let kinds = types.item_kinds(&mut signatures);
        let mut rules = LambdaRules { signatures, templates: vec![], kinds };
        rules.add_overloads(&types);
        for (result, texts) in [
            (types.property, &["!type"][..]),
            (types.comparison, &["=", "!=", "<", ">", "<=", ">="]),
            (types.mode, &["min", "max", "sum", "avg"]),
        ] {
            for &text in texts {
                rules.add(text, result, &[], RuleTemplate::Text(text));
            }
        }
        rules
    }

    fn add_overloads(&mut self, t: &SignatureTypes) {
        use Function::*;
        let mut call = |name: &str, result: TypeId, arguments: &[TypeId], function: Function| {
            self.add(name, result, arguments, RuleTemplate::Call(function));
        };
        call("listValue", t.list, &[t.operand], ListValue);
        call("size", t.value, &[t.list], Size);
        call("domain", t.list, &[t.property], Domain);
        call("singleton", t.list, &[t.entity_type], Singleton);
        call("getProperty", t.list, &[t.operand, t.property], GetProperty);
        call("reverse", t.property, &[t.property], Reverse);
        call("ensureNumericProperty", t.property, &[t.property], EnsureNumericProperty);
        call("ensureNumericEntity", t.list, &[t.numeric_operand], EnsureNumericEntity);
        call("concatEntities", t.list, &[t.entity; 2], Concat);
        call("concatNumbers", t.list, &[t.number; 2], Concat);
        call("concatDates", t.list, &[t.date; 2], Concat);
        call("concatTimes", t.list, &[t.time; 2], Concat);
        // SEMPRE has no `filter` of three arguments and no `superlative` of four. The authors' grammar has both.
        let filter = [t.list, t.property, t.comparison, t.operand];
        call("filter/2", t.list, &filter[..2], Filter);
        call("filter/3", t.list, &filter[..3], Filter);
        call("filter/4", t.list, &filter, Filter);
        let superlative = [t.list, t.mode, t.property, t.list];
        call("superlative/3", t.list, &superlative[..3], Superlative);
        call("superlative/4", t.list, &superlative, Superlative);
        call("countSuperlative/3", t.list, &superlative[..3], CountSuperlative);
        call("countSuperlative/4", t.list, &superlative, CountSuperlative);
        let comparative = [t.list, t.property, t.comparison, t.number, t.list];
        call("countComparative/4", t.list, &comparative[..4], CountComparative);
        call("countComparative/5", t.list, &comparative, CountComparative);
        call("aggregate", t.list, &[t.mode, t.list], Aggregate);
    }
}

impl SignatureTypes {
    fn new(s: &mut Signatures) -> Self {
        let types = SignatureTypes {
            list: s.root(),
            value: s.add_type("Value"),
            operand: s.add_type("Operand"),
            entity: s.add_type("Entity"),
            number: s.add_type("Number"),
            date: s.add_type("Date"),
            time: s.add_type("Time"),
            numeric_operand: s.add_type("NumericOperand"),
            entity_type: s.add_type("Type"),
            property: s.add_type("Property"),
            comparison: s.add_type("Comparison"),
            mode: s.add_type("Mode"),
        };
        let t = &types;
        for (wide, narrow) in [
            (t.value, t.entity),
            (t.value, t.number),
            (t.value, t.date),
            (t.value, t.time),
            (t.operand, t.list),
            (t.operand, t.value),
            (t.numeric_operand, t.list),
            (t.numeric_operand, t.number),
            (t.numeric_operand, t.date),
            (t.numeric_operand, t.time),
        ] {
            s.accept_type(wide, narrow);
        }
        types
    }

    fn item_kinds(&self, s: &mut Signatures) -> LambdaItemKinds {
        let mut kind = |name: &str, accepted_by: TypeId| -> ItemKind {
            let kind = s.add_item_kind(name);
            s.accept_items(accepted_by, kind);
            kind
        };
        let property = kind("properties", self.property);
        let entity_type = kind("types", self.entity_type);
        let entity = kind("entities", self.entity);
        let number = kind("numbers", self.number);
        let date = kind("dates", self.date);
        let time = kind("times", self.time);
        LambdaItemKinds {
            relation: property,
            numeric: property,
            unary: property,
            entity_type,
            entity,
            date,
            time,
            quantity: number,
            number,
            count: number,
        }
    }
}
