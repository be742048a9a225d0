//! Contributors to the parts of a reduction.
//!
//! A value is a rank's own vector, or two values combined. Each is made once and then only named, so that a result is a
//! network of values; a rank contributes once for each path from the result to its own vector. Ranks that combine two
//! values in one order get one value, so that knowledge of it serves all pieces and ranks that have it.

use super::{Contributors, Fault, NONE};
use std::collections::HashMap;
use tuwtree_model::Rank;

/// Two values combined.
struct Combined {
    left: u32,
    right: u32,
    /// The index of the first action that does it.
    action: u32,
    /// The first value among this one and its parts whose contributions are not consecutive though its operands' are;
    /// or [`NONE`].
    scattered: u32,
    /// The first and last contributor, if each operand has consecutive ones and they are neighbours.
    consecutive: Option<(u32, u32)>,
}

/// All values of a reduction: `0..p` are the ranks' own.
pub(super) struct Values {
    ranks: u32,
    combined: Vec<Combined>,
    /// The combination of each pair of a left and a right operand.
    known: HashMap<(u32, u32), u32>,
    /// For each value its place in the network that was looked at last, if it is there.
    places: Vec<u32>,
    /// For each examined value: true if it has every rank's contribution once.
    complete: HashMap<u32, bool>,
    /// Number of further steps allowed.
    steps: u64,
    limit: u64,
}

/// A combination of contributions that are not neighbours in order.
pub(super) struct ScatteredValue {
    /// The index of the action that does it.
    pub(super) action: u32,
    pub(super) left: Contributors,
    pub(super) right: Contributors,
}

/// Fault of a value that is not the result.
pub(super) enum Wrong {
    /// A contribution is not there.
    Lacks(Rank),
    /// A contribution is there more than once: in both operands of the action with this index.
    Twice(Rank, u32),
    /// The network is too large.
    TooIntricate(Fault),
}

impl Values {
    /// Number of steps that is always allowed. A step leaves at most some 250 bytes: a value, and a run of a buffer.
    const LEAST_LIMIT: u64 = 1 << 24;
    /// Number of steps allowed for each action and rank.
    const STEPS_EACH: u64 = 64;

    /// Own values only; `size` is the number of actions.
    pub(super) fn new(ranks: usize, size: usize) -> Values {
        let limit = Self::LEAST_LIMIT + Self::STEPS_EACH * (ranks + size) as u64;
        // Values are numbered by 32 bits.
        let limit = limit.min(1 << 31);
        Values {
            ranks: ranks as u32,
            combined: Vec::new(),
            known: HashMap::new(),
            places: Vec::new(),
            complete: HashMap::new(),
            steps: limit,
            limit,
        }
    }

    /// Counts a step.
    ///
    /// # Errors
    /// There were too many.
    pub(super) fn step(&mut self) -> Result<(), Fault> {
        self.steps = self.steps.checked_sub(1).ok_or(Fault::TooIntricate { limit: self.limit })?;
        Ok(())
    }

    /// The combination of both by this action.
    pub(super) fn combine(&mut self, left: u32, right: u32, action: u32) -> u32 {
        let value = self.ranks + self.combined.len() as u32;
        let known = *self.known.entry((left, right)).or_insert(value);
        if known != value {
            return known;
        }
        let consecutive = match (self.range(left), self.range(right)) {
            (Some((first, middle)), Some((next, last))) if middle + 1 == next => {
                Some((first, last))
            }
            _ => None,
        };
        let of_operands = [left, right].map(|operand| self.first_scattered(operand));
        let itself = consecutive.is_none().then_some(value);
        let scattered = of_operands.into_iter().flatten().next().or(itself).unwrap_or(NONE);
        self.combined.push(Combined { left, right, action, scattered, consecutive });
        value
    }

