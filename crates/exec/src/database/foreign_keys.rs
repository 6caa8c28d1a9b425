//! Inference of foreign keys that are not declared.
//!
//! Many databases declare no keys, and yet every join follows one. A column points to a target if its name says so
//! (`state_id` to the `id` of `state`, `state_name` to the `state_name` of `state`) and if its values do: nearly all of
//! them are among the target's, which are distinct. A column of texts can also point to a target without a matching name
//! (`border` to `state_name`: fifty names of states are no accident). A column of numbers cannot, as the numbers from 1 to
//! 50 are in every table.
//!
//! Each column gets the target with the highest confidence, where `name` is the evidence of the names and `share` the
//! share of its values that the target has:
//!
//! ```text
//! confidence = 0.45 name + 0.45 share (+ 0.04 if the name of the target begins with that of its table)
//! ```
//!
//! If some keys of a database are declared, a table that declares any is assumed to declare all of its keys, and the
//! columns of other tables need a matching name. Such tables exist because tables are added over the years, and views
//! never declare keys.

use super::column_profile::ColumnProfile;
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};
use xpr_lang::sql::{ColumnId, ForeignKey, Schema, TableId};
use xpr_text::{snowball_stem, split_identifier};

// These constants decide which keys are inferred and with which confidence, and so which joins a parser proposes.

/// The share of a column's values that a target with a matching name must have.
const SHARE: f32 = 0.9;
/// The share of a column's values that a target without a matching name must have.
const SHARE_WITHOUT_NAME: f32 = 0.95;
/// The distinct texts a column needs to point to a target without a matching name.
const TEXTS_WITHOUT_NAME: usize = 8;
/// The name evidence that an empty column needs.
const NAME_WITHOUT_VALUES: f32 = 0.8;
/// The share that is assumed for an empty column.
const SHARE_WITHOUT_VALUES: f32 = 0.5;
/// The weight of the name evidence in the confidence.
const NAME_WEIGHT: f32 = 0.45;
/// The weight of the share of values in the confidence.
const SHARE_WEIGHT: f32 = 0.45;
/// Added to the confidence if the name of the target begins with the name of its table. It breaks ties: `state_name`
/// points to the column of `state` rather than to that of `highlow`.
const HOME_BONUS: f32 = 0.04;
/// The maximum number of targets with a matching name with which the values of a column are compared, and of targets that are
/// found by one of its values. Only schemas of thousands of tables have more.
const COMPARED_TARGETS: usize = 1000;

/// The profiles of the columns of a table.
pub(crate) struct TableProfile {
    /// One for each column.
    pub(crate) columns: Vec<ColumnProfile>,
    /// Whether all rows were read.
    pub(crate) complete: bool,
}

/// A column that a foreign key can point to: the primary key, or one whose values are distinct.
struct Target {
    id: ColumnId,
    /// The stems of the words of the table's name.
    table_name: Vec<String>,
    /// The stems of the words of the column's name.
    column_name: Vec<String>,
    is_primary_key: bool,
}

impl Target {
    /// Returns whether the name of the column begins with the name of its table.
    fn is_at_home(&self) -> bool {
        self.column_name.starts_with(&self.table_name)
    }

    /// Returns the confidence in a key to this target.
    fn confidence(&self, evidence: f32, share: f32) -> f32 {
        let bonus = if self.is_at_home() { HOME_BONUS } else { 0.0 };
        NAME_WEIGHT * evidence + SHARE_WEIGHT * share + bonus
    }
}

/// A foreign key of one column.
#[derive(Clone, Copy)]
struct InferredKey {
    from: ColumnId,
    to: ColumnId,
    confidence: f32,
}

