//! Any triples file, then a program on it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use xpr_exec::{Builder, Executor, Limits, Runner};

fuzz_target!(|input: (&str, &str)| {
    let (triples, program) = input;
    if let Ok(world) = KnowledgeBase::read_triples(triples) {
        let lines: Vec<String> = world.triple_lines().collect();
        let again = KnowledgeBase::read_triples(&lines.join("\n")).expect("what is written can be read");
        assert_eq!(world.values(), again.values());
        let _ = Runner::new(&world, Limits::default()).execute(program);
    }
});
