//! The parser of this crate: a relation-aware encoder and a grammar decoder.

use crate::decoder::{Decoder, DecoderMemory};
use crate::encoder::Encoder;
use crate::layers::ModelContext;
use crate::reading::ShardedReading;
use crate::search::Search;
use crate::{
    Candidate, MentionPenalties, ModelConfig, Parser, Question, Reading, Scene, Shards, TrainableParser,
};
use rayon::prelude::*;
use std::sync::{Mutex, MutexGuard, PoisonError};
use xpr_nn::{Matrix, Parameters, Random, Tape};

/// A neural parser for the questions of scenes that share a language and a vocabulary.
///
/// Its parameters depend on the language and the vocabulary, and on no database: items are known by their words, their kind
/// and their relations. So a model that was made with one scene reads the questions of every other scene of the language.
#[derive(Debug)]
pub struct Model {
    config: ModelConfig,
    /// A scene of the language.
    scene: Scene,
    parameters: Parameters,
    encoder: Encoder,
    decoder: Decoder,
    /// What programs lose in search outside of training.
    penalties: Option<MentionPenalties>,
    /// Tapes that are not in use, kept for their buffers.
    tapes: Mutex<Vec<Tape>>,
}

/// The length of the longest program that search finds. No labeled program of the benchmarks is half as long.
const MAX_ACTIONS: usize = 60;

/// The number of questions that are searched together outside of training.
const QUESTIONS_PER_SEARCH: usize = 6;

impl Model {
    /// Returns an untrained model for the language of a scene, whose initial values are drawn from `random`. `words` are the word vectors, a row for
    /// each word of the vocabulary: see [`Vocabulary::table`](crate::Vocabulary::table).
    pub fn new(config: ModelConfig, scene: Scene, words: Matrix, random: Random) -> Self {
        let mut parameters = Parameters::new(random);
        let signatures = scene.grammar().signatures();
        let context = ModelContext { parameters: &parameters, config: &config, scene: &scene };
        // Rules with phrases are a kind of their own, after those of items.
        let item_kinds = signatures.item_kind_count() + usize::from(context.has_rule_phrases());
        let encoder = Encoder::new(&mut parameters, &config, words, item_kinds, scene.relation_kinds());
        let counts = (signatures.rules().len(), signatures.type_count(), scene.relation_kinds());
        let decoder = Decoder::new(&mut parameters, &config, counts);
        Model { config, scene, parameters, encoder, decoder, penalties: None, tapes: Mutex::new(vec![]) }
    }

    /// Freezes word vectors: training does not change them. `frozen` has an element for each word of the vocabulary.
    pub fn freeze_words(&mut self, frozen: Vec<bool>) {
        self.parameters.freeze_rows(self.encoder.words(), frozen);
    }

    /// Sets what programs lose in search, outside of training, for values that they do not use and constants that they invent.
    /// Search then finds other candidates; their probabilities are still the model's.
    pub fn set_penalties(&mut self, penalties: Option<MentionPenalties>) {
        self.penalties = penalties;
    }

    /// Returns the scene that the model was made with.
    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    /// Returns the sizes of the model.
    pub fn config(&self) -> &ModelConfig {
        &self.config
    }

    /// Returns the log-probabilities of programs, without dropout.
    #[cfg(test)]
    pub(crate) fn log_probabilities(
        &self,
        questions: &[&Question],
        programs: &[crate::decoder::TargetProgram<'_>],
    ) -> Vec<f32> {
        let mut tape = self.take_tape(Random::new(0), false);
        let memory = self.encode(&mut tape, questions);
        let scores = self.decoder.score(&mut tape, self.context(), &memory, programs);
        scores.sums(&tape, programs.len())
    }

    pub(crate) fn context(&self) -> ModelContext<'_> {
        ModelContext { parameters: &self.parameters, config: &self.config, scene: &self.scene }
    }

    pub(crate) fn decoder(&self) -> &Decoder {
        &self.decoder
    }

    /// Encodes questions for the decoder.
    pub(crate) fn encode<'q>(&self, tape: &mut Tape, questions: &[&'q Question]) -> DecoderMemory<'q> {
        let batch = self.encoder.encode(tape, self.context(), questions);
        self.decoder.project(tape, self.context(), batch)
    }

    pub(crate) fn search(&self, beam: usize) -> Search<'_> {
        let (context, max_actions) = (self.context(), MAX_ACTIONS);
        Search { decoder: &self.decoder, context, beam, max_actions, penalties: None }
    }

    /// Returns an empty tape, with the buffers of an earlier one if possible.
    pub(crate) fn take_tape(&self, random: Random, training: bool) -> Tape {
        let mut tape = self.unused_tapes().pop().unwrap_or_else(|| Tape::new(random));
        tape.reset(random, training);
        tape
    }

    /// Returns the tapes that are not in use.
    pub(crate) fn unused_tapes(&self) -> MutexGuard<'_, Vec<Tape>> {
        // Tapes are reset before use, so they are fine even if a thread panicked.
        self.tapes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Parser for Model {
    fn candidates(&self, questions: &[&Question], beam: usize) -> Vec<Vec<Candidate>> {
        self.parameters.prepare(false);
        let search = |questions: &[&Question]| {
            let mut tape = self.take_tape(Random::new(0), false);
            let memory = self.encode(&mut tape, questions);
            let all: Vec<usize> = (0..questions.len()).collect();
            let search = Search { penalties: self.penalties, ..self.search(beam) };
            let candidates = search.run(&mut tape, &memory, &all);
            self.unused_tapes().push(tape);
            candidates
        };
        // Groups of a fixed size, so that results do not depend on the number of threads.
        questions.par_chunks(QUESTIONS_PER_SEARCH).map(search).flatten_iter().collect()
    }
}

