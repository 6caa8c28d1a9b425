//! The tables of a report as text. The modules for terminal, Markdown and HTML only lay them out.

use crate::bootstrap::Interval;
use crate::groups::percent_of_labels;
use crate::published::GOLD_RATIO_OF_CALENDAR;
use crate::{
    AverageGain, ComparisonCell, ComparisonLine, ComparisonRow, Difference, DifferenceRow, DifferenceTable,
    ErrorAnalysis, ExperimentComparison, ExperimentResult, Group, PairedResult, PaperComparison, Report,
};
use std::collections::BTreeSet;

/// A table. Its first columns are text, aligned left; the others are numbers, aligned right.
pub(crate) struct TextTable {
    pub(crate) title: String,
    /// The number of columns that are text.
    pub(crate) text_columns: usize,
    pub(crate) headings: Vec<String>,
    pub(crate) rows: Vec<Vec<TableCell>>,
    /// Remarks below the table.
    pub(crate) notes: Vec<String>,
}

/// A cell of a table.
#[derive(Clone, PartialEq)]
pub(crate) struct TableCell {
    pub(crate) text: String,
    /// What HTML writes smaller, below the text.
    pub(crate) detail: Option<String>,
}

impl<T: Into<String>> From<T> for TableCell {
    fn from(text: T) -> Self {
        TableCell { text: text.into(), detail: None }
    }
}

impl TableCell {
    fn with_detail(text: impl Into<String>, detail: String) -> TableCell {
        TableCell { text: text.into(), detail: Some(detail).filter(|detail| !detail.is_empty()) }
    }

    /// Returns the text, followed by the detail in parentheses.
    pub(crate) fn on_one_line(&self) -> String {
        match &self.detail {
            Some(detail) => format!("{} ({detail})", self.text),
            None => self.text.clone(),
        }
    }
}

/// The text of a cell without a value.
pub(crate) const NO_VALUE: &str = "–";

/// Returns a number with its sign, which is a typographic minus. A number that rounds to zero has no sign.
pub(crate) fn signed(value: f64) -> String {
    let text = format!("{value:+.1}");
    if text == "-0.0" || text == "+0.0" { "0.0".to_owned() } else { text.replace('-', "−") }
}

/// Returns a share from 0 to 1 in percent.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.1}", 100.0 * share)
}

/// Returns the ends of an interval.
pub(crate) fn interval(low: f64, high: f64) -> String {
    format!("{} to {}", signed(low), signed(high))
}

/// Returns an accuracy with its standard deviation, if there is one.
fn accuracy(mean: f64, deviation: Option<f64>) -> String {
    match deviation {
        Some(deviation) => format!("{mean:.1} ± {deviation:.1}"),
        None => format!("{mean:.1}"),
    }
}

/// Returns headings as text.
fn headings<'a>(texts: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    texts.into_iter().map(str::to_owned).collect()
}

/// Returns the cells that name a group: data, labels, objective and method.
fn group_cells(group: &Group) -> [TableCell; 4] {
    let held_out = match group.held_out {
        0 => String::new(),
        held_out => format!("held out {held_out}"),
    };
    [
        group.topic.as_str().into(),
        TableCell::with_detail(group.labels(), held_out),
        group.objective_name().into(),
        TableCell::with_detail(group.method.name(), group.variant()),
    ]
}

/// The headings of [`group_cells`].
const GROUP_HEADINGS: [&str; 4] = ["data", "labels", "objective", "method"];

/// Returns the name of a group in one phrase, with its word vectors.
pub(crate) fn group_name(group: &Group) -> String {
    let [topic, labels, objective, _] = group_cells(group).map(|cell| cell.on_one_line());
    let method = TableCell::with_detail(group.method.phrase(), group.variant()).on_one_line();
    format!("{topic}, {labels}, {objective}, {method}, word vectors {}", group.vectors)
}

