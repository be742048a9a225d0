//! The dense engine against the plain one, exact and with rounded clocks, and what both refuse or report.

use super::super::empty::WithoutEmpty;
use super::*;
use crate::{DpError, Progress};
use std::ops::ControlFlow;
use std::sync::Mutex;
use tuwtree_model::check_ordered;

#[test]
fn dense_is_plain_on_the_distributions() {
    let mut random = Random(13);
    for distribution in Distribution::published() {
        let scale = DistributionParameters::new(250, 1000);
        let sizes = distribution.sizes(scale, Randomness::default()).unwrap();
        let root = match random.below(2) {
            0 => Root::Best,
            _ => Root::Given(random.below(250) as usize),
        };
        let sizes = without_empty_blocks(&sizes, root);
        for (latency, overhead) in [(0.0, 5200.0), (2600.0, 2600.0), (18_000.0, 2000.0)] {
            let costs = Overlapping::new(latency, overhead, 1.0, 0.0).unwrap();
            let law = scaled(&sizes, &costs);
            for class in Class::ALL {
                let plain = plain::table(&law, class, root, &()).unwrap();
                let dense = dense::table(&law, class, root, &()).unwrap();
                assert_same(&dense, &plain, &(distribution, root, latency));
            }
        }
    }
}

fn check_dense_is_plain(random: &mut Random, ranks: usize) {
    let sizes = random.sizes_of(ranks);
    let root = match random.below(2) {
        0 => Root::Best,
        _ => Root::Given(random.below(ranks as u64) as usize),
    };
    let sizes = without_empty_blocks(&sizes, root);
    let costs = fitting(random, &sizes);
    let law = scaled(&sizes, &costs);
    for class in Class::ALL {
        let plain = plain::table(&law, class, root, &()).unwrap();
        let dense = dense::table(&law, class, root, &()).unwrap();
        assert_same(&dense, &plain, &(root, &sizes, &costs));
    }
}

#[test]
fn dense_is_plain_in_every_cell() {
    let mut random = Random(6);
    for (ranks, count) in
        problems(&[(3, 2000), (7, 20_000), (12, 20_000), (25, 1500), (60, 60), (120, 8)])
    {
        for _ in 0..count {
            let ranks = 1 + random.below(ranks as u64) as usize;
            check_dense_is_plain(&mut random, ranks);
        }
    }
}

#[test]
fn leaving_out_empty_blocks_changes_neither_time_nor_class() {
    let mut random = Random(7);
    for problem in 0..6000 {
        let ranks = 1 + random.below(if problem % 20 == 0 { 40 } else { 12 }) as usize;
        let sizes = random.sizes_of(ranks);
        let costs = fitting(&mut random, &sizes);
        let given = Root::Given(random.below(ranks as u64) as usize);
        for (class, root) in
            Class::ALL.into_iter().flat_map(|class| [(class, Root::Best), (class, given)])
        {
            let by = |engine| wider::optimal(&sizes, &costs, root, class, engine, &()).unwrap();
            let (plain, dense) = (by(Engine::Plain), by(Engine::EXACT));
            let context = (root, &sizes, &costs);
            assert_eq!((dense.time, dense.at_least), (plain.time, plain.time), "{context:?}");
            assert_eq!(class.check(&dense.tree), Ok(()), "{context:?}");
            let time = costs.completion_time(&dense.tree, &sizes).unwrap();
            assert_eq!(time.units(), dense.time, "{context:?}");
            assert!(root == Root::Best || root == Root::Given(dense.tree.root()));
        }
    }
}

#[test]
fn rounded_clocks_give_a_bracket_around_the_optimum() {
    let mut random = Random(8);
    let mut closed = 0;
    for _ in 0..6000 {
        let ranks = 2 + random.below(20) as usize;
        let sizes = random.sizes_of(ranks);
        let costs = fitting(&mut random, &sizes);
        let root = match random.below(2) {
            0 => Root::Best,
            _ => Root::Given(random.below(ranks as u64) as usize),
        };
        let by =
            |engine| wider::optimal(&sizes, &costs, root, Class::Consecutive, engine, &()).unwrap();
        let optimum = by(Engine::EXACT).time;
        let most_clocks = 1 + random.below(4) as usize;
        let kept = WithoutEmpty::new(&sizes, root);
        let law = scaled(&kept.sizes, &costs);
        let plan = dense::DensePlan::new(&law, Class::Consecutive, kept.root, most_clocks).unwrap();
        let slack = plan.slack() as f64;
        let clocks = wider::clocks_within(&sizes, &costs, root, slack).unwrap();
        assert!(clocks <= most_clocks, "{most_clocks} clocks give {slack}");
        let bracket = by(Engine::Dense { most_clocks });
        let context = (most_clocks, root, &sizes, &costs);
        assert!(bracket.at_least <= optimum && optimum <= bracket.time, "{context:?}");
        assert!(bracket.time - bracket.at_least <= slack, "{context:?}");
        closed += usize::from(bracket.time == bracket.at_least);
    }
    assert!(closed > 3000, "{closed} of 6000 brackets are closed");
}

