//! Collecting the values of a database, in one pass over each table.

use super::spelling::Spelling;
use super::{LONGEST_SPAN, ValueIndex, ValueLimits, hash_stems, number_key};
use super::{TableReading, ValueReader};
use crate::Fault;
use crate::database::Cell;
use rustc_hash::{FxHashMap, FxHashSet};
use xpr_lang::sql::{ColumnId, ColumnType, Schema, TableId};
use xpr_text::{snowball_stem, tokens};

/// A builder of a [`ValueIndex`].
pub(super) struct Collection {
    limits: ValueLimits,
    /// The index of each distinct text.
    indices: FxHashMap<Box<str>, u32>,
    /// The columns that have each text, by index.
    columns: Vec<Vec<ColumnId>>,
    numbers: FxHashMap<u64, Vec<ColumnId>>,
    incomplete_columns: Vec<ColumnId>,
    ranges: Vec<(ColumnId, [f64; 2])>,
    tables_with_oversized_cells: Vec<TableId>,
    sampled_tables: Vec<TableId>,
    failures: Vec<(TableId, String)>,
}

/// The state of one column while its table is read.
struct ColumnState {
    id: ColumnId,
    /// Whether the column is of type [`ColumnType::Number`].
    is_number: bool,
    /// The indices of the texts.
    texts: FxHashSet<u32>,
    numbers: FxHashSet<u64>,
    /// Whether a limit is reached, so that the rest of the column is not read.
    full: bool,
}

impl Collection {
    /// Returns an empty collection with these limits.
    pub(super) fn new(limits: ValueLimits) -> Collection {
        Collection {
            limits,
            indices: FxHashMap::default(),
            columns: Vec::new(),
            numbers: FxHashMap::default(),
            incomplete_columns: Vec::new(),
            ranges: Vec::new(),
            tables_with_oversized_cells: Vec::new(),
            sampled_tables: Vec::new(),
            failures: Vec::new(),
        }
    }

    /// Adds the values of a table.
    pub(super) fn add_table(&mut self, reader: &mut dyn ValueReader, schema: &Schema, id: TableId) {
        let table = schema.table(id);
        let mut columns: Vec<ColumnState> = table
            .columns
            .iter()
            .enumerate()
            .map(|(column, contents)| ColumnState {
                id: ColumnId { table: id, column: column as u32 },
                is_number: contents.ty == ColumnType::Number,
                texts: FxHashSet::default(),
                numbers: FxHashSet::default(),
                full: false,
            })
            .collect();
        let TableReading { to_end, has_oversized_cells, is_sampled, failure } =
            reader.rows(schema, id, &mut |row| self.add_row(&mut columns, row));
        if has_oversized_cells {
            self.tables_with_oversized_cells.push(id);
        }
        if is_sampled {
            self.sampled_tables.push(id);
        }
        self.failures.extend(failure.map(|failure| (id, failure)));
        let incomplete = columns.iter().filter(|column| column.full || !to_end);
        self.incomplete_columns.extend(incomplete.map(|column| column.id));
        // The least and the greatest numbers are read apart from the values, because a column has more numbers than the index
        // keeps.
        self.ranges.extend(reader.ranges(schema, id));
        for column in columns.iter().filter(|column| column.numbers.len() <= self.limits.numbers_per_column) {
            for &number in &column.numbers {
                self.numbers.entry(number).or_default().push(column.id);
            }
        }
    }

    /// Adds the values of a row.
    fn add_row(&mut self, columns: &mut [ColumnState], row: &[Cell<'_>]) -> Result<(), Fault> {
        let mut all_full = true;
        for (index, column) in columns.iter_mut().enumerate() {
            if column.full {
                continue;
            }
            match row.get(index).copied().unwrap_or(Cell::Null) {
                Cell::Text(bytes) => self.add_text(column, bytes),
                Cell::Integer(integer) => self.add_number(column, integer as f64),
                Cell::Real(real) => self.add_number(column, real),
                Cell::Null | Cell::Blob(_) => {}
            }
            all_full &= column.full;
        }
        if all_full { Err(Fault::Limit("values")) } else { Ok(()) }
    }

    fn add_text(&mut self, column: &mut ColumnState, bytes: &[u8]) {
        let Ok(text) = std::str::from_utf8(bytes) else { return };
        if text.len() > self.limits.longest {
            return;
        }
        let known = self.indices.get(text).copied();
        let index = match known {
            Some(index) => index,
            None => {
                if self.columns.len() >= self.limits.values {
                    column.full = true;
                    return;
                }
                let index = self.columns.len() as u32;
                self.indices.insert(text.into(), index);
                self.columns.push(Vec::new());
                index
            }
        };
        // A text can be in all columns of a wide table, so they are not looked through.
        if column.texts.insert(index) {
            self.columns[index as usize].push(column.id);
            column.full = column.texts.len() >= self.limits.values_per_column;
        }
    }

    fn add_number(&self, column: &mut ColumnState, number: f64) {
        if column.numbers.len() <= self.limits.numbers_per_column {
            column.numbers.insert(number_key(number));
        } else {
            // A column with too many numbers is done if it has only numbers; another may still have texts.
            column.full |= column.is_number;
        }
    }

    /// Returns the index of all values that were added.
    pub(super) fn finish(self) -> ValueIndex {
        let mut values: Vec<(Box<str>, Vec<ColumnId>)> = Vec::with_capacity(self.columns.len());
        let mut texts: Vec<(Box<str>, u32)> = self.indices.into_iter().collect();
        texts.sort_unstable_by_key(|&(_, index)| index);
        let mut by_stems = Vec::new();
        let mut known_stems = FxHashSet::default();
        let mut vocabulary: FxHashSet<Box<str>> = FxHashSet::default();
        for ((text, _), mut columns) in texts.into_iter().zip(self.columns) {
            columns.sort_unstable();
            columns.shrink_to_fit();
            let words = tokens(&text);
            if words.is_empty() || words.len() > LONGEST_SPAN {
                continue;
            }
            let stems: Vec<_> = words.iter().map(|word| snowball_stem(&word.text)).collect();
            known_stems.extend(stems.iter().map(|stem| hash_stems([stem.as_str()].into_iter())));
            by_stems.push((hash_stems(stems.iter().map(String::as_str)), values.len() as u32));
            vocabulary
                .extend(words.iter().filter(|word| !word.is_digits()).map(|word| word.text.as_str().into()));
            values.push((text, columns));
        }
        by_stems.sort_unstable();
        let spelling = Spelling::new(vocabulary.into_iter());
        let Collection {
            numbers,
            incomplete_columns,
            ranges,
            tables_with_oversized_cells,
            sampled_tables,
            failures,
            ..
        } = self;
        ValueIndex {
            values,
            by_stems,
            numbers,
            incomplete_columns,
            ranges,
            tables_with_oversized_cells,
            sampled_tables,
            failures,
            known_stems,
            spelling,
        }
    }
}
