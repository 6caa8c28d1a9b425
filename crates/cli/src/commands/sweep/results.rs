//! The results of a sweep, as a table.

use crate::commands::cells::percent;
use crate::table;
use anyhow::Result;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Write;
use xpr_learn::experiment::sweep::Cell;

/// The settings of a cell, and its accuracy if it is finished.
#[derive(Serialize)]
pub(super) struct CellResult<'a> {
    cell: &'a str,
    settings: BTreeMap<&'a str, &'a str>,
    pub(super) accuracy: Option<f64>,
}

impl<'a> CellResult<'a> {
    pub(super) fn new(cell: &'a Cell, accuracy: Option<f64>) -> Self {
        let settings = cell.settings.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        CellResult { cell: &cell.name, settings, accuracy }
    }
}

/// Writes the accuracies as a table: a row for each combination of settings, and a column for each domain or other dataset.
pub(super) fn write_table(out: &mut dyn Write, cells: &[Cell], results: &[CellResult<'_>]) -> Result<()> {
    const DOMAIN: &str = "data.domain";
    let dataset = |index: usize| -> &str {
        let stem = cells[index].experiment.file_stem().and_then(|stem| stem.to_str()).unwrap_or("cell");
        results[index].settings.get(DOMAIN).copied().unwrap_or(stem)
    };
    let datasets = distinct((0..results.len()).map(dataset));
    // A setting that is the same in all cells has no column.
    let settings = cells.iter().flat_map(|cell| cell.settings.iter().map(|(key, _)| key.as_str()));
    let keys: Vec<&str> = distinct(settings)
        .into_iter()
        .filter(|key| *key != DOMAIN)
        .filter(|key| distinct(results.iter().filter_map(|cell| cell.settings.get(key).copied())).len() > 1)
        .collect();
    let combination = |cell: &CellResult<'_>| -> Vec<String> {
        keys.iter().map(|key| cell.settings.get(key).copied().unwrap_or("–").to_owned()).collect()
    };
    let is_domain = |name: &str| results.iter().any(|cell| cell.settings.get(DOMAIN) == Some(&name));
    let with_average = datasets.iter().filter(|name| is_domain(name)).count() > 1;

    let mut rows: Vec<Vec<String>> = Vec::new();
    for settings in distinct(results.iter().map(combination)) {
        let accuracy = |name: &str| {
            let is_cell = |&index: &usize| dataset(index) == name && combination(&results[index]) == settings;
            (0..results.len()).find(is_cell).and_then(|index| results[index].accuracy)
        };
        let shown = |share: Option<f64>| share.map_or_else(|| "–".to_owned(), percent);
        let mut row = settings.clone();
        row.extend(datasets.iter().map(|name| shown(accuracy(name))));
        if with_average {
            let domains: Vec<&str> = datasets.iter().copied().filter(|name| is_domain(name)).collect();
            let all: Option<Vec<f64>> = domains.iter().map(|name| accuracy(name)).collect();
            row.push(shown(all.map(|all| all.iter().sum::<f64>() / all.len() as f64)));
        }
        rows.push(row);
    }
    let mut headings: Vec<&str> =
        keys.iter().map(|key| key.rsplit('.').next().unwrap_or(key)).chain(datasets).collect();
    if with_average {
        headings.push("average");
    }
    Ok(table::write(out, &headings, &rows)?)
}

/// Returns the distinct elements in the order of their first occurrence.
fn distinct<T: PartialEq>(all: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut distinct = Vec::new();
    for element in all {
        if !distinct.contains(&element) {
            distinct.push(element);
        }
    }
    distinct
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn the_table_has_a_row_per_combination_of_settings_and_a_column_per_dataset() {
        let cell = |experiment: &str, settings: &[(&str, &str)]| Cell {
            name: format!("{experiment}{settings:?}"),
            experiment: PathBuf::from(experiment),
            settings: settings.iter().map(|&(key, value)| (key.to_owned(), value.to_owned())).collect(),
        };
        let cells = [
            cell("a.toml", &[("data.domain", "x"), ("data.fraction", "0.3"), ("learn.objective", "none")]),
            cell("a.toml", &[("data.domain", "y"), ("data.fraction", "0.3"), ("learn.objective", "none")]),
            cell("a.toml", &[("data.domain", "x"), ("data.fraction", "0.3"), ("learn.objective", "sparse")]),
            cell("a.toml", &[("data.domain", "y"), ("data.fraction", "0.3"), ("learn.objective", "sparse")]),
            cell("a.toml", &[("data.domain", "x"), ("data.fraction", "1.0"), ("train.seed", "0")]),
            cell("geo.toml", &[("data.fraction", "1.0"), ("train.seed", "0")]),
        ];
        let accuracies = [Some(0.5), Some(0.701), Some(0.6), None, Some(1.0), Some(0.123)];
        let table = |cells: &[Cell]| -> String {
            let results: Vec<CellResult<'_>> = cells
                .iter()
                .zip(accuracies)
                .map(|(cell, accuracy)| CellResult::new(cell, accuracy))
                .collect();
            let mut out = Vec::new();
            write_table(&mut out, cells, &results).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(
            table(&cells),
            "fraction  objective      x     y   geo  average\n\
             0.3            none   50.0  70.1     –     60.1\n\
             0.3          sparse   60.0     –     –        –\n\
             1.0               –  100.0     –  12.3        –\n"
        );
        assert_eq!(table(&cells[..1]), "x   \n50.0\n", "one cell: only its accuracy");
    }
}
