//! A database as the parser sees it: tables, columns, and the values of one question.

use super::language::Sql;
use super::literal::{Literal, LiteralKind};
use super::rules::Room;
use super::schema::{ColumnId, Schema, TableId};
use crate::{Action, Environment, Item, ItemId, Place, Relation, RelationKind};
use rustc_hash::FxHashMap;
use std::sync::Arc;
use xpr_text::split_identifier;

/// A value that a question may mean.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// How a program says it.
    pub literal: Literal,
    /// How the question says it.
    pub phrase: String,
    /// The columns it was found in.
    pub columns: Vec<ColumnId>,
}

impl Value {
    /// A value found in no column in particular.
    pub fn new(literal: Literal, phrase: impl Into<String>) -> Self {
        Value { literal, phrase: phrase.into(), columns: vec![] }
    }
}

/// Numbers that queries need and no question says: the row `LIMIT 1` asks for, the nothing that is compared with.
const CONSTANTS: [i64; 2] = [0, 1];

/// How two items hang together: RAT-SQL's relations, and where values are found.
///
/// The order is the one of [`RELATION_NAMES`].
#[derive(Clone, Copy)]
enum Link {
    ColumnOf,
    HasColumn,
    PrimaryKeyOf,
    HasPrimaryKey,
    SameTable,
    PointsTo,
    PointedToBy,
    TablePointsTo,
    TablePointedToBy,
    TablesPointToEachOther,
    FoundIn,
    Holds,
}

const RELATION_NAMES: [&str; 12] = [
    "column of table",
    "table has column",
    "primary key of table",
    "table has primary key",
    "columns of one table",
    "column points to column",
    "column is pointed to by column",
    "table points to table",
    "table is pointed to by table",
    "tables point to each other",
    "value found in column",
    "column holds value",
];

/// Tables and columns first, then the constants 0 and 1, then the values of a question.
///
/// All but the values are the same for every question, and have the same ids.
#[derive(Clone, Debug, Default)]
pub struct SqlEnvironment {
    items: Vec<Item>,
    /// The table of each item that is a column.
    tables: Vec<Option<ItemId>>,
    /// For each column a column that has the same values, by its keys, and stands for all that do; none if they are not known.
    domains: Vec<Option<ItemId>>,
    /// The domains of the columns that each word was found in.
    homes: FxHashMap<ItemId, Vec<ItemId>>,
    /// Where words make sense, by the rule whose argument they would be.
    rooms: Arc<[Room]>,
    ids: FxHashMap<String, ItemId>,
    relations: Vec<Relation>,
    /// The first column of each table among the items; empty if only some tables are there.
    columns: Vec<u32>,
    /// Where the constants begin.
    constants: usize,
    fixed: usize,
}

impl SqlEnvironment {
    /// The items of a schema, without the values of a question.
    pub fn new(language: &Sql) -> Self {
        let schema = language.schema();
        let mut environment = SqlEnvironment::default();
        for (index, table) in schema.tables.iter().enumerate() {
            let symbol = language.symbols.table(TableId(index as u32));
            environment.add(Item::new(language.table_kind(), split_identifier(&table.name).join(" "), symbol), None);
        }
        for (index, table) in schema.tables.iter().enumerate() {
            environment.columns.push(environment.items.len() as u32);
            for (column, definition) in table.columns.iter().enumerate() {
                let id = ColumnId { table: TableId(index as u32), column: column as u32 };
                let kind = language.column_kind(definition.ty);
                let item = Item::new(kind, split_identifier(&definition.name).join(" "), language.symbols.column(id));
                environment.add(item, Some(ItemId(index as u32)));
            }
        }
        environment.constants = environment.items.len();
        for constant in CONSTANTS.map(Literal::integer) {
            let kind = language.value_kind(constant.kind());
            environment.add(Item::new(kind, constant.to_string(), constant.to_string()), None);
        }
        environment.fixed = environment.items.len();
        environment.relations = environment.schema_relations(schema);
        environment.domains = environment.domains();
        environment.rooms = language.rooms();
        environment
    }

    /// The same items, where not all values of these columns are known: any word may be one of them.
    #[must_use]
    pub fn with_partly_known(mut self, columns: &[ColumnId]) -> Self {
        for &column in columns {
            let item = self.column(column);
            self.domains[item.index()] = None;
        }
        self
    }

