//! Completion time of a tree, straight from its definition and independent of every construction.

use crate::{BlockSizes, Homogeneous, Rank, Step, Time, TimeError, Tree};

/// When each processor of a gather tree holds its whole segment, when it sends it, and its size.
///
/// A scatter runs the same steps backwards in time, so that its times are these, counted back from
/// the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// `p` entries: when each processor's subtree is complete; 0 for a leaf.
    pub ready: Vec<Time>,
    /// `p` entries: start and end of the transmission to the parent; for the root, twice its clock.
    pub sent: Vec<(Time, Time)>,
    /// `p` entries: the size in bytes of each processor's subtree.
    pub segment: Vec<u64>,
}

/// When every subtree of a gather tree completes, and its size.
///
/// # Shapes
/// `tree` and `sizes` have the same number of processors.
///
/// # Errors
/// [`TimeError`] where integer times would have to be rounded, or are not finite.
///
/// # Panics
/// If the numbers of processors differ.
///
/// # Complexity
/// O(p) time and space; no recursion, so that chains of any length do.
///
/// # Source
/// OPT Definition 2, eqs. 1 and 2. Scatter trees have the same completion times (section 2.5).
///
/// # Example
/// Sizes 2, 1, 4 and costs 1, 1, 1: processor 1 receives from 0, copies, receives from 2:
/// (1 + 2) + 1 + (1 + 4) = 9.
/// ```
/// use tuwtree_model::{BlockSizes, Homogeneous, Step, Tree, completion};
/// let steps = [(1, Step::Receive(0)), (1, Step::Copy), (1, Step::Receive(2))];
/// let tree = Tree::new(3, 1, &steps).unwrap();
/// let sizes = BlockSizes::new([2, 1, 4]).unwrap();
/// let costs = Homogeneous::new(1.0, 1.0, 1.0).unwrap();
/// assert_eq!(completion(&tree, &sizes, &costs).unwrap().ready[1].units(), 9.0);
/// ```
pub fn completion(
    tree: &Tree,
    sizes: &BlockSizes,
    costs: &Homogeneous,
) -> Result<Completion, TimeError> {
    assert_eq!(tree.processors(), sizes.processors(), "tree and sizes of one problem");
    let mut ready = vec![Time::ZERO; tree.processors()];
    let mut sent = vec![(Time::ZERO, Time::ZERO); tree.processors()];
    let mut segment: Vec<u64> = sizes.iter().collect();
    for rank in tree.top_down().into_iter().rev() {
        let mut clock = Time::ZERO;
        for step in tree.steps(rank) {
            clock = match step {
                Step::Copy => costs.after_copy(clock, sizes.block(rank))?,
                Step::Receive(child) => {
                    segment[rank] += segment[child];
                    let end = costs.after_receive(clock, ready[child], segment[child])?;
                    sent[child] = (clock.later(ready[child]), end);
                    end
                }
            };
        }
        ready[rank] = clock;
    }
    sent[tree.root()] = (ready[tree.root()], ready[tree.root()]);
    Ok(Completion { ready, sent, segment })
}

/// The completion time of a gather or scatter tree.
///
/// # Errors, panics, complexity, source
/// As [`completion`].
pub fn completion_time(
    tree: &Tree,
    sizes: &BlockSizes,
    costs: &Homogeneous,
) -> Result<Time, TimeError> {
    Ok(completion(tree, sizes, costs)?.ready[tree.root()])
}

/// A lower bound on the completion time of every tree with this root:
/// `alpha + beta (m - m_r) + gamma m_r`, without the alpha if nothing is to be sent, and without
/// the copy if there is only one processor.
///
/// # Errors
/// As [`completion`].
///
/// # Source
/// OPT section 2.3.
pub fn lower_bound(root: Rank, sizes: &BlockSizes, costs: &Homogeneous) -> Result<Time, TimeError> {
    if sizes.processors() == 1 {
        return Ok(Time::ZERO);
    }
    let received = costs.transmission(sizes.total() - sizes.block(root))?;
    costs.after_copy(received, sizes.block(root))
}

/// A lower bound on the completion time of every tree with any root.
///
/// # Errors
/// As [`completion`], if it holds of every root.
///
/// # Complexity
/// O(p).
pub fn lower_bound_any_root(sizes: &BlockSizes, costs: &Homogeneous) -> Result<Time, TimeError> {
    (0..sizes.processors())
        .map(|root| lower_bound(root, sizes, costs))
        .reduce(|least, next| match (least, next) {
            (Ok(least), Ok(next)) => Ok(least.min(next)),
            (Err(_), other) | (other, Err(_)) => other,
        })
        .expect("a problem has at least one processor")
}
