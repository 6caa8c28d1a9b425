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

use crate::committee::{flattened, weigh};
use crate::{LabeledExample, Task};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::sync::{Mutex, PoisonError};
use xpr_lang::{Action, Program};
use xpr_parser::{Candidate, Model, Parser, Question, stem, tokenize};

/// `p(x | y)`, learned from labeled questions.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Channel {
    words: FxHashMap<String, u32>,
    notions: Notions,
    translations: Translations,
}

/// What a word may be said because of, and its number; 0 is nothing.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Notions {
    /// By the rule's index.
    rules: FxHashMap<usize, usize>,
    /// By the item's symbol: the same value is the same notion in every question. Columns go by their names: two populations are
    /// spoken of alike, and their tables, which programs name as well, tell them apart.
    items: FxHashMap<String, usize>,
}

/// `t`, with words and notions as numbers.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Translations {
    /// How common each word is, labeled or not.
    common: Vec<f64>,
    /// How common a word is taken for that nobody ever said.
    rare: f64,
    of: Vec<Translation>,
}

/// What is said because of a notion.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Translation {
    /// The words of its name.
    name: Vec<u32>,
    counts: FxHashMap<u32, f64>,
    total: f64,
}

/// Where a run keeps it.
pub(crate) const CHANNEL_FILE: &str = "channel.json";

/// How much flatter a parser's probabilities are taken than it gives them when its candidates are weighed: it is too sure of them.
const FLATTENED: f64 = 2.0;

/// Rounds of expectation-maximisation. More do not matter.
const ROUNDS: usize = 8;

/// No word is less likely than this.
const UNHEARD_OF: f64 = 1e-12;

impl Channel {
    /// Learns from labeled questions; `asked` are all that are known, labeled or not.
    pub(crate) fn learn<'q>(
        task: &Task,
        labeled: &[LabeledExample],
        asked: impl IntoIterator<Item = &'q Question>,
    ) -> Self {
        let mut channel = Channel::default();
        channel.translations.of.push(Translation::default());
        let asked: Vec<u32> =
            asked.into_iter().flat_map(|question| channel.words_of(question.stems())).collect();
        channel.translations.rare = 0.5 / asked.len().max(1) as f64;
        for &word in &asked {
            channel.translations.common[word as usize] += 1.0 / asked.len() as f64;
        }
        let pairs: Vec<(Vec<u32>, Vec<usize>)> = labeled
            .iter()
            .map(|LabeledExample { question, program, .. }| {
                (channel.words_of(question.stems()), channel.notions_of(task, question, program))
            })
            .collect();
        for _ in 0..ROUNDS {
            channel.translations.count_again(&pairs);
        }
        channel
    }

    /// `log p(x | y)`.
    pub(crate) fn log_probability(&mut self, task: &Task, question: &Question, program: &Program) -> f64 {
        let notions = self.notions_of(task, question, program);
        let words = self.words_of(question.stems());
        self.translations.log_probability(&words, &notions)
    }

    /// The notions of a program: nothing, and each of its actions. A value that the question named explains its words once,
    /// however often a program repeats it.
    fn notions_of(&mut self, task: &Task, question: &Question, program: &Program) -> Vec<usize> {
        let environment = task.environment(question);
        let items = environment.items();
        let mut notions = vec![0];
        for action in program.actions() {
            let next = self.translations.of.len();
            let (notion, name) = match action {
                Action::Rule(rule) => (*self.notions.rules.entry(rule.index()).or_insert(next), ""),
                Action::Item(item) => {
                    let is_of_another = environment.after(*item).is_some();
                    let item = &items[item.index()];
                    let name = match is_of_another {
                        true => format!("*.{}", item.phrase),
                        false => item.symbol.clone(),
                    };
                    let notion = *self.notions.items.entry(name).or_insert(next);
                    (notion, item.phrase.as_str())
                }
            };
            if notion == next {
                let stems: Vec<String> = tokenize(name).iter().map(|word| stem(word)).collect();
                let name = self.words_of(&stems);
                self.translations.of.push(Translation { name, ..Translation::default() });
            }
            let is_value = matches!(action, Action::Item(item) if question.is_own(*item));
            if !(is_value && notions.contains(&notion)) {
                notions.push(notion);
            }
        }
        notions
    }

    fn words_of(&mut self, stems: &[String]) -> Vec<u32> {
        let mut words = Vec::with_capacity(stems.len());
        for stem in stems {
            let next = self.words.len() as u32;
            let word = self.words.get(stem).copied().unwrap_or(next);
            if word == next {
                self.words.insert(stem.clone(), next);
                self.translations.common.push(0.0);
            }
            words.push(word);
        }
        words
    }
}

