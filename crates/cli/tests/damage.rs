//! Runs whose files are damaged, mixed up or replaced, whose data change, and trainings that diverge (issue 18).
#![allow(clippy::unwrap_used, clippy::panic, reason = "these are tests")]

mod small_calendar;

use small_calendar::{SmallCalendar, command, stderr, succeed};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// Checks that a command fails with a message that contains `expected`.
fn assert_refused(command: &mut Command, expected: &str) {
    let output = command.output().unwrap();
    let message = stderr(&output);
    assert!(!output.status.success(), "{command:?} succeeded: {message}");
    assert!(message.contains(expected), "{message}\nexpected: {expected}");
    assert!(!message.contains("panicked"), "{message}");
}

/// Returns the weights with the bit of a number flipped, or with a number replaced.
fn with_number(model: &[u8], change: impl Fn(u32) -> u32) -> Vec<u8> {
    let mut changed = model.to_vec();
    let at = changed.len() - 4;
    let number = u32::from_le_bytes(changed[at..].try_into().unwrap());
    changed[at..].copy_from_slice(&change(number).to_le_bytes());
    changed
}

#[test]
fn weights_words_and_channels_that_training_did_not_write_are_refused() {
    let calendar = SmallCalendar::new();
    succeed(&mut calendar.train("run", &["train.steps=2"]));
    succeed(&mut calendar.train("other", &["train.steps=2", "train.seed=7"]));
    let (run, path) = (calendar.argument("run"), calendar.path("run"));
    let ask = || command(&["ask", &run, "when does the annual review start"]);
    let model = fs::read(path.join("model.safetensors")).unwrap();
    let words = calendar.read("run", "vocabulary.json");
    let not_written = "this is not the file that training wrote";
    for (file, content, expected) in [
        ("model.safetensors", Some(with_number(&model, |bits| bits ^ (1 << 30))), not_written),
        ("model.safetensors", Some(with_number(&model, |_| f32::NAN.to_bits())), not_written),
        ("model.safetensors", Some(fs::read(calendar.path("other/model.safetensors")).unwrap()), not_written),
        (
            "vocabulary.json",
            Some(
                words
                    .replace("alice", "a_word")
                    .replace("bob", "alice")
                    .replace("a_word", "bob")
                    .into_bytes(),
            ),
            not_written,
        ),
        ("channel.json", Some(fs::read(calendar.path("other/grammar.json")).unwrap()), not_written),
        ("channel.json", None, "it is missing, and the manifest of the run lists it"),
        ("manifest.json", Some(b"{\"format\": 99, \"files\": {}}".to_vec()), "have the format 99"),
    ] {
        let original = fs::read(path.join(file)).unwrap();
        match content {
            Some(content) => fs::write(path.join(file), content).unwrap(),
            None => fs::remove_file(path.join(file)).unwrap(),
        }
        assert_refused(&mut ask(), expected);
        fs::write(path.join(file), original).unwrap();
    }
    assert!(!stderr(&succeed(&mut ask())).contains("note"));

    // Earlier versions wrote no manifest. Their runs are read, with a note, as long as their weights are numbers.
    fs::remove_file(path.join("manifest.json")).unwrap();
    assert!(stderr(&succeed(&mut ask())).contains("has no manifest.json"));
    fs::write(path.join("model.safetensors"), with_number(&model, |_| f32::NAN.to_bits())).unwrap();
    assert_refused(&mut ask(), "has a number that is not finite");
}

