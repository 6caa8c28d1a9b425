//! The accuracies of a simulation, averaged over its seeds.

use crate::simulation::{ClickOrder, ClickSource, SimulatedParser, Simulation};
use serde::Serialize;
use xpr_report::bootstrap::{Interval, Resampled};
use xpr_run::{Manifest, Prediction, RunError, RunFile, RunFolder};

/// The parsers of a simulation with the same series and number of clicks, averaged over the seeds.
#[derive(Clone, Debug, Serialize)]
pub struct SeriesPoint {
    /// What they learned from; the first parsers have none.
    pub series: Option<(ClickSource, ClickOrder)>,
    /// The number of clicks, or of labels.
    pub clicks: usize,
    /// The mean accuracy on the test questions, in percent.
    pub accuracy: f64,
    /// The mean difference to the first parser of the same seed in percentage points, with its 95 % confidence interval by the paired
    /// bootstrap over seeds and questions.
    pub over_first: Option<Interval>,
    /// The share of clicks that picked an answer.
    pub picked: f64,
    /// The share of these whose program is the labeled one.
    pub exact: f64,
}

impl Simulation {
    /// Returns the averages over the seeds: that of the first parsers, and then those of each series in the order of its clicks.
    ///
    /// # Errors
    /// If the predictions of a parser cannot be read.
    pub fn summary(&self) -> Result<Vec<SeriesPoint>, RunError> {
        let first: Vec<Vec<bool>> = self.of(None, 0).map(correct).collect::<Result<_, _>>()?;
        let mut points = vec![point(None, 0, &self.of(None, 0).collect::<Vec<_>>(), None)];
        for &series in &self.series {
            for &clicks in &self.clicks {
                let parsers: Vec<&SimulatedParser> = self.of(Some(series), clicks).collect();
                let mut differences = Vec::new();
                for (parser, first) in parsers.iter().zip(&first) {
                    let points = |(now, then): (bool, &bool)| {
                        100.0 * (f64::from(u8::from(now)) - f64::from(u8::from(*then)))
                    };
                    differences.push(correct(parser)?.into_iter().zip(first).map(points).collect());
                }
                let over_first = Resampled::of_seeds("simulation", &differences, true);
                let over_first = over_first.map(|resampled| resampled.interval());
                points.push(point(Some(series), clicks, &parsers, over_first));
            }
        }
        Ok(points)
    }

    fn of(
        &self,
        series: Option<(ClickSource, ClickOrder)>,
        clicks: usize,
    ) -> impl Iterator<Item = &SimulatedParser> {
        self.parsers.iter().filter(move |parser| parser.series == series && parser.clicks == clicks)
    }
}

fn point(
    series: Option<(ClickSource, ClickOrder)>,
    clicks: usize,
    parsers: &[&SimulatedParser],
    over_first: Option<Interval>,
) -> SeriesPoint {
    let sum =
        |value: fn(&SimulatedParser) -> f64| -> f64 { parsers.iter().map(|parser| value(parser)).sum() };
    let share = |part: f64, all: f64| if all > 0.0 { part / all } else { 0.0 };
    let picked = sum(|parser| parser.picked as f64);
    SeriesPoint {
        series,
        clicks,
        accuracy: 100.0 * share(sum(|parser| parser.evaluation.accuracy), parsers.len() as f64),
        over_first,
        picked: share(picked, (clicks * parsers.len()) as f64),
        exact: share(sum(|parser| parser.exact as f64), picked),
    }
}

/// Returns whether a parser answers each test question right.
fn correct(parser: &SimulatedParser) -> Result<Vec<bool>, RunError> {
    let folder = RunFolder::open(&parser.folder)?;
    let manifest = Manifest::read(&folder)?;
    let predictions: Vec<Prediction> =
        folder.read_checked_json_lines(RunFile::Predictions, manifest.as_ref())?;
    Ok(predictions.iter().map(|prediction| prediction.correct).collect())
}
