//! `xpr data check`: how much of a user's data a parser can learn from.

use super::checked_data::CheckedData;
use super::write_json;
use crate::NothingFound;
use crate::arguments::CheckArguments;
use anyhow::Result;
use serde::Serialize;
use std::io::Write;
use std::time::Duration;
use xpr_learn::task::{Coverage, VocabularyAccount};

/// The output of `--json`.
#[derive(Serialize)]
struct CheckReport<'a> {
    #[serde(flatten)]
    coverage: &'a Coverage,
    #[serde(skip_serializing_if = "Option::is_none")]
    unlabeled: Option<&'a VocabularyAccount>,
}

pub(crate) fn run(arguments: &CheckArguments, out: &mut dyn Write) -> Result<()> {
    let data = CheckedData::read(&arguments.files, Some(&arguments.labeled), Duration::MAX)?;
    if arguments.output.json {
        let report = CheckReport { coverage: &data.coverage, unlabeled: data.vocabulary.as_ref() };
        write_json(out, &report)?;
    } else {
        data.write(out)?;
    }
    match data.coverage.executable {
        0 => Err(NothingFound.into()),
        _ => Ok(()),
    }
}
