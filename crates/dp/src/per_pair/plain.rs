//! The published recurrence, split by split and sender by sender: Theta(p^5).

use super::levels::{Levels, least_arrival};
use super::links::Links;
use crate::DpError;
use crate::progress::Meter;

/// `C(i,j,r)` for all ranges and roots.
///
/// # Errors
/// [`DpError::OutOfMemory`], [`DpError::Cancelled`].
///
/// # Complexity
/// About `p^5 / 60` candidates; O(p^3) space.
///
/// # Source
/// OPT Fig. 5; differs: a root at either end of a range may have more than one child, as eqs. 3 and 4
/// allow, and senders include the ends of their ranges; where latency overlaps, everybody copies first.
pub(crate) fn ordered(links: &Links, meter: &mut Meter<'_>) -> Result<Levels, DpError> {
    Levels::fill((0, links.processors()), meter, |shorter, (i, j, r)| {
        let mut least = f64::INFINITY;
        for k in r..j {
            // eq. 3, and eq. 5 for k = i
            let clock = if k == i { links.copy(i) } else { shorter.get(i, k, r) };
            let senders = shorter.roots(k + 1, j);
            least = least.min(least_arrival(links, clock, senders, (k + 1, j, r)));
        }
        for k in i..r {
            // eq. 4, and eq. 6 for k + 1 = j
            let senders = shorter.roots(i, k);
            let (clock, copy) = match k + 1 == j {
                true if links.copies_first() => (links.copy(j), 0.0),
                true => (0.0, links.copy(j)),
                false => (shorter.get(k + 1, j, r), 0.0),
            };
            let received = least_arrival(links, clock, senders, (i, k, r));
            least = least.min(received + copy);
        }
        least
    })
}
