//! Opens a trained run in which one file has any content, and asks it a question.
//!
//! The run has no manifest, which would refuse every change.
#![no_main]

mod support;

use libfuzzer_sys::fuzz_target;
use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;
use tempfile::TempDir;
use xpr_learn::{Experiment, Observer, TrainedRun};
use xpr_parser::Parser;
use xpr_run::{Config, RunFile, RunFolder, StepReport};

struct Unobserved;

impl Observer for Unobserved {
    fn step(&mut self, _: StepReport, _: usize) {}

    fn resumed(&mut self, _: usize) {}
}

const FILES: [RunFile; 6] = [
    RunFile::Config,
    RunFile::Data,
    RunFile::Grammar,
    RunFile::Vocabulary,
    RunFile::Model,
    RunFile::NoisyChannel,
];

/// A trained run, and the original content of its files.
struct Fixture {
    _folder: TempDir,
    run: PathBuf,
    schema: PathBuf,
    files: Vec<Vec<u8>>,
}

fn fixture() -> Fixture {
    assert!(xpr_exec::sqlite::prepare_engine());
    let folder = support::folder();
    let database = rusqlite::Connection::open(folder.path().join("music.db")).expect("it can be made");
    database
        .execute_batch(
            "CREATE TABLE album (id INTEGER PRIMARY KEY, title TEXT, price REAL);
             INSERT INTO album VALUES (1, 'Pastel Blues', 9.5), (2, 'Wild is the Wind', 12);",
        )
        .expect("the tables can be made");
    let labels = "how many albums are there\tSELECT count(*) FROM album\n\
                  what does pastel blues cost\tSELECT price FROM album WHERE title = 'Pastel Blues'\n";
    fs::write(folder.path().join("train.tsv"), labels).expect("the file can be written");
    let mut settings = vec![format!("data.folder={:?}", folder.path())];
    settings.extend(
        [
            "data.dataset=database",
            "data.database=sqlite:music.db",
            "data.labeled=train.tsv",
            "model.hidden=8",
            "model.heads=2",
            "model.feed_forward=8",
            "model.word=4",
            "model.action=4",
            "model.place=4",
            "train.steps=2",
        ]
        .map(str::to_owned),
    );
    let config = Config::read(None, &settings).expect("the settings are right").config;
    let run = folder.path().join("run");
    let run_folder = RunFolder::create(&run).expect("the folder can be made");
    let experiment = Experiment::load(config).expect("the data can be read");
    experiment.run(&run_folder, false, &mut Unobserved).expect("it can be trained");
    drop(run_folder);
    fs::remove_file(run.join(RunFile::Manifest.name())).expect("it has a manifest");
    let files = FILES.map(|file| fs::read(run.join(file.name())).unwrap_or_default()).to_vec();
    Fixture { schema: folder.path().join("xpr-schema.json"), _folder: folder, run, files }
}

fuzz_target!(|input: (u8, &[u8])| {
    static FIXTURE: OnceLock<Fixture> = OnceLock::new();
    let Fixture { run, schema, files, .. } = FIXTURE.get_or_init(fixture);
    let (changed, content) = input;
    let changed = usize::from(changed) % (FILES.len() + 1);
    for (index, (file, original)) in FILES.iter().zip(files).enumerate() {
        let content = if index == changed { content } else { original };
        fs::write(run.join(file.name()), content).expect("the file can be written");
    }
    // The project has a file too.
    let _ = fs::remove_file(schema);
    if changed == FILES.len() {
        fs::write(schema, content).expect("the file can be written");
    }
    if let Ok(run) = TrainedRun::open(run) {
        let question = run.task.question("what does pastel blues cost");
        let _ = run.parser().candidates(&[&question], 2);
    }
});
