//! Numbers with units, as people read and write them: bytes, times, rates. All programs, tables and
//! pictures read and write them here.
//!
//! | what | read | written |
//! |---|---|---|
//! | bytes | `65536`, `64KiB`, `8MB`, `1_000`, `1e6` | `65.5 kB` |
//! | time | `2us`, `1.5ms`, `20ns`, `1s` | `2 µs` |
//! | time per byte | `0.08ns`, `12.5GB/s` | `0.08 ns/byte (12500 MB/s)` |
//! | number | `0.5`, `1e6`, `1_000` | `0.5000000`, `1000000` |

use crate::{Homogeneous, LARGEST_EXACT, Time};

/// Units of bytes, with their values; upper and lower case are equal except for `B`.
const BYTE_UNITS: [(&str, u64); 10] = [
    ("B", 1),
    ("kB", 1_000),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
];

/// Units of rates, with how many of each make eight of a byte a second.
const BIT_RATES: [(&str, f64); 4] =
    [("kbit/s", 1e3), ("Mbit/s", 1e6), ("Gbit/s", 1e9), ("Tbit/s", 1e12)];

/// Units of time, with how many of each make a second.
const TIME_UNITS: [(&str, f64); 6] =
    [("s", 1.0), ("ms", 1e3), ("us", 1e6), ("µs", 1e6), ("ns", 1e9), ("ps", 1e12)];

/// A cost as a user states it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cost {
    /// A number in whatever unit the user has in mind.
    Plain(f64),
    /// A time in seconds, or in seconds per byte.
    Seconds(f64),
}

impl Cost {
    /// The number: in seconds, or seconds per byte, if it was given with a unit.
    pub fn value(self) -> f64 {
        match self {
            Cost::Plain(value) | Cost::Seconds(value) => value,
        }
    }
}

/// Number and unit of a text such as `64KiB` or `1.5 ms`; a number may have `_` between digits.
fn split(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    // The longest beginning that is a number: the `e` of `1e6` belongs to it, that of `1eB` does not.
    let end = (1..=text.len())
        .rev()
        .filter(|&end| text.is_char_boundary(end))
        .find(|&end| number_in(&text[..end]).is_some())?;
    Some((number_in(&text[..end])?, text[end..].trim_start()))
}

/// The number that a text is, with `_` between digits only.
fn number_in(text: &str) -> Option<f64> {
    let bytes = text.as_bytes();
    let digit = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
    let stray = (0..bytes.len())
        .any(|at| bytes[at] == b'_' && !(digit(at.checked_sub(1)) && digit(Some(at + 1))));
    if stray || text.ends_with(char::is_whitespace) {
        return None;
    }
    text.replace('_', "").parse().ok()
}

/// The number of bytes that a text states: a whole number, also with a unit, as `64KiB` or `1.5MB`.
///
/// # Errors
/// The allowed values.
///
/// # Example
/// ```
/// use tuwtree_model::quantity::parse_bytes;
/// assert_eq!(parse_bytes("64KiB"), Ok(65536));
/// assert_eq!(parse_bytes("1e6"), Ok(1_000_000));
/// assert!(parse_bytes("1.5").is_err());
/// ```
pub fn parse_bytes(text: &str) -> Result<u64, String> {
    let digits = text.trim().replace('_', "");
    if let (Ok(bytes), Some(_)) = (digits.parse(), number_in(text.trim())) {
        return Ok(bytes);
    }
    let fault = || {
        "a whole number of bytes from 0 to 2^64 - 1 is needed, such as 65536, 64KiB, 8MB or 1e6"
            .to_owned()
    };
    let (number, unit) = split(text).ok_or_else(fault)?;
    let unit = match unit {
        "" => 1,
        name => {
            let known = BYTE_UNITS.iter().find(|(one, _)| *one == name);
            known.ok_or_else(fault)?.1
        }
    };
    let bytes = number * unit as f64;
    // Below 2^64, a number and its unit give a whole number exactly, or it is none. (Powers are not specified to be exact.)
    let is_whole = bytes.fract() == 0.0 && bytes >= 0.0 && bytes < (1_u128 << 64) as f64;
    is_whole.then_some(bytes as u64).ok_or_else(fault)
}

