//! Programs as typed trees, grammars of actions, and the languages they belong to.
//!
//! A semantic parser writes a program one *action* at a time. This crate defines what a program is,
//! which actions exist, and which of them may come next. The key decision is that **a program is its
//! actions**. A [`Grammar`] gives every action a fixed list of argument types, so the actions of a
//! tree in preorder (root first) determine the tree, and [`Program`] stores exactly that sequence.
//! Going from a program to its actions and back is therefore the identity by construction, and a
//! decoder needs no knowledge of the language it writes.
//!
//! - [`Signatures`] define a language: its types and its rules (`filter`, `getProperty`…).
//! - An [`Environment`] has the items of a database or knowledge base (properties, entities, values)
//!   with the words that people use for them.
//! - A [`Grammar`] joins the two. An action applies a rule or points to an item. Actions that cannot
//!   be completed to a program in this environment are left out.
//! - A [`Derivation`] is a partial program. It knows the type of the next action.
//! - A [`Language`] reads and writes the text of programs. [`lambda_dcs`] and [`sql`] are the two
//!   that come with this crate.
//! - An [`Outcome`] is the result of running a program.
//!
//! *Architecture invariant:* there are no tensors and no I/O in this crate, and nothing outside a
//! language's own module knows its syntax.
//!
//! # A language of your own
//!
//! A language is one type that implements [`Language`], and its data another one that implements
//! [`Environment`]. This is all of a language of sums, written in Polish notation:
//!
//! ```
//! use xpr_lang::{
//!     Action, Derivation, Environment, Grammar, Item, ItemKind, Language, Program, ReadError,
//!     Signatures, SyntaxError,
//! };
//!
//! struct Sums {
//!     signatures: Signatures,
//!     number: ItemKind,
//! }
//!
//! impl Sums {
//!     fn new() -> Self {
//!         // Sum → plus Sum Sum | a number of the environment
//!         let mut signatures = Signatures::new("Sum");
//!         let sum = signatures.root();
//!         signatures.add_rule("plus", sum, &[sum, sum]);
//!         let number = signatures.add_item_kind("numbers");
//!         signatures.accept_items(sum, number);
//!         Sums { signatures, number }
//!     }
//! }
//!
//! impl Language for Sums {
//!     fn name(&self) -> &'static str {
//!         "sums"
//!     }
//!
//!     fn signatures(&self) -> &Signatures {
//!         &self.signatures
//!     }
//!
//!     fn read(
//!         &self,
//!         text: &str,
//!         grammar: &Grammar,
//!         environment: &dyn Environment,
//!     ) -> Result<Program, ReadError> {
//!         if let Some(at) = text.chars().position(|c| !c.is_alphanumeric() && c != ' ') {
//!             return Err(SyntaxError::new(at + 1, "expected letters, digits and spaces").into());
//!         }
//!         let action = |word: &str| match self.signatures.find_rule(word) {
//!             Some(rule) => Ok(Action::Rule(rule)),
//!             None => environment
//!                 .find(word)
//!                 .map(Action::Item)
//!                 .ok_or_else(|| ReadError::NotCovered(format!("the word `{word}`"))),
//!         };
//!         let actions: Vec<Action> = text.split_whitespace().map(action).collect::<Result<_, _>>()?;
//!         Ok(Program::from_actions(grammar, &actions)?)
//!     }
//!
//!     fn write(&self, program: &Program, _: &Grammar, environment: &dyn Environment) -> String {
//!         let word = |action: &Action| match action {
//!             Action::Rule(rule) => self.signatures.rules()[rule.index()].name.as_str(),
//!             Action::Item(item) => environment.items()[item.index()].symbol.as_str(),
//!         };
//!         program.actions().iter().map(word).collect::<Vec<_>>().join(" ")
//!     }
//! }
//!
//! struct Numbers(Vec<Item>);
//!
//! impl Environment for Numbers {
//!     fn items(&self) -> &[Item] {
//!         &self.0
//!     }
//! }
//!
//! let language = Sums::new();
//! let item = |phrase, symbol| Item::new(language.number, phrase, symbol);
//! let numbers = Numbers(vec![item("one", "1"), item("two", "2")]);
//! let grammar = language.signatures().grammar(numbers.items())?;
//!
//! let program = language.read("plus 1 plus 2 2", &grammar, &numbers)?;
//! assert_eq!(program.actions().len(), 5);
//! assert_eq!(program.root().arguments().count(), 2);
//! assert_eq!(language.write(&program, &grammar, &numbers), "plus 1 plus 2 2");
//!
//! // A parser asks which actions may come next.
//! let mut partial = Derivation::new(&grammar);
//! partial.advance(&grammar, program.actions()[0])?;
//! let expected = partial.expected().unwrap();
//! assert_eq!(language.signatures().type_name(expected), "Sum");
//! assert_eq!(grammar.allowed(expected).len(), 3); // plus, 1, 2
//!
//! let message = |text| language.read(text, &grammar, &numbers).unwrap_err().to_string();
//! assert_eq!(message("1 + 2"), "column 3: expected letters, digits and spaces");
//! assert_eq!(message("plus 1 3"), "not covered by the grammar: the word `3`");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod english;
mod environment;
mod grammar;
pub mod lambda_dcs;
mod language;
mod outcome;
pub mod phrases;
mod program;
mod sense;
mod signatures;
pub mod sql;

pub use environment::{Environment, Item, ItemId, ItemPosition, LiteralClass, Relation, RelationKind};
pub use grammar::{Allowed, Grammar, GrammarError};
pub use language::{Language, ReadError, SyntaxError};
pub use outcome::{Outcome, OutcomeSyntaxError};
pub use program::{ActionError, Derivation, Node, Program};
pub use sense::{NextAction, Sense, completion};
pub use signatures::{Action, ItemKind, Rule, RuleId, Signatures, TypeId};
