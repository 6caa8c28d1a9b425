//! The syntax of the dialects, for `sqlparser`.

use super::work::Work;
use sqlparser::ast::Expr;
use sqlparser::dialect::{Dialect, SQLiteDialect};
use sqlparser::keywords::Keyword;
use sqlparser::parser::{Parser, ParserError};
use std::any::TypeId;

/// Words that are no names. After an error, `sqlparser` reads any other word that begins an expression once more as a name,
/// and so does with all that is nested in it: the time doubles at each level.
const RESERVED: [Keyword; 7] = [
    Keyword::CASE,
    Keyword::CAST,
    Keyword::EXISTS,
    Keyword::INTERVAL,
    Keyword::NOT,
    Keyword::STRUCT,
    Keyword::TRIM,
];

fn begins_name(character: char) -> bool {
    character.is_ascii_alphabetic() || character == '_' || !character.is_ascii()
}

fn continues_name(character: char) -> bool {
    begins_name(character) || character.is_ascii_digit() || character == '$'
}

/// The dialect that `sqlparser` has for SQLite, without `MATCH` and `REGEXP`: its code for these panics on bad syntax,
/// and a tree cannot represent them.
#[derive(Debug)]
pub(super) struct Sqlite {
    pub(super) work: Work,
}

impl Dialect for Sqlite {
    fn dialect(&self) -> TypeId {
        TypeId::of::<SQLiteDialect>()
    }

    fn is_delimited_identifier_start(&self, character: char) -> bool {
        matches!(character, '`' | '"' | '[')
    }

    fn is_identifier_start(&self, character: char) -> bool {
        begins_name(character)
    }

    fn is_identifier_part(&self, character: char) -> bool {
        continues_name(character)
    }

    fn parse_prefix(&self, _: &mut Parser<'_>) -> Option<Result<Expr, ParserError>> {
        self.work.count()
    }

    fn supports_filter_during_aggregation(&self) -> bool {
        true
    }

    fn is_reserved_for_identifier(&self, keyword: Keyword) -> bool {
        RESERVED.contains(&keyword)
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
pub(super) struct Postgres {
    pub(super) work: Work,
}

impl Dialect for Postgres {
    fn is_delimited_identifier_start(&self, character: char) -> bool {
        matches!(character, '`' | '"')
    }

    fn is_identifier_start(&self, character: char) -> bool {
        begins_name(character)
    }

    fn is_identifier_part(&self, character: char) -> bool {
        continues_name(character)
    }

    fn parse_prefix(&self, _: &mut Parser<'_>) -> Option<Result<Expr, ParserError>> {
        self.work.count()
    }

    fn supports_filter_during_aggregation(&self) -> bool {
        true
    }

    fn is_reserved_for_identifier(&self, keyword: Keyword) -> bool {
        RESERVED.contains(&keyword)
    }

    fn supports_nested_comments(&self) -> bool {
        true
    }
}
