//! (k + 1)-nomial adaptive trees, for ranks with k ports.
//!
//! Round `d = 0, 1, …` joins `k + 1` adjacent aligned ranges of `(k + 1)^d` ranks; the last may be
//! incomplete. One of their roots receives from all others, through all its ports at once.
//!
//! # Source
//! TUW section 2, last paragraph: the constructions "can be extended to k-ported communication systems,
//! which reduces the number of communication rounds" to `ceil(log_{k+1} p)`. It does not say how; the
//! choice of the receiver here is ours.

use crate::error::check_rooted;
use crate::{AdaptiveRule, ConstructionError, adaptive};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use tuwtree_model::{CostModel, Ports, Problem, Rank, Step, Time, TimeError, Tree};

/// The (k + 1)-nomial adaptive tree for the problem's `k` ports, with its root or the one that the rule
/// yields (which need not be the best of all roots). With one port, [`adaptive`] by
/// completion times.
///
/// A range that holds a given root receives. Otherwise the one that is ready last does, or the one with
/// the most data, whichever completes the join first; ties go to the former, and to the right.
///
/// The tree is ordered. Rounds are fewer than with one port, but a root with a port for each of `k`
/// large messages waits for the largest: where blocks differ, bandwidth is lost, up to a factor `k`.
///
/// # Errors
/// [`ConstructionError::Time`]: a time that cannot be stated.
///
/// # Complexity
/// O(p log k) time, O(p) space.
///
/// # Example
/// Two ports: three ranks at a time, and then three times three.
/// ```
/// use tuwtree_model::{BlockSizes, Homogeneous, Ports, Problem, Root, completion_time};
/// use tuwtree_treegen::knomial;
/// let costs = Homogeneous::new(100.0, 1.0, 0.0).unwrap();
/// let problem = Problem::gather(&BlockSizes::new([1; 9]).unwrap(), costs).unwrap();
/// let problem = problem.with_root(Root::Given(4)).unwrap().with_ports(Ports::new(2).unwrap());
/// let tree = knomial(&problem).unwrap();
/// assert_eq!(tree.degree(4), 4);
/// let time = completion_time(&tree, &problem).unwrap();
/// assert_eq!(time.units(), 101.0 + 103.0);
/// ```
pub fn knomial(problem: &Problem) -> Result<Tree, ConstructionError> {
    if problem.ports() == Ports::ONE {
        return adaptive(problem, AdaptiveRule::CompletionTime);
    }
    check_rooted(problem)?;
    let (ranks, root) = (problem.ranks(), problem.root().given());
    let joins = Joins { problem, ports: problem.ports().get().into() };
    let single = |rank| Range { first: rank, last: rank, root: rank, busy: Vec::new() };
    let mut ranges: Vec<Range> = (0..ranks).map(single).collect();
    let mut steps = Vec::with_capacity(2 * ranks);
    while ranges.len() > 1 {
        let joined =
            ranges.chunks(joins.ports + 1).map(|ranges| joins.join(ranges, root, &mut steps));
        ranges = joined.collect::<Result<_, _>>()?;
    }
    let tree = Tree::new(ranks, ranges[0].root, &steps);
    Ok(tree.expect("every rank but the last root was joined to another once"))
}

/// Adjacent ranks whose data one of them gathers.
#[derive(Clone)]
struct Range {
    first: Rank,
    last: Rank,
    root: Rank,
    /// Times at which the root's ports are free, in ascending order; ports not listed always are.
    busy: Vec<Time>,
}

impl Range {
    fn ready(&self) -> Time {
        self.busy.last().copied().unwrap_or_default()
    }

    fn is_single(&self) -> bool {
        self.first == self.last
    }
}

/// Joins of ranges.
struct Joins<'a> {
    problem: &'a Problem,
    ports: usize,
}

