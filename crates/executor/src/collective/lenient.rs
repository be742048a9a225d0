//! Calls of programs that state larger counts than what is sent: of receivers in a scatter, of the root in a
//! gather.
//!
//! MPI demands equal amounts, but its libraries take less than there is room for, and programs rely on that.
//! Along a tree, nobody but the sender of a block would know its size. So calls 1, 2, 4, 8, ... with an operation
//! and root are compared before data moves: whoever takes part states its size, and the root says whether all are
//! those that it expects. If less is sent to anybody than it has room for, this call and all after it with this
//! operation and root are the library's own; if more is, the call fails as ever.
//!
//! Call numbers are known to all, because collective calls are made by all in the same order.

use super::{Call, CollectiveError, Collectives, Room, rounds};
use crate::settings::Algorithm;
use crate::sys::{Arguments, Handles};
use std::cmp::Ordering;
use tuwtree_model::{BlockSizes, Operation, Rank};

/// Operations and roots beyond so many on a communicator are compared in each call.
const MOST: usize = 512;

/// How often an operation with a root has been called.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Checks {
    calls: u64,
    /// Whether less was sent than there was room for when it was compared: from then on.
    is_loose: bool,
}

/// How amounts compare.
mod verdict {
    /// They are equal; or more is sent than there is room for, or arguments are invalid: whoever performs
    /// the call says so.
    pub(super) const STRICT: u64 = 0;
    /// Less is sent to somebody than it has room for, and to nobody more.
    pub(super) const LOOSE: u64 = 1;
}

impl Collectives {
    /// Performs an operation, and says by which algorithm; `None` if the program's library has to perform it on the
    /// program's communicator, since less is sent than there is room for. Collective.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    ///
    /// # Complexity
    /// In calls 1, 2, 4, ... `2 ceil(log2 p)` messages follow one another beforehand, of 16 bytes for each
    /// process at most.
    pub fn run_leniently(
        &self,
        arguments: &Arguments<'_>,
    ) -> Result<Option<Algorithm>, CollectiveError> {
        let is_loose = match arguments.root(self.communicator().size()) {
            Some(root) => self.is_loose(arguments, root)?,
            None => false,
        };
        if is_loose { Ok(None) } else { self.run(arguments).map(Some) }
    }

    /// Whether less is sent than there is room for, by an earlier comparison or one that is due. Collective.
    fn is_loose(&self, arguments: &Arguments<'_>, root: Rank) -> Result<bool, CollectiveError> {
        let key = (arguments.operation().is_outward(), root);
        let mut all = self.checks.borrow_mut();
        if !all.contains_key(&key) && all.len() >= MOST {
            return self.compared(arguments, root);
        }
        let checks = all.entry(key).or_default();
        checks.calls += 1;
        // Once a program has been seen to state larger counts, its next call may at any time.
        if !checks.is_loose && checks.calls.is_power_of_two() {
            checks.is_loose = self.compared(arguments, root)?;
        }
        Ok(checks.is_loose)
    }

    /// Whether less is sent in this call than there is room for. Collective.
    fn compared(&self, arguments: &Arguments<'_>, root: Rank) -> Result<bool, CollectiveError> {
        const INVALID: u64 = u64::MAX;
        let (settings, comm) = (self.settings(), self.communicator());
        let call = Call::new(self, arguments, &settings, (Handles::Lent, Room::new(self)));
        let own = call.own_bytes().unwrap_or(INVALID);
        let all = rounds::all_words(comm, [root as u64, own])?;
        let first = all[0][0];
        if all.iter().any(|&[root, own]| root != first || own == INVALID) {
            return Ok(false);
        }
        let lists = call.sizes().map(|sizes| {
            let stated = all.iter().map(|&[_, own]| own);
            vec![vec![verdict_on(arguments.operation(), &sizes, stated)]; comm.size()]
        });
        // A root without valid sizes has none of its own either, or fails alone: others go on without it.
        let lists = match comm.rank() == root {
            true => Some(lists.unwrap_or_else(|| vec![vec![verdict::STRICT]; comm.size()])),
            false => None,
        };
        Ok(rounds::handed_down(comm, root, lists)? == [verdict::LOOSE])
    }
}

/// How the root's sizes compare with those that the ranks state.
fn verdict_on(operation: Operation, sizes: &BlockSizes, stated: impl Iterator<Item = u64>) -> u64 {
    let room_and_sent = sizes.iter().zip(stated).map(|(at_root, stated)| {
        if operation.is_outward() { (stated, at_root) } else { (at_root, stated) }
    });
    let greatest_first = |one: Ordering, (room, sent): (u64, u64)| match (one, sent.cmp(&room)) {
        (Ordering::Greater, _) | (_, Ordering::Greater) => Ordering::Greater,
        (Ordering::Less, _) | (_, Ordering::Less) => Ordering::Less,
        _ => Ordering::Equal,
    };
    match room_and_sent.fold(Ordering::Equal, greatest_first) {
        Ordering::Less => verdict::LOOSE,
        Ordering::Equal | Ordering::Greater => verdict::STRICT,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_may_be_larger_than_what_is_sent_but_nowhere_smaller() {
        let sizes = BlockSizes::new([4, 0, 8]).unwrap();
        let verdict =
            |operation, stated: [u64; 3]| verdict_on(operation, &sizes, stated.into_iter());
        for (stated, gather, scatter) in [
            ([4, 0, 8], verdict::STRICT, verdict::STRICT),
            ([4, 0, 7], verdict::LOOSE, verdict::STRICT),
            ([9, 9, 9], verdict::STRICT, verdict::LOOSE),
            ([9, 0, 7], verdict::STRICT, verdict::STRICT),
        ] {
            assert_eq!(verdict(Operation::Gather, stated), gather, "{stated:?}");
            assert_eq!(verdict(Operation::Scatter, stated), scatter, "{stated:?}");
        }
    }
}
