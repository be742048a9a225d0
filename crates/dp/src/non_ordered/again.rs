//! The least time of all trees found once more, by another way than [`exact`](super::exact()) takes: what
//! certifies it.
//!
//! If all pairs share their costs, `exact` counts blocks of each size; this oracle distinguishes sets of ranks with
//! their roots. If costs differ, `exact` takes sets by their number, and of the offers to a receiver those that may
//! help; this oracle settles sets by their times, and considers every offer:
//!
//! ```text
//! settled, by time     {3}  {5}  {1,3}  {2}  {1,2,3} ...     the earliest that is left comes next: nothing that
//!                                                           is settled later makes it earlier, as no message
//!                                                           ends before its parts are complete
//! ```
//!
//! # Source
//! D. E. Knuth, "A generalization of Dijkstra's algorithm", 1977.

use super::exact::{MOST_WORK, shared_law};
use super::{NonOrderedError, pairs};
use crate::DpError;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use tuwtree_model::{CostModel, Problem, Rank, Time};

/// A least completion time, and what found it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FoundAgain {
    /// The least completion time of all trees, in time units.
    pub time: f64,
    /// The method, as the subject of a sentence.
    pub method: &'static str,
}

/// Largest number of ranks for costs that differ from pair to pair.
pub const MOST_SETTLED: usize = 16;

/// The least completion time of all trees for gather or scatter, with a given root or the best one, by another way
/// than [`exact`](super::exact()) takes; for one port, however many the problem has.
///
/// # Errors
/// [`NonOrderedError`]: too many ranks, a problem of another kind, times too large.
///
/// # Complexity
/// O(p 3^p) time, O(p 2^p) space, and p times as much of both where costs differ from pair to pair.
///
/// # Source
/// As for [`exact`](super::exact()); see the module.
///
/// # Example
/// ```
/// use tuwtree_dp::non_ordered::exact_again;
/// use tuwtree_model::{BlockSizes, Homogeneous, Problem, Root};
/// let sizes = BlockSizes::new([9, 1, 1, 0]).unwrap();
/// let problem = Problem::gather(&sizes, Homogeneous::new(1.0, 1.0, 1.0).unwrap()).unwrap();
/// let problem = problem.with_root(Root::Given(3)).unwrap();
/// assert_eq!(exact_again(&problem).unwrap().time, 13.0);
/// ```
pub fn exact_again(problem: &Problem) -> Result<FoundAgain, NonOrderedError> {
    let p = problem.ranks();
    let (needed, is_shared) = (pairs::work(p), shared_law(problem)?);
    let found = match is_shared {
        true if needed <= MOST_WORK => FoundAgain {
            time: pairs::least_time(problem)?,
            method: "the method for costs of each pair",
        },
        false if p <= MOST_SETTLED => FoundAgain {
            time: Settling::new(problem)?.least_time(),
            method: "settling sets of ranks in the order of their times",
        },
        _ => return Err(NonOrderedError::TooMuchWork { needed, allowed: MOST_WORK }),
    };
    match found.time.is_finite() {
        true => Ok(found),
        false => Err(DpError::TooLarge { total: problem.payload().total() }.into()),
    }
}

/// A set of ranks: a bit for each.
type Set = usize;

/// Offer of a settled set to a receiver.
#[derive(Clone, Copy, Debug)]
struct SetOffer {
    /// Earliest start,
    arrives: f64,
    /// and how long it occupies the receiver's port.
    occupies: f64,
}

/// Sets and their roots, settled by their times.
struct Settling<'a> {
    problem: &'a Problem,
    ranks: usize,
    /// Each rank's copy, as a receiver that is alone.
    copy: Vec<f64>,
    /// `p` entries for each set: the least time known.
    time: Vec<f64>,
    /// For each set the roots with which it is settled.
    settled: Vec<Set>,
    /// Offers to a receiver, `p` entries for each set, one for each settled root.
    offers: Vec<Vec<SetOffer>>,
    /// By time, whose bits rise with it: it is not negative.
    next: BinaryHeap<Reverse<(u64, Set, Rank)>>,
}