/// Infers foreign keys and adds them to a schema. `look_up` returns the share of the values of one column that are in
/// another, for targets whose rows were not all read; `None` if that takes too long.
pub(crate) fn infer(
    schema: &mut Schema,
    profiles: &[TableProfile],
    look_up: &mut dyn FnMut(ColumnId, ColumnId) -> Option<f32>,
) {
    let columns = columns_of(schema);
    let targets = targets(schema, profiles, &columns);
    let declares = |table: TableId| !schema.table(table).foreign_keys.is_empty();
    let needs_name = schema.tables.iter().any(|table| !table.foreign_keys.is_empty());
    let by_name = TargetsByName::new(&targets);
    let pointing: Vec<&(ColumnId, Vec<String>)> =
        columns.iter().filter(|(from, _)| !declares(from.table)).collect();
    let by_values = match needs_name {
        true => TargetsByValue::default(),
        false => TargetsByValue::new(pointing.iter().map(|(from, _)| *from), &targets, profiles),
    };
    let mut keys: Vec<InferredKey> = Vec::new();
    let comparison = Comparison { targets: &targets, profiles, needs_name };
    for (from, name) in pointing {
        // A key without a matching name has less confidence than any key with one.
        let named = comparison.best(*from, name, by_name.of(name), |evidence| evidence > 0.0, look_up);
        let key =
            named.or_else(|| comparison.best(*from, name, by_values.of(*from, profiles), |_| true, look_up));
        keys.extend(key);
    }
    for key in without_mutual(&keys) {
        let InferredKey { from, to, confidence } = key;
        let key = ForeignKey { columns: vec![from.column], to: vec![to], confidence };
        schema.tables[from.table.0 as usize].foreign_keys.push(key);
    }
}

/// What columns are compared with.
struct Comparison<'t> {
    targets: &'t [Target],
    profiles: &'t [TableProfile],
    needs_name: bool,
}

impl Comparison<'_> {
    /// Returns the key from a column to the best target among candidates with the right evidence of names; of equally good ones,
    /// to the first.
    fn best(
        &self,
        from: ColumnId,
        name: &[String],
        candidates: impl Iterator<Item = usize>,
        has_evidence: impl Fn(f32) -> bool,
        look_up: &mut dyn FnMut(ColumnId, ColumnId) -> Option<f32>,
    ) -> Option<InferredKey> {
        let mut candidates: Vec<usize> = candidates.collect();
        candidates.sort_unstable();
        candidates.dedup();
        let mut best: Option<InferredKey> = None;
        let mut compared = 0;
        for target in candidates.into_iter().map(|index| &self.targets[index]) {
            let evidence = name_evidence(name, target);
            // Of many tables that have the same column, all but the first few can be no better.
            let is_better = || best.is_none_or(|best| target.confidence(evidence, 1.0) > best.confidence);
            if target.id.table == from.table || !has_evidence(evidence) || !is_better() {
                continue;
            }
            if compared == COMPARED_TARGETS {
                break;
            }
            compared += 1;
            if let Some(confidence) = self.confidence(from, evidence, target, look_up)
                && best.is_none_or(|best| confidence > best.confidence)
            {
                best = Some(InferredKey { from, to: target.id, confidence });
            }
        }
        best
    }

    /// Returns the confidence that a column points to a target with this evidence of names; `None` if the evidence is too weak.
    fn confidence(
        &self,
        from: ColumnId,
        evidence: f32,
        target: &Target,
        look_up: &mut dyn FnMut(ColumnId, ColumnId) -> Option<f32>,
    ) -> Option<f32> {
        let (own, other) = (profile(self.profiles, from), profile(self.profiles, target.id));
        let has_name = evidence > 0.0;
        if !has_name && (self.needs_name || !own.is_textual() || own.distinct() < TEXTS_WITHOUT_NAME) {
            return None;
        }
        let least = if has_name { SHARE } else { SHARE_WITHOUT_NAME };
        let share = if own.distinct() == 0 {
            (evidence >= NAME_WITHOUT_VALUES).then_some(SHARE_WITHOUT_VALUES)
        } else if self.profiles[target.id.table.0 as usize].complete {
            own.share_in(other, least)
        } else if has_name {
            look_up(from, target.id).filter(|&share| share >= least)
        } else {
            None
        };
        share.map(|share| target.confidence(evidence, share))
    }
}

/// An index of targets by their names, because most columns of a large schema have nothing to do with each other.
#[derive(Default)]
struct TargetsByName {
    /// Targets to which a column points if its name is the one with this hash.
    by_name: FxHashMap<u64, Vec<usize>>,
    /// Targets to which a column points if its name ends with the words with this hash.
    by_ending: FxHashMap<u64, Vec<usize>>,
}

