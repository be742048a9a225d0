//! Order of direct messages in an alltoall: an open shop, scheduled by remaining work.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use tuwtree_model::{CostModel, MessageSizes, Problem, Rank, Time, TimeError};

/// The messages of an alltoall, sender and receiver, in the order in which they begin: at each moment, of all pairs
/// of a rank that sends nothing and one that receives nothing, with a message between them, that where one of the
/// two has most to do; then most together, then the longest, then the one that goes the least distance `to - from`,
/// then that of the least sender.
///
/// # Errors
/// A time that cannot be stated.
///
/// # Complexity
/// O(p^2 w), where `w` ranks wait when a message ends, at most O(p^3); O(p^4) at worst, where at all times ranks
/// that have equally much to do wait for the same one.
pub(crate) fn order(
    problem: &Problem,
    sizes: &MessageSizes,
) -> Result<Vec<(Rank, Rank)>, TimeError> {
    Shop::new(problem, sizes)?.order(problem)
}

/// Work of ranks. A rank has two independent ends: end `rank` sends, end `p + rank` receives.
struct Shop {
    p: usize,
    /// `p * p` entries: the time of each message, `None` once it has begun, or if there is none.
    times: Vec<Option<Time>>,
    /// Remaining work of each end, in time units.
    work: Vec<f64>,
    /// Number of messages of each end that have not begun.
    left: Vec<usize>,
}

/// The ends that wait for a message.
struct Waiting {
    /// True for idle ends.
    is_idle: Vec<bool>,
    /// The idle ends with a message left: senders, and receivers.
    ends: [Vec<usize>; 2],
    /// The ends among them that have become idle since no message could begin.
    fresh: [Vec<usize>; 2],
    is_fresh: Vec<bool>,
}

/// A message that an end would begin with.
#[derive(Clone, Copy, Debug)]
struct Bid {
    end: usize,
    partner: usize,
    /// Remaining work of the busier end, of both, and the message's time, in time units.
    claim: [f64; 3],
    distance: usize,
    sender: Rank,
}

impl Bid {
    fn key(&self) -> (Reverse<usize>, Reverse<Rank>, usize) {
        (Reverse(self.distance), Reverse(self.sender), self.end)
    }
}

impl Ord for Bid {
    fn cmp(&self, other: &Bid) -> Ordering {
        let claims = self.claim.iter().zip(&other.claim);
        let claims = claims.map(|(one, other)| one.total_cmp(other));
        let first = claims.fold(Ordering::Equal, Ordering::then);
        first.then_with(|| self.key().cmp(&other.key()))
    }
}

