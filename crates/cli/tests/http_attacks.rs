//! Hostile requests (`attacks/http`) are refused or answered safely.
#![allow(clippy::unwrap_used, clippy::panic, reason = "these are tests")]

mod server;

use server::{Project, Response, Server};
use std::fs;
use std::path::Path;

/// A request, and the statuses one of which it must have.
struct Attack {
    place: String,
    expected: String,
    bytes: Vec<u8>,
}

/// Reads the attacks of a file. `\n` is the end of a line, `\\` a backslash, `\u{…}` a character, and `{{3*text}}` a repetition.
fn attacks(name: &str) -> Vec<Attack> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../attacks/http").join(name);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let lines = text.lines().enumerate().filter(|(_, line)| !line.starts_with('#'));
    lines
        .map(|(number, line)| {
            let fields: Vec<&str> = line.split('\t').collect();
            let head = unescaped(&repeated(fields[1]), "\r\n");
            let request = match fields.get(2) {
                Some(body) => {
                    let body = unescaped(&repeated(body), "\n");
                    format!("{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len())
                }
                None => format!("{head}\r\n\r\n"),
            };
            let place = format!("{name}:{}", number + 1);
            Attack { place, expected: fields[0].to_owned(), bytes: request.into_bytes() }
        })
        .collect()
}

fn repeated(text: &str) -> String {
    let Some((before, rest)) = text.split_once("{{") else { return text.to_owned() };
    let (repeat, after) = rest.split_once("}}").unwrap();
    let (count, what) = repeat.split_once('*').unwrap();
    format!("{before}{}{}", what.repeat(count.parse().unwrap()), repeated(after))
}

fn unescaped(text: &str, line_end: &str) -> String {
    let mut result = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        result.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('n') {
            result.push_str(line_end);
            rest = after;
        } else if let Some(after) = rest.strip_prefix('\\') {
            result.push('\\');
            rest = after;
        } else if let Some(after) = rest.strip_prefix('t') {
            result.push('\t');
            rest = after;
        } else if let Some(after) = rest.strip_prefix('0') {
            result.push('\0');
            rest = after;
        } else if let Some(after) = rest.strip_prefix("u{") {
            let (code, after) = after.split_once('}').unwrap();
            result.push(char::from_u32(u32::from_str_radix(code, 16).unwrap()).unwrap());
            rest = after;
        } else {
            result.push('\\');
        }
    }
    result + rest
}

/// Checks that a response gives nothing away and does nothing in a browser.
fn check_response(attack: &Attack, response: &Response, folder: &Path) {
    let Attack { place, .. } = attack;
    let folder = folder.file_name().unwrap().to_str().unwrap();
    for secret in [folder, "stage.db", "/tmp", "rusqlite", "panicked", "src/"] {
        let is_echo = String::from_utf8_lossy(&attack.bytes).contains(secret);
        assert!(is_echo || !response.body.contains(secret), "{place} shows {secret}: {}", response.body);
    }
    // What the protocol itself refuses has no page.
    let Some(kind) = response.header("content-type") else {
        assert_eq!(response.body, "", "{place}");
        return;
    };
    let csp = response.header("content-security-policy").unwrap_or_default();
    assert!(csp.contains("default-src 'none'") && !csp.contains("unsafe"), "{place}: {csp}");
    assert_eq!(response.header("x-content-type-options"), Some("nosniff"), "{place}");
    assert_eq!(response.header("access-control-allow-origin"), None, "{place}");
    match kind {
        "text/html; charset=utf-8" => {
            for markup in ["<script>", "onerror=alert", "onfocus=\"alert"] {
                assert!(!response.body.contains(markup), "{place} has {markup}: {}", response.body);
            }
        }
        _ if attack.bytes.starts_with(b"HEAD ") => assert_eq!(response.body, "", "{place}"),
        "application/problem+json" => {
            let problem = response.json();
            assert_eq!(problem["status"], response.status, "{place}");
            for field in ["type", "title", "detail"] {
                assert!(problem[field].as_str().is_some_and(|text| !text.is_empty()), "{place}: {problem}");
            }
        }
        kind => assert!(response.status < 400, "{place} is refused with {kind}: {}", response.body),
    }
}