impl TargetsByName {
    fn new(targets: &[Target]) -> Self {
        let mut index = TargetsByName::default();
        for (at, target) in targets.iter().enumerate() {
            let Target { table_name, column_name, is_primary_key, .. } = target;
            let of_column = hash_before(0, column_name);
            let mut endings = vec![hash_before(of_column, table_name)];
            if target.is_at_home() {
                endings.push(of_column);
            }
            if *is_primary_key {
                endings.push(hash_before(0, table_name));
            }
            for ending in endings {
                index.by_ending.entry(ending).or_default().push(at);
            }
            if !is_general(column_name) {
                index.by_name.entry(of_column).or_default().push(at);
            }
        }
        index
    }

    /// Returns the targets for which [`name_evidence`] may be above 0.
    fn of(&self, name: &[String]) -> impl Iterator<Item = usize> {
        let mut ending = 0;
        let endings = name.iter().rev().filter_map(move |word| {
            ending = hash_before(ending, std::slice::from_ref(word));
            self.by_ending.get(&ending)
        });
        endings.chain(self.by_name.get(&hash_before(0, name))).flatten().copied()
    }
}

/// Returns the hash of words before others with the hash `ending`, which is 0 if there are none.
fn hash_before(ending: u64, words: &[String]) -> u64 {
    words.iter().rev().fold(ending, |ending, word| {
        let mut hasher = FxHasher::default();
        (ending, word).hash(&mut hasher);
        hasher.finish()
    })
}

/// An index of targets by some of their values: those by which a column of texts can point to one without a matching name.
#[derive(Default)]
struct TargetsByValue {
    by_value: FxHashMap<u64, Vec<usize>>,
}

impl TargetsByValue {
    fn new(columns: impl Iterator<Item = ColumnId>, targets: &[Target], profiles: &[TableProfile]) -> Self {
        let mut by_value: FxHashMap<u64, Vec<usize>> = FxHashMap::default();
        for column in columns {
            by_value.extend(probes(profile(profiles, column)).map(|value| (value, Vec::new())));
        }
        for (index, target) in targets.iter().enumerate() {
            // The values of a table that was not read to its end are unknown.
            if profiles[target.id.table.0 as usize].complete {
                for value in profile(profiles, target.id).values() {
                    if let Some(found) =
                        by_value.get_mut(&value).filter(|found| found.len() < COMPARED_TARGETS)
                    {
                        found.push(index);
                    }
                }
            }
        }
        TargetsByValue { by_value }
    }

    /// Returns the targets that may have the share [`SHARE_WITHOUT_NAME`] of a column's values.
    fn of(&self, column: ColumnId, profiles: &[TableProfile]) -> impl Iterator<Item = usize> {
        let found = probes(profile(profiles, column)).filter_map(|value| self.by_value.get(&value));
        found.flatten().copied()
    }
}

/// Returns values of a column such that every target without a matching name has at least one of them: one more than may be
/// missing. A column that needs a matching name has none.
fn probes(profile: &ColumnProfile) -> impl Iterator<Item = u64> {
    let points = profile.is_textual() && profile.distinct() >= TEXTS_WITHOUT_NAME;
    let compared = profile.compared_values();
    let count = if points { (compared.len() as f32 * (1.0 - SHARE_WITHOUT_NAME)) as usize + 2 } else { 0 };
    compared.take(count)
}

/// Returns all columns of a schema with the stems of their names.
fn columns_of(schema: &Schema) -> Vec<(ColumnId, Vec<String>)> {
    let mut columns = Vec::new();
    for (table, contents) in (0..).map(TableId).zip(&schema.tables) {
        for (column, contents) in (0..).zip(&contents.columns) {
            columns.push((ColumnId { table, column }, name_words(&contents.name)));
        }
    }
    columns
}

