//! Types and productions, and which of them an environment leaves usable.

use crate::{Item, ItemId};
use rustc_hash::FxHashMap;
use thiserror::Error;

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
    /// Kinds of items this type accepts.
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

    /// The types that `ty` accepts, itself included.
    fn closure(&self, ty: TypeId) -> Vec<TypeId> {
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
    signatures: Signatures,
    items: usize,
    places: Vec<Place>,
}

/// What is allowed where one type is expected.
#[derive(Clone, Debug, Default)]
struct Place {
    rules: Vec<RuleId>,
    items: Vec<ItemId>,
    /// The same two as sets, one bit an action: rules first, then items.
    members: Vec<u64>,
    /// The actions of the shortest program of this type; `None` if there is none.
    shortest: Option<u32>,
}

impl Grammar {
    fn new(signatures: Signatures, items: &[Item]) -> Result<Self, GrammarError> {
        let rule_count = signatures.rules.len();
        let mut places = vec![Place::default(); signatures.types.len()];
        for (index, place) in places.iter_mut().enumerate() {
            let accepted = signatures.closure(TypeId(index as u16));
            place.rules = (0..rule_count as u16)
                .map(RuleId)
                .filter(|rule| accepted.contains(&signatures.rules[rule.index()].result))
                .collect();
            place.items = (0..items.len() as u32)
                .map(ItemId)
                .filter(|item| {
                    accepted
                        .iter()
                        .any(|ty| signatures.types[ty.index()].kinds.contains(&items[item.index()].kind))
                })
                .collect();
            place.shortest = (!place.items.is_empty()).then_some(1);
        }

        // Shortest programs, by relaxation: each round can only shorten, and lengths are positive.
        loop {
            let mut changed = false;
            for index in 0..places.len() {
                let through_rules = places[index]
                    .rules
                    .iter()
                    .filter_map(|rule| shortest_application(&signatures, &places, *rule))
                    .min();
                let best = [places[index].shortest, through_rules].into_iter().flatten().min();
                if best != places[index].shortest {
                    places[index].shortest = best;
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }

        if places[signatures.root().index()].shortest.is_none() {
            let missing = signatures
                .kinds
                .iter()
                .enumerate()
                .filter(|(kind, _)| items.iter().all(|item| usize::from(item.kind.0) != *kind))
                .map(|(_, name)| name.as_str())
                .collect::<Vec<_>>();
            return Err(GrammarError::NoProgram {
                root: signatures.type_name(signatures.root()).to_owned(),
                missing: missing.join(", "),
            });
        }

        let usable: Vec<bool> = (0..rule_count as u16)
            .map(|rule| shortest_application(&signatures, &places, RuleId(rule)).is_some())
            .collect();
        for place in &mut places {
            place.rules.retain(|rule| usable[rule.index()]);
            place.members = vec![0; (rule_count + items.len()).div_ceil(64)];
            let rules = place.rules.iter().map(|rule| rule.index());
            for bit in rules.chain(place.items.iter().map(|item| rule_count + item.index())) {
                place.members[bit / 64] |= 1 << (bit % 64);
            }
        }
        Ok(Grammar { signatures, items: items.len(), places })
    }

    /// The language's side of the grammar.
    pub fn signatures(&self) -> &Signatures {
        &self.signatures
    }

    /// The type of whole programs.
    pub fn root(&self) -> TypeId {
        self.signatures.root()
    }

    /// All types, in order of their indices.
    pub fn type_ids(&self) -> impl Iterator<Item = TypeId> + use<> {
        (0..self.signatures.types.len() as u16).map(TypeId)
    }

    /// The number of items this grammar was made for.
    pub fn items(&self) -> usize {
        self.items
    }

    /// The types an action asks for, in order; none for a pointer.
    pub fn arguments(&self, action: Action) -> &[TypeId] {
        match action {
            Action::Rule(rule) => &self.signatures.rules[rule.index()].arguments,
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
        let rule_count = self.signatures.rules.len();
        let bit = match action {
            Action::Rule(rule) if rule.index() < rule_count => rule.index(),
            Action::Item(item) if item.index() < self.items => rule_count + item.index(),
            _ => return false,
        };
        self.places[ty.index()].members[bit / 64] >> (bit % 64) & 1 == 1
    }

    /// The number of actions in the shortest program of type `ty`, if there is a program at all.
    pub fn shortest(&self, ty: TypeId) -> Option<usize> {
        self.places[ty.index()].shortest.map(|length| length as usize)
    }
}

/// The length of the shortest application of `rule`, if all of its arguments can be completed.
fn shortest_application(signatures: &Signatures, places: &[Place], rule: RuleId) -> Option<u32> {
    let arguments = &signatures.rules[rule.index()].arguments;
    arguments.iter().try_fold(1u32, |sum, ty| Some(sum.saturating_add(places[ty.index()].shortest?)))
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let property = TypeId(1);
        assert!(bare.allowed(property).is_empty());
        assert_eq!(bare.shortest(property), None);
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
        for index in 0..language.types() {
            let place = TypeId(index as u16);
            let allowed = grammar.allowed(place);
            for rule in (0..4).map(RuleId) {
                assert_eq!(grammar.allows(place, Action::Rule(rule)), allowed.rules.contains(&rule));
            }
            for item in (0..201).map(ItemId) {
                assert_eq!(grammar.allows(place, Action::Item(item)), allowed.items.contains(&item));
            }
        }
    }
}
