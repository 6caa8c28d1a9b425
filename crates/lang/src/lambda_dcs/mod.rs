//! Lambda-DCS in the form of the Overnight benchmark.
//!
//! ```text
//! ( call SW.listValue ( call SW.filter … ( string location ) ( string = ) en.location.greenberg_cafe ) )
//! ```
//!
//! There are two levels here, because programs come from two places. A [`Form`] is *any* text
//! that SEMPRE, the system of the benchmark, would accept, sensible or not: an executor has to
//! agree with SEMPRE on all of them, so nothing is rejected that it would run. [`LambdaDcs`] is the
//! much smaller language that a parser should write: typed, with one way to say each thing.
//!
//! Reading a form applies its lambdas (by name, as SEMPRE does), joins a split `! type` to
//! `!type`, and keeps one canonical text: [`Form::parse`] of a form's `Display` is the same form.
//!
//! Everything is bounded: a text has at most [`MAX_TEXT`] bytes, nests at most [`MAX_DEPTH`] deep,
//! and reduces to at most [`MAX_NODES`] nodes.

mod form;
mod function;
mod java;
mod reader;
mod reduce;
mod typed;

pub use form::{Atom, Children, Form, FormNode, NodeId};
pub use function::Function;
pub use java::{write_double, write_leaf};
pub use typed::{LambdaDcs, PropertyKind, ValueKind};

/// The longest text of a form, in bytes.
pub const MAX_TEXT: usize = 1 << 20;
/// The deepest nesting of a form.
pub const MAX_DEPTH: usize = 256;
/// The most nodes a form may have, lambdas applied.
pub const MAX_NODES: usize = 1 << 16;
