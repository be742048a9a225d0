//! Trees in which each process finds its own place, once all know all sizes.

use super::CatalogueRow;
use super::composed::CHUNK;
use super::optimal::one_ported;
use super::overlapping::blocks;
use crate::request::{Built, Request, Wanted};
use tuwtree_dp::DpError;
use tuwtree_dp::composed::chunked_tree;
use tuwtree_dp::wider::{Effort, OwnPlace, TickLaw, deadline_place, deadline_tree_in_ticks};
use tuwtree_model::{
    BlockSizes, LinkLaw, Piece, PiecewiseLinear, Problem, Rank, Tree, online_problem,
};

pub(super) const DEADLINE_ONLINE: CatalogueRow = CatalogueRow {
    is_online: true,
    is_for_one_port: true,
    ..CatalogueRow::plain(
        "as deadline, with less effort: each rank finds its own place, once all know all sizes; on levels as chunked",
        // Where one knows all sizes, the tree of all is as good or better.
        |_, _| false,
        |request: &Request<'_>, wanted: Wanted| {
            let sizes = blocks(request.problem, wanted)?;
            let problem = one_ported(request.problem);
            let tree = match shared_law(&problem, sizes) {
                Some(law) => {
                    law.and_then(|law| deadline_tree_in_ticks(sizes, &law, problem.root(), EFFORT))
                }
                None => chunked_tree(&problem, CHUNK).map(|found| found.tree),
            };
            tree.map(Built::without_search).map_err(|error| match error {
                DpError::NotHierarchical => wanted.effort.refused(
                    "such trees are for linear costs that all pairs share, or a machine with levels",
                ),
                error => wanted.stopped(error),
            })
        },
    )
};

/// Enough for some per cent, and each process does it in each call with other sizes.
const EFFORT: Effort = Effort::Light;

/// Knowledge of one process of the `deadline-online` tree.
#[derive(Clone, Debug, PartialEq)]
pub enum OnlinePart {
    /// Its own place.
    Place(OwnPlace),
    /// All of it, on a machine with levels.
    Tree(Tree),
}

/// Part of one process in the `deadline-online` tree for a gather or scatter: all processes find one tree, without a
/// message.
///
/// # Errors
/// [`DpError::NeedsBlocks`]; [`DpError::NotHierarchical`] where each pair has costs of its own; costs that are too
/// large.
///
/// # Complexity
/// As [`deadline_place`]; on levels O(16^2 p).
pub fn found_online(problem: &Problem, rank: Rank) -> Result<OnlinePart, DpError> {
    let operation = problem.operation();
    let sizes = problem.blocks().ok_or(DpError::NeedsBlocks { operation })?;
    match shared_law(problem, sizes) {
        Some(law) => {
            let law = law?;
            deadline_place(sizes, &law, problem.root(), rank, EFFORT).map(OnlinePart::Place)
        }
        None => chunked_tree(problem, CHUNK).map(|found| OnlinePart::Tree(found.tree)),
    }
}

/// The law in ticks that all pairs share, if they do.
fn shared_law(problem: &Problem, sizes: &BlockSizes) -> Option<Result<TickLaw, DpError>> {
    let problem = match online_problem(problem) {
        Ok(problem) => problem,
        Err(_) => return Some(Err(DpError::TooLarge { total: sizes.total() })),
    };
    let (ranks, costs) = (problem.ranks(), problem.costs());
    if let Some(costs) = costs.homogeneous(ranks) {
        let line = Piece {
            from_bytes: 0,
            alpha: costs.alpha(),
            overhead: costs.overhead(),
            beta: costs.beta(),
        };
        let links = PiecewiseLinear::new(vec![line]).expect("costs that were admitted").into();
        return Some(TickLaw::new(&links, costs.gamma(), sizes.total()));
    }
    let machine = costs.hierarchy()?;
    // Of a lone process, nothing is asked.
    let lone = || Some(&machine.levels().first()?.links).filter(|_| ranks == 1);
    let links: &LinkLaw = machine.only_law(ranks).or_else(lone)?;
    Some(TickLaw::new(links, machine.gamma(), sizes.total()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Settings;
    use tuwtree_model::{
        Construction, Costs, Hierarchy, Homogeneous, Level, Placement, Root, StatedCosts,
    };

    fn machine(members: usize) -> Costs {
        let level = |(name, members, alpha): (&str, usize, f64)| {
            let links = PiecewiseLinear::new(vec![Piece::one_port(0, alpha, 1.0)]).unwrap().into();
            Level { name: name.to_owned(), members, links }
        };
        let levels = [("node", members, 10.0), ("network", 8, 500.0)].map(level);
        Costs::Hierarchical(Hierarchy::new(levels.into(), Placement::Block, 0.1).unwrap())
    }

    #[test]
    fn what_each_process_finds_is_the_tree_of_the_catalogue() {
        let sizes = BlockSizes::new((0..12).map(|rank| rank * 7 % 5 * 40)).unwrap();
        let alike = Costs::Homogeneous(Homogeneous::new(90.0, 1.0, 0.5).unwrap());
        // Levels, a level in use of two, and none.
        for costs in [alike, machine(4), machine(12)] {
            let costs = StatedCosts::from(costs);
            let problem =
                Problem::gather(&sizes, costs).unwrap().with_root(Root::Given(5)).unwrap();
            let request = Request::new(&problem, Settings::DEFAULT, &());
            let built = request.build(Wanted::named(Construction::DeadlineOnline)).unwrap();
            let tree = built.plan.into_tree().unwrap();
            for rank in 0..12 {
                match found_online(&problem, rank).unwrap() {
                    OnlinePart::Tree(found) => assert_eq!(found, tree),
                    OnlinePart::Place(place) => {
                        assert_eq!(place.parent, tree.parent(rank));
                        let children = place.children.iter().map(|child| child.rank);
                        assert!(tree.children(rank).eq(children));
                    }
                }
            }
        }
    }
}
