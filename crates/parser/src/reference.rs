//! Tests of the whole model against numbers from an independent program.
//!
//! `fixtures/reference.py` is the same model, written with PyTorch. It reads `fixtures/reference.json`, which describes
//! sizes, questions and programs, and writes `fixtures/reference.out`: the log-probability of each program and, for every
//! parameter, two projections of its gradient. To regenerate both files, run
//! `XPR_WRITE_REFERENCE=1 cargo test -p xpr-parser reference`, then `python3 reference.py` in `fixtures`.

use crate::decoder::TargetProgram;
use crate::partial::PartialProgram;
use crate::{
    Model, ModelConfig, Parser, Question, Reading, Scene, Shards, TrainableParser, Vocabulary,
    WeightedProgram,
};
use std::fmt::Write;
use xpr_exec::{KnowledgeBaseEnvironment, SymbolPhrase, overnight};
use xpr_lang::lambda_dcs::LambdaDcs;
use xpr_lang::{Action, Environment, Language, Program};
use xpr_nn::{Gradients, Matrix, Random};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures");

/// A small model without dropout in the calendar world, and two questions with three programs.
struct Fixture {
    model: Model,
    questions: Vec<Question>,
    programs: Vec<(usize, Program)>,
}

fn fixture() -> Fixture {
    let language = LambdaDcs::new();
    let world = overnight::world("calendar").unwrap();
    let phrases =
        [("( date 2015 1 2 )", "jan 2"), ("( number 3 en.hour )", "three hours"), ("( number 2 )", "two")]
            .map(|(symbol, phrase)| SymbolPhrase { symbol: symbol.into(), phrase: phrase.into() });
    let environment = KnowledgeBaseEnvironment::new(&world, &language, &phrases);
    let grammar = language.signatures().grammar(environment.items()).unwrap();
    let utterances = ["which meetings on january 2 are longer than three hours", "when is the annual review"];
    let words = utterances.iter().flat_map(|text| xpr_text::tokenize(text));
    let item_words =
        environment.items().iter().flat_map(|item| xpr_text::tokenize(&item.phrase)).collect::<Vec<_>>();
    let rule_phrases = language.signatures().rules().iter().flat_map(|rule| rule.phrases);
    let rule_words = rule_phrases.flat_map(|phrase| xpr_text::tokenize(phrase));
    let vocabulary = Vocabulary::new(words.chain(item_words).chain(rule_words));
    let read = |text: &str| language.read(text, &grammar, &environment).unwrap();
    let programs = vec![
        (
            0,
            read(
                "( call SW.listValue ( call SW.filter ( call SW.filter ( call SW.getProperty ( call SW.singleton \
                 en.meeting ) ( string !type ) ) ( string date ) ( string = ) ( date 2015 1 2 ) ) ( call \
                 SW.ensureNumericProperty ( string length ) ) ( string > ) ( call SW.ensureNumericEntity ( number 3 \
                 en.hour ) ) ) )",
            ),
        ),
        (
            1,
            read(
                "( call SW.listValue ( call SW.getProperty en.meeting.annual_review ( string start_time ) ) )",
            ),
        ),
        (1, read("( call SW.listValue ( call SW.getProperty en.meeting.annual_review ( string date ) ) )")),
    ];
    let scene = Scene::new(grammar, &environment, &vocabulary);
    let questions = utterances.iter().map(|text| scene.question(text, &vocabulary)).collect();
    let config = ModelConfig {
        word: 6,
        hidden: 8,
        layers: 2,
        heads: 2,
        feed_forward: 10,
        action: 5,
        place: 3,
        dropout: 0.0,
        word_dropout: 0.0,
        decoder_dropout: crate::DecoderDropout::Step,
        named_relations: false,
        without: vec![],
    };
    let table = Matrix::zeros(vocabulary.words().len(), config.word);
    let mut model = Model::new(config, scene, table, Random::new(0));
    let ids: Vec<_> = model.parameters().ids().collect();
    for id in ids {
        // A formula that both programs compute, so that the values need not be stored.
        let seed: u32 = model.parameters().name(id).bytes().map(u32::from).sum();
        let is_gain = model.parameters().name(id).ends_with(".gain");
        for (index, x) in model.parameters_mut().value_mut(id).data_mut().iter_mut().enumerate() {
            let wave = ((index as f64) * 0.7 + f64::from(seed)).sin() * 0.4;
            *x = (wave + f64::from(u8::from(is_gain))) as f32;
        }
    }
    Fixture { model, questions, programs }
}