#[test]
fn results_that_evaluation_did_not_write_are_not_reported() {
    let calendar = SmallCalendar::new();
    succeed(&mut calendar.train("run", &["train.steps=2"]));
    let (run, path) = (calendar.argument("run"), calendar.path("run"));
    let report = || {
        let output = command(&["report", &run]).output().unwrap();
        format!("{}{}", String::from_utf8_lossy(&output.stdout), stderr(&output))
    };
    let (evaluation, predictions) =
        (calendar.read("run", "evaluation.json"), calendar.read("run", "predictions.jsonl"));
    let accuracy = evaluation.lines().find(|line| line.contains("\"accuracy\"")).unwrap();
    let absurd = evaluation.replace(accuracy, "  \"accuracy\": 7.5,");
    let quarter: String = predictions.lines().take(3).map(|line| format!("{line}\n")).collect();
    for has_manifest in [true, false] {
        if !has_manifest {
            fs::remove_file(path.join("manifest.json")).unwrap();
        }
        for (file, original, damaged, expected) in [
            ("evaluation.json", &evaluation, &absurd, "it has a share that is not from 0 to 1"),
            ("predictions.jsonl", &predictions, &quarter, "it has 3 predictions for 12 questions"),
        ] {
            fs::write(path.join(file), damaged).unwrap();
            let text = report();
            let expected = if has_manifest { "this is not the file that training wrote" } else { expected };
            assert!(text.contains(expected) && !text.contains("750"), "{text}");
            fs::write(path.join(file), original).unwrap();
        }
        assert!(!report().contains("not the file"));
    }
}

/// Issue 18: a run was shown with settings that it was not trained with.
#[test]
fn a_report_notes_settings_that_were_edited() {
    let calendar = SmallCalendar::new();
    succeed(&mut calendar.train("run", &["train.steps=2"]));
    let report =
        || String::from_utf8(succeed(&mut command(&["report", &calendar.argument("run")])).stdout).unwrap();
    let edited = "run: config.toml: it was changed after training";
    assert!(!report().contains(edited));
    let settings = calendar.read("run", "config.toml");
    let changed = settings.replace("steps = 2", "steps = 900");
    assert_ne!(settings, changed);
    fs::write(calendar.path("run/config.toml"), changed).unwrap();
    assert!(report().contains(edited), "{}", report());
}

#[test]
fn data_that_changed_since_training_are_noticed() {
    let calendar = SmallCalendar::new();
    let objective =
        ["train.steps=2", "learn.steps=2", "learn.objective=top-k", "learn.ensemble=1", "data.fraction=0.5"];
    let members = calendar.argument("members");
    let train = |run: &str| {
        let mut train = calendar.train(run, &objective);
        train.args(["--members", &members]);
        train
    };
    succeed(&mut train("run"));
    let experiment = calendar.path("a.toml");
    fs::write(
        &experiment,
        "[model]\nhidden = 32\nheads = 4\nfeed_forward = 32\nword = 16\naction = 16\nplace = 8\n[train]\nsteps = 2\n",
    )
    .unwrap();
    fs::write(calendar.path("sweep.toml"), "[[part]]\nexperiment = \"a.toml\"\n").unwrap();
    let sweep = || {
        let (file, out, data) =
            (calendar.argument("sweep.toml"), calendar.argument("sweep"), calendar.argument("data"));
        command(&["sweep", &file, "--out", &out, "--data", &data])
    };
    succeed(&mut sweep());
    let resume = || {
        let mut resume = command(&["train", "--resume", "--data", &calendar.argument("data")]);
        resume.args(["--out", &calendar.argument("run"), "--members", &members]);
        resume
    };
    succeed(&mut resume());

    // A label is corrected.
    calendar.correct_a_label();
    let changed = "trained on other data: the training examples";
    assert_refused(&mut resume(), changed);
    assert_refused(&mut train("second"), changed);
    assert_refused(&mut sweep(), changed);

    // Earlier versions recorded no data and had no manifest. Their runs are used, with a note.
    let members = fs::read_dir(&members).unwrap().map(|member| member.unwrap().path());
    for folder in members.chain([calendar.path("run")]) {
        for file in ["data.json", "manifest.json"] {
            fs::remove_file(folder.join(file)).unwrap();
        }
    }
    assert!(stderr(&succeed(&mut resume())).contains("has no data.json"));
}

