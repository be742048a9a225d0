//! Windows in gathers that are set up: an empty message tells a waiting rank to send, as in calls ([`super::seats`]).
//!
//! ```text
//!   parent      receive from A --> tell C          child C     told by the parent --> send its data
//!               receive from B --> tell D
//! ```
//!
//! A parent sees in its own actions, which are all receives of its children in their order, who waits for whom. A child
//! has to know only whether it waits.

use crate::play::BoundAction;
use tuwtree_dp::wider::ChildRange;
use tuwtree_model::{BlockSizes, Rank, window_waits};
use tuwtree_schedule::{Action, Arrival, Buffer, Deed, Receive, Region, Schedule, Send};

/// Nothing.
const EMPTY: Region<'_> = Region { buffer: Buffer::Input, pieces: &[] };

/// For each rank whether it waits to be told in a gather by this schedule.
///
/// # Complexity
/// O(1) for each action.
pub(super) fn told(schedule: &Schedule, window: u64) -> Vec<bool> {
    let mut told = vec![false; schedule.ranks()];
    for rank in 0..schedule.ranks() {
        let actions = schedule.programs().actions(rank);
        let received: Vec<(Rank, u64)> = actions
            .filter_map(|action| {
                let receive = action.receive()?;
                Some((receive.from, receive.into.pieces.iter().map(|piece| piece.bytes).sum()))
            })
            .collect();
        for (from, _) in waiting(&received, window) {
            told[from] = true;
        }
    }
    told
}

/// True if the rank waits, among these children of its parent.
pub(super) fn is_told(
    rank: Rank,
    siblings: &[ChildRange],
    sizes: &BlockSizes,
    window: u64,
) -> bool {
    let bytes = |one: &ChildRange| (one.rank, sizes.range(one.first, one.last));
    let all: Vec<(Rank, u64)> = siblings.iter().map(bytes).collect();
    waiting(&all, window).any(|(child, _)| child == rank)
}

/// Waiting children, each with the child it waits for, given the children's bytes.
fn waiting(children: &[(Rank, u64)], window: u64) -> impl Iterator<Item = (Rank, Rank)> + '_ {
    let bytes: Vec<u64> = children.iter().map(|&(_, bytes)| bytes).collect();
    let waits = window_waits(&bytes, window);
    let of_child = move |(index, first): (usize, Option<usize>)| {
        first.map(|first| (children[index].0, children[first].0))
    };
    waits.into_iter().enumerate().filter_map(of_child)
}

/// Has a rank tell its children when they may send, and wait itself, if it is told by its parent.
pub(super) fn keep_window(actions: &mut Vec<BoundAction>, is_told: bool, window: u64) {
    let received = |action: &BoundAction| {
        let (from, ..) = action.receive?;
        let pieces = action.writes.iter().flat_map(|(_, pieces)| pieces);
        Some((from, pieces.map(|piece| piece.bytes).sum()))
    };
    let children: Vec<(Rank, u64)> = actions.iter().filter_map(received).collect();
    for (to, first) in waiting(&children, window) {
        let of_first =
            |action: &BoundAction| action.receive.is_some_and(|(from, ..)| from == first);
        let at = actions.iter().position(of_first).expect("it was found there");
        let tell = Action { port: 0, deed: Deed::Send(Send { to, tag: 0, from: EMPTY }) };
        let tell = BoundAction { after: Some(first), ..BoundAction::new(&tell) };
        actions.insert(at + 1, tell);
    }
    let is_data = |action: &BoundAction| action.send.is_some() && action.after.is_none();
    let Some(at) = actions.iter().position(is_data).filter(|_| is_told) else { return };
    let (parent, _) = actions[at].send.expect("it sends");
    actions[at].after = Some(parent);
    let arrival = Arrival::Store;
    let receive = Deed::Receive(Receive { from: parent, tag: 0, into: EMPTY, arrival });
    actions.insert(at, BoundAction::new(&Action { port: 0, deed: receive }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use tuwtree_model::{Collective, Homogeneous, Problem, Root};
    use tuwtree_schedule::part::Part;

    #[test]
    fn whoever_waits_is_told_once_and_nobody_else() {
        let costs = Homogeneous::new(9.0, 1.0, 1.0).unwrap();
        for ranks in 1..20_usize {
            let sizes = BlockSizes::new((0..ranks as u64).map(|rank| rank * 7 % 5)).unwrap();
            let problem = Problem::gather(&sizes, costs).unwrap();
            let problem = problem.with_root(Root::Given(ranks / 2)).unwrap();
            let collective = Collective::gather(&sizes);
            for tree in [
                tuwtree_treegen::linear(&problem).unwrap(),
                tuwtree_treegen::adaptive(&problem, tuwtree_treegen::AdaptiveRule::DataSize)
                    .unwrap(),
            ] {
                let schedule = Schedule::without_costs(&tree, &collective).unwrap();
                let told = told(&schedule, 6);
                let mut tells = vec![0; ranks];
                for (rank, &is_told) in told.iter().enumerate() {
                    let part = Part::of_schedule(&schedule, rank).unwrap();
                    let mut actions: Vec<BoundAction> =
                        part.actions().map(|action| BoundAction::new(&action)).collect();
                    keep_window(&mut actions, is_told, 6);
                    let sends = actions.iter().filter(|one| one.send.is_some());
                    for action in sends {
                        let (to, _) = action.send.unwrap();
                        if Some(to) != tree.parent(rank) {
                            tells[to] += 1;
                        } else {
                            assert_eq!(action.after.is_some(), is_told);
                        }
                    }
                }
                assert!(tells.iter().zip(&told).all(|(&tells, &told)| tells == u32::from(told)));
            }
        }
    }
}
