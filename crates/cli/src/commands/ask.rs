//! `xpr ask`: a question, an answer, and what else came to mind.

use super::write_json;
use crate::arguments::AskArguments;
use anyhow::{Result, bail};
use serde::Serialize;
use std::io::Write;
use std::time::Instant;
use xpr_learn::{Ranked, load_run, rank};
use xpr_parser::Parser;

#[derive(Serialize)]
struct Answer {
    question: String,
    /// Which candidate was chosen: the best that executes.
    chosen: usize,
    milliseconds: f64,
    candidates: Vec<Ranked>,
}

pub(crate) fn run(arguments: &AskArguments, out: &mut dyn Write) -> Result<()> {
    let (_, _, task, model) = load_run(&arguments.run)?;
    let mut runner = task.runner()?;
    let start = Instant::now();
    let question = task.question(&arguments.question);
    let candidates = model.candidates(&[&question], usize::from(arguments.beam), None);
    let found = candidates.first().map_or(&[][..], Vec::as_slice);
    let (chosen, ranked) = rank(&task, &mut *runner, &question, found);
    let milliseconds = 1000.0 * start.elapsed().as_secs_f64();
    if ranked.is_empty() {
        bail!("no program came to mind");
    }
    let answer = Answer {
        question: arguments.question.clone(),
        chosen,
        milliseconds,
        candidates: ranked.into_iter().map(|(ranked, _)| ranked).collect(),
    };
    if arguments.json {
        return write_json(out, &answer);
    }
    let best = &answer.candidates[chosen];
    writeln!(out, "{}", best.program)?;
    writeln!(out, "{}", best.outcome.replace('\t', ": "))?;
    writeln!(out, "\n{:>8}  candidates, found in {:.1} ms", "p", answer.milliseconds)?;
    for (index, candidate) in answer.candidates.iter().enumerate().take(8) {
        let mark = if index == chosen { '→' } else { ' ' };
        let outcome: String = candidate.outcome.replace('\t', ": ").chars().take(60).collect();
        writeln!(
            out,
            "{:8.4} {mark}{}\n          {outcome}",
            candidate.log_probability.exp(),
            candidate.program
        )?;
    }
    Ok(())
}
