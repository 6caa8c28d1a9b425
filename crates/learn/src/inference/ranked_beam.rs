//! The candidates of a question, as they are ranked for an answer.

use xpr_parser::Candidate;

/// The candidates of a question.
#[derive(Clone, Debug)]
pub struct RankedBeam {
    /// The candidates after re-ranking, most probable first.
    pub candidates: Vec<Candidate>,
    /// The parser's own log-probability of each candidate.
    pub own: Vec<f32>,
}

impl RankedBeam {
    /// Returns candidates that are not re-ranked.
    pub fn of_parser(candidates: Vec<Candidate>) -> Self {
        let own = candidates.iter().map(|candidate| candidate.log_probability).collect();
        RankedBeam { candidates, own }
    }
}
