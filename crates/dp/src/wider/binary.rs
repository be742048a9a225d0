//! The best tree in which nobody has more than two children, for any law that all pairs share.
//!
//! Every subtree spans consecutive ranks, everybody copies first, and two subtrees are received in either
//! order. A root that is not at an end of its range has one subtree on each side; at an end it has one or
//! two, split anywhere:
//!
//! ```text
//! D(i,j) = min over roots r and pairs X, Y of parts of [i..j] without r:
//!            g_r, then X, then Y        X, Y = [i..r-1], [r+1..j]                     i < r < j
//!            g_r, then Y, then X        X, Y = [i+1..k], [k+1..j]                     r = i
//!          g_r, then X                  X, Y = [i..k], [k+1..j-1]                     r = j
//!                                       X = [i+1..j] or [i..j-1] alone
//! ```
//!
//! where "c, then X" is the clock [`Receiving::received`] of a receiver that is free at `c`, and whose child
//! has `X` at `D(X)`. *Exact:* that clock never falls as `c` or `D(X)` rises, and children are independent.

use super::table::given_root;
use super::tabulated::Tabulated;
use super::{BoundedTree, BySize, Receiving, completion};
use crate::progress::Meter;
use crate::table::{TransposedTriangle, Triangle, triangle_cells};
use crate::{DpError, Progress};
use tuwtree_model::{Rank, Root, Scalar, Step, Tree};

/// A tree of least completion time of all in which every subtree spans consecutive ranks and nobody has
/// more than two children, given or best root, for costs that depend on the size of a message in any way.
///
/// Ties: the lowest root, two children before one, the lower split, the left subtree first.
///
/// # Errors
/// [`DpError`]: a root out of range, too little memory, cancelled.
///
/// # Complexity
/// O(p^3) time and O(p^2) space.
///
/// # Source
/// OPT Fig. 7; differs: latency overlaps, copies come first, and two subtrees in either order.
///
/// # Example
/// Messages occupy the port for their size, and travel for 10. Root 0 waits for both others at once.
/// ```
/// use tuwtree_dp::wider::{BySize, optimal_binary_by_size};
/// use tuwtree_model::{BlockSizes, Root};
/// let sizes = BlockSizes::new([0, 2, 3]).unwrap();
/// let law = BySize { sizes: &sizes, port: |bytes| bytes as f64, latency: |_| 10.0, copy: |_| 0.0 };
/// let best = optimal_binary_by_size(&law, Root::Given(0), &()).unwrap();
/// assert_eq!((best.time, best.tree.degree(0)), (15.0, 2));
/// ```
pub fn optimal_binary_by_size<P, L, C>(
    law: &BySize<'_, P, L, C>,
    root: Root,
    progress: &dyn Progress,
) -> Result<BoundedTree, DpError>
where
    P: Fn(u64) -> f64,
    L: Fn(u64) -> f64,
    C: Fn(u64) -> f64,
{
    let root = given_root(law.sizes.ranks(), root)?;
    let law = Tabulated::new(law)?;
    let table = table(&law, progress)?;
    let tree = tree(&law, &table, root);
    let time = completion(&law, &tree).units();
    Ok(BoundedTree { tree, time, at_least: time })
}

/// Table bytes of [`optimal_binary_by_size`] for this many ranks.
pub fn binary_memory_needed(ranks: usize) -> u64 {
    7 * (size_of::<f64>() * triangle_cells(ranks)) as u64
}

/// `D(i,j)` for all ranges.
fn table<T: Scalar>(law: &Tabulated<T>, progress: &dyn Progress) -> Result<Triangle<T>, DpError> {
    let p = law.ranks();
    let mut table = Triangle::new(0, p)?;
    let mut messages = Messages::new(p)?;
    let mut meter = Meter::new(progress, triangle_cells(p));
    for i in (0..p).rev() {
        messages.set(law, (i, i), T::ZERO);
        for j in i + 1..p {
            let left_root = messages.least((i + 1, j), law.copy(i));
            let right_root = messages.least((i, j - 1), law.copy(j));
            let middle_root = messages.least_around(law, (i, j));
            let least = left_root.least(right_root).least(middle_root);
            table.set(i, j, least);
            messages.set(law, (i, j), least);
        }
        meter.row_done(p - i)?;
    }
    Ok(table)
}

