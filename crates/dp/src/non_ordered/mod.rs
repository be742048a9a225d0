//! Trees that need not be ordered: faster ones, where any may be had.
//!
//! In a non-ordered tree a subtree may hold any blocks. The best is NP-hard to find even for
//! homogeneous costs (OPT Theorem 7; [`partition`] is the reduction), and most often hardly faster
//! than the best ordered tree; but with a given root far from the large blocks, and latencies of the
//! order of the whole volume, it can be nearly twice as fast.
//!
//! | solver | trees | time | caveat |
//! |---|---|---|---|
//! | [`exact`](exact()) | all | O(3^p), or polynomial for few distinct sizes | [`exact_work`] says how much |
//! | [`exact`](exact()), costs of each pair | all | O(p 3^p) | up to 17 ranks |
//! | [`exact`](exact()), several ports | all | O(p 3^p) and more | up to 9 ranks |
//! | [`exact_again`] | all | O(p 3^p) and more | the time only, by another way: a check of `exact` |
//! | [`sorted`](sorted()) | ordered after sorting | as the ordered program's | not exact |
//! | [`search`](search()) | ordered after some permutation | steps times that | small problems |
//! | [`direct`](direct()) | ordered, but for large blocks that go straight to the root | as the ordered program's, some times | not exact |
//!
//! They are for gather and scatter at any costs, and all but `exact` for one port, however many the problem
//! has. Where costs are not linear or differ from pair to pair, the ordered programs for tables by size, for
//! levels and for pairs find the trees, from the costs as they are.
//!
//! `treegen` has constructions without search. How far a tree is from the best, a bound tells
//! ([`tuwtree_bounds::best_lower_bound`]).
//!
//! # What makes it simpler than ordered trees
//! With one port every receiver copies its own block first, at any costs: a copy that waits for a message only
//! delays. In the one-port model, at homogeneous costs:
//! - With gamma <= beta a rank with a largest block is a best root
//!   ([`tuwtree_model::largest_block`]).
//! - With gamma <= beta empty blocks do not matter: all are received by the root, for nothing. (With
//!   gamma > beta they may relay what others would have to copy.)
//!
//! `docs/beyond-ordered-trees.md` has the proofs.
//!
//! # What model times leave out
//! Bringing the blocks into rank order. A message that was collected along a non-ordered tree has its
//! blocks in the order of the tree; the root must unpack it, by a derived datatype or by copies, up to
//! gamma times the volume of its messages of more than one block.
//!
//! # Source
//! OPT section 4 and Proposition 2.

mod again;
mod arrangement;
mod direct;
mod error;
mod exact;
mod orders;
mod pairs;
pub mod partition;
mod ports;
mod search;
mod sorted;

pub use again::{FoundAgain, MOST_SETTLED, exact_again};
pub use direct::direct;
pub use error::NonOrderedError;
pub use exact::{MOST_WORK, WORK_AT_ONCE, exact, exact_work};
pub use orders::class_by_size;
pub use ports::MOST_ON_PORTS;
pub use search::{STEP_CELLS, Search, search};
pub use sorted::{BlockOrder, ORDER_CELLS, sorted};
