//! Paraphrases: how near a question is to a sentence that says what a program returns.
//!
//! A question and the sentence of its program mean the same, so a pretrained sentence encoder gives them similar vectors although they
//! share few words. The sentence of a program is a labeled question that has this program, or else its explanation in English. A program
//! is weighted by
//!
//! ```text
//! exp(β cos(s(x), s(y)))
//! ```
//!
//! where `s` is the encoder. The programs of the nearest labeled questions are suggested too, because a parser that knows other words
//! than those of the question may not find them. The encoder is used in training only: what it teaches is learned by a parser that
//! answers in milliseconds.

use crate::hyperparameters::{NEAREST_LABELS, SENTENCES_AT_A_TIME};
use crate::task::{LabeledExample, Task, UnlabeledExample};
use rustc_hash::FxHashMap;
use xpr_lang::Program;
use xpr_nn::Matrix;
use xpr_sentence::SentenceEncoder;

/// A sentence encoder, and the sentences of programs.
#[derive(Debug)]
pub struct Paraphrases {
    encoder: SentenceEncoder,
    /// β, the weight of the similarity.
    weight: f64,
    /// The programs of the labels, as text.
    programs: Vec<String>,
    /// The directions of the labeled questions, in the same order.
    labeled: Vec<Direction>,
    /// The sentences of each program: labeled questions, or the explanation.
    sentences: FxHashMap<String, Vec<Direction>>,
}

/// A vector of length 1.
type Direction = Vec<f32>;

impl Paraphrases {
    /// Encodes the labeled questions of a task. `weight` is β.
    pub fn new(encoder: SentenceEncoder, weight: f64, task: &Task, labels: &[LabeledExample]) -> Self {
        let texts: Vec<&str> = labels.iter().map(|label| label.utterance.as_str()).collect();
        let labeled = directions(&encoder, &texts);
        let programs: Vec<String> =
            labels.iter().map(|label| task.text(&label.program, &label.question)).collect();
        let mut sentences: FxHashMap<String, Vec<Direction>> = FxHashMap::default();
        for (program, direction) in programs.iter().zip(&labeled) {
            sentences.entry(program.clone()).or_default().push(direction.clone());
        }
        Paraphrases { encoder, weight, programs, labeled, sentences }
    }

    /// Returns the direction of each question.
    pub(super) fn encode(&self, examples: &[UnlabeledExample]) -> Vec<Direction> {
        let texts: Vec<&str> = examples.iter().map(|example| example.utterance.as_str()).collect();
        directions(&self.encoder, &texts)
    }

    /// Returns the programs of the nearest labeled questions, each once, with weights that are equal and sum to 1.
    ///
    /// Leaves out programs that cannot be written for this question because they name values that it does not mention.
    pub(super) fn nearest(
        &self,
        task: &Task,
        example: &UnlabeledExample,
        asked: &Direction,
    ) -> Vec<(Program, f64)> {
        let mut nearness: Vec<(f32, &String)> =
            self.labeled.iter().map(|labeled| cosine(asked, labeled)).zip(&self.programs).collect();
        nearness.sort_by(|(left, _), (right, _)| right.total_cmp(left));
        let mut programs: Vec<Program> = Vec::new();
        for (_, text) in nearness {
            if programs.len() == NEAREST_LABELS {
                break;
            }
            match task.read(text, &example.question) {
                Ok(program) if !programs.contains(&program) => programs.push(program),
                _ => {}
            }
        }
        let weight = 1.0 / programs.len().max(1) as f64;
        programs.into_iter().map(|program| (program, weight)).collect()
    }

    /// Multiplies the weight of each program by `exp(β cos(s(x), s(y)))`, up to a constant.
    pub(super) fn reweigh(
        &mut self,
        task: &Task,
        example: &UnlabeledExample,
        asked: &Direction,
        programs: &mut [(Program, f64)],
    ) {
        let texts: Vec<String> =
            programs.iter().map(|(program, _)| task.text(program, &example.question)).collect();
        self.explain(task, example, texts.iter().zip(programs.iter().map(|(program, _)| program)));
        let similarity = |text: &String| {
            let sentences = self.sentences.get(text).map_or(&[][..], Vec::as_slice);
            sentences.iter().map(|sentence| cosine(asked, sentence)).fold(-1.0, f32::max)
        };
        let similarities: Vec<f32> = texts.iter().map(similarity).collect();
        let most = similarities.iter().copied().fold(-1.0, f32::max);
        for ((_, weight), similarity) in programs.iter_mut().zip(similarities) {
            *weight *= (self.weight * f64::from(similarity - most)).exp();
        }
    }

