//! Right schedules that follow no tree.

use super::editable::{Editable, EditableAction, place};
use tuwtree_model::{BlockSizes, GroupSizes, MessageSizes, Operation, Operator, Rank, Vector};
use tuwtree_schedule::{Arrival, Buffer, Order, Payload, Piece, Task};

use Buffer::{Input, Output, Segment};

/// A schedule in which nobody does anything yet.
fn idle(operation: Operation, root: Rank, payload: Payload, ports: u16) -> Editable {
    let root = operation.is_rooted().then_some(root);
    let order = Order::Ordered;
    let (displacements, costs, operator, duplex) = (None, None, Operator::FREE, false);
    let task =
        Task { operation, root, payload, displacements, order, ports, duplex, costs, operator };
    let ranks = task.ranks();
    Editable { task, segments: vec![0; ranks], programs: vec![Vec::new(); ranks] }
}

fn vector(ranks: usize, bytes: u64) -> Payload {
    Payload::Vector(Vector { ranks, bytes })
}

/// A broadcast along the chain `0, 1, …`, in pieces of one byte with a tag each.
pub(crate) fn pipelined_broadcast(ranks: usize, bytes: u64) -> Editable {
    let mut schedule = idle(Operation::Broadcast, 0, vector(ranks, bytes), 1);
    for rank in 0..ranks {
        for piece in 0..bytes {
            let at = place(Output, piece, 1);
            if rank > 0 {
                let step = EditableAction::receive(rank - 1, piece as u32, at.clone());
                schedule.programs[rank].push(step);
            }
            if rank + 1 < ranks {
                schedule.programs[rank].push(EditableAction::send(rank + 1, piece as u32, at));
            }
        }
    }
    schedule
}

/// The same, receiving each piece while sending the one before.
pub(crate) fn overlapped_broadcast(ranks: usize, bytes: u64) -> Editable {
    let mut schedule = idle(Operation::Broadcast, 0, vector(ranks, bytes), 1);
    for rank in 0..ranks {
        for round in 0..=bytes {
            let receive = (rank > 0 && round < bytes)
                .then(|| EditableAction::receive(rank - 1, 0, place(Output, round, 1)));
            let send = (rank + 1 < ranks && round > 0)
                .then(|| EditableAction::send(rank + 1, 0, place(Output, round - 1, 1)));
            schedule.programs[rank].extend(match (send, receive) {
                (Some(send), Some(receive)) => Some(EditableAction::exchange(send, receive)),
                (send, receive) => send.or(receive),
            });
        }
    }
    schedule
}

/// A broadcast of as many bytes as ranks: each gets one byte from the root, then all of them
/// pass on around a ring what they got last, everybody sending and receiving at once.
pub(crate) fn scatter_and_ring(ranks: usize) -> Editable {
    let mut schedule = idle(Operation::Broadcast, 0, vector(ranks, ranks as u64), 1);
    for rank in 1..ranks {
        schedule.programs[0].push(EditableAction::send(rank, 0, place(Output, rank as u64, 1)));
        schedule.programs[rank].push(EditableAction::receive(0, 0, place(Output, rank as u64, 1)));
    }
    for rank in 0..ranks {
        let (next, previous) = ((rank + 1) % ranks, (rank + ranks - 1) % ranks);
        for round in 0..ranks - 1 {
            let out = ((rank + ranks - round) % ranks) as u64;
            let new = ((previous + ranks - round) % ranks) as u64;
            let send = (next != 0).then(|| EditableAction::send(next, 1, place(Output, out, 1)));
            let receive =
                (rank != 0).then(|| EditableAction::receive(previous, 1, place(Output, new, 1)));
            schedule.programs[rank].extend(match (send, receive) {
                (Some(send), Some(receive)) => Some(EditableAction::exchange(send, receive)),
                (send, receive) => send.or(receive),
            });
        }
    }
    schedule
}

