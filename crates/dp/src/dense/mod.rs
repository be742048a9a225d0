//! The same tables in O(p^2): a constant number of candidates per range, for gamma <= beta.
//!
//! # Why so few splits matter
//! For gamma <= beta the tables are monotone (write `C(a,b)` for any of them, `S` for sizes):
//!
//! - (L) `C(i,j) <= C(i-1,j)`: a further block on the left never helps.
//! - (R) `C(i,j) <= C(i,j')` for `j' > j` if blocks `j+1..=j'` hold data.
//! - (Z) `C(i,j+1) <= C(i,j)` if block `j+1` is empty and `i < j`; equal if block `j` is empty too.
//!
//! (R) needs the data: an empty last processor may copy while it waits, where the one before it
//! could not. Sizes 2, 1, 4 cost 9, sizes 2, 1, 4, 0 cost 8 (alpha = beta = gamma = 1).
//!
//! All three go by induction on the number of processors. For (L) take an optimal tree on
//! `[i-1..j]` and drop processor `i-1`: a leaf is dropped without loss; if it is a root, the first
//! processor of its first subtree's range takes its place by the induction hypothesis, and what it
//! has to copy is at most what would have been sent, gamma <= beta. For (R) drop the last
//! processor in the same way; the delicate case is a last processor that is a right root and
//! whose part has shrunk to itself, so that its copy no longer overlaps with waiting. (Z): the
//! empty block joins the left root for nothing.
//!
//! # What follows
//! Let K be the splits `k` with a non-empty block `k + 1`. A split outside K is never better than
//! the next one, `k + 1`: the empty block changes sides. Along K, `C(i,k)` does not fall and
//! `C(k+1,j)` does not rise. So there is a crossover `s`, the least split in K with
//! `C(i,k) >= C(k+1,j)`:
//!
//! - from `s` on the left part decides. If it receives, the time is
//!   `alpha + beta S(i,j) + (C(i,k) - beta S(i,k))`, and the least bracket over a window of the row
//!   is wanted; if it sends, the time only grows with `k`, and `s` itself is best.
//! - before `s` the right part decides. If it receives, the least `C(k+1,j) - beta S(k+1,j)` over
//!   a window of the column is wanted; if it sends, the last split before `s` is best.
//!
//! Windows move one way only, so that a monotone queue gives their minimum in constant amortised
//! time. The window of a row starts at the crossover, which moves right as `j` grows; by (R) and
//! (Z) it does so among the `j` with data and among those without, but not across: hence two
//! queues a row. The window of a column ends at the crossover, which moves left as `i` falls, by
//! (L). Splits whose left or right part is empty of data send nothing; the brackets overestimate
//! them, and the splits next to the range's ends, which are evaluated as they stand, are as good.

mod binary;
mod fixed_root;
mod free_root;
mod queue;

pub use binary::binary;
pub use fixed_root::fixed_root;
pub use free_root::free_root;

use tuwtree_model::{Rank, Scalar, ScaledSizes};

/// The splits `k` with a non-empty block `k + 1`, called K in the module's documentation.
pub(crate) struct Splits {
    /// `p` entries: the greatest split in K that is less; 0 if none (never strictly inside).
    before: Vec<u32>,
    /// `p` entries: the least split in K that is greater; `u32::MAX` if none.
    after: Vec<u32>,
}

impl Splits {
    /// The useful splits of a problem. O(p).
    pub(crate) fn new<T: Scalar>(sizes: &ScaledSizes<T>) -> Splits {
        let p = sizes.processors();
        let (mut before, mut after) = (vec![0; p], vec![u32::MAX; p]);
        for k in 1..p {
            let useful = !sizes.is_empty(k, k);
            before[k] = if useful { k as u32 - 1 } else { before[k - 1] };
        }
        for k in (0..p.saturating_sub(2)).rev() {
            let useful = !sizes.is_empty(k + 2, k + 2);
            after[k] = if useful { k as u32 + 1 } else { after[k + 1] };
        }
        Splits { before, after }
    }

    /// The greatest useful split below `k`; 0 if none.
    #[inline(always)]
    pub(crate) fn before(&self, k: Rank) -> Rank {
        self.before[k] as Rank
    }

    /// The least useful split above `k`; beyond every rank if none.
    #[inline(always)]
    pub(crate) fn after(&self, k: Rank) -> Rank {
        self.after[k] as Rank
    }
}
