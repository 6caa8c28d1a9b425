//! Collecting the values of a database, in one pass over each table.

use super::spelling::Spelling;
use super::{LONGEST_SPAN, ValueIndex, ValueLimits, hash_stems, number_key};
use crate::Fault;
use crate::sqlite::guard::{Allowance, Session};
use crate::sqlite::patience::Patience;
use crate::sqlite::tables::{OVERSIZED, quoted, without_oversized_cells};
use rusqlite::Row;
use rusqlite::types::ValueRef;
use rustc_hash::{FxHashMap, FxHashSet};
use std::time::Duration;
use xpr_lang::sql::{ColumnId, ColumnType, Schema, TableId};
use xpr_text::{snowball_stem, tokens};

/// The limits of reading a table, which are enough for some million rows. They decide which values of larger tables are
/// in the index.
const TABLE_LIMITS: Allowance =
    Allowance { steps: 50_000_000, time: Duration::from_secs(20), memory: 32 << 20 };

/// The number of tables that may exceed these limits.
const STOPPED_TABLES: usize = 20;

/// A builder of a [`ValueIndex`].
pub(super) struct Collection {
    limits: ValueLimits,
    patience: Patience,
    /// The index of each distinct text.
    indices: FxHashMap<Box<str>, u32>,
    /// The columns that have each text, by index.
    columns: Vec<Vec<ColumnId>>,
    numbers: FxHashMap<u64, Vec<ColumnId>>,
    incomplete_columns: Vec<ColumnId>,
    ranges: Vec<(ColumnId, [f64; 2])>,
    tables_with_oversized_cells: Vec<TableId>,
}

/// The state of one column while its table is read.
struct ColumnState {
    id: ColumnId,
    /// Whether the column is of type [`ColumnType::Number`].
    is_number: bool,
    /// The number of distinct texts.
    texts: usize,
    numbers: FxHashSet<u64>,
    /// Whether a limit is reached, so that the rest of the column is not read.
    full: bool,
}

impl Collection {
    /// Returns an empty collection with these limits.
    pub(super) fn new(limits: ValueLimits) -> Collection {
        Collection {
            limits,
            patience: Patience::new(TABLE_LIMITS, STOPPED_TABLES),
            indices: FxHashMap::default(),
            columns: Vec::new(),
            numbers: FxHashMap::default(),
            incomplete_columns: Vec::new(),
            ranges: Vec::new(),
            tables_with_oversized_cells: Vec::new(),
        }
    }

    /// Adds the values of a table.
    pub(super) fn add_table(&mut self, session: &Session, schema: &Schema, id: TableId) {
        let table = schema.table(id);
        let mut columns: Vec<ColumnState> = table
            .columns
            .iter()
            .enumerate()
            .map(|(column, contents)| ColumnState {
                id: ColumnId { table: id, column: column as u32 },
                is_number: contents.ty == ColumnType::Number,
                texts: 0,
                numbers: FxHashSet::default(),
                full: false,
            })
            .collect();
        let allowance = self.patience.allowance();
        let names: Vec<String> = table.columns.iter().map(|column| quoted(&column.name, '"')).collect();
        let mut read = |selected: &str| {
            let sql = format!("SELECT {selected} FROM {}", quoted(&table.name, '"'));
            // If the table takes too long or is a hostile view, only the rows before that count.
            session.run(&sql, allowance, |row, _| self.add_row(&mut columns, row))
        };
        let mut read_to_end = read(&names.join(", "));
        if read_to_end == Err(OVERSIZED) {
            // Rows that were added before are known and add nothing.
            read_to_end = read(&without_oversized_cells(table));
            // A view can be too large itself, whatever its cells are.
            if read_to_end != Err(OVERSIZED) {
                self.tables_with_oversized_cells.push(id);
            }
        }
        self.patience.record(&read_to_end);
        let incomplete = columns.iter().filter(|column| column.full || read_to_end.is_err());
        self.incomplete_columns.extend(incomplete.map(|column| column.id));
        self.add_ranges(session, schema, id);
        for column in columns.iter().filter(|column| column.numbers.len() <= self.limits.numbers_per_column) {
            for &number in &column.numbers {
                self.numbers.entry(number).or_default().push(column.id);
            }
        }
    }

    /// Adds the least and the greatest number of each column of a table that has numbers. They are read apart from the
    /// values, because a column has more numbers than the index keeps.
    fn add_ranges(&mut self, session: &Session, schema: &Schema, id: TableId) {
        let table = schema.table(id);
        let has_numbers =
            |ty: ColumnType| matches!(ty, ColumnType::Number | ColumnType::Time | ColumnType::Boolean);
        let columns: Vec<u32> = (0..)
            .zip(&table.columns)
            .filter(|(_, column)| has_numbers(column.ty))
            .map(|(index, _)| index)
            .collect();
        if columns.is_empty() {
            return;
        }
        let extremes: Vec<String> = columns
            .iter()
            .map(|&column| {
                let name = quoted(&table.columns[column as usize].name, '"');
                // Every number comes before every text.
                let number = format!("CASE WHEN {name} < '' THEN {name} END");
                format!("min({number}), max({number})")
            })
            .collect();
        let sql = format!("SELECT {} FROM {}", extremes.join(", "), quoted(&table.name, '"'));
        let number = |row: &Row<'_>, index: usize| match row.get_ref(index) {
            Ok(ValueRef::Integer(integer)) => Some(integer as f64),
            Ok(ValueRef::Real(real)) => Some(real),
            _ => None,
        };
        let mut ranges = Vec::new();
        let read_to_end = session.run(&sql, self.patience.allowance(), |row, _| {
            for (index, &column) in columns.iter().enumerate() {
                if let (Some(least), Some(greatest)) = (number(row, 2 * index), number(row, 2 * index + 1)) {
                    ranges.push((ColumnId { table: id, column }, [least, greatest]));
                }
            }
            Ok(())
        });
        self.patience.record(&read_to_end);
        if read_to_end.is_ok() {
            self.ranges.append(&mut ranges);
        }
    }

    /// Adds the values of a row.
    fn add_row(&mut self, columns: &mut [ColumnState], row: &Row<'_>) -> Result<(), Fault> {
        let mut all_full = true;
        for (index, column) in columns.iter_mut().enumerate() {
            if column.full {
                continue;
            }
            match row.get_ref(index).unwrap_or(ValueRef::Null) {
                ValueRef::Text(bytes) => self.add_text(column, bytes),
                ValueRef::Integer(integer) => self.add_number(column, integer as f64),
                ValueRef::Real(real) => self.add_number(column, real),
                ValueRef::Null | ValueRef::Blob(_) => {}
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
            Some(index) => index as usize,
            None => {
                if self.columns.len() >= self.limits.values {
                    column.full = true;
                    return;
                }
                self.indices.insert(text.into(), self.columns.len() as u32);
                self.columns.push(Vec::new());
                self.columns.len() - 1
            }
        };
        // Tables are read one after the other, so if this column is listed already, it is among the last ones.
        let columns = &mut self.columns[index];
        let mut of_this_table = columns.iter().rev().take_while(|other| other.table == column.id.table);
        if !of_this_table.any(|other| *other == column.id) {
            columns.push(column.id);
            column.texts += 1;
            column.full = column.texts >= self.limits.values_per_column;
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
        let Collection { numbers, incomplete_columns, ranges, tables_with_oversized_cells, .. } = self;
        ValueIndex {
            values,
            by_stems,
            numbers,
            incomplete_columns,
            ranges,
            tables_with_oversized_cells,
            known_stems,
            spelling,
        }
    }
}