#[test]
fn a_search_within_some_work_brackets_the_optimum_and_is_exact_with_enough() {
    let mut random = Random(14);
    let mut closed = 0;
    for problem in 0..6000 {
        let ranks = 1 + random.below(25) as usize;
        let (sizes, costs) = (random.sizes_of(ranks), random.costs(problem % 5 == 0));
        let root = match random.below(2) {
            0 => Root::Best,
            _ => Root::Given(random.below(ranks as u64) as usize),
        };
        let by = |class| wider::optimal(&sizes, &costs, root, class, Engine::Plain, &()).unwrap();
        let (optimum, copy_first) = (by(Class::Consecutive).time, by(Class::CopyFirst).time);
        let context = (root, &sizes, &costs);
        for most_cells in [0, 100, 1000] {
            let found = wider::optimal_within(&sizes, &costs, root, most_cells, &()).unwrap();
            assert!(found.at_least <= optimum && optimum <= found.time, "{context:?}");
            assert!(found.time <= copy_first, "{context:?}");
            assert_eq!(Class::Consecutive.check(&found.tree), Ok(()), "{context:?}");
            assert_eq!(check_ordered(&found.tree), Ok(()), "{context:?}");
            let time = costs.completion_time(&found.tree, &sizes).unwrap();
            assert_eq!(time.units(), found.time, "{context:?}");
            closed += usize::from(found.time == found.at_least);
        }
        let enough = wider::outlay(&sizes, &costs, root, 1_000_000).unwrap();
        assert!(enough.is_exact, "{context:?}");
        let found = wider::optimal_within(&sizes, &costs, root, 1_000_000, &()).unwrap();
        assert_eq!((found.time, found.at_least), (optimum, optimum), "{context:?}");
    }
    assert!(closed > 16_000, "{closed} of 18,000 brackets are closed");
}

#[test]
fn a_root_may_be_busy_with_more_than_its_copy() {
    let mut random = Random(15);
    for _ in 0..3000 {
        let ranks = 1 + random.below(12) as usize;
        let (sizes, costs) = (random.sizes_of(ranks), monotone(&mut random));
        let root = random.below(ranks as u64) as usize;
        let start = scaled(&sizes, &costs).copy(root) + random.below(300) as i64;
        let law = scaled(&sizes, &costs).with_busy_root(root, start);
        let least = plain::table(&law, Class::Consecutive, Root::Given(root), &()).unwrap();
        let busy = (root, start as f64);
        let found = wider::optimal_with_busy_root(&sizes, &costs, busy, 1_000_000, &()).unwrap();
        if ranks > 1 {
            assert_eq!(found.time, least.value() as f64, "{sizes:?} {costs:?} {busy:?}");
        }
    }
}

#[test]
fn costs_that_are_no_integers_give_the_same_times_up_to_rounding() {
    let mut random = Random(9);
    for _ in 0..300 {
        let sizes = random.sizes_of(30);
        let costs = Overlapping::new(0.7, 0.3, 0.1, 0.03).unwrap();
        for class in Class::ALL {
            let by =
                |engine| wider::optimal(&sizes, &costs, Root::Best, class, engine, &()).unwrap();
            let (plain, dense) = (by(Engine::Plain), by(Engine::EXACT));
            assert!((plain.time - dense.time).abs() <= 1e-12 * plain.time);
            assert!((dense.time - dense.at_least).abs() <= 1e-12 * dense.time);
        }
    }
}

#[test]
fn copies_that_outlast_their_messages_are_left_to_the_plain_engine() {
    let sizes = BlockSizes::new([3, 5, 5]).unwrap();
    let by = |latency, engine| {
        let costs = Overlapping::new(latency, 0.0, 1.0, 3.0).unwrap();
        wider::optimal(&sizes, &costs, Root::Best, Class::Consecutive, engine, &())
    };
    assert_eq!(by(0.0, Engine::EXACT), Err(DpError::GammaExceedsBeta { gamma: 3.0, beta: 1.0 }));
    assert!(by(0.0, Engine::Plain).is_ok());
    // With latency enough, they fit.
    let (plain, dense) = (by(10.0, Engine::Plain).unwrap(), by(10.0, Engine::EXACT).unwrap());
    assert_eq!(plain.time, dense.time);
}

