//! A tree among parties that have gathered their own data before, each at a time of its own.

use crate::DpError;
use crate::wider::{self, BySize, Class, Effort, Receiving, deadline_tree_by_size, plain};
use tuwtree_model::{BlockSizes, LinkLaw, Rank, Root, Step, Tree};

/// Ranks whose data is with one of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Party {
    /// Rank with the data.
    pub(super) root: Rank,
    pub(super) bytes: u64,
    /// From when on it may be sent.
    pub(super) ready: f64,
    /// From when on more may be received: for a lone rank, after its copy.
    pub(super) free: f64,
}

/// Up to how many parties the best copy-first tree among them is searched for; and if they are ready at very
/// different times, which the other method is not told.
const MOST_SEARCHED: usize = 100;
const MOST_SEARCHED_IF_UNEVEN: usize = 256;

/// Receivers and senders among some parties, by position, in each receiver's order; and the joined party.
pub(super) struct Merged {
    pub(super) receives: Vec<(usize, usize)>,
    pub(super) party: Party,
}

/// A tree by one law among parties in order, with the given root or any.
///
/// # Complexity
/// O(n^3) for up to some hundred parties, nearly O(n) beyond.
pub(super) fn merge(
    links: &LinkLaw,
    parties: &[Party],
    root: Option<usize>,
) -> Result<Merged, DpError> {
    let law = Among::new(links, parties);
    let tree = match law.is_searched() {
        true => {
            let root = root.map_or(Root::Best, Root::Given);
            let all = Tabulated::new(&law);
            wider::tree(&all, &plain::table(&all, Class::CopyFirst, root, &())?)
        }
        false => law.split(root)?,
    };
    let mut receives = Vec::with_capacity(parties.len());
    for position in 0..parties.len() {
        receives.extend(tree.steps(position).filter_map(|step| match step {
            Step::Copy => None,
            Step::Receive(child) => Some((position, child)),
        }));
    }
    Ok(Merged { party: law.party(&tree), receives })
}

/// Parties and the law of messages between them.
struct Among<'a> {
    links: &'a LinkLaw,
    parties: &'a [Party],
    /// `n + 1` entries: the bytes of the first parties.
    before: Vec<u64>,
}

impl<'a> Among<'a> {
    fn new(links: &'a LinkLaw, parties: &'a [Party]) -> Among<'a> {
        let mut sum = 0;
        let sums = parties.iter().map(|party| {
            sum += party.bytes;
            sum
        });
        let before = std::iter::once(0).chain(sums).collect();
        Among { links, parties, before }
    }

    /// True if the best tree is searched for.
    fn is_searched(&self) -> bool {
        let first = self.parties.iter().map(|party| party.free).fold(f64::INFINITY, f64::min);
        let last = self.parties.iter().map(|party| party.free).fold(0.0, f64::max);
        let (latency, occupancy) = self.links.times(1);
        let is_uneven = last - first > latency + occupancy;
        self.parties.len() <= if is_uneven { MOST_SEARCHED_IF_UNEVEN } else { MOST_SEARCHED }
    }

    /// Split from the top down, as if all were ready at the same time.
    fn split(&self, root: Option<usize>) -> Result<Tree, DpError> {
        let sizes = BlockSizes::new(self.parties.iter().map(|party| party.bytes));
        let sizes = sizes.expect("parts of the blocks of a problem");
        let law = BySize {
            sizes: &sizes,
            port: |bytes| self.links.times(bytes).1,
            latency: |bytes| self.links.times(bytes).0,
            copy: |_| 0.0,
        };
        let root = root.map_or(Root::Best, Root::Given);
        deadline_tree_by_size(&law, Class::CopyFirst, root, Effort::Light)
    }

    /// The joined party along a tree.
    fn party(&self, tree: &Tree) -> Party {
        let mut parties = self.parties.to_vec();
        for position in tree.top_down().into_iter().rev() {
            for child in tree.children(position) {
                let Party { bytes, ready, .. } = parties[child];
                let receiver = &mut parties[position];
                let (latency, occupancy) = self.links.times(bytes);
                receiver.free = receiver.free.max(ready + latency) + occupancy;
                receiver.ready = receiver.free;
                receiver.bytes += bytes;
            }
        }
        parties[tree.root()]
    }
}

/// Merging costs, with the costs of each range's message tabulated.
struct Tabulated<'a> {
    parties: &'a [Party],
    /// Row `first`, entry `last`: latency and occupancy, and whether there is data.
    messages: Vec<(f64, f64)>,
}

impl<'a> Tabulated<'a> {
    fn new(law: &Among<'a>) -> Tabulated<'a> {
        let parties = law.parties.len();
        let mut messages = vec![(0.0, 0.0); parties * parties];
        for first in 0..parties {
            for last in first..parties {
                let bytes = law.before[last + 1] - law.before[first];
                messages[first * parties + last] = law.links.times(bytes);
            }
        }
        Tabulated { parties: law.parties, messages }
    }
}

impl Receiving<f64> for Tabulated<'_> {
    fn ranks(&self) -> usize {
        self.parties.len()
    }

    fn copy(&self, rank: Rank) -> f64 {
        self.parties[rank].free
    }

    #[inline(always)]
    fn received(&self, clock: f64, ready: f64, first: Rank, last: Rank) -> f64 {
        let ready = if first == last { self.parties[first].ready } else { ready };
        let (latency, occupancy) = self.messages[first * self.parties.len() + last];
        clock.max(ready + latency) + occupancy
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tuwtree_model::{Piece, PiecewiseLinear};

    fn links() -> LinkLaw {
        let piece = Piece { from_bytes: 0, alpha: 5.0, overhead: 2.0, beta: 1.0 };
        PiecewiseLinear::new(vec![piece]).unwrap().into()
    }

    fn parties(sizes_and_times: &[(u64, f64)]) -> Vec<Party> {
        let party =
            |(root, &(bytes, free)): (Rank, &(u64, f64))| Party { root, bytes, ready: free, free };
        sizes_and_times.iter().enumerate().map(party).collect()
    }

    #[test]
    fn who_is_late_is_received_late() {
        // 1 is free at once, and receives 0 (3, 2 + 10), while 2 gathers its own until 20: 23, 2 + 1.
        let found = merge(&links(), &parties(&[(10, 0.0), (1, 0.0), (1, 20.0)]), Some(1)).unwrap();
        assert_eq!(found.receives, [(1, 0), (1, 2)]);
        assert_eq!(found.party, Party { root: 1, bytes: 12, ready: 26.0, free: 26.0 });
    }

    #[test]
    fn as_many_as_there_are_become_one() {
        for count in [1, 2, 99, 101, 300] {
            let all = parties(&vec![(3, 0.0); count]);
            let merged = merge(&links(), &all, None).unwrap();
            assert_eq!((merged.receives.len(), merged.party.bytes), (count - 1, 3 * count as u64));
        }
    }
}
