//! What holds of all schedules here, and what the papers say of their times.

mod contiguous;
mod duplex;
mod exchange_costs;
mod exchanges;
mod groups;
mod nodes;
mod overlapping;
mod published;
mod reductions;
mod rooted;
mod tables;

use proptest::prelude::*;
use tuwtree_bounds::best_lower_bound;
use tuwtree_collective::{
    CollectiveError, balanced_time, bruck, bruck_balanced, bruck_postal, circulant,
    circulant_balanced, circulant_in_pieces, recursive_doubling, ring, ring_in_chunks,
    ring_in_chunks_time, ring_outline, time_in_pieces, time_in_pieces_at_most,
};
use tuwtree_model::{BlockSizes, CostMatrix, Costs, Homogeneous, Operator, Problem};
use tuwtree_schedule::{Order, Schedule, Sends, document, simulate, verify};

/// An algorithm.
type Build = fn(&Problem) -> Result<Schedule, CollectiveError>;

const ALL: [(&str, Build); 11] = [
    ("ring", ring),
    ("chunks of 1 byte", |problem| ring_in_chunks(problem, 1)),
    ("chunks of 5 bytes", |problem| ring_in_chunks(problem, 5)),
    ("recursive doubling", recursive_doubling),
    ("bruck", bruck),
    ("circulant", circulant),
    ("1 piece", |problem| circulant_in_pieces(problem, 1)),
    ("2 pieces", |problem| circulant_in_pieces(problem, 2)),
    ("5 pieces", |problem| circulant_in_pieces(problem, 5)),
    ("balanced", |problem| circulant_balanced(problem, 1)),
    ("4 balanced pieces", |problem| circulant_balanced(problem, 4)),
];

/// What sends and receives each by itself.
const APART: [(&str, Build); 5] = [
    ("delay 1", |problem| bruck_postal(problem, 1)),
    ("delay 2", |problem| bruck_postal(problem, 2)),
    ("delay 6", |problem| bruck_postal(problem, 6)),
    ("balanced, delay 1", |problem| bruck_balanced(problem, 1)),
    ("balanced, delay 3", |problem| bruck_balanced(problem, 3)),
];

fn problem(sizes: &[u64], alpha: f64) -> Problem {
    let sizes = BlockSizes::new(sizes.iter().copied()).unwrap();
    Problem::allgather(&sizes, Homogeneous::new(alpha, 1.0, 1.0).unwrap()).unwrap()
}

fn time(schedule: &Schedule, problem: &Problem) -> f64 {
    let timeline = simulate(schedule, problem.costs(), Sends::Synchronous).unwrap();
    timeline.completion_time().units()
}

/// Verifies what an algorithm does with these blocks.
fn check(sizes: &[u64]) {
    let problem = problem(sizes, 10.0);
    let bound = best_lower_bound(&problem).unwrap().units();
    for (name, build) in ALL.into_iter().chain(APART) {
        let schedule = build(&problem).unwrap();
        let verified = verify(&schedule).unwrap_or_else(|fault| panic!("{name}: {fault}"));
        assert_eq!(verified.order, Order::Ordered, "{name}");
        // No byte comes twice.
        let needed = (sizes.len() as u128 - 1) * u128::from(problem.payload().total());
        assert_eq!(verified.bytes_sent, needed, "{name}");
        assert_eq!(verified.copies, 0, "{name}");
        assert!(time(&schedule, &problem) >= bound, "{name}: {sizes:?}");
    }
}

#[test]
fn all_data_comes_to_its_place_for_up_to_64_ranks_and_sizes_with_zeros() {
    let mut state = 1_u64;
    let mut draw = |below: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for p in 1..=64 {
        check(&vec![3; p]);
        let irregular: Vec<u64> = (0..p).map(|_| if draw(3) == 0 { 0 } else { draw(20) }).collect();
        check(&irregular);
        let mut one = vec![0; p];
        one[draw(p as u64) as usize] = 17;
        check(&one);
    }
    check(&[0; 6]);
}

