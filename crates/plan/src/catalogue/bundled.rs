//! Alltoalls in which small messages go together and large ones straight: the search for radix and threshold.

use super::rootless::{
    MANY, SEARCH_SECONDS, busy, expense, many_blocks, may_share_wires, messages_of_all_pairs,
    messages_of_few_rounds, on_wires, seconds_of, sketched,
};
use crate::error::NoTree;
use crate::expense::{Effort, Expense};
use crate::request::{Built, Request, Wanted};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use tuwtree_bounds::direct_lower_bound;
use tuwtree_collective::alltoall::{self, BruckSketch};
use tuwtree_model::{CostModel, MessageSizes, Problem, Rank, Time};
use tuwtree_schedule::Schedule;

/// The fastest of Bruck's alltoalls in some radices, with all messages together or those above some threshold
/// straight; of equally fast ones that without threshold, or with the largest, in the least radix.
pub(super) fn in_radix(request: &Request<'_>, wanted: Wanted) -> Result<Built, NoTree> {
    let problem = request.problem;
    let by_distance = problem.messages().map_or(Vec::new(), by_distance);
    let mut radices: Vec<usize> = radices(problem.ranks()).collect();
    let (best, beaten, tried) = (None, None, Vec::new());
    let mut search =
        BundleSearch { request, wanted, by_distance, seconds: 0.0, best, beaten, tried };
    // The most promising first: others need not be examined.
    let expected: BTreeMap<usize, f64> =
        radices.iter().map(|&radix| (radix, search.expected(radix))).collect();
    radices.sort_by(|one, other| expected[one].total_cmp(&expected[other]));
    let thresholds = problem.messages().map_or(Vec::new(), thresholds);
    for &radix in &radices {
        search.attempt(radix, None)?;
    }
    if let (None, Some(reason)) = (&search.best, search.beaten.take()) {
        return Err(NoTree::Skipped(reason));
    }
    if search.best.is_none() {
        let most_promising = expense_in(problem, wanted, radices[0]);
        most_promising.check(wanted.effort, request.watch, |_| String::new())?;
    }
    for &threshold in &thresholds {
        search.attempt(2, Some(threshold))?;
    }
    // One parameter after the other, until neither gains.
    loop {
        let before = search.parameters();
        for &radix in &radices {
            search.attempt(radix, before.1)?;
        }
        let radix = search.parameters().0;
        for &threshold in &thresholds {
            search.attempt(radix, Some(threshold))?;
        }
        if search.parameters() == before {
            break;
        }
    }
    let BestBundle { radix, threshold, sketch, time } = search.best.expect("a radix was tried");
    let most = threshold.unwrap_or(u64::MAX);
    let list = move |problem: &Problem| alltoall::bruck_up_to(problem, radix, most);
    let built = sketched(problem, (&sketch, time), list);
    Ok(Built { radix: Some(radix), threshold, ..built })
}

/// Bruck's alltoall of radix 2.
pub(super) fn in_radix_2(request: &Request<'_>, wanted: Wanted) -> Result<Built, NoTree> {
    let problem = request.problem;
    expense_in(problem, wanted, 2).check(wanted.effort, request.watch, |_| String::new())?;
    let sketch = BruckSketch::new(problem, 2, u64::MAX).and_then(|sketch| sketch.schedule());
    let sketch = sketch.map_err(NoTree::failed)?;
    let time = wanted.time_of(&sketch, problem)?;
    Ok(sketched(problem, (&sketch, time), |problem| alltoall::bruck(problem, 2)))
}

/// Expense of all messages together in a radix: memory of the schedule, and time of its sketch.
fn expense_in(problem: &Problem, wanted: Wanted, radix: usize) -> Expense {
    let bundles = bundles_in(problem, radix);
    let pieces = (problem.ranks() / radix) as u64;
    let seconds = seconds_in(problem, radix);
    Expense { seconds, limit_seconds: SEARCH_SECONDS, ..expense(wanted, bundles, pieces) }
}

