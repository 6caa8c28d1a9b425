//! `xpr train`: trains and evaluates the parser of an experiment in a run folder.

use super::loading_bar::LoadingBar;
use super::training_progress::TrainingProgress;
use super::{find_data, find_embeddings, read_config, use_threads, write_json};
use crate::arguments::TrainArguments;
use crate::printer;
use crate::ranks::Connection;
use crate::stop;
use anyhow::{Context, Result, bail};
use std::io::{self, Read, Write};
use std::path::Path;
use xpr_learn::Experiment;
use xpr_learn::experiment::tuning;
use xpr_run::{ConfidenceFigures, Config, Evaluation, ParserList, RunFile, RunFolder};

pub(crate) fn run(arguments: &TrainArguments, out: &mut dyn Write) -> Result<()> {
    if arguments.until_stdin_closes {
        follow_stdin()?;
    }
    use_threads(arguments.pool.threads)?;
    let connection = Connection::open()?;
    match connection.ranks() {
        // `mpirun` tells ranks to end by `SIGTERM`, and does not wait for a checkpoint.
        Some(_) => {
            stop::on_warning()?;
            stop::end_with_other_ranks()?;
        }
        None => stop::on_signals()?,
    }
    stop::end_when_overdue()?;
    let result = train(arguments, &connection, out);
    connection.close(&result);
    result
}

fn train(arguments: &TrainArguments, connection: &Connection, out: &mut dyn Write) -> Result<()> {
    let (folder, config) =
        if arguments.resume { resume(arguments, connection)? } else { start(arguments, connection)? };
    let mut bar = LoadingBar::new();
    let load = Experiment::load_watched(config, &mut |what, done, total| bar.show(what, done, total));
    bar.finish();
    let experiment = load?.with_members(arguments.members.clone()).with_ranks(connection.ranks())?;
    let name = experiment.config().data.name();
    let mut progress = TrainingProgress::with_details(&experiment, name, arguments.verbose);
    let evaluation = experiment.run(&folder, arguments.resume, &mut progress)?;
    progress.finish();
    match connection.is_first() {
        true => write_evaluation(out, &evaluation, arguments.output.json),
        false => Ok(()),
    }
}

/// Stops training at a checkpoint when something comes from standard input, and ends this process when standard input closes. The run can be
/// resumed, as after any kill.
fn follow_stdin() -> Result<()> {
    let wait = || {
        let mut stdin = io::stdin().lock();
        while stdin.read(&mut [0]).is_ok_and(|count| count > 0) {
            stop::request();
        }
        let _ = writeln!(printer::stderr(), "error: the process that started this training ended");
        std::process::exit(2);
    };
    std::thread::Builder::new().name("stdin".to_owned()).spawn(wait).context("starting a thread")?;
    Ok(())
}

/// Creates the run folder, chooses learn.weight if asked to, and returns the settings.
fn start(arguments: &TrainArguments, connection: &Connection) -> Result<(RunFolder, Config)> {
    let base = if arguments.no_base { Some(Path::new("")) } else { arguments.from.as_deref() };
    let mut config = read_config(&arguments.experiment, base)?;
    let folder = match connection.is_first() {
        true => RunFolder::create(&arguments.out)?,
        false => RunFolder::followed(&arguments.out),
    };
    if let Some(weights) = &arguments.tune {
        if connection.ranks().is_some() {
            bail!("--tune needs a single process; choose learn.weight first, and train with it under mpirun");
        }
        config.learn.weight = choose_weight(&config, weights, &folder)?;
    }
    Ok((folder, config))
}

/// Opens the run folder, and returns the settings stored in it. The data may have moved since.
fn resume(arguments: &TrainArguments, connection: &Connection) -> Result<(RunFolder, Config)> {
    let folder = match connection.is_first() {
        true => RunFolder::open_locked(&arguments.out)?,
        false => RunFolder::followed(&arguments.out),
    };
    if let Some(run) = ParserList::run_of(&arguments.out) {
        let (folder, run) = (arguments.out.display(), run.display());
        bail!(
            "{folder} is a later parser of {run}, and complete; go on from it with xpr improve or xpr teach"
        );
    }
    let mut config = Config::read(Some(&folder.path(RunFile::Config)), &[])?.config;
    let paths = &arguments.experiment.paths;
    find_data(&mut config, paths.data.as_deref());
    if let Some(embeddings) = paths.embeddings.as_deref() {
        if !embeddings.is_dir() {
            config.data.embeddings = embeddings.to_owned();
        }
        find_embeddings(&mut config, Some(embeddings))?;
    }
    Ok((folder, config))
}

/// Trains with each weight, and returns the one with the highest accuracy on held-out labeled examples.
fn choose_weight(config: &Config, weights: &[f64], folder: &RunFolder) -> Result<f64> {
    if config.learn.objective.is_none() {
        bail!("--tune needs an objective, and learn.objective is `none`; add --set learn.objective=sparse");
    }
    let tried = tuning::tune(config, weights, folder, |weight, experiment| {
        let _ = writeln!(printer::stderr(), "tuning with learn.weight {weight}");
        TrainingProgress::new(experiment, experiment.config().data.name())
    })?;
    for tuning::Tried { weight, evaluation } in &tried {
        let accuracy = 100.0 * evaluation.accuracy;
        let _ = writeln!(
            printer::stderr(),
            "learn.weight {weight}: {accuracy:.1} % of {} held-out labeled examples are correct",
            evaluation.examples
        );
    }
    tuning::best(&tried).context("--tune has no weights; give some with --tune=0.1,0.3")
}

/// Writes an evaluation as text or as JSON.
pub(super) fn write_evaluation(out: &mut dyn Write, evaluation: &Evaluation, json: bool) -> Result<()> {
    if json {
        return write_json(out, evaluation);
    }
    if evaluation.examples == 0 {
        let message = "There are no test questions, so the accuracy is unknown; add some with data.test or data.held_out.";
        return Ok(writeln!(out, "{message}")?);
    }
    if evaluation.failed_labels > 0 {
        let failed = evaluation.failed_labels;
        writeln!(out, "{failed} test questions are not counted, because their labeled query fails")?;
    }
    let percent = |share: f64| format!("{:5.1} %", 100.0 * share);
    writeln!(out, "{} test questions", evaluation.examples)?;
    writeln!(out, "  {}  correct answers (the chosen program)", percent(evaluation.accuracy))?;
    writeln!(
        out,
        "  {}  correct answers of the most probable program, executable or not",
        percent(evaluation.accuracy_of_best)
    )?;
    writeln!(out, "  {}  exact matches with the labeled program", percent(evaluation.exact))?;
    writeln!(out, "  {}  correct answer in the beam", percent(evaluation.in_beam))?;
    writeln!(out, "  {}  most probable program executes", percent(evaluation.executable))?;
    if let Some(confidence) = &evaluation.confidence {
        let ConfidenceFigures { expected_error, sure_and_wrong, threshold, coverage, accuracy } = confidence;
        writeln!(out, "Confidence")?;
        writeln!(
            out,
            "  {}  of the questions have an answer with confidence {:.0} % or more; {} of these are correct",
            percent(*coverage),
            100.0 * threshold,
            percent(*accuracy).trim_start()
        )?;
        writeln!(out, "  {}  wrong answers with confidence 80 % or more", percent(*sure_and_wrong))?;
        writeln!(out, "  {}  calibration error", percent(*expected_error))?;
    }
    Ok(())
}
