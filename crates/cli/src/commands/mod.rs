//! One module a command.

pub(crate) mod ask;
pub(crate) mod bench;
pub(crate) mod bench_parser;
mod bench_queries;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod demo;
pub(crate) mod eval;
pub(crate) mod exec;
pub(crate) mod import_overnight;
pub(crate) mod import_text2sql;
pub(crate) mod init;
pub(crate) mod man;
pub(crate) mod objective;
mod reading;
pub(crate) mod report;
mod survey;
pub(crate) mod sweep;
mod sweep_progress;
pub(crate) mod train;

use crate::arguments::ExperimentArguments;
use anyhow::{Context, Result};
use serde::Serialize;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use xpr_exec::{KnowledgeBase, overnight};
use xpr_run::{Config, Dataset, ReadConfig};

/// Reads an experiment; flags win over its file, and a setting over both.
fn read_config(arguments: &ExperimentArguments) -> Result<Config> {
    let mut settings = Vec::new();
    for (key, path) in [("data.folder", &arguments.data), ("data.embeddings", &arguments.embeddings)] {
        if let Some(path) = path {
            let path = path.to_str().with_context(|| format!("{}: the path is not UTF-8", path.display()))?;
            settings.push(format!("{key}={path:?}"));
        }
    }
    settings.extend(arguments.set.iter().cloned());
    let mut read = Config::read(arguments.experiment.as_deref(), &settings)?;
    if read.config.data.dataset == Dataset::Database {
        // The folder of a benchmark is not that of a database.
        settings.retain(|setting| !setting.starts_with("data.folder=") || arguments.set.contains(setting));
        read = Config::read(arguments.experiment.as_deref(), &settings)?;
    }
    Ok(with_notices(read))
}

/// Returns the settings, and notes on the terminal those that were given by an old name.
fn with_notices(read: ReadConfig) -> Config {
    for setting in &read.renamed {
        let _ = writeln!(io::stderr(), "note: the setting `{}` is now `{}`", setting.old, setting.new);
    }
    read.config
}

/// Lets a run find its data where they are now. The folder of a benchmark (`XPR_DATA`) is none of a database's.
fn find_data(config: &mut Config, folder: Option<&Path>) {
    let fits = |folder: &&Path| {
        config.data.dataset == Dataset::Overnight || folder.join(&config.data.labeled).is_file()
    };
    if let Some(folder) = folder.filter(fits) {
        config.data.folder = folder.to_owned();
    }
}

/// Works with so many threads; 0 for as many as there are cores.
fn use_threads(threads: usize) -> Result<()> {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global().context("starting threads")
}

/// Writes figures as one JSON object.
fn write_json(out: &mut dyn Write, figures: &impl Serialize) -> Result<()> {
    serde_json::to_writer_pretty(&mut *out, figures)?;
    Ok(writeln!(out)?)
}

/// Builds one of the eight worlds.
fn native_world(name: &str) -> Result<KnowledgeBase> {
    overnight::world(name)
        .with_context(|| format!("there is no world `{name}`; there are {}", overnight::WORLDS.join(", ")))
}

/// Loads a knowledge base from a triples file.
fn load_triples(path: &Path) -> Result<KnowledgeBase> {
    let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    KnowledgeBase::read_triples(&text).with_context(|| path.display().to_string())
}
