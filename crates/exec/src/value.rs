//! Values, and how SEMPRE prints them.

use std::fmt::Write;
use xpr_lang::lambda_dcs::{Form, FormNode, NodeId, write_double, write_leaf};

/// SEMPRE's unit of numbers that have none.
pub(crate) const UNITLESS: &str = "fb:en.unitless";

/// A value of a knowledge base.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// An entity or a type, such as `en.person.alice`.
    Name {
        /// Its identifier.
        id: String,
        /// A description; not part of its identity.
        description: Option<String>,
    },
    /// A number.
    Number {
        /// How many.
        value: f64,
        /// Of what.
        unit: Option<String>,
    },
    /// A date; −1 where a field is open.
    Date {
        /// The year.
        year: i32,
        /// The month.
        month: i32,
        /// The day.
        day: i32,
    },
    /// A time of day.
    Time {
        /// The hour.
        hour: i32,
        /// The minute.
        minute: i32,
    },
    /// What a unary property has where it holds.
    Boolean(bool),
    /// A string; it is no subject or object of triples, but can be an answer.
    Text(Option<String>),
    /// A web address; likewise.
    Url(Option<String>),
}

impl Value {
    /// The entity or type `id`.
    pub fn name(id: impl Into<String>) -> Value {
        Value::Name { id: id.into(), description: None }
    }

    /// `value` of `unit`.
    pub fn number(value: impl Into<f64>, unit: Option<&str>) -> Value {
        Value::Number { value: value.into(), unit: unit.map(str::to_owned) }
    }

    /// The value that stands at a node of a form, if it is one of those a knowledge base can hold
    /// or an answer can be; lists are not.
    pub fn from_form(form: &Form, id: NodeId) -> Option<Value> {
        let text = |atom| form.atom(atom).map(str::to_owned);
        Some(match form.node(id) {
            FormNode::Name { id, description } => {
                Value::Name { id: text(id)?, description: description.and_then(text) }
            }
            FormNode::Number { value, unit } => {
                Value::Number { value, unit: number_unit(form, unit).map(str::to_owned) }
            }
            FormNode::Date { year, month, day } => Value::Date { year, month, day },
            FormNode::Time { hour, minute } => Value::Time { hour, minute },
            FormNode::Boolean(value) => Value::Boolean(value),
            FormNode::Text(atom) => Value::Text(text(atom)),
            FormNode::Url(atom) => Value::Url(text(atom)),
            _ => return None,
        })
    }

    /// What Java's `equals` says: descriptions do not matter, NaN differs from itself, −0 is 0.
    pub(crate) fn equals(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Name { id: left, .. }, Value::Name { id: right, .. }) => left == right,
            _ => self == other,
        }
    }

    /// The type SEMPRE gives it; none if it cannot.
    pub(crate) fn type_name(&self) -> Option<String> {
        Some(match self {
            Value::Name { id, .. } => entity_type(id)?.to_owned(),
            Value::Number { unit, .. } => number_type(unit.as_deref()),
            Value::Date { .. } => "en.date".to_owned(),
            Value::Time { .. } => "en.time".to_owned(),
            Value::Boolean(_) => "en.boolean".to_owned(),
            Value::Text(_) | Value::Url(_) => return None,
        })
    }

    /// The number by which it is compared; none if it cannot be.
    pub(crate) fn degree(&self) -> Option<f64> {
        match *self {
            Value::Number { value, .. } => Some(value),
            Value::Time { hour, .. } => Some(f64::from(hour)),
            Value::Date { year, month, day } => {
                // As Java computes it: in 32 bits, each field skipped where it is open.
                let field = |field: i32, factor: i32| match field {
                    -1 => 0.0,
                    _ => f64::from(field.wrapping_mul(factor)),
                };
                Some(field(year, 10_000) + field(month, 100) + field(day, 1))
            }
            Value::Name { .. } | Value::Boolean(_) | Value::Text(_) | Value::Url(_) => None,
        }
    }

    /// Writes it as SEMPRE prints it, but numbers in full.
    pub(crate) fn write_exactly(&self, out: &mut String) {
        match self {
            Value::Number { value, unit } => {
                out.push_str("(number ");
                write_double(out, *value);
                if let Some(unit) = unit {
                    out.push(' ');
                    write_leaf(out, Some(unit));
                }
                out.push(')');
            }
            other => other.write(out),
        }
    }

    /// Writes it as SEMPRE prints it.
    pub(crate) fn write(&self, out: &mut String) {
        match self {
            Value::Name { id, description } => {
                out.push_str("(name ");
                write_leaf(out, Some(id));
                if let Some(description) = description {
                    out.push(' ');
                    write_leaf(out, Some(description));
                }
            }
            Value::Number { value, unit } => {
                out.push_str("(number ");
                write_number(out, *value);
                if let Some(unit) = unit {
                    out.push(' ');
                    write_leaf(out, Some(unit));
                }
            }
            Value::Date { year, month, day } => {
                write!(out, "(date {year} {month} {day}").expect("strings take everything");
            }
            Value::Time { hour, minute } => {
                write!(out, "(time {hour} {minute}").expect("strings take everything");
            }
            Value::Boolean(value) => out.push_str(if *value { "(boolean true" } else { "(boolean false" }),
            Value::Text(text) => {
                out.push_str("(string ");
                write_leaf(out, text.as_deref());
            }
            Value::Url(text) => {
                out.push_str("(url ");
                write_leaf(out, text.as_deref());
            }
        }
        out.push(')');
    }
}

