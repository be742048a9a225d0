//! Constructed gather and scatter trees: those that are built without search.
//!
//! | construction | knows | time | tree | caveat |
//! |---|---|---|---|---|
//! | [`linear`] | `p`, root | O(p) | star | pays `p - 1` start-ups |
//! | [`oblivious`] | `p`, root | O(p) | rank-ordered binomial | may send large blocks log p times |
//! | [`adaptive`] | blocks, costs, root | O(p) | binomial, the larger side receives | always `ceil(log2 p)` children at the root; a given root may have to wait |
//! | [`doubling`] | blocks, root | O(p log p) | root, then binomial groups; not ordered | one alpha more than it might |
//! | [`greedy`] | blocks, costs, root | O(p log p) | as doubling, groups as they are ready; not ordered | |
//! | [`two_block`] | blocks, root | O(p) | two binomial trees and one message; not ordered | two block sizes only |
//!
//! For linear and oblivious trees the best of all roots is found from the completion times of all
//! roots ([`linear_times`] in O(p), [`oblivious_times`] in O(p log p)) by [`best_root`]. The first
//! three are ordered ([`tuwtree_model::check_ordered`]). None of the functions returns a completion time
//! of the tree it builds: [`tuwtree_model::completion_time`] judges all trees alike.
//!
//! Sources: OPT and TUW, as in [`tuwtree_model`].

mod adaptive;
mod best_root;
mod doubling;
mod greedy;
mod groups;
mod linear;
mod oblivious;
mod subcubes;
mod two_block;

pub use adaptive::{AdaptiveError, AdaptiveRule, adaptive};
pub use best_root::{best_root, published_root};
pub use doubling::doubling;
pub use greedy::greedy;
pub use linear::{linear, linear_times};
pub use oblivious::{oblivious, oblivious_times};
pub use two_block::{TwoBlockError, two_block};
