//! Whole commands on PostgreSQL. The tests start servers of their own.
#![allow(clippy::unwrap_used, clippy::panic, reason = "these are tests")]

#[path = "../../exec/tests/support/certificates.rs"]
mod certificates;
#[path = "../../exec/tests/support/postgres.rs"]
mod cluster;
mod server;

mod postgres {
    use super::certificates::Certificate;
    use super::cluster::{Cluster, PASSWORD, READER};
    use super::server::Server;
    use serde_json::{Value, json};
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;
    use std::process::{Child, Command, Output, Stdio};
    use std::thread;
    use std::time::{Duration, Instant};

    const STAGE: &str = r#"
        CREATE TABLE singer (singer_id int PRIMARY KEY, name text, country text, age int);
        CREATE TABLE concert (concert_id int PRIMARY KEY, title text, year int, singer_id int REFERENCES singer);
        COMMENT ON COLUMN singer.age IS 'age in years';
        INSERT INTO singer VALUES (1, 'Joe Sharp', 'Netherlands', 52), (2, 'Rose White', 'France', 41),
            (3, 'Tribal King', 'France', 25);
        INSERT INTO concert VALUES (1, 'Auditions', 2014, 1), (2, 'Super bootcamp', 2015, 2), (3, 'Home visits', 2015, 3);
        ANALYZE;"#;

    const PAIRS: &str = "how many singers are there\tSELECT count(*) FROM singer\n\
        what are the names of all singers\tSELECT name FROM singer\n\
        show the name of the oldest singer\tSELECT name FROM singer ORDER BY age DESC LIMIT 1\n\
        what is the average age of the singers\tSELECT avg(age) FROM singer\n\
        which singers are from France\tSELECT name FROM singer WHERE country ILIKE 'France'\n\
        how many concerts were there in 2015\tSELECT count(*) FROM concert WHERE year = 2015\n";

    const UNLABELED: &str = "which singers are from Netherlands\nhow many concerts were there in 2014\n\
        what are the titles of all concerts\nwhat is the average year of the concerts\n\
        show the title of the oldest concert\nhow many concerts are there\n";

    /// A parser that is small enough to train in seconds, and learns from what its programs find.
    const SMALL: &str = r#"
        [data]
        dataset = "database"
        folder = "."
        database = "ADDRESS"
        labeled = "pairs.tsv"
        unlabeled = "log.txt"
        [model]
        hidden = 32
        heads = 4
        feed_forward = 32
        word = 16
        action = 16
        place = 8
        [train]
        steps = 120
        rate = 0.01
        warmup = 10
        checkpoint = 10
        [learn]
        objective = "sparse"
        ensemble = 0
        start = 10
        reward = "executes"
        [eval]
        confidence_folds = 0
    "#;

    struct Folder(tempfile::TempDir);

    impl Folder {
        fn new() -> Self {
            let folder = Folder(tempfile::tempdir().unwrap());
            folder.write("pairs.tsv", PAIRS);
            folder.write("log.txt", UNLABELED);
            folder
        }

        fn path(&self) -> &Path {
            self.0.path()
        }

        fn write(&self, name: &str, content: &str) {
            fs::write(self.path().join(name), content).unwrap();
        }

        fn read(&self, name: &str) -> Vec<u8> {
            fs::read(self.path().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
        }

        /// Returns a command that knows no password and no service.
        fn command(&self, arguments: &[&str]) -> Command {
            let mut command = Command::new(env!("CARGO_BIN_EXE_xpr"));
            command.current_dir(self.path()).args(arguments).env("HOME", self.path());
            for variable in ["XPR_DATA", "XPR_EMBEDDINGS", "PGPASSWORD", "PGPASSFILE", "PGSERVICE", "PGHOST"]
            {
                command.env_remove(variable);
            }
            command
        }

        fn xpr(&self, arguments: &[&str]) -> String {
            printed(&self.command(arguments).output().unwrap())
        }

        /// Returns the message of a command that fails, without the numbers of ports.
        fn failure(&self, cluster: &Cluster, address: &str) -> String {
            let init = ["init", "--db", address, "--out", "project", "--force"];
            let output = self.command(&init).output().unwrap();
            assert!(!output.status.success(), "{address}: {}", String::from_utf8_lossy(&output.stdout));
            errors(&output).replace(&cluster.port().to_string(), "PORT")
        }
    }

