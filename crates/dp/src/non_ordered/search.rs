//! Local search over the orders of the ranks.

use super::NonOrderedError;
use super::orders::Orders;
use crate::blocks::Blocks;
use crate::{DpError, Optimum, Progress};
use std::cmp::Reverse;
use tuwtree_bounds::best_lower_bound;
use tuwtree_model::{Problem, Randomness, Rank, Root, Tree, completion_time};

/// Extent of a [`search`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Search {
    /// Most orders tried beside the initial ones.
    pub steps: usize,
    /// Seed of the random orders: any number.
    pub seed: u64,
}

/// A tree that is optimal among the ordered ones for an order of the ranks that was improved
/// step by step, through one port, at any costs. It begins with the root and then the largest block down to the
/// smallest, and takes as many steps as `goes_on` allows, which is asked before each.
///
/// Each step moves one rank to another place, and is kept unless the optimal tree takes longer.
/// With the root first, each tree in which everybody copies first is ordered for some order of the
/// others, so that with steps enough the best tree is within reach. The search ends when a lower
/// bound is met.
///
/// An open root is one with a largest block, which is best for gamma <= beta. For gamma > beta every
/// order's best root is taken, empty blocks take part, and the search begins with the better one of all
/// ranks by size and by rank: then it is never slower than the best adjacent tree. The same where
/// costs are not linear or differ from pair to pair, also for a given root, which may leave the first place.
///
/// # Errors
/// [`NonOrderedError`], but not for too much work; [`DpError::NoOrderedTree`] if neither order that it may
/// begin with has the links.
///
/// # Complexity
/// For each step some [`STEP_CELLS`] table cells, or beyond them that of [`optimal_adjacent`](crate::optimal_adjacent).
/// Where costs differ from pair to pair, that of [`optimal_per_pair`](crate::optimal_per_pair).
///
/// # Example
/// ```
/// use tuwtree_dp::non_ordered::{Search, search};
/// use tuwtree_model::{BlockSizes, Homogeneous, Problem, Root, completion_time};
/// let sizes = BlockSizes::new([9, 1, 1, 0]).unwrap();
/// let problem = Problem::gather(&sizes, Homogeneous::new(1.0, 1.0, 1.0).unwrap()).unwrap();
/// let problem = problem.with_root(Root::Given(3)).unwrap();
/// let tree = search(&problem, Search { steps: 100, seed: 1 }, &(), &mut || true).unwrap();
/// assert_eq!(completion_time(&tree, &problem).unwrap().units(), 13.0);
/// ```
pub fn search(
    problem: &Problem,
    search: Search,
    progress: &dyn Progress,
    goes_on: &mut dyn FnMut() -> bool,
) -> Result<Tree, NonOrderedError> {
    let orders = with_known_root(Orders::of(problem)?);
    let judged = orders.judged();
    let bound = best_lower_bound(&judged)?;
    let Start { mut order, fixed, mut best } = Start::new(&orders, progress)?;
    let movable = order.len() - fixed;
    if movable < 2 {
        return Ok(best.tree);
    }
    let numbers = Randomness::Xoshiro { seed: search.seed }.numbers(2 * search.steps);
    for pair in numbers.chunks_exact(2) {
        if !goes_on() || completion_time(&best.tree, &judged)? <= bound {
            break;
        }
        let [from, to] = [pair[0], pair[1]].map(|number| fixed + number as usize % movable);
        let mut moved = order.clone();
        let rank = moved.remove(from);
        moved.insert(to, rank);
        match orders.arranged(&moved, orders.root(), STEP_CELLS, progress) {
            Ok(next) if next.value <= best.value => (best, order) = (next, moved),
            Ok(_) | Err(DpError::NoOrderedTree { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(best.tree)
}

/// The table cells that are filled for a step at most.
pub const STEP_CELLS: u64 = 400_000;

/// Fixes a best root, if one is known: not for gamma > beta, nor for costs that are not linear or differ.
fn with_known_root(orders: Orders<'_>) -> Orders<'_> {
    match orders {
        Orders::Shared(blocks) if blocks.costs.gamma() <= blocks.costs.beta() => {
            Orders::Shared(Blocks { root: Root::Given(blocks.likely_root()), ..blocks })
        }
        Orders::Shared(_) | Orders::Any(_) => orders,
    }
}

/// Start of a search.
struct Start {
    order: Vec<Rank>,
    /// Number of ranks at the beginning of the order that keep their places: a given root.
    fixed: usize,
    best: Optimum,
}

impl Start {
    fn new(orders: &Orders<'_>, progress: &dyn Progress) -> Result<Start, DpError> {
        let arranged =
            |places: &[Rank]| orders.arranged(places, orders.root(), STEP_CELLS, progress);
        let mut by_size = orders.others();
        by_size.insert(0, orders.likely_root());
        if let (Orders::Shared(_), Root::Given(_)) = (orders, orders.root()) {
            let best = arranged(&by_size)?;
            return Ok(Start { order: by_size, fixed: 1, best });
        }
        let ranks: Vec<Rank> = (0..orders.sizes().ranks()).collect();
        if let Orders::Shared(_) = orders {
            by_size = ranks.clone();
            by_size.sort_by_key(|&rank| Reverse(orders.sizes().block(rank)));
        }
        let (order, best) = match (arranged(&by_size), arranged(&ranks)) {
            (Ok(of_sizes), Ok(of_ranks)) if of_ranks.value < of_sizes.value => (ranks, of_ranks),
            (Ok(of_sizes), Ok(_) | Err(DpError::NoOrderedTree { .. })) => (by_size, of_sizes),
            (Err(DpError::NoOrderedTree { .. }), Ok(of_ranks)) => (ranks, of_ranks),
            (Err(DpError::NoOrderedTree { .. }), Err(error))
            | (Err(error), _)
            | (_, Err(error)) => {
                return Err(error);
            }
        };
        Ok(Start { order, fixed: 0, best })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::non_ordered::exact;
    use crate::{Method, optimal_adjacent};
    use tuwtree_model::{BlockSizes, Homogeneous};

    fn problem(sizes: &[u64], [alpha, beta, gamma]: [f64; 3]) -> Problem {
        let costs = Homogeneous::new(alpha, beta, gamma).unwrap();
        Problem::gather(&BlockSizes::new(sizes.iter().copied()).unwrap(), costs).unwrap()
    }

    fn time(problem: &Problem, steps: usize) -> f64 {
        let tree = search(problem, Search { steps, seed: 1 }, &(), &mut || true).unwrap();
        completion_time(&tree, problem).unwrap().units()
    }

    #[test]
    fn an_open_root_need_not_have_a_largest_block_where_copying_is_dearer_than_sending() {
        let problem = problem(&[5, 1000, 0, 1000, 0, 1000, 0], [1.0, 1.0, 51.0]);
        let ordered = optimal_adjacent(&problem, Method::Plain, &()).unwrap();
        assert_eq!(ordered.value, 3008.0);
        for steps in [0, 100] {
            assert!(time(&problem, steps) <= 3008.0);
        }
    }

    #[test]
    fn an_open_root_is_never_worse_than_that_of_the_optimal_ordered_tree() {
        let mut random = Randomness::Xoshiro { seed: 7 }.numbers(7 * 200).into_iter();
        for _ in 0..200 {
            let blocks: [u64; 6] = std::array::from_fn(|_| {
                let number = random.next().unwrap();
                [0, 1, 5, number % 30][(number >> 32) as usize % 4]
            });
            let gamma = random.next().unwrap() % 60;
            let problem = problem(&blocks, [3.0, 1.0, gamma as f64]);
            let ordered = optimal_adjacent(&problem, Method::Plain, &()).unwrap().value;
            let best = completion_time(&exact(&problem).unwrap(), &problem).unwrap().units();
            let found = time(&problem, 20);
            assert!(best <= found && found <= ordered, "{best} {found} {ordered}: {problem:?}");
        }
    }

    #[test]
    fn a_search_that_may_not_go_on_returns_what_it_begins_with() {
        let problem = problem(&[9, 1, 1, 0, 7], [1.0, 1.0, 1.0]);
        let all = Search { steps: 100, seed: 1 };
        let stopped = search(&problem, all, &(), &mut || false).unwrap();
        let none = search(&problem, Search { steps: 0, ..all }, &(), &mut || true).unwrap();
        assert_eq!(stopped, none);
    }
}
