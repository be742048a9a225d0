//! Optimal ordered binary trees: the published recurrence for each root, O(p^4).

use super::levels::{Levels, least_arrival, level_cells, spans, widths};
use super::links::Links;
use crate::DpError;
use crate::progress::Meter;
use tuwtree_model::{Rank, Root};

/// One step of a root's collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BinaryPart {
    /// Its own block.
    Own,
    /// All blocks of this range.
    Subtree(Rank, Rank),
}

/// Collection of a root with one or two subtrees, in order.
pub(crate) type PairShape = [Option<BinaryPart>; 3];

/// `D(i,j,q)` for the ranges that subtrees of an optimal binary tree may span, and each root.
#[derive(Clone, Debug)]
pub(crate) struct BinaryTable {
    /// One table for the best root, those on either side of a given one.
    parts: Vec<Levels>,
}

/// The table of optimal binary trees.
///
/// # Errors
/// [`DpError::OutOfMemory`], [`DpError::Cancelled`].
///
/// # Complexity
/// O(p^4) time, O(p^3) space.
///
/// # Source
/// OPT Fig. 7 and Theorem 3, for each root; its last case prints `gamma m_i` for `gamma m_j`. Where latency
/// overlaps: copies come first, and two subtrees in either order.
pub(crate) fn binary(
    links: &Links,
    root: Root,
    meter: &mut Meter<'_>,
) -> Result<BinaryTable, DpError> {
    let parts = spans(links.ranks(), root).map(|span| {
        Levels::fill(span, meter, |shorter, range| {
            let collected = |shape| collected(links, |i, j| shorter.roots(i, j), range.2, shape);
            // The recurrence.
            shapes(links, range).map(collected).fold(f64::INFINITY, f64::min)
        })
    });
    Ok(BinaryTable { parts: parts.collect::<Result<_, _>>()? })
}

/// The number of results of [`binary`].
pub(crate) fn results(ranks: usize, root: Root) -> usize {
    widths(ranks, root).map(level_cells).sum::<u128>() as usize
}

impl BinaryTable {
    /// The times of `[i..j]` by root.
    pub(crate) fn roots(&self, i: Rank, j: Rank) -> &[f64] {
        let part = self.parts.iter().find(|part| part.spans(i, j));
        part.expect("subtrees lie on one side of their root").roots(i, j)
    }

    /// `D(i,j,r)` and the first of the shapes that attain it.
    pub(crate) fn best_shape(&self, links: &Links, range: (Rank, Rank, Rank)) -> (f64, PairShape) {
        let mut best = (f64::INFINITY, [None; 3]);
        for shape in shapes(links, range) {
            let time = collected(links, |i, j| self.roots(i, j), range.2, shape);
            if time < best.0 {
                best = (time, shape);
            }
        }
        best
    }
}

/// Time at which a root has collected the parts of a shape, each from the best of its senders.
fn collected<'a>(
    links: &Links,
    roots: impl Fn(Rank, Rank) -> &'a [f64],
    receiver: Rank,
    shape: PairShape,
) -> f64 {
    shape.into_iter().flatten().fold(0.0, |clock, part| match part {
        BinaryPart::Own => clock + links.copy(receiver),
        BinaryPart::Subtree(a, b) => least_arrival(links, clock, roots(a, b), (a, b, receiver)),
    })
}

/// The shapes of `[i..j]` with root `r`, `i < j`.
///
/// Shapes in the order of tie-breaking: two subtrees before one, the lower split first. If all ranks copy first, two
/// subtrees are received in either order, the left one before the right one first; but vectors are combined with those
/// of neighbours only, hence the nearer of two on one side first.
fn shapes(links: &Links, (i, j, r): (Rank, Rank, Rank)) -> impl Iterator<Item = PairShape> {
    let (copies_first, moves_blocks) = (links.copies_first(), links.moves_blocks());
    in_rank_order((i, j, r)).flat_map(move |shape| {
        let own = Some(BinaryPart::Own);
        let subtrees = || shape.into_iter().flatten().filter(|part| *part != BinaryPart::Own);
        let (one, other) = match (copies_first, subtrees().next(), subtrees().nth(1)) {
            (false, ..) => (Some(shape), None),
            (true, Some(left), Some(right)) => {
                let received = |first, second| {
                    let is_allowed = moves_blocks || !is_nearer(second, first, r);
                    is_allowed.then_some([own, Some(first), Some(second)])
                };
                (received(left, right), received(right, left))
            }
            (true, only, _) => (Some([own, only, None]), None),
        };
        one.into_iter().chain(other)
    })
}

/// True if a part lies between another one and the root.
fn is_nearer(part: BinaryPart, other: BinaryPart, root: Rank) -> bool {
    match (part, other) {
        (BinaryPart::Subtree(a, b), BinaryPart::Subtree(c, d)) => {
            (d < a && b < root) || (root < a && b < c)
        }
        _ => false,
    }
}

/// The shapes whose root copies where its block is in rank order.
fn in_rank_order((i, j, r): (Rank, Rank, Rank)) -> impl Iterator<Item = PairShape> {
    use BinaryPart::{Own, Subtree};
    let splits = match r {
        _ if r == i => i + 1..j,
        _ if r == j => i..j - 1,
        _ => r..r + 1,
    };
    let two = splits.map(move |k| match r {
        _ if r == i => [Some(Own), Some(Subtree(i + 1, k)), Some(Subtree(k + 1, j))],
        _ if r == j => [Some(Subtree(i, k)), Some(Subtree(k + 1, j - 1)), Some(Own)],
        _ => [Some(Subtree(i, r - 1)), Some(Own), Some(Subtree(r + 1, j))],
    });
    let one = match r {
        _ if r == i => Some([Some(Own), Some(Subtree(i + 1, j)), None]),
        _ if r == j => Some([Some(Subtree(i, j - 1)), Some(Own), None]),
        _ => None,
    };
    two.chain(one)
}
