use super::*;
use crate::Language;
use crate::sql::{Column, ColumnType, ForeignKey, Schema, Table};

const CITY: TableId = TableId(0);
const STATE: TableId = TableId(1);
const CITY_NAME: ColumnId = ColumnId { table: CITY, column: 0 };
const CITY_STATE: ColumnId = ColumnId { table: CITY, column: 1 };
const STATE_NAME: ColumnId = ColumnId { table: STATE, column: 0 };
const STATE_AREA: ColumnId = ColumnId { table: STATE, column: 1 };

fn word(text: &str, columns: &[ColumnId]) -> SuggestedValue {
    SuggestedValue { columns: columns.to_vec(), ..SuggestedValue::new(Literal::text(text), text) }
}

/// A `city` and a `state`, with a foreign key from `city.state_name` to `state.name`.
fn language() -> Sql {
    let column = |name: &str, ty| Column { comment: None, name: name.to_owned(), ty };
    let key = ForeignKey { columns: vec![1], to: vec![STATE_NAME], confidence: 1.0 };
    let text = ColumnType::Text;
    Sql::new(Schema {
        dialect: Default::default(),
        tables: vec![
            Table {
                comment: None,
                namespace: None,
                name: "city".into(),
                columns: vec![column("cityName", text), column("state_name", text)],
                primary_key: vec![0],
                foreign_keys: vec![key],
            },
            Table {
                comment: None,
                namespace: None,
                name: "state".into(),
                columns: vec![column("name", text), column("area", ColumnType::Number)],
                primary_key: vec![0],
                foreign_keys: vec![],
            },
        ],
    })
}

#[test]
fn constants_are_among_the_items_of_every_question() {
    let language = language();
    let fixed = SqlEnvironment::new(&language);
    let major = SuggestedValue::new(Literal::integer(150_000), "150000");
    let with_constants = fixed.with_constants(&language, std::slice::from_ref(&major));
    assert_eq!(with_constants.fixed_items(), fixed.fixed_items() + 1);
    let id = with_constants.find("150000");
    let environment = with_constants.with_values(&language, &[major]);
    assert_eq!(environment.find("150000"), id);
    assert_eq!(environment.items().len(), with_constants.fixed_items());
}

#[test]
fn tables_and_columns_come_first_and_values_last() {
    let language = language();
    let fixed = SqlEnvironment::new(&language);
    let texas = word("texas", &[STATE_NAME]);
    let one = SuggestedValue::new(Literal::integer(1), "one");
    let environment = fixed.with_values(&language, &[one, texas.clone(), texas]);
    let symbols: Vec<&str> = environment.items().iter().map(|item| item.symbol.as_str()).collect();
    let columns = ["city.cityName", "city.state_name", "state.name", "state.area"];
    assert_eq!(symbols[..2], ["city", "state"]);
    assert_eq!(symbols[2..6], columns);
    assert_eq!(symbols[6..], ["0", "1", "'texas'"]);
    assert_eq!(environment.fixed_items(), 8);
    assert_eq!(environment.items()[2].phrase, "city name");
    for (index, symbol) in symbols.iter().enumerate() {
        assert_eq!(environment.find(symbol), Some(ItemId(index as u32)));
    }
}

