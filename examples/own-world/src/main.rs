//! Trains a parser for a language of one's own, from few labeled and many unlabeled commands.
//!
//! Where a thing lies is in no command: "bring the pillow to the garage" means `go bedroom take pillow go garage drop pillow`. For a
//! thing without a label the parser has to find out, and it can: a plan that looks for the pillow in the kitchen fails when it is run.

mod robot;

use anyhow::Result;
use robot::{PLACES, RobotWorld, THINGS};
use std::io::{self, Write};
use xpr_data::{Embeddings, Example};
use xpr_learn::inference::evaluate;
use xpr_learn::objectives::Sparse;
use xpr_learn::reward::{Judge, RewardPolicy, Success};
use xpr_learn::task::UnlabeledExample;
use xpr_learn::teacher::{EStep, OwnSearch};
use xpr_learn::{Task, Teacher, Trainer};
use xpr_nn::Random;
use xpr_parser::{Model, ModelConfig};
use xpr_run::{EvalConfig, Fallback, LearnConfig, Reward, TrainConfig};
use xpr_text::tokenize;

/// The commands that are labeled, and those that are trained on.
const LABELED: usize = 30;
const TRAINED: usize = 180;

/// Commands with their plans, in random order.
fn commands(order: u64) -> Vec<Example> {
    let mut examples = Vec::new();
    for (thing, lies) in THINGS {
        let fetch = if lies == "hall" { String::new() } else { format!("go {lies} ") };
        for place in PLACES.into_iter().filter(|place| *place != lies) {
            for command in [
                format!("bring the {thing} to the {place}"),
                format!("carry the {thing} into the {place} please"),
                format!("the {thing} belongs in the {place}"),
            ] {
                let program = format!("{fetch}take {thing} go {place} drop {thing} stop");
                examples.push(Example { utterance: command, program });
            }
        }
    }
    let order = Random::new(order).permutation(examples.len());
    order.into_iter().map(|index| examples[index].clone()).collect()
}

/// Trains on labels and, if asked to, on executions; returns the share of right plans for test commands.
fn train(order: u64, learns_from_executions: bool) -> Result<f64> {
    let commands = commands(order);
    let words = commands.iter().flat_map(|example| tokenize(&example.utterance));
    let task = Task::new(Box::new(RobotWorld::new()), words)?;
    let (labeled, _) = task.label(&commands[..LABELED], &|| {})?;
    let unlabeled = commands[LABELED..TRAINED].iter();
    let unlabeled: Vec<UnlabeledExample> =
        unlabeled.map(|example| UnlabeledExample::bare(&task, &example.utterance)).collect();
    let test = task.test(&commands[TRAINED..], &|| {})?;

    let learn = LearnConfig { start: 300, beam: 16, ..LearnConfig::default() };
    let policy = RewardPolicy::new(Reward::NonEmpty, Success::NonEmpty, false);
    let e_step = EStep::new(&Sparse, Fallback::Repulsion, Judge::new(&task, policy)?);
    let mut teacher = OwnSearch::new(e_step, &learn);

    let sizes = ModelConfig { hidden: 32, feed_forward: 64, heads: 4, ..ModelConfig::default() };
    let word_vectors = task.word_table(&Embeddings::default(), 32, Random::new(1));
    let model = Model::new(sizes, task.scene().clone(), word_vectors, Random::new(2));
    let config = TrainConfig { steps: 600, warmup: 20, rate: 2e-3, ..TrainConfig::default() };
    let steps = config.steps;
    let mut trainer = Trainer::new(config, &learn, model);
    for _ in 0..steps {
        let teacher = learns_from_executions.then_some(&mut teacher as &mut dyn Teacher);
        trainer.step(&labeled, &unlabeled, teacher);
    }
    let (evaluation, _) = evaluate(trainer.parser(), &task, &test, &EvalConfig::default())?;
    Ok(evaluation.accuracy)
}

/// Returns the mean accuracy over four random choices of labels, without and with learning from executions.
fn compare() -> Result<[f64; 2]> {
    let mean = |learns_from_executions: bool| -> Result<f64> {
        let all: Vec<f64> =
            (1..=4).map(|order| train(order, learns_from_executions)).collect::<Result<_>>()?;
        Ok(all.iter().sum::<f64>() / all.len() as f64)
    };
    Ok([mean(false)?, mean(true)?])
}

fn main() -> Result<()> {
    let [labels_only, with_executions] = compare()?;
    let mut out = io::stdout();
    writeln!(out, "right plans, mean of four choices of {LABELED} labels:")?;
    writeln!(out, "  {:5.1} %  labels only", 100.0 * labels_only)?;
    writeln!(out, "  {:5.1} %  labels and executions (sparse MML)", 100.0 * with_executions)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn executions_teach_where_things_are() {
        let [labels_only, with_executions] = compare().unwrap();
        assert!(with_executions > labels_only + 0.03, "{labels_only} {with_executions}");
    }
}
