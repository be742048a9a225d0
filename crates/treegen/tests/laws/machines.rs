//! Laws of costs that are not the same everywhere: matrices, hierarchies, missing links.

use proptest::prelude::*;
use tuwtree_bounds::lower_bound;
use tuwtree_laws::machines::{hierarchy, matrix};
use tuwtree_laws::problems::{self, gather, irregular, root_of, rooted, with_each_root};
use tuwtree_model::{
    BlockSizes, CostMatrix, CostModel, Costs, Direction, Hierarchy, Level, Piece, PiecewiseLinear,
    Placement, Problem, Rank, Root, StatedCosts, Step, Time, TimeError, Tree, completion_time,
};
use tuwtree_treegen::{AdaptiveRule, ConstructionError, adaptive, linear, oblivious};

/// The problems of the four operations over these blocks, or a vector.
fn operations(sizes: &BlockSizes, costs: impl Into<StatedCosts>) -> [Problem; 4] {
    problems::of_each_operation(sizes, sizes.block(0), costs)
}

/// Trees of several kinds, for a given root.
fn trees(problem: &Problem) -> Vec<Tree> {
    let mut trees = vec![linear(problem).unwrap(), oblivious(problem).unwrap()];
    trees.extend(adaptive(problem, AdaptiveRule::CompletionTime));
    trees.extend(adaptive(&rooted(problem, Root::Best), AdaptiveRule::DataSize));
    trees
}

/// All trees, ordered or not, whose ranks receive from their children in rank order.
fn all_trees(ranks: usize) -> Vec<Tree> {
    let choices = ranks.pow(ranks as u32);
    let tree = |choice: usize| {
        let parent = |rank: Rank| choice / ranks.pow(rank as u32) % ranks;
        let root = (0..ranks).find(|&rank| parent(rank) == rank)?;
        let mut steps = Vec::new();
        for rank in 0..ranks {
            let children: Vec<Rank> =
                (0..ranks).filter(|&one| one != rank && parent(one) == rank).collect();
            if !children.is_empty() {
                steps.push((rank, Step::Copy));
                steps.extend(children.into_iter().map(|child| (rank, Step::Receive(child))));
            }
        }
        Tree::new(ranks, root, &steps).ok()
    };
    (0..choices).filter_map(tree).collect()
}