    /// Encodes the explanations of programs that have no sentence yet.
    fn explain<'p>(
        &mut self,
        task: &Task,
        example: &UnlabeledExample,
        programs: impl Iterator<Item = (&'p String, &'p Program)>,
    ) {
        let unknown = programs.filter(|(text, _)| !self.sentences.contains_key(*text));
        let explained = |(text, program)| Some((text, task.explain(program, &example.question)?));
        let explained: Vec<(&String, String)> = unknown.filter_map(explained).collect();
        let sentences: Vec<&str> = explained.iter().map(|(_, sentence)| sentence.as_str()).collect();
        let directions = directions(&self.encoder, &sentences);
        for ((text, _), direction) in explained.iter().zip(directions) {
            self.sentences.insert((*text).clone(), vec![direction]);
        }
    }
}

/// Returns the direction of each text.
fn directions(encoder: &SentenceEncoder, texts: &[&str]) -> Vec<Direction> {
    let encoded = texts.chunks(SENTENCES_AT_A_TIME).map(|chunk| encoder.encode(chunk));
    encoded
        .flat_map(|vectors: Matrix| {
            (0..vectors.rows()).map(|row| direction(vectors.row(row))).collect::<Vec<_>>()
        })
        .collect()
}

fn direction(vector: &[f32]) -> Direction {
    let length = cosine(vector, vector).sqrt().max(f32::MIN_POSITIVE);
    vector.iter().map(|x| x / length).collect()
}

/// Returns the cosine of the angle between two vectors of length 1.
fn cosine(left: &[f32], right: &[f32]) -> f32 {
    left.iter().zip(right).map(|(left, right)| left * right).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_direction_has_length_one_and_is_most_similar_to_itself() {
        let [first, second] = [[3.0, 4.0], [4.0, 3.0]].map(|vector| direction(&vector));
        assert_eq!(first, [0.6, 0.8]);
        assert!((cosine(&first, &first) - 1.0).abs() < 1e-6);
        assert!((cosine(&first, &second) - 0.96).abs() < 1e-6);
        assert_eq!(direction(&[0.0, 0.0]), [0.0, 0.0]);
    }

    mod minilm {
        use super::*;
        use crate::task::KnowledgeWorld;
        use std::path::Path;
        use xpr_data::Example;
        use xpr_exec::overnight;

        /// Opens the model. A relative XPR_MODELS is relative to the workspace.
        fn encoder() -> SentenceEncoder {
            let folder = std::env::var_os("XPR_MODELS")
                .expect("XPR_MODELS names the folder with all-MiniLM-L6-v2, see CONTRIBUTING.md");
            let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
            SentenceEncoder::open(&root.join(folder).join("all-MiniLM-L6-v2")).unwrap()
        }

        fn label(utterance: &str, property: &str) -> Example {
            let program = format!(
                "( call SW.listValue ( call SW.getProperty en.meeting.weekly_standup ( string {property} ) ) )"
            );
            Example { utterance: utterance.to_owned(), program }
        }

        #[test]
        #[ignore = "needs XPR_MODELS, see CONTRIBUTING.md"]
        fn a_question_is_nearest_to_the_label_that_means_the_same() {
            let world = KnowledgeWorld::new(overnight::world("calendar").unwrap(), &[]);
            let labels = [
                label("date of weekly standup", "date"),
                label("location of weekly standup", "location"),
                label("start time of weekly standup", "start_time"),
            ];
            let asked = "in which place is the weekly standup held";
            let task = Task::new(Box::new(world), []).unwrap();
            let (labeled, _) = task.label(&labels, &|| {}).unwrap();
            let mut paraphrases = Paraphrases::new(encoder(), 20.0, &task, &labeled);
            let example = UnlabeledExample::bare(&task, asked);
            let direction = paraphrases.encode(std::slice::from_ref(&example)).remove(0);
            let nearest = paraphrases.nearest(&task, &example, &direction);
            assert_eq!(nearest.len(), 3);
            assert_eq!(nearest[0].0, labeled[1].program);

            // A program that no label has is compared by its explanation.
            let unlabeled = label("", "end_time").program;
            let mut programs = nearest.clone();
            programs.push((task.read(&unlabeled, &example.question).unwrap(), nearest[0].1));
            paraphrases.reweigh(&task, &example, &direction, &mut programs);
            assert_eq!(programs[0].1, nearest[0].1, "the most similar program keeps its weight");
            assert!(programs[1..].iter().all(|(_, weight)| *weight < 0.5 * nearest[0].1), "{programs:?}");
        }
    }
}
