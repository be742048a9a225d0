//! Greedy and hybrid trees where costs are not linear or differ from pair to pair: against their definitions,
//! written down with whole trees and their completion times.

use proptest::prelude::*;
use tuwtree_laws::machines::{hierarchy, measured_hierarchy, overlapping, overlapping_matrix};
use tuwtree_laws::problems::{self, irregular, ports, root_of, rooted};
use tuwtree_model::{
    BlockSizes, Costs, Problem, Rank, Root, Step, Time, Tree, completion, completion_time,
};
use tuwtree_treegen::{doubling, greedy, hybrid, linear};

/// Blocks and costs that are not the same linear ones for all pairs.
fn sized(most: usize) -> impl Strategy<Value = (BlockSizes, Costs)> {
    let costs = |ranks: usize| {
        prop_oneof![
            overlapping(ranks),
            overlapping_matrix(ranks, 0).prop_map(Costs::Matrix),
            measured_hierarchy(ranks).prop_map(Costs::Hierarchical),
            hierarchy(ranks).prop_map(Costs::Hierarchical),
        ]
    };
    problems::sizes(most)
        .prop_flat_map(move |sizes| (costs(sizes.ranks()), Just(sizes)))
        .prop_map(|(costs, sizes)| (sizes, costs))
        .prop_filter("not homogeneous", |(sizes, costs)| costs.homogeneous(sizes.ranks()).is_none())
}

/// The tree in which the root copies, and receives the others in groups, each along a binomial tree, and
/// then all that are left.
fn tree_of(root: Rank, others: &[Rank], groups: &[usize], ranks: usize) -> Tree {
    let mut children = vec![Vec::new(); ranks];
    let mut rest = others;
    for &size in groups {
        let (group, after) = rest.split_at(size);
        binomial(group, &mut children);
        children[root].push(group[0]);
        rest = after;
    }
    let received = &others[..others.len() - rest.len()];
    children[root].extend((0..ranks).filter(|rank| *rank != root && !received.contains(rank)));
    let mut steps = Vec::new();
    for (rank, children) in children.iter().enumerate().filter(|(_, all)| !all.is_empty()) {
        steps.push((rank, Step::Copy));
        steps.extend(children.iter().map(|&child| (rank, Step::Receive(child))));
    }
    Tree::new(ranks, root, &steps).unwrap()
}

fn binomial(group: &[Rank], children: &mut [Vec<Rank>]) {
    if group.len() > 1 {
        let (keeps, sends) = group.split_at(group.len().div_ceil(2));
        binomial(keeps, children);
        binomial(sends, children);
        children[group[0]].push(sends[0]);
    }
}

/// When the root has received these groups: as if all other blocks were empty.
fn clock(problem: &Problem, root: Rank, others: &[Rank], groups: &[usize]) -> Time {
    let received = &others[..groups.iter().sum()];
    let sizes = problem.blocks().unwrap();
    let block = |rank: Rank| match rank == root || received.contains(&rank) {
        true => sizes.block(rank),
        false => 0,
    };
    let sizes = BlockSizes::new((0..problem.ranks()).map(block)).unwrap();
    let part = Problem::new(problem.operation(), sizes, problem.costs()).unwrap();
    let part = rooted(&part, Root::Given(root));
    if problem.ranks() == 1 {
        return Time::ZERO;
    }
    completion_time(&tree_of(root, others, groups, problem.ranks()), &part).unwrap()
}

/// Whether the last of these groups is there when its turn comes.
fn is_ready(problem: &Problem, root: Rank, others: &[Rank], groups: &[usize]) -> bool {
    let (last, before) = groups.split_last().unwrap();
    let from: usize = before.iter().sum();
    let group = &others[from..from + last];
    let tree = tree_of(root, others, groups, problem.ranks());
    let bytes = group.iter().map(|&rank| problem.blocks().unwrap().block(rank)).sum();
    let ready = completion(&tree, problem).unwrap().ready[group[0]];
    problem.arrival(group[0], root, bytes, ready).unwrap() <= clock(problem, root, others, before)
}

