//! The best consecutive trees, which are the best of all ordered ones, and the best copy-first trees.
//!
//! Consecutive trees are searched for at costs that all pairs share. At others, the best trees of smaller
//! classes are known: `adjacent`, and where latency overlaps `copy-first`.

use super::CatalogueRow;
use super::optimal::{by_levels, one_ported, per_pair, searched};
use super::overlapping::{blocks, shares_one_law};
use crate::error::NoTree;
use crate::expense::{
    Expense, LIMIT_OF_CONSECUTIVE_SECONDS, LIMITS_WHERE_LATENCY_OVERLAPS_SECONDS, Watched,
    most_cells, seconds_of_cells,
};
use crate::request::{Built, Request, Search, Searched, Wanted, WiderMethod};
use tuwtree_dp::wider::{
    self, BoundedTree, Class, Engine, LawBySize, Outlay, Overlapping, memory_needed,
    memory_needed_by_size, optimal_by_size, optimal_on_links, optimal_within, outlay,
    outlay_on_links,
};
use tuwtree_dp::{DpError, PairTrees, default_pair_method, levels, optimal_broadcast};
use tuwtree_model::{BlockSizes, ClosedSet, Homogeneous, Problem, Root};

pub(super) const OPTIMAL: CatalogueRow = CatalogueRow {
    plans: 2,
    is_best_of_class: true,
    is_for_one_port: true,
    search: |request| method(request.problem, Class::Consecutive),
    ..CatalogueRow::plain(
        "best of all trees in rank order: whatever a rank has received is one range (consecutive)",
        |request, _| match &request.searched {
            Searched::Homogeneous(..) => true,
            Searched::PerPair(_) => false,
            Searched::NotLinear(problem) | Searched::Overlapping(problem) => {
                shares_one_law(problem)
            }
        },
        |request, wanted| match &request.searched {
            // Known without search.
            Searched::Homogeneous(_, problem) if problem.blocks().is_none() => {
                searched(request, wanted)
            }
            Searched::Overlapping(problem)
                if problem.vector().is_some() && shares_one_law(problem) =>
            {
                let found = optimal_broadcast(&one_ported(problem));
                let found = found.map_err(|error| wanted.stopped(error))?;
                Ok(Built::without_search(found.tree))
            }
            _ => build(request, Class::Consecutive, wanted),
        },
    )
};

pub(super) const COPY_FIRST: CatalogueRow = CatalogueRow {
    plans: 2,
    is_best_of_class: true,
    is_for_one_port: true,
    search: |request| match request.problem {
        problem if shares_one_law(problem) => method(problem, Class::CopyFirst),
        // Groups of adjacent ranks.
        problem if levels::memory_needed(problem).is_ok() => Some(Search::Levels),
        problem => of_pairs(problem),
    },
    ..CatalogueRow::plain(
        "best tree of all in which ranks copy first, and what they then hold is one range",
        |request, _| match &request.searched {
            Searched::Overlapping(problem) => {
                !shares_one_law(problem) && problem.blocks().is_some()
            }
            Searched::Homogeneous(..) | Searched::PerPair(_) | Searched::NotLinear(_) => false,
        },
        |request, wanted| {
            let problem = &one_ported(request.problem);
            blocks(problem, wanted)?;
            match wanted.search {
                _ if shares_one_law(problem) => build(request, Class::CopyFirst, wanted),
                Some(Search::PerPair(method)) if problem.costs().overlaps() => {
                    let trees = PairTrees::AnyDegree(method);
                    let found = per_pair(request, problem, trees, wanted)?;
                    Ok(Built { search: wanted.search, ..Built::without_search(found.tree) })
                }
                Some(Search::PerPair(_)) => Err(wanted.effort.refused(
                    "where nothing overlaps, copy-first trees are searched for at costs that all pairs \
                     share, or those of a machine's levels; adjacent ones at others, too",
                )),
                _ => by_levels(request, problem, levels::Class::CopyFirst, wanted),
            }
        },
    )
};

/// Search for the best tree at costs of each pair with overlapping latency: among trees in which ranks copy first.
pub(super) fn of_pairs(problem: &Problem) -> Option<Search> {
    Some(Search::PerPair(default_pair_method(problem)))
}

/// Search for an optimal tree of a class, if there is one: at costs that are not linear split by split, if that takes
/// no longer than a moment.
fn method(problem: &Problem, class: Class) -> Option<Search> {
    let sizes = problem.blocks().filter(|_| shares_one_law(problem))?;
    let is_dense = match linear(problem) {
        Some(costs) => costs.gamma() <= costs.beta(),
        None => {
            let law = LawBySize::shared(problem, sizes);
            let plain = of_law(&law, class, problem.root());
            plain.is_ok_and(|(_, seconds)| seconds > MOMENT_SECONDS)
        }
    };
    Some(Search::Wider(if is_dense { WiderMethod::Dense } else { WiderMethod::Plain }))
}

/// Duration that users do not notice.
const MOMENT_SECONDS: f64 = 0.2;

/// The linear costs that all pairs share.
fn linear(problem: &Problem) -> Option<Homogeneous> {
    problem.costs().homogeneous(problem.ranks())
}

