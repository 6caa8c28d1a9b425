//! Beam search against exhaustive enumeration, and what it does not try.

use super::*;
use crate::decoder::TargetProgram;
use crate::test_worlds::{cities_and_states, tiny_world};
use crate::{
    MentionPenalties, Model, ModelConfig, Parser, Scene, Shards, Surroundings, TrainableParser, Vocabulary,
    WeightedProgram,
};
use std::collections::HashSet;
use xpr_lang::sql::{ColumnId, Literal, SearchFacts, SqlEnvironment, SuggestedValue, TableId};
use xpr_lang::{Environment, Language};
use xpr_nn::{Adam, AdamState, Gradients, Random};

fn small_model(scene: &Scene, vocabulary: &Vocabulary, seed: u64) -> Model {
    let config =
        ModelConfig { word: 8, hidden: 16, heads: 2, named_relations: true, ..ModelConfig::default() };
    let words = vocabulary.table(config.word, &FxHashMap::default(), Random::new(seed));
    Model::new(config, scene.clone(), words, Random::new(seed))
}

fn tiny_scene(recursive: bool) -> (Scene, Question, Vocabulary) {
    let (grammar, environment) = tiny_world(recursive);
    let vocabulary = Vocabulary::new(["when", "meeting", "start"].map(str::to_owned));
    let scene = Scene::new(grammar, &environment, &vocabulary);
    let question = scene.question("when does the meeting start", &vocabulary);
    (scene, question, vocabulary)
}

fn search(model: &Model, question: &Question, beam: usize, max_actions: usize) -> Vec<Candidate> {
    let mut tape = model.take_tape(Random::new(0), false);
    let memory = model.encode(&mut tape, &[question]);
    let search = Search { max_actions, ..model.search(beam) };
    search.run(&mut tape, &memory, &[0]).remove(0)
}

/// Returns all programs of up to `longest` actions, scored one by one, most probable first.
fn exhaustive(model: &Model, question: &Question, longest: usize) -> Vec<Candidate> {
    let programs = question.grammar().programs(longest);
    let mut all: Vec<Candidate> = programs
        .map(|program| {
            let target = TargetProgram { question: 0, actions: program.actions() };
            let log_probability = model.log_probabilities(&[question], &[target])[0];
            Candidate { program, log_probability }
        })
        .collect();
    all.sort_by(|left, right| right.log_probability.total_cmp(&left.log_probability));
    all
}

/// Asserts that `found` has the programs and log-probabilities of `expected`, most probable first.
fn assert_same(found: &[Candidate], expected: &[Candidate]) {
    let set = |candidates: &[Candidate]| {
        candidates.iter().map(|candidate| candidate.program.clone()).collect::<HashSet<_>>()
    };
    assert_eq!(found.len(), expected.len());
    assert_eq!(set(found), set(expected));
    assert!(found.is_sorted_by(|left, right| left.log_probability >= right.log_probability));
    for candidate in found {
        let same = expected.iter().find(|other| other.program == candidate.program);
        let difference = same.map(|same| (same.log_probability - candidate.log_probability).abs());
        assert!(difference.is_some_and(|difference| difference < 1e-4), "{candidate:?} is not {same:?}");
    }
}

#[test]
fn a_beam_as_wide_as_the_language_finds_all_programs() {
    let (scene, question, vocabulary) = tiny_scene(false);
    for seed in 0..10 {
        let model = small_model(&scene, &vocabulary, seed);
        let expected = exhaustive(&model, &question, 100);
        assert_eq!(expected.len(), 16);
        let total: f32 = expected.iter().map(|candidate| candidate.log_probability.exp()).sum();
        assert!((total - 1.0).abs() < 1e-4, "the probabilities of all programs add up to {total}");
        assert_same(&search(&model, &question, expected.len(), 100), &expected);
    }
}

#[test]
fn a_wide_beam_finds_all_programs_up_to_the_longest_allowed() {
    let (scene, question, vocabulary) = tiny_scene(true);
    let model = small_model(&scene, &vocabulary, 1);
    for longest in [2, 5, 8] {
        let expected = exhaustive(&model, &question, longest);
        // Wider than the number of programs: extensions that turn out to be too long also take part of the beam.
        let found = search(&model, &question, 10 * expected.len(), longest);
        assert_same(&found, &expected);
    }
}

/// Returns the program that takes the most probable action at each step. The probability of a prefix is the sum
/// over all programs that start with it.
fn greedy(all: &[Candidate]) -> Program {
    let mut rest: Vec<&Candidate> = all.iter().collect();
    for step in 0.. {
        let mut by_action: Vec<(Action, f32)> = Vec::new();
        for candidate in &rest {
            let Some(&action) = candidate.program.actions().get(step) else { break };
            let probability = candidate.log_probability.exp();
            match by_action.iter_mut().find(|(other, _)| *other == action) {
                Some((_, sum)) => *sum += probability,
                None => by_action.push((action, probability)),
            }
        }
        let Some((best, _)) = by_action.into_iter().max_by(|left, right| left.1.total_cmp(&right.1)) else {
            break;
        };
        rest.retain(|candidate| candidate.program.actions()[step] == best);
    }
    rest[0].program.clone()
}

