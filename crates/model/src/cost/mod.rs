//! The alpha-beta-gamma cost models: the only place that adds an alpha.
//!
//! alpha is `lambda + o`: the overhead `o` occupies a port, the latency lambda passes beside other work. With
//! `o = alpha`, which is the default, nothing overlaps: the one-port model of the papers.
//!
//! A [`CostModel`] states the time of a single transmission or copy, checked and exact; everything
//! that judges a tree uses it. [`Homogeneous`] costs are the same everywhere, a [`CostMatrix`] has
//! its own for each pair of processors, a [`Hierarchy`] those of the levels of a machine;
//! [`Costs`] is any of them. [`ScaledSizes`] is the homogeneous law for the dynamic
//! programs: all block sizes turned into time once, so that their inner loops only add and compare.

mod costs;
mod description;
mod hierarchy;
mod least;
mod link;
mod links;
mod matrix;
mod measured;
mod piecewise;
mod stated;

pub use costs::{CostKind, Costs, CostsError};
pub use description::Description;
pub use hierarchy::{Hierarchy, HierarchyError, Level, Placement};
pub use least::LeastCosts;
pub(crate) use least::LineBelow;
pub use link::{Link, LinkLaw};
pub use links::Cut;
pub use matrix::{CostMatrix, CostMatrixError, CostTable};
pub use measured::{MeasuredSize, MeasuredSizes, MeasuredSizesError};
pub use piecewise::{Piece, PieceError, PiecewiseLinear};
pub use stated::StatedCosts;

use crate::{BlockSizes, LARGEST_EXACT, Rank, Time, TimeError, quantity};
use std::fmt::Debug;
use std::ops::{Add, RangeInclusive, Sub};

/// Homogeneous, linear, one-ported costs (Hockney's model): the same alpha, beta and gamma
/// everywhere.
///
/// A message of `s > 0` bytes takes `comm(s) = alpha + beta s`, and `comm(0) = 0`: nothing is sent
/// where there is no data. Sender and receiver are busy throughout. A local copy of `s` bytes takes
/// `gamma s`, and its processor can do nothing else meanwhile.
///
/// [With an overhead](Self::with_overhead) `o` below alpha, ports are busy for `o + beta s` only, and the
/// rest of alpha, the latency lambda, passes beside other work: the receiver's port is busy from `max(F, t
/// + lambda)`, where it is free at `F` and the sender ready at `t`.
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
    /// alpha and beta of a message of an exchange: those of others, unless latency does not overlap.
    exchange: (f64, f64),
    /// All of them are integers, so that every time is one.
    integral: bool,
}

/// An overhead that costs cannot have.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum OverheadError {
    /// It is not part of alpha.
    #[error("the overhead is {overhead}; it is part of alpha, so that 0 to {alpha} is allowed")]
    Outside {
        /// Negative, NaN, or larger than alpha.
        overhead: f64,
        /// What it would be part of.
        alpha: f64,
    },
    /// Exchanges have costs of their own.
    #[error("the overhead is {overhead}; with costs of exchanges it is all of alpha, {alpha}")]
    Exchanges {
        /// Less than alpha.
        overhead: f64,
        /// What it is part of.
        alpha: f64,
    },
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

    /// The same costs with this part of alpha as overhead: the rest overlaps with other work.
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

    /// The same costs, but for the messages of an action that both sends and receives: each of them takes
    /// `alpha + beta s`. Those equal to [`alpha`](Self::alpha) and [`beta`](Self::beta) make no difference.
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
    /// `beta_uni` those of a lone message.
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

    /// Whether messages of exchanges cost something else than others.
    pub fn has_exchange_costs(&self) -> bool {
        self.exchange != (self.alpha, self.beta)
    }

    /// Costs without those of exchanges that no message, lone or not, is cheaper than: the smaller alpha and the smaller
    /// beta. Integral only if these are.
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

    /// Whether part of alpha overlaps with other work.
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

    /// Whether all costs are integers, and hence all times exact integers.
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

    /// A processor's clock after the copy of its own block: `clock + gamma bytes`.
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

/// Which way data goes at a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// The processor sends.
    Send,
    /// The processor receives.
    Receive,
}

