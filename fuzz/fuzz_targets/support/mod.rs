//! A folder for files that are read again.

use std::path::Path;
use tempfile::TempDir;

/// Makes a temporary folder, in memory if the machine has such a file system.
pub(crate) fn folder() -> TempDir {
    let memory = Path::new("/dev/shm");
    let made = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
    made.expect("a temporary folder can be made")
}
