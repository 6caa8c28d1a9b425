//! Every command, flag and help text. All of them are in this one file, so that the same flag has the same words in every command.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use xpr_learn::objectives;
use xpr_run::SweepPart;

/// Train a small private semantic parser from few labeled and many unlabeled questions.
#[derive(Debug, Parser)]
#[command(name = "xpr", version, propagate_version = true, arg_required_else_help = true)]
#[command(after_help = "\
Examples:
  xpr demo
  xpr init --db music.db --out music
  xpr ask music/run \"which albums have more than ten songs\"
  xpr init --db music.db --labeled pairs.tsv --unlabeled log.txt --out taught
  xpr train taught/xpr.toml --out taught/run

`xpr COMMAND --help` shows examples of each command.

Exit status:
  0  success
  1  nothing was found: the query of `xpr ask` fails, or no query of `xpr data check` runs
  2  an error, with a message on standard error
  75 training stopped at a checkpoint, as USR1 or TERM told it to; the same command goes on, for `xpr train` with --resume")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Demo(DemoArguments),
    Train(TrainArguments),
    Pretrain(PretrainArguments),
    Base(BaseArguments),
    Sweep(SweepArguments),
    Compare(CompareArguments),
    Eval(EvalArguments),
    Report(ReportArguments),
    Ask(AskArguments),
    Teach(TeachArguments),
    Improve(ImproveArguments),
    Simulate(SimulateArguments),
    Serve(ServeArguments),
    Log(LogArguments),
    Mcp(McpArguments),
    Objective(ObjectiveArguments),
    Exec(ExecArguments),
    Init(InitArguments),
    Vectors(VectorsArguments),
    #[command(subcommand)]
    Data(DataCommand),
    #[command(subcommand)]
    Bench(BenchCommand),
    Completions(CompletionsArguments),
    Man(ManArguments),
}

/// The number of threads.
#[derive(Debug, Args)]
pub(crate) struct ThreadArguments {
    /// Number of threads; 0 for one per core. Does not change the result.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = parse_threads)]
    pub(crate) threads: usize,
}

/// The form of a command's output.
#[derive(Debug, Args)]
pub(crate) struct OutputArguments {
    /// Print JSON instead of text.
    #[arg(long)]
    pub(crate) json: bool,
}

/// The files of a dataset, which differ from machine to machine.
#[derive(Debug, Args)]
pub(crate) struct DataPaths {
    /// Folder of the dataset; the setting data.folder.
    #[arg(long, value_name = "DIR", env = "XPR_DATA", hide_env_values = true)]
    pub(crate) data: Option<PathBuf>,
    /// Word vectors in GloVe's text format, or a folder that has the file of the setting data.embeddings.
    #[arg(long, value_name = "PATH", env = "XPR_EMBEDDINGS", hide_env_values = true)]
    pub(crate) embeddings: Option<PathBuf>,
}

/// The size of a search.
#[derive(Debug, Args)]
pub(crate) struct BeamArguments {
    /// Beam size.
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) beam: u16,
}

/// The run of a trained parser.
#[derive(Debug, Args)]
pub(crate) struct TrainedRunArguments {
    /// Run folder of a trained parser.
    #[arg(value_name = "RUN")]
    pub(crate) run: PathBuf,
    #[command(flatten)]
    pub(crate) details: DetailArguments,
}

/// How much a command says about its input.
#[derive(Debug, Args)]
pub(crate) struct DetailArguments {
    /// Also say how the database is read: from a copy, or in place.
    #[arg(long, short)]
    pub(crate) verbose: bool,
}

/// Train, compare and query parsers on a built-in film database: no files needed, minutes on two cores.
///
/// Creates a project folder, and asks the built-in base questions about films, which it has never seen. Shows what executing its
/// programs tells about a log of questions without SQL. Then trains it on the log, and on the log and 20 labels, compares the three on
/// test questions, and answers new questions. An interrupted demo resumes; finished runs are not trained again.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  xpr demo\n  xpr demo --all --seed 1\n  xpr demo --out /tmp/films --json"
)]
pub(crate) struct DemoArguments {
    /// Project folder to create.
    #[arg(long, value_name = "DIR", default_value = "xpr-demo")]
    pub(crate) out: PathBuf,
    /// Compare all five objectives of the paper instead of sparse MML only.
    #[arg(long)]
    pub(crate) all: bool,
    /// Delete earlier runs of this seed and train again.
    #[arg(long)]
    pub(crate) fresh: bool,
    /// Random seed; the setting train.seed. Each seed has its own runs.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) seed: u64,
    /// Override a setting of all runs.
    #[arg(long, value_name = "KEY=VALUE", hide = true)]
    pub(crate) set: Vec<String>,
    #[command(flatten)]
    pub(crate) pool: ThreadArguments,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
}

/// The settings of an experiment.
#[derive(Debug, Args)]
pub(crate) struct ExperimentArguments {
    /// Experiment file (TOML); without one, all settings have their defaults.
    #[arg(value_name = "EXPERIMENT_FILE")]
    pub(crate) experiment: Option<PathBuf>,
    /// Override a setting of the experiment.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    #[command(flatten)]
    pub(crate) paths: DataPaths,
}

/// Train a parser and evaluate it.
///
/// Writes a run folder. An interrupted run resumes from its last checkpoint with --resume, and its result is the same bit for bit.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  xpr train experiments/overnight.toml --data data --embeddings embeddings --out runs/calendar
  xpr train experiments/overnight.toml --set data.domain=housing --set data.fraction=0.3 --out runs/housing-30
  xpr train --resume --out runs/housing-30")]