fn targets(schema: &Schema, profiles: &[TableProfile], columns: &[(ColumnId, Vec<String>)]) -> Vec<Target> {
    let table_names: Vec<Vec<String>> = schema.tables.iter().map(|table| name_words(&table.name)).collect();
    let mut targets = Vec::new();
    for (id, name) in columns {
        let profile = profile(profiles, *id);
        let is_primary_key = schema.table(id.table).primary_key == [id.column];
        if is_primary_key || (profile.is_unique() && profile.distinct() > 1) {
            let table_name = table_names[id.table.0 as usize].clone();
            targets.push(Target { id: *id, table_name, column_name: name.clone(), is_primary_key });
        }
    }
    targets
}

fn profile(profiles: &[TableProfile], id: ColumnId) -> &ColumnProfile {
    &profiles[id.table.0 as usize].columns[id.column as usize]
}

/// Drops one of two keys that point to each other: the one with less confidence, or the earlier one if they are equal.
fn without_mutual(keys: &[InferredKey]) -> Vec<InferredKey> {
    // A column has one key at most.
    let by_column: FxHashMap<ColumnId, &InferredKey> = keys.iter().map(|key| (key.from, key)).collect();
    let is_weaker = |key: &&InferredKey| {
        let mutual = by_column.get(&key.to).filter(|other| other.to == key.from);
        mutual.is_some_and(|other| {
            other.confidence > key.confidence || (other.confidence == key.confidence && key.from < key.to)
        })
    };
    keys.iter().filter(|key| !is_weaker(key)).copied().collect()
}

/// Returns how clearly the name of a column points to a target, from 0 to 1.
fn name_evidence(name: &[String], target: &Target) -> f32 {
    let Target { table_name, column_name, is_primary_key, .. } = target;
    if name.is_empty() || table_name.is_empty() {
        return 0.0;
    }
    let is_at_home = target.is_at_home();
    // The words before the name of the table and the column.
    let before =
        name.strip_suffix(column_name.as_slice()).and_then(|rest| rest.strip_suffix(table_name.as_slice()));
    // `state_id` → `state.id`, `state_name` → `state.state_name`
    if before.is_some_and(<[String]>::is_empty) || (name == column_name && is_at_home) {
        1.0
    // `state` → `state.id`
    } else if *is_primary_key && name == table_name {
        0.9
    // `home_state_id` → `state.id`, `home_state_id` → `state.state_id`
    } else if before.is_some() || is_at_home && name.ends_with(column_name) {
        0.8
    // `state_name` → `highlow.state_name`
    } else if name == column_name && !is_general(column_name) {
        0.6
    // `home_state` → `state.id`
    } else if *is_primary_key && name.ends_with(table_name) {
        0.5
    } else {
        0.0
    }
}

/// Returns whether a name is so general that columns of unrelated tables have it.
fn is_general(name: &[String]) -> bool {
    const WORDS: [&str; 12] = [
        "code", "date", "descript", "id", "key", "name", "number", "statu", "status", "titl", "type", "year",
    ];
    name.iter().all(|word| WORDS.contains(&word.as_str()))
}

