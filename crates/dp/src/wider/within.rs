//! The best consecutive tree within given work: exact if that is enough, else with a bound.
//!
//! Where receivers start with many different clocks, a table for each would take long. Some are kept and
//! the others rounded down to them; the tree found then takes at most the rounding longer than any other.
//! If it does, one rounded copy begins the chain of messages that decides its time. That clock is kept as
//! well, and the tables are filled again, as long as there is work left:
//!
//! ```text
//! clocks       1   3 4   7 8 9            the copy of 7 decides       1   3 4   7 8 9
//! rounded to   1.......  7....    ->      (it was taken for 3)  ->    1.......  7....
//! ```
//!
//! Equal ends prove that the tree is a best one, and so does a bound on all trees that it meets. If they do not meet, all clocks are kept if there is work
//! enough for that; else the best copy-first tree is looked at as well, which needs one table, so that
//! the result is never slower than that.

use super::dense::{self, DensePlan};
use super::empty::WithoutEmpty;
use super::lanes::DenseLaw;
use super::optimum::{ScaledLaw, check_copies_fit};
use super::table::given_root;
use super::{BoundedTree, Class, Engine, Overlapping, Scaled, completion, optimal, plain, tree};
use crate::table::triangle_cells;
use crate::{DpError, Progress};
use tuwtree_bounds::best_lower_bound;
use tuwtree_model::{BlockSizes, Homogeneous, Problem, Rank, Root, Scalar, Step, Time, Tree};

/// Method and work of a search for a consecutive tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outlay {
    /// True for split by split, since copies may outlast their messages.
    pub is_plain: bool,
    /// True if the tree is surely optimal; else the result has a bound.
    pub is_exact: bool,
    /// The table cells that are filled at most, each with a constant number of candidates; for the plain
    /// recurrence as many as take that long.
    pub cells: u64,
    /// The bytes of the tables.
    pub bytes: u64,
}

/// Work of [`optimal_within`], in table cells to be filled.
///
/// No less is done than one search with few clocks takes.
///
/// # Errors
/// As [`super::memory_needed`].
///
/// # Complexity
/// O(p log p).
pub fn outlay(
    sizes: &BlockSizes,
    costs: &Overlapping,
    root: Root,
    most_cells: u64,
) -> Result<Outlay, DpError> {
    given_root(sizes.ranks(), root)?;
    let kept = WithoutEmpty::new(sizes, root);
    match ScaledLaw::new(&kept.sizes, costs)? {
        ScaledLaw::Small(law) => outlay_of(&law, &kept, (sizes, root), costs, most_cells),
        ScaledLaw::Large(law) => outlay_of(&law, &kept, (sizes, root), costs, most_cells),
        ScaledLaw::Fractional(law) => outlay_of(&law, &kept, (sizes, root), costs, most_cells),
    }
}

fn outlay_of<T: Scalar>(
    law: &Scaled<T>,
    kept: &WithoutEmpty,
    (sizes, root): (&BlockSizes, Root),
    costs: &Overlapping,
    most_cells: u64,
) -> Result<Outlay, DpError> {
    if check_copies_fit(law, kept, costs.occupancy()).is_err() {
        let all = Scaled::<f64>::new(costs, sizes);
        let all = all.ok_or(DpError::TooLarge { total: sizes.total() })?;
        let bytes = plain::memory_needed(&all, Class::Consecutive, root)?;
        let tables = bytes / (size_of::<f64>() * triangle_cells(sizes.ranks())) as u64;
        let splits = (sizes.ranks() as u64).saturating_pow(3) / 6;
        let cells = splits.saturating_mul(1 + tables) / SPLITS_PER_CELL;
        return Ok(Outlay { is_plain: true, is_exact: true, cells, bytes });
    }
    outlay_of_search(&ClockSearch::new(law, kept, most_cells)?)
}

