//! The cells of an answer, from the vectors in which DuckDB has them.
//!
//! A cell is read as the one that SQLite would have for the same value, so that answers print alike: a truth value is 0 or 1,
//! a decimal without fraction is an integer, and a date is a text. Times with a time zone are in UTC.

use super::engine::{LogicalType, owned_text};
use crate::database::Cell;
use crate::database::time_text::{calendar_date, interval, time_of_day, timestamp, uuid};
use libduckdb_sys as ffi;
use std::fmt::Write as _;

/// The days and the microseconds from 1970, from which DuckDB counts, to 2000.
const DAYS_TO_2000: i64 = 10_957;
const MICROSECONDS_TO_2000: i64 = DAYS_TO_2000 * 86_400_000_000;
/// How deep lists and structures are nested.
const DEEPEST: usize = 20;

/// How the values of a type are read.
#[derive(Debug, PartialEq)]
pub(super) enum Kind {
    Null,
    Boolean,
    /// Whole numbers of so many bytes.
    Signed(usize),
    Unsigned(usize),
    Float,
    Double,
    /// A whole number of so many bytes, and its digits after the point.
    Decimal(usize, u8),
    Text,
    Blob,
    Bits,
    Uuid,
    Date,
    Time,
    TimeNanoseconds,
    TimeWithZone,
    /// How many there are in a second, and whether it has a zone.
    Timestamp(i64, bool),
    Interval,
    /// The names, and the bytes of their index.
    Enum(Vec<String>, usize),
    List(Box<Kind>),
    Array(Box<Kind>, usize),
    Struct(Vec<(String, Kind)>),
    Map(Box<Kind>, Box<Kind>),
    /// One of several kinds.
    Union(Vec<Kind>),
    /// No value of it can be printed.
    Other(u32),
}

impl Kind {
    pub(super) fn of(ty: &LogicalType) -> Kind {
        Kind::nested(ty, 0)
    }

    fn nested(ty: &LogicalType, depth: usize) -> Kind {
        // SAFETY: the type is valid, and of the kind that each function needs. Types and texts that these return are freed.
        unsafe {
            let ty = ty.0;
            let id = ffi::duckdb_get_type_id(ty);
            let inner = |ty| Box::new(Kind::nested(&LogicalType(ty), depth + 1));
            match id {
                _ if depth > DEEPEST => Kind::Other(id),
                ffi::DUCKDB_TYPE_DUCKDB_TYPE_DECIMAL => {
                    Kind::Decimal(width(ffi::duckdb_decimal_internal_type(ty)), ffi::duckdb_decimal_scale(ty))
                }
                ffi::DUCKDB_TYPE_DUCKDB_TYPE_ENUM => {
                    let count = ffi::duckdb_enum_dictionary_size(ty);
                    let name = |index| owned_text(ffi::duckdb_enum_dictionary_value(ty, u64::from(index)));
                    Kind::Enum((0..count).map(name).collect(), width(ffi::duckdb_enum_internal_type(ty)))
                }
                ffi::DUCKDB_TYPE_DUCKDB_TYPE_LIST => Kind::List(inner(ffi::duckdb_list_type_child_type(ty))),
                ffi::DUCKDB_TYPE_DUCKDB_TYPE_ARRAY => Kind::Array(
                    inner(ffi::duckdb_array_type_child_type(ty)),
                    ffi::duckdb_array_type_array_size(ty) as usize,
                ),
                ffi::DUCKDB_TYPE_DUCKDB_TYPE_STRUCT => {
                    let count = ffi::duckdb_struct_type_child_count(ty);
                    let field = |index| {
                        let name = owned_text(ffi::duckdb_struct_type_child_name(ty, index));
                        (name, *inner(ffi::duckdb_struct_type_child_type(ty, index)))
                    };
                    Kind::Struct((0..count).map(field).collect())
                }
                ffi::DUCKDB_TYPE_DUCKDB_TYPE_MAP => Kind::Map(
                    inner(ffi::duckdb_map_type_key_type(ty)),
                    inner(ffi::duckdb_map_type_value_type(ty)),
                ),
                ffi::DUCKDB_TYPE_DUCKDB_TYPE_UNION => {
                    let count = ffi::duckdb_union_type_member_count(ty);
                    let member = |index| *inner(ffi::duckdb_union_type_member_type(ty, index));
                    Kind::Union((0..count).map(member).collect())
                }
                id => Kind::plain(id),
            }
        }
    }

