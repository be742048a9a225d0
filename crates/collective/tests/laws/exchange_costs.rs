//! Where exchanges cost something else than lone messages.

use super::{ALL, Build, time};
use proptest::prelude::*;
use tuwtree_bounds::{best_lower_bound, direct_lower_bound, lower_bound_in_pieces};
use tuwtree_collective::allreduce::{self, Folds};
use tuwtree_collective::broadcast::{self, Gathering};
use tuwtree_collective::{
    alltoall, binary_blocks, reduce, reduce_scatter, ring_outline, time_in_pieces,
};
use tuwtree_model::{
    BlockSizes, CostMatrix, Homogeneous, MessageSizes, Operation, Operator, Payload, Problem, Root,
    Vector,
};
use tuwtree_schedule::{Sends, simulate, simulate_on};

/// What a message of an exchange costs, as in the paper, and a lone one: `f_a alpha + f_b beta s`.
#[derive(Clone, Copy, Debug)]
struct Paper {
    alpha: f64,
    beta: f64,
    kappa: f64,
    f_a: f64,
    f_b: f64,
}

impl Paper {
    fn costs(self) -> Homogeneous {
        let Paper { alpha, beta, f_a, f_b, .. } = self;
        let lone = Homogeneous::new(f_a * alpha, f_b * beta, 0.0).unwrap();
        lone.with_exchange(alpha, beta).unwrap()
    }

    fn problem(self, operation: Operation, ranks: usize, bytes: u64) -> Problem {
        let problem = Problem::new(operation, Vector { ranks, bytes }, self.costs()).unwrap();
        problem.with_operator(Operator::new(1, self.kappa).unwrap()).unwrap()
    }
}

/// Thakur, Rabenseifner, Gropp 2005, section 5.1 and the ring of section 5.2.
#[test]
fn dearer_exchanges_take_what_the_paper_s_formulas_say() {
    for (f_a, f_b) in [(0.5, 0.5), (0.75, 0.5), (0.5, 1.0), (0.625, 0.875), (1.0, 1.0), (2.0, 4.0)]
    {
        let paper = Paper { alpha: 80.0, beta: 8.0, kappa: 3.0, f_a, f_b };
        let Paper { alpha, beta, kappa, .. } = paper;
        for p in 2..=17_usize {
            let active = 1_usize << p.ilog2();
            // Divided by p and by P.
            let bytes = (p * active * 16) as u64;
            let (n, l) = (bytes as f64, f64::from(p.ilog2()));
            let of_active = |whole: f64| whole - whole / active as f64;
            let of_all = |whole: f64| whole - whole / p as f64;

            let allreduce = paper.problem(Operation::Allreduce, p, bytes);
            let half = allreduce::rabenseifner(&allreduce, Folds::Half).unwrap();
            let (spread, combined) = (2.0 * n * beta, n * kappa);
            let expected = match p == active {
                true => 2.0 * l * alpha + of_active(spread + combined),
                false => {
                    (2.0 * l + 1.0 + 2.0 * f_a) * alpha
                        + (2.0 + (1.0 + 3.0 * f_b) / 2.0) * n * beta
                        + 1.5 * combined
                        - (spread + combined) / active as f64
                }
            };
            assert_eq!(time(&half, &allreduce), expected, "{paper:?}, {p} ranks");

            for root in 0..p {
                let reduce = paper.problem(Operation::Reduce, p, bytes);
                let reduce = reduce.with_root(Root::Given(root)).unwrap();
                let both = n * (beta + f_b * beta);
                let half = reduce::rabenseifner(&reduce, Folds::Half).unwrap();
                let expected = match p == active {
                    true => l * (1.0 + f_a) * alpha + of_active(both + combined),
                    false => {
                        (l * (1.0 + f_a) + (1.0 + f_a)) * alpha
                            + (1.0 + (1.0 + f_b) / 2.0 + f_b) * n * beta
                            + 1.5 * combined
                            - (both + combined) / active as f64
                    }
                };
                let found = time(&half, &reduce);
                assert_eq!(found, expected, "{paper:?}, {p} ranks, root {root}");
                let ring = reduce::ring(&reduce).unwrap();
                let expected = (p - 1) as f64 * (1.0 + f_a) * alpha + of_all(both + combined);
                let found = time(&ring, &reduce);
                assert_eq!(found, expected, "{paper:?}, {p} ranks, root {root}");
            }
        }
    }
}

