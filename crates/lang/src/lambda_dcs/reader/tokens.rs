//! The first pass: words and brackets, by SEMPRE's lexical rules.

use super::FormReader;
use crate::SyntaxError;
use crate::lambda_dcs::form::Atom;
use crate::lambda_dcs::{MAX_DEPTH, java};

/// A word or a bracket.
#[derive(Clone, Copy, Debug)]
pub(in crate::lambda_dcs) struct TapeToken {
    /// The position in the source.
    pub(super) byte: u32,
    pub(super) kind: TokenKind,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum TokenKind {
    Word(Atom),
    /// An opening bracket, with the tape index of its closing bracket.
    Open(u32),
    Close,
}

/// The role of a byte in the first pass.
#[derive(Clone, Copy, PartialEq)]
enum ByteClass {
    Plain,
    Space,
    Close,
    /// A quote or an escape: the word differs from its source.
    Special,
    /// Part of a character outside ASCII, which may be white space.
    Wide,
    Nul,
}

const CLASSES: [ByteClass; 256] = {
    let mut classes = [ByteClass::Plain; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b'\t'..=b'\r' | 0x1c..=0x1f | b' ' => ByteClass::Space,
            b')' => ByteClass::Close,
            b'"' | b'\\' => ByteClass::Special,
            0 => ByteClass::Nul,
            0x80.. => ByteClass::Wide,
            _ => ByteClass::Plain,
        };
        byte += 1;
    }
    classes
};

