//! Several ports: the recursion on trees, the simulation of schedules, bounds and exact optima agree.

use proptest::prelude::*;
use tuwtree_dp::non_ordered::{exact, exact_on_ports};
use tuwtree_laws::all_trees::all_trees;
use tuwtree_laws::problems::{costs, homogeneous, sizes};
use tuwtree_laws::random_trees::trees;
use tuwtree_model::{
    BlockSizes, Collective, CostMatrix, CostModel, Distribution, Homogeneous, Operation, Ports,
    Randomness, Rank, Root, Scale, Step, Time, Tree, best_lower_bound, bound_on_ports,
    check_ordered, completion, completion_on_ports, completion_time, completion_time_on_ports,
    lower_bound_any_root_on_ports, lower_bound_on_ports,
};
use tuwtree_schedule::{Payload, Schedule, Sends, document, simulate, verify};
use tuwtree_treegen::{AdaptiveRule, adaptive, hybrid, knomial, linear};

fn ports(number: u16) -> Ports {
    Ports::new(number).unwrap()
}

/// The convention as it is written down: all free times in a list, the first least one is taken.
fn by_definition(tree: &Tree, sizes: &BlockSizes, costs: &Homogeneous, ports: u16) -> Vec<Time> {
    let mut ready = vec![Time::ZERO; tree.processors()];
    let mut segment: Vec<u64> = sizes.iter().collect();
    for rank in tree.top_down().into_iter().rev() {
        let mut free = vec![Time::ZERO; ports.into()];
        for step in tree.steps(rank) {
            let port = (0..free.len()).min_by_key(|&port| (free[port], port)).unwrap();
            free[port] = match step {
                Step::Copy => costs.sum(free[port], costs.copy(sizes.block(rank)).unwrap()),
                Step::Receive(child) => {
                    segment[rank] += segment[child];
                    let start = free[port].max(ready[child]);
                    costs.sum(start, costs.transmission(segment[child]).unwrap())
                }
            }
            .unwrap();
        }
        ready[rank] = free.into_iter().max().unwrap();
    }
    ready
}

fn schedule(
    tree: &Tree,
    operation: Operation,
    sizes: &BlockSizes,
    costs: &Homogeneous,
    ports: Ports,
) -> Schedule {
    let payload = Payload::Blocks(sizes.clone());
    Schedule::of_tree_on_ports(tree, operation, payload, (*costs).into(), ports).unwrap()
}

