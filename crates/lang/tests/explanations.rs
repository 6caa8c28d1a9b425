//! Explanations of queries: what they say, and that queries which mean different things have different ones.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "these are tests")]

mod equivalence;

use equivalence::Explanations;
use xpr_lang::sql::{Column, ColumnId, ColumnType, ForeignKey, Schema, Sql, SqlEnvironment, Table, TableId};
use xpr_lang::{Environment, Language};

/// Tables with their columns. The first column is the primary key, and `>` names the table that a column refers to.
const FILMS: &[(&str, &str)] = &[
    (
        "film",
        "id number, title text, genre text, minutes number, released time, director_id number>person, writer_id number>person, studio_id number>studio",
    ),
    ("person", "id number, name text, born time"),
    ("role", "id number, film_id number>film, person_id number>person, fee number"),
    ("studio", "id number, name text, city text, founded number"),
    // Names that could be mistaken for parts of a sentence.
    (
        "total",
        "minutes number, total_minutes number, number_of_totals number, whose text, total number, totals number",
    ),
];

fn schema(tables: &[(&str, &str)]) -> Schema {
    let id = |name: &str| TableId(tables.iter().position(|(table, _)| *table == name).unwrap() as u32);
    let table = |(name, columns): &(&str, &str)| {
        let mut table = Table {
            comment: None,
            namespace: None,
            name: (*name).to_owned(),
            columns: vec![],
            primary_key: vec![0],
            foreign_keys: vec![],
        };
        for (index, column) in columns.split(", ").enumerate() {
            let (column, to) =
                column.split_once('>').map_or((column, None), |(column, to)| (column, Some(to)));
            let (name, ty) = column.split_once(' ').unwrap();
            let ty = match ty {
                "text" => ColumnType::Text,
                "number" => ColumnType::Number,
                _ => ColumnType::Time,
            };
            table.columns.push(Column { comment: None, name: name.to_owned(), ty });
            if let Some(to) = to {
                let to = vec![ColumnId { table: id(to), column: 0 }];
                table.foreign_keys.push(ForeignKey { columns: vec![index as u32], to, confidence: 1.0 });
            }
        }
        table
    };
    Schema { dialect: Default::default(), tables: tables.iter().map(table).collect() }
}

/// Queries with their explanations, each checked by hand.
const EXAMPLES: &str = include_str!("explanations/films.txt");

/// Returns the queries and explanations of [`EXAMPLES`]: two lines each, with empty lines between them.
fn examples() -> impl Iterator<Item = (&'static str, &'static str)> {
    let blocks = EXAMPLES.split("\n\n").map(str::trim).filter(|block| !block.is_empty());
    blocks.map(|block| block.split_once('\n').unwrap())
}

#[test]
fn queries_are_explained_as_people_would_say_it() {
    let language = Sql::new(schema(FILMS));
    let mut differences = Vec::new();
    for (text, expected) in examples() {
        let query = language.parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let sentence = language.explain_query(&query);
        if sentence != expected {
            differences.push(format!("{text}\n{sentence}\n"));
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn columns_have_the_names_of_the_schema_or_of_what_they_are_computed_from() {
    let language = Sql::new(schema(FILMS));
    let fixed = SqlEnvironment::new(&language);
    let grammar = language.signatures().grammar(fixed.items()).unwrap();
    for (text, expected) in [
        ("SELECT title, studio_id FROM film", "title, studio_id"),
        (
            "SELECT genre, count(*), avg(minutes) FROM film GROUP BY genre",
            "genre, number of films, average minutes",
        ),
        ("SELECT * FROM person", "id, name, born"),
        ("SELECT p.*, r.fee FROM role r JOIN person p ON r.person_id = p.id", "id, name, born, fee"),
        (
            "SELECT (SELECT max(fee) FROM role), minutes > fee FROM film, role",
            "column 1, whether the minutes of the film is greater than the fee of the role",
        ),
    ] {
        let program = language.read(text, &grammar, &fixed).unwrap();
        let names = language.column_names(&program, &grammar, &fixed).unwrap();
        assert_eq!(names.join(", "), expected);
    }
}

#[test]
fn queries_that_mean_different_things_have_different_explanations() {
    let language = Sql::new(schema(FILMS));
    let mut explanations = Explanations::default();
    for (text, _) in examples() {
        explanations.add_with_mutations(&language, &language.parse(text).unwrap());
    }
    assert!(explanations.clashes.is_empty(), "{}", explanations.clashes.join("\n"));
    assert!(explanations.len() > 1_500, "{}", explanations.len());
}
