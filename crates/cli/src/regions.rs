//! Where which kind of tree pays: the choice between kinds of trees over a grid of problems.

use crate::error::CliError;
use crate::output::progress::Progress;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};
use tuwtree_dp::non_ordered::{self, direct, sorted};
use tuwtree_dp::{default_method, optimal};
use tuwtree_model::{
    BlockSizes, Homogeneous, Rank, Root, Time, best_lower_bound, completion_time, largest_block,
};
use tuwtree_treegen::{AdaptiveRule, adaptive, doubling, greedy, linear, linear_root};

/// A kind of tree, from the one that is the least trouble to the one that is the most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Linear,
    Adaptive,
    Ordered,
    Direct,
    Any,
}

impl Kind {
    pub(crate) const ALL: [Kind; 5] =
        [Kind::Linear, Kind::Adaptive, Kind::Ordered, Kind::Direct, Kind::Any];

    /// The name by which users and documents call it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Linear => "linear",
            Kind::Adaptive => "adaptive",
            Kind::Ordered => "ordered",
            Kind::Direct => "direct",
            Kind::Any => "any",
        }
    }

    /// What it is, in a few words.
    pub(crate) fn summary(self) -> &'static str {
        match self {
            Kind::Linear => "the star of MPI libraries",
            Kind::Adaptive => "adaptive binomial, built online",
            Kind::Ordered => "optimal ordered tree, built offline",
            Kind::Direct => "ordered, large blocks sent directly to the root",
            Kind::Any => "no order kept",
        }
    }
}

/// The result, or the failure in words.
fn stated<T>(result: Result<T, impl std::fmt::Display>) -> Result<T, CliError> {
    result.map_err(|error| CliError::Failure(error.to_string()))
}

/// The completion times of the kinds of trees for one problem, and a lower bound for all trees.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rivals {
    /// In the order of [`Kind::ALL`].
    pub(crate) times: [Time; Kind::ALL.len()],
    pub(crate) bound: Time,
}

/// The most blocks that a tree with direct senders sends straight to the root.
const DIRECT_SENDERS: usize = 8;

impl Rivals {
    /// The times for a gather; the linear tree and the adaptive one choose their roots by
    /// themselves where none is given.
    ///
    /// # Errors
    /// Times that cannot be stated; gamma > beta, for which trees that keep no order are not made.
    ///
    /// # Complexity
    /// That of about twenty optimal ordered trees.
    pub(crate) fn new(
        sizes: &BlockSizes,
        costs: &Homogeneous,
        root: Root,
    ) -> Result<Rivals, CliError> {
        let time = |tree| stated(completion_time(&tree, sizes, costs));
        let star = match root {
            Root::Given(root) => root,
            Root::Best => stated(linear_root(sizes, costs))?,
        };
        let star = time(stated(linear(sizes.processors(), star))?)?;
        let rule = AdaptiveRule::CompletionTime;
        let binomial = time(stated(adaptive(sizes, costs, root, rule))?)?;
        let method = default_method(sizes, costs);
        let ordered = time(stated(optimal(sizes, costs, root, method))?.tree)?;
        let direct = stated(direct(sizes, costs, root, DIRECT_SENDERS, &()))?;
        let direct = time(direct)?.min(ordered);
        let any = [
            stated(sorted(sizes, costs, root, &non_ordered::Order::ALL, &()))?,
            stated(doubling(sizes, root))?,
            stated(greedy(sizes, costs, root))?,
        ];
        let mut best = direct;
        for tree in any {
            best = best.min(time(tree)?);
        }
        let bound = stated(best_lower_bound(root, sizes, costs))?;
        Ok(Rivals { times: [star, binomial, ordered, direct, best], bound })
    }

    /// The time of the trees of this kind.
    pub(crate) fn time(&self, kind: Kind) -> Time {
        self.times[kind as usize]
    }

    /// The least of all times.
    pub(crate) fn best(&self) -> Time {
        self.times.into_iter().reduce(Time::min).expect("there are kinds")
    }

