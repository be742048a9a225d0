//! Optimal ordered trees for homogeneous costs with `gamma <= beta`, for a million ranks.
//!
//! The recurrence is that of the plain dynamic program (OPT Figs. 4 to 6, completed), and so are
//! the results: the least completion time, exactly, and a tree that has it. What differs is that
//! the table is never written out cell by cell. Each row is a short list of *runs*, stretches of
//! columns that one formula describes, and only runs are computed, stored and searched.
//!
//! # Notation
//! `C(i, j)` is the least time of gathering blocks `i..=j` at a root of choice, `S(i, j)` their
//! volume (time on the wire without latency), `g_i` the time of block `i`'s copy, `w_i` by how much
//! its volume exceeds its copy. `E(i, j) = C(i, j) - S(i, j)` is the *excess* over sending
//! everything once. A range is cut after block `k` into a *left part* `[i..k]` and a *right part*
//! `[k+1..j]`; one of them receives the other. In excesses the recurrence reads
//!
//! ```text
//! E(i,j) = alpha + min  max(E(i,k),   C(k+1,j) - S(i,k))      left part receives
//!                       max(E(k+1,j), C(i,k) - S(k+1,j))      right part receives
//!                       C(i,j-1) - w_j                        j receives, then copies
//! ```
//!
//! with `C(i, i) = 0`, and `-w_i` in place of `E(i, i)` in the first line (`i` copies while it
//! waits). In each `max` the first term is the larger one iff the receiving part is the later one.
//!
//! # Two laws
//! For `gamma <= beta` and blocks that are not empty
//!
//! - **(L)** `C(i,j) <= C(i-1,j)`,
//! - **(R)** `C(i,j) <= C(i,j+1)`,
//!
//! by induction on the length. Take an optimal cut of the longer range and remove the end block. If it was a part by
//! itself, the other part remains, and was no later. Otherwise its part shrinks and, by induction, takes no longer, nor
//! does its message. The only different case is a part that shrinks to a single block and receives, since a single
//! block copies while it waits only on the left. On the left, `C(i-1,i) >= g_i`, and nothing is lost. On the right,
//! `[j..j+1]` has received `[i..j-1]` in `X = max(C(i,j-1), C(j,j+1)) + alpha + S(i,j-1)`, where `C(j,j+1) >= alpha +
//! g_j`. Instead let `j` receive `j-1` first, then copy, then receive `[i..j-2]`, if there is one: `max(C(i,j-2),
//! alpha + m_(j-1) + g_j) + alpha + S(i,j-2)`, in which neither term exceeds `X`. The same induction gives both laws for
//! trees with a given root within the range.
//!
//! # Why few candidates suffice
//! *Left part receives.* Let `k < k'` and `E(i,k) >= E(i,k')`. By (L) and (R) `C(k'+1,j) <=
//! C(k+1,j)`, and `S(i,k') >= S(i,k)`: `k'` is at least as good, in every column. So only the last
//! column of a run matters, and of those only the ones that no later one undercuts: a queue with
//! rising `k` and rising excess. For fixed `k` the candidate does not fall as `j` grows, and it is
//! `E(i,k)` exactly as long as `C(k+1,j) <= C(i,k)`, that is, up to a column that a search in row
//! `k + 1` finds. Beyond it the candidate is `C(k+1,j) - S(i,k)`, of which the last such `k` is
//! best. (`row`)
//!
//! *Right part receives.* By the mirrored argument only the first row of each run of a column
//! matters, and of those only the ones with less excess than all above: a stack for each column.
//! An entry `(r, e)` stands for the value `e` until `C(i,r-1) > C(r,j)`; upper bounds on `C(i,r-1)`
//! tell a row above which that cannot be, so that the entry is looked at only when a timer fires.
//! (`column`, `timers`)
//!
//! *The last rank as root* is better than `k = j-1` with the left part receiving only while
//! `w_j > S(i,j-1)`, which for each `i` holds of at most `log2(S / m_i) + 1` columns. (`zeros`)
//!
//! # The sweep
//! Rows upwards, and in each row columns to the right, from one change to the next: the end of the
//! queue's front, a column whose front differs from its neighbour's, a column that is awake. All
//! columns in between have the value just found. Then the new row is compared with the one below
//! it, and where they differ the columns' stacks change. (`sweep`)
//!
//! Where `w` does not fall, as for sorted sizes, the columns' fronts are often a constant less
//! `w_j`; a second kind of run, `run::ExcessLaw::Falling`, keeps these in one piece.
//!
//! The table is cut into square tiles; those on one anti-diagonal are independent and are swept in
//! parallel. The tiles depend on the problem alone, so that the result does not depend on the
//! number of threads. (`free_root`, `fixed_root`)
//!
//! # Numbers
//! Integers throughout. Times that are not integers are scaled by a power of two and rounded to 61
//! bits first; the tree is then optimal for the rounded problem, and the time reported is that of
//! the tree in the original one. It differs from what the plain recurrence yields in floating
//! point, which rounds as well, by a few units in the last place of that time or of the problem's
//! volume. Excesses are stored in 32 bits where
//! they provably fit: `-max w <= E <= alpha ceil(log2 n)`, and for a given root at most
//! `320 alpha`, since it can receive either side in portions that double.
//!
//! # Complexity
//! `O((runs + changes + wake-ups) log p)` time and `O(runs + p)` space. For all distributions of
//! OPT section 5 there are some ten to 400 runs a row, growing like a small power of `log p`: nearly
//! linear. This is observed, not proven; the worst case is `O(p^2 log p)` time and `O(p^2)` space.
//! Latencies far above the mean block with irregular sizes come closest.
//!
//! # Source
//! Träff, "On Optimal Trees for Irregular Gather and Scatter Collectives" (OPT), for the problem
//! and the recurrence; its section 6 asks for a faster algorithm.

