//! The rules of sense leave nearly all gold queries in reach of search.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "these are tests")]

use std::fs;
use std::path::{Path, PathBuf};
use xpr_data::{Example, SplitBy, Text2Sql, labeled};
use xpr_lang::{Action, Program};
use xpr_learn::Task;
use xpr_learn::task::DatabaseWorld;
use xpr_parser::Question;

/// Returns the data folder. A relative `XPR_DATA` is relative to the workspace, and not to the crate's folder, in which tests run.
fn data() -> PathBuf {
    let data = std::env::var_os("XPR_DATA").expect("XPR_DATA names the data folder, see CONTRIBUTING.md");
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(data)
}

/// Returns the databases of Spider with their pairs of questions and queries.
fn spider() -> Vec<(PathBuf, Vec<Example>)> {
    let mut folders: Vec<PathBuf> =
        fs::read_dir(data().join("spider/dev")).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    let read = |folder: PathBuf| {
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        let pairs = labeled::read_for_database(&folder.join("pairs.tsv"), &name).unwrap();
        (folder.join(format!("{name}.sqlite")), pairs.into_iter().map(example).collect())
    };
    folders.into_iter().map(read).collect()
}

fn example(pair: xpr_data::LabeledQuestion) -> Example {
    Example { utterance: pair.utterance, program: pair.program }
}

/// Returns the task of a database whose labels are `labels`.
fn task(database: &Path, labels: &[Example]) -> Task {
    let world = DatabaseWorld::open(&format!("sqlite:{}", database.display()), Path::new("")).unwrap();
    Task::new(Box::new(world.learn_from_labels(labels).with_sense()), []).unwrap()
}

/// Returns the number of actions that make sense one after the other; none if all do and the program as a whole does.
fn nonsense(task: &Task, question: &Question, program: &Program) -> Option<usize> {
    let sense = question.environment().unwrap().sense().unwrap();
    let grammar = question.grammar(task.scene());
    let actions = program.actions();
    let makes_sense = |at: usize| sense.after(grammar, &actions[..at]).makes_sense(actions[at]);
    let first = (0..actions.len()).find(|&at| !makes_sense(at));
    first.or_else(|| sense.meaning(program).is_none().then_some(actions.len()))
}

/// Counts how many gold queries search could write, and how many of these make sense.
fn reach(database: &Path, labels: &[Example], tested: &[Example]) -> (usize, usize) {
    let task = task(database, labels);
    let (mut writable, mut sensible) = (0, 0);
    for Example { utterance, program: text } in tested {
        let question = task.question(utterance);
        let Ok(program) = task.read(text, &question) else { continue };
        writable += 1;
        match nonsense(&task, &question, &program) {
            None => sensible += 1,
            Some(at) => {
                let signatures = question.grammar(task.scene()).signatures();
                let items = question.environment().unwrap().items();
                let name = |action: &Action| match action {
                    Action::Rule(rule) => signatures.rules()[rule.index()].name.clone(),
                    Action::Item(item) => items[item.index()].symbol.clone(),
                };
                let names: Vec<String> = program.actions().iter().map(name).collect();
                let (before, after) = names.split_at(at);
                eprintln!("{}: {utterance}\n    {text}\n    {} [ {} ]", database.display(), before.join(" "), after.join(" "));
            }
        }
    }
    (writable, sensible)
}

fn report(name: &str, (writable, sensible): (usize, usize)) {
    eprintln!("{name}: {sensible} of {writable} gold programs make sense");
    assert!(sensible * 100 >= writable * 99, "{name}: {sensible} of {writable}");
}

#[test]
fn gold_queries_of_the_demo_make_sense() {
    let folder = tempfile::tempdir().unwrap();
    xpr_demo::write(folder.path()).unwrap();
    let read = |name: &str| -> Vec<Example> {
        labeled::read(&folder.path().join(name)).unwrap().into_iter().map(example).collect()
    };
    let (train, test) = (read("train.tsv"), read("test.tsv"));
    let database = folder.path().join(xpr_demo::DATABASE_FILE);
    report("demo, labels", reach(&database, &train, &train));
    report("demo, test", reach(&database, &train, &test));
}

#[test]
#[ignore = "needs XPR_DATA, see CONTRIBUTING.md"]
fn gold_queries_of_geoquery_make_sense() {
    let dataset = Text2Sql::open(&data(), Some("geography")).unwrap();
    let pairs = dataset.labeled_questions(SplitBy::Question, 0).unwrap();
    let examples: Vec<Example> = pairs.into_iter().map(example).collect();
    report("GeoQuery", reach(dataset.database().unwrap(), &examples, &examples));
}

#[test]
#[ignore = "needs XPR_DATA, see CONTRIBUTING.md"]
fn gold_queries_of_spider_make_sense() {
    let mut sum = (0, 0);
    for (database, examples) in spider() {
        let (writable, sensible) = reach(&database, &examples, &examples);
        sum = (sum.0 + writable, sum.1 + sensible);
    }
    report("Spider", sum);
}
