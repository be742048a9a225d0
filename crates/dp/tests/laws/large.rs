//! The run-length method against the dense one where the plain recurrence is out of reach.

use tuwtree_dp::{Method, optimal_adjacent};
use tuwtree_laws::problems::gather;
use tuwtree_model::{
    BlockSizes, ClosedSet, Distribution, DistributionParameters, Homogeneous, Randomness, Root,
    completion_time,
};

fn sizes(distribution: Distribution, ranks: usize) -> BlockSizes {
    let parameters = DistributionParameters::new(ranks, 1000);
    distribution.sizes(parameters, Randomness::Xoshiro { seed: 3 }).unwrap()
}

/// Both methods find the same time, and the run-length method's tree takes it.
fn agree(sizes: &BlockSizes, (alpha, beta, gamma): (f64, f64, f64), root: Root) {
    let problem = gather(sizes, Homogeneous::new(alpha, beta, gamma).unwrap(), root);
    let runs = optimal_adjacent(&problem, Method::Runs, &()).unwrap();
    let dense = optimal_adjacent(&problem, Method::Dense, &()).unwrap();
    assert_eq!(runs.value, dense.value, "{alpha} {beta} {gamma} {root:?}");
    assert_eq!(completion_time(&runs.tree, &problem).unwrap().units(), runs.value);
}

#[test]
fn runs_agree_with_dense_on_all_distributions_at_2000() {
    for distribution in Distribution::all() {
        let sizes = sizes(distribution, 2000);
        for costs in [(100.0, 1.0, 1.0), (1.0, 1.0, 0.0), (5000.0, 2.0, 1.0)] {
            for root in [Root::Best, Root::Given(1000)] {
                agree(&sizes, costs, root);
            }
        }
    }
}

#[test]
fn runs_agree_with_dense_at_8000() {
    for distribution in [Distribution::Random, Distribution::Increasing, Distribution::Skewed] {
        let sizes = sizes(distribution, 8000);
        agree(&sizes, (100.0, 1.0, 0.0), Root::Best);
        agree(&sizes, (100.0, 1.0, 1.0), Root::Given(7999));
    }
}

#[test]
#[ignore = "a minute and more of one core"]
fn runs_agree_with_dense_at_20000() {
    agree(&sizes(Distribution::Spikes, 20_000), (100.0, 1.0, 0.0), Root::Best);
}

#[test]
#[ignore = "half a minute and more of one core"]
fn runs_agree_with_dense_at_12000() {
    agree(&sizes(Distribution::Bucket, 12_000), (1000.0, 1.0, 1.0), Root::Given(5));
}
