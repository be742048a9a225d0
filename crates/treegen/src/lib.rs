//! Constructed gather and scatter trees: built without search.
//!
//! Each takes a [`Problem`](tuwtree_model::Problem) and looks only at what the second column says, with
//! a given root; what an open one takes beside, each says for itself.
//!
//! | construction | knows | time | tree | caveat |
//! |---|---|---|---|---|
//! | [`linear`] | `p`, root | O(p) | star | pays `p - 1` start-ups |
//! | [`oblivious`] | `p`, root | O(p) | rank-ordered binomial | may send large blocks log p times |
//! | [`adaptive`] | blocks, costs, root | O(p) | binomial, the larger side receives | always `ceil(log2 p)` children at the root; a given root may have to wait |
//! | [`model_binomial`] | blocks, costs, root | O(p^2) | binomial, places filled by predicted times | not ordered |
//! | [`graceful`] | blocks, root | O(p log p) | sets of growing weight | not ordered |
//! | [`model_graceful`] | blocks, costs, root | O(p log^2 p) as a rule | sets of growing predicted time | not ordered |
//! | [`paths`] | blocks, costs, root | O(p^2) | fastest paths | not ordered; for missing links |
//! | [`two_level`] | nodes, root | O(p) beside its parts | within nodes, then among their leaders | its parts decide |
//! | [`doubling`] | blocks, root | O(p log p) | root, then binomial groups; not ordered | one alpha more than it might |
//! | [`greedy`] | blocks, costs, root | O(p log p) | as doubling, groups as they are ready; not ordered | |
//! | [`knomial`] | blocks, costs, root, ports | O(p log k) | (k + 1)-nomial, for k ports | blocks that differ waste ports |
//! | [`hybrid`] | blocks, costs, root, ports | O(p log p), some 40 times | large blocks alone, then groups, for k ports; not ordered | |
//! | [`two_block`] | blocks, root | O(p) | two binomial trees and one message; not ordered | two block sizes only |
//!
//! The first three are ordered ([`tuwtree_model::check_ordered`]). [`join`] has the rule and the clock of adaptive
//! trees for other builders. None of the functions returns a completion time of the tree it builds:
//! [`tuwtree_model::completion_time`] is for all trees alike. [`linear_times`] and [`oblivious_times`] return the times
//! of all roots at once.
//!
//! Whatever looks at costs counts latency that overlaps as such. Operations without a root have no trees:
//! they are refused ([`ConstructionError::Rootless`]).
//!
//! Sources: OPT and TUW, as in [`tuwtree_model`]; HET is K. Dichev, V. Rychkov, A. Lastovetsky, "Two
//! algorithms of irregular scatter/gather operations for heterogeneous platforms", EuroMPI 2010.

mod adaptive;
mod best_root;
mod copy_first;
mod doubling;
mod error;
mod graceful;
mod greedy;
mod groups;
mod hybrid;
pub mod join;
mod knomial;
mod linear;
mod model_binomial;
mod model_graceful;
mod oblivious;
mod paths;
mod sets;
mod star_root;
mod subcubes;
mod two_block;
mod two_level;

pub use adaptive::{AdaptiveRule, adaptive};
pub use best_root::{best_root, published_root};
pub use doubling::doubling;
pub use error::ConstructionError;
pub use graceful::graceful;
pub use greedy::greedy;
pub use hybrid::hybrid;
pub use knomial::knomial;
pub use linear::{linear, linear_times};
pub use model_binomial::{Filling, model_binomial};
pub use model_graceful::model_graceful;
pub use oblivious::{oblivious, oblivious_times};
pub use paths::paths;
pub use two_block::two_block;
pub use two_level::two_level;
