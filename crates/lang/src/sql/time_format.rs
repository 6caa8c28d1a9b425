//! Formats of dates and times, in SQLite (`%Y-%m`) and in PostgreSQL (`YYYY-MM`).

use super::function::ScalarFunction;
use super::literal::Literal;
use super::query::Expr;

/// The parts of a format that both have.
const PARTS: [(&str, &str); 7] =
    [("%Y", "YYYY"), ("%m", "MM"), ("%d", "DD"), ("%H", "HH24"), ("%M", "MI"), ("%S", "SS"), ("%j", "DDD")];
/// What `EXTRACT` calls parts of a time, and the formats of the same parts. A second has a fraction there.
const FIELDS: [(&str, &str); 5] =
    [("YEAR", "%Y"), ("MONTH", "%m"), ("DAY", "%d"), ("HOUR", "%H"), ("MINUTE", "%M")];
/// What may be between the parts of a format.
const SEPARATORS: [char; 6] = ['-', ':', '/', ' ', '.', ','];

/// Returns the format of PostgreSQL for one of SQLite, if it has the same.
pub(super) fn to_postgres(format: &str) -> Option<String> {
    translated(format, PARTS)
}

/// Returns the format of SQLite for one of PostgreSQL, if it has the same.
pub(super) fn to_sqlite(format: &str) -> Option<String> {
    translated(format, PARTS.map(|(sqlite, postgres)| (postgres, sqlite)))
}

fn translated(format: &str, parts: [(&str, &str); PARTS.len()]) -> Option<String> {
    let mut rest = format;
    let mut result = String::new();
    while !rest.is_empty() {
        // `DDD` is the day of the year, and `DD` that of the month.
        let part = parts.iter().filter(|(from, _)| rest.starts_with(from)).max_by_key(|(from, _)| from.len());
        match part {
            Some((from, to)) => {
                result.push_str(to);
                rest = &rest[from.len()..];
            }
            None => {
                let separator = rest.chars().next().filter(|c| SEPARATORS.contains(c))?;
                result.push(separator);
                rest = &rest[separator.len_utf8()..];
            }
        }
    }
    Some(result)
}

/// Returns the field and the time, if an expression is the text of a field that `EXTRACT` has.
pub(super) fn extracted(expr: &Expr) -> Option<(&'static str, &Expr)> {
    let Expr::Call(function, arguments) = expr else { return None };
    let ("strftime", [Expr::Literal(Literal::Text(format)), time]) = (function.name(), arguments.as_slice())
    else {
        return None;
    };
    let (field, _) = FIELDS.iter().find(|(_, of_field)| of_field == format)?;
    Some((field, time))
}

/// Returns the text of a field of a time: the inverse of [`extracted`].
pub(super) fn field_text(field: &str, time: Expr) -> Option<Expr> {
    let (_, format) = FIELDS.iter().find(|(name, _)| name.eq_ignore_ascii_case(field))?;
    Some(Expr::Call(ScalarFunction::find("strftime", 2)?, vec![Expr::Literal(Literal::text(*format)), time]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_translated_both_ways_or_not_at_all() {
        for (sqlite, postgres) in
            [("%Y", "YYYY"), ("%Y-%m-%d %H:%M:%S", "YYYY-MM-DD HH24:MI:SS"), ("%j", "DDD")]
        {
            assert_eq!(to_postgres(sqlite).as_deref(), Some(postgres));
            assert_eq!(to_sqlite(postgres).as_deref(), Some(sqlite));
        }
        for format in ["%w", "%", "year %Y"] {
            assert_eq!(to_postgres(format), None, "{format}");
        }
        assert_eq!(to_sqlite("Month"), None);
    }
}
