//! What holds of alltoalls, and how long they take.

use super::{Build, time};
use proptest::prelude::*;
use tuwtree_bounds::{best_lower_bound, direct_lower_bound};
use tuwtree_collective::{CollectiveError, ColumnTrees, Outline, Passing, alltoall};
use tuwtree_model::{
    Costs, Hierarchy, Homogeneous, Level, MessageSizes, Operation, Piece, PiecewiseLinear,
    Placement, Problem, Rank, StatedCosts,
};
use tuwtree_schedule::{Order, Schedule, document, verify};

const ALL: [(&str, Build); 12] = [
    ("linear", alltoall::linear),
    ("pairwise", alltoall::pairwise),
    ("radix 2", |problem| alltoall::bruck(problem, 2)),
    ("radix 3", |problem| alltoall::bruck(problem, 3)),
    ("radix 4", |problem| alltoall::bruck(problem, 4)),
    ("radix 64", |problem| alltoall::bruck(problem, 64)),
    ("radix 2 up to 1 byte", |problem| alltoall::bruck_up_to(problem, 2, 1)),
    ("radix 3 up to 2 bytes", |problem| alltoall::bruck_up_to(problem, 3, 2)),
    ("open shop", alltoall::open_shop),
    ("radix 3 at once up to 2 bytes", |problem| {
        alltoall::in_bundles(problem, (Passing::Digits(3), &[]), 2)
    }),
    ("node pairs", |problem| in_node_pairs(problem, u64::MAX)),
    ("node pairs up to 2 bytes", |problem| in_node_pairs(problem, 2)),
];

/// Pairs of nodes of one, two, three, ... ranks, whose ranks are not neighbours.
fn in_node_pairs(problem: &Problem, most: u64) -> Result<Schedule, CollectiveError> {
    let mut ranks = (0..problem.ranks()).filter(|rank| rank % 3 == 0).collect::<Vec<Rank>>();
    ranks.extend((0..problem.ranks()).rev().filter(|rank| rank % 3 > 0));
    let mut nodes = Vec::new();
    while !ranks.is_empty() {
        let left = ranks.split_off(ranks.len().min(nodes.len() % 4 + 1));
        nodes.push(std::mem::replace(&mut ranks, left));
    }
    alltoall::in_bundles(problem, (Passing::NodePairs, &nodes), most)
}

fn problem(ranks: usize, alpha: f64, message: impl Fn(usize, usize) -> u64) -> Problem {
    let sizes = (0..ranks * ranks).map(|at| message(at / ranks, at % ranks));
    let sizes = MessageSizes::new(sizes).unwrap();
    let costs = Homogeneous::new(alpha, 1.0, 1.0).unwrap();
    Problem::new(Operation::Alltoall, sizes, costs).unwrap()
}

fn check(problem: &Problem) {
    let bound = best_lower_bound(problem).unwrap().units();
    for (name, build) in ALL {
        let schedule = build(problem).unwrap();
        let verified = verify(&schedule).unwrap_or_else(|fault| panic!("{name}: {fault}"));
        assert_eq!((verified.order, verified.copies), (Order::Ordered, 0), "{name}");
        let found = time(&schedule, problem);
        assert!(found >= bound, "{name}: {found} is below {bound}");
        if ["linear", "pairwise", "open shop"].contains(&name) {
            let direct = direct_lower_bound(problem).unwrap().unwrap().units();
            assert!(found >= direct, "{name}: {found} is below {direct}");
        }
    }
}

/// Messages of 4 bytes among 5 ranks, alpha = 8 + 2: the latency of 8 passes once, where all are under way at once.
#[test]
fn latency_overlaps_where_messages_go_straight_and_adds_up_in_rounds() {
    let sizes = MessageSizes::new([4; 25]).unwrap();
    let costs = Homogeneous::new(10.0, 1.0, 1.0).unwrap().with_overhead(2.0).unwrap();
    let problem = Problem::new(Operation::Alltoall, sizes, costs).unwrap();
    let found = |build: Build| {
        let schedule = build(&problem).unwrap();
        verify(&schedule).unwrap();
        time(&schedule, &problem)
    };
    let at_once = 8.0 + 4.0 * (2.0 + 4.0);
    assert_eq!(found(alltoall::linear), at_once);
    assert_eq!(found(alltoall::open_shop), at_once);
    assert_eq!(direct_lower_bound(&problem).unwrap().unwrap().units(), at_once);
    assert_eq!(found(alltoall::pairwise), 4.0 * (10.0 + 4.0), "each exchange waits");
    // Three rounds with 2, 2 and 1 messages.
    assert_eq!(found(|problem| alltoall::bruck(problem, 2)), 3.0 * 10.0 + 5.0 * 4.0);
}