#[test]
fn a_word_fits_only_beside_columns_that_can_contain_it() {
    let language = language();
    let values = [word("austin", &[CITY_NAME]), word("texas", &[STATE_NAME]), word("dc", &[])];
    let whole = SqlEnvironment::new(&language);
    let environment = whole.with_values(&language, &values);
    let rule = |name: &str| language.signatures().find_rule(name);
    let fits = |environment: &SqlEnvironment, text: &str, position| {
        environment.fits(environment.find(&format!("'{text}'")).unwrap(), position)
    };
    let after = |parent: &str, column: ColumnId| ItemPosition {
        parent: rule(parent),
        previous: environment.column(column).map(Action::Item),
    };
    for (text, column, expected) in [
        ("austin", CITY_NAME, true),
        ("austin", CITY_STATE, false),
        ("austin", STATE_NAME, false),
        // `city.state_name` points to `state.name`.
        ("texas", CITY_STATE, true),
        ("texas", STATE_NAME, true),
        ("texas", CITY_NAME, false),
        // No column is known to contain it.
        ("dc", CITY_STATE, true),
    ] {
        assert_eq!(fits(&environment, text, after("=", column)), expected, "{text}");
    }
    let incomplete = whole.with_incomplete_columns(&[CITY_STATE]).with_values(&language, &values);
    assert!(fits(&incomplete, "austin", after("=", CITY_STATE)));
    // Neither on the left of a comparison, nor as an output or under an aggregate; but in a list, or in a pattern.
    let first_argument =
        |parent: &str| ItemPosition { parent: rule(parent), previous: rule(parent).map(Action::Rule) };
    for (parent, expected) in
        [("=", false), ("distinct", false), ("max", false), ("andElement", true), ("contains", true)]
    {
        assert!(rule(parent).is_some());
        assert_eq!(fits(&environment, "texas", first_argument(parent)), expected, "{parent}");
    }
    assert!(!fits(&environment, "texas", after("select", CITY_NAME)));
}

#[test]
fn columns_come_after_their_tables() {
    let language = language();
    let whole = SqlEnvironment::new(&language);
    let (restricted, _) = whole.restricted_to(&[STATE]);
    for (environment, columns) in [(&whole, 4), (&restricted, 2)] {
        let after = |symbol: &str| environment.after(environment.find(symbol).unwrap());
        assert_eq!(after("state.area"), environment.find("state"));
        assert_eq!((after("state"), after("0")), (None, None));
        let ids = (0..environment.items().len() as u32).map(ItemId);
        assert_eq!(ids.filter_map(|id| environment.after(id)).count(), columns);
    }
}

#[test]
fn relations_follow_from_tables_keys_and_values() {
    let language = language();
    let texas = word("texas", &[STATE_NAME]);
    let environment = SqlEnvironment::new(&language).with_values(&language, &[texas]);
    let name = |from: &str, to: &str| {
        let pair = (environment.find(from).unwrap(), environment.find(to).unwrap());
        let mut found = environment.relations().iter().filter(|edge| (edge.from, edge.to) == pair);
        let tables = [from, to].map(|symbol| environment.after(environment.find(symbol).unwrap()));
        let listed = found.next().map(|edge| edge.kind);
        assert_eq!(found.next(), None, "a pair has one relation");
        let sibling =
            environment.sibling_relation().filter(|_| tables[0].is_some() && tables[0] == tables[1]);
        listed.or(sibling).map(|kind| environment.relation_names()[usize::from(kind.0)])
    };
    for (from, to, relation) in [
        ("city.state_name", "city", Some("column of table")),
        ("city", "city.state_name", Some("table has column")),
        ("city.cityName", "city", Some("primary key of table")),
        ("city", "city.cityName", Some("table has primary key")),
        ("city.cityName", "city.state_name", Some("columns of one table")),
        ("city.state_name", "state.name", Some("column points to column")),
        ("state.name", "city.state_name", Some("column is pointed to by column")),
        ("city", "state", Some("table points to table")),
        ("state", "city", Some("table is pointed to by table")),
        ("'texas'", "state.name", Some("value found in column")),
        ("state.name", "'texas'", Some("column holds value")),
        ("'texas'", "state.area", None),
        ("city.cityName", "state.area", None),
    ] {
        assert_eq!(name(from, to), relation, "{from} → {to}");
    }
}

/// Issue 18: the relations of a table with thousands of columns took a gigabyte.
#[test]
fn the_relations_of_a_wide_table_are_few() {
    let column = |number: u32| Column { comment: None, name: format!("c{number}"), ty: ColumnType::Text };
    let table = Table {
        comment: None,
        namespace: None,
        name: "wide".into(),
        columns: (0..2000).map(column).collect(),
        primary_key: vec![0],
        foreign_keys: vec![],
    };
    let environment =
        SqlEnvironment::new(&Sql::new(Schema { dialect: Default::default(), tables: vec![table] }));
    assert_eq!(environment.relations().len(), 4000);
}

