//! `xpr init`: a project folder for somebody's own database.

use super::survey::Survey;
use crate::arguments::InitArguments;
use anyhow::{Context, Result, bail};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;
use xpr_data::labeled::{self, LabeledQuestion, Split};
use xpr_data::{EXPERIMENT_FILE, Project, ProjectSettings, relative_path};
use xpr_lang::sql::{ForeignKey, Schema, Table};

/// Labeled questions that are held out, at most.
const MOST_HELD_OUT: usize = 100;
/// How long labeled queries are run to see that they do: on millions of rows a few of them tell enough.
const PATIENCE: Duration = Duration::from_secs(5);
/// Tables and foreign keys that are listed.
const SHOWN: usize = 20;

pub(crate) fn run(arguments: &InitArguments, out: &mut dyn Write) -> Result<()> {
    let survey = Survey::of(&arguments.files, PATIENCE)?;
    let database = survey.database.path();
    let folder = match &arguments.out {
        Some(folder) => folder.clone(),
        None => PathBuf::from(database.file_stem().unwrap_or_default()),
    };
    let (train, test) = parts(&survey, arguments.test.as_deref())?;
    if train.is_empty() {
        bail!("{}: all pairs are marked as test; mark some as train", arguments.files.labeled.display());
    }

    let mut settings = ProjectSettings { labeled: "train.tsv".to_owned(), ..ProjectSettings::default() };
    let mut project = Project::new(&folder);
    let in_labeled = || arguments.files.labeled.display().to_string();
    project.add("train.tsv", labeled::to_tsv(&train).with_context(in_labeled)?);
    if test.is_empty() {
        // Somebody with one question has nothing to spare.
        settings.held_out = (train.len() / 10).clamp(usize::from(train.len() > 1), MOST_HELD_OUT);
    } else {
        let in_test = || arguments.test.as_ref().map_or_else(in_labeled, |path| path.display().to_string());
        project.add("test.tsv", labeled::to_tsv(&test).with_context(in_test)?);
        settings.test = "test.tsv".to_owned();
    }
    if let Some(questions) = &survey.questions {
        let lines: Vec<String> = questions
            .iter()
            .map(|question| question.text.split_whitespace().collect::<Vec<_>>().join(" ") + "\n")
            .collect();
        project.add("unlabeled.txt", lines.concat());
        settings.unlabeled = "unlabeled.txt".to_owned();
    }
    if !arguments.force {
        project.refuse_to_overwrite()?;
    }
    fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    settings.database = address_from(&folder, database)?;
    project.write(&settings)?;

    write_schema(out, &survey.schema, survey.values)?;
    writeln!(out)?;
    survey.write(out)?;
    let folder = folder.display();
    writeln!(
        out,
        "\nWrote {folder}/{EXPERIMENT_FILE}: {} questions to train with",
        train.len() - settings.held_out
    )?;
    match test.is_empty() {
        true => writeln!(out, "and {} held out to test with.", settings.held_out)?,
        false => writeln!(out, "and {} to test with.", test.len())?,
    }
    writeln!(out, "\nNext:\n  xpr train {folder}/{EXPERIMENT_FILE} --out {folder}/run")?;
    writeln!(out, "  xpr ask {folder}/run {:?}", train[0].utterance)?;
    Ok(writeln!(out, "Word vectors make it better: add --embeddings and a file in GloVe's text format.")?)
}

/// The pairs to train with, and those to test with.
fn parts(survey: &Survey, test: Option<&Path>) -> Result<(Vec<LabeledQuestion>, Vec<LabeledQuestion>)> {
    let (train, marked): (Vec<LabeledQuestion>, Vec<LabeledQuestion>) =
        survey.pairs.iter().cloned().partition(|pair| pair.split != Some(Split::Test));
    match test {
        Some(path) => Ok((train, labeled::read_for_database(path, survey.database.name())?)),
        None => Ok((train, marked)),
    }
}

/// The address of a database, from a folder.
fn address_from(folder: &Path, database: &Path) -> Result<String> {
    let absolute = |path: &Path| path.canonicalize().with_context(|| path.display().to_string());
    let path = relative_path(&absolute(folder)?, &absolute(database)?);
    let path = path.to_str().with_context(|| format!("{}: the path is not UTF-8", path.display()))?;
    Ok(format!("sqlite:{path}"))
}

fn write_schema(out: &mut dyn Write, schema: &Schema, values: usize) -> Result<()> {
    let columns: usize = schema.tables.iter().map(|table| table.columns.len()).sum();
    writeln!(
        out,
        "{} tables, {columns} columns, {values} values that questions can name",
        schema.tables.len()
    )?;
    for table in schema.tables.iter().take(SHOWN) {
        let columns: Vec<&str> = table.columns.iter().map(|column| column.name.as_str()).collect();
        writeln!(out, "  {} ({})", table.name, columns.join(", "))?;
    }
    if schema.tables.len() > SHOWN {
        writeln!(out, "  … and {} more", schema.tables.len() - SHOWN)?;
    }
    let keys: Vec<(&Table, &ForeignKey)> = schema
        .tables
        .iter()
        .flat_map(|table| table.foreign_keys.iter().map(move |key| (table, key)))
        .collect();
    let declared = keys.iter().filter(|(_, key)| key.confidence >= 1.0).count();
    let heading = match (keys.len(), declared) {
        (0, _) => "No foreign keys were declared or found: joins are left to the parser.",
        (_, 0) => "Foreign keys, which names and values suggest:",
        (all, declared) if all == declared => "Foreign keys, as declared:",
        _ => "Foreign keys, declared, or suggested by names and values where it says how surely:",
    };
    writeln!(out, "{heading}")?;
    for (table, key) in keys.iter().take(SHOWN) {
        let from = key.columns.iter().map(|&column| table.columns[column as usize].name.as_str());
        let to =
            key.to.iter().map(|&id| format!("{}.{}", schema.table(id.table).name, schema.column(id).name));
        let (from, to): (Vec<_>, Vec<_>) = (from.collect(), to.collect());
        let certainty = match key.confidence {
            sure if sure >= 1.0 => String::new(),
            unsure => format!(" ({:.0} % sure)", 100.0 * unsure),
        };
        writeln!(out, "  {}.{} -> {}{certainty}", table.name, from.join("+"), to.join("+"))?;
    }
    if keys.len() > SHOWN {
        writeln!(out, "  … and {} more", keys.len() - SHOWN)?;
    }
    Ok(())
}
