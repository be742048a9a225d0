//! Random choices, the same on all processes.

use crate::pattern::mixed;

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub(super) struct Dice {
    state: u64,
}

impl Dice {
    /// The stream of this seed and these numbers.
    pub(super) fn new(seed: u64, numbers: &[u64]) -> Dice {
        Dice { state: numbers.iter().fold(mixed(seed), |state, number| mixed(state ^ number)) }
    }

    /// A number.
    pub(super) fn number(&mut self) -> u64 {
        self.state = self.state.wrapping_add(1);
        mixed(self.state)
    }

    /// A number in `0..end`, if `end` is not 0.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.number() % end.max(1)
    }

    /// True with probability 1/`times`.
    pub(super) fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    /// One of these.
    pub(super) fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }

    /// Brings the list into a random order.
    pub(super) fn shuffle<T>(&mut self, list: &mut [T]) {
        for end in (1..list.len()).rev() {
            list.swap(end, self.below(end as u64 + 1) as usize);
        }
    }
}
