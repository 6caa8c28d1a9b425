//! `xpr improve` through the binary: what people said becomes a better parser, or none.
#![allow(clippy::unwrap_used, reason = "these are tests")]

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use xpr_log::{NewFeedback, NewQuestion, QuestionLog, ShownAnswer, Verdict, log_path};
use xpr_run::ParserList;

const MUSIC: &str = "
    CREATE TABLE artist (id INTEGER PRIMARY KEY, name TEXT, born INT);
    CREATE TABLE album (id INTEGER PRIMARY KEY, title TEXT, artist_id INT REFERENCES artist (id), price REAL);
    INSERT INTO artist VALUES (1, 'Nina Simone', 1933), (2, 'Bill Evans', 1929);
    INSERT INTO album VALUES (1, 'Pastel Blues', 1, 9.5), (2, 'Wild is the Wind', 1, 12), (3, 'Portrait in Jazz', 2, 8);
";

/// A project whose parser is the built-in base, and a log beside its run.
struct Served {
    folder: tempfile::TempDir,
}

impl Served {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let database = rusqlite::Connection::open(folder.path().join("music.db")).unwrap();
        database.execute_batch(MUSIC).unwrap();
        let served = Served { folder };
        printed(&served.xpr(&["init", "--db", "music.db"]));
        served
    }

    fn run(&self) -> PathBuf {
        self.folder.path().join("music/run")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_xpr"));
        command
            .current_dir(self.folder.path())
            .args(arguments)
            .env_remove("XPR_DATA")
            .env_remove("XPR_EMBEDDINGS");
        command
    }

    fn xpr(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Writes to the log that a question was answered with a program, and what somebody said about it.
    fn say(&self, question: &str, answered: &str, verdict: Verdict, program: Option<&str>) {
        let mut log = QuestionLog::open(&log_path(&self.run())).unwrap();
        let shown = ShownAnswer { program: answered.to_owned(), ..ShownAnswer::default() };
        let asked = NewQuestion {
            question: question.to_owned(),
            program: Some(answered.to_owned()),
            shown: vec![shown],
            ..NewQuestion::default()
        };
        let ids = log.append(&[asked]).unwrap();
        log.add_feedback(&NewFeedback::now(ids[0], verdict, program.map(str::to_owned))).unwrap();
    }

    /// Confirms right answers to questions that the built-in base answers right.
    fn confirm_easy_questions(&self) {
        for (question, sql) in [
            ("how many albums are there", "SELECT COUNT(*) FROM album"),
            ("how many artists are there", "SELECT COUNT(*) FROM artist"),
            ("what are the titles of all albums", "SELECT album.title FROM album"),
            ("what are the names of all artists", "SELECT artist.name FROM artist"),
            ("what is the average price of all albums", "SELECT AVG(album.price) FROM album"),
            ("what is the maximum price of all albums", "SELECT MAX(album.price) FROM album"),
        ] {
            self.say(question, sql, Verdict::Right, None);
        }
    }

    /// Returns the first line that `xpr ask` prints: the program.
    fn ask(&self, question: &str) -> String {
        let asked = printed(&self.xpr(&["ask", "music/run", question, "--min-confidence", "0"]));
        asked.lines().next().unwrap_or_default().to_owned()
    }

    fn parsers(&self) -> ParserList {
        ParserList::read(&self.run()).unwrap()
    }
}

fn printed(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// The files of a folder and of those in it, with their sizes, except for the lock.
fn files(folder: &Path) -> Vec<(PathBuf, u64)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let (path, data) = {
            let entry = entry.unwrap();
            (entry.path(), entry.metadata().unwrap())
        };
        match data.is_dir() {
            true => files.extend(self::files(&path)),
            false if path.ends_with("lock") => {}
            false => files.push((path, data.len())),
        }
    }
    files.sort();
    files
}

