//! Constants, names and types, which must be written as they were read.

use super::{Checked, refused};
use sqlparser::ast::{self, Ident, ObjectName, ObjectNamePart, Value};

/// Checks that a constant is written as it was read.
pub(super) fn value(value: &Value) -> Checked {
    let is_clear = match value {
        Value::Number(number, false) => number
            .bytes()
            .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-')),
        Value::SingleQuotedString(text) => value.to_string() == format!("'{}'", text.replace('\'', "''")),
        Value::Boolean(_) | Value::Null => true,
        _ => false,
    };
    if is_clear { Ok(()) } else { Err(refused(format!("the constant {value}"))) }
}

/// Checks that a name is written as it was read, and writes it in double quotes if it had quotes.
pub(super) fn identifier(name: &mut Ident) -> Checked {
    let is_clear = match name.quote_style {
        None => name.value.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '$')),
        Some(_) => {
            name.quote_style = Some('"');
            name.to_string() == format!("\"{}\"", name.value.replace('"', "\"\""))
        }
    };
    if is_clear { Ok(()) } else { Err(refused(format!("the name {name}"))) }
}

pub(super) fn object_name(name: &mut ObjectName) -> Checked {
    name.0.iter_mut().try_for_each(|part| match part {
        ObjectNamePart::Identifier(name) => identifier(name),
        ObjectNamePart::Function(_) => Err(refused("a function as a name")),
    })
}

/// Checks that a type is one whose values do not depend on the tables of the server: `regclass` and its like do.
pub(super) fn known_type(ty: &ast::DataType) -> Checked {
    const TYPES: [&str; 28] = [
        "BIGINT",
        "BOOL",
        "BOOLEAN",
        "CHAR",
        "CHARACTER",
        "CHARACTER VARYING",
        "DATE",
        "DEC",
        "DECIMAL",
        "DOUBLE",
        "DOUBLE PRECISION",
        "FLOAT",
        "FLOAT4",
        "FLOAT8",
        "INT",
        "INT2",
        "INT4",
        "INT8",
        "INTEGER",
        "INTERVAL",
        "NUMERIC",
        "REAL",
        "SMALLINT",
        "TEXT",
        "TIME",
        "TIMESTAMP",
        "TIMESTAMPTZ",
        "VARCHAR",
    ];
    let text = ty.to_string().to_ascii_uppercase();
    let name = text.split('(').next().unwrap_or_default().trim();
    let name =
        name.strip_suffix(" WITH TIME ZONE").or(name.strip_suffix(" WITHOUT TIME ZONE")).unwrap_or(name);
    let is_plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b" (),".contains(&byte));
    match is_plain && TYPES.binary_search(&name).is_ok() {
        true => Ok(()),
        false => Err(refused(format!("the type {ty}"))),
    }
}
