//! What `verify` says, held against a machine that moves single bytes: of every operation, and of schedules that are
//! changed at random.

mod editable;
pub(super) mod handmade;
mod mutations;
mod oracle;

use editable::Editable;
use mutations::mutations;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::cell::RefCell;
use std::collections::BTreeMap;
use tuwtree_laws::problems::{gather, homogeneous, sizes};
use tuwtree_laws::random_trees::trees;
use tuwtree_model::{
    BlockSizes, ClosedSet, Collective, Homogeneous, Operation, Root, Step, Tree, Vector,
};
use tuwtree_schedule::{Fault, Payload, Schedule, Sends, document, simulate, verify};
use tuwtree_treegen::oblivious;

/// The schedule of a tree for any of the four operations.
fn of_tree(tree: &Tree, sizes: BlockSizes, operation: Operation) -> Schedule {
    let payload = match operation.is_irregular() {
        true => Payload::Blocks(sizes),
        false => Payload::Vector(Vector { ranks: sizes.ranks(), bytes: sizes.block(0) }),
    };
    Schedule::without_costs(tree, &Collective::new(operation, payload).unwrap()).unwrap()
}

/// Small enough for the oracle.
fn small_schedules() -> impl Strategy<Value = Editable> {
    let sizes = prop::collection::vec(0..4_u64, 1..=6).prop_map(|s| BlockSizes::new(s).unwrap());
    let of_trees = (trees(sizes), prop::sample::select(Operation::rooted().collect::<Vec<_>>()))
        .prop_map(|((tree, sizes), operation)| (&of_tree(&tree, sizes, operation)).into());
    prop_oneof![2 => of_trees, 1 => prop::sample::select(handmade::all())]
}

/// As many rounds as the simulation takes if a message takes 1, whatever its size.
fn rounds_by_simulation(schedule: &Schedule) -> f64 {
    let costs = Homogeneous::new(1.0, 0.0, 0.0).unwrap();
    simulate(schedule, &costs, Sends::Synchronous).unwrap().completion_time().units()
}

/// Verify and the oracle agree; gives the fault, if there is one.
fn agree(
    changed: &Editable,
    schedule: &Schedule,
    seed: u64,
) -> Result<Option<Fault>, TestCaseError> {
    match (verify(schedule), oracle::judge(changed, seed)) {
        (Ok(verified), Ok(order)) => {
            prop_assert_eq!(verified.order, order);
            prop_assert_eq!(f64::from(verified.rounds), rounds_by_simulation(schedule));
            Ok(None)
        }
        (Err(fault), Err(_)) => {
            let message = fault.to_string();
            prop_assert!(!message.is_empty() && message.len() < 2000);
            Ok(Some(fault))
        }
        (verified, order) => Err(TestCaseError::fail(format!("{verified:?}, but {order:?}"))),
    }
}

#[test]
fn changed_schedules_are_right_if_every_byte_is_in_its_place_and_no_rule_is_broken() {
    const CASES: u32 = 60_000;
    let seen: RefCell<BTreeMap<String, u32>> = RefCell::default();
    let count = |kind: &str| *seen.borrow_mut().entry(kind.to_owned()).or_default() += 1;
    // Of each operation, and on duplex ports of all together, how many were right and how many at fault.
    let judged: RefCell<BTreeMap<&str, (u32, u32)>> = RefCell::default();
    let changes = prop::collection::vec(mutations(), 1..=3);
    let config = Config { cases: CASES, failure_persistence: None, ..Config::default() };
    TestRunner::new(config)
        .run(&(small_schedules(), changes, any::<u64>()), |(mut schedule, changes, seed)| {
            for change in changes {
                change.apply(&mut schedule);
            }
            match schedule.schedule() {
                Some(Ok(made)) => {
                    let fault = agree(&schedule, &made, seed)?;
                    let mut judged = judged.borrow_mut();
                    let kind = match made.task().duplex {
                        true => "duplex",
                        false => made.task().operation.name(),
                    };
                    let (right, wrong) = judged.entry(kind).or_default();
                    match fault {
                        None => {
                            *right += 1;
                            count("right");
                        }
                        Some(fault) => {
                            *wrong += 1;
                            // The name of the kind, which the values follow.
                            count(format!("{fault:?}").split(' ').next().unwrap());
                        }
                    }
                }
                Some(Err(_)) | None => count("refused"),
            }
            Ok(())
        })
        .unwrap();
    let judged = judged.into_inner();
    println!("right and at fault: {judged:?}");
    for kind in Operation::all().map(|operation| operation.name()).chain(["duplex"]) {
        let (right, wrong) = judged.get(kind).copied().unwrap_or_default();
        assert!(right >= 50 && wrong >= 50, "{kind}: {right} right, {wrong} at fault");
    }
    let seen = seen.into_inner();
    // Right ones, those refused at once, and every kind of fault but `TooIntricate`, and `CutElement`, which
    // elements of one byte never have.
    assert_eq!(seen.len(), 2 + 16, "{seen:?}");
    assert!(seen["right"] > CASES / 20 && seen["refused"] < CASES / 2, "{seen:?}");
}

