//! Finds nonsense in SQL, independently of the rules by which search leaves it out: in the tree that is read from the text, with
//! the cells of the database, and with SQLite itself.

use rusqlite::Connection;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use xpr_lang::sql::{
    ColumnId, ColumnRef, ColumnType, ComparisonOperator, Expr, FromSource, Literal, Output, Query, Schema,
    Select, SortBy, SourceKind, TableId, check,
};
use xpr_text::tokenize;

/// The number of candidates with each kind of nonsense, and an example of it.
pub(crate) type Found = BTreeMap<&'static str, (usize, String)>;

/// Knows a database, and finds nonsense in queries about it.
pub(crate) struct Inspector {
    connection: Connection,
    schema: Schema,
    texts: HashMap<ColumnId, HashSet<String>>,
    ranges: HashMap<ColumnId, [f64; 2]>,
    /// Columns that keys or labels connect.
    joinable: HashSet<(ColumnId, ColumnId)>,
    keys: HashSet<(ColumnId, ColumnId)>,
    /// Whether a label has columns beside the least or greatest value of all rows, which SQLite takes from the row that has it.
    has_rows_of_extremes: bool,
}

/// The `FROM` lists around an expression, nearest first.
type Lists<'q> = Vec<&'q [FromSource]>;

impl Inspector {
    pub(crate) fn new(database: &Path, schema: Schema, labels: &[Query]) -> Self {
        let connection = Connection::open(database).unwrap();
        let (mut texts, mut ranges) = (HashMap::new(), HashMap::new());
        let mut keys: HashSet<(ColumnId, ColumnId)> = HashSet::new();
        for (table, contents) in (0..).map(TableId).zip(&schema.tables) {
            for (column, definition) in (0..).zip(&contents.columns) {
                let id = ColumnId { table, column };
                let sql = format!("SELECT \"{}\" FROM \"{}\"", definition.name, contents.name);
                let mut statement = connection.prepare(&sql).unwrap();
                let mut rows = statement.query([]).unwrap();
                let (mut cells, mut range) = (HashSet::new(), [f64::INFINITY, f64::NEG_INFINITY]);
                while let Some(row) = rows.next().unwrap() {
                    match row.get_ref(0).unwrap() {
                        rusqlite::types::ValueRef::Text(text) => {
                            cells.insert(String::from_utf8_lossy(text).into_owned());
                        }
                        rusqlite::types::ValueRef::Integer(number) => range = wider(range, number as f64),
                        rusqlite::types::ValueRef::Real(number) => range = wider(range, number),
                        _ => {}
                    }
                }
                texts.insert(id, cells);
                if range[0] <= range[1] {
                    ranges.insert(id, range);
                }
                keys.insert((id, id));
            }
            for key in &contents.foreign_keys {
                for (&column, &to) in key.columns.iter().zip(&key.to) {
                    let from = ColumnId { table, column };
                    keys.extend([(from, to), (to, from)]);
                }
            }
        }
        let keys = closure(keys);
        let mut inspector = Inspector {
            connection,
            schema,
            texts,
            ranges,
            joinable: keys.clone(),
            keys,
            has_rows_of_extremes: false,
        };
        for label in labels {
            inspector.has_rows_of_extremes |= label.selects().any(is_row_of_extreme);
            let mut pairs = Vec::new();
            visit_query(label, &[], &mut |expr, lists| {
                pairs.extend(inspector.compared_columns(expr, lists).into_iter().map(|(pair, _)| pair));
            });
            inspector.joinable.extend(pairs.iter().flat_map(|&(left, right)| [(left, right), (right, left)]));
        }
        inspector
    }

