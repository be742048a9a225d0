//! Trees that need not be ordered: the best of all, good ones, and what is proven of them.

use proptest::prelude::*;
use tuwtree_dp::non_ordered::{
    NonOrderedError, Order, Search, direct, exact, exact_work, partition, search, search_while,
    sorted,
};
use tuwtree_dp::{DpError, default_method, optimal};
use tuwtree_laws::all_trees::{
    self, MOST_COPYING_FIRST, least_of, least_time, trees_copying_first,
};
use tuwtree_laws::problems::{self, homogeneous};
use tuwtree_model::{
    BlockSizes, Homogeneous, Operation, Root, Tree, best_lower_bound, completion_time,
};
use tuwtree_schedule::{Payload, Schedule, Sends, simulate};
use tuwtree_treegen::{doubling, greedy, two_block};

/// The completion time of a tree, by the recursion and by the simulation of its schedule.
fn time(tree: &Tree, sizes: &BlockSizes, costs: &Homogeneous) -> f64 {
    let time = completion_time(tree, sizes, costs).unwrap();
    for operation in Operation::IRREGULAR {
        let payload = Payload::Blocks(sizes.clone());
        let schedule = Schedule::of_tree(tree, operation, payload, Some((*costs).into())).unwrap();
        let timeline = simulate(&schedule, costs, Sends::Synchronous).unwrap();
        assert_eq!(timeline.completion_time(), time);
    }
    time.units()
}

/// Any small problem with a given or free root.
fn problem(most: usize) -> impl Strategy<Value = (BlockSizes, Root)> {
    (problems::sizes(most), prop::option::of(any::<prop::sample::Index>())).prop_map(
        |(sizes, root)| {
            let root = root.map_or(Root::Best, |root| Root::Given(root.index(sizes.processors())));
            (sizes, root)
        },
    )
}

/// Integer costs with gamma <= beta.
fn monotone_costs() -> impl Strategy<Value = Homogeneous> {
    let alpha = prop_oneof![Just(0_u32), 1..4_u32, 5..50_u32, 50..3000_u32];
    (alpha, 0..4_u32, 0..4_u32)
        .prop_map(|(alpha, beta, less)| homogeneous(alpha, beta, beta.saturating_sub(less)))
}

