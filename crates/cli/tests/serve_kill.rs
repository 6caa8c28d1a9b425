//! A server and an improvement that are killed at any moment: what was acknowledged is kept, and the server starts again.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "these are tests")]

mod server;

use serde_json::{Value, json};
use server::{Project, Response, post};
use std::collections::BTreeMap;
use std::io::{BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;
use xpr_log::{QuestionId, QuestionLog, log_path};

const QUESTIONS: [&str; 4] = [
    "how many singers are there",
    "what are the names of all singers",
    "which singers are from France",
    "how many concerts were there in 2015",
];

/// The number of clients that ask when the server is killed.
const CLIENTS: usize = 4;

/// Returns how often the server is killed: `XPR_KILLS`, or a few times.
fn kills() -> u64 {
    std::env::var("XPR_KILLS").map_or(6, |kills| kills.parse().expect("XPR_KILLS is a number"))
}

/// Returns a number below `limit` that looks random, and is the same in every run of the test.
fn scattered(round: u64, limit: u64) -> u64 {
    let mixed = (round + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 32) % limit
}

/// What a client was told: the question of each number, and the last feedback that was acknowledged.
#[derive(Default)]
struct Told {
    asked: BTreeMap<i64, String>,
    said: BTreeMap<i64, &'static str>,
}

/// Asks and judges until the server is gone. Counts what is acknowledged.
fn converse(address: SocketAddr, client: usize, acknowledged: &AtomicUsize) -> Told {
    let mut told = Told::default();
    let Ok(stream) = TcpStream::connect(address) else { return told };
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let mut reader = BufReader::new(stream);
    let mut send = |path: &str, body: &Value| -> Option<Response> {
        reader.get_mut().write_all(post(path, body).as_bytes()).ok()?;
        Response::read(&mut reader)
    };
    for number in 0.. {
        let question = format!("{} {client} {number}", QUESTIONS[number % QUESTIONS.len()]);
        let Some(answer) =
            send("/v1/ask", &json!({ "question": question })).filter(|answer| answer.status == 200)
        else {
            break;
        };
        // An answer that is cut short was not sent completely, and acknowledges nothing.
        let Ok(answer) = serde_json::from_str::<Value>(&answer.body) else { break };
        let id = answer["id"].as_i64().unwrap();
        told.asked.insert(id, question);
        acknowledged.fetch_add(1, Relaxed);
        let verdict = if number % 2 == 0 { "right" } else { "wrong" };
        let kept = send("/v1/feedback", &json!({ "id": id, "verdict": verdict }));
        let Some(_) = kept.filter(|kept| kept.status == 201) else { break };
        told.said.insert(id, verdict);
        acknowledged.fetch_add(1, Relaxed);
    }
    told
}

/// Checks that the log has all that was acknowledged.
fn check_log(project: &Project, all: &[Told]) {
    let log = QuestionLog::open_existing(&log_path(&project.path("stage/run"))).unwrap();
    for told in all {
        for (id, question) in &told.asked {
            let entry = log.entry(QuestionId(*id)).unwrap();
            let entry = entry.unwrap_or_else(|| panic!("question {id} was answered and is not in the log"));
            assert_eq!(entry.asked.question, *question);
            let said = entry.last_feedback().map(|feedback| feedback.verdict.name());
            if let Some(verdict) = told.said.get(id) {
                assert_eq!(said, Some(*verdict), "feedback about question {id} was acknowledged");
            }
        }
    }
}

#[test]
fn what_a_killed_server_acknowledged_is_in_the_log() {
    let project = Project::new();
    let mut all = Vec::new();
    for round in 0..kills() {
        let mut server = project.serve(&["--rate-limit", "0"]);
        let (address, acknowledged) = (server.address, AtomicUsize::new(0));
        std::thread::scope(|scope| {
            let acknowledged = &acknowledged;
            let clients: Vec<_> = (0..CLIENTS)
                .map(|client| scope.spawn(move || converse(address, client, acknowledged)))
                .collect();
            // Killed after another number of answers each time, and in the middle of what comes next.
            let enough = scattered(round, 30) as usize;
            while acknowledged.load(Relaxed) < enough && clients.iter().any(|client| !client.is_finished()) {
                std::thread::sleep(Duration::from_millis(1));
            }
            std::thread::sleep(Duration::from_micros(scattered(round + 1000, 20_000)));
            server.child.kill().unwrap();
            server.child.wait().unwrap();
            all.extend(clients.into_iter().map(|client| client.join().unwrap()));
        });
        check_log(&project, &all);
    }
    let asked: usize = all.iter().map(|told| told.asked.len()).sum();
    let said: usize = all.iter().map(|told| told.said.len()).sum();
    assert!(asked > 0 && said > 0, "the server was never asked: {asked}, {said}");
    println!(
        "killed {} times; {asked} answers and {said} verdicts were acknowledged, and none was lost",
        kills()
    );
}

#[test]
fn a_killed_improvement_leaves_the_old_parser_serving() {
    let project = Project::new();
    let server = project.serve(&["--rate-limit", "0"]);
    let before = server.get("/v1/runs").json();
    for (question, sql) in [
        ("how many shows", "SELECT count(*) FROM concert"),
        ("who sings", "SELECT name FROM singer"),
        ("the oldest one who sings", "SELECT name FROM singer ORDER BY age DESC LIMIT 1"),
        ("all titles", "SELECT title FROM concert"),
        ("people from France", "SELECT name FROM singer WHERE country = 'France'"),
        ("where are they from", "SELECT DISTINCT country FROM singer"),
    ] {
        let id = server.ask(question)["id"].clone();
        let said = server.post("/v1/feedback", &json!({ "id": id, "verdict": "corrected", "sql": sql }));
        assert_eq!(said.status, 201, "{}", said.body);
    }
    for round in 0..kills().div_ceil(3) {
        let mut improvement = Command::new(env!("CARGO_BIN_EXE_xpr"))
            .current_dir(project.folder.path())
            .args(["improve", "stage/run"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(300 + scattered(round, 1200)));
        let ended = improvement.try_wait().unwrap();
        improvement.kill().unwrap();
        improvement.wait().unwrap();
        assert!(ended.is_none(), "the improvement ended before it was killed: {ended:?}");
        assert_eq!(server.ask(QUESTIONS[0])["rows"], json!([[3]]));
        assert_eq!(server.get("/v1/runs").json(), before, "another parser answers");
    }
    let started = project.serve(&["--rate-limit", "0"]);
    assert_eq!(started.get("/v1/runs").json(), before);
}
