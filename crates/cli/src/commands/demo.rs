//! `xpr demo`: the idea of the method on an embedded world.
//!
//! For a few questions there are several programs that a parser might guess. Running them tells most wrong
//! ones from the right one, and nobody had to label anything: that is the signal that training will use.

use super::{native_world, write_json};
use crate::arguments::DemoArguments;
use anyhow::Result;
use serde::Serialize;
use std::io::Write;
use std::time::Instant;
use xpr_exec::{Executor, Limits, Outcome, Runner};

/// A question, the program that means it, and programs that a parser might guess instead.
struct Question {
    utterance: &'static str,
    right: &'static str,
    wrong: &'static [&'static str],
}

const WORLD: &str = "calendar";

const QUESTIONS: &[Question] = &[
    Question {
        utterance: "when does the annual review start",
        right: "( call SW.listValue ( call SW.getProperty en.meeting.annual_review ( string start_time ) ) )",
        wrong: &[
            "( call SW.listValue ( call SW.getProperty en.meeting.annual_review ( string begin ) ) )",
            "( call SW.listValue ( call SW.getProperty en.person.alice ( string start_time ) ) )",
            "( call SW.listValue ( call SW.getProperty en.meeting.annual_review ( string end_time ) ) )",
        ],
    },
    Question {
        utterance: "which important meetings does alice attend at the cafe before 10 am",
        right: "( call SW.listValue ( call SW.filter ( call SW.filter ( call SW.filter ( call SW.filter \
                ( call SW.getProperty ( call SW.singleton en.meeting ) ( string !type ) ) ( string is_important ) ) \
                ( string attendee ) ( string = ) en.person.alice ) ( string location ) ( string = ) \
                en.location.greenberg_cafe ) ( call SW.ensureNumericProperty ( string start_time ) ) ( string < ) \
                ( call SW.ensureNumericEntity ( time 10 0 ) ) ) )",
        wrong: &[
            "( call SW.listValue ( call SW.filter ( call SW.getProperty ( call SW.singleton en.meeting ) \
             ( string !type ) ) ( string location ) ( string = ) en.person.alice ) )",
            "( call SW.listValue ( call SW.filter ( call SW.getProperty ( call SW.singleton en.meeting ) \
             ( string !type ) ) ( string attendee ) ) )",
            "( call SW.listValue ( call SW.filter ( call SW.getProperty ( call SW.singleton en.meeting ) \
             ( string !type ) ) ( call SW.ensureNumericProperty ( string location ) ) ( string < ) \
             ( call SW.ensureNumericEntity ( time 10 0 ) ) ) )",
        ],
    },
    Question {
        utterance: "where are the longest meetings on january 2",
        right: "( call SW.listValue ( call SW.getProperty ( call SW.superlative ( call SW.filter \
                ( call SW.getProperty ( call SW.singleton en.meeting ) ( string !type ) ) ( string date ) \
                ( string = ) ( date 2015 1 2 ) ) ( string max ) ( call SW.ensureNumericProperty \
                ( string length ) ) ) ( string location ) ) )",
        wrong: &[
            "( call SW.listValue ( call SW.filter ( call SW.getProperty ( call SW.singleton en.meeting ) \
             ( string !type ) ) ( string date ) ( string = ) ( date 2015 2 1 ) ) )",
            "( call SW.listValue ( call SW.superlative ( call SW.getProperty ( call SW.singleton en.location ) \
             ( string !type ) ) ( string max ) ( string length ) ) )",
        ],
    },
    Question {
        utterance: "how many meetings take three hours",
        right: "( call SW.listValue ( call .size ( call SW.filter ( call SW.getProperty ( call SW.singleton \
                en.meeting ) ( string !type ) ) ( string length ) ( string = ) ( number 3 en.hour ) ) ) )",
        wrong: &[
            "( call SW.listValue ( call .size ( call SW.filter ( call SW.getProperty ( call SW.singleton \
             en.meeting ) ( string !type ) ) ( string length ) ( string = ) ( time 3 0 ) ) ) )",
            "( call SW.listValue ( call SW.filter ( call SW.getProperty ( call SW.singleton en.meeting ) \
             ( string !type ) ) ( string length ) ( string = ) ( number 300 en.hour ) ) )",
        ],
    },
    Question {
        utterance: "how long are bob's meetings on average",
        right: "( call SW.listValue ( call SW.aggregate ( string avg ) ( call SW.getProperty ( call SW.filter \
                ( call SW.getProperty ( call SW.singleton en.meeting ) ( string !type ) ) ( string attendee ) \
                ( string = ) en.person.bob ) ( string length ) ) ) )",
        wrong: &[
            "( call SW.listValue ( call SW.aggregate ( string avg ) ( call SW.getProperty ( call SW.filter \
             ( call SW.getProperty ( call SW.singleton en.meeting ) ( string !type ) ) ( string attendee ) \
             ( string = ) en.person.bob ) ( string date ) ) ) )",
        ],
    },
];

