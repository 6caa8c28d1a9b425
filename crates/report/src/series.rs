//! Groups that belong in a row of a table together: the bounds and objectives of one way to train, on all data.
//!
//! A series has a method, word vectors and other settings. Its lower bound on some data is labels only with the same word
//! vectors, model, schedule and evaluation, and its upper bound is the same with all labels. A run on labels only can be the
//! bound of several series.

use crate::groups::{Group, objective_rank};
use crate::method::Method;
use crate::settings::{FILES, VECTORS, is_supervised};
use std::collections::{BTreeMap, BTreeSet};

/// A row of a table.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Row {
    LowerBound,
    /// An objective, by its position in tables and its name.
    Objective(usize, String),
    UpperBound,
}

impl Row {
    pub(crate) fn of_objective(name: &str) -> Row {
        Row::Objective(objective_rank(name), name.to_owned())
    }

    /// Returns the name in tables.
    pub(crate) fn name(&self) -> &str {
        match self {
            Row::LowerBound => "lower bound",
            Row::Objective(_, name) => name,
            Row::UpperBound => "upper bound",
        }
    }
}

/// Some data: whether it is a database, and the name of the domain or the database.
pub(crate) type Topic = (bool, String);

pub(crate) fn topic_of(group: &Group) -> Topic {
    (!group.is_overnight, group.topic.clone())
}

/// The groups of one way to train, by row and data.
#[derive(Debug)]
pub(crate) struct Series<'a> {
    pub(crate) key: SeriesKey,
    pub(crate) groups: BTreeMap<(Row, Topic), &'a Group>,
}

/// What tells series apart. Series are in the order of the fields.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SeriesKey {
    pub(crate) method: Method,
    pub(crate) vectors: String,
    /// Settings in which groups with the same data, objective and method differ.
    pub(crate) settings: Vec<(String, String)>,
}

impl<'a> Series<'a> {
    /// Returns the rows that have groups, in the order of tables.
    pub(crate) fn rows(&self) -> BTreeSet<&Row> {
        self.groups.keys().map(|(row, _)| row).collect()
    }

    pub(crate) fn get(&self, row: &Row, topic: &Topic) -> Option<&'a Group> {
        self.groups.get(&(row.clone(), topic.clone())).copied()
    }

    fn has_objective_on(&self, topic: &Topic) -> bool {
        self.groups.keys().any(|(row, other)| matches!(row, Row::Objective(..)) && other == topic)
    }

    /// Returns a group of the series to compare settings with: on the same data, or else on other data of the same kind.
    fn reference(&self, topic: &Topic) -> Option<&'a Group> {
        let mut with_settings = self.groups.iter().filter(|((row, _), _)| *row != Row::UpperBound);
        let same = with_settings.clone().find(|((_, other), _)| other == topic);
        let like = || with_settings.find(|((_, other), _)| !topic.0 && !other.0);
        same.or_else(like).map(|(_, group)| *group)
    }
}

/// Returns the series of the groups with a share of labels and a number of held-out examples.
pub(crate) fn series(groups: &[Group], fraction: f64, held_out: u64) -> Vec<Series<'_>> {
    let in_block = |group: &&Group| (group.fraction - fraction).abs() < 1e-9 && group.held_out == held_out;
    let block: Vec<&Group> = groups.iter().filter(in_block).collect();
    let mut all = SeriesList { series: vec![] };
    let mut bounds: BTreeSet<usize> = BTreeSet::new();
    let learning: Vec<&Group> = block.iter().filter(|group| !group.is_labels_only()).copied().collect();
    let splitting = splitting_keys(&learning);
    for group in &learning {
        let is_splitting = |setting: &&(String, String)| splitting.contains(&(group.method, &setting.0));
        let settings = group.variant.iter().filter(is_splitting).cloned().collect();
        let series = all.entry(group, settings);
        series.groups.entry((Row::of_objective(&group.objective), topic_of(group))).or_insert(group);
        if let Some(index) = group.lower_bound {
            bounds.insert(index);
            series.groups.entry((Row::LowerBound, topic_of(group))).or_insert(&groups[index]);
        }
    }
    let labels_only = |(index, group): &(usize, &Group)| group.is_labels_only() && !bounds.contains(index);
    let free: Vec<(usize, &Group)> = groups.iter().enumerate().filter(labels_only).collect();
    all.add_bounds(
        &Row::LowerBound,
        free.iter().map(|(_, group)| *group).filter(|group| in_block(group)),
        |series, group| {
            // A series that has objectives on the data would have the group already, if it were their lower bound.
            !series.has_objective_on(&topic_of(group))
                && series.reference(&topic_of(group)).is_some_and(|other| agree(group, other, is_supervised))
        },
    );
    if fraction < 1.0 {
        let is_upper =
            |group: &&Group| group.is_labels_only() && group.fraction == 1.0 && group.held_out == held_out;
        let all_labels: Vec<&Group> = groups.iter().filter(is_upper).collect();
        // The schedule may depend on the number of labels, so one that agrees is preferred but not asked for.
        let is_close = |key: &str| is_supervised(key) && !key.starts_with("train.");
        all.add_bounds(&Row::UpperBound, all_labels.iter().copied(), |series, group| {
            let Some(reference) = series.reference(&topic_of(group)) else { return false };
            let is_candidate =
                |other: &&&Group| topic_of(other) == topic_of(group) && agree(other, reference, is_close);
            let candidates = all_labels.iter().filter(is_candidate).count();
            agree(group, reference, is_supervised) || (candidates == 1 && agree(group, reference, is_close))
        });
    }
    all.series.sort_by(|left, right| left.key.cmp(&right.key));
    all.series
}

