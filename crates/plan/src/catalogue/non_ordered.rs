//! Trees that are found by way of optimal ordered ones, and the best of all trees, for blocks at any costs.
//!
//! How good `direct`, `sorted` and `searched` are, nothing tells but the lower bound; `exact` is exact.

use super::built::{needs_blocks, unordered_blocks};
use super::optimal::one_ported;
use super::ordered::of_law;
use super::{CatalogueRow, polished, shares_one_law};
use crate::error::NoTree;
use crate::expense::{Effort, Expense, LIMIT_SECONDS, Watched, seconds_of_cells};
use crate::request::{Built, Request, Search, Wanted, WiderMethod, seconds_on_levels};
use std::time::{Duration, Instant};
use tuwtree_dp::non_ordered::{
    self, BlockOrder, MOST_WORK, NonOrderedError, ORDER_CELLS, STEP_CELLS, WORK_AT_ONCE,
    class_by_size, direct, exact, exact_work, search, sorted,
};
use tuwtree_dp::wider::{self, Class, Engine, LawBySize, Overlapping};
use tuwtree_dp::{
    DpError, PairMethod, PairTrees, SETTLING_CELLS, default_method, levels, memory_needed,
    memory_needed_per_pair, polish,
};
use tuwtree_model::{BlockSizes, ClosedSet, Order, Ports, Problem, Root, Tree};

/// Extent of the local search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LocalSearch {
    /// Number of orders tried.
    pub steps: usize,
    /// Seed; equal seeds try equal orders.
    pub seed: u64,
    /// Latest end; it depends on the machine.
    pub limit: Option<Duration>,
}

impl LocalSearch {
    /// A hundred steps, whatever time they take.
    pub const DEFAULT: LocalSearch = LocalSearch { steps: 100, seed: 1, limit: None };
}

/// The most blocks that go straight to the root before an ordered tree.
const MOST_DIRECT: usize = 8;

/// The longest that a local search may take that was not asked for by name: it ends early as a rule.
const SEARCH_LIMIT_SECONDS: f64 = 10.0;

pub(super) const DIRECT: CatalogueRow = CatalogueRow {
    is_for_one_port: true,
    ..CatalogueRow::plain(
        "best ordered tree for the rest after at most 8 of the largest blocks went to the root",
        |request, order| request.problem.blocks().is_some() && order >= Order::Direct,
        |request, wanted| {
            let problem = with_blocks(request, wanted)?;
            let expense = expense_of_rests(&problem, wanted)?;
            expense.check(wanted.effort, request.watch, |_| String::new())?;
            let progress = Watched(request.watch.begin(wanted.construction.name()));
            done(wanted, direct(&problem, MOST_DIRECT, &progress))
        },
    )
};

pub(super) const SORTED: CatalogueRow = CatalogueRow {
    is_for_cheap_copies: true,
    is_for_one_port: true,
    ..CatalogueRow::plain(
        "optimal ordered tree for six other orders of the blocks; not in rank order",
        unordered_blocks,
        |request, wanted| {
            let problem = with_blocks(request, wanted)?;
            let expense = expense_of_orders(&problem, BlockOrder::ALL.len(), ORDER_CELLS, wanted)?;
            expense.check(wanted.effort, request.watch, |_| String::new())?;
            let progress = Watched(request.watch.begin(wanted.construction.name()));
            done(wanted, sorted(&problem, BlockOrder::ALL, &progress))
        },
    )
};