/// Estimated seconds of the sketch of all messages together in a radix.
fn seconds_in(problem: &Problem, radix: usize) -> f64 {
    let additions = messages_of_all_pairs(problem).saturating_mul(problem.ranks().ilog2().into());
    seconds_of(bundles_in(problem, radix), 1) + additions as f64 * SECONDS_AN_ADDITION
}

/// Messages of all ranks in a radix, about.
fn bundles_in(problem: &Problem, radix: usize) -> u64 {
    messages_of_few_rounds(problem).saturating_mul(radix as u64 / 2)
}

/// Approximate time of adding a message to a bundle.
const SECONDS_AN_ADDITION: f64 = 2e-9;

/// All small ones from 2 on, then each about half as large again as the one before.
pub(super) fn radices(p: usize) -> impl Iterator<Item = usize> {
    let larger = std::iter::successors(Some(9), |&radix: &usize| Some(radix + radix / 2));
    (2..9).chain(larger).take_while(move |&radix| radix <= p.max(2))
}

/// Lower bound on the time of messages that go straight, in an alltoall of more ranks than `least_ranks`.
pub(super) fn floor_of_direct(problem: &Problem, least_ranks: usize) -> Option<Time> {
    direct_lower_bound(problem).filter(|_| problem.ranks() > least_ranks)?.ok()
}

/// Lower bound on the time of `pairwise` among many ranks: the sum of the exchanges of the rank with the most bytes, or the largest
/// block; or the longest time of a wire that the ranks of a node share. Empty messages do not wait; with such, the bound on straight
/// messages.
pub(super) fn floor_of_pairwise(problem: &Problem) -> Option<Time> {
    if let Some(sizes) = many_blocks(problem) {
        let rank = (0..sizes.ranks()).max_by_key(|&rank| sizes.block(rank))?;
        let others = (0..sizes.ranks()).filter(|&other| other != rank && sizes.block(other) > 0);
        let all = others.map(|other| exchange(problem, (rank, other), sizes.block(other)));
        let exchanged = Time::new(all.sum::<Option<f64>>()?)?;
        let wires = on_wires(problem, sizes);
        return Some(wires.map_or(exchanged, |wires| exchanged.later(wires)));
    }
    let sizes = problem.messages().filter(|sizes| sizes.ranks() > MANY)?;
    let p = sizes.ranks();
    let rank = (0..p).max_by_key(|&rank| sizes.row(rank))?;
    let with = |other: Rank| {
        let is_exchange = sizes.message(rank, other) > 0 && sizes.message(other, rank) > 0;
        let time = || exchange(problem, (rank, other), sizes.message(rank, other));
        is_exchange.then(time).flatten()
    };
    let all = (0..p).filter(|&other| other != rank).map(with).sum::<Option<f64>>();
    all.and_then(Time::new).or_else(|| floor_of_direct(problem, MANY))
}

/// With more ranks, the search for a radix takes seconds.
pub(super) const SOME: usize = 256;

/// Rounds of Bruck's algorithm in a radix: the place of the digit, how far messages go, and the distances of these messages.
fn hops(
    p: usize,
    radix: usize,
) -> impl Iterator<Item = (usize, usize, impl Iterator<Item = usize>)> {
    let widths = std::iter::successors(Some(1_usize), move |width| width.checked_mul(radix));
    let hops = widths.take_while(move |&width| width < p);
    let hops = hops.flat_map(move |width| (1..radix).map(move |digit| (width, width * digit)));
    hops.filter(move |&(_, length)| length < p).map(move |(width, length)| {
        let firsts = (length..p).step_by(width.saturating_mul(radix));
        (width, length, firsts.flat_map(move |first| first..p.min(first + width)))
    })
}

