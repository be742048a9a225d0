//! The bound for operations without a root: what every rank is busy with in any case.

use super::circulated;
use super::spread::{Nodes, known_at, known_on_nodes};
use std::borrow::Cow;
use std::ops::RangeInclusive;
use tuwtree_model::{
    CostModel, Direction, MessageSizes, NodeWires, Operation, Ports, Problem, Rank, Root, Time,
    TimeError,
};

/// The lower bound on all schedules of an operation without a root. 0 where there is no data.
///
/// Allgather: the rank with the smallest block receives all others, in at least one message, through any number of
/// ports. Reduce-scatter: rank `r` sends its contributions to all blocks but its own. Allreduce: every rank sends and
/// receives as many bytes as the vector has.
///
/// Alltoall: every rank sends all of its messages to other ranks, and receives all of theirs; numbers of nonempty
/// messages double likewise.
///
/// Intergroup allgather: every rank receives all blocks of the other group, and these reach all ranks there.
///
/// A byte reaches everybody, or comes together from everybody: with `k` ports the number of ranks that
/// know of it is at most `k + 1` times as large after the start-up of the fastest message; where latency overlaps, it
/// grows by those whom messages have reached, and on nodes that share wires by what messages between nodes have reached. Ranks send and receive at the same time.
///
/// Where exchanges have costs of their own, every message is taken to cost the smaller alpha and the smaller beta.
///
/// Nothing occupies its receiver's port before the least latency, nor its sender's in the last one.
///
/// Where the ranks of a node share a wire, all that they lack comes through it, and all that others lack of theirs leaves
/// through it. Bytes that a rank has from a mate occupy its port instead, and both are counted together
/// ([`NodeWires::least_time`]).
///
/// Reductions besides: all ranks together combine each byte `p - 1` times and receive it
/// `p - 1` times in a reduce-scatter, twice as often in an allreduce; the port that receives it also combines it, and
/// one is busy with at least an equal share.
///
/// # Errors
/// As [`lower_bound`](super::lower_bound).
///
/// # Complexity
/// O(p) for homogeneous costs, else O(p^2).
///
/// # Source
/// The number of ranks that know a block doubles: Bruck et al. 1997, section 1. How often bytes of an
/// allreduce are sent: Patarasuk, Yuan 2009.
pub(super) fn bound(problem: &Problem) -> Result<Time, TimeError> {
    let problem = &*at_cheapest(problem);
    let (total, ranks) = (problem.payload().total(), problem.ranks());
    if total == 0 {
        return Ok(Time::ZERO);
    }
    let others = |rank: Rank| total - problem.payload().own(rank);
    let busy = match problem.operation() {
        Operation::ReduceScatter => busy_with(problem, Direction::Send, others)?,
        Operation::Allreduce => {
            let received = busy_with(problem, Direction::Receive, |_| total)?;
            busy_with(problem, Direction::Send, |_| total)?.later(received)
        }
        Operation::Gather | Operation::Scatter | Operation::Broadcast | Operation::Reduce => {
            unreachable!("these have a root")
        }
        Operation::Allgather => busy_with(problem, Direction::Receive, others)?,
        Operation::Alltoall => return of_alltoall(problem),
        Operation::IntergroupAllgather => return of_groups(problem),
    };
    let own = |rank: Rank| match problem.operation() {
        Operation::Allreduce => 0,
        _ => problem.payload().own(rank),
    };
    let busy = busy.later(through_wires(problem, total, own)?);
    let busy = busy.later(reach(problem, ranks)?);
    let joint = problem.blocks().and_then(|sizes| circulated::bound(problem, sizes, busy));
    let busy = joint.map_or(busy, |joint| busy.later(joint));
    let sent = match problem.operation() {
        Operation::ReduceScatter => 1.0,
        Operation::Allreduce => 2.0,
        _ => return Ok(busy),
    };
    let senders = (0..ranks).filter(|&rank| sent > 1.0 || others(rank) > 0).count();
    let shared = shared_work(problem, sent, senders)?;
    Ok(busy.later(shared))
}