impl TrainableParser for Model {
    fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    fn parameters_mut(&mut self) -> &mut Parameters {
        &mut self.parameters
    }

    fn read<'a>(
        &'a self,
        questions: &[&'a Question],
        work: &[usize],
        random: Random,
        shards: Shards,
    ) -> Box<dyn Reading + 'a> {
        Box::new(ShardedReading::new(self, questions, work, random, shards))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Vocabulary;
    use crate::decoder::TargetProgram;
    use crate::test_worlds::{tables_with_names, tiny_world};
    use rustc_hash::FxHashMap;
    use xpr_lang::sql::SqlEnvironment;
    use xpr_lang::{Environment, Language, Program};

    /// Questions about different databases in one batch, as in pretraining.
    #[test]
    fn a_question_is_read_the_same_beside_questions_of_other_scenes() {
        let vocabulary =
            Vocabulary::new(["city", "state", "name", "river", "how", "many"].map(str::to_owned));
        let scenes = [&["city", "state"][..], &["river", "city", "lake"]].map(|tables| {
            let language = tables_with_names(tables);
            let environment = SqlEnvironment::new(&language);
            let grammar = language.signatures().grammar(environment.items()).unwrap();
            Scene::new(grammar, &environment, &vocabulary)
        });
        let config =
            ModelConfig { word: 8, hidden: 16, heads: 2, named_relations: true, ..ModelConfig::default() };
        let table = vocabulary.table(config.word, &FxHashMap::default(), Random::new(1));
        let model = Model::new(config, scenes[0].clone(), table, Random::new(1));
        let ask = |index: usize, text: &str| scenes[index].question(text, &vocabulary);
        let questions = [
            ask(0, "how many cities"),
            ask(1, "how many rivers"),
            ask(1, "name the lake"),
            ask(0, "the name of the state"),
        ];
        let all: Vec<&Question> = questions.iter().collect();
        let programs = questions.each_ref().map(|question| {
            let programs: Vec<Program> = question.grammar().programs(4).take(20).collect();
            assert!(programs.len() > 5, "there are few short programs");
            programs
        });
        let together: Vec<Vec<f32>> = (0..all.len())
            .map(|question| {
                let target = |program: &Program| {
                    model.log_probabilities(&all, &[TargetProgram { question, actions: program.actions() }])
                        [0]
                };
                programs[question].iter().map(target).collect()
            })
            .collect();
        for ((question, programs), together) in all.iter().zip(&programs).zip(&together) {
            for (program, together) in programs.iter().zip(together) {
                let target = TargetProgram { question: 0, actions: program.actions() };
                let alone = model.log_probabilities(&[question], &[target])[0];
                assert!((alone - together).abs() < 1e-4, "{alone} is not {together}");
            }
        }
        assert_ne!(together[0], together[3], "questions differ");
    }

    /// Initial values must stay the same in every version, to the last bit: a change would change every trained parser.
    #[test]
    fn initial_values_of_a_seed_never_change() {
        let (grammar, environment) = tiny_world(true);
        let vocabulary = Vocabulary::new(["meeting", "person", "start", "time"].map(str::to_owned));
        let scene = Scene::new(grammar, &environment, &vocabulary);
        let config = ModelConfig {
            word: 6,
            hidden: 8,
            heads: 2,
            layers: 1,
            feed_forward: 10,
            ..ModelConfig::default()
        };
        // The FNV-1a hash of the bits of all parameters in order.
        let hash = |seed| {
            let words = vocabulary.table(config.word, &FxHashMap::default(), Random::new(3));
            let model = Model::new(config.clone(), scene.clone(), words, Random::new(seed));
            let parameters = model.parameters();
            let elements = parameters.ids().flat_map(|id| parameters.value(id).data());
            let bytes = elements.flat_map(|x| x.to_bits().to_le_bytes());
            bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
            })
        };
        assert_eq!([0, 1].map(hash), [16_368_657_527_904_144_382, 9_565_299_505_392_325_723]);
    }
}