pub(super) const SEARCHED: CatalogueRow = CatalogueRow {
    is_for_cheap_copies: true,
    is_for_one_port: true,
    is_long: true,
    ..CatalogueRow::plain(
        "for orders, or where latency overlaps trees, improved step by step (--search-steps); not in rank order",
        unordered_blocks,
        |request, wanted| {
            if polish::admits(request.problem) {
                return polished::improved(request, wanted, Order::Any);
            }
            let problem = with_blocks(request, wanted)?;
            let LocalSearch { steps, seed, limit } = request.settings.local_search;
            let mut expense = expense_of_orders(&problem, steps + 2, STEP_CELLS, wanted)?;
            expense.limit_seconds = SEARCH_LIMIT_SECONDS;
            if let Some(limit) = limit {
                expense.seconds = expense.seconds.min(limit.as_secs_f64());
            }
            expense.check(wanted.effort, request.watch, |_| String::new())?;
            let progress = Watched(request.watch.begin(wanted.construction.name()));
            let started = Instant::now();
            let mut goes_on = || limit.is_none_or(|limit| started.elapsed() < limit);
            let far = non_ordered::Search { steps, seed };
            done(wanted, search(&problem, far, &progress, &mut goes_on))
        },
    )
};

pub(super) const EXACT: CatalogueRow = CatalogueRow {
    is_best_of_class: true,
    is_long: true,
    ..CatalogueRow::plain(
        "best tree of all, for few processes or few sizes",
        unordered_blocks,
        |request, wanted| {
            let problem = request.problem;
            if problem.blocks().is_none() {
                return Err(wanted.effort.refused(needs_blocks(wanted, problem.operation())));
            }
            if problem.ports() == Ports::ONE {
                check_work(problem, wanted)?;
            }
            done(wanted, exact(problem))
        },
    )
};

/// The problem on one port, if it has the blocks that all of these trees are made from.
fn with_blocks(request: &Request<'_>, wanted: Wanted) -> Result<Problem, NoTree> {
    match request.problem.blocks() {
        Some(_) => Ok(one_ported(request.problem)),
        None => Err(wanted.effort.refused(needs_blocks(wanted, request.problem.operation()))),
    }
}

/// Fails if the best of all trees is too much work.
fn check_work(problem: &Problem, wanted: Wanted) -> Result<(), NoTree> {
    let effort = wanted.effort;
    let needed = exact_work(problem).map_err(|error| wanted.stopped(error))?;
    let refused = |most: u64, [blocks, processes]: [u32; 2], advice: &str| {
        let needed = match needed {
            u64::MAX => "more than 10^19".to_owned(),
            needed => needed.to_string(),
        };
        let enough = match shares_one_law(problem) {
            true => format!(
                "{blocks} blocks of distinct sizes beside the root's, or more where sizes repeat"
            ),
            false => format!("{processes} processes where costs differ from pair to pair"),
        };
        effort.refused(format!(
            "it would take {needed} steps, more than {most}, which do for {enough}{advice}"
        ))
    };
    match effort {
        Effort::Moderate | Effort::Quick if needed > WORK_AT_ONCE && needed <= MOST_WORK => {
            Err(refused(WORK_AT_ONCE, [16, 14], "; name it to wait for it"))
        }
        _ if needed > MOST_WORK => Err(refused(MOST_WORK, [18, 17], "")),
        Effort::Any | Effort::Moderate | Effort::Quick => Ok(()),
    }
}

/// Expense of the best ordered trees for this many orders of the blocks, with this many table cells for each.
fn expense_of_orders(
    problem: &Problem,
    orders: usize,
    most_cells: u64,
    wanted: Wanted,
) -> Result<Expense, NoTree> {
    let open = with_open_root(problem);
    expense(of_order(&open, most_cells), orders, wanted)
}

/// Expense of the best ordered trees of the ranks that are left when some send directly to the root, for each number of
/// these: groups of adjacent ranks stay together.
fn expense_of_rests(problem: &Problem, wanted: Wanted) -> Result<Expense, NoTree> {
    let open = with_open_root(problem);
    let sizes = problem.blocks().expect("checked before");
    let of_rest = match open.costs().homogeneous(open.ranks()) {
        Some(costs) if costs.gamma() <= costs.beta() && !costs.overlaps() => {
            // What many processes take, whose fillers triple their number.
            let longer = sizes.iter().flat_map(|bytes| [bytes, 0, 0]);
            let longer = BlockSizes::new(longer).map_err(NoTree::failed)?;
            of_order(&Problem::gather(&longer, costs).map_err(NoTree::failed)?, ORDER_CELLS)
        }
        Some(costs) if costs.gamma() <= costs.beta() => of_order(&open, ORDER_CELLS),
        _ if shares_one_law(&open) => {
            let class = class_by_size(&open, ORDER_CELLS);
            of_law(&LawBySize::shared(&open, sizes), class, open.root())
        }
        _ => match levels::memory_needed(&open) {
            Ok(bytes) => Ok((bytes, Search::Levels.estimated_seconds(open.ranks()))),
            Err(_) => of_order(&open, ORDER_CELLS),
        },
    };
    let roots = match (problem.root(), shares_one_law(problem)) {
        (Root::Best, false) => 2,
        _ => 1,
    };
    expense(of_rest, roots * (MOST_DIRECT + 1) + 1, wanted)
}

