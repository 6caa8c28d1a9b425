//! The `xpr` command.
//!
//! *Architecture invariant:* glue only. Commands turn flags into arguments of the libraries and results into text; errors in the
//! input are detected and worded by the library that reads it.

mod arguments;
mod commands;
mod duration;
mod printer;
mod ranks;
mod shell;
mod stop;
mod table;

use anyhow::Result;
use arguments::{Arguments, BenchCommand, Command, DataCommand, ImportCommand};
use clap::Parser;
use printer::Printer;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;
use xpr_learn::experiment::ExperimentError;

/// The result of a command that worked, and found nothing: the query that answers a question fails, or no labeled query runs.
#[derive(Debug, thiserror::Error)]
#[error("nothing was found")]
struct NothingFound;

fn main() -> ExitCode {
    // In a process that runs DuckDB, this does not return.
    xpr_exec::duckdb::prepare_program();
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) if error.use_stderr() => {
            // It quotes arguments, which may be the names of files that others made.
            let _ = write!(printer::stderr(), "{}", error.render());
            return ExitCode::from(2);
        }
        Err(help) => help.exit(),
    };
    xpr_exec::sqlite::on_unresponsive(end_for_database);
    // Not locked: `xpr mcp` writes from another thread.
    let mut out = Printer::new(BufWriter::with_capacity(1 << 16, io::stdout()));
    let result = stop::not_on_long_files()
        .and_then(|()| arguments::check_thread_variables())
        .and_then(|()| run(arguments, &mut out))
        .and_then(|()| Ok(out.flush()?));
    match result {
        Ok(()) => ExitCode::SUCCESS,
        // The output says what was not found.
        Err(error) if error.is::<NothingFound>() => match out.flush() {
            Ok(()) => ExitCode::from(1),
            Err(_) => ExitCode::from(2),
        },
        Err(error) if was_stopped(&error) => {
            let _ = out.flush();
            let _ = writeln!(printer::stderr(), "{error}");
            ExitCode::from(stop::EXIT_CODE)
        }
        // The reader of a pipe, such as `head`, closed it: not an error.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            // Output so far comes before the error.
            let _ = out.flush();
            let _ = writeln!(printer::stderr(), "error: {}", with_causes(&error));
            ExitCode::from(2)
        }
    }
}

/// Ends the program, because SQLite does not come back from a database. Nothing less stops it.
fn end_for_database(path: &Path) {
    let _ = writeln!(
        printer::stderr(),
        "error: {}: SQLite takes longer than it may and does not react; the file is damaged, or made to keep its \
         readers busy; do not use it unless you know where it is from",
        path.display()
    );
    std::process::exit(2);
}

fn run(arguments: Arguments, out: &mut dyn Write) -> Result<()> {
    match arguments.command {
        Command::Demo(arguments) => commands::demo::run(&arguments, out),
        Command::Train(arguments) => commands::train::run(&arguments, out),
        Command::Pretrain(arguments) => commands::pretrain::run(&arguments, out),
        Command::Base(arguments) => commands::base::run(&arguments, out),
        Command::Sweep(arguments) => commands::sweep::run(&arguments, out),
        Command::Compare(arguments) => commands::compare::run(&arguments, out),
        Command::Eval(arguments) => commands::eval::run(&arguments, out),
        Command::Report(arguments) => commands::report::run(&arguments, out),
        Command::Ask(arguments) => commands::ask::run(&arguments, out),
        Command::Teach(arguments) => commands::teach::run(&arguments, out),
        Command::Improve(arguments) => commands::improve::run(&arguments, out),
        Command::Simulate(arguments) => commands::simulate::run(&arguments, out),
        Command::Serve(arguments) => commands::serve::run(&arguments, out),
        Command::Log(arguments) => commands::log::run(&arguments, out),
        Command::Mcp(arguments) => commands::mcp::run(&arguments),
        Command::Objective(arguments) => commands::objective::run(&arguments, out),
        Command::Exec(arguments) => commands::exec::run(&arguments, out),
        Command::Init(arguments) => commands::init::run(&arguments, out),
        Command::Vectors(arguments) => commands::vectors::run(&arguments, out),
        Command::Data(DataCommand::Import(ImportCommand::Overnight(arguments))) => {
            commands::import_overnight::run(&arguments, out)
        }
        Command::Data(DataCommand::Import(ImportCommand::Text2Sql(arguments))) => {
            commands::import_text2sql::run(&arguments, out)
        }
        Command::Data(DataCommand::Check(arguments)) => commands::check::run(&arguments, out),
        Command::Bench(BenchCommand::Exec(arguments)) => commands::bench::exec(&arguments, out),
        Command::Bench(BenchCommand::Train(arguments)) => commands::bench_parser::train(&arguments, out),
        Command::Bench(BenchCommand::Search(arguments)) => commands::bench_parser::search(&arguments, out),
        Command::Bench(BenchCommand::Ask(arguments)) => commands::bench_ask::run(&arguments, out),
        Command::Bench(BenchCommand::Serve(arguments)) => commands::bench_serve::run(&arguments, out),
        Command::Completions(arguments) => commands::completions::run(&arguments, out),
        Command::Man(arguments) => commands::man::run(&arguments, out),
    }
}

/// Returns the message of an error followed by its causes, except those that the message already has.
fn with_causes(error: &anyhow::Error) -> String {
    let mut message = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if message.is_empty() {
            message = cause;
        } else if !message.contains(&cause) {
            message = format!("{message}: {cause}");
        }
    }
    message
}

/// Returns whether training stopped at a checkpoint because it was told to.
fn was_stopped(error: &anyhow::Error) -> bool {
    let is_experiment = |error: &ExperimentError| matches!(error, ExperimentError::Stopped { .. });
    error.is::<stop::Stopped>() || error.downcast_ref().is_some_and(is_experiment)
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
