//! The best of all trees where every processor has several ports, by dynamic programming over subsets.
//!
//! With several ports a partial tree is no longer judged by one time: a port that is free late does no
//! harm if a late subtree is to come through it. So for each receiver and each set of blocks that it
//! has, all lists of times are kept at which its ports may be free, but for those that are no better
//! at any place than another, both sorted.
//!
//! Every step goes to the port that is free first. That loses nothing: with its steps in the order in
//! which they start, no other choice of ports frees any port earlier (`docs/ports.md`).
//!
//! # Source
//! OPT section 2.6 says why Proposition 2 does not hold of several ports.

use super::NonOrderedError;
use crate::blocks::Blocks;
use tuwtree_model::{
    BlockSizes, CostModel, Homogeneous, Ports, Rank, Root, Step, Time, TimeError, Tree,
};

/// The most processors for which [`exact`](super::exact()) searches where they have several ports;
/// some seconds.
pub const MOST_ON_PORTS: usize = 9;

/// A best tree of all where every processor has so many ports.
///
/// # Errors
/// [`NonOrderedError`]: more than [`MOST_ON_PORTS`] processors, times that cannot be stated.
///
/// # Complexity
/// O(p 3^p) steps, each for all lists of times that are kept.
pub(super) fn exact(blocks: Blocks<'_>, ports: Ports) -> Result<Tree, NonOrderedError> {
    let Blocks { sizes, costs, root } = blocks;
    let processors = sizes.processors();
    if processors > MOST_ON_PORTS {
        return Err(NonOrderedError::TooManyForPorts { processors });
    }
    let table = PortTable::new(sizes, &costs, ports)?;
    let everything = (1 << processors) - 1;
    let (root, plan) = match root {
        Root::Given(root) => (root, table.first_ready(root, everything).1),
        Root::Best | Root::None => {
            let (_, root, plan) = table.ready[everything];
            (root, plan)
        }
    };
    Ok(table.tree(root, plan))
}

/// A set of processors, or of their blocks: a bit for each.
type Set = usize;

/// When the ports of a receiver that has some blocks may be free.
#[derive(Clone)]
struct PortTimes {
    /// When each port is free, the earliest first.
    free: Vec<Time>,
    /// What came last: the blocks of a message, or none for the copy.
    last: Set,
    /// The index of the plan before that, for the receiver and the rest.
    before: usize,
}

impl PortTimes {
    /// Whether nothing is lost without the other.
    fn is_as_good_as(&self, other: &PortTimes) -> bool {
        self.free.iter().zip(&other.free).all(|(own, other)| own <= other)
    }

    /// This plan and one step more, on the port that is free first.
    fn then(
        &self,
        (index, last): (usize, Set),
        (ready, duration): (Time, Time),
        costs: &Homogeneous,
    ) -> Result<PortTimes, TimeError> {
        let mut free = self.free.clone();
        free[0] = costs.sum(free[0].later(ready), duration)?;
        free.sort_unstable();
        Ok(PortTimes { free, last, before: index })
    }

    /// When all ports are free.
    fn end(&self) -> Time {
        *self.free.last().expect("there is a port")
    }
}

struct PortTable<'a> {
    costs: &'a Homogeneous,
    processors: usize,
    /// For each receiver and each set of blocks that it may have, its own included once it is copied:
    /// the plans of which none is as good as another.
    plans: Vec<Vec<Vec<PortTimes>>>,
    /// For each set of processors: when a subtree of just these can be ready, with which root, by
    /// which of its plans.
    ready: Vec<(Time, Rank, usize)>,
    /// For each set of blocks the time of a message with them.
    sent: Vec<Time>,
    copy: Vec<Time>,
}

