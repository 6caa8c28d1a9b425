//! The cells of an answer, from the binary form in which PostgreSQL sends them.
//!
//! A cell is read as the one that SQLite would have for the same value, so that answers print alike: a truth value is 0 or 1,
//! a decimal without fraction is an integer, and a date is a text. Times with a time zone are in UTC.

use crate::database::Cell;
use crate::database::time_text::{self, calendar_date, time_of_day, timestamp, uuid};
use std::borrow::Cow;
use std::fmt::Write as _;
use tokio_postgres::types::{FromSql, Kind, Type};

/// The bytes of a cell. `None` is NULL.
pub(super) struct RawCell<'a>(pub(super) Option<&'a [u8]>);

impl<'a> FromSql<'a> for RawCell<'a> {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        Ok(RawCell(Some(raw)))
    }

    fn from_sql_null(_: &Type) -> Result<Self, Box<dyn std::error::Error + Sync + Send>> {
        Ok(RawCell(None))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

/// A cell that may own its text.
#[derive(Debug, PartialEq)]
pub(super) enum ReadCell<'a> {
    Null,
    Integer(i64),
    Real(f64),
    Text(Cow<'a, str>),
    Blob(&'a [u8]),
}

impl ReadCell<'_> {
    pub(super) fn cell(&self) -> Cell<'_> {
        match self {
            ReadCell::Null => Cell::Null,
            ReadCell::Integer(integer) => Cell::Integer(*integer),
            ReadCell::Real(real) => Cell::Real(*real),
            ReadCell::Text(text) => Cell::Text(text.as_bytes()),
            ReadCell::Blob(bytes) => Cell::Blob(bytes),
        }
    }
}

/// Reads a cell of a type. Returns `None` if only the server knows how it is printed.
pub(super) fn read<'a>(ty: &Type, raw: &RawCell<'a>) -> Option<ReadCell<'a>> {
    raw.0.map_or(Some(ReadCell::Null), |bytes| read_bytes(ty, bytes))
}

/// Returns the type to which a server converts what is not read here. Amounts of money have a form that depends on the server.
pub(super) fn printed_as(ty: &Type) -> &'static str {
    if *ty == Type::MONEY { "numeric" } else { "text" }
}

fn read_bytes<'a>(ty: &Type, bytes: &'a [u8]) -> Option<ReadCell<'a>> {
    let text = |text: String| Some(ReadCell::Text(Cow::Owned(text)));
    Some(match *ty {
        Type::BOOL => ReadCell::Integer(i64::from(*bytes.first()? != 0)),
        Type::INT2 => ReadCell::Integer(i64::from(i16::from_be_bytes(bytes.try_into().ok()?))),
        Type::INT4 => ReadCell::Integer(i64::from(i32::from_be_bytes(bytes.try_into().ok()?))),
        Type::INT8 => ReadCell::Integer(i64::from_be_bytes(bytes.try_into().ok()?)),
        Type::OID => ReadCell::Integer(i64::from(u32::from_be_bytes(bytes.try_into().ok()?))),
        // The shortest decimal that is the number, as PostgreSQL prints it.
        Type::FLOAT4 => ReadCell::Real(f32::from_be_bytes(bytes.try_into().ok()?).to_string().parse().ok()?),
        Type::FLOAT8 => ReadCell::Real(f64::from_be_bytes(bytes.try_into().ok()?)),
        Type::NUMERIC => decimal(bytes)?,
        Type::TEXT | Type::VARCHAR | Type::NAME | Type::JSON | Type::XML | Type::UNKNOWN => {
            ReadCell::Text(Cow::Borrowed(str::from_utf8(bytes).ok()?))
        }
        // Blanks fill it up to its length, and count for nothing.
        Type::BPCHAR => ReadCell::Text(Cow::Borrowed(str::from_utf8(bytes).ok()?.trim_end_matches(' '))),
        Type::CHAR => return text(char::from(*bytes.first()?).to_string()),
        Type::JSONB => ReadCell::Text(Cow::Borrowed(str::from_utf8(bytes.get(1..)?).ok()?)),
        Type::BYTEA => ReadCell::Blob(bytes),
        Type::DATE => return text(date(i32::from_be_bytes(bytes.try_into().ok()?))),
        Type::TIMESTAMP => return text(timestamp(i64::from_be_bytes(bytes.try_into().ok()?), "")),
        Type::TIMESTAMPTZ => return text(timestamp(i64::from_be_bytes(bytes.try_into().ok()?), "+00")),
        Type::TIME => return text(time_of_day(i64::from_be_bytes(bytes.try_into().ok()?))),
        Type::TIMETZ => {
            let west = i32::from_be_bytes(bytes.get(8..12)?.try_into().ok()?);
            let (sign, minutes) = (if west > 0 { '-' } else { '+' }, west.unsigned_abs() / 60);
            let time = time_of_day(i64::from_be_bytes(bytes.get(..8)?.try_into().ok()?));
            return text(format!("{time}{sign}{:02}:{:02}", minutes / 60, minutes % 60));
        }
        Type::INTERVAL => return text(interval(bytes)?),
        Type::UUID => return text(uuid(bytes)?),
        _ => match ty.kind() {
            Kind::Enum(_) => ReadCell::Text(Cow::Borrowed(str::from_utf8(bytes).ok()?)),
            Kind::Domain(inner) => return read_bytes(inner, bytes),
            Kind::Array(element) => return text(array(element, bytes)?),
            // Of an extension; its values are sent as texts are.
            Kind::Simple if ty.name() == "citext" => {
                ReadCell::Text(Cow::Borrowed(str::from_utf8(bytes).ok()?))
            }
            _ => return None,
        },
    })
}

