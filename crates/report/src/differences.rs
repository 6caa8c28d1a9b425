//! Differences between objectives: each minus the lower bound, and sparse MML minus each other.

use crate::bootstrap::{Interval, Resampled};
use crate::comparison::{method_note, mixed_settings, topics_in_order};
use crate::groups::{Group, GroupedRuns, settings_text};
use crate::method::Method;
use crate::pairing::{Difference, PairedDifference};
use crate::series::{Row, Series, SeriesKey, Topic, averaged, series};
use serde::Serialize;
use std::collections::BTreeSet;

/// The differences under the same conditions, on several data.
#[derive(Clone, Debug, Serialize)]
pub struct DifferenceTable {
    /// The share of the training examples that are labeled.
    pub fraction: f64,
    /// The number of held-out training examples the runs were evaluated on; 0 for the test examples.
    pub held_out: u64,
    /// The columns: domains and databases.
    pub topics: Vec<String>,
    /// The number of columns that are domains of Overnight; they come first.
    pub domains: usize,
    /// The domains of Overnight over which rows are averaged; empty if there is no average.
    pub averaged: Vec<String>,
    /// A row for each difference.
    pub rows: Vec<DifferenceRow>,
    /// Remarks about the table.
    pub notes: Vec<String>,
}

/// The difference between an objective and another, or the lower bound.
#[derive(Clone, Debug, Serialize)]
pub struct DifferenceRow {
    /// The method of both.
    pub method: Method,
    /// The file name of the word vectors.
    pub vectors: String,
    /// The settings that tell the row apart from others with the same method and vectors; empty if none does.
    pub settings: String,
    /// The objective.
    pub objective: String,
    /// What is subtracted: an objective or `lower bound`.
    pub minus: String,
    /// A cell for each column, if both have runs that can be compared.
    pub cells: Vec<Option<Difference>>,
    /// The average over [`DifferenceTable::averaged`], if there is a difference for each.
    pub average: Option<Interval>,
}

/// The objective that is compared with all others.
const COMPARED: &str = "sparse";

/// Returns the differences of each share of labels and number of held-out examples.
pub(crate) fn differences(groups: &[Group], grouped: &[GroupedRuns<'_>]) -> Vec<DifferenceTable> {
    let mut blocks: Vec<(u64, f64)> = groups.iter().map(|group| (group.held_out, group.fraction)).collect();
    blocks.sort_by(|left, right| left.0.cmp(&right.0).then(left.1.total_cmp(&right.1)));
    blocks.dedup();
    let tables = blocks.into_iter().map(|(held_out, fraction)| table(fraction, held_out, groups, grouped));
    tables.filter(DifferenceTable::says_more_than_the_accuracies).collect()
}

impl DifferenceTable {
    /// Returns whether the table has something that the table of accuracies has not: differences between objectives, or an
    /// average.
    fn says_more_than_the_accuracies(&self) -> bool {
        let is_gain = |row: &DifferenceRow| row.minus == Row::LowerBound.name();
        self.rows.iter().any(|row| !is_gain(row) || row.average.is_some())
    }
}

/// A row before it is averaged.
struct UnaveragedRow {
    key: SeriesKey,
    objective: String,
    minus: String,
    cells: Vec<Option<PairedDifference>>,
}

fn table(fraction: f64, held_out: u64, groups: &[Group], grouped: &[GroupedRuns<'_>]) -> DifferenceTable {
    let all = series(groups, fraction, held_out);
    let under_conditions = |group: &&Group| group.fraction == fraction && group.held_out == held_out;
    let topics = topics_in_order(groups.iter().filter(under_conditions));
    let rows: Vec<UnaveragedRow> =
        all.iter().flat_map(|series| unaveraged_rows(series, &topics, grouped)).collect();
    // Domains of Overnight come first. One domain needs no average.
    let domains = topics.iter().take_while(|(is_database, _)| !is_database).count();
    let covered = |row: &UnaveragedRow| (0..domains).filter(|domain| row.cells[*domain].is_some()).collect();
    let covered: Vec<BTreeSet<usize>> = rows.iter().map(covered).collect();
    let several: Vec<BTreeSet<usize>> = covered.iter().filter(|domains| domains.len() > 1).cloned().collect();
    let averaged = Some(averaged(&several)).filter(|averaged| averaged.len() > 1).unwrap_or_default();
    let names: Vec<String> = topics.into_iter().map(|(_, name)| name).collect();
    let methods = rows.iter().map(|row| row.key.method).collect();
    let mut notes = vec![method_note(&methods)];
    notes.extend(average_note(&averaged, &covered, &names));
    notes.extend(mixed_settings(&all));
    DifferenceTable {
        fraction,
        held_out,
        averaged: averaged.iter().map(|domain| names[*domain].clone()).collect(),
        domains,
        topics: names,
        rows: rows.iter().map(|row| row.write(&averaged)).collect(),
        notes,
    }
}

/// Returns the differences of a series.
fn unaveraged_rows(series: &Series<'_>, topics: &[Topic], grouped: &[GroupedRuns<'_>]) -> Vec<UnaveragedRow> {
    let row = |own: &Row, minus: &Row, cell: &dyn Fn(&Topic) -> Option<PairedDifference>| {
        let cells: Vec<Option<PairedDifference>> = topics.iter().map(cell).collect();
        let has_some = cells.iter().any(Option::is_some);
        has_some.then(|| UnaveragedRow {
            key: series.key.clone(),
            objective: own.name().to_owned(),
            minus: minus.name().to_owned(),
            cells,
        })
    };
    let objectives: Vec<&Row> =
        series.rows().into_iter().filter(|row| matches!(row, Row::Objective(..))).collect();
    let gains = objectives
        .iter()
        .map(|own| row(own, &Row::LowerBound, &|topic| series.get(own, topic)?.gain.clone()));
    let compared = Row::of_objective(COMPARED);
    let told_apart = objectives.iter().filter(|other| ***other != compared).map(|other| {
        row(&compared, other, &|topic| {
            let (own, other) = (series.get(&compared, topic)?, series.get(other, topic)?);
            PairedDifference::new(&topic.1, &grouped[own.index].runs, &grouped[other.index].runs)
        })
    });
    gains.chain(told_apart).flatten().collect()
}

impl UnaveragedRow {
    fn write(&self, averaged: &BTreeSet<usize>) -> DifferenceRow {
        let on_average: Option<Vec<&Resampled>> =
            averaged.iter().map(|domain| self.cells[*domain].as_ref().map(|cell| &cell.resampled)).collect();
        DifferenceRow {
            method: self.key.method,
            vectors: self.key.vectors.clone(),
            settings: settings_text(&self.key.settings),
            objective: self.objective.clone(),
            minus: self.minus.clone(),
            cells: self.cells.iter().map(|cell| cell.as_ref().map(|cell| cell.difference)).collect(),
            average: on_average
                .and_then(|domains| Resampled::average(&domains))
                .map(|average| average.interval()),
        }
    }
}

/// Returns which domains averages are over, if some row has other domains.
fn average_note(averaged: &BTreeSet<usize>, covered: &[BTreeSet<usize>], names: &[String]) -> Option<String> {
    let is_needed = !averaged.is_empty() && covered.iter().any(|domains| domains != averaged);
    let names: Vec<&str> = averaged.iter().map(|domain| names[*domain].as_str()).collect();
    is_needed.then(|| {
        format!("Averages are over {}. Rows that lack one of these domains have none.", names.join(", "))
    })
}
