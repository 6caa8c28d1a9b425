//! Every table of a report, as words; terminal, Markdown and HTML only draw their lines.

use crate::comparison::GEOQUERY;
use crate::{Comparison, ComparisonCell, ComparisonRow, Group, Report};

/// A table: the first columns left, the others right.
pub(crate) struct Table {
    pub(crate) title: String,
    /// How many columns are words.
    pub(crate) left: usize,
    pub(crate) headings: Vec<&'static str>,
    pub(crate) rows: Vec<Vec<String>>,
    pub(crate) notes: Vec<String>,
}

/// What follows it in a cell stands below, smaller, where there is room for that.
pub(crate) const BELOW: char = '\n';

/// A cell on one line.
pub(crate) fn on_one_line(cell: &str) -> String {
    match cell.split_once(BELOW) {
        Some((above, below)) => format!("{above} ({below})"),
        None => cell.to_owned(),
    }
}

/// What is where something is not.
pub(crate) const NOTHING: &str = "–";

/// A number with its sign; a minus as typographers set it.
pub(crate) fn signed(value: f64) -> String {
    let text = format!("{value:+.1}");
    // What rounds to nothing has no sign.
    if text == "-0.0" || text == "+0.0" { "0.0".to_owned() } else { text.replace('-', "−") }
}

/// A number from 0 to 1 as percent.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.1}", 100.0 * share)
}

fn spread(mean: f64, deviation: Option<f64>) -> String {
    match deviation {
        Some(deviation) => format!("{mean:.1} ± {deviation:.1}"),
        None => format!("{mean:.1}"),
    }
}

/// Every group: what it is, how good it is, and how much better than labels only.
pub(crate) fn results(report: &Report) -> Table {
    let has_differences = report.groups.iter().any(|group| group.over_labels_only.is_some());
    let mut headings = vec!["about", "labels", "learned from", "accuracy"];
    if has_differences {
        headings.extend(["over labels only", "95 % interval"]);
    }
    headings.extend(["runs", "questions"]);
    let row = |group: &Group| {
        let mut row = group_words(group).to_vec();
        row.push(spread(group.accuracy.mean, group.accuracy.deviation));
        if has_differences {
            let told = group.over_labels_only.map(|over| {
                let mark = if over.other_settings { " *" } else { "" };
                let difference = format!("{}{mark}", signed(over.interval.difference));
                [difference, interval(over.interval.low, over.interval.high)]
            });
            row.extend(told.unwrap_or_default());
        }
        row.extend([group.accuracy.runs.to_string(), group.questions.to_string()]);
        row
    };
    let mut notes = vec![
        "Accuracy in percent: mean and, over several runs, standard deviation (splits and seeds).".to_owned(),
    ];
    if has_differences {
        notes.push(
            "The interval is a bootstrap paired by question; it says nothing of other seeds or splits."
                .to_owned(),
        );
    }
    if report.groups.iter().any(|group| group.over_labels_only.is_some_and(|over| over.other_settings)) {
        notes.push("* compared with a run that differs in other settings too.".to_owned());
    }
    if report.groups.iter().any(|group| group.held_out > 0) {
        notes.push(
            "Held out: evaluated on training examples set aside. These are no test results, and not comparable with \
             the paper's."
                .to_owned(),
        );
    }
    Table {
        title: "Accuracy".to_owned(),
        left: 3,
        headings,
        rows: report.groups.iter().map(row).collect(),
        notes,
    }
}

pub(crate) fn interval(low: f64, high: f64) -> String {
    format!("{} to {}", signed(low), signed(high))
}

/// Which of the paper's tables it is.
pub(crate) fn labels_of(comparison: &Comparison) -> String {
    match comparison.fraction {
        1.0 => "all labels".to_owned(),
        fraction => format!("{:.0} % of the labels", 100.0 * fraction),
    }
}

/// The name of a row of a comparison.
pub(crate) fn row_name(row: &ComparisonRow) -> String {
    match row.settings.as_str() {
        "" => row.method.clone(),
        settings => format!("{} ({settings})", row.method),
    }
}

