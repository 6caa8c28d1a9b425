use super::*;
use proptest::prelude::*;

fn canonical(text: &str) -> String {
    Form::parse(text).map_or_else(|error| format!("ERROR {error}"), |form| form.to_string())
}

fn assert_canonical(cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        assert_eq!(canonical(text), *expected, "{text}");
    }
}

#[test]
fn forms_are_read_as_sempre_reads_them() {
    let cases = [
        // Words, quotes, comments, and text after the form.
        ("en.meeting", "en.meeting"),
        ("\"en.meeting\" rest ) (", "en.meeting"),
        ("( string \"a b\" )", "( string \"a b\" )"),
        ("( string a\\\"b ) # comment", "( string a\\\"b )"),
        ("( string x#y )", "( string \"x#y\" )"),
        ("(string abc\\ )", "( string \"abc \" )"),
        ("( string abc\\) )", "( string \"abc)\" )"),
        ("( string \\0 )", "( string \\0 )"),
        ("( string a(b )", "( string \"a(b\" )"),
        ("\\0", "fb:en.null"),
        // Values ignore superfluous parts.
        ("( string a b )", "( string a )"),
        ("( string ( foo ) )", "( string \\0 )"),
        ("( number 3 en.inch extra )", "( number 3 en.inch )"),
        ("( date 2004 01 -1 9 )", "( date 2004 1 -1 )"),
        ("( boolean TRUE )", "( boolean true )"),
        ("( boolean x )", "( boolean false )"),
        ("( list ( number 2. ) ( string a ) )", "( list ( number 2 ) ( string a ) )"),
        ("( list ( name a ) ( list ) )", "( list ( name a ) ( list ) )"),
        ("( name en.x ( y ) )", "en.x"),
        // A split `!` is joined.
        ("( string ! type )", "( string !type )"),
        ("( string ! = )", "( string != )"),
        ("( string ! )", "( string \"!\" )"),
        ("( name \\0 )", "( name \\0 )"),
        // The canonical spelling of a function abbreviates its class.
        (
            "( call edu.stanford.nlp.sempre.overnight.SimpleWorld.domain ( string a ) )",
            "( call SW.domain ( string a ) )",
        ),
        // General lambda-DCS is read, although no executor runs it.
        ("( and a b )", "( and a b )"),
        ("( argmax 1 ( number 1 ) a b )", "( argmax 1 ( number 1 ) a b )"),
        ("( a b )", "( a b )"),
    ];
    assert_canonical(&cases);
}

#[test]
fn lambdas_are_applied_by_name() {
    let cases = [
        ("( ( lambda s ( var s ) ) en.a )", "en.a"),
        (
            "( ( ( lambda x ( lambda s ( call SW.concat ( var s ) ( var x ) ) ) ) a ) b )",
            "( call SW.concat b a )",
        ),
        ("( ( lambda s ( lambda s ( var s ) ) ) a )", "( lambda s ( var s ) )"),
        ("( ( lambda s en.a ) ( call SW.foo ) )", "en.a"),
        // A function that a lambda returns or is given is abbreviated like any other.
        ("( call ( ( lambda x SW.concat ) a ) b )", "( call SW.concat b )"),
        ("( ( lambda x ( call ( var x ) b ) ) SW.concat )", "( call SW.concat b )"),
        ("( ( lambda s ( ( var s ) en.a ) ) ( lambda y ( var y ) ) )", "en.a"),
        // Variables can be captured, as in SEMPRE.
        ("( ( lambda x ( lambda y ( var x ) ) ) ( var y ) )", "( lambda y ( var y ) )"),
        ("( call SW.f ( ( var x ) a ) )", "( call SW.f ( ( var x ) a ) )"),
        // A keyword is a name here, and must not become the first word of a list.
        ("( ( ( lambda s * ) 0 ) a )", "( ( name * ) a )"),
        ("( ( name count ) a )", "( ( name count ) a )"),
    ];
    assert_canonical(&cases);
}

