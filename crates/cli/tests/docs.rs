//! What the documents say is so: links lead somewhere, quoted code is the code, and commands are commands.
#![allow(clippy::unwrap_used, reason = "these are tests")]

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The Markdown files at the root and in `docs`.
fn documents() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for folder in [root(), root().join("docs")] {
        for file in fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "md") {
                let text = fs::read_to_string(&path).unwrap();
                found.push((path, text));
            }
        }
    }
    assert!(found.len() >= 5, "{found:?}");
    found
}

/// The fenced blocks of a document in one of some languages: their lines.
fn blocks<'t>(text: &'t str, languages: &[&str]) -> Vec<Vec<&'t str>> {
    let mut found = Vec::new();
    let mut open: Option<(bool, Vec<&str>)> = None;
    for line in text.lines() {
        match (line.strip_prefix("```"), open.take()) {
            (Some(language), None) => open = Some((languages.contains(&language), vec![])),
            (Some(_), Some((wanted, lines))) => found.extend(wanted.then_some(lines)),
            (None, Some((wanted, mut lines))) => {
                lines.push(line);
                open = Some((wanted, lines));
            }
            (None, None) => {}
        }
    }
    found
}

#[test]
fn links_lead_somewhere() {
    for (path, text) in documents() {
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = link.split('#').next().unwrap();
            if !file.is_empty() && !file.contains("://") {
                let to = path.parent().unwrap().join(file);
                assert!(to.exists(), "{}: there is no {link}", path.display());
            }
        }
    }
}

#[test]
fn quoted_code_is_the_code() {
    let mut quotes = 0;
    for (path, text) in documents() {
        for block in blocks(&text, &["rust"]) {
            let Some(file) = block[0].strip_prefix("// crates/") else { continue };
            let code = fs::read_to_string(root().join("crates").join(file)).unwrap();
            // Examples are in comments, and indented otherwise.
            let plain = |line: &str| line.trim().trim_start_matches("//! ").trim().to_owned();
            let code: Vec<String> = code.lines().map(plain).collect();
            let quote: Vec<String> = block[1..].iter().map(|line| plain(line)).collect();
            let is_there = code.windows(quote.len()).any(|lines| lines == quote);
            assert!(is_there, "{}: {file} does not say\n{}", path.display(), block[1..].join("\n"));
            quotes += 1;
        }
    }
    assert!(quotes > 3);
}

#[test]
fn commands_have_the_flags_that_are_written_of_them() {
    let mut texts: Vec<String> = Vec::new();
    for (_, text) in documents() {
        texts.extend(blocks(&text, &["console", "sh"]).iter().map(|lines| lines.join("\n")));
    }
    for file in fs::read_dir(root().join("experiments")).unwrap() {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        texts.extend(text.lines().filter_map(|line| line.strip_prefix("#   ")).map(str::to_owned));
    }
    let mut helps: HashMap<Vec<String>, String> = HashMap::new();
    let mut commands = 0;
    for line in texts.iter().flat_map(|text| joined(text)) {
        let line = line.trim().trim_start_matches("$ ");
        let line = line.split_once("| xpr ").map_or(line.to_owned(), |(_, rest)| format!("xpr {rest}"));
        let Some(line) = line.strip_prefix("xpr ").or_else(|| line.strip_prefix("cargo run --release -- "))
        else {
            continue;
        };
        let words: Vec<&str> = line.split(['#', '|', '<', '>']).next().unwrap().split_whitespace().collect();
        // As many words as are commands.
        let path: Vec<String> = match words.as_slice() {
            ["data", "import", dataset, ..] => ["data", "import", dataset].map(str::to_owned).to_vec(),
            ["data" | "bench", command, ..] => [words[0], command].map(str::to_owned).to_vec(),
            _ => vec![words[0].to_owned()],
        };
        let help = helps.entry(path.clone()).or_insert_with(|| {
            let output = Command::new(env!("CARGO_BIN_EXE_xpr")).args(&path).arg("--help").output().unwrap();
            assert!(output.status.success(), "there is no such command: xpr {line}");
            String::from_utf8(output.stdout).unwrap()
        });
        for flag in words.iter().filter(|word| word.starts_with("--")) {
            let flag = flag.split('=').next().unwrap();
            let is_there = help.split(|c: char| !(c.is_alphanumeric() || c == '-')).any(|word| word == flag);
            assert!(is_there, "`xpr {}` has no {flag}, but: xpr {line}", path.join(" "));
        }
        for file in words.iter().filter(|word| word.starts_with("experiments/")) {
            assert!(root().join(file).is_file(), "there is no {file}");
        }
        commands += 1;
    }
    assert!(commands > 20, "only {commands} commands were found");
}

/// Commands: lines, with those that end in a backslash joined with the next, and several in a line apart.
fn joined(text: &str) -> Vec<String> {
    text.replace("\\\n", " ").lines().flat_map(|line| line.split(" · ")).map(str::to_owned).collect()
}
