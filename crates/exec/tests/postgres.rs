//! PostgreSQL: reading schemas, answers, hostile statements, roles, and servers that go away. The tests start a server of
//! their own.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "these are tests")]

#[path = "support/postgres.rs"]
mod cluster;
mod support;

mod postgres {
    use super::cluster::{Cluster, READER};
    use super::support::{expand, shortened};
    use std::ops::ControlFlow;
    use std::path::Path;
    use std::thread;
    use std::time::{Duration, Instant};
    use xpr_exec::database::{self, Database, DatabaseError, QueryLimits, ValueIndex, ValueLimits};
    use xpr_exec::{Executor, Outcome};
    use xpr_lang::sql::{ColumnType, Schema};

    const MUSIC: &str = r#"
        CREATE TABLE artist (id serial PRIMARY KEY, name text, born date);
        CREATE TABLE album (id int PRIMARY KEY, title text, artist_id int REFERENCES artist, price numeric(8, 2),
                            sold boolean, played timestamptz, rating real, tags text[], cover bytea, kind char(4));
        CREATE TABLE numbers (n int);
        CREATE TABLE "order" ("select" text, "from" text, "we""ird" text);
        INSERT INTO artist (name, born) VALUES ('Nina', '1933-02-21'), ('Miles', '1926-05-26');
        INSERT INTO album VALUES (1, 'Pastel Blues', 1, 10.50, true, '2015-01-03 10:30:00+02', 0.1, '{soul,"blues"}', '\x00ff', 'lp'),
                                 (2, 'Kind of Blue', 2, 12.00, false, NULL, 3, NULL, NULL, 'cd');
        INSERT INTO "order" VALUES ('a', 'b', 'c');
        INSERT INTO numbers SELECT generate_series(1, 1000);
        COMMENT ON COLUMN album.kind IS 'medium of the recording';
        CREATE SCHEMA sales;
        CREATE TABLE sales.album (title text, copies int);
        CREATE TABLE sales."Customer" (id int PRIMARY KEY, "Name" text);
        INSERT INTO sales.album VALUES ('Kind of Blue', 5000000);
        INSERT INTO sales."Customer" VALUES (1, 'Ann');
        CREATE FUNCTION effect(int) RETURNS int LANGUAGE sql AS 'SELECT $1';
        CREATE FUNCTION effect(artist) RETURNS int LANGUAGE sql AS 'SELECT 1';
        CREATE VIEW calls_effect AS SELECT effect(id) AS e FROM artist;
        CREATE VIEW sees_calls_effect AS SELECT e FROM calls_effect;
        CREATE VIEW sleeps AS SELECT pg_sleep(10)::text AS s FROM artist;
        CREATE VIEW plain_view AS SELECT name FROM artist;
        CREATE FUNCTION locks(text, text) RETURNS text LANGUAGE sql AS 'SELECT pg_advisory_lock(4711)::text';
        CREATE OPERATOR + (LEFTARG = text, RIGHTARG = text, FUNCTION = locks);
        CREATE OR REPLACE FUNCTION effect(artist) RETURNS int LANGUAGE sql AS 'SELECT 1 FROM pg_advisory_lock(4712)';
        CREATE FUNCTION lower(text) RETURNS text LANGUAGE sql AS 'SELECT pg_advisory_lock(4713)::text';
        CREATE VIEW hides_effect AS SELECT name + name AS n FROM artist;
    "#;

