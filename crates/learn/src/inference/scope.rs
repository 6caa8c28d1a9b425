//! Scope: which questions a parser can be asked at all.
//!
//! A parser has a program for every text. It was trained on questions about its data, though, so a text without words, a request to change the
//! data, or a question whose words neither labels nor data have is declined before it is parsed.

use super::question_words::{is_change_verb, is_general_word, is_operator_word, is_politeness};
use crate::hyperparameters::{LEAST_KNOWN_SHARE, LEAST_KNOWN_SHARE_WITHOUT_LABELS, LEAST_KNOWN_WORDS};
use crate::task::Task;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{self, Display};
use xpr_lang::ItemId;
use xpr_parser::Question;
use xpr_text::{is_common_word, is_function_word, stem, tokenize};

/// The largest number of labeled questions that are kept to be suggested.
const MOST_QUESTIONS: usize = 2000;
/// The number of unknown words that a reason names.
const MOST_NAMED: usize = 5;

/// The words and questions that a parser was trained with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Scope {
    /// The number of labeled questions with each stem; 0 for stems of names and of unlabeled questions only.
    words: BTreeMap<String, usize>,
    /// Labeled questions, to be suggested.
    questions: Vec<String>,
}

/// Why a question is declined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutOfScope {
    /// It has no words.
    NoWords,
    /// It asks to change the data, with this verb.
    Change(String),
    /// It is not written in the letters of English.
    OtherScript,
    /// Labels and data have none or few of its words; these are some that they do not have.
    OtherTopic(Vec<String>),
}

impl Display for OutOfScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OutOfScope::NoWords => write!(f, "the question has no words"),
            OutOfScope::Change(verb) => {
                write!(f, "it asks to change the data (\"{verb}\"), and the data are only read")
            }
            OutOfScope::OtherScript => write!(f, "it is not in English"),
            OutOfScope::OtherTopic(words) => write!(
                f,
                "it is about something else, or in another language: neither data nor labels have {}",
                words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(", ")
            ),
        }
    }
}

/// A word of a question, as far as its scope is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WordScope {
    /// A number, a function word, or another word that questions about anything have, such as "show" and "most".
    Common,
    /// A word of labels or data.
    Known,
    /// Any other word.
    Unknown,
}

impl Scope {
    /// Returns the scope of labeled questions, of other questions whose words are known, and of the items of a task.
    pub fn new<'q>(
        task: &Task,
        labeled: impl Iterator<Item = (&'q str, &'q Question)>,
        asked: impl Iterator<Item = &'q Question>,
    ) -> Self {
        let mut scope = Scope::default();
        let mut note = |stems: &[String], count: usize| {
            for stem in stems.iter().collect::<BTreeSet<_>>() {
                *scope.words.entry(stem.clone()).or_default() += count;
            }
        };
        for question in asked {
            note(question.stems(), 0);
        }
        let items = task.world().environment().items().iter();
        let names: Vec<String> =
            items.flat_map(|item| tokenize(&item.phrase)).map(|word| stem(&word)).collect();
        note(&names, 0);
        let mut questions = Vec::new();
        for (utterance, question) in labeled {
            note(question.stems(), 1);
            if questions.len() < MOST_QUESTIONS {
                questions.push(utterance.to_owned());
            }
        }
        Scope { questions, ..scope }
    }

    /// Returns some of the labeled questions, which the parser can answer: short ones, from all parts of the labels.
    pub fn examples(&self, most: usize) -> Vec<&str> {
        const LONGEST: usize = 60;
        let short: Vec<&str> =
            self.questions.iter().map(String::as_str).filter(|text| text.len() <= LONGEST).collect();
        let step = short.len().div_ceil(most.max(1)).max(1);
        short.into_iter().step_by(step).collect()
    }

    /// Returns why a question is out of scope, or nothing if it may be answered.
    pub fn declines(&self, task: &Task, text: &str) -> Option<OutOfScope> {
        let words = tokenize(text);
        if words.is_empty() {
            return Some(OutOfScope::NoWords);
        }
        if let Some(verb) = self.change_request(&words) {
            return Some(OutOfScope::Change(verb));
        }
        // A run that recorded no words declines nothing because of its words.
        if self.words.is_empty() {
            return None;
        }
        let question = task.question(text);
        let words = task.words(text);
        let scopes = self.word_scopes(task, &question, &words);
        let count = |wanted: WordScope| scopes.iter().filter(|scope| **scope == wanted).count();
        let (known, unknown) = (count(WordScope::Known), count(WordScope::Unknown));
        if known == 0 && is_other_script(text) {
            return Some(OutOfScope::OtherScript);
        }
        // Without labels little is known about the words that people use.
        let least_share =
            if self.questions.is_empty() { LEAST_KNOWN_SHARE_WITHOUT_LABELS } else { LEAST_KNOWN_SHARE };
        let is_known = known >= LEAST_KNOWN_WORDS && known as f64 >= least_share * (known + unknown) as f64;
        if is_known || unknown == 0 && known > 0 {
            return None;
        }
        let is_named = |scope: &WordScope| *scope == WordScope::Unknown || unknown == 0;
        let named = words.iter().zip(&scopes).filter(|(_, scope)| is_named(scope));
        Some(OutOfScope::OtherTopic(named.map(|(word, _)| word.clone()).take(MOST_NAMED).collect()))
    }

    /// Returns what is known of each word of a question.
    pub(crate) fn word_scopes(&self, task: &Task, question: &Question, words: &[String]) -> Vec<WordScope> {
        let values = value_stems(task, question);
        let scope = |(word, stem): (&String, &String)| {
            // The stem of a number in words has digits.
            let is_number = stem.chars().all(|c| c.is_ascii_digit());
            if is_number || is_function_word(word) || is_common_word(word) || is_operator_word(word) {
                WordScope::Common
            } else if self.words.contains_key(stem) || values.contains(stem) {
                WordScope::Known
            } else if is_general_word(word) {
                WordScope::Common
            } else {
                WordScope::Unknown
            }
        };
        words.iter().zip(question.stems()).map(scope).collect()
    }

    /// Returns the labeled questions that are kept.
    pub(super) fn questions(&self) -> &[String] {
        &self.questions
    }

    /// Returns how much it says that two questions both have a word: the rarer among labels, the more.
    pub(super) fn weight(&self, stem: &str) -> f64 {
        let count = self.words.get(stem).copied().unwrap_or(0);
        ((1 + self.questions.len()) as f64 / (1 + count) as f64).ln() + 0.1
    }

    /// Returns the verb by which a text asks to change the data. A verb with which a labeled question begins is a verb of questions here.
    fn change_request(&self, words: &[String]) -> Option<String> {
        let first = words.iter().position(|word| !is_politeness(word))?;
        let verb = &words[first];
        let is_sum = verb == "add" && words.get(first + 1).is_some_and(|next| next == "up");
        let is_asked = || {
            let begins = |question: &String| tokenize(question).first() == Some(verb);
            self.questions.iter().any(begins)
        };
        (is_change_verb(verb) && !is_sum && !is_asked()).then(|| verb.clone())
    }
}

