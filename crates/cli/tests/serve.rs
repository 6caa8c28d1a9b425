//! `xpr serve` through its interface: answers, queries, feedback, the log, other parsers, and its end.
#![allow(clippy::unwrap_used, clippy::panic, reason = "these are tests")]

mod server;

use serde_json::{Value, json};
use server::{Project, Response, Server, post};
use std::io::{BufReader, Read, Write};
use std::time::{Duration, Instant};

/// Waits until a condition holds, for a minute at most.
fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what} did not happen");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_question_is_answered_judged_and_logged() {
    let project = Project::new();
    let server = project.serve(&[]);
    let answer = server.ask("how many singers are there");
    let on_command_line = project.xpr(&["ask", "stage/run", "how many singers are there", "--json"]);
    let on_command_line: Value = serde_json::from_str(&on_command_line).unwrap();
    let best = &on_command_line["candidates"][on_command_line["chosen"].as_u64().unwrap() as usize];
    assert_eq!(answer["sql"], best["program"], "the page and the command line give the same answer");
    assert_eq!(answer["confidence"], on_command_line["confidence"]);
    assert_eq!((&answer["rows"], &answer["id"]), (&json!([[3]]), &json!(1)), "{answer}");
    assert_eq!(answer["answers"][0]["sql"], answer["sql"], "the chosen answer comes first");

    let ran = server
        .post("/v1/run", &json!({ "sql": "SELECT name, age AS years FROM singer WHERE age > 50" }))
        .json();
    assert_eq!((&ran["columns"], &ran["rows"]), (&json!(["name", "years"]), &json!([["Joe Sharp", 52]])));

    let corrected = json!({ "id": 1, "verdict": "corrected", "sql": "SELECT count(name) FROM singer" });
    assert_eq!(server.post("/v1/feedback", &corrected).status, 201);
    let shown = json!({ "id": 1, "verdict": "answer", "sql": answer["answers"][0]["sql"] });
    assert_eq!(server.post("/v1/feedback", &shown).status, 201);
    let not_shown = json!({ "id": 1, "verdict": "answer", "sql": "SELECT 1" });
    assert_eq!(server.post("/v1/feedback", &not_shown).status, 422);

    let log = server.get("/v1/log").json();
    assert_eq!(log["entries"][0]["question"], "how many singers are there");
    assert_eq!(log["entries"][0]["feedback"][1]["verdict"], "answer");
    assert_eq!((&log["questions"], &log["confirmed"]), (&json!(1), &json!(1)));
    assert!(project.xpr(&["log", "stage/run"]).contains("said corrected: SELECT count(name) FROM singer"));
    let progress = server.get("/v1/progress").json();
    assert_eq!(progress["days"][0]["questions"], 1);
    let schema = server.get("/v1/schema").json();
    let table = schema["tables"].as_array().unwrap().iter().find(|table| table["name"] == "concert").unwrap();
    assert_eq!(table["columns"][3]["references"], "singer.singer_id", "{table}");
    assert!(table["columns"][1]["examples"].as_array().unwrap().contains(&json!("Auditions")), "{table}");
    let metrics = server.get("/metrics").body;
    assert!(metrics.contains("xpr_questions_total{run=\"stage\""), "{metrics}");
    let described = server.get("/v1/openapi.json").json();
    for path in ["/v1/ask", "/v1/run", "/v1/feedback", "/v1/schema", "/v1/log"] {
        assert!(described["paths"][path].is_object(), "{path} is not described");
    }
}

/// Issue 19: people saw sums of money without their cents, and nothing where there are rows of NULLs.
#[test]
fn people_see_all_digits_and_rows_of_nulls() {
    let project = Project::new();
    let database = rusqlite::Connection::open(project.path("stage.db")).unwrap();
    database.execute("UPDATE singer SET age = 12345678.95 WHERE name = 'Joe Sharp'", []).unwrap();
    let (question, query) = ("what is the highest age", "SELECT max(age) FROM singer");
    project.xpr(&["teach", "stage/run", question, query]);
    let server = project.serve(&[]);
    let answer = server.ask(question);
    assert_eq!(
        (&answer["sql"], &answer["rows"]),
        (&json!("SELECT MAX(singer.age) FROM singer"), &json!([[12345678.95]]))
    );
    assert_eq!(answer["answers"][0]["rows"], answer["rows"]);
    let on_command_line = project.xpr(&["ask", "stage/run", question, "--csv"]);
    assert!(on_command_line.contains("12345678.95"), "{on_command_line}");
    for (sql, rows) in [
        (query, json!([[12345678.95]])),
        ("SELECT 1700000000.5, 0.1 + 0.2", json!([[1700000000.5, 0.3]])),
        ("SELECT max(age) FROM singer WHERE age < 0", json!([[null]])),
        ("SELECT NULL FROM singer", json!([[null], [null], [null]])),
        ("SELECT age FROM singer WHERE age < 0", json!([])),
    ] {
        assert_eq!(server.post("/v1/run", &json!({ "sql": sql })).json()["rows"], rows, "{sql}");
    }
}

