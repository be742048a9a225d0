//! Alltoalls in which small messages go together and large ones straight: the search for radix and threshold.

use super::rootless::{SEARCH_SECONDS, expense, messages_of_all_pairs, messages_of_few_rounds};
use crate::error::NoTree;
use crate::expense::Effort;
use crate::request::{Built, Request, Wanted};
use tuwtree_collective::alltoall;
use tuwtree_model::{MessageSizes, Time};
use tuwtree_schedule::{Schedule, Sends, simulate};

/// The fastest of Bruck's alltoalls in some radices, with all messages together or those above some threshold
/// straight; of equally fast ones that which is tried first: without threshold, in the least radix.
pub(super) fn in_radix(request: &Request<'_>, wanted: Wanted) -> Result<Built, NoTree> {
    let problem = request.problem;
    let mut search = BundleSearch { request, wanted, seconds: 0.0, best: None, tried: Vec::new() };
    search.attempt(2, None)?;
    let radices = radices(problem.ranks());
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

    /// Tries a radix and a threshold, once, if there is time for it.
    fn attempt(&mut self, radix: usize, threshold: Option<u64>) -> Result<(), NoTree> {
        let (Request { problem, watch, .. }, wanted) = (self.request, self.wanted);
        if self.tried.contains(&(radix, threshold)) {
            return Ok(());
        }
        self.tried.push((radix, threshold));
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
        if self.best.as_ref().is_none_or(|best| time < best.time) {
            self.best = Some(BestBundle { time, radix, threshold, schedule });
        }
        Ok(())
    }
}