impl<'a> PortTable<'a> {
    /// The table, sets in ascending order: parts have smaller numbers.
    fn new(sizes: &BlockSizes, costs: &'a Homogeneous, ports: Ports) -> Result<Self, TimeError> {
        let processors = sizes.processors();
        let sets = 1 << processors;
        let bytes = move |set: Set| (0..processors).filter(move |rank| set >> rank & 1 == 1);
        let sent =
            (0..sets).map(|set| costs.transmission(bytes(set).map(|r| sizes.block(r)).sum()));
        // A receiver takes no more steps than there are processors.
        let ports = usize::from(ports.get()).min(processors);
        let idle = PortTimes { free: vec![Time::ZERO; ports], last: 0, before: 0 };
        let mut unknown = vec![Vec::new(); sets];
        unknown[0].push(idle);
        let mut table = PortTable {
            costs,
            processors,
            plans: vec![unknown; processors],
            ready: vec![(Time::ZERO, 0, 0); sets],
            sent: sent.collect::<Result<_, _>>()?,
            copy: sizes.iter().map(|bytes| costs.copy(bytes)).collect::<Result<_, _>>()?,
        };
        for set in 1..sets {
            let (inside, outside): (Vec<Rank>, Vec<Rank>) =
                (0..processors).partition(|rank| set >> rank & 1 == 1);
            for &receiver in &inside {
                table.plans[receiver][set] = table.last_steps(receiver, set)?;
            }
            table.ready[set] = match inside[..] {
                [lone] => (Time::ZERO, lone, 0),
                _ => inside
                    .iter()
                    .map(|&rank| (table.first_ready(rank, set), rank))
                    .min()
                    .map(|((time, plan), rank)| (time, rank, plan))
                    .expect("the set is not empty"),
            };
            for &receiver in &outside {
                table.plans[receiver][set] = table.last_steps(receiver, set)?;
            }
        }
        Ok(table)
    }

    /// The plans by which a receiver has these blocks at last.
    fn last_steps(&self, receiver: Rank, set: Set) -> Result<Vec<PortTimes>, TimeError> {
        let own = 1 << receiver;
        let mut plans = Vec::new();
        if set & own != 0 {
            for (index, before) in self.plans[receiver][set ^ own].iter().enumerate() {
                let copied = (Time::ZERO, self.copy[receiver]);
                keep(before.then((index, 0), copied, self.costs)?, &mut plans);
            }
        }
        let others = set & !own;
        let mut part = others;
        while part != 0 {
            let message = (self.ready[part].0, self.sent[part]);
            for (index, before) in self.plans[receiver][set ^ part].iter().enumerate() {
                keep(before.then((index, part), message, self.costs)?, &mut plans);
            }
            part = (part - 1) & others;
        }
        Ok(plans)
    }

    /// When this receiver can have these blocks first, and by which plan.
    fn first_ready(&self, receiver: Rank, set: Set) -> (Time, usize) {
        let plans = self.plans[receiver][set].iter().enumerate();
        plans.map(|(index, plan)| (plan.end(), index)).min().expect("there is always a star")
    }

    /// The tree in which this root has everything by this plan.
    fn tree(&self, root: Rank, plan: usize) -> Tree {
        let mut steps = Vec::new();
        let mut pending = vec![(root, (1 << self.processors) - 1, plan)];
        while let Some((receiver, mut set, mut index)) = pending.pop() {
            if set == 1 << receiver {
                continue;
            }
            let first = steps.len();
            while set != 0 {
                let PortTimes { last, before, .. } = self.plans[receiver][set][index];
                let step = match last {
                    0 => Step::Copy,
                    part => {
                        let (_, child, plan) = self.ready[part];
                        pending.push((child, part, plan));
                        Step::Receive(child)
                    }
                };
                steps.push((receiver, step));
                set ^= if last == 0 { 1 << receiver } else { last };
                index = before;
            }
            steps[first..].reverse();
        }
        Tree::new(self.processors, root, &steps).expect("every other processor sends once")
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
    use tuwtree_model::{Problem, completion_time};

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
                    let by_lists = super::exact(Blocks::of(&problem).unwrap(), Ports::ONE).unwrap();
                    let [one, other] = [by_lists, exact(&problem).unwrap()]
                        .map(|tree| completion_time(&tree, &problem).unwrap());
                    assert_eq!(one, other, "{problem:?}");
                }
            }
        }
    }

    #[test]
    fn too_many_processors_are_refused() {
        let error = exact(&problem(&[1; 10], [1.0, 1.0, 1.0], 2)).unwrap_err();
        assert_eq!(error, NonOrderedError::TooManyForPorts { processors: 10 });
    }
}
