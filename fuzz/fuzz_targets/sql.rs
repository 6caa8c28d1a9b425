//! Reads any text as a query, writes it, turns it into a program and back, and explains it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::sync::OnceLock;
use xpr_lang::sql::{Column, ColumnType, Dialect, Schema, Sql, SqlEnvironment, SuggestedValue, Table, check};
use xpr_lang::{Environment, Language, Program};

fn language() -> Sql {
    use ColumnType::{Boolean, Number, Other, Text, Time};
    let table = |name: &str, columns: &[(&str, ColumnType)]| {
        let column = |(name, ty): &(&str, ColumnType)| Column { name: (*name).to_owned(), ty: *ty, comment: None };
        let columns = columns.iter().map(column).collect();
        Table {
            name: name.to_owned(),
            namespace: None,
            comment: None,
            columns,
            primary_key: vec![0],
            foreign_keys: vec![],
        }
    };
    Sql::new(Schema {
        dialect: Dialect::Sqlite,
        tables: vec![
            table("state", &[("name", Text), ("area", Number), ("founded", Time), ("c1", Other)]),
            table("t1", &[("order", Number), ("odd \"name\"", Text), ("Boolean", Boolean)]),
            table("select", &[("name", Text), ("area", Number)]),
        ],
    })
}

fuzz_target!(|text: &str| {
    static LANGUAGE: OnceLock<Sql> = OnceLock::new();
    let language = LANGUAGE.get_or_init(language);
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
});
