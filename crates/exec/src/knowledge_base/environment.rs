//! A knowledge base as the environment of a parser: the items that programs can name, their phrases, and the relations
//! between them.

use super::{KnowledgeBase, ValueId};
use crate::KbValue;
use rustc_hash::{FxHashMap, FxHashSet};
use xpr_lang::lambda_dcs::{Form, FormNode, LambdaDcs, PropertyKind, ValueKind};
use xpr_lang::{Environment, Item, ItemId, Relation, RelationKind};

/// A phrase for a symbol of programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolPhrase {
    /// The symbol: `en.person.alice`, `( string start_time )`, `( number 3 en.hour )`.
    pub symbol: String,
    /// The words that people use for it.
    pub phrase: String,
}

/// The relations between items in the paper's table "Relation types used for text-to-LF parsing", and two more for the
/// type of an entity. A type has the relations of all its entities.
const RELATIONS: [&str; 8] = [
    "related",
    "related-reverse",
    "has-property",
    "has-property-reverse",
    "property-of",
    "property-of-reverse",
    "instance-of",
    "type-of",
];

// Indices into `RELATIONS`; `backward` has those of the inverses.
const RELATED: u8 = 0;
const HAS_PROPERTY: u8 = 2;
const HAS_PROPERTY_REVERSE: u8 = 3;
const INSTANCE_OF: u8 = 6;

/// The environment of a knowledge base. Its items are the properties, the types, the entities whose names are not just
/// numbers, and the numbers, dates and times that have a phrase.
#[derive(Debug)]
pub struct KnowledgeBaseEnvironment {
    items: Vec<Item>,
    by_symbol: FxHashMap<String, ItemId>,
    relations: Vec<Relation>,
    unknown_phrases: Vec<SymbolPhrase>,
}

impl KnowledgeBaseEnvironment {
    /// Returns the environment of `world`. The phrase of an item is the first one in `phrases`, or else made of its name.
    pub fn new(world: &KnowledgeBase, language: &LambdaDcs, phrases: &[SymbolPhrase]) -> Self {
        let mut environment = KnowledgeBaseEnvironment {
            items: vec![],
            by_symbol: FxHashMap::default(),
            relations: vec![],
            unknown_phrases: vec![],
        };
        let mut by_symbol: FxHashMap<String, &str> = FxHashMap::default();
        for phrase in phrases {
            // The first phrase counts, as grammars list the plainest one first.
            by_symbol.entry(canonical(&phrase.symbol)).or_insert(&phrase.phrase);
        }
        let phrase_for = |symbol: &str, name: &str| {
            by_symbol.get(symbol).map_or_else(|| name_as_phrase(name), |phrase| (*phrase).to_owned())
        };

        for property in world.properties.iter().step_by(2).filter(|property| &*property.name != "type") {
            let kind = if property.objects == world.boolean {
                PropertyKind::Unary
            } else if world.type_names[property.objects as usize].is_numeric {
                PropertyKind::Numeric
            } else {
                PropertyKind::Relation
            };
            let symbol = canonical(&format!("( string {} )", property.name));
            let phrase = phrase_for(&symbol, &property.name);
            environment.add(Item::new(language.property_kind(kind), phrase, symbol));
        }
        environment.tell_properties_apart(world);
        let (types, entities) = types_and_entities(world);
        for (ids, kind) in [(types, language.type_kind()), (entities, language.value_kind(ValueKind::Entity))]
        {
            for id in ids {
                if let KbValue::Name { id: name, .. } = &world.values[id as usize] {
                    let symbol = canonical(name);
                    let phrase = phrase_for(&symbol, last_part(name));
                    environment.add(Item::new(kind, phrase, symbol));
                }
            }
        }
        for phrase in phrases {
            let symbol = canonical(&phrase.symbol);
            if environment.by_symbol.contains_key(&symbol) {
                continue;
            }
            match literal_kind(world, &symbol) {
                Some(kind) => {
                    environment.add(Item::new(language.value_kind(kind), phrase.phrase.clone(), symbol));
                }
                None => environment.unknown_phrases.push(phrase.clone()),
            }
        }
        environment.add_relations(world);
        environment
    }

    /// Returns the phrases for symbols that this knowledge base does not have.
    pub fn unknown_phrases(&self) -> &[SymbolPhrase] {
        &self.unknown_phrases
    }

    /// Gives properties of the same kind and phrase the words of their names instead. A parser sees the phrase only, so it could not
    /// tell `education_start_date` from `employment_start_date` if both were a "start date".
    fn tell_properties_apart(&mut self, world: &KnowledgeBase) {
        let mut counts: FxHashMap<_, usize> = FxHashMap::default();
        for item in &self.items {
            *counts.entry((item.kind, item.phrase.clone())).or_default() += 1;
        }
        for property in &world.properties {
            let symbol = canonical(&format!("( string {} )", property.name));
            let Some(&id) = self.by_symbol.get(&symbol) else { continue };
            let item = &mut self.items[id.index()];
            if counts[&(item.kind, item.phrase.clone())] > 1 {
                item.phrase = name_as_phrase(&property.name);
            }
        }
    }

    fn add(&mut self, item: Item) {
        self.by_symbol.insert(item.symbol.clone(), ItemId(self.items.len() as u32));
        self.items.push(item);
    }

