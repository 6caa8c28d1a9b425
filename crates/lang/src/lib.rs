//! Programs as typed trees, grammars of actions, and the languages they belong to.
//!
//! A semantic parser writes a program one *action* at a time. This crate is the part of that
//! story which needs no tensors: what a program is, which actions exist, and which of them may
//! come next. The key decision is that **a program is its actions**: a [`Grammar`] gives every
//! action a fixed list of argument types, so the actions of a tree read root first determine the
//! tree, and [`Program`] stores exactly that sequence. Going from program to actions and back
//! is therefore the identity by construction, and a decoder never needs to know what language
//! it writes.
//!
//! - [`Signatures`] are what a language brings: its types and its rules (`filter`, `getProperty`…).
//! - An [`Environment`] is what somebody's data brings: items (properties, entities, values) with
//!   the words people use for them.
//! - A [`Grammar`] joins the two: productions are rules or pointers to items, and whatever cannot
//!   be completed in this environment is not offered.
//! - A [`Derivation`] is a program half written; it knows the type it needs next.
//! - A [`Language`] reads and writes the text of programs. [`lambda_dcs`] is one.
//!
//! *Architecture invariant:* no tensors and no I/O here, and nothing outside a language's own
//! module knows its syntax.
//!
//! ```
//! use xpr_lang::{Derivation, Item, Program, Signatures};
//! use xpr_lang::Action::{Item as Point, Rule};
//!
//! // A language of sums over named numbers.
//! let mut language = Signatures::new("Sum");
//! let sum = language.root();
//! let plus = language.rule("plus", sum, &[sum, sum]);
//! let name = language.kind("number");
//! language.points(sum, name);
//!
//! // An environment with two of them.
//! let items = [Item::new(name, "one", "1"), Item::new(name, "two", "2")];
//! let grammar = language.grammar(&items)?;
//!
//! let mut half_written = Derivation::new(&grammar);
//! half_written.advance(&grammar, Rule(plus))?;
//! assert_eq!(half_written.expected(), Some(sum));
//! assert_eq!(grammar.allowed(sum).len(), 3); // plus, one, two
//!
//! let actions = [Rule(plus), Point(items[0].id_in(&items)), Point(items[1].id_in(&items))];
//! let program = Program::from_actions(&grammar, &actions)?;
//! assert_eq!(program.actions(), actions);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod environment;
mod grammar;
pub mod lambda_dcs;
mod language;
mod outcome;
mod program;
mod signatures;
pub mod sql;

pub use environment::{Environment, Item, ItemId, Place, Relation, RelationKind};
pub use grammar::{Allowed, Grammar, GrammarError};
pub use language::{Language, ReadError, SyntaxError};
pub use outcome::{Outcome, OutcomeSyntaxError};
pub use program::{ActionError, Derivation, Node, Program};
pub use signatures::{Action, ItemKind, Rule, RuleId, Signatures, TypeId};
