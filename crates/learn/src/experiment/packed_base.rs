//! Opening a base: the folder of its pretraining, or packed into two small files, with the parser in half precision and word
//! vectors in 8 bits.
//!
//! One packed base is part of the program, in the crate `xpr_base`. Words whose vectors pretraining did not change are in the
//! file of vectors only; the others are in the file of the parser.

use super::base::{Base, WORDS};
use super::error::ExperimentError;
use crate::inference::ConfidenceRecord;
use crate::task::GrammarRecord;
use crate::teacher::NoisyChannel;
use crate::training::checkpoint;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use xpr_base::{CHECKSUMS_FILE, PARSER_FILE, VECTORS_FILE};
use xpr_data::Embeddings;
use xpr_nn::Matrix;
use xpr_run::{BUILT_IN, PretrainConfig, RunError, RunFile};

/// The version of the format. It changes when an earlier program would misread the files.
const FORMAT: u32 = 1;
/// The entry of the metadata of the parser's file that has a [`PackedRecord`].
const RECORD: &str = "base";
/// A vector that differs from the one in 8 bits by no more than rounding, as a share of its largest number, was not trained. It is left to
/// the file of vectors.
const ROUNDING: f32 = 1.0 / 250.0;

/// What the file of the parser has beside its weights.
#[derive(Debug, Serialize, Deserialize)]
struct PackedRecord {
    format: u32,
    /// The settings of pretraining, without the places of its files.
    config: PretrainConfig,
    grammar: GrammarRecord,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    confidence: Option<ConfidenceRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    channel: Option<NoisyChannel>,
    /// The words whose vectors are in this file, in the order of the vocabulary. The first is the unknown word.
    words: Vec<String>,
}

impl Base {
    /// Opens the base of the setting `base.folder`: a folder that pretraining wrote, a folder with a packed base, or the one
    /// that is built in.
    pub(super) fn open(folder: &Path) -> Result<Self, ExperimentError> {
        Base::open_with(folder, &[])
    }

    /// Opens a base with other settings of `eval`.
    pub(super) fn open_with(folder: &Path, settings: &[String]) -> Result<Self, ExperimentError> {
        if let Some(setting) = settings.iter().find(|setting| !setting.trim_start().starts_with("eval.")) {
            return Err(ExperimentError::TrainedSetting(setting.clone()));
        }
        let packed = match folder {
            folder if folder == Path::new(BUILT_IN) => built_in()?,
            folder if is_packed(folder) => open_packed(folder)?,
            folder => return Base::pretrained(folder, settings),
        };
        Ok(Base { config: packed.config.with_settings(settings)?, ..packed })
    }

    /// Returns the file by which two bases in folders can be told apart.
    pub(super) fn identifying_file(folder: &Path) -> PathBuf {
        match is_packed(folder) {
            true => folder.join(CHECKSUMS_FILE),
            false => folder.join(RunFile::Model.name()),
        }
    }
}

/// The files of a packed base.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackedBase {
    /// Settings, grammar and weights in half precision.
    pub parser: Vec<u8>,
    /// The words and their vectors in 8 bits.
    pub vectors: Vec<u8>,
}

