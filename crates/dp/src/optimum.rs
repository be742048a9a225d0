//! Optimal trees by a method of choice: from a problem to a tree and its time.

use crate::blocks::Blocks;
use crate::progress::Progress;
use crate::table::{RootedTable, Triangle, cells_with_root, triangle_cells};
use crate::wider::{self, Class, Engine, Overlapping, optimal_within};
use crate::{DpError, binary_tree, dense, ordered, plain};
use tuwtree_model::{Homogeneous, Problem, Root, Scalar, ScaledSizes, Tree};
use tuwtree_runs::RunsError;

/// Method of evaluating the dynamic program. All methods find equal times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[derive(strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "kebab-case")]
pub enum Method {
    /// The published recurrences, split by split: O(p^3), any costs. See [`plain`].
    Plain,
    /// A constant number of candidates per range: O(p^2), gamma <= beta. See [`dense`].
    Dense,
    /// Only the changes along a row, as runs: nearly linear as a rule, gamma <= beta, not for binary
    /// trees. See [`runs`](tuwtree_runs).
    Runs,
}

impl Method {
    /// The method in a line.
    pub fn summary(self) -> &'static str {
        match self {
            Method::Plain => "the published recurrence, O(p^3); any costs",
            Method::Dense => "every range in O(1), O(p^2); gamma <= beta",
            Method::Runs => "only where times change, nearly linear as a rule; gamma <= beta",
        }
    }

    /// True if the method also finds binary trees.
    pub fn finds_binary_trees(self) -> bool {
        match self {
            Method::Plain | Method::Dense => true,
            Method::Runs => false,
        }
    }

    /// True if the method is exact for these costs.
    pub fn admits(self, costs: &Homogeneous) -> bool {
        match self {
            Method::Plain => true,
            Method::Dense | Method::Runs => costs.gamma() <= costs.beta(),
        }
    }

    /// Fails unless the method is exact for these costs.
    fn check(self, costs: &Homogeneous) -> Result<(), DpError> {
        match self.admits(costs) {
            true => Ok(()),
            false => Err(DpError::GammaExceedsBeta { gamma: costs.gamma(), beta: costs.beta() }),
        }
    }
}

/// The fastest method for [`optimal_adjacent`] that is exact for this problem; for one that it refuses,
/// [`Method::Plain`].
///
/// With gamma <= beta that is [`Method::Runs`], except for small problems.
pub fn default_method(problem: &Problem) -> Method {
    match default_binary_method(problem) {
        Method::Dense if problem.ranks() > SMALL => Method::Runs,
        method => method,
    }
}

/// Up to this many ranks the dense table is faster than its runs.
const SMALL: usize = 200;

/// The fastest method for [`optimal_binary`] that is exact for this problem; for one that it refuses,
/// [`Method::Plain`].
pub fn default_binary_method(problem: &Problem) -> Method {
    match Blocks::of(problem) {
        Ok(Blocks { costs, .. }) if Method::Dense.admits(&costs) => Method::Dense,
        Ok(_) | Err(_) => Method::Plain,
    }
}

/// An optimal tree and its time.
#[derive(Clone, Debug, PartialEq)]
pub struct Optimum {
    /// A tree that attains the value, with the root asked for or a best one.
    pub tree: Tree,
    /// The least completion time as it was found, in time units. Exact if all costs are integers;
    /// otherwise, where costs are homogeneous, within rounding errors of the whole volume of the
    /// tree's completion time, which is the one to quote.
    pub value: f64,
}

