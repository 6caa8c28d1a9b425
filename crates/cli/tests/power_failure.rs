//! What survives a power failure, seen in the system calls of whole commands (issue 18). `strace` shows them.
#![allow(clippy::unwrap_used, reason = "these are tests")]

mod strace {
    use std::fs;
    use std::path::{Path, PathBuf};
    use std::process::Command;

    /// A system call that decides what a power failure leaves.
    #[derive(Debug, PartialEq)]
    enum Call {
        /// What was written to a file or a folder is on the disk.
        Synchronise(PathBuf),
        /// A file replaces another, or none.
        Rename(PathBuf, PathBuf),
    }

    /// Runs a command in a folder and returns its calls in order.
    fn calls(folder: &Path, arguments: &[&str]) -> Vec<Call> {
        let log = folder.join("calls.log");
        let mut command = Command::new("strace");
        // `-y` shows the path of a file, `-s` all of its characters, and `-z` only calls that succeed.
        let trace = ["-f", "-y", "-z", "-s", "4096", "-e", "trace=fsync,fdatasync,rename,renameat,renameat2"];
        command.current_dir(folder).args(trace).arg("-o").arg(&log).arg(env!("CARGO_BIN_EXE_xpr"));
        let output = command.args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        fs::read_to_string(log).unwrap().lines().filter_map(|line| call(folder, line)).collect()
    }

    fn call(folder: &Path, line: &str) -> Option<Call> {
        // The number of the thread comes first.
        let (name, arguments) = line.split_once(' ')?.1.trim_start().split_once('(')?;
        if matches!(name, "fsync" | "fdatasync") {
            let path = arguments.split_once('<')?.1.split_once('>')?.0;
            return Some(Call::Synchronise(PathBuf::from(path)));
        }
        let mut paths = arguments.split('"').skip(1).step_by(2).map(|path| folder.join(path));
        name.starts_with("rename").then_some(Call::Rename(paths.next()?, paths.next()?))
    }

    /// Issue 18: folders were not synchronised after a rename, so that a power failure could undo it.
    #[test]
    #[ignore = "needs strace"]
    fn a_file_is_on_the_disk_before_it_has_its_name_and_the_name_is_before_the_command_ends() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        let database = rusqlite::Connection::open(folder.join("music.db")).unwrap();
        database
            .execute_batch("CREATE TABLE album (title TEXT); INSERT INTO album VALUES ('Kind of Blue');")
            .unwrap();
        drop(database);
        fs::write(folder.join("pairs.tsv"), "how many albums\tSELECT count(*) FROM album\n").unwrap();

        let init = calls(&folder, &["init", "--db", "music.db", "--labeled", "pairs.tsv"]);
        let train = ["train", "music/xpr.toml", "--out", "music/run", "--set", "train.steps=1"];
        let train = calls(&folder, &train);
        for (calls, expected) in [(&init, "music/xpr.toml"), (&train, "music/run/model.safetensors")] {
            let mut renamed = Vec::new();
            for (at, call) in calls.iter().enumerate() {
                let Call::Rename(from, to) = call else { continue };
                assert!(calls[..at].contains(&Call::Synchronise(from.clone())), "{to:?} in {calls:?}");
                let named_in = Call::Synchronise(to.parent().unwrap().to_owned());
                assert!(calls[at..].contains(&named_in), "{to:?} in {calls:?}");
                renamed.push(to);
            }
            assert!(renamed.contains(&&folder.join(expected)), "{renamed:?}");
        }
    }
}
