//! Where answers go wrong: by what programs are made of, by their length, by what is confused, and one by one.

use crate::groups::{Question, questions};
use crate::run::{Answer, Run, ran};
use crate::shape::{beyond, constructions, counts, length_bucket, tokens};
use serde::Serialize;
use std::collections::BTreeMap;

/// Where answers go wrong. Counts are over all runs of a group.
#[derive(Clone, Debug, Serialize)]
pub struct Errors {
    /// How many answers.
    pub answers: usize,
    /// Of these, how many are of each kind.
    pub kinds: Vec<(Kind, usize)>,
    /// Right answers whose program is not the labeled one.
    pub right_by_another_program: usize,
    /// At which place among the candidates the first right one is, from the first place on.
    pub places: Vec<usize>,
    /// Accuracy by what the labeled program is made of.
    pub constructions: Vec<Part>,
    /// Accuracy by the length of the labeled program.
    pub lengths: Vec<Part>,
    /// What wrong programs lack most often.
    pub missed: Vec<(String, usize)>,
    /// What wrong programs have instead.
    pub invented: Vec<(String, usize)>,
    /// Where a wrong program differs in one thing only: what it should say, what it says, and how often.
    pub confused: Vec<(String, String, usize)>,
    /// How many questions are answered wrongly in at least one run.
    pub wrong_questions: usize,
    /// These questions, or the first of them.
    #[serde(skip)]
    pub wrong: Vec<Wrong>,
}

/// What an answer is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// It is right.
    Right,
    /// The right one is further down among the candidates.
    FurtherDown,
    /// No candidate is right.
    NotFound,
    /// No candidate even executes.
    Fails,
}

impl Kind {
    /// What to call it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Right => "right",
            Kind::FurtherDown => "right one further down",
            Kind::NotFound => "no candidate is right",
            Kind::Fails => "no candidate executes",
        }
    }

    fn of(answer: &Answer) -> Kind {
        if answer.correct {
            Kind::Right
        } else if answer.right_at.is_some() {
            Kind::FurtherDown
        } else if answer.guess().is_some_and(|guess| ran(&guess.outcome)) {
            Kind::NotFound
        } else {
            Kind::Fails
        }
    }
}

/// Answers to questions of a kind.
#[derive(Clone, Debug, Serialize)]
pub struct Part {
    /// What they have in common.
    pub name: String,
    /// How many.
    pub answers: usize,
    /// How many of them are right.
    pub right: usize,
}

/// A question that is answered wrongly in some run.
#[derive(Clone, Debug)]
pub struct Wrong {
    /// The answer of the first run that is wrong.
    pub answer: Answer,
    /// What is wrong with it.
    pub kind: Kind,
    /// In how many runs it is wrong.
    pub wrong_in: usize,
    /// Of how many.
    pub runs: usize,
}

/// The most words of a list.
const WORDS: usize = 8;

pub(crate) fn errors(runs: &[&Run], most: usize) -> Option<Errors> {
    let answers: Vec<&Answer> = runs.iter().flat_map(|run| &run.answers).collect();
    if answers.is_empty() {
        return None;
    }
    let mut kinds: BTreeMap<Kind, usize> = BTreeMap::new();
    let mut by_construction: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mut by_length: BTreeMap<(usize, String), (usize, usize)> = BTreeMap::new();
    let [mut missed, mut invented] = [BTreeMap::<String, usize>::new(), BTreeMap::new()];
    let mut confused: BTreeMap<(String, String), usize> = BTreeMap::new();
    let mut places = Vec::new();
    let mut right_by_another_program = 0;
    for answer in &answers {
        *kinds.entry(Kind::of(answer)).or_default() += 1;
        if let Some(place) = answer.right_at {
            places.resize(places.len().max(place + 1), 0);
            places[place] += 1;
        }
        let gold = tokens(answer.gold_like_candidates());
        let guess = tokens(answer.guess().map_or("", |guess| &guess.program));
        let (gold, guess) = (counts(&gold), counts(&guess));
        let right = usize::from(answer.correct);
        for name in constructions(&gold) {
            let part = by_construction.entry(name).or_default();
            *part = (part.0 + 1, part.1 + right);
        }
        let part = by_length.entry(length_bucket(gold.values().sum())).or_default();
        *part = (part.0 + 1, part.1 + right);
        if answer.correct {
            right_by_another_program += usize::from(gold != guess);
            continue;
        }
        let (lacks, has) = (beyond(&gold, &guess), beyond(&guess, &gold));
        if let (1, 1, Some(lack), Some(more)) = (lacks.len(), has.len(), lacks.first(), has.first()) {
            *confused.entry(((*lack).to_owned(), (*more).to_owned())).or_default() += 1;
        }
        for (words, counts) in [(lacks, &mut missed), (has, &mut invented)] {
            for word in words {
                *counts.entry(word.to_owned()).or_default() += 1;
            }
        }
    }
    let part = |(name, (answers, right)): (String, (usize, usize))| Part { name, answers, right };
    let mut constructions: Vec<Part> =
        by_construction.into_iter().map(|(name, found)| part((name.to_owned(), found))).collect();
    constructions.sort_by(|left, right| right.answers.cmp(&left.answers).then(left.name.cmp(&right.name)));
    let mut wrong = wrong_questions(runs);
    let wrong_questions = wrong.len();
    wrong.truncate(most);
    Some(Errors {
        answers: answers.len(),
        kinds: kinds.into_iter().collect(),
        right_by_another_program,
        places,
        constructions,
        lengths: by_length.into_iter().map(|((_, name), found)| part((name, found))).collect(),
        missed: most_frequent(missed),
        invented: most_frequent(invented),
        confused: most_frequent(confused)
            .into_iter()
            .map(|((gold, guess), times)| (gold, guess, times))
            .collect(),
        wrong_questions,
        wrong,
    })
}

fn most_frequent<T: Ord>(counts: BTreeMap<T, usize>) -> Vec<(T, usize)> {
    let mut all: Vec<(T, usize)> = counts.into_iter().collect();
    all.sort_by(|left, right| right.1.cmp(&left.1).then_with(|| left.0.cmp(&right.0)));
    all.truncate(WORDS);
    all
}

/// The questions that some run answers wrongly, in the order they are asked; those that all runs do first.
fn wrong_questions(runs: &[&Run]) -> Vec<Wrong> {
    let mut order: Vec<Question<'_>> = Vec::new();
    let mut found: BTreeMap<Question<'_>, Wrong> = BTreeMap::new();
    let with_answers = runs.iter().filter(|run| !run.answers.is_empty());
    for run in with_answers.clone() {
        for (question, answer) in questions(&run.answers).filter(|(_, answer)| !answer.correct) {
            let wrong = found.entry(question).or_insert_with(|| {
                order.push(question);
                Wrong { answer: answer.clone(), kind: Kind::of(answer), wrong_in: 0, runs: 0 }
            });
            wrong.wrong_in += 1;
        }
    }
    let count = with_answers.count();
    let in_order = order.iter().filter_map(|question| found.remove(question));
    let mut all: Vec<Wrong> = in_order.map(|wrong| Wrong { runs: count, ..wrong }).collect();
    all.sort_by_key(|wrong| std::cmp::Reverse(wrong.wrong_in));
    all
}
