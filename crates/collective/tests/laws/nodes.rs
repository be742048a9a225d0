//! Allgathers and alltoalls on nodes.

use super::overlapping::nodes;
use proptest::prelude::*;
use std::collections::BTreeMap;
use tuwtree_bounds::best_lower_bound;
use tuwtree_collective::alltoall::{self, BruckSketch};
use tuwtree_collective::nodes::{
    Lanes, NodeMessage, OnNodes, lanes, node_all, rank_messages, sketch_of_lanes,
};
use tuwtree_collective::{Circulation, Passing, bruck_balanced, bruck_postal, sketch_of_postal};
use tuwtree_model::document::{Date, Machine};
use tuwtree_model::{
    BlockSizes, Costs, Hierarchy, Level, MessageSizes, Network, Operation, Operator, Placement,
    Problem, Rank, StatedCosts, Time, WireOwner,
};
use tuwtree_schedule::{Action, Order, Piece, Schedule, Sends, simulate, simulate_on, verify};

fn problem(sizes: &[u64], costs: StatedCosts) -> Problem {
    Problem::allgather(&BlockSizes::new(sizes.iter().copied()).unwrap(), costs).unwrap()
}

/// The reduce-scatter of these blocks, of elements of a byte that are combined in 0.5 each.
fn reduction(sizes: &[u64], costs: StatedCosts) -> Problem {
    let sizes = BlockSizes::new(sizes.iter().copied()).unwrap();
    let problem = Problem::reduce_scatter(&sizes, costs).unwrap();
    problem.with_operator(Operator::new(1, 0.5).unwrap()).unwrap()
}

/// The ranks of each node of a machine.
fn nodes_of(machine: &Hierarchy, ranks: usize) -> Vec<Vec<Rank>> {
    let mut nodes: BTreeMap<usize, Vec<Rank>> = BTreeMap::new();
    (0..ranks).for_each(|rank| nodes.entry(machine.node(rank)).or_default().push(rank));
    nodes.into_values().collect()
}

fn between() -> impl Strategy<Value = Circulation> {
    prop_oneof![
        (1..6_usize).prop_map(Circulation::BalancedPostal),
        (1..6_usize).prop_map(Circulation::BalancedPieces),
        Just(Circulation::Ring)
    ]
}

/// Fails unless all data comes to its place, once, in no less than the bound.
fn check(problem: &Problem, schedule: &Schedule) -> Result<f64, TestCaseError> {
    let verified = verify(schedule);
    prop_assert!(verified.is_ok(), "{:?}", verified);
    let verified = verified.unwrap();
    let is_ordered = verified.order == Order::Ordered;
    prop_assert!(is_ordered || problem.operation() == Operation::ReduceScatter);
    let needed = (problem.ranks() as u128 - 1) * u128::from(problem.payload().total());
    prop_assert_eq!(verified.bytes_sent, needed);
    let timeline = simulate(schedule, problem.stated_costs(), Sends::Synchronous).unwrap();
    let time = timeline.completion_time().units();
    let bound = best_lower_bound(problem).unwrap().units();
    prop_assert!(time * (1.0 + 1e-12) >= bound, "{} is below {}", time, bound);
    Ok(time)
}

/// Messages of the schedule from one rank to another, in order.
type Pairs = BTreeMap<(Rank, Rank), Vec<Vec<Piece>>>;

