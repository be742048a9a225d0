//! The homogeneous law for the dynamic programs: all block sizes turned into time once, in the number type in which
//! they compute.

use super::Homogeneous;
use crate::{BlockSizes, Rank};
use std::fmt::Debug;
use std::ops::{Add, Sub};

/// A number type in which the dynamic programs compute times: `i32` or `i64` where all costs are
/// integers, `f64` otherwise.
pub trait Scalar:
    Copy + PartialOrd + Add<Output = Self> + Sub<Output = Self> + Debug + Send + Sync + 'static
{
    /// 0 time units, the start of sums.
    const ZERO: Self;
    /// Later than every time. Compared with, never added to.
    const NEVER: Self;
    /// The largest magnitude that every intermediate result may have.
    const LIMIT: f64;

    /// `units` in this type: exact for the integer types, given an integer within the limit.
    fn from_units(units: f64) -> Self;

    /// The product of a rate and a number of bytes.
    fn scaled(rate: f64, bytes: u64) -> Self;

    /// The value as an `f64`: exact up to 2^53.
    fn units(self) -> f64;

    /// The smaller of two values.
    #[inline(always)]
    #[must_use]
    fn least(self, other: Self) -> Self {
        if other < self { other } else { self }
    }

    /// The larger of two values.
    #[inline(always)]
    #[must_use]
    fn most(self, other: Self) -> Self {
        if other > self { other } else { self }
    }
}

macro_rules! integer_scalar {
    ($integer:ty, $bits:expr) => {
        impl Scalar for $integer {
            const ZERO: Self = 0;
            const NEVER: Self = <$integer>::MAX;
            const LIMIT: f64 = (1_u64 << $bits) as f64;

            fn from_units(units: f64) -> Self {
                units as $integer
            }

            fn scaled(rate: f64, bytes: u64) -> Self {
                // A rate above 2^63 saturates; the limit admits it only together with no bytes.
                (rate as u64).saturating_mul(bytes) as $integer
            }

            fn units(self) -> f64 {
                self as f64
            }
        }
    };
}

integer_scalar!(i32, 30);
integer_scalar!(i64, 61);

impl Scalar for f64 {
    const ZERO: Self = 0.0;
    const NEVER: Self = f64::INFINITY;
    const LIMIT: f64 = 1e300;

    fn from_units(units: f64) -> Self {
        units
    }

    fn scaled(rate: f64, bytes: u64) -> Self {
        rate * bytes as f64
    }

    fn units(self) -> f64 {
        self
    }
}

/// Block sizes turned into time: what the dynamic programs for homogeneous costs compute with.
///
/// # Units
/// Everything is in the cost model's time units.
#[derive(Clone, Debug)]
pub struct ScaledSizes<T> {
    latency: T,
    /// `p + 1` entries: `beta (m_0 + … + m_{i-1})`.
    volume: Vec<T>,
    /// `p` entries: `gamma m_i`.
    copy: Vec<T>,
    /// `p + 1` entries: how many of blocks `0..i` are not empty. Apart from `volume`, because
    /// beta may be 0.
    nonempty: Vec<u32>,
}

impl<T: Scalar> ScaledSizes<T> {
    /// The scaled sizes of a problem, or `None` where results of the dynamic programs might leave
    /// the range in which `T` is exact (for `f64`: finite).
    ///
    /// # Complexity
    /// O(p) time and space.
    pub fn new(costs: &Homogeneous, sizes: &BlockSizes) -> Option<ScaledSizes<T>> {
        let exact_type = T::from_units(0.5).units() == 0.0;
        if (exact_type && !costs.is_integral()) || horizon(costs, sizes) > T::LIMIT {
            return None;
        }
        let mut nonempty = vec![0; sizes.ranks() + 1];
        for (rank, bytes) in sizes.iter().enumerate() {
            nonempty[rank + 1] = nonempty[rank] + u32::from(bytes > 0);
        }
        Some(ScaledSizes {
            latency: T::from_units(costs.overhead()),
            volume: (0..=sizes.ranks())
                .map(|rank| T::scaled(costs.beta(), sizes.before(rank)))
                .collect(),
            copy: sizes.iter().map(|bytes| T::scaled(costs.gamma(), bytes)).collect(),
            nonempty,
        })
    }