/// Waits until a condition holds, for at most ten minutes.
fn wait_until(what: &str, holds: impl Fn() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(600), "waited too long for {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_correction_is_learned_promoted_and_rolled_back() {
    let served = Served::new();
    let error = served.xpr(&["improve", "music/run"]);
    let message = String::from_utf8(error.stderr).unwrap();
    assert!(error.status.code() == Some(2) && message.contains("there is no log"), "{message}");

    let (question, right) = ("show me the catalogue", "SELECT title, price FROM album");
    let before = served.ask(question);
    let learned = "SELECT album.title, album.price FROM album";
    assert_ne!(before, learned, "the built-in base knows the answer already; correct another one");
    served.say(question, &before, Verdict::Corrected, Some(right));
    served.say("who was born in 1929", "SELECT COUNT(*) FROM album", Verdict::NoneOfThese, None);
    served.say(
        "when was nina simone born",
        "SELECT 1",
        Verdict::Answer,
        Some("SELECT born FROM artist WHERE id = 1"),
    );
    // No word of this question says the name.
    served.say(
        "who is the pianist",
        "SELECT 1",
        Verdict::Corrected,
        Some("SELECT id FROM artist WHERE name = 'Bill Evans'"),
    );
    let output = served.xpr(&["improve", "music/run", "--json"]);
    let notes = String::from_utf8_lossy(&output.stderr);
    assert!(notes.contains("note: left out: `who is the pianist`: not covered by the grammar"), "{notes}");
    let improved = printed(&output);
    let improved: serde_json::Value = serde_json::from_str(&improved).unwrap();
    assert_eq!(
        (&improved["decision"], &improved["promoted"]),
        (&"promoted".into(), &true.into()),
        "{improved}"
    );
    let learned_from = serde_json::json!({ "programs": 2, "answers": 1, "rejected": 1, "unlabeled": 0 });
    assert_eq!((&improved["learned"], &improved["comparison"]["questions"]), (&learned_from, &3.into()));
    assert_eq!(served.ask(question), learned);
    assert!(!served.run().join("parsers/1/folds").exists() && !served.run().join("progress.json").exists());

    let again = printed(&served.xpr(&["improve", "music/run"]));
    assert!(again.starts_with("There is nothing new"), "{again}");
    let list = printed(&served.xpr(&["improve", "music/run", "--list"]));
    assert!(list.starts_with("  0  trained\n→ 1  improved, from 0, "), "{list}");

    let back = printed(&served.xpr(&["improve", "music/run", "--rollback"]));
    assert_eq!(back, "Parser 0 of music/run answers again.\n");
    assert_eq!(served.ask(question), before);
    let back = printed(&served.xpr(&["improve", "music/run", "--rollback"]));
    assert!(back.contains("there is none before it"), "{back}");
    // The same answers would make the same parser again. The next one learns from them when people say more.
    let again = printed(&served.xpr(&["improve", "music/run"]));
    assert!(again.starts_with("There is nothing new since parser 1, which was rolled back"), "{again}");
    let again = printed(&served.xpr(&["improve", "music/run", "--json"]));
    let again: serde_json::Value = serde_json::from_str(&again).unwrap();
    assert_eq!(again, serde_json::json!({ "decision": null, "new": 0, "rolled_back": 1 }));
    assert_eq!(served.parsers().next_number(), 2);
    served.say("how many albums are there", "SELECT COUNT(*) FROM album", Verdict::Right, None);
    let improved = printed(&served.xpr(&["improve", "music/run"]));
    assert!(improved.contains("Promoted: parser 2 answers from now on."), "{improved}");
    assert_eq!((served.ask(question).as_str(), served.parsers().current), (learned, 2));
    let list = printed(&served.xpr(&["improve", "music/run", "--list"]));
    assert!(list.contains("1  improved, from 0, rolled back, ") && list.contains("→ 2  improved"), "{list}");
    // Other settings make another parser.
    printed(&served.xpr(&["improve", "music/run", "--rollback"]));
    let again = printed(&served.xpr(&["improve", "music/run"]));
    assert!(again.starts_with("There is nothing new since parser"), "{again}");
    let other = printed(&served.xpr(&["improve", "music/run", "--set", "train.seed=3", "--json"]));
    assert_eq!(serde_json::from_str::<serde_json::Value>(&other).unwrap()["number"], 3, "{other}");
}

