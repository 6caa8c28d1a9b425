//! A database as the parser sees it: tables, columns, and the values of one question.

mod relations;
#[cfg(test)]
mod tests;

use super::language::Sql;
use super::literal::{Literal, LiteralKind};
use super::rules::LiteralPosition;
use super::schema::{ColumnId, TableId};
use super::sense::{SearchFacts, SenseFacts};
use crate::{Action, Environment, Item, ItemId, ItemPosition, LiteralClass, Relation, RelationKind, Sense};
use relations::{RELATION_NAMES, SchemaLink, is_key, link, schema_relations};
use rustc_hash::FxHashMap;
use std::sync::Arc;
use xpr_text::{split_identifier, tokenize};

/// A literal that a question may refer to.
#[derive(Clone, Debug, PartialEq)]
pub struct SuggestedValue {
    /// The literal in programs.
    pub literal: Literal,
    /// The words of the question.
    pub phrase: String,
    /// The columns that contain the value.
    pub columns: Vec<ColumnId>,
    /// Whether the question says it as a number of things, as in `the three longest rivers`.
    pub is_count: bool,
}

impl SuggestedValue {
    /// Creates a value that was not looked up in columns.
    pub fn new(literal: Literal, phrase: impl Into<String>) -> Self {
        SuggestedValue { literal, phrase: phrase.into(), columns: vec![], is_count: false }
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
    /// For each item, its meaning.
    meanings: Vec<ItemMeaning>,
    /// For each item that is a text, the domains of the columns that contain it. A text in no column has no entry.
    text_domains: FxHashMap<ItemId, Vec<ValueDomain>>,
    /// For each rule, where search may put a word.
    literal_positions: Arc<[LiteralPosition]>,
    fixed_items: usize,
    /// What the rules of sense know; none if search is to try whatever the grammar allows.
    sense_facts: Option<Arc<SenseFacts>>,
}

/// The meaning of an item.
#[derive(Clone, Copy, Debug)]
pub(super) enum ItemMeaning {
    Table(TableId),
    Column(ColumnId),
    Literal(LiteralMeaning),
}

/// What is known about an item that is a literal.
#[derive(Clone, Copy, Debug)]
pub(super) struct LiteralMeaning {
    pub(super) kind: LiteralKind,
    pub(super) number: Option<f64>,
    /// Whether it is a pattern of `LIKE`.
    pub(super) has_wildcard: bool,
    /// Whether the words of the question suggest it.
    pub(super) is_said: bool,
    /// Whether the question says it as a number of things.
    pub(super) is_count: bool,
}

impl LiteralMeaning {
    fn new(literal: &Literal) -> Self {
        let (number, has_wildcard) = match literal {
            Literal::Number(number) => (number.parse().ok(), false),
            Literal::Text(text) => (None, text.contains(['%', '_'])),
        };
        LiteralMeaning { kind: literal.kind(), number, has_wildcard, is_said: false, is_count: false }
    }

