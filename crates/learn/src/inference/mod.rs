//! Answering: candidates are re-ranked, executed, and one is chosen; how sure that is; and which questions are declined.

mod choose;
mod confidence;
mod estimator;
mod evaluation;
mod features;
mod linear;
mod nearest_questions;
mod penalties;
mod question_words;
mod ranked_beam;
mod rerank;
mod scope;
mod votes;

pub use choose::{Answer, AnswerChooser};
pub use confidence::{ConfidenceModel, fit_weights};
pub use estimator::{ConfidenceEstimator, ConfidenceRecord};
pub use evaluation::{answer_features, evaluate, evaluate_with_confidence, judged_candidates};
pub use features::AnswerFeatures;
pub(crate) use nearest_questions::nearest_question;
pub use penalties::{JudgedCandidate, fit_penalties};
pub use ranked_beam::RankedBeam;
pub use rerank::Reranked;
pub use scope::{OutOfScope, Scope};
pub use votes::AnswerGroup;
