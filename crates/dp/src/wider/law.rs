//! Costs of a message whose latency partly overlaps with other work.

use tuwtree_model::{
    BlockSizes, CostError, CostModel, Homogeneous, Problem, Rank, Scalar, ScaledSizes, Step, Time,
    TimeError, Tree,
};

/// Homogeneous, linear costs with latency apart from occupancy.
///
/// A message of `s > 0` bytes that is ready at `t` occupies the receiver's port from `max(F, t +
/// lambda)`, where `F` is when the port is free, for `o + beta s`. No data, no message. A local
/// copy of `s` bytes takes `gamma s`, and its rank can do nothing else meanwhile.
///
/// With `lambda = 0` this is [`Homogeneous`] with `alpha = o`; in general `alpha = lambda + o`.
/// A scatter is the same backwards: its receiver may start `lambda` after the sender's port is free
/// again.
///
/// # Units
/// lambda and `o` in time units, beta and gamma in time units per byte.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overlapping {
    latency: Time,
    /// Occupation of ranks: `o` as alpha, beta, gamma.
    occupancy: Homogeneous,
}

impl Overlapping {
    /// The costs lambda (latency that overlaps), `o` (overhead), beta (time per byte sent) and
    /// gamma (time per byte copied).
    ///
    /// # Errors
    /// [`CostError`] for NaN, an infinity or a negative number.
    pub fn new(
        latency: f64,
        overhead: f64,
        beta: f64,
        gamma: f64,
    ) -> Result<Overlapping, CostError> {
        let wrong = |parameter, value| CostError { parameter, value };
        let latency = Time::new(latency).ok_or(wrong("lambda", latency))?;
        Time::new(overhead).ok_or(wrong("overhead", overhead))?;
        Ok(Overlapping { latency, occupancy: Homogeneous::new(overhead, beta, gamma)? })
    }

    /// lambda: the part of the latency during which both ends may do something else, in time units.
    pub fn latency(&self) -> f64 {
        self.latency.units()
    }

    /// Occupation of ranks: `o` as its alpha, beta and gamma.
    pub fn occupancy(&self) -> &Homogeneous {
        &self.occupancy
    }

    /// True if all costs are integers, and hence all times exact integers.
    pub fn is_integral(&self) -> bool {
        self.latency().fract() == 0.0 && self.occupancy.is_integral()
    }

    /// The receiver's clock after a segment of `bytes` from a child that is ready at `ready`.
    ///
    /// # Errors
    /// [`TimeError`] if the time is not exact or not finite.
    pub fn after_receive(&self, clock: Time, ready: Time, bytes: u64) -> Result<Time, TimeError> {
        if bytes == 0 {
            return Ok(clock.later(ready));
        }
        let arrived = self.occupancy.plus(ready, self.latency)?;
        self.occupancy.after_receive(clock, arrived, bytes)
    }

    /// The completion time of a tree, ordered or not: of a gather, and of the scatter that mirrors
    /// it.
    ///
    /// # Errors
    /// As [`after_receive`](Self::after_receive).
    ///
    /// # Panics
    /// If tree and sizes differ in the number of ranks.
    ///
    /// # Complexity
    /// O(p) time and space, no recursion.
    ///
    /// # Example
    /// Root 0 has nothing to copy; message 1 occupies it from 10 to 13, and message 2, which has
    /// travelled meanwhile, until 16. Were latency not to overlap, that would be 2 * 13.
    /// ```
    /// use tuwtree_dp::wider::Overlapping;
    /// use tuwtree_model::{BlockSizes, Step, Tree};
    /// let steps = [(0, Step::Copy), (0, Step::Receive(1)), (0, Step::Receive(2))];
    /// let tree = Tree::new(3, 0, &steps).unwrap();
    /// let sizes = BlockSizes::new([0, 2, 2]).unwrap();
    /// let costs = Overlapping::new(10.0, 1.0, 1.0, 0.0).unwrap();
    /// assert_eq!(costs.completion_time(&tree, &sizes).unwrap().units(), 16.0);
    /// ```
    pub fn completion_time(&self, tree: &Tree, sizes: &BlockSizes) -> Result<Time, TimeError> {
        assert_eq!(tree.ranks(), sizes.ranks(), "tree and sizes of one problem");
        let mut segment: Vec<u64> = sizes.iter().collect();
        let mut ready = vec![Time::ZERO; sizes.ranks()];
        for rank in tree.top_down().into_iter().rev() {
            let mut clock = Time::ZERO;
            for step in tree.steps(rank) {
                clock = match step {
                    Step::Copy => self.occupancy.after_copy(clock, sizes.block(rank))?,
                    Step::Receive(child) => {
                        segment[rank] += segment[child];
                        self.after_receive(clock, ready[child], segment[child])?
                    }
                };
            }
            ready[rank] = clock;
        }
        Ok(ready[tree.root()])
    }
}

