//! Patterns of `LIKE`: a question says what is inside.

use super::literal::Literal;
use super::query::Expr;

/// Where a pattern of `LIKE` has its percent signs.
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

    /// Takes a pattern apart; none if it is no constant, or has no percent sign at an end.
    pub(super) fn of(pattern: &Expr) -> Option<(Wildcards, Literal)> {
        let Expr::Literal(Literal::Text(text)) = pattern else { return None };
        let (kind, inside) = match (text.strip_prefix('%'), text.strip_suffix('%')) {
            (Some(rest), Some(_)) => (Wildcards::Contains, rest.strip_suffix('%')?),
            (None, Some(start)) => (Wildcards::StartsWith, start),
            (Some(end), None) => (Wildcards::EndsWith, end),
            (None, None) => return None,
        };
        (!inside.is_empty()).then(|| (kind, Literal::text(inside)))
    }

    /// Puts it together again.
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
    fn patterns_come_apart_and_together() {
        use Wildcards::*;
        for (pattern, apart) in [
            ("%new%", Some((Contains, "new"))),
            ("new%", Some((StartsWith, "new"))),
            ("%new", Some((EndsWith, "new"))),
            ("%a%b%", Some((Contains, "a%b"))),
            ("new", None),
            ("%", None),
            ("%%", None),
            ("", None),
        ] {
            let found = Wildcards::of(&Expr::Literal(Literal::text(pattern)));
            let expected = apart.map(|(kind, inside)| (kind, Literal::text(inside)));
            assert_eq!(found, expected, "{pattern}");
            if let Some((kind, inside)) = apart {
                assert_eq!(kind.around(inside), Literal::text(pattern));
            }
        }
    }
}