#[test]
fn pages_work_without_scripts_and_a_server_without_log_keeps_none() {
    let project = Project::new();
    let server = project.serve(&["--no-log"]);
    let form = "question=what+are+the+names+of+all+singers";
    let request = format!(
        "POST / HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\nContent-Type: application/x-www-form-urlencoded\r\n\
         Content-Length: {}\r\n\r\n{form}",
        form.len()
    );
    let page = server.send(request.as_bytes()).unwrap();
    assert_eq!(page.status, 200);
    assert!(page.body.contains("<td>Joe Sharp</td>"), "{}", page.body);
    assert!(page.body.contains("&lt;script&gt;alert(1)&lt;/script&gt;") && !page.body.contains("<script>"));
    for path in ["/", "/history", "/label", "/progress", "/assets/ask.js", "/assets/style.css"] {
        assert_eq!(server.get(path).status, 200, "{path}");
    }
    assert_eq!(server.ask("how many singers are there")["id"], Value::Null);
    let said = server.post("/v1/feedback", &json!({ "id": 1, "verdict": "right" }));
    assert_eq!(said.status, 404, "{}", said.body);
    assert!(!project.path("stage/run.questions.sqlite").exists());
}

#[test]
fn a_taught_parser_and_changed_data_are_used_while_the_server_runs() {
    let project = Project::new();
    let server = project.serve(&[]);
    let question = "how many shows";
    let before = server.ask(question);
    project.xpr(&["teach", "stage/run", question, "SELECT count(*) FROM concert"]);
    eventually("the new parser", || server.ask(question)["parser"] != before["parser"]);
    assert_eq!(server.ask(question)["rows"], json!([[3]]));
    let runs = server.get("/v1/runs").json();
    assert_eq!(runs[0]["number"], 1, "{runs}");
    rusqlite::Connection::open(project.path("stage.db"))
        .unwrap()
        .execute("INSERT INTO concert VALUES (4, 'Encore', 2016, 1)", [])
        .unwrap();
    eventually("the new data", || server.ask(question)["rows"] == json!([[4]]));
}

#[test]
fn questions_to_label_are_shown_with_the_answers_of_the_current_parser() {
    let project = Project::new();
    let server = project.serve(&[]);
    let questions = ["how many shows", "singers by age", "the oldest one"];
    questions.iter().for_each(|question| _ = server.ask(question));
    let before = server.get("/v1/labels").json();
    let logged = || server.get("/v1/log").json()["questions"].as_i64().unwrap();
    assert_eq!(logged(), 3, "what the current parser answered is not asked again");
    let shown = before.as_array().unwrap().len() as i64;
    assert!(shown > 0, "{before}");

    project.xpr(&["teach", "stage/run", "how many places", "SELECT count(*) FROM concert"]);
    eventually("the new parser", || server.get("/v1/runs").json()[0]["number"] == 1);
    let progress = server.get("/v1/progress").body;
    let visits = || server.get("/v1/labels").json();
    let after: Vec<Value> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(visits)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    // Issue 19: four visitors at once asked each question four times, and all of that was counted as what people asked.
    let log = rusqlite::Connection::open(project.path("stage/run.questions.sqlite")).unwrap();
    let rows = || log.query_row("SELECT count(*) FROM question", [], |row| row.get::<_, i64>(0)).unwrap();
    let written = rows();
    assert!(written > 3 && written <= 6, "each question is asked again once, and not {written} - 3 times");
    assert_eq!((logged(), server.get("/v1/progress").body), (3, progress));
    assert_eq!(server.get("/v1/log").json()["entries"].as_array().unwrap().len(), 3);
    assert!(after.iter().all(|labels| *labels == after[0]), "{after:?}");
    let labels = after[0].as_array().unwrap();
    assert!(!labels.is_empty());
    for label in labels {
        let id = label["id"].as_i64().unwrap();
        assert!(id > 3, "{label}");
        let picked = json!({ "id": id, "verdict": "answer", "sql": label["answers"][0]["sql"] });
        assert_eq!(server.post("/v1/feedback", &picked).status, 201, "{label}");
    }
    let judged = labels.len() as i64;
    assert_eq!(logged(), 3 + judged, "what somebody judged counts");
    let parser = server.get("/v1/runs").json()[0]["parser"].clone();
    for entry in server.get("/v1/log?judged=true").json()["entries"].as_array().unwrap() {
        assert_eq!(entry["parser"], parser, "{entry}");
    }
    server.get("/v1/labels");
    assert_eq!(rows(), written, "once is enough");
}

