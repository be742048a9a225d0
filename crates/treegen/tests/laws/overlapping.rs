//! Laws of constructions where part of the latency overlaps with other work: the clocks that they keep
//! are those of the completion time, and an overhead of all alpha is the one-port model.

use proptest::prelude::*;
use tuwtree_laws::machines::{measured_hierarchy, overlapping};
use tuwtree_laws::problems::{
    self, gather, of_each_operation, overlapping_costs, ports, root_of, rooted, with_each_root,
};
use tuwtree_model::{BlockSizes, Problem, Root, Time, Tree, completion_time};
use tuwtree_treegen::join::{JoinRule, JoinSide, ReceivingSide, joined_time};
use tuwtree_treegen::{
    AdaptiveRule, ConstructionError, Filling, adaptive, doubling, graceful, greedy, hybrid,
    knomial, linear, linear_times, model_binomial, model_graceful, oblivious, oblivious_times,
    paths,
};

type BuildTree = fn(&Problem) -> Result<Tree, ConstructionError>;

/// All constructions that take any costs.
const ANY: [BuildTree; 7] = [
    linear,
    oblivious,
    |problem| adaptive(problem, AdaptiveRule::CompletionTime),
    |problem| model_binomial(problem, Filling::MinimumFirst),
    |problem| model_binomial(problem, Filling::MaximumFirst),
    model_graceful,
    paths,
];

/// Those for blocks.
const OF_BLOCKS: [BuildTree; 5] =
    [graceful, doubling, greedy, hybrid, |problem| knomial(&problem.with_ports(ports(2)))];

fn sized<T: std::fmt::Debug, S: Strategy<Value = T>>(
    most: usize,
    costs: fn(usize) -> S,
) -> impl Strategy<Value = (BlockSizes, T)> {
    problems::sizes(most).prop_flat_map(move |sizes| {
        let ranks = sizes.ranks();
        (Just(sizes), costs(ranks))
    })
}

/// When the root of the adaptive tree has all data, going by the joins alone, as ranks that build
/// a tree together know them.
fn joined(problem: &Problem) -> Time {
    let collective = problem.collective();
    let rule = JoinRule::new(AdaptiveRule::CompletionTime, problem.operation(), problem.costs());
    let mut cubes: Vec<(usize, usize, usize, Time)> =
        (0..problem.ranks()).map(|rank| (rank, rank, rank, Time::ZERO)).collect();
    while cubes.len() > 1 {
        let join = |pair: &[(usize, usize, usize, Time)]| {
            let &[left, right] = pair else { return pair[0] };
            let side = |(first, last, root, ready)| JoinSide {
                root,
                is_single: first == last,
                bytes: collective.segment(first, last),
                copied: collective.copied(root),
                ready,
            };
            let held = problem.root().given().and_then(|root| {
                let of = |cube: (usize, usize, usize, Time)| (cube.0..=cube.1).contains(&root);
                match (of(left), of(right)) {
                    (true, _) => Some(ReceivingSide::Left),
                    (_, true) => Some(ReceivingSide::Right),
                    _ => None,
                }
            });
            let (receiver, time) = rule.decide(held, &side(left), &side(right)).unwrap();
            let sides = (&side(left), &side(right));
            let again = joined_time(problem.operation(), problem.costs(), receiver, sides);
            assert_eq!(again, Ok(time));
            let root = if receiver == ReceivingSide::Left { left.2 } else { right.2 };
            (left.0, right.1, root, time)
        };
        cubes = cubes.chunks(2).map(join).collect();
    }
    cubes[0].3
}

