//! What people said that a parser has not learned.

use std::collections::{HashMap, HashSet};
use xpr_run::{AskedQuestion, Manifest, RunError, RunFile, RunFolder, Said};

/// What people said since a parser was trained.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct News {
    /// The confirmed questions that the parser has not learned, by their words.
    pub(crate) confirmed: HashSet<String>,
    /// The number of confirmed questions that it has learned, and whose answer was corrected or taken back since.
    pub(crate) revised: usize,
}

impl News {
    /// Compares what people say now with what a parser has learned. `is_same_answer` returns whether two programs find the same answer.
    pub(crate) fn since<'q>(
        learned: &[AskedQuestion],
        asked: impl IntoIterator<Item = &'q AskedQuestion>,
        mut is_same_answer: impl FnMut(&str, &str) -> bool,
    ) -> Self {
        let confirmed = |asked: &AskedQuestion| Some((asked.key(), asked.said.confirmed()?.to_owned()));
        let learned: HashMap<String, String> = learned.iter().filter_map(confirmed).collect();
        let mut news = News::default();
        for question in asked {
            let key = question.key();
            match (learned.get(&key), &question.said) {
                (None, Said::Program { .. } | Said::Answer { .. }) => {
                    news.confirmed.insert(key);
                }
                (Some(before), Said::Program { program }) if program == before => {}
                // Its program may have been replaced by another one that finds the same.
                (Some(before), Said::Answer { program })
                    if program == before || is_same_answer(program, before) => {}
                // Without comment it was deleted from the log, which is no judgement.
                (_, Said::Nothing) | (None, Said::NoneOf { .. }) => {}
                (Some(_), Said::Program { .. } | Said::Answer { .. } | Said::NoneOf { .. }) => {
                    news.revised += 1;
                }
            }
        }
        news
    }

    /// Returns the number of questions.
    pub(crate) fn len(&self) -> usize {
        self.confirmed.len() + self.revised
    }
}

/// Reads the questions that a parser learned from; none if it learned from labels only.
///
/// # Errors
/// If the file is not the one that training wrote.
pub(crate) fn read_asked(folder: &RunFolder) -> Result<Vec<AskedQuestion>, RunError> {
    let manifest = Manifest::read(folder)?;
    let is_listed = manifest.as_ref().is_some_and(|manifest| manifest.lists(RunFile::Asked));
    match is_listed || folder.has(RunFile::Asked) {
        true => folder.read_checked_json_lines(RunFile::Asked, manifest.as_ref()),
        false => Ok(vec![]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(question: &str, said: Said) -> AskedQuestion {
        AskedQuestion { utterance: question.to_owned(), said }
    }

    fn program(program: &str) -> Said {
        Said::Program { program: program.to_owned() }
    }

    fn answer(program: &str) -> Said {
        Said::Answer { program: program.to_owned() }
    }

    /// Issue 19: what was confirmed once was never new again, whatever people said about it later.
    #[test]
    fn what_was_said_last_is_new_if_it_is_something_else() {
        let none_of = || Said::NoneOf { programs: vec!["A".to_owned()] };
        for (before, now, new, revised) in [
            (None, program("A"), 1, 0),
            (Some(Said::Nothing), answer("A"), 1, 0),
            (Some(none_of()), program("A"), 1, 0),
            (None, none_of(), 0, 0),
            (None, Said::Nothing, 0, 0),
            (Some(program("A")), program("A"), 0, 0),
            (Some(program("A")), program("B"), 0, 1),
            (Some(program("A")), none_of(), 0, 1),
            (Some(answer("A")), none_of(), 0, 1),
            (Some(program("A")), Said::Nothing, 0, 0),
            // `a` finds what `A` finds.
            (Some(answer("A")), answer("a"), 0, 0),
            (Some(program("A")), answer("a"), 0, 0),
            (Some(answer("A")), answer("b"), 0, 1),
            (Some(answer("A")), program("a"), 0, 1),
        ] {
            let learned: Vec<_> = before.clone().map(|said| asked("How many?", said)).into_iter().collect();
            let now = asked("how many", now);
            let news = News::since(&learned, [&now], |left, right| left.eq_ignore_ascii_case(right));
            assert_eq!((news.confirmed.len(), news.revised), (new, revised), "{before:?}, then {now:?}");
            assert_eq!(news.len(), new + revised);
        }
    }

    /// Issue 18: a parser whose questions were lost seemed to have learned none, and was compared on them as if they were new.
    #[test]
    fn lost_damaged_and_exchanged_questions_are_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let run = RunFolder::create(folder.path()).unwrap();
        assert_eq!(read_asked(&run).unwrap(), []);
        let learned = [asked("how many", program("A")), asked("how few", program("B"))];
        run.write_json_lines(RunFile::Asked, &learned).unwrap();
        assert_eq!(read_asked(&run).unwrap(), learned);
        run.finish(&"right").unwrap();
        assert_eq!(read_asked(&run).unwrap(), learned);

        let path = run.path(RunFile::Asked);
        let content = std::fs::read_to_string(&path).unwrap();
        let cut = content.lines().next().unwrap().to_owned();
        for damaged in [String::new(), cut, content.replace("few", "old")] {
            std::fs::write(&path, damaged).unwrap();
            let error = read_asked(&run).unwrap_err().to_string();
            assert!(error.contains("asked.jsonl: this is not the file that training wrote"), "{error}");
        }
        std::fs::remove_file(&path).unwrap();
        let error = read_asked(&run).unwrap_err().to_string();
        assert!(error.contains("asked.jsonl: it is missing, and the manifest"), "{error}");
    }
}
