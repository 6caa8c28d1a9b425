//! The elements of a JSON file, each with its line.

use crate::LineError;
use serde_json::Value;

/// Returns the elements of an array, or the values of JSON lines, each with the line in which it begins.
///
/// # Errors
/// If the text is not JSON, or if something follows the array.
pub(crate) fn read(text: &str) -> Result<Vec<(usize, Value)>, LineError> {
    let array = text.trim_start().starts_with('[');
    let mut cursor = Cursor { text, at: 0, line: 1 };
    let mut elements = Vec::new();
    if array {
        cursor.skip_space();
        cursor.skip(1);
    }
    loop {
        cursor.skip_space();
        let next = cursor.rest().chars().next();
        match next {
            Some(']') if array => {
                cursor.skip(1);
                cursor.skip_space();
                return match cursor.rest() {
                    "" => Ok(elements),
                    _ => Err(cursor.error("something follows the array; a file has one array")),
                };
            }
            None if array => return Err(cursor.error("the array has no end: `]` is missing")),
            None => return Ok(elements),
            Some(_) => elements.push((cursor.line, cursor.value()?)),
        }
        if array {
            cursor.skip_space();
            match cursor.rest().chars().next() {
                Some(',') => cursor.skip(1),
                Some(']') | None => {}
                Some(_) => return Err(cursor.error("expected `,` or `]` after an element of the array")),
            }
        }
    }
}

/// A position in a text, and its line.
struct Cursor<'a> {
    text: &'a str,
    at: usize,
    line: usize,
}

impl<'a> Cursor<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip(&mut self, bytes: usize) {
        let passed = &self.text.as_bytes()[self.at..self.at + bytes];
        self.line += passed.iter().filter(|&&byte| byte == b'\n').count();
        self.at += bytes;
    }

    fn skip_space(&mut self) {
        let rest = self.rest();
        self.skip(rest.len() - rest.trim_start().len());
    }

    fn value(&mut self) -> Result<Value, LineError> {
        let mut values = serde_json::Deserializer::from_str(self.rest()).into_iter::<Value>();
        match values.next() {
            Some(Ok(value)) => {
                let length = values.byte_offset();
                self.skip(length);
                Ok(value)
            }
            Some(Err(error)) => {
                // The error has a line relative to the rest of the text, and repeats it in its message.
                let line = self.line + error.line().saturating_sub(1);
                let message = error.to_string();
                let what = message.split(" at line ").next().unwrap_or_default();
                Err(LineError { line, message: format!("this is not JSON: {what}") })
            }
            None => Err(self.error("a JSON value is missing")),
        }
    }

    fn error(&self, message: &str) -> LineError {
        LineError { line: self.line, message: message.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_have_the_line_in_which_they_begin() {
        let cases: [(&str, &[(usize, &str)]); 6] = [
            ("[1, 2\n,\n{\"a\":\n\n3}, 4]\n", &[(1, "1"), (1, "2"), (3, "{\"a\":3}"), (5, "4")]),
            ("{\"a\": 1}\n\n\"b\"\n", &[(1, "{\"a\":1}"), (3, "\"b\"")]),
            ("[]", &[]),
            ("", &[]),
            (" \n[\"é\"]", &[(2, "\"é\"")]),
            ("[1,]", &[(1, "1")]),
        ];
        for (text, expected) in cases {
            let found: Vec<(usize, String)> =
                read(text).unwrap().into_iter().map(|(line, value)| (line, value.to_string())).collect();
            let expected: Vec<_> = expected.iter().map(|&(line, text)| (line, text.to_owned())).collect();
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn errors_name_the_line() {
        let deep = format!("[1,\n{}", "[".repeat(100_000));
        let cases = [
            ("[1\n", "line 2: the array has no end: `]` is missing"),
            ("[1] 2", "line 1: something follows the array; a file has one array"),
            ("[1\n2]", "line 2: expected `,` or `]` after an element of the array"),
            ("{}\n{\"a\"", "line 2: this is not JSON: EOF while parsing an object"),
            ("what", "line 1: this is not JSON: expected value"),
            (&deep, "line 2: this is not JSON: recursion limit exceeded"),
        ];
        for (text, expected) in cases {
            assert_eq!(read(text).unwrap_err().to_string(), expected);
        }
    }
}
