//! Building a knowledge base from triples.

use super::{KnowledgeBase, PrintedForms, Property, PropertyId, TypeName, ValueId, ValueLookup, ValueTypeId};
use crate::KbValue;
use crate::value::{UNITLESS, number_type};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Ordering;
use thiserror::Error;
use xpr_lang::lambda_dcs::Form;

/// An error in a file of triples.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("line {line}: {message}")]
pub struct TripleError {
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong with the line.
    pub message: String,
}

/// The objects of a property are found with an array from its least to its greatest subject if that has at most
/// `DENSE_FACTOR` entries per subject and [`DENSE_SPAN`] more, and else with a hash table. This affects speed and
/// memory only.
const DENSE_FACTOR: usize = 8;
/// See [`DENSE_FACTOR`].
const DENSE_SPAN: usize = 256;

/// A builder of a [`KnowledgeBase`], to which triples are added one by one.
///
/// ```
/// use xpr_exec::{KbValue, KnowledgeBaseBuilder};
///
/// let mut builder = KnowledgeBaseBuilder::new();
/// builder.insert(&KbValue::name("en.city.rome"), "founded", &KbValue::Date { year: -753, month: 4, day: 21 })?;
/// let world = builder.finish();
/// assert_eq!(world.triple_lines().next().as_deref(), Some("(name en.city.rome)\tfounded\t(date -753 4 21)"));
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Default)]
pub struct KnowledgeBaseBuilder {
    values: Vec<KbValue>,
    types: Vec<ValueTypeId>,
    ids: FxHashMap<String, ValueId>,
    type_names: Vec<Box<str>>,
    type_ids: FxHashMap<Box<str>, ValueTypeId>,
    /// Each property is followed by its inverse.
    properties: Vec<DeclaredProperty>,
    property_ids: FxHashMap<Box<str>, PropertyId>,
    triples: Vec<(ValueId, PropertyId, ValueId)>,
}

/// A property, and the types of its subjects and objects.
#[derive(Debug)]
struct DeclaredProperty {
    name: Box<str>,
    subjects: ValueTypeId,
    objects: ValueTypeId,
}

impl KnowledgeBase {
    /// Reads the text of a triples file. Each line has a subject, a property and an object, separated by tabs. Values
    /// are written as SEMPRE prints them, or as bare names. Empty lines are skipped.
    ///
    /// # Errors
    /// If a line is not a triple, or there are none.
    pub fn read_triples(text: &str) -> Result<KnowledgeBase, TripleError> {
        let mut builder = KnowledgeBaseBuilder::new();
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
                let value = form.root().and_then(|root| KbValue::from_form(&form, root));
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
}

impl KnowledgeBaseBuilder {
    /// Returns a builder without triples.
    pub fn new() -> Self {
        KnowledgeBaseBuilder::default()
    }

    /// Returns whether a value occurs in a triple added so far.
    pub fn contains(&self, value: &KbValue) -> bool {
        self.ids.contains_key(&key(value))
    }

    /// Adds a triple.
    ///
    /// # Errors
    /// If a value has no type, or the name of the property is empty or that of an inverse.
    pub fn insert(&mut self, subject: &KbValue, property: &str, object: &KbValue) -> Result<(), String> {
        if property.is_empty() || property.starts_with('!') {
            return Err(format!(
                "`{property}` cannot name a property: a name is not empty and does not begin with `!`, which marks inverses"
            ));
        }
        let (subject, object) = (self.value(subject)?, self.value(object)?);
        let (subjects, objects) = (self.types[subject as usize], self.types[object as usize]);
        let id = match self.property_ids.get(property) {
            Some(&id) => id,
            None => {
                let id = self.properties.len() as PropertyId;
                for name in [property.to_owned(), format!("!{property}")] {
                    self.property_ids.insert(name.as_str().into(), self.properties.len() as PropertyId);
                    self.properties.push(DeclaredProperty { name: name.into(), subjects, objects });
                }
                id
            }
        };
        // As in SEMPRE, the last triple determines the types.
        let index = id as usize;
        (self.properties[index].subjects, self.properties[index].objects) = (subjects, objects);
        (self.properties[index + 1].subjects, self.properties[index + 1].objects) = (objects, subjects);
        self.triples.push((subject, id, object));
        Ok(())
    }

