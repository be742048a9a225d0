//! Service of several messages by a network: known to the judge beyond the planner's costs.

use std::collections::{BTreeMap, VecDeque};

/// Service of simultaneous messages by a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[derive(strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum PortKind {
    /// All of them share its wire equally.
    #[default]
    Fair,
    /// One after the other, in the order in which they come.
    FirstInFirstOut,
}

/// Owner of a wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[derive(strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum WireOwner {
    /// Each rank.
    #[default]
    Rank,
    /// Each node: its ranks share one wire to the others. Messages within a node have a wire for each
    /// rank.
    Node,
}

/// Properties of a network beside the costs of its links.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Network {
    /// Service of several messages by a port.
    pub port: PortKind,
    /// The size in bytes up to which messages from or to a fair port take turns all the same: the packets of a small
    /// message leave together, before the next message's. All such messages count as one against the larger ones.
    /// `None`: all messages share.
    pub fair_beyond: Option<u64>,
    /// Owner of a wire.
    pub wire: WireOwner,
    /// The size in bytes up to which messages travel at once; larger ones wait for their receive to be
    /// posted, and cost the receiver's rank nothing. `None`: all travel at once.
    pub eager_limit: Option<u64>,
    /// Time that a rank is occupied by each message that it begins to send, in the time unit of the costs. `None`: the
    /// overhead of the link.
    pub send_overhead: Option<f64>,
    /// Bytes that may be under way to a rank at once before switches with small buffers lose some; `None`: no limit. In
    /// a gather, children wait for their turn ([`window_waits`]).
    pub window: Option<u64>,
    /// The factor within which times are known: above 1. `None`: no statement.
    pub uncertainty: Option<f64>,
    /// Methods of measurement, by the name of the measured property.
    pub measured: BTreeMap<String, String>,
}

impl Network {
    /// The uncertainty of times that tell nothing about a machine.
    pub const WORTHLESS: f64 = 100.0;

    /// True if a port serves messages of this size one after the other.
    pub fn takes_turns(&self, bytes: u64) -> bool {
        let is_small = self.fair_beyond.is_some_and(|limit| bytes <= limit);
        self.port == PortKind::FirstInFirstOut || is_small
    }

    /// True if a message of this size travels before its receive is posted.
    pub fn is_eager(&self, bytes: u64) -> bool {
        self.eager_limit.is_none_or(|limit| bytes <= limit)
    }
}

/// For each of several messages to one rank, in order, the index of the message that arrives before it starts, so that
/// at most a window is under way, or one larger message; `None` for a message that starts at once. Empty messages never
/// wait.
///
/// # Complexity
/// O(n).
pub fn window_waits(bytes: &[u64], window: u64) -> Vec<Option<usize>> {
    let (mut under_way, mut sum, mut last) = (VecDeque::new(), 0_u64, None);
    let mut go = |(index, &bytes): (usize, &u64)| {
        if bytes == 0 {
            return None;
        }
        while sum.saturating_add(bytes) > window
            && let Some((first, its)) = under_way.pop_front()
        {
            sum -= its;
            last = Some(first);
        }
        under_way.push_back((index, bytes));
        sum += bytes;
        last
    };
    bytes.iter().enumerate().map(&mut go).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Randomness;

    #[test]
    fn no_more_than_a_window_is_under_way_or_one_message() {
        assert_eq!(window_waits(&[4, 4, 4, 4], 100), [None; 4]);
        assert_eq!(window_waits(&[4, 4, 0, 4, 4], 8), [None, None, None, Some(0), Some(1)]);
        // The large one goes alone, and the next ones when it has arrived.
        assert_eq!(window_waits(&[4, 99, 4, 4], 8), [None, Some(0), Some(1), Some(1)]);
        assert_eq!(window_waits(&[1, 1, 1], 0), [None, Some(0), Some(1)]);
        for seed in 0..200 {
            let numbers = Randomness::Xoshiro { seed }.numbers(20);
            let bytes: Vec<u64> = numbers.iter().map(|number| number % 10).collect();
            let waits = window_waits(&bytes, 15);
            for index in 0..20 {
                // Those after the one that it waits for may all be under way.
                let first = waits[index].map_or(0, |at| at + 1);
                let most: u64 = bytes[first..=index].iter().sum();
                assert!(bytes[index] == 0 || most <= 15, "{bytes:?} {waits:?}");
                assert!(waits[index].is_none_or(|at| at < index && bytes[at] > 0));
            }
        }
    }
}
