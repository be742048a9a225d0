//! Allgathers and alltoalls for machines with nodes.

use super::{CatalogueRow, rootless};
use crate::error::NoTree;
use crate::expense::{Effort, Expense};
use crate::request::{Built, Request, Wanted};
use rayon::prelude::*;
use std::collections::BTreeMap;
use tuwtree_collective::nodes::{
    Lanes, NodePrices, estimated_lanes, lanes, node_all, sketch_of_lanes,
};
use tuwtree_collective::{Circulation, MessagePrice, Passing, alltoall, most_in_pairs};
use tuwtree_model::{ClosedSet, CostModel, Operation, Problem, Rank, Time, TimeError};
use tuwtree_schedule::Schedule;

pub(super) const LANES: CatalogueRow = CatalogueRow {
    is_for_overlap: true,
    is_for_nodes: true,
    is_long: true,
    suits: |request, _| suits(request.problem),
    ..rootless::row(
        "some ranks of each node gather shares of all nodes' data, and pass them on inside (Träff, Hunold 2020)",
        in_lanes,
    )
};

pub(super) const NODE_ALL: CatalogueRow = CatalogueRow {
    is_for_overlap: true,
    is_for_nodes: true,
    suits: |request, _| suits(request.problem),
    floor: floor_of_node_all,
    ..rootless::row(
        "the ranks of a node gather its data, and send it straight to a rank of each other node, which passes it on",
        |request, wanted| {
            let nodes = nodes_for(request.problem, wanted)?;
            let most = nodes.iter().map(Vec::len).max().unwrap_or(1) as u64;
            let messages = (request.problem.ranks() as u64 * most)
                .saturating_add((nodes.len() as u64).pow(2).saturating_mul(most));
            rootless::expense(wanted, messages, 2)
                .check(wanted.effort, request.watch, |_| String::new())?;
            let schedule = node_all(request.problem, &nodes).map_err(NoTree::failed)?;
            Ok(Built::without_search(schedule))
        },
    )
};

pub(super) const NODE_PAIRS: CatalogueRow = CatalogueRow {
    is_for_nodes: true,
    yields_near_bound: true,
    suits: |request, _| nodes(request.problem).is_ok(),
    ..rootless::row(
        "small messages in one bundle for each pair of nodes, and bundles inside before and after, large ones straight",
        in_node_pairs,
    )
};

/// For how long the ranks of the largest node send on average at least, in an allgather of many ranks: one of them passes the data of
/// each other node on to all its mates.
pub(super) fn floor_of_node_all(problem: &Problem) -> Option<Time> {
    let sizes = rootless::many_blocks(problem)?;
    let nodes = nodes(problem).ok()?;
    let largest = (0..nodes.len()).max_by_key(|&node| nodes[node].len())?;
    let link = (nodes[largest][0], nodes[largest][1]);
    let mut passed = 0.0;
    for (_, node) in nodes.iter().enumerate().filter(|&(node, _)| node != largest) {
        let bytes = node.iter().map(|&rank| sizes.block(rank)).sum();
        if bytes > 0 {
            passed += rootless::busy_on_link(problem, link, bytes)?.units();
        }
    }
    let ranks = nodes[largest].len() as f64;
    Time::new(passed * (ranks - 1.0) / ranks)
}