/// Fails unless the times that constructions go by are the completion times of their trees.
fn check_clocks(problem: &Problem) -> Result<(), TestCaseError> {
    let (stars, binomial) = (linear_times(problem).unwrap(), oblivious_times(problem).unwrap());
    let is_close = |one: Time, other: Time| match problem.costs().is_integral() {
        true => one == other,
        // The stars of all roots are summed up from both ends.
        false => (one.units() - other.units()).abs() <= 1e-9 * one.units(),
    };
    for root in 0..problem.ranks() {
        let given = rooted(problem, Root::Given(root));
        let time = |tree: Tree| completion_time(&tree, &given).unwrap();
        prop_assert!(is_close(time(linear(&given).unwrap()), stars[root]), "{root}");
        prop_assert_eq!(time(oblivious(&given).unwrap()), binomial[root], "{}", root);
    }
    for problem in with_each_root(problem) {
        let tree = adaptive(&problem, AdaptiveRule::CompletionTime).unwrap();
        prop_assert_eq!(completion_time(&tree, &problem).unwrap(), joined(&problem));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn clocks_of_constructions_are_completion_times(
        (sizes, costs) in sized(20, overlapping), bytes in 0..100_u64,
    ) {
        for problem in of_each_operation(&sizes, bytes, &costs) {
            check_clocks(&problem)?;
        }
    }

    #[test]
    fn clocks_of_constructions_are_completion_times_by_measured_tables(
        (sizes, machine) in sized(20, measured_hierarchy), bytes in 0..1000_u64,
    ) {
        for problem in of_each_operation(&sizes, bytes, &machine) {
            check_clocks(&problem)?;
        }
    }

    #[test]
    fn best_roots_are_the_best_of_all_roots(
        (sizes, costs) in sized(9, overlapping), bytes in 0..100_u64,
    ) {
        for problem in of_each_operation(&sizes, bytes, &costs) {
            for build in [linear, oblivious] {
                let times = (0..sizes.ranks()).map(|root| {
                    let tree = build(&rooted(&problem, Root::Given(root))).unwrap();
                    completion_time(&tree, &problem).unwrap()
                });
                let best = build(&rooted(&problem, Root::Best)).unwrap();
                prop_assert_eq!(completion_time(&best, &problem).ok(), times.min());
            }
        }
    }

    #[test]
    fn all_constructions_have_a_tree_with_the_root_asked_for(
        (sizes, machine) in sized(20, measured_hierarchy), root in 0..20_usize,
    ) {
        let root = root_of(Some(root), &sizes);
        for problem in of_each_operation(&sizes, 100, &machine) {
            let problem = rooted(&problem, root);
            for build in ANY {
                let tree = build(&problem).unwrap();
                prop_assert_eq!(Some(tree.root()), root.given());
                prop_assert!(completion_time(&tree, &problem).is_ok());
            }
            let problem = problem.with_ports(ports(3));
            if problem.blocks().is_some() {
                prop_assert_eq!(Some(knomial(&problem).unwrap().root()), root.given());
            }
        }
    }

    #[test]
    fn an_overhead_of_all_alpha_changes_no_tree(
        sizes in problems::sizes(30), costs in problems::costs(), root in 0..31_usize,
    ) {
        let same = costs.with_overhead(costs.alpha()).unwrap();
        prop_assert_eq!(same, costs);
        let root = root_of(Some(root), &sizes);
        let problem = gather(&sizes, costs, root);
        for build in ANY.into_iter().chain(OF_BLOCKS) {
            prop_assert_eq!(build(&problem), build(&gather(&sizes, same, root)));
        }
    }

    #[test]
    fn greedy_trees_are_no_slower_than_doubling_and_doubling_keeps_its_guarantee(
        sizes in problems::sizes(40), costs in overlapping_costs(), root in 0..41_usize,
    ) {
        let problem = gather(&sizes, costs, root_of(Some(root), &sizes));
        let [greedy, doubling] = [greedy, doubling].map(|build| build(&problem).unwrap());
        let time = |tree: &Tree| completion_time(tree, &problem).unwrap().units();
        prop_assert!(time(&greedy) <= time(&doubling));
        if costs.gamma() <= costs.beta() {
            let root = doubling.root();
            let others = sizes.iter().enumerate().filter(|&(rank, bytes)| rank != root && bytes > 0);
            let alphas = match others.count() {
                0 => 0,
                others => others.next_power_of_two().ilog2() + 1,
            };
            let own = sizes.block(root);
            let most = f64::from(alphas) * costs.alpha()
                + costs.beta() * (sizes.total() - own) as f64
                + costs.gamma() * own as f64;
            prop_assert!(time(&doubling) <= most, "{} > {}", time(&doubling), most);
        }
    }
}
