//! Queries, selects and the sources that they read.

use super::spelling::{identifier, object_name};
use super::{Checked, DUCKDB_CATALOG, Guard, refused};
use crate::sql::dialect::Dialect;
use crate::sql::reader::unsupported_clause;
use crate::sql::schema::TableId;
use sqlparser::ast::{self, Expr, Ident, ObjectName, ObjectNamePart, SetExpr, TableFactor, Value};

/// The tables and queries in all `FROM` lists. Planning and memory grow with them.
const MAX_SOURCES: usize = 32;

impl Guard<'_> {
    pub(super) fn query(&mut self, query: &mut ast::Query) -> Checked {
        self.deeper(|guard| guard.query_unbounded(query))
    }

    fn query_unbounded(&mut self, query: &mut ast::Query) -> Checked {
        let before = self.common_tables.len();
        if let Some(with) = &mut query.with {
            if with.recursive {
                return Err(refused("a recursive query"));
            }
            for cte in &mut with.cte_tables {
                if cte.from.is_some() || cte.materialized.is_some() {
                    return Err(refused("this kind of WITH"));
                }
                self.query(&mut cte.query)?;
                self.alias(&mut cte.alias)?;
                self.common_tables.push(cte.alias.name.value.to_ascii_lowercase());
            }
        }
        if !query.locks.is_empty() {
            return Err(refused("a query that locks rows"));
        }
        if query.for_clause.is_some()
            || query.settings.is_some()
            || query.format_clause.is_some()
            || !query.pipe_operators.is_empty()
        {
            return Err(refused("a clause that is not known"));
        }
        self.body(&mut query.body)?;
        if let Some(order) = &mut query.order_by {
            let ast::OrderByKind::Expressions(keys) = &mut order.kind else {
                return Err(refused("ORDER BY ALL"));
            };
            self.keys(keys)?;
            self.steps += 1;
        }
        if let Some(limit) = &query.limit_clause {
            let is_number =
                |expr: &Expr| matches!(expr, Expr::Value(value) if matches!(value.value, Value::Number(..)));
            let ast::LimitClause::LimitOffset { limit, offset, limit_by } = limit else {
                return Err(refused("this kind of LIMIT"));
            };
            let numbers = limit.iter().chain(offset.iter().map(|offset| &offset.value));
            if !limit_by.is_empty() || !numbers.into_iter().all(is_number) {
                return Err(refused("LIMIT that is not a number"));
            }
        }
        if let Some(fetch) = &mut query.fetch
            && let Some(rows) = &mut fetch.quantity
        {
            self.expr(rows)?;
        }
        self.common_tables.truncate(before);
        Ok(())
    }

    pub(super) fn body(&mut self, body: &mut SetExpr) -> Checked {
        self.deeper(|guard| guard.body_unbounded(body))
    }

    fn body_unbounded(&mut self, body: &mut SetExpr) -> Checked {
        match body {
            SetExpr::Select(select) => self.select(select),
            SetExpr::Query(query) => self.query(query),
            SetExpr::SetOperation { op, left, right, .. } => {
                self.steps += 1;
                for side in [left, right] {
                    match op {
                        ast::SetOperator::Union => self.body(side)?,
                        _ => self.gathering_side(side)?,
                    }
                }
                Ok(())
            }
            SetExpr::Values(_) | SetExpr::Table(_) => Err(refused("rows that are not of a table")),
            _ => Err(refused("a statement that does more than read")),
        }
    }

    fn select(&mut self, select: &mut ast::Select) -> Checked {
        if let Some(clause) = unsupported_clause(select) {
            return Err(refused(clause));
        }
        if let Some(ast::Distinct::On(keys)) = &mut select.distinct {
            self.exprs(keys)?;
        }
        self.steps += usize::from(select.distinct.is_some());
        for tables in &mut select.from {
            self.joined(tables)?;
        }
        if self.schema.dialect == Dialect::Postgres {
            let items = std::mem::take(&mut select.projection);
            select.projection =
                items.into_iter().flat_map(|item| self.expanded(item, &mut select.from)).collect();
        }
        for item in &mut select.projection {
            match item {
                ast::SelectItem::UnnamedExpr(expr) => {
                    // An output without a name has that of its function, which is on the list.
                    if let Expr::Function(ast::Function { name, .. }) = expr
                        && let Some(ObjectNamePart::Identifier(name)) = name.0.last()
                    {
                        self.define(name);
                    }
                    self.expr(expr)?;
                }
                ast::SelectItem::ExprWithAlias { expr, alias } => {
                    self.define(alias);
                    self.expr(expr)?;
                    identifier(alias)?;
                }
                ast::SelectItem::Wildcard(options)
                    if *options == ast::WildcardAdditionalOptions::default() => {}
                ast::SelectItem::QualifiedWildcard(
                    ast::SelectItemQualifiedWildcardKind::ObjectName(name),
                    options,
                ) if *options == ast::WildcardAdditionalOptions::default() => object_name(name)?,
                _ => return Err(refused("this kind of *")),
            }
        }
        if let Some(condition) = &mut select.selection {
            self.expr(condition)?;
        }
        match &mut select.group_by {
            ast::GroupByExpr::Expressions(keys, modifiers) if modifiers.is_empty() => {
                self.steps += usize::from(!keys.is_empty());
                self.exprs(keys)?;
            }
            ast::GroupByExpr::All(modifiers)
                if modifiers.is_empty() && self.schema.dialect == Dialect::DuckDb =>
            {
                self.steps += 1;
            }
            _ => return Err(refused("this kind of GROUP BY")),
        }
        select.having.as_mut().map_or(Ok(()), |condition| self.expr(condition))
    }

    /// Returns the columns that `*` stands for where it is of tables only. The database would add columns that the role may not read.
    fn expanded(&self, item: ast::SelectItem, from: &mut [ast::TableWithJoins]) -> Vec<ast::SelectItem> {
        let of = match &item {
            ast::SelectItem::Wildcard(options) if *options == ast::WildcardAdditionalOptions::default() => {
                None
            }
            ast::SelectItem::QualifiedWildcard(
                ast::SelectItemQualifiedWildcardKind::ObjectName(name),
                options,
            ) if *options == ast::WildcardAdditionalOptions::default() => Some(name),
            _ => return vec![item],
        };
        let mut sources = Vec::new();
        if from.iter_mut().any(|tables| self.plain_tables(tables, &mut sources).is_none())
            || sources.is_empty()
        {
            return vec![item];
        }
        if let Some(of) = of {
            sources.retain(|(qualifier, _)| {
                qualifier.len() >= of.0.len()
                    && qualifier.iter().rev().zip(of.0.iter().rev()).all(|(name, part)| {
                        matches!(part, ObjectNamePart::Identifier(part) if part.value.eq_ignore_ascii_case(&name.value))
                    })
            });
            if sources.len() != 1 {
                return vec![item];
            }
        }
        let columns = sources.iter().flat_map(|(qualifier, table)| {
            self.schema.table(*table).columns.iter().map(|column| {
                let name = Ident::with_quote('"', &column.name);
                let parts = qualifier.iter().cloned().chain([name]).collect();
                ast::SelectItem::UnnamedExpr(Expr::CompoundIdentifier(parts))
            })
        });
        columns.collect()
    }

    /// Adds the tables of a source, each with the name by which its columns are called. Returns `None` if it has other sources than
    /// tables, or merges columns.
    fn plain_tables(
        &self,
        tables: &mut ast::TableWithJoins,
        sources: &mut Vec<(Vec<Ident>, TableId)>,
    ) -> Option<()> {
        let joins = tables.joins.iter_mut().map(|join| &mut join.relation);
        for source in std::iter::once(&mut tables.relation).chain(joins) {
            match source {
                TableFactor::Table { name, alias, .. } => {
                    // Other names than those of common table expressions were qualified.
                    let [ObjectNamePart::Identifier(namespace), ObjectNamePart::Identifier(table)] =
                        name.0.as_slice()
                    else {
                        return None;
                    };
                    let id = self.schema.find_qualified_table(&namespace.value, &table.value)?;
                    let called = match alias {
                        Some(alias) if alias.columns.is_empty() => vec![alias.name.clone()],
                        Some(_) => return None,
                        None => vec![namespace.clone(), table.clone()],
                    };
                    sources.push((called, id));
                }
                TableFactor::NestedJoin { table_with_joins, alias: None } => {
                    self.plain_tables(table_with_joins, sources)?;
                }
                _ => return None,
            }
        }
        let keeps_columns = |join: &mut ast::Join| {
            matches!(constraint(join), Some(ast::JoinConstraint::On(_) | ast::JoinConstraint::None))
        };
        tables.joins.iter_mut().all(keeps_columns).then_some(())
    }

    fn joined(&mut self, tables: &mut ast::TableWithJoins) -> Checked {
        self.deeper(|guard| guard.joined_unbounded(tables))
    }

    fn joined_unbounded(&mut self, tables: &mut ast::TableWithJoins) -> Checked {
        self.source(&mut tables.relation)?;
        for join in &mut tables.joins {
            self.source(&mut join.relation)?;
            match constraint(join).ok_or_else(|| refused("this kind of join"))? {
                ast::JoinConstraint::On(condition) => self.expr(condition)?,
                ast::JoinConstraint::Using(columns) => columns.iter_mut().try_for_each(object_name)?,
                ast::JoinConstraint::Natural | ast::JoinConstraint::None => {}
            }
        }
        Ok(())
    }

    fn source(&mut self, source: &mut TableFactor) -> Checked {
        self.sources += 1;
        self.steps += 1;
        if self.sources > MAX_SOURCES {
            return Err(refused(format!("more than {MAX_SOURCES} tables")));
        }
        match source {
            TableFactor::Table {
                name,
                alias,
                args: None,
                with_hints,
                version: None,
                with_ordinality: false,
                partitions,
                json_path: None,
                sample: None,
                index_hints,
            } if with_hints.is_empty() && partitions.is_empty() && index_hints.is_empty() => {
                if self.is_common_table(name) {
                    self.common_reads += 1;
                } else {
                    let table = self.table(name);
                    let unknown = || refused(format!("reading {name}, which is not a table of the schema"));
                    let table = table.ok_or_else(unknown)?;
                    self.tables.push(table);
                    self.qualify(name, table);
                }
                object_name(name)?;
                alias.as_mut().map_or(Ok(()), |alias| self.alias(alias))
            }
            TableFactor::Derived { lateral: false, subquery, alias } => {
                self.query(subquery)?;
                alias.as_mut().map_or(Ok(()), |alias| self.alias(alias))
            }
            TableFactor::NestedJoin { table_with_joins, alias } => {
                self.joined(table_with_joins)?;
                alias.as_mut().map_or(Ok(()), |alias| self.alias(alias))
            }
            other => Err(refused(format!("{other} in FROM"))),
        }
    }

    /// Writes the full name of a table, so that the database need not look for it in the schemas in which it would also find functions
    /// and operators.
    fn qualify(&self, name: &mut ObjectName, table: TableId) {
        let table = self.schema.table(table);
        let catalog = match self.schema.dialect {
            Dialect::Sqlite => return,
            Dialect::Postgres => None,
            Dialect::DuckDb => Some(DUCKDB_CATALOG),
        };
        let namespace = table.namespace.as_deref().unwrap_or(self.schema.dialect.default_namespace());
        let parts = catalog.into_iter().chain([namespace, &table.name]);
        *name =
            ObjectName(parts.map(|part| ObjectNamePart::Identifier(Ident::with_quote('"', part))).collect());
    }

    /// Returns whether a name is that of a query in `WITH`.
    fn is_common_table(&self, name: &ObjectName) -> bool {
        let [ObjectNamePart::Identifier(name)] = name.0.as_slice() else { return false };
        self.common_tables.contains(&name.value.to_ascii_lowercase())
    }

    /// Returns the table of the schema with a name.
    fn table(&self, name: &ObjectName) -> Option<TableId> {
        match name.0.as_slice() {
            [ObjectNamePart::Identifier(name)] => {
                let id = self.schema.find_table(&name.value)?;
                // A name with a dot is not that of a table in a schema.
                self.schema.table(id).name.eq_ignore_ascii_case(&name.value).then_some(id)
            }
            [ObjectNamePart::Identifier(namespace), ObjectNamePart::Identifier(name)] => {
                self.schema.find_qualified_table(&namespace.value, &name.value)
            }
            _ => None,
        }
    }

    fn alias(&mut self, alias: &mut ast::TableAlias) -> Checked {
        for column in &mut alias.columns {
            self.define(&column.name);
            identifier(&mut column.name)?;
            if column.data_type.is_some() {
                return Err(refused("types of columns"));
            }
        }
        identifier(&mut alias.name)
    }

    pub(super) fn keys(&mut self, keys: &mut [ast::OrderByExpr]) -> Checked {
        keys.iter_mut().try_for_each(|key| match key.with_fill {
            None => self.expr(&mut key.expr),
            Some(_) => Err(refused("WITH FILL")),
        })
    }
}

/// Returns the constraint of a join, or nothing for kinds of joins that are refused.
fn constraint(join: &mut ast::Join) -> Option<&mut ast::JoinConstraint> {
    use ast::JoinOperator::{CrossJoin, FullOuter, Inner, Join, Left, LeftOuter, Right, RightOuter};
    match &mut join.join_operator {
        Join(constraint)
        | Inner(constraint)
        | Left(constraint)
        | LeftOuter(constraint)
        | Right(constraint)
        | RightOuter(constraint)
        | FullOuter(constraint)
        | CrossJoin(constraint) => Some(constraint),
        _ => None,
    }
}