/// The messages of all ranges that are known, by first and by last rank: from when on each may occupy a
/// port, and for how long.
struct Messages<T> {
    by_first: [Triangle<T>; 2],
    by_last: [TransposedTriangle<T>; 2],
}

impl<T: Scalar> Messages<T> {
    fn new(ranks: usize) -> Result<Messages<T>, DpError> {
        Ok(Messages {
            by_first: [Triangle::new(0, ranks)?, Triangle::new(0, ranks)?],
            by_last: [TransposedTriangle::new(0, ranks)?, TransposedTriangle::new(0, ranks)?],
        })
    }

    /// Notes the message of a range that is ready then.
    fn set(&mut self, law: &Tabulated<T>, (i, j): (Rank, Rank), ready: T) {
        let (begins, occupies) = law.message(ready, i, j);
        for (tables, value) in [(0, begins), (1, occupies)] {
            self.by_first[tables].set(i, j, value);
            self.by_last[tables].set(i, j, value);
        }
    }

    /// The recurrence for a root beside `[i..j]` whose copy takes this long: the range in one message or in
    /// two.
    fn least(&self, (i, j): (Rank, Rank), copy: T) -> T {
        let [begins, occupies] = [0, 1].map(|table| self.by_first[table].get(i, j));
        let whole = copy.most(begins) + occupies;
        self.least_pair((i, j - (j > i) as usize), (i + 1, j), |_| copy).least(whole)
    }

    /// The recurrence for a root within `[i..j]`, beside which both sides have ranks.
    fn least_around(&self, law: &Tabulated<T>, (i, j): (Rank, Rank)) -> T {
        match j - i {
            0 | 1 => T::NEVER,
            _ => self.least_pair((i, j - 2), (i + 2, j), |left| law.copy(i + 1 + left)),
        }
    }

    /// The least over the pairs of `[i..k]`, for `k` from `i` to the first given end, and of `[l..j]`, where
    /// `l` rises with `k` from the second given start: both received, in the better order, by a root whose
    /// copy takes `copy(k - i)`.
    #[inline(always)]
    fn least_pair(
        &self,
        (i, last_k): (Rank, Rank),
        (first_l, j): (Rank, Rank),
        copy: impl Fn(usize) -> T,
    ) -> T {
        if first_l > j {
            return T::NEVER;
        }
        let pairs = last_k + 1 - i;
        let [left, left_port] = [0, 1].map(|table| &self.by_first[table].row(i)[..pairs]);
        let [right, right_port] =
            [0, 1].map(|table| self.by_last[table].part(first_l, first_l + pairs, j));
        let mut least = T::NEVER;
        for at in 0..pairs {
            let clock = copy(at);
            let (a, f) = (left[at], left_port[at]);
            let (b, g) = (right[at], right_port[at]);
            let left_first = (clock.most(a) + f).most(b) + g;
            let right_first = (clock.most(b) + g).most(a) + f;
            least = least.least(left_first).least(right_first);
        }
        least
    }
}

/// The ranges that a root receives, in this order.
type Parts = [Option<(Rank, Rank)>; 2];

/// The root and the parts of all trees over `[i..j]`, `i < j`, with this root, in the order in which ties
/// are broken.
fn shapes((i, j): (Rank, Rank), root: Rank) -> impl Iterator<Item = (Rank, Parts)> {
    // What lies beside the root, and where it may be split: between its sides, or anywhere on the only one.
    let (first, last, splits) = match root {
        _ if root == i => (i + 1, j, i + 1..j),
        _ if root == j => (i, j - 1, i..j - 1),
        _ => (i, j, root..root + 1),
    };
    let two = splits.flat_map(move |split| {
        let left = (first, if first < root && root < last { root - 1 } else { split });
        let (left, right) = (Some(left), Some((split + 1, last)));
        [[left, right], [right, left]]
    });
    let one = (root == i || root == j).then_some([Some((first, last)), None]);
    two.chain(one).map(move |parts| (root, parts))
}

/// Time at which a root that copies first has received these parts.
fn collected<T: Scalar>(
    law: &impl Receiving<T>,
    table: &Triangle<T>,
    root: Rank,
    parts: Parts,
) -> T {
    let receive = |clock, (a, b): (Rank, Rank)| law.received(clock, table.get(a, b), a, b);
    parts.into_iter().flatten().fold(law.copy(root), receive)
}

