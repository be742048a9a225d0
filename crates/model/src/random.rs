//! The random numbers behind the block-size distributions.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A stream of random numbers `x_0, x_1, …`, the same for the same seed on every machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Randomness {
    /// The papers' stream: `rand()` of the GNU C library after `srand(seed)`, 31 bits a number.
    /// Seed 1, its default, gives the published tables.
    Glibc {
        /// 0 counts as 1, as in the library.
        seed: u32,
    },
    /// xoshiro256++, seeded through SplitMix64, 63 bits a number.
    Xoshiro {
        /// Any number; the same one gives the same sizes on every machine.
        seed: u64,
    },
}

impl Default for Randomness {
    fn default() -> Randomness {
        Randomness::Glibc { seed: 1 }
    }
}

impl Randomness {
    /// `count` numbers of the stream, each as a number in (0, 1].
    pub fn uniform(self, count: usize) -> Vec<f64> {
        let range = match self {
            Randomness::Glibc { .. } => (1_u64 << 31) as f64,
            Randomness::Xoshiro { .. } => (1_u64 << 63) as f64,
        };
        // A number of 63 bits may round up to the range.
        let scaled = |x: u64| ((x as f64 + 1.0) / range).min(1.0);
        self.numbers(count).into_iter().map(scaled).collect()
    }

    /// The first `count` numbers of the stream.
    pub fn numbers(self, count: usize) -> Vec<u64> {
        match self {
            Randomness::Glibc { seed } => Glibc::new(seed).take(count).collect(),
            Randomness::Xoshiro { seed } => {
                let mut generator = Xoshiro256PlusPlus::seed_from_u64(seed);
                (0..count).map(|_| generator.next_u64() >> 1).collect()
            }
        }
    }
}

/// The additive feedback generator of the GNU C library in its default state (TYPE_3): each word
/// is the sum of the words 3 and 31 before it, and its lowest bit is dropped on output.
///
/// Written by hand, because the published tables depend on it and no library promises it.
struct Glibc {
    /// The last 31 words; `next` is the oldest.
    words: [u32; 31],
    next: usize,
}

impl Glibc {
    /// The words that are generated and thrown away before the first output.
    const DISCARDED: usize = 310;

    fn new(seed: u32) -> Glibc {
        let mut words = [0_u32; 31];
        // The library seeds with a signed word and Schrage's division; a negative remainder wraps.
        let mut word = i64::from(if seed == 0 { 1 } else { seed as i32 });
        for slot in &mut words {
            *slot = word as u32;
            word = 16807 * word % 2_147_483_647;
            if word < 0 {
                word += 2_147_483_647;
            }
        }
        // The first three words stand again at 31..34; from there on the feedback works. That makes
        // the oldest of the 31 words the fourth.
        let mut generator = Glibc { words, next: 3 };
        for _ in 0..Self::DISCARDED {
            generator.word();
        }
        generator
    }

    fn word(&mut self) -> u32 {
        let three_before = self.words[(self.next + 28) % 31];
        let word = self.words[self.next].wrapping_add(three_before);
        self.words[self.next] = word;
        self.next = (self.next + 1) % 31;
        word
    }
}

impl Iterator for Glibc {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        Some(u64::from(self.word() >> 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_stream_is_that_of_the_c_library() {
        let stream = |seed| Randomness::Glibc { seed }.numbers(4);
        assert_eq!(stream(1), [1_804_289_383, 846_930_886, 1_681_692_777, 1_714_636_915]);
        assert_eq!(stream(0), stream(1));
        // Printed by a C program that calls srand(42), and srand(4000000000).
        assert_eq!(stream(42), [71_876_166, 708_592_740, 1_483_128_881, 907_283_241]);
        assert_eq!(
            stream(4_000_000_000),
            [1_111_130_805, 1_380_198_982, 1_306_113_867, 1_557_021_840]
        );
    }

    #[test]
    fn a_seed_names_its_stream() {
        let stream = |seed| Randomness::Xoshiro { seed }.numbers(100);
        assert_eq!(stream(7), stream(7));
        assert_ne!(stream(7), stream(8));
        // Pinned: files generated today must be generated again tomorrow.
        assert_eq!(stream(1)[..2], [7_485_800_891_002_511_693, 6_890_824_747_616_038_982]);
    }
}
