//! The paper's tables, with our results by its method and by ours beside them.

use crate::bootstrap::Resampled;
use crate::groups::{Group, MeanAccuracy, settings_text};
use crate::method::Method;
use crate::published::{DOMAINS, EARLIER_WORK, PublishedRow, TABLES, UPPER_BOUND, column, published};
use crate::series::{Row, Series, SeriesKey, averaged, series, topic_of};
use crate::settings::{FILES, VECTORS, is_supervised, short_key};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// A table of the paper, with our results.
#[derive(Clone, Debug, Serialize)]
pub struct PaperComparison {
    /// The share of the training examples that are labeled.
    pub fraction: f64,
    /// The columns for which there are results: domains, then GeoQuery.
    pub columns: Vec<&'static str>,
    /// The domains over which all lines are averaged.
    pub averaged: Vec<&'static str>,
    /// The rows of the paper's table, and other objectives that we have results for.
    pub rows: Vec<ComparisonRow>,
    /// Remarks about the table.
    pub notes: Vec<String>,
}

/// A row of the paper's table.
#[derive(Clone, Debug, Serialize)]
pub struct ComparisonRow {
    /// `lower bound`, `upper bound`, the name of the objective, or the authors of earlier work.
    pub name: String,
    /// The paper's figures, then ours.
    pub lines: Vec<ComparisonLine>,
}

/// Figures of one source in a row.
#[derive(Clone, Debug, Serialize)]
pub struct ComparisonLine {
    /// Where the figures come from.
    pub source: String,
    /// The method, if the figures are ours.
    pub method: Option<Method>,
    /// The file name of the word vectors, if the figures are ours.
    pub vectors: Option<String>,
    /// The settings that tell the line apart from others with the same method and vectors; empty if none does.
    pub settings: String,
    /// A cell for each column, if there are figures.
    pub cells: Vec<Option<ComparisonCell>>,
    /// The average over the domains of [`PaperComparison::averaged`], if the line has figures for all of them.
    pub average: Option<f64>,
    /// The average minus that of the lower bound.
    pub gain: Option<AverageGain>,
    /// The average of the line's figures, if the paper prints another.
    pub misprint: Option<f64>,
}

/// An accuracy in percent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ComparisonCell {
    /// The accuracy; of several runs, their mean.
    pub accuracy: f64,
    /// The standard deviation over our runs, if there are several.
    pub deviation: Option<f64>,
    /// The number of our runs.
    pub runs: Option<usize>,
}

/// A gain over the lower bound on average, in percentage points.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct AverageGain {
    /// The gain. Ours is that of paired runs.
    pub difference: f64,
    /// The ends of the 95 % confidence interval, if the gain is ours.
    pub interval: Option<(f64, f64)>,
}

/// The column that is not a domain of Overnight.
const GEOQUERY: &str = "geoquery";
/// The number of columns of the paper's tables, without the average.
const COLUMNS: usize = DOMAINS.len() + 1;

impl PaperComparison {
    /// Returns the headings of the columns. The average comes after the domains, as in the paper, if some line has one.
    pub(crate) fn headings(&self) -> Vec<&'static str> {
        let mut headings = self.columns.clone();
        if self.has_average() {
            headings.insert(self.domains(), "average");
        }
        headings
    }

    /// Returns the position of the average in [`PaperComparison::headings`], if there is one.
    pub(crate) fn average_at(&self) -> Option<usize> {
        self.has_average().then(|| self.domains())
    }

    /// Returns our lines.
    pub(crate) fn our_lines(&self) -> impl Iterator<Item = &ComparisonLine> {
        self.rows.iter().flat_map(|row| &row.lines).filter(|line| line.method.is_some())
    }

    fn has_average(&self) -> bool {
        !self.averaged.is_empty()
    }

    fn domains(&self) -> usize {
        self.columns.iter().filter(|column| **column != GEOQUERY).count()
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

/// Returns the name of our figures by a method.
pub(crate) fn source_of(method: Method) -> String {
    format!("ours, {}", method.phrase())
}

/// A line of ours: a row of a series, by columns.
struct OurLine<'a> {
    row: Row,
    key: SeriesKey,
    groups: BTreeMap<usize, &'a Group>,
}

