//! `xpr init`: creates a project folder for a user's database.

use super::checked_data::CheckedData;
use super::loading_bar::LoadingBar;
use super::training_progress::TrainingProgress;
use super::use_threads;
use crate::arguments::InitArguments;
use crate::shell::{quoted, quoted_path};
use anyhow::{Context, Result, bail};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;
use xpr_data::labeled::{self, LabeledQuestion, Split};
use xpr_data::{EXPERIMENT_FILE, Example, Project, ProjectSettings, relative_path};
use xpr_exec::database::Database;
use xpr_lang::english::how_many;
use xpr_lang::sql::{ColumnId, ForeignKey, Schema, TableId};
use xpr_learn::synthesis::Patterns;
use xpr_learn::task::{DatabaseWorld, SCHEMA_FILE, StoredSchema};
use xpr_learn::{Experiment, Task};
use xpr_run::{BUILT_IN, Config, RunFolder};

/// The largest number of labeled questions that are held out.
const MAX_HELD_OUT: usize = 100;
/// The folder in a project with its first parser.
const FIRST_RUN: &str = "run";
/// The folder in a project with the parser that learns from a log, if the first one did not.
const ADAPTED_RUN: &str = "adapted";
/// The file of labels in a project.
const LABELS: &str = "train.tsv";
/// The seed of made-up questions.
const SYNTHETIC_SEED: u64 = 0;
/// The time for which labeled queries are run. With millions of rows, running a few of them is enough.
const CHECK_TIME: Duration = Duration::from_secs(5);
/// The number of tables and of foreign keys that are listed.
const MAX_LISTED: usize = 20;

pub(crate) fn run(arguments: &InitArguments, out: &mut dyn Write) -> Result<()> {
    use_threads(0)?;
    let data = CheckedData::read(&arguments.files, arguments.labeled.as_deref(), CHECK_TIME)?;
    let folder = match &arguments.out {
        Some(folder) => folder.clone(),
        None => PathBuf::from(data.database.name()),
    };
    let (mut train, test) = split(&data, arguments.test.as_deref())?;
    if let Some(count) = arguments.synthetic {
        train = synthetic(&arguments.files.db, count as usize)?;
    }
    if let (true, Some(labeled)) = (train.is_empty(), &arguments.labeled) {
        bail!("{}: all questions are marked as test; mark some as train", labeled.display());
    }
    // With labels that people made, the first parser is the one that learns from them.
    let is_first = train.is_empty() || arguments.synthetic.is_some();
    let first_run = is_first.then(|| folder.join(FIRST_RUN));
    let (mut project, mut settings) = project(arguments, &data, &folder, (&train, &test))?;
    if is_first {
        project.add_folder(FIRST_RUN);
    }
    let writing = project.begin(arguments.force)?;
    settings.database = address_from(&folder, &*data.database)?;
    settings.base = match (&arguments.from, arguments.no_base) {
        (Some(base), _) if base != Path::new(BUILT_IN) => path_from(&folder, base)?,
        (_, true) => String::new(),
        (_, false) => BUILT_IN.to_owned(),
    };
    writing.write(&settings.to_toml())?;

    write_schema(out, &data.schema.schema, data.values)?;
    if arguments.labeled.is_some() {
        writeln!(out)?;
        data.write(out)?;
    }
    let count = match (train.is_empty(), test.is_empty()) {
        (true, true) => String::new(),
        (true, false) => format!(": {} questions for testing", test.len()),
        (false, true) if arguments.synthetic.is_some() => format!(": {} made-up questions", train.len()),
        (false, true) => {
            let held_out = settings.held_out;
            format!(": {} questions for training, {held_out} held out for testing", train.len() - held_out)
        }
        (false, false) => format!(": {} questions for training, {} for testing", train.len(), test.len()),
    };
    if let Some(run) = &first_run {
        write_first_parser(&folder.join(EXPERIMENT_FILE), run, arguments.synthetic.is_some())?;
    }
    writing.finish()?;
    writeln!(out, "\nWrote {}/{EXPERIMENT_FILE}{count}.", folder.display())?;
    write_next(out, &folder, &data, (&train, first_run.is_some()))
}

