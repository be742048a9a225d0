//! The problems of the experiment.

use tuwtree_laws::problems;
use tuwtree_model::{
    ClosedSet, Distribution, DistributionParameters, Operation, Problem, Randomness, Rank, Root,
    StatedCosts,
};

/// Block sizes and a root, by name.
#[derive(Clone, Copy, Debug)]
pub(in crate::other_programs) struct Sizes {
    pub(in crate::other_programs) ranks: usize,
    distribution: Distribution,
    mean_block: u64,
    root: Rank,
}

impl Sizes {
    /// What tables call it.
    pub(in crate::other_programs) fn name(&self) -> String {
        let Sizes { ranks, distribution, mean_block, root } = self;
        format!("{} {mean_block}, root {root} of {ranks}", distribution.name())
    }

    /// The problem of gathering or scattering them.
    pub(in crate::other_programs) fn problem(
        &self,
        operation: Operation,
        costs: &StatedCosts,
    ) -> Problem {
        let parameters = DistributionParameters::new(self.ranks, self.mean_block);
        let sizes = self.distribution.sizes(parameters, Randomness::default()).unwrap();
        let [gather, scatter] = problems::irregular(&sizes, costs.clone());
        let problem = if operation == Operation::Gather { gather } else { scatter };
        problems::rooted(&problem, Root::Given(self.root))
    }
}

fn all(
    ranks: usize,
    distributions: [Distribution; 5],
    mean_blocks: [u64; 5],
    roots: [Rank; 2],
) -> Vec<Sizes> {
    let mut all = Vec::new();
    for distribution in distributions {
        for mean_block in mean_blocks {
            for root in roots {
                all.push(Sizes { ranks, distribution, mean_block, root });
            }
        }
    }
    all
}

/// The 50 problems of the experiment for so many ranks.
pub(in crate::other_programs) fn fifty(ranks: usize) -> Vec<Sizes> {
    use Distribution::{Decreasing, Random, Same, Skewed, Spikes};
    let distributions = [Same, Random, Spikes, Skewed, Decreasing];
    all(ranks, distributions, [8, 100, 1000, 10_000, 100_000], [0, ranks / 2])
}

/// 50 others, for which nothing was ever adjusted.
pub(in crate::other_programs) fn hold_out(ranks: usize) -> Vec<Sizes> {
    use Distribution::{Alternating, LogNormal, PowerLaw, RandomIncreasing, TwoBlocks};
    let distributions = [TwoBlocks, Alternating, PowerLaw, LogNormal, RandomIncreasing];
    all(ranks, distributions, [1, 30, 400, 3000, 40_000], [ranks / 3, ranks - 1])
}