/// The least time over ordered trees in which everybody copies first, after up to `most` of the largest
/// blocks have gone straight to the root: from the recurrence, with every split.
fn least_with_direct_senders(
    sizes: &BlockSizes,
    costs: &Homogeneous,
    root: usize,
    most: usize,
) -> f64 {
    let comm = |bytes: u64| costs.transmission(bytes).unwrap().units();
    let mut largest: Vec<usize> =
        (0..sizes.processors()).filter(|&rank| rank != root && sizes.block(rank) > 0).collect();
    largest.sort_by_key(|&rank| std::cmp::Reverse(sizes.block(rank)));
    let mut least = f64::INFINITY;
    for senders in 0..=most.min(largest.len()) {
        let direct = &largest[..senders];
        let rest: Vec<usize> =
            (0..sizes.processors()).filter(|rank| !direct.contains(rank)).collect();
        let copied = costs.copy(sizes.block(root)).unwrap().units();
        let start = direct.iter().fold(copied, |start, &x| start + comm(sizes.block(x)));
        if rest.len() == 1 {
            least = least.min(if senders == 0 { 0.0 } else { start });
            continue;
        }
        // By first and last place: when all is at a receiver, which is the root if it is there.
        let n = rest.len();
        let place = rest.iter().position(|&rank| rank == root).expect("the root stays");
        let holds_root = |i: usize, j: usize| (i..=j).contains(&place);
        let mut before = vec![0];
        for &rank in &rest {
            before.push(before[before.len() - 1] + sizes.block(rank));
        }
        let sent = |i: usize, j: usize| comm(before[j + 1] - before[i]);
        let mut kept = vec![vec![f64::INFINITY; n]; n];
        for i in (0..n).rev() {
            for j in i..n {
                if i == j {
                    let own = costs.copy(sizes.block(rest[i])).unwrap().units();
                    kept[i][i] = if rest[i] == root { start } else { own };
                    continue;
                }
                let ready = |i: usize, j: usize| if i == j { 0.0 } else { kept[i][j] };
                let mut time = f64::INFINITY;
                for k in i..j {
                    if !holds_root(k + 1, j) {
                        time = time.min(kept[i][k].max(ready(k + 1, j)) + sent(k + 1, j));
                    }
                    if !holds_root(i, k) {
                        time = time.min(kept[k + 1][j].max(ready(i, k)) + sent(i, k));
                    }
                }
                kept[i][j] = time;
            }
        }
        least = least.min(kept[0][n - 1]);
    }
    least
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn exact_is_the_least_over_all_trees(
        (sizes, root) in problem(all_trees::MOST), costs in problems::costs(),
    ) {
        let tree = exact(&sizes, &costs, root).unwrap();
        prop_assert!(root == Root::Best || root == Root::Given(tree.root()));
        prop_assert_eq!(time(&tree, &sizes, &costs), least_time(&sizes, &costs, root));
    }

    #[test]
    fn exact_is_the_least_over_all_trees_of_six_processors_in_which_everybody_copies_first(
        blocks in prop::collection::vec(prop_oneof![0..6_u64, 0..100_u64], MOST_COPYING_FIRST),
        costs in problems::costs(),
        root in prop::option::of(0..MOST_COPYING_FIRST),
    ) {
        let sizes = BlockSizes::new(blocks).unwrap();
        let root = root.map_or(Root::Best, Root::Given);
        let least = least_of(trees_copying_first(), &sizes, &costs, root);
        let bound = best_lower_bound(root, &sizes, &costs).unwrap().units();
        prop_assert!(bound <= least);
        prop_assert_eq!(time(&exact(&sizes, &costs, root).unwrap(), &sizes, &costs), least);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn no_construction_beats_exact_and_those_with_all_orders_are_no_slower_than_ordered(
        (sizes, root) in problem(9), costs in monotone_costs(), seed in any::<u64>(),
    ) {
        let best = time(&exact(&sizes, &costs, root).unwrap(), &sizes, &costs);
        let ordered = optimal(&sizes, &costs, root, default_method(&sizes, &costs)).unwrap().value;
        let bound = best_lower_bound(root, &sizes, &costs).unwrap().units();
        prop_assert!(bound <= best && best <= ordered);
        let by_order = sorted(&sizes, &costs, root, &Order::ALL, &()).unwrap();
        let by_sender = direct(&sizes, &costs, root, 8, &()).unwrap();
        let searched = search(&sizes, &costs, root, Search { steps: 20, seed }, &()).unwrap();
        for tree in [&by_order, &by_sender] {
            prop_assert!((best..=ordered).contains(&time(tree, &sizes, &costs)));
        }
        let descending = sorted(&sizes, &costs, root, &[Order::Descending], &()).unwrap();
        prop_assert!(time(&searched, &sizes, &costs) <= time(&descending, &sizes, &costs));
        let greedy = greedy(&sizes, &costs, root).unwrap();
        let doubling = doubling(&sizes, root).unwrap();
        for tree in [&searched, &greedy, &doubling] {
            prop_assert!(best <= time(tree, &sizes, &costs));
        }
        let given = |tree: &Tree| root == Root::Best || root == Root::Given(tree.root());
        for tree in [&by_order, &by_sender, &searched, &greedy, &doubling] {
            prop_assert!(given(tree));
        }
    }

    #[test]
    fn direct_is_the_least_of_its_class(
        // From 67 processors on, by the run-length program.
        sizes in prop_oneof![9 => problems::sizes(9), 1 => problems::sizes(120)],
        costs in monotone_costs(),
        root in any::<prop::sample::Index>(), most in 0..4_usize,
    ) {
        let root = root.index(sizes.processors());
        let tree = direct(&sizes, &costs, Root::Given(root), most, &()).unwrap();
        let found = time(&tree, &sizes, &costs);
        prop_assert_eq!(found, least_with_direct_senders(&sizes, &costs, root, most));
    }

    #[test]
    fn with_dear_copies_sorted_trees_are_still_between_exact_and_ordered(
        (sizes, root) in problem(7), costs in problems::costs(),
    ) {
        let best = time(&exact(&sizes, &costs, root).unwrap(), &sizes, &costs);
        let ordered = optimal(&sizes, &costs, root, default_method(&sizes, &costs)).unwrap().value;
        let by_order = sorted(&sizes, &costs, root, &Order::ALL, &()).unwrap();
        prop_assert!((best..=ordered).contains(&time(&by_order, &sizes, &costs)));
        let doubling = doubling(&sizes, root).unwrap();
        let greedy = greedy(&sizes, &costs, root).unwrap();
        prop_assert!(best <= time(&greedy, &sizes, &costs));
        prop_assert!(time(&greedy, &sizes, &costs) <= time(&doubling, &sizes, &costs));
    }

    #[test]
    fn costs_that_are_no_integers_give_nearly_the_same_times(
        (sizes, root) in problem(8), costs in monotone_costs(),
    ) {
        let tenth = |cost: f64| cost / 10.0;
        let tenths =
            Homogeneous::new(tenth(costs.alpha()), tenth(costs.beta()), tenth(costs.gamma()));
        let tenths = tenths.unwrap();
        // Not simulated: the simulation adds in another order, and rounds otherwise.
        let least = |costs| {
            let trees = [exact(&sizes, costs, root), direct(&sizes, costs, root, 3, &())];
            trees.map(|tree| completion_time(&tree.unwrap(), &sizes, costs).unwrap().units())
        };
        for (whole, parts) in least(&costs).into_iter().zip(least(&tenths)) {
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
        let root = root.index(sizes.processors());
        let received = sizes.iter().enumerate().filter(|&(rank, m)| rank != root && m > 0).count();
        let messages = match received {
            0 => 0,
            n => n.next_power_of_two().ilog2() + 1,
        };
        let copied = if sizes.processors() > 1 { sizes.block(root) } else { 0 };
        let volume = (sizes.total() - sizes.block(root)) as f64;
        let most = f64::from(messages) * costs.alpha()
            + costs.beta() * volume
            + costs.gamma() * copied as f64;
        let tree = doubling(&sizes, Root::Given(root)).unwrap();
        prop_assert!(completion_time(&tree, &sizes, &costs).unwrap().units() <= most);
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
        let tree = exact(&gather.sizes, &gather.costs, Root::Best).unwrap();
        let time = completion_time(&tree, &gather.sizes, &gather.costs).unwrap().units();
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
        let tree = two_block(&sizes, Root::Best).unwrap();
        let found = time(&tree, &sizes, &costs);
        let best = time(&exact(&sizes, &costs, Root::Best).unwrap(), &sizes, &costs);
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
fn the_published_partition_instance_takes_982_and_ordered_983() {
    let gather = partition::gather(&[2, 3, 3, 3, 4, 4, 4, 6, 6, 13]).unwrap();
    let published = [21, 31, 31, 31, 41, 41, 41, 61, 61, 131, 240, 250];
    assert!(gather.sizes.iter().eq(published));
    let tree = exact(&gather.sizes, &gather.costs, Root::Best).unwrap();
    assert_eq!(time(&tree, &gather.sizes, &gather.costs), 982.0);
    let by_order = sorted(&gather.sizes, &gather.costs, Root::Best, &Order::ALL, &()).unwrap();
    assert_eq!(time(&by_order, &gather.sizes, &gather.costs), 983.0);
    let ten_thousand = Search { steps: 10_000, seed: 1 };
    let found = search(&gather.sizes, &gather.costs, Root::Best, ten_thousand, &()).unwrap();
    assert_eq!(time(&found, &gather.sizes, &gather.costs), 982.0);
}

#[test]
fn order_can_cost_nearly_a_factor_of_two_and_direct_senders_win_it_back() {
    // Root 1023, block 0 takes ten alphas, all others hardly anything.
    let mut blocks = vec![1; 1024];
    blocks[0] = 10_000_000;
    let sizes = BlockSizes::new(blocks).unwrap();
    let costs = homogeneous(1_000_000, 1, 1);
    let root = Root::Given(1023);
    let ordered = optimal(&sizes, &costs, root, default_method(&sizes, &costs)).unwrap().value;
    let senders = time(&direct(&sizes, &costs, root, 8, &()).unwrap(), &sizes, &costs);
    let bound = best_lower_bound(root, &sizes, &costs).unwrap().units();
    assert_eq!((ordered / 1e6).round(), 21.0);
    assert_eq!((senders / 1e6).round(), 12.0);
    assert_eq!(senders, bound);
}

#[test]
fn a_search_that_may_not_go_on_is_the_first_order_and_one_that_may_is_the_same_each_time() {
    let sizes = BlockSizes::new([3, 40, 8, 8, 61, 15, 22, 9, 37, 1]).unwrap();
    let costs = homogeneous(30, 1, 1);
    let root = Root::Given(2);
    let steps = Search { steps: 1000, seed: 7 };
    let while_asked = |most: usize| {
        let mut asked = 0;
        let tree = search_while(&sizes, &costs, root, steps, &(), &mut || {
            asked += 1;
            asked <= most
        });
        (tree.unwrap(), asked)
    };
    let first = sorted(&sizes, &costs, root, &[Order::Descending], &()).unwrap();
    assert_eq!(while_asked(0), (first, 1));
    let (some, asked) = while_asked(20);
    assert!(asked <= 21);
    let twenty = Search { steps: 20, ..steps };
    assert_eq!(some, search(&sizes, &costs, root, twenty, &()).unwrap());
}

#[test]
fn few_distinct_sizes_are_exact_for_many_processors() {
    let blocks = (0..80).map(|rank| if rank % 2 == 0 { 3 } else { 50 });
    let sizes = BlockSizes::new(blocks).unwrap();
    let costs = homogeneous(40, 1, 1);
    let best = time(&exact(&sizes, &costs, Root::Given(0)).unwrap(), &sizes, &costs);
    let by_order = sorted(&sizes, &costs, Root::Given(0), &Order::ALL, &()).unwrap();
    let bound = best_lower_bound(Root::Given(0), &sizes, &costs).unwrap().units();
    assert!(bound <= best && best <= time(&by_order, &sizes, &costs));
}

#[test]
fn an_empty_block_relays_where_copies_are_dear() {
    // Gamma 100: processor 1 collects two of the blocks, since it has nothing to copy.
    let sizes = BlockSizes::new([0, 0, 1, 1, 1, 1]).unwrap();
    let costs = homogeneous(10, 1, 100);
    let tree = exact(&sizes, &costs, Root::Given(0)).unwrap();
    assert_eq!(tree.degree(1), 2);
    assert_eq!(time(&tree, &sizes, &costs), 34.0);
}

#[test]
fn what_is_too_much_is_refused_with_figures() {
    let sizes = BlockSizes::new((0..30).map(|rank| 1 << rank)).unwrap();
    let costs = homogeneous(1, 1, 1);
    let needed = exact_work(&sizes, &costs, Root::Given(0)).unwrap();
    assert_eq!(needed, 3_u64.pow(29));
    let error = exact(&sizes, &costs, Root::Given(0)).unwrap_err();
    assert_eq!(error, NonOrderedError::TooMuchWork { needed, allowed: 1_000_000_000 });
    let outside = NonOrderedError::Ordered(DpError::RootOutOfRange { root: 30, processors: 30 });
    assert_eq!(exact(&sizes, &costs, Root::Given(30)).unwrap_err(), outside);
    assert_eq!(direct(&sizes, &costs, Root::Given(30), 1, &()).unwrap_err(), outside);
    let dear = homogeneous(1, 1, 2);
    assert_eq!(
        direct(&sizes, &dear, Root::Given(0), 1, &()).unwrap_err(),
        NonOrderedError::Ordered(DpError::GammaExceedsBeta { gamma: 2.0, beta: 1.0 })
    );
}
