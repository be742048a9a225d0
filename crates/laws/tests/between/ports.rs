//! Several ports: the recursion on trees, the simulation of schedules, bounds and exact optima agree.

use proptest::prelude::*;
use tuwtree_bounds::{best_lower_bound, count_bound, lower_bound};
use tuwtree_dp::non_ordered::exact;
use tuwtree_laws::all_trees::{all_trees, has_root};
use tuwtree_laws::problems::{
    costs, gather, homogeneous, irregular, ports, root_of, rooted, sizes,
};
use tuwtree_laws::random_trees::trees;
use tuwtree_model::{
    BlockSizes, ClosedSet, CostMatrix, CostModel, Distribution, DistributionParameters,
    Homogeneous, Ports, Problem, Randomness, Rank, Root, Step, Time, Tree, check_ordered,
    completion, completion_time,
};
use tuwtree_schedule::{Schedule, Sends, document, simulate, verify};
use tuwtree_treegen::{AdaptiveRule, adaptive, hybrid, knomial, linear};

/// The problems of gathering and of scattering these blocks through so many ports.
fn on_ports(sizes: &BlockSizes, costs: &Homogeneous, number: u16) -> [Problem; 2] {
    irregular(sizes, costs).map(|problem| problem.with_ports(ports(number)))
}

