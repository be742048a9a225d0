//! Ordered trees: those in which every segment is consecutive at every moment; and how far others
//! are from that.

use crate::{Operation, Rank, Step, Tree};

/// Whether what a processor holds is always consecutive in rank order. The strictest comes first, and is the
/// least.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Default,
    strum::VariantArray,
    strum::IntoStaticStr,
    strum::EnumString,
    serde::Serialize,
    serde::Deserialize,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Order {
    /// It is, at every processor and at every moment: no data is ever reordered.
    #[default]
    Ordered,
    /// It is, at every processor but the root, where messages go to places with gaps between.
    Direct,
    /// It need not be.
    Any,
}

impl Order {
    /// The strictest order that a tree keeps, whatever the blocks: empty ones count as any others.
    /// In a reduction, whether operands are combined in rank order; a broadcast has nothing to order.
    ///
    /// # Complexity
    /// O(p) time and space.
    ///
    /// # Example
    /// ```
    /// use tuwtree_model::{Operation, Order, Step, Tree};
    /// let star = |steps: &[Step]| {
    ///     let steps: Vec<_> = steps.iter().map(|&step| (0, step)).collect();
    ///     Order::of(&Tree::new(3, 0, &steps).unwrap(), Operation::Gather)
    /// };
    /// assert_eq!(star(&[Step::Copy, Step::Receive(1), Step::Receive(2)]), Order::Ordered);
    /// assert_eq!(star(&[Step::Copy, Step::Receive(2), Step::Receive(1)]), Order::Direct);
    /// ```
    pub fn of(tree: &Tree, operation: Operation) -> Order {
        let checked = match operation {
            Operation::Gather | Operation::Scatter | Operation::Allgather | Operation::Alltoall => {
                check_ordered(tree)
            }
            Operation::Reduce | Operation::ReduceScatter | Operation::Allreduce => {
                check_combines_neighbours(tree)
            }
            Operation::Broadcast => Ok(()),
        };
        match checked {
            Ok(()) => Order::Ordered,
            // The root is looked at last: there is no fault elsewhere.
            Err(fault) if fault.processor == tree.root() => Order::Direct,
            Err(_) => Order::Any,
        }
    }
}

/// The first fault that keeps a tree from being ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("rank {processor} holds what is of {}..={} and then takes {}..={}, which is not adjacent", held.0, held.1, taken.0, taken.1)]
pub struct NotOrdered {
    /// The rank whose segment gets a gap.
    pub processor: Rank,
    /// First and last rank of those whose data was held before.
    pub held: (Rank, Rank),
    /// First and last rank of those whose data came next.
    pub taken: (Rank, Rank),
}

/// Fails unless the tree is ordered: every subtree spans consecutive ranks, and each step of each
/// processor extends its segment on the left or on the right, so that no block ever has to be moved
/// to another place in it.
///
/// This is weaker than the words of OPT Definition 3, where children come in rank order from left to
/// right, and weaker than OPT Proposition 3, where ranges are joined that each hold their own root:
/// trees of both kinds are ordered here.
///
/// # Errors
/// [`NotOrdered`] names a processor and the blocks at fault: the root only if there is no other.
///
/// # Complexity
/// O(p) time and space.
pub fn check_ordered(tree: &Tree) -> Result<(), NotOrdered> {
    let mut span: Vec<(Rank, Rank)> = (0..tree.processors()).map(|rank| (rank, rank)).collect();
    for processor in tree.top_down().into_iter().rev() {
        let mut held: Option<(Rank, Rank)> = None;
        for step in tree.steps(processor) {
            let taken = match step {
                Step::Copy => (processor, processor),
                Step::Receive(child) => span[child],
            };
            held = Some(match held {
                None => taken,
                Some(held) => joined(processor, held, taken)?,
            });
        }
        span[processor] = held.unwrap_or((processor, processor));
    }
    Ok(())
}

/// Fails unless every processor, holding its own vector at first, combines it with that of
/// neighbouring ranks only: a reduction then needs no commutative operator, and a broadcast is its
/// mirror.
///
/// Unlike [`check_ordered`], it does not ask when a block is copied: vectors are not.
///
/// # Errors
/// [`NotOrdered`] names a processor and the ranks at fault: the root only if there is no other.
///
/// # Complexity
/// O(p) time and space.
pub fn check_combines_neighbours(tree: &Tree) -> Result<(), NotOrdered> {
    let mut span: Vec<(Rank, Rank)> = (0..tree.processors()).map(|rank| (rank, rank)).collect();
    for processor in tree.top_down().into_iter().rev() {
        for child in tree.children(processor) {
            span[processor] = joined(processor, span[processor], span[child])?;
        }
    }
    Ok(())
}

/// The range that two adjacent ones make up.
fn joined(
    processor: Rank,
    held: (Rank, Rank),
    taken: (Rank, Rank),
) -> Result<(Rank, Rank), NotOrdered> {
    match (held, taken) {
        _ if taken.1 + 1 == held.0 => Ok((taken.0, held.1)),
        _ if held.1 + 1 == taken.0 => Ok((held.0, taken.1)),
        _ => Err(NotOrdered { processor, held, taken }),
    }
}

