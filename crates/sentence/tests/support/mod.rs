//! A small model with random weights.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    reason = "these are tests, and not all of them use everything"
)]

use safetensors::tensor::{Dtype, TensorView};
use serde_json::json;
use std::fs;
use std::path::Path;
use tempfile::TempDir;
use xpr_nn::Random;

pub const VOCABULARY: [&str; 10] =
    ["[UNK]", "[CLS]", "[SEP]", "film", "##s", "long", "which", "are", "?", "the"];
pub const SIZE: usize = 12;
pub const INNER: usize = 20;
pub const POSITIONS: usize = 8;

/// The names and shapes of the tensors.
pub fn tensors() -> Vec<(String, Vec<usize>)> {
    let mut tensors = vec![
        ("embeddings.word_embeddings.weight".to_owned(), vec![VOCABULARY.len(), SIZE]),
        ("embeddings.position_embeddings.weight".to_owned(), vec![POSITIONS, SIZE]),
        ("embeddings.token_type_embeddings.weight".to_owned(), vec![2, SIZE]),
    ];
    let mut layer = |name: String, shape: Vec<usize>| {
        tensors.push((format!("{name}.bias"), vec![shape[0]]));
        tensors.push((format!("{name}.weight"), shape));
    };
    layer("embeddings.LayerNorm".to_owned(), vec![SIZE]);
    for index in 0..2 {
        let name = |part: &str| format!("encoder.layer.{index}.{part}");
        for part in ["self.query", "self.key", "self.value", "output.dense"] {
            layer(name(&format!("attention.{part}")), vec![SIZE, SIZE]);
        }
        layer(name("attention.output.LayerNorm"), vec![SIZE]);
        layer(name("intermediate.dense"), vec![INNER, SIZE]);
        layer(name("output.dense"), vec![SIZE, INNER]);
        layer(name("output.LayerNorm"), vec![SIZE]);
    }
    tensors
}

/// Writes the weights of a model. Its numbers are multiples of 1/64, which have the same value in half precision.
pub fn write_weights(folder: &Path, tensors: &[(String, Vec<usize>)], dtype: Dtype) {
    let random = Random::new(3);
    let data: Vec<Vec<u8>> = tensors
        .iter()
        .enumerate()
        .map(|(stream, (_, shape))| {
            let random = random.stream(stream as u64);
            (0..shape.iter().product::<usize>() as u64)
                .flat_map(|index| {
                    let number = ((2.0 * random.uniform(index) - 1.0) * 64.0).round() as f32 / 64.0;
                    match dtype {
                        Dtype::F16 => half(number).to_le_bytes().to_vec(),
                        _ => number.to_le_bytes().to_vec(),
                    }
                })
                .collect()
        })
        .collect();
    let views = tensors
        .iter()
        .zip(&data)
        .map(|((name, shape), data)| (name.as_str(), TensorView::new(dtype, shape.clone(), data).unwrap()));
    fs::write(folder.join("model.safetensors"), safetensors::serialize(views, None).unwrap()).unwrap();
}

/// Returns the bits of a multiple of 1/64 between −1 and 1 in half precision.
fn half(number: f32) -> u16 {
    let bits = number.to_bits();
    let sign = (bits >> 16) as u16 & 0x8000;
    if number == 0.0 {
        sign
    } else {
        sign | (((bits >> 23 & 0xff) - 112) << 10) as u16 | (bits >> 13) as u16 & 0x3ff
    }
}

/// Writes a model.
pub fn model(dtype: Dtype) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let config = json!({
        "model_type": "bert",
        "hidden_act": "gelu",
        "hidden_size": SIZE,
        "intermediate_size": INNER,
        "layer_norm_eps": 1e-12,
        "max_position_embeddings": POSITIONS,
        "num_attention_heads": 3,
        "num_hidden_layers": 2,
        "type_vocab_size": 2,
        "vocab_size": VOCABULARY.len(),
    });
    fs::write(folder.path().join("config.json"), config.to_string()).unwrap();
    let vocabulary: serde_json::Map<String, serde_json::Value> =
        VOCABULARY.iter().enumerate().map(|(id, piece)| ((*piece).to_owned(), id.into())).collect();
    let tokenizer = json!({
        "normalizer": {"type": "BertNormalizer", "lowercase": true},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": vocabulary,
        },
    });
    fs::write(folder.path().join("tokenizer.json"), tokenizer.to_string()).unwrap();
    write_weights(folder.path(), &tensors(), dtype);
    folder
}
