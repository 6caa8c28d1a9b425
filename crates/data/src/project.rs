//! Project folders: an experiment and the files it needs.
//!
//! ```text
//! xpr.toml        the experiment, for `xpr train`
//! train.tsv       questions with programs
//! …               other files that the experiment names
//! ```
//!
//! Each file is written completely or not at all, and the experiment last. If that fails, nothing new is left. If the process is killed, a
//! file says which files are new, and the next process writes over them.

use crate::feedback::is_at;
use crate::{DataError, remove_temporary_files, text_file, write_output_with};
use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::path::{Component, Path, PathBuf};

/// The name of the file with the experiment.
pub const EXPERIMENT_FILE: &str = "xpr.toml";

/// The file with the names of what is new in a project, as long as it is being written.
const UNFINISHED: &str = ".xpr-unfinished";

/// The settings of an experiment about a database: the section `[data]` of its configuration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProjectSettings {
    /// The address of the database, relative to the folder.
    pub database: String,
    /// The file of labeled questions.
    pub labeled: String,
    /// The file of unlabeled questions; empty for none.
    pub unlabeled: String,
    /// The file of labeled questions for testing; empty for none.
    pub test: String,
    /// The number of labeled questions that are held out for testing.
    pub held_out: usize,
    /// Foreign keys that are probably right, such as `flight.source -> airport.code`. They are written as a comment.
    pub suggested_keys: Vec<String>,
    /// Whether constants of labels may differ from the cells in blanks and case.
    pub loose_values: bool,
    /// The file of word vectors for a parser that starts from nothing; empty for none.
    pub embeddings: String,
    /// Whether the labeled questions are made up.
    pub synthetic: bool,
    /// The pretrained parser to start from: its folder, relative to the folder, or a name. Empty for none.
    pub base: String,
}

impl ProjectSettings {
    /// Returns the experiment as TOML.
    pub fn to_toml(&self) -> String {
        let mut toml = String::from(
            "# An experiment: `xpr train xpr.toml --out run` trains a parser with it.\n\n[data]\n",
        );
        let mut set = |key: &str, value: String, comment: &str| {
            let setting = format!("{key} = {value}");
            match comment {
                "" => toml.push_str(&setting),
                _ => toml.push_str(&format!("{setting:<38} # {comment}")),
            }
            toml.push('\n');
        };
        set("dataset", quoted("database"), "");
        set("folder", quoted("."), "folder of the files below, relative to this file");
        set("database", quoted(&self.database), "read, never changed");
        let labels =
            if self.synthetic { "made-up questions with programs" } else { "questions with programs" };
        set("labeled", quoted(&self.labeled), labels);
        set("unlabeled", quoted(&self.unlabeled), "questions without programs");
        set("test", quoted(&self.test), "questions with programs, for testing only");
        set("fraction", "1.0".to_owned(), "share of the labeled questions whose programs are used");
        if self.held_out > 0 {
            set(
                "held_out",
                self.held_out.to_string(),
                "labeled questions held out for testing, as there is no test file",
            );
            set("held_out_from", quoted("labeled"), "");
            set(
                "split",
                "1".to_owned(),
                "shuffles the labeled questions, so that the held-out ones are not all alike",
            );
        }
        if !self.embeddings.is_empty() {
            let comment = match self.base.is_empty() {
                true => "word vectors",
                false => "word vectors, if the parser starts from nothing",
            };
            set("embeddings", quoted(&self.embeddings), comment);
        }
        toml.push_str(
            "# What people call tables, columns and values; tables to leave out; keys that are not declared:\n",
        );
        toml.push_str(
            "# words = [\"album.f_17: price, cost\", \"artist: musician\", \"country.code = 'USA': america\"]\n",
        );
        toml.push_str("# without_tables = [\"log\"]\n");
        let suggested: Vec<String> = self.suggested_keys.iter().map(|key| quoted(key)).collect();
        let keys =
            if suggested.is_empty() { quoted("flight.source -> airport.code") } else { suggested.join(", ") };
        toml.push_str(&format!("# keys = [{keys}]\n"));
        let loose = if self.loose_values { "" } else { "# " };
        toml.push_str(&format!(
            "{loose}loose_values = true # labels may differ from the cells in blanks and case\n"
        ));
        toml.push_str(
            "\n[eval]\nvotes = true     # programs with the same answer add up their probabilities\n",
        );
        toml.push_str("penalties = true # programs lose by what they leave out of a question, and by constants nobody said\n");
        if self.synthetic {
            toml.push_str(
                "confidence_folds = 0 # made-up questions say nothing about how sure answers to others are\n",
            );
            toml.push_str(
                "\n[train]\nsteps = 100 # few, because made-up questions differ from those that people ask\n",
            );
        }
        if !self.base.is_empty() {
            toml.push_str(&format!(
                "\n[base]\nfolder = {} # the pretrained parser to start from; \"\" to start from nothing\n",
                quoted(&self.base)
            ));
        }
        if !self.unlabeled.is_empty() {
            toml.push_str(
                "\n[learn]\nobjective = \"sparse\" # how to learn from questions without programs\n",
            );
        }
        toml
    }
}

