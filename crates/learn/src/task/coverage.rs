//! How much of a dataset a parser can learn from, checked before anything is trained.
//!
//! Each labeled question passes four checks. Its program **runs**. The grammar **covers** it: text, tree, actions, and back to the same
//! tree. The program that the grammar writes finds the same answer (**round trip**). The constants of the program are **linked**: they are
//! among the values that the question suggests. A parser copies values and cannot invent them, so it gets a question that is not linked
//! wrong. Constants learned from labels are counted separately, because a parser trained on those labels has them for every question.
//!
//! Of unlabeled questions, the words are counted that also occur in the labeled questions or in the schema.

use super::check_length;
use super::conflicts::{ConflictingLabels, Label, conflicting_labels};
use super::constants::{LearnedConstant, learned_constants};
use super::data_findings::{DataFindings, Examiner};
use super::world::LabelExecutor;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;
use std::ops::ControlFlow;
use thiserror::Error;
use xpr_data::LabeledQuestion;
use xpr_data::UnlabeledQuestion;
use xpr_exec::Executor;
use xpr_exec::database::{Database, DatabaseError, ValueIndex, same_answer};
use xpr_lang::sql::{Query, Sql, SqlEnvironment, SuggestedValue};
use xpr_lang::{Environment, Grammar, GrammarError, Language, Outcome, Program};
use xpr_text::tokenize;

/// The number of unknown words that are listed.
const SHOWN_WORDS: usize = 20;

/// An error of a database that cannot be checked.
#[derive(Debug, Error)]
pub enum CoverageError {
    /// The database cannot be opened.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// No query can be written about the database.
    #[error(transparent)]
    Grammar(#[from] GrammarError),
}

/// The check that a labeled question failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// The program runs.
    Executable,
    /// The grammar can write the program.
    Covered,
    /// The program that the grammar writes finds the same answer.
    RoundTrip,
    /// The question suggests the constants of the program.
    Linked,
}

/// A labeled question that failed a check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// The line in its file.
    pub line: usize,
    /// The question.
    pub utterance: String,
    /// The program.
    pub program: String,
    /// The check that failed.
    pub stage: Stage,
    /// The reason.
    pub reason: String,
}

/// A labeled question whose program runs and finds nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EmptyLabel {
    /// The line in its file.
    pub line: usize,
    /// The question.
    pub utterance: String,
    /// The program.
    pub program: String,
}

/// The result of checking labeled questions. All counts are of questions, except those of literals.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Coverage {
    /// All questions.
    pub pairs: usize,
    /// Questions whose program was run.
    pub run: usize,
    /// Questions whose program the grammar can write.
    pub covered: usize,
    /// Questions for which the program that the grammar writes finds the same answer.
    pub round_trip: usize,
    /// Questions whose program runs.
    pub executable: usize,
    /// Questions that suggest all constants of their program.
    pub linked: usize,
    /// Questions whose constants are all suggested, or among `constants`. The others are failures.
    pub linked_with_constants: usize,
    /// The constants of all programs that could be read.
    pub literals: usize,
    /// The constants that are suggested by their question.
    pub linked_literals: usize,
    /// The constants that are suggested by their question, or among `constants`.
    pub linked_literals_with_constants: usize,
    /// The constants learned from labels; see [`learned_constants`].
    pub constants: Vec<ConstantAccount>,
    /// The failures, in the order of the questions.
    pub failures: Vec<Failure>,
    /// The questions whose program finds nothing, in their order.
    pub empty: Vec<EmptyLabel>,
    /// The questions that have labels with different answers.
    pub conflicts: Vec<ConflictingLabels>,
    /// What is in the database that makes right queries find nothing.
    pub findings: DataFindings,
}

/// A constant learned from labels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ConstantAccount {
    /// The literal, as a query writes it.
    pub literal: String,
    /// The number of labeled programs that need it and whose questions do not suggest it.
    pub programs: usize,
}

/// The words of unlabeled questions.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct VocabularyAccount {
    /// The number of questions.
    pub questions: usize,
    /// The number of different words.
    pub words: usize,
    /// The number of different words that occur in labeled questions or in the schema.
    pub known_words: usize,
    /// The share of all words, repetitions included, that are known.
    pub known_share: f64,
    /// The most frequent unknown words.
    pub unknown: Vec<String>,
}

