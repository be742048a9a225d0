//! The fast engine against the published recurrence, and both against the homogeneous engines.

use super::levels::Levels;
use super::links::Links;
use super::*;
use crate::{Method, optimal_adjacent, optimal_binary};
use proptest::prelude::*;
use std::ops::ControlFlow;
use tuwtree_model::{
    BlockSizes, CostMatrix, Costs, CostsError, Homogeneous, Operation, Payload, Vector,
    completion_time,
};

/// What the costs of pairs look like.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// Any small integers, each direction its own.
    Asymmetric,
    /// Very few different values, so that most candidates tie.
    Ties,
    /// Three levels of nearness.
    Hierarchical,
    /// Latencies from 0 to far above any volume.
    Huge,
    /// Faster the slower a rank is to start: many senders are worth a try.
    Opposed,
}

/// A xorshift generator: small and reproducible.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % bound
    }
}

fn matrix(ranks: usize, kind: Kind, missing: u64, seed: u64) -> CostMatrix {
    let mut draw = Draw(seed | 1);
    let mut table = |what: u64| -> Vec<f64> {
        let entry = |n: usize| {
            let (sender, receiver) = (n / ranks, n % ranks);
            let cost = match kind {
                Kind::Asymmetric => draw.below(30),
                Kind::Ties => draw.below(2),
                Kind::Hierarchical => {
                    let near = |size| sender / size == receiver / size;
                    [5, 40, 300][usize::from(!near(2)) + usize::from(!near(6))] / (1 + 9 * what)
                }
                Kind::Huge => [0, 1, 1000, 1_000_000][draw.below(4) as usize] / (1 + 999 * what),
                Kind::Opposed => match what {
                    0 => (40 * ranks - 40 * sender) as u64 + draw.below(7),
                    _ => draw.below(3),
                },
            };
            if what == 0 && draw.below(100) < missing { f64::INFINITY } else { cost as f64 }
        };
        (0..ranks * ranks).map(entry).collect()
    };
    let (alpha, beta) = (table(0), table(1));
    let gamma: Vec<u64> = (0..ranks).map(|_| draw.below(6)).collect();
    CostMatrix::from_fn(
        ranks,
        |sender, receiver| alpha[sender * ranks + receiver],
        |sender, receiver| beta[sender * ranks + receiver],
        |rank| gamma[rank] as f64,
    )
    .unwrap()
}

/// Costs with this many ranks: of the one-port model, or with any parts of alpha as overheads.
fn costs(ranks: usize) -> impl Strategy<Value = CostMatrix> {
    let kinds = [Kind::Asymmetric, Kind::Ties, Kind::Hierarchical, Kind::Huge, Kind::Opposed];
    let missing = prop_oneof![3 => Just(0_u64), 1 => Just(10), 1 => Just(40)];
    let drawn = (prop::sample::select(kinds.to_vec()), missing, any::<u64>(), any::<bool>());
    drawn.prop_map(move |(kind, missing, seed, overlaps)| {
        let costs = matrix(ranks, kind, missing, seed);
        if overlaps { with_parts_as_overheads(costs, seed) } else { costs }
    })
}

/// The same costs, of which any integer part of each alpha is its overhead.
fn with_parts_as_overheads(costs: CostMatrix, seed: u64) -> CostMatrix {
    let mut draw = Draw(seed | 1);
    let mut part = |alpha: f64| match (alpha.is_finite(), draw.below(3)) {
        (true, 0) => 0.0,
        (true, 1) => draw.below(alpha as u64 + 1) as f64,
        (_, _) => alpha,
    };
    let ranks = 0..costs.size();
    let row = |sender| ranks.clone().map(|receiver| part(costs.alpha(sender, receiver))).collect();
    let overheads: Vec<Vec<f64>> = ranks.clone().map(row).collect();
    costs.with_overheads(&overheads).unwrap()
}

