//! Loading the data of an experiment.

use super::asked::AskedExamples;
use super::base::{Base, open_vocabulary};
use super::data_record::DataRecord;
use super::error::ExperimentError;
use super::packed_base;
use super::question_uses::{QuestionUses, RunDivision};
use super::trained::TrainedRun;
use crate::inference::ConfidenceRecord;
use crate::objectives::{self, Objective};
use crate::reward::{Judge, RewardPolicy, Success};
use crate::task::dataset::{Examples, open_world};
use crate::task::division::Division;
use crate::task::{
    ConflictingLabels, FailedLabel, LabeledExample, LeftOut, LoadingWatch, Task, TaskError, TestExample,
    UnlabeledExample, check_length,
};
use crate::teacher::{ChannelLearner, EStep, Ensemble, NoisyChannel, OwnSearch, Paraphrases};
use crate::training::{RandomStream, Trainer};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use xpr_data::{Embeddings, Example};
use xpr_nn::Ranks;
use xpr_parser::{Model, Question, TrainableParser};
use xpr_run::{AskedQuestion, BUILT_IN, Config, Dataset, LearnConfig, Reward, RunFolder};
use xpr_sentence::{SentenceEncoder, SentenceError};
use xpr_text::tokenize;

/// An experiment whose data are loaded.
#[derive(Debug)]
pub struct Experiment {
    config: Config,
    task: Task,
    /// The pretrained parser that training starts from.
    base: Option<Base>,
    embeddings: Embeddings,
    train: Vec<LabeledExample>,
    left_out: Vec<LeftOut>,
    unlabeled: Vec<UnlabeledExample>,
    test: Vec<TestExample>,
    /// What labels ask of a program.
    by_labels: Success,
    data: DataRecord,
    /// What each labeled question is for.
    uses: QuestionUses,
    /// The folder of the ensemble, if it is not in the run's own.
    members: Option<PathBuf>,
    /// The ranks that train together, if there are several.
    ranks: Option<Arc<dyn Ranks>>,
}

impl Experiment {
    /// Loads the data of an experiment.
    ///
    /// # Errors
    /// If the settings or the data have an error.
    pub fn load(config: Config) -> Result<Self, ExperimentError> {
        Experiment::load_watched(config, &mut |_, _, _| {})
    }

    /// Loads the data of an experiment. A large database is read and labeled programs are run, which takes a while, of which `watch` is
    /// told.
    ///
    /// # Errors
    /// If the settings or the data have an error.
    pub fn load_watched(config: Config, watch: &mut LoadingWatch<'_>) -> Result<Self, ExperimentError> {
        Experiment::load_asked(config, &[], &[], watch)
    }

    /// Loads the data of an experiment that also learns from what people asked and said. The questions with the keys `held_out`
    /// ([`question_key`](xpr_run::question_key)) are not learned from in any way, except for those that the project has labels for.
    ///
    /// # Errors
    /// If the settings or the data have an error.
    pub fn load_asked(
        config: Config,
        asked: &[AskedQuestion],
        held_out: &[String],
        watch: &mut LoadingWatch<'_>,
    ) -> Result<Self, ExperimentError> {
        Experiment::load_divided(config, asked, held_out, None, watch)
    }

    /// Loads the data of an experiment as [`Experiment::load_asked`] does, for the next parser of a run. It holds out the questions that the
    /// current parser of the run does, but for those about which people said something. If the settings divide the questions in another way
    /// than those of the run, the settings decide.
    ///
    /// # Errors
    /// If the settings or the data have an error.
    pub fn load_next(
        config: Config,
        asked: &[AskedQuestion],
        held_out: &[String],
        current: &TrainedRun,
        watch: &mut LoadingWatch<'_>,
    ) -> Result<Self, ExperimentError> {
        Experiment::load_divided(config, asked, held_out, Some(current), watch)
    }

