//! Bounds on the work of `sqlparser`.
//!
//! Where it cannot tell what comes, it reads the same words twice, as one thing and after an error as another, and so it does again with
//! what is nested in them. Without bounds the time doubles with each level.

use sqlparser::ast::Expr;
use sqlparser::keywords::Keyword;
use sqlparser::parser::ParserError;
use sqlparser::tokenizer::{Token, TokenWithSpan};
use std::cell::Cell;

/// The limit on expressions that are read, for each byte of a text. A text with good syntax has hardly any that is read twice.
const EXPRESSIONS_A_BYTE: usize = 16;
/// The limit on how often what is in parentheses is read.
pub(super) const MOST_ATTEMPTS: usize = 256;

/// What is left to do with a text. A dialect counts every expression that is read with it.
#[derive(Debug)]
pub(super) struct Work {
    left: Cell<usize>,
}

impl Work {
    /// Returns the work that a text is worth.
    pub(super) fn for_text(text: &str) -> Work {
        Work { left: Cell::new(EXPRESSIONS_A_BYTE * text.len()) }
    }

    /// Counts an expression. The error of a text that takes too much work is the one after which `sqlparser` tries nothing else.
    pub(super) fn count(&self) -> Option<Result<Expr, ParserError>> {
        match self.left.get().checked_sub(1) {
            Some(left) => {
                self.left.set(left);
                None
            }
            None => Some(Err(ParserError::RecursionLimitExceeded)),
        }
    }
}

/// An opening parenthesis, and what is read of its content so far.
#[derive(Clone, Copy)]
struct Parenthesis {
    /// Whether it may begin tables as well as a query.
    is_ambiguous: bool,
    /// Its place in a row of such parentheses, one in another.
    place: usize,
    /// How often the whole row is read.
    attempts: usize,
    /// Whether a comma is between two tables.
    is_in_from: bool,
}

/// Returns how often `sqlparser` reads the part of a text that it reads most often. A parenthesis where a table is expected begins a
/// query or tables. It is read as a query first, up to an error, and then as tables, which may begin with a parenthesis again.
pub(super) fn most_attempts(tokens: &[TokenWithSpan]) -> usize {
    let outside = Parenthesis { is_ambiguous: false, place: 1, attempts: 1, is_in_from: false };
    let mut open = vec![outside];
    let mut most = 1;
    let mut before = &Token::EOF;
    for token in tokens.iter().map(|token| &token.token) {
        if matches!(token, Token::Whitespace(_)) {
            continue;
        }
        let around = open.last().copied().unwrap_or(outside);
        match token {
            Token::LParen => {
                let in_row = around.is_ambiguous && *before == Token::LParen;
                let is_ambiguous = in_row
                    || around.is_in_from && *before == Token::Comma
                    || matches!(before, Token::Word(word) if begins_tables(word.keyword) || word.keyword == Keyword::IN);
                let (place, attempts) = match in_row {
                    true => (around.place + 1, around.attempts),
                    false => (1, around.attempts.saturating_mul(around.place)),
                };
                most = most.max(attempts.saturating_mul(place));
                open.push(Parenthesis { is_ambiguous, place, attempts, is_in_from: false });
            }
            Token::RParen => _ = open.pop(),
            Token::Word(word) => {
                if let Some(around) = open.last_mut() {
                    let ends =
                        [Keyword::SELECT, Keyword::WHERE, Keyword::GROUP, Keyword::HAVING, Keyword::ORDER];
                    around.is_in_from =
                        begins_tables(word.keyword) || around.is_in_from && !ends.contains(&word.keyword);
                }
            }
            _ => {}
        }
        before = token;
    }
    most
}

fn begins_tables(keyword: Keyword) -> bool {
    matches!(keyword, Keyword::FROM | Keyword::JOIN)
}
