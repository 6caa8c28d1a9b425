//! A knowledge base: triples, compiled so that programs run fast.
//!
//! `builder` compiles triples to tables, `plan` compiles forms to stack instructions, `machine` runs them, `functions`
//! has the functions of SEMPRE's Overnight world, `answer` sorts and prints answers, and `environment` lists the items
//! and relations that a parser sees.

mod answer;
mod builder;
mod environment;
mod functions;
mod machine;
mod plan;
mod runner;

pub use builder::{KnowledgeBaseBuilder, TripleError};
pub use environment::{KnowledgeBaseEnvironment, SymbolPhrase};
pub use plan::Plan;
pub use runner::{AnswerKind, Runner};

use crate::KbValue;
use rustc_hash::FxHashMap;

/// The number of a value of a knowledge base. Values of a program or a run have the numbers after the last one.
pub(crate) type ValueId = u32;
/// The number of a property, which is even. The next number is that of its inverse.
pub(crate) type PropertyId = u32;
/// The number of a type of values, such as `en.person` or numbers in `en.hour`.
pub(crate) type ValueTypeId = u32;

/// A set of triples (subject, property, object), and tables of what programs often need of them.
///
/// A value is a number. What SEMPRE computes of a value again and again (its type, its degree, its printed form, its
/// rank in sorted output) is looked up in tables indexed by that number.
#[derive(Debug)]
pub struct KnowledgeBase {
    values: Vec<KbValue>,
    printed: PrintedForms,
    /// The rank of each value when all are sorted by printed form.
    ranks: Vec<u32>,
    /// The value of each rank.
    by_rank: Vec<ValueId>,
    types: Vec<ValueTypeId>,
    /// The degree of each value; NaN if `has_degree` is false, but also for numbers that are NaN.
    degrees: Vec<f64>,
    has_degree: Vec<bool>,
    is_name: Vec<bool>,

    lookup: ValueLookup,

    type_names: Vec<TypeName>,
    type_ids: FxHashMap<Box<str>, ValueTypeId>,
    unitless: ValueTypeId,
    boolean: ValueTypeId,

    properties: Vec<Property>,
    property_ids: FxHashMap<Box<str>, PropertyId>,
    /// The objects of all triples and inverse triples, grouped by property and then by subject.
    objects: Vec<ValueId>,
    /// The number of pairs of subject and property with at least one object, inverse properties included.
    pairs: usize,
    triples: Vec<(ValueId, PropertyId, ValueId)>,
}

/// The printed forms of values, in one string.
#[derive(Debug, Default)]
struct PrintedForms {
    text: String,
    /// The start of each form in `text`, and the end of the last.
    starts: Vec<u32>,
}

impl PrintedForms {
    fn get(&self, value: ValueId) -> &str {
        let start = self.starts[value as usize] as usize;
        let end = self.starts[value as usize + 1] as usize;
        &self.text[start..end]
    }
}

/// Hash tables that find a value by its content.
#[derive(Debug, Default)]
struct ValueLookup {
    names: FxHashMap<Box<str>, ValueId>,
    /// Numbers by their bits and the type of numbers with their unit.
    numbers: FxHashMap<(u64, ValueTypeId), ValueId>,
    dates: FxHashMap<(i32, i32, i32), ValueId>,
    times: FxHashMap<(i32, i32), ValueId>,
    /// The types of numbers by their units.
    unit_types: FxHashMap<Box<str>, ValueTypeId>,
}

#[derive(Debug)]
struct TypeName {
    name: Box<str>,
    /// Whether `ensureNumericProperty` and `ensureNumericEntity` accept the type.
    is_numeric: bool,
    /// Whether the counting functions reject the type. SEMPRE's tests for the two differ slightly.
    is_uncountable: bool,
}

/// A property or the inverse of one.
#[derive(Debug)]
pub struct Property {
    name: Box<str>,
    /// The type of the subjects. As in SEMPRE, that is the type of the subject inserted last.
    subjects: ValueTypeId,
    /// The type of the objects, likewise.
    objects: ValueTypeId,
    /// The least subject.
    first: ValueId,
    /// The start of the objects of each value from the least subject to the greatest, and the end of the last ones.
    starts: Vec<u32>,
    /// The start and end of the objects of each subject. It is used instead of `starts` if that would mostly be empty.
    sparse: FxHashMap<ValueId, (u32, u32)>,
    /// Whether no subject has the same object twice.
    is_distinct: bool,
}

impl Property {
    /// Returns the name, which begins with `!` for an inverse.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the range of the objects of `subject` in the table of objects.
    #[inline]
    fn range(&self, subject: ValueId) -> (u32, u32) {
        let index = subject.wrapping_sub(self.first) as usize;
        match self.starts.get(index..index.wrapping_add(2)) {
            Some(&[start, end]) => (start, end),
            _ if self.sparse.is_empty() => (0, 0),
            _ => self.sparse.get(&subject).copied().unwrap_or((0, 0)),
        }
    }
}

impl KnowledgeBase {
    /// Returns the number of values.
    pub fn value_count(&self) -> usize {
        self.values.len()
    }

    /// Returns all properties in order of first use, each followed by its inverse.
    pub fn properties(&self) -> &[Property] {
        &self.properties
    }

    /// Returns all triples in order of insertion as lines of a triples file: subject, property and object, separated by
    /// tabs. [`KnowledgeBase::read_triples`] makes an equal knowledge base of them.
    pub fn triple_lines(&self) -> impl Iterator<Item = String> {
        self.triples.iter().map(|&(subject, property, object)| {
            let mut line = String::new();
            self.values[subject as usize].write_exactly(&mut line);
            line.push('\t');
            line.push_str(&self.properties[property as usize].name);
            line.push('\t');
            self.values[object as usize].write_exactly(&mut line);
            line
        })
    }

    fn property(&self, name: &str) -> Option<PropertyId> {
        self.property_ids.get(name).copied()
    }

    fn find_number(&self, value: f64, unit: Option<&str>) -> Option<ValueId> {
        let ty = match unit {
            None => self.unitless,
            Some(unit) => *self.lookup.unit_types.get(unit)?,
        };
        self.lookup.numbers.get(&(value.to_bits(), ty)).copied()
    }
}
