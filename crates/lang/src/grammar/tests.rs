use super::*;
use crate::ItemKind;

/// `Answer → all(Type) | join(Answer, Property)`, `Property → flip(Property)`.
fn language() -> (Signatures, ItemKind, ItemKind) {
    let mut language = Signatures::new("Answer");
    let answer = language.root();
    let property = language.add_type("Property");
    let ty = language.add_type("Type");
    language.add_rule("all", answer, &[ty]);
    language.add_rule("join", answer, &[answer, property]);
    language.add_rule("flip", property, &[property]);
    let (property_kind, type_kind) = (language.add_item_kind("property"), language.add_item_kind("type"));
    language.accept_items(property, property_kind);
    language.accept_items(ty, type_kind);
    (language, property_kind, type_kind)
}

#[test]
fn rules_that_cannot_be_completed_are_not_offered() {
    let (language, property, ty) = language();
    let full = language.grammar(&[Item::new(ty, "", "t"), Item::new(property, "", "p")]).unwrap();
    assert_eq!(full.allowed(full.root()).rules.len(), 2);
    assert_eq!(full.shortest(full.root()), Some(2));

    // Without a property, `join` can never be completed, and `flip` only by another `flip`.
    let bare = language.grammar(&[Item::new(ty, "", "t")]).unwrap();
    let rules = bare.allowed(bare.root()).rules;
    assert_eq!(rules, [language.find_rule("all").unwrap()]);
    let property = bare.type_ids().nth(1).unwrap();
    assert!(bare.allowed(property).is_empty());
    assert_eq!(bare.shortest(property), None);
}

#[test]
fn programs_lists_every_short_program_once() {
    let (language, property, ty) = language();
    let items = [Item::new(ty, "", "t"), Item::new(property, "", "p"), Item::new(property, "", "r")];
    let grammar = language.grammar(&items).unwrap();
    // all(t); join(all(t), p or r), with any number of flips: 2 of n actions for n = 4, 5, and from 6 on also two joins.
    let count = |longest| {
        let programs: Vec<Program> = grammar.programs(longest).collect();
        assert!(programs.iter().all(|program| program.actions().len() <= longest));
        assert_eq!(programs.iter().collect::<std::collections::HashSet<_>>().len(), programs.len());
        programs.len()
    };
    assert_eq!([1, 2, 3, 4, 5, 6].map(count), [0, 1, 1, 3, 5, 5 + 2 + 4]);
}

#[test]
fn a_grammar_without_programs_is_an_error_that_names_the_missing_items() {
    let (language, property, _) = language();
    let error = language.grammar(&[Item::new(property, "", "p")]).unwrap_err();
    assert_eq!(error.to_string(), "no program of type Answer can be completed: there are no items for type");

    // No kind of items is missing, but the only rule needs itself.
    let mut circular = Signatures::new("Answer");
    circular.add_rule("again", circular.root(), &[circular.root()]);
    let error = circular.grammar(&[]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no program of type Answer can be completed: no rule leads to a finite program"
    );
}

/// Items of which every third is a type, and the others are properties.
fn mixed_items(count: usize, ty: ItemKind, property: ItemKind) -> Vec<Item> {
    (0..count).map(|i| Item::new(if i % 3 == 0 { ty } else { property }, "", i.to_string())).collect()
}

#[test]
fn allows_agrees_with_allowed() {
    let (language, property, ty) = language();
    let items = mixed_items(200, ty, property);
    let grammar = language.grammar(&items).unwrap();
    for expected in grammar.type_ids() {
        let allowed = grammar.allowed(expected);
        for rule in (0..4).map(RuleId::from_index) {
            assert_eq!(grammar.allows(expected, Action::Rule(rule)), allowed.rules.contains(&rule));
        }
        for item in (0..201).map(ItemId) {
            assert_eq!(grammar.allows(expected, Action::Item(item)), allowed.items.contains(&item));
        }
    }
}

/// Everything a grammar allows.
fn contents(grammar: &Grammar) -> Vec<(Vec<RuleId>, Vec<ItemId>, Option<usize>)> {
    let types = grammar.type_ids().map(|ty| {
        let allowed = grammar.allowed(ty);
        (allowed.rules.to_vec(), allowed.items.to_vec(), grammar.shortest(ty))
    });
    types.collect()
}

#[test]
fn a_grammar_extended_by_items_equals_the_grammar_of_all_items() {
    let (language, property, ty) = language();
    let items = mixed_items(9, ty, property);
    let whole = language.grammar(&items).unwrap();
    for split in 1..=items.len() {
        let base = language.grammar(&items[..split]).unwrap();
        let before = contents(&base);
        let extended = base.with_items(&items[split..]);
        assert_eq!(contents(&extended), contents(&whole));
        assert_eq!(extended.item_count(), items.len());
        // Neither the base nor a grammar extended by nothing changes.
        assert_eq!(contents(&base), before);
        assert_eq!(contents(&whole.with_items(&[])), contents(&whole));
        for expected in whole.type_ids() {
            for item in (0..10).map(|id| Action::Item(ItemId(id))) {
                assert_eq!(extended.allows(expected, item), whole.allows(expected, item));
            }
        }
    }
}

#[test]
fn an_extra_item_can_make_a_rule_usable() {
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
fn types_that_an_extra_item_does_not_change_are_shared() {
    let (language, property, ty) = language();
    let base = language.grammar(&[Item::new(ty, "", "t"), Item::new(property, "", "p")]).unwrap();
    let extended = base.with_items(&[Item::new(property, "", "q")]);
    let shared = |index: usize| Arc::ptr_eq(&base.types[index], &extended.types[index]);
    assert_eq!([shared(0), shared(1), shared(2)], [true, false, true]);
}
