//! The base that is part of the program, through the binary: a database alone is enough to ask questions.
#![allow(clippy::unwrap_used, reason = "these are tests")]

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const PAIRS: &str = "how many singers are there\tSELECT count(*) FROM singer\n\
    what are the names of all singers\tSELECT name FROM singer\n\
    show the name of the oldest singer\tSELECT name FROM singer ORDER BY age DESC LIMIT 1\n\
    what is the average age of the singers\tSELECT avg(age) FROM singer\n\
    which singers are from France\tSELECT name FROM singer WHERE country = 'France'\n\
    how many concerts were there in 2015\tSELECT count(*) FROM concert WHERE year = 2015\n";

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    rusqlite::Connection::open(folder.path().join("stage.db"))
        .unwrap()
        .execute_batch(
            "CREATE TABLE singer (singer_id INTEGER PRIMARY KEY, name TEXT, country TEXT, age INT);
             CREATE TABLE concert (concert_id INTEGER PRIMARY KEY, title TEXT, year INT,
                 singer_id INT REFERENCES singer);
             INSERT INTO singer VALUES (1, 'Joe Sharp', 'Netherlands', 52), (2, 'Rose White', 'France', 41),
                 (3, 'Tribal King', 'France', 25);
             INSERT INTO concert VALUES (1, 'Auditions', 2014, 1), (2, 'Super bootcamp', 2015, 2),
                 (3, 'Home visits', 2015, 3);",
        )
        .unwrap();
    fs::write(folder.path().join("pairs.tsv"), PAIRS).unwrap();
    folder
}

fn xpr(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_xpr"))
        .current_dir(folder)
        .args(arguments)
        .env_remove("XPR_DATA")
        .env_remove("XPR_EMBEDDINGS")
        .output()
        .unwrap()
}

