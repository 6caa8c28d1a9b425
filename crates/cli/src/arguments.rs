//! Every command, flag and help text, in one place.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use xpr_learn::objectives;

/// Train a small private semantic parser from few labeled and many unlabeled questions.
#[derive(Debug, Parser)]
#[command(name = "xpr", version, propagate_version = true, arg_required_else_help = true)]
#[command(after_help = "\
Examples:
  xpr demo
  xpr init --db sqlite:music.db --labeled pairs.tsv --unlabeled log.txt
  xpr train music/xpr.toml --out music/run
  xpr ask music/run \"which albums have more than ten songs\"

`xpr COMMAND --help` has examples of each command.")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Demo(DemoArguments),
    Train(TrainArguments),
    Sweep(SweepArguments),
    Eval(EvalArguments),
    Report(ReportArguments),
    Ask(AskArguments),
    Objective(ObjectiveArguments),
    Exec(ExecArguments),
    Init(InitArguments),
    #[command(subcommand)]
    Data(DataCommand),
    #[command(subcommand)]
    Bench(BenchCommand),
    Completions(CompletionsArguments),
    Man(ManArguments),
}

/// See all of it at work on a film collection that is built in: no files needed, minutes on two cores.
///
/// Makes a project folder, trains a parser with few labels (the lower bound), with the same labels and questions nobody labeled (sparse
/// MML), and with all labels (the upper bound); shows what running programs tells, compares the three on test questions, and answers
/// new ones. Given again after it was stopped, it goes on where it was; what is finished is not trained again.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  xpr demo\n  xpr demo --all --seed 1\n  xpr demo --out /tmp/films --json"
)]
pub(crate) struct DemoArguments {
    /// The project folder.
    #[arg(long, value_name = "DIR", default_value = "xpr-demo")]
    pub(crate) out: PathBuf,
    /// Compare all five objectives of the paper, not sparse MML alone.
    #[arg(long)]
    pub(crate) all: bool,
    /// Train anew, whatever is finished.
    #[arg(long)]
    pub(crate) fresh: bool,
    /// Decides everything that is random; each seed has runs of its own.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Change a setting of all runs.
    #[arg(long, value_name = "KEY=VALUE", hide = true)]
    pub(crate) set: Vec<String>,
    /// How many threads work; 0 for one a core. Does not change the result.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) threads: usize,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

/// What an experiment is made of.
#[derive(Debug, Args)]
pub(crate) struct ExperimentArguments {
    /// The experiment, a TOML file; without one, all settings have their defaults.
    #[arg(value_name = "EXPERIMENT_FILE")]
    pub(crate) experiment: Option<PathBuf>,
    /// Change a setting of the experiment.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// The folder with the dataset; the setting data.folder.
    #[arg(long, value_name = "DIR", env = "XPR_DATA", hide_env_values = true)]
    pub(crate) data: Option<PathBuf>,
    /// Word vectors in GloVe's text format; the setting data.embeddings.
    #[arg(long, value_name = "FILE", env = "XPR_EMBEDDINGS", hide_env_values = true)]
    pub(crate) embeddings: Option<PathBuf>,
}

/// Train a parser, and evaluate it.
///
/// Writes a run folder. If it is stopped, --resume goes on from its last checkpoint and comes to the same result, bit for
/// bit.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  xpr train --data data --embeddings glove.txt --out runs/calendar
  xpr train experiments/overnight.toml --set data.domain=housing --set data.fraction=0.3 --out runs/housing-30
  xpr train --resume --out runs/housing-30")]
pub(crate) struct TrainArguments {
    #[command(flatten)]
    pub(crate) experiment: ExperimentArguments,
    /// The run folder.
    #[arg(long, value_name = "RUN")]
    pub(crate) out: PathBuf,
    /// Go on with the run in the folder; its own settings count.
    #[arg(long, conflicts_with_all = ["experiment", "set", "tune"])]
    pub(crate) resume: bool,
    /// First choose learn.weight among these: train with each on a part of the labeled examples, compare on the rest
    /// (100, or half of them), and then train on all with the best. Tuning that was killed goes on where it was.
    #[arg(
        long,
        value_name = "WEIGHTS",
        value_delimiter = ',',
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "0.1,0.3,1"
    )]
    pub(crate) tune: Option<Vec<f64>>,
    /// Where the parsers of a committee (learn.committee) are kept. Runs that differ only in what they do with unlabeled
    /// questions can share them; without this they are in the run folder.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) members: Option<PathBuf>,
    /// How many threads work; 0 for one a core. Does not change the result.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) threads: usize,
    /// Print the evaluation as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Train many parsers: a grid of settings, each cell a run of its own.
