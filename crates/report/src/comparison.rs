//! Our results beside the paper's.

use crate::bootstrap::{self, Interval};
use crate::groups::{Group, Spread, place_of};
use crate::published::{DOMAINS, TABLES, column, published};
use serde::Serialize;

/// A table of the paper, with our results.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// The labeled share; 1 if there are upper bounds only.
    pub fraction: f64,
    /// The columns we have results for: domains, then GeoQuery.
    pub columns: Vec<&'static str>,
    /// The domains we have none for.
    pub missing: Vec<&'static str>,
    /// A row an objective and choice of settings.
    pub rows: Vec<ComparisonRow>,
    /// What to know about it.
    pub notes: Vec<String>,
}

impl Comparison {
    /// Whether some row is compared with the lower bound over domains.
    pub(crate) fn has_gain(&self) -> bool {
        self.rows.iter().any(|row| row.gain().is_some())
    }
}

impl ComparisonRow {
    /// How much better than the lower bound it is, over the domains it has.
    pub(crate) fn gain(&self) -> Option<Interval> {
        self.average.and_then(|average| average.over_lower_bound)
    }
}

/// A row of a comparison.
#[derive(Clone, Debug, Serialize)]
pub struct ComparisonRow {
    /// Lower bound, an objective, or upper bound.
    pub method: String,
    /// The objective's name in settings.
    pub objective: String,
    /// The settings that tell it apart; empty if none does.
    pub settings: String,
    /// One a column, if there are runs.
    pub cells: Vec<Option<ComparisonCell>>,
    /// Over the domains of Overnight that the row has.
    pub average: Option<ComparisonCell>,
    /// How many these are.
    pub domains: usize,
}

/// Ours beside theirs, in percent.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ComparisonCell {
    /// Ours.
    pub ours: Spread,
    /// Theirs, if the paper has the row.
    pub paper: Option<f64>,
    /// Ours less theirs.
    pub difference: Option<f64>,
    /// Ours less our lower bound, with its 95 % interval.
    pub over_lower_bound: Option<Interval>,
}

/// The column that is no domain of Overnight.
pub(crate) const GEOQUERY: &str = "geoquery";

/// What a column is called: the paper's word for the last domain is shorter.
fn heading(column: usize) -> &'static str {
    match DOMAINS.get(column) {
        Some(&"socialnetwork") => "social",
        Some(domain) => domain,
        None => GEOQUERY,
    }
}

/// The tables of the paper that we have results for.
pub(crate) fn comparisons(groups: &[Group]) -> Vec<Comparison> {
    // The paper's numbers are of the test; what was evaluated on held-out examples is not compared with them.
    let in_paper = |group: &&Group| group.held_out == 0 && column(&group.topic, group.is_overnight).is_some();
    let groups: Vec<&Group> = groups.iter().filter(in_paper).collect();
    let is_upper = |group: &Group| group.fraction == 1.0 && group.objective == "none";
    let with_few = |share: f64| groups.iter().any(|group| (group.fraction - share).abs() < 1e-9);
    let mut shares: Vec<f64> =
        TABLES.iter().map(|(share, _)| *share).filter(|share| with_few(*share)).collect();
    if shares.is_empty() && groups.iter().any(|group| is_upper(group)) {
        shares.push(1.0);
    }
    let of_share = |share: f64| {
        let chosen: Vec<&Group> = groups
            .iter()
            .filter(|group| (group.fraction - share).abs() < 1e-9 || is_upper(group))
            .copied()
            .collect();
        comparison(share, &chosen)
    };
    shares.into_iter().map(of_share).collect()
}

