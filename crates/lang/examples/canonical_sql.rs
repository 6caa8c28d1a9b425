//! Reads one SQL query from each line of standard input, and writes its number of actions and its canonical form:
//! `cargo run --release -p xpr-lang --example canonical_sql -- schema.json < queries.sql`
//!
//! The schema is JSON: `{"table": {"column": "text" | "number" | "time" | "boolean" | "other"}}`.
#![allow(clippy::print_stdout, reason = "this is a command-line program")]

use std::io::BufRead;
use xpr_lang::sql::{Column, ColumnType, Schema, Sql, SqlEnvironment, SuggestedValue, Table};
use xpr_lang::{Environment, Language};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: canonical_sql SCHEMA.json < QUERIES.sql")?;
    let language = Sql::new(schema(&serde_json::from_str(&std::fs::read_to_string(path)?)?)?);
    let fixed = SqlEnvironment::new(&language);
    let grammar = language.signatures().grammar(fixed.items())?;
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let round_trip = || -> Result<String, Box<dyn std::error::Error>> {
            let literals = language.parse(&line)?.literals();
            let values: Vec<SuggestedValue> =
                literals.into_iter().map(|literal| SuggestedValue::new(literal, "")).collect();
            let environment = fixed.with_values(&language, &values);
            let grammar = grammar.with_items(&environment.items()[fixed.fixed_items()..]);
            let program = language.read(&line, &grammar, &environment)?;
            let text = language.write(&program, &grammar, &environment);
            if language.read(&text, &grammar, &environment)? != program {
                return Err(format!("not a fixed point: {text}").into());
            }
            Ok(format!("{}\t{text}", program.actions().len()))
        };
        match round_trip() {
            Ok(result) => println!("{result}"),
            Err(error) => println!("-\t{error}"),
        }
    }
    Ok(())
}

fn schema(json: &serde_json::Value) -> Result<Schema, Box<dyn std::error::Error>> {
    let mut schema = Schema::default();
    for (name, columns) in json.as_object().ok_or("a schema is an object of tables")? {
        let columns = columns.as_object().ok_or("a table is an object of columns")?;
        let columns = columns.iter().map(|(name, ty)| {
            let ty = match ty.as_str() {
                Some("text") => ColumnType::Text,
                Some("number") => ColumnType::Number,
                Some("time") => ColumnType::Time,
                Some("boolean") => ColumnType::Boolean,
                _ => ColumnType::Other,
            };
            Column { comment: None, name: name.clone(), ty }
        });
        let columns = columns.collect();
        schema.tables.push(Table {
            comment: None,
            namespace: None,
            name: name.clone(),
            columns,
            primary_key: vec![],
            foreign_keys: vec![],
        });
    }
    Ok(schema)
}
