//! A server of a small database, and a client that sends any bytes.
#![allow(dead_code, reason = "each test uses a part of it")]

use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

/// How long a client waits for an answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// A project with a parser that has not learned from labels.
pub(crate) struct Project {
    pub(crate) folder: tempfile::TempDir,
}

impl Project {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        rusqlite::Connection::open(folder.path().join("stage.db"))
            .unwrap()
            .execute_batch(
                "CREATE TABLE singer (singer_id INTEGER PRIMARY KEY, name TEXT, country TEXT, age INT);
                 CREATE TABLE concert (concert_id INTEGER PRIMARY KEY, title TEXT, year INT,
                     singer_id INT REFERENCES singer);
                 INSERT INTO singer VALUES (1, 'Joe Sharp', 'Netherlands', 52), (2, 'Rose White', 'France', 41),
                     (3, '<script>alert(1)</script>', 'France', 25);
                 INSERT INTO concert VALUES (1, 'Auditions', 2014, 1), (2, 'Super bootcamp', 2015, 2),
                     (3, 'Home visits', 2015, 3);",
            )
            .unwrap();
        let project = Project { folder };
        project.xpr(&["init", "--db", "stage.db"]);
        project
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs a command in the folder, and returns what it prints.
    pub(crate) fn xpr(&self, arguments: &[&str]) -> String {
        let output = self.output(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs a command in the folder, which may fail.
    pub(crate) fn output(&self, arguments: &[&str]) -> Output {
        command(self.folder.path()).args(arguments).output().unwrap()
    }

    /// Starts a server of the project on a free port.
    pub(crate) fn serve(&self, flags: &[&str]) -> Server {
        let mut arguments = vec!["serve", "stage/run", "--listen", "127.0.0.1:0"];
        arguments.extend_from_slice(flags);
        Server::start(self.folder.path(), &arguments)
    }

    pub(crate) fn database(&self) -> Vec<u8> {
        fs::read(self.path("stage.db")).unwrap()
    }
}

fn command(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_xpr"));
    command.current_dir(folder).env_remove("XPR_DATA").env_remove("XPR_EMBEDDINGS").env_remove("XPR_TOKEN");
    command
}

/// A running server, which is killed when this is dropped.
pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) address: SocketAddr,
}

impl Server {
    /// Starts a server and waits until it listens.
    pub(crate) fn start(folder: &Path, arguments: &[&str]) -> Self {
        Server::start_with_errors(folder, arguments, Stdio::null())
    }

    /// Starts a server whose standard error goes somewhere, and waits until it listens.
    pub(crate) fn start_with_errors(folder: &Path, arguments: &[&str], errors: Stdio) -> Self {
        let mut child =
            command(folder).args(arguments).stdout(Stdio::piped()).stderr(errors).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = line.split("http://").nth(1).and_then(|rest| rest.split('/').next());
        let address = address.unwrap_or_else(|| panic!("no address in {line:?}")).parse().unwrap();
        Server { child, address }
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Sends bytes on a connection of their own, and returns the response; none if the server closes the connection without one.
    pub(crate) fn send(&self, bytes: &[u8]) -> Option<Response> {
        let mut stream = self.connect();
        // A server that refuses a long request closes the connection before all of it is sent.
        let _ = stream.write_all(bytes);
        Response::read(&mut BufReader::new(stream))
    }

    pub(crate) fn get(&self, path: &str) -> Response {
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n");
        self.send(request.as_bytes()).unwrap_or_else(|| panic!("no response to GET {path}"))
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Response {
        self.send(post(path, body).as_bytes()).unwrap_or_else(|| panic!("no response to POST {path}"))
    }

    pub(crate) fn ask(&self, question: &str) -> Value {
        let response = self.post("/v1/ask", &serde_json::json!({ "question": question }));
        assert_eq!(response.status, 200, "{}", response.body);
        response.json()
    }

    /// Ends the server as a service manager does, and returns whether it ended by itself.
    #[cfg(unix)]
    pub(crate) fn terminate(mut self) -> bool {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
        self.child.wait().unwrap().success()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the text of a request with JSON.
pub(crate) fn post(path: &str, body: &Value) -> String {
    let body = body.to_string();
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    )
}

#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    /// The headers, with names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Response {
    /// Reads a response. Returns none if the connection ends before it.
    pub(crate) fn read(reader: &mut impl BufRead) -> Option<Response> {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let status = line.split(' ').nth(1)?.parse().ok()?;
        let mut headers = Vec::new();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).ok()?;
            let Some((name, value)) = line.trim_end().split_once(':') else { break };
            headers.push((name.to_lowercase(), value.trim().to_owned()));
        }
        let mut response = Response { status, headers, body: String::new() };
        let mut body = Vec::new();
        match response.header("content-length").map(|length| length.parse::<u64>().unwrap()) {
            Some(length) => {
                reader.take(length).read_to_end(&mut body).ok()?;
            }
            None if response.header("transfer-encoding").is_some() => {
                // Events, whose stream does not end: the first is enough.
                let mut line = String::new();
                reader.read_line(&mut line).ok()?;
                reader.read_line(&mut line).ok()?;
                body = line.into_bytes();
            }
            None => {}
        }
        response.body = String::from_utf8(body).unwrap();
        Some(response)
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }
}
