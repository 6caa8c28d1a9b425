//! Which queries mean the same, as far as that follows from their trees: queries with one explanation must have one normal form.
#![allow(dead_code, reason = "each test uses a part of it")]

use std::collections::HashMap;
use xpr_lang::sql::{
    ColumnRef, ComparisonOperator, Expr, FromSource, Output, Query, Schema, Select, SortBy, SourceKind, Sql,
    quoted,
};

/// Returns the text of the normal form of a query.
fn normal_form(query: &Query) -> String {
    let mut query = query.clone();
    normalise_query(&mut query, Use::Rows);
    format!("{query:?}")
}

/// What a query is used for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// All of its rows.
    Rows,
    /// Its values, in any order and any number.
    Values,
    /// Whether it has rows.
    Existence,
}

fn normalise_query(query: &mut Query, used: Use) {
    let is_simple = query.rest.is_empty() && query.limit.is_none();
    if is_simple && used != Use::Rows && !is_aggregate(query) {
        query.order.clear();
        if query.first.group.is_empty() {
            query.first.distinct = false;
            if used == Use::Existence {
                query.first.outputs.clear();
            }
        }
    }
    sort_sources(query);
    if query.rest.is_empty() && query.first.group.is_empty() && is_aggregate(query) {
        // One row is distinct in any case.
        query.first.distinct = false;
    }
    let mut order = std::mem::take(&mut query.order);
    let keys = order.iter_mut().filter_map(|key| match &mut key.by {
        SortBy::Expr(expr) => Some(expr),
        SortBy::Output(_) => None,
    });
    normalise_select(&mut query.first, keys.collect());
    for (_, select) in &mut query.rest {
        normalise_select(select, vec![]);
    }
    query.order = order;
}

/// Normalises a select, and the keys that its query sorts by.
fn normalise_select(select: &mut Select, mut keys: Vec<&mut Expr>) {
    for source in &mut select.from {
        if let SourceKind::Query(query) = &mut source.kind {
            normalise_query(query, Use::Rows);
        }
    }
    let all = select
        .outputs
        .iter_mut()
        .filter_map(|output| match output {
            Output::Expr(expr) => Some(expr),
            _ => None,
        })
        .chain(select.condition.iter_mut())
        .chain(select.group.iter_mut())
        .chain(select.having.iter_mut())
        .chain(select.from.iter_mut().filter_map(|source| source.left_join.as_mut()))
        .chain(keys.iter_mut().map(|key| &mut **key));
    all.for_each(normalise_expr);
    // `SELECT k … GROUP BY k` is `SELECT DISTINCT k …`.
    let outputs: Vec<Output> = select.group.iter().cloned().map(Output::Expr).collect();
    if !select.group.is_empty() && select.outputs == outputs {
        select.distinct = true;
        let needs_groups = select.having.is_some() || keys.iter().any(|key| has_aggregate(key));
        if !needs_groups {
            select.group.clear();
        }
    }
    if let Some(Expr::And(parts)) = &mut select.condition {
        parts.sort_by_key(|part| format!("{part:?}"));
    }
}

/// Orders the sources of each `FROM` list by their tables, if no table occurs twice. The explanation of a join does not depend on it.
fn sort_sources(query: &mut Query) {
    for select in std::iter::once(&mut query.first).chain(query.rest.iter_mut().map(|(_, select)| select)) {
        let sources = select.from.len() as u32;
        let expanded = select.outputs.drain(..).flat_map(|output| match output {
            Output::All => (0..sources).map(Output::AllOf).collect(),
            other => vec![other],
        });
        select.outputs = expanded.collect();
    }
    let orders: Vec<Vec<usize>> = query.selects().map(source_order).collect();
    let single = query.rest.is_empty();
    let mut selects: Vec<&mut Select> =
        std::iter::once(&mut query.first).chain(query.rest.iter_mut().map(|(_, select)| select)).collect();
    for (select, order) in selects.iter_mut().zip(&orders) {
        permute(select, order);
    }
    if single {
        for key in &mut query.order {
            if let SortBy::Expr(expr) = &mut key.by {
                remap(expr, 0, &inverse(&orders[0]));
            }
        }
    }
}

fn source_order(select: &Select) -> Vec<usize> {
    let from = &select.from;
    let identity: Vec<usize> = (0..from.len()).collect();
    let table = |source: &FromSource| match source.kind {
        SourceKind::Table(table) if source.left_join.is_none() => Some(table),
        _ => None,
    };
    let Some(tables) = from.iter().map(table).collect::<Option<Vec<_>>>() else { return identity };
    let mut order = identity.clone();
    order.sort_by_key(|&index| tables[index]);
    let is_repeated = order.windows(2).any(|pair| tables[pair[0]] == tables[pair[1]]);
    if is_repeated { identity } else { order }
}

