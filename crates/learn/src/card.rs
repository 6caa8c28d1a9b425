//! The card of a model: what it is, what it learned from, how good it is and where its limits are.
//!
//! It has no date and no duration: a run that was killed and gone on with has the same card.

use crate::{Config, Dataset, Evaluation, Experiment, HeldOut};
use std::fmt::Write;
use std::path::Path;
use toml::{Table, Value};
use xpr_parser::Model;

/// The interval that holds the share of successes in 95 of 100 samples of such a size (Wilson's).
pub fn binomial_interval(successes: usize, trials: usize) -> (f64, f64) {
    if trials == 0 {
        return (0.0, 1.0);
    }
    const Z: f64 = 1.959_964;
    let (n, share) = (trials as f64, successes as f64 / trials as f64);
    let middle = (share + Z * Z / (2.0 * n)) / (1.0 + Z * Z / n);
    let half = Z / (1.0 + Z * Z / n) * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
    // At the ends it is exact, whatever rounding says.
    let low = if successes == 0 { 0.0 } else { (middle - half).max(0.0) };
    let high = if successes == trials { 1.0 } else { (middle + half).min(1.0) };
    (low, high)
}

/// The card of a model that was trained and evaluated.
pub(crate) fn card(experiment: &Experiment, model: &Model, evaluation: &Evaluation) -> String {
    let config = experiment.config();
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write_card(&mut text, experiment, model, config, evaluation);
    text
}

fn write_card(
    text: &mut String,
    experiment: &Experiment,
    model: &Model,
    config: &Config,
    evaluation: &Evaluation,
) -> std::fmt::Result {
    let name = match config.data.dataset {
        Dataset::Overnight => config.data.domain.as_str(),
        Dataset::Database => config.data.database_name(),
    };
    writeln!(text, "# A parser for questions about {}\n", line(name))?;
    writeln!(text, "It writes {} for a question.\n", experiment.task().language().name())?;

    writeln!(text, "## What it learned from\n")?;
    let about = match config.data.dataset {
        Dataset::Overnight => format!("the domain {} of the Overnight benchmark", line(name)),
        Dataset::Database => format!("the database {}", line(name)),
    };
    writeln!(text, "- Data: {about}")?;
    let train = experiment.train_examples().len();
    let share = 100.0 * config.data.fraction;
    writeln!(
        text,
        "- Labeled questions: {train} ({share:.0} % of the training data, split {})",
        config.data.split
    )?;
    let left_out = experiment.left_out().len();
    if left_out > 0 {
        writeln!(text, "- Left out, because the grammar cannot write their programs: {left_out}")?;
    }
    let unlabeled = experiment.unlabeled_examples().len();
    match config.learn.objective {
        Some(objective) => writeln!(
            text,
            "- Unlabeled questions: {unlabeled}, learned from with the objective {}",
            objective.name()
        )?,
        None => writeln!(text, "- Unlabeled questions: {unlabeled}, not learned from")?,
    }

    writeln!(text, "\n## What it is\n")?;
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
        grammar.items(),
        experiment.task().vocabulary().words().len()
    )?;
    if config.eval.channel > 0.0 {
        writeln!(text, "- Candidates are weighed by how well they explain the words of their question")?;
    }
    let changed = changed_settings(config);
    if !changed.is_empty() {
        writeln!(text, "\nSettings that are not the defaults:\n")?;
        for (key, value) in changed {
            writeln!(text, "- `{key} = {}`", line(&value).replace('`', "'"))?;
        }
    }

    writeln!(text, "\n## How good it is\n")?;
    let tested = match (config.data.held_out, config.data.held_out_from) {
        (0, _) => "test questions".to_owned(),
        (_, HeldOut::Labeled) => "labeled training questions that were held out; not the test".to_owned(),
        (_, HeldOut::Rest) => "training questions that were held out; not the test".to_owned(),
    };
    let examples = evaluation.examples;
    writeln!(text, "Tested on {examples} {tested}.\n")?;
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let right = (evaluation.accuracy * examples as f64).round() as usize;
    let (low, high) = binomial_interval(right, examples);
    writeln!(
        text,
        "- Right answers: {} (95 % interval {:.1} to {:.1})",
        percent(evaluation.accuracy),
        100.0 * low,
        100.0 * high
    )?;
    writeln!(text, "- The labeled program itself: {}", percent(evaluation.exact))?;
    writeln!(text, "- Right answer among the candidates: {}", percent(evaluation.in_beam))?;
    writeln!(text, "- Best program executes: {}", percent(evaluation.executable))?;

    writeln!(text, "\n## Limits\n")?;
    writeln!(
        text,
        "- An answer counts as right if it is the labeled program's; a wrong program can find it by luck."
    )?;
    if examples < 200 {
        writeln!(text, "- The test is small: the interval above is wide.")?;
    }
    if config.data.held_out > 0 {
        writeln!(text, "- Settings may have been chosen by this figure. It is no test result.")?;
    }
    let unwritable = experiment.test_examples().iter().filter(|example| example.program.is_none()).count();
    if unwritable > 0 {
        writeln!(
            text,
            "- {unwritable} of the questions above have a program that its grammar cannot write."
        )?;
    }
    writeln!(
        text,
        "- It knows this data only, and questions unlike those it learned from it often gets wrong."
    )?;
    writeln!(text, "- It always answers. Its probability says how sure it is, and it can be surely wrong.")?;
    Ok(())
}

/// The settings that are not the defaults. Where files are is nobody's business but their owner's: of a path its last
/// part is told.
fn changed_settings(config: &Config) -> Vec<(String, String)> {
    let table = |config: &Config| Table::try_from(config).unwrap_or_default();
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

/// A name on one line.
fn line(name: &str) -> String {
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

    #[test]
    fn settings_are_told_without_where_files_are() {
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
