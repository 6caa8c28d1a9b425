//! What the rules of sense know about a database and its labels.

use crate::sql::label_patterns::{ConstantUse, LabelPatterns};
use crate::sql::language::Sql;
use crate::sql::rules::SqlRule;
use crate::sql::schema::{ColumnId, ColumnType, Schema, TableId};
use crate::sql::symbols::Meaning;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// The number of queries inside each other that search may try even if no label has as many.
const LEAST_DEPTH: usize = 2;

/// What search should know about a database besides its schema.
#[derive(Clone, Debug, Default)]
pub struct SearchFacts {
    /// The least and the greatest number of columns of numbers, as far as they are known.
    pub ranges: Vec<(ColumnId, [f64; 2])>,
    /// What labeled queries have; none if that is not known, so that nothing is excluded because no label has it.
    pub labels: Option<LabelPatterns>,
}

/// [`SearchFacts`] as the rules look them up.
#[derive(Debug)]
pub(crate) struct SenseFacts {
    pub(super) language: Sql,
    ranges: FxHashMap<ColumnId, [f64; 2]>,
    /// For each column that keys connect with another, the least of all the columns that they connect it with.
    key_groups: FxHashMap<ColumnId, ColumnId>,
    /// Pairs of columns that labels compare, both ways.
    joins: FxHashSet<(ColumnId, ColumnId)>,
    /// Pairs of tables with columns that keys or labels connect, both ways.
    joinable_tables: FxHashSet<(TableId, TableId)>,
    /// Uses of constants in labels whose questions do not say them.
    constants: FxHashSet<(String, ConstantUse)>,
    /// Tables that may be in a `FROM` list more than once.
    repeatable: FxHashSet<TableId>,
    /// The largest number of queries inside each other; none if labels are not known.
    depth: Option<usize>,
    /// Whether labels have columns beside the least or greatest value of all rows.
    pub(super) has_rows_of_extremes: bool,
    /// The rare rules that labels have; none if labels are not known.
    rules: Option<FxHashSet<SqlRule>>,
}

impl SenseFacts {
    pub(crate) fn new(language: &Sql, facts: &SearchFacts) -> Arc<Self> {
        let schema = language.schema();
        let labels = facts.labels.clone().unwrap_or_default();
        let column = |symbol: &String| match language.symbols.meaning(symbol) {
            Some(Meaning::Column(column)) => Some(column),
            _ => None,
        };
        let table = |symbol: &String| match language.symbols.meaning(symbol) {
            Some(Meaning::Table(table)) => Some(table),
            _ => None,
        };
        let pairs = labels.joins.iter().filter_map(|[left, right]| Some((column(left)?, column(right)?)));
        let signatures = &language.rules.signatures;
        let rule = |name: &String| signatures.find_rule(name).map(|id| language.rules.rule(id));
        let uses = labels
            .constants
            .iter()
            .filter_map(|[literal, used]| Some((literal.clone(), ConstantUse::from_symbol(used, column)?)));
        let mut repeatable: FxHashSet<TableId> = labels.repeated_tables.iter().filter_map(table).collect();
        repeatable.extend(tables_with_several_keys(schema));
        let key_groups = key_groups(schema);
        let joins: FxHashSet<(ColumnId, ColumnId)> =
            pairs.flat_map(|(left, right)| [(left, right), (right, left)]).collect();
        let of_keys = key_groups.iter().flat_map(|(left, group)| {
            let same = key_groups.iter().filter(move |(_, other)| *other == group);
            same.map(move |(right, _)| (left.table, right.table))
        });
        let of_labels = joins.iter().map(|(left, right)| (left.table, right.table));
        Arc::new(SenseFacts {
            ranges: facts.ranges.iter().copied().collect(),
            joinable_tables: of_keys.chain(of_labels).collect(),
            key_groups,
            joins,
            constants: uses.collect(),
            repeatable,
            depth: facts.labels.as_ref().map(|labels| labels.depth.max(LEAST_DEPTH)),
            has_rows_of_extremes: labels.has_rows_of_extremes,
            rules: facts.labels.as_ref().map(|labels| labels.rules.iter().filter_map(rule).collect()),
            language: language.clone(),
        })
    }

