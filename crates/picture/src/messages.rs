//! The messages of a tree, taken from a simulated schedule.

use tuwtree_model::{Operation, Rank, StatedCosts, Time, Tree};
use tuwtree_schedule::{Deed, Schedule, Timeline};

/// A schedule and when everything in it happens.
#[derive(Clone, Copy, Debug)]
pub struct Performance<'a> {
    /// The schedule that is performed.
    pub schedule: &'a Schedule,
    /// Times of this schedule.
    pub timeline: &'a Timeline,
    /// The costs that the schedule is timed with.
    pub costs: &'a StatedCosts,
}

/// The message between a rank and its parent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ParentMessage {
    pub(crate) bytes: u64,
    pub(crate) start: Time,
    pub(crate) end: Time,
    /// Time that the parent had been ready when it started, its latency apart.
    pub(crate) parent_waits: Time,
    /// Time that the child had been ready when it started, its latency apart.
    pub(crate) child_waits: Time,
    /// True if it is on the critical path.
    pub(crate) is_critical: bool,
}

impl Performance<'_> {
    /// An entry for each rank of the tree: the message between it and its parent, or `None` without
    /// one.
    ///
    /// # Complexity
    /// O(n) for n actions.
    pub(crate) fn messages(&self, tree: &Tree) -> Vec<Option<ParentMessage>> {
        let programs = self.schedule.programs();
        let mut messages: Vec<Option<ParentMessage>> = vec![None; tree.ranks()];
        for rank in 0..tree.ranks() {
            for (action, times) in programs.actions(rank).zip(self.timeline.actions(rank)) {
                let Some((child, bytes)) = edge(tree, rank, &action.deed) else { continue };
                let message = messages[child].get_or_insert(ParentMessage {
                    bytes,
                    start: times.start,
                    end: times.end,
                    parent_waits: Time::ZERO,
                    child_waits: Time::ZERO,
                    is_critical: false,
                });
                // Where latency overlaps, the data of a scatter has come later than it was sent.
                message.start = message.start.min(times.start);
                message.end = message.end.later(times.end);
                let latency = times.latency.1.before(times.latency.0);
                let waited = times.start.before(times.ready).before(latency);
                match child == rank {
                    true => message.child_waits = waited,
                    false => message.parent_waits = waited,
                }
            }
        }
        for critical in self.timeline.critical_path() {
            let rank = critical.rank;
            let action = programs.action(programs.range(rank).start + critical.action);
            if let Some((child, _)) = edge(tree, rank, &action.deed)
                && let Some(message) = &mut messages[child]
            {
                message.is_critical = true;
            }
        }
        messages
    }
}

/// The lower end of the tree's edge that a rank's action is about, and the message's size.
fn edge(tree: &Tree, rank: Rank, deed: &Deed<'_>) -> Option<(Rank, u64)> {
    let (peer, bytes) = match deed {
        Deed::Send(send) => (send.to, send.from.bytes()),
        Deed::Receive(receive) => (receive.from, receive.into.bytes()),
        Deed::Copy { .. } | Deed::Exchange(..) => return None,
    };
    match (tree.parent(rank) == Some(peer), tree.parent(peer) == Some(rank)) {
        (true, _) => Some((rank, bytes)),
        (_, true) => Some((peer, bytes)),
        _ => None,
    }
}

/// Direction of an operation's messages.
pub(crate) fn direction(operation: Operation) -> &'static str {
    match operation.is_outward() {
        true => "left to right, away from the root",
        false => "right to left, towards the root",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tuwtree_model::{BlockSizes, Collective, Homogeneous, Step, Vector};
    use tuwtree_schedule::{Payload, Sends, simulate, tree_of};

    /// 2 <- 1 <- 0, and 2 <- 3.
    fn chain_and_leaf() -> Tree {
        let steps = [
            (2, Step::Receive(1)),
            (2, Step::Copy),
            (2, Step::Receive(3)),
            (1, Step::Receive(0)),
            (1, Step::Copy),
        ];
        Tree::new(4, 2, &steps).unwrap()
    }

    fn schedule(operation: Operation, blocks: [u64; 4]) -> Schedule {
        let payload = match operation.is_irregular() {
            true => Payload::Blocks(BlockSizes::new(blocks).unwrap()),
            false => Payload::Vector(Vector { ranks: 4, bytes: 5 }),
        };
        Schedule::without_costs(&chain_and_leaf(), &Collective::new(operation, payload).unwrap())
            .unwrap()
    }

    #[test]
    fn messages_tell_who_waited_for_whom() {
        let costs = Homogeneous::new(10.0, 1.0, 1.0).unwrap();
        let schedule = schedule(Operation::Gather, [1, 2, 3, 4]);
        let timeline = simulate(&schedule, &costs, Sends::Synchronous).unwrap();
        let costs = &StatedCosts::from(costs);
        let performance = Performance { schedule: &schedule, timeline: &timeline, costs };
        let messages = performance.messages(&chain_and_leaf());
        // 0 sends 1 byte until 11, 1 copies 2 bytes until 13 and sends until 26, 2 copies until
        // 29; all that time 3 waits.
        let waits: Vec<_> = messages
            .iter()
            .flatten()
            .map(|one| (one.bytes, one.parent_waits.units(), one.child_waits.units()))
            .collect();
        assert_eq!(waits, [(1, 0.0, 0.0), (3, 13.0, 0.0), (4, 0.0, 29.0)]);
        assert!(messages.iter().flatten().all(|one| one.is_critical));
        assert_eq!(messages[2], None);
    }

    #[test]
    fn the_tree_of_a_schedule_is_the_tree_it_was_made_of() {
        for operation in Operation::irregular() {
            let found = tree_of(&schedule(operation, [1, 2, 3, 4]));
            assert_eq!(found, Some(chain_and_leaf()));
        }
        let parents = |tree: &Tree| (0..4).map(|rank| tree.parent(rank)).collect::<Vec<_>>();
        for operation in [Operation::Broadcast, Operation::Reduce] {
            let found = tree_of(&schedule(operation, [1; 4])).unwrap();
            assert_eq!(parents(&found), parents(&chain_and_leaf()));
        }
    }

    #[test]
    fn who_has_nothing_to_send_is_below_the_root() {
        let found = tree_of(&schedule(Operation::Gather, [0, 2, 3, 0])).unwrap();
        assert_eq!(found.children(2).collect::<Vec<_>>(), [1, 0, 3]);
    }
}
