//! Optimal trees by a method of choice: from bytes and costs to a tree and its time.

use crate::progress::Progress;
use crate::runs::{self, RunsError};
use crate::table::{cells_with_root, triangle_cells};
use crate::{DpError, binary_tree, dense, ordered, plain};
use tuwtree_model::{BlockSizes, Homogeneous, Root, Scalar, ScaledSizes, Tree};

/// How the dynamic program is evaluated. All methods find the same times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// The published recurrences, split by split: O(p^3), any costs. See [`plain`].
    Plain,
    /// A constant number of candidates per range: O(p^2), gamma <= beta. See [`dense`].
    Dense,
    /// Only the changes along a row, as runs: nearly linear as a rule, gamma <= beta, not for binary
    /// trees. See [`runs`].
    Runs,
}

impl Method {
    /// All methods.
    pub const ALL: [Method; 3] = [Method::Plain, Method::Dense, Method::Runs];

    /// The methods that find binary trees.
    pub const BINARY: [Method; 2] = [Method::Plain, Method::Dense];

    /// The name by which users and documents call the method.
    pub fn name(self) -> &'static str {
        match self {
            Method::Plain => "plain",
            Method::Dense => "dense",
            Method::Runs => "runs",
        }
    }

    /// The method in a line.
    pub fn summary(self) -> &'static str {
        match self {
            Method::Plain => "the published recurrence, O(p^3); any costs",
            Method::Dense => "every range in O(1), O(p^2); gamma <= beta",
            Method::Runs => "only where times change, nearly linear as a rule; gamma <= beta",
        }
    }

    /// Whether the method is exact for these costs.
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

/// The fastest method for an optimal tree that is exact for this problem.
///
/// With gamma <= beta that is [`Method::Runs`], but for small problems.
pub fn default_method(sizes: &BlockSizes, costs: &Homogeneous) -> Method {
    if !Method::Dense.admits(costs) {
        return Method::Plain;
    }
    if sizes.processors() <= SMALL { Method::Dense } else { Method::Runs }
}

/// Up to this many processors the dense table is faster than its runs.
const SMALL: usize = 200;

/// The fastest method for an optimal binary tree that is exact for these costs.
pub fn default_binary_method(costs: &Homogeneous) -> Method {
    if Method::Dense.admits(costs) { Method::Dense } else { Method::Plain }
}

/// An optimal tree and its time.
#[derive(Clone, Debug, PartialEq)]
pub struct Optimum {
    /// A tree that attains the value, with the root asked for or a best one.
    pub tree: Tree,
    /// The least completion time as the dynamic program found it, in time units. Exact if all
    /// costs are integers; otherwise within rounding errors of the whole volume of the tree's
    /// completion time, which is the one to quote.
    pub value: f64,
    /// By which method.
    pub method: Method,
}

/// An optimal ordered tree: least completion time over all ordered trees (as the
/// [crate](crate#what-an-ordered-tree-is-here) defines them), given or best root.
///
/// # Errors
/// [`DpError`], every variant but `Cancelled`.
///
/// # Complexity
/// O(p^2) (dense) or O(p^3) (plain) time, O(p^2) space (see [`memory_needed`]); [`runs`] nearly
/// linear as a rule.
///
/// # Source
/// OPT Proposition 3 and Theorem 2.
///
/// # Example
/// Sizes 2, 1, 4: whoever is the root, 9 is the least over joins of adjacent ranges. Root 2 receives 1 (1 + 1), copies (4), then
/// receives 0 (1 + 2).
/// ```
/// use tuwtree_dp::{Method, optimal};
/// use tuwtree_model::{BlockSizes, Homogeneous, Root};
/// let costs = Homogeneous::new(1.0, 1.0, 1.0).unwrap();
/// let sizes = BlockSizes::new([2, 1, 4]).unwrap();
/// let best = optimal(&sizes, &costs, Root::Best, Method::Dense).unwrap();
/// assert_eq!(best.value, 9.0);
/// assert_eq!(optimal(&sizes, &costs, Root::Given(2), Method::Dense).unwrap().value, 9.0);
/// ```
pub fn optimal(
    sizes: &BlockSizes,
    costs: &Homogeneous,
    root: Root,
    method: Method,
) -> Result<Optimum, DpError> {
    optimal_with(sizes, costs, root, method, &())
}

/// As [`optimal`], watched by `progress`.
///
/// # Errors
/// [`DpError`], every variant.
pub fn optimal_with(
    sizes: &BlockSizes,
    costs: &Homogeneous,
    root: Root,
    method: Method,
    progress: &dyn Progress,
) -> Result<Optimum, DpError> {
    solve(Degree::Any, (sizes, costs, root), method, progress)
}