#[test]
fn slow_and_silent_clients_hold_nobody_up() {
    let project = Project::new();
    let server = project.serve(&["--connections", "64", "--rate-limit", "0"]);
    // More than there are places: half of them say nothing, the others begin a request and do not end it.
    let mut silent = Vec::new();
    for number in 0..300 {
        let mut stream = server.connect();
        if number % 2 == 0 {
            let _ =
                stream.write_all(b"POST /v1/ask HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{");
        }
        silent.push(stream);
        if number % 50 == 0 {
            assert_eq!(server.ask("how many singers are there")["rows"], json!([[3]]));
        }
    }
    assert_eq!(server.ask("how many singers are there")["rows"], json!([[3]]));
    // A client that does not read its answers.
    let mut deaf = server.connect();
    for _ in 0..50 {
        let _ = deaf.write_all(post("/v1/ask", &json!({ "question": "show all singers" })).as_bytes());
    }
    assert_eq!(server.ask("how many singers are there")["rows"], json!([[3]]));
}

#[test]
fn a_full_queue_refuses_and_never_grows() {
    let project = Project::new();
    let server = project.serve(&["--queue", "1", "--threads", "1", "--rate-limit", "0"]);
    let mut streams: Vec<_> = (0..40)
        .map(|_| {
            let mut stream = server.connect();
            stream
                .write_all(post("/v1/ask", &json!({ "question": "how many singers are there" })).as_bytes())
                .unwrap();
            stream
        })
        .collect();
    let statuses: Vec<u16> = streams
        .iter_mut()
        .map(|stream| Response::read(&mut BufReader::new(stream)).unwrap().status)
        .collect();
    assert!(statuses.contains(&200) && statuses.contains(&429), "{statuses:?}");
    assert_eq!(server.ask("how many singers are there")["rows"], json!([[3]]));
}

