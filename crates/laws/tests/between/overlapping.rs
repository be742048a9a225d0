//! Where part of the latency overlaps, or costs differ: the best of all trees, of ordered and of binary
//! ones, against all trees of a few ranks.

use proptest::prelude::*;
use std::sync::OnceLock;
use tuwtree_bounds::best_lower_bound;
use tuwtree_dp::non_ordered::{exact, exact_again, exact_work};
use tuwtree_dp::wider::Class;
use tuwtree_dp::{
    DpError, Optimum, PairMethod, optimal_binary_per_pair, optimal_broadcast, optimal_per_pair,
};
use tuwtree_laws::all_trees::{
    MOST_COPYING_FIRST, all_trees, has_root, least_of, trees_copying_first,
};
use tuwtree_laws::machines::{
    hierarchy, matrix, measured_hierarchy, overlapping, overlapping_matrix,
};
use tuwtree_laws::problems::{irregular, overlapping_costs, ports, rooted, sizes};
use tuwtree_model::{
    BlockSizes, ClosedSet, CostMatrix, Costs, Homogeneous, Operation, Problem, Root, Tree, Vector,
    check_combines_neighbours, completion_time, judged_time,
};
use tuwtree_schedule::{Schedule, Sends, simulate};

/// Costs of any kind, whether or not part of the latency overlaps.
pub(crate) fn any_costs(ranks: usize) -> impl Strategy<Value = Costs> {
    prop_oneof![
        2 => overlapping(ranks),
        1 => overlapping_matrix(ranks, 4).prop_map(Costs::Matrix),
        2 => measured_hierarchy(ranks).prop_map(Costs::Hierarchical),
        1 => matrix(ranks, 3).prop_map(Costs::Matrix),
        1 => hierarchy(ranks).prop_map(Costs::Hierarchical),
    ]
}

/// The blocks of six ranks.
pub(crate) fn six_blocks() -> impl Strategy<Value = BlockSizes> {
    let block = prop_oneof![2 => Just(0_u64), 3 => 0..4_u64, 2 => 1..30_u64, 1 => 500..1000_u64];
    prop::collection::vec(block, MOST_COPYING_FIRST)
        .prop_map(|sizes| BlockSizes::new(sizes).unwrap())
}

/// Gathering and scattering such blocks, with a given or free root.
pub(crate) fn problems(
    blocks: impl Strategy<Value = BlockSizes>,
    costs: fn(usize) -> BoxedStrategy<Costs>,
) -> impl Strategy<Value = [Problem; 2]> {
    let blocks = blocks.prop_flat_map(move |sizes| (costs(sizes.ranks()), Just(sizes)));
    let root = prop::option::of(any::<prop::sample::Index>());
    (blocks, root).prop_map(|((costs, sizes), root)| {
        let root = root.map_or(Root::Best, |root| Root::Given(root.index(sizes.ranks())));
        irregular(&sizes, &costs).map(|problem| rooted(&problem, root))
    })
}

/// The time of a tree by the recursion, which the simulation of its schedule has, too; the judge has no
/// gather later.
pub(crate) fn time(tree: &Tree, problem: &Problem) -> f64 {
    let time = completion_time(tree, problem).unwrap();
    let schedule = Schedule::of_tree(tree, problem).unwrap();
    let timeline = simulate(&schedule, problem.costs(), Sends::Synchronous).unwrap();
    let apart = (timeline.completion_time().units() - time.units()).abs();
    // A scatter is simulated from its beginning, and counted from its end.
    let rounding = if problem.costs().is_integral() { 0.0 } else { 1e-12 };
    assert!(apart <= rounding * time.units(), "{timeline:?} {time}");
    assert!(has_root(tree, problem.root()));
    if problem.operation() == Operation::Gather {
        let judged = judged_time(tree, problem).unwrap();
        assert!(judged.units() <= time.units() * (1.0 + 1e-12), "{judged} {time}");
    }
    time.units()
}

