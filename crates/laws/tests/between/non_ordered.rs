//! Trees that need not be ordered: the best of all, good ones, and what is proven of them.

use proptest::prelude::*;
use tuwtree_bounds::best_lower_bound;
use tuwtree_dp::non_ordered::{
    BlockOrder, NonOrderedError, Search, direct, exact, exact_work, partition, search, sorted,
};
use tuwtree_dp::{default_method, optimal_adjacent};
use tuwtree_laws::all_trees::{
    self, MOST_COPYING_FIRST, has_root, least_of, least_time, trees_copying_first,
};
use tuwtree_laws::problems::{self, gather, homogeneous};
use tuwtree_model::{
    BlockSizes, ClosedSet, Homogeneous, Problem, ProblemError, Root, Tree, TreeError,
    completion_time,
};
use tuwtree_schedule::{Schedule, Sends, simulate};
use tuwtree_treegen::{doubling, greedy, two_block};

/// The completion time of a tree, by the recursion and by the simulation of its schedule.
fn time(tree: &Tree, problem: &Problem) -> f64 {
    let time = completion_time(tree, problem).unwrap();
    for problem in problems::irregular(problem.blocks().unwrap(), problem.costs()) {
        let schedule = Schedule::of_tree(tree, &problem).unwrap();
        let timeline = simulate(&schedule, problem.costs(), Sends::Synchronous).unwrap();
        assert_eq!(timeline.completion_time(), time);
    }
    time.units()
}

/// Gathering any few blocks, with a given or free root, at such costs.
fn problem(
    most: usize,
    costs: impl Strategy<Value = Homogeneous>,
) -> impl Strategy<Value = Problem> {
    let root = prop::option::of(any::<prop::sample::Index>());
    (problems::sizes(most), root, costs).prop_map(|(sizes, root, costs)| {
        let root = root.map_or(Root::Best, |root| Root::Given(root.index(sizes.ranks())));
        gather(&sizes, costs, root)
    })
}

/// The time of the optimal ordered tree.
fn ordered_time(problem: &Problem) -> f64 {
    optimal_adjacent(problem, default_method(problem), &()).unwrap().value
}

fn searched(problem: &Problem, steps: Search) -> Tree {
    search(problem, steps, &(), &mut || true).unwrap()
}

/// Integer costs with gamma <= beta.
fn monotone_costs() -> impl Strategy<Value = Homogeneous> {
    let alpha = prop_oneof![Just(0_u32), 1..4_u32, 5..50_u32, 50..3000_u32];
    (alpha, 0..4_u32, 0..4_u32)
        .prop_map(|(alpha, beta, less)| homogeneous(alpha, beta, beta.saturating_sub(less)))
}

/// The least time over ordered trees in which everybody copies first, after up to `most` of the largest
/// blocks have gone straight to the root: from the recurrence, with every split. Receivers may start away
/// from their own ranks, if so wished.
fn least_with_direct_senders(
    sizes: &BlockSizes,
    costs: &Homogeneous,
    (root, most): (usize, usize),
    may_start_away: bool,
) -> f64 {
    let mut largest: Vec<usize> =
        (0..sizes.ranks()).filter(|&rank| rank != root && sizes.block(rank) > 0).collect();
    largest.sort_by_key(|&rank| std::cmp::Reverse(sizes.block(rank)));
    let copied = |rank: usize| costs.copy(sizes.block(rank)).unwrap().units();
    let mut least = f64::INFINITY;
    for senders in 0..=most.min(largest.len()) {
        let direct = &largest[..senders];
        let rest: Vec<usize> = (0..sizes.ranks()).filter(|rank| !direct.contains(rank)).collect();
        let comm = |&rank: &usize| costs.transmission(sizes.block(rank)).unwrap().units();
        let start = direct.iter().map(comm).fold(copied(root), |start, time| start + time);
        if rest.len() == 1 {
            least = least.min(if senders == 0 { 0.0 } else { start });
            continue;
        }
        let clock = |&rank: &usize| if rank == root { start } else { copied(rank) };
        let clocks: Vec<f64> = rest.iter().map(clock).collect();
        let blocks: Vec<f64> = rest.iter().map(|&rank| sizes.block(rank) as f64).collect();
        let place = rest.iter().position(|&rank| rank == root).expect("the root stays");
        least = least.min(least_of_ranges(&blocks, &clocks, costs, place, may_start_away));
    }
    least
}

