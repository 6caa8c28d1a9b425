//! The tables of a report as text. The modules for terminal, Markdown and HTML only lay them out.

use crate::bootstrap::Interval;
use crate::{
    ComparisonCell, ComparisonRow, ErrorAnalysis, ExperimentComparison, ExperimentResult, Group,
    MeanAccuracy, PairedResult, PaperComparison, Report,
};

/// A table. Its first columns are text, aligned left; the others are numbers, aligned right.
pub(crate) struct TextTable<'h> {
    pub(crate) title: String,
    /// The number of columns that are text.
    pub(crate) text_columns: usize,
    pub(crate) headings: Vec<&'h str>,
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

fn accuracy(accuracy: MeanAccuracy) -> String {
    match accuracy.deviation {
        Some(deviation) => format!("{:.1} ± {deviation:.1}", accuracy.mean),
        None => format!("{:.1}", accuracy.mean),
    }
}

/// Returns the cells that name a group: data, labels and method.
fn group_cells(group: &Group) -> [TableCell; 3] {
    let held_out = match group.held_out {
        0 => String::new(),
        held_out => format!("held out {held_out}"),
    };
    [
        group.topic.as_str().into(),
        TableCell::with_detail(group.labels(), held_out),
        TableCell::with_detail(group.method(), group.variant()),
    ]
}

/// The headings of [`group_cells`].
const GROUP_HEADINGS: [&str; 3] = ["data", "labels", "method"];

/// Returns the name of a group in one phrase.
pub(crate) fn group_name(group: &Group) -> String {
    group_cells(group).map(|cell| cell.on_one_line()).join(", ")
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
pub(crate) fn accuracies(report: &Report) -> TextTable<'static> {
    let has_gains = report.groups.iter().any(|group| group.over_labels_only.is_some());
    let mut headings = GROUP_HEADINGS.to_vec();
    headings.push("accuracy");
    if has_gains {
        headings.extend(["gain over labels only", "95 % interval"]);
    }
    headings.extend(["runs", "questions"]);
    let row = |group: &Group| {
        let mut row = group_cells(group).to_vec();
        row.push(accuracy(group.accuracy).into());
        if has_gains {
            let gain = group.over_labels_only.map(|gain| {
                let mark = if gain.other_settings { " *" } else { "" };
                let difference = format!("{}{mark}", signed(gain.interval.difference));
                [difference, interval(gain.interval.low, gain.interval.high)]
            });
            row.extend(gain.unwrap_or_default().map(TableCell::from));
        }
        row.extend([group.accuracy.runs, group.questions].map(|count| TableCell::from(count.to_string())));
        row
    };
    TextTable {
        title: "Accuracy".to_owned(),
        text_columns: GROUP_HEADINGS.len(),
        headings,
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
            "The interval is a 95 % confidence interval of the gain, a bootstrap paired by question. It does not account \
             for other seeds or splits."
                .to_owned(),
        );
    }
    if report.groups.iter().any(|group| group.over_labels_only.is_some_and(|gain| gain.other_settings)) {
        notes.push("* compared with runs that also differ in other settings.".to_owned());
    }
    if report.groups.iter().any(|group| group.held_out > 0) {
        notes.push(
            "Held out: evaluated on training examples that were set aside. These are not test results and not comparable \
             with the paper's."
                .to_owned(),
        );
    }
    notes
}

/// Returns the share of labels of a comparison.
pub(crate) fn labels_of(comparison: &PaperComparison) -> String {
    match comparison.fraction {
        1.0 => "all labels".to_owned(),
        fraction => format!("{:.0} % of the labels", 100.0 * fraction),
    }
}

/// The title of the comparisons.
pub(crate) const COMPARISON: &str = "Comparison with the paper";

/// The heading of the gains in a comparison.
pub(crate) const GAIN: &str = "gain over lower bound";