/// Returns a note about the word vectors of a table.
fn vectors_note<'a>(vectors: impl Iterator<Item = &'a str>) -> Option<String> {
    let vectors: BTreeSet<&str> = vectors.collect();
    match vectors.iter().copied().collect::<Vec<_>>().as_slice() {
        [] => None,
        ["none"] => Some("Word vectors: none.".to_owned()),
        [only] => Some(format!("Word vectors: {only}.")),
        several => Some(format!("Word vectors: {}. Each row of ours names its own.", several.join(", "))),
    }
}

/// Returns the details of a row of ours: its word vectors if the rows of the table differ in them, and its settings.
fn details(vectors: &str, settings: &str, are_vectors_mixed: bool) -> String {
    let vectors = Some(vectors).filter(|_| are_vectors_mixed);
    vectors.into_iter().chain([settings]).filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ")
}

fn are_mixed<'a>(mut vectors: impl Iterator<Item = &'a str>) -> bool {
    let first = vectors.next();
    vectors.any(|other| Some(other) != first)
}

/// Returns the size of a report in a phrase, such as `8 runs in 6 groups`.
pub(crate) fn summary(report: &Report) -> String {
    let count = |count: usize, noun: &str| format!("{count} {noun}{}", if count == 1 { "" } else { "s" });
    let mut summary = count(report.evaluated, "run");
    if report.groups.len() != report.evaluated {
        summary = format!("{summary} in {}", count(report.groups.len(), "group"));
    }
    if report.runs > report.evaluated {
        summary = format!("{summary}; {} not evaluated", report.runs - report.evaluated);
    }
    summary
}

/// Returns the table of accuracies, a row for each group.
pub(crate) fn accuracies(report: &Report) -> TextTable {
    let has_gains = report.groups.iter().any(|group| group.over_lower_bound.is_some());
    let gain_headings: &[&str] = if has_gains { &["gain over labels only", "95 % interval"] } else { &[] };
    let row = |group: &Group| {
        let mut row = group_cells(group).to_vec();
        row.push(accuracy(group.accuracy.mean, group.accuracy.deviation).into());
        if has_gains {
            let gain = group.over_lower_bound.map(|gain| {
                [signed(gain.interval.difference), interval(gain.interval.low, gain.interval.high)]
            });
            row.extend(gain.unwrap_or_default().map(TableCell::from));
        }
        row.extend([group.accuracy.runs, group.questions].map(|count| TableCell::from(count.to_string())));
        row
    };
    TextTable {
        title: "Accuracy".to_owned(),
        text_columns: GROUP_HEADINGS.len(),
        headings: headings(
            [&GROUP_HEADINGS[..], &["accuracy"], gain_headings, &["runs", "questions"]].concat(),
        ),
        rows: report.groups.iter().map(row).collect(),
        notes: accuracy_notes(report, has_gains),
    }
}

fn accuracy_notes(report: &Report, has_gains: bool) -> Vec<String> {
    let mut notes = vec![
        "Accuracy in percent: the mean and, with several runs, the standard deviation over splits and seeds."
            .to_owned(),
    ];
    if has_gains {
        notes.push(
            "The gain is over labels only with the same word vectors, model, schedule and evaluation. A run is paired with the \
             one of its split and seed, or with the mean of those of its split."
                .to_owned(),
        );
        notes.push(INTERVAL_NOTE.to_owned());
    }
    if report.groups.iter().any(|group| group.held_out > 0) {
        notes.push(HELD_OUT_NOTE.to_owned());
    }
    notes.extend(group_vectors(report.groups.iter()));
    notes
}

const INTERVAL_NOTE: &str = "The interval is a 95 % confidence interval, a bootstrap over runs and questions. With one run it \
                             accounts for the choice of questions only.";

const HELD_OUT_NOTE: &str = "Held out: evaluated on training examples that were set aside. These are not test results and not \
                             comparable with the paper's.";

/// Returns a note about the word vectors of groups.
fn group_vectors<'a>(groups: impl Iterator<Item = &'a Group>) -> Option<String> {
    vectors_note(groups.map(|group| group.vectors.as_str()))
}

