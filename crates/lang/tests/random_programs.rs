//! Every program of the grammar has a text that reads as the program, and every text is read or refused.
#![allow(clippy::unwrap_used, reason = "these are tests")]

mod equivalence;

use equivalence::Explanations;
use proptest::prelude::*;
use xpr_lang::sql::{
    CheckError, Column, ColumnType, Dialect, Literal, Schema, Sql, SqlEnvironment, SuggestedValue, Table,
    check,
};
use xpr_lang::{Action, Derivation, Environment, Grammar, Language, Program};

fn schema(dialect: Dialect) -> Schema {
    let table = |name: &str, columns: &[(&str, ColumnType)]| {
        let column =
            |(name, ty): &(&str, ColumnType)| Column { comment: None, name: (*name).to_owned(), ty: *ty };
        let columns = columns.iter().map(column).collect();
        Table {
            comment: None,
            namespace: None,
            name: name.to_owned(),
            columns,
            primary_key: vec![0],
            foreign_keys: vec![],
        }
    };
    use ColumnType::*;
    Schema {
        dialect,
        tables: vec![
            table("state", &[("name", Text), ("area", Number), ("founded", Time), ("c1", Other)]),
            table("t1", &[("order", Number), ("odd \"name\"", Text), ("Boolean", Boolean)]),
            table("select", &[("name", Text), ("area", Number)]),
        ],
    }
}

struct Fixture {
    language: Sql,
    environment: SqlEnvironment,
    grammar: Grammar,
}

/// Creates a language over the first tables of the schema. With one table, nearly every column is in scope.
fn fixture(tables: usize, dialect: Dialect) -> Fixture {
    let mut schema = schema(dialect);
    schema.tables.truncate(tables);
    let language = Sql::new(schema);
    let literals = [
        Literal::text("texas"),
        Literal::text("o'neill"),
        Literal::text("2010-01-02"),
        Literal::text("12"),
        Literal::integer(12),
        Literal::number("-2.5").unwrap(),
    ];
    let values = literals.map(|literal| SuggestedValue::new(literal, ""));
    let environment = SqlEnvironment::new(&language).with_values(&language, &values);
    let grammar = language.signatures().grammar(environment.items()).unwrap();
    Fixture { language, environment, grammar }
}

/// Makes a program from random choices, half of them items. When they run out, it takes the shortest completion.
fn derive(grammar: &Grammar, choices: &[u16]) -> Program {
    let mut derivation = Derivation::new(grammar);
    let mut actions = Vec::new();
    let mut choices = choices.iter().copied();
    while let Some(ty) = derivation.expected() {
        let allowed = grammar.allowed(ty);
        let items: Vec<Action> = allowed.items.iter().map(|item| Action::Item(*item)).collect();
        let rules: Vec<Action> = allowed.rules.iter().map(|rule| Action::Rule(*rule)).collect();
        let cost = |action: &&Action| -> usize {
            grammar.arguments(**action).iter().map(|ty| grammar.shortest(*ty).unwrap()).sum()
        };
        let action = match choices.next() {
            Some(choice) => {
                let from =
                    if rules.is_empty() || choice % 2 == 0 && !items.is_empty() { &items } else { &rules };
                from[usize::from(choice / 2) % from.len()]
            }
            None => *items.iter().chain(&rules).min_by_key(cost).unwrap(),
        };
        derivation.advance(grammar, action).unwrap();
        actions.push(action);
    }
    Program::from_actions(grammar, &actions).unwrap()
}

