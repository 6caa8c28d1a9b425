//! Values that questions may mean, in small databases and in that of GeoQuery.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "these are tests")]

mod support;

use proptest::prelude::*;
use std::ops::ControlFlow;
use std::time::Instant;
use support::{TestDatabase, data_folder};
use xpr_exec::database::{DatabaseError, ValueCandidate, ValueIndex, ValueLimits};
use xpr_exec::sqlite::SqliteDatabase;
use xpr_lang::sql::{ColumnId, ColumnType, Schema, TableId};

fn index(database: &SqliteDatabase, limits: ValueLimits) -> (Schema, ValueIndex) {
    let schema = database.schema().unwrap();
    let index = ValueIndex::read(database, &schema, limits, &mut |_| ControlFlow::Continue(())).unwrap();
    (schema, index)
}

/// `Exact Cell new york 2..4 city.name+state.name`
fn line(schema: &Schema, candidate: &ValueCandidate) -> String {
    let columns: Vec<String> = candidate
        .columns
        .iter()
        .map(|&id| format!("{}.{}", schema.table(id.table).name, schema.column(id).name))
        .collect();
    let (start, end) = candidate.span;
    let ValueCandidate { quality, kind, text, .. } = candidate;
    format!("{quality:?} {kind:?} {text} {start}..{end} {}", columns.join("+"))
}

const CITIES: &str = "
    CREATE TABLE city (name TEXT, state TEXT, size INT, founded DATE, note TEXT);
    INSERT INTO city VALUES ('New York', 'New York', 3, '1624-05-20', NULL), ('York', 'Maine', 1, '1652-11-22', 'a'),
        ('St. Louis', 'Missouri', 2, '1764-02-14', 'Lakes'), ('Mississippi City', 'Mississippi', 1, NULL, '734');
";

/// Issue 18: a name whose accent was a character of its own, as some keyboards and file names have it, was not found in the cells.
#[test]
fn accents_match_however_they_are_written() {
    let test = TestDatabase::new(
        "CREATE TABLE person (name TEXT);
         INSERT INTO person VALUES ('Ren\u{e9}'), ('Bjo\u{308}rn');",
    );
    let (schema, index) = index(&test.open(), ValueLimits::default());
    for (question, expected) in [
        ("is rene\u{301} here", "Case Cell Ren\u{e9} 1..2 person.name"),
        ("is Bj\u{f6}rn here", "Case Cell Bjo\u{308}rn 1..2 person.name"),
    ] {
        let found: Vec<String> =
            index.candidates(question).iter().map(|candidate| line(&schema, candidate)).collect();
        assert_eq!(found, [expected], "{question}");
    }
}

/// Issue 18: a photo in one row hid all values of its table.
#[test]
fn a_cell_that_is_too_large_hides_no_other() {
    let test = TestDatabase::new(
        "CREATE TABLE person (photo BLOB, name TEXT, city_id INT, story TEXT);
         CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT);
         INSERT INTO person VALUES (zeroblob(300000), 'Ada', 1, 'short'), (x'00', 'Grace', 2, hex(zeroblob(200000))),
             (NULL, 'Mary', 2, 'tall');
         INSERT INTO city VALUES (1, 'Lund'), (2, 'Oslo');",
    );
    let (schema, index) = index(&test.open(), ValueLimits::default());
    for (question, expected) in [
        ("ada", "Case Cell Ada 0..1 person.name"),
        ("grace", "Case Cell Grace 0..1 person.name"),
        ("mary", "Case Cell Mary 0..1 person.name"),
        ("tall", "Exact Cell tall 0..1 person.story"),
    ] {
        let found: Vec<String> =
            index.candidates(question).iter().map(|candidate| line(&schema, candidate)).collect();
        assert_eq!(found, [expected], "{question}");
    }
    assert_eq!(index.incomplete_columns(), []);
    assert_eq!(index.tables_with_oversized_cells(), [TableId(0)]);
    // The types and keys of the table are known too.
    let types: Vec<ColumnType> = schema.tables[0].columns.iter().map(|column| column.ty).collect();
    assert_eq!(types, [ColumnType::Other, ColumnType::Text, ColumnType::Number, ColumnType::Text]);
    assert_eq!(schema.tables[0].foreign_keys.len(), 1);
}