    fn printed(output: &Output) -> String {
        assert!(output.status.success(), "{}", errors(output));
        String::from_utf8(output.stdout.clone()).unwrap()
    }

    fn errors(output: &Output) -> String {
        String::from_utf8_lossy(&output.stderr).into_owned()
    }

    fn stage() -> Cluster {
        let cluster = Cluster::start();
        cluster.make("stage", STAGE);
        cluster
    }

    #[test]
    #[ignore = "needs PostgreSQL, see CONTRIBUTING.md"]
    fn a_database_is_asked_trained_evaluated_taught_and_served() {
        let (cluster, folder) = (stage(), Folder::new());
        let address = cluster.address(READER, "stage");
        let without_port = |text: String| text.replace(&cluster.port().to_string(), "PORT");
        let init = folder.xpr(&["init", "--db", &address, "--labeled", "pairs.tsv", "--out", "stage"]);
        insta::assert_snapshot!("postgres_init", without_port(init));
        let checked = folder.xpr(&["data", "check", "--db", &address, "--labeled", "pairs.tsv"]);
        insta::assert_snapshot!("postgres_data_check", without_port(checked));
        folder.xpr(&["train", "stage/xpr.toml", "--set", "train.steps=2", "--out", "stage/run"]);
        let asked: Value =
            serde_json::from_str(&folder.xpr(&["ask", "stage/run", "how many singers are there", "--json"]))
                .unwrap();
        assert_eq!(asked["candidates"][0]["program"], "SELECT COUNT(*) FROM singer", "{asked}");
        let evaluated: Value =
            serde_json::from_str(&folder.xpr(&["eval", "stage/run", "--test", "pairs.tsv", "--json"]))
                .unwrap();
        assert!(evaluated["accuracy"].as_f64().unwrap() > 0.5, "{evaluated}");
        let (question, sql) = ("how many shows", "SELECT count(*) FROM concert");
        let taught = folder.xpr(&["teach", "stage/run", question, sql]);
        assert!(taught.contains("The parser answers it as the label does"), "{taught}");
        let speed =
            folder.xpr(&["bench", "exec", "--db", &address, "--labeled", "pairs.tsv", "--seconds", "0.1"]);
        assert!(speed.starts_with("6 queries on postgres://"), "{speed}");

        let server = Server::start(folder.path(), &["serve", "stage/run", "--listen", "127.0.0.1:0"]);
        assert_eq!(server.ask(question)["rows"], json!([[3]]));
        let run = |sql: &str| server.post("/v1/run", &json!({ "sql": sql }));
        let rows = run("SELECT name, age AS years FROM singer WHERE age > 50").json();
        assert_eq!(
            (&rows["columns"], &rows["rows"]),
            (&json!(["name", "years"]), &json!([["Joe Sharp", 52]]))
        );
        assert_eq!(run("DROP TABLE singer").status, 422);
        // The server of the database is away for a moment, and people go on to ask.
        cluster.stop();
        cluster.resume();
        assert_eq!(server.ask(question)["rows"], json!([[3]]));
    }

    #[test]
    #[ignore = "needs PostgreSQL, see CONTRIBUTING.md"]
    fn errors_say_what_to_do() {
        let (cluster, folder) = (stage(), Folder::new());
        cluster.run(
            "stage",
            "CREATE ROLE writer LOGIN; GRANT SELECT, INSERT ON singer TO writer; CREATE ROLE stranger LOGIN",
        );
        cluster.run("postgres", "CREATE DATABASE empty");
        let at = |role: &str, database: &str| cluster.address(role, database);
        let mut messages = vec![
            folder.failure(&cluster, &at(READER, "nowhere")),
            folder.failure(&cluster, &at("nobody", "stage")),
            folder.failure(&cluster, &at("writer", "stage")),
            folder.failure(&cluster, &at("postgres", "stage")),
            folder.failure(&cluster, &at("stranger", "stage")),
            folder.failure(&cluster, &at(READER, "empty")),
            folder.failure(&cluster, &format!("{}?schemas=hr", at(READER, "stage"))),
            folder.failure(&cluster, &format!("{}?sslmode=require", at(READER, "stage"))),
            folder.failure(&cluster, &format!("{}?sslmode=yes", at(READER, "stage"))),
            folder.failure(&cluster, &format!("{}?service=missing", at(READER, "stage"))),
            folder.failure(&cluster, "postgres://ann:secret@localhost/stage"),
        ];
        cluster.stop();
        messages.push(folder.failure(&cluster, &at(READER, "stage")));
        cluster.resume();
        let home = folder.path().display().to_string();
        insta::assert_snapshot!("postgres_errors", messages.join("\n").replace(&home, "HOME"));
        assert!(!folder.path().join("project").exists());
    }

