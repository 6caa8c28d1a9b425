//! How much of GeoQuery, whose data must be in the folder `XPR_DATA`, a parser can learn from.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "these are tests")]

use std::ops::ControlFlow;
use std::path::PathBuf;
use xpr_data::{LabeledQuestion, Split, SplitBy, Text2Sql};
use xpr_exec::database::{ValueIndex, ValueLimits};
use xpr_exec::sqlite::SqliteDatabase;
use xpr_lang::sql::Sql;
use xpr_learn::task::{Coverage, Stage, Surveyor};

#[test]
#[ignore = "needs XPR_DATA, see CONTRIBUTING.md"]
fn gold_queries_survive_and_their_constants_are_found() {
    let folder = std::env::var_os("XPR_DATA")
        .expect("set XPR_DATA to the folder of the benchmark data, see CONTRIBUTING.md");
    // A relative path is relative to the workspace, and not to the crate's folder, in which tests run.
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(folder);
    let dataset = Text2Sql::open(&folder, Some("geography")).unwrap();
    let database = SqliteDatabase::open(dataset.database().unwrap()).unwrap();
    let schema = database.schema().unwrap();
    let index =
        ValueIndex::read(&database, &schema, ValueLimits::default(), &mut |_| ControlFlow::Continue(()))
            .unwrap();
    let language = Sql::new(schema);
    let mut surveyor = Surveyor::new(&database, &language, &index).unwrap();
    // Literals in the test of each division: those that questions suggest, and with what training teaches.
    for (division, linked, with_constants) in [(SplitBy::Question, 195, 215), (SplitBy::Query, 127, 136)] {
        let pairs = dataset.labeled_questions(division, 0).unwrap();
        assert_eq!(pairs.len(), 877);
        let (test, train): (Vec<LabeledQuestion>, Vec<LabeledQuestion>) =
            pairs.into_iter().partition(|pair| pair.split == Some(Split::Test));
        let constants = surveyor.constants(&train);
        account(
            &surveyor.survey(&train, &constants, &mut |_| ControlFlow::Continue(())),
            &format!("{division:?}, train"),
        );
        let coverage = surveyor.survey(&test, &constants, &mut |_| ControlFlow::Continue(()));
        account(&coverage, &format!("{division:?}, test"));
        assert!(coverage.linked_literals >= linked);
        assert!(coverage.linked_literals_with_constants >= with_constants);
    }
}

fn account(coverage: &Coverage, part: &str) {
    for failure in &coverage.failures {
        eprintln!(
            "{:?}: {}\n    {}\n    {}",
            failure.stage, failure.reason, failure.utterance, failure.program
        );
    }
    eprintln!(
        "{part}: {} pairs, {} executable, {} covered, {} with the same answer; {} of {} literals linked, {} with constants {:?}",
        coverage.pairs,
        coverage.executable,
        coverage.covered,
        coverage.round_trip,
        coverage.linked_literals,
        coverage.literals,
        coverage.linked_literals_with_constants,
        coverage.constants.iter().map(|constant| constant.literal.as_str()).collect::<Vec<_>>()
    );
    assert!(coverage.failures.iter().all(|failure| failure.stage != Stage::RoundTrip));
    assert!(coverage.round_trip * 100 >= coverage.executable * 99);
}
