//! What a log has about a question.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use std::time::{SystemTime, UNIX_EPOCH};

/// The number of a question in its log. Numbers increase and are never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct QuestionId(pub i64);

impl fmt::Display for QuestionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Returns the milliseconds since 1970.
pub fn now() -> i64 {
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

/// One of the different answers that a person could choose from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ShownAnswer {
    /// The most probable program that has this answer.
    pub program: String,
    /// The fingerprint of the answer: equal answers have equal ones.
    pub answer: String,
    /// The sum of the probabilities of the programs that have this answer.
    pub probability: f64,
}

/// A question that was asked, and what was answered.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NewQuestion {
    /// When a person asked it, in milliseconds since 1970.
    pub time: i64,
    /// The fingerprint of the parser that answered.
    pub parser: String,
    /// The question.
    pub question: String,
    /// The program that answers it; none if it was declined or no program was found.
    pub program: Option<String>,
    /// The kind of the program's outcome, such as `value` or `empty`.
    pub outcome: Option<String>,
    /// The fingerprint of the answer; none if the program fails.
    pub answer: Option<String>,
    /// The probability that the answer is right, if the parser estimates it.
    pub confidence: Option<f64>,
    /// Whether the confidence was below what an answer needs.
    pub unsure: bool,
    /// Why the question was declined, if it was.
    pub declined: Option<String>,
    /// How much the candidates disagree: 1 minus the probability of the most probable answer among those that execute, 0 if all
    /// candidates have the same answer.
    pub disagreement: Option<f64>,
    /// The different answers, the chosen one first.
    pub shown: Vec<ShownAnswer>,
    /// How long it took to find the answer, in microseconds.
    pub micros: i64,
    /// Whether nobody asked it now: a person had asked it at `time`, an earlier parser answered, and this is the answer of a later one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub again: bool,
}

/// What somebody said about an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The program that was answered is right.
    Right,
    /// The answer is wrong. Which one is right was not said.
    Wrong,
    /// The right program is the one of the feedback, which a person wrote or edited.
    Corrected,
    /// The right answer is that of the feedback's program, which is one of those shown. People see its rows, so the answer is
    /// confirmed, and its program need not be.
    Answer,
    /// None of the answers shown is right.
    NoneOfThese,
}

impl Verdict {
    /// All verdicts.
    pub const ALL: [Verdict; 5] =
        [Verdict::Right, Verdict::Wrong, Verdict::Corrected, Verdict::Answer, Verdict::NoneOfThese];

    /// Returns the name of the verdict, as it is in exported files.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Right => "right",
            Verdict::Wrong => "wrong",
            Verdict::Corrected => "corrected",
            Verdict::Answer => "answer",
            Verdict::NoneOfThese => "none-of-these",
        }
    }

    /// Returns whether the feedback has a program.
    pub fn has_program(self) -> bool {
        matches!(self, Verdict::Corrected | Verdict::Answer)
    }

    /// Returns whether the verdict says which answer is right.
    pub fn is_confirmation(self) -> bool {
        matches!(self, Verdict::Right | Verdict::Corrected | Verdict::Answer)
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Verdict {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Verdict::ALL.into_iter().find(|verdict| verdict.name() == name);
        found.ok_or_else(|| {
            format!("there is no verdict `{name}`; there are {}", Verdict::ALL.map(Verdict::name).join(", "))
        })
    }
}

/// Feedback to add to a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewFeedback {
    /// The question it is about.
    pub question: QuestionId,
    /// When, in milliseconds since 1970.
    pub time: i64,
    /// What was said.
    pub verdict: Verdict,
    /// The right program, or one with the right answer, if the verdict has one.
    pub program: Option<String>,
}

impl NewFeedback {
    /// Returns feedback of this moment.
    pub fn now(question: QuestionId, verdict: Verdict, program: Option<String>) -> Self {
        NewFeedback { question, time: now(), verdict, program }
    }
}

/// Feedback of a log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Feedback {
    /// When, in milliseconds since 1970.
    pub time: i64,
    /// What was said.
    pub verdict: Verdict,
    /// The right program, or one with the right answer, if the verdict has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
}

/// A question of a log with what people said about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// The number of the question.
    pub id: QuestionId,
    /// The question and its answer.
    #[serde(flatten)]
    pub asked: NewQuestion,
    /// What people said about it, in this order. The last counts.
    pub feedback: Vec<Feedback>,
}

impl Entry {
    /// Returns the last feedback, which is the one that counts.
    pub fn last_feedback(&self) -> Option<&Feedback> {
        self.feedback.last()
    }
}