    /// This problem with a given root that is busy until `start`, rather than with its copy only.
    ///
    /// A given root's block is never sent, so that its volume does not matter; it becomes `start` as
    /// well, because the engines rely on copies that take no longer than messages.
    #[must_use]
    pub fn with_busy_root(mut self, root: Rank, start: T) -> ScaledSizes<T> {
        let own = self.volume(root, root);
        let empty = u32::from(self.is_empty(root, root));
        for after in root + 1..self.volume.len() {
            self.volume[after] = self.volume[after] - own + start;
            self.nonempty[after] += empty;
        }
        self.copy[root] = start;
        self
    }

    /// The number of ranks, `p >= 1`.
    #[inline(always)]
    pub fn ranks(&self) -> usize {
        self.copy.len()
    }

    /// `o`, which is alpha where nothing overlaps: what every transmission costs beside its volume.
    #[inline(always)]
    pub fn latency(&self) -> T {
        self.latency
    }

    /// `beta S(first, last)`.
    #[inline(always)]
    pub fn volume(&self, first: Rank, last: Rank) -> T {
        self.volume[last + 1] - self.volume[first]
    }

    /// `beta (m_0 + … + m_{i-1})` for `i` in `0..=p`.
    #[inline(always)]
    pub fn volumes(&self) -> &[T] {
        &self.volume
    }

    /// `gamma m_rank`: the time of the copy of a rank's own block.
    #[inline(always)]
    pub fn copy(&self, rank: Rank) -> T {
        self.copy[rank]
    }

    /// True if blocks `first..=last` are all empty.
    #[inline(always)]
    pub fn is_empty(&self, first: Rank, last: Rank) -> bool {
        self.nonempty[first] == self.nonempty[last + 1]
    }

    /// `comm(S(first, last))`: the time of transmitting blocks `first..=last` in one message.
    #[inline(always)]
    pub fn transmission(&self, first: Rank, last: Rank) -> T {
        if self.is_empty(first, last) { T::ZERO } else { self.sent(self.volume(first, last)) }
    }

    /// The time of a message that is known to hold data and to have this volume.
    #[inline(always)]
    pub fn sent(&self, volume: T) -> T {
        self.latency + volume
    }
}

/// An upper bound on every value that a dynamic program meets, with ample room: no ordered tree
/// that is worth a table entry lets a block travel, wait and be copied more than
/// `ceil(log2 p) + 4` times, binary trees with their two messages a level included.
fn horizon(costs: &Homogeneous, sizes: &BlockSizes) -> f64 {
    let levels = f64::from(sizes.ranks().next_power_of_two().ilog2()) + 4.0;
    2.0 * levels * costs.alpha() + levels * (costs.beta() + costs.gamma()) * sizes.total() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scaled_sizes_follow_the_same_law() {
        let costs = Homogeneous::new(7.0, 0.0, 2.0).unwrap();
        let sizes = BlockSizes::new([0, 3, 0]).unwrap();
        let scaled = ScaledSizes::<i32>::new(&costs, &sizes).unwrap();
        assert_eq!(scaled.transmission(0, 0), 0);
        assert_eq!(scaled.transmission(0, 2), 7, "beta = 0, but there is data");
        assert_eq!(scaled.copy(1), 6);
        assert!(
            ScaledSizes::<i32>::new(&Homogeneous::new(0.5, 1.0, 1.0).unwrap(), &sizes).is_none()
        );
        let large = BlockSizes::new([1 << 40]).unwrap();
        assert!(ScaledSizes::<i32>::new(&costs, &large).is_none());
        assert!(ScaledSizes::<i64>::new(&costs, &large).is_some());
    }
}