/// Issue 18: the values of a table were missing without a word if a statement with the names of its columns was too long.
#[test]
fn wide_tables_are_read_with_several_statements() {
    for (prefix, count, photo) in [("measurement_of_quantity_", 1300, 10), ("question_", 450, 300_000)] {
        let columns: Vec<String> = (0..count).map(|column| format!("{prefix}{column:04}")).collect();
        let values: Vec<String> = (0..count).map(|column| format!("'v{column}'")).collect();
        let test = TestDatabase::new(&format!(
            "CREATE TABLE survey (photo BLOB, {}, city TEXT, people INT);
             INSERT INTO survey VALUES (zeroblob({photo}), {}, 'Lund', 7), (NULL, {}, 'Oslo', 9);",
            columns.join(", "),
            values.join(", "),
            values.join(", ")
        ));
        let (schema, index) = index(&test.open(), ValueLimits::default());
        assert_eq!(index.len(), count + 2);
        let column = |column: usize| ColumnId { table: TableId(0), column: column as u32 };
        for text in ["Lund", "Oslo"] {
            assert!(index.has_text(column(count + 1), text));
        }
        assert!(index.has_text(column(1), "v0") && index.has_text(column(count), &format!("v{}", count - 1)));
        assert_eq!(index.incomplete_columns(), []);
        assert_eq!(index.tables_with_oversized_cells().len(), usize::from(photo > 10));
        assert_eq!(index.ranges(), [(column(count + 2), [7.0, 9.0])]);
        let types = schema.tables[0].columns[1..].iter().map(|column| column.ty);
        assert_eq!(types.filter(|&ty| ty == ColumnType::Text).count(), count + 1);
    }
}

/// Issue 18: no range of a table was known if one of its cells was too large or it had hundreds of numbers.
#[test]
fn ranges_are_known_beside_large_cells_and_of_wide_tables() {
    let names: Vec<String> = (0..600).map(|column| format!("measured_quantity_{column}")).collect();
    let rows: Vec<String> =
        (0..2).map(|row| format!("({})", vec![row.to_string(); 600].join(", "))).collect();
    let test = TestDatabase::new(&format!(
        "CREATE TABLE wide ({} INT); INSERT INTO wide VALUES {};
         CREATE TABLE large (a INT, b INT);
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 6000)
         INSERT INTO large SELECT i, -i FROM n;
         INSERT INTO large VALUES ('x' || hex(zeroblob(200000)), 3);",
        names.join(" INT, "),
        rows.join(", ")
    ));
    let (_, index) = index(&test.open(), ValueLimits::default());
    let ranges = index.ranges();
    assert_eq!(ranges.len(), 602);
    assert!(ranges[..600].iter().all(|(_, range)| *range == [0.0, 1.0]));
    assert_eq!([ranges[600].1, ranges[601].1], [[1.0, 6000.0], [-6000.0, 3.0]]);
}

/// Issue 18: that a table cannot be read to its end was not said.
#[test]
fn a_table_that_fails_while_it_is_read_is_noted() {
    let test = TestDatabase::new(
        "CREATE TABLE number (n INT, name TEXT);
         INSERT INTO number VALUES (1, 'one'), (-9223372036854775808, 'least');
         CREATE VIEW size AS SELECT name, abs(n) AS size FROM number;",
    );
    let (_, index) = index(&test.open(), ValueLimits::default());
    assert_eq!(index.failures(), [(TableId(1), "integer overflow".to_owned())]);
}

/// A common text of a wide table has all its columns, in order.
#[test]
fn a_text_in_all_columns_of_a_table_is_listed_once_for_each() {
    let columns: Vec<String> = (0..500).map(|column| format!("q{column}")).collect();
    let row = |first: &str, second: &str| {
        let cells: Vec<String> =
            (0..500).map(|column| format!("'{}'", if column % 2 == 0 { first } else { second })).collect();
        format!("({})", cells.join(", "))
    };
    let rows = [row("yes", "no"), row("no", "yes"), row("yes", "yes")].join(", ");
    let test = TestDatabase::new(&format!(
        "CREATE TABLE survey ({0}); INSERT INTO survey VALUES {rows};
         CREATE TABLE other (a); INSERT INTO other VALUES ('yes'), ('yes');",
        columns.join(", ")
    ));
    let (_, index) = index(&test.open(), ValueLimits::default());
    let found = index.candidates("yes");
    let expected = (0..500).map(|column| (0, column)).chain([(1, 0)]);
    assert!(found[0].columns.iter().map(|id| (id.table.0, id.column)).eq(expected));
}

