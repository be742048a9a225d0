//! Trees that are composed of trees of groups.

use proptest::prelude::*;
use tuwtree_bounds::best_lower_bound;
use tuwtree_dp::composed::{
    Composer, Grain, Loads, Nesting, RelayPlan, Spread, Straight, chunked_tree, straight,
};
use tuwtree_dp::levels;
use tuwtree_dp::wider::{BySize, Class, Engine, Overlapping, optimal, optimal_by_size};
use tuwtree_laws::machines::{hierarchy, measured_hierarchy, overlapping_hierarchy};
use tuwtree_laws::problems::{gather, irregular, root_of, sizes};
use tuwtree_model::{
    BlockSizes, Hierarchy, Homogeneous, Level, LinkLaw, Piece, PiecewiseLinear, Placement, Problem,
    Rank, Root, check_ordered, completion_time,
};

/// Machines of every kind for as many ranks as there are blocks, and a root.
fn problems() -> impl Strategy<Value = (BlockSizes, Hierarchy, Root)> {
    (sizes(40), proptest::option::of(0..40_usize)).prop_flat_map(|(sizes, root)| {
        let (ranks, root) = (sizes.ranks(), root_of(root, &sizes));
        let machine =
            prop_oneof![hierarchy(ranks), overlapping_hierarchy(ranks), measured_hierarchy(ranks),];
        (Just(sizes), machine, Just(root))
    })
}

fn law(alpha: f64, overhead: f64, beta: f64) -> LinkLaw {
    let piece = Piece { from_bytes: 0, alpha, overhead, beta };
    PiecewiseLinear::new(vec![piece]).unwrap().into()
}

/// Nodes of 16 ranks, islands of 32 nodes.
fn islands() -> Hierarchy {
    let level = |(name, members, alpha, beta): (&str, usize, f64, f64)| Level {
        name: name.to_owned(),
        members,
        links: law(alpha, 0.2 * alpha, beta),
    };
    let levels =
        [("node", 16, 500.0, 0.1), ("island", 32, 1500.0, 0.3), ("network", 8, 3000.0, 0.6)];
    Hierarchy::new(levels.map(level).into(), Placement::Block, 0.1).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn whatever_is_composed_is_a_tree_with_the_root_and_not_below_the_bound(
        (sizes, machine, root) in problems(),
    ) {
        for problem in irregular(&sizes, &machine) {
            let problem = problem.with_root(root).unwrap();
            let bound = best_lower_bound(&problem).unwrap().units();
            let composer = Composer::new(&problem).unwrap();
            for nesting in composer.leader_plans() {
                let tree = composer.leaders(nesting).unwrap();
                prop_assert!(root.given().is_none_or(|root| root == tree.root()));
                let time = completion_time(&tree, &problem).unwrap().units();
                prop_assert!(bound <= time * (1.0 + 1e-12), "{bound} {time}");
                // Groups are ranges.
                if levels::memory_needed(&problem).is_ok() {
                    prop_assert_eq!(check_ordered(&tree), Ok(()));
                }
            }
            let root = root.given().unwrap_or(sizes.ranks() / 2);
            let rooted = problem.with_root(Root::Given(root)).unwrap();
            let bound = best_lower_bound(&rooted).unwrap().units();
            let mates = (0..machine.levels().len()).map(Straight::ToMates);
            for to in [Straight::ToRoot].into_iter().chain(mates) {
                for tree in straight(&rooted, root, to).unwrap() {
                    prop_assert_eq!(tree.root(), root);
                    let time = completion_time(&tree, &rooted).unwrap().units();
                    prop_assert!(bound <= time * (1.0 + 1e-12), "{to:?}: {bound} {time}");
                }
            }
            for plan in composer.relay_plans() {
                let tree = composer.relays(root, &plan).unwrap();
                prop_assert_eq!(tree.root(), root);
                let time = completion_time(&tree, &rooted).unwrap().units();
                prop_assert!(bound <= time * (1.0 + 1e-12), "{plan:?}: {bound} {time}");
            }
        }
    }

    #[test]
    fn chunks_become_a_tree_with_the_root_and_not_below_the_bound(
        (sizes, machine, root) in problems(), most in 2..20_usize,
    ) {
        for problem in irregular(&sizes, &machine) {
            let problem = problem.with_root(root).unwrap();
            let found = chunked_tree(&problem, most).unwrap();
            prop_assert!(root.given().is_none_or(|root| root == found.tree.root()));
            let bound = best_lower_bound(&problem).unwrap().units();
            let time = completion_time(&found.tree, &problem).unwrap().units();
            prop_assert!(bound <= time * (1.0 + 1e-12), "{bound} {time}");
            // Nobody is sent to directly without a given root.
            if root.given().is_none() && levels::memory_needed(&problem).is_ok() {
                prop_assert_eq!(check_ordered(&found.tree), Ok(()));
            }
        }
    }

    #[test]
    fn a_chunk_of_all_is_the_best_copy_first_tree(
        sizes in sizes(20), latency in 0..40_u32, overhead in 0..40_u32, beta in 0..4_u32,
    ) {
        let costs = Homogeneous::new(f64::from(latency + overhead), beta.into(), 1.0).unwrap();
        let costs = costs.with_overhead(overhead.into()).unwrap();
        let problem = gather(&sizes, costs, Root::Best);
        let found = chunked_tree(&problem, 20).unwrap();
        let (latency, overhead) = (f64::from(latency), f64::from(overhead));
        let costs = Overlapping::new(latency, overhead, beta.into(), 1.0).unwrap();
        let best = optimal(&sizes, &costs, Root::Best, Class::CopyFirst, Engine::Plain, &()).unwrap();
        prop_assert_eq!(completion_time(&found.tree, &problem).unwrap().units(), best.time);
        prop_assert_eq!(found.rounds, sizes.ranks().next_power_of_two().ilog2() as usize);
    }

    #[test]
    fn within_one_node_leaders_are_the_best_copy_first_tree(
        sizes in sizes(20), alpha in 0..40_u32, part in 0.0..=1.0_f64, beta in 0..4_u32, root in proptest::option::of(0..20_usize),
    ) {
        let alpha = f64::from(alpha);
        let links = law(alpha, (alpha * part).floor(), beta.into());
        let level = Level { name: "node".into(), members: 20, links: links.clone() };
        let machine = Hierarchy::new(vec![level], Placement::Block, 1.0).unwrap();
        let root = root_of(root, &sizes);
        let problem = gather(&sizes, &machine, root);
        let tree = Composer::new(&problem).unwrap().leaders(Nesting::Nested).unwrap();
        let by_size = BySize {
            sizes: &sizes,
            port: |bytes| links.times(bytes).1,
            latency: |bytes| links.times(bytes).0,
            copy: |bytes| bytes as f64,
        };
        let best = optimal_by_size(&by_size, Class::CopyFirst, root, &()).unwrap();
        prop_assert_eq!(completion_time(&tree, &problem).unwrap().units(), best.time);
    }
}