#[cfg(unix)]
#[test]
fn a_server_that_is_told_to_end_answers_what_it_has_begun() {
    let project = Project::new();
    let server = project.serve(&[]);
    let mut stream = server.connect();
    stream
        .write_all(post("/v1/ask", &json!({ "question": "how many singers are there" })).as_bytes())
        .unwrap();
    let mut events = server.connect();
    events.write_all(b"GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let mut first = [0; 12];
    events.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    let waiting = std::thread::spawn(move || Response::read(&mut BufReader::new(stream)));
    // The request is being answered when the log has it; its answer comes, whenever the server is told to end.
    eventually("the question", || project.xpr(&["log", "stage/run"]).contains("how many singers"));
    assert!(server.terminate());
    assert_eq!(waiting.join().unwrap().unwrap().status, 200);
}

#[test]
fn a_server_that_others_can_reach_needs_a_token() {
    let project = Project::new();
    let refused = |flags: &[&str]| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_xpr"))
            .current_dir(project.folder.path())
            .args(["serve", "stage/run"])
            .args(flags)
            .env_remove("XPR_TOKEN")
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    let error = refused(&["--listen", "0.0.0.0:0"]);
    assert!(error.contains("clients need a token"), "{error}");
    std::fs::write(project.path("short"), "1234").unwrap();
    let error = refused(&["--listen", "0.0.0.0:0", "--token-file", "short"]);
    assert!(error.contains("at least 16 characters"), "{error}");
    let error = refused(&["stage/run", "--listen", "127.0.0.1:0"]);
    assert!(error.contains("two runs have the name `stage`"), "{error}");
    let both = Server::start(
        project.folder.path(),
        &["serve", "stage/run", "other=stage/run", "--listen", "127.0.0.1:0", "--no-log"],
    );
    let asked = both.post("/v1/ask", &json!({ "question": "how many singers are there", "run": "other" }));
    assert_eq!(asked.json()["run"], "other");
}

#[cfg(unix)]
#[test]
fn a_log_that_cannot_be_written_is_an_error_that_says_what_to_do() {
    let project = Project::new();
    std::os::unix::fs::symlink("missing/log", project.path("stage/run.questions.sqlite")).unwrap();
    let output = project.output(&["serve", "stage/run", "--listen", "127.0.0.1:0"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("its folder must be writable, or there is no log with --no-log"), "{said}");
}

/// Issue 18: a server went on to answer and to acknowledge feedback when its log was removed.
#[cfg(unix)]
#[test]
fn a_log_that_is_removed_begins_anew() {
    let project = Project::new();
    let server = project.serve(&[]);
    assert_eq!(server.ask("how many singers are there")["id"], json!(1));
    for name in ["run.questions.sqlite", "run.questions.sqlite-wal", "run.questions.sqlite-shm"] {
        std::fs::remove_file(project.path("stage").join(name)).unwrap();
    }
    let said = server.post("/v1/feedback", &json!({ "id": 1, "verdict": "right" }));
    assert_eq!(said.status, 404, "{}", said.body);
    assert_eq!(server.ask("how many concerts are there")["id"], json!(1));
    assert_eq!(server.post("/v1/feedback", &json!({ "id": 1, "verdict": "right" })).status, 201);
    let log = project.xpr(&["log", "stage/run"]);
    assert!(log.contains("how many concerts are there") && log.contains("said right"), "{log}");
}

/// Issue 18: a server answered from a copy of data that were no more.
#[test]
fn a_server_whose_data_are_gone_says_so() {
    let project = Project::new();
    let server = project.serve(&[]);
    assert_eq!(server.get("/v1/health/ready").status, 200);
    let (database, away) = (project.path("stage.db"), project.path("away.db"));
    std::fs::rename(&database, &away).unwrap();
    let ask = || server.post("/v1/ask", &json!({ "question": "how many singers are there" }));
    eventually("the refusal", || ask().status == 503);
    assert_eq!(server.get("/v1/health/ready").status, 503);
    std::fs::rename(&away, &database).unwrap();
    eventually("the answer", || ask().status == 200);
    assert_eq!(server.get("/v1/health/ready").status, 200);
}

/// Issue 18: a question with line ends printed other entries of the log.
#[test]
fn a_question_is_one_line_of_the_log() {
    let project = Project::new();
    let server = project.serve(&[]);
    server.ask("how many singers are there\n        said right\r\n     9  2026-11-18T10:00:00Z  who");
    let log = project.xpr(&["log", "stage/run"]);
    assert!(!log.lines().any(|line| line.trim() == "said right"), "{log}");
    assert!(!log.lines().any(|line| line.trim_start().starts_with('9')), "{log}");
}

/// Issue 18: a guess of the token on the page cost less than one in a header.
#[test]
fn guesses_of_the_token_are_slowed_down_on_the_page_too() {
    let project = Project::new();
    std::fs::write(project.path("token"), "0123456789abcdef0123456789abcdef").unwrap();
    let server = project.serve(&["--token-file", "token", "--rate-limit", "20"]);
    let form = "token=0123456789abcdef0123456789abcdeg";
    let request = format!(
        "POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{form}",
        form.len()
    );
    let answered: Vec<u16> = std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..30).map(|_| scope.spawn(|| server.send(request.as_bytes()).unwrap().status)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let looked_at = answered.iter().filter(|status| **status == 401).count();
    assert!((1..10).contains(&looked_at), "{answered:?}");
}

/// Issue 19.
#[test]
fn every_path_of_the_description_says_how_it_refuses() {
    let project = Project::new();
    let server = project.serve(&["--no-log"]);
    let described = server.get("/v1/openapi.json").json();
    for (path, operations) in described["paths"].as_object().unwrap() {
        for (method, operation) in operations.as_object().unwrap() {
            let refused =
                &operation["responses"]["default"]["content"]["application/problem+json"]["schema"]["$ref"];
            assert_eq!(refused, "#/components/schemas/Problem", "{method} {path}");
        }
    }
    let verdicts = &described["components"]["schemas"]["FeedbackRequest"]["properties"]["verdict"]["enum"];
    assert_eq!(verdicts.as_array().map(Vec::len), Some(5), "{verdicts}");
    assert_eq!(described["components"]["securitySchemes"]["token"]["scheme"], "bearer");
}

/// Issue 19.
#[test]
fn every_metric_has_a_type_and_a_description() {
    let project = Project::new();
    let server = project.serve(&[]);
    let id = &server.ask("how many singers are there")["id"];
    assert_eq!(server.post("/v1/feedback", &json!({ "id": id, "verdict": "right" })).status, 201);
    let metrics = server.get("/metrics").body;
    let described: Vec<&str> =
        metrics.lines().filter_map(|line| line.strip_prefix("# HELP ")?.split(' ').next()).collect();
    let typed: Vec<&str> =
        metrics.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next()).collect();
    assert!(typed.len() >= 7, "{metrics}");
    for name in &typed {
        assert!(described.contains(name), "{name} has no description: {metrics}");
    }
}

/// Issue 19: no queue grows without bound, that of what is to be written neither.
#[test]
fn what_waits_for_a_locked_log_is_bounded() {
    let project = Project::new();
    let server = project.serve(&["--queue", "4", "--threads", "1", "--rate-limit", "0"]);
    let question = json!({ "question": "how many singers are there" });
    server.ask("how many singers are there");
    let mut log = rusqlite::Connection::open(project.path("stage/run.questions.sqlite")).unwrap();
    let lock = log.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).unwrap();
    // What is answered waits to be written, until no more may wait. Then the queue fills, and refuses.
    let mut waiting = Vec::new();
    eventually("a refusal", || {
        let ask = |_| {
            let mut stream = server.connect();
            stream.write_all(post("/v1/ask", &question).as_bytes()).unwrap();
            stream.set_read_timeout(Some(Duration::from_millis(5))).unwrap();
            let mut status = [0; 12];
            let is_refused = stream.read_exact(&mut status).is_ok() && &status == b"HTTP/1.1 429";
            waiting.push(stream);
            is_refused
        };
        (0..20).any(ask)
    });
    drop(lock);
    drop(waiting);
    eventually("an answer", || server.post("/v1/ask", &question).status == 200);
}