/// Time of a message of an exchange, latency included.
fn exchange(problem: &Problem, (from, to): (Rank, Rank), bytes: u64) -> Option<f64> {
    let costs = problem.stated_costs();
    let exchanged = costs.exchange_between(from, to, bytes).ok()?;
    let latency = costs.latency_between(from, to, bytes).ok()?;
    Some(latency.units() + exchanged.units())
}

/// Lower bound on the times of Bruck's algorithm in these radices, in an alltoall of many ranks: the rank with the most bytes
/// is busy with its own messages and with those that it passes on, and the shared wire of the node with the most bytes with
/// the messages of its ranks to other nodes.
///
/// A message over the distance `d` is at the rank before its hop of the places `w`, `R w`, ... if it has come `d mod w` so far.
///
/// # Complexity
/// O(p log p) for each radix and rank of the node.
pub(super) fn floor_of_relay(
    problem: &Problem,
    radices: impl IntoIterator<Item = usize>,
) -> Option<Time> {
    let sizes = problem.messages().filter(|sizes| sizes.ranks() > MANY)?;
    let p = sizes.ranks();
    let rank = (0..p).max_by_key(|&rank| sizes.row(rank))?;
    let mut nodes = BTreeMap::<usize, Vec<Rank>>::new();
    if let Some(machine) = problem.costs().hierarchy().filter(|_| may_share_wires(problem)) {
        (0..p).for_each(|rank| nodes.entry(machine.node(rank)).or_default().push(rank));
    }
    let sent = |ranks: &Vec<Rank>| -> u64 { ranks.iter().map(|&rank| sizes.row(rank)).sum() };
    let mates = nodes.into_values().max_by_key(sent).unwrap_or_default();
    let in_radix = |radix| {
        let (mut sending, mut leaving) = (0.0, 0.0);
        for (width, length, distances) in hops(p, radix) {
            let distances: Vec<usize> = distances.collect();
            let passed = |rank: Rank| -> u64 {
                let of = |&distance: &usize| {
                    let from = (rank + p - distance % width) % p;
                    sizes.message(from, (from + distance) % p)
                };
                distances.iter().map(of).sum()
            };
            let bytes = passed(rank);
            if bytes > 0 {
                sending += busy(problem, rank, bytes)?;
            }
            for &mate in &mates {
                let to = (mate + length) % p;
                let wires = problem.stated_costs().shared_wires(mate, to, passed(mate)).ok()?;
                leaving += wires.map_or(0.0, |wires| wires.time.units());
            }
        }
        Some(f64::max(sending, leaving))
    };
    let all = radices.into_iter().map(in_radix).collect::<Option<Vec<f64>>>()?;
    Time::new(all.into_iter().fold(f64::INFINITY, f64::min))
}

/// Lower bound on the times of Bruck's algorithm in all radices that are tried, in an alltoall; none where thresholds are
/// tried, too.
pub(super) fn floor_of_search(problem: &Problem) -> Option<Time> {
    // Radix 2 is `bruck`.
    let others = radices(problem.ranks()).skip(1);
    let tried = others.filter(|&radix| seconds_in(problem, radix) <= SEARCH_SECONDS);
    if tries_thresholds(problem) { None } else { floor_of_relay(problem, tried) }
}

/// True if there is time for thresholds.
fn tries_thresholds(problem: &Problem) -> bool {
    seconds_of(messages_of_all_pairs(problem), 1) < SEARCH_SECONDS
}

/// Sums of the messages over each distance, from 0 to `p - 1` ranks upwards.
fn by_distance(sizes: &MessageSizes) -> Vec<f64> {
    let p = sizes.ranks();
    let mut sums = vec![0.0; p];
    for from in 0..p {
        for (distance, sum) in sums.iter_mut().enumerate() {
            *sum += sizes.message(from, (from + distance) % p) as f64;
        }
    }
    sums
}

