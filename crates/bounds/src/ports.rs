//! Lower bounds where every rank has `k` ports.
//!
//! Largest of four bounds, all proven in `docs/ports.md` for every alpha, beta and gamma. With overlapping latency,
//! overhead stands for alpha, and counts and a fifth bound know lambda (`docs/bounds-with-latency.md`):
//!
//! - **Delayed**: no message begins before lambda, and only one port copies until then.
//!
//! - **One block**: the largest block comes in one message, and the root copies its own; without a given root, the
//!   least of these over all roots.
//! - **Packing**: of the `i k + 1` longest blocks, some port handles `i + 1`.
//! - **Growth**: a subtree of several blocks that is ready at `t` has kept its root's `k` ports busy,
//!   so that its message ends by `(k + 1) t`, but for the block that was there from the start. Ports
//!   that are to be busy to the end must have had enough to do before.
//! - **Counts**: with its last message on each port, a rank had hardly more than a `k + 1`-th of
//!   its blocks before.

use super::load::RootLoad;
use tuwtree_model::largest_block;
use tuwtree_model::{BlockSizes, Homogeneous, Ports, Root, Time, TimeError};

/// A lower bound on the completion time of every gather tree where every rank has several ports.
///
/// # Errors
/// [`TimeError`] where the bound, and hence every completion time, cannot be stated.
///
/// # Complexity
/// O(p log p) time for few ports, O(p) space.
///
/// # Source
/// `docs/ports.md`. OPT section 2.3 has the simple bound, in which blocks may be split.
pub(super) fn bound_on_ports(
    sizes: &BlockSizes,
    costs: &Homogeneous,
    root: Root,
    ports: Ports,
) -> Result<Time, TimeError> {
    let ported = |root, copy_rate| PortedLoad {
        load: RootLoad::new(root, copy_rate, sizes, costs),
        ports: ports.get().into(),
    };
    match root.given() {
        Some(root) => ported(root, costs.gamma()).bound(Copies::AtRoot),
        None => {
            // Copies that take no longer than messages, and a root with a largest block, allow
            // whatever any root allows; but a root without data receives one block more.
            let copy_rate = costs.gamma().min(costs.beta());
            let largest = ported(largest_block(sizes), copy_rate).bound(Copies::Anywhere)?;
            let anywhere = match sizes.iter().position(|bytes| bytes == 0) {
                Some(empty) => largest.min(ported(empty, copy_rate).bound(Copies::AtRoot)?),
                None => largest,
            };
            Ok(anywhere.max(copy_beside_message(sizes, costs)?))
        }
    }
}

/// The least over all roots of the larger of its copy and the largest other block's message. This counts where copies
/// take longer than messages.
fn copy_beside_message(sizes: &BlockSizes, costs: &Homogeneous) -> Result<Time, TimeError> {
    let mut blocks: Vec<u64> = sizes.iter().collect();
    blocks.sort_unstable();
    let Some(largest) = blocks.pop() else { return Ok(Time::ZERO) };
    let at_root = |own, other| Ok(costs.copy(own)?.max(costs.transmission(other)?));
    let at_largest = at_root(largest, blocks.last().copied().unwrap_or(0))?;
    match blocks.first() {
        Some(&smallest) => Ok(at_largest.min(at_root(smallest, largest)?)),
        None => Ok(at_largest),
    }
}

/// The largest time considered: above every representable time, and for all ports together far within an `i128`.
const HORIZON: u128 = 1 << 110;

/// Larger sums of leads make no difference: no time of interest is as large.
const LARGEST_SUM: u128 = 1 << 125;

/// Copies of the root's block.
#[derive(Clone, Copy, PartialEq)]
enum Copies {
    /// This root makes it.
    AtRoot,
    /// This root has a largest block and stands for all that have one, and copies take no longer than
    /// messages.
    Anywhere,
}

/// Receives and copies of a root in integer time, and its ports.
struct PortedLoad {
    load: RootLoad,
    /// `k`, at least 2.
    ports: usize,
}

impl PortedLoad {
    fn bound(&self, copies: Copies) -> Result<Time, TimeError> {
        let bound = match self.load.blocks() {
            0 => self.load.copy,
            _ => self.packing(copies).max(self.growth()).max(self.counts()).max(self.delayed()),
        };
        self.load.stated(bound)
    }

    /// One port does `i + 1` of the `i k + 1` longest jobs, one after the other; jobs are the blocks, several of which
    /// may come together, and the root's copy.
    fn packing(&self, copies: Copies) -> u128 {
        let jobs = match copies {
            Copies::AtRoot => self.jobs(),
            Copies::Anywhere => self.least_jobs(),
        };
        let longest = self.load.copy.max(self.load.overhead.saturating_add(self.load.block(0)));
        let several = jobs.iter().step_by(self.ports).zip(1_u128..).skip(1);
        several
            .map(|(&job, count)| self.load.overhead.saturating_add(job.saturating_mul(count)))
            .fold(longest, u128::max)
    }

    /// The bound by messages that begin no earlier than lambda: the blocks packed alone, and the time of all ports, at
    /// most one of which copies meanwhile.
    fn delayed(&self) -> u128 {
        let RootLoad { latency, overhead, .. } = self.load;
        let first = latency.saturating_add(overhead);
        let blocks = (0..self.load.blocks()).step_by(self.ports).zip(1_u128..);
        let packed = blocks
            .map(|(i, count)| first.saturating_add(self.load.block(i).saturating_mul(count)))
            .fold(0, u128::max);
        let (others, all) = (self.ports as u128 - 1, self.ports as u128);
        let occupied = self.load.base().saturating_add(overhead);
        packed.max(occupied.saturating_add(latency.saturating_mul(others)).div_ceil(all))
    }

