//! Trees for ranks with several ports: large blocks straight to the root, the others in groups
//! that grow.
//!
//! With `k` ports a root that receives large blocks one by one wastes bandwidth, and groups that are ready in time cost
//! few alphas. So blocks are taken in falling order: first some of the largest alone, each through the port that is
//! free first; then, phase by phase, `k` groups of equally many blocks, one for each port, `k + 1` times as many in
//! each phase as before. Blocks are dealt to groups in snake order (first to last, last to first), so that groups have
//! about equal volumes. Each group is gathered likewise by its largest block: dealt into `k + 1` parts, of which it
//! keeps its own and receives the others through all its ports at once.
//!
//! How many come alone, and how large the first groups are, is tried out.

use crate::ConstructionError;
use crate::error::blocks;
use crate::groups::Sorted;
use tuwtree_bounds::best_lower_bound;
use tuwtree_model::{Problem, Rank, Root, Step, Time, Tree, completion_time, largest_block};

/// The best of several trees in which the largest blocks go direct to the root and the others in
/// groups, with this many ports at every rank.
///
/// Not ordered. At linear costs that all pairs share, the best root is taken to be one with a largest block,
/// which with several ports it need not be. At others it is the best of all up to 256 ranks, beyond
/// that one with a largest block.
///
/// # Errors
/// [`ConstructionError::NeedsBlocks`]; [`ConstructionError::Time`] if no tree has a time that can be stated.
///
/// # Complexity
/// For each root that is tried O(p log p) time for each of up to some 45 trees, until one is within a
/// hundred-thousandth of [`best_lower_bound`]; O(p) space.
///
/// # Source
/// `docs/ports.md`, with how far from the bound it is.
///
/// # Example
/// Two ports: 9 alone through the one, the others through the other.
/// ```
/// use tuwtree_model::{BlockSizes, Homogeneous, Ports, Problem, Root, completion_time};
/// use tuwtree_treegen::hybrid;
/// let sizes = BlockSizes::new([0, 9, 3, 3, 1]).unwrap();
/// let problem = Problem::gather(&sizes, Homogeneous::new(1.0, 1.0, 0.0).unwrap()).unwrap();
/// let problem = problem.with_root(Root::Given(0)).unwrap().with_ports(Ports::new(2).unwrap());
/// let time = completion_time(&hybrid(&problem).unwrap(), &problem).unwrap();
/// assert_eq!(time.units(), 10.0);
/// ```
pub fn hybrid(problem: &Problem) -> Result<Tree, ConstructionError> {
    let (sizes, k) = (blocks(problem)?, usize::from(problem.ports().get()));
    let root = match problem.costs().homogeneous(problem.ranks()) {
        Some(_) => Root::Given(problem.root().given().unwrap_or_else(|| largest_block(sizes))),
        None => problem.root(),
    };
    let mut best: Option<(Time, Tree)> = None;
    let mut error = None;
    for sorted in Sorted::with_each_root(sizes, root) {
        let rooted = problem.with_root(Root::Given(sorted.root)).expect("it is a rank");
        // Without a bound, nothing is enough.
        let bound = best_lower_bound(&rooted).map_or(0.0, Time::units);
        let is_enough = |time: Time| time.units() <= (1.0 + ENOUGH) * bound;
        for grouping in groupings(sorted.others.len(), k) {
            if best.as_ref().is_some_and(|&(time, _)| is_enough(time)) {
                break;
            }
            let tree = grouping.tree(&sorted, k);
            match completion_time(&tree, problem) {
                Ok(time) if best.as_ref().is_none_or(|&(least, _)| time < least) => {
                    best = Some((time, tree));
                }
                Ok(_) => {}
                Err(found) => error = Some(found),
            }
        }
    }
    match (best, error) {
        (Some((_, tree)), _) => Ok(tree),
        (None, Some(error)) => Err(error.into()),
        (None, None) => unreachable!("a star is among the groupings"),
    }
}

