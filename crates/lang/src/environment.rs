//! The items of a knowledge base or database that programs can name, and the relations between them.

use crate::{Action, ItemKind, RuleId, Sense};

/// Identifies an item of one environment: its index in [`Environment::items`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ItemId(pub u32);

impl ItemId {
    /// Returns the index in [`Environment::items`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Something a program may name: a property, an entity, a type, a value, a column, a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The kind, which decides where in a program the item may appear.
    pub kind: ItemKind,
    /// What people call it: `start time`, `weekly standup`, `three hours`.
    pub phrase: String,
    /// What programs call it, in the canonical text of their language.
    pub symbol: String,
}

impl Item {
    /// Creates an item that people call `phrase` and programs call `symbol`.
    pub fn new(kind: ItemKind, phrase: impl Into<String>, symbol: impl Into<String>) -> Self {
        Item { kind, phrase: phrase.into(), symbol: symbol.into() }
    }

    /// Returns the id of the first item in `items` that equals this one.
    ///
    /// # Panics
    /// Panics if there is none.
    pub fn id_in(&self, items: &[Item]) -> ItemId {
        let index = items.iter().position(|item| item == self);
        ItemId(index.expect("the item belongs to the slice") as u32)
    }
}

/// Identifies a kind of relation: its index in [`Environment::relation_names`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RelationKind(pub u8);

/// A directed, labelled edge between two items, for the relation-aware encoder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Relation {
    /// The start of the edge.
    pub from: ItemId,
    /// The end of the edge.
    pub to: ItemId,
    /// The label.
    pub kind: RelationKind,
}

/// The class of a literal: an item that stands for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiteralClass {
    /// A number.
    Number,
    /// A text, such as a name or a date.
    Text,
}

/// The position in a program at which an item would be named; see [`Environment::fits`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ItemPosition {
    /// The rule whose argument the item would be; none if the item would be the whole program.
    pub parent: Option<RuleId>,
    /// The action before this one; none if this is the first.
    pub previous: Option<Action>,
}

/// The items that programs can point to, what people call them, and how they relate.
///
/// Only [`Environment::items`] has to be implemented. The crate's introduction has an example.
pub trait Environment {
    /// Returns all items. An [`ItemId`] is an index into this slice.
    fn items(&self) -> &[Item];

    /// Returns the first item with this symbol.
    ///
    /// The provided method is a linear search; an environment with many items should have a map.
    fn find(&self, symbol: &str) -> Option<ItemId> {
        let index = self.items().iter().position(|item| item.symbol == symbol)?;
        Some(ItemId(index as u32))
    }

    /// Returns the names of the kinds of relations. A [`RelationKind`] is an index into this slice.
    fn relation_names(&self) -> &[&'static str] {
        &[]
    }

    /// Returns every relation between two items, except those of [`Environment::sibling_relation`]. Pairs that are not listed are
    /// unrelated.
    fn relations(&self) -> &[Relation] {
        &[]
    }

    /// Returns the relation between two items that come after the same one and have no relation in the list. They are not listed
    /// because there are so many: of a thousand columns of a table, a million pairs.
    fn sibling_relation(&self) -> Option<RelationKind> {
        None
    }

    /// Returns the item that a program must name before this one, such as the table of a column.
    fn after(&self, _item: ItemId) -> Option<ItemId> {
        None
    }

    /// Returns whether search may name the item at this position.
    ///
    /// Prunes search only: the grammar still accepts such programs.
    fn fits(&self, _item: ItemId, _position: ItemPosition) -> bool {
        true
    }

    /// Returns the class of an item that is a literal. A program should name it if the question says it, and only then, so
    /// literals that programs need whatever the question says have no class.
    fn literal_class(&self, _item: ItemId) -> Option<LiteralClass> {
        None
    }

    /// Returns the rules by which search finds out which programs make sense, if there are some. They include
    /// [`Environment::fits`].
    fn sense(&self) -> Option<&dyn Sense> {
        None
    }
}