/// The time that a text states: a plain number, or one with a unit, as `2us`.
///
/// # Errors
/// The allowed values.
pub fn parse_time(text: &str) -> Result<Cost, String> {
    let fault = || "a number is needed, or a time such as 2us, 1.5ms, 20ns or 1s".to_owned();
    let (number, unit) = split(text).ok_or_else(fault)?;
    match unit {
        "" => Ok(Cost::Plain(number)),
        name => {
            let known = TIME_UNITS.iter().find(|(one, _)| *one == name);
            Ok(Cost::Seconds(number / known.ok_or_else(fault)?.1))
        }
    }
}

/// The seconds that a text states: a plain number, or a time with its unit.
///
/// # Errors
/// The allowed values.
pub fn parse_seconds(text: &str) -> Result<f64, String> {
    parse_time(text).map(Cost::value)
}

/// The time per byte that a text states: a plain number, a time as `0.08ns` or `0.08ns/B`, or a rate
/// as `12.5GB/s` or `100Gbit/s`.
///
/// # Errors
/// The allowed values.
pub fn parse_time_per_byte(text: &str) -> Result<Cost, String> {
    let fault = || {
        "a number is needed, or a time per byte such as 0.08ns, or a rate such as 12.5GB/s or \
         100Gbit/s"
            .to_owned()
    };
    let (number, unit) = split(text).ok_or_else(fault)?;
    let in_bytes = BYTE_UNITS.iter().find(|(name, _)| unit.strip_suffix("/s") == Some(*name));
    let in_bits = BIT_RATES.iter().find(|(name, _)| unit == *name);
    let rate = in_bytes.map(|(_, bytes)| number * *bytes as f64);
    if let Some(rate) = rate.or(in_bits.map(|(_, bits)| number * bits / 8.0)) {
        return match rate > 0.0 {
            true => Ok(Cost::Seconds(1.0 / rate)),
            false => Err("a rate above 0 is needed".to_owned()),
        };
    }
    parse_time(text.strip_suffix("/B").unwrap_or(text)).map_err(|_| fault())
}

/// Costs in a line; the overhead only where it is not all of alpha.
pub fn parameters(costs: &Homogeneous, unit: Unit) -> String {
    let time = |value| unit.units(value);
    let per_byte = |value| match unit {
        Unit::Seconds if value > 0.0 => rate(value),
        Unit::Seconds | Unit::Alpha => number(value),
    };
    let overhead = match costs.overlaps() {
        true => format!(", overhead = {}", time(costs.overhead())),
        false => String::new(),
    };
    let exchange = match costs.has_exchange_costs() {
        true => format!(
            ", exchange alpha = {}, exchange beta = {}",
            time(costs.exchange_alpha()),
            per_byte(costs.exchange_beta())
        ),
        false => String::new(),
    };
    format!(
        "alpha = {}{overhead}, beta = {}, gamma = {}{exchange}",
        time(costs.alpha()),
        per_byte(costs.beta()),
        per_byte(costs.gamma())
    )
}

/// Unit in which times are stated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// The unit of alpha, unknown to the program.
    Alpha,
    /// Seconds; written as milliseconds, microseconds or nanoseconds where they are few.
    Seconds,
}

impl Unit {
    /// The unit in words.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Alpha => "in the unit of alpha",
            Unit::Seconds => "in seconds",
        }
    }

    /// A time: in seconds with a prefix and four digits, otherwise as [`number`] has it.
    pub fn time(self, time: Time) -> String {
        self.units(time.units())
    }

    /// A time or a span of this many units.
    pub fn units(self, units: f64) -> String {
        match self {
            Unit::Alpha => number(units),
            Unit::Seconds => seconds(units),
        }
    }

    /// A round time as an axis shows it.
    pub fn tick(self, units: f64) -> String {
        match self {
            Unit::Alpha => tick(units),
            Unit::Seconds => seconds(units),
        }
    }
}

/// Rate of a time per byte above 0: 23 GB/s.
fn rate(seconds_per_byte: f64) -> String {
    format!("{}/s", bytes((1.0 / seconds_per_byte).round() as u64))
}