#[test]
fn a_beam_of_one_finds_the_greedy_program() {
    let (scene, question, vocabulary) = tiny_scene(false);
    let mut exact = 0;
    for seed in 0..30 {
        let model = small_model(&scene, &vocabulary, seed);
        let all = exhaustive(&model, &question, 100);
        let greedy = greedy(&all);
        let found = search(&model, &question, 1, 100);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].program, greedy, "seed {seed}");
        exact += usize::from(greedy == all[0].program);
    }
    assert!((1..30).contains(&exact), "greedy search is exact for some models and not for others: {exact}");
}

/// Trains a model until each of the programs is probable.
fn train(model: &mut Model, question: &Question, programs: &[Program]) {
    let mut state = AdamState::new(model.parameters());
    let weighted: Vec<WeightedProgram<'_>> =
        programs.iter().map(|program| WeightedProgram { question: 0, program, weight: -1.0 }).collect();
    for step in 0..60 {
        let mut gradients = Gradients::default();
        model.read(&[question], &[1], Random::new(step), Shards::all(1)).gradient(&weighted, &mut gradients);
        Adam::default().step(model.parameters_mut(), &mut state, &gradients, 0.01);
    }
}

/// Even if the model was trained to do otherwise, search compares the name of a city with names of cities only.
#[test]
fn values_are_tried_only_where_they_fit() {
    let language = cities_and_states();
    let fixed = SqlEnvironment::new(&language);
    let of_cities = ColumnId { table: TableId(0), column: 0 };
    let austin = SuggestedValue {
        literal: Literal::text("austin"),
        phrase: "austin".into(),
        columns: vec![of_cities],
        is_count: false,
    };
    let environment = fixed.with_values(&language, &[austin]);
    let grammar = language.signatures().grammar(environment.items()).unwrap();
    let vocabulary = Vocabulary::new(["austin".to_owned(), "where".to_owned()]);
    let base = language.signatures().grammar(fixed.items()).unwrap();
    let scene = Scene::new(base, &fixed, &vocabulary);
    let shared = (0..fixed.items().len() as u32).collect();
    let surroundings =
        Surroundings { environment: Box::new(environment.clone()), grammar: grammar.clone(), shared };
    let question = scene.question_in("where is austin", &vocabulary, surroundings);
    let read = |text: &str| language.read(text, &grammar, &environment).unwrap();
    let sensible = "SELECT city.name FROM city WHERE city.name = 'austin'";
    let nonsense = [
        "SELECT state.name FROM state WHERE state.name = 'austin'",
        "SELECT 'austin' FROM city",
        "SELECT MAX('austin') FROM city",
        "SELECT city.name FROM city WHERE 'austin'",
    ];

    let mut model = small_model(&scene, &vocabulary, 1);
    let labels: Vec<Program> = nonsense.into_iter().chain([sensible]).map(read).collect();
    train(&mut model, &question, &labels);
    let found = search(&model, &question, 20, 20);
    let found: Vec<&Program> = found.iter().map(|candidate| &candidate.program).collect();
    for (index, label) in labels.iter().enumerate() {
        let target = TargetProgram { question: 0, actions: label.actions() };
        let log_probability = model.log_probabilities(&[&question], &[target])[0];
        let text = language.write(label, &grammar, &environment);
        assert!(log_probability > -4.0, "training did not make this probable: {log_probability} {text}");
        assert_eq!(found.contains(&label), index == nonsense.len(), "{text}");
    }
}

/// Even if the model was trained to do otherwise, search finds no program without sense, and one spelling of a program.
#[test]
fn programs_that_make_no_sense_take_no_place() {
    let language = cities_and_states();
    let fixed = SqlEnvironment::new(&language).with_sense(&language, &SearchFacts::default());
    let of_cities = ColumnId { table: TableId(0), column: 0 };
    let city = |name: &str| SuggestedValue {
        columns: vec![of_cities],
        ..SuggestedValue::new(Literal::text(name), name)
    };
    let environment = fixed.with_values(&language, &[city("austin"), city("dallas")]);
    let grammar = language.signatures().grammar(environment.items()).unwrap();
    let vocabulary = Vocabulary::new(["austin".to_owned(), "dallas".to_owned()]);
    let base = language.signatures().grammar(fixed.items()).unwrap();
    let scene = Scene::new(base, &fixed, &vocabulary);
    let shared = (0..fixed.items().len() as u32).collect();
    let surroundings =
        Surroundings { environment: Box::new(environment.clone()), grammar: grammar.clone(), shared };
    let question = scene.question_in("austin or dallas", &vocabulary, surroundings);
    let read = |text: &str| language.read(text, &grammar, &environment).unwrap();
    let nonsense = [
        "SELECT city.name FROM city WHERE city.name = city.name",
        "SELECT city.name, city.name FROM city",
        "SELECT city.name, COUNT(*) FROM city",
        "SELECT city.name FROM city, state",
    ];
    let same = [
        "SELECT city.name FROM city WHERE city.name = 'austin' OR city.name = 'dallas'",
        "SELECT city.name FROM city WHERE city.name = 'dallas' OR city.name = 'austin'",
    ];
    let mut model = small_model(&scene, &vocabulary, 1);
    let labels: Vec<Program> = nonsense.into_iter().chain(same).map(read).collect();
    train(&mut model, &question, &labels);
    let found = search(&model, &question, 20, 20);
    let is_found = |text: &str| {
        let program = read(text);
        let target = TargetProgram { question: 0, actions: program.actions() };
        let log_probability = model.log_probabilities(&[&question], &[target])[0];
        assert!(log_probability > -8.0, "training did not make this probable: {log_probability} {text}");
        found.iter().any(|candidate| candidate.program == program)
    };
    assert_eq!(nonsense.map(is_found), [false; 4]);
    assert_eq!(same.iter().filter(|text| is_found(text)).count(), 1, "one of two spellings");
}