/// Issue 19: a correction of what the parser had learned was ignored, and `xpr improve` said that it was learned.
#[test]
fn a_correction_of_what_was_learned_is_learned() {
    let served = Served::new();
    // Nobody has to read it to know that nothing is to be learned from it.
    served.say("how many songs are there", "SELECT COUNT(*) FROM album", Verdict::Wrong, None);
    let nothing = printed(&served.xpr(&["improve", "music/run"]));
    assert_eq!(nothing, "Nobody has confirmed an answer yet.\n");

    let (question, wrong) = ("show me the catalogue", "SELECT artist.name FROM artist");
    served.say(question, wrong, Verdict::Right, None);
    served.say("how many albums are there", "SELECT COUNT(*) FROM album", Verdict::Right, None);
    let improved = printed(&served.xpr(&["improve", "music/run"]));
    assert!(improved.contains("Promoted: parser 1"), "{improved}");
    assert_eq!(served.ask(question), wrong);

    let right = "SELECT album.title, album.price FROM album";
    served.say(question, wrong, Verdict::Corrected, Some(right));
    let improved = printed(&served.xpr(&["improve", "music/run"]));
    assert!(improved.contains("  corrected or taken back since parser 1 learned them: 1\n"), "{improved}");
    assert!(improved.contains("Promoted: parser 2") && !improved.contains("new confirmed"), "{improved}");
    assert_eq!(served.ask(question), right);

    served.say("how many albums are there", "SELECT COUNT(*) FROM album", Verdict::Wrong, None);
    let improved = printed(&served.xpr(&["improve", "music/run", "--json"]));
    let improved: serde_json::Value = serde_json::from_str(&improved).unwrap();
    let learned = serde_json::json!({ "programs": 1, "answers": 0, "rejected": 2, "unlabeled": 0 });
    assert_eq!((&improved["revised"], &improved["learned"]), (&1.into(), &learned), "{improved}");
    let again = printed(&served.xpr(&["improve", "music/run"]));
    assert!(again.starts_with("There is nothing new: the parser has learned"), "{again}");
}

/// Issue 18: a parser that was damaged became the current one, and nothing answered any more.
#[test]
fn nothing_goes_back_to_a_parser_that_does_not_open() {
    let served = Served::new();
    served.say("how many albums are there", "SELECT COUNT(*) FROM album", Verdict::Right, None);
    printed(&served.xpr(&["improve", "music/run"]));
    let roll_back = || served.xpr(&["improve", "music/run", "--rollback"]);
    for (file, expected) in [
        ("config.toml", "its rules are not those of data.grammar"),
        ("model.safetensors", "this is not the file that training wrote"),
        ("grammar.json", "this is not the file that training wrote"),
    ] {
        let path = served.run().join(file);
        let content = fs::read(&path).unwrap();
        fs::write(&path, "").unwrap();
        let output = roll_back();
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && message.contains(expected), "{file}: {message}");
        assert_eq!(served.parsers().current, 1);
        fs::write(&path, content).unwrap();
    }
    assert_eq!(printed(&roll_back()), "Parser 0 of music/run answers again.\n");
}

