//! Timelines of trees by the judge.

use proptest::prelude::*;
use tuwtree_laws::problems::{irregular, sizes};
use tuwtree_laws::random_trees::trees;
use tuwtree_model::{BlockSizes, Homogeneous, Root, StatedCosts, Time, judged_time};
use tuwtree_schedule::{ActionTimes, Schedule, Sends, perform, simulate};

fn latency_passes(times: &ActionTimes) -> bool {
    times.latency.0 < times.latency.1
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn timelines_end_with_the_judge_and_ports_carry_one_message_at_a_time(
        (tree, sizes) in trees(sizes(24)), alpha in 1..200_u32, part in 0..4_u32,
    ) {
        // Schedules of empty subtrees copy less than their trees.
        let sizes = BlockSizes::new(sizes.iter().map(|bytes| bytes + 1)).unwrap();
        let overhead = f64::from(alpha * part) / 4.0;
        let costs = Homogeneous::new(f64::from(alpha), 1.0, 1.0).unwrap();
        let costs = costs.with_overhead(overhead).unwrap();
        for problem in irregular(&sizes, costs) {
            let problem = problem.with_root(Root::Given(tree.root())).unwrap();
            let schedule = Schedule::of_tree(&tree, &problem).unwrap();
            let timeline = perform(&schedule, &StatedCosts::from(costs)).unwrap();
            let end = timeline.completion_time();
            prop_assert_eq!(end, judged_time(&tree, &problem).unwrap());
            for rank in 0..tree.ranks() {
                let mut messages = Vec::new();
                for (action, times) in schedule.programs().actions(rank).zip(timeline.actions(rank)) {
                    prop_assert!(times.ready <= times.start && times.start <= times.end);
                    if latency_passes(times) {
                        prop_assert!(times.ready <= times.latency.0 && times.latency.1 <= times.start);
                    }
                    if action.send().is_some() || action.receive().is_some() {
                        messages.push((times.start, times.end));
                    }
                }
                messages.sort();
                prop_assert!(messages.windows(2).all(|pair| pair[0].1 <= pair[1].0), "{messages:?}");
            }
            let path = timeline.critical_path();
            prop_assert!(path.windows(2).all(|pair| pair[0].start <= pair[1].start));
            match path.last() {
                Some(last) => prop_assert_eq!(last.end, end),
                None => prop_assert_eq!(end, Time::ZERO),
            }
            // From the beginning on, and without gaps.
            prop_assert!(path.first().is_none_or(|first| first.start == Time::ZERO), "{path:?}");
            prop_assert!(path.windows(2).all(|pair| pair[1].start <= pair[0].end), "{path:?}");
        }
    }

    #[test]
    fn timelines_without_overlap_are_those_of_the_simulation(
        (tree, sizes) in trees(sizes(12)), alpha in 0..200_u32,
    ) {
        let costs = Homogeneous::new(f64::from(alpha), 1.0, 1.0).unwrap();
        for problem in irregular(&sizes, costs) {
            let schedule = Schedule::of_tree(&tree, &problem).unwrap();
            let performed = perform(&schedule, &StatedCosts::from(costs)).unwrap();
            let simulated = simulate(&schedule, &costs, Sends::Synchronous).unwrap();
            prop_assert_eq!(performed.completion_time(), simulated.completion_time());
            prop_assert_eq!(performed.critical_path(), simulated.critical_path());
        }
    }
}