pub(crate) struct TrainArguments {
    #[command(flatten)]
    pub(crate) experiment: ExperimentArguments,
    /// Start from the parser that `xpr pretrain` or `xpr base` wrote to this folder, or from `built-in`; the setting
    /// base.folder. Labels are optional then, and with --set train.steps=0 the run answers as the base does.
    #[arg(long, value_name = "BASE")]
    pub(crate) from: Option<PathBuf>,
    /// Start from nothing, although the experiment names a base. Settings that it does not give have other defaults then.
    #[arg(long, conflicts_with = "from")]
    pub(crate) no_base: bool,
    /// Run folder to write.
    #[arg(long, value_name = "RUN")]
    pub(crate) out: PathBuf,
    /// Resume the run in the folder, with the settings stored in it.
    #[arg(long, conflicts_with_all = ["experiment", "set", "tune", "from", "no_base"])]
    pub(crate) resume: bool,
    /// Choose learn.weight among these first (0.1, 0.3, 0.5 and 1 if none are given): train with each on part of the
    /// labeled examples, compare on the rest (100, or half of them if there are fewer than 200), then train on all of them
    /// with the best weight. The same command resumes interrupted tuning.
    #[arg(
        long,
        value_name = "WEIGHTS",
        value_delimiter = ',',
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "0.1,0.3,0.5,1"
    )]
    pub(crate) tune: Option<Vec<f64>>,
    /// Folder of the ensemble's members (learn.ensemble); in the run folder if not given. Runs that differ only in their
    /// use of unlabeled questions can share it.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) members: Option<PathBuf>,
    /// End when standard input closes, as it does when the process that writes to it ends.
    #[arg(long, hide = true)]
    pub(crate) until_stdin_closes: bool,
    /// Also show figures of the unlabeled questions: how many candidates are rewarded, and the like.
    #[arg(long)]
    pub(crate) verbose: bool,
    #[command(flatten)]
    pub(crate) pool: ThreadArguments,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
}

/// Train a parser on many databases, for `xpr train --from`.
///
/// Writes a folder with a base: a parser that knows no database in particular. Evaluates it on databases that are held out. The
/// same interruption and --resume as with `xpr train`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  xpr pretrain experiments/pretraining/spider.toml --data data --embeddings vectors.txt --out base
  xpr pretrain --resume --out base
  xpr train music/xpr.toml --from base --out music/run")]
pub(crate) struct PretrainArguments {
    /// File with the settings of pretraining (TOML): folders of databases, sizes and steps.
    #[arg(value_name = "FILE", required_unless_present = "resume")]
    pub(crate) file: Option<PathBuf>,
    /// Override a setting.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    #[command(flatten)]
    pub(crate) paths: PretrainPaths,
    /// Folder to write.
    #[arg(long, value_name = "BASE")]
    pub(crate) out: PathBuf,
    /// Resume pretraining in the folder, with the settings stored in it.
    #[arg(long, conflicts_with_all = ["file", "set"])]
    pub(crate) resume: bool,
    #[command(flatten)]
    pub(crate) pool: ThreadArguments,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
}

/// Print the card of the built-in base, or make its files anew.
///
/// The base is a parser that was pretrained on many databases. Parsers of other databases start from it (`xpr init`). Without
/// arguments, prints what it was trained on, under which licences, and how often it is right.
///
/// With the settings of pretraining, makes the files of such a base from public files: vectors of frequent words and of those of the
/// databases, the parser, and both packed into few bytes. Compares the packed parser with the one that was trained on the
/// databases that are held out. The same command resumes what was interrupted. --from packs a parser that `xpr pretrain` made.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  xpr base
  xpr base experiments/pretraining/spider.toml --data data --model models/all-MiniLM-L6-v2 --words glove.6B.100d.txt \\
    --out crates/base/data
  xpr base --from pretrained --embeddings vectors.txt --out packed
  xpr train music/xpr.toml --from packed --out music/run")]
pub(crate) struct BaseArguments {
    /// File with the settings of pretraining (TOML).
    #[arg(value_name = "FILE", requires = "out", conflicts_with = "from")]
    pub(crate) file: Option<PathBuf>,
    /// Only learn the patterns of questions anew, and write them to the folder of the other files.
    #[arg(long, requires = "file")]
    pub(crate) patterns: bool,
    /// Override a setting of pretraining.
    #[arg(long, value_name = "KEY=VALUE", requires = "file")]
    pub(crate) set: Vec<String>,
    /// Folder that the setting data.folders is relative to; that of the file if not given.
    #[arg(long, value_name = "DIR", env = "XPR_DATA", hide_env_values = true)]
    pub(crate) data: Option<PathBuf>,
    /// Folder of a sentence encoder, which the word vectors are made with.
    #[arg(long, value_name = "DIR", requires = "file")]
    pub(crate) model: Option<PathBuf>,
    /// File whose lines begin with a word, the most frequent first, such as one of GloVe.
    #[arg(long, value_name = "FILE", requires = "file")]
    pub(crate) words: Option<PathBuf>,
    /// Number of words of that file.
    #[arg(long, value_name = "N", default_value_t = 30_000, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) frequent: u32,
    /// Size of the word vectors.
    #[arg(long, value_name = "N", default_value_t = 128, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub(crate) size: u32,
    /// Folder of what is made on the way, from which an interrupted command resumes.
    #[arg(long, value_name = "DIR", default_value = "base-work")]
    pub(crate) work: PathBuf,
    /// Pack the parser that `xpr pretrain` wrote to this folder.
    #[arg(long, value_name = "BASE", requires_all = ["embeddings", "out"])]
    pub(crate) from: Option<PathBuf>,
    /// Word vectors that the parser of --from was pretrained with.
    #[arg(long, value_name = "PATH", requires = "from")]
    pub(crate) embeddings: Option<PathBuf>,
    /// Folder to write the files to.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) pool: ThreadArguments,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
}

/// The files of pretraining, which differ from machine to machine.
#[derive(Debug, Args)]
pub(crate) struct PretrainPaths {
    /// Folder that the setting data.folders is relative to; that of the file if not given.
    #[arg(long, value_name = "DIR", env = "XPR_DATA", hide_env_values = true)]
    pub(crate) data: Option<PathBuf>,
    /// Word vectors in GloVe's text format, or a folder that has the file of the setting data.embeddings.
    #[arg(long, value_name = "PATH", env = "XPR_EMBEDDINGS", hide_env_values = true)]
    pub(crate) embeddings: Option<PathBuf>,
}

/// Train a grid of experiments; each cell is a run.
///
/// Finished cells are skipped and unfinished ones resumed, so the same command continues an interrupted sweep. Cells whose data is
/// missing are left out, with a message.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  xpr sweep experiments/paper-30.toml --list
  xpr sweep experiments/paper-30.toml --data data --embeddings embeddings --out sweeps/paper-30
  xpr sweep experiments/paper-30.toml --out sweeps/paper-30 --jobs 4 --json
  xpr sweep experiments/paper-30.toml --data data --out sweeps/paper-30 --shard 0/4
  xpr sweep experiments/paper-30.toml --data data --out sweeps/paper-30 --slurm
  xpr sweep experiments/paper-30.toml --data data --out sweeps/paper-30 --k8s | kubectl apply -f -
  xpr sweep experiments/paper-30.toml --out sweeps/paper-30 --status")]
