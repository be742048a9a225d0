//! The papers' optimal trees, binary ones and those that join adjacent ranges: their methods and costs.
//! [`ordered`](super::ordered) has wider classes.

use super::{CatalogueRow, overlapping, shares_one_law};
use crate::error::NoTree;
use crate::expense::Watched;
use crate::request::{Built, Request, Search, Searched, Wanted};
use tuwtree_dp::levels;
use tuwtree_dp::non_ordered::ORDER_CELLS;
use tuwtree_dp::{
    Optimum, PairMethod, PairTrees, default_binary_method, default_method, memory_needed,
    memory_needed_per_pair, most_ranks_per_pair, optimal, optimal_adjacent, optimal_binary,
    optimal_binary_per_pair, optimal_broadcast, optimal_per_pair,
};
use tuwtree_model::{ClosedSet, Construction, Payload, Problem, completion_time};

pub(super) const BINARY: CatalogueRow = CatalogueRow {
    plans: 2,
    is_for_one_port: true,
    search: |request| match &request.searched {
        Searched::Homogeneous(_, problem) if problem.blocks().is_some() => {
            Some(Search::Homogeneous(default_binary_method(problem)))
        }
        Searched::Homogeneous(..) | Searched::PerPair(_) => Some(Search::BinaryPerPair),
        Searched::Overlapping(problem) | Searched::NotLinear(problem) => {
            Some(overlapping::binary_method(problem))
        }
    },
    ..CatalogueRow::plain(
        "best tree with at most two children everywhere, in rank order",
        |_, _| true,
        |request, wanted| match (&request.searched, wanted.search) {
            (
                Searched::Overlapping(problem) | Searched::NotLinear(problem),
                Some(Search::BinaryBySize),
            ) => overlapping::binary(request, &one_ported(problem), wanted),
            (Searched::NotLinear(problem), Some(Search::BinaryPerPair)) => {
                let found = per_pair(request, &one_ported(problem), PairTrees::Binary, wanted)?;
                Ok(Built { search: wanted.search, ..Built::without_search(found.tree) })
            }
            _ => searched(request, wanted),
        },
    )
};

pub(super) const ADJACENT: CatalogueRow = CatalogueRow {
    plans: 2,
    is_best_of_class: true,
    is_for_one_port: true,
    search: |request| match &request.searched {
        Searched::Homogeneous(_, problem) => {
            problem.blocks().map(|_| Search::Homogeneous(default_method(problem)))
        }
        // Groups of adjacent ranks.
        Searched::PerPair(problem) | Searched::NotLinear(problem)
            if levels::memory_needed(problem).is_ok() =>
        {
            Some(Search::Levels)
        }
        Searched::PerPair(_) => Some(Search::PerPair(PairMethod::Hinges)),
        Searched::NotLinear(problem) => super::ordered::of_pairs(problem),
        Searched::Overlapping(problem) => match problem.blocks() {
            Some(_) => Some(Search::Levels),
            None => super::ordered::of_pairs(problem),
        },
    },
    ..CatalogueRow::plain(
        "best tree of all that join adjacent ranges, which hold their roots",
        |request, _| match &request.searched {
            Searched::Homogeneous(_, problem) => problem.blocks().is_some(),
            Searched::PerPair(_) | Searched::NotLinear(_) => true,
            // Vectors are not copied, so that the classes are one.
            Searched::Overlapping(problem) => {
                problem.vector().is_some() && !shares_one_law(problem)
            }
        },
        |request, wanted| match (&request.searched, wanted.search) {
            (Searched::NotLinear(problem), Some(Search::PerPair(method))) => {
                by_pairs(request, problem, method, wanted)
            }
            (Searched::Overlapping(problem), search) if problem.vector().is_some() => {
                match search {
                    Some(Search::PerPair(method)) => by_pairs(request, problem, method, wanted),
                    _ => searched(request, wanted),
                }
            }
            (Searched::NotLinear(problem) | Searched::Overlapping(problem), _)
            | (Searched::PerPair(problem), Some(Search::Levels)) => {
                by_levels(request, &one_ported(problem), levels::Class::Adjacent, wanted)
            }
            (Searched::Homogeneous(..) | Searched::PerPair(_), _) => searched(request, wanted),
        },
    )
};