    /// Adds the relations for which there is a triple.
    fn add_relations(&mut self, world: &KnowledgeBase) {
        // The items of a value: itself, and the type of an entity.
        let mut items_of: FxHashMap<ValueId, Vec<ItemId>> = FxHashMap::default();
        let item_of = |value: &KbValue| {
            let mut printed = String::new();
            value.write(&mut printed);
            self.find(&canonical(&printed))
        };
        for (id, value) in (0..).zip(&world.values) {
            items_of.entry(id).or_default().extend(item_of(value));
        }
        let mut found = FxHashSet::default();
        let mut relate = |from: ItemId, to: ItemId, forward: u8| {
            found.insert(Relation { from, to, kind: RelationKind(forward) });
            found.insert(Relation { from: to, to: from, kind: RelationKind(backward(forward)) });
        };
        let type_property = world.property("type");
        for &(subject, property, object) in &world.triples {
            if Some(property) == type_property {
                let types = items_of[&object].clone();
                if let (Some(&entity), Some(&ty)) = (items_of[&subject].first(), types.first()) {
                    relate(entity, ty, INSTANCE_OF);
                }
                if let Some(items) = items_of.get_mut(&subject) {
                    items.extend(types);
                }
            }
        }
        for &(subject, property, object) in &world.triples {
            if Some(property) == type_property {
                continue;
            }
            let symbol = canonical(&format!("( string {} )", world.properties[property as usize].name));
            let Some(&property) = self.by_symbol.get(&symbol) else { continue };
            for &subject in &items_of[&subject] {
                relate(subject, property, HAS_PROPERTY);
                for &object in &items_of[&object] {
                    relate(subject, object, RELATED);
                }
            }
            for &object in &items_of[&object] {
                relate(object, property, HAS_PROPERTY_REVERSE);
            }
        }
        self.relations = found.into_iter().collect();
        self.relations.sort_unstable();
    }
}

/// Returns the inverse of a relation: `(x, has-property, p)` is `(p, property-of, x)`.
fn backward(kind: u8) -> u8 {
    match kind {
        RELATED | INSTANCE_OF => kind + 1,
        _ => kind + 2,
    }
}

impl Environment for KnowledgeBaseEnvironment {
    fn items(&self) -> &[Item] {
        &self.items
    }

    fn find(&self, symbol: &str) -> Option<ItemId> {
        self.by_symbol.get(symbol).copied()
    }

    fn relation_names(&self) -> &[&'static str] {
        &RELATIONS
    }

    fn relations(&self) -> &[Relation] {
        &self.relations
    }
}

/// Returns the canonical text of a symbol.
fn canonical(symbol: &str) -> String {
    Form::parse(symbol).map_or_else(|_| symbol.to_owned(), |form| form.to_string())
}

/// `en.person.alice` → `alice`.
fn last_part(id: &str) -> &str {
    id.rsplit('.').next().unwrap_or(id)
}

/// `start_time` → `start time`.
fn name_as_phrase(name: &str) -> String {
    name.replace('_', " ").trim().to_owned()
}

/// Returns the types of a world, and the entities whose names are not just numbers.
fn types_and_entities(world: &KnowledgeBase) -> (Vec<ValueId>, Vec<ValueId>) {
    let type_property = world.property("type");
    let is_named = |id: ValueId| match &world.values[id as usize] {
        KbValue::Name { id, .. } => !last_part(id).bytes().all(|byte| byte.is_ascii_digit()),
        _ => false,
    };
    let (mut types, mut entities) = (Vec::new(), Vec::new());
    let mut seen = FxHashSet::default();
    for &(subject, property, object) in &world.triples {
        if Some(property) == type_property {
            if is_named(subject) && seen.insert((subject, false)) {
                entities.push(subject);
            }
            if seen.insert((object, true)) {
                types.push(object);
            }
        }
    }
    (types, entities)
}

/// Returns the kind of a literal; `None` if the world has no value of its type.
fn literal_kind(world: &KnowledgeBase, symbol: &str) -> Option<ValueKind> {
    let form = Form::parse(symbol).ok()?;
    let root = form.root()?;
    let value = KbValue::from_form(&form, root)?;
    let has_type = |name: &str| {
        let ty = world.type_ids.get(name);
        ty.is_some_and(|ty| world.types.contains(ty))
    };
    let is_known = value.type_name().is_some_and(|name| has_type(&name));
    match form.node(root) {
        FormNode::Number { unit: None, .. } if !is_known => Some(ValueKind::Count),
        _ if !is_known => None,
        FormNode::Number { unit: None, .. } => Some(ValueKind::Number),
        FormNode::Number { .. } => Some(ValueKind::Quantity),
        FormNode::Date { .. } => Some(ValueKind::Date),
        FormNode::Time { .. } => Some(ValueKind::Time),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::overnight;

    #[test]
    fn properties_with_the_same_phrase_have_the_words_of_their_names() {
        let world = overnight::world("socialnetwork").unwrap();
        let phrases: Vec<SymbolPhrase> = ["education_start_date", "employment_start_date", "birthdate"]
            .map(|name| SymbolPhrase {
                symbol: format!("( string {name} )"),
                phrase: if name == "birthdate" { "born on" } else { "start date" }.to_owned(),
            })
            .into();
        let environment = KnowledgeBaseEnvironment::new(&world, &LambdaDcs::new(), &phrases);
        let phrase = |name: &str| {
            let id = environment.find(&canonical(&format!("( string {name} )"))).unwrap();
            environment.items()[id.index()].phrase.clone()
        };
        assert_eq!(phrase("education_start_date"), "education start date");
        assert_eq!(phrase("employment_start_date"), "employment start date");
        assert_eq!(phrase("birthdate"), "born on", "a phrase of its own stays");
    }
}