/// An optimal ordered tree for gather or scatter at homogeneous costs: least completion time over all
/// ordered trees (as the [crate](crate#what-an-ordered-tree-is-here) defines them), given or best
/// root, through one port.
///
/// # Errors
/// [`DpError::NeedsBlocks`], [`DpError::NotHomogeneous`], [`DpError::Costs`],
/// [`DpError::GammaExceedsBeta`]; [`DpError::TooLarge`], [`DpError::OutOfMemory`],
/// [`DpError::MemoryExhausted`]; [`DpError::Cancelled`].
///
/// # Complexity
/// O(p^2) (dense) or O(p^3) (plain) time, O(p^2) space (see [`memory_needed`]); [`runs`](tuwtree_runs) nearly
/// linear as a rule.
///
/// # Source
/// OPT Proposition 3 and Theorem 2.
///
/// # Example
/// Sizes 2, 1, 4: with any root, 9 is the least over joins of adjacent ranges. Root 2 receives 1 (1 + 1), copies (4),
/// then receives 0 (1 + 2).
/// ```
/// use tuwtree_dp::{Method, optimal_adjacent};
/// use tuwtree_model::{BlockSizes, Homogeneous, Problem, Root};
/// let sizes = BlockSizes::new([2, 1, 4]).unwrap();
/// let problem = Problem::gather(&sizes, Homogeneous::new(1.0, 1.0, 1.0).unwrap()).unwrap();
/// assert_eq!(optimal_adjacent(&problem, Method::Dense, &()).unwrap().value, 9.0);
/// let with_root = problem.with_root(Root::Given(2)).unwrap();
/// assert_eq!(optimal_adjacent(&with_root, Method::Dense, &()).unwrap().value, 9.0);
/// ```
pub fn optimal_adjacent(
    problem: &Problem,
    method: Method,
    progress: &dyn Progress,
) -> Result<Optimum, DpError> {
    solve(Degree::Any, problem, method, progress)
}

/// An optimal ordered binary tree for gather or scatter at homogeneous costs: least completion time
/// over all strongly ordered trees in which no rank has more than two children, given or best
/// root, through one port.
///
/// # Errors
/// As [`optimal_adjacent`], and [`DpError::NotForBinaryTrees`].
///
/// # Complexity
/// As [`optimal_adjacent`].
///
/// # Source
/// OPT Theorem 3.
pub fn optimal_binary(
    problem: &Problem,
    method: Method,
    progress: &dyn Progress,
) -> Result<Optimum, DpError> {
    match method.finds_binary_trees() {
        true => solve(Degree::Two, problem, method, progress),
        false => Err(DpError::NotForBinaryTrees { method }),
    }
}

/// Limit on the number of children of a rank.
#[derive(Clone, Copy, Debug)]
enum Degree {
    Any,
    Two,
}

/// The optimum in the smallest number type that will do.
fn solve(
    degree: Degree,
    problem: &Problem,
    method: Method,
    progress: &dyn Progress,
) -> Result<Optimum, DpError> {
    fn tree<T: Scalar>(
        degree: Degree,
        (sizes, root): (&ScaledSizes<T>, Root),
        method: Method,
        progress: &dyn Progress,
    ) -> Result<Optimum, DpError> {
        match degree {
            Degree::Any => ordered_tree(sizes, root, method, progress),
            Degree::Two => binary_tree(sizes, root, method, progress),
        }
    }
    let blocks = Blocks::of(problem)?;
    method.check(&blocks.costs)?;
    let root = blocks.root;
    match &Scaled::new(blocks)? {
        None => Ok(lone_rank()),
        Some(Scaled::Small(sizes)) => tree(degree, (sizes, root), method, progress),
        Some(Scaled::Large(sizes)) => tree(degree, (sizes, root), method, progress),
        Some(Scaled::Fractional(sizes)) => tree(degree, (sizes, root), method, progress),
    }
}

/// The bytes of the tables that [`optimal_adjacent`] fills for such a problem; [`optimal_binary`] needs as
/// many as the best root.
///
/// For [`Method::Runs`] this is the working storage only: how many runs there are, nobody knows
/// before; [`Progress::memory_allowed`] bounds them.
///
/// To be held against what there is before the computation begins: an operating system may promise
/// more than it has. The dense method's queues come on top, little as a rule, in the worst case
/// a few times the table.
///
/// # Errors
/// [`DpError::NeedsBlocks`], [`DpError::NotHomogeneous`], [`DpError::Costs`], [`DpError::TooLarge`].
pub fn memory_needed(problem: &Problem, method: Method) -> Result<u64, DpError> {
    let value = match Scaled::new(Blocks::of(problem)?)? {
        None => 0,
        Some(Scaled::Small(_)) => size_of::<i32>(),
        Some(Scaled::Large(_) | Scaled::Fractional(_)) => size_of::<i64>(),
    };
    let p = problem.ranks();
    let cells = match problem.root() {
        Root::Best | Root::None => triangle_cells(p),
        Root::Given(root) => {
            triangle_cells(root) + triangle_cells(p - 1 - root) + cells_with_root(p, root)
        }
    };
    let copies = match method {
        Method::Plain => 2,
        Method::Dense => 1,
        Method::Runs => return Ok(200 * p as u64),
    };
    Ok((cells as u64).saturating_mul(copies * value as u64))
}

