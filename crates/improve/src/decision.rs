//! Whether a new parser takes the place of the current one.

use serde::Serialize;
use xpr_report::bootstrap::{Interval, Resampled};
use xpr_run::ParserComparison;

/// The answers of two parsers to the same questions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PairedAnswers {
    /// For each question, whether the current parser and the new one answer it right.
    answers: Vec<(bool, bool)>,
}

impl PairedAnswers {
    /// Pairs the answers of the current parser with those of the new one. A question whose right answer is unknown is left out.
    pub fn new(before: &[Option<bool>], after: &[Option<bool>]) -> Self {
        let answers = before.iter().zip(after).filter_map(|(before, after)| before.zip(*after)).collect();
        PairedAnswers { answers }
    }

    /// Adds the answers to other questions.
    pub fn extend(&mut self, other: PairedAnswers) {
        self.answers.extend(other.answers);
    }

    /// Returns the number of questions.
    pub fn len(&self) -> usize {
        self.answers.len()
    }

    /// Returns whether there are no questions.
    pub fn is_empty(&self) -> bool {
        self.answers.is_empty()
    }

    /// Returns the number of questions that each parser answers right.
    pub fn right(&self) -> (usize, usize) {
        let count = |is_right: fn(&(bool, bool)) -> bool| {
            self.answers.iter().filter(|answers| is_right(answers)).count()
        };
        (count(|answers| answers.0), count(|answers| answers.1))
    }

    /// Returns the difference in accuracy in percentage points, new minus current, with its 95 % confidence interval by the paired
    /// bootstrap. Returns nothing if there are no questions.
    pub fn interval(&self) -> Option<Interval> {
        let points = |&(before, after): &(bool, bool)| {
            Some(100.0 * (f64::from(u8::from(after)) - f64::from(u8::from(before))))
        };
        let pair: Vec<Option<f64>> = self.answers.iter().map(points).collect();
        Some(Resampled::new("parsers", &[pair])?.interval())
    }

    /// Returns the record of the comparison, if there are questions.
    pub fn record(&self) -> Option<ParserComparison> {
        let Interval { low, high, .. } = self.interval()?;
        let (right_before, right_after) = self.right();
        Some(ParserComparison { questions: self.len(), right_before, right_after, low, high })
    }
}

/// Whether a new parser takes the place of the current one.
///
/// "Not worse" means both of these:
///
/// 1. On the new confirmed questions, which neither parser was trained on, the new parser answers at least as many right. This is the
///    estimate itself and not its interval: a parser that is probably worse is not promoted, although nobody can prove it with twenty
///    questions. If they are equal, the new one is promoted, because it has learned more. After one or two confirmations they are
///    usually equal, and the rule only says that nothing speaks against the new parser.
/// 2. On the questions whose answers were known before (labels, test questions and earlier confirmations), the new parser is not worse
///    beyond doubt: the 95 % interval of the difference by the paired bootstrap does not lie below zero. Here many questions are
///    compared and a few always change, so the estimate alone would refuse half of all parsers that are as good. This also notices a
///    parser that training spoiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    /// The new parser is not worse, and is promoted.
    Promoted,
    /// It answers fewer of the new questions right.
    WorseOnNew,
    /// It answers fewer of the known questions right, beyond doubt.
    WorseOnKnown,
}

impl Decision {
    /// Decides by the answers to new confirmed questions and to known ones.
    pub fn new(new: &PairedAnswers, known: &PairedAnswers) -> Self {
        let (before, after) = new.right();
        if after < before {
            return Decision::WorseOnNew;
        }
        match known.interval() {
            Some(interval) if interval.high < 0.0 => Decision::WorseOnKnown,
            _ => Decision::Promoted,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers of which some are won, some lost, and the others right in both.
    fn answers(won: usize, lost: usize, both: usize) -> PairedAnswers {
        let of = |count: usize, before: bool, after: bool| vec![(before, after); count];
        let answers = [of(won, false, true), of(lost, true, false), of(both, true, true)].concat();
        PairedAnswers { answers }
    }

    #[test]
    fn a_parser_that_loses_more_than_it_wins_is_not_promoted() {
        let none = PairedAnswers::default();
        for (new, known, expected) in [
            ((0, 1, 0), (0, 0, 0), Decision::WorseOnNew),
            ((2, 3, 100), (9, 0, 9), Decision::WorseOnNew),
            ((0, 0, 1), (0, 0, 0), Decision::Promoted),
            ((3, 3, 1), (2, 3, 100), Decision::Promoted),
            ((1, 0, 5), (1, 12, 50), Decision::WorseOnKnown),
            ((1, 0, 5), (0, 1, 0), Decision::WorseOnKnown),
        ] {
            let of = |(won, lost, both)| answers(won, lost, both);
            assert_eq!(Decision::new(&of(new), &of(known)), expected, "{new:?} {known:?}");
        }
        assert_eq!(Decision::new(&none, &none), Decision::Promoted);
    }

    #[test]
    fn the_interval_is_that_of_the_difference_and_unknown_answers_do_not_count() {
        let interval = answers(20, 10, 70).interval().unwrap();
        assert!((interval.difference - 10.0).abs() < 1e-9);
        assert!(interval.low < 3.0 && interval.low > -5.0 && interval.high > 17.0, "{interval:?}");
        let paired = PairedAnswers::new(&[Some(true), None, Some(false)], &[Some(false), None, Some(true)]);
        assert_eq!((paired.len(), paired.right()), (2, (1, 1)));
        assert!(PairedAnswers::default().interval().is_none() && PairedAnswers::default().record().is_none());
    }
}
