//! A browser that a test drives: the few commands of the WebDriver protocol that are needed, over HTTP.

use crate::server::Response;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long a page has for anything.
const PATIENCE: Duration = Duration::from_secs(120);

/// The key by which the protocol names an element.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// A headless Chromium with a driver of its own. Both end when this is dropped.
pub(crate) struct Browser {
    driver: Child,
    port: u16,
    session: String,
    _profile: tempfile::TempDir,
}

impl Browser {
    pub(crate) fn start() -> Self {
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| {
                panic!("chromedriver: {error}; install Debian's chromium and chromium-driver")
            });
        let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines();
        let port = lines.by_ref().map_while(Result::ok).find_map(|line| {
            line.split("successfully on port ").nth(1).map(|rest| rest.trim_end_matches('.').parse().unwrap())
        });
        // The driver must be able to write on.
        std::thread::spawn(move || lines.for_each(drop));
        let profile = tempfile::tempdir().unwrap();
        let mut browser = Browser { driver, port: port.unwrap(), session: String::new(), _profile: profile };
        let mut arguments: Vec<String> = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--disable-dev-shm-usage",
            "--window-size=1280,900",
        ]
        .map(str::to_owned)
        .to_vec();
        arguments.push(format!("--user-data-dir={}", browser._profile.path().display()));
        let options = json!({ "args": arguments, "perfLoggingPrefs": { "enableNetwork": true } });
        let capabilities = json!({
            "browserName": "chrome",
            "goog:chromeOptions": options,
            "goog:loggingPrefs": { "browser": "ALL", "performance": "ALL" },
        });
        let created =
            browser.command("POST", "/session", &json!({ "capabilities": { "alwaysMatch": capabilities } }));
        browser.session = created["sessionId"].as_str().unwrap_or_else(|| panic!("{created}")).to_owned();
        browser
    }

    /// Sends a command, and returns its value; none if the driver is gone.
    fn try_command(&self, method: &str, path: &str, body: &Value) -> Option<Value> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
        stream.set_read_timeout(Some(PATIENCE)).ok()?;
        let body = body.to_string();
        let head = format!("{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n", self.port);
        let head = format!("{head}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n", body.len());
        stream.write_all((head + &body).as_bytes()).ok()?;
        Some(Response::read(&mut BufReader::new(stream))?.json()["value"].take())
    }

    fn command(&self, method: &str, path: &str, body: &Value) -> Value {
        self.try_command(method, path, body).unwrap_or_else(|| panic!("the driver does not answer {path}"))
    }

    fn send(&self, path: &str, body: &Value) -> Value {
        let value = self.command("POST", &format!("/session/{}/{path}", self.session), body);
        assert!(value.get("error").is_none(), "{path} {body}: {value}");
        value
    }

    pub(crate) fn open(&self, address: &str) {
        self.send("url", &json!({ "url": address }));
    }

    /// Gives the window the width of a phone.
    pub(crate) fn make_narrow(&self) {
        self.send("window/rect", &json!({ "width": 500, "height": 900 }));
    }

    /// Goes to a new tab.
    pub(crate) fn new_tab(&self) {
        let tab = self.send("window/new", &json!({ "type": "tab" }));
        self.send("window", &json!({ "handle": tab["handle"] }));
    }

    /// Makes pages that are opened from now on do without scripts of their own.
    pub(crate) fn disable_scripts(&self) {
        let parameters = json!({ "value": true });
        self.send(
            "goog/cdp/execute",
            &json!({ "cmd": "Emulation.setScriptExecutionDisabled", "params": parameters }),
        );
    }

    /// Runs a script in the page, and returns what it returns.
    pub(crate) fn run(&self, script: &str) -> Value {
        self.send("execute/sync", &json!({ "script": script, "args": [] }))
    }

    /// Waits until a script returns true.
    pub(crate) fn wait_until(&self, what: &str, script: &str) {
        let start = Instant::now();
        while self.run(script) != true {
            assert!(
                start.elapsed() < PATIENCE,
                "{what} did not come: {}",
                self.run("return document.body.innerText")
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Waits until an element is in the page and can be seen.
    pub(crate) fn wait_for(&self, selector: &str) {
        let script =
            format!("return [...document.querySelectorAll({selector:?})].some((e) => e.checkVisibility())");
        self.wait_until(selector, &script);
    }

    /// Returns the texts of the elements that can be seen.
    pub(crate) fn texts(&self, selector: &str) -> Vec<String> {
        let script = format!(
            "return [...document.querySelectorAll({selector:?})].filter((e) => e.checkVisibility()).map((e) => e.innerText)"
        );
        serde_json::from_value(self.run(&script)).unwrap()
    }

    /// Returns the element that a script returns, for commands of the protocol.
    fn element(&self, script: &str) -> String {
        let element = self.run(script);
        element[ELEMENT].as_str().unwrap_or_else(|| panic!("there is no element: {script}")).to_owned()
    }

    /// Clicks on an element as a person does: it must be visible, and nothing must cover it.
    pub(crate) fn click(&self, selector: &str) {
        self.wait_for(selector);
        let element = self.element(&format!(
            "return [...document.querySelectorAll({selector:?})].find((e) => e.checkVisibility())"
        ));
        self.send(&format!("element/{element}/click"), &json!({}));
    }

    /// Clicks on the element with a text.
    pub(crate) fn click_text(&self, selector: &str, text: &str) {
        let find = format!(
            "return [...document.querySelectorAll({selector:?})].find((e) => e.innerText.includes({text:?}) && e.checkVisibility())"
        );
        self.wait_until(text, &format!("{} !== undefined", find));
        let element = self.element(&find);
        self.send(&format!("element/{element}/click"), &json!({}));
    }

    /// Types a text into a field, in the place of what it has.
    pub(crate) fn fill(&self, selector: &str, text: &str) {
        let element = self.element(&format!("return document.querySelector({selector:?})"));
        self.send(&format!("element/{element}/clear"), &json!({}));
        self.send(&format!("element/{element}/value"), &json!({ "text": text }));
    }

    /// Presses a key.
    pub(crate) fn press(&self, key: &str) {
        let actions = [json!({ "type": "keyDown", "value": key }), json!({ "type": "keyUp", "value": key })];
        self.send(
            "actions",
            &json!({ "actions": [{ "type": "key", "id": "keyboard", "actions": actions }] }),
        );
    }

    /// Returns the errors of the console, except those about responses of some paths, by which a server refuses what was asked for.
    pub(crate) fn console_errors(&self, refusing: &[&str]) -> Vec<String> {
        let log = self.send("se/log", &json!({ "type": "browser" }));
        let is_expected =
            |message: &str| refusing.iter().any(|path| message.contains(path) && message.contains("422"));
        let entries = log.as_array().unwrap().iter().filter(|entry| entry["level"] == "SEVERE");
        let messages = entries.map(|entry| entry["message"].as_str().unwrap().to_owned());
        messages.filter(|message| !is_expected(message)).collect()
    }

    /// Returns the addresses of all requests over the network. The browser's own pages, such as that of a new tab, are in its files.
    pub(crate) fn requests(&self) -> Vec<String> {
        let log = self.send("se/log", &json!({ "type": "performance" }));
        let address = |entry: &Value| {
            let message: Value = serde_json::from_str(entry["message"].as_str()?).ok()?;
            let message = &message["message"];
            let is_request = message["method"] == "Network.requestWillBeSent";
            is_request.then(|| message["params"]["request"]["url"].as_str().unwrap_or_default().to_owned())
        };
        let is_local = |address: &String| {
            ["chrome:", "chrome-untrusted:", "data:", "blob:"].iter().any(|kind| address.starts_with(kind))
        };
        let all = log.as_array().unwrap().iter().filter_map(address);
        let all: Vec<String> = all.filter(|address| !is_local(address)).collect();
        assert!(all.len() > 10, "the browser does not tell its requests: {all:?}");
        all
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Ends the browser, also after a test failed.
        let _ = self.try_command("DELETE", &format!("/session/{}", self.session), &json!({}));
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
