//! Training, evaluating and asking through the binary.
#![allow(clippy::unwrap_used, clippy::panic, reason = "these are tests")]

mod small_calendar;

use small_calendar::{SmallCalendar, command, stderr, succeed};
use std::fs;

/// Returns a model card without the numbers that differ between machines that round differently.
fn without_measured_lines(card: &str) -> String {
    let is_stable = |line: &&str| !line.contains(" %") || line.contains("training data");
    card.lines().filter(is_stable).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_trained_parser_answers_the_questions_it_was_trained_on() {
    let calendar = SmallCalendar::new();
    let trained = succeed(calendar.train("run", &["train.steps=200"]).args(["--threads", "2", "--json"]));
    let evaluation: serde_json::Value = serde_json::from_slice(&trained.stdout).unwrap();
    // The test questions are the training questions.
    assert!(evaluation["accuracy"].as_f64().unwrap() > 0.9, "{evaluation}");

    let run = calendar.argument("run");
    let asked = succeed(&mut command(&["ask", &run, "when does the annual review start?", "--json"]));
    let answer: serde_json::Value = serde_json::from_slice(&asked.stdout).unwrap();
    let chosen = answer["chosen"].as_u64().unwrap() as usize;
    assert_eq!(answer["candidates"][chosen]["outcome"], "value\t(list (time 14 0))");

    let evaluated = succeed(&mut command(&["eval", &run, "--json"]));
    assert_eq!(evaluated.stdout, trained.stdout, "the stored weights evaluate as the trained ones did");
    assert_eq!(calendar.read("run", "predictions.jsonl").lines().count(), 12);
    let card = calendar.read("run", "card.md");
    assert!(
        !card.contains(calendar.path("").to_str().unwrap()),
        "the card must not name local paths: {card}"
    );
    insta::assert_snapshot!("card", without_measured_lines(&card));
    for file in fs::read_dir(calendar.path("run")).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        assert!(!name.starts_with('.'), "the temporary file {name} was not removed");
    }
}

/// Checks that a command fails with a message that contains `expected`.
fn assert_refused(arguments: &[&str], expected: &str) {
    let output = command(arguments).output().unwrap();
    let message = stderr(&output);
    assert!(!output.status.success(), "{arguments:?} succeeded: {message}");
    assert!(message.contains(expected), "{message}\nexpected: {expected}");
    assert!(!message.contains("panicked"), "{message}");
}

#[test]
fn a_parser_starts_from_the_labels_of_all_domains_but_from_none_that_are_held_back() {
    let calendar = SmallCalendar::new();
    let settings = "[data]\ndomains = [\"calendar\"]\nfraction = 0.5\n[model]\nhidden = 32\nheads = 4\n\
                    feed_forward = 32\nword = 16\naction = 16\nplace = 8\n[train]\nsteps = 200\nrate = 0.01\nwarmup = 10\n";
    fs::write(calendar.path("domains.toml"), settings).unwrap();
    let (file, data, base) =
        (calendar.argument("domains.toml"), calendar.argument("data"), calendar.argument("base"));
    let pretrain = ["pretrain", &file, "--data", &data, "--out", &base];
    let pretrained = succeed(&mut command(&pretrain));
    assert!(stderr(&pretrained).contains("6 questions about 1 databases"), "{}", stderr(&pretrained));

    let train = |run: &str, fraction: &str, more: &[&str]| {
        let settings = [&["train.steps=0", fraction], more].concat();
        calendar.train(run, &settings).args(["--from", &base, "--json"]).output().unwrap()
    };
    let trained = train("run", "data.fraction=0.5", &[]);
    assert!(trained.status.success(), "{}", stderr(&trained));
    let evaluation: serde_json::Value = serde_json::from_slice(&trained.stdout).unwrap();
    // The test questions are the training questions, of which the base has seen half.
    assert!(evaluation["accuracy"].as_f64().unwrap() > 0.4, "{evaluation}");
    for (fraction, more) in [
        ("data.fraction=0.4", vec![]),
        ("data.fraction=0.5", vec!["data.split=1"]),
        ("data.fraction=0.5", vec!["data.held_out=2", "data.held_out_from=labeled"]),
    ] {
        let message = stderr(&train("refused", fraction, &more));
        assert!(message.contains("some of which this experiment holds back"), "{message}");
    }
}

