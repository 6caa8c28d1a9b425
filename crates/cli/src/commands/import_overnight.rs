//! `xpr data import overnight`: what is in the benchmark.

use super::{native_world, write_json};
use crate::arguments::ImportOvernightArguments;
use crate::table;
use anyhow::{Context, Result, bail};
use serde::Serialize;
use std::io::Write;
use xpr_data::{Overnight, OvernightPart};
use xpr_exec::{Executor, KnowledgeBaseEnvironment, Limits, Outcome, Runner, SymbolPhrase, overnight};
use xpr_lang::lambda_dcs::LambdaDcs;
use xpr_lang::{Environment, Language};

#[derive(Serialize)]
struct Report {
    dataset: &'static str,
    domains: Vec<Domain>,
}

/// What was found in a domain; shares are of its training programs.
#[derive(Serialize)]
struct Domain {
    domain: &'static str,
    train: usize,
    test: usize,
    items: usize,
    executable: f64,
    empty: f64,
    covered: f64,
    actions: f64,
    /// Phrases of the lexicon for things that the world does not have.
    unknown_phrases: Vec<String>,
}

pub(crate) fn run(arguments: &ImportOvernightArguments, out: &mut dyn Write) -> Result<()> {
    let data = Overnight::open(&arguments.from)?;
    let language = LambdaDcs::new();
    let domains: Vec<Domain> =
        overnight::WORLDS.into_iter().map(|name| domain(name, &data, &language)).collect::<Result<_>>()?;
    let report = Report { dataset: "overnight", domains };
    if arguments.json {
        write_json(out, &report)?;
    } else {
        write_table(out, &report)?;
    }
    Ok(())
}

fn domain(name: &'static str, data: &Overnight, language: &LambdaDcs) -> Result<Domain> {
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
    // The split is the training data in another order, or it is not this data's.
    let mut split = data.examples(name, OvernightPart::Split0)?;
    let mut sorted = train.clone();
    for part in [&mut split, &mut sorted] {
        part.sort_by(|left, right| (&left.utterance, &left.program).cmp(&(&right.utterance, &right.program)));
    }
    if split != sorted {
        bail!(
            "{} does not have the examples of {} in another order",
            data.path(name, OvernightPart::Split0).display(),
            data.path(name, OvernightPart::Train).display()
        );
    }
    let share = |count: usize| count as f64 / train.len().max(1) as f64;
    Ok(Domain {
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

fn write_table(out: &mut dyn Write, report: &Report) -> Result<()> {
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let domains = &report.domains;
    let total = |count: fn(&Domain) -> usize| domains.iter().map(count).sum::<usize>();
    let mean = |share: fn(&Domain) -> f64| {
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
        writeln!(out, "\nPhrases for things that the world does not have, left out:")?;
        writeln!(out, "{}", unknown.join("\n"))?;
    }
    Ok(())
}
