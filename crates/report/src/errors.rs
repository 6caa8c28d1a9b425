//! Error analysis: accuracy by construction and by length of the program, frequent confusions, and the wrong answers
//! themselves.

use crate::pairing::{QuestionId, identified};
use crate::prediction::{chosen_candidate, gold_program};
use crate::program_text::{constructions, counts, length_bucket, surplus, tokens};
use crate::run::LoadedRun;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use xpr_run::Prediction;

/// The errors of a group. Counts are over all runs of the group.
#[derive(Clone, Debug, Serialize)]
pub struct ErrorAnalysis {
    /// The number of answers.
    pub answers: usize,
    /// The number of answers of each kind.
    pub kinds: Vec<(PredictionKind, usize)>,
    /// The number of correct answers whose program is not the labeled one.
    pub right_by_another_program: usize,
    /// The number of answers by the rank of their first correct candidate, from the most probable candidate on.
    pub places: Vec<usize>,
    /// Accuracy by the constructions of the labeled program.
    pub constructions: Vec<QuestionSubset>,
    /// Accuracy by the length of the labeled program.
    pub lengths: Vec<QuestionSubset>,
    /// The tokens that wrong programs lack most often, with counts.
    pub missed: Vec<(String, usize)>,
    /// The tokens that wrong programs have too many of most often, with counts.
    pub invented: Vec<(String, usize)>,
    /// The token of the label, that of the program, and a count, for wrong programs with one wrong token.
    pub confused: Vec<(String, String, usize)>,
    /// The number of questions that are answered wrongly in at least one run.
    pub wrong_questions: usize,
    /// These questions, or the first of them.
    #[serde(skip)]
    pub wrong: Vec<WrongQuestion>,
}

/// Whether an answer is correct, and if not, why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PredictionKind {
    /// The chosen candidate is correct.
    Right,
    /// Another candidate is correct.
    FurtherDown,
    /// Candidates execute, but none is correct.
    NotFound,
    /// No candidate executes.
    Fails,
}

impl PredictionKind {
    /// The kinds of wrong answers.
    pub(crate) const WRONG: [PredictionKind; 3] =
        [PredictionKind::FurtherDown, PredictionKind::NotFound, PredictionKind::Fails];

    /// Returns the name in reports.
    pub fn name(self) -> &'static str {
        match self {
            PredictionKind::Right => "correct",
            PredictionKind::FurtherDown => "correct candidate ranked lower",
            PredictionKind::NotFound => "no correct candidate",
            PredictionKind::Fails => "no executable candidate",
        }
    }

    fn of(prediction: &Prediction) -> PredictionKind {
        if prediction.correct {
            PredictionKind::Right
        } else if prediction.right_at.is_some() {
            PredictionKind::FurtherDown
        } else if chosen_candidate(prediction).is_some_and(|chosen| chosen.outcome.executes()) {
            PredictionKind::NotFound
        } else {
            // A candidate that executes is chosen before one that does not.
            PredictionKind::Fails
        }
    }
}

/// The accuracy on a subset of the questions.
#[derive(Clone, Debug, Serialize)]
pub struct QuestionSubset {
    /// What the questions have in common.
    pub name: String,
    /// The number of answers.
    pub answers: usize,
    /// The number of correct answers.
    pub right: usize,
}

/// A question that is answered wrongly in some run.
#[derive(Clone, Debug)]
pub struct WrongQuestion {
    /// The prediction of the first run that is wrong.
    pub prediction: Prediction,
    /// The kind of its answer.
    pub kind: PredictionKind,
    /// The number of runs that answer it wrongly.
    pub wrong_in: usize,
    /// The number of runs.
    pub runs: usize,
}

/// The most entries of a list of tokens.
const MOST_TOKENS: usize = 8;

/// Analyses the errors of a group and lists at most `most` of them. Returns nothing if there are no predictions.
pub(crate) fn analyse(runs: &[&LoadedRun], most: usize) -> Option<ErrorAnalysis> {
    let mut tally = Tally::default();
    for prediction in runs.iter().flat_map(|run| &run.predictions) {
        tally.add(prediction);
    }
    if tally.kinds.is_empty() {
        return None;
    }
    let mut wrong = wrong_questions(runs);
    let wrong_questions = wrong.len();
    wrong.truncate(most);
    Some(ErrorAnalysis { wrong_questions, wrong, ..tally.finish() })
}

/// A number of answers and how many of them are correct.
#[derive(Clone, Copy, Default)]
struct AnswerCount {
    answers: usize,
    right: usize,
}

impl AnswerCount {
    fn add(&mut self, is_right: bool) {
        self.answers += 1;
        self.right += usize::from(is_right);
    }