/// A reduction over four ranks in two halves, which meet at 1 and 2 and go on to root 0.
pub(crate) fn reduction_in_halves() -> Editable {
    let mut schedule = idle(Operation::Reduce, 0, vector(4, 6), 1);
    schedule.segments = vec![0, 6, 6, 0];
    let half = |buffer, index: u64| place(buffer, 3 * index, 3);
    let right = |step: EditableAction| step.combining(Arrival::CombineRight);
    schedule.programs[3] = vec![
        EditableAction::send(2, 0, half(Input, 0)),
        EditableAction::send(2, 0, half(Input, 1)),
    ];
    schedule.programs[2] = vec![
        right(EditableAction::receive(3, 0, half(Segment, 0))),
        EditableAction::exchange(
            EditableAction::send(1, 0, half(Segment, 0)),
            EditableAction::receive(3, 0, half(Segment, 1)),
        )
        .combining(Arrival::CombineRight),
        EditableAction::send(1, 1, half(Segment, 1)),
    ];
    schedule.programs[1] = vec![
        right(EditableAction::receive(2, 0, half(Segment, 0))),
        EditableAction::exchange(
            EditableAction::send(0, 0, half(Segment, 0)),
            EditableAction::receive(2, 1, half(Segment, 1)),
        )
        .combining(Arrival::CombineRight),
        EditableAction::send(0, 0, half(Segment, 1)),
    ];
    schedule.programs[0] = vec![
        right(EditableAction::receive(1, 0, half(Output, 0))),
        right(EditableAction::receive(1, 0, half(Output, 1))),
    ];
    schedule
}

/// A reduction over four ranks in which halves of the vector are exchanged between 0 and 1 and
/// between 2 and 3, combined, and brought together: reduce-scatter, then gather.
pub(crate) fn reduction_by_exchange() -> Editable {
    let mut schedule = idle(Operation::Reduce, 0, vector(4, 4), 1);
    schedule.segments = vec![0, 4, 4, 4];
    let half = |buffer, index: u64| place(buffer, 2 * index, 2);
    let held = [Output, Segment, Segment, Segment];
    for (rank, &held) in held.iter().enumerate() {
        let peer = rank ^ 1;
        let kept = (rank % 2) as u64;
        let side = if peer < rank { Arrival::CombineLeft } else { Arrival::CombineRight };
        schedule.programs[rank].push(
            EditableAction::exchange(
                EditableAction::send(peer, 0, half(held, 1 - kept)),
                EditableAction::receive(peer, 0, half(held, kept)),
            )
            .combining(side),
        );
    }
    for (rank, &held) in held[..2].iter().enumerate() {
        let kept = rank as u64;
        schedule.programs[rank + 2].push(EditableAction::send(rank, 1, half(Segment, kept)));
        let receive = EditableAction::receive(rank + 2, 1, half(held, kept));
        schedule.programs[rank].push(receive.combining(Arrival::CombineRight));
    }
    schedule.programs[1].push(EditableAction::send(0, 2, half(Segment, 1)));
    schedule.programs[0].push(EditableAction::receive(1, 2, half(Output, 1)));
    schedule
}

/// A reduce-scatter by recursive doubling among three ranks: 0 hands on what 2 has told it, and combines it then.
pub(crate) fn reduce_scatter_that_hands_on() -> Editable {
    let sizes = BlockSizes::new([2, 1, 1]).unwrap();
    let mut schedule = idle(Operation::ReduceScatter, 0, Payload::Blocks(sizes), 1);
    schedule.segments = vec![3, 0, 0];
    let right = |step: EditableAction| step.combining(Arrival::CombineRight);
    let left = |step: EditableAction| step.combining(Arrival::CombineLeft);
    let mut but_the_second = place(Output, 0, 2);
    but_the_second.pieces.push(Piece { offset: 3, bytes: 1 });
    let (waiting, received) = (place(Segment, 0, 3), place(Output, 0, 3));
    schedule.programs[0] = vec![
        right(EditableAction::exchange(
            EditableAction::send(1, 0, place(Output, 2, 2)),
            EditableAction::receive(1, 0, but_the_second.clone()),
        )),
        EditableAction::exchange(
            EditableAction::send(2, 0, place(Output, 3, 1)),
            EditableAction::receive(2, 0, waiting.clone()),
        ),
        EditableAction::send(1, 0, waiting.clone()),
        right(EditableAction::copy(waiting, received.clone())),
    ];
    schedule.programs[1] = vec![
        left(EditableAction::exchange(
            EditableAction::send(0, 0, but_the_second),
            EditableAction::receive(0, 0, place(Output, 2, 2)),
        )),
        right(EditableAction::receive(0, 0, received.clone())),
    ];
    schedule.programs[2] = vec![left(EditableAction::exchange(
        EditableAction::send(0, 0, received),
        EditableAction::receive(0, 0, place(Output, 3, 1)),
    ))];
    schedule
}

