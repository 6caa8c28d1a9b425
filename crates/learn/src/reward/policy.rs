//! The policy: the one place that says what success is.

use crate::hyperparameters::NEARLY_ALL;
use crate::task::Task;
use xpr_lang::Outcome;
use xpr_run::Reward;

/// What a program must do to be a success, judged by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Success {
    /// It runs and finds something.
    NonEmpty,
    /// It runs.
    Executes,
}

impl Success {
    /// Returns what labels ask for: `NonEmpty` if there are labels and nearly all of their programs find something, and else
    /// `Executes`. Each element of `finds` says whether a labeled program finds something.
    pub fn from_labels(finds: impl IntoIterator<Item = bool>) -> Self {
        let (mut all, mut found) = (0, 0);
        for finds in finds {
            all += 1;
            found += usize::from(finds);
        }
        if all > 0 && found as f64 >= NEARLY_ALL * f64::from(all) {
            Success::NonEmpty
        } else {
            Success::Executes
        }
    }

    /// Returns the success that a reward names, or `by_labels` if it is `auto`.
    pub fn from_reward(reward: Reward, by_labels: Success) -> Self {
        match reward {
            Reward::Auto | Reward::Agreement => by_labels,
            Reward::NonEmpty => Success::NonEmpty,
            Reward::Executes | Reward::Denotation => Success::Executes,
        }
    }

    /// Returns the reward that names this success in settings.
    pub fn reward(self) -> Reward {
        match self {
            Success::NonEmpty => Reward::NonEmpty,
            Success::Executes => Reward::Executes,
        }
    }

    /// Returns whether a program with this outcome is a success.
    pub fn accepts(self, task: &Task, program: &str, outcome: &Outcome) -> bool {
        match self {
            Success::NonEmpty => task.finds_something(program, outcome),
            Success::Executes => outcome.executes(),
        }
    }
}

/// An executed candidate, as the policy sees it.
#[derive(Clone, Debug)]
pub struct JudgedCandidate {
    /// The probability of the candidate.
    pub probability: f64,
    /// Whether it passes the minimum check, [`RewardPolicy::success`].
    pub accepted: bool,
    /// Its outcome.
    pub outcome: Outcome,
}

/// Which candidates of a question are rewarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RewardPolicy {
    reward: Reward,
    success: Success,
}

impl RewardPolicy {
    /// Creates the policy of a setting. `by_labels` is what labels ask for, and `ensemble` says whether candidates come from an
    /// ensemble; `auto` is decided by both.
    pub fn new(reward: Reward, by_labels: Success, ensemble: bool) -> Self {
        let reward = match reward {
            Reward::Auto if ensemble => Reward::Agreement,
            Reward::Auto => by_labels.reward(),
            reward => reward,
        };
        RewardPolicy { reward, success: Success::from_reward(reward, by_labels) }
    }

    /// Returns the reward, which is never `auto`.
    pub fn reward(&self) -> Reward {
        self.reward
    }

    /// Returns the minimum check: what a candidate must do before it can be rewarded.
    pub fn success(&self) -> Success {
        self.success
    }

    /// Returns whether rewarded candidates are right for certain, because the answer of their question is known.
    pub fn is_certain(&self, answer: Option<&Outcome>) -> bool {
        self.reward == Reward::Denotation && answer.is_some()
    }

    /// Returns which candidates of a question are rewarded; `answer` is the known answer, if there is one.
    pub fn rewards(
        &self,
        task: &Task,
        candidates: &[JudgedCandidate],
        answer: Option<&Outcome>,
    ) -> Vec<bool> {
        match (self.reward, answer) {
            (Reward::Denotation, Some(answer)) => {
                candidates.iter().map(|candidate| task.is_same_answer(answer, &candidate.outcome)).collect()
            }
            (Reward::Agreement, _) => {
                let majority = majority_answer(task, candidates);
                let agrees = |candidate: &JudgedCandidate| {
                    candidate.accepted
                        && majority.is_some_and(|answer| task.is_same_answer(answer, &candidate.outcome))
                };
                candidates.iter().map(agrees).collect()
            }
            _ => candidates.iter().map(|candidate| candidate.accepted).collect(),
        }
    }
}