#[test]
fn a_lone_block_that_is_dear_to_copy_is_sent_to_an_empty_rank() {
    let sizes = BlockSizes::new([0, 10, 0]).unwrap();
    let costs = Overlapping::new(0.0, 2.0, 1.0, 3.0).unwrap();
    let class = Class::Consecutive;
    let by = |engine| wider::optimal(&sizes, &costs, Root::Best, class, engine, &());
    assert_eq!(by(Engine::Plain).unwrap().time, 12.0);
    assert_eq!(by(Engine::EXACT), Err(DpError::GammaExceedsBeta { gamma: 3.0, beta: 1.0 }));
    let found = wider::optimal_within(&sizes, &costs, Root::Best, 100, &()).unwrap();
    assert_eq!(found.time, 12.0);
}

#[test]
fn a_root_that_is_none_is_refused() {
    let sizes = BlockSizes::new([3, 5, 5]).unwrap();
    let costs = Overlapping::new(1.0, 1.0, 1.0, 1.0).unwrap();
    for engine in [Engine::Plain, Engine::EXACT] {
        let root = Root::Given(3);
        let error = DpError::RootOutOfRange { root: 3, ranks: 3 };
        let optimum = wider::optimal(&sizes, &costs, root, Class::CopyFirst, engine, &());
        assert_eq!(optimum, Err(error.clone()));
        let memory = wider::memory_needed(&sizes, &costs, root, Class::CopyFirst, engine);
        assert_eq!(memory, Err(error));
    }
}

#[test]
fn whoever_watches_sees_all_work_done_and_may_break_off() {
    struct Watcher(Mutex<(u64, u64)>, u64);
    impl Progress for Watcher {
        fn advance(&self, done: u64, total: u64) -> ControlFlow<()> {
            *self.0.lock().unwrap() = (done, total);
            if done < self.1 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        }
    }
    let sizes = BlockSizes::new([1, 5, 2, 2, 9, 1, 7, 3, 4]).unwrap();
    let costs = Overlapping::new(1.0, 1.0, 1.0, 1.0).unwrap();
    for class in Class::ALL {
        for root in [Root::Best, Root::Given(0), Root::Given(3)] {
            for engine in [Engine::Plain, Engine::EXACT, Engine::Dense { most_clocks: 2 }] {
                let watched = |most| {
                    let watch = Watcher(Mutex::default(), most);
                    let solution = wider::optimal(&sizes, &costs, root, class, engine, &watch);
                    (solution, watch.0.into_inner().unwrap())
                };
                let (solution, (done, total)) = watched(u64::MAX);
                assert!(solution.is_ok());
                assert_eq!(done, total, "{class:?} {root:?} {engine:?}");
                assert_eq!(watched(5).0, Err(DpError::Cancelled));
            }
        }
    }
}

#[test]
fn memory_is_known_beforehand() {
    let sizes = BlockSizes::new([1, 2, 3, 4, 5, 6, 7, 8, 0, 9]).unwrap();
    let costs = Overlapping::new(4.0, 1.0, 1.0, 1.0).unwrap();
    let needed =
        |class, root, engine| wider::memory_needed(&sizes, &costs, root, class, engine).unwrap();
    // Nine blocks; clocks 4 to 9.
    assert_eq!(needed(Class::CopyFirst, Root::Best, Engine::EXACT), 45 * 4);
    assert_eq!(needed(Class::Consecutive, Root::Best, Engine::EXACT), 7 * 45 * 4);
    let rounded = Engine::Dense { most_clocks: 2 };
    assert_eq!(needed(Class::Consecutive, Root::Best, rounded), 3 * 45 * 4);
    // The empty block as well, and clocks 0 to 9.
    assert_eq!(needed(Class::Consecutive, Root::Best, Engine::Plain), 11 * 55 * 4);
    // Before rank 7 seven blocks with clocks 4 to 8, after it one with 8 and 9; 8 x 2 ranges hold
    // it.
    let given = needed(Class::Consecutive, Root::Given(7), Engine::EXACT);
    assert_eq!(given, (28 * 6 + 3 + 16) * 4);
}