/// Moves every word of a vocabulary to the row of another one.
fn rotate_words(run: &Path) {
    let file = run.join("vocabulary.json");
    let mut words: Vec<String> = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    words[1..].rotate_left(1);
    fs::write(file, serde_json::to_vec(&words).unwrap()).unwrap();
}

/// Issue 18: `xpr eval` and `xpr train --resume` wrote a new manifest, which listed whatever lay in the folder, and damage was not noticed any
/// more.
#[test]
fn damage_is_still_noticed_after_a_run_was_evaluated_or_resumed() {
    let calendar = SmallCalendar::new();
    succeed(&mut calendar.train("run", &["train.steps=2"]));
    succeed(&mut calendar.train("other", &["train.steps=2", "train.seed=7"]));
    let (run, path) = (calendar.argument("run"), calendar.path("run"));
    let ask = || command(&["ask", &run, "when does the annual review start"]);
    let eval = || command(&["eval", &run]);
    let resume = || command(&["train", "--resume", "--out", &run]);
    let not_written = "this is not the file that training wrote";
    let restored = |file: &str, test: &dyn Fn()| {
        let original = fs::read(path.join(file)).unwrap();
        test();
        fs::write(path.join(file), original).unwrap();
        succeed(&mut eval());
        succeed(&mut resume());
    };
    restored("vocabulary.json", &|| {
        rotate_words(&path);
        for mut command in [ask(), eval(), resume(), ask()] {
            assert_refused(&mut command, not_written);
        }
    });
    // These are not read to evaluate.
    for file in ["checkpoint.safetensors", "metrics.jsonl", "data.json"] {
        restored(file, &|| {
            fs::copy(calendar.path("other").join(file), path.join(file)).unwrap();
            if file == "data.json" {
                fs::write(path.join(file), calendar.read("run", file).replace('0', "1")).unwrap();
            }
            assert_refused(&mut resume(), not_written);
            succeed(&mut eval());
            assert_refused(&mut resume(), not_written);
            fs::remove_file(path.join(file)).unwrap();
            assert_refused(&mut resume(), "it is missing, and the manifest of the run lists it");
        });
    }
    restored("config.toml", &|| {
        let settings = calendar.read("run", "config.toml");
        fs::write(path.join("config.toml"), format!("{settings}# edited\n")).unwrap();
        succeed(&mut eval());
        assert!(stderr(&succeed(&mut ask())).contains("was changed after training"));
    });

    // A run that is not finished has no manifest yet.
    for file in ["manifest.json", "evaluation.json"] {
        fs::remove_file(path.join(file)).unwrap();
    }
    let words = fs::read(path.join("vocabulary.json")).unwrap();
    rotate_words(&path);
    assert_refused(
        &mut resume(),
        "vocabulary.json: this is not what the training in this folder wrote; restore it",
    );
    fs::write(path.join("vocabulary.json"), words).unwrap();
    succeed(&mut resume());

    // Without its checkpoint, a finished run is not trained anew.
    let model = fs::read(path.join("model.safetensors")).unwrap();
    for file in ["checkpoint.safetensors", "manifest.json"] {
        fs::remove_file(path.join(file)).unwrap();
    }
    assert_refused(&mut resume(), "there is no checkpoint to go on from, and the run is finished");
    assert!(fs::read(path.join("model.safetensors")).unwrap() == model);
}

/// Issue 18: a run took over a damaged vocabulary from a parser that runs share, and listed it in its manifest.
#[test]
fn a_damaged_member_is_not_shared() {
    let calendar = SmallCalendar::new();
    let train = |run: &str| {
        let mut train = calendar.train(run, &["train.steps=2"]);
        train.args(["--members", &calendar.argument("members")]);
        train
    };
    succeed(&mut train("run"));
    let member = fs::read_dir(calendar.path("members")).unwrap().next().unwrap().unwrap().path();
    rotate_words(&member);
    assert_refused(&mut train("second"), "vocabulary.json: this is not the file that training wrote");
    assert!(!calendar.path("second/manifest.json").exists());
    fs::remove_file(member.join("vocabulary.json")).unwrap();
    assert_refused(
        &mut train("third"),
        "vocabulary.json: it is missing, and the manifest of the run lists it",
    );
}

