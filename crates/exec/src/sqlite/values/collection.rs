//! Collecting the values of a database: one pass over each table, all its columns at once.

use super::spelling::Spelling;
use super::{LONGEST_SPAN, ValueIndex, ValueLimits, hash_stems, number_key};
use crate::Fault;
use crate::sqlite::guard::{Allowance, Session};
use crate::sqlite::tables::quoted;
use rusqlite::types::ValueRef;
use rustc_hash::{FxHashMap, FxHashSet};
use std::time::Duration;
use xpr_lang::sql::{ColumnId, ColumnType, Schema, TableId};
use xpr_text::{snowball_stem, tokens};

/// What reading a table may take: some million rows.
const A_TABLE: Allowance = Allowance { steps: 50_000_000, time: Duration::from_secs(20), memory: 32 << 20 };

/// An index being made.
#[derive(Default)]
pub(super) struct Collection {
    limits: ValueLimits,
    indices: FxHashMap<Box<str>, u32>,
    columns: Vec<Vec<ColumnId>>,
    numbers: FxHashMap<u64, Vec<ColumnId>>,
    partly_known: Vec<ColumnId>,
}

/// What is known so far of one column.
struct ColumnValues {
    id: ColumnId,
    /// Numbers are few or left out; texts are kept as far as there is room.
    is_number: bool,
    texts: usize,
    numbers: FxHashSet<u64>,
    full: bool,
}

impl Collection {
    /// Nothing yet, and never more than this.
    pub(super) fn new(limits: ValueLimits) -> Collection {
        Collection { limits, ..Collection::default() }
    }

    /// Adds the values of a table.
    pub(super) fn add_table(&mut self, session: &Session, schema: &Schema, id: TableId) {
        let table = schema.table(id);
        let mut columns: Vec<ColumnValues> = table
            .columns
            .iter()
            .enumerate()
            .map(|(column, contents)| ColumnValues {
                id: ColumnId { table: id, column: column as u32 },
                is_number: contents.ty == ColumnType::Number,
                texts: 0,
                numbers: FxHashSet::default(),
                full: false,
            })
            .collect();
        let names: Vec<String> = table.columns.iter().map(|column| quoted(&column.name, '"')).collect();
        let sql = format!("SELECT {} FROM {}", names.join(", "), quoted(&table.name, '"'));
        // A table that takes too long, or a hostile view, is known by the rows it gave until then.
        let read = session.run(&sql, A_TABLE, |row, _| {
            let mut room = false;
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
                room |= !column.full;
            }
            if room { Ok(()) } else { Err(Fault::Limit("values")) }
        });
        let cut_off = columns.iter().filter(|column| column.full || read.is_err());
        self.partly_known.extend(cut_off.map(|column| column.id));
        for column in columns.iter().filter(|column| column.numbers.len() <= self.limits.numbers_per_column) {
            for &number in &column.numbers {
                self.numbers.entry(number).or_default().push(column.id);
            }
        }
    }

    fn add_text(&mut self, column: &mut ColumnValues, bytes: &[u8]) {
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
        // Tables come one after the other, so a repetition is among the last few.
        let columns = &mut self.columns[index];
        let mut of_this_table = columns.iter().rev().take_while(|other| other.table == column.id.table);
        if !of_this_table.any(|other| *other == column.id) {
            columns.push(column.id);
            column.texts += 1;
            column.full = column.texts >= self.limits.values_per_column;
        }
    }

    fn add_number(&self, column: &mut ColumnValues, number: f64) {
        if column.numbers.len() <= self.limits.numbers_per_column {
            column.numbers.insert(number_key(number));
        } else {
            // A column of numbers with too many has nothing more to give; another may still have texts.
            column.full |= column.is_number;
        }
    }

    /// The index of all that was added.
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
        let Collection { numbers, partly_known, .. } = self;
        ValueIndex { values, by_stems, numbers, partly_known, known_stems, spelling }
    }
}
