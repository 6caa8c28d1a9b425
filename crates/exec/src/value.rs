//! Values of a knowledge base, and how SEMPRE prints them.

use std::fmt::Write;
use xpr_lang::lambda_dcs::{Form, FormNode, NodeId, write_double, write_leaf};

/// What SEMPRE writes for the unit of a number without one.
pub(crate) const UNITLESS: &str = "fb:en.unitless";

/// A value of a knowledge base: the subject or object of a triple, or an element of an answer.
///
/// The variants are SEMPRE's. A [`Form`] has a node for each of them, but also nodes that are not values.
#[derive(Clone, Debug, PartialEq)]
pub enum KbValue {
    /// An entity or a type, such as `en.person.alice`.
    Name {
        /// The identifier.
        id: String,
        /// A description. Names that differ only in it are equal.
        description: Option<String>,
    },
    /// A number.
    Number {
        /// The amount.
        value: f64,
        /// The unit, such as `en.hour`.
        unit: Option<String>,
    },
    /// A date. A field is −1 if it is open.
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
    /// A boolean: the object of a unary property.
    Boolean(bool),
    /// A string, `None` for SEMPRE's null. It can be in an answer, but not in a triple.
    Text(Option<String>),
    /// A web address, `None` for SEMPRE's null. It can be in an answer, but not in a triple.
    Url(Option<String>),
}

impl KbValue {
    /// Returns the entity or type `id`.
    pub fn name(id: impl Into<String>) -> KbValue {
        KbValue::Name { id: id.into(), description: None }
    }

    /// Returns the number `value` of `unit`.
    pub fn number(value: impl Into<f64>, unit: Option<&str>) -> KbValue {
        KbValue::Number { value: value.into(), unit: unit.map(str::to_owned) }
    }

    /// Returns the value at a node of a form, or `None` if the node is something else, such as a list or a call.
    pub fn from_form(form: &Form, id: NodeId) -> Option<KbValue> {
        let text = |atom| form.atom(atom).map(str::to_owned);
        Some(match form.node(id) {
            FormNode::Name { id, description } => {
                KbValue::Name { id: text(id)?, description: description.and_then(text) }
            }
            FormNode::Number { value, unit } => {
                KbValue::Number { value, unit: number_unit(form, unit).map(str::to_owned) }
            }
            FormNode::Date { year, month, day } => KbValue::Date { year, month, day },
            FormNode::Time { hour, minute } => KbValue::Time { hour, minute },
            FormNode::Boolean(value) => KbValue::Boolean(value),
            FormNode::Text(atom) => KbValue::Text(text(atom)),
            FormNode::Url(atom) => KbValue::Url(text(atom)),
            _ => return None,
        })
    }

    /// Returns whether the values are equal as Java's `equals` defines it: descriptions are ignored, NaN differs from
    /// itself, and −0 equals 0.
    pub(crate) fn equals(&self, other: &KbValue) -> bool {
        match (self, other) {
            (KbValue::Name { id: left, .. }, KbValue::Name { id: right, .. }) => left == right,
            _ => self == other,
        }
    }

    /// Returns the name of the type that SEMPRE gives the value; `None` if it has none.
    pub(crate) fn type_name(&self) -> Option<String> {
        Some(match self {
            KbValue::Name { id, .. } => entity_type(id)?.to_owned(),
            KbValue::Number { unit, .. } => number_type(unit.as_deref()),
            KbValue::Date { .. } => "en.date".to_owned(),
            KbValue::Time { .. } => "en.time".to_owned(),
            KbValue::Boolean(_) => "en.boolean".to_owned(),
            KbValue::Text(_) | KbValue::Url(_) => return None,
        })
    }

    /// Returns the number by which SEMPRE compares the value with others; `None` if it cannot be compared.
    pub(crate) fn degree(&self) -> Option<f64> {
        match *self {
            KbValue::Number { value, .. } => Some(value),
            KbValue::Time { hour, .. } => Some(f64::from(hour)),
            KbValue::Date { year, month, day } => {
                // SEMPRE computes in 32 bits and skips open fields.
                let field = |field: i32, factor: i32| match field {
                    -1 => 0.0,
                    _ => f64::from(field.wrapping_mul(factor)),
                };
                Some(field(year, 10_000) + field(month, 100) + field(day, 1))
            }
            KbValue::Name { .. } | KbValue::Boolean(_) | KbValue::Text(_) | KbValue::Url(_) => None,
        }
    }