/// Returns the path of a file relative to a folder. Both paths must be absolute. Returns `file` itself if the two have
/// nothing in common.
pub fn relative_path(folder: &Path, file: &Path) -> PathBuf {
    let (here, there): (Vec<_>, Vec<_>) = (folder.components().collect(), file.components().collect());
    let shared = here.iter().zip(&there).take_while(|(here, there)| here == there).count();
    if shared == 0 {
        return file.to_owned();
    }
    let up = here[shared..].iter().map(|_| Component::ParentDir);
    up.chain(there[shared..].iter().copied()).collect()
}

/// Returns a basic string of TOML.
fn quoted(text: &str) -> String {
    let mut string = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => string.extend(['\\', c]),
            _ if c.is_control() => string.push_str(&format!("\\u{:04X}", u32::from(c))),
            _ => string.push(c),
        }
    }
    string.push('"');
    string
}

/// The content of a file of a project.
#[derive(Clone, Debug)]
enum FileContent {
    Text(String),
    CopyOf(PathBuf),
}

/// A project folder to be written.
#[derive(Clone, Debug)]
pub struct Project {
    folder: PathBuf,
    files: Vec<(String, FileContent)>,
    folders: Vec<String>,
}

impl Project {
    /// Returns a project without files. The folder is created when the project is written.
    pub fn new(folder: &Path) -> Self {
        Project { folder: folder.to_owned(), files: vec![], folders: vec![] }
    }

    /// Adds a file with this text.
    pub fn add(&mut self, name: &str, text: String) {
        self.files.push((name.to_owned(), FileContent::Text(text)));
    }

    /// Adds a copy of a file.
    pub fn add_copy(&mut self, name: &str, of: &Path) {
        self.files.push((name.to_owned(), FileContent::CopyOf(of.to_owned())));
    }

    /// Adds a folder, which whoever writes the project makes before it is finished. It is never overwritten.
    pub fn add_folder(&mut self, name: &str) {
        self.folders.push(name.to_owned());
    }

    /// Returns an error if one of the files exists already, unless a process that was killed left it.
    ///
    /// # Errors
    /// If one of the files exists already; the error names it.
    pub fn refuse_to_overwrite(&self) -> Result<(), DataError> {
        self.left_behind(false).map(|_| ())
    }

    /// Writes the files, and last the experiment with these settings. Existing files are overwritten.
    ///
    /// # Errors
    /// If a file cannot be written. New files are then removed.
    pub fn write(&self, settings: &ProjectSettings) -> Result<(), DataError> {
        self.write_with(&settings.to_toml())
    }

    /// Writes the files, and last an experiment with this text. Existing files are overwritten.
    ///
    /// # Errors
    /// Those of [`Project::write`].
    pub fn write_with(&self, experiment: &str) -> Result<(), DataError> {
        let writing = self.begin(true)?;
        writing.write(experiment)?;
        writing.finish()
    }