pub(crate) struct SweepArguments {
    /// Sweep file (TOML): experiments and grids of settings.
    #[arg(value_name = "SWEEP")]
    pub(crate) sweep: PathBuf,
    /// Folder for the run folders of all cells.
    #[arg(long, value_name = "FOLDER", required_unless_present = "list")]
    pub(crate) out: Option<PathBuf>,
    /// Print the `xpr train` command of each cell and train nothing.
    #[arg(long, group = "instead")]
    pub(crate) list: bool,
    /// Show which cells are finished, in training, waiting or left behind, wherever they are trained.
    #[arg(long, group = "instead")]
    pub(crate) status: bool,
    /// Train part I of N of the cells, I from 0 to N-1. The parts may run on machines that share nothing but the folder: no cell is trained twice
    /// at a time, and a part that is done takes the cells of parts that died.
    #[arg(long, value_name = "I/N", value_parser = parse_part, group = "instead")]
    pub(crate) shard: Option<SweepPart>,
    /// Submit the parts to Slurm as a job array, and a job that depends on it for what is left and for the table. Needs sbatch.
    #[arg(long, group = "instead")]
    pub(crate) slurm: bool,
    /// Print an Indexed Job of Kubernetes that trains the parts. The sweep and the folder are relative to the volume.
    #[arg(long, group = "instead")]
    pub(crate) k8s: bool,
    #[command(flatten)]
    pub(crate) scheduler: SchedulerArguments,
    #[command(flatten)]
    pub(crate) training: CellArguments,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
}

/// What a scheduler is asked for.
#[derive(Debug, Args)]
#[command(next_help_heading = "Schedulers")]
pub(crate) struct SchedulerArguments {
    /// Number of parts; by default as many as take ten minutes or more each.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) tasks: Option<u16>,
    /// Minutes that a cell takes; by default what finished cells with similar settings took, and 30 if none is finished.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) cell_minutes: Option<u32>,
    /// Megabytes of memory that a cell takes; by default what finished cells took, and 2000 if none is finished.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) cell_memory: Option<u32>,
    /// Another option of sbatch, such as --sbatch=--partition=long; may be given several times.
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true, requires = "slurm")]
    pub(crate) sbatch: Vec<String>,
    /// Container image for Kubernetes, such as one that deploy/Containerfile makes.
    #[arg(long, value_name = "IMAGE", default_value = "xpr")]
    pub(crate) image: String,
    /// Volume claim for Kubernetes that has the sweep, its data and the folder for the runs.
    #[arg(long, value_name = "NAME", default_value = "xpr")]
    pub(crate) volume_claim: String,
}

/// How the cells of a sweep or a comparison are trained.
#[derive(Debug, Args)]
pub(crate) struct CellArguments {
    /// Number of runs trained in parallel.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(crate) jobs: u16,
    /// Number of threads per run; 0 for one per core. Does not change the result.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = parse_threads)]
    pub(crate) threads: usize,
    #[command(flatten)]
    pub(crate) paths: DataPaths,
}

/// Compare experiments on held-out training questions, to choose settings. Test files are not read.
///
/// Trains every experiment on every domain with every seed, and evaluates it on training questions that are held out, the same for
/// all experiments. Prints the accuracies, and the difference of each experiment to the first with a 95 % confidence interval.
/// Each training is a run folder. Finished runs are reused and unfinished ones resumed, so the same command continues an
/// interrupted comparison.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  xpr compare experiments/overnight.toml --vary learn.objective=none,sparse --set data.fraction=0.3 --out compare/sparse
  xpr compare a.toml b.toml --domains calendar,housing --seeds 5 --out compare/a-b --json
  xpr compare a.toml a.toml:train.warmup=1500,learn.start=1500 --from rest --out compare/warmup
  xpr compare log.toml:train.steps=0 log.toml --base base --databases data/spider/dev --from transductive --out compare/log")]
pub(crate) struct CompareArguments {
    /// Experiment file (TOML), or FILE.toml:KEY=VALUE,KEY=VALUE for the file with other settings. The others are compared with the
    /// first.
    #[arg(value_name = "EXPERIMENT", required = true)]
    pub(crate) experiments: Vec<String>,
    /// Make an experiment of each file with each of these values; given several times, with each combination.
    #[arg(long, value_name = "KEY=VALUE,VALUE")]
    pub(crate) vary: Vec<String>,
    /// Override a setting of all experiments.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Number of seeds; the setting train.seed is 0, 1, 2 and so on.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) seeds: u16,
    /// Domains of Overnight; that of the experiments if not given.
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        value_parser = clap::builder::PossibleValuesParser::new(xpr_exec::overnight::WORLDS)
    )]
    pub(crate) domains: Vec<String>,
    /// Folder of databases, each in a folder of its own with its questions, instead of the data of the experiments. Databases with too
    /// few questions are left out.
    #[arg(long, value_name = "DIR", conflicts_with = "domains")]
    pub(crate) databases: Option<PathBuf>,
    /// Start from the parser that `xpr pretrain` or `xpr base` wrote to this folder, or from `built-in`; the setting base.folder.
    /// FILE.toml:base.folder= starts from nothing.
    #[arg(long, value_name = "BASE")]
    pub(crate) base: Option<PathBuf>,
    /// Number of held-out questions per seed; each seed has others. By default, a quarter of those it can be, at most 100 labeled
    /// ones and no more than there are for all seeds; with --from transductive, all unlabeled questions, the same for each seed.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) held_out: Option<u32>,
    /// Which questions are held out.
    #[arg(long, value_enum, default_value_t = HeldOutFrom::Labeled)]
    pub(crate) from: HeldOutFrom,
    /// Folder for the run folders.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) training: CellArguments,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum HeldOutFrom {
    /// Labeled questions. They are not trained on.
    Labeled,
    /// Questions of a benchmark beyond data.fraction. They are not trained on.
    Rest,
    /// The same questions, but they stay in training without their programs.
    Transductive,
}

/// Evaluate a trained parser on the test questions of its dataset.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  xpr eval runs/calendar --data data
  xpr eval runs/calendar --data data --beam 16 --json
  xpr eval music/run --set eval.votes=false
  xpr eval base --databases data/spider/dev")]