/// The lower bound on all schedules of a broadcast or reduction, also schedules that cut the vector into pieces; 0
/// without data. A free root is taken to be rank 0.
///
/// Everybody but the root receives, or sends, the vector in at least one message, and a byte reaches everybody as
/// in an operation without a root. All ranks together receive each byte of a reduction `p - 1` times and combine it as often,
/// and one is busy with at least an equal share.
///
/// # Errors
/// As [`lower_bound`](super::lower_bound).
///
/// # Panics
/// For other operations.
///
/// # Complexity
/// O(p) for homogeneous costs, else O(p^2).
pub fn lower_bound_in_pieces(problem: &Problem) -> Result<Time, TimeError> {
    let problem = &*at_cheapest(problem);
    let total = problem.payload().total();
    if total == 0 || problem.ranks() == 1 {
        return Ok(Time::ZERO);
    }
    let root = match problem.root() {
        Root::Given(root) => root,
        Root::Best | Root::None => 0,
    };
    let moved = |rank: Rank| if rank == root { 0 } else { total };
    let wires = through_wires(problem, total, |rank| total - moved(rank))?;
    let reached = reach(problem, problem.ranks())?.later(wires);
    match problem.operation() {
        Operation::Broadcast => Ok(reached.later(busy_with(problem, Direction::Receive, moved)?)),
        Operation::Reduce => {
            let busy = busy_with(problem, Direction::Send, moved)?;
            let shared = shared_work(problem, 1.0, problem.ranks() - 1)?;
            Ok(reached.later(busy).later(shared))
        }
        operation => unreachable!("{operation:?} moves no vector from or to a root"),
    }
}

/// The bound for an alltoall with some data.
fn of_alltoall(problem: &Problem) -> Result<Time, TimeError> {
    let Some(sizes) = problem.messages() else { return Ok(Time::ZERO) };
    let ranks = sizes.ranks();
    let own = |rank: Rank| sizes.message(rank, rank);
    let sent = busy_with(problem, Direction::Send, |rank| sizes.row(rank) - own(rank))?;
    let received = busy_with(problem, Direction::Receive, |rank| sizes.column(rank) - own(rank))?;
    let known = (0..ranks)
        .map(|rank| {
            let others = || (0..ranks).filter(|&other| other != rank);
            let to = others().filter(|&other| sizes.message(rank, other) > 0).count();
            let from = others().filter(|&other| sizes.message(other, rank) > 0).count();
            to.max(from) + 1
        })
        .max();
    let wires = through_wires_of_messages(problem, sizes, 1..=sizes.total())?;
    Ok(sent.later(received).later(wires).later(reach(problem, known.unwrap_or(1))?))
}

/// The bound by the wires that the ranks of a node share, for an operation of which each node's ranks lack, or others
/// lack of theirs, all but the sum of `own`; 0 without such wires.
fn through_wires(
    problem: &Problem,
    total: u64,
    own: impl Fn(Rank) -> u64,
) -> Result<Time, TimeError> {
    let Some(machine) = problem.costs().hierarchy() else { return Ok(Time::ZERO) };
    let mut loads = vec![NodeLoad::default(); machine.nodes_of(problem.ranks())];
    for rank in 0..problem.ranks() {
        let load = &mut loads[machine.node(rank)];
        load.ranks += 1;
        let [lacking, kept] = &mut load.crossing;
        *kept += own(rank);
        *lacking = total - *kept;
        load.moved[0] += u128::from(total - own(rank));
    }
    let is_alone = |load: &NodeLoad| load.ranks == problem.ranks();
    if loads.iter().any(is_alone) {
        return Ok(Time::ZERO);
    }
    on_wires(problem, &loads, 1..=problem.payload().total())
}

/// The bound by shared wires for an alltoall in messages of these sizes: bytes that leave, or come to, one node.
fn through_wires_of_messages(
    problem: &Problem,
    sizes: &MessageSizes,
    sent: RangeInclusive<u64>,
) -> Result<Time, TimeError> {
    let Some(machine) = problem.costs().hierarchy() else { return Ok(Time::ZERO) };
    let mut loads = vec![NodeLoad::default(); machine.nodes_of(problem.ranks())];
    for from in 0..sizes.ranks() {
        loads[machine.node(from)].ranks += 1;
        for to in (0..sizes.ranks()).filter(|&to| to != from) {
            let (nodes, bytes) = ([machine.node(to), machine.node(from)], sizes.message(from, to));
            for (side, node) in nodes.into_iter().enumerate() {
                loads[node].moved[side] += u128::from(bytes);
                loads[node].crossing[side] += if nodes[0] == nodes[1] { 0 } else { bytes };
            }
        }
    }
    on_wires(problem, &loads, sent)
}

/// Least bytes of the ranks of a node, one way and the other.
#[derive(Clone, Copy, Debug, Default)]
struct NodeLoad {
    ranks: usize,
    /// From, or to, other nodes.
    crossing: [u64; 2],
    /// At all ranks together; 0 where not known.
    moved: [u128; 2],
}

