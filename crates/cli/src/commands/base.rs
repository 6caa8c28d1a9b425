//! `xpr base`: prints the card of the built-in base, or makes the files of such a base.

use super::pretrain::pretrain;
use super::{use_threads, vectors, write_json};
use crate::arguments::BaseArguments;
use crate::commands::loading_bar::LoadingBar;
use crate::printer;
use anyhow::{Context, Result, bail};
use serde::Serialize;
use std::collections::HashSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use xpr_base::{CARD_FILE, CHECKSUMS_FILE, PARSER_FILE, PATTERNS_FILE, VECTORS_FILE};
use xpr_data::{Embeddings, read_bytes, read_text, write_file};
use xpr_learn::experiment::{DatabaseRecord, PackedBase, Pretraining, ZeroShotEvaluation};
use xpr_learn::synthesis::Patterns;
use xpr_run::{
    Evaluation, Manifest, PretrainConfig, Reward, RunFile, RunFolder, fingerprint, fingerprint_bytes,
};

/// The share of the questions about held-out databases that packing may cost.
const MAX_LOSS: f64 = 0.01;

/// The output of `--json`.
#[derive(Serialize)]
struct BaseReport {
    folder: PathBuf,
    /// The sizes of the files together.
    bytes: usize,
    /// On the databases that are held out, before packing.
    trained: Evaluation,
    /// On the same databases, as the files have it.
    packed: Evaluation,
    /// On each of these databases, with what was fitted on the others.
    crossed: Evaluation,
}

pub(crate) fn run(arguments: &BaseArguments, out: &mut dyn Write) -> Result<()> {
    use_threads(arguments.pool.threads)?;
    let Some(folder) = &arguments.out else { return write_card(arguments, out) };
    if let (true, Some(file)) = (arguments.patterns, &arguments.file) {
        return write_patterns(arguments, file, folder, out);
    }
    let pretrained = match (&arguments.file, &arguments.from, &arguments.embeddings) {
        (Some(file), _, _) => Pretrained::make(arguments, file)?,
        (None, Some(base), Some(vectors)) => Pretrained::open(base, vectors, arguments.data.as_deref())?,
        _ => bail!(
            "name the settings of pretraining, such as experiments/pretraining/spider.toml, or a base with --from"
        ),
    };
    let report = pretrained.pack(&arguments.work.join("packed"), folder)?;
    if arguments.output.json {
        return write_json(out, &report);
    }
    let megabytes = report.bytes as f64 / 1e6;
    writeln!(
        out,
        "Wrote {PARSER_FILE}, {VECTORS_FILE}, {PATTERNS_FILE}, {CHECKSUMS_FILE} and {CARD_FILE} to {}: {megabytes:.1} MB.",
        folder.display()
    )?;
    let Evaluation { examples, accuracy: packed, .. } = report.packed;
    writeln!(
        out,
        "Right answers to {examples} questions about databases that are held out: {:.1} % packed, {:.1} % before.",
        100.0 * packed,
        100.0 * report.trained.accuracy
    )?;
    Ok(())
}

/// Writes what the built-in base is.
fn write_card(arguments: &BaseArguments, out: &mut dyn Write) -> Result<()> {
    let bytes = xpr_base::parser()?.len() + xpr_base::vectors()?.len() + xpr_base::patterns()?.len();
    if arguments.output.json {
        let checksums: serde_json::Map<String, serde_json::Value> = xpr_base::CHECKSUMS
            .lines()
            .filter_map(|line| line.split_once("  "))
            .map(|(checksum, name)| (name.to_owned(), checksum.into()))
            .collect();
        return write_json(
            out,
            &serde_json::json!({ "bytes": bytes, "sha256": checksums, "card": xpr_base::CARD }),
        );
    }
    Ok(write!(out, "{}\n{}", xpr_base::README, xpr_base::CARD)?)
}

/// A base in the folder of its pretraining.
struct Pretrained {
    folder: RunFolder,
    config: PretrainConfig,
    /// The word vectors that it was trained with.
    vectors: Embeddings,
}

impl Pretrained {
    /// Opens a base that `xpr pretrain` made.
    fn open(base: &Path, vectors: &Path, data: Option<&Path>) -> Result<Self> {
        let folder = RunFolder::open(base)?;
        if !folder.is_finished() {
            bail!("{}: pretraining is not finished; resume it with xpr pretrain --resume", base.display());
        }
        let config = PretrainConfig::read(&folder.path(RunFile::Config), &[], data)?;
        Ok(Pretrained { folder, config, vectors: Embeddings::open(vectors)? })
    }