/// An optimal ordered binary tree: least completion time over all strongly ordered trees in which
/// no processor has more than two children, given or best root.
///
/// # Errors, complexity
/// As [`optimal`].
///
/// # Source
/// OPT Theorem 3.
pub fn optimal_binary(
    sizes: &BlockSizes,
    costs: &Homogeneous,
    root: Root,
    method: Method,
) -> Result<Optimum, DpError> {
    optimal_binary_with(sizes, costs, root, method, &())
}

/// As [`optimal_binary`], watched by `progress`.
///
/// # Errors
/// [`DpError`], every variant.
pub fn optimal_binary_with(
    sizes: &BlockSizes,
    costs: &Homogeneous,
    root: Root,
    method: Method,
    progress: &dyn Progress,
) -> Result<Optimum, DpError> {
    if !Method::BINARY.contains(&method) {
        return Err(DpError::NotForBinaryTrees { method });
    }
    solve(Degree::Two, (sizes, costs, root), method, progress)
}

/// How many children a processor may have.
#[derive(Clone, Copy, Debug)]
enum Degree {
    Any,
    Two,
}

/// The optimum in the smallest number type that will do.
fn solve(
    degree: Degree,
    (sizes, costs, root): (&BlockSizes, &Homogeneous, Root),
    method: Method,
    progress: &dyn Progress,
) -> Result<Optimum, DpError> {
    fn tree<T: Scalar>(
        degree: Degree,
        (sizes, root): (&ScaledSizes<T>, Root),
        method: Method,
        progress: &dyn Progress,
    ) -> Result<(f64, Tree), DpError> {
        match degree {
            Degree::Any => ordered_tree(sizes, root, method, progress),
            Degree::Two => binary_tree(sizes, root, method, progress),
        }
    }
    method.check(costs)?;
    let Some(scaled) = Scaled::new(sizes, costs, root)? else {
        return Ok(lone_processor(method));
    };
    let (value, tree) = match &scaled {
        Scaled::Small(sizes) => tree(degree, (sizes, root), method, progress),
        Scaled::Large(sizes) => tree(degree, (sizes, root), method, progress),
        Scaled::Fractional(sizes) => tree(degree, (sizes, root), method, progress),
    }?;
    Ok(Optimum { tree, value, method })
}

