//! Upper bound on the number of blocks in a subtree at a given time.

use super::load::RootLoad;
use super::spread::gains;

/// Numbers of blocks up to this are searched linearly.
const STRIDE: usize = 16;

/// Earliest times by which a number of blocks can be in one subtree.
///
/// The last message that brings data to a subtree's root cuts its `c` blocks in two. If `s <= c / 2`
/// of them came with it, the message took at least as long as the `s` smallest blocks of all; the
/// others were together before, and the `s` a latency before. If more came, the same holds with the two
/// parts changed, and the message was longer. So the time of `c` blocks is at least
///
/// ```text
/// tau(c) = min over 1 <= s <= c/2 of  max(keep(c - s), tau(s) + lambda) + o + beta sm(s)
/// ```
///
/// where `sm(s)` is the size of the `s` smallest blocks, `keep(c) = tau(c)`, and `keep(1)` is the
/// time of the smallest block's copy, since a lone receiver copies its own.
pub(super) struct Counts {
    /// `n` entries, never falling: entry `c - 1` is `tau(c)`; `tau(1) = 0`.
    ready: Vec<u128>,
}

impl Counts {
    /// The counts of a load.
    ///
    /// With few blocks the receiver waits for the sender: of these, the most are best, since the sender
    /// of the others is ready no later and sends no more. With more it does not wait. There, `sm` being
    /// convex, once a larger `c - s` is as good as a smaller one, it remains so for greater `c`: so the
    /// scan starts from the best of the count before; and it leaps over what keeps too much, however
    /// little is sent.
    ///
    /// # Complexity
    /// O(n^2) time at worst, often nearly O(n); O(n) space.
    pub(super) fn new(load: &RootLoad) -> Counts {
        let n = load.blocks();
        let total = load.volume[n];
        let smallest: Vec<u128> = load.volume.iter().rev().map(|largest| total - largest).collect();
        // keep[c - 1]: as tau, but for a lone block.
        let mut keep = Vec::with_capacity(n);
        if n > 0 {
            keep.push(smallest[1] - load.lead[n - 1]);
        }
        // The fewest blocks with which a receiver does not wait; those with which it was best not to.
        let (mut prompt, mut best_kept) = (1, 1);
        for c in 2..=n {
            let half = c - c / 2;
            let arrival = |kept: usize| {
                let ready = if kept + 1 == c { 0 } else { keep[c - kept - 1] };
                ready.saturating_add(load.latency)
            };
            prompt = prompt.max(half);
            while prompt < c && arrival(prompt) > keep[prompt - 1] {
                prompt += 1;
            }
            let waiting = prompt - 1;
            let mut time = match waiting < half {
                true => u128::MAX,
                false => arrival(waiting).saturating_add(smallest[c - waiting]),
            };
            let mut kept = prompt.max(best_kept);
            while kept < c {
                let next = keep[kept - 1].saturating_add(smallest[c - kept]);
                let later = |sent: usize| keep[kept - 1].saturating_add(smallest[sent]) > time;
                if next <= time {
                    (time, best_kept) = (next, kept);
                    kept += 1;
                } else if kept + STRIDE < c && later(c - kept - STRIDE) {
                    // So are all that keep more and send as much.
                    kept = c + 1
                        - smallest[..c - kept]
                            .partition_point(|&sent| keep[kept - 1].saturating_add(sent) <= time);
                } else {
                    kept += 1;
                }
            }
            keep.push(time.saturating_add(load.overhead));
        }
        if let Some(lone) = keep.first_mut() {
            *lone = 0;
        }
        Counts { ready: keep }
    }

    /// No later than the counts of a load, and known at once: all messages are as short as the shortest.
    ///
    /// A subtree has at most `N(t)` blocks by `t`, and `N(t) = N(t - u) + N(t - u - lambda)` if a message takes `u`:
    /// the blocks of its root when the last message began, and the blocks of that message.
    ///
    /// # Complexity
    /// O(n) time and space.
    pub(super) fn of_shortest_messages(load: &RootLoad) -> Counts {
        let n = load.blocks();
        if n == 0 {
            return Counts { ready: vec![] };
        }
        let message = load.overhead.saturating_add(load.block(n - 1));
        let first = load.first_start(n - 1).saturating_add(message);
        Counts { ready: growth(n, first, message, load.latency) }
    }

    /// The most blocks of a subtree that is ready by `time`: at least 1.
    pub(super) fn within(&self, time: u128) -> usize {
        self.ready.partition_point(|&ready| ready <= time)
    }
}

/// Earliest times of n blocks in one subtree, n = 1, 2, ..., never falling: two at `first`, and by `t` the blocks of
/// `t - message` and of `t - message - latency`.
///
/// # Complexity
/// O(most) time and space.
///
/// # Source
/// Bar-Noy and Kipnis, "Designing broadcasting algorithms in the postal model for message-passing systems"
/// (1992): generalised Fibonacci numbers.
pub(super) fn growth(most: usize, first: u128, message: u128, latency: u128) -> Vec<u128> {
    let mut ready = vec![0; most.min(1)];
    if message == 0 {
        ready.resize(most, first);
        return ready;
    }
    let next = |time: u128| time.saturating_add(message);
    let passed_on = |time: u128| time.saturating_add(message).saturating_add(latency);
    for (time, gain) in gains(first, 1, next, passed_on) {
        if ready.len() >= most {
            break;
        }
        ready.resize(most.min(ready.len().saturating_add(gain)), time);
    }
    ready
}
