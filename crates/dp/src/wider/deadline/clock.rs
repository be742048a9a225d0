//! The numbers in which deadlines are counted: floating point, or ticks.

use super::Effort;

/// A time of at least 0. In ticks, which are integers, all processes find the same, bit by bit.
pub(super) trait Clock: Copy + PartialOrd {
    const ZERO: Self;
    /// The least step.
    const LEAST: Self;
    /// Later than any time.
    const NEVER: Self;

    fn plus(self, other: Self) -> Self;

    /// The difference, if it is a time.
    fn minus(self, other: Self) -> Option<Self>;

    fn middle(self, later: Self) -> Self;

    /// The share of a time that does not count.
    fn share(self, effort: Effort) -> Self;

    /// The most that a time may be to count as less than this one.
    fn noticeably_less(self, effort: Effort) -> Self;

    /// True if a later time is as good.
    fn is_as_good_as(self, later: Self, effort: Effort) -> bool;

    /// The value at 0 of the line through one value at 1 and another at 2, from 0 to the first of them.
    fn at_zero(one: Self, two: Self) -> Self;

    fn larger(self, other: Self) -> Self {
        if other > self { other } else { self }
    }

    /// Difference to an earlier time; 0 if not later.
    fn beyond(self, other: Self) -> Self {
        self.minus(other).unwrap_or(Self::ZERO)
    }
}

impl Clock for f64 {
    const ZERO: f64 = 0.0;
    const LEAST: f64 = f64::MIN_POSITIVE;
    const NEVER: f64 = f64::INFINITY;

    fn plus(self, other: f64) -> f64 {
        self + other
    }

    fn minus(self, other: f64) -> Option<f64> {
        Some(self - other).filter(|&left| left >= 0.0)
    }

    fn middle(self, later: f64) -> f64 {
        0.5 * (self + later)
    }

    fn share(self, effort: Effort) -> f64 {
        self * effort.precision()
    }

    fn noticeably_less(self, effort: Effort) -> f64 {
        self * (1.0 - effort.precision())
    }

    fn is_as_good_as(self, later: f64, effort: Effort) -> bool {
        later - self <= effort.precision() * later
    }

    fn at_zero(one: f64, two: f64) -> f64 {
        (2.0 * one - two).clamp(0.0, one)
    }
}

/// Ticks. They never come near 2^64, where they would stop.
impl Clock for u64 {
    const ZERO: u64 = 0;
    const LEAST: u64 = 1;
    const NEVER: u64 = u64::MAX;

    fn plus(self, other: u64) -> u64 {
        self.saturating_add(other)
    }

    fn minus(self, other: u64) -> Option<u64> {
        self.checked_sub(other)
    }

    fn middle(self, later: u64) -> u64 {
        self + (later - self) / 2
    }

    fn share(self, effort: Effort) -> u64 {
        self / effort.parts()
    }

    fn noticeably_less(self, effort: Effort) -> u64 {
        match self {
            u64::MAX => u64::MAX,
            time => time - (time / effort.parts()).max(1).min(time),
        }
    }

    fn is_as_good_as(self, later: u64, effort: Effort) -> bool {
        later - self <= (later / effort.parts()).max(1)
    }

    fn at_zero(one: u64, two: u64) -> u64 {
        one.beyond(two.beyond(one))
    }
}
