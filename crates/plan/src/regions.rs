//! Region map: the choice between classes of trees over a grid of problems.

use crate::catalogue;
use crate::comparison::{Outcome, compare};
use crate::error::PlanError;
use crate::expense::Effort;
use crate::request::{Request, Settings};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};
use strum::VariantArray as _;
use tuwtree_dp::Progress;
use tuwtree_model::{
    BlockSizes, ClosedSet, Construction, Homogeneous, Operation, Order, Problem, Rank, Root, Time,
    largest_block,
};

/// A class of trees, from the simplest to the most complex to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "kebab-case")]
pub enum TreeClass {
    /// The star.
    Linear,
    /// Built online.
    Adaptive,
    /// Planned offline, in rank order.
    Ordered,
    /// Planned offline, in rank order except at the root.
    Direct,
    /// Planned offline, in any order.
    Any,
}

impl TreeClass {
    /// Its description, in a few words.
    pub fn summary(self) -> &'static str {
        match self {
            TreeClass::Linear => "the star: the root receives from all others",
            TreeClass::Adaptive => "adaptive binomial, built online",
            TreeClass::Ordered => "planned offline, in rank order",
            TreeClass::Direct => "planned offline, in rank order but for what the root receives",
            TreeClass::Any => "planned offline, no order kept",
        }
    }

    /// True if a tree belongs to this class or to a simpler one.
    fn admits(self, outcome: &Outcome) -> bool {
        let online = catalogue::row(outcome.construction).is_online;
        match self {
            TreeClass::Linear => outcome.construction == Construction::Linear,
            TreeClass::Adaptive => outcome.construction == Construction::Adaptive,
            TreeClass::Ordered => !online && outcome.order == Order::Ordered,
            TreeClass::Direct => !online && outcome.order <= Order::Direct,
            TreeClass::Any => !online,
        }
    }
}

/// The completion times of the classes of trees for one problem, and a lower bound for all trees.
#[derive(Clone, Copy, Debug)]
pub struct TreeClasses {
    /// In the order of [`TreeClass::ALL`](ClosedSet::ALL).
    pub times: [Time; TreeClass::VARIANTS.len()],
    /// No tree completes earlier.
    pub bound: Time,
}

impl TreeClasses {
    /// The times for a problem: for each class the fastest of all suitable constructions, without
    /// long searches.
    ///
    /// # Errors
    /// Times that cannot be stated; gamma > beta, for which trees that keep no order are not made.
    ///
    /// # Complexity
    /// That of about twenty optimal ordered trees.
    pub fn new(problem: &Problem) -> Result<TreeClasses, PlanError> {
        let request = Request::new(problem, Settings::default(), &());
        let wanted = request.suitable(Order::Any, Effort::Quick);
        let comparison = compare(&request, &wanted, false)?;
        let time = |class: &TreeClass| {
            let fits = comparison.outcomes.iter().filter(|outcome| class.admits(outcome));
            let least = fits.map(Outcome::time).min();
            let none = || PlanError::Failed(format!("no tree of the class {}", class.name()));
            least.ok_or_else(none)
        };
        let times = TreeClass::VARIANTS.iter().map(time).collect::<Result<Vec<_>, _>>()?;
        let times = times.try_into().expect("a time for each class");
        Ok(TreeClasses { times, bound: comparison.bound })
    }

    /// The time of the trees of this class.
    pub fn time(&self, class: TreeClass) -> Time {
        self.times[class as usize]
    }

    /// The least of all times.
    pub fn best(&self) -> Time {
        self.times.into_iter().reduce(Time::min).expect("there are classes")
    }

    /// The simplest class that takes at most this share longer than the best.
    pub fn choice(&self, tolerance: f64) -> TreeClass {
        let enough = self.best().units() * (1.0 + tolerance);
        let fits = |class: &TreeClass| self.time(*class).units() <= enough;
        TreeClass::all().find(fits).expect("the best class fits")
    }

    /// Ratio of another class's time to the chosen one's.
    pub fn gain(&self, chosen: TreeClass, over: TreeClass) -> f64 {
        match self.time(chosen).units() {
            0.0 => 1.0,
            time => self.time(over).units() / time,
        }
    }
}

