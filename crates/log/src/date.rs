//! Dates in UTC, as they are in exported files and flags.

use std::fmt;
use std::str::FromStr;

/// The number of milliseconds of a day.
const DAY: i64 = 86_400_000;

/// A time in UTC. It is printed as in `2026-11-18T16:05:09Z`, and read from that, from a day such as `2026-11-18`, or from a number of
/// days before now, such as `30d`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date {
    /// Milliseconds since 1970.
    pub millis: i64,
}

/// The text is not a date.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected a day such as 2026-11-18, a time such as 2026-11-18T16:05:09Z, or a number of days such as 30d"
)]
pub struct DateError;

impl Date {
    /// Returns the beginning of a day, given the number of days since 1970.
    pub fn of_day(day: i64) -> Self {
        Date { millis: day.saturating_mul(DAY) }
    }

    /// Returns the year, the month and the day of the month.
    ///
    /// Days are counted from 1 March of the year 0, so that the day of a leap year comes last. 400 years have 146,097 days.
    pub fn civil(self) -> (i64, i64, i64) {
        let days = self.millis.div_euclid(DAY) + 719_468;
        let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
        let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year + year / 4 - year / 100);
        // Months from March on have 153 days every five months.
        let march_month = (5 * of_year + 2) / 153;
        let day = of_year - (153 * march_month + 2) / 5 + 1;
        let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
        (era * 400 + year + i64::from(month <= 2), month, day)
    }

    fn from_civil(year: i64, month: i64, day: i64) -> Option<Self> {
        if !(0..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
            return None;
        }
        let march_year = year - i64::from(month <= 2);
        let (era, of_era) = (march_year.div_euclid(400), march_year.rem_euclid(400));
        let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
        let days = era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468;
        let date = Date::of_day(days);
        // 31 April would be 1 May.
        (date.civil() == (year, month, day)).then_some(date)
    }

    fn parse(text: &str) -> Option<Self> {
        if let Some(days) = text.strip_suffix('d') {
            let days: u32 = days.parse().ok()?;
            return Some(Date { millis: crate::now() - i64::from(days) * DAY });
        }
        let (day, time) = text.split_once('T').unwrap_or((text, "00:00:00Z"));
        let numbers = |text: &str, separator, lengths: [usize; 3]| -> Option<[i64; 3]> {
            let mut numbers = [0; 3];
            let mut parts = text.split(separator);
            for (number, length) in numbers.iter_mut().zip(lengths) {
                let part = parts.next()?;
                let digits = part.len() == length && part.bytes().all(|byte| byte.is_ascii_digit());
                *number = digits.then(|| part.parse().ok()).flatten()?;
            }
            parts.next().is_none().then_some(numbers)
        };
        let [year, month, day] = numbers(day, '-', [4, 2, 2])?;
        let [hours, minutes, seconds] = numbers(time.strip_suffix('Z')?, ':', [2, 2, 2])?;
        if hours > 23 || minutes > 59 || seconds > 59 {
            return None;
        }
        let start = Date::from_civil(year, month, day)?;
        Some(Date { millis: start.millis + 1000 * (3600 * hours + 60 * minutes + seconds) })
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = self.civil();
        let seconds = self.millis.rem_euclid(DAY) / 1000;
        let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hours:02}:{minutes:02}:{seconds:02}Z")
    }
}

impl FromStr for Date {
    type Err = DateError;

    fn from_str(text: &str) -> Result<Self, DateError> {
        Date::parse(text).ok_or(DateError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_printed_and_read() {
        for (millis, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400_000, "2000-02-29T00:00:00Z"),
            (1_763_481_909_000, "2025-11-18T16:05:09Z"),
            (4_107_542_399_000, "2100-02-28T23:59:59Z"),
            (-1000, "1969-12-31T23:59:59Z"),
        ] {
            assert_eq!(Date { millis }.to_string(), text);
            assert_eq!(text.parse(), Ok(Date { millis }));
        }
        assert_eq!("2000-03-01".parse(), Ok(Date { millis: 951_868_800_000 }));
        for day in -1000..100_000 {
            let date = Date::of_day(day);
            assert_eq!(date.to_string().parse(), Ok(date));
        }
        let ago: Date = "2d".parse().unwrap();
        assert!((crate::now() - ago.millis - 2 * DAY).abs() < 60_000);
        for bad in [
            "",
            "d",
            "-1d",
            "2026-02-29",
            "2026-13-01",
            "2026-1-1",
            "2026-01-01T25:00:00Z",
            "2026-01-01T00:00:00",
            "+026-01-01",
        ] {
            assert_eq!(bad.parse::<Date>(), Err(DateError), "{bad}");
        }
    }
}