impl PackedBase {
    /// Packs the base that pretraining wrote to a folder. `vectors` are the word vectors that it was trained with.
    ///
    /// # Errors
    /// If the base cannot be opened.
    pub fn of_folder(folder: &Path, vectors: &Embeddings) -> Result<Self, ExperimentError> {
        let base = Base::open(folder)?;
        let error = |source| ExperimentError::Checkpoint { path: base.file.clone(), source };
        let vectors = vectors.to_packed();
        let rounded = unpacked(&vectors, &base.file)?;
        let is_own = |word: &&String| match (base.embeddings.vectors.get(*word), rounded.vectors.get(*word)) {
            (Some(trained), Some(rounded)) => !is_same(trained, rounded),
            _ => true,
        };
        let words: Vec<String> = base.embeddings.words.iter().filter(is_own).cloned().collect();
        let rows = words.iter().flat_map(|word| base.embeddings.vectors[word].iter().copied());
        let table = Matrix::new(words.len(), base.embeddings.size, rows.collect());

        let mut matrices = vec![(WORDS.to_owned(), table)];
        for name in checkpoint::names(&base.weights).map_err(error)? {
            if name != WORDS {
                let matrix = checkpoint::matrix(&base.weights, &name).map_err(error)?;
                matrices.push((name, matrix));
            }
        }
        let tensors: Vec<(String, &Matrix)> =
            matrices.iter().map(|(name, matrix)| (name.clone(), matrix)).collect();
        let record = PackedRecord {
            format: FORMAT,
            config: without_places(base.config.clone()),
            grammar: base.grammar.clone(),
            confidence: base.confidence.clone(),
            channel: base.channel.clone(),
            words,
        };
        let record = serde_json::to_string(&record)
            .map_err(|error| content_error(base.file.clone(), error.to_string()))?;
        Ok(PackedBase { parser: checkpoint::write_halves(&tensors, (RECORD, record)), vectors })
    }
}

/// Returns the settings of pretraining without the folders that only one machine has.
fn without_places(mut config: PretrainConfig) -> PretrainConfig {
    for folder in &mut config.data.folders {
        *folder = folder.file_name().map(PathBuf::from).unwrap_or_default();
    }
    config.data.embeddings = PathBuf::new();
    config
}

fn is_same(trained: &[f32], rounded: &[f32]) -> bool {
    let largest = rounded.iter().fold(0.0_f32, |largest, x| largest.max(x.abs()));
    trained.iter().zip(rounded).all(|(left, right)| (left - right).abs() <= ROUNDING * largest)
}

/// Returns whether a folder has a packed base.
fn is_packed(folder: &Path) -> bool {
    folder.join(PARSER_FILE).is_file()
}

/// Opens the packed base in a folder.
fn open_packed(folder: &Path) -> Result<Base, ExperimentError> {
    let read = |name: &str| {
        let path = folder.join(name);
        xpr_data::read_bytes(&path).map_err(|source| RunError::File { path, source })
    };
    let list = read(CHECKSUMS_FILE)?;
    let list = String::from_utf8_lossy(&list);
    let checked = |name: &str| -> Result<Vec<u8>, ExperimentError> {
        let content = read(name)?;
        xpr_base::check(&list, name, &content)
            .map_err(|damaged| content_error(folder.to_owned(), damaged.to_string()))?;
        Ok(content)
    };
    let (parser, vectors) = (checked(PARSER_FILE)?, checked(VECTORS_FILE)?);
    unpack(parser.into(), &vectors, folder.join(PARSER_FILE))
}

/// Opens the base that is part of the program.
fn built_in() -> Result<Base, ExperimentError> {
    let damaged = |damaged: xpr_base::DamagedFile| content_error(BUILT_IN.into(), damaged.to_string());
    let (parser, vectors) = (xpr_base::parser().map_err(damaged)?, xpr_base::vectors().map_err(damaged)?);
    unpack(parser.into(), vectors, Path::new(BUILT_IN).join(PARSER_FILE))
}

/// Returns the word vectors that are part of the program.
pub(super) fn built_in_vectors() -> Result<Embeddings, ExperimentError> {
    let vectors =
        xpr_base::vectors().map_err(|damaged| content_error(BUILT_IN.into(), damaged.to_string()))?;
    unpacked(vectors, &Path::new(BUILT_IN).join(VECTORS_FILE))
}

fn unpacked(vectors: &[u8], file: &Path) -> Result<Embeddings, ExperimentError> {
    Embeddings::from_packed(vectors).map_err(|error| content_error(file.to_owned(), error.to_string()))
}

