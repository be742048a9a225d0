//! Costs by size as they were measured: a table, with straight lines between its entries.

use super::{LeastCosts, Link, Piece, PiecewiseLinear};
use crate::{Time, TimeError};
use std::ops::RangeInclusive;

/// Latency and occupancy of messages by their size, between measured sizes on straight lines.
///
/// Below the first size both are those of the first; beyond the last they continue with the last slope, or stay
/// constant where that falls. Latency need not grow with size: protocols change.
///
/// # Units
/// Sizes in bytes, times in one time unit.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredSizes {
    /// At least one, by ascending size.
    sizes: Vec<MeasuredSize>,
    /// A line that no occupancy is below: its value at 0 bytes and its slope.
    below: (f64, f64),
}

/// Measured costs of messages of one size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeasuredSize {
    /// The size of the messages, at least 1.
    pub bytes: u64,
    /// `lambda(bytes)`: what passes beside other work, in time units.
    pub latency: f64,
    /// `f(bytes)`: how long one message occupies its receiver's port, in time units.
    pub occupancy: f64,
}

/// Measured sizes that are not a law.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum MeasuredSizesError {
    /// There is no cost of any message.
    #[error("there are no sizes; at least one is needed")]
    NoSizes,
    /// Sizes that do not ascend from 1.
    #[error("size {size} is of {bytes} bytes, after {before}; sizes must ascend, from 1 byte on")]
    Order {
        /// The entry, counted from 0.
        size: usize,
        /// Its size in bytes.
        bytes: u64,
        /// The size before it, which it must exceed.
        before: u64,
    },
    /// Not a cost.
    #[error("{parameter} of size {size} is {value}; costs are finite numbers of at least 0")]
    Cost {
        /// The entry, counted from 0.
        size: usize,
        /// "latency" or "occupancy".
        parameter: &'static str,
        /// Negative, infinite or NaN.
        value: f64,
    },
}

impl MeasuredSizes {
    /// The law with these sizes.
    ///
    /// # Errors
    /// [`MeasuredSizesError`]: no sizes, sizes that do not ascend, NaN, infinite or negative costs.
    ///
    /// # Example
    /// ```
    /// use tuwtree_model::{MeasuredSize, MeasuredSizes};
    /// let size = |bytes, latency, occupancy| MeasuredSize { bytes, latency, occupancy };
    /// let law = MeasuredSizes::new(vec![size(1, 4.0, 1.0), size(101, 3.0, 11.0)]).unwrap();
    /// assert_eq!(law.latency(51).unwrap().units(), 3.5);
    /// assert_eq!(law.occupancy(201).unwrap().units(), 21.0);
    /// ```
    pub fn new(sizes: Vec<MeasuredSize>) -> Result<MeasuredSizes, MeasuredSizesError> {
        if sizes.is_empty() {
            return Err(MeasuredSizesError::NoSizes);
        }
        let mut before = 0;
        for (size, &MeasuredSize { bytes, latency, occupancy }) in sizes.iter().enumerate() {
            if bytes <= before {
                return Err(MeasuredSizesError::Order { size, bytes, before });
            }
            before = bytes;
            for (parameter, value) in [("latency", latency), ("occupancy", occupancy)] {
                if Time::new(value).is_none() {
                    return Err(MeasuredSizesError::Cost { size, parameter, value });
                }
            }
        }
        let below = line_below(&sizes);
        Ok(MeasuredSizes { sizes, below })
    }

    /// The sizes, in ascending order.
    pub fn sizes(&self) -> &[MeasuredSize] {
        &self.sizes
    }

    /// True if some message has a latency apart from its occupancy.
    pub fn overlaps(&self) -> bool {
        self.sizes.iter().any(|size| size.latency > 0.0)
    }

    /// lambda of a message of `bytes > 0`.
    ///
    /// # Errors
    /// [`TimeError`] if it is not finite.
    pub fn latency(&self, bytes: u64) -> Result<Time, TimeError> {
        self.at(bytes, |size| size.latency)
    }

    /// Time that a message of `bytes > 0` occupies a port.
    ///
    /// # Errors
    /// [`TimeError`] if it is not finite.
    pub fn occupancy(&self, bytes: u64) -> Result<Time, TimeError> {
        self.at(bytes, |size| size.occupancy)
    }