impl From<Homogeneous> for Overlapping {
    /// Equal costs, with all of alpha beyond the overhead overlapping.
    fn from(costs: Homogeneous) -> Overlapping {
        let latency = Time::new(costs.latency()).expect("the overhead is part of alpha");
        let occupancy = Homogeneous::new(costs.overhead(), costs.beta(), costs.gamma());
        Overlapping { latency, occupancy: occupancy.expect("costs were checked before") }
    }
}

/// A problem and its costs, as the plain recurrences use them.
///
/// [`received`](Self::received) must not fall when `clock` or `ready` rises, and must not be less
/// than either; any such law will do, of which two are [`Scaled`] and [`BySize`].
pub trait Receiving<T: Scalar> {
    /// `p >= 1`.
    fn ranks(&self) -> usize;

    /// `g_rank`: the time of a rank's copy of its own block.
    fn copy(&self, rank: Rank) -> T;

    /// The clock of a receiver that was free at `clock`, after blocks `first..=last` in one message
    /// from a rank that had them at `ready`.
    fn received(&self, clock: T, ready: T, first: Rank, last: Rank) -> T;
}

/// A problem under [`Overlapping`] costs, turned into time: what the fast recurrences compute with.
#[derive(Clone, Debug)]
pub struct Scaled<T> {
    latency: T,
    /// Sizes and costs without lambda.
    occupancy: ScaledSizes<T>,
}

impl<T: Scalar> Scaled<T> {
    /// The scaled problem, or `None` where results might leave the range in which `T` is exact (for
    /// `f64`: finite).
    pub fn new(costs: &Overlapping, sizes: &BlockSizes) -> Option<Scaled<T>> {
        let Overlapping { latency, occupancy } = costs;
        // No time exceeds what it would be if nothing overlapped.
        let alpha = latency.units() + occupancy.alpha();
        let all = Homogeneous::new(alpha, occupancy.beta(), occupancy.gamma()).ok()?;
        ScaledSizes::<T>::new(&all, sizes)?;
        let exact_type = T::from_units(0.5).units() == 0.0;
        (costs.is_integral() || !exact_type).then_some(())?;
        let occupancy = ScaledSizes::new(occupancy, sizes)?;
        Some(Scaled { latency: T::from_units(latency.units()), occupancy })
    }

    /// Makes a given root busy until `start`, instead of its copy only.
    #[must_use]
    pub(super) fn with_busy_root(mut self, root: Rank, start: T) -> Scaled<T> {
        self.occupancy = self.occupancy.with_busy_root(root, start);
        self
    }

    /// lambda.
    #[inline(always)]
    pub fn latency(&self) -> T {
        self.latency
    }

    /// `o`.
    #[inline(always)]
    pub fn overhead(&self) -> T {
        self.occupancy.latency()
    }

    /// `beta S(first, last)`.
    #[inline(always)]
    pub fn volume(&self, first: Rank, last: Rank) -> T {
        self.occupancy.volume(first, last)
    }

    /// True for an empty block.
    pub fn is_empty(&self, rank: Rank) -> bool {
        self.occupancy.is_empty(rank, rank)
    }
}

impl<T: Scalar> Receiving<T> for Scaled<T> {
    #[inline(always)]
    fn ranks(&self) -> usize {
        self.occupancy.ranks()
    }

    #[inline(always)]
    fn copy(&self, rank: Rank) -> T {
        self.occupancy.copy(rank)
    }

    #[inline(always)]
    fn received(&self, clock: T, ready: T, first: Rank, last: Rank) -> T {
        if self.occupancy.is_empty(first, last) {
            return clock.most(ready);
        }
        clock.most(ready + self.latency) + self.occupancy.sent(self.volume(first, last))
    }
}

