//! The arrows of ARCHITECTURE.md: which crate may use which, and which module of `learn`.
#![allow(clippy::unwrap_used, reason = "these are tests")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Every crate, and the crates it may depend on.
const CRATES: [(&str, &[&str]); 19] = [
    ("text", &[]),
    ("random", &[]),
    ("base", &[]),
    ("data", &[]),
    ("lang", &["text"]),
    ("nn", &["random"]),
    ("sentence", &["nn"]),
    ("mpi", &["nn"]),
    ("exec", &["lang", "text"]),
    ("parser", &["lang", "nn", "text"]),
    ("run", &["data", "lang", "parser", "text"]),
    ("learn", &["base", "data", "exec", "lang", "nn", "parser", "run", "sentence", "text"]),
    ("report", &["random", "run"]),
    ("demo", &["data", "exec"]),
    ("log", &["exec"]),
    ("improve", &["data", "exec", "learn", "log", "parser", "random", "report", "run"]),
    ("serve", &["exec", "lang", "learn", "log", "run", "text"]),
    ("mcp", &["log", "serve"]),
    (
        "cli",
        &[
            "base", "data", "demo", "exec", "improve", "lang", "learn", "log", "mcp", "mpi", "nn", "parser",
            "report", "run", "sentence", "serve", "text",
        ],
    ),
];

/// The modules of `learn`: each uses only itself and those before it.
const LEARN: [&str; 9] = [
    "hyperparameters",
    "objectives",
    "task",
    "synthesis",
    "reward",
    "teacher",
    "training",
    "inference",
    "experiment",
];

fn root() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// The crates of this workspace that a section of a manifest names.
fn named(manifest: &str, section: &str) -> BTreeSet<String> {
    let lines = manifest.lines().skip_while(|line| *line != section).skip(1);
    let lines = lines.take_while(|line| !line.starts_with('['));
    lines
        .filter_map(|line| line.strip_prefix("xpr-"))
        .map(|line| line.split(['.', ' ']).next().unwrap_or_default().to_owned())
        .collect()
}

/// Panics if following the arrows from some node leads back to it.
fn assert_acyclic(arrows: &BTreeMap<String, BTreeSet<String>>) {
    for start in arrows.keys() {
        let (mut seen, mut next) = (BTreeSet::new(), vec![start]);
        while let Some(node) = next.pop() {
            for to in arrows.get(node).into_iter().flatten() {
                assert_ne!(to, start, "{start} is used by {node}, which it uses itself");
                if seen.insert(to) {
                    next.push(to);
                }
            }
        }
    }
}

#[test]
fn crates_depend_only_on_those_they_may() {
    let folders: BTreeSet<String> = fs::read_dir(root().join("crates"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let listed: BTreeSet<String> = CRATES.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(folders, listed, "list every crate with its arrows");
    let mut with_tests = BTreeMap::new();
    for (name, allowed) in CRATES {
        let manifest = fs::read_to_string(root().join(format!("crates/{name}/Cargo.toml"))).unwrap();
        let used = named(&manifest, "[dependencies]");
        let allowed: BTreeSet<String> = allowed.iter().map(|name| (*name).to_owned()).collect();
        assert_eq!(used, allowed, "the dependencies of {name}");
        let of_tests = named(&manifest, "[dev-dependencies]");
        with_tests.insert(name.to_owned(), used.union(&of_tests).cloned().collect());
    }
    assert_acyclic(&with_tests);
}

/// All Rust files below a folder.
fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

/// The paths that the `use` declarations of a file name, up to their first brace, without those of its tests.
fn imports(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let uses = code.lines().map(str::trim_start);
    uses.filter_map(|line| line.strip_prefix("use "))
        .map(|line| line.split(['{', ';']).next().unwrap_or_default().trim_end_matches("::").to_owned())
        .collect()
}

#[test]
fn modules_of_learn_use_only_those_before_them() {
    let source = root().join("crates/learn/src");
    let order = |name: &str| LEARN.iter().position(|module| *module == name);
    // Arrows between the files of one folder.
    let mut files: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for path in rust_files(&source) {
        let inside = path.strip_prefix(&source).unwrap();
        let inside = inside.to_str().unwrap().replace('\\', "/");
        let module = inside.trim_end_matches("/mod.rs").trim_end_matches(".rs");
        let top = module.split('/').next().unwrap();
        if module == "lib" || module.ends_with("/tests") {
            continue;
        }
        let here = order(top).unwrap_or_else(|| panic!("list the module {top} of learn"));
        let arrows = files.entry(module.to_owned()).or_default();
        for import in imports(&path) {
            let parts: Vec<&str> = import.split("::").collect();
            match parts.as_slice() {
                ["crate", other, rest @ ..] => {
                    let there = order(other)
                        .unwrap_or_else(|| panic!("{inside} uses crate::{other}: name the module it is in"));
                    assert!(there <= here, "{inside} uses {other}, which comes after {top}");
                    if let (true, [file, ..]) = (there == here, rest) {
                        arrows.insert(format!("{top}/{file}"));
                    }
                }
                ["super", file, ..] if file.starts_with(char::is_lowercase) => {
                    let folder = if inside.ends_with("/mod.rs") { module } else { parent(module) };
                    let folder = if inside.ends_with("/mod.rs") { parent(folder) } else { folder };
                    arrows.insert(format!("{folder}/{file}"));
                }
                _ => {}
            }
        }
    }
    assert_acyclic(&files);
}

fn parent(module: &str) -> &str {
    module.rsplit_once('/').map_or("", |(parent, _)| parent)
}

#[test]
fn a_cycle_is_found() {
    let arrows = |pairs: &[(&str, &str)]| {
        let mut arrows: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (from, to) in pairs {
            arrows.entry((*from).to_owned()).or_default().insert((*to).to_owned());
        }
        arrows
    };
    assert_acyclic(&arrows(&[("a", "b"), ("b", "c"), ("a", "c")]));
    let cyclic = arrows(&[("a", "b"), ("b", "c"), ("c", "a")]);
    assert!(std::panic::catch_unwind(|| assert_acyclic(&cyclic)).is_err());
}