/// A problem in the smallest number type that holds all its times.
enum Scaled {
    Small(ScaledSizes<i32>),
    Large(ScaledSizes<i64>),
    Fractional(ScaledSizes<f64>),
}

impl Scaled {
    /// The scaled sizes of a problem, `None` for a lone rank, which takes no time at all.
    ///
    /// # Errors
    /// [`DpError::TooLarge`], also if only rounded numbers would do for integer costs.
    fn new(Blocks { sizes, costs, .. }: Blocks<'_>) -> Result<Option<Scaled>, DpError> {
        if sizes.ranks() == 1 {
            return Ok(None);
        }
        let scaled = if costs.is_integral() {
            let small = ScaledSizes::new(&costs, sizes).map(Scaled::Small);
            small.or_else(|| ScaledSizes::new(&costs, sizes).map(Scaled::Large))
        } else {
            ScaledSizes::new(&costs, sizes).map(Scaled::Fractional)
        };
        match scaled {
            Some(scaled) => Ok(Some(scaled)),
            None => Err(DpError::TooLarge { total: sizes.total() }),
        }
    }
}

/// The optimum of a single rank.
pub(crate) fn lone_rank() -> Optimum {
    let tree = Tree::new(1, 0, &[]).expect("one rank without steps is a tree");
    Optimum { tree, value: 0.0 }
}

/// An optimal ordered tree and its time, by a method that admits the costs.
pub(crate) fn ordered_tree<T: Scalar>(
    sizes: &ScaledSizes<T>,
    root: Root,
    method: Method,
    progress: &dyn Progress,
) -> Result<Optimum, DpError> {
    let last = sizes.ranks() - 1;
    let of_triangle = |table: Triangle<T>| Optimum {
        tree: ordered::free_root_tree(sizes, &table),
        value: table.get(0, last).units(),
    };
    let of_rooted_table = |table: RootedTable<T>| Optimum {
        tree: ordered::fixed_root_tree(sizes, &table),
        value: table.get(0, last).units(),
    };
    match (method, root) {
        (Method::Plain, Root::Best | Root::None) => {
            plain::free_root(sizes, progress).map(of_triangle)
        }
        (Method::Dense, Root::Best | Root::None) => {
            dense::free_root(sizes, progress).map(of_triangle)
        }
        (Method::Plain, Root::Given(root)) => {
            plain::fixed_root(sizes, root, progress).map(of_rooted_table)
        }
        (Method::Dense, Root::Given(root)) => {
            dense::fixed_root(sizes, root, progress).map(of_rooted_table)
        }
        (Method::Runs, root) => tree_by_runs(sizes, root, progress),
    }
}

fn tree_by_runs<T: Scalar>(
    sizes: &ScaledSizes<T>,
    root: Root,
    progress: &dyn Progress,
) -> Result<Optimum, DpError> {
    let advance = |done, total| progress.advance(done, total);
    match tuwtree_runs::optimal(sizes, root, progress.memory_allowed(), &advance) {
        Ok(solution) => Ok(Optimum { tree: solution.tree, value: solution.time.units() }),
        Err(RunsError::OutOfMemory { memory }) => Err(DpError::MemoryExhausted { allowed: memory }),
        Err(RunsError::Cancelled) => Err(DpError::Cancelled),
        Err(RunsError::CopyingIsSlower { .. } | RunsError::TooManyBlocks { .. }) => {
            unreachable!("gamma <= beta was checked, and a problem has fewer than 2^31 processes")
        }
    }
}

/// An optimal ordered binary tree and its time, by a method that finds them and admits the costs.
fn binary_tree<T: Scalar>(
    sizes: &ScaledSizes<T>,
    root: Root,
    method: Method,
    progress: &dyn Progress,
) -> Result<Optimum, DpError> {
    let table = match method {
        Method::Plain => plain::binary(sizes, progress),
        Method::Dense => dense::binary(sizes, progress),
        Method::Runs => unreachable!("runs find no binary trees and were refused"),
    }?;
    let (value, tree) = match root {
        Root::Best | Root::None => binary_tree::free_root_tree(sizes, &table),
        Root::Given(root) => binary_tree::fixed_root_tree(sizes, &table, root),
    };
    Ok(Optimum { tree, value: value.units() })
}

