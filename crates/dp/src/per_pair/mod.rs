//! Optimal ordered trees where every pair of ranks has costs of its own.
//!
//! A message from `q` to `r` takes `alpha_qr + beta_qr s`; the reverse may differ, and some pairs may
//! have no link. A subtree's root then matters to whom it sends: `C(i,j,r)` is a table over ranges
//! and roots. Beside gather and scatter there are broadcast and reduction, in which the whole vector
//! goes along each edge and nothing is copied.
//!
//! # Latency that overlaps
//! A message that may occupy the receiver's port `lambda_qr` after its sender is ready arrives at
//! `max(x, C_q + lambda_qr) + o_qr + beta_qr s`, if the receiver is free from `x` on. What the recurrences
//! rest on stays: that rises with `x` and with `C_q`, and children are independent. Then everybody copies
//! before the first message, which is never later; and a binary tree receives its two subtrees in either
//! order.
//!
//! # Engines
//! | engine | costs | time | space | purpose |
//! |---|---|---|---|---|
//! | [`PairMethod::Plain`] | linear, or of a machine's levels | O(p^5), on `h` levels that are not linear O(p^4 h) | O(p^3) | the published recurrence as written |
//! | [`PairMethod::Hinges`] | linear | O(p^4 log p) at worst, O(p^4) as a rule | O(p^3) | the same table, fast |
//! | [`optimal_binary_per_pair`] | linear, or of a machine's levels | O(p^4) | O(p^3) | at most two children |
//!
//! [`memory_needed_per_pair`] says beforehand what the tables take, and [`most_ranks_per_pair`]
//! how many ranks fit.
//!
//! # What there is no tree for
//! Not every pair needs a link, and nothing needs to be sent where there is no data. If no tree at all
//! has the links that it needs, the error names a cut, before anything is computed; if no ordered one
//! has, a range of ranks that cannot be joined.
//!
//! # What this module does not do
//! It knows one port, and where costs are linear no machine, only a matrix; the best tree that is not ordered is another, NP-hard problem
//! (OPT Theorems 5 and 7).
//!
//! # Source
//! OPT Proposition 3, Fig. 5, Theorems 1, 3 and 4.

mod binary;
mod groups;
mod hinge;
mod hinges;
mod levels;
mod links;
mod plain;
mod receiver;
mod senders;
#[cfg(test)]
mod tests;
mod tree;

use crate::progress::Meter;
use crate::{DpError, Optimum, Progress};
use links::Links;
use tuwtree_model::{Problem, Rank, Root};

/// How the recurrence is evaluated. Both methods fill the same table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[derive(strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "kebab-case")]
pub enum PairMethod {
    /// Split by split and sender by sender, for all roots: O(p^5).
    Plain,
    /// By lower envelopes of what the senders of a range offer: O(p^4 log p), as a rule O(p^4).
    Hinges,
}

/// What is computed, as far as the size of its tables depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PairTrees {
    /// [`optimal_per_pair`] by this method.
    AnyDegree(PairMethod),
    /// [`optimal_binary_per_pair`].
    Binary,
}

