//! The Model Context Protocol as a client talks it: `xpr mcp` over standard input and output, and `xpr serve` over HTTP.
#![allow(clippy::unwrap_used, reason = "these are tests")]

mod server;

use serde_json::{Value, json};
use server::{Project, Server};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use xpr_log::{QuestionLog, Selection, Verdict, log_path};

const MUSIC: &str = "
    CREATE TABLE artist (id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE album (id INTEGER PRIMARY KEY, title TEXT, artist_id INT REFERENCES artist (id), price REAL);
    INSERT INTO artist VALUES (1, 'Nina Simone'), (2, 'Bill Evans');
    INSERT INTO album VALUES (1, 'Pastel Blues', 1, 9.5), (2, 'Wild is the Wind', 1, 12), (3, 'Portrait in Jazz', 2, 8);
";

/// A client of the protocol.
struct Client {
    server: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    last: u64,
}

impl Client {
    fn connect(folder: &Path, flags: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_xpr"));
        command.current_dir(folder).args(["mcp", "music/run"]).args(flags);
        let mut server = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (server.stdin.take(), BufReader::new(server.stdout.take().unwrap()));
        let mut client = Client { server, input, output, last: 0 };
        let parameters = json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" },
        });
        let server = client.request("initialize", &parameters);
        assert_eq!(server["result"]["serverInfo"]["name"], "xpr", "{server}");
        client.write(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client
    }

    fn write(&mut self, message: &Value) {
        let input = self.input.as_mut().unwrap();
        writeln!(input, "{message}").unwrap();
        input.flush().unwrap();
    }

    fn request(&mut self, method: &str, parameters: &Value) -> Value {
        self.last += 1;
        self.write(&json!({ "jsonrpc": "2.0", "id": self.last, "method": method, "params": parameters }));
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        let response: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(response["id"], self.last, "{response}");
        response
    }

    /// Calls a tool. Returns its structured result, or the message of its failure. A result has what the tool promises (issue 19): clients
    /// refuse it otherwise.
    fn call(&mut self, tool: &str, arguments: &Value) -> Result<Value, String> {
        let response = self.request("tools/call", &json!({ "name": tool, "arguments": arguments }));
        let result = &response["result"];
        if result["isError"] == true || result.is_null() {
            return Err(response.to_string());
        }
        let result = result["structuredContent"].clone();
        let tools = self.request("tools/list", &json!({}));
        let tools = tools["result"]["tools"].as_array().unwrap();
        let schema = &tools.iter().find(|described| described["name"] == tool).unwrap()["outputSchema"];
        for name in schema["required"].as_array().unwrap() {
            let name = name.as_str().unwrap();
            assert!(result.get(name).is_some(), "{tool} returns no {name}: {result}");
        }
        for name in result.as_object().unwrap().keys() {
            assert!(schema["properties"].get(name).is_some(), "{tool} does not describe {name}");
        }
        Ok(result)
    }

    /// Ends the input, with which the server ends.
    fn close(mut self) {
        self.input = None;
        assert!(self.server.wait().unwrap().success());
    }
}

fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    rusqlite::Connection::open(folder.path().join("music.db")).unwrap().execute_batch(MUSIC).unwrap();
    let mut init = Command::new(env!("CARGO_BIN_EXE_xpr"));
    let init = init.current_dir(folder.path()).args(["init", "--db", "music.db"]).output().unwrap();
    assert!(init.status.success());
    folder
}

