//! The one printer of text that may be hostile.
//!
//! Names of tables, values, questions, paths and SQL come from files that anybody may have made. A terminal obeys control
//! characters in them: it moves the cursor, changes its title, or answers into the shell. Characters that reverse the
//! direction of a text show another query than the one that runs. So all output goes through [`Printer`], which writes such
//! a character as its code, in the way of JSON.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Stderr, Write};

/// Returns whether a terminal would obey a character, or hide it, instead of showing it. Line breaks and tabs are shown.
fn is_hostile(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        // Marks and controls of direction, invisible characters, and separators that few programs know.
        '\u{61c}'
        | '\u{200b}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' => true,
        '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}' => true,
        c => c.is_control(),
    }
}

/// Returns a text in which each character that a terminal would obey is its code, such as `\u001b`.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    // Most texts are harmless. In UTF-8, the hostile characters begin with one of few bytes.
    let may_be_hostile =
        |byte: u8| matches!(byte, 0..=0x08 | 0x0b..=0x1f | 0x7f | 0xc2 | 0xd8 | 0xe2 | 0xef | 0xf3);
    if !text.bytes().any(may_be_hostile) || !text.contains(is_hostile) {
        return Cow::Borrowed(text);
    }
    let mut printable = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_hostile(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a string cannot fail.
                let _ = write!(printable, "\\u{unit:04x}");
            }
        } else {
            printable.push(c);
        }
    }
    Cow::Owned(printable)
}

/// A writer that makes all text printable.
pub(crate) struct Printer<W>(pub(crate) W);

impl<W: Write> Write for Printer<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for chunk in bytes.utf8_chunks() {
            self.0.write_all(printable(chunk.valid()).as_bytes())?;
            if !chunk.invalid().is_empty() {
                self.0.write_all("\u{fffd}".as_bytes())?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Returns standard error.
pub(crate) fn stderr() -> Printer<Stderr> {
    Printer(io::stderr())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_written_as_its_code() {
        for (text, expected) in [
            ("plain text,\n\tand 誰 é 👩‍👩‍👧", "plain text,\n\tand 誰 é 👩‍👩‍👧"),
            ("\u{1b}]0;title\u{7}", "\\u001b]0;title\\u0007"),
            ("a\rb\u{8}c\u{7f}", "a\\u000db\\u0008c\\u007f"),
            ("\u{9b}31m", "\\u009b31m"),
            ("safe \u{202e}efasnu", "safe \\u202eefasnu"),
            ("\u{2066}x\u{2069}\u{200f}\u{61c}\u{feff}", "\\u2066x\\u2069\\u200f\\u061c\\ufeff"),
            ("\u{e0041}", "\\udb40\\udc41"),
        ] {
            assert_eq!(printable(text), expected);
            let mut printer = Printer(Vec::new());
            printer.write_all(text.as_bytes()).unwrap();
            assert_eq!(String::from_utf8(printer.0).unwrap(), expected);
        }
        let mut printer = Printer(Vec::new());
        printer.write_all(b"a\x9b31m\xff").unwrap();
        assert_eq!(String::from_utf8(printer.0).unwrap(), "a\u{fffd}31m\u{fffd}");
    }

    #[test]
    fn every_hostile_character_is_found() {
        for c in (0..=0x10_ffff).filter_map(char::from_u32).filter(|c| is_hostile(*c)) {
            assert_ne!(printable(&c.to_string()), c.to_string(), "{c:?}");
        }
    }

    #[test]
    fn json_stays_json() {
        let value = serde_json::json!({"name": "a\u{202e}\u{1b}\u{e0041}\"\\\n"});
        let mut printer = Printer(Vec::new());
        serde_json::to_writer_pretty(&mut printer, &value).unwrap();
        let read: serde_json::Value = serde_json::from_slice(&printer.0).unwrap();
        assert_eq!(read, value);
        assert!(!printer.0.contains(&0x1b));
    }
}
