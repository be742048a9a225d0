//! Words and numbers in pictures, and how wide they are.

use tuwtree_model::document::StatedCosts;
use tuwtree_model::{LARGEST_EXACT, Time};

/// The typefaces of all pictures: the first one is what widths are computed for, the others are not
/// wider to speak of.
pub(crate) const FONTS: &str = "'DejaVu Sans', Verdana, Arial, sans-serif";

/// Advance widths of the printable ASCII characters in DejaVu Sans, in 2048ths of the font size.
const WIDTHS: [u16; 95] = [
    651, 821, 942, 1716, 1303, 1946, 1597, 563, 799, 799, 1024, 1716, 651, 739, 651, 690, 1303,
    1303, 1303, 1303, 1303, 1303, 1303, 1303, 1303, 1303, 690, 690, 1716, 1716, 1716, 1087, 2048,
    1401, 1405, 1430, 1577, 1294, 1178, 1587, 1540, 604, 604, 1343, 1141, 1767, 1532, 1612, 1235,
    1612, 1423, 1300, 1251, 1499, 1401, 2025, 1403, 1251, 1403, 799, 690, 799, 1716, 1024, 1024,
    1255, 1300, 1126, 1300, 1260, 721, 1300, 1298, 569, 569, 1186, 569, 1995, 1298, 1253, 1300,
    1300, 842, 1067, 803, 1298, 1212, 1675, 1212, 1212, 1075, 1303, 690, 1303, 1716,
];

/// How wide a text of this font size is; characters beyond ASCII count as the widest.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    let units: u32 = text
        .chars()
        .map(|character| match character {
            ' '..='~' => u32::from(WIDTHS[character as usize - 32]),
            _ => 2048,
        })
        .sum();
    f64::from(units) / 2048.0 * size
}

/// A number of bytes with up to three significant digits: 999 B, 1.54 kB, 120 kB.
pub(crate) fn bytes(bytes: u64) -> String {
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
    let text = format!("{value:.decimals$}");
    let text = if decimals > 0 { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text} {}", UNITS[unit])
}

/// A number: an integer in full, anything else with seven significant digits.
pub(crate) fn number(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() <= LARGEST_EXACT as f64 {
        return format!("{value:.0}");
    }
    let magnitude = value.abs().log10().floor();
    if !(-5.0..15.0).contains(&magnitude) {
        return format!("{value:.6e}");
    }
    format!("{value:.*}", (6.0 - magnitude).max(1.0) as usize)
}

/// A round number as an axis shows it: 500000, 0.002, 5e-7.
fn tick(value: f64) -> String {
    match value == 0.0 || (1e-4..1e9).contains(&value.abs()) {
        true => {
            let text = format!("{value:.9}");
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
        false => {
            let text = format!("{value:.9e}");
            let (digits, exponent) = text.split_once('e').expect("an exponent");
            format!("{}e{exponent}", digits.trim_end_matches('0').trim_end_matches('.'))
        }
    }
}

/// The costs in a line.
pub(crate) fn costs(costs: &StatedCosts) -> String {
    match costs {
        StatedCosts::Parameters(costs) => format!(
            "alpha = {}, beta = {}, gamma = {}",
            number(costs.alpha()),
            number(costs.beta()),
            number(costs.gamma())
        ),
        StatedCosts::Machine(machine) => format!("machine {}", machine.name),
    }
}

/// The unit in which times are stated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// Whatever the costs are stated in.
    Alpha,
    /// Seconds; shown as milliseconds, microseconds or nanoseconds where they are few.
    Seconds,
}

impl Unit {
    /// The unit of times that follow from these costs.
    pub(crate) fn of(costs: &StatedCosts) -> Unit {
        match costs {
            StatedCosts::Parameters(_) => Unit::Alpha,
            StatedCosts::Machine(_) => Unit::Seconds,
        }
    }

    /// The unit in words.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Unit::Alpha => "in the unit of alpha",
            Unit::Seconds => "in seconds",
        }
    }

    /// A time.
    pub(crate) fn time(self, time: Time) -> String {
        self.units(time.units())
    }

    /// A time or a span of so many units.
    pub(crate) fn units(self, units: f64) -> String {
        match self {
            Unit::Alpha => number(units),
            Unit::Seconds => seconds(units),
        }
    }

    /// A round time as an axis shows it.
    pub(crate) fn tick(self, units: f64) -> String {
        match self {
            Unit::Alpha => tick(units),
            Unit::Seconds => seconds(units),
        }
    }
}

/// Seconds with four significant digits: 1.5 s, 20 ms, 17.76 µs.
fn seconds(seconds: f64) -> String {
    const UNITS: [(f64, &str); 4] = [(1.0, "s"), (1e3, "ms"), (1e6, "µs"), (1e9, "ns")];
    if seconds == 0.0 {
        return "0 s".to_owned();
    }
    let fits = |(scale, _): &(f64, &str)| seconds * scale >= 0.99995;
    let (scale, name) = UNITS.into_iter().find(fits).unwrap_or(UNITS[3]);
    let value = seconds * scale;
    if !(1e-3..1e6).contains(&value) {
        return format!("{value:.3e} {name}");
    }
    let decimals = (3.0 - value.log10().floor()).max(0.0) as usize;
    let text = format!("{value:.decimals$}");
    let text = match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => &text,
    };
    format!("{text} {name}")
}

/// So many processors.
pub(crate) fn processors(count: usize) -> String {
    match count {
        1 => "1 processor".to_owned(),
        _ => format!("{count} processors"),
    }
}

/// The text, with its end cut off where it is wider than this.
pub(crate) fn fitted(text: &str, size: f64, room: f64) -> String {
    if width(text, size) <= room {
        return text.to_owned();
    }
    let mut fitted = text.to_owned();
    while !fitted.is_empty() && width(&fitted, size) + size > room {
        fitted.pop();
    }
    fitted.push('…');
    fitted
}

#[cfg(test)]
mod tests {
    use super::*;

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
            (12_345.678, "12346 s"),
            (5e-10, "0.5 ns"),
            (3e12, "3.000e12 s"),
        ] {
            assert_eq!(Unit::Seconds.units(value), text);
        }
    }

    #[test]
    fn a_text_is_cut_where_there_is_no_room() {
        assert_eq!(fitted("short", 12.0, 100.0), "short");
        let cut = fitted("a text that is much too long", 12.0, 100.0);
        assert!(cut.ends_with('…') && width(&cut, 12.0) <= 100.0, "{cut}");
    }
}