/// The least time over those of these trees that have the root and all links that they need.
pub(crate) fn least(trees: &[Tree], problem: &Problem) -> f64 {
    let timed = trees.iter().filter(|tree| has_root(tree, problem.root()));
    let times = timed.filter_map(|tree| completion_time(tree, problem).ok());
    times.map(|time| time.units()).fold(f64::INFINITY, f64::min)
}

/// The trees of six ranks in which everybody copies first, of the class of the ordered ones.
fn copy_first() -> &'static [Tree] {
    static LIST: OnceLock<Vec<Tree>> = OnceLock::new();
    LIST.get_or_init(|| filtered(|tree| Class::CopyFirst.check(tree).is_ok()))
}

/// Those in which all subtrees span consecutive ranks, and nobody has more than two children.
fn binary() -> &'static [Tree] {
    static LIST: OnceLock<Vec<Tree>> = OnceLock::new();
    LIST.get_or_init(|| {
        filtered(|tree| {
            let degrees = (0..tree.ranks()).map(|rank| tree.degree(rank));
            Class::Consecutive.check(tree).is_ok() && degrees.max() <= Some(2)
        })
    })
}

fn filtered(keeps: impl Fn(&Tree) -> bool) -> Vec<Tree> {
    trees_copying_first().iter().filter(|tree| keeps(tree)).cloned().collect()
}

