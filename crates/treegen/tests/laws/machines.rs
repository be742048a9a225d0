//! Laws of costs that are not the same everywhere: matrices, hierarchies, missing links.

use proptest::prelude::*;
use tuwtree_laws::machines::{hierarchy, matrix};
use tuwtree_laws::problems;
use tuwtree_model::{
    BlockSizes, Collective, CostMatrix, CostModel, Costs, Direction, Hierarchy, Level, Piece,
    PiecewiseLinear, Placement, Rank, Root, Step, Time, TimeError, Tree, Vector, completion_time,
    lower_bound, lower_bound_any_root,
};
use tuwtree_treegen::{AdaptiveRule, adaptive, linear, linear_root, oblivious, oblivious_root};

/// The four operations over these blocks, or a vector.
fn collectives(sizes: &BlockSizes) -> [Collective<'_>; 4] {
    let vector = Vector { processors: sizes.processors(), bytes: sizes.block(0) };
    [
        Collective::Gather(sizes),
        Collective::Scatter(sizes),
        Collective::Broadcast(vector),
        Collective::Reduce(vector),
    ]
}

/// Trees of several kinds.
fn trees(problem: Collective<'_>, costs: &impl CostModel, root: Rank) -> Vec<Tree> {
    let processors = problem.processors();
    let mut trees = vec![linear(processors, root).unwrap(), oblivious(processors, root).unwrap()];
    trees.extend(adaptive(problem, costs, Root::Given(root), AdaptiveRule::CompletionTime));
    trees.extend(adaptive(problem, costs, Root::Best, AdaptiveRule::DataSize));
    trees
}

/// All trees, ordered or not, whose processors receive from their children in rank order.
fn all_trees(processors: usize) -> Vec<Tree> {
    let choices = processors.pow(processors as u32);
    let tree = |choice: usize| {
        let parent = |rank: Rank| choice / processors.pow(rank as u32) % processors;
        let root = (0..processors).find(|&rank| parent(rank) == rank)?;
        let mut steps = Vec::new();
        for rank in 0..processors {
            let children: Vec<Rank> =
                (0..processors).filter(|&one| one != rank && parent(one) == rank).collect();
            if !children.is_empty() {
                steps.push((rank, Step::Copy));
                steps.extend(children.into_iter().map(|child| (rank, Step::Receive(child))));
            }
        }
        Tree::new(processors, root, &steps).ok()
    };
    (0..choices).filter_map(tree).collect()
}

