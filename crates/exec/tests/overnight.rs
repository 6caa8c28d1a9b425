//! Comparison with SEMPRE on the Overnight benchmark, whose data must be in the folder `XPR_DATA`.
#![allow(clippy::unwrap_used, reason = "these are tests")]

mod support;

use std::fs;
use std::path::PathBuf;
use support::data_folder;
use xpr_exec::{AnswerKind, Executor, Fault, KnowledgeBase, Limits, Runner, overnight};
use xpr_lang::lambda_dcs::Form;

fn lines(path: &PathBuf) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines().map(str::to_owned).collect()
}

/// Returns what SEMPRE would print (`null`, `ERROR` or the denotation), and whether the denotation is the empty list.
fn sempre(runner: &mut Runner<'_>, text: &str) -> (String, bool) {
    let Ok(form) = Form::parse(text) else { return ("null".into(), false) };
    let mut denotation = String::new();
    match runner.run_form(&form, &mut denotation) {
        Ok(kind) => (denotation, kind == AnswerKind::Empty),
        Err(Fault::Limit(_)) => ("LIMIT".into(), false),
        Err(Fault::Type(_) | Fault::Runtime(_)) => ("ERROR".into(), false),
    }
}

#[test]
#[ignore = "needs XPR_DATA, see CONTRIBUTING.md"]
fn built_worlds_equal_those_of_sempre() {
    let data = data_folder("overnight");
    for name in overnight::WORLDS {
        let world = overnight::world(name).unwrap();
        let native: Vec<String> = world.triple_lines().collect();
        let dumped = lines(&data.join(format!("kb/{name}.tsv")));
        assert_eq!(native.len(), dumped.len(), "{name}");
        for (index, (native, dumped)) in native.iter().zip(&dumped).enumerate() {
            assert_eq!(native, dumped, "{name}, line {}", index + 1);
        }
        let read = KnowledgeBase::read_triples(&dumped.join("\n")).unwrap();
        assert!(read.triple_lines().eq(native), "{name}");
    }
}

/// Compares every line of the files of reference answers, and reports all differences at once.
fn assert_agreement(folder: &str, suffix: &str, expected_lines: usize) {
    let data = data_folder("overnight");
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
#[ignore = "needs XPR_DATA, see CONTRIBUTING.md"]
fn training_programs_have_the_denotations_of_sempre() {
    assert_agreement("denotations", "_train", 10_942);
}

#[test]
#[ignore = "needs XPR_DATA, see CONTRIBUTING.md"]
fn mutated_programs_have_the_outcomes_of_sempre() {
    assert_agreement("mutants", "", 12_000);
}
