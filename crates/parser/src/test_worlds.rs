//! Small languages and environments for tests.

use xpr_lang::sql::{Column, ColumnType, Schema, Sql, Table};
use xpr_lang::{Environment, Grammar, Item, ItemId, Relation, RelationKind, Signatures};

/// SQL about cities and states, which have names.
pub(crate) fn cities_and_states() -> Sql {
    tables_with_names(&["city", "state"])
}

/// SQL about tables that have one column, `name`.
pub(crate) fn tables_with_names(tables: &[&str]) -> Sql {
    let table = |name: &&str| Table {
        comment: None,
        namespace: None,
        name: (*name).to_owned(),
        columns: vec![Column { comment: None, name: "name".into(), ty: ColumnType::Text }],
        primary_key: vec![],
        foreign_keys: vec![],
    };
    Sql::new(Schema { dialect: Default::default(), tables: tables.iter().map(table).collect() })
}

/// The items of a tiny language.
pub(crate) struct TinyEnvironment {
    items: Vec<Item>,
    relations: Vec<Relation>,
}

impl Environment for TinyEnvironment {
    fn items(&self) -> &[Item] {
        &self.items
    }

    fn find(&self, symbol: &str) -> Option<ItemId> {
        self.items.iter().position(|item| item.symbol == symbol).map(|index| ItemId(index as u32))
    }

    fn relation_names(&self) -> &[&'static str] {
        &["property"]
    }

    fn relations(&self) -> &[Relation] {
        &self.relations
    }
}

/// A language of sets: `Answer → all(Type) | join(Set, Property) | count(Set)`, `Set → all(Type)`, and
/// `Set → join(Set, Property)` only if it is `recursive`. Without recursion it has finitely many programs.
pub(crate) fn tiny_world(recursive: bool) -> (Grammar, TinyEnvironment) {
    let mut language = Signatures::new("Answer");
    let answer = language.root();
    let [set, property, ty] = ["Set", "Property", "Type"].map(|name| language.add_type(name));
    language.add_rule("all", answer, &[ty]);
    language.add_rule("join", answer, &[set, property]);
    language.add_rule("count", answer, &[set]);
    language.add_rule("all_of", set, &[ty]);
    language.add_rule("flip", property, &[ty, ty]);
    if recursive {
        language.add_rule("join_of", set, &[set, property]);
    }
    let (of_property, of_type) = (language.add_item_kind("property"), language.add_item_kind("type"));
    language.accept_items(property, of_property);
    language.accept_items(ty, of_type);
    let items = vec![
        Item::new(of_type, "meeting", "meeting"),
        Item::new(of_type, "person", "person"),
        Item::new(of_property, "start time", "start_time"),
        Item::new(of_property, "end time", "end_time"),
    ];
    let relation = |from, to| Relation { from: ItemId(from), to: ItemId(to), kind: RelationKind(0) };
    let grammar = language.grammar(&items).expect("the language has programs with these items");
    (grammar, TinyEnvironment { items, relations: vec![relation(0, 2), relation(0, 3)] })
}