/// The best consecutive tree ([`wider`]), or nearly that, if this many table cells suffice for one; else the best
/// adjacent one, or if latency overlaps the best copy-first one. Never slower than those.
///
/// No more is done than [`SETTLING_CELLS`] allow to be certain that the tree is a best one.
///
/// # Errors
/// Like [`optimal_adjacent`], without its support of overlapping latency.
///
/// # Complexity
/// As [`wider::optimal_within`], or as the others'.
pub fn optimal(
    problem: &Problem,
    most_cells: u64,
    progress: &dyn Progress,
) -> Result<Optimum, DpError> {
    let blocks = Blocks::overlapping_or_not(problem)?;
    let Blocks { sizes, costs, root } = blocks;
    let overlapping = Overlapping::from(costs);
    let best = match finds_consecutive(blocks, most_cells)? {
        true => optimal_within(sizes, &overlapping, root, SETTLING_CELLS, progress)?,
        false if !costs.overlaps() => {
            return optimal_adjacent(problem, default_method(problem), progress);
        }
        false => {
            let engine = match costs.gamma() <= costs.beta() {
                true => Engine::EXACT,
                false => Engine::Plain,
            };
            wider::optimal(sizes, &overlapping, root, Class::CopyFirst, engine, progress)?
        }
    };
    Ok(Optimum { tree: best.tree, value: best.time })
}

/// Table cells per tree where many trees are searched for and few used, until one is surely optimal: some milliseconds.
pub const SETTLING_CELLS: u64 = 100_000;