fn pairs(schedule: &Schedule) -> Pairs {
    let mut pairs = Pairs::new();
    for from in 0..schedule.ranks() {
        let sends =
            schedule.programs().actions(from).filter_map(|action: Action<'_>| action.send());
        for send in sends {
            pairs.entry((from, send.to)).or_default().push(send.from.pieces.to_vec());
        }
    }
    pairs
}

/// Fails unless the ranks' own lists have the schedule's messages, and end if each send, of one to this node and one to others
/// at a time, waits for all that is listed before it.
fn check_lists(
    (sizes, nodes): (&BlockSizes, &[Vec<Rank>]),
    how: OnNodes,
    schedule: &Schedule,
) -> Result<(), TestCaseError> {
    let ranks = sizes.ranks();
    let lists: Vec<Vec<NodeMessage>> =
        (0..ranks).map(|rank| rank_messages((sizes, 1), nodes, how, rank)).collect();
    let [mut sent, mut received] = [Pairs::new(), Pairs::new()];
    for (rank, list) in lists.iter().enumerate() {
        for message in list {
            match message {
                NodeMessage::Send { to, pieces, is_inside } => {
                    let is_mate =
                        nodes.iter().any(|node| node.contains(to) && node.contains(&rank));
                    prop_assert_eq!(*is_inside, is_mate);
                    sent.entry((rank, *to)).or_default().push(pieces.to_vec());
                }
                NodeMessage::Receive { from, pieces } => {
                    received.entry((*from, rank)).or_default().push(pieces.to_vec());
                }
            }
        }
    }
    prop_assert_eq!(&sent, &received);
    let sorted = |mut pairs: Pairs| {
        let key = |pieces: &Vec<Piece>| pieces.first().map(|piece| piece.offset);
        pairs.values_mut().for_each(|all| all.sort_by_key(key));
        pairs
    };
    prop_assert_eq!(sorted(sent), sorted(pairs(schedule)));
    // For each rank its sends that are done, and for each pair how many of its messages.
    let mut done: Vec<Vec<bool>> = lists.iter().map(|list| vec![false; list.len()]).collect();
    let mut counts: BTreeMap<(Rank, Rank), usize> = BTreeMap::new();
    loop {
        let mut is_moving = false;
        for (rank, list) in lists.iter().enumerate() {
            let mut came: BTreeMap<Rank, usize> = BTreeMap::new();
            let (mut all_came, mut is_free) = (true, [true, true]);
            for (index, message) in list.iter().enumerate() {
                match message {
                    NodeMessage::Receive { from, .. } => {
                        let count = came.entry(*from).or_default();
                        *count += 1;
                        all_came &= counts.get(&(*from, rank)).copied().unwrap_or(0) >= *count;
                    }
                    NodeMessage::Send { to, is_inside, .. } if !done[rank][index] => {
                        if all_came && is_free[usize::from(*is_inside)] {
                            done[rank][index] = true;
                            *counts.entry((rank, *to)).or_default() += 1;
                            is_moving = true;
                        }
                        is_free[usize::from(*is_inside)] &= done[rank][index];
                    }
                    NodeMessage::Send { .. } => {}
                }
            }
        }
        if !is_moving {
            break;
        }
    }
    let sends = lists.iter().flatten().filter(|one| matches!(one, NodeMessage::Send { .. }));
    prop_assert_eq!(done.iter().flatten().filter(|done| **done).count(), sends.count());
    Ok(())
}

proptest! {
    #[test]
    fn all_data_comes_to_its_place_on_nodes_of_any_sizes(
        (sizes, costs) in prop::collection::vec(prop_oneof![1 => Just(0), 3 => 0..60_u64], 2..20)
            .prop_flat_map(|sizes| (Just(sizes.clone()), nodes(sizes.len()))),
        between in between(),
        count in 1..5_usize,
        (is_even, is_whole) in (any::<bool>(), any::<bool>()),
    ) {
        let nodes = nodes_of(costs.costs().hierarchy().unwrap(), sizes.len());
        let least = nodes.iter().map(Vec::len).min().unwrap();
        let (gathered, reduced) = (problem(&sizes, costs.clone()), reduction(&sizes, costs));
        let given = Lanes { count: count.min(least), between, is_even, is_whole };
        let sizes = BlockSizes::new(sizes).unwrap();
        let schedule = lanes(&gathered, &nodes, given).unwrap();
        check(&gathered, &schedule)?;
        check_lists((&sizes, &nodes), OnNodes::Lanes(given), &schedule)?;
        let schedule = node_all(&gathered, &nodes).unwrap();
        check(&gathered, &schedule)?;
        check_lists((&sizes, &nodes), OnNodes::NodeAll, &schedule)?;
        check(&reduced, &lanes(&reduced, &nodes, given).unwrap())?;
        check(&reduced, &node_all(&reduced, &nodes).unwrap())?;
    }
}

/// Two nodes of two ranks: latency 1 inside and 10 outside, overhead 1, and 1 for each byte.
fn two_nodes() -> StatedCosts {
    let level = |name: &str, alpha: f64| {
        let links = tuwtree_model::PiecewiseLinear::new(vec![tuwtree_model::Piece {
            from_bytes: 0,
            alpha,
            overhead: 1.0,
            beta: 1.0,
        }]);
        Level { name: name.into(), members: 2, links: links.unwrap().into() }
    };
    let levels = vec![level("node", 2.0), level("network", 11.0)];
    Costs::Hierarchical(Hierarchy::new(levels, Placement::Block, 0.0).unwrap()).into()
}

#[test]
fn two_nodes_of_two_ranks_take_what_they_take_by_hand() {
    let problem = problem(&[5; 4], two_nodes());
    let nodes = [vec![0, 1], vec![2, 3]];
    let given = Lanes {
        count: 2,
        between: Circulation::BalancedPostal(1),
        is_even: false,
        is_whole: false,
    };
    // The other node's block, which leaves first, is received first, until 16; the mate's until 22, and at last
    // the block that the mate has passed on.
    let schedule = lanes(&problem, &nodes, given).unwrap();
    assert_eq!(check(&problem, &schedule).unwrap(), 22.0 + 6.0);
    // Inside until 7, between until 7 + 10 + 11, inside 1 + 11.
    let schedule = node_all(&problem, &nodes).unwrap();
    assert_eq!(check(&problem, &schedule).unwrap(), 40.0);
    assert_eq!(schedule.most_actions(), 5);
}

/// 32 nodes of 16 ranks that share a wire, in microseconds: inside 0.3, 0.05 of it overhead, 50 GB/s; between nodes as given.
fn nodes_of_16((alpha, overhead, beta): (f64, f64, f64)) -> StatedCosts {
    let level = |name: &str, members, (alpha, overhead, beta)| {
        let piece = tuwtree_model::Piece { from_bytes: 0, alpha, overhead, beta };
        let links = tuwtree_model::PiecewiseLinear::new(vec![piece]).unwrap().into();
        Level { name: name.into(), members, links }
    };
    let levels =
        vec![level("node", 16, (0.3, 0.05, 2e-5)), level("network", 32, (alpha, overhead, beta))];
    let levels = Hierarchy::new(levels, Placement::Block, 0.0).unwrap();
    Machine {
        name: "nodes of 16".into(),
        date: Date::parse("2026-11-28").unwrap(),
        provenance: "stated".into(),
        costs: Costs::Hierarchical(levels),
        network: Network { wire: WireOwner::Node, ..Network::default() },
        combine_per_byte: 0.0,
    }
    .into()
}

#[test]
fn alltoalls_of_512_ranks_on_nodes_take_at_most_1_6_times_the_bound() {
    let (infiniband, cloud) = ((3.51, 0.11, 4.35e-5), (15.5, 0.5, 8e-5));
    let nodes: Vec<Vec<Rank>> = (0..32).map(|node| (16 * node..16 * node + 16).collect()).collect();
    for (between, bytes, pairs_most, straight_most) in [
        (infiniband, 8, 1.6, f64::INFINITY),
        (infiniband, 256, 1.6, 1.05),
        (infiniband, 8192, f64::INFINITY, 1.05),
        (cloud, 8, 1.3, f64::INFINITY),
        (cloud, 256, 1.5, f64::INFINITY),
        (cloud, 8192, f64::INFINITY, 1.05),
    ] {
        let sizes = MessageSizes::new(std::iter::repeat_n(bytes, 512 * 512)).unwrap();
        let problem = Problem::alltoall(&sizes, nodes_of_16(between)).unwrap();
        let bound = best_lower_bound(&problem).unwrap().units();
        let pairs = alltoall::in_bundles(&problem, (Passing::NodePairs, &nodes), u64::MAX);
        for (schedule, most) in [(pairs, pairs_most), (alltoall::linear(&problem), straight_most)] {
            let schedule = schedule.unwrap();
            let timeline = simulate(&schedule, problem.stated_costs(), Sends::Synchronous).unwrap();
            let multiple = timeline.completion_time().units() / bound;
            assert!(multiple <= most, "{between:?}, {bytes} bytes: {multiple}");
        }
    }
}

/// Times of a schedule on both kinds of ports, as far as it is not made for one of them, and its other figures.
fn figures(schedule: &Schedule, costs: &StatedCosts) -> ([Option<Time>; 2], usize, u64) {
    let time = |duplex| {
        let timeline = simulate_on(schedule, duplex, costs, Sends::Synchronous).ok()?;
        Some(timeline.completion_time())
    };
    ([time(false), time(true)], schedule.most_actions(), schedule.most_bytes_sent())
}

proptest! {
    #[test]
    fn sketches_of_allgathers_have_the_figures_of_their_schedules(
        (sizes, on_nodes) in prop::collection::vec(prop_oneof![1 => Just(0), 3 => 0..60_u64], 2..20)
            .prop_flat_map(|sizes| (Just(sizes.clone()), nodes(sizes.len()))),
        has_wires in any::<bool>(),
        between in between(),
        (is_even, is_whole, is_balanced) in any::<(bool, bool, bool)>(),
        delay in 1..7_usize,
    ) {
        let costs = if has_wires { on_nodes } else { on_nodes.costs().clone().into() };
        let problem = problem(&sizes, costs.clone());
        let nodes = nodes_of(problem.costs().hierarchy().unwrap(), problem.ranks());
        let given = Lanes { count: 1, between, is_even, is_whole };
        for problem in [problem, reduction(&sizes, costs.clone())] {
            let schedule = if is_balanced { bruck_balanced } else { bruck_postal };
            let schedule = schedule(&problem, delay).unwrap();
            check(&problem, &schedule)?;
            let sketch = sketch_of_postal(&problem, delay, is_balanced).unwrap();
            prop_assert_eq!(figures(&sketch, &costs), figures(&schedule, &costs));
            let schedule = figures(&lanes(&problem, &nodes, given).unwrap(), &costs);
            let sketch = sketch_of_lanes(&problem, &nodes, given).unwrap();
            prop_assert_eq!(figures(&sketch, &costs), schedule);
        }
    }

    #[test]
    fn sketches_of_alltoalls_have_the_figures_of_their_schedules(
        (list, on_nodes) in (2..12_usize, 0..2_u64).prop_flat_map(|(ranks, least)| {
            (prop::collection::vec(least..60_u64, ranks * ranks), nodes(ranks))
        }),
        has_wires in any::<bool>(),
        radix in 2..6_usize,
        most in prop_oneof![Just(u64::MAX), 0..60_u64],
    ) {
        let costs = if has_wires { on_nodes } else { on_nodes.costs().clone().into() };
        let problem = Problem::alltoall(&MessageSizes::new(list).unwrap(), costs.clone()).unwrap();
        let sketch = BruckSketch::new(&problem, radix, most).unwrap();
        let all = figures(&alltoall::bruck_up_to(&problem, radix, most).unwrap(), &costs);
        prop_assert_eq!(figures(&sketch.schedule().unwrap(), &costs), all);
        let floor = Some(sketch.least_time().unwrap());
        let [time, both] = all.0;
        prop_assert!(floor <= time, "{:?}, {:?}", floor, time);
        prop_assert!(has_wires || floor == time, "{:?}, {:?}", floor, time);
        let on_duplex_port = problem.with_duplex(true);
        let sketch = BruckSketch::new(&on_duplex_port, radix, most).unwrap();
        let floor = Some(sketch.least_time().unwrap());
        prop_assert!(floor <= both, "{:?}, {:?}", floor, both);
        prop_assert!(has_wires || floor == Some(Time::ZERO) || floor == both, "{:?}, {:?}", floor, both);
        let nodes = nodes_of(problem.costs().hierarchy().unwrap(), problem.ranks());
        let pairs = alltoall::in_bundles(&problem, (Passing::NodePairs, &nodes), most).unwrap();
        let sketch = alltoall::sketch_of_node_pairs(&problem, &nodes, most).unwrap();
        prop_assert_eq!(figures(&sketch, &costs), figures(&pairs, &costs));
        let known = alltoall::linear_outline(&problem).unwrap();
        if let Some(known) = known.filter(|_| problem.costs().overlaps()) {
            let ([_, time], most_actions, most_bytes_sent) =
                figures(&alltoall::linear(&problem).unwrap(), &costs);
            prop_assert_eq!(Some(known.time), time);
            prop_assert_eq!(known.most_actions, most_actions);
            prop_assert_eq!(known.most_bytes_sent, most_bytes_sent);
        }
    }

    #[test]
    fn alltoalls_by_pairs_of_nodes_are_no_faster_than_the_bound(
        (list, costs) in (2..10_usize).prop_flat_map(|ranks| {
            (prop::collection::vec(0..60_u64, ranks * ranks), nodes(ranks))
        }),
        most in prop_oneof![Just(u64::MAX), 0..60_u64],
    ) {
        let problem = Problem::alltoall(&MessageSizes::new(list).unwrap(), costs).unwrap();
        let machine = problem.costs().hierarchy().unwrap();
        let nodes = nodes_of(machine, problem.ranks());
        let schedule = alltoall::in_bundles(&problem, (Passing::NodePairs, &nodes), most).unwrap();
        prop_assert!(verify(&schedule).is_ok());
        let timeline = simulate(&schedule, problem.stated_costs(), Sends::Synchronous).unwrap();
        let (time, bound) =
            (timeline.completion_time().units(), best_lower_bound(&problem).unwrap().units());
        prop_assert!(time * (1.0 + 1e-12) >= bound, "{} is below {}", time, bound);
    }
}