/// The best tree of a class, for costs that all pairs share.
fn build(request: &Request<'_>, class: Class, wanted: Wanted) -> Result<Built, NoTree> {
    let problem = &one_ported(request.problem);
    let sizes = blocks(problem, wanted)?;
    let name = wanted.construction.name();
    if !shares_one_law(problem) {
        let instead = match problem.costs().overlaps() {
            true => "; copy-first trees at others, too",
            false => "; adjacent trees at others, too",
        };
        return Err(wanted.effort.refused(format!(
            "{name} trees are searched for at costs that all pairs share{instead}"
        )));
    }
    let method = match wanted.search {
        Some(Search::Wider(method)) => method,
        search => {
            return Err(wanted.effort.refused(format!(
                "the {} method finds adjacent trees; {name} ones are found by plain and dense",
                search.map_or("chosen", Search::name)
            )));
        }
    };
    let found = match (method, linear(problem)) {
        (WiderMethod::Dense, None) => by_links(request, problem, class, wanted),
        (WiderMethod::Plain, None) => by_law(request, problem, (class, sizes), wanted),
        (method, Some(costs)) => {
            linear_costs(request, problem, (class, sizes, costs, method), wanted)
        }
    }?;
    let BoundedTree { tree, time, at_least } = found;
    let at_least = (at_least < time * (1.0 - 1e-12)).then_some(at_least);
    Ok(Built { search: wanted.search, at_least, ..Built::without_search(tree) })
}

/// With windows for each piece of the law.
fn by_links(
    request: &Request<'_>,
    problem: &Problem,
    class: Class,
    wanted: Wanted,
) -> Result<BoundedTree, NoTree> {
    let most_cells = most_cells(wanted.effort);
    let outlay = outlay_on_links(problem, class, most_cells).map_err(NoTree::failed)?;
    check(request, wanted, (outlay.bytes, seconds_of_cells(outlay.cells)))?;
    let progress = Watched(request.watch.begin(wanted.construction.name()));
    let found = optimal_on_links(problem, class, most_cells, &progress);
    found.map_err(|error| wanted.stopped(error))
}

/// Split by split, whatever the law.
fn by_law(
    request: &Request<'_>,
    problem: &Problem,
    (class, sizes): (Class, &BlockSizes),
    wanted: Wanted,
) -> Result<BoundedTree, NoTree> {
    let (law, root) = (LawBySize::shared(problem, sizes), problem.root());
    check(request, wanted, of_law(&law, class, root).map_err(NoTree::failed)?)?;
    let progress = Watched(request.watch.begin(wanted.construction.name()));
    optimal_by_size(&law, class, root, &progress).map_err(|error| wanted.stopped(error))
}

/// The bytes and seconds that this takes.
pub(super) fn of_law(law: &LawBySize<'_>, class: Class, root: Root) -> Result<(u64, f64), DpError> {
    let bytes = memory_needed_by_size(law, class, root)?;
    let p = law.sizes.ranks() as u64;
    let tables = bytes / (4 * p * (p + 1)).max(1);
    let splits = p.saturating_pow(3) / 6 * tables;
    Ok((bytes, splits as f64 * 5e-9))
}

/// By either engine.
fn linear_costs(
    request: &Request<'_>,
    problem: &Problem,
    (class, sizes, costs, method): (Class, &BlockSizes, Homogeneous, WiderMethod),
    wanted: Wanted,
) -> Result<BoundedTree, NoTree> {
    let (costs, root) = (Overlapping::from(costs), problem.root());
    let progress = || Watched(request.watch.begin(wanted.construction.name()));
    let engine = match method {
        WiderMethod::Plain => Engine::Plain,
        WiderMethod::Dense => Engine::EXACT,
    };
    let Outlay { is_plain, cells, bytes, .. } = match (class, method) {
        (Class::Consecutive, WiderMethod::Dense) => {
            outlay(sizes, &costs, root, most_cells(wanted.effort)).map_err(NoTree::failed)?
        }
        (Class::CopyFirst, _) | (_, WiderMethod::Plain) => {
            let bytes = memory_needed(sizes, &costs, root, class, engine);
            let bytes = bytes.map_err(NoTree::failed)?;
            let p = sizes.ranks() as u64;
            let cells = match method {
                WiderMethod::Dense => bytes / 4,
                WiderMethod::Plain => bytes / 4 * p / 60,
            };
            Outlay { is_plain: false, is_exact: true, cells, bytes }
        }
    };
    if is_plain {
        let (gamma, beta) = (costs.occupancy().gamma(), costs.occupancy().beta());
        return Err(wanted.stopped(DpError::GammaExceedsBeta { gamma, beta }));
    }
    check(request, wanted, (bytes, seconds_of_cells(cells)))?;
    let found = match (class, method) {
        (Class::Consecutive, WiderMethod::Dense) => {
            optimal_within(sizes, &costs, root, most_cells(wanted.effort), &progress())
        }
        _ => wider::optimal(sizes, &costs, root, class, engine, &progress()),
    };
    found.map_err(|error| wanted.stopped(error))
}

/// Fails if this takes too many bytes, or seconds.
fn check(
    request: &Request<'_>,
    wanted: Wanted,
    (bytes, seconds): (u64, f64),
) -> Result<(), NoTree> {
    let search = wanted.search.map_or("chosen", Search::name);
    let [plain, dense] = LIMITS_WHERE_LATENCY_OVERLAPS_SECONDS;
    let expense = Expense {
        what: format!("the {search} method for {} trees", wanted.construction.name()),
        bytes,
        seconds,
        limit_seconds: match (request.problem.costs().overlaps(), wanted.search) {
            (false, _) => LIMIT_OF_CONSECUTIVE_SECONDS,
            (true, Some(Search::Wider(WiderMethod::Dense))) => dense,
            (true, _) => plain,
        },
    };
    expense.check(wanted.effort, request.watch, |_| "; deadline trees need no tables".to_owned())
}
