//! Costs that are not homogeneous: a bound for homogeneous costs that none of these are below.
//!
//! More expensive is not faster, so that a bound for cheaper costs is a bound. Of the straight lines below
//! all occupancies, a few are tried: the highest for the smallest message that there can be, for the
//! largest, and for one between.

use super::{Subtrees, at_root};
use tuwtree_model::LineBelow;
use tuwtree_model::{BlockSizes, CostKind, Payload, Ports, Problem, Root, Time, Vector};

/// A lower bound on the completion time of every tree of a problem with one port whose latencies overlap;
/// `None` where nothing is known.
///
/// # Complexity
/// That of [`best_lower_bound`](super::best_lower_bound) for homogeneous costs, and of the costs'
/// [`least_costs`](CostKind::least_costs).
///
/// # Source
/// `docs/bounds-with-latency.md`.
pub(super) fn bound(problem: &Problem) -> Option<Time> {
    let costs = problem.costs().kind();
    let ranks = problem.ranks();
    let has_root = problem.operation().is_rooted();
    if !costs.overlaps() || !has_root || problem.ports() != Ports::ONE || ranks == 1 {
        return None;
    }
    let bound = match problem.payload() {
        Payload::Blocks(sizes) => of_blocks(sizes, problem.root(), costs),
        Payload::Vector(vector) => of_vector(*vector, costs),
        Payload::Messages(_) | Payload::Groups(_) => None,
    }?;
    // Where all costs are integers, so are all times.
    Time::new(if costs.is_integral() { bound.units().ceil() } else { bound.units() })
}

/// The bound of a gather or scatter.
fn of_blocks(sizes: &BlockSizes, root: Root, costs: &dyn CostKind) -> Option<Time> {
    let smallest = sizes.iter().filter(|&bytes| bytes > 0).min()?;
    let own = root.given().map_or(0, |root| sizes.block(root));
    let largest = sizes.total() - own;
    if largest < smallest {
        return None;
    }
    let least = costs.least_costs(sizes.ranks(), smallest..=largest);
    let copy_rates = (0..sizes.ranks()).map(|rank| costs.gamma_at(rank));
    let copy_rate = copy_rates.fold(f64::INFINITY, f64::min);
    let of_line = |line: LineBelow| {
        let homogeneous = line.costs(least.latency(), copy_rate)?;
        let bound = match root.given() {
            Some(root) => {
                at_root(root, costs.gamma_at(root), sizes, &homogeneous, Subtrees::Gathered)
            }
            None => super::bound(sizes, &homogeneous, root, Subtrees::Gathered),
        };
        bound.ok()
    };
    least.lines_below().into_iter().filter_map(of_line).max()
}

/// The bound of a broadcast or reduction: that of blocks whose data cost nothing, since a vector is as
/// large with one's own.
fn of_vector(vector: Vector, costs: &dyn CostKind) -> Option<Time> {
    let Vector { ranks, bytes } = vector;
    if bytes == 0 {
        return None;
    }
    let least = costs.least_costs(ranks, bytes..=bytes);
    let homogeneous = least.lines_below().first()?.costs(least.latency(), 0.0)?;
    let blocks = BlockSizes::new(vec![1; ranks]).ok()?;
    at_root(0, 0.0, &blocks, &homogeneous, Subtrees::Gathered).ok()
}
