//! The channel: how well a program explains the words of its question.
//!
//! A parser with few labels likes programs it has seen, and passes over words that do not fit them. The channel looks from the
//! other side: were this the program, would people have used these words? It is the first model of Brown et al. (1993), in
//! which each word is said because of one of the program's actions, or of nothing, all equally likely,
//!
//! ```text
//! p(x | y) = Π_w 1/(|y| + 1) Σ_{a ∈ y ∪ {nothing}} t(w | a)
//! ```
//!
//! Where labels say little about an action, `t` is what people say in general, and the words of the action's name:
//!
//! ```text
//! t(w | a) = (c(w, a) + common(w) + name(w | a)) / (c(a) + 2)
//! ```
//!
//! The counts `c` are those of expectation-maximisation on the labeled questions. It knows nothing of order, so it is no parser; but its
//! mistakes are not a parser's, and it takes milliseconds to learn.

use crate::{LabeledExample, Task};
use rustc_hash::FxHashMap;
use xpr_lang::{Action, Program, RuleId};
use xpr_parser::{Question, stem, tokenize};

/// `p(x | y)`, learned from labeled questions.
#[derive(Debug)]
pub(crate) struct Channel<'t> {
    task: &'t Task,
    stems: FxHashMap<String, u32>,
    notions: FxHashMap<Notion, usize>,
    translations: Translations,
}

/// What a word may be said because of.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Notion {
    Nothing,
    Rule(RuleId),
    /// An item, by its symbol: the same value is the same notion in every question.
    Item(String),
}

/// `t`, with words and notions as numbers.
#[derive(Debug, Default)]
struct Translations {
    /// How common each word is, labeled or not.
    common: Vec<f64>,
    of: Vec<Translation>,
}

/// What is said because of a notion.
#[derive(Debug, Default)]
struct Translation {
    /// The words of its name.
    name: Vec<u32>,
    counts: FxHashMap<u32, f64>,
    total: f64,
}

/// Rounds of expectation-maximisation. More do not matter.
const ROUNDS: usize = 8;

/// No word is less likely than this.
const UNHEARD_OF: f64 = 1e-12;

impl<'t> Channel<'t> {
    /// Learns from labeled questions; `asked` are all that are known, labeled or not.
    pub(crate) fn learn<'q>(
        task: &'t Task,
        labeled: &[LabeledExample],
        asked: impl IntoIterator<Item = &'q str>,
    ) -> Self {
        let (stems, notions) = (FxHashMap::default(), FxHashMap::default());
        let mut channel = Channel { task, stems, notions, translations: Translations::default() };
        let asked: Vec<u32> = asked.into_iter().flat_map(|utterance| channel.stems_of(utterance)).collect();
        for &stem in &asked {
            channel.translations.common[stem as usize] += 1.0 / asked.len() as f64;
        }
        let pairs: Vec<(Vec<u32>, Vec<usize>)> = labeled
            .iter()
            .map(|example| {
                let notions = channel.notions_of(&example.program, &example.question);
                (channel.stems_of(&example.utterance), notions)
            })
            .collect();
        for _ in 0..ROUNDS {
            channel.translations.count_again(&pairs);
        }
        channel
    }

    /// `log p(x | y)`.
    pub(crate) fn log_probability(&mut self, utterance: &str, question: &Question, program: &Program) -> f64 {
        let notions = self.notions_of(program, question);
        let stems = self.stems_of(utterance);
        self.translations.log_probability(&stems, &notions)
    }

    /// The notions of a program: nothing, and each of its actions.
    fn notions_of(&mut self, program: &Program, question: &Question) -> Vec<usize> {
        let task = self.task;
        let items = task.environment(question).items();
        let mut notions = vec![self.notion(Notion::Nothing, "")];
        for action in program.actions() {
            notions.push(match action {
                Action::Rule(rule) => self.notion(Notion::Rule(*rule), ""),
                Action::Item(item) => {
                    let item = &items[item.0 as usize];
                    self.notion(Notion::Item(item.symbol.clone()), &item.phrase)
                }
            });
        }
        notions
    }

    fn notion(&mut self, notion: Notion, name: &str) -> usize {
        if let Some(&number) = self.notions.get(&notion) {
            return number;
        }
        let name = self.stems_of(name);
        let number = self.translations.of.len();
        self.translations.of.push(Translation { name, ..Translation::default() });
        self.notions.insert(notion, number);
        number
    }

    fn stems_of(&mut self, text: &str) -> Vec<u32> {
        let mut stems = Vec::new();
        for word in tokenize(text) {
            let next = self.stems.len() as u32;
            let stem = *self.stems.entry(stem(&word)).or_insert(next);
            if stem == next {
                self.translations.common.push(0.0);
            }
            stems.push(stem);
        }
        stems
    }
}