/// Returns the files of the project, and its settings without the places of the database and the base.
fn project(
    arguments: &InitArguments,
    data: &CheckedData,
    folder: &Path,
    (train, test): (&[LabeledQuestion], &[LabeledQuestion]),
) -> Result<(Project, ProjectSettings)> {
    let findings = &data.coverage.findings;
    let mut settings = ProjectSettings {
        labeled: LABELS.to_owned(),
        embeddings: BUILT_IN.to_owned(),
        synthetic: arguments.synthetic.is_some(),
        loose_values: !findings.misspelled.is_empty(),
        suggested_keys: findings
            .suggested_keys
            .iter()
            .map(|key| format!("{} -> {}", key.columns.from, key.columns.to))
            .collect(),
        ..ProjectSettings::default()
    };
    let mut project = Project::new(folder);
    let name = |path: &Option<PathBuf>| path.as_ref().map(|path| path.display().to_string());
    let in_labeled = || name(&arguments.labeled).unwrap_or_default();
    // Without labels the file is empty. `xpr teach` adds to it.
    project.add(LABELS, labeled::to_tsv(train).with_context(in_labeled)?);
    if test.is_empty() && arguments.synthetic.is_none() {
        // A single question is not held out.
        settings.held_out = (train.len() / 10).clamp(usize::from(train.len() > 1), MAX_HELD_OUT);
    } else if !test.is_empty() {
        let in_test = || name(&arguments.test).unwrap_or_else(in_labeled);
        project.add("test.tsv", labeled::to_tsv(test).with_context(in_test)?);
        settings.test = "test.tsv".to_owned();
    }
    if let Some(questions) = &data.unlabeled {
        let lines: Vec<String> = questions
            .iter()
            .map(|question| question.text.split_whitespace().collect::<Vec<_>>().join(" ") + "\n")
            .collect();
        project.add("unlabeled.txt", lines.concat());
        settings.unlabeled = "unlabeled.txt".to_owned();
    }
    project.add(SCHEMA_FILE, StoredSchema::new(&data.schema).to_json().context(SCHEMA_FILE)?);
    Ok((project, settings))
}

/// Writes which commands come next.
fn write_next(
    out: &mut dyn Write,
    folder: &Path,
    data: &CheckedData,
    (train, has_parser): (&[LabeledQuestion], bool),
) -> Result<()> {
    let at = |name: &str| quoted_path(&folder.join(name));
    let question = match (train.first(), data.schema.schema.tables.first()) {
        (Some(question), _) => question.utterance.clone(),
        (None, table) => table
            .and_then(|table| how_many(&table.name))
            .unwrap_or_else(|| "how many rows are there".to_owned()),
    };
    if !has_parser {
        writeln!(out, "\nNext:\n  xpr train {} --out {}", at(EXPERIMENT_FILE), at(FIRST_RUN))?;
        return Ok(writeln!(out, "  xpr ask {} {}", at(FIRST_RUN), quoted(&question))?);
    }
    let learned = match train.is_empty() {
        true => "has not learned from questions about this database",
        false => "has learned from the made-up questions about this database",
    };
    writeln!(out, "Wrote {}: a parser that {learned}.", folder.join(FIRST_RUN).display())?;
    writeln!(out, "\nNext:\n  xpr ask {} {}", at(FIRST_RUN), quoted(&question))?;
    if data.unlabeled.is_some() {
        writeln!(out, "  xpr train {} --out {}", at(EXPERIMENT_FILE), at(ADAPTED_RUN))?;
    }
    Ok(())
}

/// Returns the training questions and the test questions.
fn split(data: &CheckedData, test: Option<&Path>) -> Result<(Vec<LabeledQuestion>, Vec<LabeledQuestion>)> {
    let (train, marked): (Vec<LabeledQuestion>, Vec<LabeledQuestion>) =
        data.labeled.iter().cloned().partition(|question| question.split != Some(Split::Test));
    match test {
        Some(path) => Ok((train, labeled::read_for_database(path, data.database.name())?)),
        None => Ok((train, marked)),
    }
}

/// Makes up questions about a database.
fn synthetic(address: &str, count: usize) -> Result<Vec<LabeledQuestion>> {
    let world = DatabaseWorld::open(address, Path::new(""))?;
    let task = Task::new(Box::new(world.learn_from_labels(&[]).with_sense()), [])?;
    let examples = Patterns::built_in()?.examples(&task, count, SYNTHETIC_SEED)?;
    if examples.is_empty() {
        bail!("{address}: no question could be made up about it; leave out --synthetic");
    }
    let label = |(index, example): (usize, Example)| LabeledQuestion {
        utterance: example.utterance,
        program: example.program,
        answer: None,
        split: None,
        database: None,
        line: index + 1,
    };
    Ok(examples.into_iter().enumerate().map(label).collect())
}

