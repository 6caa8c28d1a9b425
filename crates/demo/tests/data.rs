//! The demo's data has the properties that its documentation promises: every query can be learned from and finds
//! something, and test questions are not training questions.
#![allow(clippy::unwrap_used, reason = "these are tests")]

use std::collections::{HashMap, HashSet};
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use xpr_data::labeled::{self, LabeledQuestion};
use xpr_exec::database::{QueryLimits, ValueIndex, ValueLimits};
use xpr_exec::sqlite::{SqliteDatabase, SqliteRunner};
use xpr_exec::{Executor, Outcome};
use xpr_lang::sql::{Literal, Schema, Sql};
use xpr_learn::task::Surveyor;

struct LoadedDemo {
    folder: tempfile::TempDir,
    database: SqliteDatabase,
    schema: Schema,
    values: ValueIndex,
    train: Vec<LabeledQuestion>,
    test: Vec<LabeledQuestion>,
}

impl LoadedDemo {
    fn new() -> LoadedDemo {
        let folder = tempfile::tempdir().unwrap();
        assert!(!xpr_demo::write(folder.path()).unwrap());
        let database = SqliteDatabase::open(folder.path().join(xpr_demo::DATABASE_FILE)).unwrap();
        let schema = database.schema().unwrap();
        let values =
            ValueIndex::read(&database, &schema, ValueLimits::default(), &mut |_| ControlFlow::Continue(()));
        let read = |name: &str| labeled::read(&folder.path().join(name)).unwrap();
        let (train, test) = (read("train.tsv"), read("test.tsv"));
        LoadedDemo { database, schema, values: values.unwrap(), train, test, folder }
    }

    fn pairs(&self) -> impl Iterator<Item = &LabeledQuestion> {
        self.train.iter().chain(&self.test)
    }
}

/// Returns a question in lower case and without punctuation.
fn normalised(question: &str) -> String {
    let words = question.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

#[test]
fn every_query_can_be_learned_from_and_finds_something() {
    let demo = LoadedDemo::new();
    let pairs: Vec<LabeledQuestion> = demo.pairs().cloned().collect();
    let language = Sql::new(demo.schema.clone());
    let mut surveyor = Surveyor::new(&demo.database, &language, &demo.values).unwrap();
    // The constants are those of the labeled share, because a parser with few labels knows no others.
    let labeled = &demo.train[..demo.train.len() * 3 / 10];
    let coverage = surveyor.survey(&pairs, &surveyor.constants(labeled), &mut |_| ControlFlow::Continue(()));
    assert_eq!(coverage.failures, []);
    assert_eq!((coverage.covered, coverage.round_trip), (pairs.len(), pairs.len()));

    let mut runner =
        SqliteRunner::checked(&demo.database, demo.schema.clone(), QueryLimits::default()).unwrap();
    for pair in &pairs {
        let outcome = runner.execute(&pair.program);
        let found = matches!(&outcome, Outcome::Value(answer) if answer != "(bag (0))");
        assert!(found, "{}: {outcome}", pair.program);
    }
}

#[test]
fn every_construction_of_sql_has_enough_examples() {
    let demo = LoadedDemo::new();
    assert!(demo.train.len() >= 500, "{}", demo.train.len());
    assert!(demo.test.len() >= 150, "{}", demo.test.len());
    let count = |what: &str| demo.pairs().filter(|pair| pair.program.contains(what)).count();
    for (what, least) in [
        (" JOIN ", 200),
        ("count(", 50),
        ("sum(", 10),
        ("avg(", 10),
        (" DISTINCT ", 10),
        ("GROUP BY", 40),
        ("HAVING", 10),
        ("ORDER BY", 100),
        ("BETWEEN", 5),
        ("NOT IN", 10),
        (" OR ", 5),
        (" AND ", 50),
    ] {
        assert!(count(what) >= least, "{what}: {}", count(what));
    }
    // The shape of a query is its text without literals.
    let language = Sql::new(demo.schema.clone());
    let shapes: HashSet<String> = demo
        .pairs()
        .map(|pair| {
            let literals = language.parse(&pair.program).unwrap().literals();
            literals
                .iter()
                .fold(pair.program.clone(), |shape, literal| shape.replace(&literal.to_string(), "?"))
        })
        .collect();
    assert!(shapes.len() >= 90, "{}", shapes.len());
}

#[test]
fn no_test_question_is_a_training_question_with_other_names() {
    let demo = LoadedDemo::new();
    // The wording of a question is its text without the literals of its query and without numbers.
    let language = Sql::new(demo.schema.clone());
    let wording = |pair: &LabeledQuestion| {
        let mut words = format!(" {} ", normalised(&pair.utterance));
        for literal in language.parse(&pair.program).unwrap().literals() {
            let (Literal::Number(value) | Literal::Text(value)) = literal;
            words = words.replace(&format!(" {} ", normalised(&value)), " _ ");
        }
        let without_numbers = words.split(' ').filter(|word| !word.bytes().any(|byte| byte.is_ascii_digit()));
        without_numbers.collect::<Vec<_>>().join(" ")
    };
    let mut wordings: HashMap<String, &LabeledQuestion> = HashMap::new();
    for pair in &demo.train {
        wordings.insert(wording(pair), pair);
    }
    for pair in &demo.test {
        let same = wordings.get(&wording(pair)).map(|pair| pair.utterance.as_str());
        assert_eq!(same, None, "{}", pair.utterance);
    }
    let mut seen = HashSet::new();
    for question in demo.pairs().map(|pair| pair.utterance.as_str()).chain(xpr_demo::QUESTIONS) {
        assert!(seen.insert(normalised(question)), "{question} occurs twice");
    }
}

#[test]
fn the_folder_of_a_demo_is_overwritten_and_other_folders_are_refused() {
    let demo = LoadedDemo::new();
    let folder = demo.folder.path();
    fs::create_dir(folder.join("runs")).unwrap();
    assert!(xpr_demo::write(folder).unwrap(), "nothing has changed");
    fs::write(folder.join("train.tsv"), "old\tSELECT 1\n").unwrap();
    assert!(!xpr_demo::write(folder).unwrap(), "the training questions have changed");
    assert_eq!(fs::read_to_string(folder.join("train.tsv")).unwrap(), xpr_demo::TRAIN);
    assert!(folder.join("runs").is_dir());

    let other = tempfile::tempdir().unwrap();
    fs::write(other.path().join("notes.txt"), "mine").unwrap();
    let error = xpr_demo::write(other.path()).unwrap_err().to_string();
    assert!(error.contains("are not the demo's; name another folder with --out"), "{error}");
    assert_eq!(fs::read_dir(other.path()).unwrap().count(), 1);
    assert!(!xpr_demo::is_demo(other.path()));
    assert!(xpr_demo::write(Path::new("/dev/null/folder")).is_err());
}