#[test]
fn values_can_be_added_to_the_grammar_of_the_schema() {
    let language = language();
    let fixed = SqlEnvironment::new(&language);
    let base = language.signatures().grammar(fixed.items()).unwrap();
    let text = "SELECT area FROM state WHERE name LIKE '%tex%'";
    assert!(language.read(text, &base, &fixed).is_err());
    let environment = fixed.with_values(&language, &[SuggestedValue::new(Literal::text("tex"), "tex")]);
    let grammar = base.with_items(&environment.items()[fixed.fixed_items()..]);
    let program = language.read(text, &grammar, &environment).unwrap();
    let whole = language.signatures().grammar(environment.items()).unwrap();
    assert_eq!(language.read(text, &whole, &environment).unwrap(), program);
}

#[test]
fn tables_and_columns_are_found_after_a_restriction() {
    let language = language();
    let whole = SqlEnvironment::new(&language);
    let (restricted, kept) = whole.restricted_to(&[STATE]);
    assert_eq!(kept, [1, 4, 5, 6, 7]);
    let symbol = |environment: &SqlEnvironment, item: Option<ItemId>| {
        item.map(|item| environment.items()[item.index()].symbol.clone())
    };
    for (table, expected) in [(CITY, None), (STATE, Some("state"))] {
        assert_eq!(symbol(&restricted, restricted.table(table)).as_deref(), expected);
        assert!(whole.table(table).is_some());
    }
    for (column, expected) in [
        (CITY_NAME, None),
        (CITY_STATE, None),
        (STATE_NAME, Some("state.name")),
        (STATE_AREA, Some("state.area")),
    ] {
        assert_eq!(symbol(&restricted, restricted.column(column)).as_deref(), expected);
        let name = language.symbols.column(column);
        assert_eq!(symbol(&whole, whole.column(column)).as_deref(), Some(name));
    }
    // Ids that are not of the schema.
    for environment in [&whole, &restricted] {
        assert_eq!(environment.table(TableId(2)), None);
        assert_eq!(environment.column(ColumnId { table: STATE, column: 2 }), None);
    }
    // A restriction can be restricted again.
    let (none, kept) = restricted.restricted_to(&[CITY]);
    assert_eq!((none.table(STATE), none.column(STATE_NAME)), (None, None));
    assert_eq!(kept, [3, 4]);
}

#[test]
fn a_restriction_keeps_constants_and_knows_the_columns_of_values() {
    let language = language();
    let constant = SuggestedValue::new(Literal::integer(150_000), "150000");
    let whole =
        SqlEnvironment::new(&language).with_constants(&language, &[constant, word("big", &[STATE_NAME])]);
    let (restricted, _) = whole.with_incomplete_columns(&[CITY_NAME]).restricted_to(&[STATE]);
    let symbols: Vec<&str> = restricted.items().iter().map(|item| item.symbol.as_str()).collect();
    assert_eq!(symbols, ["state", "state.name", "state.area", "0", "1", "150000", "'big'"]);
    assert_eq!(restricted.fixed_items(), 7);

    let environment = restricted.with_values(&language, &[word("texas", &[CITY_STATE, STATE_NAME])]);
    let beside = |column| ItemPosition {
        parent: language.signatures().find_rule("="),
        previous: environment.column(column).map(Action::Item),
    };
    for symbol in ["'big'", "'texas'"] {
        let word = environment.find(symbol).unwrap();
        assert!(environment.fits(word, beside(STATE_NAME)), "{symbol}");
        assert!(!environment.fits(word, beside(STATE_AREA)), "{symbol}");
        // `city` is not among the tables, so each word has a relation with one column only.
        assert_eq!(environment.relations().iter().filter(|edge| edge.from == word).count(), 1, "{symbol}");
    }
}