    /// Writes the value as SEMPRE prints it, but numbers with all digits.
    pub(crate) fn write_exactly(&self, out: &mut String) {
        match self {
            KbValue::Number { value, unit } => write_quantity(out, *value, unit.as_deref(), write_double),
            other => other.write(out),
        }
    }

    /// Writes the value as SEMPRE prints it.
    pub(crate) fn write(&self, out: &mut String) {
        match self {
            KbValue::Name { id, description } => {
                out.push_str("(name ");
                write_leaf(out, Some(id));
                if let Some(description) = description {
                    out.push(' ');
                    write_leaf(out, Some(description));
                }
                out.push(')');
            }
            KbValue::Number { value, unit } => write_quantity(out, *value, unit.as_deref(), write_number),
            KbValue::Date { year, month, day } => {
                write!(out, "(date {year} {month} {day})").expect("writing to a string cannot fail");
            }
            KbValue::Time { hour, minute } => {
                write!(out, "(time {hour} {minute})").expect("writing to a string cannot fail");
            }
            KbValue::Boolean(value) => {
                out.push_str(if *value { "(boolean true)" } else { "(boolean false)" });
            }
            KbValue::Text(text) => write_string(out, text.as_deref()),
            KbValue::Url(text) => {
                out.push_str("(url ");
                write_leaf(out, text.as_deref());
                out.push(')');
            }
        }
    }
}

/// Writes `(number value unit)`, the value with `write_value`.
pub(crate) fn write_quantity(
    out: &mut String,
    value: f64,
    unit: Option<&str>,
    write_value: impl Fn(&mut String, f64),
) {
    out.push_str("(number ");
    write_value(out, value);
    if let Some(unit) = unit {
        out.push(' ');
        write_leaf(out, Some(unit));
    }
    out.push(')');
}

/// Writes `(string text)`.
pub(crate) fn write_string(out: &mut String, text: Option<&str>) {
    out.push_str("(string ");
    write_leaf(out, text);
    out.push(')');
}

/// Returns the unit of a number literal; `None` also for SEMPRE's unit of unitless numbers.
pub(crate) fn number_unit(form: &Form, unit: Option<xpr_lang::lambda_dcs::Atom>) -> Option<&str> {
    let unit = form.atom(unit?).unwrap_or("null");
    (unit != UNITLESS).then_some(unit)
}

/// Returns the name of the type of numbers with a unit.
pub(crate) fn number_type(unit: Option<&str>) -> String {
    format!("{}_number", unit.unwrap_or(UNITLESS))
}

/// Returns the type of an entity, which is a prefix of its identifier: `en.person` for `en.person.alice`. If the last
/// part begins with `_`, the last two parts are dropped: `en.lake.x._st_clair` is an `en.lake`. Returns `None` if
/// there is no such prefix.
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

/// Writes a number as SEMPRE does: as an integer if it is one and fits 32 bits, in scientific notation if it is small,
/// else with three decimals. Java rounds the shortest decimal form half up, and Rust the exact binary value half to
/// even, so the rounding is done here.
pub(crate) fn write_number(out: &mut String, value: f64) {
    let whole = value as i32; // saturates, as Java's cast does
    if (value - f64::from(whole)).abs() < 1e-40 {
        write!(out, "{whole}").expect("writing to a string cannot fail");
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
    // The shortest decimal form: `digits` with the point after the first, times 10^exponent.
    let shortest = format!("{:e}", value.abs());
    let (mantissa, exponent) = shortest.split_once('e').expect("scientific notation has an exponent");
    let exponent: i32 = exponent.parse().expect("the exponent is an integer");
    let mut digits: Vec<u8> = mantissa.bytes().filter(u8::is_ascii_digit).map(|digit| digit - b'0').collect();

    if value.abs() < 1e-3 {
        let carry = round_half_up(&mut digits, 3);
        let exponent = exponent + i32::from(carry);
        let digit = |index: usize| char::from(b'0' + digits.get(index).copied().unwrap_or(0));
        write!(out, "{}.{}{}e-{:02}", digit(0), digit(1), digit(2), -exponent)
            .expect("writing to a string cannot fail");
    } else {
        // At least one digit before the point, exactly three after it.
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

/// Rounds decimal digits half up to `keep` digits. Returns whether there was a carry out of the first digit, which
/// adds a digit at the front.
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
    fn an_entity_type_is_a_prefix_of_the_identifier() {
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