/// The problem with the best root, whose tables are the largest.
fn with_open_root(problem: &Problem) -> Problem {
    problem.with_root(Root::Best).expect("an open root is no rank")
}

/// Expense of this many trees, each of which takes this many bytes and seconds.
fn expense(
    of_one: Result<(u64, f64), DpError>,
    trees: usize,
    wanted: Wanted,
) -> Result<Expense, NoTree> {
    let (bytes, seconds) = of_one.map_err(NoTree::failed)?;
    Ok(Expense {
        what: wanted.construction.name().to_owned(),
        bytes,
        seconds: seconds * trees as f64,
        limit_seconds: LIMIT_SECONDS,
    })
}

/// The bytes and seconds of a best ordered tree, with this many table cells if they suffice.
fn of_order(problem: &Problem, most_cells: u64) -> Result<(u64, f64), DpError> {
    let operation = problem.operation();
    let sizes = problem.blocks().ok_or(DpError::NeedsBlocks { operation })?;
    let (root, ranks) = (problem.root(), problem.ranks());
    let Some(costs) = problem.costs().homogeneous(ranks) else {
        if shares_one_law(problem) {
            let class = class_by_size(problem, most_cells);
            return of_law(&LawBySize::shared(problem, sizes), class, root);
        }
        let (method, seconds) = match problem.costs().hierarchy() {
            Some(machine) => (PairMethod::Plain, seconds_on_levels(machine, ranks)),
            None => {
                let method = PairMethod::Hinges;
                (method, Search::PerPair(method).estimated_seconds(ranks))
            }
        };
        let bytes = memory_needed_per_pair(ranks, root, PairTrees::AnyDegree(method));
        return Ok((bytes, seconds));
    };
    let overlapping = Overlapping::from(costs);
    let outlay = wider::outlay(sizes, &overlapping, root, SETTLING_CELLS)?;
    if outlay.cells <= most_cells {
        return Ok((outlay.bytes, seconds_of_cells(outlay.cells)));
    }
    let (bytes, search) = match (costs.overlaps(), costs.gamma() <= costs.beta()) {
        (false, _) => {
            let method = default_method(problem);
            (memory_needed(problem, method)?, Search::Homogeneous(method))
        }
        (true, true) => {
            let class = Class::CopyFirst;
            let bytes = wider::memory_needed(sizes, &overlapping, root, class, Engine::EXACT)?;
            (bytes, Search::Wider(WiderMethod::Dense))
        }
        (true, false) => {
            let class = Class::CopyFirst;
            let bytes = wider::memory_needed(sizes, &overlapping, root, class, Engine::Plain)?;
            (bytes, Search::Wider(WiderMethod::Plain))
        }
    };
    Ok((bytes, search.estimated_seconds(ranks)))
}

/// Result of a search.
fn done(wanted: Wanted, tree: Result<Tree, NonOrderedError>) -> Result<Built, NoTree> {
    tree.map(Built::without_search).map_err(|error| match error {
        NonOrderedError::Ordered(error) => wanted.stopped(error),
        NonOrderedError::TooMuchWork { .. } | NonOrderedError::TooManyForPorts { .. } => {
            wanted.effort.refused(error)
        }
        NonOrderedError::Time(error) => wanted.effort.unlinked(error),
    })
}
