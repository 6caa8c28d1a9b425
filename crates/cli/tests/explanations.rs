//! Every gold program of the demo, GeoQuery, Spider and Overnight has an explanation, and programs that mean different things have
//! different ones.
#![allow(clippy::unwrap_used, reason = "these are tests")]

#[path = "../../lang/tests/equivalence/mod.rs"]
mod equivalence;

use equivalence::Explanations;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use xpr_data::{Overnight, OvernightPart, SplitBy, Text2Sql, labeled};
use xpr_exec::sqlite::SqliteDatabase;
use xpr_exec::{KnowledgeBaseEnvironment, SymbolPhrase, overnight};
use xpr_lang::lambda_dcs::LambdaDcs;
use xpr_lang::sql::Sql;
use xpr_lang::{Environment, Language};

/// Returns the data folder. A relative `XPR_DATA` is relative to the workspace, and not to the crate's folder, in which tests run.
fn data() -> PathBuf {
    let data = std::env::var_os("XPR_DATA").expect("XPR_DATA names the data folder, see CONTRIBUTING.md");
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(data)
}

/// Explains queries about a database, and whatever differs from them in one place. Returns the number of queries and of sentences.
fn explain(database: &Path, queries: impl IntoIterator<Item = String>) -> (usize, usize) {
    let language = Sql::new(SqliteDatabase::open(database).unwrap().schema().unwrap());
    let mut explanations = Explanations::default();
    let mut count = 0;
    for text in queries {
        if let Ok(query) = language.parse(&text) {
            explanations.add_with_mutations(&language, &query);
            count += 1;
        }
    }
    assert!(explanations.clashes.is_empty(), "{}", explanations.clashes.join("\n"));
    (count, explanations.len())
}

#[test]
fn queries_of_the_demo_have_explanations_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    xpr_demo::write(folder.path()).unwrap();
    let pairs = ["train.tsv", "test.tsv"].map(|name| labeled::read(&folder.path().join(name)).unwrap());
    let programs: Vec<String> = pairs.into_iter().flatten().map(|pair| pair.program).collect();
    let all = programs.len();
    let (explained, sentences) = explain(&folder.path().join(xpr_demo::DATABASE_FILE), programs);
    assert_eq!(explained, all);
    assert!(sentences > 3_000, "{sentences}");
}

#[test]
#[ignore = "needs XPR_DATA, see CONTRIBUTING.md"]
fn queries_of_geoquery_have_explanations_of_their_own() {
    let dataset = Text2Sql::open(&data(), Some("geography")).unwrap();
    let pairs = dataset.labeled_questions(SplitBy::Question, 0).unwrap();
    let (explained, _) = explain(dataset.database().unwrap(), pairs.into_iter().map(|pair| pair.program));
    // SQLite does not run the other five.
    assert_eq!(explained, 872);
}

#[test]
#[ignore = "needs XPR_DATA, see CONTRIBUTING.md"]
fn queries_of_spider_have_explanations_of_their_own() {
    let mut explained = 0;
    for entry in fs::read_dir(data().join("spider/dev")).unwrap() {
        let folder = entry.unwrap().path();
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        let pairs = labeled::read_for_database(&folder.join("pairs.tsv"), &name).unwrap();
        explained +=
            explain(&folder.join(format!("{name}.sqlite")), pairs.into_iter().map(|pair| pair.program)).0;
    }
    assert_eq!(explained, 680);
}

#[test]
#[ignore = "needs XPR_DATA, see CONTRIBUTING.md"]
fn programs_of_overnight_have_explanations_of_their_own() {
    let data = Overnight::open(&data()).unwrap();
    let language = LambdaDcs::new();
    for domain in overnight::WORLDS {
        let world = overnight::world(domain).unwrap();
        let phrases: Vec<SymbolPhrase> = data
            .lexicon(domain)
            .unwrap()
            .into_iter()
            .map(|entry| SymbolPhrase { symbol: entry.symbol, phrase: entry.phrase })
            .collect();
        let environment = KnowledgeBaseEnvironment::new(&world, &language, &phrases);
        let grammar = language.signatures().grammar(environment.items()).unwrap();
        let mut by_sentence: HashMap<String, String> = HashMap::new();
        let mut add = |program| {
            let sentence = language.explain(&program, &grammar, &environment).unwrap();
            let text = language.write(&program, &grammar, &environment);
            let first = by_sentence.entry(sentence.clone()).or_insert_with(|| text.clone());
            assert_eq!(*first, text, "{domain}: {sentence}");
        };
        // The shortest programs of the grammar differ from each other in every place.
        grammar.programs(6).take(20_000).for_each(&mut add);
        for part in [OvernightPart::Train, OvernightPart::Test] {
            for example in data.examples(domain, part).unwrap() {
                add(language.read(&example.program, &grammar, &environment).unwrap());
            }
        }
    }
}
