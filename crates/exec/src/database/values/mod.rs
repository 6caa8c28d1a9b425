//! The values that a question may mean: cells of the database, numbers and dates.
//!
//! A [`ValueIndex`] holds the distinct values of text columns. A value is found by the stems of its words, without case
//! and punctuation. All spans of up to [`LONGEST_SPAN`] words of a question are looked up, and again with one misspelt
//! word corrected.
//!
//! Memory is bounded by [`ValueLimits`], whatever the database. If a column has more values than that, only the first are
//! in the index, and very long values are left out. Numbers of a column are in the index if there are few distinct ones.
//! A number in a question is always a candidate, whether a column has it or not, and so is a text in quotation marks.

mod collection;
mod literals;
mod quantities;
mod spelling;
mod texts;

use super::{Cell, Database, DatabaseError, ProgressCallback, ReadingProgress};
use crate::Fault;
use collection::Collection;
use quantities::{Quantity, quantities};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use spelling::Spelling;
use std::hash::Hasher;
use texts::{SaidText, said_texts};
use xpr_lang::sql::{ColumnId, Schema, TableId};
use xpr_text::{Token, snowball_stem, tokens};

// These constants decide which values are candidates for a question.

/// The maximum number of words of a value. Longer values are not in the index.
pub const LONGEST_SPAN: usize = 6;
/// The number of words of a question that are looked up.
const LONGEST_QUESTION: usize = 100;
/// Words for values that most databases have as single letters.
const LETTERS: [(&str, &str); 12] = [
    ("female", "f"),
    ("females", "f"),
    ("woman", "f"),
    ("women", "f"),
    ("girl", "f"),
    ("girls", "f"),
    ("male", "m"),
    ("males", "m"),
    ("man", "m"),
    ("men", "m"),
    ("boy", "m"),
    ("boys", "m"),
];
/// The maximum number of values found for one span: they have the same stems, and differ in case, punctuation or endings.
const VALUES_PER_SPAN: usize = 16;

/// The limits of a [`ValueIndex`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueLimits {
    /// Distinct texts of one column.
    pub values_per_column: usize,
    /// Distinct texts of all columns.
    pub values: usize,
    /// Bytes of a text. Longer ones are left out.
    pub longest: usize,
    /// Distinct numbers of a column. The numbers of a column with more are left out.
    pub numbers_per_column: usize,
}

impl Default for ValueLimits {
    fn default() -> Self {
        ValueLimits { values_per_column: 50_000, values: 200_000, longest: 80, numbers_per_column: 1000 }
    }
}

/// Reads the values of tables, as far as the limits of an engine allow.
pub trait ValueReader {
    /// Calls `each_row` with the cells of rows of a table until it returns a fault. A row may come twice.
    fn rows(
        &mut self,
        schema: &Schema,
        table: TableId,
        each_row: &mut dyn FnMut(&[Cell<'_>]) -> Result<(), Fault>,
    ) -> TableReading;

    /// Returns the least and the greatest number of each column of a table that has numbers; none if reading them takes too
    /// long.
    fn ranges(&mut self, schema: &Schema, table: TableId) -> Vec<(ColumnId, [f64; 2])>;
}

/// How much of a table was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableReading {
    /// Whether all rows were read.
    pub to_end: bool,
    /// Whether cells were left out because of their size.
    pub has_oversized_cells: bool,
    /// Whether the rows are a sample of those of the table.
    pub is_sampled: bool,
    /// Why the other rows cannot be read; none if all were read, or as many as a limit allows.
    pub failure: Option<String>,
}

impl TableReading {
    /// Returns how much was read of a table that may be sampled, if reading ended like this.
    pub(crate) fn new(outcome: Result<(), Fault>, is_sampled: bool) -> TableReading {
        let to_end = outcome.is_ok() && !is_sampled;
        TableReading { to_end, has_oversized_cells: false, is_sampled, failure: failure(outcome) }
    }
}

/// Returns why a table cannot be read, if that is not because of a limit.
pub(crate) fn failure(outcome: Result<(), Fault>) -> Option<String> {
    match outcome {
        Err(Fault::Type(message) | Fault::Runtime(message)) => Some(message),
        Ok(()) | Err(Fault::Limit(_)) => None,
    }
}

/// The kind of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CandidateKind {
    /// The text of a cell.
    Cell,
    /// A number.
    Number,
    /// An ordinal number, such as `third` or `21st`.
    Ordinal,
    /// A number that may be a year.
    Year,
    /// A day such as `2015-01-03`, or a month such as `2015-01`.
    Date,
    /// A text that the question has in quotation marks or says to look for, whether a cell is equal to it or not.
    Said,
}

/// How well a candidate matches the words of the question, from the best to the worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MatchQuality {
    /// All characters are the same.
    Exact,
    /// The words are the same. Case and punctuation may differ.
    Case,
    /// The stems are the same, or a number is written in words.
    Lemma,
    /// The stems are the same after a spelling correction.
    Fuzzy,
}