/// Returns the share of labels of a table.
pub(crate) fn labels_of(fraction: f64) -> String {
    match fraction {
        1.0 => "all labels".to_owned(),
        fraction => format!("{} of the labels", percent_of_labels(fraction)),
    }
}

/// The title of the comparisons.
pub(crate) const COMPARISON: &str = "Comparison with the paper";
/// The title of the table of earlier work.
pub(crate) const EARLIER_WORK: &str = "Comparison with earlier work";
/// The title of the differences.
pub(crate) const DIFFERENCES: &str = "Differences between objectives";

/// The title of the table of what execution decides.
pub(crate) const EXECUTION: &str = "What execution decides";

/// Returns the tables with published figures.
pub(crate) fn beside_the_paper(report: &Report) -> Vec<TextTable> {
    let paper = report.comparisons.iter().map(|table| comparison(COMPARISON, table));
    paper.chain(report.earlier_work.iter().map(|table| comparison(EARLIER_WORK, table))).collect()
}

/// Returns the tables of a report after that of the accuracies.
pub(crate) fn after_accuracies(report: &Report) -> Vec<TextTable> {
    let mut tables = beside_the_paper(report);
    tables.extend(report.differences.iter().map(differences));
    tables.extend(training(report));
    tables.extend(execution(report));
    tables.extend(calibration(report));
    tables
}

/// Returns the table of a comparison, with a line for the paper's figures and lines for ours in each of its rows.
pub(crate) fn comparison(title: &str, comparison: &PaperComparison) -> TextTable {
    let vectors = || comparison.our_lines().filter_map(|line| line.vectors.as_deref());
    let are_vectors_mixed = are_mixed(vectors());
    let line = |line: &ComparisonLine, name: &str| {
        let details =
            line.vectors.as_deref().map(|vectors| details(vectors, &line.settings, are_vectors_mixed));
        let source = TableCell::with_detail(line.source.as_str(), details.unwrap_or_default());
        let value = |cell: &Option<ComparisonCell>| match cell {
            Some(cell) => accuracy(cell.accuracy, cell.deviation).into(),
            None => NO_VALUE.into(),
        };
        let mut cells: Vec<TableCell> = line.cells.iter().map(value).collect();
        if let Some(position) = comparison.average_at() {
            cells.insert(position, average_cell(line));
        }
        [name.into(), source].into_iter().chain(cells).collect::<Vec<_>>()
    };
    let lines = |row: &ComparisonRow| -> Vec<Vec<TableCell>> {
        let names = std::iter::once(row.name.as_str()).chain(std::iter::repeat(""));
        row.lines.iter().zip(names).map(|(own, name)| line(own, name)).collect()
    };
    let mut notes = comparison.notes.clone();
    notes.extend(vectors_note(vectors()));
    TextTable {
        title: format!("{title}: {}", labels_of(comparison.fraction)),
        text_columns: 2,
        headings: headings(["", ""].into_iter().chain(comparison.headings())),
        rows: comparison.rows.iter().flat_map(lines).collect(),
        notes,
    }
}

/// Returns the average of a line, with its gain over the lower bound.
fn average_cell(line: &ComparisonLine) -> TableCell {
    let Some(average) = line.average else { return NO_VALUE.into() };
    let mark = if line.misprint.is_some() { " †" } else { "" };
    let gain = |gain: AverageGain| match gain.interval {
        Some((low, high)) => format!("{}; {}", signed(gain.difference), interval(low, high)),
        None => signed(gain.difference),
    };
    TableCell::with_detail(format!("{average:.1}{mark}"), line.gain.map(gain).unwrap_or_default())
}

