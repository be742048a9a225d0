//! Runs: stretches of a row's columns whose excesses one formula describes.

use super::kept::KeptBlocks;

/// An integer type in which excesses are stored.
pub(super) trait Excess: Copy + PartialEq + Send + Sync + std::fmt::Debug + 'static {
    /// `value` in this type.
    ///
    /// # Panics
    /// If it does not fit: the storage type is chosen so that every excess does.
    fn pack(value: i64) -> Self;

    /// The stored value.
    fn value(self) -> i64;
}

impl Excess for i32 {
    #[inline(always)]
    fn pack(value: i64) -> i32 {
        i32::try_from(value).expect("every excess fits the storage type chosen for it")
    }

    #[inline(always)]
    fn value(self) -> i64 {
        i64::from(self)
    }
}

impl Excess for i64 {
    #[inline(always)]
    fn pack(value: i64) -> i64 {
        value
    }

    #[inline(always)]
    fn value(self) -> i64 {
        self
    }
}

/// Dependence of the excess on the column within a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExcessLaw {
    /// It is the same everywhere.
    Level(i64),
    /// In column `j` it is this less `w_j`, and `w` does not fall along the run.
    Falling(i64),
}

impl ExcessLaw {
    /// The excess of column `j`.
    #[inline(always)]
    pub(super) fn at(self, j: usize, kept: &KeptBlocks) -> i64 {
        match self {
            ExcessLaw::Level(value) => value,
            ExcessLaw::Falling(base) => base - kept.lead(j),
        }
    }

    /// The law of excesses that are larger by `latency`.
    #[inline(always)]
    pub(super) fn later(self, latency: i64) -> ExcessLaw {
        match self {
            ExcessLaw::Level(value) => ExcessLaw::Level(value + latency),
            ExcessLaw::Falling(base) => ExcessLaw::Falling(base + latency),
        }
    }

    /// True if both laws are of one kind, so that their difference is constant.
    #[inline(always)]
    pub(super) fn is_parallel(self, other: ExcessLaw) -> bool {
        matches!(
            (self, other),
            (ExcessLaw::Level(_), ExcessLaw::Level(_))
                | (ExcessLaw::Falling(_), ExcessLaw::Falling(_))
        )
    }
}

/// A run, which ends where the next one of its row starts, or with the tile.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run<E> {
    /// The first column; the highest bit is set iff the law is [`ExcessLaw::Falling`].
    start: u32,
    base: E,
}

const FALLING: u32 = 1 << 31;

impl<E: Excess> Run<E> {
    pub(super) fn new(start: usize, law: ExcessLaw) -> Run<E> {
        match law {
            ExcessLaw::Level(value) => Run { start: start as u32, base: E::pack(value) },
            ExcessLaw::Falling(base) => Run { start: start as u32 | FALLING, base: E::pack(base) },
        }
    }

    /// The first column.
    #[inline(always)]
    pub(super) fn start(self) -> usize {
        (self.start & !FALLING) as usize
    }

    #[inline(always)]
    pub(super) fn law(self) -> ExcessLaw {
        if self.start & FALLING == 0 {
            ExcessLaw::Level(self.base.value())
        } else {
            ExcessLaw::Falling(self.base.value())
        }
    }
}

/// The position of the run that holds column `j`, which is not before the first run.
#[inline]
pub(super) fn run_of<E: Excess>(runs: &[Run<E>], j: usize) -> usize {
    runs.partition_point(|run| run.start() <= j) - 1
}

/// The excess of column `j` in a row given by its runs.
#[inline]
pub(super) fn excess_in<E: Excess>(runs: &[Run<E>], j: usize, kept: &KeptBlocks) -> i64 {
    runs[run_of(runs, j)].law().at(j, kept)
}

/// Number of leading runs for which `holds`, at least `from`. Fast if few more than that.
#[inline]
pub(super) fn gallop<E: Excess>(
    runs: &[Run<E>],
    from: usize,
    holds: impl Fn(Run<E>) -> bool,
) -> usize {
    let mut low = from;
    let mut step = 1;
    while low + step <= runs.len() && holds(runs[low + step - 1]) {
        low += step;
        step *= 2;
    }
    let high = (low + step - 1).min(runs.len());
    low + runs[low..high].partition_point(|&run| holds(run))
}

/// The last `j` in `start..stop` for which `holds`: it does at `start`, and never again once it
/// does not. Fast if `guess` is close.
#[inline]
pub(super) fn last_with(
    start: usize,
    stop: usize,
    guess: usize,
    holds: impl Fn(usize) -> bool,
) -> usize {
    let (mut low, mut high) = (start, stop);
    let guess = guess.min(stop - 1);
    let mut step = 1;
    if guess > start && holds(guess) {
        low = guess;
        while low + step < stop {
            if !holds(low + step) {
                high = low + step;
                break;
            }
            low += step;
            step *= 2;
        }
    } else if guess > start {
        high = guess;
        while high > start + step {
            if holds(high - step) {
                low = high - step;
                break;
            }
            high -= step;
            step *= 2;
        }
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if holds(middle) { low = middle } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searches_find_the_boundary_from_anywhere() {
        for stop in 1..20 {
            for boundary in 0..stop {
                for guess in 0..25 {
                    assert_eq!(last_with(0, stop, guess, |j| j <= boundary), boundary);
                }
            }
            let runs: Vec<Run<i32>> = (0..stop).map(|j| Run::new(j, ExcessLaw::Level(0))).collect();
            for boundary in 0..=stop {
                for from in 0..=boundary {
                    assert_eq!(gallop(&runs, from, |run| run.start() < boundary), boundary);
                }
            }
        }
    }

    #[test]
    fn a_run_remembers_its_law() {
        for law in [ExcessLaw::Level(-3), ExcessLaw::Falling(7)] {
            let run = Run::<i32>::new(12, law);
            assert_eq!((run.start(), run.law()), (12, law));
        }
    }
}
