//! The diagnostics of the paper's section 5.3.

use crate::objectives::{Candidates, Credit, Objective, TopK};
use crate::task::UnlabeledExample;
use xpr_lang::Language;
use xpr_parser::Candidate;
use xpr_run::{GoldReport, UnlabeledQuestions, UnlabeledReport};

/// The diagnostics of a question's candidates; those of a batch are their sum.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LessonDiagnostics {
    /// The share of candidates that are rewarded.
    rewarded: f64,
    /// The probability of all candidates.
    mass: f64,
    /// The total variation distance between the objective's posterior and that of top-k MML.
    gap: f64,
    /// The lengths of rewarded programs, and those of their questions.
    program_length: usize,
    question_length: usize,
    /// Questions whose right program is known, is a candidate, is a rewarded candidate; and the ranks of the candidates.
    labeled: usize,
    found: usize,
    covered: usize,
    ranks: usize,
}

impl LessonDiagnostics {
    /// Returns the figures as words, to be sent.
    pub(super) fn to_words(self) -> [u64; 9] {
        let LessonDiagnostics { program_length, question_length, labeled, found, covered, ranks, .. } = self;
        let counts =
            [program_length, question_length, labeled, found, covered, ranks].map(|count| count as u64);
        let [a, b, c] = [self.rewarded, self.mass, self.gap].map(f64::to_bits);
        let [d, e, f, g, h, i] = counts;
        [a, b, c, d, e, f, g, h, i]
    }

    /// Returns the figures that [`LessonDiagnostics::to_words`] wrote.
    pub(super) fn from_words([a, b, c, counts @ ..]: [u64; 9]) -> Self {
        let [program_length, question_length, labeled, found, covered, ranks] =
            counts.map(|count| count as usize);
        let [rewarded, mass, gap] = [a, b, c].map(f64::from_bits);
        LessonDiagnostics {
            rewarded,
            mass,
            gap,
            program_length,
            question_length,
            labeled,
            found,
            covered,
            ranks,
        }
    }

    /// Computes the diagnostics of one question.
    pub(super) fn new(
        language: &dyn Language,
        example: &UnlabeledExample,
        candidates: &[Candidate],
        seen: Candidates<'_>,
        credit: &Credit,
    ) -> Self {
        let mut sums = LessonDiagnostics::default();
        let rewarded = || candidates.iter().zip(seen.rewarded).filter(|(_, rewarded)| **rewarded);
        sums.rewarded += rewarded().count() as f64 / candidates.len().max(1) as f64;
        sums.mass += seen.log_probabilities.iter().map(|log| log.exp()).sum::<f64>().min(1.0);
        for (candidate, _) in rewarded() {
            sums.program_length += language.length(&candidate.program);
            sums.question_length += example.question.word_count();
        }
        if let Some(top_k) = TopK.credit(seen) {
            let differences = credit.q.iter().zip(&top_k.q).map(|(own, other)| (own - other).abs());
            sums.gap += differences.sum::<f64>() / 2.0;
        }
        if let Some(gold) = &example.gold {
            sums.labeled += 1;
            if let Some(index) = candidates.iter().position(|candidate| candidate.program == *gold) {
                sums.found += 1;
                sums.ranks += index + 1;
                sums.covered += usize::from(seen.rewarded[index]);
            }
        }
        sums
    }

    /// Reports the means over a batch of questions, without a loss and a cache.
    pub(crate) fn report<'d>(batch: impl IntoIterator<Item = &'d LessonDiagnostics>) -> UnlabeledReport {
        let (mut questions, mut sums) = (0usize, LessonDiagnostics::default());
        for diagnostics in batch {
            questions += 1;
            sums.add(diagnostics);
        }
        let mean = |sum: f64| sum / questions.max(1) as f64;
        let ratio = |over: usize, under: usize| over as f64 / under.max(1) as f64;
        UnlabeledReport {
            loss: 0.0,
            rewarded: mean(sums.rewarded),
            mass: mean(sums.mass),
            length_ratio: ratio(sums.program_length, sums.question_length),
            gap: mean(sums.gap),
            gold: (sums.labeled > 0).then(|| GoldReport {
                coverage: ratio(sums.covered, sums.labeled),
                gold_rank: ratio(sums.ranks, sums.found),
            }),
            cached: None,
        }
    }

    fn add(&mut self, other: &LessonDiagnostics) {
        self.rewarded += other.rewarded;
        self.mass += other.mass;
        self.gap += other.gap;
        self.program_length += other.program_length;
        self.question_length += other.question_length;
        self.labeled += other.labeled;
        self.found += other.found;
        self.covered += other.covered;
        self.ranks += other.ranks;
    }
}

