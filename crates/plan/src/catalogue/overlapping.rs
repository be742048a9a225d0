//! Trees for costs with latency that overlaps: the best copy-first tree, the best binary one, and a
//! near-optimal one for any number of processes.

use super::CatalogueRow;
use super::optimal::{by_levels, per_pair};
use crate::error::NoTree;
use crate::expense::Watched;
use crate::request::{Built, CopyFirstMethod, Request, Search, Searched, Wanted};
use tuwtree_dp::wider::{
    self, BySize, Class, Effort, Engine, Overlapping, binary_memory_needed, deadline_tree_by_size,
    memory_needed_by_size, optimal_binary_by_size, optimal_by_size,
};
use tuwtree_dp::{DpError, PairMethod, PairTrees, levels, optimal_broadcast};
use tuwtree_model::{
    BlockSizes, ClosedSet, CostModel, Homogeneous, LinkLaw, Problem, Root, Time, Tree,
};

pub(super) const DEADLINE: CatalogueRow = CatalogueRow::plain(
    "split from the top down by what can be ready in time; near the best where latency overlaps",
    |request, _| matches!(&request.searched, Searched::Overlapping(problem) if problem.blocks().is_some()),
    |request, wanted| {
        let Searched::Overlapping(problem) = &request.searched else {
            return Err(wanted.effort.refused(
                "nothing overlaps here; deadline trees are for an --overhead below alpha, or a machine \
                 that tells latency from occupancy",
            ));
        };
        let sizes = blocks(problem, wanted)?;
        let tree = match farthest_law(problem) {
            Law::Shared(problem) => deadline_tree_by_size(
                &by_size(problem, sizes),
                Class::CopyFirst,
                problem.root(),
                Effort::Light,
            ),
            Law::Level(links, gamma) => deadline_tree_by_size(
                &of_links(links, gamma, sizes),
                Class::CopyFirst,
                problem.root(),
                Effort::Light,
            ),
            Law::Pairs => {
                return Err(wanted.effort.refused(
                    "deadline trees need costs that all pairs share, or those of a machine's levels",
                ));
            }
        };
        tree.map(Built::without_search).map_err(|error| wanted.stopped(error))
    },
);

/// The costs by which a tree is found that knows one law only.
enum Law<'a> {
    /// All pairs share it.
    Shared(&'a Problem),
    /// That of the outermost level, and gamma.
    Level(&'a LinkLaw, f64),
    /// Each pair has its own.
    Pairs,
}

fn farthest_law(problem: &Problem) -> Law<'_> {
    match problem.costs().hierarchy() {
        _ if shares_one_law(problem) => Law::Shared(problem),
        Some(machine) => {
            let outermost = machine.levels().last().expect("a machine has levels");
            Law::Level(&outermost.links, machine.gamma())
        }
        None => Law::Pairs,
    }
}

/// Whether all pairs of ranks have the same costs, linear or not.
pub(crate) fn shares_one_law(problem: &Problem) -> bool {
    let processors = problem.processors();
    match problem.costs().hierarchy() {
        Some(machine) => processors == 1 || machine.only_law(processors).is_some(),
        None => problem.costs().homogeneous(processors).is_some(),
    }
}

/// How an optimal tree is searched for, if it is.
pub(super) fn method(problem: &Problem) -> Option<Search> {
    let linear = linear(problem);
    let is_dense = linear.is_some_and(|costs| costs.gamma() <= costs.beta());
    match problem.blocks() {
        None if shares_one_law(problem) => None,
        Some(_) if shares_one_law(problem) && is_dense => {
            Some(Search::CopyFirst(CopyFirstMethod::Dense))
        }
        Some(_) if shares_one_law(problem) => Some(Search::CopyFirst(CopyFirstMethod::Plain)),
        // Groups of adjacent ranks.
        Some(_) if levels::memory_needed(problem).is_ok() => Some(Search::Levels),
        None | Some(_) => Some(Search::PerPair(match problem.costs().check_linear() {
            Ok(()) => PairMethod::Hinges,
            Err(_) => PairMethod::Plain,
        })),
    }
}

/// How an optimal binary tree is searched for.
pub(super) fn binary_method(problem: &Problem) -> Search {
    match problem.blocks() {
        Some(_) if shares_one_law(problem) => Search::BinaryBySize,
        None | Some(_) => Search::BinaryPerPair,
    }
}

/// The best binary tree, for costs that all pairs share.
pub(super) fn binary(
    request: &Request<'_>,
    problem: &Problem,
    wanted: Wanted,
) -> Result<Built, NoTree> {
    let sizes = blocks(problem, wanted)?;
    let bytes = binary_memory_needed(problem.processors());
    let expense = request.expense(bytes, Search::BinaryBySize);
    expense.check(wanted.effort, request.watch, |_| String::new())?;
    let progress = Watched(request.watch.begin(wanted.construction.name()));
    let found = optimal_binary_by_size(&by_size(problem, sizes), problem.root(), &progress);
    let found = found.map_err(|error| wanted.stopped(error))?;
    Ok(Built { search: wanted.search, ..Built::without_search(found.tree) })
}

/// The bytes of the tables of the best copy-first tree for linear costs.
pub(super) fn memory_needed(problem: &Problem) -> Result<u64, DpError> {
    match (problem.blocks(), linear(problem)) {
        (Some(sizes), Some(costs)) => {
            let (root, engine) = (problem.root(), Engine::EXACT);
            let costs = Overlapping::from(costs);
            wider::memory_needed(sizes, &costs, root, Class::CopyFirst, engine)
        }
        (None, _) => Err(DpError::NeedsBlocks { operation: problem.operation() }),
        (_, None) => Err(DpError::NotHomogeneous),
    }
}

