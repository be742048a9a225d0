//! The best of all trees where every rank has several ports, by dynamic programming over subsets.
//!
//! With several ports one time does not describe a partial tree: a port that is free late does no harm if a late
//! subtree is to come through it. For each receiver and each set of its blocks, all lists of times at which its ports
//! may be free are kept, except those that another list equals or beats at each place, both sorted.
//!
//! Every step goes to the port that is free first. That loses nothing: with its steps in the order in
//! which they start, no other choice of ports frees any port earlier (`docs/ports.md`).
//!
//! # Source
//! OPT section 2.6 says why Proposition 2 does not hold of several ports.

use super::NonOrderedError;
use crate::DpError;
use tuwtree_model::{CostModel, Problem, Rank, Step, Time, TimeError, Tree};

/// The most ranks for which [`exact`](super::exact()) searches where they have several ports;
/// some seconds.
pub const MOST_ON_PORTS: usize = 9;

/// A best tree of all for the blocks of a problem, on the ports that its ranks have.
///
/// # Errors
/// [`NonOrderedError`]: more than [`MOST_ON_PORTS`] ranks, links that are missing, times that cannot be
/// stated.
///
/// # Complexity
/// O(p 3^p) steps, each for all kept lists of times; if costs differ, each for all senders that no other beats in both
/// arrival and duration of the message.
pub(super) fn exact(problem: &Problem) -> Result<Tree, NonOrderedError> {
    let ranks = problem.ranks();
    if ranks > MOST_ON_PORTS {
        return Err(NonOrderedError::TooManyForPorts { ranks });
    }
    problem.check_links().map_err(DpError::from)?;
    let table = PortTable::new(problem)?;
    let everything = (1 << ranks) - 1;
    let roots = problem.root().given().map_or(0..ranks, |root| root..root + 1);
    let best = roots.filter_map(|root| Some((table.ready_at(everything, root)?, root))).min();
    let ((_, plan), root) = best.expect("data has links to the root, which has a tree with them");
    Ok(table.tree(root, plan))
}

/// A set of ranks, or of their blocks: a bit for each.
type RankSet = usize;

/// A step's addition to a receiver's blocks: its own by a copy, or those of a message from a sender with this plan.
#[derive(Clone, Copy)]
enum Last {
    Copy,
    Message { part: RankSet, sender: Rank, plan: usize },
}

/// Times at which the ports of a receiver with some blocks may be free.
#[derive(Clone)]
struct PortTimes {
    /// Time at which each port is free, the earliest first.
    free: Vec<Time>,
    last: Last,
    /// The index of the plan before that, for the receiver and the rest.
    before: usize,
}

/// A possible message to a receiver.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct PortOffer {
    /// Earliest start of the message.
    arrives: Time,
    /// Time for which it occupies a port.
    occupies: Time,
    /// The sender's plan for all of it.
    plan: usize,
    sender: Rank,
}

impl PortTimes {
    /// True if this list makes the other superfluous.
    fn is_as_good_as(&self, other: &PortTimes) -> bool {
        self.free.iter().zip(&other.free).all(|(own, other)| own <= other)
    }

    /// This plan, of this index, and one step more, on the port that is free first.
    fn then(
        &self,
        (before, last): (usize, Last),
        (ready, duration): (Time, Time),
        problem: &Problem,
    ) -> Result<PortTimes, TimeError> {
        let mut free = self.free.clone();
        free[0] = problem.costs().sum(free[0].later(ready), duration)?;
        free.sort_unstable();
        Ok(PortTimes { free, last, before })
    }

    /// Time at which all ports are free.
    fn end(&self) -> Time {
        *self.free.last().expect("there is a port")
    }
}

struct PortTable<'a> {
    problem: &'a Problem,
    ranks: usize,
    /// Plans for each receiver and each set of its blocks, including its own once copied, without superfluous ones.
    plans: Vec<Vec<Vec<PortTimes>>>,
    /// Possible messages of subtrees of each set of ranks to each receiver outside, without superfluous ones; `p`
    /// entries for each set.
    offers: Vec<Vec<PortOffer>>,
}

