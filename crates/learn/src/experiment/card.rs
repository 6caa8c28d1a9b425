//! The model card: what the model was trained on, how good it is, and its limits.
//!
//! A card has no date and no duration, so that a run that was resumed has the same card.

use super::load::Experiment;
use std::fmt::{self, Write};
use std::path::Path;
use toml::{Table, Value};
use xpr_data::Example;
use xpr_parser::{Model, TrainableParser};
use xpr_run::{Config, Dataset, Evaluation, HeldOut};

/// Returns the 95 % confidence interval of a share (Wilson's).
pub fn binomial_interval(successes: usize, trials: usize) -> (f64, f64) {
    if trials == 0 {
        return (0.0, 1.0);
    }
    const Z: f64 = 1.959_964;
    let (n, share) = (trials as f64, successes as f64 / trials as f64);
    let middle = (share + Z * Z / (2.0 * n)) / (1.0 + Z * Z / n);
    let half = Z / (1.0 + Z * Z / n) * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
    // The ends are exact, whatever the rounding.
    let low = if successes == 0 { 0.0 } else { (middle - half).max(0.0) };
    let high = if successes == trials { 1.0 } else { (middle + half).min(1.0) };
    (low, high)
}

/// Returns the card of a trained and evaluated model.
pub(super) fn card(experiment: &Experiment, model: &Model, evaluation: &Evaluation) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write_data(&mut text, experiment)
        .and_then(|()| write_model(&mut text, experiment, model))
        .and_then(|()| write_accuracy(&mut text, experiment, evaluation))
        .and_then(|()| write_limits(&mut text, experiment, evaluation));
    text
}

fn write_data(text: &mut String, experiment: &Experiment) -> fmt::Result {
    let config = experiment.config();
    let name = one_line(config.data.short_name());
    writeln!(text, "# A parser for questions about {name}\n")?;
    writeln!(text, "It writes {} for a question.\n", experiment.task().language().name())?;
    writeln!(text, "## Training data\n")?;
    match config.data.dataset {
        Dataset::Overnight => writeln!(text, "- Data: the domain {name} of the Overnight benchmark")?,
        Dataset::Database => writeln!(text, "- Data: the database {name}")?,
    }
    let (train, share) = (experiment.train_examples().len(), 100.0 * config.data.fraction);
    let split = config.data.split;
    writeln!(text, "- Labeled questions: {train} ({share:.0} % of the training data, split {split})")?;
    let left_out = experiment.left_out().len();
    if left_out > 0 {
        writeln!(text, "- Left out, because the grammar cannot write their programs: {left_out}")?;
    }
    let unlabeled = experiment.unlabeled_examples().len();
    match experiment.objective() {
        Some(objective) => {
            writeln!(text, "- Unlabeled questions: {unlabeled}, with the objective {}", objective.name())
        }
        None => writeln!(text, "- Unlabeled questions: {unlabeled}, not used"),
    }
}

fn write_model(text: &mut String, experiment: &Experiment, model: &Model) -> fmt::Result {
    let config = experiment.config();
    writeln!(text, "\n## Model\n")?;
    let (parameters, sizes) = (model.parameters().len(), model.config());
    writeln!(
        text,
        "- {parameters} weights: hidden size {}, {} relation-aware layers, {} heads",
        sizes.hidden, sizes.layers, sizes.heads
    )?;
    let grammar = experiment.task().scene().grammar();
    writeln!(
        text,
        "- {} rules and {} items in its grammar, {} words in its vocabulary",
        grammar.signatures().rules().len(),
        grammar.item_count(),
        experiment.task().vocabulary().words().len()
    )?;
    if config.eval.noisy_channel > 0.0 {
        writeln!(text, "- Candidates are re-ranked with a noisy channel")?;
    }
    let changed = changed_settings(config);
    if !changed.is_empty() {
        writeln!(text, "\nSettings that are not the defaults:\n")?;
        for (key, value) in changed {
            writeln!(text, "- `{key} = {}`", one_line(&value).replace('`', "'"))?;
        }
    }
    Ok(())
}