fn inverse(order: &[usize]) -> Vec<usize> {
    let mut inverse = vec![0; order.len()];
    for (new, &old) in order.iter().enumerate() {
        inverse[old] = new;
    }
    inverse
}

fn permute(select: &mut Select, order: &[usize]) {
    let inverse = inverse(order);
    select.from = order.iter().map(|&old| select.from[old].clone()).collect();
    for output in &mut select.outputs {
        match output {
            Output::Expr(expr) => remap(expr, 0, &inverse),
            Output::AllOf(source) => *source = inverse[*source as usize] as u32,
            Output::All => {}
        }
    }
    let all = select.condition.iter_mut().chain(&mut select.group).chain(&mut select.having);
    all.for_each(|expr| remap(expr, 0, &inverse));
}

/// Renumbers the sources of the list that is `depth` lists away.
fn remap(expr: &mut Expr, depth: u32, inverse: &[usize]) {
    if let Expr::Column(ColumnRef { scope, source, .. }) = expr
        && *scope == depth
    {
        *source = inverse[*source as usize] as u32;
    }
    for child in expr.children_mut() {
        remap(child, depth, inverse);
    }
    if let Some(query) = inner_query(expr) {
        remap_query(query, depth + 1, inverse);
    }
}

fn remap_query(query: &mut Query, depth: u32, inverse: &[usize]) {
    for expr in expressions(query) {
        remap(expr, depth, inverse);
    }
    for select in std::iter::once(&mut query.first).chain(query.rest.iter_mut().map(|(_, select)| select)) {
        for source in &mut select.from {
            // A query in `FROM` does not see the list it is in.
            if let SourceKind::Query(inner) = &mut source.kind {
                remap_query(inner, depth, inverse);
            }
        }
    }
}

fn normalise_expr(expr: &mut Expr) {
    for child in expr.children_mut() {
        normalise_expr(child);
    }
    match expr {
        Expr::InQuery(_, query) => normalise_query(query, Use::Values),
        Expr::Exists(query) => normalise_query(query, Use::Existence),
        Expr::Query(query) => normalise_query(query, Use::Rows),
        Expr::Compare(ComparisonOperator::Equal, sides) => {
            if matches!(**sides, [Expr::Column(_), Expr::Column(_)]) {
                sides.sort_by_key(|side| format!("{side:?}"));
            }
        }
        _ => {}
    }
}

fn is_aggregate(query: &Query) -> bool {
    let outputs =
        query.first.outputs.iter().any(|output| matches!(output, Output::Expr(expr) if has_aggregate(expr)));
    outputs || query.order.iter().any(|key| matches!(&key.by, SortBy::Expr(expr) if has_aggregate(expr)))
}

fn has_aggregate(expr: &Expr) -> bool {
    matches!(expr, Expr::CountRows | Expr::Aggregate(..))
        || expr.clone().children_mut().iter().any(|child| has_aggregate(child))
}

/// Returns the expressions of the selects and sort keys of a query.
fn expressions(query: &mut Query) -> Vec<&mut Expr> {
    let mut all = Vec::new();
    for select in std::iter::once(&mut query.first).chain(query.rest.iter_mut().map(|(_, select)| select)) {
        for output in &mut select.outputs {
            if let Output::Expr(expr) = output {
                all.push(expr);
            }
        }
        all.extend(select.condition.iter_mut().chain(&mut select.group).chain(&mut select.having));
        all.extend(select.from.iter_mut().filter_map(|source| source.left_join.as_mut()));
    }
    for key in &mut query.order {
        if let SortBy::Expr(expr) = &mut key.by {
            all.push(expr);
        }
    }
    all
}

/// Returns the query directly inside an expression.
fn inner_query(expr: &mut Expr) -> Option<&mut Query> {
    match expr {
        Expr::Query(query) | Expr::Exists(query) | Expr::InQuery(_, query) => Some(query),
        _ => None,
    }
}

