//! Costs of each pair of ranks, broadcast and reduction: the dynamic programs against the
//! exhaustive search of all ordered trees.

use proptest::prelude::*;
use tuwtree_dp::{
    DpError, Optimum, PairMethod, optimal_binary_per_pair, optimal_broadcast, optimal_per_pair,
};
use tuwtree_laws::all_trees::has_root;
use tuwtree_laws::ordered_trees::{OrderedClass, ordered_trees};
use tuwtree_laws::pairs::{Instance, instances};
use tuwtree_laws::problems::{gather, of_each_operation, root_of, rooted, with_each_root};
use tuwtree_model::{
    BlockSizes, ClosedSet, CostMatrix, Costs, Cut, Homogeneous, Operation, Problem, Rank, Root,
    Vector, completion_time, joins_adjacent_ranges,
};

/// The most ranks of which all trees are tried.
const MOST: usize = 6;

/// The least completion time by root over all trees of a class, from the definition; infinite where
/// all trees lack a link.
fn least_times(class: OrderedClass, problem: &Problem) -> Vec<f64> {
    let mut least = vec![f64::INFINITY; problem.ranks()];
    for tree in ordered_trees(class, problem.ranks()) {
        if let Ok(time) = completion_time(tree, problem) {
            least[tree.root()] = least[tree.root()].min(time.units());
        }
    }
    least
}

/// The value is the least one and its tree attains it; where there is no tree, the error is true.
fn is_least(found: Result<Optimum, DpError>, least: f64, problem: &Problem) {
    match found {
        Ok(optimum) => {
            let time = completion_time(&optimum.tree, problem).unwrap().units();
            assert_eq!((optimum.value, time), (least, least), "{problem:?}");
            assert!(has_root(&optimum.tree, problem.root()));
        }
        Err(error) => {
            assert_eq!(least, f64::INFINITY, "{error}");
            is_true(&error, problem);
        }
    }
}

