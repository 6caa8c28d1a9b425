//! Questions as the parser sees them.

use crate::columns::ActionColumns;
use crate::linking::{self, RelationInputs, StemmedPhrase, UNRELATED};
use crate::scene::ItemFeatures;
use crate::{Scene, Vocabulary};
use std::fmt;
use std::sync::Arc;
use xpr_lang::{Action, Environment, Grammar, ItemId, ItemPosition, Sense, TypeId};
use xpr_text::stem;

/// A question, prepared for a parser: its words, and how they relate to the items of a [`Scene`].
///
/// [`Scene::question`] and [`Scene::question_in`] return questions. A question knows its scene, so the questions of a batch
/// may be about different databases.
#[derive(Clone, Debug)]
pub struct Question {
    pub(crate) words: Vec<u32>,
    stems: Vec<String>,
    /// The kind of relation from each of [words ; items ; rules] to each.
    pub(crate) relations: Arc<[u8]>,
    scene: Scene,
    /// The items of this question, if they differ from the scene's.
    items: Option<Arc<QuestionItems>>,
}

/// The items that programs for one question can point to, where they differ from the scene's.
///
/// The environment's items are some of the scene's items, and after them values that words of the question may mean,
/// such as names found in a database. An example with one table, one column and the question "where is austin":
///
/// | item | `environment.items()` | `shared` |
/// |---|---|---|
/// | 0 | the table `city` | 3, if it is item 3 of the scene |
/// | 1 | the column `city.name` | 7 |
/// | 2 | the value `'austin'` | |
pub struct Surroundings {
    /// All items of the question.
    pub environment: Box<dyn Environment + Send + Sync>,
    /// The grammar of the same language with the items of `environment`.
    pub grammar: Grammar,
    /// For each of the first items of `environment`, its index among the scene's items. The items after them belong to
    /// this question only.
    pub shared: Vec<u32>,
}

impl fmt::Debug for Surroundings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Surroundings").field("shared", &self.shared).finish_non_exhaustive()
    }
}

/// The surroundings of a question as the encoder and the decoder see them.
#[derive(Debug)]
pub(crate) struct QuestionItems {
    surroundings: Surroundings,
    columns: ActionColumns,
    /// The items that are not the scene's.
    own_items: ItemFeatures,
}

impl QuestionItems {
    /// Prepares surroundings; `own_items` are their items after the shared ones.
    pub(crate) fn new(surroundings: Surroundings, own_items: ItemFeatures) -> Self {
        let columns = ActionColumns::new(surroundings.grammar.clone(), &*surroundings.environment);
        QuestionItems { surroundings, columns, own_items }
    }
}

impl Question {
    /// Returns the question with these words about items with these phrases; `among_items` are the relations between
    /// the items.
    pub(crate) fn new(
        words: &[String],
        (items, among_items): (&[&StemmedPhrase], &[u8]),
        scene: &Scene,
        vocabulary: &Vocabulary,
    ) -> Self {
        let stems: Vec<String> = words.iter().map(|word| stem(word)).collect();
        let rules = scene.rule_phrases().stems();
        let inputs = RelationInputs { words, stems: &stems, items, among_items, rules };
        Question {
            words: words.iter().map(|word| vocabulary.id(word)).collect(),
            relations: linking::relate(&inputs).into(),
            stems,
            scene: scene.clone(),
            items: None,
        }
    }

    /// Gives the question items that differ from the scene's.
    pub(crate) fn with_items(self, items: QuestionItems) -> Self {
        Question { items: Some(Arc::new(items)), ..self }
    }

    /// Returns the number of words.
    pub fn word_count(&self) -> usize {
        self.words.len()
    }

    /// Returns the ids of the question's words.
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// Returns the stem of each word.
    pub fn stems(&self) -> &[String] {
        &self.stems
    }

    /// Returns whether an item belongs to this question only: a value that its words may mean, not one of the scene's
    /// items.
    pub fn is_own_item(&self, item: ItemId) -> bool {
        self.items.as_ref().is_some_and(|items| item.index() >= items.surroundings.shared.len())
    }

    /// Returns the grammar of programs for this question: that of its [`Surroundings`], or the scene's.
    pub fn grammar(&self) -> &Grammar {
        self.columns().grammar()
    }

    /// Returns the scene of the question.
    pub(crate) fn scene(&self) -> &Scene {
        &self.scene
    }

    /// Returns the environment of its [`Surroundings`]; none if its items are the scene's.
    pub fn environment(&self) -> Option<&dyn Environment> {
        self.items.as_ref().map(|items| &*items.surroundings.environment as &dyn Environment)
    }

    fn columns(&self) -> &ActionColumns {
        self.items.as_ref().map_or(self.scene.columns(), |items| &items.columns)
    }

    /// Returns the columns of all actions that the grammar allows where `ty` is expected.
    pub(crate) fn allowed(&self, ty: TypeId) -> Arc<[u32]> {
        Arc::clone(self.columns().allowed(ty))
    }

