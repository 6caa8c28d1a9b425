//! `xpr bench exec`: the speed of executing programs on this machine.

use super::{bench_queries, native_world, write_json};
use crate::arguments::BenchExecArguments;
use crate::table;
use anyhow::{Context, Result, bail};
use serde::Serialize;
use std::hint::black_box;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};
use xpr_data::{Overnight, OvernightPart};
use xpr_exec::{KnowledgeBase, Limits, Plan, Runner, overnight};
use xpr_lang::lambda_dcs::Form;

/// The speed on one knowledge base.
#[derive(Serialize)]
struct WorldSpeed {
    world: &'static str,
    programs: usize,
    /// The number of measured passes over the programs: from text to answer, and running only. The speeds are medians over them.
    passes: [usize; 2],
    programs_per_second: f64,
    run_only_per_second: f64,
}

/// The mean speed over knowledge bases, and the speed on each.
#[derive(Serialize)]
struct ExecutionSpeed {
    programs_per_second: f64,
    run_only_per_second: f64,
    worlds: Vec<WorldSpeed>,
}

pub(crate) fn exec(arguments: &BenchExecArguments, out: &mut dyn Write) -> Result<()> {
    let duration = Duration::from_secs_f64(arguments.seconds);
    if let (Some(address), Some(labeled)) = (&arguments.db, &arguments.labeled) {
        return bench_queries::run(address, labeled, duration, arguments.output.json, out);
    }
    // The command line requires --data if there is no --db.
    let data = Overnight::open(arguments.data.as_deref().unwrap_or(Path::new("")))?;
    let mut worlds = Vec::new();
    for name in overnight::WORLDS {
        if arguments.world == "all" || arguments.world == name {
            let programs: Vec<String> = data
                .examples(name, OvernightPart::Train)?
                .into_iter()
                .map(|example| example.program)
                .collect();
            worlds.push(measure(name, &native_world(name)?, &programs, duration)?);
        }
    }
    let mean = |speed: fn(&WorldSpeed) -> f64| worlds.iter().map(speed).sum::<f64>() / worlds.len() as f64;
    let speed = ExecutionSpeed {
        programs_per_second: mean(|world| world.programs_per_second),
        run_only_per_second: mean(|world| world.run_only_per_second),
        worlds,
    };
    if arguments.output.json {
        return write_json(out, &speed);
    }
    write_table(out, &speed)?;
    writeln!(out, "\nOne core; medians over passes of at least {} s in all.", arguments.seconds)?;
    Ok(())
}

fn write_table(out: &mut dyn Write, speed: &ExecutionSpeed) -> Result<()> {
    let row = |name: &str, programs: String, whole: f64, run: f64, passes: String| {
        vec![name.to_owned(), programs, format!("{whole:.0}"), format!("{run:.0}"), passes]
    };
    let mut rows: Vec<Vec<String>> = speed
        .worlds
        .iter()
        .map(|world| {
            let [whole, run] = world.passes;
            row(
                world.world,
                world.programs.to_string(),
                world.programs_per_second,
                world.run_only_per_second,
                format!("{whole} + {run}"),
            )
        })
        .collect();
    if rows.len() > 1 {
        rows.push(row(
            "mean",
            String::new(),
            speed.programs_per_second,
            speed.run_only_per_second,
            String::new(),
        ));
    }
    let headings = ["world", "programs", "parse+run+print/s", "run only/s", "passes"];
    Ok(table::write(out, &headings, &rows)?)
}

fn measure(
    name: &'static str,
    world: &KnowledgeBase,
    programs: &[String],
    duration: Duration,
) -> Result<WorldSpeed> {
    let mut runner = Runner::new(world, Limits::default());
    let mut form = Form::default();
    let mut answer = String::new();
    let mut plans: Vec<Plan> = Vec::new();
    // This is also the warm-up. Every program must run, since errors are faster than answers.
    for (index, program) in programs.iter().enumerate() {
        form.parse_into(program).with_context(|| format!("{name}, program {}", index + 1))?;
        let plan = world.compile(&form);
        if let Err(fault) = runner.run(&plan) {
            bail!("{name}, program {}: {fault:?}", index + 1);
        }
        plans.push(plan);
    }

    let whole = passes(duration, || {
        for program in programs {
            answer.clear();
            // The same text was parsed without an error above.
            let _ = form.parse_into(program);
            let _ = black_box(runner.run_form(&form, &mut answer));
            black_box(&answer);
        }
    });
    let run = passes(duration, || {
        for plan in &plans {
            let _ = black_box(runner.run(plan));
        }
    });
    let per_second = |passes: &[Duration]| programs.len() as f64 / median(passes).as_secs_f64();
    Ok(WorldSpeed {
        world: name,
        programs: programs.len(),
        passes: [whole.len(), run.len()],
        programs_per_second: per_second(&whole),
        run_only_per_second: per_second(&run),
    })
}

/// Repeats a pass until `duration` is over, at least three times, and returns the time of each.
pub(super) fn passes(duration: Duration, mut pass: impl FnMut()) -> Vec<Duration> {
    let start = Instant::now();
    let mut times = Vec::new();
    while times.len() < 3 || start.elapsed() < duration {
        let begin = Instant::now();
        pass();
        times.push(begin.elapsed());
    }
    times
}

/// Returns the median, the upper one of an even number.
///
/// Panics if there are no times.
pub(super) fn median(times: &[Duration]) -> Duration {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    sorted[sorted.len() / 2]
}
