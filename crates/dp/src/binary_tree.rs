//! Optimal ordered binary trees: their five cases, and the tree behind a finished table.

use crate::Triangle;
use tuwtree_model::{Rank, Scalar, ScaledSizes, Step, Tree};

/// Collection of a range of at least two ranks by its root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BinaryShape {
    /// The first rank copies, then receives `[i+1..last_inner]` and `[last_inner+1..j]`; the
    /// second subtree is missing if `last_inner = j`.
    First { last_inner: Rank },
    /// This rank receives all before it, copies, receives all after it.
    Middle { root: Rank },
    /// The last rank receives `[i..last_outer]` and `[last_outer+1..j-1]`, then copies; the
    /// second subtree is missing if `last_outer = j - 1`.
    Last { last_outer: Rank },
}

/// `U(i,k) = max(gamma m_i, D(i+1,k)) + comm(S(i+1,k))`: the first rank has one subtree.
#[inline(always)]
pub(crate) fn first_with_one<T: Scalar>(
    sizes: &ScaledSizes<T>,
    table: &Triangle<T>,
    (i, k): (Rank, Rank),
) -> T {
    sizes.copy(i).most(table.get(i + 1, k)) + sizes.transmission(i + 1, k)
}

/// `V(i,k) = D(i,k-1) + comm(S(i,k-1)) + gamma m_k`: the last rank has one subtree.
#[inline(always)]
pub(crate) fn last_with_one<T: Scalar>(
    sizes: &ScaledSizes<T>,
    table: &Triangle<T>,
    (i, k): (Rank, Rank),
) -> T {
    received(sizes, table, (i, k - 1)) + sizes.copy(k)
}

/// `D(i,k) + comm(S(i,k))`: when the range has been received by its parent, which waited for it.
#[inline(always)]
pub(crate) fn received<T: Scalar>(
    sizes: &ScaledSizes<T>,
    table: &Triangle<T>,
    (i, k): (Rank, Rank),
) -> T {
    table.get(i, k) + sizes.transmission(i, k)
}

/// The time of the root's second message, from `[i..j]`, if it may begin at `clock`.
#[inline(always)]
pub(crate) fn second_message<T: Scalar>(
    sizes: &ScaledSizes<T>,
    table: &Triangle<T>,
    clock: T,
    (i, j): (Rank, Rank),
) -> T {
    clock.most(table.get(i, j)) + sizes.transmission(i, j)
}

/// The time of `[i..j]` in this shape.
///
/// # Source
/// OPT Fig. 7; differs: its last case prints `gamma m_i` for `gamma m_j`.
fn time<T: Scalar>(
    sizes: &ScaledSizes<T>,
    table: &Triangle<T>,
    (i, j): (Rank, Rank),
    shape: BinaryShape,
) -> T {
    match shape {
        BinaryShape::First { last_inner } if last_inner == j => {
            first_with_one(sizes, table, (i, j))
        }
        BinaryShape::First { last_inner: k } => {
            second_message(sizes, table, first_with_one(sizes, table, (i, k)), (k + 1, j))
        }
        BinaryShape::Middle { root: k } => {
            second_message(sizes, table, last_with_one(sizes, table, (i, k)), (k + 1, j))
        }
        BinaryShape::Last { last_outer } if last_outer + 1 == j => {
            last_with_one(sizes, table, (i, j))
        }
        BinaryShape::Last { last_outer: k } => {
            let clock = received(sizes, table, (i, k));
            second_message(sizes, table, clock, (k + 1, j - 1)) + sizes.copy(j)
        }
    }
}

/// The shapes of a range, in the order in which ties are broken.
fn shapes(i: Rank, j: Rank) -> impl Iterator<Item = BinaryShape> {
    let first = (i + 1..=j).map(|last_inner| BinaryShape::First { last_inner });
    let middle = (i + 1..j).map(|root| BinaryShape::Middle { root });
    let last = (i..j).map(|last_outer| BinaryShape::Last { last_outer });
    first.chain(middle).chain(last)
}

/// The shapes of a range whose root is given.
fn shapes_with_root(i: Rank, j: Rank, root: Rank) -> impl Iterator<Item = BinaryShape> {
    shapes(i, j).filter(move |shape| match shape {
        BinaryShape::First { .. } => root == i,
        BinaryShape::Middle { root: middle } => *middle == root,
        BinaryShape::Last { .. } => root == j,
    })
}