mod column;
mod control;
mod events;
mod finished;
mod fixed_root;
mod free_root;
mod kept;
mod row;
mod run;
mod sweep;
mod tables;
mod tile;
mod timers;
mod tree;
mod zeros;

use control::Control;
use kept::KeptBlocks;
use run::Excess;
use std::ops::ControlFlow;
use tables::Tables;
use tree::Walk;
use tuwtree_model::{Rank, Root, Scalar, ScaledSizes, Step, Tree};

/// An optimal ordered tree.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution<T> {
    /// Its completion time, in the cost model's time units.
    pub time: T,
    /// An optimal gather tree with the root asked for, or a best one.
    pub tree: Tree,
}

/// Reason for which no result was computed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunsError {
    /// `gamma > beta`, so that the table is not monotone.
    #[error("copying block {rank} takes longer than sending its volume; runs need gamma <= beta")]
    CopyingIsSlower {
        /// A rank whose block shows it.
        rank: Rank,
    },
    /// More blocks than the rows' storage can number.
    #[error("{blocks} blocks that are not empty; runs are for fewer than 2^31")]
    TooManyBlocks {
        /// Number of non-empty blocks.
        blocks: usize,
    },
    /// The rows need more memory than allowed.
    #[error("the table's runs need more than the {memory} bytes allowed")]
    OutOfMemory {
        /// The bytes that the tables were allowed to take.
        memory: u64,
    },
    /// The caller's progress function said so.
    #[error("cancelled")]
    Cancelled,
}

/// Progress of a computation: called with the work done and the whole work, in arbitrary units, now
/// and then and from several threads; `Break` cancels.
pub type ProgressCallback<'p> = dyn Fn(u64, u64) -> ControlFlow<()> + Sync + 'p;

