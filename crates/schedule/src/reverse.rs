//! A gather played backwards is a scatter, and the other way round.

use crate::action::{Action, Arrival, Buffer, Deed, Piece, Receive, Region, Send};
use crate::program::{Programs, TooManyActions};
use crate::schedule::{Schedule, ScheduleError, Task};
use tuwtree_model::{ClosedSet, Operation, Order};

/// A schedule that has no reverse.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ReverseError {
    /// A broadcast or reduction.
    #[error(
        "the reverse of a {} is not a schedule; gather and scatter are each other's reverse", operation.name()
    )]
    NotIrregular {
        /// The operation that is performed.
        operation: Operation,
    },
    /// An action that has no reverse: more pieces than can be counted.
    #[error(transparent)]
    Size(#[from] TooManyActions),
    /// An action that is none when reversed: one that copies from the input to itself.
    #[error("reversed, {0}")]
    Schedule(#[from] ScheduleError),
}

impl Schedule {
    /// The schedule played backwards, with sends in place of receives and the input in place of the
    /// output: of a gather a scatter of the same blocks, of a scatter a gather.
    ///
    /// The reverse of a schedule that moves every byte once, as along a tree, performs its
    /// operation; other reverses may not: [`verify`](crate::verify()) tells.
    ///
    /// # Errors
    /// [`ReverseError`].
    ///
    /// # Complexity
    /// O(1) for each piece of each action.
    ///
    /// # Source
    /// OPT section 2.5.
    pub fn reversed(&self) -> Result<Schedule, ReverseError> {
        let task = self.task();
        let operation = match task.operation {
            Operation::Gather => Operation::Scatter,
            Operation::Scatter => Operation::Gather,
            operation => return Err(ReverseError::NotIrregular { operation }),
        };
        let mut programs = Programs::new();
        for rank in 0..self.ranks() {
            for action in self.programs().actions(rank).rev() {
                push_reversed(&action, &mut programs)?;
            }
            programs.end_rank();
        }
        // What is promised of the one need not hold of the other.
        let order = if task.order == Order::Ordered { Order::Ordered } else { Order::Any };
        let task = Task { operation, order, ..task.clone() };
        let segments = (0..self.ranks()).map(|rank| self.buffer_bytes(rank, Buffer::Segment));
        Ok(Schedule::new(task, segments.collect(), programs)?)
    }
}

fn push_reversed(action: &Action<'_>, programs: &mut Programs) -> Result<(), TooManyActions> {
    let from = action.writes().map(reversed_region);
    let into = action.reads().map(reversed_region);
    let send = action.receive().zip(from.as_ref()).map(|(receive, from)| Send {
        to: receive.from,
        tag: receive.tag,
        from: region(from),
    });
    let receive = action.send().zip(into.as_ref()).map(|(send, into)| Receive {
        from: send.to,
        tag: send.tag,
        into: region(into),
        arrival: Arrival::Store,
    });
    let deed = match (send, receive) {
        (Some(send), Some(receive)) => Deed::Exchange(send, receive),
        (Some(send), None) => Deed::Send(send),
        (None, Some(receive)) => Deed::Receive(receive),
        (None, None) => {
            let (from, into) = from.as_ref().zip(into.as_ref()).expect("a copy has two regions");
            Deed::Copy { from: region(from), into: region(into), arrival: Arrival::Store }
        }
    };
    programs.push(&Action { port: action.port, deed })
}

fn reversed_region(region: Region<'_>) -> (Buffer, Vec<Piece>) {
    let buffer = match region.buffer {
        Buffer::Input => Buffer::Output,
        Buffer::Segment => Buffer::Segment,
        Buffer::Output => Buffer::Input,
    };
    (buffer, region.pieces.to_vec())
}

fn region((buffer, pieces): &(Buffer, Vec<Piece>)) -> Region<'_> {
    Region { buffer: *buffer, pieces }
}

#[cfg(test)]
mod tests {
    use crate::{Schedule, verify};
    use tuwtree_model::{BlockSizes, Collective, Operation, Payload, Step, Tree, Vector};

    fn tree() -> Tree {
        let steps = [
            (2, Step::Receive(0)),
            (2, Step::Receive(4)),
            (2, Step::Copy),
            (0, Step::Copy),
            (0, Step::Receive(3)),
            (0, Step::Receive(1)),
        ];
        Tree::new(5, 2, &steps).unwrap()
    }

    #[test]
    fn the_reverse_of_a_trees_gather_is_its_scatter() {
        let payload = Payload::Blocks(BlockSizes::new([2, 0, 3, 1, 4]).unwrap());
        for (one, other) in
            [(Operation::Gather, Operation::Scatter), (Operation::Scatter, Operation::Gather)]
        {
            let of = |operation| {
                Schedule::without_costs(
                    &tree(),
                    &Collective::new(operation, payload.clone()).unwrap(),
                )
                .unwrap()
            };
            let reversed = of(one).reversed().unwrap();
            assert_eq!(reversed, of(other));
            assert_eq!(verify(&reversed), verify(&of(other)));
        }
    }

    #[test]
    fn a_broadcast_has_no_reverse() {
        let payload = Payload::Vector(Vector { ranks: 5, bytes: 8 });
        let schedule = Schedule::without_costs(
            &tree(),
            &Collective::new(Operation::Broadcast, payload).unwrap(),
        )
        .unwrap();
        let error = schedule.reversed().unwrap_err().to_string();
        assert!(error.starts_with("the reverse of a broadcast is not a schedule"), "{error}");
    }
}