/// The faster of two alltoalls: all messages in bundles, or only small ones.
fn in_node_pairs(request: &Request<'_>, wanted: Wanted) -> Result<Built, NoTree> {
    let problem = request.problem;
    let nodes = nodes_for(problem, wanted)?;
    let costs = problem.stated_costs();
    let [inside, between] = links(&nodes).map(|(from, to)| {
        let port = |time: Result<Time, TimeError>| time.map_or(u64::MAX.into(), picoseconds);
        move |bytes| port(costs.transmission_between(from, to, bytes))
    });
    let p = problem.ranks();
    let sizes = problem.messages().expect("an alltoall");
    let others = |from| (0..p).filter(move |&to| to != from);
    let all = (0..p).flat_map(|from| others(from).map(move |to| sizes.message(from, to)));
    let (least, most) = all
        .filter(|&bytes| bytes > 0)
        .fold((u64::MAX, 0), |(least, most), bytes| (least.min(bytes), most.max(bytes)));
    let separates = |bytes: &u64| (least..most).contains(bytes);
    let straight = rootless::messages_of_all_pairs(problem);
    let has_time = wanted.effort == Effort::Any
        || rootless::seconds_of(straight, 1) < rootless::SEARCH_SECONDS;
    let thresholds = Some(most_in_pairs(inside, between)).filter(separates).filter(|_| has_time);
    let bundles = (p * p / nodes.len() + nodes.len() * nodes.len()) as u64;
    let mut best: Option<(Time, u64, Schedule)> = None;
    for threshold in [None].into_iter().chain(thresholds.map(Some)) {
        let pieces = 3 * rootless::messages_of_all_pairs(problem);
        let straight = threshold.map_or(0, |_| rootless::messages_of_all_pairs(problem));
        let expense = rootless::expense(wanted, bundles + straight, 1);
        let expense = Expense { bytes: expense.bytes + 32 * pieces, ..expense };
        expense.check(wanted.effort, request.watch, |_| String::new())?;
        let most = threshold.unwrap_or(u64::MAX);
        let sketch = alltoall::sketch_of_node_pairs(problem, &nodes, most);
        let sketch = sketch.map_err(NoTree::failed)?;
        let time = wanted.time_of(&sketch, problem)?;
        if best.as_ref().is_none_or(|(least, ..)| time < *least) {
            best = Some((time, most, sketch));
        }
    }
    let (time, most, sketch) = best.expect("one was tried");
    let list =
        move |problem: &Problem| alltoall::in_bundles(problem, (Passing::NodePairs, &nodes), most);
    let built = rootless::sketched(problem, (&sketch, time), list);
    Ok(Built { threshold: Some(most).filter(|&most| most < u64::MAX), ..built })
}

fn suits(problem: &Problem) -> bool {
    problem.costs().overlaps() && nodes(problem).is_ok()
}

/// The ranks of each node, or the reason for building nothing.
fn nodes_for(problem: &Problem, wanted: Wanted) -> Result<Vec<Vec<Rank>>, NoTree> {
    let refusal =
        |reason| wanted.effort.refused(format!("{} needs {reason}", wanted.construction.name()));
    nodes(problem).map_err(refusal)
}

/// The ranks of each node.
fn nodes(problem: &Problem) -> Result<Vec<Vec<Rank>>, &'static str> {
    let machine =
        problem.costs().hierarchy().ok_or("a machine of several levels (hierarchical)")?;
    let mut nodes: BTreeMap<usize, Vec<Rank>> = BTreeMap::new();
    for rank in 0..problem.ranks() {
        nodes.entry(machine.node(rank)).or_default().push(rank);
    }
    match nodes.len() == 1 || nodes.len() == problem.ranks() {
        true => Err("several nodes, and one of several ranks"),
        false => Ok(nodes.into_values().collect()),
    }
}