impl<'a> PortTable<'a> {
    /// The table, sets in ascending order: parts have smaller numbers.
    fn new(problem: &'a Problem) -> Result<Self, TimeError> {
        let ranks = problem.ranks();
        let sets = 1 << ranks;
        // A receiver takes no more steps than there are ranks.
        let ports = usize::from(problem.ports().get()).min(ranks);
        let idle = PortTimes { free: vec![Time::ZERO; ports], last: Last::Copy, before: 0 };
        let mut unknown = vec![Vec::new(); sets];
        unknown[0].push(idle);
        let mut table = PortTable {
            problem,
            ranks,
            plans: vec![unknown; ranks],
            offers: vec![Vec::new(); sets * ranks],
        };
        for set in 1..sets {
            let (inside, outside): (Vec<Rank>, Vec<Rank>) =
                (0..ranks).partition(|rank| set >> rank & 1 == 1);
            for &receiver in &inside {
                table.plans[receiver][set] = table.last_steps(receiver, set)?;
            }
            for &receiver in &outside {
                table.offers[set * ranks + receiver] = table.offered(&inside, receiver)?;
            }
            for &receiver in &outside {
                table.plans[receiver][set] = table.last_steps(receiver, set)?;
            }
        }
        Ok(table)
    }

    /// Plans by which a receiver completes these blocks.
    fn last_steps(&self, receiver: Rank, set: RankSet) -> Result<Vec<PortTimes>, TimeError> {
        let own = 1 << receiver;
        let mut plans = Vec::new();
        if set & own != 0 {
            let copied = (Time::ZERO, self.problem.copy(receiver)?);
            for (index, before) in self.plans[receiver][set ^ own].iter().enumerate() {
                keep(before.then((index, Last::Copy), copied, self.problem)?, &mut plans);
            }
        }
        let others = set & !own;
        let mut part = others;
        while part != 0 {
            for &PortOffer { arrives, occupies, plan, sender } in
                &self.offers[part * self.ranks + receiver]
            {
                let last = Last::Message { part, sender, plan };
                for (index, before) in self.plans[receiver][set ^ part].iter().enumerate() {
                    let message = (arrives, occupies);
                    keep(before.then((index, last), message, self.problem)?, &mut plans);
                }
            }
            part = (part - 1) & others;
        }
        Ok(plans)
    }

    /// Earliest time at which this rank has all blocks of a set with its own, and its plan; at once if the set is its
    /// own block, which it need not copy to send.
    fn ready_at(&self, set: RankSet, root: Rank) -> Option<(Time, usize)> {
        if set == 1 << root {
            return Some((Time::ZERO, 0));
        }
        let plans = self.plans[root][set].iter().enumerate();
        plans.map(|(index, plan)| (plan.end(), index)).min()
    }