fn sized<T: std::fmt::Debug, S: Strategy<Value = T>>(
    most: usize,
    costs: fn(usize) -> S,
) -> impl Strategy<Value = (BlockSizes, T)> {
    problems::sizes(most).prop_flat_map(move |sizes| {
        let ranks = sizes.ranks();
        (Just(sizes), costs(ranks))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn equal_entries_judge_as_homogeneous_costs(
        sizes in problems::sizes(20), costs in problems::costs(), root in 0..20_usize,
    ) {
        let ranks = sizes.ranks();
        let root = root_of(Some(root), &sizes);
        let matrix = Costs::from(costs).matrix(ranks).unwrap();
        let by_matrix = operations(&sizes, &matrix);
        for (by_matrix, equal) in by_matrix.iter().zip(operations(&sizes, costs)) {
            let given = rooted(by_matrix, root);
            for tree in trees(&given) {
                let time = completion_time(&tree, &equal);
                prop_assert_eq!(completion_time(&tree, &given), time);
            }
            for root in [root, Root::Best] {
                let bound = lower_bound(&rooted(&equal, root));
                prop_assert_eq!(lower_bound(&rooted(by_matrix, root)), bound);
            }
        }
        if ranks > 1 {
            prop_assert_eq!(Costs::Matrix(matrix).homogeneous(ranks), Some(costs));
        }
    }

    #[test]
    fn a_hierarchy_judges_as_its_matrix((sizes, machine) in sized(20, hierarchy), bytes in 0..100_u64) {
        let ranks = sizes.ranks();
        let costs = Costs::Hierarchical(machine);
        let linear = costs.linearised_at(bytes);
        let matrix = linear.matrix(ranks).unwrap();
        prop_assert_eq!(costs.check_linear().is_ok(), costs.matrix(ranks).is_ok());
        let by_matrix = operations(&sizes, &matrix);
        for (by_matrix, by_level) in by_matrix.iter().zip(operations(&sizes, &linear)) {
            let [by_matrix, by_level] =
                [by_matrix, &by_level].map(|problem| rooted(problem, Root::Given(0)));
            for tree in trees(&by_matrix) {
                let time = completion_time(&tree, &by_matrix);
                prop_assert_eq!(completion_time(&tree, &by_level), time);
            }
            prop_assert_eq!(lower_bound(&by_level), lower_bound(&by_matrix));
        }
        let same = linear.homogeneous(ranks);
        prop_assert_eq!(same, Costs::Matrix(matrix).homogeneous(ranks).filter(|_| ranks > 1));
        for other in 1..ranks {
            prop_assert_eq!(
                costs.transmission_between(0, other, bytes),
                linear.transmission_between(0, other, bytes)
            );
        }
    }

    #[test]
    fn a_scatter_takes_what_a_gather_takes_with_all_links_turned_round(
        (sizes, costs) in sized(12, |ranks| matrix(ranks, 6)),
    ) {
        let turned = CostMatrix::from_fn(
            costs.size(),
            |from, to| costs.alpha(to, from),
            |from, to| costs.beta(to, from),
            |rank| costs.gamma(rank),
        ).unwrap();
        let ([_, scatter], [gather, _]) = (irregular(&sizes, &costs), irregular(&sizes, &turned));
        let time = |result: Result<Time, TimeError>| result.ok();
        for root in (0..sizes.ranks()).map(Root::Given) {
            let [scatter, gather] = [&scatter, &gather].map(|problem| rooted(problem, root));
            for tree in trees(&scatter) {
                prop_assert_eq!(
                    time(completion_time(&tree, &scatter)), time(completion_time(&tree, &gather))
                );
            }
            prop_assert_eq!(time(lower_bound(&scatter)), time(lower_bound(&gather)));
        }
        prop_assert_eq!(scatter.check_links().is_ok(), gather.check_links().is_ok());
    }

    #[test]
    fn best_roots_are_the_best_of_all_roots(
        (sizes, costs) in sized(9, |ranks| matrix(ranks, 12)),
    ) {
        for problem in operations(&sizes, &costs) {
            let least = |tree: fn(&Problem) -> Result<Tree, ConstructionError>| {
                (0..sizes.ranks())
                    .filter_map(|root| {
                        let tree = tree(&rooted(&problem, Root::Given(root))).unwrap();
                        completion_time(&tree, &problem).ok().map(|time| (time, root))
                    })
                    .min()
                    .map(|(_, root)| root)
            };
            for tree in [linear, oblivious] {
                let best = tree(&problem).map(|tree| tree.root());
                prop_assert_eq!(best.ok(), least(tree));
            }
        }
    }

    #[test]
    fn no_tree_is_below_the_bound_whatever_the_levels(
        (sizes, costs) in sized(30, hierarchy),
    ) {
        for problem in operations(&sizes, &costs) {
            let least = lower_bound(&problem).unwrap();
            for root in 0..sizes.ranks() {
                let given = rooted(&problem, Root::Given(root));
                let bound = lower_bound(&given).unwrap();
                prop_assert!(least <= bound);
                for tree in trees(&given).iter().filter(|tree| tree.root() == root) {
                    prop_assert!(completion_time(tree, &given).unwrap() >= bound);
                }
            }
        }
    }

}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn a_cut_is_found_just_where_no_tree_has_its_links(
        (sizes, costs) in sized(4, |ranks| matrix(ranks, 3)),
    ) {
        for problem in operations(&sizes, &costs) {
            let times: Vec<(Rank, Time)> = all_trees(sizes.ranks())
                .iter()
                .filter_map(|tree| {
                    completion_time(tree, &problem).ok().map(|time| (tree.root(), time))
                })
                .collect();
            for problem in with_each_root(&problem) {
                let is_asked = |one: Rank| problem.root().given().is_none_or(|root| one == root);
                let least = times.iter().filter(|one| is_asked(one.0)).map(|one| one.1).min();
                prop_assert_eq!(problem.check_links().is_ok(), least.is_some(), "{:?}", problem);
                if let Some(least) = least {
                    prop_assert!(lower_bound(&problem).unwrap() <= least);
                }
            }
        }
    }
}

#[test]
fn a_million_ranks_on_three_levels_are_judged_without_a_matrix() {
    let level = |name: &str, members, alpha| {
        let piece = Piece::one_port(0, alpha, 1.0);
        Level {
            name: name.into(),
            members,
            links: PiecewiseLinear::new(vec![piece]).unwrap().into(),
        }
    };
    let levels = vec![level("node", 64, 1.0), level("switch", 32, 10.0), level("all", 512, 100.0)];
    let ranks = 1 << 20;
    let sizes = BlockSizes::new(vec![1; ranks]).unwrap();
    for placement in [Placement::Block, Placement::RoundRobin] {
        let costs = Hierarchy::new(levels.clone(), placement.clone(), 0.0).unwrap();
        let problem = gather(&sizes, &costs, Root::Given(ranks - 1));
        let time = completion_time(&oblivious(&problem).unwrap(), &problem).unwrap().units();
        // Every join of 2^k ranks pays its level's alpha once; 16384 nodes, 512 switches.
        let alphas = match placement {
            Placement::Block => 6.0 + 5.0 * 10.0 + 9.0 * 100.0,
            _ => 5.0 * 10.0 + 9.0 * 100.0 + 6.0,
        };
        assert_eq!(time, alphas + (ranks - 1) as f64);
        let bound = costs.least_busy(Direction::Receive, 0, ranks, 7).unwrap().units();
        assert_eq!(bound, 8.0);
    }
}
