//! Random numbers for tests: the same problems on every run.

/// SplitMix64.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    pub(crate) fn one_of(&mut self, choices: &[u64]) -> u64 {
        choices[self.below(choices.len() as u64) as usize]
    }
}

/// Numbers of problems for each number of ranks; twenty times as many with `TUWTREE_FULL` in
/// the environment.
pub(crate) fn problems(counts: &[(usize, usize)]) -> impl Iterator<Item = (usize, usize)> {
    let times = if std::env::var_os("TUWTREE_FULL").is_some() { 20 } else { 1 };
    counts.iter().map(move |&(ranks, count)| (ranks, count * times))
}
