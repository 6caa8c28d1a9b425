//! Which labeled question a text is nearest to.

use super::scope::Scope;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use xpr_text::{stem, tokenize};

/// The labeled questions of a scope by their words, so that a text is compared only with those that share one.
pub(crate) struct NearestQuestions<'s> {
    scope: &'s Scope,
    /// The questions with each stem, by their numbers.
    by_stem: FxHashMap<String, Vec<usize>>,
    /// The sum of the weights of each question's stems.
    weights: Vec<f64>,
}

impl<'s> NearestQuestions<'s> {
    pub(crate) fn new(scope: &'s Scope) -> Self {
        let mut by_stem: FxHashMap<String, Vec<usize>> = FxHashMap::default();
        let mut weights = Vec::with_capacity(scope.questions().len());
        for (number, question) in scope.questions().iter().enumerate() {
            let stems: BTreeSet<String> = tokenize(question).iter().map(|word| stem(word)).collect();
            weights.push(stems.iter().map(|stem| scope.weight(stem)).sum());
            for stem in stems {
                by_stem.entry(stem).or_default().push(number);
            }
        }
        NearestQuestions { scope, by_stem, weights }
    }

    /// Returns the question that is most similar to a text with these stems, and how similar it is, from 0 to 1: the share of the
    /// words of both that both have, weighted by how rare they are among labels. Nothing if there are no labels.
    pub(crate) fn nearest(&self, stems: &[String]) -> Option<(&'s str, f64)> {
        let stems: BTreeSet<&String> = stems.iter().collect();
        let own: f64 = stems.iter().map(|stem| self.scope.weight(stem)).sum();
        let mut shared = vec![0.0; self.weights.len()];
        for stem in stems {
            let weight = self.scope.weight(stem);
            for &number in self.by_stem.get(stem).into_iter().flatten() {
                shared[number] += weight;
            }
        }
        let similarity = |(number, shared): (usize, f64)| {
            let all = own + self.weights[number] - shared;
            (number, if all > 0.0 { shared / all } else { 0.0 })
        };
        // Of equally near questions, the first.
        let all = shared.into_iter().enumerate().map(similarity);
        let (number, similarity) = all.rev().max_by(|left, right| left.1.total_cmp(&right.1))?;
        Some((&self.scope.questions()[number], similarity))
    }
}
