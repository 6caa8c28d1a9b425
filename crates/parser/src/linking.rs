//! The relations between the words of a question and the items of an environment.
//!
//! The encoder gets a kind of relation from each element of [words ; items ; rules] to each:
//!
//! - between two words, their distance;
//! - between a word and an item, whether the word occurs in the item's phrase, and whether the whole phrase occurs at
//!   that point of the question (an exact match, which takes precedence over a partial one);
//! - between two items, the relation that the environment lists;
//! - between a word and a rule that has phrases, the same as between a word and an item.

use std::collections::BTreeMap;
use xpr_lang::{Environment, ItemId, Relation, RelationKind};
use xpr_text::is_function_word;

/// Between two words: their distance, clipped to −2 … 2.
const DISTANCE: u8 = 0;
const DISTANCES: u8 = 5;
/// From a word to an item: for each class of item, no match, a partial match, an exact match.
const WORD_ITEM: u8 = DISTANCE + DISTANCES;
const CLASSES: u8 = 8;
const MATCHES: u8 = 3;
/// From an item to a word: the same.
const ITEM_WORD: u8 = WORD_ITEM + CLASSES * MATCHES;
/// From an item to itself.
const SAME: u8 = ITEM_WORD + CLASSES * MATCHES;
/// Between two items that the environment lists no relation for.
pub(crate) const UNRELATED: u8 = SAME + 1;
/// From a word to a rule: no match, a partial match, an exact match.
const WORD_RULE: u8 = UNRELATED + 1;
/// From a rule to a word: the same.
const RULE_WORD: u8 = WORD_RULE + MATCHES;
/// Between two rules.
const RULES: u8 = RULE_WORD + MATCHES;
/// From an item to a rule, and from a rule to an item.
const ITEM_RULE: u8 = RULES + 1;
const RULE_ITEM: u8 = ITEM_RULE + 1;
/// Between two items: the first of the environment's relations.
const ENVIRONMENT: u8 = RULE_ITEM + 1;

/// Returns the number of relation kinds for an environment that has `environment` kinds of its own.
pub(crate) fn kinds(environment: usize) -> usize {
    ENVIRONMENT as usize + environment
}

/// Returns whether this relation from a word to an item says that the whole phrase of the item is at the word.
pub(crate) fn is_whole_phrase(relation: u8) -> bool {
    (WORD_ITEM..ITEM_WORD).contains(&relation) && (relation - WORD_ITEM) % MATCHES == MATCHES - 1
}

/// Returns whether this relation from a word to an item says that the word is in the phrase of the item.
pub(crate) fn is_match(relation: u8) -> bool {
    (WORD_ITEM..ITEM_WORD).contains(&relation) && !(relation - WORD_ITEM).is_multiple_of(MATCHES)
}

/// Returns the class of an item, which is its kind; kinds after the last class share that one.
fn class(kind: usize) -> u8 {
    kind.min(CLASSES as usize - 1) as u8
}

/// The relations between the items of an environment.
#[derive(Debug)]
pub(crate) struct ItemRelations {
    items: usize,
    listed: Vec<Relation>,
    /// The relation between items that come after the same one, and these items.
    siblings: Option<(RelationKind, Vec<Vec<usize>>)>,
}

impl ItemRelations {
    pub(crate) fn new(environment: &dyn Environment) -> Self {
        let items = environment.items().len();
        let siblings = environment.sibling_relation().map(|kind| {
            let mut after: BTreeMap<ItemId, Vec<usize>> = BTreeMap::new();
            for item in 0..items {
                if let Some(parent) = environment.after(ItemId(item as u32)) {
                    after.entry(parent).or_default().push(item);
                }
            }
            (kind, after.into_values().collect())
        });
        ItemRelations { items, listed: environment.relations().to_vec(), siblings }
    }

