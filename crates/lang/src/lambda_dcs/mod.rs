//! Lambda-DCS in the form of the Overnight benchmark.
//!
//! ```text
//! ( call SW.listValue ( call SW.filter … ( string location ) ( string = ) en.location.greenberg_cafe ) )
//! ```
//!
//! There are two levels, because programs come from two places. A [`Form`] is *any* text that SEMPRE,
//! the system of the benchmark, would accept. An executor has to agree with SEMPRE on all of them, so
//! nothing is rejected that SEMPRE would run. [`LambdaDcs`] is the much smaller language that a parser
//! should write: typed, with one way to express each meaning, or as loose as the signatures of the functions.
//!
//! Reading a form applies its lambdas (by name, as SEMPRE does) and joins a split `! type` to `!type`.
//! A form's `Display` is its canonical text: [`Form::parse`] of that text returns the same form.
//!
//! Everything is bounded: a text has at most [`MAX_TEXT`] bytes, nests at most [`MAX_DEPTH`] deep,
//! and reduces to at most [`MAX_NODES`] nodes.

mod explanation;
mod form;
mod function;
mod java;
mod reader;
mod reduce;
mod rules;
mod signature_rules;
mod typed;
mod writer;

pub use form::{Atom, Children, Form, FormNode, NodeId};
pub use function::Function;
pub use java::{write_double, write_leaf};
pub use typed::{LambdaDcs, PropertyKind, ValueKind};

/// The length limit of a form's text, in bytes.
pub const MAX_TEXT: usize = 1 << 20;
/// The depth limit of a form.
pub const MAX_DEPTH: usize = 256;
/// The size limit of a form after its lambdas are applied, in nodes.
pub const MAX_NODES: usize = 1 << 16;
