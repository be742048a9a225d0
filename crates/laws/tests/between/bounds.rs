//! No tree is faster than a lower bound says.

use proptest::prelude::*;
use tuwtree_bounds::{best_lower_bound, count_bound, lower_bound, volume_bound};
use tuwtree_dp::non_ordered::exact;
use tuwtree_laws::all_trees::{self, least_time};
use tuwtree_laws::problems::{self, gather, homogeneous, root_of, with_each_root};
use tuwtree_laws::random_trees::trees;
use tuwtree_model::{
    BlockSizes, ClosedSet, Distribution, DistributionParameters, Homogeneous, Problem, Randomness,
    Root, completion_time,
};
use tuwtree_treegen::greedy;

fn exact_time(problem: &Problem) -> f64 {
    completion_time(&exact(problem).unwrap(), problem).unwrap().units()
}

/// Few blocks, of sizes that make waiting pay.
fn few() -> impl Strategy<Value = BlockSizes> {
    let block = prop_oneof![
        4 => 0..12_u64,
        2 => 1..60_u64,
        1 => Just(0_u64),
        1 => 200..400_u64,
    ];
    prop::collection::vec(block, 1..=8).prop_map(|sizes| BlockSizes::new(sizes).unwrap())
}

/// Costs with alphas from none to more than all blocks take.
fn costs() -> impl Strategy<Value = Homogeneous> {
    (prop_oneof![0..6_u32, 5..40_u32, 30..400_u32], 0..4_u32, 0..5_u32)
        .prop_map(|(alpha, beta, gamma)| homogeneous(alpha, beta, gamma))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100_000))]

    #[test]
    fn no_bound_is_above_the_exact_optimum(
        sizes in few(), costs in costs(), root in prop::option::of(0..8_usize),
    ) {
        let problem = gather(&sizes, costs, root_of(root, &sizes));
        let [simple, volume, count, best] =
            [lower_bound, volume_bound, count_bound, best_lower_bound]
                .map(|bound| bound(&problem).unwrap().units());
        prop_assert!(simple <= volume && volume <= count && count <= best);
        prop_assert!(best <= exact_time(&problem));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn no_tree_whatever_is_faster_than_the_bound(
        (tree, sizes) in trees(problems::sizes(60)), costs in problems::costs(),
    ) {
        for root in [Root::Best, Root::Given(tree.root())] {
            let problem = gather(&sizes, costs, root);
            let time = completion_time(&tree, &problem).unwrap();
            prop_assert!(best_lower_bound(&problem).unwrap() <= time);
        }
    }

    #[test]
    fn rounding_does_not_lift_a_bound_above_any_tree(
        sizes in few(), costs in costs(), factor in 1e-3..1e3_f64, root in 0..8_usize,
    ) {
        let scaled = |cost: f64| cost * factor;
        let costs =
            Homogeneous::new(scaled(costs.alpha()), scaled(costs.beta()), scaled(costs.gamma()));
        let problem = gather(&sizes, costs.unwrap(), root_of(Some(root), &sizes));
        let bound = best_lower_bound(&problem).unwrap().units();
        prop_assert!(bound <= exact_time(&problem));
    }

    #[test]
    fn with_gamma_at_most_beta_a_largest_block_is_a_best_root(
        sizes in few(), alpha in 0..60_u32, beta in 0..4_u32, less in 0..4_u32,
    ) {
        let costs = homogeneous(alpha, beta, beta.saturating_sub(less));
        let time = |root| exact_time(&gather(&sizes, costs, root));
        let mut times: Vec<(u64, f64)> = (0..sizes.ranks())
            .map(|root| (sizes.block(root), time(Root::Given(root))))
            .collect();
        times.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.total_cmp(&b.1)));
        prop_assert!(times.is_sorted_by(|a, b| a.1 <= b.1), "{:?}", times);
        prop_assert_eq!(times[0].1, time(Root::Best));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn no_bound_is_above_the_least_of_all_trees(
        sizes in prop::collection::vec(0..30_u64, 1..=all_trees::MOST), costs in costs(),
    ) {
        let sizes = BlockSizes::new(sizes).unwrap();
        for problem in with_each_root(&gather(&sizes, costs, Root::Best)) {
            let bound = count_bound(&problem).unwrap().units();
            prop_assert!(bound <= least_time(&problem));
        }
    }
}

#[test]
fn copies_dearer_than_messages_make_large_blocks_bad_roots() {
    // Beta 0, gamma 1: the root of block 9 copies for 9, that of block 1 for 1.
    let sizes = BlockSizes::new([9, 1]).unwrap();
    let costs = homogeneous(0, 0, 1);
    let times = [0, 1].map(|root| exact_time(&gather(&sizes, costs, Root::Given(root))));
    assert_eq!(times, [9.0, 1.0]);
}

#[test]
fn the_bound_is_within_an_alpha_of_greedy_trees_on_all_distributions() {
    let parameters = DistributionParameters::new(2000, 1000);
    let mut attained = 0;
    for distribution in Distribution::published() {
        let sizes = distribution.sizes(parameters, Randomness::Glibc { seed: 1 }).unwrap();
        for gamma in [0, 1] {
            let costs = homogeneous(100, 1, gamma);
            for root in [Root::Given(1000), Root::Best] {
                let problem = gather(&sizes, costs, root);
                let bound = best_lower_bound(&problem).unwrap().units();
                let tree = greedy(&problem).unwrap();
                let time = completion_time(&tree, &problem).unwrap().units();
                assert!((bound..=bound + 100.0).contains(&time), "{}", distribution.name());
                attained += usize::from(time == bound);
            }
        }
    }
    // Of 44, these are optimal beyond doubt.
    assert!(attained >= 42, "{attained}");
}

#[test]
fn a_million_blocks_have_a_bound_and_greedy_attains_it() {
    for distribution in [Distribution::Random, Distribution::Skewed] {
        let parameters = DistributionParameters::new(1_000_000, 1000);
        let sizes = distribution.sizes(parameters, Randomness::Xoshiro { seed: 1 }).unwrap();
        let problem = gather(&sizes, homogeneous(100, 1, 1), Root::Given(500_000));
        let bound = best_lower_bound(&problem).unwrap();
        let tree = greedy(&problem).unwrap();
        assert_eq!(completion_time(&tree, &problem).unwrap(), bound, "{}", distribution.name());
    }
}
