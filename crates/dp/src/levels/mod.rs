//! Optimal ordered trees on machines with levels.
//!
//! What a message costs depends on the innermost group that both ranks share. If every group consists of
//! adjacent ranks, then a boundary between two neighbours has a level, and two ranks pay for the
//! greatest level of the boundaries between them:
//!
//! ```text
//!  ranks        . . . | i . . . | . q . | . . | j | . .          | a boundary above level 0
//!  L                  2         1       1     1   2
//!                     |--- a ---|--|--- b --------|
//!                      greatest of   greatest of
//!                      L[i..=q]      L[q+1..=j+1]
//! ```
//!
//! Of the root `q` of `[i..j]` other ranges need its time and its *type* `(a, b)`: the levels of its links to the ranks
//! just outside. As `q` moves right, `a` rises and `b` falls: a range has at most `2h - 1` types, for any number of
//! ranks. `C(i,j)` is the least time for each of them.
//!
//! ```text
//!          i                k k+1            j
//!  left    |------ q ------|-|------- s -----|     s pays c to its left
//!  receives    a       b         c                 level l = max(b, c)
//!
//!    C(i,j)[a, max(b, L[k+1..=j+1])]  min=  max(C(i,k)[a,b], C(k+1,j)[c,*] + lambda_l) + f_l
//!
//!  right   |------ s ------|-|------- q -----|     the mirror image
//!  receives          c        a         b          level l = max(a, c)
//!
//!    C(i,j)[max(a, L[i..=k+1]), b]    min=  max(C(k+1,j)[a,b], C(i,k)[*,c] + lambda_l) + f_l
//!
//!  lambda_l, f_l   of the bytes that are sent; both 0 if there are none
//!  C(i,i)          0 as a sender; a receiver copies: see [`Class`]
//!  *               the best of these types
//! ```
//!
//! A given root `r` has one state, and the level on the side of `[k+1..j]` is the greatest of
//! `L[r+1..=k+1]` instead of `b`.
//!
//! # How the tables are filled
//! Rows from the last rank up, each from `k = i` on. All splits of `[i..k]` have been tried when its turn
//! comes; then it is tried as the left part of all longer ranges at once:
//!
//! ```text
//!  row i        done | k | k+1 ........ j ........ end       results, lowered one by one
//!  row k+1               | k+1 ........ j ........ end       receivers, or what senders offer
//! ```
//!
//! The inner loops therefore run along two rows and only add and compare. A row keeps the messages of its roots to
//! their left: for each level `l` the best of roots that pay exactly `l`, and of roots that pay at most `l`. A receiver
//! with `b` takes the latter at `l = b` and the former above.
//!
//! # Assumptions
//! None on the laws: pieces, measured tables, any lambda, levels that are cheaper than those inside. Costs
//! of a pair are the same both ways, so a scatter has the trees and times of the gather.
//!
//! # What this module does not do
//! Limits: one port, no wire shared by a node's ranks, and no trees that start away from their own rank
//! ([`wider`](crate::wider) has these, on one level). `docs/levels.md` has the proof, times, and tests.

mod boundaries;
mod class;
pub mod grids;
mod law;
mod offers;
mod rooted;
mod row;
mod side;
#[cfg(test)]
mod tests;
mod tree;

use crate::optimum::lone_rank;
use crate::progress::Meter;
use crate::table::{cells_with_root, triangle_cells};
use crate::{DpError, Optimum, Progress};
use boundaries::Boundaries;
pub use class::Class;
use law::Law;
use rooted::Rooted;
use side::Side;
use tree::Table;
use tuwtree_model::{BlockSizes, Hierarchy, Problem, Rank, Scalar};

/// An optimal tree of a class on a machine with levels, for gather or scatter: least completion time,
/// given or best root, through one port.
///
/// The value is the tree's completion time to the last bit, and exact if all costs are integers.
///
/// # Errors
/// [`DpError::Rootless`], [`DpError::NeedsBlocks`], [`DpError::NotHierarchical`], [`DpError::NotContiguous`];
/// [`DpError::DoesNotFit`] before anything is computed; [`DpError::TooLarge`]; [`DpError::OutOfMemory`],
/// [`DpError::Cancelled`].
///
/// # Complexity
/// O(p^3 h^2) time for `h` levels in use, O(p^2 h) space.
///
/// # Example
/// Nodes of two, 1 + s within one and 10 + s between: ranks 1 and 2 receive from their mates (1 + 5), then
/// 1 from 2 (10 + 10).
/// ```
/// use tuwtree_dp::levels::{Class, optimal};
/// use tuwtree_model::{BlockSizes, Hierarchy, Level, Piece, PiecewiseLinear, Placement, Problem};
/// let level = |name: &str, alpha| Level {
///     name: name.to_owned(),
///     members: 2,
///     links: PiecewiseLinear::new(vec![Piece::one_port(0, alpha, 1.0)]).unwrap().into(),
/// };
/// let levels = vec![level("node", 1.0), level("machine", 10.0)];
/// let machine = Hierarchy::new(levels, Placement::Block, 0.0).unwrap();
/// let sizes = BlockSizes::new([5, 5, 5, 5]).unwrap();
/// let problem = Problem::gather(&sizes, &machine).unwrap();
/// assert_eq!(optimal(&problem, Class::Adjacent, &()).unwrap().value, 26.0);
/// ```
pub fn optimal(
    problem: &Problem,
    class: Class,
    progress: &dyn Progress,
) -> Result<Optimum, DpError> {
    optimal_with_busy_root(problem, class, None, progress)
}

