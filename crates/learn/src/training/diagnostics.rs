//! What search and running programs say of unlabeled questions: credit, and the diagnostics of the paper's section 5.3.

use crate::objectives::{Candidates, Credit, Objective};
use crate::{Fallback, Judge, LearnConfig, UnlabeledExample};
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};
use xpr_lang::Program;
use xpr_parser::Candidate;

/// What unlabeled questions brought; means over the batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct UnlabeledReport {
    /// The objective's loss.
    pub loss: f64,
    /// The share of candidates that are rewarded.
    pub rewarded: f64,
    /// The probability of all candidates together.
    pub mass: f64,
    /// The length of rewarded programs over that of their questions, as the paper counts both.
    pub length_ratio: f64,
    /// How far what the objective wants is from top-k MML's posterior: half of their absolute differences, 0 to 1.
    pub gap: f64,
    /// What is known because the right programs are.
    #[serde(flatten)]
    pub gold: Option<GoldReport>,
    /// The share of programs that did not have to be run. Not in a run's metrics: it depends on when the run was
    /// last gone on with, and they must not.
    #[serde(skip)]
    pub known: f64,
}

/// Where the right programs are, for questions whose label is known but not learned from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GoldReport {
    /// The share of questions whose right program is among the rewarded candidates.
    pub coverage: f64,
    /// The mean place of the right program among the candidates, from 1, where it is one.
    pub gold_rank: f64,
}

/// What came of a question's candidates.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) candidates: Vec<Candidate>,
    /// What the objective says of them; nothing if it has nothing to aim at.
    pub(crate) credit: Option<Credit>,
    /// How far to trust that one of those that are rewarded is right: their probability, or all the way where the answer is known.
    pub(crate) trust: f64,
    /// What a report is made of.
    sums: Sums,
    /// Running programs took this long.
    pub(crate) execution: Duration,
}

/// Credit below this is not worth scoring its program again.
const NEGLIGIBLE: f64 = 1e-2;

impl Found {
    /// The programs that have credit worth learning from.
    pub(crate) fn credited(&self, by_committee: bool) -> impl Iterator<Item = (&Program, f64)> {
        let credited = self.credit.iter().flat_map(move |credit| {
            self.candidates.iter().enumerate().map(move |(place, candidate)| {
                // Of probabilities that are not the model's own, what to believe is all there is to learn; and what the
                // committee is not sure of counts less.
                let credit = if by_committee { -credit.q[place] * self.trust } else { credit.credit[place] };
                (&candidate.program, credit)
            })
        });
        credited.filter(|(_, credit)| credit.abs() >= NEGLIGIBLE)
    }
}

/// How unlabeled questions are explored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Explorer {
    pub(crate) objective: Objective,
    pub(crate) fallback: Fallback,
    /// Candidates a question.
    pub(crate) beam: usize,
}

impl Explorer {
    /// The explorer of these settings, if there is something to explore for.
    pub(crate) fn new(learn: &LearnConfig) -> Option<Self> {
        let &LearnConfig { fallback, beam, .. } = learn;
        learn.objective.map(|objective| Explorer { objective, fallback, beam })
    }

    /// Runs programs that were found for an unlabeled question, and asks the objective.
    pub(crate) fn look(
        self,
        example: &UnlabeledExample,
        candidates: Vec<Candidate>,
        judge: &mut Judge<'_>,
    ) -> Found {
        let start = Instant::now();
        let rewarded = judge.rewards(&candidates, &example.question, example.answer.as_ref());
        let execution = start.elapsed();
        let logs: Vec<f64> =
            candidates.iter().map(|candidate| f64::from(candidate.log_probability)).collect();
        let seen = Candidates { log_probabilities: &logs, rewarded: &rewarded };
        let credit = self.objective.credit(seen).or_else(|| match self.fallback {
            Fallback::Repulsion => Objective::Repulsion.credit(seen),
            Fallback::Skip => None,
        });
        let sums = Sums::of(example, &candidates, seen, credit.as_ref(), judge);
        let trust = match judge.is_certain(example) {
            true => f64::from(u8::from(rewarded.contains(&true))),
            false => logs
                .iter()
                .zip(&rewarded)
                .map(|(log, rewarded)| if *rewarded { log.exp() } else { 0.0 })
                .sum(),
        };
        Found { candidates, credit, trust, sums, execution }
    }
}

/// What some questions brought together.
pub(crate) fn report<'f>(found: impl IntoIterator<Item = &'f Found>, judge: &Judge<'_>) -> UnlabeledReport {
    let sums = found.into_iter().fold(Sums::default(), |sums, found| sums.and(&found.sums));
    UnlabeledReport { known: judge.hit_rate(), ..sums.report() }
}

/// What a report is made of, summed over questions.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    questions: usize,
    loss: f64,
    rewarded: f64,
    mass: f64,
    gap: f64,
    /// Σ |y| and Σ |x| over rewarded programs.
    program_length: usize,
    question_length: usize,
    /// Questions whose right program is known, is rewarded, is a candidate; and its places.
    labeled: usize,
    covered: usize,
    found: usize,
    places: usize,
}

impl Sums {
    /// Those of one question.
    fn of(
        example: &UnlabeledExample,
        candidates: &[Candidate],
        seen: Candidates<'_>,
        credit: Option<&Credit>,
        judge: &Judge<'_>,
    ) -> Self {
        let mut sums = Sums { questions: 1, ..Sums::default() };
        let rewarded = || candidates.iter().zip(seen.rewarded).filter(|(_, rewarded)| **rewarded);
        sums.rewarded += rewarded().count() as f64 / candidates.len().max(1) as f64;
        sums.mass += seen.log_probabilities.iter().map(|log| log.exp()).sum::<f64>().min(1.0);
        for (candidate, _) in rewarded() {
            sums.program_length += judge.task().language().length(&candidate.program);
            sums.question_length += example.question.word_count();
        }
        if let Some(credit) = credit {
            sums.loss += credit.loss;
            if let Some(top_k) = Objective::TopK.credit(seen) {
                let differences = credit.q.iter().zip(&top_k.q).map(|(own, other)| (own - other).abs());
                sums.gap += differences.sum::<f64>() / 2.0;
            }
        }
        if let Some(gold) = &example.gold {
            sums.labeled += 1;
            if let Some(place) = candidates.iter().position(|candidate| candidate.program == *gold) {
                sums.found += 1;
                sums.places += place + 1;
                sums.covered += usize::from(seen.rewarded[place]);
            }
        }
        sums
    }

    fn and(self, other: &Sums) -> Self {
        Sums {
            questions: self.questions + other.questions,
            loss: self.loss + other.loss,
            rewarded: self.rewarded + other.rewarded,
            mass: self.mass + other.mass,
            gap: self.gap + other.gap,
            program_length: self.program_length + other.program_length,
            question_length: self.question_length + other.question_length,
            labeled: self.labeled + other.labeled,
            covered: self.covered + other.covered,
            found: self.found + other.found,
            places: self.places + other.places,
        }
    }

    fn report(&self) -> UnlabeledReport {
        let mean = |sum: f64| sum / self.questions.max(1) as f64;
        let ratio = |over: usize, under: usize| over as f64 / under.max(1) as f64;
        UnlabeledReport {
            loss: mean(self.loss),
            rewarded: mean(self.rewarded),
            mass: mean(self.mass),
            length_ratio: ratio(self.program_length, self.question_length),
            gap: mean(self.gap),
            gold: (self.labeled > 0).then(|| GoldReport {
                coverage: ratio(self.covered, self.labeled),
                gold_rank: ratio(self.places, self.found),
            }),
            known: 0.0,
        }
    }
}