/// Checks labeled questions about a database.
pub struct Surveyor<'a> {
    language: &'a Sql,
    fixed: SqlEnvironment,
    grammar: Grammar,
    index: &'a ValueIndex,
    executor: LabelExecutor<'a>,
    examiner: Examiner<'a>,
}

impl<'a> Surveyor<'a> {
    /// Creates a surveyor of questions about a database, with the language of its schema, and its values.
    ///
    /// # Errors
    /// If the database cannot be opened, or no query can be written about it.
    pub fn new(
        database: &dyn Database,
        language: &'a Sql,
        index: &'a ValueIndex,
    ) -> Result<Self, CoverageError> {
        let fixed = SqlEnvironment::new(language);
        let grammar = language.signatures().grammar(fixed.items())?;
        let executor = LabelExecutor::new(database, language)?;
        let examiner = Examiner::new(database, language.schema())?;
        Ok(Surveyor { language, fixed, grammar, index, executor, examiner })
    }

    /// Returns the constants that a parser learns from labels.
    pub fn constants(&self, labeled: &[LabeledQuestion]) -> Vec<LearnedConstant> {
        let labeled = labeled.iter().map(|pair| (pair.utterance.as_str(), pair.program.as_str()));
        learned_constants(self.language, &self.fixed, self.index, labeled)
    }

    /// Checks labeled questions, for a parser that has these constants. `watch` is called with the number of questions done; after it
    /// breaks, programs are no longer run.
    pub fn survey(
        &mut self,
        pairs: &[LabeledQuestion],
        constants: &[LearnedConstant],
        watch: &mut dyn FnMut(usize) -> ControlFlow<()>,
    ) -> Coverage {
        let values: Vec<SuggestedValue> = constants.iter().map(|constant| constant.value.clone()).collect();
        let fixed = self.fixed.with_constants(self.language, &values);
        let constants = constants
            .iter()
            .map(|LearnedConstant { value, programs }| ConstantAccount {
                literal: value.literal.to_string(),
                programs: *programs,
            })
            .collect();
        let mut coverage = Coverage { pairs: pairs.len(), constants, ..Coverage::default() };
        let queries: Vec<Query> =
            pairs.iter().filter_map(|pair| self.language.parse(&pair.program).ok()).collect();
        coverage.findings = self.examiner.examine(&queries);
        let mut runs = true;
        let mut outcomes = Vec::with_capacity(pairs.len());
        for (done, pair) in pairs.iter().enumerate() {
            runs = runs && watch(done).is_continue();
            let outcome = runs.then(|| self.executor.execute(&pair.program));
            self.add(pair, &fixed, outcome.as_ref(), &mut coverage);
            outcomes.push(outcome);
        }
        let labels = pairs.iter().zip(&outcomes).map(|(pair, outcome)| self.label(pair, outcome.as_ref()));
        coverage.conflicts = conflicting_labels(labels, |gold, guess| match (gold, guess) {
            (Outcome::Value(gold), Outcome::Value(guess)) => same_answer(gold, guess),
            _ => gold == guess,
        });
        coverage
    }

    /// Returns a label, with the spelling of the grammar if it has one.
    fn label<'p>(&self, pair: &'p LabeledQuestion, outcome: Option<&'p Outcome>) -> Label<'p> {
        let rewritten = self.language.parse(&pair.program).ok().and_then(|query| self.rewritten(&query).ok());
        let program = rewritten.unwrap_or_else(|| pair.program.clone());
        Label { utterance: &pair.utterance, program, outcome }
    }

