//! Patterns: labeled questions whose names and values are left open.

use crate::task::{LabeledExample, Task};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use xpr_lang::{Action, Environment, ItemId, LiteralClass, Relation};
use xpr_text::{stem, tokenize, tokens};

/// The name of the relation from the column of a foreign key to the column it points to.
const POINTS_TO: &str = "column points to column";
/// The name of the relation from a primary key to its table.
const PRIMARY_KEY_OF: &str = "primary key of table";
/// The last words of columns that name rows, whether a key is declared or not.
const KEY_WORDS: [&str; 2] = ["code", "id"];

/// A labeled question whose names and values are left open.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Pattern {
    pub(super) question: Vec<Piece>,
    pub(super) actions: Vec<PatternAction>,
    pub(super) slots: Vec<Slot>,
    /// Pairs of columns: the first has a foreign key to the second.
    pub(super) keys: Vec<(usize, usize)>,
}

/// A part of a question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Piece {
    /// Words, with the blanks and marks around them.
    Text(String),
    /// What fills a slot, and whether it is in the plural.
    Slot(usize, bool),
}

/// An action of a program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum PatternAction {
    /// A rule, by its index.
    Rule(u32),
    /// The item that fills a slot.
    Slot((usize,)),
    /// A constant, by its symbol.
    Constant(String),
}

/// What is left open.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Slot {
    Table,
    Column {
        /// The slot of its table.
        table: usize,
        /// The kind of the item, by index.
        kind: usize,
        role: Role,
    },
    /// A value of a column.
    Value {
        /// The slot of the column.
        column: usize,
    },
}

/// Whether a column names rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Role {
    PrimaryKey,
    /// A foreign key, or a column that is called like a key.
    Key,
    Plain,
}

/// The tables and columns of an environment.
pub(super) struct Names<'e> {
    environment: &'e dyn Environment,
    /// The columns, each with its table, kind and role.
    pub(super) columns: Vec<(ItemId, ItemId, usize, Role)>,
    pub(super) tables: Vec<ItemId>,
    /// The columns with a foreign key, and those that the keys point to.
    pub(super) keys: Vec<(ItemId, ItemId)>,
}

impl<'e> Names<'e> {
    pub(super) fn new(environment: &'e dyn Environment) -> Self {
        let kind = |name: &str| environment.relation_names().iter().position(|other| *other == name);
        let (points_to, primary_key_of) = (kind(POINTS_TO), kind(PRIMARY_KEY_OF));
        let has_kind = |relation: &&Relation, kind: Option<usize>| Some(usize::from(relation.kind.0)) == kind;
        let relations = environment.relations();
        let keys: Vec<(ItemId, ItemId)> = relations
            .iter()
            .filter(|relation| has_kind(relation, points_to))
            .map(|relation| (relation.from, relation.to))
            .collect();
        let primary: Vec<ItemId> = relations
            .iter()
            .filter(|relation| has_kind(relation, primary_key_of))
            .map(|relation| relation.from)
            .collect();
        let (mut columns, mut tables) = (Vec::new(), Vec::new());
        for (id, item) in (0..).map(ItemId).zip(environment.items()) {
            let Some(table) = environment.after(id) else { continue };
            let last = item.phrase.rsplit(' ').next().unwrap_or_default();
            let role = if primary.contains(&id) {
                Role::PrimaryKey
            } else if keys.iter().any(|(from, _)| *from == id) || KEY_WORDS.contains(&last) {
                Role::Key
            } else {
                Role::Plain
            };
            columns.push((id, table, item.kind.index(), role));
            if !tables.contains(&table) {
                tables.push(table);
            }
        }
        Names { environment, columns, tables, keys }
    }

    pub(super) fn phrase(&self, item: ItemId) -> &'e str {
        &self.environment.items()[item.index()].phrase
    }

    pub(super) fn symbol(&self, item: ItemId) -> &'e str {
        &self.environment.items()[item.index()].symbol
    }

    /// Returns the words of a column that are not those of its table: `name` for `singer name` of `singer`.
    pub(super) fn short_phrase(&self, column: ItemId, table: ItemId) -> Option<&'e str> {
        let (column, table) = (self.phrase(column), self.phrase(table));
        let same = |(left, right): (&str, &str)| stem(left) == stem(right);
        let words = table.split(' ').count();
        let is_prefix =
            column.split(' ').count() > words && column.split(' ').zip(table.split(' ')).all(same);
        is_prefix.then(|| column.splitn(words + 1, ' ').last()).flatten()
    }
}