    /// The same items and, after them, values. One that is there already keeps its id.
    #[must_use]
    pub fn with_values(&self, language: &Sql, values: &[Value]) -> Self {
        let mut environment = self.clone();
        for value in values {
            let symbol = value.literal.to_string();
            let id = match environment.find(&symbol) {
                Some(id) => id,
                None => {
                    let kind = language.value_kind(value.literal.kind());
                    environment.add(Item::new(kind, value.phrase.as_str(), symbol), None)
                }
            };
            for column in value.columns.iter().filter_map(|&column| self.item_of(language, column)) {
                environment.relations.push(relation(id, column, Link::FoundIn));
                environment.relations.push(relation(column, id, Link::Holds));
                if let (LiteralKind::Word, Some(domain)) =
                    (value.literal.kind(), self.domains[column.index()])
                {
                    environment.homes.entry(id).or_default().push(domain);
                }
            }
        }
        environment.relations[self.relations.len()..].sort_unstable();
        environment.relations.dedup();
        environment
    }

    /// The same items and, after them, values that every question has: constants that programs need and no question says.
    #[must_use]
    pub fn with_constants(&self, language: &Sql, constants: &[Value]) -> Self {
        let mut environment = self.with_values(language, constants);
        environment.fixed = environment.items.len();
        environment
    }

    /// The items of some tables only, and the constants; and which item of this environment each of them is.
    ///
    /// For schemas with more tables than one question can be about.
    #[must_use]
    pub fn about(&self, tables: &[TableId]) -> (Self, Vec<u32>) {
        let of_table = |item: usize| -> Option<u32> {
            let first_column = *self.columns.first()? as usize;
            if item < first_column {
                return Some(item as u32);
            }
            let last = self.columns.partition_point(|&first| first as usize <= item) - 1;
            (item < self.constants).then_some(last as u32)
        };
        let kept: Vec<u32> = (0..self.fixed)
            .filter(|&item| of_table(item).is_none_or(|table| tables.contains(&TableId(table))))
            .map(|item| item as u32)
            .collect();
        let rooms = Arc::clone(&self.rooms);
        let mut environment = SqlEnvironment { fixed: kept.len(), rooms, ..SqlEnvironment::default() };
        let mut place: Vec<Option<ItemId>> = vec![None; self.items.len()];
        for &item in &kept {
            // Tables come before their columns, so a column's table has its place.
            let table = self.tables[item as usize].and_then(|table| place[table.index()]);
            place[item as usize] = Some(environment.add(self.items[item as usize].clone(), table));
        }
        let here = |id: ItemId| place[id.index()];
        environment.domains = kept.iter().map(|&item| self.domains[item as usize]).collect();
        environment.relations = self
            .relations
            .iter()
            .filter_map(|relation| {
                Some(Relation { from: here(relation.from)?, to: here(relation.to)?, kind: relation.kind })
            })
            .collect();
        (environment, kept)
    }

    /// How many items are the same for every question: [`crate::Grammar::with_items`] wants the others.
    pub fn fixed_items(&self) -> usize {
        self.fixed
    }

    /// The item of a table.
    pub fn table(&self, table: TableId) -> ItemId {
        ItemId(table.0)
    }

    /// The item of a column.
    pub fn column(&self, column: ColumnId) -> ItemId {
        ItemId(self.columns[column.table.0 as usize] + column.column)
    }

    /// The item of a column, if its table is there.
    fn item_of(&self, language: &Sql, column: ColumnId) -> Option<ItemId> {
        match self.columns.is_empty() {
            true => self.find(language.symbols.column(column).as_ref()),
            false => Some(self.column(column)),
        }
    }

    /// The first column that keys lead to from each, in either direction.
    fn domains(&self) -> Vec<Option<ItemId>> {
        let mut domains: Vec<Option<ItemId>> = (0..self.items.len() as u32)
            .map(|item| self.tables[item as usize].map(|_| ItemId(item)))
            .collect();
        let is_key = |edge: &&Relation| {
            [Link::PointsTo, Link::PointedToBy].iter().any(|link| edge.kind == RelationKind(*link as u8))
        };
        let mut changed = true;
        while changed {
            changed = false;
            for edge in self.relations.iter().filter(is_key) {
                let [from, to] = [edge.from, edge.to].map(ItemId::index);
                if domains[to] < domains[from] {
                    domains[from] = domains[to];
                    changed = true;
                }
            }
        }
        domains
    }

    fn add(&mut self, item: Item, table: Option<ItemId>) -> ItemId {
        let id = ItemId(self.items.len() as u32);
        self.tables.push(table);
        // Tables and columns with equal names cannot be told apart by a text; the first is meant.
        self.ids.entry(item.symbol.clone()).or_insert(id);
        self.items.push(item);
        id
    }

