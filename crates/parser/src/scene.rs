//! An environment as the parser sees it, and questions seen in it.

use crate::linking::{self, Phrase};
use crate::text::{stem, tokenize};
use crate::{Vocabulary, linking::kinds};
use std::sync::Arc;
use xpr_lang::{Action, Environment, Grammar, ItemId, RuleId, TypeId};

/// Everything about an environment that does not depend on a question.
#[derive(Clone, Debug)]
pub struct Scene {
    grammar: Grammar,
    /// For each type, the columns of the actions allowed there: rules first, then items.
    allowed: Vec<Arc<[u32]>>,
    phrases: Vec<Phrase>,
    among_items: Vec<u8>,
    relation_kinds: usize,
    /// The words of all items' phrases, one behind the other, and where each item's begin.
    pub(crate) item_words: Vec<u32>,
    pub(crate) item_starts: Vec<usize>,
    /// The kind of each item.
    pub(crate) item_kinds: Vec<u32>,
}

/// A question, seen in a scene.
#[derive(Clone, Debug)]
pub struct Question {
    pub(crate) words: Vec<u32>,
    /// The relation from each of [words ; items] to each.
    pub(crate) relations: Arc<[u8]>,
}

impl Question {
    /// How many words it has.
    pub fn words(&self) -> usize {
        self.words.len()
    }
}

impl Scene {
    /// The scene of an environment; `vocabulary` should know the words of its items.
    pub fn new(grammar: Grammar, environment: &dyn Environment, vocabulary: &Vocabulary) -> Self {
        let rules = grammar.signatures().rules().len() as u32;
        let allowed = grammar
            .type_ids()
            .map(|ty| {
                let allowed = grammar.allowed(ty);
                let rules_first = allowed.rules.iter().map(|rule| rule.index() as u32);
                rules_first.chain(allowed.items.iter().map(|item| rules + item.0)).collect()
            })
            .collect();
        let mut scene = Scene {
            grammar,
            allowed,
            phrases: vec![],
            among_items: linking::among_items(environment.items().len(), environment.relations()),
            relation_kinds: kinds(environment.relation_names().len()),
            item_words: vec![],
            item_starts: vec![0],
            item_kinds: vec![],
        };
        for item in environment.items() {
            let mut words = tokenize(&item.phrase);
            if words.is_empty() {
                words.push("<unknown>".to_owned());
            }
            scene.item_words.extend(words.iter().map(|word| vocabulary.id(word)));
            scene.item_starts.push(scene.item_words.len());
            scene.item_kinds.push(item.kind.index() as u32);
            scene.phrases.push(Phrase {
                stems: words.iter().map(|word| stem(word)).collect(),
                class: item.kind.index(),
            });
        }
        scene
    }

    /// The grammar.
    pub fn grammar(&self) -> &Grammar {
        &self.grammar
    }

    /// How many items there are.
    pub fn items(&self) -> usize {
        self.phrases.len()
    }

    pub(crate) fn rules(&self) -> usize {
        self.grammar.signatures().rules().len()
    }

    pub(crate) fn relation_kinds(&self) -> usize {
        self.relation_kinds
    }

    /// The columns of the actions allowed where `ty` is expected.
    pub(crate) fn allowed(&self, ty: TypeId) -> &Arc<[u32]> {
        &self.allowed[ty.index()]
    }

    /// The column of an action.
    pub(crate) fn column(&self, action: Action) -> u32 {
        match action {
            Action::Rule(rule) => rule.index() as u32,
            Action::Item(item) => self.rules() as u32 + item.0,
        }
    }

    /// The action of a column.
    pub(crate) fn action(&self, column: u32) -> Action {
        match column.checked_sub(self.rules() as u32) {
            None => Action::Rule(RuleId::from_index(column as usize)),
            Some(item) => Action::Item(ItemId(item)),
        }
    }

    /// Looks at a question. One without words is seen as one with an unknown word.
    pub fn question(&self, utterance: &str, vocabulary: &Vocabulary) -> Question {
        let mut words = tokenize(utterance);
        if words.is_empty() {
            words.push("<unknown>".to_owned());
        }
        let stems: Vec<String> = words.iter().map(|word| stem(word)).collect();
        let relations = linking::relate(&words, &stems, &self.phrases, &self.among_items);
        Question {
            words: words.iter().map(|word| vocabulary.id(word)).collect(),
            relations: relations.into(),
        }
    }
}