/// Returns the figures of the unlabeled questions of a run, among them the gold ratio: the length ratio of rewarded programs, if
/// the right program of each question were the only one rewarded.
pub(crate) fn unlabeled_questions(
    language: &dyn Language,
    examples: &[UnlabeledExample],
) -> UnlabeledQuestions {
    let known = examples.iter().filter_map(|example| Some((example, example.gold.as_ref()?)));
    let (mut with_program, mut program_length, mut question_length) = (0, 0, 0);
    for (example, gold) in known {
        with_program += 1;
        program_length += language.length(gold);
        question_length += example.question.word_count();
    }
    let gold_ratio = (question_length > 0).then(|| program_length as f64 / question_length as f64);
    UnlabeledQuestions { questions: examples.len(), with_program, gold_ratio }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objectives::{Repulsion, SelfTraining};
    use crate::task::{KnowledgeWorld, Task};
    use xpr_exec::overnight;
    use xpr_lang::Program;

    #[test]
    fn the_gold_ratio_is_that_counted_by_hand() {
        let world = overnight::world("calendar").unwrap();
        let task = Task::new(Box::new(KnowledgeWorld::new(world, &[])), []).unwrap();
        let programs: Vec<Program> = task.scene().grammar().programs(5).take(2).collect();
        let example = |question: &str, gold: Option<&Program>| {
            let mut example = UnlabeledExample::bare(&task, question);
            example.gold = gold.cloned();
            example
        };
        // Two questions of three words and of one word; the right program of the third is unknown.
        let examples = [
            example("which late meeting", Some(&programs[0])),
            example("meetings", Some(&programs[1])),
            example("which long meeting is late", None),
        ];
        let figures = unlabeled_questions(task.language(), &examples);
        assert_eq!((figures.questions, figures.with_program), (3, 2));
        let lengths = programs.iter().map(|program| task.language().length(program)).sum::<usize>();
        assert_eq!(figures.gold_ratio, Some(lengths as f64 / 4.0));
        assert_eq!(unlabeled_questions(task.language(), &examples[2..]).gold_ratio, None);
    }

    /// Three programs for a question of three words, with probabilities 1/2, 1/4 and 1/8; the first is not rewarded.
    #[test]
    fn figures_are_those_counted_by_hand() {
        let world = overnight::world("calendar").unwrap();
        let task = Task::new(Box::new(KnowledgeWorld::new(world, &[])), []).unwrap();
        let programs: Vec<Program> = task.scene().grammar().programs(5).take(4).collect();
        let probabilities = [0.5f32, 0.25, 0.125];
        let candidates: Vec<Candidate> = programs
            .iter()
            .zip(probabilities)
            .map(|(program, p)| Candidate { program: program.clone(), log_probability: p.ln() })
            .collect();
        let logs: Vec<f64> = candidates.iter().map(|c| f64::from(c.log_probability)).collect();
        let seen = Candidates { log_probabilities: &logs, rewarded: &[false, true, true] };
        let diagnostics = |gold: Option<&Program>, objective: &dyn Objective| {
            let mut example = UnlabeledExample::bare(&task, "which late meeting");
            example.gold = gold.cloned();
            let credit = objective.credit(seen).unwrap();
            LessonDiagnostics::new(task.language(), &example, &candidates, seen, &credit)
        };
        let close = |left: f64, right: f64| (left - right).abs() < 1e-6;

        let one = diagnostics(Some(&programs[1]), &SelfTraining);
        let report = LessonDiagnostics::report([&one]);
        assert!(close(report.rewarded, 2.0 / 3.0) && close(report.mass, 0.875), "{report:?}");
        // Self-training puts 1 on the second program, top-k 2/3 there and 1/3 on the third: half of 1/3 + 1/3.
        assert!(close(report.gap, 1.0 / 3.0), "{report:?}");
        let length = |index: usize| task.language().length(&programs[index]) as f64;
        assert!(close(report.length_ratio, (length(1) + length(2)) / 6.0), "{report:?}");
        assert_eq!(report.gold, Some(GoldReport { coverage: 1.0, gold_rank: 2.0 }));

        // A second question whose right program is a candidate but not rewarded, and a third for which it is not a candidate.
        let (two, three) = (diagnostics(Some(&programs[0]), &TopK), diagnostics(Some(&programs[3]), &TopK));
        let report = LessonDiagnostics::report([&one, &two, &three]);
        assert!(close(report.gap, 1.0 / 9.0), "{report:?}");
        assert_eq!(report.gold, Some(GoldReport { coverage: 1.0 / 3.0, gold_rank: 1.5 }));

        // Without labels there are no figures about them, and repulsion's q keeps the unseen mass.
        let report = LessonDiagnostics::report([&diagnostics(None, &Repulsion)]);
        assert_eq!(report.gold, None);
        // Repulsion: q = 1/2 and 1/4 of the seen executable programs; top-k: 2/3 and 1/3.
        assert!(close(report.gap, (1.0 / 6.0 + 1.0 / 12.0) / 2.0), "{report:?}");
    }
}
