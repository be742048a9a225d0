//! The best of all trees where each pair of processors has costs of its own, by dynamic programming over
//! subsets and roots.
//!
//! A subtree matters to others for what it holds and for its root, who sends it. Whoever sends a set `Y`
//! offers a receiver a message that may begin at `a`, and then occupies its port for `f`. Of these offers
//! only those are kept of which none is better in both:
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

/// How many steps there are: for each receiver the pairs of a set and a part of it.
pub(super) fn work(processors: usize) -> u64 {
    let sets = u32::try_from(processors.saturating_sub(1)).ok().and_then(|n| 3_u64.checked_pow(n));
    sets.and_then(|sets| sets.checked_mul(processors as u64)).unwrap_or(u64::MAX)
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

/// The time of such a tree; infinite beyond what can be stated.
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
    let best = || (0..table.processors).min_by(by_time);
    let root = problem.root().given().or_else(best).expect("there is a processor");
    Ok((table, root))
}

/// A set of processors: a bit for each.
type Set = usize;

/// The best way to a set with a root.
#[derive(Clone, Copy, Debug)]
struct Best {
    /// When the root has everything; infinite if it cannot.
    time: f64,
    /// The last message: what it holds, and who sends it.
    last: (Set, Rank),
}

/// What a receiver may be sent.
#[derive(Clone, Copy, Debug)]
struct Offer {
    sender: Rank,
    /// When the message may begin.
    arrives: f64,
    /// How long it occupies the receiver's port.
    occupies: f64,
}

struct PairTable {
    processors: usize,
    copy: Vec<f64>,
    /// `p` entries for each set.
    best: Vec<Best>,
}

impl PairTable {
    /// The table, sets in ascending order: parts have smaller numbers.
    fn new(problem: &Problem) -> PairTable {
        let p = problem.processors();
        let never = Best { time: f64::INFINITY, last: (0, 0) };
        let units = |time: Result<Time, _>| time.map_or(f64::INFINITY, Time::units);
        let copy = (0..p).map(|rank| units(problem.copy(rank))).collect();
        let mut table = PairTable { processors: p, copy, best: vec![never; p << p] };
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
        self.best[set * self.processors + root]
    }

    /// When a root has everything.
    fn of_all(&self, root: Rank) -> f64 {
        self.at((1 << self.processors) - 1, root).time
    }

    /// When a root that holds this set of blocks is free.
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
            for offer in &offers[part * self.processors + root] {
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

    /// The offers of a set to a receiver of which none is as good as another in both.
    fn offers(&self, problem: &Problem, set: Set, receiver: Rank) -> Vec<Offer> {
        let ranks = (0..self.processors).filter(|rank| set >> rank & 1 == 1);
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
        let mut receivers = Receivers::new(self.processors);
        receivers.root = root;
        let mut pending = vec![((1 << self.processors) - 1, root)];
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
