//! Large blocks straight to the root.
//!
//! A block that is a good part of all data should travel once. So ranks that have such blocks send them to the root at
//! once, by themselves, or to a mate of the root, which passes it on within the node; all the others are gathered
//! by leaders.

use super::Composer;
use crate::DpError;
use crate::levels::parts;
use tuwtree_model::{BlockSizes, CostKind, Problem, Rank, Root, Step, Tree};

/// The part of all data from which on a block is large.
const LARGE: u64 = 16;

/// Who receives large blocks first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Straight {
    /// The root, one after the other.
    ToRoot,
    /// The root receives one, and its mates the others at the same time.
    ToMates,
}

/// The trees in which large blocks from outside the root's node go straight to it, one for each way to gather
/// the others; none if there are no large blocks outside.
///
/// # Errors
/// As [`Composer::leaders`].
///
/// # Panics
/// If there is no such rank.
///
/// # Complexity
/// O(p log p), and a small dynamic program for each node.
pub fn straight(problem: &Problem, root: Rank, to: Straight) -> Result<Vec<Tree>, DpError> {
    let (sizes, machine) = parts(problem)?;
    let ranks = 0..problem.processors();
    let is_mate = |rank: Rank| machine.group(rank, 0) == machine.group(root, 0);
    let is_large = |rank: Rank| sizes.block(rank) > 0 && sizes.block(rank) >= sizes.total() / LARGE;
    let large: Vec<Rank> = ranks.clone().filter(|&rank| !is_mate(rank) && is_large(rank)).collect();
    let mates = ranks.clone().filter(|&rank| is_mate(rank) && rank != root);
    let receivers: Vec<Rank> = match to {
        Straight::ToRoot => vec![root],
        Straight::ToMates => [root].into_iter().chain(mates).take(large.len()).collect(),
    };
    if large.is_empty() || (to == Straight::ToMates && receivers.len() < 2) {
        return Ok(vec![]);
    }
    let is_taken =
        |rank: &Rank| *rank != root && (large.contains(rank) || receivers.contains(rank));
    let others: Vec<Rank> = ranks.filter(|rank| !is_taken(rank)).collect();
    let fits = "some ranks of a problem";
    let blocks = BlockSizes::new(others.iter().map(|&rank| sizes.block(rank))).expect(fits);
    let place = others.iter().position(|&rank| rank == root).expect("the root is not taken");
    let rest = Problem::gather(&blocks, machine.among(&others)).expect(fits);
    let rest = rest.with_root(Root::Given(place)).expect(fits);
    let composer = Composer::new(&rest)?;
    let with_large = |tree: Tree| {
        let mut steps = vec![];
        for (index, &receiver) in receivers.iter().enumerate() {
            steps.push((receiver, Step::Copy));
            let own = large.iter().skip(index).step_by(receivers.len());
            steps.extend(own.map(|&sender| (receiver, Step::Receive(sender))));
        }
        steps.extend(receivers[1..].iter().map(|&mate| (root, Step::Receive(mate))));
        for (at, &rank) in others.iter().enumerate() {
            steps.extend(tree.steps(at).filter_map(|step| match step {
                Step::Copy => (rank != root).then_some((rank, Step::Copy)),
                Step::Receive(child) => Some((rank, Step::Receive(others[child]))),
            }));
        }
        Tree::new(sizes.processors(), root, &steps).expect("a tree with more leaves")
    };
    let plans = composer.leader_plans().into_iter();
    plans.map(|nesting| composer.leaders(nesting).map(with_large)).collect()
}
