//! The alpha-beta-gamma cost models: the only place that adds an alpha.
//!
//! alpha is `lambda + o`: the overhead `o` occupies a port, the latency lambda passes beside other work. With
//! `o = alpha`, which is the default, nothing overlaps: the one-port model of the papers.
//!
//! A [`CostModel`] states the time of a single transmission or copy, checked and exact; all times
//! of trees are made of it. [`Homogeneous`] costs are equal everywhere, a [`CostMatrix`] has its
//! own for each pair of ranks, a [`Hierarchy`] has costs for each level of a machine; [`Costs`] is
//! any of them. [`ScaledSizes`] is the homogeneous law for the dynamic programs: all block sizes
//! turned into time once, so that their inner loops only add and compare.

mod costs;
mod description;
mod hierarchy;
mod homogeneous;
mod least;
mod link;
mod links;
mod matrix;
mod measured;
mod piecewise;
mod scaled;
mod stated;

pub use costs::{CostKind, Costs, CostsError};
pub use description::Description;
pub use hierarchy::{Hierarchy, HierarchyError, Level, Placement};
pub use homogeneous::{ExchangeError, Homogeneous};
pub use least::{LeastCosts, LineBelow};
pub use link::{Link, LinkLaw};
pub use links::Cut;
pub use matrix::{CostMatrix, CostMatrixError, CostTable};
pub use measured::{MeasuredSize, MeasuredSizes, MeasuredSizesError};
pub use piecewise::{Piece, PieceError, PiecewiseLinear};
pub use scaled::{Scalar, ScaledSizes};
pub use stated::StatedCosts;

use crate::{LARGEST_EXACT, Rank, Time, TimeError};

/// Direction of data at a rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// The rank sends.
    Send,
    /// The rank receives.
    Receive,
}

impl Direction {
    /// The opposite direction.
    #[must_use]
    pub fn opposite(self) -> Direction {
        match self {
            Direction::Send => Direction::Receive,
            Direction::Receive => Direction::Send,
        }
    }
}

/// Time of a transmission and of a copy, by the ranks that perform them: the law by which trees and
/// schedules are judged.
///
/// # Source
/// OPT section 2.1, for homogeneous and non-homogeneous costs alike.
pub trait CostModel {
    /// The number of ranks that the costs are stated for; `None` if they hold for any number.
    fn ranks(&self) -> Option<usize>;

    /// `comm_ij(bytes)`: the time for which a transmission from `sender` to `receiver`, who differ,
    /// occupies a port; 0 for no data, link or not.
    ///
    /// # Errors
    /// [`TimeError`] if there is no such link, or the time is not exact or not finite.
    ///
    /// # Panics
    /// May panic for ranks that the costs are not stated for.
    fn transmission_between(
        &self,
        sender: Rank,
        receiver: Rank,
        bytes: u64,
    ) -> Result<Time, TimeError>;

    /// Like [`transmission_between`](Self::transmission_between), for a message one of whose ends is an action that both
    /// sends and receives; equal unless exchanges have costs of their own.
    ///
    /// # Errors, panics
    /// As [`transmission_between`](Self::transmission_between).
    fn exchange_between(
        &self,
        sender: Rank,
        receiver: Rank,
        bytes: u64,
    ) -> Result<Time, TimeError> {
        self.transmission_between(sender, receiver, bytes)
    }

    /// `lambda_ij(bytes)`: how much later than its sender is ready a message may occupy the receiver's
    /// port; 0 for no data, and where nothing overlaps.
    ///
    /// In an outward operation: how much later than the sender's port is free again the receiver has
    /// the data.
    ///
    /// # Errors, panics
    /// As [`transmission_between`](Self::transmission_between).
    fn latency_between(&self, sender: Rank, receiver: Rank, bytes: u64) -> Result<Time, TimeError>;