/// Work of a search.
pub(super) fn outlay_of_search<T: Scalar>(
    search: &ClockSearch<'_, T, impl DenseLaw<T>>,
) -> Result<Outlay, DpError> {
    let most_cells = search.most_cells;
    let (first, p) = (search.plan()?, search.law.ranks());
    let (cells, bytes) = (first.cells(p) as u64, first.memory_needed(search.law));
    Ok(match (search.is_exact(), search.exact_cells) {
        (true, _) => Outlay { is_plain: false, is_exact: true, cells, bytes },
        (false, Some(exact)) => {
            let bytes = (bytes / cells.max(1)).saturating_mul(exact);
            Outlay { is_plain: false, is_exact: true, cells: 2 * exact, bytes }
        }
        // One more clock after the other.
        (false, None) => {
            let bytes = bytes.saturating_mul(if 2 * cells <= most_cells { 2 } else { 1 });
            Outlay { is_plain: false, is_exact: false, cells: cells.max(most_cells), bytes }
        }
    })
}

/// A consecutive tree, optimal if this much work suffices, given or best root; never slower than the best copy-first
/// tree.
///
/// `most_cells` is as in [`outlay`]. Where copies may outlast their messages, the plain recurrence is
/// used, whatever it takes.
///
/// # Errors
/// As [`super::optimal`].
///
/// # Complexity
/// A constant number of candidates for each cell.
///
/// # Example
/// ```
/// use tuwtree_dp::wider::{Overlapping, optimal_within};
/// use tuwtree_model::{BlockSizes, Root};
/// let sizes = BlockSizes::new([9, 1, 1, 1, 1]).unwrap();
/// let costs = Overlapping::new(0.0, 2.0, 1.0, 1.0).unwrap();
/// let found = optimal_within(&sizes, &costs, Root::Given(4), 1000, &()).unwrap();
/// assert_eq!((found.time, found.at_least), (17.0, 17.0));
/// ```
pub fn optimal_within(
    sizes: &BlockSizes,
    costs: &Overlapping,
    root: Root,
    most_cells: u64,
    progress: &dyn Progress,
) -> Result<BoundedTree, DpError> {
    given_root(sizes.ranks(), root)?;
    if outlay(sizes, costs, root, most_cells)?.is_plain {
        let (class, engine) = (Class::Consecutive, Engine::Plain);
        return optimal(sizes, costs, root, class, engine, progress);
    }
    let kept = WithoutEmpty::new(sizes, root);
    let bound = || bound_on_all(sizes, costs, root);
    match ScaledLaw::new(&kept.sizes, costs)? {
        ScaledLaw::Small(law) => searched(&law, &kept, most_cells, bound, progress),
        ScaledLaw::Large(law) => searched(&law, &kept, most_cells, bound, progress),
        ScaledLaw::Fractional(law) => searched(&law, &kept, most_cells, bound, progress),
    }
}

/// No tree of whatever order takes less, in time units.
fn bound_on_all(sizes: &BlockSizes, costs: &Overlapping, root: Root) -> f64 {
    let occupancy = costs.occupancy();
    let (overhead, alpha) = (occupancy.alpha(), costs.latency() + occupancy.alpha());
    let bound = Homogeneous::new(alpha, occupancy.beta(), occupancy.gamma())
        .ok()
        .and_then(|costs| costs.with_overhead(overhead).ok())
        .and_then(|costs| Problem::gather(sizes, costs).ok()?.with_root(root).ok())
        .and_then(|problem| best_lower_bound(&problem).ok());
    bound.map_or(0.0, Time::units)
}

/// With a given root that is busy until `start`, in time units, no less than its copy takes.
///
/// # Errors
/// As [`optimal_within`]; [`DpError::GammaExceedsBeta`] if some copy takes longer than its message.
pub(crate) fn optimal_with_busy_root(
    sizes: &BlockSizes,
    costs: &Overlapping,
    busy_root: (Rank, f64),
    most_cells: u64,
    progress: &dyn Progress,
) -> Result<BoundedTree, DpError> {
    let kept = WithoutEmpty::new(sizes, Root::Given(busy_root.0));
    match costs.is_integral() {
        true => {
            let law = law_with_busy_root::<i64>(costs, &kept, busy_root.1)?;
            searched(&law, &kept, most_cells, || 0.0, progress)
        }
        false => {
            let law = law_with_busy_root::<f64>(costs, &kept, busy_root.1)?;
            searched(&law, &kept, most_cells, || 0.0, progress)
        }
    }
}