    /// Returns the kind of relation from each item to each, which no question changes: `[items, items]`.
    pub(crate) fn matrix(&self) -> Vec<u8> {
        let items = self.items;
        let mut kinds = vec![UNRELATED; items * items];
        for (kind, siblings) in
            self.siblings.iter().flat_map(|(kind, all)| all.iter().map(move |some| (kind, some)))
        {
            for &from in siblings {
                for &to in siblings {
                    kinds[from * items + to] = ENVIRONMENT + kind.0;
                }
            }
        }
        for item in 0..items {
            kinds[item * items + item] = SAME;
        }
        // If two items have several relations, the first one counts: it is written last.
        for relation in self.listed.iter().rev() {
            if relation.from != relation.to {
                kinds[relation.from.index() * items + relation.to.index()] = ENVIRONMENT + relation.kind.0;
            }
        }
        kinds
    }
}

/// The phrase of an item, prepared for matching.
#[derive(Clone, Debug)]
pub(crate) struct StemmedPhrase {
    /// The stem of each word.
    pub(crate) stems: Vec<String>,
    /// The kind of the item, by index.
    pub(crate) class: usize,
}

/// Raises `matched` to how well each word matches a phrase: 0 not at all, 1 partially, 2 exactly.
///
/// Function words match only as part of a whole phrase.
fn match_phrase(words: &[String], stems: &[String], phrase: &[String], matched: &mut [u8]) {
    for ((word, stem), matched) in words.iter().zip(stems).zip(&mut *matched) {
        if phrase.contains(stem) && !is_function_word(word) {
            *matched = (*matched).max(1);
        }
    }
    if phrase.is_empty() {
        return;
    }
    for (start, window) in stems.windows(phrase.len()).enumerate() {
        if window == phrase {
            matched[start..start + phrase.len()].fill(2);
        }
    }
}

/// What the relations of a question depend on.
pub(crate) struct RelationInputs<'a> {
    pub(crate) words: &'a [String],
    /// The stem of each word.
    pub(crate) stems: &'a [String],
    /// The phrase of each item.
    pub(crate) items: &'a [&'a StemmedPhrase],
    /// The relations between the items.
    pub(crate) among_items: &'a [u8],
    /// The stems of the phrases of each rule that has some.
    pub(crate) rules: &'a [Vec<Vec<String>>],
}

/// Returns the kind of relation from each of [words ; items ; rules] to each, in row-major order.
pub(crate) fn relate(inputs: &RelationInputs<'_>) -> Vec<u8> {
    let RelationInputs { words, stems, items: phrases, among_items, rules } = *inputs;
    let (t, m, r) = (words.len(), phrases.len(), rules.len());
    let n = t + m + r;
    let mut kinds = vec![0; n * n];
    for i in 0..t {
        for j in 0..t {
            let distance = (j as i64 - i as i64).clamp(-2, 2) + 2;
            kinds[i * n + j] = DISTANCE + distance as u8;
        }
    }
    let mut matched = vec![0; t];
    for (j, phrase) in (t..).zip(phrases) {
        matched.fill(0);
        match_phrase(words, stems, &phrase.stems, &mut matched);
        for (i, &matched) in matched.iter().enumerate() {
            let offset = class(phrase.class) * MATCHES + matched;
            kinds[i * n + j] = WORD_ITEM + offset;
            kinds[j * n + i] = ITEM_WORD + offset;
        }
    }
    for i in 0..m {
        let row = &mut kinds[(t + i) * n + t..][..m + r];
        row[..m].copy_from_slice(&among_items[i * m..][..m]);
        row[m..].fill(ITEM_RULE);
    }
    for (j, phrases) in (t + m..).zip(rules) {
        matched.fill(0);
        phrases.iter().for_each(|phrase| match_phrase(words, stems, phrase, &mut matched));
        for (i, &matched) in matched.iter().enumerate() {
            kinds[i * n + j] = WORD_RULE + matched;
            kinds[j * n + i] = RULE_WORD + matched;
        }
        kinds[j * n + t..][..m].fill(RULE_ITEM);
        kinds[j * n + t + m..][..r].fill(RULES);
        kinds[j * n + j] = SAME;
    }
    kinds
}

