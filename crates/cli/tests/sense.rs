//! The rules of sense leave no nonsense among the candidates of search, and nearly all gold queries in its reach.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "these are tests")]

mod nonsense;

use nonsense::{Found, Inspector};
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use xpr_data::{Example, SplitBy, Text2Sql, labeled};
use xpr_exec::sqlite::SqliteDatabase;
use xpr_lang::sql::{Query, Sql};
use xpr_lang::{Action, Derivation, ItemPosition, Program, completion};
use xpr_learn::Task;
use xpr_learn::task::{DatabaseWorld, LabeledExample};
use xpr_nn::{Adam, AdamState, Gradients, Random};
use xpr_parser::{Model, ModelConfig, Parser, Question, Shards, TrainableParser, WeightedProgram};

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
fn nonsense(question: &Question, program: &Program) -> Option<usize> {
    let sense = question.environment().unwrap().sense().unwrap();
    let grammar = question.grammar();
    let actions = program.actions();
    let makes_sense = |at: usize| sense.next_action(grammar, &actions[..at]).makes_sense(actions[at]);
    let first = (0..actions.len()).find(|&at| !makes_sense(at));
    first.or_else(|| sense.meaning(program).is_none().then_some(actions.len()))
}

/// Returns whether search without rules of sense could write a program: whether all its words are where they occur.
fn is_reachable(question: &Question, program: &Program) -> bool {
    let (environment, grammar) = (question.environment().unwrap(), question.grammar());
    let mut parents = vec![None];
    let mut previous = None;
    program.actions().iter().all(|&action| {
        let parent = parents.pop().flatten();
        let position = ItemPosition { parent, previous: previous.replace(action) };
        match action {
            Action::Item(item) => environment.fits(item, position),
            Action::Rule(rule) => {
                parents.extend(grammar.arguments(action).iter().map(|_| Some(rule)));
                true
            }
        }
    })
}