    /// Returns how the values of a type without parts are read.
    fn plain(id: ffi::duckdb_type) -> Kind {
        match id {
            ffi::DUCKDB_TYPE_DUCKDB_TYPE_SQLNULL => Kind::Null,
            ffi::DUCKDB_TYPE_DUCKDB_TYPE_BOOLEAN => Kind::Boolean,
            ffi::DUCKDB_TYPE_DUCKDB_TYPE_TINYINT
            | ffi::DUCKDB_TYPE_DUCKDB_TYPE_SMALLINT
            | ffi::DUCKDB_TYPE_DUCKDB_TYPE_INTEGER
            | ffi::DUCKDB_TYPE_DUCKDB_TYPE_BIGINT
            | ffi::DUCKDB_TYPE_DUCKDB_TYPE_HUGEINT => Kind::Signed(width(id)),
            ffi::DUCKDB_TYPE_DUCKDB_TYPE_UTINYINT
            | ffi::DUCKDB_TYPE_DUCKDB_TYPE_USMALLINT
            | ffi::DUCKDB_TYPE_DUCKDB_TYPE_UINTEGER
            | ffi::DUCKDB_TYPE_DUCKDB_TYPE_UBIGINT
            | ffi::DUCKDB_TYPE_DUCKDB_TYPE_UHUGEINT => Kind::Unsigned(width(id)),
            ffi::DUCKDB_TYPE_DUCKDB_TYPE_FLOAT => Kind::Float,
            ffi::DUCKDB_TYPE_DUCKDB_TYPE_DOUBLE => Kind::Double,
            ffi::DUCKDB_TYPE_DUCKDB_TYPE_VARCHAR => Kind::Text,
            ffi::DUCKDB_TYPE_DUCKDB_TYPE_BLOB => Kind::Blob,
            ffi::DUCKDB_TYPE_DUCKDB_TYPE_BIT => Kind::Bits,
            ffi::DUCKDB_TYPE_DUCKDB_TYPE_UUID => Kind::Uuid,
            ffi::DUCKDB_TYPE_DUCKDB_TYPE_DATE => Kind::Date,
            ffi::DUCKDB_TYPE_DUCKDB_TYPE_TIME => Kind::Time,
            ffi::DUCKDB_TYPE_DUCKDB_TYPE_TIME_NS => Kind::TimeNanoseconds,
            ffi::DUCKDB_TYPE_DUCKDB_TYPE_TIME_TZ => Kind::TimeWithZone,
            ffi::DUCKDB_TYPE_DUCKDB_TYPE_TIMESTAMP_S => Kind::Timestamp(1, false),
            ffi::DUCKDB_TYPE_DUCKDB_TYPE_TIMESTAMP_MS => Kind::Timestamp(1000, false),
            ffi::DUCKDB_TYPE_DUCKDB_TYPE_TIMESTAMP => Kind::Timestamp(1_000_000, false),
            ffi::DUCKDB_TYPE_DUCKDB_TYPE_TIMESTAMP_NS => Kind::Timestamp(1_000_000_000, false),
            ffi::DUCKDB_TYPE_DUCKDB_TYPE_TIMESTAMP_TZ => Kind::Timestamp(1_000_000, true),
            ffi::DUCKDB_TYPE_DUCKDB_TYPE_INTERVAL => Kind::Interval,
            other => Kind::Other(other),
        }
    }
}

/// Returns the bytes of a whole number.
fn width(id: ffi::duckdb_type) -> usize {
    match id {
        ffi::DUCKDB_TYPE_DUCKDB_TYPE_TINYINT | ffi::DUCKDB_TYPE_DUCKDB_TYPE_UTINYINT => 1,
        ffi::DUCKDB_TYPE_DUCKDB_TYPE_SMALLINT | ffi::DUCKDB_TYPE_DUCKDB_TYPE_USMALLINT => 2,
        ffi::DUCKDB_TYPE_DUCKDB_TYPE_INTEGER | ffi::DUCKDB_TYPE_DUCKDB_TYPE_UINTEGER => 4,
        ffi::DUCKDB_TYPE_DUCKDB_TYPE_BIGINT | ffi::DUCKDB_TYPE_DUCKDB_TYPE_UBIGINT => 8,
        _ => 16,
    }
}