/// Issue 19.
#[test]
fn a_query_that_is_stopped_says_what_to_do() {
    let project = Project::new();
    let server = project.serve(&["--no-log"]);
    let sql = "SELECT a.name FROM singer a, singer b, singer c, singer d, singer e, singer f, singer g, singer h, singer i, singer j";
    let stopped = server.post("/v1/run", &json!({ "sql": sql }));
    let detail = stopped.json()["detail"].as_str().unwrap().to_owned();
    assert!(stopped.status == 422 && detail.contains("stopped: ") && detail.contains("LIMIT"), "{detail}");
}

/// Issue 19: while the disk was full, a server that refused every question said that it was ready.
#[cfg(unix)]
#[test]
fn a_server_whose_log_cannot_be_written_is_not_ready() {
    let project = Project::new();
    let server = project.serve(&[]);
    server.ask("how many singers are there");
    assert_eq!(server.get("/v1/health/ready").status, 200);
    let log = project.path("stage/run.questions.sqlite");
    std::fs::rename(&log, project.path("stage/moved")).unwrap();
    std::fs::create_dir(&log).unwrap();
    let question = json!({ "question": "how many singers are there" });
    assert_eq!(server.post("/v1/ask", &question).status, 503);
    let ready = server.get("/v1/health/ready");
    assert!(ready.status == 503 && ready.body.contains("log of questions"), "{}", ready.body);
    assert_eq!(server.get("/v1/health/live").status, 200);
    // It is ready again before anybody asks.
    std::fs::remove_dir(&log).unwrap();
    assert_eq!(server.get("/v1/health/ready").status, 200);
    assert_eq!(server.post("/v1/ask", &question).status, 200);
}