    /// Creates the folder, in which this process then writes. Existing files are an error unless they may be overwritten, or a process that was
    /// killed left them.
    ///
    /// # Errors
    /// If something exists that may not be overwritten, another process writes the project, or the folder cannot be written to.
    pub fn begin(&self, overwrites: bool) -> Result<UnfinishedProject<'_>, DataError> {
        self.left_behind(overwrites)?;
        let is_missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
        let new_folders = self.folder.ancestors().take_while(is_missing).map(Path::to_owned).collect();
        let mut writing = UnfinishedProject { project: self, mark: None, made: vec![], new_folders };
        fs::create_dir_all(&self.folder).map_err(failed(&self.folder))?;
        let path = self.folder.join(UNFINISHED);
        let mark = writing.mark.insert(self.locked_mark()?);
        remove_temporary_files(&self.folder, self.names());
        // Another process may have written since.
        let left_behind = self.left_behind(overwrites)?;
        let made: Vec<&str> =
            self.names().filter(|name| left_behind.contains(name) || !self.has(name)).collect();
        mark.set_len(0).and_then(|()| mark.write_all(made.join("\n").as_bytes())).map_err(failed(&path))?;
        mark.sync_all().map_err(failed(&path))?;
        writing.made = made;
        for folder in &self.folders {
            writing.remove(folder).map_err(failed(&self.folder.join(folder)))?;
        }
        Ok(writing)
    }

    /// Returns what a process that was killed made here.
    ///
    /// # Errors
    /// If there is something else that may not be overwritten; the error names it.
    fn left_behind(&self, overwrites: bool) -> Result<Vec<&str>, DataError> {
        let path = self.folder.join(UNFINISHED);
        let mark = match is_unfinished(&self.folder) {
            true => text_file::read_bytes(&path).map_err(failed(&path))?,
            false => vec![],
        };
        // A line that is no name means nothing.
        let mark = String::from_utf8_lossy(&mark);
        let (left_behind, others): (Vec<&str>, Vec<&str>) = self
            .names()
            .filter(|name| self.has(name))
            .partition(|name| mark.lines().any(|line| line == *name));
        let is_folder = |name: &&str| self.folders.iter().any(|folder| folder == name);
        let advice = |name: &str| match is_folder(&name) {
            true => "remove it, or name another folder",
            false => "name another folder, or write over it with --force",
        };
        match others.iter().find(|name| !overwrites || is_folder(name)) {
            Some(name) => {
                let message = format!("there is a {name} in it already; {}", advice(name));
                Err(DataError::Folder { folder: self.folder.clone(), message })
            }
            None => Ok(left_behind),
        }
    }

    /// Returns the names of all files and folders.
    fn names(&self) -> impl Iterator<Item = &str> {
        let files = self.files.iter().map(|(name, _)| name.as_str());
        files.chain([EXPERIMENT_FILE]).chain(self.folders.iter().map(String::as_str))
    }

    /// Returns whether something has a name in the folder, even if it is a link to nothing.
    fn has(&self, name: &str) -> bool {
        fs::symlink_metadata(self.folder.join(name)).is_ok()
    }

    /// Makes the file that says that the project is unfinished, and locks it.
    fn locked_mark(&self) -> Result<File, DataError> {
        let path = self.folder.join(UNFINISHED);
        if self.has(UNFINISHED) && !is_unfinished(&self.folder) {
            let error = io::Error::new(ErrorKind::InvalidInput, "this is not a regular file; remove it");
            return Err(failed(&path)(error));
        }
        let mark =
            File::options().create(true).truncate(false).write(true).open(&path).map_err(failed(&path))?;
        let is_locked = match mark.try_lock() {
            // The process that had the lock may have removed the file.
            Ok(()) => is_at(&mark, &path).map_err(failed(&path))?,
            Err(TryLockError::WouldBlock) => false,
            Err(TryLockError::Error(source)) => return Err(failed(&path)(source)),
        };
        match is_locked {
            true => Ok(mark),
            false => {
                let message = "another process writes a project in it; wait until that ends".to_owned();
                Err(DataError::Folder { folder: self.folder.clone(), message })
            }
        }
    }

    fn write_file(&self, name: &str, content: &FileContent) -> Result<(), DataError> {
        let path = self.folder.join(name);
        text_file::require_regular(&path)?;
        let write = |file: &mut File| match content {
            FileContent::Text(text) => file.write_all(text.as_bytes()),
            FileContent::CopyOf(path) => io::copy(&mut File::open(path)?, file).map(|_| ()),
        };
        write_output_with(&path, write).map_err(failed(&path))
    }
}

/// A project whose files are being written. When it is dropped and was not finished, what is new is removed: files, and folders that are then
/// empty. If the process is killed, a file in the folder says what is new.
#[derive(Debug)]
pub struct UnfinishedProject<'p> {
    project: &'p Project,
    /// The file that says so, which is locked; none before it was made.
    mark: Option<File>,
    /// The names of what was not there before.
    made: Vec<&'p str>,
    /// The folders that were not there before, the innermost first.
    new_folders: Vec<PathBuf>,
}

