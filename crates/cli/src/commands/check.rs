//! `xpr data check`: how much of somebody's data a parser can learn from.

use super::survey::Survey;
use super::write_json;
use crate::arguments::CheckArguments;
use anyhow::Result;
use serde::Serialize;
use std::io::Write;
use std::time::Duration;
use xpr_learn::task::{Coverage, VocabularyAccount};

#[derive(Serialize)]
struct Report<'a> {
    #[serde(flatten)]
    coverage: &'a Coverage,
    #[serde(skip_serializing_if = "Option::is_none")]
    unlabeled: Option<&'a VocabularyAccount>,
}

pub(crate) fn run(arguments: &CheckArguments, out: &mut dyn Write) -> Result<()> {
    let survey = Survey::of(&arguments.files, Duration::MAX)?;
    if arguments.json {
        let report = Report { coverage: &survey.coverage, unlabeled: survey.vocabulary.as_ref() };
        return write_json(out, &report);
    }
    survey.write(out)
}
