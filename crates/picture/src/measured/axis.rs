//! A logarithmic axis from one power of ten to another.

/// A map from positive values to pixels, equal ratios being equally far apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LogAxis {
    /// Exponents of ten at both ends; the first is the smaller.
    exponents: (i32, i32),
    /// Pixels of both ends.
    pixels: (f64, f64),
}

impl LogAxis {
    /// An axis of whole decades, at least one, on which all these positive values are.
    pub(super) fn over(values: impl Iterator<Item = f64>, pixels: (f64, f64)) -> LogAxis {
        let (low, high) = values
            .fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
        if low > high {
            return LogAxis { exponents: (0, 1), pixels };
        }
        // A power of ten is its own decade's end, whatever its logarithm is rounded to.
        let first = (low.log10() + 1e-9).floor() as i32;
        let last = ((high.log10() - 1e-9).ceil() as i32).max(first + 1);
        LogAxis { exponents: (first, last), pixels }
    }

    /// Position of a value.
    pub(super) fn at(&self, value: f64) -> f64 {
        let (first, last) = (f64::from(self.exponents.0), f64::from(self.exponents.1));
        let share = (value.log10() - first) / (last - first);
        self.pixels.0 + share * (self.pixels.1 - self.pixels.0)
    }

    /// The powers of ten on the axis, as exponents: all, or every second, third and so on, so that
    /// there are at most ten.
    pub(super) fn exponents(&self) -> impl Iterator<Item = i32> + use<> {
        let (first, last) = self.exponents;
        (first..=last).step_by(((last - first) as usize).div_ceil(9))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decades_hold_all_values() {
        let over = |values: &[f64]| LogAxis::over(values.iter().copied(), (0.0, 100.0));
        assert_eq!(over(&[1.0, 10000.0]).exponents, (0, 4));
        assert_eq!(over(&[0.3, 12.0]).exponents, (-1, 2));
        assert_eq!(over(&[10.0]).exponents, (1, 2));
        assert_eq!(over(&[]).exponents, (0, 1));
        assert_eq!(
            over(&[1e-9, 1e6]).exponents().collect::<Vec<_>>(),
            [-9, -7, -5, -3, -1, 1, 3, 5]
        );
        let axis = over(&[1.0, 10000.0]);
        assert_eq!([1.0, 100.0, 10000.0].map(|value| axis.at(value)), [0.0, 50.0, 100.0]);
    }
}
