//! From a tree to SQL, safe by construction.
//!
//! Every name is one of the schema (quoted where need be) or made up here, every constant is escaped, and a tree
//! is one `SELECT`; whatever a model puts into a tree, the text can only read. Columns are always
//! qualified, so nothing depends on how a database resolves names. A table that occurs once in the
//! whole query goes by its own name, every other source by a number.

use super::function::Aggregate;
use super::identifier::quoted;
use super::query::{By, ColumnRef, Expr, Output, Query, Relation, Select, Source};
use super::schema::{Schema, TableId};
use super::scope::{field_names, source_width as width};
use rustc_hash::FxHashMap;
use std::fmt::Write;

/// Writes queries of one schema.
#[derive(Clone, Debug)]
pub(super) struct Writer {
    /// Names of sources begin like this; no table's name does before a number.
    source: String,
    /// Names of outputs begin like this; no column's name does before a number.
    output: String,
    /// Qualifies columns that belong nowhere; no table is called so.
    unbound: String,
}

impl Writer {
    pub(super) fn new(schema: &Schema) -> Self {
        let tables: Vec<&str> = schema.tables.iter().map(|table| table.name.as_str()).collect();
        let columns = schema.tables.iter().flat_map(|table| &table.columns);
        let columns: Vec<&str> = columns.map(|column| column.name.as_str()).collect();
        Writer {
            source: free_prefix("t", &tables),
            output: free_prefix("c", &columns),
            unbound: free_prefix("unbound", &tables),
        }
    }

    /// The canonical text of a query.
    pub(super) fn write(&self, query: &Query, schema: &Schema) -> String {
        let mut uses = FxHashMap::default();
        count_tables(query, &mut uses);
        let mut text = Text { writer: self, schema, uses, out: String::new(), sources: 0 };
        text.query(query, None, false);
        text.out
    }

    /// What outputs of a query in `FROM` are called: see [`field_names`].
    pub(super) fn output_prefix(&self) -> &str {
        &self.output
    }
}

/// `wish`, lengthened until no name is it or it and a number.
fn free_prefix(wish: &str, names: &[&str]) -> String {
    let mut prefix = wish.to_owned();
    let taken = |prefix: &str, name: &str| {
        name.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
            && name[prefix.len()..].bytes().all(|byte| byte.is_ascii_digit())
    };
    while names.iter().any(|name| taken(&prefix, name)) {
        prefix.push('_');
    }
    prefix
}

/// A `FROM` list as its text names it.
struct Names<'a> {
    sources: &'a [Source],
    names: Vec<String>,
    outer: Option<&'a Names<'a>>,
}

struct Text<'a> {
    writer: &'a Writer,
    schema: &'a Schema,
    /// How often each table occurs.
    uses: FxHashMap<TableId, u32>,
    out: String,
    /// How many sources were given a number.
    sources: u32,
}

