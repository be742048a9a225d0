//! Model time: a finite, non-negative number of time units.

use crate::{Direction, Rank};
use std::fmt;

/// The largest time to which integer times are exact in an `f64`: 2^53.
pub const LARGEST_EXACT: u64 = 1 << 53;

/// A point or span of model time, in the time unit in which alpha, beta and gamma are given.
///
/// Finite and never negative, hence totally ordered. With integer costs every `Time` is an
/// integer of at most 2^53, and exact: [`Homogeneous`](crate::Homogeneous) refuses what would
/// have to be rounded.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Time(f64);

impl Time {
    /// The start of every collective operation.
    pub const ZERO: Time = Time(0.0);

    /// The time of `units` time units; `None` if it is NaN, infinite or negative.
    pub fn new(units: f64) -> Option<Time> {
        // `+ 0.0` turns a negative zero into the ordinary one.
        (units.is_finite() && units >= 0.0).then_some(Time(units + 0.0))
    }

    /// The number of time units.
    pub fn units(self) -> f64 {
        self.0
    }

    /// The later of two times.
    #[must_use]
    pub fn later(self, other: Time) -> Time {
        if other.0 > self.0 { other } else { self }
    }

    /// The time that lies `span` before this one; 0 if that is before the start.
    #[must_use]
    pub fn before(self, span: Time) -> Time {
        Time((self.0 - span.0).max(0.0))
    }
}

impl Eq for Time {}

impl PartialOrd for Time {
    fn partial_cmp(&self, other: &Time) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

// In step with equality, because a `Time` is never NaN and has one zero only.
impl Ord for Time {
    fn cmp(&self, other: &Time) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// A time that cannot be stated.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum TimeError {
    /// Integer costs, and a time above 2^53, which an `f64` would round.
    #[error(
        "a completion time exceeds 2^53 = {LARGEST_EXACT}, up to which integer times are exact; scale sizes or costs down"
    )]
    NotExact,
    /// A time that leaves the range of `f64`.
    #[error("a completion time is not finite; scale sizes or costs down")]
    NotFinite,
    /// A transmission where there is no link (alpha is infinite).
    #[error("there is no link from rank {sender} to rank {receiver}")]
    NoLink {
        /// The sender.
        sender: Rank,
        /// The receiver.
        receiver: Rank,
    },
    /// A rank without any link in one direction, though it has data to send or receive.
    #[error("{}", match direction {
        Direction::Send => format!("no link leads from rank {rank} to any other"),
        Direction::Receive => format!("no link leads from any other to rank {rank}"),
    })]
    Isolated {
        /// The rank that is cut off.
        rank: Rank,
        /// The impossible direction.
        direction: Direction,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_finite_and_not_negative() {
        assert_eq!(Time::new(2.5).map(Time::units), Some(2.5));
        assert_eq!(Time::new(-0.0), Some(Time::ZERO));
        for bad in [f64::NAN, f64::INFINITY, -1.0] {
            assert_eq!(Time::new(bad), None);
        }
    }
}
