//! The values a question may mean: cells of the database it names, numbers, dates.
//!
//! A [`ValueIndex`] holds the different values of text columns, found by what they have in common with the words of a question: the stems
//! of their words, without case and punctuation. Stretches of up to [`LONGEST_SPAN`] words are looked up, the longest first, then
//! once more with a misspelt word put right.
//!
//! Memory is bounded by [`ValueLimits`], whatever the database. Of a column with more values than that only the first are
//! known, and values that are longer than a question would quote are left out; a question that means one of those can still be answered by
//! a program that takes the words as they are. Of columns with numbers, those with few different ones are known: any number in
//! a question is a candidate whether a column has it or not.

mod collection;
mod literals;
mod quantities;
mod spelling;

use super::database::Database;
use super::error::DatabaseError;
use super::guard::Session;
use super::tables::{ReadingProgress, Watch};
use collection::Collection;
use quantities::{Quantity, quantities};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use spelling::Spelling;
use std::hash::Hasher;
use std::ops::ControlFlow;
use xpr_lang::sql::{ColumnId, Schema, TableId};
use xpr_text::{Token, snowball_stem, tokens};

/// Words of the longest value that is looked for.
pub const LONGEST_SPAN: usize = 6;
/// Words of a question that are looked at.
const LONGEST_QUESTION: usize = 100;
/// Values shown for one stretch of words: more are the same but for case and punctuation.
const SAME_WORDS: usize = 16;

/// How much of a database an index holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueLimits {
    /// Different values of one column.
    pub values_per_column: usize,
    /// Different values in all.
    pub values: usize,
    /// Bytes of a value.
    pub longest: usize,
    /// Different numbers of a column; one with more is left out.
    pub numbers_per_column: usize,
}

impl Default for ValueLimits {
    fn default() -> Self {
        ValueLimits { values_per_column: 50_000, values: 200_000, longest: 80, numbers_per_column: 1000 }
    }
}

/// What a candidate is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ValueKind {
    /// The text of a cell.
    Cell,
    /// A number.
    Number,
    /// A place in an order: third, 21st.
    Ordinal,
    /// A number that looks like a year.
    Year,
    /// A day, as `2015-01-03`, or a month, as `2015-01`.
    Date,
}

/// How well a candidate fits the words, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MatchQuality {
    /// Letter by letter.
    Exact,
    /// But for case and punctuation.
    Case,
    /// But for endings, or written in words.
    Lemma,
    /// But for a misspelling.
    Fuzzy,
}

/// A value that a stretch of a question may mean.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueCandidate {
    /// The value, as it is in the database; numbers in digits.
    pub text: String,
    /// As a number, if it is one.
    pub number: Option<f64>,
    /// What it is.
    pub kind: ValueKind,
    /// The columns known to have it; a number or a date may be in none.
    pub columns: Vec<ColumnId>,
    /// The first word, and the one behind the last.
    pub span: (usize, usize),
    /// How well it fits.
    pub quality: MatchQuality,
}

/// The values of a database, to be found by the words of a question.
pub struct ValueIndex {
    values: Vec<(Box<str>, Vec<ColumnId>)>,
    /// Hash of a value's stems, and its index.
    by_stems: Vec<(u64, u32)>,
    numbers: FxHashMap<u64, Vec<ColumnId>>,
    partly_known: Vec<ColumnId>,
    /// Hashes of the stems of all words in values.
    known_stems: FxHashSet<u64>,
    spelling: Spelling,
}

impl ValueIndex {
    /// Reads the values of a database; `watch` hears of each table, and may stop the reading.
    ///
    /// # Errors
    /// When the database cannot be opened any more, or the reading was stopped.
    pub fn read(
        database: &Database,
        schema: &Schema,
        limits: ValueLimits,
        watch: &mut Watch<'_>,
    ) -> Result<ValueIndex, DatabaseError> {
        let session = Session::open(database, schema.tables.iter().map(|table| table.name.as_str()))?;
        let mut collection = Collection::new(limits);
        let of = schema.tables.len();
        for (done, table) in schema.tables.iter().enumerate() {
            if watch(ReadingProgress { table: &table.name, done, of }) == ControlFlow::Break(()) {
                return Err(DatabaseError::Cancelled { path: database.path().to_owned() });
            }
            collection.add_table(&session, schema, TableId(done as u32));
        }
        Ok(collection.finish())
    }

