//! Many databases, each with its questions: SQLite files in folders of their own, or domains of Overnight.

use super::Task;
use super::dataset::{Examples, open_domain};
use super::division::Division;
use super::error::TaskError;
use super::world::{DatabaseWorld, World};
use std::fs;
use std::path::{Path, PathBuf};
use xpr_data::labeled::{self, Split};
use xpr_data::{DataError, Example};
use xpr_parser::Vocabulary;
use xpr_run::{DataConfig, Dataset, PretrainDataConfig, fingerprint};
use xpr_text::tokenize;

/// The endings of a database's file.
const ENDINGS: [&str; 2] = ["sqlite", "db"];

/// A database and its questions.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LabeledDatabase {
    /// The name of the folder or of the domain.
    pub(crate) name: String,
    /// The settings that name the database and its questions.
    data: DataConfig,
}

impl LabeledDatabase {
    /// Returns the databases that the settings of pretraining name: those in its folders, and the domains of Overnight.
    pub(crate) fn of_settings(config: &PretrainDataConfig) -> Result<Vec<LabeledDatabase>, TaskError> {
        let mut databases = LabeledDatabase::find(&config.folders, &config.labeled)?;
        databases.extend(config.domains.iter().map(|domain| LabeledDatabase {
            name: domain.clone(),
            data: DataConfig {
                dataset: Dataset::Overnight,
                folder: config.folder.clone(),
                domain: domain.clone(),
                fraction: config.fraction,
                label_count: config.canonical.then_some(0),
                canonical: config.canonical,
                split: config.split,
                ..DataConfig::default()
            },
        }));
        match same_name(&databases) {
            Some([first, second]) => Err(TaskError::SameName {
                name: first.name.clone(),
                folders: [first, second].map(|database| database.folder().to_owned()),
            }),
            None => Ok(databases),
        }
    }

    /// Returns the databases in some folders, ordered by name: each folder in them that has a file called `labeled`, and a
    /// database.
    pub(crate) fn find(folders: &[PathBuf], labeled: &Path) -> Result<Vec<LabeledDatabase>, TaskError> {
        let mut databases = Vec::new();
        for folder in folders {
            let before = databases.len();
            for entry in names(folder)? {
                let (name, folder) = (entry.clone(), folder.join(entry));
                if folder.join(labeled).is_file() {
                    let database = format!("sqlite:{}", database_file(&name, &folder)?);
                    databases.push(LabeledDatabase::in_folder(name, folder, database, labeled));
                }
            }
            if databases.len() == before {
                return Err(TaskError::NoDatabases { folder: folder.clone(), labeled: labeled.to_owned() });
            }
        }
        databases.sort_by(|left, right| left.position().cmp(&right.position()));
        Ok(databases)
    }

    fn in_folder(name: String, folder: PathBuf, database: String, labeled: &Path) -> Self {
        let (dataset, labeled) = (Dataset::Database, labeled.to_owned());
        LabeledDatabase {
            name,
            data: DataConfig { dataset, folder, database, labeled, ..DataConfig::default() },
        }
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
        order.sort_by_key(|database| (rank(database), database.folder()));
        let held_out: Vec<LabeledDatabase> = order.into_iter().take(count).cloned().collect();
        Ok(databases.into_iter().partition(|database| !held_out.contains(database)))
    }

    /// Returns what databases are ordered by.
    fn position(&self) -> (&str, &Path) {
        (&self.name, self.folder())
    }

    /// Returns the folder of the database and its questions.
    pub(crate) fn folder(&self) -> &Path {
        &self.data.folder
    }

    /// Returns the database in its folder, as the setting `data.database` names it.
    pub(crate) fn location(&self) -> String {
        self.data.database.clone()
    }

    /// Returns the questions with their programs, without those that are for testing.
    pub(crate) fn examples(&self) -> Result<Vec<Example>, TaskError> {
        let DataConfig { dataset, folder, labeled, .. } = &self.data;
        match dataset {
            Dataset::Overnight => Ok(Division::new(&self.data, Examples::read(&self.data)?)?.labeled),
            Dataset::Database => {
                let pairs = labeled::read_for_database(&folder.join(labeled), &self.name)?.into_iter();
                let pairs = pairs.filter(|pair| pair.split != Some(Split::Test));
                Ok(pairs.map(|pair| Example { utterance: pair.utterance, program: pair.program }).collect())
            }
        }
    }