/// A gather in a star whose root has a port for each sender and copies meanwhile.
pub(crate) fn gather_on_many_ports(sizes: &[u64]) -> Editable {
    let blocks = BlockSizes::new(sizes.iter().copied()).unwrap();
    let ports = sizes.len() as u16;
    let mut schedule = idle(Operation::Gather, 0, Payload::Blocks(blocks.clone()), ports);
    for (rank, &bytes) in sizes.iter().enumerate().filter(|&(_, &bytes)| bytes > 0) {
        let into = place(Output, blocks.before(rank), bytes);
        let own = place(Input, 0, bytes);
        let step = if rank == 0 {
            EditableAction::copy(own, into)
        } else {
            schedule.programs[rank].push(EditableAction::send(0, 0, own));
            EditableAction::receive(rank, 0, into)
        };
        schedule.programs[0].push(step.on_port(rank as u16));
    }
    schedule
}

/// A gather along the chain `…, 2, 1, 0` in which relays pass block after block through a segment
/// of one block, which is overwritten each time.
pub(crate) fn gather_by_relays(ranks: usize) -> Editable {
    let blocks = BlockSizes::new(vec![2; ranks]).unwrap();
    let mut schedule = idle(Operation::Gather, 0, Payload::Blocks(blocks), 1);
    schedule.programs[0].push(EditableAction::copy(place(Input, 0, 2), place(Output, 0, 2)));
    for rank in 1..ranks {
        schedule.programs[rank].push(EditableAction::send(rank - 1, 0, place(Input, 0, 2)));
        if rank + 1 < ranks {
            schedule.segments[rank] = 2;
        }
        for _ in rank + 1..ranks {
            schedule.programs[rank].extend([
                EditableAction::receive(rank + 1, 0, place(Segment, 0, 2)),
                EditableAction::send(rank - 1, 0, place(Segment, 0, 2)),
            ]);
        }
        let into = place(Output, 2 * rank as u64, 2);
        schedule.programs[0].push(EditableAction::receive(1, 0, into));
    }
    schedule
}

/// A scatter of four blocks to two relays, which pass on one block each: 1 gets its own through a
/// copy, 2 straight into its output.
pub(crate) fn scatter_by_relays() -> Editable {
    let blocks = BlockSizes::new([1, 2, 3, 4, 5]).unwrap();
    let mut schedule = idle(Operation::Scatter, 0, Payload::Blocks(blocks), 2);
    schedule.segments = vec![0, 6, 5, 0, 0];
    schedule.programs[0] = vec![
        EditableAction::send(2, 7, place(Input, 10, 5)).on_port(1),
        EditableAction::copy(place(Input, 0, 1), place(Output, 0, 1)).on_port(1),
        EditableAction::send(1, 0, place(Input, 1, 5)),
        EditableAction::send(3, 0, place(Input, 6, 4)),
    ];
    schedule.programs[1] = vec![
        EditableAction::receive(0, 0, place(Segment, 1, 5)),
        EditableAction::copy(place(Segment, 1, 2), place(Output, 0, 2)).on_port(1),
        EditableAction::send(2, 0, place(Segment, 3, 3)),
    ];
    schedule.programs[2] = vec![
        EditableAction::receive(0, 7, place(Segment, 0, 5)),
        EditableAction::exchange(
            EditableAction::send(4, 0, place(Segment, 0, 5)),
            EditableAction::receive(1, 0, place(Output, 0, 3)),
        ),
    ];
    schedule.programs[3] = vec![EditableAction::receive(0, 0, place(Output, 0, 4))];
    schedule.programs[4] = vec![EditableAction::receive(2, 0, place(Output, 0, 5))];
    schedule
}

/// An allgather around a ring: everybody passes on what it got last.
pub(crate) fn allgather_around_a_ring(sizes: &[u64]) -> Editable {
    let (blocks, p) = (BlockSizes::new(sizes.iter().copied()).unwrap(), sizes.len());
    let mut schedule = idle(Operation::Allgather, 0, Payload::Blocks(blocks.clone()), 1);
    for rank in 0..p {
        for round in 0..p - 1 {
            let own = |block| place(Output, blocks.before(block), blocks.block(block));
            let (out, new) = ((rank + p - round) % p, (rank + 2 * p - round - 1) % p);
            let send = Some(out).filter(|&out| blocks.block(out) > 0);
            let send = send.map(|out| EditableAction::send((rank + 1) % p, 0, own(out)));
            let receive = Some(new).filter(|&new| blocks.block(new) > 0);
            let receive =
                receive.map(|new| EditableAction::receive((rank + p - 1) % p, 0, own(new)));
            schedule.programs[rank].extend(match (send, receive) {
                (Some(send), Some(receive)) => Some(EditableAction::exchange(send, receive)),
                (send, receive) => send.or(receive),
            });
        }
    }
    schedule
}

