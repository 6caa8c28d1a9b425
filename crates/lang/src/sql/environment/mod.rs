//! A database as the parser sees it: tables, columns, and the values of one question.

mod relations;
#[cfg(test)]
mod tests;

use super::language::Sql;
use super::literal::{Literal, LiteralKind};
use super::rules::LiteralPosition;
use super::schema::{ColumnId, TableId};
use crate::{Action, Environment, Item, ItemId, ItemPosition, Relation};
use relations::{RELATION_NAMES, SchemaLink, is_key, link, schema_relations};
use rustc_hash::FxHashMap;
use std::sync::Arc;
use xpr_text::split_identifier;

/// A literal that a question may refer to.
#[derive(Clone, Debug, PartialEq)]
pub struct SuggestedValue {
    /// The literal in programs.
    pub literal: Literal,
    /// The words of the question.
    pub phrase: String,
    /// The columns that contain the value.
    pub columns: Vec<ColumnId>,
}

impl SuggestedValue {
    /// Creates a value that was not looked up in columns.
    pub fn new(literal: Literal, phrase: impl Into<String>) -> Self {
        SuggestedValue { literal, phrase: phrase.into(), columns: vec![] }
    }
}

/// Numbers that queries need although questions do not mention them, as in `LIMIT 1` and `COUNT(*) > 0`.
const CONSTANTS: [i64; 2] = [0, 1];

/// The items of a schema and of a question: tables, columns, the constants 0 and 1, and the values of the question, in
/// this order.
///
/// All but the values are the same for every question, with the same ids.
#[derive(Clone, Debug, Default)]
pub struct SqlEnvironment {
    items: Vec<Item>,
    ids: FxHashMap<String, ItemId>,
    relations: Vec<Relation>,
    /// For each table of the schema its items; none if the environment is restricted to other tables.
    tables: Vec<Option<TableItems>>,
    /// For each item that is a column, the item of its table.
    column_tables: Vec<Option<ItemId>>,
    /// For each item that is a column, the domain of its values; none if some of its values are not known.
    domains: Vec<Option<ValueDomain>>,
    /// For each item that is a word, the domains of the columns that contain it. A word in no column has no entry.
    word_domains: FxHashMap<ItemId, Vec<ValueDomain>>,
    /// For each rule, where search may put a word.
    literal_positions: Arc<[LiteralPosition]>,
    fixed_items: usize,
}

/// The items of a table and its columns.
#[derive(Clone, Copy, Debug)]
struct TableItems {
    table: ItemId,
    first_column: ItemId,
    column_count: u32,
}

/// Identifies columns that share their values because foreign keys connect them: the smallest id of their items in the
/// unrestricted environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct ValueDomain(ItemId);

impl SqlEnvironment {
    /// Creates the environment of a schema, without the values of a question.
    pub fn new(language: &Sql) -> Self {
        let schema = language.schema();
        let phrase = |name: &str| split_identifier(name).join(" ");
        let mut environment = SqlEnvironment::default();
        for (id, table) in (0..).map(TableId).zip(&schema.tables) {
            let symbol = language.symbols.table(id);
            environment.add(Item::new(language.table_kind(), phrase(&table.name), symbol), None);
        }
        for (id, table) in (0..).map(TableId).zip(&schema.tables) {
            let items = TableItems {
                table: ItemId(id.0),
                first_column: ItemId(environment.items.len() as u32),
                column_count: table.columns.len() as u32,
            };
            environment.tables.push(Some(items));
            for (index, column) in (0..).zip(&table.columns) {
                let symbol = language.symbols.column(ColumnId { table: id, column: index });
                let item = Item::new(language.column_kind(column.ty), phrase(&column.name), symbol);
                environment.add(item, Some(items.table));
            }
        }
        for constant in CONSTANTS.map(Literal::integer) {
            let kind = language.value_kind(constant.kind());
            environment.add(Item::new(kind, constant.to_string(), constant.to_string()), None);
        }
        environment.fixed_items = environment.items.len();
        environment.relations = schema_relations(&environment, schema);
        environment.domains = environment.find_domains();
        environment.literal_positions = language.literal_positions();
        environment
    }

