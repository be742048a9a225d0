//! Ports that send and receive each by itself, against exchanges that hold all of a port.

use super::{ALL, Build, time};
use proptest::prelude::*;
use tuwtree_bounds::{best_lower_bound, lower_bound_in_pieces};
use tuwtree_collective::allreduce::{self, Folds};
use tuwtree_collective::{alltoall, binary_blocks, broadcast, reduce, reduce_scatter};
use tuwtree_model::{
    BlockSizes, Homogeneous, MessageSizes, Operation, Operator, Payload, Problem, Root, Vector,
};
use tuwtree_schedule::{Handover, Posts, Schedule, Sends, document, simulate, verify};

const REDUCE_SCATTERS: [(&str, Build); 5] = [
    ("pairwise", reduce_scatter::pairwise),
    ("halving", reduce_scatter::halving),
    ("recursive doubling", reduce_scatter::recursive_doubling),
    ("circulant", reduce_scatter::circulant),
    ("3 pieces", |problem| reduce_scatter::circulant_in_pieces(problem, 3)),
];

const ALLREDUCES: [(&str, Build); 5] = [
    ("recursive doubling", allreduce::recursive_doubling),
    ("half", |problem| allreduce::rabenseifner(problem, Folds::Half)),
    ("full", |problem| allreduce::rabenseifner(problem, Folds::Full)),
    ("ring", allreduce::ring),
    ("circulant", allreduce::circulant),
];

const BLOCKS: [(&str, Build); 1] = [("binary blocks", binary_blocks::allreduce)];

const ALLTOALLS: [(&str, Build); 4] = [
    ("linear", alltoall::linear),
    ("pairwise", alltoall::pairwise),
    ("bruck", |problem| alltoall::bruck(problem, 2)),
    ("bruck 3", |problem| alltoall::bruck(problem, 3)),
];

const BROADCASTS: [(&str, Build); 2] = [
    ("binomial", broadcast::binomial),
    ("2 pieces", |problem| broadcast::circulant_in_pieces(problem, 2)),
];

const REDUCES: [(&str, Build); 4] = [
    ("binomial", reduce::binomial),
    ("half", |problem| reduce::rabenseifner(problem, Folds::Half)),
    ("full", |problem| reduce::rabenseifner(problem, Folds::Full)),
    ("2 pieces", |problem| reduce::circulant_in_pieces(problem, 2)),
];

fn problem(operation: Operation, payload: impl Into<Payload>, [alpha, kappa]: [f64; 2]) -> Problem {
    let costs = Homogeneous::new(alpha, 1.0, 1.0).unwrap();
    let problem = Problem::new(operation, payload, costs).unwrap();
    match operation.is_reduction() {
        true => problem.with_operator(Operator::new(1, kappa).unwrap()).unwrap(),
        false => problem,
    }
}

/// The problems of all operations here where all blocks, messages and pieces are equal, with their algorithms.
fn equal(
    ranks: usize,
    block: u64,
    costs: [f64; 2],
) -> Vec<(Problem, &'static [(&'static str, Build)])> {
    let blocks = || BlockSizes::new(vec![block; ranks]).unwrap();
    // A multiple of all numbers of pieces.
    let power = 1 << ranks.ilog2();
    let vector = Vector { ranks, bytes: block * (ranks * power) as u64 };
    let messages = MessageSizes::new(vec![block; ranks * ranks]).unwrap();
    let rooted =
        |operation| problem(operation, vector, costs).with_root(Root::Given(ranks / 2)).unwrap();
    vec![
        (problem(Operation::Allgather, blocks(), costs), &ALL[..]),
        (problem(Operation::ReduceScatter, blocks(), costs), &REDUCE_SCATTERS),
        (problem(Operation::Allreduce, vector, costs), &ALLREDUCES),
        (problem(Operation::Alltoall, messages, costs), &ALLTOALLS),
        (rooted(Operation::Broadcast), &BROADCASTS),
        (rooted(Operation::Reduce), &REDUCES),
    ]
}

/// What it takes with exchanges, and on duplex ports.
fn times(problem: &Problem, build: Build) -> [f64; 2] {
    let schedule = build(problem).unwrap();
    let duplex = build(&problem.with_duplex(true)).unwrap();
    assert!(duplex.task().duplex);
    assert_eq!(duplex.clone().with_duplex(false), schedule);
    [time(&schedule, problem), time(&duplex, problem)]
}

#[test]
fn binary_blocks_are_faster_on_duplex_ports() {
    for (ranks, bytes, expected) in
        [(13, 128, [13_416.0, 12_400.0]), (17, 256, [40_992.0, 25_752.0])]
    {
        let vector = Vector { ranks, bytes };
        let problem = problem(Operation::Allreduce, vector, [1000.0, 0.0]);
        assert_eq!(times(&problem, binary_blocks::allreduce), expected, "{ranks}");
    }
}

#[test]
fn all_other_algorithms_take_as_long_in_both_readings_where_blocks_are_equal() {
    for costs in [[1000.0, 0.0], [10.0, 2.0], [0.0, 0.5]] {
        for ranks in 2..20 {
            for (problem, algorithms) in equal(ranks, 6, costs) {
                for &(name, build) in algorithms {
                    let [exchanges, duplex] = times(&problem, build);
                    let what = problem.operation();
                    assert_eq!(exchanges, duplex, "{what:?} {name}, {ranks}, {costs:?}");
                }
            }
        }
    }
}

