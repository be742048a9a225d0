//! Two clocks that know nothing of each other: the recursion on trees and the simulation of schedules.

use proptest::prelude::*;
use tuwtree_dp::{default_method, optimal_adjacent};
use tuwtree_laws::machines::{measured_hierarchy, overlapping};
use tuwtree_laws::problems::{
    costs, gather, homogeneous, irregular, of_each_operation, ports, rooted, sizes,
};
use tuwtree_laws::random_trees::trees;
use tuwtree_model::{
    BlockSizes, ClosedSet, Collective, CostMatrix, CostModel, Distribution, DistributionParameters,
    Problem, Randomness, Rank, Root, Time, Tree, Vector, completion, completion_time,
};
use tuwtree_schedule::{Handover, Posts, Schedule, Sends, Timeline, simulate};
use tuwtree_treegen::{AdaptiveRule, adaptive, linear};

fn timeline(tree: &Tree, problem: &Problem, handover: impl Into<Handover>) -> Timeline {
    simulate(&Schedule::of_tree(tree, problem).unwrap(), problem.costs(), handover).unwrap()
}

/// Every way of handing messages over.
fn handovers() -> impl Iterator<Item = Handover> {
    Sends::all().flat_map(|sends| Posts::all().map(move |posts| Handover { sends, posts }))
}

/// A tree, its blocks, and costs for as many ranks.
fn judged<T: std::fmt::Debug, S: Strategy<Value = T>>(
    most: usize,
    costs: fn(usize) -> S,
) -> impl Strategy<Value = (Tree, BlockSizes, T)> {
    trees(sizes(most)).prop_flat_map(move |(tree, sizes)| {
        let ranks = tree.ranks();
        (Just(tree), Just(sizes), costs(ranks))
    })
}

/// Fails unless the critical path goes on without a gap from 0 to the completion time.
fn check_critical_path(timeline: &Timeline) -> Result<(), TestCaseError> {
    let mut time = Time::ZERO;
    for step in timeline.critical_path() {
        prop_assert_eq!(step.start, time);
        time = step.end;
    }
    prop_assert_eq!(time, timeline.completion_time());
    Ok(())
}

