//! Bytes that are different for each iteration, rank and position, to see where data went.

use tuwtree_model::Rank;

/// Purpose of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ink {
    /// The data of this rank.
    Data(Rank),
    /// Bytes between and around data, which must stay.
    Gap(Rank),
    /// Bytes in places where data will arrive.
    Stale(Rank),
}

/// The byte at each position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pattern {
    seed: u64,
}

impl Pattern {
    /// The pattern of an iteration.
    pub(crate) fn new(iteration: u64, ink: Ink) -> Pattern {
        let (kind, rank) = match ink {
            Ink::Data(rank) => (0, rank),
            Ink::Gap(rank) => (1, rank),
            Ink::Stale(rank) => (2, rank),
        };
        Pattern { seed: mixed(mixed(iteration * 3 + kind) ^ rank as u64) }
    }

    /// The bytes from this position on.
    pub(crate) fn fill(self, mut position: u64, mut bytes: &mut [u8]) {
        while !bytes.is_empty() {
            let skipped = (position % 8) as usize;
            let word = &self.word(position / 8).to_le_bytes()[skipped..];
            let length = word.len().min(bytes.len());
            let (head, rest) = bytes.split_at_mut(length);
            head.copy_from_slice(&word[..length]);
            position += length as u64;
            bytes = rest;
        }
    }

    /// The eight bytes with this number.
    pub(crate) fn word(self, number: u64) -> u64 {
        mixed(self.seed ^ number)
    }
}

/// The finalizer of SplitMix64: every bit depends on every bit.
pub(crate) fn mixed(number: u64) -> u64 {
    let mut bits = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_differ_by_iteration_rank_kind_and_position() {
        let bytes = |iteration, ink, position| {
            let mut bytes = [0; 16];
            Pattern::new(iteration, ink).fill(position, &mut bytes);
            bytes
        };
        let one = bytes(1, Ink::Data(2), 0);
        assert_eq!(one, bytes(1, Ink::Data(2), 0));
        for other in [
            bytes(2, Ink::Data(2), 0),
            bytes(1, Ink::Data(3), 0),
            bytes(1, Ink::Gap(2), 0),
            bytes(1, Ink::Stale(2), 0),
            bytes(1, Ink::Data(2), 16),
        ] {
            assert_ne!(one, other);
        }
        assert_eq!(one[3..], bytes(1, Ink::Data(2), 3)[..13]);
    }
}
