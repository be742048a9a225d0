//! Who sends what to whom in collective operations that follow no tree.
//!
//! An allgather gives every rank all blocks, of whatever size, empty ones included. All algorithms here go in
//! rounds: in each, a rank sends at most one message and receives at most one, both at once. What is empty
//! is not sent. Data goes straight to its place in the output, in messages of several pieces where need be,
//! so that nothing is copied.
//!
//! | function | rounds | when |
//! |---|---|---|
//! | [`ring`] | `p - 1` | blocks of one size, large; what MPI libraries do with much data |
//! | [`recursive_doubling`] | `ceil(lg p)` for `p = 2^l`, else up to twice as many | little data, `p = 2^l` |
//! | [`bruck`] | `ceil(lg p)` | little data |
//! | [`circulant`] | `ceil(lg p)` | little data; other windows of blocks than `bruck`, at times better |
//! | [`circulant_in_pieces`] | `n - 1 + ceil(lg p)` | blocks of different sizes, large |
//!
//! Schedules are for one port per rank, as exchanges: a round of a rank ends with the later half.
//!
//! # What this crate does not do
//! It knows no times: how many pieces are best, `tuwtree-plan` finds out. It performs nothing: exported C does
//! (`tuwtree_schedule::export`), the executor knows operations with a root only.

mod bruck;
mod circulant;
mod doubling;
mod error;
mod pieces;
mod ring;
mod rounds;

pub use bruck::bruck;
pub use circulant::circulant;
pub use doubling::recursive_doubling;
pub use error::CollectiveError;
pub use pieces::{PieceTable, circulant_in_pieces};
pub use ring::ring;
