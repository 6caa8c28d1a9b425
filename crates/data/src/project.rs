//! A project folder: an experiment and the files it is about.
//!
//! ```text
//! xpr.toml        the experiment, for `xpr train`
//! train.tsv       questions with programs
//! …               whatever else the experiment names
//! ```
//!
//! Each file appears whole or not at all, and the experiment last: a folder that has it has everything.

use crate::{DataError, write_file_with};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

/// The name of the experiment.
pub const EXPERIMENT: &str = "xpr.toml";

/// The settings of an experiment about a database; see `[data]` in a configuration.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProjectSettings {
    /// The database, from the folder.
    pub database: String,
    /// The file with questions and programs.
    pub labeled: String,
    /// The file with questions; empty for none.
    pub unlabeled: String,
    /// The file with questions and programs for testing; empty for none.
    pub test: String,
    /// So many labeled questions are held out to test with instead; 0 for none.
    pub held_out: usize,
}

impl ProjectSettings {
    /// The experiment as TOML.
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
        set("folder", quoted("."), "where the files below are, from this file");
        set("database", quoted(&self.database), "read, never changed");
        set("labeled", quoted(&self.labeled), "questions and their programs");
        set("unlabeled", quoted(&self.unlabeled), "questions without programs, one a line");
        set("test", quoted(&self.test), "questions and programs that are not trained on");
        set("fraction", "1.0".to_owned(), "the share of the labeled questions whose programs are used");
        if self.held_out > 0 {
            set(
                "held_out",
                self.held_out.to_string(),
                "labeled questions to test with, as there is no test file",
            );
            set("held_out_from", quoted("labeled"), "");
            set("split", "1".to_owned(), "in an order of its own, so that not one topic alone is held out");
        }
        if !self.unlabeled.is_empty() {
            toml.push_str(
                "\n[learn]\nobjective = \"sparse\" # what to learn from questions without programs\n",
            );
        }
        toml
    }
}

/// The way from a folder to a file, both absolute; the file itself where there is none.
pub fn relative_path(folder: &Path, file: &Path) -> PathBuf {
    let (here, there): (Vec<_>, Vec<_>) = (folder.components().collect(), file.components().collect());
    let shared = here.iter().zip(&there).take_while(|(here, there)| here == there).count();
    if shared == 0 {
        return file.to_owned();
    }
    let up = here[shared..].iter().map(|_| Component::ParentDir);
    up.chain(there[shared..].iter().copied()).collect()
}

/// A basic string of TOML.
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

/// What a file of a project is made of.
#[derive(Clone, Debug)]
enum Content {
    Text(String),
    CopyOf(PathBuf),
}

/// A project to be written.
#[derive(Clone, Debug)]
pub struct Project {
    folder: PathBuf,
    files: Vec<(String, Content)>,
}

impl Project {
    /// A project in a folder, which is made if need be.
    pub fn new(folder: &Path) -> Self {
        Project { folder: folder.to_owned(), files: vec![] }
    }

    /// Adds a file.
    pub fn add(&mut self, name: &str, text: String) {
        self.files.push((name.to_owned(), Content::Text(text)));
    }

    /// Adds a copy of a file.
    pub fn add_copy(&mut self, name: &str, of: &Path) {
        self.files.push((name.to_owned(), Content::CopyOf(of.to_owned())));
    }

    /// Fails if one of the files is there already.
    ///
    /// # Errors
    /// As it says, with the name of the file.
    pub fn refuse_to_overwrite(&self) -> Result<(), DataError> {
        let names = self.files.iter().map(|(name, _)| name.as_str()).chain([EXPERIMENT]);
        match names.map(|name| self.folder.join(name)).find(|path| path.exists()) {
            Some(path) => {
                let message = format!(
                    "there is a {} in it already; name another folder, or write over it with --force",
                    path.file_name().unwrap_or_default().to_string_lossy()
                );
                Err(DataError::Folder { folder: self.folder.clone(), message })
            }
            None => Ok(()),
        }
    }

    /// Writes the files, and last the experiment with these settings. What was there before is written over.
    ///
    /// # Errors
    /// If a file cannot be written; those before it are then there, and the experiment is not.
    pub fn write(&self, settings: &ProjectSettings) -> Result<(), DataError> {
        self.write_with(&settings.to_toml())
    }

    /// The same with the text of an experiment.
    ///
    /// # Errors
    /// As [`Project::write`].
    pub fn write_with(&self, experiment: &str) -> Result<(), DataError> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| DataError::File { path, source }
        };
        fs::create_dir_all(&self.folder).map_err(failed(&self.folder))?;
        let experiment = Content::Text(experiment.to_owned());
        for (name, content) in self
            .files
            .iter()
            .map(|(name, content)| (name.as_str(), content))
            .chain([(EXPERIMENT, &experiment)])
        {
            self.write_file(name, content).map_err(failed(&self.folder.join(name)))?;
        }
        Ok(())
    }

    fn write_file(&self, name: &str, content: &Content) -> io::Result<()> {
        write_file_with(&self.folder.join(name), |file| match content {
            Content::Text(text) => file.write_all(text.as_bytes()),
            Content::CopyOf(path) => io::copy(&mut File::open(path)?, file).map(|_| ()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_is_whole_and_nothing_is_written_over_unasked() {
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

    #[cfg(unix)]
    #[test]
    fn a_file_is_found_from_the_folder() {
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
    fn settings_are_toml() {
        let settings = ProjectSettings {
            database: "sqlite:../a \"b\\c\n.db".to_owned(),
            labeled: "train.tsv".to_owned(),
            held_out: 12,
            ..ProjectSettings::default()
        };
        let toml = settings.to_toml();
        let lines: Vec<&str> = toml.lines().skip(2).collect();
        assert_eq!(
            lines,
            [
                "[data]",
                "dataset = \"database\"",
                "folder = \".\"                           # where the files below are, from this file",
                "database = \"sqlite:../a \\\"b\\\\c\\u000A.db\" # read, never changed",
                "labeled = \"train.tsv\"                  # questions and their programs",
                "unlabeled = \"\"                         # questions without programs, one a line",
                "test = \"\"                              # questions and programs that are not trained on",
                "fraction = 1.0                         # the share of the labeled questions whose programs are used",
                "held_out = 12                          # labeled questions to test with, as there is no test file",
                "held_out_from = \"labeled\"",
                "split = 1                              # in an order of its own, so that not one topic alone is held out",
            ]
        );
    }
}