fn printed(output: &Output) -> String {
    assert!(output.status.success(), "{}", errors(output));
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn json(output: &Output) -> Value {
    serde_json::from_str(&printed(output)).unwrap()
}

fn accuracy(evaluation: &Value) -> f64 {
    evaluation["accuracy"].as_f64().unwrap()
}

#[test]
fn a_database_alone_is_asked_evaluated_and_taught() {
    let folder = folder();
    let folder = folder.path();
    let text = printed(&xpr(folder, &["init", "--db", "stage.db"]));
    assert!(text.contains("Wrote stage/xpr.toml.\nWrote stage/run: a parser that has not learned"), "{text}");
    assert!(text.contains("xpr ask stage/run \"how many singers are there\""), "{text}");

    let answer = json(&xpr(folder, &["ask", "stage/run", "how many singers are there", "--json"]));
    assert_eq!(answer["candidates"][0]["program"], "SELECT COUNT(*) FROM singer", "{answer}");
    let test = ["eval", "stage/run", "--test", "pairs.tsv", "--json"];
    let evaluation = json(&xpr(folder, &test));
    assert_eq!(evaluation["examples"], 6);
    assert!(accuracy(&evaluation) > 0.5, "{evaluation}");

    // Labels are added to the project as they come.
    let (question, sql) = ("how many shows", "SELECT count(*) FROM concert");
    let taught = printed(&xpr(folder, &["teach", "stage/run", question, sql]));
    assert!(taught.contains("train.tsv, line 1.\nThe parser answers it as the label does"), "{taught}");
    assert_eq!(fs::read_to_string(folder.join("stage/train.tsv")).unwrap(), format!("{question}\t{sql}\n"));
    let train = ["train", "stage/xpr.toml", "--set", "train.steps=2", "--out", "stage/trained"];
    let trained = xpr(folder, &train);
    assert!(errors(&trained).contains("1 labeled, 0 unlabeled"), "{}", errors(&trained));

    // The first parser is not replaced by accident.
    let again = errors(&xpr(folder, &["init", "--db", "stage.db", "--force"]));
    assert!(again.contains("stage: there is a run in it already; remove it"), "{again}");
}

#[test]
fn a_project_with_labels_starts_from_the_base_unless_told_otherwise() {
    let folder = folder();
    let folder = folder.path();
    let init = ["init", "--db", "stage.db", "--labeled", "pairs.tsv", "--test", "pairs.tsv"];
    printed(&xpr(folder, &init));
    assert!(!folder.join("stage/run").exists(), "the first parser is the one that learns from the labels");
    let config = |run: &str| fs::read_to_string(folder.join(run).join("config.toml")).unwrap();
    let train = |out: &str, more: &[&str]| {
        let command = ["train", "stage/xpr.toml", "--set", "eval.confidence_folds=0", "--json", "--out", out];
        xpr(folder, &[&command, more].concat())
    };
    let from_base = json(&train("stage/run", &["--set", "train.steps=20"]));
    assert!(accuracy(&from_base) > 0.8, "{from_base}");
    let recorded = config("stage/run");
    assert!(
        recorded.contains("[base]\nfolder = \"built-in\"") && recorded.contains("rate = 0.0003"),
        "{recorded}"
    );

    // From nothing, as many steps teach next to nothing. The word vectors are those of the program.
    let small = ["--set", "train.steps=20", "--set", "model.hidden=32", "--set", "model.feed_forward=32"];
    let from_nothing = train("stage/nothing", &[&["--no-base"], &small[..]].concat());
    assert!(!errors(&from_nothing).contains("is ignored"), "{}", errors(&from_nothing));
    assert!(accuracy(&json(&from_nothing)) < accuracy(&from_base));
    let recorded = config("stage/nothing");
    assert!(recorded.contains("[base]\nfolder = \"\"") && recorded.contains("rate = 0.001"), "{recorded}");
    assert!(recorded.contains("embeddings = \"built-in\"") && recorded.contains("hidden = 32"), "{recorded}");
    // It may find nothing, but it is opened.
    let asked = xpr(folder, &["ask", "stage/nothing", "how many singers", "--min-confidence", "0", "--json"]);
    let asked: Value = serde_json::from_slice(&asked.stdout).unwrap();
    assert_eq!(asked["question"], "how many singers", "{asked}");

    // A project can be made that way, and needs labels then.
    printed(&xpr(folder, &[&init[..], &["--no-base", "--out", "plain"]].concat()));
    let settings = fs::read_to_string(folder.join("plain/xpr.toml")).unwrap();
    assert!(!settings.contains("[base]") && settings.contains("embeddings = \"built-in\""), "{settings}");
    let without = errors(&xpr(folder, &["init", "--db", "stage.db", "--no-base", "--out", "none"]));
    assert!(without.contains("--labeled <FILE>"), "{without}");
}

#[test]
fn a_run_resumes_from_the_built_in_base_to_the_same_bits() {
    let folder = folder();
    let folder = folder.path();
    printed(&xpr(folder, &["init", "--db", "stage.db", "--labeled", "pairs.tsv"]));
    let train = |out: &str, threads: &str| {
        let settings =
            ["--set", "train.steps=6", "--set", "train.checkpoint=3", "--set", "eval.confidence_folds=0"];
        let command = ["train", "stage/xpr.toml", "--out", out, "--threads", threads];
        printed(&xpr(folder, &[&command, &settings[..]].concat()));
        fs::read(folder.join(out).join("model.safetensors")).unwrap()
    };
    let one = train("one", "1");
    assert_eq!(train("two", "2"), one, "the number of threads changes the parser");
    for file in ["model.safetensors", "evaluation.json"] {
        fs::remove_file(folder.join("two").join(file)).unwrap();
    }
    let resumed = xpr(folder, &["train", "--resume", "--out", "two"]);
    assert!(errors(&resumed).contains("resuming after step"), "{}", errors(&resumed));
    assert_eq!(fs::read(folder.join("two/model.safetensors")).unwrap(), one);
}

#[test]
fn the_card_names_data_licences_and_checksums() {
    let folder = folder();
    let card = printed(&xpr(folder.path(), &["base"]));
    for part in
        ["Spider", "CC BY-SA 4.0", "Apache-2.0", "## Figures", "databases it was not trained on", "xpr base "]
    {
        assert!(card.contains(part), "{part} is not in {card}");
    }
    let report = json(&xpr(folder.path(), &["base", "--json"]));
    let checksum = report["sha256"]["parser.safetensors"].as_str().unwrap();
    assert!(checksum.len() == 64 && card.contains(checksum), "{report}");
}

/// Small databases and a base that was pretrained on all but one of them.
fn pretrained(folder: &Path) -> PathBuf {
    for (name, thing) in [("dogs", "dog"), ("boats", "boat"), ("trees", "tree")] {
        let here = folder.join("databases").join(name);
        fs::create_dir_all(&here).unwrap();
        rusqlite::Connection::open(here.join(format!("{name}.sqlite")))
            .unwrap()
            .execute_batch(&format!(
                "CREATE TABLE {thing} (name TEXT, age INT); INSERT INTO {thing} VALUES ('rex', 7), ('star', 3);"
            ))
            .unwrap();
        let pairs = format!(
            "how many {thing}s are there\tSELECT count(*) FROM {thing}\n\
             what are the names of all {thing}s\tSELECT name FROM {thing}\n\
             what is the average age of {thing}s\tSELECT avg(age) FROM {thing}\n"
        );
        fs::write(here.join("pairs.tsv"), pairs).unwrap();
    }
    let settings = "[data]\nfolders = [\"databases\"]\nheld_out = 1\n[model]\nhidden = 32\nheads = 4\nfeed_forward = 32\n\
                    dropout = 0.0\nword_dropout = 0.0\n[train]\nsteps = 60\nbatch = 4\nrate = 0.01\nwarmup = 5\nwords = 5\n";
    let vectors: String =
        "how many are there what the names of all is average age dog dogs boat boats tree trees rex star"
            .split(' ')
            .enumerate()
            .map(|(index, word)| format!("{word} {} {} {} 0.5\n", index % 3, index % 5, index % 7))
            .collect();
    fs::write(folder.join("pretrain.toml"), settings).unwrap();
    fs::write(folder.join("vectors.txt"), vectors).unwrap();
    printed(&xpr(folder, &["pretrain", "pretrain.toml", "--embeddings", "vectors.txt", "--out", "base"]));
    folder.join("base")
}

#[test]
fn a_packed_base_answers_as_the_one_it_was_made_of_and_damage_is_noticed() {
    let folder = folder();
    let folder = folder.path();
    pretrained(folder);
    let pack = ["base", "--from", "base", "--embeddings", "vectors.txt", "--out", "packed", "--json"];
    let report = json(&xpr(folder, &pack));
    assert_eq!(report["packed"]["examples"], 3);
    assert_eq!(report["packed"]["accuracy"], report["trained"]["accuracy"]);
    let evaluate = |base: &str| json(&xpr(folder, &["eval", base, "--databases", "databases", "--json"]));
    assert_eq!(accuracy(&evaluate("packed")), accuracy(&evaluate("base")));
    assert!(
        fs::read_to_string(folder.join("packed/card.md")).unwrap().contains("6 questions about 2 databases")
    );
    let bytes = |name: &str| fs::metadata(folder.join(name)).unwrap().len();
    assert!(bytes("packed/parser.safetensors") < bytes("base/model.safetensors") * 6 / 10);

    // The parser of a database starts from it.
    let init = ["init", "--db", "stage.db", "--from", "packed"];
    printed(&xpr(folder, &init));
    let asked = json(&xpr(
        folder,
        &["ask", "stage/run", "how many singers are there", "--min-confidence", "0", "--json"],
    ));
    assert!(!asked["candidates"].as_array().unwrap().is_empty(), "{asked}");

    let path = folder.join("packed/vectors.safetensors");
    let mut damaged = fs::read(&path).unwrap();
    let last = damaged.len() - 1;
    damaged[last] ^= 1;
    fs::write(path, damaged).unwrap();
    let error = errors(&xpr(folder, &["eval", "packed", "--databases", "databases"]));
    assert!(error.contains("packed: vectors.safetensors is damaged or was replaced"), "{error}");
    let unfinished = errors(&xpr(folder, &["base", "--out", "none"]));
    assert!(unfinished.contains("name the settings of pretraining"), "{unfinished}");
}

#[test]
fn a_parser_learns_from_made_up_questions() {
    let folder = folder();
    let folder = folder.path();
    let text = printed(&xpr(folder, &["init", "--db", "stage.db", "--synthetic", "30"]));
    assert!(
        text.contains(
            "Wrote stage/xpr.toml: 30 made-up questions.\nWrote stage/run: a parser that has learned"
        ),
        "{text}"
    );
    let train = fs::read_to_string(folder.join("stage/train.tsv")).unwrap();
    let database = rusqlite::Connection::open(folder.join("stage.db")).unwrap();
    assert_eq!(train.lines().count(), 30);
    for line in train.lines() {
        let (_, sql) = line.split_once('\t').unwrap();
        let mut statement = database.prepare(sql).unwrap();
        assert!(statement.query([]).unwrap().next().unwrap().is_some(), "{line} finds nothing");
    }
    let answer = json(&xpr(folder, &["ask", "stage/run", "how many singers are there", "--json"]));
    assert_eq!(answer["candidates"][0]["program"], "SELECT COUNT(*) FROM singer", "{answer}");

    let again = ["init", "--db", "stage.db", "--synthetic", "30", "--out", "again"];
    printed(&xpr(folder, &again));
    assert_eq!(fs::read_to_string(folder.join("again/train.tsv")).unwrap(), train);
}

#[test]
fn an_experiment_beside_its_data_needs_no_folder() {
    let folder = folder();
    let folder = folder.path();
    let experiment = "[data]\ndataset = \"database\"\ndatabase = \"sqlite:stage.db\"\nlabeled = \"pairs.tsv\"\n\
        [base]\nfolder = \"built-in\"\n[train]\nsteps = 1\n";
    fs::write(folder.join("stage.toml"), experiment).unwrap();
    printed(&xpr(folder, &["train", "stage.toml", "--out", "runs/stage"]));
    // The run is in another folder than the database, and finds it.
    let answer = json(&xpr(folder, &["ask", "runs/stage", "how many singers are there", "--json"]));
    assert!(!answer["candidates"].as_array().unwrap().is_empty(), "{answer}");
}

/// Makes a folder of databases with one database, and returns a command that compares experiments on it.
fn compare_on_stage(folder: &Path, experiments: &[&str], more: &[&str]) -> Value {
    fs::create_dir_all(folder.join("databases/stage")).unwrap();
    fs::copy(folder.join("stage.db"), folder.join("databases/stage/stage.sqlite")).unwrap();
    fs::copy(folder.join("pairs.tsv"), folder.join("databases/stage/pairs.tsv")).unwrap();
    let common = ["--databases", "databases", "--from", "transductive", "--seeds", "1", "--out", "compare"];
    json(&xpr(folder, &[&["compare", "--json"], experiments, &common, more].concat()))
}

#[test]
fn experiments_are_compared_from_the_base_on_databases_of_a_folder() {
    let folder = folder();
    let folder = folder.path();
    let experiment = "[data]\ndataset = \"database\"\nlabel_count = 2\n[learn]\nobjective = \"none\"\n";
    fs::write(folder.join("few.toml"), format!("{experiment}[train]\nsteps = 0\n")).unwrap();
    let experiments = ["few.toml", "few.toml:base.folder=,train.steps=1"];
    let compared = compare_on_stage(folder, &experiments, &["--base", "built-in"]);
    let configs = fs::read_dir(folder.join("compare"))
        .unwrap()
        .filter_map(|entry| fs::read_to_string(entry.unwrap().path().join("config.toml")).ok());
    let from_base = configs.filter(|config| config.contains("folder = \"built-in\"")).count();
    assert_eq!(from_base, 1, "{compared}");
}

#[test]
fn a_comparison_without_labels_is_continued_by_the_same_command() {
    let folder = folder();
    let folder = folder.path();
    let experiment = "[data]\ndataset = \"database\"\nlabel_count = 0\n[base]\nfolder = \"built-in\"\n\
        [train]\nsteps = 4\nwarmup = 1\n[learn]\nobjective = \"sparse\"\nensemble = 1\nsteps = 4\n";
    fs::write(folder.join("log.toml"), experiment).unwrap();
    let experiments = ["log.toml:learn.objective=none", "log.toml"];
    let first = compare_on_stage(folder, &experiments, &[]);
    assert_eq!(compare_on_stage(folder, &experiments, &[]), first);
}
