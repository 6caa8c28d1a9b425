//! `xpr ask`: answers questions with a trained parser.

mod prompt;
mod session;
mod text;

use super::{open_run, use_threads, write_json};
use crate::NothingFound;
use crate::arguments::AskArguments;
use anyhow::{Result, bail};
use session::Session;
use std::io::{self, IsTerminal, Write};

/// The number of rows of an answer in text without `--all-rows`.
const MAX_ROWS: usize = 20;

pub(crate) fn run(arguments: &AskArguments, out: &mut dyn Write) -> Result<()> {
    if let Some(question) = &arguments.question {
        session::check_question(question)?;
    }
    use_threads(0)?;
    let run = open_run(&arguments.trained, &[])?;
    let mut session = Session::new(&run, usize::from(arguments.search.beam), arguments.min_confidence)?;
    let json = arguments.output.json;
    let Some(question) = &arguments.question else {
        if arguments.csv {
            bail!("--csv needs a question; in a session, \\csv FILE writes the last answer");
        }
        return match io::stdin().is_terminal() && !json {
            true => prompt::converse(&mut session, out, arguments.all_rows),
            false => prompt::answer_lines(&mut session, out, json),
        };
    };
    let answer = session.ask(question)?;
    if answer.declined.is_some() || answer.best().is_none() {
        match json {
            true => write_json(out, answer)?,
            false => text::write_declined(out, answer)?,
        }
        return Err(NothingFound.into());
    }
    if arguments.csv {
        text::write_csv(out, answer)?;
    } else if json {
        write_json(out, answer)?;
    } else {
        let max_rows = if arguments.all_rows { usize::MAX } else { MAX_ROWS };
        text::write_answer(out, answer, max_rows, true)?;
        if !answer.is_unsure() {
            writeln!(out)?;
            text::write_candidates(out, answer)?;
        }
    }
    match answer.best().is_some_and(|best| best.outcome.executes()) {
        true => Ok(()),
        false => Err(NothingFound.into()),
    }
}
