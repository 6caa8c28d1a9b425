//! Many databases, each with its questions, in folders of their own.

use super::Task;
use super::error::TaskError;
use super::world::DatabaseWorld;
use std::fs;
use std::path::{Path, PathBuf};
use xpr_data::labeled::{self, Split};
use xpr_data::{DataError, Example};
use xpr_parser::Vocabulary;
use xpr_run::fingerprint;

/// The endings of a database's file.
const ENDINGS: [&str; 2] = ["sqlite", "db"];

/// A database and the file of its questions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LabeledDatabase {
    /// The name of the folder.
    pub(crate) name: String,
    folder: PathBuf,
    /// The name of the database's file.
    file: String,
    labeled: PathBuf,
}

impl LabeledDatabase {
    /// Returns the databases in some folders, ordered by name: each folder in them that has a file called `labeled`, and a
    /// database.
    pub(crate) fn find(folders: &[PathBuf], labeled: &Path) -> Result<Vec<LabeledDatabase>, TaskError> {
        let mut databases = Vec::new();
        for folder in folders {
            let before = databases.len();
            for entry in names(folder)? {
                let (name, folder) = (entry.clone(), folder.join(entry));
                let labeled = folder.join(labeled);
                if labeled.is_file() {
                    let file = database_file(&name, &folder)?;
                    databases.push(LabeledDatabase { name, folder, file, labeled });
                }
            }
            if databases.len() == before {
                return Err(TaskError::NoDatabases { folder: folder.clone(), labeled: labeled.to_owned() });
            }
        }
        databases.sort_by(|left, right| (&left.name, &left.folder).cmp(&(&right.name, &right.folder)));
        Ok(databases)
    }

    /// Divides databases into those to train on and `count` that are held out. Which ones are held out depends on the names
    /// only, so that another database does not change it for most.
    pub(crate) fn hold_out(
        databases: Vec<LabeledDatabase>,
        count: usize,
    ) -> Result<(Vec<LabeledDatabase>, Vec<LabeledDatabase>), TaskError> {
        if count >= databases.len() {
            return Err(TaskError::TooManyHeldOut { held_out: count, databases: databases.len() });
        }
        let rank = |database: &LabeledDatabase| fingerprint([database.name.as_str()]);
        let mut order: Vec<&LabeledDatabase> = databases.iter().collect();
        order.sort_by_key(|database| (rank(database), database.folder.clone()));
        let held_out: Vec<LabeledDatabase> = order.into_iter().take(count).cloned().collect();
        Ok(databases.into_iter().partition(|database| !held_out.contains(database)))
    }

    /// Returns the folder of the database and its questions.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the database in its folder, as the setting `data.database` names it.
    pub(crate) fn location(&self) -> String {
        format!("sqlite:{}", self.file)
    }

    /// Returns the questions with their programs, without those that are for testing.
    pub(crate) fn examples(&self) -> Result<Vec<Example>, TaskError> {
        let pairs = labeled::read_for_database(&self.labeled, &self.name)?.into_iter();
        let pairs = pairs.filter(|pair| pair.split != Some(Split::Test));
        Ok(pairs.map(|pair| Example { utterance: pair.utterance, program: pair.program }).collect())
    }

    /// Opens the database, for questions with the words of a vocabulary.
    pub(crate) fn open(&self, vocabulary: &Vocabulary) -> Result<Task, TaskError> {
        let world = DatabaseWorld::open(&self.location(), &self.folder)?.with_sense();
        Task::with_vocabulary(Box::new(world), vocabulary.clone())
    }

    /// Opens the database as a project without labels does, for questions with the words of a vocabulary.
    pub(crate) fn open_without_labels(&self, vocabulary: &Vocabulary) -> Result<Task, TaskError> {
        // Without labels, search leaves out what few labels have.
        let world = DatabaseWorld::open(&self.location(), &self.folder)?.learn_from_labels(&[]).with_sense();
        Task::with_vocabulary(Box::new(world), vocabulary.clone())
    }
}

/// Returns the names of what is in a folder, in order. Names that are not UTF-8 are ignored.
fn names(folder: &Path) -> Result<Vec<String>, TaskError> {
    let error = |source| TaskError::Data(DataError::File { path: folder.to_owned(), source });
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(error)? {
        names.extend(entry.map_err(error)?.file_name().into_string());
    }
    names.sort();
    Ok(names)
}

