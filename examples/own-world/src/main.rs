//! Trains a parser for a language of one's own from few labels and many unlabeled commands.
//!
//! Three things are labeled, seven are not. That the pillow lies in the bedroom is in no label, but a plan that looks for it
//! elsewhere fails: the parser learns it by running its own guesses.

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

/// Commands with their plans, for some of the things.
fn commands(things: &[(&str, &str)]) -> Vec<Example> {
    let mut examples = Vec::new();
    for (thing, lies) in things {
        let fetch = if *lies == "hall" { String::new() } else { format!("go {lies} ") };
        for place in PLACES.iter().filter(|place| *place != lies) {
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
    examples
}

/// Trains on labels and, with a teacher, on unlabeled commands; returns the share of right plans for unlabeled things.
fn train(learns_from_executions: bool) -> Result<f64> {
    let (labeled_things, other_things): (Vec<_>, Vec<_>) =
        THINGS.into_iter().partition(|(thing, _)| ["cup", "ball", "coat"].contains(thing));
    let (labeled, other) = (commands(&labeled_things), commands(&other_things));
    let words = labeled.iter().chain(&other).flat_map(|example| tokenize(&example.utterance));
    let task = Task::new(Box::new(RobotWorld::new()), words.collect::<Vec<_>>())?;
    let (train, _) = task.label(&labeled, &|| {})?;
    let test = task.test(&other, &|| {})?;
    let unlabeled: Vec<UnlabeledExample> =
        test.iter().map(|example| UnlabeledExample::bare(example.question.clone())).collect();

    let learn = LearnConfig { start: 150, beam: 16, ..LearnConfig::default() };
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
        trainer.step(&train, &unlabeled, teacher);
    }
    let (evaluation, _) = evaluate(trainer.parser(), &task, &test, &EvalConfig::default())?;
    Ok(evaluation.accuracy)
}

fn main() -> Result<()> {
    let mut out = io::stdout();
    writeln!(out, "plans for things without labels, right in:")?;
    writeln!(out, "  {:5.1} %  labels only", 100.0 * train(false)?)?;
    writeln!(out, "  {:5.1} %  labels and executions (sparse MML)", 100.0 * train(true)?)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn executions_teach_where_things_are() {
        let (labels_only, with_executions) = (train(false).unwrap(), train(true).unwrap());
        assert!(with_executions > labels_only + 0.2, "{labels_only} {with_executions}");
    }
}