    fn at(&self, bytes: u64, cost: impl Fn(&MeasuredSize) -> f64) -> Result<Time, TimeError> {
        let next = self.sizes.partition_point(|size| size.bytes < bytes);
        let time = match &self.sizes[..] {
            [first, ..] if next == 0 => cost(first),
            sizes if next < sizes.len() => {
                let (one, other) = (&sizes[next - 1], &sizes[next]);
                let share = (bytes - one.bytes) as f64 / (other.bytes - one.bytes) as f64;
                cost(one) + share * (cost(other) - cost(one))
            }
            [.., one, last] => {
                cost(last) + slope(one, last, cost).max(0.0) * (bytes - last.bytes) as f64
            }
            sizes => cost(&sizes[0]),
        };
        Time::new(time).ok_or(TimeError::NotFinite)
    }

    /// The linear law that agrees with this one for messages of this size, and with the slope that it
    /// has there, as far as that is a cost.
    pub(super) fn linearised_at(&self, bytes: u64) -> PiecewiseLinear {
        let finite = |time: Result<Time, TimeError>| time.map_or(f64::MAX, Time::units);
        let (latency, occupancy) = (finite(self.latency(bytes)), finite(self.occupancy(bytes)));
        let next = self.sizes.partition_point(|size| size.bytes < bytes);
        let next = next.clamp(1, self.sizes.len().max(2) - 1);
        let steepest = occupancy / bytes.max(1) as f64;
        let beta = match self.sizes.get(next) {
            Some(other) => slope(&self.sizes[next - 1], other, |size| size.occupancy),
            None => 0.0,
        };
        let beta = beta.clamp(0.0, steepest);
        let overhead = (occupancy - beta * bytes as f64).max(0.0);
        let piece = Piece { from_bytes: 0, alpha: overhead + latency, overhead, beta };
        PiecewiseLinear::new(vec![piece]).expect("one piece of costs")
    }

    /// The piece of a straight line for people: alpha, overhead and beta at one of the sizes.
    pub(super) fn link_at(&self, bytes: u64) -> Link {
        let linear = self.linearised_at(bytes);
        linear.piece_for(bytes).link()
    }

    /// Lower bounds on all messages of these sizes, at least 1.
    pub(super) fn least_costs(&self, bytes: RangeInclusive<u64>) -> LeastCosts {
        let unstated = |time: Result<Time, TimeError>| time.map_or(f64::INFINITY, Time::units);
        let between = self.sizes.iter().map(|size| size.bytes).filter(|size| bytes.contains(size));
        let sizes = || between.clone().chain([*bytes.start(), *bytes.end()]);
        let latencies = sizes().map(|bytes| unstated(self.latency(bytes)));
        let occupancies = sizes().map(|bytes| (bytes, unstated(self.occupancy(bytes))));
        LeastCosts::new(latencies.fold(f64::INFINITY, f64::min), occupancies.collect())
    }

    /// A lower bound on how long any number of messages of `bytes > 0` together occupy a port.
    pub(super) fn least_in_all(&self, bytes: u64) -> Result<Time, TimeError> {
        let (fixed, rate) = self.below;
        Time::new(fixed + rate * bytes as f64).ok_or(TimeError::NotFinite)
    }
}

/// Time per byte between two sizes.
fn slope(one: &MeasuredSize, other: &MeasuredSize, cost: impl Fn(&MeasuredSize) -> f64) -> f64 {
    (cost(other) - cost(one)) / (other.bytes - one.bytes) as f64
}

