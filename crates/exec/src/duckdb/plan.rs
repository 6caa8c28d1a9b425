//! The estimated cost of a query, from DuckDB's plan of it.
//!
//! The cost is the number of rows that the operators of the plan return, and for those that try all combinations of rows, the number
//! of these. It is the same on every machine, so that a guess which costs too much is refused everywhere.

use serde_json::Value;

/// Operators that try all combinations of the rows below them, as parts of their names.
const COMBINING: [&str; 4] = ["CROSS_PRODUCT", "NL_JOIN", "NESTED_LOOP", "IE_JOIN"];
/// What the plan calls the estimated rows of an operator.
const ROWS: &str = "Estimated Cardinality";

/// What an operator and all below it do.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Work {
    /// The rows that it returns.
    rows: f64,
    cost: f64,
}

/// Returns the cost of a plan in JSON; `None` if the text is none.
pub(super) fn cost(plan: &str) -> Option<f64> {
    // Reading it has a limit of depth, and so has what follows.
    let operators: Vec<Value> = serde_json::from_str(plan).ok()?;
    Some(operators.iter().map(|operator| work(operator).cost).sum())
}

fn work(operator: &Value) -> Work {
    let children: Vec<Work> = operator["children"].as_array().into_iter().flatten().map(work).collect();
    let name = operator["name"].as_str().unwrap_or_default();
    let combinations: f64 = match COMBINING.iter().any(|part| name.contains(part)) {
        true => children.iter().map(|child| child.rows.max(1.0)).product(),
        false => 0.0,
    };
    let estimated = operator["extra_info"][ROWS].as_str().and_then(|rows| rows.parse::<f64>().ok());
    let most = children.iter().map(|child| child.rows).fold(0.0, f64::max);
    let rows = match name {
        "UNGROUPED_AGGREGATE" => 1.0,
        _ => estimated.unwrap_or(combinations.max(most)),
    };
    let below: f64 = children.iter().map(|child| child.cost).sum();
    Work { rows, cost: below + rows.max(combinations) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_that_combine_rows_cost_all_combinations() {
        let scan = r#"{"name": "SEQ_SCAN", "children": [], "extra_info": {"Estimated Cardinality": "1000"}}"#;
        let over = |name: &str, children: &str, rows: &str| {
            format!(r#"{{"name": "{name}", "children": [{children}], "extra_info": {{{rows}}}}}"#)
        };
        let cross = over("CROSS_PRODUCT", &format!("{scan}, {scan}"), "");
        let four = over("CROSS_PRODUCT", &format!("{cross}, {cross}"), "");
        let count = over("UNGROUPED_AGGREGATE", &four, "");
        let joined = over("HASH_JOIN", &format!("{scan}, {scan}"), r#""Estimated Cardinality": "1000""#);
        for (plan, expected) in [
            (scan, 1000.0),
            (&cross, 1_002_000.0),
            (&count, 1e12 + 2_004_000.0 + 1.0),
            (&joined, 3000.0),
            (&over("BLOCKWISE_NL_JOIN", &format!("{scan}, {scan}"), ""), 1_002_000.0),
        ] {
            assert_eq!(cost(&format!("[{plan}]")), Some(expected), "{plan}");
        }
        for text in ["", "{}", "[1", "null", &"[".repeat(10_000)] {
            assert_eq!(cost(text), None);
        }
        assert_eq!(cost("[1, null, {}]"), Some(0.0));
    }
}