impl OurLine<'_> {
    /// Returns whether another line is about the same bound and has no other results.
    fn has_bound(&self, other: &OurLine<'_>) -> bool {
        let is_contained = |(column, group): (&usize, &&Group)| {
            self.groups.get(column).is_some_and(|own| own.index == group.index)
        };
        !matches!(self.row, Row::Objective(..))
            && (&self.row, self.key.method) == (&other.row, other.key.method)
            && other.groups.iter().all(is_contained)
    }

    /// Returns the domains of Overnight for which there are results.
    fn domains(&self) -> BTreeSet<usize> {
        self.groups.keys().copied().filter(|column| *column < DOMAINS.len()).collect()
    }

    fn write(&self, columns: &[usize], averaged: &BTreeSet<usize>) -> ComparisonLine {
        let cell = |MeanAccuracy { mean, deviation, runs }: MeanAccuracy| ComparisonCell {
            accuracy: mean,
            deviation,
            runs: Some(runs),
        };
        let cells = columns.iter().map(|column| self.groups.get(column).map(|group| cell(group.accuracy)));
        let on_average: Option<Vec<&Group>> =
            averaged.iter().map(|column| self.groups.get(column).copied()).collect();
        let on_average = on_average.filter(|groups| !groups.is_empty());
        let average = on_average
            .as_ref()
            .map(|groups| groups.iter().map(|group| group.accuracy.mean).sum::<f64>() / groups.len() as f64);
        let gains: Option<Vec<&Resampled>> = on_average
            .iter()
            .flatten()
            .map(|group| group.gain.as_ref().map(|gain| &gain.resampled))
            .collect();
        let gain = gains.and_then(|gains| Resampled::average(&gains)).map(|gain| gain.interval());
        ComparisonLine {
            source: source_of(self.key.method),
            method: Some(self.key.method),
            vectors: Some(self.key.vectors.clone()),
            settings: settings_text(&self.key.settings),
            cells: cells.collect(),
            average,
            gain: gain.map(|gain| AverageGain {
                difference: gain.difference,
                interval: Some((gain.low, gain.high)),
            }),
            misprint: None,
        }
    }

    /// Returns the name of the line in a note.
    fn name(&self) -> String {
        let settings = settings_text(&self.key.settings);
        let settings = if settings.is_empty() { settings } else { format!(" with {settings}") };
        format!("{} by {}{settings}", self.row.name(), self.key.method.phrase())
    }
}

/// Returns the tables of the paper for which there are results.
pub(crate) fn comparisons(groups: &[Group]) -> Vec<PaperComparison> {
    let has_results = |share: f64| {
        let mut in_paper = groups.iter().filter(|group| column_of(group).is_some() && group.held_out == 0);
        in_paper.any(|group| (group.fraction - share).abs() < 1e-9)
    };
    let shares = TABLES.iter().filter(|(share, _)| has_results(*share));
    shares.map(|(share, rows)| comparison(*share, rows, groups)).collect()
}

/// Returns the column of a group in the paper's tables.
fn column_of(group: &Group) -> Option<usize> {
    column(&group.topic, group.is_overnight)
}

fn comparison(fraction: f64, published_rows: &[PublishedRow], groups: &[Group]) -> PaperComparison {
    // The paper's figures are test results, so results on held-out examples are not beside them.
    let all = series(groups, fraction, 0);
    let lines = our_lines(&all);
    let covered: Vec<BTreeSet<usize>> =
        lines.iter().map(OurLine::domains).filter(|domains| !domains.is_empty()).collect();
    let averaged = averaged(&covered);
    let columns: Vec<usize> =
        (0..COLUMNS).filter(|column| lines.iter().any(|line| line.groups.contains_key(column))).collect();
    let mut rows: BTreeSet<Row> = lines.iter().map(|line| line.row.clone()).collect();
    rows.extend(published_rows.iter().map(|row| match row.objective {
        "none" => Row::LowerBound,
        objective => Row::of_objective(objective),
    }));
    rows.insert(Row::UpperBound);
    let lower_bound = published(fraction, "none");
    let write = |row: &Row| {
        let paper = match row {
            Row::LowerBound => lower_bound,
            Row::Objective(_, objective) => published(fraction, objective),
            Row::UpperBound => Some(&UPPER_BOUND),
        };
        let paper = paper.map(|paper| {
            let lower_bound = lower_bound.filter(|_| matches!(row, Row::Objective(..)));
            paper_line(paper, lower_bound, &columns, &averaged)
        });
        let ours = lines.iter().filter(|line| line.row == *row).map(|line| line.write(&columns, &averaged));
        ComparisonRow { name: row.name().to_owned(), lines: paper.into_iter().chain(ours).collect() }
    };
    let rows: Vec<ComparisonRow> = rows.iter().map(write).collect();
    let mut notes = notes(&rows, &lines, &columns, &averaged);
    notes.extend(mixed_settings(&all));
    PaperComparison {
        fraction,
        columns: columns.into_iter().map(heading).collect(),
        averaged: averaged.into_iter().map(heading).collect(),
        rows,
        notes,
    }
}

