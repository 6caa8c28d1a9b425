//! What search and running programs say of unlabeled questions: credit, and the diagnostics of the paper's section 5.3.

use crate::objectives::{Candidates, Credit, Objective};
use crate::{Fallback, Judge, UnlabeledExample};
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};
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

/// What came of a batch.
pub(crate) struct Explored {
    pub(crate) candidates: Vec<Vec<Candidate>>,
    /// What the objective says of each question's candidates; nothing if it has nothing to aim at.
    pub(crate) credits: Vec<Option<Credit>>,
    /// The probability of each question's rewarded candidates.
    pub(crate) trust: Vec<f64>,
    pub(crate) report: UnlabeledReport,
    /// Of which running programs took this long.
    pub(crate) execution: Duration,
}

/// Runs programs that were found for unlabeled questions, and asks the objective.
pub(crate) fn explore(
    objective: Objective,
    fallback: Fallback,
    examples: &[&UnlabeledExample],
    candidates: Vec<Vec<Candidate>>,
    judge: &mut Judge<'_>,
) -> Explored {
    let start = Instant::now();
    let rewarded: Vec<Vec<bool>> = examples
        .iter()
        .zip(&candidates)
        .map(|(example, candidates)| judge.rewards(candidates, &example.question, example.answer.as_ref()))
        .collect();
    let execution = start.elapsed();

    let mut means = Means::default();
    let credits = examples
        .iter()
        .zip(candidates.iter().zip(&rewarded))
        .map(|(example, (candidates, rewarded))| {
            let logs: Vec<f64> =
                candidates.iter().map(|candidate| f64::from(candidate.log_probability)).collect();
            let seen = Candidates { log_probabilities: &logs, rewarded };
            let credit = objective.credit(seen).or_else(|| match fallback {
                Fallback::Repulsion => Objective::Repulsion.credit(seen),
                Fallback::Skip => None,
            });
            means.add(example, candidates, seen, credit.as_ref(), judge);
            credit
        })
        .collect();
    let mass = |(candidates, rewarded): (&Vec<Candidate>, &Vec<bool>)| -> f64 {
        let both = candidates.iter().zip(rewarded).filter(|(_, rewarded)| **rewarded);
        both.map(|(candidate, _)| f64::from(candidate.log_probability).exp()).sum()
    };
    let trust = candidates.iter().zip(&rewarded).map(mass).collect();
    let report = UnlabeledReport { known: judge.hit_rate(), ..means.report() };
    Explored { candidates, credits, trust, report, execution }
}

/// Sums over a batch.
#[derive(Default)]
struct Means {
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

impl Means {
    fn add(
        &mut self,
        example: &UnlabeledExample,
        candidates: &[Candidate],
        seen: Candidates<'_>,
        credit: Option<&Credit>,
        judge: &Judge<'_>,
    ) {
        self.questions += 1;
        let rewarded = || candidates.iter().zip(seen.rewarded).filter(|(_, rewarded)| **rewarded);
        self.rewarded += rewarded().count() as f64 / candidates.len().max(1) as f64;
        self.mass += seen.log_probabilities.iter().map(|log| log.exp()).sum::<f64>().min(1.0);
        for (candidate, _) in rewarded() {
            self.program_length += judge.task().language().length(&candidate.program);
            self.question_length += example.question.words();
        }
        if let Some(credit) = credit {
            self.loss += credit.loss;
            if let Some(top_k) = Objective::TopK.credit(seen) {
                let differences = credit.q.iter().zip(&top_k.q).map(|(own, other)| (own - other).abs());
                self.gap += differences.sum::<f64>() / 2.0;
            }
        }
        if let Some(gold) = &example.gold {
            self.labeled += 1;
            if let Some(place) = candidates.iter().position(|candidate| candidate.program == *gold) {
                self.found += 1;
                self.places += place + 1;
                self.covered += usize::from(seen.rewarded[place]);
            }
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
