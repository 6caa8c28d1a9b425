//! What a folder of simulated parsers records, so that a later simulation does not take them for its own.

use crate::error::ImproveError;
use crate::simulation::SimulationSettings;
use serde::{Deserialize, Serialize};
use std::path::Path;
use xpr_run::RunError;

/// The name of the file of the record.
const FILE: &str = "simulation.json";

/// The settings of a simulation that the runs of its parsers do not record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SimulationRecord {
    /// The number of different answers that are shown.
    shown: usize,
    /// The numbers of clicks after which a parser is trained. It shows the answers from then on.
    clicks: Vec<usize>,
}

impl SimulationRecord {
    pub(crate) fn of(settings: &SimulationSettings) -> Self {
        SimulationRecord { shown: settings.shown, clicks: settings.clicks.clone() }
    }

    /// Checks that the parsers of a folder are those of this simulation, or of one with more or fewer clicks at its end, and records it.
    ///
    /// # Errors
    /// If the folder has parsers of another simulation, or its file cannot be read or written.
    pub(crate) fn agree(&self, folder: &Path) -> Result<(), ImproveError> {
        let path = folder.join(FILE);
        let in_file = |source| RunError::File { path: path.clone(), source };
        let content_error = |error: serde_json::Error| RunError::Content {
            path: path.clone(),
            message: format!("it is not what xpr wrote: {error}; restore it, or name another folder"),
        };
        if path.exists() {
            let content = xpr_data::read_bytes(&path).map_err(in_file)?;
            let recorded: SimulationRecord = serde_json::from_slice(&content).map_err(content_error)?;
            if !self.continues(&recorded) {
                return Err(ImproveError::OtherSimulation(folder.to_owned()));
            }
            if recorded.clicks.len() >= self.clicks.len() {
                return Ok(());
            }
        }
        let content = serde_json::to_vec_pretty(self).map_err(content_error)?;
        Ok(xpr_data::write_file(&path, &content).map_err(in_file)?)
    }

    fn continues(&self, recorded: &SimulationRecord) -> bool {
        self.shown == recorded.shown
            && self.clicks.iter().zip(&recorded.clicks).all(|(now, then)| now == then)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_simulation_continues_one_whose_parsers_showed_the_same_answers() {
        let folder = tempfile::tempdir().unwrap();
        let agree = |shown, clicks: &[usize]| {
            let record = SimulationRecord { shown, clicks: clicks.to_vec() };
            record.agree(folder.path()).map_err(|error| error.to_string())
        };
        for (shown, clicks, agrees) in [
            (3, &[1, 3][..], true),
            (3, &[1], true),
            (3, &[1, 3, 9], true),
            (2, &[1, 3], false),
            (3, &[3], false),
            (3, &[1, 4], false),
            (3, &[1, 3, 8], false),
        ] {
            assert_eq!(agree(shown, clicks).is_ok(), agrees, "{shown} {clicks:?}");
        }
        assert!(
            agree(2, &[1])
                .unwrap_err()
                .contains("holds a simulation with other settings; name another folder")
        );
        std::fs::write(folder.path().join(FILE), "{").unwrap();
        assert!(agree(3, &[1]).unwrap_err().contains("simulation.json: it is not what xpr wrote"));
    }
}
