//! Programs that are not complete yet.

use xpr_lang::{Action, Derivation, Grammar, ItemId, ItemPosition, RuleId, TypeId};

/// An incomplete program, with what the decoder's input depends on.
#[derive(Clone, Debug)]
pub(crate) struct PartialProgram {
    pub(crate) derivation: Derivation,
    /// For each missing argument, the rule it is an argument of; the next one is last.
    parents: Vec<Option<RuleId>>,
    last: Option<Action>,
    /// The items that the program names.
    pub(crate) named: Vec<ItemId>,
}

/// The input of one decoder step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct StepInput {
    /// The question, as an index into the batch.
    pub(crate) question: usize,
    /// The previous action.
    pub(crate) last: Option<Action>,
    /// The type of the next action.
    pub(crate) expected: TypeId,
    /// The rule whose argument the next action is.
    pub(crate) parent: Option<RuleId>,
}

impl StepInput {
    /// Returns an input with the same embedding, so that equal ones can be computed once: the question matters only if
    /// the previous action is one of its items.
    pub(crate) fn without_irrelevant_question(self) -> Self {
        match self.last {
            Some(Action::Item(_)) => self,
            _ => StepInput { question: 0, ..self },
        }
    }
}

impl PartialProgram {
    /// Returns the empty program.
    pub(crate) fn new(grammar: &Grammar) -> Self {
        let derivation = Derivation::new(grammar);
        PartialProgram { derivation, parents: vec![None], last: None, named: vec![] }
    }

    /// Returns the input of the next step; none if the program is complete.
    pub(crate) fn input(&self, question: usize) -> Option<StepInput> {
        let expected = self.derivation.expected()?;
        Some(StepInput { question, last: self.last, expected, parent: self.parent() })
    }

    /// Returns where the next action is.
    pub(crate) fn place(&self) -> ItemPosition {
        ItemPosition { parent: self.parent(), previous: self.last }
    }

    fn parent(&self) -> Option<RuleId> {
        self.parents.last().copied().flatten()
    }

    /// Appends an action. Returns false and changes nothing if the grammar does not allow it.
    pub(crate) fn advance(&mut self, grammar: &Grammar, action: Action) -> bool {
        if self.derivation.advance(grammar, action).is_err() {
            return false;
        }
        self.parents.pop();
        match action {
            Action::Rule(rule) => {
                let arguments = grammar.arguments(action).len();
                self.parents.extend(std::iter::repeat_n(Some(rule), arguments));
            }
            Action::Item(item) => self.named.push(item),
        }
        self.last = Some(action);
        true
    }
}