/// The bound by shared wires for nodes with these loads, in messages of these sizes; 0 without such wires.
fn on_wires(
    problem: &Problem,
    loads: &[NodeLoad],
    sent: RangeInclusive<u64>,
) -> Result<Time, TimeError> {
    let Some(wires) = NodeWires::new(problem, sent)? else { return Ok(Time::ZERO) };
    let mut most = 0.0_f64;
    for load in loads.iter().filter(|load| load.ranks > 0) {
        for (crossing, moved) in load.crossing.into_iter().zip(load.moved) {
            let moved = moved.max(u128::from(crossing));
            if moved > 0 {
                most = most.max(wires.least_time(load.ranks, crossing as f64, moved as f64));
            }
        }
    }
    Time::new(most * (1.0 - ROUNDING)).ok_or(TimeError::NotFinite)
}

/// The lower bound on all schedules of an alltoall in which each message goes straight from its sender to its receiver,
/// through one port: what the rank takes that has most to send or to receive, one message after the other, or a wire that the
/// ranks of a node share. `None` for other operations; 0 where there is no data.
///
/// Without overlapping latency preemption attains it: the messages are an open shop.
///
/// # Errors
/// As [`lower_bound`](super::lower_bound).
///
/// # Complexity
/// O(p^2).
///
/// # Source
/// T. Gonzalez, S. Sahni, "Open shop scheduling to minimize finish time", JACM 23(4), 1976.
///
/// # Example
/// Rank 0 sends 4 and 6 bytes, which takes 14 + 16.
/// ```
/// use tuwtree_bounds::direct_lower_bound;
/// use tuwtree_model::{Homogeneous, MessageSizes, Operation, Problem};
/// let sizes = MessageSizes::new([9, 4, 6, 0, 0, 0, 0, 1, 0]).unwrap();
/// let costs = Homogeneous::new(10.0, 1.0, 0.0).unwrap();
/// let problem = Problem::new(Operation::Alltoall, sizes, costs).unwrap();
/// assert_eq!(direct_lower_bound(&problem).unwrap().unwrap().units(), 30.0);
/// ```
pub fn direct_lower_bound(problem: &Problem) -> Option<Result<Time, TimeError>> {
    let problem = &*at_cheapest(problem);
    problem.messages().map(|sizes| of_direct_messages(problem, sizes))
}

/// The problem at costs that neither a lone message nor one of an exchange is cheaper than.
fn at_cheapest(problem: &Problem) -> Cow<'_, Problem> {
    match problem.costs().parameters().filter(|costs| costs.has_exchange_costs()) {
        Some(costs) => {
            let cheapest = problem.with_costs(costs.cheapest());
            Cow::Owned(cheapest.expect("costs for any number of ranks"))
        }
        None => Cow::Borrowed(problem),
    }
}

fn of_direct_messages(problem: &Problem, sizes: &MessageSizes) -> Result<Time, TimeError> {
    let (costs, p) = (problem.costs(), sizes.ranks());
    // What each rank sends, and receives: the shortest latency, and what occupies its port.
    let mut busy = vec![(None::<Time>, Time::ZERO); 2 * p];
    for from in 0..p {
        for to in (0..p).filter(|&to| to != from && sizes.message(from, to) > 0) {
            let bytes = sizes.message(from, to);
            let latency = costs.latency_between(from, to, bytes)?;
            let occupied = costs.transmission_between(from, to, bytes)?;
            for end in [from, p + to] {
                let (least, sum) = &mut busy[end];
                *least = Some(least.map_or(latency, |least| least.min(latency)));
                *sum = costs.sum(*sum, occupied)?;
            }
        }
    }
    let mut most = Time::ZERO;
    for (latency, occupied) in busy {
        most = most.later(costs.sum(latency.unwrap_or(Time::ZERO), occupied)?);
    }
    let all = || sizes.iter().filter(|&bytes| bytes > 0);
    match all().min().zip(all().max()) {
        Some((least, largest)) => {
            Ok(most.later(through_wires_of_messages(problem, sizes, least..=largest)?))
        }
        None => Ok(most),
    }
}

/// The bound for an intergroup allgather with some data: everybody receives all of the other group, and a byte of
/// a group reaches all of the other, none of whom has it.
fn of_groups(problem: &Problem) -> Result<Time, TimeError> {
    let Some(sizes) = problem.groups() else { return Ok(Time::ZERO) };
    let received = |rank| sizes.other_group(rank).bytes;
    let [first, second] = sizes.groups();
    let reached = [(first, second), (second, first)]
        .map(|(from, to)| if from.bytes > 0 { 1 + to.ranks } else { 1 });
    let busy = busy_with(problem, Direction::Receive, received)?;
    Ok(busy.later(reach(problem, reached[0].max(reached[1]))?))
}

