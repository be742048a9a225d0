//! Homogeneous costs: Hockney's model, with overhead and latency apart, and costs of exchanges.

use super::description::{self, Description};
use super::{
    CostError, CostKind, CostModel, Costs, Direction, LeastCosts, Link, OverheadError,
    check_overhead, linear, plus,
};
use crate::{Rank, Time, TimeError, quantity};
use std::ops::RangeInclusive;

/// Homogeneous, linear, one-ported costs (Hockney's model): the same alpha, beta and gamma
/// everywhere.
///
/// A message of `s > 0` bytes takes `comm(s) = alpha + beta s`, and `comm(0) = 0`: nothing is sent
/// where there is no data. Sender and receiver are busy throughout. A local copy of `s` bytes takes
/// `gamma s`, and its rank can do nothing else meanwhile.
///
/// [With an overhead](Self::with_overhead) `o` below alpha, ports are busy for `o + beta s` only, and the
/// rest of alpha, the latency lambda, passes beside other work: the receiver's port is busy from `max(F,
/// t + lambda)`, where it is free at `F` and the sender ready at `t`.
///
/// [With exchange costs](Self::with_exchange) of their own, the messages of an action that both sends and receives
/// take another alpha and beta. Trees have no such actions; schedules have. A message is one of an exchange if either
/// of its ends is such an action.
///
/// # Units
/// alpha and the overhead in time units, beta and gamma in time units per byte; any time unit will do, so
/// long as it is the same for all.
///
/// # Source
/// Träff, "On Optimal Trees for Irregular Gather and Scatter Collectives" (OPT), section 2.1. Overhead and
/// latency apart: Culler et al., "LogP" (1993); Alexandrov et al., "LogGP" (1995). Exchanges that are dearer: Thakur,
/// Rabenseifner, Gropp, "Optimization of Collective Communication Operations in MPICH" (2005), section 5.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Homogeneous {
    alpha: f64,
    /// At most alpha.
    overhead: f64,
    beta: f64,
    gamma: f64,
    /// alpha and beta of a message of an exchange: equal to the lone message's where latency overlaps.
    exchange: (f64, f64),
    /// All of them are integers, so that every time is one.
    integral: bool,
}

/// Costs of exchanges that do not go with others.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum ExchangeError {
    /// Not a finite number of at least 0.
    #[error(transparent)]
    Cost(#[from] CostError),
    /// Part of the latency overlaps with other work.
    #[error(
        "costs of exchanges go with an overhead that is all of alpha, {alpha}, and not {overhead}"
    )]
    Overlaps {
        /// Less than alpha.
        overhead: f64,
        /// The start-up latency.
        alpha: f64,
    },
}

impl Homogeneous {
    /// The costs alpha (start-up latency), beta (time per byte sent), gamma (time per byte copied).
    ///
    /// # Errors
    /// [`CostError`] for NaN, an infinity or a negative number.
    pub fn new(alpha: f64, beta: f64, gamma: f64) -> Result<Homogeneous, CostError> {
        for (parameter, value) in [("alpha", alpha), ("beta", beta), ("gamma", gamma)] {
            if Time::new(value).is_none() {
                return Err(CostError { parameter, value });
            }
        }
        let integral = [alpha, beta, gamma].iter().all(|cost| cost.fract() == 0.0);
        Ok(Homogeneous { alpha, overhead: alpha, beta, gamma, exchange: (alpha, beta), integral })
    }

    /// These costs with this part of alpha as overhead: the rest overlaps with other work.
    ///
    /// # Errors
    /// [`OverheadError`] unless it is from 0 to alpha, or less than alpha where exchanges have costs of their own.
    ///
    /// # Example
    /// ```
    /// use tuwtree_model::Homogeneous;
    /// let costs = Homogeneous::new(10.0, 1.0, 0.0).unwrap().with_overhead(4.0).unwrap();
    /// assert_eq!((costs.latency(), costs.transmission(3).unwrap().units()), (6.0, 7.0));
    /// ```
    pub fn with_overhead(self, overhead: f64) -> Result<Homogeneous, OverheadError> {
        check_overhead(overhead, self.alpha)?;
        if overhead < self.alpha && self.has_exchange_costs() {
            return Err(OverheadError::Exchanges { overhead, alpha: self.alpha });
        }
        let integral = self.integral && overhead.fract() == 0.0;
        Ok(Homogeneous { overhead, integral, ..self })
    }

