//! The whole story in a browser: ask, see rows, pick an answer, correct a query, see the log, improve, and ask again.
//!
//! It needs Chromium and its driver, which `.ci/run` installs where it may (CONTRIBUTING.md).
#![allow(clippy::unwrap_used, clippy::panic, reason = "these are tests")]

mod server;
mod web_driver;

/// In a module of its own, so that a filter selects it or leaves it out.
mod browser {
    use crate::server::Server;
    use crate::web_driver::Browser;
    use serde_json::Value;
    use std::path::Path;
    use std::process::Command;

    fn xpr(folder: &Path, arguments: &[&str]) -> String {
        let output =
            Command::new(env!("CARGO_BIN_EXE_xpr")).current_dir(folder).args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Asks a question and waits for its answer.
    fn ask(browser: &Browser, question: &str) {
        browser.run("document.getElementById('answer').replaceChildren()");
        browser.fill("#question", question);
        browser.click("#ask-form button");
        browser.wait_for("#answer article, #answer .notice");
    }

    /// Asking and signing in are forms, which the browser sends with the origin of the page (issue 19).
    #[test]
    #[ignore = "needs Chromium, see CONTRIBUTING.md"]
    fn forms_of_the_pages_are_accepted_without_scripts() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        xpr_demo::write(&folder.join("demo")).unwrap();
        xpr(folder, &["init", "--db", "demo/film.db", "--out", "film"]);
        std::fs::write(folder.join("token"), "0123456789abcdef\n").unwrap();
        let server = Server::start(
            folder,
            &["serve", "film/run", "--listen", "127.0.0.1:0", "--rate-limit", "0", "--token-file", "token"],
        );
        let base = format!("http://{}", server.address);
        let browser = Browser::start();
        browser.open(&format!("{base}/"));
        browser.fill("#token", "0123456789abcdeX");
        browser.click(".login button");
        browser.wait_for(".login .notice");
        browser.fill("#token", "0123456789abcdef");
        browser.click(".login button");
        browser.wait_for("#ask-form");
        browser.disable_scripts();
        browser.open(&format!("{base}/"));
        browser.fill("#question", "directors of Brazilian nationality");
        browser.click("#ask-form button");
        browser.wait_for("#answer article tbody td");
        assert!(browser.texts("#schema .toggle").is_empty(), "scripts are off");
        browser.open(&format!("{base}/"));
        browser.click("#answer .examples-to-ask button");
        browser.wait_for("#answer article");
    }

    /// What scripts of the page do with rows.
    #[test]
    #[ignore = "needs Chromium, see CONTRIBUTING.md"]
    fn rows_are_shown_and_downloaded_as_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        xpr_demo::write(&folder.join("demo")).unwrap();
        xpr(folder, &["init", "--db", "demo/film.db", "--out", "film"]);
        let server =
            Server::start(folder, &["serve", "film/run", "--listen", "127.0.0.1:0", "--rate-limit", "0"]);
        let base = format!("http://{}", server.address);
        let browser = Browser::start();
        browser.open(&format!("{base}/"));
        // An integer that a double does not have, two columns of one name, and a long text.
        let sql = format!(
            "SELECT 9007199254740993 AS n, '=1+1' AS n, '{}' AS long FROM film LIMIT 1",
            "x".repeat(1000)
        );
        ask(&browser, "directors of Brazilian nationality");
        browser.click_text("#answer .query button.quiet", "Edit");
        browser.fill("#answer textarea", &sql);
        browser.click_text("#answer .editor button", "Run");
        browser.wait_for("#answer .editor tbody td");
        let cells = browser.texts("#answer .editor tbody td");
        assert_eq!(&cells[..2], ["9007199254740993", "=1+1"]);
        assert!(cells[2].contains("Show all 1,000 characters") && cells[2].len() < 400, "{cells:?}");
        browser.click("#answer .editor td button");
        assert_eq!(browser.texts("#answer .editor tbody td")[2].len(), 1000);
        let json = "return import('/assets/table.js').then((table) => table.toJson(['n', 'n'], [[2n ** 53n + 1n, null]]))";
        let json = browser.run(json);
        assert_eq!(
            json.as_str().unwrap().split_whitespace().collect::<String>(),
            r#"[{"n":9007199254740993,"n_2":null}]"#
        );
        let csv = "return import('/assets/table.js').then((table) => table.toCsv(['=1', 'b'], [['@x', '-1'], [-1, 'a\"b']]))";
        assert_eq!(browser.run(csv), "'=1,b\r\n'@x,'-1\r\n-1,\"a\"\"b\"\r\n");

