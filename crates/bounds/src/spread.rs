//! Spread of one item from one rank to others, or its collection at one rank.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use tuwtree_model::{Time, TimeError};

/// Earliest time by which n ranks can be informed by one, with k ports each; or by which contributions of n ranks can
/// be at one of them (postal model).
///
/// An informed rank begins a message on each port, and the next when the port is free. So by `t` the informed ranks are
/// those of an occupancy before, and one for each port of all ranks informed a latency before that:
///
/// ```text
/// N(t) = N(t - o) + k N(t - o - lambda),    N(t) = 1 for 0 <= t < o + lambda
/// ```
///
/// Contributions are the same backwards in time: a rank's own, and the last received by its ports. Without latency the
/// number is `(k + 1)^i` after `i` occupancies.
///
/// Times are sums of at most `2 known` costs: where costs are not integers, the caller allows for rounding.
///
/// # Errors
/// [`TimeError::NotFinite`] if the time cannot be stated.
///
/// # Complexity
/// O(known) time and space; where nothing overlaps O(log(known)).
///
/// # Source
/// Bar-Noy and Kipnis, "Designing broadcasting algorithms in the postal model for message-passing systems" (1992), for one
/// port. The proof for several, and for ports of any use, is in `docs/bounds-with-latency.md`.
pub(super) fn known_at(
    known: usize,
    latency: f64,
    occupancy: f64,
    ports: u16,
) -> Result<Time, TimeError> {
    // Stands for all times that cannot be stated.
    let latest = Time::new(f64::MAX).expect("it is finite");
    let after = |time: Time, cost: f64| Time::new(time.units() + cost).unwrap_or(latest);
    let first = after(after(Time::ZERO, latency), occupancy);
    let next = |time| after(time, occupancy);
    let passed_on = |time| after(after(time, latency), occupancy);
    let mut count = 1_usize;
    let time = match known {
        0 | 1 => Time::ZERO,
        _ => gains(first, ports.into(), next, passed_on)
            .find(|&(_, gain)| {
                count = count.saturating_add(gain);
                count >= known
            })
            .map_or(Time::ZERO, |(time, _)| time),
    };
    if time < latest { Ok(time) } else { Err(TimeError::NotFinite) }
}

/// Ranks to be informed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nodes {
    /// Least number of their nodes.
    pub(super) nodes: usize,
    /// Most ranks on one node.
    pub(super) most_ranks: usize,
    pub(super) ranks: usize,
}

/// Earliest time by which one rank can inform these ranks, with k ports each, or collect their contributions: messages between nodes have
/// a latency and an occupancy of their own.
///
/// A *clan* is the rank that a message between nodes informs, and all that are informed from there inside: it grows as in
/// [`known_at`], up to the ranks of a node. Each of its ranks sends to other nodes besides, as if it did nothing else, and
/// each of these messages begins a clan. There are as many clans as nodes, or more, and no more ranks than theirs.
///
/// # Errors
/// [`TimeError::NotFinite`] if the time cannot be stated.
///
/// # Complexity
/// O(n c log(n c)) for n nodes of c ranks.
pub(super) fn known_on_nodes(
    places: Nodes,
    (inside, between): ((f64, f64), (f64, f64)),
    ports: u16,
) -> Result<Time, TimeError> {
    let (latency, occupancy) = inside;
    let latest = Time::new(f64::MAX).expect("it is finite");
    let after = |time: Time, cost: f64| Time::new(time.units() + cost).unwrap_or(latest);
    let passed_on = |time| after(after(time, latency), occupancy);
    // Ages at which a clan grows, and by how much.
    let mut clan = vec![(Time::ZERO, 1_usize)];
    let mut grown = 1;
    let growth =
        gains(passed_on(Time::ZERO), ports.into(), |time| after(time, occupancy), passed_on);
    for (age, gain) in growth {
        if grown >= places.most_ranks {
            break;
        }
        let gain = gain.min(places.most_ranks - grown);
        clan.push((age, gain));
        grown += gain;
    }
    let (latency, occupancy) = between;
    let arrival = |time| after(after(time, latency), occupancy);
    if occupancy <= 0.0 {
        return Ok(Time::ZERO);
    }
    // Clans that begin at a time, and ranks that these inform later on.
    let mut events = BTreeMap::from([(Time::ZERO, (1_usize, 0_usize))]);
    let (mut clans, mut ranks) = (0_usize, 0_usize);
    while let Some((time, (begun, informed))) = events.pop_first() {
        if time == latest {
            return Err(TimeError::NotFinite);
        }
        clans = clans.saturating_add(begun);
        ranks = ranks.saturating_add(begun).saturating_add(informed);
        if clans >= places.nodes && ranks >= places.ranks {
            return Ok(time);
        }
        let mut add = |time, (more_clans, more_ranks): (usize, usize)| {
            let (clans, ranks) = events.entry(time).or_default();
            *clans = clans.saturating_add(more_clans);
            *ranks = ranks.saturating_add(more_ranks);
        };
        if begun > 0 && time > Time::ZERO {
            add(after(time, occupancy), (begun, 0));
        }
        for (number, &(age, gain)) in clan.iter().enumerate().filter(|_| begun > 0) {
            let (at, gain) = (after(time, age.units()), gain.saturating_mul(begun));
            add(arrival(at), (gain.saturating_mul(ports.into()), 0));
            if number > 0 {
                add(at, (0, gain));
            }
        }
    }
    unreachable!("whoever sends goes on")
}

