//! Programs, complete and partial.

use crate::{Action, Grammar, TypeId};
use smallvec::SmallVec;
use thiserror::Error;

/// A sequence of actions is not a program.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum ActionError {
    /// The grammar does not allow the action at its position.
    #[error("action {position} ({action:?}) is not allowed at its position")]
    NotAllowed {
        /// The index in the sequence, from 0.
        position: usize,
        /// The action.
        action: Action,
    },
    /// The program was complete before this action.
    #[error("the program is complete before action {position}")]
    AfterTheEnd {
        /// The index in the sequence, from 0.
        position: usize,
    },
    /// The sequence ends before the program is complete.
    #[error("the sequence ends after {length} actions and leaves {open} arguments open")]
    Incomplete {
        /// The number of actions.
        length: usize,
        /// The number of arguments that have no actions yet.
        open: usize,
    },
}

/// A complete, well-typed program: a tree, stored as its actions in preorder (root first).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Program {
    actions: Box<[Action]>,
    /// For each action, the index after the last action of its subtree.
    ends: Box<[u32]>,
}

impl Program {
    /// Creates the program that `actions` write.
    ///
    /// # Errors
    /// Errors if the grammar does not allow one of them at its position, or if they are too few or
    /// too many.
    pub fn from_actions(grammar: &Grammar, actions: &[Action]) -> Result<Self, ActionError> {
        let mut derivation = Derivation::new(grammar);
        for &action in actions {
            derivation.advance(grammar, action)?;
        }
        if !derivation.is_complete() {
            let open = derivation.open.len();
            return Err(ActionError::Incomplete { length: actions.len(), open });
        }
        // Back to front: the arguments of an action are the subtrees that follow it.
        let mut ends = vec![0; actions.len()];
        for (index, &action) in actions.iter().enumerate().rev() {
            let first_argument = index + 1;
            let end = grammar.arguments(action).iter().fold(first_argument, |start, _| ends[start] as usize);
            ends[index] = end as u32;
        }
        Ok(Program { actions: actions.into(), ends: ends.into() })
    }

    /// Returns the actions in preorder.
    pub fn actions(&self) -> &[Action] {
        &self.actions
    }

    /// Returns the root of the tree.
    pub fn root(&self) -> Node<'_> {
        Node { program: self, index: 0 }
    }
}

/// A node of a program's tree.
#[derive(Clone, Copy, Debug)]
pub struct Node<'p> {
    program: &'p Program,
    index: usize,
}

impl<'p> Node<'p> {
    /// Returns the action of this node.
    pub fn action(self) -> Action {
        self.program.actions[self.index]
    }

    /// Returns the arguments, left to right.
    pub fn arguments(self) -> impl Iterator<Item = Node<'p>> {
        let end = self.program.ends[self.index] as usize;
        let mut next = self.index + 1;
        std::iter::from_fn(move || {
            (next < end).then(|| {
                let node = Node { program: self.program, index: next };
                next = self.program.ends[next] as usize;
                node
            })
        })
    }
}

/// A partial program, which knows the type of the next action.
///
/// Cloning copies a short inline stack, so a beam may clone it freely.
#[derive(Clone, Debug)]
pub struct Derivation {
    /// The types of the open arguments, the next one last.
    open: SmallVec<[TypeId; 24]>,
    length: u32,
}

impl Derivation {
    /// Creates a partial program without actions.
    pub fn new(grammar: &Grammar) -> Self {
        Derivation { open: SmallVec::from_slice(&[grammar.root()]), length: 0 }
    }

    /// Returns the type of the next action; none if the program is complete.
    pub fn expected(&self) -> Option<TypeId> {
        self.open.last().copied()
    }

    /// Returns the types of the open arguments, the next one last.
    pub fn open(&self) -> &[TypeId] {
        &self.open
    }

    /// Returns whether the program is complete.
    pub fn is_complete(&self) -> bool {
        self.open.is_empty()
    }

    /// Returns the number of actions so far.
    pub fn len(&self) -> usize {
        self.length as usize
    }

    /// Returns whether there are no actions yet.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Returns the smallest number of actions that completes the program.
    pub fn shortest_rest(&self, grammar: &Grammar) -> usize {
        self.open.iter().map(|&ty| grammar.shortest(ty).unwrap_or(usize::MAX)).fold(0, usize::saturating_add)
    }

    /// Adds one action.
    ///
    /// # Errors
    /// Errors if the grammar does not allow the action here. The derivation is then unchanged.
    pub fn advance(&mut self, grammar: &Grammar, action: Action) -> Result<(), ActionError> {
        let position = self.len();
        let Some(expected) = self.expected() else {
            return Err(ActionError::AfterTheEnd { position });
        };
        if !grammar.allows(expected, action) {
            return Err(ActionError::NotAllowed { position, action });
        }
        self.open.pop();
        self.open.extend(grammar.arguments(action).iter().rev().copied());
        self.length += 1;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Item, ItemId, Signatures};

    #[test]
    fn a_sequence_that_is_no_program_is_an_error_that_says_why() {
        let mut language = Signatures::new("Sum");
        let sum = language.root();
        let plus = Action::Rule(language.add_rule("plus", sum, &[sum, sum]));
        let number = language.add_item_kind("numbers");
        language.accept_items(sum, number);
        let grammar = language.grammar(&[Item::new(number, "one", "1")]).unwrap();
        let one = Action::Item(ItemId(0));
        let read = |actions: &[Action]| Program::from_actions(&grammar, actions);

        assert_eq!(read(&[plus, one, one]).unwrap().root().arguments().count(), 2);
        assert_eq!(read(&[plus, one]), Err(ActionError::Incomplete { length: 2, open: 1 }));
        assert_eq!(read(&[one, one]), Err(ActionError::AfterTheEnd { position: 1 }));
        let missing = Action::Item(ItemId(1));
        assert_eq!(
            read(&[plus, missing, one]),
            Err(ActionError::NotAllowed { position: 1, action: missing })
        );
    }
}