/// A number: an integer in full, anything else with seven significant digits and at least one decimal.
pub fn number(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() <= LARGEST_EXACT as f64 {
        return format!("{value:.0}");
    }
    let magnitude = value.abs().log10().floor();
    if !(-4.0..15.0).contains(&magnitude) {
        return format!("{value:.6e}");
    }
    format!("{value:.*}", (6.0 - magnitude).max(1.0) as usize)
}

/// Four significant digits, without zeros behind the point.
pub fn short(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let magnitude = value.abs().log10().floor();
    if !(-5.0..9.0).contains(&magnitude) {
        return format!("{value:.3e}");
    }
    without_zeros(&format!("{value:.*}", (3.0 - magnitude).max(0.0) as usize)).to_owned()
}

/// The text without zeros behind the point that say nothing.
fn without_zeros(text: &str) -> &str {
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => text,
    }
}

/// A time with four significant digits in the unit that suits it: 1.5 s, 20 ms, 17.76 µs.
pub fn seconds(seconds: f64) -> String {
    const UNITS: [(f64, &str); 4] = [(1.0, "s"), (1e3, "ms"), (1e6, "µs"), (1e9, "ns")];
    if seconds == 0.0 {
        return "0 s".to_owned();
    }
    // What four digits would make 1000 of a unit is 1 of the next.
    let fits = |(scale, _): &(f64, &str)| seconds * scale >= 0.999_95;
    let (scale, name) = UNITS.into_iter().find(fits).unwrap_or(UNITS[3]);
    format!("{} {name}", short(seconds * scale))
}

/// A time in microseconds with two decimals, without the unit: a cell of a table.
pub fn microseconds(seconds: f64) -> String {
    format!("{:.2}", seconds * 1e6)
}

/// A number with all its digits and an exponent, for programs: 1.5e-6, 0e0.
pub fn exact(value: f64) -> String {
    format!("{value:e}")
}

/// A time per byte, and the rate that it amounts to.
pub fn per_byte(seconds_per_byte: f64) -> String {
    match seconds_per_byte {
        0.0 => "0 s/byte".to_owned(),
        _ => {
            format!("{}/byte ({} MB/s)", seconds(seconds_per_byte), short(1e-6 / seconds_per_byte))
        }
    }
}

/// A number of bytes with up to three significant digits: 999 B, 1.54 kB, 120 kB.
pub fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["kB", "MB", "GB", "TB", "PB", "EB"];
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1000.0;
    let mut unit = 0;
    while value >= 999.5 {
        value /= 1000.0;
        unit += 1;
    }
    let decimals = match value {
        _ if value < 9.995 => 2,
        _ if value < 99.95 => 1,
        _ => 0,
    };
    format!("{} {}", without_zeros(&format!("{value:.decimals$}")), UNITS[unit])
}

/// A round number as an axis shows it: 500000, 0.002, 5e-7.
pub fn tick(value: f64) -> String {
    match value == 0.0 || (1e-4..1e9).contains(&value.abs()) {
        true => without_zeros(&format!("{value:.9}")).to_owned(),
        false => {
            let text = format!("{value:.9e}");
            let (digits, exponent) = text.split_once('e').expect("an exponent");
            format!("{}e{exponent}", without_zeros(digits))
        }
    }
}

/// Duration of a program's work, with one or two decimals.
pub fn elapsed(seconds: f64) -> String {
    match seconds {
        _ if seconds < 1e-3 => format!("{:.1} µs", seconds * 1e6),
        _ if seconds < 1.0 => format!("{:.1} ms", seconds * 1e3),
        _ => format!("{seconds:.2} s"),
    }
}

