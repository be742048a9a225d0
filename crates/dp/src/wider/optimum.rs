//! From bytes and costs to a tree of a class, its time, and how much faster another could be.

use super::empty::WithoutEmpty;
use super::table::given_root;
use super::tabulated::{AfterOwnGather, Tabulated};
use super::{
    BySize, Class, LawBySize, Overlapping, Receiving, Scaled, completion, dense, plain, tree,
};
use crate::table::triangle_cells;
use crate::{DpError, Progress};
use tuwtree_model::{BlockSizes, Homogeneous, Rank, Root, Scalar, Tree};

/// Method of filling the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Split by split: any costs, O(p^3) times the number of distinct copies. See [`plain`].
    Plain,
    /// O(p^2 G), where copies take no longer than their own messages. See [`dense`].
    Dense {
        /// The most clocks, `G >= 1`, that receivers start with; if there are more, they are
        /// rounded, and the result is a bracket. Copy-first trees need none.
        most_clocks: usize,
    },
}

impl Engine {
    /// The dense engine without rounding.
    pub const EXACT: Engine = Engine::Dense { most_clocks: usize::MAX };
}

/// A tree of a class, and a bound on all trees of that class.
#[derive(Clone, Debug, PartialEq)]
pub struct BoundedTree {
    /// The tree, with the root asked for or a best one; every rank with children copies first.
    pub tree: Tree,
    /// Its completion time in time units, exact if all costs are integers.
    pub time: f64,
    /// No tree of the class takes less. Equal to `time` (for costs that are no integers, up to
    /// rounding) unless clocks were rounded; then below it by at most the largest difference.
    pub at_least: f64,
}

/// A tree of least completion time in a class, given or best root.
///
/// # Errors
/// [`DpError`]: a root out of range, times too large, too little memory, cancelled;
/// [`DpError::GammaExceedsBeta`] for the dense engine if some copy takes longer than its own
/// message.
///
/// # Complexity
/// As the engine's, and that of [`tree`](super::tree).
///
/// # Example
/// Root 4 receives block 0 while 2 gathers blocks 1 to 3.
/// ```
/// use tuwtree_dp::wider::{Class, Engine, Overlapping, optimal};
/// use tuwtree_model::{BlockSizes, Root};
/// let sizes = BlockSizes::new([9, 1, 1, 1, 1]).unwrap();
/// let costs = Overlapping::new(0.0, 2.0, 1.0, 0.0).unwrap();
/// let best = optimal(&sizes, &costs, Root::Given(4), Class::Consecutive, Engine::EXACT, &());
/// let best = best.unwrap();
/// assert_eq!((best.time, best.at_least), (16.0, 16.0));
/// assert_eq!(best.tree.children(4).next(), Some(0));
/// ```
pub fn optimal(
    sizes: &BlockSizes,
    costs: &Overlapping,
    root: Root,
    class: Class,
    engine: Engine,
    progress: &dyn Progress,
) -> Result<BoundedTree, DpError> {
    given_root(sizes.ranks(), root)?;
    let (kept, most_clocks) = match engine {
        Engine::Plain => {
            return match ScaledLaw::new(sizes, costs)? {
                ScaledLaw::Small(law) => by_plain(&law, class, root, progress),
                ScaledLaw::Large(law) => by_plain(&law, class, root, progress),
                ScaledLaw::Fractional(law) => by_plain(&law, class, root, progress),
            };
        }
        Engine::Dense { most_clocks } => (WithoutEmpty::new(sizes, root), most_clocks),
    };
    match ScaledLaw::new(&kept.sizes, costs)? {
        ScaledLaw::Small(law) => by_dense(&law, &kept, (class, most_clocks), costs, progress),
        ScaledLaw::Large(law) => by_dense(&law, &kept, (class, most_clocks), costs, progress),
        ScaledLaw::Fractional(law) => by_dense(&law, &kept, (class, most_clocks), costs, progress),
    }
}

