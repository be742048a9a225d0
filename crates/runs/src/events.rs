//! A set of columns that is searched for the next member: a hierarchical bitset.

/// A set of numbers `0..capacity` with constant-time changes and a fast "next member".
///
/// Level 0 holds one bit a number; a bit of level `l + 1` is set iff the corresponding word of
/// level `l` is not zero. The top level is one word.
#[derive(Clone, Debug)]
pub(super) struct Events {
    levels: Vec<Vec<u64>>,
}

impl Events {
    /// The empty set.
    pub(super) fn new(capacity: usize) -> Events {
        let mut levels = Vec::new();
        let mut words = capacity.div_ceil(64).max(1);
        loop {
            levels.push(vec![0; words]);
            if words == 1 {
                return Events { levels };
            }
            words = words.div_ceil(64);
        }
    }

    /// Adds `number`.
    #[inline]
    pub(super) fn insert(&mut self, number: usize) {
        let mut position = number;
        for level in &mut self.levels {
            let word = &mut level[position / 64];
            let was_empty = *word == 0;
            *word |= 1 << (position % 64);
            if !was_empty {
                return;
            }
            position /= 64;
        }
    }

    /// Removes `number`.
    #[inline]
    pub(super) fn remove(&mut self, number: usize) {
        let mut position = number;
        for level in &mut self.levels {
            let word = &mut level[position / 64];
            *word &= !(1 << (position % 64));
            if *word != 0 {
                return;
            }
            position /= 64;
        }
    }

    /// Least member of at least `from`; `usize::MAX` if none exists.
    #[inline]
    pub(super) fn next(&self, from: usize) -> usize {
        let mut position = from;
        for (height, level) in self.levels.iter().enumerate() {
            let Some(&word) = level.get(position / 64) else { return usize::MAX };
            let rest = word >> (position % 64);
            if rest != 0 {
                position += rest.trailing_zeros() as usize;
                return self.descend(height, position);
            }
            position = position / 64 + 1;
        }
        usize::MAX
    }

    /// The least number below bit `position` of level `height`, which is set.
    #[inline]
    fn descend(&self, height: usize, mut position: usize) -> usize {
        for level in self.levels[..height].iter().rev() {
            position = position * 64 + level[position].trailing_zeros() as usize;
        }
        position
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_member_is_found_across_levels() {
        let mut events = Events::new(300_000);
        for number in [3, 64, 4095, 4096, 262_144, 299_999] {
            events.insert(number);
        }
        let mut members = Vec::new();
        let mut next = events.next(0);
        while next != usize::MAX {
            members.push(next);
            next = events.next(next + 1);
        }
        assert_eq!(members, [3, 64, 4095, 4096, 262_144, 299_999]);
        events.remove(4096);
        events.remove(262_144);
        assert_eq!(events.next(4096), 299_999);
        assert_eq!(events.next(300_000), usize::MAX);
    }
}