fn write_accuracy(text: &mut String, experiment: &Experiment, evaluation: &Evaluation) -> fmt::Result {
    let data = &experiment.config().data;
    let tested = match (data.held_out, data.held_out_from) {
        (0, _) => "test questions",
        (_, HeldOut::Labeled) => "held-out labeled training questions; this is not the test set",
        (_, HeldOut::Rest) => "held-out training questions; this is not the test set",
        (_, HeldOut::Transductive) => {
            "unlabeled training questions whose programs are known; this is not the test set"
        }
    };
    let examples = evaluation.examples;
    writeln!(text, "\n## Accuracy\n")?;
    writeln!(text, "Evaluated on {examples} {tested}.\n")?;
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let right = (evaluation.accuracy * examples as f64).round() as usize;
    let (low, high) = binomial_interval(right, examples);
    let interval = format!("95 % interval {:.1} to {:.1}", 100.0 * low, 100.0 * high);
    writeln!(text, "- Right answers: {} ({interval})", percent(evaluation.accuracy))?;
    writeln!(text, "- The labeled program itself: {}", percent(evaluation.exact))?;
    writeln!(text, "- Right answer among the candidates: {}", percent(evaluation.in_beam))?;
    writeln!(text, "- The most probable program executes: {}", percent(evaluation.executable))
}

fn write_limits(text: &mut String, experiment: &Experiment, evaluation: &Evaluation) -> fmt::Result {
    writeln!(text, "\n## Limits\n")?;
    writeln!(
        text,
        "- An answer counts as right if it equals that of the labeled program; a wrong program can find it by chance."
    )?;
    if evaluation.examples < 200 {
        writeln!(text, "- The test set is small, and so the interval above is wide.")?;
    }
    if experiment.config().data.held_out > 0 {
        writeln!(text, "- Settings may have been chosen by this accuracy. It is not a test result.")?;
    }
    if evaluation.failed_labels > 0 {
        let failed = evaluation.failed_labels;
        writeln!(text, "- The labeled programs of {failed} other questions fail; these are not counted.")?;
    }
    let judged = experiment.test_examples().iter().filter(|example| example.outcome.executes());
    let unwritable = judged.filter(|example| example.program.is_none()).count();
    if unwritable > 0 {
        writeln!(text, "- The grammar cannot write the programs of {unwritable} of the questions above.")?;
    }
    writeln!(
        text,
        "- It knows this data only, and is often wrong about questions unlike those it was trained on."
    )?;
    writeln!(text, "- It always answers. Its probability says how sure it is, and it can be sure and wrong.")
}

const TAUGHT: &str = "\n## Taught since\n\n";

/// Returns the card of a parser that was taught a label, from the card of the one before. It learns from `labels` questions.
pub(super) fn taught_card(
    card: &str,
    lesson: &Example,
    labels: usize,
    evaluation: &Evaluation,
    is_known: bool,
) -> String {
    let (mut text, taught) = card
        .split_once(TAUGHT)
        .map_or((card.to_owned(), ""), |(trained, taught)| (trained.to_owned(), taught));
    text.push_str(TAUGHT);
    text.push_str("What is above is about the parser before. Since then it has been taught:\n\n");
    let lesson =
        format!("- {}: `{}`", one_line(&lesson.utterance), one_line(&lesson.program).replace('`', "'"));
    for line in taught.lines().filter(|line| line.starts_with("- ")).chain([lesson.as_str()]) {
        text.push_str(line);
        text.push('\n');
    }
    text.push_str(&format!("\nIt now learns from {labels} labeled questions. "));
    let Evaluation { examples, accuracy, .. } = *evaluation;
    text.push_str(&match (examples, is_known) {
        (0, _) => "There are no other questions to test it on.\n".to_owned(),
        (_, true) => format!(
            "Of {examples} questions that it never learned, it answers {:.1} % right.\n",
            100.0 * accuracy
        ),
        (_, false) => format!(
            "Of {examples} questions, some of which it may have learned, it answers {:.1} % right.\n",
            100.0 * accuracy
        ),
    });
    text
}

