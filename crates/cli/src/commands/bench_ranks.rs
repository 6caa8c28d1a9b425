//! `xpr bench train` under `mpirun`: the time of a step on several ranks, what of it is communication, and what the ranks are worth.

use super::bench::median;
use super::bench_parser::as_teacher;
use super::{read_config, write_json};
use crate::arguments::BenchTrainArguments;
use anyhow::{Context, Result};
use serde::Serialize;
use std::io::Write;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};
use xpr_learn::teacher::OwnSearch;
use xpr_learn::training::StepTiming;
use xpr_learn::{Experiment, Trainer};
use xpr_nn::Ranks;
use xpr_parser::TrainableParser;

/// The number of times that the measurements take turns, because the speed of a machine changes.
const ROUNDS: usize = 5;

#[derive(Serialize)]
struct RankSpeed {
    ranks: usize,
    threads_per_rank: usize,
    ms_per_step: f64,
    ms_search: f64,
    ms_gradient: f64,
    ms_update: f64,
    /// Of a step, exchanging and waiting for other ranks.
    ms_communication: f64,
    /// Of a step, exchanging as many numbers when no rank has to wait.
    ms_exchange: f64,
    exchange_share: f64,
    mb_per_step: f64,
    /// A step of one process with as many threads as all ranks, or as this machine has cores.
    ms_per_step_alone: f64,
    ms_search_alone: f64,
    ms_gradient_alone: f64,
    ms_update_alone: f64,
    threads_alone: usize,
    /// The speed of the ranks divided by that of one process with as many threads. It is extrapolated if they have more threads than this machine has cores.
    efficiency: f64,
    parameters: usize,
    steps: usize,
}

pub(super) fn run(
    arguments: &BenchTrainArguments,
    ranks: &Arc<dyn Ranks>,
    out: &mut dyn Write,
) -> Result<()> {
    let config = read_config(&arguments.experiment, None)?;
    let experiment = Experiment::load(config)?.with_ranks(Some(Arc::clone(ranks)))?;
    let threads = rayon::current_num_threads();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads_alone = (ranks.count() * threads).min(cores.max(threads));
    let (together, alone) = measure(&experiment, &**ranks, threads_alone, arguments.steps as usize)?;
    let (exchange, mb_per_step) = exchange(&experiment.trainer(), &**ranks);
    if ranks.rank() > 0 {
        return Ok(());
    }
    let [ms_per_step, ms_search, ms_gradient, ms_update] = medians(&together);
    let [ms_per_step_alone, ms_search_alone, ms_gradient_alone, ms_update_alone] = medians(&alone);
    let communication: Vec<Duration> = together.iter().map(|step| step.communication).collect();
    let ms_exchange = 1000.0 * median(&exchange).as_secs_f64();
    let threads_together = (ranks.count() * threads) as f64;
    let speed = RankSpeed {
        ranks: ranks.count(),
        threads_per_rank: threads,
        ms_per_step,
        ms_search,
        ms_gradient,
        ms_update,
        ms_communication: 1000.0 * median(&communication).as_secs_f64(),
        ms_exchange,
        exchange_share: ms_exchange / ms_per_step,
        mb_per_step,
        ms_per_step_alone,
        ms_search_alone,
        ms_gradient_alone,
        ms_update_alone,
        threads_alone,
        efficiency: ms_per_step_alone * threads_alone as f64 / (ms_per_step * threads_together),
        parameters: experiment.trainer().parser().parameters().len(),
        steps: together.len(),
    };
    match arguments.output.json {
        true => write_json(out, &speed),
        false => speed.write(out),
    }
}

impl RankSpeed {
    fn write(&self, out: &mut dyn Write) -> Result<()> {
        writeln!(
            out,
            "{:.1} ms per step (median of {}, {} ranks × {} threads): {:.1} search and execution, {:.1} gradients, {:.1} update",
            self.ms_per_step,
            self.steps,
            self.ranks,
            self.threads_per_rank,
            self.ms_search,
            self.ms_gradient,
            self.ms_update
        )?;
        writeln!(
            out,
            "of which {:.1} exchange and waiting; the exchange alone, of {:.1} MB, takes {:.1} ms: {:.0} %",
            self.ms_communication,
            self.mb_per_step,
            self.ms_exchange,
            100.0 * self.exchange_share
        )?;
        writeln!(
            out,
            "{:.1} ms per step (one process with {} threads): {:.1} search and execution, {:.1} gradients, {:.1} update; efficiency {:.2}",
            self.ms_per_step_alone,
            self.threads_alone,
            self.ms_search_alone,
            self.ms_gradient_alone,
            self.ms_update_alone,
            self.efficiency
        )?;
        Ok(writeln!(out, "{} parameters", self.parameters)?)
    }
}

