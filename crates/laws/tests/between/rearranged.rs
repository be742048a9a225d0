//! Trees by way of ordered ones, where costs are not linear or differ from pair to pair: against all trees
//! of six processes, by what these trees are said to be.

use crate::overlapping::{any_costs, least, problems, six_blocks, time};
use proptest::prelude::*;
use tuwtree_dp::non_ordered::{BlockOrder, Search, direct, exact, search, sorted};
use tuwtree_dp::wider::Class;
use tuwtree_laws::all_trees::{MOST_COPYING_FIRST, has_root, trees_copying_first};
use tuwtree_laws::problems::costs;
use tuwtree_model::{
    ClosedSet, Costs, Problem, Rank, Root, Step, Tree, completion_time, largest_block,
};

/// Costs that are not the same linear ones for all pairs.
fn differing(ranks: usize) -> BoxedStrategy<Costs> {
    any_costs(ranks)
        .prop_filter("not homogeneous", move |costs| costs.homogeneous(ranks).is_none())
        .boxed()
}

/// The widest class that is searched: at costs that all pairs share, receivers may start away.
fn class(problem: &Problem) -> Class {
    let (costs, ranks) = (problem.costs(), problem.ranks());
    let only_law = costs.hierarchy().is_some_and(|one| one.only_law(ranks).is_some());
    match only_law || costs.homogeneous(ranks).is_some() {
        true => Class::Consecutive,
        false => Class::CopyFirst,
    }
}

/// The tree over these ranks, numbered by their places, that is left when all others, leaves, are cut off.
fn renumbered(tree: &Tree, places: &[Rank]) -> Tree {
    let place = |rank| places.iter().position(|&one| one == rank);
    let mut steps = Vec::new();
    for (at, &rank) in places.iter().enumerate() {
        let children: Vec<Rank> = tree.children(rank).filter_map(place).collect();
        if !children.is_empty() {
            steps.push((at, Step::Copy));
            steps.extend(children.into_iter().map(|child| (at, Step::Receive(child))));
        }
    }
    Tree::new(places.len(), place(tree.root()).unwrap(), &steps).unwrap()
}

/// The least time over all trees that are ordered once the ranks are in one of these orders.
fn least_of_orders(orders: &[Vec<Rank>], problem: &Problem) -> f64 {
    let class = class(problem);
    let ordered =
        |tree: &&Tree| orders.iter().any(|places| class.check(&renumbered(tree, places)).is_ok());
    let trees: Vec<Tree> = trees_copying_first()
        .iter()
        .filter(|tree| has_root(tree, problem.root()))
        .filter(ordered)
        .cloned()
        .collect();
    least(&trees, problem)
}

/// The given root, or a largest block's, and all others by falling blocks.
fn root_and_others(problem: &Problem) -> (Rank, Vec<Rank>) {
    let sizes = problem.blocks().unwrap();
    let root = problem.root().given().unwrap_or_else(|| largest_block(sizes));
    let mut others: Vec<Rank> = (0..problem.ranks()).filter(|&rank| rank != root).collect();
    others.sort_by_key(|&rank| std::cmp::Reverse(sizes.block(rank)));
    (root, others)
}

/// The orders of `sorted`.
fn six_orders(problem: &Problem) -> Vec<Vec<Rank>> {
    let (root, others) = root_and_others(problem);
    let sizes = problem.blocks().unwrap();
    let rising: Vec<Rank> = others.iter().rev().copied().collect();
    let every_second = |from: usize| others.iter().skip(from).step_by(2).copied();
    let right: Vec<Rank> = every_second(0).collect();
    let mut left: Vec<Rank> = every_second(1).collect();
    left.reverse();
    let (large, small) = others.split_at(others.len() / 2);
    let from_large: Vec<Rank> = large.iter().rev().copied().collect();
    let mut falling: Vec<Rank> = (0..problem.ranks()).collect();
    falling.sort_by_key(|&rank| (std::cmp::Reverse(sizes.block(rank)), rank));
    vec![
        [&[root], &others[..]].concat(),
        [&[root], &rising[..]].concat(),
        [&left[..], &[root], &right].concat(),
        [&from_large[..], &[root], small].concat(),
        falling,
        (0..problem.ranks()).collect(),
    ]
}