impl Translations {
    /// `t(w | a)`.
    fn probability(&self, notion: usize, word: u32) -> f64 {
        let Translation { name, counts, total } = &self.of[notion];
        let mut over = counts.get(&word).copied().unwrap_or(0.0);
        over += self.common[word as usize].max(self.rare);
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

/// A parser whose candidates are weighed by how well they explain their questions.
#[derive(Debug)]
pub struct Explaining<'m> {
    task: &'m Task,
    model: &'m Model,
    /// It meets new words and values.
    channel: Mutex<Channel>,
    weight: f64,
}

impl<'m> Explaining<'m> {
    /// Weighs what a model finds; the channel counts as much as `weight` says.
    pub fn new(task: &'m Task, model: &'m Model, channel: Channel, weight: f64) -> Self {
        Explaining { task, model, channel: Mutex::new(channel), weight }
    }
}

impl Parser for Explaining<'_> {
    fn candidates(&self, questions: &[&Question], beam: usize) -> Vec<Vec<Candidate>> {
        let found = self.model.candidates(questions, beam);
        if self.weight == 0.0 {
            return found;
        }
        // A channel is whole whatever happened to who held it.
        let mut channel = self.channel.lock().unwrap_or_else(PoisonError::into_inner);
        let both = questions.iter().zip(found);
        both.map(|(question, found)| {
            weigh(flattened(found, FLATTENED), (&mut channel, self.weight), self.task, question)
        })
        .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TaskError;
    use crate::world::World;
    use xpr_exec::{Executor, Outcome};
    use xpr_lang::sql::{Column, ColumnType, Literal, Schema, Sql, SqlEnvironment, Table, Value};
    use xpr_lang::{Environment, Grammar, Language};
    use xpr_parser::Surroundings;

    const NOTHING: usize = 0;
    const MEETING: usize = 1;
    const LATEST: usize = 2;
    const OFFICE: usize = 3;
    const NAMES: [&[u32]; 4] = [&[], &[], &[], &[4]];

    /// Words: the 0, meeting 1, last 2, where 3, office 4.
    fn learned() -> Translations {
        let of = NAMES.map(|name| Translation { name: name.to_vec(), ..Translation::default() });
        let common = vec![0.4, 0.2, 0.2, 0.1, 0.1];
        let mut translations = Translations { common, rare: 0.0, of: of.into() };
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

    /// Cities and states, and a question's Austin; nothing is run.
    #[derive(Debug)]
    struct Atlas {
        language: Sql,
        environment: SqlEnvironment,
    }

    impl World for Atlas {
        fn language(&self) -> &dyn Language {
            &self.language
        }
        fn environment(&self) -> &dyn Environment {
            &self.environment
        }
        fn runner(&self) -> Result<Box<dyn Executor + '_>, TaskError> {
            unreachable!("a channel runs nothing")
        }
        fn surroundings(&self, _: &str, grammar: &Grammar) -> Option<Surroundings> {
            let fixed = self.environment.fixed_items();
            let austin = Value::new(Literal::text("austin"), "austin");
            let environment = self.environment.with_values(&self.language, &[austin]);
            let grammar = grammar.with_items(&environment.items()[fixed..]);
            let shared = (0..fixed as u32).collect();
            Some(Surroundings { environment: Box::new(environment), grammar, shared })
        }
        fn answers(&self, gold: &Outcome, guess: &Outcome) -> bool {
            gold == guess
        }
    }

    #[test]
    fn notions_are_what_people_speak_of() {
        let table = |name: &str| Table {
            name: name.to_owned(),
            columns: [("name", ColumnType::Text), ("population", ColumnType::Number)]
                .map(|(name, ty)| Column { name: name.into(), ty })
                .into(),
            primary_key: vec![],
            foreign_keys: vec![],
        };
        let language = Sql::new(Schema { tables: vec![table("city"), table("state")] });
        let environment = SqlEnvironment::new(&language);
        let task = Task::new(Box::new(Atlas { language, environment }), []).unwrap();
        let question = task.question("how many people live in austin");
        let mut channel = Channel::default();
        channel.translations.of.push(Translation::default());
        let mut notions = |text: &str| {
            let program = task.read(text, &question).unwrap();
            channel.notions_of(&task, &question, &program)
        };
        let of_city = notions("SELECT population FROM city WHERE name = 'austin'");
        let of_state = notions("SELECT population FROM state WHERE name = 'austin'");
        // The two populations are one notion and so are the names; what differs is the table.
        let differ = of_city.iter().zip(&of_state).filter(|(left, right)| left != right).count();
        assert_eq!((of_city.len(), differ), (of_state.len(), 1));
        // Saying Austin twice explains no more than saying it once.
        let twice = notions("SELECT population FROM city WHERE name = 'austin' OR name = 'austin'");
        let austin = channel.notions.items["'austin'"];
        assert_eq!(twice.iter().filter(|notion| **notion == austin).count(), 1);
    }

    #[test]
    fn nothing_to_learn_from_is_nothing_to_say() {
        let translations = Translations { common: vec![0.0], rare: 0.0, of: vec![Translation::default()] };
        assert!(translations.log_probability(&[0], &[NOTHING]).is_finite());
        assert_eq!(translations.log_probability(&[], &[NOTHING]), 0.0);
    }
}
