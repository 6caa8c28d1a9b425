//! Explains conditions.

use super::{Explainer, NamedSources};
use crate::english;
use crate::sql::literal::Literal;
use crate::sql::operator::ComparisonOperator;
use crate::sql::pattern::Wildcards;
use crate::sql::query::{Expr, Output, Query, Select, SourceKind};
use crate::sql::schema::ColumnType;

impl Explainer<'_> {
    /// Explains a condition on rows, with the word that connects it to them: `whose age is 3`, or `where …`.
    pub(super) fn clause(&self, condition: &Expr, names: &NamedSources<'_>) -> String {
        if names.is_single() && is_about_columns(condition) {
            self.condition_with(condition, names, true)
        } else {
            format!("where {}", self.condition(condition, names))
        }
    }

    /// Explains a condition.
    pub(super) fn condition(&self, condition: &Expr, names: &NamedSources<'_>) -> String {
        self.condition_with(condition, names, false)
    }

    /// Explains a condition, with `whose` or an article before the columns that it is about.
    fn condition_with(&self, condition: &Expr, names: &NamedSources<'_>, whose: bool) -> String {
        let part = |part: &Expr| {
            let text = self.condition_with(part, names, whose);
            if matches!(part, Expr::And(_) | Expr::Or(_)) { format!("({text})") } else { text }
        };
        match condition {
            Expr::And(parts) => parts.iter().map(part).collect::<Vec<_>>().join(" and "),
            Expr::Or(parts) => parts.iter().map(part).collect::<Vec<_>>().join(" or "),
            Expr::Not(inner) => self.test(inner, true, names, whose),
            other => self.test(other, false, names, whose),
        }
    }

    /// Explains a condition that is not made of others, or its negation.
    fn test(&self, test: &Expr, negated: bool, names: &NamedSources<'_>, whose: bool) -> String {
        let subject = |expr: &Expr| match self.value(expr, names) {
            term if whose => format!("whose {}", term.without_article()),
            term => term.operand(),
        };
        let is = if negated { "is not" } else { "is" };
        match test {
            Expr::Compare(operator, sides) if !negated => {
                let ty = self.type_of(&sides[0], names);
                let is_constant = matches!(sides[1], Expr::Literal(_));
                let verb = comparison(*operator, ty, is_constant);
                format!("{} {verb} {}", subject(&sides[0]), self.operand(&sides[1], names))
            }
            Expr::Like(sides) => {
                let (verb, text) = self.pattern(&sides[1], negated, names);
                format!("{} {verb} {text}", subject(&sides[0]))
            }
            Expr::Between(parts) => {
                let [low, high] = [&parts[1], &parts[2]].map(|bound| self.operand(bound, names));
                format!("{} {is} between {low} and {high}", subject(&parts[0]))
            }
            Expr::InList(expr, list) => {
                let list: Vec<String> = list.iter().map(|element| self.operand(element, names)).collect();
                let quantity = if negated { "none" } else { "one" };
                format!("{} is {quantity} of {}", subject(expr), english::enumeration(&list, "or"))
            }
            Expr::InQuery(expr, query) => {
                format!("{} {}", subject(expr), self.membership(query, is, negated, names))
            }
            Expr::Exists(query) => self.existence(query, negated, names),
            Expr::IsNull(expr) => format!("{} {is} missing", subject(expr)),
            other if other.is_condition() => {
                format!("it is not true that ({})", self.condition(other, names))
            }
            value => {
                let verb = if negated { "is false" } else { "is true" };
                format!("{} {verb}", subject(value))
            }
        }
    }

    /// Explains `IN (SELECT …)` without its left side.
    fn membership(&self, query: &Query, is: &str, negated: bool, names: &NamedSources<'_>) -> String {
        let Some((select, output)) = single_column(query) else {
            return format!("{is} among ({})", self.query(query, Some(names)));
        };
        let inner = self.named_sources(select, Some(names));
        let quantity = if negated { "any" } else { "some" };
        let head = self.value(output, &inner).head;
        let noun = &inner.nouns[0].singular;
        format!("{is} the {head} of {quantity} {noun}{}", self.aside(select, &inner))
    }

    fn existence(&self, query: &Query, negated: bool, names: &NamedSources<'_>) -> String {
        let select = &query.first;
        let is_plain = query.rest.is_empty() && query.limit.is_none() && is_single_table(select);
        if !is_plain {
            let found = if negated { "nothing" } else { "something" };
            return format!("there is {found} in ({})", self.query(query, Some(names)));
        }
        let inner = self.named_sources(select, Some(names));
        let noun = &inner.nouns[0].singular;
        let noun = if negated { format!("no {noun}") } else { english::with_article(noun) };
        format!("there is {noun}{}", self.aside(select, &inner))
    }

    /// Returns the condition of a select in parentheses.
    fn aside(&self, select: &Select, names: &NamedSources<'_>) -> String {
        let clause = select.condition.as_ref().map(|condition| self.clause(condition, names));
        clause.map_or_else(String::new, |clause| format!(" ({clause})"))
    }

    /// Explains the right side of `LIKE`: the verb, and what the text is compared with.
    fn pattern(&self, pattern: &Expr, negated: bool, names: &NamedSources<'_>) -> (&'static str, String) {
        let plain = |literal: &Literal| matches!(literal, Literal::Text(text) if !text.contains(['%', '_']));
        match Wildcards::split(pattern).filter(|(_, inside)| plain(inside)) {
            Some((wildcards, inside)) => {
                let verb = match (wildcards, negated) {
                    (Wildcards::Contains, false) => "contains",
                    (Wildcards::Contains, true) => "does not contain",
                    (Wildcards::StartsWith, false) => "starts with",
                    (Wildcards::StartsWith, true) => "does not start with",
                    (Wildcards::EndsWith, false) => "ends with",
                    (Wildcards::EndsWith, true) => "does not end with",
                };
                (verb, inside.to_string())
            }
            None => {
                let verb = if negated { "does not match the pattern" } else { "matches the pattern" };
                (verb, self.operand(pattern, names))
            }
        }
    }
}

