//! Votes: candidates with the same answer add up their probabilities.
//!
//! Many programs have the same answer, and a parser divides its probability among them. What a person wants to be right is the answer, so
//! the answer with the largest sum is the one with the lowest expected risk, although another program may be the most probable.

use crate::task::Task;
use serde::Serialize;
use xpr_run::ExecutedCandidate;

/// An answer, and the candidates that have it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AnswerGroup {
    /// The sum of the candidates' probabilities.
    pub probability: f64,
    /// The indices of the candidates, most probable first.
    pub candidates: Vec<usize>,
}

/// Groups those candidates that are `counted` by their answers, the most probable answer first. Of equally probable answers, that of the
/// better candidate comes first. A candidate that fails has no answer.
pub(crate) fn group_by_answer(
    task: &Task,
    candidates: &[ExecutedCandidate],
    counted: impl Fn(usize) -> bool,
) -> Vec<AnswerGroup> {
    let mut groups: Vec<AnswerGroup> = Vec::new();
    for (index, candidate) in candidates.iter().enumerate() {
        if !candidate.outcome.executes() || !counted(index) {
            continue;
        }
        let probability = f64::from(candidate.log_probability).exp();
        // An answer whose rows have an order is the same as one whose rows have none, whichever of the two comes first.
        let is_same = |group: &AnswerGroup| {
            let first = &candidates[group.candidates[0]].outcome;
            task.is_same_answer(first, &candidate.outcome) || task.is_same_answer(&candidate.outcome, first)
        };
        match groups.iter_mut().find(|group| is_same(group)) {
            Some(group) => {
                group.probability += probability;
                group.candidates.push(index);
            }
            None => groups.push(AnswerGroup { probability, candidates: vec![index] }),
        }
    }
    // The sort is stable.
    groups.sort_by(|left, right| right.probability.total_cmp(&left.probability));
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::KnowledgeWorld;
    use xpr_exec::overnight;
    use xpr_lang::Outcome;

    fn candidate(probability: f32, outcome: Outcome) -> ExecutedCandidate {
        ExecutedCandidate { program: String::new(), log_probability: probability.ln(), outcome }
    }

    #[test]
    fn the_probabilities_of_an_answer_add_up() {
        let world = overnight::world("calendar").unwrap();
        let task = Task::new(Box::new(KnowledgeWorld::new(world, &[])), []).unwrap();
        let value = |text: &str| Outcome::Value(text.to_owned());
        let candidates = [
            candidate(0.375, value("1")),
            candidate(0.25, value("2")),
            candidate(0.2, Outcome::RuntimeError("x".to_owned())),
            candidate(0.25, value("2")),
            candidate(0.125, Outcome::Empty),
        ];
        let groups = group_by_answer(&task, &candidates, |_| true);
        let indices: Vec<&[usize]> = groups.iter().map(|group| group.candidates.as_slice()).collect();
        assert_eq!(indices, [&[1, 3][..], &[0], &[4]]);
        assert!((groups[0].probability - 0.5).abs() < 1e-6);
        // A candidate that is not counted has no vote, and a tie goes to the better candidate.
        let counted = group_by_answer(&task, &candidates, |index| index != 3);
        assert_eq!(counted[0].candidates, [0]);
        let tie = [candidate(0.25, value("1")), candidate(0.25, value("2"))];
        assert_eq!(group_by_answer(&task, &tie, |_| true)[0].candidates, [0]);
    }
}
