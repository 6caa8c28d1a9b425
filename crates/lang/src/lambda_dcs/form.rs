//! A logical form: any text SEMPRE would accept, lambdas applied.

use super::{java, reader, reduce};
use crate::SyntaxError;
use std::fmt;

/// A node of one form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub(super) u32);

/// A word of one form's text. SEMPRE's words can be null (`\0`); see [`Form::atom`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Atom {
    pub(super) start: u32,
    pub(super) len: u32,
}

impl Atom {
    pub(super) const NULL: Atom = Atom { start: u32::MAX, len: 0 };
}

/// A run of nodes of one form; see [`Form::children`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Children {
    pub(super) start: u32,
    pub(super) len: u32,
}

/// What stands at a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FormNode {
    /// An entity, a type or a function: `en.person.alice`, `( name en.person.alice description )`.
    Name {
        /// Its identifier.
        id: Atom,
        /// A description, printed but not part of its identity.
        description: Option<Atom>,
    },
    /// `( string start_time )`
    Text(Atom),
    /// `( number 3 en.inch )`
    Number {
        /// The number.
        value: f64,
        /// The unit; none for a bare number.
        unit: Option<Atom>,
    },
    /// `( boolean true )`
    Boolean(bool),
    /// `( date 2015 1 2 )`; −1 where a field is open.
    Date {
        /// The year.
        year: i32,
        /// The month.
        month: i32,
        /// The day.
        day: i32,
    },
    /// `( time 10 0 )`
    Time {
        /// The hour.
        hour: i32,
        /// The minute.
        minute: i32,
    },
    /// `( url … )`
    Url(Atom),
    /// `( list ( number 1 ) ( number 2 ) )`: a list of values, written out.
    List(Children),
    /// `( call function argument … )`
    Call {
        /// What is called.
        function: NodeId,
        /// With what.
        arguments: Children,
    },
    /// `( var x )`; after reduction only where `x` is not bound.
    Variable(Atom),
    /// `( lambda x body )`; after reduction only where it is not applied.
    Lambda {
        /// The variable it binds.
        variable: Atom,
        /// What it stands for.
        body: NodeId,
    },
    /// `( function argument )`; after reduction only where the function is not a lambda.
    Apply {
        /// What is applied.
        function: NodeId,
        /// To what.
        argument: NodeId,
    },
    /// A form of general lambda-DCS that Overnight cannot run: `( and … )`, `( argmax … )`.
    Unsupported {
        /// Its first word.
        keyword: Atom,
        /// The rest.
        arguments: Children,
    },
}

/// A logical form, lambdas applied.
///
/// Nodes live in one arena and share the text they were read from, so that reading a form into
/// an old one's buffers ([`Form::parse_into`]) allocates nothing.
#[derive(Clone, Default)]
pub struct Form {
    /// The source, followed by the words that do not stand in it as they are.
    pub(super) text: String,
    pub(super) nodes: Vec<FormNode>,
    pub(super) children: Vec<NodeId>,
    pub(super) root: Option<NodeId>,
    pub(super) tape: Vec<reader::Token>,
    pub(super) pending: Vec<NodeId>,
}

impl Form {
    /// Reads the first form of `text`; like SEMPRE, it ignores what follows.
    ///
    /// # Errors
    /// If the text is malformed or beyond the limits of this module.
    pub fn parse(text: &str) -> Result<Form, SyntaxError> {
        let mut form = Form::default();
        form.parse_into(text)?;
        Ok(form)
    }

    /// Reads a form into this one's buffers. After an error the form is empty.
    ///
    /// # Errors
    /// As [`Form::parse`].
    pub fn parse_into(&mut self, text: &str) -> Result<(), SyntaxError> {
        self.root = None;
        let root = reader::read(self, text)?;
        self.root = Some(reduce::reduce(self, root)?);
        Ok(())
    }

    /// The root; none if nothing was read.
    pub fn root(&self) -> Option<NodeId> {
        self.root
    }

