//! Learning a noisy channel from the labels of one task or of many.

use super::{NoisyChannel, Translation, Translations};
use crate::hyperparameters::{CHANNEL_ROUNDS, FEWEST_TASKS_OF_NOTION, LEAST_COUNT_OF_BASE};
use crate::task::{LabeledExample, Task};
use rustc_hash::{FxHashMap, FxHashSet};
use xpr_lang::Program;
use xpr_parser::Question;

/// The labels that a noisy channel is learned from.
#[derive(Clone, Debug)]
pub(crate) struct ChannelLearner {
    channel: NoisyChannel,
    pairs: Vec<ExplainedWords>,
    /// The words of all questions, labeled or not.
    asked: Vec<u32>,
    /// For each notion, the number of tasks whose labels have it.
    tasks_of: FxHashMap<usize, usize>,
}

/// The words of a question, the notions of a program for it, and how much it counts.
pub(super) type ExplainedWords = (Vec<u32>, Vec<usize>, f64);

impl ChannelLearner {
    /// Creates a learner without labels.
    pub(crate) fn new() -> Self {
        let mut channel = NoisyChannel::default();
        channel.translations.of.push(Translation::default());
        ChannelLearner { channel, pairs: vec![], asked: vec![], tasks_of: FxHashMap::default() }
    }

    /// Creates a learner that knows what another channel knows. Labels are counted on top of that.
    pub(crate) fn from_channel(channel: &NoisyChannel) -> Self {
        ChannelLearner { channel: channel.clone(), ..ChannelLearner::new() }
    }

    /// Adds questions from whose words frequencies are counted.
    pub(crate) fn ask<'q>(&mut self, questions: impl IntoIterator<Item = &'q Question>) {
        for question in questions {
            self.asked.extend(self.channel.words_of(question.stems()));
        }
    }

    /// Adds the labels of a task.
    pub(crate) fn label(&mut self, task: &Task, labeled: &[LabeledExample]) {
        let mut seen = FxHashSet::default();
        for LabeledExample { question, program, .. } in labeled {
            let words = self.channel.words_of(question.stems());
            let notions = self.channel.notions_of(task, question, program);
            seen.extend(notions.iter().copied());
            self.pairs.push((words, notions, 1.0));
        }
        for notion in seen {
            *self.tasks_of.entry(notion).or_default() += 1;
        }
    }

    /// Adds a program that a teacher suggests for a question, and how sure it is of it, from 0 to 1.
    pub(crate) fn suggest(&mut self, task: &Task, question: &Question, program: &Program, sureness: f64) {
        let words = self.channel.words_of(question.stems());
        let notions = self.channel.notions_of(task, question, program);
        self.pairs.push((words, notions, sureness));
    }

    /// Returns the channel of one task.
    pub(crate) fn learn(mut self) -> NoisyChannel {
        let Translations { common, rare, .. } = &mut self.channel.translations;
        if !self.asked.is_empty() {
            // What another channel knows of frequencies is about other questions.
            common.iter_mut().for_each(|frequency| *frequency = 0.0);
            *rare = 0.5 / self.asked.len() as f64;
            for &word in &self.asked {
                common[word as usize] += 1.0 / self.asked.len() as f64;
            }
        } else if *rare == 0.0 {
            *rare = 0.5;
        }
        let prior = self.channel.translations.of.clone();
        for _ in 0..CHANNEL_ROUNDS {
            self.channel.translations.update_counts(&self.pairs, &prior);
        }
        self.channel
    }

    /// Returns the channel of many tasks, with the rules of their language and the items that several of them have.
    pub(crate) fn learn_common(self) -> NoisyChannel {
        let tasks_of = self.tasks_of.clone();
        let learned = self.learn();
        let mut common = NoisyChannel { words: learned.words, ..NoisyChannel::default() };
        let Translations { common: frequencies, rare, mut of } = learned.translations;
        let mut kept = |notion: usize, of: &mut Vec<Translation>| {
            let mut translation = std::mem::take(&mut of[notion]);
            translation.counts.retain(|_, count| *count >= LEAST_COUNT_OF_BASE);
            common.translations.of.push(translation);
            common.translations.of.len() - 1
        };
        kept(0, &mut of);
        // In the order of their numbers, so that the same labels give the same file.
        let mut rules: Vec<(usize, usize)> = learned.notions.rules.into_iter().collect();
        rules.sort_unstable();
        let mut items: Vec<(String, usize)> = learned.notions.items.into_iter().collect();
        items
            .retain(|(_, notion)| tasks_of.get(notion).is_some_and(|tasks| *tasks >= FEWEST_TASKS_OF_NOTION));
        items.sort_unstable();
        let rules = rules.into_iter().map(|(rule, notion)| (rule, kept(notion, &mut of))).collect();
        let items = items.into_iter().map(|(name, notion)| (name, kept(notion, &mut of))).collect();
        common.notions.rules = rules;
        common.notions.items = items;
        (common.translations.common, common.translations.rare) = (frequencies, rare);
        common
    }
}
