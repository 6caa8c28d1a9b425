//! Says in English what a program of lambda-DCS returns, so that people who cannot read it can check it.
//!
//! A set is a plural noun with clauses: `meetings whose date is jan 2 and that more than 2 people attend`. A clause narrows what is before it,
//! and a superlative is about a set that is named completely before it: `those of (…) that have the largest length`. Whatever has clauses is
//! in parentheses inside another set. Items that people call alike are told apart by their symbols.

use super::function::Function;
use super::rules::RuleTemplate;
use super::typed::LambdaDcs;
use crate::english;
use crate::{Action, Environment, ItemId, Node};
use rustc_hash::FxHashMap;

/// Words that connect the parts of an explanation. A phrase that has one of them is quoted.
const CONNECTIONS: [&str; 6] = [" and ", " or ", " whose ", " that ", " those of ", " among "];

/// Explains programs about the items of an environment.
pub(super) struct Explainer<'a> {
    language: &'a LambdaDcs,
    environment: &'a dyn Environment,
    /// What each item is called, in the order of the environment: a type in the plural.
    names: Vec<String>,
}

/// A set or value in words.
struct SetPhrase {
    text: String,
    shape: Shape,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// A single value: `alice`.
    Value,
    /// A plural noun without clauses: `meetings`.
    Noun,
    /// A plural noun with clauses.
    Narrowed,
    /// Anything else: `the location of weekly standup`.
    Other,
}

impl SetPhrase {
    fn new(text: String, shape: Shape) -> Self {
        SetPhrase { text, shape }
    }

    /// Returns the set as a part of another phrase.
    fn inner(&self) -> String {
        match self.shape {
            Shape::Value | Shape::Noun => self.text.clone(),
            Shape::Narrowed | Shape::Other => format!("({})", self.text),
        }
    }

    /// Returns the set with one more clause.
    fn narrowed(&self, clause: &str) -> SetPhrase {
        let text = match self.shape {
            Shape::Narrowed => format!("{} and {clause}", self.text),
            _ => format!("{} {clause}", self.inner()),
        };
        SetPhrase::new(text, Shape::Narrowed)
    }

    /// Returns those elements of the set for which a clause is true that compares them with each other.
    fn best(&self, clause: &str) -> SetPhrase {
        let text = match self.shape {
            Shape::Narrowed => format!("those of ({}) {clause}", self.text),
            _ => format!("{} {clause}", self.inner()),
        };
        SetPhrase::new(text, Shape::Narrowed)
    }
}

/// A property in words: a noun such as `start time`, or a verb such as `requires`.
struct Property {
    phrase: String,
    reversed: bool,
}

impl Property {
    /// Returns the verb for several subjects, if the property is a verb.
    fn verb(&self) -> Option<String> {
        let (first, rest) = self.phrase.split_once(' ').unwrap_or((&self.phrase, ""));
        let is_verb = matches!(first, "is" | "has")
            || (rest.is_empty() && first.ends_with('s') && !first.ends_with("ss"));
        is_verb.then(|| plural_verb(&self.phrase))
    }
}

/// Returns a verb phrase for several subjects: `are friends with`, `allow cats`.
fn plural_verb(phrase: &str) -> String {
    let (first, rest) = phrase.split_at(phrase.find(' ').unwrap_or(phrase.len()));
    let first = match first {
        "is" => "are",
        "has" => "have",
        verb => verb.strip_suffix('s').unwrap_or(verb),
    };
    format!("{first}{rest}")
}

impl<'a> Explainer<'a> {
    pub(super) fn new(language: &'a LambdaDcs, environment: &'a dyn Environment) -> Self {
        let items = environment.items();
        let phrase = |item: &crate::Item| {
            let phrase = if item.kind == language.type_kind() {
                english::plural(&item.phrase)
            } else {
                item.phrase.clone()
            };
            let padded = format!(" {phrase} ");
            let is_confusing = CONNECTIONS.iter().any(|word| padded.contains(word));
            if is_confusing { format!("\"{phrase}\"") } else { phrase }
        };
        let mut names: Vec<String> = items.iter().map(phrase).collect();
        let mut counts: FxHashMap<String, usize> = FxHashMap::default();
        names.iter().for_each(|name| *counts.entry(name.clone()).or_default() += 1);
        for (name, item) in names.iter_mut().zip(items) {
            if counts[name.as_str()] > 1 {
                *name = quantity(&item.symbol).unwrap_or_else(|| format!("{name} \"{}\"", item.symbol));
            }
        }
        Explainer { language, environment, names }
    }

    /// Returns a sentence that says what a program returns.
    pub(super) fn explain(&self, program: Node<'_>) -> String {
        self.set(program).text
    }

