//! Values: lists whose keyword is `string`, `number`, `date` and the like.

use super::FormReader;
use super::tokens::TokenKind;
use crate::SyntaxError;
use crate::lambda_dcs::form::{Atom, Children, FormNode};
use crate::lambda_dcs::java;

impl FormReader<'_> {
    /// Reads `list` as a value; none if its keyword is not the keyword of a value.
    pub(super) fn value_at(&mut self, list: usize) -> Result<Option<FormNode>, SyntaxError> {
        let head = list + 1;
        Ok(Some(match self.form.atom(self.atom(head)).unwrap_or_default() {
            "string" => FormNode::Text(self.atom(self.required_sibling(list, head, 1)?)),
            "number" => {
                let value_at = self.required_sibling(list, head, 1)?;
                let value = self.number(value_at, "number", java::parse_double)?;
                FormNode::Number { value, unit: self.sibling(value_at).map(|unit| self.atom(unit)) }
            }
            "date" => {
                let year = self.required_sibling(list, head, 3)?;
                let month = self.required_sibling(list, year, 2)?;
                let day = self.required_sibling(list, month, 1)?;
                FormNode::Date { year: self.int(year)?, month: self.int(month)?, day: self.int(day)? }
            }
            "time" => {
                let hour = self.required_sibling(list, head, 2)?;
                let minute = self.required_sibling(list, hour, 1)?;
                FormNode::Time { hour: self.int(hour)?, minute: self.int(minute)? }
            }
            "boolean" => {
                let word = self.form.atom(self.atom(self.required_sibling(list, head, 1)?));
                FormNode::Boolean(word.is_some_and(|word| word.eq_ignore_ascii_case("true")))
            }
            "name" => {
                let id_at = self.required_sibling(list, head, 1)?;
                let description =
                    self.sibling(id_at).map(|at| self.atom(at)).filter(|word| *word != Atom::NULL);
                let id = self.atom(id_at);
                FormNode::Name { id: self.form.full_name(id), description }
            }
            "url" => FormNode::Url(self.atom(self.required_sibling(list, head, 1)?)),
            "list" => FormNode::List(self.values_after(head)?),
            keyword @ ("table" | "description" | "context" | "error" | "triple") => {
                return Err(self.token_error(list, &format!("`{keyword}` values are not supported")));
            }
            _ => return Ok(None),
        }))
    }

    /// Reads the values that follow `head` in its list.
    fn values_after(&mut self, head: usize) -> Result<Children, SyntaxError> {
        let first_pending = self.form.pending.len();
        let mut next = self.sibling(head);
        while let Some(at) = next {
            let is_list =
                matches!(self.form.tape[at].kind, TokenKind::Open(close) if close as usize > at + 1);
            let value = if is_list { self.value_at(at)? } else { None };
            let Some(value) = value else {
                let source = self.source_of(at);
                let message = format!("`{source}` is not a value; a list holds values such as ( number 1 )");
                return Err(self.token_error(at, &message));
            };
            let value = self.form.push(value);
            self.form.pending.push(value);
            next = self.sibling(at);
        }
        Ok(self.take_pending(first_pending))
    }

    fn number<T>(&self, at: usize, what: &str, parse: fn(&str) -> Option<T>) -> Result<T, SyntaxError> {
        self.form.atom(self.atom(at)).and_then(parse).ok_or_else(|| {
            let message = format!("`{}` is not a {what}", self.source_of(at));
            self.token_error(at, &message)
        })
    }

    fn int(&self, at: usize) -> Result<i32, SyntaxError> {
        self.number(at, "whole number", java::parse_int)
    }
}
