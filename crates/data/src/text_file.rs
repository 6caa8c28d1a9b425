//! Text files, whatever program wrote them.

use crate::{DataError, LineError};
use std::fs;
use std::path::Path;

/// Reads a UTF-8 file. Removes a byte-order mark, and replaces all line ends with `\n`.
///
/// # Errors
/// If the file cannot be read, or if it is not UTF-8.
pub fn read(path: &Path) -> Result<String, DataError> {
    let bytes = fs::read(path).map_err(|source| DataError::File { path: path.to_owned(), source })?;
    decode(bytes).map_err(DataError::in_file(path))
}

const BYTE_ORDER_MARK: char = '\u{feff}';

fn decode(bytes: Vec<u8>) -> Result<String, LineError> {
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        let message = "the file is UTF-16; save it as UTF-8".to_owned();
        return Err(LineError { line: 1, message });
    }
    let mut text = String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
        LineError { line, message: "this is not UTF-8; save the file as UTF-8".to_owned() }
    })?;
    if text.starts_with(BYTE_ORDER_MARK) {
        text.drain(..BYTE_ORDER_MARK.len_utf8());
    }
    Ok(if text.contains('\r') { text.replace("\r\n", "\n").replace('\r', "\n") } else { text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn byte_order_marks_and_line_ends_are_normalized() {
        let cases: [(&[u8], &str); 4] =
            [(b"\xef\xbb\xbfa\r\nb", "a\nb"), (b"a\rb\r", "a\nb\n"), ("é\n".as_bytes(), "é\n"), (b"", "")];
        for (bytes, expected) in cases {
            assert_eq!(decode(bytes.to_vec()).unwrap(), expected);
        }
    }

    #[test]
    fn other_encodings_are_errors() {
        let cases: [(&[u8], &str); 2] = [
            (b"a\nb\xe9", "line 2: this is not UTF-8; save the file as UTF-8"),
            (b"\xff\xfea\0", "line 1: the file is UTF-16; save it as UTF-8"),
        ];
        for (bytes, expected) in cases {
            assert_eq!(decode(bytes.to_vec()).unwrap_err().to_string(), expected);
        }
    }
}
