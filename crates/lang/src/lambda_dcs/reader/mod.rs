//! Reads the text of a form, in two passes: words and brackets onto a tape, then nodes from the tape.
//!
//! The first pass knows SEMPRE's lexical rules, the second its keywords. They are separate because
//! values do not look into the parts that they ignore: `( string a ( foo b c ) )` is a form although
//! `( foo b c )` is not.

mod forms;
mod tokens;
mod values;

use super::MAX_TEXT;
use super::form::{Atom, Form, NodeId};
use crate::SyntaxError;
pub(super) use tokens::TapeToken;
use tokens::TokenKind;

/// Returns whether a word at the beginning of a list says what the list is. A list that begins with another form is its application.
pub(super) fn is_keyword(word: &str) -> bool {
    const KEYWORDS: [&str; 27] = [
        "*", "+", "-", "/", "and", "argmax", "argmin", "avg", "boolean", "call", "count", "date", "lambda",
        "list", "mark", "max", "min", "name", "not", "number", "or", "reverse", "string", "sum", "time",
        "url", "var",
    ];
    const NOT_SUPPORTED: [&str; 5] = ["context", "description", "error", "table", "triple"];
    KEYWORDS.contains(&word) || NOT_SUPPORTED.contains(&word)
}

/// Reads the first form of `source` into `form`, without applying its lambdas, and returns the root.
pub(super) fn read(form: &mut Form, source: &str) -> Result<NodeId, SyntaxError> {
    form.text.clear();
    form.nodes.clear();
    form.children.clear();
    form.tape.clear();
    form.pending.clear();
    if source.len() > MAX_TEXT {
        return Err(SyntaxError::new(1, format!("the text is longer than {MAX_TEXT} bytes")));
    }
    form.text.push_str(source);
    let mut reader = FormReader { source, form };
    reader.tokenize()?;
    reader.form_at(0)
}

/// The text and the form that is read from it.
///
/// A *tree* is a word or a list in brackets. The second pass identifies it by the index of its first
/// token on the tape.
struct FormReader<'a> {
    source: &'a str,
    form: &'a mut Form,
}

impl FormReader<'_> {
    /// Returns an error at a byte of the source.
    fn error(&self, byte: u32, message: &str) -> SyntaxError {
        let column = self.source[..byte as usize].chars().count() + 1;
        SyntaxError::new(column, message)
    }

    /// Returns an error at a token of the tape.
    fn token_error(&self, token: usize, message: &str) -> SyntaxError {
        self.error(self.form.tape[token].byte, message)
    }

    /// Returns the tree that follows `tree` in the same list.
    fn sibling(&self, tree: usize) -> Option<usize> {
        let next = match self.form.tape[tree].kind {
            TokenKind::Open(close) => close as usize + 1,
            TokenKind::Word(_) | TokenKind::Close => tree + 1,
        };
        (self.form.tape[next].kind != TokenKind::Close).then_some(next)
    }

    /// Returns the tree that follows `tree` in `list`, which needs `missing` more trees.
    fn required_sibling(&self, list: usize, tree: usize, missing: usize) -> Result<usize, SyntaxError> {
        self.sibling(tree).ok_or_else(|| {
            let parts = if missing == 1 { "part" } else { "parts" };
            let keyword = self.source_of(list + 1);
            self.token_error(list, &format!("`{keyword}` needs {missing} more {parts}"))
        })
    }

    /// Returns the word that `tree` is. As in SEMPRE, a list is a null word.
    fn atom(&self, tree: usize) -> Atom {
        match self.form.tape[tree].kind {
            TokenKind::Word(atom) => atom,
            TokenKind::Open(_) | TokenKind::Close => Atom::NULL,
        }
    }

    /// Returns the source text of `tree`, for messages.
    fn source_of(&self, tree: usize) -> &str {
        let start = self.form.tape[tree].byte as usize;
        let end = match self.form.tape[tree].kind {
            TokenKind::Open(close) => self.form.tape[close as usize].byte as usize + 1,
            TokenKind::Word(atom) => start + (atom.len as usize).min(self.source.len() - start),
            TokenKind::Close => start + 1,
        };
        self.source.get(start..end).unwrap_or("…")
    }
}