    /// The first value among this one and its parts whose contributions are not consecutive though its operands' are.
    fn first_scattered(&self, value: u32) -> Option<u32> {
        Some(self.operands(value)?.scattered).filter(|&scattered| scattered != NONE)
    }

    /// Contributors of a value, if they are consecutive and in order.
    pub(super) fn contributors(&self, value: u32) -> Contributors {
        match self.range(value) {
            Some((first, last)) => {
                Contributors::Consecutive { first: first as Rank, last: last as Rank }
            }
            None => Contributors::Scattered,
        }
    }

    fn range(&self, value: u32) -> Option<(u32, u32)> {
        match value.checked_sub(self.ranks) {
            None => Some((value, value)),
            Some(index) => self.combined[index as usize].consecutive,
        }
    }

    /// The operands of a value, if these are not neighbours in order.
    pub(super) fn scattered(&self, value: u32) -> Option<ScatteredValue> {
        let &Combined { left, right, action, .. } = self.operands(value)?;
        let (left, right) = (self.contributors(left), self.contributors(right));
        self.range(value).is_none().then_some(ScatteredValue { action, left, right })
    }

    /// The first combination of consecutive contributions that are not neighbours in order, if a value is made of one
    /// or is one.
    pub(super) fn scattered_within(&self, value: u32) -> Option<ScatteredValue> {
        self.scattered(self.first_scattered(value)?)
    }

    fn operands(&self, value: u32) -> Option<&Combined> {
        Some(&self.combined[value.checked_sub(self.ranks)? as usize])
    }

    /// True if the value has every rank's contribution once.
    ///
    /// # Errors
    /// The network is too large.
    pub(super) fn is_complete(&mut self, value: u32) -> Result<bool, Fault> {
        if let Some(&known) = self.complete.get(&value) {
            return Ok(known);
        }
        let is_complete = match self.check_complete(value) {
            Ok(()) => true,
            Err(Wrong::Lacks(_) | Wrong::Twice(..)) => false,
            Err(Wrong::TooIntricate(fault)) => return Err(fault),
        };
        self.complete.insert(value, is_complete);
        Ok(is_complete)
    }

    /// Fails unless the value has every rank's contribution once.
    ///
    /// # Errors
    /// A contribution that is missing or there twice.
    pub(super) fn check_complete(&mut self, value: u32) -> Result<(), Wrong> {
        let is_all = self.range(value) == Some((0, self.ranks - 1));
        if is_all || self.complete.get(&value) == Some(&true) {
            return Ok(());
        }
        let network = self.network(value).map_err(Wrong::TooIntricate)?;
        // From the result down: how many ways lead to a value, 2 standing for more.
        let mut ways = vec![0_u8; network.len()];
        ways[network.len() - 1] = 1;
        for index in (0..network.len()).rev() {
            if let Some(combined) = self.operands(network[index]) {
                for operand in [combined.left, combined.right] {
                    let operand = self.places[operand as usize] as usize;
                    ways[operand] = (ways[operand] + ways[index]).min(2);
                }
            }
        }
        let own = network.partition_point(|&value| value < self.ranks);
        if let Some(index) = (0..own).find(|&index| ways[index] > 1) {
            let rank = network[index];
            return Err(Wrong::Twice(rank as Rank, self.doubled(&network, rank)));
        }
        match (0..self.ranks).zip(&network[..own]).find(|&(rank, &value)| rank != value) {
            Some((rank, _)) => Err(Wrong::Lacks(rank as Rank)),
            None if own < self.ranks as usize => Err(Wrong::Lacks(own)),
            None => {
                self.complete.insert(value, true);
                Ok(())
            }
        }
    }