/// Returns a line for each row of each series that is in the paper's tables. Series of a method that share their bounds have one
/// line for them.
fn our_lines<'a>(all: &[Series<'a>]) -> Vec<OurLine<'a>> {
    let mut lines: Vec<OurLine<'a>> = Vec::new();
    for series in all {
        for row in series.rows() {
            let of_row = series.groups.iter().filter(|((other, _), _)| other == row);
            let groups: BTreeMap<usize, &Group> =
                of_row.filter_map(|(_, group)| Some((column_of(group)?, *group))).collect();
            let mut key = series.key.clone();
            if !matches!(row, Row::Objective(..)) {
                key.settings.retain(|(key, _)| is_supervised(key));
            }
            let line = OurLine { row: row.clone(), key, groups };
            if !line.groups.is_empty() && !lines.iter().any(|other| other.has_bound(&line)) {
                lines.retain(|other| !line.has_bound(other));
                lines.push(line);
            }
        }
    }
    lines
}

fn paper_line(
    row: &PublishedRow,
    lower_bound: Option<&PublishedRow>,
    columns: &[usize],
    averaged: &BTreeSet<usize>,
) -> ComparisonLine {
    let average = row.average(averaged);
    let gain = average.zip(lower_bound.and_then(|lower_bound| lower_bound.average(averaged)));
    ComparisonLine {
        gain: gain.map(|(own, bound)| AverageGain { difference: own - bound, interval: None }),
        misprint: row.misprint().filter(|_| averaged.len() == DOMAINS.len()),
        ..published_line("paper", columns, |column| row.accuracy(column), average)
    }
}

fn published_line(
    source: &str,
    columns: &[usize],
    accuracy: impl Fn(usize) -> Option<f64>,
    average: Option<f64>,
) -> ComparisonLine {
    let cell = |accuracy| ComparisonCell { accuracy, deviation: None, runs: None };
    ComparisonLine {
        source: source.to_owned(),
        method: None,
        vectors: None,
        settings: String::new(),
        cells: columns.iter().map(|column| accuracy(*column).map(cell)).collect(),
        average,
        gain: None,
        misprint: None,
    }
}

/// Returns the paper's table of earlier work with our upper bound, if there are results with all labels.
pub(crate) fn earlier_work(groups: &[Group]) -> Option<PaperComparison> {
    let is_upper_bound = |group: &&Group| {
        group.is_labels_only()
            && group.fraction == 1.0
            && group.held_out == 0
            && column_of(group).is_some_and(|column| column < DOMAINS.len())
    };
    let mut keys: Vec<SeriesKey> = Vec::new();
    let mut lines: Vec<OurLine<'_>> = Vec::new();
    for group in groups.iter().filter(is_upper_bound) {
        let settings = group.settings.iter().filter(|(key, _)| key != VECTORS);
        let key = SeriesKey {
            method: group.method,
            vectors: group.vectors.clone(),
            settings: settings.cloned().collect(),
        };
        let index = keys.iter().position(|other| *other == key).unwrap_or_else(|| {
            keys.push(key.clone());
            lines.push(OurLine { row: Row::UpperBound, key, groups: BTreeMap::new() });
            lines.len() - 1
        });
        lines[index].groups.extend(column_of(group).map(|column| (column, group)));
    }
    if lines.is_empty() {
        return None;
    }
    lines.sort_by(|left, right| left.key.cmp(&right.key));
    // One domain needs no average.
    let averaged = Some(averaged(&lines.iter().map(OurLine::domains).collect::<Vec<_>>()))
        .filter(|averaged| averaged.len() > 1)
        .unwrap_or_default();
    let columns: Vec<usize> = (0..DOMAINS.len())
        .filter(|column| lines.iter().any(|line| line.groups.contains_key(column)))
        .collect();
    let row = |name: &str, line| ComparisonRow { name: name.to_owned(), lines: vec![line] };
    let earlier = |index: usize, source: &'static str| {
        EARLIER_WORK[index].iter().map({
            let (columns, averaged) = (&columns, &averaged);
            move |work| {
                let accuracy = |column: usize| work.accuracy.get(column).copied();
                row(work.authors, published_line(source, columns, accuracy, work.average(averaged)))
            }
        })
    };
    let mut rows: Vec<ComparisonRow> = earlier(0, "").collect();
    let paper = |column: usize| UPPER_BOUND.accuracy(column);
    rows.push(row("the paper", published_line("", &columns, paper, UPPER_BOUND.average(&averaged))));
    rows.push(ComparisonRow {
        name: "ours".to_owned(),
        lines: lines
            .iter()
            .map(|line| ComparisonLine {
                source: line.key.method.phrase().to_owned(),
                ..line.write(&columns, &averaged)
            })
            .collect(),
    });
    rows.extend(earlier(1, "cross-domain"));
    let mut notes = vec![
        "Supervised training with all labels, from the paper's appendix. Cross-domain: trained on all domains together."
            .to_owned(),
    ];
    notes.extend(average_notes(&lines, &columns, &averaged));
    Some(PaperComparison {
        fraction: 1.0,
        columns: columns.into_iter().map(heading).collect(),
        averaged: averaged.into_iter().map(heading).collect(),
        rows,
        notes,
    })
}

