//! What labeled queries have that search may then try: joins, uses of constants, and rare rules.

use super::language::Sql;
use super::literal::Literal;
use super::operator::SetOperator;
use super::pattern::Wildcards;
use super::query::{Expr, Output, Query, Select, SourceKind};
use super::rules::SqlRule;
use super::schema::ColumnId;
use super::scope::Scope;
use serde::{Deserialize, Serialize};

/// What labeled queries have, as texts: the symbols of columns, tables and literals, and the names of rules.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LabelPatterns {
    /// Pairs of columns that a query compares or joins.
    pub joins: Vec<[String; 2]>,
    /// Literals that the question does not say, each with what it is used for: the column that it is compared with, or the
    /// name of another use.
    pub constants: Vec<[String; 2]>,
    /// Tables that a `FROM` list has more than once.
    pub repeated_tables: Vec<String>,
    /// Rules that few queries need.
    pub rules: Vec<String>,
    /// The largest number of queries inside each other.
    pub depth: usize,
    /// Whether a query has columns beside the least or greatest value of all rows. SQLite takes them from the row that has it.
    pub has_rows_of_extremes: bool,
}

/// What a constant is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum ConstantUse {
    /// It is compared with a column, or with an aggregate of it.
    Column(ColumnId),
    /// It is compared with a number of rows or values.
    Count,
    /// It is an operand, or compared with something computed.
    Computed,
}

impl ConstantUse {
    const COUNT: &str = "a count";
    const COMPUTED: &str = "a computed value";

    pub(super) fn from_symbol(
        symbol: &String,
        column: impl Fn(&String) -> Option<ColumnId>,
    ) -> Option<ConstantUse> {
        match symbol.as_str() {
            ConstantUse::COUNT => Some(ConstantUse::Count),
            ConstantUse::COMPUTED => Some(ConstantUse::Computed),
            _ => column(symbol).map(ConstantUse::Column),
        }
    }

    fn symbol(self, language: &Sql) -> String {
        match self {
            ConstantUse::Column(column) => language.symbols.column(column).to_owned(),
            ConstantUse::Count => ConstantUse::COUNT.to_owned(),
            ConstantUse::Computed => ConstantUse::COMPUTED.to_owned(),
        }
    }
}

impl LabelPatterns {
    /// Adds what a labeled query has. `is_said` says which of its literals the question suggests.
    pub fn add(&mut self, language: &Sql, query: &Query, is_said: impl Fn(&Literal) -> bool) {
        for pair in query.joined_columns() {
            add_new(&mut self.joins, pair.map(|column| language.symbols.column(column).to_owned()));
        }
        query.visit_scoped(None, &mut |expr, scope| {
            for (literal, used) in constants(expr, scope) {
                if !is_said(&literal) {
                    add_new(&mut self.constants, [literal.to_string(), used.symbol(language)]);
                }
            }
        });
        self.depth = self.depth.max(query.depth());
        let rules = &language.rules;
        let mut add_rule = |rule: SqlRule| {
            if rule.is_rare() {
                let name = rules.signatures.rules()[rules.id(rule).index()].name.clone();
                add_new(&mut self.rules, name);
            }
        };
        query.visit_queries(&mut |query| {
            rules_of_query(query).into_iter().for_each(&mut add_rule);
            for select in query.selects() {
                self.has_rows_of_extremes |= is_row_of_extreme(select);
                let tables: Vec<_> = select
                    .from
                    .iter()
                    .filter_map(|source| match source.kind {
                        SourceKind::Table(table) => Some(table),
                        SourceKind::Query(_) => None,
                    })
                    .collect();
                for (index, table) in tables.iter().enumerate() {
                    if tables[..index].contains(table) {
                        add_new(&mut self.repeated_tables, language.symbols.table(*table).to_owned());
                    }
                }
            }
        });
        query.visit_scoped(None, &mut |expr, _| rule_of(expr).into_iter().for_each(&mut add_rule));
    }
}

/// Returns whether a select has columns beside the least or greatest value of all rows.
fn is_row_of_extreme(select: &Select) -> bool {
    let is_extreme = |output: &Output| matches!(output, Output::Expr(Expr::Aggregate(aggregate, _)) if matches!(aggregate.name(), "MIN" | "MAX"));
    let is_column = |output: &Output| matches!(output, Output::Expr(Expr::Column(_)));
    let outputs = &select.outputs;
    select.group.is_empty()
        && outputs.iter().filter(|output| is_extreme(output)).count() == 1
        && outputs.len() > 1
        && outputs.iter().all(|output| is_extreme(output) || is_column(output))
}

fn add_new<T: PartialEq>(list: &mut Vec<T>, element: T) {
    if !list.contains(&element) {
        list.push(element);
    }
}

