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
/// About `p^5 / 60` candidates; O(p^3) space. On `h` levels about `h p^4 / 4` of groups and senders.
///
/// # Source
/// OPT Fig. 5; differs: a root at either end of a range may have more than one child, as eqs. 3 and 4
/// allow, and senders include the ends of their ranges; where latency overlaps, everybody copies first.
pub(crate) fn ordered(links: &Links, meter: &mut Meter<'_>) -> Result<Levels, DpError> {
    if let Some(groups) = links.groups() {
        let new = || BestSenders::new(links, groups);
        return Levels::fill_ranges((0, links.processors()), meter, |shorter, range, times| {
            by_groups(links, shorter, range, times, new());
        });
    }
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

/// The times of a range by root.
fn by_groups(
    links: &Links,
    shorter: &Levels,
    (i, j): (Rank, Rank),
    times: &mut [f64],
    mut senders: BestSenders<'_>,
) {
    times.fill(f64::INFINITY);
    for k in i..j {
        senders.gather((k + 1, j), shorter.roots(k + 1, j));
        for (r, least) in (i..=k).zip(times.iter_mut()) {
            // eq. 3, and eq. 5 for k = i
            let clock = if k == i { links.copy(i) } else { shorter.get(i, k, r) };
            *least = least.min(senders.least_arrival(clock, r));
        }
        senders.gather((i, k), shorter.roots(i, k));
        for (r, least) in (k + 1..=j).zip(&mut times[k + 1 - i..]) {
            // eq. 4, and eq. 6 for k + 1 = j
            let (clock, copy) = match k + 1 == j {
                true if links.copies_first() => (links.copy(j), 0.0),
                true => (0.0, links.copy(j)),
                false => (shorter.get(k + 1, j, r), 0.0),
            };
            *least = least.min(senders.least_arrival(clock, r) + copy);
        }
    }
}
