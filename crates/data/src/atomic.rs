//! Files that appear whole or not at all.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

/// Writes a file, whole or not at all. Its permissions are those of any new file.
///
/// # Errors
/// If that fails; an earlier version of the file is then unchanged.
pub fn write_file(path: &Path, content: &[u8]) -> io::Result<()> {
    write_file_with(path, |file| file.write_all(content))
}

/// Writes a file with a function, as [`write_file`] does: into a temporary file beside it, which is synchronised with the disk
/// and then renamed.
///
/// # Errors
/// If that or `write` fails; an earlier version of the file is then unchanged.
pub fn write_file_with(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let prefix = format!(".{name}.");
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix);
    // Temporary files are private to their owner unless told otherwise. The umask still applies.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut temporary = builder.tempfile_in(folder)?;
    write(temporary.as_file_mut())?;
    temporary.as_file().sync_all()?;
    temporary.persist(path).map_err(|error| error.error)?;
    // Makes the new name survive a power failure. Not all file systems can do that for a folder.
    #[cfg(unix)]
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(())
}

/// Writes a file that a user named. A regular file is written whole or not at all, as by [`write_file`], and one that is
/// read-only stays as it is. A link, a pipe or a device is written to, and not replaced.
///
/// # Errors
/// If that fails.
pub fn write_output(path: &Path, content: &[u8]) -> io::Result<()> {
    write_output_with(path, |file| file.write_all(content))
}

/// Writes a file that a user named with a function, as [`write_output`] does.
///
/// # Errors
/// If that or `write` fails.
pub fn write_output_with(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    match std::fs::symlink_metadata(path) {
        Ok(found) if !found.is_file() => {
            let mut file = File::options().write(true).create(true).truncate(true).open(path)?;
            write(&mut file)
        }
        Ok(found) if found.permissions().readonly() => {
            Err(io::Error::new(io::ErrorKind::PermissionDenied, "the file is read-only"))
        }
        _ => write_file_with(path, write),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

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
        assert_eq!(write_output(&at("plain"), b"eight").unwrap_err().kind(), io::ErrorKind::PermissionDenied);
        assert_eq!(fs::read(at("plain")).unwrap(), b"three");
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
