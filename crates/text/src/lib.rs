//! Words of questions and names.
//!
//! The parser, the value index of a database and the noisy channel all have to agree on what a word is: a value that the
//! index finds at word 3 must be word 3 of the parser's question. So there is one tokenizer, and it is here.
//!
//! ```
//! use xpr_text::{edit_distance, split_identifier, stem, tokenize};
//!
//! assert_eq!(tokenize("When's the 10am meeting?"), ["when", "s", "the", "10", "am", "meeting"]);
//! assert_eq!((stem("meetings").as_str(), stem("three").as_str()), ("meet", "3"));
//! assert_eq!(split_identifier("homeState_ID"), ["home", "state", "id"]);
//! assert_eq!(edit_distance("texsa", "texas"), 1);
//! ```

mod display;
mod identifier;
mod stem;
mod token;

pub use display::{character_code, is_deceptive};
pub use identifier::split_identifier;
pub use stem::{is_common_stem, is_common_word, is_function_word, snowball_stem, stem};
pub use token::{Token, tokenize, tokens};

/// Returns how many characters must be inserted, deleted, replaced or swapped with their neighbour to turn `left` into
/// `right`, where no part of a word is edited twice.
pub fn edit_distance(left: &str, right: &str) -> usize {
    strsim::osa_distance(left, right)
}
