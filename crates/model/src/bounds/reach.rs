//! How far a root's clock can get with so many messages and so much waiting.

use super::counts::Counts;
use super::load::RootLoad;
use crate::TimeError;

/// The least that any tree takes beyond the base: alphas for the messages that the root receives, and
/// its waiting.
///
/// Of `d` messages with data let `s` bring a single block and `k = d - s` two or more. The star has
/// `s = n` and never waits. For every other pair the least waiting is sought with which the root's
/// clock can reach the tree's own completion time.
///
/// # Errors
/// [`TimeError`] if not even the simple bound can be stated.
pub(super) fn least_latency(load: &RootLoad, counts: Option<&Counts>) -> Result<u128, TimeError> {
    load.check()?;
    let n = load.blocks();
    let latencies = |messages: usize| load.latency.saturating_mul(messages as u128);
    let mut least = latencies(n);
    for singles in 0..n {
        if latencies(singles) >= least {
            break;
        }
        for composites in 1..=(n - singles) / 2 {
            let paid = latencies(singles + composites);
            if paid >= least {
                break;
            }
            let root = MessageCounts { singles, composites };
            if let Some(idle) = root.least_idle(load, counts, least - paid) {
                least = paid + idle;
            }
        }
    }
    Ok(least)
}

/// How many messages with data a root receives.
struct MessageCounts {
    /// Those with one block that is not empty.
    singles: usize,
    /// Those with two or more, at least one such message.
    composites: usize,
}

impl MessageCounts {
    /// The least time below `limit` that the root must wait; `None` if it is no less.
    fn least_idle(&self, load: &RootLoad, counts: Option<&Counts>, limit: u128) -> Option<u128> {
        let (mut too_little, mut enough) = (0, limit - 1);
        if !self.suffice(load, counts, enough) {
            return None;
        }
        while too_little < enough {
            let middle = too_little + (enough - too_little) / 2;
            match self.suffice(load, counts, middle) {
                true => enough = middle,
                false => too_little = middle + 1,
            }
        }
        Some(enough)
    }

    /// Whether the root may have received everything after waiting for `idle` in all.
    ///
    /// Copy, single blocks and waiting come first, the largest blocks as singles: so the clock is
    /// furthest before each composite message. Three bounds on that clock run side by side.
    ///
    /// - `doubled`: a subtree ready at `t` whose largest block leads by `e` needs no more than `t + e`
    ///   on the wire; or its blocks, no more than can be counted by then, need no more than as many of
    ///   the largest. The leads are spent in falling order, and only where the first is the smaller.
    /// - `counted`: all blocks so far are no more than can be counted, each of the largest once.
    /// - twice the best bound before, with the largest lead again.
    fn suffice(&self, load: &RootLoad, counts: Option<&Counts>, idle: u128) -> bool {
        let (n, latency, volume) = (load.blocks(), load.latency, &load.volume);
        let fixed = load.copy + idle;
        let mut paid = latency.saturating_mul(self.singles as u128);
        let mut doubled = fixed + paid + volume[self.singles];
        let (mut clock, mut collected, mut leads) = (doubled, self.singles, self.singles);
        for _ in 0..self.composites {
            let most = counts.map_or(n, |counts| counts.within(clock));
            if most < 2 {
                return false;
            }
            let by_volume = doubled.saturating_mul(2).saturating_add(load.lead[leads]);
            let by_count = doubled.saturating_add(latency + volume[most]);
            if by_volume <= by_count {
                leads += 1;
            }
            doubled = by_volume.min(by_count);
            paid = paid.saturating_add(latency);
            collected = n.min(collected + most);
            let counted = fixed + paid + volume[collected];
            let twice = clock.saturating_mul(2).saturating_add(load.lead[0]);
            clock = doubled.min(counted).min(twice);
            // Further messages add their latency to all three bounds, at least.
            if collected == n && clock == counted {
                return true;
            }
        }
        false
    }
}
