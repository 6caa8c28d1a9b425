//! What clicks are worth, with the labels of a benchmark in the place of a person.
//!
//! A parser starts with the labels that the experiment gives it, and the other training questions are asked one after the other. The person
//! sees at most [`SimulationSettings::shown`] different answers. If the right one is among them, they pick it; otherwise they say that
//! none is right. Either is one click. After some clicks a new parser is trained on all of them, which shows the answers from then on.
//! The questions that were not asked stay what they were, unlabeled. For comparison, other parsers get as many labels, of the same
//! questions in random order, instead of clicks.
//!
//! Nothing is compared or refused here: every parser answers the test questions, and its accuracy is what it is.

use crate::answers::{ShownAnswers, programs_of_answers, shown_answers};
use crate::error::ImproveError;
use crate::improvement::for_labels;
use crate::news::read_asked;
use crate::simulation_record::SimulationRecord;
use serde::Serialize;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use xpr_data::Example;
use xpr_learn::experiment::{DataComparison, LabeledQuestions, Observer, check_settings};
use xpr_learn::{Experiment, TrainedRun};
use xpr_random::Random;
use xpr_run::{AskedQuestion, Config, Evaluation, RunFile, RunFolder, Said};

/// What a parser learns from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClickSource {
    /// A person gives the program of each question.
    Labels,
    /// A person picks an answer, or says that none is right.
    Answers,
}

/// Which questions a person is asked about first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClickOrder {
    /// In random order.
    Random,
    /// Those first whose answers disagree most.
    Disagreement,
    /// Those first for which another answer than the chosen one is most probably picked.
    Pickable,
}

/// The settings of a simulation.
#[derive(Clone, Debug)]
pub struct SimulationSettings {
    /// The experiment. Its labels are what the first parser knows, and its other training questions are asked.
    pub config: Config,
    /// The folder of the parsers. Those that it has already are not trained again, but must have been trained with the same settings and data.
    pub folder: PathBuf,
    /// The number of seeds, from 0.
    pub seeds: u64,
    /// The numbers of clicks after which a parser is trained, in ascending order.
    pub clicks: Vec<usize>,
    /// The number of different answers that are shown.
    pub shown: usize,
    /// What to compare.
    pub series: Vec<(ClickSource, ClickOrder)>,
}

/// A parser of a simulation.
#[derive(Clone, Debug, Serialize)]
pub struct SimulatedParser {
    /// The seed.
    pub seed: u64,
    /// What it learned from; the first parser of a seed has none.
    pub series: Option<(ClickSource, ClickOrder)>,
    /// The number of clicks, or of labels.
    pub clicks: usize,
    /// The number of clicks that picked an answer.
    pub picked: usize,
    /// The number of these whose program is the labeled one.
    pub exact: usize,
    /// How often it is right about the test questions.
    pub evaluation: Evaluation,
    /// Its folder, with its predictions.
    pub folder: PathBuf,
}

/// The parsers of a simulation.
#[derive(Clone, Debug, Serialize)]
pub struct Simulation {
    /// The numbers of clicks.
    pub clicks: Vec<usize>,
    /// What was compared.
    pub series: Vec<(ClickSource, ClickOrder)>,
    /// The parsers, seed by seed.
    pub parsers: Vec<SimulatedParser>,
}

/// Simulates clicks, and calls `finished` with every parser. Parsers that the folder has already are not trained again.
///
/// # Errors
/// If there are too few questions, or a parser cannot be trained.
pub fn simulate(
    settings: &SimulationSettings,
    observer: &mut dyn Observer,
    finished: &mut dyn FnMut(&SimulatedParser),
) -> Result<Simulation, ImproveError> {
    // Held until the end: two simulations in one folder would train the same parsers.
    let _lock = RunFolder::open_or_create(&settings.folder)?.lock()?;
    SimulationRecord::of(settings).agree(&settings.folder)?;
    let mut parsers = Vec::new();
    for seed in 0..settings.seeds {
        let mut person = Person::new(settings, seed, observer)?;
        let first = person.record(None, 0, &person.first.folder, &[])?;
        finished(&first);
        parsers.push(first);
        for &series in &settings.series {
            let mut asked: Vec<AskedQuestion> = Vec::new();
            let mut folder = person.first.folder.clone();
            for &clicks in &settings.clicks {
                folder = person.click(series, clicks, &mut asked, &folder, observer)?;
                let parser = person.record(Some(series), clicks, &folder, &asked)?;
                finished(&parser);
                parsers.push(parser);
            }
        }
    }
    Ok(Simulation { clicks: settings.clicks.clone(), series: settings.series.clone(), parsers })
}