/// A cell that may own its text.
#[derive(Debug, PartialEq)]
pub(super) enum ReadCell<'a> {
    Null,
    Integer(i64),
    Real(f64),
    Bytes(&'a [u8]),
    Blob(&'a [u8]),
    Text(String),
}

impl ReadCell<'_> {
    pub(super) fn cell(&self) -> Cell<'_> {
        match self {
            ReadCell::Null => Cell::Null,
            ReadCell::Integer(integer) => Cell::Integer(*integer),
            ReadCell::Real(real) => Cell::Real(*real),
            ReadCell::Bytes(text) => Cell::Text(text),
            ReadCell::Blob(bytes) => Cell::Blob(bytes),
            ReadCell::Text(text) => Cell::Text(text.as_bytes()),
        }
    }
}

/// The cells of a column of a chunk, or those of the lists in it.
#[derive(Clone, Copy)]
pub(super) struct Cells<'a> {
    vector: ffi::duckdb_vector,
    data: *const u8,
    validity: *mut u64,
    kind: &'a Kind,
}

impl<'a> Cells<'a> {
    /// # Safety
    /// The vector must be valid as long as the cells are used, and its values must be of this kind.
    pub(super) unsafe fn new(vector: ffi::duckdb_vector, kind: &'a Kind) -> Cells<'a> {
        // SAFETY: the vector is valid.
        unsafe {
            Cells {
                vector,
                data: ffi::duckdb_vector_get_data(vector).cast(),
                validity: ffi::duckdb_vector_get_validity(vector),
                kind,
            }
        }
    }

    /// Reads the cell of a row; `None` if it cannot be printed.
    ///
    /// # Safety
    /// The vector must have so many rows.
    pub(super) unsafe fn read(&self, row: usize) -> Option<ReadCell<'a>> {
        // SAFETY: there is a bit for each row, if there are any.
        let is_valid = self.validity.is_null()
            || unsafe { ffi::duckdb_validity_row_is_valid(self.validity, row as u64) };
        if !is_valid {
            return Some(ReadCell::Null);
        }
        // SAFETY: the row exists and is valid, so that there is a value of the kind's type.
        unsafe { self.read_valid(row) }
    }

    unsafe fn value<T: Copy>(&self, row: usize) -> T {
        // SAFETY: the caller promises that there are values of this type, one a row.
        unsafe { self.data.cast::<T>().add(row).read_unaligned() }
    }