/// At these costs the schedule takes no less than any of the bounds, as exchanges, unless it is made for duplex ports, and on
/// those.
fn check(name: &str, problem: &Problem, build: Build) {
    let schedule = build(problem).unwrap_or_else(|error| panic!("{name}: {error}"));
    let is_cut_vector = problem.vector().is_some() && problem.operation().is_rooted();
    let bound = match is_cut_vector {
        true => lower_bound_in_pieces(problem).unwrap().units(),
        false => best_lower_bound(problem).unwrap().units(),
    };
    for duplex in [false, true].into_iter().filter(|&duplex| duplex || !schedule.task().duplex) {
        for sends in [Sends::Synchronous, Sends::Eager] {
            let timeline = simulate_on(&schedule, duplex, problem.costs(), sends).unwrap();
            let found = timeline.completion_time().units();
            // Costs in tenths are added up in another order, and rounded.
            let least = bound * (1.0 - 1e-12);
            assert!(found >= least, "{name}, duplex {duplex}: {found} is below {bound}");
        }
    }
}

const REDUCE_SCATTERS: [(&str, Build); 4] = [
    ("pairwise", reduce_scatter::pairwise),
    ("halving", reduce_scatter::halving),
    ("butterfly", reduce_scatter::butterfly),
    ("2 pieces", |problem| reduce_scatter::circulant_in_pieces(problem, 2)),
];

const ALLREDUCES: [(&str, Build); 6] = [
    ("binomial", allreduce::binomial),
    ("recursive doubling", allreduce::recursive_doubling),
    ("half", |problem| allreduce::rabenseifner(problem, Folds::Half)),
    ("binary blocks", binary_blocks::allreduce),
    ("ring", allreduce::ring),
    ("circulant", allreduce::circulant),
];

const BROADCASTS: [(&str, Build); 3] = [
    ("ring", |problem| broadcast::scatter_allgather(problem, Gathering::Ring)),
    ("doubling", |problem| broadcast::scatter_allgather(problem, Gathering::Doubling)),
    ("3 pieces", |problem| broadcast::circulant_in_pieces(problem, 3)),
];

const REDUCTIONS: [(&str, Build); 5] = [
    ("binary blocks", binary_blocks::reduce),
    ("binomial", reduce::binomial),
    ("half", |problem| reduce::rabenseifner(problem, Folds::Half)),
    ("ring", reduce::ring),
    ("3 pieces", |problem| reduce::circulant_in_pieces(problem, 3)),
];

const ALLTOALLS: [(&str, Build); 4] = [
    ("linear", alltoall::linear),
    ("pairwise", alltoall::pairwise),
    ("radix 2", |problem| alltoall::bruck(problem, 2)),
    ("open shop", alltoall::open_shop),
];

/// Lone messages and those of exchanges, each of which may be the cheaper one; integral or not.
fn costs() -> impl Strategy<Value = Homogeneous> {
    (0..12_u32, 0..4_u32, 0..20_u32, 0..6_u32, prop_oneof![Just(1.0), Just(0.5), Just(0.1)])
        .prop_map(|(alpha, beta, exchange_alpha, exchange_beta, unit)| {
            let lone = Homogeneous::new(alpha.into(), beta.into(), 1.0).unwrap();
            let [alpha, beta] = [exchange_alpha, exchange_beta].map(|cost| f64::from(cost) * unit);
            lone.with_exchange(alpha, beta).unwrap()
        })
}

fn with_operator(operation: Operation, payload: impl Into<Payload>, costs: Homogeneous) -> Problem {
    let problem = Problem::new(operation, payload, costs).unwrap();
    problem.with_operator(Operator::new(1, 2.0).unwrap()).unwrap()
}