    pub(super) fn is_zero_or_one(self) -> bool {
        self.number.is_some_and(|number| number == 0.0 || number == 1.0)
    }
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

/// The number of words of a comment that say what a name means. What comes after them is prose.
const COMMENT_WORDS: usize = 8;

/// Returns the words of a table or column: those of its name, and those that only its comment has.
fn phrase(name: &str, comment: Option<&str>) -> String {
    let mut words = split_identifier(name);
    for word in tokenize(comment.unwrap_or_default()).into_iter().take(COMMENT_WORDS) {
        if word.chars().all(char::is_alphanumeric) && !words.contains(&word) {
            words.push(word);
        }
    }
    words.join(" ")
}

impl SqlEnvironment {
    /// Creates the environment of a schema, without the values of a question.
    pub fn new(language: &Sql) -> Self {
        let schema = language.schema();
        let mut environment = SqlEnvironment::default();
        for (id, table) in (0..).map(TableId).zip(&schema.tables) {
            let symbol = language.symbols.table(id);
            let item =
                Item::new(language.table_kind(), phrase(&table.name, table.comment.as_deref()), symbol);
            environment.add(item, ItemMeaning::Table(id), None);
        }
        for (id, table) in (0..).map(TableId).zip(&schema.tables) {
            let items = TableItems {
                table: ItemId(id.0),
                first_column: ItemId(environment.items.len() as u32),
                column_count: table.columns.len() as u32,
            };
            environment.tables.push(Some(items));
            for (index, column) in (0..).zip(&table.columns) {
                let id = ColumnId { table: id, column: index };
                let symbol = language.symbols.column(id);
                let phrase = phrase(&column.name, column.comment.as_deref());
                let item = Item::new(language.column_kind(column.ty), phrase, symbol);
                environment.add(item, ItemMeaning::Column(id), Some(items.table));
            }
        }
        for constant in CONSTANTS.map(Literal::integer) {
            let kind = language.value_kind(constant.kind());
            let item = Item::new(kind, constant.to_string(), constant.to_string());
            environment.add(item, ItemMeaning::Literal(LiteralMeaning::new(&constant)), None);
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

    /// Returns this environment with rules about which queries make sense; see [`Environment::sense`].
    #[must_use]
    pub fn with_sense(mut self, language: &Sql, facts: &SearchFacts) -> Self {
        self.sense_facts = Some(SenseFacts::new(language, facts));
        self
    }

    /// Returns this environment with the values of a question added at the end. A value that is there already keeps its
    /// id.
    #[must_use]
    pub fn with_values(&self, language: &Sql, values: &[SuggestedValue]) -> Self {
        let mut environment = self.clone();
        for value in values {
            let id = environment.add_value(language, value);
            if let ItemMeaning::Literal(literal) = &mut environment.meanings[id.index()] {
                literal.is_said = true;
                literal.is_count |= value.is_count;
            }
        }
        environment.finish_relations(self.relations.len());
        environment
    }

    /// Returns this environment with values added that every question has: constants that programs need although no
    /// question mentions them.
    #[must_use]
    pub fn with_constants(&self, language: &Sql, constants: &[SuggestedValue]) -> Self {
        let mut environment = self.clone();
        for constant in constants {
            environment.add_value(language, constant);
        }
        environment.finish_relations(self.relations.len());
        environment.fixed_items = environment.items.len();
        environment
    }

    /// Adds a value and its relations, unless it is there already. Returns its id.
    fn add_value(&mut self, language: &Sql, value: &SuggestedValue) -> ItemId {
        let symbol = value.literal.to_string();
        let kind = value.literal.kind();
        let id = self.find(&symbol).unwrap_or_else(|| {
            let item = Item::new(language.value_kind(kind), value.phrase.as_str(), symbol);
            self.add(item, ItemMeaning::Literal(LiteralMeaning::new(&value.literal)), None)
        });
        for column in value.columns.iter().filter_map(|&column| self.column(column)).collect::<Vec<_>>() {
            self.relations.push(link(id, column, SchemaLink::ValueInColumn));
            self.relations.push(link(column, id, SchemaLink::ColumnHasValue));
            if let (Literal::Text(_), Some(domain)) = (&value.literal, self.domain(column)) {
                self.text_domains.entry(id).or_default().push(domain);
            }
        }
        id
    }

    /// Sorts the relations after the first ones and removes duplicates.
    fn finish_relations(&mut self, first: usize) {
        self.relations[first..].sort_unstable();
        self.relations.dedup();
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

        let mut environment = SqlEnvironment {
            fixed_items: kept.len(),
            literal_positions: Arc::clone(&self.literal_positions),
            sense_facts: self.sense_facts.clone(),
            ..SqlEnvironment::default()
        };
        let mut new_ids: Vec<Option<ItemId>> = vec![None; self.items.len()];
        for &item in &kept {
            // A table comes before its columns, so it has its new id.
            let table = self.column_tables[item as usize].and_then(|table| new_ids[table.index()]);
            let meaning = self.meanings[item as usize];
            new_ids[item as usize] = Some(environment.add(self.items[item as usize].clone(), meaning, table));
        }
        let new_id = |id: ItemId| new_ids.get(id.index()).copied().flatten();

        environment.tables =
            self.tables.iter().map(|items| items.and_then(|items| items.moved(new_id))).collect();
        environment.domains = kept.iter().map(|&item| self.domain(ItemId(item))).collect();
        let texts = self.text_domains.iter();
        environment.text_domains =
            texts.filter_map(|(&text, domains)| Some((new_id(text)?, domains.clone()))).collect();
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

    /// Returns the meaning of an item.
    pub(super) fn meaning(&self, item: ItemId) -> ItemMeaning {
        self.meanings[item.index()]
    }

    /// Returns what the rules of sense know, if there are some.
    pub(super) fn sense_facts(&self) -> Option<&SenseFacts> {
        self.sense_facts.as_deref()
    }

    /// Returns whether a column contains a text, or may do so because not all its values are known.
    pub(super) fn may_contain(&self, column: ColumnId, text: ItemId) -> bool {
        let Some(domain) = self.column(column).and_then(|item| self.domain(item)) else { return true };
        match self.text_domains.get(&text) {
            Some(domains) => domains.contains(&domain),
            // A constant of labels, which are believed.
            None => matches!(self.meaning(text), ItemMeaning::Literal(literal) if !literal.is_said),
        }
    }

    /// Appends an item, with the item of its table if it is a column.
    fn add(&mut self, item: Item, meaning: ItemMeaning, table: Option<ItemId>) -> ItemId {
        let id = ItemId(self.items.len() as u32);
        self.meanings.push(meaning);
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

    fn sibling_relation(&self) -> Option<RelationKind> {
        Some(RelationKind(SchemaLink::SameTable as u8))
    }

    /// A column comes after its table: programs write `FROM` first, so a column of another table would be unbound.
    fn after(&self, item: ItemId) -> Option<ItemId> {
        self.column_tables.get(item.index()).copied().flatten()
    }

    /// A word that some columns contain is compared only with these columns, or with others of the same domain.
    fn fits(&self, item: ItemId, position: ItemPosition) -> bool {
        let is_word =
            matches!(self.meaning(item), ItemMeaning::Literal(literal) if literal.kind == LiteralKind::Word);
        let Some(word_domains) = self.text_domains.get(&item).filter(|_| is_word) else { return true };
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

    fn literal_class(&self, item: ItemId) -> Option<LiteralClass> {
        match self.meaning(item) {
            // Queries need 0 and 1 whatever the question says, as in `LIMIT 1`.
            ItemMeaning::Literal(literal) if literal.is_zero_or_one() => None,
            ItemMeaning::Literal(LiteralMeaning { number: Some(_), .. }) => Some(LiteralClass::Number),
            ItemMeaning::Literal(_) => Some(LiteralClass::Text),
            ItemMeaning::Table(_) | ItemMeaning::Column(_) => None,
        }
    }

    fn sense(&self) -> Option<&dyn Sense> {
        self.sense_facts.is_some().then_some(self as &dyn Sense)
    }
}
