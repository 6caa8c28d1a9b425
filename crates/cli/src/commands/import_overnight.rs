//! `xpr data import overnight`: checks the benchmark and prints statistics.

use super::{native_world, write_json};
use crate::arguments::ImportOvernightArguments;
use crate::table;
use anyhow::{Context, Result, bail};
use serde::Serialize;
use std::io::Write;
use xpr_data::{Example, Overnight, OvernightPart};
use xpr_exec::{Executor, KnowledgeBaseEnvironment, Limits, Outcome, Runner, SymbolPhrase, overnight};
use xpr_lang::lambda_dcs::LambdaDcs;
use xpr_lang::{Environment, Language};

/// The statistics of the benchmark.
#[derive(Serialize)]
struct OvernightSummary {
    dataset: &'static str,
    domains: Vec<DomainSummary>,
}

/// The statistics of a domain. Shares are of its training programs.
#[derive(Serialize)]
struct DomainSummary {
    domain: &'static str,
    train: usize,
    test: usize,
    items: usize,
    executable: f64,
    empty: f64,
    covered: f64,
    actions: f64,
    /// Phrases of the lexicon for symbols that are not in the knowledge base.
    unknown_phrases: Vec<String>,
}

pub(crate) fn run(arguments: &ImportOvernightArguments, out: &mut dyn Write) -> Result<()> {
    let data = Overnight::open(&arguments.from)?;
    let language = LambdaDcs::new();
    let domains: Vec<DomainSummary> =
        overnight::WORLDS.into_iter().map(|name| summarize(name, &data, &language)).collect::<Result<_>>()?;
    let summary = OvernightSummary { dataset: "overnight", domains };
    if arguments.output.json { write_json(out, &summary) } else { write_table(out, &summary.domains) }
}

fn summarize(name: &'static str, data: &Overnight, language: &LambdaDcs) -> Result<DomainSummary> {
    let world = native_world(name)?;
    let phrases: Vec<SymbolPhrase> = data
        .lexicon(name)?
        .into_iter()
        .map(|entry| SymbolPhrase { symbol: entry.symbol, phrase: entry.phrase })
        .collect();
    let environment = KnowledgeBaseEnvironment::new(&world, language, &phrases);
    let grammar = language.signatures().grammar(environment.items()).with_context(|| name.to_owned())?;
    let mut runner = Runner::new(&world, Limits::default());

    let train = data.examples(name, OvernightPart::Train)?;
    let (mut executable, mut empty, mut covered, mut actions) = (0, 0, 0, 0);
    for example in &train {
        let outcome = runner.execute(&example.program);
        executable += usize::from(outcome.executes());
        empty += usize::from(outcome == Outcome::Empty);
        if let Ok(program) = language.read(&example.program, &grammar, &environment) {
            covered += 1;
            actions += program.actions().len();
        }
    }
    check_split(name, data, &train)?;
    let share = |count: usize| count as f64 / train.len().max(1) as f64;
    Ok(DomainSummary {
        domain: name,
        train: train.len(),
        test: data.examples(name, OvernightPart::Test)?.len(),
        items: environment.items().len(),
        executable: share(executable),
        empty: share(empty),
        covered: share(covered),
        actions: actions as f64 / covered.max(1) as f64,
        unknown_phrases: environment
            .unknown_phrases()
            .iter()
            .map(|phrase| format!("{} = {}", phrase.phrase, phrase.symbol))
            .collect(),
    })
}

/// Checks that the authors' split is a permutation of the training examples.
fn check_split(name: &'static str, data: &Overnight, train: &[Example]) -> Result<()> {
    let mut split = data.examples(name, OvernightPart::Split0)?;
    let mut train = train.to_vec();
    for examples in [&mut split, &mut train] {
        examples
            .sort_by(|left, right| (&left.utterance, &left.program).cmp(&(&right.utterance, &right.program)));
    }
    if split != train {
        bail!(
            "{} does not have the examples of {} in another order; both files must be from the same release",
            data.path(name, OvernightPart::Split0).display(),
            data.path(name, OvernightPart::Train).display()
        );
    }
    Ok(())
}

fn write_table(out: &mut dyn Write, domains: &[DomainSummary]) -> Result<()> {
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let total = |count: fn(&DomainSummary) -> usize| domains.iter().map(count).sum::<usize>();
    let mean = |share: fn(&DomainSummary) -> f64| {
        let weighted: f64 = domains.iter().map(|domain| share(domain) * domain.train as f64).sum();
        weighted / total(|domain| domain.train).max(1) as f64
    };
    let mut rows: Vec<Vec<String>> = domains
        .iter()
        .map(|domain| {
            vec![
                domain.domain.to_owned(),
                domain.train.to_string(),
                domain.test.to_string(),
                domain.items.to_string(),
                percent(domain.executable),
                percent(domain.empty),
                percent(domain.covered),
                format!("{:.1}", domain.actions),
            ]
        })
        .collect();
    rows.push(vec![
        "all".to_owned(),
        total(|domain| domain.train).to_string(),
        total(|domain| domain.test).to_string(),
        String::new(),
        percent(mean(|domain| domain.executable)),
        percent(mean(|domain| domain.empty)),
        percent(mean(|domain| domain.covered)),
        format!("{:.1}", mean(|domain| domain.actions)),
    ]);
    let headings = ["domain", "train", "test", "items", "executable", "empty", "covered", "actions"];
    table::write(out, &headings, &rows)?;

    let unknown: Vec<String> = domains
        .iter()
        .filter(|domain| !domain.unknown_phrases.is_empty())
        .map(|domain| format!("  {}: {}", domain.domain, domain.unknown_phrases.join(", ")))
        .collect();
    if !unknown.is_empty() {
        writeln!(out, "\nIgnored phrases, whose symbols are not in the knowledge base:")?;
        writeln!(out, "{}", unknown.join("\n"))?;
    }
    Ok(())
}
