//! Our results compared with the paper's.

use crate::bootstrap::{self, Interval};
use crate::groups::{Group, MeanAccuracy, objective_rank};
use crate::published::{DOMAINS, TABLES, column, published};
use serde::Serialize;

/// A table of the paper, with our results.
#[derive(Clone, Debug, Serialize)]
pub struct PaperComparison {
    /// The share of the training examples that are labeled; 1 if there are only upper bounds.
    pub fraction: f64,
    /// The columns for which there are results: domains, then GeoQuery.
    pub columns: Vec<&'static str>,
    /// The domains for which there are no results.
    pub missing: Vec<&'static str>,
    /// A row for each objective and choice of settings.
    pub rows: Vec<ComparisonRow>,
    /// Remarks about the table.
    pub notes: Vec<String>,
}

/// A row of a comparison.
#[derive(Clone, Debug, Serialize)]
pub struct ComparisonRow {
    /// `lower bound`, `upper bound`, or the name of the objective.
    pub method: String,
    /// The name of the objective in settings.
    pub objective: String,
    /// The settings that tell the row apart; empty if none does.
    pub settings: String,
    /// A cell for each column, if there are runs.
    pub cells: Vec<Option<ComparisonCell>>,
    /// The average over the domains of Overnight for which the row has results.
    pub average: Option<ComparisonCell>,
    /// The number of these domains.
    pub domains: usize,
}

/// Our accuracy and the paper's, in percent.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ComparisonCell {
    /// Our accuracy.
    pub ours: MeanAccuracy,
    /// The paper's accuracy, if the paper has the row.
    pub paper: Option<f64>,
    /// Our accuracy minus the paper's.
    pub difference: Option<f64>,
    /// Our accuracy minus that of our lower bound, with its 95 % confidence interval.
    pub over_lower_bound: Option<Interval>,
}

/// The column that is not a domain of Overnight.
const GEOQUERY: &str = "geoquery";

impl PaperComparison {
    /// Returns whether some row has a gain over the lower bound.
    pub(crate) fn has_gain(&self) -> bool {
        self.rows.iter().any(|row| row.gain().is_some())
    }

    /// Returns the headings of the columns. The average comes after the domains, as in the paper, if some row has one.
    pub(crate) fn headings(&self) -> Vec<&'static str> {
        let mut headings = self.columns.clone();
        if self.has_average() {
            headings.insert(self.domains(), "average");
        }
        headings
    }

    /// Returns the cells of a row in the order of [`PaperComparison::headings`].
    pub(crate) fn cells(&self, row: &ComparisonRow) -> Vec<Option<ComparisonCell>> {
        let mut cells = row.cells.clone();
        if self.has_average() {
            cells.insert(self.domains(), row.average);
        }
        cells
    }

    fn has_average(&self) -> bool {
        self.rows.iter().any(|row| row.average.is_some())
    }

    fn domains(&self) -> usize {
        self.columns.iter().filter(|column| **column != GEOQUERY).count()
    }
}

impl ComparisonRow {
    /// Returns the gain over the lower bound, averaged over the domains of the row.
    pub(crate) fn gain(&self) -> Option<Interval> {
        self.average.and_then(|average| average.over_lower_bound)
    }
}

/// Returns the heading of a column; the paper shortens the name of the last domain.
fn heading(column: usize) -> &'static str {
    match DOMAINS.get(column) {
        Some(&"socialnetwork") => "social",
        Some(domain) => domain,
        None => GEOQUERY,
    }
}

/// Returns the tables of the paper for which there are results.
pub(crate) fn comparisons(groups: &[Group]) -> Vec<PaperComparison> {
    // The paper's numbers are test results, so results on held-out examples are not compared with them.
    let in_paper = |group: &&Group| group.held_out == 0 && column(&group.topic, group.is_overnight).is_some();
    let groups: Vec<&Group> = groups.iter().filter(in_paper).collect();
    let has_share = |group: &Group, share: f64| (group.fraction - share).abs() < 1e-9;
    let is_upper_bound = |group: &Group| group.fraction == 1.0 && group.objective == "none";
    let mut shares: Vec<f64> = TABLES
        .iter()
        .map(|(share, _)| *share)
        .filter(|share| groups.iter().any(|group| has_share(group, *share)))
        .collect();
    if shares.is_empty() && groups.iter().any(|group| is_upper_bound(group)) {
        shares.push(1.0);
    }
    let of_share = |share: f64| {
        let in_table = |group: &&Group| has_share(group, share) || is_upper_bound(group);
        comparison(share, &groups.iter().copied().filter(in_table).collect::<Vec<_>>())
    };
    shares.into_iter().map(of_share).collect()
}

/// What the groups of a row have in common. Rows are in the order of the fields.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct RowKey {
    is_upper_bound: bool,
    objective_rank: usize,
    settings: String,
    objective: String,
}