proptest! {
    #[test]
    fn no_schedule_is_below_its_bound_whatever_exchanges_cost(
        sizes in prop::collection::vec(0..9_u64, 1..14),
        root in 0..14_usize,
        costs in costs(),
        messages in prop::collection::vec(0..9_u64, 14 * 14),
    ) {
        let p = sizes.len();
        let blocks = BlockSizes::new(sizes.iter().copied()).unwrap();
        let vector = Vector { ranks: p, bytes: blocks.total() };
        let root = Root::Given(root % p);
        let gathered = Problem::allgather(&blocks, costs).unwrap();
        let scattered = with_operator(Operation::ReduceScatter, blocks, costs);
        let combined = with_operator(Operation::Allreduce, vector, costs);
        let reduced = with_operator(Operation::Reduce, vector, costs).with_root(root).unwrap();
        let spread = Problem::new(Operation::Broadcast, vector, costs).unwrap();
        let spread = spread.with_root(root).unwrap();
        let sizes = MessageSizes::new(messages[..p * p].iter().copied()).unwrap();
        let sent = Problem::new(Operation::Alltoall, sizes, costs).unwrap();
        let all: [(&Problem, &[(&str, Build)]); 6] = [
            (&gathered, &ALL),
            (&scattered, &REDUCE_SCATTERS),
            (&combined, &ALLREDUCES),
            (&reduced, &REDUCTIONS),
            (&spread, &BROADCASTS),
            (&sent, &ALLTOALLS),
        ];
        for (problem, builds) in all {
            for (name, build) in builds {
                check(name, problem, *build);
            }
        }
        let direct = direct_lower_bound(&sent).unwrap().unwrap().units();
        // Costs in tenths are added up in another order, and rounded.
        let least = direct * (1.0 - 1e-12);
        for build in [alltoall::linear, alltoall::pairwise, alltoall::open_shop] {
            prop_assert!(time(&build(&sent).unwrap(), &sent) >= least);
        }
    }

    #[test]
    fn times_without_schedules_know_what_exchanges_cost_on_ports_of_either_kind(
        sizes in prop::collection::vec(0..40_u64, 1..20),
        root in 0..20_usize,
        pieces in 1..12_usize,
        costs in costs(),
        duplex: bool,
    ) {
        let p = sizes.len();
        let blocks = BlockSizes::new(sizes).unwrap();
        let vector = Vector { ranks: p, bytes: blocks.total() };
        let root = Root::Given(root % p);
        let gathered = Problem::allgather(&blocks, costs).unwrap().with_duplex(duplex);
        let scattered = with_operator(Operation::ReduceScatter, blocks, costs).with_duplex(duplex);
        let reduced = with_operator(Operation::Reduce, vector, costs).with_root(root).unwrap();
        let reduced = reduced.with_duplex(duplex);
        let spread = Problem::new(Operation::Broadcast, vector, costs).unwrap();
        let spread = spread.with_root(root).unwrap().with_duplex(duplex);
        let circulant = [
            (
                time_in_pieces(&gathered, pieces).unwrap(),
                time(&tuwtree_collective::circulant_in_pieces(&gathered, pieces).unwrap(), &gathered),
            ),
            (
                reduce_scatter::time_in_pieces(&scattered, pieces).unwrap(),
                time(&reduce_scatter::circulant_in_pieces(&scattered, pieces).unwrap(), &scattered),
            ),
            (
                reduce::time_in_pieces(&reduced, pieces).unwrap(),
                time(&reduce::circulant_in_pieces(&reduced, pieces).unwrap(), &reduced),
            ),
            (
                broadcast::time_in_pieces(&spread, pieces).unwrap(),
                time(&broadcast::circulant_in_pieces(&spread, pieces).unwrap(), &spread),
            ),
            (ring_outline(&gathered).unwrap().time, time(&ALL[0].1(&gathered).unwrap(), &gathered)),
            (
                reduce_scatter::pairwise_outline(&scattered).unwrap().time,
                time(&reduce_scatter::pairwise(&scattered).unwrap(), &scattered),
            ),
        ];
        for (found, simulated) in circulant {
            prop_assert_eq!(found.units(), simulated);
        }
    }

    /// A matrix has no costs of exchanges at all.
    #[test]
    fn exchanges_that_cost_what_other_messages_do_make_no_difference(
        sizes in prop::collection::vec(0..9_u64, 1..14), alpha in 0..30_u32, overhead in 0..30_u32,
    ) {
        let (p, alpha) = (sizes.len(), f64::from(alpha));
        let one_port = Homogeneous::new(alpha, 1.0, 1.0).unwrap();
        let overlapping = one_port.with_overhead(alpha.min(overhead.into())).unwrap();
        prop_assert_eq!(overlapping.with_exchange(alpha, 1.0).unwrap(), overlapping);
        let with = one_port.with_exchange(alpha, 1.0).unwrap();
        let off_diagonal = |cost: f64| {
            move |from: usize, to: usize| if from == to { 0.0 } else { cost }
        };
        let without = CostMatrix::from_fn(p, off_diagonal(alpha), off_diagonal(1.0), |_| 1.0);
        let without = without.unwrap();
        let problem = Problem::allgather(&BlockSizes::new(sizes).unwrap(), with).unwrap();
        for (name, build) in ALL {
            let schedule = build(&problem).unwrap();
            let ends = simulate(&schedule, &without, Sends::Synchronous).unwrap();
            let found = time(&schedule, &problem);
            prop_assert_eq!(found, ends.completion_time().units(), "{}", name);
        }
    }
}