/// The bytes of the tables for such a problem.
///
/// Almost all the memory that is needed; to be held against what there is before the computation
/// begins, as the computation itself does with [`Progress::memory_allowed`].
///
/// # Complexity
/// O(1).
pub fn memory_needed_per_pair(ranks: usize, root: Root, trees: PairTrees) -> u64 {
    let root = match root {
        Root::Given(root) => Root::Given(root.min(ranks.saturating_sub(1))),
        open @ (Root::Best | Root::None) => open,
    };
    let bytes = match trees {
        _ if ranks == 0 => 0,
        PairTrees::AnyDegree(PairMethod::Hinges) => hinges::memory(ranks, root),
        PairTrees::AnyDegree(PairMethod::Plain) => levels_memory(ranks, Root::Best),
        PairTrees::Binary => levels_memory(ranks, root),
    };
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

/// The bytes of level tables for the best root, or beside a given one, and of the links.
fn levels_memory(ranks: usize, root: Root) -> u128 {
    let times = levels::widths(ranks, root).map(levels::level_cells).sum::<u128>();
    let links = 2 * (ranks as u128).pow(2);
    size_of::<f64>() as u128 * (times + links)
}

/// The most ranks whose tables take no more than `memory` bytes; 0 if not even one's do.
///
/// # Complexity
/// O(log p).
pub fn most_ranks_per_pair(memory: u64, root: Root, trees: PairTrees) -> usize {
    let fits = |ranks| memory_needed_per_pair(ranks, root, trees) <= memory;
    let (mut fitting, mut too_many) = (0, MOST + 1);
    while too_many - fitting > 1 {
        let middle = fitting.midpoint(too_many);
        if fits(middle) {
            fitting = middle;
        } else {
            too_many = middle;
        }
    }
    fitting
}

/// More ranks have no ranks in the tables.
const MOST: usize = 1 << 16;

/// A problem's links, once it is known to fit.
fn links(problem: &Problem, trees: PairTrees, progress: &dyn Progress) -> Result<Links, DpError> {
    check_memory(problem, trees, progress)?;
    let links = Links::new(problem)?;
    problem.check_links()?;
    Ok(links)
}

/// Fails unless the operation goes along trees, and their tables fit.
fn check_memory(
    problem: &Problem,
    trees: PairTrees,
    progress: &dyn Progress,
) -> Result<(), DpError> {
    let operation = problem.operation();
    if !operation.is_rooted() {
        return Err(DpError::Rootless { operation });
    }
    let (ranks, root) = (problem.ranks(), problem.root());
    let needed = memory_needed_per_pair(ranks, root, trees);
    let allowed = progress.memory_allowed();
    if needed > allowed || ranks > MOST {
        let most = most_ranks_per_pair(allowed, root, trees);
        return Err(DpError::DoesNotFit { ranks, needed, allowed, most });
    }
    Ok(())
}

/// An optimal ordered tree, whatever the operation: least completion time over all ordered trees (as
/// the [crate](crate#what-an-ordered-tree-is-here) defines them), given or best root, through one port. Where
/// latency overlaps, over those in which everybody copies first.
///
/// Linear costs of any other kind are written as a matrix first. Ties: the lowest root; then, from each root's
/// last message to its first, the lowest split, then the lowest sender.
///
/// # Errors
/// [`DpError::DoesNotFit`] before anything is computed; [`DpError::Costs`], for [`PairMethod::Hinges`] also
/// if costs are not linear; [`DpError::TooLarge`]; [`DpError::OutOfMemory`], [`DpError::Cancelled`];
/// [`DpError::NoTree`] and
/// [`DpError::NoOrderedTree`] where links are missing.
///
/// # Panics
/// If there are no ranks.
///
/// # Complexity
/// O(p^4 log p) at worst and O(p^4) as a rule by [`PairMethod::Hinges`], an eighth of it for a given
/// root in the middle; O(p^5) by [`PairMethod::Plain`], where costs are those of `h` levels that are not linear
/// O(p^4 h). O(p^3) space.
///
/// # Source
/// OPT Proposition 3, Fig. 5, Theorems 1 and 4.
///
/// # Example
/// 1 cannot send to 0, but to 2, which can: 2 receives 1 byte (10 + 1), copies its own 4 (0), and 0
/// receives all 5 (10 + 5).
/// ```
/// use tuwtree_dp::{PairMethod, optimal_per_pair};
/// use tuwtree_model::{BlockSizes, CostMatrix, Problem, Root};
/// let alpha = |sender, receiver| match (sender, receiver) {
///     (1, 0) => f64::INFINITY,
///     _ => 10.0,
/// };
/// let costs = CostMatrix::from_fn(3, alpha, |_, _| 1.0, |_| 0.0).unwrap();
/// let sizes = BlockSizes::new([2, 1, 4]).unwrap();
/// let problem = Problem::gather(&sizes, &costs).unwrap().with_root(Root::Given(0)).unwrap();
/// let best = optimal_per_pair(&problem, PairMethod::Hinges, &()).unwrap();
/// assert_eq!(best.value, 26.0);
/// ```
pub fn optimal_per_pair(
    problem: &Problem,
    method: PairMethod,
    progress: &dyn Progress,
) -> Result<Optimum, DpError> {
    if method == PairMethod::Hinges {
        problem.costs().check_linear()?;
    }
    let links = links(problem, PairTrees::AnyDegree(method), progress)?;
    by_method(problem, &links, method, progress)
}

/// The faster of the methods that the costs admit.
pub fn default_pair_method(problem: &Problem) -> PairMethod {
    match problem.costs().check_linear() {
        Ok(()) => PairMethod::Hinges,
        Err(_) => PairMethod::Plain,
    }
}

/// The same over the ordered trees in which everybody copies first, whether or not latency overlaps, with a
/// given root that is busy until some time, if any, no earlier than its copy is done.
///
/// # Errors, panics
/// As [`optimal_per_pair`].
///
/// # Complexity
/// O(p^4 h) on the `h` levels of a machine, linear or not; for other costs that of [`PairMethod::Hinges`].
pub(crate) fn optimal_copying_first(
    problem: &Problem,
    busy: Option<(Rank, f64)>,
    progress: &dyn Progress,
) -> Result<Optimum, DpError> {
    let (links, method) = match problem.costs().hierarchy() {
        Some(machine) => {
            let method = PairMethod::Plain;
            check_memory(problem, PairTrees::AnyDegree(method), progress)?;
            (Links::of_levels(problem, machine)?, method)
        }
        None => {
            let method = PairMethod::Hinges;
            (links(problem, PairTrees::AnyDegree(method), progress)?, method)
        }
    };
    by_method(problem, &links.copying_first(busy), method, progress)
}

/// Fails if the best senders of all groups take more memory than there is.
fn check_groups(links: &Links, progress: &dyn Progress) -> Result<(), DpError> {
    let allowed = progress.memory_allowed();
    match links.groups() {
        Some(groups) if groups.memory() > allowed => Err(DpError::MemoryExhausted { allowed }),
        _ => Ok(()),
    }
}

/// An optimal tree by a method that admits the costs.
fn by_method(
    problem: &Problem,
    links: &Links,
    method: PairMethod,
    progress: &dyn Progress,
) -> Result<Optimum, DpError> {
    let last = links.ranks() - 1;
    match method {
        PairMethod::Plain => {
            check_groups(links, progress)?;
            let mut meter = Meter::new(progress, levels::level_cells(last + 1) as usize);
            let table = plain::ordered(links, &mut meter)?;
            optimum(problem, links, |i, j, r| table.get(i, j, r))
        }
        PairMethod::Hinges => {
            let mut meter = Meter::new(progress, hinges::results(last + 1, problem.root()));
            let table = hinges::ordered(links, problem.root(), &mut meter)?;
            optimum(problem, links, |i, j, r| table.get(i, j, r))
        }
    }
}

/// The optimum out of a finished table.
fn optimum(
    problem: &Problem,
    links: &Links,
    time: impl Fn(Rank, Rank, Rank) -> f64,
) -> Result<Optimum, DpError> {
    let (last, root) = (links.ranks() - 1, problem.root());
    let best = match root {
        Root::Best | Root::None => tree::best_root((0..=last).map(|root| time(0, last, root))),
        Root::Given(root) => Some((root, time(0, last, root))).filter(|best| best.1.is_finite()),
    };
    let Some((found, value)) = best else {
        return Err(no_ordered_tree(problem, |i, j| match root {
            Root::Given(root) if (i..=j).contains(&root) => time(i, j, root).is_finite(),
            Root::Given(_) | Root::Best | Root::None => {
                (i..=j).any(|root| time(i, j, root).is_finite())
            }
        }));
    };
    let value = links.stated(value)?;
    Ok(Optimum { tree: tree::of_joins(links, found, time), value })
}

/// An optimal ordered binary tree, whatever the operation: least completion time over all strongly
/// ordered trees in which no rank has more than two children, given or best root, through one
/// port. Where latency overlaps, over all trees of subtrees of consecutive ranks with so few children; for
/// vectors, over those that combine neighbours only.
///
/// Ties: the lowest root; then two children before one, the lower split, and the lowest senders.
///
/// # Errors, panics
/// As [`optimal_per_pair`].
///
/// # Complexity
/// O(p^4) time, O(p^3) space.
///
/// # Source
/// OPT Fig. 7 and Theorem 3, for each root.
pub fn optimal_binary_per_pair(
    problem: &Problem,
    progress: &dyn Progress,
) -> Result<Optimum, DpError> {
    let links = links(problem, PairTrees::Binary, progress)?;
    let (last, root) = (links.ranks() - 1, problem.root());
    let mut meter = Meter::new(progress, binary::results(last + 1, root));
    let table = binary::binary(&links, root, &mut meter)?;
    let best = match root {
        _ if last == 0 => Some((0, 0.0)),
        Root::Best | Root::None => tree::best_root(table.roots(0, last).iter().copied()),
        Root::Given(root) => {
            let (time, _) = table.best_shape(&links, (0, last, root));
            Some((root, time)).filter(|best| best.1.is_finite())
        }
    };
    let Some((found, value)) = best else {
        return Err(no_ordered_tree(problem, |i, j| match root {
            Root::Given(root) if (i..=j).contains(&root) => true,
            Root::Given(_) | Root::Best | Root::None => {
                table.roots(i, j).iter().any(|time| time.is_finite())
            }
        }));
    };
    let value = links.stated(value)?;
    Ok(Optimum { tree: tree::of_shapes(&links, found, &table), value })
}

/// The error where links lead from all data to the root, but no ordered tree has them: the first of
/// the shortest ranges that cannot be joined, or all ranks if each smaller one can be.
fn no_ordered_tree(problem: &Problem, can_be_joined: impl Fn(Rank, Rank) -> bool) -> DpError {
    let last = problem.ranks() - 1;
    let ranges = (1..=last).flat_map(|length| (0..=last - length).map(move |i| (i, i + length)));
    let mut blocked = ranges.filter(|&(i, j)| !can_be_joined(i, j));
    let (first, last) = blocked.next().unwrap_or((0, last));
    DpError::NoOrderedTree { operation: problem.operation(), root: problem.root(), first, last }
}