    /// Makes the word vectors and trains the base, as far as an earlier command has not.
    fn make(arguments: &BaseArguments, file: &Path) -> Result<Self> {
        let mut config = PretrainConfig::read(file, &arguments.set, arguments.data.as_deref())?;
        let work = &arguments.work;
        fs::create_dir_all(work).with_context(|| work.display().to_string())?;
        config.data.embeddings = fs::canonicalize(work)?.join(VECTORS_FILE);
        make_vectors(arguments, &config)?;
        let vectors = Embeddings::open(&config.data.embeddings)?;

        let path = work.join("pretrained");
        let folder = match RunFolder::open(&path) {
            Err(_) => {
                let folder = RunFolder::create(&path)?;
                pretrain(config.clone(), &folder, false)?;
                folder
            }
            Ok(folder) => {
                let started = PretrainConfig::read(&folder.path(RunFile::Config), &[], None)?;
                if config.eval.prefer == Reward::Auto {
                    // Pretraining records what the labels decide.
                    config.eval.prefer = started.eval.prefer;
                }
                if started != config {
                    bail!(
                        "{} was begun with other settings; remove it, or name another folder with --work",
                        path.display()
                    );
                }
                // Its name does not tell whether the word vectors were made again.
                Pretraining::check_data(&started, &folder)?;
                if !folder.is_finished() {
                    let folder = RunFolder::open_locked(&path)?;
                    pretrain(started, &folder, true)?;
                }
                folder
            }
        };
        Ok(Pretrained { folder, config, vectors })
    }

    /// Learns the patterns of the questions it was trained on.
    fn patterns(&self) -> Result<Vec<u8>> {
        learn_patterns(&self.config)
    }

    /// Packs the base, compares it with the one that was trained, and writes its files to a folder.
    fn pack(&self, work: &Path, out: &Path) -> Result<BaseReport> {
        let PackedBase { parser, vectors } = PackedBase::of_folder(self.folder.folder(), &self.vectors)?;
        let patterns = self.patterns()?;
        let contents = [(PARSER_FILE, &parser[..]), (VECTORS_FILE, &vectors), (PATTERNS_FILE, &patterns)];
        let checksums = xpr_base::checksums(&contents);
        let mut files = contents.to_vec();
        files.push((CHECKSUMS_FILE, checksums.as_bytes()));
        write_files(work, &files)?;
        let crossed = Evaluation::read(&self.folder)?;
        let evaluate = |base: &Path, what: &str| -> Result<Evaluation> {
            if self.config.data.held_out == 0 {
                return Ok(crossed);
            }
            let _ =
                writeln!(printer::stderr(), "asking the {what} base about the databases that are held out");
            Ok(ZeroShotEvaluation::of_held_out(base, &self.config)?.over_questions())
        };
        let (trained, packed) = (evaluate(self.folder.folder(), "trained")?, evaluate(work, "packed")?);
        if packed.accuracy < trained.accuracy - MAX_LOSS {
            bail!(
                "the packed base answers {:.1} % of the questions, and before it was packed {:.1} %; nothing was written to {}",
                100.0 * packed.accuracy,
                100.0 * trained.accuracy,
                out.display()
            );
        }
        let report = BaseReport {
            folder: out.to_owned(),
            bytes: parser.len() + vectors.len() + patterns.len(),
            trained,
            packed,
            crossed,
        };
        let card = self.card(&report, &checksums)?;
        write_files(out, &files)?;
        write_files(out, &[(CARD_FILE, card.as_bytes())])?;
        Ok(report)
    }

    /// Returns the card: what the parser was trained on, and how often it is right.
    fn card(&self, report: &BaseReport, checksums: &str) -> Result<String> {
        let PretrainConfig { data, model, train, .. } = &self.config;
        let manifest = Manifest::read(&self.folder)?;
        let databases: Vec<DatabaseRecord> =
            self.folder.read_checked_json(RunFile::Databases, manifest.as_ref())?;
        let (held_out, learned): (Vec<&DatabaseRecord>, Vec<&DatabaseRecord>) =
            databases.iter().partition(|database| database.evaluation.is_some());
        let questions: usize = learned.iter().map(|database| database.questions - database.left_out).sum();
        let names: Vec<&str> = held_out.iter().map(|database| database.name.as_str()).collect();
        let folders: Vec<_> = data.folders.iter().map(|folder| last_names(folder)).collect();
        let mut card = format!(
            "## Figures\n\n- Trained on: {questions} questions about {} databases ({}), {} steps of {}, seed {}.\n",
            learned.len(),
            folders.join(", "),
            train.steps,
            train.batch,
            train.seed
        );
        card.push_str(&format!(
            "- Size: hidden {}, {} layers, {} words with {} numbers each.\n",
            model.hidden,
            model.layers,
            self.vectors.words.len(),
            self.vectors.size
        ));
        if !held_out.is_empty() {
            let percent = |evaluation: &Evaluation| format!("{:.1} %", 100.0 * evaluation.accuracy);
            card.push_str(&format!(
                "- Right answers to {} questions about {} databases it was not trained on, without a label: **{}** (what is fitted on \
                 them, such as the confidence, is fitted on the others).\n- With all that is fitted: {} as packed, {} before.\n\
                 - Held out: {}.\n",
                report.crossed.examples,
                held_out.len(),
                percent(&report.crossed),
                percent(&report.packed),
                percent(&report.trained),
                names.join(", ")
            ));
        }
        card.push_str(&format!("\nSHA-256:\n\n```text\n{checksums}```\n"));
        Ok(card)
    }
}