        // Pages that nobody sees do not listen, as a browser has six connections to a server.
        let hide = "Object.defineProperty(document, 'visibilityState', { value: 'hidden' }); \
                    document.dispatchEvent(new Event('visibilitychange'));";
        for _ in 0..7 {
            browser.run(hide);
            browser.new_tab();
            browser.open(&format!("{base}/"));
        }
        browser.wait_for("#ask-form");
        assert_eq!(browser.console_errors(&["/v1/run"]), Vec::<String>::new());
    }

    #[test]
    #[ignore = "needs Chromium, see CONTRIBUTING.md"]
    fn a_corrected_answer_is_right_after_improving() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        xpr_demo::write(&folder.join("demo")).unwrap();
        xpr(folder, &["init", "--db", "demo/film.db", "--out", "film"]);
        let server =
            Server::start(folder, &["serve", "film/run", "--listen", "127.0.0.1:0", "--rate-limit", "0"]);
        let base = format!("http://{}", server.address);
        let browser = Browser::start();
        browser.open(&format!("{base}/"));

        // A sure answer: its rows can be sorted, and it is said to be right.
        ask(&browser, "directors of Brazilian nationality");
        let rows = browser.texts("#answer tbody td");
        assert!(rows.len() > 1, "{rows:?}");
        browser.click("#answer button.sort");
        let mut sorted = rows.clone();
        sorted.sort();
        assert_eq!(browser.texts("#answer tbody td"), sorted);
        // Screen readers are told what was found, and not every row.
        let announced = browser.run("return document.getElementById('announcement').textContent");
        assert!(
            announced.as_str().unwrap().starts_with(&format!("Answer: {} rows.", rows.len())),
            "{announced}"
        );
        browser.click_text("button.verdict", "Right");
        browser.wait_for(".thanks");

        // A name of the schema is inserted by the keyboard alone.
        browser.run("document.getElementById('question').value = ''");
        browser.run("document.querySelector('#schema [data-insert=genre]').focus()");
        browser.press("\u{E007}");
        assert_eq!(browser.run("return document.getElementById('question').value"), "genre");

        // Several answers, one of which is picked.
        ask(&browser, "dramas that were directed by paloma ruiz");
        assert!(browser.texts("#answer .choice").len() > 1, "there are several answers to choose from");
        browser.click("#answer .choice button.primary");
        browser.wait_for(".thanks");

        // A wrong query, which is corrected.
        let question = "which of our directors is the oldest";
        for (question, sql) in [
            (question, "SELECT name FROM director ORDER BY born LIMIT 1"),
            ("which of the actors is the oldest", "SELECT name FROM actor ORDER BY born LIMIT 1"),
        ] {
            ask(&browser, question);
            browser.click_text("#answer .query button.quiet", "Edit");
            browser.fill("#answer textarea", "DROP TABLE film");
            browser.click_text("#answer .editor button", "Run");
            browser.wait_for("#answer .editor .notice");
            browser.fill("#answer textarea", sql);
            browser.click_text("#answer .editor button", "Run");
            browser.wait_for("#answer .editor table");
            browser.click_text("#answer .editor button.primary", "This is the right query");
            browser.wait_for(".thanks");
        }
        let right = browser.texts("#answer .editor tbody td");
        assert_eq!(right.len(), 1, "{right:?}");

        // The history has it all, and the labelling page offers what is disputed.
        browser.open(&format!("{base}/history"));
        browser.wait_for(".entry");
        let entries = browser.texts(".entry");
        assert!(
            entries.len() == 4 && entries[1].contains("corrected") && entries[3].contains("right"),
            "{entries:?}"
        );
        browser.open(&format!("{base}/"));
        ask(&browser, "the oldest actor we know");
        browser.open(&format!("{base}/label"));
        browser.wait_for(".label-question .choice");
        assert_eq!(browser.texts(".label-question h2"), ["the oldest actor we know"]);
        browser.press("n");
        browser.wait_for("#content .empty");

        // Improving promotes a parser, which answers while the pages are open.
        browser.open(&format!("{base}/progress"));
        browser.wait_for(".figures");
        let improved = xpr(folder, &["improve", "film/run", "--set", "train.steps=60"]);
        assert!(improved.contains("Promoted: parser 1"), "{improved}");
        browser.wait_until("the new parser", "return document.body.innerText.includes('Parser 1')");
        browser.open(&format!("{base}/"));
        ask(&browser, question);
        let first = browser.texts("#answer tbody td");
        let oldest = xpr(folder, &["ask", "film/run", question, "--json"]);
        let oldest: Value = serde_json::from_str(&oldest).unwrap();
        assert_eq!(first[0], oldest["rows"][0][0].as_str().unwrap(), "the page and the command line agree");
        assert_eq!(first[0], "Greta Lindqvist", "the corrected answer");

        assert_eq!(browser.console_errors(&["/v1/run"]), Vec::<String>::new());
        let elsewhere: Vec<String> =
            browser.requests().into_iter().filter(|address| !address.starts_with(&base)).collect();
        assert_eq!(elsewhere, Vec::<String>::new(), "requests left the machine");
    }
}