    #[test]
    #[ignore = "needs PostgreSQL, see CONTRIBUTING.md"]
    fn passwords_come_from_the_places_of_postgresql_and_go_nowhere() {
        let (cluster, folder) = (Cluster::start_with_passwords(None), Folder::new());
        cluster.make("stage", STAGE);
        let address = cluster.address(READER, "stage");
        let init =
            ["init", "--db", &address, "--labeled", "pairs.tsv", "--out", "stage", "--force", "--verbose"];
        let mut said = Vec::new();
        let mut run = |command: &mut Command, succeeds: bool| {
            let output = command.env("RUST_LOG", "trace").output().unwrap();
            assert_eq!(output.status.success(), succeeds, "{}", errors(&output));
            let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), errors(&output));
            said.push(text.clone());
            text
        };
        let none = run(&mut folder.command(&init), false);
        assert!(none.contains("write its password to ~/.pgpass"), "{none}");
        let wrong = run(folder.command(&init).env("PGPASSWORD", "another secret"), false);
        assert!(wrong.contains("the server does not accept the role xpr_reader"), "{wrong}");
        run(folder.command(&init).env("PGPASSWORD", PASSWORD), true);
        // The password file, which nobody else may read.
        let escaped = PASSWORD.replace('\\', "\\\\").replace(':', "\\:");
        folder.write(".pgpass", &format!("# mine\n127.0.0.1:{}:*:{READER}:{escaped}\n", cluster.port()));
        let file = folder.path().join(".pgpass");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        let open = run(&mut folder.command(&init), false);
        assert!(open.contains("chmod 600"), "{open}");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        run(&mut folder.command(&init), true);
        run(
            &mut folder.command(&["train", "stage/xpr.toml", "--set", "train.steps=2", "--out", "stage/run"]),
            true,
        );
        run(&mut folder.command(&["ask", "stage/run", "how many singers are there"]), true);
        fs::remove_file(&file).unwrap();
        // A service.
        let service = format!(
            "[music]\nhost=127.0.0.1\nport={}\nuser={READER}\ndbname=stage\npassword={PASSWORD}\n",
            cluster.port()
        );
        folder.write(".pg_service.conf", &service);
        let by_service =
            ["init", "--db", "postgres://?service=music", "--labeled", "pairs.tsv", "--out", "served"];
        run(&mut folder.command(&by_service), true);
        run(
            folder.command(&["init", "--db", "postgres://", "--out", "third"]).env("PGSERVICE", "music"),
            true,
        );
        fs::remove_file(folder.path().join(".pg_service.conf")).unwrap();
        let encoded = PASSWORD.replace('\\', "%5C").replace(' ', "%20");
        let refused = address.replace('@', &format!(":{encoded}@"));
        run(&mut folder.command(&["init", "--db", &refused]), false);
        run(&mut folder.command(&["init", "--db", &format!("{address}?password={encoded}")]), false);

