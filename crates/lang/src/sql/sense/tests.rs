//! Each rule with queries that it leaves out, and like ones that it does not.

use crate::sql::{
    Column, ColumnId, ColumnType, ForeignKey, LabelPatterns, Literal, Schema, SearchFacts, Sql,
    SqlEnvironment, SuggestedValue, Table, TableId,
};
use crate::{Derivation, Environment, Grammar, Language, completion};

const CITY: TableId = TableId(0);
const STATE: TableId = TableId(1);
const CITY_NAME: ColumnId = ColumnId { table: CITY, column: 0 };
const CITY_STATE: ColumnId = ColumnId { table: CITY, column: 1 };
const POPULATION: ColumnId = ColumnId { table: CITY, column: 2 };
const STATE_NAME: ColumnId = ColumnId { table: STATE, column: 0 };
const AREA: ColumnId = ColumnId { table: STATE, column: 1 };

fn language() -> Sql {
    let table = |name: &str, columns: &[(&str, ColumnType)], foreign_keys| Table {
        comment: None,
        namespace: None,
        name: name.into(),
        columns: columns.iter().map(|&(name, ty)| Column { comment: None, name: name.into(), ty }).collect(),
        primary_key: vec![0],
        foreign_keys,
    };
    use ColumnType::*;
    let key = ForeignKey { columns: vec![1], to: vec![STATE_NAME], confidence: 1.0 };
    Sql::new(Schema {
        dialect: Default::default(),
        tables: vec![
            table("city", &[("name", Text), ("state", Text), ("population", Number)], vec![key]),
            table(
                "state",
                &[("name", Text), ("area", Number), ("founded", Time), ("coastal", Boolean)],
                vec![],
            ),
            table("band", &[("title", Text), ("members", Number)], vec![]),
        ],
    })
}

/// Returns the environment of the question "the 3 cities with more than 500 people, founded in 1846, austin or dallas, texas", after
/// these labels.
fn environment(language: &Sql, labels: &[&str]) -> SqlEnvironment {
    let mut patterns = LabelPatterns::default();
    for label in labels {
        patterns.add(language, &language.parse(label).unwrap(), |_| false);
    }
    let ranges = vec![(POPULATION, [100.0, 1000.0]), (AREA, [10.0, 90.0])];
    let facts = SearchFacts { ranges, labels: Some(patterns) };
    let text = |text: &str, columns: &[ColumnId]| SuggestedValue {
        columns: columns.to_vec(),
        ..SuggestedValue::new(Literal::text(text), text)
    };
    let number = |number: i64, is_count| SuggestedValue {
        is_count,
        ..SuggestedValue::new(Literal::integer(number), number.to_string())
    };
    let said = [
        text("austin", &[CITY_NAME]),
        text("dallas", &[CITY_NAME]),
        text("texas", &[CITY_STATE, STATE_NAME]),
        text("1846-01-01", &[]),
        number(3, true),
        number(500, false),
        number(1846, false),
    ];
    let constants =
        [("700", 700), ("2", 2)].map(|(phrase, n)| SuggestedValue::new(Literal::integer(n), phrase));
    SqlEnvironment::new(language)
        .with_constants(language, &constants)
        .with_sense(language, &facts)
        .with_values(language, &said)
}

/// Returns whether search offers every action of a query and accepts the whole.
fn makes_sense(text: &str, labels: &[&str]) -> bool {
    let language = language();
    let environment = environment(&language, labels);
    let grammar = language.signatures().grammar(environment.items()).unwrap();
    let program =
        language.read(text, &grammar, &environment).unwrap_or_else(|error| panic!("{error}: {text}"));
    let sense = environment.sense().unwrap();
    let actions = program.actions();
    let all =
        (0..actions.len()).all(|at| sense.next_action(&grammar, &actions[..at]).makes_sense(actions[at]));
    all && sense.meaning(&program).is_some()
}

fn check(sensible: &[&str], nonsense: &[&str]) {
    for text in sensible {
        assert!(makes_sense(text, &[]), "makes sense: {text}");
    }
    for text in nonsense {
        assert!(!makes_sense(text, &[]), "makes no sense: {text}");
    }
}