/// The linear costs that all pairs share.
fn linear(problem: &Problem) -> Option<Homogeneous> {
    problem.costs().homogeneous(problem.processors())
}

/// The best copy-first tree.
pub(super) fn optimal(
    request: &Request<'_>,
    problem: &Problem,
    wanted: Wanted,
) -> Result<Built, NoTree> {
    match wanted.search {
        Some(Search::PerPair(method)) => {
            let found = per_pair(request, problem, PairTrees::AnyDegree(method), wanted)?;
            return Ok(Built { search: wanted.search, ..Built::without_search(found.tree) });
        }
        Some(_) if !shares_one_law(problem) => {
            return by_levels(request, problem, levels::Class::CopyFirst, wanted);
        }
        None if problem.vector().is_some() => {
            let found = optimal_broadcast(problem).map_err(|error| wanted.stopped(error))?;
            return Ok(Built::without_search(found.tree));
        }
        Some(_) | None => {}
    }
    let sizes = blocks(problem, wanted)?;
    let Some(Search::CopyFirst(method)) = wanted.search else {
        return Err(wanted.effort.refused(format!(
            "the {} method is for the one-port model; where latency overlaps, plain and dense are",
            wanted.search.map_or("chosen", Search::name)
        )));
    };
    let search = Search::CopyFirst(method);
    let (class, root) = (Class::CopyFirst, problem.root());
    let progress = || Watched(request.watch.begin(wanted.construction.name()));
    let check = |bytes: u64| {
        request.expense(bytes, search).check(wanted.effort, request.watch, |_| String::new())
    };
    let found = match (method, linear(problem)) {
        (CopyFirstMethod::Plain, _) => {
            let law = by_size(problem, sizes);
            check(memory_needed_by_size(&law, class, root).map_err(NoTree::failed)?)?;
            optimal_by_size(&law, class, root, &progress())
        }
        (CopyFirstMethod::Dense, Some(costs)) => {
            let (costs, engine) = (Overlapping::from(costs), Engine::EXACT);
            let bytes = wider::memory_needed(sizes, &costs, root, class, engine);
            check(bytes.map_err(NoTree::failed)?)?;
            wider::optimal(sizes, &costs, root, class, engine, &progress())
        }
        (CopyFirstMethod::Dense, None) => {
            return Err(wanted
                .effort
                .refused("the dense method is for linear costs; plain is not"));
        }
    };
    let found = found.map_err(|error| wanted.stopped(error))?;
    Ok(Built { search: wanted.search, ..Built::without_search(found.tree) })
}

/// A tree among parties that have gathered their own data at these times, by the law of these links.
pub(super) fn among(
    links: &LinkLaw,
    sizes: &BlockSizes,
    ready: &[f64],
    root: Root,
) -> Result<Tree, NoTree> {
    let law = of_links(links, 0.0, sizes);
    let found = match sizes.processors() <= MOST_PLAIN {
        true => wider::optimal_among(&law, ready, Class::CopyFirst, root, &()).map(|one| one.tree),
        false => deadline_tree_by_size(&law, Class::CopyFirst, root, Effort::Light),
    };
    found.map_err(NoTree::failed)
}

/// The tree inside a node, by the law of its links, and when it is complete.
pub(super) fn inside(
    links: &LinkLaw,
    gamma: f64,
    sizes: &BlockSizes,
    root: Root,
) -> Result<Tree, NoTree> {
    let law = of_links(links, gamma, sizes);
    let found = match sizes.processors() <= MOST_PLAIN {
        true => optimal_by_size(&law, Class::CopyFirst, root, &()).map(|one| one.tree),
        false => deadline_tree_by_size(&law, Class::CopyFirst, root, Effort::Light),
    };
    found.map_err(NoTree::failed)
}

/// The most parties of a tree within another for which the best one is searched for: some milliseconds.
const MOST_PLAIN: usize = 200;

fn blocks(problem: &Problem, wanted: Wanted) -> Result<&BlockSizes, NoTree> {
    problem.blocks().ok_or_else(|| {
        wanted.effort.refused(format!(
            "where latency overlaps, {} trees are for the blocks of a gather or scatter",
            wanted.construction.name()
        ))
    })
}

/// A law by size, of functions that are known as such only.
type LawBySize<'a> = BySize<
    'a,
    Box<dyn Fn(u64) -> f64 + 'a>,
    Box<dyn Fn(u64) -> f64 + 'a>,
    Box<dyn Fn(u64) -> f64 + 'a>,
>;

/// The law that all pairs share.
fn by_size<'a>(problem: &'a Problem, sizes: &'a BlockSizes) -> LawBySize<'a> {
    let units = |time: Result<Time, _>| time.map_or(f64::INFINITY, Time::units);
    let costs = problem.costs();
    // Of a lone process, nothing is asked.
    let other = usize::from(problem.processors() > 1);
    BySize {
        sizes,
        port: Box::new(move |bytes| units(costs.transmission_between(0, other, bytes))),
        latency: Box::new(move |bytes| units(costs.latency_between(0, other, bytes))),
        copy: Box::new(move |bytes| units(costs.copy_at(0, bytes))),
    }
}

/// The law of these links.
fn of_links<'a>(links: &'a LinkLaw, gamma: f64, sizes: &'a BlockSizes) -> LawBySize<'a> {
    BySize {
        sizes,
        port: Box::new(move |bytes| links.times(bytes).1),
        latency: Box::new(move |bytes| links.times(bytes).0),
        copy: Box::new(move |bytes| gamma * bytes as f64),
    }
}
