//! The encoder: texts to vectors.

use crate::SentenceError;
use crate::config::BertConfig;
use crate::layers::{BLOCK, LayerNorm, Linear, add_assign, attention, gelu};
use crate::weights::Weights;
use crate::word_piece::{Piece, WordPiece};
use rayon::prelude::*;
use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use xpr_nn::Matrix;

/// The number of rows after which a batch is divided between threads. It does not change the result.
const GROUP_ROWS: usize = 512;

/// The file of the weights in the folder of a model.
const WEIGHTS: &str = "model.safetensors";

/// A pretrained sentence encoder: BERT, forward only.
#[derive(Debug)]
pub struct SentenceEncoder {
    tokenizer: WordPiece,
    words: Matrix,
    positions: Matrix,
    /// The vector that marks a text that is not the second of a pair.
    first_text: Vec<f32>,
    norm: LayerNorm,
    layers: Vec<Layer>,
    heads: usize,
}

/// ```text
/// a = norm(x + attention(x))      y = norm(a + W₂ GELU(W₁ a))
/// ```
#[derive(Debug)]
struct Layer {
    /// Queries, keys and values side by side.
    projections: Linear,
    attention_output: Linear,
    attention_norm: LayerNorm,
    intermediate: Linear,
    output: Linear,
    output_norm: LayerNorm,
}

/// The pieces of a text as the network reads them, with the mark before and after.
pub(crate) struct Sequence {
    pub(crate) ids: Vec<u32>,
    /// The word of each piece between the marks.
    words: Vec<usize>,
}

impl SentenceEncoder {
    /// Reads a model: `config.json`, `tokenizer.json` and `model.safetensors` in a folder.
    ///
    /// The weights may be in half or full precision. Their names are those of `BertModel`, without a prefix.
    ///
    /// # Errors
    /// If a file is missing or damaged, if the model is not BERT, or if a weight does not have the shape that the settings
    /// imply.
    pub fn open(folder: &Path) -> Result<Self, SentenceError> {
        let read = |name: &str| {
            let path = folder.join(name);
            // A pipe would be waited for.
            let content = match fs::metadata(&path) {
                Ok(found) if !found.is_file() => {
                    Err(io::Error::new(io::ErrorKind::InvalidInput, "this is not a regular file"))
                }
                _ => fs::read(&path),
            };
            match content {
                Ok(content) => Ok((content, path)),
                Err(source) => Err(SentenceError::File { path, source }),
            }
        };
        let read_text = |name: &str| {
            let (content, path) = read(name)?;
            match String::from_utf8(content) {
                Ok(text) => Ok((text, path)),
                Err(_) => Err(SentenceError::Format { path, message: "this is not UTF-8".to_owned() }),
            }
        };
        let (text, path) = read_text("config.json")?;
        let config = BertConfig::read(&text, &path)?;
        let (text, path) = read_text("tokenizer.json")?;
        let tokenizer = WordPiece::read(&text, config.vocab_size, &path)?;
        let (content, path) = read(WEIGHTS)?;
        SentenceEncoder::from_weights(&config, tokenizer, &Weights::read(&content, &path)?)
    }

    fn from_weights(
        config: &BertConfig,
        tokenizer: WordPiece,
        weights: &Weights<'_>,
    ) -> Result<Self, SentenceError> {
        let size = config.hidden_size;
        let table =
            |name: &str, rows| weights.matrix(&format!("embeddings.{name}_embeddings.weight"), rows, size);
        let layers = (0..config.num_hidden_layers)
            .map(|index| Layer::read(weights, &format!("encoder.layer.{index}"), config))
            .collect::<Result<_, _>>()?;
        Ok(SentenceEncoder {
            tokenizer,
            words: table("word", config.vocab_size)?,
            positions: table("position", config.max_position_embeddings)?,
            first_text: table("token_type", config.type_vocab_size)?.row(0).to_vec(),
            norm: LayerNorm::read(weights, "embeddings.LayerNorm", size, config.layer_norm_eps)?,
            layers,
            heads: config.num_attention_heads,
        })
    }

    /// Returns the file that has the weights of the model in a folder. Models with the same weights are the same encoder.
    pub fn weights_file(folder: &Path) -> PathBuf {
        folder.join(WEIGHTS)
    }

    /// Returns the size of the vectors.
    pub fn size(&self) -> usize {
        self.words.columns()
    }

    /// Returns the vector of each text, one per row: the mean over the last layer, including the pieces that mark start and
    /// end.
    ///
    /// Ignores what follows after the largest number of pieces that the model has positions for.
    pub fn encode(&self, texts: &[&str]) -> Matrix {
        let rows = self.last_layer(texts, |output, rows, _| mean(output, rows));
        Matrix::new(texts.len(), self.size(), rows.concat())
    }

    /// Returns, for each text, the vector of each of its words, one per row. Words are what white space separates; their
    /// vectors are means over their pieces in the last layer.
    ///
    /// A word without pieces has a row of zeros: a word of control characters, or one after the largest number of pieces
    /// that the model has positions for.
    pub fn encode_tokens(&self, texts: &[&str]) -> Vec<Matrix> {
        let pooled = self.last_layer(texts, |output, rows, words| {
            let mut pooled: Vec<(usize, Vec<f32>)> = Vec::new();
            let mut from = 0;
            for pieces in words.chunk_by(|left, right| left == right) {
                // The first row is that of the mark before the text.
                let start = rows.start + 1 + from;
                pooled.push((pieces[0], mean(output, start..start + pieces.len())));
                from += pieces.len();
            }
            pooled
        });
        let matrices = texts.iter().zip(pooled).map(|(text, pooled)| {
            let mut matrix = Matrix::zeros(text.split_whitespace().count(), self.size());
            for (word, vector) in pooled {
                matrix.row_mut(word).copy_from_slice(&vector);
            }
            matrix
        });
        matrices.collect()
    }

