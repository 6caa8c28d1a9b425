//! The grammar of a trained model, as its run folder records it.

use serde::{Deserialize, Serialize};
use xpr_exec::SymbolPhrase;
use xpr_lang::sql::LabelPatterns;
use xpr_lang::{Environment, Signatures};

/// The content of `grammar.json`: the actions a model was made for. A run is opened only if its grammar is still the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct GrammarRecord {
    language: String,
    rules: Vec<String>,
    /// For each rule its phrases, separated by commas. Earlier versions had none.
    #[serde(default)]
    rule_phrases: Vec<String>,
    items: Vec<ItemRecord>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) constants: Vec<String>,
    /// What labeled programs have that search may try. Earlier versions had none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) labels: Option<LabelPatterns>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct ItemRecord {
    symbol: String,
    phrase: String,
    kind: usize,
}

impl GrammarRecord {
    pub(crate) fn new(
        language: &str,
        signatures: &Signatures,
        environment: &dyn Environment,
        constants: Vec<String>,
        labels: Option<LabelPatterns>,
    ) -> Self {
        let items = environment.items().iter().map(|item| ItemRecord {
            symbol: item.symbol.clone(),
            phrase: item.phrase.clone(),
            kind: item.kind.index(),
        });
        GrammarRecord {
            language: language.to_owned(),
            rules: signatures.rules().iter().map(|rule| rule.name.clone()).collect(),
            rule_phrases: signatures.rules().iter().map(|rule| rule.phrases.join(", ")).collect(),
            items: items.collect(),
            constants,
            labels,
        }
    }

    /// Returns whether the rules are those of `other`. The items may differ.
    pub(crate) fn has_rules_of(&self, other: &GrammarRecord) -> bool {
        (&self.language, &self.rules) == (&other.language, &other.rules)
    }

    /// Returns the record without what was learned from labels about search: only rules, items and constants.
    pub(crate) fn without_labels(self) -> Self {
        GrammarRecord { labels: None, ..self }
    }

    /// Returns the phrases of the items, in their order.
    pub(crate) fn phrases(&self) -> Vec<SymbolPhrase> {
        self.items
            .iter()
            .map(|item| SymbolPhrase { symbol: item.symbol.clone(), phrase: item.phrase.clone() })
            .collect()
    }
}
