//! Explains which rows a select reads: its `FROM` and `WHERE`.
//!
//! A condition that equates a foreign key with what it refers to is said as a relation: `each film with its director`. The relations of a
//! list form trees. The root of a tree is the source from which the others are best reached, which is best in the direction of the keys: a
//! film has one director, and a director several films.

use super::phrases::Noun;
use super::{Explainer, NamedSources};
use crate::english;
use crate::sql::operator::ComparisonOperator;
use crate::sql::query::{ColumnRef, Expr, FromSource, Select, SourceKind};
use crate::sql::schema::{ColumnId, ForeignKey, TableId};

/// The rows of a select.
pub(super) struct Rows {
    /// What follows `each`.
    pub(super) singular: String,
    /// What follows `the` if all of the rows are meant.
    pub(super) plural: String,
    /// The conditions, with a space before them.
    pub(super) clause: String,
}

impl Rows {
    /// Returns what follows `each`, with the conditions.
    pub(super) fn one(&self) -> String {
        format!("{}{}", self.singular, self.clause)
    }

    /// Returns what follows `the` if all of the rows are meant, with the conditions.
    pub(super) fn all(&self) -> String {
        format!("{}{}", self.plural, self.clause)
    }
}

/// A foreign key that conditions equate with what it refers to.
struct Link<'a> {
    /// The source that has the key.
    from: usize,
    /// The source it refers to.
    to: usize,
    key: &'a ForeignKey,
    /// The indices of the conditions.
    conditions: Vec<usize>,
}

/// A step from a source of a tree to a new one.
struct Step<'l, 'a> {
    link: &'l Link<'a>,
    /// Whether the step is against the direction of the key.
    reverse: bool,
}

impl Step<'_, '_> {
    fn ends(&self) -> (usize, usize) {
        if self.reverse { (self.link.to, self.link.from) } else { (self.link.from, self.link.to) }
    }
}

/// Sources that are related, from a root.
struct Tree<'l, 'a> {
    root: usize,
    steps: Vec<Step<'l, 'a>>,
}

impl Tree<'_, '_> {
    fn reversals(&self) -> usize {
        self.steps.iter().filter(|step| step.reverse).count()
    }
}