/// Returns whether an error says that a column or output is out of scope.
fn is_out_of_scope(error: &CheckError) -> bool {
    matches!(error, CheckError::UnknownName(name) if name.contains("unbound") || name.starts_with("output ") || name.contains("* without FROM"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn the_text_of_a_program_reads_as_the_program(
        tables in 1..=3_usize,
        dialect in prop::sample::select(DIALECTS),
        choices in prop::collection::vec(any::<u16>(), 0..60),
    ) {
        let Fixture { language, environment, grammar } = fixture(tables, dialect);
        let program = derive(&grammar, &choices);
        let text = language.write(&program, &grammar, &environment);
        match check(&text, language.schema()) {
            Ok(checked) => {
                prop_assert_eq!(&checked.text, &text);
                let read = language.read(&text, &grammar, &environment);
                prop_assert_eq!(read.as_ref(), Ok(&program), "{}", text);
            }
                // The grammar does not know which tables are in FROM.
            Err(error) => prop_assert!(is_out_of_scope(&error), "{error}\n{text}"),
        }
    }

    #[test]
    fn no_text_causes_a_panic(text in "\\PC{0,60}", dialect in prop::sample::select(DIALECTS)) {
        let _ = check(&text, &schema(dialect));
    }

    #[test]
    fn the_canonical_text_of_random_words_is_a_fixed_point(
        words in prop::collection::vec(prop::sample::select(WORDS), 0..40),
        dialect in prop::sample::select(DIALECTS),
    ) {
        let schema = schema(dialect);
        if let Ok(checked) = check(&words.join(" "), &schema) {
            let again = check(&checked.text, &schema).unwrap();
            prop_assert_eq!(again.text, checked.text);
        }
    }
}

#[test]
fn random_programs_that_mean_different_things_have_different_explanations() {
    // A linear congruential generator, so that a failure occurs again.
    let mut state = 1_u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u16
    };
    for tables in 1..=3 {
        let Fixture { language, environment, grammar } = fixture(tables, Dialect::Sqlite);
        let mut explanations = Explanations::default();
        for _ in 0..60_000 {
            let choices: Vec<u16> = (0..random() % 24).map(|_| random()).collect();
            let query = language.decode(&derive(&grammar, &choices), &environment);
            if check(&language.text(&query), language.schema()).is_ok() {
                explanations.add(&language, &query);
            }
        }
        assert!(explanations.len() > 1_500, "{}", explanations.len());
        assert!(explanations.clashes.is_empty(), "{}", explanations.clashes.join("\n"));
    }
}

const DIALECTS: &[Dialect] = &[Dialect::Sqlite, Dialect::Postgres, Dialect::DuckDb];

const WORDS: &[&str] = &[
    "SELECT",
    "FROM",
    "WHERE",
    "state",
    "t1",
    "name",
    "area",
    "state.area",
    "\"texas\"",
    "'x'",
    "1",
    "2.5",
    "(",
    ")",
    ",",
    "*",
    "+",
    "-",
    "/",
    "||",
    "=",
    "<",
    "<>",
    "AND",
    "OR",
    "NOT",
    "IN",
    "LIKE",
    "BETWEEN",
    "IS",
    "NULL",
    "EXISTS",
    "AS",
    "a",
    "JOIN",
    "LEFT",
    "ON",
    "USING",
    "GROUP BY",
    "HAVING",
    "ORDER BY",
    "DESC",
    "LIMIT",
    "OFFSET",
    "UNION",
    "EXCEPT",
    "DISTINCT",
    "COUNT",
    "SUM",
    "CASE",
    "WHEN",
    "THEN",
    "ELSE",
    "END",
    "CAST",
    "WITH",
    "MATCH",
    "REGEXP",
    ";",
    "[",
    "\"",
];

#[test]
fn what_is_read_of_long_chains_can_be_read_again() {
    for dialect in DIALECTS {
        let schema = schema(*dialect);
        let mut longest = 0;
        for n in 1..120 {
            let texts = [
                format!("SELECT area{} FROM state", " + 1 * area".repeat(n)),
                format!("SELECT area{} FROM state", " - area".repeat(n)),
                format!("SELECT {}area FROM state", "- ".repeat(n)),
                format!("SELECT name{} FROM state", " || name".repeat(n)),
                format!("SELECT {}1 + area{} FROM state", "(area * ".repeat(n), ")".repeat(n)),
            ];
            for text in texts {
                let Ok(checked) = check(&text, &schema) else { continue };
                longest = n;
                let again =
                    check(&checked.text, &schema).unwrap_or_else(|error| panic!("{n} in {text}: {error}"));
                assert_eq!(again.text, checked.text);
            }
        }
        assert!(longest >= 24, "chains of {longest} operations can be read");
    }
}

#[test]
fn hostile_texts_do_not_overflow_the_stack() {
    let deep = |open: &str, close: &str, n: usize| {
        format!("SELECT {}area{} FROM state", open.repeat(n), close.repeat(n))
    };
    let texts = [
        deep("(", ")", 20_000),
        deep("-(", ")", 5_000),
        deep("(SELECT ", " FROM state)", 1_000),
        deep("NOT ", "", 5_000),
        deep("CASE WHEN 1 THEN ", " END", 900),
        format!("SELECT area{} FROM state", " + 1".repeat(2_900)),
        format!("SELECT area{} FROM state", " + 1".repeat(30_000)),
        format!("SELECT 1{}", " UNION SELECT 1".repeat(1_900)),
        format!("SELECT * FROM state{}", ", state".repeat(2_900)),
        // These took time that doubles with each level.
        format!("SELECT CASE {}", "WHEN 0 THEN CASE ".repeat(1_000)),
        format!("SELECT {}", "CAST(".repeat(90)),
        format!("SELECT {},{}", "floor(".repeat(90), ")".repeat(90)),
        format!("SELECT {},{}", "substr(".repeat(90), ")".repeat(90)),
        format!("SELECT {},", "NOT ".repeat(90)),
        "SELECT * FROM (((".repeat(30),
        "SELECT a FROM b, ((".repeat(40),
        "SELECT a FROM b JOIN ((".repeat(40),
        "SELECT a IN ((".repeat(45),
        "SELECT a IN (b NOT IN (SELECT + ".repeat(30),
        "SELECT a FROM (b JOIN (".repeat(45),
        "SELECT a MATCH FROM state".to_owned(),
        "SELECT a REGEXP )".to_owned(),
        "\0".to_owned(),
        "'".to_owned(),
        "\"".to_owned(),
        "/*".to_owned(),
    ];
    let language = Sql::new(schema(Dialect::Sqlite));
    let explain = |text: &str| {
        let _ = check(text, &schema(Dialect::Postgres));
        check(text, &schema(Dialect::Sqlite)).map(|checked| language.explain_query(&checked.query))
    };
    for text in texts {
        let _ = explain(&text);
    }
    // Joins in parentheses are not deep.
    let mut joins = "state a".to_owned();
    for i in 0..12 {
        joins = format!("({joins} JOIN state b{i} ON a.name = b{i}.name)");
    }
    for dialect in [Dialect::Sqlite, Dialect::Postgres] {
        let joins = format!(
            "SELECT a.area FROM {joins} WHERE a.area IN (SELECT ((area)) FROM (SELECT area FROM state) c)"
        );
        check(&joins, &schema(dialect)).unwrap();
    }
    // A long chain is not deep.
    let long = format!("SELECT area FROM state WHERE area = 1{}", " OR area = 1".repeat(900));
    assert!(check(&long, &schema(Dialect::Sqlite)).is_ok());
    // Each common table expression doubles the one before.
    let mut doubling = "WITH x0 AS (SELECT name FROM state)".to_owned();
    for i in 1..30 {
        doubling += &format!(", x{i} AS (SELECT a.name FROM x{} a, x{} b)", i - 1, i - 1);
    }
    assert!(explain(&format!("{doubling} SELECT name FROM x10")).is_ok());
    let error = check(&(doubling + " SELECT * FROM x29"), &schema(Dialect::Sqlite)).unwrap_err();
    assert!(matches!(error, CheckError::NotSupported(_)), "{error}");
}