fn notes(
    rows: &[ComparisonRow],
    lines: &[OurLine<'_>],
    columns: &[usize],
    averaged: &BTreeSet<usize>,
) -> Vec<String> {
    let mut notes = vec![method_note(&lines.iter().map(|line| line.key.method).collect())];
    notes.extend(average_notes(lines, columns, averaged));
    let all = || rows.iter().flat_map(|row| &row.lines);
    if all().any(|line| line.gain.is_some()) {
        notes.push(
            "In parentheses after an average: the gain over the lower bound. Ours is that of paired runs, with its 95 % \
             confidence interval. Our lower bound has the same word vectors, model, schedule and evaluation."
                .to_owned(),
        );
    }
    for line in all() {
        if let (Some(computed), Some(printed)) = (line.misprint, line.average) {
            notes.push(format!("† The paper prints {printed:.1}; its eight figures average {computed:.1}."));
        }
    }
    if columns.contains(&DOMAINS.len()) {
        notes.push("A database named geography is taken to be GeoQuery.".to_owned());
    }
    notes
}

/// Returns what the methods of a table are.
pub(crate) fn method_note(methods: &BTreeSet<Method>) -> String {
    let explained = |method: &Method| match method {
        Method::Paper => {
            "Paper's method: a parser learns from its own search (learn.ensemble = 0) and answers without a noisy channel \
             (eval.noisy_channel = 0)."
        }
        Method::Ours => {
            "Our method: an ensemble suggests the programs to learn from, a noisy channel re-ranks the answers, or training starts from a pretrained parser."
        }
    };
    methods.iter().map(explained).collect::<Vec<_>>().join(" ")
}

/// The most lines without an average that are named.
const MOST_NAMED: usize = 4;

/// Returns which domains averages are over, and which lines have none.
fn average_notes(lines: &[OurLine<'_>], columns: &[usize], averaged: &BTreeSet<usize>) -> Vec<String> {
    let names = |columns: &BTreeSet<usize>| {
        columns.iter().map(|column| heading(*column)).collect::<Vec<_>>().join(", ")
    };
    let mut notes = Vec::new();
    let absent: BTreeSet<usize> = (0..DOMAINS.len()).filter(|column| !columns.contains(column)).collect();
    if !absent.is_empty() && absent.len() < DOMAINS.len() {
        notes.push(format!("There are no test results for {}.", names(&absent)));
    }
    if !averaged.is_empty() && averaged.len() < DOMAINS.len() {
        notes.push(format!("All averages, also the paper's, are over {}.", names(averaged)));
    }
    let without = lines.iter().filter_map(|line| {
        let missing: BTreeSet<usize> = averaged.difference(&line.domains()).copied().collect();
        let is_partial = !missing.is_empty() && missing.len() < averaged.len();
        is_partial.then(|| format!("{} (without {})", line.name(), names(&missing)))
    });
    let without: Vec<String> = without.collect();
    match without.len() {
        0 => {}
        1..=MOST_NAMED => {
            notes.push(format!("No average, because domains are missing: {}.", without.join("; ")));
        }
        count => {
            notes.push(format!("{count} lines have no average, because they lack some of these domains."));
        }
    }
    notes
}

/// Returns a note about the settings in which the objectives or the data of a series differ, if there are any.
pub(crate) fn mixed_settings(all: &[Series<'_>]) -> Option<String> {
    let mut mixed: BTreeSet<&str> = BTreeSet::new();
    for series in all {
        let mut values: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        let with_settings = series.groups.iter().filter(|((row, _), _)| *row != Row::UpperBound);
        for (key, value) in with_settings.flat_map(|(_, group)| &group.variant) {
            values.entry(key).or_default().insert(value);
        }
        let differing = values.into_iter().filter(|(key, values)| values.len() > 1 && !FILES.contains(key));
        mixed.extend(differing.map(|(key, _)| short_key(key)));
    }
    let names: Vec<&str> = mixed.into_iter().collect();
    (!names.is_empty()).then(|| {
        format!(
            "Between the objectives or the data of one method, these settings differ: {}.",
            names.join(", ")
        )
    })
}

/// Returns the data of groups in the order of the paper's tables, then by name.
pub(crate) fn topics_in_order<'a>(groups: impl Iterator<Item = &'a Group>) -> Vec<(bool, String)> {
    let mut topics: Vec<(bool, String)> = groups.map(topic_of).collect();
    topics.sort_by_key(|(is_database, name)| {
        (*is_database, column(name, !is_database).unwrap_or(COLUMNS), name.clone())
    });
    topics.dedup();
    topics
}
