//! Schedules in rounds, of messages that are the same at both ends.

use crate::CollectiveError;
use tuwtree_model::{BlockSizes, Order, Problem, Rank};
use tuwtree_schedule::{
    Action, Arrival, Buffer, Deed, Piece, Programs, Receive, Region, Schedule, Send, Task,
};

/// Whom a rank sends to, and whom it receives from, in one round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Meeting {
    pub(crate) to: Option<Rank>,
    pub(crate) from: Option<Rank>,
}

/// Parts of the output, in the order in which a message has them.
#[derive(Debug, Default)]
pub(crate) struct Data(Vec<Piece>);

impl Data {
    /// Adds bytes of the output; what follows on what is there becomes one piece with it.
    pub(crate) fn push(&mut self, offset: u64, bytes: u64) {
        match self.0.last_mut() {
            _ if bytes == 0 => {}
            Some(last) if last.end() == offset => last.bytes += bytes,
            _ => self.0.push(Piece { offset, bytes }),
        }
    }

    /// Adds so many blocks from this one on; after the last comes the first.
    pub(crate) fn push_window(&mut self, sizes: &BlockSizes, first: Rank, count: usize) {
        let end = first + count;
        let (before, p) = (|rank| sizes.before(rank), sizes.processors());
        self.push(before(first), before(end.min(p)) - before(first));
        if end > p {
            self.push(0, before(end - p));
        }
    }
}

/// The schedule for a problem in so many rounds. `meet` says who meets whom in a round, the same at both
/// ends; `fill` what is sent in a round by the first rank to the second.
///
/// # Complexity
/// That of `fill` for each message, twice.
pub(crate) fn schedule(
    problem: &Problem,
    rounds: usize,
    meet: impl Fn(usize, Rank) -> Meeting,
    fill: impl Fn(usize, (Rank, Rank), &mut Data),
) -> Result<Schedule, CollectiveError> {
    let processors = problem.processors();
    let mut programs = Programs::new();
    let (mut sent, mut received) = (Data::default(), Data::default());
    for rank in 0..processors {
        for round in 0..rounds {
            let Meeting { to, from } = meet(round, rank);
            sent.0.clear();
            received.0.clear();
            if let Some(to) = to {
                fill(round, (rank, to), &mut sent);
            }
            if let Some(from) = from {
                fill(round, (from, rank), &mut received);
            }
            let send = to.filter(|_| !sent.0.is_empty()).map(|to| {
                let from = Region { buffer: Buffer::Output, pieces: &sent.0 };
                Send { to, tag: 0, from }
            });
            let receive = from.filter(|_| !received.0.is_empty()).map(|from| {
                let into = Region { buffer: Buffer::Output, pieces: &received.0 };
                Receive { from, tag: 0, into, arrival: Arrival::Store }
            });
            let deed = match (send, receive) {
                (Some(send), Some(receive)) => Deed::Exchange(send, receive),
                (Some(send), None) => Deed::Send(send),
                (None, Some(receive)) => Deed::Receive(receive),
                (None, None) => continue,
            };
            programs.push(&Action { port: 0, deed })?;
        }
        programs.end_processor();
    }
    let task = Task {
        operation: problem.operation(),
        root: None,
        payload: problem.payload().clone(),
        displacements: None,
        order: Order::Ordered,
        ports: problem.ports().get(),
        costs: Some(problem.stated_costs().clone()),
    };
    Ok(Schedule::new(task, vec![0; processors], programs)?)
}