    /// Opens the database, for questions with the words of a vocabulary.
    pub(crate) fn open(&self, vocabulary: &Vocabulary) -> Result<Task, TaskError> {
        self.open_as(vocabulary, DatabaseWorld::with_sense)
    }

    /// Opens the database as a project without labels does, for questions with the words of a vocabulary.
    pub(crate) fn open_without_labels(&self, vocabulary: &Vocabulary) -> Result<Task, TaskError> {
        // Without labels, search leaves out what few labels have.
        self.open_as(vocabulary, |world| world.learn_from_labels(&[]).with_sense())
    }

    fn open_as(
        &self,
        vocabulary: &Vocabulary,
        prepare: fn(DatabaseWorld) -> DatabaseWorld,
    ) -> Result<Task, TaskError> {
        Task::with_vocabulary(self.world(prepare)?, vocabulary.clone())
    }

    /// Returns the words of the questions, and those of the names of tables and columns.
    pub(crate) fn words(&self) -> Result<Vec<String>, TaskError> {
        let examples = self.examples()?;
        let world = self.world(|world| world)?;
        let questions = examples.iter().map(|example| example.utterance.as_str());
        let names = world.environment().items().iter().map(|item| item.phrase.as_str());
        Ok(questions.chain(names).flat_map(tokenize).collect())
    }

    fn world(&self, prepare: fn(DatabaseWorld) -> DatabaseWorld) -> Result<Box<dyn World>, TaskError> {
        let DataConfig { dataset, folder, database, .. } = &self.data;
        Ok(match dataset {
            Dataset::Overnight => open_domain(&self.data)?,
            Dataset::Database => Box::new(prepare(DatabaseWorld::open(database, folder)?)),
        })
    }
}

/// Returns two databases with the same name. They may have the same questions.
fn same_name(databases: &[LabeledDatabase]) -> Option<[&LabeledDatabase; 2]> {
    databases.iter().enumerate().find_map(|(index, second)| {
        let is_same =
            |first: &&LabeledDatabase| first.name == second.name && first.data.dataset == second.data.dataset;
        databases[..index].iter().find(is_same).map(|first| [first, second])
    })
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
        let found: Vec<(String, String)> = find()
            .unwrap()
            .into_iter()
            .map(|database| (database.name.clone(), database.location()))
            .collect();
        let expected = [("a", "sqlite:a.sqlite"), ("b", "sqlite:x.db")];
        assert_eq!(found, expected.map(|(name, file)| (name.into(), file.into())));
        write(folder.path(), &["c/pairs.tsv"]);
        assert!(find().unwrap_err().to_string().contains("has no database"));
        write(folder.path(), &["c/one.db", "c/two.db"]);
        assert!(find().unwrap_err().to_string().contains("has 2 databases"));
    }

    /// Issue 18: of two databases with the same name one was trained on and the other held out, and a folder that was named twice counted twice.
    #[test]
    fn databases_of_the_same_name_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["one/a", "one/b", "two/b"] {
            write(&folder.path().join(name), &["pairs.tsv", "x.db"]);
        }
        let databases = |folders: &[&str], domains: &[&str]| {
            let config = PretrainDataConfig {
                folders: folders.iter().map(|name| folder.path().join(name)).collect(),
                domains: domains.iter().map(|&domain| domain.to_owned()).collect(),
                ..PretrainDataConfig::default()
            };
            LabeledDatabase::of_settings(&config).map_err(|error| error.to_string())
        };
        let expected = |first: &str, second: &str| {
            let [first, second] = [first, second].map(|name| folder.path().join(name));
            format!("two databases are called `b` ({} and {})", first.display(), second.display())
        };
        assert!(databases(&["one", "two"], &[]).unwrap_err().contains(&expected("one/b", "two/b")));
        assert!(databases(&["one", "one"], &[]).unwrap_err().contains("two databases are called `a`"));
        assert!(databases(&["two", "two"], &[]).unwrap_err().contains(&expected("two/b", "two/b")));
        assert!(databases(&[], &["calendar", "calendar"]).unwrap_err().contains("called `calendar`"));
        assert_eq!(databases(&["one"], &["a", "calendar"]).unwrap().len(), 4);
    }

    #[test]
    fn held_out_databases_depend_on_their_names_only() {
        let database = |name: &str| {
            LabeledDatabase::in_folder(name.to_owned(), name.into(), String::new(), Path::new(""))
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