/// The best copy-first tree with such a root.
///
/// # Errors
/// As [`optimal_with_busy_root`].
///
/// # Complexity
/// O(p^2).
pub(crate) fn optimal_copy_first_with_busy_root(
    sizes: &BlockSizes,
    costs: &Overlapping,
    busy_root: (Rank, f64),
    progress: &dyn Progress,
) -> Result<BoundedTree, DpError> {
    let kept = WithoutEmpty::new(sizes, Root::Given(busy_root.0));
    match costs.is_integral() {
        true => {
            let law = law_with_busy_root::<i64>(costs, &kept, busy_root.1)?;
            best_copy_first(&law, &kept, progress)
        }
        false => {
            let law = law_with_busy_root::<f64>(costs, &kept, busy_root.1)?;
            best_copy_first(&law, &kept, progress)
        }
    }
}

/// The law in which the given root is busy until then.
fn law_with_busy_root<T: Scalar>(
    costs: &Overlapping,
    kept: &WithoutEmpty,
    until: f64,
) -> Result<Scaled<T>, DpError> {
    let law = Scaled::<T>::new(costs, &kept.sizes);
    let law = law.ok_or(DpError::TooLarge { total: kept.sizes.total() })?;
    check_copies_fit(&law, kept, costs.occupancy())?;
    let root = kept.root.given().expect("the root is given");
    Ok(law.with_busy_root(root, T::from_units(until)))
}

pub(super) fn best_copy_first<T: Scalar>(
    law: &impl DenseLaw<T>,
    kept: &WithoutEmpty,
    progress: &dyn Progress,
) -> Result<BoundedTree, DpError> {
    let table = dense::table(law, Class::CopyFirst, kept.root, progress)?;
    let small = tree(law, &table);
    let time = completion(law, &small).units();
    Ok(BoundedTree { tree: kept.restored(&small), time, at_least: time })
}

/// Tables are filled for all clocks if these are so few, whatever it takes.
const FEW_CLOCKS: usize = 2;

/// Distance of clocks that are first rounded to each other: as a share of the time in which all data is sent once.
const FIRST_WIDTH: f64 = 5e-4;

/// Splits of the plain recurrence per cell, in time.
const SPLITS_PER_CELL: u64 = 20;

/// The kept clocks.
pub(super) struct ClockSearch<'a, T, L> {
    law: &'a L,
    root: Root,
    /// Most evenly grouped clocks; [`usize::MAX`] for all.
    most_clocks: usize,
    /// Further clocks that were found to matter.
    kept: Vec<T>,
    /// The cells of tables for all clocks, if they may be filled.
    exact_cells: Option<u64>,
    /// Most cells to be filled.
    most_cells: u64,
}

impl<'a, T: Scalar, L: DenseLaw<T>> ClockSearch<'a, T, L> {
    pub(super) fn new(
        law: &'a L,
        kept: &WithoutEmpty,
        most_cells: u64,
    ) -> Result<ClockSearch<'a, T, L>, DpError> {
        let root = kept.root;
        let most_clocks = usize::MAX;
        let kept = Vec::new();
        let all = ClockSearch { law, root, most_clocks, kept, exact_cells: None, most_cells };
        let (p, exact) = (law.ranks(), all.plan()?);
        if exact.tables() <= 1 + FEW_CLOCKS {
            return Ok(all);
        }
        let width = FIRST_WIDTH * law.everything().units();
        let fine = dense::clocks_within(law, root, width)?;
        let cells = exact.cells(p) as u64;
        let affordable = most_cells / (cells / exact.tables() as u64).max(1);
        let most_clocks = fine.min(affordable as usize).max(FEW_CLOCKS);
        let exact_cells = (2 * cells <= most_cells).then_some(cells);
        Ok(ClockSearch { most_clocks, exact_cells, ..all })
    }

    /// True if all clocks are kept.
    fn is_exact(&self) -> bool {
        self.most_clocks == usize::MAX
    }

    fn plan(&self) -> Result<DensePlan<T>, DpError> {
        let clocks = (self.most_clocks, &self.kept[..]);
        DensePlan::with_clocks(self.law, Class::Consecutive, self.root, clocks)
    }

    /// The best tree for the clocks kept, its time, and a bound on all.
    fn solve(&self, progress: &dyn Progress) -> Result<(Tree, T, T), DpError> {
        let table = self.plan()?.fill(self.law, progress)?.table;
        let tree = tree(self.law, &table);
        let time = completion(self.law, &tree);
        Ok((tree, time, table.value()))
    }
}