/// The time of the best tree of a kind, over the bound.
fn over_bound(times: impl Iterator<Item = f64>, problem: &Problem) -> f64 {
    times.fold(f64::INFINITY, f64::min) / best_lower_bound(problem).unwrap().units()
}

#[test]
fn relays_use_the_ports_of_all_mates_where_leaders_use_one() {
    let sizes = BlockSizes::new((0..2000).map(|rank| 500 + rank * 7919 % 1000)).unwrap();
    let problem = gather(&sizes, &islands(), Root::Given(0));
    let composer = Composer::new(&problem).unwrap();
    let time = |tree| completion_time(&tree, &problem).unwrap().units();
    let leaders =
        composer.leader_plans().into_iter().map(|plan| time(composer.leaders(plan).unwrap()));
    assert!(over_bound(leaders, &problem) > 3.0);
    let plans = composer.relay_plans();
    let relays = plans.iter().map(|plan| time(composer.relays(0, plan).unwrap()));
    assert!(over_bound(relays, &problem) < 1.2);
}

#[test]
fn a_relay_collects_what_is_outside_and_passes_it_on_with_its_own() {
    // Nodes of two: 0 and 1; 2 and 3.
    let level =
        |name: &str, beta| Level { name: name.to_owned(), members: 2, links: law(0.0, 0.0, beta) };
    let levels = vec![level("node", 1.0), level("machine", 3.0)];
    let machine = Hierarchy::new(levels, Placement::Block, 0.0).unwrap();
    let sizes = BlockSizes::new([1, 1, 10, 10]).unwrap();
    let problem = gather(&sizes, &machine, Root::Given(0));
    let plan = RelayPlan {
        spreads: vec![Spread::Ranks(Loads::Equal)],
        grain: Grain::Node,
        nesting: Nesting::Nested,
    };
    let tree = Composer::new(&problem).unwrap().relays(0, &plan).unwrap();
    let children = |rank: Rank| tree.children(rank).collect::<Vec<_>>();
    assert_eq!((children(0), children(1)), (vec![1], vec![2]));
    // 10 within the other node, 3 * 20 to 1, 21 to 0.
    assert_eq!(completion_time(&tree, &problem).unwrap().units(), 91.0);
}

#[test]
fn chunks_of_two_take_as_many_rounds_as_a_binomial_tree_and_whoever_has_much_sends_straight() {
    let mut blocks = vec![10; 64];
    blocks[40] = 100_000;
    let sizes = BlockSizes::new(blocks).unwrap();
    let costs = Homogeneous::new(100.0, 1.0, 0.0).unwrap();
    let open = chunked_tree(&gather(&sizes, costs, Root::Best), 2).unwrap();
    assert_eq!(open.rounds, 6);
    // And an all-reduce of the sizes.
    let rooted = chunked_tree(&gather(&sizes, costs, Root::Given(0)), 16).unwrap();
    assert_eq!(rooted.rounds, 6 + 3 + 3);
    assert_eq!(rooted.tree.parent(40), Some(0));
}

#[test]
fn large_blocks_travel_once() {
    // Five ranks of the first node have nearly everything, and the root is in another island.
    let sizes = BlockSizes::new((0..1000).map(|rank| if rank < 5 { 200_000 } else { 1 })).unwrap();
    let root = 999;
    let problem = gather(&sizes, &islands(), Root::Given(root));
    let children = |to| straight(&problem, root, to).unwrap().remove(0);
    let to_root = children(Straight::ToRoot);
    assert!((0..5).all(|rank| to_root.parent(rank) == Some(root)));
    let to_mates = children(Straight::ToMates(0));
    assert_eq!([0, 1, 2].map(|rank| to_mates.parent(rank)), [Some(999), Some(992), Some(993)]);
    assert!((992..996).all(|mate| to_mates.parent(mate) == Some(root)));
    // To the other nodes of the root's island, whose first ranks are the first of it.
    let to_nodes = children(Straight::ToMates(1));
    let relays = [1, 2, 3, 4].map(|rank| to_nodes.parent(rank).unwrap());
    assert_eq!((to_nodes.parent(0), relays), (Some(999), [512, 528, 544, 560]));
    assert!(relays.into_iter().all(|relay| to_nodes.parent(relay) == Some(root)));
    let even = BlockSizes::new(vec![7; 1000]).unwrap();
    let even = gather(&even, &islands(), Root::Given(root));
    assert_eq!(straight(&even, root, Straight::ToRoot).unwrap(), []);
}
