//! The problem that the sweep works on: blocks that are not empty, in integers.

use super::row::Law;

/// The blocks that the table's rows and columns stand for.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    pub(super) latency: i64,
    /// `n + 1` entries, never falling: volumes of the blocks before.
    pub(super) prefix: Vec<i64>,
    /// `n` entries: `w_i`.
    pub(super) lead: Vec<i64>,
    /// `n` entries: the first column after `j` whose `w` differs from `w_j`, or `n`.
    pub(super) flat: Vec<u32>,
    /// `n` entries: how many empty blocks follow, 2 for two or more.
    pub(super) gap: Vec<u8>,
    /// `n` entries: the processor that has the block.
    pub(super) rank: Vec<u32>,
}

impl Kept {
    #[inline(always)]
    pub(super) fn blocks(&self) -> usize {
        self.lead.len()
    }

    /// `w_i`.
    #[inline(always)]
    pub(super) fn lead(&self, i: usize) -> i64 {
        self.lead[i]
    }

    /// `S(first, last)`, and 0 for `last = first - 1`.
    #[inline(always)]
    pub(super) fn volume(&self, first: usize, last: usize) -> i64 {
        self.prefix[last + 1] - self.prefix[first]
    }

    /// `S(i, i)`.
    #[inline(always)]
    pub(super) fn block(&self, i: usize) -> i64 {
        self.prefix[i + 1] - self.prefix[i]
    }

    /// Whether `w` is the same in columns `first..=last`.
    #[inline(always)]
    pub(super) fn is_flat(&self, first: usize, last: usize) -> bool {
        self.flat[first] as usize > last
    }

    /// The base with which columns `first..=last`, which follow `law`, are a falling run.
    #[inline]
    pub(super) fn as_falling(&self, law: Law, first: usize, last: usize) -> Option<i64> {
        match law {
            Law::Falling(base) => Some(base),
            Law::Level(value) => self.is_flat(first, last).then(|| value + self.lead(first)),
        }
    }

    #[inline(always)]
    pub(super) fn copy(&self, i: usize) -> i64 {
        self.block(i) - self.lead[i]
    }
}