/// An amount of memory.
pub fn memory(bytes: u64) -> String {
    let gib = bytes as f64 / f64::from(1 << 30);
    match gib {
        _ if gib < 1.0 => format!("{:.1} MiB", gib * 1024.0),
        _ => format!("{gib:.1} GiB"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_units_or_none() {
        for (text, bytes) in [
            ("0", 0),
            ("18446744073709551615", u64::MAX),
            ("64KiB", 65536),
            ("8MB", 8_000_000),
            ("8 MB", 8_000_000),
            ("1.5kB", 1500),
            ("0.5KiB", 512),
            ("1_000", 1000),
            ("1e6", 1_000_000),
            ("1e3KiB", 1_024_000),
            ("7B", 7),
        ] {
            assert_eq!(parse_bytes(text), Ok(bytes), "{text}");
        }
        for text in [
            "", "KiB", "1.5", "-1", "1e-3", "1__0", "_1", "1_", "64kib", "1e30", "inf", "NaN",
            "2us",
        ] {
            assert!(parse_bytes(text).unwrap_err().contains("64KiB"), "{text}");
        }
        assert!(parse_bytes("18446744073709551616").is_err());
    }

    #[test]
    fn times_and_rates_with_units_are_seconds() {
        for (text, cost) in [
            ("100", Cost::Plain(100.0)),
            ("-1", Cost::Plain(-1.0)),
            ("1e6", Cost::Plain(1e6)),
            ("1_000", Cost::Plain(1000.0)),
            ("2us", Cost::Seconds(2e-6)),
            ("2 µs", Cost::Seconds(2e-6)),
            ("1.5ms", Cost::Seconds(1.5e-3)),
            ("1e3ns", Cost::Seconds(1e-6)),
            ("3s", Cost::Seconds(3.0)),
        ] {
            assert_eq!(parse_time(text), Ok(cost), "{text}");
            assert_eq!(parse_time_per_byte(text), Ok(cost), "{text}");
        }
        assert_eq!(parse_time_per_byte("12.5GB/s"), Ok(Cost::Seconds(8e-11)));
        assert_eq!(parse_time_per_byte("100Gbit/s"), Ok(Cost::Seconds(8e-11)));
        assert_eq!(parse_time_per_byte("1MB/s"), Ok(Cost::Seconds(1e-6)));
        assert_eq!(parse_time_per_byte("2ns/B"), Ok(Cost::Seconds(2e-9)));
        assert!(parse_time("12.5GB/s").is_err() && parse_time_per_byte("0GB/s").is_err());
        assert!(parse_time("one").unwrap_err().contains("2us"));
    }

    #[test]
    fn numbers_are_short_and_do_not_hide_integers() {
        for (value, text) in [
            (2_002_600.0, "2002600"),
            (0.0, "0"),
            (0.001_234_567_8, "0.001234568"),
            (1234.56789, "1234.568"),
            (1e-9, "1.000000e-9"),
            (2_002_600.123_4, "2002600.1"),
            (-0.5, "-0.5000000"),
        ] {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn bytes_are_rounded_to_three_digits() {
        for (count, text) in [
            (0, "0 B"),
            (999, "999 B"),
            (1000, "1 kB"),
            (1536, "1.54 kB"),
            (9_999, "10 kB"),
            (120_000, "120 kB"),
            (999_499, "999 kB"),
            (999_500, "1 MB"),
            (2_001_600, "2 MB"),
            (u64::MAX, "18.4 EB"),
        ] {
            assert_eq!(bytes(count), text);
        }
    }

    #[test]
    fn ticks_show_no_digits_that_say_nothing() {
        for (value, text) in [
            (0.0, "0"),
            (0.2, "0.2"),
            (5e5, "500000"),
            (2e9, "2e9"),
            (5e-7, "5e-7"),
            (1.5e12, "1.5e12"),
        ] {
            assert_eq!(tick(value), text);
        }
    }

    #[test]
    fn seconds_have_a_prefix_and_four_digits() {
        for (value, text) in [
            (0.0, "0 s"),
            (1.776145e-5, "17.76 µs"),
            (2e-5, "20 µs"),
            (0.99999, "1 s"),
            (9.9999e-7, "1 µs"),
            (12_345.678, "12346 s"),
            (5e-10, "0.5 ns"),
            (0.0125, "12.5 ms"),
            (3e12, "3.000e12 s"),
        ] {
            assert_eq!(seconds(value), text);
        }
        assert_eq!(per_byte(8e-9), "8 ns/byte (125 MB/s)");
    }

    #[test]
    fn durations_and_memory_have_units() {
        assert_eq!(elapsed(12e-6), "12.0 µs");
        assert_eq!(elapsed(2.5), "2.50 s");
        assert_eq!(memory(16 << 20), "16.0 MiB");
        assert_eq!(memory(3 << 30), "3.0 GiB");
    }
}