/// Block sizes and costs of up to so many ranks.
fn problems(most: usize) -> impl Strategy<Value = (BlockSizes, CostMatrix)> {
    let block = prop_oneof![2 => Just(0_u64), 3 => 0..5_u64, 1 => 0..200_u64];
    prop::collection::vec(block, 1..=most).prop_flat_map(|blocks| {
        let costs = costs(blocks.len());
        (Just(BlockSizes::new(blocks).unwrap()), costs)
    })
}

/// The problems that these blocks stand for: a gather, a scatter, a broadcast, a reduction.
fn of_all_operations(sizes: &BlockSizes, costs: &CostMatrix) -> Vec<Problem> {
    let vector = Vector { ranks: sizes.ranks(), bytes: sizes.block(0) };
    let problem = |operation: Operation| {
        let payload = match operation.is_irregular() {
            true => Payload::Blocks(sizes.clone()),
            false => Payload::Vector(vector),
        };
        Problem::new(operation, payload, costs).unwrap()
    };
    Operation::rooted().map(problem).collect()
}

/// Both methods, the yardstick first.
const METHODS: [PairMethod; 2] = [PairMethod::Plain, PairMethod::Hinges];

fn plain_table(links: &Links) -> Levels {
    plain::ordered(links, &mut Meter::new(&(), 1)).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn hinges_are_plain_in_every_cell((sizes, costs) in problems(14)) {
        for problem in of_all_operations(&sizes, &costs) {
            let links = Links::new(&problem).unwrap();
            let plain = plain_table(&links);
            let fast = hinges::ordered(&links, Root::Best, &mut Meter::new(&(), 1)).unwrap();
            let last = sizes.ranks() - 1;
            for i in 0..=last {
                for j in i..=last {
                    for root in i..=j {
                        prop_assert_eq!(fast.get(i, j, root), plain.get(i, j, root));
                    }
                }
            }
        }
    }

    #[test]
    fn a_given_root_needs_only_the_ranges_beside_it(
        (sizes, costs) in problems(14), root in 0..14_usize,
    ) {
        let root = Root::Given(root % sizes.ranks());
        for problem in of_all_operations(&sizes, &costs) {
            let problem = problem.with_root(root).unwrap();
            let by = |method| optimal_per_pair(&problem, method, &());
            let [plain, fast] = METHODS.map(by);
            prop_assert_eq!(fast, plain);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn hinges_are_plain_on_larger_problems((sizes, costs) in problems(50), root in 0..50_usize) {
        let given = Root::Given(root % sizes.ranks());
        for root in [Root::Best, given] {
            for problem in of_all_operations(&sizes, &costs) {
                let problem = problem.with_root(root).unwrap();
                let by = |method| optimal_per_pair(&problem, method, &()).ok();
                let [plain, fast] = METHODS.map(by);
                prop_assert_eq!(fast, plain);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn trees_attain_the_value((sizes, costs) in problems(20), root in 0..20_usize) {
        let given = Root::Given(root % sizes.ranks());
        for problem in of_all_operations(&sizes, &costs) {
            for root in [Root::Best, given] {
                let problem = problem.with_root(root).unwrap();
                let any = optimal_per_pair(&problem, PairMethod::Hinges, &());
                let binary = optimal_binary_per_pair(&problem, &());
                for optimum in [any, binary].into_iter().flatten() {
                    let time = completion_time(&optimum.tree, &problem).unwrap();
                    prop_assert_eq!(time.units(), optimum.value);
                    prop_assert!(root == Root::Best || root == Root::Given(optimum.tree.root()));
                }
            }
        }
    }

    #[test]
    fn equal_costs_give_the_homogeneous_times(
        (sizes, _) in problems(16), (alpha, beta, gamma) in (0..200_u32, 0..4_u32, 0..6_u32),
        root in 0..16_usize,
    ) {
        let equal = Homogeneous::new(alpha.into(), beta.into(), gamma.into()).unwrap();
        let costs = CostMatrix::from_fn(
            sizes.ranks(), |_, _| alpha.into(), |_, _| beta.into(), |_| gamma.into(),
        ).unwrap();
        for root in [Root::Best, Root::Given(root % sizes.ranks())] {
            let homogeneous = Problem::gather(&sizes, equal).unwrap().with_root(root).unwrap();
            let known = optimal_adjacent(&homogeneous, Method::Plain, &()).unwrap().value;
            let known_binary = optimal_binary(&homogeneous, Method::Plain, &()).unwrap().value;
            for problem in [&homogeneous.with_costs(&costs).unwrap(), &homogeneous] {
                for method in METHODS {
                    let found = optimal_per_pair(problem, method, &()).unwrap();
                    prop_assert_eq!(found.value, known);
                }
                let binary = optimal_binary_per_pair(problem, &()).unwrap();
                prop_assert_eq!(binary.value, known_binary);
            }
        }
    }
}

#[test]
fn hinges_are_plain_where_ranges_are_wide() {
    let mut draw = Draw(7);
    let kinds = [Kind::Asymmetric, Kind::Ties, Kind::Hierarchical, Kind::Huge, Kind::Opposed];
    for (index, kind) in [kinds, kinds].concat().into_iter().enumerate() {
        let costs = matrix(90, kind, 10, draw.below(1 << 40));
        let costs = match index < kinds.len() {
            true => costs,
            false => with_parts_as_overheads(costs, draw.below(1 << 40)),
        };
        let sizes = BlockSizes::new((0..90).map(|_| draw.below(40).saturating_sub(5))).unwrap();
        let gather = Problem::gather(&sizes, &costs).unwrap();
        let scatter = Problem::scatter(&sizes, &costs).unwrap();
        for problem in [gather, scatter.with_root(Root::Given(70)).unwrap()] {
            let by = |method| optimal_per_pair(&problem, method, &()).unwrap();
            let [plain, fast] = METHODS.map(by);
            assert_eq!(fast, plain, "{kind:?} {index}");
        }
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let costs = matrix(60, Kind::Asymmetric, 5, 3);
    let sizes = BlockSizes::new((0..60).map(|rank| rank * rank % 17)).unwrap();
    let problem = Problem::gather(&sizes, &costs).unwrap();
    let by = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let any = |method| optimal_per_pair(&problem, method, &()).unwrap();
            let binary = optimal_binary_per_pair(&problem, &()).unwrap();
            (METHODS.map(any), binary)
        })
    };
    assert_eq!(by(1), by(5));
}

#[test]
fn fractional_times_are_those_of_the_tree_to_the_last_bit() {
    let costs = CostMatrix::from_fn(
        40,
        |sender, receiver| 0.1 * (sender * 7 % 11 + receiver) as f64,
        |sender, receiver| 0.3 / (1 + sender + 2 * receiver) as f64,
        |rank| 0.7 / (rank + 3) as f64,
    )
    .unwrap();
    let sizes = BlockSizes::new((0..40).map(|rank| rank * 7919 % 101)).unwrap();
    for problem in of_all_operations(&sizes, &costs) {
        let any = optimal_per_pair(&problem, PairMethod::Hinges, &());
        let binary = optimal_binary_per_pair(&problem, &());
        for optimum in [any.unwrap(), binary.unwrap()] {
            let time = completion_time(&optimum.tree, &problem).unwrap();
            assert_eq!(time.units(), optimum.value);
        }
    }
}

#[test]
fn integer_times_are_exact_below_2_to_the_53_and_refused_from_there() {
    let value = |alpha: f64| {
        let costs = CostMatrix::from_fn(3, |_, _| alpha, |_, _| 1.0, |_| 1.0).unwrap();
        let sizes = BlockSizes::new([1, 1, 1]).unwrap();
        let problem = Problem::gather(&sizes, &costs).unwrap().with_root(Root::Given(0)).unwrap();
        optimal_per_pair(&problem, PairMethod::Hinges, &()).map(|optimum| optimum.value)
    };
    let limit = 2_f64.powi(52);
    assert_eq!(value(limit - 3.0), Ok(2.0 * limit - 3.0));
    assert_eq!(value(limit), Err(DpError::TooLarge { total: 3 }));
    assert_eq!(value(1e300), Err(DpError::TooLarge { total: 3 }));
}

/// Allows so many bytes and so much work.
struct Bounded {
    memory: u64,
    work: u64,
}

impl Progress for Bounded {
    fn advance(&self, done: u64, total: u64) -> ControlFlow<()> {
        assert!(done <= total, "{done} of {total}");
        if done < self.work { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    fn memory_allowed(&self) -> u64 {
        self.memory
    }
}

#[test]
fn what_does_not_fit_is_refused_beforehand_and_what_would_fit_is_named() {
    let costs = matrix(30, Kind::Ties, 0, 1);
    let sizes = BlockSizes::new([1; 30]).unwrap();
    for root in [Root::Best, Root::Given(11)] {
        let problem = Problem::gather(&sizes, &costs).unwrap().with_root(root).unwrap();
        for method in METHODS {
            let trees = PairTrees::AnyDegree(method);
            let needed = memory_needed_per_pair(30, root, trees);
            let with = |memory| {
                let progress = Bounded { memory, work: u64::MAX };
                optimal_per_pair(&problem, method, &progress)
            };
            assert!(with(needed).is_ok());
            let allowed = needed - 1;
            let error = DpError::DoesNotFit { ranks: 30, needed, allowed, most: 29 };
            assert_eq!(with(allowed), Err(error));
            assert_eq!(most_ranks_per_pair(needed, root, trees), 30);
        }
    }
    let binary = PairTrees::Binary;
    assert_eq!(most_ranks_per_pair(0, Root::Best, binary), 0);
    assert!(most_ranks_per_pair(8 << 30, Root::Best, binary) > 1500);
}

#[test]
fn whoever_watches_may_break_off() {
    let costs = matrix(20, Kind::Ties, 0, 1);
    let sizes = BlockSizes::new([1; 20]).unwrap();
    for root in [Root::Best, Root::Given(11)] {
        let problem = Problem::gather(&sizes, &costs).unwrap().with_root(root).unwrap();
        for work in [5, u64::MAX] {
            let watch = Bounded { memory: u64::MAX, work };
            for method in METHODS {
                let found = optimal_per_pair(&problem, method, &watch);
                assert_eq!(found.is_err(), work == 5);
            }
            let found = optimal_binary_per_pair(&problem, &watch);
            assert_eq!(found.is_err(), work == 5);
        }
    }
}

#[test]
fn what_does_not_match_is_no_problem() {
    let sizes = BlockSizes::new([1; 5]).unwrap();
    assert!(Problem::gather(&sizes, &matrix(4, Kind::Ties, 0, 1)).is_err());
    let problem = Problem::gather(&sizes, &matrix(5, Kind::Ties, 0, 1)).unwrap();
    assert!(problem.with_root(Root::Given(5)).is_err());
}

#[test]
fn costs_that_are_written_as_no_matrix_are_refused() {
    let ranks = Costs::MOST_EXPANDED + 1;
    let sizes = BlockSizes::new(vec![1; ranks]).unwrap();
    let equal = Homogeneous::new(1.0, 1.0, 1.0).unwrap();
    let problem = Problem::gather(&sizes, equal).unwrap();
    let error = DpError::Costs(CostsError::TooLarge { ranks });
    assert_eq!(optimal_per_pair(&problem, PairMethod::Hinges, &()), Err(error.clone()));
    assert_eq!(optimal_binary_per_pair(&problem, &()), Err(error));
}
