//! No tree is judged faster than the bound on judged times says, and few are after a search by the judge.

use proptest::prelude::*;
use tuwtree_bounds::lower_bound_below;
use tuwtree_dp::polish::{Polish, admits, polished};
use tuwtree_laws::all_trees::{all_trees, has_root};
use tuwtree_laws::machines::{measured_hierarchy, networks, on, overlapping};
use tuwtree_laws::problems::of_each_operation;
use tuwtree_model::{
    BlockSizes, Costs, Homogeneous, Network, Problem, Root, Time, Tree, WireOwner, check_ordered,
    judged_time,
};

proptest! {
    #[test]
    fn no_tree_of_few_ranks_is_judged_below_the_bound(
        blocks in prop::collection::vec(prop_oneof![0_u64..5, 0_u64..200, 1_u64..3], 2..=5),
        (latency, overhead, beta, gamma) in (0.0..300.0, 0.0..150.0, 0.0..2.0, 0.0..2.0),
        is_outward in any::<bool>(),
        root in prop::option::of(0_usize..5),
    ) {
        let sizes = BlockSizes::new(blocks.iter().copied()).unwrap();
        let costs = Homogeneous::new(latency + overhead, beta, gamma).unwrap();
        let costs = costs.with_overhead(overhead).unwrap();
        let problem = match is_outward {
            true => Problem::scatter(&sizes, costs),
            false => Problem::gather(&sizes, costs),
        };
        let root = root.map_or(Root::Best, |root| Root::Given(root % blocks.len()));
        let problem = problem.unwrap().with_root(root).unwrap();
        let trees = all_trees(blocks.len()).iter().filter(|tree| has_root(tree, root));
        let least = trees.map(|tree| judged_time(tree, &problem).unwrap()).min().unwrap();
        for most in [1.1, 2.0, 10.0].map(|factor| Time::new(factor * least.units()).unwrap()) {
            let bound = lower_bound_below(&problem, most).unwrap();
            prop_assert!(bound <= least, "{bound} > {least}: {problem:?}");
        }
    }

    #[test]
    fn no_tree_on_any_machine_is_judged_below_the_bound(
        (sizes, costs) in blocks().prop_flat_map(|sizes| {
            let costs = prop_oneof![
                overlapping(sizes.ranks()),
                measured_hierarchy(sizes.ranks()).prop_map(Costs::Hierarchical),
            ];
            (Just(sizes), costs)
        }),
        network in networks(),
        shares_wires in any::<bool>(),
        vector in 0_u64..300,
        root in prop::option::of(0_usize..5),
    ) {
        let wire = if shares_wires { WireOwner::Node } else { WireOwner::Rank };
        let costs = on(Network { wire, ..network }, costs);
        let ranks = sizes.ranks();
        let root = root.map_or(Root::Best, |root| Root::Given(root % ranks));
        for problem in of_each_operation(&sizes, vector, costs) {
            let problem = problem.with_root(root).unwrap();
            let trees = all_trees(ranks).iter().filter(|tree| has_root(tree, root));
            let least = trees.map(|tree| judged_time(tree, &problem).unwrap()).min().unwrap();
            // Far enough above, since no bound is above the time that it is told.
            for factor in [1.1, 3.0] {
                let most = Time::new(factor * least.units()).unwrap();
                let bound = lower_bound_below(&problem, most).unwrap().units();
                let rounded = least.units() * (1.0 + 1e-12);
                prop_assert!(bound <= rounded, "{bound} > {least} below {most}: {problem:?}");
            }
        }
    }

    #[test]
    fn a_search_by_the_judge_ends_with_trees_of_the_order_asked_for_that_are_no_slower(
        (sizes, costs) in blocks().prop_flat_map(|sizes| {
            let costs = prop_oneof![
                overlapping(sizes.ranks()),
                measured_hierarchy(sizes.ranks()).prop_map(Costs::Hierarchical),
            ];
            (Just(sizes), costs)
        }),
        network in networks(),
        is_outward in any::<bool>(),
        start in any::<prop::sample::Index>(),
        seed in any::<u64>(),
    ) {
        let costs = on(network, costs);
        let problem = match is_outward {
            true => Problem::scatter(&sizes, costs),
            false => Problem::gather(&sizes, costs),
        };
        let problem = problem.unwrap();
        // Others are not changed.
        let admitted = admits(&problem);
        let ordered: Vec<&Tree> =
            all_trees(sizes.ranks()).iter().filter(|tree| check_ordered(tree).is_ok()).collect();
        for keeps_ranges in [true, false] {
            let start = match keeps_ranges {
                true => start.get(&ordered),
                false => &start.get(all_trees(sizes.ranks())),
            };
            let tree: &Tree = start;
            let found = polished(&problem, tree, Polish { steps: 50, seed, keeps_ranges }).unwrap();
            let [before, after] = [start, &found].map(|tree| judged_time(tree, &problem).unwrap());
            prop_assert!(after <= before, "{after} > {before}: {problem:?}");
            prop_assert!(admitted || found == *tree, "{found:?}");
            prop_assert!(!keeps_ranges || check_ordered(&found).is_ok(), "{found:?}");
        }
    }
}

/// Up to five blocks, some of them empty or equal.
fn blocks() -> impl Strategy<Value = BlockSizes> {
    prop::collection::vec(prop_oneof![0_u64..5, 0_u64..200, 1_u64..3], 2..=5)
        .prop_map(|blocks| BlockSizes::new(blocks).unwrap())
}