proptest! {
    #[test]
    fn all_data_comes_to_its_place(sizes in prop::collection::vec(0..9_u64, 1..24)) {
        check(&sizes);
    }

    #[test]
    fn schedules_read_as_they_were_written(sizes in prop::collection::vec(0..9_u64, 1..9)) {
        for (_, build) in ALL {
            let schedule = build(&problem(&sizes, 3.0)).unwrap();
            let mut text = Vec::new();
            document::write(&schedule, &mut text).unwrap();
            prop_assert_eq!(document::read(&text[..]).unwrap(), schedule);
        }
    }

    #[test]
    fn a_ring_takes_as_long_as_its_recurrence(sizes in prop::collection::vec(0..30_u64, 2..20)) {
        let problem = problem(&sizes, 7.0);
        let p = sizes.len();
        let cost = |bytes: u64| if bytes == 0 { 0.0 } else { 7.0 + bytes as f64 };
        let mut ends = vec![0.0_f64; p];
        for round in 0..p - 1 {
            let sent: Vec<Option<f64>> = (0..p)
                .map(|rank| {
                    let bytes = sizes[(rank + p - round) % p];
                    let start = ends[rank].max(ends[(rank + 1) % p]);
                    (bytes > 0).then(|| start + cost(bytes))
                })
                .collect();
            for rank in 0..p {
                let halves = [sent[rank], sent[(rank + p - 1) % p]];
                ends[rank] = halves.into_iter().flatten().fold(ends[rank], f64::max);
            }
        }
        let last = ends.into_iter().fold(0.0, f64::max);
        prop_assert_eq!(time(&ring(&problem).unwrap(), &problem), last);
    }

    #[test]
    fn where_latency_overlaps_no_schedule_is_faster_than_the_spread_of_a_byte(
        sizes in prop::collection::vec(0..9_u64, 2..24), overhead in 0..8_u32,
    ) {
        let costs = Homogeneous::new(7.0, 1.0, 1.0).unwrap();
        let costs = costs.with_overhead(overhead.into()).unwrap();
        let sizes = BlockSizes::new(sizes).unwrap();
        let problem = Problem::allgather(&sizes, costs).unwrap();
        let bound = best_lower_bound(&problem).unwrap().units();
        for (name, build) in ALL {
            let schedule = build(&problem).unwrap();
            for sends in [Sends::Synchronous, Sends::Eager] {
                let timeline = simulate(&schedule, &costs, sends).unwrap();
                let found = timeline.completion_time().units();
                prop_assert!(found >= bound, "{}: {} is below {}", name, found, bound);
            }
        }
    }

    #[test]
    fn chunks_as_large_as_blocks_make_no_difference(sizes in prop::collection::vec(0..30_u64, 1..20)) {
        let problem = problem(&sizes, 7.0);
        prop_assert_eq!(ring_in_chunks(&problem, 30).unwrap(), ring(&problem).unwrap());
    }

    #[test]
    fn times_around_the_ring_are_those_of_schedules(
        sizes in prop::collection::vec(0..40_u64, 1..24), chunk in 1..20_u64,
    ) {
        let problem = problem(&sizes, 7.0);
        let whole = time(&ring(&problem).unwrap(), &problem);
        prop_assert_eq!(ring_outline(&problem).unwrap().time.units(), whole);
        let in_chunks = time(&ring_in_chunks(&problem, chunk).unwrap(), &problem);
        prop_assert_eq!(ring_in_chunks_time(&problem, chunk).unwrap().units(), in_chunks);
    }

    #[test]
    fn a_single_block_in_chunks_goes_around_as_in_a_pipe(p in 2..20_usize, chunks in 1..9_u64) {
        let mut sizes = vec![0; p];
        sizes[p / 2] = 6 * chunks;
        let problem = problem(&sizes, 7.0);
        let found = time(&ring_in_chunks(&problem, 6).unwrap(), &problem);
        prop_assert_eq!(found, (p as u64 - 2 + chunks) as f64 * 13.0);
    }

    #[test]
    fn a_round_of_pieces_takes_no_longer_than_a_share_of_every_block(
        sizes in prop::collection::vec(0..40_u64, 2..20), pieces in 1..8_usize,
    ) {
        let problem = problem(&sizes, 7.0);
        let shares: u64 = sizes.iter().map(|size| size.div_ceil(pieces as u64)).sum();
        let rounds = pieces - 1 + sizes.len().next_power_of_two().ilog2() as usize;
        let most = rounds as f64 * (7.0 + shares as f64);
        for build in [circulant_in_pieces, circulant_balanced] {
            prop_assert!(time(&build(&problem, pieces).unwrap(), &problem) <= most);
        }
        let (blocks, costs) = (problem.blocks().unwrap(), Homogeneous::new(7.0, 1.0, 0.0).unwrap());
        prop_assert_eq!(time_in_pieces_at_most(blocks, &costs, Operator::FREE, pieces), most);
    }

    #[test]
    fn times_in_pieces_are_those_of_their_schedules(
        sizes in prop::collection::vec(0..40_u64, 1..24),
        pieces in 1..20_usize,
        overhead in 0..8_u32,
        links in prop::collection::vec(0..50_u32, 24 * 24),
    ) {
        let sizes = BlockSizes::new(sizes).unwrap();
        let p = sizes.ranks();
        let overlapping = Homogeneous::new(7.0, 1.0, 1.0).unwrap();
        let overlapping = overlapping.with_overhead(overhead.into()).unwrap();
        let alpha = |from, to| if from == to { 0.0 } else { f64::from(links[from * p + to]) };
        let pairs = CostMatrix::from_fn(p, alpha, |_, _| 2.0, |_| 0.0).unwrap();
        for costs in [Costs::from(overlapping), Costs::Matrix(pairs)] {
            let problem = Problem::allgather(&sizes, costs).unwrap();
            let schedule = circulant_in_pieces(&problem, pieces).unwrap();
            let found = time_in_pieces(&problem, pieces).unwrap().units();
            prop_assert_eq!(found, time(&schedule, &problem));
            let schedule = circulant_balanced(&problem, pieces).unwrap();
            let found = balanced_time(&problem, pieces).unwrap().units();
            prop_assert_eq!(found, time(&schedule, &problem));
        }
    }
}