fn list(values: impl IntoIterator<Item = impl std::fmt::Display>) -> String {
    format!("[{}]", values.into_iter().map(|value| value.to_string()).collect::<Vec<_>>().join(", "))
}

/// Returns the content of `reference.json`.
fn describe(fixture: &Fixture) -> String {
    let scene = fixture.model.scene();
    let mut out = String::from("{\n");
    let parameters = fixture.model.parameters();
    let shapes = parameters.ids().map(|id| {
        format!(
            "\"{}\": [{}, {}]",
            parameters.name(id),
            parameters.value(id).rows(),
            parameters.value(id).columns()
        )
    });
    let _ = writeln!(out, " \"parameters\": {{{}}},", shapes.collect::<Vec<_>>().join(", "));
    let _ = writeln!(out, " \"rules\": {},", scene.rules());
    let _ = writeln!(out, " \"item_words\": {},", list(&scene.items().words));
    let _ = writeln!(out, " \"item_starts\": {},", list(&scene.items().starts));
    let _ = writeln!(out, " \"item_kinds\": {},", list(&scene.items().kinds));
    let phrases = scene.rule_phrases();
    let _ = writeln!(
        out,
        " \"rule_words\": {},",
        list(phrases.words().iter().map(|rule| list(rule.iter().map(list))))
    );
    let of_rule = phrases.of_rule().iter().map(|index| index.map_or("null".to_owned(), |i| i.to_string()));
    let _ = writeln!(out, " \"phrases_of_rule\": {},", list(of_rule));
    let questions = fixture.questions.iter().map(|question| {
        format!(
            "{{\"words\": {}, \"relations\": {}}}",
            list(&question.words),
            list(question.relations.iter())
        )
    });
    let _ = writeln!(out, " \"questions\": {},", list(questions));
    let programs = fixture.programs.iter().map(|(question, program)| {
        let steps = describe_steps(scene, &fixture.questions[*question], program);
        format!("{{\"question\": {question}, \"steps\": {}}}", list(steps))
    });
    let _ = writeln!(out, " \"programs\": {}", list(programs));
    out.push_str("}\n");
    out
}

/// Returns the decoder's input, the allowed columns and the chosen column of each action of a program.
fn describe_steps(scene: &Scene, question: &Question, program: &Program) -> Vec<String> {
    let mut partial = PartialProgram::new(scene.grammar());
    let describe = |&action: &Action| {
        let input = partial.input(0).unwrap();
        let last = match input.last {
            None => "\"start\"".to_owned(),
            Some(Action::Rule(rule)) => rule.index().to_string(),
            Some(Action::Item(item)) => format!("\"item {}\"", item.0),
        };
        let parent = input.parent.map_or("null".to_owned(), |parent| parent.index().to_string());
        let allowed = list(question.offered(input.expected, &partial.named).iter());
        partial.advance(scene.grammar(), action);
        let (ty, chosen) = (input.expected.index(), scene.column(action));
        format!(
            "{{\"last\": {last}, \"type\": {ty}, \"parent\": {parent}, \"allowed\": {allowed}, \
             \"chosen\": {chosen}}}"
        )
    };
    program.actions().iter().map(describe).collect()
}

#[test]
fn log_probabilities_and_gradients_match_pytorch() {
    let fixture = fixture();
    let description = describe(&fixture);
    if std::env::var_os("XPR_WRITE_REFERENCE").is_some() {
        std::fs::write(format!("{FOLDER}/reference.json"), &description).unwrap();
        return;
    }
    let stored = std::fs::read_to_string(format!("{FOLDER}/reference.json")).unwrap();
    assert_eq!(
        stored, description,
        "the fixture has changed: regenerate the reference as this file's documentation says"
    );

    let model = &fixture.model;
    let questions: Vec<&Question> = fixture.questions.iter().collect();
    let weights = [1.0, -0.5, 2.0];
    let weighted: Vec<WeightedProgram<'_>> = fixture
        .programs
        .iter()
        .zip(weights)
        .map(|((question, program), weight)| WeightedProgram { question: *question, program, weight })
        .collect();
    let mut gradients = Gradients::default();
    let reading = model.read(&questions, &vec![1; questions.len()], Random::new(0), Shards::all(2));
    let logs = reading.gradient(&weighted, &mut gradients);

    let expected = std::fs::read_to_string(format!("{FOLDER}/reference.out")).unwrap();
    let parameters = model.parameters();
    let mut checked = 0;
    for line in expected.lines() {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let numbers: Vec<f64> = fields[1..].iter().map(|field| field.parse().unwrap()).collect();
        let close = |found: f64, expected: f64| (found - expected).abs() <= 2e-4 * (1.0 + expected.abs());
        if fields[0] == "log_probabilities" {
            for (found, expected) in logs.iter().zip(&numbers) {
                assert!(close(f64::from(*found), *expected), "{logs:?} {numbers:?}");
            }
        } else {
            let id = parameters.ids().find(|&id| parameters.name(id) == fields[0]).unwrap();
            let columns = parameters.value(id).columns();
            let mut gradient = vec![0.0; parameters.value(id).data().len()];
            if let Some(dense) = gradients.dense(id) {
                gradient.copy_from_slice(dense);
            }
            for (table, row, values) in gradients.sparse() {
                if table == id {
                    gradient[row * columns..][..columns].copy_from_slice(values);
                }
            }
            let sum: f64 = gradient.iter().map(|x| f64::from(*x)).sum();
            let wave: f64 = gradient
                .iter()
                .enumerate()
                .map(|(index, x)| f64::from(*x) * (index as f64 * 0.3).cos())
                .sum();
            assert!(
                close(sum, numbers[0]) && close(wave, numbers[1]),
                "{}: {sum} {wave}, expected {numbers:?}",
                fields[0]
            );
        }
        checked += 1;
    }
    assert_eq!(checked, 1 + parameters.ids().count());
}