impl Joins<'_> {
    /// One range in place of several adjacent ones.
    fn join(
        &self,
        ranges: &[Range],
        root: Option<Rank>,
        steps: &mut Vec<(Rank, Step)>,
    ) -> Result<Range, TimeError> {
        if let [alone] = ranges {
            return Ok(alone.clone());
        }
        let bytes = |range: &Range| self.problem.collective().segment(range.first, range.last);
        let holding =
            |root: Rank| ranges.iter().position(|range| (range.first..=range.last).contains(&root));
        let (receiver, busy) = match root.and_then(holding) {
            Some(receiver) => (receiver, self.busy_after(ranges, receiver)?),
            None => {
                let places = || 0..ranges.len();
                let last =
                    places().max_by_key(|&place| (ranges[place].ready(), bytes(&ranges[place])));
                let largest = places().max_by_key(|&place| bytes(&ranges[place]));
                let [last, largest] = [last, largest].map(|place| place.expect("there are ranges"));
                let [to_last, to_largest] =
                    [last, largest].map(|place| self.busy_after(ranges, place));
                let (to_last, to_largest) = (to_last?, to_largest?);
                match to_largest.last() < to_last.last() {
                    true => (largest, to_largest),
                    false => (last, to_last),
                }
            }
        };
        let own = &ranges[receiver];
        if own.is_single() {
            steps.push((own.root, Step::Copy));
        }
        let arrivals = self.arrivals(ranges, receiver)?;
        let receives =
            senders(&arrivals, receiver).map(|sender| Step::Receive(ranges[sender].root));
        steps.extend(receives.map(|step| (own.root, step)));
        let (first, last) = (ranges[0].first, ranges[ranges.len() - 1].last);
        Ok(Range { first, last, root: own.root, busy })
    }

    /// For each range when its data may occupy a port of the receiver's root; for the receiver's own,
    /// when it is ready.
    fn arrivals(&self, ranges: &[Range], receiver: usize) -> Result<Vec<Time>, TimeError> {
        let Joins { problem, .. } = *self;
        let arrival = |(place, range): (usize, &Range)| match place == receiver {
            true => Ok(range.ready()),
            false => {
                let bytes = problem.collective().segment(range.first, range.last);
                problem.arrival(range.root, ranges[receiver].root, bytes, range.ready())
            }
        };
        ranges.iter().enumerate().map(arrival).collect()
    }

    /// Times at which the ports of the receiver's root are free after it has received from all
    /// others.
    fn busy_after(&self, ranges: &[Range], receiver: usize) -> Result<Vec<Time>, TimeError> {
        let Joins { problem, ports } = *self;
        let own = &ranges[receiver];
        let mut busy: BinaryHeap<Reverse<Time>> = own.busy.iter().copied().map(Reverse).collect();
        if own.is_single() {
            busy.push(Reverse(problem.copy(own.root)?));
        }
        let arrivals = self.arrivals(ranges, receiver)?;
        for place in senders(&arrivals, receiver) {
            let sender = &ranges[place];
            let free = match busy.len() < ports {
                true => Time::ZERO,
                false => busy.pop().expect("there is a port").0,
            };
            let bytes = problem.collective().segment(sender.first, sender.last);
            let time = problem.edge(sender.root, own.root, bytes)?;
            busy.push(Reverse(problem.costs().sum(free.later(arrivals[place]), time)?));
        }
        let mut busy: Vec<Time> = busy.into_iter().map(|Reverse(time)| time).collect();
        busy.sort_unstable();
        Ok(busy)
    }
}

/// The ranges from which one receives: of the nearest on both sides, the one that comes first; of
/// two, the left one. So the held data is always consecutive.
fn senders(arrivals: &[Time], receiver: usize) -> impl Iterator<Item = usize> + '_ {
    let (mut left, mut right) = (receiver, receiver + 1);
    std::iter::from_fn(move || {
        let is_left = match (left.checked_sub(1), arrivals.get(right)) {
            (None, None) => return None,
            (Some(_), None) => true,
            (None, Some(_)) => false,
            (Some(next), Some(other)) => arrivals[next] <= *other,
        };
        if is_left {
            left -= 1;
            return Some(left);
        }
        right += 1;
        Some(right - 1)
    })
}
