//! No tree is faster than a lower bound says.

use proptest::prelude::*;
use tuwtree_dp::non_ordered::exact;
use tuwtree_laws::all_trees::{self, least_time};
use tuwtree_laws::problems::{self, homogeneous};
use tuwtree_laws::random_trees::trees;
use tuwtree_model::{
    BlockSizes, Distribution, Homogeneous, Randomness, Root, Scale, best_lower_bound,
    completion_time, count_bound, lower_bound, lower_bound_any_root, volume_bound,
};
use tuwtree_treegen::greedy;

fn exact_time(sizes: &BlockSizes, costs: &Homogeneous, root: Root) -> f64 {
    let tree = exact(sizes, costs, root).unwrap();
    completion_time(&tree, sizes, costs).unwrap().units()
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
        let root = root.map_or(Root::Best, |root| Root::Given(root % sizes.processors()));
        let simple = match root {
            Root::Given(root) => lower_bound(root, &sizes, &costs),
            Root::Best => lower_bound_any_root(&sizes, &costs),
        };
        let [simple, volume, count, best] = [
            simple,
            volume_bound(root, &sizes, &costs),
            count_bound(root, &sizes, &costs),
            best_lower_bound(root, &sizes, &costs),
        ].map(|bound| bound.unwrap().units());
        prop_assert!(simple <= volume && volume <= count && count == best);
        prop_assert!(count <= exact_time(&sizes, &costs, root));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn no_tree_whatever_is_faster_than_the_bound(
        (tree, sizes) in trees(problems::sizes(60)), costs in problems::costs(),
    ) {
        let time = completion_time(&tree, &sizes, &costs).unwrap();
        for root in [Root::Best, Root::Given(tree.root())] {
            prop_assert!(best_lower_bound(root, &sizes, &costs).unwrap() <= time);
        }
    }

    #[test]
    fn rounding_does_not_lift_a_bound_above_any_tree(
        sizes in few(), costs in costs(), factor in 1e-3..1e3_f64, root in 0..8_usize,
    ) {
        let scaled = |cost: f64| cost * factor;
        let costs =
            Homogeneous::new(scaled(costs.alpha()), scaled(costs.beta()), scaled(costs.gamma()));
        let (costs, root) = (costs.unwrap(), Root::Given(root % sizes.processors()));
        let time = exact_time(&sizes, &costs, root);
        prop_assert!(best_lower_bound(root, &sizes, &costs).unwrap().units() <= time);
    }

    #[test]
    fn with_gamma_at_most_beta_a_largest_block_is_a_best_root(
        sizes in few(), alpha in 0..60_u32, beta in 0..4_u32, less in 0..4_u32,
    ) {
        let costs = homogeneous(alpha, beta, beta.saturating_sub(less));
        let mut times: Vec<(u64, f64)> = (0..sizes.processors())
            .map(|root| (sizes.block(root), exact_time(&sizes, &costs, Root::Given(root))))
            .collect();
        times.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.total_cmp(&b.1)));
        prop_assert!(times.is_sorted_by(|a, b| a.1 <= b.1), "{:?}", times);
        prop_assert_eq!(times[0].1, exact_time(&sizes, &costs, Root::Best));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn no_bound_is_above_the_least_of_all_trees(
        sizes in prop::collection::vec(0..30_u64, 1..=all_trees::MOST), costs in costs(),
    ) {
        let sizes = BlockSizes::new(sizes).unwrap();
        for root in (0..sizes.processors()).map(Root::Given).chain([Root::Best]) {
            let bound = count_bound(root, &sizes, &costs).unwrap().units();
            prop_assert!(bound <= least_time(&sizes, &costs, root));
        }
    }
}

#[test]
fn copies_dearer_than_messages_make_large_blocks_bad_roots() {
    // Beta 0, gamma 1: the root of block 9 copies for 9, that of block 1 for 1.
    let sizes = BlockSizes::new([9, 1]).unwrap();
    let costs = homogeneous(0, 0, 1);
    let times = [0, 1].map(|root| exact_time(&sizes, &costs, Root::Given(root)));
    assert_eq!(times, [9.0, 1.0]);
}

#[test]
fn the_bound_is_within_an_alpha_of_greedy_trees_on_all_distributions() {
    let scale = Scale { processors: 2000, mean_block: 1000, rho: 5 };
    let mut attained = 0;
    for distribution in Distribution::ALL {
        let sizes = distribution.sizes(scale, Randomness::Glibc { seed: 1 }).unwrap();
        for gamma in [0, 1] {
            let costs = homogeneous(100, 1, gamma);
            for root in [Root::Given(1000), Root::Best] {
                let bound = best_lower_bound(root, &sizes, &costs).unwrap().units();
                let tree = greedy(&sizes, &costs, root).unwrap();
                let time = completion_time(&tree, &sizes, &costs).unwrap().units();
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
        let scale = Scale { processors: 1_000_000, mean_block: 1000, rho: 5 };
        let sizes = distribution.sizes(scale, Randomness::Xoshiro { seed: 1 }).unwrap();
        let costs = homogeneous(100, 1, 1);
        let bound = best_lower_bound(Root::Given(500_000), &sizes, &costs).unwrap();
        let tree = greedy(&sizes, &costs, Root::Given(500_000)).unwrap();
        assert_eq!(
            completion_time(&tree, &sizes, &costs).unwrap(),
            bound,
            "{}",
            distribution.name()
        );
    }
}