/// Times and numbers of newly informed ranks, in order and without end: ranks informed by the first at `first`, and
/// then, through this many ports, ranks informed `next` by the same sender, or `passed_on` by a receiver.
///
/// # Complexity
/// O(1) for each.
pub(super) fn gains<T: Copy + Ord>(
    first: T,
    ports: usize,
    next: impl Fn(T) -> T,
    passed_on: impl Fn(T) -> T,
) -> impl Iterator<Item = (T, usize)> {
    // Each gain is gained again an occupancy later, and by every port an occupancy and a latency later: the first gains for
    // which that is still to happen.
    let mut gains: Vec<(T, usize)> = vec![];
    let (mut repeated, mut passed) = (0, 0);
    std::iter::from_fn(move || {
        let gain = if gains.is_empty() {
            (first, ports)
        } else {
            let again = (next(gains[repeated].0), gains[repeated].1);
            let more = (passed_on(gains[passed].0), gains[passed].1.saturating_mul(ports));
            repeated += usize::from(again.0 <= more.0);
            passed += usize::from(more.0 <= again.0);
            match again.0.cmp(&more.0) {
                Ordering::Less => again,
                Ordering::Greater => more,
                Ordering::Equal => (again.0, again.1.saturating_add(more.1)),
            }
        };
        gains.push(gain);
        Some(gain)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The least time in which so many know, over all ways to begin messages: any free port of anybody who knows begins the
    /// next one, at once or up to two units later.
    fn least(known: usize, free: &[u32], ports: usize, costs: [u32; 2], latest: u32) -> u32 {
        if free.len() >= known * ports {
            return latest;
        }
        let [latency, overhead] = costs;
        let mut least = u32::MAX;
        for port in 0..free.len() {
            if free[..port].contains(&free[port]) {
                continue;
            }
            for wait in 0..3 {
                let begin = free[port] + wait;
                let arrival = begin + latency + overhead;
                let mut next = free.to_vec();
                next[port] = begin + overhead;
                next.extend(vec![arrival; ports]);
                let time = self::least(known, &next, ports, costs, latest.max(arrival));
                least = least.min(time);
            }
        }
        least
    }

    #[test]
    fn ranks_of_a_node_pass_on_inside_what_came_from_outside() {
        let time = |nodes, most_ranks, ranks, ports| {
            let places = Nodes { nodes, most_ranks, ranks };
            known_on_nodes(places, ((1.0, 1.0), (10.0, 2.0)), ports).unwrap().units()
        };
        // To the other node first, and from there inside.
        assert_eq!(time(2, 2, 4, 1), 12.0 + 2.0);
        // Two messages of one sender.
        assert_eq!(time(3, 1, 3, 1), 12.0 + 2.0);
        assert_eq!(time(3, 1, 3, 2), 12.0);
        // Inside without costs.
        let places = Nodes { nodes: 2, most_ranks: 2, ranks: 4 };
        let free = known_on_nodes(places, ((0.0, 0.0), (1.0, 1.0)), 1).unwrap();
        assert_eq!(free.units(), 2.0);
        // Inside one node as without nodes.
        assert_eq!(time(1, 8, 8, 1), known_at(8, 1.0, 1.0, 1).unwrap().units());
        assert_eq!(time(1, 1, 1, 1), 0.0);
    }

    #[test]
    fn no_order_of_messages_tells_as_many_any_sooner() {
        for ports in [1_u16, 2] {
            for known in 1..=5 {
                for costs in [[0, 3], [1, 0], [1, 2], [2, 1], [5, 1], [3, 2], [7, 3]] {
                    let free = vec![0; ports.into()];
                    let expected = least(known, &free, ports.into(), costs, 0);
                    let [latency, overhead] = costs.map(f64::from);
                    let found = known_at(known, latency, overhead, ports).unwrap().units();
                    assert_eq!(found, f64::from(expected), "{known} {costs:?} {ports}");
                }
            }
        }
    }

    #[test]
    fn numbers_grow_as_the_recurrence_says() {
        for [latency, overhead, ports] in [[3, 1, 1], [0, 2, 1], [0, 2, 3], [5, 2, 3], [1, 4, 2]] {
            // N(t) from t = 0 on.
            let mut numbers: Vec<usize> = vec![];
            for time in 0..60_usize {
                let before = |span: usize| time.checked_sub(span).map_or(0, |at| numbers[at]);
                let number = match time < latency + overhead {
                    true => 1,
                    false => before(overhead) + ports * before(overhead + latency),
                };
                numbers.push(number);
            }
            for (known, costs) in (1..200).zip(std::iter::repeat([latency, overhead])) {
                let expected = numbers.iter().position(|&number| number >= known).unwrap();
                let [latency, overhead] = costs.map(|cost| cost as f64);
                let found = known_at(known, latency, overhead, ports as u16).unwrap();
                assert_eq!(found.units(), expected as f64, "{known} {costs:?} {ports}");
            }
        }
    }

    #[test]
    fn without_latency_each_port_of_each_tells_one_more_in_every_message() {
        for ports in [1, 2, 5] {
            for known in [1, 2, 3, 4, 9, 10, 1000, 1_000_000] {
                let rounds = super::super::simple::rounds(known, ports) as f64;
                assert_eq!(known_at(known, 0.0, 0.5, ports).unwrap().units(), 0.5 * rounds);
            }
        }
    }

    #[test]
    fn times_that_no_number_says_are_errors() {
        assert_eq!(known_at(3, f64::MAX, 1.0, 1), Err(TimeError::NotFinite));
        assert_eq!(known_at(1, f64::MAX, f64::MAX, 1), Ok(Time::ZERO));
        assert_eq!(known_at(1000, 3.0, 0.0, 1).unwrap().units(), 3.0);
    }
}