    /// Runs the network, and returns the result of `pool` for each text. Its arguments are the last layer, the rows of the
    /// text in it, and the word of each piece of the text.
    fn last_layer<T: Send>(
        &self,
        texts: &[&str],
        pool: impl Fn(&Matrix, Range<usize>, &[usize]) -> T + Sync,
    ) -> Vec<T> {
        let sequences: Vec<Sequence> = texts.par_iter().map(|text| self.sequence(text)).collect();
        let groups: Vec<&[Sequence]> = groups(&sequences);
        let pooled: Vec<Vec<T>> = groups
            .into_par_iter()
            .with_max_len(1)
            .map(|group| {
                let (output, rows) = self.forward(group);
                rows.into_iter()
                    .zip(group)
                    .map(|(rows, sequence)| pool(&output, rows, &sequence.words))
                    .collect()
            })
            .collect();
        pooled.into_iter().flatten().collect()
    }

    /// Divides a text into pieces, up to the number of positions.
    pub(crate) fn sequence(&self, text: &str) -> Sequence {
        let mut pieces: Vec<Piece> = self.tokenizer.pieces(text);
        pieces.truncate(self.positions.rows() - 2);
        let ids = pieces.iter().map(|piece| piece.id);
        Sequence {
            ids: [self.tokenizer.start].into_iter().chain(ids).chain([self.tokenizer.end]).collect(),
            words: pieces.iter().map(|piece| piece.word).collect(),
        }
    }

    /// Returns the last layer and the rows of each sequence in it.
    fn forward(&self, sequences: &[Sequence]) -> (Matrix, Vec<Range<usize>>) {
        let mut total = 0;
        let mut rows = Vec::with_capacity(sequences.len());
        for sequence in sequences {
            rows.push(total..total + sequence.ids.len());
            total += sequence.ids.len();
        }
        // The rows that fill up the last block belong to no sequence, and no other row depends on them.
        let mut x = Matrix::zeros(total.next_multiple_of(BLOCK), self.size());
        for (rows, sequence) in rows.iter().zip(sequences) {
            for (position, (row, id)) in rows.clone().zip(&sequence.ids).enumerate() {
                let row = x.row_mut(row);
                add_assign(row, self.words.row(*id as usize));
                add_assign(row, self.positions.row(position));
                add_assign(row, &self.first_text);
            }
        }
        self.norm.apply(&mut x);
        for layer in &self.layers {
            x = layer.apply(&x, &rows, self.heads);
        }
        (x, rows)
    }
}

impl Layer {
    fn read(weights: &Weights<'_>, name: &str, config: &BertConfig) -> Result<Self, SentenceError> {
        let (size, inner) = (config.hidden_size, config.intermediate_size);
        let linear = |part: &str, from, to| Linear::read(weights, &[format!("{name}.{part}")], from, to);
        let norm =
            |part: &str| LayerNorm::read(weights, &format!("{name}.{part}"), size, config.layer_norm_eps);
        let projections = ["query", "key", "value"].map(|part| format!("{name}.attention.self.{part}"));
        Ok(Layer {
            projections: Linear::read(weights, &projections, size, size)?,
            attention_output: linear("attention.output.dense", size, size)?,
            attention_norm: norm("attention.output.LayerNorm")?,
            intermediate: linear("intermediate.dense", size, inner)?,
            output: linear("output.dense", inner, size)?,
            output_norm: norm("output.LayerNorm")?,
        })
    }

    fn apply(&self, x: &Matrix, sequences: &[Range<usize>], heads: usize) -> Matrix {
        let attended = attention(&self.projections.apply(x), sequences, heads);
        let mut attended = self.attention_output.apply(&attended);
        add_assign(attended.data_mut(), x.data());
        self.attention_norm.apply(&mut attended);
        let mut inner = self.intermediate.apply(&attended);
        gelu(&mut inner);
        let mut output = self.output.apply(&inner);
        add_assign(output.data_mut(), attended.data());
        self.output_norm.apply(&mut output);
        output
    }
}

/// Divides sequences into groups of at most [`GROUP_ROWS`] rows, or a single sequence.
fn groups(sequences: &[Sequence]) -> Vec<&[Sequence]> {
    let mut groups = Vec::new();
    let (mut start, mut rows) = (0, 0);
    for (index, sequence) in sequences.iter().enumerate() {
        if rows + sequence.ids.len() > GROUP_ROWS && index > start {
            groups.push(&sequences[start..index]);
            (start, rows) = (index, 0);
        }
        rows += sequence.ids.len();
    }
    if start < sequences.len() {
        groups.push(&sequences[start..]);
    }
    groups
}

/// Returns the mean of some rows.
fn mean(matrix: &Matrix, rows: Range<usize>) -> Vec<f32> {
    let count = rows.len() as f32;
    let mut mean = vec![0.0; matrix.columns()];
    for row in rows {
        add_assign(&mut mean, matrix.row(row));
    }
    mean.iter_mut().for_each(|x| *x /= count);
    mean
}