pub(crate) struct EvalArguments {
    #[command(flatten)]
    pub(crate) trained: TrainedRunArguments,
    /// Folder of the dataset; the one used in training if not given.
    #[arg(long, value_name = "DIR", env = "XPR_DATA", hide_env_values = true)]
    pub(crate) data: Option<PathBuf>,
    /// File of labeled questions to evaluate on instead of the run's test questions. The run folder is not changed.
    #[arg(long, value_name = "FILE")]
    pub(crate) test: Option<PathBuf>,
    /// Folder of databases to evaluate a base on, which `xpr pretrain` wrote. Each is a folder with a database and its
    /// questions. The base is not changed.
    #[arg(long, value_name = "DIR", conflicts_with = "test")]
    pub(crate) databases: Option<PathBuf>,
    /// Also write a line of JSON for each question of the databases: its answer, whether it is right, and all candidates.
    #[arg(long, value_name = "FILE", requires = "databases")]
    pub(crate) predictions: Option<PathBuf>,
    /// Beam size; the run's setting eval.beam if not given. With another one, the run folder is not changed.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) beam: Option<u16>,
    /// Change a setting of `eval` for this evaluation, such as eval.votes=false. The run folder is not changed.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
}

/// Report the results of runs: accuracies next to the paper's, learning curves, calibration, errors.
///
/// Prints tables. --html writes a page that also has figures and wrong answers, and works without network and scripts. Runs that
/// differ only in split, fold and seed form a group.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  xpr report runs/calendar
  xpr report sweeps/paper-30 --html paper-30.html
  xpr report runs/none runs/sparse --markdown results.md --json")]
pub(crate) struct ReportArguments {
    /// Run folders or sweep folders.
    #[arg(value_name = "RUN|SWEEP", required = true)]
    pub(crate) folders: Vec<PathBuf>,
    /// Also write the report as one HTML page.
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Also write the tables as Markdown.
    #[arg(long, value_name = "FILE")]
    pub(crate) markdown: Option<PathBuf>,
    /// Also write one line per run as CSV.
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
    /// Number of wrong answers per group of runs in the page; by default a thousand in all.
    #[arg(long, value_name = "N")]
    pub(crate) errors: Option<usize>,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
}

/// Ask a trained parser questions.
///
/// Prints the chosen program, how sure its answer is, what it returns in English, its answer, and the other candidates. If no answer is sure,
/// it shows several. A question that is not about the data, or asks to change them, is declined with the reason. Without a question, it asks for questions
/// at a terminal, or answers those on standard input, one answer per line. \help lists the commands of a session.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  xpr ask runs/calendar \"when is the annual review\"
  xpr ask runs/calendar \"who attends it\" --json
  xpr ask music/run \"which albums have more than ten songs\" --csv
  xpr ask music/run
  xpr ask music/run --json < questions.txt")]
pub(crate) struct AskArguments {
    #[command(flatten)]
    pub(crate) trained: TrainedRunArguments,
    /// Question to answer; a session if not given.
    pub(crate) question: Option<String>,
    #[command(flatten)]
    pub(crate) search: BeamArguments,
    /// Confidence that an answer needs, from 0 to 1; below it, several answers are shown. 0 answers every question. The run's own, which was
    /// chosen by its labels, if not given.
    #[arg(long, value_name = "P", value_parser = parse_share)]
    pub(crate) min_confidence: Option<f64>,
    /// Print all rows of the answer.
    #[arg(long)]
    pub(crate) all_rows: bool,
    /// Print the rows of the answer as CSV, with the names of the columns first.
    #[arg(long, conflicts_with = "json")]
    pub(crate) csv: bool,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
}

/// Add a label to a project, and teach it to a trained parser in seconds.
///
/// The parser goes on from its weights on this label and those it knows, and says which other answers became right or wrong. The label is
/// added to the project's file of labels, with a line in feedback.jsonl. The taught parser becomes the current one of the run, and the one before it is kept; `xpr improve --rollback` goes
/// back.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  xpr teach music/run \"how many records are there\" \"SELECT count(*) FROM album\"")]
pub(crate) struct TeachArguments {
    #[command(flatten)]
    pub(crate) trained: TrainedRunArguments,
    /// Question.
    pub(crate) question: String,
    /// Its SQL.
    #[arg(value_name = "SQL")]
    pub(crate) program: String,
    #[command(flatten)]
    pub(crate) pool: ThreadArguments,
}

/// Train a better parser from what people said about answers, and use it if it is not worse.
///
/// Reads the question log of a served run. A confirmed or corrected program is a label; for a confirmed answer, the most probable program
/// that finds it is; answers that were said to be wrong are not rewarded; and a question without comment is unlabeled. The last thing that
/// somebody said about a question counts, whatever the current parser has learned. The new parser is compared with the current one on newly
/// confirmed questions that neither was trained on: three parsers are trained without a third of them each. It is promoted if it answers at
/// least as many of these right, and if it is not worse beyond doubt on the questions whose answers were known before. The current parser
/// goes on answering meanwhile, and if this command is killed, nothing has changed.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  xpr improve music/run
  xpr improve music/run --watch 50
  xpr improve music/run --list
  xpr improve music/run --rollback")]
pub(crate) struct ImproveArguments {
    #[command(flatten)]
    pub(crate) trained: TrainedRunArguments,
    /// Go back to the parser that was current before this one. The next one is trained when people have said more.
    #[arg(long, conflicts_with_all = ["watch", "list", "set", "log"])]
    pub(crate) rollback: bool,
    /// List the parsers of the run and how they compared.
    #[arg(long, conflicts_with_all = ["watch", "set", "log"])]
    pub(crate) list: bool,
    /// Stay, and improve the run whenever this many questions are newly confirmed, corrected or taken back.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) watch: Option<u32>,
    /// Question log; the one beside the run if not given.
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Option<PathBuf>,
    /// Override a setting of training.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    #[command(flatten)]
    pub(crate) pool: ThreadArguments,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
}

/// Offer a trained parser to language models, by the Model Context Protocol on standard input and output.
///
/// The tools are `ask`, `schema` and `run`, which change nothing. With --allow-feedback questions are logged, and there is also `confirm`,
/// which writes to the log what a person said about an answer, for `xpr improve`. When another parser of the run becomes the current one, it
/// answers from the next request on. `xpr serve` offers the same tools over HTTP, at /mcp.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  xpr mcp music/run
  xpr mcp music/run --allow-feedback")]
pub(crate) struct McpArguments {
    /// Run folder of a trained parser.
    #[arg(value_name = "RUN")]
    pub(crate) run: PathBuf,
    /// Log questions, and offer the tool `confirm`, which writes to the log what a person said.
    #[arg(long)]
    pub(crate) allow_feedback: bool,
    /// Question log; the one beside the run if not given.
    #[arg(long, value_name = "FILE", requires = "allow_feedback")]
    pub(crate) log: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) search: BeamArguments,
    #[command(flatten)]
    pub(crate) pool: ThreadArguments,
}

