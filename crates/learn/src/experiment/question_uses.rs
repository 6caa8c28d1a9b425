//! How a run uses the questions that have labels: which it learns from, and which it is evaluated on.
//!
//! The settings divide the questions by their positions in a file, after a shuffle. People add, correct and remove labels while a run
//! exists, and after that the positions name other questions. So a run keeps what each question is for, and every later use of the run
//! (evaluating, teaching, improving) finds its questions by their content.

use super::data_record::DataRecord;
use super::error::ExperimentError;
use crate::task::dataset::Examples;
use crate::task::division::Division;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use xpr_data::Example;
use xpr_run::{Config, Manifest, RunError, RunFile, RunFolder, fingerprint, question_key};

/// What a question is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum QuestionUse {
    /// The parser learns it with its program.
    Labeled,
    /// The parser learns it without its program.
    Unlabeled,
    /// The parser is evaluated on it, and never learns it.
    Evaluated,
    /// The parser is evaluated on it, and learns it without its program.
    Transductive,
    /// The parser is evaluated on it, and nobody knows whether it learned it.
    Uncertain,
    /// The parser learned it later, by `xpr teach` or `xpr improve`. It is not evaluated on it, whatever its label.
    Learned,
}

impl QuestionUse {
    fn is_evaluated(self) -> bool {
        matches!(self, QuestionUse::Evaluated | QuestionUse::Transductive | QuestionUse::Uncertain)
    }
}

/// A line of `questions.jsonl`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct UsedQuestion {
    /// The fingerprint of the words of the question.
    question: String,
    /// The fingerprint of the text of the question and its program; none of a question that was learned later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    /// What it is for.
    used: QuestionUse,
}

impl UsedQuestion {
    fn of(example: &Example, used: QuestionUse) -> Self {
        let Example { utterance, program } = example;
        let label = Some(fingerprint([utterance.as_str(), program.as_str()]));
        UsedQuestion { question: question_fingerprint(utterance), label, used }
    }
}

fn question_fingerprint(utterance: &str) -> String {
    fingerprint([question_key(utterance).as_str()])
}

/// The questions of a run by their use: the content of `questions.jsonl`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct QuestionUses(Vec<UsedQuestion>);

impl QuestionUses {
    /// Returns the record of a division.
    pub(super) fn of(division: &Division) -> Self {
        let Division { labeled, unlabeled, evaluated } = division;
        let mut tested: HashMap<(&str, &str), usize> = HashMap::new();
        for example in evaluated {
            *tested.entry((&example.utterance, &example.program)).or_default() += 1;
        }
        let mut transductive: HashMap<(&str, &str), usize> = HashMap::new();
        let mut lines: Vec<UsedQuestion> =
            labeled.iter().map(|example| UsedQuestion::of(example, QuestionUse::Labeled)).collect();
        for example in unlabeled {
            let pair = (example.utterance.as_str(), example.program.as_str());
            let used = match tested.get_mut(&pair) {
                Some(count) if *count > 0 => {
                    *count -= 1;
                    *transductive.entry(pair).or_default() += 1;
                    QuestionUse::Transductive
                }
                _ => QuestionUse::Unlabeled,
            };
            lines.push(UsedQuestion::of(example, used));
        }
        for example in evaluated {
            let pair = (example.utterance.as_str(), example.program.as_str());
            match transductive.get_mut(&pair) {
                Some(count) if *count > 0 => *count -= 1,
                _ => lines.push(UsedQuestion::of(example, QuestionUse::Evaluated)),
            }
        }
        QuestionUses(lines)
    }

