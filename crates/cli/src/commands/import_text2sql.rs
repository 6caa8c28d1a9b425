//! `xpr data import text2sql`: a dataset of text2sql-data becomes a project folder.

use super::write_json;
use crate::arguments::{DivisionName, ImportText2SqlArguments};
use anyhow::{Context, Result};
use serde::Serialize;
use std::io::Write;
use xpr_data::labeled::{self, LabeledQuestion, Split};
use xpr_data::{EXPERIMENT_FILE, Project, ProjectSettings, SplitBy, Text2Sql};

/// How many questions there are of each part.
#[derive(Serialize)]
struct Report<'a> {
    dataset: &'static str,
    name: &'a str,
    train: usize,
    dev: usize,
    test: usize,
    database: Option<String>,
}

pub(crate) fn run(arguments: &ImportText2SqlArguments, out: &mut dyn Write) -> Result<()> {
    let dataset = Text2Sql::open(&arguments.from, arguments.name.as_deref())?;
    let division = match arguments.split {
        DivisionName::Question => SplitBy::Question,
        DivisionName::Query => SplitBy::Query,
    };
    let pairs = dataset.labeled_questions(division, arguments.fold)?;
    let part = |wanted: &dyn Fn(Split) -> bool| -> Vec<LabeledQuestion> {
        pairs.iter().filter(|pair| pair.split.is_some_and(wanted)).cloned().collect()
    };
    let (train, dev) = match arguments.dev_apart {
        true => (part(&|split| split == Split::Train), part(&|split| split == Split::Dev)),
        false => (part(&|split| split != Split::Test), vec![]),
    };
    let test = part(&|split| split == Split::Test);

    let tsv = |pairs: &[LabeledQuestion]| labeled::to_tsv(pairs).with_context(|| dataset.name().to_owned());
    let mut project = Project::new(&arguments.out);
    project.add("train.tsv", tsv(&train)?);
    if arguments.dev_apart {
        project.add("dev.tsv", tsv(&dev)?);
    }
    project.add("test.tsv", tsv(&test)?);
    let database = format!("{}.sqlite", dataset.name());
    if let Some(path) = dataset.database() {
        project.add_copy(&database, path);
    }
    if !arguments.force {
        project.refuse_to_overwrite()?;
    }
    project.write(&ProjectSettings {
        database: format!("sqlite:{database}"),
        labeled: "train.tsv".to_owned(),
        test: "test.tsv".to_owned(),
        ..ProjectSettings::default()
    })?;

    let report = Report {
        dataset: "text2sql",
        name: dataset.name(),
        train: train.len(),
        dev: dev.len(),
        test: test.len(),
        database: dataset.database().map(|_| database.clone()),
    };
    if arguments.json {
        return write_json(out, &report);
    }
    let folder = arguments.out.display();
    let apart = if arguments.dev_apart { format!(", {} development", dev.len()) } else { String::new() };
    writeln!(
        out,
        "{}: {} training{apart} and {} test questions in {folder}",
        report.name,
        train.len(),
        test.len()
    )?;
    if report.database.is_none() {
        writeln!(out, "The dataset came without a database: put one there as {database}.")?;
    }
    writeln!(out, "\nNext:")?;
    writeln!(out, "  xpr data check --db sqlite:{folder}/{database} --labeled {folder}/train.tsv")?;
    Ok(writeln!(out, "  xpr train {folder}/{EXPERIMENT_FILE} --out {folder}/run")?)
}