impl PartialOrd for Bid {
    fn partial_cmp(&self, other: &Bid) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Bid {
    fn eq(&self, other: &Bid) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Bid {}

impl Shop {
    fn new(problem: &Problem, sizes: &MessageSizes) -> Result<Shop, TimeError> {
        let p = sizes.ranks();
        let (times, work, left) = (vec![None; p * p], vec![0.0; 2 * p], vec![0; 2 * p]);
        let mut shop = Shop { p, times, work, left };
        for from in 0..p {
            for to in (0..p).filter(|&to| to != from && sizes.message(from, to) > 0) {
                let bytes = sizes.message(from, to);
                let occupied = problem.costs().transmission_between(from, to, bytes)?;
                let latency = problem.costs().latency_between(from, to, bytes)?;
                let time = problem.costs().sum(occupied, latency)?;
                shop.times[from * p + to] = Some(time);
                for end in [from, p + to] {
                    shop.work[end] += time.units();
                    shop.left[end] += 1;
                }
            }
        }
        Ok(shop)
    }

    fn order(mut self, problem: &Problem) -> Result<Vec<(Rank, Rank)>, TimeError> {
        let mut order = Vec::with_capacity(self.times.iter().flatten().count());
        // Messages under way, the one that ends first on top.
        let mut under_way: BinaryHeap<Reverse<(Time, Rank, Rank)>> = BinaryHeap::new();
        let mut waiting = Waiting::new(self.p);
        let mut now = Time::ZERO;
        waiting.add((0..2 * self.p).filter(|&end| self.left[end] > 0));
        loop {
            for (from, to, time) in self.begin(&mut waiting) {
                under_way.push(Reverse((problem.costs().sum(now, time)?, from, to)));
                order.push((from, to));
            }
            let Some(&Reverse((end, ..))) = under_way.peek() else { return Ok(order) };
            now = end;
            while let Some(&Reverse((end, from, to))) = under_way.peek()
                && end == now
            {
                under_way.pop();
                waiting.add([from, self.p + to].into_iter().filter(|&end| self.left[end] > 0));
            }
        }
    }

    /// The messages that begin at this moment. Until the next ends, no pair that waits has another.
    fn begin(&mut self, waiting: &mut Waiting) -> Vec<(Rank, Rank, Time)> {
        let mut begun = Vec::new();
        // While two ends are idle, nothing of what decides on their message changes.
        let all = waiting.ends.iter().flatten();
        let mut bids: BinaryHeap<Bid> = all.filter_map(|&end| self.bid(end, waiting)).collect();
        while let Some(bid) = bids.pop() {
            match (waiting.is_idle[bid.end], waiting.is_idle[bid.partner]) {
                (false, _) => {}
                (true, false) => bids.extend(self.bid(bid.end, waiting)),
                (true, true) => begun.push(self.start(bid, waiting)),
            }
        }
        waiting.settle();
        begun
    }

    /// The message that an idle end would begin with, of those with ends that have no more to do than itself. Of two
    /// that have equally much to do, the sender counts as the one with more.
    fn bid(&self, end: usize, waiting: &Waiting) -> Option<Bid> {
        let sends = end < self.p;
        let others = if waiting.is_fresh[end] { &waiting.ends } else { &waiting.fresh };
        let mine = self.work[end];
        let mut best: Option<Bid> = None;
        for &partner in &others[usize::from(sends)] {
            let work = self.work[partner];
            let is_more = if sends { work > mine } else { work >= mine };
            let both = mine + work;
            let is_less = best.as_ref().is_some_and(|best| both < best.claim[1]);
            if is_more || is_less || !waiting.is_idle[partner] {
                continue;
            }
            let (from, to) = self.ranks(end, partner);
            let Some(time) = self.times[from * self.p + to] else { continue };
            let distance = if to > from { to - from } else { to + self.p - from };
            let claim = [mine, both, time.units()];
            let key = |bid: &Bid| (bid.claim[1], bid.claim[2], Reverse(bid.distance));
            let found = (both, time.units(), Reverse(distance));
            if best.as_ref().is_none_or(|best| found > key(best)) {
                best = Some(Bid { end, partner, claim, distance, sender: from });
            }
        }
        best
    }

    /// Sender and receiver.
    fn ranks(&self, end: usize, partner: usize) -> (Rank, Rank) {
        (end.min(partner), end.max(partner) - self.p)
    }

    /// Begins a message.
    fn start(&mut self, bid: Bid, waiting: &mut Waiting) -> (Rank, Rank, Time) {
        let (from, to) = self.ranks(bid.end, bid.partner);
        let time = self.times[from * self.p + to].take().expect("a bid is on a message");
        for end in [bid.end, bid.partner] {
            waiting.is_idle[end] = false;
            self.work[end] -= time.units();
            self.left[end] -= 1;
        }
        (from, to, time)
    }
}

impl Waiting {
    fn new(p: usize) -> Waiting {
        Waiting {
            is_idle: vec![false; 2 * p],
            ends: [Vec::new(), Vec::new()],
            fresh: [Vec::new(), Vec::new()],
            is_fresh: vec![false; 2 * p],
        }
    }

    fn add(&mut self, ends: impl Iterator<Item = usize>) {
        let p = self.is_idle.len() / 2;
        for end in ends {
            self.is_idle[end] = true;
            self.is_fresh[end] = true;
            let side = usize::from(end >= p);
            self.ends[side].push(end);
            self.fresh[side].push(end);
        }
    }

    /// Drops ends that are no longer idle; no other is fresh any more.
    fn settle(&mut self) {
        for side in &mut self.ends {
            side.retain(|&end| self.is_idle[end]);
        }
        for end in self.fresh.iter_mut().flat_map(|side| side.drain(..)) {
            self.is_fresh[end] = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use tuwtree_model::Homogeneous;

    /// What decides which message begins, the greatest first.
    type Claim = ([f64; 3], Reverse<usize>);

    /// The same by a scan of all pairs for each message.
    fn plain_order(problem: &Problem, sizes: &MessageSizes) -> Vec<(Rank, Rank)> {
        let mut shop = Shop::new(problem, sizes).unwrap();
        let p = shop.p;
        let mut idle = vec![true; 2 * p];
        let (mut order, mut under_way) = (Vec::new(), Vec::new());
        let mut now = Time::ZERO;
        loop {
            let mut best: Option<(Claim, Rank, Rank)> = None;
            for from in (0..p).filter(|&from| idle[from]) {
                for to in (0..p).filter(|&to| idle[p + to]) {
                    let Some(time) = shop.times[from * p + to] else { continue };
                    let (sending, receiving) = (shop.work[from], shop.work[p + to]);
                    let claim = [sending.max(receiving), sending + receiving, time.units()];
                    let claim = (claim, Reverse((to + p - from) % p));
                    if best.as_ref().is_none_or(|(least, ..)| claim > *least) {
                        best = Some((claim, from, to));
                    }
                }
            }
            if let Some((_, from, to)) = best {
                let time = shop.times[from * p + to].take().unwrap();
                for end in [from, p + to] {
                    idle[end] = false;
                    shop.work[end] -= time.units();
                }
                under_way.push((problem.costs().sum(now, time).unwrap(), from, to));
                order.push((from, to));
                continue;
            }
            let Some(&(end, ..)) = under_way.iter().min() else { return order };
            now = end;
            under_way.retain(|&(end, from, to)| {
                if end == now {
                    (idle[from], idle[p + to]) = (true, true);
                }
                end != now
            });
        }
    }

    fn check(p: usize, alpha: f64, beta: f64, message: impl Fn(usize) -> u64) {
        let sizes = MessageSizes::new((0..p * p).map(message)).unwrap();
        let costs = Homogeneous::new(alpha, beta, 1.0).unwrap();
        let problem = Problem::alltoall(&sizes, costs).unwrap();
        assert_eq!(order(&problem, &sizes).unwrap(), plain_order(&problem, &sizes));
    }

    proptest! {
        /// Few sizes, so that many ranks have equally much to do; messages that take no time; and sums that are rounded.
        #[test]
        fn messages_begin_in_the_order_of_a_scan_of_all_pairs(
            p in 1..20_usize,
            most in prop::sample::select(vec![2_u64, 3, 6, 1000]),
            absent in 0..4_u64,
            (alpha, beta) in prop::sample::select(vec![(0.0, 1.0), (7.0, 1.0), (3.0, 0.0), (0.0, 0.0), (0.1, 0.3)]),
            list in prop::collection::vec(0..u64::MAX / 2, 400),
        ) {
            check(p, alpha, beta, |at| (list[at] % (most + absent)).saturating_sub(absent));
        }
    }

    #[test]
    fn equal_messages_begin_in_the_order_of_a_scan_of_all_pairs() {
        for p in [2, 3, 16, 33] {
            check(p, 10.0, 1.0, |_| 8);
        }
    }
}