    /// Adds questions that the parser learned since.
    pub(super) fn with_learned<'q>(mut self, utterances: impl IntoIterator<Item = &'q str>) -> Self {
        let learned = utterances.into_iter().map(|utterance| UsedQuestion {
            question: question_fingerprint(utterance),
            label: None,
            used: QuestionUse::Learned,
        });
        self.0.extend(learned);
        self
    }

    /// Marks what is evaluated as perhaps learned.
    fn uncertain(mut self) -> Self {
        for line in self.0.iter_mut().filter(|line| line.used == QuestionUse::Evaluated) {
            line.used = QuestionUse::Uncertain;
        }
        self
    }

    /// Writes the record to the folder of a run.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(super) fn write(&self, folder: &RunFolder) -> Result<(), RunError> {
        folder.write_json_lines(RunFile::Questions, &self.0)
    }

    /// Reads the record of a run. Returns nothing if an earlier version trained the run.
    ///
    /// # Errors
    /// If the file cannot be read, or is not the one that training wrote.
    fn read(folder: &RunFolder) -> Result<Option<Self>, RunError> {
        let manifest = Manifest::read(folder)?;
        let is_listed = manifest.as_ref().is_some_and(|manifest| manifest.lists(RunFile::Questions));
        if !folder.has(RunFile::Questions) && !is_listed {
            return Ok(None);
        }
        let lines = folder.read_checked_json_lines(RunFile::Questions, manifest.as_ref())?;
        Ok(Some(QuestionUses(lines)))
    }

    /// Divides the examples of today as the record says.
    ///
    /// An example is recognised by its text and program, or else by its words: its program was corrected. One that is not in the record is
    /// a new label, and so is one that the parser learned later. What is a label now is not evaluated. The order is that of the record.
    fn divide(&self, examples: Examples, is_held_out: bool) -> Division {
        let Examples { train, test, canonical, .. } = examples;
        let is_tested = |line: &&UsedQuestion| line.used.is_evaluated();
        let learned: HashSet<&str> =
            self.0.iter().filter(|line| line.label.is_none()).map(question).collect();
        let known = self.0.iter().filter(|line| line.label.is_some());
        let mut of_training = Unmatched::new(known.filter(|line| is_held_out || !is_tested(line)));
        let uses = of_training.uses(&train, &learned);
        let mut train: Vec<(Option<Match>, Example)> = uses.into_iter().zip(train).collect();
        train.sort_by_key(|(found, _)| found.map_or(usize::MAX, |found| found.line));

        let mut division = Division { labeled: canonical, unlabeled: vec![], evaluated: vec![] };
        let mut new_labels: HashSet<String> = learned.iter().map(|&key| key.to_owned()).collect();
        for (found, example) in train {
            match found.map(|found| found.used) {
                Some(QuestionUse::Labeled) => division.labeled.push(example),
                Some(QuestionUse::Unlabeled) => division.unlabeled.push(example),
                Some(QuestionUse::Transductive) => {
                    division.unlabeled.push(example.clone());
                    division.evaluated.push(example);
                }
                Some(QuestionUse::Evaluated | QuestionUse::Uncertain) => division.evaluated.push(example),
                Some(QuestionUse::Learned) | None => {
                    new_labels.insert(question_fingerprint(&example.utterance));
                    division.labeled.push(example);
                }
            }
        }
        if !is_held_out {
            let labeled = self.0.iter().filter(|line| line.used == QuestionUse::Labeled);
            let labeled: HashSet<&str> = labeled.map(question).collect();
            let uses = Unmatched::new(self.0.iter().filter(is_tested)).uses(&test, &learned);
            let was_learned =
                |example: &Example| labeled.contains(question_fingerprint(&example.utterance).as_str());
            let tested = test.into_iter().zip(uses);
            division.evaluated = tested
                .filter(|(example, found)| found.is_some() || !was_learned(example))
                .map(|(example, _)| example)
                .collect();
        }
        division.evaluated.retain(|example| !new_labels.contains(&question_fingerprint(&example.utterance)));
        division
    }

    /// Returns the number of questions that the run was evaluated on, and of those that it may have learned.
    fn evaluated(&self) -> (usize, usize) {
        let count = |is: fn(QuestionUse) -> bool| self.0.iter().filter(|line| is(line.used)).count();
        (count(QuestionUse::is_evaluated), count(|used| used == QuestionUse::Uncertain))
    }
}

fn question(line: &UsedQuestion) -> &str {
    &line.question
}

/// What an example was recognised as.
#[derive(Clone, Copy, Debug)]
struct Match {
    /// The position of the line, or one after all lines.
    line: usize,
    used: QuestionUse,
}