impl Translations {
    /// `t(w | a)`.
    fn probability(&self, notion: usize, word: u32) -> f64 {
        let Translation { name, counts, total } = &self.of[notion];
        let mut over = counts.get(&word).copied().unwrap_or(0.0) + self.common[word as usize];
        let mut under = total + 1.0;
        if !name.is_empty() {
            over += name.iter().filter(|own| **own == word).count() as f64 / name.len() as f64;
            under += 1.0;
        }
        over / under
    }

    /// `log p(x | y)` of the words of a question and the notions of a program.
    fn log_probability(&self, words: &[u32], notions: &[usize]) -> f64 {
        let any = |word: &u32| {
            let sum: f64 = notions.iter().map(|&notion| self.probability(notion, *word)).sum();
            (sum / notions.len() as f64).max(UNHEARD_OF).ln()
        };
        words.iter().map(any).sum()
    }

    /// Counts how often each word is said because of each notion, as far as `t` can tell.
    fn count_again(&mut self, pairs: &[(Vec<u32>, Vec<usize>)]) {
        let mut counts: Vec<FxHashMap<u32, f64>> = vec![FxHashMap::default(); self.of.len()];
        let mut totals = vec![0.0; self.of.len()];
        for (words, notions) in pairs {
            for &word in words {
                let shares: Vec<f64> = notions.iter().map(|&notion| self.probability(notion, word)).collect();
                let sum = shares.iter().sum::<f64>().max(UNHEARD_OF);
                for (&notion, share) in notions.iter().zip(shares) {
                    *counts[notion].entry(word).or_default() += share / sum;
                    totals[notion] += share / sum;
                }
            }
        }
        for ((translation, counts), total) in self.of.iter_mut().zip(counts).zip(totals) {
            (translation.counts, translation.total) = (counts, total);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: usize = 0;
    const MEETING: usize = 1;
    const LATEST: usize = 2;
    const OFFICE: usize = 3;
    const NAMES: [&[u32]; 4] = [&[], &[], &[], &[4]];

    /// Words: the 0, meeting 1, last 2, where 3, office 4.
    fn learned() -> Translations {
        let of = NAMES.map(|name| Translation { name: name.to_vec(), ..Translation::default() });
        let mut translations = Translations { common: vec![0.4, 0.2, 0.2, 0.1, 0.1], of: of.into() };
        let pairs = [
            (vec![0, 1], vec![NOTHING, MEETING]),
            (vec![0, 2, 1], vec![NOTHING, MEETING, LATEST]),
            (vec![3, 0, 1], vec![NOTHING, MEETING]),
        ];
        for _ in 0..ROUNDS {
            translations.count_again(&pairs);
        }
        translations
    }

    #[test]
    fn what_a_notion_says_adds_up_to_one() {
        let translations = learned();
        for notion in 0..NAMES.len() {
            let sum: f64 = (0..5).map(|word| translations.probability(notion, word)).sum();
            assert!((sum - 1.0).abs() < 1e-12, "{notion}: {sum}");
        }
    }

    #[test]
    fn words_go_to_the_notions_they_come_with() {
        let translations = learned();
        assert!(translations.probability(LATEST, 2) > 2.0 * translations.probability(MEETING, 2));
        assert!(translations.probability(MEETING, 1) > 2.0 * translations.probability(LATEST, 1));
        // "the last meeting" wants LATEST, "the meeting" does not.
        let likelier = |words: &[u32]| {
            translations.log_probability(words, &[NOTHING, MEETING, LATEST])
                > translations.log_probability(words, &[NOTHING, MEETING])
        };
        assert!(likelier(&[0, 2, 1]) && !likelier(&[0, 1]));
    }

    #[test]
    fn what_no_label_has_is_known_by_its_name() {
        let translations = learned();
        let explained = translations.log_probability(&[4], &[NOTHING, OFFICE]);
        assert!(explained > translations.log_probability(&[4], &[NOTHING, LATEST]) + 0.5);
    }

    #[test]
    fn nothing_to_learn_from_is_nothing_to_say() {
        let translations = Translations { common: vec![0.0], of: vec![Translation::default()] };
        assert!(translations.log_probability(&[0], &[NOTHING]).is_finite());
        assert_eq!(translations.log_probability(&[], &[NOTHING]), 0.0);
    }
}