impl<'a> Settling<'a> {
    /// # Errors
    /// [`DpError::NoTree`] where links are missing.
    fn new(problem: &'a Problem) -> Result<Settling<'a>, DpError> {
        problem.check_links()?;
        let p = problem.ranks();
        let copy = (0..p).map(|rank| units(problem.copy(rank))).collect();
        let mut settling = Settling {
            problem,
            ranks: p,
            copy,
            time: vec![f64::INFINITY; p << p],
            settled: vec![0; 1 << p],
            offers: vec![Vec::new(); p << p],
            next: BinaryHeap::new(),
        };
        (0..p).for_each(|rank| settling.relax(1 << rank, rank, 0.0));
        Ok(settling)
    }

    /// The least time of all with the root, if one is given.
    fn least_time(mut self) -> f64 {
        let (all, wanted) = ((1 << self.ranks) - 1, self.problem.root().given());
        while let Some(Reverse((bits, set, root))) = self.next.pop() {
            let is_settled = self.settled[set] >> root & 1 == 1;
            if set == all && wanted.is_none_or(|wanted| wanted == root) {
                return f64::from_bits(bits);
            }
            if !is_settled {
                self.settle(set, root, all ^ set);
            }
        }
        f64::INFINITY
    }

    /// Joins a set and its root, whose time is known for good now, with all settled parts of the others.
    fn settle(&mut self, set: Set, root: Rank, others: Set) {
        self.settled[set] |= 1 << root;
        let messages: Vec<SetOffer> =
            (0..self.ranks).map(|receiver| self.message(set, root, receiver)).collect();
        members(others).for_each(|rank| self.offers[set * self.ranks + rank].push(messages[rank]));
        let clock = self.clock(set, root);
        let mut part = others;
        while part > 0 {
            for receiver in members(self.settled[part]) {
                let time = after(self.clock(part, receiver), messages[receiver]);
                self.relax(set | part, receiver, time);
            }
            for offer in 0..self.offers[part * self.ranks + root].len() {
                let message = self.offers[part * self.ranks + root][offer];
                self.relax(set | part, root, after(clock, message));
            }
            part = (part - 1) & others;
        }
    }

    /// Time at which a receiver that holds a set is free.
    fn clock(&self, set: Set, root: Rank) -> f64 {
        match set == 1 << root {
            true => self.copy[root],
            false => self.time[set * self.ranks + root],
        }
    }

    /// Lowers the time of a set and its root. A given root sends nothing.
    fn relax(&mut self, set: Set, root: Rank, time: f64) {
        let given = self.problem.root().given();
        if given.is_some_and(|given| given != root && set >> given & 1 == 1) {
            return;
        }
        let known = &mut self.time[set * self.ranks + root];
        if time < *known {
            *known = time;
            self.next.push(Reverse((time.to_bits(), set, root)));
        }
    }

    /// The message of a set from its root.
    fn message(&self, set: Set, sender: Rank, receiver: Rank) -> SetOffer {
        let bytes = members(set).map(|rank| self.problem.collective().copied(rank)).sum();
        let (from, to) = self.problem.collective().ends(sender, receiver);
        let costs = self.problem.costs();
        let ready = self.time[set * self.ranks + sender];
        SetOffer {
            arrives: ready + units(costs.latency_between(from, to, bytes)),
            occupies: units(costs.transmission_between(from, to, bytes)),
        }
    }
}

/// The recurrence.
fn after(clock: f64, message: SetOffer) -> f64 {
    clock.max(message.arrives) + message.occupies
}

fn members(set: Set) -> impl Iterator<Item = Rank> {
    std::iter::successors(Some(set), |left| Some(left & left.wrapping_sub(1)))
        .take_while(|&left| left != 0)
        .map(|left| left.trailing_zeros() as Rank)
}

fn units<E>(time: Result<Time, E>) -> f64 {
    time.map_or(f64::INFINITY, Time::units)
}
