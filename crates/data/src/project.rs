//! Project folders: an experiment and the files it needs.
//!
//! ```text
//! xpr.toml        the experiment, for `xpr train`
//! train.tsv       questions with programs
//! …               other files that the experiment names
//! ```
//!
//! Each file is written completely or not at all, and the experiment last, so a folder with an experiment is complete.

use crate::{DataError, write_file_with};
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

/// The name of the file with the experiment.
pub const EXPERIMENT_FILE: &str = "xpr.toml";

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
}

impl Project {
    /// Returns a project without files. The folder is created when the project is written.
    pub fn new(folder: &Path) -> Self {
        Project { folder: folder.to_owned(), files: vec![] }
    }

    /// Adds a file with this text.
    pub fn add(&mut self, name: &str, text: String) {
        self.files.push((name.to_owned(), FileContent::Text(text)));
    }

    /// Adds a copy of a file.
    pub fn add_copy(&mut self, name: &str, of: &Path) {
        self.files.push((name.to_owned(), FileContent::CopyOf(of.to_owned())));
    }

    /// Returns an error if one of the files exists already.
    ///
    /// # Errors
    /// If one of the files exists already; the error names it.
    pub fn refuse_to_overwrite(&self) -> Result<(), DataError> {
        let names = self.files.iter().map(|(name, _)| name.as_str()).chain([EXPERIMENT_FILE]);
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

    /// Writes the files, and last the experiment with these settings. Existing files are overwritten.
    ///
    /// # Errors
    /// If a file cannot be written. The files before it are then written, and the experiment is not.
    pub fn write(&self, settings: &ProjectSettings) -> Result<(), DataError> {
        self.write_with(&settings.to_toml())
    }

    /// Writes the files, and last an experiment with this text. Existing files are overwritten.
    ///
    /// # Errors
    /// Those of [`Project::write`].
    pub fn write_with(&self, experiment: &str) -> Result<(), DataError> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| DataError::File { path, source }
        };
        fs::create_dir_all(&self.folder).map_err(failed(&self.folder))?;
        let experiment = FileContent::Text(experiment.to_owned());
        for (name, content) in self
            .files
            .iter()
            .map(|(name, content)| (name.as_str(), content))
            .chain([(EXPERIMENT_FILE, &experiment)])
        {
            self.write_file(name, content).map_err(failed(&self.folder.join(name)))?;
        }
        Ok(())
    }

    fn write_file(&self, name: &str, content: &FileContent) -> io::Result<()> {
        write_file_with(&self.folder.join(name), |file| match content {
            FileContent::Text(text) => file.write_all(text.as_bytes()),
            FileContent::CopyOf(path) => io::copy(&mut File::open(path)?, file).map(|_| ()),
        })
    }
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