#[test]
fn a_number_of_the_question_is_compared_and_not_part_of_what_is_compared() {
    let (computed, compared) =
        ("SELECT population / 500 FROM city", "SELECT name FROM city WHERE population - 500 = 500");
    check(&[computed], &[compared]);
    let label = "SELECT name FROM city WHERE population - 500 > 3";
    assert!(makes_sense(compared, &[label]), "a label may say anything");
}

#[test]
fn a_query_as_a_value_and_the_parts_of_a_compound_have_one_width() {
    check(
        &[
            "SELECT name FROM city UNION SELECT name FROM state",
            "SELECT name, population FROM city EXCEPT SELECT state, population FROM city",
            "SELECT title, members FROM band UNION SELECT * FROM band WHERE members > 500",
            "SELECT name FROM city WHERE state IN (SELECT name FROM state)",
        ],
        &[
            "SELECT name FROM city UNION SELECT name, area FROM state",
            "SELECT name, area FROM state INTERSECT SELECT name FROM city",
            "SELECT name FROM city UNION SELECT * FROM state",
            "SELECT name FROM city WHERE state IN (SELECT name, area FROM state)",
            "SELECT name FROM city WHERE population = (SELECT MAX(population), name FROM city)",
        ],
    );
}

#[test]
fn aggregates_are_of_values_and_where_groups_are() {
    check(
        &[
            "SELECT COUNT(*), MAX(population) FROM city",
            "SELECT state, COUNT(*) FROM city GROUP BY state HAVING COUNT(*) > 3",
            "SELECT state FROM city GROUP BY state ORDER BY SUM(population) DESC LIMIT 1",
        ],
        &[
            "SELECT name, MAX(population) FROM city",
            "SELECT MAX(population), name FROM city",
            "SELECT *, COUNT(*) FROM city",
            "SELECT DISTINCT COUNT(*) FROM city",
            "SELECT COUNT(*) FROM city ORDER BY population",
            "SELECT name FROM city ORDER BY COUNT(*)",
            "SELECT SUM(founded) FROM state",
            "SELECT SUM(coastal) FROM state",
            "SELECT state FROM city GROUP BY state HAVING population > 500",
        ],
    );
    // As a label has it, SQLite takes a column from the row with the greatest value, but nothing that is computed.
    let label = "SELECT MIN(area), name FROM state";
    assert!(makes_sense("SELECT name, MAX(population) FROM city", &[label]));
    assert!(!makes_sense("SELECT population + 3, MAX(population) FROM city", &[label]));
    assert!(!makes_sense("SELECT name, COUNT(*) FROM city", &[label]));
    // SQLite refuses these, and so does the reader for some.
    for nested in ["SELECT SUM(COUNT(*)) FROM city", "SELECT name FROM city WHERE COUNT(*) > 3"] {
        assert!(!makes_sense(nested, &[]), "{nested}");
    }
}

#[test]
fn tables_are_joined_along_keys_or_as_labels_join_them() {
    let by_no_key = "SELECT area FROM state, band WHERE state.name = band.title";
    check(
        &[
            "SELECT area FROM city, state WHERE city.state = state.name AND city.name = 'austin'",
            "SELECT area FROM state, city WHERE population > 500 AND city.state = state.name",
            "SELECT name FROM state WHERE name NOT IN (SELECT state FROM city)",
            "SELECT name FROM city WHERE population > (SELECT AVG(population) FROM city)",
        ],
        &[
            by_no_key,
            "SELECT area FROM city, state",
            "SELECT area FROM city, state WHERE city.name = 'austin'",
            "SELECT area FROM city, state WHERE city.name = state.name",
            "SELECT area FROM city, state WHERE city.population = state.area",
            "SELECT name FROM city WHERE name IN (SELECT name FROM state)",
            "SELECT name FROM city WHERE population > (SELECT AVG(area) FROM state)",
            "SELECT name FROM city WHERE EXISTS (SELECT * FROM state)",
        ],
    );
    assert!(makes_sense(by_no_key, &["SELECT COUNT(*) FROM band, state WHERE band.title = state.name"]));
}

