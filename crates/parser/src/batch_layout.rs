//! The words and items of a batch of questions, in the order of the encoder's rows.

use crate::layers::ModelContext;
use crate::linking::among_first;
use crate::scene::ItemFeatures;
use crate::{Question, Scene};
use std::ops::Range;
use xpr_nn::layers::{Relations, Segment};

/// The words of all questions, one question after another.
pub(crate) struct WordBatch {
    pub(crate) ids: Vec<u32>,
    /// The words of each question.
    pub(crate) segments: Vec<Segment>,
}

impl WordBatch {
    pub(crate) fn new(questions: &[&Question]) -> Self {
        let mut batch = WordBatch { ids: vec![], segments: vec![] };
        for question in questions {
            batch.segments.push(Segment { start: batch.ids.len(), len: question.words.len() });
            batch.ids.extend_from_slice(&question.words);
        }
        batch
    }
}

/// The items of all questions: first those of each scene that some question uses, then each question's own, and after them
/// the rules that have phrases.
pub(crate) struct ItemBatch {
    /// The words of all phrases, one item after another.
    pub(crate) words: Vec<u32>,
    /// The words of each phrase. An item has one, a rule may have several.
    pub(crate) phrases: Vec<Segment>,
    /// The words of each item.
    pub(crate) segments: Vec<Segment>,
    /// The kind of each item.
    pub(crate) kinds: Vec<u32>,
    /// For each scene and each item of it, the index in this batch; 0 if it is not in use.
    pub(crate) index_of: Vec<Vec<u32>>,
    /// For each question, the index of its scene in `index_of`.
    pub(crate) scene_of: Vec<usize>,
    /// For each question, the index of its first own item in this batch.
    pub(crate) first_own: Vec<usize>,
    /// The rules that have phrases, by their indices in this batch.
    pub(crate) rules: Range<usize>,
}

impl ItemBatch {
    pub(crate) fn new(context: ModelContext<'_>, questions: &[&Question]) -> Self {
        let mut batch = ItemBatch {
            words: vec![],
            phrases: vec![],
            segments: vec![],
            kinds: vec![],
            index_of: vec![],
            scene_of: Vec::with_capacity(questions.len()),
            first_own: Vec::with_capacity(questions.len()),
            rules: 0..0,
        };
        for (scene, of_scene) in by_scene(questions, &mut batch.scene_of) {
            let shared = scene.items();
            let mut index_of = vec![0; shared.len()];
            for item in used_items(&of_scene, shared.len()) {
                index_of[item] = batch.kinds.len() as u32;
                batch.push_item(shared, item);
            }
            batch.index_of.push(index_of);
        }
        for question in questions {
            batch.first_own.push(batch.kinds.len());
            if let Some(own) = question.own_items() {
                (0..own.len()).for_each(|item| batch.push_item(own, item));
            }
        }
        batch.rules = batch.kinds.len()..batch.kinds.len();
        if context.has_rule_phrases() {
            let kind = context.scene.grammar().signatures().item_kind_count() as u32;
            for phrases in context.scene.rule_phrases().words() {
                batch.push(phrases.iter().map(Vec::as_slice), kind);
            }
            batch.rules.end = batch.kinds.len();
        }
        batch
    }

    fn push_item(&mut self, items: &ItemFeatures, item: usize) {
        self.push([items.words_of(item)].into_iter(), items.kinds[item]);
    }

    fn push<'a>(&mut self, phrases: impl Iterator<Item = &'a [u32]>, kind: u32) {
        let start = self.words.len();
        for phrase in phrases {
            self.phrases.push(Segment { start: self.words.len(), len: phrase.len() });
            self.words.extend_from_slice(phrase);
        }
        self.segments.push(Segment { start, len: self.words.len() - start });
        self.kinds.push(kind);
    }
}

/// Returns the scenes of some questions in the order of their first question, each with its questions. Pushes the index of
/// each question's scene to `scene_of`.
fn by_scene<'q>(
    questions: &[&'q Question],
    scene_of: &mut Vec<usize>,
) -> Vec<(&'q Scene, Vec<&'q Question>)> {
    let mut scenes: Vec<(&Scene, Vec<&Question>)> = Vec::new();
    for &question in questions {
        let known = scenes.iter().position(|(scene, _)| scene.is(question.scene()));
        let index = known.unwrap_or_else(|| {
            scenes.push((question.scene(), vec![]));
            scenes.len() - 1
        });
        scenes[index].1.push(question);
        scene_of.push(index);
    }
    scenes
}

/// Returns the items of a scene that at least one of its questions uses, in order.
fn used_items(questions: &[&Question], all: usize) -> Vec<usize> {
    let mut used = vec![false; all];
    for question in questions {
        match question.shared() {
            None => return (0..all).collect(),
            Some(some) => some.iter().for_each(|&item| used[item as usize] = true),
        }
    }
    (0..all).filter(|&item| used[item]).collect()
}

/// The order of rows in the attention layers: [words ; items ; rules] of each question, one question after another.
#[derive(Default)]
pub(crate) struct Layout {
    /// For each row, its index among the words and items of the batch; all words come before all items.
    pub(crate) rows: Vec<u32>,
    pub(crate) all: Vec<Segment>,
    pub(crate) words: Vec<Segment>,
    pub(crate) items: Vec<Segment>,
    pub(crate) rules: Vec<Segment>,
    /// The relations within each question.
    pub(crate) sequences: Vec<Relations>,
}

impl Layout {
    pub(crate) fn new(questions: &[&Question], words: &WordBatch, items: &ItemBatch) -> Self {
        let mut layout = Layout::default();
        let first_item = words.ids.len() as u32;
        for (index, (question, segment)) in questions.iter().zip(&words.segments).enumerate() {
            let (first_own, index_of) = (items.first_own[index], &items.index_of[items.scene_of[index]]);
            let start = layout.rows.len();
            let rows = &mut layout.rows;
            rows.extend(segment.start as u32..(segment.start + segment.len) as u32);
            match question.shared() {
                Some(some) => {
                    rows.extend(some.iter().map(|&item| first_item + index_of[item as usize]));
                }
                None => rows.extend(index_of.iter().map(|item| first_item + item)),
            }
            let own = question.own_items().map_or(0, ItemFeatures::len);
            rows.extend(first_item + first_own as u32..first_item + (first_own + own) as u32);
            let first_rule = rows.len();
            rows.extend(items.rules.clone().map(|rule| first_item + rule as u32));
            let len = rows.len() - start;
            let first_of_items = start + segment.len;
            layout.all.push(Segment { start, len });
            layout.words.push(Segment { start, len: segment.len });
            layout.items.push(Segment { start: first_of_items, len: first_rule - first_of_items });
            layout.rules.push(Segment { start: first_rule, len: items.rules.len() });
            // A model without the phrases of rules has fewer elements than the question.
            let kinds = match question.relations.len() == len * len {
                true => question.relations.clone(),
                false => among_first(&question.relations, len).into(),
            };
            layout.sequences.push(Relations { start, len, kinds });
        }
        layout
    }
}
