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

/// The profiles of the columns of a table.
pub(super) struct TableProfile {
    /// One for each column.
    pub(super) columns: Vec<ColumnProfile>,
    /// Whether all rows were read.
    pub(super) complete: bool,
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
pub(super) fn infer(
    schema: &mut Schema,
    profiles: &[TableProfile],
    look_up: &mut dyn FnMut(ColumnId, ColumnId) -> Option<f32>,
) {
    let columns = columns_of(schema);
    let targets = targets(schema, profiles, &columns);
    let declares = |table: TableId| !schema.table(table).foreign_keys.is_empty();
    let needs_name = schema.tables.iter().any(|table| !table.foreign_keys.is_empty());
    let mut keys: Vec<InferredKey> = Vec::new();
    for (from, name) in columns.iter().filter(|(from, _)| !declares(from.table)) {
        let mut best: Option<InferredKey> = None;
        for target in targets.iter().filter(|target| target.id.table != from.table) {
            let confidence = confidence(*from, name, target, profiles, needs_name, look_up);
            if let Some(confidence) = confidence
                && best.is_none_or(|best| confidence > best.confidence)
            {
                best = Some(InferredKey { from: *from, to: target.id, confidence });
            }
        }
        keys.extend(best);
    }
    for key in without_mutual(&keys) {
        let InferredKey { from, to, confidence } = key;
        let key = ForeignKey { columns: vec![from.column], to: vec![to], confidence };
        schema.tables[from.table.0 as usize].foreign_keys.push(key);
    }
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

/// Returns the confidence that the column `from`, called `name`, points to a target; `None` if the evidence is too weak.
fn confidence(
    from: ColumnId,
    name: &[String],
    target: &Target,
    profiles: &[TableProfile],
    needs_name: bool,
    look_up: &mut dyn FnMut(ColumnId, ColumnId) -> Option<f32>,
) -> Option<f32> {
    let evidence = name_evidence(name, target);
    let (own, other) = (profile(profiles, from), profile(profiles, target.id));
    let has_name = evidence > 0.0;
    if !has_name && (needs_name || !own.is_textual() || own.distinct() < TEXTS_WITHOUT_NAME) {
        return None;
    }
    let share = if own.distinct() == 0 {
        if evidence < NAME_WITHOUT_VALUES {
            return None;
        }
        SHARE_WITHOUT_VALUES
    } else {
        let share = if profiles[target.id.table.0 as usize].complete {
            own.share_in(other)
        } else if has_name {
            look_up(from, target.id)?
        } else {
            return None;
        };
        if share < (if has_name { SHARE } else { SHARE_WITHOUT_NAME }) {
            return None;
        }
        share
    };
    let bonus = if target.is_at_home() { HOME_BONUS } else { 0.0 };
    Some(NAME_WEIGHT * evidence + SHARE_WEIGHT * share + bonus)
}

/// Drops one of two keys that point to each other: the one with less confidence, or the earlier one if they are equal.
fn without_mutual(keys: &[InferredKey]) -> Vec<InferredKey> {
    let is_weaker = |key: &&InferredKey| {
        let mutual = keys.iter().find(|other| other.from == key.to && other.to == key.from);
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
    let full_name: Vec<String> = table_name.iter().chain(column_name).cloned().collect();
    let is_at_home = target.is_at_home();
    // `state_id` → `state.id`, `state_name` → `state.state_name`
    if name == full_name || (name == column_name && is_at_home) {
        1.0
    // `state` → `state.id`
    } else if *is_primary_key && name == table_name {
        0.9
    // `home_state_id` → `state.id`, `home_state_id` → `state.state_id`
    } else if name.ends_with(&full_name) || is_at_home && name.ends_with(column_name) {
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
}
