//! Grammars: which actions may come next, given a language and the items of an environment.

use crate::signatures::{Action, Rule, RuleId, Signatures, TypeId};
use crate::{Derivation, Item, ItemId, Program};
use std::sync::Arc;
use thiserror::Error;

#[cfg(test)]
mod tests;

/// A language and the items of an environment make no grammar.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum GrammarError {
    /// The root type has no finite program.
    #[error("no program of type {root} can be completed: {}", reason(missing))]
    NoProgram {
        /// The name of the root type.
        root: String,
        /// The names of the kinds that have no items, separated by commas.
        missing: String,
    },
}

fn reason(missing: &str) -> String {
    match missing {
        "" => "no rule leads to a finite program".to_owned(),
        kinds => format!("there are no items for {kinds}"),
    }
}

/// The actions that a grammar allows where one type is expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowed<'g> {
    /// The rules, in order of their ids.
    pub rules: &'g [RuleId],
    /// The items, in order of their ids.
    pub items: &'g [ItemId],
}

impl Allowed<'_> {
    /// Returns the number of actions.
    pub fn len(&self) -> usize {
        self.rules.len() + self.items.len()
    }

    /// Returns whether no action is allowed. That is never so for a type that a derivation expects.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The rules of a language and the items of an environment, joined.
///
/// Every action that a grammar allows can be completed to a whole program. A rule whose arguments
/// need an item that the environment does not have is left out, and so is every rule that needs it.
#[derive(Clone, Debug)]
pub struct Grammar {
    index: Arc<SignatureIndex>,
    item_count: usize,
    /// One for each type. Grammars that extend one another share those they have in common.
    types: Vec<Arc<TypeActions>>,
}

/// Signatures with the inverse of their tables, which do not depend on items.
#[derive(Debug)]
struct SignatureIndex {
    signatures: Signatures,
    /// For each type, itself and the types that accept it.
    supertypes: Vec<Vec<TypeId>>,
    /// For each type, the rules with an argument of this type.
    users: Vec<Vec<RuleId>>,
    /// For each kind of items, the types that accept it.
    pointing: Vec<Vec<TypeId>>,
}

/// The actions allowed where one type is expected.
#[derive(Clone, Debug, Default)]
struct TypeActions {
    rules: Vec<RuleId>,
    items: Vec<ItemId>,
    /// `rules` and `items` as a bit set: rules first, then items. Bits beyond the end are 0.
    members: Vec<u64>,
    /// The number of actions in the shortest program of this type; `None` if there is no program.
    shortest: Option<u32>,
}

impl TypeActions {
    fn contains(&self, bit: usize) -> bool {
        self.members.get(bit / 64).is_some_and(|word| word >> (bit % 64) & 1 == 1)
    }

    fn insert(&mut self, bit: usize) {
        if self.members.len() <= bit / 64 {
            self.members.resize(bit / 64 + 1, 0);
        }
        self.members[bit / 64] |= 1 << (bit % 64);
    }
}

impl SignatureIndex {
    fn new(signatures: Signatures) -> Self {
        let mut supertypes = vec![vec![]; signatures.type_count()];
        let mut users = vec![vec![]; signatures.type_count()];
        let mut pointing = vec![vec![]; signatures.item_kind_count()];
        for ty in signatures.type_ids() {
            for narrow in signatures.with_subtypes(ty) {
                supertypes[narrow.index()].push(ty);
                for kind in signatures.direct_kinds(narrow) {
                    let types: &mut Vec<TypeId> = &mut pointing[kind.index()];
                    if !types.contains(&ty) {
                        types.push(ty);
                    }
                }
            }
        }
        for rule in signatures.rule_ids() {
            for argument in &signatures.rules()[rule.index()].arguments {
                let rules: &mut Vec<RuleId> = &mut users[argument.index()];
                if !rules.contains(&rule) {
                    rules.push(rule);
                }
            }
        }
        SignatureIndex { signatures, supertypes, users, pointing }
    }
}

impl Grammar {
    pub(crate) fn new(signatures: Signatures, items: &[Item]) -> Result<Self, GrammarError> {
        let index = Arc::new(SignatureIndex::new(signatures));
        let types = vec![Arc::default(); index.signatures.type_count()];
        let mut grammar = Grammar { index: Arc::clone(&index), item_count: 0, types };
        let mut changed = Vec::new();
        for rule in index.signatures.rule_ids() {
            grammar.allow_rule(rule, &mut changed);
        }
        grammar.propagate(changed);
        let grammar = grammar.with_items(items);

        let signatures = grammar.signatures();
        if grammar.shortest(signatures.root()).is_none() {
            let absent = |kind: &usize| items.iter().all(|item| item.kind.index() != *kind);
            let missing: Vec<&str> = (0..signatures.item_kind_count())
                .filter(absent)
                .map(|kind| signatures.kind_name(kind))
                .collect();
            return Err(GrammarError::NoProgram {
                root: signatures.type_name(signatures.root()).to_owned(),
                missing: missing.join(", "),
            });
        }
        Ok(grammar)
    }

