//! The second pass: nodes, by SEMPRE's keywords.

use super::FormReader;
use super::tokens::TokenKind;
use crate::SyntaxError;
use crate::lambda_dcs::MAX_NODES;
use crate::lambda_dcs::form::{Atom, Children, FormNode, NodeId};

impl FormReader<'_> {
    /// Reads `tree` as a form.
    pub(super) fn form_at(&mut self, tree: usize) -> Result<NodeId, SyntaxError> {
        if self.form.nodes.len() >= MAX_NODES {
            return Err(self.token_error(tree, &format!("the form has more than {MAX_NODES} nodes")));
        }
        let list = match self.form.tape[tree].kind {
            TokenKind::Word(atom) => {
                let id = self.bare_name(atom);
                return Ok(self.form.push(FormNode::Name { id, description: None }));
            }
            TokenKind::Open(_) | TokenKind::Close => tree,
        };
        let head = list + 1;
        if self.form.tape[head].kind == TokenKind::Close {
            return Err(self.token_error(list, "an empty list is not a form"));
        }
        let keyword = self.atom(head);
        if self.form.atom(keyword) != Some("call")
            && let Some(value) = self.value_at(list)?
        {
            return Ok(self.form.push(value));
        }
        match self.form.atom(keyword).unwrap_or_default() {
            "call" => self.call_at(list),
            "var" => {
                let name = self.required_sibling(list, head, 1)?;
                let name = self.atom(name);
                Ok(self.form.push(FormNode::Variable(name)))
            }
            "lambda" => {
                let variable = self.required_sibling(list, head, 2)?;
                let body = self.required_sibling(list, variable, 1)?;
                let variable = self.atom(variable);
                let body = self.form_at(body)?;
                Ok(self.form.push(FormNode::Lambda { variable, body }))
            }
            // General lambda-DCS, with the number of forms that each keyword needs.
            "mark" => {
                let name = self.required_sibling(list, head, 2)?;
                self.unsupported(list, name, keyword, 1)
            }
            "not" | "reverse" | "count" | "sum" | "avg" | "min" | "max" => {
                self.unsupported(list, head, keyword, 1)
            }
            "and" | "or" | "+" | "-" | "*" | "/" => self.unsupported(list, head, keyword, 2),
            "argmax" | "argmin" => self.unsupported(list, head, keyword, 4),
            _ => self.apply_at(list),
        }
    }

    /// Reads `( call function argument … )`.
    fn call_at(&mut self, list: usize) -> Result<NodeId, SyntaxError> {
        let function_at = self.required_sibling(list, list + 1, 1)?;
        let function = match self.form.tape[function_at].kind {
            // The common case: abbreviate the name without expanding it first.
            TokenKind::Word(atom) if atom != Atom::NULL => {
                let id = self.form.function_name(atom);
                self.form.push(FormNode::Name { id, description: None })
            }
            _ => self.function_at(function_at)?,
        };
        let arguments = self.forms_after(function_at)?;
        Ok(self.form.push(FormNode::Call { function, arguments }))
    }

    /// Reads a function that is not a plain word: a `( name … )`, or another form, which cannot be called.
    fn function_at(&mut self, tree: usize) -> Result<NodeId, SyntaxError> {
        let function = self.form_at(tree)?;
        Ok(self.form.as_function(function))
    }

    /// Reads `( function argument )`.
    fn apply_at(&mut self, list: usize) -> Result<NodeId, SyntaxError> {
        let head = list + 1;
        let arguments = || std::iter::successors(self.sibling(head), |&argument| self.sibling(argument));
        let count = arguments().count();
        let (1, Some(argument)) = (count, arguments().next()) else {
            let message = format!(
                "`{}` applied to {count} arguments; a form that is not a call takes exactly 1",
                self.source_of(head)
            );
            return Err(self.token_error(list, &message));
        };
        let function = self.form_at(head)?;
        let argument = self.form_at(argument)?;
        Ok(self.form.push(FormNode::Apply { function, argument }))
    }

    /// Reads a form that is never run: `count` forms after `tree`, and `tree` itself unless it is the
    /// keyword. The rest of the list is ignored.
    fn unsupported(
        &mut self,
        list: usize,
        tree: usize,
        keyword: Atom,
        count: usize,
    ) -> Result<NodeId, SyntaxError> {
        let first_pending = self.form.pending.len();
        if tree != list + 1 {
            let node = self.form_at(tree)?;
            self.form.pending.push(node);
        }
        let mut last = tree;
        for missing in (1..=count).rev() {
            last = self.required_sibling(list, last, missing)?;
            let node = self.form_at(last)?;
            self.form.pending.push(node);
        }
        let arguments = self.take_pending(first_pending);
        Ok(self.form.push(FormNode::Unsupported { keyword, arguments }))
    }

    /// Reads the forms that follow `tree` in its list.
    fn forms_after(&mut self, tree: usize) -> Result<Children, SyntaxError> {
        let first_pending = self.form.pending.len();
        let mut next = self.sibling(tree);
        while let Some(at) = next {
            let node = self.form_at(at)?;
            self.form.pending.push(node);
            next = self.sibling(at);
        }
        Ok(self.take_pending(first_pending))
    }

    /// Removes the pending nodes from `first` on, and makes them children.
    pub(super) fn take_pending(&mut self, first: usize) -> Children {
        let start = self.form.children.len() as u32;
        self.form.children.extend(self.form.pending.drain(first..));
        Children { start, len: self.form.children.len() as u32 - start }
    }

    /// Returns the identifier of a bare word. SEMPRE has a name for the null word.
    fn bare_name(&mut self, atom: Atom) -> Atom {
        if atom == Atom::NULL { self.form.append("", "fb:en.null") } else { self.form.full_name(atom) }
    }
}
