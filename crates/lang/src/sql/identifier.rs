//! The spelling of names in SQL.

use super::dialect::Dialect;

/// Words that are names only in quotes: the keywords of SQLite, including those that its grammar accepts as names
/// but those of other databases do not.
const KEYWORDS: &str = " abort action add after all alter always analyze and any as asc attach autoincrement before \
    begin between by cascade case cast check collate column commit conflict constraint create cross current \
    current_date current_time current_timestamp database default deferrable deferred delete desc detach distinct do \
    drop each else end escape except exclude exclusive exists explain fail false fetch filter first following for \
    foreign from full generated glob group groups having if ignore immediate in index indexed initially inner insert \
    instead intersect interval into is isnull join key last lateral left like limit localtime localtimestamp match materialized natural no not nothing \
    notnull null nulls of offset on or order others outer over partition plan pragma preceding primary query raise \
    range recursive references regexp reindex release rename replace restrict returning right rollback row rows \
    savepoint select set table temp temporary then ties to top transaction trigger trim true unbounded union unique update \
    using vacuum values view virtual when where window with within without ";

/// Returns a name as SQL spells it: in double quotes if it needs them.
pub fn quoted(name: &str) -> String {
    let plain = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !KEYWORDS.contains(&format!(" {} ", name.to_ascii_lowercase()));
    if plain { name.to_owned() } else { format!("\"{}\"", name.replace('"', "\"\"")) }
}

/// Words that are names only in quotes in PostgreSQL, besides those of [`KEYWORDS`].
const POSTGRES_KEYWORDS: &str = " analyse array asymmetric authorization both collation concurrently current_catalog current_role \
    current_schema current_user false freeze ilike leading only overlaps placing session_user similar some symmetric tablesample \
    trailing true user variadic verbose ";

/// Words that are names only in quotes in DuckDB, besides those of [`KEYWORDS`]; some of them only in some places.
const DUCKDB_KEYWORDS: &str = " analyse anti array asof asymmetric at authorization bigint binary bit boolean both char character \
    coalesce collation columns concurrently dec decimal describe extract float freeze grouping grouping_id ilike inout int integer \
    lambda leading map national nchar none nullif numeric only out overlaps overlay pivot pivot_longer pivot_wider placing position \
    positional precision qualify real semi setof show similar smallint some struct substring summarize symmetric tablesample time \
    timestamp trailing treat try_cast unpack unpivot varchar variadic verbose xmlattributes xmlconcat xmlelement xmlexists xmlforest \
    xmlnamespaces xmlparse xmlpi xmlroot xmlserialize xmltable ";

/// Returns a name as a dialect spells it. PostgreSQL reads capital letters without quotes as small ones.
pub(super) fn quoted_in(name: &str, dialect: Dialect) -> String {
    let needs_quotes = match dialect {
        Dialect::Sqlite => false,
        Dialect::Postgres => {
            name.bytes().any(|byte| byte.is_ascii_uppercase())
                || POSTGRES_KEYWORDS.contains(&format!(" {name} "))
        }
        Dialect::DuckDb => DUCKDB_KEYWORDS.contains(&format!(" {} ", name.to_ascii_lowercase())),
    };
    if needs_quotes { format!("\"{}\"", name.replace('"', "\"\"")) } else { quoted(name) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_and_names_with_special_characters_are_quoted() {
        for (name, written) in [
            ("state", "state"),
            ("STATE_NAME", "STATE_NAME"),
            ("order", "\"order\""),
            ("Order", "\"Order\""),
            ("first name", "\"first name\""),
            ("2nd", "\"2nd\""),
            ("a\"b", "\"a\"\"b\""),
            ("", "\"\""),
            ("größe", "\"größe\""),
        ] {
            assert_eq!(quoted(name), written);
        }
    }
}
