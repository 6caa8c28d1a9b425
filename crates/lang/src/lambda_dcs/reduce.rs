//! Beta reduction: applies the lambdas of a form.
//!
//! As in SEMPRE, reduction goes from the outside in, by name and without renaming, so a variable of
//! an argument can be captured by a lambda of the body. Unlike in SEMPRE it always ends: each step
//! uses up fuel, and a form that needs too much is an error.

use super::form::{Atom, Children, Form, FormNode, NodeId};
use super::{MAX_DEPTH, MAX_NODES};
use crate::SyntaxError;

/// Applies every lambda of the tree at `root` and returns the new root.
pub(super) fn reduce(form: &mut Form, root: NodeId) -> Result<NodeId, SyntaxError> {
    let first = form.nodes.iter().position(|node| matches!(node, FormNode::Apply { .. }));
    let Some(first_apply) = first.map(|index| NodeId(index as u32)) else { return Ok(root) };
    let mut reduction = Reduction { form, first_apply, fuel: 4 * MAX_NODES, uses: 0, repeats: false };
    let root = reduction.reduce(root, 0)?;
    // Arguments are shared and not copied, so the form may still be too large as a tree.
    if reduction.repeats || reduction.form.nodes.len() >= MAX_DEPTH {
        let mut budget = MAX_NODES;
        reduction.count_nodes(root, 0, &mut budget)?;
    }
    Ok(root)
}

fn limit_exceeded(what: &str) -> SyntaxError {
    SyntaxError::new(1, format!("the lambdas of this form {what}"))
}

struct Reduction<'a> {
    form: &'a mut Form,
    /// The first `Apply` node. Nodes are created bottom up, so the nodes before it are already reduced.
    first_apply: NodeId,
    fuel: usize,
    /// How often the current argument was used.
    uses: usize,
    /// Whether an argument was used more than once.
    repeats: bool,
}

impl Reduction<'_> {
    fn use_fuel(&mut self, depth: usize) -> Result<(), SyntaxError> {
        self.fuel = self.fuel.checked_sub(1).ok_or_else(|| limit_exceeded("take too many steps"))?;
        // Twice the depth limit of a text, because an argument may be inserted at the bottom of a body.
        if depth > 2 * MAX_DEPTH { Err(limit_exceeded("nest too deeply")) } else { Ok(()) }
    }

    fn reduce(&mut self, id: NodeId, depth: usize) -> Result<NodeId, SyntaxError> {
        if id < self.first_apply {
            return Ok(id);
        }
        self.use_fuel(depth)?;
        match self.form.node(id) {
            FormNode::Apply { function, argument } => {
                let reduced = self.reduce(function, depth + 1)?;
                if let FormNode::Lambda { variable, body } = self.form.node(reduced) {
                    self.uses = 0;
                    let applied = self.substitute(body, variable, argument, depth + 1)?;
                    self.repeats |= self.uses > 1;
                    return self.reduce(applied, depth + 1);
                }
                let argument_reduced = self.reduce(argument, depth + 1)?;
                if (reduced, argument_reduced) == (function, argument) {
                    return Ok(id);
                }
                Ok(self.form.push(FormNode::Apply { function: reduced, argument: argument_reduced }))
            }
            _ => self.rebuild(id, |reduction, child| reduction.reduce(child, depth + 1)),
        }
    }

    /// Returns the tree at `id` with every free `( var variable )` replaced by `argument`.
    fn substitute(
        &mut self,
        id: NodeId,
        variable: Atom,
        argument: NodeId,
        depth: usize,
    ) -> Result<NodeId, SyntaxError> {
        self.use_fuel(depth)?;
        match self.form.node(id) {
            FormNode::Variable(name) if self.is_same_word(name, variable) => {
                self.uses += 1;
                Ok(argument)
            }
            FormNode::Lambda { variable: bound, .. } if self.is_same_word(bound, variable) => Ok(id),
            FormNode::Apply { function, argument: inner } => {
                let new_function = self.substitute(function, variable, argument, depth + 1)?;
                let new_inner = self.substitute(inner, variable, argument, depth + 1)?;
                if (new_function, new_inner) == (function, inner) {
                    return Ok(id);
                }
                Ok(self.form.push(FormNode::Apply { function: new_function, argument: new_inner }))
            }
            _ => self
                .rebuild(id, |reduction, child| reduction.substitute(child, variable, argument, depth + 1)),
        }
    }

    fn is_same_word(&self, left: Atom, right: Atom) -> bool {
        self.form.atom(left) == self.form.atom(right)
    }

    /// Returns the node at `id` with `change` applied to each of its children. If none changes, it is the same node.
    fn rebuild(
        &mut self,
        id: NodeId,
        mut change: impl FnMut(&mut Self, NodeId) -> Result<NodeId, SyntaxError>,
    ) -> Result<NodeId, SyntaxError> {
        let node = self.form.node(id);
        let new_node = match node {
            FormNode::Call { function, arguments } => {
                let changed = change(self, function)?;
                let function = if changed == function { function } else { self.form.as_function(changed) };
                let arguments = self.rebuild_run(arguments, change)?;
                FormNode::Call { function, arguments }
            }
            FormNode::Lambda { variable, body } => FormNode::Lambda { variable, body: change(self, body)? },
            FormNode::Unsupported { keyword, arguments } => {
                FormNode::Unsupported { keyword, arguments: self.rebuild_run(arguments, change)? }
            }
            _ => return Ok(id),
        };
        Ok(if new_node == node { id } else { self.form.push(new_node) })
    }

    fn rebuild_run(
        &mut self,
        run: Children,
        mut change: impl FnMut(&mut Self, NodeId) -> Result<NodeId, SyntaxError>,
    ) -> Result<Children, SyntaxError> {
        let first = self.form.pending.len();
        let mut changed = false;
        for index in run.start..run.start + run.len {
            let child = self.form.children[index as usize];
            let new_child = change(self, child)?;
            changed |= new_child != child;
            self.form.pending.push(new_child);
        }
        let start = self.form.children.len() as u32;
        if changed {
            self.form.children.extend_from_slice(&self.form.pending[first..]);
        }
        self.form.pending.truncate(first);
        Ok(if changed { Children { start, len: run.len } } else { run })
    }

    /// Subtracts the nodes of the tree at `id` from `budget`, shared nodes as often as they occur.
    fn count_nodes(&self, id: NodeId, depth: usize, budget: &mut usize) -> Result<(), SyntaxError> {
        *budget = budget.checked_sub(1).ok_or_else(|| limit_exceeded("make it too large"))?;
        // One level less than the limit of a text, because a value at the bottom is written in parentheses.
        if depth >= MAX_DEPTH {
            return Err(limit_exceeded("nest too deeply"));
        }
        match self.form.node(id) {
            FormNode::Call { function, arguments } => {
                self.count_nodes(function, depth + 1, budget)?;
                self.count_run(arguments, depth, budget)
            }
            FormNode::Apply { function, argument } => {
                self.count_nodes(function, depth + 1, budget)?;
                self.count_nodes(argument, depth + 1, budget)
            }
            FormNode::Lambda { body, .. } => self.count_nodes(body, depth + 1, budget),
            FormNode::Unsupported { arguments, .. } => self.count_run(arguments, depth, budget),
            FormNode::List(values) => self.count_run(values, depth, budget),
            _ => Ok(()),
        }
    }

    fn count_run(&self, run: Children, depth: usize, budget: &mut usize) -> Result<(), SyntaxError> {
        self.form.children(run).iter().try_for_each(|&child| self.count_nodes(child, depth + 1, budget))
    }
}