/// Returns texts that differ from the canonical text of a query in one place. Not all of them are queries.
fn mutations(text: &str, schema: &Schema) -> Vec<String> {
    const REPLACEMENTS: &[(&str, &[&str])] = &[
        ("SELECT", &["SELECT DISTINCT"]),
        ("DISTINCT", &[""]),
        ("DESC", &[""]),
        ("AND", &["OR"]),
        ("OR", &["AND"]),
        ("=", &["<>", "<", ">=", "LIKE"]),
        ("<>", &["="]),
        ("<", &["<=", ">", "="]),
        (">", &[">=", "<", "="]),
        ("<=", &["<", ">="]),
        (">=", &[">", "<="]),
        ("IN", &["NOT IN"]),
        ("NOT", &[""]),
        ("LIKE", &["NOT LIKE", "="]),
        ("BETWEEN", &["NOT BETWEEN"]),
        ("EXISTS", &["NOT EXISTS"]),
        ("UNION", &["UNION ALL", "INTERSECT", "EXCEPT"]),
        ("INTERSECT", &["UNION", "EXCEPT"]),
        ("EXCEPT", &["UNION", "INTERSECT"]),
        ("LIMIT", &["LIMIT 7 OFFSET", "DESC LIMIT"]),
        ("GROUP", &["HAVING 1 = 1 GROUP"]),
        ("+", &["-"]),
        ("-", &["+"]),
        ("/", &["*"]),
    ];
    const AGGREGATES: &[&str] =
        &["COUNT(DISTINCT ", "COUNT(", "SUM(DISTINCT ", "SUM(", "AVG(", "MIN(", "MAX(", "GROUP_CONCAT("];
    let mut all = Vec::new();
    let tokens: Vec<&str> = text.split(' ').collect();
    let mut replace = |index: usize, new: &str| {
        let mut tokens = tokens.clone();
        tokens[index] = new;
        all.push(tokens.join(" "));
    };
    for (index, token) in tokens.iter().enumerate() {
        let bare = token.trim_matches(['(', ')', ',']);
        for (_, replacements) in REPLACEMENTS.iter().filter(|(old, _)| *old == bare) {
            replacements.iter().for_each(|new| replace(index, &token.replace(bare, new)));
        }
        if let Ok(number) = bare.parse::<i64>() {
            replace(index, &token.replace(bare, &(number + 1).to_string()));
        }
        if token.contains("COUNT(*)") {
            replace(index, &token.replace("COUNT(*)", "COUNT(*) + 1"));
        }
        for (old, new) in AGGREGATES.iter().flat_map(|old| AGGREGATES.iter().map(move |new| (old, new))) {
            if old != new && token.starts_with(old.trim_end()) && !token.contains("(*)") {
                replace(index, &token.replacen(old.trim_end(), new, 1));
            }
        }
        if let Some((qualifier, name)) = bare.rsplit('(').next().and_then(|name| name.split_once('.')) {
            let columns =
                schema.tables.iter().flat_map(|table| &table.columns).map(|column| column.name.as_str());
            for other in columns.filter(|other| *other != name) {
                let (old, new) = (format!("{qualifier}.{name}"), format!("{qualifier}.{}", quoted(other)));
                replace(index, &token.replace(&old, &new));
            }
            replace(index, &token.replace(bare, &format!("{bare} IS NULL AND {bare}")));
        }
    }
    // Constants may have spaces.
    for (start, _) in text.match_indices('\'') {
        all.push(format!("{}x{}", &text[..start], &text[start..]));
        all.push(format!("{}%{}", &text[..start], &text[start..]));
    }
    all
}

/// Finds queries that have the same explanation and do not mean the same.
#[derive(Default)]
pub(crate) struct Explanations {
    by_sentence: HashMap<String, (String, String)>,
    pub(crate) clashes: Vec<String>,
}

impl Explanations {
    /// Adds a query with its explanation.
    pub(crate) fn add(&mut self, language: &Sql, query: &Query) {
        let sentence = language.explain_query(query);
        let (text, normal) = (language.text(query), normal_form(query));
        let (first, first_normal) =
            self.by_sentence.entry(sentence.clone()).or_insert_with(|| (text.clone(), normal.clone()));
        if *first_normal != normal {
            self.clashes.push(format!("{sentence}\n  {first}\n  {text}\n"));
        }
    }

    /// Adds a query and everything that differs from it in one place.
    pub(crate) fn add_with_mutations(&mut self, language: &Sql, query: &Query) {
        self.add(language, query);
        for text in mutations(&language.text(query), language.schema()) {
            if let Ok(query) = language.parse(&text) {
                self.add(language, &query);
            }
        }
    }

    /// Returns the number of sentences.
    pub(crate) fn len(&self) -> usize {
        self.by_sentence.len()
    }
}