#[test]
fn ranges_of_numbers_are_known_beside_texts() {
    let test = TestDatabase::new(
        "CREATE TABLE film (title TEXT, minutes INT, score REAL, released DATE);
         INSERT INTO film VALUES ('a', 90, 7.5, '2001-01-01'), ('b', -3, NULL, '1999-01-01'), ('c', 200, 9, NULL);",
    );
    let (schema, index) = index(&test.open(), ValueLimits::default());
    let ranges: Vec<(&str, [f64; 2])> =
        index.ranges().iter().map(|&(column, range)| (schema.column(column).name.as_str(), range)).collect();
    assert_eq!(ranges, [("minutes", [-3.0, 200.0]), ("score", [7.5, 9.0])]);
}

#[test]
fn numbers_of_things_are_told_from_other_numbers() {
    let test = TestDatabase::new(CITIES);
    let (_, index) = index(&test.open(), ValueLimits::default());
    for (question, is_count) in [
        ("the 3 largest cities", true),
        ("top 3 cities", true),
        ("list three cities", true),
        ("cities with more than 3 people", false),
        ("cities with at least 3 rivers", false),
        ("a length of 3", false),
        ("cities founded in 1999", false),
        ("the 1999 cities", false),
        ("the third city", false),
        ("the 2.5 largest", false),
    ] {
        assert_eq!(index.values(question).iter().any(|value| value.is_count), is_count, "{question}");
    }
}

#[test]
fn words_of_a_question_find_values() {
    let test = TestDatabase::new(CITIES);
    let (schema, index) = index(&test.open(), ValueLimits::default());
    let cases: [(&str, &[&str]); 9] = [
        (
            "Is New York large?",
            &["Exact Cell New York 1..3 city.name+city.state", "Exact Cell York 2..3 city.name"],
        ),
        (
            "is new york large",
            &["Case Cell New York 1..3 city.name+city.state", "Case Cell York 2..3 city.name"],
        ),
        (
            "which lake is in st louis",
            &["Case Cell St. Louis 4..6 city.name", "Lemma Cell Lakes 1..2 city.note"],
        ),
        ("rivers of missisippi", &["Fuzzy Cell Mississippi 2..3 city.state"]),
        (
            "missisippi city",
            &["Fuzzy Cell Mississippi City 0..2 city.name", "Fuzzy Cell Mississippi 0..1 city.state"],
        ),
        ("more than three cities", &["Lemma Number 3 2..3 city.size"]),
        ("founded on may 20, 1624", &["Lemma Date 1624-05-20 2..5 city.founded"]),
        (
            "is 734 or 99 there",
            &["Exact Cell 734 1..2 city.note", "Exact Number 734 1..2 ", "Exact Number 99 3..4 "],
        ),
        ("…", &[]),
    ];
    for (question, expected) in cases {
        let found: Vec<String> =
            index.candidates(question).iter().map(|candidate| line(&schema, candidate)).collect();
        assert_eq!(found, expected, "{question}");
    }
    let number = &index.candidates("1,500,000")[0];
    assert_eq!((number.text.as_str(), number.number), ("1500000", Some(1_500_000.0)));
}

#[test]
fn what_a_question_looks_for_and_words_for_letters_are_values() {
    let test = TestDatabase::new(
        "CREATE TABLE student (name TEXT, sex TEXT);
         INSERT INTO student VALUES ('Ada', 'F'), ('Tom', 'M'), ('Anderson', 'F');",
    );
    let (schema, index) = index(&test.open(), ValueLimits::default());
    let cases: [(&str, &[&str]); 5] = [
        ("female students", &["Lemma Cell F 0..1 student.sex"]),
        ("How many men?", &["Lemma Cell M 2..3 student.sex"]),
        ("names that contain \"son\"", &["Exact Said son 3..4 "]),
        ("names with the letter m", &["Exact Said m 4..5 ", "Case Cell M 4..5 student.sex"]),
        ("who is \"Ada\"", &["Exact Cell Ada 2..3 student.name", "Exact Said Ada 2..3 student.name"]),
    ];
    for (question, expected) in cases {
        let found: Vec<String> =
            index.candidates(question).iter().map(|candidate| line(&schema, candidate)).collect();
        assert_eq!(found, expected, "{question}");
    }
    // A quotation that is a cell is one value.
    assert_eq!(index.values("who is \"Ada\"").len(), 1);
}

