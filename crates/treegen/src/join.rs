//! One join of two adjacent subcubes: who receives, and when that is done.
//!
//! All builders of binomial trees ask here, for all ranks at once ([`crate::adaptive`],
//! [`crate::oblivious_times`]) or as one of several ranks that build a tree together, each of which
//! knows only the two [`JoinSide`]s.
//!
//! ```text
//!        left                right              the receiver, in a gather
//!   first .. root .. last  first .. root .. last
//!             ^------ bytes ------'             left:  (its copy, if it is single), then it receives
//!             '------ bytes ------v             right: it receives, then (its copy, if it is single)
//! ```

use crate::AdaptiveRule;
use tuwtree_model::{CostModel, Operation, Rank, Time, TimeError};

/// One of two subcubes, as a join sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JoinSide {
    /// The rank that gathers.
    pub root: Rank,
    /// True for a single rank, whose block still lies in its own buffer.
    pub is_single: bool,
    /// The bytes that would go to the other side.
    pub bytes: u64,
    /// The bytes that the root copies in place of a transmission: its own block.
    pub copied: u64,
    /// Time at which the root has all data of the subcube; any value for rules without times.
    pub ready: Time,
}

impl JoinSide {
    /// The estimate of TUW Lemma 1, without alpha and beta: what the root had to receive.
    fn gathered(&self) -> u64 {
        self.bytes - self.copied
    }
}

/// Receiving side among two adjacent subcubes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceivingSide {
    /// That of lower ranks.
    Left,
    /// That of higher ranks.
    Right,
}

impl ReceivingSide {
    fn left_if(condition: bool) -> ReceivingSide {
        if condition { ReceivingSide::Left } else { ReceivingSide::Right }
    }
}

/// An [`AdaptiveRule`] with its inputs.
#[derive(Debug)]
pub enum JoinRule<'a, C: CostModel> {
    /// [`AdaptiveRule::GatherTime`].
    GatherTime,
    /// [`AdaptiveRule::DataSize`].
    DataSize,
    /// [`AdaptiveRule::CompletionTime`] for this operation and these costs.
    CompletionTime(Operation, &'a C),
}

// Not derived: costs behind a reference need not be copied.
impl<C: CostModel> Clone for JoinRule<'_, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C: CostModel> Copy for JoinRule<'_, C> {}

impl<'a, C: CostModel> JoinRule<'a, C> {
    /// The rule for this operation and these costs.
    pub fn new(rule: AdaptiveRule, operation: Operation, costs: &'a C) -> JoinRule<'a, C> {
        match rule {
            AdaptiveRule::GatherTime => JoinRule::GatherTime,
            AdaptiveRule::DataSize => JoinRule::DataSize,
            AdaptiveRule::CompletionTime => JoinRule::CompletionTime(operation, costs),
        }
    }

    /// Kind of the rule.
    pub fn kind(&self) -> AdaptiveRule {
        match self {
            JoinRule::GatherTime => AdaptiveRule::GatherTime,
            JoinRule::DataSize => AdaptiveRule::DataSize,
            JoinRule::CompletionTime(..) => AdaptiveRule::CompletionTime,
        }
    }

    /// Receiving side, and the time at which its root then has all data: 0 for rules without times. `held` is the side
    /// that holds the given root, which must receive.
    ///
    /// Ties go to the right.
    ///
    /// # Errors
    /// [`JoinRule::CompletionTime`]: a time that cannot be stated, or no link in either direction.
    pub fn decide(
        &self,
        held: Option<ReceivingSide>,
        left: &JoinSide,
        right: &JoinSide,
    ) -> Result<(ReceivingSide, Time), TimeError> {
        match *self {
            JoinRule::GatherTime => {
                let key = |side: &JoinSide| (side.gathered(), side.bytes);
                let chosen = || ReceivingSide::left_if(key(right) < key(left));
                Ok((held.unwrap_or_else(chosen), Time::ZERO))
            }
            JoinRule::DataSize => {
                let is_lone = right.is_single && !left.is_single;
                let chosen = || ReceivingSide::left_if(right.bytes < left.bytes || is_lone);
                Ok((held.unwrap_or_else(chosen), Time::ZERO))
            }
            JoinRule::CompletionTime(operation, costs) => {
                by_completion_time(operation, costs, held, (left, right))
            }
        }
    }
}

/// The side whose completion time is less, or `held`, with that time.
fn by_completion_time(
    operation: Operation,
    costs: &impl CostModel,
    held: Option<ReceivingSide>,
    (left, right): (&JoinSide, &JoinSide),
) -> Result<(ReceivingSide, Time), TimeError> {
    let time = |receiver| joined_time(operation, costs, receiver, (left, right));
    if let Some(receiver) = held {
        return Ok((receiver, time(receiver)?));
    }
    match (time(ReceivingSide::Left), time(ReceivingSide::Right)) {
        (Ok(to_left), Ok(to_right)) if to_left < to_right => Ok((ReceivingSide::Left, to_left)),
        (_, Ok(to_right)) => Ok((ReceivingSide::Right, to_right)),
        (Ok(to_left), Err(TimeError::NoLink { .. })) => Ok((ReceivingSide::Left, to_left)),
        (_, Err(error)) => Err(error),
    }
}

/// Time at which the receiver of this join has all data, given the time at which each side is
/// ready: the steps of the tree, timed.
///
/// In a scatter or broadcast the receiver is the one that sends, backwards in time.
///
/// # Errors
/// A time that cannot be stated; no link.
pub fn joined_time(
    operation: Operation,
    costs: &impl CostModel,
    receiver: ReceivingSide,
    (left, right): (&JoinSide, &JoinSide),
) -> Result<Time, TimeError> {
    let copied = |side: &JoinSide, clock| costs.sum(clock, costs.copy_at(side.root, side.copied)?);
    let received = |child: &JoinSide, parent: &JoinSide, clock: Time| {
        let (from, to) = match operation.is_outward() {
            true => (parent.root, child.root),
            false => (child.root, parent.root),
        };
        let arrival = costs.sum(child.ready, costs.latency_between(from, to, child.bytes)?)?;
        let time = costs.transmission_between(from, to, child.bytes)?;
        costs.sum(clock.later(arrival), time)
    };
    match receiver {
        ReceivingSide::Left => {
            let clock = if left.is_single { copied(left, Time::ZERO)? } else { left.ready };
            received(right, left, clock)
        }
        ReceivingSide::Right => {
            let clock = received(left, right, right.ready)?;
            if right.is_single { copied(right, clock) } else { Ok(clock) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tuwtree_model::{ClosedSet, Homogeneous};

    fn side(root: Rank, bytes: u64) -> JoinSide {
        JoinSide { root, is_single: true, bytes, copied: bytes, ready: Time::ZERO }
    }

    #[test]
    fn under_every_rule_ties_go_to_the_right_and_a_given_root_receives() {
        let costs = Homogeneous::new(1.0, 1.0, 1.0).unwrap();
        for rule in AdaptiveRule::all() {
            let rule = JoinRule::new(rule, Operation::Gather, &costs);
            let decide = |held| rule.decide(held, &side(0, 5), &side(1, 5)).unwrap().0;
            assert_eq!(decide(Some(ReceivingSide::Left)), ReceivingSide::Left);
            assert_eq!(decide(None), ReceivingSide::Right, "{rule:?}");
        }
    }
}