    /// Returns this environment for a database of which some columns were not read to the end: [`Environment::fits`]
    /// lets search compare them with any word. Columns of tables that are not in the environment are ignored.
    #[must_use]
    pub fn with_incomplete_columns(mut self, columns: &[ColumnId]) -> Self {
        for &column in columns {
            if let Some(item) = self.column(column) {
                self.domains[item.index()] = None;
            }
        }
        self
    }

    /// Returns this environment with values added at the end. A value that is there already keeps its id.
    #[must_use]
    pub fn with_values(&self, language: &Sql, values: &[SuggestedValue]) -> Self {
        let mut environment = self.clone();
        for value in values {
            let symbol = value.literal.to_string();
            let kind = value.literal.kind();
            let id = environment.find(&symbol).unwrap_or_else(|| {
                environment.add(Item::new(language.value_kind(kind), value.phrase.as_str(), symbol), None)
            });
            for column in value.columns.iter().filter_map(|&column| self.column(column)) {
                environment.relations.push(link(id, column, SchemaLink::ValueInColumn));
                environment.relations.push(link(column, id, SchemaLink::ColumnHasValue));
                if let (LiteralKind::Word, Some(domain)) = (kind, self.domain(column)) {
                    environment.word_domains.entry(id).or_default().push(domain);
                }
            }
        }
        environment.relations[self.relations.len()..].sort_unstable();
        environment.relations.dedup();
        environment
    }

    /// Returns this environment with values added that every question has: constants that programs need although no
    /// question mentions them.
    #[must_use]
    pub fn with_constants(&self, language: &Sql, constants: &[SuggestedValue]) -> Self {
        let mut environment = self.with_values(language, constants);
        environment.fixed_items = environment.items.len();
        environment
    }

    /// Returns an environment with some of the tables, all constants and no values, and for each of its items the index
    /// of the same item in this environment.
    ///
    /// This is for schemas with more tables than one question can be about. Tables that are not in this environment
    /// are ignored.
    #[must_use]
    pub fn restricted_to(&self, tables: &[TableId]) -> (Self, Vec<u32>) {
        let wanted: Vec<ItemId> = tables.iter().filter_map(|&table| self.table(table)).collect();
        let table_count = self.tables.iter().flatten().count();
        let is_kept = |item: &u32| {
            let table = self.column_tables[*item as usize].unwrap_or(ItemId(*item));
            // Tables are the first items, so an item after them that is not a column is a constant.
            table.index() >= table_count || wanted.contains(&table)
        };
        let kept: Vec<u32> = (0..self.fixed_items as u32).filter(is_kept).collect();

        let literal_positions = Arc::clone(&self.literal_positions);
        let mut environment =
            SqlEnvironment { fixed_items: kept.len(), literal_positions, ..SqlEnvironment::default() };
        let mut new_ids: Vec<Option<ItemId>> = vec![None; self.items.len()];
        for &item in &kept {
            // A table comes before its columns, so it has its new id.
            let table = self.column_tables[item as usize].and_then(|table| new_ids[table.index()]);
            new_ids[item as usize] = Some(environment.add(self.items[item as usize].clone(), table));
        }
        let new_id = |id: ItemId| new_ids.get(id.index()).copied().flatten();

        environment.tables =
            self.tables.iter().map(|items| items.and_then(|items| items.moved(new_id))).collect();
        environment.domains = kept.iter().map(|&item| self.domain(ItemId(item))).collect();
        let words = self.word_domains.iter();
        environment.word_domains =
            words.filter_map(|(&word, domains)| Some((new_id(word)?, domains.clone()))).collect();
        let relations = self.relations.iter();
        environment.relations = relations
            .filter_map(|&Relation { from, to, kind }| {
                Some(Relation { from: new_id(from)?, to: new_id(to)?, kind })
            })
            .collect();
        (environment, kept)
    }

