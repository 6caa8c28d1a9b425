//! An answer while it is read: its rows as they are printed, within limits.

use super::cell::Cell;
use super::denotation::{Purpose, print_cell, print_rows};
use super::limits::QueryLimits;
use crate::{Fault, Outcome};

/// An answer while it is read.
pub(crate) struct Answer {
    limits: QueryLimits,
    purpose: Purpose,
    rows: Vec<String>,
    output: usize,
    /// Compared with others, an answer is empty if it has no cell but NULLs: `max` of no rows is a row with NULL.
    is_empty: bool,
}

impl Answer {
    pub(crate) fn new(limits: QueryLimits, purpose: Purpose) -> Answer {
        Answer { limits, purpose, rows: Vec::new(), output: 0, is_empty: true }
    }

    /// Adds a row. Errors if it exceeds a limit, or a cell cannot be read.
    pub(crate) fn add<'c>(
        &mut self,
        cells: impl Iterator<Item = Result<Cell<'c>, Fault>>,
    ) -> Result<(), Fault> {
        if self.rows.len() == self.limits.rows {
            return Err(Fault::Limit("rows"));
        }
        self.is_empty &= self.purpose == Purpose::Comparison;
        let mut text = String::from("(");
        for (column, cell) in cells.enumerate() {
            let cell = cell?;
            self.is_empty &= cell == Cell::Null;
            if column > 0 {
                text.push(' ');
            }
            print_cell(&mut text, cell, self.purpose);
            if self.output + text.len() > self.limits.output {
                return Err(Fault::Limit("output"));
            }
        }
        text.push(')');
        self.output += text.len() + 1;
        self.rows.push(text);
        Ok(())
    }

    /// Returns the outcome of a query with this answer.
    pub(crate) fn finish(self, ordered: bool) -> Outcome {
        if self.is_empty { Outcome::Empty } else { Outcome::Value(print_rows(self.rows, ordered)) }
    }
}