    /// Returns the number of a value, which is added if it is new.
    fn value(&mut self, value: &KbValue) -> Result<ValueId, String> {
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
            // Descriptions belong to programs.
            KbValue::Name { id, .. } => KbValue::name(id.as_str()),
            other => other.clone(),
        });
        self.types.push(ty);
        self.ids.insert(key, id);
        Ok(id)
    }

    /// Returns the number of a type, which is added if it is new.
    fn ty(&mut self, name: &str) -> ValueTypeId {
        if let Some(&id) = self.type_ids.get(name) {
            return id;
        }
        let id = self.type_names.len() as ValueTypeId;
        self.type_names.push(name.into());
        self.type_ids.insert(name.into(), id);
        id
    }

    /// Returns the knowledge base of the inserted triples.
    pub fn finish(mut self) -> KnowledgeBase {
        let unitless = self.ty(&number_type(None));
        let boolean = self.ty("en.boolean");
        let printed = print_all(&self.values);
        let (ranks, by_rank) = rank(&printed);
        let lookup = lookup_tables(&self.values, &self.types);
        let PropertyTables { properties, objects, pairs } = index_properties(self.properties, &self.triples);
        KnowledgeBase {
            ranks,
            by_rank,
            degrees: self.values.iter().map(|value| value.degree().unwrap_or(f64::NAN)).collect(),
            has_degree: self.values.iter().map(|value| value.degree().is_some()).collect(),
            is_name: self.values.iter().map(|value| matches!(value, KbValue::Name { .. })).collect(),
            values: self.values,
            printed,
            types: self.types,
            lookup,
            type_names: self.type_names.iter().map(|name| type_name(name)).collect(),
            type_ids: self.type_ids,
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

fn print_all(values: &[KbValue]) -> PrintedForms {
    let mut printed = PrintedForms { text: String::new(), starts: Vec::with_capacity(values.len() + 1) };
    for value in values {
        printed.starts.push(printed.text.len() as u32);
        value.write(&mut printed.text);
    }
    printed.starts.push(printed.text.len() as u32);
    printed
}

/// Sorts values by their printed forms. Returns the rank of each value, and the value of each rank.
fn rank(printed: &PrintedForms) -> (Vec<u32>, Vec<ValueId>) {
    let mut by_rank: Vec<ValueId> = (0..printed.starts.len() as ValueId - 1).collect();
    by_rank.sort_by(|&left, &right| java_order(printed.get(left), printed.get(right)));
    let mut ranks = vec![0; by_rank.len()];
    for (rank, &value) in by_rank.iter().enumerate() {
        ranks[value as usize] = rank as u32;
    }
    (ranks, by_rank)
}

fn lookup_tables(values: &[KbValue], types: &[ValueTypeId]) -> ValueLookup {
    let mut lookup = ValueLookup::default();
    for (id, value) in (0..).zip(values) {
        match value {
            KbValue::Name { id: name, .. } => {
                lookup.names.insert(name.as_str().into(), id);
            }
            KbValue::Number { value, unit } => {
                let ty = types[id as usize];
                lookup.numbers.insert((value.to_bits(), ty), id);
                lookup.unit_types.insert(unit.as_deref().unwrap_or(UNITLESS).into(), ty);
            }
            KbValue::Date { year, month, day } => {
                lookup.dates.insert((*year, *month, *day), id);
            }
            KbValue::Time { hour, minute } => {
                lookup.times.insert((*hour, *minute), id);
            }
            KbValue::Boolean(_) | KbValue::Text(_) | KbValue::Url(_) => {}
        }
    }
    lookup
}

fn type_name(name: &str) -> TypeName {
    let is_date_or_time = matches!(name, "en.date" | "en.time");
    TypeName {
        name: name.into(),
        is_numeric: is_date_or_time || name.ends_with("number"),
        is_uncountable: is_date_or_time || name.ends_with("_number"),
    }
}

/// The fields of a [`KnowledgeBase`] that depend on its properties.
struct PropertyTables {
    properties: Vec<Property>,
    objects: Vec<ValueId>,
    pairs: usize,
}

fn index_properties(
    declared: Vec<DeclaredProperty>,
    triples: &[(ValueId, PropertyId, ValueId)],
) -> PropertyTables {
    let mut by_property = vec![Vec::new(); declared.len()];
    for &(subject, property, object) in triples {
        by_property[property as usize].push((subject, object));
        by_property[property as usize + 1].push((object, subject));
    }
    let mut tables =
        PropertyTables { properties: vec![], objects: Vec::with_capacity(2 * triples.len()), pairs: 0 };
    for (property, triples) in declared.into_iter().zip(by_property) {
        let (property, pairs) = index(property, &triples, &mut tables.objects);
        tables.properties.push(property);
        tables.pairs += pairs;
    }
    tables
}

/// Returns a text that differs between different values. The printed form is not enough, as it rounds numbers.
fn key(value: &KbValue) -> String {
    match value {
        KbValue::Name { id, .. } => format!("n{id}"),
        KbValue::Number { value, unit } => {
            format!("#{:x} {}", value.to_bits(), unit.as_deref().unwrap_or(UNITLESS))
        }
        other => {
            let mut key = String::new();
            other.write(&mut key);
            key
        }
    }
}

/// Appends the objects of a property's triples to `table`, grouped by subject and in order of insertion within a group.
/// Returns the property and the number of its subjects.
fn index(
    DeclaredProperty { name, subjects, objects }: DeclaredProperty,
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
    if span <= DENSE_FACTOR * pairs + DENSE_SPAN {
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

/// Compares strings as Java's `String.compareTo` does: by UTF-16 code units. The order of bytes differs from it for
/// characters beyond the basic multilingual plane.
pub(super) fn java_order(left: &str, right: &str) -> Ordering {
    if left.is_ascii() && right.is_ascii() {
        return left.cmp(right);
    }
    left.encode_utf16().cmp(right.encode_utf16())
}