/// Measure what clicks are worth, with the labels of a benchmark in the place of a person.
///
/// The first parser knows the labels of the experiment. Then the other training questions are asked. The person sees a few different
/// answers, picks the right one if it is among them, and otherwise says that none is right; either is one click. New parsers are trained
/// after some clicks, as `xpr improve` does, and compared on the test questions with parsers that got labels instead. Parsers that the
/// folder has already are not trained again, so an interrupted simulation resumes.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  xpr simulate xpr-demo/xpr.toml --set data.label_count=0 --out clicks/demo
  xpr simulate experiments/ours-geography.toml --set data.label_count=0 --seeds 1 --out clicks/geography")]
pub(crate) struct SimulateArguments {
    #[command(flatten)]
    pub(crate) experiment: ExperimentArguments,
    /// Start from the base in this folder, or from `built-in`; the setting base.folder.
    #[arg(long, value_name = "BASE")]
    pub(crate) from: Option<PathBuf>,
    /// Start from nothing, although the experiment names a base.
    #[arg(long, conflicts_with = "from")]
    pub(crate) no_base: bool,
    /// Folder for the run folders.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: PathBuf,
    /// Numbers of clicks after which a parser is trained.
    #[arg(long, value_name = "N,N", value_delimiter = ',', default_value = "50,100,200")]
    pub(crate) clicks: Vec<usize>,
    /// Number of different answers that the person sees.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=20))]
    pub(crate) shown: u8,
    /// Number of seeds; the setting train.seed is 0, 1, 2 and so on, and each has another order of questions.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub(crate) seeds: u16,
    /// What to compare.
    #[arg(long, value_enum, value_delimiter = ',', default_values = ["labels", "random", "disagreement"])]
    pub(crate) series: Vec<Series>,
    /// Also draw the accuracies over the clicks to this file, as SVG.
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) pool: ThreadArguments,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
}

/// What the parsers of a simulation learn from.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Series {
    /// Labels of questions in random order.
    Labels,
    /// Answers to questions in random order.
    Random,
    /// Answers to those questions first whose answers disagree most.
    Disagreement,
    /// Answers to those questions first for which another answer than the chosen one is most probably picked.
    Pickable,
}

/// Serve trained parsers over HTTP, with a page to ask in a browser.
///
/// The page shows answers with their rows and SQL, several answers to choose from where the parser is not sure, and keeps what people say
/// about them. Programs ask with JSON: /v1/openapi.json describes the interface, and /metrics has figures for Prometheus. Every question
/// is logged beside its run before it is answered (`xpr log`). Language models ask by the Model Context Protocol at /mcp, or at /mcp/NAME for a
/// run by its name. The database is only read. A parser that `xpr improve` or `xpr teach`
/// promotes, and a database that changed, are used from the next question on. Ctrl-C ends the server after what is being answered.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  xpr serve music/run
  xpr serve music/run films=xpr-demo/runs/seed-0/labels --listen 127.0.0.1:9000
  xpr serve music/run --listen 0.0.0.0:8080 --token-file token.txt --host ask.example.org
  xpr serve music/run --no-log
  curl -s localhost:8080/v1/ask -H 'Content-Type: application/json' -d '{\"question\": \"how many albums are there\"}'")]
pub(crate) struct ServeArguments {
    /// Run folders of trained parsers, or NAME=RUN; named after their data if not given. The first is asked if a request names none.
    #[arg(value_name = "RUN", required = true)]
    pub(crate) runs: Vec<String>,
    /// Address to listen on. Others than this machine can connect to an address other than 127.0.0.1 and ::1, and then a token is needed.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8080", value_parser = parse_address)]
    pub(crate) listen: std::net::SocketAddr,
    /// File with the access token that clients must send. Without it, the token may be in the environment (XPR_TOKEN).
    #[arg(long, value_name = "FILE", conflicts_with = "token")]
    pub(crate) token_file: Option<PathBuf>,
    /// The access token, from the environment only: a command line is visible to others.
    #[arg(long, env = "XPR_TOKEN", hide = true, hide_env_values = true)]
    pub(crate) token: Option<String>,
    /// Name by which browsers call the server, beside localhost and addresses. Requests for other names are refused.
    #[arg(long, value_name = "NAME", value_parser = parse_host)]
    pub(crate) host: Vec<String>,
    /// Keep no log of questions, and so no feedback.
    #[arg(long)]
    pub(crate) no_log: bool,
    /// Offer the tool `confirm` at /mcp, which writes to the question log.
    #[arg(long, conflicts_with = "no_log")]
    pub(crate) allow_feedback: bool,
    #[command(flatten)]
    pub(crate) search: BeamArguments,
    /// Confidence that an answer needs, from 0 to 1; the run's own if not given.
    #[arg(long, value_name = "P", value_parser = parse_share)]
    pub(crate) min_confidence: Option<f64>,
    /// Number of questions that can wait; more are refused.
    #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) queue: u16,
    /// Requests a second that each client can send, and twice as many at once; 0 for no limit.
    #[arg(long, value_name = "N", default_value_t = 50)]
    pub(crate) rate_limit: u32,
    /// Number of connections. More close those that wait longest for their clients.
    #[arg(long, value_name = "N", default_value_t = 4096, value_parser = clap::value_parser!(u32).range(16..=1_000_000))]
    pub(crate) connections: u32,
    /// Write what happens to standard error as lines of JSON.
    #[arg(long)]
    pub(crate) json_logs: bool,
    /// Also write a line for each request.
    #[arg(long)]
    pub(crate) verbose: bool,
    #[command(flatten)]
    pub(crate) pool: ThreadArguments,
}

/// Print, export or prune the questions that people asked a served parser.
///
/// `xpr serve` writes the log: every question, the answer, how sure it was, how long it took, and what people said about it. The log is
/// an SQLite file beside the run. Without --tsv and --jsonl, prints the newest questions.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  xpr log music/run
  xpr log music/run --since 7d --judged
  xpr log music/run --jsonl > log.jsonl
  xpr log music/run --tsv --since 2026-11-01 --before 2026-12-01
  xpr log music/run --prune --before 90d")]