/// The bytes of the tables that [`optimal`] fills for such a problem; [`optimal_binary`] needs as
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
/// [`DpError::RootOutOfRange`], [`DpError::TooLarge`].
pub fn memory_needed(
    sizes: &BlockSizes,
    costs: &Homogeneous,
    root: Root,
    method: Method,
) -> Result<u64, DpError> {
    let value = match Scaled::new(sizes, costs, root)? {
        None => 0,
        Some(Scaled::Small(_)) => size_of::<i32>(),
        Some(Scaled::Large(_) | Scaled::Fractional(_)) => size_of::<i64>(),
    };
    let p = sizes.processors();
    let cells = match root {
        Root::Best => triangle_cells(p),
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
    /// The scaled sizes of a problem, `None` for a lone processor, which takes no time at all.
    ///
    /// # Errors
    /// [`DpError::RootOutOfRange`]; [`DpError::TooLarge`], also if only rounded numbers would do
    /// for integer costs.
    fn new(sizes: &BlockSizes, costs: &Homogeneous, root: Root) -> Result<Option<Scaled>, DpError> {
        let processors = sizes.processors();
        if let Root::Given(root) = root
            && root >= processors
        {
            return Err(DpError::RootOutOfRange { root, processors });
        }
        if processors == 1 {
            return Ok(None);
        }
        let scaled = if costs.is_integral() {
            let small = ScaledSizes::new(costs, sizes).map(Scaled::Small);
            small.or_else(|| ScaledSizes::new(costs, sizes).map(Scaled::Large))
        } else {
            ScaledSizes::new(costs, sizes).map(Scaled::Fractional)
        };
        match scaled {
            Some(scaled) => Ok(Some(scaled)),
            None => Err(DpError::TooLarge { total: sizes.total() }),
        }
    }
}

/// The optimum of a single processor.
fn lone_processor(method: Method) -> Optimum {
    let tree = Tree::new(1, 0, &[]).expect("one processor without steps is a tree");
    Optimum { tree, value: 0.0, method }
}

/// An optimal ordered tree and its time, by a method that admits the costs.
pub(crate) fn ordered_tree<T: Scalar>(
    sizes: &ScaledSizes<T>,
    root: Root,
    method: Method,
    progress: &dyn Progress,
) -> Result<(f64, Tree), DpError> {
    let last = sizes.processors() - 1;
    match (method, root) {
        (Method::Runs, _) => tree_by_runs(sizes, root, progress),
        (_, Root::Best) => {
            let table = match method {
                Method::Plain => plain::free_root(sizes, progress),
                _ => dense::free_root(sizes, progress),
            }?;
            Ok((table.get(0, last).units(), ordered::free_root_tree(sizes, &table)))
        }
        (_, Root::Given(root)) => {
            let table = match method {
                Method::Plain => plain::fixed_root(sizes, root, progress),
                _ => dense::fixed_root(sizes, root, progress),
            }?;
            Ok((table.get(0, last).units(), ordered::fixed_root_tree(sizes, &table)))
        }
    }
}

fn tree_by_runs<T: Scalar>(
    sizes: &ScaledSizes<T>,
    root: Root,
    progress: &dyn Progress,
) -> Result<(f64, Tree), DpError> {
    let advance = |done, total| progress.advance(done, total);
    match runs::optimal(sizes, root, progress.memory_allowed(), &advance) {
        Ok(solution) => Ok((solution.time.units(), solution.tree)),
        Err(RunsError::OutOfMemory { memory }) => Err(DpError::MemoryExhausted { allowed: memory }),
        Err(RunsError::Cancelled) => Err(DpError::Cancelled),
        Err(RunsError::CopyingIsSlower { .. } | RunsError::TooManyBlocks { .. }) => {
            unreachable!("gamma <= beta was checked, and a problem has fewer than 2^31 processors")
        }
    }
}

fn binary_tree<T: Scalar>(
    sizes: &ScaledSizes<T>,
    root: Root,
    method: Method,
    progress: &dyn Progress,
) -> Result<(f64, Tree), DpError> {
    let table = match method {
        Method::Plain => plain::binary(sizes, progress),
        _ => dense::binary(sizes, progress),
    }?;
    let (value, tree) = match root {
        Root::Best => binary_tree::free_root_tree(sizes, &table),
        Root::Given(root) => binary_tree::fixed_root_tree(sizes, &table, root),
    };
    Ok((value.units(), tree))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ops::ControlFlow;
    use std::sync::Mutex;
    use tuwtree_model::completion_time;

    fn problem(sizes: &[u64], (alpha, beta, gamma): (f64, f64, f64)) -> (BlockSizes, Homogeneous) {
        let costs = Homogeneous::new(alpha, beta, gamma).unwrap();
        (BlockSizes::new(sizes.iter().copied()).unwrap(), costs)
    }

    #[test]
    fn a_lone_processor_takes_no_time_whatever_its_block() {
        let (sizes, costs) = problem(&[u64::MAX], (0.5, 1e300, 1e300));
        for program in [optimal, optimal_binary] {
            for root in [Root::Best, Root::Given(0)] {
                let optimum = program(&sizes, &costs, root, Method::Dense).unwrap();
                assert_eq!((optimum.value, optimum.tree.processors()), (0.0, 1));
            }
        }
        let root = Root::Given(1);
        let error = optimal(&sizes, &costs, root, Method::Dense).unwrap_err();
        assert_eq!(error, DpError::RootOutOfRange { root: 1, processors: 1 });
    }

    #[test]
    fn an_empty_last_processor_makes_a_better_root() {
        let (sizes, costs) = problem(&[2, 1, 4, 0], (1.0, 1.0, 1.0));
        for method in Method::ALL {
            assert_eq!(optimal(&sizes, &costs, Root::Best, method).unwrap().value, 8.0);
        }
    }

    #[test]
    fn a_binary_tree_may_beat_the_optimal_tree() {
        // Left subtrees of a binary root come in outermost first, which Proposition 3 excludes.
        let (sizes, costs) = problem(&[3, 3, 1, 4], (2.0, 1.0, 0.0));
        for method in Method::ALL {
            assert_eq!(optimal(&sizes, &costs, Root::Best, method).unwrap().value, 12.0);
        }
        for method in Method::BINARY {
            assert_eq!(optimal_binary(&sizes, &costs, Root::Best, method).unwrap().value, 11.0);
        }
    }

    #[test]
    fn copying_dearer_than_sending_is_left_to_the_plain_recurrence() {
        let (sizes, costs) = problem(&[3, 5, 5], (0.0, 1.0, 3.0));
        for method in [Method::Dense, Method::Runs] {
            let error = optimal(&sizes, &costs, Root::Best, method).unwrap_err();
            assert_eq!(error, DpError::GammaExceedsBeta { gamma: 3.0, beta: 1.0 });
        }
        assert_eq!(default_method(&sizes, &costs), Method::Plain);
        assert_eq!(default_binary_method(&costs), Method::Plain);
        // Processor 0 copies for 9; meanwhile 1 cannot gather 2 in time (15 + 5): so it receives
        // both blocks itself, 9 + 5 + 5.
        assert_eq!(optimal(&sizes, &costs, Root::Best, Method::Plain).unwrap().value, 19.0);
    }

    #[test]
    fn two_blocks_in_the_middle_need_a_binary_root_with_two_children() {
        // 1 receives 0 (1 + 3), copies (0), receives 2 (1 + 3).
        let (sizes, costs) = problem(&[3, 9, 3], (1.0, 1.0, 0.0));
        for method in Method::BINARY {
            let optimum = optimal_binary(&sizes, &costs, Root::Best, method).unwrap();
            assert_eq!((optimum.value, optimum.tree.root()), (8.0, 1));
        }
    }

    #[test]
    fn fractional_costs_give_the_same_value_by_every_method_up_to_rounding() {
        let blocks: Vec<u64> = (0..60).map(|rank| rank * rank * 7919 % 1001).collect();
        let (sizes, costs) = problem(&blocks, (12.3, 0.7, 0.1));
        for root in [Root::Best, Root::Given(17)] {
            agree(&Method::ALL.map(|method| optimal(&sizes, &costs, root, method).unwrap()));
            let binary = |method| optimal_binary(&sizes, &costs, root, method).unwrap();
            agree(&Method::BINARY.map(binary));
        }

        fn agree(optima: &[Optimum]) {
            for optimum in optima {
                assert!((optimum.value - optima[0].value).abs() < 1e-12 * optima[0].value);
            }
        }
    }

    #[test]
    fn fractional_times_are_those_of_the_tree_up_to_rounding() {
        let blocks: Vec<u64> = (0..60).map(|rank| rank * rank * 7919 % 1001).collect();
        let (sizes, costs) = problem(&blocks, (12.3, 0.7, 0.1));
        for method in Method::ALL {
            let optimum = optimal(&sizes, &costs, Root::Given(17), method).unwrap();
            let time = completion_time(&optimum.tree, &sizes, &costs).unwrap().units();
            assert!((time - optimum.value).abs() < 1e-12 * time);
        }
    }

    #[test]
    fn runs_find_no_binary_trees() {
        let (sizes, costs) = problem(&[1, 2, 3], (1.0, 1.0, 1.0));
        let error = optimal_binary(&sizes, &costs, Root::Best, Method::Runs).unwrap_err();
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
        let (sizes, costs) = problem(&blocks, (10.0, 1.0, 1.0));
        let error = optimal_with(&sizes, &costs, Root::Best, Method::Runs, &Poor).unwrap_err();
        assert_eq!(error, DpError::MemoryExhausted { allowed: 1000 });
    }

    #[test]
    fn large_integer_times_are_exact_or_refused() {
        let (sizes, costs) = problem(&[1 << 40, 1, 1 << 41], (1.0, 1.0, 1.0));
        let optimum = optimal(&sizes, &costs, Root::Best, Method::Dense).unwrap();
        let time = completion_time(&optimum.tree, &sizes, &costs).unwrap();
        assert_eq!(time.units(), optimum.value);
        let (sizes, costs) = problem(&[1 << 60, 1], (1.0, 1.0, 1.0));
        let error = optimal(&sizes, &costs, Root::Best, Method::Dense).unwrap_err();
        assert_eq!(error, DpError::TooLarge { total: (1 << 60) + 1 });
    }

    #[test]
    fn whoever_watches_sees_all_work_done_and_may_break_off() {
        struct Watch(Mutex<(u64, u64)>, u64);
        impl Progress for Watch {
            fn advance(&self, done: u64, total: u64) -> ControlFlow<()> {
                let mut seen = self.0.lock().unwrap();
                *seen = (done.max(seen.0), total);
                if done < self.1 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            }
        }
        let (sizes, costs) = problem(&[1; 9], (1.0, 1.0, 1.0));
        for root in [Root::Best, Root::Given(3)] {
            for method in Method::ALL {
                let watch = Watch(Mutex::default(), u64::MAX);
                optimal_with(&sizes, &costs, root, method, &watch).unwrap();
                let (done, total) = *watch.0.lock().unwrap();
                assert_eq!(done, total, "{method:?}");
                let watch = Watch(Mutex::default(), 5);
                let cancelled = optimal_with(&sizes, &costs, root, method, &watch);
                assert_eq!(cancelled, Err(DpError::Cancelled));
            }
            for method in Method::BINARY {
                let watch = Watch(Mutex::default(), 5);
                let cancelled = optimal_binary_with(&sizes, &costs, root, method, &watch);
                assert_eq!(cancelled, Err(DpError::Cancelled));
            }
        }
    }

    #[test]
    fn memory_is_known_beforehand() {
        let (sizes, costs) = problem(&[1; 10], (1.0, 1.0, 1.0));
        let needed = |root, method| memory_needed(&sizes, &costs, root, method).unwrap();
        assert_eq!(needed(Root::Best, Method::Dense), 55 * 4);
        assert_eq!(needed(Root::Best, Method::Plain), 2 * 55 * 4);
        // 3 ranges before the root, 28 after it, 3 x 8 with it.
        assert_eq!(needed(Root::Given(2), Method::Dense), (3 + 28 + 24) * 4);
    }
}