    /// Columns of which it does not hold all values, but for very long ones.
    pub fn partly_known(&self) -> &[ColumnId] {
        &self.partly_known
    }

    /// How many different texts it holds.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// What the words of a question may mean; longer stretches first, and of equal ones the better fit. Words are counted as the
    /// parser counts them.
    pub fn candidates(&self, question: &str) -> Vec<ValueCandidate> {
        let mut words = tokens(question);
        words.truncate(LONGEST_QUESTION);
        let stems: Vec<String> =
            words.iter().map(|word| snowball_stem(&word.text)).collect();
        let mut candidates = Vec::new();
        for start in 0..words.len() {
            for end in start + 1..=words.len().min(start + LONGEST_SPAN) {
                self.look_up(question, &words, &stems, (start, end), false, &mut candidates);
            }
        }
        self.look_up_misspelt(question, &words, &stems, &mut candidates);
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

    /// Adds the values whose stems are those of a stretch of words.
    fn look_up(
        &self,
        question: &str,
        words: &[Token],
        stems: &[String],
        span: (usize, usize),
        misspelt: bool,
        candidates: &mut Vec<ValueCandidate>,
    ) {
        let (start, end) = span;
        let hash = hash_stems(stems[start..end].iter().map(String::as_str));
        let first = self.by_stems.partition_point(|&(stems, _)| stems < hash);
        let same = self.by_stems[first..].iter().take_while(|&&(stems, _)| stems == hash).take(SAME_WORDS);
        for &(_, index) in same {
            let (text, columns) = &self.values[index as usize];
            let value_words = tokens(text);
            let same_words =
                value_words.iter().map(|word| &word.text).eq(words[start..end].iter().map(|w| &w.text));
            let mut value_stems = value_words.iter().map(|word| snowball_stem(&word.text));
            // Different stems may have the same hash.
            if !stems[start..end].iter().all(|stem| value_stems.next().is_some_and(|other| other == **stem)) {
                continue;
            }
            let quality = if misspelt {
                MatchQuality::Fuzzy
            } else if question[words[start].start..words[end - 1].end] == **text {
                MatchQuality::Exact
            } else if same_words {
                MatchQuality::Case
            } else {
                MatchQuality::Lemma
            };
            candidates.push(ValueCandidate {
                text: text.to_string(),
                number: None,
                kind: ValueKind::Cell,
                columns: columns.clone(),
                span,
                quality,
            });
        }
    }

    /// The same with one word of the stretch put right.
    fn look_up_misspelt(
        &self,
        question: &str,
        words: &[Token],
        stems: &[String],
        candidates: &mut Vec<ValueCandidate>,
    ) {
        let mut corrected = stems.to_vec();
        for (at, word) in words.iter().enumerate() {
            if word.is_digits() || self.known_stems.contains(&hash_stems([stems[at].as_str()].into_iter())) {
                continue;
            }
            for neighbour in self.spelling.neighbours(&word.text) {
                corrected[at] = snowball_stem(neighbour);
                for start in (at + 1).saturating_sub(LONGEST_SPAN)..=at {
                    for end in at + 1..=words.len().min(start + LONGEST_SPAN) {
                        self.look_up(question, words, &corrected, (start, end), true, candidates);
                    }
                }
            }
            corrected[at].clone_from(&stems[at]);
        }
    }

    fn with_columns(&self, quantity: Quantity) -> ValueCandidate {
        let Quantity { kind, text, number, span, literal } = quantity;
        let columns = match number {
            Some(number) => self.numbers.get(&number_key(number)).cloned().unwrap_or_default(),
            None => self.columns_with(&text),
        };
        let quality = if literal { MatchQuality::Exact } else { MatchQuality::Lemma };
        ValueCandidate { text, number, kind, columns, span, quality }
    }

    /// The columns that have exactly this text.
    fn columns_with(&self, text: &str) -> Vec<ColumnId> {
        let words = tokens(text);
        let stems: Vec<_> = words.iter().map(|word| snowball_stem(&word.text)).collect();
        let hash = hash_stems(stems.iter().map(AsRef::as_ref));
        let first = self.by_stems.partition_point(|&(stems, _)| stems < hash);
        let mut same = self.by_stems[first..].iter().take_while(|&&(stems, _)| stems == hash);
        let found = same.find(|&&(_, index)| *self.values[index as usize].0 == *text);
        found.map(|&(_, index)| self.values[index as usize].1.clone()).unwrap_or_default()
    }
}

/// The same for numbers that are equal; the two zeros are.
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
