//! Figures 8 and 9 of OPT: gathers that take a given time if and only if numbers can be parted in two equal sums.
//!
//! Of numbers `m_i` with sum `m`, the instance has blocks `m_i + alpha`, `m/2` and `m/2 + 1`, the last one at the root,
//! `alpha = 1/p`, `beta = gamma = 1`. All is multiplied by `p` here, so that times are whole numbers.
//!
//! # Source
//! OPT: J. L. Träff, *On Optimal Trees for Irregular Gather and Scatter Collectives*, 2018, the proof of hardness.

use super::drawings::Drawn;
use super::statements::{Statement, Verdict, at_most};
use crate::error::CliError;
use tuwtree_model::{
    BlockSizes, Construction, Homogeneous, Problem, Rank, Root, Step, Tree, completion_time,
};
use tuwtree_plan::{NoTree, Request, Settings, Wanted};

/// Two sums of 5: of the numbers 0 and 3, and of the others.
const PARTED: [u64; 6] = [3, 1, 1, 2, 2, 1];

/// No two equal sums, and no number of more than half of the sum: for 1 1 4 a tree takes the limit.
const NOT_PARTED: [u64; 3] = [2, 2, 2];

/// Statements of OPT on its instances.
///
/// # Errors
/// None but of broken invariants.
pub(crate) fn of_partition() -> Result<Vec<Statement>, CliError> {
    let problem = instance(&PARTED);
    let limit = limit(&PARTED);
    let [solved, extreme] = [figure_8(), figure_9(&problem)?];
    let above = |place, what: &str, limit: f64, taken: f64| {
        // A bound from below.
        let verdict = if taken >= limit { Verdict::Equal } else { Verdict::Wrong };
        Statement { verdict, ..at_most((place, what.to_owned()), limit, taken) }
    };
    let exactly = |what: &str, taken: f64| {
        let verdict = if taken == limit { Verdict::Equal } else { Verdict::Different };
        Statement { verdict, ..at_most(("figure 8", what.to_owned()), limit, taken) }
    };
    Ok(vec![
        exactly("the tree for 3 1 1 2 2 1, parted as 3 2 and 1 1 2 1", time(&solved, &problem)?),
        exactly("the best of all trees for them", time(&best(&problem)?, &problem)?),
        above(
            "figure 9",
            "the tree in which the root receives from p first, at least",
            limit + 1.0,
            time(&extreme, &problem)?,
        ),
        above(
            "figure 8",
            "the best of all trees for 2 2 2, which cannot be parted, at least",
            self::limit(&NOT_PARTED) + 1.0,
            time(&best(&instance(&NOT_PARTED))?, &instance(&NOT_PARTED))?,
        ),
    ])
}

/// The trees of the figures, by number.
///
/// # Errors
/// None but of broken invariants.
pub(crate) fn drawn() -> Result<Vec<(u32, Drawn)>, CliError> {
    let problem = Box::new(instance(&PARTED));
    let extreme = figure_9(&problem)?;
    Ok(vec![(8, Drawn::Tree(figure_8(), problem.clone())), (9, Drawn::Tree(extreme, problem))])
}

/// `p (2 m + 2 + 2 alpha)`.
fn limit(numbers: &[u64]) -> f64 {
    (numbers.len() as u64 * (2 * numbers.iter().sum::<u64>() + 2) + 2) as f64
}

/// The gather to the last rank.
fn instance(numbers: &[u64]) -> Problem {
    let p = numbers.len() as u64;
    let half = numbers.iter().sum::<u64>() / 2;
    let small = numbers.iter().map(|number| p * number + 1);
    let sizes = BlockSizes::new(small.chain([p * half, p * (half + 1)])).expect("small sizes");
    let costs = Homogeneous::new(1.0, 1.0, 1.0).expect("costs of 1");
    let problem = Problem::gather(&sizes, costs).expect("costs for all");
    problem.with_root(Root::Given(numbers.len() + 1)).expect("the last rank")
}

fn time(tree: &Tree, problem: &Problem) -> Result<f64, CliError> {
    Ok(completion_time(tree, problem)?.units())
}

/// The best of all trees.
fn best(problem: &Problem) -> Result<Tree, CliError> {
    let request = Request::new(problem, Settings::DEFAULT, &());
    let built = request.build(Wanted::named(Construction::Exact)).map_err(|error| match error {
        NoTree::Skipped(reason) => CliError::Failure(reason),
        NoTree::Failed(error) => error.into(),
    })?;
    Ok(built.plan.into_tree()?)
}

/// A tree of these receives; who receives copies its own block first.
fn of_receives(ranks: usize, root: Rank, receives: &[(Rank, Rank)]) -> Tree {
    let receivers = (0..ranks).filter(|rank| receives.iter().any(|(to, _)| to == rank));
    let copies = receivers.map(|rank| (rank, Step::Copy));
    let receives = receives.iter().map(|&(to, from)| (to, Step::Receive(from)));
    let steps: Vec<(Rank, Step)> = copies.chain(receives).collect();
    Tree::new(ranks, root, &steps).expect("a tree")
}

/// The root receives one half from a rank of it, then the other from rank `p`, which has it in two parts.
fn figure_8() -> Tree {
    of_receives(8, 7, &[(0, 3), (1, 2), (4, 5), (6, 1), (6, 4), (7, 0), (7, 6)])
}

/// The root receives the block of rank `p`, then all numbers along the best tree for them.
fn figure_9(problem: &Problem) -> Result<Tree, CliError> {
    let p = PARTED.len();
    let sizes = problem.blocks().expect("a gather");
    let small = BlockSizes::new((0..p).map(|rank| sizes.block(rank))).expect("small sizes");
    let costs = problem.stated_costs().clone();
    let below = best(&Problem::gather(&small, costs).expect("costs for all"))?;
    let inner = (0..p).flat_map(|rank| below.steps(rank).map(move |step| (rank, step)));
    let outer =
        [(p + 1, Step::Copy), (p + 1, Step::Receive(p)), (p + 1, Step::Receive(below.root()))];
    let steps: Vec<(Rank, Step)> = inner.chain(outer).collect();
    Ok(Tree::new(p + 2, p + 1, &steps).expect("a tree"))
}