/// Returns the literals directly inside an expression, with their uses.
fn constants(expr: &Expr, scope: &Scope<'_>) -> Vec<(Literal, ConstantUse)> {
    let (used, operands): (ConstantUse, Vec<&Expr>) = match expr {
        Expr::Compare(_, sides) | Expr::Like(sides) => (use_with(&sides[0], scope), vec![&sides[1]]),
        Expr::Between(parts) => (use_with(&parts[0], scope), vec![&parts[1], &parts[2]]),
        Expr::InList(left, list) => (use_with(left, scope), list.iter().collect()),
        Expr::Arithmetic(_, sides) => (ConstantUse::Computed, sides.iter().collect()),
        Expr::Call(_, arguments) => (ConstantUse::Computed, arguments.iter().collect()),
        Expr::Case(parts) => (ConstantUse::Computed, vec![&parts[1], &parts[2]]),
        _ => return vec![],
    };
    let literal = |operand: &Expr| match (expr, Wildcards::split(operand), operand) {
        // A program points to what is between the percent signs.
        (Expr::Like(_), Some((_, inside)), _) => Some((inside, used)),
        (_, _, Expr::Literal(literal)) => Some((literal.clone(), used)),
        _ => None,
    };
    operands.into_iter().filter_map(literal).collect()
}

/// Returns what a constant is used for if it is compared with an expression.
fn use_with(left: &Expr, scope: &Scope<'_>) -> ConstantUse {
    match left {
        Expr::Column(column) => {
            scope.schema_column(*column).map_or(ConstantUse::Computed, ConstantUse::Column)
        }
        Expr::CountRows => ConstantUse::Count,
        Expr::Aggregate(aggregate, argument) => match (aggregate.name(), &**argument) {
            ("COUNT", _) => ConstantUse::Count,
            ("MIN" | "MAX" | "AVG", Expr::Column(column)) => {
                scope.schema_column(*column).map_or(ConstantUse::Computed, ConstantUse::Column)
            }
            _ => ConstantUse::Computed,
        },
        _ => ConstantUse::Computed,
    }
}

/// Returns the rule of an expression, if it has one of its own.
fn rule_of(expr: &Expr) -> Option<SqlRule> {
    Some(match expr {
        Expr::Negate(_) => SqlRule::Negate,
        Expr::Arithmetic(operator, _) => SqlRule::Arithmetic(*operator),
        Expr::Cast(to, _) => SqlRule::Cast(*to),
        Expr::Call(function, _) => SqlRule::Call(*function),
        Expr::Aggregate(aggregate, _) => SqlRule::Aggregate(*aggregate),
        Expr::Case(_) => SqlRule::Case,
        Expr::Exists(_) => SqlRule::Exists,
        Expr::Null => SqlRule::Null,
        _ => return None,
    })
}

/// Returns the rare rules of a query that are not expressions.
fn rules_of_query(query: &Query) -> Vec<SqlRule> {
    let mut rules: Vec<SqlRule> = query.rest.iter().map(|(operator, _)| SqlRule::Set(*operator)).collect();
    if query.limit.as_ref().is_some_and(|limit| limit.offset.is_some()) {
        rules.push(SqlRule::Offset);
    }
    for select in query.selects() {
        if select.from.is_empty() {
            rules.push(SqlRule::Compute);
        }
        if select.from.iter().any(|source| source.left_join.is_some()) {
            rules.push(SqlRule::LeftJoin);
        }
        // A condition as a value is a rule of its own in programs, and a value as a condition another.
        let mut values: Vec<&Expr> = select.group.iter().collect();
        values.extend(select.outputs.iter().filter_map(|output| match output {
            Output::Expr(expr) => Some(expr),
            _ => None,
        }));
        if values.iter().any(|value| has_condition_as_value(value)) {
            rules.push(SqlRule::Truth);
        }
    }
    rules
}

fn has_condition_as_value(value: &Expr) -> bool {
    let mut found = value.is_condition();
    value.visit(&mut |expr| {
        let operands: Vec<&Expr> = match expr {
            Expr::Aggregate(_, argument) => vec![argument],
            Expr::Arithmetic(_, sides) => sides.iter().collect(),
            Expr::Call(_, arguments) => arguments.iter().collect(),
            _ => vec![],
        };
        found |= operands.iter().any(|operand| operand.is_condition());
    });
    found
}

impl SqlRule {
    /// Returns whether few queries need the rule, so that search tries it only if a label has it.
    pub(super) fn is_rare(self) -> bool {
        use super::function::Aggregate::{AvgDistinct, GroupConcat, SumDistinct};
        use super::operator::ArithmeticOperator::{Concatenate, Modulo};
        use SqlRule::*;
        matches!(
            self,
            Call(_)
                | Cast(_)
                | Case
                | Negate
                | Null
                | Truth
                | Compute
                | Exists
                | LeftJoin
                | Offset
                | Set(SetOperator::UnionAll)
                | Arithmetic(Concatenate | Modulo)
                | Aggregate(SumDistinct | AvgDistinct | GroupConcat)
        )
    }
}
