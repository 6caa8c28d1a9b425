//! What somebody's data contributes to a grammar and to the encoder: items, their phrases, and
//! how they hang together.

use crate::{Action, ItemKind, RuleId};

/// Identifies an item of one environment: its index in [`Environment::items`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ItemId(pub u32);

impl ItemId {
    /// The index in [`Environment::items`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Something a program may name: a property, an entity, a type, a value, a column, a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Which pointers of the grammar it can fill.
    pub kind: ItemKind,
    /// How a person says it: `start time`, `weekly standup`, `three hours`.
    pub phrase: String,
    /// How a program says it, in the canonical text of its language.
    pub symbol: String,
}

impl Item {
    /// An item of `kind`, said `phrase` by people and `symbol` by programs.
    pub fn new(kind: ItemKind, phrase: impl Into<String>, symbol: impl Into<String>) -> Self {
        Item { kind, phrase: phrase.into(), symbol: symbol.into() }
    }

    /// The id of this item in `items`, which must be the slice it lives in or an equal one.
    ///
    /// # Panics
    /// If no item of the slice equals this one.
    pub fn id_in(&self, items: &[Item]) -> ItemId {
        let index = items.iter().position(|item| item == self);
        ItemId(index.expect("the item belongs to the slice") as u32)
    }
}

/// Names a kind of relation: its index in [`Environment::relation_names`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RelationKind(pub u8);

/// A directed, labelled edge between two items, for the relation-aware encoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Relation {
    /// Where the edge starts.
    pub from: ItemId,
    /// Where it ends.
    pub to: ItemId,
    /// What it means.
    pub kind: RelationKind,
}

/// Where in a program an item would be named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The rule whose argument it would be.
    pub parent: Option<RuleId>,
    /// What was said right before.
    pub previous: Option<Action>,
}

/// The items a program can point to, what people call them, and how they relate.
pub trait Environment {
    /// All items; an [`ItemId`] is an index here.
    fn items(&self) -> &[Item];

    /// The item that programs write as `symbol`, if there is one.
    fn find(&self, symbol: &str) -> Option<ItemId>;

    /// The names of the relation kinds in use.
    fn relation_names(&self) -> &[&'static str];

    /// Every relation between two items; pairs not listed are unrelated.
    fn relations(&self) -> &[Relation];

    /// The item that a program must name before it names this one, if there is such: of a column, its table.
    fn after(&self, _item: ItemId) -> Option<ItemId> {
        None
    }

    /// Whether it makes sense to name an item there. What does not may still be what a label says, so it is only not looked for.
    fn fits(&self, _item: ItemId, _place: Place) -> bool {
        true
    }
}