#[test]
fn errors_name_the_column() {
    let cases = [
        ("", "column 1: there is no form here"),
        ("   # only a comment", "column 1: there is no form here"),
        (" ) a", "column 2: `)` without a `(`"),
        ("( a ( b c )", "column 1: no `)` for this `(`"),
        ("( string \"abc )", "column 10: no closing quote"),
        ("( string abc\\", "column 13: nothing to escape at the end of the text"),
        ("( )", "column 1: an empty list is not a form"),
        ("( foo a b )", "column 1: `foo` applied to 2 arguments; a form that is not a call takes exactly 1"),
        ("( call )", "column 1: `call` needs 1 more part"),
        ("( é é( é ) )", "column 1: `é` applied to 2 arguments; a form that is not a call takes exactly 1"),
        (
            "( call é ( é é é ) )",
            "column 10: `é` applied to 2 arguments; a form that is not a call takes exactly 1",
        ),
        ("( number 1,5 )", "column 10: `1,5` is not a number"),
        ("( number ( x ) )", "column 10: `( x )` is not a number"),
        ("( date 2004.0 1 1 )", "column 8: `2004.0` is not a whole number"),
        ("( date 2004 1 )", "column 1: `date` needs 1 more part"),
        ("( time 99999999999 0 )", "column 8: `99999999999` is not a whole number"),
        ("( list a )", "column 8: `a` is not a value; a list holds values such as ( number 1 )"),
        ("( error x )", "column 1: `error` values are not supported"),
        ("( call SW.f ( lambda x ) )", "column 13: `lambda` needs 1 more part"),
        ("a\0b", "column 2: NUL character"),
        ("a\\\0b", "column 3: NUL character"),
    ];
    for (text, expected) in cases {
        assert_eq!(canonical(text), format!("ERROR {expected}"), "{text}");
    }
}

#[test]
fn a_form_beyond_a_limit_is_an_error_that_names_the_limit() {
    let deep = format!("{}a{}", "( not ".repeat(300), " )".repeat(300));
    assert!(canonical(&deep).contains("nests more than 256 deep"));
    let long = "a".repeat(super::super::MAX_TEXT + 1);
    assert!(canonical(&long).contains("longer than 1048576 bytes"));
    // A form whose reduction does not end.
    let omega = "( ( lambda x ( ( var x ) ( var x ) ) ) ( lambda x ( ( var x ) ( var x ) ) ) )";
    assert_eq!(canonical(omega), "ERROR column 1: the lambdas of this form nest too deeply");
    // Forms that double their size again and again.
    let doubled = |times| {
        let double = |form| format!("( ( lambda x ( call SW.concat ( var x ) ( var x ) ) ) {form} )");
        canonical(&(0..times).fold("a".to_owned(), |form, _| double(form)))
    };
    assert_eq!(doubled(1), "( call SW.concat a a )");
    assert_eq!(doubled(15), "ERROR column 1: the lambdas of this form make it too large");
    assert_eq!(doubled(40), "ERROR column 1: the lambdas of this form take too many steps");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// No text causes a panic, and reading the canonical text of a form returns the form.
    #[test]
    fn canonical_text_is_a_fixed_point(text in form_like_text()) {
        if let Ok(form) = Form::parse(&text) {
            let once = form.to_string();
            let again = Form::parse(&once).map(|form| form.to_string());
            prop_assert_eq!(again.as_deref(), Ok(once.as_str()), "{}", text);
        }
    }

    #[test]
    fn reused_buffers_give_the_same_form(texts in prop::collection::vec(form_like_text(), 1..5)) {
        let mut reused = Form::default();
        for text in &texts {
            let fresh = Form::parse(text);
            let result = reused.parse_into(text);
            prop_assert_eq!(result.is_ok(), fresh.is_ok());
            if let Ok(fresh) = fresh {
                prop_assert_eq!(fresh.to_string(), reused.to_string());
            } else {
                prop_assert!(reused.root().is_none());
            }
        }
    }
}

/// Texts made of the pieces of forms, mostly with balanced brackets.
fn form_like_text() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        "[a-z.!#\"\\\\(0-9é]{1,4}",
        Just("en.person.alice".to_owned()),
        Just("SW.filter".to_owned()),
        Just("!".to_owned()),
        Just("-1".to_owned()),
        Just("0x1p3".to_owned()),
    ];
    let keyword = prop::sample::select(vec![
        "call", "string", "number", "date", "time", "lambda", "var", "list", "boolean", "name", "and",
        "argmax", "url", "mark", "not", "x",
    ]);
    let word = prop_oneof![6 => word, 1 => keyword.clone().prop_map(str::to_owned)];
    let leaf = prop_oneof![4 => word, 1 => Just(String::new())];
    leaf.prop_recursive(5, 60, 5, move |inner| {
        (keyword.clone(), prop::collection::vec(inner, 0..5), any::<bool>()).prop_map(
            |(head, rest, spaced)| {
                if spaced {
                    format!("( {head} {} )", rest.join(" "))
                } else {
                    format!("({} {head})", rest.join(" "))
                }
            },
        )
    })
}
