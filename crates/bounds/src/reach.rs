//! Least clock of a root by numbers of messages and waiting times.

use super::counts::Counts;
use super::gathered::Gathered;
use super::load::RootLoad;
use std::ops::RangeInclusive;
use tuwtree_model::TimeError;

/// Up to how many composite messages each number of them is looked at by itself.
const ONE_BY_ONE: usize = 64;

/// The least that any tree takes beyond the base: overheads for the messages that the root receives, and
/// its waiting.
///
/// Of `d` messages with data let `s` bring a single block and `k = d - s` two or more. The star has
/// `s = n` and waits only for its first message. For every other `k` the least sum of overheads and
/// waiting is sought with which the root's clock can reach the tree's own completion time: of that sum,
/// the more is spent on single blocks, the further the clock.
///
/// # Errors
/// [`TimeError`] if not even the simple bound can be stated.
pub(super) fn least_beyond(load: &RootLoad, counts: Option<&Counts>) -> Result<u128, TimeError> {
    load.check()?;
    Ok(least(load, counts, None))
}

/// Like [`least`], following the data of subtrees too.
///
/// # Errors
/// As [`least_beyond`].
pub(super) fn least_beyond_gathered(load: &RootLoad, counts: &Counts) -> Result<u128, TimeError> {
    let mut found = least_beyond(load, Some(counts))?;
    for _ in 0..MOST_GRIDS {
        if load.volume[load.blocks()] == 0 {
            break;
        }
        let done = load.base().saturating_add(found);
        let up_to = done.saturating_add(done / 4).saturating_add(1);
        let gathered = Gathered::new(load, counts, up_to);
        found = found.max(least(load, Some(counts), Some(&gathered)));
        if load.base().saturating_add(found) <= up_to {
            break;
        }
    }
    Ok(found)
}

/// Most extensions of the time up to which data is followed.
const MOST_GRIDS: usize = 8;

/// The least for any number of composite messages, by this knowledge of subtrees.
fn least(load: &RootLoad, counts: Option<&Counts>, gathered: Option<&Gathered>) -> u128 {
    let n = load.blocks();
    if n == 0 {
        return 0;
    }
    let overheads = |messages: usize| load.overhead.saturating_mul(messages as u128);
    let mut least = overheads(n).saturating_add(load.first_wait());
    let mut fewest = 1;
    while fewest <= n / 2 {
        // With hundreds of messages one more or less makes little difference.
        let most = (fewest + (fewest - 1) / ONE_BY_ONE).min(n / 2);
        let root = Root { load, counts, gathered, composites: fewest..=most };
        let spent = overheads(fewest).saturating_add(load.first_wait());
        if spent >= least {
            break;
        }
        least = root.least_beyond(spent, least);
        fewest = most + 1;
    }
    least
}

/// A root that receives this many messages with two or more nonempty blocks.
struct Root<'a> {
    load: &'a RootLoad,
    counts: Option<&'a Counts>,
    gathered: Option<&'a Gathered>,
    composites: RangeInclusive<usize>,
}

impl Root<'_> {
    /// The least time from `least` to `limit`, beyond the base, that may do.
    fn least_beyond(&self, mut least: u128, limit: u128) -> u128 {
        if !self.suffices(limit - 1) {
            return limit;
        }
        let mut enough = limit - 1;
        while least < enough {
            let middle = least + (enough - least) / 2;
            match self.suffices(middle) {
                true => enough = middle,
                false => least = middle + 1,
            }
        }
        enough
    }

    /// True if the root may have received everything with this much time `beyond` the base for waiting and the
    /// overheads of at least the fewest composite messages.
    ///
    /// Copy, single blocks and waiting come first, the largest blocks as singles: so the clock is
    /// furthest before each composite message. Three bounds on that clock run side by side.
    ///
    /// - `doubled`: a subtree ready in time for a message at `t` has received most of its data by then,
    ///   so that the message takes little longer; or its blocks, no more than can be counted by then,
    ///   need no more than as many of the largest, nor than what a subtree can have by then. The blocks that subtrees have from the start are
    ///   spent in falling order, and only where the first is the smaller.
    /// - `counted`: all blocks so far are no more than can be counted, each of the largest once.
    /// - twice the best bound before, with the largest block again.
    fn suffices(&self, beyond: u128) -> bool {
        let RootLoad { overhead, ref volume, .. } = *self.load;
        let (n, fewest) = (self.load.blocks(), *self.composites.start());
        let composites = overhead * fewest as u128;
        let affordable = (beyond - self.load.first_wait() - composites) / overhead;
        let singles = usize::try_from(affordable).unwrap_or(n).min(n - 2 * fewest);
        let done = self.load.base() + beyond;
        // What is spent beside data, up to each message.
        let mut spent = self.load.copy + beyond - composites;
        let mut doubled = spent + volume[singles];
        let (mut clock, mut collected, mut largest) = (doubled, singles, singles);
        for _ in 1..=*self.composites.end() {
            let most = self.most_at(clock);
            if most < 2 {
                return false;
            }
            let by_volume = self.doubled(doubled, largest);
            let by_count = doubled.saturating_add(overhead + self.most_data_at(clock, most));
            if by_volume <= by_count {
                largest = (largest + 1).min(n - 1);
            }
            doubled = by_volume.min(by_count);
            spent = spent.saturating_add(overhead);
            collected = n.min(collected + most);
            let counted = spent + volume[collected];
            clock = doubled.min(counted).min(self.doubled(clock, 0));
            // Further messages add their overhead to all three bounds, at least.
            if collected == n && clock >= counted.min(done) {
                return true;
            }
        }
        false
    }

    /// The most blocks that a message brings which starts at this time.
    fn most_at(&self, clock: u128) -> usize {
        match (self.counts, clock.checked_sub(self.load.latency)) {
            (_, None) => 0,
            (None, _) => self.load.blocks(),
            (Some(counts), Some(ready)) => counts.within(ready),
        }
    }

    /// The most data in a message that starts at this time, with at most this many blocks.
    fn most_data_at(&self, clock: u128, most: usize) -> u128 {
        let ready = clock.saturating_sub(self.load.latency);
        let data = self.gathered.and_then(|gathered| gathered.within(ready));
        data.unwrap_or(u128::MAX).min(self.load.volume[most])
    }

    /// The latest end of a message that starts at this time, whose subtree's largest block is no larger
    /// than the `i`-th largest, from 0 on.
    fn doubled(&self, clock: u128, i: usize) -> u128 {
        let given = clock.saturating_mul(2).saturating_add(self.load.block(i));
        given.saturating_sub(self.load.latency.saturating_add(self.load.first_start(i)))
    }
}
