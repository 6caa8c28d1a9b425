//! `xpr simulate`: what clicks are worth, with the labels of a benchmark in the place of a person.

use super::{read_config, use_threads, write_json};
use crate::arguments::{Series, SimulateArguments};
use crate::{printer, table};
use anyhow::{Context, Result, bail};
use serde::Serialize;
use std::io::Write;
use std::path::Path;
use xpr_data::write_output;
use xpr_improve::{
    ClickOrder, ClickSource, SeriesPoint, SimulatedParser, Simulation, SimulationSettings, simulate,
};
use xpr_learn::Observer;
use xpr_report::{Chart, ChartLine};
use xpr_run::StepReport;

/// The output of `--json`.
#[derive(Serialize)]
struct SimulationReport<'a> {
    summary: &'a [SeriesPoint],
    #[serde(flatten)]
    simulation: &'a Simulation,
}

pub(crate) fn run(arguments: &SimulateArguments, out: &mut dyn Write) -> Result<()> {
    use_threads(arguments.pool.threads)?;
    let base = if arguments.no_base { Some(Path::new("")) } else { arguments.from.as_deref() };
    let mut config = read_config(&arguments.experiment, base)?;
    if config.learn.objective.is_none() {
        config.learn.objective = Some("sparse".to_owned());
    }
    let mut clicks = arguments.clicks.clone();
    clicks.sort_unstable();
    clicks.dedup();
    if clicks.first().is_none_or(|&clicks| clicks == 0) {
        bail!("--clicks needs numbers above 0; the parser without clicks is always trained");
    }
    let settings = SimulationSettings {
        config,
        folder: arguments.out.clone(),
        seeds: u64::from(arguments.seeds),
        clicks,
        shown: usize::from(arguments.shown),
        series: arguments.series.iter().map(|series| series.of()).collect(),
    };
    let simulation = simulate(&settings, &mut Silent, &mut |parser| {
        let _ = writeln!(printer::stderr(), "{}", line(parser));
    })?;
    let summary = simulation.summary()?;
    if let Some(path) = &arguments.svg {
        let picture = chart(&simulation.series, &summary).to_svg().unwrap_or_default();
        write_output(path, picture.as_bytes()).with_context(|| path.display().to_string())?;
    }
    match arguments.output.json {
        true => write_json(out, &SimulationReport { summary: &summary, simulation: &simulation }),
        false => write_table(out, &summary),
    }
}

/// Training is quiet: every finished parser is a line.
struct Silent;

impl Observer for Silent {
    fn step(&mut self, _: StepReport, _: usize) {}
    fn resumed(&mut self, _: usize) {}
}

fn line(parser: &SimulatedParser) -> String {
    format!(
        "seed {}, {} {}: {:.1} %, {} picked",
        parser.seed,
        parser.clicks,
        name(parser.series),
        100.0 * parser.evaluation.accuracy,
        parser.picked
    )
}

fn name(series: Option<(ClickSource, ClickOrder)>) -> &'static str {
    match series {
        None => "clicks",
        Some((ClickSource::Labels, _)) => "labels",
        Some((ClickSource::Answers, ClickOrder::Random)) => "answers, random order",
        Some((ClickSource::Answers, ClickOrder::Disagreement)) => "answers, most disagreement first",
        Some((ClickSource::Answers, ClickOrder::Pickable)) => "answers, most pickable first",
    }
}

/// Returns the accuracies over the clicks, a line for each series. All lines begin at the accuracy without clicks.
fn chart(series: &[(ClickSource, ClickOrder)], summary: &[SeriesPoint]) -> Chart {
    let line = |(index, &series): (usize, &(ClickSource, ClickOrder))| {
        let points = summary.iter().filter(|point| point.series.is_none_or(|of| of == series));
        ChartLine {
            label: short_name(series).to_owned(),
            colour: 2 + index % 5,
            dash: 0,
            points: points.map(|point| (point.clicks as f64, point.accuracy)).collect(),
        }
    };
    Chart {
        title: "right answers, %",
        x_label: "clicks, or labels",
        lines: series.iter().enumerate().map(line).collect(),
        has_dots: true,
        ..Chart::default()
    }
}

fn short_name(series: (ClickSource, ClickOrder)) -> &'static str {
    match series {
        (ClickSource::Labels, _) => "labels",
        (ClickSource::Answers, ClickOrder::Random) => "random order",
        (ClickSource::Answers, ClickOrder::Disagreement) => "disagreement first",
        (ClickSource::Answers, ClickOrder::Pickable) => "pickable first",
    }
}

fn write_table(out: &mut dyn Write, summary: &[SeriesPoint]) -> Result<()> {
    let row = |point: &SeriesPoint| {
        let is_answers = matches!(point.series, Some((ClickSource::Answers, _)));
        let share = |share: f64| if is_answers { format!("{:.0} %", 100.0 * share) } else { String::new() };
        let difference = point.over_first.as_ref().map(|interval| {
            format!("{:+.1} ({:+.1} to {:+.1})", interval.difference, interval.low, interval.high)
        });
        vec![
            name(point.series).to_owned(),
            point.clicks.to_string(),
            format!("{:.1} %", point.accuracy),
            difference.unwrap_or_default(),
            share(point.picked),
            share(point.exact),
        ]
    };
    let rows: Vec<Vec<String>> = summary.iter().map(row).collect();
    table::write(
        out,
        &["learned from", "clicks", "correct", "difference", "picked", "label's program"],
        &rows,
    )?;
    Ok(())
}

impl Series {
    fn of(self) -> (ClickSource, ClickOrder) {
        match self {
            Series::Labels => (ClickSource::Labels, ClickOrder::Random),
            Series::Random => (ClickSource::Answers, ClickOrder::Random),
            Series::Disagreement => (ClickSource::Answers, ClickOrder::Disagreement),
            Series::Pickable => (ClickSource::Answers, ClickOrder::Pickable),
        }
    }
}