/// True if this many table cells suffice for the best consecutive tree, or nearly that.
///
/// # Errors
/// [`DpError::RootOutOfRange`], [`DpError::TooLarge`].
pub(crate) fn finds_consecutive(blocks: Blocks<'_>, most_cells: u64) -> Result<bool, DpError> {
    let Blocks { sizes, costs, root } = blocks;
    Ok(wider::outlay(sizes, &costs.into(), root, SETTLING_CELLS)?.cells <= most_cells)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ops::ControlFlow;
    use std::sync::Mutex;
    use tuwtree_model::{
        BlockSizes, ClosedSet, CostMatrix, CostsError, Hierarchy, Level, Operation, Piece,
        PiecewiseLinear, Placement, Vector, completion_time,
    };

    fn problem(sizes: &[u64], (alpha, beta, gamma): (f64, f64, f64)) -> Problem {
        let costs = Homogeneous::new(alpha, beta, gamma).unwrap();
        Problem::gather(&BlockSizes::new(sizes.iter().copied()).unwrap(), costs).unwrap()
    }

    fn binary_methods() -> impl Iterator<Item = Method> {
        Method::ALL.iter().copied().filter(|method| method.finds_binary_trees())
    }

    #[test]
    fn a_lone_rank_takes_no_time_whatever_its_block() {
        let problem = problem(&[u64::MAX], (0.5, 1e300, 1e300));
        for program in [optimal_adjacent, optimal_binary] {
            for root in [Root::Best, Root::Given(0)] {
                let problem = problem.with_root(root).unwrap();
                let optimum = program(&problem, Method::Dense, &()).unwrap();
                assert_eq!((optimum.value, optimum.tree.ranks()), (0.0, 1));
            }
        }
    }

    #[test]
    fn an_empty_last_rank_makes_a_better_root() {
        let problem = problem(&[2, 1, 4, 0], (1.0, 1.0, 1.0));
        for &method in Method::ALL {
            assert_eq!(optimal_adjacent(&problem, method, &()).unwrap().value, 8.0);
        }
    }

    #[test]
    fn a_binary_tree_may_beat_the_optimal_tree() {
        // Left subtrees of a binary root come in outermost first, which Proposition 3 excludes.
        let problem = problem(&[3, 3, 1, 4], (2.0, 1.0, 0.0));
        for &method in Method::ALL {
            assert_eq!(optimal_adjacent(&problem, method, &()).unwrap().value, 12.0);
        }
        for method in binary_methods() {
            assert_eq!(optimal_binary(&problem, method, &()).unwrap().value, 11.0);
        }
    }

    #[test]
    fn copying_dearer_than_sending_is_left_to_the_plain_recurrence() {
        let problem = problem(&[3, 5, 5], (0.0, 1.0, 3.0));
        for method in [Method::Dense, Method::Runs] {
            let error = optimal_adjacent(&problem, method, &()).unwrap_err();
            assert_eq!(error, DpError::GammaExceedsBeta { gamma: 3.0, beta: 1.0 });
        }
        assert_eq!(default_method(&problem), Method::Plain);
        assert_eq!(default_binary_method(&problem), Method::Plain);
        // Rank 0 copies for 9; meanwhile 1 cannot gather 2 in time (15 + 5): so it receives
        // both blocks itself, 9 + 5 + 5.
        assert_eq!(optimal_adjacent(&problem, Method::Plain, &()).unwrap().value, 19.0);
    }

    #[test]
    fn two_blocks_in_the_middle_need_a_binary_root_with_two_children() {
        // 1 receives 0 (1 + 3), copies (0), receives 2 (1 + 3).
        let problem = problem(&[3, 9, 3], (1.0, 1.0, 0.0));
        for method in binary_methods() {
            let optimum = optimal_binary(&problem, method, &()).unwrap();
            assert_eq!((optimum.value, optimum.tree.root()), (8.0, 1));
        }
    }

    #[test]
    fn fractional_costs_give_the_same_value_by_every_method_up_to_rounding() {
        let blocks: Vec<u64> = (0..60).map(|rank| rank * rank * 7919 % 1001).collect();
        let problem = problem(&blocks, (12.3, 0.7, 0.1));
        for root in [Root::Best, Root::Given(17)] {
            let problem = problem.with_root(root).unwrap();
            let any = |&method| optimal_adjacent(&problem, method, &()).unwrap();
            agree(Method::ALL.iter().map(any));
            let binary = |method| optimal_binary(&problem, method, &()).unwrap();
            agree(binary_methods().map(binary));
        }

        fn agree(optima: impl Iterator<Item = Optimum>) {
            let optima: Vec<Optimum> = optima.collect();
            for optimum in &optima {
                assert!((optimum.value - optima[0].value).abs() < 1e-12 * optima[0].value);
            }
        }
    }

    #[test]
    fn fractional_times_are_those_of_the_tree_up_to_rounding() {
        let blocks: Vec<u64> = (0..60).map(|rank| rank * rank * 7919 % 1001).collect();
        let problem = problem(&blocks, (12.3, 0.7, 0.1));
        let problem = problem.with_root(Root::Given(17)).unwrap();
        for &method in Method::ALL {
            let optimum = optimal_adjacent(&problem, method, &()).unwrap();
            let time = completion_time(&optimum.tree, &problem).unwrap().units();
            assert!((time - optimum.value).abs() < 1e-12 * time);
        }
    }

    #[test]
    fn runs_find_no_binary_trees() {
        let problem = problem(&[1, 2, 3], (1.0, 1.0, 1.0));
        let error = optimal_binary(&problem, Method::Runs, &()).unwrap_err();
        assert_eq!(error, DpError::NotForBinaryTrees { method: Method::Runs });
    }

    #[test]
    fn runs_stop_where_they_outgrow_the_memory_allowed() {
        struct Poor;
        impl Progress for Poor {
            fn advance(&self, _done: u64, _total: u64) -> ControlFlow<()> {
                ControlFlow::Continue(())
            }
            fn memory_allowed(&self) -> u64 {
                1000
            }
        }
        let blocks: Vec<u64> = (0..3000).map(|rank| rank * rank * 7919 % 1001).collect();
        let problem = problem(&blocks, (10.0, 1.0, 1.0));
        let error = optimal_adjacent(&problem, Method::Runs, &Poor).unwrap_err();
        assert_eq!(error, DpError::MemoryExhausted { allowed: 1000 });
    }

    #[test]
    fn large_integer_times_are_exact_or_refused() {
        let exact = problem(&[1 << 40, 1, 1 << 41], (1.0, 1.0, 1.0));
        let optimum = optimal_adjacent(&exact, Method::Dense, &()).unwrap();
        let time = completion_time(&optimum.tree, &exact).unwrap();
        assert_eq!(time.units(), optimum.value);
        let refused = problem(&[1 << 60, 1], (1.0, 1.0, 1.0));
        let error = optimal_adjacent(&refused, Method::Dense, &()).unwrap_err();
        assert_eq!(error, DpError::TooLarge { total: (1 << 60) + 1 });
    }

    #[test]
    fn whoever_watches_sees_all_work_done_and_may_break_off() {
        struct Watcher(Mutex<(u64, u64)>, u64);
        impl Progress for Watcher {
            fn advance(&self, done: u64, total: u64) -> ControlFlow<()> {
                let mut seen = self.0.lock().unwrap();
                *seen = (done.max(seen.0), total);
                if done < self.1 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            }
        }
        let problem = problem(&[1; 9], (1.0, 1.0, 1.0));
        for root in [Root::Best, Root::Given(3)] {
            let problem = problem.with_root(root).unwrap();
            for &method in Method::ALL {
                let watch = Watcher(Mutex::default(), u64::MAX);
                optimal_adjacent(&problem, method, &watch).unwrap();
                let (done, total) = *watch.0.lock().unwrap();
                assert_eq!(done, total, "{method:?}");
                let watch = Watcher(Mutex::default(), 5);
                let cancelled = optimal_adjacent(&problem, method, &watch);
                assert_eq!(cancelled, Err(DpError::Cancelled));
            }
            for method in binary_methods() {
                let watch = Watcher(Mutex::default(), 5);
                let cancelled = optimal_binary(&problem, method, &watch);
                assert_eq!(cancelled, Err(DpError::Cancelled));
            }
        }
    }

    #[test]
    fn memory_is_known_beforehand() {
        let problem = problem(&[1; 10], (1.0, 1.0, 1.0));
        let needed =
            |root, method| memory_needed(&problem.with_root(root).unwrap(), method).unwrap();
        assert_eq!(needed(Root::Best, Method::Dense), 55 * 4);
        assert_eq!(needed(Root::Best, Method::Plain), 2 * 55 * 4);
        // 3 ranges before the root, 28 after it, 3 x 8 with it.
        assert_eq!(needed(Root::Given(2), Method::Dense), (3 + 28 + 24) * 4);
    }

    #[test]
    fn a_scatter_takes_as_long_as_a_gather_and_a_matrix_of_equal_costs_as_they() {
        let gather = problem(&[2, 1, 4], (1.0, 1.0, 1.0));
        let equal = CostMatrix::from_fn(3, |_, _| 1.0, |_, _| 1.0, |_| 1.0).unwrap();
        let scatter = Problem::scatter(gather.blocks().unwrap(), &equal).unwrap();
        assert_eq!(default_method(&scatter), Method::Dense);
        for &method in Method::ALL {
            let [one, other] =
                [&gather, &scatter].map(|problem| optimal_adjacent(problem, method, &()));
            assert_eq!(one, other);
            assert_eq!(memory_needed(&gather, method), memory_needed(&scatter, method));
        }
    }

    #[test]
    fn problems_of_another_kind_are_refused() {
        let equal = Homogeneous::new(1.0, 1.0, 1.0).unwrap();
        let vector = Vector { ranks: 3, bytes: 2 };
        let broadcast = Problem::new(Operation::Broadcast, vector, equal).unwrap();
        let sizes = BlockSizes::new([2, 1, 4]).unwrap();
        let alpha = |sender: usize, receiver: usize| (sender + 2 * receiver) as f64;
        let differ = CostMatrix::from_fn(3, alpha, |_, _| 1.0, |_| 1.0).unwrap();
        let differ = Problem::gather(&sizes, &differ).unwrap();
        let pieces = [Piece::one_port(0, 1.0, 1.0), Piece::one_port(9, 2.0, 2.0)];
        let level = Level {
            name: "node".to_owned(),
            members: 3,
            links: PiecewiseLinear::new(pieces.to_vec()).unwrap().into(),
        };
        let bent = Hierarchy::new(vec![level], Placement::Block, 1.0).unwrap();
        let bent = Problem::gather(&sizes, &bent).unwrap();
        let operation = Operation::Broadcast;
        let not_linear = CostsError::NotLinear { level: "node".to_owned() };
        for (problem, error) in [
            (broadcast, DpError::NeedsBlocks { operation }),
            (differ, DpError::NotHomogeneous),
            (bent, DpError::Costs(not_linear)),
        ] {
            assert_eq!(default_method(&problem), Method::Plain);
            assert_eq!(default_binary_method(&problem), Method::Plain);
            assert_eq!(memory_needed(&problem, Method::Plain), Err(error.clone()));
            assert_eq!(optimal_adjacent(&problem, Method::Plain, &()), Err(error.clone()));
            assert_eq!(optimal_binary(&problem, Method::Plain, &()), Err(error));
        }
    }
}