pub(crate) struct LogArguments {
    /// Run folder of the parser.
    #[arg(value_name = "RUN")]
    pub(crate) run: PathBuf,
    /// File of the log; RUN.questions.sqlite if not given.
    #[arg(long, value_name = "FILE")]
    pub(crate) log: Option<PathBuf>,
    /// Only questions since this day, time or number of days ago: 2026-11-18, 2026-11-18T16:05:09Z or 30d, in UTC.
    #[arg(long, value_name = "DATE")]
    pub(crate) since: Option<xpr_log::Date>,
    /// Only questions before this day, time or number of days ago.
    #[arg(long, value_name = "DATE")]
    pub(crate) before: Option<xpr_log::Date>,
    /// Only questions that somebody said something about.
    #[arg(long)]
    pub(crate) judged: bool,
    /// Only questions that have this text.
    #[arg(long, value_name = "TEXT")]
    pub(crate) contains: Option<String>,
    /// Print at most so many questions, the newest; all if it is 0. 20 if not given, and all with --tsv and --jsonl.
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<usize>,
    /// Print tab-separated values, the oldest question first.
    #[arg(long, conflicts_with_all = ["jsonl", "prune"])]
    pub(crate) tsv: bool,
    /// Print one JSON object per question, the oldest first, with all that was said about it.
    #[arg(long, conflicts_with = "prune")]
    pub(crate) jsonl: bool,
    /// Delete the questions before --before, except those that somebody said something about.
    #[arg(long, requires = "before", conflicts_with_all = ["since", "judged", "contains", "limit"])]
    pub(crate) prune: bool,
    /// With --prune, also delete questions that somebody said something about.
    #[arg(long, requires = "prune")]
    pub(crate) with_feedback: bool,
}

/// Evaluate an objective on given candidates, to check another implementation against this one.
///
/// Prints one JSON object: the loss, the target distribution over the candidates (q), and the gradient of the loss with respect to
/// each log-probability (credit).
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  xpr objective sparse --log-probs=-0.5,-1.2,-2.3 --rewarded=1,0,1")]
pub(crate) struct ObjectiveArguments {
    /// Name of the objective.
    #[arg(value_parser = clap::builder::PossibleValuesParser::new(objectives::ALL.map(|objective| objective.name())))]
    pub(crate) objective: String,
    /// Log-probabilities of the candidates.
    #[arg(long, value_name = "L1,L2,…", value_delimiter = ',', allow_hyphen_values = true, required = true)]
    pub(crate) log_probs: Vec<f64>,
    /// Rewards of the candidates: 1 for a rewarded candidate, 0 for another.
    #[arg(long, value_name = "R1,R2,…", value_delimiter = ',', required = true,
          value_parser = clap::builder::PossibleValuesParser::new(["0", "1"]))]
    pub(crate) rewarded: Vec<String>,
}

/// Execute lambda-DCS programs from standard input, one per line.
///
/// Prints one line per program: the kind of outcome, a tab, and the denotation or the reason.
#[derive(Debug, Args)]
#[command(after_help = "\
Outcomes:
  value <TAB> denotation      the answer is not empty
  empty <TAB> (list)          the answer is empty
  type-error <TAB> reason     an argument has the wrong type
  error <TAB> reason          another run-time error, or a limit was exceeded
  parse-error <TAB> reason    the line is not a program; the reason names the column

Examples:
  echo '( call SW.listValue ( call SW.getProperty en.meeting.annual_review ( string date ) ) )' | \\
    xpr exec --world calendar
  xpr exec --triples my.tsv < programs.txt")]
pub(crate) struct ExecArguments {
    #[command(flatten)]
    pub(crate) world: WorldArguments,
}

/// The knowledge base that programs run on.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub(crate) struct WorldArguments {
    /// Knowledge base of an Overnight domain; all eight are built in.
    #[arg(long, value_name = "NAME", value_parser = clap::builder::PossibleValuesParser::new(xpr_exec::overnight::WORLDS))]
    pub(crate) world: Option<String>,
    /// Your own knowledge base: a subject, a property and an object on each line, separated by tabs.
    #[arg(long, value_name = "FILE")]
    pub(crate) triples: Option<PathBuf>,
}

/// Make word vectors for --embeddings with a pretrained sentence encoder.
///
/// Encodes each word of some texts, projects the vectors onto their principal components, and writes them in GloVe's text format.
/// The encoder divides unknown words into pieces, so every word has a vector. The file is written at the end, completely or not at
/// all.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  xpr vectors --model models/all-MiniLM-L6-v2 --words pairs.tsv log.txt schema.sql --out vectors.txt
  xpr vectors --model models/all-MiniLM-L6-v2 --words log.txt --basis english.txt --out vectors.txt
  xpr train music/xpr.toml --no-base --embeddings vectors.txt --out music/run")]
pub(crate) struct VectorsArguments {
    /// Folder of the encoder: a BERT model with config.json, tokenizer.json and model.safetensors.
    #[arg(long, value_name = "DIR")]
    pub(crate) model: PathBuf,
    /// Text files; each word in them gets a vector.
    #[arg(long, value_name = "FILE", num_args = 1.., required = true)]
    pub(crate) words: Vec<PathBuf>,
    /// Text files with the words that the principal components are computed from; those of --words if not given. A word's vector
    /// depends on these words only, and not on the other words of the file.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(crate) basis: Vec<PathBuf>,
    /// File to write.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Size of the vectors; 0 for the encoder's own, without a projection.
    #[arg(long, value_name = "N", default_value_t = 128)]
    pub(crate) size: usize,
    #[command(flatten)]
    pub(crate) pool: ThreadArguments,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
}

/// Check and import datasets.
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

/// Import a public dataset.
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

/// Check a folder with the Overnight benchmark and print statistics of its eight domains.
///
/// Nothing is copied: pass the same folder as --data when training.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  xpr data import overnight --from data\n  xpr data import overnight --from data --json"
)]
pub(crate) struct ImportOvernightArguments {
    /// Folder of the Overnight benchmark.
    #[arg(long, value_name = "DIR", env = "XPR_DATA", hide_env_values = true)]
    pub(crate) from: PathBuf,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
}

/// Create a project folder from a dataset of text2sql-data, such as GeoQuery.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  xpr data import text2sql --from text2sql-data/data --name geography --out geo
  xpr data import text2sql --from data/geography --out geo-query --split query --dev-apart")]
