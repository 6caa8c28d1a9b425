//! Checks of values that have the right type.

use super::{Config, ConfigError, Dataset, EvalConfig, ModelConfig, OvernightGrammar, Reward, TrainConfig};
use std::fmt::Display;
use std::ops::RangeInclusive;

impl Config {
    /// Checks that every value is in its range.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        self.check_counts()?;
        self.check_numbers()?;
        let (dataset, grammar) = (self.data.dataset, self.data.grammar);
        // Training would silently be the same, and the run would seem to be one with another grammar.
        let has_grammar = dataset == Dataset::Overnight || grammar == OvernightGrammar::Typed;
        let expected = "a database has one grammar only: leave the setting out";
        holds(has_grammar, "data.grammar", grammar.name(), expected)?;
        check_eval(&self.eval)
    }

    fn check_counts(&self) -> Result<(), ConfigError> {
        let Config { base, model, train, learn, .. } = self;
        check_model_sizes(model)?;
        check_train_counts(train)?;
        let has_steps = train.steps > 0 || base.is_given();
        let expected = "expected at least 1; 0 is for a parser that starts from a base (base.folder)";
        holds(has_steps, "train.steps", train.steps, expected)?;
        check_ranges([
            ("learn.steps", learn.steps, 1..=usize::MAX, "expected at least 1"),
            ("learn.rounds", learn.rounds, 1..=100, "expected 1 to 100"),
            ("learn.ensemble", learn.ensemble, 0..=64, "expected at most 64"),
            ("learn.batch", learn.batch, 1..=1024, "expected 1 to 1024"),
            ("learn.beam", learn.beam, 1..=1024, "expected 1 to 1024"),
        ])
    }

    fn check_numbers(&self) -> Result<(), ConfigError> {
        let Config { data, model, train, learn, .. } = self;
        check_fraction(data.fraction)?;
        let has_canonical = data.dataset == Dataset::Overnight || !data.canonical;
        let expected = "only Overnight has canonical utterances: leave the setting out";
        holds(has_canonical, "data.canonical", data.canonical, expected)?;
        let answered = (0.0..=1.0).contains(&data.answered);
        holds(answered, "data.answered", data.answered, "expected a share from 0 to 1")?;
        let expected =
            "with learn.reward `denotation` some questions must have answers: expected a share above 0";
        let asks_for_answers = learn.reward == Reward::Denotation;
        holds(!asks_for_answers || data.answered > 0.0, "data.answered", data.answered, expected)?;
        check_dropout(model)?;
        for (key, value) in [
            ("learn.noisy_channel", learn.noisy_channel),
            ("learn.paraphrase", learn.paraphrase),
            ("learn.weight", learn.weight),
            ("learn.own_weight", learn.own_weight),
        ] {
            is_not_negative(key, value)?;
        }
        is_positive("learn.temperature", learn.temperature)?;
        check_train_numbers(train)
    }
}

/// A key, its value, the range of values, and the words for that range.
type RangeCheck = (&'static str, usize, RangeInclusive<usize>, &'static str);

fn check_ranges<const N: usize>(checks: [RangeCheck; N]) -> Result<(), ConfigError> {
    checks
        .into_iter()
        .try_for_each(|(key, value, range, expected)| holds(range.contains(&value), key, value, expected))
}

pub(super) fn check_model_sizes(model: &ModelConfig) -> Result<(), ConfigError> {
    let hidden = model.heads > 0 && model.hidden.is_multiple_of(2 * model.heads);
    let expected = "expected a multiple of twice model.heads, at most 4096";
    holds(hidden && (1..=4096).contains(&model.hidden), "model.hidden", model.hidden, expected)?;
    check_ranges([
        ("model.layers", model.layers, 0..=24, "expected at most 24"),
        ("model.feed_forward", model.feed_forward, 1..=16_384, "expected 1 to 16384"),
        ("model.word", model.word, 1..=4096, "expected 1 to 4096"),
        ("model.action", model.action, 1..=4096, "expected 1 to 4096"),
        ("model.place", model.place, 1..=4096, "expected 1 to 4096"),
    ])
}

pub(super) fn check_dropout(model: &ModelConfig) -> Result<(), ConfigError> {
    let dropout = [model.dropout, model.word_dropout].iter().all(|share| (0.0..1.0).contains(share));
    let expected = "it and model.word_dropout are shares from 0 to below 1";
    holds(dropout, "model.dropout", model.dropout, expected)
}

/// Checks `data.fraction`.
pub(super) fn check_fraction(fraction: f64) -> Result<(), ConfigError> {
    let is_share = fraction > 0.0 && fraction <= 1.0;
    holds(is_share, "data.fraction", fraction, "expected a share above 0 and up to 1")
}

pub(super) fn check_eval(eval: &EvalConfig) -> Result<(), ConfigError> {
    let EvalConfig { beam, noisy_channel, temperature, prefer, .. } = *eval;
    check_ranges([("eval.beam", beam, 1..=1024, "expected 1 to 1024")])?;
    is_not_negative("eval.noisy_channel", noisy_channel)?;
    is_positive("eval.temperature", temperature)?;
    let is_choice = !matches!(prefer, Reward::Denotation | Reward::Agreement);
    holds(is_choice, "eval.prefer", prefer.name(), "expected `auto`, `non-empty` or `executes`")
}

/// Checks the counts of training except for the number of steps.
pub(super) fn check_train_counts(train: &TrainConfig) -> Result<(), ConfigError> {
    check_ranges([
        ("train.batch", train.batch, 1..=4096, "expected 1 to 4096"),
        ("train.shards", train.shards, 1..=64, "expected 1 to 64"),
        ("train.checkpoint", train.checkpoint, 1..=usize::MAX, "expected at least 1"),
    ])
}

pub(super) fn check_train_numbers(train: &TrainConfig) -> Result<(), ConfigError> {
    is_not_negative("train.power", train.power)?;
    is_not_negative("train.clip", f64::from(train.clip))?;
    let average = (0.0..1.0).contains(&train.average);
    holds(average, "train.average", train.average, "expected a decay from 0 to below 1, such as 0.999")?;
    let (rate, end_rate) = (train.rate, train.end_rate);
    let rates = rate > 0.0 && rate.is_finite() && (0.0..=rate).contains(&end_rate);
    let value = format!("{rate} with train.end_rate {end_rate}");
    holds(rates, "train.rate", value, "expected rate > 0 and 0 ≤ end_rate ≤ rate")
}

fn is_not_negative(key: &'static str, value: f64) -> Result<(), ConfigError> {
    holds(value >= 0.0 && value.is_finite(), key, value, "expected a number from 0 on")
}

fn is_positive(key: &'static str, value: f64) -> Result<(), ConfigError> {
    holds(value > 0.0 && value.is_finite(), key, value, "expected a number above 0")
}

pub(super) fn holds(
    holds: bool,
    key: &'static str,
    value: impl Display,
    expected: &'static str,
) -> Result<(), ConfigError> {
    if holds { Ok(()) } else { Err(ConfigError::Value { key, value: value.to_string(), expected }) }
}
