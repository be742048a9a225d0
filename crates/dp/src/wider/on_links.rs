//! The best trees of a class where all pairs share links whose costs are no single line: tables by size,
//! pieces with jumps.
//!
//! The dense engine takes laws that rise with size, as nearly all do. If the law rises, the tree is optimal. If it does
//! not, because of a protocol that is slow at first or of noise in measurements, the law is replaced: the best tree by
//! a rising law that is nowhere above bounds the times of all trees, and of that tree and the best one by a rising law
//! that is nowhere below, the result is the one that completes first by the law itself. Likewise for a copy that takes
//! longer than its own message: below, it takes as long as that.

use super::dense::DensePlan;
use super::empty::WithoutEmpty;
use super::pieces::{LawPiece, Pieced, StandIn, rising};
use super::table::given_root;
use super::within::{ClockSearch, best_copy_first, meet, outlay_of_search, searched};
use super::{BoundedTree, Class, LawBySize, Outlay, completion};
use crate::{DpError, Progress};
use tuwtree_bounds::best_lower_bound;
use tuwtree_model::{BlockSizes, Problem, Step, Time, Tree};

/// An optimal tree of a class for blocks at costs by size that all pairs share, given or best root; or a tree with a
/// bound on the class, if the work or the law allows no more.
///
/// `most_cells` is as for [`optimal_within`](super::optimal_within); copy-first trees take one table.
///
/// # Errors
/// [`DpError::NeedsBlocks`], [`DpError::NotHierarchical`] for costs that are not those of a machine,
/// [`DpError::NotHomogeneous`] if pairs differ, [`DpError::TooLarge`], [`DpError::OutOfMemory`],
/// [`DpError::Cancelled`].
///
/// # Complexity
/// A constant number of candidates for each cell and each piece of the law; twice that where it does not rise with size.
///
/// # Example
/// Messages of 3 bytes or more occupy the port for 10, smaller ones for 1, and each travels for 2. Root 0 receives
/// two blocks of 2 one by one.
/// ```
/// use tuwtree_dp::wider::{Class, optimal_on_links};
/// use tuwtree_model::{
///     BlockSizes, Hierarchy, Level, Piece, PiecewiseLinear, Placement, Problem, Root,
/// };
/// let piece = |from_bytes, overhead| Piece { from_bytes, alpha: 2.0 + overhead, overhead, beta: 0.0 };
/// let links = PiecewiseLinear::new(vec![piece(0, 1.0), piece(3, 10.0)]).unwrap().into();
/// let level = Level { name: "network".into(), members: 3, links };
/// let machine = Hierarchy::new(vec![level], Placement::Block, 0.0).unwrap();
/// let sizes = BlockSizes::new([0, 2, 2]).unwrap();
/// let problem = Problem::gather(&sizes, &machine).unwrap().with_root(Root::Given(0)).unwrap();
/// let best = optimal_on_links(&problem, Class::Consecutive, 1000, &()).unwrap();
/// assert_eq!((best.time, best.at_least, best.tree.degree(0)), (4.0, 4.0, 2));
/// ```
pub fn optimal_on_links(
    problem: &Problem,
    class: Class,
    most_cells: u64,
    progress: &dyn Progress,
) -> Result<BoundedTree, DpError> {
    let shared = SharedLinks::new(problem)?;
    let Some(below) = shared.rising(StandIn::Below) else {
        return Ok(alone());
    };
    let found = shared.best(&below, class, most_cells, progress)?;
    let law = LawBySize::shared(problem, shared.sizes);
    let (mut tree, mut at_least) = (found.tree, found.at_least);
    let mut time = completion(&law, &tree);
    if !meet(time, at_least) {
        at_least = at_least.max(best_lower_bound(problem).map_or(0.0, Time::units));
    }
    let above = shared.rising(StandIn::Above).filter(|above| *above != below);
    if let Some(above) = above.filter(|_| !meet(time, at_least)) {
        let other = shared.best(&above, class, most_cells, progress)?.tree;
        let taken = completion(&law, &other);
        if taken < time {
            (tree, time) = (other, taken);
        }
    }
    match time.is_finite() {
        false => Err(DpError::TooLarge { total: shared.sizes.total() }),
        true => {
            let at_least = if meet(time, at_least) { time } else { at_least };
            Ok(BoundedTree { tree, time, at_least })
        }
    }
}

