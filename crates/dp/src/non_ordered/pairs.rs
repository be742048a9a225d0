//! The best of all trees where each pair of ranks has costs of its own, by dynamic programming over
//! subsets and roots.
//!
//! A subtree matters to others by its set and by its root, the sender. A sender of a set `Y` offers a receiver a
//! message that may begin at `a`, and then occupies its port for `f`. Only offers that no other offer beats in both are
//! kept:
//!
//! ```text
//! T[X,r] = min over nonempty parts Y of X - {r}, offers (a, f) of Y to r:  max(K[X - Y,r], a) + f
//! offers of Y to r:  a = T[Y,q] + lambda_qr(Y),  f = comm_qr(Y),  for q in Y
//! K[X,r] = T[X,r], but for K[{r},r], the time of r's copy, and T[{r},r] = 0
//! ```
//!
//! *Exact:* that time never falls as a clock or an offer's beginning rises, and children are independent;
//! so any laws will do, and links may be missing.

use super::NonOrderedError;
use super::arrangement::Receivers;
use crate::DpError;
use tuwtree_model::{CostModel, Problem, Rank, Time, Tree};

/// Number of steps: for each receiver the pairs of a set and a part of it.
pub(super) fn work(ranks: usize) -> u64 {
    let sets = u32::try_from(ranks.saturating_sub(1)).ok().and_then(|n| 3_u64.checked_pow(n));
    sets.and_then(|sets| sets.checked_mul(ranks as u64)).unwrap_or(u64::MAX)
}

/// A best tree of all for the blocks of a problem that is not too much [`work`].
///
/// # Errors
/// [`DpError::NoTree`] where links are missing, [`DpError::TooLarge`].
pub(super) fn exact(problem: &Problem) -> Result<Tree, NonOrderedError> {
    let (table, root) = solved(problem)?;
    match table.of_all(root).is_finite() {
        true => Ok(table.tree(root)),
        false => Err(DpError::TooLarge { total: problem.payload().total() }.into()),
    }
}

/// Optimal time; infinite if it cannot be stated.
///
/// # Errors
/// [`DpError::NoTree`] where links are missing.
pub(super) fn least_time(problem: &Problem) -> Result<f64, NonOrderedError> {
    let (table, root) = solved(problem)?;
    Ok(table.of_all(root))
}

/// The table, and the given root or a best one.
fn solved(problem: &Problem) -> Result<(PairTable, Rank), DpError> {
    problem.check_links()?;
    let table = PairTable::new(problem);
    let by_time = |one: &Rank, other: &Rank| table.of_all(*one).total_cmp(&table.of_all(*other));
    let best = || (0..table.ranks).min_by(by_time);
    let root = problem.root().given().or_else(best).expect("there is a rank");
    Ok((table, root))
}

/// A set of ranks: a bit for each.
type Set = usize;

/// The best way to a set with a root.
#[derive(Clone, Copy, Debug)]
struct Best {
    /// Time at which the root has everything; infinite if impossible.
    time: f64,
    /// Last message: its set and its sender.
    last: (Set, Rank),
}

/// A possible message to a receiver.
#[derive(Clone, Copy, Debug)]
struct Offer {
    sender: Rank,
    /// Earliest start of the message.
    arrives: f64,
    /// Time for which it occupies the receiver's port.
    occupies: f64,
}

struct PairTable {
    ranks: usize,
    copy: Vec<f64>,
    /// `p` entries for each set.
    best: Vec<Best>,
}

impl PairTable {
    /// The table, sets in ascending order: parts have smaller numbers.
    fn new(problem: &Problem) -> PairTable {
        let p = problem.ranks();
        let never = Best { time: f64::INFINITY, last: (0, 0) };
        let units = |time: Result<Time, _>| time.map_or(f64::INFINITY, Time::units);
        let copy = (0..p).map(|rank| units(problem.copy(rank))).collect();
        let mut table = PairTable { ranks: p, copy, best: vec![never; p << p] };
        let mut offers = vec![Vec::new(); p << p];
        for set in 1_usize..1 << p {
            let holds = |rank: &Rank| set >> *rank & 1 == 1;
            for root in (0..p).filter(holds) {
                table.best[set * p + root] = table.collected(&offers, set, root);
            }
            for receiver in (0..p).filter(|rank| !holds(rank)) {
                offers[set * p + receiver] = table.offers(problem, set, receiver);
            }
        }
        table
    }

    fn at(&self, set: Set, root: Rank) -> Best {
        self.best[set * self.ranks + root]
    }

    /// Time at which a root has everything.
    fn of_all(&self, root: Rank) -> f64 {
        self.at((1 << self.ranks) - 1, root).time
    }

    /// Time at which a root that holds this set of blocks is free.
    fn clock(&self, set: Set, root: Rank) -> f64 {
        if set == 1 << root { self.copy[root] } else { self.at(set, root).time }
    }

    /// The best way of a root to a set, given the offers of all parts of it.
    fn collected(&self, offers: &[Vec<Offer>], set: Set, root: Rank) -> Best {
        let others = set ^ 1 << root;
        let mut best = Best { time: f64::INFINITY, last: (0, 0) };
        if others == 0 {
            return Best { time: 0.0, ..best };
        }
        let mut part = others;
        while part > 0 {
            let clock = self.clock(set ^ part, root);
            for offer in &offers[part * self.ranks + root] {
                // The recurrence.
                let time = clock.max(offer.arrives) + offer.occupies;
                if time < best.time {
                    best = Best { time, last: (part, offer.sender) };
                }
            }
            part = (part - 1) & others;
        }
        best
    }

    /// Offers of a set to a receiver, without those that another offer beats or equals in both.
    fn offers(&self, problem: &Problem, set: Set, receiver: Rank) -> Vec<Offer> {
        let ranks = (0..self.ranks).filter(|rank| set >> rank & 1 == 1);
        let bytes = ranks.clone().map(|rank| problem.collective().copied(rank)).sum();
        let units = |time: Result<Time, _>| time.map_or(f64::INFINITY, Time::units);
        let offer = |sender| {
            let (from, to) = problem.collective().ends(sender, receiver);
            let latency = units(problem.costs().latency_between(from, to, bytes));
            Offer {
                sender,
                arrives: self.at(set, sender).time + latency,
                occupies: units(problem.costs().transmission_between(from, to, bytes)),
            }
        };
        let mut offers: Vec<Offer> = ranks.map(offer).collect();
        offers.sort_by(|one, other| {
            one.arrives.total_cmp(&other.arrives).then(one.occupies.total_cmp(&other.occupies))
        });
        let mut least = f64::INFINITY;
        offers.retain(|offer| {
            let helps = offer.arrives < f64::INFINITY && offer.occupies < least;
            least = least.min(offer.occupies);
            helps
        });
        offers
    }

    /// A best tree with this root.
    fn tree(&self, root: Rank) -> Tree {
        let mut receivers = Receivers::new(self.ranks);
        receivers.root = root;
        let mut pending = vec![((1 << self.ranks) - 1, root)];
        while let Some((mut set, receiver)) = pending.pop() {
            while set != 1 << receiver {
                let (part, sender) = self.at(set, receiver).last;
                receivers.children[receiver].push(sender);
                pending.push((part, sender));
                set ^= part;
            }
            receivers.children[receiver].reverse();
        }
        receivers.tree()
    }
}
