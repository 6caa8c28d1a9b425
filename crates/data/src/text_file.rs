//! The text of somebody's file, whatever program saved it.

use crate::{DataError, LineError};
use std::fs;
use std::path::Path;

/// Reads a file as UTF-8, without a byte-order mark and with `\n` at the end of lines.
///
/// # Errors
/// If it cannot be read, or is not UTF-8.
pub(crate) fn read(path: &Path) -> Result<String, DataError> {
    let bytes = fs::read(path).map_err(|source| DataError::File { path: path.to_owned(), source })?;
    decode(bytes).map_err(DataError::in_file(path))
}

fn decode(bytes: Vec<u8>) -> Result<String, LineError> {
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        let message = "the file is UTF-16; save it as UTF-8".to_owned();
        return Err(LineError { line: 1, message });
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
        LineError { line, message: "this is not UTF-8; save the file as UTF-8".to_owned() }
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    Ok(if text.contains('\r') { text.replace("\r\n", "\n").replace('\r', "\n") } else { text.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_and_line_ends_do_not_matter() {
        let cases: [(&[u8], &str); 4] =
            [(b"\xef\xbb\xbfa\r\nb", "a\nb"), (b"a\rb\r", "a\nb\n"), ("é\n".as_bytes(), "é\n"), (b"", "")];
        for (bytes, expected) in cases {
            assert_eq!(decode(bytes.to_vec()).unwrap(), expected);
        }
    }

    #[test]
    fn other_encodings_are_named() {
        let cases: [(&[u8], &str); 2] = [
            (b"a\nb\xe9", "line 2: this is not UTF-8; save the file as UTF-8"),
            (b"\xff\xfea\0", "line 1: the file is UTF-16; save it as UTF-8"),
        ];
        for (bytes, expected) in cases {
            assert_eq!(decode(bytes.to_vec()).unwrap_err().to_string(), expected);
        }
    }
}
