//! The type of a column, from a sample of its cells and its declaration.
//!
//! SQLite does not enforce declarations: a column of type `text` may hold numbers, and a column without a type anything.
//! Where the declaration and the cells disagree, the cells win.

use super::cell::Cell;
use rustc_hash::FxHasher;
use std::hash::Hasher;
use xpr_lang::sql::ColumnType;

/// Values of a column that are looked for in another, to estimate the share that is there: evenly spaced ones, in order
/// of their hashes. More would make inferred foreign keys more certain, and reading a schema slower.
const COMPARED_VALUES: usize = 200;

/// Counts of what a sample of a column's cells holds.
#[derive(Clone, Debug, Default)]
pub(crate) struct ColumnProfile {
    numbers: usize,
    /// Integers that are 0 or 1.
    bits: usize,
    texts: usize,
    /// Texts that are a number.
    numeric_texts: usize,
    /// Texts that are a date or a time.
    time_texts: usize,
    blobs: usize,
    /// The hash of each cell that is not NULL. After [`ColumnProfile::finish`] they are sorted and distinct.
    hashes: Vec<u64>,
    /// Whether all cells that are not NULL differ.
    unique: bool,
}

impl ColumnProfile {
    /// Adds a cell.
    pub(crate) fn add(&mut self, cell: Cell<'_>) {
        match cell {
            Cell::Null => return,
            Cell::Integer(integer) => {
                self.numbers += 1;
                self.bits += usize::from((0..=1).contains(&integer));
            }
            Cell::Real(_) => self.numbers += 1,
            Cell::Text(bytes) => {
                self.texts += 1;
                self.numeric_texts += usize::from(is_number(bytes));
                self.time_texts += usize::from(is_time(bytes));
            }
            Cell::Blob(_) => self.blobs += 1,
        }
        self.hashes.push(hash(cell));
    }

    /// Must be called after the last cell was added.
    pub(crate) fn finish(&mut self) {
        let cells = self.hashes.len();
        self.hashes.sort_unstable();
        self.hashes.dedup();
        self.hashes.shrink_to_fit();
        self.unique = self.hashes.len() == cells;
    }

    /// Returns whether all cells of the sample that are not NULL differ.
    pub(crate) fn is_unique(&self) -> bool {
        self.unique
    }

    /// Returns the number of distinct values in the sample.
    pub(crate) fn distinct(&self) -> usize {
        self.hashes.len()
    }

    /// Returns whether most cells are texts that are not numbers.
    pub(crate) fn is_textual(&self) -> bool {
        self.texts - self.numeric_texts > self.cells() / 2
    }

    fn cells(&self) -> usize {
        self.numbers + self.texts + self.blobs
    }

    /// Returns the hashes of all values.
    pub(crate) fn values(&self) -> impl Iterator<Item = u64> {
        self.hashes.iter().copied()
    }

    /// Returns the hashes of the values that are looked for in other columns.
    pub(crate) fn compared_values(&self) -> impl ExactSizeIterator<Item = u64> {
        let step = self.hashes.len().div_ceil(COMPARED_VALUES).max(1);
        self.hashes.iter().copied().step_by(step)
    }

    /// Returns the share of this column's values that `other` has as well, estimated by [`COMPARED_VALUES`] of them; `None` if it
    /// is less than `least`.
    pub(crate) fn share_in(&self, other: &ColumnProfile, least: f32) -> Option<f32> {
        let values = self.compared_values();
        let all = values.len();
        let share = |shared: usize| shared as f32 / all as f32;
        let mut shared = all;
        for hash in values {
            if other.hashes.binary_search(&hash).is_err() {
                shared -= 1;
                // Most columns have nothing in common, which the first values tell.
                if share(shared) < least {
                    return None;
                }
            }
        }
        (all > 0).then(|| share(shared))
    }

    /// Returns the type of the column with this declared type.
    pub(crate) fn column_type(&self, declaration: &str) -> ColumnType {
        let declared = declared_type(declaration);
        let cells = self.cells();
        if cells == 0 {
            return declared.unwrap_or(ColumnType::Other);
        }
        let contents = if self.numbers == cells {
            ColumnType::Number
        } else if self.time_texts == cells {
            ColumnType::Time
        } else if self.texts == cells && self.numeric_texts < cells {
            ColumnType::Text
        } else {
            // Blobs, a mixture, or texts that are all numbers: they look like numbers but sort as texts.
            ColumnType::Other
        };
        match (declared, contents) {
            // Numbers can be booleans and times, and only the declaration tells.
            (Some(ColumnType::Boolean), ColumnType::Number) if self.bits == cells => ColumnType::Boolean,
            (Some(ColumnType::Boolean), ColumnType::Text) if self.distinct() <= 2 => ColumnType::Boolean,
            (Some(ColumnType::Time), ColumnType::Number) => ColumnType::Time,
            (_, contents) => contents,
        }
    }
}

