//! Whose contributions the parts of a reduction have.
//!
//! A value is a processor's own vector, or two values combined. Each is made once and then only
//! named, so that a result is a network of values; a rank contributes as often as ways lead from the
//! result to its own vector.

use super::{Contributors, Fault};
use tuwtree_model::Rank;

/// Two values combined.
struct Combined {
    left: u32,
    right: u32,
    /// The index of the action that does it.
    action: u32,
    /// The first and last contributor, if each operand has consecutive ones and they are neighbours.
    consecutive: Option<(u32, u32)>,
}

/// All values of a reduction: `0..p` are the processors' own.
pub(super) struct Values {
    processors: u32,
    combined: Vec<Combined>,
    /// Those that are known to have every processor's contribution once.
    complete: std::collections::HashSet<u32>,
    /// How many more steps may be taken.
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

/// Why a value is not the result.
pub(super) enum Wrong {
    /// A contribution is not there.
    Lacks(Rank),
    /// A contribution is there more than once: in both operands of the action with this index.
    Twice(Rank, u32),
    /// The network is too large.
    TooIntricate(Fault),
}

impl Values {
    /// How many steps are always allowed.
    const LEAST_LIMIT: u64 = 1 << 22;
    /// How many steps are allowed for each action and processor.
    const STEPS_EACH: u64 = 64;

