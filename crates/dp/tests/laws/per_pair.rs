//! Costs of each pair of processors, broadcast and reduction: the dynamic programs against the
//! exhaustive search of all ordered trees.

use proptest::prelude::*;
use tuwtree_dp::{
    DpError, OptimalTree, PairMethod, optimal_binary_per_pair, optimal_broadcast, optimal_per_pair,
};
use tuwtree_laws::ordered_trees::{Class, ordered_trees};
use tuwtree_laws::pairs::{Instance, instances};
use tuwtree_model::{
    BlockSizes, Collective, CostMatrix, CostModel, Cut, Homogeneous, Rank, Root, Vector,
    completion_time, joins_adjacent_ranges,
};

/// The most processors of which all trees are tried.
const MOST: usize = 6;

/// The least completion time by root over all trees of a class, from the definition; infinite where
/// all trees lack a link.
fn least_times(class: Class, problem: Collective<'_>, costs: &impl CostModel) -> Vec<f64> {
    let mut least = vec![f64::INFINITY; problem.processors()];
    for tree in ordered_trees(class, problem.processors()) {
        if let Ok(time) = completion_time(tree, problem, costs) {
            least[tree.root()] = least[tree.root()].min(time.units());
        }
    }
    least
}

/// The value is the least one and its tree attains it; where there is no tree, the error is true.
fn is_least(
    found: Result<OptimalTree, DpError>,
    least: f64,
    (problem, costs): (Collective<'_>, &CostMatrix),
    root: Root,
) {
    match found {
        Ok(optimum) => {
            let time = completion_time(&optimum.tree, problem, costs).unwrap().units();
            assert_eq!((optimum.value, time), (least, least), "{root:?} {problem:?}");
            assert!(root == Root::Best || root == Root::Given(optimum.tree.root()));
        }
        Err(error) => {
            assert_eq!(least, f64::INFINITY, "{error}");
            is_true(&error, (problem, costs), root);
        }
    }
}

/// That links are missing as the error says.
fn is_true(error: &DpError, (problem, costs): (Collective<'_>, &CostMatrix), asked: Root) {
    match error {
        DpError::NoTree(Cut::Root { root, from, to }) => {
            assert_eq!(asked, Root::Given(*root));
            assert_eq!(from.len() + to.len(), problem.processors());
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
            assert!(first < last && *last < problem.processors());
        }
        other => panic!("{other}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn per_pair_trees_are_the_least_over_all_ordered_trees(instance in instances(MOST)) {
        let costs = &instance.costs;
        for problem in instance.collectives() {
            let any = least_times(Class::Ordered, problem, costs);
            let binary = least_times(Class::Binary, problem, costs);
            let best = |times: &[f64]| times.iter().copied().fold(f64::INFINITY, f64::min);
            let given = (0..problem.processors()).map(Root::Given);
            for root in given.chain([Root::Best]) {
                let least = |times: &[f64]| match root {
                    Root::Given(root) => times[root],
                    Root::Best => best(times),
                };
                for method in PairMethod::ALL {
                    let found = optimal_per_pair(problem, costs, root, method, &());
                    is_least(found, least(&any), (problem, costs), root);
                }
                let found = optimal_binary_per_pair(problem, costs, root, &());
                is_least(found, least(&binary), (problem, costs), root);
            }
        }
    }

    #[test]
    fn outward_operations_mirror_inward_ones_with_all_links_reversed(
        instance in instances(16), root in 0..16_usize,
    ) {
        let Instance { sizes, costs, .. } = &instance;
        let processors = sizes.processors();
        let reversed = CostMatrix::from_fn(
            processors,
            |sender, receiver| costs.alpha(receiver, sender),
            |sender, receiver| costs.beta(receiver, sender),
            |rank| costs.gamma(rank),
        ).unwrap();
        let [gather, scatter, broadcast, reduce] = instance.collectives();
        for root in [Root::Best, Root::Given(root % processors)] {
            for (outward, inward) in [(scatter, gather), (broadcast, reduce)] {
                let tree = |problem: Collective<'_>, costs| {
                    optimal_per_pair(problem, costs, root, PairMethod::Hinges, &()).ok()
                };
                prop_assert_eq!(tree(outward, costs), tree(inward, &reversed));
                let binary = |problem: Collective<'_>, costs| {
                    optimal_binary_per_pair(problem, costs, root, &()).ok()
                };
                prop_assert_eq!(binary(outward, costs), binary(inward, &reversed));
            }
        }
    }

    #[test]
    fn optimal_trees_join_adjacent_ranges(instance in instances(30), root in 0..30_usize) {
        let costs = &instance.costs;
        let root = Root::Given(root % instance.sizes.processors());
        for problem in instance.collectives() {
            match optimal_per_pair(problem, costs, root, PairMethod::Hinges, &()) {
                Ok(optimum) => prop_assert!(joins_adjacent_ranges(&optimum.tree)),
                Err(error) => is_true(&error, (problem, costs), root),
            }
        }
    }

    #[test]
    fn homogeneous_broadcast_is_the_least_over_all_ordered_trees(
        processors in 1..=MOST, bytes in 0..9_u64, alpha in 0..40_u32, beta in 0..4_u32,
    ) {
        let costs = Homogeneous::new(alpha.into(), beta.into(), 1.0).unwrap();
        let vector = Vector { processors, bytes };
        let least = least_times(Class::Ordered, Collective::Broadcast(vector), &costs);
        for (root, &least) in least.iter().enumerate() {
            let optimum = optimal_broadcast(vector, &costs, Root::Given(root)).unwrap();
            let time = completion_time(&optimum.tree, Collective::Reduce(vector), &costs).unwrap();
            prop_assert_eq!((optimum.value, time.units()), (least, least));
        }
    }
}

/// Costs with alpha 1 on these links and no others, beta = 1, gamma = 0.
fn links(processors: usize, links: &[(Rank, Rank)]) -> CostMatrix {
    let alpha = |sender, receiver| match links.contains(&(sender, receiver)) {
        true => 1.0,
        false => f64::INFINITY,
    };
    CostMatrix::from_fn(processors, alpha, |_, _| 1.0, |_| 0.0).unwrap()
}

/// The error of both methods for a gather of these blocks.
fn error(blocks: &[u64], costs: &CostMatrix, root: Root) -> DpError {
    let sizes = BlockSizes::new(blocks.to_vec()).unwrap();
    let by = |method| optimal_per_pair(&sizes, costs, root, method, &()).unwrap_err();
    let [plain, fast] = PairMethod::ALL.map(by);
    assert_eq!(plain, fast);
    fast
}

#[test]
fn processors_without_a_way_to_the_root_are_named() {
    let costs = links(5, &[(0, 1), (1, 0), (1, 2), (3, 4), (4, 3), (2, 3)]);
    assert_eq!(
        error(&[1; 5], &costs, Root::Given(2)).to_string(),
        "there is no tree with root 2: no link leads from processors 3..=4 to processors 0..=2"
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
            operation: tuwtree_model::Operation::Gather,
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
    for method in PairMethod::ALL {
        let optimum = optimal_per_pair(&sizes, &none, Root::Given(1), method, &()).unwrap();
        assert_eq!(optimum.value, 0.0);
    }
    assert_eq!(optimal_binary_per_pair(&sizes, &none, Root::Best, &()).unwrap().value, 0.0);
}