///
/// Finished cells are skipped and begun ones gone on with, so a sweep that was stopped is given again as it was. Cells about a database
/// that is not there are left out, and told.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  xpr sweep experiments/paper-30.toml --list
  xpr sweep experiments/paper-30.toml --data data --embeddings glove.txt --out sweeps/paper-30
  xpr sweep experiments/paper-30.toml --out sweeps/paper-30 --jobs 4 --json")]
pub(crate) struct SweepArguments {
    /// The sweep, a TOML file of experiments and grids.
    #[arg(value_name = "SWEEP")]
    pub(crate) sweep: PathBuf,
    /// The folder of the cells' run folders.
    #[arg(long, value_name = "FOLDER", required_unless_present = "list")]
    pub(crate) out: Option<PathBuf>,
    /// Train nothing: print the `xpr train` command of each cell.
    #[arg(long)]
    pub(crate) list: bool,
    /// How many cells are trained side by side.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) jobs: u16,
    /// How many threads each of them has. Does not change the result.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) threads: usize,
    /// The folder with the dataset; the setting data.folder.
    #[arg(long, value_name = "DIR", env = "XPR_DATA", hide_env_values = true)]
    pub(crate) data: Option<PathBuf>,
    /// Word vectors in GloVe's text format; the setting data.embeddings.
    #[arg(long, value_name = "FILE", env = "XPR_EMBEDDINGS", hide_env_values = true)]
    pub(crate) embeddings: Option<PathBuf>,
    /// Print the table as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Evaluate a trained parser on the test questions of its dataset.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  xpr eval runs/calendar --data data\n  xpr eval runs/calendar --data data --beam 16 --json"
)]
pub(crate) struct EvalArguments {
    /// The run folder.
    #[arg(value_name = "RUN")]
    pub(crate) run: PathBuf,
    /// The folder with the dataset; the one it was trained with if not given.
    #[arg(long, value_name = "DIR", env = "XPR_DATA", hide_env_values = true)]
    pub(crate) data: Option<PathBuf>,
    /// Programs to look for; as in the run's settings if not given.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) beam: Option<u16>,
    /// Print one JSON object instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Say what runs came to: tables beside the paper's, curves, confidence, errors.
///
/// Prints tables; --html writes a page that also has figures and every wrong answer, and needs neither network nor script. Runs that
/// differ in split and seed only are taken together.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  xpr report runs/calendar
  xpr report sweeps/paper-30 --html paper-30.html
  xpr report runs/none runs/sparse --markdown results.md --json")]
pub(crate) struct ReportArguments {
    /// Run folders, or folders of sweeps.
    #[arg(value_name = "RUN|SWEEP", required = true)]
    pub(crate) folders: Vec<PathBuf>,
    /// Also write the report as one HTML page.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Also write the tables as Markdown.
    #[arg(long, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,
    /// Also write one line a run as CSV.
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
    /// Wrong answers of each group of runs in the page; by default a thousand in all.
    #[arg(long, value_name = "N")]
    pub(crate) errors: Option<usize>,
    /// Print one JSON object instead of tables.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Ask a trained parser a question.
///
/// Shows the program it chose, what that comes to, and what else it thought of.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  xpr ask runs/calendar \"when is the annual review\"\n  xpr ask runs/calendar \"who attends it\" --json"
)]
pub(crate) struct AskArguments {
    /// The run folder.
    #[arg(value_name = "RUN")]
    pub(crate) run: PathBuf,
    /// The question.
    pub(crate) question: String,
    /// Programs to look for.
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) beam: u16,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

/// What an objective says of some candidates, for checking an implementation of one's own against this one.
///
/// Prints one JSON object: the loss, what the model should believe of each candidate (q), and the derivative of the loss by
/// each log-probability (credit).
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  xpr objective sparse --log-probs=-0.5,-1.2,-2.3 --rewarded=1,0,1")]
pub(crate) struct ObjectiveArguments {
    /// The objective.
    #[arg(value_parser = clap::builder::PossibleValuesParser::new(objectives::ALL.map(|objective| objective.name())))]
    pub(crate) objective: String,
    /// The log-probabilities of the candidates.
    #[arg(long, value_name = "L1,L2,…", value_delimiter = ',', allow_hyphen_values = true, required = true)]
    pub(crate) log_probs: Vec<f64>,
    /// For each candidate, 1 if it is rewarded, else 0.
    #[arg(long, value_name = "R1,R2,…", value_delimiter = ',', required = true,
          value_parser = clap::builder::PossibleValuesParser::new(["0", "1"]))]
    pub(crate) rewarded: Vec<String>,
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

