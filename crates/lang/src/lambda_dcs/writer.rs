//! The canonical text of a form.

use super::form::{Atom, Form, FormNode, NodeId};
use super::{java, reader};
use std::fmt;

impl Form {
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
                        // A list holds values only, and a bare word is not a value.
                        FormNode::Name { id, description: None } => self.write_words(out, "name", &[id]),
                        _ => self.write(out, value),
                    }
                }
                out.push_str(" )");
            }
            FormNode::Call { function, arguments } => {
                out.push_str("( call");
                self.write_rest(out, &[function]);
                self.write_rest(out, self.children(arguments));
                out.push_str(" )");
            }
            FormNode::Variable(name) => self.write_words(out, "var", &[name]),
            FormNode::Lambda { variable, body } => {
                out.push_str("( lambda ");
                self.write_word(out, variable);
                self.write_rest(out, &[body]);
                out.push_str(" )");
            }
            FormNode::Apply { function, argument } => {
                out.push_str("( ");
                match self.node(function) {
                    // As the first word of a list, a keyword would be read as one.
                    FormNode::Name { id, description: None }
                        if self.atom(id).is_some_and(reader::is_keyword) =>
                    {
                        self.write_words(out, "name", &[id]);
                    }
                    _ => self.write(out, function),
                }
                self.write_rest(out, &[argument]);
                out.push_str(" )");
            }
            FormNode::Unsupported { keyword, arguments } => {
                out.push_str("( ");
                out.push_str(self.atom(keyword).unwrap_or_default());
                self.write_rest(out, self.children(arguments));
                out.push_str(" )");
            }
        }
    }

    /// Writes `( keyword word … )`.
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
            // Without quotes, the reader would join it to the next word.
            Some("!") => out.push_str("\"!\""),
            word => java::write_leaf(out, word),
        }
    }

    /// Writes each form after a space.
    fn write_rest(&self, out: &mut String, forms: &[NodeId]) {
        for &form in forms {
            out.push(' ');
            self.write(out, form);
        }
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