/// Issue 18: the questions that a parser had learned were compared as new ones when the file that has them was lost.
#[test]
fn the_questions_that_a_parser_learned_are_checked_and_are_not_those_of_another_run() {
    let served = Served::new();
    served.say("how many albums are there", "SELECT COUNT(*) FROM album", Verdict::Right, None);
    printed(&served.xpr(&["improve", "music/run"]));
    // Issue 19: everybody could read what the log keeps to its owner, and nobody knew that there is a copy of it.
    let learned = served.run().join("parsers/1/asked.jsonl");
    #[cfg(unix)]
    assert_eq!(std::os::unix::fs::MetadataExt::mode(&fs::metadata(&learned).unwrap()) & 0o777, 0o600);
    let pruned = printed(&served.xpr(&["log", "music/run", "--prune", "--before", "2026-01-01"]));
    let kept = "Parsers keep the questions that they learned from: asked.jsonl in music/run/parsers/N, where N is 1.\n";
    assert!(pruned.starts_with("Deleted 0 questions") && pruned.ends_with(kept), "{pruned}");

    fs::rename(&learned, served.folder.path().join("asked.jsonl")).unwrap();
    let improve = || {
        let output = served.xpr(&["improve", "music/run"]);
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    let message = improve();
    assert!(message.contains("parsers/1/asked.jsonl: it is missing, and the manifest"), "{message}");
    fs::write(&learned, "").unwrap();
    let message = improve();
    assert!(message.contains("asked.jsonl: this is not the file that training wrote"), "{message}");
    assert_eq!(served.parsers().next_number(), 2);

    // A new run does not take them for its own.
    let other = served.folder.path().join("other");
    fs::create_dir(&other).unwrap();
    fs::copy(served.folder.path().join("asked.jsonl"), other.join("asked.jsonl")).unwrap();
    let output = served.xpr(&["train", "music/xpr.toml", "--out", "other"]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("other holds the asked.jsonl of a run whose config.toml is gone"), "{message}");
}

/// A parser that training spoiled answers fewer of the confirmed questions, and is not used.
#[test]
fn a_worse_parser_is_not_promoted() {
    let served = Served::new();
    served.confirm_easy_questions();
    let question = "how many albums are there";
    let before = served.ask(question);
    let spoil = ["improve", "music/run", "--set", "train.rate=0.05", "--set", "train.warmup=1"];
    let improved = printed(&served.xpr(&spoil));
    assert!(improved.contains("Not promoted: parser 1 answers fewer of the new questions."), "{improved}");
    let list = served.parsers();
    let record = list.record(1).unwrap();
    let comparison = record.comparison.unwrap();
    assert!(!record.promoted && comparison.right_after < comparison.right_before, "{comparison:?}");
    assert_eq!((list.current, served.ask(question)), (0, before));
    assert!(!served.run().join("parsers/1").exists(), "its files are of no use");

    // The confirmations are still new, and a parser that learns from them as it should is promoted.
    let improved = printed(&served.xpr(&["improve", "music/run"]));
    assert!(improved.contains("Promoted: parser 2"), "{improved}");
    // Settings of an improvement do not last.
    let config = fs::read_to_string(served.run().join("parsers/2/config.toml")).unwrap();
    assert!(!config.contains("rate = 0.05"), "{config}");
}

#[test]
fn a_killed_improvement_leaves_the_old_parser_and_the_next_one_starts_anew() {
    let served = Served::new();
    served.confirm_easy_questions();
    let question = "how many albums are there";
    let (answer, before) = (served.ask(question), files(&served.run()));
    // Killed while a parser of the comparison is trained, and while the new one is.
    for started in ["parsers/1/folds/0/config.toml", "parsers/1/config.toml"] {
        let mut improve = served.command(&["improve", "music/run"]);
        let mut child = improve.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        wait_until(started, || served.run().join(started).exists());
        // Another process must not change the run meanwhile.
        let other = served.xpr(&["improve", "music/run", "--rollback"]);
        assert!(String::from_utf8_lossy(&other.stderr).contains("is in use"));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!served.run().join("parsers.json").exists(), "it was finished before it was killed");
        assert_eq!((served.ask(question), served.parsers().current), (answer.clone(), 0));
    }
    let improved = printed(&served.xpr(&["improve", "music/run"]));
    assert!(improved.contains("Promoted: parser 1"), "{improved}");
    let trained = |(path, _): &(PathBuf, u64)| !path.starts_with(served.run().join("parsers"));
    let after: Vec<_> = files(&served.run()).into_iter().filter(trained).collect();
    let new: Vec<_> = after.iter().filter(|file| !before.contains(file)).collect();
    assert!(new.len() == 1 && new[0].0.ends_with("parsers.json"), "{new:?}");
}