/// Returns the table of the differences between objectives.
pub(crate) fn differences(table: &DifferenceTable) -> TextTable {
    let vectors = || table.rows.iter().map(|row| row.vectors.as_str());
    let are_vectors_mixed = are_mixed(vectors());
    let has_average = !table.averaged.is_empty();
    let marked = |interval: Interval| {
        format!("{}{}", signed(interval.difference), if interval.excludes_zero() { " *" } else { "" })
    };
    let cell = |(column, cell): (usize, &Option<Difference>)| match cell {
        // The interval of a domain would make the table too wide; that of the average is beside it.
        Some(cell) if has_average && column < table.domains => marked(cell.interval).into(),
        Some(Difference { interval: own, .. }) => {
            TableCell::with_detail(marked(*own), interval(own.low, own.high))
        }
        None => NO_VALUE.into(),
    };
    let row = |row: &DifferenceRow| {
        let mut cells: Vec<TableCell> = row.cells.iter().enumerate().map(cell).collect();
        if has_average {
            let average = row.average.map_or(NO_VALUE.into(), |average| {
                TableCell::with_detail(marked(average), interval(average.low, average.high))
            });
            cells.insert(table.domains, average);
        }
        let details = details(&row.vectors, &row.settings, are_vectors_mixed);
        let method = TableCell::with_detail(row.method.name(), details);
        [method, format!("{} − {}", row.objective, row.minus).into()].into_iter().chain(cells).collect()
    };
    let mut columns: Vec<&str> = table.topics.iter().map(String::as_str).collect();
    if has_average {
        columns.insert(table.domains, "average");
    }
    let mut notes = vec![
        "In percentage points, paired by run and by question. * The 95 % confidence interval does not contain 0."
            .to_owned(),
        INTERVAL_NOTE.to_owned(),
    ];
    notes.extend(table.notes.iter().cloned());
    if table.held_out > 0 {
        notes.push(HELD_OUT_NOTE.to_owned());
    }
    notes.extend(vectors_note(vectors()));
    TextTable {
        title: format!("{DIFFERENCES}: {}", conditions_of(table)),
        text_columns: 2,
        headings: headings(["method", "difference"].into_iter().chain(columns)),
        rows: table.rows.iter().map(row).collect(),
        notes,
    }
}

/// Returns the share of labels and the evaluation examples of differences.
pub(crate) fn conditions_of(table: &DifferenceTable) -> String {
    match table.held_out {
        0 => labels_of(table.fraction),
        held_out => format!("{}, {held_out} held-out examples", labels_of(table.fraction)),
    }
}

/// Returns the table of the diagnostics of training, if some group learned from unlabeled questions.
pub(crate) fn training(report: &Report) -> Option<TextTable> {
    let ends = |curve: &[(f64, f64)]| match (curve.first(), curve.last()) {
        (Some((_, first)), Some((_, last))) => format!("{first:.2} → {last:.2}"),
        _ => NO_VALUE.to_owned(),
    };
    let number = |value: Option<f64>| value.map_or(NO_VALUE.to_owned(), |value| format!("{value:.2}"));
    let end = |curve: &[(f64, f64)]| number(curve.last().map(|point| point.1));
    let row = |group: &Group| {
        let curves = &group.curves;
        let columns = [
            end(&curves.length_ratio),
            number(curves.gold_ratio),
            end(&curves.coverage),
            ends(&curves.rewarded),
            ends(&curves.mass),
        ];
        group_cells(group).into_iter().chain(columns.map(TableCell::from)).collect()
    };
    let learned: Vec<&Group> =
        report.groups.iter().filter(|group| !group.curves.rewarded.is_empty()).collect();
    if learned.is_empty() {
        return None;
    }
    let mut notes = vec![
        "Length ratio: the length of rewarded programs divided by that of their questions. Gold ratio: the same for the \
         labeled programs. Coverage: the share of questions whose labeled program is among the rewarded candidates. Length \
         ratio and coverage are cumulative means at the end of training, as in the paper's section 5.3, over the steps that a \
         run records."
            .to_owned(),
        "Rewarded: the share of candidates that are rewarded. Mass: the total probability of the candidates. Both at the start \
         and at the end of training, as means over windows of steps."
            .to_owned(),
    ];
    if learned.iter().any(|group| group.is_overnight && group.topic == "calendar") {
        notes.push(format!("The paper's gold ratio for calendar is {GOLD_RATIO_OF_CALENDAR}."));
    }
    notes.extend(group_vectors(learned.iter().copied()));
    let columns = ["length ratio", "gold ratio", "coverage", "rewarded", "mass"];
    Some(TextTable {
        title: "Training on unlabeled questions".to_owned(),
        text_columns: GROUP_HEADINGS.len(),
        headings: headings([&GROUP_HEADINGS[..], &columns].concat()),
        rows: learned.into_iter().map(row).collect(),
        notes,
    })
}

