//! No construction beats an optimum over the trees that it is one of.

use proptest::prelude::*;
use tuwtree_dp::{
    PairMethod, default_binary_method, default_method, optimal, optimal_binary, optimal_broadcast,
    optimal_per_pair,
};
use tuwtree_laws::ordered_trees::has_two_left_subtrees;
use tuwtree_laws::pairs::instances;
use tuwtree_laws::problems;
use tuwtree_model::{
    BlockSizes, Collective, Homogeneous, Rank, Root, Tree, Vector, check_ordered, completion_time,
    joins_adjacent_ranges, lower_bound,
};
use tuwtree_treegen::{AdaptiveRule, adaptive, linear, oblivious};

/// All other constructions' trees for a root, the optimal binary one last.
fn rivals(sizes: &BlockSizes, costs: &Homogeneous, root: Rank) -> Vec<Tree> {
    let processors = sizes.processors();
    let mut trees = vec![linear(processors, root).unwrap(), oblivious(processors, root).unwrap()];
    trees.extend(
        AdaptiveRule::ALL.map(|rule| adaptive(sizes, costs, Root::Given(root), rule).unwrap()),
    );
    trees.push(
        optimal_binary(sizes, costs, Root::Given(root), default_binary_method(costs)).unwrap().tree,
    );
    trees
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn nothing_beats_optimal_but_two_left_subtrees(
        sizes in problems::sizes(24), costs in problems::costs(), root in 0..24_usize,
    ) {
        let root = root % sizes.processors();
        let method = default_method(&sizes, &costs);
        let best = optimal(&sizes, &costs, Root::Best, method).unwrap();
        let given = optimal(&sizes, &costs, Root::Given(root), method).unwrap();
        prop_assert!(best.value <= given.value);
        prop_assert_eq!(check_ordered(&best.tree), Ok(()));
        prop_assert_eq!(check_ordered(&given.tree), Ok(()));
        let bound = lower_bound(root, &sizes, &costs).unwrap().units();
        prop_assert!(given.value >= bound);
        prop_assert!(joins_adjacent_ranges(&best.tree) && joins_adjacent_ranges(&given.tree));
        let rivals = rivals(&sizes, &costs, root);
        let mut times = Vec::new();
        for tree in &rivals {
            prop_assert_eq!(check_ordered(tree), Ok(()));
            let time = completion_time(tree, &sizes, &costs).unwrap().units();
            prop_assert!(time >= bound);
            times.push(time);
        }
        // The binary tree comes last, and alone may be no join of adjacent ranges.
        let binary = times.pop().unwrap();
        prop_assert!(times.iter().all(|&time| given.value <= time), "{:?}", times);
        prop_assert!(given.value <= binary || has_two_left_subtrees(rivals.last().unwrap()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn no_binomial_tree_beats_the_optimum_for_each_pair(
        instance in instances(30), root in 0..30_usize,
    ) {
        let costs = &instance.costs;
        let root = root % instance.sizes.processors();
        for problem in instance.collectives() {
            let binomial = oblivious(problem.processors(), root).unwrap();
            let rival = completion_time(&binomial, problem, costs);
            match optimal_per_pair(problem, costs, Root::Given(root), PairMethod::Hinges, &()) {
                Ok(optimum) => {
                    prop_assert!(rival.is_err() || optimum.value <= rival.unwrap().units());
                }
                Err(_) => prop_assert!(rival.is_err()),
            }
        }
    }

    #[test]
    fn binomial_trees_are_optimal_for_homogeneous_broadcast(
        processors in 1..=6_usize, bytes in 0..9_u64, alpha in 0..40_u32, beta in 0..4_u32,
    ) {
        let costs = Homogeneous::new(alpha.into(), beta.into(), 1.0).unwrap();
        let vector = Vector { processors, bytes };
        for root in 0..processors {
            let optimum = optimal_broadcast(vector, &costs, Root::Given(root)).unwrap();
            let binomial = oblivious(processors, root).unwrap();
            let time = completion_time(&binomial, Collective::Reduce(vector), &costs).unwrap();
            prop_assert_eq!(time.units(), optimum.value);
        }
    }
}