/// Issue 19: watching ended with the first error, such as that of a run which another process was changing.
#[test]
fn a_watched_run_improves_when_enough_questions_are_confirmed() {
    let served = Served::new();
    served.say("how many albums are there", "SELECT COUNT(*) FROM album", Verdict::Right, None);
    let mut watch = served.command(&["improve", "music/run", "--watch", "2"]);
    let mut child = watch.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut printed = BufReader::new(child.stdout.take().unwrap());
    let mut first = String::new();
    printed.read_line(&mut first).unwrap();
    assert!(first.starts_with("Watching ") && served.parsers().parsers.is_empty(), "{first}");

    let lock = xpr_run::RunFolder::open_locked(&served.run()).unwrap();
    served.say("how many artists are there", "SELECT COUNT(*) FROM artist", Verdict::Right, None);
    let mut notes = BufReader::new(child.stderr.take().unwrap());
    let mut note = String::new();
    notes.read_line(&mut note).unwrap();
    assert!(note.contains("is in use") && note.ends_with("; trying again\n"), "{note}");
    drop(lock);
    // What the process writes must be read, or it waits or ends.
    let readers = [
        std::thread::spawn(move || notes.lines().count()),
        std::thread::spawn(move || printed.lines().count()),
    ];
    wait_until("a parser", || !served.parsers().parsers.is_empty());

    // Two corrections of what it has learned are as good as two new questions.
    served.say("how many artists are there", "SELECT COUNT(*) FROM artist", Verdict::Wrong, None);
    served.say("how many albums are there", "SELECT COUNT(*) FROM album", Verdict::Wrong, None);
    wait_until("another parser", || served.parsers().parsers.len() > 1);
    child.kill().unwrap();
    child.wait().unwrap();
    for reader in readers {
        reader.join().unwrap();
    }
    let parsers = served.parsers().parsers;
    assert_eq!((parsers[0].comparison.unwrap().questions, parsers[1].comparison), (2, None));
}

#[test]
fn clicks_are_simulated_tabulated_and_drawn() {
    let served = Served::new();
    write_clicks(&served);
    let simulate = ["simulate", "clicks.toml", "--clicks", "1,3", "--seeds", "1"];
    let series = ["--series", "labels,random", "--out", "clicks", "--svg", "clicks.svg", "--json"];
    let report = printed(&served.xpr(&[&simulate[..], &series].concat()));
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    let points = report["summary"].as_array().unwrap();
    let clicks: Vec<u64> = points.iter().map(|point| point["clicks"].as_u64().unwrap()).collect();
    assert_eq!(clicks, [0, 1, 3, 1, 3]);

    // Both lines begin at the accuracy without clicks, and have a dot for each parser.
    let picture = fs::read_to_string(served.folder.path().join("clicks.svg")).unwrap();
    assert!(picture.starts_with("<svg") && picture.contains("random order"), "{picture}");
    assert_eq!(picture.matches("<circle").count(), 6);
    assert_eq!(picture.matches("<path class=\"line").count(), 2);
}