/// Verifies a schedule on duplex ports, and holds its simulation against that on two ports and the bound.
fn check(name: &str, problem: &Problem, build: Build) {
    let problem = problem.with_duplex(true);
    let schedule = build(&problem).unwrap();
    let verified = verify(&schedule).unwrap_or_else(|fault| panic!("{name}: {fault}"));
    assert!(verified.order <= schedule.task().order, "{name}");
    let bound = match problem.operation().is_rooted() {
        true => lower_bound_in_pieces(&problem).unwrap().units(),
        false => best_lower_bound(&problem).unwrap().units(),
    };
    let found = time(&schedule, &problem);
    assert!(found >= bound, "{name}: {found} is below {bound} in {:?}", problem.payload());
    if let Ok(apart) = schedule.sides_as_ports() {
        assert_eq!(apart.task().ports, 2, "{name}");
        for sends in [Sends::Synchronous, Sends::Eager] {
            for posts in [Posts::PrePosted, Posts::Strict] {
                let handover = Handover { sends, posts };
                let time = |schedule: &Schedule| {
                    simulate(schedule, problem.costs(), handover).unwrap().completion_time()
                };
                assert_eq!(time(&schedule), time(&apart), "{name} {handover:?}");
            }
        }
    }
    let mut text = Vec::new();
    document::write(&schedule, &mut text).unwrap();
    assert_eq!(document::read(&text[..]).unwrap(), schedule, "{name}");
}

proptest! {
    #[test]
    fn algorithms_are_right_on_duplex_ports_and_none_is_faster_than_the_bound(
        sizes in prop::collection::vec(0..9_u64, 1..14),
        alpha in 0..30_u8,
    ) {
        let costs = [f64::from(alpha), 1.0];
        let blocks = BlockSizes::new(sizes.iter().copied()).unwrap();
        let p = sizes.len();
        let vector = Vector { ranks: p, bytes: blocks.total() };
        let matrix: Vec<u64> =
            (0..p * p).map(|at| (sizes[at % p] * sizes[at / p] + at as u64) % 7).collect();
        let messages = MessageSizes::new(matrix).unwrap();
        let allreduces = ALLREDUCES.into_iter().chain(BLOCKS);
        let shop: (&str, Build) = ("open shop", alltoall::open_shop);
        for (problem, algorithms) in [
            (problem(Operation::Allgather, blocks.clone(), costs), ALL.to_vec()),
            (problem(Operation::ReduceScatter, blocks, costs), REDUCE_SCATTERS.to_vec()),
            (problem(Operation::Allreduce, vector, costs), allreduces.collect()),
            (
                problem(Operation::Alltoall, messages, costs),
                ALLTOALLS.into_iter().chain([shop]).collect(),
            ),
            (problem(Operation::Broadcast, vector, costs), BROADCASTS.to_vec()),
            (problem(Operation::Reduce, vector, costs), REDUCES.to_vec()),
        ] {
            for (name, build) in algorithms {
                check(name, &problem, build);
            }
        }
    }
}

/// What shift rounds and the same order on duplex ports take, over the bound of direct messages.
fn shifted(matrix: &[u64], ranks: usize) -> [f64; 2] {
    let cost = |bytes: u64| if bytes == 0 { 0.0 } else { 1000.0 + bytes as f64 };
    let sum = |of: &dyn Fn(usize, usize) -> usize, rank: usize| {
        let others = (0..ranks).filter(|&other| other != rank);
        others.map(|other| cost(matrix[of(rank, other)])).sum::<f64>()
    };
    let rows = (0..ranks).map(|rank| sum(&|rank, other| rank * ranks + other, rank));
    let columns = (0..ranks).map(|rank| sum(&|rank, other| other * ranks + rank, rank));
    let bound = rows.chain(columns).fold(0.0, f64::max);
    let messages = MessageSizes::new(matrix.to_vec()).unwrap();
    let problem = problem(Operation::Alltoall, messages, [1000.0, 0.0]);
    times(&problem, alltoall::linear).map(|time| time / bound)
}

#[test]
fn shift_rounds_gain_most_on_duplex_ports_where_a_matrix_is_sparse_and_nothing_with_a_hot_row() {
    const P: usize = 32;
    let mut state = 7_u64;
    let mut draw = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / (1_u64 << 31) as f64
    };
    let uniform: Vec<u64> = (0..P * P).map(|_| (draw() * 2000.0) as u64 + 1).collect();
    let sparse: Vec<u64> =
        (0..P * P).map(|_| if draw() < 0.1 { (draw() * 20_000.0) as u64 + 1 } else { 0 }).collect();
    let hot = |at: usize| if at / P == 3 || at % P == 3 { 10_000 } else { 100 };
    let hot: Vec<u64> = (0..P * P).map(hot).collect();
    let [exchanges, duplex] = shifted(&uniform, P);
    assert!((1.15..1.35).contains(&exchanges) && (1.05..1.2).contains(&duplex));
    let [exchanges, duplex] = shifted(&sparse, P);
    assert!((1.7..2.6).contains(&exchanges) && (1.0..1.6).contains(&duplex));
    assert!(exchanges > 1.3 * duplex, "{exchanges} {duplex}");
    let [exchanges, duplex] = shifted(&hot, P);
    assert!(exchanges < 1.03 && duplex < 1.03, "{exchanges} {duplex}");
}