    /// Returns the number of items that are the same for every question. The items after them are the values of the
    /// question, which [`crate::Grammar::with_items`] adds to a grammar.
    pub fn fixed_items(&self) -> usize {
        self.fixed_items
    }

    /// Returns the item of a table; none if the environment is restricted to other tables.
    pub fn table(&self, table: TableId) -> Option<ItemId> {
        Some(self.table_items(table)?.table)
    }

    /// Returns the item of a column; none if the environment is restricted to other tables.
    pub fn column(&self, column: ColumnId) -> Option<ItemId> {
        let items = self.table_items(column.table)?;
        (column.column < items.column_count).then(|| ItemId(items.first_column.0 + column.column))
    }

    fn table_items(&self, table: TableId) -> Option<TableItems> {
        self.tables.get(table.0 as usize).copied().flatten()
    }

    /// Returns the domain of an item that is a column whose values are all known.
    fn domain(&self, item: ItemId) -> Option<ValueDomain> {
        self.domains.get(item.index()).copied().flatten()
    }

    /// Returns for each item that is a column its domain: the smallest id among the columns that foreign keys connect
    /// it with, in either direction.
    fn find_domains(&self) -> Vec<Option<ValueDomain>> {
        let mut domains: Vec<Option<ValueDomain>> = (0..)
            .zip(&self.column_tables)
            .map(|(item, table)| table.map(|_| ValueDomain(ItemId(item))))
            .collect();
        let mut changed = true;
        while changed {
            changed = false;
            for edge in self.relations.iter().filter(|edge| is_key(edge)) {
                let [from, to] = [edge.from, edge.to].map(ItemId::index);
                if domains[to] < domains[from] {
                    domains[from] = domains[to];
                    changed = true;
                }
            }
        }
        domains
    }

    /// Appends an item, with the item of its table if it is a column.
    fn add(&mut self, item: Item, table: Option<ItemId>) -> ItemId {
        let id = ItemId(self.items.len() as u32);
        self.column_tables.push(table);
        // A text cannot distinguish items with equal symbols, so it always refers to the first.
        self.ids.entry(item.symbol.clone()).or_insert(id);
        self.items.push(item);
        id
    }
}

impl TableItems {
    /// Returns the items with their new ids; none if the table has none.
    fn moved(self, new_id: impl Fn(ItemId) -> Option<ItemId>) -> Option<Self> {
        let table = new_id(self.table)?;
        // A table without columns has no first column to move.
        let first_column = if self.column_count == 0 { table } else { new_id(self.first_column)? };
        Some(TableItems { table, first_column, ..self })
    }
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

    /// A column comes after its table: programs write `FROM` first, so a column of another table would be unbound.
    fn after(&self, item: ItemId) -> Option<ItemId> {
        self.column_tables.get(item.index()).copied().flatten()
    }

    /// A word that some columns contain is compared only with these columns, or with others of the same domain.
    fn fits(&self, item: ItemId, position: ItemPosition) -> bool {
        let Some(word_domains) = self.word_domains.get(&item) else { return true };
        let is_first_argument = position.previous == position.parent.map(Action::Rule);
        let compared_with = match position.previous {
            Some(Action::Item(previous)) => self.domain(previous),
            _ => None,
        };
        let is_in_domain = compared_with.is_none_or(|domain| word_domains.contains(&domain));
        match position.parent.and_then(|parent| self.literal_positions.get(parent.index())) {
            None | Some(LiteralPosition::Anywhere) => is_in_domain,
            Some(LiteralPosition::OnTheRight) => !is_first_argument && is_in_domain,
            Some(LiteralPosition::Nowhere) => false,
        }
    }
}