/// Returns the relations of the first `elements` of [words ; items ; rules] only.
pub(crate) fn among_first(kinds: &[u8], elements: usize) -> Vec<u8> {
    let n = kinds.len().isqrt();
    kinds.chunks(n.max(1)).take(elements).flat_map(|row| &row[..elements]).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use xpr_text::{stem, tokenize};

    #[test]
    fn columns_of_a_table_are_siblings_unless_one_points_to_the_other() {
        use xpr_lang::sql::{
            Column, ColumnId, ColumnType, ForeignKey, Schema, Sql, SqlEnvironment, Table, TableId,
        };
        let column = |name: &str| Column { comment: None, name: name.into(), ty: ColumnType::Text };
        let key = ForeignKey {
            columns: vec![1],
            to: vec![ColumnId { table: TableId(0), column: 0 }],
            confidence: 1.0,
        };
        let table = |name: &str, foreign_keys: Vec<ForeignKey>| Table {
            comment: None,
            namespace: None,
            name: name.into(),
            columns: ["id", "twin", "size"].map(column).to_vec(),
            primary_key: vec![],
            foreign_keys,
        };
        let tables = vec![table("town", vec![key]), table("lake", vec![])];
        let environment = SqlEnvironment::new(&Sql::new(Schema { dialect: Default::default(), tables }));
        let matrix = ItemRelations::new(&environment).matrix();
        let items = environment.items().len();
        let name = |from: &str, to: &str| {
            let [from, to] = [from, to].map(|symbol| environment.find(symbol).unwrap().index());
            let kind = matrix[from * items + to].checked_sub(ENVIRONMENT)?;
            Some(environment.relation_names()[usize::from(kind)])
        };
        for (from, to, expected) in [
            ("town.size", "town.id", Some("columns of one table")),
            ("town.id", "town.size", Some("columns of one table")),
            ("lake.id", "lake.twin", Some("columns of one table")),
            ("town.twin", "town.id", Some("column points to column")),
            ("town.id", "town.twin", Some("column is pointed to by column")),
            ("town.id", "town", Some("column of table")),
            ("town.id", "lake.id", None),
            ("town", "lake", None),
            ("0", "1", None),
            ("town.id", "town.id", None),
        ] {
            assert_eq!(name(from, to), expected, "{from} {to}");
        }
    }

    #[test]
    fn a_whole_phrase_takes_precedence_over_a_part() {
        let words = tokenize("is the start times 3 hours");
        let stems: Vec<String> = words.iter().map(|word| stem(word)).collect();
        for (text, expected) in [
            ("start time", [0, 0, 2, 2, 0, 0]),
            ("end time", [0, 0, 0, 1, 0, 0]),
            ("three hours", [0, 0, 0, 0, 2, 2]),
            ("is important", [0, 0, 0, 0, 0, 0]), // a function word alone matches nothing
            ("is the start times 3 hours long", [0, 0, 1, 1, 1, 1]),
        ] {
            let mut matched = [0; 6];
            match_phrase(&words, &stems, &stemmed(text), &mut matched);
            assert_eq!(matched, expected, "{text}");
        }
    }

    fn stemmed(text: &str) -> Vec<String> {
        tokenize(text).iter().map(|word| stem(word)).collect()
    }

    #[test]
    fn rules_are_related_to_words_by_the_best_of_their_phrases() {
        let words = tokenize("cities with no less than two rivers");
        let item = StemmedPhrase { stems: stemmed("river"), class: 0 };
        let kinds = relate(&RelationInputs {
            words: &words,
            stems: &stemmed("cities with no less than two rivers"),
            items: &[&item],
            among_items: &[SAME],
            rules: &[vec![stemmed("before"), stemmed("less than")], vec![stemmed("no less than")]],
        });
        let n = 10;
        let relation = |from: usize, to: usize| kinds[from * n + to];
        assert_eq!([2, 3, 4].map(|word| relation(word, 8)), [0, 2, 2].map(|matched| WORD_RULE + matched));
        assert_eq!([2, 3, 4].map(|word| relation(9, word)), [2, 2, 2].map(|matched| RULE_WORD + matched));
        assert_eq!([relation(7, 8), relation(8, 7), relation(8, 9)], [ITEM_RULE, RULE_ITEM, RULES]);
        assert_eq!([relation(7, 7), relation(9, 9)], [SAME; 2]);
        let without_rules = among_first(&kinds, 8);
        assert_eq!(without_rules.len(), 64);
        assert_eq!(without_rules[6 * 8 + 7], relation(6, 7));
    }
}
