//! Optimal trees inside the nodes of a hierarchical machine, and among their leaders.

use super::search::optimal_tree;
use super::{BuildError, Built, Plan, Searched, Task};
use std::collections::BTreeMap;
use tuwtree_dp::{PairMethod, optimal_per_pair};
use tuwtree_model::{
    BlockSizes, Collective, Costs, Hierarchy, Homogeneous, Payload, Rank, Root, Tree, Vector,
};
use tuwtree_treegen::{AdaptiveRule, adaptive, linear, two_level};

impl Task<'_> {
    /// Optimal trees within the nodes, and among their leaders.
    pub(super) fn two_level(&self, plan: Plan) -> Result<Built, BuildError> {
        let machine = match &self.searched {
            Searched::PerPair(Costs::Hierarchical(machine)) => machine,
            Searched::NotLinear(error) => {
                return Err(plan.effort.refused(format!("{error} with --linearise-at")));
            }
            Searched::Homogeneous(_) | Searched::PerPair(_) => {
                let reason = match self.costs {
                    Costs::Hierarchical(_) => {
                        "all these processors pay the same for each other, so \
                                               that there are no levels"
                    }
                    _ => "two-level trees need a machine of several levels (hierarchical)",
                };
                return Err(plan.effort.refused(reason.to_owned()));
            }
        };
        let mut nodes: BTreeMap<usize, Vec<Rank>> = BTreeMap::new();
        for rank in 0..self.problem.processors() {
            nodes.entry(machine.node(rank)).or_default().push(rank);
        }
        let (ids, nodes): (Vec<usize>, Vec<Vec<Rank>>) = nodes.into_iter().unzip();
        let link = machine.levels()[0].links.linear().expect("linear costs are searched with");
        let inner = Homogeneous::new(link.alpha, link.beta, machine.gamma());
        let inner = inner.map_err(BuildError::failed)?;
        let inside = |ranks: &[Rank], root| {
            let own = self.payload_of(ranks.iter().map(std::slice::from_ref))?;
            optimal_tree(self.moved(&own), &inner, root)
        };
        let among = |_: &[Rank], root| {
            let joint = self.payload_of(nodes.iter().map(Vec::as_slice))?;
            match machine.of_nodes(&ids) {
                Some(leaders) => self.among_leaders(self.moved(&joint), leaders, root),
                // One node, and nobody to talk to.
                None => linear(1, 0).map_err(BuildError::failed),
            }
        };
        two_level(&nodes, self.root, inside, among).map(Built::without_search)
    }

    /// The data of parties that each stand for some ranks: for each the blocks of these, or the vector.
    fn payload_of<'b>(
        &self,
        parties: impl ExactSizeIterator<Item = &'b [Rank]>,
    ) -> Result<Payload, BuildError> {
        let sizes = match self.problem {
            Collective::Gather(sizes) | Collective::Scatter(sizes) => sizes,
            Collective::Broadcast(vector) | Collective::Reduce(vector) => {
                return Ok(Payload::Vector(Vector { processors: parties.len(), ..vector }));
            }
        };
        let sum = |ranks: &[Rank]| ranks.iter().map(|&rank| sizes.block(rank)).sum::<u64>();
        BlockSizes::new(parties.map(sum)).map(Payload::Blocks).map_err(BuildError::failed)
    }

    /// The task's operation with data of the same kind.
    fn moved<'b>(&self, payload: &'b Payload) -> Collective<'b> {
        payload.moved_by(self.problem.operation()).expect("data of the same kind")
    }

    /// The tree among the leaders: optimal if their costs are the same for all pairs or they are few,
    /// else adaptive.
    fn among_leaders(
        &self,
        problem: Collective<'_>,
        leaders: Hierarchy,
        root: Root,
    ) -> Result<Tree, BuildError> {
        let costs = Costs::Hierarchical(leaders);
        if let Some(costs) = costs.homogeneous(problem.processors()) {
            return optimal_tree(problem, &costs, root);
        }
        if problem.processors() <= MOST_LEADERS {
            let matrix = costs.matrix(problem.processors()).map_err(BuildError::failed)?;
            let optimum = optimal_per_pair(problem, &matrix, root, PairMethod::Hinges, &());
            return optimum.map(|optimum| optimum.tree).map_err(BuildError::failed);
        }
        adaptive(problem, &costs, root, AdaptiveRule::CompletionTime).map_err(BuildError::failed)
    }
}

/// The most node leaders for whom an optimal tree is searched for pair by pair.
const MOST_LEADERS: usize = 128;