    /// Tables and types that few databases have.
    const UNUSUAL: &str = r#"
        CREATE TYPE mood AS ENUM ('glad', 'so so');
        CREATE TYPE place AS (street text, number int);
        CREATE DOMAIN mail AS text CHECK (VALUE LIKE '%@%');
        CREATE TABLE odd (id int PRIMARY KEY, felt mood, feelings mood[], balance money, address inet, place point, home place,
                          grid int[], bits bit(3), during int4range, document jsonb, mail mail);
        INSERT INTO odd VALUES (1, 'so so', '{glad,"so so"}', -12.5, '10.0.0.1', point(1, 2), ROW('Main St', 5), '{1,2}', '101',
                                '[1,5)', '{"a": 1}', 'ann@example.com'),
                               (2, 'glad', NULL, NULL, NULL, NULL, NULL, '{{1,2},{3,4}}', NULL, NULL, NULL, NULL);
        CREATE TABLE parts (id int, name text) PARTITION BY RANGE (id);
        CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (10);
        CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (10) TO (100);
        INSERT INTO parts SELECT i, 'part ' || i FROM generate_series(1, 20) AS i;
        CREATE TABLE parent (id int, name text);
        CREATE TABLE child (more int) INHERITS (parent);
        INSERT INTO parent VALUES (1, 'p');
        INSERT INTO child VALUES (2, 'c', 3);
        CREATE TABLE nothing ();
        CREATE MATERIALIZED VIEW unpopulated AS SELECT 1 AS one WITH NO DATA;
        CREATE TABLE "Ünïcode and Blanks" ("a ""quoted"" name" text, "SELECT" int);
        INSERT INTO "Ünïcode and Blanks" VALUES ('größe', 1);
        CREATE TABLE ends (day date);
        INSERT INTO ends VALUES ('infinity'), ('0044-03-15 BC');
    "#;

    /// Starts a server with the database `music`, which has a schema that the reader cannot see.
    fn music() -> Cluster {
        let cluster = Cluster::start();
        cluster.make("music", MUSIC);
        cluster.run("music", "CREATE SCHEMA hidden; CREATE TABLE hidden.secret (s text); INSERT INTO hidden.secret VALUES ('x'); ANALYZE");
        cluster
    }

    fn open(cluster: &Cluster) -> Box<dyn Database> {
        database::open(&cluster.address(READER, "music"), Path::new("")).unwrap()
    }

    fn schema(database: &dyn Database) -> Schema {
        database.read_schema(&mut |_| ControlFlow::Continue(())).unwrap().schema
    }

    fn answer(runner: &mut dyn Executor, query: &str) -> String {
        runner.execute(query).text().to_owned()
    }

    #[test]
    #[ignore = "needs PostgreSQL, see CONTRIBUTING.md"]
    fn schemas_have_the_tables_that_the_role_can_read_with_keys_types_and_comments() {
        let cluster = music();
        let database = open(&cluster);
        let read = database.read_schema(&mut |_| ControlFlow::Continue(())).unwrap();
        let names: Vec<String> = read
            .schema
            .tables
            .iter()
            .map(|table| format!("{}.{}", table.namespace.as_deref().unwrap(), table.name))
            .collect();
        assert_eq!(
            names,
            [
                "public.artist",
                "public.album",
                "public.numbers",
                "public.order",
                "public.plain_view",
                "sales.album",
                "sales.Customer"
            ]
        );
        let left_out: Vec<String> = read.left_out.iter().map(ToString::to_string).collect();
        assert_eq!(left_out.len(), 4);
        assert!(left_out[3].contains("public.hides_effect is left out: it calls locks"), "{left_out:?}");
        assert!(left_out[0].contains("public.calls_effect is left out: it calls effect"), "{left_out:?}");
        let album = &read.schema.tables[1];
        let types: Vec<ColumnType> = album.columns.iter().map(|column| column.ty).collect();
        use ColumnType::{Boolean, Number, Other, Text, Time};
        assert_eq!(types, [Number, Text, Number, Number, Boolean, Time, Number, Other, Other, Text]);
        assert_eq!((album.primary_key.as_slice(), album.foreign_keys.len()), (&[0][..], 1));
        assert_eq!(album.columns[9].comment.as_deref(), Some("medium of the recording"));
        assert_eq!(database.name(), "music");
        // Only some of the schemas.
        let some =
            database::open(&format!("{}?schemas=sales", cluster.address(READER, "music")), Path::new(""))
                .unwrap();
        assert_eq!(schema(&*some).tables.len(), 2);
        let none =
            database::open(&format!("{}?schemas=hidden", cluster.address(READER, "music")), Path::new(""));
        assert!(none.unwrap_err().to_string().contains("no schema hidden; there are public, sales"));
    }