/// Returns the times of steps of all ranks together and, on rank 0, those of one process with some threads.
fn measure(
    experiment: &Experiment,
    ranks: &dyn Ranks,
    threads_alone: usize,
    steps: usize,
) -> Result<(Vec<MeasuredStep>, Vec<MeasuredStep>)> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads_alone).build();
    let pool = pool.context("starting threads")?;
    let (mut together, mut alone) = (vec![], vec![]);
    std::thread::scope(|scope| -> Result<()> {
        // One process takes the same steps, in a thread that has its own teacher.
        let (order, orders) = channel::<usize>();
        let (answer, answers) = channel();
        let process = move || -> Result<()> {
            let (mut trainer, mut teacher) =
                (experiment.trainer().with_ranks(None), experiment.own_search()?);
            while let Ok(steps) = orders.recv() {
                let steps = (0..steps).map(|_| step(experiment, &mut trainer, &mut teacher));
                answer.send(steps.collect::<Vec<MeasuredStep>>())?;
            }
            Ok(())
        };
        let process = scope.spawn(move || pool.install(process));
        let (mut trainer, mut teacher) = (experiment.trainer(), experiment.own_search()?);
        for round in 0..=ROUNDS {
            // The first round is not measured.
            let steps = if round == 0 { 5 } else { steps.div_ceil(ROUNDS) };
            let mut measured = Vec::new();
            for _ in 0..steps {
                let before = ranks.time();
                let step = step(experiment, &mut trainer, &mut teacher);
                measured.push(MeasuredStep { communication: ranks.time() - before, ..step });
            }
            let mut measured_alone = Vec::new();
            if ranks.rank() == 0 {
                order.send(steps)?;
                measured_alone = answers.recv()?;
            }
            // The other ranks wait, and leave their cores to the first one.
            ranks.gather(&[1]);
            if round > 0 {
                together.extend(measured);
                alone.extend(measured_alone);
            }
        }
        drop(order);
        process.join().unwrap_or(Ok(()))
    })?;
    Ok((together, alone))
}

/// Returns the medians of whole steps, of search with execution, of gradients and of updates, in milliseconds.
fn medians(steps: &[MeasuredStep]) -> [f64; 4] {
    let parts: [fn(&MeasuredStep) -> Duration; 4] = [
        |step| step.whole,
        |step| step.timing.search + step.timing.execution,
        |step| step.timing.gradient,
        |step| step.timing.update,
    ];
    parts.map(|part| 1000.0 * median(&steps.iter().map(part).collect::<Vec<_>>()).as_secs_f64())
}

/// Returns how long it takes to send the gradients of all weights from rank to rank and then to all, and how many megabytes a rank receives.
fn exchange(trainer: &Trainer, ranks: &dyn Ranks) -> (Vec<Duration>, f64) {
    let parameters = trainer.parser().parameters();
    let weights = parameters.ids().filter(|id| !parameters.is_sparse(*id));
    let mut gradients: Vec<Vec<f32>> =
        weights.map(|id| vec![0.5; parameters.value(id).data().len()]).collect();
    let numbers: usize = gradients.iter().map(Vec::len).sum();
    let (rank, last) = (ranks.rank(), ranks.count() - 1);
    let mut exchange = || {
        ranks.gather(&[1]);
        let start = Instant::now();
        for gradient in &mut gradients {
            if rank > 0 {
                ranks.receive(rank - 1, gradient);
            }
            if rank < last {
                ranks.send(rank + 1, gradient);
            }
        }
        gradients.iter_mut().for_each(|gradient| ranks.broadcast(last, gradient));
        start.elapsed()
    };
    ((0..20).map(|_| exchange()).collect(), 8.0 * numbers as f64 / 1e6)
}

/// The times of a step.
struct MeasuredStep {
    whole: Duration,
    timing: StepTiming,
    communication: Duration,
}

/// Takes a step, and measures it.
fn step(experiment: &Experiment, trainer: &mut Trainer, teacher: &mut Option<OwnSearch<'_>>) -> MeasuredStep {
    let start = Instant::now();
    let (labeled, unlabeled) = (experiment.train_examples(), experiment.unlabeled_examples());
    let (_, timing) = trainer.step(labeled, unlabeled, as_teacher(teacher));
    MeasuredStep { whole: start.elapsed(), timing, communication: Duration::ZERO }
}