/// Issue 18: two evaluations at a time left the predictions of one and the figures of the other, and one with another beam replaced the result of
/// the run.
#[test]
fn of_evaluations_at_the_same_time_one_is_recorded_and_none_with_other_settings() {
    let calendar = SmallCalendar::new();
    succeed(&mut calendar.train("run", &["train.steps=2"]));
    let run = calendar.argument("run");
    let files =
        || ["evaluation.json", "predictions.jsonl", "manifest.json"].map(|file| calendar.read("run", file));
    let before = files();
    succeed(&mut command(&["eval", &run, "--beam", "1"]));
    assert_eq!(files(), before);

    let leftover = calendar.path("run/.evaluation.json.a1B2c3");
    fs::write(&leftover, "half").unwrap();
    let lock = xpr_run::RunFolder::open(&calendar.path("run")).unwrap().lock().unwrap();
    fs::write(&leftover, "half").unwrap();
    let beside = succeed(&mut command(&["eval", &run]));
    let notes = String::from_utf8_lossy(&beside.stderr).into_owned();
    assert!(notes.contains("run is in use by another process"), "{notes}");
    assert!(notes.contains("this evaluation is not recorded in the run") && leftover.exists(), "{notes}");
    succeed(&mut command(&["eval", &run, "--beam", "1"]));
    drop(lock);
    succeed(&mut command(&["eval", &run]));
    assert!(!leftover.exists());
    assert_eq!(files(), before);
}

/// Issue 18: a sweep printed an accuracy of 750 %, and nothing for a cell whose evaluation was empty.
#[test]
fn a_sweep_does_not_print_results_that_training_did_not_write() {
    let calendar = SmallCalendar::new();
    let small = "[model]\nhidden = 32\nheads = 4\nfeed_forward = 32\nword = 16\naction = 16\nplace = 8\n[train]\nsteps = 2\n";
    fs::write(calendar.path("a.toml"), small).unwrap();
    fs::write(calendar.path("sweep.toml"), "[[part]]\nexperiment = \"a.toml\"\n").unwrap();
    let sweep = || {
        let [file, out, data] = ["sweep.toml", "sweep", "data"].map(|name| calendar.argument(name));
        command(&["sweep", &file, "--out", &out, "--data", &data])
    };
    let table = succeed(&mut sweep()).stdout;
    let (file, evaluation) =
        (calendar.path("sweep/a/evaluation.json"), calendar.read("sweep/a", "evaluation.json"));
    let accuracy = evaluation.lines().find(|line| line.contains("\"accuracy\"")).unwrap();
    let damaged = [evaluation.replace(accuracy, "  \"accuracy\": 7.5,"), String::new()];
    for content in &damaged {
        fs::write(&file, content).unwrap();
        assert_refused(&mut sweep(), "evaluation.json: this is not the file that training wrote");
    }
    // Earlier versions wrote no manifest.
    fs::remove_file(calendar.path("sweep/a/manifest.json")).unwrap();
    for (content, expected) in damaged.iter().zip(["a share that is not from 0 to 1", "not what xpr wrote"]) {
        fs::write(&file, content).unwrap();
        assert_refused(&mut sweep(), expected);
    }
    fs::write(&file, evaluation).unwrap();
    assert_eq!(succeed(&mut sweep()).stdout, table);
}

