//! Ordered trees: those in which every segment is consecutive at every moment; and how far others
//! are from that.

use crate::{Operation, Rank, Step, Tree};

/// Order of the data in a rank: always consecutive in rank order, or less strict. The strictest comes first, and is the
/// least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[derive(strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Order {
    /// It is, at every rank and at every moment: no data is ever reordered.
    #[default]
    Ordered,
    /// It is, at every rank but the root, where messages go to places with gaps between.
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
    /// let star = |senders: [usize; 3]| {
    ///     let receives = senders.map(|sender| (0, Step::Receive(sender)));
    ///     let steps: Vec<_> = [(0, Step::Copy)].into_iter().chain(receives).collect();
    ///     Order::of(&Tree::new(4, 0, &steps).unwrap(), Operation::Gather)
    /// };
    /// assert_eq!(star([1, 2, 3]), Order::Ordered);
    /// assert_eq!(star([2, 3, 1]), Order::Ordered);
    /// assert_eq!(star([1, 3, 2]), Order::Direct);
    /// ```
    pub fn of(tree: &Tree, operation: Operation) -> Order {
        let checked = match operation {
            Operation::Broadcast => Ok(()),
            _ if operation.is_reduction() => check_combines_neighbours(tree),
            _ => check_ordered(tree),
        };
        match checked {
            Ok(()) => Order::Ordered,
            // The root is looked at last: there is no fault elsewhere.
            Err(fault) if fault.rank == tree.root() => Order::Direct,
            Err(_) => Order::Any,
        }
    }
}

/// The first fault that keeps a tree from being ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("rank {rank} holds what is of {}..={} and then takes {}..={}, which is not adjacent", held.0, held.1, taken.0, taken.1)]
pub struct NotOrdered {
    /// The rank whose segment gets a gap.
    pub rank: Rank,
    /// First and last rank of those whose data was held before.
    pub held: (Rank, Rank),
    /// First and last rank of those whose data came next.
    pub taken: (Rank, Rank),
}

/// Fails unless the tree is ordered: every subtree spans consecutive ranks, and what a rank has
/// received is one range at every moment, so that no block ever has to be moved to another place in it.
///
/// A rank's own block may be copied before that range reaches it: its place is known. From then
/// on it is part of the range. If it is reached before it is copied, the copy comes next, or data from
/// the other end.
///
/// This is weaker than the words of OPT Definition 3, where children come in rank order from left to
/// right, and weaker than OPT Proposition 3, where ranges are joined that each hold their own root:
/// trees of both kinds are ordered here.
///
/// # Errors
/// [`NotOrdered`] names a rank and the blocks at fault: the root only if there is no other.
///
/// # Complexity
/// O(p) time and space.
pub fn check_ordered(tree: &Tree) -> Result<(), NotOrdered> {
    let mut span: Vec<(Rank, Rank)> = (0..tree.ranks()).map(|rank| (rank, rank)).collect();
    for rank in tree.top_down().into_iter().rev() {
        let mut held = Holding { own: rank, range: None, is_own_apart: false };
        for step in tree.steps(rank) {
            match step {
                Step::Copy => held.copy(),
                Step::Receive(child) => held.take(span[child])?,
            }
        }
        span[rank] = held.whole()?;
    }
    Ok(())
}

/// Data of a rank.
struct Holding {
    own: Rank,
    /// Received range, with the own block once that is copied and next to it.
    range: Option<(Rank, Rank)>,
    /// True if its own block is copied, and not part of the range yet.
    is_own_apart: bool,
}

impl Holding {
    fn copy(&mut self) {
        self.is_own_apart = true;
        self.reach_own();
    }

    fn take(&mut self, taken: (Rank, Rank)) -> Result<(), NotOrdered> {
        self.range = Some(match self.range {
            None => taken,
            Some(range) => joined(self.own, range, taken)?,
        });
        self.reach_own();
        Ok(())
    }