    fn add(
        &mut self,
        pair: &LabeledQuestion,
        fixed: &SqlEnvironment,
        outcome: Option<&Outcome>,
        coverage: &mut Coverage,
    ) {
        let mut fail = |stage: Stage, reason: String| {
            let (utterance, program) = (pair.utterance.clone(), pair.program.clone());
            coverage.failures.push(Failure { line: pair.line, utterance, program, stage, reason });
        };
        let query = self.language.parse(&pair.program);
        let found = outcome.and_then(Outcome::denotation);
        coverage.run += usize::from(outcome.is_some());
        coverage.executable += usize::from(found.is_some());
        if let (Some(outcome), None) = (outcome, found) {
            fail(Stage::Executable, reason(outcome));
        }
        if outcome == Some(&Outcome::Empty) {
            let (utterance, program) = (pair.utterance.clone(), pair.program.clone());
            coverage.empty.push(EmptyLabel { line: pair.line, utterance, program });
        }
        let query = match query {
            Ok(query) => query,
            Err(error) => return fail(Stage::Covered, error.to_string()),
        };
        if let Err(long) = check_length(&pair.utterance) {
            return fail(Stage::Covered, long.to_string());
        }
        match self.rewritten(&query) {
            Ok(text) => {
                coverage.covered += 1;
                // Without an answer there is nothing to compare.
                if let Some(gold) = found {
                    let again = self.executor.execute(&text);
                    match again.denotation() {
                        Some(found) if same_answer(gold, found) => coverage.round_trip += 1,
                        Some(_) => fail(Stage::RoundTrip, format!("`{text}` finds something else")),
                        None => fail(Stage::RoundTrip, format!("`{text}`: {}", reason(&again))),
                    }
                }
            }
            Err(reason) => fail(Stage::Covered, reason),
        }
        let values = self.index.values(&pair.utterance);
        let literals: Vec<String> = query.literals().iter().map(ToString::to_string).collect();
        let missing = |fixed: &SqlEnvironment| -> Vec<&str> {
            let environment = fixed.with_values(self.language, &values);
            let symbols = literals.iter().map(String::as_str);
            symbols.filter(|symbol| environment.find(symbol).is_none()).collect()
        };
        let (unsaid, unknown) = (missing(&self.fixed), missing(fixed));
        coverage.literals += literals.len();
        coverage.linked_literals += literals.len() - unsaid.len();
        coverage.linked_literals_with_constants += literals.len() - unknown.len();
        coverage.linked += usize::from(unsaid.is_empty());
        match unknown.is_empty() {
            true => coverage.linked_with_constants += 1,
            false => fail(
                Stage::Linked,
                format!("the SQL needs {}, but no word of the question says it", unknown.join(", ")),
            ),
        }
    }

    /// Returns the text that the grammar writes for a query.
    fn rewritten(&self, query: &Query) -> Result<String, String> {
        let values: Vec<SuggestedValue> =
            query.literals().into_iter().map(|literal| SuggestedValue::new(literal, "")).collect();
        let environment = self.fixed.with_values(self.language, &values);
        let grammar = self.grammar.with_items(&environment.items()[self.fixed.fixed_items()..]);
        let program =
            self.language.encode(query, &grammar, &environment).map_err(|error| error.to_string())?;
        let again = Program::from_actions(&grammar, program.actions()).map_err(|error| error.to_string())?;
        if self.language.decode(&again, &environment) != *query {
            return Err("its actions mean another query".to_owned());
        }
        Ok(self.language.write(&again, &grammar, &environment))
    }

    /// Counts which words of unlabeled questions are known from labeled ones and from the schema.
    pub fn vocabulary(
        &self,
        labeled: &[LabeledQuestion],
        unlabeled: &[UnlabeledQuestion],
    ) -> VocabularyAccount {
        let named = self.fixed.items().iter().map(|item| item.phrase.as_str());
        let known: FxHashSet<String> =
            labeled.iter().map(|pair| pair.utterance.as_str()).chain(named).flat_map(tokenize).collect();
        let mut counts: FxHashMap<String, usize> = FxHashMap::default();
        for word in unlabeled.iter().flat_map(|question| tokenize(&question.text)) {
            *counts.entry(word).or_default() += 1;
        }
        let all: usize = counts.values().sum();
        let words = counts.len();
        let mut unknown: Vec<(usize, String)> = counts
            .into_iter()
            .filter(|(word, _)| !known.contains(word))
            .map(|(word, count)| (count, word))
            .collect();
        unknown.sort_by(|(a, left), (b, right)| b.cmp(a).then_with(|| left.cmp(right)));
        let unknown_count: usize = unknown.iter().map(|(count, _)| count).sum();
        VocabularyAccount {
            questions: unlabeled.len(),
            words,
            known_words: words - unknown.len(),
            known_share: (all - unknown_count) as f64 / all.max(1) as f64,
            unknown: unknown.into_iter().take(SHOWN_WORDS).map(|(_, word)| word).collect(),
        }
    }
}

fn reason(outcome: &Outcome) -> String {
    match outcome {
        Outcome::TypeError(message) | Outcome::RuntimeError(message) | Outcome::Timeout(message) => {
            message.clone()
        }
        Outcome::Value(_) | Outcome::Empty => String::new(),
    }
}
