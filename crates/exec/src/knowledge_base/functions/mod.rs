//! The functions of SEMPRE's Overnight world, including all corner cases.
//!
//! Whatever looks arbitrary is SEMPRE's behaviour. Arguments are evaluated from left to right, and the checks of a
//! function happen in the order of its Java source: many checks look at the elements of a list one by one, so an empty
//! list must hide exactly the errors that it hides there.

mod arithmetic;
mod filters;
mod properties;
mod superlatives;

use super::Property;
use super::machine::{Machine, Result, runtime_error, type_error};
use super::plan::{LocalContent, LocalType, StackEntry, StringRef};
use xpr_lang::lambda_dcs::Function;

/// A property that a program names. The knowledge base may not have it.
#[derive(Clone, Copy)]
struct PropertyLookup<'a> {
    name: StringRef,
    property: Option<&'a Property>,
}

impl Machine<'_> {
    /// Calls a function on the entries of the stack from `base` on.
    ///
    /// It is one long match because the arguments select the overload, as in Java.
    pub(super) fn call(&mut self, function: Function, base: usize) -> Result<StackEntry> {
        use StackEntry as O;
        let arguments: &[StackEntry] = &self.state.stack[base..];
        match (function, arguments) {
            (Function::ListValue, &[entry]) => self.list_value(entry),
            (Function::GetProperty, &[O::List(list), O::String(property)]) => {
                self.get_property(list, property)
            }
            (Function::GetProperty, &[O::Value(value), O::String(property)]) => {
                let list = self.list_of(value)?;
                self.get_property(list, property)
            }
            (Function::Singleton, &[O::Value(value)]) => Ok(O::List(self.list_of(value)?)),
            (Function::Singleton, &[O::Null]) => {
                let null = self.add_local(LocalContent::RawNull, LocalType::None)?;
                Ok(O::List(self.list_of(null)?))
            }
            (Function::Filter, &[O::List(list), O::String(property)]) => self.filter_unary(list, property),
            (
                Function::Filter,
                &[O::List(list), O::String(property), O::String(compare), O::Value(value)],
            ) => {
                let references = self.list_of(value)?;
                self.filter(list, property, compare, references)
            }
            (
                Function::Filter,
                &[O::List(list), O::String(property), O::String(compare), O::List(references)],
            ) => self.filter(list, property, compare, references),
            (Function::Reverse, &[O::String(text)]) => self.reverse(text),
            (Function::Domain, &[O::String(property)]) => self.domain(property),
            (Function::EnsureNumericProperty, &[O::String(property)]) => {
                self.ensure_numeric_property(property)
            }
            (Function::EnsureNumericEntity, &[O::Value(value)]) => {
                let list = self.list_of(value)?;
                self.ensure_numeric_entity(list)
            }
            (Function::EnsureNumericEntity, &[O::List(list)]) => self.ensure_numeric_entity(list),
            (Function::Concat, &[O::Value(left), O::Value(right)]) => {
                let (left, right) = (self.list_of(left)?, self.list_of(right)?);
                self.concat(left, right)
            }
            (Function::Concat, &[O::List(left), O::List(right)]) => self.concat(left, right),
            (Function::Superlative, &[O::List(list), O::String(mode), O::String(property)]) => {
                self.superlative(list, mode, property)
            }
            (Function::CountSuperlative, &[O::List(list), O::String(mode), O::String(property)])
            | (Function::CountSuperlative, &[O::List(list), O::String(mode), O::String(property), O::Null]) => {
                self.count_superlative(list, mode, property, None)
            }
            (
                Function::CountSuperlative,
                &[O::List(list), O::String(mode), O::String(property), O::List(restrictors)],
            ) => self.count_superlative(list, mode, property, Some(restrictors)),
            (
                Function::CountComparative,
                &[O::List(list), O::String(property), O::String(compare), O::Value(threshold)],
            )
            | (
                Function::CountComparative,
                &[O::List(list), O::String(property), O::String(compare), O::Value(threshold), O::Null],
            ) => self.count_comparative(list, property, compare, threshold, None),
            (
                Function::CountComparative,
                &[
                    O::List(list),
                    O::String(property),
                    O::String(compare),
                    O::Value(threshold),
                    O::List(restrictors),
                ],
            ) => self.count_comparative(list, property, compare, threshold, Some(restrictors)),
            (Function::Aggregate, &[O::String(mode), O::List(list)]) => self.aggregate(mode, list),
            (Function::Sum, &[O::List(list)]) => self.sum(list),
            (Function::ArithOp, &[O::String(op), O::Value(left), O::Value(right)]) => {
                let (left, right) = (self.list_of(left)?, self.list_of(right)?);
                self.arithmetic(op, left, right)
            }
            (Function::ArithOp, &[O::String(op), O::List(left), O::List(right)]) => {
                self.arithmetic(op, left, right)
            }
            (Function::Size, &[O::List(list)]) => Ok(O::Integer(list.len as i32)),
            (Function::SizeOfDb, &[]) => Ok(O::Integer(i32::try_from(self.world.pairs).unwrap_or(i32::MAX))),
            _ => self.no_such_call(function, base),
        }
    }

    /// Returns the error for arguments that no overload of `function` takes.
    #[cold]
    fn no_such_call(&self, function: Function, base: usize) -> Result<StackEntry> {
        let arguments = &self.state.stack[base..];
        let name = function.name();
        for argument in arguments {
            if let StackEntry::Invalid(message) = argument {
                return self.invalid(*message);
            }
        }
        if arguments.iter().any(|argument| matches!(argument, StackEntry::Null)) {
            return runtime_error(format!("{name} of a superlative over an empty list"));
        }
        let kinds: Vec<&str> = arguments
            .iter()
            .map(|argument| match argument {
                StackEntry::List(_) => "a list",
                StackEntry::Value(id) if self.number(*id).is_some() => "a number",
                StackEntry::Value(id) if self.is_name(*id) => "an entity",
                StackEntry::Value(_) => "a value",
                StackEntry::String(_) => "a string",
                StackEntry::Boolean(_) => "a boolean",
                StackEntry::Integer(_) => "a count",
                StackEntry::Null | StackEntry::Invalid(_) => "nothing",
            })
            .collect();
        let kinds = if kinds.is_empty() { "no arguments".to_owned() } else { kinds.join(", ") };
        type_error(format!("{name} does not take {kinds}"))
    }
}