/// Whether an ordered tree joins adjacent ranges as OPT Proposition 3 has it: each processor's first
/// message comes from the right after its copy, or from the left before its copy (eqs. 5 and 6), and
/// every further one extends the segment that then holds its own block.
///
/// Over these trees the dynamic programs of OPT Figs. 4 to 6 search. They are not all ordered trees:
/// a processor that copies first and then receives from the left, or that receives two subtrees from
/// the left before its copy, outer one first, may be faster.
///
/// # Complexity
/// O(p) time and space.
pub fn joins_adjacent_ranges(tree: &Tree) -> bool {
    let starts_with_a_join = |rank: Rank| {
        let mut steps = tree.steps(rank);
        match (steps.next(), steps.next()) {
            (Some(Step::Copy), Some(Step::Receive(child))) => child > rank,
            (Some(Step::Receive(child)), Some(Step::Copy)) => child < rank,
            _ => tree.degree(rank) == 0,
        }
    };
    check_ordered(tree).is_ok() && (0..tree.processors()).all(starts_with_a_join)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Step::{Copy, Receive};

    #[test]
    fn segments_may_grow_on_both_sides() {
        let steps = [(1, Copy), (1, Receive(2)), (1, Receive(0)), (1, Receive(3))];
        assert_eq!(check_ordered(&Tree::new(4, 1, &steps).unwrap()), Ok(()));
        assert_eq!(check_ordered(&Tree::new(1, 0, &[]).unwrap()), Ok(()));
    }

    #[test]
    fn a_gap_is_named() {
        let steps = [(0, Copy), (0, Receive(2)), (0, Receive(1))];
        let fault = NotOrdered { processor: 0, held: (0, 0), taken: (2, 2) };
        assert_eq!(check_ordered(&Tree::new(3, 0, &steps).unwrap()), Err(fault));
    }

    #[test]
    fn gaps_at_the_root_alone_are_direct_and_others_any() {
        let order =
            |steps: &[(Rank, Step)]| Order::of(&Tree::new(4, 0, steps).unwrap(), Operation::Gather);
        let late = [(0, Copy), (0, Receive(2)), (0, Receive(1)), (2, Copy), (2, Receive(3))];
        assert_eq!(order(&late), Order::Direct);
        // Processor 1 holds 1 and 3; at the root everything would fit.
        let holes = [(0, Copy), (0, Receive(1)), (0, Receive(2)), (1, Copy), (1, Receive(3))];
        assert_eq!(order(&holes), Order::Any);
        let tree = Tree::new(4, 0, &late).unwrap();
        assert_eq!(Order::of(&tree, Operation::Reduce), Order::Direct);
        assert_eq!(Order::of(&tree, Operation::Broadcast), Order::Ordered);
    }

    #[test]
    fn the_own_block_counts_from_its_copy_on() {
        // 2 receives 0..1 and 3 before its own block 2 stands between them.
        let steps = [(2, Receive(1)), (2, Receive(3)), (2, Copy), (1, Receive(0)), (1, Copy)];
        let fault = NotOrdered { processor: 2, held: (0, 1), taken: (3, 3) };
        assert_eq!(check_ordered(&Tree::new(4, 2, &steps).unwrap()), Err(fault));
    }

    #[test]
    fn vectors_are_combined_with_neighbours_whenever_blocks_are_copied() {
        let star = |steps: &[(Rank, Step)]| Tree::new(3, 2, steps).unwrap();
        let outer_first = star(&[(2, Receive(0)), (2, Receive(1)), (2, Copy)]);
        let fault = NotOrdered { processor: 2, held: (2, 2), taken: (0, 0) };
        assert_eq!(check_ordered(&outer_first), Ok(()));
        assert_eq!(check_combines_neighbours(&outer_first), Err(fault));
        let inner_first = star(&[(2, Receive(1)), (2, Receive(0)), (2, Copy)]);
        assert_eq!(check_combines_neighbours(&inner_first), Ok(()));
    }

    #[test]
    fn not_every_ordered_tree_joins_adjacent_ranges() {
        let joins = |processors, root, steps: &[(Rank, Step)]| {
            let tree = Tree::new(processors, root, steps).unwrap();
            assert_eq!(check_ordered(&tree), Ok(()));
            joins_adjacent_ranges(&tree)
        };
        assert!(joins(2, 0, &[(0, Copy), (0, Receive(1))]));
        assert!(joins(2, 1, &[(1, Receive(0)), (1, Copy)]));
        assert!(!joins(2, 1, &[(1, Copy), (1, Receive(0))]));
        assert!(!joins(3, 2, &[(2, Receive(0)), (2, Receive(1)), (2, Copy)]));
        assert!(joins(3, 2, &[(2, Receive(1)), (2, Copy), (2, Receive(0))]));
    }
}
