//! The outline of a statement, without parsing it.
//!
//! It is enough to know where literals, names and comments end to find the end of the first statement, and an `ORDER BY`
//! that is not within parentheses.

/// The outline of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outline<'a> {
    /// The text without the semicolon.
    pub(crate) text: &'a str,
    /// Whether there is an `ORDER BY` that orders the rows of the answer.
    pub(crate) ordered: bool,
}

/// Returns the outline of the statement in a text, or the reason if there is not exactly one.
pub(crate) fn outline(text: &str) -> Result<Outline<'_>, &'static str> {
    let bytes = text.as_bytes();
    if bytes.contains(&0) {
        return Err("a NUL character");
    }
    let (mut at, mut depth) = (0, 0_i64);
    let mut ordered = false;
    let mut after_order = false;
    let mut end = None;
    let mut is_blank = true;
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        at = match byte {
            b'\'' | b'"' | b'`' => quoted(bytes, at, byte),
            b'[' => find(bytes, at + 1, b"]"),
            b'-' if bytes.get(at + 1) == Some(&b'-') => {
                at = find(bytes, at + 2, b"\n");
                continue;
            }
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                at = find(bytes, at + 2, b"*/");
                continue;
            }
            _ if is_word(byte) => at + bytes[at..].iter().take_while(|&&byte| is_word(byte)).count(),
            _ => at + 1,
        };
        if byte.is_ascii_whitespace() {
            continue;
        }
        if byte == b';' {
            end.get_or_insert(start);
            continue;
        }
        if end.is_some() {
            return Err("more than one statement");
        }
        is_blank = false;
        match byte {
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ => {}
        }
        let word = &text[start..at.min(text.len())];
        ordered |= after_order && depth == 0 && word.eq_ignore_ascii_case("by");
        after_order = word.eq_ignore_ascii_case("order");
    }
    if is_blank {
        return Err("there is no query here");
    }
    Ok(Outline { text: &text[..end.unwrap_or(text.len())], ordered })
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// Returns the position after the quote that closes the one at `start`. Two quotes in a row stand for one.
fn quoted(bytes: &[u8], start: usize, quote: u8) -> usize {
    let mut at = start + 1;
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        if byte == quote {
            if bytes.get(at) != Some(&quote) {
                return at;
            }
            at += 1;
        }
    }
    bytes.len()
}

/// Returns the position after the next `what`, or the end of the text.
fn find(bytes: &[u8], from: usize, what: &[u8]) -> usize {
    let rest = bytes.get(from..).unwrap_or_default();
    rest.windows(what.len())
        .position(|window| window == what)
        .map_or(bytes.len(), |at| from + at + what.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outlines_have_the_end_and_the_order_of_a_statement() {
        let cases = [
            ("SELECT 1", Ok(("SELECT 1", false))),
            ("SELECT 1 ; ; -- that is all ;x\n /* ; */", Ok(("SELECT 1 ", false))),
            ("SELECT ';' ;", Ok(("SELECT ';' ", false))),
            (
                "SELECT 'it''s; ' || \"a;\" || `;` || [;]",
                Ok(("SELECT 'it''s; ' || \"a;\" || `;` || [;]", false)),
            ),
            ("SELECT 1; SELECT 2", Err("more than one statement")),
            ("SELECT 1;;x", Err("more than one statement")),
            ("SELECT /* ' */ 1; '", Err("more than one statement")),
            ("SELECT a FROM t order -- so\n bY a", Ok(("SELECT a FROM t order -- so\n bY a", true))),
            (
                "SELECT a FROM (SELECT a FROM t ORDER BY a)",
                Ok(("SELECT a FROM (SELECT a FROM t ORDER BY a)", false)),
            ),
            ("SELECT 'order by'", Ok(("SELECT 'order by'", false))),
            ("SELECT 'open", Ok(("SELECT 'open", false))),
            ("/* open", Err("there is no query here")),
            (" ; ", Err("there is no query here")),
            ("é", Ok(("é", false))),
            ("SELECT \0", Err("a NUL character")),
        ];
        for (text, expected) in cases {
            let found = outline(text).map(|outline| (outline.text, outline.ordered));
            assert_eq!(found, expected, "{text}");
        }
    }
}
