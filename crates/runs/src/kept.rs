//! The problem that the sweep works on: the blocks that are not empty, in exact integers.
//!
//! Empty blocks cost nothing to send, so that the table needs no rows and columns for them; where
//! they stand still matters (see [`zeros`](super::zeros)), and is kept as the number of empty
//! blocks that follow each kept one. A given root is kept even if its block is empty.

use super::RunsError;
use super::run::ExcessLaw;
use tuwtree_model::{Rank, Root, Scalar, ScaledSizes};

/// The blocks that the table's rows and columns stand for: `n` of them, in rank order.
#[derive(Clone, Debug)]
pub(super) struct KeptBlocks {
    /// alpha, as an integer like all times here.
    pub(super) latency: i64,
    /// `n + 1` entries, never falling: entry `i` is the volume of the blocks before `i`.
    prefix: Vec<i64>,
    /// `n` entries: `w_i = (beta - gamma) m_i >= 0`, by how much sending a block takes longer than
    /// copying it.
    lead: Vec<i64>,
    /// `n` entries: the first block after `j` whose `w` differs from `w_j`, or `n`.
    flat: Vec<u32>,
    /// `n` entries: how many empty blocks follow, 2 standing for two or more.
    gap: Vec<u8>,
    /// `n` entries, rising: the rank that has the block.
    rank: Vec<u32>,
    /// The kept block of the given root.
    root: Option<usize>,
    /// True if the `w_i` differ.
    varied: bool,
    /// Inverse of the mean volume; 0 for volume 0.
    density: f64,
}

impl KeptBlocks {
    /// The blocks to keep of a problem.
    ///
    /// # Errors
    /// [`RunsError::CopyingIsSlower`] if `gamma > beta`, [`RunsError::TooManyBlocks`].
    pub(super) fn new<T: Scalar>(
        sizes: &ScaledSizes<T>,
        root: Root,
    ) -> Result<KeptBlocks, RunsError> {
        let given = match root {
            Root::Given(rank) => Some(rank),
            Root::Best | Root::None => None,
        };
        let scale = Rounding::new(sizes);
        let mut kept = KeptBlocks {
            latency: scale.integer(sizes.latency()),
            prefix: vec![0],
            lead: Vec::new(),
            flat: Vec::new(),
            gap: Vec::new(),
            rank: Vec::new(),
            root: None,
            varied: false,
            density: 0.0,
        };
        for rank in 0..sizes.ranks() {
            if sizes.is_empty(rank, rank) && given != Some(rank) {
                if let Some(gap) = kept.gap.last_mut() {
                    *gap = (*gap + 1).min(2);
                }
                continue;
            }
            if given == Some(rank) {
                kept.root = Some(kept.rank.len());
            }
            let before = *kept.prefix.last().expect("starts with 0");
            let after = scale.integer(sizes.volumes()[rank + 1]);
            let lead = after - before - scale.integer(sizes.copy(rank));
            if lead < -scale.rounding {
                return Err(RunsError::CopyingIsSlower { rank });
            }
            kept.prefix.push(after);
            kept.lead.push(lead.max(0));
            kept.gap.push(0);
            kept.rank.push(rank as u32);
        }
        let blocks = kept.blocks();
        if blocks >= 1 << 31 {
            return Err(RunsError::TooManyBlocks { blocks });
        }
        kept.mark_flat();
        let total = kept.prefix[blocks];
        kept.density = if total > 0 { blocks as f64 / total as f64 } else { 0.0 };
        Ok(kept)
    }

    /// Finds where `w` changes.
    fn mark_flat(&mut self) {
        let n = self.blocks();
        self.flat = vec![n as u32; n];
        for j in (1..n).rev() {
            let same = self.lead[j - 1] == self.lead[j];
            self.flat[j - 1] = if same { self.flat[j] } else { j as u32 };
        }
        self.varied = n > 0 && self.flat[0] < n as u32;
    }

    /// `n`.
    #[inline(always)]
    pub(super) fn blocks(&self) -> usize {
        self.lead.len()
    }

    /// About how many blocks a volume is made of.
    #[inline(always)]
    pub(super) fn blocks_in(&self, volume: i64) -> usize {
        (volume as f64 * self.density) as usize
    }

    /// `w_i`.
    #[inline(always)]
    pub(super) fn lead(&self, i: usize) -> i64 {
        self.lead[i]
    }

