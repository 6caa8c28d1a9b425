//! Settings have an effect when they are given to the binary.
#![allow(clippy::unwrap_used, clippy::panic, reason = "these are tests")]

mod small_calendar;
#[path = "../../sentence/tests/support/mod.rs"]
mod tiny_model;

use safetensors::tensor::Dtype;
use small_calendar::{SmallCalendar, command, stderr, succeed};

/// Half of the labels, and joint training with the parser's own search from the first steps on.
const JOINT: [&str; 6] = [
    "train.steps=40",
    "data.fraction=0.5",
    "learn.objective=sparse",
    "learn.ensemble=0",
    "learn.start=5",
    "learn.beam=2",
];

#[test]
fn tuning_trains_with_every_weight_and_then_with_the_best() {
    let calendar = SmallCalendar::new();
    let trained = succeed(calendar.train("run", &JOINT).arg("--tune=0.1,0.3"));
    let accuracy = |weight: &str| -> f64 {
        let run = format!("run/tuning/weight-{weight}");
        let config = calendar.read(&run, "config.toml");
        assert!(config.contains(&format!("\nweight = {weight}\n")), "{config}");
        // Half of the six labeled examples are held out.
        assert!(config.contains("\nheld_out = 3\nheld_out_from = \"labeled\"\n"), "{config}");
        let evaluation: serde_json::Value =
            serde_json::from_str(&calendar.read(&run, "evaluation.json")).unwrap();
        assert_eq!(evaluation["examples"], 3);
        evaluation["accuracy"].as_f64().unwrap()
    };
    // Of equally good weights the smallest is chosen.
    let best = if accuracy("0.3") > accuracy("0.1") { "0.3" } else { "0.1" };
    let config = calendar.read("run", "config.toml");
    assert!(
        config.contains(&format!("\nweight = {best}\n")),
        "{best} is the best weight, not that of\n{config}"
    );
    assert!(config.contains("\nheld_out = 0\n"), "{config}");
    for weight in ["0.1", "0.3"] {
        let line = format!("learn.weight {weight}: {:.1} % of 3 held-out", 100.0 * accuracy(weight));
        assert!(stderr(&trained).contains(&line), "{}", stderr(&trained));
    }
    let evaluation: serde_json::Value =
        serde_json::from_str(&calendar.read("run", "evaluation.json")).unwrap();
    assert_eq!(evaluation["examples"], 12, "the final run is evaluated on the test questions");
}

#[test]
fn the_fallback_and_dropout_of_search_change_training() {
    let calendar = SmallCalendar::new();
    let metrics = |run: &str, setting: &str| -> String {
        succeed(&mut calendar.train(run, &[&JOINT[..], &[setting]].concat()));
        calendar.read(run, "metrics.jsonl")
    };
    let default = metrics("default", "learn.fallback=repulsion");
    assert_eq!(default, metrics("same", "learn.search_dropout=true"), "these are the defaults");
    for (run, setting) in [("skip", "learn.fallback=skip"), ("no-dropout", "learn.search_dropout=false")] {
        let changed = metrics(run, setting);
        assert_ne!(changed, default, "{setting} has no effect");
        assert_eq!(changed.lines().count(), default.lines().count());
    }
}

#[test]
fn after_an_ensemble_a_parser_goes_on_with_its_own_search() {
    let calendar = SmallCalendar::new();
    let common =
        ["train.steps=40", "data.fraction=0.5", "learn.objective=sparse", "learn.ensemble=1", "learn.beam=2"];
    let metrics = |run: &str, settings: &[&str]| -> Vec<String> {
        succeed(&mut calendar.train(run, &[&common[..], settings].concat()));
        calendar.read(run, "metrics.jsonl").lines().map(str::to_owned).collect()
    };
    let ensemble_only = metrics("ensemble", &["learn.steps=40"]);
    let both = metrics("both", &["learn.steps=20", "learn.own_steps=20", "learn.own_weight=0.3"]);
    let heavier = metrics("heavier", &["learn.steps=20", "learn.own_steps=20", "learn.own_weight=1.0"]);
    // A line for every tenth step: the ensemble teaches during the first two.
    assert_eq!((both.len(), &both[..2]), (4, &ensemble_only[..2]));
    assert_eq!(both[..2], heavier[..2]);
    for other in [&ensemble_only, &heavier] {
        assert!(both[2] != other[2] && both[3] != other[3], "{both:?} {other:?}");
    }
}