    /// All values that a value is made of, and itself, in the order in which they were made, which `places` has.
    fn network(&mut self, value: u32) -> Result<Vec<u32>, Fault> {
        self.places.resize(self.ranks as usize + self.combined.len(), 0);
        let mut network = vec![value];
        self.places[value as usize] = 0;
        let mut next = 0;
        while next < network.len() {
            self.step()?;
            if let Some(&Combined { left, right, .. }) = self.operands(network[next]) {
                for operand in [left, right] {
                    let place = &mut self.places[operand as usize];
                    if network.get(*place as usize) != Some(&operand) {
                        *place = network.len() as u32;
                        network.push(operand);
                    }
                }
            }
            next += 1;
        }
        network.sort_unstable();
        for (place, &value) in network.iter().enumerate() {
            self.places[value as usize] = place as u32;
        }
        Ok(network)
    }

    /// The first action of the network that combines two values with the same contribution.
    fn doubled(&self, network: &[u32], rank: u32) -> u32 {
        let mut with_it = std::collections::HashSet::from([rank]);
        for &value in network {
            if let Some(combined) = self.operands(value) {
                let (left, right) =
                    (with_it.contains(&combined.left), with_it.contains(&combined.right));
                if left && right {
                    return combined.action;
                }
                if left || right {
                    with_it.insert(value);
                }
            }
        }
        unreachable!("two ways lead to the contribution, so they part somewhere")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Action, Arrival, Buffer, Deed, Order, Payload, Piece, Programs, Receive, Region, Schedule,
        Send, Task, verify,
    };
    use tuwtree_model::{Operation, Vector};

    /// Rank 2 sends every other byte to 1, whose segment then has a run for each of `bytes`
    /// bytes; 1 sends it to the root twice so many `times`, which stores it and combines it with itself.
    fn scattered_reduction(bytes: u64, times: usize) -> Schedule {
        let mut programs = Programs::new();
        let mut push = |deeds: &mut dyn Iterator<Item = Deed<'_>>| {
            for deed in deeds {
                programs.push(&Action { port: 0, deed }).unwrap();
            }
            programs.end_rank();
        };
        let whole = [Piece { offset: 0, bytes }];
        let even: Vec<Piece> =
            (0..bytes).step_by(2).map(|offset| Piece { offset, bytes: 1 }).collect();
        let region = |buffer| Region { buffer, pieces: &whole };
        let receive = |from, into, arrival| Deed::Receive(Receive { from, tag: 0, into, arrival });
        let send = |to, from| Deed::Send(Send { to, tag: 0, from });
        let from_2 =
            receive(2, Region { buffer: Buffer::Segment, pieces: &even }, Arrival::CombineRight);
        let to_root = std::iter::repeat_n(send(0, region(Buffer::Segment)), 2 * times);
        let twice = [Arrival::Store, Arrival::CombineRight];
        let twice = twice.map(|arrival| receive(1, region(Buffer::Output), arrival));
        push(&mut std::iter::repeat_n(twice, times).flatten());
        push(&mut std::iter::once(from_2).chain(to_root));
        push(&mut std::iter::once(send(1, Region { buffer: Buffer::Input, pieces: &even })));
        let task = Task {
            operation: Operation::Reduce,
            root: Some(0),
            payload: Payload::Vector(Vector { ranks: 3, bytes }),
            displacements: None,
            order: Order::Any,
            ports: 1,
            duplex: false,
            costs: None,
            operator: tuwtree_model::Operator::FREE,
        };
        Schedule::new(task, vec![0, bytes, 0], programs).unwrap()
    }

    #[test]
    fn a_reduction_in_too_many_parts_is_not_verified_but_refused_with_the_limit() {
        let times = 10_000;
        let fault = verify(&scattered_reduction(2048, times)).unwrap_err();
        let limit = Values::LEAST_LIMIT + Values::STEPS_EACH * (3 + 4 * times as u64 + 2);
        assert_eq!(fault, Fault::TooIntricate { limit });
        // With fewer, the true fault is found: 1 contributes twice.
        let fault = verify(&scattered_reduction(64, 2)).unwrap_err();
        assert!(matches!(fault, Fault::ContributionTwice { rank: 1, .. }), "{fault}");
    }
}
