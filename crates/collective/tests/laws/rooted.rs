//! What holds of broadcasts and reductions whose vector is cut, and how long they take.

use super::{Build, time};
use proptest::prelude::*;
use tuwtree_bounds::lower_bound_in_pieces;
use tuwtree_collective::allreduce::Folds;
use tuwtree_collective::broadcast::{self, Gathering};
use tuwtree_collective::{binary_blocks, reduce};
use tuwtree_model::{Homogeneous, Operation, Operator, Problem, Root, Vector};
use tuwtree_schedule::{Order, Schedule, document, verify};

const BROADCASTS: [(&str, Build); 6] = [
    ("binomial", broadcast::binomial),
    ("ring", |problem| broadcast::scatter_allgather(problem, Gathering::Ring)),
    ("doubling", |problem| broadcast::scatter_allgather(problem, Gathering::Doubling)),
    ("1 piece", |problem| broadcast::circulant_in_pieces(problem, 1)),
    ("2 pieces", |problem| broadcast::circulant_in_pieces(problem, 2)),
    ("7 pieces", |problem| broadcast::circulant_in_pieces(problem, 7)),
];

/// With the order that each keeps, whatever the root.
const REDUCTIONS: [(&str, Build, Order); 9] = [
    ("binomial", reduce::binomial, Order::Any),
    ("half", |problem| reduce::rabenseifner(problem, Folds::Half), Order::Ordered),
    ("full", |problem| reduce::rabenseifner(problem, Folds::Full), Order::Ordered),
    ("ring", reduce::ring, Order::Any),
    ("1 piece", |problem| reduce::circulant_in_pieces(problem, 1), Order::Any),
    ("2 pieces", |problem| reduce::circulant_in_pieces(problem, 2), Order::Any),
    ("7 pieces", |problem| reduce::circulant_in_pieces(problem, 7), Order::Any),
    ("forwarded", reduce::binomial_forwarded, Order::Ordered),
    ("binary blocks", binary_blocks::reduce, Order::Ordered),
];

fn problem(operation: Operation, (ranks, root): (usize, usize), bytes: u64) -> Problem {
    let costs = Homogeneous::new(10.0, 1.0, 1.0).unwrap();
    let problem = Problem::new(operation, Vector { ranks, bytes }, costs).unwrap();
    let problem = problem.with_root(Root::Given(root)).unwrap();
    match operation {
        Operation::Reduce => problem.with_operator(Operator::new(1, 1.0).unwrap()).unwrap(),
        _ => problem,
    }
}

/// Verifies a schedule, and that it takes no less than the bound.
fn check(name: &str, problem: &Problem, schedule: &Schedule) -> u128 {
    let verified = verify(schedule).unwrap_or_else(|fault| panic!("{name}: {fault}"));
    assert_eq!(verified.copies, 0, "{name}");
    let (found, bound) = (time(schedule, problem), lower_bound_in_pieces(problem).unwrap().units());
    assert!(found >= bound, "{name}: {found} is below {bound}");
    verified.redundant_bytes
}

fn check_all(ranks: usize, root: usize, bytes: u64) {
    let broadcast = problem(Operation::Broadcast, (ranks, root), bytes);
    for (name, build) in BROADCASTS {
        let redundant = check(name, &broadcast, &build(&broadcast).unwrap());
        let scatters = ["ring", "doubling"].contains(&name);
        assert!(scatters || redundant == 0, "{name} sends {redundant} bytes twice");
    }
    let reduction = problem(Operation::Reduce, (ranks, root), bytes);
    for (name, build, order) in REDUCTIONS {
        let schedule = build(&reduction).unwrap();
        check(name, &reduction, &schedule);
        let is_binomial_to_0 = name == "binomial" && root == 0;
        let order = if is_binomial_to_0 { Order::Ordered } else { order };
        assert_eq!(schedule.task().order, order, "{name}");
    }
}

#[test]
fn vectors_come_whole_to_everybody_and_to_the_root_for_up_to_64_ranks() {
    for p in 1..=64 {
        for (root, bytes) in [(0, 200), (p / 2, 5), (p - 1, 0)] {
            check_all(p, root, bytes);
        }
    }
}

proptest! {
    #[test]
    fn vectors_of_any_size_come_whole(p in 1..24_usize, root in 0..24_usize, bytes in 0..90_u64) {
        check_all(p, root % p, bytes);
    }

    #[test]
    fn times_in_pieces_are_those_of_schedules_with_a_root(
        p in 1..24_usize, root in 0..24_usize, bytes in 0..200_u64, pieces in 1..20_usize,
    ) {
        let broadcast = problem(Operation::Broadcast, (p, root % p), bytes);
        let schedule = broadcast::circulant_in_pieces(&broadcast, pieces).unwrap();
        let found = broadcast::time_in_pieces(&broadcast, pieces).unwrap().units();
        prop_assert_eq!(found, time(&schedule, &broadcast));
        let reduction = problem(Operation::Reduce, (p, root % p), bytes);
        let schedule = reduce::circulant_in_pieces(&reduction, pieces).unwrap();
        let found = reduce::time_in_pieces(&reduction, pieces).unwrap().units();
        prop_assert_eq!(found, time(&schedule, &reduction));
    }

    #[test]
    fn schedules_with_a_root_read_as_they_were_written(p in 1..9_usize, bytes in 0..40_u64) {
        let reduction = problem(Operation::Reduce, (p, p - 1), bytes);
        for (_, build, _) in REDUCTIONS {
            let schedule = build(&reduction).unwrap();
            let mut text = Vec::new();
            document::write(&schedule, &mut text).unwrap();
            prop_assert_eq!(document::read(&text[..]).unwrap(), schedule);
        }
    }
}