fn sized<T: std::fmt::Debug, S: Strategy<Value = T>>(
    most: usize,
    costs: fn(usize) -> S,
) -> impl Strategy<Value = (BlockSizes, T)> {
    problems::sizes(most).prop_flat_map(move |sizes| {
        let processors = sizes.processors();
        (Just(sizes), costs(processors))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn equal_entries_judge_as_homogeneous_costs(
        sizes in problems::sizes(20), costs in problems::costs(), root in 0..20_usize,
    ) {
        let processors = sizes.processors();
        let root = root % processors;
        let all = Costs::Homogeneous(costs);
        let matrix = all.matrix(processors).unwrap();
        for problem in collectives(&sizes) {
            for tree in trees(problem, &matrix, root) {
                let time = completion_time(&tree, problem, &costs);
                prop_assert_eq!(completion_time(&tree, problem, &matrix), time);
                prop_assert_eq!(completion_time(&tree, problem, &all), time);
            }
            prop_assert_eq!(lower_bound(root, problem, &matrix), lower_bound(root, problem, &costs));
            prop_assert_eq!(
                lower_bound_any_root(problem, &matrix), lower_bound_any_root(problem, &costs)
            );
        }
        if processors > 1 {
            prop_assert_eq!(Costs::Matrix(matrix).homogeneous(processors), Some(costs));
        }
    }

    #[test]
    fn a_hierarchy_judges_as_its_matrix((sizes, machine) in sized(20, hierarchy), bytes in 0..100_u64) {
        let processors = sizes.processors();
        let costs = Costs::Hierarchical(machine);
        let linear = costs.linearised_at(bytes);
        let matrix = linear.matrix(processors).unwrap();
        prop_assert_eq!(costs.check_linear().is_ok(), costs.matrix(processors).is_ok());
        for problem in collectives(&sizes) {
            for tree in trees(problem, &matrix, 0) {
                let time = completion_time(&tree, problem, &matrix);
                prop_assert_eq!(completion_time(&tree, problem, &linear), time);
            }
            prop_assert_eq!(lower_bound(0, problem, &linear), lower_bound(0, problem, &matrix));
        }
        let same = linear.homogeneous(processors);
        prop_assert_eq!(same, Costs::Matrix(matrix).homogeneous(processors).filter(|_| processors > 1));
        for other in 1..processors {
            prop_assert_eq!(
                costs.transmission_between(0, other, bytes),
                linear.transmission_between(0, other, bytes)
            );
        }
    }

    #[test]
    fn a_scatter_takes_what_a_gather_takes_with_all_links_turned_round(
        (sizes, costs) in sized(12, |processors| matrix(processors, 6)),
    ) {
        let turned = CostMatrix::from_fn(
            costs.size(),
            |from, to| costs.alpha(to, from),
            |from, to| costs.beta(to, from),
            |rank| costs.gamma(rank),
        ).unwrap();
        let (scatter, gather) = (Collective::Scatter(&sizes), Collective::Gather(&sizes));
        let time = |result: Result<Time, TimeError>| result.ok();
        for root in 0..sizes.processors() {
            for tree in trees(scatter, &costs, root) {
                prop_assert_eq!(
                    time(completion_time(&tree, scatter, &costs)),
                    time(completion_time(&tree, gather, &turned))
                );
            }
            prop_assert_eq!(
                time(lower_bound(root, scatter, &costs)), time(lower_bound(root, gather, &turned))
            );
        }
        prop_assert_eq!(
            costs.check_links(scatter, Root::Best).is_ok(),
            turned.check_links(gather, Root::Best).is_ok()
        );
    }

    #[test]
    fn best_roots_are_the_best_of_all_roots(
        (sizes, costs) in sized(9, |processors| matrix(processors, 12)),
    ) {
        let processors = sizes.processors();
        for problem in collectives(&sizes) {
            let least = |tree: fn(usize, Rank) -> Tree| {
                (0..processors)
                    .filter_map(|root| {
                        let time = completion_time(&tree(processors, root), problem, &costs);
                        time.ok().map(|time| (time, root))
                    })
                    .min()
                    .map(|(_, root)| root)
            };
            prop_assert_eq!(
                linear_root(problem, &costs).ok(), least(|p, root| linear(p, root).unwrap())
            );
            prop_assert_eq!(
                oblivious_root(problem, &costs).ok(), least(|p, root| oblivious(p, root).unwrap())
            );
        }
    }

    #[test]
    fn no_tree_is_below_the_bound_whatever_the_levels(
        (sizes, costs) in sized(30, hierarchy),
    ) {
        for problem in collectives(&sizes) {
            for root in 0..sizes.processors() {
                let bound = lower_bound(root, problem, &costs).unwrap();
                prop_assert!(lower_bound_any_root(problem, &costs).unwrap() <= bound);
                for tree in trees(problem, &costs, root).iter().filter(|tree| tree.root() == root) {
                    prop_assert!(completion_time(tree, problem, &costs).unwrap() >= bound);
                }
            }
        }
    }

}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn a_cut_is_found_just_where_no_tree_has_its_links(
        (sizes, costs) in sized(4, |processors| matrix(processors, 3)),
    ) {
        for problem in collectives(&sizes) {
            let times: Vec<(Rank, Time)> = all_trees(sizes.processors())
                .iter()
                .filter_map(|tree| {
                    completion_time(tree, problem, &costs).ok().map(|time| (tree.root(), time))
                })
                .collect();
            for root in 0..sizes.processors() {
                let least = times.iter().filter(|one| one.0 == root).map(|one| one.1).min();
                let enough = costs.check_links(problem, Root::Given(root));
                prop_assert_eq!(enough.is_ok(), least.is_some(), "{:?} root {}", problem, root);
                if let Some(least) = least {
                    prop_assert!(lower_bound(root, problem, &costs).unwrap() <= least);
                }
            }
            let enough = costs.check_links(problem, Root::Best);
            prop_assert_eq!(enough.is_ok(), !times.is_empty(), "{:?}", problem);
            if let Some(least) = times.iter().map(|one| one.1).min() {
                prop_assert!(lower_bound_any_root(problem, &costs).unwrap() <= least);
            }
        }
    }
}

#[test]
fn a_million_processors_on_three_levels_are_judged_without_a_matrix() {
    let level = |name: &str, members, alpha| {
        let piece = Piece { from_bytes: 0, alpha, beta: 1.0 };
        Level { name: name.into(), members, links: PiecewiseLinear::new(vec![piece]).unwrap() }
    };
    let levels = vec![level("node", 64, 1.0), level("switch", 32, 10.0), level("all", 512, 100.0)];
    let processors = 1 << 20;
    let sizes = BlockSizes::new(vec![1; processors]).unwrap();
    for placement in [Placement::Block, Placement::RoundRobin] {
        let costs = Hierarchy::new(levels.clone(), placement.clone(), 0.0).unwrap();
        let tree = oblivious(processors, processors - 1).unwrap();
        let time = completion_time(&tree, &sizes, &costs).unwrap().units();
        // Every join of 2^k processors pays its level's alpha once; 16384 nodes, 512 switches.
        let alphas = match placement {
            Placement::Block => 6.0 + 5.0 * 10.0 + 9.0 * 100.0,
            _ => 5.0 * 10.0 + 9.0 * 100.0 + 6.0,
        };
        assert_eq!(time, alphas + (processors - 1) as f64);
        let bound = costs.least_busy(Direction::Receive, 0, processors, 7).unwrap().units();
        assert_eq!(bound, 8.0);
    }
}