/// Writes the first parser of a project: the base of the experiment as it is, or after it has learned from made-up questions.
fn write_first_parser(experiment: &Path, run: &Path, is_trained: bool) -> Result<()> {
    let mut settings = vec!["learn.objective=none".to_owned()];
    if !is_trained {
        settings.push("train.steps=0".to_owned());
    }
    let config = Config::read(Some(experiment), &settings)?.config;
    let mut bar = LoadingBar::new();
    let load = Experiment::load_watched(config, &mut |what, done, total| bar.show(what, done, total));
    bar.finish();
    let experiment = load?;
    let steps = if is_trained { experiment.config().train.steps } else { 0 };
    let mut progress = TrainingProgress::with_plan(steps, experiment.planned_steps());
    experiment.run(&RunFolder::create(run)?, false, &mut progress)?;
    progress.finish();
    Ok(())
}

/// Returns the address of a database, relative to a folder if it is a file.
fn address_from(folder: &Path, database: &dyn Database) -> Result<String> {
    match database.path() {
        Some(path) => Ok(format!("{}:{}", database.scheme(), path_from(folder, path)?)),
        None => Ok(database.label()),
    }
}

/// Returns a path relative to a folder.
fn path_from(folder: &Path, path: &Path) -> Result<String> {
    let absolute = |path: &Path| path.canonicalize().with_context(|| path.display().to_string());
    let path = relative_path(&absolute(folder)?, &absolute(path)?);
    let text = path.to_str().with_context(|| format!("{}: the path is not UTF-8", path.display()))?;
    Ok(text.to_owned())
}

fn write_schema(out: &mut dyn Write, schema: &Schema, values: usize) -> Result<()> {
    let columns: usize = schema.tables.iter().map(|table| table.columns.len()).sum();
    writeln!(out, "{} tables, {columns} columns, {values} indexed values", schema.tables.len())?;
    for (index, table) in (0..).zip(schema.tables.iter().take(MAX_LISTED)) {
        let columns: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
        writeln!(out, "  {} ({})", schema.table_name(TableId(index)), columns.join(", "))?;
    }
    if schema.tables.len() > MAX_LISTED {
        writeln!(out, "  … and {} more", schema.tables.len() - MAX_LISTED)?;
    }
    let mut keys: Vec<(TableId, &ForeignKey)> = (0..)
        .map(TableId)
        .zip(&schema.tables)
        .flat_map(|(id, table)| table.foreign_keys.iter().map(move |key| (id, key)))
        .collect();
    // Some schemas declare a key twice.
    keys.dedup_by(|(table, later), (of, earlier)| {
        table == of && (&later.columns, &later.to) == (&earlier.columns, &earlier.to)
    });
    let declared = keys.iter().filter(|(_, key)| key.confidence >= 1.0).count();
    let heading = match (keys.len(), declared) {
        (0, _) => "Foreign keys: none declared and none inferred.",
        (_, 0) => "Foreign keys, inferred from names and values:",
        (all, declared) if all == declared => "Foreign keys, declared:",
        _ => "Foreign keys, declared or, with a confidence, inferred from names and values:",
    };
    writeln!(out, "{heading}")?;
    for &(table, key) in keys.iter().take(MAX_LISTED) {
        let from = key.columns.iter().map(|&column| schema.column(ColumnId { table, column }).name.as_str());
        let to =
            key.to.iter().map(|&id| format!("{}.{}", schema.table_name(id.table), schema.column(id).name));
        let (from, to): (Vec<_>, Vec<_>) = (from.collect(), to.collect());
        let confidence = match key.confidence {
            declared if declared >= 1.0 => String::new(),
            inferred => format!(" (confidence {:.0} %)", 100.0 * inferred),
        };
        let table = schema.table_name(table);
        writeln!(out, "  {table}.{} -> {}{confidence}", from.join("+"), to.join("+"))?;
    }
    if keys.len() > MAX_LISTED {
        writeln!(out, "  … and {} more", keys.len() - MAX_LISTED)?;
    }
    Ok(())
}
