//! The calibration of predictions.

use crate::prediction::{chosen_candidate, probability};
use xpr_run::{Calibration, Prediction};

/// Returns the calibration of predictions, or nothing if there are none. Confidence is what the run recorded for an answer or, if it recorded
/// nothing, the probability of the candidate that was chosen.
pub(crate) fn calibration<'a>(predictions: impl Iterator<Item = &'a Prediction>) -> Option<Calibration> {
    // Without a candidate, confidence is 0.
    let of_program = |prediction: &Prediction| chosen_candidate(prediction).map_or(0.0, probability);
    let answer = |prediction: &Prediction| {
        (prediction.confidence.unwrap_or_else(|| of_program(prediction)).clamp(0.0, 1.0), prediction.correct)
    };
    Calibration::measure(predictions.map(answer).collect())
}