        let all = said.join("\n");
        for secret in [PASSWORD, encoded.as_str(), escaped.as_str(), "another secret", "word of the"] {
            assert!(!all.contains(secret), "{secret} is in {all}");
            assert_eq!(files_with(folder.path(), secret), Vec::<String>::new());
        }
    }

    /// Returns the files in a folder and the folders in it that contain a text.
    fn files_with(folder: &Path, text: &str) -> Vec<String> {
        let mut found = Vec::new();
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                found.extend(files_with(&path, text));
            } else if fs::read(&path).unwrap().windows(text.len()).any(|part| part == text.as_bytes()) {
                found.push(path.display().to_string());
            }
        }
        found
    }

    #[test]
    #[ignore = "needs PostgreSQL, see CONTRIBUTING.md"]
    fn connections_are_encrypted_as_the_address_says() {
        let folder = Folder::new();
        let certificates = [
            ("right", Certificate::new("IP:127.0.0.1,DNS:localhost", false, [2020, 2090])),
            ("authority", Certificate::new("IP:127.0.0.1,DNS:localhost", true, [2020, 2090])),
            ("other host", Certificate::new("DNS:db.example.com", false, [2020, 2090])),
            ("authority of another host", Certificate::new("DNS:db.example.com", true, [2020, 2090])),
            ("expired authority", Certificate::new("IP:127.0.0.1", true, [2020, 2021])),
            ("expired", Certificate::new("IP:127.0.0.1,DNS:localhost", false, [2020, 2021])),
        ];
        for (name, certificate) in &certificates {
            let cluster = Cluster::start_with_passwords(Some([&certificate.certificate, &certificate.key]));
            cluster.make("stage", STAGE);
            // Whoever is not encrypted is not let in, so that each mode shows whether it is.
            cluster.allow_encrypted_only();
            folder.write("root.crt", &certificate.certificate);
            let root = folder.path().join("root.crt").display().to_string();
            let is_valid = matches!(*name, "right" | "authority");
            let address = cluster.address(READER, "stage");
            let cases = [
                ("sslmode=disable".to_owned(), false, "no encryption"),
                ("sslmode=prefer".to_owned(), true, ""),
                ("sslmode=require".to_owned(), true, ""),
                (String::new(), true, ""),
                ("sslmode=verify-full".to_owned(), false, "sslrootcert=FILE"),
                (format!("sslmode=verify-full&sslrootcert={root}"), is_valid, "certificate"),
            ];
            for (options, is_let_in, message) in cases {
                let project = tempfile::tempdir_in(folder.path()).unwrap();
                let out = project.path().join("project").display().to_string();
                let init = ["init", "--db", &format!("{address}?{options}"), "--out", &out];
                let output = folder.command(&init).env("PGPASSWORD", PASSWORD).output().unwrap();
                let said = errors(&output);
                assert_eq!(output.status.success(), is_let_in, "{name}, {options}: {said}");
                assert!(is_let_in || said.contains(message), "{name}, {options}: {said}");
            }
        }
    }

    /// Starts to train, and waits until some steps with what programs find are recorded.
    fn train(folder: &Folder, run: &str) -> Child {
        let mut child = folder.command(&["train", "xpr.toml", "--out", run]);
        let child = child.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let start = Instant::now();
        let metrics = folder.path().join(run).join("metrics.jsonl");
        while !fs::read_to_string(&metrics).unwrap_or_default().contains("\"step\":20,") {
            assert!(start.elapsed() < Duration::from_secs(120), "no steps");
            thread::sleep(Duration::from_millis(2));
        }
        child
    }

    #[test]
    #[ignore = "needs PostgreSQL, see CONTRIBUTING.md"]
    fn training_goes_on_to_the_same_bits_when_the_server_comes_back() {
        let (cluster, folder) = (stage(), Folder::new());
        let address = format!("{}?reconnect_timeout=2", cluster.address(READER, "stage"));
        folder.write("xpr.toml", &SMALL.replace("ADDRESS", &address));
        let result = |run: &str| {
            ["model.safetensors", "metrics.jsonl", "predictions.jsonl"]
                .map(|file| folder.read(&format!("{run}/{file}")))
        };
        folder.xpr(&["train", "xpr.toml", "--out", "whole"]);

        let mut waits = train(&folder, "waits");
        cluster.stop();
        thread::sleep(Duration::from_millis(1000));
        assert!(waits.try_wait().unwrap().is_none(), "it ended without a server");
        cluster.resume();
        assert!(waits.wait().unwrap().success());
        assert!(result("waits") == result("whole"), "another result after the server was away");

        let gives_up = train(&folder, "gives_up");
        cluster.stop();
        let output = gives_up.wait_with_output().unwrap();
        let said = errors(&output);
        assert!(
            !output.status.success() && said.contains("the server went away and did not come back"),
            "{said}"
        );
        assert!(said.contains("--resume"), "{said}");
        assert!(!folder.path().join("gives_up/model.safetensors").exists());
        cluster.resume();
        folder.xpr(&["train", "--resume", "--out", "gives_up"]);
        assert!(result("gives_up") == result("whole"), "another result after resuming");
    }
}