fn comparison(fraction: f64, groups: &[&Group]) -> Comparison {
    let at = |group: &Group| column(&group.topic, group.is_overnight).unwrap_or_default();
    let shown: Vec<usize> = (0..=DOMAINS.len()).filter(|c| groups.iter().any(|g| at(g) == *c)).collect();
    // Rows: objective and settings; the upper bound last.
    let mut names: Vec<(bool, usize, String, String)> = groups
        .iter()
        .map(|g| (g.fraction == 1.0, place_of(&g.objective), g.variant(), g.objective.clone()))
        .collect();
    names.sort();
    names.dedup();
    let row = |(is_upper, _, variant, objective): &(bool, usize, String, String)| {
        let of_row: Vec<&Group> = groups
            .iter()
            .filter(|g| {
                (g.fraction == 1.0) == *is_upper && g.objective == *objective && g.variant() == *variant
            })
            .copied()
            .collect();
        let share = if *is_upper { 1.0 } else { fraction };
        let theirs = |c: usize| published(share, objective).map(|row| row.accuracy[c]);
        let cell = |c: &usize| {
            let group = of_row.iter().find(|g| at(g) == *c)?;
            Some(beside(group.accuracy, theirs(*c), group.over_labels_only.map(|found| found.interval)))
        };
        let domains: Vec<&Group> = of_row.iter().filter(|g| g.is_overnight).copied().collect();
        ComparisonRow {
            method: match (objective.as_str(), is_upper) {
                ("none", false) => "lower bound".to_owned(),
                ("none", true) => "upper bound".to_owned(),
                (objective, _) => objective.to_owned(),
            },
            objective: objective.clone(),
            settings: variant.clone(),
            cells: shown.iter().map(cell).collect(),
            average: average(&domains, |g| theirs(at(g))),
            domains: domains.len(),
        }
    };
    let rows: Vec<ComparisonRow> = names.iter().map(row).collect();
    let missing: Vec<&'static str> = (0..DOMAINS.len()).filter(|c| !shown.contains(c)).map(heading).collect();
    let columns = shown.iter().copied().map(heading).collect();
    let notes = notes(fraction, &rows, &missing, shown.contains(&DOMAINS.len()));
    Comparison { fraction, columns, missing, rows, notes }
}

/// The average over domains, ours and theirs over the same ones.
fn average(domains: &[&Group], theirs: impl Fn(&Group) -> Option<f64>) -> Option<ComparisonCell> {
    let count = domains.len();
    if count == 0 {
        return None;
    }
    let mean = domains.iter().map(|group| group.accuracy.mean).sum::<f64>() / count as f64;
    let paper: Option<Vec<f64>> = domains.iter().map(|group| theirs(group)).collect();
    let paper = paper.map(|all| all.iter().sum::<f64>() / count as f64);
    let runs = domains.iter().map(|group| group.accuracy.runs).min().unwrap_or(0);
    let strata: Vec<Vec<f64>> = domains.iter().map(|group| group.differences.clone()).collect();
    Some(beside(Spread { mean, deviation: None, runs }, paper, bootstrap::paired(&strata)))
}

fn beside(ours: Spread, paper: Option<f64>, over_lower_bound: Option<Interval>) -> ComparisonCell {
    ComparisonCell { ours, paper, difference: paper.map(|paper| ours.mean - paper), over_lower_bound }
}

fn notes(fraction: f64, rows: &[ComparisonRow], missing: &[&str], has_geoquery: bool) -> Vec<String> {
    let mut notes = Vec::new();
    let counts: Vec<usize> = rows.iter().map(|row| row.domains).filter(|count| *count > 0).collect();
    if !missing.is_empty() && !counts.is_empty() {
        notes.push(format!("No test results on {}.", missing.join(", ")));
    }
    if counts.iter().any(|count| *count < DOMAINS.len()) {
        notes.push(
            "An average, ours and theirs, is over the domains that its row has; rows with other domains cannot be \
             compared by it."
                .to_owned(),
        );
    }
    if counts.contains(&DOMAINS.len())
        && fraction == 0.1
        && rows.iter().any(|row| row.objective == "sparse" && row.domains == DOMAINS.len())
    {
        notes.push(
            "The paper prints 51.3 as the average of sparse; its eight numbers average 51.7, which is used here."
                .to_owned(),
        );
    }
    if rows.iter().any(|row| row.gain().is_some()) {
        notes.push(
            "Over lower bound: how far the average is above that of our lower bound, with a 95 % interval (bootstrap paired \
             by question, within each domain)."
                .to_owned(),
        );
    }
    if has_geoquery {
        notes.push("A database called geography is taken for GeoQuery.".to_owned());
    }
    notes
}