pub(crate) struct ImportText2SqlArguments {
    /// Folder with NAME.json and, if available, NAME.sqlite.
    #[arg(long, value_name = "DIR", env = "XPR_DATA", hide_env_values = true)]
    pub(crate) from: PathBuf,
    /// Dataset to import, if there are several in the folder.
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Project folder to create.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: PathBuf,
    /// Which of the dataset's splits to use.
    #[arg(long, value_enum, default_value_t = SplitName::Question)]
    pub(crate) split: SplitName,
    /// Fold to test on, in datasets with numbered folds.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) fold: u32,
    /// Write the development questions to dev.tsv instead of adding them to the training questions.
    #[arg(long)]
    pub(crate) dev_apart: bool,
    /// Overwrite files in the folder.
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum SplitName {
    /// A query may occur in both training and test, with different questions.
    Question,
    /// No query of the test occurs in training.
    Query,
}

/// A database and a log of questions about it.
#[derive(Debug, Args)]
pub(crate) struct DatabaseFiles {
    /// Database: `sqlite:FILE`, `duckdb:FILE`, `duckdb:FOLDER/` of CSV and Parquet files, or `postgres://ROLE@HOST/NAME`. It is only read.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) db: String,
    /// Questions without SQL: one per line, or in the formats of `--labeled`.
    #[arg(long, value_name = "FILE")]
    pub(crate) unlabeled: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) details: DetailArguments,
}

/// Report how much of your data a parser can learn from.
///
/// For each question with SQL: does the query run, can the grammar express it, does the query written by the grammar return the same
/// rows, and are its constants among the values suggested by the question? The parser can write no other constants. Failures are
/// listed with their line and the reason.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  xpr data check --db sqlite:music.db --labeled pairs.tsv
  xpr data check --db sqlite:music.db --labeled pairs.csv --unlabeled log.txt --json")]
pub(crate) struct CheckArguments {
    #[command(flatten)]
    pub(crate) files: DatabaseFiles,
    /// Questions with their SQL: .tsv (question, SQL), .csv with a header, .jsonl or .json.
    #[arg(long, value_name = "FILE")]
    pub(crate) labeled: PathBuf,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
}

/// Create a project folder for your own database.
///
/// Needs no questions: without --labeled, the folder `run` of the project has a parser that answers at once. It is the pretrained
/// parser that is built in (`xpr base` prints its card), and has learned from other databases only.
///
/// Reads the database and your questions, prints what it found, and writes an experiment file that is ready for `xpr train`. The
/// questions are copied; the database is not.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  xpr init --db music.db
  xpr init --db music.db --labeled pairs.tsv
  xpr init --db sqlite:music.db --labeled pairs.csv --unlabeled log.txt --out music
  xpr init --db music.db --from base --out music")]
pub(crate) struct InitArguments {
    #[command(flatten)]
    pub(crate) files: DatabaseFiles,
    /// Questions with their SQL: .tsv (question, SQL), .csv with a header, .jsonl or .json.
    #[arg(long, value_name = "FILE", required_if_eq("no_base", "true"))]
    pub(crate) labeled: Option<PathBuf>,
    /// Start from the parser that `xpr pretrain` or `xpr base` wrote to this folder, instead of the one that is built in.
    #[arg(long, value_name = "BASE")]
    pub(crate) from: Option<PathBuf>,
    /// Start from nothing: the parser learns from your labels only.
    #[arg(long, conflicts_with = "from")]
    pub(crate) no_base: bool,
    /// Make up this many questions with their SQL, by patterns of questions about other databases, and train a parser on them.
    #[arg(long, value_name = "N", conflicts_with_all = ["labeled", "no_base"], value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) synthetic: Option<u32>,
    /// Test questions with their SQL. Without this file and without a column `split`, a tenth of the labeled questions is
    /// held out.
    #[arg(long, value_name = "FILE")]
    pub(crate) test: Option<PathBuf>,
    /// Project folder to create; named after the database if not given.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: Option<PathBuf>,
    /// Overwrite files in the folder.
    #[arg(long)]
    pub(crate) force: bool,
}

/// Measure the speed on this machine.
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  xpr bench exec --db sqlite:music.db --labeled pairs.tsv
  xpr bench train experiments/overnight.toml --data data")]
pub(crate) enum BenchCommand {
    Exec(BenchExecArguments),
    Train(BenchTrainArguments),
    Search(BenchSearchArguments),
    Ask(BenchAskArguments),
    Serve(BenchServeArguments),
}

/// Measure how a server answers many clients at once.
///
/// Starts a server in this process, on a port of this machine, with a log in a temporary folder. Measures the time of a request when there is no other, the
/// requests of many clients that each wait for their answer before they ask again, and the same number of threads that call the library without a
/// server. Then opens connections that say nothing or do not end their requests, and measures the time of a request beside them.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  xpr bench serve xpr-demo/runs/seed-0/labels --questions xpr-demo/test.tsv --beam 8
  xpr bench serve music/run --questions log.txt --clients 8 --requests 100000 --json")]
pub(crate) struct BenchServeArguments {
    #[command(flatten)]
    pub(crate) trained: TrainedRunArguments,
    /// Questions: one per line, or in the formats of `xpr init --labeled`.
    #[arg(long, value_name = "FILE")]
    pub(crate) questions: PathBuf,
    #[command(flatten)]
    pub(crate) search: BeamArguments,
    /// Number of clients.
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) clients: u16,
    /// Number of requests of all clients together.
    #[arg(long, value_name = "N", default_value_t = 2000, value_parser = clap::value_parser!(u32).range(100..=10_000_000))]
    pub(crate) requests: u32,
    /// Number of connections that say nothing or do not end their requests.
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(0..=50_000))]
    pub(crate) silent: u32,
    /// Keep no log.
    #[arg(long)]
    pub(crate) no_log: bool,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
}

/// Measure the time of answers: from the text of a question to its candidates, their execution and the chosen answer.
///
/// Questions are answered one at a time, as `xpr ask` does. The first of them are not counted.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  xpr bench ask music/run --questions log.txt --beam 8\n  xpr bench ask music/run --questions pairs.tsv --json"
)]
pub(crate) struct BenchAskArguments {
    #[command(flatten)]
    pub(crate) trained: TrainedRunArguments,
    /// Questions: one per line, or in the formats of `xpr init --labeled`.
    #[arg(long, value_name = "FILE")]
    pub(crate) questions: PathBuf,
    #[command(flatten)]
    pub(crate) search: BeamArguments,
    /// Duration of the measurement.
    #[arg(long, value_name = "SECONDS", default_value_t = 5.0, value_parser = seconds)]
    pub(crate) seconds: f64,
    #[command(flatten)]
    pub(crate) pool: ThreadArguments,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
}

/// Measure the time of training steps, and their share of the machine's peak speed.
///
/// The peak is measured in the same process, with large matrix products on all threads. Each figure is the median over steps.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  xpr bench train --data data --embeddings glove.txt
  xpr bench train --data data --set model.hidden=256 --set model.feed_forward=1024 --json")]
