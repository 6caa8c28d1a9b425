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
        // Issue 19: what is copied has no formulas either, and Excel needs a mark to read letters that are not of ASCII.
        let tabs = "return import('/assets/table.js').then((table) => table.toTabs(['=1', 'b'], [[' @x', -1], [null, 'a\\tb']]))";
        assert_eq!(browser.run(tabs), "'=1\tb\n' @x\t-1\n\ta b");
        let csv = "return import('/assets/table.js').then((table) => table.toCsv(['city'], [['Köln']]))";
        assert_eq!(browser.run(csv), "\u{feff}city\r\nKöln\r\n");

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

    /// Issue 19: keys that were pressed fast labeled questions that nobody had seen, and clicks contradicted each other.
    #[test]
    #[ignore = "needs Chromium, see CONTRIBUTING.md"]
    fn a_choice_is_kept_once_however_fast_somebody_is() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        xpr_demo::write(&folder.join("demo")).unwrap();
        xpr(folder, &["init", "--db", "demo/film.db", "--out", "film"]);
        let server =
            Server::start(folder, &["serve", "film/run", "--listen", "127.0.0.1:0", "--rate-limit", "0"]);
        let base = format!("http://{}", server.address);
        let browser = Browser::start();
        let judged = || server.get("/v1/log?judged=true").json()["entries"].as_array().unwrap().clone();
        browser.open(&format!("{base}/"));
        ask(&browser, "directors of Brazilian nationality");
        browser.run(
            "const [right, wrong] = document.querySelectorAll('button.verdict'); \
             right.focus(); right.click(); right.click(); wrong.click();",
        );
        browser.wait_for(".thanks");
        // Whoever uses the keyboard goes on from there.
        assert_eq!(browser.run("return document.activeElement.className"), "thanks");
        // What is posted later is kept later: with this, the server has all that came before.
        server.ask("the oldest actor we know");
        server.ask("dramas that were directed by paloma ruiz");
        let said = judged();
        assert_eq!(said.len(), 1);
        assert_eq!(said[0]["feedback"].as_array().unwrap().len(), 1, "{said:?}");
        assert_eq!(said[0]["feedback"][0]["verdict"], "right");

        browser.open(&format!("{base}/label"));
        browser.wait_for(".label-question .choice");
        let first = browser.texts(".label-question h2");
        let keys = "for (const key of ['n', '1', 'n', 's']) document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));";
        browser.run(keys);
        browser.wait_until(
            "the next question",
            &format!("return document.querySelector('.label-question h2')?.textContent !== {:?}", first[0]),
        );
        let second = browser.texts(".label-question h2");
        assert!(second.len() == 1 && second != first, "{second:?}");
        // A key that is held down, and the second click of a double click, are about a question that nobody has read.
        browser.run(
            "document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'n', bubbles: true, repeat: true })); \
             document.querySelector('.feedback button').dispatchEvent(new MouseEvent('click', { bubbles: true, detail: 2 }));",
        );
        server.ask("directors of Brazilian nationality");
        assert_eq!((judged().len(), browser.texts(".label-question h2")), (2, second));
        browser.press("n");
        browser.wait_for("#content .empty");
        assert_eq!(judged().len(), 3);
        assert_eq!(browser.console_errors(&[]), Vec::<String>::new());
    }

    /// Issue 19: a name or a value that was inserted into a query was not SQL, and characters of a value reversed the query that was shown.
    #[test]
    #[ignore = "needs Chromium, see CONTRIBUTING.md"]
    fn names_and_values_are_inserted_as_sql_and_shown_in_their_places() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let database = rusqlite::Connection::open(folder.join("clinic.db")).unwrap();
        let long = "x".repeat(60);
        let rows = "CREATE TABLE \"visit-log\" (id INTEGER PRIMARY KEY, \"last name\" TEXT, note TEXT);
                    INSERT INTO \"visit-log\" VALUES (1, 'O''Köln', 'a\u{202e}b'), (2, 'Berlin', ";
        database.execute_batch(&format!("{rows}'{long}')")).unwrap();
        drop(database);
        xpr(folder, &["init", "--db", "clinic.db", "--out", "clinic"]);
        let server =
            Server::start(folder, &["serve", "clinic/run", "--listen", "127.0.0.1:0", "--rate-limit", "0"]);
        let base = format!("http://{}", server.address);
        let browser = Browser::start();
        browser.open(&format!("{base}/"));
        let suggested = browser.texts(".examples-to-ask button");
        assert_eq!(suggested, ["how many visit logs are there"]);
        ask(&browser, &suggested[0]);
        browser.click_text("#answer .query button.quiet", "Edit");
        let insert = |text: &str| browser.click_text("#schema [data-insert]", text);
        let type_in = |text: &str| {
            browser.run(&format!(
                "document.querySelector('#answer textarea').setRangeText({text:?}, 1e9, 1e9, 'end')"
            ))
        };
        browser.fill("#answer textarea", "SELECT");
        insert("last name");
        type_in(" FROM");
        insert("visit-log");
        type_in(" WHERE");
        insert("last name");
        type_in(" =");
        insert("O'Köln");
        type_in(" AND");
        insert("id");
        type_in(" =");
        insert("1");
        browser.click_text("#answer .editor button", "Run");
        browser.wait_for("#answer .editor tbody td");
        assert_eq!(browser.texts("#answer .editor tbody td"), ["O'Köln"]);
        let sql = browser.run("return document.querySelector('#answer textarea').value");
        assert_eq!(sql, "SELECT \"last name\" FROM \"visit-log\" WHERE \"last name\" = 'O''Köln' AND id = 1");
        // A question has them as people say them, and nothing has a part of a value.
        browser.run("document.getElementById('question').focus()");
        browser.fill("#question", "visits of");
        insert("O'Köln");
        assert_eq!(browser.run("return document.getElementById('question').value"), "visits of O'Köln");
        let shortened = "return [...document.querySelectorAll('#schema .examples span')].find((e) => e.textContent.endsWith('…')).matches('[data-insert]')";
        assert_eq!(browser.run(shortened), false);
        // A finger finds them on a phone.
        browser.make_narrow();
        let targets = "return [...document.querySelectorAll('#schema [data-insert]')].map((e) => e.getBoundingClientRect()) \
                       .filter(({ width, height }) => width < 24 || height < 24).length";
        assert_eq!(browser.run(targets), 0);

        let sql = "SELECT \"last name\" FROM \"visit-log\" WHERE note = 'a\u{202e}b'";
        let id = &server.ask("visits with a note")["id"];
        let corrected = serde_json::json!({ "id": id, "verdict": "corrected", "sql": sql });
        assert_eq!(server.post("/v1/feedback", &corrected).status, 201);
        browser.open(&format!("{base}/history?run=clinic"));
        browser.wait_for(".entry .query");
        let shown = browser.run(
            "const code = document.querySelector('.code-point'); \
             return [code.dataset.code, code.textContent, getComputedStyle(code).display, code.closest('code').textContent, \
                     getComputedStyle(code.closest('pre')).overflowY, getComputedStyle(document.querySelector('.entry-question')).overflowY]",
        );
        assert_eq!(shown, serde_json::json!(["\\u202e", "\u{202e}", "inline-block", sql, "clip", "clip"]));
        assert_eq!(browser.console_errors(&[]), Vec::<String>::new());
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
