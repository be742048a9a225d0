//! The published recurrence, split by split and sender by sender: Theta(p^5). On the levels of a machine
//! senders are taken group by group: O(p^4 h).

use super::groups::BestSenders;
use super::levels::{Levels, least_arrival};
use super::links::Links;
use crate::DpError;
use crate::progress::Meter;
use tuwtree_model::Rank;

/// `C(i,j,r)` for all ranges and roots.
///
/// # Errors
/// [`DpError::OutOfMemory`], [`DpError::Cancelled`].
///
/// # Complexity
/// About `p^5 / 60` candidates; O(p^3) space. On `h` levels about `h p^4 / 12`.
///
/// # Source
/// OPT Fig. 5; differs: a root at either end of a range may have more than one child, as eqs. 3 and 4
/// allow, and senders include the ends of their ranges; where latency overlaps, everybody copies first.
pub(crate) fn ordered(links: &Links, meter: &mut Meter<'_>) -> Result<Levels, DpError> {
    if let Some(groups) = links.groups() {
        let mut senders = BestSenders::new(links, groups);
        let mut table = Levels::empty((0, links.ranks()));
        while !table.is_full() {
            let times = |shorter: &Levels, range: (Rank, Rank), entries: &mut [f64]| {
                by_groups(links, shorter, &senders, range, entries);
            };
            table.extend(meter, times)?;
            senders.extend(&table);
        }
        return Ok(table);
    }
    Levels::fill((0, links.ranks()), meter, |shorter, (i, j, r)| {
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

/// The times of a range by root.
fn by_groups(
    links: &Links,
    shorter: &Levels,
    senders: &BestSenders<'_>,
    (i, j): (Rank, Rank),
    times: &mut [f64],
) {
    times.fill(f64::INFINITY);
    for k in i..j {
        let arrival = senders.of_range((k + 1, j));
        for ((r, &received), least) in (i..=k).zip(shorter.roots(i, k)).zip(times.iter_mut()) {
            // eq. 3, and eq. 5 for k = i
            let clock = if k == i { links.copy(i) } else { received };
            *least = least.min(arrival(clock, r));
        }
        let arrival = senders.of_range((i, k));
        let receivers = (k + 1..=j).zip(shorter.roots(k + 1, j));
        for ((r, &received), least) in receivers.zip(&mut times[k + 1 - i..]) {
            // eq. 4, and eq. 6 for k + 1 = j
            let (clock, copy) = match k + 1 == j {
                true if links.copies_first() => (links.copy(j), 0.0),
                true => (0.0, links.copy(j)),
                false => (received, 0.0),
            };
            *least = least.min(arrival(clock, r) + copy);
        }
    }
}