impl Pattern {
    /// Returns the pattern of a labeled question. There is none if the question does not say what its program names, except for
    /// the columns that tables are joined by.
    pub(super) fn learn(task: &Task, example: &LabeledExample) -> Option<Self> {
        let environment = task.environment(&example.question);
        let names = Names::new(environment);
        let mut reader = PatternReader {
            example,
            names: &names,
            slots: vec![],
            items: vec![],
            joined: vec![],
            actions: vec![],
        };
        reader.read_program(environment)?;
        let outputs = task.column_names(&example.program, &example.question)?;
        let question = reader.read_question(task, &outputs)?;
        let keys = reader.keys()?;
        let PatternReader { slots, actions, .. } = reader;
        Some(Pattern { question, actions, slots, keys })
    }

    /// Returns the stems of the words of the question that fill no slot.
    pub(super) fn words(&self) -> impl Iterator<Item = String> {
        let texts = self.question.iter().filter_map(|piece| match piece {
            Piece::Text(text) => Some(text),
            Piece::Slot(..) => None,
        });
        texts.flat_map(|text| tokenize(text)).map(|word| stem(&word))
    }
}

/// Makes the pattern of a labeled question.
struct PatternReader<'a> {
    example: &'a LabeledExample,
    names: &'a Names<'a>,
    slots: Vec<Slot>,
    /// The item of each slot.
    items: Vec<ItemId>,
    /// Pairs of slots of columns that are compared with each other.
    joined: Vec<(usize, usize)>,
    actions: Vec<PatternAction>,
}

impl PatternReader<'_> {
    fn slot_of(&self, item: ItemId) -> Option<usize> {
        self.items.iter().position(|other| *other == item)
    }

    fn add(&mut self, item: ItemId, slot: Slot) -> usize {
        self.slot_of(item).unwrap_or_else(|| {
            self.items.push(item);
            self.slots.push(slot);
            self.slots.len() - 1
        })
    }

    /// Finds the slots of a program. Returns nothing if a value is neither one of a column nor a count.
    fn read_program(&mut self, environment: &dyn Environment) -> Option<()> {
        let question = &self.example.question;
        let grammar = question.grammar();
        let actions = self.example.program.actions();
        for (index, &action) in actions.iter().enumerate() {
            let item = match action {
                Action::Rule(rule) => {
                    self.actions.push(PatternAction::Rule(rule.index() as u32));
                    continue;
                }
                Action::Item(item) => item,
            };
            // The item before this one, if both are arguments of a rule that compares.
            let before = match index.checked_sub(2).map(|first| (actions[first], actions[first + 1])) {
                Some((rule @ Action::Rule(_), Action::Item(item))) if grammar.arguments(rule).len() > 1 => {
                    self.slot_of(item)
                }
                _ => None,
            };
            let compared = before.filter(|&slot| matches!(self.slots.get(slot), Some(Slot::Column { .. })));
            let column = self.names.columns.iter().find(|column| column.0 == item);
            let slot = if let Some(&(_, table, kind, role)) = column {
                let table = self.slot_of(table)?;
                let slot = self.add(item, Slot::Column { table, kind, role });
                self.joined.extend(compared.map(|compared| (compared, slot)));
                slot
            } else if self.names.tables.contains(&item) {
                self.add(item, Slot::Table)
            } else if let (true, Some(column)) = (question.is_own_item(item), compared) {
                let slot = self.add(item, Slot::Value { column });
                // A value that is compared with two columns would have to be in both.
                (self.slots[slot] == Slot::Value { column }).then_some(slot)?
            } else {
                if question.is_own_item(item) && environment.literal_class(item) != Some(LiteralClass::Number)
                {
                    return None;
                }
                self.actions.push(PatternAction::Constant(self.names.symbol(item).to_owned()));
                continue;
            };
            self.actions.push(PatternAction::Slot((slot,)));
        }
        Some(())
    }

    /// Finds the slots in the question. Returns nothing if one is missing that has to be said. `outputs` are the names of the columns
    /// of the answer.
    fn read_question(&self, task: &Task, outputs: &[String]) -> Option<Vec<Piece>> {
        let utterance = task.world().rephrase(&self.example.utterance).into_owned();
        let words = tokens(&utterance);
        let stems: Vec<String> = words.iter().map(|word| stem(&word.text)).collect();
        // For each word, the slot that it is part of, and the first word of that part.
        let mut taken: Vec<Option<(usize, usize)>> = vec![None; words.len()];
        let mut order: Vec<usize> = (0..self.slots.len()).collect();
        let rank = |slot: usize| match self.slots[slot] {
            Slot::Value { .. } => 0,
            Slot::Column { .. } => 1,
            Slot::Table => 2,
        };
        let length = |slot: usize| self.names.phrase(self.items[slot]).split(' ').count();
        order.sort_by_key(|&slot| (rank(slot), std::cmp::Reverse(length(slot))));
        for slot in order {
            let phrase = self.names.phrase(self.items[slot]);
            let is_said = take(phrase, slot, &stems, &mut taken)
                || match self.slots[slot] {
                    Slot::Column { table, .. } => {
                        let short = self.names.short_phrase(self.items[slot], self.items[table]);
                        short.is_some_and(|short| take(short, slot, &stems, &mut taken))
                    }
                    _ => false,
                };
            if !is_said && !self.may_be_unsaid(slot, outputs) {
                return None;
            }
        }
        let mut pieces = Vec::new();
        let (mut word, mut written) = (0, 0);
        while word < words.len() {
            let Some((slot, first)) = taken[word] else {
                word += 1;
                continue;
            };
            let end = (word..words.len()).find(|&at| taken[at] != Some((slot, first))).unwrap_or(words.len());
            if words[word].start > written {
                pieces.push(Piece::Text(utterance[written..words[word].start].to_owned()));
            }
            pieces.push(Piece::Slot(slot, is_plural(&words[end - 1].text)));
            (written, word) = (words[end - 1].end, end);
        }
        pieces.push(Piece::Text(utterance[written..].to_owned()));
        pieces.iter().any(|piece| matches!(piece, Piece::Slot(..))).then_some(pieces)
    }

    /// Returns whether a question need not say a slot: a table, a column that tables are joined by, or the column of a text that it
    /// says.
    fn may_be_unsaid(&self, slot: usize, outputs: &[String]) -> bool {
        match self.slots[slot] {
            Slot::Table => true,
            Slot::Value { .. } => false,
            Slot::Column { .. } => {
                let name = self.names.symbol(self.items[slot]);
                let is_output = outputs.iter().any(|output| name.ends_with(&format!(".{output}")));
                let is_joined = self.joined.iter().any(|(left, right)| *left == slot || *right == slot);
                let has_text = (0..self.slots.len()).any(|value| {
                    self.slots[value] == Slot::Value { column: slot }
                        && self.names.phrase(self.items[value]).chars().any(char::is_alphabetic)
                });
                !is_output && (is_joined || has_text)
            }
        }
    }

    /// Returns the foreign keys that tables are joined by. Returns nothing if columns are compared that no key joins. Two columns side
    /// by side count as compared, also if they are outputs.
    fn keys(&self) -> Option<Vec<(usize, usize)>> {
        let directed = |&(left, right): &(usize, usize)| {
            let items = (self.items[left], self.items[right]);
            match () {
                () if self.names.keys.contains(&items) => Some((left, right)),
                () if self.names.keys.contains(&(items.1, items.0)) => Some((right, left)),
                () => None,
            }
        };
        let mut keys: Vec<(usize, usize)> = self.joined.iter().map(directed).collect::<Option<_>>()?;
        keys.sort_unstable();
        keys.dedup();
        Some(keys)
    }
}

