//! What a language brings to a grammar: types, rules, and kinds of items.

use crate::{Grammar, GrammarError, Item, ItemId};
use rustc_hash::FxHashMap;

/// The type of a place in a program (a non-terminal of the grammar).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TypeId(u16);

/// Identifies a rule; the same in every environment, so that a model can learn it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RuleId(u16);

/// A kind of item; pointers accept items by kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ItemKind(u16);

impl TypeId {
    /// The index among [`Signatures::types`].
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

impl ItemKind {
    /// The index among the kinds of its language, in order of addition.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

impl RuleId {
    /// The rule with an index among [`Signatures::rules`].
    pub fn from_index(index: usize) -> Self {
        RuleId(small_index(index + 1))
    }

    /// The index among [`Signatures::rules`].
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// One step of writing a program: apply a rule, or point to an item of the environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Action {
    /// Apply a rule; its arguments come next, left to right.
    Rule(RuleId),
    /// Point to an item; nothing is left to say here.
    Item(ItemId),
}

/// A function application: one action, whatever the function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// A name that is unique in the language.
    pub name: String,
    /// The type of what it builds.
    pub result: TypeId,
    /// The types of its arguments, in order.
    pub arguments: Box<[TypeId]>,
}

#[derive(Clone, Debug)]
struct Type {
    name: String,
    /// Types whose programs this type also accepts.
    includes: Vec<TypeId>,
    /// Kinds of items this type points to itself.
    kinds: Vec<ItemKind>,
}

/// What a language brings to a grammar: types, rules, and the kinds of items it points to.
#[derive(Clone, Debug)]
pub struct Signatures {
    types: Vec<Type>,
    rules: Vec<Rule>,
    kinds: Vec<String>,
    by_name: FxHashMap<String, RuleId>,
}

impl Signatures {
    /// Starts a language whose whole programs have the type `root`.
    pub fn new(root: &str) -> Self {
        let mut signatures =
            Signatures { types: vec![], rules: vec![], kinds: vec![], by_name: FxHashMap::default() };
        signatures.ty(root);
        signatures
    }

    /// The type of whole programs.
    pub fn root(&self) -> TypeId {
        TypeId(0)
    }

    /// Adds a type.
    pub fn ty(&mut self, name: &str) -> TypeId {
        self.types.push(Type { name: name.to_owned(), includes: vec![], kinds: vec![] });
        TypeId(small_index(self.types.len()))
    }

    /// Adds a kind of item.
    pub fn kind(&mut self, name: &str) -> ItemKind {
        self.kinds.push(name.to_owned());
        ItemKind(small_index(self.kinds.len()))
    }

    /// Adds a rule.
    ///
    /// # Panics
    /// If the name is taken: a language defines each of its rules once.
    pub fn rule(&mut self, name: &str, result: TypeId, arguments: &[TypeId]) -> RuleId {
        self.rules.push(Rule { name: name.to_owned(), result, arguments: arguments.into() });
        let id = RuleId(small_index(self.rules.len()));
        let earlier = self.by_name.insert(name.to_owned(), id);
        assert!(earlier.is_none(), "two rules are called `{name}`");
        id
    }

    /// Lets `wide` accept everything that `narrow` accepts. No action is spent on the step.
    pub fn includes(&mut self, wide: TypeId, narrow: TypeId) {
        self.types[wide.index()].includes.push(narrow);
    }

    /// Lets `ty` point to items of `kind`.
    pub fn points(&mut self, ty: TypeId, kind: ItemKind) {
        self.types[ty.index()].kinds.push(kind);
    }

    /// All rules; a [`RuleId`] is an index here.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// The number of kinds of items.
    pub fn kinds(&self) -> usize {
        self.kinds.len()
    }

    /// The number of types.
    pub fn types(&self) -> usize {
        self.types.len()
    }

    /// The name of a type.
    pub fn type_name(&self, ty: TypeId) -> &str {
        &self.types[ty.index()].name
    }

    /// The rule called `name`.
    pub fn find_rule(&self, name: &str) -> Option<RuleId> {
        self.by_name.get(name).copied()
    }

    /// Joins the language with an environment's items.
    ///
    /// # Errors
    /// If no whole program can be written with these items.
    pub fn grammar(&self, items: &[Item]) -> Result<Grammar, GrammarError> {
        Grammar::new(self.clone(), items)
    }

    /// The name of a kind of items, by its index.
    pub(crate) fn kind_name(&self, kind: usize) -> &str {
        &self.kinds[kind]
    }

    /// All types, in order of their indices.
    pub(crate) fn type_ids(&self) -> impl Iterator<Item = TypeId> + use<> {
        (0..self.types.len() as u16).map(TypeId)
    }

    /// All rules, in order of their indices.
    pub(crate) fn rule_ids(&self) -> impl Iterator<Item = RuleId> + use<> {
        (0..self.rules.len() as u16).map(RuleId)
    }

    /// The kinds of items that `ty` points to itself.
    pub(crate) fn pointed_kinds(&self, ty: TypeId) -> &[ItemKind] {
        &self.types[ty.index()].kinds
    }

    /// The types that `ty` accepts, itself included.
    pub(crate) fn accepted(&self, ty: TypeId) -> Vec<TypeId> {
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

/// The index of the last of `len` elements, as a small integer.
fn small_index(len: usize) -> u16 {
    u16::try_from(len - 1).expect("a language has fewer than 65,536 types, rules and kinds")
}