/// Issue 18: a sweep showed the results of cells that were trained with other settings, and resumed such cells.
#[test]
fn cells_with_other_settings_or_data_are_not_those_of_a_sweep() {
    let calendar = SmallCalendar::new();
    let small = "[model]\nhidden = 32\nheads = 4\nfeed_forward = 32\nword = 16\naction = 16\nplace = 8\n[train]\nsteps = ";
    let write = |steps: u32| fs::write(calendar.path("a.toml"), format!("{small}{steps}\n")).unwrap();
    fs::write(calendar.path("sweep.toml"), "[[part]]\nexperiment = \"a.toml\"\n").unwrap();
    let sweep = |data: &str, more: &[&str]| {
        let [file, out, data] = ["sweep.toml", "sweep", data].map(|name| calendar.argument(name));
        let mut sweep = command(&["sweep", &file, "--out", &out, "--data", &data]);
        sweep.args(more);
        sweep
    };
    let status = || String::from_utf8(succeed(&mut sweep("data", &["--status"])).stdout).unwrap();
    write(2);
    let table = succeed(&mut sweep("data", &[])).stdout;
    let evaluation = calendar.read("sweep/a", "evaluation.json");
    write(3);
    let other = "a was trained with other settings than are asked for: train.steps is 2 in it, not 3";
    for is_finished in [true, false] {
        for more in [&[][..], &["--shard", "0/2"], &["--k8s"], &["--slurm"]] {
            assert_refused(&mut sweep("data", more), other);
        }
        assert!(status().starts_with("1 cells: 1 with other settings\n"), "{}", status());
        if is_finished {
            fs::remove_file(calendar.path("sweep/a/evaluation.json")).unwrap();
        }
    }
    write(2);
    assert_eq!(succeed(&mut sweep("data", &[])).stdout, table);
    assert_eq!(calendar.read("sweep/a", "evaluation.json"), evaluation);

    // A folder that was moved has the same data, and another folder has others.
    fs::rename(calendar.path("data"), calendar.path("moved")).unwrap();
    assert_eq!(succeed(&mut sweep("moved", &[])).stdout, table);
    let file = calendar.path("moved/splits/calendar_split0.tsv");
    let corrected = fs::read_to_string(&file).unwrap().replacen("start_time", "end_time", 1);
    fs::write(&file, corrected).unwrap();
    assert_refused(&mut sweep("moved", &[]), "trained on other data: the training examples");
}

/// Removes the files of a run. What it trained in folders of its own is left.
fn remove_files(run: &Path) {
    for entry in fs::read_dir(run).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            fs::remove_file(path).unwrap();
        }
    }
}

/// Issue 18: tuning went on with runs that an earlier command had begun with other settings.
#[test]
fn tuning_does_not_go_on_with_other_settings() {
    let calendar = SmallCalendar::new();
    let common = ["data.fraction=0.5", "learn.objective=sparse", "learn.ensemble=0", "learn.start=1"];
    let tune = |settings: &[&str]| {
        let mut train = calendar.train("run", &[&common[..], settings].concat());
        train.arg("--tune=0.1");
        train
    };
    succeed(&mut tune(&["train.steps=2"]));
    remove_files(&calendar.path("run"));
    let other = "weight-0.1 was trained with other settings than are asked for: ";
    assert_refused(&mut tune(&["train.steps=3"]), &format!("{other}train.steps is 2 in it, not 3"));
    let both = ["train.steps=2", "train.seed=7", "model.dropout=0.5"];
    assert_refused(&mut tune(&both), &format!("{other}model.dropout is "));
    succeed(&mut tune(&["train.steps=2"]));
}