    /// Own values only; `size` is the number of actions.
    pub(super) fn new(processors: usize, size: usize) -> Values {
        let limit = Self::LEAST_LIMIT + Self::STEPS_EACH * (processors + size) as u64;
        // Values are numbered by 32 bits.
        let limit = limit.min(1 << 31);
        Values {
            processors: processors as u32,
            combined: Vec::new(),
            complete: Default::default(),
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
        let consecutive = match (self.range(left), self.range(right)) {
            (Some((first, middle)), Some((next, last))) if middle + 1 == next => {
                Some((first, last))
            }
            _ => None,
        };
        self.combined.push(Combined { left, right, action, consecutive });
        self.processors + self.combined.len() as u32 - 1
    }

    /// Whose contributions a value has, if they are consecutive and in order.
    pub(super) fn contributors(&self, value: u32) -> Contributors {
        match self.range(value) {
            Some((first, last)) => {
                Contributors::Consecutive { first: first as Rank, last: last as Rank }
            }
            None => Contributors::Scattered,
        }
    }

    fn range(&self, value: u32) -> Option<(u32, u32)> {
        match value.checked_sub(self.processors) {
            None => Some((value, value)),
            Some(index) => self.combined[index as usize].consecutive,
        }
    }

    /// The combination that a value is, if it is one of contributions that are not neighbours in order.
    pub(super) fn scattered(&self, value: u32) -> Option<ScatteredValue> {
        let &Combined { left, right, action, .. } = self.operands(value)?;
        let (left, right) = (self.contributors(left), self.contributors(right));
        self.range(value).is_none().then_some(ScatteredValue { action, left, right })
    }

    /// Such a combination of consecutive contributions, if a value is made of one or is one.
    ///
    /// # Errors
    /// The way there is too long.
    pub(super) fn first_scattered(&mut self, value: u32) -> Result<Option<ScatteredValue>, Fault> {
        let mut first = value;
        while let Some(&Combined { left, right, .. }) = self.operands(first) {
            self.step()?;
            match [left, right].into_iter().find(|&operand| self.range(operand).is_none()) {
                Some(operand) => first = operand,
                None => break,
            }
        }
        Ok(self.scattered(first))
    }

    fn operands(&self, value: u32) -> Option<&Combined> {
        Some(&self.combined[value.checked_sub(self.processors)? as usize])
    }

    /// Fails unless the value has every processor's contribution once.
    ///
    /// # Errors
    /// A contribution that is missing or there twice.
    pub(super) fn check_complete(&mut self, value: u32) -> Result<(), Wrong> {
        let is_all = self.range(value) == Some((0, self.processors - 1));
        if is_all || self.complete.contains(&value) {
            return Ok(());
        }
        let network = self.network(value).map_err(Wrong::TooIntricate)?;
        // From the result down: how many ways lead to a value, 2 standing for more.
        let mut ways = vec![0_u8; network.len()];
        let place = |wanted: u32| network.binary_search(&wanted).expect("a value of the network");
        ways[network.len() - 1] = 1;
        for index in (0..network.len()).rev() {
            if let Some(combined) = self.operands(network[index]) {
                for operand in [combined.left, combined.right] {
                    let operand = place(operand);
                    ways[operand] = (ways[operand] + ways[index]).min(2);
                }
            }
        }
        let own = network.partition_point(|&value| value < self.processors);
        if let Some(index) = (0..own).find(|&index| ways[index] > 1) {
            let rank = network[index];
            return Err(Wrong::Twice(rank as Rank, self.doubled(&network, rank)));
        }
        match (0..self.processors).zip(&network[..own]).find(|&(rank, &value)| rank != value) {
            Some((rank, _)) => Err(Wrong::Lacks(rank as Rank)),
            None if own < self.processors as usize => Err(Wrong::Lacks(own)),
            None => {
                self.complete.insert(value);
                Ok(())
            }
        }
    }

    /// All values that a value is made of, and itself, in the order in which they were made.
    fn network(&mut self, value: u32) -> Result<Vec<u32>, Fault> {
        let mut seen = std::collections::HashSet::from([value]);
        let mut network = vec![value];
        let mut next = 0;
        while next < network.len() {
            self.step()?;
            if let Some(&Combined { left, right, .. }) = self.operands(network[next]) {
                network.extend([left, right].into_iter().filter(|&operand| seen.insert(operand)));
            }
            next += 1;
        }
        network.sort_unstable();
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

    /// Processor 2 sends every other byte to 1, whose segment then has a value for each of `bytes`
    /// bytes; 1 sends it to the root so many `times`, which combines it with the rest each time.
    fn scattered_reduction(bytes: u64, times: usize) -> Schedule {
        let mut programs = Programs::new();
        let mut push = |deeds: &mut dyn Iterator<Item = Deed<'_>>| {
            for deed in deeds {
                programs.push(&Action { port: 0, deed }).unwrap();
            }
            programs.end_processor();
        };
        let whole = [Piece { offset: 0, bytes }];
        let even: Vec<Piece> =
            (0..bytes).step_by(2).map(|offset| Piece { offset, bytes: 1 }).collect();
        let region = |buffer| Region { buffer, pieces: &whole };
        let receive = |from, into| {
            Deed::Receive(Receive { from, tag: 0, into, arrival: Arrival::CombineRight })
        };
        let send = |to, from| Deed::Send(Send { to, tag: 0, from });
        let from_2 = receive(2, Region { buffer: Buffer::Segment, pieces: &even });
        let to_root = std::iter::repeat_n(send(0, region(Buffer::Segment)), times);
        push(&mut std::iter::repeat_n(receive(1, region(Buffer::Output)), times));
        push(&mut std::iter::once(from_2).chain(to_root));
        push(&mut std::iter::once(send(1, Region { buffer: Buffer::Input, pieces: &even })));
        let task = Task {
            operation: Operation::Reduce,
            root: Some(0),
            payload: Payload::Vector(Vector { processors: 3, bytes }),
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
        let times = 2300;
        let fault = verify(&scattered_reduction(2048, times)).unwrap_err();
        let limit = Values::LEAST_LIMIT + Values::STEPS_EACH * (3 + 2 * times as u64 + 2);
        assert_eq!(fault, Fault::TooIntricate { limit });
        // With fewer, the true fault is found: 1 contributes twice.
        let fault = verify(&scattered_reduction(64, 2)).unwrap_err();
        assert!(matches!(fault, Fault::ContributionTwice { rank: 1, .. }), "{fault}");
    }
}
