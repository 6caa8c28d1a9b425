//! `xpr data import text2sql`: creates a project folder from a dataset of text2sql-data.

use super::write_json;
use crate::arguments::{ImportText2SqlArguments, SplitName};
use crate::shell::{quoted, quoted_path};
use anyhow::{Context, Result};
use serde::Serialize;
use std::io::Write;
use xpr_data::labeled::{self, LabeledQuestion, Split};
use xpr_data::{EXPERIMENT_FILE, Project, ProjectSettings, SplitBy, Text2Sql};

/// The number of questions in each part, and the database.
#[derive(Serialize)]
struct ImportSummary<'a> {
    dataset: &'static str,
    name: &'a str,
    train: usize,
    dev: usize,
    test: usize,
    database: Option<String>,
}

pub(crate) fn run(arguments: &ImportText2SqlArguments, out: &mut dyn Write) -> Result<()> {
    let dataset = Text2Sql::open(&arguments.from, arguments.name.as_deref())?;
    let split_by = match arguments.split {
        SplitName::Question => SplitBy::Question,
        SplitName::Query => SplitBy::Query,
    };
    let questions = dataset.labeled_questions(split_by, arguments.fold)?;
    let part = |wanted: &dyn Fn(Split) -> bool| -> Vec<LabeledQuestion> {
        questions.iter().filter(|question| question.split.is_some_and(wanted)).cloned().collect()
    };
    let (train, dev) = match arguments.dev_apart {
        true => (part(&|split| split == Split::Train), part(&|split| split == Split::Dev)),
        false => (part(&|split| split != Split::Test), vec![]),
    };
    let test = part(&|split| split == Split::Test);

    let tsv = |part: &[LabeledQuestion]| labeled::to_tsv(part).with_context(|| dataset.name().to_owned());
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

    let summary = ImportSummary {
        dataset: "text2sql",
        name: dataset.name(),
        train: train.len(),
        dev: dev.len(),
        test: test.len(),
        database: dataset.database().map(|_| database.clone()),
    };
    if arguments.output.json {
        return write_json(out, &summary);
    }
    let folder = arguments.out.display();
    let development =
        if arguments.dev_apart { format!(", {} development", dev.len()) } else { String::new() };
    writeln!(
        out,
        "{}: {} training{development} and {} test questions in {folder}",
        summary.name,
        train.len(),
        test.len()
    )?;
    if summary.database.is_none() {
        writeln!(out, "The dataset has no database file; copy one to {folder}/{database}.")?;
    }
    writeln!(out, "\nNext:")?;
    let at = |name: &str| quoted_path(&arguments.out.join(name));
    let address = quoted(&format!("sqlite:{}", arguments.out.join(&database).display()));
    writeln!(out, "  xpr data check --db {address} --labeled {}", at("train.tsv"))?;
    Ok(writeln!(out, "  xpr train {} --out {}", at(EXPERIMENT_FILE), at("run"))?)
}
