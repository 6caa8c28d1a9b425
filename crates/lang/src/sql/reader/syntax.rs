//! The syntax of the dialects, for `sqlparser`.

use sqlparser::dialect::{Dialect, SQLiteDialect};
use sqlparser::keywords::Keyword;
use sqlparser::tokenizer::{Token, TokenWithSpan};
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
/// Words that may be names, and begin an expression in parentheses if they are none.
const AMBIGUOUS: [Keyword; 11] = [
    Keyword::ARRAY,
    Keyword::CEIL,
    Keyword::CONVERT,
    Keyword::EXTRACT,
    Keyword::FLOOR,
    Keyword::OVERLAY,
    Keyword::POSITION,
    Keyword::SAFE_CAST,
    Keyword::SUBSTR,
    Keyword::SUBSTRING,
    Keyword::TRY_CAST,
];

/// Returns how deep expressions of ambiguous words are nested in each other.
pub(super) fn ambiguous_depth(tokens: &[TokenWithSpan]) -> usize {
    let (mut open, mut deepest, mut is_ambiguous) = (Vec::new(), 0, false);
    for token in tokens {
        match &token.token {
            Token::Whitespace(_) => continue,
            Token::LParen => open.push(is_ambiguous),
            Token::RParen => _ = open.pop(),
            _ => {}
        }
        deepest = deepest.max(open.iter().filter(|is_ambiguous| **is_ambiguous).count());
        is_ambiguous = matches!(&token.token, Token::Word(word) if AMBIGUOUS.contains(&word.keyword));
    }
    deepest
}

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

    fn is_reserved_for_identifier(&self, keyword: Keyword) -> bool {
        RESERVED.contains(&keyword)
    }

    fn supports_nested_comments(&self) -> bool {
        true
    }
}