/// Issue 18: a run whose settings were edited went on with them, and was a mixture that its settings do not tell.
#[test]
fn a_run_does_not_go_on_with_edited_settings() {
    let calendar = SmallCalendar::new();
    succeed(&mut calendar.train("run", &["train.steps=20"]));
    let run = calendar.path("run");
    // As if it had been stopped after the last step.
    for file in ["evaluation.json", "manifest.json", "model.safetensors"] {
        fs::remove_file(run.join(file)).unwrap();
    }
    let settings = calendar.read("run", "config.toml");
    let resume = || {
        let (data, run) = (calendar.argument("data"), calendar.argument("run"));
        command(&["train", "--resume", "--data", &data, "--out", &run])
    };
    for (from, to, expected) in [
        ("\nseed = 0\n", "\nseed = 7\n", "train.seed is 7, and was 0"),
        ("\nsteps = 20\n", "\nsteps = 90\n", "train.steps is 90, and was 20"),
        (
            "\nrow_correction = false\n",
            "\nrow_correction = true\n",
            "train.row_correction is true, and was false",
        ),
    ] {
        assert!(settings.contains(from), "{settings}");
        fs::write(run.join("config.toml"), settings.replace(from, to)).unwrap();
        let changed =
            format!("run: its config.toml was changed since training began: {expected}; restore it");
        assert_refused(&mut resume(), &changed);
    }
    // Earlier versions did not record the settings.
    let mut data: serde_json::Value = serde_json::from_str(&calendar.read("run", "data.json")).unwrap();
    data.as_object_mut().unwrap().remove("settings").unwrap();
    let recorded = fs::read(run.join("data.json")).unwrap();
    fs::write(run.join("data.json"), data.to_string()).unwrap();
    fs::write(run.join("config.toml"), settings.replace("\nsteps = 20\n", "\nsteps = 10\n")).unwrap();
    assert_refused(&mut resume(), "it is of step 20, and the settings ask for 10 steps only");
    // What is not trained with may be edited.
    fs::write(run.join("data.json"), recorded).unwrap();
    fs::write(run.join("config.toml"), settings.replace("\nbeam = 8\n", "\nbeam = 4\n")).unwrap();
    succeed(&mut resume());
}

/// Issue 18: the parser of an earlier round was taken from a folder that was trained on other labels or with other settings.
#[test]
fn the_parser_of_a_round_has_the_data_and_settings_of_its_run() {
    let calendar = SmallCalendar::new();
    let common = [
        "train.steps=2",
        "data.fraction=0.5",
        "learn.objective=sparse",
        "learn.ensemble=1",
        "learn.rounds=2",
        "learn.steps=2",
    ];
    let train = |settings: &[&str]| calendar.train("run", &[&common[..], settings].concat());
    succeed(&mut train(&[]));
    let weights = || fs::read(calendar.path("run/members/round-1/model.safetensors")).unwrap();
    let before = weights();
    remove_files(&calendar.path("run"));
    assert_refused(
        &mut train(&["train.seed=5"]),
        "round-1 was trained with other settings than are asked for: train.seed is 0 in it, not 5",
    );
    remove_files(&calendar.path("run"));
    fs::rename(calendar.path("run/members/round-1/config.toml"), calendar.path("settings")).unwrap();
    assert_refused(&mut train(&[]), "of a run whose config.toml is gone");
    fs::rename(calendar.path("settings"), calendar.path("run/members/round-1/config.toml")).unwrap();
    remove_files(&calendar.path("run"));
    succeed(&mut train(&[]));
    assert!(weights() == before);
    // An earlier version recorded neither settings nor data of a round, and the run's own are compared when it is resumed.
    for file in ["config.toml", "data.json"] {
        fs::remove_file(calendar.path(&format!("run/members/round-1/{file}"))).unwrap();
    }
    let resume =
        ["train", "--resume", "--out", &calendar.argument("run"), "--data", &calendar.argument("data")];
    let resumed = succeed(&mut command(&resume));
    let notes = String::from_utf8_lossy(&resumed.stderr).into_owned();
    assert!(notes.contains("round-1"), "{notes}");
    assert!(weights() == before);

    remove_files(&calendar.path("run"));
    for member in fs::read_dir(calendar.path("run/members")).unwrap() {
        let path = member.unwrap().path();
        if !path.ends_with("round-1") {
            fs::remove_dir_all(path).unwrap();
        }
    }
    calendar.correct_a_label();
    assert_refused(&mut train(&[]), "round-1: its parser was trained on other data: the training examples");
}