#[test]
fn every_message_comes_to_its_place_for_up_to_64_ranks() {
    for p in 1..=64 {
        // Irregular, with a third of the messages empty, and equal ones.
        check(&problem(p, 10.0, |from, to| ((7 * from + 5 * to) % 6).saturating_sub(2) as u64));
        if p < 20 {
            check(&problem(p, 10.0, |_, _| 3));
            check(&problem(p, 10.0, |from, to| if (from, to) == (p / 2, 0) { 9 } else { 0 }));
        }
    }
}

proptest! {
    #[test]
    fn messages_of_any_size_come_to_their_places(
        ranks in 1..12_usize, list in prop::collection::vec(0..9_u64, 144),
    ) {
        check(&problem(ranks, 3.0, |from, to| list[from * ranks + to]));
    }

    /// Costs by length: messages of up to 5 bytes have no latency that overlaps.
    #[test]
    fn figures_of_direct_messages_are_those_of_their_schedules(
        ranks in 1..9_usize,
        sizes in prop::collection::vec(prop_oneof![Just(0), 0..12_u64], 81),
        ways in (any::<bool>(), any::<bool>(), any::<bool>()),
    ) {
        let (overlaps, has_exchange_costs, duplex) = ways;
        let piece = |from_bytes, overhead| Piece { from_bytes, alpha: 7.0, overhead, beta: 1.5 };
        let costs: StatedCosts = match (overlaps, has_exchange_costs) {
            (true, _) => {
                let links = PiecewiseLinear::new(vec![piece(0, 7.0), piece(6, 2.0)]).unwrap();
                let level =
                    Level { name: "network".into(), members: ranks, links: links.into() };
                let machine = Hierarchy::new(vec![level], Placement::Block, 0.0).unwrap();
                Costs::Hierarchical(machine).into()
            }
            (false, true) => {
                Homogeneous::new(7.0, 1.5, 0.0).unwrap().with_exchange(9.0, 2.5).unwrap().into()
            }
            (false, false) => Homogeneous::new(7.0, 1.5, 0.0).unwrap().into(),
        };
        let sizes = MessageSizes::new(sizes.into_iter().take(ranks * ranks)).unwrap();
        let problem = Problem::alltoall(&sizes, costs).unwrap().with_duplex(duplex);
        let check = |outline: Result<Outline, CollectiveError>, build: Build| {
            let (outline, schedule) = (outline.unwrap(), build(&problem).unwrap());
            prop_assert_eq!(outline.time.units(), time(&schedule, &problem));
            prop_assert_eq!(outline.most_actions, schedule.most_actions());
            prop_assert_eq!(outline.most_bytes_sent, schedule.most_bytes_sent());
            Ok(())
        };
        let linear = alltoall::linear_outline(&problem).map(|known| known.expect("no shared wires"));
        check(linear, alltoall::linear)?;
        if !overlaps {
            check(alltoall::pairwise_outline(&problem), alltoall::pairwise)?;
        }
    }

    #[test]
    fn alltoalls_read_as_they_were_written(
        ranks in 1..7_usize, list in prop::collection::vec(0..9_u64, 36),
    ) {
        let problem = problem(ranks, 3.0, |from, to| list[from * ranks + to]);
        for (_, build) in ALL {
            let schedule = build(&problem).unwrap();
            let mut text = Vec::new();
            document::write(&schedule, &mut text).unwrap();
            prop_assert_eq!(document::read(&text[..]).unwrap(), schedule);
        }
    }
}

#[test]
fn worked_alltoalls_take_what_they_take_by_hand() {
    // Equal messages of 4: shift rounds, and Bruck's algorithm.
    for (p, shift, bruck) in [(3, 28, 28), (5, 56, 50), (6, 70, 58), (8, 98, 78)] {
        let problem = problem(p, 10.0, |_, _| 4);
        let found = |build: Build| time(&build(&problem).unwrap(), &problem);
        assert_eq!(found(alltoall::linear), f64::from(shift));
        assert_eq!(found(alltoall::pairwise), f64::from(shift));
        assert_eq!(found(|problem| alltoall::bruck(problem, 2)), f64::from(bruck));
    }
    // (i + 2 j) mod 4 bytes, none to oneself: shift rounds, pairwise, radix 2 and 3.
    for (p, times) in
        [(3, [23, 23, 23, 23]), (5, [51, 51, 42, 43]), (6, [65, 65, 49, 45]), (8, [89, 89, 58, 62])]
    {
        let message = |from, to| if from == to { 0 } else { (from + 2 * to) as u64 % 4 };
        let problem = problem(p, 10.0, message);
        let builds: [Build; 4] = [ALL[0].1, ALL[1].1, ALL[2].1, ALL[3].1];
        let found = builds.map(|build| time(&build(&problem).unwrap(), &problem));
        assert_eq!(found, times.map(f64::from), "{p} ranks");
    }
}

