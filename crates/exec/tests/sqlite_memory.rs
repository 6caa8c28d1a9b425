//! Memory after many runs. It is the only test of its file because it measures the memory of the whole process.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "these are tests")]

mod support;

use support::TestDatabase;
use xpr_exec::Executor;
use xpr_exec::database::QueryLimits;

const WORLD: &str = "
    CREATE TABLE album (id INTEGER PRIMARY KEY, title TEXT);
    INSERT INTO album VALUES (1, 'Pastel Blues'), (2, 'Kind of Blue');
    CREATE TABLE numbers (n INT);
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) INSERT INTO numbers SELECT i FROM n;
";

/// Returns the resident memory of this process in bytes.
fn resident() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    pages.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

#[test]
fn memory_does_not_grow_with_the_number_of_runs() {
    let world = TestDatabase::new(WORLD);
    let mut runner = world.runner(QueryLimits::default());
    // For more runs: `XPR_RUNS=250000 cargo test --release -p xpr-exec --test sqlite_memory`.
    let times = std::env::var("XPR_RUNS").ok().and_then(|times| times.parse().ok()).unwrap_or(10_000);
    let mut run = |times: usize| {
        for time in 0..times {
            let _ = runner
                .execute(&format!("SELECT title FROM album WHERE id = {time} OR title LIKE '%{time}%'"));
            let _ = runner.execute(&format!("SELECT nothing{time} FROM album"));
            let _ = runner.execute("DELETE FROM album");
            let _ = runner.execute("SELECT n FROM numbers ORDER BY n DESC LIMIT 20");
        }
    };
    run(2000);
    let before = resident();
    run(times);
    let after = resident();
    eprintln!("{before} bytes after {} runs, {after} after {} more", 4 * 2000, 4 * times);
    assert!(after < before + before / 20 + (1 << 20), "{before} bytes, then {after}");
}