/// A line that no occupancy of one or more bytes is below, with a fixed part of at least 0, so that it
/// bounds the sum of several messages, too.
fn line_below(sizes: &[MeasuredSize]) -> (f64, f64) {
    let slopes = sizes.windows(2).map(|pair| slope(&pair[0], &pair[1], |size| size.occupancy));
    // Beyond the last size the law goes on with the last slope, but never falls.
    let last = slopes.clone().next_back().unwrap_or(0.0).max(0.0);
    let rate = slopes.fold(last, f64::min).max(0.0);
    let fixed = |rate: f64| {
        // Before the first size nothing is cheaper, and between two sizes the ends are least or most.
        sizes
            .iter()
            .map(|size| size.occupancy - rate * size.bytes as f64)
            .fold(f64::INFINITY, f64::min)
    };
    // The steepest line through the origin, if the other one starts below it.
    let through_origin =
        sizes.iter().map(|size| size.occupancy / size.bytes as f64).fold(last, f64::min);
    match fixed(rate) {
        start if start >= 0.0 => (start, rate),
        _ => (0.0, through_origin),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn law(sizes: &[(u64, f64, f64)]) -> Result<MeasuredSizes, MeasuredSizesError> {
        let size = |&(bytes, latency, occupancy)| MeasuredSize { bytes, latency, occupancy };
        MeasuredSizes::new(sizes.iter().map(size).collect())
    }

    #[test]
    fn times_are_on_lines_between_sizes_and_go_on_beyond() {
        let law = law(&[(1, 4.0, 1.0), (11, 2.0, 6.0), (21, 9.0, 4.0)]).unwrap();
        let at =
            |bytes| (law.latency(bytes).unwrap().units(), law.occupancy(bytes).unwrap().units());
        assert_eq!([at(1), at(6), at(11), at(16)], [(4., 1.), (3., 3.5), (2., 6.), (5.5, 5.)]);
        // Latency goes on to rise, occupancy does not go on to fall.
        assert_eq!([at(21), at(31)], [(9.0, 4.0), (16.0, 4.0)]);
    }

    #[test]
    fn one_size_holds_for_all() {
        let law = law(&[(8, 2.0, 3.0)]).unwrap();
        for bytes in [1, 8, 1 << 40] {
            assert_eq!((law.latency(bytes).unwrap().units()), 2.0);
            assert_eq!((law.occupancy(bytes).unwrap().units()), 3.0);
        }
        assert_eq!(law.least_in_all(1 << 40).unwrap().units(), 3.0);
    }

    #[test]
    fn no_split_into_messages_is_below_the_bound() {
        for sizes in [
            vec![(1, 0.0, 5.0), (4, 0.0, 5.0), (8, 0.0, 30.0), (16, 0.0, 31.0)],
            vec![(1, 0.0, 0.5), (10, 0.0, 40.0)],
            vec![(3, 0.0, 9.0), (6, 0.0, 2.0), (9, 0.0, 8.0)],
        ] {
            let law = law(&sizes).unwrap();
            // least[s]: the least time of messages of s bytes in all.
            let mut least = vec![0.0; 61];
            for bytes in 1..least.len() {
                let splits = (1..=bytes)
                    .map(|last| least[bytes - last] + law.occupancy(last as u64).unwrap().units());
                least[bytes] = splits.fold(f64::INFINITY, f64::min);
                let bound = law.least_in_all(bytes as u64).unwrap().units();
                assert!(bound <= least[bytes] + 1e-9, "{bytes}: {bound} > {}", least[bytes]);
            }
        }
    }

    #[test]
    fn a_linear_law_agrees_where_it_was_taken() {
        let law = law(&[(1, 4.0, 1.0), (11, 2.0, 6.0), (21, 9.0, 4.0), (31, 9.0, 90.0)]).unwrap();
        for bytes in [1, 5, 11, 15, 21, 30, 100] {
            let link = law.link_at(bytes);
            let occupancy = link.overhead + link.beta * bytes as f64;
            assert!((occupancy - law.occupancy(bytes).unwrap().units()).abs() < 1e-9);
            assert!((link.latency() - law.latency(bytes).unwrap().units()).abs() < 1e-9);
        }
    }

    #[test]
    fn what_is_no_law_is_refused_with_place_and_value() {
        for (sizes, message) in [
            (&[][..], "no sizes"),
            (&[(0, 0.0, 0.0)], "size 0 is of 0 bytes"),
            (&[(5, 0.0, 0.0), (5, 1.0, 1.0)], "size 1 is of 5 bytes, after 5"),
            (&[(5, f64::NAN, 0.0)], "latency of size 0 is NaN"),
            (&[(5, 0.0, -1.0)], "occupancy of size 0 is -1"),
        ] {
            let error = law(sizes).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }
}