/// Returns the stems of the words of a name: `homeStates_ID` is `home`, `state`, `id`.
fn name_words(name: &str) -> Vec<String> {
    split_identifier(name).iter().map(|word| snowball_stem(word)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_point_to_targets() {
        assert_eq!(name_words("homeStates_ID"), ["home", "state", "id"]);
        let target = |table: &str, column: &str, is_primary_key: bool| Target {
            id: ColumnId { table: TableId(0), column: 0 },
            table_name: name_words(table),
            column_name: name_words(column),
            is_primary_key,
        };
        let cases = [
            ("state_id", target("states", "id", true), 1.0),
            ("state_name", target("state", "state_name", false), 1.0),
            ("StateId", target("state", "state_id", true), 1.0),
            ("state", target("state", "id", true), 0.9),
            ("home_state_id", target("state", "id", true), 0.8),
            ("home_state_id", target("state", "state_id", true), 0.8),
            ("state_name", target("highlow", "state_name", false), 0.6),
            ("home_state", target("state", "id", true), 0.5),
            ("id", target("state", "id", true), 0.0),
            ("name", target("state", "name", false), 0.0),
            ("border", target("state", "state_name", false), 0.0),
            ("", target("state", "id", true), 0.0),
        ];
        for (name, target, expected) in cases {
            assert_eq!(name_evidence(&name_words(name), &target), expected, "{name}");
        }
    }

    /// Issue 18: every column was compared with every other.
    #[test]
    fn the_index_has_every_target_that_a_name_points_to_and_few_others() {
        let words = ["state", "name", "id", "home", "city", "code", "lake"];
        let names: Vec<String> = words
            .iter()
            .flat_map(|first| words.iter().map(move |second| format!("{first}_{second}")))
            .chain(words.iter().map(|&word| word.to_owned()))
            .chain([String::new(), "_".to_owned()])
            .collect();
        let mut targets = Vec::new();
        for (table, table_name) in (0..).zip(&names) {
            for (column, column_name) in (0..).zip(&names) {
                for is_primary_key in [false, true] {
                    targets.push(Target {
                        id: ColumnId { table: TableId(table), column },
                        table_name: name_words(table_name),
                        column_name: name_words(column_name),
                        is_primary_key,
                    });
                }
            }
        }
        let index = TargetsByName::new(&targets);
        for name in names.iter().map(|name| name_words(name)) {
            let found: Vec<usize> = index.of(&name).collect();
            for (at, target) in targets.iter().enumerate() {
                assert!(name_evidence(&name, target) == 0.0 || found.contains(&at), "{name:?}");
            }
        }
        let unrelated: Vec<Target> = (0..1000)
            .map(|column| Target {
                id: ColumnId { table: TableId(0), column },
                table_name: name_words("measurement"),
                column_name: name_words(&format!("value{column}x")),
                is_primary_key: false,
            })
            .collect();
        let index = TargetsByName::new(&unrelated);
        assert_eq!(index.of(&name_words("value7x")).count(), 1);
    }

    /// Issue 18: a column was compared with all columns of its name, and so all with all where many tables have the same.
    #[test]
    fn a_column_is_compared_with_few_of_many_targets_of_its_name() {
        use crate::database::cell::Cell;
        use xpr_lang::sql::{Column, ColumnType, Table};
        const TABLES: usize = 1100;
        let table = |number: usize| Table {
            comment: None,
            namespace: None,
            name: format!("sales{number}"),
            columns: vec![Column { comment: None, name: "region_ref".to_owned(), ty: ColumnType::Text }],
            primary_key: vec![],
            foreign_keys: vec![],
        };
        let schema = Schema { dialect: Default::default(), tables: (0..TABLES).map(table).collect() };
        let profiles: Vec<TableProfile> = (0..TABLES)
            .map(|_| {
                let mut column = ColumnProfile::default();
                ["north", "south"].iter().for_each(|value| column.add(Cell::Text(value.as_bytes())));
                column.finish();
                TableProfile { columns: vec![column], complete: false }
            })
            .collect();
        for (share, most) in [(0.5, COMPARED_TARGETS), (1.0, 1)] {
            let mut looked_up = vec![0; TABLES];
            infer(&mut schema.clone(), &profiles, &mut |from, _| {
                looked_up[from.table.0 as usize] += 1;
                Some(share)
            });
            assert!(looked_up.iter().all(|&count| count == most), "{share}: {looked_up:?}");
        }
    }

    #[test]
    fn every_target_with_nearly_all_values_has_one_of_the_probes() {
        use crate::database::cell::Cell;
        let column = |values: std::ops::Range<u32>, prefix: &str| {
            let mut profile = ColumnProfile::default();
            for value in values {
                profile.add(Cell::Text(format!("{prefix}{value}").as_bytes()));
            }
            profile.finish();
            profile
        };
        for distinct in [1, 7, 8, 9, 19, 20, 21, 100, 199, 200, 201, 1000, 5000] {
            let from = column(0..distinct, "a");
            for first in 0..distinct.min(60) {
                let target = column(first..distinct, "a");
                let points = from.distinct() >= TEXTS_WITHOUT_NAME
                    && from.share_in(&target, SHARE_WITHOUT_NAME).is_some();
                let has_probe = probes(&from).any(|probe| target.values().any(|value| value == probe));
                assert!(!points || has_probe, "{distinct} {first}");
            }
            let other = column(0..distinct, "b");
            assert!(!probes(&from).any(|probe| other.values().any(|value| value == probe)));
        }
    }
}