impl UnfinishedProject<'_> {
    /// Writes the files, and last an experiment with this text.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn write(&self, experiment: &str) -> Result<(), DataError> {
        let experiment = FileContent::Text(experiment.to_owned());
        for (name, content) in &self.project.files {
            self.project.write_file(name, content)?;
        }
        self.project.write_file(EXPERIMENT_FILE, &experiment)
    }

    /// Keeps what was written.
    ///
    /// # Errors
    /// If the file that says that the project is unfinished cannot be removed.
    pub fn finish(mut self) -> Result<(), DataError> {
        let path = self.project.folder.join(UNFINISHED);
        fs::remove_file(&path).map_err(failed(&path))?;
        self.mark = None;
        Ok(())
    }

    /// Removes a file or a folder that was not there before.
    fn remove(&self, name: &str) -> io::Result<()> {
        let path = self.project.folder.join(name);
        match fs::symlink_metadata(&path) {
            Ok(found) if found.is_dir() => fs::remove_dir_all(path),
            Ok(_) => fs::remove_file(path),
            Err(_) => Ok(()),
        }
    }
}

impl Drop for UnfinishedProject<'_> {
    fn drop(&mut self) {
        // What cannot be removed is left: the file that says so then stays, too.
        if self.mark.is_some() && self.made.iter().all(|name| self.remove(name).is_ok()) {
            let _ = fs::remove_file(self.project.folder.join(UNFINISHED));
        }
        for folder in &self.new_folders {
            let _ = fs::remove_dir(folder);
        }
    }
}

