//! What holds of reduce-scatters and allreduces, and how long they take.

use super::{Build, time};
use proptest::prelude::*;
use tuwtree_bounds::best_lower_bound;
use tuwtree_collective::allreduce::{self, Folds};
use tuwtree_collective::{Outline, binary_blocks, reduce_scatter};
use tuwtree_model::{BlockSizes, Homogeneous, Operation, Operator, Payload, Problem, Vector};
use tuwtree_schedule::{Action, Arrival, Deed, Order, Schedule, document, verify};

/// Which reduce-scatters keep the order of operands.
const REDUCE_SCATTERS: [(&str, Build, Order); 10] = [
    ("pairwise", reduce_scatter::pairwise, Order::Any),
    ("halving", reduce_scatter::halving, Order::Any),
    ("circulant", reduce_scatter::circulant, Order::Any),
    ("1 piece", |problem| reduce_scatter::circulant_in_pieces(problem, 1), Order::Any),
    ("2 pieces", |problem| reduce_scatter::circulant_in_pieces(problem, 2), Order::Any),
    ("7 pieces", |problem| reduce_scatter::circulant_in_pieces(problem, 7), Order::Any),
    ("balanced", |problem| reduce_scatter::circulant_balanced(problem, 1), Order::Any),
    ("3 balanced pieces", |problem| reduce_scatter::circulant_balanced(problem, 3), Order::Any),
    ("recursive doubling", reduce_scatter::recursive_doubling, Order::Ordered),
    ("butterfly", reduce_scatter::butterfly, Order::Ordered),
];

const ALLREDUCES: [(&str, Build, Order); 7] = [
    ("recursive doubling", allreduce::recursive_doubling, Order::Ordered),
    ("half", |problem| allreduce::rabenseifner(problem, Folds::Half), Order::Ordered),
    ("full", |problem| allreduce::rabenseifner(problem, Folds::Full), Order::Ordered),
    ("binary blocks", binary_blocks::allreduce, Order::Ordered),
    ("ring", allreduce::ring, Order::Any),
    ("circulant", allreduce::circulant, Order::Any),
    ("binomial", allreduce::binomial, Order::Ordered),
];

/// At beta 1, with elements of so many bytes that take kappa a byte.
fn problem(
    operation: Operation,
    payload: impl Into<Payload>,
    [alpha, kappa]: [f64; 2],
    element: u64,
) -> Problem {
    let costs = Homogeneous::new(alpha, 1.0, 1.0).unwrap();
    let problem = Problem::new(operation, payload, costs).unwrap();
    problem.with_operator(Operator::new(element, kappa).unwrap()).unwrap()
}

fn scattered(sizes: &[u64], costs: [f64; 2]) -> Problem {
    let sizes = BlockSizes::new(sizes.iter().copied()).unwrap();
    problem(Operation::ReduceScatter, sizes, costs, 1)
}

fn reduced(ranks: usize, bytes: u64, costs: [f64; 2]) -> Problem {
    problem(Operation::Allreduce, Vector { ranks, bytes }, costs, 1)
}

/// Verifies a schedule, and that it takes no less than the bound.
fn check(name: &str, problem: &Problem, build: Build, order: Order) {
    let schedule = build(problem).unwrap();
    let verified = verify(&schedule).unwrap_or_else(|fault| panic!("{name}: {fault}"));
    assert!(verified.order <= order, "{name}");
    assert_eq!(schedule.task().order, order, "{name}");
    let is_allreduce = problem.operation() == Operation::Allreduce;
    assert_eq!(verified.same_bracketing, is_allreduce.then_some(true), "{name}");
    assert_eq!(verified.redundant_bytes, 0, "{name}");
    let plain =
        |action: &Action<'_>| matches!(action.deed, Deed::Copy { arrival: Arrival::Store, .. });
    let all = (0..schedule.ranks()).flat_map(|rank| schedule.programs().actions(rank));
    assert!(!all.into_iter().any(|action| plain(&action)), "{name}");
    let p = problem.ranks();
    let hands_on = name == "recursive doubling" && !p.is_power_of_two();
    assert!(verified.copies == 0 || hands_on, "{name}");
    let bound = best_lower_bound(problem).unwrap().units();
    let found = time(&schedule, problem);
    assert!(found >= bound, "{name}: {found} is below {bound} in {:?}", problem.payload());
    check_elements(&schedule);
}