    /// These costs, except that each message of an action that both sends and receives takes `alpha + beta s`. Values
    /// equal to [`alpha`](Self::alpha) and [`beta`](Self::beta) make no difference.
    ///
    /// Usually a lone message takes between half of an exchange's costs, where a link goes one way at a time, and all of
    /// them, where it goes both ways at once; any others are allowed.
    ///
    /// # Errors
    /// [`ExchangeError`]: a cost that is NaN, infinite or negative, or latency that overlaps with other work, since then
    /// it is not known which part of the exchange's alpha does.
    ///
    /// # Source
    /// Thakur, Rabenseifner, Gropp 2005, section 5: their alpha and beta are the exchange's, their `alpha_uni` and
    /// `beta_uni` the lone message's.
    ///
    /// # Example
    /// ```
    /// use tuwtree_model::Homogeneous;
    /// let costs = Homogeneous::new(10.0, 1.0, 0.0).unwrap().with_exchange(15.0, 2.0).unwrap();
    /// assert_eq!(costs.transmission(3).unwrap().units(), 13.0);
    /// assert_eq!(costs.exchanged(3).unwrap().units(), 21.0);
    /// ```
    pub fn with_exchange(self, alpha: f64, beta: f64) -> Result<Homogeneous, ExchangeError> {
        for (parameter, value) in [("exchange alpha", alpha), ("exchange beta", beta)] {
            if Time::new(value).is_none() {
                return Err(CostError { parameter, value }.into());
            }
        }
        if self.overlaps() && (alpha, beta) != (self.alpha, self.beta) {
            return Err(ExchangeError::Overlaps { overhead: self.overhead, alpha: self.alpha });
        }
        let all = [self.alpha, self.overhead, self.beta, self.gamma, alpha, beta];
        let integral = all.iter().all(|cost| cost.fract() == 0.0);
        Ok(Homogeneous { exchange: (alpha, beta), integral, ..self })
    }

    /// The start-up latency of a message of an exchange, in time units.
    pub fn exchange_alpha(&self) -> f64 {
        self.exchange.0
    }

    /// The time per byte of a message of an exchange.
    pub fn exchange_beta(&self) -> f64 {
        self.exchange.1
    }

    /// True if messages of exchanges have costs of their own.
    pub fn has_exchange_costs(&self) -> bool {
        self.exchange != (self.alpha, self.beta)
    }

    /// Costs without exchange costs, not above those of any message, lone or not: the smaller alpha and the smaller
    /// beta. Integral only if both are.
    #[must_use]
    pub fn cheapest(&self) -> Homogeneous {
        let alpha = self.alpha.min(self.exchange.0);
        let beta = self.beta.min(self.exchange.1);
        let overhead = self.overhead.min(alpha);
        Homogeneous { alpha, overhead, beta, exchange: (alpha, beta), ..*self }
    }

    /// The start-up latency lambda + o, in time units.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// `o`: the part of alpha that occupies ports, in time units.
    pub fn overhead(&self) -> f64 {
        self.overhead
    }

    /// lambda: the part of alpha that overlaps with other work, in time units; 0 in the one-port model.
    pub fn latency(&self) -> f64 {
        self.alpha - self.overhead
    }

    /// True if part of alpha overlaps with other work.
    pub fn overlaps(&self) -> bool {
        self.overhead < self.alpha
    }

    /// The time per byte transmitted.
    pub fn beta(&self) -> f64 {
        self.beta
    }

    /// The time per byte copied locally.
    pub fn gamma(&self) -> f64 {
        self.gamma
    }

    /// True if all costs are integers, and hence all times exact integers.
    pub fn is_integral(&self) -> bool {
        self.integral
    }

    /// `comm(bytes)`: the time for which one transmission occupies a port.
    ///
    /// # Errors
    /// [`TimeError`] if the time is not exact or not finite.
    pub fn transmission(&self, bytes: u64) -> Result<Time, TimeError> {
        if bytes == 0 {
            return Ok(Time::ZERO);
        }
        self.linear(self.overhead, self.beta, bytes)
    }

    /// The time for which one message of an exchange occupies a port.
    ///
    /// # Errors
    /// As [`transmission`](Self::transmission).
    pub fn exchanged(&self, bytes: u64) -> Result<Time, TimeError> {
        match (bytes, self.has_exchange_costs()) {
            (0, _) => Ok(Time::ZERO),
            (_, true) => self.linear(self.exchange.0, self.exchange.1, bytes),
            (_, false) => self.transmission(bytes),
        }
    }

    /// The time of a local copy.
    ///
    /// # Errors
    /// As [`transmission`](Self::transmission).
    pub fn copy(&self, bytes: u64) -> Result<Time, TimeError> {
        self.linear(0.0, self.gamma, bytes)
    }

    /// The receiver's clock after a segment of `bytes` from a child that is ready at `ready`:
    /// `max(clock, ready) + comm(bytes)`.
    ///
    /// # Errors
    /// As [`transmission`](Self::transmission).
    ///
    /// # Source
    /// OPT eq. 1.
    pub fn after_receive(&self, clock: Time, ready: Time, bytes: u64) -> Result<Time, TimeError> {
        self.plus(clock.later(ready), self.transmission(bytes)?)
    }

    /// A rank's clock after the copy of its own block: `clock + gamma bytes`.
    ///
    /// # Errors
    /// As [`transmission`](Self::transmission).
    ///
    /// # Source
    /// OPT eq. 2.
    pub fn after_copy(&self, clock: Time, bytes: u64) -> Result<Time, TimeError> {
        self.plus(clock, self.copy(bytes)?)
    }

