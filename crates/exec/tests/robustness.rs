//! Programs from nowhere: whatever they are, a run ends within its limits and says what came of it.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "these are tests")]

use proptest::prelude::*;
use std::sync::OnceLock;
use xpr_exec::{
    Builder, Executor, KnowledgeBase, KnowledgeBaseEnvironment, Limits, Outcome, Runner, overnight,
};
use xpr_lang::lambda_dcs::{Form, LambdaDcs};
use xpr_lang::{Action, Derivation, Environment, Grammar, Language, Program};

fn worlds() -> &'static [KnowledgeBase] {
    static WORLDS: OnceLock<Vec<KnowledgeBase>> = OnceLock::new();
    WORLDS.get_or_init(|| overnight::WORLDS.into_iter().filter_map(overnight::world).collect())
}

/// A program of the grammar, each choice taken from `choices`; short ways out when they run dry.
fn random_program(grammar: &Grammar, choices: &[u32]) -> Program {
    let mut derivation = Derivation::new(grammar);
    let mut actions = Vec::new();
    while let Some(expected) = derivation.expected() {
        let allowed = grammar.allowed(expected);
        let candidates: Vec<Action> = allowed
            .rules
            .iter()
            .map(|&rule| Action::Rule(rule))
            .chain(allowed.items.iter().map(|&item| Action::Item(item)))
            .collect();
        let cost = |action: &Action| -> usize {
            grammar.arguments(*action).iter().map(|&ty| grammar.shortest(ty).unwrap()).sum()
        };
        let action = match choices.get(actions.len()) {
            Some(&choice) => candidates[choice as usize % candidates.len()],
            None => *candidates.iter().min_by_key(|action| cost(action)).unwrap(),
        };
        derivation.advance(grammar, action).unwrap();
        actions.push(action);
    }
    Program::from_actions(grammar, &actions).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Program → text → program is the identity for every well-typed program, and all of them run.
    #[test]
    fn programs_of_the_grammar_survive_their_text(
        world in 0..8usize,
        choices in prop::collection::vec(any::<u32>(), 0..40),
    ) {
        let world = &worlds()[world];
        let language = LambdaDcs::new();
        let phrases = ["( number 2 )", "( number 3 en.inch )", "( date 2004 -1 -1 )", "( time 10 0 )"]
            .map(|symbol| xpr_exec::Phrase { symbol: symbol.into(), phrase: symbol.into() });
        let environment = KnowledgeBaseEnvironment::new(world, &language, &phrases);
        let grammar = language.signatures().grammar(environment.items()).unwrap();
        let program = random_program(&grammar, &choices);
        let text = language.write(&program, &grammar, &environment);
        prop_assert_eq!(Form::parse(&text).unwrap().to_string(), text.as_str());
        prop_assert_eq!(language.read(&text, &grammar, &environment).unwrap(), program);
        let _ = Runner::new(world, Limits::default()).execute(&text);
    }

    /// Forms made of the right words in any order: no panic, and buffers carry nothing over.
    #[test]
    fn absurd_programs_do_no_harm(
        world in 0..8usize,
        texts in prop::collection::vec(absurd_form(), 1..6),
    ) {
        let world = &worlds()[world];
        let mut reused = Runner::new(world, Limits::default());
        for text in &texts {
            let fresh = Runner::new(world, Limits::default()).execute(text);
            prop_assert_eq!(reused.execute(text), fresh, "{}", text);
        }
    }

    /// Tight limits end a run early, with the same kind of word.
    #[test]
    fn limits_hold(text in absurd_form(), steps in 0..200u64, elements in 0..50usize) {
        let limits = Limits { steps, elements, output: 100 };
        let limited = Runner::new(&worlds()[2], limits).execute(&text);
        let free = Runner::new(&worlds()[2], Limits::default()).execute(&text);
        prop_assert!(limited == free || matches!(limited, Outcome::Timeout(_)), "{:?} {:?}", limited, free);
    }
}