impl Explainer<'_> {
    /// Returns what `COUNT(*)` counts in a select.
    pub(super) fn counted(&self, select: &Select, nouns: &[Noun]) -> String {
        if let [FromSource { kind: SourceKind::Query(_), left_join: None }] = select.from.as_slice() {
            return "rows".to_owned();
        }
        let links = self.links(&select.from, &select.condition.as_ref().map_or_else(Vec::new, conjuncts));
        match forest(&select.from, &links).0.as_slice() {
            [tree] if tree.reversals() == 0 => nouns[tree.root].plural.clone(),
            _ => "combinations".to_owned(),
        }
    }

    /// Explains the rows of a select.
    pub(super) fn rows(&self, select: &Select, names: &NamedSources<'_>) -> Rows {
        let conditions = select.condition.as_ref().map_or_else(Vec::new, conjuncts);
        if let [FromSource { kind: SourceKind::Query(query), left_join: None }] = select.from.as_slice() {
            let text = self.query(query, names.outer);
            let [singular, plural] = ["row", "rows"].map(|noun| format!("{noun} of ({text})"));
            return self.with_conditions([singular, plural], &conditions, names);
        }
        let links = self.links(&select.from, &conditions);
        let (trees, left_joined) = forest(&select.from, &links);
        let used: Vec<usize> = trees
            .iter()
            .flat_map(|tree| &tree.steps)
            .flat_map(|step| step.link.conditions.iter().copied())
            .collect();
        let others: Vec<&Expr> = (0..conditions.len())
            .filter(|index| !used.contains(index))
            .map(|index| conditions[index])
            .collect();
        let joined = |root: usize, its: &str| -> Vec<String> {
            left_joined.iter().map(|&index| self.left_joined(index, root, its, names)).collect()
        };
        let phrases = match trees.as_slice() {
            [tree] if tree.reversals() == 0 => {
                let noun = &names.nouns[tree.root];
                let phrase = |root: &str, its: &str| {
                    let mut parts: Vec<String> =
                        tree.steps.iter().map(|step| self.step(step, tree.root, its, names)).collect();
                    parts.extend(joined(tree.root, its));
                    match parts.is_empty() {
                        true => root.to_owned(),
                        false => format!("{root} with {}", english::enumeration(&parts, "and")),
                    }
                };
                let definition = match &select.from[tree.root].kind {
                    SourceKind::Table(_) => String::new(),
                    SourceKind::Query(query) => format!(" of ({})", self.query(query, names.outer)),
                };
                [(&noun.singular, "its"), (&noun.plural, "their")]
                    .map(|(noun, its)| phrase(&format!("{noun}{definition}"), its))
            }
            trees => {
                let mut parts = Vec::new();
                for tree in trees {
                    parts.push(self.member(tree.root, names));
                    parts.extend(tree.steps.iter().map(|step| self.step(step, tree.root, "its", names)));
                }
                parts.extend(joined(trees.last().map_or(0, |tree| tree.root), "its"));
                let parts = english::enumeration(&parts, "and");
                [format!("combination of {parts}"), format!("combinations of {parts}")]
            }
        };
        self.with_conditions(phrases, &others, names)
    }

    /// Appends conditions to the singular and the plural of rows.
    fn with_conditions(
        &self,
        [singular, plural]: [String; 2],
        conditions: &[&Expr],
        names: &NamedSources<'_>,
    ) -> Rows {
        let clause = match conditions {
            [] => String::new(),
            [only] => format!(" {}", self.clause(only, names)),
            all => {
                let all = Expr::And(all.iter().map(|&condition| condition.clone()).collect());
                format!(" {}", self.clause(&all, names))
            }
        };
        Rows { singular, plural, clause }
    }

    /// Returns what a source is called where it is first mentioned.
    fn member(&self, index: usize, names: &NamedSources<'_>) -> String {
        let noun = english::with_article(&names.nouns[index].singular);
        match &names.sources[index].kind {
            SourceKind::Table(_) => noun,
            SourceKind::Query(query) => format!("{noun} of ({})", self.query(query, names.outer)),
        }
    }

    /// Explains a step of a tree: `its director`, `one of its roles`.
    fn step(&self, step: &Step<'_, '_>, root: usize, its: &str, names: &NamedSources<'_>) -> String {
        let (old, new) = step.ends();
        let Noun { singular, plural } = &names.nouns[new];
        let by = self.by(step.link, names);
        let owner = &names.nouns[old].singular;
        match (old == root, step.reverse) {
            (true, false) => format!("{its} {singular}{by}"),
            (false, false) => format!("the {singular} of the {owner}{by}"),
            (true, true) => format!("one of {its} {plural}{by}"),
            (false, true) => format!("one of the {plural} of the {owner}{by}"),
        }
    }

    /// Returns which key a link uses, if the tables have several.
    fn by(&self, link: &Link<'_>, names: &NamedSources<'_>) -> String {
        let (Some(from), Some(to)) = (table(&names.sources[link.from]), table(&names.sources[link.to]))
        else {
            return String::new();
        };
        let keys: Vec<&ForeignKey> = self
            .schema
            .table(from)
            .foreign_keys
            .iter()
            .filter(|key| key.to.first().is_some_and(|column| column.table == to))
            .collect();
        let is_same = |key: &ForeignKey| key.columns == link.key.columns && key.to == link.key.to;
        if from != to && keys.iter().all(|key| is_same(key)) {
            return String::new();
        }
        let column =
            |&column: &u32| self.column(ColumnRef { scope: 0, source: link.from as u32, column }, names);
        let columns: Vec<String> = link.key.columns.iter().map(column).collect();
        let by = format!(" by {}", english::enumeration(&columns, "and"));
        if keys.iter().all(|key| is_same(key) || key.columns != link.key.columns) {
            return by;
        }
        let referred: Vec<String> =
            link.key.to.iter().map(|&column| self.phrases.column(column).to_owned()).collect();
        format!("{by} for {}", english::enumeration(&referred, "and"))
    }

    /// Explains a left-joined source.
    fn left_joined(&self, index: usize, root: usize, its: &str, names: &NamedSources<'_>) -> String {
        let Some(condition) = &names.sources[index].left_join else { return self.member(index, names) };
        let conditions = conjuncts(condition);
        let links = self.links(names.sources, &conditions);
        let is_whole = |link: &&Link<'_>| {
            (link.from == index || link.to == index) && link.conditions.len() == conditions.len()
        };
        if let Some(link) = links.iter().find(is_whole) {
            let step = Step { link, reverse: link.from == index };
            return format!("{} or none", self.step(&step, root, its, names));
        }
        format!("{} (where {}) or none", self.member(index, names), self.condition(condition, names))
    }

    /// Returns whether a foreign key refers to one row of a table, as far as the schema says, so that `its` is right.
    fn identifies(&self, key: &ForeignKey, to: TableId) -> bool {
        let primary = &self.schema.table(to).primary_key;
        key.to.iter().all(|column| column.table == to)
            && (primary.is_empty()
                || primary.iter().all(|&column| key.to.contains(&ColumnId { table: to, column })))
    }

    /// Returns the foreign keys that conditions equate with what they refer to.
    fn links<'s>(&'s self, from: &[FromSource], conditions: &[&Expr]) -> Vec<Link<'s>> {
        let mut links = Vec::new();
        for (index, source) in from.iter().enumerate() {
            let Some(own) = table(source) else { continue };
            for (other, referred) in from.iter().enumerate() {
                let Some(to) = table(referred).filter(|_| other != index) else { continue };
                for key in &self.schema.table(own).foreign_keys {
                    if !self.identifies(key, to) {
                        continue;
                    }
                    let pairs = key.columns.iter().zip(&key.to).map(|(&column, to)| {
                        conditions
                            .iter()
                            .position(|condition| equates(condition, (index, column), (other, to.column)))
                    });
                    if let Some(conditions) = pairs.collect::<Option<Vec<usize>>>() {
                        links.push(Link { from: index, to: other, key, conditions });
                    }
                }
            }
        }
        links
    }
}