/// Earliest completion of a rank that sends, or receives, this many bytes through all of its ports.
fn busy_with(
    problem: &Problem,
    direction: Direction,
    bytes: impl Fn(Rank) -> u64,
) -> Result<Time, TimeError> {
    let (costs, ranks) = (problem.costs(), problem.ranks());
    let mut most = Time::ZERO;
    for rank in 0..ranks {
        let all = costs.least_busy(direction, rank, ranks, bytes(rank))?;
        let shared = Time::new(all.units() / f64::from(problem.ports().get()));
        most = most.later(shared.expect("a share of a time"));
    }
    match most {
        Time::ZERO => Ok(Time::ZERO),
        _ => costs.sum(least_latency(problem), most),
    }
}

/// The least latency of any message that there may be; 0 where nothing overlaps.
fn least_latency(problem: &Problem) -> Time {
    let (costs, total) = (problem.costs().kind(), problem.payload().total());
    let latency = match costs.overlaps() {
        true => costs.least_costs(problem.ranks(), 1..=total).latency(),
        false => 0.0,
    };
    // Where there are no links at all, other bounds fail.
    Time::new(latency).unwrap_or(Time::ZERO)
}

/// Earliest time by which a byte can reach this many ranks, or come together from them, the own
/// rank included.
fn reach(problem: &Problem, known: usize) -> Result<Time, TimeError> {
    let (costs, ranks) = (problem.costs(), problem.ranks());
    let receives = |rank| costs.least_busy(Direction::Receive, rank, ranks, 1);
    let start_up = match costs.homogeneous(ranks) {
        Some(costs) => costs.overhead(),
        None => (0..ranks)
            .map(receives)
            .reduce(|least, next| Ok(least?.min(next?)))
            .expect("a problem has at least one rank")?
            .units(),
    };
    let latency = least_latency(problem).units();
    let time = known_at(known, latency, start_up, problem.ports().get())?;
    let time = time.later(reach_on_nodes(problem, known)?);
    // Sums without latencies are those that a simulation makes, of terms that are no larger.
    let kept = match costs.is_integral() || !costs.overlaps() {
        true => time,
        false => Time::new(time.units() * (1.0 - ROUNDING)).expect("a part of a time"),
    };
    costs.sum(Time::ZERO, kept)
}

/// Earliest time by which a byte can reach this many ranks, or come together from them, on nodes that share a wire; 0 without
/// such wires.
fn reach_on_nodes(problem: &Problem, known: usize) -> Result<Time, TimeError> {
    let (ranks, total) = (problem.ranks(), problem.payload().total());
    let wires = NodeWires::new(problem, 1..=total)?;
    let Some((wires, machine)) = wires.zip(problem.costs().hierarchy()) else {
        return Ok(Time::ZERO);
    };
    let mut members = vec![0_usize; machine.nodes_of(ranks)];
    (0..ranks).for_each(|rank| members[machine.node(rank)] += 1);
    let most = members.iter().copied().max().unwrap_or(1);
    let nodes = match known == ranks {
        true => members.iter().filter(|&&members| members > 0).count(),
        false => known.div_ceil(most),
    };
    let places = Nodes { nodes, most_ranks: most, ranks: known };
    known_on_nodes(places, (wires.least(), wires.least_between()), problem.ports().get())
}

/// The latency, and an equal share of all receiving and combining of a reduction, at homogeneous costs with an overhead
/// for each of this many senders; every byte is received `sent (p - 1)` times. With other costs each byte is received as fast as
/// in the cheapest message; with several ports, 0.
///
/// Received data occupies one port, which then combines it, even if that port sends as well.
fn shared_work(problem: &Problem, sent: f64, senders: usize) -> Result<Time, TimeError> {
    let ranks = problem.ranks();
    if problem.ports() != Ports::ONE {
        return Ok(Time::ZERO);
    }
    let homogeneous = problem.costs().homogeneous(ranks);
    let combine = problem.operator().combine_per_byte();
    let bytes = (ranks - 1) as f64 * problem.payload().total() as f64;
    let (overheads, beta) = match &homogeneous {
        Some(costs) => (costs.overhead() * senders as f64, costs.beta()),
        None => (0.0, least_per_byte(problem)),
    };
    let work = overheads + bytes * (sent * beta + combine);
    let share = work / ranks as f64;
    let share = if work > 0.0 { least_latency(problem).units() + share } else { share };
    let is_exact = homogeneous.is_some_and(|costs| costs.is_integral()) && combine.fract() == 0.0;
    // All times are integers then; else, what summing up may round is left off.
    let share = if is_exact { share.ceil() } else { share * (1.0 - ROUNDING) };
    Time::new(share).ok_or(TimeError::NotFinite)
}