/// Gap above the bound at which no other trees are tried.
const ENOUGH: f64 = 1e-5;

/// Groups of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Grouping {
    /// Number of the largest blocks that come alone.
    singles: usize,
    /// Number of blocks of each group of the first phase.
    first: usize,
}

/// The groupings that are tried, for `n` blocks.
fn groupings(n: usize, k: usize) -> Vec<Grouping> {
    let mut groupings: Vec<Grouping> = (0..=6)
        .chain([8, 10, 12, 16, 20, 24, 32, 48, 64])
        .filter(|&singles| singles < n)
        .flat_map(|singles| {
            let firsts = [1, singles + 1, singles / k + 1];
            firsts.map(|first| Grouping { singles, first })
        })
        .collect();
    groupings.push(Grouping { singles: n, first: 1 });
    groupings.sort_unstable();
    groupings.dedup();
    groupings
}

impl Grouping {
    fn tree(self, sorted: &Sorted, k: usize) -> Tree {
        let root = sorted.root;
        let (singles, mut rest) = sorted.others.split_at(self.singles);
        let mut steps: Vec<(Rank, Step)> =
            singles.iter().map(|&rank| (root, Step::Receive(rank))).collect();
        let mut each = self.first;
        while !rest.is_empty() {
            let (phase, after) = rest.split_at(each.saturating_mul(k).min(rest.len()));
            for group in dealt(phase, k) {
                steps.push((root, Step::Receive(group[0])));
                gather(group, k, &mut steps);
            }
            rest = after;
            each = each.saturating_mul(k + 1);
        }
        sorted.tree_of(steps)
    }
}

/// The items dealt into `hands` lists, none of them empty, there and back again; the first item is the
/// first of the first list.
fn dealt(items: &[Rank], hands: usize) -> Vec<Vec<Rank>> {
    let hands = hands.min(items.len());
    let mut lists = vec![Vec::with_capacity(items.len().div_ceil(hands.max(1))); hands];
    for (round, items) in items.chunks(hands.max(1)).enumerate() {
        for (place, &item) in items.iter().enumerate() {
            let hand = if round % 2 == 0 { place } else { hands - 1 - place };
            lists[hand].push(item);
        }
    }
    lists
}

/// The steps by which the first of a group gathers it: the smallest parts come first.
fn gather(group: Vec<Rank>, k: usize, steps: &mut Vec<(Rank, Step)>) {
    let mut pending = vec![group];
    while let Some(group) = pending.pop() {
        if group.len() < 2 {
            continue;
        }
        let head = group[0];
        let first = steps.len();
        let mut kept = group;
        while kept.len() > 1 {
            let mut parts = dealt(&kept, k + 1);
            for part in parts.drain(1..).rev() {
                steps.push((head, Step::Receive(part[0])));
                pending.push(part);
            }
            kept = parts.swap_remove(0);
        }
        // The last parts to be dealt are received first.
        steps.push((head, Step::Copy));
        steps[first..].reverse();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_dealt_there_and_back_again() {
        assert_eq!(dealt(&[0, 1, 2, 3, 4, 5, 6], 3), [vec![0, 5, 6], vec![1, 4], vec![2, 3]]);
        assert_eq!(dealt(&[7, 8], 3), [[7], [8]]);
        assert!(dealt(&[], 3).is_empty());
    }

    #[test]
    fn a_group_is_gathered_through_all_ports_at_once() {
        let mut steps = Vec::new();
        gather((0..9).collect(), 2, &mut steps);
        let of_head: Vec<Step> =
            steps.iter().filter(|&&(rank, _)| rank == 0).map(|&(_, step)| step).collect();
        let receive = Step::Receive;
        // 0, 5 and 6 of the first deal; 1, 4, 7 and 2, 3, 8.
        assert_eq!(of_head, [Step::Copy, receive(5), receive(6), receive(1), receive(2)]);
        assert_eq!(steps.iter().filter(|(_, step)| *step != Step::Copy).count(), 8);
    }
}
