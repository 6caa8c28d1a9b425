//! Which queries make sense. All rules by which search leaves queries out are in this module.
//!
//! They prune search, not the grammar: a label may say anything. [`next`] and [`operands`] judge the next action of a partial
//! program, and [`finished`] what can be judged only when a query is complete.
//!
//! | rule | left out | module |
//! |---|---|---|
//! | names are in scope | a column of a table that is in no `FROM` around it, or only in a query inside | `next` |
//! | arity | a query as a value with several outputs, selects of a compound with different numbers of outputs | `outputs` |
//! | aggregates | `SUM(COUNT(*))`, aggregates in `WHERE` and `GROUP BY`, sums of text, truth values and keys | `next`, `outputs` |
//! | one row or many | a column beside an aggregate without `GROUP BY`, and such a row sorted or made distinct | `outputs` |
//! | joins along keys | columns that are equal although neither a key nor a label connects them; a table that nothing connects | `joins`, `operands` |
//! | order | `<` for free text; `ORDER BY` in a query whose rows are only compared, counted or joined | `next` |
//! | constants | a text that the column does not hold, a number far from what it holds, one that neither the question nor the pattern of a label calls for | `operands` |
//! | limits | `LIMIT` with a number that the question does not say as a count, except for 1 of sorted rows | `operands` |
//! | no repetition | `x = x`, `a AND a`, `SELECT a, a`, `a = 1 AND a = 2`, `a OR NOT a` | `repetition`, `finished` |
//! | one spelling | `x IN ('a')`, which is `x = 'a'`; of queries with the same normal form, all but the most probable | `next`, `normal_form` |
//! | rare rules | functions, `CASE`, outer joins and the like, unless a label has them; more queries inside each other than labels have | `facts` |

mod context;
mod facts;
mod finished;
mod joins;
mod next;
mod normal_form;
mod operands;
mod outputs;
mod partial;
mod repetition;
#[cfg(test)]
mod tests;
mod values;

pub use facts::SearchFacts;
pub(super) use facts::SenseFacts;

use super::environment::SqlEnvironment;
use crate::{Action, Grammar, LiteralClass, NextAction, Program, Sense, TypeId};
use next::Next;

impl Sense for SqlEnvironment {
    fn next_action<'s>(&'s self, grammar: &'s Grammar, actions: &[Action]) -> Box<dyn NextAction + 's> {
        match self.sense_facts() {
            Some(facts) => Box::new(Next::new(self, facts, grammar, actions)),
            None => Box::new(Anything),
        }
    }

    fn meaning(&self, program: &Program) -> Option<String> {
        let facts = self.sense_facts()?;
        let query = facts.language.decode(program, self);
        let normal = normal_form::normalised(&query);
        (!finished::is_nonsense(&query, &normal)).then(|| format!("{normal:?}"))
    }

    fn may_name(&self, part: TypeId, class: LiteralClass) -> bool {
        self.sense_facts().is_none_or(|facts| facts.language.rules.may_name(part, class))
    }
}

/// The judge of an environment without rules.
struct Anything;

impl NextAction for Anything {
    fn makes_sense(&self, _: Action) -> bool {
        true
    }
}
