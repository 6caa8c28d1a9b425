//! Answering: candidates are re-ranked, executed, and one is chosen.

mod choose;
mod evaluation;
mod rerank;
mod votes;

pub use choose::{Answer, AnswerChooser};
pub use evaluation::evaluate;
pub use rerank::Reranked;
pub use votes::AnswerGroup;
