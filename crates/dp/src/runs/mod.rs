//! Run-length dynamic programming.

mod column;
mod events;
mod kept;
mod row;
mod sweep;
mod table;
mod tree;
mod zeros;

use kept::Kept;
use row::Excess;
use table::Tables;
use tree::Walk;
use tuwtree_model::{Rank, Root, Scalar, ScaledSizes, Step, Tree};

/// An optimal ordered tree.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution<T> {
    /// Its completion time, in the cost model's time units.
    pub time: T,
    /// The tree.
    pub tree: Tree,
}

/// Why there is no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunsError {
    /// `gamma > beta`.
    #[error("copying block {rank} takes longer than sending its volume; this method needs gamma <= beta")]
    CopyingIsSlower {
        /// A processor whose block shows it.
        rank: Rank,
    },
}

/// x
pub fn optimal<T: Scalar>(sizes: &ScaledSizes<T>, root: Root, side: usize) -> Result<Solution<T>, RunsError> {
    let kept = Kept::new(sizes, root)?;
    let processors = sizes.processors();
    let (top, steps) = if kept.blocks() < 2 {
        star(&kept, processors)
    } else if kept.largest_excess() <= i64::from(i32::MAX) {
        steps::<i32>(&kept, processors, side)
    } else {
        steps::<i64>(&kept, processors, side)
    };
    let time = completion(sizes, top, &steps);
    let tree = Tree::new(processors, top, &steps).expect("the cuts of ranges make a tree");
    Ok(Solution { time, tree })
}

fn steps<E: Excess>(kept: &Kept, processors: usize, side: usize) -> (Rank, Vec<(Rank, Step)>) {
    let tables = Tables::<E>::new(kept, side);
    if std::env::var("WALK").is_ok() {
        eprintln!("runs {}", tables.runs());
    }
    Walk::steps(kept, &tables, processors)
}

/// The tree of a problem with at most one block that is kept.
fn star(kept: &Kept, processors: usize) -> (Rank, Vec<(Rank, Step)>) {
    let root = if kept.blocks() == 0 { 0 } else { kept.rank(0) };
    let mut steps = Vec::new();
    if processors > 1 {
        steps.push((root, Step::Copy));
        steps.extend((root + 1..processors).map(|rank| (root, Step::Receive(rank))));
        steps.extend((0..root).rev().map(|rank| (root, Step::Receive(rank))));
    }
    (root, steps)
}

/// The completion time of a tree given by its steps, each processor's before its parent's.
fn completion<T: Scalar>(sizes: &ScaledSizes<T>, root: Rank, steps: &[(Rank, Step)]) -> T {
    let mut clocks = vec![T::ZERO; sizes.processors()];
    let mut segments: Vec<(Rank, Rank)> = (0..sizes.processors()).map(|rank| (rank, rank)).collect();
    for &(rank, step) in steps {
        clocks[rank] = match step {
            Step::Copy => clocks[rank] + sizes.copy(rank),
            Step::Receive(child) => {
                let (first, last) = segments[child];
                let segment = &mut segments[rank];
                *segment = (segment.0.min(first), segment.1.max(last));
                clocks[rank].most(clocks[child]) + sizes.transmission(first, last)
            }
        };
    }
    clocks[root]
}
