//! Productions, and which of them an environment leaves usable.

use crate::signatures::{Action, Rule, RuleId, Signatures, TypeId};
use crate::{Derivation, Item, ItemId, Program};
use std::sync::Arc;
use thiserror::Error;

/// Why a language and an environment make no grammar.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum GrammarError {
    /// The root type has no finite program.
    #[error("no program of type {root} can be completed: there are no items for {missing}")]
    NoProgram {
        /// The name of the root type.
        root: String,
        /// The kinds of items that are missing, by name.
        missing: String,
    },
}

/// The actions allowed at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowed<'g> {
    /// Rules, in order of their ids.
    pub rules: &'g [RuleId],
    /// Items, in order of their ids.
    pub items: &'g [ItemId],
}

impl Allowed<'_> {
    /// How many actions there are.
    pub fn len(&self) -> usize {
        self.rules.len() + self.items.len()
    }

    /// Never true for a type that can be reached.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A language's rules and an environment's items, joined: what may be said where.
///
/// Every action it allows can be completed to a whole program: a rule that needs an item no
/// environment item can fill is left out, and so is everything that needs such a rule.
#[derive(Clone, Debug)]
pub struct Grammar {
    structure: Arc<Structure>,
    items: usize,
    /// One a type. Grammars of one language share what they have in common.
    places: Vec<Arc<Place>>,
}

/// What follows from the signatures alone.
#[derive(Debug)]
struct Structure {
    signatures: Signatures,
    /// For each type, the types that accept it, itself included.
    wider: Vec<Vec<TypeId>>,
    /// For each type, the rules with such an argument.
    users: Vec<Vec<RuleId>>,
    /// For each kind of items, the types that accept it.
    pointing: Vec<Vec<TypeId>>,
}

/// What is allowed where one type is expected.
#[derive(Clone, Debug, Default)]
struct Place {
    rules: Vec<RuleId>,
    items: Vec<ItemId>,
    /// The same two as sets, one bit an action: rules first, then items. What is beyond the end is not in.
    members: Vec<u64>,
    /// The actions of the shortest program of this type; `None` if there is none.
    shortest: Option<u32>,
}

