//! Reads any text as a file of triples, writes it and reads it again, and runs any program on it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use xpr_exec::{Executor, KnowledgeBase, Limits, Runner};

fuzz_target!(|input: (&str, &str)| {
    let (triples, program) = input;
    if let Ok(world) = KnowledgeBase::read_triples(triples) {
        let lines: Vec<String> = world.triple_lines().collect();
        let again = KnowledgeBase::read_triples(&lines.join("\n")).expect("written triples can be read");
        assert_eq!(world.value_count(), again.value_count());
        let _ = Runner::new(&world, Limits::default()).execute(program);
    }
});