/// The lines of a record that no example was recognised as yet.
struct Unmatched<'l> {
    lines: Vec<Option<QuestionUse>>,
    labels: HashMap<&'l str, Vec<usize>>,
    questions: HashMap<&'l str, Vec<usize>>,
}

impl<'l> Unmatched<'l> {
    fn new(lines: impl Iterator<Item = &'l UsedQuestion>) -> Self {
        let (mut uses, mut labels, mut questions) = (Vec::new(), HashMap::new(), HashMap::new());
        for line in lines {
            if let Some(label) = &line.label {
                labels.entry(label.as_str()).or_insert_with(Vec::new).push(uses.len());
            }
            questions.entry(line.question.as_str()).or_insert_with(Vec::new).push(uses.len());
            uses.push(Some(line.used));
        }
        // The first comes first.
        labels.values_mut().chain(questions.values_mut()).for_each(|lines: &mut Vec<usize>| lines.reverse());
        Unmatched { lines: uses, labels, questions }
    }

    /// Returns what each example is recognised as, if it is in the record. The same label has precedence over the same question.
    fn uses(&mut self, examples: &[Example], learned: &HashSet<&str>) -> Vec<Option<Match>> {
        let lines: Vec<UsedQuestion> =
            examples.iter().map(|example| UsedQuestion::of(example, QuestionUse::Learned)).collect();
        let Unmatched { lines: unmatched, labels, questions } = self;
        let mut take = |indices: Option<&mut Vec<usize>>| {
            let indices = indices?;
            let take = |line: usize| unmatched[line].take().map(|used| Match { line, used });
            std::iter::from_fn(|| indices.pop()).find_map(take)
        };
        let mut uses: Vec<Option<Match>> = lines
            .iter()
            .map(|line| match learned.contains(line.question.as_str()) {
                true => Some(Match { line: usize::MAX, used: QuestionUse::Learned }),
                false => take(labels.get_mut(line.label.as_deref()?)),
            })
            .collect();
        for (line, used) in lines.iter().zip(&mut uses) {
            *used = used.or_else(|| take(questions.get_mut(line.question.as_str())));
        }
        uses
    }
}

/// The examples of a run by their use, and how sure that is.
pub(super) struct RunDivision {
    /// The examples.
    pub(super) division: Division,
    /// The record that goes with it.
    pub(super) uses: QuestionUses,
    /// Whether it is known that the parser never learned what it is evaluated on.
    pub(super) is_known: bool,
    /// What the user should know about it.
    pub(super) notes: Vec<String>,
}

impl RunDivision {
    /// Divides the examples that the settings name now as training divided them.
    ///
    /// # Errors
    /// If the record of the run cannot be read or, where there is none, there are too few examples.
    pub(super) fn new(
        folder: &RunFolder,
        config: &Config,
        examples: Examples,
    ) -> Result<Self, ExperimentError> {
        let Some(uses) = QuestionUses::read(folder)? else {
            return RunDivision::by_position(folder, config, examples);
        };
        // While nothing has changed, the division and the order are those of training.
        if let Ok(division) = Division::of_experiment(config, examples.clone())
            && QuestionUses::of(&division) == uses
        {
            return Ok(RunDivision { division, uses, is_known: true, notes: vec![] });
        }
        let division = uses.divide(examples, config.data.held_out > 0);
        let (recorded, uncertain) = uses.evaluated();
        let mut notes = Vec::new();
        if uncertain > 0 {
            notes.push(perhaps_learned(folder));
        }
        let gone = recorded.saturating_sub(division.evaluated.len());
        if gone > 0 {
            notes.push(format!(
                "{gone} of the {recorded} test questions of the training are not tested: they are labels to learn from now, or gone"
            ));
        }
        Ok(RunDivision { division, uses, is_known: uncertain == 0, notes })
    }

