//! Trees improved by the judge, step by step.

use super::CatalogueRow;
use super::overlapping::blocks;
use crate::error::{NoTree, PlanError};
use crate::expense::Effort;
use crate::request::{Built, FEW, Request, Wanted};
use tuwtree_dp::polish::{Polish, admits, polished};
use tuwtree_model::{Construction, Order, Time, Tree, judged_time};

pub(super) const ROW: CatalogueRow = CatalogueRow {
    is_for_one_port: true,
    is_for_overlap: true,
    ..CatalogueRow::plain(
        "fastest of other trees in rank order, improved by small changes, where latency overlaps",
        |request, _| admits(request.problem),
        |request, wanted| {
            blocks(request.problem, wanted)?;
            improved(request, wanted, Order::Ordered)
        },
    )
};

/// Constructions whose trees are built at once, in rank order.
const STARTS: [Construction; 5] = [
    Construction::Linear,
    Construction::Adaptive,
    Construction::TwoLevel,
    Construction::Leaders,
    Construction::Deadline,
];

/// The start, or the fastest of some trees, after as many changes as take a moment.
pub(super) fn improved(
    request: &Request<'_>,
    wanted: Wanted,
    order: Order,
) -> Result<Built, NoTree> {
    let problem = request.problem;
    let start = match request.start {
        Some(tree) => tree.clone(),
        None => best_start(request, wanted, order)?,
    };
    let seed = request.settings.local_search.seed;
    let polish = Polish { steps: steps(request), seed, keeps_ranges: order == Order::Ordered };
    let tree = polished(problem, &start, polish).map_err(|error| wanted.stopped(error))?;
    Ok(Built::without_search(tree))
}

/// The fastest of some trees.
fn best_start(request: &Request<'_>, wanted: Wanted, order: Order) -> Result<Tree, NoTree> {
    let problem = request.problem;
    let of_few = (problem.ranks() <= FEW).then_some(Construction::Optimal);
    let starts: Vec<Construction> = match order {
        Order::Ordered => STARTS.into_iter().chain(of_few).collect(),
        _ => vec![Construction::Polished, Construction::Greedy],
    };
    let mut best: Option<(Time, Tree)> = None;
    for construction in starts {
        let effort = wanted.effort.max(Effort::Moderate);
        let built = match request.build(Wanted { construction, search: None, effort }) {
            Ok(built) => built,
            Err(NoTree::Failed(PlanError::Interrupted)) => {
                return Err(NoTree::Failed(PlanError::Interrupted));
            }
            Err(_) => continue,
        };
        let tree = built.plan.into_tree().map_err(NoTree::failed)?;
        let time = judged_time(&tree, problem).map_err(|error| wanted.effort.unlinked(error))?;
        if best.as_ref().is_none_or(|(least, _)| time < *least) {
            best = Some((time, tree));
        }
    }
    let refused = || wanted.effort.refused("no tree could be built that it would improve");
    best.map(|(_, tree)| tree).ok_or_else(refused)
}

/// Number of changes that are tried: 20,000 for each hundred steps of local search, fewer where many ranks make each of
/// them dear.
fn steps(request: &Request<'_>) -> usize {
    let at_once = 200 * request.settings.local_search.steps;
    at_once.saturating_mul(FEW) / request.problem.ranks().max(FEW)
}
