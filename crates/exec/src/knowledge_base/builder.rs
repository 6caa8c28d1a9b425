//! Putting a knowledge base together, triple by triple.

use super::{KnowledgeBase, Property, PropertyId, TypeId, TypeName, ValueId};
use crate::Value;
use crate::value::{UNITLESS, number_type};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Ordering;
use thiserror::Error;
use xpr_lang::lambda_dcs::Form;

/// Why a line is not a triple.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("line {line}: {message}")]
pub struct TripleError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub message: String,
}

/// A knowledge base in the making.
#[derive(Debug, Default)]
pub struct Builder {
    values: Vec<Value>,
    types: Vec<TypeId>,
    ids: FxHashMap<String, ValueId>,
    type_names: Vec<Box<str>>,
    type_ids: FxHashMap<Box<str>, TypeId>,
    properties: Vec<(Box<str>, TypeId, TypeId)>,
    property_ids: FxHashMap<Box<str>, PropertyId>,
    triples: Vec<(ValueId, PropertyId, ValueId)>,
}

impl Builder {
    /// A knowledge base of which nothing is known yet.
    pub fn new() -> Self {
        Builder::default()
    }

    /// Reads a triples file: a subject, a property and an object a line, tabs between; values as
    /// SEMPRE prints them, or bare names. Empty lines are skipped.
    ///
    /// # Errors
    /// If a line is not of that form.
    pub fn read(text: &str) -> Result<KnowledgeBase, TripleError> {
        let mut builder = Builder::new();
        let mut form = Form::default();
        for (index, line) in text.lines().enumerate() {
            let error = |message: String| TripleError { line: index + 1, message };
            if line.trim().is_empty() {
                continue;
            }
            let fields: Vec<&str> = line.split('\t').collect();
            let [subject, property, object] = fields[..] else {
                let message = format!(
                    "{} columns; a triple has 3: subject, property and object, with tabs between",
                    fields.len()
                );
                return Err(error(message));
            };
            let mut value = |column: &str, text: &str| {
                form.parse_into(text).map_err(|syntax| error(format!("{column}: {syntax}")))?;
                let value = form.root().and_then(|root| Value::from_form(&form, root));
                value.ok_or_else(|| {
                    error(format!(
                        "{column}: `{text}` is not a value such as en.person.alice or (number 3 en.hour)"
                    ))
                })
            };
            let (subject, object) = (value("subject", subject)?, value("object", object)?);
            builder.insert(&subject, property, &object).map_err(error)?;
        }
        if builder.triples.is_empty() {
            return Err(TripleError { line: 1, message: "there are no triples".into() });
        }
        Ok(builder.finish())
    }

    /// Whether a value occurs in a triple so far.
    pub fn contains(&self, value: &Value) -> bool {
        self.ids.contains_key(&key(value))
    }

    /// Adds a triple.
    ///
    /// # Errors
    /// If a value has no type, or the property a name that means something else.
    pub fn insert(&mut self, subject: &Value, property: &str, object: &Value) -> Result<(), String> {
        if property.is_empty() || property.starts_with('!') {
            return Err(format!("`{property}` cannot name a property: `!` marks one that is read backwards"));
        }
        let (subject, object) = (self.value(subject)?, self.value(object)?);
        let (subjects, objects) = (self.types[subject as usize], self.types[object as usize]);
        let id = match self.property_ids.get(property) {
            Some(&id) => id,
            None => {
                let id = self.properties.len() as PropertyId;
                for name in [property.to_owned(), format!("!{property}")] {
                    self.property_ids.insert(name.as_str().into(), self.properties.len() as PropertyId);
                    self.properties.push((name.into(), subjects, objects));
                }
                id
            }
        };
        // The last triple decides, as in SEMPRE.
        (self.properties[id as usize].1, self.properties[id as usize].2) = (subjects, objects);
        (self.properties[id as usize + 1].1, self.properties[id as usize + 1].2) = (objects, subjects);
        self.triples.push((subject, id, object));
        Ok(())
    }

    fn value(&mut self, value: &Value) -> Result<ValueId, String> {
        let key = key(value);
        if let Some(&id) = self.ids.get(&key) {
            return Ok(id);
        }
        let ty = value.type_name().ok_or_else(|| {
            let mut printed = String::new();
            value.write(&mut printed);
            format!("{printed} has no type; the name of an entity has its type before the last dot: en.person.alice")
        })?;
        let ty = self.ty(&ty);
        if self.values.len() >= (u32::MAX / 4) as usize {
            return Err("there are too many values".into());
        }
        let id = self.values.len() as ValueId;
        self.values.push(match value {
            // A description is a program's business.
            Value::Name { id, .. } => Value::name(id.as_str()),
            other => other.clone(),
        });
        self.types.push(ty);
        self.ids.insert(key, id);
        Ok(id)
    }

    fn ty(&mut self, name: &str) -> TypeId {
        if let Some(&id) = self.type_ids.get(name) {
            return id;
        }
        let id = self.type_names.len() as TypeId;
        self.type_names.push(name.into());
        self.type_ids.insert(name.into(), id);
        id
    }

