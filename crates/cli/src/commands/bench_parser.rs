//! `xpr bench train` and `xpr bench search`: the speed of training and of beam search on this machine.

use super::bench::median;
use super::{peak_memory_mb, read_config, use_threads, write_json};
use crate::arguments::{BenchSearchArguments, BenchTrainArguments};
use crate::ranks::Connection;
use anyhow::Result;
use rayon::prelude::*;
use serde::Serialize;
use std::hint::black_box;
use std::io::Write;
use std::time::{Duration, Instant};
use xpr_learn::teacher::OwnSearch;
use xpr_learn::{Experiment, Teacher};
use xpr_nn::{Matrix, gemm, total_flops};
use xpr_parser::{Parser, Question, TrainableParser};

#[derive(Serialize)]
struct TrainingSpeed {
    ms_per_step: f64,
    /// Encoding the batch and searching programs for unlabeled questions; 0 before joint training begins.
    ms_search: f64,
    /// Executing the programs that search found.
    ms_execution: f64,
    /// The rest of the forward pass, and the backward pass.
    ms_gradient: f64,
    /// The update of the optimiser.
    ms_update: f64,
    /// Floating-point operations of matrix products per step, in billions.
    gflop_per_step: f64,
    gflops: f64,
    peak_gflops: f64,
    peak_ratio: f64,
    parameters: usize,
    steps: usize,
    threads: usize,
    memory_mb: Option<f64>,
}

pub(crate) fn train(arguments: &BenchTrainArguments, out: &mut dyn Write) -> Result<()> {
    use_threads(arguments.pool.threads)?;
    let connection = Connection::open()?;
    let result = match connection.ranks() {
        Some(ranks) => super::bench_ranks::run(arguments, &ranks, out),
        None => train_alone(arguments, out),
    };
    connection.close(&result);
    result
}

fn train_alone(arguments: &BenchTrainArguments, out: &mut dyn Write) -> Result<()> {
    let experiment = Experiment::load(read_config(&arguments.experiment, None)?)?;
    let mut trainer = experiment.trainer();
    let mut teacher = experiment.own_search()?;
    let (labeled, unlabeled) = (experiment.train_examples(), experiment.unlabeled_examples());
    let steps = arguments.steps as usize;
    for _ in 0..5 {
        trainer.step(labeled, unlabeled, as_teacher(&mut teacher));
    }
    let peak_before = peak_gflops();
    let (mut whole, mut search, mut execution) = (vec![], vec![], vec![]);
    let (mut gradient, mut update, mut flops) = (vec![], vec![], vec![]);
    for _ in 0..steps {
        let before = total_flops();
        let start = Instant::now();
        let (_, timing) = trainer.step(labeled, unlabeled, as_teacher(&mut teacher));
        whole.push(start.elapsed());
        search.push(timing.search);
        execution.push(timing.execution);
        gradient.push(timing.gradient);
        update.push(timing.update);
        flops.push(total_flops() - before);
    }
    // The peak is measured before and after, since the speed of the machine may change in between.
    let peak_gflops = peak_before.max(peak_gflops());
    flops.sort_unstable();
    let milliseconds = |times: &[Duration]| 1000.0 * median(times).as_secs_f64();
    let gflop_per_step = flops[flops.len() / 2] as f64 / 1e9;
    let gflops = gflop_per_step / median(&whole).as_secs_f64();
    let speed = TrainingSpeed {
        ms_per_step: milliseconds(&whole),
        ms_search: milliseconds(&search),
        ms_execution: milliseconds(&execution),
        ms_gradient: milliseconds(&gradient),
        ms_update: milliseconds(&update),
        gflop_per_step,
        gflops,
        peak_gflops,
        peak_ratio: gflops / peak_gflops,
        parameters: trainer.parser().parameters().len(),
        steps,
        threads: rayon::current_num_threads(),
        memory_mb: peak_memory_mb(None),
    };
    if arguments.output.json {
        return write_json(out, &speed);
    }
    writeln!(
        out,
        "{:.1} ms per step (median of {steps}, {} threads): {:.1} search, {:.2} execution, {:.1} gradients, {:.1} update",
        speed.ms_per_step,
        speed.threads,
        speed.ms_search,
        speed.ms_execution,
        speed.ms_gradient,
        speed.ms_update
    )?;
    writeln!(
        out,
        "{:.2} GFLOP per step, {:.0} GFLOP/s: {:.0} % of the {:.0} GFLOP/s of large matrix products",
        gflop_per_step,
        gflops,
        100.0 * speed.peak_ratio,
        peak_gflops
    )?;
    if let Some(memory) = speed.memory_mb {
        writeln!(out, "{} parameters, {memory:.0} MB peak memory", speed.parameters)?;
    }
    Ok(())
}

