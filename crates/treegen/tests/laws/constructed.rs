//! Laws of the constructed trees: order, the times of all roots, and the papers' guarantees.

use proptest::prelude::*;
use tuwtree_bounds::lower_bound;
use tuwtree_laws::problems::{costs, gather, homogeneous, root_of, rooted, sizes};
use tuwtree_model::{
    BlockSizes, ClosedSet, Operation, Problem, Root, Step, Tree, Vector, check_combines_neighbours,
    check_ordered, completion, completion_time,
};
use tuwtree_treegen::{
    AdaptiveRule, adaptive, best_root, linear, linear_times, oblivious, oblivious_times,
};

/// `ceil(log2 p)`.
fn rounds(ranks: usize) -> u32 {
    ranks.next_power_of_two().ilog2()
}

/// The sizes of the subtrees that the root receives, in order, each with its root's own block.
fn received(tree: &Tree, problem: &Problem) -> Vec<(u64, u64)> {
    let segments = completion(tree, problem).unwrap().segment;
    let own = |child| problem.payload().own(child);
    tree.children(tree.root()).map(|child| (segments[child], own(child))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn constructed_trees_are_ordered_and_not_below_the_bound(
        sizes in sizes(40), costs in costs(), root in 0..40_usize,
    ) {
        let given = gather(&sizes, costs, root_of(Some(root), &sizes));
        let best = rooted(&given, Root::Best);
        let mut trees = vec![linear(&given).unwrap(), oblivious(&given).unwrap()];
        for rule in AdaptiveRule::all() {
            trees.push(adaptive(&given, rule).unwrap());
        }
        prop_assert!(trees.iter().all(|tree| Some(tree.root()) == given.root().given()));
        for rule in AdaptiveRule::all() {
            trees.push(adaptive(&best, rule).unwrap());
        }
        for tree in trees {
            prop_assert_eq!(check_ordered(&tree), Ok(()));
            let time = completion_time(&tree, &given).unwrap();
            let bound = lower_bound(&rooted(&given, Root::Given(tree.root()))).unwrap();
            prop_assert!(time >= bound);
        }
    }

    #[test]
    fn constructed_trees_keep_the_rank_order_of_reductions(
        ranks in 1..40_usize, bytes in 0..100_u64, costs in costs(), root in 0..40_usize,
    ) {
        let root = root % ranks;
        let vector = Vector { ranks, bytes };
        let problem = Problem::new(Operation::Reduce, vector, costs).unwrap();
        let given = rooted(&problem, Root::Given(root));
        let rule = AdaptiveRule::CompletionTime;
        for tree in [
            linear(&given).unwrap(),
            oblivious(&given).unwrap(),
            adaptive(&given, rule).unwrap(),
            adaptive(&problem, rule).unwrap(),
        ] {
            prop_assert_eq!(check_combines_neighbours(&tree), Ok(()));
            let time = completion_time(&tree, &problem).unwrap();
            let bound = lower_bound(&rooted(&problem, Root::Given(tree.root()))).unwrap();
            prop_assert!(time >= bound);
        }
        let blocks = BlockSizes::new(vec![bytes; ranks]).unwrap();
        let star = linear(&gather(&blocks, costs, Root::Given(root))).unwrap();
        let outwards = linear(&given).unwrap();
        prop_assert_eq!(completion_time(&star, &given), completion_time(&outwards, &given));
        prop_assert_eq!(check_combines_neighbours(&star).is_ok(), root < 2);
    }

    #[test]
    fn the_times_of_all_roots_are_the_completion_times_of_their_trees(
        sizes in sizes(40), costs in costs(),
    ) {
        let any = gather(&sizes, costs, Root::Best);
        let linear_times = linear_times(&any).unwrap();
        let oblivious_times = oblivious_times(&any).unwrap();
        for root in 0..sizes.ranks() {
            let given = rooted(&any, Root::Given(root));
            let star = linear(&given).unwrap();
            prop_assert_eq!(completion_time(&star, &given).unwrap(), linear_times[root]);
            let binomial = oblivious(&given).unwrap();
            prop_assert_eq!(completion_time(&binomial, &given).unwrap(), oblivious_times[root]);
        }
        let best = best_root(&oblivious_times);
        prop_assert!(oblivious_times.iter().all(|&time| time >= oblivious_times[best]));
    }

    #[test]
    fn tuw_lemma_1_gather_time_rule_never_waits_without_copy_costs(
        sizes in sizes(70), alpha in 0..50_u32, beta in 0..4_u32,
    ) {
        let problem = gather(&sizes, homogeneous(alpha, beta, 0), Root::Best);
        let tree = adaptive(&problem, AdaptiveRule::GatherTime).unwrap();
        let bound = rounds(sizes.ranks()) * alpha;
        let data = u64::from(beta) * (sizes.total() - sizes.block(tree.root()));
        let time = completion_time(&tree, &problem).unwrap().units();
        prop_assert!(time <= (u64::from(bound) + data) as f64);
    }

    #[test]
    fn tuw_lemma_2_a_given_root_waits_at_most_for_one_subcube(
        sizes in sizes(70), alpha in 0..50_u32, beta in 0..4_u32, root in 0..70_usize,
    ) {
        let root = root % sizes.ranks();
        let problem = gather(&sizes, homogeneous(alpha, beta, 0), Root::Given(root));
        let tree = adaptive(&problem, AdaptiveRule::GatherTime).unwrap();
        let mut before = 0;
        let mut penalty = 0;
        for (bytes, own) in received(&tree, &problem) {
            penalty = penalty.max((bytes - own).saturating_sub(before));
            before += bytes;
        }
        let data = sizes.total() - sizes.block(root) + penalty;
        let bound = u64::from(rounds(sizes.ranks()) * alpha) + u64::from(beta) * data;
        let time = completion_time(&tree, &problem).unwrap().units();
        prop_assert!(time <= bound as f64);
    }

    #[test]
    fn tuw_lemma_4_data_size_rule_never_waits_when_copies_cost_as_much_as_sends(
        sizes in sizes(70), alpha in 0..50_u32, beta in 0..4_u32,
    ) {
        let problem = gather(&sizes, homogeneous(alpha, beta, beta), Root::Best);
        let tree = adaptive(&problem, AdaptiveRule::DataSize).unwrap();
        let bound = u64::from(rounds(sizes.ranks()) * alpha) + u64::from(beta) * sizes.total();
        let time = completion_time(&tree, &problem).unwrap().units();
        prop_assert!(time <= bound as f64);
    }

    #[test]
    fn opt_proposition_1_binomial_trees_with_positive_blocks_take_exactly_their_rounds(
        blocks in prop::collection::vec(1..1000_u64, 1..=6), alpha in 1..50_u32, beta in 1..4_u32,
    ) {
        // 2^k ranks: the blocks repeated, each join then pays its alpha.
        let ranks = 1 << blocks.len();
        let sizes = BlockSizes::new(blocks.iter().copied().cycle().take(ranks)).unwrap();
        let problem = gather(&sizes, homogeneous(alpha, beta, beta), Root::Best);
        for rule in [AdaptiveRule::DataSize, AdaptiveRule::CompletionTime] {
            let tree = adaptive(&problem, rule).unwrap();
            let exact = u64::from(rounds(ranks) * alpha) + u64::from(beta) * sizes.total();
            let time = completion_time(&tree, &problem).unwrap().units();
            prop_assert!(time <= exact as f64, "{:?}: {} > {}", rule, time, exact);
            if rule == AdaptiveRule::DataSize {
                prop_assert_eq!(time, exact as f64);
            }
        }
    }
}

#[test]
fn ties_go_to_the_right() {
    let sizes = BlockSizes::new([1; 5]).unwrap();
    let problem = gather(&sizes, homogeneous(1, 1, 1), Root::Best);
    for rule in AdaptiveRule::all() {
        let tree = adaptive(&problem, rule).unwrap();
        // 1 <- 0, 3 <- 2, 3 <- 1; then the four hold more data than the lone fifth.
        assert_eq!(tree.root(), 3, "{rule:?}");
        assert_eq!(tree.children(3).collect::<Vec<_>>(), [2, 1, 4]);
        assert_eq!(tree.steps(1).collect::<Vec<_>>(), [Step::Receive(0), Step::Copy]);
    }
}

#[test]
fn a_lone_last_rank_does_not_break_the_bound_of_lemma_4() {
    // 1 gathers 0 and copies: 500. A tie would make 2 receive 500 and then copy 500: 1500.
    let sizes = BlockSizes::new([0, 500, 500]).unwrap();
    let problem = gather(&sizes, homogeneous(0, 1, 1), Root::Best);
    let tree = adaptive(&problem, AdaptiveRule::DataSize).unwrap();
    assert_eq!(completion_time(&tree, &problem).unwrap().units(), 1000.0);
}

#[test]
fn the_gather_time_rule_can_lose_to_the_completion_time_rule_which_waits() {
    // Blocks 0 and 5 at the left, 3 and 3 at the right: to the left wins by completion time.
    let costs = homogeneous(1, 1, 0);
    let mut faster = 0;
    for blocks in [[0, 5, 3, 3], [9, 1, 2, 2], [1, 0, 0, 7], [4, 4, 0, 9]] {
        let sizes = BlockSizes::new(blocks).unwrap();
        let problem = gather(&sizes, costs, Root::Best);
        let time = |rule| completion_time(&adaptive(&problem, rule).unwrap(), &problem).unwrap();
        faster += usize::from(time(AdaptiveRule::CompletionTime) < time(AdaptiveRule::GatherTime));
    }
    assert!(faster > 0);
}