    /// Divides the examples of a run without a record by their positions. That is right if they are those it was trained on.
    fn by_position(folder: &RunFolder, config: &Config, examples: Examples) -> Result<Self, ExperimentError> {
        // The test questions of a file of their own do not depend on positions.
        let is_known = config.data.held_out == 0 || DataRecord::has_examples(folder, &examples)?;
        let division = Division::of_experiment(config, examples)?;
        let uses = QuestionUses::of(&division);
        Ok(match is_known {
            true => RunDivision { division, uses, is_known, notes: vec![] },
            false => RunDivision {
                division,
                uses: uses.uncertain(),
                is_known,
                notes: vec![perhaps_learned(folder)],
            },
        })
    }

    /// Makes a question a lesson: a parser that goes on from that of the run learns it, and all labels. Removes it from what is evaluated.
    pub(super) fn teach(&mut self, utterance: &str) {
        let key = question_key(utterance);
        let evaluated = self.division.evaluated.len();
        self.division.evaluated.retain(|example| question_key(&example.utterance) != key);
        if self.division.evaluated.len() < evaluated {
            let note = "the question was a test question until now; the taught parser is not tested on it";
            self.notes.push(note.to_owned());
        }
        let learned = self.uses.0.iter().filter(|line| line.used == QuestionUse::Learned).cloned();
        let QuestionUses(mut lines) = QuestionUses::of(&self.division);
        lines.extend(learned);
        let uses = QuestionUses(lines).with_learned([utterance]);
        self.uses = if self.is_known { uses } else { uses.uncertain() };
    }
}

