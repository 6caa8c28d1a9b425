//! Questions with programs for a database that nobody has asked about yet.
//!
//! People ask about databases in much the same way, whatever is in them. A pattern is a labeled question about another database with its
//! names and values left open: "What is the average ⟨column⟩ of ⟨table⟩?". Filled with tables, columns and cells of a new database, along
//! its keys, it is a question with a program that a parser of that database can learn from.
//!
//! Patterns are weighted as people ask, since each labeled question makes one. A pattern whose words are about the topic of its database
//! is left out.

mod filling;
mod pattern;

use crate::task::databases::LabeledDatabase;
use crate::task::{Task, TaskError};
use filling::Filler;
use pattern::{Pattern, without_topics};
use rustc_hash::FxHashSet;
use thiserror::Error;
use xpr_data::Example;
use xpr_nn::Random;
use xpr_parser::Vocabulary;
use xpr_run::PretrainDataConfig;

/// The number of databases in whose patterns a word must be to say nothing about a topic.
const DATABASES_PER_WORD: usize = 8;
/// The number of patterns that are tried for each question that is wanted.
const TRIES: usize = 60;

/// Patterns that cannot be read.
#[derive(Debug, Error)]
pub enum PatternError {
    /// The file is damaged.
    #[error(transparent)]
    Damaged(#[from] xpr_base::DamagedFile),
    /// A line is not a pattern.
    #[error("a pattern of questions cannot be read: {0}")]
    Content(#[from] serde_json::Error),
}

/// Patterns of questions, learned from labels of many databases.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Patterns(Vec<Pattern>);

impl Patterns {
    /// Learns the patterns of the labels that the settings of pretraining name, without those of databases that are held out. `watch` is
    /// called with the number of databases read so far, and of all.
    ///
    /// # Errors
    /// If a database or its questions cannot be read.
    pub fn learn(
        config: &PretrainDataConfig,
        watch: &mut dyn FnMut(usize, usize),
    ) -> Result<Self, TaskError> {
        let databases = LabeledDatabase::of_settings(config)?;
        let (databases, _) = LabeledDatabase::hold_out(databases, config.held_out)?;
        let mut patterns = Vec::new();
        for (index, database) in databases.iter().enumerate() {
            let task = database.open(&Vocabulary::new([]))?;
            let (labeled, _) = task.label(&database.examples()?, &|| {})?;
            let learned = labeled.iter().filter_map(|example| Pattern::learn(&task, example));
            patterns.extend(learned.map(|pattern| (database.name.clone(), pattern)));
            watch(index + 1, databases.len());
        }
        Ok(Patterns(without_topics(patterns, DATABASES_PER_WORD)))
    }

    /// Returns the patterns of the built-in base.
    ///
    /// # Errors
    /// If the file is damaged.
    pub fn built_in() -> Result<Self, PatternError> {
        Patterns::from_json_lines(xpr_base::patterns()?)
    }

    /// Reads patterns, one in each line.
    ///
    /// # Errors
    /// If a line is not a pattern.
    pub fn from_json_lines(content: &[u8]) -> Result<Self, PatternError> {
        let lines = content.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let patterns = lines.map(serde_json::from_slice).collect::<Result<_, _>>()?;
        Ok(Patterns(patterns))
    }

    /// Returns the patterns, one in each line.
    ///
    /// # Errors
    /// None that is known: patterns have no keys that JSON does not allow.
    pub fn to_json_lines(&self) -> Result<Vec<u8>, PatternError> {
        let mut content = Vec::new();
        for pattern in &self.0 {
            serde_json::to_writer(&mut content, pattern)?;
            content.push(b'\n');
        }
        Ok(content)
    }

    /// Returns the number of patterns.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there are no patterns.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns at most `count` different questions with programs for the database of a task. All programs find something.
    ///
    /// # Errors
    /// If the data cannot be opened.
    pub fn examples(&self, task: &Task, count: usize, seed: u64) -> Result<Vec<Example>, TaskError> {
        let mut filler = Filler::new(task, task.executor()?);
        let random = Random::new(seed);
        let (mut examples, mut known) = (Vec::new(), FxHashSet::default());
        for index in 0..(TRIES * count) as u64 {
            if examples.len() == count || self.is_empty() {
                break;
            }
            let draws = random.stream(index);
            let pattern = &self.0[draws.below(0, self.len())];
            let example = filler.fill(pattern, draws.stream(1));
            examples.extend(example.filter(|example| known.insert(example.utterance.clone())));
        }
        Ok(examples)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::{DatabaseWorld, LabeledExample};
    use std::path::Path;

    const STAGE: &str = "CREATE TABLE singer (singer_id INTEGER PRIMARY KEY, name TEXT, country TEXT, age INT);
        CREATE TABLE concert (concert_id INTEGER PRIMARY KEY, title TEXT, year INT, singer_id INT REFERENCES singer);
        INSERT INTO singer VALUES (1, 'Joe Sharp', 'Netherlands', 52), (2, 'Rose White', 'France', 41);
        INSERT INTO concert VALUES (1, 'Auditions', 2014, 1), (2, 'Super bootcamp', 2015, 2);";
    const HARBOUR: &str = "CREATE TABLE port (port_id INTEGER PRIMARY KEY, port_name TEXT);
        CREATE TABLE ship (ship_id INTEGER PRIMARY KEY, flag TEXT, tonnage INT, port_id INT REFERENCES port);
        INSERT INTO port VALUES (1, 'Rotterdam'), (2, 'Genoa');
        INSERT INTO ship VALUES (1, 'Malta', 900, 1), (2, 'Panama', 700, 2), (3, 'Panama', 300, 1);";

    const JOIN: &str = "SELECT concert.title FROM concert JOIN singer ON concert.singer_id = singer.singer_id \
        WHERE singer.name = 'Joe Sharp'";

    fn task(folder: &Path, schema: &str) -> Task {
        let name = format!("{}.db", std::fs::read_dir(folder).unwrap().count());
        assert!(xpr_exec::sqlite::prepare_engine());
        let connection = rusqlite::Connection::open(folder.join(&name)).unwrap();
        connection.execute_batch(schema).unwrap();
        let world = DatabaseWorld::open(&format!("sqlite:{name}"), folder).unwrap();
        Task::new(Box::new(world.learn_from_labels(&[]).with_sense()), []).unwrap()
    }

    fn pattern(task: &Task, utterance: &str, program: &str) -> Option<Pattern> {
        let example = Example { utterance: utterance.to_owned(), program: program.to_owned() };
        let (labeled, left_out) = task.label(&[example], &|| {}).unwrap();
        assert!(left_out.is_empty(), "{left_out:?}");
        labeled.first().and_then(|example: &LabeledExample| Pattern::learn(task, example))
    }

    #[test]
    fn a_question_about_one_database_is_asked_about_another() {
        let folder = tempfile::tempdir().unwrap();
        let (stage, harbour) = (task(folder.path(), STAGE), task(folder.path(), HARBOUR));
        for (utterance, program, expected) in [
            (
                "What is the average age of all singers?",
                "SELECT avg(age) FROM singer",
                ("What is the average tonnage of all ships?", "SELECT AVG(ship.tonnage) FROM ship"),
            ),
            (
                "How many singers are from \"France\"?",
                "SELECT count(*) FROM singer WHERE country = 'France'",
                (
                    "How many ships are from \"Panama\"?",
                    "SELECT COUNT(*) FROM ship WHERE ship.flag = 'Panama'",
                ),
            ),
            (
                "Show the titles of concerts whose singer has the name \"Joe Sharp\"",
                JOIN,
                (
                    "Show the flags of ships whose port has the name \"Genoa\"",
                    "SELECT ship.flag FROM ship, port WHERE ship.port_id = port.port_id AND port.port_name = 'Genoa'",
                ),
            ),
        ] {
            let patterns = Patterns(vec![pattern(&stage, utterance, program).expect(utterance)]);
            let json = patterns.to_json_lines().unwrap();
            assert_eq!(Patterns::from_json_lines(&json).unwrap(), patterns);
            let examples = patterns.examples(&harbour, 8, 3).unwrap();
            let (utterance, program) = expected;
            let expected = Example { utterance: utterance.to_owned(), program: program.to_owned() };
            assert!(examples.contains(&expected), "{examples:#?}");
            assert_eq!(examples, patterns.examples(&harbour, 8, 3).unwrap(), "the seed decides");
        }
    }

    #[test]
    fn a_question_that_does_not_say_what_its_program_names_has_no_pattern() {
        let folder = tempfile::tempdir().unwrap();
        let stage = task(folder.path(), STAGE);
        for (utterance, program) in [
            ("Who is there?", "SELECT name FROM singer"),
            ("Who is the oldest singer by name?", "SELECT name FROM singer ORDER BY age DESC LIMIT 1"),
            ("Which singers are older than 40? Give the names.", "SELECT name FROM singer WHERE age > 40"),
        ] {
            assert_eq!(pattern(&stage, utterance, program), None, "{utterance}");
        }
    }

    #[test]
    fn tables_are_joined_by_keys_only() {
        let folder = tempfile::tempdir().unwrap();
        let stage = task(folder.path(), STAGE);
        let islands = task(
            folder.path(),
            "CREATE TABLE a (one TEXT); CREATE TABLE b (two TEXT); INSERT INTO a VALUES ('x'); INSERT INTO b VALUES ('x');",
        );
        let learned = pattern(&stage, "the titles of concerts whose singer has the name Joe Sharp", JOIN);
        let patterns = Patterns(learned.into_iter().collect());
        assert_eq!((patterns.len(), patterns.examples(&islands, 5, 0).unwrap()), (1, vec![]));
    }

    #[test]
    fn a_pattern_with_words_about_a_topic_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let stage = task(folder.path(), STAGE);
        let count = "SELECT count(*) FROM singer";
        let general = pattern(&stage, "How many singers are there?", count).unwrap();
        let special = pattern(&stage, "How many famous singers are there?", count).unwrap();
        let named =
            |names: [&str; 2], pattern: &Pattern| names.map(|name| (name.to_owned(), pattern.clone()));
        let all: Vec<_> =
            named(["a", "b"], &general).into_iter().chain(named(["a", "a"], &special)).collect();
        assert_eq!(without_topics(all, 2), [general.clone(), general]);
    }
}