/// Learns the patterns of questions anew, and writes them and the checksums of all files.
fn write_patterns(arguments: &BaseArguments, file: &Path, folder: &Path, out: &mut dyn Write) -> Result<()> {
    let config = PretrainConfig::read(file, &arguments.set, arguments.data.as_deref())?;
    let content = learn_patterns(&config)?;
    let list = folder.join(CHECKSUMS_FILE);
    let others = read_text(&list)?;
    let others = others.lines().filter(|line| !line.ends_with(&format!("  {PATTERNS_FILE}")));
    let mut checksums: String = others.map(|line| format!("{line}\n")).collect();
    checksums.push_str(&xpr_base::checksums(&[(PATTERNS_FILE, &content)]));
    write_files(folder, &[(PATTERNS_FILE, &content), (CHECKSUMS_FILE, checksums.as_bytes())])?;
    let lines = content.iter().filter(|byte| **byte == b'\n').count();
    Ok(writeln!(out, "Wrote {lines} patterns to {}.", folder.join(PATTERNS_FILE).display())?)
}

/// Returns the patterns of the questions that a base is trained on, as the file has them.
fn learn_patterns(config: &PretrainConfig) -> Result<Vec<u8>> {
    let mut bar = LoadingBar::new();
    let patterns = Patterns::learn(&config.data, &mut |done, total| {
        bar.show("databases read for patterns of their questions", done, total);
    });
    bar.finish();
    Ok(patterns?.to_json_lines()?)
}

/// Returns the last two names of a path.
fn last_names(path: &Path) -> String {
    let names: Vec<String> = path.iter().map(|name| name.to_string_lossy().into_owned()).collect();
    names[names.len().saturating_sub(2)..].join("/")
}

/// Makes the word vectors of pretraining, unless they are there.
fn make_vectors(arguments: &BaseArguments, config: &PretrainConfig) -> Result<()> {
    let (model, frequent) =
        arguments.model.as_ref().zip(arguments.words.as_ref()).context("--model and --words are needed")?;
    let mut words = frequent_words(frequent, arguments.frequent as usize)?;
    let mut known: HashSet<String> = words.iter().cloned().collect();
    let mut bar = LoadingBar::new();
    let of_databases = Pretraining::words(config, &mut |done, total| {
        bar.show("databases read for their words", done, total);
    });
    bar.finish();
    words.extend(of_databases?.into_iter().filter(|word| known.insert(word.clone())));

    let file = &config.data.embeddings;
    let weights = model.join("model.safetensors");
    let weights = read_bytes(&weights).with_context(|| weights.display().to_string())?;
    let size = arguments.size.to_string();
    let parts =
        [fingerprint_bytes(&weights), size].into_iter().chain(words.iter().cloned()).collect::<Vec<_>>();
    let made_of = fingerprint(parts.iter().map(String::as_str));
    let record = file.with_extension("made-of");
    if file.is_file() && fs::read_to_string(&record).is_ok_and(|earlier| earlier == made_of) {
        return Ok(());
    }
    let vectors = vectors::projected(model, &words, arguments.size as usize)?;
    write_file(file, &vectors.to_packed()).with_context(|| file.display().to_string())?;
    write_file(&record, made_of.as_bytes()).with_context(|| record.display().to_string())
}

/// Returns the first words of a file whose lines begin with a word.
fn frequent_words(file: &Path, count: usize) -> Result<Vec<String>> {
    let text = read_text(file)?;
    let lines = text.lines().filter_map(|line| line.split_whitespace().next());
    let mut known = HashSet::new();
    let tokens = lines.take(count).flat_map(xpr_text::tokenize).filter(|word| known.insert(word.clone()));
    let words: Vec<String> = tokens.collect();
    if words.is_empty() {
        bail!("{}: there are no words in this file", file.display());
    }
    Ok(words)
}

fn write_files(folder: &Path, files: &[(&str, &[u8])]) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    for (name, content) in files {
        let path = folder.join(name);
        write_file(&path, content).with_context(|| path.display().to_string())?;
    }
    Ok(())
}