/// No piece cuts an element.
fn check_elements(schedule: &Schedule) {
    let element = schedule.task().operator.element_bytes();
    for action in (0..schedule.ranks()).flat_map(|rank| schedule.programs().actions(rank)) {
        for region in [action.reads(), action.writes()].into_iter().flatten() {
            for piece in region.pieces {
                assert_eq!((piece.offset % element, piece.bytes % element), (0, 0));
            }
        }
    }
}

fn check_scattered(sizes: &[u64]) {
    for (name, build, order) in REDUCE_SCATTERS {
        check(name, &scattered(sizes, [10.0, 2.0]), build, order);
    }
}

#[test]
fn every_contribution_is_in_every_result_once_for_up_to_64_ranks() {
    let mut state = 7_u64;
    let mut draw = |below: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    for p in 1..=64 {
        check_scattered(&vec![3; p]);
        let sizes: Vec<u64> = (0..p).map(|_| if draw(3) == 0 { 0 } else { draw(20) }).collect();
        check_scattered(&sizes);
        let mut one = vec![0; p];
        one[draw(p as u64) as usize] = 17;
        check_scattered(&one);
        for bytes in [0, 1, 5, 64, draw(200)] {
            for (name, build, order) in ALLREDUCES {
                check(name, &reduced(p, bytes, [10.0, 2.0]), build, order);
            }
        }
    }
    check_scattered(&[0; 6]);
}