/// An allreduce of four ranks that exchange and combine whole vectors with one neighbour, then another.
pub(crate) fn allreduce_by_doubling() -> Editable {
    let mut schedule = idle(Operation::Allreduce, 0, vector(4, 3), 1);
    for rank in 0..4_usize {
        for mask in [1, 2] {
            let peer = rank ^ mask;
            let side = if peer < rank { Arrival::CombineLeft } else { Arrival::CombineRight };
            let whole = || place(Output, 0, 3);
            let step = EditableAction::exchange(
                EditableAction::send(peer, 0, whole()),
                EditableAction::receive(peer, 0, whole()),
            );
            schedule.programs[rank].push(step.combining(side));
        }
    }
    schedule
}

/// An allreduce of three ranks by a reduction to 0 in a segment, and a star back.
pub(crate) fn allreduce_by_a_root() -> Editable {
    let mut schedule = idle(Operation::Allreduce, 0, vector(3, 2), 2);
    schedule.segments = vec![0, 2, 0];
    let right = |step: EditableAction| step.combining(Arrival::CombineRight);
    schedule.programs[2] = vec![
        EditableAction::send(1, 0, place(Input, 0, 2)),
        EditableAction::receive(0, 0, place(Output, 0, 2)),
    ];
    schedule.programs[1] = vec![
        right(EditableAction::receive(2, 0, place(Segment, 0, 2))),
        EditableAction::send(0, 0, place(Segment, 0, 2)),
        EditableAction::receive(0, 0, place(Output, 0, 2)),
    ];
    schedule.programs[0] = vec![
        right(EditableAction::receive(1, 0, place(Output, 0, 2))),
        EditableAction::send(1, 0, place(Output, 0, 2)),
        EditableAction::send(2, 0, place(Output, 0, 2)).on_port(1),
    ];
    schedule
}

/// A reduce-scatter in which each sends each other its block.
pub(crate) fn reduce_scatter_in_pairs(sizes: &[u64]) -> Editable {
    let (blocks, p) = (BlockSizes::new(sizes.iter().copied()).unwrap(), sizes.len());
    let mut schedule = idle(Operation::ReduceScatter, 0, Payload::Blocks(blocks.clone()), 1);
    schedule.task.order = Order::Any;
    for rank in 0..p {
        for round in 1..p {
            let (to, from) = ((rank + round) % p, (rank + p - round) % p);
            let block = |buffer, one| place(buffer, blocks.before(one), blocks.block(one));
            let send =
                (blocks.block(to) > 0).then(|| EditableAction::send(to, 0, block(Input, to)));
            let receive = (blocks.block(rank) > 0)
                .then(|| EditableAction::receive(from, 0, block(Output, rank)));
            let step = match (send, receive) {
                (Some(send), Some(receive)) => Some(EditableAction::exchange(send, receive)),
                (send, receive) => send.or(receive),
            };
            schedule.programs[rank].extend(step.map(|step| match step.receive {
                Some(_) => step.combining(Arrival::CombineRight),
                None => step,
            }));
        }
    }
    schedule
}

/// An alltoall of three ranks in which 1 passes on what 0 has for 2, with what it has itself.
pub(crate) fn alltoall_by_a_relay() -> Editable {
    let sizes = MessageSizes::new([1, 2, 1, 0, 2, 1, 1, 1, 0]).unwrap();
    let mut schedule = idle(Operation::Alltoall, 0, sizes.into(), 1);
    schedule.segments = vec![0, 1, 0];
    // Columns have 2, 5 and 2 bytes, rows 4, 3 and 2.
    schedule.programs[0] = vec![EditableAction::exchange(
        EditableAction::send(1, 0, place(Input, 1, 3)),
        EditableAction::receive(2, 0, place(Output, 1, 1)),
    )];
    let mut both = place(Output, 0, 2);
    both.pieces.extend(place(Output, 8, 1).pieces);
    let mut passed = place(Output, 8, 1);
    passed.pieces.extend(place(Output, 7, 1).pieces);
    schedule.programs[1] = vec![
        EditableAction::receive(0, 0, both),
        EditableAction::exchange(
            EditableAction::send(2, 0, passed),
            EditableAction::receive(2, 0, place(Output, 4, 1)),
        ),
    ];
    schedule.programs[2] = vec![
        EditableAction::send(0, 0, place(Input, 0, 1)),
        EditableAction::exchange(
            EditableAction::send(1, 0, place(Input, 1, 1)),
            EditableAction::receive(1, 0, place(Output, 0, 2)),
        ),
    ];
    schedule
}