pub(super) fn searched<T: Scalar>(
    law: &impl DenseLaw<T>,
    kept: &WithoutEmpty,
    most_cells: u64,
    bound: impl FnOnce() -> f64,
    progress: &dyn Progress,
) -> Result<BoundedTree, DpError> {
    let restored = |small: &Tree, time: T, at_least: T| {
        let (time, at_least) = (time.units(), at_least.units());
        let at_least = if meet(time, at_least) { time } else { at_least };
        BoundedTree { tree: kept.restored(small), time, at_least }
    };
    let mut search = ClockSearch::new(law, kept, most_cells)?;
    let (mut best, mut time, mut at_least) = search.solve(progress)?;
    if kept.is_one_of_several() {
        return Ok(restored(&best, law.copy(0), law.copy(0)));
    }
    if !meet(time.units(), at_least.units()) {
        at_least = at_least.most(T::from_units(bound()));
    }
    let mut allowed = search.exact_cells.unwrap_or(most_cells);
    let mut last = None;
    while !search.is_exact() && !meet(time.units(), at_least.units()) {
        let copy = deciding_copy(law, last.as_ref().unwrap_or(&best));
        search.kept.extend(copy.map(|rank| law.copy(rank).most(law.earliest())));
        let cells = search.plan()?.cells(law.ranks()) as u64;
        match (cells <= allowed, search.exact_cells) {
            (true, _) => allowed -= cells,
            (false, Some(_)) => search.most_clocks = usize::MAX,
            (false, None) => break,
        }
        let (tree, found, bound) = search.solve(progress)?;
        at_least = at_least.most(bound);
        if found < time {
            (best, time) = (tree.clone(), found);
        }
        last = Some(tree);
    }
    if !meet(time.units(), at_least.units()) {
        let table = dense::table(law, Class::CopyFirst, search.root, progress)?;
        if table.value() < time {
            best = tree(law, &table);
            time = completion(law, &best);
        }
    }
    Ok(restored(&best, time, at_least))
}

/// True if the ends of a bracket meet.
pub(super) fn meet(time: f64, at_least: f64) -> bool {
    time - at_least <= ROUNDING * time
}

/// Ends that differ by less, relative to the time, meet: sizes of ranges are differences of sums where
/// costs are not integers.
const ROUNDING: f64 = 1e-12;

/// The rank whose copy begins the messages that decide a tree's completion time; `None` if a
/// message begins them.
///
/// # Complexity
/// O(p) time and space.
fn deciding_copy<T: Scalar>(law: &impl DenseLaw<T>, tree: &Tree) -> Option<Rank> {
    let mut span: Vec<(Rank, Rank)> = (0..tree.ranks()).map(|rank| (rank, rank)).collect();
    let mut ready = vec![T::ZERO; tree.ranks()];
    // The last sender that a receiver had to wait for.
    let mut awaited: Vec<Option<Rank>> = vec![None; tree.ranks()];
    for rank in tree.top_down().into_iter().rev() {
        for step in tree.steps(rank) {
            ready[rank] = match step {
                Step::Copy => ready[rank] + law.copy(rank),
                Step::Receive(child) => {
                    let (first, last) = span[child];
                    span[rank] = (span[rank].0.min(first), span[rank].1.max(last));
                    let after = law.received(ready[rank], ready[child], first, last);
                    if after == law.received(T::ZERO, ready[child], first, last) {
                        awaited[rank] = Some(child);
                    }
                    after
                }
            };
        }
    }
    let mut rank = tree.root();
    while let Some(sender) = awaited[rank] {
        rank = sender;
    }
    (tree.degree(rank) > 0).then_some(rank)
}