/// Look at datasets, and bring them into shape.
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  xpr data check --db sqlite:music.db --labeled pairs.tsv
  xpr data import text2sql --from data/geography --out geography")]
pub(crate) enum DataCommand {
    #[command(subcommand)]
    Import(ImportCommand),
    Check(CheckArguments),
}

/// Read a public dataset.
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  xpr data import overnight --from data
  xpr data import text2sql --from data/geography --out geography")]
pub(crate) enum ImportCommand {
    Overnight(ImportOvernightArguments),
    #[command(name = "text2sql")]
    Text2Sql(ImportText2SqlArguments),
}

/// Check a folder with Overnight and show what is in it: eight domains of questions about small knowledge bases.
///
/// It is read where it is: name the folder with --data when training.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  xpr data import overnight --from data\n  xpr data import overnight --from data --json"
)]
pub(crate) struct ImportOvernightArguments {
    /// The folder.
    #[arg(long, value_name = "DIR", env = "XPR_DATA", hide_env_values = true)]
    pub(crate) from: PathBuf,
    /// Print one JSON object instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Make a project folder from a dataset of text2sql-data: GeoQuery and its sisters.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  xpr data import text2sql --from text2sql-data/data --name geography --out geo
  xpr data import text2sql --from data/geography --out geo-query --split query --dev-apart")]
pub(crate) struct ImportText2SqlArguments {
    /// The folder with NAME.json, and NAME.sqlite if there is one.
    #[arg(long, value_name = "DIR", env = "XPR_DATA", hide_env_values = true)]
    pub(crate) from: PathBuf,
    /// The dataset, if there are several in the folder.
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// The project folder.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: PathBuf,
    /// How training and test are divided.
    #[arg(long, value_enum, default_value_t = DivisionName::Question)]
    pub(crate) split: DivisionName,
    /// Which fold is the test, in datasets that have numbered folds.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) fold: u32,
    /// Write the development part to dev.tsv instead of adding it to the training part.
    #[arg(long)]
    pub(crate) dev_apart: bool,
    /// Write over files in the folder.
    #[arg(long)]
    pub(crate) force: bool,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum DivisionName {
    /// Test questions may mean queries that training has in other words.
    Question,
    /// Queries in the test are new.
    Query,
}

/// A database and questions about it.
#[derive(Debug, Args)]
pub(crate) struct QuestionFiles {
    /// The database: sqlite: and a path. It is read, never changed.
    #[arg(long, value_name = "sqlite:FILE")]
    pub(crate) db: String,
    /// Questions with their SQL: .tsv (question, SQL), .csv with a header, .jsonl or .json.
    #[arg(long, value_name = "FILE")]
    pub(crate) labeled: PathBuf,
    /// Questions without SQL: one a line, or in the same formats.
    #[arg(long, value_name = "FILE")]
    pub(crate) unlabeled: Option<PathBuf>,
}

/// Say how much of your own data a parser can learn from.
///
/// For each question with its SQL: does it run, can the grammar write it, does what it writes find the same, and are its constants
/// among the values that the question suggests? The parser can only write those. What fails is listed, with its line and why.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  xpr data check --db sqlite:music.db --labeled pairs.tsv
  xpr data check --db sqlite:music.db --labeled pairs.csv --unlabeled log.txt --json")]
pub(crate) struct CheckArguments {
    #[command(flatten)]
    pub(crate) files: QuestionFiles,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Make a project folder for your own database.
///
/// Reads the database and your questions, says what it found, and writes an experiment that can be trained as it is. The questions are
/// copied; the database stays where it is.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  xpr init --db sqlite:music.db --labeled pairs.tsv
  xpr init --db sqlite:music.db --labeled pairs.csv --unlabeled log.txt --out music")]
pub(crate) struct InitArguments {
    #[command(flatten)]
    pub(crate) files: QuestionFiles,
    /// Questions with their SQL that are not trained on; without them, and without a column `split`, a tenth of the labeled
    /// ones is held out.
    #[arg(long, value_name = "FILE")]
    pub(crate) test: Option<PathBuf>,
    /// The project folder; named after the database if not given.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: Option<PathBuf>,
    /// Write over files in the folder.
    #[arg(long)]
    pub(crate) force: bool,
}

/// Measure speed on this machine.
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  xpr bench exec --db sqlite:music.db --labeled pairs.tsv
  xpr bench train experiments/overnight.toml --data data")]
pub(crate) enum BenchCommand {
    Exec(BenchExecArguments),
    Train(BenchTrainArguments),
    Search(BenchSearchArguments),
}

/// Take supervised training steps, and say how long they take and how near the machine's peak they come.
///
/// The peak is measured in the same run: large matrix products on all threads. Each figure is the median over steps.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  xpr bench train --data data --embeddings glove.txt
  xpr bench train --data data --set model.hidden=256 --set model.feed_forward=1024 --json")]
pub(crate) struct BenchTrainArguments {
    #[command(flatten)]
    pub(crate) experiment: ExperimentArguments,
    /// Steps to measure.
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u32).range(3..=100_000))]
    pub(crate) steps: u32,
    /// How many threads work; 0 for one a core.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) threads: usize,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Search programs for batches of questions, and for one question at a time.
///
/// The parser is trained for a few steps first, so that its programs have a usual length.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  xpr bench search --data data --embeddings glove.txt\n  xpr bench search --data data --beam 16 --json"
)]
pub(crate) struct BenchSearchArguments {
    #[command(flatten)]
    pub(crate) experiment: ExperimentArguments,
    /// Programs to look for.
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) beam: u16,
    /// Questions a batch.
    #[arg(long, value_name = "N", default_value_t = 12, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) batch: u16,
    /// Steps to train before.
    #[arg(long, value_name = "N", default_value_t = 300)]
    pub(crate) steps: usize,
    /// How many threads work; 0 for one a core.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) threads: usize,
    /// Print one JSON object instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Execute a domain's training programs, or the queries of your own file, over and over on one core.