/// The fastest by the judge of the lanes with some parameters whose estimated times are least.
fn in_lanes(request: &Request<'_>, wanted: Wanted) -> Result<Built, NoTree> {
    let problem = request.problem;
    let nodes = nodes_for(problem, wanted)?;
    let sizes = (problem.blocks().expect("it has blocks"), problem.operator().element_bytes());
    let costs = problem.stated_costs();
    let combine = |bytes| match problem.operation() {
        Operation::ReduceScatter => problem.operator().combine(bytes),
        _ => Ok(Time::ZERO),
    };
    let [inside, between] = links(&nodes).map(|(from, to)| {
        let whole = |time: Result<Time, TimeError>| time.map_or(u64::MAX.into(), picoseconds);
        move |bytes| MessagePrice {
            latency: whole(costs.latency_between(from, to, bytes)),
            occupancy: whole(costs.transmission_between(from, to, bytes))
                .saturating_add(whole(combine(bytes))),
        }
    });
    let wire = |bytes| match costs.shared_wires(nodes[0][0], nodes[1][0], bytes) {
        Ok(Some(shared)) => picoseconds(shared.time),
        _ => 0,
    };
    let prices = NodePrices { inside: &inside, between: &between, wire: &wire };
    // A program receives messages that left early first, and shares that come together inside after these.
    let latency = between(1).latency;
    let mut all: Vec<(u128, Lanes, Expense)> = estimated_lanes(sizes, &nodes, &prices)
        .into_iter()
        .map(|(lanes, time)| {
            let time = time.saturating_add(if lanes.is_even { latency } else { 0 });
            (time, lanes, expense(wanted, (problem.ranks() / nodes.len(), nodes.len()), lanes))
        })
        .collect();
    let cheapest = all.iter().map(|(.., one)| one.seconds).fold(f64::INFINITY, f64::min);
    let most = if wanted.effort == Effort::Any { MOST_SECONDS_NAMED } else { MOST_SECONDS };
    all.retain(|(.., one)| one.seconds <= most.max(cheapest));
    all.sort_by_key(|&(time, ..)| time);
    let most = all[0].0.saturating_add(all[0].0 / 4);
    let mut candidates: Vec<Lanes> = Vec::new();
    for (_, given, expense) in all.into_iter().take_while(|&(time, ..)| time <= most) {
        let is_alike = |one: &Lanes| (one.between, one.is_even) == (given.between, given.is_even);
        if !candidates.iter().any(is_alike) && candidates.len() < MOST_JUDGED {
            expense.check(wanted.effort, request.watch, |_| String::new())?;
            candidates.push(given);
        }
    }
    let judged = candidates.into_par_iter().map(|given| {
        let sketch = sketch_of_lanes(problem, &nodes, given).map_err(NoTree::failed)?;
        Ok((wanted.time_of(&sketch, problem)?, given, sketch))
    });
    let judged: Vec<Result<_, NoTree>> = judged.collect();
    let judged = judged.into_iter().collect::<Result<Vec<(Time, Lanes, Schedule)>, NoTree>>()?;
    let best = judged.into_iter().min_by_key(|&(time, ..)| time);
    let (time, given, sketch) = best.expect("the first is judged");
    let (delay, pieces) = match given.between {
        Circulation::BalancedPostal(delay) => (Some(delay), None),
        Circulation::BalancedPieces(pieces) => (None, Some(pieces)),
        _ => (None, None),
    };
    let list = move |problem: &Problem| lanes(problem, &nodes, given);
    Ok(Built { delay, pieces, ..rootless::sketched(problem, (&sketch, time), list) })
}

fn picoseconds(time: Time) -> u128 {
    (time.units() * 1e12) as u128
}

/// A link inside a node of several ranks, and one between two nodes.
fn links(nodes: &[Vec<Rank>]) -> [(Rank, Rank); 2] {
    let most = nodes.iter().max_by_key(|node| node.len()).expect("there are several nodes");
    [(most[0], most[1]), (nodes[0][0], nodes[1][0])]
}

/// Approximate expense on nodes of `members` ranks each.
fn expense(wanted: Wanted, (members, nodes): (usize, usize), lanes: Lanes) -> Expense {
    let (rounds, pieces) = match lanes.between {
        Circulation::BalancedPostal(delay) => {
            let rounds = nodes.ilog2() as usize + delay.min(nodes);
            (rounds, nodes.div_ceil(rounds))
        }
        Circulation::BalancedPieces(pieces) => (nodes.ilog2() as usize + pieces, nodes),
        _ => (nodes, 1),
    };
    let (passes, passed) =
        if lanes.is_whole { (members, nodes) } else { (members * rounds, pieces) };
    let messages = lanes.count * nodes * (rounds + passes);
    let all_pieces = lanes.count * nodes * (rounds * pieces + passes * passed);
    rootless::expense(wanted, messages as u64, all_pieces.div_ceil(messages) as u64)
}

/// Number of allgathers of lanes for the judge, all within a quarter of the least estimated time.
const MOST_JUDGED: usize = 5;

/// Estimated seconds of building and judging one if the construction was asked for by name.
const MOST_SECONDS_NAMED: f64 = 10.0 * MOST_SECONDS;

/// Estimated seconds of one if it was not.
const MOST_SECONDS: f64 = 0.5;