#[test]
fn worked_broadcasts_and_reductions_take_what_they_take_by_hand() {
    // 24 bytes at alpha 10, beta 1, kappa 1. Binomial, scatter and ring, scatter and doubling; 1 to 4 pieces.
    for (p, times, in_pieces) in [
        (3, [68, 72, 98], [68, 66, 72, 80]),
        (5, [102, 109, 142], [102, 88, 90, 96]),
        (6, [102, 120, 126], [102, 88, 90, 96]),
        (8, [102, 142, 102], [102, 88, 90, 96]),
    ] {
        let problem = problem(Operation::Broadcast, (p, 0), 24);
        let builds: [Build; 3] = [BROADCASTS[0].1, BROADCASTS[1].1, BROADCASTS[2].1];
        let found = builds.map(|build| time(&build(&problem).unwrap(), &problem));
        assert_eq!(found, times.map(f64::from), "{p} ranks");
        let found = [1, 2, 3, 4].map(|pieces| broadcast::time_in_pieces(&problem, pieces).unwrap());
        assert_eq!(found.map(|time| time.units()), in_pieces.map(f64::from), "{p} ranks");
    }
    // Binomial, Rabenseifner by halves, binary blocks.
    for (p, times) in
        [(3, [116, 112, 112]), (5, [174, 150, 164]), (6, [174, 150, 132]), (8, [174, 123, 123])]
    {
        let problem = problem(Operation::Reduce, (p, 0), 24);
        let builds: [Build; 3] = [REDUCTIONS[0].1, REDUCTIONS[1].1, REDUCTIONS[8].1];
        let found = builds.map(|build| time(&build(&problem).unwrap(), &problem));
        assert_eq!(found, times.map(f64::from), "{p} ranks");
    }
}

/// SimGrid's SMPI 3.32 with these algorithms forced; each message there is 16 bytes longer.
#[test]
fn broadcasts_take_as_long_as_in_smpi() {
    for (ranks, times) in [(5, [18048, 15112, 21128]), (8, [27048, 24160, 20096])] {
        let vector = Vector { ranks, bytes: 1000 * ranks as u64 };
        let costs = Homogeneous::new(1016.0, 1.0, 0.0).unwrap();
        let problem = Problem::new(Operation::Broadcast, vector, costs).unwrap();
        let builds: [Build; 3] = [BROADCASTS[0].1, BROADCASTS[1].1, BROADCASTS[2].1];
        let found = builds.map(|build| time(&build(&problem).unwrap(), &problem));
        assert_eq!(found, times.map(f64::from), "{ranks} ranks");
    }
}

#[test]
fn equal_pieces_with_a_root_take_what_formulas_say() {
    for p in 2..=33_usize {
        let active = 1_usize << p.ilog2();
        // Divided by p and by P.
        let bytes = (p * active * 16) as u64;
        let (n, alpha) = (bytes as f64, 10.0);
        let (floor, ceil) = (f64::from(p.ilog2()), f64::from(p.next_power_of_two().ilog2()));
        let (rest, share) = (n / active as f64, (p - 1) as f64 / p as f64 * n);
        let others = (p - 1) as f64;
        for root in 0..p {
            let broadcast = problem(Operation::Broadcast, (p, root), bytes);
            let found = BROADCASTS.map(|(_, build)| time(&build(&broadcast).unwrap(), &broadcast));
            assert_eq!(found[0], ceil * (alpha + n));
            assert_eq!(found[1], (ceil + others) * alpha + 2.0 * share);
            if rest == n / p as f64 {
                assert_eq!(found[2], 2.0 * ceil * alpha + 2.0 * share);
            }
            assert_eq!(found[4], (1.0 + ceil) * (alpha + n / 2.0), "{p}");
            let reduction = problem(Operation::Reduce, (p, root), bytes);
            let found =
                REDUCTIONS.map(|(_, build, _)| time(&build(&reduction).unwrap(), &reduction));
            assert_eq!(found[0], ceil * (alpha + 2.0 * n));
            let half = match p == active {
                true => 2.0 * floor * alpha + 3.0 * share,
                false => (2.0 * floor + 2.0) * alpha + 4.5 * n - 3.0 * rest,
            };
            assert_eq!(found[1], half, "{p} ranks, root {root}");
            assert_eq!(found[3], 2.0 * others * alpha + 3.0 * share);
            assert_eq!(found[5], (1.0 + ceil) * (alpha + n), "{p}");
            let forwarded = if root == 0 { 0.0 } else { alpha + n };
            assert_eq!(found[7], found[0] + forwarded, "{p} ranks, root {root}");
        }
    }
}

#[test]
fn each_is_built_for_its_operation_only() {
    for (_, build, _) in REDUCTIONS {
        let error = build(&problem(Operation::Broadcast, (3, 0), 9)).unwrap_err().to_string();
        assert_eq!(error, "it is for reduce, and not for broadcast");
    }
    for (_, build) in BROADCASTS {
        let error = build(&problem(Operation::Reduce, (3, 0), 9)).unwrap_err().to_string();
        assert_eq!(error, "it is for broadcast, and not for reduce");
    }
}
