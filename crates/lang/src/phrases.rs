//! English phrases for functions that most languages have.
//!
//! Each list is what people say for a function in questions, without the property it is about. A parser reads them as it
//! reads the names of properties, so they need not be complete: a word that is like one of them is recognised by its vector.

/// `=`
pub const EQUAL: &[&str] = &["is", "equal to", "same as", "exactly"];
/// `≠`
pub const NOT_EQUAL: &[&str] = &["is not", "not", "no", "other than", "different from", "except", "without"];
/// `<`
pub const LESS: &[&str] = &[
    "less than",
    "smaller than",
    "fewer than",
    "lower than",
    "shorter than",
    "earlier than",
    "cheaper than",
    "younger than",
    "before",
    "below",
    "under",
];
/// `>`
pub const GREATER: &[&str] = &[
    "more than",
    "greater than",
    "larger than",
    "bigger than",
    "higher than",
    "longer than",
    "taller than",
    "later than",
    "older than",
    "after",
    "above",
    "over",
];
/// `≤`
pub const AT_MOST: &[&str] = &[
    "at most",
    "no more than",
    "not more than",
    "no later than",
    "no larger than",
    "or less",
    "or fewer",
    "or earlier",
    "or before",
    "up to",
];
/// `≥`
pub const AT_LEAST: &[&str] = &[
    "at least",
    "no less than",
    "not less than",
    "no earlier than",
    "no smaller than",
    "or more",
    "or greater",
    "or later",
    "or after",
];
/// The smallest.
pub const MINIMUM: &[&str] = &[
    "least", "smallest", "fewest", "lowest", "shortest", "earliest", "cheapest", "youngest", "first",
    "minimum",
];
/// The largest.
pub const MAXIMUM: &[&str] = &[
    "most", "greatest", "largest", "biggest", "highest", "longest", "tallest", "latest", "oldest", "last",
    "maximum",
];
/// The mean.
pub const AVERAGE: &[&str] = &["average", "mean"];
/// The sum.
pub const SUM: &[&str] = &["total", "sum", "altogether", "combined"];
/// The number of elements.
pub const COUNT: &[&str] = &["how many", "number of", "count"];
/// One or the other.
pub const EITHER: &[&str] = &["or", "either"];