/// Integer costs for each ordered pair of ranks.
fn random_costs(ranks: usize, seed: u64) -> CostMatrix {
    let cost = |one: Rank, other: Rank, most: u64| {
        let mixed =
            (seed ^ (one as u64 * 1_000_003 + other as u64)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        ((mixed >> 33) % most) as f64
    };
    CostMatrix::from_fn(
        ranks,
        |sender, receiver| cost(sender, receiver, 100),
        |sender, receiver| cost(receiver + 1000, sender, 5),
        |rank| cost(rank, rank, 4),
    )
    .unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn gather_and_scatter_take_the_trees_completion_time(
        (tree, sizes) in trees(sizes(40)), costs in costs(),
    ) {
        let expected = completion_time(&tree, &gather(&sizes, costs, Root::Best)).unwrap();
        for problem in irregular(&sizes, costs) {
            let timeline = timeline(&tree, &problem, Sends::Synchronous);
            prop_assert_eq!(timeline.completion_time(), expected);
        }
    }

    #[test]
    fn a_tree_takes_its_completion_time_under_costs_of_each_pair(
        (tree, sizes) in trees(sizes(20)), seed: u64,
    ) {
        let costs = random_costs(tree.ranks(), seed);
        for problem in of_each_operation(&sizes, 1 + seed % 100, &costs) {
            let expected = completion_time(&tree, &problem).unwrap();
            let schedule = Schedule::without_costs(&tree, problem.collective()).unwrap();
            let timeline = simulate(&schedule, &costs, Sends::Synchronous).unwrap();
            prop_assert_eq!(timeline.completion_time(), expected);
        }
    }

    #[test]
    fn each_segment_is_sent_when_the_recursion_says(
        (tree, sizes) in trees(sizes(40)), costs in costs(),
    ) {
        let problem = gather(&sizes, costs, Root::Best);
        let completion = completion(&tree, &problem).unwrap();
        let timeline = timeline(&tree, &problem, Sends::Synchronous);
        for rank in 0..tree.ranks() {
            if tree.parent(rank).is_some() && completion.segment[rank] > 0 {
                let times = timeline.actions(rank).last().expect("it sends at last");
                prop_assert_eq!(times.ready, completion.ready[rank]);
                prop_assert_eq!((times.start, times.end), completion.sent[rank]);
            }
        }
    }

    #[test]
    fn a_tree_gains_nothing_by_eager_sends(
        (tree, sizes) in trees(sizes(40)), costs in costs(),
    ) {
        for problem in irregular(&sizes, costs) {
            let [synchronous, eager] = [Sends::Synchronous, Sends::Eager]
                .map(|sends| timeline(&tree, &problem, sends));
            prop_assert_eq!(synchronous.completion_time(), eager.completion_time());
        }
    }

    #[test]
    fn the_critical_path_leads_without_a_gap_from_the_start_to_the_end(
        (tree, sizes) in trees(sizes(40)), costs in costs(),
    ) {
        for problem in irregular(&sizes, costs) {
            check_critical_path(&timeline(&tree, &problem, Sends::Synchronous))?;
        }
    }

    #[test]
    fn a_tree_takes_its_completion_time_where_latency_overlaps(
        (tree, sizes, costs) in judged(20, overlapping), bytes in 0..100_u64, k in 1..4_u16,
    ) {
        for problem in of_each_operation(&sizes, bytes, &costs) {
            let problem = match problem.operation().is_irregular() {
                true => problem.with_ports(ports(k)),
                false => problem,
            };
            let expected = completion_time(&tree, &problem).unwrap();
            for sends in Sends::all() {
                let timeline = timeline(&tree, &problem, sends);
                prop_assert_eq!(timeline.completion_time(), expected, "{:?}", problem);
            }
        }
    }

    #[test]
    fn a_tree_takes_its_completion_time_by_measured_tables(
        (tree, sizes, machine) in judged(20, measured_hierarchy), bytes in 0..1000_u64,
        k in 1..4_u16,
    ) {
        for problem in of_each_operation(&sizes, bytes, &machine) {
            let problem = match problem.operation().is_irregular() {
                true => problem.with_ports(ports(k)),
                false => problem,
            };
            let expected = completion_time(&tree, &problem).unwrap();
            let time = timeline(&tree, &problem, Sends::Synchronous).completion_time();
            match problem.operation().is_outward() {
                // The recursion sums up from the leaves, the simulation from the root.
                true => prop_assert!((time.units() - expected.units()).abs() <= 1e-9 * expected.units()),
                false => prop_assert_eq!(time, expected),
            }
        }
    }

    #[test]
    fn waits_latencies_and_critical_paths_fit_however_messages_are_handed_over(
        (tree, sizes, costs) in judged(20, overlapping), bytes in 0..100_u64, k in 1..4_u16,
    ) {
        for problem in of_each_operation(&sizes, bytes, &costs) {
            let problem = match problem.operation().is_irregular() {
                true => problem.with_ports(ports(k)),
                false => problem,
            };
            let least = completion_time(&tree, &problem).unwrap();
            let schedule = Schedule::of_tree(&tree, &problem).unwrap();
            for handover in handovers() {
                let timeline = simulate(&schedule, &costs, handover).unwrap();
                prop_assert!(timeline.completion_time() >= least);
                check_critical_path(&timeline)?;
                let mut busy = 0.0;
                for rank in 0..tree.ranks() {
                    for times in timeline.actions(rank) {
                        let (begin, arrival) = times.latency;
                        prop_assert!(times.ready <= begin && begin <= arrival);
                        prop_assert!(arrival <= times.start && times.start <= times.end);
                    }
                    busy += timeline.busy_units(rank);
                }
                // Every message occupies a port at both its ends, every copy one.
                let programs = schedule.programs();
                let spans = (0..tree.ranks()).flat_map(|rank| {
                    programs.actions(rank).map(move |action| (rank, action))
                }).map(|(rank, action)| match (action.send(), action.receive()) {
                    (Some(send), _) => {
                        let bytes = send.from.bytes();
                        2.0 * costs.transmission_between(rank, send.to, bytes).unwrap().units()
                    }
                    (None, Some(_)) => 0.0,
                    (None, None) => {
                        let bytes = action.reads().unwrap().bytes();
                        costs.copy_at(rank, bytes).unwrap().units()
                    }
                });
                prop_assert_eq!(busy, spans.sum::<f64>());
            }
        }
    }

    #[test]
    fn strict_receives_pay_each_latency_after_the_other(
        (tree, sizes, costs) in judged(20, overlapping),
    ) {
        // By the definition: a gather's receive is posted when the step before it has ended.
        let problem = gather(&sizes, &costs, Root::Best);
        let done = completion(&tree, &problem).unwrap();
        let mut ready = vec![Time::ZERO; tree.ranks()];
        for rank in tree.top_down().into_iter().rev() {
            let mut clock = Time::ZERO;
            for step in tree.steps(rank) {
                clock = match step {
                    tuwtree_model::Step::Copy => {
                        costs.sum(clock, costs.copy_at(rank, sizes.block(rank)).unwrap()).unwrap()
                    }
                    tuwtree_model::Step::Receive(child) => {
                        let bytes = done.segment[child];
                        // Nothing is sent where there is no data.
                        let posted = if bytes > 0 { clock.later(ready[child]) } else { clock };
                        let latency = costs.latency_between(child, rank, bytes).unwrap();
                        let time = costs.transmission_between(child, rank, bytes).unwrap();
                        costs.sum(costs.sum(posted, latency).unwrap(), time).unwrap()
                    }
                };
            }
            ready[rank] = clock;
        }
        let strict = Handover { posts: Posts::Strict, ..Handover::default() };
        let time = timeline(&tree, &problem, strict).completion_time();
        prop_assert_eq!(time, ready[tree.root()]);
    }

    #[test]
    fn without_overlap_it_does_not_matter_when_receives_are_posted(
        (tree, sizes) in trees(sizes(20)), costs in costs(), bytes in 0..100_u64,
    ) {
        for problem in of_each_operation(&sizes, bytes, costs) {
            for sends in Sends::all() {
                let [pre_posted, strict] = [Posts::PrePosted, Posts::Strict]
                    .map(|posts| timeline(&tree, &problem, Handover { sends, posts }));
                for rank in 0..tree.ranks() {
                    prop_assert_eq!(pre_posted.actions(rank), strict.actions(rank));
                }
                prop_assert_eq!(pre_posted.critical_path(), strict.critical_path());
            }
        }
    }

    #[test]
    fn a_reduction_takes_as_long_as_a_broadcast_along_the_same_tree(
        (tree, _) in trees(sizes(40)), costs in costs(), bytes in 0..1000_u64,
    ) {
        let vector = Vector { ranks: tree.ranks(), bytes };
        let time = |collective| {
            let schedule = Schedule::without_costs(&tree, &collective).unwrap();
            simulate(&schedule, &costs, Sends::Synchronous).unwrap().completion_time()
        };
        prop_assert_eq!(time(Collective::broadcast(vector)), time(Collective::reduce(vector)));
    }
}

#[test]
fn constructed_and_optimal_trees_of_all_distributions_take_their_times() {
    let parameters = DistributionParameters::new(2000, 1000);
    for distribution in Distribution::all() {
        let sizes = distribution.sizes(parameters, Randomness::Glibc { seed: 1 }).unwrap();
        let [gather, scatter] = irregular(&sizes, homogeneous(100, 1, 1));
        let given = |root| rooted(&gather, Root::Given(root));
        let optimum = optimal_adjacent(&given(1000), default_method(&gather), &()).unwrap();
        let adaptive = adaptive(&gather, AdaptiveRule::CompletionTime).unwrap();
        for tree in [linear(&given(7)).unwrap(), adaptive, optimum.tree] {
            let expected = completion_time(&tree, &gather).unwrap();
            for problem in [&gather, &scatter] {
                let timeline = timeline(&tree, problem, Sends::Synchronous);
                assert_eq!(timeline.completion_time(), expected, "{}", distribution.name());
            }
        }
    }
}
