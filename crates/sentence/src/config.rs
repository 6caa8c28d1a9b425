//! The settings of a model: `config.json`.

use crate::SentenceError;
use serde::Deserialize;
use std::path::Path;

/// The settings that decide the forward pass.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct BertConfig {
    hidden_act: String,
    #[serde(default)]
    position_embedding_type: Option<String>,
    pub(crate) vocab_size: usize,
    pub(crate) hidden_size: usize,
    pub(crate) num_hidden_layers: usize,
    pub(crate) num_attention_heads: usize,
    pub(crate) intermediate_size: usize,
    pub(crate) max_position_embeddings: usize,
    pub(crate) type_vocab_size: usize,
    #[serde(default = "default_epsilon")]
    pub(crate) layer_norm_eps: f32,
}

fn default_epsilon() -> f32 {
    1e-12
}

/// The type of model, read before the other settings, which depend on it.
#[derive(Deserialize)]
struct ModelType {
    #[serde(default)]
    model_type: String,
}

impl BertConfig {
    /// Reads the text of `config.json`; `path` is for errors.
    pub(crate) fn read(text: &str, path: &Path) -> Result<Self, SentenceError> {
        let format = |message: String| SentenceError::Format { path: path.to_owned(), message };
        let json_error = |error: serde_json::Error| format(error.to_string());
        let unsupported = |setting, found: &str, supported| SentenceError::Unsupported {
            path: path.to_owned(),
            setting,
            found: found.to_owned(),
            supported,
        };
        let ModelType { model_type } = serde_json::from_str(text).map_err(json_error)?;
        if model_type != "bert" {
            return Err(unsupported("model_type", &model_type, "bert"));
        }
        let config: BertConfig = serde_json::from_str(text).map_err(json_error)?;
        if config.hidden_act != "gelu" {
            return Err(unsupported("hidden_act", &config.hidden_act, "gelu"));
        }
        if let Some(found) = config.position_embedding_type.as_deref().filter(|found| *found != "absolute") {
            return Err(unsupported("position_embedding_type", found, "absolute"));
        }
        let heads = config.num_attention_heads;
        if heads == 0 || config.hidden_size == 0 || !config.hidden_size.is_multiple_of(heads) {
            let message =
                format!("hidden_size is {}, which is no multiple of the {heads} heads", config.hidden_size);
            return Err(format(message));
        }
        if config.max_position_embeddings < 3 || config.type_vocab_size == 0 {
            let message = "max_position_embeddings must be at least 3 and type_vocab_size at least 1";
            return Err(format(message.to_owned()));
        }
        if !(config.layer_norm_eps.is_finite() && config.layer_norm_eps > 0.0) {
            return Err(format("layer_norm_eps must be positive".to_owned()));
        }
        Ok(config)
    }
}