/// A tree that attains the table's value, or the least for a given root.
///
/// # Complexity
/// O(p^2) time in the worst case, O(p) space; no recursion.
fn tree<T: Scalar>(law: &impl Receiving<T>, table: &Triangle<T>, root: Option<Rank>) -> Tree {
    let p = law.ranks();
    let mut steps = Vec::with_capacity(2 * p);
    // Ranges, with the place of the step that names their root.
    let mut pending = vec![((0, p - 1), None)];
    let mut whole = None;
    while let Some(((i, j), step)) = pending.pop() {
        let roots = match root.filter(|_| step.is_none()) {
            Some(root) => root..=root,
            None => i..=j,
        };
        let (found, parts) = match i == j {
            true => (i, [None; 2]),
            false => best_shape(law, table, roots.flat_map(|root| shapes((i, j), root))),
        };
        match step {
            Some(step) => {
                let (receiver, _): (Rank, Step) = steps[step];
                steps[step] = (receiver, Step::Receive(found));
            }
            None => whole = Some(found),
        }
        if i < j {
            steps.push((found, Step::Copy));
        }
        for part in parts.into_iter().flatten() {
            pending.push((part, Some(steps.len())));
            // Its root is known when its turn comes.
            steps.push((found, Step::Copy));
        }
    }
    Tree::new(p, whole.expect("the whole range came first"), &steps).expect("shapes make a tree")
}

/// The first of the shapes that take least.
fn best_shape<T: Scalar>(
    law: &impl Receiving<T>,
    table: &Triangle<T>,
    shapes: impl Iterator<Item = (Rank, Parts)>,
) -> (Rank, Parts) {
    let timed = shapes.map(|(root, parts)| (collected(law, table, root, parts), (root, parts)));
    let best = timed.reduce(|best, other| if other.0 < best.0 { other } else { best });
    best.expect("a range of two has a shape").1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wider::Class;
    use crate::wider::plain;
    use crate::wider::tests::exhaustive::every_tree;
    use proptest::prelude::*;
    use tuwtree_model::BlockSizes;

    /// Tables of occupancy and latency by size that rise and fall, and copies.
    fn laws() -> impl Strategy<Value = (Vec<u64>, Vec<i64>, Vec<i64>, i64)> {
        let block = prop_oneof![2 => Just(0_u64), 3 => 0..4_u64, 1 => 0..12_u64];
        (
            prop::collection::vec(block, 1..=6),
            prop::collection::vec(0..30_i64, 80),
            prop::collection::vec(prop_oneof![1 => Just(0_i64), 3 => 0..40_i64], 80),
            0..4_i64,
        )
    }

    /// The trees of a few ranks of which nobody has more than two children.
    fn binary_trees(ranks: usize) -> Vec<Tree> {
        let is_binary = |tree: &Tree| (0..ranks).all(|rank| tree.degree(rank) <= 2);
        let consecutive = |tree: &Tree| Class::Consecutive.check(tree).is_ok();
        every_tree(ranks).filter(|tree| is_binary(tree) && consecutive(tree)).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        fn it_is_the_best_of_all_binary_trees_of_a_few_ranks(
            (blocks, port, latency, copy) in laws(), root in 0..7_usize,
        ) {
            let p = blocks.len();
            let sizes = BlockSizes::new(blocks).unwrap();
            let at = |table: &[i64], bytes: u64| table[bytes as usize % table.len()] as f64;
            let law = BySize {
                sizes: &sizes,
                port: |bytes| at(&port, bytes),
                latency: |bytes| at(&latency, bytes),
                copy: |bytes| (copy * bytes as i64) as f64,
            };
            let root = if root < p { Root::Given(root) } else { Root::Best };
            let best = optimal_binary_by_size(&law, root, &()).unwrap();
            let trees = binary_trees(p);
            let of_root = trees.iter().filter(|tree| root.given().is_none_or(|one| one == tree.root()));
            let least = of_root.map(|tree| completion(&law, tree)).fold(f64::INFINITY, f64::min);
            prop_assert_eq!(best.time, least);
            prop_assert!((0..p).all(|rank| best.tree.degree(rank) <= 2));
            prop_assert!(Class::Consecutive.check(&best.tree).is_ok());
            prop_assert!(root == Root::Best || root == Root::Given(best.tree.root()));
            // Nor is a tree of more children slower that may be had.
            let any = plain::table(&law, Class::Consecutive, root, &()).unwrap().value();
            prop_assert!(any <= best.time);
        }
    }
}
