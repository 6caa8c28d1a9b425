//! An environment as the parser sees it, and questions seen in it.

use crate::linking::{self, Phrase};
use crate::{Vocabulary, linking::kinds};
use std::fmt;
use std::sync::Arc;
use xpr_lang::{Action, Environment, Grammar, Item, ItemId, Place, RuleId, TypeId};
use xpr_text::{stem, tokenize};

/// Everything about an environment that does not depend on a question.
#[derive(Clone, Debug)]
pub struct Scene {
    rules: usize,
    shown: Shown,
    among_items: Vec<u8>,
    relation_kinds: usize,
    items: Items,
}

/// What may be said, as columns of the decoder's scores.
#[derive(Clone, Debug)]
struct Shown {
    grammar: Grammar,
    /// For each type, the columns of the actions allowed there: rules first, then items.
    allowed: Vec<Arc<[u32]>>,
    /// For each column, the item that must be named before, if there is one.
    after: Vec<Option<ItemId>>,
    /// For each type, whether some action allowed there has such an item.
    has_after: Vec<bool>,
}

/// Items as words.
#[derive(Clone, Debug)]
pub(crate) struct Items {
    /// The words of all items' phrases, one behind the other, and where each item's begin.
    pub(crate) words: Vec<u32>,
    pub(crate) starts: Vec<usize>,
    /// The kind of each item.
    pub(crate) kinds: Vec<u32>,
    phrases: Vec<Phrase>,
}

/// A question, seen in a scene.
#[derive(Clone, Debug)]
pub struct Question {
    pub(crate) words: Vec<u32>,
    stems: Vec<String>,
    /// The relation from each of [words ; items] to each.
    pub(crate) relations: Arc<[u8]>,
    /// What this question can be about, if that is not just what the scene has.
    own: Option<Arc<Own>>,
}

/// What one question can be about: some of the scene's items, and values that its words may mean.
pub struct Surroundings {
    /// The items; those of the scene first.
    pub environment: Box<dyn Environment + Send + Sync>,
    /// What may be said with them.
    pub grammar: Grammar,
    /// Which of the scene's items the first ones are.
    pub shared: Vec<u32>,
}

impl fmt::Debug for Surroundings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Surroundings").field("shared", &self.shared).finish_non_exhaustive()
    }
}

/// Surroundings as the parser sees them.
#[derive(Debug)]
struct Own {
    surroundings: Surroundings,
    shown: Shown,
    /// The items that are not the scene's.
    items: Items,
}

impl Shown {
    fn new(grammar: Grammar, environment: &dyn Environment) -> Self {
        let rules = grammar.signatures().rules().len() as u32;
        let columns = |ty| {
            let allowed = grammar.allowed(ty);
            let rules_first = allowed.rules.iter().map(|rule| rule.index() as u32);
            rules_first.chain(allowed.items.iter().map(|item| rules + item.0)).collect()
        };
        let allowed: Vec<Arc<[u32]>> = grammar.type_ids().map(columns).collect();
        let items = (0..environment.items().len() as u32).map(|item| environment.after(ItemId(item)));
        let after: Vec<Option<ItemId>> = std::iter::repeat_n(None, rules as usize).chain(items).collect();
        let has_after = allowed
            .iter()
            .map(|columns| columns.iter().any(|&column| after[column as usize].is_some()))
            .collect();
        Shown { grammar, allowed, after, has_after }
    }

    /// The columns of the actions allowed where `ty` is expected in a program that has named these items. Where nothing would
    /// be left, all that the grammar allows: a program must go on.
    fn allowed(&self, ty: TypeId, named: &[ItemId]) -> Arc<[u32]> {
        let all = &self.allowed[ty.index()];
        if !self.has_after[ty.index()] {
            return Arc::clone(all);
        }
        let may_come = |column: &u32| self.after[*column as usize].is_none_or(|item| named.contains(&item));
        let now: Arc<[u32]> = all.iter().copied().filter(may_come).collect();
        if now.is_empty() { Arc::clone(all) } else { now }
    }
}

