//! `xpr bench exec --db`: how fast queries to somebody's database run.

use super::bench::{median, passes};
use super::write_json;
use anyhow::{Result, bail};
use serde::Serialize;
use std::hint::black_box;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};
use xpr_data::labeled;
use xpr_exec::sqlite::{Database, QueryLimits, SqliteRunner};
use xpr_exec::{CachingExecutor, Executor, Outcome};
use xpr_lang::sql::{Schema, quoted};

/// Room for outcomes, in bytes.
const MEMORY: usize = 64 << 20;

#[derive(Serialize)]
struct Report<'a> {
    database: &'a str,
    /// Queries that run; the others are left out.
    programs: usize,
    left_out: usize,
    /// Passes over the queries of which the figures are the medians: without outcomes remembered, and with.
    passes: [usize; 2],
    programs_per_second: f64,
    remembered_per_second: f64,
    /// What a query that would not end is allowed, and when it was stopped, run by run; none if the database has too few rows for one.
    runaway_limit_ms: u128,
    runaway_stopped_ms: Vec<f64>,
}

/// Times that a query that would not end is run.
const RUNAWAYS: usize = 5;

/// When each of some runs of a query that would not end was stopped, if the clock alone stops it.
fn runaways(database: &Database, schema: Schema, limits: QueryLimits) -> Result<Vec<Duration>> {
    // Every table with itself, as often as SQLite joins at all.
    let endless: Vec<String> = schema
        .tables
        .iter()
        .map(|table| {
            let name = quoted(&table.name);
            let sources: Vec<String> = (1..=60).map(|alias| format!("{name} AS t{alias}")).collect();
            format!("SELECT count(*) FROM {}", sources.join(", "))
        })
        .collect();
    let mut runner = SqliteRunner::new(database, schema, QueryLimits { steps: u64::MAX, ..limits })?;
    let mut stopped = |query: &String| {
        let start = Instant::now();
        matches!(runner.execute(query), Outcome::Timeout(_)).then(|| start.elapsed())
    };
    let Some(query) = endless.iter().find(|query| stopped(query).is_some()) else { return Ok(vec![]) };
    Ok((0..RUNAWAYS).filter_map(|_| stopped(query)).collect())
}

pub(super) fn run(
    address: &str,
    labeled: &Path,
    duration: Duration,
    json: bool,
    out: &mut dyn Write,
) -> Result<()> {
    let database = Database::at(address, Path::new(""))?;
    let mut runner = SqliteRunner::checked(&database, database.schema()?, QueryLimits::default())?;
    let pairs = labeled::read(labeled)?;
    // Also the warm-up: what fails would be faster than what runs.
    let programs: Vec<&str> = pairs
        .iter()
        .map(|pair| pair.program.as_str())
        .filter(|program| runner.execute(program).executes())
        .collect();
    if programs.is_empty() {
        bail!("{}: none of its queries runs on {address}; `xpr data check` says why", labeled.display());
    }
    let all = |executor: &mut dyn Executor| {
        passes(duration, || {
            for program in &programs {
                black_box(executor.execute(program));
            }
        })
    };
    let alone = all(&mut runner);
    let remembered = all(&mut CachingExecutor::new(runner, MEMORY));
    let per_second = |passes: &[Duration]| programs.len() as f64 / median(passes).as_secs_f64();
    let limits = QueryLimits::default();
    let milliseconds = |time: &Duration| time.as_secs_f64() * 1e3;
    let stopped = runaways(&database, database.schema()?, limits)?;
    let report = Report {
        database: address,
        programs: programs.len(),
        left_out: pairs.len() - programs.len(),
        passes: [alone.len(), remembered.len()],
        programs_per_second: per_second(&alone),
        remembered_per_second: per_second(&remembered),
        runaway_limit_ms: limits.time.as_millis(),
        runaway_stopped_ms: stopped.iter().map(milliseconds).collect(),
    };
    if json {
        return write_json(out, &report);
    }
    writeln!(out, "{} queries to {address} that run, and {} that do not", report.programs, report.left_out)?;
    writeln!(out, "  {:>12.0}  a second: check, prepare, run, print", report.programs_per_second)?;
    writeln!(out, "  {:>12.0}  a second with outcomes remembered", report.remembered_per_second)?;
    if let Some(last) = report.runaway_stopped_ms.iter().copied().reduce(f64::max) {
        let limit = report.runaway_limit_ms;
        writeln!(
            out,
            "  {last:>12.1}  ms: a query that would not end is stopped; {limit} allowed, the last of {RUNAWAYS} runs"
        )?;
    }
    writeln!(out, "\nOne core; medians over {} and {} passes.", report.passes[0], report.passes[1])?;
    Ok(())
}