/// That links are missing as the error says.
fn is_true(error: &DpError, problem: &Problem) {
    let Costs::Matrix(costs) = problem.costs() else { panic!("no matrix") };
    let asked = problem.root();
    match error {
        DpError::NoTree(Cut::Root { root, from, to }) => {
            assert_eq!(asked, Root::Given(*root));
            assert_eq!(from.len() + to.len(), problem.ranks());
            assert!(!from.is_empty() && !to.is_empty());
            for &sender in from {
                assert!(to.iter().all(|&receiver| !costs.is_linked(sender, receiver)));
            }
        }
        DpError::NoTree(Cut::AnyRoot { reached, common, .. }) => {
            assert_eq!(asked, Root::Best);
            assert!(reached.iter().all(|rank| !common.contains(rank)));
        }
        DpError::NoOrderedTree { operation, root, first, last } => {
            assert_eq!((*operation, *root), (problem.operation(), asked));
            assert!(first < last && *last < problem.ranks());
        }
        other => panic!("{other}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn per_pair_trees_are_the_least_over_all_ordered_trees(instance in instances(MOST)) {
        for problem in instance.problems() {
            let any = least_times(OrderedClass::Ordered, &problem);
            let binary = least_times(OrderedClass::Binary, &problem);
            let best = |times: &[f64]| times.iter().copied().fold(f64::INFINITY, f64::min);
            for problem in with_each_root(&problem) {
                let least = |times: &[f64]| match problem.root() {
                    Root::Given(root) => times[root],
                    Root::Best | Root::None => best(times),
                };
                for method in PairMethod::all() {
                    is_least(optimal_per_pair(&problem, method, &()), least(&any), &problem);
                }
                is_least(optimal_binary_per_pair(&problem, &()), least(&binary), &problem);
            }
        }
    }

    #[test]
    fn outward_operations_mirror_inward_ones_with_all_links_reversed(
        instance in instances(16), root in 0..16_usize,
    ) {
        let Instance { sizes, vector, costs } = &instance;
        let ranks = sizes.ranks();
        let reversed = CostMatrix::from_fn(
            ranks,
            |sender, receiver| costs.alpha(receiver, sender),
            |sender, receiver| costs.beta(receiver, sender),
            |rank| costs.gamma(rank),
        ).unwrap();
        let [_, scatter, broadcast, _] = instance.problems();
        let [gather, _, _, reduce] = of_each_operation(sizes, *vector, &reversed);
        for root in [Root::Best, Root::Given(root % ranks)] {
            for (outward, inward) in [(&scatter, &gather), (&broadcast, &reduce)] {
                let [outward, inward] = [outward, inward].map(|problem| rooted(problem, root));
                let tree = |problem| optimal_per_pair(problem, PairMethod::Hinges, &()).ok();
                prop_assert_eq!(tree(&outward), tree(&inward));
                let binary = |problem| optimal_binary_per_pair(problem, &()).ok();
                prop_assert_eq!(binary(&outward), binary(&inward));
            }
        }
    }

    #[test]
    fn optimal_trees_join_adjacent_ranges(instance in instances(30), root in 0..30_usize) {
        let root = root_of(Some(root), &instance.sizes);
        for problem in instance.problems() {
            let problem = rooted(&problem, root);
            match optimal_per_pair(&problem, PairMethod::Hinges, &()) {
                Ok(optimum) => prop_assert!(joins_adjacent_ranges(&optimum.tree)),
                Err(error) => is_true(&error, &problem),
            }
        }
    }

    #[test]
    fn homogeneous_broadcast_is_the_least_over_all_ordered_trees(
        ranks in 1..=MOST, bytes in 0..9_u64, alpha in 0..40_u32, beta in 0..4_u32,
    ) {
        let costs = Homogeneous::new(alpha.into(), beta.into(), 1.0).unwrap();
        let vector = Vector { ranks, bytes };
        let problem = |operation| Problem::new(operation, vector, costs).unwrap();
        let least = least_times(OrderedClass::Ordered, &problem(Operation::Broadcast));
        for (root, &least) in least.iter().enumerate() {
            let broadcast = rooted(&problem(Operation::Broadcast), Root::Given(root));
            let optimum = optimal_broadcast(&broadcast).unwrap();
            let time = completion_time(&optimum.tree, &problem(Operation::Reduce)).unwrap();
            prop_assert_eq!((optimum.value, time.units()), (least, least));
        }
    }
}

/// Costs with alpha 1 on these links and no others, beta = 1, gamma = 0.
fn links(ranks: usize, links: &[(Rank, Rank)]) -> CostMatrix {
    let alpha = |sender, receiver| match links.contains(&(sender, receiver)) {
        true => 1.0,
        false => f64::INFINITY,
    };
    CostMatrix::from_fn(ranks, alpha, |_, _| 1.0, |_| 0.0).unwrap()
}

/// The error of both methods for a gather of these blocks.
fn error(blocks: &[u64], costs: &CostMatrix, root: Root) -> DpError {
    let sizes = BlockSizes::new(blocks.to_vec()).unwrap();
    let problem = gather(&sizes, costs, root);
    let by = |method| optimal_per_pair(&problem, method, &()).unwrap_err();
    let [plain, fast] = [PairMethod::Plain, PairMethod::Hinges].map(by);
    assert_eq!(plain, fast);
    fast
}

#[test]
fn ranks_without_a_way_to_the_root_are_named() {
    let costs = links(5, &[(0, 1), (1, 0), (1, 2), (3, 4), (4, 3), (2, 3)]);
    assert_eq!(
        error(&[1; 5], &costs, Root::Given(2)).to_string(),
        "there is no tree with root 2: no link leads from ranks 3..=4 to ranks 0..=2"
    );
    let apart = links(4, &[(0, 1), (1, 0), (3, 2)]);
    assert!(matches!(
        error(&[1; 4], &apart, Root::Best),
        DpError::NoTree(Cut::AnyRoot { rank: 2, .. })
    ));
}

#[test]
fn where_all_reach_the_root_but_not_in_order_a_range_is_named() {
    // A path 0 - 2 - 1 - 3, both ways: from 1 to the root 0 only through 2, whose blocks then lie on
    // either side of it.
    let path = [(0, 2), (2, 0), (2, 1), (1, 2), (1, 3), (3, 1)];
    assert_eq!(
        error(&[1; 4], &links(4, &path), Root::Given(0)),
        DpError::NoOrderedTree {
            operation: Operation::Gather,
            root: Root::Given(0),
            first: 0,
            last: 1
        }
    );
}

#[test]
fn empty_blocks_need_no_links() {
    let sizes = BlockSizes::new([0, 7, 0]).unwrap();
    let none = links(3, &[]);
    let middle = gather(&sizes, &none, Root::Given(1));
    for method in PairMethod::all() {
        assert_eq!(optimal_per_pair(&middle, method, &()).unwrap().value, 0.0);
    }
    let any = gather(&sizes, &none, Root::Best);
    assert_eq!(optimal_binary_per_pair(&any, &()).unwrap().value, 0.0);
}
