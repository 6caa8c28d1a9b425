//! Programs, whole and half written.

use crate::{Action, Grammar, TypeId};
use smallvec::SmallVec;
use thiserror::Error;

/// Why a sequence of actions is not a program.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum ActionError {
    /// The action may not be taken where it stands.
    #[error("action {position} ({action:?}) is not allowed where it stands")]
    NotAllowed {
        /// Its place in the sequence, from 0.
        position: usize,
        /// The action.
        action: Action,
    },
    /// The program was complete before this action.
    #[error("the program is complete before action {position}")]
    AfterTheEnd {
        /// Its place in the sequence, from 0.
        position: usize,
    },
    /// The sequence ends and something is still to be said.
    #[error("the sequence ends after {length} actions with {open} places still open")]
    Incomplete {
        /// How many actions there are.
        length: usize,
        /// How many places are open.
        open: usize,
    },
}

/// A whole, well-typed program: a tree, stored as its actions, root first.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Program {
    actions: Box<[Action]>,
    /// For each action, the index just behind its subtree.
    ends: Box<[u32]>,
}

impl Program {
    /// The program that `actions` write.
    ///
    /// # Errors
    /// If the grammar does not allow one of them where it stands, or they are too few or too many.
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
            let behind_self = index + 1;
            let end = grammar.arguments(action).iter().fold(behind_self, |start, _| ends[start] as usize);
            ends[index] = end as u32;
        }
        Ok(Program { actions: actions.into(), ends: ends.into() })
    }

    /// The actions that write it.
    pub fn actions(&self) -> &[Action] {
        &self.actions
    }

    /// The root of the tree.
    pub fn root(&self) -> Node<'_> {
        Node { program: self, index: 0 }
    }
}

/// A place in a program's tree.
#[derive(Clone, Copy, Debug)]
pub struct Node<'p> {
    program: &'p Program,
    index: usize,
}

impl<'p> Node<'p> {
    /// The action taken here.
    pub fn action(self) -> Action {
        self.program.actions[self.index]
    }

    /// Its arguments, left to right.
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

/// A program half written: knows the type it needs next.
///
/// Cloning copies a short inline stack, so a beam may clone it freely.
#[derive(Clone, Debug)]
pub struct Derivation {
    /// The types still to be written, the next one last.
    open: SmallVec<[TypeId; 24]>,
    length: u32,
}

impl Derivation {
    /// A program of which nothing is written yet.
    pub fn new(grammar: &Grammar) -> Self {
        Derivation { open: SmallVec::from_slice(&[grammar.root()]), length: 0 }
    }

    /// The type needed next; none if the program is complete.
    pub fn expected(&self) -> Option<TypeId> {
        self.open.last().copied()
    }

    /// Whether nothing is left to say.
    pub fn is_complete(&self) -> bool {
        self.open.is_empty()
    }

    /// How many actions were taken.
    pub fn len(&self) -> usize {
        self.length as usize
    }

    /// Whether no action was taken yet.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The fewest actions that complete it.
    pub fn shortest_rest(&self, grammar: &Grammar) -> usize {
        self.open.iter().map(|&ty| grammar.shortest(ty).unwrap_or(usize::MAX)).fold(0, usize::saturating_add)
    }

    /// Takes one action.
    ///
    /// # Errors
    /// If the grammar does not allow it here; the derivation is then unchanged.
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
