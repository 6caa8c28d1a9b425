//! Text files, whatever program wrote them.

use crate::{DataError, LineError};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// Reads a UTF-8 file. Removes a byte-order mark, and replaces all line ends with `\n`.
///
/// # Errors
/// If the file cannot be read, or if it is not UTF-8.
pub fn read(path: &Path) -> Result<String, DataError> {
    let bytes = read_bytes(path).map_err(|source| DataError::File { path: path.to_owned(), source })?;
    decode(bytes).map_err(DataError::in_file(path))
}

/// The maximum bytes that are read of what is not a regular file.
const LARGEST_STREAM: u64 = 1 << 30;

/// Reads a file. A pipe that the shell opened, such as `/dev/stdin`, or a device may have no end, and is read up to a gibibyte.
///
/// # Errors
/// If it cannot be read, is a pipe or device with more than that, or is a named pipe: opening one waits until somebody writes to it.
pub fn read_bytes(path: &Path) -> io::Result<Vec<u8>> {
    if is_named_pipe(path) {
        let message = "this is a named pipe, and nothing may ever be written to it; name /dev/stdin in its place, and redirect \
                       the pipe to standard input";
        return Err(io::Error::new(ErrorKind::InvalidInput, message));
    }
    let mut file = File::open(path)?;
    let metadata = file.metadata()?;
    let mut content = Vec::new();
    if metadata.is_file() {
        content = memory_for(metadata.len())?;
        file.read_to_end(&mut content)?;
    } else if file.take(LARGEST_STREAM + 1).read_to_end(&mut content)? as u64 > LARGEST_STREAM {
        let message =
            "this is not a regular file and has more than 1 GiB; copy what you need of it into a file";
        return Err(io::Error::new(ErrorKind::FileTooLarge, message));
    }
    Ok(content)
}

/// Returns whether a path leads to a pipe that has yet to be opened.
fn is_named_pipe(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        let opened = ["/dev/stdin", "/dev/fd", "/proc/self/fd"];
        !opened.iter().any(|opened| path.starts_with(opened))
            && fs::metadata(path).is_ok_and(|found| found.file_type().is_fifo())
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        false
    }
}

/// Checks that what a project names as a file is one: it is read again and again, and lines are added to it. If nothing is there, that is
/// left to the reader.
///
/// # Errors
/// If it is a folder, a pipe or a device.
pub fn require_regular(path: &Path) -> Result<(), DataError> {
    match fs::metadata(path) {
        Ok(found) if !found.is_file() => {
            let source = io::Error::new(ErrorKind::InvalidInput, NOT_REGULAR);
            Err(DataError::File { path: path.to_owned(), source })
        }
        _ => Ok(()),
    }
}

/// What is wrong with a file that must be a regular one.
pub(crate) const NOT_REGULAR: &str = "this is not a regular file; copy what you need of it into one";

/// Allocates memory for a file of a known length. It may claim to be larger than any memory.
fn memory_for(length: u64) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    let size = usize::try_from(length).unwrap_or(usize::MAX);
    match content.try_reserve_exact(size) {
        Ok(()) => Ok(content),
        Err(_) => {
            let message = format!("this file has {} MiB, which do not fit in memory", length >> 20);
            Err(io::Error::new(ErrorKind::OutOfMemory, message))
        }
    }
}

/// Reads a UTF-8 file as it is, as [`read_bytes`] does.
///
/// # Errors
/// Those of [`read_bytes`], and if it is not UTF-8.
pub fn read_utf8(path: &Path) -> io::Result<String> {
    String::from_utf8(read_bytes(path)?)
        .map_err(|_| io::Error::new(ErrorKind::InvalidData, "this is not UTF-8"))
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

    #[cfg(unix)]
    #[test]
    fn an_endless_device_is_refused() {
        let error = read(Path::new("/dev/zero")).unwrap_err().to_string();
        assert!(error.contains("/dev/zero: this is not a regular file"), "{error}");
        assert_eq!(read(Path::new("/dev/null")).unwrap(), "");
    }

    /// Issue 18: a pipe without a writer was waited for.
    #[cfg(unix)]
    #[test]
    fn a_pipe_is_read_if_it_is_open_and_refused_if_it_has_a_name() {
        use std::io::Write;
        use std::os::fd::AsRawFd;
        let folder = tempfile::tempdir().unwrap();
        let named = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&named).status().unwrap().success());
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&named, &link).unwrap();
        for path in [&named, &link] {
            let error = read(path).unwrap_err().to_string();
            assert!(error.contains("this is a named pipe"), "{error}");
        }
        let (reader, mut writer) = io::pipe().unwrap();
        writer.write_all(b"one\r\ntwo").unwrap();
        drop(writer);
        let open = format!("/dev/fd/{}", reader.as_raw_fd());
        assert_eq!(read(Path::new(&open)).unwrap(), "one\ntwo");
        for path in [named.as_path(), folder.path(), Path::new("/dev/null")] {
            let error = require_regular(path).unwrap_err().to_string();
            assert!(error.contains("this is not a regular file"), "{error}");
        }
        require_regular(&folder.path().join("none")).unwrap();
    }

    /// Issue 18: the length of a file was allocated at once, which ended the program if it was larger than memory.
    #[test]
    fn a_file_that_does_not_fit_in_memory_is_refused() {
        for length in [1 << 62, u64::MAX] {
            let error = memory_for(length).unwrap_err().to_string();
            assert!(error.ends_with("which do not fit in memory"), "{error}");
        }
        assert_eq!(memory_for(0).unwrap().len(), 0);
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
