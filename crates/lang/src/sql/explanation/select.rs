//! Explains selects: what is returned, and of which rows or groups.

use super::rows::Rows;
use super::value::{Term, listed};
use super::{Explainer, NamedSources};
use crate::english;
use crate::sql::query::{Expr, Output, Query, Select, SortBy, SourceKind};

impl Explainer<'_> {
    /// Explains a select, with the order and limit of `query` if it is the only select of it.
    pub(super) fn select(
        &self,
        select: &Select,
        outer: Option<&NamedSources<'_>>,
        query: Option<&Query>,
    ) -> String {
        let names = self.named_sources(select, outer);
        let rows = (!select.from.is_empty()).then(|| self.rows(select, &names));
        let mut text = match &rows {
            None => self.without_rows(select, &names),
            Some(rows) if !select.group.is_empty() => self.groups(select, rows, &names),
            Some(rows) if is_aggregate(select, query) => self.aggregates(select, rows, &names),
            Some(rows) => match query.and_then(|query| self.best_rows(select, query, rows, &names)) {
                Some(text) => return text,
                None => self.each_row(select, rows, &names),
            },
        };
        if let Some(having) = &select.having {
            text += &format!(", only where {}", self.condition(having, &names));
        }
        if let Some(query) = query {
            text += &self.order(query, Some(&names));
        }
        text
    }

    /// Explains a select from one source that returns the first rows in an order: `the title of the 3 films with the largest score`.
    fn best_rows(
        &self,
        select: &Select,
        query: &Query,
        rows: &Rows,
        names: &NamedSources<'_>,
    ) -> Option<String> {
        let Rows { singular, plural, clause } = rows;
        let best = self.best(query, Some(names)).filter(|_| names.is_single() && !select.distinct)?;
        let outputs = match select.outputs.as_slice() {
            [Output::All] => "all columns".to_owned(),
            outputs => listed(&self.own_columns(outputs, names)?, true),
        };
        let noun = if best.is_one { singular } else { plural };
        let among = if clause.is_empty() { String::new() } else { format!(" among the {plural}{clause}") };
        Some(format!("{outputs} of the {} {noun} with the {}{among}", best.count, best.by))
    }

    /// Explains a select without `FROM`.
    fn without_rows(&self, select: &Select, names: &NamedSources<'_>) -> String {
        let outputs = self.outputs(select, names);
        match &select.condition {
            Some(condition) => format!("one row with {outputs} if {}", self.condition(condition, names)),
            None => format!("one row with {outputs}"),
        }
    }

    /// Explains a select that returns something for each row.
    fn each_row(&self, select: &Select, rows: &Rows, names: &NamedSources<'_>) -> String {
        let (singular, plural) = (rows.one(), rows.all());
        if names.is_single() {
            if matches!(select.outputs.as_slice(), [Output::All]) {
                let of = if select.distinct {
                    format!("the {plural}, each once")
                } else {
                    format!("each {singular}")
                };
                return format!("all columns of {of}");
            }
            if let Some(terms) = self.own_columns(&select.outputs, names) {
                return match select.distinct {
                    true => format!("{} of the {plural}", distinct(&listed(&terms, false), terms.len())),
                    false => format!("{} of each {singular}", listed(&terms, true)),
                };
            }
        }
        format!("{} for each {singular}", self.outputs(select, names))
    }

    /// Explains a select that combines all rows to one. That is distinct in any case.
    fn aggregates(&self, select: &Select, rows: &Rows, names: &NamedSources<'_>) -> String {
        let plural = rows.all();
        if select.outputs == [Output::Expr(Expr::CountRows)] {
            return format!("the number of {plural}");
        }
        if names.is_single() {
            let term = |output: &Output| match output {
                Output::Expr(Expr::CountRows) => Some("the number".to_owned()),
                Output::Expr(expr @ Expr::Aggregate(_, inner)) if matches!(**inner, Expr::Column(_)) => {
                    Some(self.value(expr, names)).filter(Term::is_bare).map(|term| term.text())
                }
                _ => None,
            };
            if let Some(terms) = select.outputs.iter().map(term).collect::<Option<Vec<String>>>() {
                return format!("{} of the {plural}", english::enumeration(&terms, "and"));
            }
        }
        format!("{} among the {plural}", listed(&self.terms(select, names), true))
    }

    /// Explains a select that returns something for each group.
    fn groups(&self, select: &Select, rows: &Rows, names: &NamedSources<'_>) -> String {
        let keys: Vec<Term> = select.group.iter().map(|key| self.value(key, names)).collect();
        let plural = rows.all();
        let of = if keys.iter().all(Term::is_bare) { "of" } else { "among" };
        let key_outputs = select.group.iter().cloned().map(Output::Expr);
        if select.outputs.len() == select.group.len() && key_outputs.eq(select.outputs.iter().cloned()) {
            return format!("{} {of} the {plural}", distinct(&listed(&keys, false), keys.len()));
        }
        let keys = self.identified(&select.group, names).unwrap_or_else(|| listed(&keys, false));
        format!("{} for each {keys} {of} the {plural}", self.outputs(select, names))
    }

    /// Returns the noun of a source, if the keys of groups are its primary key and there are other sources.
    fn identified(&self, keys: &[Expr], names: &NamedSources<'_>) -> Option<String> {
        let [Expr::Column(column)] = keys else { return None };
        let SourceKind::Table(table) = names.source(*column)?.kind else { return None };
        let is_key = column.scope == 0 && self.schema.table(table).primary_key == [column.column];
        names.qualifier(*column).filter(|_| is_key)
    }

    /// Returns the outputs, if each is a column of the only source.
    fn own_columns(&self, outputs: &[Output], names: &NamedSources<'_>) -> Option<Vec<Term>> {
        let column = |output: &Output| match output {
            Output::Expr(expr @ Expr::Column(column)) if column.scope == 0 => Some(self.value(expr, names)),
            _ => None,
        };
        outputs.iter().map(column).collect()
    }

    /// Explains the outputs of a select.
    fn outputs(&self, select: &Select, names: &NamedSources<'_>) -> String {
        let terms = self.terms(select, names);
        match select.distinct {
            true => distinct(&listed(&terms, false), terms.len()),
            false => listed(&terms, true),
        }
    }

    fn terms(&self, select: &Select, names: &NamedSources<'_>) -> Vec<Term> {
        let mut terms: Vec<Term> = Vec::new();
        for output in &select.outputs {
            match output {
                Output::Expr(expr) => terms.push(self.value(expr, names)),
                Output::All => terms.extend(names.nouns.iter().map(|noun| Term::columns_of(&noun.singular))),
                Output::AllOf(source) => {
                    let noun = names.nouns.get(*source as usize).map_or("row", |noun| &noun.singular);
                    terms.push(Term::columns_of(noun));
                }
            }
        }
        terms
    }
}

/// Returns a list of outputs without duplicates.
fn distinct(list: &str, count: usize) -> String {
    if count == 1 { format!("each distinct {list}") } else { format!("each distinct combination of {list}") }
}

/// Returns whether a select without groups combines its rows to one.
pub(super) fn is_aggregate(select: &Select, query: Option<&Query>) -> bool {
    let outputs =
        select.outputs.iter().any(|output| matches!(output, Output::Expr(expr) if has_aggregate(expr)));
    let mut order = query.iter().flat_map(|query| &query.order);
    outputs || order.any(|key| matches!(&key.by, SortBy::Expr(expr) if has_aggregate(expr)))
}

/// Returns whether an expression has an aggregate outside of its queries.
pub(super) fn has_aggregate(expr: &Expr) -> bool {
    let mut found = false;
    expr.visit(&mut |expr| found |= matches!(expr, Expr::CountRows | Expr::Aggregate(..)));
    found
}