/// Borrows the teacher as the trait object that a step takes.
pub(super) fn as_teacher<'a>(teacher: &'a mut Option<OwnSearch<'_>>) -> Option<&'a mut dyn Teacher> {
    teacher.as_mut().map(|teacher| teacher as &mut dyn Teacher)
}

/// Returns the speed of large matrix products on all threads, in billions of operations per second: the best of seven measurements.
fn peak_gflops() -> f64 {
    const SIZE: usize = 768;
    let threads = rayon::current_num_threads();
    let rates: Vec<f64> = (0..7)
        .map(|_| {
            let start = Instant::now();
            (0..threads).into_par_iter().for_each(|_| {
                let (a, b) = (
                    Matrix::new(SIZE, SIZE, vec![0.5; SIZE * SIZE]),
                    Matrix::new(SIZE, SIZE, vec![0.25; SIZE * SIZE]),
                );
                let mut c = Matrix::zeros(SIZE, SIZE);
                for _ in 0..8 {
                    gemm(c.view_mut(), false, a.view(), b.view());
                }
                black_box(c);
            });
            (threads * 8 * 2 * SIZE * SIZE * SIZE) as f64 / start.elapsed().as_secs_f64() / 1e9
        })
        .collect();
    rates.into_iter().fold(0.0, f64::max)
}

#[derive(Serialize)]
struct SearchSpeed {
    ms_per_batch: f64,
    ms_per_utterance: f64,
    batch: usize,
    beam: usize,
    batches: usize,
    utterances: usize,
    threads: usize,
}

pub(crate) fn search(arguments: &BenchSearchArguments, out: &mut dyn Write) -> Result<()> {
    use_threads(arguments.pool.threads)?;
    let experiment = Experiment::load(read_config(&arguments.experiment, None)?)?;
    let mut trainer = experiment.trainer();
    let mut teacher = experiment.own_search()?;
    for _ in 0..arguments.steps {
        trainer.step(experiment.train_examples(), experiment.unlabeled_examples(), as_teacher(&mut teacher));
    }
    let model = trainer.into_parser();
    let questions: Vec<&Question> =
        experiment.test_examples().iter().map(|example| &example.question).collect();
    let (batch, beam) = (usize::from(arguments.batch), usize::from(arguments.search.beam));
    let time = |size: usize| -> Vec<Duration> {
        let mut times = Vec::new();
        let start = Instant::now();
        for chunk in questions.chunks_exact(size.min(questions.len())).cycle().take(200) {
            let begin = Instant::now();
            black_box(model.candidates(chunk, beam));
            times.push(begin.elapsed());
            if start.elapsed() > Duration::from_secs(10) && times.len() >= 10 {
                break;
            }
        }
        times
    };
    time(batch.min(4));
    let (batches, singles) = (time(batch), time(1));
    let speed = SearchSpeed {
        ms_per_batch: 1000.0 * median(&batches).as_secs_f64(),
        ms_per_utterance: 1000.0 * median(&singles).as_secs_f64(),
        batch,
        beam,
        batches: batches.len(),
        utterances: singles.len(),
        threads: rayon::current_num_threads(),
    };
    if arguments.output.json {
        return write_json(out, &speed);
    }
    writeln!(
        out,
        "{:.1} ms for {batch} questions × beam {beam} (median of {}, {} threads)",
        speed.ms_per_batch, speed.batches, speed.threads
    )?;
    writeln!(out, "{:.1} ms for one question (median of {})", speed.ms_per_utterance, speed.utterances)?;
    Ok(())
}
