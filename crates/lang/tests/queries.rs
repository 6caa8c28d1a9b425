//! Converts queries in the styles of text-to-SQL datasets, over invented databases, to actions and back.
//!
//! A file in `queries/` starts with a schema (`-- table(column type, …)`, with the types of [`ColumnType`]) and has one
//! query on each line after it. Each query is read, written, and read again. `refused.sql` has queries that are refused,
//! with the reason.
#![allow(clippy::unwrap_used, reason = "these are tests")]

use xpr_lang::sql::{Column, ColumnType, Schema, Sql, SqlEnvironment, SuggestedValue, Table, check};
use xpr_lang::{Action, Environment, Language, Program};

/// Returns the schema and the queries of a file.
fn parse(file: &str) -> (Schema, Vec<&str>) {
    let mut schema = Schema::default();
    let mut queries = Vec::new();
    for line in file.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let Some(table) = line.strip_prefix("-- ") else {
            queries.push(line);
            continue;
        };
        let Some((name, columns)) = table.strip_suffix(')').and_then(|table| table.split_once('(')) else {
            continue;
        };
        let column = |column: &str| {
            let (name, ty) = column.trim().rsplit_once(' ').unwrap();
            let ty = match ty {
                "text" => ColumnType::Text,
                "number" => ColumnType::Number,
                "time" => ColumnType::Time,
                "boolean" => ColumnType::Boolean,
                "other" => ColumnType::Other,
                unknown => panic!("{unknown} is not a type"),
            };
            Column { comment: None, name: name.trim_matches('"').to_owned(), ty }
        };
        let columns = columns.split(',').map(column).collect();
        schema.tables.push(Table {
            comment: None,
            namespace: None,
            name: name.to_owned(),
            columns,
            primary_key: vec![],
            foreign_keys: vec![],
        });
    }
    (schema, queries)
}

/// Converts a query to actions and back, and returns its canonical text and its program.
fn round_trip(language: &Sql, fixed: &SqlEnvironment, text: &str) -> Result<(String, Program), String> {
    let query = language.parse(text).map_err(|error| error.to_string())?;
    let values: Vec<SuggestedValue> =
        query.literals().into_iter().map(|literal| SuggestedValue::new(literal, "")).collect();
    let environment = fixed.with_values(language, &values);
    let grammar = language.signatures().grammar(environment.items()).unwrap();
    let program = language.read(text, &grammar, &environment).map_err(|error| error.to_string())?;
    assert_eq!(language.decode(&program, &environment), query, "{text}");
    // A search that names every table before its columns can find the program.
    let mut named = Vec::new();
    for action in program.actions() {
        if let Action::Item(item) = action {
            assert!(environment.after(*item).is_none_or(|table| named.contains(&table)), "{text}");
            named.push(*item);
        }
    }
    let canonical = language.write(&program, &grammar, &environment);
    assert_eq!(language.read(&canonical, &grammar, &environment).as_ref(), Ok(&program), "{canonical}");
    Ok((canonical, program))
}

#[test]
fn queries_are_unchanged_by_a_round_trip_through_actions() {
    let files = [
        ("university", include_str!("queries/university.sql")),
        ("shop", include_str!("queries/shop.sql")),
        ("papers", include_str!("queries/papers.sql")),
        ("flights", include_str!("queries/flights.sql")),
    ];
    let (mut count, mut failures) = (0, Vec::new());
    for (name, file) in files {
        let (schema, queries) = parse(file);
        let language = Sql::new(schema);
        let fixed = SqlEnvironment::new(&language);
        for text in queries {
            if let Err(error) = round_trip(&language, &fixed, text) {
                failures.push(format!("{name}: {error}\n{text}"));
            }
            count += 1;
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(count >= 160, "{count} queries");
}

#[test]
fn unsupported_and_wrong_queries_are_refused_with_the_reason() {
    let (schema, lines) = parse(include_str!("queries/refused.sql"));
    for line in lines {
        let (reason, query) = line.split_once(" | ").unwrap();
        let error = check(query, &schema).expect_err(query).to_string();
        assert_eq!(error, reason, "{query}");
    }
}

#[test]
fn queries_have_the_expected_canonical_text_and_length() {
    let (schema, lines) = parse(include_str!("queries/canonical.sql"));
    let language = Sql::new(schema);
    let fixed = SqlEnvironment::new(&language);
    for pair in lines.chunks(2) {
        let (canonical, program) =
            round_trip(&language, &fixed, pair[0]).unwrap_or_else(|error| panic!("{error}: {}", pair[0]));
        let (length, expected) = pair[1].split_once(' ').unwrap();
        assert_eq!(canonical, expected);
        assert_eq!(program.actions().len().to_string(), length, "{canonical}");
    }
}

#[test]
fn queries_that_return_only_constants_are_recognised() {
    let (schema, _) = parse(include_str!("queries/shop.sql"));
    let table = schema.tables[0].name.clone();
    let column = schema.tables[0].columns[0].name.clone();
    let language = Sql::new(schema);
    for (query, expected) in [
        (format!("SELECT 'jazz' FROM {table}"), true),
        (format!("SELECT 1, 'jazz' FROM {table} WHERE {column} = 1"), true),
        ("SELECT 1 + 1".to_owned(), true),
        (format!("SELECT 1, {column} FROM {table}"), false),
        (format!("SELECT count(*) FROM {table}"), false),
        (format!("SELECT * FROM {table}"), false),
        (format!("SELECT EXISTS (SELECT 1 FROM {table})"), false),
        (format!("SELECT 1 UNION SELECT {column} FROM {table}"), false),
    ] {
        let read = language.parse(&query).unwrap();
        assert_eq!(read.returns_only_constants(), expected, "{query}");
    }
}