/// A value that a span of a question may mean.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueCandidate {
    /// The value as it is in the database. A number is written in digits.
    pub text: String,
    /// The number, if the value is one.
    pub number: Option<f64>,
    /// The kind of the value.
    pub kind: CandidateKind,
    /// The columns that have the value, as far as the index knows. A number or a date may be in none.
    pub columns: Vec<ColumnId>,
    /// The words of the question: the index of the first, and that after the last.
    pub span: (usize, usize),
    /// How well the value matches the words.
    pub quality: MatchQuality,
}

/// An index of the values of a database by the words of questions.
pub struct ValueIndex {
    values: Vec<(Box<str>, Vec<ColumnId>)>,
    /// The hash of each value's stems and the index of the value, sorted.
    by_stems: Vec<(u64, u32)>,
    numbers: FxHashMap<u64, Vec<ColumnId>>,
    incomplete_columns: Vec<ColumnId>,
    ranges: Vec<(ColumnId, [f64; 2])>,
    tables_with_oversized_cells: Vec<TableId>,
    sampled_tables: Vec<TableId>,
    failures: Vec<(TableId, String)>,
    /// The hashes of the stems of all words in values.
    known_stems: FxHashSet<u64>,
    spelling: Spelling,
}

/// A question, prepared for looking up its spans.
struct SpanLookup<'a> {
    question: &'a str,
    words: &'a [Token],
    /// The stems of the words, one of which may be corrected.
    stems: Vec<String>,
    /// Whether one of the stems is corrected.
    is_corrected: bool,
}

impl ValueIndex {
    /// Reads the values of a database, and calls `progress` before each table.
    ///
    /// # Errors
    /// If the database can no longer be opened, or if `progress` stops the reading.
    pub fn read(
        database: &dyn Database,
        schema: &Schema,
        limits: ValueLimits,
        progress: &mut ProgressCallback<'_>,
    ) -> Result<ValueIndex, DatabaseError> {
        let mut reader = database.value_reader(schema)?;
        let mut collection = Collection::new(limits);
        let total = schema.tables.len();
        for (done, table) in schema.tables.iter().enumerate() {
            if progress(ReadingProgress { table: &table.name, done, total }).is_break() {
                return Err(DatabaseError::Cancelled { database: database.label() });
            }
            collection.add_table(&mut *reader, schema, TableId(done as u32));
        }
        Ok(collection.finish())
    }

    /// Returns the columns of which values are missing because of a limit. That a column has texts longer than
    /// [`ValueLimits::longest`] does not count.
    pub fn incomplete_columns(&self) -> &[ColumnId] {
        &self.incomplete_columns
    }

    /// Returns the least and the greatest number of each column that has numbers, unless reading them took too long.
    pub fn ranges(&self) -> &[(ColumnId, [f64; 2])] {
        &self.ranges
    }

    /// Returns whether a column has exactly this text, as far as the index knows: texts of many words are not in it.
    pub fn has_text(&self, column: ColumnId, text: &str) -> bool {
        self.columns_with(text).contains(&column)
    }

    /// Returns the tables that have cells of more than 256 KiB, such as photos. Such a cell is not in the index, and a query
    /// cannot read it. The other cells are.
    pub fn tables_with_oversized_cells(&self) -> &[TableId] {
        &self.tables_with_oversized_cells
    }

    /// Returns the tables that are so large that the index has the values of a sample.
    pub fn sampled_tables(&self) -> &[TableId] {
        &self.sampled_tables
    }

    /// Returns the tables of which some rows cannot be read, with the reasons. The index has the values of the rows before.
    pub fn failures(&self) -> &[(TableId, String)] {
        &self.failures
    }

    /// Returns the number of distinct texts in the index.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Returns whether there are no texts in the index.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns the values that the words of a question may mean: longer spans first, and of equally long ones the better
    /// match. Words are those of [`xpr_text::tokens`], as in the parser.
    pub fn candidates(&self, question: &str) -> Vec<ValueCandidate> {
        let mut words = tokens(question);
        words.truncate(LONGEST_QUESTION);
        let stems = words.iter().map(|word| snowball_stem(&word.text)).collect();
        let mut lookup = SpanLookup { question, words: &words, stems, is_corrected: false };
        let mut candidates = Vec::new();
        for start in 0..words.len() {
            for end in start + 1..=words.len().min(start + LONGEST_SPAN) {
                self.look_up(&lookup, (start, end), &mut candidates);
            }
        }
        self.look_up_corrected(&mut lookup, &mut candidates);
        self.look_up_letters(&words, &mut candidates);
        for SaidText { text, span } in said_texts(question, &words, LONGEST_SPAN) {
            let columns = self.columns_with(&text);
            let quality = MatchQuality::Exact;
            candidates.push(ValueCandidate {
                text,
                number: None,
                kind: CandidateKind::Said,
                columns,
                span,
                quality,
            });
        }
        for quantity in quantities(question, &words) {
            candidates.push(self.with_columns(quantity));
        }
        candidates.sort_by(|a, b| {
            let length = |candidate: &ValueCandidate| candidate.span.1 - candidate.span.0;
            (length(b).cmp(&length(a)))
                .then(a.quality.cmp(&b.quality))
                .then(a.span.cmp(&b.span))
                .then_with(|| (a.kind, &a.text).cmp(&(b.kind, &b.text)))
        });
        candidates
    }

