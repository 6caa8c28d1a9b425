//! The memory that PostgreSQL takes for hostile queries. The test starts a server of its own.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "these are tests")]

#[path = "support/postgres.rs"]
mod cluster;
mod support;

mod postgres {
    use super::cluster::{Cluster, READER};
    use super::support::{expand, shortened};
    use std::fs;
    use std::path::Path;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;
    use std::time::Duration;
    use xpr_exec::database::{self, QueryLimits};
    use xpr_exec::{Executor, Outcome};

    /// A table with large cells, one with many rows, and one whose joins have many.
    const LARGE: &str = r#"
        CREATE TABLE artist (id int PRIMARY KEY, name text);
        INSERT INTO artist VALUES (1, 'Nina'), (2, 'Miles');
        CREATE TABLE numbers AS SELECT generate_series(1, 1000) AS n;
        CREATE TABLE many AS SELECT generate_series(1, 300000) AS n;
        CREATE TABLE pages (id int PRIMARY KEY, body text, doc jsonb);
        INSERT INTO pages SELECT i, repeat('x' || i::text, 1000000 / length('x' || i::text)),
            (SELECT jsonb_agg(jsonb_build_object('number', j, 'text', md5(j::text))) FROM generate_series(1, 3000) AS j)
        FROM generate_series(1, 300) AS i;
    "#;

    /// Calls `run` and returns the most memory that a process of a connection of the reader had meanwhile, in megabytes.
    fn peak_during(cluster: &Cluster, run: impl FnOnce()) -> f64 {
        let (peak, ended) = (Mutex::new(0.0_f64), AtomicBool::new(false));
        thread::scope(|scope| {
            scope.spawn(|| {
                while !ended.load(Ordering::Relaxed) {
                    let found = largest_backend(cluster.process());
                    let mut peak = peak.lock().unwrap();
                    *peak = peak.max(found);
                    drop(peak);
                    thread::sleep(Duration::from_millis(4));
                }
            });
            run();
            ended.store(true, Ordering::Relaxed);
        });
        let last = largest_backend(cluster.process());
        peak.into_inner().unwrap().max(last)
    }

    /// Returns the peak of the processes of the reader's connections, and starts it anew.
    fn largest_backend(server: u32) -> f64 {
        let children =
            fs::read_to_string(format!("/proc/{server}/task/{server}/children")).unwrap_or_default();
        let peak = |process: &str| {
            let title = fs::read_to_string(format!("/proc/{process}/cmdline")).ok()?;
            if !title.contains(READER) {
                return None;
            }
            let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
            let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
            let kilobytes: f64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
            let _ = fs::write(format!("/proc/{process}/clear_refs"), "5");
            Some(kilobytes / 1024.0)
        };
        children.split_whitespace().filter_map(peak).fold(0.0, f64::max)
    }

    #[test]
    #[ignore = "needs PostgreSQL, see CONTRIBUTING.md"]
    fn hostile_statements_take_little_more_memory_than_allowed() {
        let cluster = Cluster::start();
        cluster.make("music", LARGE);
        cluster.run("music", "ANALYZE");
        let database = database::open(&cluster.address(READER, "music"), Path::new("")).unwrap();
        let schema = database.schema().unwrap();
        let patient = QueryLimits { time: Duration::from_secs(3), ..QueryLimits::interactive() };
        for (name, limits) in [("training", QueryLimits::default()), ("interactive", patient)] {
            let mut runner = database.runner(&schema, limits).unwrap();
            let base =
                peak_during(&cluster, || assert!(runner.execute("SELECT count(*) FROM artist").executes()));
            let mut peaks: Vec<(f64, String)> = Vec::new();
            for file in ["memory.tsv", "bombs.tsv"] {
                let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../attacks/postgres").join(file);
                let text = fs::read_to_string(path).unwrap();
                for line in text.lines().filter(|line| !line.starts_with('#')) {
                    let (expected, statement) = line.split_once('\t').unwrap();
                    let statement = expand(statement);
                    let mut outcome = None;
                    let peak = peak_during(&cluster, || outcome = Some(runner.execute(&statement)));
                    let outcome = outcome.unwrap();
                    assert!(
                        expected != "refused" || matches!(outcome, Outcome::RuntimeError(_)),
                        "{line}: {outcome}"
                    );
                    let outcome = shortened(&outcome.to_string());
                    peaks.push((peak - base, format!("{}: {outcome}", shortened(&statement))));
                }
            }
            peaks.sort_by(|left, right| right.0.total_cmp(&left.0));
            let allowed = (limits.memory >> 20) as f64;
            eprintln!(
                "{name}: {allowed} MB allowed; {base:.0} MB before; {} statements; the most took",
                peaks.len()
            );
            for (megabytes, statement) in peaks.iter().take(5) {
                eprintln!("{megabytes:8.0} MB  {statement}");
            }
            assert!(peaks[0].0 <= allowed + 64.0, "{name}: {:?}", peaks[0]);
        }
    }
}
