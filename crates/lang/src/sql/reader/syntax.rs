//! The syntax of the dialects, for `sqlparser`.

use sqlparser::dialect::{Dialect, SQLiteDialect};
use std::any::TypeId;

/// The dialect that `sqlparser` has for SQLite, without `MATCH` and `REGEXP`: its code for these panics on bad syntax,
/// and a tree cannot represent them.
#[derive(Debug)]
pub(super) struct Sqlite;

impl Dialect for Sqlite {
    fn dialect(&self) -> TypeId {
        TypeId::of::<SQLiteDialect>()
    }

    fn is_delimited_identifier_start(&self, character: char) -> bool {
        matches!(character, '`' | '"' | '[')
    }

    fn is_identifier_start(&self, character: char) -> bool {
        character.is_ascii_alphabetic() || character == '_' || !character.is_ascii()
    }

    fn is_identifier_part(&self, character: char) -> bool {
        self.is_identifier_start(character) || character.is_ascii_digit() || character == '$'
    }

    fn supports_filter_during_aggregation(&self) -> bool {
        true
    }

    fn supports_in_empty_list(&self) -> bool {
        true
    }

    fn supports_limit_comma(&self) -> bool {
        true
    }

    fn supports_notnull_operator(&self) -> bool {
        true
    }
}

/// The syntax of PostgreSQL, as far as one `SELECT` needs it. It has a type of its own, so that `sqlparser` does not read the
/// kinds of strings and operators that a tree cannot represent.
#[derive(Debug)]
pub(super) struct Postgres;

impl Dialect for Postgres {
    fn is_delimited_identifier_start(&self, character: char) -> bool {
        matches!(character, '`' | '"')
    }

    fn is_identifier_start(&self, character: char) -> bool {
        Sqlite.is_identifier_start(character)
    }

    fn is_identifier_part(&self, character: char) -> bool {
        Sqlite.is_identifier_part(character)
    }

    fn supports_filter_during_aggregation(&self) -> bool {
        true
    }

    fn supports_nested_comments(&self) -> bool {
        true
    }
}
