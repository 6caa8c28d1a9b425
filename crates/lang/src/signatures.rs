//! The types, rules and kinds of items that define a language.

use crate::{Grammar, GrammarError, Item, ItemId};
use rustc_hash::FxHashMap;

/// Identifies a type of a language (a non-terminal of its grammar).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TypeId(u16);

/// Identifies a rule of a language. It is the same in every environment, so a model can learn it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuleId(u16);

/// Identifies a kind of items. A type accepts items by their kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ItemKind(u16);

impl TypeId {
    /// Returns the index among the types of the language, in order of addition.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

impl ItemKind {
    /// Returns the index among the kinds of the language, in order of addition.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

impl RuleId {
    /// Returns the rule at an index of [`Signatures::rules`].
    ///
    /// # Panics
    /// Panics if the index is 65,536 or more.
    pub fn from_index(index: usize) -> Self {
        RuleId(last_index(index + 1))
    }

    /// Returns the index in [`Signatures::rules`].
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// One step of writing a program: apply a rule, or point to an item of the environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// Applies a rule. The actions of its arguments come next, left to right.
    Rule(RuleId),
    /// Points to an item, which has no arguments.
    Item(ItemId),
}

/// A function of the language. Applying it is one action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The name, unique in the language.
    pub name: String,
    /// The type of the result.
    pub result: TypeId,
    /// The types of the arguments, in order.
    pub arguments: Box<[TypeId]>,
    /// What people say for it, such as `less than` and `before`; empty for a rule that no words stand for.
    pub phrases: &'static [&'static str],
}

#[derive(Clone, Debug)]
struct TypeDefinition {
    name: String,
    /// The subtypes: this type accepts whatever they accept.
    includes: Vec<TypeId>,
    /// The kinds of items that this type accepts, besides those of its subtypes.
    kinds: Vec<ItemKind>,
}

/// The types, rules and kinds of items of a language.
///
/// The order of rules is part of a trained model, because a model learns them by index.
#[derive(Clone, Debug)]
pub struct Signatures {
    types: Vec<TypeDefinition>,
    rules: Vec<Rule>,
    kinds: Vec<String>,
    by_name: FxHashMap<String, RuleId>,
}

impl Signatures {
    /// Creates a language with one type, `root`, which is the type of whole programs.
    pub fn new(root: &str) -> Self {
        let mut signatures =
            Signatures { types: vec![], rules: vec![], kinds: vec![], by_name: FxHashMap::default() };
        signatures.add_type(root);
        signatures
    }

    /// Returns the type of whole programs.
    pub fn root(&self) -> TypeId {
        TypeId(0)
    }

    /// Adds a type.
    pub fn add_type(&mut self, name: &str) -> TypeId {
        self.types.push(TypeDefinition { name: name.to_owned(), includes: vec![], kinds: vec![] });
        TypeId(last_index(self.types.len()))
    }

    /// Adds a kind of items. The name appears in messages, as in "there are no items for {name}".
    pub fn add_item_kind(&mut self, name: &str) -> ItemKind {
        self.kinds.push(name.to_owned());
        ItemKind(last_index(self.kinds.len()))
    }

    /// Adds a rule.
    ///
    /// # Panics
    /// Panics if there is a rule with this name.
    pub fn add_rule(&mut self, name: &str, result: TypeId, arguments: &[TypeId]) -> RuleId {
        self.rules.push(Rule { name: name.to_owned(), result, arguments: arguments.into(), phrases: &[] });
        let id = RuleId(last_index(self.rules.len()));
        let earlier = self.by_name.insert(name.to_owned(), id);
        assert!(earlier.is_none(), "two rules are called `{name}`");
        id
    }

    /// Says what people say for a rule. A parser recognises these words, and words that are like them, from the first label
    /// on.
    pub fn set_phrases(&mut self, rule: RuleId, phrases: &'static [&'static str]) {
        self.rules[rule.index()].phrases = phrases;
    }

    /// Makes `narrow` a subtype of `wide`: `wide` accepts everything that `narrow` accepts, at no
    /// extra action.
    pub fn accept_type(&mut self, wide: TypeId, narrow: TypeId) {
        self.types[wide.index()].includes.push(narrow);
    }

    /// Lets `ty` accept items of `kind`.
    pub fn accept_items(&mut self, ty: TypeId, kind: ItemKind) {
        self.types[ty.index()].kinds.push(kind);
    }

    /// Returns all rules. A [`RuleId`] is an index into this slice.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Returns the number of kinds of items.
    pub fn item_kind_count(&self) -> usize {
        self.kinds.len()
    }

    /// Returns the number of types.
    pub fn type_count(&self) -> usize {
        self.types.len()
    }

    /// Returns the name of a type.
    pub fn type_name(&self, ty: TypeId) -> &str {
        &self.types[ty.index()].name
    }

    /// Returns the rule called `name`.
    pub fn find_rule(&self, name: &str) -> Option<RuleId> {
        self.by_name.get(name).copied()
    }

    /// Creates the grammar of this language over an environment's items.
    ///
    /// # Errors
    /// Errors if no whole program can be written with these items.
    pub fn grammar(&self, items: &[Item]) -> Result<Grammar, GrammarError> {
        Grammar::new(self.clone(), items)
    }

    /// Returns the name of a kind of items, by its index.
    pub(crate) fn kind_name(&self, kind: usize) -> &str {
        &self.kinds[kind]
    }

    /// Returns all types, in order of their indices.
    pub(crate) fn type_ids(&self) -> impl Iterator<Item = TypeId> + use<> {
        (0..self.types.len() as u16).map(TypeId)
    }

    /// Returns all rules, in order of their indices.
    pub fn rule_ids(&self) -> impl Iterator<Item = RuleId> + use<> {
        (0..self.rules.len() as u16).map(RuleId)
    }

    /// Returns the kinds of items that `ty` accepts, besides those of its subtypes.
    pub(crate) fn direct_kinds(&self, ty: TypeId) -> &[ItemKind] {
        &self.types[ty.index()].kinds
    }

    /// Returns `ty` and all its subtypes, direct and indirect.
    pub(crate) fn with_subtypes(&self, ty: TypeId) -> Vec<TypeId> {
        let mut seen = vec![ty];
        let mut next = 0;
        while next < seen.len() {
            for &narrow in &self.types[seen[next].index()].includes {
                if !seen.contains(&narrow) {
                    seen.push(narrow);
                }
            }
            next += 1;
        }
        seen
    }
}

/// Returns the index of the last of `len` elements.
fn last_index(len: usize) -> u16 {
    u16::try_from(len - 1).expect("a language has at most 65,536 types, rules and kinds of items")
}
