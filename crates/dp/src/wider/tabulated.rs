//! A law by size, worked out once for each range: what the plain recurrences look up p times.

use super::{BySize, Receiving};
use crate::DpError;
use crate::table::Triangle;
use tuwtree_model::{Rank, Scalar};

/// A law for parties that have gathered their own data before, each at its own time: representatives of several ranks.
///
/// ```text
///   party   |== its own data ==|                      sends from then on, alone
///                              |== receives others =  or receives from then on
/// ```
#[derive(Clone, Debug)]
pub(super) struct AfterOwnGather<'a, L, T> {
    pub(super) law: L,
    /// `p` entries: when each has its own data.
    pub(super) ready: &'a [T],
}

impl<T: Scalar, L: Receiving<T>> Receiving<T> for AfterOwnGather<'_, L, T> {
    fn ranks(&self) -> usize {
        self.law.ranks()
    }

    fn copy(&self, rank: Rank) -> T {
        self.ready[rank]
    }

    fn received(&self, clock: T, ready: T, first: Rank, last: Rank) -> T {
        let ready = if first == last { self.ready[first] } else { ready };
        self.law.received(clock, ready, first, last)
    }
}

/// Latency and port time of the message of each range, and each rank's copy.
#[derive(Clone, Debug)]
pub(super) struct Tabulated<T> {
    /// Costs of each range; lambda is [`Scalar::NEVER`] for a range without data.
    latency: Triangle<T>,
    port: Triangle<T>,
    copy: Vec<T>,
}

impl<T: Scalar> Tabulated<T> {
    /// # Errors
    /// [`DpError::OutOfMemory`].
    ///
    /// # Complexity
    /// O(p^2) time and space.
    pub(super) fn new<P, L, C>(law: &BySize<'_, P, L, C>) -> Result<Tabulated<T>, DpError>
    where
        P: Fn(u64) -> T,
        L: Fn(u64) -> T,
        C: Fn(u64) -> T,
    {
        let BySize { sizes, port, latency, copy } = law;
        let p = sizes.ranks();
        let mut all = Tabulated {
            latency: Triangle::new(0, p)?,
            port: Triangle::new(0, p)?,
            copy: sizes.iter().map(copy).collect(),
        };
        for i in 0..p {
            for j in i..p {
                let (time, occupied) = match sizes.range(i, j) {
                    0 => (T::NEVER, T::ZERO),
                    bytes => (latency(bytes), port(bytes)),
                };
                all.latency.set(i, j, time);
                all.port.set(i, j, occupied);
            }
        }
        Ok(all)
    }
}

impl<T: Scalar> Tabulated<T> {
    /// Makes a rank, if any, busy until a given time, instead of its copy only.
    pub(super) fn with_busy_rank(mut self, busy: Option<(Rank, T)>) -> Tabulated<T> {
        if let Some((rank, until)) = busy {
            self.copy[rank] = until;
        }
        self
    }

    /// From when on the message of a range that is ready then may occupy a port, and for how long.
    pub(super) fn message(&self, ready: T, first: Rank, last: Rank) -> (T, T) {
        let latency = self.latency.get(first, last);
        match latency == T::NEVER {
            true => (ready, T::ZERO),
            false => (ready + latency, self.port.get(first, last)),
        }
    }
}

impl<T: Scalar> Receiving<T> for Tabulated<T> {
    fn ranks(&self) -> usize {
        self.copy.len()
    }

    #[inline(always)]
    fn copy(&self, rank: Rank) -> T {
        self.copy[rank]
    }

    #[inline(always)]
    fn received(&self, clock: T, ready: T, first: Rank, last: Rank) -> T {
        let latency = self.latency.get(first, last);
        match latency == T::NEVER {
            true => clock.most(ready),
            false => clock.most(ready + latency) + self.port.get(first, last),
        }
    }
}
