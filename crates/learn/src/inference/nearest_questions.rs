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

/// Returns the labeled question of a scope that shares most words with a text; rare words count more. Nothing if there are no labels.
pub(crate) fn nearest_question<'s>(scope: &'s Scope, text: &str) -> Option<&'s str> {
    let stems: Vec<String> = tokenize(text).iter().map(|word| stem(word)).collect();
    NearestQuestions::new(scope).nearest(&stems).map(|(question, _)| question)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::{KnowledgeWorld, Task};
    use xpr_exec::overnight;
    use xpr_parser::Question;

    #[test]
    fn the_nearest_question_shares_rare_words() {
        let world = overnight::world("calendar").unwrap();
        let task = Task::new(Box::new(KnowledgeWorld::new(world, &[])), []).unwrap();
        let labeled = [
            "which meetings are in central office",
            "when is the weekly standup",
            "meetings with alice and bob",
        ];
        let questions: Vec<Question> = labeled.iter().map(|text| task.question(text)).collect();
        let scope = Scope::new(&task, labeled.into_iter().zip(&questions), std::iter::empty());
        assert_eq!(nearest_question(&scope, "delete the weekly standup"), Some(labeled[1]));
        assert_eq!(nearest_question(&scope, "who meets bob"), Some(labeled[2]));
        // Nothing is near, so the first is as good as any.
        assert_eq!(nearest_question(&scope, "xyzzy"), Some(labeled[0]));
        assert_eq!(nearest_question(&Scope::default(), "xyzzy"), None);
    }
}
