//! The answers that a parser shows, and the programs of answers that people confirmed.

use xpr_exec::{Executor, Outcome};
use xpr_learn::TrainedRun;
use xpr_learn::inference::Answer;
use xpr_learn::task::{TaskError, check_length};
use xpr_parser::Question;
use xpr_run::{AskedQuestion, Said};

/// The number of questions that are searched together.
const BATCH: usize = 48;

/// The different answers that a person sees for a question.
#[derive(Clone, Debug, Default)]
pub struct ShownAnswers {
    /// For each answer, its most probable program and its outcome, the chosen answer first.
    pub answers: Vec<(String, Outcome)>,
    /// How much the answers disagree, from 0 to 1: one minus the share of the chosen answer in the probability of all.
    pub disagreement: f64,
    /// The share of the other answers that are shown: how probable it is that a person picks one of them.
    pub pickable: f64,
}

/// Returns the answers that a person sees for each question, at most `shown` of them.
///
/// # Errors
/// If the data cannot be opened.
pub fn shown_answers(
    run: &TrainedRun,
    utterances: &[&str],
    shown: usize,
) -> Result<Vec<ShownAnswers>, TaskError> {
    let (parser, mut chooser) = (run.parser(), run.chooser()?);
    let mut all = Vec::with_capacity(utterances.len());
    for utterances in utterances.chunks(BATCH) {
        let questions: Vec<Question> =
            utterances.iter().map(|utterance| run.task.question(utterance)).collect();
        let questions: Vec<&Question> = questions.iter().collect();
        let beams = parser.beams(&questions, run.config.eval.beam);
        for (question, beam) in questions.iter().zip(beams) {
            all.push(ShownAnswers::new(chooser.choose(question, &beam.candidates), shown));
        }
    }
    Ok(all)
}

impl ShownAnswers {
    fn new(answer: Answer, shown: usize) -> Self {
        let Answer { candidates, answers: groups, .. } = answer;
        let all: f64 = groups.iter().map(|group| group.probability).sum();
        let share = |probability: f64| if all > 0.0 { probability / all } else { 0.0 };
        let others = groups.iter().skip(1).take(shown.saturating_sub(1));
        ShownAnswers {
            disagreement: groups.first().map_or(0.0, |first| 1.0 - share(first.probability)),
            pickable: share(others.map(|group| group.probability).sum()),
            answers: groups
                .iter()
                .take(shown)
                .map(|group| &candidates[group.candidates[0]])
                .map(|candidate| (candidate.program.clone(), candidate.outcome.clone()))
                .collect(),
        }
    }
}

/// Replaces the program of each confirmed answer by the most probable one that finds the same answer, as the parser of a run sees it now:
/// the E-step of learning from denotations. People see rows, and the program that found them may have found them by accident. An answer
/// that the parser does not find keeps its program.
///
/// # Errors
/// If the data cannot be opened.
pub fn programs_of_answers(run: &TrainedRun, asked: &mut [AskedQuestion]) -> Result<(), TaskError> {
    let beam = run.config.learn.beam.max(run.config.eval.beam);
    let parser = run.parser();
    let mut known = run.task.label_executor()?;
    let mut executor = run.task.executor()?;
    for asked in asked.chunks_mut(BATCH) {
        let is_picked = |asked: &&mut AskedQuestion| {
            matches!(asked.said, Said::Answer { .. }) && check_length(&asked.utterance).is_ok()
        };
        let mut picked: Vec<&mut AskedQuestion> = asked.iter_mut().filter(is_picked).collect();
        let questions: Vec<Question> =
            picked.iter().map(|asked| run.task.question(&asked.utterance)).collect();
        let beams = parser.beams(&questions.iter().collect::<Vec<_>>(), beam);
        for ((asked, question), beam) in picked.iter_mut().zip(&questions).zip(beams) {
            let Said::Answer { program } = &mut asked.said else { continue };
            let answer = known.execute(program);
            let mut texts =
                beam.candidates.iter().map(|candidate| run.task.text(&candidate.program, question));
            let found = texts.find(|text| finds(run, &mut *executor, text, &answer));
            if let Some(found) = found.filter(|_| answer.executes()) {
                *program = found;
            }
        }
    }
    Ok(())
}

fn finds(run: &TrainedRun, executor: &mut dyn Executor, program: &str, answer: &Outcome) -> bool {
    run.task.is_same_answer(answer, &executor.execute(program))
}
