//! Files that appear whole or not at all.

use std::ffi::OsStr;
use std::fs::{self, File, Metadata};
use std::io::{self, Write};
use std::path::Path;
use tempfile::NamedTempFile;

/// Writes a file, whole or not at all. Its permissions are those of any new file.
///
/// # Errors
/// If that fails; an earlier version of the file is then unchanged.
pub fn write_file(path: &Path, content: &[u8]) -> io::Result<()> {
    write_file_with(path, |file| file.write_all(content))
}

/// Writes a file that only its owner can read and write, whole or not at all.
///
/// # Errors
/// As [`write_file`].
pub fn write_private_file(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut temporary = temporary_file_for(path, OF_OWNER)?;
    temporary.write_all(content)?;
    move_to(temporary, path)
}

/// Writes a file with a function, as [`write_file`] does: into a temporary file beside it, which is synchronised with the disk
/// and then renamed.
///
/// # Errors
/// If that or `write` fails; an earlier version of the file is then unchanged.
pub fn write_file_with(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let mut temporary = temporary_file_for(path, OF_ANY_FILE)?;
    write(temporary.as_file_mut())?;
    move_to(temporary, path)
}

/// The permissions of any new file, of which the umask takes some away.
const OF_ANY_FILE: u32 = 0o666;
/// The permissions of a private file.
const OF_OWNER: u32 = 0o600;

/// Returns the folder that a file is in, or will be.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Makes a temporary file beside another, with these permissions on Unix.
fn temporary_file_for(path: &Path, mode: u32) -> io::Result<NamedTempFile> {
    let folder = folder_of(path);
    let prefix = temporary_prefix(path);
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).rand_bytes(RANDOM_CHARACTERS);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(mode));
    #[cfg(not(unix))]
    let _ = mode;
    builder.tempfile_in(folder).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            io::Error::new(io::ErrorKind::NotFound, format!("there is no folder {}", folder.display()))
        }
        // The name of the temporary file means nothing to users.
        kind => {
            let message = error.to_string();
            let reason = message.split_once(" at path ").map_or(message.as_str(), |(reason, _)| reason);
            io::Error::new(kind, reason)
        }
    })
}

/// Gives a temporary file its name, after its content is on the disk.
fn move_to(temporary: NamedTempFile, path: &Path) -> io::Result<()> {
    temporary.as_file().sync_all()?;
    temporary.persist(path).map_err(|error| error.error)?;
    // Makes the new name survive a power failure. Not all file systems can do that for a folder.
    #[cfg(unix)]
    let _ = File::open(folder_of(path)).and_then(|folder| folder.sync_all());
    Ok(())
}

/// The number of random characters at the end of a temporary file's name.
const RANDOM_CHARACTERS: usize = 6;

/// Returns what the names of temporary files for a path begin with.
fn temporary_prefix(path: &Path) -> String {
    format!(".{}.", path.file_name().unwrap_or_default().to_string_lossy())
}

/// Removes the temporary files that [`write_file`] left behind for these names in a folder, because its process was killed.
/// No process may be writing these files. What cannot be removed is left: it does no harm.
pub fn remove_temporary_files<'n>(folder: &Path, names: impl IntoIterator<Item = &'n str>) {
    let prefixes: Vec<String> = names.into_iter().map(|name| temporary_prefix(Path::new(name))).collect();
    let is_temporary = |name: &str| {
        prefixes.iter().filter_map(|prefix| name.strip_prefix(prefix.as_str())).any(|rest| {
            rest.len() == RANDOM_CHARACTERS && rest.bytes().all(|byte| byte.is_ascii_alphanumeric())
        })
    };
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if is_file && entry.file_name().to_str().is_some_and(is_temporary) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Removes what killed processes left behind that were writing a file, or the one that a link points to, as [`remove_temporary_files`] does.
pub(crate) fn remove_temporary_files_for(path: &Path) {
    let Ok(path) = fs::canonicalize(path) else { return };
    if let Some(name) = path.file_name().and_then(OsStr::to_str) {
        remove_temporary_files(folder_of(&path), [name]);
    }
}

/// Writes a file that belongs to a user. A regular file is written whole or not at all, as by [`write_file`], and keeps its
/// permissions; one that is read-only stays as it is. A link is not replaced: what it points to is written. A pipe or a device
/// is written to, and so are `/dev/stdout` and `/dev/stderr`, whatever they lead to.
///
/// # Errors
/// If that fails.
pub fn write_output(path: &Path, content: &[u8]) -> io::Result<()> {
    write_output_with(path, |file| file.write_all(content))
}

/// Writes a file that belongs to a user with a function, as [`write_output`] does.
///
/// # Errors
/// If that or `write` fails.
pub fn write_output_with(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    if let Some(mut stream) = standard_stream(path)? {
        return write(&mut stream);
    }
    let earlier = match fs::metadata(path) {
        Ok(found) if found.is_file() => found,
        Err(_) if fs::symlink_metadata(path).is_err() => return write_file_with(path, write),
        // A pipe, a device, or a link to nothing.
        _ => return write_in_place(path, write),
    };
    if earlier.permissions().readonly() {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the file is read-only"));
    }
    // Whoever may write to the folder could replace the file of somebody else, which they may not write to.
    File::options().write(true).open(path)?;
    let path = fs::canonicalize(path)?;
    let mut temporary = match temporary_file_for(&path, OF_ANY_FILE) {
        Ok(temporary) => temporary,
        // Nothing can be made in its folder, but the file itself may allow to be written.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return write_in_place(&path, write),
        Err(error) => return Err(error),
    };
    write(temporary.as_file_mut())?;
    keep_permissions(temporary.as_file(), &earlier)?;
    move_to(temporary, &path)
}

/// Returns standard output or the standard error stream, if that is what a path means. What they are redirected to may have other content,
/// and the shell decides where more of it goes.
fn standard_stream(path: &Path) -> io::Result<Option<File>> {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd;
        let stream = match path.to_str() {
            Some("/dev/stdout" | "/dev/fd/1" | "/proc/self/fd/1") => {
                io::stdout().as_fd().try_clone_to_owned()?
            }
            Some("/dev/stderr" | "/dev/fd/2" | "/proc/self/fd/2") => {
                io::stderr().as_fd().try_clone_to_owned()?
            }
            _ => return Ok(None),
        };
        Ok(Some(File::from(stream)))
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        Ok(None)
    }
}