    /// `w_first, ..., w_last`.
    #[inline(always)]
    pub(super) fn leads(&self, first: usize, last: usize) -> &[i64] {
        &self.lead[first..=last]
    }

    /// The volume of the blocks before `i`.
    #[inline(always)]
    pub(super) fn prefix(&self, i: usize) -> i64 {
        self.prefix[i]
    }

    /// `S(first, last)`, and 0 for `last = first - 1`.
    #[inline(always)]
    pub(super) fn volume(&self, first: usize, last: usize) -> i64 {
        self.prefix[last + 1] - self.prefix[first]
    }

    /// `g_i`: the time of the copy of block `i`.
    #[inline(always)]
    pub(super) fn copy(&self, i: usize) -> i64 {
        self.volume(i, i) - self.lead[i]
    }

    /// Number of empty blocks after block `i`; 2 stands for two or more.
    #[inline(always)]
    pub(super) fn gap(&self, i: usize) -> u8 {
        self.gap[i]
    }

    /// The rank that has block `i`.
    pub(super) fn rank(&self, i: usize) -> Rank {
        self.rank[i] as Rank
    }

    /// The kept block of the given root.
    pub(super) fn root(&self) -> Option<usize> {
        self.root
    }

    /// True if the `w_i` differ.
    #[inline(always)]
    pub(super) fn is_varied(&self) -> bool {
        self.varied
    }

    /// A bound on the magnitude of every excess, and of every run's base: see [`super`].
    pub(super) fn largest_excess(&self) -> i64 {
        let most = self.lead.iter().copied().max().unwrap_or(0);
        self.latency.saturating_mul(LEVELS).saturating_add(most)
    }

    /// True if `w` is equal in columns `first..=last`.
    #[inline(always)]
    pub(super) fn is_flat(&self, first: usize, last: usize) -> bool {
        self.flat[first] as usize > last
    }

    /// The base with which columns `first..=last`, which follow `law`, are a falling run.
    #[inline]
    pub(super) fn as_falling(&self, law: ExcessLaw, first: usize, last: usize) -> Option<i64> {
        match law {
            ExcessLaw::Falling(base) => Some(base),
            ExcessLaw::Level(value) => self.is_flat(first, last).then(|| value + self.lead(first)),
        }
    }
}

/// No table entry exceeds its range's volume by more than this many latencies.
///
/// For free roots `ceil(log2 n) <= 31` are enough. A given root receives either side in portions:
/// everything nearer, then one block, then farther blocks of no more volume than all nearer ones,
/// which are hence ready up to `ceil(log2 n)` latencies. That doubles the volume, at most 61 times,
/// with two messages each.
const LEVELS: i64 = 2 * (2 * 61 + 31) + 14;

/// Conversion of times into integers.
struct Rounding {
    factor: f64,
    /// The error that rounding may leave in a block's volume less its copy.
    rounding: i64,
}

impl Rounding {
    /// Integers stay themselves; other times are multiplied by the power of two that brings the
    /// largest number that the sweep may meet just below 2^61.
    fn new<T: Scalar>(sizes: &ScaledSizes<T>) -> Rounding {
        if T::from_units(0.5).units() == 0.0 {
            return Rounding { factor: 1.0, rounding: 0 };
        }
        let total = sizes.volumes()[sizes.ranks()].units();
        let largest = 4.0 * total + 2.0 * LEVELS as f64 * sizes.latency().units();
        if largest == 0.0 {
            return Rounding { factor: 1.0, rounding: 0 };
        }
        // At most 2^1022, so that the factor itself is finite.
        let exponent = (61.0 - largest.log2()).floor().clamp(-1022.0, 1022.0) - 1.0;
        let factor = exponent.exp2();
        Rounding { factor, rounding: ((total * factor) * 4.0 * f64::EPSILON) as i64 + 2 }
    }

    /// The nearest integer of a scaled time.
    fn integer<T: Scalar>(&self, time: T) -> i64 {
        if self.factor != 1.0 || self.rounding > 0 {
            return (time.units() * self.factor).round() as i64;
        }
        // An i64 may have more digits than an f64: convert the digits that are lost apart.
        let units = time.units();
        units as i64 + (time - T::from_units(units)).units() as i64
    }
}