/// Returns whether a process that writes a project in a folder has not finished it, or was killed before.
pub fn is_unfinished(folder: &Path) -> bool {
    fs::symlink_metadata(folder.join(UNFINISHED)).is_ok_and(|found| found.is_file())
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> DataError {
    let path = path.to_owned();
    move |source| DataError::File { path, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn projects_are_complete_and_existing_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path().join("new/project");
        let other = folder.path().join("other");
        fs::write(&other, "copied").unwrap();
        let mut project = Project::new(&here);
        project.add("train.tsv", "a\tb\n".to_owned());
        project.add_copy("copy", &other);
        project.refuse_to_overwrite().unwrap();
        project.write(&ProjectSettings::default()).unwrap();
        assert_eq!(fs::read_to_string(here.join("copy")).unwrap(), "copied");
        assert_eq!(fs::read_to_string(here.join("train.tsv")).unwrap(), "a\tb\n");
        assert_eq!(fs::read_dir(&here).unwrap().count(), 3);
        let error = project.refuse_to_overwrite().unwrap_err().to_string();
        assert!(error.contains("there is a train.tsv in it already"), "{error}");

        fs::remove_file(&other).unwrap();
        let error = project.write(&ProjectSettings::default()).unwrap_err().to_string();
        assert!(error.contains("copy: "), "{error}");
        assert_eq!(fs::read_dir(&here).unwrap().count(), 3);
    }

    /// Issue 18: half a project was left, and refused by the next attempt.
    #[test]
    fn a_project_that_cannot_be_written_leaves_what_was_there_before() {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path().join("new/project");
        let mut project = Project::new(&here);
        project.add("train.tsv", "new".to_owned());
        project.add_copy("copy", &folder.path().join("none"));
        project.add_folder("run");
        project.write(&ProjectSettings::default()).unwrap_err();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);

        let write_and_fail = || {
            let writing = project.begin(true).unwrap();
            writing.write("").unwrap_err();
            fs::create_dir(here.join("run")).unwrap();
            fs::write(here.join("run/config.toml"), "").unwrap();
        };
        fs::create_dir_all(&here).unwrap();
        fs::write(here.join("others"), "kept").unwrap();
        write_and_fail();
        assert_eq!(fs::read_dir(&here).unwrap().count(), 1);
        fs::write(here.join("copy"), "kept").unwrap();
        write_and_fail();
        assert_eq!(fs::read_dir(&here).unwrap().count(), 2);
        assert_eq!(fs::read_to_string(here.join("copy")).unwrap(), "kept");
    }

    /// Issue 18: likewise.
    #[test]
    fn what_a_killed_process_left_is_overwritten_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let mut project = Project::new(folder.path());
        project.add("train.tsv", "new".to_owned());
        project.add("test.tsv", "new".to_owned());
        project.add_folder("run");
        fs::write(folder.path().join("test.tsv"), "earlier").unwrap();
        let writing = project.begin(true).unwrap();
        let error = project.begin(true).unwrap_err().to_string();
        assert!(error.contains("another process writes a project in it"), "{error}");
        writing.write("").unwrap();
        fs::create_dir(folder.path().join("run")).unwrap();
        // As if killed: the lock is gone with the file, and the others are there.
        let mark = fs::read(folder.path().join(UNFINISHED)).unwrap();
        std::mem::forget(writing);
        fs::remove_file(folder.path().join(UNFINISHED)).unwrap();
        let error = project.begin(true).unwrap_err().to_string();
        assert!(error.contains("there is a run in it already; remove it"), "{error}");
        fs::write(folder.path().join(UNFINISHED), [b"\xff\n", mark.as_slice()].concat()).unwrap();
        fs::write(folder.path().join(".train.tsv.abcdef"), "half of i").unwrap();

        let error = project.begin(false).unwrap_err().to_string();
        assert!(error.contains("there is a test.tsv in it already"), "{error}");
        fs::remove_file(folder.path().join("test.tsv")).unwrap();
        drop(project.begin(false).unwrap());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    /// Issue 18: a link to shared labels was replaced.
    #[cfg(unix)]
    #[test]
    fn what_is_overwritten_is_what_a_link_points_to() {
        let folder = tempfile::tempdir().unwrap();
        let (here, shared) = (folder.path().join("here"), folder.path().join("shared"));
        fs::create_dir(&here).unwrap();
        fs::write(&shared, "earlier").unwrap();
        std::os::unix::fs::symlink(&shared, here.join("train.tsv")).unwrap();
        let mut project = Project::new(&here);
        project.add("train.tsv", "new".to_owned());
        project.refuse_to_overwrite().unwrap_err();
        project.write_with("").unwrap();
        assert_eq!(fs::read_to_string(&shared).unwrap(), "new");
        fs::remove_file(here.join("train.tsv")).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(here.join("train.tsv")).status().unwrap().success());
        let error = project.write_with("").unwrap_err().to_string();
        assert!(error.contains("this is not a regular file"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn relative_paths_lead_from_the_folder_to_the_file() {
        for (folder, file, expected) in [
            ("/a/b", "/a/b/c.db", "c.db"),
            ("/a/b", "/a/c/d.db", "../c/d.db"),
            ("/a/b", "/c.db", "../../c.db"),
            ("/", "/c.db", "c.db"),
            ("a", "/c.db", "/c.db"),
        ] {
            assert_eq!(relative_path(Path::new(folder), Path::new(file)), Path::new(expected));
        }
    }

    #[test]
    fn settings_are_written_as_toml() {
        let settings = ProjectSettings {
            database: "sqlite:../a \"b\\c\n.db".to_owned(),
            labeled: "train.tsv".to_owned(),
            held_out: 12,
            embeddings: "built-in".to_owned(),
            base: "built-in".to_owned(),
            ..ProjectSettings::default()
        };
        let toml = settings.to_toml();
        let lines: Vec<&str> = toml.lines().skip(2).collect();
        assert_eq!(
            lines,
            [
                "[data]",
                "dataset = \"database\"",
                "folder = \".\"                           # folder of the files below, relative to this file",
                "database = \"sqlite:../a \\\"b\\\\c\\u000A.db\" # read, never changed",
                "labeled = \"train.tsv\"                  # questions with programs",
                "unlabeled = \"\"                         # questions without programs",
                "test = \"\"                              # questions with programs, for testing only",
                "fraction = 1.0                         # share of the labeled questions whose programs are used",
                "held_out = 12                          # labeled questions held out for testing, as there is no test file",
                "held_out_from = \"labeled\"",
                "split = 1                              # shuffles the labeled questions, so that the held-out ones are not all alike",
                "embeddings = \"built-in\"                # word vectors, if the parser starts from nothing",
                "# What people call tables, columns and values; tables to leave out; keys that are not declared:",
                "# words = [\"album.f_17: price, cost\", \"artist: musician\", \"country.code = 'USA': america\"]",
                "# without_tables = [\"log\"]",
                "# keys = [\"flight.source -> airport.code\"]",
                "# loose_values = true # labels may differ from the cells in blanks and case",
                "",
                "[eval]",
                "votes = true     # programs with the same answer add up their probabilities",
                "penalties = true # programs lose by what they leave out of a question, and by constants nobody said",
                "",
                "[base]",
                "folder = \"built-in\" # the pretrained parser to start from; \"\" to start from nothing",
            ]
        );
    }
}
