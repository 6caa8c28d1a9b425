//! The one printer of text that may be hostile.
//!
//! Names of tables, values, questions, paths and SQL come from files that anybody may have made. A terminal obeys control
//! characters in them: it moves the cursor, changes its title, or answers into the shell. Characters that reverse the
//! direction of a text show another query than the one that runs. So all output goes through [`Printer`], which writes such
//! a character as its code, in the way of JSON.

use std::borrow::Cow;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use xpr_text::{character_code, is_deceptive};

/// Returns a text in which each character that a terminal would obey is its code, such as `\u001b`.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    // Most texts are harmless. In UTF-8, the hostile characters begin with one of few bytes.
    let may_be_hostile =
        |byte: u8| matches!(byte, 0..=0x08 | 0x0b..=0x1f | 0x7f | 0xc2 | 0xd8 | 0xe2 | 0xef | 0xf3);
    if !text.bytes().any(may_be_hostile) || !text.contains(is_deceptive) {
        return Cow::Borrowed(text);
    }
    let mut printable = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match is_deceptive(c) {
            true => printable.push_str(&character_code(c)),
            false => printable.push(c),
        }
    }
    Cow::Owned(printable)
}

/// A writer that makes all text printable.
pub(crate) struct Printer<W> {
    inner: W,
    /// The first bytes of a character whose others have not been written yet. Writers with a buffer write when it is full,
    /// also in the middle of a character.
    begun: Vec<u8>,
}

impl<W: Write> Printer<W> {
    pub(crate) fn new(inner: W) -> Self {
        Printer { inner, begun: Vec::new() }
    }

    fn write_printable(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut chunks = bytes.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            self.inner.write_all(printable(chunk.valid()).as_bytes())?;
            if chunks.peek().is_none() && is_begun(chunk.invalid()) {
                self.begun = chunk.invalid().to_vec();
            } else if !chunk.invalid().is_empty() {
                self.inner.write_all("\u{fffd}".as_bytes())?;
            }
        }
        Ok(())
    }
}

/// Returns whether bytes are the first ones of a character, and more must follow.
fn is_begun(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

impl<W: Write> Write for Printer<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.begun.is_empty() {
            self.write_printable(bytes)?;
        } else {
            let mut joined = std::mem::take(&mut self.begun);
            joined.extend_from_slice(bytes);
            self.write_printable(&joined)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// Whether messages are left out.
static IS_MUTE: AtomicBool = AtomicBool::new(false);

/// Leaves out all messages from now on, because another process writes the same.
#[cfg(feature = "mpi")]
pub(crate) fn mute() {
    IS_MUTE.store(true, Ordering::Relaxed);
}

/// Leaves out no messages any more.
#[cfg(feature = "mpi")]
pub(crate) fn unmute() {
    IS_MUTE.store(false, Ordering::Relaxed);
}

/// Returns standard error, or a writer to nowhere after `mute`.
pub(crate) fn stderr() -> Printer<Box<dyn Write>> {
    Printer::new(match IS_MUTE.load(Ordering::Relaxed) {
        true => Box::new(io::sink()),
        false => Box::new(io::stderr()),
    })
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
            let mut printer = Printer::new(Vec::new());
            printer.write_all(text.as_bytes()).unwrap();
            assert_eq!(String::from_utf8(printer.inner).unwrap(), expected);
        }
        let mut printer = Printer::new(Vec::new());
        printer.write_all(b"a\x9b31m\xff").unwrap();
        assert_eq!(String::from_utf8(printer.inner).unwrap(), "a\u{fffd}31m\u{fffd}");
    }

    /// Writers with a buffer, such as that of CSV, divide characters.
    #[test]
    fn a_character_may_come_in_pieces() {
        let text = "é誰👧\u{202e}\u{e0041}x".repeat(3);
        for size in 1..5 {
            let mut printer = Printer::new(Vec::new());
            for piece in text.as_bytes().chunks(size) {
                printer.write_all(piece).unwrap();
                printer.flush().unwrap();
            }
            assert_eq!(String::from_utf8(printer.inner).unwrap(), printable(&text), "{size}");
        }
        // What turns out not to be a character is replaced.
        let mut printer = Printer::new(Vec::new());
        for piece in [&b"\xe8"[..], b"\xaa", b"x\xf0\x9f", b"\x1b"] {
            printer.write_all(piece).unwrap();
        }
        assert_eq!(String::from_utf8(printer.inner).unwrap(), "\u{fffd}x\u{fffd}\\u001b");
    }

    #[test]
    fn every_hostile_character_is_found() {
        for c in (0..=0x10_ffff).filter_map(char::from_u32).filter(|c| is_deceptive(*c)) {
            assert_ne!(printable(&c.to_string()), c.to_string(), "{c:?}");
        }
    }

    #[test]
    fn json_stays_json() {
        let value = serde_json::json!({"name": "a\u{202e}\u{1b}\u{e0041}\"\\\n"});
        let mut printer = Printer::new(Vec::new());
        serde_json::to_writer_pretty(&mut printer, &value).unwrap();
        let read: serde_json::Value = serde_json::from_slice(&printer.inner).unwrap();
        assert_eq!(read, value);
        assert!(!printer.inner.contains(&0x1b));
    }
}