/// Forms with every function, keyword and kind of value, well-formed but otherwise at random.
fn absurd_form() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec![
        "en.meeting",
        "en.meeting.weekly_standup",
        "en.meeting.3",
        "en.person.alice",
        "en.nobody",
        "nothing",
        "( name en.person.alice description )",
        "( string attendee )",
        "( string !type )",
        "( string type )",
        "( string start_time )",
        "( string is_important )",
        "( string foo )",
        "( string = )",
        "( string != )",
        "( string < )",
        "( string >= )",
        "( string max )",
        "( string min )",
        "( string avg )",
        "( string sum )",
        "( string + )",
        "( string / )",
        "( string \\0 )",
        "( number 2 )",
        "( number -0.0 en.hour )",
        "( number 3 en.hour )",
        "( number NaN )",
        "( date 2015 1 -1 )",
        "( time 10 0 )",
        "( boolean true )",
        "( list )",
        "( list ( string a ) ( list ( number 1 ) ) )",
        "( list ( number 1 ) ( number 2 ) )",
        "( url x )",
        "( var x )",
        "( and a b )",
        "( lambda x ( var x ) )",
    ])
    .prop_map(str::to_owned);
    let function = prop::sample::select(vec![
        "SW.singleton",
        "SW.domain",
        "SW.reverse",
        "SW.concat",
        "SW.ensureNumericProperty",
        "SW.ensureNumericEntity",
        "SW.filter",
        "SW.superlative",
        "SW.countSuperlative",
        "SW.countComparative",
        "SW.sum",
        "SW.aggregate",
        "SW.getProperty",
        "SW.arithOp",
        "SW.listValue",
        "SW.sizeofDB",
        ".size",
        "SW.foo",
    ]);
    leaf.prop_recursive(5, 40, 5, move |inner| {
        prop_oneof![
            4 => (function.clone(), prop::collection::vec(inner.clone(), 0..6))
                .prop_map(|(function, arguments)| format!("( call {function} {} )", arguments.join(" "))),
            1 => (inner.clone(), inner).prop_map(|(body, argument)| {
                format!("( ( lambda x ( call SW.concat ( var x ) {body} ) ) {argument} )")
            }),
        ]
    })
}

#[test]
fn runaway_programs_are_stopped() {
    let calendar = &worlds()[2];
    let mut runner = Runner::new(calendar, Limits::default());
    // Lists that multiply: 60 meetings' lengths are 3 numbers, then 9, 81, 6,561, …
    let lengths = "( call SW.getProperty ( call SW.getProperty ( call SW.singleton en.meeting ) ( string !type ) ) \
                   ( string length ) )";
    let mut text = lengths.to_owned();
    for _ in 0..6 {
        text = format!("( ( lambda x ( call SW.arithOp ( string + ) ( var x ) ( var x ) ) ) {text} )");
    }
    assert_eq!(runner.execute(&text).to_string(), "error\tstopped: more steps than allowed");

    // A long name, printed over and over.
    let name = format!("en.x.{}", "a".repeat(100_000));
    let mut text = format!("( call SW.concat {name} en.x.b )");
    for _ in 0..12 {
        text = format!(
            "( ( lambda x ( call SW.concat ( call SW.concat ( var x ) ( call SW.singleton en.x.c ) ) ( var x ) ) ) {text} )"
        );
    }
    let outcome = runner.execute(&format!("( call SW.listValue {text} )"));
    assert!(matches!(outcome, Outcome::Timeout(_)), "{outcome:?}");
}

#[test]
fn own_triples_are_read_with_errors_that_name_the_line() {
    let good = "en.city.rome\ttype\ten.city\nen.city.rome\tinhabitants\t(number 2.8e6)\n\nen.city.rome\tpi\t(number 3.14159265358979)\n";
    let world = Builder::read(good).unwrap();
    let lines: Vec<String> = world.triple_lines().collect();
    assert_eq!(lines[2], "(name en.city.rome)\tpi\t(number 3.14159265358979)");
    let mut runner = Runner::new(&world, Limits::default());
    let outcome =
        runner.execute("( call SW.listValue ( call SW.getProperty en.city.rome ( string inhabitants ) ) )");
    assert_eq!(outcome.denotation(), Some("(list (number 2800000))"));

    let cases = [
        ("", "line 1: there are no triples"),
        ("a\tb", "line 1: 2 columns; a triple has 3: subject, property and object, with tabs between"),
        (
            "en.a.b\ttype\ten.a\nx\tp\ten.a.b",
            "line 2: (name x) has no type; the name of an entity has its type before the last dot: en.person.alice",
        ),
        (
            "en.a.b\t!p\ten.a.b",
            "line 1: `!p` cannot name a property: a name is not empty and does not begin with `!`, which marks inverses",
        ),
        ("en.a.b\tp\t(number x)", "line 1: object: column 9: `x` is not a number"),
        (
            "en.a.b\tp\t(list)",
            "line 1: object: `(list)` is not a value such as en.person.alice or (number 3 en.hour)",
        ),
        ("\tp\ten.a.b", "line 1: subject: column 1: there is no form here"),
        (
            "en.a.b\tp\t(string x)",
            "line 1: (string x) has no type; the name of an entity has its type before the last dot: en.person.alice",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(Builder::read(text).unwrap_err().to_string(), expected);
    }
}

#[test]
fn a_world_without_types_can_still_be_asked() {
    let world = Builder::read("en.a.b\tp\ten.a.c").unwrap();
    let mut runner = Runner::new(&world, Limits::default());
    assert_eq!(
        runner.execute("( call SW.domain ( string p ) )").to_string(),
        "error\tthere is no entity en.a"
    );
    let environment = KnowledgeBaseEnvironment::new(&world, &LambdaDcs::new(), &[]);
    let error = LambdaDcs::new().signatures().grammar(environment.items());
    // Properties have a domain, so a program can be written even here.
    assert!(error.is_ok());
}
