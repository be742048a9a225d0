//! Trees for machines with levels that are searched for among some ranges of ranks: in rank order, and in an order
//! with the root in the middle.

use super::CatalogueRow;
use super::composed::{has_levels, levels_of, soonest};
use crate::error::NoTree;
use crate::expense::{Expense, LIMIT_SECONDS, Watched};
use crate::request::{Built, Request, Wanted};
use tuwtree_dp::levels::{self, grids};
use tuwtree_dp::rotated::{near_optimal_in, rotated_order};
use tuwtree_model::{ClosedSet, Order, Problem, WireOwner};

pub(super) const GRIDS: CatalogueRow = CatalogueRow {
    plans: 2,
    is_long: true,
    ..CatalogueRow::plain(
        "among ranges that begin and end at some boundaries of a machine's groups, for many ranks; \
         near the best copy-first tree",
        |request, _| {
            let problem = request.problem;
            problem.ranks() > MANY && has_levels(request) && keeps_groups_together(problem)
        },
        |request, wanted| {
            let problem = levels_of(request, wanted)?;
            check(request, wanted)?;
            let network = problem.stated_costs().network();
            let grid = grids::GridReach::for_ranks(problem.ranks());
            let leaders = grids::GridReach { leaders_only: true, ..grid };
            let both = [Some(grid), (network.wire == WireOwner::Node).then_some(leaders)];
            let trees = both.into_iter().flatten().map(|grid| {
                let progress = Watched(request.watch.begin(wanted.construction.name()));
                grids::near_optimal(&problem, grid, &progress).map(|found| found.tree)
            });
            soonest(trees, request, wanted).map(Built::without_search)
        },
    )
};

pub(super) const ROTATED: CatalogueRow = CatalogueRow {
    plans: 2,
    is_long: true,
    ..CatalogueRow::plain(
        "in an order with the root in the middle of each group of a machine with levels, near the best; \
         messages of more than one range of ranks are unpacked",
        |request, order| {
            let is_another =
                request.problem.root().given().is_some() || !keeps_groups_together(request.problem);
            order == Order::Any && is_another && has_levels(request)
        },
        |request, wanted| {
            let problem = levels_of(request, wanted)?;
            check(request, wanted)?;
            let order = rotated_order(&problem).map_err(|error| wanted.stopped(error))?;
            let progress = Watched(request.watch.begin(wanted.construction.name()));
            let found = near_optimal_in(&problem, &order, &progress);
            found.map(Built::without_search).map_err(|error| wanted.stopped(error))
        },
    )
};

/// Number of ranks up to which the best copy-first tree is found in seconds.
const MANY: usize = 500;

/// About what a rank takes.
const BYTES_A_RANK: u64 = 5_000;
const SECONDS_A_RANK: f64 = 1e-4;

/// True if each group consists of adjacent ranks.
fn keeps_groups_together(problem: &Problem) -> bool {
    levels::memory_needed(problem).is_ok()
}

/// Fails if the tables take too much.
fn check(request: &Request<'_>, wanted: Wanted) -> Result<(), NoTree> {
    let ranks = request.problem.ranks();
    let expense = Expense {
        what: "looking at ranges between boundaries of groups".into(),
        bytes: ranks as u64 * BYTES_A_RANK,
        seconds: ranks as f64 * SECONDS_A_RANK,
        limit_seconds: LIMIT_SECONDS,
    };
    expense.check(wanted.effort, request.watch, |_| String::new())
}
