//! Bytes that may be under way to a process at once before a switch with small buffers loses some.
//!
//! Each of several processes sends one message to the same one at the same time. Together they take about as many times
//! as long as they are larger. Where packets are lost, and nobody notices, TCP sends them again after 0.2 s at the
//! least: a step that nothing else makes. Sizes are doubled up to the step, and halved down to it.

use crate::statistics::median;

/// From how many bytes on data was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundWindow {
    /// Number of processes that sent at once.
    pub senders: usize,
    /// The most bytes, of all of them together, that arrived in time.
    pub whole: u64,
    /// The fewest that did not.
    pub lost: u64,
}

impl FoundWindow {
    /// Bytes that may be under way: with a margin, since other jobs use switches, too.
    ///
    /// # Example
    /// ```
    /// let found = tuwtree_measure::FoundWindow { senders: 10, whole: 100_000, lost: 110_000 };
    /// assert_eq!(found.bytes(), 60_000);
    /// ```
    pub fn bytes(&self) -> u64 {
        self.whole / 5 * 3
    }
}

/// Threshold of seconds that means a time-out: half of the least that Linux waits.
const STEP: f64 = 0.1;

/// Number of times, whose median is taken.
const TIMES: usize = 3;

/// Threshold of data loss, if any: for messages of sizes from the least to the most, one from each of several
/// processes. `flood` returns the seconds of messages sent at once; `None` ends the search for lack of time, and the
/// knowledge up to then counts.
///
/// # Errors
/// What `flood` returns.
///
/// # Complexity
/// `O(log most)` floods.
pub fn find_window<E>(
    senders: usize,
    (least, most): (u64, u64),
    mut flood: impl FnMut(u64) -> Result<Option<f64>, E>,
) -> Result<Option<FoundWindow>, E> {
    let mut seconds = |bytes| -> Result<Option<f64>, E> {
        let mut times = Vec::with_capacity(TIMES);
        for _ in 0..TIMES {
            match flood(bytes)? {
                Some(seconds) => times.push(seconds),
                None => return Ok(None),
            }
        }
        Ok(median(&times))
    };
    let is_lost = |(bytes, known): (u64, f64), larger: u64, seconds: f64| {
        seconds > known * larger as f64 / bytes as f64 + STEP
    };
    let Some(first) = seconds(least)? else { return Ok(None) };
    let (mut whole, mut lost) = ((least, first), None);
    while whole.0 < most && lost.is_none() {
        let next = (2 * whole.0).min(most);
        let Some(time) = seconds(next)? else { break };
        match is_lost(whole, next, time) {
            true => lost = Some(next),
            false => whole = (next, time),
        }
    }
    let Some(mut lost) = lost else { return Ok(None) };
    // Whatever has disturbed the machine once does not again.
    if !seconds(lost)?.is_some_and(|time| is_lost(whole, lost, time)) {
        return Ok(None);
    }
    while lost - whole.0 > (whole.0 / 8).max(1) {
        let middle = whole.0.midpoint(lost);
        let Some(time) = seconds(middle)? else { break };
        match is_lost(whole, middle, time) {
            true => lost = middle,
            false => whole = (middle, time),
        }
    }
    let together = |bytes: u64| bytes * senders as u64;
    Ok(Some(FoundWindow { senders, whole: together(whole.0), lost: together(lost) }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    /// What is found where more than `buffer` bytes at once from 31 senders are lost in part, and every n-th time is
    /// 0.3 s too long.
    fn found(buffer: u64, disturbed: u32, floods: u32) -> Option<FoundWindow> {
        let mut taken = 0;
        let flood = |bytes: u64| -> Result<Option<f64>, Infallible> {
            taken += 1;
            let late = if taken % disturbed == 0 { 0.3 } else { 0.0 };
            let again = if 31 * bytes > buffer { 0.21 } else { 0.0 };
            let seconds = 4e-3 + 31.0 * 4e-8 * bytes as f64 + late + again;
            Ok(Some(seconds).filter(|_| taken <= floods))
        };
        find_window(31, (64, 1 << 16), flood).unwrap()
    }

    #[test]
    fn a_window_is_three_fifths_of_what_arrives_in_time() {
        for buffer in [5_000, 20_000, 100_000, 1_000_000] {
            for disturbed in [1000, 3, 4, 7] {
                let found = found(buffer, disturbed, 1000).unwrap();
                assert!(found.whole <= buffer && buffer < found.lost, "{buffer}: {found:?}");
                assert!(found.whole as f64 > 0.8 * buffer as f64, "{buffer}: {found:?}");
                assert!(found.bytes() <= buffer * 3 / 5 && found.bytes() > buffer * 2 / 5);
            }
        }
    }

    #[test]
    fn nothing_is_found_where_nothing_is_lost_however_some_times_are_too_long() {
        for disturbed in [1000, 3, 4, 7] {
            assert_eq!(found(u64::MAX, disturbed, 1000), None);
        }
    }

    #[test]
    fn time_that_ends_leaves_what_is_known_by_then() {
        assert_eq!(found(100_000, 1000, 10), None);
        // Twelve doublings and the confirmation, no halving.
        let early = found(100_000, 1000, 24).unwrap();
        let late = found(100_000, 1000, 1000).unwrap();
        assert!(early.whole <= late.whole && late.lost <= early.lost && early != late);
    }
}