/// Returns the table of what execution decides, if some group has predictions.
pub(crate) fn execution(report: &Report) -> Option<TextTable> {
    let row = |group: &Group| {
        let effect = group.execution?;
        let shares = [effect.first_fails, effect.first_correct, effect.chosen_correct, effect.any_correct];
        let numbers = shares.map(|share| TableCell::from(percent(share)));
        Some(group_cells(group).into_iter().chain(numbers).collect::<Vec<_>>())
    };
    let rows: Vec<Vec<TableCell>> = report.groups.iter().filter_map(row).collect();
    if rows.is_empty() {
        return None;
    }
    let columns = ["first fails", "first correct", "chosen correct", "any correct"];
    let mut notes = vec![
        "In percent of the questions. First fails: the first candidate fails, so execution says something about it. First \
         correct: the accuracy if the first candidate were always chosen. Chosen correct: the accuracy. Any correct: one of the \
         candidates is correct."
            .to_owned(),
    ];
    notes.extend(group_vectors(report.groups.iter().filter(|group| group.execution.is_some())));
    Some(TextTable {
        title: EXECUTION.to_owned(),
        text_columns: GROUP_HEADINGS.len(),
        headings: headings([&GROUP_HEADINGS[..], &columns].concat()),
        rows,
        notes,
    })
}

/// Returns the table of calibration, if some group has predictions.
pub(crate) fn calibration(report: &Report) -> Option<TextTable> {
    let row = |group: &Group| {
        let calibration = group.calibration.as_ref()?;
        let error = percent(calibration.expected_error);
        let accuracy = [1.0, 0.9, 0.8, 0.5].map(|coverage| percent(calibration.accuracy_at(coverage)));
        let numbers = [error].into_iter().chain(accuracy).map(TableCell::from);
        Some(group_cells(group).into_iter().chain(numbers).collect::<Vec<_>>())
    };
    let rows: Vec<Vec<TableCell>> = report.groups.iter().filter_map(row).collect();
    if rows.is_empty() {
        return None;
    }
    let columns = ["calibration error", "all answers", "top 90 %", "top 80 %", "top 50 %"];
    let mut notes = vec![
        "Confidence is the probability of the chosen program or, if a run counts votes, that its answer is right. The calibration error is the mean difference between \
         confidence and accuracy over ten bins, in percentage points. Top 90 %: the accuracy on the 90 % of the \
         questions that are answered with most confidence."
            .to_owned(),
    ];
    notes.extend(group_vectors(report.groups.iter().filter(|group| group.calibration.is_some())));
    Some(TextTable {
        title: "Calibration".to_owned(),
        text_columns: GROUP_HEADINGS.len(),
        headings: headings([&GROUP_HEADINGS[..], &columns].concat()),
        rows,
        notes,
    })
}

