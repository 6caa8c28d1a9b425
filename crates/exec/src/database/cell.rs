//! The values of cells, as every engine has them.

/// A cell of a table or of an answer. Engines have more types than these; each is read as the one that prints alike in all of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    /// `NULL`
    Null,
    /// An integer, or a truth value as 0 or 1.
    Integer(i64),
    /// A number with a fraction, or one that is too large for an integer.
    Real(f64),
    /// A text, which may not be UTF-8.
    Text(&'a [u8]),
    /// Bytes that are no text.
    Blob(&'a [u8]),
}