/// Returns the table of a comparison, with three lines for each of its rows.
pub(crate) fn comparison(comparison: &PaperComparison) -> TextTable<'static> {
    let mut headings = vec!["", ""];
    headings.extend(comparison.headings());
    let has_gain = comparison.has_gain();
    if has_gain {
        headings.push(GAIN);
    }
    let lines = |row: &ComparisonRow| {
        let name = TableCell::with_detail(row.method.as_str(), row.settings.clone());
        let cells = comparison.cells(row);
        let line = |name: TableCell, source: &str, value: fn(&ComparisonCell) -> Option<String>| {
            let values =
                cells.iter().map(|cell| cell.as_ref().and_then(value).unwrap_or(NO_VALUE.to_owned()));
            [name, source.into()].into_iter().chain(values.map(TableCell::from)).collect::<Vec<_>>()
        };
        let mut lines = [
            line(name, "ours", |cell| Some(accuracy(cell.ours))),
            line("".into(), "paper", |cell| cell.paper.map(|paper| format!("{paper:.1}"))),
            line("".into(), "difference", |cell| cell.difference.map(signed)),
        ];
        if has_gain {
            let gain = row.gain().map_or("".into(), |gain| {
                TableCell::with_detail(signed(gain.difference), interval(gain.low, gain.high))
            });
            for (line, cell) in lines.iter_mut().zip([gain, "".into(), "".into()]) {
                line.push(cell);
            }
        }
        lines
    };
    TextTable {
        title: format!("{COMPARISON}: {}", labels_of(comparison)),
        text_columns: 2,
        headings,
        rows: comparison.rows.iter().flat_map(lines).collect(),
        notes: comparison.notes.clone(),
    }
}

/// Returns the table of the diagnostics of training at its start and its end, if some group learned from unlabeled questions.
pub(crate) fn training(report: &Report) -> Option<TextTable<'static>> {
    let ends = |curve: &[(f64, f64)]| match (curve.first(), curve.last()) {
        (Some((_, first)), Some((_, last))) => format!("{first:.2} → {last:.2}"),
        _ => NO_VALUE.to_owned(),
    };
    let row = |group: &Group| {
        let curves = &group.curves;
        let columns = [&curves.length_ratio, &curves.coverage, &curves.rewarded, &curves.mass];
        group_cells(group).into_iter().chain(columns.map(|curve| ends(curve).into())).collect()
    };
    let learned = |group: &&Group| !group.curves.rewarded.is_empty();
    let rows: Vec<Vec<TableCell>> = report.groups.iter().filter(learned).map(row).collect();
    if rows.is_empty() {
        return None;
    }
    Some(TextTable {
        title: "Training on unlabeled questions, start → end".to_owned(),
        text_columns: GROUP_HEADINGS.len(),
        headings: [&GROUP_HEADINGS[..], &["length ratio", "coverage", "rewarded", "mass"]].concat(),
        rows,
        notes: vec![
            "Length ratio: the length of rewarded programs divided by that of their questions. Coverage: the share of \
             questions whose labeled program is among the rewarded candidates. Rewarded: the share of candidates that are \
             rewarded. Mass: the total probability of the candidates. All are means over windows of steps."
                .to_owned(),
        ],
    })
}

/// Returns the table of calibration, if some group has predictions.
pub(crate) fn calibration(report: &Report) -> Option<TextTable<'static>> {
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
    let headings = ["calibration error", "all answers", "top 90 %", "top 80 %", "top 50 %"];
    Some(TextTable {
        title: "Calibration".to_owned(),
        text_columns: GROUP_HEADINGS.len(),
        headings: [&GROUP_HEADINGS[..], &headings].concat(),
        rows,
        notes: vec![
            "Confidence is the probability of the chosen program. The calibration error is the mean difference between \
             confidence and accuracy over ten bins, in percentage points. Top 90 %: the accuracy on the 90 % of the \
             questions that are answered with most confidence."
                .to_owned(),
        ],
    })
}

/// Returns the tables of the errors of a group.
pub(crate) fn errors(errors: &ErrorAnalysis) -> Vec<TextTable<'static>> {
    let table = |title: &str, headings: &[&'static str], text_columns, rows: Vec<Vec<String>>| TextTable {
        title: title.to_owned(),
        text_columns,
        headings: headings.to_vec(),
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
pub(crate) fn experiments(comparison: &ExperimentComparison) -> [TextTable<'_>; 2] {
    let domains = &comparison.domains;
    let has_average = domains.len() > 1;
    let mut headings = vec!["experiment"];
    headings.extend(domains.iter().map(|domain| domain.name.as_str()));
    headings.extend(has_average.then_some("average"));
    let row = |experiment: &ExperimentResult, cell: fn(&PairedResult) -> TableCell| -> Vec<TableCell> {
        let average = has_average.then_some(&experiment.average);
        let cells = experiment.domains.iter().map(|domain| &domain.result).chain(average).map(cell);
        std::iter::once(experiment.name.as_str().into()).chain(cells).collect()
    };
    let table = |title: String, rows: Vec<Vec<TableCell>>, notes: Vec<String>| TextTable {
        title,
        text_columns: 1,
        headings: headings.clone(),
        rows,
        notes,
    };
    let all = comparison.experiments.iter();
    let accuracies = all.clone().map(|experiment| row(experiment, |result| accuracy(result.accuracy).into()));
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