pub(crate) struct BenchTrainArguments {
    #[command(flatten)]
    pub(crate) experiment: ExperimentArguments,
    /// Number of steps to measure.
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u32).range(3..=100_000))]
    pub(crate) steps: u32,
    #[command(flatten)]
    pub(crate) pool: ThreadArguments,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
}

/// Measure the time of beam search, for batches of questions and for single questions.
///
/// The parser is trained for some steps first, so that its programs have a realistic length.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  xpr bench search --data data --embeddings glove.txt\n  xpr bench search --data data --beam 16 --json"
)]
pub(crate) struct BenchSearchArguments {
    #[command(flatten)]
    pub(crate) experiment: ExperimentArguments,
    #[command(flatten)]
    pub(crate) search: BeamArguments,
    /// Number of questions in a batch.
    #[arg(long, value_name = "N", default_value_t = 12, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) batch: u16,
    /// Number of training steps before the measurement.
    #[arg(long, value_name = "N", default_value_t = 300)]
    pub(crate) steps: usize,
    #[command(flatten)]
    pub(crate) pool: ThreadArguments,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
}

/// Measure the execution of a domain's training programs, or of the queries in your own file, on one core.
///
/// Programs on a knowledge base are measured from text to printed answer (parse, run, print), and from compiled program to
/// unprinted answer (run only). Queries on a database are measured from text to printed answer (check, prepare, run, print), and the
/// same with cached outcomes, as in training. Each figure is the median over passes. A runaway query shows how precisely the time
/// limit is enforced.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  xpr bench exec --world calendar --data data
  xpr bench exec --world all --data data --json
  xpr bench exec --db sqlite:music.db --labeled pairs.tsv")]
pub(crate) struct BenchExecArguments {
    /// Knowledge base of an Overnight domain, or `all` eight of them.
    #[arg(long, value_name = "NAME", default_value = "all",
          value_parser = clap::builder::PossibleValuesParser::new(xpr_exec::overnight::WORLDS.into_iter().chain(["all"])))]
    pub(crate) world: String,
    /// Folder of the Overnight benchmark.
    #[arg(
        long,
        value_name = "DIR",
        env = "XPR_DATA",
        hide_env_values = true,
        required_unless_present = "db"
    )]
    pub(crate) data: Option<PathBuf>,
    /// Your own database instead: `sqlite:FILE`, `duckdb:FILE`, `duckdb:FOLDER/`, or `postgres://ROLE@HOST/NAME`.
    #[arg(long, value_name = "ADDRESS", requires = "labeled", conflicts_with = "world")]
    pub(crate) db: Option<String>,
    /// Questions with their SQL; the queries are run.
    #[arg(long, value_name = "FILE", requires = "db")]
    pub(crate) labeled: Option<PathBuf>,
    /// Duration of each measurement.
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0, value_parser = seconds)]
    pub(crate) seconds: f64,
    #[command(flatten)]
    pub(crate) output: OutputArguments,
}

/// Print a shell completion script.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  xpr completions bash > ~/.local/share/bash-completion/completions/xpr
  xpr completions zsh > ~/.zfunc/_xpr
  xpr completions fish > ~/.config/fish/completions/xpr.fish")]
pub(crate) struct CompletionsArguments {
    /// Shell to complete in.
    pub(crate) shell: clap_complete::Shell,
}

/// Print the manual page of a command, or write the pages of all commands.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  xpr man | man -l -
  xpr man data check | man -l -
  xpr man --out ~/.local/share/man/man1")]
pub(crate) struct ManArguments {
    /// Command, such as `data check`; `xpr` itself if not given.
    #[arg(value_name = "COMMAND", conflicts_with = "out")]
    pub(crate) command: Vec<String>,
    /// Write one page per command into this folder.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds <= 3600.0 => Ok(seconds),
        _ => Err("expected a number of seconds above 0 and at most 3600".into()),
    }
}

/// Reads a part of a sweep, such as `0/4`.
fn parse_part(text: &str) -> Result<SweepPart, String> {
    let numbers = text.split_once('/').and_then(|(index, of)| Some((index.parse().ok()?, of.parse().ok()?)));
    match numbers {
        Some((index, of)) if index < of => Ok(SweepPart { index, of }),
        Some((_, of)) if of > 0 => Err(format!("the {of} parts are 0/{of} to {}/{of}", of - 1)),
        _ => Err("expected the number of a part and of all, such as 0/4".to_owned()),
    }
}

/// The most threads. Thousands of them would do nothing but wait for each other.
const MOST_THREADS: usize = 1024;

/// Reads a number of threads.
fn parse_threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(threads) if threads <= MOST_THREADS => Ok(threads),
        _ => Err(format!("expected 0 to {MOST_THREADS}")),
    }
}

/// Checks the variables of the environment that rayon reads where no number of threads is given.
pub(crate) fn check_thread_variables() -> anyhow::Result<()> {
    for name in ["RAYON_NUM_THREADS", "RAYON_RS_NUM_CPUS"] {
        let threads = std::env::var(name).ok().and_then(|text| text.parse::<usize>().ok());
        if threads.is_some_and(|threads| threads > MOST_THREADS) {
            anyhow::bail!(
                "the variable {name} asks for more than {MOST_THREADS} threads; set a smaller number, or unset it"
            );
        }
    }
    Ok(())
}

/// Reads an address to listen on.
fn parse_address(text: &str) -> Result<std::net::SocketAddr, String> {
    let numeric = match text.strip_prefix("localhost:") {
        Some(port) => format!("127.0.0.1:{port}"),
        None => text.to_owned(),
    };
    numeric.parse().map_err(|_| "expected an address and a port, such as 127.0.0.1:8080".to_owned())
}

/// Reads the name of a host, as browsers send it.
fn parse_host(text: &str) -> Result<String, String> {
    let is_label = |label: &str| {
        !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    };
    match text.split('.').all(is_label) {
        true => Ok(text.to_owned()),
        false => Err(
            "expected a name such as ask.example.org, without `https://`, port and path; names with other \
                      letters than those from a to z as browsers send them, such as xn--mller-kva.example"
                .to_owned(),
        ),
    }
}

fn parse_share(text: &str) -> Result<f64, String> {
    let share = text.parse().map_err(|_| "expected a number from 0 to 1".to_owned())?;
    match (0.0..=1.0).contains(&share) {
        true => Ok(share),
        false => Err("expected a number from 0 to 1".to_owned()),
    }
}
