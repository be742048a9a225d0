//! Checks if a network has links enough for a tree, and finds its cut otherwise.

use super::CostMatrix;
use crate::{Problem, Rank, Root};
use std::fmt;

/// A cut of the network: no tree exists, ordered or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cut {
    /// A cut between the given root and data that must come from or go to it.
    Root {
        /// The root that is given.
        root: Rank,
        /// Ranks from which no link leads to any of `to`; in ascending order.
        from: Vec<Rank>,
        /// All ranks that are not in `from`, in ascending order.
        to: Vec<Rank>,
    },
    /// Without a root: data that cannot reach all others.
    Sender {
        /// A rank with data.
        rank: Rank,
        /// All that its data cannot reach; in ascending order.
        unreached: Vec<Rank>,
    },
    /// No rank can be the root.
    AnyRoot {
        /// A rank with data.
        rank: Rank,
        /// All that its data can reach (in a scatter or broadcast: that can send to it, at once or
        /// through others), itself included; in ascending order.
        reached: Vec<Rank>,
        /// All that the data of every rank with data before `rank` can reach (or that can send
        /// to every one of them): none of `reached`.
        common: Vec<Rank>,
        /// True if data flows from the root outwards.
        is_outward: bool,
    },
}

impl fmt::Display for Cut {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cut::Root { root, from, to } => write!(
                formatter,
                "there is no tree with root {root}: no link leads from {} to {}",
                Ranks(from),
                Ranks(to)
            ),
            Cut::Sender { rank, unreached } => write!(
                formatter,
                "the block of rank {rank} cannot reach all: no links lead to {}",
                Ranks(unreached)
            ),
            Cut::AnyRoot { rank, reached, common, is_outward: false } => write!(
                formatter,
                "there is no tree with any root: from rank {rank} only {} can be reached, but \
                 only {} from all before it",
                Ranks(reached),
                Ranks(common)
            ),
            Cut::AnyRoot { rank, reached, common, is_outward: true } => write!(
                formatter,
                "there is no tree with any root: rank {rank} can be reached from {} only, but \
                 all before it from {} only",
                Ranks(reached),
                Ranks(common)
            ),
        }
    }
}

impl std::error::Error for Cut {}

/// Ranks in words: runs of neighbours, the first few of many.
struct Ranks<'a>(&'a [Rank]);

impl fmt::Display for Ranks<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        const RUNS: usize = 4;
        let Ranks(ranks) = *self;
        formatter.write_str(match ranks.len() {
            0 => return formatter.write_str("none"),
            1 => "rank ",
            _ => "ranks ",
        })?;
        let mut runs = ranks.chunk_by(|one, next| one + 1 == *next);
        for (index, run) in runs.by_ref().take(RUNS).enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            match run {
                [rank] => write!(formatter, "{comma}{rank}")?,
                [first, .., last] => write!(formatter, "{comma}{first}..={last}")?,
                [] => {}
            }
        }
        match runs.map(<[Rank]>::len).sum::<usize>() {
            0 => Ok(()),
            more => write!(formatter, " and {more} more"),
        }
    }
}

impl Problem {
    /// Fails if no tree moves this problem's data, with its root or with any: a rank with data
    /// has no path of links to the root, or from it where data flows outwards; without a root, to all
    /// others.
    ///
    /// Only a [`CostMatrix`] can lack links. Ranks without data need none, since they neither send nor receive, but may
    /// pass on other ranks' data. If the check succeeds, a tree exists, but not always an ordered one.
    ///
    /// # Errors
    /// [`Cut`].
    ///
    /// # Complexity
    /// O(p^2) time where the root is given or the network strongly connected; O(p^3) at worst.
    pub fn check_links(&self) -> Result<(), Cut> {
        self.costs().kind().check_links(self)
    }
}

impl CostMatrix {
    pub(super) fn check_paths(&self, problem: &Problem) -> Result<(), Cut> {
        let ranks = self.size();
        let is_outward = problem.operation().is_outward();
        let has_data = |rank: Rank| problem.payload().own(rank) > 0;
        match problem.root() {
            Root::Given(root) => {
                let near = self.closure(root, !is_outward);
                if (0..ranks).all(|rank| near[rank] || !has_data(rank)) {
                    return Ok(());
                }
                let side = |is_near: bool| members(&near, is_near);
                let (from, to) =
                    if is_outward { (side(true), side(false)) } else { (side(false), side(true)) };
                Err(Cut::Root { root, from, to })
            }
            Root::Best => {
                let mut common = vec![true; ranks];
                // Whose data can reach that of an earlier one: it needs no look of its own.
                let mut before = vec![false; ranks];
                for rank in (0..ranks).filter(|&rank| has_data(rank)) {
                    if before[rank] {
                        continue;
                    }
                    let reached = self.closure(rank, is_outward);
                    if !(0..ranks).any(|other| common[other] && reached[other]) {
                        let [reached, common] = [reached, common].map(|set| members(&set, true));
                        return Err(Cut::AnyRoot { rank, reached, common, is_outward });
                    }
                    let back = self.closure(rank, !is_outward);
                    for other in 0..ranks {
                        common[other] &= reached[other];
                        before[other] |= back[other];
                    }
                }
                Ok(())
            }
            Root::None => {
                let senders = (0..ranks).filter(|&rank| has_data(rank));
                let mut reached = senders.map(|rank| (rank, self.closure(rank, false)));
                match reached.find(|(_, reached)| reached.contains(&false)) {
                    None => Ok(()),
                    Some((rank, reached)) => {
                        Err(Cut::Sender { rank, unreached: members(&reached, false) })
                    }
                }
            }
        }
    }

