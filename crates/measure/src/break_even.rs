//! After how many repetitions it pays to plan.

/// A way to do something again and again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Repeated {
    /// Seconds before the first repetition; at least 0.
    pub planning_seconds: f64,
    /// Seconds of each repetition; at least 0.
    pub repetition_seconds: f64,
}

/// Range of repetitions in which one plan is faster than another in all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BreakEven {
    /// From this number of repetitions on, at least 1.
    From(u64),
    /// For no number of repetitions, or for more than 2^53.
    Never,
    /// Not in the long run; but up to this number of repetitions, at least 1, for it is planned
    /// faster.
    UpTo(u64),
}

/// Numbers `n >= 1` of repetitions for which `plan` takes less time than `other`: its `planning +
/// n * repetition` is less.
///
/// # Example
/// ```
/// use tuwtree_measure::{BreakEven, Repeated, break_even};
/// let plan = |planning_seconds, repetition_seconds| Repeated { planning_seconds, repetition_seconds };
/// // 10 + 2n < 3n from n = 11 on.
/// assert_eq!(break_even(plan(10.0, 2.0), plan(0.0, 3.0)), BreakEven::From(11));
/// ```
pub fn break_even(plan: Repeated, other: Repeated) -> BreakEven {
    let extra = plan.planning_seconds - other.planning_seconds;
    let gain = other.repetition_seconds - plan.repetition_seconds;
    let crossing = extra / gain;
    match (extra, gain) {
        (_, gain) if gain > 0.0 && extra < gain => BreakEven::From(1),
        (_, gain) if gain > 0.0 && crossing < MOST => BreakEven::From(crossing.floor() as u64 + 1),
        (extra, gain) if gain == 0.0 && extra < 0.0 => BreakEven::From(1),
        (extra, gain) if gain < 0.0 && extra < 0.0 => match (crossing.ceil() - 1.0).min(MOST) {
            last if last >= 1.0 => BreakEven::UpTo(last as u64),
            _ => BreakEven::Never,
        },
        _ => BreakEven::Never,
    }
}

/// Beyond this, an f64 no longer counts.
const MOST: f64 = (1_u64 << 53) as f64;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn plan(planning: u32, repetition: u32) -> Repeated {
        Repeated { planning_seconds: planning.into(), repetition_seconds: repetition.into() }
    }

    #[test]
    fn planning_for_nothing_never_pays_and_a_free_gain_always_does() {
        assert_eq!(break_even(plan(5, 3), plan(0, 3)), BreakEven::Never);
        assert_eq!(break_even(plan(5, 4), plan(0, 3)), BreakEven::Never);
        assert_eq!(break_even(plan(0, 2), plan(0, 3)), BreakEven::From(1));
        assert_eq!(break_even(plan(0, 3), plan(4, 3)), BreakEven::From(1));
        // 4n < 10 + 3n up to n = 9; 9n < 1 + 2n never.
        assert_eq!(break_even(plan(0, 4), plan(10, 3)), BreakEven::UpTo(9));
        assert_eq!(break_even(plan(0, 9), plan(1, 2)), BreakEven::Never);
        let tiny = Repeated { planning_seconds: 1e9, repetition_seconds: 1.0 };
        assert_eq!(
            break_even(tiny, Repeated { planning_seconds: 0.0, repetition_seconds: 1.0 + 1e-15 }),
            BreakEven::Never
        );
    }

    proptest! {
        #[test]
        fn the_numbers_of_repetitions_are_those_for_which_it_is_faster(
            planning in 0_u32..40, repetition in 0_u32..8, other in (0_u32..40, 0_u32..8),
        ) {
            let total = |(planning, repetition): (u32, u32), n: u64| {
                u64::from(planning) + n * u64::from(repetition)
            };
            let result = break_even(plan(planning, repetition), plan(other.0, other.1));
            for n in 1..100 {
                let is_faster = total((planning, repetition), n) < total(other, n);
                let said = match result {
                    BreakEven::From(first) => n >= first,
                    BreakEven::UpTo(last) => n <= last,
                    BreakEven::Never => false,
                };
                prop_assert_eq!(is_faster, said, "{} {:?}", n, result);
            }
        }
    }
}
