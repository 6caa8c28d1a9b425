//! How much of somebody's data a parser can learn from, before anything is trained.
//!
//! For each pair: does its program **run**; can the grammar write it (**covered**: from text to tree to actions and back to the same
//! tree); does what it would write find the same (**round trip**); and are the constants it needs among the values
//! that its question suggests (**linked**): a parser points to values and cannot make them up, so what is not linked it will not get right.
//! Constants that several labels need and no question says are counted apart: a parser that is trained with those labels has
//! them for every question.
//! For questions without programs: how many of their words occur in the labeled ones or in the schema.

use super::constants::{LearnedConstant, learned_constants};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;
use std::ops::ControlFlow;
use thiserror::Error;
use xpr_data::LabeledQuestion;
use xpr_data::UnlabeledQuestion;
use xpr_exec::Executor;
use xpr_exec::sqlite::{Database, DatabaseError, QueryLimits, SqliteRunner, ValueIndex, same_answer};
use xpr_lang::sql::{Query, Schema, Sql, SqlEnvironment, SuggestedValue};
use xpr_lang::{Environment, Grammar, GrammarError, Language, Outcome, Program};
use xpr_text::tokenize;

/// Unknown words that are shown.
const SHOWN_WORDS: usize = 20;

/// Why there is no account.
#[derive(Debug, Error)]
pub enum CoverageError {
    /// The database cannot be opened any more.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// No query can be written about it.
    #[error(transparent)]
    Grammar(#[from] GrammarError),
}

/// Where a pair failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// Running its program.
    Executable,
    /// Writing its program with the grammar.
    Covered,
    /// Finding the same with what was written.
    RoundTrip,
    /// Finding its constants by its question.
    Linked,
}

/// A pair that a parser cannot learn from, or not get right.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// The line of the pair in its file.
    pub line: usize,
    /// Its question.
    pub utterance: String,
    /// Its program.
    pub program: String,
    /// What failed.
    pub stage: Stage,
    /// Why.
    pub reason: String,
}

/// An account of labeled pairs. But for literals, everything is counted in pairs.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Coverage {
    /// Pairs in all.
    pub pairs: usize,
    /// Those whose program was run.
    pub run: usize,
    /// Those whose program the grammar can write.
    pub covered: usize,
    /// Those for which what it writes finds the same.
    pub round_trip: usize,
    /// Those whose program runs.
    pub executable: usize,
    /// Those whose constants are all suggested by their question.
    pub linked: usize,
    /// The same, or among `constants`. Those that are not are the failures.
    pub linked_with_constants: usize,
    /// Constants of all programs that could be read.
    pub literals: usize,
    /// Those that are suggested by their question.
    pub linked_literals: usize,
    /// The same, or among `constants`.
    pub linked_literals_with_constants: usize,
    /// Constants that several labels need and no question says; see [`learned_constants`].
    pub constants: Vec<ConstantAccount>,
    /// What failed, in the order of the pairs.
    pub failures: Vec<Failure>,
}

/// A constant learned from labels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ConstantAccount {
    /// As a query writes it.
    pub literal: String,
    /// How many labels need it without their question saying it.
    pub programs: usize,
}

/// The words of questions without programs.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct VocabularyAccount {
    /// Questions in all.
    pub questions: usize,
    /// Different words.
    pub words: usize,
    /// Those that labeled questions or the schema have.
    pub known_words: usize,
    /// The share of all words that are known, counted as often as they occur.
    pub known_share: f64,
    /// The most frequent of the others.
    pub unknown: Vec<String>,
}

/// Looks at pairs about a database.
pub struct Surveyor<'a> {
    language: Sql,
    fixed: SqlEnvironment,
    grammar: Grammar,
    index: &'a ValueIndex,
    runner: SqliteRunner,
}