    /// Returns the columns of the actions that a program may continue with where `ty` is expected, if it has named
    /// these items so far. See [`Environment::after`].
    pub(crate) fn offered(&self, ty: TypeId, named: &[ItemId]) -> Arc<[u32]> {
        self.columns().offered(ty, named)
    }

    /// Returns whether search should try the action of a column at this place. See [`Environment::fits`].
    pub(crate) fn fits(&self, column: u32, place: ItemPosition) -> bool {
        match (self.environment(), self.scene.action(column)) {
            (Some(environment), Action::Item(item)) => environment.fits(item, place),
            _ => true,
        }
    }

    /// Returns the items that are related to one of the `named` items, each with the kind of relation from the named item to it.
    /// Every pair of item and kind is listed once.
    pub(crate) fn related_to(&self, named: &[ItemId]) -> Vec<(u32, u32)> {
        let (elements, first) = (self.relations.len().isqrt(), self.words.len());
        let items = self.grammar().item_count();
        // The kinds of each item so far, as a set of bits.
        let mut seen = vec![[0u128; 2]; items];
        let mut related = Vec::new();
        for item in named {
            let kinds = &self.relations[(first + item.index()) * elements + first..][..items];
            for (other, &kind) in kinds.iter().enumerate().filter(|(_, kind)| **kind != UNRELATED) {
                let (set, bit) = (&mut seen[other][usize::from(kind >> 7)], 1 << (kind & 127));
                if *set & bit == 0 {
                    *set |= bit;
                    related.push((other as u32, u32::from(kind)));
                }
            }
        }
        related
    }

    /// Returns whether the whole phrase of an item is at a word.
    pub(crate) fn says(&self, word: usize, item: ItemId) -> bool {
        let elements = self.relations.len().isqrt();
        linking::is_whole_phrase(self.relations[word * elements + self.words.len() + item.index()])
    }

    /// Returns whether a word is in the phrase of an item.
    pub(crate) fn is_in_phrase(&self, word: usize, item: ItemId) -> bool {
        let elements = self.relations.len().isqrt();
        linking::is_match(self.relations[word * elements + self.words.len() + item.index()])
    }

    /// Returns the rules by which search leaves out programs that make no sense, if there are some. See
    /// [`Environment::sense`].
    pub(crate) fn sense(&self) -> Option<&dyn Sense> {
        self.environment()?.sense()
    }

    /// Returns the items of the scene that the question shares; none if it shares all of them.
    pub(crate) fn shared(&self) -> Option<&[u32]> {
        self.items.as_ref().map(|items| items.surroundings.shared.as_slice())
    }

    /// Returns the items that only this question has; they come after the shared ones.
    pub(crate) fn own_items(&self) -> Option<&ItemFeatures> {
        self.items.as_ref().map(|items| &items.own_items)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_worlds::cities_and_states;
    use xpr_lang::Language;
    use xpr_lang::sql::SqlEnvironment;

    #[test]
    fn items_are_related_to_those_that_were_named() {
        let language = cities_and_states();
        let environment = SqlEnvironment::new(&language);
        let grammar = language.signatures().grammar(environment.items()).unwrap();
        let scene = Scene::new(grammar, &environment, &Vocabulary::new([]));
        let question = scene.question("how many", &Vocabulary::new([]));
        let item = |symbol: &str| environment.find(symbol).unwrap();
        let related = |named: &[&str]| {
            let named: Vec<ItemId> = named.iter().map(|symbol| item(symbol)).collect();
            question.related_to(&named)
        };
        assert!(related(&[]).is_empty());
        let [city, name] = [item("city").0, item("city.name").0];
        let of_city = related(&["city"]);
        assert_eq!(of_city.iter().map(|pair| pair.0).collect::<Vec<_>>(), [city, name]);
        assert_ne!(of_city[0].1, of_city[1].1, "an item is related to itself in a way of its own");
        assert_eq!(related(&["city", "city"]), of_city, "a relation counts once");
        // Named together, both are related to themselves and to each other.
        assert_eq!(related(&["city", "city.name"]).len(), 4);
    }

    #[test]
    fn columns_are_offered_once_their_table_is_named() {
        let language = cities_and_states();
        let environment = SqlEnvironment::new(&language);
        let grammar = language.signatures().grammar(environment.items()).unwrap();
        let scene = Scene::new(grammar.clone(), &environment, &Vocabulary::new([]));
        let question = scene.question("which", &Vocabulary::new([]));
        let item = |symbol: &str| environment.find(symbol).unwrap();
        let is_offered = |named: &[ItemId], symbol: &str| {
            let column = scene.column(Action::Item(item(symbol)));
            let mut types = grammar.type_ids();
            types.any(|ty| {
                let offered = question.offered(ty, named);
                // Where nothing else can be offered, everything is.
                offered.len() < question.allowed(ty).len() && offered.contains(&column)
            })
        };
        assert!(!is_offered(&[], "city.name"));
        assert!(is_offered(&[item("city")], "city.name") && !is_offered(&[item("city")], "state.name"));
        for ty in grammar.type_ids().filter(|&ty| grammar.shortest(ty).is_some()) {
            assert!(!question.offered(ty, &[]).is_empty(), "a program can always be continued");
        }
    }
}
