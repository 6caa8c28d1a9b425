//! The statements of `attacks/`.
#![allow(dead_code, reason = "each test file uses some of it")]

use std::fs;
use std::path::Path;

/// Returns the statements of the files in a folder of `attacks/`: the file, what is expected, and the statement.
pub(crate) fn in_folder(folder: &str) -> Vec<(String, String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../attacks").join(folder);
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut statements = Vec::new();
    for file in files {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        for line in fs::read_to_string(file).unwrap().lines().filter(|line| !line.starts_with('#')) {
            let (expected, statement) = line.split_once('\t').unwrap_or_else(|| panic!("no tab: {line}"));
            statements.push((name.clone(), expected.to_owned(), expand(statement)));
        }
    }
    statements
}

/// Expands `{{1000*text}}` to a thousand times `text`, and escapes such as `\n` and `\u{…}` to their characters.
pub(crate) fn expand(line: &str) -> String {
    let mut repeated = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("{{") {
        let (count, after) = after.split_once('*').unwrap();
        let (text, after) = after.split_once("}}").unwrap();
        repeated.push_str(before);
        repeated.push_str(&text.repeat(count.parse().unwrap()));
        rest = after;
    }
    repeated.push_str(rest);
    let mut text = String::new();
    let mut characters = repeated.chars();
    while let Some(c) = characters.next() {
        match (c, c == '\\') {
            (_, false) => text.push(c),
            _ => match characters.next().unwrap() {
                'n' => text.push('\n'),
                't' => text.push('\t'),
                '0' => text.push('\0'),
                '\\' => text.push('\\'),
                'u' => {
                    let code: String = characters.by_ref().skip(1).take_while(|&c| c != '}').collect();
                    text.push(char::from_u32(u32::from_str_radix(&code, 16).unwrap()).unwrap());
                }
                other => panic!("\\{other} in {line}"),
            },
        }
    }
    text
}

pub(crate) fn shortened(text: &str) -> String {
    text.chars().take(200).collect()
}
