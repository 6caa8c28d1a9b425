//! Every program of the benchmark, from text to actions and back: needs the data folder (`XPR_DATA`).
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "these are tests")]

use std::path::PathBuf;
use xpr_data::{Overnight, Part};
use xpr_exec::{Executor, KnowledgeBaseEnvironment, Limits, Phrase, Runner, overnight};
use xpr_lang::lambda_dcs::LambdaDcs;
use xpr_lang::{Derivation, Environment, Language, Program};

fn data() -> Option<Overnight> {
    match std::env::var_os("XPR_DATA") {
        // Tests run in their crate's folder, but a relative path means the workspace's.
        Some(folder) => {
            let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(folder);
            Some(Overnight::open(&folder).unwrap())
        }
        None => {
            eprintln!("SKIPPED: XPR_DATA is not set, so no program of the benchmark was converted");
            None
        }
    }
}

#[test]
fn every_program_survives_the_way_to_actions_and_back() {
    let Some(data) = data() else { return };
    let language = LambdaDcs::new();
    let (mut count, mut actions) = (0, 0);
    for domain in overnight::WORLDS {
        let world = overnight::world(domain).unwrap();
        let phrases: Vec<Phrase> = data
            .lexicon(domain)
            .unwrap()
            .into_iter()
            .map(|entry| Phrase { symbol: entry.symbol, phrase: entry.phrase })
            .collect();
        let environment = KnowledgeBaseEnvironment::new(&world, &language, &phrases);
        let grammar = language.signatures().grammar(environment.items()).unwrap();
        let mut runner = Runner::new(&world, Limits::default());
        for part in [Part::Train, Part::Test] {
            for example in data.examples(domain, part).unwrap() {
                let text = &example.program;
                let program = language
                    .read(text, &grammar, &environment)
                    .unwrap_or_else(|error| panic!("{domain}: {error}\n{text}"));

                // Actions → program is the identity, and each is offered where it is taken.
                let mut derivation = Derivation::new(&grammar);
                for &action in program.actions() {
                    let allowed = grammar.allowed(derivation.expected().unwrap());
                    let offered = match action {
                        xpr_lang::Action::Rule(rule) => allowed.rules.contains(&rule),
                        xpr_lang::Action::Item(item) => allowed.items.contains(&item),
                    };
                    assert!(offered);
                    derivation.advance(&grammar, action).unwrap();
                }
                assert!(derivation.is_complete());
                assert_eq!(Program::from_actions(&grammar, program.actions()).unwrap(), program);

                // Program → text → program is the identity, and the denotation is kept.
                let written = language.write(&program, &grammar, &environment);
                assert_eq!(language.read(&written, &grammar, &environment).unwrap(), program, "{text}");
                assert_eq!(runner.execute(text), runner.execute(&written), "{text}\n{written}");
                count += 1;
                actions += program.actions().len();
            }
        }
    }
    assert_eq!(count, 10_942 + 2_740);
    eprintln!("{:.2} actions a program", actions as f64 / count as f64);
}