#[test]
fn each_literal_occurs_once_with_all_its_columns() {
    let test = TestDatabase::new(CITIES);
    let (_, index) = index(&test.open(), ValueLimits::default());
    let values: Vec<String> = index
        .values("is 734 or 3.5 in New York, or new york")
        .iter()
        .map(|value| format!("{} said {:?} in {} columns", value.literal, value.phrase, value.columns.len()))
        .collect();
    assert_eq!(
        values,
        [
            "3.5 said \"3 5\" in 0 columns",
            "'New York' said \"new york\" in 2 columns",
            "'734' said \"734\" in 1 columns",
            "734 said \"734\" in 0 columns",
            "'York' said \"york\" in 1 columns",
        ]
    );
}

#[test]
fn an_index_stays_within_its_limits() {
    let test = TestDatabase::new(
        "CREATE TABLE large (id INTEGER PRIMARY KEY, name TEXT, story TEXT, few INT);
         WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
         INSERT INTO large SELECT i, 'name ' || i, 'a very long story that nobody quotes in a question, part '
             || i || printf('%200s', 'x'), i % 7 FROM n;",
    );
    let database = test.open();
    let limits = ValueLimits { values_per_column: 1000, ..ValueLimits::default() };
    let (_, small) = index(&database, limits);
    assert_eq!(small.len(), 1000);
    let limits = ValueLimits { values: 10, ..ValueLimits::default() };
    assert_eq!(index(&database, limits).1.len(), 10);

    let (schema, index) = index(&database, ValueLimits::default());
    assert_eq!(index.len(), 50_000);
    let incomplete: Vec<u32> = index.incomplete_columns().iter().map(|id| id.column).collect();
    assert_eq!(incomplete, [0, 1], "too many numbers, and too many texts");
    let found = index.candidates("where is name 777 with 6");
    assert_eq!(line(&schema, &found[0]), "Exact Cell name 777 2..4 large.name");
    assert!(found.iter().any(|candidate| line(&schema, candidate) == "Exact Number 6 5..6 large.few"));

    let stopped =
        ValueIndex::read(&database, &schema, ValueLimits::default(), &mut |_| ControlFlow::Break(()));
    assert!(matches!(stopped, Err(DatabaseError::Cancelled { .. })));
}

#[test]
#[ignore = "needs XPR_DATA, see CONTRIBUTING.md"]
fn questions_of_geoquery_find_their_values() {
    let database = SqliteDatabase::open(data_folder("geography").join("geography.sqlite")).unwrap();
    let (schema, index) = index(&database, ValueLimits::default());
    let best = |question: &str| line(&schema, &index.candidates(question)[0]);
    assert_eq!(
        best("what rivers run through new york"),
        "Exact Cell new york 4..6 border_info.state_name+border_info.border+city.city_name+city.state_name+highlow.state_name+\
         lake.state_name+river.traverse+state.state_name"
    );
    assert!(
        best("how high is mount mckinley")
            .starts_with("Exact Cell mount mckinley 3..5 highlow.highest_point")
    );
    let questions = [
        "what is the capital of texas",
        "rivers in missisippi longer than 1,000 kilometers",
        "how big is alaska",
    ];
    let began = Instant::now();
    for round in 0..3000 {
        assert!(!index.candidates(questions[round % 3]).is_empty());
    }
    eprintln!("{:?} a question on {} values", began.elapsed() / 3000, index.len());
}

proptest! {
    /// The spans of candidates are spans of the question's words, whatever the question.
    #[test]
    fn candidates_are_within_the_words_of_the_question(question in "\\PC{0,80}|([a-zİß0-9,.\\-]{1,6} ){0,12}|(twenty|hundred|and|million|one|a|jan|3|2015|first|th| |,|-){0,20}") {
        thread_local! {
            static INDEX: ValueIndex = index(&TestDatabase::new(CITIES).open(), ValueLimits::default()).1;
        }
        let words = xpr_text::tokenize(&question);
        let candidates = INDEX.with(|index| index.candidates(&question));
        for candidate in candidates {
            let (start, end) = candidate.span;
            prop_assert!(start < end && end <= words.len(), "{:?}", candidate);
            if candidate.quality <= xpr_exec::database::MatchQuality::Case && candidate.number.is_none() {
                let value = xpr_text::tokenize(&candidate.text);
                prop_assert_eq!(&words[start..end], &value[..], "{:?}", candidate);
            }
        }
    }
}