/// Returns the name of the database's file in a folder: the only one, or the one with the name of the folder.
fn database_file(name: &str, folder: &Path) -> Result<String, TaskError> {
    let has_ending =
        |file: &str| ENDINGS.iter().any(|ending| Path::new(file).extension() == Some(ending.as_ref()));
    let mut files: Vec<String> = names(folder)?.into_iter().filter(|file| has_ending(file)).collect();
    let own = files.iter().position(|file| Path::new(file).file_stem() == Some(name.as_ref()));
    match (own, files.len()) {
        (Some(index), _) => Ok(files.swap_remove(index)),
        (None, 1) => Ok(files.swap_remove(0)),
        (None, found) => Err(TaskError::NoDatabaseFile { folder: folder.to_owned(), found }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(folder: &Path, files: &[&str]) {
        for file in files {
            let path = folder.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
    }

    #[test]
    fn a_database_is_a_folder_with_questions() {
        let folder = tempfile::tempdir().unwrap();
        let folders = [folder.path().to_owned()];
        let find = || LabeledDatabase::find(&folders, Path::new("pairs.tsv"));
        assert!(find().unwrap_err().to_string().contains("there are no databases"));
        write(
            folder.path(),
            &["b/pairs.tsv", "b/x.db", "a/pairs.tsv", "a/a.sqlite", "a/old.sqlite", "readme"],
        );
        write(folder.path(), &["no_questions/c.sqlite"]);
        let found: Vec<(String, String)> =
            find().unwrap().into_iter().map(|database| (database.name, database.file)).collect();
        assert_eq!(found, [("a", "a.sqlite"), ("b", "x.db")].map(|(name, file)| (name.into(), file.into())));
        write(folder.path(), &["c/pairs.tsv"]);
        assert!(find().unwrap_err().to_string().contains("has no database"));
        write(folder.path(), &["c/one.db", "c/two.db"]);
        assert!(find().unwrap_err().to_string().contains("has 2 databases"));
    }

    #[test]
    fn held_out_databases_depend_on_their_names_only() {
        let database = |name: &str| LabeledDatabase {
            name: name.to_owned(),
            folder: name.into(),
            file: String::new(),
            labeled: PathBuf::new(),
        };
        let names = |databases: &[LabeledDatabase]| {
            databases.iter().map(|database| database.name.clone()).collect::<Vec<_>>()
        };
        let databases: Vec<LabeledDatabase> = ["a", "b", "c", "d"].map(database).into();
        let (train, held_out) = LabeledDatabase::hold_out(databases.clone(), 1).unwrap();
        assert_eq!((train.len(), held_out.len()), (3, 1));
        let (_, of_some) = LabeledDatabase::hold_out(vec![train[0].clone(), held_out[0].clone()], 1).unwrap();
        assert_eq!(names(&of_some), names(&held_out));
        assert!(LabeledDatabase::hold_out(databases.clone(), 0).unwrap().1.is_empty());
        let error = LabeledDatabase::hold_out(databases, 4).unwrap_err().to_string();
        assert!(error.contains("data.held_out is 4"), "{error}");
    }

    /// Figures of a base are about these databases, so they must stay the same.
    #[test]
    #[ignore = "needs XPR_DATA, see CONTRIBUTING.md"]
    fn the_held_out_databases_of_spider_stay_the_same() {
        let data = std::env::var("XPR_DATA").expect("set XPR_DATA to the folder of the benchmarks");
        // A relative path starts at the root of the workspace.
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(data).join("spider/train");
        let databases = LabeledDatabase::find(&[folder], Path::new("pairs.tsv")).unwrap();
        assert_eq!(databases.len(), 138);
        let (_, held_out) = LabeledDatabase::hold_out(databases, 14).unwrap();
        let names: Vec<&str> = held_out.iter().map(|database| database.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "candidate_poll",
                "chinook_1",
                "club_1",
                "cre_Drama_Workshop_Groups",
                "department_management",
                "e_learning",
                "election_representative",
                "film_rank",
                "insurance_policies",
                "music_4",
                "railway",
                "riding_club",
                "ship_1",
                "tracking_orders",
            ]
        );
    }
}
