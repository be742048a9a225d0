//! Orders of the ranks of a machine with levels in which groups are together and a root is in the middle, and
//! trees that are ordered in such an order.
//!
//! In rank order the usual root, rank 0, is at the edge of each of its groups: all messages come from one side, and
//! only one mate lies between it and the others, where it can collect for it. Nothing but the order of ranks demands
//! this. In each group of the root's, the order may be *rotated*, so that half of the data is on either side:
//!
//! ```text
//!  rank order     [0 1 2 3] [4 5 6 7] [8 9 10 11] [12 13 14 15]
//!  rotated        [12 13 14 15] [3 0 1 2] [4 5 6 7] [8 9 10 11]      for root 0
//! ```
//!
//! Consecutive ranks of a rotated order are, within each group that was rotated, two ranges of ranks at most. So what
//! such a tree needs beyond one in rank order is that the root receives a few messages in two pieces for
//! each level, or copies them once more.
//!
//! Ranks that are placed around (round-robin, or as listed) are brought together first, group by group.

use crate::DpError;
use crate::levels::{self, Class, grids};
use crate::nest::Nest;
use crate::progress::Progress;
use std::ops::Range;
use tuwtree_model::{BlockSizes, CostKind, Hierarchy, Problem, Rank, Root, Step, Tree};

/// Up to how many ranks the best tree in an order is searched for.
const MOST_SEARCHED: usize = 400;

/// The ranks in an order in which groups are together and, if a root is given, each of its groups has about half of
/// its data before the root's part and half behind.
///
/// # Errors
/// [`DpError::Rootless`], [`DpError::NeedsBlocks`], [`DpError::NotHierarchical`].
///
/// # Complexity
/// O(p h log p).
pub fn rotated_order(problem: &Problem) -> Result<Vec<Rank>, DpError> {
    let (sizes, machine) = levels::parts(problem)?;
    let nest = Nest::new(machine, problem.ranks());
    let mut order = Vec::with_capacity(problem.ranks());
    match problem.root().given() {
        None => order.extend(&nest.order),
        Some(root) => {
            let outermost = nest.levels() - 1;
            Rotation { machine, sizes, nest: &nest, root }.append(
                outermost,
                nest.all(),
                &mut order,
            );
        }
    }
    Ok(order)
}

/// A near-optimal tree among the ordered trees in this order of the ranks.
///
/// # Errors
/// As [`grids::near_optimal`].
///
/// # Panics
/// If the order is not one of the problem's ranks.
///
/// # Complexity
/// That of [`grids::near_optimal`].
pub fn near_optimal_in(
    problem: &Problem,
    order: &[Rank],
    progress: &dyn Progress,
) -> Result<Tree, DpError> {
    let (sizes, machine) = levels::parts(problem)?;
    let ranks = problem.ranks();
    let mut place = vec![None; ranks];
    for (at, &rank) in order.iter().enumerate() {
        place[rank] = Some(at);
    }
    assert!(order.len() == ranks && place.iter().all(Option::is_some), "an order of all ranks");
    let placed = BlockSizes::new(order.iter().map(|&rank| sizes.block(rank)));
    let placed = placed.expect("the blocks of a problem");
    let fits = "as many blocks and ranks as before";
    let placed = Problem::gather(&placed, machine.among(order)).expect(fits);
    let placed = match problem.root() {
        Root::Given(root) => placed.with_root(Root::Given(place[root].expect("a rank"))),
        root => placed.with_root(root),
    };
    let placed = placed.expect(fits);
    let found = match ranks {
        0..=MOST_SEARCHED => levels::optimal(&placed, Class::CopyFirst, progress)?,
        _ => {
            let grid = grids::GridReach::for_ranks(ranks);
            grids::near_optimal(&placed, grid, progress)?
        }
    };
    Ok(renamed(&found.tree, order))
}

/// The tree in which each place is the rank at it.
fn renamed(tree: &Tree, order: &[Rank]) -> Tree {
    let mut steps = Vec::with_capacity(2 * order.len());
    for (at, &rank) in order.iter().enumerate() {
        steps.extend(tree.steps(at).map(|step| match step {
            Step::Copy => (rank, Step::Copy),
            Step::Receive(child) => (rank, Step::Receive(order[child])),
        }));
    }
    Tree::new(order.len(), order[tree.root()], &steps).expect("the same tree with other names")
}

/// Groups of a machine, rotated around a root.
struct Rotation<'a> {
    machine: &'a Hierarchy,
    sizes: &'a BlockSizes,
    nest: &'a Nest,
    root: Rank,
}

