//! Reports a run folder in which one file has any content.
#![no_main]

mod support;

use libfuzzer_sys::fuzz_target;
use std::fs;
use std::sync::OnceLock;
use tempfile::TempDir;
use xpr_report::Report;
use xpr_run::{Config, RunFile};

/// The files of a run that a report reads.
fn files() -> [(RunFile, String); 6] {
    let evaluation = "{\"examples\": 1, \"accuracy\": 0.5, \"accuracy_of_best\": 0, \"exact\": 0, \"in_beam\": 1, \
                      \"executable\": 1}";
    let prediction = "{\"utterance\": \"who\", \"gold\": \"a\", \"outcome\": \"value\\t(list)\", \"candidates\": [], \
                      \"chosen\": null}\n";
    let metrics = "{\"step\": 10, \"loss\": 1.5, \"rate\": 0.001, \"gradient\": 2}\n";
    [
        (RunFile::Config, Config::default().to_toml().expect("the settings can be written")),
        (RunFile::Evaluation, evaluation.to_owned()),
        (RunFile::Predictions, prediction.to_owned()),
        (RunFile::Metrics, metrics.to_owned()),
        (RunFile::Unlabeled, "{\"questions\": 3, \"length_ratio\": 1.5}".to_owned()),
        (RunFile::Manifest, "{\"format\": 1, \"files\": {}}".to_owned()),
    ]
}

fuzz_target!(|input: (u8, &[u8])| {
    static RUN: OnceLock<(TempDir, [(RunFile, String); 6])> = OnceLock::new();
    let (folder, files) = RUN.get_or_init(|| (support::folder(), files()));
    let folder = folder.path();
    let (changed, content) = input;
    let changed = usize::from(changed) % files.len();
    for (index, (file, original)) in files.iter().enumerate() {
        let content = if index == changed { content } else { original.as_bytes() };
        fs::write(folder.join(file.name()), content).expect("the file can be written");
    }
    if let Ok(report) = Report::read(&[folder.to_owned()], Some(5)) {
        let _ = (report.to_terminal(), report.to_html(), report.to_markdown(), report.to_csv());
    }
});