    /// What stands at a node.
    pub fn node(&self, id: NodeId) -> FormNode {
        self.nodes[id.0 as usize]
    }

    /// The nodes of a run.
    pub fn children(&self, children: Children) -> &[NodeId] {
        &self.children[children.start as usize..][..children.len as usize]
    }

    /// The text of a word; none if it is SEMPRE's null.
    pub fn atom(&self, atom: Atom) -> Option<&str> {
        (atom != Atom::NULL).then(|| &self.text[atom.start as usize..][..atom.len as usize])
    }

    pub(super) fn push(&mut self, node: FormNode) -> NodeId {
        self.nodes.push(node);
        NodeId(self.nodes.len() as u32 - 1)
    }

    /// Writes the canonical text of the subtree at `id`.
    pub(super) fn write(&self, out: &mut String, id: NodeId) {
        match self.node(id) {
            FormNode::Name { id: Atom::NULL, description: None } => {
                self.write_words(out, "name", &[Atom::NULL]);
            }
            FormNode::Name { id, description: None } => self.write_word(out, id),
            FormNode::Name { id, description: Some(description) } => {
                self.write_words(out, "name", &[id, description]);
            }
            FormNode::Text(text) => self.write_words(out, "string", &[text]),
            FormNode::Url(text) => self.write_words(out, "url", &[text]),
            FormNode::Number { value, unit } => {
                out.push_str("( number ");
                java::write_double(out, value);
                if let Some(unit) = unit {
                    out.push(' ');
                    self.write_word(out, unit);
                }
                out.push_str(" )");
            }
            FormNode::Boolean(value) => {
                out.push_str(if value { "( boolean true )" } else { "( boolean false )" });
            }
            FormNode::Date { year, month, day } => out.push_str(&format!("( date {year} {month} {day} )")),
            FormNode::Time { hour, minute } => out.push_str(&format!("( time {hour} {minute} )")),
            FormNode::List(values) => {
                out.push_str("( list");
                for &value in self.children(values) {
                    out.push(' ');
                    match self.node(value) {
                        // Among values, a bare word would not be one.
                        FormNode::Name { id, description: None } => self.write_words(out, "name", &[id]),
                        _ => self.write(out, value),
                    }
                }
                out.push_str(" )");
            }
            FormNode::Call { function, arguments } => {
                out.push_str("( call ");
                self.write(out, function);
                for &argument in self.children(arguments) {
                    out.push(' ');
                    self.write(out, argument);
                }
                out.push_str(" )");
            }
            FormNode::Variable(name) => self.write_words(out, "var", &[name]),
            FormNode::Lambda { variable, body } => {
                out.push_str("( lambda ");
                self.write_word(out, variable);
                out.push(' ');
                self.write(out, body);
                out.push_str(" )");
            }
            FormNode::Apply { function, argument } => {
                out.push_str("( ");
                self.write(out, function);
                out.push(' ');
                self.write(out, argument);
                out.push_str(" )");
            }
            FormNode::Unsupported { keyword, arguments } => {
                self.write_list(out, self.atom(keyword).unwrap_or_default(), arguments);
            }
        }
    }

    fn write_words(&self, out: &mut String, keyword: &str, words: &[Atom]) {
        out.push_str("( ");
        out.push_str(keyword);
        for &word in words {
            out.push(' ');
            self.write_word(out, word);
        }
        out.push_str(" )");
    }

    fn write_word(&self, out: &mut String, word: Atom) {
        match self.atom(word) {
            // Bare, it would be joined to the next word when read.
            Some("!") => out.push_str("\"!\""),
            word => java::write_leaf(out, word),
        }
    }

    fn write_list(&self, out: &mut String, keyword: &str, nodes: Children) {
        out.push_str("( ");
        out.push_str(keyword);
        for &node in self.children(nodes) {
            out.push(' ');
            self.write(out, node);
        }
        out.push_str(" )");
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        if let Some(root) = self.root {
            self.write(&mut text, root);
        }
        f.write_str(&text)
    }
}

impl fmt::Debug for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Form({self})")
    }
}