    fn named(self, name: String) -> QuestionSubset {
        QuestionSubset { name, answers: self.answers, right: self.right }
    }
}

/// Counts over predictions.
#[derive(Default)]
struct Tally {
    kinds: BTreeMap<PredictionKind, usize>,
    right_by_another_program: usize,
    places: Vec<usize>,
    by_construction: BTreeMap<&'static str, AnswerCount>,
    by_length: BTreeMap<(usize, String), AnswerCount>,
    missed: BTreeMap<String, usize>,
    invented: BTreeMap<String, usize>,
    confused: BTreeMap<(String, String), usize>,
}

impl Tally {
    fn add(&mut self, prediction: &Prediction) {
        *self.kinds.entry(PredictionKind::of(prediction)).or_default() += 1;
        if let Some(place) = prediction.right_at {
            self.places.resize(self.places.len().max(place + 1), 0);
            self.places[place] += 1;
        }
        let gold = tokens(gold_program(prediction));
        let chosen = tokens(chosen_candidate(prediction).map_or("", |chosen| &chosen.program));
        let (gold, chosen) = (counts(&gold), counts(&chosen));
        for name in constructions(&gold) {
            self.by_construction.entry(name).or_default().add(prediction.correct);
        }
        let length = length_bucket(gold.values().sum());
        self.by_length.entry(length).or_default().add(prediction.correct);
        if prediction.correct {
            self.right_by_another_program += usize::from(gold != chosen);
        } else {
            self.add_confusions(&surplus(&gold, &chosen), &surplus(&chosen, &gold));
        }
    }

    /// Counts the tokens that a wrong program lacks, and those that it has too many of.
    fn add_confusions(&mut self, missed: &BTreeSet<&str>, invented: &BTreeSet<&str>) {
        if let (1, 1, Some(gold), Some(chosen)) =
            (missed.len(), invented.len(), missed.first(), invented.first())
        {
            *self.confused.entry(((*gold).to_owned(), (*chosen).to_owned())).or_default() += 1;
        }
        for (tokens, counts) in [(missed, &mut self.missed), (invented, &mut self.invented)] {
            for token in tokens {
                *counts.entry((*token).to_owned()).or_default() += 1;
            }
        }
    }

    /// Returns the counts as an analysis that lists no questions.
    fn finish(self) -> ErrorAnalysis {
        let mut constructions: Vec<QuestionSubset> =
            self.by_construction.into_iter().map(|(name, count)| count.named(name.to_owned())).collect();
        constructions
            .sort_by(|left, right| right.answers.cmp(&left.answers).then_with(|| left.name.cmp(&right.name)));
        let confused = most_frequent(self.confused).into_iter();
        ErrorAnalysis {
            answers: self.kinds.values().sum(),
            kinds: self.kinds.into_iter().collect(),
            right_by_another_program: self.right_by_another_program,
            places: self.places,
            constructions,
            lengths: self.by_length.into_iter().map(|((_, name), count)| count.named(name)).collect(),
            missed: most_frequent(self.missed),
            invented: most_frequent(self.invented),
            confused: confused.map(|((gold, chosen), count)| (gold, chosen, count)).collect(),
            wrong_questions: 0,
            wrong: vec![],
        }
    }
}

fn most_frequent<T: Ord>(counts: BTreeMap<T, usize>) -> Vec<(T, usize)> {
    let mut all: Vec<(T, usize)> = counts.into_iter().collect();
    all.sort_by(|left, right| right.1.cmp(&left.1).then_with(|| left.0.cmp(&right.0)));
    all.truncate(MOST_TOKENS);
    all
}

/// Returns the questions that some run answers wrongly, those that most runs answer wrongly first, and otherwise in the
/// order in which they were asked.
fn wrong_questions(runs: &[&LoadedRun]) -> Vec<WrongQuestion> {
    let with_predictions: Vec<&&LoadedRun> = runs.iter().filter(|run| !run.predictions.is_empty()).collect();
    let mut wrong: Vec<WrongQuestion> = Vec::new();
    let mut positions: BTreeMap<QuestionId<'_>, usize> = BTreeMap::new();
    for run in &with_predictions {
        for (question, prediction) in identified(&run.predictions).filter(|(_, answer)| !answer.correct) {
            let position = *positions.entry(question).or_insert_with(|| {
                wrong.push(WrongQuestion {
                    prediction: prediction.clone(),
                    kind: PredictionKind::of(prediction),
                    wrong_in: 0,
                    runs: with_predictions.len(),
                });
                wrong.len() - 1
            });
            wrong[position].wrong_in += 1;
        }
    }
    wrong.sort_by_key(|question| Reverse(question.wrong_in));
    wrong
}