/// A table of the paper: three lines a row.
pub(crate) fn comparison(comparison: &Comparison) -> Table {
    let has_average = comparison.rows.iter().any(|row| row.average.is_some());
    let domains = comparison.columns.iter().filter(|column| **column != GEOQUERY).count();
    let mut headings = vec!["", ""];
    headings.extend(&comparison.columns);
    if has_average {
        // Before GeoQuery, as in the paper.
        headings.insert(2 + domains, "average");
    }
    let has_gain = comparison.has_gain();
    if has_gain {
        headings.push("over lower bound");
    }
    let mut rows = Vec::new();
    for row in &comparison.rows {
        let mut cells: Vec<Option<ComparisonCell>> = row.cells.clone();
        if has_average {
            cells.insert(domains, row.average);
        }
        let mut line = |name: String, kind: &str, value: &dyn Fn(&ComparisonCell) -> Option<String>| {
            let values = cells.iter().map(|cell| cell.as_ref().and_then(value).unwrap_or(NOTHING.to_owned()));
            rows.push([name, kind.to_owned()].into_iter().chain(values).collect::<Vec<String>>());
        };
        line(row_name(row), "ours", &|cell| Some(spread(cell.ours.mean, cell.ours.deviation)));
        line(String::new(), "paper", &|cell| cell.paper.map(|paper| format!("{paper:.1}")));
        line(String::new(), "difference", &|cell| cell.difference.map(signed));
        if has_gain {
            let gain = row.gain().map_or_else(String::new, |gain| {
                format!("{} ({})", signed(gain.difference), interval(gain.low, gain.high))
            });
            let first = rows.len() - 3;
            for (row, told) in rows[first..].iter_mut().zip([gain, String::new(), String::new()]) {
                row.push(told);
            }
        }
    }
    let title = format!("Beside the paper: {}", labels_of(comparison));
    Table { title, left: 2, headings, rows, notes: comparison.notes.clone() }
}

/// Name and settings of a group, beside others about the same.
pub(crate) fn group_words(group: &Group) -> [String; 3] {
    let method = match group.variant().as_str() {
        "" => group.method().to_owned(),
        variant => format!("{}{BELOW}{variant}", group.method()),
    };
    let labels = match group.held_out {
        0 => group.labels(),
        held_out => format!("{}{BELOW}held out {held_out}", group.labels()),
    };
    [group.topic.clone(), labels, method]
}

/// What running programs told while training: at first and in the end.
pub(crate) fn training(report: &Report) -> Option<Table> {
    let both = |curve: &[(f64, f64)], factor: f64| match (curve.first(), curve.last()) {
        (Some((_, first)), Some((_, last))) => format!("{:.2} → {:.2}", factor * first, factor * last),
        _ => NOTHING.to_owned(),
    };
    let learned = |group: &&Group| !group.curves.rewarded.is_empty();
    let row = |group: &Group| {
        let curves = &group.curves;
        let followed = [&curves.length_ratio, &curves.coverage, &curves.rewarded, &curves.mass];
        group_words(group).into_iter().chain(followed.map(|curve| both(curve, 1.0))).collect()
    };
    let rows: Vec<Vec<String>> = report.groups.iter().filter(learned).map(row).collect();
    if rows.is_empty() {
        return None;
    }
    Some(Table {
        title: "Training on unlabeled questions, first → last".to_owned(),
        left: 3,
        headings: vec!["about", "labels", "learned from", "length ratio", "coverage", "rewarded", "mass"],
        rows,
        notes: vec![
            "Length ratio: rewarded programs over their questions. Coverage: questions whose right program is among the \
             rewarded candidates. Means over windows of steps."
                .to_owned(),
        ],
    })
}