/// Powers of two that separate the messages, the largest first; among equivalent ones the largest.
fn thresholds(sizes: &MessageSizes) -> Vec<u64> {
    let p = sizes.ranks();
    let others = |from: usize| (0..p).filter(move |&to| to != from);
    let messages = (0..p).flat_map(|from| others(from).map(move |to| sizes.message(from, to)));
    let messages: Vec<u64> = messages.filter(|&bytes| bytes > 0).collect();
    let (least, most) = (messages.iter().min(), messages.iter().max());
    let (Some(&least), Some(&most)) = (least, most) else { return Vec::new() };
    // How many messages have a size of so many binary digits, above a power of two.
    let mut counts = [0_usize; 65];
    for bytes in messages {
        counts[(bytes - 1).checked_ilog2().map_or(0, |digit| digit as usize + 1)] += 1;
    }
    let powers = (0..64).rev().map(|digit| (digit, 1_u64 << digit));
    let parting =
        powers.filter(|&(digit, power)| (least..most).contains(&power) && counts[digit + 1] > 0);
    parting.map(|(_, power)| power).collect()
}

/// Candidates tried so far.
struct BundleSearch<'a> {
    request: &'a Request<'a>,
    wanted: Wanted,
    /// Sums of the messages over each distance.
    by_distance: Vec<f64>,
    /// Its estimated duration.
    seconds: f64,
    best: Option<BestBundle>,
    /// Reason for the last radix to be left out that takes longer than other constructions.
    beaten: Option<String>,
    tried: Vec<(usize, Option<u64>)>,
}

struct BestBundle {
    time: Time,
    radix: usize,
    threshold: Option<u64>,
    sketch: Schedule,
}