/// The same with a given root that is busy until some time, if any, no earlier than its copy is done.
///
/// # Errors, complexity
/// As [`optimal`].
pub(crate) fn optimal_with_busy_root(
    problem: &Problem,
    class: Class,
    busy: Option<(Rank, f64)>,
    progress: &dyn Progress,
) -> Result<Optimum, DpError> {
    let (sizes, machine) = parts(problem)?;
    let (ranks, root) = (problem.ranks(), problem.root().given());
    let boundaries = Boundaries::new(machine, ranks)?;
    let levels = boundaries.used();
    let (needed, allowed) = (bytes(ranks, root, levels), progress.memory_allowed());
    if needed > allowed {
        let fits = |&ranks: &usize| bytes(ranks, root, levels) <= allowed;
        let most = most_that(ranks, fits);
        return Err(DpError::DoesNotFit { ranks, needed, allowed, most });
    }
    match machine.is_integral() {
        _ if ranks == 1 => Ok(lone_rank()),
        true => {
            let law = Law::<i64>::new(machine, sizes, boundaries).with_busy_rank(busy);
            solve(&law, root, class, progress)
        }
        false => {
            let law = Law::<f64>::new(machine, sizes, boundaries).with_busy_rank(busy);
            solve(&law, root, class, progress)
        }
    }
}

/// The most bytes that the tables of [`optimal`] take for such a problem: almost all the memory that is
/// needed.
///
/// # Errors
/// [`DpError::Rootless`], [`DpError::NeedsBlocks`], [`DpError::NotHierarchical`], [`DpError::NotContiguous`].
///
/// # Complexity
/// O(p h).
pub fn memory_needed(problem: &Problem) -> Result<u64, DpError> {
    let (_, machine) = parts(problem)?;
    let boundaries = Boundaries::new(machine, problem.ranks())?;
    Ok(bytes(problem.ranks(), problem.root().given(), boundaries.used()))
}

/// The blocks and the machine of a problem.
pub(crate) fn parts(problem: &Problem) -> Result<(&BlockSizes, &Hierarchy), DpError> {
    let operation = problem.operation();
    if !operation.is_rooted() {
        return Err(DpError::Rootless { operation });
    }
    let sizes = problem.blocks().ok_or(DpError::NeedsBlocks { operation })?;
    let machine = problem.costs().hierarchy().ok_or(DpError::NotHierarchical)?;
    Ok((sizes, machine))
}

/// The bytes of the tables for so many ranks and levels in use.
fn bytes(ranks: usize, root: Option<Rank>, levels: usize) -> u64 {
    let a_value = size_of::<f64>().max(size_of::<i64>()) as u64;
    // Times of at most 2h - 1 types, and three offers for each level.
    let in_range = (2 * levels).saturating_sub(1) + 3 * levels;
    let in_sides = sides(ranks, root).map(|(_, width)| triangle_cells(width) * in_range);
    (in_sides.sum::<usize>() + rooted_cells(ranks, root)) as u64 * a_value
}

/// The first ranks and widths of the tables that do not hold a given root.
fn sides(ranks: usize, root: Option<Rank>) -> impl Iterator<Item = (Rank, usize)> {
    let (one, other) = match root.map(|root| root.min(ranks - 1)) {
        None => ((0, ranks), None),
        Some(root) => ((0, root), Some((root + 1, ranks - 1 - root))),
    };
    std::iter::once(one).chain(other)
}

/// How many ranges hold a given root.
fn rooted_cells(ranks: usize, root: Option<Rank>) -> usize {
    root.map_or(0, |root| cells_with_root(ranks, root.min(ranks - 1)))
}

/// The greatest number from 1 until before `end` that holds, 0 if none does; lesser ones hold, too.
fn most_that(end: usize, holds: impl Fn(&usize) -> bool) -> usize {
    let (mut holding, mut failing) = (0, end);
    while failing - holding > 1 {
        let middle = holding.midpoint(failing);
        *if holds(&middle) { &mut holding } else { &mut failing } = middle;
    }
    holding
}

/// An optimal tree of several ranks.
fn solve<T: Scalar>(
    law: &Law<'_, T>,
    root: Option<Rank>,
    class: Class,
    progress: &dyn Progress,
) -> Result<Optimum, DpError> {
    let ranks = law.ranks();
    let table = fill(law, root, class, progress)?;
    match law.units(table.value(ranks)) {
        Some(value) => Ok(Optimum { tree: tree::tree(law, class, &table), value }),
        None => Err(DpError::TooLarge { total: law.total() }),
    }
}

/// The finished table of a problem.
fn fill<T: Scalar>(
    law: &Law<'_, T>,
    root: Option<Rank>,
    class: Class,
    progress: &dyn Progress,
) -> Result<Table<T>, DpError> {
    let ranks = law.ranks();
    let cells = sides(ranks, root).map(|(_, width)| triangle_cells(width)).sum::<usize>();
    let mut meter = Meter::new(progress, cells + rooted_cells(ranks, root));
    Ok(match root {
        None => Table::Free(Side::fill(law, class, (0, ranks), &mut meter)?),
        Some(root) => Table::Rooted(Rooted::fill(law, class, root, &mut meter)?),
    })
}