/// The unit of a number literal; SEMPRE's own word for none is none.
pub(crate) fn number_unit(form: &Form, unit: Option<xpr_lang::lambda_dcs::Atom>) -> Option<&str> {
    let unit = form.atom(unit?).unwrap_or("null");
    (unit != UNITLESS).then_some(unit)
}

/// The type of numbers with a unit.
pub(crate) fn number_type(unit: Option<&str>) -> String {
    format!("{}_number", unit.unwrap_or(UNITLESS))
}

/// The type of an entity, which its identifier spells: `en.person` for `en.person.alice`. A last part that
/// begins with `_` does not count: `en.lake.x._st_clair` is an `en.lake`. None if it spells no type.
pub(crate) fn entity_type(id: &str) -> Option<&str> {
    let (head, last) = id.rsplit_once('.').map_or((None, id), |(head, last)| (Some(head), last));
    if last.is_empty() {
        return None;
    }
    if last.starts_with('_') {
        return head?.rsplit_once('.').map(|(head, _)| head);
    }
    head
}

/// Writes a number as SEMPRE does: an integer if it is one and fits 32 bits, in scientific notation if
/// it is small, else with three decimals. Java rounds the shortest decimal form half up, Rust the
/// exact binary value half to even, so the rounding is done here.
pub(crate) fn write_number(out: &mut String, value: f64) {
    let whole = value as i32; // saturates, as Java's cast does
    if (value - f64::from(whole)).abs() < 1e-40 {
        write!(out, "{whole}").expect("strings take everything");
        return;
    }
    if value.is_nan() || value.is_infinite() {
        out.push_str(if value.is_nan() {
            "NaN"
        } else if value > 0.0 {
            "Infinity"
        } else {
            "-Infinity"
        });
        return;
    }
    if value < 0.0 {
        out.push('-');
    }
    // The shortest decimal form: `digits` with the point behind the first, times 10^exponent.
    let shortest = format!("{:e}", value.abs());
    let (mantissa, exponent) = shortest.split_once('e').expect("scientific notation has an exponent");
    let exponent: i32 = exponent.parse().expect("the exponent is an integer");
    let mut digits: Vec<u8> = mantissa.bytes().filter(u8::is_ascii_digit).map(|digit| digit - b'0').collect();

    if value.abs() < 1e-3 {
        let carry = round_half_up(&mut digits, 3);
        let exponent = exponent + i32::from(carry);
        let digit = |index: usize| char::from(b'0' + digits.get(index).copied().unwrap_or(0));
        write!(out, "{}.{}{}e-{:02}", digit(0), digit(1), digit(2), -exponent)
            .expect("strings take everything");
    } else {
        // Line the digits up with a point: at least one before it, exactly three behind.
        let leading = usize::try_from(-exponent).unwrap_or(0);
        digits.splice(0..0, std::iter::repeat_n(0, leading));
        let mut before = usize::try_from(exponent).unwrap_or(0) + 1;
        before += usize::from(round_half_up(&mut digits, before + 3));
        for index in 0..before + 3 {
            if index == before {
                out.push('.');
            }
            out.push(char::from(b'0' + digits.get(index).copied().unwrap_or(0)));
        }
    }
}

/// Rounds decimal digits half up to `keep` of them. Says whether a digit was carried to the front,
/// which then stands there as a further one.
fn round_half_up(digits: &mut Vec<u8>, keep: usize) -> bool {
    let up = digits.get(keep).is_some_and(|&digit| digit >= 5);
    digits.truncate(keep);
    if !up {
        return false;
    }
    for digit in digits.iter_mut().rev() {
        if *digit < 9 {
            *digit += 1;
            return false;
        }
        *digit = 0;
    }
    digits.insert(0, 1);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_print_as_sempre_prints_them() {
        let cases = [
            (3.0, "3"),
            (-0.0, "0"),
            (1e-45, "0"),
            (2147483647.0, "2147483647"),
            (2147483648.0, "2147483648.000"),
            (-2147483649.0, "-2147483649.000"),
            (1e21, "1000000000000000000000.000"),
            (0.0625, "0.063"),
            (1.0005, "1.001"),
            (-2.0005, "-2.001"),
            (1.005, "1.005"),
            (0.9995, "1.000"),
            (9.9995, "10.000"),
            (999999.9995, "1000000.000"),
            (123456.7895, "123456.790"),
            (0.001, "0.001"),
            (0.05, "0.050"),
            (0.0005, "5.00e-04"),
            (0.0009995, "1.00e-03"),
            (-0.00049, "-4.90e-04"),
            (1e-7, "1.00e-07"),
            (1.2345e-30, "1.23e-30"),
            (3.0000001, "3.000"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-Infinity"),
        ];
        for (value, expected) in cases {
            let mut printed = String::new();
            write_number(&mut printed, value);
            assert_eq!(printed, expected, "{value:e}");
        }
    }

    #[test]
    fn identifiers_spell_their_types() {
        let cases = [
            ("en.person.alice", Some("en.person")),
            ("en.person", Some("en")),
            ("en.a.x._b", Some("en.a")),
            ("en", None),
            ("en.", None),
            ("", None),
            ("._b", None),
            ("x._b", None),
        ];
        for (id, expected) in cases {
            assert_eq!(entity_type(id), expected, "{id}");
        }
    }
}
