//! An ensemble as the teacher: parsers that were trained on the labels only, from different seeds.
//!
//! A parser that teaches itself repeats its own mistakes, and with few labels it is as sure of them as of what is right. Parsers
//! with other seeds make other mistakes, and so does the [noisy channel](super::noisy_channel), which asks whether a program
//! explains the words of its question. Their mixture
//!
//! ```text
//! p̄(y | x) ∝ p(x | y)^α · 1/M Σ_m p_m(y | x)^(1/T) / Z_m
//! ```
//!
//! times the similarity of the question and the program's sentence if there is a [sentence encoder](super::Paraphrases), is right more often, and less sure where the members disagree; the temperature `T` corrects their overconfidence. The mass of the
//! programs that no member found stays unseen: `p̄` sums to the members' mean mass of what they found. The E-step is
//! done once: the objective turns `p̄` into a posterior `q`. A new parser then learns the labels and `q` from its first step with
//! the loss `−t Σ_y q(y) log p(y | x)`. The weight `t` is the share of the rewarded programs in what was found, so that a question
//! counts less if the ensemble is not sure of it.

use super::exchange::exchanged;
use super::mixture::{reranked, seen_mass, summed, tempered};
use super::own_search::EStep;
use super::{Lesson, NoisyChannel, Paraphrases, Student, Teacher, with_weights};
use crate::hyperparameters::LEAST_SUGGESTED;
use crate::task::UnlabeledExample;
use std::time::Duration;
use xpr_lang::Program;
use xpr_nn::Ranks;
use xpr_parser::{Candidate, Parser, Question};
use xpr_run::LearnConfig;

/// The lessons of an ensemble. They do not change while a parser learns from them.
#[derive(Debug)]
pub struct Ensemble {
    lessons: Vec<Lesson>,
    weight: f64,
}

/// The number of questions that are searched together.
const BATCH: usize = 48;

impl Ensemble {
    /// Asks every member every question, each rank some of them, with `learn.weight`, `learn.beam`, `learn.temperature` and `learn.noisy_channel` of the
    /// settings.
    pub fn new(
        members: &[impl Parser],
        mut channel: NoisyChannel,
        mut paraphrases: Option<&mut Paraphrases>,
        examples: &[UnlabeledExample],
        mut e_step: EStep<'_>,
        (learn, ranks): (&LearnConfig, Option<&dyn Ranks>),
    ) -> Self {
        // Batches are dealt to the ranks.
        let is_own = |index: usize| ranks.is_none_or(|ranks| index / BATCH % ranks.count() == ranks.rank());
        let mut suggested = suggestions(members, examples, learn, &is_own);
        let task = e_step.judge.task();
        let asked = paraphrases.as_deref().map(|paraphrases| paraphrases.encode(examples));
        if let (Some(paraphrases), Some(asked)) = (paraphrases.as_deref(), &asked) {
            for ((example, asked), all) in examples.iter().zip(asked).zip(&mut suggested) {
                let nearest = paraphrases.nearest(task, example, asked);
                if !nearest.is_empty() {
                    all.add(nearest, 1.0);
                }
            }
        }
        let mut lesson = |(index, suggested): (usize, Suggestions)| {
            let example = &examples[index];
            if !is_own(index) {
                return Lesson::default();
            }
            let mut programs = summed(suggested.programs);
            if let (Some(paraphrases), Some(asked)) = (paraphrases.as_deref_mut(), &asked) {
                paraphrases.reweigh(task, example, &asked[index], &mut programs);
            }
            let channel = (&mut channel, learn.noisy_channel);
            let mut candidates = reranked(programs, channel, task, &example.question);
            let likely = candidates.partition_point(|candidate| candidate.log_probability >= LEAST_SUGGESTED);
            candidates.truncate(likely.max(1));
            let mass = (suggested.mass / suggested.members as f64).ln() as f32;
            candidates.iter_mut().for_each(|candidate| candidate.log_probability += mass);
            taught(example, candidates, &mut e_step)
        };
        let mut lessons: Vec<Lesson> = suggested.into_iter().enumerate().map(&mut lesson).collect();
        if let Some(ranks) = ranks {
            lessons = exchanged(ranks, lessons, is_own, &examples.iter().collect::<Vec<_>>());
        }
        Ensemble { lessons, weight: learn.weight }
    }
}

impl Ensemble {
    /// Returns the program that each question is taught most, with its weight from 0 to 1.
    pub(crate) fn best_programs(&self) -> impl Iterator<Item = Option<(&Program, f64)>> {
        let most = |left: &&(Program, f64), right: &&(Program, f64)| right.1.total_cmp(&left.1);
        self.lessons.iter().map(move |lesson| {
            lesson.programs.iter().max_by(most).map(|(program, weight)| (program, -weight))
        })
    }
}

/// What all members suggest for a question.
#[derive(Clone, Debug, Default)]
struct Suggestions {
    /// The programs of all members, with their probabilities.
    programs: Vec<(Program, f64)>,
    /// The sum over the members of the probability of what they found.
    mass: f64,
    /// The number of members. The nearest labels count as one, if there are any.
    members: usize,
}

impl Suggestions {
    /// Adds what a member found, with the probability of all of it.
    fn add(&mut self, programs: Vec<(Program, f64)>, mass: f64) {
        self.programs.extend(programs);
        self.mass += mass;
        self.members += 1;
    }
}

/// Returns the suggestions for each question of this rank, and none for the others.
fn suggestions(
    members: &[impl Parser],
    examples: &[UnlabeledExample],
    learn: &LearnConfig,
    is_own: &dyn Fn(usize) -> bool,
) -> Vec<Suggestions> {
    let questions: Vec<&Question> = examples.iter().map(|example| &example.question).collect();
    let mut suggested = vec![Suggestions::default(); questions.len()];
    for member in members {
        for (batch, all) in questions
            .chunks(BATCH)
            .zip(suggested.chunks_mut(BATCH))
            .enumerate()
            .filter_map(|(index, batch)| is_own(index * BATCH).then_some(batch))
        {
            for (beam, all) in member.candidates(batch, learn.beam).into_iter().zip(all) {
                let mass = seen_mass(&beam, learn.temperature);
                all.add(tempered(beam, learn.temperature), mass);
            }
        }
    }
    suggested
}

/// Returns the lesson of the ensemble's candidates. They are not the student's own, so the loss is the cross-entropy to the
/// posterior, and the weight of a program is `−t q`.
fn taught(example: &UnlabeledExample, candidates: Vec<Candidate>, e_step: &mut EStep<'_>) -> Lesson {
    let posterior = e_step.posterior(example, &candidates);
    // How sure the ensemble is of what it found; what it did not find says nothing about that.
    let seen: f64 = candidates.iter().map(|candidate| f64::from(candidate.log_probability).exp()).sum();
    let confidence = (posterior.confidence / seen.max(f64::MIN_POSITIVE)).min(1.0);
    let weights: Vec<f64> = posterior.credit.q.iter().map(|q| -q * confidence).collect();
    Lesson {
        programs: with_weights(candidates, &weights),
        loss: None,
        diagnostics: posterior.diagnostics,
        execution: Duration::ZERO,
    }
}

impl Teacher for Ensemble {
    fn weight(&self, _: usize) -> f64 {
        self.weight
    }

    fn lessons(&mut self, batch: &[(usize, &UnlabeledExample)], _: &mut Student<'_>) -> Vec<Lesson> {
        batch.iter().map(|(index, _)| self.lessons[*index].clone()).collect()
    }
}