impl Rotation<'_> {
    /// Appends the ranks of the root's group of a level, at these places.
    fn append(&self, level: usize, group: Range<usize>, order: &mut Vec<Rank>) {
        let at = self.nest.place(self.root);
        let members: Vec<Range<usize>> = match level {
            0 => group.map(|place| place..place + 1).collect(),
            _ => self.nest.groups(level - 1, &group),
        };
        let own = members.iter().position(|member| member.contains(&at));
        let own = own.expect("the root is in its group");
        let others = (1..members.len()).map(|next| members[(own + next) % members.len()].clone());
        let others: Vec<Range<usize>> = others.collect();
        let weights: Vec<f64> = others.iter().map(|member| self.weight(level, member)).collect();
        let behind = halved(&weights);
        let ranks = |members: &[Range<usize>]| -> Vec<Rank> {
            members.iter().flat_map(|member| &self.nest.order[member.clone()]).copied().collect()
        };
        order.extend(ranks(&others[behind..]));
        match level {
            0 => order.push(self.root),
            _ => self.append(level - 1, members[own].clone(), order),
        }
        order.extend(ranks(&others[..behind]));
    }

    /// Weight of some ranks: the time of their messages over a level, one by one.
    fn weight(&self, level: usize, places: &Range<usize>) -> f64 {
        let links = &self.machine.levels()[level].links;
        let own = |&rank: &Rank| {
            let (latency, occupancy) = links.times(self.sizes.block(rank).max(1));
            latency + occupancy
        };
        self.nest.order[places.clone()].iter().map(own).sum()
    }
}

/// Number of the first weights nearest to half of all.
fn halved(weights: &[f64]) -> usize {
    let half = 0.5 * weights.iter().sum::<f64>();
    let (mut sum, mut count) = (0.0, 0);
    for &weight in weights {
        if sum + 0.5 * weight > half {
            break;
        }
        sum += weight;
        count += 1;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use tuwtree_model::{Level, Piece, PiecewiseLinear, Placement, most_ranges};

    /// Nodes of four.
    fn problem(placement: Placement, blocks: &[u64], root: Root) -> Problem {
        let level = |(name, alpha): (&str, f64)| Level {
            name: name.to_owned(),
            members: 4,
            links: PiecewiseLinear::new(vec![Piece::one_port(0, alpha, 1.0)]).unwrap().into(),
        };
        let levels = [("node", 1.0), ("machine", 10.0)].map(level).into();
        let machine = Hierarchy::new(levels, placement, 0.0).unwrap();
        let sizes = BlockSizes::new(blocks.iter().copied()).unwrap();
        Problem::gather(&sizes, &machine).unwrap().with_root(root).unwrap()
    }

    #[test]
    fn the_root_is_in_the_middle_of_each_group() {
        let order = |root| {
            let problem = problem(Placement::Block, &[1; 16], Root::Given(root));
            rotated_order(&problem).unwrap()
        };
        assert_eq!(order(0), [12, 13, 14, 15, 3, 0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11]);
        assert_eq!(order(5), (0..16).collect::<Vec<_>>());
        assert_eq!(order(14), [8, 9, 10, 11, 13, 14, 15, 12, 0, 1, 2, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn half_of_the_data_is_on_either_side() {
        let problem = problem(Placement::Block, &[1, 90, 30, 60], Root::Given(0));
        assert_eq!(rotated_order(&problem).unwrap(), [2, 3, 0, 1]);
    }

    #[test]
    fn ranks_that_are_placed_around_are_brought_together() {
        let around = problem(Placement::RoundRobin, &[1; 8], Root::Best);
        assert_eq!(rotated_order(&around).unwrap(), [0, 4, 1, 5, 2, 6, 3, 7]);
        let around = problem(Placement::RoundRobin, &[1; 8], Root::Given(3));
        let order = rotated_order(&around).unwrap();
        assert_eq!(order, [2, 6, 3, 7, 0, 4, 1, 5]);
        let tree = near_optimal_in(&around, &order, &()).unwrap();
        assert_eq!(tree.root(), 3);
    }

    #[test]
    fn messages_hold_two_ranges_of_ranks_for_each_level_at_most() {
        let mut most = 0;
        for root in 0..16 {
            let blocks: Vec<u64> = (0..16).map(|rank| 1 + (rank * rank + root) % 97).collect();
            let problem = problem(Placement::Block, &blocks, Root::Given(root as usize));
            let order = rotated_order(&problem).unwrap();
            // Whatever the tree, a message is of some ranks in a row of this order.
            for first in 0..order.len() {
                let mut held = [false; 16];
                for &rank in &order[first..] {
                    held[rank] = true;
                    let begins = |&rank: &usize| held[rank] && (rank == 0 || !held[rank - 1]);
                    most = most.max((0..16).filter(begins).count());
                }
            }
            let tree = near_optimal_in(&problem, &order, &()).unwrap();
            assert!(most_ranges(&tree) <= 4, "{root}");
        }
        assert!(most <= 4, "{most}");
    }
}