/// Marks the words of a question that have the stems of a phrase and belong to nothing yet. Returns whether there are some.
fn take(phrase: &str, slot: usize, stems: &[String], taken: &mut [Option<(usize, usize)>]) -> bool {
    let phrase: Vec<String> = tokenize(phrase).iter().map(|word| stem(word)).collect();
    let mut is_found = false;
    if phrase.is_empty() {
        return false;
    }
    for start in 0..stems.len().saturating_sub(phrase.len() - 1) {
        let end = start + phrase.len();
        if stems[start..end] == phrase[..] && taken[start..end].iter().all(Option::is_none) {
            taken[start..end].fill(Some((slot, start)));
            is_found = true;
        }
    }
    is_found
}

/// Returns whether a word looks like a plural: "names" does, "status" and "address" do not.
fn is_plural(word: &str) -> bool {
    word.ends_with('s') && !["ss", "us", "is"].iter().any(|ending| word.ends_with(ending))
}

/// Returns the patterns whose other words are in the patterns of at least `databases` databases, so that they say nothing about
/// one of them.
pub(super) fn without_topics(patterns: Vec<(String, Pattern)>, databases: usize) -> Vec<Pattern> {
    let mut known: HashMap<String, Vec<String>> = HashMap::new();
    for (database, pattern) in &patterns {
        for word in pattern.words() {
            let of_word = known.entry(word).or_default();
            if !of_word.contains(database) {
                of_word.push(database.clone());
            }
        }
    }
    let is_general = |pattern: &Pattern| {
        pattern.words().all(|word| known.get(&word).is_some_and(|of_word| of_word.len() >= databases))
    };
    patterns.into_iter().map(|(_, pattern)| pattern).filter(is_general).collect()
}