/// Returns the conditions that make up a condition.
fn conjuncts(condition: &Expr) -> Vec<&Expr> {
    match condition {
        Expr::And(parts) => parts.iter().collect(),
        other => vec![other],
    }
}

fn table(source: &FromSource) -> Option<TableId> {
    match source.kind {
        SourceKind::Table(table) => Some(table),
        SourceKind::Query(_) => None,
    }
}

/// Returns whether a condition equates two columns of the nearest list, given by source and column.
fn equates(condition: &Expr, left: (usize, u32), right: (usize, u32)) -> bool {
    let column = |expr: &Expr| match expr {
        Expr::Column(column) if column.scope == 0 => Some((column.source as usize, column.column)),
        _ => None,
    };
    match condition {
        Expr::Compare(ComparisonOperator::Equal, sides) => {
            let sides = [column(&sides[0]), column(&sides[1])];
            sides == [Some(left), Some(right)] || sides == [Some(right), Some(left)]
        }
        _ => false,
    }
}

/// Divides a list into trees of related sources, and the left-joined ones.
fn forest<'l, 'a>(from: &[FromSource], links: &'l [Link<'a>]) -> (Vec<Tree<'l, 'a>>, Vec<usize>) {
    let (left_joined, mut rest): (Vec<usize>, Vec<usize>) =
        (0..from.len()).partition(|&index| from[index].left_join.is_some());
    let mut trees = Vec::new();
    while let Some(&first) = rest.first() {
        // The sources that are related with the first one; any of them can be the root.
        let members: Vec<usize> = std::iter::once(first)
            .chain(grow(first, links, &rest).steps.iter().map(|step| step.ends().1))
            .collect();
        let roots = rest.iter().filter(|index| members.contains(index));
        let tree = roots.map(|&root| grow(root, links, &rest)).min_by_key(Tree::reversals);
        rest.retain(|index| !members.contains(index));
        trees.extend(tree);
    }
    (trees, left_joined)
}

/// Returns the tree of a root among `sources`. Steps in the direction of a key come first.
fn grow<'l, 'a>(root: usize, links: &'l [Link<'a>], sources: &[usize]) -> Tree<'l, 'a> {
    let mut tree = Tree { root, steps: vec![] };
    let mut reached = vec![root];
    loop {
        let step = |reverse: bool| {
            let steps = links.iter().map(move |link| Step { link, reverse });
            let is_new = |step: &Step<'_, '_>| {
                let (old, new) = step.ends();
                reached.contains(&old) && !reached.contains(&new) && sources.contains(&new)
            };
            let mut new = steps.filter(is_new);
            new.next()
        };
        let Some(step) = step(false).or_else(|| step(true)) else { return tree };
        reached.push(step.ends().1);
        tree.steps.push(step);
    }
}
