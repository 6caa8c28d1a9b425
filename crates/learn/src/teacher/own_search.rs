//! The paper's teacher: the parser's own beam.
//!
//! For an unlabeled question x, the parser searches programs y₁ … y_k. They are executed, which decides the rewards, and the
//! objective turns log-probabilities and rewards into a posterior q and credits c (the E-step). The lesson is the programs with
//! their credits: the gradient of the unlabeled loss is Σ c_i ∇ log p(y_i | x) (the M-step).

use super::{Lesson, LessonDiagnostics, Student, Teacher, with_weights};
use crate::objectives::{Candidates, Credit, Objective, Repulsion};
use crate::reward::Judge;
use crate::task::{TaskError, UnlabeledExample};
use std::time::{Duration, Instant};
use xpr_parser::Candidate;
use xpr_run::{Fallback, LearnConfig};

/// The paper's teacher: candidates are the parser's own, found while it is trained.
#[derive(Debug)]
pub struct OwnSearch<'t> {
    e_step: EStep<'t>,
    start: usize,
    weight: f64,
    beam: usize,
    dropout: bool,
}

impl<'t> OwnSearch<'t> {
    /// Creates the teacher with `learn.start`, `learn.weight`, `learn.beam` and `learn.search_dropout` of the settings.
    pub fn new(e_step: EStep<'t>, learn: &LearnConfig) -> Self {
        let LearnConfig { start, weight, beam, search_dropout: dropout, .. } = *learn;
        OwnSearch { e_step, start, weight, beam, dropout }
    }
}

impl Teacher for OwnSearch<'_> {
    fn start(&self) -> usize {
        self.start
    }

    fn weight(&self, _: usize) -> f64 {
        self.weight
    }

    fn lessons(&mut self, batch: &[(usize, &UnlabeledExample)], student: &mut Student<'_>) -> Vec<Lesson> {
        let beams = match self.dropout {
            true => student.search_with_dropout(self.beam),
            false => student.search(self.beam),
        };
        let lesson = |(question, candidates): (usize, Vec<Candidate>)| {
            if !student.searches(question) {
                return Lesson::default();
            }
            let (_, example) = batch[question];
            let posterior = self.e_step.posterior(example, &candidates);
            Lesson {
                programs: with_weights(candidates, &posterior.credit.credit),
                loss: Some(posterior.credit.loss),
                diagnostics: posterior.diagnostics,
                execution: posterior.execution,
            }
        };
        beams.into_iter().enumerate().map(lesson).collect()
    }

    fn cache_hit_rate(&self) -> Option<f64> {
        Some(self.e_step.judge.cache_hit_rate())
    }

    fn check_data(&self) -> Result<(), TaskError> {
        self.e_step.judge.task().check_unchanged()
    }
}

/// The E-step: executes the candidates of a question and asks the objective.
#[derive(Debug)]
pub struct EStep<'t> {
    objective: &'t dyn Objective,
    fallback: Fallback,
    pub(super) judge: Judge<'t>,
}

/// What the E-step says about the candidates of a question.
#[derive(Debug)]
pub(super) struct Posterior {
    /// The posterior and the credits; empty if the question teaches nothing.
    pub(super) credit: Credit,
    /// The probability that a rewarded candidate is right: the mass of the rewarded ones, or 1 if the answer is known.
    pub(super) confidence: f64,
    pub(super) diagnostics: LessonDiagnostics,
    /// The time it took to run the candidates.
    pub(super) execution: Duration,
}

impl<'t> EStep<'t> {
    /// Creates the E-step of an objective. `fallback` is for questions none of whose candidates is rewarded.
    pub fn new(objective: &'t dyn Objective, fallback: Fallback, judge: Judge<'t>) -> Self {
        EStep { objective, fallback, judge }
    }

    pub(super) fn posterior(&mut self, example: &UnlabeledExample, candidates: &[Candidate]) -> Posterior {
        let start = Instant::now();
        let answer = example.answer.as_ref();
        let rewarded = self.judge.rewards(candidates, example);
        let execution = start.elapsed();
        let logs: Vec<f64> =
            candidates.iter().map(|candidate| f64::from(candidate.log_probability)).collect();
        let seen = Candidates { log_probabilities: &logs, rewarded: &rewarded };
        let credit = self.objective.credit(seen).or_else(|| match self.fallback {
            Fallback::Repulsion => Repulsion.credit(seen),
            Fallback::Skip => None,
        });
        let credit = credit.unwrap_or_default();
        let confidence = match self.judge.policy().is_certain(answer) {
            true => f64::from(u8::from(rewarded.contains(&true))),
            false => seen.rewarded_mass(),
        };
        let language = self.judge.task().language();
        let diagnostics = LessonDiagnostics::new(language, example, candidates, seen, &credit);
        Posterior { credit, confidence, diagnostics, execution }
    }
}