    /// Joins the own block to the range if it is copied and adjacent.
    fn reach_own(&mut self) {
        let own = (self.own, self.own);
        let range = self.range.filter(|_| self.is_own_apart);
        if let Some(Ok(joined)) = range.map(|range| joined(self.own, range, own)) {
            (self.range, self.is_own_apart) = (Some(joined), false);
        }
    }

    /// The range in the end.
    fn whole(self) -> Result<(Rank, Rank), NotOrdered> {
        let own = (self.own, self.own);
        match self.range {
            None => Ok(own),
            Some(held) if self.is_own_apart => Err(NotOrdered { rank: self.own, held, taken: own }),
            Some(held) => Ok(held),
        }
    }
}

/// Fails unless every rank, holding its own vector at first, combines it with that of
/// neighbouring ranks only: a reduction then needs no commutative operator, and a broadcast is its
/// mirror.
///
/// Unlike [`check_ordered`], it does not ask when a block is copied: vectors are not.
///
/// # Errors
/// [`NotOrdered`] names a rank and the ranks at fault: the root only if there is no other.
///
/// # Complexity
/// O(p) time and space.
pub fn check_combines_neighbours(tree: &Tree) -> Result<(), NotOrdered> {
    let mut span: Vec<(Rank, Rank)> = (0..tree.ranks()).map(|rank| (rank, rank)).collect();
    for rank in tree.top_down().into_iter().rev() {
        for child in tree.children(rank) {
            span[rank] = joined(rank, span[rank], span[child])?;
        }
    }
    Ok(())
}

/// The most ranges of ranks that a message holds in a tree, in any order: 1 if each subtree but the whole spans
/// consecutive ranks, and for a lone rank.
///
/// It measures the loss of order where [`Order::of`] has [`Order::Any`]: the most pieces of a message that the root
/// puts to their places.
///
/// # Complexity
/// O(p log p) time, O(p) space.
///
/// # Example
/// Rank 1 sends blocks 1, 3 and 4.
/// ```
/// use tuwtree_model::{Step, Tree, most_ranges};
/// let steps = [(0, Step::Copy), (0, Step::Receive(2)), (0, Step::Receive(1))];
/// let more = [(1, Step::Copy), (1, Step::Receive(3)), (3, Step::Copy), (3, Step::Receive(4))];
/// let tree = Tree::new(5, 0, &[&steps[..], &more].concat()).unwrap();
/// assert_eq!(most_ranges(&tree), 2);
/// ```
pub fn most_ranges(tree: &Tree) -> usize {
    let ancestors = Ancestors::new(tree);
    // By subtree: its ranks, less the pairs of neighbours that are both in it.
    let mut ranges = vec![1_usize; tree.ranks()];
    for rank in 1..tree.ranks() {
        let common = ancestors.common(rank - 1, rank);
        ranges[common] = ranges[common].wrapping_sub(1);
    }
    let mut most = 1;
    for rank in tree.top_down().into_iter().rev() {
        match tree.parent(rank) {
            // None or less, until all below are counted.
            Some(parent) => {
                most = most.max(ranges[rank]);
                ranges[parent] = ranges[parent].wrapping_add(ranges[rank]);
            }
            None => break,
        }
    }
    most
}

/// The ancestors of each rank, some of which are left out on the way up.
struct Ancestors {
    parent: Vec<Rank>,
    depth: Vec<usize>,
    /// An ancestor further up, so that a few of these lead to any.
    far: Vec<Rank>,
}

impl Ancestors {
    fn new(tree: &Tree) -> Ancestors {
        let p = tree.ranks();
        let mut all = Ancestors { parent: vec![0; p], depth: vec![0; p], far: vec![0; p] };
        for rank in tree.top_down() {
            let parent = tree.parent(rank).unwrap_or(rank);
            all.parent[rank] = parent;
            if parent == rank {
                all.far[rank] = rank;
                continue;
            }
            all.depth[rank] = all.depth[parent] + 1;
            let far = all.far[parent];
            let steps = all.depth[parent] - all.depth[far];
            let same = steps == all.depth[far] - all.depth[all.far[far]];
            all.far[rank] = if same { all.far[far] } else { parent };
        }
        all
    }

