//! Private folders for copies of databases.
//!
//! A folder is deleted when it is no longer needed. The folder of a process that was killed stays, and a copy of a database
//! can be large. So a folder has a file that its process holds a lock on, and whoever makes a new folder deletes those
//! whose lock is free.

use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// What the names of these folders begin with.
const PREFIX: &str = "xpr-database-";
/// The name of the file with the lock.
const LOCK: &str = "lock";
/// The name of that file before its process holds the lock.
const NEW_LOCK: &str = "lock.new";
/// The name of the copy.
const COPY: &str = "database";

/// A private folder for the copy of a database. It is deleted with this value.
pub(crate) struct PrivateFolder {
    folder: TempDir,
    _lock: File,
}

impl PrivateFolder {
    /// Makes a folder where temporary files are, and deletes those that processes left behind.
    ///
    /// # Errors
    /// If it cannot be made.
    pub(crate) fn new() -> io::Result<PrivateFolder> {
        PrivateFolder::new_in(&std::env::temp_dir())
    }

    fn new_in(parent: &Path) -> io::Result<PrivateFolder> {
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent)?;
        // The lock has its name only when it is held. Otherwise another process could take it before.
        let unnamed = folder.path().join(NEW_LOCK);
        let lock = File::create(&unnamed)?;
        lock.lock()?;
        fs::rename(unnamed, folder.path().join(LOCK))?;
        let owner = owner(&fs::metadata(folder.path())?);
        for entry in fs::read_dir(parent)?.flatten() {
            let name = entry.file_name();
            let path = entry.path();
            if name.to_str().is_some_and(|name| name.starts_with(PREFIX)) && is_abandoned(&path, owner) {
                // What cannot be deleted does no harm.
                let _ = fs::remove_dir_all(path);
            }
        }
        Ok(PrivateFolder { folder, _lock: lock })
    }

    /// Makes a link to a file, and returns its path.
    #[cfg(feature = "duckdb")]
    pub(crate) fn link(&self, name: &str, to: &Path) -> io::Result<PathBuf> {
        let link = self.folder.path().join(name);
        std::os::unix::fs::symlink(to, &link)?;
        Ok(link)
    }

    /// Returns the path of the copy.
    pub(crate) fn copy(&self) -> PathBuf {
        self.folder.path().join(COPY)
    }
}

/// Returns whether a folder belongs to this user, and no process uses it. A folder without a lock is just being made.
fn is_abandoned(folder: &Path, user: u32) -> bool {
    let is_ours = |path: &Path, is_kind: fn(&Metadata) -> bool| {
        fs::symlink_metadata(path).is_ok_and(|found| is_kind(&found) && owner(&found) == user)
    };
    let lock = folder.join(LOCK);
    is_ours(folder, Metadata::is_dir)
        && is_ours(&lock, Metadata::is_file)
        && File::open(lock).is_ok_and(|lock| lock.try_lock().is_ok())
}

/// Returns the user a file belongs to.
fn owner(metadata: &Metadata) -> u32 {
    #[cfg(unix)]
    return std::os::unix::fs::MetadataExt::uid(metadata);
    #[cfg(not(unix))]
    {
        let _ = metadata;
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Issue 18: killed processes left copies of databases behind.
    #[test]
    fn folders_of_killed_processes_are_deleted_and_others_are_not() {
        let parent = tempfile::tempdir().unwrap();
        let used = PrivateFolder::new_in(parent.path()).unwrap();
        fs::write(used.copy(), b"content").unwrap();
        let abandoned = parent.path().join(format!("{PREFIX}killed"));
        let begun = parent.path().join(format!("{PREFIX}begun"));
        let other = parent.path().join("other");
        for folder in [&abandoned, &begun, &other] {
            fs::create_dir(folder).unwrap();
            fs::write(folder.join(COPY), b"content").unwrap();
        }
        for folder in [&abandoned, &other] {
            fs::write(folder.join(LOCK), b"").unwrap();
        }
        let second = PrivateFolder::new_in(parent.path()).unwrap();
        assert!(!abandoned.exists());
        assert!(used.copy().exists() && begun.exists() && other.exists());
        drop((used, second));
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 2);
    }

    /// Issue 18: a folder was deleted by another process before its lock was held.
    #[test]
    fn folders_that_are_made_at_the_same_time_do_not_delete_each_other() {
        let parent = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let folder = PrivateFolder::new_in(parent.path()).unwrap();
                        fs::write(folder.copy(), b"content").unwrap();
                        assert!(folder.folder.path().join(LOCK).exists());
                    }
                });
            }
        });
    }
}
