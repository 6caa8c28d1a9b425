//! Every program of the Overnight benchmark, whose data must be in the folder `XPR_DATA`, from text to actions and back.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "these are tests")]

use std::path::PathBuf;
use xpr_data::{Overnight, OvernightPart};
use xpr_exec::{Executor, KnowledgeBaseEnvironment, Limits, Runner, SymbolPhrase, overnight};
use xpr_lang::lambda_dcs::LambdaDcs;
use xpr_lang::{Derivation, Environment, Language, Program};

#[test]
#[ignore = "needs XPR_DATA, see CONTRIBUTING.md"]
fn every_program_is_the_same_after_text_to_actions_and_back() {
    let typed = check_every_program(&LambdaDcs::new());
    let signatures = check_every_program(&LambdaDcs::from_signatures());
    for (name, programs) in [("typed", &typed), ("signatures", &signatures)] {
        let actions: usize = programs.iter().map(|program| program.actions).sum();
        eprintln!("{name}: {:.2} actions per program", actions as f64 / programs.len() as f64);
    }
    // The grammar has no influence on the length in the authors' units.
    for (typed, signatures) in typed.iter().zip(&signatures) {
        assert_eq!(typed.length, signatures.length, "{}", typed.text);
        assert!(typed.actions <= signatures.actions, "{}", typed.text);
    }
}

/// A program of the benchmark as a grammar writes it.
struct WrittenProgram {
    text: String,
    /// The number of actions.
    actions: usize,
    /// The length in the authors' units.
    length: usize,
}

fn check_every_program(language: &LambdaDcs) -> Vec<WrittenProgram> {
    let folder = std::env::var_os("XPR_DATA")
        .expect("set XPR_DATA to the folder of the benchmark data, see CONTRIBUTING.md");
    // Tests run in the folder of their crate, but a relative path is relative to the workspace.
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(folder);
    let data = Overnight::open(&folder).unwrap();
    let mut programs = Vec::new();
    for domain in overnight::WORLDS {
        let world = overnight::world(domain).unwrap();
        let phrases: Vec<SymbolPhrase> = data
            .lexicon(domain)
            .unwrap()
            .into_iter()
            .map(|entry| SymbolPhrase { symbol: entry.symbol, phrase: entry.phrase })
            .collect();
        let environment = KnowledgeBaseEnvironment::new(&world, language, &phrases);
        let grammar = language.signatures().grammar(environment.items()).unwrap();
        let mut runner = Runner::new(&world, Limits::default());
        for part in [OvernightPart::Train, OvernightPart::Test] {
            for example in data.examples(domain, part).unwrap() {
                let text = &example.program;
                let program = language
                    .read(text, &grammar, &environment)
                    .unwrap_or_else(|error| panic!("{domain}: {error}\n{text}"));

                // Actions → program is the identity, and the grammar allows each action where it is taken.
                let mut derivation = Derivation::new(&grammar);
                for &action in program.actions() {
                    let allowed = grammar.allowed(derivation.expected().unwrap());
                    let is_allowed = match action {
                        xpr_lang::Action::Rule(rule) => allowed.rules.contains(&rule),
                        xpr_lang::Action::Item(item) => allowed.items.contains(&item),
                    };
                    assert!(is_allowed, "{text}");
                    derivation.advance(&grammar, action).unwrap();
                }
                assert!(derivation.is_complete());
                assert_eq!(Program::from_actions(&grammar, program.actions()).unwrap(), program);

                // Program → text → program is the identity, and the denotation is the same.
                let written = language.write(&program, &grammar, &environment);
                assert_eq!(language.read(&written, &grammar, &environment).unwrap(), program, "{text}");
                assert_eq!(runner.execute(text), runner.execute(&written), "{text}\n{written}");
                programs.push(WrittenProgram {
                    text: written,
                    actions: program.actions().len(),
                    length: language.length(&program),
                });
            }
        }
    }
    assert_eq!(programs.len(), 10_942 + 2_740);
    programs
}
