//! What experiments are compared on: domains, or databases.

use super::{ComparisonError, ComparisonOptions, ExperimentVariant};
use crate::task::TaskError;
use crate::task::databases::LabeledDatabase;
use std::path::{Path, PathBuf};
use xpr_run::{Config, DataConfig, Dataset};

/// The file of questions in the folder of a database, unless the experiments name another.
const LABELED: &str = "pairs.tsv";

/// What the runs of a comparison are about.
pub(super) enum Subject {
    /// The data that the experiments name.
    Own,
    /// A domain of Overnight.
    Domain(String),
    /// A database, and the name of its file of questions.
    Database(Box<LabeledDatabase>, PathBuf),
}

impl Subject {
    /// Returns the subjects of a comparison.
    pub(super) fn all(
        experiments: &[(ExperimentVariant, Config)],
        options: &ComparisonOptions<'_>,
    ) -> Result<Vec<Subject>, ComparisonError> {
        let Some(folder) = options.databases else {
            return Ok(match options.domains {
                [] => vec![Subject::Own],
                domains => domains.iter().cloned().map(Subject::Domain).collect(),
            });
        };
        let labeled = experiments.iter().map(|(_, config)| &config.data.labeled);
        let labeled = labeled.into_iter().find(|labeled| !labeled.as_os_str().is_empty());
        let labeled = labeled.cloned().unwrap_or_else(|| PathBuf::from(LABELED));
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        let found = LabeledDatabase::find(&[folder], &labeled).map_err(ComparisonError::Databases)?;
        Ok(found.into_iter().map(|database| Subject::Database(Box::new(database), labeled.clone())).collect())
    }

    /// Returns the name of a database.
    pub(super) fn name(&self) -> Option<String> {
        match self {
            Subject::Database(database, _) => Some(database.name.clone()),
            Subject::Own | Subject::Domain(_) => None,
        }
    }

    /// Returns whether a comparison goes on without this subject after an error.
    pub(super) fn is_left_out(&self, error: &ComparisonError) -> bool {
        let too_few = match error {
            ComparisonError::TooFew { .. } => true,
            ComparisonError::Task { source, .. } => matches!(source, TaskError::TooFewExamples { .. }),
            _ => false,
        };
        too_few && matches!(self, Subject::Database(..))
    }

    /// Makes settings those of this subject.
    pub(super) fn set(&self, data: &mut DataConfig) {
        match self {
            Subject::Own => {}
            Subject::Domain(domain) => domain.clone_into(&mut data.domain),
            Subject::Database(database, labeled) => {
                data.dataset = Dataset::Database;
                database.folder().clone_into(&mut data.folder);
                data.database = database.location();
                labeled.clone_into(&mut data.labeled);
            }
        }
    }

    /// Returns the keys and values of these settings.
    pub(super) fn settings(&self, data: &DataConfig) -> Result<Vec<(String, String)>, ComparisonError> {
        let text = |path: &Path| {
            let text = path.to_str().ok_or_else(|| ComparisonError::Path(path.to_owned()))?;
            Ok(format!("{text:?}"))
        };
        let settings = match self {
            Subject::Own => vec![],
            Subject::Domain(domain) => vec![("data.domain", domain.clone())],
            Subject::Database(..) => vec![
                ("data.dataset", "database".to_owned()),
                ("data.folder", text(&data.folder)?),
                ("data.database", format!("{:?}", data.database)),
                ("data.labeled", text(&data.labeled)?),
            ],
        };
        Ok(settings.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    }
}