    /// Offers of exactly these ranks to a receiver, without superfluous ones.
    fn offered(&self, senders: &[Rank], receiver: Rank) -> Result<Vec<PortOffer>, TimeError> {
        let problem = self.problem;
        let set = senders.iter().fold(0, |set, &rank| set | 1 << rank);
        let bytes = senders.iter().map(|&rank| problem.collective().copied(rank)).sum();
        let mut offers = Vec::with_capacity(senders.len());
        for &sender in senders {
            let Some((ready, plan)) = self.ready_at(set, sender) else { continue };
            let message = problem.edge(sender, receiver, bytes).and_then(|occupies| {
                Ok((problem.arrival(sender, receiver, bytes, ready)?, occupies))
            });
            match message {
                Ok((arrives, occupies)) => {
                    offers.push(PortOffer { arrives, occupies, plan, sender });
                }
                Err(TimeError::NoLink { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        offers.sort_unstable();
        let mut least: Option<Time> = None;
        offers.retain(|offer| {
            let helps = least.is_none_or(|least| offer.occupies < least);
            least = Some(least.map_or(offer.occupies, |least| least.min(offer.occupies)));
            helps
        });
        Ok(offers)
    }

    /// The tree in which this root has everything by this plan.
    fn tree(&self, root: Rank, plan: usize) -> Tree {
        let mut steps = Vec::new();
        let mut pending = vec![(root, (1 << self.ranks) - 1, plan)];
        while let Some((receiver, mut set, mut index)) = pending.pop() {
            if set == 1 << receiver {
                continue;
            }
            let first = steps.len();
            while set != 0 {
                let PortTimes { last, before, .. } = self.plans[receiver][set][index];
                let step = match last {
                    Last::Copy => {
                        set ^= 1 << receiver;
                        Step::Copy
                    }
                    Last::Message { part, sender, plan } => {
                        pending.push((sender, part, plan));
                        set ^= part;
                        Step::Receive(sender)
                    }
                };
                steps.push((receiver, step));
                index = before;
            }
            steps[first..].reverse();
        }
        Tree::new(self.ranks, root, &steps).expect("every other rank sends once")
    }
}

/// Adds a plan unless one is as good, and drops those than which it is.
fn keep(plan: PortTimes, plans: &mut Vec<PortTimes>) {
    if plans.iter().any(|known| known.is_as_good_as(&plan)) {
        return;
    }
    plans.retain(|known| !plan.is_as_good_as(known));
    plans.push(plan);
}

#[cfg(test)]
mod tests {
    use super::super::exact;
    use super::*;
    use tuwtree_model::{BlockSizes, Homogeneous, Ports, Root, completion_time};

    fn problem(sizes: &[u64], [alpha, beta, gamma]: [f64; 3], ports: u16) -> Problem {
        let sizes = BlockSizes::new(sizes.iter().copied()).unwrap();
        let costs = Homogeneous::new(alpha, beta, gamma).unwrap();
        Problem::gather(&sizes, costs).unwrap().with_ports(Ports::new(ports).unwrap())
    }

    fn time(sizes: &[u64], alpha: f64, ports: u16) -> f64 {
        let problem = problem(sizes, [alpha, 1.0, 0.0], ports).with_root(Root::Given(0)).unwrap();
        completion_time(&exact(&problem).unwrap(), &problem).unwrap().units()
    }

    #[test]
    fn without_latency_ports_are_machines_and_blocks_are_jobs() {
        // 5 + 3 + 2 and 6 + 4; 6, 5 and 4 + 3 + 2 or better 4 + 3, 5 + 2, 6.
        assert_eq!(time(&[0, 6, 5, 4, 3, 2], 0.0, 2), 10.0);
        assert_eq!(time(&[0, 6, 5, 4, 3, 2], 0.0, 3), 7.0);
        // 6; 3 + 2 and, beside, a latency each.
        assert_eq!(time(&[0, 6, 3, 2], 1.0, 2), 7.0);
    }

    #[test]
    fn with_high_latency_k_and_one_blocks_come_together_at_once() {
        // 8 = 2 + 2 * 3: two rounds with two ports, three blocks in the last messages.
        assert_eq!(time(&[0, 1, 1, 1, 1, 1, 1, 1, 1], 100.0, 2), 204.0);
        assert_eq!(time(&[0, 1, 1, 1], 100.0, 3), 101.0);
    }

    #[test]
    fn one_port_takes_what_proposition_2_says() {
        for sizes in [&[9, 1, 1, 0][..], &[4, 0, 7, 7, 2], &[1, 2, 4, 8, 16, 3]] {
            for costs in [[1.0, 1.0, 1.0], [5.0, 1.0, 0.0], [2.0, 1.0, 3.0], [0.0, 2.0, 9.0]] {
                let problem = problem(sizes, costs, 1);
                for root in [Root::Best, Root::Given(1)] {
                    let problem = problem.with_root(root).unwrap();
                    let by_lists = super::exact(&problem).unwrap();
                    let [one, other] = [by_lists, exact(&problem).unwrap()]
                        .map(|tree| completion_time(&tree, &problem).unwrap());
                    assert_eq!(one, other, "{problem:?}");
                }
            }
        }
    }

    #[test]
    fn too_many_ranks_are_refused() {
        let error = exact(&problem(&[1; 10], [1.0, 1.0, 1.0], 2)).unwrap_err();
        assert_eq!(error, NonOrderedError::TooManyForPorts { ranks: 10 });
    }
}
