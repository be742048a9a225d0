//! What holds of intergroup allgathers, and how long they take.

use super::{Build, time};
use proptest::prelude::*;
use tuwtree_bounds::best_lower_bound;
use tuwtree_collective::intergroup::{self, Inside};
use tuwtree_model::{BlockSizes, GroupSizes, Homogeneous, Operation, Problem};
use tuwtree_schedule::{Order, document, verify};

const ALL: [(&str, Build); 8] = [
    ("paired, ring", |problem| intergroup::paired(problem, Inside::Ring)),
    ("paired, bruck", |problem| intergroup::paired(problem, Inside::Bruck)),
    ("shares, ring", |problem| intergroup::shares(problem, Inside::Ring)),
    ("root-mpich", intergroup::root_mpich),
    ("root-mpich-v", intergroup::root_mpich_v),
    ("root-best", |problem| intergroup::root_best(problem, 3)),
    ("paired, pieces", |problem| intergroup::paired(problem, Inside::Pieces(2))),
    ("shares, circulant", |problem| intergroup::shares(problem, Inside::Circulant)),
];

fn problem(first: &[u64], second: &[u64], alpha: f64) -> Problem {
    let sizes = [first, second].map(|list| BlockSizes::new(list.iter().copied()).unwrap());
    let sizes = GroupSizes::of_groups(&sizes[0], &sizes[1]).unwrap();
    let costs = Homogeneous::new(alpha, 1.0, 1.0).unwrap();
    Problem::new(Operation::IntergroupAllgather, sizes, costs).unwrap()
}

fn check(problem: &Problem) {
    let bound = best_lower_bound(problem).unwrap().units();
    for (name, build) in ALL {
        let schedule = build(problem).unwrap();
        let verified = verify(&schedule).unwrap_or_else(|fault| {
            panic!("{name}: {fault} in {:?}", problem.payload());
        });
        assert_eq!((verified.order, verified.copies), (Order::Ordered, 0), "{name}");
        let found = time(&schedule, problem);
        assert!(found >= bound, "{name}: {found} is below {bound}");
    }
}

#[test]
fn all_blocks_come_to_the_other_group_for_up_to_64_ranks() {
    for p in 2..=64_usize {
        let first = 1 + (p * 7) % (p - 1);
        let sizes = |ranks: usize| -> Vec<u64> {
            (0..ranks).map(|rank| ((7 * rank + p) % 9).saturating_sub(2) as u64).collect()
        };
        check(&problem(&sizes(first), &sizes(p - first), 10.0));
        check(&problem(&vec![6; p - first], &vec![6; first], 10.0));
    }
    check(&problem(&[0, 0], &[0, 0, 0], 10.0));
    check(&problem(&[0, 0], &[0, 9, 0], 10.0));
}

proptest! {
    #[test]
    fn all_blocks_of_any_size_come_to_the_other_group(
        first in prop::collection::vec(0..40_u64, 1..12),
        second in prop::collection::vec(0..40_u64, 1..12),
    ) {
        check(&problem(&first, &second, 3.0));
    }

    #[test]
    fn shares_take_no_longer_than_the_weaker_bound_of_the_paper(
        first in prop::collection::vec(0..40_u64, 1..8),
        second in prop::collection::vec(0..40_u64, 1..8),
    ) {
        // Without start-ups, and divisible by all numbers of shares.
        let scaled = |list: &[u64]| list.iter().map(|size| 840 * size).collect::<Vec<u64>>();
        let (first, second) = (scaled(&first), scaled(&second));
        let problem = problem(&first, &second, 0.0);
        let found = time(&intergroup::shares(&problem, Inside::Ring).unwrap(), &problem);
        let most = first.iter().sum::<u64>().max(second.iter().sum());
        let largest = first.iter().chain(&second).max().unwrap();
        prop_assert!(found <= (most + largest) as f64);
    }

    #[test]
    fn intergroup_allgathers_read_as_they_were_written(
        first in prop::collection::vec(0..9_u64, 1..5), second in prop::collection::vec(0..9_u64, 1..5),
    ) {
        let problem = problem(&first, &second, 3.0);
        for (_, build) in ALL {
            let schedule = build(&problem).unwrap();
            let mut text = Vec::new();
            document::write(&schedule, &mut text).unwrap();
            let text = String::from_utf8(text).unwrap();
            prop_assert!(text.contains("\"version\":6,"));
            prop_assert!(text.contains("\"groups\":["));
            prop_assert_eq!(document::read(text.as_bytes()).unwrap(), schedule);
        }
    }
}