    fn load_divided(
        mut config: Config,
        asked: &[AskedQuestion],
        held_out: &[String],
        current: Option<&TrainedRun>,
        watch: &mut LoadingWatch<'_>,
    ) -> Result<Self, ExperimentError> {
        if let Some(name) = &config.learn.objective {
            objectives::named(name)?;
        }
        let base = config.base.is_given().then(|| Base::open(&config.base.folder)).transpose()?;
        if let Some(base) = &base {
            base.check_labels(&config.data)?;
            config.model = base.config.model.clone();
            config.data.embeddings = PathBuf::new();
        }
        let examples = Examples::read(&config.data)?;
        let data = DataRecord::new(&config, &examples);
        let mut words: Vec<String> = examples.questions().flat_map(tokenize).collect();
        let mut bare = examples.bare.clone();
        let mut division = match current.filter(|current| config.data.divides_as(&current.config.data)) {
            Some(current) => RunDivision::new(&current.folder, &config, examples)?.division,
            None => Division::of_experiment(&config, examples)?,
        };
        let mut asked = AskedExamples::new(asked, held_out, &division.labeled);
        if current.is_some() {
            asked.separate_from(&mut division.evaluated);
        }
        let uses = QuestionUses::of(&division).with_learned(asked.learned());
        let Division { labeled, mut unlabeled, evaluated } = division;
        words.extend(asked.questions().flat_map(tokenize));
        bare.retain(|utterance| !asked.replaces(utterance));
        unlabeled.retain(|example| !asked.replaces(&example.utterance));
        let embeddings = match &base {
            Some(base) => base.embeddings().clone(),
            None => open_embeddings(&config.data.embeddings)?,
        };
        // The programs of held-out examples teach nothing, not even constants. The words of all questions are known.
        let all_labels: Vec<Example> = labeled.iter().chain(&asked.labels).cloned().collect();
        let world = open_world(&config, &all_labels, watch)?;
        let task = match config.has_open_vocabulary() {
            true => {
                let vocabulary = open_vocabulary(&embeddings, &*world, words);
                Task::with_vocabulary(world, vocabulary)?
            }
            false => Task::new(world, embeddings.words.iter().cloned().chain(words))?,
        };
        let data = data?.with_grammar(&task);

        let programs = labeled.len() + unlabeled.len() + evaluated.len();
        let watched = Mutex::new((0, watch));
        let done = || {
            let (ran, watch) = &mut *watched.lock().unwrap_or_else(PoisonError::into_inner);
            *ran += 1;
            watch("labeled queries run", *ran, programs);
        };
        let (mut train, left_out) = task.label(&labeled, &done)?;
        let data = data.with_learned(&train);
        let mut left_out = match &base {
            Some(_) => left_out,
            None => checked(&config, &train, left_out, labeled.len())?,
        };
        let (confirmed, unconfirmed) = (asked.labeled(&task)?, asked.unlabeled(&task)?);
        train.extend(confirmed.0);
        left_out.extend(confirmed.1.into_iter().chain(unconfirmed.1));
        let answered = (unlabeled.len() as f64 * config.data.answered).round() as usize;
        let hidden = task.test(&unlabeled, &done)?.into_iter().enumerate();
        let hidden = hidden.map(|(index, example)| UnlabeledExample::hide(example, index < answered));
        let mut unlabeled: Vec<UnlabeledExample> = hidden.collect();
        for utterance in bare {
            match check_length(&utterance) {
                Ok(()) => unlabeled.push(UnlabeledExample::bare(&task, &utterance)),
                Err(long) => left_out.push(LeftOut { utterance, reason: long.into() }),
            }
        }
        unlabeled.extend(unconfirmed.0);
        let test = task.test(&evaluated, &done)?;

        let finds = |example: &LabeledExample| {
            task.finds_something(&task.text(&example.program, &example.question), &example.outcome)
        };
        task.check_unchanged()?;
        // A label that fails says nothing about what right programs find.
        let executed = train.iter().filter(|example| example.outcome.executes());
        let by_labels = match &base {
            Some(base) if train.is_empty() => base.success_by_labels(),
            _ => Success::from_labels(executed.map(finds)),
        };
        let has_channel = base.as_ref().is_some_and(|base| base.channel.is_some());
        if train.is_empty() && !has_channel {
            // A noisy channel is learned from labels.
            config.eval.noisy_channel = 0.0;
            config.learn.noisy_channel = 0.0;
        }
        if train.is_empty() && (config.learn.objective.is_none() || config.learn.ensemble > 0) {
            // There is nothing to learn from: a parser without labels, or one that suggests programs, is the base.
            config.train.steps = 0;
        }
        let data = data.with_settings(config.training_settings()?);
        let mut experiment = Experiment {
            config,
            task,
            base,
            embeddings,
            train,
            left_out,
            unlabeled,
            test,
            by_labels,
            data,
            uses,
            members: None,
            ranks: None,
        };
        // The run records what `auto` is, because its labels may be gone when it is opened again.
        if experiment.config.eval.prefer == Reward::Auto {
            experiment.config.eval.prefer = by_labels.reward();
        }
        // A base that does not fit is reported before anything is trained.
        experiment.base.as_ref().map(|base| base.model(&experiment.task)).transpose()?;
        Ok(experiment)
    }