/// The least time over ordered trees with this root, whose ranks may receive from these clocks on.
fn least_of_ranges(
    blocks: &[f64],
    clocks: &[f64],
    costs: &Homogeneous,
    root: usize,
    may_start_away: bool,
) -> f64 {
    let n = blocks.len();
    let mut before = vec![0.0];
    for block in blocks {
        before.push(before[before.len() - 1] + block);
    }
    let sent = |i: usize, j: usize| match before[j + 1] - before[i] {
        0.0 => 0.0,
        bytes => costs.alpha() + costs.beta() * bytes,
    };
    let holds_root = |i: usize, j: usize| (i..=j).contains(&root);
    let zeros = || vec![vec![0.0; n]; n];
    // By first and last place, and by last and first one: when the receiver of a range may go on, and
    // when all of the range is at it.
    let (mut goes_on, mut complete) = ([zeros(), zeros()], [zeros(), zeros()]);
    for (i, &clock) in clocks.iter().enumerate() {
        goes_on[0][i][i] = clock;
        goes_on[1][i][i] = clock;
    }
    // By place: when it has received exactly this range, in which it is not.
    let mut away = if may_start_away { vec![zeros(); n] } else { Vec::new() };
    for (i, j) in (0..n).flat_map(|width| (0..n - width).map(move |i| (i, i + width))) {
        if i < j {
            let mut time = f64::INFINITY;
            for k in i..j {
                if !holds_root(k + 1, j) {
                    let ready = goes_on[0][i][k].max(complete[1][j][k + 1]);
                    time = time.min(ready + sent(k + 1, j));
                }
                if !holds_root(i, k) {
                    let ready = goes_on[1][j][k + 1].max(complete[0][i][k]);
                    time = time.min(ready + sent(i, k));
                }
            }
            for (own, range) in [(i, (i + 1, j)), (j, (i, j - 1))] {
                if may_start_away && !holds_root(range.0, range.1) {
                    time = time.min(away[own][range.0][range.1]);
                }
            }
            for times in [&mut goes_on, &mut complete] {
                times[0][i][j] = time;
                times[1][j][i] = time;
            }
        }
        if holds_root(i, j) {
            continue;
        }
        for (own, away) in away.iter_mut().enumerate().filter(|&(own, _)| own < i || own > j) {
            let mut time = clocks[own].max(complete[0][i][j]) + sent(i, j);
            for k in i..j {
                time = time.min(away[i][k].max(complete[0][k + 1][j]) + sent(k + 1, j));
                time = time.min(away[k + 1][j].max(complete[0][i][k]) + sent(i, k));
            }
            away[i][j] = time;
        }
    }
    goes_on[0][0][n - 1]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn exact_is_the_least_over_all_trees(
        problem in problem(all_trees::MOST, problems::costs()),
    ) {
        let tree = exact(&problem).unwrap();
        prop_assert!(has_root(&tree, problem.root()));
        prop_assert_eq!(time(&tree, &problem), least_time(&problem));
    }

    #[test]
    fn exact_is_the_least_over_all_trees_of_six_ranks_in_which_everybody_copies_first(
        blocks in prop::collection::vec(prop_oneof![0..6_u64, 0..100_u64], MOST_COPYING_FIRST),
        costs in problems::costs(),
        root in prop::option::of(0..MOST_COPYING_FIRST),
    ) {
        let sizes = BlockSizes::new(blocks).unwrap();
        let problem = gather(&sizes, costs, root.map_or(Root::Best, Root::Given));
        let least = least_of(trees_copying_first(), &problem);
        prop_assert!(best_lower_bound(&problem).unwrap().units() <= least);
        prop_assert_eq!(time(&exact(&problem).unwrap(), &problem), least);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn no_construction_beats_exact_and_those_with_all_orders_are_no_slower_than_ordered(
        problem in problem(9, monotone_costs()), seed in any::<u64>(),
    ) {
        let best = time(&exact(&problem).unwrap(), &problem);
        let ordered = ordered_time(&problem);
        let bound = best_lower_bound(&problem).unwrap().units();
        prop_assert!(bound <= best && best <= ordered);
        let by_order = sorted(&problem, BlockOrder::ALL, &()).unwrap();
        let by_sender = direct(&problem, 8, &()).unwrap();
        let searched = searched(&problem, Search { steps: 20, seed });
        for tree in [&by_order, &by_sender] {
            prop_assert!((best..=ordered).contains(&time(tree, &problem)));
        }
        let descending = sorted(&problem, &[BlockOrder::Descending], &()).unwrap();
        prop_assert!(time(&searched, &problem) <= time(&descending, &problem));
        let greedy = greedy(&problem).unwrap();
        let doubling = doubling(&problem).unwrap();
        for tree in [&searched, &greedy, &doubling] {
            prop_assert!(best <= time(tree, &problem));
        }
        for tree in [&by_order, &by_sender, &searched, &greedy, &doubling] {
            prop_assert!(has_root(tree, problem.root()));
        }
    }

    #[test]
    fn direct_is_the_least_of_its_class(
        sizes in prop_oneof![9 => problems::sizes(9), 1 => problems::sizes(40)],
        costs in monotone_costs(),
        root in any::<prop::sample::Index>(), most in 0..4_usize,
    ) {
        let root = root.index(sizes.ranks());
        let problem = gather(&sizes, costs, Root::Given(root));
        let found = time(&direct(&problem, most, &()).unwrap(), &problem);
        prop_assert_eq!(found, least_with_direct_senders(&sizes, &costs, (root, most), true));
    }

    #[test]
    fn with_dear_copies_sorted_trees_are_still_between_exact_and_ordered(
        problem in problem(7, problems::costs()),
    ) {
        let best = time(&exact(&problem).unwrap(), &problem);
        let by_order = sorted(&problem, BlockOrder::ALL, &()).unwrap();
        prop_assert!((best..=ordered_time(&problem)).contains(&time(&by_order, &problem)));
        let doubling = time(&doubling(&problem).unwrap(), &problem);
        let greedy = time(&greedy(&problem).unwrap(), &problem);
        prop_assert!(best <= greedy && greedy <= doubling);
    }

    #[test]
    fn costs_that_are_no_integers_give_nearly_the_same_times(
        problem in problem(8, monotone_costs()),
    ) {
        let costs = problem.costs().homogeneous(problem.ranks()).unwrap();
        let tenth = |cost: f64| cost / 10.0;
        let tenths =
            Homogeneous::new(tenth(costs.alpha()), tenth(costs.beta()), tenth(costs.gamma()));
        let tenths = problem.with_costs(tenths.unwrap()).unwrap();
        // Not simulated: the simulation adds in another order, and rounds otherwise.
        let least = |problem| {
            let trees = [exact(problem), direct(problem, 3, &())];
            trees.map(|tree| completion_time(&tree.unwrap(), problem).unwrap().units())
        };
        for (whole, parts) in least(&problem).into_iter().zip(least(&tenths)) {
            prop_assert!((10.0 * parts - whole).abs() <= 1e-12 * whole);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100_000))]

    #[test]
    fn a_doubling_tree_needs_one_alpha_more_than_the_rounds(
        blocks in prop_oneof![
            12 => prop::collection::vec(prop_oneof![0..3_u64, 0..1000_u64], 1..12),
            4 => prop::collection::vec(0..50_u64, 10..70),
            1 => prop::collection::vec(prop_oneof![9 => 0..5_u64, 1 => 0..10_000_u64], 70..=500),
        ],
        costs in monotone_costs(),
        root in any::<prop::sample::Index>(),
    ) {
        let sizes = BlockSizes::new(blocks).unwrap();
        let root = root.index(sizes.ranks());
        let received = sizes.iter().enumerate().filter(|&(rank, m)| rank != root && m > 0).count();
        let messages = match received {
            0 => 0,
            n => n.next_power_of_two().ilog2() + 1,
        };
        let copied = if sizes.ranks() > 1 { sizes.block(root) } else { 0 };
        let volume = (sizes.total() - sizes.block(root)) as f64;
        let most = f64::from(messages) * costs.alpha()
            + costs.beta() * volume
            + costs.gamma() * copied as f64;
        let problem = gather(&sizes, costs, Root::Given(root));
        let tree = doubling(&problem).unwrap();
        prop_assert!(completion_time(&tree, &problem).unwrap().units() <= most);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn the_partition_gather_answers_partition(numbers in prop::collection::vec(1..12_u64, 3..9)) {
        let half = numbers.iter().sum::<u64>() / 2;
        let plain = numbers.iter().sum::<u64>() % 2 == 1 || numbers.iter().any(|&n| n >= half);
        let Ok(gather) = partition::gather(&numbers) else {
            prop_assert!(plain);
            return Ok(());
        };
        prop_assert!(!plain);
        let parted = (0..1_u32 << numbers.len()).any(|subset| {
            let chosen = |&index: &usize| subset >> index & 1 == 1;
            (0..numbers.len()).filter(chosen).map(|index| numbers[index]).sum::<u64>() == half
        });
        let tree = exact(&gather.problem).unwrap();
        let time = completion_time(&tree, &gather.problem).unwrap().units();
        prop_assert_eq!(time == gather.threshold as f64, parted, "{}", time);
        prop_assert!(time >= gather.threshold as f64);
    }

    #[test]
    fn two_blocks_by_themselves_are_optimal_where_lemma_2_says_so(
        small in 0..5_u64, more in 1..2000_u64, p in 2..9_usize, place in 0..9_usize,
        alpha in 0..200_u32, beta in 0..3_u32,
    ) {
        let large = small + more;
        let mut blocks = vec![small; p];
        blocks[place % p] = large;
        let sizes = BlockSizes::new(blocks).unwrap();
        let costs = homogeneous(alpha, beta, beta);
        let problem = gather(&sizes, costs, Root::Best);
        let found = time(&two_block(&problem).unwrap(), &problem);
        let best = time(&exact(&problem).unwrap(), &problem);
        let rounds = f64::from((p - 1).next_power_of_two().ilog2());
        let gathered = rounds * costs.alpha() + costs.beta() * ((p - 1) as u64 * small) as f64;
        prop_assert!(best <= found);
        if gathered <= costs.beta() * large as f64 && small > 0 {
            prop_assert_eq!(found, costs.alpha() + costs.beta() * sizes.total() as f64);
            prop_assert_eq!(found, best);
        }
    }
}

#[test]
fn for_many_ranks_direct_is_the_least_in_which_receivers_start_at_their_own_ranks() {
    let blocks = (0..2200_u64).map(|rank| if rank % 97 == 0 { 40 * rank } else { rank % 13 });
    let sizes = BlockSizes::new(blocks).unwrap();
    let costs = homogeneous(200, 1, 1);
    let problem = gather(&sizes, costs, Root::Given(1000));
    let found = time(&direct(&problem, 1, &()).unwrap(), &problem);
    assert_eq!(found, least_with_direct_senders(&sizes, &costs, (1000, 1), false));
}

#[test]
fn the_published_partition_instance_takes_982_and_ordered_983() {
    let gather = partition::gather(&[2, 3, 3, 3, 4, 4, 4, 6, 6, 13]).unwrap();
    let published = [21, 31, 31, 31, 41, 41, 41, 61, 61, 131, 240, 250];
    assert!(gather.problem.blocks().unwrap().iter().eq(published));
    let problem = &gather.problem;
    assert_eq!(time(&exact(problem).unwrap(), problem), 982.0);
    let by_order = sorted(problem, BlockOrder::ALL, &()).unwrap();
    assert_eq!(time(&by_order, problem), 983.0);
    let found = searched(problem, Search { steps: 10_000, seed: 1 });
    assert_eq!(time(&found, problem), 982.0);
}

#[test]
fn order_can_cost_nearly_a_factor_of_two_and_direct_senders_win_it_back() {
    // Root 1023, block 0 takes ten alphas, all others hardly anything.
    let mut blocks = vec![1; 1024];
    blocks[0] = 10_000_000;
    let sizes = BlockSizes::new(blocks).unwrap();
    let problem = gather(&sizes, homogeneous(1_000_000, 1, 1), Root::Given(1023));
    let senders = time(&direct(&problem, 8, &()).unwrap(), &problem);
    assert_eq!((ordered_time(&problem) / 1e6).round(), 21.0);
    assert_eq!((senders / 1e6).round(), 12.0);
    assert_eq!(senders, best_lower_bound(&problem).unwrap().units());
}

#[test]
fn a_search_that_may_not_go_on_is_the_first_order_and_one_that_may_is_the_same_each_time() {
    let sizes = BlockSizes::new([3, 40, 8, 8, 61, 15, 22, 9, 37, 1]).unwrap();
    let problem = gather(&sizes, homogeneous(30, 1, 1), Root::Given(2));
    let steps = Search { steps: 1000, seed: 7 };
    let while_asked = |most: usize| {
        let mut asked = 0;
        let tree = search(&problem, steps, &(), &mut || {
            asked += 1;
            asked <= most
        });
        (tree.unwrap(), asked)
    };
    let first = sorted(&problem, &[BlockOrder::Descending], &()).unwrap();
    assert_eq!(while_asked(0), (first, 1));
    let (some, asked) = while_asked(20);
    assert!(asked <= 21);
    assert_eq!(some, searched(&problem, Search { steps: 20, ..steps }));
}

#[test]
fn few_distinct_sizes_are_exact_for_many_ranks() {
    let blocks = (0..80).map(|rank| if rank % 2 == 0 { 3 } else { 50 });
    let sizes = BlockSizes::new(blocks).unwrap();
    let problem = gather(&sizes, homogeneous(40, 1, 1), Root::Given(0));
    let best = time(&exact(&problem).unwrap(), &problem);
    let by_order = sorted(&problem, BlockOrder::ALL, &()).unwrap();
    let bound = best_lower_bound(&problem).unwrap().units();
    assert!(bound <= best && best <= time(&by_order, &problem));
}

#[test]
fn an_empty_block_relays_where_copies_are_dear() {
    // Gamma 100: rank 1 collects two of the blocks, since it has nothing to copy.
    let sizes = BlockSizes::new([0, 0, 1, 1, 1, 1]).unwrap();
    let problem = gather(&sizes, homogeneous(10, 1, 100), Root::Given(0));
    let tree = exact(&problem).unwrap();
    assert_eq!(tree.degree(1), 2);
    assert_eq!(time(&tree, &problem), 34.0);
}

#[test]
fn what_is_too_much_is_refused_with_figures() {
    let sizes = BlockSizes::new((0..30).map(|rank| 1 << rank)).unwrap();
    let problem = gather(&sizes, homogeneous(1, 1, 1), Root::Given(0));
    let needed = exact_work(&problem).unwrap();
    assert_eq!(needed, 3_u64.pow(29));
    let error = exact(&problem).unwrap_err();
    assert_eq!(error, NonOrderedError::TooMuchWork { needed, allowed: 1_000_000_000 });
    let outside = TreeError::RootOutOfRange { root: 30, ranks: 30 };
    assert_eq!(problem.with_root(Root::Given(30)), Err(ProblemError::Root(outside)));
}
