//! Every gold query of GeoQuery, from text to tree to actions and back: needs the data folder (`XPR_DATA`).
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "these are tests")]

use std::path::PathBuf;
use xpr_lang::sql::{Column, ColumnType, Schema, Sql, SqlEnvironment, Table, Value};
use xpr_lang::{Environment, Language, Program};

fn data() -> Option<PathBuf> {
    match std::env::var_os("XPR_DATA") {
        // Tests run in their crate's folder, but a relative path means the workspace's.
        Some(folder) => {
            Some(PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join(folder).join("geography"))
        }
        None => {
            eprintln!("SKIPPED: XPR_DATA is not set, so no query of GeoQuery was converted");
            None
        }
    }
}

/// `Table Name, Field Name, Is Primary Key, Is Foreign Key, Type`, a line of dashes between tables.
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
            schema.tables.push(Table { name, columns: vec![], primary_key: vec![], foreign_keys: vec![] });
        }
        let table = schema.tables.last_mut().unwrap();
        if primary == "y" {
            table.primary_key.push(table.columns.len() as u32);
        }
        let number = ty.starts_with("int") || ty == "double";
        let ty = if number { ColumnType::Number } else { ColumnType::Text };
        table.columns.push(Column { name: column.to_owned(), ty });
    }
    schema
}

/// All gold queries, one a sentence, with the sentence's variables filled in.
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
            // `state_name10` begins like `state_name1`.
            variables.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
            let fill = |sql: String, (name, value): &(&str, &str)| sql.replace(name, value);
            queries.push(variables.iter().fold(sql.to_owned(), fill));
        }
    }
    queries
}

#[test]
fn every_gold_query_survives_the_way_to_actions_and_back() {
    let Some(folder) = data() else { return };
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
        let values: Vec<Value> =
            query.literals().into_iter().map(|literal| Value::new(literal, "")).collect();
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
    // The others do not run in SQLite either: `ALL`, and a name of a table that is out of scope.
    assert_eq!(covered, 872, "{}", refused.join("\n"));
}