    /// One relation a pair; the more telling one where there are several.
    fn schema_relations(&self, schema: &Schema) -> Vec<Relation> {
        let mut links: FxHashMap<(ItemId, ItemId), Link> = FxHashMap::default();
        for (index, table) in schema.tables.iter().enumerate() {
            let id = TableId(index as u32);
            let column = |column: u32| self.column(ColumnId { table: id, column });
            for here in (0..table.columns.len() as u32).map(column) {
                links.insert((here, self.table(id)), Link::ColumnOf);
                links.insert((self.table(id), here), Link::HasColumn);
                let others = (0..table.columns.len() as u32).map(column).filter(|other| *other != here);
                links.extend(others.map(|other| ((here, other), Link::SameTable)));
            }
            for key in table.primary_key.iter().copied().map(column) {
                links.insert((key, self.table(id)), Link::PrimaryKeyOf);
                links.insert((self.table(id), key), Link::HasPrimaryKey);
            }
        }
        for (index, table) in schema.tables.iter().enumerate() {
            let id = TableId(index as u32);
            for key in &table.foreign_keys {
                for (&column, &to) in key.columns.iter().zip(&key.to) {
                    let from = self.column(ColumnId { table: id, column });
                    links.insert((from, self.column(to)), Link::PointsTo);
                    links.insert((self.column(to), from), Link::PointedToBy);
                    let (here, there) = (self.table(id), self.table(to.table));
                    let mutual = matches!(
                        links.get(&(here, there)),
                        Some(Link::TablePointedToBy | Link::TablesPointToEachOther)
                    );
                    let [forth, back] = match mutual || here == there {
                        true => [Link::TablesPointToEachOther; 2],
                        false => [Link::TablePointsTo, Link::TablePointedToBy],
                    };
                    links.insert((here, there), forth);
                    links.insert((there, here), back);
                }
            }
        }
        let mut relations: Vec<Relation> =
            links.into_iter().map(|((from, to), link)| relation(from, to, link)).collect();
        relations.sort_unstable();
        relations
    }
}

fn relation(from: ItemId, to: ItemId, link: Link) -> Relation {
    Relation { from, to, kind: RelationKind(link as u8) }
}

impl Environment for SqlEnvironment {
    fn items(&self) -> &[Item] {
        &self.items
    }

    fn find(&self, symbol: &str) -> Option<ItemId> {
        self.ids.get(symbol).copied()
    }

    fn relation_names(&self) -> &[&'static str] {
        &RELATION_NAMES
    }

    fn relations(&self) -> &[Relation] {
        &self.relations
    }

    /// `FROM` is written first, so a column of a table that was not named is a column of nothing.
    fn after(&self, item: ItemId) -> Option<ItemId> {
        self.tables.get(item.index()).copied().flatten()
    }