    /// Returns the values whose stems have this hash.
    fn with_stem_hash(&self, hash: u64) -> impl Iterator<Item = &(Box<str>, Vec<ColumnId>)> {
        let first = self.by_stems.partition_point(|&(stems, _)| stems < hash);
        let same = self.by_stems[first..].iter().take_while(move |&&(stems, _)| stems == hash);
        same.map(|&(_, index)| &self.values[index as usize])
    }

    /// Adds the values that have the stems of a span.
    fn look_up(&self, lookup: &SpanLookup<'_>, span: (usize, usize), candidates: &mut Vec<ValueCandidate>) {
        let (start, end) = span;
        let (words, stems) = (&lookup.words[start..end], &lookup.stems[start..end]);
        let hash = hash_stems(stems.iter().map(String::as_str));
        for (text, columns) in self.with_stem_hash(hash).take(VALUES_PER_SPAN) {
            let value_words = tokens(text);
            let same_words =
                value_words.iter().map(|word| &word.text).eq(words.iter().map(|word| &word.text));
            let mut value_stems = value_words.iter().map(|word| snowball_stem(&word.text));
            // Different stems may have the same hash.
            if !stems.iter().all(|stem| value_stems.next().is_some_and(|other| other == *stem)) {
                continue;
            }
            let quality = if lookup.is_corrected {
                MatchQuality::Fuzzy
            } else if lookup.question[words[0].start..words[words.len() - 1].end] == **text {
                MatchQuality::Exact
            } else if same_words {
                MatchQuality::Case
            } else {
                MatchQuality::Lemma
            };
            candidates.push(ValueCandidate {
                text: text.to_string(),
                number: None,
                kind: CandidateKind::Cell,
                columns: columns.clone(),
                span,
                quality,
            });
        }
    }

    /// Adds the values that have the stems of a span in which one unknown word is corrected.
    fn look_up_corrected(&self, lookup: &mut SpanLookup<'_>, candidates: &mut Vec<ValueCandidate>) {
        lookup.is_corrected = true;
        for (at, word) in lookup.words.iter().enumerate() {
            let stem = lookup.stems[at].clone();
            if word.is_digits() || self.known_stems.contains(&hash_stems([stem.as_str()].into_iter())) {
                continue;
            }
            for neighbour in self.spelling.neighbours(&word.text) {
                lookup.stems[at] = snowball_stem(neighbour);
                for start in (at + 1).saturating_sub(LONGEST_SPAN)..=at {
                    for end in at + 1..=lookup.words.len().min(start + LONGEST_SPAN) {
                        self.look_up(lookup, (start, end), candidates);
                    }
                }
            }
            lookup.stems[at] = stem;
        }
    }

    /// Adds the letters that stand for words of the question.
    fn look_up_letters(&self, words: &[Token], candidates: &mut Vec<ValueCandidate>) {
        for (at, word) in words.iter().enumerate() {
            let letter = LETTERS.iter().find(|(long, _)| *long == word.text).map(|(_, letter)| *letter);
            let cells =
                letter.into_iter().flat_map(|letter| self.with_stem_hash(hash_stems([letter].into_iter())));
            candidates.extend(cells.filter(|(text, _)| text.len() == 1).map(|(text, columns)| {
                ValueCandidate {
                    text: text.to_string(),
                    number: None,
                    kind: CandidateKind::Cell,
                    columns: columns.clone(),
                    span: (at, at + 1),
                    quality: MatchQuality::Lemma,
                }
            }));
        }
    }

    /// Returns the candidate for a quantity.
    fn with_columns(&self, quantity: Quantity) -> ValueCandidate {
        let Quantity { kind, text, number, span, literal } = quantity;
        let columns = match number {
            Some(number) => self.numbers.get(&number_key(number)).cloned().unwrap_or_default(),
            None => self.columns_with(&text),
        };
        let quality = if literal { MatchQuality::Exact } else { MatchQuality::Lemma };
        ValueCandidate { text, number, kind, columns, span, quality }
    }

    /// Returns the columns that have exactly this text.
    fn columns_with(&self, text: &str) -> Vec<ColumnId> {
        let words = tokens(text);
        let stems: Vec<_> = words.iter().map(|word| snowball_stem(&word.text)).collect();
        let hash = hash_stems(stems.iter().map(String::as_str));
        let value = self.with_stem_hash(hash).find(|(value, _)| **value == *text);
        value.map(|(_, columns)| columns.clone()).unwrap_or_default()
    }
}

/// Returns a key that is the same for equal numbers, including 0 and −0.
fn number_key(number: f64) -> u64 {
    (number + 0.0).to_bits()
}

fn hash_stems<'a>(stems: impl Iterator<Item = &'a str>) -> u64 {
    let mut hasher = FxHasher::default();
    for stem in stems {
        hasher.write(stem.as_bytes());
        hasher.write_u8(0xff);
    }
    hasher.finish()
}
