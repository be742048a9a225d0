//! Description of a run's machine.

use std::time::{SystemTime, UNIX_EPOCH};
use tuwtree_cluster::Host;
use tuwtree_measure::Setting;
use tuwtree_model::document::Date;

/// The program, with its version.
pub(crate) const PROGRAM: &str = concat!("tuwtree-exec ", env!("CARGO_PKG_VERSION"));

/// Processes, nodes and library in a line.
pub(crate) fn describe(host: &Host) -> String {
    let plural = |count: usize, ending| if count == 1 { "" } else { ending };
    let (ranks, nodes) = (host.nodes.len(), host.node_count());
    format!(
        "{ranks} process{} on {nodes} node{}, {}",
        plural(ranks, "es"),
        plural(nodes, "s"),
        host.library
    )
}

/// Warnings about times on this machine; empty if none.
pub(crate) fn warning(host: &Host) -> String {
    match host.ranks_per_core {
        0 | 1 => String::new(),
        most => format!("WARNING ({most} processes a core): {}\n", Setting::OVERSUBSCRIBED),
    }
}

/// Today, in UTC.
pub(crate) fn today() -> Date {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    date_of_day(since.as_secs() / 86400)
}

/// The date, from days since 1970-01-01.
fn date_of_day(days: u64) -> Date {
    let mut left = days;
    let leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let mut year = 1970;
    while left >= 365 + u64::from(leap(year)) {
        left -= 365 + u64::from(leap(year));
        year += 1;
    }
    let mut month = 1;
    for length in [31, 28 + u64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if left < length {
            break;
        }
        left -= length;
        month += 1;
    }
    let text = format!("{year:04}-{month:02}-{:02}", left + 1);
    Date::parse(&text).expect("a day of the calendar")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_since_1970_have_dates() {
        for (days, date) in [
            (0, "1970-01-01"),
            (58, "1970-02-28"),
            (59, "1970-03-01"),
            (11016, "2000-02-29"),
            (20088, "2024-12-31"),
            (20778, "2026-11-21"),
        ] {
            assert_eq!(date_of_day(days).to_string(), date);
        }
    }
}
