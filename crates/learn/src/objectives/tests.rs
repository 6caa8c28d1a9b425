use super::*;
use crate::task::{KnowledgeWorld, Task};
use xpr_exec::overnight;
use xpr_lang::Program;
use xpr_nn::{Gradients, Random};
use xpr_parser::{Model, ModelConfig, Shards, TrainableParser, WeightedProgram};

/// Draws log-probabilities and rewards; the probabilities sum to `mass`.
fn random_candidates(random: Random, count: usize, mass: f64) -> (Vec<f64>, Vec<bool>) {
    let weights: Vec<f64> = (0..count as u64).map(|i| random.uniform(i) + 0.01).collect();
    let total: f64 = weights.iter().sum();
    let logs = weights.iter().map(|weight| (mass * weight / total).ln()).collect();
    let mut rewarded: Vec<bool> = (0..count as u64).map(|i| random.uniform(100 + i) < 0.5).collect();
    rewarded[0] = true;
    rewarded[count - 1] = false;
    (logs, rewarded)
}

fn credit(objective: &dyn Objective, logs: &[f64], rewarded: &[bool]) -> Option<Credit> {
    objective.credit(Candidates { log_probabilities: logs, rewarded })
}

fn close(left: f64, right: f64) -> bool {
    (left - right).abs() <= 1e-6 * (1.0 + left.abs().max(right.abs()))
}

/// The loss of an objective, written down from the paper and independent of the code under test. What the E-step holds
/// constant is computed from `constant`.
fn loss(objective: &dyn Objective, constant: &[f64], logs: &[f64], rewarded: &[bool]) -> f64 {
    let indices = |wanted: bool| (0..logs.len()).filter(move |&i| rewarded[i] == wanted);
    let mass = |indices: &mut dyn Iterator<Item = usize>, logs: &[f64]| -> f64 {
        indices.map(|i| logs[i].exp()).sum()
    };
    let cross_entropy = |q: &dyn Fn(usize) -> f64| -> f64 { indices(true).map(|i| -q(i) * logs[i]).sum() };
    match objective.name() {
        "self-training" => {
            let best = indices(true).max_by(|&i, &j| constant[i].total_cmp(&constant[j])).unwrap();
            -logs[best]
        }
        "top-k" => -mass(&mut indices(true), logs).ln(),
        "repulsion" => -(1.0 - mass(&mut indices(false), logs)).ln(),
        "gentle" => {
            let seen = mass(&mut (0..logs.len()), constant);
            let unseen = 1.0 - mass(&mut (0..logs.len()), logs);
            -seen * mass(&mut indices(true), logs).ln() - (1.0 - seen) * unseen.ln()
        }
        "sparse" => {
            let threshold = sparsemax_threshold(&indices(true).map(|i| constant[i]).collect::<Vec<_>>());
            cross_entropy(&|i| (constant[i] - threshold).max(0.0))
        }
        "reinforce" => cross_entropy(&|i| constant[i].exp()),
        other => panic!("write down the loss of {other}"),
    }
}

/// The threshold of SparseMax by bisection, rather than by sorting as in the code under test.
fn sparsemax_threshold(z: &[f64]) -> f64 {
    let most = z.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let (mut low, mut high) = (most - 1.0, most);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        let sum: f64 = z.iter().map(|z| (z - middle).max(0.0)).sum();
        if sum > 1.0 { low = middle } else { high = middle }
    }
    high
}

#[test]
fn credit_is_the_derivative_of_the_loss() {
    for (number, objective) in ALL.into_iter().enumerate() {
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
        let get = |objective: &dyn Objective| credit(objective, &logs, &rewarded).unwrap();

        // Top-k: q is the posterior over seen executable programs.
        for (index, q) in get(&TopK).q.iter().enumerate() {
            assert!(close(*q, if rewarded[index] { p[index] / executable } else { 0.0 }));
        }
        // Repulsion: q moves the mass of seen non-executable programs to all others, in proportion.
        let repulsion = get(&Repulsion);
        let kept: f64 = repulsion.q.iter().sum();
        let unseen = (1.0 - executable - other) / (1.0 - other);
        assert!(close(kept + unseen, 1.0));
        // Gentle: q conserves the seen mass, and so the unseen mass.
        assert!(close(get(&Gentle).q.iter().sum(), executable + other));
        assert!(close(get(&Gentle).credit.iter().sum(), 0.0));
        // Sparse is at most as peaked as self-training, and its support is between those of self-training and top-k.
        let peak = |objective: &dyn Objective| get(objective).q.into_iter().fold(0.0, f64::max);
        assert!(peak(&SelfTraining) >= peak(&Sparse) - 1e-12);
        assert!(close(get(&Sparse).q.iter().sum(), 1.0));
        let support = |objective: &dyn Objective| get(objective).q.iter().filter(|q| **q > 0.0).count();
        assert!(support(&SelfTraining) <= support(&Sparse));
        assert!(support(&Sparse) <= support(&TopK));
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
    let found = credit(&TopK, &logs(&scores), &rewarded).unwrap();
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
        // With the whole space seen, repulsion has the same gradient: 1 − P_SN is P_SE.
        let repulsion = credit(&Repulsion, &logs(&scores), &rewarded).unwrap();
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
        for objective in ALL {
            match credit(objective, logs, rewarded) {
                Some(found) => {
                    let all = found.q.iter().chain(&found.credit).chain([&found.loss]);
                    assert!(
                        all.clone().all(|x| x.is_finite()),
                        "{objective:?} {logs:?} {rewarded:?}: {found:?}"
                    );
                }
                None => assert!(!rewarded.contains(&true) && objective.name() != "repulsion"),
            }
        }
    }
    // If all candidates are executable, repulsion and gentle change nothing.
    for objective in [&Repulsion as &dyn Objective, &Gentle] {
        let found = credit(objective, &[-1.0, -2.0], &[true, true]).unwrap();
        assert!(found.credit.iter().all(|credit| credit.abs() < 1e-12), "{objective:?}");
    }
    assert!(credit(&Repulsion, &[], &[]).unwrap().credit.is_empty());
}

/// Returns the log-probabilities of all programs of up to five actions under an untrained parser, the most probable first, and
/// whether each finds something.
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
    let weighted: Vec<WeightedProgram<'_>> =
        programs.iter().map(|program| WeightedProgram { question: 0, program, weight: 1.0 }).collect();
    let reading = model.read(&[&question], &[1], Random::new(3), Shards::all(1));
    let logs = reading.gradient(&weighted, &mut Gradients::default());
    let mut executor = task.executor().unwrap();
    let finds = programs.iter().map(|program| {
        let text = task.text(program, &question);
        task.finds_something(&text, &executor.execute(&text))
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
        let found = credit(&TopK, &logs[..seen], &rewarded[..seen]).unwrap();
        let unseen: f64 = whole.q[seen..].iter().sum();
        let apart: f64 = found.q.iter().zip(&whole.q).map(|(own, exact)| (own - exact).abs()).sum();
        // The posterior over the seen programs has the unseen mass too much.
        assert!(close(apart, unseen) && apart < last, "{seen}: {apart} {unseen}");
        last = apart;
    }
    assert!(close(last, 0.0));
}
