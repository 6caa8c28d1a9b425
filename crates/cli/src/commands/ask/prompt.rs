//! Questions from a person at a terminal, or from standard input.

use super::session::{HELP, Session};
use super::{MAX_ROWS, text};
use anyhow::{Context, Result};
use rustyline::DefaultEditor;
use rustyline::error::ReadlineError;
use std::io::{self, BufRead, Write};
use std::ops::ControlFlow;

/// Asks for questions at a terminal until the session ends. Arrow keys bring back earlier lines.
pub(super) fn converse(session: &mut Session<'_>, out: &mut dyn Write, all_rows: bool) -> Result<()> {
    writeln!(out, "Ask a question, or use a command:\n{HELP}")?;
    let mut editor = DefaultEditor::new().context("opening the terminal")?;
    loop {
        out.flush()?;
        let line = match editor.readline("? ") {
            Ok(line) => line,
            // Control-C gives up the line, and Control-D the session.
            Err(ReadlineError::Interrupted) => continue,
            Err(ReadlineError::Eof) => return Ok(()),
            Err(error) => return Err(error).context("reading the terminal"),
        };
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        let _ = editor.add_history_entry(line);
        if line.starts_with('\\') {
            match session.execute(line, out) {
                Ok(ControlFlow::Break(())) => return Ok(()),
                Ok(ControlFlow::Continue(())) => {}
                Err(error) => writeln!(out, "{error:#}")?,
            }
        } else {
            let max_rows = if all_rows { usize::MAX } else { MAX_ROWS };
            match session.ask(line) {
                Ok(answer) => text::write_answer(out, answer, max_rows, false)?,
                Err(error) => writeln!(out, "{error:#}")?,
            }
        }
    }
}

/// Answers the questions on standard input, each on a line of its own. Lines that begin with a backslash are commands.
pub(super) fn answer_lines(session: &mut Session<'_>, out: &mut dyn Write, json: bool) -> Result<()> {
    for line in io::stdin().lock().lines() {
        let line = line.context("standard input")?;
        if line.starts_with('\\') {
            if session.execute(line.trim(), out)?.is_break() {
                return Ok(());
            }
        } else {
            // A question that cannot be answered has a line too, so that answers and questions stay side by side.
            match (session.ask(&line), json) {
                (Ok(answer), true) => writeln!(out, "{}", serde_json::to_string(answer)?)?,
                (Ok(answer), false) => text::write_line(out, answer)?,
                (Err(error), true) => {
                    let record = serde_json::json!({"question": line, "error": format!("{error:#}")});
                    writeln!(out, "{record}")?;
                }
                (Err(error), false) => writeln!(out, "{error:#}")?,
            }
        }
        // A process that writes a question and waits for its answer must not wait for a full buffer.
        out.flush()?;
    }
    Ok(())
}
