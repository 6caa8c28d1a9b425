//! Numbers that decide results and are not settings.
//!
//! Each was chosen on held-out training examples, or is so far from mattering that nobody would set it. A number that users may
//! want to change is a setting instead: see `learn.temperature` and `eval.temperature` in [`Config`](xpr_run::Config).

/// The share of labeled programs that must find something for an empty answer to count as a failure.
pub(crate) const NEARLY_ALL: f64 = 0.97;

/// The smallest credit for which a program is scored again with gradients. What is dropped must not matter for objectives whose
/// credits sum to zero.
pub(crate) const NEGLIGIBLE_CREDIT: f64 = 1e-3;

/// The logarithm of the smallest probability with which an ensemble suggests a program: a thousandth.
pub(crate) const LEAST_SUGGESTED: f32 = -6.907_755;

/// The number of labeled questions whose programs are suggested for a question that is near them, by a sentence encoder.
pub(crate) const NEAREST_LABELS: usize = 20;

/// The number of sentences that a sentence encoder reads at a time. It does not change the result.
pub(crate) const SENTENCES_AT_A_TIME: usize = 256;

/// The rounds of expectation-maximisation by which the noisy channel is trained. More rounds change nothing.
pub(crate) const CHANNEL_ROUNDS: usize = 8;

/// The number of databases whose labels must name an item for the noisy channel of a base to know it by its name.
pub(crate) const FEWEST_TASKS_OF_NOTION: usize = 3;

/// The smallest expected count that the noisy channel of a base keeps. Smaller ones make its file large and change nothing.
pub(crate) const LEAST_COUNT_OF_BASE: f64 = 0.05;

/// The smallest probability of a word given a program.
pub(crate) const LEAST_WORD_PROBABILITY: f64 = 1e-12;

/// The number of labeled programs that must need a constant, without their questions naming it, for it to be learned.
pub(crate) const FEWEST_PROGRAMS_OF_CONSTANT: usize = 2;

/// The largest number of learned constants. Each is one more item of every question.
pub(crate) const MOST_CONSTANTS: usize = 32;

/// The largest number of tables a question is parsed with. Larger schemas are cut down to the most relevant tables.
pub(crate) const MOST_TABLES: usize = 8;

/// The largest number of columns a question is parsed with, unless a single table has more.
pub(crate) const MOST_COLUMNS: usize = 64;

/// The relevance that a table gains from a word of the question that is in the table's name.
pub(crate) const RELEVANCE_OF_TABLE_NAME: f64 = 3.0;

/// The relevance that a table gains from a word of the question that is in a column's name.
pub(crate) const RELEVANCE_OF_COLUMN_NAME: f64 = 1.0;

/// The relevance that a table gains from a value of the question that is in its cells.
pub(crate) const RELEVANCE_OF_VALUE: f64 = 2.0;

/// The share of its two most relevant neighbours' relevance that a table gains, because it may join them.
pub(crate) const RELEVANCE_OF_NEIGHBOUR: f64 = 0.3;

/// The number of labeled examples that `--tune` holds out, as in the paper, but at most half of them.
pub(crate) const TUNING_EXAMPLES: usize = 100;

/// The expected number of times that a label's action generated a word, from which on the action explains the word.
pub(crate) const LEAST_EXPLAINING_COUNT: f64 = 0.1;

/// The weights of the confidence without labels to fit them on. `cargo run --release -p xpr-learn --example confidence_prior` fits them
/// on runs about other databases.
pub(crate) const CONFIDENCE_PRIOR: [f64; 12] =
    [-1.041, 0.713, 0.574, 1.836, -2.169, -0.602, -0.012, 0.987, -0.512, 0.285, 1.573, -0.748];

/// The strength of the penalty that holds the weights of the confidence near [`CONFIDENCE_PRIOR`].
pub(crate) const CONFIDENCE_STRENGTH: f64 = 4.0;

/// The penalties of candidates without labels to fit them on: for a number of the question that a program does not use, for a text, and for
/// a constant that nobody said.
pub(crate) const PENALTY_PRIOR: [f32; 3] = [1.0, 1.0, 0.5];

/// The strength of the penalty that holds the penalties of candidates near [`PENALTY_PRIOR`], or those of a base.
pub(crate) const PENALTY_STRENGTH: f64 = 1.0;

/// What a candidate that finds nothing loses, in logarithms of probabilities, when an answer is chosen. On 14 databases held out of
/// pretraining (696 questions, 18 of whose labels find nothing), a penalty of 1 to 2.5 gives 75.9 to 76.0 % right answers, none 75.7, and
/// choosing such a candidate only if no other finds something 74.7.
pub(crate) const FINDING_NOTHING_PENALTY: f64 = 2.0;

/// The smallest number of labels that weights of the confidence are fitted on.
pub(crate) const FEWEST_CALIBRATION_LABELS: usize = 30;

/// The number of content words of a question that labels or data must have for it to be answered.
pub(crate) const LEAST_KNOWN_WORDS: usize = 1;

/// The share of the content words of a question that labels or data must have for it to be answered.
pub(crate) const LEAST_KNOWN_SHARE: f64 = 0.5;

/// The same share without labels, when only the names and values of the data are known.
pub(crate) const LEAST_KNOWN_SHARE_WITHOUT_LABELS: f64 = 0.3;