#[test]
fn a_client_asks_reads_the_schema_and_runs_queries_but_changes_nothing() {
    let folder = project();
    let before = fs::read(folder.path().join("music.db")).unwrap();
    let mut client = Client::connect(folder.path(), &[]);

    let tools = client.request("tools/list", &json!({}));
    let tools = tools["result"]["tools"].as_array().unwrap().clone();
    let mut names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, ["ask", "run", "schema"]);
    for tool in &tools {
        assert_eq!(tool["annotations"]["readOnlyHint"], true, "{tool}");
        assert_eq!(tool["annotations"]["openWorldHint"], false, "{tool}");
        assert_eq!(tool["outputSchema"]["type"], "object", "{tool}");
        // Issue 19: each question is a line of the log, and so a second call does more than the first.
        assert_eq!(tool["annotations"]["idempotentHint"], tool["name"] != "ask", "{tool}");
        let rows = &tool["inputSchema"]["properties"]["max_rows"];
        assert!(rows.is_null() || rows["type"] == json!(["integer", "null"]), "{tool}");
    }

    let answer = client.call("ask", &json!({ "question": "how many albums are there" })).unwrap();
    assert_eq!((&answer["sql"], &answer["rows"]), (&"SELECT COUNT(*) FROM album".into(), &json!([[3]])));
    assert!(answer["unsure"].is_boolean() && answer["row_count"] == 1, "{answer}");
    let declined = client.call("ask", &json!({ "question": "delete all albums" })).unwrap();
    assert!(declined["declined"].as_str().unwrap().contains("change the data"), "{declined}");

    let schema = client.call("schema", &json!({})).unwrap();
    assert_eq!(schema["tables"][1]["columns"][2]["references"], "artist.id", "{schema}");

    let rows =
        client.call("run", &json!({ "sql": "SELECT title FROM album ORDER BY id", "max_rows": 2 })).unwrap();
    assert_eq!(rows["rows"], json!([["Pastel Blues"], ["Wild is the Wind"]]));
    assert_eq!((&rows["row_count"], &rows["truncated"]), (&3.into(), &true.into()));
    // Issue 19: for JSON Schema, 2.0 is an integer.
    let sql = "SELECT title FROM album";
    assert_eq!(client.call("run", &json!({ "sql": sql, "max_rows": 2.0 })).unwrap()["truncated"], true);
    for bad in [json!(1.5), json!(-1), json!("2")] {
        assert!(client.call("run", &json!({ "sql": sql, "max_rows": bad })).is_err(), "{bad}");
    }
    for (sql, expected) in [
        ("DELETE FROM album", "refused: "),
        ("ATTACH DATABASE 'other.db' AS other", "refused: "),
        ("SELECT nothing FROM album", "nothing"),
    ] {
        let error = client.call("run", &json!({ "sql": sql })).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
    let error = client.call("ask", &json!({ "question": "how many ".repeat(300) })).unwrap_err();
    assert!(error.contains("a parser reads at most"), "{error}");
    assert!(answer["id"].is_null(), "without a log, a question has no number: {answer}");
    assert!(client.call("ask", &json!({ "text": "how many albums" })).is_err(), "parameters are checked");
    assert!(client.call("confirm", &json!({ "id": 1, "verdict": "right" })).is_err());
    client.close();
    assert_eq!(fs::read(folder.path().join("music.db")).unwrap(), before);
    assert!(
        !log_path(&folder.path().join("music/run")).exists(),
        "nothing is written without --allow-feedback"
    );
}