impl Direction {
    /// The other one.
    #[must_use]
    pub fn opposite(self) -> Direction {
        match self {
            Direction::Send => Direction::Receive,
            Direction::Receive => Direction::Send,
        }
    }
}

/// What a transmission and a copy take, whichever processors perform them: the law by which trees and
/// schedules are judged.
///
/// # Source
/// OPT section 2.1, for homogeneous and non-homogeneous costs alike.
pub trait CostModel {
    /// The number of processors that the costs are stated for; `None` if they hold for any number.
    fn processors(&self) -> Option<usize>;

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

    /// The same for a message one of whose ends is an action that both sends and receives: what every other message
    /// takes, unless exchanges have costs of their own.
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
    /// any number of messages, to or from any of the other `processors - 1 > 0`; 0 for no data.
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
        processors: usize,
        bytes: u64,
    ) -> Result<Time, TimeError>;
}

impl CostModel for Homogeneous {
    fn processors(&self) -> Option<usize> {
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

/// A number type in which the dynamic programs compute times: `i32` or `i64` where all costs are
/// integers, `f64` otherwise.
pub trait Scalar:
    Copy + PartialOrd + Add<Output = Self> + Sub<Output = Self> + Debug + Send + Sync + 'static
{
    /// 0 time units, of which sums begin.
    const ZERO: Self;
    /// Later than every time. Compared with, never added to.
    const NEVER: Self;
    /// The largest magnitude that every intermediate result may have.
    const LIMIT: f64;

    /// `units` in this type: exact for the integer types, given an integer within the limit.
    fn from_units(units: f64) -> Self;

    /// The product of a rate and a number of bytes.
    fn scaled(rate: f64, bytes: u64) -> Self;

    /// The value as an `f64`: exact up to 2^53.
    fn units(self) -> f64;

    /// The smaller of two values.
    #[inline(always)]
    #[must_use]
    fn least(self, other: Self) -> Self {
        if other < self { other } else { self }
    }

    /// The larger of two values.
    #[inline(always)]
    #[must_use]
    fn most(self, other: Self) -> Self {
        if other > self { other } else { self }
    }
}

macro_rules! integer_scalar {
    ($integer:ty, $bits:expr) => {
        impl Scalar for $integer {
            const ZERO: Self = 0;
            const NEVER: Self = <$integer>::MAX;
            const LIMIT: f64 = (1_u64 << $bits) as f64;

            fn from_units(units: f64) -> Self {
                units as $integer
            }

            fn scaled(rate: f64, bytes: u64) -> Self {
                // A rate above 2^63 saturates; the limit admits it only together with no bytes.
                (rate as u64).saturating_mul(bytes) as $integer
            }

            fn units(self) -> f64 {
                self as f64
            }
        }
    };
}

integer_scalar!(i32, 30);
integer_scalar!(i64, 61);

impl Scalar for f64 {
    const ZERO: Self = 0.0;
    const NEVER: Self = f64::INFINITY;
    const LIMIT: f64 = 1e300;

    fn from_units(units: f64) -> Self {
        units
    }

    fn scaled(rate: f64, bytes: u64) -> Self {
        rate * bytes as f64
    }

    fn units(self) -> f64 {
        self
    }
}

/// Block sizes turned into time: what the dynamic programs for homogeneous costs compute with.
///
/// # Units
/// Everything is in the cost model's time units.
#[derive(Clone, Debug)]
pub struct ScaledSizes<T> {
    latency: T,
    /// `p + 1` entries: `beta (m_0 + … + m_{i-1})`.
    volume: Vec<T>,
    /// `p` entries: `gamma m_i`.
    copy: Vec<T>,
    /// `p + 1` entries: how many of blocks `0..i` are not empty. Apart from `volume`, because
    /// beta may be 0.
    nonempty: Vec<u32>,
}

impl<T: Scalar> ScaledSizes<T> {
    /// The scaled sizes of a problem, or `None` where results of the dynamic programs might leave
    /// the range in which `T` is exact (for `f64`: finite).
    ///
    /// # Complexity
    /// O(p) time and space.
    pub fn new(costs: &Homogeneous, sizes: &BlockSizes) -> Option<ScaledSizes<T>> {
        let exact_type = T::from_units(0.5).units() == 0.0;
        if (exact_type && !costs.integral) || horizon(costs, sizes) > T::LIMIT {
            return None;
        }
        let mut nonempty = vec![0; sizes.processors() + 1];
        for (rank, bytes) in sizes.iter().enumerate() {
            nonempty[rank + 1] = nonempty[rank] + u32::from(bytes > 0);
        }
        Some(ScaledSizes {
            latency: T::from_units(costs.overhead),
            volume: (0..=sizes.processors())
                .map(|rank| T::scaled(costs.beta, sizes.before(rank)))
                .collect(),
            copy: sizes.iter().map(|bytes| T::scaled(costs.gamma, bytes)).collect(),
            nonempty,
        })
    }

    /// The same problem with a given root that is busy until `start`, rather than with its copy only.
    ///
    /// A given root's block is never sent, so that its volume does not matter; it becomes `start` as
    /// well, because the engines rely on copies that take no longer than messages.
    #[must_use]
    pub fn with_busy_root(mut self, root: Rank, start: T) -> ScaledSizes<T> {
        let own = self.volume(root, root);
        let empty = u32::from(self.is_empty(root, root));
        for after in root + 1..self.volume.len() {
            self.volume[after] = self.volume[after] - own + start;
            self.nonempty[after] += empty;
        }
        self.copy[root] = start;
        self
    }

    /// The number of processors, `p >= 1`.
    #[inline(always)]
    pub fn processors(&self) -> usize {
        self.copy.len()
    }

    /// `o`, which is alpha where nothing overlaps: what every transmission costs beside its volume.
    #[inline(always)]
    pub fn latency(&self) -> T {
        self.latency
    }

    /// `beta S(first, last)`.
    #[inline(always)]
    pub fn volume(&self, first: Rank, last: Rank) -> T {
        self.volume[last + 1] - self.volume[first]
    }

    /// `beta (m_0 + … + m_{i-1})` for `i` in `0..=p`.
    #[inline(always)]
    pub fn volumes(&self) -> &[T] {
        &self.volume
    }

    /// `gamma m_rank`: the time of the copy of a processor's own block.
    #[inline(always)]
    pub fn copy(&self, rank: Rank) -> T {
        self.copy[rank]
    }

    /// Whether blocks `first..=last` are all empty.
    #[inline(always)]
    pub fn is_empty(&self, first: Rank, last: Rank) -> bool {
        self.nonempty[first] == self.nonempty[last + 1]
    }

    /// `comm(S(first, last))`: the time of transmitting blocks `first..=last` in one message.
    #[inline(always)]
    pub fn transmission(&self, first: Rank, last: Rank) -> T {
        if self.is_empty(first, last) { T::ZERO } else { self.sent(self.volume(first, last)) }
    }

    /// The time of a message that is known to hold data and to have this volume.
    #[inline(always)]
    pub fn sent(&self, volume: T) -> T {
        self.latency + volume
    }
}

/// An upper bound on every value that a dynamic program meets, with ample room: no ordered tree
/// that is worth a table entry lets a block travel, wait and be copied more than
/// `ceil(log2 p) + 4` times, binary trees with their two messages a level included.
fn horizon(costs: &Homogeneous, sizes: &BlockSizes) -> f64 {
    let levels = f64::from(sizes.processors().next_power_of_two().ilog2()) + 4.0;
    2.0 * levels * costs.alpha + levels * (costs.beta + costs.gamma) * sizes.total() as f64
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

    #[test]
    fn scaled_sizes_follow_the_same_law() {
        let costs = Homogeneous::new(7.0, 0.0, 2.0).unwrap();
        let sizes = BlockSizes::new([0, 3, 0]).unwrap();
        let scaled = ScaledSizes::<i32>::new(&costs, &sizes).unwrap();
        assert_eq!(scaled.transmission(0, 0), 0);
        assert_eq!(scaled.transmission(0, 2), 7, "beta = 0, but there is data");
        assert_eq!(scaled.copy(1), 6);
        assert!(
            ScaledSizes::<i32>::new(&Homogeneous::new(0.5, 1.0, 1.0).unwrap(), &sizes).is_none()
        );
        let large = BlockSizes::new([1 << 40]).unwrap();
        assert!(ScaledSizes::<i32>::new(&costs, &large).is_none());
        assert!(ScaledSizes::<i64>::new(&costs, &large).is_some());
    }
}
