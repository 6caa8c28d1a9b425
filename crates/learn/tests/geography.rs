//! What of GeoQuery a parser can learn: needs the data folder (`XPR_DATA`).
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "these are tests")]

use std::ops::ControlFlow;
use std::path::PathBuf;
use xpr_data::{LabeledQuestion, Split, SplitBy, Text2Sql};
use xpr_exec::sqlite::{Database, ValueIndex, ValueLimits};
use xpr_learn::task::{Coverage, Stage, Surveyor};

#[test]
fn gold_queries_survive_and_their_constants_are_found() {
    let Some(folder) = std::env::var_os("XPR_DATA") else {
        eprintln!("SKIPPED: XPR_DATA is not set, so no query of GeoQuery was looked at");
        return;
    };
    // Tests run in their crate's folder, but a relative path means the workspace's.
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(folder);
    let dataset = Text2Sql::open(&folder, Some("geography")).unwrap();
    let database = Database::open(dataset.database().unwrap()).unwrap();
    let schema = database.schema().unwrap();
    let index =
        ValueIndex::read(&database, &schema, ValueLimits::default(), &mut |_| ControlFlow::Continue(()))
            .unwrap();
    let mut surveyor = Surveyor::new(&database, &schema, &index).unwrap();
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
