//! No construction beats an optimum over the trees that it is one of.

use proptest::prelude::*;
use tuwtree_bounds::lower_bound;
use tuwtree_dp::{
    PairMethod, default_binary_method, default_method, optimal_adjacent, optimal_binary,
    optimal_broadcast, optimal_per_pair,
};
use tuwtree_laws::ordered_trees::has_two_left_subtrees;
use tuwtree_laws::pairs::instances;
use tuwtree_laws::problems::{self, gather, root_of, rooted};
use tuwtree_model::{
    ClosedSet, Homogeneous, Operation, Problem, Root, Tree, Vector, check_ordered, completion_time,
    joins_adjacent_ranges,
};
use tuwtree_treegen::{AdaptiveRule, adaptive, linear, oblivious};

/// All other constructions' trees for a given root, the optimal binary one last.
fn rivals(problem: &Problem) -> Vec<Tree> {
    let mut trees = vec![linear(problem).unwrap(), oblivious(problem).unwrap()];
    trees.extend(AdaptiveRule::all().map(|rule| adaptive(problem, rule).unwrap()));
    let method = default_binary_method(problem);
    trees.push(optimal_binary(problem, method, &()).unwrap().tree);
    trees
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn nothing_beats_optimal_but_two_left_subtrees(
        sizes in problems::sizes(24), costs in problems::costs(), root in 0..24_usize,
    ) {
        let problem = gather(&sizes, costs, root_of(Some(root), &sizes));
        let method = default_method(&problem);
        let best = optimal_adjacent(&rooted(&problem, Root::Best), method, &()).unwrap();
        let given = optimal_adjacent(&problem, method, &()).unwrap();
        prop_assert!(best.value <= given.value);
        prop_assert_eq!(check_ordered(&best.tree), Ok(()));
        prop_assert_eq!(check_ordered(&given.tree), Ok(()));
        let bound = lower_bound(&problem).unwrap().units();
        prop_assert!(given.value >= bound);
        prop_assert!(joins_adjacent_ranges(&best.tree) && joins_adjacent_ranges(&given.tree));
        let rivals = rivals(&problem);
        let mut times = Vec::new();
        for tree in &rivals {
            prop_assert_eq!(check_ordered(tree), Ok(()));
            let time = completion_time(tree, &problem).unwrap().units();
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
        let root = root_of(Some(root), &instance.sizes);
        for problem in instance.problems() {
            let problem = rooted(&problem, root);
            let rival = oblivious(&problem).map(|tree| completion_time(&tree, &problem)).unwrap();
            match optimal_per_pair(&problem, PairMethod::Hinges, &()) {
                Ok(optimum) => {
                    prop_assert!(rival.is_err() || optimum.value <= rival.unwrap().units());
                }
                Err(_) => prop_assert!(rival.is_err()),
            }
        }
    }

    #[test]
    fn binomial_trees_are_optimal_for_homogeneous_broadcast(
        ranks in 1..=6_usize, bytes in 0..9_u64, alpha in 0..40_u32, beta in 0..4_u32,
    ) {
        let costs = Homogeneous::new(alpha.into(), beta.into(), 1.0).unwrap();
        let vector = Vector { ranks, bytes };
        for root in 0..ranks {
            let problem = |operation| {
                rooted(&Problem::new(operation, vector, costs).unwrap(), Root::Given(root))
            };
            let optimum = optimal_broadcast(&problem(Operation::Broadcast)).unwrap();
            let reduction = problem(Operation::Reduce);
            let binomial = oblivious(&reduction).unwrap();
            let time = completion_time(&binomial, &reduction).unwrap();
            prop_assert_eq!(time.units(), optimum.value);
        }
    }
}
