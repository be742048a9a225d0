//! Bruck's allgathers whose windows of blocks grow with a delay.

use super::rootless::{
    MANY, SEARCH_SECONDS, expense, longest_on_wires, many_blocks, messages_of_few_rounds,
    seconds_of, sketched,
};
use crate::error::NoTree;
use crate::expense::Effort;
use crate::request::{Built, Request, Wanted};
use rayon::prelude::*;
use std::cmp::Reverse;
use tuwtree_collective::postal_messages;
use tuwtree_model::{Construction, Problem, Time};
use tuwtree_schedule::Schedule;

/// For how long a wire that the ranks of a node share is busy at least with the windows of many ranks' blocks.
pub(super) fn floor_of_windows(problem: &Problem, delay: usize, is_balanced: bool) -> Option<Time> {
    let sizes = many_blocks(problem)?;
    let machine = problem.costs().hierarchy()?;
    let mut sent = vec![0.0; machine.nodes_of(sizes.ranks())];
    for (from, to, bytes) in postal_messages(sizes, delay, is_balanced) {
        let node = machine.node(from);
        if machine.node(to) != node {
            sent[node] += bytes as f64;
        }
    }
    longest_on_wires(problem, sizes, sizes.total(), sent)
}

/// Least of [`floor_of_windows`] over all delays.
pub(super) fn floor_of_delays(problem: &Problem, is_balanced: bool) -> Option<Time> {
    delays(problem.ranks()).filter_map(|delay| floor_of_windows(problem, delay, is_balanced)).min()
}

/// The fastest of Bruck's allgathers with some delays, of equally fast ones that of the least delay.
pub(super) fn with_delay(request: &Request<'_>, wanted: Wanted) -> Result<Built, NoTree> {
    let problem = request.problem;
    let p = problem.ranks();
    let rounds = u64::from(p.next_power_of_two().ilog2()).max(1);
    let is_balanced = wanted.construction == Construction::BruckBalanced;
    let (list, pieces): (fn(&Problem, usize) -> Result<_, _>, u64) = match is_balanced {
        true => (tuwtree_collective::bruck_balanced, (p as u64).div_ceil(rounds)),
        false => (tuwtree_collective::bruck_postal, 2),
    };
    let mut best: Option<(Time, usize, Schedule)> = None;
    let mut seconds = 0.0;
    // With more steps than there are, each rank sends its own block to all.
    let floor = |delay| (floor_of_windows(problem, delay, is_balanced), delay);
    let mut delays: Vec<(Option<Time>, usize)> = delays(p).map(floor).collect();
    // The least bytes on a wire come first, then powers of two, as there may be no time for all.
    delays.sort_by_key(|&(floor, delay)| (floor, !delay.is_power_of_two(), Reverse(delay)));
    let sketched_with = |delay: usize| {
        let sketch = tuwtree_collective::sketch_of_postal(problem, delay, is_balanced);
        let sketch = sketch.map_err(NoTree::failed)?;
        Ok((wanted.time_of(&sketch, problem)?, delay, sketch))
    };
    let mut delays = delays.into_iter();
    loop {
        // Two at once, whatever the number of threads.
        let mut pair = Vec::new();
        for (floor, delay) in delays.by_ref() {
            let is_beaten = |&(least, ..): &(Time, usize, Schedule)| Some(least) < floor;
            // Among many ranks, halfway between the best power of two and the next ones.
            let is_far = |&(_, best, _): &(Time, usize, Schedule)| {
                ![3 * best, 6 * best].contains(&(4 * delay))
            };
            let is_hopeless =
                p > MANY && !delay.is_power_of_two() && best.as_ref().is_some_and(is_far);
            if is_hopeless || best.as_ref().is_some_and(is_beaten) {
                continue;
            }
            let messages = messages_of_few_rounds(problem).saturating_mul(delay.ilog2() as u64 + 1);
            seconds += seconds_of(messages, 1);
            let is_late = wanted.effort != Effort::Any && seconds > SEARCH_SECONDS;
            if is_late && (best.is_some() || !pair.is_empty()) {
                break;
            }
            let expense = expense(wanted, messages, pieces);
            expense.check(wanted.effort, request.watch, |_| String::new())?;
            pair.push(delay);
            if pair.len() == 2 {
                break;
            }
        }
        if pair.is_empty() {
            break;
        }
        let timed: Vec<Result<_, NoTree>> = pair.into_par_iter().map(sketched_with).collect();
        for one in timed {
            let (time, delay, sketch) = one?;
            if best.as_ref().is_none_or(|&(least, known, _)| (time, delay) < (least, known)) {
                best = Some((time, delay, sketch));
            }
        }
    }
    let (time, delay, sketch) = best.expect("one delay was tried");
    let built = sketched(problem, (&sketch, time), move |problem| list(problem, delay));
    Ok(Built { delay: Some(delay), ..built })
}

/// Delays that are worth a try among this many ranks, up to twice a latency of 32 overheads.
fn delays(ranks: usize) -> impl Iterator<Item = usize> {
    (1..=16).chain([24, 32, 48, 64]).take_while(move |&delay| delay <= ranks)
}
