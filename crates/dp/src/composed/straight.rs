//! Large blocks straight to the root.
//!
//! A block that is a good part of all data should travel once. So ranks that have such blocks send them to the root at
//! once, by themselves, or to a mate of the root, which passes it on within the node, or to another node of its island,
//! for the wire of the root's own; all the others are gathered by leaders.

use super::Composer;
use crate::DpError;
use crate::levels::parts;
use std::collections::HashSet;
use tuwtree_model::{BlockSizes, CostKind, Hierarchy, Problem, Rank, Root, Step, Tree};

/// The part of all data from which on a block is large.
const LARGE: u64 = 16;

/// First receivers of large blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Straight {
    /// The root, one after the other.
    ToRoot,
    /// Data outside the root's group of this level: the root receives one block, and a rank of each other group inside
    /// it the others, concurrently. At level 0: the root's mates.
    ToMates(usize),
}

/// Trees in which large blocks from outside the root's node go straight to it, one for each way to gather the others;
/// empty if no blocks are large for their receivers.
///
/// # Errors
/// As [`Composer::leaders`].
///
/// # Panics
/// If there is no such rank or level.
///
/// # Complexity
/// O(p log p), and a small dynamic program for each node.
pub fn straight(problem: &Problem, root: Rank, to: Straight) -> Result<Vec<Tree>, DpError> {
    let (sizes, machine) = parts(problem)?;
    let ranks = 0..problem.ranks();
    let is_near =
        |level: usize, rank: Rank| machine.group(rank, level) == machine.group(root, level);
    let is_large = |rank: Rank| sizes.block(rank) > 0 && sizes.block(rank) >= sizes.total() / LARGE;
    let large = ranks.clone().filter(|&rank| !is_near(0, rank) && is_large(rank));
    let (mut near, far): (Vec<Rank>, Vec<Rank>) = match to {
        Straight::ToRoot => (vec![], large.collect()),
        Straight::ToMates(level) => large.partition(|&rank| is_near(level, rank)),
    };
    let mates: Vec<Rank> = match to {
        Straight::ToRoot => vec![],
        Straight::ToMates(level) => mates(problem.ranks(), machine, (root, level)),
    };
    let receivers: Vec<Rank> = [root].into_iter().chain(mates).take(far.len()).collect();
    if far.is_empty() || (to != Straight::ToRoot && receivers.len() < 2) {
        return Ok(vec![]);
    }
    near.retain(|rank| !receivers.contains(rank));
    let is_taken = |rank: &Rank| {
        *rank != root && [&near, &far, &receivers].iter().any(|some| some.contains(rank))
    };
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
            let own = far.iter().skip(index).step_by(receivers.len());
            steps.extend(own.map(|&sender| (receiver, Step::Receive(sender))));
        }
        steps.extend(near.iter().map(|&sender| (root, Step::Receive(sender))));
        steps.extend(receivers[1..].iter().map(|&mate| (root, Step::Receive(mate))));
        for (at, &rank) in others.iter().enumerate() {
            steps.extend(tree.steps(at).filter_map(|step| match step {
                Step::Copy => (rank != root).then_some((rank, Step::Copy)),
                Step::Receive(child) => Some((rank, Step::Receive(others[child]))),
            }));
        }
        Tree::new(sizes.ranks(), root, &steps).expect("a tree with more leaves")
    };
    let plans = composer.leader_plans().into_iter();
    plans.map(|nesting| composer.leaders(nesting).map(with_large)).collect()
}

/// The first rank of each other group inside the root's group of a level; of level 0, all other ranks.
fn mates(ranks: usize, machine: &Hierarchy, (root, level): (Rank, usize)) -> Vec<Rank> {
    let group = |rank: Rank| match level {
        0 => rank,
        _ => machine.group(rank, level - 1),
    };
    let mut known = HashSet::from([group(root)]);
    let near = (0..ranks).filter(|&rank| machine.group(rank, level) == machine.group(root, level));
    near.filter(|&rank| known.insert(group(rank))).collect()
}
