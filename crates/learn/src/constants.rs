//! Constants that programs need and no question says.
//!
//! To somebody who labels GeoQuery a major city has more than 150000 people, and no question will ever say so. A parser points to values and
//! cannot make them up, so such constants are learned from labels: a literal that several labeled programs have without
//! their questions suggesting it is offered for every question.

use rustc_hash::FxHashMap;
use xpr_exec::sqlite::ValueIndex;
use xpr_lang::Environment;
use xpr_lang::sql::{Literal, Sql, SqlEnvironment, Value};

/// Fewer programs than this, and a constant is one question's own.
const FEWEST: usize = 2;
/// More items than this would be in the way of every question.
const MOST: usize = 32;

/// A constant that programs need and no question says.
#[derive(Clone, Debug, PartialEq)]
pub struct LearnedConstant {
    /// As an environment has it.
    pub value: Value,
    /// How many programs need it without their question suggesting it.
    pub programs: usize,
}

/// The constants of labeled questions (an utterance and a program each), the most frequent first: their values are for
/// [`SqlEnvironment::with_constants`]. Learned from test questions they would say nothing about new ones.
///
/// `environment` has the items that every question has anyway. Programs that cannot be read have none.
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
        .filter(|&(_, count)| count >= FEWEST)
        .map(|(literal, count)| (count, literal))
        .collect();
    found.sort_by(|(a, left), (b, right)| b.cmp(a).then_with(|| left.to_string().cmp(&right.to_string())));
    found.truncate(MOST);
    let learned = |(programs, literal)| LearnedConstant { value: constant_value(literal), programs };
    found.into_iter().map(learned).collect()
}

/// A literal as a constant, which people would say as it is.
pub(crate) fn constant_value(literal: Literal) -> Value {
    let (Literal::Number(phrase) | Literal::Text(phrase)) = &literal;
    let phrase = phrase.clone();
    Value::new(literal, phrase)
}