    /// The kind that is the least trouble and takes at most this share longer than the best.
    pub(crate) fn choice(&self, tolerance: f64) -> Kind {
        let enough = self.best().units() * (1.0 + tolerance);
        let fits = |kind: &Kind| self.time(*kind).units() <= enough;
        Kind::ALL.into_iter().find(fits).expect("the best kind fits")
    }

    /// How many times as long another kind takes as the chosen one.
    pub(crate) fn gain(&self, chosen: Kind, over: Kind) -> f64 {
        match self.time(chosen).units() {
            0.0 => 1.0,
            time => self.time(over).units() / time,
        }
    }
}

/// Where the root is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Wherever it is best for each kind of tree.
    Best,
    /// At a largest block.
    Largest,
    /// At a block of the middle size.
    Median,
    /// At a smallest block.
    Smallest,
}

impl Place {
    pub(crate) const ALL: [Place; 4] =
        [Place::Best, Place::Largest, Place::Median, Place::Smallest];

    /// The name by which users and documents call it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Place::Best => "best",
            Place::Largest => "largest",
            Place::Median => "median",
            Place::Smallest => "smallest",
        }
    }

    /// Where it is, in words.
    pub(crate) fn summary(self) -> &'static str {
        match self {
            Place::Best => "root: the best for each tree",
            Place::Largest => "root: the largest block",
            Place::Median => "root: the block of middle size",
            Place::Smallest => "root: the smallest block",
        }
    }

    fn root(self, sizes: &BlockSizes) -> Root {
        let by_size = || {
            let mut ranks: Vec<Rank> = (0..sizes.processors()).collect();
            ranks.sort_by_key(|&rank| (sizes.block(rank), rank));
            ranks
        };
        match self {
            Place::Best => Root::Best,
            Place::Largest => Root::Given(largest_block(sizes)),
            Place::Median => Root::Given(by_size()[sizes.processors() / 2]),
            Place::Smallest => Root::Given(by_size()[0]),
        }
    }
}

/// A grid of problems: blocks against latencies, for every place of the root.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    /// The blocks of each row.
    pub(crate) rows: Vec<Row>,
    /// Latencies, in the time that a byte takes.
    pub(crate) alphas: Vec<f64>,
    /// gamma in units of beta, which is 1.
    pub(crate) gamma: f64,
}

/// The blocks of a row of a grid.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) label: String,
    pub(crate) sizes: BlockSizes,
}

/// One problem of a grid with its times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell {
    pub(crate) place: Place,
    /// The index of the row.
    pub(crate) row: usize,
    pub(crate) alpha: f64,
    pub(crate) rivals: Rivals,
}

impl Grid {
    /// All problems with their times: for each place row by row, for each row from the first latency
    /// to the last. The same whatever the number of threads.
    ///
    /// # Errors
    /// As for [`Rivals::new`]; an interrupt.
    pub(crate) fn cells(&self) -> Result<Vec<Cell>, CliError> {
        let (width, height) = (self.alphas.len(), self.rows.len());
        let total = Place::ALL.len() * height * width;
        let progress = Progress::new("map");
        let done = AtomicU64::new(0);
        (0..total)
            .into_par_iter()
            .map(|index| {
                let place = Place::ALL[index / (width * height)];
                let row = index / width % height;
                let alpha = self.alphas[index % width];
                let costs = Homogeneous::new(alpha, 1.0, self.gamma)
                    .map_err(|error| CliError::Usage(error.to_string()))?;
                let sizes = &self.rows[row].sizes;
                let rivals = Rivals::new(sizes, &costs, place.root(sizes))?;
                let done = 1 + done.fetch_add(1, Ordering::Relaxed);
                match progress.advance(done, total as u64).is_break() {
                    true => Err(CliError::Interrupted),
                    false => Ok(Cell { place, row, alpha, rivals }),
                }
            })
            .collect()
    }
}
