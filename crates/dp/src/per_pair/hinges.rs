//! The recurrence by lower envelopes, shortest ranges first: O(p^4 log p), as a rule O(p^4).
//!
//! ```text
//! length    receivers, each by itself, in parallel           then, for the next lengths
//!    1      r: C(i,i+1,r), from the single senders           the roots of each [i..i+1], first ready first
//!    2      r: C(i,i+2,r): [i..k] received, [k+1..i+2] sent  the roots of each [i..i+2]
//!    ..        or the other way; senders as one envelope     ..
//! ```

use super::hinge::Sender;
use super::levels::{level_cells, widths};
use super::links::Links;
use super::receiver::HingeReceiver;
use super::senders::SortedSenders;
use crate::DpError;
use crate::progress::Meter;
use crate::table::cells_with_root;
use rayon::prelude::*;
use tuwtree_model::{Rank, Root};

/// `C(i,j,r)`: for the best root, of all ranges and roots; for a given root, of that root where the
/// range holds it.
#[derive(Clone, Debug)]
pub(crate) struct HingeTable {
    /// Entry `r` holds all `C(i,j,r)`.
    receivers: Vec<HingeReceiver>,
}

impl HingeTable {
    /// `C(i,j,r)`, 0 for a lone sender.
    #[inline]
    pub(crate) fn get(&self, i: Rank, j: Rank, root: Rank) -> f64 {
        if i == j { 0.0 } else { self.receivers[root].get(i, j) }
    }
}

/// The table of optimal ordered trees.
///
/// # Errors
/// [`DpError::OutOfMemory`], [`DpError::Cancelled`].
///
/// # Complexity
/// O(p^4 log p) time, the logarithm only where envelopes have many hinges; O(p^3) space.
///
/// # Source
/// OPT Fig. 5 and Theorem 1; differs as [`plain`](super::plain) does.
pub(crate) fn ordered(
    links: &Links,
    root: Root,
    meter: &mut Meter<'_>,
) -> Result<HingeTable, DpError> {
    let last = links.ranks() - 1;
    // Where a range holds the given root, it has no other: the others' ranges end before it.
    let bounds = |rank: Rank| match root {
        Root::Given(root) if rank < root => (0, root - 1),
        Root::Given(root) if rank > root => (root + 1, last),
        _ => (0, last),
    };
    let (left, right) = match root {
        Root::Best | Root::None => ((0, last + 1), None),
        Root::Given(root) => ((0, root), Some((root + 1, last - root))),
    };
    let new = |rank| HingeReceiver::new(links, rank, bounds(rank));
    let mut receivers = (0..=last).map(new).collect::<Result<Vec<_>, _>>()?;
    let mut left = SortedSenders::new(left)?;
    let mut right = right.map(SortedSenders::new).transpose()?;
    for length in 1..=last {
        let senders = (&left, right.as_ref().unwrap_or(&left));
        receivers.par_iter_mut().enumerate().for_each(|(rank, receiver)| {
            let (first, last) = bounds(rank);
            let senders = match root {
                Root::Given(root) if rank < root => (senders.0, senders.0),
                Root::Given(root) if rank > root => (senders.1, senders.1),
                _ => senders,
            };
            if length <= last - first {
                receiver.advance(links, length, senders);
            }
        });
        left.extend(&receivers, length)?;
        if let Some(right) = &mut right {
            right.extend(&receivers, length)?;
        }
        let finished: usize = (0..=last).map(|rank| ranges(rank, length, bounds(rank))).sum();
        meter.row_done(finished)?;
    }
    Ok(HingeTable { receivers })
}

/// Number of ranges of `length + 1` ranks within the bounds that hold a root.
fn ranges(root: Rank, length: usize, (first, last): (Rank, Rank)) -> usize {
    let from = first.max(root.saturating_sub(length));
    let to = root.min(last.saturating_sub(length));
    if length > last - first || from > to { 0 } else { to - from + 1 }
}

/// The number of results of [`ordered`]: the ranges of at least two ranks, for each root.
pub(crate) fn results(ranks: usize, root: Root) -> usize {
    let others = widths(ranks, root).map(|width| level_cells(width) - width as u128).sum::<u128>();
    let rooted = match root {
        Root::Best | Root::None => 0,
        Root::Given(root) => cells_with_root(ranks, root) - 1,
    };
    others as usize + rooted
}

/// The bytes of the tables of [`ordered`] and of the links.
pub(crate) fn memory(ranks: usize, root: Root) -> u128 {
    let sorted = widths(ranks, root).map(level_cells).sum::<u128>();
    let timed = match root {
        Root::Best | Root::None => sorted,
        Root::Given(root) => sorted + cells_with_root(ranks, root) as u128,
    };
    let (time, rank) = (size_of::<f64>() as u128, size_of::<u16>() as u128);
    let first = size_of::<Sender>() as u128;
    2 * time * timed + (time + rank) * sorted + 2 * (time + first) * (ranks as u128).pow(2)
}
