use super::*;
use crate::Task;
use crate::world::KnowledgeWorld;
use xpr_exec::overnight;
use xpr_lang::Program;
use xpr_nn::{Gradients, Random};
use xpr_parser::{Model, ModelConfig, TrainableParser, Weighted};

/// Log-probabilities and rewards drawn at random; the mass of all is `mass`.
fn random_candidates(random: Random, count: usize, mass: f64) -> (Vec<f64>, Vec<bool>) {
    let weights: Vec<f64> = (0..count as u64).map(|i| random.uniform(i) + 0.01).collect();
    let total: f64 = weights.iter().sum();
    let logs = weights.iter().map(|weight| (mass * weight / total).ln()).collect();
    let mut rewarded: Vec<bool> = (0..count as u64).map(|i| random.uniform(100 + i) < 0.5).collect();
    rewarded[0] = true;
    rewarded[count - 1] = false;
    (logs, rewarded)
}

fn credit(objective: Objective, logs: &[f64], rewarded: &[bool]) -> Option<Credit> {
    objective.credit(Candidates { log_probabilities: logs, rewarded })
}

fn close(left: f64, right: f64) -> bool {
    (left - right).abs() <= 1e-6 * (1.0 + left.abs().max(right.abs()))
}

/// The loss as a function of the log-probabilities, what is constant in the E-step held at `constant`.
fn loss(objective: Objective, constant: &[f64], logs: &[f64], rewarded: &[bool]) -> f64 {
    let at = credit(objective, constant, rewarded).unwrap();
    let mass = |keep: &dyn Fn(usize) -> bool, logs: &[f64]| -> f64 {
        (0..logs.len()).filter(|&i| keep(i)).map(|i| logs[i].exp()).sum()
    };
    match objective {
        Objective::SelfTraining | Objective::Sparse | Objective::Reinforce => {
            at.q.iter().zip(logs).map(|(q, log)| -q * log).sum()
        }
        Objective::TopK => -mass(&|i| rewarded[i], logs).ln(),
        Objective::Repulsion => -(1.0 - mass(&|i| !rewarded[i], logs)).ln(),
        Objective::Gentle => {
            let seen = mass(&|_| true, constant);
            -seen * mass(&|i| rewarded[i], logs).ln() - (1.0 - seen) * (1.0 - mass(&|_| true, logs)).ln()
        }
    }
}

#[test]
fn credit_is_the_derivative_of_the_loss() {
    for (number, objective) in Objective::ALL.into_iter().enumerate() {
        for trial in 0..20 {
            let random = Random::new(trial).stream(number as u64);
            let (logs, rewarded) =
                random_candidates(random, 2 + trial as usize % 7, 0.2 + 0.035 * trial as f64);
            let found = credit(objective, &logs, &rewarded).unwrap();
            assert!(close(found.loss, loss(objective, &logs, &logs, &rewarded)), "{objective:?}");
            for index in 0..logs.len() {
                let at = |step: f64| {
                    let mut moved = logs.clone();
                    moved[index] += step;
                    loss(objective, &logs, &moved, &rewarded)
                };
                let quotient = (at(1e-6) - at(-1e-6)) / 2e-6;
                assert!(
                    (found.credit[index] - quotient).abs() < 1e-6,
                    "{objective:?} {index}: {} {quotient}",
                    found.credit[index]
                );
            }
        }
    }
}