/// Returns the tables of the errors of a group.
pub(crate) fn errors(errors: &ErrorAnalysis) -> Vec<TextTable> {
    let table = |title: &str, columns: &[&str], text_columns, rows: Vec<Vec<String>>| TextTable {
        title: title.to_owned(),
        text_columns,
        headings: headings(columns.iter().copied()),
        rows: rows.into_iter().map(|row| row.into_iter().map(TableCell::from).collect()).collect(),
        notes: vec![],
    };
    let share = |count: usize, all: usize| percent(count as f64 / all.max(1) as f64);
    let kinds = errors
        .kinds
        .iter()
        .map(|(kind, count)| vec![kind.name().to_owned(), count.to_string(), share(*count, errors.answers)]);
    let mut tables = vec![table("Answers", &["answer", "count", "%"], 1, kinds.collect())];
    if errors.right_by_another_program > 0 {
        let count = errors.right_by_another_program;
        tables[0]
            .notes
            .push(format!("{count} correct answers come from programs that differ from the label."));
    }
    for (title, subsets) in
        [("Accuracy by construction", &errors.constructions), ("Accuracy by length", &errors.lengths)]
    {
        let rows = subsets.iter().map(|subset| {
            vec![subset.name.clone(), subset.answers.to_string(), share(subset.right, subset.answers)]
        });
        tables.push(table(title, &["labeled program has", "answers", "correct %"], 1, rows.collect()));
    }
    let confused = errors
        .confused
        .iter()
        .map(|(gold, chosen, count)| vec![gold.clone(), chosen.clone(), count.to_string()]);
    tables.push(table("One wrong token", &["label", "prediction", "count"], 2, confused.collect()));
    for (title, tokens) in [("Missing tokens", &errors.missed), ("Extra tokens", &errors.invented)] {
        let rows = tokens.iter().map(|(token, count)| vec![token.clone(), count.to_string()]);
        tables.push(table(title, &["token", "count"], 1, rows.collect()));
    }
    tables.retain(|table| !table.rows.is_empty());
    tables
}

/// Returns the tables of a comparison of experiments: their accuracies, and their differences to the first.
pub(crate) fn experiments(comparison: &ExperimentComparison) -> [TextTable; 2] {
    let domains = &comparison.domains;
    let has_average = domains.len() > 1;
    let names = domains.iter().map(|domain| domain.name.as_str());
    let columns: Vec<&str> =
        ["experiment"].into_iter().chain(names).chain(has_average.then_some("average")).collect();
    let row = |experiment: &ExperimentResult, cell: fn(&PairedResult) -> TableCell| -> Vec<TableCell> {
        let average = has_average.then_some(&experiment.average);
        let cells = experiment.domains.iter().map(|domain| &domain.result).chain(average).map(cell);
        std::iter::once(experiment.name.as_str().into()).chain(cells).collect()
    };
    let table = |title: String, rows: Vec<Vec<TableCell>>, notes: Vec<String>| TextTable {
        title,
        text_columns: 1,
        headings: headings(columns.iter().copied()),
        rows,
        notes,
    };
    let all = comparison.experiments.iter();
    let accuracies = all.clone().map(|experiment| {
        row(experiment, |result| accuracy(result.accuracy.mean, result.accuracy.deviation).into())
    });
    let differences =
        all.clone().skip(1).map(|experiment| row(experiment, |result| difference(result.over_first)));
    let first = all.clone().next().map_or("", |first| &first.name);
    let questions: Vec<String> =
        domains.iter().map(|domain| format!("{} {}", domain.name, domain.questions)).collect();
    let over_seeds = match comparison.seeds {
        1 => "one seed".to_owned(),
        seeds => format!("the mean and the standard deviation over {seeds} seeds"),
    };
    let are_same = domains.iter().all(|domain| domain.same_questions) && comparison.seeds > 1;
    let which = if are_same { ", the same for every seed" } else { "" };
    let resampled = match comparison.seeds {
        1 => "It does not account for other seeds.",
        _ => "Seeds and questions are resampled; domains are not.",
    };
    [
        table(
            "Accuracy on held-out training questions".to_owned(),
            accuracies.collect(),
            vec![
                format!("Accuracy in percent: {over_seeds}."),
                format!("Questions per seed{which}: {}.", questions.join(", ")),
            ],
        ),
        table(
            format!("Difference to {first}"),
            differences.collect(),
            vec![format!(
                "In percentage points, with a 95 % confidence interval: a bootstrap paired by question. {resampled}"
            )],
        ),
    ]
}

/// Returns a difference with its interval.
fn difference(difference: Option<Interval>) -> TableCell {
    difference.map_or(NO_VALUE.into(), |difference| {
        TableCell::with_detail(signed(difference.difference), interval(difference.low, difference.high))
    })
}
