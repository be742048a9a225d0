//! Communication patterns of collectives without a tree: rootless ones, and those whose vector is cut.
//!
//! An allgather gives every rank all blocks, of any size, empty ones included; a reduce-scatter combines the vectors of
//! all ranks and gives each its block of the result, an allreduce the whole result; an alltoall gives each rank every
//! other rank's message for it. Algorithms go in rounds: in each, a rank sends at most one message and
//! receives at most one, both at once; on duplex ports (below) it begins several. Empty messages are not sent. Data goes directly to its place in the output, in
//! messages of several pieces if needed, so that nothing is copied, except in variants that say so.
//!
//! | function | rounds | when |
//! |---|---|---|
//! | [`ring`] | `p - 1` | blocks of one size, large; what MPI libraries do with much data |
//! | [`ring_in_chunks`] | as many and more | the same with blocks that differ, as in MPICH |
//! | [`recursive_doubling`] | `ceil(lg p)` for `p = 2^l`, else up to twice as many | little data, `p = 2^l` |
//! | [`bruck`] | `ceil(lg p)` | little data |
//! | [`bruck_contiguous`] | `ceil(lg p)` | the same with messages of one piece, and copies |
//! | [`bruck_postal`] | `ceil(lg p)` with a delay of 1, else more | little data where latency overlaps; also a reduce-scatter |
//! | [`circulant`] | `ceil(lg p)` | little data; other windows of blocks than `bruck`, at times better |
//! | [`circulant_in_pieces`] | `n - 1 + ceil(lg p)` | blocks of different sizes, large |
//! | [`circulant_balanced`], [`bruck_balanced`] | as `circulant_in_pieces`, `bruck_postal` | the same, ranks in an order in which large blocks are far apart |
//! | [`straight::allgather`], [`straight::reduce_scatter`] | no rounds | little data, few ranks, where latency overlaps |
//! | [`nodes::lanes`], [`nodes::node_all`] | no rounds | machines with nodes; also reduce-scatters |
//! | [`reduce_scatter::pairwise`] | `p - 1` | blocks of one size; what MPI libraries do with much data |
//! | [`reduce_scatter::halving`] | `lg p` for `p = 2^l`, else 2 more | `p = 2^l` |
//! | [`reduce_scatter::recursive_doubling`] | `lg p` for `p = 2^l`, else up to twice as many | what MPICH does for operators that do not commute |
//! | [`reduce_scatter::butterfly`] | `lg p` for `p = 2^l`, else 2 more | operators that do not commute |
//! | [`reduce_scatter::non_overlapping`] | `p - 1 + ceil(lg p)` | what MPI libraries did before |
//! | [`reduce_scatter::circulant`] | `ceil(lg p)` | blocks of one size: best for every `p` |
//! | [`reduce_scatter::circulant_in_pieces`] | `n - 1 + ceil(lg p)` | blocks of different sizes, large |
//! | [`reduce_scatter::circulant_balanced`] | as many | the same, ranks in an order in which large blocks are far apart |
//! | [`allreduce::recursive_doubling`] | `lg p` for `p = 2^l`, else 2 more | little data |
//! | [`allreduce::rabenseifner`] | `2 lg p` for `p = 2^l`, else 2 or 3 more | much data, and operators that do not commute |
//! | [`binary_blocks::allreduce`] | no formula | the same, for some `p` |
//! | [`allreduce::binomial`] | `2 ceil(lg p)` | what MPICH did before |
//! | [`allreduce::ring`] | `2 (p - 1)` | very much data |
//! | [`allreduce::circulant`] | `2 ceil(lg p)` | much data, for every `p` |
//! | [`broadcast::binomial`], [`reduce::binomial`] | `ceil(lg p)` | little data |
//! | [`reduce::binomial_forwarded`] | `ceil(lg p)`, else 1 more | little data, operators that do not commute |
//! | [`broadcast::scatter_allgather`] | `p - 1 + ceil(lg p)`, or up to `3 ceil(lg p)` | much data; what MPI libraries do |
//! | [`reduce::rabenseifner`] | `2 lg p` for `p = 2^l`, else 1 or 2 more | much data, and operators that do not commute |
//! | [`binary_blocks::reduce`] | no formula | the same, for some `p` |
//! | [`reduce::ring`] | `2 (p - 1)` | very much data |
//! | [`broadcast::circulant_in_pieces`], [`reduce::circulant_in_pieces`] | `n - 1 + ceil(lg p)` | much data, for every `p` |
//! | [`intergroup::paired`], [`intergroup::shares`] | those of the allgathers inside, and the exchange | two groups, much data |
//! | [`intergroup::root_best`], [`intergroup::root_mpich`], [`intergroup::root_mpich_v`] | no formula | two groups: what MPI libraries do, and the best of its kind |
//! | [`alltoall::linear`], [`alltoall::pairwise`] | `p - 1` | much data; what MPI libraries do |
//! | [`alltoall::bruck`] | `ceil(lg p)` with radix 2, else more | little data |
//! | [`alltoall::bruck_contiguous`] | `ceil(lg p)` | the same with messages of one piece, and copies |
//! | [`alltoall::in_bundles`] | 3 for pairs of nodes, else as many | little data, machines with nodes |
//! | [`alltoall::column_trees`] | no formula | little data, few ranks receive or send |
//! | [`alltoall::open_shop`] | no rounds | messages of different sizes, large |
//!
//! Schedules are for one port per rank, as exchanges: a round of a rank ends with the later half, and then combines the
//! received data. Schedules of [`alltoall::open_shop`], [`alltoall::in_bundles`], [`alltoall::column_trees`], [`bruck_postal`] and [`bruck_balanced`]
//! send and receive independently, on a duplex port.
//!
//! # What this crate does not do
//! It chooses nothing: how many pieces are best, `tuwtree-plan` finds out. It performs nothing: exported C does
//! (`tuwtree_schedule::export`), and the executor, which has each rank work out its own rounds ([`RankRounds`]).

pub mod allreduce;
pub mod alltoall;
pub mod binary_blocks;
pub mod broadcast;
mod bruck;
mod bundles;
mod circle;
mod circulant;
mod doubling;
mod error;
mod folding;
pub mod intergroup;
pub mod nodes;
mod open_shop;
mod overlapping;
mod pieces;
mod rank_rounds;
pub mod reduce;
pub mod reduce_scatter;
mod ring;
mod rounds;
pub mod straight;
mod timetable;

pub use bruck::{
    bruck, bruck_balanced, bruck_contiguous, bruck_postal, postal_messages, sketch_of_postal,
};
pub use bundles::{Bundle, BundleRounds, ColumnTrees, Passing, most_in_pairs, rows_of_roots};
pub use circulant::circulant;
pub use doubling::recursive_doubling;
pub use error::CollectiveError;
pub use overlapping::{MessagePrice, overlapped_time, performed_messages, steps_in_pieces};
pub use pieces::{
    PieceTable, balanced_time, circulant_balanced, circulant_in_pieces, likely_pieces,
    time_in_pieces, time_in_pieces_at_most,
};
pub use rank_rounds::{Circulation, Flow, RankRounds, RoundMessages};
pub use ring::{ring, ring_in_chunks, ring_in_chunks_time, ring_outline};
pub use rounds::Outline;
