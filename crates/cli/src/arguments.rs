//! Every command, flag and help text, in one place.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Train a small private semantic parser from few labeled and many unlabeled questions.
#[derive(Debug, Parser)]
#[command(name = "xpr", version, propagate_version = true, arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Demo(DemoArguments),
    Exec(ExecArguments),
    #[command(subcommand)]
    Data(DataCommand),
    #[command(subcommand)]
    Bench(BenchCommand),
}

/// Ask an embedded world a few questions and see what right and wrong programs come to.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  xpr demo\n  xpr demo --json")]
pub(crate) struct DemoArguments {
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Execute programs, one a line of standard input.
///
/// Prints one line each: what came of it, a tab, and the denotation or the reason.
#[derive(Debug, Args)]
#[command(after_help = "\
Answers:
  value <TAB> denotation      it found something
  empty <TAB> (list)          it ran and found nothing
  type-error <TAB> reason     it put something where something else belongs
  error <TAB> reason          it failed otherwise, or ran into a limit
  parse-error <TAB> reason    it is not a program; the reason names the column

Examples:
  echo '( call SW.listValue ( call SW.getProperty en.meeting.annual_review ( string date ) ) )' | \\
    xpr exec --world calendar
  xpr exec --triples my.tsv < programs.txt")]
pub(crate) struct ExecArguments {
    #[command(flatten)]
    pub(crate) world: WorldArguments,
}

/// The world that programs run in.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct WorldArguments {
    /// One of the eight Overnight worlds, which are built in.
    #[arg(long, value_name = "NAME", value_parser = clap::builder::PossibleValuesParser::new(xpr_exec::overnight::WORLDS))]
    pub(crate) world: Option<String>,
    /// Your own knowledge base: a subject, a property and an object a line, tabs between.
    #[arg(long, value_name = "FILE")]
    pub(crate) triples: Option<PathBuf>,
}

/// Look at datasets.
#[derive(Debug, Subcommand)]
pub(crate) enum DataCommand {
    Import(ImportArguments),
}

/// Check a folder with a dataset and show what is in it.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  xpr data import overnight --from data\n  xpr data import overnight --from data --json"
)]
pub(crate) struct ImportArguments {
    /// What kind of dataset it is.
    #[arg(value_enum)]
    pub(crate) dataset: Dataset,
    /// The folder.
    #[arg(long, value_name = "DIR", env = "XPR_DATA")]
    pub(crate) from: PathBuf,
    /// Print one JSON object instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Dataset {
    /// Eight domains of questions about small knowledge bases (Wang et al. 2015).
    Overnight,
}

/// Measure speed on this machine.
#[derive(Debug, Subcommand)]
pub(crate) enum BenchCommand {
    Exec(BenchExecArguments),
}

/// Execute a domain's training programs over and over on one core.
///
/// Measures two things: from text to printed answer (parse, run, print), and running alone, from a program that
/// is already compiled to an answer that is not yet printed. Each figure is the median over passes.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  xpr bench exec --world calendar --data data\n  xpr bench exec --world all --data data --json"
)]
pub(crate) struct BenchExecArguments {
    /// One of the eight Overnight worlds, or `all` of them.
    #[arg(long, value_name = "NAME", default_value = "all",
          value_parser = clap::builder::PossibleValuesParser::new(xpr_exec::overnight::WORLDS.into_iter().chain(["all"])))]
    pub(crate) world: String,
    /// The folder with the benchmark's data.
    #[arg(long, value_name = "DIR", env = "XPR_DATA")]
    pub(crate) data: PathBuf,
    /// How long to measure each figure of each world.
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0, value_parser = seconds)]
    pub(crate) seconds: f64,
    /// Print one JSON object instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds <= 3600.0 => Ok(seconds),
        _ => Err("expected a number of seconds above 0 and up to 3600".into()),
    }
}