impl Text<'_> {
    fn query(&mut self, query: &Query, outer: Option<&Names<'_>>, in_from: bool) {
        self.select(&query.first, query, outer, in_from, query.rest.is_empty());
        for (operator, select) in &query.rest {
            let _ = write!(self.out, " {} ", operator.name());
            self.select(select, query, outer, false, false);
        }
        if !query.rest.is_empty() {
            self.order(query, None);
        }
        if let Some(limit) = &query.limit {
            let _ = write!(self.out, " LIMIT {}", limit.rows);
            if let Some(skip) = &limit.skip {
                let _ = write!(self.out, " OFFSET {skip}");
            }
        }
    }

    fn select(
        &mut self,
        select: &Select,
        query: &Query,
        outer: Option<&Names<'_>>,
        in_from: bool,
        ordered: bool,
    ) {
        let names: Vec<String> = select.from.iter().map(|source| self.source_name(source)).collect();
        let names = Names { sources: &select.from, names, outer };
        self.out.push_str(if select.distinct { "SELECT DISTINCT " } else { "SELECT " });
        let fields = if in_from { field_names(query, self.schema, &self.writer.output) } else { vec![] };
        let mut place = 0;
        for (index, output) in select.outputs.iter().enumerate() {
            self.comma(index);
            match output {
                Output::All => {
                    self.out.push('*');
                    place += select.from.iter().map(|source| width(source, self.schema)).sum::<usize>();
                }
                Output::AllOf(source) => {
                    let name = names.names.get(*source as usize).unwrap_or(&self.writer.unbound);
                    let _ = write!(self.out, "{name}.*");
                    place += select.from.get(*source as usize).map_or(0, |source| width(source, self.schema));
                }
                Output::Expr(expr) => {
                    self.expr(expr, &names);
                    if let Some(Some(name)) = fields.get(place) {
                        let _ = write!(self.out, " AS {name}");
                    }
                    place += 1;
                }
            }
        }
        for (index, source) in select.from.iter().enumerate() {
            self.out.push_str(match (index, &source.left) {
                (0, _) => " FROM ",
                (_, None) => ", ",
                (_, Some(_)) => " LEFT JOIN ",
            });
            self.source(source, &names.names[index], outer);
            if let Some(condition) = &source.left {
                self.out.push_str(" ON ");
                self.expr(condition, &names);
            }
        }
        if let Some(condition) = &select.condition {
            self.out.push_str(" WHERE ");
            self.expr(condition, &names);
        }
        for (index, expr) in select.group.iter().enumerate() {
            self.out.push_str(if index == 0 { " GROUP BY " } else { ", " });
            self.expr(expr, &names);
        }
        if let Some(condition) = &select.having {
            self.out.push_str(" HAVING ");
            self.expr(condition, &names);
        }
        if ordered {
            self.order(query, Some(&names));
        }
    }

    fn order(&mut self, query: &Query, names: Option<&Names<'_>>) {
        for (index, key) in query.order.iter().enumerate() {
            self.out.push_str(if index == 0 { " ORDER BY " } else { ", " });
            match (&key.by, names) {
                (By::Output(place), _) => {
                    let _ = write!(self.out, "{}", place + 1);
                }
                (By::Expr(expr), Some(names)) => self.expr(expr, names),
                // Only outputs can be named here; the database says what is wrong.
                (By::Expr(_), None) => self.out.push_str(&self.writer.unbound),
            }
            if key.descending {
                self.out.push_str(" DESC");
            }
        }
    }

    fn source(&mut self, source: &Source, name: &str, outer: Option<&Names<'_>>) {
        match &source.relation {
            Relation::Table(table) => {
                let own = quoted(&self.schema.table(*table).name);
                self.out.push_str(&own);
                if own != name {
                    let _ = write!(self.out, " AS {name}");
                }
            }
            Relation::Query(query) => {
                self.out.push('(');
                self.query(query, outer, true);
                let _ = write!(self.out, ") AS {name}");
            }
        }
    }

    fn source_name(&mut self, source: &Source) -> String {
        if let Relation::Table(table) = source.relation
            && self.uses.get(&table) == Some(&1)
        {
            return quoted(&self.schema.table(table).name);
        }
        self.sources += 1;
        format!("{}{}", self.writer.source, self.sources)
    }

    fn column(&mut self, column: ColumnRef, names: &Names<'_>) {
        let around = std::iter::successors(Some(names), |names| names.outer).nth(column.scope as usize);
        let source = around.and_then(|names| names.sources.get(column.source as usize));
        let name = source.and_then(|source| match &source.relation {
            Relation::Table(table) => {
                let columns = &self.schema.table(*table).columns;
                columns.get(column.column as usize).map(|column| column.name.clone())
            }
            Relation::Query(query) => {
                let fields = field_names(query, self.schema, &self.writer.output);
                fields.into_iter().nth(column.column as usize).flatten()
            }
        });
        match (around, name) {
            (Some(names), Some(name)) => {
                let _ = write!(self.out, "{}.{}", names.names[column.source as usize], quoted(&name));
            }
            _ => {
                let _ = write!(self.out, "{}.field", self.writer.unbound);
            }
        }
    }

    fn comma(&mut self, index: usize) {
        if index > 0 {
            self.out.push_str(", ");
        }
    }

    fn list(&mut self, exprs: &[Expr], names: &Names<'_>) {
        for (index, expr) in exprs.iter().enumerate() {
            self.comma(index);
            self.expr(expr, names);
        }
    }

    fn expr(&mut self, expr: &Expr, names: &Names<'_>) {
        match expr {
            Expr::Column(column) => self.column(*column, names),
            Expr::Unbound(column) => {
                let name = column.map_or("field", |column| self.schema.column(column).name.as_str());
                let _ = write!(self.out, "{}.{}", self.writer.unbound, quoted(name));
            }
            Expr::Literal(literal) => {
                let _ = write!(self.out, "{literal}");
            }
            Expr::Null => self.out.push_str("NULL"),
            Expr::Negate(expr) => {
                self.out.push_str("- ");
                self.operand(expr, names);
            }
            Expr::Arithmetic(operation, sides) => self.infix(operation.sign(), sides, names),
            Expr::Cast(to, expr) => {
                self.out.push_str("CAST(");
                self.expr(expr, names);
                let _ = write!(self.out, " AS {})", to.name());
            }
            Expr::Call(function, arguments) => {
                let _ = write!(self.out, "{}(", function.name());
                self.list(arguments, names);
                self.out.push(')');
            }
            Expr::CountRows => self.out.push_str("COUNT(*)"),
            Expr::Aggregate(aggregate, expr) => self.aggregate(*aggregate, expr, names),
            Expr::Case(parts) => self.case(parts, names),
            Expr::Query(query) => self.subquery("", query, names),
            Expr::Compare(comparison, sides) => self.infix(comparison.sign(), sides, names),
            Expr::Like(sides) => self.infix("LIKE", sides, names),
            Expr::Between(parts) => self.between(parts, "", names),
            Expr::InList(expr, list) => self.in_list(expr, list, "", names),
            Expr::InQuery(expr, query) => {
                self.operand(expr, names);
                self.subquery(" IN ", query, names);
            }
            Expr::Exists(query) => self.subquery("EXISTS ", query, names),
            Expr::IsNull(expr) => {
                self.operand(expr, names);
                self.out.push_str(" IS NULL");
            }
            Expr::And(parts) => self.chain(" AND ", parts, names),
            Expr::Or(parts) => self.chain(" OR ", parts, names),
            Expr::Not(condition) => self.not(condition, names),
        }
    }

    fn not(&mut self, condition: &Expr, names: &Names<'_>) {
        match condition {
            Expr::Like(sides) => self.infix("NOT LIKE", sides, names),
            Expr::Between(parts) => self.between(parts, "NOT ", names),
            Expr::InList(expr, list) => self.in_list(expr, list, "NOT ", names),
            Expr::InQuery(expr, query) => {
                self.operand(expr, names);
                self.subquery(" NOT IN ", query, names);
            }
            Expr::Exists(query) => self.subquery("NOT EXISTS ", query, names),
            Expr::IsNull(expr) => {
                self.operand(expr, names);
                self.out.push_str(" IS NOT NULL");
            }
            other => {
                self.out.push_str("NOT ");
                self.operand(other, names);
            }
        }
    }

    fn aggregate(&mut self, aggregate: Aggregate, expr: &Expr, names: &Names<'_>) {
        let distinct = if aggregate.is_distinct() { "DISTINCT " } else { "" };
        let _ = write!(self.out, "{}({distinct}", aggregate.name());
        self.expr(expr, names);
        self.out.push(')');
    }

    fn case(&mut self, parts: &[Expr; 3], names: &Names<'_>) {
        self.out.push_str("CASE");
        let mut rest = parts;
        loop {
            let [condition, then, otherwise] = rest;
            self.out.push_str(" WHEN ");
            self.expr(condition, names);
            self.out.push_str(" THEN ");
            self.expr(then, names);
            match otherwise {
                Expr::Case(more) => rest = more,
                Expr::Null => break,
                value => {
                    self.out.push_str(" ELSE ");
                    self.expr(value, names);
                    break;
                }
            }
        }
        self.out.push_str(" END");
    }

    fn between(&mut self, [expr, low, high]: &[Expr; 3], not: &str, names: &Names<'_>) {
        self.operand(expr, names);
        let _ = write!(self.out, " {not}BETWEEN ");
        self.operand(low, names);
        self.out.push_str(" AND ");
        self.operand(high, names);
    }

    fn in_list(&mut self, expr: &Expr, list: &[Expr], not: &str, names: &Names<'_>) {
        self.operand(expr, names);
        let _ = write!(self.out, " {not}IN (");
        self.list(list, names);
        self.out.push(')');
    }

    fn chain(&mut self, word: &str, parts: &[Expr], names: &Names<'_>) {
        for (index, part) in parts.iter().enumerate() {
            if index > 0 {
                self.out.push_str(word);
            }
            match part {
                Expr::And(_) | Expr::Or(_) => self.operand(part, names),
                _ => self.expr(part, names),
            }
        }
    }

    fn infix(&mut self, sign: &str, [left, right]: &[Expr; 2], names: &Names<'_>) {
        self.operand(left, names);
        let _ = write!(self.out, " {sign} ");
        self.operand(right, names);
    }

    fn subquery(&mut self, before: &str, query: &Query, names: &Names<'_>) {
        let _ = write!(self.out, "{before}(");
        self.query(query, Some(names), false);
        self.out.push(')');
    }

    /// In parentheses unless it is clear without.
    fn operand(&mut self, expr: &Expr, names: &Names<'_>) {
        let clear = match expr {
            Expr::Literal(literal) => !literal.to_string().starts_with('-'),
            Expr::Negate(_) | Expr::Arithmetic(..) => false,
            other => !other.is_condition(),
        };
        if clear {
            self.expr(expr, names);
        } else {
            self.out.push('(');
            self.expr(expr, names);
            self.out.push(')');
        }
    }
}

