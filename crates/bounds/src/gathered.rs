//! Upper bound on the data in a subtree at a given time.

use super::counts::Counts;
use super::levels::growth::{GrowingMessage, Port};
use super::load::RootLoad;

/// Grid steps per block, up to a maximum.
const STEPS_PER_BLOCK: usize = 16;
const FEWEST_STEPS: usize = 256;
const MOST_STEPS: usize = 1 << 14;

/// Relative safety margin of a subtree's data, above the rounding error.
const MORE: f64 = 1.0 + 1e-9;

/// Upper bound on the data of any subtree but the root's, on a grid of times.
///
/// A collecting rank receives one message after the other, no sooner than lambda and the shortest copy; and each sender
/// had its data a latency before. With `K(t)` for the bytes received by `t`,
///
/// ```text
/// K(t) = max over starts a of  K(a) + min(H(a - lambda), t - o - a)
/// H(t) = min(a_1 + K(t), N(t) largest blocks)
/// ```
///
/// where `H` is what a subtree has: its root's block, and what that has received; but no more than as many of
/// the largest blocks as can have come together. Data is measured by its time on the wire.
pub(super) struct Gathered {
    /// The length of a step.
    step: f64,
    /// Entry `i`: at least the data of any subtree that is ready by step `i`.
    data: Vec<u128>,
}

impl Gathered {
    /// The most up to a time.
    ///
    /// # Complexity
    /// O(1) for each of some thousand steps, and as many searches among counts.
    pub(super) fn new(load: &RootLoad, counts: &Counts, up_to: u128) -> Gathered {
        let n = load.blocks();
        let steps = (STEPS_PER_BLOCK * n).clamp(FEWEST_STEPS, MOST_STEPS);
        let step = up_to as f64 / steps as f64;
        let [overhead, latency] = [load.overhead, load.latency].map(|time| time as f64 / step);
        let message =
            GrowingMessage { earliest: latency, latency, overhead, per_unit: 1.0 / step, from: 0 };
        let free_from = load.first_start(n - 1) as f64 / step;
        let all = load.volume[n] as f64;
        let mut port = Port::new(free_from, vec![message], all);
        let (mut rows, mut data) = (vec![Vec::with_capacity(steps + 1)], vec![]);
        for i in 0..=steps {
            if i > 0 {
                port.advance(&rows);
            }
            let received = (port.received()[i] * MORE).ceil() as u128;
            let together = load.volume[counts.within((i as f64 * step * MORE).ceil() as u128)];
            let most = together.min(load.block(0).saturating_add(received));
            rows[0].push(most as f64 * MORE);
            data.push(most);
        }
        Gathered { step, data }
    }

    /// The most data of a subtree that is ready by `time`; `None` beyond the last.
    pub(super) fn within(&self, time: u128) -> Option<u128> {
        self.data.get((time as f64 * MORE / self.step).ceil() as usize).copied()
    }
}