/// Issue 18: a member without settings was taken into an ensemble although the labels had changed, and one that was begun was trained on
/// with the new labels.
#[test]
fn members_without_settings_are_not_adopted() {
    let calendar = SmallCalendar::new();
    let settings =
        ["train.steps=2", "data.fraction=0.5", "learn.objective=sparse", "learn.ensemble=1", "learn.steps=2"];
    let train = |run: &str| {
        let mut train = calendar.train(run, &settings);
        train.args(["--members", &calendar.argument("members")]);
        train
    };
    succeed(&mut train("run"));
    let member = fs::read_dir(calendar.path("members")).unwrap().next().unwrap().unwrap().path();
    fs::remove_file(member.join("config.toml")).unwrap();
    calendar.correct_a_label();
    for (run, removed) in [("whole", &[][..]), ("begun", &["model.safetensors", "manifest.json"])] {
        removed.iter().for_each(|file| fs::remove_file(member.join(file)).unwrap());
        assert_refused(&mut train(run), "of a run whose config.toml is gone");
    }
}

#[test]
fn a_second_trainer_cannot_begin_in_the_folder_of_the_first() {
    let calendar = SmallCalendar::new();
    let mut trainers: Vec<_> = ["train.seed=1", "train.seed=2", "train.seed=3"]
        .into_iter()
        .map(|seed| {
            calendar
                .train("run", &["train.steps=2", seed])
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    let succeeded =
        trainers.iter_mut().filter_map(|trainer| trainer.wait().unwrap().success().then_some(())).count();
    assert_eq!(succeeded, 1);
    succeed(&mut command(&["ask", &calendar.argument("run"), "who attends the annual review"]));
}

#[test]
fn training_that_diverges_stops_with_an_error() {
    let calendar = SmallCalendar::new();
    assert_refused(
        &mut calendar.train("wild", &["train.rate=1e30", "train.clip=0", "train.steps=60"]),
        "training diverged",
    );
    assert!(!calendar.path("wild/model.safetensors").exists());
    assert!(!calendar.path("wild/evaluation.json").exists());
    for setting in
        ["train.clip=-1", "train.clip=nan", "train.power=nan", "train.power=-1", "learn.own_weight=nan"]
    {
        assert_refused(&mut calendar.train("absurd", &[setting]), "expected a number from 0 on");
    }
}

#[test]
fn questions_that_are_too_long_or_empty_are_refused() {
    let calendar = SmallCalendar::new();
    succeed(&mut calendar.train("run", &["train.steps=2"]));
    let run = calendar.argument("run");
    for (question, expected) in [
        ("who ".repeat(251), "the question has 251 words, and a parser reads at most 250"),
        ("who ".repeat(25_000), "the question has 100000 bytes"),
        ("w".repeat(100_000), "the question has 100000 bytes"),
        (String::new(), "the question has no words"),
        (" ?! ".to_owned(), "the question has no words"),
    ] {
        assert_refused(&mut command(&["ask", &run, &question]), expected);
    }
    succeed(&mut command(&["ask", &run, &"who ".repeat(250)]));
    let unknown = succeed(&mut command(&["ask", &run, "誰が出席しますか"]));
    assert!(stderr(&unknown).contains("never seen a word of this question"));
    // A label like that is left out, which is an error in a benchmark.
    let file = calendar.path("data/splits/calendar_split0.tsv");
    let examples = fs::read_to_string(&file).unwrap();
    fs::write(&file, examples.replacen("meetings with alice", &"meetings ".repeat(500), 1)).unwrap();
    assert_refused(&mut calendar.train("long", &["train.steps=2"]), "the question has 500 words");
}