impl RowKey {
    fn of(group: &Group) -> RowKey {
        RowKey {
            is_upper_bound: group.fraction == 1.0,
            objective_rank: objective_rank(&group.objective),
            settings: group.variant(),
            objective: group.objective.clone(),
        }
    }
}

fn comparison(fraction: f64, groups: &[&Group]) -> PaperComparison {
    let column_of = |group: &Group| column(&group.topic, group.is_overnight).unwrap_or_default();
    let columns: Vec<usize> =
        (0..=DOMAINS.len()).filter(|column| groups.iter().any(|group| column_of(group) == *column)).collect();
    let mut keys: Vec<RowKey> = groups.iter().map(|group| RowKey::of(group)).collect();
    keys.sort();
    keys.dedup();
    let row = |key: &RowKey| {
        let of_row: Vec<&Group> = groups.iter().filter(|group| RowKey::of(group) == *key).copied().collect();
        let share = if key.is_upper_bound { 1.0 } else { fraction };
        let paper = |column: usize| published(share, &key.objective).map(|row| row.accuracy[column]);
        let cell = |column: &usize| {
            let group = of_row.iter().find(|group| column_of(group) == *column)?;
            let gain = group.over_labels_only.map(|gain| gain.interval);
            Some(comparison_cell(group.accuracy, paper(*column), gain))
        };
        let domains: Vec<&Group> = of_row.iter().filter(|group| group.is_overnight).copied().collect();
        ComparisonRow {
            method: match (key.objective.as_str(), key.is_upper_bound) {
                ("none", false) => "lower bound".to_owned(),
                ("none", true) => "upper bound".to_owned(),
                (objective, _) => objective.to_owned(),
            },
            objective: key.objective.clone(),
            settings: key.settings.clone(),
            cells: columns.iter().map(cell).collect(),
            average: average(&domains, |group| paper(column_of(group))),
            domains: domains.len(),
        }
    };
    let rows: Vec<ComparisonRow> = keys.iter().map(row).collect();
    let missing: Vec<&'static str> =
        (0..DOMAINS.len()).filter(|column| !columns.contains(column)).map(heading).collect();
    let notes = notes(fraction, &rows, &missing, columns.contains(&DOMAINS.len()));
    PaperComparison { fraction, columns: columns.into_iter().map(heading).collect(), missing, rows, notes }
}

/// Returns the averages over domains, ours and the paper's over the same domains.
fn average(domains: &[&Group], paper: impl Fn(&Group) -> Option<f64>) -> Option<ComparisonCell> {
    let count = domains.len();
    if count == 0 {
        return None;
    }
    let mean = domains.iter().map(|group| group.accuracy.mean).sum::<f64>() / count as f64;
    let paper: Option<Vec<f64>> = domains.iter().map(|group| paper(group)).collect();
    let paper = paper.map(|all| all.iter().sum::<f64>() / count as f64);
    let runs = domains.iter().map(|group| group.accuracy.runs).min().unwrap_or(0);
    let differences: Vec<Vec<f64>> = domains.iter().map(|group| group.differences.clone()).collect();
    let ours = MeanAccuracy { mean, deviation: None, runs };
    Some(comparison_cell(ours, paper, bootstrap::paired(&differences)))
}

fn comparison_cell(
    ours: MeanAccuracy,
    paper: Option<f64>,
    over_lower_bound: Option<Interval>,
) -> ComparisonCell {
    ComparisonCell { ours, paper, difference: paper.map(|paper| ours.mean - paper), over_lower_bound }
}

fn notes(fraction: f64, rows: &[ComparisonRow], missing: &[&str], has_geoquery: bool) -> Vec<String> {
    let mut notes = Vec::new();
    let counts: Vec<usize> = rows.iter().map(|row| row.domains).filter(|count| *count > 0).collect();
    if !missing.is_empty() && !counts.is_empty() {
        notes.push(format!("There are no test results for {}.", missing.join(", ")));
    }
    if counts.iter().any(|count| *count < DOMAINS.len()) {
        notes.push(
            "An average, ours or the paper's, covers the domains for which its row has results. Averages over different \
             domains are not comparable."
                .to_owned(),
        );
    }
    let has_sparse_average = rows.iter().any(|row| row.objective == "sparse" && row.domains == DOMAINS.len());
    if fraction == 0.1 && has_sparse_average {
        notes.push(
            "The paper prints 51.3 as the average of sparse; its eight numbers average 51.7, which is used here."
                .to_owned(),
        );
    }
    if rows.iter().any(|row| row.gain().is_some()) {
        notes.push(
            "Gain over lower bound: the row's average minus that of our lower bound, with a 95 % confidence interval \
             (bootstrap paired by question, within each domain)."
                .to_owned(),
        );
    }
    if has_geoquery {
        notes.push("A database named geography is taken to be GeoQuery.".to_owned());
    }
    notes
}
