//! Trees that are found by way of optimal ordered ones, for blocks at costs that are the same everywhere,
//! and the best of all trees, for blocks at any costs.
//!
//! For gamma > beta, `sorted` and `searched` are built all the same, and nothing is known of how good
//! they are but what the lower bound tells; `exact` is exact; `direct` is not built.

use super::built::{needs_blocks, unordered_blocks};
use super::optimal::one_ported;
use super::{CatalogueRow, overlapping, shares_one_law};
use crate::error::NoTree;
use crate::expense::{Effort, Expense, LIMIT_SECONDS, Watched};
use crate::request::{Built, Request, Search, Searched, Wanted};
use std::time::{Duration, Instant};
use tuwtree_dp::non_ordered::{
    self, BlockOrder, MOST_WORK, NonOrderedError, WORK_AT_ONCE, direct, exact, exact_work, search,
    sorted,
};
use tuwtree_dp::{default_method, memory_needed};
use tuwtree_model::{BlockSizes, ClosedSet, Homogeneous, Order, Ports, Problem, Tree};

/// How far the local search goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LocalSearch {
    /// How many orders are tried.
    pub steps: usize,
    /// The same seed tries the same orders.
    pub seed: u64,
    /// When it ends at the latest; that depends on the machine.
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
            let NonOrderedInput { problem, sizes, costs } = NonOrderedInput::of(request, wanted)?;
            if costs.gamma() > costs.beta() {
                return Err(wanted.effort.refused(format!(
                    "gamma = {} exceeds beta = {}; direct senders are for gamma <= beta",
                    costs.gamma(),
                    costs.beta()
                )));
            }
            let longer = sizes.iter().flat_map(|bytes| [bytes, 0, 0]);
            let longer = BlockSizes::new(longer).map_err(NoTree::failed)?;
            let longer = Problem::gather(&longer, costs).map_err(NoTree::failed)?;
            let expense = expense_of_orders(&longer, MOST_DIRECT + 2, wanted)?;
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
            let NonOrderedInput { problem, .. } = NonOrderedInput::of(request, wanted)?;
            let expense = expense_of_orders(&problem, BlockOrder::ALL.len(), wanted)?;
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
        "the same for orders improved step by step (--search-steps); not in rank order",
        unordered_blocks,
        |request, wanted| {
            let NonOrderedInput { problem, .. } = NonOrderedInput::of(request, wanted)?;
            let LocalSearch { steps, seed, limit } = request.settings.local_search;
            let mut expense = expense_of_orders(&problem, steps + 2, wanted)?;
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

/// What all of these trees are made from.
struct NonOrderedInput<'a> {
    /// On one port, with the costs to search with.
    problem: Problem,
    sizes: &'a BlockSizes,
    costs: Homogeneous,
}

impl<'a> NonOrderedInput<'a> {
    fn of(request: &'a Request<'_>, wanted: Wanted) -> Result<NonOrderedInput<'a>, NoTree> {
        let Some(sizes) = request.problem.blocks() else {
            let reason = needs_blocks(wanted, request.problem.operation());
            return Err(wanted.effort.refused(reason));
        };
        let problem = one_ported(request.searched.problem(wanted.effort)?);
        match &request.searched {
            Searched::Homogeneous(costs, _) => {
                Ok(NonOrderedInput { problem, sizes, costs: *costs })
            }
            Searched::PerPair(_) | Searched::NotLinear(_) | Searched::Overlapping(_) => {
                let costs = problem.costs().homogeneous(problem.processors());
                let reason = "only costs that are the same for all pairs of processes will do";
                let costs = costs.ok_or_else(|| wanted.effort.refused(reason))?;
                Ok(NonOrderedInput { problem, sizes, costs })
            }
        }
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

/// What optimal ordered trees for so many orders of these blocks take.
fn expense_of_orders(problem: &Problem, orders: usize, wanted: Wanted) -> Result<Expense, NoTree> {
    let open = problem.with_root(tuwtree_model::Root::Best).expect("an open root is no processor");
    let (bytes, search) = match overlapping::method(&open).filter(|_| open.costs().overlaps()) {
        Some(search) => (overlapping::memory_needed(&open).map_err(NoTree::failed)?, search),
        None => {
            let method = default_method(&open);
            let bytes = memory_needed(&open, method).map_err(NoTree::failed)?;
            (bytes, Search::Homogeneous(method))
        }
    };
    let seconds = search.estimated_seconds(problem.processors());
    Ok(Expense {
        what: wanted.construction.name().to_owned(),
        bytes,
        seconds: seconds * orders as f64,
        limit_seconds: LIMIT_SECONDS,
    })
}

/// What became of a search.
fn done(wanted: Wanted, tree: Result<Tree, NonOrderedError>) -> Result<Built, NoTree> {
    tree.map(Built::without_search).map_err(|error| match error {
        NonOrderedError::Ordered(error) => wanted.stopped(error),
        NonOrderedError::TooMuchWork { .. } | NonOrderedError::TooManyForPorts { .. } => {
            wanted.effort.refused(error)
        }
        NonOrderedError::Time(error) => wanted.effort.unlinked(error),
    })
}
