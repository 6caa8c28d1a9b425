//! From text to form, in two passes: words and brackets onto a tape, then nodes from the tape.
//!
//! The first pass knows SEMPRE's lexical rules, the second its keywords. They are apart because
//! values do not look into what they ignore: `( string a ( foo b c ) )` is fine although
//! `( foo b c )` is not a form.

use super::form::{Atom, Children, Form, FormNode, NodeId};
use super::function::{CLASS, SHORT_CLASS};
use super::{MAX_DEPTH, MAX_NODES, MAX_TEXT, java};
use crate::SyntaxError;

/// A word or a bracket.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    /// Where it stands in the source.
    at: u32,
    kind: TokenKind,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum TokenKind {
    Word(Atom),
    /// With the index of the closing bracket on the tape.
    Open(u32),
    Close,
}

/// How the first pass sees a byte.
#[derive(Clone, Copy, PartialEq)]
enum Class {
    Plain,
    Space,
    Close,
    /// Quote or escape: the word is not its source text.
    Special,
    /// Part of a character beyond ASCII, which may be white space.
    Wide,
    Nul,
}

const CLASSES: [Class; 256] = {
    let mut classes = [Class::Plain; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b'\t'..=b'\r' | 0x1c..=0x1f | b' ' => Class::Space,
            b')' => Class::Close,
            b'"' | b'\\' => Class::Special,
            0 => Class::Nul,
            0x80.. => Class::Wide,
            _ => Class::Plain,
        };
        byte += 1;
    }
    classes
};

/// Reads the first form of `source` into `form`, lambdas as they are.
pub(super) fn read(form: &mut Form, source: &str) -> Result<NodeId, SyntaxError> {
    form.text.clear();
    form.nodes.clear();
    form.children.clear();
    form.tape.clear();
    form.pending.clear();
    if source.len() > MAX_TEXT {
        return Err(SyntaxError { column: 1, message: format!("the text is longer than {MAX_TEXT} bytes") });
    }
    form.text.push_str(source);
    let mut reader = Reader { source, form };
    reader.tokenize()?;
    reader.form_at(0)
}

struct Reader<'a> {
    source: &'a str,
    form: &'a mut Form,
}