#[test]
fn constants_are_in_their_column_and_called_for() {
    let by_label = "SELECT name FROM city WHERE population > 700";
    check(
        &[
            "SELECT name FROM city WHERE name = 'austin'",
            "SELECT name FROM city WHERE state = 'texas' AND population > 500",
            "SELECT name FROM city WHERE population > 1846",
            "SELECT name FROM state WHERE founded > '1846-01-01'",
            "SELECT name FROM state WHERE coastal = 1",
            "SELECT state FROM city GROUP BY state HAVING COUNT(*) > 1",
            "SELECT name FROM city WHERE name LIKE '%austin%'",
        ],
        &[
            by_label,
            "SELECT name FROM state WHERE name = 'austin'",
            "SELECT name FROM city WHERE population = 1846",
            "SELECT name FROM state WHERE area > 1846",
            "SELECT name FROM city WHERE population > 0",
            "SELECT name FROM city WHERE name = 3",
            "SELECT name FROM state WHERE founded = 1846",
            "SELECT state FROM city GROUP BY state HAVING COUNT(*) > 2",
            "SELECT population + 2 FROM city",
            "SELECT 'austin' FROM city",
        ],
    );
    assert!(makes_sense(by_label, &["SELECT COUNT(*) FROM city WHERE population > 700"]));
    // A label that has a constant with one column says nothing about others.
    assert!(!makes_sense(
        "SELECT name FROM city WHERE population > 700",
        &["SELECT name FROM state WHERE area > 700"]
    ));
}

#[test]
fn limits_are_counts_of_the_question_or_one_of_sorted_rows() {
    check(
        &[
            "SELECT name FROM city ORDER BY population DESC LIMIT 1",
            "SELECT name FROM city ORDER BY population DESC LIMIT 3",
            "SELECT name FROM city LIMIT 3",
        ],
        &[
            "SELECT name FROM city ORDER BY population DESC LIMIT 1846",
            "SELECT name FROM city ORDER BY population DESC LIMIT 500",
            "SELECT name FROM city ORDER BY population DESC LIMIT 2",
            "SELECT name FROM city LIMIT 1",
        ],
    );
}

#[test]
fn order_is_of_what_has_one_and_of_rows_that_are_shown() {
    check(
        &[
            "SELECT name FROM city ORDER BY name",
            "SELECT name FROM city WHERE population BETWEEN 500 AND 1846",
        ],
        &[
            "SELECT name FROM city WHERE name <= 'austin'",
            "SELECT name FROM city WHERE name BETWEEN 'austin' AND 'dallas'",
            "SELECT name FROM city WHERE population BETWEEN 1846 AND 500",
            "SELECT name FROM state WHERE name IN (SELECT state FROM city ORDER BY population)",
        ],
    );
}

#[test]
fn nothing_is_said_twice() {
    check(
        &[
            "SELECT name FROM city WHERE name = 'austin' OR name = 'dallas'",
            "SELECT name FROM city WHERE name IN ('austin', 'dallas')",
        ],
        &[
            "SELECT name FROM city WHERE name = name",
            "SELECT name FROM city WHERE name = 'austin' OR name = 'austin'",
            "SELECT name FROM city WHERE name = 'austin' AND population > 500 AND name = 'austin'",
            "SELECT name FROM city WHERE name = 'austin' AND name = 'dallas'",
            "SELECT name FROM city WHERE name IN ('austin')",
            "SELECT name FROM city WHERE name IN ('austin', 'austin')",
            "SELECT name, name FROM city",
            "SELECT name FROM city UNION SELECT name FROM city",
            "SELECT population - population FROM city",
        ],
    );
}

#[test]
fn rare_rules_need_a_label() {
    let upper = "SELECT UPPER(name) FROM city";
    assert!(!makes_sense(upper, &[]));
    assert!(makes_sense(upper, &["SELECT UPPER(state) FROM city"]));
}

