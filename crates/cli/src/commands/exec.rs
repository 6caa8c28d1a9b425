//! `xpr exec`: executes programs from standard input and prints their outcomes.

use super::{load_triples, native_world};
use crate::arguments::ExecArguments;
use anyhow::{Context, Result};
use std::io::{self, BufRead, BufReader, Read, Write};
use xpr_exec::{AnswerKind, Limits, Outcome, Runner};
use xpr_lang::lambda_dcs::{Form, MAX_TEXT};

pub(crate) fn run(arguments: &ExecArguments, out: &mut dyn Write) -> Result<()> {
    let world = match (&arguments.world.world, &arguments.world.triples) {
        (Some(name), _) => native_world(name)?,
        (None, Some(path)) => load_triples(path)?,
        (None, None) => anyhow::bail!("no knowledge base; name one with --world or --triples"),
    };
    let mut runner = Runner::new(&world, Limits::default());
    let mut form = Form::default();
    let mut input = BufReader::with_capacity(1 << 16, io::stdin().lock());
    let mut line = Vec::new();
    let mut answer = String::new();
    while read_line(&mut input, &mut line).context("standard input")? {
        answer.clear();
        execute(&mut runner, &mut form, &line, &mut answer);
        out.write_all(answer.as_bytes())?;
        // A process that writes a program and waits for its outcome must not wait for a full buffer.
        if input.buffer().is_empty() {
            out.flush()?;
        }
    }
    Ok(())
}

/// Reads a line without its line break, and returns false at the end of the input. Of a line that is too long only the beginning is
/// kept, which is still too long for a program.
fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    if input.take(MAX_TEXT as u64 + 2).read_until(b'\n', line)? == 0 {
        return Ok(false);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
        if line.last() == Some(&b'\r') {
            line.pop();
        }
    } else if line.len() > MAX_TEXT {
        input.skip_until(b'\n')?;
    }
    Ok(true)
}

/// Executes the program in `line` and appends the line of its outcome.
fn execute(runner: &mut Runner<'_>, form: &mut Form, line: &[u8], answer: &mut String) {
    let parsed = match std::str::from_utf8(line) {
        Ok(text) => form.parse_into(text).map_err(|error| error.to_string()),
        Err(error) => Err(format!("column {}: this is not UTF-8", error.valid_up_to() + 1)),
    };
    let start = answer.len();
    match parsed {
        Err(message) => append(answer, &format!("parse-error\t{}", one_line(&message))),
        Ok(()) => {
            append(answer, "value\t");
            match runner.run_form(form, answer) {
                Ok(AnswerKind::NonEmpty) => {}
                Ok(AnswerKind::Empty) => answer.replace_range(start..start + 5, "empty"),
                Err(fault) => {
                    answer.truncate(start);
                    append(answer, &one_line_outcome(&fault.into()));
                }
            }
        }
    }
    answer.push('\n');
}

fn append(answer: &mut String, text: &str) {
    answer.push_str(text);
}

/// Replaces control characters: a message may quote the program, which can contain any.
fn one_line(message: &str) -> String {
    message.replace(char::is_control, " ")
}

fn one_line_outcome(outcome: &Outcome) -> String {
    format!("{}\t{}", outcome.grade(), one_line(outcome.text()))
}
