//! Trees split from the top down, near-optimal for any number of processes; the best binary trees where
//! latency overlaps; and trees within others, by the law of one level.

use super::CatalogueRow;
use crate::error::NoTree;
use crate::expense::Watched;
use crate::request::{Built, Request, Search, Searched, Wanted};
use tuwtree_dp::wider::{
    self, BySize, Class, Effort, LawBySize, binary_memory_needed, deadline_tree,
    deadline_tree_by_size, optimal_binary_by_size, optimal_by_size,
};
use tuwtree_model::{BlockSizes, ClosedSet, Link, LinkLaw, Problem, Root, Tree};

pub(super) const DEADLINE: CatalogueRow = CatalogueRow {
    plans: 4,
    ..CatalogueRow::plain(
        "split from the top down by what can be ready in time; near the best, for any number of ranks",
        |request, _| match &request.searched {
            Searched::Overlapping(problem) => problem.blocks().is_some(),
            Searched::Homogeneous(_, problem) => {
                problem.blocks().is_some() && problem.ranks() > MANY
            }
            Searched::PerPair(_) | Searched::NotLinear(_) => false,
        },
        |request, wanted| {
            let problem = request.problem;
            let sizes = blocks(problem, wanted)?;
            let (class, root) = (Class::Consecutive, problem.root());
            let tree = match farthest_law(problem) {
                SharedLaw::Shared(problem) => match problem.costs().homogeneous(problem.ranks()) {
                    Some(costs) => deadline_tree(sizes, &costs.into(), class, root, Effort::Full),
                    None => deadline_tree_by_size(
                        &LawBySize::shared(problem, sizes),
                        class,
                        root,
                        Effort::Light,
                    ),
                },
                SharedLaw::Level(links, gamma) => {
                    let law = of_links(links, gamma, sizes);
                    deadline_tree_by_size(&law, Class::CopyFirst, root, Effort::Light)
                }
                SharedLaw::Pairs(slowest) => {
                    let law = slowest.law(sizes);
                    deadline_tree_by_size(&law, Class::CopyFirst, root, Effort::Light)
                }
            };
            tree.map(Built::without_search).map_err(|error| wanted.stopped(error))
        },
    )
};

/// Beyond this many processes optimal trees take long, and a comparison shows deadline trees, too.
const MANY: usize = 8000;

/// Costs for constructions that know one law only.
enum SharedLaw<'a> {
    /// All pairs share it.
    Shared(&'a Problem),
    /// That of the outermost level, and gamma.
    Level(&'a LinkLaw, f64),
    /// Each pair has its own law: one that no pair exceeds.
    Pairs(SlowestLink),
}

/// Upper bounds on messages between linked pairs, and on copies.
struct SlowestLink {
    latency: f64,
    /// Overhead and beta of all links that no other link exceeds in both.
    lines: Vec<(f64, f64)>,
    gamma: f64,
}

impl SlowestLink {
    /// That of linear costs. O(p^2 log p).
    fn new(problem: &Problem) -> SlowestLink {
        let ranks = 0..problem.ranks();
        let pairs = ranks.clone().flat_map(|one| ranks.clone().map(move |other| (one, other)));
        let links = pairs.filter(|(one, other)| one != other);
        let links = links.filter_map(|(one, other)| problem.costs().link(one, other));
        let mut links: Vec<Link> = links.filter(|link| link.alpha.is_finite()).collect();
        links.sort_by(|one, other| {
            other.beta.total_cmp(&one.beta).then(other.overhead.total_cmp(&one.overhead))
        });
        let mut lines: Vec<(f64, f64)> = Vec::new();
        for link in &links {
            if lines.last().is_none_or(|&(overhead, _)| link.overhead > overhead) {
                lines.push((link.overhead, link.beta));
            }
        }
        SlowestLink {
            latency: links.iter().map(Link::latency).fold(0.0, f64::max),
            lines,
            gamma: ranks.map(|rank| problem.costs().kind().gamma_at(rank)).fold(0.0, f64::max),
        }
    }

    fn law<'a>(&'a self, sizes: &'a BlockSizes) -> LawBySize<'a> {
        let line = |(overhead, beta): &(f64, f64), bytes: u64| overhead + beta * bytes as f64;
        BySize {
            sizes,
            port: Box::new(move |bytes| {
                self.lines.iter().map(|one| line(one, bytes)).fold(0.0, f64::max)
            }),
            latency: Box::new(|_| self.latency),
            copy: Box::new(|bytes| self.gamma * bytes as f64),
        }
    }
}

fn farthest_law(problem: &Problem) -> SharedLaw<'_> {
    match problem.costs().hierarchy() {
        _ if shares_one_law(problem) => SharedLaw::Shared(problem),
        Some(machine) => {
            let outermost = machine.levels().last().expect("a machine has levels");
            SharedLaw::Level(&outermost.links, machine.gamma())
        }
        None => SharedLaw::Pairs(SlowestLink::new(problem)),
    }
}

/// True if all pairs of ranks have equal costs, linear or not.
pub(crate) fn shares_one_law(problem: &Problem) -> bool {
    let ranks = problem.ranks();
    match problem.costs().hierarchy() {
        Some(machine) => ranks == 1 || machine.only_law(ranks).is_some(),
        None => problem.costs().homogeneous(ranks).is_some(),
    }
}

/// Search for an optimal binary tree.
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
    let bytes = binary_memory_needed(problem.ranks());
    let expense = request.expense(bytes, Search::BinaryBySize);
    expense.check(wanted.effort, request.watch, |_| String::new())?;
    let progress = Watched(request.watch.begin(wanted.construction.name()));
    let found =
        optimal_binary_by_size(&LawBySize::shared(problem, sizes), problem.root(), &progress);
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
    let found = match plain_class(sizes) {
        Some(class) => wider::optimal_among(&law, ready, class, root, &()).map(|one| one.tree),
        None => deadline_tree_by_size(&law, Class::Consecutive, root, Effort::Light),
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
    let found = match plain_class(sizes) {
        Some(class) => optimal_by_size(&law, class, root, &()).map(|one| one.tree),
        None => deadline_tree_by_size(&law, Class::Consecutive, root, Effort::Light),
    };
    found.map_err(NoTree::failed)
}

/// The widest class whose best tree within another is found in some milliseconds; `None` for too many parties.
fn plain_class(sizes: &BlockSizes) -> Option<Class> {
    match sizes.ranks() {
        0..=50 => Some(Class::Consecutive),
        51..=200 => Some(Class::CopyFirst),
        _ => None,
    }
}

/// The blocks of a gather or scatter.
pub(super) fn blocks(problem: &Problem, wanted: Wanted) -> Result<&BlockSizes, NoTree> {
    problem.blocks().ok_or_else(|| {
        let name = wanted.construction.name();
        let reason = match problem.costs().overlaps() {
            true => "where latency overlaps, ",
            false => "",
        };
        wanted
            .effort
            .refused(format!("{reason}{name} trees are for the blocks of a gather or scatter"))
    })
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