#[test]
fn schedules_that_follow_no_tree_are_right() {
    for schedule in handmade::all() {
        let made = schedule.schedule().unwrap().unwrap();
        assert_eq!(agree(&schedule, &made, 1).unwrap(), None);
    }
    for schedule in [handmade::pipelined_broadcast(50, 40), handmade::scatter_and_ring(60)] {
        verify(&schedule.schedule().unwrap().unwrap()).unwrap();
    }
}

proptest! {
    #[test]
    fn every_tree_s_schedule_is_right(
        (tree, sizes) in trees(sizes(40)),
        operation in prop::sample::select(Operation::rooted().collect::<Vec<_>>()),
    ) {
        let all_have_data = sizes.iter().all(|bytes| bytes > 0);
        let schedule = of_tree(&tree, sizes, operation);
        let verified = verify(&schedule).unwrap();
        let promised = schedule.task().order;
        prop_assert!(verified.order <= promised);
        if all_have_data {
            prop_assert_eq!(verified.order, promised);
        }
        let mut text = Vec::new();
        document::write(&schedule, &mut text).unwrap();
        prop_assert_eq!(verify(&document::read(&text[..]).unwrap()).unwrap(), verified);
    }
}

/// The tree in which each of these ranks but the first is the child of the one before it.
fn chain(ranks: &[usize]) -> Tree {
    let mut steps = Vec::new();
    for pair in ranks.windows(2) {
        steps.extend([(pair[0], Step::Copy), (pair[0], Step::Receive(pair[1]))]);
    }
    Tree::new(ranks.len(), ranks[0], &steps).unwrap()
}

#[test]
fn a_hundred_thousand_ranks_take_no_more_than_one_step_for_each_piece() {
    const RANKS: usize = 100_000;
    // A multiplication by a number without common factors: ranks far from their order.
    let shuffled: Vec<usize> = (0..RANKS).map(|index| index * 61_803 % RANKS).collect();
    let sorted: Vec<usize> = (0..RANKS).collect();
    let star = shuffled[1..].iter().map(|&rank| (0, Step::Receive(rank)));
    let star: Vec<_> = std::iter::once((0, Step::Copy)).chain(star).collect();
    let star = Tree::new(RANKS, 0, &star).unwrap();
    let sizes = BlockSizes::new((0..RANKS as u64).map(|rank| 1 + rank % 5)).unwrap();
    let trees = [
        (chain(&sorted), RANKS - 1),
        (chain(&shuffled), RANKS - 1),
        (star, RANKS - 1),
        (oblivious(&gather(&sizes, homogeneous(1, 1, 1), Root::Given(777))).unwrap(), 17),
    ];
    for (tree, rounds) in trees {
        for operation in Operation::rooted() {
            let verified = verify(&of_tree(&tree, sizes.clone(), operation)).unwrap();
            assert_eq!(verified.messages, RANKS - 1, "{operation:?}");
            assert_eq!(verified.rounds as usize, rounds, "{operation:?}");
        }
    }
}