/// The first of the shapes that attains `target`, or else the first of the least ones.
fn best_shape<T: Scalar>(
    sizes: &ScaledSizes<T>,
    table: &Triangle<T>,
    (i, j): (Rank, Rank),
    shapes: impl Iterator<Item = BinaryShape>,
    target: Option<T>,
) -> (T, BinaryShape) {
    let mut best = (T::NEVER, BinaryShape::First { last_inner: j });
    for shape in shapes {
        let time = time(sizes, table, (i, j), shape);
        if time < best.0 {
            best = (time, shape);
            if target == Some(time) {
                break;
            }
        }
    }
    best
}

/// The least completion time with any root and a tree that attains it.
///
/// Ties: the root at the first place before one in the middle before one at the last, among those
/// the lower split.
///
/// # Complexity
/// O(p^2) time in the worst case, O(p) space.
pub(crate) fn free_root_tree<T: Scalar>(sizes: &ScaledSizes<T>, table: &Triangle<T>) -> (T, Tree) {
    let last = sizes.ranks() - 1;
    (table.get(0, last), tree_of_shapes(sizes, table, None))
}

/// The least completion time with this root and a tree that attains it; only the outermost step
/// differs from the free root's.
///
/// # Source
/// OPT section 3.3.
pub(crate) fn fixed_root_tree<T: Scalar>(
    sizes: &ScaledSizes<T>,
    table: &Triangle<T>,
    root: Rank,
) -> (T, Tree) {
    match sizes.ranks() - 1 {
        0 => (T::ZERO, tree_of_shapes(sizes, table, None)),
        last => {
            let shapes = shapes_with_root(0, last, root);
            let (time, shape) = best_shape(sizes, table, (0, last), shapes, None);
            (time, tree_of_shapes(sizes, table, Some(shape)))
        }
    }
}

/// The tree with this shape at its root, or an optimal one, and optimal ones below. No recursion.
fn tree_of_shapes<T: Scalar>(
    sizes: &ScaledSizes<T>,
    table: &Triangle<T>,
    outermost: Option<BinaryShape>,
) -> Tree {
    enum Work {
        Range(Rank, Rank),
        Copy(Rank),
        /// This rank receives the range that was completed last.
        Receive(Rank),
        /// A range is complete at this rank.
        Complete(Rank),
    }
    let ranks = sizes.ranks();
    let mut outermost = outermost;
    let mut steps = Vec::with_capacity(2 * ranks);
    let mut roots = Vec::new();
    let mut work = vec![Work::Range(0, ranks - 1)];
    while let Some(next) = work.pop() {
        match next {
            Work::Range(i, j) if i == j => roots.push(i),
            Work::Range(i, j) => {
                let shape = outermost.take().unwrap_or_else(|| {
                    let target = Some(table.get(i, j));
                    best_shape(sizes, table, (i, j), shapes(i, j), target).1
                });
                let (root, parts) = parts(shape, (i, j));
                work.push(Work::Complete(root));
                // Last in, first out: the root's last step goes in first.
                for part in parts.into_iter().rev() {
                    match part {
                        Collected::Own => work.push(Work::Copy(root)),
                        Collected::Subtree(first, last) => {
                            work.push(Work::Receive(root));
                            work.push(Work::Range(first, last));
                        }
                    }
                }
            }
            Work::Copy(rank) => steps.push((rank, Step::Copy)),
            Work::Receive(rank) => {
                let child = roots.pop().expect("the subtree is complete");
                steps.push((rank, Step::Receive(child)));
            }
            Work::Complete(rank) => roots.push(rank),
        }
    }
    let root = roots.pop().expect("the whole range is complete");
    Tree::new(ranks, root, &steps).expect("shapes make a tree")
}

/// One step of a root's collection.
enum Collected {
    Own,
    Subtree(Rank, Rank),
}

/// Root of a range of this shape, and its collection in order.
fn parts(shape: BinaryShape, (i, j): (Rank, Rank)) -> (Rank, Vec<Collected>) {
    use Collected::{Own, Subtree};
    match shape {
        BinaryShape::First { last_inner } if last_inner == j => (i, vec![Own, Subtree(i + 1, j)]),
        BinaryShape::First { last_inner: k } => {
            (i, vec![Own, Subtree(i + 1, k), Subtree(k + 1, j)])
        }
        BinaryShape::Middle { root } => {
            (root, vec![Subtree(i, root - 1), Own, Subtree(root + 1, j)])
        }
        BinaryShape::Last { last_outer } if last_outer + 1 == j => {
            (j, vec![Subtree(i, j - 1), Own])
        }
        BinaryShape::Last { last_outer: k } => (j, vec![Subtree(i, k), Subtree(k + 1, j - 1), Own]),
    }
}