#[derive(Serialize)]
struct Report {
    world: &'static str,
    values: usize,
    properties: usize,
    questions: Vec<Answered>,
    wrong_programs: usize,
    /// Wrong programs that fail or find nothing.
    told_apart: usize,
}

#[derive(Serialize)]
struct Answered {
    question: &'static str,
    answer: String,
    candidates: Vec<Candidate>,
}

#[derive(Serialize)]
struct Candidate {
    program: String,
    right: bool,
    outcome: &'static str,
    detail: String,
}

pub(crate) fn run(arguments: &DemoArguments, out: &mut dyn Write) -> Result<()> {
    let start = Instant::now();
    let world = native_world(WORLD)?;
    let mut runner = Runner::new(&world, Limits::default());
    let questions: Vec<Answered> = QUESTIONS.iter().map(|question| answer(&mut runner, question)).collect();
    let elapsed = start.elapsed();

    let wrong =
        || questions.iter().flat_map(|question| &question.candidates).filter(|candidate| !candidate.right);
    let report = Report {
        world: WORLD,
        values: world.values(),
        properties: world.properties().len() / 2,
        wrong_programs: wrong().count(),
        told_apart: wrong().filter(|candidate| candidate.outcome != "value").count(),
        questions,
    };
    if arguments.json {
        return write_json(out, &report);
    }

    writeln!(
        out,
        "A world of {} values and {} properties, built in: {WORLD}.",
        report.values, report.properties
    )?;
    writeln!(out, "For each question, programs that a parser might guess, and what came of running them.")?;
    for question in &report.questions {
        writeln!(out, "\n{}?", question.question)?;
        for candidate in &question.candidates {
            let mark = if candidate.right { '✓' } else { '✗' };
            writeln!(out, "  {mark} {}", candidate.program)?;
            writeln!(out, "      {}: {}", candidate.outcome, shorten(&candidate.detail, 100))?;
        }
    }
    writeln!(
        out,
        "\nRunning them told {} of {} wrong programs (✗) from the right ones (✓), and nobody labeled anything.",
        report.told_apart, report.wrong_programs
    )?;
    writeln!(
        out,
        "That is the signal xpr learns from. Building the world and running all: {:.1?}.",
        elapsed
    )?;
    writeln!(
        out,
        "\nNext: echo PROGRAM | xpr exec --world {WORLD}, or with your own facts: xpr exec --triples FILE"
    )?;
    Ok(())
}

fn answer(runner: &mut Runner<'_>, question: &Question) -> Answered {
    let programs =
        std::iter::once((question.right, true)).chain(question.wrong.iter().map(|&wrong| (wrong, false)));
    let candidates: Vec<Candidate> = programs
        .map(|(program, right)| {
            let outcome = runner.execute(program);
            let line = outcome.to_string();
            let detail = line.split_once('\t').map_or(line.as_str(), |(_, detail)| detail).to_owned();
            Candidate { program: program.to_owned(), right, outcome: grade(&outcome), detail }
        })
        .collect();
    Answered { question: question.utterance, answer: candidates[0].detail.clone(), candidates }
}

fn grade(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Value(_) => "value",
        Outcome::Empty => "empty",
        Outcome::TypeError(_) => "type-error",
        Outcome::RuntimeError(_) | Outcome::Timeout(_) => "error",
    }
}

fn shorten(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{} …", &text[..end]),
        None => text.to_owned(),
    }
}
