//! From the entries of a log to questions that a parser can learn from.

use std::collections::HashMap;
use xpr_log::{Entry, Feedback, Verdict};
use xpr_run::{AskedQuestion, Said, question_key};

/// Returns each question of a log once, in the order in which they were first asked. If it was asked several times, the last thing that
/// somebody said about it counts. Questions that were declined are left out unless somebody gave their program.
pub fn asked_questions(entries: &[Entry]) -> Vec<AskedQuestion> {
    let mut places: HashMap<String, usize> = HashMap::new();
    // The time of what was said about each question; questions without comment have none.
    let mut questions: Vec<(AskedQuestion, Option<i64>)> = Vec::new();
    for entry in entries {
        let said = said(entry);
        if said == Said::Nothing && entry.asked.declined.is_some() {
            continue;
        }
        let key = question_key(&entry.asked.question);
        if key.is_empty() {
            continue;
        }
        let time = entry.last_feedback().filter(|_| said != Said::Nothing).map(|feedback| feedback.time);
        let question = AskedQuestion { utterance: entry.asked.question.clone(), said };
        match places.get(&key) {
            Some(&place) if time.is_some() && time >= questions[place].1 => {
                questions[place] = (question, time);
            }
            Some(_) => {}
            None => {
                places.insert(key, questions.len());
                questions.push((question, time));
            }
        }
    }
    questions.into_iter().map(|(question, _)| question).collect()
}

/// Returns what somebody said about the answers to a question.
fn said(entry: &Entry) -> Said {
    let Some(Feedback { verdict, program, .. }) = entry.last_feedback() else { return Said::Nothing };
    let answered = || entry.asked.program.clone();
    let said = match verdict {
        Verdict::Right => answered().map(|program| Said::Program { program }),
        Verdict::Corrected => program.clone().map(|program| Said::Program { program }),
        Verdict::Answer => program.clone().map(|program| Said::Answer { program }),
        Verdict::Wrong => answered().map(|program| Said::NoneOf { programs: vec![program] }),
        Verdict::NoneOfThese => {
            let programs: Vec<String> =
                entry.asked.shown.iter().map(|shown| shown.program.clone()).chain(answered()).collect();
            (!programs.is_empty()).then_some(Said::NoneOf { programs })
        }
    };
    said.unwrap_or(Said::Nothing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use xpr_log::{NewQuestion, QuestionId, ShownAnswer};

    fn entry(question: &str, said: &[(i64, Verdict, Option<&str>)]) -> Entry {
        let shown = |program: &str| ShownAnswer { program: program.to_owned(), ..ShownAnswer::default() };
        let feedback = |&(time, verdict, program): &(i64, Verdict, Option<&str>)| Feedback {
            time,
            verdict,
            program: program.map(str::to_owned),
        };
        Entry {
            id: QuestionId(1),
            asked: NewQuestion {
                question: question.to_owned(),
                program: Some("SELECT 1".to_owned()),
                shown: vec![shown("SELECT 1"), shown("SELECT 2")],
                ..NewQuestion::default()
            },
            feedback: said.iter().map(feedback).collect(),
        }
    }

    #[test]
    fn each_verdict_becomes_what_training_understands() {
        use Verdict::{Answer, Corrected, NoneOfThese, Right, Wrong};
        let program = |program: &str| Said::Program { program: program.to_owned() };
        let none_of = |programs: &[&str]| Said::NoneOf {
            programs: programs.iter().map(|&program| program.to_owned()).collect(),
        };
        for (verdict, given, expected) in [
            (Right, None, program("SELECT 1")),
            (Corrected, Some("SELECT 3"), program("SELECT 3")),
            (Answer, Some("SELECT 2"), Said::Answer { program: "SELECT 2".to_owned() }),
            (Wrong, None, none_of(&["SELECT 1"])),
            (NoneOfThese, None, none_of(&["SELECT 1", "SELECT 2", "SELECT 1"])),
        ] {
            let asked = asked_questions(&[entry("how many", &[(1, verdict, given)])]);
            assert_eq!(asked[0].said, expected, "{verdict}");
        }
        assert_eq!(asked_questions(&[entry("how many", &[])])[0].said, Said::Nothing);
    }

    #[test]
    fn a_question_counts_once_with_what_was_said_last() {
        let entries = [
            entry("How many?", &[(5, Verdict::Right, None), (6, Verdict::Corrected, Some("SELECT 3"))]),
            entry("how many", &[(4, Verdict::Wrong, None)]),
            entry("how many", &[]),
            entry("another", &[]),
            entry("another", &[(1, Verdict::Right, None)]),
            entry("…", &[]),
        ];
        let asked = asked_questions(&entries);
        let said: Vec<(&str, Option<&str>)> =
            asked.iter().map(|asked| (asked.utterance.as_str(), asked.said.confirmed())).collect();
        assert_eq!(said, [("How many?", Some("SELECT 3")), ("another", Some("SELECT 1"))]);
    }

    #[test]
    fn a_declined_question_is_learned_only_with_its_program() {
        let mut declined = entry("delete everything", &[]);
        declined.asked = NewQuestion {
            question: "delete everything".to_owned(),
            declined: Some("it asks to change the data".to_owned()),
            ..NewQuestion::default()
        };
        assert!(asked_questions(std::slice::from_ref(&declined)).is_empty());
        declined.feedback =
            vec![Feedback { time: 1, verdict: Verdict::Corrected, program: Some("SELECT 1".to_owned()) }];
        assert_eq!(asked_questions(&[declined]).len(), 1);
    }
}