    /// Returns the settings.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Returns the task.
    pub fn task(&self) -> &Task {
        &self.task
    }

    /// Returns the labeled training examples.
    pub fn train_examples(&self) -> &[LabeledExample] {
        &self.train
    }

    /// Returns the examples that are not learned from.
    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    /// Returns the labeled programs that fail, of training examples and then of test examples.
    pub fn failed_labels(&self) -> impl Iterator<Item = FailedLabel> {
        let train = self.train.iter().filter_map(LabeledExample::failure);
        train.chain(self.test.iter().filter_map(TestExample::failure))
    }

    /// Returns the training questions that have labels with different answers.
    pub fn conflicting_labels(&self) -> Vec<ConflictingLabels> {
        self.task.conflicting_labels(&self.train)
    }

    /// Returns the unlabeled training questions.
    pub fn unlabeled_examples(&self) -> &[UnlabeledExample] {
        &self.unlabeled
    }

    /// Returns the examples to evaluate on: the test examples, or the held-out ones.
    pub fn test_examples(&self) -> &[TestExample] {
        &self.test
    }

    /// Returns what labels ask of a program.
    pub fn success_by_labels(&self) -> Success {
        self.by_labels
    }

    /// Returns the reward policy of the settings.
    pub fn policy(&self) -> RewardPolicy {
        let learn = &self.config.learn;
        RewardPolicy::new(learn.reward, self.by_labels, learn.ensemble > 0)
    }

