//! Labels that contradict each other.

use rustc_hash::FxHashMap;
use serde::Serialize;
use std::fmt;
use xpr_lang::Outcome;
use xpr_text::tokenize;

/// A label, as far as it matters for contradictions.
pub(super) struct Label<'a> {
    /// The question.
    pub(super) utterance: &'a str,
    /// The text of the program.
    pub(super) program: String,
    /// The outcome of the program, if it was run.
    pub(super) outcome: Option<&'a Outcome>,
}

/// A question that has labels with different answers. Words decide which questions are the same, as they do for the parser.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ConflictingLabels {
    /// The question of the first label.
    pub utterance: String,
    /// The programs, each once.
    pub programs: Vec<String>,
}

impl fmt::Display for ConflictingLabels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is `{}`", self.utterance, self.programs.join("` and `"))
    }
}

/// Returns the questions that have labels with different answers, in the order of their first labels. Labels with different
/// programs and the same answer do not contradict each other: there is more than one way to say it. Programs that were not run,
/// or fail, are compared as texts.
pub(super) fn conflicting_labels<'a>(
    labels: impl IntoIterator<Item = Label<'a>>,
    is_same_answer: impl Fn(&Outcome, &Outcome) -> bool,
) -> Vec<ConflictingLabels> {
    let mut by_words: FxHashMap<Vec<String>, usize> = FxHashMap::default();
    // The labels of a question, each program once.
    let mut questions: Vec<Vec<Label<'a>>> = Vec::new();
    for label in labels {
        let index = *by_words.entry(tokenize(label.utterance)).or_insert(questions.len());
        match questions.get_mut(index) {
            None => questions.push(vec![label]),
            Some(known) if known.iter().any(|other| other.program == label.program) => {}
            Some(known) => known.push(label),
        }
    }
    let agree = |first: &Label<'_>, other: &Label<'_>| match (first.outcome, other.outcome) {
        (Some(first), Some(other)) if first.executes() && other.executes() => is_same_answer(first, other),
        _ => false,
    };
    let conflicting = questions.into_iter().filter(|labels| {
        let (first, others) =
            labels.split_first().map_or((None, &labels[..]), |(first, rest)| (Some(first), rest));
        first.is_some_and(|first| others.iter().any(|other| !agree(first, other)))
    });
    conflicting
        .map(|labels| ConflictingLabels {
            utterance: labels[0].utterance.to_owned(),
            programs: labels.into_iter().map(|label| label.program).collect(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_of_a_question_with_different_answers_contradict_each_other() {
        let (one, two, failed) =
            (Outcome::Value("1".into()), Outcome::Value("2".into()), Outcome::RuntimeError("no".into()));
        let labels = [
            ("how many rows", "count", Some(&one)),
            ("How many rows?", "sum", Some(&two)),
            ("how many rows", "count", Some(&one)),
            ("which rows", "all", Some(&one)),
            ("which rows", "every", Some(&one)),
            ("last row", "max", Some(&failed)),
            ("last row", "top", Some(&one)),
            ("first row", "min", None),
            ("first row", "bottom", None),
            ("another row", "min", None),
            ("another row", "min", None),
            // Issue 18: the same question, with an accent as a character of its own.
            ("age of ren\u{e9}", "old", Some(&one)),
            ("age of rene\u{301}", "young", Some(&two)),
        ];
        let label = |(utterance, program, outcome): (&'static str, &str, _)| Label {
            utterance,
            program: program.to_owned(),
            outcome,
        };
        let found = conflicting_labels(labels.map(label), |gold, guess| gold == guess);
        let expected = [
            ("how many rows", ["count", "sum"]),
            ("last row", ["max", "top"]),
            ("first row", ["min", "bottom"]),
            ("age of ren\u{e9}", ["old", "young"]),
        ];
        let expected = expected.map(|(utterance, programs)| ConflictingLabels {
            utterance: utterance.to_owned(),
            programs: programs.map(str::to_owned).to_vec(),
        });
        assert_eq!(found, expected);
        assert_eq!(found[0].to_string(), "`how many rows` is `count` and `sum`");
    }
}
