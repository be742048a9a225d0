//! Allgathers for machines with nodes.

use super::{CatalogueRow, rootless};
use crate::error::NoTree;
use crate::expense::Effort;
use crate::request::{Built, Request, Wanted};
use std::collections::BTreeMap;
use tuwtree_collective::Circulation;
use tuwtree_collective::nodes::{Lanes, betweens, lanes, lanes_time, node_all};
use tuwtree_model::{ClosedSet, Problem, Rank, Time};
use tuwtree_schedule::{Schedule, Sends, simulate};

pub(super) const LANES: CatalogueRow = CatalogueRow {
    is_for_overlap: true,
    is_for_nodes: true,
    is_online: false,
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
    is_online: false,
    suits: |request, _| suits(request.problem),
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

/// The fastest by the judge of the lanes with some parameters whose planned times are least.
fn in_lanes(request: &Request<'_>, wanted: Wanted) -> Result<Built, NoTree> {
    let problem = request.problem;
    let nodes = nodes_for(problem, wanted)?;
    let least = nodes.iter().map(Vec::len).min().expect("there are several nodes");
    let base = Lanes {
        count: least,
        between: Circulation::BalancedPostal(1),
        is_even: false,
        is_whole: true,
    };
    let mut search = LanesSearch { request, wanted, nodes: &nodes, seconds: 0.0 };
    let all = betweens(problem.payload().total(), nodes.len())
        .into_iter()
        .map(|between| Lanes { between, ..base });
    let between = search.fastest(all.collect(), false)?;
    let mut varied = Vec::new();
    for &lanes in between.iter().take(MOST_VARIED) {
        for (is_even, is_whole) in [(false, true), (false, false), (true, true), (true, false)] {
            varied.push(Lanes { is_even, is_whole, ..lanes });
        }
    }
    let mut varied = search.fastest(varied, true)?;
    let fewer = [1, least.div_ceil(2)].into_iter().filter(|&count| count < least);
    varied.extend(fewer.map(|count| Lanes { count, ..varied[0] }).collect::<Vec<Lanes>>());
    let mut best: Option<(Time, Lanes, Schedule)> = None;
    for given in search.fastest(varied, true)?.into_iter().take(MOST_JUDGED) {
        let schedule = lanes(problem, &nodes, given).map_err(NoTree::failed)?;
        let timeline = simulate(&schedule, problem.stated_costs(), Sends::Synchronous);
        let time = timeline.map_err(|error| wanted.unsimulated(error))?.completion_time();
        if best.as_ref().is_none_or(|(least, ..)| time < *least) {
            best = Some((time, given, schedule));
        }
    }
    let (_, lanes, schedule) = best.expect("one delay was tried");
    let (delay, pieces) = match lanes.between {
        Circulation::BalancedPostal(delay) => (Some(delay), None),
        Circulation::BalancedPieces(pieces) => (None, Some(pieces)),
        _ => (None, None),
    };
    Ok(Built { delay, pieces, ..Built::without_search(schedule) })
}

/// Number of the fastest parameters that are tried with other shares, too.
const MOST_VARIED: usize = 2;

/// Search among parameters.
struct LanesSearch<'a> {
    request: &'a Request<'a>,
    wanted: Wanted,
    nodes: &'a [Vec<Rank>],
    /// Its estimated duration.
    seconds: f64,
}

impl LanesSearch<'_> {
    /// Lanes in the order of their planned times, in which data is `passed` on or not; fewer, if there is no time for all.
    fn fastest(&mut self, all: Vec<Lanes>, passed: bool) -> Result<Vec<Lanes>, NoTree> {
        let LanesSearch { request, wanted, nodes, .. } = *self;
        let mut tried: Vec<(Time, Lanes)> = Vec::new();
        for given in all {
            let expense = rootless::expense(wanted, self.messages(given, passed), 2);
            self.seconds += expense.seconds;
            let most = if wanted.effort == Effort::Any { MOST_SECONDS_NAMED } else { MOST_SECONDS };
            let is_late = self.seconds > most;
            if is_late && !tried.is_empty() {
                continue;
            }
            expense.check(wanted.effort, request.watch, |_| String::new())?;
            let time = lanes_time(request.problem, nodes, (given, passed));
            tried.push((time.map_err(NoTree::failed)?, given));
        }
        tried.sort_by_key(|&(time, _)| time);
        Ok(tried.into_iter().map(|(_, lanes)| lanes).collect())
    }

    /// Approximate number of messages.
    fn messages(&self, lanes: Lanes, passed: bool) -> u64 {
        let nodes = self.nodes.len();
        let mates = self.request.problem.ranks() / nodes;
        let rounds = match lanes.between {
            Circulation::BalancedPostal(delay) => nodes.ilog2() as usize + delay.min(nodes),
            Circulation::BalancedPieces(pieces) => nodes.ilog2() as usize + pieces,
            _ => nodes,
        };
        let passes = if lanes.is_whole { mates } else { mates * rounds };
        (lanes.count * nodes * (rounds + if passed { passes } else { 0 })) as u64
    }
}

/// Number of parameters of least planned times that the judge compares.
const MOST_JUDGED: usize = 2;

/// Estimated seconds of trying parameters if the construction was asked for by name.
const MOST_SECONDS_NAMED: f64 = 10.0 * MOST_SECONDS;

/// Estimated seconds of trying parameters if it was not.
const MOST_SECONDS: f64 = 0.5;