/// Returns the stems of the values that the words of a question may mean.
fn value_stems(task: &Task, question: &Question) -> BTreeSet<String> {
    let items = task.environment(question).items().iter().enumerate();
    let own = items.filter(|(index, _)| question.is_own_item(ItemId(*index as u32)));
    own.flat_map(|(_, item)| tokenize(&item.phrase)).map(|word| stem(&word)).collect()
}

/// Returns whether more than half of the letters of a text are not Latin.
fn is_other_script(text: &str) -> bool {
    let letters = text.chars().filter(|c| c.is_alphabetic());
    // Latin letters, with and without accents, end at U+024F.
    let (latin, other): (Vec<char>, Vec<char>) = letters.partition(|c| *c <= '\u{24f}');
    other.len() > latin.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::KnowledgeWorld;
    use xpr_exec::overnight;

    fn task() -> Task {
        let world = overnight::world("calendar").unwrap();
        Task::new(Box::new(KnowledgeWorld::new(world, &[])), []).unwrap()
    }

    fn scope(task: &Task, labeled: &[&str]) -> Scope {
        let questions: Vec<Question> = labeled.iter().map(|text| task.question(text)).collect();
        Scope::new(task, labeled.iter().copied().zip(&questions), std::iter::empty())
    }

    const LABELED: [&str; 3] =
        ["which meetings are in central office", "when is the weekly standup", "meetings with alice and bob"];

    #[test]
    fn questions_about_something_else_are_declined_with_the_reason() {
        let task = task();
        let scope = scope(&task, &LABELED);
        let reason = |text: &str| scope.declines(&task, text).map(|reason| reason.to_string());
        assert_eq!(reason("which meetings are with alice"), None);
        assert_eq!(reason("three meetings in the office tomorrow"), None);
        assert_eq!(reason(" ?! ").unwrap(), "the question has no words");
        assert!(reason("delete all meetings").unwrap().contains("\"delete\""));
        assert!(reason("could you please remove the weekly standup").unwrap().contains("\"remove\""));
        assert_eq!(reason("会议在哪里").unwrap(), "it is not in English");
        let topic = reason("will the weather be sunny tomorrow").unwrap();
        assert!(topic.contains("\"weather\", \"sunny\", \"tomorrow\""), "{topic}");
        assert!(reason("wie lange dauern die besprechungen").is_some());
    }

    #[test]
    fn without_labels_a_question_is_answered_if_the_data_have_a_third_of_its_words() {
        let task = task();
        let none = scope(&task, &[]);
        assert_eq!(none.declines(&task, "how long do people sit in the weekly standup meeting"), None);
        assert_eq!(none.declines(&task, "meetings in descending order"), None);
        assert!(none.declines(&task, "who won the last election in france").is_some());
        assert!(none.declines(&task, "delete all meetings").is_some());
    }

    #[test]
    fn a_verb_with_which_labels_begin_is_a_verb_of_questions() {
        let task = task();
        let asks = scope(&task, &["add the hours of all meetings", "which meetings are in central office"]);
        assert_eq!(asks.declines(&task, "add the hours of the meetings in central office"), None);
        let none = scope(&task, &LABELED);
        assert!(none.declines(&task, "add the hours of the meetings").is_some());
        assert_eq!(none.declines(&task, "add up all the meetings in central office"), None);
    }

    #[test]
    fn examples_are_short_and_from_all_parts_of_the_labels() {
        let long = "which meetings ".repeat(10);
        let mut labeled =
            vec!["one meeting", "two meetings", "three meetings", "four meetings", "five meetings"];
        labeled.insert(1, &long);
        let task = task();
        assert_eq!(scope(&task, &labeled).examples(3), ["one meeting", "three meetings", "five meetings"]);
        assert_eq!(scope(&task, &labeled).examples(9).len(), 5);
        assert!(scope(&task, &[]).examples(3).is_empty());
    }
}
