//! Features of an answer, from which its confidence is computed.

use super::choose::Answer;
use super::nearest_questions::NearestQuestions;
use super::question_words::is_operator_word;
use super::scope::{Scope, WordScope};
use crate::reward::Success;
use crate::task::Task;
use crate::teacher::NoisyChannel;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use xpr_lang::{Action, ItemId, Program};
use xpr_parser::{Mentions, Question};
use xpr_text::{stem, tokenize};

/// The number of features.
pub(crate) const FEATURES: usize = 12;

/// The features of an answer. They are scaled so that each is of the order of 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AnswerFeatures(pub(crate) [f64; FEATURES]);

impl AnswerFeatures {
    /// What each feature says, in their order.
    pub const NAMES: [&'static str; FEATURES] = [
        "always 1",
        "log-odds of the answer's probability after re-ranking, divided by 4",
        "probability of the answer less that of the second",
        "logarithm of the parser's own probability of the answer, divided by 4",
        "share of content words that no part of the program explains",
        "numbers and values of the question that the program does not use",
        "constants of the program that nobody says",
        "share of content words that neither labels nor data have",
        "whether the program finds nothing",
        "mean log-likelihood of the words given the program, less that without a program",
        "similarity of the nearest labeled question",
        "words such as \"most\" and \"number\" that no part of the program explains",
    ];
}

/// Computes the features of answers.
pub(crate) struct FeatureReader<'t> {
    task: &'t Task,
    scope: &'t Scope,
    labeled: NearestQuestions<'t>,
    /// Scoring adds new words and values to the channel.
    channel: Mutex<NoisyChannel>,
}

impl fmt::Debug for FeatureReader<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FeatureReader").field("scope", &self.scope).finish_non_exhaustive()
    }
}

impl<'t> FeatureReader<'t> {
    /// Creates a reader for a parser that was trained on questions of this scope.
    pub(crate) fn new(task: &'t Task, scope: &'t Scope, channel: NoisyChannel) -> Self {
        FeatureReader { task, scope, labeled: NearestQuestions::new(scope), channel: Mutex::new(channel) }
    }

    /// Returns the features of an answer to a question. `program` is the chosen one, and `own` the parser's own log-probabilities of the
    /// candidates, before re-ranking.
    pub(crate) fn features(
        &self,
        (text, question): (&str, &Question),
        answer: &Answer,
        program: &Program,
        own: &[f32],
    ) -> AnswerFeatures {
        let probability = answer.probability();
        let second = answer.answers.get(1).map_or(0.0, |second| second.probability);
        let own_probability: f64 = answer
            .answers
            .first()
            .iter()
            .flat_map(|first| &first.candidates)
            .filter_map(|index| own.get(*index))
            .map(|log| f64::from(*log).exp())
            .sum();
        let chosen = &answer.candidates[answer.chosen];
        let finds = Success::NonEmpty.accepts(self.task, &chosen.program, &chosen.outcome);
        let words = self.task.words(text);
        let scopes = self.scope.word_scopes(self.task, question, &words);
        // A panic elsewhere leaves the channel valid.
        let mut channel = self.channel.lock().unwrap_or_else(PoisonError::into_inner);
        let explanation = channel.explain_words(self.task, question, program);
        let used_words = self.used_words(question, program);
        let mentions = Mentions::new(question).compare(program);
        let content: Vec<usize> =
            (0..words.len()).filter(|index| scopes[*index] != WordScope::Common).collect();
        let share = |is_counted: &dyn Fn(usize) -> bool| {
            let counted = content.iter().filter(|index| is_counted(**index)).count();
            counted as f64 / content.len().max(1) as f64
        };
        let is_unexplained = |index: usize| !explanation.explained[index] && !used_words.contains(&index);
        let is_operator = |index: &usize| is_operator_word(&words[*index]) && !explanation.explained[*index];
        let unexplained_operators = (0..words.len()).filter(is_operator).count();
        AnswerFeatures([
            1.0,
            log_odds(probability) / 4.0,
            probability - second,
            own_probability.max(1e-4).ln() / 4.0,
            share(&is_unexplained),
            (mentions.unused_numbers + mentions.unused_texts).min(3) as f64,
            mentions.unsaid.min(3) as f64,
            share(&|index| scopes[index] == WordScope::Unknown),
            f64::from(u8::from(!finds)),
            explanation.gain.clamp(-3.0, 3.0),
            self.labeled.nearest(question.stems()).map_or(0.0, |(_, similarity)| similarity),
            unexplained_operators.min(2) as f64,
        ])
    }

    /// Returns the words of a question that an item of the program has.
    fn used_words(&self, question: &Question, program: &Program) -> Vec<usize> {
        let items = self.task.environment(question).items();
        let stems = question.stems();
        let named: Vec<ItemId> = program
            .actions()
            .iter()
            .filter_map(|action| match action {
                Action::Item(item) => Some(*item),
                Action::Rule(_) => None,
            })
            .collect();
        // The words of the question that an item's phrase has, if it has all words of the phrase.
        let said = |item: ItemId| {
            let phrase: Vec<String> =
                tokenize(&items[item.index()].phrase).iter().map(|word| stem(word)).collect();
            let is_whole = !phrase.is_empty() && phrase.iter().all(|word| stems.contains(word));
            let of_phrase = (0..stems.len()).filter(move |index| phrase.contains(&stems[*index]));
            of_phrase.filter(move |_| is_whole).collect::<Vec<usize>>()
        };
        named.iter().flat_map(|item| said(*item)).collect()
    }
}

/// Returns the log-odds of a probability, between −8 and 8.
fn log_odds(probability: f64) -> f64 {
    let probability = probability.clamp(1e-9, 1.0 - 1e-9);
    (probability / (1.0 - probability)).ln().clamp(-8.0, 8.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_odds_are_bounded() {
        assert_eq!((log_odds(0.0), log_odds(0.5), log_odds(1.0)), (-8.0, 0.0, 8.0));
    }
}
