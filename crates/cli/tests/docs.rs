//! The documents agree with the code: links lead to files, quoted code is in the file it names, and commands and flags exist.
#![allow(clippy::unwrap_used, reason = "these are tests")]

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the Markdown files at the root and in the folders with documents.
fn documents() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for folder in ["", "docs", "results", "attacks"] {
        for file in fs::read_dir(root().join(folder)).unwrap() {
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

/// Returns the lines of each fenced block of a document that is in one of some languages.
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
fn links_lead_to_files() {
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
fn quoted_code_is_in_the_file_it_names() {
    let mut quotes = 0;
    for (path, text) in documents() {
        for block in blocks(&text, &["rust"]) {
            let Some(file) = block[0].strip_prefix("// ").filter(|file| file.ends_with(".rs")) else {
                continue;
            };
            let code =
                fs::read_to_string(root().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
            // Code in doc comments is quoted without the comment marks, and indentation does not matter.
            let plain = |line: &str| line.trim().trim_start_matches("//!").trim().to_owned();
            let code: Vec<String> = code.lines().map(plain).collect();
            let quote: Vec<String> = block[1..].iter().map(|line| plain(line)).collect();
            let is_there = code.windows(quote.len()).any(|lines| lines == quote);
            assert!(is_there, "{}: this is not in {file}:\n{}", path.display(), block[1..].join("\n"));
            quotes += 1;
        }
    }
    assert!(quotes > 3);
}

#[test]
fn commands_in_documents_exist_and_have_their_flags() {
    let mut texts: Vec<String> = Vec::new();
    for (_, text) in documents() {
        texts.extend(blocks(&text, &["console", "sh"]).iter().map(|lines| lines.join("\n")));
    }
    let folders = ["experiments", "experiments/pretraining"].map(|folder| root().join(folder));
    let files = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap());
    for path in files.map(|file| file.unwrap().path()).filter(|path| path.is_file()) {
        let text = fs::read_to_string(path).unwrap();
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
        // The words that name the command.
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
            // `xpr compare` takes FILE.toml:KEY=VALUE.
            let file = file.split(':').next().unwrap();
            assert!(root().join(file).is_file(), "there is no {file}");
        }
        commands += 1;
    }
    assert!(commands > 20, "only {commands} commands were found");
}

/// Returns the commands of a text: lines that end in a backslash are joined with the next, and lines with ` · ` are split.
fn joined(text: &str) -> Vec<String> {
    text.replace("\\\n", " ").lines().flat_map(|line| line.split(" · ")).map(str::to_owned).collect()
}