/// An optimal tree: found by a dynamic program, or known.
///
/// Its value and the tree's completion time, found independently, are compared.
pub(super) fn searched(request: &Request<'_>, wanted: Wanted) -> Result<Built, NoTree> {
    // Found for one port, whatever the tree is judged on.
    let problem = &one_ported(request.searched.problem(wanted.effort)?);
    let Optimum { tree, value } = match (&request.searched, wanted.search) {
        (Searched::Homogeneous(..), None) => {
            optimal_broadcast(problem).map_err(|error| wanted.stopped(error))?
        }
        (Searched::Homogeneous(..), Some(Search::Homogeneous(method))) => {
            match problem.payload() {
                Payload::Blocks(_) => {}
                Payload::Vector(_) | Payload::Messages(_) | Payload::Groups(_) => {
                    return Err(wanted.effort.refused(format!(
                        "the {} method is for gather and scatter; `{}` finds trees for a {}",
                        method.name(),
                        wanted.construction.name(),
                        problem.operation().name()
                    )));
                }
            }
            let needed = memory_needed(problem, method).map_err(NoTree::failed)?;
            let search = Search::Homogeneous(method);
            let expense = request.expense(needed, search);
            expense.check(wanted.effort, request.watch, |_| String::new())?;
            let progress = Watched(request.watch.begin(wanted.construction.name()));
            match wanted.construction {
                Construction::Binary => optimal_binary(problem, method, &progress),
                _ => optimal_adjacent(problem, method, &progress),
            }
            .map_err(|error| wanted.stopped(error))?
        }
        (_, Some(Search::PerPair(method))) => {
            per_pair(request, problem, PairTrees::AnyDegree(method), wanted)?
        }
        (_, Some(Search::BinaryPerPair)) => per_pair(request, problem, PairTrees::Binary, wanted)?,
        (Searched::Homogeneous(..), Some(Search::Wider(method))) => {
            return Err(wanted.effort.refused(format!(
                "the {} method is for gather and scatter; `{}` finds trees for a {}",
                Search::Wider(method).name(),
                wanted.construction.name(),
                problem.operation().name()
            )));
        }
        (_, Some(Search::Wider(_) | Search::BinaryBySize | Search::Levels)) => {
            let reason =
                "its method is for latency that overlaps, and for costs that are not linear";
            return Err(wanted.effort.refused(reason));
        }
        (Searched::Overlapping(_), search) => {
            return Err(wanted.effort.refused(format!(
                "the {} method is for the one-port model, and latency overlaps here",
                search.map_or("chosen", Search::name)
            )));
        }
        (Searched::PerPair(_) | Searched::NotLinear(_), search) => {
            return Err(wanted.effort.refused(format!(
                "the {} method needs the same costs for all pairs of processes",
                search.map_or("chosen", Search::name)
            )));
        }
    };
    let time = completion_time(&tree, problem).map_err(NoTree::failed)?;
    if request.searched.is_integral() && time.units() != value {
        return Err(NoTree::failed(format!(
            "the {} method found {value}, but its tree takes {time}; please report this problem",
            wanted.search.map_or("chosen", Search::name),
        )));
    }
    Ok(Built { search: wanted.search, ..Built::without_search(tree) })
}

/// An optimal tree at costs of each pair, whatever these are.
fn by_pairs(
    request: &Request<'_>,
    problem: &Problem,
    method: PairMethod,
    wanted: Wanted,
) -> Result<Built, NoTree> {
    let trees = PairTrees::AnyDegree(method);
    let found = per_pair(request, &one_ported(problem), trees, wanted)?;
    Ok(Built { search: wanted.search, ..Built::without_search(found.tree) })
}

/// An optimal tree at costs of each pair.
pub(super) fn per_pair(
    request: &Request<'_>,
    problem: &Problem,
    trees: PairTrees,
    wanted: Wanted,
) -> Result<Optimum, NoTree> {
    let (ranks, root) = (problem.ranks(), problem.root());
    let needed = memory_needed_per_pair(ranks, root, trees);
    let search = wanted.search.expect("a search per pair was chosen");
    request.expense(needed, search).check(wanted.effort, request.watch, |available| {
        let most = most_ranks_per_pair(available, root, trees);
        format!(
            "; {most} processes would fit, and linear, oblivious and adaptive trees need no tables"
        )
    })?;
    let progress = Watched(request.watch.begin(wanted.construction.name()));
    match trees {
        PairTrees::AnyDegree(method) => optimal_per_pair(problem, method, &progress),
        PairTrees::Binary => optimal_binary_per_pair(problem, &progress),
    }
    .map_err(|error| wanted.stopped(error))
}

/// The best tree of a class on a machine of levels.
pub(super) fn by_levels(
    request: &Request<'_>,
    problem: &Problem,
    class: levels::Class,
    wanted: Wanted,
) -> Result<Built, NoTree> {
    if wanted.search.is_some_and(|search| search != Search::Levels) {
        return Err(wanted.effort.refused(format!(
            "the {} method is for linear costs; where they are not, and on levels whose latency \
             overlaps, the levels method is",
            wanted.search.map_or("chosen", Search::name)
        )));
    }
    let needed = levels::memory_needed(problem).map_err(|error| wanted.stopped(error))?;
    let expense = request.expense(needed, Search::Levels);
    expense.check(wanted.effort, request.watch, |_| String::new())?;
    let progress = Watched(request.watch.begin(wanted.construction.name()));
    let found =
        levels::optimal(problem, class, &progress).map_err(|error| wanted.stopped(error))?;
    Ok(Built { search: Some(Search::Levels), ..Built::without_search(found.tree) })
}

/// The problem on one port.
pub(super) fn one_ported(problem: &Problem) -> Problem {
    problem.with_ports(tuwtree_model::Ports::ONE)
}

/// An optimal tree for homogeneous costs: the best ordered one that little work finds.
pub(super) fn fastest(problem: &Problem) -> Result<tuwtree_model::Tree, NoTree> {
    match problem.payload() {
        Payload::Blocks(_) => optimal(problem, ORDER_CELLS, &()),
        Payload::Vector(_) | Payload::Messages(_) | Payload::Groups(_) => {
            optimal_broadcast(problem)
        }
    }
    .map(|optimum| optimum.tree)
    .map_err(NoTree::failed)
}