#[test]
fn worked_intergroup_allgathers_take_what_they_take_by_hand() {
    // Paired with ring and Bruck, shares with ring, as MPICH; alpha 10, beta 1.
    for ((p, q, first, second), times, most) in [
        ((6, 2, 6, 6), [108, 88, 108, 284], 36),
        ((8, 3, 6, 6), [138, 104, 146, 398], 48),
        ((3, 2, 6, 6), [61, 64, 57, 176], 18),
        ((5, 3, 30, 30), [225, 220, 200, 864], 150),
    ] {
        let problem = problem(&vec![first; p], &vec![second; q], 10.0);
        let builds: [Build; 4] = [ALL[0].1, ALL[1].1, ALL[2].1, ALL[3].1];
        let found = builds.map(|build| time(&build(&problem).unwrap(), &problem));
        assert_eq!(found, times.map(f64::from), "{p} and {q} ranks");
        // Without start-ups nothing is faster than what the larger group has.
        let without = self::problem(&vec![first; p], &vec![second; q], 0.0);
        assert_eq!(best_lower_bound(&without).unwrap().units(), f64::from(most));
    }
    let problem = problem(&[5, 1, 7, 3, 2, 6], &[4, 9], 10.0);
    let schedule = intergroup::shares(&problem, Inside::Ring).unwrap();
    assert_eq!(time(&schedule, &problem), 120.0);
    // Blocks 5 1 7 3 2 6 as shares of 12 and 12, and blocks 4 9 as shares of 3 2 2 2 2 2.
    let sent = |rank: usize| -> Vec<(usize, u64)> {
        let sends = schedule.programs().actions(rank).filter_map(|action| action.send());
        let across = sends.filter(|send| (send.to < 6) != (rank < 6));
        across.map(|send| (send.to, send.from.bytes())).collect()
    };
    assert_eq!((sent(1), sent(2), sent(3)), (vec![(6, 1)], vec![(6, 6), (7, 1)], vec![(7, 3)]));
    assert_eq!((sent(6), sent(7)), (vec![(0, 3), (1, 1)], (1..6).zip([1, 2, 2, 2, 2]).collect()));
}

/// The example by which the stronger bound of the paper's Theorem 3, 124, is too low.
#[test]
fn the_stronger_bound_of_theorem_3_does_not_hold() {
    let scaled = |list: &[u64]| list.iter().map(|size| 840 * size).collect::<Vec<u64>>();
    let (first, second) = (scaled(&[0, 2, 0, 60, 2, 0]), scaled(&[20, 2, 20, 2, 20, 20, 0]));
    let problem = problem(&first, &second, 0.0);
    let found = time(&intergroup::shares(&problem, Inside::Ring).unwrap(), &problem);
    assert_eq!(found, 840.0 * 130.0);
}

/// The expected gains of Kang et al. over MPICH at large messages, 64 ranks, as exact schedules have them.
#[test]
fn gains_on_64_ranks_are_those_of_exact_schedules() {
    let arithmetic = |ranks: usize, most: u64| -> Vec<u64> {
        (1..=ranks as u64).map(|rank| most * rank / ranks as u64).collect()
    };
    let unit = 22_400;
    for (first, second, algorithm, gain) in [
        (vec![unit; 32], vec![unit; 32], 0, 6.844),
        (vec![unit; 50], vec![unit; 14], 0, 4.166),
        (vec![4 * unit; 50], vec![unit; 14], 0, 3.611),
        (vec![unit; 50], vec![4 * unit; 14], 0, 5.201),
        (vec![unit; 32], vec![unit; 32], 2, 6.844),
        (arithmetic(32, 32 * unit), arithmetic(32, 32 * unit), 2, 7.247),
        (vec![unit; 50], vec![unit; 14], 2, 4.666),
        (arithmetic(50, 350 * unit), arithmetic(14, 350 * unit), 2, 4.970),
    ] {
        let problem = problem(&first, &second, 0.0);
        let [ours, mpich] =
            [algorithm, 3].map(|index: usize| time(&ALL[index].1(&problem).unwrap(), &problem));
        assert!((mpich / ours - gain).abs() < 6e-4, "{} in place of {gain}", mpich / ours);
    }
}