    /// Returns this grammar with more items, which get the ids after the present ones.
    ///
    /// Rules and present items keep their ids. A rule that an extra item makes usable is allowed in
    /// the new grammar. Only types that change are copied, so a grammar for the values of one
    /// question is cheap.
    #[must_use]
    pub fn with_items(&self, extra: &[Item]) -> Grammar {
        let mut grammar = self.clone();
        let index = Arc::clone(&self.index);
        let rule_count = index.signatures.rules().len();
        let mut changed = Vec::new();
        for (offset, item) in extra.iter().enumerate() {
            let id = self.item_count + offset;
            for &ty in index.pointing.get(item.kind.index()).map_or(&[][..], Vec::as_slice) {
                let actions = Arc::make_mut(&mut grammar.types[ty.index()]);
                actions.items.push(ItemId(id as u32));
                actions.insert(rule_count + id);
                if actions.shortest != Some(1) {
                    actions.shortest = Some(1);
                    changed.push(ty);
                }
            }
        }
        grammar.item_count += extra.len();
        grammar.propagate(changed);
        grammar
    }

    /// Updates the rules with arguments of the types in `changed`, which have a new shortest program, until
    /// nothing changes. This ends, because lengths are positive and only get smaller.
    fn propagate(&mut self, mut changed: Vec<TypeId>) {
        let index = Arc::clone(&self.index);
        while let Some(ty) = changed.pop() {
            for &rule in &index.users[ty.index()] {
                self.allow_rule(rule, &mut changed);
            }
        }
    }

    /// Allows a rule wherever its result is accepted, if all its arguments have programs. Types with a new
    /// shortest program are added to `changed`.
    fn allow_rule(&mut self, rule: RuleId, changed: &mut Vec<TypeId>) {
        let index = Arc::clone(&self.index);
        let Rule { result, arguments, .. } = &index.signatures.rules()[rule.index()];
        let length = arguments
            .iter()
            .try_fold(1u32, |sum, ty| Some(sum.saturating_add(self.types[ty.index()].shortest?)));
        let Some(length) = length else { return };
        for &ty in &index.supertypes[result.index()] {
            let actions = &self.types[ty.index()];
            let is_shorter = actions.shortest.is_none_or(|shortest| length < shortest);
            if !is_shorter && actions.contains(rule.index()) {
                continue;
            }
            let actions = Arc::make_mut(&mut self.types[ty.index()]);
            if let Err(position) = actions.rules.binary_search(&rule) {
                actions.rules.insert(position, rule);
                actions.insert(rule.index());
            }
            if is_shorter {
                actions.shortest = Some(length);
                changed.push(ty);
            }
        }
    }

    /// Returns the signatures of the language.
    pub fn signatures(&self) -> &Signatures {
        &self.index.signatures
    }

    /// Returns the type of whole programs.
    pub fn root(&self) -> TypeId {
        self.signatures().root()
    }

    /// Returns all types, in order of their indices.
    pub fn type_ids(&self) -> impl Iterator<Item = TypeId> + use<> {
        self.signatures().type_ids()
    }

    /// Returns the number of items.
    pub fn item_count(&self) -> usize {
        self.item_count
    }

    /// Returns the types of an action's arguments, in order. An item has none.
    pub fn arguments(&self, action: Action) -> &[TypeId] {
        match action {
            Action::Rule(rule) => &self.signatures().rules()[rule.index()].arguments,
            Action::Item(_) => &[],
        }
    }

    /// Returns the actions that are allowed where `ty` is expected, in constant time.
    pub fn allowed(&self, ty: TypeId) -> Allowed<'_> {
        let actions = &self.types[ty.index()];
        Allowed { rules: &actions.rules, items: &actions.items }
    }

    /// Returns whether `action` is allowed where `ty` is expected, in constant time.
    pub fn allows(&self, ty: TypeId, action: Action) -> bool {
        let rule_count = self.signatures().rules().len();
        let bit = match action {
            Action::Rule(rule) if rule.index() < rule_count => rule.index(),
            Action::Item(item) if item.index() < self.item_count => rule_count + item.index(),
            _ => return false,
        };
        self.types[ty.index()].contains(bit)
    }

    /// Returns all programs of at most `longest` actions. Their number grows exponentially with `longest`.
    pub fn programs(&self, longest: usize) -> impl Iterator<Item = Program> {
        let mut partial = vec![(Derivation::new(self), Vec::new())];
        std::iter::from_fn(move || {
            loop {
                let (derivation, actions) = partial.pop()?;
                let Some(expected) = derivation.expected() else {
                    return Program::from_actions(self, &actions).ok();
                };
                let Allowed { rules, items } = self.allowed(expected);
                let rules = rules.iter().copied().map(Action::Rule);
                for action in rules.chain(items.iter().copied().map(Action::Item)) {
                    let mut next = derivation.clone();
                    let is_short_enough = next.advance(self, action).is_ok()
                        && next.len().saturating_add(next.shortest_rest(self)) <= longest;
                    if is_short_enough {
                        partial.push((next, [actions.as_slice(), &[action]].concat()));
                    }
                }
            }
        })
    }

    /// Returns the number of actions in the shortest program of type `ty`; none if there is no program.
    pub fn shortest(&self, ty: TypeId) -> Option<usize> {
        self.types[ty.index()].shortest.map(|length| length as usize)
    }
}