/// The least time of a byte in any message.
fn least_per_byte(problem: &Problem) -> f64 {
    let (costs, total) = (problem.costs().kind(), problem.payload().total());
    let lines = costs.least_costs(problem.ranks(), 1..=total).lines_below();
    lines.iter().map(|line| line.beta).fold(0.0, f64::max)
}

/// Relative rounding error of sums of times, at most.
pub(super) const ROUNDING: f64 = 1e-9;

#[cfg(test)]
mod tests {
    use crate::{best_lower_bound, lower_bound};
    use tuwtree_model::{
        BlockSizes, Homogeneous, Operation, Operator, Payload, Ports, Problem, Vector,
    };

    fn bound(sizes: &[u64], alpha: f64, ports: u16) -> f64 {
        let sizes = BlockSizes::new(sizes.iter().copied()).unwrap();
        let costs = Homogeneous::new(alpha, 1.0, 1.0).unwrap();
        let problem = Problem::allgather(&sizes, costs).unwrap();
        let problem = problem.with_ports(Ports::new(ports).unwrap());
        assert_eq!(lower_bound(&problem), best_lower_bound(&problem));
        best_lower_bound(&problem).unwrap().units()
    }

    #[test]
    fn everybody_receives_all_others_blocks() {
        // The owner of nothing receives 6 in two messages: in one, it would wait for whoever collects 6.
        assert_eq!(bound(&[4, 0, 2], 10.0, 1), 26.0);
        // 23 bytes, which no two messages can bring.
        assert_eq!(bound(&[5, 1, 7, 3, 2, 6], 2.0, 1), 29.0);
        assert_eq!(bound(&[8, 8, 8, 8], 0.0, 2), 12.0);
        assert_eq!(bound(&[8], 10.0, 1), 0.0);
    }

    #[test]
    fn equal_blocks_of_a_power_of_two_of_ranks_take_no_less_than_recursive_doubling() {
        for (rounds, block, alpha) in [(1, 7, 10), (2, 1, 100), (3, 40, 9), (4, 1000, 100)] {
            let sizes = vec![block; 1 << rounds];
            let time = f64::from(rounds * alpha) + ((sizes.len() - 1) as u64 * block) as f64;
            assert_eq!(bound(&sizes, f64::from(alpha), 1), time);
        }
    }

    #[test]
    fn a_block_reaches_twice_as_many_with_each_message() {
        assert_eq!(bound(&[0, 0, 1, 0, 0], 10.0, 1), 30.0);
        assert_eq!(bound(&[0, 0, 1, 0, 0], 10.0, 2), 20.0);
        assert_eq!(bound(&[0, 0, 0, 0, 0], 10.0, 1), 0.0);
    }

    /// The bound for a reduction at alpha 10, beta 1 and kappa.
    fn of_reduction(operation: Operation, payload: impl Into<Payload>, kappa: f64) -> f64 {
        let costs = Homogeneous::new(10.0, 1.0, 1.0).unwrap();
        let problem = Problem::new(operation, payload, costs).unwrap();
        let operator = Operator::new(1, kappa).unwrap();
        best_lower_bound(&problem.with_operator(operator).unwrap()).unwrap().units()
    }

    #[test]
    fn whoever_reduces_sends_what_others_need_and_combines_its_share() {
        let sizes = |sizes: &[u64]| BlockSizes::new(sizes.iter().copied()).unwrap();
        // The owner of nothing sends 6 in two messages; three senders share 24 sent and 24 combined bytes.
        assert_eq!(of_reduction(Operation::ReduceScatter, sizes(&[4, 0, 2]), 0.0), 26.0);
        assert_eq!(of_reduction(Operation::ReduceScatter, sizes(&[4, 4, 4]), 2.0), 10.0 + 24.0);
        assert_eq!(of_reduction(Operation::ReduceScatter, sizes(&[0, 0, 0]), 1.0), 0.0);
        let vector = |ranks, bytes| Vector { ranks, bytes };
        assert_eq!(of_reduction(Operation::Allreduce, vector(8, 24), 1.0), 10.0 + 63.0);
        assert_eq!(of_reduction(Operation::Allreduce, vector(8, 1), 0.0), 30.0);
        assert_eq!(of_reduction(Operation::Allreduce, vector(1, 24), 1.0), 0.0);
    }
}
