//! Constants that programs need and no question names.
//!
//! To the labelers of GeoQuery a major city has more than 150000 people, but no question says so. A parser copies values and
//! cannot invent them, so such constants are learned from labels: a literal that several labeled programs need, and that their
//! questions do not suggest, is offered to every question.

use crate::hyperparameters::{FEWEST_PROGRAMS_OF_CONSTANT, MOST_CONSTANTS};
use rustc_hash::FxHashMap;
use xpr_exec::database::ValueIndex;
use xpr_lang::Environment;
use xpr_lang::sql::{LabelPatterns, Literal, Sql, SqlEnvironment, SuggestedValue};

/// A constant learned from labels.
#[derive(Clone, Debug, PartialEq)]
pub struct LearnedConstant {
    /// The constant, as an environment holds it.
    pub value: SuggestedValue,
    /// The number of labeled programs that need it and whose questions do not suggest it.
    pub programs: usize,
}

/// Returns the constants of labeled pairs of a question and a program, the most frequent first. Their values are for
/// [`SqlEnvironment::with_constants`].
///
/// `environment` holds the items that every question has without them. Programs that cannot be read are ignored.
pub fn learned_constants<'a>(
    language: &Sql,
    environment: &SqlEnvironment,
    index: &ValueIndex,
    labeled: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Vec<LearnedConstant> {
    let mut counts: FxHashMap<Literal, usize> = FxHashMap::default();
    for (utterance, program) in labeled {
        let Ok(query) = language.parse(program) else { continue };
        let literals = query.literals();
        if literals.iter().all(|literal| environment.find(&literal.to_string()).is_some()) {
            continue;
        }
        let environment = environment.with_values(language, &index.values(utterance));
        for literal in literals {
            if environment.find(&literal.to_string()).is_none() {
                *counts.entry(literal).or_default() += 1;
            }
        }
    }
    let mut found: Vec<(usize, Literal)> = counts
        .into_iter()
        .filter(|&(_, count)| count >= FEWEST_PROGRAMS_OF_CONSTANT)
        .map(|(literal, count)| (count, literal))
        .collect();
    found.sort_by(|(a, left), (b, right)| b.cmp(a).then_with(|| left.to_string().cmp(&right.to_string())));
    found.truncate(MOST_CONSTANTS);
    let learned = |(programs, literal)| LearnedConstant { value: constant_value(literal), programs };
    found.into_iter().map(learned).collect()
}

/// Returns what labeled pairs of a question and a program have that search may try. Programs that cannot be read are ignored.
pub(crate) fn learned_patterns<'a>(
    language: &Sql,
    index: &ValueIndex,
    labeled: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> LabelPatterns {
    let mut patterns = LabelPatterns::default();
    for (utterance, program) in labeled {
        let Ok(query) = language.parse(program) else { continue };
        let said = index.values(utterance);
        patterns.add(language, &query, |literal| said.iter().any(|value| value.literal == *literal));
    }
    patterns
}

/// Returns a literal as a constant whose phrase is its text.
pub(crate) fn constant_value(literal: Literal) -> SuggestedValue {
    let (Literal::Number(phrase) | Literal::Text(phrase)) = &literal;
    let phrase = phrase.clone();
    SuggestedValue::new(literal, phrase)
}
