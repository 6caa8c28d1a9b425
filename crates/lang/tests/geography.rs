//! Converts every gold query of GeoQuery from text to tree to actions and back. Needs the data folder (`XPR_DATA`).
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "these are tests")]

use std::path::PathBuf;
use xpr_lang::sql::{Column, ColumnType, Schema, Sql, SqlEnvironment, SuggestedValue, Table};
use xpr_lang::{Environment, Language, Program};

/// Returns the folder of GeoQuery. A relative `XPR_DATA` is relative to the workspace, and not to the crate's folder,
/// in which tests run.
fn geography() -> PathBuf {
    let data = std::env::var_os("XPR_DATA").expect("XPR_DATA names the data folder, see CONTRIBUTING.md");
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(data).join("geography")
}

/// Reads lines of `Table Name, Field Name, Is Primary Key, Is Foreign Key, Type`, with lines of dashes between tables.
fn schema(csv: &str) -> Schema {
    let mut schema = Schema::default();
    for line in csv.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').map(str::trim).collect();
        let [table, column, primary, _, ty] = fields[..] else { continue };
        if table == "-" {
            continue;
        }
        if schema.tables.last().is_none_or(|last| last.name != table) {
            let name = table.to_owned();
            schema.tables.push(Table {
                comment: None,
                namespace: None,
                name,
                columns: vec![],
                primary_key: vec![],
                foreign_keys: vec![],
            });
        }
        let table = schema.tables.last_mut().unwrap();
        if primary == "y" {
            table.primary_key.push(table.columns.len() as u32);
        }
        let number = ty.starts_with("int") || ty == "double";
        let ty = if number { ColumnType::Number } else { ColumnType::Text };
        table.columns.push(Column { comment: None, name: column.to_owned(), ty });
    }
    schema
}

/// Returns the gold query of each sentence, with the variables of the sentence filled in.
fn queries(json: &str) -> Vec<String> {
    let templates: serde_json::Value = serde_json::from_str(json).unwrap();
    let mut queries = Vec::new();
    for template in templates.as_array().unwrap() {
        let sql = template["sql"][0].as_str().unwrap();
        for sentence in template["sentences"].as_array().unwrap() {
            let mut variables: Vec<(&str, &str)> = sentence["variables"]
                .as_object()
                .unwrap()
                .iter()
                .map(|(name, value)| (name.as_str(), value.as_str().unwrap()))
                .collect();
            // Longest first, because `state_name10` starts with `state_name1`.
            variables.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
            let fill = |sql: String, (name, value): &(&str, &str)| sql.replace(name, value);
            queries.push(variables.iter().fold(sql.to_owned(), fill));
        }
    }
    queries
}

#[test]
#[ignore = "needs XPR_DATA, see CONTRIBUTING.md"]
fn every_gold_query_is_unchanged_by_a_round_trip_through_actions() {
    let folder = geography();
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let language = Sql::new(schema(&read("geography-schema.csv")));
    let fixed = SqlEnvironment::new(&language);
    let base = language.signatures().grammar(fixed.items()).unwrap();

    let queries = queries(&read("geography.json"));
    assert_eq!(queries.len(), 877);
    let (mut refused, mut actions, mut longest) = (Vec::new(), 0, 0);
    for text in &queries {
        let query = match language.parse(text) {
            Ok(query) => query,
            Err(error) => {
                refused.push(format!("{error}: {text}"));
                continue;
            }
        };
        let values: Vec<SuggestedValue> =
            query.literals().into_iter().map(|literal| SuggestedValue::new(literal, "")).collect();
        let environment = fixed.with_values(&language, &values);
        let grammar = base.with_items(&environment.items()[fixed.fixed_items()..]);
        let program =
            language.read(text, &grammar, &environment).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(Program::from_actions(&grammar, program.actions()).unwrap(), program);
        assert_eq!(language.decode(&program, &environment), query, "{text}");
        let canonical = language.write(&program, &grammar, &environment);
        assert_eq!(language.read(&canonical, &grammar, &environment).as_ref(), Ok(&program), "{canonical}");
        actions += program.actions().len();
        longest = longest.max(program.actions().len());
    }
    let covered = queries.len() - refused.len();
    eprintln!(
        "{covered} queries, {:.1} actions on average, {longest} at most",
        actions as f64 / covered as f64
    );
    refused.sort();
    refused.dedup();
    // SQLite does not run the other five either: they use `ALL`, or a table that is out of scope.
    assert_eq!(covered, 872, "{}", refused.join("\n"));
}