    pub(super) fn schema(&self) -> &Schema {
        self.language.schema()
    }

    /// Returns whether keys or labels connect two columns, or whether they are the same.
    pub(super) fn are_joinable(&self, left: ColumnId, right: ColumnId) -> bool {
        let group = |column: &ColumnId| self.key_groups.get(column).copied().unwrap_or(*column);
        group(&left) == group(&right) || self.joins.contains(&(left, right))
    }

    /// Returns whether two tables have columns that can be joined. The two may be the same table.
    pub(super) fn are_joinable_tables(&self, left: TableId, right: TableId) -> bool {
        self.joinable_tables.contains(&(left, right)) || left == right && self.is_repeatable(left)
    }

    /// Returns whether a table has a column that can be joined with a column.
    pub(super) fn has_joinable_column(&self, table: TableId, column: ColumnId) -> bool {
        let count = self.schema().table(table).columns.len() as u32;
        (0..count).any(|index| self.are_joinable(column, ColumnId { table, column: index }))
    }

    /// Returns whether a column identifies rows: it is part of a primary key, or of a key between tables.
    pub(super) fn is_key(&self, column: ColumnId) -> bool {
        self.key_groups.contains_key(&column)
            || self.schema().table(column.table).primary_key.contains(&column.column)
    }

    /// Returns whether a column alone identifies the rows of its table.
    pub(super) fn is_whole_key(&self, column: ColumnId) -> bool {
        self.schema().table(column.table).primary_key == [column.column]
    }

    /// Returns the least and the greatest number of a column.
    pub(super) fn range(&self, column: ColumnId) -> Option<[f64; 2]> {
        self.ranges.get(&column).copied()
    }

    /// Returns whether a column has truth values only.
    pub(super) fn is_flag(&self, column: ColumnId) -> bool {
        self.schema().column(column).ty == ColumnType::Boolean || self.range(column) == Some([0.0, 1.0])
    }

    /// Returns whether a label compares this constant in the same way although its question does not say it.
    pub(super) fn is_used(&self, literal: &str, used: ConstantUse) -> bool {
        self.constants.contains(&(literal.to_owned(), used))
    }

    /// Returns the largest number of queries that search may put inside each other, if there is one.
    pub(super) fn max_depth(&self) -> Option<usize> {
        self.depth
    }

    /// Returns whether a table may be in a `FROM` list more than once.
    pub(super) fn is_repeatable(&self, table: TableId) -> bool {
        self.repeatable.contains(&table)
    }

    /// Returns whether search may use a rule: those that few queries need are tried only if a label has one.
    pub(super) fn knows(&self, rule: SqlRule) -> bool {
        self.rules.as_ref().is_none_or(|rules| !rule.is_rare() || rules.contains(&rule))
    }
}

/// Returns for each column that keys connect with another the least column that they connect it with.
fn key_groups(schema: &Schema) -> FxHashMap<ColumnId, ColumnId> {
    let mut groups: FxHashMap<ColumnId, ColumnId> = FxHashMap::default();
    let keys: Vec<(ColumnId, ColumnId)> = (0..)
        .map(TableId)
        .zip(&schema.tables)
        .flat_map(|(id, table)| {
            let pairs = table.foreign_keys.iter().flat_map(|key| key.columns.iter().zip(&key.to));
            pairs.map(move |(&column, &to)| (ColumnId { table: id, column }, to))
        })
        .collect();
    let mut changed = true;
    while changed {
        changed = false;
        for &(from, to) in &keys {
            let group = |column: ColumnId| groups.get(&column).copied().unwrap_or(column);
            let least = group(from).min(group(to));
            for column in [from, to] {
                changed |= groups.insert(column, least) != Some(least);
            }
        }
    }
    groups
}

/// Returns the tables that several columns of one table refer to, or that refer to themselves.
fn tables_with_several_keys(schema: &Schema) -> Vec<TableId> {
    let mut found = Vec::new();
    for (id, table) in (0..).map(TableId).zip(&schema.tables) {
        let mut targets: Vec<TableId> =
            table.foreign_keys.iter().filter_map(|key| Some(key.to.first()?.table)).collect();
        targets.push(id);
        targets.sort_unstable();
        found.extend(targets.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]));
    }
    found
}
