//! The commands, one module each.

pub(crate) mod ask;
pub(crate) mod base;
pub(crate) mod bench;
pub(crate) mod bench_ask;
pub(crate) mod bench_parser;
mod bench_queries;
mod bench_ranks;
pub(crate) mod bench_serve;
mod cell_display;
mod cells;
pub(crate) mod check;
mod checked_data;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod demo;
pub(crate) mod eval;
pub(crate) mod exec;
pub(crate) mod import_overnight;
pub(crate) mod import_text2sql;
pub(crate) mod improve;
pub(crate) mod init;
mod loading_bar;
pub(crate) mod log;
pub(crate) mod man;
pub(crate) mod mcp;
pub(crate) mod objective;
pub(crate) mod pretrain;
pub(crate) mod report;
pub(crate) mod serve;
pub(crate) mod simulate;
pub(crate) mod sweep;
pub(crate) mod teach;
pub(crate) mod train;
mod training_progress;
pub(crate) mod vectors;

use crate::arguments::{DataPaths, ExperimentArguments, TrainedRunArguments};
use crate::printer;
use anyhow::{Context, Result, bail};
use loading_bar::LoadingBar;
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};
use xpr_exec::{KnowledgeBase, overnight};
use xpr_learn::TrainedRun;
use xpr_run::{BUILT_IN, Config, DataConfig, Dataset, ReadConfig};

/// Reads the settings of an experiment that starts from `base`, if it is given, and writes notes about them.
///
/// # Errors
/// If the settings have an error or contradict each other.
fn read_config(arguments: &ExperimentArguments, base: Option<&Path>) -> Result<Config> {
    let mut set = arguments.set.clone();
    if let Some(base) = base {
        set.push(base_setting(base)?);
    }
    with_notices(read_settings(arguments.experiment.as_deref(), &set, &arguments.paths)?)
}

/// Reads the settings of an experiment. `--data` and `--embeddings` override the file, and `--set` overrides both.
fn read_settings(experiment: Option<&Path>, set: &[String], paths: &DataPaths) -> Result<ReadConfig> {
    let mut settings = Vec::new();
    // A folder of word vectors holds the file that the experiment names.
    let embeddings = paths.embeddings.as_ref().filter(|path| !path.is_dir()).cloned();
    for (key, path) in [("data.folder", &paths.data), ("data.embeddings", &embeddings)] {
        if let Some(path) = path {
            settings.push(path_setting(key, path)?);
        }
    }
    settings.extend(set.iter().cloned());
    let mut read = Config::read(experiment, &settings)?;
    if read.config.data.dataset == Dataset::Database {
        // XPR_DATA is the folder of the Overnight benchmark, which has no files of this database.
        settings.retain(|setting| !setting.starts_with("data.folder=") || set.contains(setting));
        read = Config::read(experiment, &settings)?;
    }
    find_embeddings(&mut read.config, paths.embeddings.as_deref())?;
    Ok(read)
}

/// Returns the setting of a base that is named on the command line: a folder, `built-in`, or nothing.
fn base_setting(base: &Path) -> Result<String> {
    let is_folder = !base.as_os_str().is_empty() && base != Path::new(BUILT_IN);
    // Relative to where the command is given, and not to the experiment's file.
    match is_folder {
        true => path_setting(
            "base.folder",
            &std::path::absolute(base).with_context(|| base.display().to_string())?,
        ),
        false => path_setting("base.folder", base),
    }
}

/// Returns the setting of a key to a path, as `--set` has it.
fn path_setting(key: &str, path: &Path) -> Result<String> {
    let path = path.to_str().with_context(|| format!("{}: the path is not UTF-8", path.display()))?;
    Ok(format!("{key}={path:?}"))
}

/// Sets the file of word vectors, if `--embeddings` names one. If it names a folder, the file of the settings is looked for there.
fn find_embeddings(config: &mut Config, path: Option<&Path>) -> Result<()> {
    match config.base.is_given() {
        // A base has its own word vectors.
        true => Ok(()),
        false => embeddings_in(&mut config.data.embeddings, path),
    }
}