///
/// Measures two things: from text to printed answer (parse, run, print), and running alone, from a program that
/// is already compiled to an answer that is not yet printed. Of queries to a database: from text to printed answer
/// (check, prepare, run, print), and the same again with outcomes remembered, as in training. Each figure is the median over passes.
/// A query that would not end shows how well the time limit is kept.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  xpr bench exec --world calendar --data data
  xpr bench exec --world all --data data --json
  xpr bench exec --db sqlite:music.db --labeled pairs.tsv")]
pub(crate) struct BenchExecArguments {
    /// One of the eight Overnight worlds, or `all` of them.
    #[arg(long, value_name = "NAME", default_value = "all",
          value_parser = clap::builder::PossibleValuesParser::new(xpr_exec::overnight::WORLDS.into_iter().chain(["all"])))]
    pub(crate) world: String,
    /// The folder with the benchmark's data.
    #[arg(
        long,
        value_name = "DIR",
        env = "XPR_DATA",
        hide_env_values = true,
        required_unless_present = "db"
    )]
    pub(crate) data: Option<PathBuf>,
    /// Your own database instead: sqlite: and a path.
    #[arg(long, value_name = "sqlite:FILE", requires = "labeled", conflicts_with = "world")]
    pub(crate) db: Option<String>,
    /// Questions with their SQL, whose queries are run.
    #[arg(long, value_name = "FILE", requires = "db")]
    pub(crate) labeled: Option<PathBuf>,
    /// How long to measure each figure of each world.
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0, value_parser = seconds)]
    pub(crate) seconds: f64,
    /// Print one JSON object instead of a table.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Print a script that completes commands and flags in a shell.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  xpr completions bash > ~/.local/share/bash-completion/completions/xpr
  xpr completions zsh > ~/.zfunc/_xpr
  xpr completions fish > ~/.config/fish/completions/xpr.fish")]
pub(crate) struct CompletionsArguments {
    /// The shell.
    pub(crate) shell: clap_complete::Shell,
}

/// Print the manual page of a command, or write those of all.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  xpr man | man -l -
  xpr man data check | man -l -
  xpr man --out ~/.local/share/man/man1")]
pub(crate) struct ManArguments {
    /// The command, such as `data check`; none for `xpr` itself.
    #[arg(value_name = "COMMAND", conflicts_with = "out")]
    pub(crate) command: Vec<String>,
    /// Write one page a command into a folder.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds <= 3600.0 => Ok(seconds),
        _ => Err("expected a number of seconds above 0 and up to 3600".into()),
    }
}