    #[test]
    #[ignore = "needs PostgreSQL, see CONTRIBUTING.md"]
    fn answers_print_as_those_of_sqlite() {
        let cluster = music();
        let database = open(&cluster);
        let schema = schema(&*database);
        let mut runner = database.runner(&schema, QueryLimits::default()).unwrap();
        for (query, expected) in [
            ("SELECT price, sold, rating FROM album", "(bag (10.5 1 0.1) (12 0 3))"),
            (
                "SELECT played, kind, tags, cover FROM album WHERE id = 1",
                r#"(bag ("2015-01-03 08:30:00+00" "lp" "{soul,blues}" x'00ff'))"#,
            ),
            ("SELECT born FROM artist ORDER BY born", r#"(list ("1926-05-26") ("1933-02-21"))"#),
            ("SELECT avg(price), sum(id), count(*) FROM album", "(bag (11.25 3 2))"),
            ("SELECT 1.0 / 3, 2 / 3, 1e20::numeric FROM artist LIMIT 1", "(bag (0.333333333 0 1e20))"),
            ("SELECT max(title) FROM album WHERE id > 5", "empty"),
            ("SELECT copies FROM sales.album", "(bag (5000000))"),
            ("SELECT \"Name\" FROM sales.\"Customer\"", r#"(bag ("Ann"))"#),
            (
                "SELECT EXTRACT(YEAR FROM born), date_trunc('month', born)::date FROM artist WHERE id = 1",
                r#"(bag (1933 "1933-02-01"))"#,
            ),
        ] {
            let outcome = runner.execute(query);
            let found =
                if outcome == Outcome::Empty { "empty".to_owned() } else { outcome.text().to_owned() };
            assert_eq!(found, expected, "{query}");
        }
        let shown = runner.full_answer("SELECT 12345678.95, max(title) FROM album WHERE id > 5");
        assert_eq!(shown.text(), "(bag (12345678.95 null))");
        assert_eq!(
            runner.column_names("SELECT title, count(*) FROM album GROUP BY title").unwrap(),
            ["title", "count"]
        );
    }

    #[test]
    #[ignore = "needs PostgreSQL, see CONTRIBUTING.md"]
    fn unusual_tables_and_types_are_read_and_printed() {
        let cluster = Cluster::start();
        cluster.make("music", UNUSUAL);
        cluster.run(
            "music",
            "CREATE TABLE half (open int, hidden int); GRANT SELECT (open) ON half TO xpr_reader; INSERT INTO half VALUES (7, 8)",
        );
        let database = open(&cluster);
        let schema = schema(&*database);
        let columns = |table: &str| -> Vec<String> {
            let table = &schema.tables[schema.find_table(table).unwrap().0 as usize];
            table.columns.iter().map(|column| column.name.clone()).collect()
        };
        assert_eq!(columns("half"), ["open"]);
        assert_eq!(columns("parts"), ["id", "name"]);
        assert!(schema.find_table("parts_1").is_none() && schema.find_table("nothing").is_none());
        let mut runner = database.runner(&schema, QueryLimits::default()).unwrap();
        for (query, expected) in [
            ("SELECT open FROM half", "(bag (7))"),
            ("SELECT count(*) FROM parts", "(bag (20))"),
            ("SELECT name FROM parent ORDER BY id", r#"(list ("p") ("c"))"#),
            ("SELECT felt, feelings FROM odd WHERE id = 1", r#"(bag ("so so" "{glad,so so}"))"#),
            ("SELECT felt FROM odd ORDER BY felt", r#"(list ("glad") ("so so"))"#),
            ("SELECT balance, address FROM odd WHERE id = 1", "(bag (-12.5 \"10.0.0.1/32\"))"),
            ("SELECT place, home FROM odd WHERE id = 1", r#"(bag ("(1,2)" "(\"Main St\",5)"))"#),
            ("SELECT grid FROM odd ORDER BY id", r#"(list ("{1,2}") ("{{1,2},{3,4}}"))"#),
            ("SELECT id, bits, during FROM odd WHERE id = 1", r#"(bag (1 "101" "[1,5)"))"#),
            ("SELECT document FROM odd WHERE id = 1", r#"(bag ("{\"a\": 1}"))"#),
            ("SELECT mail FROM odd WHERE id = 1", r#"(bag ("ann@example.com"))"#),
            (
                "SELECT \"a \"\"quoted\"\" name\", \"SELECT\" FROM \"Ünïcode and Blanks\"",
                r#"(bag ("größe" 1))"#,
            ),
            ("SELECT day FROM ends ORDER BY 1", r#"(list ("0044-03-15 BC") ("infinity"))"#),
        ] {
            assert_eq!(answer(&mut *runner, query), expected, "{query}");
        }
        assert!(matches!(runner.execute("SELECT hidden FROM half"), Outcome::RuntimeError(_)));
        assert!(matches!(runner.execute("SELECT one FROM unpopulated"), Outcome::RuntimeError(_)));
        // Issue 20: `*` was refused by the server where the role may read some columns only.
        assert_eq!(answer(&mut *runner, "SELECT * FROM half"), "(bag (7))");
        assert_eq!(answer(&mut *runner, "SELECT half.*, h.* FROM half, half AS h"), "(bag (7 7))");
        assert!(schema.find_table("unpopulated").is_none());
        let left_out = database.read_schema(&mut |_| ControlFlow::Continue(())).unwrap().left_out;
        assert!(left_out[0].to_string().contains("REFRESH MATERIALIZED VIEW"), "{left_out:?}");
    }

    /// Issue 20: values that the server prints depended on the settings of the role.
    #[test]
    #[ignore = "needs PostgreSQL, see CONTRIBUTING.md"]
    fn settings_of_the_role_do_not_change_answers() {
        let cluster = music();
        cluster.run(
            "music",
            "CREATE TABLE odd (d date, i interval, b bytea, r tsrange, f float8); GRANT SELECT ON odd TO xpr_reader; \
             INSERT INTO odd VALUES ('2021-02-03', '1 day 02:03:04', '\\x00ff', '[2021-02-03,2021-02-04)', 0.1)",
        );
        let query = "SELECT d::text, i::text, b::text, f::text, r FROM odd WHERE d = '2021-02-03'";
        let found = || {
            let database = open(&cluster);
            let mut runner = database.runner(&schema(&*database), QueryLimits::default()).unwrap();
            answer(&mut *runner, query)
        };
        let before = found();
        assert!(before.contains("\"2021-02-03\" \"1 day 02:03:04\""), "{before}");
        for setting in [
            "datestyle = 'German'",
            "intervalstyle = 'iso_8601'",
            "bytea_output = 'escape'",
            "extra_float_digits = -14",
            "statement_timeout = '1ms'",
            "search_path = 'nowhere'",
            "client_encoding = 'LATIN1'",
            "standard_conforming_strings = off",
            "transform_null_equals = on",
            "default_transaction_isolation = 'serializable'",
        ] {
            cluster.run("music", &format!("ALTER ROLE xpr_reader SET {setting}"));
        }
        assert_eq!(found(), before);
    }

    /// Issue 20: functions and operators of users were found in their schemas. Operators of extensions are found, because a text of
    /// `citext` has to be compared as the extension says.
    #[test]
    #[ignore = "needs PostgreSQL, see CONTRIBUTING.md"]
    fn operators_of_extensions_are_those_of_queries_and_those_of_users_are_not() {
        let cluster = Cluster::start();
        cluster.make(
            "music",
            "CREATE EXTENSION citext; CREATE TABLE artist (name citext); INSERT INTO artist VALUES ('Nina'); \
             CREATE TABLE \"Artist\" (\"Name\" text); INSERT INTO \"Artist\" VALUES ('Miles');",
        );
        let found = |query: &str| {
            let database = open(&cluster);
            let mut runner = database.runner(&schema(&*database), QueryLimits::default()).unwrap();
            runner.execute(query)
        };
        let of_extension = "SELECT count(*) FROM artist WHERE name = 'NINA'";
        assert_eq!(found(of_extension).text(), "(bag (1))");
        // Tables whose names differ in case only.
        assert_eq!(found("SELECT \"Name\" FROM \"Artist\"").text(), "(bag (\"Miles\"))");
        assert_eq!(found("SELECT name FROM artist").text(), "(bag (\"Nina\"))");
        cluster.run("music", "CREATE FUNCTION half(int) RETURNS int LANGUAGE sql AS 'SELECT $1 / 2'");
        assert_eq!(found(of_extension).text(), "(bag (1))");
        cluster.run(
            "music",
            "CREATE FUNCTION plus(text, text) RETURNS text LANGUAGE sql AS 'SELECT 1::text'; \
             CREATE OPERATOR + (LEFTARG = text, RIGHTARG = text, FUNCTION = plus)",
        );
        let of_user = "SELECT name::text + name::text FROM artist";
        assert!(matches!(found(of_user), Outcome::TypeError(_)), "{}", found(of_user));
    }

    #[test]
    #[ignore = "needs PostgreSQL, see CONTRIBUTING.md"]
    fn values_are_found_in_small_tables_and_in_samples_of_large_ones() {
        let cluster = music();
        cluster.run(
            "music",
            "CREATE TABLE large AS SELECT i AS id, CASE WHEN i % 3 = 0 THEN 'frequent town' ELSE 'place ' || i END AS name, \
             repeat('x', 60) AS filler FROM generate_series(1, 900000) AS i; GRANT SELECT ON large TO xpr_reader; ANALYZE large",
        );
        let database = open(&cluster);
        let schema = schema(&*database);
        let began = Instant::now();
        let index =
            ValueIndex::read(&*database, &schema, ValueLimits::default(), &mut |_| ControlFlow::Continue(()))
                .unwrap();
        let large = schema.find_table("large").unwrap();
        assert_eq!(index.sampled_tables(), [large]);
        let name = schema.find_column(large, "name").unwrap();
        assert!(index.has_text(name, "frequent town") && index.incomplete_columns().contains(&name));
        let artist = schema.find_column(schema.find_table("artist").unwrap(), "name").unwrap();
        assert!(index.has_text(artist, "Nina") && !index.incomplete_columns().contains(&artist));
        eprintln!("values read in {:?}", began.elapsed());
    }

    #[test]
    #[ignore = "needs PostgreSQL, see CONTRIBUTING.md"]
    fn roles_that_may_do_more_than_read_are_refused() {
        let cluster = music();
        let at = |role: &str, options: &str| {
            let address = format!("{}{options}", cluster.address(role, "music"));
            database::open(&address, Path::new("")).map(|_| ())
        };
        let error = at("postgres", "").unwrap_err();
        assert!(
            matches!(&error, DatabaseError::Writer { power, .. } if power == "is a superuser"),
            "{error}"
        );
        let message = error.to_string();
        assert!(
            message.contains("CREATE ROLE xpr_reader LOGIN")
                && message.contains("GRANT SELECT ON ALL TABLES IN SCHEMA \"sales\"")
        );
        at("postgres", "?allow_writer=yes").unwrap();
        cluster.run("music", "CREATE ROLE writer LOGIN; GRANT SELECT, INSERT ON artist TO writer; CREATE ROLE nobody_at_all LOGIN");
        assert!(at("writer", "").unwrap_err().to_string().contains("may write to public.artist"));
        cluster.run(
            "music",
            "CREATE ROLE spy LOGIN; GRANT pg_read_server_files TO spy; GRANT SELECT ON artist TO spy",
        );
        assert!(at("spy", "").unwrap_err().to_string().contains("is a member of pg_read_server_files"));
        cluster.run("music", "CREATE ROLE stranger LOGIN");
        let error = at("stranger", "").unwrap_err();
        assert!(matches!(error, DatabaseError::NoReadableTables { .. }), "{error}");
        assert!(matches!(at("missing", "").unwrap_err(), DatabaseError::Authentication { .. }));
        let nowhere = database::open(&cluster.address(READER, "nowhere"), Path::new("")).unwrap_err();
        assert!(matches!(nowhere, DatabaseError::NoDatabase { .. }), "{nowhere}");
    }

    /// Returns what must not change, as the owner sees it: tables with their rows, functions, roles, large objects, locks that
    /// outlive statements, and sessions within a transaction.
    fn state(cluster: &Cluster) -> String {
        cluster.run(
            "music",
            "SELECT md5(string_agg(t::text, ',' ORDER BY t::text)) FROM artist t;
             SELECT md5(string_agg(t::text, ',' ORDER BY t::text)) FROM album t;
             SELECT count(*), md5(string_agg(relname || relkind::text || relacl::text, ',' ORDER BY c.oid)) FROM pg_class c
                 WHERE relnamespace::regnamespace::text NOT LIKE 'pg\\_%';
             SELECT count(*) FROM pg_proc; SELECT count(*) FROM pg_largeobject_metadata; SELECT last_value, is_called FROM artist_id_seq;
             SELECT string_agg(rolname || rolsuper::text || coalesce(rolconfig::text, ''), ',' ORDER BY oid) FROM pg_roles;
             SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'; SELECT count(*) FROM pg_prepared_xacts;
             SELECT count(*) FROM pg_stat_activity WHERE usename = 'xpr_reader' AND state <> 'idle';",
        )
    }

    #[test]
    #[ignore = "needs PostgreSQL, see CONTRIBUTING.md"]
    fn hostile_statements_do_no_harm() {
        let cluster = music();
        let database = open(&cluster);
        let schema = schema(&*database);
        let limits = QueryLimits::default();
        let mut runner = database.runner(&schema, limits).unwrap();
        let before = state(&cluster);
        let (mut count, mut own, mut late, mut failures) = (0, 0, 0, Vec::new());
        let files = [
            "postgres/writes.tsv",
            "postgres/settings.tsv",
            "postgres/reach.tsv",
            "postgres/bombs.tsv",
            "postgres/text.tsv",
            "postgres/own_functions.tsv",
            "postgres/rare.tsv",
            "sql/writes.tsv",
            "sql/statements.tsv",
            "sql/reach.tsv",
            "sql/bombs.tsv",
            "sql/literals.tsv",
            "sql/names.tsv",
            "sql/hostile_schema.tsv",
        ];
        for name in files {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../attacks").join(name);
            let text = std::fs::read_to_string(path).unwrap();
            for line in text.lines().filter(|line| !line.starts_with('#')) {
                let (expected, statement) = line.split_once('\t').unwrap_or_else(|| panic!("no tab: {line}"));
                let statement = expand(statement);
                count += 1;
                let is_own = name.starts_with("postgres");
                own += usize::from(is_own);
                let began = Instant::now();
                let outcome = runner.execute(&statement);
                let took = began.elapsed();
                let is_expected = match expected {
                    _ if !is_own => true,
                    "refused" => matches!(outcome, Outcome::RuntimeError(_) | Outcome::TypeError(_)),
                    "stopped" => matches!(outcome, Outcome::Timeout(_)),
                    "runs" => outcome.executes(),
                    "ends" => true,
                    other => panic!("{name}: `{other}` is not an expected outcome"),
                };
                if !is_expected {
                    let found = shortened(&outcome.to_string());
                    failures.push(format!("{}: {found} instead of {expected}", shortened(&statement)));
                }
                late += usize::from(took > limits.time + Duration::from_millis(50));
                // The machine may be busy with other tests.
                if took > limits.time + Duration::from_millis(800) {
                    failures.push(format!("{}: took {took:?}", shortened(&statement)));
                }
            }
            assert_eq!(answer(&mut *runner, "SELECT count(*) FROM artist"), "(bag (2))", "{name}");
            assert_eq!(state(&cluster), before, "{name} left a trace");
        }
        eprintln!(
            "{count} statements, {own} of them for PostgreSQL; {late} took more than the limit and 50 ms"
        );
        assert!(failures.is_empty(), "{} of {count} failed:\n{}", failures.len(), failures.join("\n"));
        assert!(own >= 60 && !Path::new("/tmp/xpr-attack-postgres").exists());
    }

    #[test]
    #[ignore = "needs PostgreSQL, see CONTRIBUTING.md"]
    fn runaways_are_stopped_by_their_cost_and_by_their_time() {
        let cluster = music();
        let database = open(&cluster);
        let schema = schema(&*database);
        let endless = "SELECT count(*) FROM numbers a, numbers b, numbers c";
        let mut runner = database.runner(&schema, QueryLimits::default()).unwrap();
        assert_eq!(answer(&mut *runner, endless), "stopped: more cost than allowed");
        let limits =
            QueryLimits { steps: u64::MAX, time: Duration::from_millis(300), ..QueryLimits::default() };
        let mut runner = database.runner(&schema, limits).unwrap();
        let began = Instant::now();
        assert_eq!(answer(&mut *runner, endless), "stopped: more time than allowed");
        assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
        let few = QueryLimits { rows: 10, ..QueryLimits::default() };
        let mut runner = database.runner(&schema, few).unwrap();
        assert_eq!(answer(&mut *runner, "SELECT n FROM numbers"), "stopped: more rows than allowed");
        assert_eq!(answer(&mut *runner, "SELECT n FROM numbers WHERE n <= 2"), "(bag (1) (2))");
    }

    #[test]
    #[ignore = "needs PostgreSQL, see CONTRIBUTING.md"]
    fn a_server_that_goes_away_is_waited_for() {
        let cluster = music();
        let address = format!("{}?reconnect_timeout=30", cluster.address(READER, "music"));
        let database = database::open(&address, Path::new("")).unwrap();
        let schema = schema(&*database);
        let mut runner = database.runner(&schema, QueryLimits::default()).unwrap();
        let query = "SELECT name FROM artist ORDER BY id";
        let expected = r#"(list ("Nina") ("Miles"))"#;
        assert_eq!(answer(&mut *runner, query), expected);
        cluster.stop();
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(Duration::from_millis(1500));
                cluster.resume();
            });
            assert_eq!(answer(&mut *runner, query), expected);
        });
        database.check_unchanged().unwrap();

        let address = format!("{}?reconnect_timeout=1", cluster.address(READER, "music"));
        let database = database::open(&address, Path::new("")).unwrap();
        let mut runner = database.runner(&schema, QueryLimits::default()).unwrap();
        cluster.stop();
        assert!(matches!(runner.execute(query), Outcome::RuntimeError(_)));
        let error = database.check_unchanged().unwrap_err();
        assert!(matches!(error, DatabaseError::Gone { .. }), "{error}");
        let error = database::open(&address, Path::new("")).unwrap_err();
        assert!(error.to_string().contains("is the server running"), "{error}");
        cluster.resume();
    }
}