    /// Adds the nonsense of a candidate for a question.
    pub(crate) fn inspect(&self, question: &str, text: &str, found: &mut Found) {
        let mut add = |kind: &'static str| {
            let entry = found.entry(kind).or_insert_with(|| (0, format!("{question}\n    {text}")));
            entry.0 += 1;
        };
        if let Err(error) = self.connection.prepare(text) {
            add(if error.to_string().contains("no such column") {
                "unbound names"
            } else {
                "refused by SQLite"
            });
        }
        match check(text, &self.schema) {
            Err(_) => add("refused by the check"),
            Ok(checked) => self.inspect_query(question, &checked.query, &mut add),
        }
    }

    fn inspect_query(&self, question: &str, query: &Query, add: &mut dyn FnMut(&'static str)) {
        visit_queries(query, &mut |query, is_value| {
            let widths: Vec<usize> = query.selects().map(|select| self.width(select)).collect();
            if widths.iter().any(|width| *width != widths[0]) || is_value && widths[0] != 1 {
                add("impossible arity");
            }
            if let Some(limit) = &query.limit {
                let Literal::Number(rows) = &limit.rows else { return add("limits nobody said") };
                let is_first = rows == "1" && !query.order.is_empty();
                if !is_first && !says_count(question, rows) {
                    add("limits nobody said");
                }
            }
            for select in query.selects() {
                self.inspect_select(select, query, add);
            }
        });
        visit_query(query, &[], &mut |expr, lists| self.inspect_expr(expr, lists, add));
    }

    fn inspect_select(&self, select: &Select, query: &Query, add: &mut dyn FnMut(&'static str)) {
        let outputs: Vec<&Expr> = select
            .outputs
            .iter()
            .filter_map(|output| match output {
                Output::Expr(expr) => Some(expr),
                _ => None,
            })
            .collect();
        let has_star = outputs.len() < select.outputs.len();
        let aggregates = outputs.iter().filter(|output| has_aggregate(output)).count();
        let is_bare = has_star || outputs.iter().any(|output| has_bare_column(output));
        if select.group.is_empty()
            && aggregates > 0
            && is_bare
            && !(self.has_rows_of_extremes && is_row_of_extreme(select))
        {
            add("columns beside a lone aggregate");
        }
        let sorts =
            query.order.iter().any(|key| matches!(&key.by, SortBy::Expr(expr) if has_aggregate(expr)));
        if select.group.is_empty() && sorts {
            add("sorted by an aggregate without groups");
        }
        let conditions = select.condition.iter().chain(&select.group);
        if conditions.into_iter().any(has_aggregate) {
            add("aggregates where rows are chosen");
        }
        if repeats(&select.outputs) || repeats(&select.group) {
            add("repeated outputs or keys");
        }
        if !is_connected(select) {
            add("tables that nothing connects");
        }
    }

    fn inspect_expr(&self, expr: &Expr, lists: &[&[FromSource]], add: &mut dyn FnMut(&'static str)) {
        for ((left, right), is_equal) in self.compared_columns(expr, lists) {
            if is_equal && !self.joinable.contains(&(left, right)) {
                add("joins along no key");
            }
        }
        match expr {
            Expr::Compare(_, sides) if sides[0] == sides[1] => add("self-comparisons"),
            Expr::And(parts) | Expr::Or(parts) if repeats(parts) => add("repeated conditions"),
            Expr::InList(_, list) if list.len() < 2 => add("lists of one value"),
            Expr::Aggregate(aggregate, argument) => {
                if has_aggregate(argument) {
                    add("aggregates of aggregates");
                }
                let ty = self.column(argument, lists).map(|column| self.schema.column(column).ty);
                if aggregate.adds() && ty == Some(ColumnType::Text) {
                    add("sums of text");
                }
            }
            _ => {}
        }
        let (left, constants, by_order): (&Expr, Vec<&Expr>, bool) = match expr {
            Expr::Compare(operator, sides) => {
                let by_order = !matches!(operator, ComparisonOperator::Equal | ComparisonOperator::NotEqual);
                (&sides[0], vec![&sides[1]], by_order)
            }
            Expr::Between(parts) => (&parts[0], vec![&parts[1], &parts[2]], true),
            Expr::InList(left, list) => (left, list.iter().collect(), false),
            _ => return,
        };
        let Some(column) = self.column(left, lists) else { return };
        if by_order && self.schema.column(column).ty == ColumnType::Text {
            add("order of free text");
        }
        for constant in constants {
            if let Expr::Literal(literal) = constant
                && !self.may_hold(column, literal, by_order)
            {
                add("constants outside of their column");
            }
        }
    }

    /// Returns whether a column, or one that keys connect it with, holds a text, or whether a number is in the range of the column.
    fn may_hold(&self, column: ColumnId, literal: &Literal, by_order: bool) -> bool {
        match literal {
            Literal::Text(text) => {
                let connected = self.keys.iter().filter(|(from, _)| *from == column);
                by_order || connected.into_iter().any(|(_, to)| self.texts[to].contains(text))
            }
            Literal::Number(number) => {
                let number: f64 = number.parse().unwrap();
                let ty = self.schema.column(column).ty;
                let Some([least, greatest]) = self.ranges.get(&column).filter(|_| ty != ColumnType::Other)
                else {
                    // Numbers in quotes, or none at all.
                    return ty != ColumnType::Text;
                };
                // A number that is compared by order may be as far away as the values are from each other, or by half.
                let far = (greatest - least).max(greatest.abs() / 2.0).max(least.abs() / 2.0);
                let margin = if by_order { far } else { 0.0 };
                (least - margin..=greatest + margin).contains(&number)
            }
        }
    }

    /// Returns the column of a table that an expression is.
    fn column(&self, expr: &Expr, lists: &[&[FromSource]]) -> Option<ColumnId> {
        let Expr::Column(ColumnRef { scope, source, column }) = expr else { return None };
        match lists.get(*scope as usize)?.get(*source as usize)?.kind {
            SourceKind::Table(table) => Some(ColumnId { table, column: *column }),
            SourceKind::Query(_) => None,
        }
    }

    /// Returns the pairs of columns that an expression compares, and whether it is for equality.
    fn compared_columns(&self, expr: &Expr, lists: &[&[FromSource]]) -> Vec<((ColumnId, ColumnId), bool)> {
        let (left, right, is_equal): (&Expr, Vec<ColumnId>, bool) = match expr {
            Expr::Compare(operator, sides) => {
                let right = match &sides[1] {
                    Expr::Query(query) => self.first_outputs(query, lists),
                    other => self.column(other, lists).into_iter().collect(),
                };
                (&sides[0], right, *operator == ComparisonOperator::Equal)
            }
            Expr::InQuery(left, query) => (left, self.first_outputs(query, lists), true),
            _ => return vec![],
        };
        let Some(left) = self.column(left, lists) else { return vec![] };
        right.into_iter().map(|right| ((left, right), is_equal)).collect()
    }

    /// Returns the columns that the selects of a query return, or whose least or greatest value they return.
    fn first_outputs(&self, query: &Query, lists: &[&[FromSource]]) -> Vec<ColumnId> {
        let column = |select: &Select| match select.outputs.first()? {
            Output::Expr(Expr::Aggregate(aggregate, _)) if aggregate.name() == "COUNT" => None,
            Output::Expr(Expr::Aggregate(_, argument)) => self.column(argument, &inside(&select.from, lists)),
            Output::Expr(expr) => self.column(expr, &inside(&select.from, lists)),
            _ => None,
        };
        query.selects().filter_map(column).collect()
    }

    fn width(&self, select: &Select) -> usize {
        let of_source = |source: &FromSource| match &source.kind {
            SourceKind::Table(table) => self.schema.table(*table).columns.len(),
            SourceKind::Query(query) => self.width(&query.first),
        };
        let of_output = |output: &Output| match output {
            Output::All => select.from.iter().map(of_source).sum(),
            Output::AllOf(source) => of_source(&select.from[*source as usize]),
            Output::Expr(_) => 1,
        };
        select.outputs.iter().map(of_output).sum()
    }
}

fn wider([least, greatest]: [f64; 2], number: f64) -> [f64; 2] {
    [least.min(number), greatest.max(number)]
}

/// Returns whether the outputs are columns and one least or greatest value.
fn is_row_of_extreme(select: &Select) -> bool {
    let extremes = select.outputs.iter().filter(|output| {
        matches!(output, Output::Expr(Expr::Aggregate(aggregate, _)) if ["MIN", "MAX"].contains(&aggregate.name()))
    });
    let columns = select.outputs.iter().filter(|output| matches!(output, Output::Expr(Expr::Column(_))));
    let (extremes, columns) = (extremes.count(), columns.count());
    select.group.is_empty() && extremes == 1 && columns > 0 && extremes + columns == select.outputs.len()
}

/// Returns the transitive closure of pairs.
fn closure(mut pairs: HashSet<(ColumnId, ColumnId)>) -> HashSet<(ColumnId, ColumnId)> {
    loop {
        let new: Vec<(ColumnId, ColumnId)> = pairs
            .iter()
            .flat_map(|&(a, b)| pairs.iter().filter(move |(c, _)| *c == b).map(move |&(_, d)| (a, d)))
            .filter(|pair| !pairs.contains(pair))
            .collect();
        if new.is_empty() {
            return pairs;
        }
        pairs.extend(new);
    }
}

/// Returns whether a question has a number that is no year, in digits or in words.
fn says_count(question: &str, number: &str) -> bool {
    const WORDS: [&str; 11] =
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    let Ok(value) = number.parse::<usize>() else { return false };
    tokenize(question).iter().any(|word| word == number || WORDS.get(value).is_some_and(|name| name == word))
        && !(1000..=2100).contains(&value)
}

fn repeats<T: PartialEq>(parts: &[T]) -> bool {
    parts.iter().enumerate().any(|(index, part)| parts[..index].contains(part))
}

fn has_aggregate(expr: &Expr) -> bool {
    matches!(expr, Expr::CountRows | Expr::Aggregate(..)) || children(expr).into_iter().any(has_aggregate)
}

fn has_bare_column(expr: &Expr) -> bool {
    match expr {
        Expr::Column(_) => true,
        Expr::Aggregate(..) => false,
        other => children(other).into_iter().any(has_bare_column),
    }
}

/// Returns whether comparisons between columns connect all sources of a select.
fn is_connected(select: &Select) -> bool {
    let mut reached: HashSet<u32> = HashSet::from([0]);
    let mut pairs: Vec<(u32, u32)> = Vec::new();
    let joins = select.from.iter().filter_map(|source| source.left_join.as_ref());
    for condition in select.condition.iter().chain(joins) {
        visit_expr(condition, &mut |expr| {
            if let Expr::Compare(ComparisonOperator::Equal, sides) = expr
                && let (Expr::Column(left), Expr::Column(right)) = (&sides[0], &sides[1])
                && left.scope == 0
                && right.scope == 0
            {
                pairs.extend([(left.source, right.source), (right.source, left.source)]);
            }
        });
    }
    for _ in 0..select.from.len() {
        reached.extend(
            pairs.iter().filter(|(from, _)| reached.contains(from)).map(|pair| pair.1).collect::<Vec<_>>(),
        );
    }
    reached.len() >= select.from.len()
}

fn inside<'q>(from: &'q [FromSource], lists: &[&'q [FromSource]]) -> Lists<'q> {
    std::iter::once(from).chain(lists.iter().copied()).collect()
}

/// Returns the expressions directly inside an expression, but not those of queries inside it.
fn children(expr: &Expr) -> Vec<&Expr> {
    match expr {
        Expr::Negate(inner)
        | Expr::Cast(_, inner)
        | Expr::Aggregate(_, inner)
        | Expr::IsNull(inner)
        | Expr::Not(inner)
        | Expr::InQuery(inner, _) => vec![inner],
        Expr::Arithmetic(_, sides) | Expr::Compare(_, sides) | Expr::Like(sides) => sides.iter().collect(),
        Expr::Case(parts) | Expr::Between(parts) => parts.iter().collect(),
        Expr::InList(left, list) => std::iter::once(&**left).chain(list).collect(),
        Expr::Call(_, parts) | Expr::And(parts) | Expr::Or(parts) => parts.iter().collect(),
        _ => vec![],
    }
}

fn visit_expr(expr: &Expr, visit: &mut dyn FnMut(&Expr)) {
    visit(expr);
    children(expr).into_iter().for_each(|child| visit_expr(child, visit));
}

fn inner_query(expr: &Expr) -> Option<&Query> {
    match expr {
        Expr::Query(query) | Expr::InQuery(_, query) | Expr::Exists(query) => Some(query),
        _ => None,
    }
}

/// Returns the expressions of a select, and the sort keys of its query if it is the first.
fn clauses<'q>(query: &'q Query, index: usize, select: &'q Select) -> Vec<&'q Expr> {
    let outputs = select.outputs.iter().filter_map(|output| match output {
        Output::Expr(expr) => Some(expr),
        _ => None,
    });
    let joins = select.from.iter().filter_map(|source| source.left_join.as_ref());
    let keys = query.order.iter().filter_map(|key| match &key.by {
        SortBy::Expr(expr) if index == 0 => Some(expr),
        _ => None,
    });
    let clauses = select.condition.iter().chain(&select.group).chain(&select.having);
    clauses.chain(outputs).chain(joins).chain(keys).collect()
}

/// Calls `visit` with every expression of a query and of the queries inside it, and with the lists that it sees.
fn visit_query(query: &Query, lists: &[&[FromSource]], visit: &mut dyn FnMut(&Expr, &[&[FromSource]])) {
    for (index, select) in query.selects().enumerate() {
        let seen = inside(&select.from, lists);
        for clause in clauses(query, index, select) {
            visit_expr(clause, &mut |expr| {
                visit(expr, &seen);
                if let Some(inner) = inner_query(expr) {
                    visit_query(inner, &seen, visit);
                }
            });
        }
        for source in &select.from {
            if let SourceKind::Query(inner) = &source.kind {
                visit_query(inner, lists, visit);
            }
        }
    }
}

/// Calls `visit` with a query and those inside it, and with whether it is used as a value.
fn visit_queries(query: &Query, visit: &mut dyn FnMut(&Query, bool)) {
    fn inner(query: &Query, visit: &mut dyn FnMut(&Query, bool)) {
        for (index, select) in query.selects().enumerate() {
            for clause in clauses(query, index, select) {
                visit_expr(clause, &mut |expr| {
                    if let Some(found) = inner_query(expr) {
                        visit(found, !matches!(expr, Expr::Exists(_)));
                        inner(found, visit);
                    }
                });
            }
            for source in &select.from {
                if let SourceKind::Query(found) = &source.kind {
                    visit(found, false);
                    inner(found, visit);
                }
            }
        }
    }
    visit(query, false);
    inner(query, visit);
}