#[test]
fn with_a_threshold_of_all_sizes_messages_go_together_and_with_one_of_none_straight() {
    for p in [1, 2, 5, 8, 13] {
        let problem = problem(p, 10.0, |from, to| ((from + 2 * to) % 4) as u64);
        let up_to = |most| alltoall::bruck_up_to(&problem, 2, most).unwrap();
        assert_eq!(up_to(3), alltoall::bruck(&problem, 2).unwrap(), "{p} ranks");
        let straight = time(&alltoall::pairwise(&problem).unwrap(), &problem);
        if !p.is_power_of_two() {
            assert_eq!(time(&up_to(0), &problem), straight, "{p} ranks");
        }
    }
}

/// SimGrid's SMPI 3.32 with these algorithms forced; each message there is 16 bytes longer.
#[test]
fn alltoalls_take_as_long_as_in_smpi() {
    for (p, times) in [(5, [8064, 8048]), (8, [14112, 15048])] {
        let problem = problem(p, 1016.0, |_, _| 1000);
        let builds: [Build; 2] = [ALL[0].1, ALL[2].1];
        let found = builds.map(|build| time(&build(&problem).unwrap(), &problem));
        assert_eq!(found, times.map(f64::from), "{p} ranks");
    }
}

#[test]
fn equal_messages_take_what_formulas_say() {
    for p in 2..=33_usize {
        let problem = problem(p, 7.0, |_, _| 10);
        let found = |build: Build| time(&build(&problem).unwrap(), &problem);
        let ones: u32 = (0..p).map(usize::count_ones).sum();
        let rounds = f64::from(p.next_power_of_two().ilog2());
        assert_eq!(found(ALL[2].1), 7.0 * rounds + 10.0 * f64::from(ones));
        assert_eq!(found(ALL[0].1), 17.0 * (p - 1) as f64);
        assert_eq!(found(alltoall::open_shop), 17.0 * (p - 1) as f64);
    }
}

/// Figure 7 of Thakur, Rabenseifner and Gropp: with 6 ranks, rank 0 sends blocks 1, 3, 5, then 2, 3, then 4, 5 by
/// distance.
#[test]
fn bruck_s_first_rank_sends_the_distances_of_figure_7() {
    let schedule = alltoall::bruck(&problem(6, 1.0, |_, _| 1), 2).unwrap();
    let sent: Vec<(usize, u64)> = schedule
        .programs()
        .actions(0)
        .filter_map(|action| action.send())
        .map(|send| (send.to, send.from.bytes()))
        .collect();
    assert_eq!(sent, [(1, 3), (2, 2), (4, 2)]);
}

#[test]
fn large_messages_go_straight_in_hardly_more_than_the_bound() {
    // Sparse: one in ten.
    let message = |from, to| {
        if (from * 31 + to * 17) % 10 == 3 && from != to { 20_000 + (from * to) as u64 } else { 0 }
    };
    let problem = problem(32, 1000.0, message);
    let bound = best_lower_bound(&problem).unwrap().units();
    let found = time(&alltoall::open_shop(&problem).unwrap(), &problem);
    assert!(found <= 1.3 * bound, "{found}, {bound}");
    assert!(found < time(&alltoall::linear(&problem).unwrap(), &problem));
}

#[test]
fn large_messages_beside_a_single_round_of_bundles_do_not_deadlock() {
    // From each rank a large message to one neighbour, and a small one to the other.
    let list = [0, 3, 1, 1, 0, 3, 3, 1, 0];
    check(&problem(3, 10.0, |from, to| list[3 * from + to]));
}

proptest! {
    #[test]
    fn messages_to_few_ranks_and_from_few_come_to_their_places_by_column_trees(
        ranks in 1..40_usize, seed in prop::collection::vec(0..1000_usize, 1..9),
        sizes in prop::collection::vec(0..9_u64, 40), (row, column) in (2..9_usize, 2..9_usize),
        is_from_roots: bool, most in prop_oneof![Just(u64::MAX), 0..9_u64],
    ) {
        let mut roots: Vec<Rank> = Vec::new();
        for root in seed.into_iter().map(|one| one % ranks) {
            if !roots.contains(&root) {
                roots.push(root);
            }
        }
        let has = |from: Rank, to: Rank| roots.contains(if is_from_roots { &from } else { &to });
        let message = |from: Rank, to: Rank| {
            if has(from, to) { sizes[(from + 7 * to) % sizes.len()] } else { 0 }
        };
        let problem = problem(ranks, 3.0, message);
        let trees = ColumnTrees { row, column, is_from_roots };
        let schedule = alltoall::column_trees(&problem, trees, &roots, most).unwrap();
        let verified = verify(&schedule);
        prop_assert!(verified.is_ok(), "{:?}", verified);
        let bound = best_lower_bound(&problem).unwrap().units();
        prop_assert!(time(&schedule, &problem) >= bound);
    }
}
