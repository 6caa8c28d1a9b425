//! Better parsers from what people say about answers.
//!
//! ```text
//! question log ─► asked questions ─► programs of the confirmed answers ─► cross-fitting ─► new parser ─► promoted, or not
//!                 labels, answers,   the most probable program with       parsers without
//!                 rejected answers   that answer (the E-step)             a part of the new
//!                 and bare questions                                      confirmations
//! ```
//!
//! [`improve`] trains a new parser for a run from what its [log](xpr_log) has, compares it with the current one, and promotes it if it is
//! not worse. [`roll_back`] goes back. [`simulate`] measures what clicks are worth, with the labels of a benchmark in the place of a person.
//!
//! # The comparison
//! Parsers are compared on *new* confirmed questions, about which people said something after the current parser was trained. To hold them
//! out for ever would waste them: confirmations are few, and a person who corrects an answer expects the correction to be learned. So each
//! part of them ([`FOLDS`]) is held out of one parser, which is trained exactly as the new one is and otherwise thrown away, and which is
//! asked the questions of its part. The current parser is asked all of them; it has seen none. The part of a question depends on its
//! words only. [`Decision`] says what "not worse" means.
//!
//! A question that the current parser has learned and whose answer people corrected since is worth a new parser as well, but is no new one:
//! it is among those that were known before, with its present answer.
//!
//! *Architecture invariant:* the current parser of a run changes only after the new one is complete and compared.

mod answers;
mod asked;
mod decision;
mod error;
mod improvement;
mod news;
mod progress;
mod simulation;
mod simulation_record;
mod simulation_summary;

pub use answers::{ShownAnswers, programs_of_answers, shown_answers};
pub use asked::asked_questions;
pub use decision::{Decision, PairedAnswers};
pub use error::ImproveError;
pub use improvement::{FOLDS, ImproveOptions, Improved, Improvement, improve, roll_back};
pub use progress::{ImproveObserver, Stage};
pub use simulation::{ClickOrder, ClickSource, SimulatedParser, Simulation, SimulationSettings, simulate};
pub use simulation_summary::SeriesPoint;