/// An optimal ordered gather tree for any root or a given one.
///
/// Among equally good trees the choice is determined by the problem alone: at each range the first
/// of these cuts that attains the optimum is taken: the first rank receives everything at
/// once; so does the last; the left part receives, the longest one first; the right part
/// receives, the longest one first.
///
/// # Units
/// The time is in the cost model's units; `memory` is the most bytes that the table may take, not
/// counting about `300 p` bytes of working storage.
///
/// # Errors
/// [`RunsError`]: if `gamma > beta`, out of memory, or cancelled.
///
/// # Panics
/// If the given root is not a rank.
///
/// # Complexity
/// Nearly linear in practice: see the [crate].
///
/// # Source
/// OPT Figs. 4 to 6; see the [crate].
///
/// # Example
/// ```
/// use std::ops::ControlFlow;
/// use tuwtree_model::{BlockSizes, Homogeneous, Root, ScaledSizes};
/// let costs = Homogeneous::new(1.0, 1.0, 1.0).unwrap();
/// let sizes = BlockSizes::new([2, 1, 4, 0]).unwrap();
/// let scaled = ScaledSizes::<i64>::new(&costs, &sizes).unwrap();
/// let go_on = |_, _| ControlFlow::Continue(());
/// let solution = tuwtree_runs::optimal(&scaled, Root::Best, u64::MAX, &go_on).unwrap();
/// // 2 copies and has an empty block to wait with, while 0 and 1 gather: 4, then 1 + 3.
/// assert_eq!(solution.time, 8);
/// ```
pub fn optimal<T: Scalar>(
    sizes: &ScaledSizes<T>,
    root: Root,
    memory: u64,
    progress: &ProgressCallback<'_>,
) -> Result<Solution<T>, RunsError> {
    let ranks = sizes.ranks();
    assert!(!matches!(root, Root::Given(rank) if rank >= ranks), "the root is one of the ranks");
    let kept = KeptBlocks::new(sizes, root)?;
    let side = tile::side(kept.blocks());
    let control = Control::new(memory, progress);
    let (top, steps) = if kept.blocks() < 2 {
        star(&kept, ranks)
    } else if kept.largest_excess() <= i64::from(i32::MAX) {
        steps::<i32>(&kept, ranks, side, &control)?
    } else {
        steps::<i64>(&kept, ranks, side, &control)?
    };
    let time = completion(sizes, top, &steps);
    let tree = Tree::new(ranks, top, &steps).expect("cuts of ranges make a tree");
    Ok(Solution { time, tree })
}

/// The root and the steps of an optimal tree, with excesses stored as `E`.
fn steps<E: Excess>(
    kept: &KeptBlocks,
    ranks: usize,
    side: usize,
    control: &Control<'_>,
) -> Result<(Rank, Vec<(Rank, Step)>), RunsError> {
    let tables = Tables::<E>::new(kept, side, control)?;
    Ok(Walk::new(kept, &tables).steps(ranks))
}

/// The tree of a problem with at most one block that is kept: nothing is ever sent.
fn star(kept: &KeptBlocks, ranks: usize) -> (Rank, Vec<(Rank, Step)>) {
    let root = if kept.blocks() == 0 { 0 } else { kept.rank(0) };
    let mut steps = Vec::new();
    if ranks > 1 {
        steps.push((root, Step::Copy));
        steps.extend((root + 1..ranks).map(|rank| (root, Step::Receive(rank))));
        steps.extend((0..root).rev().map(|rank| (root, Step::Receive(rank))));
    }
    (root, steps)
}

/// Completion time of an ordered tree given by its steps, each rank's before those of its parent
/// (OPT Definition 2).
fn completion<T: Scalar>(sizes: &ScaledSizes<T>, root: Rank, steps: &[(Rank, Step)]) -> T {
    let mut clocks = vec![T::ZERO; sizes.ranks()];
    let mut segments: Vec<(Rank, Rank)> = (0..sizes.ranks()).map(|rank| (rank, rank)).collect();
    for &(rank, step) in steps {
        clocks[rank] = match step {
            Step::Copy => clocks[rank] + sizes.copy(rank),
            Step::Receive(child) => {
                let (first, last) = segments[child];
                let segment = &mut segments[rank];
                *segment = (segment.0.min(first), segment.1.max(last));
                clocks[rank].most(clocks[child]) + sizes.transmission(first, last)
            }
        };
    }
    clocks[root]
}

#[cfg(test)]
mod tests;