/// Returns the settings that are not the defaults. Of a path, only the last part is shown: where somebody keeps their files is private.
fn changed_settings(config: &Config) -> Vec<(String, String)> {
    let table = |config: &Config| Table::try_from(config).expect("settings that were recorded are TOML");
    let (ours, defaults) = (table(config), table(&Config::default()));
    let mut changed = Vec::new();
    for (section, values) in &ours {
        for (key, value) in values.as_table().into_iter().flatten() {
            let default = defaults.get(section).and_then(|section| section.get(key));
            if (section == "data" && key == "folder") || default == Some(value) {
                continue;
            }
            let told = match value {
                Value::String(path) if section == "data" && (path.contains('/') || path.contains('\\')) => {
                    let last = Path::new(path).file_name().and_then(|name| name.to_str());
                    Value::String(last.unwrap_or_default().to_owned())
                }
                value => value.clone(),
            };
            changed.push((format!("{section}.{key}"), told.to_string()));
        }
    }
    changed
}

/// Replaces control characters, so that a name stays on its line.
fn one_line(name: &str) -> String {
    name.replace(char::is_control, " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_wilsons() {
        // 8 of 10, computed by hand: (0.8 + 0.19207) / 1.38415 ± 1.41600 × sqrt(0.016 + 0.0096).
        let (low, high) = binomial_interval(8, 10);
        assert!((low - 0.4902).abs() < 1e-3 && (high - 0.9433).abs() < 1e-3, "{low} {high}");
        assert_eq!(binomial_interval(0, 0), (0.0, 1.0));
        assert_eq!(binomial_interval(0, 5).0, 0.0);
        assert_eq!(binomial_interval(5, 5).1, 1.0);
    }

    /// Issue 18: the card of a taught parser had the labels and the accuracy of the one before, and nothing else.
    #[test]
    fn the_card_of_a_taught_parser_counts_its_lessons() {
        let label = |utterance: &str| Example {
            utterance: utterance.to_owned(),
            program: "SELECT `a`\nFROM b".to_owned(),
        };
        let evaluation = |examples: usize| Evaluation { examples, accuracy: 0.25, ..Evaluation::default() };
        let first = taught_card("# A parser\n", &label("one"), 26, &evaluation(4), true);
        let second = taught_card(&first, &label("two"), 27, &evaluation(0), true);
        assert!(
            first.contains("\n- one: `SELECT 'a' FROM b`\n\nIt now learns from 26 labeled questions. "),
            "{first}"
        );
        assert!(
            first.ends_with("Of 4 questions that it never learned, it answers 25.0 % right.\n"),
            "{first}"
        );
        assert!(
            second.starts_with("# A parser\n\n## Taught since\n\n") && second.contains("\n- one: `"),
            "{second}"
        );
        assert!(second.contains("\n- two: `") && !second.contains("26 labeled"), "{second}");
        assert_eq!(second.matches("Taught since").count(), 1);
    }

    #[test]
    fn changed_settings_do_not_reveal_folders() {
        let mut config = Config::default();
        assert!(changed_settings(&config).is_empty());
        config.data.folder = "/home/somebody/secret".into();
        config.data.embeddings = "/home/somebody/glove.txt".into();
        config.data.database = "sqlite:/srv/music.db".into();
        config.train.steps = 7;
        let changed: Vec<String> =
            changed_settings(&config).into_iter().map(|(key, value)| format!("{key}={value}")).collect();
        assert_eq!(changed, ["data.database=\"music.db\"", "data.embeddings=\"glove.txt\"", "train.steps=7"]);
    }
}