#[test]
fn the_identities_of_the_paper_hold() {
    for trial in 0..50 {
        let (logs, rewarded) = random_candidates(Random::new(trial), 8, 0.7);
        let p: Vec<f64> = logs.iter().map(|log| log.exp()).collect();
        let executable: f64 =
            p.iter().zip(&rewarded).filter(|(_, rewarded)| **rewarded).map(|(p, _)| p).sum();
        let other: f64 = p.iter().sum::<f64>() - executable;
        let get = |objective| credit(objective, &logs, &rewarded).unwrap();

        // Top-k's credit is the E-step's posterior over seen executable programs.
        for (index, q) in get(Objective::TopK).q.iter().enumerate() {
            assert!(close(*q, if rewarded[index] { p[index] / executable } else { 0.0 }));
        }
        // Repulsion: q moves the mass of what is seen and wrong to all the rest, in proportion.
        let repulsion = get(Objective::Repulsion);
        let kept: f64 = repulsion.q.iter().sum();
        let unseen = (1.0 - executable - other) / (1.0 - other);
        assert!(close(kept + unseen, 1.0));
        // Gentle: q conserves the seen mass, so the unseen mass stays what it is.
        assert!(close(get(Objective::Gentle).q.iter().sum(), executable + other));
        assert!(close(get(Objective::Gentle).credit.iter().sum(), 0.0));
        // Sparse lies between self-training and top-k: at least as peaked as one, at most as the other.
        let peak = |objective| get(objective).q.into_iter().fold(0.0, f64::max);
        assert!(peak(Objective::SelfTraining) >= peak(Objective::Sparse) - 1e-12);
        assert!(close(get(Objective::Sparse).q.iter().sum(), 1.0));
        let support = |objective| get(objective).q.iter().filter(|q| **q > 0.0).count();
        assert!(support(Objective::SelfTraining) <= support(Objective::Sparse));
        assert!(support(Objective::Sparse) <= support(Objective::TopK));
    }
}

#[test]
fn with_every_program_seen_top_k_is_exact_marginal_likelihood() {
    // A softmax over ten programs; the gradient of −log Σ_rewarded p by the scores, two ways.
    let random = Random::new(4);
    let scores: Vec<f64> = (0..10).map(|i| random.normal(i)).collect();
    let rewarded: Vec<bool> = (0..10).map(|i| i % 3 == 0).collect();
    let logs = |scores: &[f64]| -> Vec<f64> {
        let total = log_sum(scores.iter().copied());
        scores.iter().map(|score| score - total).collect()
    };
    let exact = |scores: &[f64]| -> Credit {
        exact(Candidates { log_probabilities: &logs(scores), rewarded: &rewarded }).unwrap()
    };
    let found = credit(Objective::TopK, &logs(&scores), &rewarded).unwrap();
    assert!(close(found.loss, exact(&scores).loss));
    let p: Vec<f64> = logs(&scores).iter().map(|log| log.exp()).collect();
    for index in 0..10 {
        // ∂l_i/∂s_j = [i = j] − p_j
        let through: f64 = found.credit[index] - p[index] * found.credit.iter().sum::<f64>();
        let at = |step: f64| {
            let mut moved = scores.clone();
            moved[index] += step;
            exact(&moved).loss
        };
        assert!((through - (at(1e-6) - at(-1e-6)) / 2e-6).abs() < 1e-6);
        assert!((through - exact(&scores).credit[index]).abs() < 1e-6);
        // And all of it seen, repulsion has the same gradient: 1 − P_SN is P_SE.
        let repulsion = credit(Objective::Repulsion, &logs(&scores), &rewarded).unwrap();
        let other: f64 = repulsion.credit[index] - p[index] * repulsion.credit.iter().sum::<f64>();
        assert!((through - other).abs() < 1e-5);
    }
}

#[test]
fn sparsemax_is_the_projection_onto_the_simplex() {
    for trial in 0..200 {
        let random = Random::new(trial);
        let z: Vec<f64> = (0..6).map(|i| 3.0 * random.normal(i)).collect();
        let q = sparsemax(&z);
        assert!(close(q.iter().sum(), 1.0) && q.iter().all(|q| *q >= 0.0));
        let distance = |q: &[f64]| -> f64 { q.iter().zip(&z).map(|(q, z)| (q - z).powi(2)).sum() };
        // No other point of the simplex is nearer.
        for other in 0..20 {
            let weights: Vec<f64> = (0..6).map(|i| random.uniform(1000 + 6 * other + i).powi(3)).collect();
            let total: f64 = weights.iter().sum();
            let point: Vec<f64> = weights.iter().map(|weight| weight / total).collect();
            assert!(distance(&q) <= distance(&point) + 1e-12);
        }
    }
    assert_eq!(sparsemax(&[5.0]), [1.0]);
    assert_eq!(sparsemax(&[2.0, 2.0]), [0.5, 0.5]);
    assert!(sparsemax(&[]).is_empty());
}

