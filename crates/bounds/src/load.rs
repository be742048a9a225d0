//! Input of the bounds: a root and the other ranks' blocks in falling order, in integers.

use tuwtree_model::{BlockSizes, Homogeneous, LARGEST_EXACT, Rank, Time, TimeError};

/// The largest power of two below which scaled times are kept, with room for sums.
const HORIZON: f64 = 110.0;

/// Data that a root has to receive and copy, in scaled integer time.
pub(super) struct RootLoad {
    /// `o`, which is alpha where nothing overlaps, in the time unit of all fields.
    pub(super) overhead: u128,
    /// lambda: 0 where nothing overlaps.
    pub(super) latency: u128,
    /// The time of the root's copy.
    pub(super) copy: u128,
    /// `n + 1` entries: the time on the wire of the `i` largest of the others' `n` blocks that are
    /// not empty, without overhead.
    pub(super) volume: Vec<u128>,
    /// `n` entries: by how much sending the `i`-th largest takes longer than copying it.
    pub(super) lead: Vec<u128>,
    /// Most additions in sequence that make a completion time.
    additions: f64,
    scale: TimeScale,
}

/// Scale from times to integers.
#[derive(Clone, Copy, PartialEq)]
enum TimeScale {
    /// They are.
    Integral,
    /// Multiplied by `2^exponent`, and rounded down.
    Binary(f64),
}

impl RootLoad {
    /// The problem of `root`, which copies its block at `copy_rate`.
    pub(super) fn new(
        root: Rank,
        copy_rate: f64,
        sizes: &BlockSizes,
        costs: &Homogeneous,
    ) -> RootLoad {
        let scale = TimeScale::new(copy_rate, sizes, costs);
        let [overhead, latency] = [costs.overhead(), costs.latency()].map(|c| scale.integer(c));
        let [beta, gamma] =
            [costs.beta(), costs.gamma().min(costs.beta())].map(|c| scale.integer(c));
        let times = |rate: u128, bytes: u64| rate.saturating_mul(u128::from(bytes));
        let mut others: Vec<u64> = sizes.iter().collect();
        let copy = times(scale.integer(copy_rate), others.swap_remove(root));
        others.retain(|&bytes| bytes > 0);
        others.sort_unstable_by(|a, b| b.cmp(a));
        let mut sent = 0;
        let mut volume = vec![0];
        for &bytes in &others {
            sent += bytes;
            volume.push(times(beta, sent));
        }
        let lead = others.iter().map(|&bytes| times(beta - gamma, bytes)).collect();
        RootLoad {
            overhead,
            latency,
            copy,
            volume,
            lead,
            additions: sizes.ranks() as f64 * if costs.overlaps() { 3.0 } else { 2.0 },
            scale,
        }
    }

    /// `n`: how many of the others' blocks are not empty.
    pub(super) fn blocks(&self) -> usize {
        self.lead.len()
    }

    /// Time on the wire of the `i`-th largest block, from 0 on.
    pub(super) fn block(&self, i: usize) -> u128 {
        self.volume[i + 1] - self.volume[i]
    }

    /// Least time that the root of a subtree idles or copies before its first receive, if its largest block is the
    /// `i`-th largest.
    pub(super) fn first_start(&self, i: usize) -> u128 {
        self.latency.max(self.block(i) - self.lead[i])
    }

    /// Least idle time of the root, if it receives anything: no message starts earlier.
    pub(super) fn first_wait(&self) -> u128 {
        self.latency.saturating_sub(self.copy)
    }

    /// Time of all the root's receives and copies, without overhead.
    pub(super) fn base(&self) -> u128 {
        self.copy.saturating_add(self.volume[self.blocks()])
    }

    /// Fails if not even the least that any tree may take can be stated.
    ///
    /// # Errors
    /// [`TimeError`].
    pub(super) fn check(&self) -> Result<(), TimeError> {
        let received = self.first_wait().saturating_add(self.overhead);
        let least = self.base().saturating_add(if self.blocks() > 0 { received } else { 0 });
        match self.scale {
            TimeScale::Integral if least > u128::from(LARGEST_EXACT) => Err(TimeError::NotExact),
            // Only with the least of all scales can that be, beyond the range of f64.
            TimeScale::Binary(_) if least > 1 << 122 => Err(TimeError::NotFinite),
            _ => Ok(()),
        }
    }

    /// The time of `beyond` over the base, in the cost model's units.
    ///
    /// # Errors
    /// [`TimeError`] if it cannot be stated.
    pub(super) fn time(&self, beyond: u128) -> Result<Time, TimeError> {
        self.stated(self.base() + beyond)
    }

    /// A time in the cost model's units.
    ///
    /// # Errors
    /// [`TimeError`] if it cannot be stated.
    pub(super) fn stated(&self, units: u128) -> Result<Time, TimeError> {
        match self.scale {
            TimeScale::Integral if units > u128::from(LARGEST_EXACT) => Err(TimeError::NotExact),
            TimeScale::Integral => Time::new(units as f64).ok_or(TimeError::NotFinite),
            TimeScale::Binary(exponent) => {
                // There are a few more roundings in each message; none loses more than half an epsilon
                // of a value.
                let kept = 1.0 - (self.additions / 2.0 + 8.0) * f64::EPSILON;
                let units = units as f64 * (-exponent).exp2() * kept;
                // Near the smallest numbers roundings are not relative: nothing is claimed.
                let units = if units < f64::MIN_POSITIVE / f64::EPSILON { 0.0 } else { units };
                Time::new(units).ok_or(TimeError::NotFinite)
            }
        }
    }
}

impl TimeScale {
    /// The scale of a load: a power of two that uses most of 128 bits.
    fn new(copy_rate: f64, sizes: &BlockSizes, costs: &Homogeneous) -> TimeScale {
        if costs.is_integral() {
            return TimeScale::Integral;
        }
        let most = sizes.ranks() as f64 * costs.alpha()
            + (costs.beta() + copy_rate) * sizes.total() as f64;
        // Clamped so that neither the power nor a scaled cost leaves the range of f64.
        TimeScale::Binary((HORIZON - most.log2().ceil()).clamp(-930.0, 900.0))
    }

    /// A cost as an integer, rounded down.
    fn integer(self, cost: f64) -> u128 {
        match self {
            TimeScale::Integral => cost as u128,
            TimeScale::Binary(exponent) => (cost * exponent.exp2()) as u128,
        }
    }
}
