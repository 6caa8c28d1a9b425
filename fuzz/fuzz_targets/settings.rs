//! Reads any text as an experiment, a sweep and a list of settings; writes what was read and reads it again.
#![no_main]

mod support;

use libfuzzer_sys::fuzz_target;
use std::fs;
use std::sync::OnceLock;
use tempfile::TempDir;
use xpr_learn::experiment::sweep::Sweep;
use xpr_run::Config;

fuzz_target!(|text: &str| {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    let folder = FOLDER.get_or_init(support::folder).path();
    let path = folder.join("experiment.toml");
    fs::write(&path, text).expect("the file can be written");
    let _ = Sweep::read(&path);
    let settings: Vec<String> = text.lines().map(str::to_owned).collect();
    let read = [Config::read(Some(&path), &[]), Config::read(None, &settings)];
    for read in read.into_iter().flatten() {
        let _ = read.config.check_consistency();
        let Ok(toml) = read.config.to_toml() else { continue };
        fs::write(&path, &toml).expect("the file can be written");
        let again = Config::read(Some(&path), &[]).expect("what was written can be read");
        assert_eq!(again.config.to_toml().expect("it can be written again"), toml);
    }
});