/// Counts how often each table occurs in `FROM`, at any depth.
fn count_tables(query: &Query, uses: &mut FxHashMap<TableId, u32>) {
    query.visit_queries(&mut |query| {
        for source in query.parts().flat_map(|select| &select.from) {
            if let Relation::Table(table) = source.relation {
                *uses.entry(table).or_default() += 1;
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use crate::sql::{Column, ColumnType, Schema, Table, check};
    use sqlparser::keywords::ALL_KEYWORDS;

    #[test]
    fn every_keyword_can_be_a_name() {
        let mut misread = Vec::new();
        for keyword in
            ALL_KEYWORDS.iter().chain(&["a b", "ä", "1", "", "\"", "a.b", "--", "unbound", "t1", "c1"])
        {
            let columns = vec![Column { name: (*keyword).to_owned(), ty: ColumnType::Number }];
            let table =
                Table { name: (*keyword).to_owned(), columns, primary_key: vec![], foreign_keys: vec![] };
            let schema = Schema { tables: vec![table] };
            let name = format!("\"{}\"", keyword.replace('"', "\"\""));
            let text = format!(
                "SELECT x.{name}, count({name}) FROM {name} AS x WHERE {name} > (SELECT max(y) FROM (SELECT {name} AS y FROM {name})) \
                 GROUP BY {name} ORDER BY x.{name}"
            );
            for text in [format!("SELECT {name} FROM {name}"), text] {
                let canonical = check(&text, &schema).unwrap_or_else(|error| panic!("{error}: {text}")).text;
                match check(&canonical, &schema) {
                    Ok(again) => assert_eq!(again.text, canonical),
                    Err(_) => misread.push(*keyword),
                }
            }
        }
        assert!(misread.is_empty(), "these need quotes: {misread:?}");
    }
}
