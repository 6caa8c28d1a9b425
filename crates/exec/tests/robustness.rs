//! Random programs on knowledge bases: every run ends within its limits and has an outcome.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "these are tests")]

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use std::sync::OnceLock;
use xpr_exec::{
    Executor, KnowledgeBase, KnowledgeBaseEnvironment, Limits, Outcome, Runner, SymbolPhrase, overnight,
};
use xpr_lang::lambda_dcs::{Form, LambdaDcs};
use xpr_lang::{Action, Derivation, Environment, Grammar, Language, Program};

fn worlds() -> &'static [KnowledgeBase] {
    static WORLDS: OnceLock<Vec<KnowledgeBase>> = OnceLock::new();
    WORLDS.get_or_init(|| overnight::WORLDS.into_iter().filter_map(overnight::world).collect())
}

/// Returns lambda-DCS with each of its grammars: the typed one, and that of the signatures.
fn languages() -> &'static [LambdaDcs; 2] {
    static LANGUAGES: OnceLock<[LambdaDcs; 2]> = OnceLock::new();
    LANGUAGES.get_or_init(|| [LambdaDcs::new(), LambdaDcs::from_signatures()])
}

/// Returns the environment of a world, with a literal of each kind.
fn environment(world: &KnowledgeBase, language: &LambdaDcs) -> KnowledgeBaseEnvironment {
    let phrases = [
        "( number 2 )",
        "( number 3 en.inch )",
        "( number 3 en.hour )",
        "( date 2004 -1 -1 )",
        "( time 10 0 )",
    ]
    .map(|symbol| SymbolPhrase { symbol: symbol.into(), phrase: symbol.into() });
    KnowledgeBaseEnvironment::new(world, language, &phrases)
}

/// Returns a program of the grammar. The actions are chosen by `choices`, and after the last of them so that the program
/// is short.
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
    #![proptest_config(ProptestConfig::with_cases(800))]

    /// Program → text → program is the identity for every program of the grammar, and running one does not panic.
    #[test]
    fn programs_of_the_grammar_are_read_back_from_their_text(
        world in 0..8usize,
        language in 0..2usize,
        choices in prop::collection::vec(any::<u32>(), 0..40),
    ) {
        let (world, language) = (&worlds()[world], &languages()[language]);
        let environment = environment(world, language);
        let grammar = language.signatures().grammar(environment.items()).unwrap();
        let program = random_program(&grammar, &choices);
        let text = language.write(&program, &grammar, &environment);
        prop_assert_eq!(Form::parse(&text).unwrap().to_string(), text.as_str());
        prop_assert_eq!(language.read(&text, &grammar, &environment).unwrap(), program);
        let _ = Runner::new(world, Limits::default()).execute(&text);
    }

    /// Running a random form does not panic, and its outcome does not depend on what ran before.
    #[test]
    fn outcomes_do_not_depend_on_earlier_runs(
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

    /// A run within tight limits has the outcome of a free run, or is stopped.
    #[test]
    fn limits_only_stop_runs(text in absurd_form(), steps in 0..200u64, elements in 0..50usize) {
        let limits = Limits { steps, elements, output: 100 };
        let limited = Runner::new(&worlds()[2], limits).execute(&text);
        let free = Runner::new(&worlds()[2], Limits::default()).execute(&text);
        prop_assert!(limited == free || matches!(limited, Outcome::Timeout(_)), "{:?} {:?}", limited, free);
    }
}

