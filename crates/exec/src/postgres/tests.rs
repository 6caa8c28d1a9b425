//! What a session is like after hostile statements. The test starts a server of its own.

#[path = "../../tests/support/postgres.rs"]
mod cluster;
#[path = "../../tests/support/statements.rs"]
mod statements;

use super::PostgresDatabase;
use super::runner::PostgresRunner;
use crate::database::{Database, QueryLimits};
use crate::{Executor, Outcome};
use cluster::{Cluster, READER};
use statements::{in_folder, shortened};
use std::time::Duration;

/// Everything that a statement could leave to the next one of its session, or to other sessions.
const STATE: &str = "
    SELECT md5(string_agg(name || '=' || coalesce(setting, '') || source, ',' ORDER BY name)) FROM pg_settings
    UNION ALL SELECT count(*) || ' prepared statements' FROM pg_prepared_statements
    UNION ALL SELECT count(*) || ' cursors' FROM pg_cursors WHERE is_holdable OR name = 'xpr'
    UNION ALL SELECT count(*) || ' locks' FROM pg_locks
        WHERE pid = pg_backend_pid() AND (locktype = 'advisory' OR mode <> 'AccessShareLock' AND locktype <> 'virtualxid')
    UNION ALL SELECT count(*) || ' large objects' FROM pg_largeobject_metadata
    UNION ALL SELECT count(*) || ' temporary tables' FROM pg_class WHERE relpersistence = 't'
    UNION ALL SELECT count(*) || ' channels' FROM pg_listening_channels()
    UNION ALL SELECT count(*) || ' sequences' FROM pg_sequences WHERE last_value IS NOT NULL
    UNION ALL SELECT current_setting('transaction_read_only') || session_user || current_user || current_schemas(true)::text";

const TABLES: &str = "
    CREATE TYPE mood AS ENUM ('glad', 'sad');
    CREATE TABLE artist (id serial PRIMARY KEY, name text);
    CREATE TABLE numbers AS SELECT generate_series(1, 1000) AS n;
    CREATE TABLE moods (felt mood);
    INSERT INTO moods VALUES ('sad'), ('glad');";

#[test]
#[ignore = "needs PostgreSQL, see CONTRIBUTING.md"]
fn nothing_is_left_in_a_session() {
    let cluster = Cluster::start();
    cluster.make("music", TABLES);
    let database = PostgresDatabase::open(&cluster.address(READER, "music")).unwrap();
    let schema = (&database as &dyn Database).schema().unwrap();
    let details = database.catalog.all_details(&schema);
    let limits = QueryLimits { time: Duration::from_millis(100), ..QueryLimits::default() };
    let mut runner = PostgresRunner::new(&database.server, (schema, details), limits, false).unwrap();
    let first = runner.session.outside_of_transactions(STATE);
    assert_eq!(first.len(), 9, "{first:?}");
    let (mut connections, mut count, mut compared) = (runner.session.connections(), 0, 0);
    for folder in ["postgres", "sql"] {
        for (file, _, statement) in in_folder(folder) {
            let _ = runner.execute(&statement);
            count += 1;
            // A statement that did not end in time took its session with it.
            if runner.session.connections() == connections && runner.session.is_open() {
                compared += 1;
                let state = runner.session.outside_of_transactions(STATE);
                assert_eq!(state, first, "{file}: {}", shortened(&statement));
            } else {
                let _ = runner.execute("SELECT n FROM numbers WHERE n = 1");
                connections = runner.session.connections();
            }
        }
    }
    println!("{count} statements, after {compared} of which the session goes on");
    assert!(count > 600 && compared * 10 > count * 9, "{compared} of {count}");
    // The driver prepares three statements to learn the types of a database, and no others.
    assert_eq!(
        runner.execute("SELECT felt FROM moods"),
        Outcome::Value(r#"(bag ("glad") ("sad"))"#.to_owned())
    );
    let _ = runner.column_names("SELECT n FROM numbers");
    let left = runner.session.outside_of_transactions("SELECT statement FROM pg_prepared_statements");
    assert!(left.len() <= 3 && left.iter().all(|statement| statement.contains("pg_catalog.pg_")), "{left:?}");
}