fn run(project: &Project, server: &Server, files: &[&str]) -> usize {
    let database = project.database();
    let mut count = 0;
    let mut wrong = Vec::new();
    for attack in files.iter().flat_map(|name| attacks(name)) {
        let response = server.send(&attack.bytes);
        let status =
            response.as_ref().map_or_else(|| "closed".to_owned(), |response| response.status.to_string());
        let body = response.as_ref().map(|response| response.body.as_str());
        if !attack.expected.split(',').any(|expected| expected == status) {
            wrong.push(format!("{} has {status} instead of {}: {body:?}", attack.place, attack.expected));
        }
        if let Some(response) = &response {
            check_response(&attack, response, project.folder.path());
        }
        count += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(server.get("/v1/health/ready").status, 200, "the server goes on");
    assert!(project.database() == database, "the database changed");
    let others: Vec<String> = fs::read_dir(project.folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(others.len(), 2, "files appeared: {others:?}");
    count
}

#[test]
fn hostile_requests_are_refused_or_answered_safely() {
    let project = Project::new();
    let server = project.serve(&["--rate-limit", "0"]);
    // Feedback of the attacks is about a question that exists.
    assert_eq!(server.ask("how many singers are there")["id"], 1);
    let files = [
        "hosts.tsv",
        "origins.tsv",
        "framing.tsv",
        "bodies.tsv",
        "mcp.tsv",
        "paths.tsv",
        "queries.tsv",
        "markup.tsv",
    ];
    let mut count = run(&project, &server, &files);
    let said = project.xpr(&["log", "stage/run", "--judged", "--tsv"]);
    assert_eq!(said.lines().count(), 1, "no attack left feedback: {said}");
    drop(server);
    fs::write(project.path("stage/token"), "0123456789abcdef\n").unwrap();
    let server = project.serve(&["--rate-limit", "0", "--token-file", "stage/token"]);
    count += run(&project, &server, &["tokens.tsv"]);
    assert!(count >= 60, "there are only {count} attacks");
}

#[test]
fn a_client_that_sends_too_much_is_refused_and_comes_back() {
    let project = Project::new();
    let server = project.serve(&["--rate-limit", "10"]);
    let statuses: Vec<u16> = (0..40).map(|_| server.get("/v1/runs").status).collect();
    let refused = statuses.iter().filter(|status| **status == 429).count();
    assert!(refused > 0 && statuses[0] == 200, "{statuses:?}");
    let response =
        std::iter::repeat_with(|| server.get("/v1/runs")).find(|response| response.status == 429).unwrap();
    assert_eq!(response.header("retry-after"), Some("1"));
    std::thread::sleep(std::time::Duration::from_secs(2));
    assert_eq!(server.get("/v1/runs").status, 200);
}

/// Issue 19: the queries of people pass the guard of the parser's own.
#[test]
fn hostile_statements_do_no_harm_over_http() {
    let project = Project::new();
    let server = project.serve(&["--rate-limit", "0", "--no-log"]);
    let database = project.database();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../attacks/sql");
    let mut count = 0;
    for file in fs::read_dir(&folder).unwrap() {
        let path = file.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.starts_with('#')) {
            let Some((_, statement)) = line.split_once('\t') else { continue };
            let statement = unescaped(&repeated(statement), "\n");
            let response = server.post("/v1/run", &serde_json::json!({ "sql": statement }));
            let place = format!("{}:{}", path.display(), number + 1);
            assert!(
                matches!(response.status, 200 | 413 | 422),
                "{place} has {}: {}",
                response.status,
                response.body
            );
            for secret in ["stage.db", "/tmp", "rusqlite"] {
                assert!(
                    statement.contains(secret) || !response.body.contains(secret),
                    "{place}: {}",
                    response.body
                );
            }
            count += 1;
        }
    }
    assert!(count > 300, "there are only {count} statements");
    assert!(project.database() == database, "the database changed");
    assert_eq!(server.get("/v1/health/ready").status, 200, "the server goes on");
}