/// A tree of least completion time in a class, given or best root, for costs that depend on the size of
/// a message in any way.
///
/// # Errors
/// [`DpError`]: a root out of range, too little memory, cancelled.
///
/// # Complexity
/// O(p^3) time and O(p^2) space, for consecutive trees both times the number of distinct copies.
///
/// # Example
/// Messages of 3 bytes or more occupy the port for 10, smaller ones for 1; each travels for 2. Root 0
/// receives two blocks of 2 (2 + 1 + 1), rather than both in one message.
/// ```
/// use tuwtree_dp::wider::{BySize, Class, optimal_by_size};
/// use tuwtree_model::{BlockSizes, Root};
/// let sizes = BlockSizes::new([0, 2, 2]).unwrap();
/// let port = |bytes| if bytes < 3 { 1.0 } else { 10.0 };
/// let law = BySize { sizes: &sizes, port, latency: |_| 2.0, copy: |_| 0.0 };
/// let best = optimal_by_size(&law, Class::CopyFirst, Root::Given(0), &()).unwrap();
/// assert_eq!((best.time, best.tree.degree(0)), (4.0, 2));
/// ```
pub fn optimal_by_size<P, L, C>(
    law: &BySize<'_, P, L, C>,
    class: Class,
    root: Root,
    progress: &dyn Progress,
) -> Result<BoundedTree, DpError>
where
    P: Fn(u64) -> f64,
    L: Fn(u64) -> f64,
    C: Fn(u64) -> f64,
{
    by_plain(&Tabulated::new(law)?, class, root, progress)
}

/// With a given root that is busy until some time, if any, no earlier than its copy is done.
///
/// # Errors, complexity
/// As [`optimal_by_size`].
pub(crate) fn optimal_by_size_with_busy_root(
    law: &LawBySize<'_>,
    class: Class,
    root: Root,
    busy: Option<(Rank, f64)>,
    progress: &dyn Progress,
) -> Result<BoundedTree, DpError> {
    by_plain(&Tabulated::new(law)?.with_busy_rank(busy), class, root, progress)
}

/// Optimum among parties that have gathered their own data at these times: one for each, in time units. They copy
/// nothing else.
///
/// # Errors, complexity
/// As [`optimal_by_size`].
///
/// # Panics
/// If the number of times is not the number of parties.
pub fn optimal_among<P, L, C>(
    law: &BySize<'_, P, L, C>,
    ready: &[f64],
    class: Class,
    root: Root,
    progress: &dyn Progress,
) -> Result<BoundedTree, DpError>
where
    P: Fn(u64) -> f64,
    L: Fn(u64) -> f64,
    C: Fn(u64) -> f64,
{
    assert_eq!(law.sizes.ranks(), ready.len(), "a time for each party");
    by_plain(&AfterOwnGather { law: Tabulated::new(law)?, ready }, class, root, progress)
}

/// The bytes of the tables that [`optimal_by_size`] fills.
///
/// # Errors
/// [`DpError::RootOutOfRange`].
pub fn memory_needed_by_size<P, L, C>(
    law: &BySize<'_, P, L, C>,
    class: Class,
    root: Root,
) -> Result<u64, DpError>
where
    P: Fn(u64) -> f64,
    L: Fn(u64) -> f64,
    C: Fn(u64) -> f64,
{
    let costs = 2 * size_of::<f64>() * triangle_cells(law.sizes.ranks());
    Ok(plain::memory_needed(law, class, root)?.saturating_add(costs as u64))
}

/// The bytes of the tables that [`optimal`] fills. Queues come on top, little as a rule.
///
/// # Errors
/// [`DpError::RootOutOfRange`], [`DpError::TooLarge`].
pub fn memory_needed(
    sizes: &BlockSizes,
    costs: &Overlapping,
    root: Root,
    class: Class,
    engine: Engine,
) -> Result<u64, DpError> {
    fn bytes<T: Scalar>(
        law: &Scaled<T>,
        class: Class,
        root: Root,
        engine: Engine,
    ) -> Result<u64, DpError> {
        match engine {
            Engine::Plain => plain::memory_needed(law, class, root),
            Engine::Dense { most_clocks } => {
                Ok(dense::DensePlan::new(law, class, root, most_clocks)?.memory_needed(law))
            }
        }
    }
    given_root(sizes.ranks(), root)?;
    let (sizes, root) = match engine {
        Engine::Plain => (sizes.clone(), root),
        Engine::Dense { .. } => {
            let kept = WithoutEmpty::new(sizes, root);
            (kept.sizes, kept.root)
        }
    };
    match ScaledLaw::new(&sizes, costs)? {
        ScaledLaw::Small(law) => bytes(&law, class, root, engine),
        ScaledLaw::Large(law) => bytes(&law, class, root, engine),
        ScaledLaw::Fractional(law) => bytes(&law, class, root, engine),
    }
}

