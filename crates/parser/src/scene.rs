//! An environment as the parser sees it.

use crate::columns::ActionColumns;
use crate::linking::{self, ItemRelations, StemmedPhrase};
use crate::question::QuestionItems;
use crate::rule_phrases::RulePhrases;
use crate::vocabulary::UNKNOWN_WORD;
use crate::{Question, Surroundings, Vocabulary};
use std::sync::{Arc, OnceLock};
use xpr_lang::{Action, Environment, Grammar, Item, ItemId, RuleId};
use xpr_text::{stem, tokenize};

/// Everything about an environment that does not depend on a question: its grammar, the words of its items, and the
/// relations between them.
///
/// A scene is made once for each knowledge base or database and turns texts into [`Question`]s. Clones share its content.
#[derive(Clone, Debug)]
pub struct Scene(Arc<SceneContent>);

#[derive(Debug)]
struct SceneContent {
    rules: usize,
    columns: ActionColumns,
    item_relations: ItemRelations,
    /// The kind of relation from each item to each. Only a question about all items needs it, which no question about a large
    /// database is.
    among_items: OnceLock<Vec<u8>>,
    relation_kinds: usize,
    items: ItemFeatures,
    rule_phrases: RulePhrases,
}

/// Items as the encoder reads them: the words of their phrases, and their kinds.
#[derive(Clone, Debug)]
pub(crate) struct ItemFeatures {
    /// The word ids of all phrases, one item after another.
    pub(crate) words: Vec<u32>,
    /// The index of each item's first word, and the number of all words.
    pub(crate) starts: Vec<usize>,
    /// The kind of each item.
    pub(crate) kinds: Vec<u32>,
    /// The phrase of each item, for linking.
    phrases: Vec<StemmedPhrase>,
}

impl ItemFeatures {
    /// Returns the features of items whose phrases are names.
    fn of_names(items: &[Item], vocabulary: &Vocabulary) -> Self {
        ItemFeatures::new(items, vocabulary, |word| vocabulary.parts(&word))
    }

    /// Returns the features of items whose phrases are words of a question.
    fn of_values(items: &[Item], vocabulary: &Vocabulary) -> Self {
        ItemFeatures::new(items, vocabulary, |word| vec![word])
    }

    fn new(items: &[Item], vocabulary: &Vocabulary, parts: impl Fn(String) -> Vec<String>) -> Self {
        let mut all = ItemFeatures { words: vec![], starts: vec![0], kinds: vec![], phrases: vec![] };
        for item in items {
            let words: Vec<String> = words_or_unknown(&item.phrase).into_iter().flat_map(&parts).collect();
            all.words.extend(words.iter().map(|word| vocabulary.id(word)));
            all.starts.push(all.words.len());
            all.kinds.push(item.kind.index() as u32);
            let stems = words.iter().map(|word| stem(word)).collect();
            all.phrases.push(StemmedPhrase { stems, class: item.kind.index() });
        }
        all
    }

    /// Returns the number of items.
    pub(crate) fn len(&self) -> usize {
        self.kinds.len()
    }

    /// Returns the word ids of an item's phrase.
    pub(crate) fn words_of(&self, item: usize) -> &[u32] {
        &self.words[self.starts[item]..self.starts[item + 1]]
    }
}

/// Returns the words of a text, or the unknown word if it has none.
fn words_or_unknown(text: &str) -> Vec<String> {
    let mut words = tokenize(text);
    if words.is_empty() {
        words.push(UNKNOWN_WORD.to_owned());
    }
    words
}

impl Scene {
    /// Returns the scene of an environment. `grammar` must have been made from the environment's items, and
    /// `vocabulary` should include the words of their phrases and of the rules' phrases.
    pub fn new(grammar: Grammar, environment: &dyn Environment, vocabulary: &Vocabulary) -> Self {
        Scene(Arc::new(SceneContent {
            rules: grammar.signatures().rules().len(),
            rule_phrases: RulePhrases::new(grammar.signatures(), vocabulary),
            columns: ActionColumns::new(grammar, environment),
            item_relations: ItemRelations::new(environment),
            among_items: OnceLock::new(),
            relation_kinds: linking::kinds(environment.relation_names().len()),
            items: ItemFeatures::of_names(environment.items(), vocabulary),
        }))
    }

    /// Returns whether this is the same scene as `other`, and not only an equal one.
    pub(crate) fn is(&self, other: &Scene) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Returns the grammar of programs for questions without [`Surroundings`].
    pub fn grammar(&self) -> &Grammar {
        self.0.columns.grammar()
    }

    pub(crate) fn columns(&self) -> &ActionColumns {
        &self.0.columns
    }

    pub(crate) fn items(&self) -> &ItemFeatures {
        &self.0.items
    }

    /// Returns the rules that have phrases.
    pub(crate) fn rule_phrases(&self) -> &RulePhrases {
        &self.0.rule_phrases
    }

    /// Returns the number of rules.
    pub(crate) fn rules(&self) -> usize {
        self.0.rules
    }

    /// Returns the number of relation kinds.
    pub(crate) fn relation_kinds(&self) -> usize {
        self.0.relation_kinds
    }

    /// Returns the column of an action.
    pub(crate) fn column(&self, action: Action) -> u32 {
        match action {
            Action::Rule(rule) => rule.index() as u32,
            Action::Item(item) => self.0.rules as u32 + item.0,
        }
    }

    /// Returns the action of a column.
    pub(crate) fn action(&self, column: u32) -> Action {
        match column.checked_sub(self.0.rules as u32) {
            None => Action::Rule(RuleId::from_index(column as usize)),
            Some(item) => Action::Item(ItemId(item)),
        }
    }

    /// Prepares a question about the items of this scene. A text without words becomes a question with one unknown
    /// word.
    pub fn question(&self, utterance: &str, vocabulary: &Vocabulary) -> Question {
        let phrases: Vec<&StemmedPhrase> = self.items().phrases.iter().collect();
        let among_items = self.0.among_items.get_or_init(|| self.0.item_relations.matrix());
        let items = (&*phrases, among_items.as_slice());
        Question::new(&words_or_unknown(utterance), items, self, vocabulary)
    }

    /// Prepares a question about the items of its [`Surroundings`].
    ///
    /// # Panics
    /// Panics if `surroundings.shared` has more items than the environment, or an index that is not an item of this
    /// scene.
    pub fn question_in(
        &self,
        utterance: &str,
        vocabulary: &Vocabulary,
        surroundings: Surroundings,
    ) -> Question {
        let (environment, shared) = (&surroundings.environment, &surroundings.shared);
        let own = ItemFeatures::of_values(&environment.items()[shared.len()..], vocabulary);
        let shared_phrases = shared.iter().map(|&item| &self.items().phrases[item as usize]);
        let phrases: Vec<&StemmedPhrase> = shared_phrases.chain(&own.phrases).collect();
        let among_items = ItemRelations::new(&**environment).matrix();
        let items = (&*phrases, &*among_items);
        let question = Question::new(&words_or_unknown(utterance), items, self, vocabulary);
        question.with_items(QuestionItems::new(surroundings, own))
    }
}