impl Items {
    fn new(items: &[Item], vocabulary: &Vocabulary) -> Self {
        let mut all = Items { words: vec![], starts: vec![0], kinds: vec![], phrases: vec![] };
        for item in items {
            let words = words_of(&item.phrase);
            all.words.extend(words.iter().map(|word| vocabulary.id(word)));
            all.starts.push(all.words.len());
            all.kinds.push(item.kind.index() as u32);
            let stems = words.iter().map(|word| stem(word)).collect();
            all.phrases.push(Phrase { stems, class: item.kind.index() });
        }
        all
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.kinds.len()
    }
}

/// The words of a text; a text without any has an unknown one.
fn words_of(text: &str) -> Vec<String> {
    let mut words = tokenize(text);
    if words.is_empty() {
        words.push("<unknown>".to_owned());
    }
    words
}

impl Question {
    /// How many words it has.
    pub fn words(&self) -> usize {
        self.words.len()
    }

    /// The stems of its words.
    pub fn stems(&self) -> &[String] {
        &self.stems
    }

    /// Whether an item is a value that its own words may mean, rather than one of the scene's.
    pub fn is_own(&self, item: ItemId) -> bool {
        self.own.as_ref().is_some_and(|own| item.index() >= own.surroundings.shared.len())
    }

    /// What its programs are written with: its own grammar, or the scene's.
    pub fn grammar<'a>(&'a self, scene: &'a Scene) -> &'a Grammar {
        &self.shown(scene).grammar
    }

    /// The environment of its own, if it has one.
    pub fn environment(&self) -> Option<&dyn Environment> {
        self.own.as_ref().map(|own| &*own.surroundings.environment as &dyn Environment)
    }

    fn shown<'a>(&'a self, scene: &'a Scene) -> &'a Shown {
        self.own.as_ref().map_or(&scene.shown, |own| &own.shown)
    }

    /// The columns of the actions that make sense where `ty` is expected in a program that has named these items.
    pub(crate) fn allowed(&self, scene: &Scene, ty: TypeId, named: &[ItemId]) -> Arc<[u32]> {
        self.shown(scene).allowed(ty, named)
    }

    /// Whether the action of a column makes sense at a place.
    pub(crate) fn fits(&self, scene: &Scene, column: u32, place: Place) -> bool {
        match (self.environment(), scene.action(column)) {
            (Some(environment), Action::Item(item)) => environment.fits(item, place),
            _ => true,
        }
    }

    /// The columns of all actions that the grammar allows where `ty` is expected.
    pub(crate) fn allowed_at_all(&self, scene: &Scene, ty: TypeId) -> Arc<[u32]> {
        Arc::clone(&self.shown(scene).allowed[ty.index()])
    }

    /// Which of the scene's items it can be about; none for all of them.
    pub(crate) fn shared(&self) -> Option<&[u32]> {
        self.own.as_ref().map(|own| own.surroundings.shared.as_slice())
    }

    /// The items that only it has, which come after the scene's.
    pub(crate) fn own_items(&self) -> Option<&Items> {
        self.own.as_ref().map(|own| &own.items)
    }
}

impl Scene {
    /// The scene of an environment; `vocabulary` should know the words of its items.
    pub fn new(grammar: Grammar, environment: &dyn Environment, vocabulary: &Vocabulary) -> Self {
        Scene {
            rules: grammar.signatures().rules().len(),
            shown: Shown::new(grammar, environment),
            among_items: linking::among_items(environment.items().len(), environment.relations()),
            relation_kinds: kinds(environment.relation_names().len()),
            items: Items::new(environment.items(), vocabulary),
        }
    }

    /// The grammar.
    pub fn grammar(&self) -> &Grammar {
        &self.shown.grammar
    }

    /// Its items.
    pub(crate) fn items(&self) -> &Items {
        &self.items
    }

    pub(crate) fn rules(&self) -> usize {
        self.rules
    }

    pub(crate) fn relation_kinds(&self) -> usize {
        self.relation_kinds
    }

