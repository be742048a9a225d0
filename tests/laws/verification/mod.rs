//! What `verify` says, held against a machine that moves single bytes.

mod editable;
mod handmade;
mod mutations;
mod oracle;

use super::problems::sizes;
use super::random_trees::trees;
use editable::Editable;
use mutations::mutations;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::cell::Cell;
use tuwtree_model::{BlockSizes, Homogeneous, Operation, Tree};
use tuwtree_schedule::{Order, Payload, Schedule, Sends, document, simulate, verify};

/// The schedule of a tree for any of the four operations.
fn of_tree(tree: &Tree, sizes: BlockSizes, operation: Operation) -> Schedule {
    let payload = match Operation::IRREGULAR.contains(&operation) {
        true => Payload::Blocks(sizes),
        false => Payload::Vector { processors: sizes.processors(), bytes: sizes.block(0) },
    };
    Schedule::of_tree(tree, operation, payload, None).unwrap()
}

/// Small enough for the oracle.
fn small_schedules() -> impl Strategy<Value = Editable> {
    let sizes = prop::collection::vec(0..4_u64, 1..=6).prop_map(|s| BlockSizes::new(s).unwrap());
    let of_trees = (trees(sizes), prop::sample::select(&Operation::ALL[..]))
        .prop_map(|((tree, sizes), operation)| (&of_tree(&tree, sizes, operation)).into());
    prop_oneof![2 => of_trees, 1 => prop::sample::select(handmade::all())]
}

/// As many rounds as the simulation takes if a message takes 1, whatever its size.
fn rounds_by_simulation(schedule: &Schedule) -> f64 {
    let costs = Homogeneous::new(1.0, 0.0, 0.0).unwrap();
    simulate(schedule, &costs, Sends::Synchronous).unwrap().completion_time().units()
}

/// Verify and the oracle agree; gives whether the schedule is right.
fn agree(changed: &Editable, schedule: &Schedule, seed: u64) -> Result<bool, TestCaseError> {
    match (verify(schedule), oracle::judge(changed, seed)) {
        (Ok(verified), Ok(order)) => {
            prop_assert_eq!(verified.order, order);
            prop_assert_eq!(f64::from(verified.rounds), rounds_by_simulation(schedule));
            Ok(true)
        }
        (Err(fault), Err(_)) => {
            let message = fault.to_string();
            prop_assert!(!message.is_empty() && message.len() < 2000);
            Ok(false)
        }
        (verified, order) => Err(TestCaseError::fail(format!("{verified:?}, but {order:?}"))),
    }
}

#[test]
fn changed_schedules_are_right_if_every_byte_is_in_its_place_and_no_rule_is_broken() {
    const CASES: u32 = 60_000;
    let (refused, wrong, right) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let count = |counter: &Cell<u32>| counter.set(counter.get() + 1);
    let changes = prop::collection::vec(mutations(), 1..=3);
    let config = Config { cases: CASES, failure_persistence: None, ..Config::default() };
    TestRunner::new(config)
        .run(&(small_schedules(), changes, any::<u64>()), |(mut schedule, changes, seed)| {
            for change in changes {
                change.apply(&mut schedule);
            }
            match schedule.schedule() {
                Some(Ok(made)) if agree(&schedule, &made, seed)? => count(&right),
                Some(Ok(_)) => count(&wrong),
                Some(Err(_)) | None => count(&refused),
            }
            Ok(())
        })
        .unwrap();
    // Each of the three happens often.
    let seen = (refused.get(), wrong.get(), right.get());
    assert!(seen.0 > CASES / 20 && seen.1 > CASES / 5 && seen.2 > CASES / 20, "{seen:?}");
}

#[test]
fn schedules_that_follow_no_tree_are_right() {
    for schedule in handmade::all() {
        let made = schedule.schedule().unwrap().unwrap();
        assert!(agree(&schedule, &made, 1).unwrap(), "{:?}", verify(&made));
    }
    for schedule in [handmade::pipelined_broadcast(50, 40), handmade::scatter_and_ring(60)] {
        verify(&schedule.schedule().unwrap().unwrap()).unwrap();
    }
}

proptest! {
    #[test]
    fn every_tree_s_schedule_is_right(
        (tree, sizes) in trees(sizes(40)),
        operation in prop::sample::select(&Operation::ALL[..]),
    ) {
        let all_have_data = sizes.iter().all(|bytes| bytes > 0);
        let schedule = of_tree(&tree, sizes, operation);
        let verified = verify(&schedule).unwrap();
        let promised = schedule.task().order;
        prop_assert!(verified.order <= promised);
        if all_have_data {
            prop_assert_eq!(verified.order == Order::Ordered, promised == Order::Ordered);
        }
        let mut text = Vec::new();
        document::write(&schedule, &mut text).unwrap();
        prop_assert_eq!(verify(&document::read(&text[..]).unwrap()).unwrap(), verified);
    }
}
