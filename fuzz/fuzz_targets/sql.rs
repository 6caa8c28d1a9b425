//! Reads any text as a query in each dialect, writes it, turns it into a program and back, and explains it. What the guard of a
//! server accepts, it accepts again in its own words.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::sync::OnceLock;
use xpr_lang::sql::{
    Column, ColumnType, Dialect, Schema, Sql, SqlEnvironment, SuggestedValue, Table, check, guard,
};
use xpr_lang::{Environment, Language, Program};

const DIALECTS: [Dialect; 3] = [Dialect::Sqlite, Dialect::Postgres, Dialect::DuckDb];
/// Functions that the guard allows, in order.
const FUNCTIONS: [&str; 6] = ["avg", "count", "date_trunc", "lower", "string_agg", "sum"];

fn language(dialect: Dialect) -> Sql {
    use ColumnType::{Boolean, Number, Other, Text, Time};
    let table = |namespace: Option<&str>, name: &str, columns: &[(&str, ColumnType)]| {
        let column =
            |(name, ty): &(&str, ColumnType)| Column { name: (*name).to_owned(), ty: *ty, comment: None };
        let columns = columns.iter().map(column).collect();
        Table {
            name: name.to_owned(),
            namespace: namespace.map(str::to_owned),
            comment: None,
            columns,
            primary_key: vec![0],
            foreign_keys: vec![],
        }
    };
    // Tables of SQLite are in no schema, and all others in one.
    let [main, sales] = match dialect {
        Dialect::Sqlite => [None; 2],
        Dialect::Postgres => [Some("public"), Some("sales")],
        Dialect::DuckDb => [Some("main"), Some("sales")],
    };
    Sql::new(Schema {
        dialect,
        tables: vec![
            table(main, "state", &[("name", Text), ("area", Number), ("founded", Time), ("c1", Other)]),
            table(sales, "t1", &[("order", Number), ("odd \"name\"", Text), ("Boolean", Boolean)]),
            table(main, "select", &[("name", Text), ("area", Number)]),
        ],
    })
}

fuzz_target!(|text: &str| {
    static LANGUAGES: OnceLock<[Sql; 3]> = OnceLock::new();
    for language in LANGUAGES.get_or_init(|| DIALECTS.map(language)) {
        read(text, language);
        if language.schema().dialect != Dialect::Sqlite {
            guard_twice(text, language.schema());
        }
    }
});

fn read(text: &str, language: &Sql) {
    let Ok(query) = language.parse(text) else {
        let _ = check(text, language.schema());
        return;
    };
    let written = language.text(&query);
    let again = language.parse(&written).expect("what was written can be read");
    assert_eq!(again, query, "{written}");
    assert_eq!(language.text(&again), written);
    let _ = language.explain_query(&query);

    let values: Vec<SuggestedValue> =
        query.literals().into_iter().map(|literal| SuggestedValue::new(literal, "")).collect();
    let environment = SqlEnvironment::new(language).with_values(language, &values);
    let grammar = language.signatures().grammar(environment.items()).expect("the schema has tables");
    if let Ok(program) = language.encode(&query, &grammar, &environment) {
        let program = Program::from_actions(&grammar, program.actions()).expect("its actions are a program");
        assert_eq!(language.decode(&program, &environment), query, "{written}");
    }
}

/// What the guard writes before names of functions and tables, and does not accept of others.
const WRITTEN_BY_GUARD: [&str; 2] = ["pg_catalog.", "\"attached\"."];

fn guard_twice(text: &str, schema: &Schema) {
    if WRITTEN_BY_GUARD.iter().any(|prefix| text.contains(prefix)) {
        return;
    }
    let Ok(guarded) = guard(text, schema, &FUNCTIONS) else { return };
    let bare =
        |text: &str| WRITTEN_BY_GUARD.iter().fold(text.to_owned(), |text, prefix| text.replace(prefix, ""));
    let again = guard(&bare(&guarded.text), schema, &FUNCTIONS).expect("what was accepted is accepted again");
    assert_eq!(bare(&again.text), bare(&guarded.text));
    assert_eq!(again.tables, guarded.tables, "{}", guarded.text);
}