/// Sets the file of word vectors to `path`, or to the file of the same name in the folder `path`.
fn embeddings_in(file: &mut PathBuf, path: Option<&Path>) -> Result<()> {
    match path {
        // A folder has files only.
        Some(folder) if folder.is_dir() && file == Path::new(BUILT_IN) => {}
        Some(folder) if folder.is_dir() => {
            let name = file.file_name().with_context(|| {
                format!(
                    "{} is a folder; name a file of word vectors in it with data.embeddings",
                    folder.display()
                )
            })?;
            *file = folder.join(name);
        }
        // `--set data.embeddings` overrides the flag.
        Some(given) if file.as_os_str().is_empty() => *file = given.to_owned(),
        _ => {}
    }
    Ok(())
}

/// Returns the settings, and writes a note to standard error for each one that was given by an old name or is ignored.
///
/// # Errors
/// If the settings contradict each other.
fn with_notices(read: ReadConfig) -> Result<Config> {
    read.config.check_consistency()?;
    let renamed = read.renamed.iter().map(ToString::to_string);
    write_notes(renamed.chain(read.ignored.iter().map(ToString::to_string)));
    Ok(read.config)
}

/// Writes notes to standard error.
fn write_notes(notes: impl IntoIterator<Item = String>) {
    for note in notes {
        let _ = writeln!(printer::stderr(), "note: {note}");
    }
}

/// Opens a trained run, and writes notes about it and its data.
fn open_run(arguments: &TrainedRunArguments, settings: &[String]) -> Result<TrainedRun> {
    let mut bar = LoadingBar::new();
    let mut watch = |what: &str, done, total| bar.show(what, done, total);
    let run = TrainedRun::open_with(&arguments.run, settings, &mut watch);
    bar.finish();
    let run = run?;
    write_notes(run.notes.iter().cloned());
    if arguments.details.verbose {
        write_notes(run.task.world().access());
    }
    Ok(run)
}

/// Sets the data folder of a run, if one is given and has the run's files: `XPR_DATA` may name the folder of another dataset.
fn find_data(config: &mut Config, folder: Option<&Path>) {
    let fits = |folder: &&Path| {
        config.data.dataset == Dataset::Overnight || folder.join(&config.data.labeled).is_file()
    };
    if let Some(folder) = folder.filter(fits) {
        config.data.folder = folder.to_owned();
    }
}

/// Starts threads for computation; 0 for one per core. Where this was not called, rayon would start them, and panic if it could not.
fn use_threads(threads: usize) -> Result<()> {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global().context("starting threads")
}

/// Returns the peak memory of a process, or of this one; `None` where there is no `/proc`, or no such process.
fn peak_memory_mb(process: Option<u32>) -> Option<f64> {
    let process = process.map_or_else(|| "self".to_owned(), |process| process.to_string());
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes / 1024.0)
}

/// Writes a value as indented JSON.
fn write_json(out: &mut dyn Write, value: &impl Serialize) -> Result<()> {
    serde_json::to_writer_pretty(&mut *out, value)?;
    Ok(writeln!(out)?)
}

/// Builds the knowledge base of an Overnight domain.
fn native_world(name: &str) -> Result<KnowledgeBase> {
    overnight::world(name)
        .with_context(|| format!("there is no world `{name}`; there are {}", overnight::WORLDS.join(", ")))
}

/// Loads a knowledge base from a file of triples.
fn load_triples(path: &Path) -> Result<KnowledgeBase> {
    let text = xpr_data::read_utf8(path).with_context(|| path.display().to_string())?;
    KnowledgeBase::read_triples(&text).with_context(|| path.display().to_string())
}

/// Returns the file of the labels of a project, to which labels are added.
fn labels_file(data: &DataConfig) -> Result<PathBuf> {
    if data.labeled.as_os_str().is_empty() {
        bail!(
            "the project names no file of labels; set `labeled = \"train.tsv\"` in [data] of its settings and train again"
        );
    }
    Ok(data.folder.join(&data.labeled))
}