/// Five of 32 neighbours have all, as in the distribution `skewed`.
#[test]
fn large_blocks_of_neighbours_go_in_different_messages_on_a_balanced_circle() {
    let block = |rank| if rank < 5 { 6400 } else { 1 };
    let sizes = BlockSizes::new((0..32).map(block)).unwrap();
    let problem = Problem::allgather(&sizes, Homogeneous::new(1000.0, 1.0, 0.0).unwrap()).unwrap();
    let time = |build: Build| time(&build(&problem).unwrap(), &problem);
    // The windows of 1, 2, 4, 8 and 16 have up to so many large blocks.
    let most = |large: [u64; 5]| {
        let bytes: u64 = large.iter().map(|large| 6400 * large).sum();
        let small = 31 - large.iter().sum::<u64>();
        5000.0 + (bytes + small) as f64
    };
    assert_eq!(time(bruck), most([1, 2, 4, 5, 5]));
    assert_eq!(time(|problem| bruck_balanced(problem, 1)), most([1, 1, 1, 2, 3]));
    assert_eq!(time(|problem| circulant_balanced(problem, 1)), most([1, 1, 1, 2, 3]));
}

#[test]
fn a_byte_that_overlaps_spreads_as_in_the_postal_model() {
    // Overhead 1, latency 9: the first rank's messages arrive at 10, 11, 12, 13.
    let costs = Homogeneous::new(10.0, 0.0, 0.0).unwrap().with_overhead(1.0).unwrap();
    let sizes = BlockSizes::new([1, 0, 0, 0, 0]).unwrap();
    let problem = Problem::allgather(&sizes, costs).unwrap();
    assert_eq!(best_lower_bound(&problem).unwrap().units(), 13.0);
}

#[test]
fn only_an_allgather_is_built() {
    let sizes = BlockSizes::new([1, 2]).unwrap();
    let gather = Problem::gather(&sizes, Homogeneous::new(1.0, 1.0, 1.0).unwrap()).unwrap();
    for (_, build) in ALL {
        let error = build(&gather).unwrap_err().to_string();
        assert_eq!(error, "it is for allgather, and not for gather");
    }
}
