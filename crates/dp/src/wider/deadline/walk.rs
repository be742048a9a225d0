//! Deadline splitting by each process for itself.
//!
//! A rank that knows all sizes need not build the whole tree to find its place. From the root down, it splits the range
//! in which it is, and goes on with the child that holds it, until it is the root of the rest:
//!
//! ```text
//! a                x                 b      I am in [u..w], whose root is y, a largest block
//! |----------------x=========|u.i..w=b|
//!                             u.i.y.w       I am in [u..i], whose root I am:
//!                             u.i           my parent is y, my children are what the split says
//! ```
//!
//! All processes split by the same rule in ticks ([`TickLaw`]), and so find one tree, without a message.

use super::{Choice, Clock, Effort, Splitter, TickLaw};
use crate::DpError;
use crate::wider::Class;
use crate::wider::empty::WithoutEmpty;
use crate::wider::table::given_root;
use tuwtree_model::{BlockSizes, Rank, Root, Step, Tree};

/// A process's place in a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnPlace {
    /// Receiver in a gather; `None` for the root.
    pub parent: Option<Rank>,
    /// The first rank of its subtree.
    pub first: Rank,
    /// The last.
    pub last: Rank,
    /// In the order in which it receives in a gather.
    pub children: Vec<ChildRange>,
    /// The children of its parent, itself among them, in the order in which they are received; none for the root.
    pub siblings: Vec<ChildRange>,
    /// The children of the root, in the order in which they are received.
    pub branches: Vec<ChildRange>,
    /// Number of queries for a fitting range on the way: the work.
    pub probes: u64,
}

/// A child, and the ranks of its subtree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChildRange {
    /// The child.
    pub rank: Rank,
    /// The first rank of its subtree.
    pub first: Rank,
    /// The last; the first, if it has no children.
    pub last: Rank,
}

/// The consecutive tree that processes find by themselves, each its place ([`deadline_place`]).
///
/// # Errors, complexity
/// As [`deadline_tree`](super::deadline_tree).
pub fn deadline_tree_in_ticks(
    sizes: &BlockSizes,
    law: &TickLaw,
    root: Root,
    effort: Effort,
) -> Result<Tree, DpError> {
    given_root(sizes.ranks(), root)?;
    let kept = WithoutEmpty::new(sizes, root);
    let tree = splitter(&kept, law, effort).tree(kept.root);
    Ok(kept.restored(&tree))
}

/// Splitter of the kept processes.
fn splitter<'a>(
    kept: &'a WithoutEmpty,
    law: &'a TickLaw,
    effort: Effort,
) -> Splitter<'a, u64, impl Fn(u64) -> (u64, u64) + 'a> {
    let (times, copy) = (|bytes| law.times(bytes), |bytes| law.copy(bytes));
    Splitter::new(&kept.sizes, times, copy, (Class::Consecutive, effort))
}