/// The series that were found so far.
struct SeriesList<'a> {
    series: Vec<Series<'a>>,
}

impl<'a> SeriesList<'a> {
    /// Returns the series of a group with some settings.
    fn entry(&mut self, group: &Group, settings: Vec<(String, String)>) -> &mut Series<'a> {
        let settings = settings.into_iter().filter(|(key, _)| key != VECTORS).collect();
        let key = SeriesKey { method: group.method, vectors: group.vectors.clone(), settings };
        let index = self.series.iter().position(|series| series.key == key).unwrap_or_else(|| {
            self.series.push(Series { key, groups: BTreeMap::new() });
            self.series.len() - 1
        });
        &mut self.series[index]
    }

    /// Adds bounds to the series they belong to. Those that belong to none are series of their own.
    fn add_bounds(
        &mut self,
        row: &Row,
        bounds: impl Iterator<Item = &'a Group>,
        belongs: impl Fn(&Series<'a>, &Group) -> bool,
    ) {
        let mut alone: Vec<&'a Group> = Vec::new();
        for group in bounds {
            let place = (row.clone(), topic_of(group));
            let mut is_alone = true;
            for series in self.series.iter_mut().filter(|series| belongs(series, group)) {
                series.groups.entry(place.clone()).or_insert(group);
                is_alone = false;
            }
            if is_alone {
                alone.push(group);
            }
        }
        for group in alone {
            let series = self.entry(group, group.settings.clone());
            series.groups.entry((row.clone(), topic_of(group))).or_insert(group);
        }
    }
}

/// Returns the settings in which groups with the same data, objective and method differ, each with the method.
fn splitting_keys<'a>(groups: &[&'a Group]) -> BTreeSet<(Method, &'a String)> {
    let mut keys = BTreeSet::new();
    for (index, left) in groups.iter().enumerate() {
        for right in &groups[index + 1..] {
            let is_same = (left.method, &left.objective) == (right.method, &right.objective)
                && topic_of(left) == topic_of(right);
            if is_same {
                let both = left.variant.iter().chain(&right.variant);
                let differing = both.filter(|(key, _)| left.setting(key) != right.setting(key));
                keys.extend(differing.map(|(key, _)| (left.method, key)));
            }
        }
    }
    keys
}

/// Returns whether two groups agree in all settings that count, apart from files that belong to a database.
fn agree(left: &Group, right: &Group, counts: impl Fn(&str) -> bool) -> bool {
    let both = left.variant.iter().chain(&right.variant);
    let mut counting = both.filter(|(key, _)| counts(key) && !FILES.contains(&key.as_str()));
    counting.all(|(key, _)| left.setting(key) == right.setting(key))
}

/// Returns the domains over which all rows of a table are averaged, as indices. `covered` says for each row on which domains it
/// has results. The domains are those for which most results enter averages: their number times that of the rows that have
/// results on all of them is greatest. One domain is no average, so it is taken only if no two rows have more in common.
pub(crate) fn averaged(covered: &[BTreeSet<usize>]) -> BTreeSet<usize> {
    let meet = |left: &BTreeSet<usize>, right: &BTreeSet<usize>| left.intersection(right).copied().collect();
    let mut choices: BTreeSet<BTreeSet<usize>> = covered.iter().cloned().collect();
    for left in covered {
        choices.extend(covered.iter().map(|right| meet(left, right)));
    }
    let results = |choice: &BTreeSet<usize>| {
        let rows = covered.iter().filter(|row| choice.is_subset(row)).count();
        (rows > 1 && choice.len() > 1, rows * choice.len(), choice.len())
    };
    choices.into_iter().max_by_key(results).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn averages_are_over_the_domains_with_most_results() {
        let set = |domains: &[usize]| domains.iter().copied().collect::<BTreeSet<usize>>();
        for (covered, expected) in [
            // Two rows have three domains: six results. Four have the first two: eight results.
            (vec![set(&[0, 1, 2]), set(&[0, 1, 2]), set(&[0, 1]), set(&[0, 1])], set(&[0, 1])),
            // A third row with three domains makes nine results, more than the eight of four rows with two.
            (vec![set(&[0, 1, 2]), set(&[0, 1, 2]), set(&[0, 1, 2]), set(&[0, 1])], set(&[0, 1, 2])),
            // Two rows have both domains, which comes before five that have one.
            (vec![set(&[0, 1]), set(&[0, 1]), set(&[0]), set(&[0]), set(&[0])], set(&[0, 1])),
            (vec![set(&[0, 1]), set(&[0]), set(&[0])], set(&[0])),
            // What rows have in common can be better than what any of them has.
            (vec![set(&[0, 1, 2]), set(&[1, 2, 3]), set(&[1, 2, 4])], set(&[1, 2])),
            (vec![], set(&[])),
        ] {
            assert_eq!(averaged(&covered), expected, "{covered:?}");
        }
    }
}