    /// The nodes of the two ranks and the message's time on a node's wire, where the ranks of a node share one wire to
    /// the others and these two are on different nodes; `None` elsewhere.
    ///
    /// # Errors, panics
    /// As [`transmission_between`](Self::transmission_between).
    fn shared_wires(
        &self,
        _sender: Rank,
        _receiver: Rank,
        _bytes: u64,
    ) -> Result<Option<SharedWires>, TimeError> {
        Ok(None)
    }

    /// The time of a local copy at `rank`.
    ///
    /// # Errors, panics
    /// As [`transmission_between`](Self::transmission_between).
    fn copy_at(&self, rank: Rank, bytes: u64) -> Result<Time, TimeError>;

    /// `start + cost`.
    ///
    /// # Errors
    /// As [`transmission_between`](Self::transmission_between).
    fn sum(&self, start: Time, cost: Time) -> Result<Time, TimeError>;

    /// A lower bound on how long `rank` is busy until it has sent or received `bytes` in all, in
    /// any number of messages, to or from any of the other `ranks - 1 > 0`; 0 for no data.
    ///
    /// Where costs are linear this is the time of one message over the link that is fastest for
    /// that much: of the links that are used, the one with the least beta alone costs no less.
    ///
    /// # Errors
    /// As [`transmission_between`](Self::transmission_between); [`TimeError::Isolated`] if there is
    /// nobody to send to or receive from.
    ///
    /// # Source
    /// OPT section 2.3.
    fn least_busy(
        &self,
        direction: Direction,
        rank: Rank,
        ranks: usize,
        bytes: u64,
    ) -> Result<Time, TimeError>;
}

/// The wires of two nodes, for a message from one to the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SharedWires {
    /// The sender's node, and the receiver's.
    pub nodes: (usize, usize),
    /// The message's time on each wire, if it is alone.
    pub time: Time,
}

/// An overhead that costs cannot have.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum OverheadError {
    /// It is not part of alpha.
    #[error("the overhead is {overhead}; it is part of alpha, so that 0 to {alpha} is allowed")]
    Outside {
        /// Negative, NaN, or larger than alpha.
        overhead: f64,
        /// The alpha that it would be part of.
        alpha: f64,
    },
    /// Exchanges have costs of their own.
    #[error("the overhead is {overhead}; with costs of exchanges it is all of alpha, {alpha}")]
    Exchanges {
        /// Less than alpha.
        overhead: f64,
        /// The alpha that it is part of.
        alpha: f64,
    },
}

/// Fails unless an overhead is part of alpha.
pub(crate) fn check_overhead(overhead: f64, alpha: f64) -> Result<(), OverheadError> {
    match (0.0..=alpha).contains(&overhead) {
        true => Ok(()),
        false => Err(OverheadError::Outside { overhead, alpha }),
    }
}

/// A cost that is not a finite number of at least 0.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("{parameter} is {value}; costs are finite numbers of at least 0")]
pub struct CostError {
    /// "alpha", "beta", "gamma", "exchange alpha" or "exchange beta".
    pub parameter: &'static str,
    /// Negative, infinite or NaN.
    pub value: f64,
}

/// `start + cost`, exact where all costs are integers (`integral`).
fn plus(integral: bool, start: Time, cost: Time) -> Result<Time, TimeError> {
    let sum = start.units() + cost.units();
    // Both summands are integers of at most 2^53 here, so that their sum fits a u64.
    if integral && start.units() as u64 + cost.units() as u64 > LARGEST_EXACT {
        return Err(TimeError::NotExact);
    }
    Time::new(sum).ok_or(TimeError::NotFinite)
}

/// `fixed + rate * bytes`, exact where both are integers (`integral`).
fn linear(integral: bool, fixed: f64, rate: f64, bytes: u64) -> Result<Time, TimeError> {
    if !integral {
        return Time::new(fixed + rate * bytes as f64).ok_or(TimeError::NotFinite);
    }
    (rate as u128)
        .checked_mul(u128::from(bytes))
        .and_then(|product| product.checked_add(fixed as u128))
        .filter(|&units| units <= u128::from(LARGEST_EXACT))
        .and_then(|units| Time::new(units as f64))
        .ok_or(TimeError::NotExact)
}
