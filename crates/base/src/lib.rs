//! The pretrained parser in the binary, from which the parser of a user's database starts, and its word vectors.
//!
//! This crate has the bytes and their checksums. What they mean is said where they are read and written: `xpr_learn` opens
//! the parser, and `xpr_data` the word vectors. `xpr base` makes the files anew.
//!
//! ```text
//! data/parser.safetensors    settings, grammar and weights in half precision
//! data/vectors.safetensors   words and their vectors in 8 bits
//! data/patterns.json         patterns of questions, by which questions about a new database are made up
//! data/SHA256SUMS            the checksums of these, as `sha256sum` prints them
//! data/card.md               what the parser was trained on, and how often it is right
//! ```
//!
//! The files are part of the program and are not copied when it starts: a command that does not use them never reads them.

use sha2::{Digest, Sha256};
use std::sync::OnceLock;
use thiserror::Error;

/// The name of the file with the parser.
pub const PARSER_FILE: &str = "parser.safetensors";
/// The name of the file with the word vectors.
pub const VECTORS_FILE: &str = "vectors.safetensors";
/// The name of the file with the patterns of questions.
pub const PATTERNS_FILE: &str = "patterns.json";
/// The name of the file with the checksums of the others.
pub const CHECKSUMS_FILE: &str = "SHA256SUMS";
/// The name of the card.
pub const CARD_FILE: &str = "card.md";

/// What the base is, which data it was trained on, and their licences.
pub const README: &str = include_str!("../README.md");

/// The card: how much the parser was trained on, and how often it is right.
pub const CARD: &str = include_str!("../data/card.md");

/// The checksums of the files, as `sha256sum` prints them.
pub const CHECKSUMS: &str = include_str!("../data/SHA256SUMS");

/// A file that is not the one its checksum was computed from.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DamagedFile {
    /// The list has no checksum for the file.
    #[error("{CHECKSUMS_FILE} has no checksum of {0}; make both anew with `xpr base`")]
    NotListed(String),
    /// The checksum is another one.
    #[error(
        "{name} is damaged or was replaced: its checksum is {found} and not {expected}, as {CHECKSUMS_FILE} says; restore it, or \
         make it anew with `xpr base`"
    )]
    Checksum {
        /// The name of the file.
        name: String,
        /// The checksum of its content.
        found: String,
        /// The checksum in the list.
        expected: String,
    },
}

/// Returns the file with the parser, after its checksum was checked once.
///
/// # Errors
/// If the checksum is not that of the file.
pub fn parser() -> Result<&'static [u8], DamagedFile> {
    static CHECKED: OnceLock<Result<(), DamagedFile>> = OnceLock::new();
    let content = include_bytes!("../data/parser.safetensors");
    CHECKED.get_or_init(|| check(CHECKSUMS, PARSER_FILE, content)).clone().map(|()| content.as_slice())
}

/// Returns the file with the word vectors, after its checksum was checked once.
///
/// # Errors
/// If the checksum is not that of the file.
pub fn vectors() -> Result<&'static [u8], DamagedFile> {
    static CHECKED: OnceLock<Result<(), DamagedFile>> = OnceLock::new();
    let content = include_bytes!("../data/vectors.safetensors");
    CHECKED.get_or_init(|| check(CHECKSUMS, VECTORS_FILE, content)).clone().map(|()| content.as_slice())
}

/// Returns the file with the patterns of questions, after its checksum was checked.
///
/// # Errors
/// If the checksum is not that of the file.
pub fn patterns() -> Result<&'static [u8], DamagedFile> {
    let content = include_bytes!("../data/patterns.json");
    check(CHECKSUMS, PATTERNS_FILE, content).map(|()| content.as_slice())
}

/// Checks the content of a file against a list of checksums.
///
/// # Errors
/// If the list does not have the file, or another checksum.
///
/// ```
/// let list = xpr_base::checksums(&[("a", b"content")]);
/// assert!(xpr_base::check(&list, "a", b"content").is_ok());
/// assert!(xpr_base::check(&list, "a", b"contend").is_err());
/// ```
pub fn check(list: &str, name: &str, content: &[u8]) -> Result<(), DamagedFile> {
    let listed = list.lines().filter_map(|line| line.split_once("  ")).find(|(_, listed)| *listed == name);
    let Some((expected, _)) = listed else { return Err(DamagedFile::NotListed(name.to_owned())) };
    match checksum(content) {
        found if found == expected => Ok(()),
        found => Err(DamagedFile::Checksum { name: name.to_owned(), found, expected: expected.to_owned() }),
    }
}

/// Returns the checksums of files with these names and contents, as `sha256sum` prints them.
pub fn checksums(files: &[(&str, &[u8])]) -> String {
    files.iter().map(|(name, content)| format!("{}  {name}\n", checksum(content))).collect()
}

fn checksum(content: &[u8]) -> String {
    Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_the_binary_are_those_of_their_checksums() {
        assert!(!parser().unwrap().is_empty() && !vectors().unwrap().is_empty());
        assert!(CARD.contains(&checksum(parser().unwrap())), "the card is that of another parser");
        let bytes = parser().unwrap().len() + vectors().unwrap().len() + patterns().unwrap().len();
        assert!(bytes <= 12 << 20, "{bytes} bytes are too many for a repository");
    }

    #[test]
    fn a_flipped_bit_is_noticed() {
        let mut content = vectors().unwrap().to_vec();
        let middle = content.len() / 2;
        content[middle] ^= 1;
        let error = check(CHECKSUMS, VECTORS_FILE, &content).unwrap_err().to_string();
        assert!(
            error.starts_with("vectors.safetensors is damaged or was replaced: its checksum is"),
            "{error}"
        );
        let error = check("", "a", b"").unwrap_err().to_string();
        assert_eq!(error, "SHA256SUMS has no checksum of a; make both anew with `xpr base`");
    }
}