/// Returns a note about a run that does not say what it learned.
fn perhaps_learned(folder: &RunFolder) -> String {
    format!(
        "{} does not say which questions it learned from, because an earlier version of xpr trained it, and its labels have changed \
         since; it may have learned some of its test questions. Train again to know",
        folder.folder().display()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use xpr_run::HeldOut;

    fn example(utterance: &str, program: &str) -> Example {
        Example { utterance: utterance.to_owned(), program: program.to_owned() }
    }

    fn examples(train: &[Example]) -> Examples {
        Examples { train: train.to_vec(), test: vec![], canonical: vec![], bare: vec![] }
    }

    fn held_out(count: usize, from: HeldOut, fraction: f64) -> Config {
        let mut config = Config::default();
        config.data.held_out = count;
        config.data.held_out_from = from;
        config.data.fraction = fraction;
        config
    }

    fn utterances(part: &[Example]) -> Vec<&str> {
        part.iter().map(|example| example.utterance.as_str()).collect()
    }

    /// Issue 18: after a label was added or removed, a run was tested on other questions, which it had learned.
    #[test]
    fn what_a_question_is_for_does_not_depend_on_the_other_labels() {
        let all: Vec<Example> =
            (0..12).map(|number| example(&format!("question {number}"), "SELECT 1")).collect();
        for (from, fraction) in [(HeldOut::Labeled, 1.0), (HeldOut::Rest, 0.5), (HeldOut::Transductive, 0.5)]
        {
            let config = held_out(3, from, fraction);
            let trained = Division::of_experiment(&config, examples(&all)).unwrap();
            let uses = QuestionUses::of(&trained);
            let same = uses.divide(examples(&all), true);
            assert_eq!(
                [&same.labeled, &same.unlabeled, &same.evaluated],
                [&trained.labeled, &trained.unlabeled, &trained.evaluated]
            );
            // In any order, with new labels, and with any one missing.
            for missing in 0..all.len() {
                let mut today: Vec<Example> = all.iter().rev().cloned().collect();
                today.retain(|example| example != &all[missing]);
                today.insert(4, example("a new question", "SELECT 2"));
                let now = uses.divide(examples(&today), true);
                let is_left = |example: &&Example| *example != &all[missing];
                let left = |part: &[Example]| part.iter().filter(is_left).cloned().collect::<Vec<_>>();
                assert_eq!(now.evaluated, left(&trained.evaluated));
                assert_eq!(now.unlabeled, left(&trained.unlabeled));
                let labeled = [left(&trained.labeled), vec![today[4].clone()]].concat();
                assert_eq!(now.labeled, labeled);
            }
        }
    }

    #[test]
    fn corrected_labels_keep_their_use_and_repeated_questions_are_told_apart() {
        let trained = [example("who", "SELECT 1"), example("what", "SELECT 2"), example("Who?", "SELECT 3")];
        let config = held_out(1, HeldOut::Labeled, 1.0);
        let uses = QuestionUses::of(&Division::of_experiment(&config, examples(&trained)).unwrap());
        let evaluated = |today: &[Example]| {
            let division = uses.divide(examples(today), true);
            division.evaluated.into_iter().map(|example| example.program).collect::<Vec<_>>()
        };
        assert_eq!(evaluated(&trained), ["SELECT 3"]);
        let corrected =
            [example("Who?", "SELECT 4"), example("who", "SELECT 1"), example("what", "SELECT 5")];
        assert_eq!(evaluated(&corrected), ["SELECT 4"]);
        // Somebody added a label for the held-out question: the next training learns it.
        let added = [&trained[..], &[example("who", "SELECT 6")]].concat();
        assert!(evaluated(&added).is_empty());
    }

    /// Issue 18: a question that was taught was tested after it.
    #[test]
    fn what_was_learned_later_is_not_evaluated_in_any_file() {
        let train = [example("who", "SELECT 1"), example("what", "SELECT 2"), example("when", "SELECT 3")];
        let config = held_out(1, HeldOut::Labeled, 1.0);
        let division = Division::of_experiment(&config, examples(&train)).unwrap();
        assert_eq!(utterances(&division.evaluated), ["when"]);
        let uses = QuestionUses::of(&division).with_learned(["When?"]);
        let division = uses.divide(examples(&train), true);
        assert_eq!(utterances(&division.labeled), ["who", "what", "when"]);
        assert!(division.evaluated.is_empty());

        // With test questions in a file of their own, new ones are tested, and none that was learned.
        let tested = |train: &[Example], test: &[&str]| Examples {
            test: test.iter().map(|utterance| example(utterance, "SELECT 4")).collect(),
            ..examples(train)
        };
        let config = held_out(0, HeldOut::Labeled, 1.0);
        let division =
            Division::of_experiment(&config, tested(&train[..2], &["who", "where", "why"])).unwrap();
        let uses = QuestionUses::of(&division).with_learned(["where"]);
        let division = uses.divide(tested(&train, &["who", "where", "why", "what", "how", "when"]), false);
        // "who" was in both files when the parser was trained.
        assert_eq!(utterances(&division.evaluated), ["who", "why", "how"]);
    }

    #[test]
    fn a_run_without_a_record_is_known_only_while_its_data_are_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let run = RunFolder::create(folder.path()).unwrap();
        let train: Vec<Example> = ["a", "b", "c"].map(|name| example(name, "SELECT 1")).to_vec();
        let config = held_out(1, HeldOut::Labeled, 1.0);
        let divide = |train: &[Example]| RunDivision::new(&run, &config, examples(train)).unwrap();
        assert!(!divide(&train).is_known, "nobody knows what it was trained on");
        DataRecord::new(&config, &examples(&train)).unwrap().write(&run).unwrap();
        let mut known = divide(&train);
        assert!(known.is_known && known.notes.is_empty());
        let changed = divide(&train[..2]);
        assert!(
            !changed.is_known && changed.notes[0].contains("it may have learned some of its test questions")
        );
        changed.uses.write(&run).unwrap();
        let recorded = divide(&train[..2]);
        assert!(!recorded.is_known && recorded.notes == changed.notes, "{:?}", recorded.notes);

        known.teach("C?");
        assert!(
            known.division.evaluated.is_empty() && known.notes[0].contains("was a test question until now")
        );
        known.uses.write(&run).unwrap();
        let taught = divide(&train);
        assert!(taught.is_known && taught.division.evaluated.is_empty());
        assert_eq!(taught.division.labeled.len(), 3);

        run.write(RunFile::Questions, b"{\"question\": 1}\n").unwrap();
        let error = RunDivision::new(&run, &config, examples(&train)).err().unwrap().to_string();
        assert!(error.contains("questions.jsonl: line 1: it is not what xpr wrote"), "{error}");
    }
}