    unsafe fn read_valid(&self, row: usize) -> Option<ReadCell<'a>> {
        // SAFETY: as promised by the caller of `read`, here and in all that follows.
        unsafe {
            Some(match self.kind {
                Kind::Null => ReadCell::Null,
                Kind::Boolean => ReadCell::Integer(i64::from(self.value::<u8>(row) != 0)),
                Kind::Signed(width) => whole(self.signed(row, *width)),
                Kind::Unsigned(16) => match i128::try_from(self.value::<u128>(row)) {
                    Ok(number) => whole(number),
                    Err(_) => ReadCell::Real(self.value::<u128>(row) as f64),
                },
                Kind::Unsigned(width) => whole(self.unsigned(row, *width)),
                // The shortest decimal that is the number.
                Kind::Float => ReadCell::Real(self.value::<f32>(row).to_string().parse().ok()?),
                Kind::Double => ReadCell::Real(self.value(row)),
                Kind::Decimal(width, scale) => decimal(self.signed(row, *width), *scale)?,
                Kind::Text => ReadCell::Bytes(self.bytes(row)),
                Kind::Blob => ReadCell::Blob(self.bytes(row)),
                Kind::Enum(names, width) => {
                    let index = usize::try_from(self.unsigned(row, *width)).ok()?;
                    ReadCell::Bytes(names.get(index)?.as_bytes())
                }
                Kind::Union(members) => {
                    // It is a structure whose first field says which of the others has the value.
                    let tags = ffi::duckdb_struct_vector_get_child(self.vector, 0);
                    let tag = Cells::new(tags, &Kind::Unsigned(1)).unsigned(row, 1);
                    let member = usize::try_from(tag).ok()?;
                    let values = ffi::duckdb_struct_vector_get_child(self.vector, 1 + member as u64);
                    Cells::new(values, members.get(member)?).read(row)?
                }
                _ => ReadCell::Text(self.text(row)?),
            })
        }
    }

    /// Reads a value that is printed as a text.
    unsafe fn text(&self, row: usize) -> Option<String> {
        // SAFETY: as promised by the caller of `read`.
        unsafe {
            Some(match self.kind {
                Kind::Bits => bits(self.bytes(row))?,
                // The first bit is inverted, so that UUIDs sort as numbers.
                Kind::Uuid => uuid(&(self.value::<u128>(row) ^ (1 << 127)).to_be_bytes())?,
                Kind::Date => match self.value::<i32>(row) {
                    i32::MAX => "infinity".to_owned(),
                    days if days == -i32::MAX => "-infinity".to_owned(),
                    days => calendar_date(i64::from(days) - DAYS_TO_2000),
                },
                Kind::Time => time_of_day(self.value(row)),
                Kind::TimeNanoseconds => time_of_day(self.value::<i64>(row) / 1000),
                Kind::TimeWithZone => time_with_zone(self.value(row)),
                Kind::Timestamp(a_second, has_zone) => time_stamp(self.value(row), *a_second, *has_zone)?,
                Kind::Interval => {
                    let value: ffi::duckdb_interval = self.value(row);
                    interval(value.months, value.days, value.micros)?
                }
                Kind::List(element) => {
                    let ffi::duckdb_list_entry { offset, length } = self.value(row);
                    let elements = Cells::new(ffi::duckdb_list_vector_get_child(self.vector), element);
                    elements.listed(offset as usize, length as usize)?
                }
                Kind::Array(element, length) => {
                    let elements = Cells::new(ffi::duckdb_array_vector_get_child(self.vector), element);
                    elements.listed(row * length, *length)?
                }
                Kind::Struct(fields) => {
                    let mut text = String::from("{");
                    for (index, (name, kind)) in fields.iter().enumerate() {
                        let child = ffi::duckdb_struct_vector_get_child(self.vector, index as u64);
                        let separator = if index > 0 { ", " } else { "" };
                        let value = Cells::new(child, kind).read(row)?;
                        let _ = write!(text, "{separator}'{name}': {}", printed(&value)?);
                    }
                    text + "}"
                }
                Kind::Map(key, value) => self.map(row, key, value)?,
                _ => return None,
            })
        }
    }

    /// Returns a map as `{key=value, …}`.
    unsafe fn map(&self, row: usize, key: &Kind, value: &Kind) -> Option<String> {
        // SAFETY: as promised by the caller of `read`; a map is a list of structures with two fields.
        unsafe {
            let ffi::duckdb_list_entry { offset, length } = self.value(row);
            let entries = ffi::duckdb_list_vector_get_child(self.vector);
            let keys = Cells::new(ffi::duckdb_struct_vector_get_child(entries, 0), key);
            let values = Cells::new(ffi::duckdb_struct_vector_get_child(entries, 1), value);
            let mut text = String::from("{");
            for index in 0..length as usize {
                let at = offset as usize + index;
                let separator = if index > 0 { ", " } else { "" };
                let (key, value) = (keys.read(at)?, values.read(at)?);
                let _ = write!(text, "{separator}{}={}", printed(&key)?, printed(&value)?);
            }
            Some(text + "}")
        }
    }

    /// Returns some rows as `{a,b}`.
    unsafe fn listed(&self, offset: usize, length: usize) -> Option<String> {
        let mut text = String::from("{");
        for row in offset..offset.checked_add(length)? {
            if row > offset {
                text.push(',');
            }
            // SAFETY: as promised by the caller of `read`.
            text.push_str(&printed(&unsafe { self.read(row) }?)?);
        }
        text.push('}');
        Some(text)
    }

    unsafe fn signed(&self, row: usize, width: usize) -> i128 {
        // SAFETY: as promised by the caller of `read`.
        unsafe {
            match width {
                1 => i128::from(self.value::<i8>(row)),
                2 => i128::from(self.value::<i16>(row)),
                4 => i128::from(self.value::<i32>(row)),
                8 => i128::from(self.value::<i64>(row)),
                _ => self.value(row),
            }
        }
    }

    unsafe fn unsigned(&self, row: usize, width: usize) -> i128 {
        // SAFETY: as promised by the caller of `read`.
        unsafe {
            match width {
                1 => i128::from(self.value::<u8>(row)),
                2 => i128::from(self.value::<u16>(row)),
                4 => i128::from(self.value::<u32>(row)),
                _ => i128::from(self.value::<u64>(row)),
            }
        }
    }

    /// Returns the bytes of a text, which are in the vector if they are few.
    unsafe fn bytes(&self, row: usize) -> &'a [u8] {
        // SAFETY: as promised by the caller of `read`. The bytes live as long as the vector.
        unsafe {
            let text = self.data.cast::<ffi::duckdb_string_t>().add(row).cast_mut();
            let length = ffi::duckdb_string_t_length(*text) as usize;
            let data = ffi::duckdb_string_t_data(text);
            if length == 0 || data.is_null() { &[] } else { std::slice::from_raw_parts(data.cast(), length) }
        }
    }
}