    /// A word that was found in columns is looked for in them, or in those with values of the same domain.
    fn fits(&self, item: ItemId, place: Place) -> bool {
        let Some(homes) = self.homes.get(&item) else { return true };
        let room = place.parent.and_then(|parent| self.rooms.get(parent.index()));
        let left = place.previous == place.parent.map(Action::Rule);
        let compared = match place.previous {
            Some(Action::Item(previous)) => self.domains.get(previous.index()).copied().flatten(),
            _ => None,
        };
        match room {
            None | Some(Room::Anywhere) => compared.is_none_or(|domain| homes.contains(&domain)),
            Some(Room::OnTheRight) => !left && compared.is_none_or(|domain| homes.contains(&domain)),
            Some(Room::Nowhere) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Language;
    use crate::sql::{Column, ColumnType, ForeignKey, Table};

    /// `city` points to `state` by name, and has a key of its own.
    fn language() -> Sql {
        let column = |name: &str, ty| Column { name: name.to_owned(), ty };
        let name = |table| ColumnId { table: TableId(table), column: 0 };
        let key = ForeignKey { columns: vec![1], to: vec![name(1)], confidence: 1.0 };
        let text = ColumnType::Text;
        Sql::new(Schema {
            tables: vec![
                Table {
                    name: "city".into(),
                    columns: vec![column("cityName", text), column("state_name", text)],
                    primary_key: vec![0],
                    foreign_keys: vec![key],
                },
                Table {
                    name: "state".into(),
                    columns: vec![column("name", text), column("area", ColumnType::Number)],
                    primary_key: vec![0],
                    foreign_keys: vec![],
                },
            ],
        })
    }

    #[test]
    fn constants_are_there_for_every_question() {
        let language = language();
        let fixed = SqlEnvironment::new(&language);
        let major = Value::new(Literal::integer(150_000), "150000");
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
        let in_name = ColumnId { table: TableId(1), column: 0 };
        let texas = Value { literal: Literal::text("texas"), phrase: "Texas".into(), columns: vec![in_name] };
        let one = Value::new(Literal::integer(1), "one");
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
    fn words_are_looked_for_where_they_can_be() {
        let language = language();
        let column = |table, column| ColumnId { table: TableId(table), column };
        let (city_name, state_name, name) = (column(0, 0), column(0, 1), column(1, 0));
        let word = |text: &str, columns: Vec<ColumnId>| Value {
            literal: Literal::text(text),
            phrase: text.into(),
            columns,
        };
        let values = [word("austin", vec![city_name]), word("texas", vec![name]), word("dc", vec![])];
        let whole = SqlEnvironment::new(&language);
        let environment = whole.with_values(&language, &values);
        let rule = |name: &str| language.signatures().find_rule(name);
        let fits = |environment: &SqlEnvironment, text: &str, place| {
            environment.fits(environment.find(&format!("'{text}'")).unwrap(), place)
        };
        let after = |parent: &str, column: ColumnId| Place {
            parent: rule(parent),
            previous: Some(Action::Item(environment.column(column))),
        };
        for (text, column, there) in [
            ("austin", city_name, true),
            ("austin", state_name, false),
            ("austin", name, false),
            // `city.state_name` points to `state.name`.
            ("texas", state_name, true),
            ("texas", name, true),
            ("texas", city_name, false),
            ("dc", state_name, true),
        ] {
            assert_eq!(fits(&environment, text, after("=", column)), there, "{text}");
        }
        let unsure = whole.with_partly_known(&[state_name]).with_values(&language, &values);
        assert!(fits(&unsure, "austin", after("=", state_name)));
        // Neither on the left of a comparison, nor as an answer or under an aggregate; but in a list, or as part of a text.
        let right_after =
            |parent: &str| Place { parent: rule(parent), previous: rule(parent).map(Action::Rule) };
        for (parent, there) in
            [("=", false), ("distinct", false), ("max", false), ("andElement", true), ("contains", true)]
        {
            assert!(rule(parent).is_some());
            assert_eq!(fits(&environment, "texas", right_after(parent)), there, "{parent}");
        }
        assert!(!fits(&environment, "texas", after("select", city_name)));
    }

    #[test]
    fn columns_come_after_their_tables() {
        let language = language();
        let whole = SqlEnvironment::new(&language);
        let (part, _) = whole.about(&[TableId(1)]);
        for (environment, columns) in [(&whole, 4), (&part, 2)] {
            let after = |symbol: &str| environment.after(environment.find(symbol).unwrap());
            assert_eq!(after("state.area"), environment.find("state"));
            assert_eq!((after("state"), after("0")), (None, None));
            let ids = (0..environment.items().len() as u32).map(ItemId);
            assert_eq!(ids.filter_map(|id| environment.after(id)).count(), columns);
        }
    }

    #[test]
    fn relations_follow_keys_and_values() {
        let language = language();
        let in_name = ColumnId { table: TableId(1), column: 0 };
        let texas = Value { literal: Literal::text("texas"), phrase: "Texas".into(), columns: vec![in_name] };
        let environment = SqlEnvironment::new(&language).with_values(&language, &[texas]);
        let name = |from: &str, to: &str| {
            let pair = (environment.find(from).unwrap(), environment.find(to).unwrap());
            let mut found = environment.relations().iter().filter(|edge| (edge.from, edge.to) == pair);
            let name = found.next().map(|edge| environment.relation_names()[usize::from(edge.kind.0)]);
            assert_eq!(found.next(), None, "one relation a pair");
            name
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

    #[test]
    fn values_extend_the_grammar_of_the_schema() {
        let language = language();
        let fixed = SqlEnvironment::new(&language);
        let base = language.signatures().grammar(fixed.items()).unwrap();
        let text = "SELECT area FROM state WHERE name LIKE '%tex%'";
        assert!(language.read(text, &base, &fixed).is_err());
        let environment = fixed.with_values(&language, &[Value::new(Literal::text("tex"), "tex")]);
        let grammar = base.with_items(&environment.items()[fixed.fixed_items()..]);
        let program = language.read(text, &grammar, &environment).unwrap();
        let whole = language.signatures().grammar(environment.items()).unwrap();
        assert_eq!(language.read(text, &whole, &environment).unwrap(), program);
    }
}
