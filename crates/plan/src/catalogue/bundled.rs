//! Alltoalls in which small messages go together and large ones straight: the search for radix and threshold.

use super::rootless::{SEARCH_SECONDS, expense, messages_of_all_pairs, messages_of_few_rounds};
use crate::error::NoTree;
use crate::expense::Effort;
use crate::request::{Built, Request, Wanted};
use std::cmp::Reverse;
use tuwtree_collective::alltoall;
use tuwtree_model::{Homogeneous, MessageSizes, Time};
use tuwtree_schedule::{Schedule, Sends, simulate};

/// The fastest of Bruck's alltoalls in some radices, with all messages together or those above some threshold
/// straight; of equally fast ones that without threshold, or with the largest, in the least radix.
pub(super) fn in_radix(request: &Request<'_>, wanted: Wanted) -> Result<Built, NoTree> {
    let problem = request.problem;
    let by_distance = problem.messages().map_or(Vec::new(), by_distance);
    let mut search =
        BundleSearch { request, wanted, by_distance, seconds: 0.0, best: None, tried: Vec::new() };
    search.attempt(2, None)?;
    let mut radices = radices(problem.ranks());
    // The most promising first: others need not be built.
    radices.sort_by(|&one, &other| search.least(one).total_cmp(&search.least(other)));
    let thresholds = problem.messages().map_or(Vec::new(), thresholds);
    for &radix in &radices {
        search.attempt(radix, None)?;
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
    let BestBundle { radix, threshold, schedule, .. } = search.best.expect("radix 2 was tried");
    Ok(Built { radix: Some(radix), threshold, ..Built::without_search(schedule) })
}

/// All small ones, then each about half as large again as the one before.
fn radices(p: usize) -> Vec<usize> {
    let larger = std::iter::successors(Some(9), |&radix: &usize| Some(radix + radix / 2));
    (2..9).chain(larger).take_while(|&radix| radix <= p.max(2)).collect()
}

/// Sums of the messages over each distance, from 0 to `p - 1` ranks upwards.
fn by_distance(sizes: &MessageSizes) -> Vec<f64> {
    let p = sizes.ranks();
    let over = |distance| (0..p).map(move |from| sizes.message(from, (from + distance) % p) as f64);
    (0..p).map(|distance| over(distance).sum()).collect()
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
    tried: Vec<(usize, Option<u64>)>,
}

struct BestBundle {
    time: Time,
    radix: usize,
    threshold: Option<u64>,
    schedule: Schedule,
}

impl BundleSearch<'_> {
    fn parameters(&self) -> (usize, Option<u64>) {
        let best = self.best.as_ref().expect("radix 2 was tried");
        (best.radix, best.threshold)
    }

    /// Time below which no alltoall in this radix is that sends all messages together: the mean of the ranks' times to
    /// send, as each message is sent once for each of its distance's digits other than 0. 0 where pairs pay differently.
    fn least(&self, radix: usize) -> f64 {
        let problem = self.request.problem;
        let Some(costs) = problem.costs().parameters().map(Homogeneous::cheapest) else {
            return 0.0;
        };
        let digits = |mut distance: usize| {
            let mut count = 0.0;
            while distance > 0 {
                count += f64::from(u8::from(!distance.is_multiple_of(radix)));
                distance /= radix;
            }
            count
        };
        let sent = self.by_distance.iter().enumerate();
        let bytes: f64 = sent.map(|(distance, bytes)| bytes * digits(distance)).sum();
        bytes * costs.beta() / (problem.ranks() as f64 * f64::from(problem.ports().get()))
    }

    /// Tries a radix and a threshold, once, if there is time for it.
    fn attempt(&mut self, radix: usize, threshold: Option<u64>) -> Result<(), NoTree> {
        let (Request { problem, watch, .. }, wanted) = (self.request, self.wanted);
        if self.tried.contains(&(radix, threshold)) {
            return Ok(());
        }
        self.tried.push((radix, threshold));
        // Rounding is far below a millionth.
        let is_above = |best: &BestBundle| self.least(radix) > best.time.units() * (1.0 + 1e-6);
        if threshold.is_none() && self.best.as_ref().is_some_and(is_above) {
            return Ok(());
        }
        let bundles = messages_of_few_rounds(problem).saturating_mul(radix as u64 / 2);
        let bundled = expense(wanted, bundles, (problem.ranks() / radix) as u64);
        self.seconds += bundled.seconds;
        if threshold.is_some() {
            self.seconds += expense(wanted, messages_of_all_pairs(problem), 1).seconds;
        }
        if self.best.is_some() && wanted.effort != Effort::Any && self.seconds > SEARCH_SECONDS {
            return Ok(());
        }
        bundled.check(wanted.effort, *watch, |_| String::new())?;
        let most = threshold.unwrap_or(u64::MAX);
        let schedule = alltoall::bruck_up_to(problem, radix, most).map_err(NoTree::failed)?;
        let timeline = simulate(&schedule, problem.stated_costs(), Sends::Synchronous);
        let time = timeline.map_err(|error| wanted.unsimulated(error))?.completion_time();
        let rank = |time, threshold: Option<u64>, radix| (time, threshold.map(Reverse), radix);
        let is_best = |best: &BestBundle| {
            rank(time, threshold, radix) < rank(best.time, best.threshold, best.radix)
        };
        if self.best.as_ref().is_none_or(is_best) {
            self.best = Some(BestBundle { time, radix, threshold, schedule });
        }
        Ok(())
    }
}