/// The place of a process in that tree.
///
/// # Errors
/// [`DpError::RootOutOfRange`].
///
/// # Panics
/// If `rank` is none of the problem's.
///
/// # Complexity
/// O(p) space and time for sums and maxima; then one split for each process between it and the root, each of some
/// times `k log p` steps for `k` children.
///
/// # Example
/// ```
/// use tuwtree_dp::wider::{Effort, TickLaw, deadline_place};
/// use tuwtree_model::{BlockSizes, Piece, PiecewiseLinear, Root};
/// let sizes = BlockSizes::new([9, 1, 1, 1, 1]).unwrap();
/// let links = PiecewiseLinear::new(vec![Piece::one_port(0, 2.0, 1.0)]).unwrap().into();
/// let law = TickLaw::new(&links, 0.0, sizes.total()).unwrap();
/// let place = |rank| deadline_place(&sizes, &law, Root::Given(4), rank, Effort::Light).unwrap();
/// assert_eq!(place(4).parent, None);
/// assert_eq!((place(0).parent, place(0).children.len()), (Some(4), 0));
/// ```
pub fn deadline_place(
    sizes: &BlockSizes,
    law: &TickLaw,
    root: Root,
    rank: Rank,
    effort: Effort,
) -> Result<OwnPlace, DpError> {
    let ranks = sizes.ranks();
    assert!(rank < ranks, "rank {rank} of {ranks}");
    given_root(ranks, root)?;
    let kept = WithoutEmpty::new(sizes, root);
    let splitter = splitter(&kept, law, effort);
    let (whole, first) = splitter.whole(kept.root);
    let mut at = Stop { range: whole, choice: first, received: splitter.received(whole, first) };
    let branches = at.ranges(&kept, true);
    let (mut parent, mut siblings) = (None, Vec::new());
    let (before, after) = kept.around(rank);
    loop {
        let is_root = parent.is_none();
        if before == Some(at.choice.root) && before == after {
            let (first, last) = match is_root {
                true => (0, ranks - 1),
                false => (kept.rank(at.range.0), kept.rank(at.range.1)),
            };
            let children = at.ranges(&kept, is_root);
            let probes = splitter.probes.get();
            return Ok(OwnPlace { parent, first, last, children, siblings, branches, probes });
        }
        siblings = at.ranges(&kept, is_root);
        parent = Some(kept.rank(at.choice.root));
        // What is left out at an end, the root takes; between two ranges, who takes these.
        let holds = |&&(_, (u, w)): &&Received| {
            before.is_some_and(|before| u <= before) && after.is_some_and(|after| after <= w)
        };
        match at.received.iter().find(holds) {
            Some(&(_, range)) => {
                let choice = splitter.choose_root(range);
                at = Stop { range, choice, received: splitter.received(range, choice) };
            }
            None => {
                let (children, probes) = (Vec::new(), splitter.probes.get());
                let (first, last) = (rank, rank);
                return Ok(OwnPlace { parent, first, last, children, siblings, branches, probes });
            }
        }
    }
}

/// A child among those kept, and its range.
type Received = (usize, (usize, usize));

/// A range on the way, how it is split, and its children, in the order in which they are received.
struct Stop {
    range: (usize, usize),
    choice: Choice<u64>,
    received: Vec<Received>,
}

impl Stop {
    /// The children among all processes.
    fn ranges(&self, kept: &WithoutEmpty, is_root: bool) -> Vec<ChildRange> {
        let mut steps = Vec::new();
        kept.push_steps(self.choice.root, &self.received, is_root, &mut steps);
        let mut received = self.received.iter().peekable();
        let ranks = steps.into_iter().filter_map(|(_, step)| match step {
            Step::Receive(rank) => Some(rank),
            Step::Copy => None,
        });
        let range = |rank: Rank| match received.next_if(|&&(child, _)| kept.rank(child) == rank) {
            Some(&(_, (u, w))) => ChildRange { rank, first: kept.rank(u), last: kept.rank(w) },
            None => ChildRange { rank, first: rank, last: rank },
        };
        ranks.map(range).collect()
    }
}

impl<T: Clock, M: Fn(u64) -> (T, T)> Splitter<'_, T, M> {
    /// The children of a range split so, in the order in which they are received.
    fn received(&self, range: (Rank, Rank), choice: Choice<T>) -> Vec<Received> {
        let mut children = Vec::new();
        if range.0 < range.1 {
            let feasible = self.split(range, choice, |child| children.push(child));
            debug_assert!(feasible, "the time chosen is");
        }
        children.into_iter().rev().map(|child| (self.root_of(child), child)).collect()
    }

    /// The root of a range.
    fn root_of(&self, range: (Rank, Rank)) -> Rank {
        match self.effort {
            Effort::Least | Effort::Light => self.largest.of(range.0, range.1),
            Effort::Full => self.choose_root(range).root,
        }
    }
}