#[test]
fn masks_by_question_frozen_words_and_a_folder_of_vectors_change_training() {
    let calendar = SmallCalendar::new();
    let vectors = calendar.path("vectors");
    std::fs::create_dir(&vectors).unwrap();
    std::fs::write(vectors.join("some.txt"), "meeting 0.5 0.1 0.2\nbob 0.3 0.4 -0.5\n").unwrap();
    let metrics = |run: &str, settings: &[&str]| -> String {
        let mut train = calendar.train(run, &[&JOINT[..], settings].concat());
        succeed(train.arg("--set").arg("data.embeddings=some.txt").arg("--embeddings").arg(&vectors));
        calendar.read(run, "metrics.jsonl")
    };
    let default = metrics("default", &[]);
    assert!(calendar.read("default", "config.toml").contains("some.txt"));
    for (run, setting) in [
        ("question", "model.decoder_dropout=question"),
        ("frozen", "train.words=1"),
        ("all", "train.words=0"),
    ] {
        assert_eq!(metrics(run, &[setting]) == default, run == "all", "{setting}");
    }
    let missing = calendar.train("missing", &["data.embeddings=none.txt"]).output().unwrap();
    assert!(stderr(&missing).contains("no file of word vectors none.txt; name the folder that has it"));
    let unnamed = calendar.train("unnamed", &JOINT).arg("--embeddings").arg(&vectors).output().unwrap();
    assert!(stderr(&unnamed).contains("is a folder; name a file of word vectors in it with data.embeddings"));
}

#[test]
fn the_average_changes_the_weights_only_and_phrases_of_rules_change_training() {
    let calendar = SmallCalendar::new();
    let train = |run: &str, setting: &str| -> (String, Vec<u8>) {
        succeed(&mut calendar.train(run, &[&JOINT[..], &[setting]].concat()));
        let weights = std::fs::read(calendar.path(run).join("model.safetensors")).unwrap();
        (calendar.read(run, "metrics.jsonl"), weights)
    };
    let plain = train("plain", "train.average=0");
    let average = train("average", "train.average=0.9");
    assert_eq!(average.0, plain.0);
    assert_ne!(average.1, plain.1);
    let without = train("without", "model.without=[\"rule-phrases\"]");
    assert_ne!(without.0, plain.0);
    assert!(without.1.len() < plain.1.len(), "phrases of rules have weights of their own");
    let refused = calendar.train("refused", &["train.average=1"]).output().unwrap();
    assert!(stderr(&refused).contains("expected a decay from 0 to below 1, such as 0.999"));
}

#[test]
fn a_run_has_the_grammar_of_its_settings_and_is_not_opened_or_resumed_with_the_other() {
    let calendar = SmallCalendar::new();
    let rules = |run: &str| -> serde_json::Value {
        let grammar: serde_json::Value = serde_json::from_str(&calendar.read(run, "grammar.json")).unwrap();
        grammar["rules"].clone()
    };
    for (grammar, other, rule) in [("typed", "signatures", "instances"), ("signatures", "typed", "filter/3")]
    {
        succeed(&mut calendar.train(grammar, &["train.steps=40", &format!("data.grammar={grammar}")]));
        assert!(rules(grammar).as_array().unwrap().contains(&rule.into()), "{}", rules(grammar));
        let run = calendar.argument(grammar);
        let resume = ["train", "--resume", "--out", &run];
        let commands = [&["ask", &run, "meetings with bob"][..], &["eval", &run], &resume];
        for arguments in commands {
            succeed(&mut command(arguments));
        }
        let config = calendar.read(grammar, "config.toml");
        let [own, foreign] = [grammar, other].map(|name| format!("\ngrammar = \"{name}\"\n"));
        assert!(config.contains(&own), "{config}");
        std::fs::write(calendar.path(grammar).join("config.toml"), config.replace(&own, &foreign)).unwrap();
        let expected =
            format!("grammar.json: its rules are not those of data.grammar = \"{other}\"; restore");
        for arguments in commands {
            let output = command(arguments).output().unwrap();
            assert!(!output.status.success(), "{arguments:?} succeeded");
            assert!(stderr(&output).contains(&expected), "{}", stderr(&output));
        }
    }
    succeed(&mut calendar.train("default", &["train.steps=40"]));
    assert_eq!(calendar.read("default", "metrics.jsonl"), calendar.read("typed", "metrics.jsonl"));
    assert_ne!(calendar.read("signatures", "metrics.jsonl"), calendar.read("typed", "metrics.jsonl"));
}

#[test]
fn settings_with_old_names_are_read_with_a_note() {
    let calendar = SmallCalendar::new();
    std::fs::write(calendar.path("old.toml"), "[learn]\nnoise = false\n").unwrap();
    let old = ["train.steps=1", "learn.committee=0", "eval.least=executes"];
    let trained = succeed(calendar.train("run", &old).arg(calendar.path("old.toml")));
    for note in [
        "note: the setting `learn.committee` is now `learn.ensemble`\n",
        "note: the setting `eval.least` is now `eval.prefer`\n",
        "note: the setting `learn.noise` is now `learn.search_dropout`\n",
    ] {
        assert_eq!(stderr(&trained).matches(note).count(), 1, "{}", stderr(&trained));
    }
    let config = calendar.read("run", "config.toml");
    for line in ["\nensemble = 0\n", "\nprefer = \"executes\"\n", "\nsearch_dropout = false\n"] {
        assert!(config.contains(line), "{config}");
    }
    assert!(!config.contains("committee") && !config.contains("noise ="), "{config}");
    // The new names need no note.
    let asked = succeed(&mut command(&["ask", &calendar.argument("run"), "meetings with bob"]));
    assert_eq!(stderr(&asked), "");
}

