//! Agreement with SEMPRE on the Overnight benchmark: needs the data folder (`XPR_DATA`).
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "these are tests")]

use std::fs;
use std::path::PathBuf;
use xpr_exec::{Executor, Fault, Limits, Runner, Verdict, overnight};
use xpr_lang::lambda_dcs::Form;

/// The `overnight` folder of the data, or none with a word that cannot be missed.
fn data() -> Option<PathBuf> {
    match std::env::var_os("XPR_DATA") {
        // Tests run in their crate's folder, but a relative path means the workspace's.
        Some(folder) => {
            Some(PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(folder).join("overnight"))
        }
        None => {
            eprintln!("SKIPPED: XPR_DATA is not set, so nothing was compared with SEMPRE");
            None
        }
    }
}

fn lines(path: &PathBuf) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines().map(str::to_owned).collect()
}

/// What SEMPRE would say: `null`, `ERROR`, or the denotation, and whether that is the empty list.
fn sempre(runner: &mut Runner<'_>, text: &str) -> (String, bool) {
    let Ok(form) = Form::parse(text) else { return ("null".into(), false) };
    let mut denotation = String::new();
    match runner.run_form(&form, &mut denotation) {
        Ok(verdict) => (denotation, verdict == Verdict::Nothing),
        Err(Fault::Limit(_)) => ("LIMIT".into(), false),
        Err(Fault::Type(_) | Fault::Runtime(_)) => ("ERROR".into(), false),
    }
}

#[test]
fn native_worlds_equal_the_dumped_ones() {
    let Some(data) = data() else { return };
    for name in overnight::WORLDS {
        let world = overnight::world(name).unwrap();
        let native: Vec<String> = world.triple_lines().collect();
        let dumped = lines(&data.join(format!("kb/{name}.tsv")));
        assert_eq!(native.len(), dumped.len(), "{name}");
        for (index, (native, dumped)) in native.iter().zip(&dumped).enumerate() {
            assert_eq!(native, dumped, "{name}, line {}", index + 1);
        }
        // And a world that is read is the world that was written.
        let read = xpr_exec::Builder::read(&dumped.join("\n")).unwrap();
        assert!(read.triple_lines().eq(native), "{name}");
    }
}

/// Runs every line of a file of reference answers and reports all differences at once.
fn agree(folder: &str, suffix: &str, expected_lines: usize) {
    let Some(data) = data() else { return };
    let mut differences = Vec::new();
    let mut count = 0;
    for name in overnight::WORLDS {
        let world = overnight::world(name).unwrap();
        let mut runner = Runner::new(&world, Limits::default());
        for line in lines(&data.join(format!("{folder}/{name}{suffix}.tsv"))) {
            let fields: Vec<&str> = line.split('\t').collect();
            let (program, expected) = (fields[0], fields[1]);
            let (found, is_empty) = sempre(&mut runner, program);
            count += 1;
            if found != expected || fields.get(2).is_some_and(|flag| (*flag == "1") != is_empty) {
                differences.push(format!(
                    "{name}: {program}\n  SEMPRE {expected}\n  xpr    {found} {:?}",
                    runner.execute(program)
                ));
            }
        }
    }
    assert!(
        differences.is_empty(),
        "{} differences:\n{}",
        differences.len(),
        differences.iter().take(40).cloned().collect::<Vec<_>>().join("\n")
    );
    assert_eq!(count, expected_lines);
}

#[test]
fn train_programs_denote_what_sempre_says() {
    agree("denotations", "_train", 10_942);
}

#[test]
fn broken_and_unusual_programs_end_as_in_sempre() {
    agree("mutants", "", 12_000);
}