/// Returns the base of two files; `file` is the name of the first in errors.
fn unpack(weights: Cow<'static, [u8]>, vectors: &[u8], file: PathBuf) -> Result<Base, ExperimentError> {
    let wrong = |message: String| content_error(file.clone(), message);
    let error = |source| ExperimentError::Checkpoint { path: file.clone(), source };
    let record = checkpoint::metadata(&weights, RECORD).map_err(error)?;
    let record = record.ok_or_else(|| wrong("it is not the parser of a packed base".to_owned()))?;
    let record: PackedRecord =
        serde_json::from_str(&record).map_err(|error| wrong(format!("it is not what xpr wrote: {error}")))?;
    let PackedRecord { format, config, grammar, confidence, channel, words: own } = record;
    if format != FORMAT {
        return Err(wrong(format!(
            "it has the format {format}, and this version of xpr reads format {FORMAT}"
        )));
    }
    let mut embeddings = unpacked(vectors, &file)?;
    let table = checkpoint::matrix(&weights, WORDS).map_err(error)?;
    if table.rows() != own.len() || table.columns() != embeddings.size || own.is_empty() {
        return Err(wrong("its words are not those of its weights and vectors".to_owned()));
    }
    let known: HashSet<&String> = embeddings.words.iter().collect();
    let new: Vec<String> = own[1..].iter().filter(|word| !known.contains(word)).cloned().collect();
    let words = own[..1].iter().cloned().chain(std::mem::take(&mut embeddings.words)).chain(new).collect();
    embeddings.words = words;
    for (row, word) in own.into_iter().enumerate() {
        embeddings.vectors.insert(word, table.row(row).to_vec());
    }
    Ok(Base { file, config, grammar, embeddings, weights, confidence, channel })
}

fn content_error(path: PathBuf, message: String) -> ExperimentError {
    RunError::Content { path, message }.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_base_has_a_vector_for_every_word() {
        let base = built_in().unwrap();
        assert!(base.embeddings.words.len() > 10_000, "{} words", base.embeddings.words.len());
        assert_eq!(base.embeddings.words.len(), base.embeddings.vectors.len());
        assert_eq!(
            base.embeddings.words[0],
            base.own_vocabulary().words()[0],
            "the unknown word is the first"
        );
        for word in ["average", "oldest", "students"] {
            assert!(base.embeddings.vectors.contains_key(word), "{word}");
        }
        let places = [&base.config.data.embeddings].into_iter().chain(&base.config.data.folders);
        assert!(places.clone().all(|place| place.is_relative()), "{:?}", places.collect::<Vec<_>>());
    }

    #[test]
    fn a_damaged_base_in_a_folder_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, content: &[u8]| std::fs::write(folder.path().join(name), content).unwrap();
        let mut parser = xpr_base::parser().unwrap().to_vec();
        write(PARSER_FILE, &parser);
        write(VECTORS_FILE, xpr_base::vectors().unwrap());
        write(CHECKSUMS_FILE, xpr_base::CHECKSUMS.as_bytes());
        let opened = Base::open(folder.path()).unwrap();
        assert_eq!(opened.embeddings, built_in().unwrap().embeddings);

        let last = parser.len() - 1;
        parser[last] ^= 1;
        write(PARSER_FILE, &parser);
        let error = Base::open(folder.path()).unwrap_err().to_string();
        assert!(error.contains("parser.safetensors is damaged or was replaced"), "{error}");
        // Whatever has the right checksum must still be a base.
        for (content, expected) in
            [(&parser[..100], "not a safetensors file"), (xpr_base::vectors().unwrap(), "not the parser")]
        {
            write(PARSER_FILE, content);
            let list =
                xpr_base::checksums(&[(PARSER_FILE, content), (VECTORS_FILE, xpr_base::vectors().unwrap())]);
            write(CHECKSUMS_FILE, list.as_bytes());
            let error = Base::open(folder.path()).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