/// Returns whether a condition says something about columns of the nearest list only, so that it can follow `whose`.
fn is_about_columns(condition: &Expr) -> bool {
    let is_own = |expr: &Expr| matches!(expr, Expr::Column(column) if column.scope == 0);
    match condition {
        Expr::And(parts) | Expr::Or(parts) => parts.iter().all(is_about_columns),
        Expr::Not(inner) => {
            is_about_columns(inner) && !matches!(**inner, Expr::And(_) | Expr::Or(_) | Expr::Compare(..))
        }
        Expr::Compare(_, sides) | Expr::Like(sides) => is_own(&sides[0]),
        Expr::Between(parts) => is_own(&parts[0]),
        Expr::InList(expr, _) | Expr::InQuery(expr, _) | Expr::IsNull(expr) => is_own(expr),
        _ => false,
    }
}

/// Returns the select and the column of a query that only returns a column of a table.
fn single_column(query: &Query) -> Option<(&Select, &Expr)> {
    let select = &query.first;
    let is_plain = query.rest.is_empty() && query.limit.is_none() && is_single_table(select);
    match select.outputs.as_slice() {
        [Output::Expr(output @ Expr::Column(column))] if is_plain && column.scope == 0 => {
            Some((select, output))
        }
        _ => None,
    }
}

/// Returns whether a select has one table and no groups, and its outputs do not matter to whether it finds something.
fn is_single_table(select: &Select) -> bool {
    let is_table = matches!(select.from.as_slice(), [source] if matches!(source.kind, SourceKind::Table(_)));
    let has_aggregate = select.outputs.iter().any(|output| match output {
        Output::Expr(expr) => super::select::has_aggregate(expr),
        _ => false,
    });
    is_table && select.group.is_empty() && !has_aggregate
}

/// Returns the verb of a comparison.
fn comparison(operator: ComparisonOperator, ty: ColumnType, is_constant: bool) -> &'static str {
    use ComparisonOperator::*;
    match (operator, ty) {
        (Equal, _) if is_constant => "is",
        (Equal, _) => "equals",
        (NotEqual, _) if is_constant => "is not",
        (NotEqual, _) => "does not equal",
        (Less, ColumnType::Time) => "is before",
        (Greater, ColumnType::Time) => "is after",
        (LessOrEqual, ColumnType::Time) => "is not after",
        (GreaterOrEqual, ColumnType::Time) => "is not before",
        (Less, _) => "is less than",
        (Greater, _) => "is greater than",
        (LessOrEqual, _) => "is at most",
        (GreaterOrEqual, _) => "is at least",
    }
}