/// A parser that was trained to ignore a value finds the program that uses it, if ignoring it costs enough.
#[test]
fn penalties_change_what_is_found_but_not_its_probability() {
    let language = cities_and_states();
    let fixed = SqlEnvironment::new(&language).with_sense(&language, &SearchFacts::default());
    let of_cities = ColumnId { table: TableId(0), column: 0 };
    let austin =
        SuggestedValue { columns: vec![of_cities], ..SuggestedValue::new(Literal::text("austin"), "austin") };
    let environment = fixed.with_values(&language, &[austin]);
    let grammar = language.signatures().grammar(environment.items()).unwrap();
    let vocabulary = Vocabulary::new(["austin".to_owned(), "where".to_owned()]);
    let base = language.signatures().grammar(fixed.items()).unwrap();
    let scene = Scene::new(base, &fixed, &vocabulary);
    let shared = (0..fixed.items().len() as u32).collect();
    let surroundings =
        Surroundings { environment: Box::new(environment.clone()), grammar: grammar.clone(), shared };
    let question = scene.question_in("where is austin", &vocabulary, surroundings);
    let read = |text: &str| language.read(text, &grammar, &environment).unwrap();
    let (uses, ignores) =
        (read("SELECT city.name FROM city WHERE city.name = 'austin'"), read("SELECT city.name FROM city"));
    let mut model = small_model(&scene, &vocabulary, 1);
    train(&mut model, &question, &[ignores.clone(), ignores.clone(), ignores.clone(), uses.clone()]);
    let best = |model: &Model| model.candidates(&[&question], 1).remove(0).remove(0);
    assert_eq!(best(&model).program, ignores);
    model.set_penalties(Some(MentionPenalties { unused_text: 10.0, ..MentionPenalties::default() }));
    let found = best(&model);
    assert_eq!(found.program, uses);
    let target = TargetProgram { question: 0, actions: uses.actions() };
    let own = model.log_probabilities(&[&question], &[target])[0];
    assert!((found.log_probability - own).abs() < 1e-4, "{} is not {own}", found.log_probability);
    // Training searches without penalties.
    let mut reading = model.read(&[&question], &[1], Random::new(0), Shards::all(1));
    assert_eq!(reading.candidates(0..1, 1)[0][0].program, ignores);
}

/// With variational dropout, a candidate has the same log-probability in search and in the gradient, and all of them sum to at most
/// one; a mask for every step breaks both.
#[test]
fn variational_dropout_gives_search_and_gradient_the_same_probabilities() {
    let (scene, question, vocabulary) = tiny_scene(false);
    let questions = [&question, &question];
    let largest_difference = |decoder_dropout: DecoderDropout| {
        let config = ModelConfig { word: 8, hidden: 16, heads: 2, decoder_dropout, ..ModelConfig::default() };
        let words = vocabulary.table(config.word, &FxHashMap::default(), Random::new(1));
        let model = Model::new(config, scene.clone(), words, Random::new(1));
        let mut reading = model.read(&questions, &[1, 1], Random::new(5), Shards::all(1));
        let found = reading.candidates(0..2, 16);
        let differ =
            found[0].iter().zip(&found[1]).any(|(left, right)| left.log_probability != right.log_probability);
        assert!(differ, "each question has its own mask");
        let programs: Vec<WeightedProgram<'_>> = (0..)
            .zip(&found)
            .flat_map(|(question, found)| {
                found.iter().map(move |found| WeightedProgram {
                    question,
                    program: &found.program,
                    weight: 1.0,
                })
            })
            .collect();
        let logs = reading.gradient(&programs, &mut Gradients::default());
        let differences =
            found.iter().flatten().zip(&logs).map(|(found, log)| (found.log_probability - log).abs());
        differences.fold(0.0, f32::max)
    };
    assert!(largest_difference(DecoderDropout::Question) < 1e-4);
    assert!(largest_difference(DecoderDropout::Step) > 1e-2);
}