proptest! {
    #[test]
    fn elements_are_not_cut(
        elements in prop::collection::vec(0..9_u64, 1..20), element in 1..9_u64,
    ) {
        let total: u64 = elements.iter().sum();
        let sizes = BlockSizes::new(elements.iter().map(|count| count * element)).unwrap();
        let vector = Vector { ranks: elements.len(), bytes: total * element };
        let scattered = problem(Operation::ReduceScatter, sizes, [3.0, 0.5], element);
        for (name, build, order) in REDUCE_SCATTERS {
            check(name, &scattered, build, order);
        }
        let reduced = problem(Operation::Allreduce, vector, [3.0, 0.5], element);
        for (name, build, order) in ALLREDUCES {
            check(name, &reduced, build, order);
        }
    }

    #[test]
    fn reductions_read_as_they_were_written(sizes in prop::collection::vec(0..9_u64, 1..9)) {
        let sizes: Vec<u64> = sizes.iter().map(|size| 4 * size).collect();
        let blocks = BlockSizes::new(sizes.iter().copied()).unwrap();
        let problem = problem(Operation::ReduceScatter, blocks, [3.0, 0.5], 4);
        let schedule = reduce_scatter::circulant(&problem).unwrap();
        let mut text = Vec::new();
        document::write(&schedule, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        prop_assert!(text.contains("\"version\":6") && text.contains("\"element_bytes\":4"));
        prop_assert_eq!(document::read(text.as_bytes()).unwrap(), schedule);
    }

    #[test]
    fn a_round_of_reduced_pieces_takes_no_longer_than_a_share_of_every_block(
        sizes in prop::collection::vec(0..40_u64, 2..20), pieces in 1..8_usize,
    ) {
        let problem = scattered(&sizes, [7.0, 3.0]);
        let shares: u64 = sizes.iter().map(|size| size.div_ceil(pieces as u64)).sum();
        let rounds = pieces - 1 + sizes.len().next_power_of_two().ilog2() as usize;
        let schedule = reduce_scatter::circulant_in_pieces(&problem, pieces).unwrap();
        prop_assert!(time(&schedule, &problem) <= rounds as f64 * (7.0 + 4.0 * shares as f64));
    }

    #[test]
    fn times_in_pieces_are_those_of_reducing_schedules(
        elements in prop::collection::vec(0..40_u64, 1..24),
        element in 1..5_u64,
        pieces in 1..20_usize,
        alpha in 0..30_u32,
    ) {
        let sizes = BlockSizes::new(elements.iter().map(|one| one * element)).unwrap();
        let costs = [f64::from(alpha), 3.0];
        let problem = problem(Operation::ReduceScatter, sizes, costs, element);
        let schedule = reduce_scatter::circulant_in_pieces(&problem, pieces).unwrap();
        let found = reduce_scatter::time_in_pieces(&problem, pieces).unwrap().units();
        prop_assert_eq!(found, time(&schedule, &problem));
        let schedule = reduce_scatter::circulant_balanced(&problem, pieces).unwrap();
        let found = reduce_scatter::balanced_time(&problem, pieces).unwrap().units();
        prop_assert_eq!(found, time(&schedule, &problem));
    }
}

#[test]
fn times_of_pairwise_reduce_scatters_are_those_of_schedules() {
    for sizes in [&[4, 0, 2][..], &[0, 0, 9, 1], &[5, 1, 7, 3, 2, 6], &[3; 17]] {
        let problem = scattered(sizes, [10.0, 2.0]);
        let schedule = reduce_scatter::pairwise(&problem).unwrap();
        let Outline { time: found, most_actions, most_bytes_sent } =
            reduce_scatter::pairwise_outline(&problem).unwrap();
        assert_eq!(found.units(), time(&schedule, &problem));
        assert_eq!(most_actions, schedule.most_actions());
        assert_eq!(most_bytes_sent, schedule.most_bytes_sent());
    }
}

#[test]
fn worked_reduce_scatters_take_what_they_take_by_hand() {
    // Pairwise, halving, circulant, and in 2 pieces; alpha 10, beta 1, kappa 1.
    for (sizes, times) in [
        (&[4, 0, 2][..], [36, 54, 36, 43]),
        (&[1, 5, 2, 7, 3], [96, 107, 78, 84]),
        (&[5, 1, 7, 3, 2, 6], [120, 147, 84, 98]),
        (&[3, 1, 4, 1, 5, 9, 2, 6], [196, 120, 120, 108]),
    ] {
        let problem = scattered(sizes, [10.0, 1.0]);
        let builds: [Build; 4] = [
            reduce_scatter::pairwise,
            reduce_scatter::halving,
            reduce_scatter::circulant,
            |problem| reduce_scatter::circulant_in_pieces(problem, 2),
        ];
        let found = builds.map(|build| time(&build(&problem).unwrap(), &problem));
        assert_eq!(found, times.map(f64::from), "{sizes:?}");
    }
    let problem = scattered(&[3, 1, 4, 1, 5, 9, 2, 6], [10.0, 1.0]);
    assert_eq!(time(&reduce_scatter::recursive_doubling(&problem).unwrap(), &problem), 188.0);
}

#[test]
fn the_first_of_five_ranks_on_a_circulant_graph_sends_two_blocks_then_one_then_one() {
    let schedule = reduce_scatter::circulant(&scattered(&[1; 5], [10.0, 1.0])).unwrap();
    let sends = schedule.programs().actions(0).filter_map(|action| action.send());
    let sent: Vec<(usize, Vec<u64>)> = sends
        .map(|send| {
            let pieces = send.from.pieces.iter();
            (send.to, pieces.flat_map(|piece| piece.offset..piece.end()).collect())
        })
        .collect();
    assert_eq!(sent, [(3, vec![3, 4]), (2, vec![2]), (1, vec![1])]);
}

#[test]
fn worked_allreduces_take_what_they_take_by_hand() {
    // Doubling, Rabenseifner half and full, blocks, ring, circulant, binomial; 24 bytes at alpha 10, beta 1, kappa 1.
    for (p, times) in [
        (3, [150, 146, 148, 144, 88, 88, 184]),
        (5, [208, 184, 186, 222, 140, 120, 276]),
        (6, [208, 184, 186, 158, 160, 120, 276]),
        (8, [174, 123, 123, 123, 203, 123, 276]),
    ] {
        let problem = reduced(p, 24, [10.0, 1.0]);
        let found = ALLREDUCES.map(|(_, build, _)| time(&build(&problem).unwrap(), &problem));
        assert_eq!(found, times.map(f64::from), "{p} ranks");
    }
}

/// SimGrid's SMPI 3.32 with these algorithms forced; each message there is 16 bytes longer.
#[test]
fn reductions_take_as_long_as_in_smpi() {
    for (p, times) in [(5, [8064, 15064]), (8, [14112, 10048])] {
        let problem = scattered(&vec![1000; p], [1016.0, 0.0]);
        let builds: [Build; 2] = [reduce_scatter::pairwise, reduce_scatter::halving];
        let found = builds.map(|build| time(&build(&problem).unwrap(), &problem));
        assert_eq!(found, times.map(f64::from), "{p} ranks");
    }
    for (p, expected) in [(5, 24080.0), (8, 20048.0)] {
        let problem = scattered(&vec![1000; p], [1016.0, 0.0]);
        let found = time(&reduce_scatter::recursive_doubling(&problem).unwrap(), &problem);
        assert_eq!(found, expected, "{p} ranks");
    }
    let problem = scattered(&[1000; 8], [1016.0, 0.0]);
    // `mpich_noncomm`.
    assert_eq!(time(&reduce_scatter::butterfly(&problem).unwrap(), &problem), 10048.0);
    for (p, bytes, index, found) in [
        (5, 5000, 0, 24064),
        (8, 8000, 0, 27048),
        (5, 5000, 4, 16128),
        (8, 8000, 4, 28224),
        (5, 5120, 2, 24016),
        (8, 8192, 2, 20432),
    ] {
        let problem = reduced(p, bytes, [1016.0, 0.0]);
        let (name, build, _) = ALLREDUCES[index];
        assert_eq!(time(&build(&problem).unwrap(), &problem), f64::from(found), "{name}, {p}");
    }
}

#[test]
fn equal_pieces_take_what_formulas_say() {
    const BYTES: u64 = 4096;
    for p in 2..=33_usize {
        let (alpha, kappa) = (7.0, 3.0);
        let (floor, ceil) = (f64::from(p.ilog2()), f64::from(p.next_power_of_two().ilog2()));
        let problem = scattered(&vec![BYTES; p], [alpha, kappa]);
        let found = |build: Build| time(&build(&problem).unwrap(), &problem);
        let (block, others) = (BYTES as f64, (p - 1) as f64);
        let volume = others * block * (1.0 + kappa);
        assert_eq!(found(reduce_scatter::pairwise), others * alpha + volume);
        assert_eq!(found(reduce_scatter::circulant), ceil * alpha + volume);
        let active = 1 << p.ilog2();
        let rest = p - active;
        let halves = (1..=p.ilog2()).map(|step| active >> step);
        let folded = |sum: usize| match (rest, (p + sum) as f64) {
            (0, _) => floor * alpha + volume,
            (_, sum) => (floor + 2.0) * alpha + (sum + 1.0) * block + sum * block * kappa,
        };
        let halving = folded(halves.clone().map(|half| half + half.min(rest)).sum());
        assert_eq!(found(reduce_scatter::halving), halving, "{p}");
        let butterfly = folded(halves.map(|half| half + rest.div_ceil(active / half)).sum());
        assert_eq!(found(reduce_scatter::butterfly), butterfly, "{p}");
        assert!(butterfly <= halving, "{p}");

        // A vector that both p and P divide.
        let vector = p as u64 * BYTES;
        let problem = reduced(p, vector, [alpha, kappa]);
        let n = vector as f64;
        let share = others * block * (2.0 + kappa);
        let whole = n / active as f64;
        let expected = match rest {
            0 => [
                floor * (alpha + n * (1.0 + kappa)),
                2.0 * floor * alpha + share,
                2.0 * floor * alpha + share,
            ],
            _ => [
                (floor + 2.0) * (alpha + n) + (floor + 1.0) * n * kappa,
                (2.0 * floor + 3.0) * alpha + n * (4.0 + 1.5 * kappa) - whole * (2.0 + kappa),
                (2.0 * floor + 2.0) * alpha + n * (4.0 + 2.0 * kappa) - whole * (2.0 + kappa),
            ],
        };
        let found = ALLREDUCES.map(|(_, build, _)| time(&build(&problem).unwrap(), &problem));
        assert_eq!(found[..3], expected, "{p}");
        assert_eq!(found[4], 2.0 * others * alpha + share, "{p}");
        assert_eq!(found[5], 2.0 * ceil * alpha + share, "{p}");
    }
}

#[test]
fn reductions_are_built_for_reductions_only() {
    let allgather = Problem::allgather(
        &BlockSizes::new([1, 2]).unwrap(),
        Homogeneous::new(1.0, 1.0, 1.0).unwrap(),
    )
    .unwrap();
    let error = reduce_scatter::halving(&allgather).unwrap_err().to_string();
    assert_eq!(error, "it is for reduce-scatter, and not for allgather");
    let error = allreduce::ring(&allgather).unwrap_err().to_string();
    assert_eq!(error, "it is for allreduce, and not for allgather");
}