#[test]
fn extremes_give_finite_numbers() {
    let cases: [(&[f64], &[bool]); 8] = [
        (&[0.0], &[true]),
        (&[0.0], &[false]),
        (&[-1000.0], &[true]),
        (&[-1000.0], &[false]),
        (&[-1e-12, -30.0], &[false, true]),
        (&[-1e-12, -1000.0], &[true, false]),
        (&[-0.7, -0.7], &[true, true]),
        (&[-1000.0, -1000.0, -1000.0], &[true, false, true]),
    ];
    for (logs, rewarded) in cases {
        for objective in Objective::ALL {
            match credit(objective, logs, rewarded) {
                Some(found) => {
                    let all = found.q.iter().chain(&found.credit).chain([&found.loss]);
                    assert!(
                        all.clone().all(|x| x.is_finite()),
                        "{objective:?} {logs:?} {rewarded:?}: {found:?}"
                    );
                }
                None => assert!(!rewarded.contains(&true) && objective != Objective::Repulsion),
            }
        }
    }
    // All executable: nothing to repel, and nothing to move gently.
    for objective in [Objective::Repulsion, Objective::Gentle] {
        let found = credit(objective, &[-1.0, -2.0], &[true, true]).unwrap();
        assert!(found.credit.iter().all(|credit| credit.abs() < 1e-12), "{objective:?}");
    }
    assert!(credit(Objective::Repulsion, &[], &[]).unwrap().credit.is_empty());
}

/// All programs of up to five actions about a world, as an untrained parser thinks of them, likeliest first, and which find something.
fn small_space() -> (Vec<f64>, Vec<bool>) {
    let world = overnight::world("calendar").unwrap();
    let task = Task::new(Box::new(KnowledgeWorld::new(world, &[])), []).unwrap();
    let question = task.question("which meeting is in the office");
    let config = ModelConfig {
        hidden: 16,
        feed_forward: 16,
        heads: 2,
        dropout: 0.0,
        word_dropout: 0.0,
        ..ModelConfig::default()
    };
    let words = task.vocabulary().table(8, &Default::default(), Random::new(1));
    let model = Model::new(config, task.scene().clone(), words, Random::new(2));
    let programs: Vec<Program> = task.scene().grammar().programs(5).collect();
    let weighted: Vec<Weighted<'_>> =
        programs.iter().map(|program| Weighted { question: 0, program, weight: 1.0 }).collect();
    let reading = model.read(&[&question], &[1], Random::new(3), 1);
    let logs = reading.gradient(&weighted, &mut Gradients::default());
    let mut runner = task.runner().unwrap();
    let finds = programs.iter().map(|program| {
        let text = task.text(program, &question);
        task.finds(&text, &runner.execute(&text))
    });
    let mut space: Vec<(f64, bool)> = logs.iter().map(|log| f64::from(*log)).zip(finds).collect();
    space.sort_by(|(left, _), (right, _)| right.total_cmp(left));
    space.into_iter().unzip()
}

#[test]
fn the_more_is_seen_the_nearer_is_top_k_to_exact() {
    let (logs, rewarded) = small_space();
    assert!(logs.len() > 100 && rewarded.contains(&true) && rewarded.contains(&false), "{}", logs.len());
    let whole = exact(Candidates { log_probabilities: &logs, rewarded: &rewarded }).unwrap();
    let mut last = f64::INFINITY;
    for seen in [logs.len() / 8, logs.len() / 4, logs.len() / 2, logs.len()] {
        let found = credit(Objective::TopK, &logs[..seen], &rewarded[..seen]).unwrap();
        let unseen: f64 = whole.q[seen..].iter().sum();
        let apart: f64 = found.q.iter().zip(&whole.q).map(|(own, exact)| (own - exact).abs()).sum();
        // What is not seen is what the posterior of the seen has too much of.
        assert!(close(apart, unseen) && apart < last, "{seen}: {apart} {unseen}");
        last = apart;
    }
    assert!(close(last, 0.0));
}
