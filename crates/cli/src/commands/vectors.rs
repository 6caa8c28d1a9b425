//! `xpr vectors`: word vectors from a pretrained sentence encoder.

use super::loading_bar::LoadingBar;
use super::{use_threads, write_json};
use crate::arguments::VectorsArguments;
use anyhow::{Result, bail};
use serde::Serialize;
use std::collections::HashSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;
use xpr_data::Embeddings;
use xpr_nn::Matrix;
use xpr_sentence::{Projection, SentenceEncoder, word_vectors};

/// The output of `--json`.
#[derive(Serialize)]
struct VectorsReport<'a> {
    file: &'a Path,
    words: usize,
    size: usize,
    /// The share of the variance that the projection keeps.
    #[serde(skip_serializing_if = "Option::is_none")]
    kept_variance: Option<f64>,
    /// The number of words encoded per second, including those of the basis.
    words_per_second: f64,
}

pub(crate) fn run(arguments: &VectorsArguments, out: &mut dyn Write) -> Result<()> {
    use_threads(arguments.pool.threads)?;
    check_writable(&arguments.out)?;
    let words = read_words(&arguments.words)?;
    let basis = read_words(&arguments.basis)?;
    let encoder = SentenceEncoder::open(&arguments.model)?;
    if arguments.size > encoder.size() {
        bail!("--size {}: the vectors of this model have {} numbers", arguments.size, encoder.size());
    }

    let start = Instant::now();
    let mut encoded = 0;
    let mut encode = |what: &str, words: &[String]| {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut bar = LoadingBar::new();
        let vectors = word_vectors(&encoder, &words, |done| bar.show(what, done, words.len()));
        bar.finish();
        encoded += words.len();
        vectors
    };
    let of_basis: Option<Matrix> =
        (!basis.is_empty() && arguments.size > 0).then(|| encode("words of the basis", &basis));
    let vectors = encode("words", &words);
    let words_per_second = encoded as f64 / start.elapsed().as_secs_f64();

    let projection = match arguments.size {
        0 => None,
        size => match Projection::new(of_basis.as_ref().unwrap_or(&vectors), size) {
            Ok(projection) => Some(projection),
            Err(error) => bail!("{error}; --size 0 writes vectors without one"),
        },
    };
    let vectors = match &projection {
        Some(projection) => projection.apply(&vectors),
        None => vectors,
    };
    let rows = words.iter().enumerate().map(|(row, word)| (word.as_str(), vectors.row(row)));
    Embeddings::write(&arguments.out, rows)?;

    let report = VectorsReport {
        file: &arguments.out,
        words: words.len(),
        size: vectors.columns(),
        kept_variance: projection.map(|projection| projection.kept_variance()),
        words_per_second,
    };
    if arguments.output.json {
        return write_json(out, &report);
    }
    let kept = report.kept_variance.map(|kept| format!(", which keep {:.1} % of the variance", 100.0 * kept));
    let file = arguments.out.display();
    writeln!(
        out,
        "Wrote {file}: {} words with {} numbers{}.",
        report.words,
        report.size,
        kept.unwrap_or_default()
    )?;
    Ok(writeln!(out, "Encoded {:.0} words per second.", report.words_per_second)?)
}

/// Returns the vectors of words, projected to `size` numbers by their principal components, with progress.
pub(super) fn projected(model: &Path, words: &[String], size: usize) -> Result<Embeddings> {
    let encoder = SentenceEncoder::open(model)?;
    let texts: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut bar = LoadingBar::new();
    let vectors = word_vectors(&encoder, &texts, |done| bar.show("words encoded", done, texts.len()));
    bar.finish();
    let vectors = Projection::new(&vectors, size)?.apply(&vectors);
    let rows = words.iter().enumerate().map(|(row, word)| (word.clone(), vectors.row(row).to_vec()));
    Ok(Embeddings { words: words.to_vec(), vectors: rows.collect(), size })
}

/// Returns the distinct words of some text files, in the order of their first occurrence.
fn read_words(files: &[PathBuf]) -> Result<Vec<String>> {
    let mut words = Vec::new();
    let mut known = HashSet::new();
    for file in files {
        let tokens = xpr_text::tokenize(&xpr_data::read_text(file)?);
        if tokens.is_empty() {
            bail!("{}: there are no words in this file", file.display());
        }
        words.extend(tokens.into_iter().filter(|word| known.insert(word.clone())));
    }
    Ok(words)
}

/// Fails if the file cannot be created because of its folder, before the words are encoded.
fn check_writable(file: &Path) -> Result<()> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        bail!("{}: there is no folder {}", file.display(), folder.display());
    }
    if file.is_dir() {
        bail!("{}: this is a folder; name a file", file.display());
    }
    Ok(())
}