/// A person who knows the right answers.
struct Person<'s> {
    settings: &'s SimulationSettings,
    config: Config,
    seed: u64,
    first: TrainedRun,
    /// The number of labels of the first parser.
    labels: usize,
    /// The questions that are asked, in random order, with their programs.
    questions: Vec<Example>,
    data: DataComparison,
}

impl<'s> Person<'s> {
    fn new(
        settings: &'s SimulationSettings,
        seed: u64,
        observer: &mut dyn Observer,
    ) -> Result<Self, ImproveError> {
        let mut config = settings.config.clone();
        config.train.seed = seed;
        let folder = settings.folder.join(format!("seed-{seed}")).join("first");
        let mut data = DataComparison::default();
        train(&config, &[], &folder, &mut data, observer)?;
        let first = TrainedRun::open(&folder)?;
        let LabeledQuestions { trained_on, hidden, .. } = first.labeled_questions()?;
        // Questions that nobody can answer are not asked.
        let outcomes = first.task.test(&hidden, &|| {})?;
        let answerable: Vec<Example> = hidden
            .into_iter()
            .zip(outcomes)
            .filter(|(_, test)| test.outcome.executes())
            .map(|(example, _)| example)
            .collect();
        let order = Random::new(seed).stream(ORDER).permutation(answerable.len());
        let mut seen = HashSet::new();
        let questions: Vec<Example> = order
            .into_iter()
            .map(|index| answerable[index].clone())
            .filter(|example| seen.insert(xpr_run::question_key(&example.utterance)))
            .collect();
        let clicks = settings.clicks.last().copied().unwrap_or(0);
        if questions.len() < clicks {
            return Err(ImproveError::TooFewQuestions { questions: questions.len(), clicks });
        }
        Ok(Person { settings, config, seed, first, labels: trained_on.len(), questions, data })
    }

    /// Clicks until there are `clicks` in `asked`, and trains a parser on all of them. Returns its folder.
    fn click(
        &mut self,
        (source, order): (ClickSource, ClickOrder),
        clicks: usize,
        asked: &mut Vec<AskedQuestion>,
        before: &RunFolder,
        observer: &mut dyn Observer,
    ) -> Result<RunFolder, ImproveError> {
        let name = format!("{}-{}-{clicks}", name_of(&source), name_of(&order));
        let place = self.settings.folder.join(format!("seed-{}", self.seed)).join(name);
        if let Ok(trained) = RunFolder::open(&place)
            && trained.is_finished()
        {
            let recorded = read_asked(&trained)?;
            let is_asked_before = recorded.iter().zip(&*asked).all(|(then, now)| then.key() == now.key());
            if recorded.len() != clicks || !is_asked_before {
                return Err(ImproveError::OtherSimulation(place));
            }
            *asked = recorded;
            return train(&self.config_for(asked), asked, &place, &mut self.data, observer);
        }
        let current = TrainedRun::open(before.folder())?;
        let known: HashSet<String> = asked.iter().map(AskedQuestion::key).collect();
        let is_left = |example: &&Example| !known.contains(&xpr_run::question_key(&example.utterance));
        let left: Vec<&Example> = self.questions.iter().filter(is_left).collect();
        let count = clicks - asked.len();
        match source {
            ClickSource::Labels => asked.extend(left[..count].iter().map(|example| AskedQuestion {
                utterance: example.utterance.clone(),
                said: Said::Program { program: example.program.clone() },
            })),
            ClickSource::Answers => asked.extend(self.pick(&current, &left, order, count)?),
        }
        programs_of_answers(&current, asked)?;
        train(&self.config_for(asked), asked, &place, &mut self.data, observer)
    }

    /// Returns the settings of a parser that learns from clicks.
    fn config_for(&self, asked: &[AskedQuestion]) -> Config {
        let confirmed = asked.iter().filter(|asked| asked.said.confirmed().is_some()).count();
        for_labels(self.config.clone(), self.labels + confirmed)
    }