impl<'a> Surveyor<'a> {
    /// For pairs about `database`, with its schema and values.
    ///
    /// # Errors
    /// If the database cannot be opened any more, or nothing can be asked about it.
    pub fn new(database: &Database, schema: &Schema, index: &'a ValueIndex) -> Result<Self, CoverageError> {
        let language = Sql::new(schema.clone());
        let fixed = SqlEnvironment::new(&language);
        let grammar = language.signatures().grammar(fixed.items())?;
        let runner = SqliteRunner::new(database, schema.clone(), QueryLimits::interactive())?;
        Ok(Surveyor { language, fixed, grammar, index, runner })
    }

    /// What a parser learns from these labels that no question says.
    pub fn constants(&self, labeled: &[LabeledQuestion]) -> Vec<LearnedConstant> {
        let labeled = labeled.iter().map(|pair| (pair.utterance.as_str(), pair.program.as_str()));
        learned_constants(&self.language, &self.fixed, self.index, labeled)
    }

    /// The account of some pairs, for a parser that has these constants. `watch` hears how many are done; once it breaks, programs are
    /// only looked at and no longer run.
    pub fn survey(
        &mut self,
        pairs: &[LabeledQuestion],
        constants: &[LearnedConstant],
        watch: &mut dyn FnMut(usize) -> ControlFlow<()>,
    ) -> Coverage {
        let values: Vec<SuggestedValue> = constants.iter().map(|constant| constant.value.clone()).collect();
        let fixed = self.fixed.with_constants(&self.language, &values);
        let constants = constants
            .iter()
            .map(|LearnedConstant { value, programs }| ConstantAccount {
                literal: value.literal.to_string(),
                programs: *programs,
            })
            .collect();
        let mut coverage = Coverage { pairs: pairs.len(), constants, ..Coverage::default() };
        let mut runs = true;
        for (done, pair) in pairs.iter().enumerate() {
            runs = runs && watch(done).is_continue();
            self.add(pair, &fixed, runs, &mut coverage);
        }
        coverage
    }

    fn add(&mut self, pair: &LabeledQuestion, fixed: &SqlEnvironment, runs: bool, coverage: &mut Coverage) {
        let mut fail = |stage: Stage, reason: String| {
            let (utterance, program) = (pair.utterance.clone(), pair.program.clone());
            coverage.failures.push(Failure { line: pair.line, utterance, program, stage, reason });
        };
        let query = self.language.parse(&pair.program);
        let outcome = runs.then(|| {
            let outcome = self.runner.execute(&pair.program);
            match (outcome.executes(), &query) {
                // Double quotes around texts are refused in queries as they come, and understood by the language.
                (false, Ok(query)) => self.runner.execute(&self.language.text(query)),
                _ => outcome,
            }
        });
        let found = outcome.as_ref().and_then(Outcome::denotation);
        coverage.run += usize::from(outcome.is_some());
        coverage.executable += usize::from(found.is_some());
        if let (Some(outcome), None) = (&outcome, found) {
            fail(Stage::Executable, reason(outcome));
        }
        let query = match query {
            Ok(query) => query,
            Err(error) => return fail(Stage::Covered, error.to_string()),
        };
        match self.rewritten(&query) {
            Ok(text) => {
                coverage.covered += 1;
                // Or there is nothing to compare with.
                if let Some(gold) = found {
                    let again = self.runner.execute(&text);
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
            let environment = fixed.with_values(&self.language, &values);
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
            false => fail(Stage::Linked, format!("the question does not suggest {}", unknown.join(", "))),
        }
    }

    /// What a parser that gets everything right would write.
    fn rewritten(&self, query: &Query) -> Result<String, String> {
        let values: Vec<SuggestedValue> =
            query.literals().into_iter().map(|literal| SuggestedValue::new(literal, "")).collect();
        let environment = self.fixed.with_values(&self.language, &values);
        let grammar = self.grammar.with_items(&environment.items()[self.fixed.fixed_items()..]);
        let program =
            self.language.encode(query, &grammar, &environment).map_err(|error| error.to_string())?;
        let again = Program::from_actions(&grammar, program.actions()).map_err(|error| error.to_string())?;
        if self.language.decode(&again, &environment) != *query {
            return Err("its actions mean another query".to_owned());
        }
        Ok(self.language.write(&again, &grammar, &environment))
    }

    /// The account of questions without programs, beside those that have one.
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