#[test]
fn a_batch_gives_the_same_scores_as_its_members_alone() {
    let fixture = fixture();
    let all: Vec<&Question> = fixture.questions.iter().collect();
    let score = |questions: &[&Question], programs: &[TargetProgram<'_>]| {
        fixture.model.log_probabilities(questions, programs)
    };
    let programs: Vec<TargetProgram<'_>> = fixture
        .programs
        .iter()
        .map(|(question, program)| TargetProgram { question: *question, actions: program.actions() })
        .collect();
    let together = score(&all, &programs);
    for (program, together) in programs.iter().zip(together) {
        let alone = score(&[all[program.question]], &[TargetProgram { question: 0, ..*program }]);
        assert!((alone[0] - together).abs() < 1e-5, "{} {together}", alone[0]);
    }
    // Search also finds the same programs for each question.
    let batched = fixture.model.candidates(&all, 4);
    for (question, batched) in all.iter().zip(batched) {
        let alone = fixture.model.candidates(&[question], 4).remove(0);
        assert_eq!(alone.len(), batched.len());
        for (alone, batched) in alone.iter().zip(&batched) {
            assert_eq!(alone.program, batched.program);
            assert!((alone.log_probability - batched.log_probability).abs() < 1e-5);
        }
        // Search and scoring give a program the same log-probability.
        for candidate in &batched {
            let scored = TargetProgram { question: 0, actions: candidate.program.actions() };
            let again = score(&[question], &[scored])[0];
            assert!(
                (again - candidate.log_probability).abs() < 1e-4,
                "{again} {}",
                candidate.log_probability
            );
        }
    }
}

#[test]
fn a_reading_finds_the_candidates_of_the_parser_and_search_does_not_change_its_gradient() {
    let fixture = fixture();
    let (model, all) = (&fixture.model, fixture.questions.iter().collect::<Vec<&Question>>());
    let weighted: Vec<WeightedProgram<'_>> = fixture
        .programs
        .iter()
        .map(|(question, program)| WeightedProgram { question: *question, program, weight: 1.0 })
        .collect();
    let read = |work: &[usize]| model.read(&all, work, Random::new(0), Shards::all(2));
    let gradient_of = |reading: Box<dyn Reading + '_>| {
        let mut gradients = Gradients::default();
        let logs = reading.gradient(&weighted, &mut gradients);
        let dense = model.parameters().ids().map(|id| gradients.dense(id).map(<[f32]>::to_vec));
        (logs, dense.collect::<Vec<_>>())
    };
    let everything = vec![1; all.len()];
    let mut reading = read(&everything);
    // There is no dropout, so it finds the same programs as `Parser::candidates`.
    let found = reading.candidates(1..all.len(), 4);
    assert_eq!(found, model.candidates(&all[1..], 4));
    // Search does not change the gradient.
    assert_eq!(gradient_of(reading), gradient_of(read(&everything)));

    // A question that is left out gets no candidates, and its programs contribute nothing.
    let mut some = everything;
    some[weighted[0].question] = 0;
    let mut reading = read(&some);
    assert_eq!(reading.candidates(weighted[0].question..weighted[0].question + 1, 4), [vec![]]);
    assert_eq!(gradient_of(reading).0[0], 0.0);
}
