//! Re-ranking a parser's candidates with the noisy channel.

use super::penalties::penalised;
use super::ranked_beam::RankedBeam;
use crate::task::Task;
use crate::teacher::NoisyChannel;
use crate::teacher::mixture::{reranked, tempered};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use xpr_lang::Program;
use xpr_parser::{Candidate, MentionPenalties, Parser, Question};
use xpr_run::EvalConfig;

/// A parser whose candidates are re-ranked by how well they explain the words of their questions.
pub struct Reranked<'m> {
    task: &'m Task,
    parser: &'m dyn Parser,
    /// Scoring adds new words and values to the channel.
    channel: Mutex<NoisyChannel>,
    weight: f64,
    temperature: f64,
    penalties: Option<MentionPenalties>,
}

impl fmt::Debug for Reranked<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reranked").field("weight", &self.weight).finish_non_exhaustive()
    }
}

impl<'m> Reranked<'m> {
    /// Re-ranks the candidates of a parser with `eval.noisy_channel` and `eval.temperature` of the settings. Without a channel the
    /// candidates stay as they are.
    pub fn new(
        task: &'m Task,
        parser: &'m dyn Parser,
        channel: Option<NoisyChannel>,
        config: &EvalConfig,
    ) -> Self {
        let temperature = config.temperature;
        let weight = if channel.is_some() { config.noisy_channel } else { 0.0 };
        let channel = Mutex::new(channel.unwrap_or_default());
        Reranked { task, parser, channel, weight, temperature, penalties: None }
    }

    /// Penalises candidates for values that they do not use and constants that nobody said, unless the settings turn that off.
    #[must_use]
    pub fn with_penalties(self, penalties: MentionPenalties, config: &EvalConfig) -> Self {
        Reranked { penalties: config.penalties.then_some(penalties), ..self }
    }
}

impl Reranked<'_> {
    /// Returns the candidates of each question with the parser's own probabilities.
    pub fn beams(&self, questions: &[&Question], beam: usize) -> Vec<RankedBeam> {
        let beams = self.reranked_beams(questions, beam);
        let Some(penalties) = &self.penalties else { return beams };
        questions.iter().zip(beams).map(|(question, beam)| penalised(beam, question, penalties)).collect()
    }

    /// Returns the candidates before penalties.
    fn reranked_beams(&self, questions: &[&Question], beam: usize) -> Vec<RankedBeam> {
        let beams = self.parser.candidates(questions, beam);
        if self.weight == 0.0 {
            return beams.into_iter().map(RankedBeam::of_parser).collect();
        }
        // A panic elsewhere leaves the channel valid.
        let mut channel = self.channel.lock().unwrap_or_else(PoisonError::into_inner);
        let rerank = |(question, beam): (&&Question, Vec<Candidate>)| {
            let own: HashMap<Program, f32> =
                beam.iter().map(|candidate| (candidate.program.clone(), candidate.log_probability)).collect();
            let candidates =
                reranked(tempered(beam, self.temperature), (&mut channel, self.weight), self.task, question);
            let own = candidates.iter().map(|candidate| own[&candidate.program]).collect();
            RankedBeam { candidates, own }
        };
        questions.iter().zip(beams).map(rerank).collect()
    }
}

impl Parser for Reranked<'_> {
    fn candidates(&self, questions: &[&Question], beam: usize) -> Vec<Vec<Candidate>> {
        self.beams(questions, beam).into_iter().map(|beam| beam.candidates).collect()
    }
}