    /// The column of an action.
    pub(crate) fn column(&self, action: Action) -> u32 {
        match action {
            Action::Rule(rule) => rule.index() as u32,
            Action::Item(item) => self.rules as u32 + item.0,
        }
    }

    /// The action of a column.
    pub(crate) fn action(&self, column: u32) -> Action {
        match column.checked_sub(self.rules as u32) {
            None => Action::Rule(RuleId::from_index(column as usize)),
            Some(item) => Action::Item(ItemId(item)),
        }
    }

    /// Looks at a question. One without words is seen as one with an unknown word.
    pub fn question(&self, utterance: &str, vocabulary: &Vocabulary) -> Question {
        let words = words_of(utterance);
        let phrases: Vec<&Phrase> = self.items.phrases.iter().collect();
        see(&words, &phrases, &self.among_items, vocabulary)
    }

    /// Looks at a question that has surroundings of its own.
    ///
    /// # Panics
    /// If the surroundings do not begin with items of this scene.
    pub fn question_in(
        &self,
        utterance: &str,
        vocabulary: &Vocabulary,
        surroundings: Surroundings,
    ) -> Question {
        let words = words_of(utterance);
        let environment = &surroundings.environment;
        let shared = &surroundings.shared;
        let items = Items::new(&environment.items()[shared.len()..], vocabulary);
        let of_scene = shared.iter().map(|&item| &self.items.phrases[item as usize]);
        let phrases: Vec<&Phrase> = of_scene.chain(&items.phrases).collect();
        let among_items = linking::among_items(environment.items().len(), environment.relations());
        let shown = Shown::new(surroundings.grammar.clone(), &**environment);
        let question = see(&words, &phrases, &among_items, vocabulary);
        Question { own: Some(Arc::new(Own { shown, items, surroundings })), ..question }
    }
}

/// A question with these words about items with these phrases.
fn see(words: &[String], phrases: &[&Phrase], among_items: &[u8], vocabulary: &Vocabulary) -> Question {
    let stems: Vec<String> = words.iter().map(|word| stem(word)).collect();
    Question {
        words: words.iter().map(|word| vocabulary.id(word)).collect(),
        relations: linking::relate(words, &stems, phrases, among_items).into(),
        stems,
        own: None,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use xpr_lang::Language;
    use xpr_lang::sql::{Column, ColumnType, Schema, Sql, SqlEnvironment, Table};

    /// SQL about cities and states, which have names.
    pub(crate) fn cities_and_states() -> Sql {
        let table = |name: &str| Table {
            name: name.to_owned(),
            columns: vec![Column { name: "name".into(), ty: ColumnType::Text }],
            primary_key: vec![],
            foreign_keys: vec![],
        };
        Sql::new(Schema { tables: vec![table("city"), table("state")] })
    }

    #[test]
    fn columns_are_offered_once_their_table_is_named() {
        let language = cities_and_states();
        let environment = SqlEnvironment::new(&language);
        let grammar = language.signatures().grammar(environment.items()).unwrap();
        let scene = Scene::new(grammar.clone(), &environment, &Vocabulary::new([]));
        let question = scene.question("which", &Vocabulary::new([]));
        let item = |symbol: &str| environment.find(symbol).unwrap();
        let offered = |named: &[ItemId], symbol: &str| {
            let column = scene.column(Action::Item(item(symbol)));
            let mut types = grammar.type_ids();
            types.any(|ty| {
                let allowed = question.allowed(&scene, ty, named);
                // Places with nothing else to offer do not count.
                allowed.len() < question.allowed_at_all(&scene, ty).len() && allowed.contains(&column)
            })
        };
        assert!(!offered(&[], "city.name"));
        assert!(offered(&[item("city")], "city.name") && !offered(&[item("city")], "state.name"));
        for ty in grammar.type_ids().filter(|&ty| grammar.shortest(ty).is_some()) {
            assert!(!question.allowed(&scene, ty, &[]).is_empty(), "there is always something to say");
        }
    }
}
