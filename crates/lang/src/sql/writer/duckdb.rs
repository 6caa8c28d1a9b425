//! What DuckDB writes in another way than PostgreSQL.
//!
//! The settings of a connection make DuckDB do with the rest what SQLite does: the order of NULLs, the quotient of whole
//! numbers, and that by zero.

use super::{QueryText, SourceNames};
use crate::sql::dialect::Dialect;
use crate::sql::function::ScalarFunction;
use crate::sql::operator::{ArithmeticOperator, CastType};
use crate::sql::query::Expr;

impl QueryText<'_> {
    /// Writes an expression that DuckDB writes in another way than PostgreSQL. Returns whether it is one, and the dialect is
    /// DuckDB's.
    pub(super) fn is_written_for_duckdb(&mut self, expr: &Expr, names: &SourceNames<'_>) -> bool {
        if self.schema.dialect != Dialect::DuckDb {
            return false;
        }
        match expr {
            Expr::Arithmetic(ArithmeticOperator::Divide, sides) => self.infix("/", sides, names),
            // Without digits, a decimal has three after the point.
            Expr::Cast(CastType::Numeric, expr) => {
                self.out.push_str("CAST(");
                self.expr(expr, names);
                self.out.push_str(" AS DECIMAL(38, 10))");
            }
            Expr::Call(function, arguments) => return self.duckdb_call(*function, arguments, names),
            _ => return false,
        }
        true
    }

    fn duckdb_call(&mut self, function: ScalarFunction, arguments: &[Expr], names: &SourceNames<'_>) -> bool {
        match (function.name(), arguments) {
            ("round", _) => {
                self.out.push_str("ROUND(");
                self.list(arguments, names);
            }
            // The formats of both begin with `%`.
            ("strftime", [format, time]) => {
                self.out.push_str("STRFTIME(");
                self.time(time, names);
                self.out.push_str(", ");
                self.expr(format, names);
            }
            _ => return false,
        }
        self.out.push(')');
        true
    }
}
