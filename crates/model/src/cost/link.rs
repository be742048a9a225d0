//! Costs of messages on one link: by pieces of straight lines, or by a table of measured sizes.

use super::{LeastCosts, MeasuredSizes, PiecewiseLinear, linear};
use crate::{Time, TimeError};
use std::ops::RangeInclusive;

/// Linear costs of one link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// `lambda + o`, in time units: infinite where there is no link.
    pub alpha: f64,
    /// `o`: the part of alpha that occupies ports; alpha where nothing overlaps.
    pub overhead: f64,
    /// The time per byte sent.
    pub beta: f64,
}

impl Link {
    /// The link of the one-port model: all of alpha occupies ports.
    pub fn one_port(alpha: f64, beta: f64) -> Link {
        Link { alpha, overhead: alpha, beta }
    }

    /// lambda: the part of alpha that overlaps with other work, in time units.
    pub fn latency(&self) -> f64 {
        match self.overhead == self.alpha {
            true => 0.0,
            false => self.alpha - self.overhead,
        }
    }

    /// True if part of alpha overlaps with other work.
    pub fn overlaps(&self) -> bool {
        self.overhead < self.alpha
    }

    /// Time that a message of `bytes > 0` occupies a port.
    #[inline]
    pub(super) fn occupancy(&self, integral: bool, bytes: u64) -> Result<Time, TimeError> {
        linear(integral, self.overhead, self.beta, bytes)
    }

    /// Lower bounds on all messages of these sizes.
    pub(super) fn least_costs(&self, bytes: RangeInclusive<u64>) -> LeastCosts {
        let at = |bytes: u64| (bytes, self.overhead + self.beta * bytes as f64);
        LeastCosts::new(self.latency(), vec![at(*bytes.start()), at(*bytes.end())])
    }
}

/// The costs of a message on a link by its size.
#[derive(Clone, Debug, PartialEq)]
pub enum LinkLaw {
    /// Straight lines.
    Pieces(PiecewiseLinear),
    /// A table of measured sizes.
    Measured(MeasuredSizes),
}

impl LinkLaw {
    /// The only line, if the law is linear.
    pub fn linear(&self) -> Option<Link> {
        match self {
            LinkLaw::Pieces(pieces) => pieces.linear().map(|piece| piece.link()),
            LinkLaw::Measured(_) => None,
        }
    }

    /// True if part of the latency of some message overlaps with other work.
    pub fn overlaps(&self) -> bool {
        match self {
            LinkLaw::Pieces(pieces) => pieces.pieces().iter().any(|piece| piece.link().overlaps()),
            LinkLaw::Measured(sizes) => sizes.overlaps(),
        }
    }

    /// The linear law that agrees with this one for messages of this size.
    #[must_use]
    pub fn linearised_at(&self, bytes: u64) -> LinkLaw {
        LinkLaw::Pieces(match self {
            LinkLaw::Pieces(pieces) => pieces.linearised_at(bytes),
            LinkLaw::Measured(sizes) => sizes.linearised_at(bytes),
        })
    }

    /// The sizes in bytes at which the law goes over to another straight line, ascending.
    pub fn changes(&self) -> Vec<u64> {
        match self {
            LinkLaw::Pieces(pieces) => pieces.pieces().iter().map(|one| one.from_bytes).collect(),
            LinkLaw::Measured(sizes) => sizes.sizes().iter().map(|one| one.bytes).collect(),
        }
    }

    /// Latency and occupancy of a message of this size, in time units; infinite beyond representable times, and 0 for
    /// no data.
    pub fn times(&self, bytes: u64) -> (f64, f64) {
        let units = |time: Result<Time, TimeError>| time.map_or(f64::INFINITY, Time::units);
        match bytes {
            0 => (0.0, 0.0),
            _ => (units(self.latency(bytes)), units(self.occupancy(false, bytes))),
        }
    }

    /// True if all costs are integers.
    pub(super) fn is_integral(&self) -> bool {
        match self {
            LinkLaw::Pieces(pieces) => pieces.is_integral(),
            LinkLaw::Measured(_) => false,
        }
    }

    /// Time that a message of `bytes > 0` occupies a port; exact if `integral`, which requires integer costs.
    #[inline]
    pub(super) fn occupancy(&self, integral: bool, bytes: u64) -> Result<Time, TimeError> {
        match self {
            LinkLaw::Pieces(pieces) => pieces.transmission(integral, bytes),
            LinkLaw::Measured(sizes) => sizes.occupancy(bytes),
        }
    }

    /// lambda of a message of `bytes > 0`.
    #[inline]
    pub(super) fn latency(&self, bytes: u64) -> Result<Time, TimeError> {
        match self {
            LinkLaw::Pieces(pieces) => {
                Time::new(pieces.piece_for(bytes).link().latency()).ok_or(TimeError::NotFinite)
            }
            LinkLaw::Measured(sizes) => sizes.latency(bytes),
        }
    }

    /// Lower bounds on all messages of these sizes, at least 1.
    pub fn least_costs(&self, bytes: RangeInclusive<u64>) -> LeastCosts {
        match self {
            LinkLaw::Pieces(pieces) => pieces.least_costs(bytes),
            LinkLaw::Measured(sizes) => sizes.least_costs(bytes),
        }
    }

    /// A lower bound on how long any number of messages of `bytes > 0` together occupy a port.
    pub(super) fn least_in_all(&self, integral: bool, bytes: u64) -> Result<Time, TimeError> {
        match self {
            LinkLaw::Pieces(pieces) => pieces.least_in_all(integral, bytes),
            LinkLaw::Measured(sizes) => sizes.least_in_all(bytes),
        }
    }
}

impl From<PiecewiseLinear> for LinkLaw {
    fn from(pieces: PiecewiseLinear) -> LinkLaw {
        LinkLaw::Pieces(pieces)
    }
}