#[test]
fn a_run_with_a_damaged_file_is_refused() {
    let calendar = SmallCalendar::new();
    succeed(&mut calendar.train("run", &["train.steps=2"]));
    let (run, path) = (calendar.argument("run"), calendar.path("run"));
    // These checks hold also for runs of earlier versions, which have no manifest.
    fs::remove_file(path.join("manifest.json")).unwrap();
    let model = fs::read(path.join("model.safetensors")).unwrap();
    for (file, content, expected) in [
        ("model.safetensors", &model[..model.len() / 2], "damaged"),
        ("model.safetensors", b"", "damaged"),
        ("vocabulary.json", b"[\"<unknown>\", \"other\"]", "its words are not those the model was made with"),
        ("vocabulary.json", b"{", "it is not what xpr wrote"),
        ("grammar.json", b"{\"language\": \"sql\", \"rules\": [], \"items\": []}", "train again"),
        ("config.toml", b"[train]\nstesp = 3", "did you mean `train.steps`?"),
        ("config.toml", b"[model]\nhidden = 64", "is this the file of another model?"),
        ("config.toml", b"[data]\ndomain = \"nowhere\"", "there is no domain `nowhere`"),
    ] {
        let original = fs::read(path.join(file)).unwrap();
        fs::write(path.join(file), content).unwrap();
        assert_refused(&["ask", &run, "who"], expected);
        fs::write(path.join(file), original).unwrap();
    }
    succeed(&mut command(&["ask", &run, "who"]));
}

#[test]
fn folders_and_settings_that_do_not_fit_are_refused() {
    let calendar = SmallCalendar::new();
    succeed(&mut calendar.train("run", &["train.steps=2"]));
    let (data, run) = (calendar.argument("data"), calendar.argument("run"));
    let new = calendar.argument("new");
    assert_refused(&["ask", &data, "who"], "holds no run");
    assert_refused(&["train", "--data", &data, "--out", &run], "already holds a run");
    assert_refused(&["train", "--resume", "--out", &data], "holds no run");
    let in_file = calendar.argument("run/config.toml/run");
    assert_refused(&["train", "--data", &data, "--out", &in_file], "config.toml/run: Not a directory");
    let train = ["train", "--data", &data, "--out", &new];
    let with = |arguments: &[&'static str]| [&train[..], arguments].concat();
    assert_refused(&with(&["--set", "data.domain=x"]), "data/splits/x_split0.tsv: No such file");
    assert_refused(&with(&["--embeddings", "missing.txt"]), "missing.txt");
    assert_refused(&with(&["--set", "data.held_out=5"]), "lower it, or change data.fraction");
    assert_refused(&with(&["--tune"]), "--tune needs an objective");
    assert_refused(&["train", "--out", &new], "no folder with data");
}

#[test]
fn an_unfinished_run_cannot_be_asked_and_a_foreign_checkpoint_is_not_resumed() {
    let calendar = SmallCalendar::new();
    succeed(&mut calendar.train("run", &["train.steps=2"]));
    let (run, unfinished) = (calendar.path("run"), calendar.path("unfinished"));
    fs::create_dir(&unfinished).unwrap();
    for file in ["config.toml", "grammar.json", "vocabulary.json"] {
        fs::copy(run.join(file), unfinished.join(file)).unwrap();
    }
    let folder = calendar.argument("unfinished");
    assert_refused(&["ask", &folder, "who"], "training was not finished");
    // The file of the weights has no moments of the optimiser.
    fs::copy(run.join("model.safetensors"), unfinished.join("checkpoint.safetensors")).unwrap();
    assert_refused(&["train", "--resume", "--out", &folder], "there is no tensor `adam.updates");
}