    /// The nearest rank in whose subtree both are.
    fn common(&self, one: Rank, other: Rank) -> Rank {
        let (mut low, mut high) = (one, other);
        if self.depth[low] < self.depth[high] {
            (low, high) = (high, low);
        }
        while self.depth[low] > self.depth[high] {
            let far = self.far[low];
            low = if self.depth[far] >= self.depth[high] { far } else { self.parent[low] };
        }
        while low != high {
            // At equal depths, as far up.
            let apart = self.far[low] != self.far[high];
            let next = if apart { &self.far } else { &self.parent };
            (low, high) = (next[low], next[high]);
        }
        low
    }
}

/// The range that two adjacent ones make up.
fn joined(rank: Rank, held: (Rank, Rank), taken: (Rank, Rank)) -> Result<(Rank, Rank), NotOrdered> {
    match (held, taken) {
        _ if taken.1 + 1 == held.0 => Ok((taken.0, held.1)),
        _ if held.1 + 1 == taken.0 => Ok((held.0, taken.1)),
        _ => Err(NotOrdered { rank, held, taken }),
    }
}

/// True if an ordered tree joins adjacent ranges as in OPT Proposition 3: each rank's first message comes from the
/// neighbours on the right after its copy, or from the neighbours on the left before its copy (eqs. 5 and 6), and every
/// further one extends the segment that then holds its own block.
///
/// Over these trees the dynamic programs of OPT Figs. 4 to 6 search. They are not all ordered trees:
/// a rank that copies first and then receives from the left, or that begins with ranks away from
/// its own, may be faster.
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
    check_combines_neighbours(tree).is_ok() && (0..tree.ranks()).all(starts_with_a_join)
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
        let steps = [(0, Copy), (0, Receive(1)), (0, Receive(3)), (0, Receive(2))];
        let fault = NotOrdered { rank: 0, held: (0, 1), taken: (3, 3) };
        assert_eq!(check_ordered(&Tree::new(4, 0, &steps).unwrap()), Err(fault));
    }

    #[test]
    fn a_receiver_may_start_away_from_its_own_block_copied_or_not() {
        let kept = |steps: &[(Rank, Step)]| check_ordered(&Tree::new(4, 0, steps).unwrap());
        let away = [(0, Receive(3)), (0, Receive(2)), (0, Receive(1))];
        for copied in 0..=3 {
            let mut steps = away.to_vec();
            steps.insert(copied, (0, Copy));
            assert_eq!(kept(&steps), Ok(()), "{copied}");
        }
        // 1 and 3 leave 2 out.
        let fault = NotOrdered { rank: 0, held: (3, 3), taken: (1, 1) };
        assert_eq!(kept(&[(0, Copy), away[0], away[2], away[1]]), Err(fault));
    }

    #[test]
    fn a_subtree_that_never_reaches_its_own_block_is_not_ordered() {
        let steps = [(1, Copy), (1, Receive(0)), (1, Receive(2)), (0, Copy), (0, Receive(3))];
        let fault = NotOrdered { rank: 0, held: (3, 3), taken: (0, 0) };
        assert_eq!(check_ordered(&Tree::new(4, 1, &steps).unwrap()), Err(fault));
    }

    #[test]
    fn gaps_at_the_root_alone_are_direct_and_others_any() {
        let order =
            |steps: &[(Rank, Step)]| Order::of(&Tree::new(4, 0, steps).unwrap(), Operation::Gather);
        let late = [(0, Copy), (0, Receive(1)), (0, Receive(3)), (0, Receive(2))];
        assert_eq!(order(&late), Order::Direct);
        // Rank 1 holds 1 and 3; at the root everything would fit.
        let holes = [(0, Copy), (0, Receive(1)), (0, Receive(2)), (1, Copy), (1, Receive(3))];
        assert_eq!(order(&holes), Order::Any);
        let tree = Tree::new(4, 0, &late).unwrap();
        assert_eq!(Order::of(&tree, Operation::Reduce), Order::Direct);
        assert_eq!(Order::of(&tree, Operation::Broadcast), Order::Ordered);
    }

    #[test]
    fn the_ranges_of_a_message_are_counted() {
        // The next number of a sequence that is as good as random.
        let mut state = 1_u64;
        let mut below = |end: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % end
        };
        for _ in 0..500 {
            let p = 1 + below(20);
            let mut order: Vec<Rank> = (0..p).collect();
            (1..p).for_each(|at| order.swap(at, below(at + 1)));
            let longest = 1 + below(p);
            let mut steps = Vec::new();
            for at in 1..p {
                // Some parent among the last few, so that there are long paths.
                let parent = at - 1 - below(at.min(longest));
                steps.push((order[parent], Receive(order[at])));
            }
            let receives = |rank: Rank| steps.iter().any(|step| step.0 == rank);
            let copies: Vec<_> =
                (0..p).filter(|&rank| receives(rank)).map(|rank| (rank, Copy)).collect();
            let tree = Tree::new(p, order[0], &[copies, steps].concat()).unwrap();
            let mut members: Vec<Vec<bool>> =
                (0..p).map(|rank| (0..p).map(|one| one == rank).collect()).collect();
            let mut most = 1;
            for rank in tree.top_down().into_iter().rev() {
                let own = members[rank].clone();
                let begins = (0..p).filter(|&one| own[one] && (one == 0 || !own[one - 1])).count();
                if let Some(parent) = tree.parent(rank) {
                    most = most.max(begins);
                    (0..p).for_each(|one| members[parent][one] |= own[one]);
                }
            }
            assert_eq!(most_ranges(&tree), most, "{tree:?}");
        }
    }

    #[test]
    fn the_own_block_counts_from_its_copy_on() {
        // 2 receives 0..1 and 3 before its own block 2 stands between them.
        let steps = [(2, Receive(1)), (2, Receive(3)), (2, Copy), (1, Receive(0)), (1, Copy)];
        let fault = NotOrdered { rank: 2, held: (0, 1), taken: (3, 3) };
        assert_eq!(check_ordered(&Tree::new(4, 2, &steps).unwrap()), Err(fault));
    }

    #[test]
    fn vectors_are_combined_with_neighbours_whenever_blocks_are_copied() {
        let star = |steps: &[(Rank, Step)]| Tree::new(3, 2, steps).unwrap();
        let outer_first = star(&[(2, Receive(0)), (2, Receive(1)), (2, Copy)]);
        let fault = NotOrdered { rank: 2, held: (2, 2), taken: (0, 0) };
        assert_eq!(check_ordered(&outer_first), Ok(()));
        assert_eq!(check_combines_neighbours(&outer_first), Err(fault));
        let inner_first = star(&[(2, Receive(1)), (2, Receive(0)), (2, Copy)]);
        assert_eq!(check_combines_neighbours(&inner_first), Ok(()));
    }

    #[test]
    fn not_every_ordered_tree_joins_adjacent_ranges() {
        let joins = |ranks, root, steps: &[(Rank, Step)]| {
            let tree = Tree::new(ranks, root, steps).unwrap();
            assert_eq!(check_ordered(&tree), Ok(()));
            joins_adjacent_ranges(&tree)
        };
        assert!(joins(2, 0, &[(0, Copy), (0, Receive(1))]));
        assert!(joins(2, 1, &[(1, Receive(0)), (1, Copy)]));
        assert!(!joins(2, 1, &[(1, Copy), (1, Receive(0))]));
        assert!(!joins(3, 2, &[(2, Receive(0)), (2, Receive(1)), (2, Copy)]));
        assert!(joins(3, 2, &[(2, Receive(1)), (2, Copy), (2, Receive(0))]));
        assert!(!joins(3, 0, &[(0, Copy), (0, Receive(2)), (0, Receive(1))]));
    }
}