/// Whether parsers know when they are wrong.
pub(crate) fn confidence(report: &Report) -> Option<Table> {
    let row = |group: &Group| {
        let calibration = group.calibration.as_ref()?;
        let error = format!("{:.1}", 100.0 * calibration.expected_error);
        let at = [1.0, 0.9, 0.8, 0.5].map(|coverage| percent(calibration.accuracy_at(coverage)));
        Some(group_words(group).into_iter().chain([error]).chain(at).collect::<Vec<_>>())
    };
    let rows: Vec<Vec<String>> = report.groups.iter().filter_map(row).collect();
    if rows.is_empty() {
        return None;
    }
    Some(Table {
        title: "Confidence".to_owned(),
        left: 3,
        headings: vec![
            "about",
            "labels",
            "learned from",
            "calibration error",
            "all answered",
            "surest 90 %",
            "surest 80 %",
            "surest 50 %",
        ],
        rows,
        notes: vec![
            "Confidence is the probability of the program that was chosen. Its error is the mean distance from accuracy, \
             in percent points; then accuracy if only the surest answers are given."
                .to_owned(),
        ],
    })
}

/// A group in a phrase.
pub(crate) fn group_name(group: &Group) -> String {
    group_words(group).map(|word| on_one_line(&word)).join(", ")
}

/// Where answers go wrong, for one group.
pub(crate) fn errors(group: &Group) -> Vec<Table> {
    let Some(errors) = &group.errors else { return vec![] };
    let all = errors.answers as f64;
    let kinds = errors
        .kinds
        .iter()
        .map(|(kind, count)| vec![kind.name().to_owned(), count.to_string(), percent(*count as f64 / all)]);
    let mut tables = vec![Table {
        title: "Answers".to_owned(),
        left: 1,
        headings: vec!["answer", "count", "%"],
        rows: kinds.collect(),
        notes: match errors.right_by_another_program {
            0 => vec![],
            count => {
                vec![format!("{count} right answers come from programs with other words than the label.")]
            }
        },
    }];
    for (title, heading, parts) in [
        ("By construction", "labeled program has", &errors.constructions),
        ("By length", "labeled program has", &errors.lengths),
    ] {
        let row = |part: &crate::Part| {
            vec![
                part.name.clone(),
                part.answers.to_string(),
                percent(part.right as f64 / part.answers.max(1) as f64),
            ]
        };
        let (rows, notes) = (parts.iter().map(row).collect(), vec![]);
        tables.push(Table {
            title: title.to_owned(),
            left: 1,
            headings: vec![heading, "answers", "right %"],
            rows,
            notes,
        });
    }
    let words = |title: &str, heading, list: &[(String, usize)]| Table {
        title: title.to_owned(),
        left: 1,
        headings: vec![heading, "times"],
        rows: list.iter().map(|(word, times)| vec![word.clone(), times.to_string()]).collect(),
        notes: vec![],
    };
    if !errors.confused.is_empty() {
        let row = |(gold, guess, times): &(String, String, usize)| {
            vec![gold.clone(), guess.clone(), times.to_string()]
        };
        tables.push(Table {
            title: "One thing confused".to_owned(),
            left: 2,
            headings: vec!["should be", "is", "times"],
            rows: errors.confused.iter().map(row).collect(),
            notes: vec![],
        });
    }
    if !errors.missed.is_empty() {
        tables.push(words("Missing from wrong programs", "word", &errors.missed));
    }
    if !errors.invented.is_empty() {
        tables.push(words("Only in wrong programs", "word", &errors.invented));
    }
    tables
}

/// What the report is of, in a sentence.
pub(crate) fn subject(report: &Report) -> String {
    let plural = |count: usize, one: &str| format!("{count} {one}{}", if count == 1 { "" } else { "s" });
    let mut sentence = plural(report.evaluated, "run");
    if report.groups.len() != report.evaluated {
        sentence = format!("{sentence} in {}", plural(report.groups.len(), "group"));
    }
    if report.runs > report.evaluated {
        sentence = format!("{sentence}; {} not evaluated", report.runs - report.evaluated);
    }
    sentence
}