/// Reads a decimal: groups of four digits, the first of which has a weight of `10000^weight`.
fn decimal(bytes: &[u8]) -> Option<ReadCell<'static>> {
    let field =
        |index: usize| Some(i16::from_be_bytes(bytes.get(2 * index..2 * index + 2)?.try_into().ok()?));
    let (count, weight, sign) = (field(0)?, field(1)?, field(2)? as u16);
    match sign {
        0xC000 => return Some(ReadCell::Real(f64::NAN)),
        0xD000 => return Some(ReadCell::Real(f64::INFINITY)),
        0xF000 => return Some(ReadCell::Real(f64::NEG_INFINITY)),
        _ => {}
    }
    let mut text = String::from(if sign == 0x4000 { "-" } else { "" });
    // Groups before the first one are zeros, such as those of 0.00001.
    let first = weight.max(0);
    let last = (weight - count + 1).min(0);
    let mut has_fraction = false;
    for position in (last..=first).rev() {
        if position == -1 {
            text.push('.');
        }
        let digit = match weight - position {
            index if (0..count).contains(&index) => field(4 + index as usize)?,
            _ => 0,
        };
        has_fraction |= position < 0 && digit != 0;
        // Writing to a string cannot fail.
        let _ = write!(text, "{digit:04}");
    }
    if !has_fraction && let Ok(integer) = text.split('.').next()?.parse::<i64>() {
        return Some(ReadCell::Integer(integer));
    }
    Some(ReadCell::Real(text.parse().ok()?))
}

fn date(days: i32) -> String {
    match days {
        i32::MAX => "infinity".to_owned(),
        i32::MIN => "-infinity".to_owned(),
        days => calendar_date(i64::from(days)),
    }
}

/// Reads an interval: microseconds, days and months.
fn interval(bytes: &[u8]) -> Option<String> {
    let microseconds = i64::from_be_bytes(bytes.get(..8)?.try_into().ok()?);
    let days = i32::from_be_bytes(bytes.get(8..12)?.try_into().ok()?);
    let months = i32::from_be_bytes(bytes.get(12..16)?.try_into().ok()?);
    time_text::interval(months, days, microseconds)
}

/// Returns an array of one dimension as `{a,b}`.
fn array(element: &Type, bytes: &[u8]) -> Option<String> {
    let word = |at: usize| Some(i32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let count = match word(0)? {
        0 => 0,
        1 => word(12)?,
        _ => return None,
    };
    let mut text = String::from("{");
    let mut at = 20;
    for index in 0..count {
        if index > 0 {
            text.push(',');
        }
        let length = word(at)?;
        at += 4;
        let Ok(length) = usize::try_from(length) else {
            text.push_str("NULL");
            continue;
        };
        match read_bytes(element, bytes.get(at..at + length)?)? {
            ReadCell::Text(value) => text.push_str(&value),
            ReadCell::Integer(value) => _ = write!(text, "{value}"),
            ReadCell::Real(value) => _ = write!(text, "{value}"),
            ReadCell::Blob(_) | ReadCell::Null => return None,
        }
        at += length;
    }
    text.push('}');
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numeric(weight: i16, sign: u16, digits: &[i16]) -> Vec<u8> {
        let header = [digits.len() as i16, weight, sign as i16, 0];
        header.iter().chain(digits).flat_map(|word| word.to_be_bytes()).collect()
    }

    #[test]
    fn decimals_are_integers_or_numbers_with_a_fraction() {
        let cases = [
            (numeric(0, 0, &[]), ReadCell::Integer(0)),
            (numeric(0, 0, &[7]), ReadCell::Integer(7)),
            (numeric(1, 0x4000, &[12, 3456]), ReadCell::Integer(-123_456)),
            (numeric(1, 0, &[12]), ReadCell::Integer(120_000)),
            (numeric(0, 0, &[3, 5000]), ReadCell::Real(3.5)),
            (numeric(-2, 0, &[10]), ReadCell::Real(0.000_000_1)),
            (numeric(0, 0, &[3, 0]), ReadCell::Integer(3)),
            (numeric(5, 0, &[1]), ReadCell::Real(1e20)),
        ];
        for (bytes, expected) in cases {
            assert_eq!(decimal(&bytes), Some(expected), "{bytes:?}");
        }
        assert_eq!(decimal(&[0]), None);
    }

    #[test]
    fn dates_and_times_are_texts() {
        for (days, expected) in [
            (0, "2000-01-01"),
            (59, "2000-02-29"),
            (-1, "1999-12-31"),
            (5479, "2015-01-01"),
            (-730_485, "0001-01-01 BC"),
        ] {
            assert_eq!(date(days), expected);
        }
        assert_eq!(timestamp(-1, ""), "1999-12-31 23:59:59.999999");
        assert_eq!(timestamp(37_800_500_000, "+00"), "2000-01-01 10:30:00.5+00");
        let bytes: Vec<u8> =
            [&14_706_000_000_i64.to_be_bytes()[..], &3_i32.to_be_bytes(), &14_i32.to_be_bytes()].concat();
        assert_eq!(interval(&bytes).as_deref(), Some("1 year 2 mons 3 days 04:05:06"));
    }
}