/// Returns the type for a declared one, which is recognised by the words that SQLite looks for and some others.
fn declared_type(declaration: &str) -> Option<ColumnType> {
    const WORDS: [(&str, ColumnType); 14] = [
        ("bool", ColumnType::Boolean),
        ("bit", ColumnType::Boolean),
        ("date", ColumnType::Time),
        ("time", ColumnType::Time),
        ("int", ColumnType::Number),
        ("real", ColumnType::Number),
        ("floa", ColumnType::Number),
        ("doub", ColumnType::Number),
        ("num", ColumnType::Number),
        ("dec", ColumnType::Number),
        ("char", ColumnType::Text),
        ("clob", ColumnType::Text),
        ("text", ColumnType::Text),
        ("string", ColumnType::Text),
    ];
    let declaration = declaration.to_ascii_lowercase();
    WORDS.iter().find(|(word, _)| declaration.contains(word)).map(|&(_, ty)| ty)
}

fn is_number(bytes: &[u8]) -> bool {
    let text = std::str::from_utf8(bytes).unwrap_or_default().trim();
    // Rust also parses `inf` and `nan`.
    text.ends_with(|c: char| c.is_ascii_digit() || c == '.') && text.parse::<f64>().is_ok()
}

/// Returns whether a text is like `2015-01-03`, `2015-01-03 10:30`, `10:30` or `10:30:00`.
fn is_time(bytes: &[u8]) -> bool {
    let shape = |pattern: &[u8]| {
        bytes.len() >= pattern.len()
            && pattern.iter().zip(bytes).all(|(p, b)| if *p == b'0' { b.is_ascii_digit() } else { p == b })
    };
    let date = shape(b"0000-00-00") && bytes.get(10).is_none_or(|&next| next == b' ' || next == b'T');
    date || (shape(b"00:00") && bytes.get(5).is_none_or(|&next| next == b':') && bytes.len() <= 12)
}

/// Returns a hash that is the same for cells that are equal in SQL: a real number without fraction equals an integer.
fn hash(cell: Cell<'_>) -> u64 {
    let mut hasher = FxHasher::default();
    match cell {
        Cell::Null => {}
        Cell::Integer(integer) => hasher.write_i64(integer),
        Cell::Real(real) if real.fract() == 0.0 && real.abs() < 9e15 => hasher.write_i64(real as i64),
        Cell::Real(real) => {
            hasher.write_u8(1);
            hasher.write_u64(real.to_bits());
        }
        Cell::Text(bytes) => {
            hasher.write_u8(2);
            hasher.write(bytes);
        }
        Cell::Blob(bytes) => {
            hasher.write_u8(3);
            hasher.write(bytes);
        }
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_win_over_declarations() {
        let text = |text: &'static str| Cell::Text(text.as_bytes());
        let one = Cell::Integer(1);
        let cases: [(&str, Vec<Cell<'_>>, ColumnType); 16] = [
            ("TEXT", vec![text("a"), text("7")], ColumnType::Text),
            ("TEXT", vec![text("734"), text("-2.5")], ColumnType::Other),
            ("varchar(3)", vec![text("usa")], ColumnType::Text),
            ("", vec![text("usa"), Cell::Null], ColumnType::Text),
            ("", vec![], ColumnType::Other),
            ("INT", vec![], ColumnType::Number),
            ("INT", vec![text("many")], ColumnType::Text),
            ("INT", vec![text("many"), one], ColumnType::Other),
            ("DOUBLE", vec![one, Cell::Real(2.5)], ColumnType::Number),
            ("BOOLEAN", vec![one, Cell::Integer(0)], ColumnType::Boolean),
            ("BOOLEAN", vec![one, Cell::Integer(3)], ColumnType::Number),
            ("BOOLEAN", vec![text("yes"), text("no"), text("no")], ColumnType::Boolean),
            ("TEXT", vec![text("2015-01-03"), text("2015-01-03T10:00:00")], ColumnType::Time),
            ("DATETIME", vec![one], ColumnType::Time),
            ("TIME", vec![text("10:30")], ColumnType::Time),
            ("BLOB", vec![Cell::Blob(&[1])], ColumnType::Other),
        ];
        for (declaration, cells, expected) in cases {
            let mut profile = ColumnProfile::default();
            cells.iter().for_each(|&cell| profile.add(cell));
            profile.finish();
            assert_eq!(profile.column_type(declaration), expected, "{declaration} {cells:?}");
        }
    }
}