/// Generates random well-formed forms with every function, keyword and kind of value.
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
fn the_grammar_of_signatures_leaves_to_execution_what_the_typed_one_excludes() {
    let meetings = "( call SW.getProperty ( call SW.singleton en.meeting ) ( string !type ) )";
    // Each program with the outcome of running it, and whether the typed grammar writes it.
    let cases = [
        ("( call SW.filter M ( string is_important ) )", "value", true),
        ("( call SW.filter M ( string location ) )", "type-error", false),
        ("( call SW.filter M ( string location ) ( string = ) en.location.greenberg_cafe )", "value", true),
        // The typed grammar does not know that this is wrong either.
        ("( call SW.filter M ( string location ) ( string = ) en.person.alice )", "type-error", true),
        ("( call SW.filter M ( string attendee ) ( string < ) en.person.alice )", "type-error", false),
        ("( call SW.filter M ( string start_time ) ( string < ) ( time 10 0 ) )", "value", false),
        ("( call SW.filter M ( string start_time ) ( string = ) )", "type-error", false),
        ("( call SW.superlative M ( string max ) ( string location ) )", "type-error", false),
        (
            "( call SW.superlative M ( string max ) ( call SW.ensureNumericProperty ( string length ) ) )",
            "value",
            true,
        ),
        ("( call SW.superlative M ( string sum ) ( string length ) )", "value", false),
        ("( call SW.superlative M ( string max ) ( string length ) M )", "type-error", false),
        ("( call SW.countSuperlative M ( string max ) ( string length ) )", "type-error", false),
        ("( call SW.countComparative M ( string attendee ) ( string >= ) ( number 2 ) )", "value", true),
        ("( call SW.countComparative M ( string attendee ) ( string != ) ( number 2 ) )", "error", false),
        (
            "( call SW.getProperty M ( call SW.ensureNumericProperty ( string location ) ) )",
            "type-error",
            false,
        ),
        (
            "( call SW.getProperty M ( call SW.reverse ( call SW.reverse ( string location ) ) ) )",
            "value",
            false,
        ),
        ("( call SW.ensureNumericEntity M )", "type-error", false),
        ("( call SW.aggregate ( string max ) ( call SW.getProperty M ( string length ) ) )", "error", false),
        ("( call SW.concat ( time 10 0 ) ( time 10 0 ) )", "error", true),
        ("( call .size M )", "value", true),
    ];
    let calendar = &worlds()[2];
    let [typed, signatures] = languages();
    for (program, expected, is_typed) in cases {
        let text = format!("( call SW.listValue {} )", program.replace('M', meetings));
        let outcome = Runner::new(calendar, Limits::default()).execute(&text);
        assert_eq!(outcome.grade(), expected, "{text}\n{outcome:?}");
        for (language, is_covered) in [(typed, is_typed), (signatures, true)] {
            let environment = environment(calendar, language);
            let grammar = language.signatures().grammar(environment.items()).unwrap();
            let read = language.read(&text, &grammar, &environment);
            assert_eq!(read.is_ok(), is_covered, "{text}\n{read:?}");
            if let Ok(program) = read {
                assert_eq!(language.write(&program, &grammar, &environment), text);
            }
        }
    }
}

#[test]
fn more_programs_of_the_typed_grammar_execute() {
    const PROGRAMS: usize = 2000;
    let [typed, signatures] = languages().each_ref().map(|language| {
        let mut random = TestRunner::deterministic();
        let choices = prop::collection::vec(any::<u32>(), 40);
        let mut executed = 0;
        for world in worlds() {
            let environment = environment(world, language);
            let grammar = language.signatures().grammar(environment.items()).unwrap();
            let mut runner = Runner::new(world, Limits::default());
            for _ in 0..PROGRAMS {
                let program = random_program(&grammar, &choices.new_tree(&mut random).unwrap().current());
                let text = language.write(&program, &grammar, &environment);
                executed += usize::from(runner.execute(&text).executes());
            }
        }
        executed as f64 / (PROGRAMS * worlds().len()) as f64
    });
    eprintln!(
        "random programs that execute: {:.1} % (typed), {:.1} % (signatures)",
        100.0 * typed,
        100.0 * signatures
    );
    assert!(signatures < typed);
}

#[test]
fn runaway_programs_are_stopped() {
    let calendar = &worlds()[2];
    let mut runner = Runner::new(calendar, Limits::default());
    // The list grows by squaring: the lengths of 60 meetings are 3 numbers, then 9, 81, 6,561, …
    let lengths = "( call SW.getProperty ( call SW.getProperty ( call SW.singleton en.meeting ) ( string !type ) ) \
                   ( string length ) )";
    let mut text = lengths.to_owned();
    for _ in 0..6 {
        text = format!("( ( lambda x ( call SW.arithOp ( string + ) ( var x ) ( var x ) ) ) {text} )");
    }
    assert_eq!(runner.execute(&text), Outcome::Timeout("stopped: more steps than allowed".into()));

    // A long name is printed over and over.
    let name = format!("en.x.{}", "a".repeat(100_000));
    let mut text = format!("( call SW.concat {name} en.x.b )");
    for _ in 0..12 {
        text = format!(
            "( ( lambda x ( call SW.concat ( call SW.concat ( var x ) ( call SW.singleton en.x.c ) ) ( var x ) ) ) {text} )"
        );
    }
    let outcome = runner.execute(&format!("( call SW.listValue {text} )"));
    assert_eq!(outcome.grade(), "timeout", "{outcome:?}");
}

#[test]
fn triples_are_read_and_errors_name_the_line() {
    let good = "en.city.rome\ttype\ten.city\nen.city.rome\tinhabitants\t(number 2.8e6)\n\nen.city.rome\tpi\t(number 3.14159265358979)\n";
    let world = KnowledgeBase::read_triples(good).unwrap();
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
        assert_eq!(KnowledgeBase::read_triples(text).unwrap_err().to_string(), expected);
    }
}

#[test]
fn a_knowledge_base_without_types_has_a_grammar() {
    let world = KnowledgeBase::read_triples("en.a.b\tp\ten.a.c").unwrap();
    let mut runner = Runner::new(&world, Limits::default());
    assert_eq!(
        runner.execute("( call SW.domain ( string p ) )"),
        Outcome::RuntimeError("there is no entity en.a".into())
    );
    // Programs can use the domain of a property.
    for language in languages() {
        let environment = KnowledgeBaseEnvironment::new(&world, language, &[]);
        assert!(language.signatures().grammar(environment.items()).is_ok());
    }
}
