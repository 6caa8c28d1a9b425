//! The manifest of a run: a checksum of every file.
//!
//! A weight with one flipped bit is still a number, and the weights of another run often have the same sizes. Both would
//! answer. The manifest tells whether a file is the one that training wrote. It is no protection against somebody who
//! changes a file on purpose, because they can change the manifest too.

use crate::folder::{RunError, RunFile, RunFolder};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// The version of the files of a run. It changes when an earlier program would misread them.
const FORMAT: u32 = 1;

/// Returns whether a manifest lists a file, if it exists: all do that are not written after it or while the run is trained.
fn is_listed(file: RunFile) -> bool {
    !matches!(file, RunFile::Manifest | RunFile::Lock | RunFile::Progress | RunFile::Parsers)
}

/// The content of `manifest.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The version of the files.
    format: u32,
    /// The SHA-256 of each file.
    files: BTreeMap<String, String>,
}

impl Manifest {
    /// Returns the manifest of the files in a folder, and of a file that is written next. Of a folder that has a manifest, it keeps the
    /// checksums of all files that were not written with `folder`: damage to them is still noticed.
    ///
    /// # Errors
    /// If a file, or the earlier manifest, cannot be read.
    pub(crate) fn of(folder: &RunFolder, next: Option<(RunFile, &[u8])>) -> Result<Manifest, RunError> {
        let earlier = Manifest::read(folder)?;
        let is_new = |file| earlier.is_none() || folder.wrote(file);
        let mut files = earlier.as_ref().map(|manifest| manifest.files.clone()).unwrap_or_default();
        for file in RunFile::ALL.into_iter().filter(|&file| is_listed(file) && folder.has(file)) {
            if is_new(file) {
                files.insert(file.name().to_owned(), checksum(&folder.read(file)?));
            }
        }
        if let Some((file, content)) = next {
            files.insert(file.name().to_owned(), checksum(content));
        }
        Ok(Manifest { format: FORMAT, files })
    }

    /// Reads the manifest of a run. Returns `None` if there is none: the run is not finished, or by an earlier version.
    ///
    /// # Errors
    /// If it cannot be read, or is by a later version whose files this version would misread.
    pub fn read(folder: &RunFolder) -> Result<Option<Manifest>, RunError> {
        if !folder.has(RunFile::Manifest) {
            return Ok(None);
        }
        let manifest: Manifest = folder.read_json(RunFile::Manifest)?;
        if manifest.format != FORMAT {
            let message = format!(
                "the files of this run have the format {}, and this version of xpr reads format {FORMAT}; use the \
                 version that trained it",
                manifest.format
            );
            return Err(folder.content_error(RunFile::Manifest, message));
        }
        Ok(Some(manifest))
    }

    /// Returns whether the manifest lists a file.
    pub fn lists(&self, file: RunFile) -> bool {
        self.files.contains_key(file.name())
    }

    /// Returns whether `content` is what the manifest lists for a file. It is not if the manifest does not list the file.
    pub fn matches(&self, file: RunFile, content: &[u8]) -> bool {
        self.files.get(file.name()).is_some_and(|listed| *listed == checksum(content))
    }
}

fn checksum(content: &[u8]) -> String {
    Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_manifest_knows_its_files_and_its_format() {
        let folder = tempfile::tempdir().unwrap();
        let run = RunFolder::create(folder.path()).unwrap();
        run.write(RunFile::Config, b"a").unwrap();
        assert_eq!(Manifest::read(&run).unwrap(), None);
        run.finish(&"right").unwrap();
        let manifest = Manifest::read(&run).unwrap().unwrap();
        assert!(
            manifest.matches(RunFile::Config, b"a") && manifest.matches(RunFile::Evaluation, b"\"right\"")
        );
        assert!(!manifest.matches(RunFile::Config, b"b") && !manifest.matches(RunFile::Model, b""));
        assert_eq!(run.read_checked(RunFile::Config, Some(&manifest)).unwrap(), b"a");
        run.write(RunFile::Config, b"b").unwrap();
        let error = run.read_checked(RunFile::Config, Some(&manifest)).unwrap_err().to_string();
        assert!(error.contains("config.toml: this is not the file that training wrote"), "{error}");
        run.remove(RunFile::Config).unwrap();
        let error = run.read_checked(RunFile::Config, Some(&manifest)).unwrap_err().to_string();
        assert!(error.contains("config.toml: it is missing"), "{error}");
        // Finishing again does not list what lies there, but what training wrote.
        let again = RunFolder::open_or_create(folder.path()).unwrap();
        again.write(RunFile::Card, b"card").unwrap();
        fs::write(again.path(RunFile::Config), b"b").unwrap();
        again.finish(&"wrong").unwrap();
        let manifest = Manifest::read(&again).unwrap().unwrap();
        assert!(manifest.matches(RunFile::Config, b"a") && manifest.matches(RunFile::Card, b"card"));
        assert!(manifest.matches(RunFile::Evaluation, b"\"wrong\""));
        run.write(RunFile::Manifest, b"{\"format\": 2, \"files\": {}}").unwrap();
        assert!(Manifest::read(&run).unwrap_err().to_string().contains("have the format 2"));
    }
}