impl Reader<'_> {
    // First pass.

    /// Puts the first tree of the source onto the tape.
    fn tokenize(&mut self) -> Result<(), SyntaxError> {
        let bytes = self.source.as_bytes();
        let mut open = [0u32; MAX_DEPTH];
        let mut depth = 0;
        let mut at = 0;
        loop {
            at = self.skip_space(at);
            let Some(&byte) = bytes.get(at) else {
                return Err(match depth {
                    0 => self.error(0, "there is no form here"),
                    _ => {
                        let bracket = self.form.tape[open[depth - 1] as usize].at;
                        self.error(bracket, "no `)` for this `(`")
                    }
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
                    self.token(at, TokenKind::Open(0));
                    at += 1;
                }
                b')' => {
                    if depth == 0 {
                        return Err(self.error(at as u32, "`)` without a `(`"));
                    }
                    depth -= 1;
                    let close = self.form.tape.len() as u32;
                    self.form.tape[open[depth] as usize].kind = TokenKind::Open(close);
                    self.token(at, TokenKind::Close);
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
                            word = self.join(rest);
                            at = end;
                        }
                    }
                    self.token(start, TokenKind::Word(word));
                }
            }
            if depth == 0 {
                return Ok(());
            }
        }
    }

    fn token(&mut self, at: usize, kind: TokenKind) {
        self.form.tape.push(Token { at: at as u32, kind });
    }

    /// The first position from `at` on that is neither white space nor in a comment.
    #[inline(always)]
    fn skip_space(&self, at: usize) -> usize {
        // Nearly always there is one space, and then a word or a bracket.
        let bytes = self.source.as_bytes();
        let at = at + usize::from(bytes.get(at) == Some(&b' '));
        match bytes.get(at) {
            Some(&byte) if CLASSES[byte as usize] == Class::Plain && byte != b'#' => at,
            Some(b')') => at,
            _ => self.skip_more_space(at),
        }
    }

    fn skip_more_space(&self, mut at: usize) -> usize {
        let bytes = self.source.as_bytes();
        while let Some(&byte) = bytes.get(at) {
            match CLASSES[byte as usize] {
                Class::Space => at += 1,
                Class::Wide if self.char_at(at).is_some_and(java::is_whitespace) => {
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

    fn char_at(&self, at: usize) -> Option<char> {
        self.source.get(at..)?.chars().next()
    }

    /// The word at `at` and where it ends. A `(` inside a word belongs to it.
    fn word(&mut self, at: usize) -> Result<(Atom, usize), SyntaxError> {
        let bytes = self.source.as_bytes();
        let mut end = at;
        loop {
            end += bytes[end..].iter().take_while(|&&byte| CLASSES[byte as usize] == Class::Plain).count();
            let Some(&byte) = bytes.get(end) else { break };
            match CLASSES[byte as usize] {
                Class::Plain => {}
                Class::Space | Class::Close => break,
                Class::Wide => {
                    if self.char_at(end).is_some_and(java::is_whitespace) {
                        break;
                    }
                    end += 1;
                }
                Class::Special => return self.unescaped_word(at),
                Class::Nul => return Err(self.error(end as u32, "NUL character")),
            }
        }
        Ok((Atom { start: at as u32, len: (end - at) as u32 }, end))
    }

    /// The same for a word with quotes or escapes, which has to be written anew.
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

    /// `!` and the word behind it as one word.
    fn join(&mut self, rest: Atom) -> Atom {
        if rest == Atom::NULL {
            return rest;
        }
        let start = self.form.text.len() as u32;
        self.form.text.push('!');
        let rest = rest.start as usize..(rest.start + rest.len) as usize;
        self.form.text.extend_from_within(rest);
        Atom { start, len: self.form.text.len() as u32 - start }
    }

    // Second pass.

    fn error(&self, at: u32, message: &str) -> SyntaxError {
        let column = self.source[..at as usize].chars().count() + 1;
        SyntaxError { column, message: message.to_owned() }
    }

    /// The tape index behind the tree at `at`.
    fn behind(&self, at: usize) -> usize {
        match self.form.tape[at].kind {
            TokenKind::Open(close) => close as usize + 1,
            TokenKind::Word(_) | TokenKind::Close => at + 1,
        }
    }

    /// The tape index of the tree behind the one at `at`, if the list goes on.
    fn sibling(&self, at: usize) -> Option<usize> {
        let next = self.behind(at);
        (self.form.tape[next].kind != TokenKind::Close).then_some(next)
    }

    /// The same, where the list opened at `list` must go on.
    fn part(&self, list: usize, at: usize, missing: usize) -> Result<usize, SyntaxError> {
        self.sibling(at).ok_or_else(|| {
            let parts = if missing == 1 { "part" } else { "parts" };
            let keyword = self.shown(list + 1);
            self.error(self.form.tape[list].at, &format!("`{keyword}` needs {missing} more {parts}"))
        })
    }

    /// The word at `at`; SEMPRE takes a list for a null word.
    fn atom(&self, at: usize) -> Atom {
        match self.form.tape[at].kind {
            TokenKind::Word(atom) => atom,
            TokenKind::Open(_) | TokenKind::Close => Atom::NULL,
        }
    }

    /// The source of the tree at `at`, for messages.
    fn shown(&self, at: usize) -> &str {
        let start = self.form.tape[at].at as usize;
        let end = match self.form.tape[at].kind {
            TokenKind::Open(close) => self.form.tape[close as usize].at as usize + 1,
            TokenKind::Word(atom) => start + (atom.len as usize).min(self.source.len() - start),
            TokenKind::Close => start + 1,
        };
        self.source.get(start..end).unwrap_or("…")
    }

    fn number<T>(&self, at: usize, what: &str, parse: fn(&str) -> Option<T>) -> Result<T, SyntaxError> {
        self.form.atom(self.atom(at)).and_then(parse).ok_or_else(|| {
            let message = format!("`{}` is not a {what}", self.shown(at));
            self.error(self.form.tape[at].at, &message)
        })
    }

    fn int(&self, at: usize) -> Result<i32, SyntaxError> {
        self.number(at, "whole number", java::parse_int)
    }

    /// The form at a tape index.
    fn form_at(&mut self, at: usize) -> Result<NodeId, SyntaxError> {
        if self.form.nodes.len() >= MAX_NODES {
            let message = format!("the form has more than {MAX_NODES} nodes");
            return Err(self.error(self.form.tape[at].at, &message));
        }
        let list = match self.form.tape[at].kind {
            TokenKind::Word(atom) => {
                let id = self.bare_name(atom);
                return Ok(self.form.push(FormNode::Name { id, description: None }));
            }
            TokenKind::Open(_) | TokenKind::Close => at,
        };
        let head = list + 1;
        if self.form.tape[head].kind == TokenKind::Close {
            return Err(self.error(self.form.tape[list].at, "an empty list is not a form"));
        }
        let keyword = self.atom(head);
        if self.form.atom(keyword) != Some("call")
            && let Some(value) = self.value_at(list)?
        {
            return Ok(self.form.push(value));
        }
        match self.form.atom(keyword).unwrap_or_default() {
            "call" => {
                let function_at = self.part(list, head, 1)?;
                let function = match self.form.tape[function_at].kind {
                    // The common case, spared the way through the full name.
                    TokenKind::Word(atom) if atom != Atom::NULL => {
                        let id = self.function_name(atom);
                        self.form.push(FormNode::Name { id, description: None })
                    }
                    _ => self.function_at(function_at)?,
                };
                let arguments = self.forms_behind(function_at)?;
                Ok(self.form.push(FormNode::Call { function, arguments }))
            }
            "var" => {
                let name = self.part(list, head, 1)?;
                let name = self.atom(name);
                Ok(self.form.push(FormNode::Variable(name)))
            }
            "lambda" => {
                let variable = self.part(list, head, 2)?;
                let body = self.part(list, variable, 1)?;
                let variable = self.atom(variable);
                let body = self.form_at(body)?;
                Ok(self.form.push(FormNode::Lambda { variable, body }))
            }
            // What the rest of lambda-DCS needs; whatever follows is ignored.
            "mark" => {
                let name = self.part(list, head, 2)?;
                self.unsupported(list, name, keyword, 1)
            }
            "not" | "reverse" | "count" | "sum" | "avg" | "min" | "max" => {
                self.unsupported(list, head, keyword, 1)
            }
            "and" | "or" | "+" | "-" | "*" | "/" => self.unsupported(list, head, keyword, 2),
            "argmax" | "argmin" => self.unsupported(list, head, keyword, 4),
            _ => {
                let argument = self.sibling(head);
                let further = argument.and_then(|argument| self.sibling(argument));
                let (Some(argument), None) = (argument, further) else {
                    let mut count = 0;
                    let mut next = self.sibling(head);
                    while let Some(at) = next {
                        count += 1;
                        next = self.sibling(at);
                    }
                    let message = format!(
                        "`{}` applied to {count} arguments; a form that is not a call takes exactly 1",
                        self.shown(head)
                    );
                    return Err(self.error(self.form.tape[list].at, &message));
                };
                let function = self.form_at(head)?;
                let argument = self.form_at(argument)?;
                Ok(self.form.push(FormNode::Apply { function, argument }))
            }
        }
    }

    /// A function that is not a plain word: a name written out, or anything else, which cannot be called.
    fn function_at(&mut self, at: usize) -> Result<NodeId, SyntaxError> {
        let function = self.form_at(at)?;
        if let FormNode::Name { id, description } = self.form.node(function) {
            let id = self.function_name(id);
            return Ok(self.form.push(FormNode::Name { id, description }));
        }
        Ok(function)
    }

    /// The value of the list at a tape index, if its keyword says that it is one.
    fn value_at(&mut self, list: usize) -> Result<Option<FormNode>, SyntaxError> {
        let head = list + 1;
        Ok(Some(match self.form.atom(self.atom(head)).unwrap_or_default() {
            "string" => FormNode::Text(self.atom(self.part(list, head, 1)?)),
            "number" => {
                let value_at = self.part(list, head, 1)?;
                let value = self.number(value_at, "number", java::parse_double)?;
                FormNode::Number { value, unit: self.sibling(value_at).map(|unit| self.atom(unit)) }
            }
            "date" => {
                let year = self.part(list, head, 3)?;
                let month = self.part(list, year, 2)?;
                let day = self.part(list, month, 1)?;
                FormNode::Date { year: self.int(year)?, month: self.int(month)?, day: self.int(day)? }
            }
            "time" => {
                let hour = self.part(list, head, 2)?;
                let minute = self.part(list, hour, 1)?;
                FormNode::Time { hour: self.int(hour)?, minute: self.int(minute)? }
            }
            "boolean" => {
                let word = self.form.atom(self.atom(self.part(list, head, 1)?));
                FormNode::Boolean(word.is_some_and(|word| word.eq_ignore_ascii_case("true")))
            }
            "name" => {
                let id_at = self.part(list, head, 1)?;
                let description =
                    self.sibling(id_at).map(|at| self.atom(at)).filter(|word| *word != Atom::NULL);
                let id = self.atom(id_at);
                FormNode::Name { id: self.name(id), description }
            }
            "url" => FormNode::Url(self.atom(self.part(list, head, 1)?)),
            "list" => {
                let first_pending = self.form.pending.len();
                let mut next = self.sibling(head);
                while let Some(at) = next {
                    let is_list =
                        matches!(self.form.tape[at].kind, TokenKind::Open(close) if close as usize > at + 1);
                    let value = if is_list { self.value_at(at)? } else { None };
                    let Some(value) = value else {
                        let shown = self.shown(at);
                        let message =
                            format!("`{shown}` is not a value; a list holds values such as ( number 1 )");
                        return Err(self.error(self.form.tape[at].at, &message));
                    };
                    let value = self.form.push(value);
                    self.form.pending.push(value);
                    next = self.sibling(at);
                }
                FormNode::List(self.collect(first_pending))
            }
            keyword @ ("table" | "description" | "context" | "error" | "triple") => {
                let message = format!("`{keyword}` values are not supported");
                return Err(self.error(self.form.tape[list].at, &message));
            }
            _ => return Ok(None),
        }))
    }

    /// The forms that follow the tree at `at` in its list.
    fn forms_behind(&mut self, at: usize) -> Result<Children, SyntaxError> {
        let first_pending = self.form.pending.len();
        let mut next = self.sibling(at);
        while let Some(at) = next {
            let node = self.form_at(at)?;
            self.form.pending.push(node);
            next = self.sibling(at);
        }
        Ok(self.collect(first_pending))
    }

    /// Makes the pending nodes from `first` on a run of children.
    fn collect(&mut self, first: usize) -> Children {
        let start = self.form.children.len() as u32;
        self.form.children.extend(self.form.pending.drain(first..));
        Children { start, len: self.form.children.len() as u32 - start }
    }

    /// A form that is read but never run: `count` of the trees behind the one at `at`.
    fn unsupported(
        &mut self,
        list: usize,
        at: usize,
        keyword: Atom,
        count: usize,
    ) -> Result<NodeId, SyntaxError> {
        let first_pending = self.form.pending.len();
        if at != list + 1 {
            let node = self.form_at(at)?;
            self.form.pending.push(node);
        }
        let mut last = at;
        for missing in (1..=count).rev() {
            last = self.part(list, last, missing)?;
            let node = self.form_at(last)?;
            self.form.pending.push(node);
        }
        let arguments = self.collect(first_pending);
        Ok(self.form.push(FormNode::Unsupported { keyword, arguments }))
    }

    /// The identifier of a bare word; SEMPRE has a name for null.
    fn bare_name(&mut self, atom: Atom) -> Atom {
        if atom == Atom::NULL { self.append("", "fb:en.null") } else { self.name(atom) }
    }

    /// A name in full: `SW.` abbreviates a class, wherever it stands.
    fn name(&mut self, atom: Atom) -> Atom {
        self.exchange_prefix(atom, SHORT_CLASS, CLASS)
    }

    /// The name of a function, its class abbreviated again: that is its canonical spelling.
    fn function_name(&mut self, atom: Atom) -> Atom {
        self.exchange_prefix(atom, CLASS, SHORT_CLASS)
    }

    fn exchange_prefix(&mut self, atom: Atom, old: &str, new: &str) -> Atom {
        match self.form.atom(atom).and_then(|word| word.strip_prefix(old)) {
            Some(rest) => {
                let rest = rest.to_owned();
                self.append(new, &rest)
            }
            None => atom,
        }
    }

    fn append(&mut self, first: &str, second: &str) -> Atom {
        let start = self.form.text.len() as u32;
        self.form.text.push_str(first);
        self.form.text.push_str(second);
        Atom { start, len: self.form.text.len() as u32 - start }
    }
}