#[test]
fn queries_that_mean_the_same_have_the_same_meaning() {
    let language = language();
    let environment = environment(&language, &[]);
    let grammar = language.signatures().grammar(environment.items()).unwrap();
    let meaning = |text: &str| {
        let program = language.read(text, &grammar, &environment).unwrap();
        environment.sense().unwrap().meaning(&program).unwrap()
    };
    for (left, right, is_same) in [
        (
            "SELECT area FROM city, state WHERE city.state = state.name AND city.name = 'austin'",
            "SELECT area FROM state, city WHERE city.name = 'austin' AND state.name = city.state",
            true,
        ),
        (
            "SELECT name FROM city WHERE name = 'austin' OR name = 'dallas'",
            "SELECT name FROM city WHERE name IN ('dallas', 'austin')",
            true,
        ),
        (
            "SELECT name FROM city WHERE population BETWEEN 3 AND 500",
            "SELECT name FROM city WHERE population <= 500 AND population >= 3",
            true,
        ),
        (
            "SELECT name FROM state WHERE name IN (SELECT state FROM city)",
            "SELECT name FROM state WHERE name IN (SELECT DISTINCT state FROM city)",
            true,
        ),
        ("SELECT name FROM city", "SELECT DISTINCT name FROM city", false),
        ("SELECT name, state FROM city", "SELECT state, name FROM city", false),
        ("SELECT name FROM city WHERE population > 3", "SELECT name FROM city WHERE population < 3", false),
    ] {
        assert_eq!(meaning(left) == meaning(right), is_same, "{left}\n{right}");
    }
}

/// A column of a query's table is not offered outside of the query, although its table was named before.
#[test]
fn columns_are_offered_where_their_table_is_in_scope() {
    let language = language();
    let environment = environment(&language, &[]);
    let grammar = language.signatures().grammar(environment.items()).unwrap();
    let text = "SELECT city.name FROM city WHERE city.state IN (SELECT state.name FROM state WHERE state.area > 500)";
    let program = language.read(text, &grammar, &environment).unwrap();
    let column = |symbol: &str| crate::Action::Item(environment.find(symbol).unwrap());
    let sense = environment.sense().unwrap();
    let (outer, inner) = (column("city.name"), column("state.name"));
    let is_offered =
        |at: usize, action| sense.next_action(&grammar, &program.actions()[..at]).makes_sense(action);
    let output = program.actions().len() - 1;
    assert!(is_offered(output, outer) && !is_offered(output, inner));
    let inner_output = program.actions().iter().position(|action| *action == inner).unwrap();
    assert!(is_offered(inner_output, inner) && !is_offered(inner_output, column("state.area")));
}

/// Whatever makes sense one by one can be completed, or [`completion`] says that it cannot.
#[test]
fn what_search_offers_can_be_completed() {
    let language = language();
    let environment = environment(&language, &["SELECT name FROM city WHERE population - 500 > 3"]);
    let grammar = language.signatures().grammar(environment.items()).unwrap();
    let sense = environment.sense().unwrap();
    let advanced = |actions: &[crate::Action], grammar: &Grammar| {
        let mut derivation = Derivation::new(grammar);
        actions.iter().for_each(|&action| derivation.advance(grammar, action).unwrap());
        derivation
    };
    // A list has two values or more, and only one of the numbers is near those of the column.
    let text = "SELECT name FROM city WHERE population IN (500, 3)";
    let program = language.read(text, &grammar, &environment).unwrap();
    let population = crate::Action::Item(environment.find("city.population").unwrap());
    let at = program.actions().iter().position(|action| *action == population).unwrap();
    let before = &program.actions()[..at];
    let is_offered = sense.next_action(&grammar, before).makes_sense(population);
    assert!(is_offered, "only a look ahead shows that it leads nowhere");
    let with_column = [before, &[population]].concat();
    assert_eq!(completion(sense, &grammar, &advanced(&with_column, &grammar), &with_column), None);
    let rest = completion(sense, &grammar, &advanced(before, &grammar), before).unwrap();
    assert!(advanced(&[before, &rest].concat(), &grammar).is_complete());
}