    /// The blocks and the root's copy, the longest first.
    fn jobs(&self) -> Vec<u128> {
        let mut jobs: Vec<u128> = (0..self.load.blocks()).map(|i| self.load.block(i)).collect();
        let place = jobs.partition_point(|&job| job >= self.load.copy);
        jobs.insert(place, self.load.copy);
        jobs
    }

    /// No longer than the jobs of any root: of all blocks one is copied, and the next largest takes its
    /// place at worst; and if all were copied, each would keep its place.
    fn least_jobs(&self) -> Vec<u128> {
        let others = (0..self.load.blocks()).map(|i| (self.load.block(i), self.load.lead[i]));
        let copies = others.clone().map(|(block, lead)| block - lead);
        let copies = std::iter::once(self.load.copy).chain(copies);
        let blocks = others.map(|(block, _)| block).chain(std::iter::once(0));
        copies.zip(blocks).map(|(copy, block)| copy.max(block)).collect()
    }

    /// The least time `T` with `k T >= base + C(T)`, where `C(T)` is the least that alphas and waiting
    /// take of all ports together if they are to be occupied until `T`.
    fn growth(&self) -> u128 {
        let leads = prefix_sums(&self.load.lead);
        let alphas = self.load.overhead.saturating_mul(self.load.blocks() as u128);
        let most = self.load.base().saturating_add(alphas).div_ceil(self.ports as u128);
        let (mut low, mut high) = (0, most.min(HORIZON));
        // k T - C(T) never falls, since C grows by at most k where T grows by 1.
        while low < high {
            let middle = low + (high - low) / 2;
            match self.is_reached(middle, &leads) {
                true => high = middle,
                false => low = middle + 1,
            }
        }
        low
    }

    /// True if all data fits into the ports' time until `end`, beside alphas and waiting.
    fn is_reached(&self, end: u128, leads: &[i128]) -> bool {
        let (n, overhead) = (self.load.blocks(), self.load.overhead);
        let occupied = end * self.ports as u128;
        let Some(spare) = occupied.checked_sub(self.load.base()) else { return false };
        if overhead.saturating_mul(n as u128) <= spare {
            return true;
        }
        // So there is an overhead.
        for composites in 1..=n / 2 {
            let Some(left) = spare.checked_sub(overhead.saturating_mul(composites as u128)) else {
                return false;
            };
            // As many single blocks as can be paid for: the more, the less waiting.
            let affordable = usize::try_from(left / overhead).unwrap_or(n);
            let singles = affordable.min(n - 2 * composites);
            let before = self.before_composites(end, composites, &leads[singles..]);
            let done = self.load.copy.saturating_add(self.load.volume[singles]);
            if before <= done.saturating_add(left) {
                return true;
            }
            // One more message saves no more than that, and costs as much at least.
            if before <= 1 {
                return false;
            }
        }
        false
    }

    /// Least occupied time of all ports together before their composite messages, such that all end by `end`:
    /// composites are spread evenly, and the largest blocks that do not come alone lead the first of them.
    fn before_composites(&self, end: u128, composites: usize, leads: &[i128]) -> u128 {
        let k = self.ports;
        let leading = |from: usize, to: usize| leads[to] - leads[from];
        let occupied = |ports: usize| end as i128 * ports as i128;
        // Rounded up once at each level: the same as once in all.
        let shrunk = |time: i128| -(-time).div_euclid(k as i128 + 1);
        let (full, extra) = (composites / k, composites % k);
        let mut before = shrunk(occupied(extra) - leading(full * k, composites));
        before += occupied(k - extra);
        for level in (0..full).rev() {
            before = shrunk(before - leading(level * k, (level + 1) * k));
        }
        before.max(0) as u128
    }

    /// The least time by which the root can have all blocks, if all of them are small.
    fn counts(&self) -> u128 {
        let (n, k) = (self.load.blocks(), self.ports);
        let total = self.load.volume[n];
        let smallest: Vec<u128> =
            self.load.volume.iter().rev().map(|largest| total - largest).collect();
        let message = |count: usize| self.load.overhead.saturating_add(smallest[count]);
        // ready[c]: a sender with c blocks; received[c]: the root with c blocks of others.
        let (mut ready, mut received) = (vec![0; n + 1], vec![0; n + 1]);
        for c in 1..=n {
            let least = |before: &[u128], own: usize, most: usize, ready: &[u128]| {
                // No message begins before lambda, or sooner than lambda after its sender is ready.
                let latency = self.load.latency;
                let largest =
                    |part: usize| ready[part].saturating_add(latency).saturating_add(message(part));
                let rest = |part: usize| {
                    let received = before[c.saturating_sub(k * part).max(own)];
                    received.max(latency).saturating_add(message(1))
                };
                // The largest message grows with its part, the rest shrinks.
                let (mut low, mut high) = (1, most);
                while low < high {
                    let middle = low + (high - low) / 2;
                    match largest(middle) >= rest(middle) {
                        true => high = middle,
                        false => low = middle + 1,
                    }
                }
                let even = largest(low).max(rest(low));
                if low > 1 { even.min(largest(low - 1).max(rest(low - 1))) } else { even }
            };
            if c > 1 {
                ready[c] = least(&ready, 1, c - 1, &ready);
            }
            received[c] = least(&received, 0, c, &ready);
        }
        received[n]
    }
}

/// `n + 1` entries: the sums of the first `i`.
fn prefix_sums(times: &[u128]) -> Vec<i128> {
    let sums = times.iter().scan(0_u128, |sum, &time| {
        *sum = sum.saturating_add(time).min(LARGEST_SUM);
        Some(*sum as i128)
    });
    std::iter::once(0).chain(sums).collect()
}
