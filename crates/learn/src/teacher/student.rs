//! The parser in training, reading one batch.

use xpr_nn::{Gradients, Random};
use xpr_parser::{Candidate, Question, Reading, Shards, TrainableParser, WeightedProgram};

/// A parser in training, and the batch of a step: labeled questions, then unlabeled ones.
///
/// The encoder reads each question once. If a teacher searches with dropout, the reading is kept, and the gradient is taken
/// with the same dropped elements, as in the authors' code.
pub struct Student<'a> {
    step: usize,
    parser: &'a dyn TrainableParser,
    questions: Vec<&'a Question>,
    /// The number of actions of each labeled question's program.
    labeled_actions: Vec<usize>,
    dropout: Random,
    shards: Shards,
    reading: Option<Box<dyn Reading + 'a>>,
}

impl<'a> Student<'a> {
    /// Creates the student of a step. `labeled` holds questions with the number of actions of their program.
    pub(crate) fn new(
        step: usize,
        parser: &'a dyn TrainableParser,
        labeled: impl IntoIterator<Item = (&'a Question, usize)>,
        unlabeled: impl IntoIterator<Item = &'a Question>,
        (dropout, shards): (Random, Shards),
    ) -> Self {
        let (mut questions, labeled_actions): (Vec<&Question>, Vec<usize>) = labeled.into_iter().unzip();
        questions.extend(unlabeled);
        Student { step, parser, questions, labeled_actions, dropout, shards, reading: None }
    }

    /// Returns the number of the step, from 0.
    pub fn step(&self) -> usize {
        self.step
    }

    /// Returns whether this process searches programs for an unlabeled question. Other ranks search for the others, and their lessons replace
    /// whatever a teacher says about them here.
    pub fn searches(&self, question: usize) -> bool {
        self.reading.as_ref().is_none_or(|reading| reading.has(self.labeled_actions.len() + question))
    }

    /// Returns whether each rank searches programs for some of the questions. Otherwise each searches for all of them.
    pub(crate) fn is_divided(&self) -> bool {
        self.reading.is_some()
    }

    /// Searches programs for the unlabeled questions, most probable first, without dropout.
    pub fn search(&self, beam: usize) -> Vec<Vec<Candidate>> {
        self.parser.candidates(&self.questions[self.labeled_actions.len()..], beam)
    }

    /// Searches programs for the unlabeled questions, most probable first, with the dropout of this step. Finds none for questions of other ranks.
    pub fn search_with_dropout(&mut self, beam: usize) -> Vec<Vec<Candidate>> {
        let labeled = self.labeled_actions.len();
        // A beam holds programs about as long as the question.
        let beam_work = self.questions[labeled..].iter().map(|question| beam * question.word_count().max(1));
        let work: Vec<usize> = self.labeled_actions.iter().copied().chain(beam_work).collect();
        let mut reading = self.parser.read(&self.questions, &work, self.dropout, self.shards.clone());
        let candidates = reading.candidates(labeled..self.questions.len(), beam);
        self.reading = Some(reading);
        candidates
    }

    /// Computes the gradient of `Σ weight · log p(program | question)`, and returns the log-probabilities of the programs.
    pub(crate) fn gradient(
        mut self,
        programs: &[WeightedProgram<'_>],
        gradients: &mut Gradients,
    ) -> Vec<f32> {
        let reading = self.reading.take().unwrap_or_else(|| {
            let mut work = vec![0; self.questions.len()];
            for program in programs {
                work[program.question] += program.program.actions().len();
            }
            self.parser.read(&self.questions, &work, self.dropout, self.shards.clone())
        });
        reading.gradient(programs, gradients)
    }
}

impl std::fmt::Debug for Student<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Student").field("questions", &self.questions.len()).finish_non_exhaustive()
    }
}