/// Writes to what is there, or to a new file if it is a link to nothing.
fn write_in_place(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    write(&mut File::options().write(true).create(true).truncate(true).open(path)?)
}

/// Gives a file the owner and the permissions of the one that it replaces.
fn keep_permissions(file: &File, earlier: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, fchown};
        let new = file.metadata()?;
        if (new.uid(), new.gid()) != (earlier.uid(), earlier.gid()) {
            // Only root may give files away.
            let _ = fchown(file, Some(earlier.uid()), Some(earlier.gid()));
        }
    }
    file.set_permissions(earlier.permissions())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_leaves_the_earlier_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        write_file(&path, b"one").unwrap();
        let failed = write_file_with(&path, |file| {
            file.write_all(b"tw")?;
            Err(io::Error::other("the disk is full"))
        });
        assert_eq!(failed.unwrap_err().to_string(), "the disk is full");
        assert_eq!(fs::read(&path).unwrap(), b"one");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(write_file(&folder.path().join("no/such/folder"), b"").is_err());
    }

    /// Issue 18: a report replaced links, pipes and devices by files.
    #[cfg(unix)]
    #[test]
    fn outputs_replace_only_regular_files_that_can_be_written() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        write_output(&at("plain"), b"one").unwrap();
        write_output(&at("plain"), b"two").unwrap();
        assert_eq!(fs::read(at("plain")).unwrap(), b"two");

        symlink(at("plain"), at("link")).unwrap();
        symlink(at("new"), at("dangling")).unwrap();
        symlink("/dev/full", at("full")).unwrap();
        write_output(&at("link"), b"three").unwrap();
        write_output(&at("dangling"), b"four").unwrap();
        assert!(write_output(&at("full"), b"five").is_err());
        for link in ["link", "dangling", "full"] {
            assert!(fs::symlink_metadata(at(link)).unwrap().is_symlink(), "{link}");
        }
        assert_eq!(fs::read(at("plain")).unwrap(), b"three");
        assert_eq!(fs::read(at("new")).unwrap(), b"four");
        write_output(Path::new("/dev/null"), b"six").unwrap();
        assert!(!fs::symlink_metadata("/dev/null").unwrap().is_file());

        let pipe = at("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || fs::read(pipe).unwrap()
        });
        write_output(&pipe, b"seven").unwrap();
        assert_eq!(reader.join().unwrap(), b"seven");
        assert!(!fs::symlink_metadata(&pipe).unwrap().is_file());

        fs::set_permissions(at("plain"), PermissionsExt::from_mode(0o444)).unwrap();
        // Also through a link, and for root.
        for name in ["plain", "link"] {
            assert_eq!(
                write_output(&at(name), b"eight").unwrap_err().kind(),
                io::ErrorKind::PermissionDenied
            );
            assert_eq!(fs::read(at("plain")).unwrap(), b"three");
        }
        fs::set_permissions(at("plain"), PermissionsExt::from_mode(0o600)).unwrap();
        write_output(&at("link"), b"nine").unwrap();
        assert_eq!(fs::read(at("plain")).unwrap(), b"nine");
        assert_eq!(fs::metadata(at("plain")).unwrap().permissions().mode() & 0o777, 0o600);

        let error = write_output(&at("no/such/file"), b"").unwrap_err().to_string();
        assert_eq!(error, format!("there is no folder {}", at("no/such").display()));
        let error = write_output(&at("plain/file"), b"").unwrap_err().to_string();
        assert_eq!(error, "Not a directory (os error 20)");
    }

    /// Issue 18: checkpoints of killed processes were left behind.
    #[test]
    fn the_temporary_file_of_a_killed_process_is_removed_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let mut left_behind = None;
        let _ = write_file_with(&path, |_| {
            // What a kill leaves at this moment.
            let entry = fs::read_dir(folder.path())?.next().unwrap()?;
            left_behind = Some(entry.file_name());
            Err(io::Error::other("killed"))
        });
        let left_behind = left_behind.unwrap();
        let kept = ["file", ".file", ".file.short", ".file.toolong", ".file.abc.ef", ".other.abcdef"];
        for name in kept {
            fs::write(folder.path().join(name), b"").unwrap();
        }
        fs::create_dir(folder.path().join(".file.folder")).unwrap();
        fs::write(folder.path().join(&left_behind), b"").unwrap();
        remove_temporary_files(folder.path(), ["file", "another"]);
        assert!(!folder.path().join(left_behind).exists());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), kept.len() + 1);
    }

    #[cfg(unix)]
    #[test]
    fn permissions_are_those_of_any_new_file() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (ours, other) = (folder.path().join("ours"), folder.path().join("other"));
        write_file(&ours, b"").unwrap();
        fs::write(&other, b"").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&ours), mode(&other));
    }
}