impl BundleSearch<'_> {
    fn parameters(&self) -> (usize, Option<u64>) {
        let best = self.best.as_ref().expect("a radix was tried");
        (best.radix, best.threshold)
    }

    /// True if a radix takes at least this floor, longer than another construction, and no thresholds are tried, which could
    /// gain on it.
    fn is_beaten(&mut self, floor: impl FnOnce() -> Option<Time>) -> bool {
        if tries_thresholds(self.request.problem) {
            return false;
        }
        let reason = self.request.beaten(self.wanted, floor());
        let is_beaten = reason.is_some();
        self.beaten = reason.or(self.beaten.take());
        is_beaten
    }

    /// Approximate time of all messages together in a radix: of rounds in which each rank sends as much as the mean does.
    fn expected(&self, radix: usize) -> f64 {
        let (problem, p) = (self.request.problem, self.request.problem.ranks());
        let rounds = hops(p, radix).map(|(_, length, distances)| {
            let bytes: f64 = distances.map(|distance| self.by_distance[distance]).sum();
            exchange(problem, (0, length), (bytes / p as f64) as u64)
        });
        rounds.sum::<Option<f64>>().unwrap_or(f64::INFINITY)
    }

    /// Tries a radix and a threshold, once, if there is time for it.
    fn attempt(&mut self, radix: usize, threshold: Option<u64>) -> Result<(), NoTree> {
        let (Request { problem, watch, .. }, wanted) = (self.request, self.wanted);
        if self.tried.contains(&(radix, threshold)) {
            return Ok(());
        }
        self.tried.push((radix, threshold));
        let bundled = expense_in(problem, wanted, radix);
        let mut seconds = self.seconds + bundled.seconds;
        if threshold.is_some() {
            seconds += seconds_of(messages_of_all_pairs(problem), 1);
        }
        if wanted.effort != Effort::Any && seconds > SEARCH_SECONDS {
            return Ok(());
        }
        self.seconds = seconds;
        bundled.check(wanted.effort, *watch, |_| String::new())?;
        let most = threshold.unwrap_or(u64::MAX);
        if self.is_beaten(|| floor_of_relay(problem, [radix])) {
            return Ok(());
        }
        let sketch = BruckSketch::new(problem, radix, most).map_err(NoTree::failed)?;
        let floor = sketch.least_time().map_err(|error| wanted.untimed(error))?;
        let is_slower = self.best.as_ref().is_some_and(|best| floor > best.time);
        if is_slower || self.is_beaten(|| Some(floor)) {
            return Ok(());
        }
        let sketch = sketch.schedule().map_err(NoTree::failed)?;
        let time = wanted.time_of(&sketch, problem)?;
        let rank = |time, threshold: Option<u64>, radix| (time, threshold.map(Reverse), radix);
        let is_best = |best: &BestBundle| {
            rank(time, threshold, radix) < rank(best.time, best.threshold, best.radix)
        };
        if self.best.as_ref().is_none_or(is_best) {
            self.best = Some(BestBundle { time, radix, threshold, sketch });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{delays, nodes, rootless};
    use super::*;
    use crate::request::Settings;
    use tuwtree_bounds::best_lower_bound;
    use tuwtree_collective::broadcast::{Gathering, scatter_allgather};
    use tuwtree_collective::{CollectiveError, allreduce, reduce};
    use tuwtree_model::document::{Date, Machine};
    use tuwtree_model::{
        BlockSizes, Construction, Costs, Hierarchy, Homogeneous, Level, Network, Operation, Piece,
        PiecewiseLinear, Placement, StatedCosts, Vector, WireOwner,
    };
    use tuwtree_schedule::{Sends, simulate};

    #[test]
    fn radices_in_which_latencies_alone_take_longer_than_another_plan_are_left_out() {
        let ranks = 3500;
        let sizes = MessageSizes::new(std::iter::repeat_n(1, ranks * ranks)).unwrap();
        let costs = Homogeneous::new(1000.0, 0.0, 0.0).unwrap().with_overhead(1.0).unwrap();
        let problem = Problem::alltoall(&sizes, costs).unwrap();
        assert!(!tries_thresholds(&problem));
        let construction = Construction::BruckRadix;
        let wanted = Wanted { construction, search: None, effort: Effort::Quick };
        let request = Request::new(&problem, Settings::default(), &());
        for (time, is_left_out) in [(1000.0, true), (1e6, false)] {
            let rival = Some((Time::new(time).unwrap(), Construction::Linear));
            let request = Request { rival, ..request.clone() };
            let radix = radices(ranks).find(|&radix| seconds_in(&problem, radix) < SEARCH_SECONDS);
            assert!(request.beaten(wanted, floor_of_relay(&problem, radix)).is_none());
            let (best, beaten, tried) = (None, None, Vec::new());
            let by_distance = by_distance(&sizes);
            let mut search = BundleSearch {
                request: &request,
                wanted,
                by_distance,
                seconds: 0.0,
                best,
                beaten,
                tried,
            };
            search.attempt(radix.unwrap(), None).unwrap();
            assert_eq!(
                (search.beaten.is_some(), search.best.is_none()),
                (is_left_out, is_left_out)
            );
        }
    }

    #[test]
    fn messages_of_many_ranks_that_go_straight_take_no_less_than_the_wires_of_nodes() {
        let links = |alpha| {
            let piece = Piece { from_bytes: 0, alpha, overhead: 1.0, beta: 1.0 };
            PiecewiseLinear::new(vec![piece]).unwrap().into()
        };
        let levels = [("node", 8, 3.0), ("network", 200, 30.0)].map(|(name, members, alpha)| {
            Level { name: name.into(), members, links: links(alpha) }
        });
        let machine = Machine {
            name: "nodes of 8".into(),
            date: Date::parse("2026-11-28").unwrap(),
            provenance: "stated".into(),
            costs: Costs::Hierarchical(
                Hierarchy::new(levels.into(), Placement::Block, 0.0).unwrap(),
            ),
            network: Network { wire: WireOwner::Node, ..Network::default() },
            combine_per_byte: 0.0,
        };
        let sizes = MessageSizes::new(std::iter::repeat_n(30, (MANY + 3) * (MANY + 3))).unwrap();
        let problem = Problem::alltoall(&sizes, machine.clone()).unwrap();
        for radix in [2, 7] {
            let schedule = alltoall::bruck(&problem, radix).unwrap();
            let timeline = simulate(&schedule, problem.stated_costs(), Sends::Eager).unwrap();
            let floor = floor_of_relay(&problem, [radix]).unwrap().units();
            let time = timeline.completion_time().units();
            assert!(floor <= time && time < 1.5 * floor, "{radix}: {floor}, {time}");
        }
        let blocks = BlockSizes::new((0..MANY as u64 + 3).map(|rank| 30 + rank % 8)).unwrap();
        let problem = Problem::allgather(&blocks, machine.clone()).unwrap();
        let schedule = tuwtree_collective::straight::allgather(&problem).unwrap();
        let timeline = simulate(&schedule, problem.stated_costs(), Sends::Eager).unwrap();
        let floor = rootless::floor_of_linear(&problem).unwrap().units();
        let time = timeline.completion_time().units();
        assert!(floor <= time && time < 1.3 * floor, "{floor}, {time}");
        let combined = Problem::reduce_scatter(&blocks, machine.clone()).unwrap();
        let schedule = tuwtree_collective::reduce_scatter::pairwise(&combined).unwrap();
        let timeline = simulate(&schedule, combined.stated_costs(), Sends::Eager).unwrap();
        let floor = floor_of_pairwise(&combined).unwrap().units();
        let time = timeline.completion_time().units();
        assert!(floor <= time && time < 1.3 * floor, "{floor}, {time}");
        let of_node = |node: usize| (8 * node..(8 * node + 8).min(MANY + 3)).collect();
        let nodes: Vec<Vec<Rank>> = (0..(MANY + 3).div_ceil(8)).map(of_node).collect();
        let schedule = tuwtree_collective::nodes::node_all(&problem, &nodes).unwrap();
        let timeline = simulate(&schedule, problem.stated_costs(), Sends::Eager).unwrap();
        let floor = nodes::floor_of_node_all(&problem).unwrap().units();
        let time = timeline.completion_time().units();
        assert!(floor <= time && time < 2.5 * floor, "{floor}, {time}");
        type Windows = fn(&Problem, usize) -> Result<Schedule, CollectiveError>;
        let orders: [Windows; 2] =
            [tuwtree_collective::bruck_postal, tuwtree_collective::bruck_balanced];
        for (is_balanced, windows) in [false, true].into_iter().zip(orders) {
            for delay in [1, 2, 3, 16] {
                let floor = delays::floor_of_windows(&problem, delay, is_balanced);
                let floor = floor.unwrap().units();
                let schedule = windows(&problem, delay).unwrap();
                let timeline = simulate(&schedule, problem.stated_costs(), Sends::Eager).unwrap();
                let time = timeline.completion_time().units();
                assert!(floor <= time && time < 1.3 * floor, "{delay}: {floor}, {time}");
            }
        }
        let sizes = MessageSizes::new(std::iter::repeat_n(30, 64 * 64)).unwrap();
        let problem = Problem::alltoall(&sizes, machine).unwrap();
        let schedule = alltoall::linear(&problem).unwrap();
        let timeline = simulate(&schedule, problem.stated_costs(), Sends::Eager).unwrap();
        let bound = direct_lower_bound(&problem).unwrap().unwrap();
        let time = timeline.completion_time().units();
        assert!(bound >= best_lower_bound(&problem).unwrap());
        assert!(bound.units() <= time && time < 1.3 * bound.units(), "{bound:?}, {time}");
    }

    #[test]
    fn pieces_of_vectors_of_many_ranks_take_no_less_than_is_known_beforehand() {
        let costs = Homogeneous::new(10.0, 1.0, 0.0).unwrap().with_overhead(8.0).unwrap();
        // Broadcasts have 1,000 full pieces, 833 and a shorter one, and 900 of a byte.
        for bytes in [3_000, 2_500, 900] {
            let vector = Vector { ranks: MANY + 3, bytes };
            let check = |operation, build: fn(&Problem) -> Result<Schedule, CollectiveError>| {
                let problem = Problem::new(operation, vector, costs).unwrap();
                let schedule = build(&problem).unwrap();
                let timeline = simulate(&schedule, &costs, Sends::Synchronous).unwrap();
                let time = timeline.completion_time().units();
                let floor = rootless::floor_of_pieces(&problem).map_or(0.0, Time::units);
                assert!(floor <= time, "{operation:?} of {bytes}: {floor}, {time}");
                assert!(bytes < 1000 || time < 2.5 * floor, "{operation:?}: {floor}, {time}");
            };
            check(Operation::Broadcast, |problem| scatter_allgather(problem, Gathering::Ring));
            check(Operation::Reduce, reduce::ring);
            check(Operation::Allreduce, allreduce::ring);
        }
    }

    #[test]
    fn schedules_of_many_ranks_take_no_less_than_is_known_beforehand() {
        let level = |(name, members, alpha): (&str, usize, f64)| {
            let piece = Piece { from_bytes: 0, alpha, overhead: 1.0, beta: 0.5 };
            let links = PiecewiseLinear::new(vec![piece]).unwrap().into();
            Level { name: name.to_owned(), members, links }
        };
        let levels = [("node", 5, 3.0), ("network", 300, 30.0)].map(level);
        let on_nodes = Hierarchy::new(levels.into(), Placement::Block, 0.0).unwrap();
        let flat = Homogeneous::new(10.0, 1.0, 0.0).unwrap();
        let p = MANY + 3;
        let sizes = MessageSizes::new(std::iter::repeat_n(3, p * p)).unwrap();
        for costs in [
            StatedCosts::from(Costs::Hierarchical(on_nodes)),
            flat.with_exchange(14.0, 2.0).unwrap().into(),
        ] {
            let blocks = BlockSizes::new((0..p as u64).map(|rank| 3 + rank % 2)).unwrap();
            let gathered = Problem::allgather(&blocks, costs.clone()).unwrap();
            let ring = tuwtree_collective::ring(&gathered);
            let in_chunks = tuwtree_collective::ring_in_chunks(&gathered, 2);
            let empty = BlockSizes::new(std::iter::repeat_n(0, p)).unwrap();
            let nothing = Problem::allgather(&empty, costs.clone()).unwrap();
            assert_eq!(rootless::floor_of_ring(&nothing, u64::MAX), Some(Time::ZERO));
            let problem = Problem::alltoall(&sizes, costs).unwrap();
            let all = [
                (rootless::floor_of_ring(&gathered, u64::MAX), ring),
                (rootless::floor_of_ring(&gathered, 2), in_chunks),
                (floor_of_direct(&problem, MANY), alltoall::linear(&problem)),
                (floor_of_pairwise(&problem), alltoall::pairwise(&problem)),
                (floor_of_relay(&problem, [2]), alltoall::bruck(&problem, 2)),
                (floor_of_relay(&problem, [40, 7]), alltoall::bruck(&problem, 7)),
            ];
            for (number, (floor, schedule)) in all.into_iter().enumerate() {
                let costs = problem.stated_costs();
                let timeline = simulate(&schedule.unwrap(), costs, Sends::Synchronous).unwrap();
                let (floor, time) = (floor.unwrap().units(), timeline.completion_time().units());
                assert!(floor <= time * (1.0 + 1e-9), "{number}: {floor}, {time}");
                // Senders wait for receivers in a ring, and no latency counts in a relay.
                let most = [4.0, 8.0, 1.6, 1.6, 4.0, 4.0][number];
                assert!(time < most * floor, "{number}: {floor}, {time}");
            }
        }
    }
}