/// Work of [`optimal_on_links`], in cells at linear costs.
///
/// # Errors
/// As [`optimal_on_links`].
///
/// # Complexity
/// O(p log p), and O(p) for each piece of the law.
pub fn outlay_on_links(
    problem: &Problem,
    class: Class,
    most_cells: u64,
) -> Result<Outlay, DpError> {
    let shared = SharedLinks::new(problem)?;
    let Some(below) = shared.rising(StandIn::Below) else {
        return Ok(Outlay { is_plain: false, is_exact: true, cells: 0, bytes: 0 });
    };
    let law = shared.law(&below)?;
    let outlay = match class {
        Class::Consecutive => outlay_of_search(&ClockSearch::new(&law, &shared.kept, most_cells)?)?,
        Class::CopyFirst => {
            let plan = DensePlan::new(&law, class, shared.kept.root, 1)?;
            let (cells, bytes) = (plan.cells(shared.kept.sizes.ranks()), plan.memory_needed(&law));
            Outlay { is_plain: false, is_exact: true, cells: cells as u64, bytes }
        }
    };
    let passes = match shared.rising(StandIn::Above) {
        Some(above) if above != below => 2,
        _ => 1,
    };
    let factor = passes * (CELLS_OF_LAW + below.len() as u64);
    Ok(Outlay { cells: outlay.cells.saturating_mul(factor), ..outlay })
}

/// Work of a cell under a law in pieces, in cells at linear costs: this, and one for each piece.
const CELLS_OF_LAW: u64 = 2;

/// A lone process needs no links.
fn alone() -> BoundedTree {
    let steps: [(usize, Step); 0] = [];
    let tree = Tree::new(1, 0, &steps).expect("a lone process is a tree");
    BoundedTree { tree, time: 0.0, at_least: 0.0 }
}

/// Blocks at costs that all pairs share.
struct SharedLinks<'a> {
    problem: &'a Problem,
    sizes: &'a BlockSizes,
    kept: WithoutEmpty,
    gamma: f64,
}

impl<'a> SharedLinks<'a> {
    fn new(problem: &'a Problem) -> Result<SharedLinks<'a>, DpError> {
        let operation = problem.operation();
        let sizes = problem.blocks().ok_or(DpError::NeedsBlocks { operation })?;
        let p = problem.ranks();
        given_root(p, problem.root())?;
        let machine = problem.costs().hierarchy().ok_or(DpError::NotHierarchical)?;
        if p > 1 && machine.only_law(p).is_none() {
            return Err(DpError::NotHomogeneous);
        }
        let kept = WithoutEmpty::new(sizes, problem.root());
        Ok(SharedLinks { problem, sizes, kept, gamma: machine.gamma() })
    }

    /// A rising law in place of that of the links; `None` for a lone process.
    fn rising(&self, side: StandIn) -> Option<Vec<LawPiece>> {
        let machine = self.problem.costs().hierarchy()?;
        machine.only_law(self.problem.ranks()).map(|links| rising(links, side))
    }

    fn law(&self, pieces: &[LawPiece]) -> Result<Pieced<f64>, DpError> {
        let copy = |bytes: u64| self.gamma * bytes as f64;
        Pieced::new(&self.kept.sizes, pieces, self.kept.root.given(), copy)
    }

    /// An optimal tree by a rising law, as far as this much work finds it.
    fn best(
        &self,
        pieces: &[LawPiece],
        class: Class,
        most_cells: u64,
        progress: &dyn Progress,
    ) -> Result<BoundedTree, DpError> {
        let law = self.law(pieces)?;
        match class {
            Class::Consecutive => searched(&law, &self.kept, most_cells, || 0.0, progress),
            Class::CopyFirst => best_copy_first(&law, &self.kept, progress),
        }
    }
}