/// The groups of the greedy plan.
fn greedy_groups(problem: &Problem, root: Rank, others: &[Rank]) -> Vec<usize> {
    let mut plans = Vec::new();
    let mut groups: Vec<usize> = Vec::new();
    loop {
        let left = others.len() - groups.iter().sum::<usize>();
        if left == 0 {
            break;
        }
        plans.push([&groups[..], &[left]].concat());
        let size = (1..=left)
            .take_while(|&size| is_ready(problem, root, others, &[&groups[..], &[size]].concat()))
            .last();
        groups.push(size.unwrap_or(1));
    }
    // The first of the fastest.
    plans.into_iter().min_by_key(|groups| clock(problem, root, others, groups)).unwrap_or_default()
}

/// The least time of the trees that `greedy` chooses among.
fn least(problem: &Problem) -> Time {
    let (sizes, ranks) = (problem.blocks().unwrap(), problem.ranks());
    let roots = problem.root().given().map_or(0..ranks, |root| root..root + 1);
    let of_root = |root| {
        let mut others: Vec<Rank> =
            (0..ranks).filter(|&rank| rank != root && sizes.block(rank) > 0).collect();
        others.sort_by_key(|&rank| std::cmp::Reverse(sizes.block(rank)));
        let doubled = |alone: &[usize]| {
            let mut groups: Vec<usize> = Vec::new();
            let sizes = alone.iter().copied().chain((0..).map(|power| 1 << power));
            for size in sizes {
                let left = others.len() - groups.iter().sum::<usize>();
                if left == 0 {
                    break;
                }
                groups.push(left.min(size));
            }
            groups
        };
        let plans = [doubled(&[1]), doubled(&[]), greedy_groups(problem, root, &others)];
        let time = |groups: &Vec<usize>| {
            completion_time(&tree_of(root, &others, groups, ranks), problem).unwrap()
        };
        plans.iter().map(time).min().unwrap()
    };
    roots.map(of_root).min().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn greedy_trees_are_the_fastest_of_those_of_their_definition_at_any_costs(
        (sizes, costs) in sized(9), root in 0..10_usize,
    ) {
        let root = Some(root).filter(|&root| root < 9);
        for problem in irregular(&sizes, &costs) {
            let problem = rooted(&problem, root_of(root, &sizes));
            let time = completion_time(&greedy(&problem).unwrap(), &problem).unwrap();
            prop_assert_eq!(time, least(&problem), "{:?}", problem);
        }
    }

    #[test]
    fn greedy_trees_are_no_slower_than_doubling_at_any_costs(
        (sizes, costs) in sized(30), root in 0..30_usize,
    ) {
        for problem in irregular(&sizes, &costs) {
            let problem = rooted(&problem, root_of(Some(root), &sizes));
            let [greedy, doubling] = [greedy, doubling]
                .map(|build| completion_time(&build(&problem).unwrap(), &problem).unwrap());
            prop_assert!(greedy <= doubling, "{} {}", greedy, doubling);
        }
    }

    #[test]
    fn hybrid_trees_have_the_root_asked_for_and_are_no_slower_than_stars_by_falling_blocks(
        (sizes, costs) in sized(12), root in 0..12_usize, number in 2..4_u16,
    ) {
        for problem in irregular(&sizes, &costs) {
            let problem = rooted(&problem, root_of(Some(root), &sizes)).with_ports(ports(number));
            let tree = hybrid(&problem).unwrap();
            prop_assert_eq!(Some(tree.root()), problem.root().given());
            let mut others: Vec<Rank> =
                (0..sizes.ranks()).filter(|&rank| rank != tree.root()).collect();
            others.sort_by_key(|&rank| std::cmp::Reverse(sizes.block(rank)));
            let star = tree_of(tree.root(), &others, &vec![1; others.len()], sizes.ranks());
            let [hybrid, star] =
                [&tree, &star].map(|tree| completion_time(tree, &problem).unwrap());
            prop_assert!(hybrid <= star, "{} {}", hybrid, star);
        }
    }
}

#[test]
fn an_open_root_is_the_best_of_all_where_costs_differ() {
    // Sending to rank 1 costs nothing, and to others 10.
    let alpha = |_, receiver| if receiver == 1 { 0.0 } else { 10.0 };
    let costs = tuwtree_model::CostMatrix::from_fn(4, alpha, |_, _| 1.0, |_| 0.0).unwrap();
    let sizes = BlockSizes::new([9, 2, 3, 4]).unwrap();
    let problem = Problem::gather(&sizes, &costs).unwrap();
    let tree = greedy(&problem).unwrap();
    assert_eq!((tree.root(), completion_time(&tree, &problem).unwrap().units()), (1, 16.0));
    assert_eq!(linear(&problem).unwrap().root(), 1);
}