/// The convention as it is written down: all free times in a list, the first least one is taken.
fn by_definition(tree: &Tree, sizes: &BlockSizes, costs: &Homogeneous, ports: u16) -> Vec<Time> {
    let mut ready = vec![Time::ZERO; tree.ranks()];
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
        let [gather, _] = on_ports(&sizes, &costs, k);
        let done = completion(&tree, &gather).unwrap();
        prop_assert_eq!(done.ready, by_definition(&tree, &sizes, &costs, k));
    }

    #[test]
    fn the_simulation_takes_the_trees_time_on_any_number_of_ports(
        (tree, sizes) in trees(sizes(40)), costs in costs(), k in 1..6_u16,
    ) {
        let problems = on_ports(&sizes, &costs, k);
        let expected = completion_time(&tree, &problems[0]).unwrap();
        for problem in problems {
            prop_assert_eq!(completion_time(&tree, &problem).unwrap(), expected);
            let schedule = Schedule::of_tree(&tree, &problem).unwrap();
            for sends in Sends::all() {
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
        let [gather, _] = on_ports(&sizes, &costs, k);
        let done = completion(&tree, &gather).unwrap();
        let schedule = Schedule::of_tree(&tree, &gather).unwrap();
        let timeline = simulate(&schedule, &costs, Sends::Synchronous).unwrap();
        for rank in 0..tree.ranks() {
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
        let mut ready = vec![Time::ZERO; tree.ranks()];
        let problems = on_ports(&sizes, &costs, 1);
        let done = completion(&tree, &problems[0]).unwrap();
        let segment = &done.segment;
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
        prop_assert_eq!(&done.ready, &ready);
        prop_assert!(done.port.iter().chain(&done.copy_port).all(|&port| port == 0));
        for problem in problems {
            let schedule = Schedule::of_tree(&tree, &problem).unwrap();
            let as_ever = Schedule::without_costs(&tree, problem.collective()).unwrap();
            prop_assert_eq!(schedule.programs(), as_ever.programs());
        }
    }

    #[test]
    fn with_a_port_for_each_step_nothing_waits_for_a_port(
        (tree, sizes) in trees(sizes(40)), costs in costs(),
    ) {
        let [gather, _] = on_ports(&sizes, &costs, 40);
        let done = completion(&tree, &gather).unwrap();
        for rank in (0..tree.ranks()).filter(|&rank| rank != tree.root()) {
            prop_assert_eq!(done.sent[rank].0, done.ready[rank]);
        }
        let one_ported = gather.with_ports(Ports::ONE);
        prop_assert!(done.ready[tree.root()] <= completion_time(&tree, &one_ported).unwrap());
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
    let [gather, _] = on_ports(&sizes, &costs, 2);
    let done = completion(&tree, &gather).unwrap();
    let ready: Vec<f64> = done.ready.iter().map(|time| time.units()).collect();
    // 1: ports 0 and 1 until 2, port 0 until 4. 0: port 0 from 4 to 9; port 1 twice 2.
    assert_eq!(ready, [9.0, 4.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(done.port, [0, 0, 0, 1, 0, 1, 1]);
    assert_eq!(done.sent[6].1.units(), 4.0);
}

/// Blocks of few ranks that make waiting pay.
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

/// Gathering these blocks through so many ports, at a root whose number may be too large.
fn gather_on(
    sizes: &BlockSizes,
    (costs, root): (Homogeneous, Option<Rank>),
    number: u16,
) -> Problem {
    gather(sizes, costs, root_of(root, sizes)).with_ports(ports(number))
}

fn exact_time(problem: &Problem) -> Time {
    completion_time(&exact(problem).unwrap(), problem).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn the_bound_is_never_above_the_exact_optimum(
        sizes in few(6), asked in costs_and_root(), k in 1..5_u16,
    ) {
        let problem = gather_on(&sizes, asked, k);
        prop_assert!(best_lower_bound(&problem).unwrap() <= exact_time(&problem));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn the_bound_is_never_above_the_exact_optimum_of_more_ranks(
        sizes in few(7), asked in costs_and_root(), k in 2..4_u16,
    ) {
        let problem = gather_on(&sizes, asked, k);
        prop_assert!(best_lower_bound(&problem).unwrap() <= exact_time(&problem));
    }

    #[test]
    fn with_one_port_exact_optima_and_bounds_are_those_of_one_port(
        sizes in few(7), (costs, root) in costs_and_root(),
    ) {
        let problem = gather(&sizes, costs, root_of(root, &sizes));
        let one_ported = problem.with_ports(ports(1));
        prop_assert_eq!(exact_time(&one_ported), exact_time(&problem));
        prop_assert_eq!(best_lower_bound(&one_ported), best_lower_bound(&problem));
        prop_assert!(best_lower_bound(&one_ported).unwrap() >= count_bound(&problem).unwrap());
    }

    #[test]
    fn the_bound_holds_of_any_tree(
        (tree, sizes) in trees(sizes(60)), costs in costs(), k in 1..6_u16,
    ) {
        for root in [Root::Best, Root::Given(tree.root())] {
            let problem = gather(&sizes, costs, root).with_ports(ports(k));
            let time = completion_time(&tree, &problem).unwrap();
            prop_assert!(best_lower_bound(&problem).unwrap() <= time);
        }
    }

    #[test]
    fn rounding_does_not_lift_the_bound_above_any_tree(
        sizes in few(6), (costs, root) in costs_and_root(), factor in 1e-3..1e3_f64, k in 2..4_u16,
    ) {
        let [alpha, beta, gamma] =
            [costs.alpha(), costs.beta(), costs.gamma()].map(|cost| cost * factor);
        let costs = Homogeneous::new(alpha, beta, gamma).unwrap();
        let problem = gather_on(&sizes, (costs, root), k);
        prop_assert!(best_lower_bound(&problem).unwrap() <= exact_time(&problem));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn the_exact_solver_finds_the_best_of_all_trees(
        sizes in few(5), asked in costs_and_root(), k in 2..5_u16,
    ) {
        let problem = gather_on(&sizes, asked, k);
        let least = all_trees(sizes.ranks())
            .iter()
            .filter(|tree| has_root(tree, problem.root()))
            .map(|tree| completion_time(tree, &problem).unwrap())
            .min();
        prop_assert_eq!(Some(exact_time(&problem)), least);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn hybrid_trees_are_between_the_exact_optimum_and_the_star(
        sizes in few(6), (costs, root) in costs_and_root(), k in 1..5_u16,
    ) {
        let root = root.unwrap_or(0) % sizes.ranks();
        let problem = gather_on(&sizes, (costs, Some(root)), k);
        let time = |tree: &Tree| completion_time(tree, &problem).unwrap();
        let hybrid = time(&hybrid(&problem).unwrap());
        prop_assert!(exact_time(&problem) <= hybrid);
        // Blocks in falling order, the copy first: so the star among those tried.
        let mut others: Vec<Rank> = (0..sizes.ranks()).filter(|&rank| rank != root).collect();
        others.sort_by_key(|&rank| std::cmp::Reverse(sizes.block(rank)));
        let copy = (!others.is_empty()).then_some((root, Step::Copy));
        let receives = others.iter().map(|&rank| (root, Step::Receive(rank)));
        let steps: Vec<(Rank, Step)> = copy.into_iter().chain(receives).collect();
        prop_assert!(hybrid <= time(&Tree::new(sizes.ranks(), root, &steps).unwrap()));
    }

    #[test]
    fn knomial_trees_are_ordered_and_have_few_rounds(
        sizes in sizes(60), root in prop::option::of(0..60_usize), k in 1..6_u16,
    ) {
        let problem = gather_on(&sizes, (homogeneous(7, 2, 1), root), k);
        let tree = knomial(&problem).unwrap();
        prop_assert!(has_root(&tree, problem.root()));
        prop_assert!(check_ordered(&tree).is_ok());
        // Rounds, without data: as many as (k + 1)-fold growth needs.
        let rounds = (0..).find(|&n| (usize::from(k) + 1).pow(n) >= sizes.ranks()).unwrap();
        let ones = BlockSizes::new(vec![1; sizes.ranks()]).unwrap();
        let problem = gather_on(&ones, (homogeneous(1, 0, 0), root), k);
        let time = completion_time(&knomial(&problem).unwrap(), &problem).unwrap();
        prop_assert_eq!(time.units(), f64::from(rounds));
    }

    #[test]
    fn with_one_port_the_knomial_tree_is_the_adaptive_one(
        sizes in sizes(60), costs in costs(), root in prop::option::of(0..60_usize),
    ) {
        let problem = gather_on(&sizes, (costs, root), 1);
        let adaptive = adaptive(&problem, AdaptiveRule::CompletionTime).unwrap();
        prop_assert_eq!(knomial(&problem).unwrap(), adaptive);
    }

    #[test]
    fn a_schedule_with_ports_is_read_as_it_was_written(
        (tree, sizes) in trees(sizes(20)), costs in costs(), k in 1..6_u16,
    ) {
        for problem in on_ports(&sizes, &costs, k) {
            let schedule = Schedule::of_tree(&tree, &problem).unwrap();
            let mut text = Vec::new();
            document::write(&schedule, &mut text).unwrap();
            prop_assert_eq!(document::read(&text[..]).unwrap(), schedule);
        }
    }

    #[test]
    fn the_simple_bound_holds_for_costs_of_each_pair(
        (tree, sizes) in trees(sizes(20)), seed in 0..1000_u64, k in 1..6_u16,
    ) {
        let p = tree.ranks();
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
        for problem in irregular(&sizes, &costs) {
            let problem = problem.with_ports(ports(k));
            let time = completion_time(&tree, &problem).unwrap();
            for root in [Root::Given(tree.root()), Root::Best] {
                prop_assert!(lower_bound(&rooted(&problem, root)).unwrap() <= time);
            }
        }
    }
}

fn problem_of(distribution: Distribution) -> BlockSizes {
    let parameters = DistributionParameters::new(2000, 1000);
    distribution.sizes(parameters, Randomness::Glibc { seed: 1 }).unwrap()
}

#[test]
fn hybrid_trees_are_within_one_percent_of_the_bound_for_all_distributions() {
    for distribution in Distribution::published() {
        let sizes = problem_of(distribution);
        for (alpha, gamma, k) in [(1, 0, 2), (100, 1, 3), (100, 0, 4), (1000, 1, 8)] {
            let problem = gather_on(&sizes, (homogeneous(alpha, 1, gamma), Some(1000)), k);
            let bound = best_lower_bound(&problem).unwrap();
            let time = completion_time(&hybrid(&problem).unwrap(), &problem).unwrap();
            assert!(bound <= time, "{}, {k} ports", distribution.name());
            let ratio = time.units() / bound.units();
            assert!(ratio < 1.01, "{}, {k} ports: {ratio}", distribution.name());
        }
    }
}

#[test]
fn a_star_on_k_ports_is_a_kth_of_one_on_one_port_at_best() {
    let sizes = problem_of(Distribution::Same);
    let time = |k| {
        let problem = gather_on(&sizes, (homogeneous(100, 1, 1), Some(0)), k);
        completion_time(&linear(&problem).unwrap(), &problem).unwrap().units()
    };
    // 1999 messages of 1100 and a copy of 1000.
    assert_eq!(time(1), 1999.0 * 1100.0 + 1000.0);
    assert_eq!(time(4), 500.0 * 1100.0);
}
