//! GeoQuery, whose data must be in the folder `XPR_DATA`, in SQLite and on a PostgreSQL server that the test starts.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "these are tests")]

#[path = "../../exec/tests/support/postgres.rs"]
mod cluster;

mod postgres {
    use super::cluster::{Cluster, READER};
    use std::path::{Path, PathBuf};
    use xpr_data::{SplitBy, Text2Sql};
    use xpr_exec::Executor;
    use xpr_learn::task::{DatabaseWorld, World};

    /// The gold queries that PostgreSQL does not run: a column that is neither grouped nor aggregated has no value there.
    const NOT_RUN: usize = 1;

    /// The gold queries whose `LIMIT` cuts between rows that are equal in the order.
    const TIED: usize = 3;

    #[test]
    #[ignore = "needs XPR_DATA and PostgreSQL, see CONTRIBUTING.md"]
    fn the_gold_queries_of_geoquery_have_the_same_answers_as_in_sqlite() {
        let folder = std::env::var_os("XPR_DATA").expect("set XPR_DATA, see CONTRIBUTING.md");
        // A relative path is relative to the workspace, and not to the crate's folder, in which tests run.
        let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(folder);
        let dataset = Text2Sql::open(&folder, Some("geography")).unwrap();
        let file = dataset.database().unwrap().to_owned();
        // SQLite is prepared for its limits before anything else uses it.
        let sqlite = DatabaseWorld::open(&format!("sqlite:{}", file.display()), Path::new("/")).unwrap();
        let cluster = Cluster::start();
        cluster.copy_sqlite(&file, "geography");
        let server = DatabaseWorld::open(&cluster.address(READER, "geography"), Path::new("/")).unwrap();
        let mut executors = [sqlite.label_executor().unwrap(), server.label_executor().unwrap()];
        let (mut run, mut not_run, mut tied) = (0, Vec::new(), Vec::new());
        for pair in dataset.labeled_questions(SplitBy::Question, 0).unwrap() {
            let [expected, found] = executors.each_mut().map(|executor| executor.execute(&pair.program));
            if !expected.executes() {
                continue;
            }
            run += 1;
            if !found.executes() {
                not_run.push(format!("{found}: {}", pair.program));
                continue;
            }
            let is_same =
                sqlite.is_same_answer(&expected, &found) && sqlite.is_same_answer(&found, &expected);
            if !is_same {
                // Of rows that are equally far in the order, each engine returns others.
                assert!(pair.program.contains("LIMIT"), "{}: {found} instead of {expected}", pair.program);
                tied.push(format!("{found} instead of {expected}: {}", pair.program));
            }
        }
        eprintln!(
            "{run} queries run in SQLite; {} do not in PostgreSQL:\n{}",
            not_run.len(),
            not_run.join("\n")
        );
        eprintln!("{} have a tie for their limit:\n{}", tied.len(), tied.join("\n"));
        assert!(run >= 870 && not_run.len() <= NOT_RUN && tied.len() <= TIED);
        // Both are the same schema, so that a parser of one can be asked about the other.
        assert_eq!(sqlite.schema().unwrap().tables.len(), server.schema().unwrap().tables.len());
    }
}
