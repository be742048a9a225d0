//! Bound on allgathers and reduce-scatters by the data that a rank can have at a given time.

use super::levels::growth::{GrowingMessage, Port};
use super::rootless::ROUNDING;
use super::spread::gains;
use tuwtree_model::{BlockSizes, Homogeneous, Ports, Problem, Time};

/// Grid steps while the end of the grid is looked for, and in the last grid.
const COARSE: usize = 1 << 10;
const FINE: usize = 1 << 14;

/// End of the first grid over the known bound; its square is the factor of each further end.
const BEHIND: f64 = 1.125;
const MOST_GRIDS: usize = 8;

/// A lower bound on the time of every allgather, in pieces or not, through one port at homogeneous costs; `None` at other
/// costs. `known` is another bound, above 0. A reduce-scatter backwards in time is an allgather of the same data.
///
/// A rank receives one message after the other, and what a message brings its sender had a latency before. With `K(t)` for
/// the most bytes received by `t`, `H(t)` for the most that a rank has, and `N(t)` for the most ranks of which it can know
/// ([`known_at`](super::spread::known_at)),
///
/// ```text
/// K(t) = max over starts a >= lambda of  K(a) + min(H(a - lambda), (t - a - o) / beta)
/// H(t) = min(largest block + K(t), N(t) largest blocks)
/// ```
///
/// The rank with the least block has received all others when it is done.
///
/// # Complexity
/// O(p log p), and O(1) for each of some ten thousand steps.
pub(super) fn bound(problem: &Problem, sizes: &BlockSizes, known: Time) -> Option<Time> {
    let costs = problem.costs().homogeneous(sizes.ranks())?;
    let (overhead, beta) = (costs.overhead(), costs.beta());
    if problem.ports() != Ports::ONE || overhead <= 0.0 || beta <= 0.0 || known == Time::ZERO {
        return None;
    }
    let mut blocks: Vec<u64> = sizes.iter().collect();
    blocks.sort_unstable_by(|one, other| other.cmp(one));
    let least = *blocks.last()?;
    let mut end = known.units() * BEHIND;
    let coarse = (0..MOST_GRIDS).find_map(|_| {
        let found =
            ReceivedData { costs, blocks: &blocks, end, steps: COARSE }.first_with(sizes, least);
        end *= if found.is_none() { BEHIND * BEHIND } else { 1.0 };
        found
    })?;
    let end = coarse + 2.0 * end / COARSE as f64;
    let time =
        ReceivedData { costs, blocks: &blocks, end, steps: FINE }.first_with(sizes, least)?;
    let time = time * (1.0 - ROUNDING);
    Time::new(if problem.costs().is_integral() { time.ceil() } else { time })
}

/// Most data that a rank can have received, on a grid of times up to an end.
struct ReceivedData<'a> {
    costs: Homogeneous,
    /// In falling order.
    blocks: &'a [u64],
    end: f64,
    steps: usize,
}

impl ReceivedData<'_> {
    /// The last time of the grid before a rank can have received all blocks but one of `least` bytes; `None` beyond the end.
    fn first_with(&self, sizes: &BlockSizes, least: u64) -> Option<f64> {
        let (latency, overhead) = (self.costs.latency(), self.costs.overhead());
        let step = self.end / self.steps as f64;
        // Data is measured by its time on the wire.
        let data = |bytes: u64| bytes as f64 * self.costs.beta();
        let message = GrowingMessage {
            earliest: latency / step,
            latency: latency / step,
            overhead: overhead / step,
            per_unit: 1.0 / step,
            from: 0,
        };
        let needed = data(sizes.total() - least) * (1.0 - ROUNDING);
        let mut port = Port::new(0.0, vec![message], data(sizes.total()));
        let first = Time::new(latency + overhead)?;
        let after = |time: Time, cost: f64| Time::new(time.units() + cost).unwrap_or(first);
        let next = |time| after(time, overhead);
        let mut told = gains(first, 1, next, |time| after(time, latency + overhead)).peekable();
        let mut rows = vec![Vec::with_capacity(self.steps + 1)];
        let (mut counted, mut together) = (0, 0);
        let mut count = |more: usize| {
            for &block in self.blocks.iter().skip(counted).take(more) {
                together += block;
            }
            counted = counted.saturating_add(more).min(self.blocks.len());
            data(together)
        };
        let mut all_known = count(1);
        for number in 0..=self.steps {
            if number > 0 {
                port.advance(&rows);
            }
            let received = port.received()[number] * (1.0 + ROUNDING);
            if received >= needed {
                return Some(number.saturating_sub(1) as f64 * step);
            }
            let now = number as f64 * step * (1.0 + ROUNDING);
            while let Some((_, more)) = told.next_if(|&(time, _)| time.units() <= now) {
                all_known = count(more);
                if all_known >= data(sizes.total()) {
                    break;
                }
            }
            let most = (data(self.blocks[0]) + received).min(all_known);
            rows[0].push(most * (1.0 + ROUNDING));
        }
        None
    }
}