    /// `start + cost`, exact where all costs are integers.
    ///
    /// # Errors
    /// As [`transmission`](Self::transmission).
    pub fn plus(&self, start: Time, cost: Time) -> Result<Time, TimeError> {
        plus(self.integral, start, cost)
    }

    /// `fixed + rate * bytes`.
    fn linear(&self, fixed: f64, rate: f64, bytes: u64) -> Result<Time, TimeError> {
        linear(self.integral, fixed, rate, bytes)
    }
}

impl CostModel for Homogeneous {
    fn ranks(&self) -> Option<usize> {
        None
    }

    fn transmission_between(&self, _: Rank, _: Rank, bytes: u64) -> Result<Time, TimeError> {
        self.transmission(bytes)
    }

    fn exchange_between(&self, _: Rank, _: Rank, bytes: u64) -> Result<Time, TimeError> {
        self.exchanged(bytes)
    }

    fn latency_between(&self, _: Rank, _: Rank, bytes: u64) -> Result<Time, TimeError> {
        match bytes {
            0 => Ok(Time::ZERO),
            _ => Time::new(self.latency()).ok_or(TimeError::NotFinite),
        }
    }

    fn copy_at(&self, _: Rank, bytes: u64) -> Result<Time, TimeError> {
        self.copy(bytes)
    }

    fn sum(&self, start: Time, cost: Time) -> Result<Time, TimeError> {
        self.plus(start, cost)
    }

    fn least_busy(&self, _: Direction, _: Rank, _: usize, bytes: u64) -> Result<Time, TimeError> {
        self.cheapest().transmission(bytes)
    }
}

impl CostKind for Homogeneous {
    fn name(&self) -> &'static str {
        "homogeneous"
    }

    fn is_integral(&self) -> bool {
        self.integral
    }

    fn homogeneous(&self, _: usize) -> Option<Homogeneous> {
        Some(*self)
    }

    fn overlaps(&self) -> bool {
        Homogeneous::overlaps(self)
    }

    fn among(&self, _: &[Rank]) -> Costs {
        (*self).into()
    }

    fn link(&self, _: Rank, _: Rank) -> Option<Link> {
        Some(Link { alpha: self.alpha, overhead: self.overhead, beta: self.beta })
    }

    fn gamma_at(&self, _: Rank) -> f64 {
        self.gamma
    }

    fn least_costs(&self, _: usize, bytes: RangeInclusive<u64>) -> LeastCosts {
        let Homogeneous { alpha, overhead, beta, .. } = self.cheapest();
        Link { alpha, overhead, beta }.least_costs(bytes)
    }

    fn parameters(&self) -> Option<&Homogeneous> {
        Some(self)
    }

    fn description(&self) -> Description {
        let link = Link { alpha: self.alpha, overhead: self.overhead, beta: self.beta };
        let overlaps = Homogeneous::overlaps(self);
        let mut row = vec!["all pairs".to_owned()];
        row.extend(description::cells(link, 0..u64::MAX, overlaps));
        let mut rows = vec![row];
        if self.has_exchange_costs() {
            let exchange = Link::one_port(self.exchange.0, self.exchange.1);
            let mut row = vec!["exchanges".to_owned()];
            row.extend(description::cells(exchange, 0..u64::MAX, overlaps));
            rows.push(row);
        }
        let costs = description::costs(overlaps);
        Description {
            processes: "any number".to_owned(),
            facts: vec![("copies", quantity::per_byte(self.gamma))],
            headings: description::words(&[&["links"], costs].concat()),
            rows,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_sent_where_there_is_no_data() {
        let costs = Homogeneous::new(100.0, 2.0, 1.0).unwrap();
        assert_eq!(costs.transmission(0), Ok(Time::ZERO));
        assert_eq!(costs.transmission(3).unwrap().units(), 106.0);
        assert_eq!(costs.copy(3).unwrap().units(), 3.0);
    }

    #[test]
    fn costs_are_finite_and_not_negative() {
        let error = Homogeneous::new(1.0, f64::NAN, 0.0).unwrap_err();
        assert_eq!(error.parameter, "beta");
        assert!(Homogeneous::new(-1.0, 0.0, 0.0).is_err());
        assert!(Homogeneous::new(0.0, 0.0, f64::INFINITY).is_err());
    }

    #[test]
    fn integer_times_are_exact_to_2_to_the_53_and_refused_beyond() {
        let costs = Homogeneous::new(1.0, 1.0, 1.0).unwrap();
        assert_eq!(costs.transmission((1 << 53) - 1).unwrap().units(), (1_u64 << 53) as f64);
        assert_eq!(costs.transmission(1 << 53), Err(TimeError::NotExact));
        let largest = costs.transmission((1 << 53) - 1).unwrap();
        assert_eq!(costs.after_copy(largest, 1), Err(TimeError::NotExact));
        let huge = Homogeneous::new(f64::MAX, 1.0, 1.0).unwrap();
        assert_eq!(huge.transmission(1), Err(TimeError::NotExact));
    }
}
