//! Optimal trees inside the nodes of a hierarchical machine, and among their leaders.

use super::optimal::{fastest, one_ported};
use super::overlapping::shares_one_law;
use super::{CatalogueRow, overlapping};
use crate::error::NoTree;
use crate::request::{Built, Request, Searched, Wanted};
use std::cell::RefCell;
use std::collections::BTreeMap;
use tuwtree_dp::{PairMethod, optimal_per_pair};
use tuwtree_model::{
    BlockSizes, Costs, Hierarchy, Homogeneous, Payload, Placement, Problem, Rank, Root,
    StatedCosts, Tree, Vector, completion_time,
};
use tuwtree_treegen::{AdaptiveRule, adaptive, two_level};

pub(super) const ROW: CatalogueRow = CatalogueRow::plain(
    "optimal trees within the nodes of a hierarchical machine and among their leaders",
    |request, _| {
        request.costs_differ() && matches!(request.problem.costs(), Costs::Hierarchical(_))
    },
    build,
);

fn build(request: &Request<'_>, wanted: Wanted) -> Result<Built, NoTree> {
    let problem = &one_ported(match &request.searched {
        Searched::NotLinear(problem) => problem,
        searched => searched.problem(wanted.effort)?,
    });
    let machine = match (&request.searched, problem.costs()) {
        (
            Searched::PerPair(_) | Searched::NotLinear(_) | Searched::Overlapping(_),
            Costs::Hierarchical(machine),
        ) if !shares_one_law(problem) => machine,
        _ => {
            let is_hierarchical = matches!(request.problem.costs(), Costs::Hierarchical(_));
            let reason = match is_hierarchical {
                true => {
                    "all these processes pay the same for each other, so that there are no levels"
                }
                false => "two-level trees need a machine of several levels (hierarchical)",
            };
            return Err(wanted.effort.refused(reason));
        }
    };
    let mut nodes: BTreeMap<usize, Vec<Rank>> = BTreeMap::new();
    for rank in 0..problem.ranks() {
        nodes.entry(machine.node(rank)).or_default().push(rank);
    }
    let (ids, nodes): (Vec<usize>, Vec<Vec<Rank>>) = nodes.into_iter().unzip();
    let machine = &match (&request.searched, problem.payload()) {
        (Searched::Overlapping(_) | Searched::NotLinear(_), Payload::Blocks(sizes)) => {
            let tree = build_by_size(problem, (machine, sizes), &nodes)?;
            return Ok(Built::without_search(tree));
        }
        // All messages have its size: with the costs of that, nothing is lost.
        (_, Payload::Vector(vector)) => machine.linearised_at(vector.bytes),
        _ => machine.clone(),
    };
    let link = machine.levels()[0].links.linear().expect("linear costs are searched with");
    let inner = Homogeneous::new(link.alpha, link.beta, machine.gamma()).map_err(NoTree::failed)?;
    let inner = inner.with_overhead(link.overhead).map_err(NoTree::failed)?;
    let inside = |ranks: &[Rank], root| {
        fastest(&of_parties(problem, ranks.iter().map(std::slice::from_ref), inner, root)?)
    };
    let among = |_: &[Rank], root| {
        let parties = nodes.iter().map(Vec::as_slice);
        match machine.of_nodes(&ids) {
            Some(leaders) => among_leaders(&of_parties(problem, parties, &leaders, root)?),
            // One node, and nobody to talk to.
            None => Ok(Tree::new(1, 0, &[]).expect("one rank without steps is a tree")),
        }
    };
    two_level(&nodes, problem.root(), inside, among).map(Built::without_search)
}

/// As [`build`], with overlapping latency or costs that are not linear: the leaders join in when their nodes' data is
/// there, at the costs of the outermost level.
fn build_by_size(
    problem: &Problem,
    (machine, sizes): (&Hierarchy, &BlockSizes),
    nodes: &[Vec<Rank>],
) -> Result<Tree, NoTree> {
    let of = |ranks: &[Rank]| {
        BlockSizes::new(ranks.iter().map(|&rank| sizes.block(rank))).map_err(NoTree::failed)
    };
    let levels = machine.levels();
    let (node, network) = (&levels[0], &levels[levels.len() - 1].links);
    let alone = Hierarchy::new(vec![node.clone()], Placement::Block, machine.gamma());
    let alone = alone.map_err(NoTree::failed)?;
    // When each node's data is with its leader.
    let ready = RefCell::new(Vec::with_capacity(nodes.len()));
    let inside = |ranks: &[Rank], root| {
        let sizes = of(ranks)?;
        let tree = overlapping::inside(&node.links, machine.gamma(), &sizes, root)?;
        let inner = Problem::gather(&sizes, &alone).map_err(NoTree::failed)?;
        let time = completion_time(&tree, &inner).map_err(NoTree::failed)?;
        ready.borrow_mut().push(time.units());
        Ok(tree)
    };
    let among = |_: &[Rank], root| {
        let volume = |ranks: &Vec<Rank>| ranks.iter().map(|&rank| sizes.block(rank)).sum::<u64>();
        let volumes = BlockSizes::new(nodes.iter().map(volume)).map_err(NoTree::failed)?;
        overlapping::among(network, &volumes, &ready.borrow(), root)
    };
    two_level(nodes, problem.root(), inside, among)
}

/// The problem's operation among parties that each stand for some ranks: for each the blocks of these,
/// or the vector.
fn of_parties<'b>(
    problem: &Problem,
    parties: impl ExactSizeIterator<Item = &'b [Rank]>,
    costs: impl Into<StatedCosts>,
    root: Root,
) -> Result<Problem, NoTree> {
    let payload = match problem.payload() {
        Payload::Blocks(sizes) => {
            let sum = |ranks: &[Rank]| ranks.iter().map(|&rank| sizes.block(rank)).sum::<u64>();
            BlockSizes::new(parties.map(sum)).map(Payload::Blocks).map_err(NoTree::failed)?
        }
        Payload::Vector(vector) => Payload::Vector(Vector { ranks: parties.len(), ..*vector }),
        // Refused below, for the lack of a root.
        Payload::Messages(sizes) => Payload::Messages(sizes.clone()),
        Payload::Groups(sizes) => Payload::Groups(sizes.clone()),
    };
    Problem::new(problem.operation(), payload, costs)
        .and_then(|problem| problem.with_root(root))
        .map_err(NoTree::failed)
}

/// The tree among the leaders: optimal if their costs are the same for all pairs or they are few, else
/// adaptive.
fn among_leaders(problem: &Problem) -> Result<Tree, NoTree> {
    if let Some(costs) = problem.costs().homogeneous(problem.ranks()) {
        return fastest(&problem.with_costs(costs).map_err(NoTree::failed)?);
    }
    if problem.ranks() <= MOST_LEADERS {
        let optimum = optimal_per_pair(problem, PairMethod::Hinges, &());
        return optimum.map(|optimum| optimum.tree).map_err(NoTree::failed);
    }
    adaptive(problem, AdaptiveRule::CompletionTime).map_err(NoTree::failed)
}

/// The most node leaders for whom an optimal tree is searched for pair by pair.
const MOST_LEADERS: usize = 128;