#[test]
fn tuning_tries_four_weights_unless_others_are_given() {
    let calendar = SmallCalendar::new();
    let tiny = ["train.steps=2", "learn.start=1"];
    succeed(calendar.train("run", &[&JOINT[..], &tiny].concat()).arg("--tune"));
    let mut tried: Vec<String> = std::fs::read_dir(calendar.path("run/tuning"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    tried.sort();
    assert_eq!(tried, ["weight-0.1", "weight-0.3", "weight-0.5", "weight-1"]);
}

#[test]
fn ignored_settings_are_noted_and_contradictions_refused() {
    let calendar = SmallCalendar::new();
    std::fs::write(calendar.path("a.toml"), "[learn]\nsteps = 1\nreward = \"agreement\"\n").unwrap();
    let train = |run: &str, settings: &[&str]| {
        let mut train = calendar.train(run, &[&["train.steps=1", "data.fraction=0.5"], settings].concat());
        train.arg(calendar.path("a.toml"));
        train
    };
    for (run, settings, expected) in [
        ("labels", &["learn.objective=none"][..], &[][..]),
        (
            "labels-set",
            &["learn.objective=none", "learn.weight=0.5"],
            &["`learn.weight` is ignored: learn.objective is `none`"],
        ),
        (
            "search",
            &["learn.objective=sparse", "learn.ensemble=0", "learn.reward=auto", "learn.temperature=2"],
            &[
                "`learn.temperature` is ignored: learn.ensemble is 0",
                "`learn.steps` is ignored: learn.ensemble is 0",
            ],
        ),
        (
            "ensemble",
            &["learn.objective=sparse", "learn.ensemble=1", "learn.start=1"],
            &["`learn.start` is ignored: with an ensemble"],
        ),
    ] {
        let message = stderr(&succeed(&mut train(run, settings)));
        let notes: Vec<&str> = message.lines().filter(|line| line.starts_with("note: ")).collect();
        assert_eq!(notes.len(), expected.len(), "{message}");
        assert!(expected.iter().all(|note| message.contains(note)), "{message}\nexpected: {expected:?}");
    }
    // A run notes nothing when it is resumed: it has all settings.
    let resumed = succeed(&mut command(&["train", "--resume", "--out", &calendar.argument("search")]));
    assert!(!stderr(&resumed).contains("note: "), "{}", stderr(&resumed));

    let refused = train("refused", &["learn.objective=sparse", "learn.ensemble=0"]).output().unwrap();
    let message = stderr(&refused);
    assert!(!refused.status.success());
    assert!(message.contains("rewarded for agreeing with itself; set learn.reward to `auto`"), "{message}");
    assert!(!calendar.path("refused").exists());
}

#[test]
fn a_sentence_encoder_changes_what_an_ensemble_teaches() {
    let calendar = SmallCalendar::new();
    let common = [
        "train.steps=40",
        "data.fraction=0.5",
        "learn.objective=sparse",
        "learn.ensemble=1",
        "learn.steps=20",
        "learn.beam=2",
    ];
    let train = |run: &str, settings: &[&str]| calendar.train(run, &[&common[..], settings].concat());
    let metrics = |run: &str, settings: &[&str]| {
        succeed(&mut train(run, settings));
        calendar.read(run, "metrics.jsonl")
    };
    let model = tiny_model::model(Dtype::F32);
    let encoder = format!("learn.encoder={:?}", model.path());
    let without = metrics("without", &[]);
    let with = metrics("with", &[&encoder]);
    assert_ne!(with, without);
    assert_eq!(with, metrics("again", &[&encoder, "learn.paraphrase=40"]), "40 is the default");
    assert_ne!(with, metrics("equal", &[&encoder, "learn.paraphrase=0"]));

    let missing = train("missing", &["learn.encoder=nowhere"]).output().unwrap();
    assert_eq!(missing.status.code(), Some(2));
    assert!(stderr(&missing).contains("nowhere"), "{}", stderr(&missing));

    // A run whose encoder was replaced would be taught by two.
    tiny_model::write_weights(model.path(), &tiny_model::tensors(), Dtype::F16);
    let (data, run) = (calendar.argument("data"), calendar.argument("with"));
    let resumed = command(&["train", "--resume", "--data", &data, "--out", &run]).output().unwrap();
    assert_eq!(resumed.status.code(), Some(2), "{}", stderr(&resumed));
    assert!(stderr(&resumed).contains("the sentence encoder changed"), "{}", stderr(&resumed));
}
