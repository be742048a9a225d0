//! A time axis with round ticks.

/// A linear map from times to pixels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    /// The time at the right end.
    end: f64,
    left: f64,
    width: f64,
}

impl Scale {
    /// Times from 0 to `end` over this many pixels; with an `end` of 0, all at the left.
    pub(crate) fn new(end: f64, left: f64, width: f64) -> Scale {
        Scale { end, left, width }
    }

    /// Position of a time.
    pub(crate) fn x(&self, time: f64) -> f64 {
        // The quotient first: a product might leave the range of an f64.
        let share = if self.end > 0.0 { time / self.end } else { 0.0 };
        self.left + share * self.width
    }

    /// Round times from 0 to the end, at least `apart` pixels from each other.
    pub(crate) fn ticks(&self, apart: f64) -> Vec<f64> {
        if self.end <= 0.0 {
            return vec![0.0];
        }
        let step = round_step(self.end * (apart / self.width).min(1.0));
        let last = (self.end / step * (1.0 + 1e-9)).floor() as usize;
        (0..=last).map(|index| index as f64 * step).collect()
    }
}

/// The least of 1, 2, 5 times a power of ten that is at least this.
fn round_step(least: f64) -> f64 {
    let power = least.log10().floor() as i32;
    // The text is read as the number nearest to the decimal; a product of powers need not be that.
    let decimal = |digit: u8, power: i32| -> f64 {
        format!("{digit}e{power}").parse().expect("digits and an exponent")
    };
    [decimal(1, power), decimal(2, power), decimal(5, power), decimal(1, power + 1)]
        .into_iter()
        .find(|&step| step >= least * (1.0 - 1e-9))
        .unwrap_or(least)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_far_enough_apart() {
        let ticks = |end| Scale::new(end, 0.0, 800.0).ticks(100.0);
        assert_eq!(ticks(80.0), [0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0]);
        assert_eq!(ticks(2_002_600.0), [0.0, 5e5, 1e6, 1.5e6, 2e6]);
        assert_eq!(ticks(0.0), [0.0]);
        for end in [1e-300, 3.7e-5, 1.0, 9007199254740992.0, 1.7e308] {
            let scale = Scale::new(end, 0.0, 800.0);
            let ticks = scale.ticks(100.0);
            assert!((2..=9).contains(&ticks.len()), "{end}: {ticks:?}");
            assert!(ticks.windows(2).all(|pair| scale.x(pair[1]) - scale.x(pair[0]) > 99.9));
        }
    }
}