    /// Returns the objective of the settings, if there is one.
    pub fn objective(&self) -> Option<&'static dyn Objective> {
        let name = self.config.learn.objective.as_deref()?;
        objectives::named(name).ok()
    }

    /// Keeps the members of the ensemble in a folder that several runs share.
    pub fn with_members(self, folder: Option<PathBuf>) -> Self {
        Experiment { members: folder, ..self }
    }

    /// Trains together with other ranks.
    ///
    /// # Errors
    /// If they have other settings or data.
    pub fn with_ranks(self, ranks: Option<Arc<dyn Ranks>>) -> Result<Self, ExperimentError> {
        if let Some(ranks) = &ranks {
            let counts = [self.train.len(), self.unlabeled.len(), self.test.len()];
            let own = format!("{counts:?}\n{}\n{}", env!("CARGO_PKG_VERSION"), self.config.to_toml()?);
            if ranks.gather(own.as_bytes()).iter().any(|other| other != own.as_bytes()) {
                return Err(ExperimentError::OtherRanks);
            }
        }
        Ok(Experiment { ranks, ..self })
    }

    pub(super) fn ranks(&self) -> Option<&Arc<dyn Ranks>> {
        self.ranks.as_ref()
    }

    /// Returns whether this process writes the run: rank 0 does.
    pub(super) fn writes(&self) -> bool {
        self.ranks.as_ref().is_none_or(|ranks| ranks.rank() == 0)
    }

    /// Returns how confidence is estimated without labels: as the base does or, without a base, by what is known from other databases.
    pub(super) fn confidence_of_other_databases(&self) -> ConfidenceRecord {
        self.base.as_ref().map_or_else(ConfidenceRecord::of_other_databases, Base::confidence)
    }

    /// Returns the record of the data.
    pub(super) fn data(&self) -> &DataRecord {
        &self.data
    }

    /// Returns what each labeled question is for.
    pub(super) fn uses(&self) -> &QuestionUses {
        &self.uses
    }

    /// Returns whether a run was trained on the data of this experiment, as far as it recorded them.
    pub fn has_data_of(&self, run: &RunFolder) -> bool {
        self.data.check(run).is_ok()
    }

    pub(super) fn shared_members(&self) -> Option<&Path> {
        self.members.as_deref()
    }

    /// Returns a trainer before its first step.
    pub fn trainer(&self) -> Trainer {
        self.trainer_with(&self.config)
    }

    pub(super) fn trainer_with(&self, config: &Config) -> Trainer {
        Trainer::new(config.train.clone(), &config.learn, self.untrained(config))
            .with_ranks(self.ranks.clone())
    }

    /// Returns a model with its initial weights.
    pub(super) fn untrained(&self, config: &Config) -> Model {
        let seed = config.train.seed;
        let vectors = RandomStream::WordVectors.of(seed);
        let words = match &self.base {
            Some(base) => base.word_table(self.task.vocabulary()),
            None => self.task.word_table(&self.embeddings, config.model.word, vectors),
        };
        let mut model = Model::new(
            config.model.clone(),
            self.task.scene().clone(),
            words,
            RandomStream::Weights.of(seed),
        );
        if let Some(base) = &self.base {
            base.copy_to(model.parameters_mut()).expect("the base was checked when the data were loaded");
        }
        if config.train.words > 0 {
            model.freeze_words(self.frozen_words(config.train.words));
        }
        model
    }

    /// Returns, for each word of the vocabulary, whether it has a pretrained vector and is not among the `trained` most frequent
    /// words of the training questions.
    fn frozen_words(&self, trained: usize) -> Vec<bool> {
        let vocabulary = self.task.vocabulary().words();
        let mut counts = vec![0usize; vocabulary.len()];
        let labeled = self.train.iter().map(|example| &example.question);
        let unlabeled = self.unlabeled.iter().map(|example| &example.question);
        for word in labeled.chain(unlabeled).flat_map(Question::words) {
            counts[*word as usize] += 1;
        }
        let mut order: Vec<usize> = (0..vocabulary.len()).collect();
        order.sort_by_key(|&word| (std::cmp::Reverse(counts[word]), word));
        let mut frozen: Vec<bool> =
            vocabulary.iter().map(|word| self.embeddings.vectors.contains_key(word)).collect();
        order.into_iter().take(trained).for_each(|word| frozen[word] = false);
        frozen
    }

    /// Returns the E-step of the settings, if there is an objective.
    ///
    /// # Errors
    /// If the data cannot be opened.
    pub fn e_step(&self) -> Result<Option<EStep<'_>>, TaskError> {
        let Some(objective) = self.objective() else { return Ok(None) };
        let judge = Judge::new(&self.task, self.policy())?;
        Ok(Some(EStep::new(objective, self.config.learn.fallback, judge)))
    }

    /// Returns the paper's teacher, the parser's own search, if there is an objective.
    ///
    /// # Errors
    /// If the data cannot be opened.
    pub fn own_search(&self) -> Result<Option<OwnSearch<'_>>, TaskError> {
        Ok(self.e_step()?.map(|e_step| OwnSearch::new(e_step, &self.config.learn)))
    }

    /// Returns the parser's own search for the steps after those with the ensemble. What agrees with the ensemble is not rewarded there, but
    /// what is a success by itself.
    pub(super) fn own_search_after_ensemble(&self) -> Result<Option<OwnSearch<'_>>, TaskError> {
        let Some(objective) = self.objective() else { return Ok(None) };
        let learn = &self.config.learn;
        let reward = Some(learn.reward).filter(|reward| *reward != Reward::Agreement).unwrap_or(Reward::Auto);
        let policy = RewardPolicy::new(reward, self.by_labels, false);
        let e_step = EStep::new(objective, learn.fallback, Judge::new(&self.task, policy)?);
        let learn = LearnConfig { weight: learn.own_weight, ..learn.clone() };
        Ok(Some(OwnSearch::new(e_step, &learn)))
    }

    /// Trains a noisy channel on the labels, from that of the base if it has one.
    pub(super) fn noisy_channel(&self) -> NoisyChannel {
        self.noisy_channel_of(&self.train)
    }

    /// Opens the sentence encoder that helps an ensemble, if `learn.encoder` names one.
    ///
    /// # Errors
    /// If the folder is not that of an encoder.
    pub(super) fn paraphrases(&self) -> Result<Option<Paraphrases>, SentenceError> {
        let learn = &self.config.learn;
        if !learn.uses_encoder() {
            return Ok(None);
        }
        let encoder = SentenceEncoder::open(&learn.encoder)?;
        Ok(Some(Paraphrases::new(encoder, learn.paraphrase, &self.task, &self.train)))
    }

    /// Trains a noisy channel on some labels, from that of the base if it has one.
    pub(super) fn noisy_channel_of(&self, labels: &[LabeledExample]) -> NoisyChannel {
        self.channel_learner(labels).learn()
    }

    /// Trains a noisy channel on the labels and on the programs that an ensemble teaches.
    pub(super) fn noisy_channel_with(&self, ensemble: &Ensemble) -> NoisyChannel {
        let mut learner = self.channel_learner(&self.train);
        for (example, best) in self.unlabeled.iter().zip(ensemble.best_programs()) {
            if let Some((program, sureness)) = best {
                learner.suggest(&self.task, &example.question, program, sureness);
            }
        }
        learner.learn()
    }

    fn channel_learner(&self, labels: &[LabeledExample]) -> ChannelLearner {
        // A base knows the frequencies of words from more questions than one database has.
        let mut learner = match self.base.as_ref().and_then(|base| base.channel.as_ref()) {
            Some(of_base) => ChannelLearner::from_channel(of_base),
            None => {
                let mut learner = ChannelLearner::new();
                let labeled = labels.iter().map(|example| &example.question);
                learner.ask(labeled.chain(self.unlabeled.iter().map(|example| &example.question)));
                learner
            }
        };
        learner.label(&self.task, labels);
        learner
    }
}

/// Reads a file of word vectors, if there is one.
pub(super) fn open_embeddings(file: &Path) -> Result<Embeddings, ExperimentError> {
    match file.as_os_str().is_empty() {
        true => Ok(Embeddings::default()),
        false if file == Path::new(BUILT_IN) => packed_base::built_in_vectors(),
        false if !file.exists() => Err(ExperimentError::NoEmbeddings(file.to_owned())),
        false => Ok(Embeddings::open(file)?),
    }
}

/// Checks that there is something to learn from. The grammar must write every program of a benchmark, but not every query of a user.
fn checked(
    config: &Config,
    train: &[LabeledExample],
    mut left_out: Vec<LeftOut>,
    examples: usize,
) -> Result<Vec<LeftOut>, ExperimentError> {
    if config.data.dataset == Dataset::Overnight && !left_out.is_empty() {
        return Err(ExperimentError::LeftOut(left_out.swap_remove(0)));
    }
    if train.is_empty() {
        return Err(ExperimentError::AllLeftOut { examples, first: left_out.into_iter().next() });
    }
    Ok(left_out)
}