/// An allgather in which 0 relays, in pieces of several places, and sends an own block as it was given.
pub(crate) fn allgather_by_a_relay() -> Editable {
    let blocks = BlockSizes::new([2, 3, 1]).unwrap();
    let mut schedule = idle(Operation::Allgather, 0, Payload::Blocks(blocks), 2);
    schedule.segments = vec![0, 3, 0];
    schedule.programs[0] = vec![
        EditableAction::receive(1, 0, place(Output, 2, 3)),
        EditableAction::receive(2, 0, place(Output, 5, 1)).on_port(1),
        EditableAction::send(1, 1, place(Output, 5, 1)),
        EditableAction::send(1, 2, place(Input, 0, 2)),
        EditableAction::send(2, 0, place(Output, 0, 5)).on_port(1),
    ];
    schedule.programs[1] = vec![
        EditableAction::send(0, 0, place(Input, 0, 3)),
        EditableAction::receive(0, 1, place(Segment, 2, 1)),
        EditableAction::receive(0, 2, place(Output, 0, 2)),
        EditableAction::copy(place(Segment, 2, 1), place(Output, 5, 1)),
    ];
    schedule.programs[2] = vec![
        EditableAction::send(0, 0, place(Output, 5, 1)),
        EditableAction::receive(0, 0, place(Output, 0, 5)),
    ];
    schedule
}

/// An allgather between ranks 0 and 1 and ranks 2, 3 and 4, the last of which has nothing: the first rank of each
/// group collects its blocks, both exchange them, and each hands on what it got.
pub(crate) fn intergroup_allgather_by_two_roots() -> Editable {
    let sizes = GroupSizes::new(BlockSizes::new([2, 1, 1, 3, 0]).unwrap(), 2).unwrap();
    let mut schedule = idle(Operation::IntergroupAllgather, 0, Payload::Groups(sizes), 1);
    schedule.segments = vec![3, 0, 4, 0, 0];
    schedule.programs[0] = vec![
        EditableAction::receive(1, 0, place(Segment, 2, 1)),
        EditableAction::exchange(
            EditableAction::send(2, 0, place(Segment, 0, 3)),
            EditableAction::receive(2, 0, place(Output, 0, 4)),
        ),
        EditableAction::send(1, 0, place(Output, 0, 4)),
    ];
    schedule.programs[1] = vec![
        EditableAction::send(0, 0, place(Input, 0, 1)),
        EditableAction::receive(0, 0, place(Output, 0, 4)),
    ];
    schedule.programs[2] = vec![
        EditableAction::receive(3, 0, place(Segment, 1, 3)),
        EditableAction::exchange(
            EditableAction::send(0, 0, place(Segment, 0, 4)),
            EditableAction::receive(0, 0, place(Output, 0, 3)),
        ),
        EditableAction::send(3, 0, place(Output, 0, 3)),
        EditableAction::send(4, 0, place(Output, 0, 3)),
    ];
    schedule.programs[3] = vec![
        EditableAction::send(2, 0, place(Input, 0, 3)),
        EditableAction::receive(2, 0, place(Output, 0, 3)),
    ];
    schedule.programs[4] = vec![EditableAction::receive(2, 0, place(Output, 0, 3))];
    schedule
}

/// All of them, small.
pub(crate) fn all() -> Vec<Editable> {
    vec![
        pipelined_broadcast(4, 3),
        overlapped_broadcast(4, 3),
        scatter_and_ring(4),
        reduction_in_halves(),
        reduction_by_exchange(),
        gather_on_many_ports(&[2, 0, 3, 1]),
        gather_by_relays(4),
        scatter_by_relays(),
        allgather_around_a_ring(&[2, 0, 1, 3]),
        allgather_by_a_relay(),
        allreduce_by_doubling(),
        allreduce_by_a_root(),
        reduce_scatter_in_pairs(&[2, 0, 1]),
        reduce_scatter_that_hands_on(),
        alltoall_by_a_relay(),
        intergroup_allgather_by_two_roots(),
    ]
}
