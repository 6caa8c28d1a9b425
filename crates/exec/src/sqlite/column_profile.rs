//! What the cells of a column hold, whatever it is declared to hold.
//!
//! SQLite does not enforce declarations: a column of type `text` may hold numbers, and one without a type anything. So a
//! sample of the cells is looked at, and where declaration and contents disagree the contents win.

use rusqlite::types::ValueRef;
use rustc_hash::FxHasher;
use std::hash::Hasher;
use xpr_lang::sql::ColumnType;

/// What a sample of a column's cells holds.
#[derive(Clone, Debug, Default)]
pub(super) struct ColumnProfile {
    numbers: usize,
    /// Whole numbers that are 0 or 1.
    bits: usize,
    texts: usize,
    /// Texts that spell a number.
    numeric_texts: usize,
    /// Texts that spell a date or a time.
    time_texts: usize,
    blobs: usize,
    /// One for each cell that holds something; after [`ColumnProfile::finish`] sorted and without repetitions.
    hashes: Vec<u64>,
    /// Whether no two cells hold the same.
    unique: bool,
}

impl ColumnProfile {
    /// Takes a cell into account.
    pub(super) fn add(&mut self, cell: ValueRef<'_>) {
        match cell {
            ValueRef::Null => return,
            ValueRef::Integer(integer) => {
                self.numbers += 1;
                self.bits += usize::from((0..=1).contains(&integer));
            }
            ValueRef::Real(_) => self.numbers += 1,
            ValueRef::Text(bytes) => {
                self.texts += 1;
                self.numeric_texts += usize::from(is_number(bytes));
                self.time_texts += usize::from(is_time(bytes));
            }
            ValueRef::Blob(_) => self.blobs += 1,
        }
        self.hashes.push(hash(cell));
    }

    /// To be called when the last cell was added.
    pub(super) fn finish(&mut self) {
        let cells = self.hashes.len();
        self.hashes.sort_unstable();
        self.hashes.dedup();
        self.hashes.shrink_to_fit();
        self.unique = self.hashes.len() == cells;
    }

    /// Whether no two cells of the sample hold the same.
    pub(super) fn is_unique(&self) -> bool {
        self.unique
    }

    /// How many different values the sample has.
    pub(super) fn distinct(&self) -> usize {
        self.hashes.len()
    }

    /// Whether most values are words.
    pub(super) fn is_textual(&self) -> bool {
        self.texts - self.numeric_texts > self.cells() / 2
    }

    fn cells(&self) -> usize {
        self.numbers + self.texts + self.blobs
    }

    /// The share of this column's values that the other has as well, judged by at most two hundred of them.
    pub(super) fn share_in(&self, other: &ColumnProfile) -> f32 {
        let every = self.hashes.len().div_ceil(200).max(1);
        let looked_at = self.hashes.iter().step_by(every);
        let (mut all, mut shared) = (0, 0);
        for hash in looked_at {
            all += 1;
            shared += usize::from(other.hashes.binary_search(hash).is_ok());
        }
        if all == 0 { 0.0 } else { shared as f32 / all as f32 }
    }

    /// What the column holds, declared as it is.
    pub(super) fn column_type(&self, declaration: &str) -> ColumnType {
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
            // Blobs, a mixture, or texts that all spell numbers: they sort as words and look like numbers.
            ColumnType::Other
        };
        match (declared, contents) {
            // Numbers stand for truth and for time as well, and only the declaration says so.
            (Some(ColumnType::Boolean), ColumnType::Number) if self.bits == cells => ColumnType::Boolean,
            (Some(ColumnType::Boolean), ColumnType::Text) if self.distinct() <= 2 => ColumnType::Boolean,
            (Some(ColumnType::Time), ColumnType::Number) => ColumnType::Time,
            (_, contents) => contents,
        }
    }
}

/// What a declaration promises, by the words SQLite itself looks for and those people use.
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
    // The parser of floats takes `inf` and `nan` too.
    text.ends_with(|c: char| c.is_ascii_digit() || c == '.') && text.parse::<f64>().is_ok()
}

/// `2015-01-03`, with a time behind or not; `10:30`, `10:30:00`.
fn is_time(bytes: &[u8]) -> bool {
    let shape = |pattern: &[u8]| {
        bytes.len() >= pattern.len()
            && pattern.iter().zip(bytes).all(|(p, b)| if *p == b'0' { b.is_ascii_digit() } else { p == b })
    };
    let date = shape(b"0000-00-00") && bytes.get(10).is_none_or(|&next| next == b' ' || next == b'T');
    date || (shape(b"00:00") && bytes.get(5).is_none_or(|&next| next == b':') && bytes.len() <= 12)
}

/// The same for cells that SQL calls equal: a whole real number is the integer.
fn hash(cell: ValueRef<'_>) -> u64 {
    let mut hasher = FxHasher::default();
    match cell {
        ValueRef::Null => {}
        ValueRef::Integer(integer) => hasher.write_i64(integer),
        ValueRef::Real(real) if real.fract() == 0.0 && real.abs() < 9e15 => hasher.write_i64(real as i64),
        ValueRef::Real(real) => {
            hasher.write_u8(1);
            hasher.write_u64(real.to_bits());
        }
        ValueRef::Text(bytes) => {
            hasher.write_u8(2);
            hasher.write(bytes);
        }
        ValueRef::Blob(bytes) => {
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
    fn contents_win_over_declarations() {
        let text = |text: &'static str| ValueRef::Text(text.as_bytes());
        let one = ValueRef::Integer(1);
        let cases: [(&str, Vec<ValueRef<'_>>, ColumnType); 16] = [
            ("TEXT", vec![text("a"), text("7")], ColumnType::Text),
            ("TEXT", vec![text("734"), text("-2.5")], ColumnType::Other),
            ("varchar(3)", vec![text("usa")], ColumnType::Text),
            ("", vec![text("usa"), ValueRef::Null], ColumnType::Text),
            ("", vec![], ColumnType::Other),
            ("INT", vec![], ColumnType::Number),
            ("INT", vec![text("many")], ColumnType::Text),
            ("INT", vec![text("many"), one], ColumnType::Other),
            ("DOUBLE", vec![one, ValueRef::Real(2.5)], ColumnType::Number),
            ("BOOLEAN", vec![one, ValueRef::Integer(0)], ColumnType::Boolean),
            ("BOOLEAN", vec![one, ValueRef::Integer(3)], ColumnType::Number),
            ("BOOLEAN", vec![text("yes"), text("no"), text("no")], ColumnType::Boolean),
            ("TEXT", vec![text("2015-01-03"), text("2015-01-03T10:00:00")], ColumnType::Time),
            ("DATETIME", vec![one], ColumnType::Time),
            ("TIME", vec![text("10:30")], ColumnType::Time),
            ("BLOB", vec![ValueRef::Blob(&[1])], ColumnType::Other),
        ];
        for (declaration, cells, expected) in cases {
            let mut profile = ColumnProfile::default();
            cells.iter().for_each(|&cell| profile.add(cell));
            profile.finish();
            assert_eq!(profile.column_type(declaration), expected, "{declaration} {cells:?}");
        }
    }
}