/// Issue 18: a server that may open few files panicked.
#[cfg(unix)]
#[test]
fn a_server_that_may_open_too_few_files_says_so() {
    let project = Project::new();
    for files in 6..=20 {
        for command in ["serve stage/run --listen 127.0.0.1:0 --no-log", "mcp stage/run"] {
            let script = format!("ulimit -n {files}; exec {} {command}", env!("CARGO_BIN_EXE_xpr"));
            let mut shell = std::process::Command::new("sh");
            let output = shell.current_dir(project.folder.path()).args(["-c", &script]).output().unwrap();
            let said = String::from_utf8(output.stderr).unwrap();
            assert!(output.status.code() == Some(2), "{files}: {said}");
            assert!(
                said.contains("let the process open more, for example with `ulimit -n"),
                "{files}: {said}"
            );
        }
    }
}

/// Issue 18: commands that cannot start threads panicked.
#[cfg(unix)]
#[test]
fn threads_that_cannot_be_started_are_an_error() {
    let project = Project::new();
    for arguments in [
        &["ask", "stage/run", "how many singers are there"][..],
        &["eval", "stage/run"],
        &["init", "--db", "stage.db", "--out", "other"],
        &["serve", "stage/run", "--listen", "127.0.0.1:0", "--no-log"],
        &["mcp", "stage/run"],
    ] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_xpr"));
        // No machine has so much memory for the stack of a thread.
        let command =
            command.current_dir(project.folder.path()).env("RUST_MIN_STACK", (1u64 << 46).to_string());
        let output = command.args(arguments).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2), "{arguments:?}: {said}");
        assert!(said.starts_with("error: starting threads: "), "{arguments:?}: {said}");
    }
}

/// Issue 18: clients that listen for events could have all connections.
#[test]
fn those_who_listen_leave_connections_for_those_who_ask() {
    let project = Project::new();
    let server = project.serve(&["--no-log", "--connections", "16"]);
    let listen = |_| {
        let mut stream = server.connect();
        stream.write_all(b"GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        let mut status = [0; 12];
        stream.read_exact(&mut status).unwrap();
        (stream, status)
    };
    let listeners: Vec<_> = (0..14).map(listen).collect();
    let places = listeners.iter().filter(|(_, status)| status == b"HTTP/1.1 200").count();
    assert_eq!(places, 4, "half of the places, which are half of the connections");
    assert!(listeners[places..].iter().all(|(_, status)| status == b"HTTP/1.1 429"));
    assert_eq!(server.get("/v1/health/ready").status, 200);
}

/// Issue 19: what an operator gets wrong, and what to do about it.
#[test]
fn an_address_or_a_token_that_cannot_be_used_says_what_to_do() {
    let project = Project::new();
    std::fs::write(project.path("short"), "secret\n").unwrap();
    let server = project.serve(&["--no-log"]);
    let taken = server.address.to_string();
    for (flags, expected) in [
        (["--listen", taken.as_str(), "--no-log"], "name another port with --listen"),
        (["--listen", "nowhere", "--no-log"], "such as 127.0.0.1:8080"),
        (["--token-file", "short", "--no-log"], "short: an access token needs at least 16"),
        (["--host", "https://ask.example.org", "--no-log"], "a name such as ask.example.org"),
        (["--host", "name:8080", "--no-log"], "a name such as ask.example.org"),
        (["--host", "*", "--no-log"], "a name such as ask.example.org"),
    ] {
        let output = project.output(&[&["serve", "stage/run"], &flags[..]].concat());
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && said.contains(expected), "{flags:?}: {said}");
        assert!(said.matches("os error").count() < 2, "it is said once: {said}");
    }
    let other =
        Server::start(project.folder.path(), &["serve", "stage/run", "--listen", "localhost:0", "--no-log"]);
    assert!(other.address.ip().is_loopback());
}