    /// Compiles what was inserted.
    pub fn finish(mut self) -> KnowledgeBase {
        let unitless = self.ty(&number_type(None));
        let boolean = self.ty("en.boolean");

        let mut printed = String::new();
        let mut printed_starts = Vec::with_capacity(self.values.len() + 1);
        for value in &self.values {
            printed_starts.push(printed.len() as u32);
            value.write(&mut printed);
        }
        printed_starts.push(printed.len() as u32);
        let text = |id: ValueId| {
            &printed[printed_starts[id as usize] as usize..printed_starts[id as usize + 1] as usize]
        };
        let mut by_rank: Vec<ValueId> = (0..self.values.len() as ValueId).collect();
        by_rank.sort_by(|&left, &right| java_order(text(left), text(right)));
        let mut ranks = vec![0; by_rank.len()];
        for (rank, &value) in by_rank.iter().enumerate() {
            ranks[value as usize] = rank as u32;
        }

        let mut names = FxHashMap::default();
        let mut numbers = FxHashMap::default();
        let mut dates = FxHashMap::default();
        let mut times = FxHashMap::default();
        let mut unit_types = FxHashMap::default();
        for (id, value) in (0..).zip(&self.values) {
            match value {
                Value::Name { id: name, .. } => {
                    names.insert(name.as_str().into(), id);
                }
                Value::Number { value, unit } => {
                    let ty = self.types[id as usize];
                    numbers.insert((value.to_bits(), ty), id);
                    unit_types.insert(unit.as_deref().unwrap_or(UNITLESS).into(), ty);
                }
                Value::Date { year, month, day } => {
                    dates.insert((*year, *month, *day), id);
                }
                Value::Time { hour, minute } => {
                    times.insert((*hour, *minute), id);
                }
                Value::Boolean(_) | Value::Text(_) | Value::Url(_) => {}
            }
        }

        let mut objects = Vec::with_capacity(2 * self.triples.len());
        let mut pairs = 0;
        let mut by_property = vec![Vec::new(); self.properties.len()];
        for &(subject, property, object) in &self.triples {
            by_property[property as usize].push((subject, object));
            by_property[property as usize + 1].push((object, subject));
        }
        let properties = std::mem::take(&mut self.properties)
            .into_iter()
            .zip(by_property)
            .map(|((name, subjects, values), triples)| {
                let (property, property_pairs) = index(name, subjects, values, &triples, &mut objects);
                pairs += property_pairs;
                property
            })
            .collect();

        let type_names = self
            .type_names
            .iter()
            .map(|name| {
                let is_moment = matches!(&**name, "en.date" | "en.time");
                TypeName {
                    name: name.clone(),
                    is_numeric: is_moment || name.ends_with("number"),
                    is_uncountable: is_moment || name.ends_with("_number"),
                }
            })
            .collect();
        KnowledgeBase {
            ranks,
            by_rank,
            degrees: self.values.iter().map(|value| value.degree().unwrap_or(f64::NAN)).collect(),
            has_degree: self.values.iter().map(|value| value.degree().is_some()).collect(),
            is_name: self.values.iter().map(|value| matches!(value, Value::Name { .. })).collect(),
            values: self.values,
            printed,
            printed_starts,
            types: self.types,
            names,
            numbers,
            dates,
            times,
            type_names,
            type_ids: self.type_ids,
            unit_types,
            unitless,
            boolean,
            properties,
            property_ids: self.property_ids,
            objects,
            pairs,
            triples: self.triples,
        }
    }
}

/// What makes a value the same as another to a hash table: its printed form is too coarse for numbers.
fn key(value: &Value) -> String {
    match value {
        Value::Name { id, .. } => format!("n{id}"),
        Value::Number { value, unit } => {
            format!("#{:x} {}", value.to_bits(), unit.as_deref().unwrap_or(UNITLESS))
        }
        other => {
            let mut key = String::new();
            other.write(&mut key);
            key
        }
    }
}

/// Appends the objects of a property's triples, grouped by subject in order of insertion, and says
/// where they are and how many subjects there are.
fn index(
    name: Box<str>,
    subjects: TypeId,
    objects: TypeId,
    triples: &[(ValueId, ValueId)],
    table: &mut Vec<ValueId>,
) -> (Property, usize) {
    // Stable, so that the objects of a subject keep their order.
    let mut sorted = triples.to_vec();
    sorted.sort_by_key(|&(subject, _)| subject);
    let mut groups: Vec<(ValueId, u32, u32)> = Vec::new();
    for &(subject, object) in &sorted {
        match groups.last_mut() {
            Some((last, _, end)) if *last == subject => *end += 1,
            _ => groups.push((subject, table.len() as u32, table.len() as u32 + 1)),
        }
        table.push(object);
    }
    let pairs = groups.len();
    let first = sorted.first().map_or(0, |&(subject, _)| subject);
    let span = sorted.last().map_or(0, |&(subject, _)| (subject - first) as usize + 1);
    let (mut starts, mut sparse) = (Vec::new(), FxHashMap::default());
    if span <= 8 * pairs + 256 {
        let mut next = groups.iter().peekable();
        for subject in (first..).take(span) {
            let start = next.peek().map_or(table.len() as u32, |group| group.1);
            starts.push(start);
            next.next_if(|group| group.0 == subject);
        }
        starts.push(table.len() as u32);
    } else {
        sparse.extend(groups.iter().map(|&(subject, start, end)| (subject, (start, end))));
    }
    let mut seen = FxHashSet::default();
    let is_distinct = triples.iter().all(|&triple| seen.insert(triple));
    (Property { name, subjects, objects, first, starts, sparse, is_distinct }, pairs)
}

/// `String.compareTo`: by UTF-16 code units, which differs from bytes beyond the basic plane.
pub(super) fn java_order(left: &str, right: &str) -> Ordering {
    if left.is_ascii() && right.is_ascii() {
        return left.cmp(right);
    }
    left.encode_utf16().cmp(right.encode_utf16())
}