/// Costs that are no integers.
fn fractional() -> impl Strategy<Value = Homogeneous> {
    (0.0..50.0_f64, 0.0..3.0_f64, 0.0..3.0_f64)
        .prop_map(|(alpha, beta, gamma)| Homogeneous::new(alpha, beta, gamma).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn steps_are_dealt_as_the_convention_says(
        (tree, sizes) in trees(sizes(40)), costs in costs(), k in 1..6_u16,
    ) {
        let done = completion_on_ports(&tree, &sizes, &costs, ports(k)).unwrap();
        prop_assert_eq!(done.ready, by_definition(&tree, &sizes, &costs, k));
    }

    #[test]
    fn the_simulation_takes_the_trees_time_on_any_number_of_ports(
        (tree, sizes) in trees(sizes(40)), costs in costs(), k in 1..6_u16,
    ) {
        let expected = completion_time_on_ports(&tree, &sizes, &costs, ports(k)).unwrap();
        for operation in Operation::IRREGULAR {
            let schedule = schedule(&tree, operation, &sizes, &costs, ports(k));
            for sends in Sends::ALL {
                let timeline = simulate(&schedule, &costs, sends).unwrap();
                prop_assert_eq!(timeline.completion_time(), expected);
            }
            let verified = verify(&schedule);
            prop_assert!(verified.is_ok(), "{}", verified.unwrap_err());
        }
    }

    #[test]
    fn each_segment_is_sent_when_the_recursion_on_ports_says(
        (tree, sizes) in trees(sizes(40)), costs in costs(), k in 1..6_u16,
    ) {
        let done = completion_on_ports(&tree, &sizes, &costs, ports(k)).unwrap();
        let schedule = schedule(&tree, Operation::Gather, &sizes, &costs, ports(k));
        let timeline = simulate(&schedule, &costs, Sends::Synchronous).unwrap();
        for rank in 0..tree.processors() {
            if tree.parent(rank).is_some() && done.segment[rank] > 0 {
                let times = timeline.actions(rank).last().expect("it sends at last");
                prop_assert_eq!(times.ready, done.ready[rank]);
                prop_assert_eq!((times.start, times.end), done.sent[rank]);
            }
        }
    }

    #[test]
    fn one_port_is_as_ever_bit_for_bit(
        (tree, sizes) in trees(sizes(40)), costs in fractional(),
    ) {
        // The recursion of one port as OPT Definition 2 has it.
        let mut ready = vec![Time::ZERO; tree.processors()];
        let segment = completion(&tree, &sizes, &costs).unwrap().segment;
        for rank in tree.top_down().into_iter().rev() {
            let mut clock = Time::ZERO;
            for step in tree.steps(rank) {
                clock = match step {
                    Step::Copy => costs.sum(clock, costs.copy(sizes.block(rank)).unwrap()),
                    Step::Receive(child) => costs
                        .sum(clock.later(ready[child]), costs.transmission(segment[child]).unwrap()),
                }
                .unwrap();
            }
            ready[rank] = clock;
        }
        let done = completion_on_ports(&tree, &sizes, &costs, Ports::ONE).unwrap();
        prop_assert_eq!(&done.ready, &ready);
        prop_assert_eq!(&done, &completion(&tree, &sizes, &costs).unwrap());
        prop_assert!(done.port.iter().chain(&done.copy_port).all(|&port| port == 0));
        for operation in Operation::IRREGULAR {
            let payload = Payload::Blocks(sizes.clone());
            let as_ever =
                Schedule::of_tree(&tree, operation, payload, Some(costs.into())).unwrap();
            prop_assert_eq!(schedule(&tree, operation, &sizes, &costs, Ports::ONE), as_ever);
        }
    }

    #[test]
    fn with_a_port_for_each_step_nothing_waits_for_a_port(
        (tree, sizes) in trees(sizes(40)), costs in costs(),
    ) {
        let done = completion_on_ports(&tree, &sizes, &costs, ports(40)).unwrap();
        for rank in (0..tree.processors()).filter(|&rank| rank != tree.root()) {
            prop_assert_eq!(done.sent[rank].0, done.ready[rank]);
        }
        prop_assert!(
            done.ready[tree.root()] <= completion_time(&tree, &sizes, &costs).unwrap()
        );
    }
}

/// Two ports, and a list in which a step that comes earlier may hold back the others.
#[test]
fn a_port_waits_for_the_child_that_it_was_dealt() {
    // 0 receives from 1, which gathers 2, 3 and 4 first; then from 5 and 6.
    let receives = |rank: Rank, children: &[Rank]| -> Vec<(Rank, Step)> {
        let copy = std::iter::once((rank, Step::Copy));
        copy.chain(children.iter().map(|&child| (rank, Step::Receive(child)))).collect()
    };
    let steps = [receives(0, &[1, 5, 6]), receives(1, &[2, 3, 4])].concat();
    let tree = Tree::new(7, 0, &steps).unwrap();
    let sizes = BlockSizes::new([0, 1, 1, 1, 1, 1, 1]).unwrap();
    let costs = Homogeneous::new(1.0, 1.0, 0.0).unwrap();
    let done = completion_on_ports(&tree, &sizes, &costs, ports(2)).unwrap();
    let ready: Vec<f64> = done.ready.iter().map(|time| time.units()).collect();
    // 1: ports 0 and 1 until 2, port 0 until 4. 0: port 0 from 4 to 9; port 1 twice 2.
    assert_eq!(ready, [9.0, 4.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(done.port, [0, 0, 0, 1, 0, 1, 1]);
    assert_eq!(done.sent[6].1.units(), 4.0);
}

/// Blocks of few processors that make waiting pay.
fn few(most: usize) -> impl Strategy<Value = BlockSizes> {
    let block = prop_oneof![
        4 => 0..12_u64,
        2 => 1..60_u64,
        1 => Just(0_u64),
        1 => 200..400_u64,
    ];
    prop::collection::vec(block, 1..=most).prop_map(|sizes| BlockSizes::new(sizes).unwrap())
}

/// Costs with alphas from none to more than all blocks take, and roots.
fn costs_and_root() -> impl Strategy<Value = (Homogeneous, Option<Rank>)> {
    let alpha = prop_oneof![0..6_u32, 5..40_u32, 30..400_u32];
    ((alpha, 0..4_u32, 0..5_u32), prop::option::of(0..8_usize))
        .prop_map(|((alpha, beta, gamma), root)| (homogeneous(alpha, beta, gamma), root))
}

fn root_of(root: Option<Rank>, sizes: &BlockSizes) -> Root {
    root.map_or(Root::Best, |root| Root::Given(root % sizes.processors()))
}

fn exact_time(sizes: &BlockSizes, costs: &Homogeneous, root: Root, ports: Ports) -> Time {
    let tree = exact_on_ports(sizes, costs, root, ports).unwrap();
    completion_time_on_ports(&tree, sizes, costs, ports).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn the_bound_is_never_above_the_exact_optimum(
        sizes in few(6), (costs, root) in costs_and_root(), k in 1..5_u16,
    ) {
        let root = root_of(root, &sizes);
        let bound = bound_on_ports(root, &sizes, &costs, ports(k)).unwrap();
        prop_assert!(bound <= exact_time(&sizes, &costs, root, ports(k)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn the_bound_is_never_above_the_exact_optimum_of_more_processors(
        sizes in few(7), (costs, root) in costs_and_root(), k in 2..4_u16,
    ) {
        let root = root_of(root, &sizes);
        let bound = bound_on_ports(root, &sizes, &costs, ports(k)).unwrap();
        prop_assert!(bound <= exact_time(&sizes, &costs, root, ports(k)));
    }

    #[test]
    fn with_one_port_exact_optima_and_bounds_are_those_of_one_port(
        sizes in few(7), (costs, root) in costs_and_root(),
    ) {
        let root = root_of(root, &sizes);
        let tree = exact(&sizes, &costs, root).unwrap();
        let time = completion_time(&tree, &sizes, &costs).unwrap();
        prop_assert_eq!(exact_time(&sizes, &costs, root, Ports::ONE), time);
        prop_assert_eq!(
            bound_on_ports(root, &sizes, &costs, Ports::ONE),
            best_lower_bound(root, &sizes, &costs)
        );
    }

    #[test]
    fn the_bound_holds_of_any_tree(
        (tree, sizes) in trees(sizes(60)), costs in costs(), k in 1..6_u16,
    ) {
        let time = completion_time_on_ports(&tree, &sizes, &costs, ports(k)).unwrap();
        for root in [Root::Best, Root::Given(tree.root())] {
            prop_assert!(bound_on_ports(root, &sizes, &costs, ports(k)).unwrap() <= time);
        }
    }

    #[test]
    fn rounding_does_not_lift_the_bound_above_any_tree(
        sizes in few(6), (costs, root) in costs_and_root(), factor in 1e-3..1e3_f64, k in 2..4_u16,
    ) {
        let [alpha, beta, gamma] =
            [costs.alpha(), costs.beta(), costs.gamma()].map(|cost| cost * factor);
        let costs = Homogeneous::new(alpha, beta, gamma).unwrap();
        let root = root_of(root, &sizes);
        let bound = bound_on_ports(root, &sizes, &costs, ports(k)).unwrap();
        prop_assert!(bound <= exact_time(&sizes, &costs, root, ports(k)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn the_exact_solver_finds_the_best_of_all_trees(
        sizes in few(5), (costs, root) in costs_and_root(), k in 2..5_u16,
    ) {
        let root = root_of(root, &sizes);
        let least = all_trees(sizes.processors())
            .iter()
            .filter(|tree| root == Root::Best || root == Root::Given(tree.root()))
            .map(|tree| completion_time_on_ports(tree, &sizes, &costs, ports(k)).unwrap())
            .min();
        prop_assert_eq!(Some(exact_time(&sizes, &costs, root, ports(k))), least);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn hybrid_trees_are_between_the_exact_optimum_and_the_star(
        sizes in few(6), (costs, root) in costs_and_root(), k in 1..5_u16,
    ) {
        let root = Root::Given(root.unwrap_or(0) % sizes.processors());
        let time = |tree: &Tree| completion_time_on_ports(tree, &sizes, &costs, ports(k)).unwrap();
        let hybrid = time(&hybrid(&sizes, &costs, root, ports(k)).unwrap());
        prop_assert!(exact_time(&sizes, &costs, root, ports(k)) <= hybrid);
        // Blocks in falling order, the copy first: so the star among those tried.
        let Root::Given(root) = root else { unreachable!() };
        let mut others: Vec<Rank> = (0..sizes.processors()).filter(|&rank| rank != root).collect();
        others.sort_by_key(|&rank| std::cmp::Reverse(sizes.block(rank)));
        let copy = (!others.is_empty()).then_some((root, Step::Copy));
        let receives = others.iter().map(|&rank| (root, Step::Receive(rank)));
        let steps: Vec<(Rank, Step)> = copy.into_iter().chain(receives).collect();
        prop_assert!(hybrid <= time(&Tree::new(sizes.processors(), root, &steps).unwrap()));
    }

    #[test]
    fn knomial_trees_are_ordered_and_have_few_rounds(
        sizes in sizes(60), root in prop::option::of(0..60_usize), k in 1..6_u16,
    ) {
        let root = root_of(root, &sizes);
        let costs = homogeneous(7, 2, 1);
        let tree = knomial(&sizes, &costs, root, ports(k)).unwrap();
        prop_assert!(root == Root::Best || root == Root::Given(tree.root()));
        prop_assert!(check_ordered(&tree).is_ok());
        // Rounds, without data: as many as (k + 1)-fold growth needs.
        let rounds = (0..).find(|&n| (usize::from(k) + 1).pow(n) >= sizes.processors()).unwrap();
        let ones = BlockSizes::new(vec![1; sizes.processors()]).unwrap();
        let latency = homogeneous(1, 0, 0);
        let tree = knomial(&ones, &latency, root, ports(k)).unwrap();
        let time = completion_time_on_ports(&tree, &ones, &latency, ports(k)).unwrap();
        prop_assert_eq!(time.units(), f64::from(rounds));
    }

    #[test]
    fn with_one_port_the_knomial_tree_is_the_adaptive_one(
        sizes in sizes(60), costs in costs(), root in prop::option::of(0..60_usize),
    ) {
        let root = root_of(root, &sizes);
        let rule = AdaptiveRule::CompletionTime;
        prop_assert_eq!(
            knomial(&sizes, &costs, root, Ports::ONE).unwrap(),
            adaptive(&sizes, &costs, root, rule).unwrap()
        );
    }

    #[test]
    fn a_schedule_with_ports_is_read_as_it_was_written(
        (tree, sizes) in trees(sizes(20)), costs in costs(), k in 1..6_u16,
    ) {
        for operation in Operation::IRREGULAR {
            let schedule = schedule(&tree, operation, &sizes, &costs, ports(k));
            let mut text = Vec::new();
            document::write(&schedule, &mut text).unwrap();
            prop_assert_eq!(document::read(&text[..]).unwrap(), schedule);
        }
    }

    #[test]
    fn the_simple_bound_holds_for_costs_of_each_pair(
        (tree, sizes) in trees(sizes(20)), seed in 0..1000_u64, k in 1..6_u16,
    ) {
        let p = tree.processors();
        let cost = |one: Rank, other: Rank, most: u64| {
            (((one * 31 + other * 17) as u64 + seed) * 2_654_435_761 % 1009 % most) as f64
        };
        let costs = CostMatrix::from_fn(
            p,
            |sender, receiver| cost(sender, receiver, 100),
            |sender, receiver| cost(receiver, sender + 7, 5),
            |rank| cost(rank, rank, 4),
        )
        .unwrap();
        for problem in [Collective::Gather(&sizes), Collective::Scatter(&sizes)] {
            let done = completion_on_ports(&tree, problem, &costs, ports(k)).unwrap();
            let time = done.ready[tree.root()];
            prop_assert!(lower_bound_on_ports(tree.root(), problem, &costs, ports(k)).unwrap() <= time);
            prop_assert!(lower_bound_any_root_on_ports(problem, &costs, ports(k)).unwrap() <= time);
        }
    }
}

fn problem_of(distribution: Distribution) -> BlockSizes {
    let scale = Scale { processors: 2000, mean_block: 1000, rho: 5 };
    distribution.sizes(scale, Randomness::Glibc { seed: 1 }).unwrap()
}

#[test]
fn hybrid_trees_are_within_one_percent_of_the_bound_for_all_distributions() {
    for distribution in Distribution::ALL {
        let sizes = problem_of(distribution);
        for (alpha, gamma, k) in [(1, 0, 2), (100, 1, 3), (100, 0, 4), (1000, 1, 8)] {
            let costs = homogeneous(alpha, 1, gamma);
            let root = Root::Given(1000);
            let bound = bound_on_ports(root, &sizes, &costs, ports(k)).unwrap();
            let tree = hybrid(&sizes, &costs, root, ports(k)).unwrap();
            let time = completion_time_on_ports(&tree, &sizes, &costs, ports(k)).unwrap();
            assert!(bound <= time, "{}, {k} ports", distribution.name());
            let ratio = time.units() / bound.units();
            assert!(ratio < 1.01, "{}, {k} ports: {ratio}", distribution.name());
        }
    }
}

#[test]
fn a_star_on_k_ports_is_a_kth_of_one_on_one_port_at_best() {
    let sizes = problem_of(Distribution::Same);
    let costs = homogeneous(100, 1, 1);
    let star = linear(2000, 0).unwrap();
    let time = |k| completion_time_on_ports(&star, &sizes, &costs, ports(k)).unwrap().units();
    // 1999 messages of 1100 and a copy of 1000.
    assert_eq!(time(1), 1999.0 * 1100.0 + 1000.0);
    assert_eq!(time(4), 500.0 * 1100.0);
}
