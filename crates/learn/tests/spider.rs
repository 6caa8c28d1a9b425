//! Every command agrees on the gold queries of Spider's development databases, which must be in the folder `XPR_DATA`.
#![allow(clippy::unwrap_used, reason = "these are tests")]

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use xpr_data::{Example, LabeledQuestion, labeled};
use xpr_exec::database::{ValueIndex, ValueLimits};
use xpr_exec::sqlite::SqliteDatabase;
use xpr_lang::Outcome;
use xpr_lang::sql::Sql;
use xpr_learn::Task;
use xpr_learn::task::{DatabaseWorld, Stage, Surveyor, TestExample};

/// Returns the folders of the databases.
fn databases() -> Vec<PathBuf> {
    let data = std::env::var_os("XPR_DATA").expect("XPR_DATA names the data folder, see CONTRIBUTING.md");
    // A relative path is relative to the workspace, and not to the crate's folder, in which tests run.
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(data).join("spider/dev");
    let mut folders: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    folders
}

/// Returns the questions whose labeled query fails, as `xpr data check` finds them.
fn failures_of_check(file: &Path, pairs: &[LabeledQuestion]) -> Vec<String> {
    let database = SqliteDatabase::open(file).unwrap();
    let schema = database.schema().unwrap();
    let index =
        ValueIndex::read(&database, &schema, ValueLimits::default(), &mut |_| ControlFlow::Continue(()))
            .unwrap();
    let language = Sql::new(schema);
    let mut surveyor = Surveyor::new(&database, &language, &index).unwrap();
    let coverage = surveyor.survey(pairs, &[], &mut |_| ControlFlow::Continue(()));
    let failures = coverage.failures.into_iter().filter(|failure| failure.stage == Stage::Executable);
    failures.map(|failure| failure.utterance).collect()
}

#[test]
#[ignore = "needs XPR_DATA, see CONTRIBUTING.md"]
fn check_training_and_evaluation_agree_on_every_gold_query() {
    let (mut pairs, mut empty) = (0, 0);
    for folder in databases() {
        let name = folder.file_name().unwrap().to_str().unwrap();
        let file = folder.join(format!("{name}.sqlite"));
        let mut labeled = labeled::read_for_database(&folder.join("pairs.tsv"), name).unwrap();
        // Labels that fail, so that there is something to agree on besides success.
        for (question, program) in
            [("no such table", "SELECT 1 FROM nowhere"), ("no query", "DELETE FROM sqlite_master")]
        {
            let (utterance, program) = (question.to_owned(), program.to_owned());
            labeled.push(LabeledQuestion { utterance, program, ..labeled[0].clone() });
        }
        let failures = failures_of_check(&file, &labeled);
        assert_eq!(failures, ["no such table", "no query"], "{name}");

        let world = DatabaseWorld::open(&format!("sqlite:{}", file.display()), Path::new("")).unwrap();
        let task = Task::new(Box::new(world), []).unwrap();
        let example = |pair: &LabeledQuestion| Example {
            utterance: pair.utterance.clone(),
            program: pair.program.clone(),
        };
        let examples: Vec<Example> = labeled.iter().map(example).collect();
        let tested = task.test(&examples, &|| {}).unwrap();
        let evaluated: Vec<String> =
            tested.iter().filter_map(|example| example.failure().map(|failure| failure.utterance)).collect();
        assert_eq!(evaluated, failures, "{name}");
        let (trained, _) = task.label(&examples, &|| {}).unwrap();
        for example in trained {
            let is_same = |tested: &TestExample| {
                tested.utterance == example.utterance && tested.outcome == example.outcome
            };
            assert!(tested.iter().any(is_same), "{name}: {}", example.utterance);
        }
        pairs += labeled.len() - failures.len();
        empty += tested.iter().filter(|example| example.outcome == Outcome::Empty).count();
    }
    // Fifteen find no rows, and two only NULL.
    assert_eq!((pairs, empty), (680, 17));
}