/// Position of the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "kebab-case")]
pub enum RootPlace {
    /// Wherever it is best for each kind of tree.
    Best,
    /// At a largest block.
    Largest,
    /// At a block of the middle size.
    Median,
    /// At a smallest block.
    Smallest,
}

impl RootPlace {
    /// Its position, in words.
    pub fn summary(self) -> &'static str {
        match self {
            RootPlace::Best => "root: the best for each tree",
            RootPlace::Largest => "root: the largest block",
            RootPlace::Median => "root: the block of middle size",
            RootPlace::Smallest => "root: the smallest block",
        }
    }

    fn root(self, sizes: &BlockSizes) -> Root {
        let by_size = || {
            let mut ranks: Vec<Rank> = (0..sizes.ranks()).collect();
            ranks.sort_by_key(|&rank| (sizes.block(rank), rank));
            ranks
        };
        match self {
            RootPlace::Best => Root::Best,
            RootPlace::Largest => Root::Given(largest_block(sizes)),
            RootPlace::Median => Root::Given(by_size()[sizes.ranks() / 2]),
            RootPlace::Smallest => Root::Given(by_size()[0]),
        }
    }
}

/// A grid of problems: blocks against latencies, for every place of the root.
#[derive(Clone, Debug)]
pub struct Grid {
    /// Gather or scatter.
    pub operation: Operation,
    /// The blocks of each row.
    pub rows: Vec<GridRow>,
    /// Latencies, in the time that a byte takes.
    pub alphas: Vec<f64>,
    /// gamma in units of beta, which is 1.
    pub gamma: f64,
    /// The overhead as a share of alpha, from 0 to 1: 1 is the one-port model.
    pub overhead_share: f64,
}

/// The blocks of a row of a grid.
#[derive(Clone, Debug)]
pub struct GridRow {
    /// Label of the row.
    pub label: String,
    /// The blocks, at the ranks where the map has them.
    pub sizes: BlockSizes,
}

/// One problem of a grid with its times.
#[derive(Clone, Copy, Debug)]
pub struct Cell {
    /// Position of the root.
    pub place: RootPlace,
    /// The index of the row.
    pub row: usize,
    /// The latency, in the time that a byte takes.
    pub alpha: f64,
    /// The least time of each class of trees.
    pub classes: TreeClasses,
}

impl Grid {
    /// All problems with their times: for each place row by row, for each row from the first latency
    /// to the last. The same whatever the number of threads.
    ///
    /// # Errors
    /// As for [`TreeClasses::new`]; [`PlanError::Misused`] for costs that are none; an interrupt.
    pub fn cells(&self, progress: &dyn Progress) -> Result<Vec<Cell>, PlanError> {
        let (width, height) = (self.alphas.len(), self.rows.len());
        let total = RootPlace::ALL.len() * height * width;
        let done = AtomicU64::new(0);
        (0..total)
            .into_par_iter()
            .map(|index| {
                let place = RootPlace::ALL[index / (width * height)];
                let row = index / width % height;
                let alpha = self.alphas[index % width];
                let costs = Homogeneous::new(alpha, 1.0, self.gamma)
                    .map_err(|error| PlanError::Misused(error.to_string()))?
                    .with_overhead(match self.overhead_share {
                        1.0 => alpha,
                        share => share * alpha,
                    })
                    .map_err(|error| PlanError::Misused(error.to_string()))?;
                let sizes = &self.rows[row].sizes;
                let problem = Problem::new(self.operation, sizes.clone(), costs)
                    .and_then(|problem| problem.with_root(place.root(sizes)))
                    .map_err(|error| PlanError::Misused(error.to_string()))?;
                let classes = TreeClasses::new(&problem)?;
                let done = 1 + done.fetch_add(1, Ordering::Relaxed);
                match progress.advance(done, total as u64).is_break() {
                    true => Err(PlanError::Interrupted),
                    false => Ok(Cell { place, row, alpha, classes }),
                }
            })
            .collect()
    }
}