/// Returns a whole number, as a real one if it is too large for an integer.
fn whole(number: i128) -> ReadCell<'static> {
    i64::try_from(number).map_or(ReadCell::Real(number as f64), ReadCell::Integer)
}

/// Returns a decimal, as an integer if it has no fraction.
fn decimal(digits: i128, scale: u8) -> Option<ReadCell<'static>> {
    let one = 10_i128.checked_pow(u32::from(scale))?;
    if digits % one == 0 {
        return Some(whole(digits / one));
    }
    Some(ReadCell::Real(format!("{digits}e-{scale}").parse().ok()?))
}

/// Returns the bits of a bit string. The first byte says how many bits of the second are none.
fn bits(bytes: &[u8]) -> Option<String> {
    let (padding, bytes) = bytes.split_first()?;
    let text: String = bytes.iter().map(|byte| format!("{byte:08b}")).collect();
    text.get(usize::from(*padding)..).map(str::to_owned)
}

/// Returns a time since 1970 as a date and a time.
fn time_stamp(count: i64, a_second: i64, has_zone: bool) -> Option<String> {
    match count {
        i64::MAX => return Some("infinity".to_owned()),
        count if count == -i64::MAX => return Some("-infinity".to_owned()),
        _ => {}
    }
    let microseconds = match a_second {
        1_000_000_000 => count.div_euclid(1000),
        a_second => count.checked_mul(1_000_000 / a_second)?,
    };
    Some(timestamp(microseconds.checked_sub(MICROSECONDS_TO_2000)?, if has_zone { "+00" } else { "" }))
}

/// Returns a time with the zone in which it is: 40 bits of microseconds, and 24 of seconds west of 15:59:59 east.
fn time_with_zone(bits: u64) -> String {
    let east = 57_599 - (bits & 0xFF_FFFF) as i64;
    let (sign, minutes) = (if east < 0 { '-' } else { '+' }, east.unsigned_abs() / 60);
    format!("{}{sign}{:02}:{:02}", time_of_day((bits >> 24) as i64), minutes / 60, minutes % 60)
}

/// Returns a part of a value that has several.
fn printed(cell: &ReadCell<'_>) -> Option<String> {
    Some(match cell {
        ReadCell::Null => "NULL".to_owned(),
        ReadCell::Integer(integer) => integer.to_string(),
        ReadCell::Real(real) => real.to_string(),
        ReadCell::Bytes(text) => String::from_utf8_lossy(text).into_owned(),
        ReadCell::Text(text) => text.clone(),
        ReadCell::Blob(_) => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_integers_where_they_have_no_fraction() {
        for (digits, scale, expected) in [
            (1050, 2, ReadCell::Real(10.5)),
            (-1200, 2, ReadCell::Integer(-12)),
            (7, 0, ReadCell::Integer(7)),
            (1, 10, ReadCell::Real(1e-10)),
            (i128::MAX, 38, ReadCell::Real(1.701_411_834_604_692_3)),
        ] {
            assert_eq!(decimal(digits, scale), Some(expected), "{digits}");
        }
        assert_eq!(whole(1 << 70), ReadCell::Real(1_180_591_620_717_411_303_424.0));
    }

    #[test]
    fn times_are_texts() {
        assert_eq!(time_stamp(1_420_281_000, 1, false).as_deref(), Some("2015-01-03 10:30:00"));
        assert_eq!(
            time_stamp(1_420_281_000_500_000_000, 1_000_000_000, false).as_deref(),
            Some("2015-01-03 10:30:00.5")
        );
        assert_eq!(time_stamp(0, 1_000_000, true).as_deref(), Some("1970-01-01 00:00:00+00"));
        assert_eq!(time_stamp(i64::MAX, 1, false).as_deref(), Some("infinity"));
        assert_eq!(time_stamp(i64::MAX - 1, 1, false), None);
        let east_by_two_hours = 57_599 - 2 * 3600;
        assert_eq!(time_with_zone((37_800_000_000 << 24) | east_by_two_hours), "10:30:00+02:00");
        assert_eq!(bits(&[5, 0b1111_1101]).as_deref(), Some("101"));
    }
}
