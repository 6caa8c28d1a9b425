//! Reads any text as a program, reads its canonical text again, and runs both in every world.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::sync::OnceLock;
use xpr_exec::{Executor, KnowledgeBase, Limits, Runner, overnight};
use xpr_lang::lambda_dcs::Form;

static WORLDS: OnceLock<Vec<KnowledgeBase>> = OnceLock::new();

fuzz_target!(|text: &str| {
    let worlds = WORLDS.get_or_init(|| overnight::WORLDS.into_iter().filter_map(overnight::world).collect());
    if let Ok(form) = Form::parse(text) {
        let once = form.to_string();
        let again = Form::parse(&once).expect("canonical text can be read").to_string();
        assert_eq!(once, again);
    }
    for world in worlds {
        let outcome = Runner::new(world, Limits::default()).execute(text);
        // The canonical text has the same outcome.
        if let Ok(form) = Form::parse(text) {
            assert_eq!(outcome, Runner::new(world, Limits::default()).execute(&form.to_string()));
        }
    }
});