/// What was found is the least time, and that of its tree; where nothing was, no tree has its links.
fn is_least(found: Result<Optimum, DpError>, least: f64, problem: &Problem) {
    match found {
        Ok(Optimum { tree, value }) => {
            assert_eq!((value, time(&tree, problem)), (least, least), "{problem:?}");
        }
        Err(error) => assert_eq!(least, f64::INFINITY, "{error}: {problem:?}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn exact_is_the_least_over_all_trees_of_four_at_any_costs(
        problems in problems(sizes(4), |ranks| any_costs(ranks).boxed()),
    ) {
        for problem in problems {
            let least = least(all_trees(problem.ranks()), &problem);
            match exact(&problem) {
                Ok(tree) => {
                    // Of trees that take as long, another may be found, whose times are rounded in another order.
                    let is_least = |time: f64| (time - least).abs() <= 1e-12 * least;
                    let found = time(&tree, &problem);
                    prop_assert!(is_least(found), "{} {} {:?}", found, least, problem);
                    let again = exact_again(&problem).unwrap();
                    prop_assert!(is_least(again.time), "{} {:?}", again.method, problem);
                    let bound = best_lower_bound(&problem).unwrap().units();
                    prop_assert!(bound <= least * (1.0 + 1e-12), "{} {}", bound, least);
                }
                Err(error) => prop_assert_eq!(least, f64::INFINITY, "{}", error),
            }
        }
    }

    #[test]
    fn exact_on_several_ports_is_the_least_over_all_trees_of_four_at_any_costs(
        problems in problems(sizes(4), |ranks| any_costs(ranks).boxed()),
        number in 2..4_u16,
    ) {
        for problem in problems {
            let problem = problem.with_ports(ports(number));
            let least = least(all_trees(problem.ranks()), &problem);
            match exact(&problem) {
                Ok(tree) => {
                    prop_assert!(has_root(&tree, problem.root()));
                    let time = completion_time(&tree, &problem).unwrap().units();
                    prop_assert_eq!(time, least, "{:?}", problem);
                    let bound = best_lower_bound(&problem).unwrap().units();
                    prop_assert!(bound <= least * (1.0 + 1e-12), "{} {}", bound, least);
                }
                Err(error) => prop_assert_eq!(least, f64::INFINITY, "{}", error),
            }
        }
    }

    #[test]
    fn ordered_and_binary_trees_per_pair_are_the_best_of_their_classes_where_latency_overlaps(
        problems in problems(six_blocks(), |ranks| {
            prop_oneof![
                overlapping(ranks),
                overlapping_matrix(ranks, 4).prop_map(Costs::Matrix),
                measured_hierarchy(ranks).prop_map(Costs::Hierarchical),
            ]
            .prop_filter("latency overlaps", Costs::overlaps)
            .boxed()
        }),
    ) {
        for problem in problems {
            let ordered = least(copy_first(), &problem);
            let is_linear = problem.costs().check_linear().is_ok();
            for method in PairMethod::all().filter(|&method| is_linear || method == PairMethod::Plain) {
                is_least(optimal_per_pair(&problem, method, &()), ordered, &problem);
            }
            let found = optimal_binary_per_pair(&problem, &());
            is_least(found, least(binary(), &problem), &problem);
            if let Ok(tree) = exact(&problem) {
                prop_assert!(time(&tree, &problem) <= ordered);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn broadcasts_and_reductions_are_the_least_over_all_trees_of_six_where_latency_overlaps(
        costs in overlapping_costs().prop_filter("latency overlaps", Homogeneous::overlaps),
        bytes in 0..9_u64,
        root in 0..=MOST_COPYING_FIRST,
    ) {
        let root = if root < MOST_COPYING_FIRST { Root::Given(root) } else { Root::Best };
        let vector = Vector { ranks: MOST_COPYING_FIRST, bytes };
        for operation in [Operation::Broadcast, Operation::Reduce] {
            let problem = rooted(&Problem::new(operation, vector, costs).unwrap(), root);
            let least = least_of(trees_copying_first(), &problem);
            is_least(optimal_broadcast(&problem), least, &problem);
            let by_pairs = optimal_per_pair(&problem, PairMethod::Hinges, &());
            is_least(by_pairs, least, &problem);
            let binary = optimal_binary_per_pair(&problem, &());
            prop_assert!(check_combines_neighbours(&binary.as_ref().unwrap().tree).is_ok());
            let combining = |tree: &&Tree| check_combines_neighbours(tree).is_ok();
            let combining: Vec<Tree> = self::binary().iter().filter(combining).cloned().collect();
            is_least(binary, least_of(&combining, &problem), &problem);
        }
    }

    #[test]
    fn exact_is_the_least_over_all_trees_of_six_at_any_costs(
        problems in problems(six_blocks(), |ranks| {
            prop_oneof![
                overlapping(ranks),
                measured_hierarchy(ranks).prop_map(Costs::Hierarchical),
                matrix(ranks, 0).prop_map(Costs::Matrix),
            ]
            .boxed()
        }),
    ) {
        for problem in problems {
            let tree = exact(&problem).unwrap();
            let least = least_of(trees_copying_first(), &problem);
            prop_assert_eq!(time(&tree, &problem), least);
            prop_assert_eq!(exact_again(&problem).unwrap().time, least);
        }
    }
}

#[test]
fn the_work_of_exact_is_told_beforehand() {
    let one_port = Homogeneous::new(9.0, 1.0, 0.0).unwrap();
    let overlapping = one_port.with_overhead(2.0).unwrap();
    let pairs =
        CostMatrix::from_fn(5, |one, other| one.abs_diff(other) as f64, |_, _| 1.0, |_| 0.0);
    let sizes = BlockSizes::new([5, 1, 2, 3, 4]).unwrap();
    let work = |costs: &Costs, root| {
        let problem = Problem::gather(&sizes, costs).unwrap().with_root(root).unwrap();
        exact_work(&problem).unwrap()
    };
    for (costs, given, best) in [
        (one_port.into(), 81, 81),
        (overlapping.into(), 81, 243),
        (Costs::Matrix(pairs.unwrap()), 5 * 81, 5 * 81),
    ] {
        let costs = &costs;
        assert_eq!((work(costs, Root::Given(3)), work(costs, Root::Best)), (given, best));
    }
}
