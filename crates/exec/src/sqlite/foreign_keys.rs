//! Foreign keys that nobody declared.
//!
//! Many databases declare none, and still every join follows one. A column points to another if its name says so
//! (`state_id` and the `id` of `state`, `state_name` and the `state_name` of `state`) and its values do: nearly all of them are
//! found there, where each occurs once. Words can point without a name to say so (`border` to `state_name`: fifty
//! names of states are no accident); numbers cannot, as one to fifty are found in every table.
//!
//! Each column gets the best target, with a confidence between 0 and 1 that grows with both kinds of evidence.
//!
//! Where some keys are declared, a table that declares any is taken to declare all of its own, and a column of the others has to be
//! named after its target: tables are added over the years, and views never declare keys.

use super::column_profile::ColumnProfile;
use xpr_lang::sql::{ColumnId, ForeignKey, Schema, TableId};
use xpr_text::{snowball_stem, split_identifier};

/// What is known of the columns of a table.
pub(super) struct TableProfile {
    /// One for each column.
    pub(super) columns: Vec<ColumnProfile>,
    /// Whether all rows were seen.
    pub(super) complete: bool,
}

/// Of a column's values, how many its target must have.
const SHARE: f32 = 0.9;
/// The same where names say nothing.
const SHARE_WITHOUT_NAME: f32 = 0.95;
/// So many different words before they may point without a name.
const WORDS_WITHOUT_NAME: usize = 8;

/// A column that could be pointed to.
struct Target {
    id: ColumnId,
    table_name: Vec<String>,
    column_name: Vec<String>,
    /// Whether it is the primary key.
    primary: bool,
}

/// Adds the keys to a schema. `look_up` says which share of a column's values another has, for one whose rows were not all seen.
pub(super) fn infer(
    schema: &mut Schema,
    profiles: &[TableProfile],
    look_up: &mut dyn FnMut(ColumnId, ColumnId) -> Option<f32>,
) {
    let table_names: Vec<Vec<String>> =
        schema.tables.iter().map(|table| name_words(&table.name)).collect();
    let profile = |id: ColumnId| &profiles[id.table.0 as usize].columns[id.column as usize];
    let columns: Vec<(ColumnId, Vec<String>)> = schema
        .tables
        .iter()
        .enumerate()
        .flat_map(|(table, contents)| {
            contents.columns.iter().enumerate().map(move |(column, contents)| {
                (ColumnId { table: TableId(table as u32), column: column as u32 }, &contents.name)
            })
        })
        .map(|(id, name)| (id, name_words(name)))
        .collect();
    let targets: Vec<Target> = columns
        .iter()
        .filter_map(|(id, name)| {
            let table = schema.table(id.table);
            let primary = table.primary_key == [id.column];
            let table_name = table_names[id.table.0 as usize].clone();
            let key = primary || (profile(*id).is_unique() && profile(*id).distinct() > 1);
            key.then(|| Target { id: *id, table_name, column_name: name.clone(), primary })
        })
        .collect();

    let declares = |table: TableId| !schema.table(table).foreign_keys.is_empty();
    let some_are_declared = schema.tables.iter().any(|table| !table.foreign_keys.is_empty());
    let mut found: Vec<(ColumnId, ColumnId, f32)> = Vec::new();
    for (from, name) in columns.iter().filter(|(from, _)| !declares(from.table)) {
        let mut best: Option<(ColumnId, f32)> = None;
        for target in targets.iter().filter(|target| target.id.table != from.table) {
            let named = name_evidence(name, target);
            let (own, other) = (profile(*from), profile(target.id));
            let words_may_do = !some_are_declared && own.is_textual() && own.distinct() >= WORDS_WITHOUT_NAME;
            if named == 0.0 && !words_may_do {
                continue;
            }
            let share = if own.distinct() == 0 {
                // Nothing to go by but the name, and that has to be plain.
                if named < 0.8 { continue } else { 0.5 }
            } else if profiles[target.id.table.0 as usize].complete {
                own.share_in(other)
            } else if named > 0.0 {
                match look_up(*from, target.id) {
                    Some(share) => share,
                    None => continue,
                }
            } else {
                continue;
            };
            let needed = if named == 0.0 { SHARE_WITHOUT_NAME } else { SHARE };
            if own.distinct() > 0 && share < needed {
                continue;
            }
            // A table's own name is what it is known by: `state_name` is the key of `state` before it is one of `highlow`.
            let at_home = if target.column_name.starts_with(&target.table_name) { 0.04 } else { 0.0 };
            let confidence = 0.45 * named + 0.45 * share + at_home;
            if best.is_none_or(|(_, before)| confidence > before) {
                best = Some((target.id, confidence));
            }
        }
        found.extend(best.map(|(to, confidence)| (*from, to, confidence)));
    }
    let back = found.clone();
    for (from, to, confidence) in found {
        // Of two columns that point to each other, the surer one does.
        let turned = back.iter().find(|&&(other, its, _)| other == to && its == from);
        let weaker =
            turned.is_some_and(|&(_, _, other)| other > confidence || (other == confidence && from < to));
        if !weaker {
            let key = ForeignKey { columns: vec![from.column], to: vec![to], confidence };
            schema.tables[from.table.0 as usize].foreign_keys.push(key);
        }
    }
}

/// From 0 to 1: how plainly the name of a column names the target.
fn name_evidence(name: &[String], target: &Target) -> f32 {
    let Target { table_name, column_name, primary, .. } = target;
    if name.is_empty() || table_name.is_empty() {
        return 0.0;
    }
    let full: Vec<&String> = table_name.iter().chain(column_name).collect();
    let at_home = column_name.starts_with(table_name);
    if name.iter().eq(full.iter().copied()) || (name == column_name && at_home) {
        1.0
    } else if *primary && name == table_name {
        0.9
    } else if name.len() > full.len() && name[name.len() - full.len()..].iter().eq(full.iter().copied())
        || name.len() > column_name.len() && at_home && name.ends_with(column_name)
    {
        0.8
    } else if name == column_name && !is_general(column_name) {
        0.6
    } else if *primary && name.ends_with(table_name) {
        0.5
    } else {
        0.0
    }
}

/// Whether every table may have a column with this name that is its own.
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
    fn names_are_words_and_say_where_they_point() {
            assert_eq!(name_words("homeStates_ID"), ["home", "state", "id"]);
        let target = |table: &str, column: &str, primary: bool| Target {
            id: ColumnId { table: TableId(0), column: 0 },
            table_name: name_words(table),
            column_name: name_words(column),
            primary,
        };
        let cases = [
            ("state_id", target("states", "id", true), 1.0),
            ("state_name", target("state", "state_name", false), 1.0),
            ("StateId", target("state", "state_id", true), 1.0),
            ("state", target("state", "id", true), 0.9),
            ("home_state_id", target("state", "id", true), 0.8),
            ("home_state_id", target("state", "state_id", true), 0.8),
            ("state_name", target("highlow", "state_name", false), 0.6),
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