#[test]
fn feedback_is_written_to_the_log_if_it_is_allowed() {
    let folder = project();
    let mut client = Client::connect(folder.path(), &["--allow-feedback"]);
    let tools = client.request("tools/list", &json!({}));
    let tools = tools["result"]["tools"].as_array().unwrap().clone();
    let confirm = tools.iter().find(|tool| tool["name"] == "confirm").unwrap();
    assert_eq!(confirm["annotations"]["readOnlyHint"], false, "{confirm}");
    let question = "how many albums are there";
    let answer = client.call("ask", &json!({ "question": question })).unwrap();
    assert_eq!(answer["id"], 1, "{answer}");
    assert_eq!(client.call("confirm", &json!({ "id": 1, "verdict": "right" })).unwrap()["id"], 1);
    client.call("ask", &json!({ "question": "the catalogue" })).unwrap();
    let sql = "SELECT title FROM album";
    client.call("confirm", &json!({ "id": 2, "verdict": "corrected", "sql": sql })).unwrap();
    for (said, expected) in [
        (json!({ "id": 1, "verdict": "corrected" }), "needs"),
        (json!({ "id": 1, "verdict": "right", "sql": sql }), "has no place for a query"),
        (json!({ "id": 1, "verdict": "corrected", "sql": "SELECT x" }), "x"),
        (json!({ "id": 1, "verdict": "answer", "sql": sql }), "not one of the answers"),
        (json!({ "id": 9, "verdict": "right" }), "no question 9"),
    ] {
        let error = client.call("confirm", &said).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
    client.close();
    let log = QuestionLog::open_existing(&log_path(&folder.path().join("music/run"))).unwrap();
    let entries = log.entries(&Selection::default()).unwrap();
    let said: Vec<(&str, Verdict, Option<&str>)> = entries
        .iter()
        .map(|entry| (entry.asked.question.as_str(), &entry.feedback[0]))
        .map(|(question, feedback)| (question, feedback.verdict, feedback.program.as_deref()))
        .collect();
    assert_eq!(said, [(question, Verdict::Right, None), ("the catalogue", Verdict::Corrected, Some(sql))]);
    assert_eq!(entries[0].asked.program.as_deref(), Some("SELECT COUNT(*) FROM album"));
}

/// Calls a method over HTTP, as a client does that has no session.
fn post(server: &Server, path: &str, method: &str, parameters: &Value) -> Value {
    let message = json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": parameters }).to_string();
    let length = message.len();
    let request = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         MCP-Protocol-Version: 2025-06-18\r\nContent-Length: {length}\r\n\r\n{message}"
    );
    let response = server.send(request.as_bytes()).unwrap();
    assert_eq!(response.status, 200, "{}", response.body);
    response.json()
}

#[test]
fn a_server_offers_the_tools_of_each_run_over_http() {
    let project = Project::new();
    let server = project.serve(&["again=stage/run", "--allow-feedback"]);
    let initialize = json!({
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" },
    });
    let server_info = post(&server, "/mcp", "initialize", &initialize);
    assert_eq!(server_info["result"]["serverInfo"]["name"], "xpr", "{server_info}");
    let tools = post(&server, "/mcp", "tools/list", &json!({}));
    assert_eq!(tools["result"]["tools"].as_array().unwrap().len(), 4, "{tools}");

    let call = |path: &str, tool: &str, arguments: Value| {
        let response = post(&server, path, "tools/call", &json!({ "name": tool, "arguments": arguments }));
        response["result"]["structuredContent"].clone()
    };
    let asked = json!({ "question": "how many singers are there" });
    let answer = call("/mcp", "ask", asked.clone());
    assert_eq!((&answer["rows"], &answer["id"]), (&json!([[3]]), &json!(1)), "{answer}");
    assert_eq!(answer["sql"], server.ask("how many singers are there")["sql"]);
    assert_eq!(call("/mcp/again", "ask", asked)["rows"], json!([[3]]));
    let rows = call(
        "/mcp/stage",
        "run",
        json!({ "sql": "SELECT name FROM singer ORDER BY singer_id", "max_rows": 1 }),
    );
    assert_eq!((&rows["rows"], &rows["row_count"]), (&json!([["Joe Sharp"]]), &json!(3)));
    assert_eq!(call("/mcp", "confirm", json!({ "id": 1, "verdict": "right" }))["id"], 1);
    let schema = call("/mcp", "schema", json!({}));
    assert_eq!(schema["tables"].as_array().unwrap().len(), 2, "{schema}");

    let log = server.get("/v1/log").json();
    let confirmed = log["entries"].as_array().unwrap().iter().find(|entry| entry["id"] == 1).unwrap();
    assert_eq!(confirmed["feedback"][0]["verdict"], "right", "{log}");
    assert_eq!(server.get("/mcp/other").status, 404);
    assert_eq!(server.get("/mcp").status, 405, "there are no streams");
}

#[test]
fn a_server_offers_confirm_only_if_it_is_allowed() {
    let project = Project::new();
    let server = project.serve(&[]);
    let tools = post(&server, "/mcp", "tools/list", &json!({}));
    let tools = tools["result"]["tools"].as_array().unwrap().clone();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert!(!names.contains(&"confirm") && names.len() == 3, "{names:?}");
}