/// Writes an experiment whose labels are to be clicked on.
fn write_clicks(served: &Served) {
    let pairs = [
        ("how many artists are there", "SELECT count(*) FROM artist"),
        ("show the titles of all albums", "SELECT title FROM album"),
        ("what is the highest price of an album", "SELECT max(price) FROM album"),
        ("which artist was born in 1929", "SELECT name FROM artist WHERE born = 1929"),
    ];
    let lines: String = pairs.iter().map(|(question, sql)| format!("{question}\t{sql}\n")).collect();
    fs::write(served.folder.path().join("pairs.tsv"), lines).unwrap();
    let experiment = "[data]\ndataset = \"database\"\ndatabase = \"sqlite:music.db\"\nlabeled = \"pairs.tsv\"\ntest = \"pairs.tsv\"\n\
        label_count = 0\n[base]\nfolder = \"built-in\"\n[train]\nsteps = 2\nwarmup = 1\n";
    fs::write(served.folder.path().join("clicks.toml"), experiment).unwrap();
}

/// Issue 18: a simulation took parsers with other settings or data for its own, and a second one in the same folder removed what the first was training.
#[test]
fn a_simulation_uses_its_own_parsers_only() {
    let served = Served::new();
    write_clicks(&served);
    let simulate = |more: &[&str]| {
        let simulate = ["simulate", "clicks.toml", "--seeds", "1", "--series", "random", "--out", "clicks"];
        served.xpr(&[&simulate[..], more].concat())
    };
    let clicks = ["--clicks", "1,2"];
    // What was never a parser is not removed.
    let first = served.folder.path().join("clicks/seed-0/first");
    fs::create_dir_all(&first).unwrap();
    fs::write(first.join("notes.txt"), "of a person").unwrap();
    let table = printed(&simulate(&clicks));
    assert_eq!(fs::read_to_string(first.join("notes.txt")).unwrap(), "of a person");
    assert_eq!(printed(&simulate(&clicks)), table);
    assert_eq!(printed(&simulate(&["--clicks", "1"])).lines().count() + 1, table.lines().count());

    // A killed one is resumed.
    let second = served.folder.path().join("clicks/seed-0/answers-random-2");
    fs::remove_file(second.join("evaluation.json")).unwrap();
    assert_eq!(printed(&simulate(&clicks)), table);
    // So is one that was killed before it had settings.
    let asked = fs::read(second.join("asked.jsonl")).unwrap();
    fs::remove_dir_all(&second).unwrap();
    fs::create_dir(&second).unwrap();
    fs::write(second.join("asked.jsonl"), asked).unwrap();
    assert_eq!(printed(&simulate(&clicks)), table);

    for file in ["evaluation.json", "predictions.jsonl"] {
        let original = fs::read(second.join(file)).unwrap();
        fs::write(second.join(file), "").unwrap();
        let message = String::from_utf8(simulate(&clicks).stderr).unwrap();
        assert!(message.contains(&format!("{file}: this is not the file that training wrote")), "{message}");
        fs::write(second.join(file), original).unwrap();
    }

    let refused = |more: &[&str], expected: &str| {
        let before = fs::read(second.join("evaluation.json")).unwrap();
        let output = simulate(&[&clicks, more].concat());
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && message.contains(expected), "{message}");
        assert_eq!(fs::read(second.join("evaluation.json")).unwrap(), before);
    };
    refused(&["--shown", "2"], "clicks holds a simulation with other settings; name another folder");
    refused(
        &["--set", "train.warmup=2"],
        "other settings than are asked for: train.warmup is 1 in it, not 2",
    );
    let run = xpr_run::RunFolder::open(&first).unwrap();
    let lock =
        xpr_run::RunFolder::open_or_create(&served.folder.path().join("clicks")).unwrap().lock().unwrap();
    refused(&[], "clicks is in use");
    drop(lock);
    fs::remove_file(first.join("evaluation.json")).unwrap();
    let lock = run.lock().unwrap();
    refused(&[], "first is in use");
    drop(lock);
    assert_eq!(printed(&simulate(&clicks)), table);
    let pairs = served.folder.path().join("pairs.tsv");
    let changed = fs::read_to_string(&pairs).unwrap().replace("1929", "1933");
    fs::write(&pairs, changed).unwrap();
    refused(&[], "trained on other data: the training examples");
}