/// The least `most_clocks` with which the bracket of [`Engine::Dense`] for consecutive trees is
/// `width` time units wide at most.
///
/// # Errors
/// As [`memory_needed`].
///
/// # Complexity
/// O(p log p).
///
/// # Example
/// Copies of 1 to 5 after a latency of 2: clocks 2 to 5, in pairs.
/// ```
/// use tuwtree_dp::wider::{Overlapping, clocks_within};
/// use tuwtree_model::{BlockSizes, Root};
/// let sizes = BlockSizes::new([1, 2, 3, 4, 5]).unwrap();
/// let costs = Overlapping::new(2.0, 1.0, 1.0, 1.0).unwrap();
/// assert_eq!(clocks_within(&sizes, &costs, Root::Best, 0.0), Ok(4));
/// assert_eq!(clocks_within(&sizes, &costs, Root::Best, 1.0), Ok(2));
/// ```
pub fn clocks_within(
    sizes: &BlockSizes,
    costs: &Overlapping,
    root: Root,
    width: f64,
) -> Result<usize, DpError> {
    given_root(sizes.ranks(), root)?;
    let kept = WithoutEmpty::new(sizes, root);
    match ScaledLaw::new(&kept.sizes, costs)? {
        ScaledLaw::Small(law) => dense::clocks_within(&law, kept.root, width),
        ScaledLaw::Large(law) => dense::clocks_within(&law, kept.root, width),
        ScaledLaw::Fractional(law) => dense::clocks_within(&law, kept.root, width),
    }
}

/// A problem in the smallest number type that will do.
pub(super) enum ScaledLaw {
    Small(Scaled<i32>),
    Large(Scaled<i64>),
    Fractional(Scaled<f64>),
}

impl ScaledLaw {
    pub(super) fn new(sizes: &BlockSizes, costs: &Overlapping) -> Result<ScaledLaw, DpError> {
        let law = if costs.is_integral() {
            let small = Scaled::new(costs, sizes).map(ScaledLaw::Small);
            small.or_else(|| Scaled::new(costs, sizes).map(ScaledLaw::Large))
        } else {
            Scaled::new(costs, sizes).map(ScaledLaw::Fractional)
        };
        law.ok_or(DpError::TooLarge { total: sizes.total() })
    }
}

fn by_plain<T: Scalar>(
    law: &impl Receiving<T>,
    class: Class,
    root: Root,
    progress: &dyn Progress,
) -> Result<BoundedTree, DpError> {
    let table = plain::table(law, class, root, progress)?;
    let tree = tree(law, &table);
    let time = completion(law, &tree).units();
    Ok(BoundedTree { tree, time, at_least: time.min(table.value().units()) })
}

fn by_dense<T: Scalar>(
    law: &Scaled<T>,
    kept: &WithoutEmpty,
    (class, most_clocks): (Class, usize),
    costs: &Overlapping,
    progress: &dyn Progress,
) -> Result<BoundedTree, DpError> {
    check_copies_fit(law, kept, costs.occupancy())?;
    let dense::Bracket { table, .. } =
        dense::DensePlan::new(law, class, kept.root, most_clocks)?.fill(law, progress)?;
    let small = tree(law, &table);
    let (time, at_least) = match kept.is_one_of_several() {
        true => (law.copy(0), law.copy(0)),
        false => (completion(law, &small), table.value()),
    };
    let time = time.units();
    Ok(BoundedTree { tree: kept.restored(&small), time, at_least: time.min(at_least.units()) })
}

/// Fails unless every copy takes no longer than its own message, but the given root's, which sends
/// none.
pub(super) fn check_copies_fit<T: Scalar>(
    law: &Scaled<T>,
    kept: &WithoutEmpty,
    costs: &Homogeneous,
) -> Result<(), DpError> {
    let alone = law.ranks() == 1 && !kept.is_one_of_several();
    let sends = |&rank: &Rank| kept.root != Root::Given(rank) && !alone;
    let fits = |rank: Rank| law.copy(rank) <= law.received(T::ZERO, T::ZERO, rank, rank);
    // Whatever rounding makes of single blocks.
    let cheap = costs.gamma() <= costs.beta();
    match cheap || (0..law.ranks()).filter(sends).all(fits) {
        true => Ok(()),
        false => Err(DpError::GammaExceedsBeta { gamma: costs.gamma(), beta: costs.beta() }),
    }
}
