//! Variants with messages of one piece, which take copies, and the reduce-scatter that libraries had before.

use super::{Build, time};
use tuwtree_bounds::best_lower_bound;
use tuwtree_collective::{alltoall, bruck, bruck_contiguous, reduce_scatter};
use tuwtree_model::{BlockSizes, Homogeneous, MessageSizes, Operation, Operator, Payload, Problem};
use tuwtree_schedule::{Deed, Order, Schedule, document, verify};

const ALPHA: f64 = 10.0;
const BETA: f64 = 2.0;
const GAMMA: f64 = 3.0;
const KAPPA: f64 = 5.0;

fn problem(operation: Operation, payload: impl Into<Payload>) -> Problem {
    let costs = Homogeneous::new(ALPHA, BETA, GAMMA).unwrap();
    let problem = Problem::new(operation, payload, costs).unwrap();
    match operation.is_reduction() {
        true => problem.with_operator(Operator::new(1, KAPPA).unwrap()).unwrap(),
        false => problem,
    }
}

fn blocks(p: usize, size: impl Fn(usize) -> u64) -> BlockSizes {
    BlockSizes::new((0..p).map(size)).unwrap()
}

fn messages(p: usize, size: impl Fn(usize) -> u64) -> MessageSizes {
    MessageSizes::new((0..p * p).map(size).collect::<Vec<u64>>()).unwrap()
}

/// What is built, verified, on ports of both kinds, written and read.
fn checked(problem: &Problem, build: Build) -> Schedule {
    let schedule = build(problem).unwrap();
    for schedule in [schedule.clone(), build(&problem.with_duplex(true)).unwrap()] {
        let verified = verify(&schedule).unwrap_or_else(|fault| panic!("{problem:?}: {fault}"));
        assert_eq!(verified.order, Order::Ordered, "{problem:?}");
    }
    assert!(time(&schedule, problem) >= best_lower_bound(problem).unwrap().units());
    let mut text = Vec::new();
    document::write(&schedule, &mut text).unwrap();
    assert_eq!(document::read(&text[..]).unwrap(), schedule);
    schedule
}

/// Whether all that is sent and received lies in one piece.
fn is_contiguous(schedule: &Schedule) -> bool {
    let mut ranks = 0..schedule.ranks();
    ranks.all(|rank| {
        schedule.programs().actions(rank).all(|action| {
            let sent = action.send().map_or(1, |send| send.from.pieces.len());
            let received = action.receive().map_or(1, |receive| receive.into.pieces.len());
            (sent, received) == (1, 1)
        })
    })
}

/// All bytes that a rank copies.
fn copied(schedule: &Schedule, rank: usize) -> u64 {
    let copies = schedule.programs().actions(rank).filter_map(|action| match action.deed {
        Deed::Copy { from, .. } => Some(from.bytes()),
        _ => None,
    });
    copies.sum()
}

#[test]
fn an_allgather_in_the_order_received_copies_all_blocks_once() {
    for p in 1..=64 {
        let c = 7.0;
        let problem = problem(Operation::Allgather, blocks(p, |_| 7));
        let schedule = checked(&problem, bruck_contiguous);
        let rounds = f64::from(p.next_power_of_two().ilog2());
        let n = p as f64 * c;
        let copies = if p == 1 { 0.0 } else { n * GAMMA };
        assert_eq!(time(&schedule, &problem), rounds * ALPHA + (n - c) * BETA + copies, "{p}");
    }
}

#[test]
fn contiguous_variants_are_right_for_blocks_of_any_size() {
    for p in 1..=64 {
        for empty in [2, 3, 5] {
            let size = |rank: usize| if rank % empty == 1 { 0 } else { rank as u64 * 5 % 11 };
            let gathered = problem(Operation::Allgather, blocks(p, size));
            let schedule = checked(&gathered, bruck_contiguous);
            assert!(is_contiguous(&schedule), "{p}");
            if p > 1 {
                let all = gathered.payload().total();
                assert!((0..p).all(|rank| copied(&schedule, rank) == all), "{p}");
            }
            let free = gathered.with_costs(Homogeneous::new(ALPHA, BETA, 0.0).unwrap()).unwrap();
            let found = [bruck, bruck_contiguous].map(|build| time(&build(&free).unwrap(), &free));
            assert_eq!(found[0], found[1], "{p}");
        }
    }
    for p in (1..=16).chain([23, 33, 64]) {
        let sent = problem(Operation::Alltoall, messages(p, |at| (at * at % 7) as u64 / 2));
        let schedule = checked(&sent, alltoall::bruck_contiguous);
        assert!(is_contiguous(&schedule), "{p}");
        let free = sent.with_costs(Homogeneous::new(ALPHA, BETA, 0.0).unwrap()).unwrap();
        let in_pieces: Build = |problem| alltoall::bruck(problem, 2);
        let found = [in_pieces, alltoall::bruck_contiguous];
        let found = found.map(|build| time(&build(&free).unwrap(), &free));
        assert_eq!(found[0], found[1], "{p}");
    }
}

#[test]
fn an_alltoall_of_one_piece_copies_each_byte_twice_in_each_round() {
    for p in 1..=64_usize {
        let problem = problem(Operation::Alltoall, messages(p, |_| 3));
        let schedule = checked(&problem, alltoall::bruck_contiguous);
        let hops: u32 = (0..p).map(usize::count_ones).sum();
        let rounds = f64::from(p.next_power_of_two().ilog2());
        let expected = rounds * ALPHA + f64::from(hops) * 3.0 * (BETA + 2.0 * GAMMA);
        assert_eq!(time(&schedule, &problem), expected, "{p}");
    }
}

#[test]
fn reducing_to_rank_0_and_scattering_takes_both_times() {
    for p in 1..=64 {
        for size in [|_| 7, |rank| (rank % 4 * 3) as u64, |rank| (rank == 2).into()] {
            let sizes = blocks(p, size);
            let n = sizes.total() as f64;
            let scattered: f64 = (1..p)
                .map(|rank| sizes.block(rank) as f64)
                .filter(|&bytes| bytes > 0.0)
                .map(|bytes| ALPHA + bytes * BETA)
                .sum();
            let rounds = f64::from(p.next_power_of_two().ilog2());
            let reduced = if n > 0.0 { rounds * (ALPHA + n * (BETA + KAPPA)) } else { 0.0 };
            let problem = problem(Operation::ReduceScatter, sizes);
            let schedule = checked(&problem, reduce_scatter::non_overlapping);
            assert_eq!(time(&schedule, &problem), reduced + scattered, "{p}");
        }
    }
}

/// Times of the published comparison's oracle: `bruck` of SMPI at 1000 us and 1 us a byte, messages 16 bytes longer.
#[test]
fn contiguous_variants_take_as_long_as_in_smpi_where_copies_are_free() {
    let costs = Homogeneous::new(1016.0, 1.0, 0.0).unwrap();
    for (p, gathered, sent) in [(5, 7048.0, 8048.0), (8, 10_048.0, 15_048.0)] {
        let one = problem(Operation::Allgather, blocks(p, |_| 1000)).with_costs(costs).unwrap();
        assert_eq!(time(&bruck_contiguous(&one).unwrap(), &one), gathered, "{p}");
        let all = problem(Operation::Alltoall, messages(p, |_| 1000)).with_costs(costs).unwrap();
        assert_eq!(time(&alltoall::bruck_contiguous(&all).unwrap(), &all), sent, "{p}");
    }
}