    /// Shows answers to the questions that come first, and returns what the person says.
    fn pick(
        &self,
        current: &TrainedRun,
        left: &[&Example],
        order: ClickOrder,
        count: usize,
    ) -> Result<Vec<AskedQuestion>, ImproveError> {
        let candidates = if order == ClickOrder::Random { &left[..count] } else { left };
        let utterances: Vec<&str> = candidates.iter().map(|example| example.utterance.as_str()).collect();
        let shown = shown_answers(current, &utterances, self.settings.shown)?;
        let mut questions: Vec<(&Example, ShownAnswers)> = candidates.iter().copied().zip(shown).collect();
        let helps = |answers: &ShownAnswers| match order {
            ClickOrder::Random => 0.0,
            ClickOrder::Disagreement => answers.disagreement,
            ClickOrder::Pickable => answers.pickable,
        };
        questions.sort_by(|left, right| helps(&right.1).total_cmp(&helps(&left.1)));
        let mut executor = current.task.label_executor()?;
        let say = |(example, answers): (&Example, ShownAnswers)| {
            let right = executor.execute(&example.program);
            let is_right = |(_, outcome): &&(String, _)| current.task.is_same_answer(&right, outcome);
            let said = match answers.answers.iter().find(is_right) {
                Some((program, _)) => Said::Answer { program: program.clone() },
                None => Said::NoneOf {
                    programs: answers.answers.iter().map(|(program, _)| program.clone()).collect(),
                },
            };
            AskedQuestion { utterance: example.utterance.clone(), said }
        };
        Ok(questions.into_iter().take(count).map(say).collect())
    }

    fn record(
        &self,
        series: Option<(ClickSource, ClickOrder)>,
        clicks: usize,
        folder: &RunFolder,
        asked: &[AskedQuestion],
    ) -> Result<SimulatedParser, ImproveError> {
        let picked: Vec<&AskedQuestion> =
            asked.iter().filter(|asked| matches!(asked.said, Said::Answer { .. })).collect();
        let exact = picked.iter().filter(|asked| self.is_exact(asked)).count();
        Ok(SimulatedParser {
            seed: self.seed,
            series,
            clicks,
            picked: picked.len(),
            exact,
            evaluation: Evaluation::read(folder)?,
            folder: folder.folder().to_owned(),
        })
    }

    /// Returns whether the program of a confirmed answer is the labeled one.
    fn is_exact(&self, asked: &AskedQuestion) -> bool {
        let label = self.questions.iter().find(|example| example.utterance == asked.utterance);
        let question = self.first.task.question(&asked.utterance);
        let read = |program: &str| self.first.task.read(program, &question).ok();
        label.zip(asked.said.confirmed()).is_some_and(|(label, program)| {
            let label = read(&label.program);
            label.is_some() && label == read(program)
        })
    }
}

/// The stream of random numbers that decides the order of the questions.
const ORDER: u64 = 19;

/// Trains a parser in a folder, or goes on where a process was killed. A parser that is there already is only compared with what is asked for.
fn train(
    config: &Config,
    asked: &[AskedQuestion],
    folder: &Path,
    data: &mut DataComparison,
    observer: &mut dyn Observer,
) -> Result<RunFolder, ImproveError> {
    let is_begun = match RunFolder::open(folder) {
        Ok(run) => {
            check_settings(&run, config, asked)?;
            data.check(&run, config)?;
            if run.is_finished() {
                return Ok(run);
            }
            true
        }
        Err(_) => false,
    };
    let run = match is_begun {
        true => RunFolder::open_locked(folder)?,
        false => {
            // A process that was killed before it wrote the settings leaves it.
            RunFolder::open_or_create(folder)?.remove(RunFile::Asked)?;
            RunFolder::create(folder)?
        }
    };
    if !is_begun {
        run.write_json_lines(RunFile::Asked, asked)?;
    } else if read_asked(&run)? != asked {
        return Err(ImproveError::OtherSimulation(folder.to_owned()));
    }
    let experiment = Experiment::load_asked(config.clone(), asked, &[], &mut |_, _, _| {})?;
    experiment.run(&run, is_begun, observer)?;
    Ok(run)
}

/// Returns the name of a source or an order, as it is in files.
fn name_of(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(name)) => name,
        _ => String::new(),
    }
}