/// The least time over the trees in which the root first receives up to `most` of the largest blocks, and the
/// rest along an ordered tree; for an open root also over all ordered ones, and where costs differ with the
/// root of a best one of these.
fn least_with_direct(problem: &Problem, most: usize) -> f64 {
    let (root, _) = root_and_others(problem);
    let with_root = least_with_direct_to(root, problem, most);
    if problem.root() != Root::Best {
        return with_root;
    }
    let ordered = least_of_orders(&[(0..problem.ranks()).collect()], problem);
    let first = sorted(problem, &[BlockOrder::Ranks], &());
    match (first, class(problem)) {
        (Ok(first), Class::CopyFirst) => {
            assert_eq!(time(&first, problem), ordered);
            with_root.min(ordered).min(least_with_direct_to(first.root(), problem, most))
        }
        _ => with_root.min(ordered),
    }
}

/// The same with this root.
fn least_with_direct_to(root: Rank, problem: &Problem, most: usize) -> f64 {
    let ranks: Vec<Rank> = (0..problem.ranks()).collect();
    let (_, mut largest) = root_and_others(&problem.with_root(Root::Given(root)).expect("a rank"));
    largest.retain(|&rank| {
        let bytes = problem.blocks().unwrap().block(rank);
        bytes > 0 && problem.edge(rank, root, bytes).is_ok()
    });
    let class = class(problem);
    let starts_with = |tree: &Tree, direct: &[Rank]| {
        let first: Vec<Rank> = tree.children(root).take(direct.len()).collect();
        tree.root() == root
            && direct.iter().all(|&rank| first.contains(&rank) && tree.degree(rank) == 0)
    };
    let rest_is_ordered = |tree: &Tree, direct: &[Rank]| {
        let rest: Vec<Rank> = ranks.iter().copied().filter(|rank| !direct.contains(rank)).collect();
        class.check(&renumbered(tree, &rest)).is_ok()
    };
    let mut trees: Vec<Tree> = Vec::new();
    for senders in 0..=most.min(largest.len()) {
        let direct = &largest[..senders];
        let all = trees_copying_first().iter();
        let suit = all.filter(|tree| starts_with(tree, direct) && rest_is_ordered(tree, direct));
        trees.extend(suit.cloned());
    }
    least(&trees, problem)
}

/// The tree's time is the least; where there is none, no tree has the links.
fn is_least<E: std::fmt::Display>(found: Result<Tree, E>, least: f64, problem: &Problem) {
    match found {
        Ok(tree) => assert_eq!(time(&tree, problem), least, "{problem:?}"),
        Err(error) => assert_eq!(least, f64::INFINITY, "{error}: {problem:?}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn sorted_is_the_best_tree_that_is_ordered_in_one_of_six_orders(
        problems in problems(six_blocks(), differing),
    ) {
        for problem in problems {
            let found = sorted(&problem, BlockOrder::ALL, &());
            is_least(found, least_of_orders(&six_orders(&problem), &problem), &problem);
        }
    }

    #[test]
    fn direct_is_the_best_tree_that_is_ordered_but_for_the_largest_blocks(
        problems in problems(six_blocks(), differing),
        most in 0..7_usize,
    ) {
        for problem in problems {
            is_least(direct(&problem, most, &()), least_with_direct(&problem, most), &problem);
        }
    }

    #[test]
    fn direct_is_that_also_where_copies_are_dearer_than_messages(
        problems in problems(six_blocks(), |_| {
            let dear = costs().prop_filter("dear", |costs| costs.gamma() > costs.beta());
            dear.prop_map(Costs::from).boxed()
        }),
        most in 0..7_usize,
    ) {
        for problem in problems {
            is_least(direct(&problem, most, &()), least_with_direct(&problem, most), &problem);
        }
    }

    #[test]
    fn a_search_begins_with_the_better_of_two_orders_and_never_ends_with_a_slower_tree(
        problems in problems(six_blocks(), differing),
        seed in any::<u64>(),
    ) {
        for problem in problems {
            let (root, others) = root_and_others(&problem);
            let by_size = [&[root], &others[..]].concat();
            let begun = least_of_orders(&[by_size, (0..MOST_COPYING_FIRST).collect()], &problem);
            let after = |steps| search(&problem, Search { steps, seed }, &(), &mut || true);
            is_least(after(0), begun, &problem);
            if let (Ok(few), Ok(many)) = (after(3), after(30)) {
                let [few, many] = [few, many].map(|tree| time(&tree, &problem));
                let best = completion_time(&exact(&problem).unwrap(), &problem).unwrap().units();
                prop_assert!(best <= many && many <= few && few <= begun, "{:?}", problem);
            }
        }
    }
}