/// Returns the answer with the largest probability, summed over the accepted candidates that have it. Of equally probable
/// answers, the one of the better candidate.
fn majority_answer<'c>(task: &Task, candidates: &'c [JudgedCandidate]) -> Option<&'c Outcome> {
    let mut answers: Vec<(&Outcome, f64)> = Vec::new();
    for candidate in candidates.iter().filter(|candidate| candidate.accepted) {
        match answers.iter_mut().find(|(answer, _)| task.is_same_answer(answer, &candidate.outcome)) {
            Some((_, sum)) => *sum += candidate.probability,
            None => answers.push((&candidate.outcome, candidate.probability)),
        }
    }
    let mut best: Option<(&Outcome, f64)> = None;
    for (answer, sum) in answers {
        if best.is_none_or(|(_, most)| sum > most) {
            best = Some((answer, sum));
        }
    }
    best.map(|(answer, _)| answer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::KnowledgeWorld;
    use xpr_exec::overnight;

    fn task() -> Task {
        let world = overnight::world("calendar").unwrap();
        Task::new(Box::new(KnowledgeWorld::new(world, &[])), []).unwrap()
    }

    fn value(text: &str) -> Outcome {
        Outcome::Value(text.to_owned())
    }

    /// Candidates with the given probabilities and outcomes, and their rewards under a setting.
    fn rewards(
        reward: Reward,
        by_labels: Success,
        candidates: &[(f64, Outcome)],
        answer: Option<&Outcome>,
    ) -> Vec<bool> {
        let task = task();
        let policy = RewardPolicy::new(reward, by_labels, false);
        let judged = |(probability, outcome): &(f64, Outcome)| JudgedCandidate {
            probability: *probability,
            accepted: policy.success().accepts(&task, "", outcome),
            outcome: outcome.clone(),
        };
        policy.rewards(&task, &candidates.iter().map(judged).collect::<Vec<_>>(), answer)
    }

    #[test]
    fn labels_decide_whether_an_empty_answer_can_be_right() {
        let by_labels = |empty: usize| Success::from_labels((0..100 + empty).map(|program| program < 100));
        assert_eq!(by_labels(0), Success::NonEmpty);
        assert_eq!(by_labels(3), Success::NonEmpty);
        assert_eq!(by_labels(4), Success::Executes);
    }

    #[test]
    fn auto_is_agreement_with_an_ensemble_and_else_decided_by_labels() {
        let reward = |by_labels, ensemble| RewardPolicy::new(Reward::Auto, by_labels, ensemble).reward();
        assert_eq!(reward(Success::NonEmpty, true), Reward::Agreement);
        assert_eq!(reward(Success::NonEmpty, false), Reward::NonEmpty);
        assert_eq!(reward(Success::Executes, false), Reward::Executes);
        let explicit = RewardPolicy::new(Reward::Executes, Success::NonEmpty, true);
        assert_eq!((explicit.reward(), explicit.success()), (Reward::Executes, Success::Executes));
    }

    #[test]
    fn executes_accepts_an_empty_answer_and_non_empty_does_not() {
        let error = Outcome::RuntimeError("x".to_owned());
        let candidates = [(0.4, value("1")), (0.3, Outcome::Empty), (0.2, error)];
        let reward = |reward| rewards(reward, Success::NonEmpty, &candidates, None);
        assert_eq!(reward(Reward::NonEmpty), [true, false, false]);
        assert_eq!(reward(Reward::Executes), [true, true, false]);
    }

    #[test]
    fn denotation_rewards_the_known_answer_and_else_what_executes() {
        let candidates = [(0.5, value("1")), (0.3, value("2")), (0.1, Outcome::Empty)];
        let reward = |answer: Option<Outcome>| {
            rewards(Reward::Denotation, Success::NonEmpty, &candidates, answer.as_ref())
        };
        assert_eq!(reward(Some(value("2"))), [false, true, false]);
        assert_eq!(reward(Some(value("3"))), [false, false, false]);
        assert_eq!(reward(Some(Outcome::Empty)), [false, false, true]);
        assert_eq!(reward(None), [true, true, true]);
        let certain = |reward| {
            let policy = RewardPolicy::new(reward, Success::Executes, false);
            (policy.is_certain(Some(&value("1"))), policy.is_certain(None))
        };
        assert_eq!(certain(Reward::Denotation), (true, false));
        assert_eq!(certain(Reward::Executes), (false, false));
    }

    #[test]
    fn agreement_rewards_the_most_probable_answer_among_accepted_candidates() {
        let by = |by_labels, candidates: &[(f64, Outcome)]| {
            rewards(Reward::Agreement, by_labels, candidates, None)
        };
        // 0.3 + 0.15 for "2" is more than 0.4 for "1".
        let candidates = [(0.4, value("1")), (0.3, value("2")), (0.15, value("2"))];
        assert_eq!(by(Success::NonEmpty, &candidates), [false, true, true]);
        // An empty answer can be the majority only where labels allow it.
        let candidates = [(0.6, Outcome::Empty), (0.3, value("2"))];
        assert_eq!(by(Success::NonEmpty, &candidates), [false, true]);
        assert_eq!(by(Success::Executes, &candidates), [true, false]);
        // A tie goes to the answer of the better candidate.
        let candidates = [(0.25, value("1")), (0.25, value("2")), (0.1, Outcome::Empty)];
        assert_eq!(by(Success::NonEmpty, &candidates), [true, false, false]);
        let failed = [(0.9, Outcome::TypeError("x".to_owned()))];
        assert_eq!(by(Success::Executes, &failed), [false]);
    }
}