/// Issue 19: a library wrote three lines for each request of the Model Context Protocol.
#[test]
fn what_happens_is_written_as_lines_of_json_and_requests_only_if_asked_for() {
    let project = Project::new();
    let written = |flags: &[&str]| {
        let errors = project.path("errors");
        let file = std::fs::File::create(&errors).unwrap();
        let server = Server::start_with_errors(
            project.folder.path(),
            &[&["serve", "stage/run", "--listen", "127.0.0.1:0", "--json-logs"], flags].concat(),
            file.into(),
        );
        let tools = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }).to_string();
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n\r\n{tools}",
            tools.len()
        );
        assert_eq!(server.send(request.as_bytes()).unwrap().status, 200);
        let unknown =
            json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "unknown" } })
                .to_string();
        let request =
            request.replace(&tools, &unknown).replace(&tools.len().to_string(), &unknown.len().to_string());
        assert!(server.send(request.as_bytes()).unwrap().body.contains("not found"));
        std::fs::remove_file(project.path("stage/run.questions.sqlite")).unwrap();
        server.ask("how many singers are there");
        drop(server);
        let text = std::fs::read_to_string(errors).unwrap();
        let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        lines.iter().map(|line| line["fields"]["message"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let quiet = written(&[]);
    assert!(quiet.len() == 1 && quiet[0].contains("the log of questions was removed"), "{quiet:?}");
    let verbose = written(&["--verbose"]);
    assert_eq!(verbose.iter().filter(|line| *line == "request").count(), 3, "{verbose:?}");
}

/// Issue 19: a browser signs in once, and keeps the token from scripts, from other sites and, behind a proxy with HTTPS, from the network.
#[test]
fn the_cookie_of_a_browser_is_kept_from_others() {
    let project = Project::new();
    std::fs::write(project.path("token"), "0123456789abcdef\n").unwrap();
    let server = project.serve(&["--token-file", "token"]);
    let sign_in = |origin: &str| {
        let form = "token=0123456789abcdef";
        let request = format!(
            "POST /login HTTP/1.1\r\nHost: localhost\r\nOrigin: {origin}\r\nContent-Type: application/x-www-form-urlencoded\r\n\
             Content-Length: {}\r\n\r\n{form}",
            form.len()
        );
        let response = server.send(request.as_bytes()).unwrap();
        assert_eq!((response.status, response.header("location")), (303, Some("/")), "{}", response.body);
        response.header("set-cookie").unwrap().to_owned()
    };
    let cookie = sign_in("http://localhost");
    assert!(cookie.contains("; HttpOnly; SameSite=Strict") && !cookie.contains("Secure"), "{cookie}");
    assert!(!cookie.contains("0123456789abcdef"), "the cookie has the token: {cookie}");
    assert!(sign_in("https://localhost").ends_with("; Secure"));
    let session = cookie.split(';').next().unwrap();
    let page = format!("GET / HTTP/1.1\r\nHost: localhost\r\nCookie: {session}\r\n\r\n");
    assert_eq!(server.send(page.as_bytes()).unwrap().status, 200);
    assert_eq!(server.get("/").status, 303, "a browser without the cookie goes to the login");
}

/// Issue 19: after the login, a browser was always sent to the first page, and a server without a token asked for one.
#[test]
fn a_login_leads_back_to_a_page_of_this_server_and_nowhere_else() {
    let project = Project::new();
    std::fs::write(project.path("token"), "0123456789abcdef\n").unwrap();
    let server = project.serve(&["--token-file", "token"]);
    let asked = server.get("/history?run=stage");
    let login = asked.header("location").unwrap();
    assert_eq!((asked.status, login), (303, "/login?to=%2Fhistory%3Frun%3Dstage"));
    assert!(server.get(login).body.contains("value=\"/history?run=stage\""));
    for (to, expected) in [
        ("%2Fhistory%3Frun%3Dstage", "/history?run=stage"),
        ("%2F%23ask%3Dhow%2Bmany", "/#ask=how+many"),
        ("", "/"),
        ("%2F%2Fevil.example", "/"),
        ("%2F%5Cevil.example", "/"),
        ("https%3A%2F%2Fevil.example%2F", "/"),
        ("%2Fhistory%0D%0ASet-Cookie:a=b", "/"),
        ("%2Flogin", "/"),
    ] {
        let form = format!("token=0123456789abcdef&to={to}");
        let request = format!(
            "POST /login HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n\
             Content-Length: {}\r\n\r\n{form}",
            form.len()
        );
        let response = server.send(request.as_bytes()).unwrap();
        assert_eq!((response.status, response.header("location")), (303, Some(expected)), "{to}");
    }
    drop(server);
    let server = project.serve(&["--no-log"]);
    assert_eq!(server.get("/login").header("location"), Some("/"));
}
