//! A knowledge base: triples, compiled for running programs.

mod answer;
mod builder;
mod environment;
mod functions;
mod machine;
mod plan;
mod runner;

pub use builder::{Builder, TripleError};
pub use environment::{KnowledgeBaseEnvironment, Phrase};
pub use plan::Plan;
pub use runner::{Runner, Verdict};

use crate::Value;
use rustc_hash::FxHashMap;

/// A value of a knowledge base, or beyond its last one, a value that a program brought along.
pub(crate) type ValueId = u32;
/// A property, forwards if even, backwards if odd.
pub(crate) type PropertyId = u32;
/// A type: what comes before the last dot of an entity, or of what unit a number is.
pub(crate) type TypeId = u32;

/// Subjects, properties and objects, and everything about them that programs ask for often.
///
/// A value is a number, and what SEMPRE computes about it again and again (its type, its degree,
/// its printed form, its place in sorted output) is looked up in tables by that number.
#[derive(Debug)]
pub struct KnowledgeBase {
    values: Vec<Value>,
    /// Printed forms, one behind the other, and where each begins.
    printed: String,
    printed_starts: Vec<u32>,
    /// The place of each value when all are sorted by printed form.
    ranks: Vec<u32>,
    /// The value at each place.
    by_rank: Vec<ValueId>,
    types: Vec<TypeId>,
    /// NaN where a value has no degree, told apart by `has_degree`.
    degrees: Vec<f64>,
    has_degree: Vec<bool>,
    is_name: Vec<bool>,

    names: FxHashMap<Box<str>, ValueId>,
    /// Numbers by their bits and the type that their unit makes.
    numbers: FxHashMap<(u64, TypeId), ValueId>,
    dates: FxHashMap<(i32, i32, i32), ValueId>,
    times: FxHashMap<(i32, i32), ValueId>,

    type_names: Vec<TypeName>,
    type_ids: FxHashMap<Box<str>, TypeId>,
    /// The types of numbers by their units.
    unit_types: FxHashMap<Box<str>, TypeId>,
    unitless: TypeId,
    boolean: TypeId,

    properties: Vec<Property>,
    property_ids: FxHashMap<Box<str>, PropertyId>,
    /// The objects of all triples, those of one subject and property together.
    objects: Vec<ValueId>,
    /// Pairs of subject and property with at least one object, both ways.
    pairs: usize,
    triples: Vec<(ValueId, PropertyId, ValueId)>,
}

#[derive(Debug)]
struct TypeName {
    name: Box<str>,
    /// As `ensureNumericProperty` and `ensureNumericEntity` see it.
    is_numeric: bool,
    /// As the counting functions see it, which look at the name a little more closely.
    is_uncountable: bool,
}

/// A property, read forwards or backwards.
#[derive(Debug)]
pub struct Property {
    name: Box<str>,
    /// The type of its subjects, and of its objects: those of the triple inserted last.
    subjects: TypeId,
    objects: TypeId,
    /// The least subject; `starts` has one entry for each value from it to the greatest, and one more.
    first: ValueId,
    starts: Vec<u32>,
    /// Instead of `starts` where subjects are few and far between: where the objects begin and end.
    sparse: FxHashMap<ValueId, (u32, u32)>,
    /// Whether no subject has the same object twice.
    is_distinct: bool,
}

impl Property {
    /// Its name; begins with `!` if it is read backwards.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where in the table of objects those of `subject` are.
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
    /// How many values there are.
    pub fn values(&self) -> usize {
        self.values.len()
    }

    /// Every property, forwards and backwards in turn, in order of first use.
    pub fn properties(&self) -> &[Property] {
        &self.properties
    }

    /// Every triple in order of insertion, as a line of a triples file: subject, property and object,
    /// tabs between. [`Builder::read`] makes the same knowledge base of them.
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

    /// The printed form of a value of this knowledge base.
    fn printed(&self, value: ValueId) -> &str {
        let start = self.printed_starts[value as usize] as usize;
        let end = self.printed_starts[value as usize + 1] as usize;
        &self.printed[start..end]
    }

    fn property(&self, name: &str) -> Option<PropertyId> {
        self.property_ids.get(name).copied()
    }

    fn find_number(&self, value: f64, unit: Option<&str>) -> Option<ValueId> {
        let ty = match unit {
            None => self.unitless,
            Some(unit) => *self.unit_types.get(unit)?,
        };
        self.numbers.get(&(value.to_bits(), ty)).copied()
    }
}
