//! Tables of `plain` in O(p^2): a constant number of candidates per range, for gamma <= beta.
//!
//! # Monotonicity
//! Let gamma <= beta; `g_j = gamma m_j`, and `C` is the free root's table:
//!
//! - (L) `C(i,j) <= C(i-1,j)`: a further block on the left never helps.
//! - (Z) `C(i,j+1) <= C(i,j)` if block `j+1` is empty and `i < j`; equal if block `j` is empty too.
//! - (A) `C(i,j) <= C(i,k) + alpha` if blocks `j+1..=k` are empty.
//! - (R) `C(i,j) <= C(i,n)` for `n > j` if blocks `j+1..=n` hold data.
//!
//! (R) needs the data: an empty last rank may relieve a right root of its copy while that root
//! waits. Sizes 2, 1, 4 cost 9, sizes 2, 1, 4, 0 cost 8 (alpha = beta = gamma = 1).
//!
//! Proof, by induction on the number of ranks. Take the best join of the longer range, at split
//! `k`, and join the shorter range at that split. By the induction hypothesis neither part takes
//! longer, no message is longer, and so neither is the whole, except in these cases:
//!
//! - (L), a left receiver that shrinks to `i` alone: `g_i` replaces `C(i-1,i)`, which is
//!   `g_{i-1} + comm(m_i)` or `comm(m_{i-1}) + g_i`; both are at least `g_i` for gamma <= beta.
//! - (Z), first part: the empty block joins the left part for nothing.
//! - A right receiver that shrinks to `j` alone, so that its copy has to wait. With
//!   `S' = S(i,j-1)` the longer range takes `X = max(C(i,j-1), C(j,n)) + comm(S')`. If block `j` is
//!   empty, a join at `j - 1` takes at most `X`. Otherwise let `y` be the last non-empty block of
//!   `i..=j-1`. If there is none, `C(i,j) <= g_j <= X`. Else rank `j` takes the empty blocks
//!   next to it, copies, receives `y`, and then `[i..y-1]`:
//!   `max(C(i,y-1), g_j + comm(m_y)) + comm(S(i,y-1))`, where `C(i,y-1) <= C(i,j-1)` by (R). This
//!   is at most `C(i,j-1) + comm(S')` or `g_j + 2 alpha + beta S'`. In (R),
//!   `C(j,n) >= alpha + g_j`, for block `j` is either copied beside a message or sent: both are
//!   at most `X`. In (A), `C(j,n) >= g_j`: both are at most `X + alpha`.
//! - (A) and (R), a split beyond the shorter range, `k >= j`: the longer range takes at least
//!   `C(i,k)`, which for `k = j` is enough. For `k > j` the induction hypothesis is applied to
//!   `[i..k]`: in (A) at once, and in (R) if blocks `j+1..=k` hold data. If they do not, then
//!   blocks `k+1..=n` do. So if block `j` holds data as well, a message is sent after `C(i,k)`,
//!   for at least alpha, and (A) suffices; if it does not, (Z) gives equality (for `i = j`, `C`
//!   is 0).
//!
//! The root of a fixed-root table stays where it is in all these constructions, so that the same
//! holds of `F(i,j)`, `i <= r <= j`.
//!
//! # Why so few splits matter
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
//! (L). A right receiver whose left part holds no data gets it for nothing, which the bracket
//! overestimates; the split `k = i`, evaluated as it stands, is then as good.

mod binary;
mod fixed_root;
mod free_root;
pub(crate) mod queue;

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
        let p = sizes.ranks();
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