/// Two forms are equal if they say the same: their canonical texts agree.
impl PartialEq for Form {
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn canonical(text: &str) -> String {
        Form::parse(text).map_or_else(|error| format!("ERROR {error}"), |form| form.to_string())
    }

    #[test]
    fn reads_what_sempre_reads() {
        let cases = [
            // Words, quotes, comments, what follows.
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
            // Values ignore what they have no use for.
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
            // Function names have one spelling.
            (
                "( call edu.stanford.nlp.sempre.overnight.SimpleWorld.domain ( string a ) )",
                "( call SW.domain ( string a ) )",
            ),
            // General lambda-DCS is read, though nothing runs it.
            ("( and a b )", "( and a b )"),
            ("( argmax 1 ( number 1 ) a b )", "( argmax 1 ( number 1 ) a b )"),
            ("( a b )", "( a b )"),
        ];
        for (text, expected) in cases {
            assert_eq!(canonical(text), expected, "{text}");
        }
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
            ("( ( lambda s ( ( var s ) en.a ) ) ( lambda y ( var y ) ) )", "en.a"),
            // Names can be captured, as in SEMPRE.
            ("( ( lambda x ( lambda y ( var x ) ) ) ( var y ) )", "( lambda y ( var y ) )"),
            ("( call SW.f ( ( var x ) a ) )", "( call SW.f ( ( var x ) a ) )"),
        ];
        for (text, expected) in cases {
            assert_eq!(canonical(text), expected, "{text}");
        }
    }

    #[test]
    fn errors_point_at_the_column() {
        let cases = [
            ("", "column 1: there is no form here"),
            ("   # only a comment", "column 1: there is no form here"),
            (" ) a", "column 2: `)` without a `(`"),
            ("( a ( b c )", "column 1: no `)` for this `(`"),
            ("( string \"abc )", "column 10: no closing quote"),
            ("( string abc\\", "column 13: nothing to escape at the end of the text"),
            ("( )", "column 1: an empty list is not a form"),
            (
                "( foo a b )",
                "column 1: `foo` applied to 2 arguments; a form that is not a call takes exactly 1",
            ),
            ("( call )", "column 1: `call` needs 1 more part"),
            (
                "( é é( é ) )",
                "column 1: `é` applied to 2 arguments; a form that is not a call takes exactly 1",
            ),
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
            let got = Form::parse(text).map_or_else(|error| error.to_string(), |form| form.to_string());
            assert_eq!(got, expected, "{text}");
        }
    }

    #[test]
    fn limits_have_clear_errors() {
        let deep = format!("{}a{}", "( not ".repeat(300), " )".repeat(300));
        assert!(canonical(&deep).contains("nests more than 256 deep"));
        let long = "a".repeat(super::super::MAX_TEXT + 1);
        assert!(canonical(&long).contains("longer than 1048576 bytes"));
        // The classic form without end, and one that doubles forty times.
        let omega = "( ( lambda x ( ( var x ) ( var x ) ) ) ( lambda x ( ( var x ) ( var x ) ) ) )";
        assert!(canonical(omega).contains("lambdas"), "{}", canonical(omega));
        let mut bomb = "a".to_owned();
        for _ in 0..40 {
            bomb = format!("( ( lambda x ( call SW.concat ( var x ) ( var x ) ) ) {bomb} )");
        }
        assert!(Form::parse(&bomb).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        /// Whatever the text: no panic, and what is read is read the same from its canonical text.
        #[test]
        fn canonical_text_is_a_fixed_point(text in form_like_text()) {
            if let Ok(form) = Form::parse(&text) {
                let once = form.to_string();
                let again = Form::parse(&once).map(|form| form.to_string());
                prop_assert_eq!(again.as_deref(), Ok(once.as_str()), "{}", text);
            }
        }

        /// Reusing buffers changes nothing.
        #[test]
        fn buffers_can_be_reused(texts in prop::collection::vec(form_like_text(), 1..5)) {
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

    /// Texts made of the pieces of forms, balanced more often than chance would have it.
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
}