impl FormReader<'_> {
    /// Puts the first tree of the source onto the tape.
    pub(super) fn tokenize(&mut self) -> Result<(), SyntaxError> {
        let bytes = self.source.as_bytes();
        let mut open = [0u32; MAX_DEPTH];
        let mut depth = 0;
        let mut at = 0;
        loop {
            at = self.skip_space(at);
            let Some(&byte) = bytes.get(at) else {
                return Err(match depth {
                    0 => self.error(0, "there is no form here"),
                    _ => self.token_error(open[depth - 1] as usize, "no `)` for this `(`"),
                });
            };
            match byte {
                b'(' => {
                    if depth == MAX_DEPTH {
                        return Err(
                            self.error(at as u32, &format!("the form nests more than {MAX_DEPTH} deep"))
                        );
                    }
                    open[depth] = self.form.tape.len() as u32;
                    depth += 1;
                    self.push_token(at, TokenKind::Open(0));
                    at += 1;
                }
                b')' => {
                    if depth == 0 {
                        return Err(self.error(at as u32, "`)` without a `(`"));
                    }
                    depth -= 1;
                    let close = self.form.tape.len() as u32;
                    self.form.tape[open[depth] as usize].kind = TokenKind::Open(close);
                    self.push_token(at, TokenKind::Close);
                    at += 1;
                }
                _ => {
                    let start = at;
                    let (mut word, end) = self.word(at)?;
                    at = end;
                    if &bytes[start..end] == b"!" {
                        let next = self.skip_space(at);
                        if bytes.get(next).is_some_and(|byte| !matches!(byte, b'(' | b')')) {
                            let (rest, end) = self.word(next)?;
                            word = self.negated_word(rest);
                            at = end;
                        }
                    }
                    self.push_token(start, TokenKind::Word(word));
                }
            }
            if depth == 0 {
                return Ok(());
            }
        }
    }

    fn push_token(&mut self, byte: usize, kind: TokenKind) {
        self.form.tape.push(TapeToken { byte: byte as u32, kind });
    }

    /// Returns the first byte from `at` on that is neither white space nor in a comment.
    #[inline(always)]
    fn skip_space(&self, at: usize) -> usize {
        // The fast path: one space, and then a word or a bracket.
        let bytes = self.source.as_bytes();
        let at = at + usize::from(bytes.get(at) == Some(&b' '));
        match bytes.get(at) {
            Some(&byte) if CLASSES[byte as usize] == ByteClass::Plain && byte != b'#' => at,
            Some(b')') => at,
            _ => self.skip_more_space(at),
        }
    }

    fn skip_more_space(&self, mut at: usize) -> usize {
        let bytes = self.source.as_bytes();
        while let Some(&byte) = bytes.get(at) {
            match CLASSES[byte as usize] {
                ByteClass::Space => at += 1,
                ByteClass::Wide if self.char_at(at).is_some_and(java::is_whitespace) => {
                    at += self.char_at(at).map_or(1, char::len_utf8);
                }
                _ if byte == b'#' => {
                    at += bytes[at..]
                        .iter()
                        .position(|b| matches!(b, b'\n' | b'\r'))
                        .unwrap_or(bytes.len() - at);
                }
                _ => break,
            }
        }
        at
    }

    /// Returns the character at a byte; none if the byte is not the first one of a character.
    fn char_at(&self, at: usize) -> Option<char> {
        self.source.get(at..)?.chars().next()
    }

    /// Reads the word that starts at a byte, and returns it with its end. A `(` inside a word belongs to it.
    fn word(&mut self, at: usize) -> Result<(Atom, usize), SyntaxError> {
        let bytes = self.source.as_bytes();
        let mut end = at;
        loop {
            end +=
                bytes[end..].iter().take_while(|&&byte| CLASSES[byte as usize] == ByteClass::Plain).count();
            let Some(&byte) = bytes.get(end) else { break };
            match CLASSES[byte as usize] {
                ByteClass::Plain => {}
                ByteClass::Space | ByteClass::Close => break,
                ByteClass::Wide => {
                    if self.char_at(end).is_some_and(java::is_whitespace) {
                        break;
                    }
                    end += 1;
                }
                ByteClass::Special => return self.unescaped_word(at),
                ByteClass::Nul => return Err(self.error(end as u32, "NUL character")),
            }
        }
        Ok((Atom { start: at as u32, len: (end - at) as u32 }, end))
    }

    /// Does what [`FormReader::word`] does for a word with quotes or escapes, whose text is not in the source.
    fn unescaped_word(&mut self, at: usize) -> Result<(Atom, usize), SyntaxError> {
        let start = self.form.text.len();
        let mut quote = None;
        let mut null = false;
        let mut end = self.source.len();
        let mut chars = self.source[at..].char_indices();
        while let Some((offset, c)) = chars.next() {
            match c {
                '\\' => match chars.next() {
                    Some((_, 'n')) => self.form.text.push('\n'),
                    Some((_, 't')) => self.form.text.push('\t'),
                    Some((_, '0')) => null = true,
                    Some((offset, '\0')) => return Err(self.error((at + offset) as u32, "NUL character")),
                    Some((_, other)) => self.form.text.push(other),
                    None => {
                        return Err(
                            self.error((at + offset) as u32, "nothing to escape at the end of the text")
                        );
                    }
                },
                '"' => quote = if quote.is_some() { None } else { Some(at + offset) },
                '\0' => return Err(self.error((at + offset) as u32, "NUL character")),
                _ if quote.is_none() && (c == ')' || java::is_whitespace(c)) => {
                    end = at + offset;
                    break;
                }
                _ => self.form.text.push(c),
            }
        }
        if let Some(quote) = quote {
            return Err(self.error(quote as u32, "no closing quote"));
        }
        let len = self.form.text.len() - start;
        Ok((if null { Atom::NULL } else { Atom { start: start as u32, len: len as u32 } }, end))
    }

    /// Returns `!` and the word after it as one word.
    fn negated_word(&mut self, rest: Atom) -> Atom {
        if rest == Atom::NULL {
            return rest;
        }
        let start = self.form.text.len() as u32;
        self.form.text.push('!');
        let rest = rest.start as usize..(rest.start + rest.len) as usize;
        self.form.text.extend_from_within(rest);
        Atom { start, len: self.form.text.len() as u32 - start }
    }
}
