//! Patterns of `LIKE`, taken apart into percent signs and the text between them, which a question can mention.

use super::literal::Literal;
use super::query::Expr;

/// The positions of the percent signs in a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Wildcards {
    /// `%x%`
    Contains,
    /// `x%`
    StartsWith,
    /// `%x`
    EndsWith,
}

impl Wildcards {
    pub(super) const ALL: [Wildcards; 3] = [Wildcards::Contains, Wildcards::StartsWith, Wildcards::EndsWith];

    /// Splits a pattern into its percent signs and the text between them. Returns none if the pattern is not a
    /// constant, has no percent sign at either end, or has no text.
    pub(super) fn split(pattern: &Expr) -> Option<(Wildcards, Literal)> {
        let Expr::Literal(Literal::Text(text)) = pattern else { return None };
        let (kind, inside) = match (text.strip_prefix('%'), text.strip_suffix('%')) {
            (Some(rest), Some(_)) => (Wildcards::Contains, rest.strip_suffix('%')?),
            (None, Some(start)) => (Wildcards::StartsWith, start),
            (Some(end), None) => (Wildcards::EndsWith, end),
            (None, None) => return None,
        };
        (!inside.is_empty()).then(|| (kind, Literal::text(inside)))
    }

    /// Returns the pattern with these percent signs around a text.
    pub(super) fn around(self, inside: &str) -> Literal {
        Literal::Text(match self {
            Wildcards::Contains => format!("%{inside}%"),
            Wildcards::StartsWith => format!("{inside}%"),
            Wildcards::EndsWith => format!("%{inside}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splitting_a_pattern_and_adding_its_wildcards_are_inverse() {
        use Wildcards::*;
        for (pattern, parts) in [
            ("%new%", Some((Contains, "new"))),
            ("new%", Some((StartsWith, "new"))),
            ("%new", Some((EndsWith, "new"))),
            ("%a%b%", Some((Contains, "a%b"))),
            ("new", None),
            ("%", None),
            ("%%", None),
            ("", None),
        ] {
            let found = Wildcards::split(&Expr::Literal(Literal::text(pattern)));
            let expected = parts.map(|(kind, inside)| (kind, Literal::text(inside)));
            assert_eq!(found, expected, "{pattern}");
            if let Some((kind, inside)) = parts {
                assert_eq!(kind.around(inside), Literal::text(pattern));
            }
        }
    }
}
