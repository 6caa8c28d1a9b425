//! Dates and times as texts, alike for all engines. Times are counted from the beginning of the year 2000.

use std::fmt::Write as _;

/// The days from the first of March of the year 0 to the first of January 2000.
const DAYS_TO_2000: i64 = 730_425;
const MICROSECONDS_A_DAY: i64 = 86_400_000_000;

/// Returns the date after a number of days in the Gregorian calendar. Years begin in March here, so that the day that some
/// years have more is the last one.
pub(crate) fn calendar_date(days: i64) -> String {
    let days = days + DAYS_TO_2000;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    match year {
        1.. => format!("{year:04}-{month:02}-{day:02}"),
        before => format!("{:04}-{month:02}-{day:02} BC", 1 - before),
    }
}

/// Returns a date with a time and a zone.
pub(crate) fn timestamp(microseconds: i64, zone: &str) -> String {
    match microseconds {
        i64::MAX => return "infinity".to_owned(),
        i64::MIN => return "-infinity".to_owned(),
        _ => {}
    }
    let date = calendar_date(microseconds.div_euclid(MICROSECONDS_A_DAY));
    let time = time_of_day(microseconds.rem_euclid(MICROSECONDS_A_DAY));
    match date.strip_suffix(" BC") {
        Some(date) => format!("{date} {time}{zone} BC"),
        None => format!("{date} {time}{zone}"),
    }
}

/// Returns a time such as `10:30:00` or `10:30:00.5`.
pub(crate) fn time_of_day(microseconds: i64) -> String {
    let seconds = microseconds / 1_000_000;
    let mut text = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    push_fraction(&mut text, microseconds % 1_000_000);
    text
}

fn push_fraction(text: &mut String, microseconds: i64) {
    if microseconds != 0 {
        let digits = format!("{microseconds:06}");
        text.push('.');
        text.push_str(digits.trim_end_matches('0'));
    }
}

/// Returns an interval such as `1 year 2 mons 3 days 04:05:06`. Returns `None` if it is too long.
pub(crate) fn interval(months: i32, days: i32, microseconds: i64) -> Option<String> {
    let mut parts = Vec::new();
    for (count, unit) in [(months / 12, "year"), (months % 12, "mon"), (days, "day")] {
        if count != 0 {
            parts.push(format!("{count} {unit}{}", if count == 1 { "" } else { "s" }));
        }
    }
    if microseconds != 0 || parts.is_empty() {
        let sign = if microseconds < 0 { "-" } else { "" };
        let size = microseconds.checked_abs()?;
        parts.push(format!("{sign}{}", time_of_day(size)));
    }
    Some(parts.join(" "))
}

/// Returns the text of a UUID. Returns `None` if there are fewer than 16 bytes.
pub(crate) fn uuid(bytes: &[u8]) -> Option<String> {
    let mut text = String::new();
    for (index, byte) in bytes.get(..16)?.iter().enumerate() {
        if matches!(index, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    Some(text)
}