impl Place {
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

impl Structure {
    fn new(signatures: Signatures) -> Self {
        let mut wider = vec![vec![]; signatures.types()];
        let mut users = vec![vec![]; signatures.types()];
        let mut pointing = vec![vec![]; signatures.kinds()];
        for ty in signatures.type_ids() {
            for narrow in signatures.accepted(ty) {
                wider[narrow.index()].push(ty);
                for kind in signatures.pointed_kinds(narrow) {
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
        Structure { signatures, wider, users, pointing }
    }
}

impl Grammar {
    pub(crate) fn new(signatures: Signatures, items: &[Item]) -> Result<Self, GrammarError> {
        let structure = Arc::new(Structure::new(signatures));
        let places = vec![Arc::default(); structure.signatures.types()];
        let mut grammar = Grammar { structure: Arc::clone(&structure), items: 0, places };
        let mut changed = Vec::new();
        for rule in structure.signatures.rule_ids() {
            grammar.offer(rule, &mut changed);
        }
        grammar.spread(changed);
        let grammar = grammar.with_items(items);

        let signatures = grammar.signatures();
        if grammar.shortest(signatures.root()).is_none() {
            let absent = |kind: &usize| items.iter().all(|item| item.kind.index() != *kind);
            let missing: Vec<&str> =
                (0..signatures.kinds()).filter(absent).map(|kind| signatures.kind_name(kind)).collect();
            return Err(GrammarError::NoProgram {
                root: signatures.type_name(signatures.root()).to_owned(),
                missing: missing.join(", "),
            });
        }
        Ok(grammar)
    }

    /// The same grammar with more items, which get the ids after those it has.
    ///
    /// Rules and earlier items keep their ids. A rule that only an extra item completes is offered from now on. Only
    /// places where something changes are copied, so the values of a question can be added while it waits.
    #[must_use]
    pub fn with_items(&self, extra: &[Item]) -> Grammar {
        let mut grammar = self.clone();
        let structure = Arc::clone(&self.structure);
        let rule_count = structure.signatures.rules().len();
        let mut changed = Vec::new();
        for (index, item) in extra.iter().enumerate() {
            let index = self.items + index;
            for &ty in structure.pointing.get(item.kind.index()).map_or(&[][..], Vec::as_slice) {
                let place = Arc::make_mut(&mut grammar.places[ty.index()]);
                place.items.push(ItemId(index as u32));
                place.insert(rule_count + index);
                if place.shortest != Some(1) {
                    place.shortest = Some(1);
                    changed.push(ty);
                }
            }
        }
        grammar.items += extra.len();
        grammar.spread(changed);
        grammar
    }

    /// Offers what types with a new shortest program make possible, until nothing changes: lengths are
    /// positive and only get shorter.
    fn spread(&mut self, mut changed: Vec<TypeId>) {
        let structure = Arc::clone(&self.structure);
        while let Some(ty) = changed.pop() {
            for &rule in &structure.users[ty.index()] {
                self.offer(rule, &mut changed);
            }
        }
    }

    /// Offers a rule wherever its result is accepted, if it can be completed; notes types with a new shortest program.
    fn offer(&mut self, rule: RuleId, changed: &mut Vec<TypeId>) {
        let structure = Arc::clone(&self.structure);
        let Rule { result, arguments, .. } = &structure.signatures.rules()[rule.index()];
        let length = arguments
            .iter()
            .try_fold(1u32, |sum, ty| Some(sum.saturating_add(self.places[ty.index()].shortest?)));
        let Some(length) = length else { return };
        for &ty in &structure.wider[result.index()] {
            let place = &self.places[ty.index()];
            let shorter = place.shortest.is_none_or(|shortest| length < shortest);
            if !shorter && place.contains(rule.index()) {
                continue;
            }
            let place = Arc::make_mut(&mut self.places[ty.index()]);
            if let Err(position) = place.rules.binary_search(&rule) {
                place.rules.insert(position, rule);
                place.insert(rule.index());
            }
            if shorter {
                place.shortest = Some(length);
                changed.push(ty);
            }
        }
    }

    /// The language's side of the grammar.
    pub fn signatures(&self) -> &Signatures {
        &self.structure.signatures
    }

    /// The type of whole programs.
    pub fn root(&self) -> TypeId {
        self.signatures().root()
    }

    /// All types, in order of their indices.
    pub fn type_ids(&self) -> impl Iterator<Item = TypeId> + use<> {
        self.signatures().type_ids()
    }

    /// The number of items this grammar was made for.
    pub fn items(&self) -> usize {
        self.items
    }

    /// The types an action asks for, in order; none for a pointer.
    pub fn arguments(&self, action: Action) -> &[TypeId] {
        match action {
            Action::Rule(rule) => &self.signatures().rules()[rule.index()].arguments,
            Action::Item(_) => &[],
        }
    }

    /// The actions that may be taken where `ty` is expected. Constant time.
    pub fn allowed(&self, ty: TypeId) -> Allowed<'_> {
        let place = &self.places[ty.index()];
        Allowed { rules: &place.rules, items: &place.items }
    }

    /// Whether `action` may be taken where `ty` is expected. Constant time.
    pub fn allows(&self, ty: TypeId, action: Action) -> bool {
        let rule_count = self.signatures().rules().len();
        let bit = match action {
            Action::Rule(rule) if rule.index() < rule_count => rule.index(),
            Action::Item(item) if item.index() < self.items => rule_count + item.index(),
            _ => return false,
        };
        self.places[ty.index()].contains(bit)
    }

    /// All programs of at most `longest` actions. There are soon very many.
    pub fn programs(&self, longest: usize) -> impl Iterator<Item = Program> {
        let mut begun = vec![(Derivation::new(self), Vec::new())];
        std::iter::from_fn(move || {
            loop {
                let (derivation, actions) = begun.pop()?;
                let Some(expected) = derivation.expected() else {
                    return Program::from_actions(self, &actions).ok();
                };
                let Allowed { rules, items } = self.allowed(expected);
                let rules = rules.iter().copied().map(Action::Rule);
                for action in rules.chain(items.iter().copied().map(Action::Item)) {
                    let mut next = derivation.clone();
                    let fits = next.advance(self, action).is_ok()
                        && next.len().saturating_add(next.shortest_rest(self)) <= longest;
                    if fits {
                        begun.push((next, [actions.as_slice(), &[action]].concat()));
                    }
                }
            }
        })
    }

    /// The number of actions in the shortest program of type `ty`, if there is a program at all.
    pub fn shortest(&self, ty: TypeId) -> Option<usize> {
        self.places[ty.index()].shortest.map(|length| length as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ItemKind;

    /// `Answer → all(Type) | join(Answer, Property)`, `Property → flip(Property)`.
    fn language() -> (Signatures, ItemKind, ItemKind) {
        let mut language = Signatures::new("Answer");
        let answer = language.root();
        let property = language.ty("Property");
        let ty = language.ty("Type");
        language.rule("all", answer, &[ty]);
        language.rule("join", answer, &[answer, property]);
        language.rule("flip", property, &[property]);
        let (of_property, of_type) = (language.kind("property"), language.kind("type"));
        language.points(property, of_property);
        language.points(ty, of_type);
        (language, of_property, of_type)
    }

    #[test]
    fn rules_that_cannot_be_completed_are_not_offered() {
        let (language, property, ty) = language();
        let full = language.grammar(&[Item::new(ty, "", "t"), Item::new(property, "", "p")]).unwrap();
        assert_eq!(full.allowed(full.root()).rules.len(), 2);
        assert_eq!(full.shortest(full.root()), Some(2));

        // Without a property `join` would dead-end, and `flip` could go on for ever.
        let bare = language.grammar(&[Item::new(ty, "", "t")]).unwrap();
        let rules = bare.allowed(bare.root()).rules;
        assert_eq!(rules, [language.find_rule("all").unwrap()]);
        let property = bare.type_ids().nth(1).unwrap();
        assert!(bare.allowed(property).is_empty());
        assert_eq!(bare.shortest(property), None);
    }

    #[test]
    fn all_short_programs_are_found_once() {
        let (language, property, ty) = language();
        let items = [Item::new(ty, "", "t"), Item::new(property, "", "p"), Item::new(property, "", "r")];
        let grammar = language.grammar(&items).unwrap();
        // all(t); join(all(t), p or r), with any number of flips: 2 of n actions for n = 4, 5, and from 6 on also two joins.
        let of = |longest| {
            let programs: Vec<Program> = grammar.programs(longest).collect();
            assert!(programs.iter().all(|program| program.actions().len() <= longest));
            assert_eq!(programs.iter().collect::<std::collections::HashSet<_>>().len(), programs.len());
            programs.len()
        };
        assert_eq!([1, 2, 3, 4, 5, 6].map(of), [0, 1, 1, 3, 5, 5 + 2 + 4]);
    }

    #[test]
    fn a_language_with_nothing_to_say_is_an_error_that_names_what_is_missing() {
        let (language, property, _) = language();
        let error = language.grammar(&[Item::new(property, "", "p")]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "no program of type Answer can be completed: there are no items for type"
        );
    }

    #[test]
    fn membership_agrees_with_the_lists() {
        let (language, property, ty) = language();
        let items: Vec<Item> =
            (0..200).map(|i| Item::new(if i % 3 == 0 { ty } else { property }, "", i.to_string())).collect();
        let grammar = language.grammar(&items).unwrap();
        for place in grammar.type_ids() {
            let allowed = grammar.allowed(place);
            for rule in (0..4).map(RuleId::from_index) {
                assert_eq!(grammar.allows(place, Action::Rule(rule)), allowed.rules.contains(&rule));
            }
            for item in (0..201).map(ItemId) {
                assert_eq!(grammar.allows(place, Action::Item(item)), allowed.items.contains(&item));
            }
        }
    }

    /// Everything a grammar says.
    fn described(grammar: &Grammar) -> Vec<(Vec<RuleId>, Vec<ItemId>, Option<usize>)> {
        let places = grammar.type_ids().map(|ty| {
            let allowed = grammar.allowed(ty);
            (allowed.rules.to_vec(), allowed.items.to_vec(), grammar.shortest(ty))
        });
        places.collect()
    }

    #[test]
    fn extra_items_make_the_grammar_that_all_items_make() {
        let (language, property, ty) = language();
        let items: Vec<Item> =
            (0..9).map(|i| Item::new(if i % 3 == 0 { ty } else { property }, "", i.to_string())).collect();
        let whole = language.grammar(&items).unwrap();
        for split in 1..=items.len() {
            let base = language.grammar(&items[..split]).unwrap();
            let before = described(&base);
            let extended = base.with_items(&items[split..]);
            assert_eq!(described(&extended), described(&whole));
            assert_eq!(extended.items(), items.len());
            // The base is as it was, and so is a grammar extended by nothing.
            assert_eq!(described(&base), before);
            assert_eq!(described(&whole.with_items(&[])), described(&whole));
            for place in whole.type_ids() {
                for item in (0..10).map(|id| Action::Item(ItemId(id))) {
                    assert_eq!(extended.allows(place, item), whole.allows(place, item));
                }
            }
        }
    }

    #[test]
    fn a_rule_that_an_extra_item_completes_is_offered() {
        let (language, property, ty) = language();
        let bare = language.grammar(&[Item::new(ty, "", "t")]).unwrap();
        let join = Action::Rule(language.find_rule("join").unwrap());
        assert!(!bare.allows(bare.root(), join));
        let extended = bare.with_items(&[Item::new(property, "", "p")]);
        assert!(extended.allows(extended.root(), join));
        assert!(!bare.allows(bare.root(), join));
        assert_eq!(extended.allowed(extended.root()).rules.len(), 2);
    }

    #[test]
    fn places_that_an_extra_item_does_not_change_are_shared() {
        let (language, property, ty) = language();
        let base = language.grammar(&[Item::new(ty, "", "t"), Item::new(property, "", "p")]).unwrap();
        let extended = base.with_items(&[Item::new(property, "", "q")]);
        let shared = |index: usize| Arc::ptr_eq(&base.places[index], &extended.places[index]);
        assert_eq!([shared(0), shared(1), shared(2)], [true, false, true]);
    }
}