/// Counts how many gold queries search could write without rules of sense, and how many of these make sense.
fn reach(database: &Path, labels: &[Example], tested: &[Example]) -> (usize, usize) {
    let task = task(database, labels);
    let (mut writable, mut sensible) = (0, 0);
    for Example { utterance, program: text } in tested {
        let question = task.question(utterance);
        let Ok(program) = task.read(text, &question) else { continue };
        if !is_reachable(&question, &program) {
            continue;
        }
        writable += 1;
        match nonsense(&question, &program) {
            None => sensible += 1,
            Some(at) => {
                let signatures = question.grammar().signatures();
                let items = question.environment().unwrap().items();
                let name = |action: &Action| match action {
                    Action::Rule(rule) => signatures.rules()[rule.index()].name.clone(),
                    Action::Item(item) => items[item.index()].symbol.clone(),
                };
                let names: Vec<String> = program.actions().iter().map(name).collect();
                let (before, after) = names.split_at(at);
                eprintln!(
                    "{}: {utterance}\n    {text}\n    {} [ {} ]",
                    database.display(),
                    before.join(" "),
                    after.join(" ")
                );
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

/// A linear congruential generator, so that a failure occurs again.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

/// Samples a program by the rules of search: each action makes sense and can be completed. Returns none if the complete program
/// makes no sense.
fn sample(question: &Question, numbers: &mut Numbers) -> Option<Program> {
    /// The number of actions after which a program is completed as soon as possible.
    const LONGEST: usize = 24;
    let sense = question.environment().unwrap().sense().unwrap();
    let grammar = question.grammar();
    let mut derivation = Derivation::new(grammar);
    let mut actions: Vec<Action> = Vec::new();
    let mut rest =
        completion(sense, grammar, &derivation, &actions).expect("there is a query that makes sense");
    while let Some(ty) = derivation.expected() {
        let allowed = grammar.allowed(ty);
        let next = sense.next_action(grammar, &actions);
        assert!(next.makes_sense(rest[0]), "an action was offered that cannot be completed");
        let mut items: Vec<Action> = allowed.items.iter().map(|&item| Action::Item(item)).collect();
        let mut rules: Vec<Action> = allowed.rules.iter().map(|&rule| Action::Rule(rule)).collect();
        loop {
            // As in labels, half of the actions are items.
            let is_rule = items.is_empty() || !rules.is_empty() && numbers.below(2) == 0;
            let from = if is_rule { &mut rules } else { &mut items };
            let action = match actions.len() < LONGEST && !from.is_empty() {
                true => from.swap_remove(numbers.below(from.len())),
                false => rest[0],
            };
            if !next.makes_sense(action) {
                continue;
            }
            let mut longer = derivation.clone();
            longer.advance(grammar, action).unwrap();
            actions.push(action);
            let completed = match action == rest[0] {
                true => Some(rest[1..].to_vec()),
                false => completion(sense, grammar, &longer, &actions),
            };
            if let Some(completed) = completed {
                (derivation, rest) = (longer, completed);
                break;
            }
            actions.pop();
        }
    }
    let program = Program::from_actions(grammar, &actions).unwrap();
    sense.meaning(&program).is_some().then_some(program)
}

/// Trains a parser for so short a time that it writes queries of a sensible length, but knows little else.
fn briefly_trained(mut model: Model, task: &Task, labels: &[Example]) -> Model {
    let (labeled, _) = task.label(labels, &|| {}).unwrap();
    let mut state = AdamState::new(model.parameters());
    for step in 0..40 {
        let batch: Vec<&LabeledExample> = labeled.iter().cycle().skip(8 * step).take(8).collect();
        let questions: Vec<&Question> = batch.iter().map(|example| &example.question).collect();
        let programs: Vec<WeightedProgram<'_>> = (0..)
            .zip(&batch)
            .map(|(question, example)| WeightedProgram { question, program: &example.program, weight: -1.0 })
            .collect();
        let mut gradients = Gradients::default();
        model
            .read(&questions, &[1; 8], Random::new(step as u64), Shards::all(1))
            .gradient(&programs, &mut gradients);
        Adam::default().step(model.parameters_mut(), &mut state, &gradients, 0.003);
    }
    model
}

/// Candidates of search with parsers that learned little and samples, which are odder than those of any trained parser.
#[test]
#[ignore = "needs XPR_DATA, see CONTRIBUTING.md"]
fn no_candidate_is_nonsense() {
    const CANDIDATES: usize = 100_000;
    let databases = spider();
    let questions: usize = databases.iter().map(|(_, examples)| examples.len()).sum();
    let (mut found, mut candidates, mut searched) = (Found::new(), 0, 0);
    let mut numbers = Numbers(1);
    for (database, examples) in &databases {
        let schema = SqliteDatabase::open(database).unwrap().schema().unwrap();
        let language = Sql::new(schema.clone());
        // Half of the pairs are labels: the others are asked as new questions are.
        let labels: Vec<Example> = examples.iter().step_by(2).cloned().collect();
        let queries: Vec<Query> =
            labels.iter().filter_map(|label| language.parse(&label.program).ok()).collect();
        let inspector = Inspector::new(database, schema, &queries);
        let task = task(database, &labels);
        let config = ModelConfig { word: 8, hidden: 16, heads: 2, layers: 1, ..ModelConfig::default() };
        let words = task.vocabulary().table(config.word, &HashMap::default(), Random::new(1));
        let model = Model::new(config, task.scene().clone(), words, Random::new(2));
        let model = briefly_trained(model, &task, &labels);
        for Example { utterance, .. } in examples {
            let question = task.question(utterance);
            let mut inspect = |program: &Program| {
                candidates += 1;
                inspector.inspect(utterance, &task.text(program, &question), &mut found);
            };
            for candidate in &model.candidates(&[&question], 8)[0] {
                searched += 1;
                inspect(&candidate.program);
            }
            let (mut sampled, wanted) = (0, CANDIDATES.div_ceil(questions));
            while sampled < wanted {
                if let Some(program) = sample(&question, &mut numbers) {
                    inspect(&program);
                    sampled += 1;
                }
            }
        }
    }
    eprintln!("{candidates} candidates, {searched} of them found by search");
    for (kind, (count, example)) in &found {
        eprintln!("{count} with {kind}, such as\n    {example}");
    }
    assert!(candidates >= CANDIDATES, "{candidates}");
    assert!(found.is_empty());
}
