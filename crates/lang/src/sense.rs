//! Sense: what search does not try although the grammar allows it.
//!
//! A grammar says which programs exist, and labels may be any of them. Many programs mean nothing, or what a shorter one
//! means: `SELECT SUM(COUNT(*))`, `x = x`. A language knows them by rules that depend on the whole partial program. Search
//! asks for them before it tries an action, so that a beam has room for programs that may be right.

use crate::{Action, Derivation, Grammar, LiteralClass, Program, RuleId, TypeId};
use smallvec::SmallVec;

/// The rules of a language about which programs make sense. They prune search only.
pub trait Sense {
    /// Returns the judge of the actions that may come after these.
    fn next_action<'s>(&'s self, grammar: &'s Grammar, actions: &[Action]) -> Box<dyn NextAction + 's>;

    /// Returns a text that is the same for programs that mean the same; none if a program makes no sense.
    ///
    /// This decides what cannot be decided before a program is complete.
    fn meaning(&self, program: &Program) -> Option<String>;

    /// Returns whether a part of this type may name a literal of a class, in programs as people write them.
    fn may_name(&self, _part: TypeId, _class: LiteralClass) -> bool {
        true
    }
}

/// Judges the next action of a partial program.
pub trait NextAction {
    /// Returns whether the action makes sense here. It may still lead nowhere: see [`completion`].
    fn makes_sense(&self, action: Action) -> bool;

    /// Returns whether an action that makes sense is also on the way to the end. [`completion`] takes no other: a program can
    /// have any number of conditions, but those that it still needs complete it.
    fn leads_to_the_end(&self, _action: Action) -> bool {
        true
    }
}

/// The number of partial programs that [`completion`] looks at. Most completions are found at once; a prefix that needs
/// more is as good as one without completion.
const MOST_PREFIXES: usize = 120;

/// Returns actions that complete a partial program and make sense one after the other, if there are some.
///
/// Search offers an action only if there are, so rules need not look ahead and no place in a beam goes to a dead end.
pub fn completion(
    sense: &dyn Sense,
    grammar: &Grammar,
    derivation: &Derivation,
    actions: &[Action],
) -> Option<Vec<Action>> {
    let mut search = CompletionSearch { sense, grammar, actions: actions.to_vec(), prefixes: MOST_PREFIXES };
    search.complete(derivation).then(|| search.actions.split_off(actions.len()))
}

/// A depth-first search, shortest actions first.
struct CompletionSearch<'a> {
    sense: &'a dyn Sense,
    grammar: &'a Grammar,
    actions: Vec<Action>,
    /// The number of partial programs that may still be looked at.
    prefixes: usize,
}

impl CompletionSearch<'_> {
    /// Completes the actions, or leaves them as they are and returns false.
    fn complete(&mut self, derivation: &Derivation) -> bool {
        let Some(expected) = derivation.expected() else { return true };
        if self.prefixes == 0 {
            return false;
        }
        self.prefixes -= 1;
        let allowed = self.grammar.allowed(expected);
        let next = self.sense.next_action(self.grammar, &self.actions);
        // An item is a single action, so items come first.
        let mut items = allowed.items.iter().map(|&item| Action::Item(item));
        if items.any(|item| self.complete_with(&*next, derivation, item)) {
            return true;
        }
        let mut rules: SmallVec<[(usize, RuleId); 32]> =
            allowed.rules.iter().map(|&rule| (self.shortest_with(rule), rule)).collect();
        rules.sort_by_key(|&(length, _)| length);
        rules.iter().any(|&(_, rule)| self.complete_with(&*next, derivation, Action::Rule(rule)))
    }

    /// Completes the actions and one more, or leaves them as they are and returns false.
    fn complete_with(&mut self, next: &dyn NextAction, derivation: &Derivation, action: Action) -> bool {
        if !next.makes_sense(action) || !next.leads_to_the_end(action) {
            return false;
        }
        let mut longer = derivation.clone();
        if longer.advance(self.grammar, action).is_err() {
            return false;
        }
        self.actions.push(action);
        if !self.complete(&longer) {
            self.actions.pop();
            return false;
        }
        true
    }

    /// Returns the number of actions in the shortest program that begins with a rule.
    fn shortest_with(&self, rule: RuleId) -> usize {
        let arguments = self.grammar.arguments(Action::Rule(rule)).iter();
        arguments.map(|&ty| self.grammar.shortest(ty).unwrap_or(usize::MAX)).fold(1, usize::saturating_add)
    }
}