    /// All ranks that paths of links lead to from `start` (if `backwards`: that lead to it).
    fn closure(&self, start: Rank, backwards: bool) -> Vec<bool> {
        let mut found = vec![false; self.size()];
        found[start] = true;
        let mut pending = vec![start];
        while let Some(rank) = pending.pop() {
            for (other, found) in found.iter_mut().enumerate().filter(|(_, found)| !**found) {
                let (from, to) = if backwards { (other, rank) } else { (rank, other) };
                if self.is_linked(from, to) {
                    *found = true;
                    pending.push(other);
                }
            }
        }
        found
    }
}

/// The ranks that are in a set, or that are not.
fn members(set: &[bool], inside: bool) -> Vec<Rank> {
    (0..set.len()).filter(|&rank| set[rank] == inside).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BlockSizes, Collective, Vector};

    /// Costs with these links only.
    fn network(ranks: usize, links: &[(Rank, Rank)]) -> CostMatrix {
        let alpha = |from, to| if links.contains(&(from, to)) { 1.0 } else { f64::INFINITY };
        CostMatrix::from_fn(ranks, alpha, |_, _| 1.0, |_| 0.0).unwrap()
    }

    fn checked(costs: &CostMatrix, collective: Collective, root: Root) -> Result<(), Cut> {
        Problem::of(collective, costs).unwrap().with_root(root).unwrap().check_links()
    }

    #[test]
    fn a_cut_is_named() {
        let costs = network(5, &[(0, 1), (1, 0), (2, 3), (3, 4), (4, 2), (0, 2)]);
        let sizes = BlockSizes::new([1; 5]).unwrap();
        let error = |collective, root| checked(&costs, collective, root).unwrap_err().to_string();
        assert_eq!(checked(&costs, Collective::gather(&sizes), Root::Best), Ok(()));
        assert_eq!(checked(&costs, Collective::gather(&sizes), Root::Given(3)), Ok(()));
        assert_eq!(
            error(Collective::gather(&sizes), Root::Given(1)),
            "there is no tree with root 1: no link leads from ranks 2..=4 to ranks 0..=1"
        );
        assert_eq!(
            error(Collective::scatter(&sizes), Root::Given(4)),
            "there is no tree with root 4: no link leads from ranks 2..=4 to ranks 0..=1"
        );
        assert_eq!(checked(&costs, Collective::scatter(&sizes), Root::Best), Ok(()));
    }

    #[test]
    fn two_islands_have_no_root() {
        let costs = network(4, &[(0, 1), (1, 0), (2, 3), (3, 2)]);
        let vector = Vector { ranks: 4, bytes: 1 };
        let error = checked(&costs, Collective::broadcast(vector), Root::Best).unwrap_err();
        assert_eq!(
            error.to_string(),
            "there is no tree with any root: rank 2 can be reached from ranks 2..=3 only, \
             but all before it from ranks 0..=1 only"
        );
        let empty = Collective::reduce(Vector { ranks: 4, bytes: 0 });
        assert_eq!(checked(&costs, empty, Root::Best), Ok(()), "nothing is to be sent");
    }

    #[test]
    fn ranks_without_data_need_no_links_but_pass_on_what_others_have() {
        let costs = network(4, &[(0, 1), (1, 2)]);
        let sizes = BlockSizes::new([5, 0, 5, 0]).unwrap();
        assert_eq!(checked(&costs, Collective::gather(&sizes), Root::Best), Ok(()));
        assert!(checked(&costs, Collective::scatter(&sizes), Root::Given(2)).is_err());
        let sizes = BlockSizes::new([5, 0, 5, 1]).unwrap();
        assert!(checked(&costs, Collective::gather(&sizes), Root::Best).is_err());
    }

    #[test]
    fn a_hub_without_data_may_be_the_only_root() {
        // 1 and 2 can only send, and only to 3 in common.
        let costs = network(4, &[(0, 3), (1, 3), (2, 3), (0, 1)]);
        let sizes = BlockSizes::new([1, 1, 1, 0]).unwrap();
        assert_eq!(checked(&costs, Collective::gather(&sizes), Root::Best), Ok(()));
    }
}