    /// Explains a set or a value.
    fn set(&self, node: Node<'_>) -> SetPhrase {
        let template = match node.action() {
            Action::Item(item) => return SetPhrase::new(self.name(item), Shape::Value),
            Action::Rule(rule) => self.language.rules.templates[rule.index()],
        };
        let arguments: Vec<Node<'_>> = node.arguments().collect();
        match (template, arguments.as_slice()) {
            (RuleTemplate::Instances, &[ty]) => SetPhrase::new(self.text(ty), Shape::Noun),
            (RuleTemplate::Call(function), arguments) => {
                self.call(function, arguments).unwrap_or_else(|| self.verbatim(node))
            }
            _ => self.verbatim(node),
        }
    }

    /// Explains a call; none for one that has no words.
    fn call(&self, function: Function, arguments: &[Node<'_>]) -> Option<SetPhrase> {
        let other = |text: String| SetPhrase::new(text, Shape::Other);
        Some(match (function, arguments) {
            (Function::ListValue | Function::EnsureNumericEntity | Function::Singleton, &[set]) => {
                self.set(set)
            }
            (Function::Size, &[set]) => other(format!("the number of {}", self.set(set).text)),
            (Function::Domain, &[property]) => {
                let property = self.property(property)?;
                let clause = match (property.verb(), property.reversed) {
                    (Some(verb), false) => format!("that {verb} something"),
                    (Some(_), true) => format!("that something {}", property.phrase),
                    (None, false) => format!("that have {}", english::with_article(&property.phrase)),
                    (None, true) => format!("that are the {} of something", property.phrase),
                };
                SetPhrase::new(format!("things {clause}"), Shape::Narrowed)
            }
            (Function::GetProperty, &[set, property]) => {
                self.values(&self.set(set), &self.property(property)?)
            }
            (Function::Filter, &[set, property]) => {
                self.set(set).narrowed(&format!("that {}", plural_verb(&self.property(property)?.phrase)))
            }
            (Function::Filter, &[set, property, comparison, value]) => {
                let (property, value) = (self.property(property)?, self.set(value));
                let clause = match self.constant(comparison)? {
                    "=" => is_clause(&property, &value, false),
                    "!=" => is_clause(&property, &value, true),
                    comparison => {
                        let is = if property.reversed { " in reverse is" } else { " is" };
                        format!("whose {}{is} {} {}", property.phrase, order(comparison)?, value.inner())
                    }
                };
                self.set(set).narrowed(&clause)
            }
            (Function::Concat, &[left, right]) => {
                let text = format!("{} or {}", self.set(left).inner(), self.set(right).inner());
                other(text)
            }
            (Function::Superlative, &[set, mode, property]) => {
                let property = self.property(property)?;
                let of = if property.reversed { " in reverse" } else { "" };
                let mode = extreme(self.constant(mode)?)?;
                self.set(set).best(&format!("that have the {mode} {}{of}", property.phrase))
            }
            (Function::CountSuperlative, &[set, mode, property, ref counted @ ..]) => {
                let quantity = match self.constant(mode)? {
                    "min" => "the fewest",
                    "max" => "the most",
                    _ => return None,
                };
                let counted = counted.first().map(|&counted| self.set(counted));
                let clause = count_clause(&self.property(property)?, quantity, counted.as_ref());
                self.set(set).best(&clause)
            }
            (Function::CountComparative, &[set, property, comparison, number, ref counted @ ..]) => {
                let quantity = match self.constant(comparison)? {
                    "=" => "exactly",
                    "!=" => "not",
                    "<" => "fewer than",
                    ">" => "more than",
                    "<=" => "at most",
                    ">=" => "at least",
                    _ => return None,
                };
                let quantity = format!("{quantity} {}", self.set(number).inner());
                let counted = counted.first().map(|&counted| self.set(counted));
                self.set(set).narrowed(&count_clause(&self.property(property)?, &quantity, counted.as_ref()))
            }
            (Function::Sum, &[set]) => other(format!("the sum of {}", self.set(set).text)),
            (Function::Aggregate, &[mode, set]) => {
                let mode = match self.constant(mode)? {
                    "avg" => "average",
                    "sum" => "total",
                    mode => extreme(mode)?,
                };
                other(format!("the {mode} of {}", self.set(set).text))
            }
            _ => return None,
        })
    }

    /// Explains the values of a property of a set, or what has one of the values if the property is reversed.
    fn values(&self, set: &SetPhrase, property: &Property) -> SetPhrase {
        let owner = set.inner();
        let verb = match set.shape {
            Shape::Value => property.verb().map(|_| property.phrase.clone()),
            _ => property.verb(),
        };
        match (verb, property.reversed) {
            (Some(verb), false) => SetPhrase::new(format!("things that {owner} {verb}"), Shape::Narrowed),
            (_, true) => {
                let clause =
                    is_clause(&Property { phrase: property.phrase.clone(), reversed: false }, set, false);
                SetPhrase::new(format!("things {clause}"), Shape::Narrowed)
            }
            (None, false) => SetPhrase::new(format!("the {} of {owner}", property.phrase), Shape::Other),
        }
    }

    fn property(&self, node: Node<'_>) -> Option<Property> {
        match node.action() {
            Action::Item(item) => Some(Property { phrase: self.name(item), reversed: false }),
            Action::Rule(rule) => match self.language.rules.templates[rule.index()] {
                RuleTemplate::Call(Function::EnsureNumericProperty) => {
                    self.property(node.arguments().next()?)
                }
                RuleTemplate::Call(Function::Reverse) => {
                    let property = self.property(node.arguments().next()?)?;
                    Some(Property { reversed: !property.reversed, ..property })
                }
                RuleTemplate::Text("!type") => Some(Property { phrase: "type".to_owned(), reversed: true }),
                _ => None,
            },
        }
    }

    /// Returns the text of an operator or the like.
    fn constant(&self, node: Node<'_>) -> Option<&'static str> {
        match node.action() {
            Action::Rule(rule) => match self.language.rules.templates[rule.index()] {
                RuleTemplate::Text(text) => Some(text),
                _ => None,
            },
            Action::Item(_) => None,
        }
    }

    fn name(&self, item: ItemId) -> String {
        self.names[item.index()].clone()
    }

    fn text(&self, node: Node<'_>) -> String {
        self.set(node).text
    }

    /// Returns the program itself, where there are no words for it.
    fn verbatim(&self, node: Node<'_>) -> SetPhrase {
        let mut text = String::new();
        self.language.write_node(&mut text, node, self.environment);
        SetPhrase::new(format!("the result of \"{text}\""), Shape::Other)
    }
}

/// Returns the clause of things that have a value of a property, or another value if `negated`.
fn is_clause(property: &Property, value: &SetPhrase, negated: bool) -> String {
    let not = if negated { " not" } else { "" };
    let inner = value.inner();
    let phrase = &property.phrase;
    match (property.verb(), property.reversed) {
        (Some(verb), false) => match verb.strip_prefix("are ") {
            Some(rest) => format!("that are{not} {rest} {inner}"),
            None if negated => format!("that do not {verb} {inner}"),
            None => format!("that {verb} {inner}"),
        },
        (Some(verb), true) => {
            let is_one = value.shape == Shape::Value;
            match (verb.strip_prefix("are "), negated) {
                (_, false) => format!("that {inner} {}", if is_one { phrase } else { &verb }),
                (Some(rest), true) => {
                    format!("that {inner} {} not {rest}", if is_one { "is" } else { "are" })
                }
                (None, true) => format!("that {inner} {} not {verb}", if is_one { "does" } else { "do" }),
            }
        }
        (None, false) => format!("whose {phrase} is{not} {inner}"),
        (None, true) => format!("that are{not} the {phrase} of {inner}"),
    }
}

/// Returns the clause of things that have a number of values of a property, among a set if there is one.
fn count_clause(property: &Property, quantity: &str, counted: Option<&SetPhrase>) -> String {
    let things = counted.map_or_else(|| "things".to_owned(), SetPhrase::inner);
    match (property.verb(), property.reversed) {
        (Some(verb), false) => format!("that {verb} {quantity} {things}"),
        (Some(verb), true) => format!("that {quantity} {things} {verb}"),
        (None, false) => {
            let among = counted.map_or_else(String::new, |counted| format!(" among {}", counted.inner()));
            format!("that have {quantity} {}{among}", english::plural(&property.phrase))
        }
        (None, true) => format!("that are the {} of {quantity} {things}", property.phrase),
    }
}

/// Returns a number with its unit, if the symbol has one: `3 steals`.
fn quantity(symbol: &str) -> Option<String> {
    let (number, unit) = symbol.strip_prefix("( number ")?.strip_suffix(" )")?.split_once(' ')?;
    let is_plain = unit.bytes().all(|byte| byte.is_ascii_lowercase());
    is_plain.then(|| format!("{number} {}", english::plural(unit)))
}

fn order(comparison: &str) -> Option<&'static str> {
    Some(match comparison {
        "<" => "less than",
        ">" => "greater than",
        "<=" => "at most",
        ">=" => "at least",
        _ => return None,
    })
}

fn extreme(mode: &str) -> Option<&'static str> {
    match mode {
        "min" => Some("smallest"),
        "max" => Some("largest"),
        _ => None,
    }
}
