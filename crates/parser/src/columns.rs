//! The actions of a grammar as columns of the decoder's scores: rules first, then items.

use std::sync::Arc;
use xpr_lang::{Environment, Grammar, ItemId, TypeId};

/// The columns that a grammar allows for each type.
#[derive(Clone, Debug)]
pub(crate) struct ActionColumns {
    grammar: Grammar,
    /// For each type, the columns of the actions that the grammar allows where this type is expected.
    allowed: Vec<Arc<[u32]>>,
    /// For each column, the item that a program must name earlier, if there is one.
    prerequisite: Vec<Option<ItemId>>,
    /// For each type, whether an allowed action has a prerequisite.
    has_prerequisites: Vec<bool>,
}

impl ActionColumns {
    pub(crate) fn new(grammar: Grammar, environment: &dyn Environment) -> Self {
        let rules = grammar.signatures().rules().len() as u32;
        let columns = |ty| {
            let allowed = grammar.allowed(ty);
            let rules_first = allowed.rules.iter().map(|rule| rule.index() as u32);
            rules_first.chain(allowed.items.iter().map(|item| rules + item.0)).collect()
        };
        let allowed: Vec<Arc<[u32]>> = grammar.type_ids().map(columns).collect();
        let items = (0..environment.items().len() as u32).map(|item| environment.after(ItemId(item)));
        let prerequisite: Vec<Option<ItemId>> =
            std::iter::repeat_n(None, rules as usize).chain(items).collect();
        let has_prerequisites = allowed
            .iter()
            .map(|columns| columns.iter().any(|&column| prerequisite[column as usize].is_some()))
            .collect();
        ActionColumns { grammar, allowed, prerequisite, has_prerequisites }
    }

    pub(crate) fn grammar(&self) -> &Grammar {
        &self.grammar
    }

    /// Returns the columns of all actions that the grammar allows where `ty` is expected.
    pub(crate) fn allowed(&self, ty: TypeId) -> &Arc<[u32]> {
        &self.allowed[ty.index()]
    }

    /// Returns the allowed columns whose prerequisite is among the `named` items. Returns all allowed columns if there
    /// are none: a program must be continued somehow.
    pub(crate) fn offered(&self, ty: TypeId, named: &[ItemId]) -> Arc<[u32]> {
        let allowed = self.allowed(ty);
        if !self.has_prerequisites[ty.index()] {
            return Arc::clone(allowed);
        }
        let is_offered =
            |column: &u32| self.prerequisite[*column as usize].is_none_or(|item| named.contains(&item));
        let offered: Arc<[u32]> = allowed.iter().copied().filter(is_offered).collect();
        if offered.is_empty() { Arc::clone(allowed) } else { offered }
    }
}
