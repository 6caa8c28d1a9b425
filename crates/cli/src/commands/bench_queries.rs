//! `xpr bench exec --db`: the speed of queries on a user's database.

use super::bench::{median, passes};
use super::write_json;
use anyhow::{Result, bail};
use serde::Serialize;
use std::hint::black_box;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};
use xpr_data::labeled;
use xpr_exec::database::{self, Database, QueryLimits};
use xpr_exec::{CachingExecutor, Executor, Outcome};
use xpr_lang::sql::{Schema, TableId};

/// The size of the cache of outcomes, in bytes.
const CACHE_BYTES: usize = 64 << 20;

#[derive(Serialize)]
struct QuerySpeed<'a> {
    database: &'a str,
    /// The number of queries that run; the others are not measured.
    programs: usize,
    left_out: usize,
    /// The number of measured passes over the queries: one after another, several at once, and with a cache. The speeds are medians over
    /// them.
    passes: [usize; 3],
    programs_per_second: f64,
    /// The speed if as many queries run at once as a beam has, which saves trips to a server.
    together_per_second: f64,
    remembered_per_second: f64,
    /// The time limit of a query.
    runaway_limit_ms: u128,
    /// The time after which a runaway query was stopped, for each of its runs. Empty if the database has too few rows for such a query.
    runaway_stopped_ms: Vec<f64>,
}

/// The number of times the runaway query is run.
const RUNAWAYS: usize = 5;
/// The number of queries that run at once: the beam of most experiments.
const TOGETHER: usize = 8;

/// Runs a runaway query several times, and returns the time after which each run was stopped. The number of steps is not limited, so
/// that the time limit stops the query.
fn runaways(database: &dyn Database, schema: &Schema, limits: QueryLimits) -> Result<Vec<Duration>> {
    // Each table is joined with itself, in a query that reaches no other limit: SQLite joins at most 64 tables, the guard of servers
    // allows 32, and DuckDB keeps all tables but one in memory.
    let self_join = |joined: usize, table: TableId| {
        let name = schema.table_in_sql(table);
        let sources: Vec<String> = (1..=joined).map(|alias| format!("{name} AS t{alias}")).collect();
        format!("SELECT count(*) FROM {}", sources.join(", "))
    };
    let tables = || (0..schema.tables.len() as u32).map(TableId);
    let self_joins: Vec<String> = [60, 32, 5, 4]
        .into_iter()
        .flat_map(|joined| tables().map(move |table| self_join(joined, table)))
        .collect();
    let mut runner = database.runner(schema, QueryLimits { steps: u64::MAX, ..limits })?;
    let mut stopped = |query: &String| {
        let start = Instant::now();
        let is_stopped = matches!(runner.execute(query), Outcome::Timeout(_));
        (is_stopped && start.elapsed() >= limits.time).then(|| start.elapsed())
    };
    let Some(query) = self_joins.iter().find(|query| stopped(query).is_some()) else { return Ok(vec![]) };
    Ok((0..RUNAWAYS).filter_map(|_| stopped(query)).collect())
}

pub(super) fn run(
    address: &str,
    labeled: &Path,
    duration: Duration,
    json: bool,
    out: &mut dyn Write,
) -> Result<()> {
    let database = database::open(address, Path::new(""))?;
    let schema = database.schema()?;
    let mut runner = database.checked_runner(&schema, QueryLimits::default())?;
    let questions = labeled::read(labeled)?;
    // This is also the warm-up. Queries that fail are not measured, since errors are faster than answers.
    let programs: Vec<&str> = questions
        .iter()
        .map(|question| question.program.as_str())
        .filter(|program| runner.execute(program).executes())
        .collect();
    if programs.is_empty() {
        bail!(
            "{}: none of its queries runs on {address}; `xpr data check` reports the reasons",
            labeled.display()
        );
    }
    let measure = |executor: &mut dyn Executor| {
        passes(duration, || {
            for program in &programs {
                black_box(executor.execute(program));
            }
        })
    };
    let uncached = measure(&mut runner);
    let together = passes(duration, || {
        for programs in programs.chunks(TOGETHER) {
            black_box(runner.execute_all(programs));
        }
    });
    let cached = measure(&mut CachingExecutor::new(runner, CACHE_BYTES));
    let per_second = |passes: &[Duration]| programs.len() as f64 / median(passes).as_secs_f64();
    let limits = QueryLimits::default();
    let milliseconds = |time: &Duration| time.as_secs_f64() * 1e3;
    let stopped = runaways(&*database, &schema, limits)?;
    let speed = QuerySpeed {
        database: address,
        programs: programs.len(),
        left_out: questions.len() - programs.len(),
        passes: [uncached.len(), together.len(), cached.len()],
        programs_per_second: per_second(&uncached),
        together_per_second: per_second(&together),
        remembered_per_second: per_second(&cached),
        runaway_limit_ms: limits.time.as_millis(),
        runaway_stopped_ms: stopped.iter().map(milliseconds).collect(),
    };
    if json {
        return write_json(out, &speed);
    }
    writeln!(out, "{} queries on {address} run, {} do not", speed.programs, speed.left_out)?;
    writeln!(out, "  {:>12.0}  per second: check, prepare, run, print", speed.programs_per_second)?;
    writeln!(out, "  {:>12.0}  per second, {TOGETHER} at once", speed.together_per_second)?;
    writeln!(out, "  {:>12.0}  per second with cached outcomes", speed.remembered_per_second)?;
    if let Some(longest) = speed.runaway_stopped_ms.iter().copied().reduce(f64::max) {
        let limit = speed.runaway_limit_ms;
        writeln!(
            out,
            "  {longest:>12.1}  ms until a runaway query is stopped; the limit is {limit} ms, the longest of {RUNAWAYS} runs"
        )?;
    }
    writeln!(
        out,
        "\nOne core; medians over {}, {} and {} passes.",
        speed.passes[0], speed.passes[1], speed.passes[2]
    )?;
    Ok(())
}
