//! Trees for machines with levels, composed of trees of their groups: of several that are composed, the one
//! that the judge has first.

use super::CatalogueRow;
use super::optimal::one_ported;
use super::overlapping::{blocks, shares_one_law};
use crate::error::NoTree;
use crate::expense::{Expense, LIMIT_SECONDS};
use crate::request::{Built, Request, Wanted};
use tuwtree_dp::DpError;
use tuwtree_dp::composed::{Composer, Straight, chunked_tree, straight};
use tuwtree_model::{ClosedSet, Order, Problem, Time, Tree, judged_time};

pub(super) const LEADERS: CatalogueRow = CatalogueRow {
    plans: 2,
    ..CatalogueRow::plain(
        "a leader for each group of a machine with levels, whoever is best; near the best for shared wires",
        |request, _| has_levels(request),
        |request, wanted| {
            let problem = levels_of(request, wanted)?;
            let composer = Composer::new(&problem).map_err(|error| wanted.stopped(error))?;
            leaders(&composer, request, wanted).map(Built::without_search)
        },
    )
};

pub(super) const CHUNKED: CatalogueRow = CatalogueRow {
    is_online: true,
    is_for_one_port: true,
    ..CatalogueRow::plain(
        "16 neighbours at a time find the best tree among them, node by node, level by level; built online",
        // Where others know all sizes, they do better.
        |_, _| false,
        |request, wanted| {
            blocks(request.problem, wanted)?;
            let found = chunked_tree(&one_ported(request.problem), CHUNK).map_err(|error| match error {
                DpError::NotHierarchical => wanted.effort.refused(
                    "chunked trees are for linear costs that all pairs share, or a machine with levels",
                ),
                error => wanted.stopped(error),
            })?;
            Ok(Built::without_search(found.tree))
        },
    )
};

/// Most neighbours among which one tree is searched for.
pub(super) const CHUNK: usize = 16;

pub(super) const RELAYS: CatalogueRow = CatalogueRow {
    plans: 2,
    // It tries some ten trees.
    is_long: true,
    ..CatalogueRow::plain(
        "ranks near the root collect for it from the other groups of a machine with levels, where that pays",
        |request, order| order == Order::Any && has_levels(request),
        relays,
    )
};

/// About what a rank of a tree takes while trees are composed and judged.
const BYTES_A_RANK: u64 = 500;
const SECONDS_A_RANK: f64 = 3e-6;

/// True for blocks on a machine of several levels.
pub(super) fn has_levels(request: &Request<'_>) -> bool {
    let problem = request.problem;
    problem.costs().hierarchy().is_some() && problem.blocks().is_some() && !shares_one_law(problem)
}

/// The problem on one port, if it is one of blocks on a machine of several levels.
pub(super) fn levels_of(request: &Request<'_>, wanted: Wanted) -> Result<Problem, NoTree> {
    let name = wanted.construction.name();
    blocks(request.problem, wanted)?;
    if request.problem.costs().hierarchy().is_none() {
        let reason = format!("{name} trees need a machine of several levels (hierarchical)");
        return Err(wanted.effort.refused(reason));
    }
    match has_levels(request) {
        true => Ok(one_ported(request.problem)),
        false => Err(wanted.effort.refused(
            "all these processes pay the same for each other, so that there are no levels",
        )),
    }
}

/// The best of the trees with relays, of leaders, and with large blocks straight to the root.
fn relays(request: &Request<'_>, wanted: Wanted) -> Result<Built, NoTree> {
    let problem = levels_of(request, wanted)?;
    let composer = Composer::new(&problem).map_err(|error| wanted.stopped(error))?;
    let plans = composer.relay_plans();
    if plans.is_empty() {
        return Err(wanted.effort.refused("relays need a machine of several levels"));
    }
    let expense = Expense {
        what: "trying relays at each level".into(),
        bytes: problem.ranks() as u64 * BYTES_A_RANK,
        seconds: (plans.len() * problem.ranks()) as f64 * SECONDS_A_RANK,
        limit_seconds: LIMIT_SECONDS,
    };
    expense.check(wanted.effort, request.watch, |_| String::new())?;
    let leaders = leaders(&composer, request, wanted)?;
    let root = problem.root().given().unwrap_or(leaders.root());
    let relays = plans.iter().map(|plan| composer.relays(root, plan));
    let mut trees = vec![leaders];
    let levels = problem.costs().hierarchy().map_or(0, |machine| machine.levels().len());
    for to in [Straight::ToRoot].into_iter().chain((0..levels).map(Straight::ToMates)) {
        trees.extend(straight(&problem, root, to).map_err(|error| wanted.stopped(error))?);
    }
    let trees = trees.into_iter().map(Ok).chain(relays);
    soonest(trees, request, wanted).map(Built::without_search)
}

/// The best tree of leaders.
fn leaders(composer: &Composer<'_>, request: &Request<'_>, wanted: Wanted) -> Result<Tree, NoTree> {
    let trees = composer.leader_plans().into_iter().map(|nesting| composer.leaders(nesting));
    soonest(trees, request, wanted)
}

/// The first tree that the judge has first.
pub(super) fn soonest(
    trees: impl Iterator<Item = Result<Tree, DpError>>,
    request: &Request<'_>,
    wanted: Wanted,
) -> Result<Tree, NoTree> {
    let mut best: Option<(Time, Tree)> = None;
    for tree in trees {
        let tree = tree.map_err(|error| wanted.stopped(error))?;
        let time =
            judged_time(&tree, request.problem).map_err(|error| wanted.effort.unlinked(error))?;
        if best.as_ref().is_none_or(|(least, _)| time < *least) {
            best = Some((time, tree));
        }
    }
    best.map(|(_, tree)| tree).ok_or_else(|| wanted.effort.refused("there is nothing to compose"))
}
