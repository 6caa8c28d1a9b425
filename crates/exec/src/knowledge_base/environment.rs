//! A knowledge base as the environment of a parser: what programs can name, how people say it, and
//! how it hangs together.

use super::{KnowledgeBase, ValueId};
use crate::Value;
use rustc_hash::{FxHashMap, FxHashSet};
use xpr_lang::lambda_dcs::{Form, FormNode, LambdaDcs, PropertyKind, ValueKind};
use xpr_lang::{Environment, Item, ItemId, Relation, RelationKind};

/// What people call something that programs name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phrase {
    /// How programs write it: `en.person.alice`, `( string start_time )`, `( number 3 en.hour )`.
    pub symbol: String,
    /// How people say it.
    pub phrase: String,
}

/// The relations of the paper's table "Relation types used for text-to-LF parsing" that hold between
/// items, and two more for the type of an entity. A type stands for its entities.
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

/// The items of a knowledge base: its properties, its types, the entities that have names, and the
/// numbers, dates and times that somebody has a phrase for.
#[derive(Debug)]
pub struct KnowledgeBaseEnvironment {
    items: Vec<Item>,
    by_symbol: FxHashMap<String, ItemId>,
    relations: Vec<Relation>,
    unknown: Vec<Phrase>,
}

impl KnowledgeBaseEnvironment {
    /// The environment of `world`. Where there is no phrase for something, its name has to do.
    pub fn new(world: &KnowledgeBase, language: &LambdaDcs, phrases: &[Phrase]) -> Self {
        let mut environment = KnowledgeBaseEnvironment {
            items: vec![],
            by_symbol: FxHashMap::default(),
            relations: vec![],
            unknown: vec![],
        };
        let mut said: FxHashMap<String, &str> = FxHashMap::default();
        for phrase in phrases {
            // The first phrase counts; grammars list the plainest one first.
            said.entry(canonical(&phrase.symbol)).or_insert(&phrase.phrase);
        }
        let say = |symbol: &str, name: &str| {
            said.get(symbol).map_or_else(|| spell(name), |phrase| (*phrase).to_owned())
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
            let phrase = say(&symbol, &property.name);
            environment.add(Item::new(language.property_kind(kind), phrase, symbol));
        }
        let (types, entities) = types_and_entities(world);
        for (ids, kind) in
            [(types, language.type_kind()), (entities, language.value_kind(ValueKind::Operand))]
        {
            for id in ids {
                if let Value::Name { id: name, .. } = &world.values[id as usize] {
                    let symbol = canonical(name);
                    let phrase = say(&symbol, last_part(name));
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
                None => environment.unknown.push(phrase.clone()),
            }
        }
        environment.relate(world);
        environment
    }

    /// The phrases for things that this knowledge base does not have.
    pub fn unknown_phrases(&self) -> &[Phrase] {
        &self.unknown
    }

    fn add(&mut self, item: Item) {
        self.by_symbol.insert(item.symbol.clone(), ItemId(self.items.len() as u32));
        self.items.push(item);
    }

    /// Finds the relations that some triple shows.
    fn relate(&mut self, world: &KnowledgeBase) {
        // The items a value shows up as: itself, and the type of an entity.
        let mut shows: FxHashMap<ValueId, Vec<ItemId>> = FxHashMap::default();
        let item_of = |value: &Value| {
            let mut printed = String::new();
            value.write(&mut printed);
            self.find(&canonical(&printed))
        };
        for (id, value) in (0..).zip(&world.values) {
            shows.entry(id).or_default().extend(item_of(value));
        }
        let mut found = FxHashSet::default();
        let mut relate = |from: ItemId, to: ItemId, forward: u8| {
            found.insert(Relation { from, to, kind: RelationKind(forward) });
            // Kinds come in pairs, each the other read backwards.
            found.insert(Relation { from: to, to: from, kind: RelationKind(backward(forward)) });
        };
        let type_property = world.property("type");
        for &(subject, property, object) in &world.triples {
            if Some(property) == type_property {
                let types = shows[&object].clone();
                if let (Some(&entity), Some(&ty)) = (shows[&subject].first(), types.first()) {
                    relate(entity, ty, 6);
                }
                if let Some(shown) = shows.get_mut(&subject) {
                    shown.extend(types);
                }
            }
        }
        for &(subject, property, object) in &world.triples {
            if Some(property) == type_property {
                continue;
            }
            let symbol = canonical(&format!("( string {} )", world.properties[property as usize].name));
            let Some(&property) = self.by_symbol.get(&symbol) else { continue };
            for &subject in &shows[&subject] {
                relate(subject, property, 2);
                for &object in &shows[&object] {
                    relate(subject, object, 0);
                }
            }
            for &object in &shows[&object] {
                relate(object, property, 3);
            }
        }
        self.relations = found.into_iter().collect();
        self.relations.sort_unstable();
    }
}

/// The kind of the same relation from the other end: `(x, has-property, p)` is `(p, property-of, x)`.
fn backward(kind: u8) -> u8 {
    match kind {
        0 | 6 => kind + 1,
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

/// The one way to write a symbol.
fn canonical(symbol: &str) -> String {
    Form::parse(symbol).map_or_else(|_| symbol.to_owned(), |form| form.to_string())
}

/// `en.person.alice` → `alice`.
fn last_part(id: &str) -> &str {
    id.rsplit('.').next().unwrap_or(id)
}

/// `start_time` → `start time`.
fn spell(name: &str) -> String {
    name.replace('_', " ").trim().to_owned()
}

/// The types of a world, and the entities that are more than a number.
fn types_and_entities(world: &KnowledgeBase) -> (Vec<ValueId>, Vec<ValueId>) {
    let type_property = world.property("type");
    let is_named = |id: ValueId| match &world.values[id as usize] {
        Value::Name { id, .. } => !last_part(id).bytes().all(|byte| byte.is_ascii_digit()),
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

/// What a literal can be used for; none if the world has nothing of its type.
fn literal_kind(world: &KnowledgeBase, symbol: &str) -> Option<ValueKind> {
    let form = Form::parse(symbol).ok()?;
    let root = form.root()?;
    let value = Value::from_form(&form, root)?;
    let has_type = |name: &str| {
        let ty = world.type_ids.get(name);
        ty.is_some_and(|ty| world.types.contains(ty))
    };
    let is_known = value.type_name().is_some_and(|name| has_type(&name));
    match form.node(root) {
        FormNode::Number { unit: None, .. } => {
            Some(if is_known { ValueKind::Both } else { ValueKind::Threshold })
        }
        FormNode::Number { .. } | FormNode::Date { .. } | FormNode::Time { .. } if is_known => {
            Some(ValueKind::Operand)
        }
        _ => None,
    }
}
