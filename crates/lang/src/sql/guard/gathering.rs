//! Rows that an engine gathers in memory.
//!
//! Engines sort and join within a limit of memory, and use files for what does not fit. But the rows of `IN (SELECT …)` and
//! the sides of `EXCEPT` are kept in a table in memory whose size was estimated before the query began, so that a wrong
//! estimate has no limit.

use super::{Checked, Guard};
use crate::sql::schema::{ColumnType, TableId};
use sqlparser::ast::{BinaryOperator, Expr, Query, SelectItem, SetExpr, UnaryOperator, Value};

/// Functions whose values are numbers of a few bytes, whatever the arguments are.
const NUMERIC_FUNCTIONS: [&str; 8] =
    ["char_length", "character_length", "count", "date_part", "instr", "length", "octet_length", "strpos"];
/// Types of whole numbers.
const NUMERIC_TYPES: [&str; 6] = ["BIGINT", "INT", "INT4", "INT8", "INTEGER", "SMALLINT"];

/// Rows that an engine may gather in memory, however many there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatheredRows {
    /// The tables whose rows are combined to them.
    pub tables: Vec<TableId>,
    /// Whether they have numbers, times and truth values only.
    pub are_narrow: bool,
}

impl Guard<'_> {
    /// Checks a subquery whose rows may be gathered in memory.
    pub(super) fn gathering_query(&mut self, query: &mut Query) -> Checked {
        let (first, before) = (self.tables.len(), self.common_reads);
        self.query(query)?;
        self.note_gathered(&query.body, first, before);
        Ok(())
    }

    /// Checks a side of `EXCEPT` or `INTERSECT`.
    pub(super) fn gathering_side(&mut self, side: &mut SetExpr) -> Checked {
        let (first, before) = (self.tables.len(), self.common_reads);
        self.body(side)?;
        self.note_gathered(side, first, before);
        Ok(())
    }

    /// Takes note of gathered rows, before which some tables and common table expressions were read.
    fn note_gathered(&mut self, body: &SetExpr, first_table: usize, common_reads: usize) {
        // The rows of a common table expression may be those of any table that was read before.
        let first = if self.common_reads > common_reads { 0 } else { first_table };
        let tables = self.tables[first..].to_vec();
        let are_narrow = match body {
            SetExpr::Select(select) => select.projection.iter().all(|item| match item {
                SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => {
                    self.is_narrow(expr, &tables)
                }
                _ => false,
            }),
            _ => false,
        };
        self.gathered.push(GatheredRows { tables, are_narrow });
    }

    /// Returns whether the value of an expression has a few bytes, whatever the cells are.
    pub(super) fn is_narrow(&self, expr: &Expr, tables: &[TableId]) -> bool {
        use BinaryOperator::{Divide, Minus, Modulo, Multiply, Plus};
        let name = match expr {
            Expr::Nested(inner)
            | Expr::UnaryOp { op: UnaryOperator::Minus | UnaryOperator::Plus, expr: inner } => {
                return self.is_narrow(inner, tables);
            }
            Expr::Value(value) => return matches!(value.value, Value::Number(..)),
            Expr::BinaryOp { left, op: Plus | Minus | Multiply | Divide | Modulo, right } => {
                return self.is_narrow(left, tables) && self.is_narrow(right, tables);
            }
            Expr::Position { .. } | Expr::Extract { .. } => return true,
            Expr::Function(function) => {
                let name = function.name.0.last().map(ToString::to_string).unwrap_or_default();
                return NUMERIC_FUNCTIONS.contains(&name.to_ascii_lowercase().as_str());
            }
            Expr::Cast { data_type, .. } => {
                return NUMERIC_TYPES.contains(&data_type.to_string().to_ascii_uppercase().as_str());
            }
            Expr::Identifier(name) => name,
            Expr::CompoundIdentifier(parts) => match parts.last() {
                Some(name) => name,
                None => return false,
            },
            _ => return false,
        };
        let columns = tables.iter().flat_map(|&table| &self.schema.table(table).columns);
        let mut called = columns.filter(|column| column.name.eq_ignore_ascii_case(&name.value)).peekable();
        called.peek().is_some()
            && called.all(|column| {
                matches!(column.ty, ColumnType::Number | ColumnType::Time | ColumnType::Boolean)
            })
    }
}