/// A problem whose port time, latency and copies are any functions of a segment's bytes: tables of
/// a measured network, with jumps where its protocol changes.
///
/// A message of no bytes costs nothing, whatever the functions say.
#[derive(Clone, Copy, Debug)]
pub struct BySize<'a, P, L, C> {
    /// The blocks in bytes, one for each rank.
    pub sizes: &'a BlockSizes,
    /// Time for which a message of this many bytes occupies the receiver's port.
    pub port: P,
    /// lambda for a message of this many bytes.
    pub latency: L,
    /// Time of a copy of this many bytes.
    pub copy: C,
}

/// A law by size, of functions that are known as such only.
pub type LawBySize<'a> = BySize<
    'a,
    Box<dyn Fn(u64) -> f64 + 'a>,
    Box<dyn Fn(u64) -> f64 + 'a>,
    Box<dyn Fn(u64) -> f64 + 'a>,
>;

impl<'a> LawBySize<'a> {
    /// The law that all pairs of a problem's ranks share, taken from the first two; infinite where
    /// it cannot be stated.
    pub fn shared(problem: &'a Problem, sizes: &'a BlockSizes) -> LawBySize<'a> {
        let units = |time: Result<Time, _>| time.map_or(f64::INFINITY, Time::units);
        let costs = problem.costs();
        // Of a lone process, nothing is asked.
        let other = usize::from(problem.ranks() > 1);
        BySize {
            sizes,
            port: Box::new(move |bytes| units(costs.transmission_between(0, other, bytes))),
            latency: Box::new(move |bytes| units(costs.latency_between(0, other, bytes))),
            copy: Box::new(move |bytes| units(costs.copy_at(0, bytes))),
        }
    }
}

impl<T, P, L, C> Receiving<T> for BySize<'_, P, L, C>
where
    T: Scalar,
    P: Fn(u64) -> T,
    L: Fn(u64) -> T,
    C: Fn(u64) -> T,
{
    fn ranks(&self) -> usize {
        self.sizes.ranks()
    }

    fn copy(&self, rank: Rank) -> T {
        (self.copy)(self.sizes.block(rank))
    }

    fn received(&self, clock: T, ready: T, first: Rank, last: Rank) -> T {
        match self.sizes.range(first, last) {
            0 => clock.most(ready),
            bytes => clock.most(ready + (self.latency)(bytes)) + (self.port)(bytes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_finite_and_not_negative() {
        let error = |latency, overhead, beta, gamma| {
            Overlapping::new(latency, overhead, beta, gamma).unwrap_err().parameter
        };
        assert_eq!(error(-1.0, 0.0, 0.0, 0.0), "lambda");
        assert_eq!(error(0.0, f64::NAN, 0.0, 0.0), "overhead");
        assert_eq!(error(0.0, 0.0, f64::INFINITY, 0.0), "beta");
        assert_eq!(error(0.0, 0.0, 0.0, -1.0), "gamma");
    }

    #[test]
    fn latency_overlaps_with_the_copy_and_with_other_messages() {
        let costs = Overlapping::new(10.0, 2.0, 1.0, 1.0).unwrap();
        let sizes = BlockSizes::new([7, 3, 4]).unwrap();
        let time = |steps: &[(Rank, Step)]| {
            let tree = Tree::new(3, 0, steps).unwrap();
            costs.completion_time(&tree, &sizes).unwrap().units()
        };
        let star = [(0, Step::Copy), (0, Step::Receive(1)), (0, Step::Receive(2))];
        // The copy (7) is done before anything arrives (10).
        assert_eq!(time(&star), 10.0 + (2.0 + 3.0) + (2.0 + 4.0));
        let chain =
            [(0, Step::Copy), (0, Step::Receive(1)), (1, Step::Copy), (1, Step::Receive(2))];
        assert_eq!(time(&chain), (10.0 + 2.0 + 4.0) + (10.0 + 2.0 + 7.0));
    }

    #[test]
    fn lone_latencies_that_are_no_integers_make_times_that_are_none() {
        let costs = Overlapping::new(0.5, 1.5, 1.0, 1.0).unwrap();
        let sizes = BlockSizes::new([1, 2]).unwrap();
        assert!(!costs.is_integral());
        assert!(Scaled::<i64>::new(&costs, &sizes).is_none());
        assert!(Scaled::<f64>::new(&costs, &sizes).is_some());
    }
}
