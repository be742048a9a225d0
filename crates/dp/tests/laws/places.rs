//! Trees that each process finds its own place in.

use proptest::prelude::*;
use tuwtree_dp::wider::{
    BySize, Class, Effort, OwnPlace, TickLaw, deadline_place, deadline_tree_by_size,
    deadline_tree_in_ticks,
};
use tuwtree_laws::problems::{overlapping_costs, root_of, sizes};
use tuwtree_model::{
    BlockSizes, Distribution, DistributionParameters, LinkLaw, MeasuredSize, MeasuredSizes, Piece,
    PiecewiseLinear, Problem, Randomness, Rank, Root, Tree, check_ordered, completion_time,
};

fn line(alpha: f64, overhead: f64, beta: f64) -> LinkLaw {
    let piece = Piece { from_bytes: 0, alpha, overhead, beta };
    PiecewiseLinear::new(vec![piece]).unwrap().into()
}

/// The places of all processes.
fn places(sizes: &BlockSizes, law: &TickLaw, root: Root, effort: Effort) -> Vec<OwnPlace> {
    let place = |rank| deadline_place(sizes, law, root, rank, effort).unwrap();
    (0..sizes.ranks()).map(place).collect()
}

/// The places of all processes are those in the one tree; the tree.
fn agreed(sizes: &BlockSizes, law: &TickLaw, root: Root, effort: Effort) -> Tree {
    let tree = deadline_tree_in_ticks(sizes, law, root, effort).unwrap();
    assert_eq!(check_ordered(&tree), Ok(()));
    let places = places(sizes, law, root, effort);
    let top = tree.root();
    for (rank, place) in places.iter().enumerate() {
        assert_eq!(place.parent, tree.parent(rank), "{rank} of {sizes:?}");
        assert!(tree.children(rank).eq(place.children.iter().map(|child| child.rank)));
        for child in &place.children {
            let its = &places[child.rank];
            assert_eq!((child.first, child.last), (its.first, its.last));
            assert_eq!(its.children.is_empty(), its.first == its.last);
            assert_eq!(its.siblings, place.children);
        }
        let below: usize = place.children.iter().map(|child| child.last - child.first + 1).sum();
        assert_eq!(below, place.last - place.first);
        assert_eq!(place.branches, places[top].children);
    }
    assert_eq!((places[top].first, places[top].last), (0, sizes.ranks() - 1));
    tree
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn the_places_that_processes_find_are_one_tree(
        sizes in sizes(60),
        costs in overlapping_costs(),
        root in proptest::option::of(0..60_usize),
    ) {
        let root = root_of(root, &sizes);
        let links = line(costs.alpha(), costs.overhead(), costs.beta());
        let law = TickLaw::new(&links, costs.gamma(), sizes.total()).unwrap();
        for effort in Effort::ALL {
            let tree = agreed(&sizes, &law, root, effort);
            prop_assert!(root.given().is_none_or(|root| root == tree.root()));
        }
    }
}

#[test]
fn processes_agree_on_every_distribution_and_law() {
    let piece = |from_bytes, alpha, overhead, beta| Piece { from_bytes, alpha, overhead, beta };
    let pieces = vec![piece(0, 5e-6, 1e-6, 8e-11), piece(4096, 9e-6, 1e-7, 7e-11)];
    let size = |bytes, latency, occupancy| MeasuredSize { bytes, latency, occupancy };
    let measured = vec![size(1, 4.0, 1.0), size(1000, 3.0, 11.0), size(5000, 9.0, 7.0)];
    let laws = [
        PiecewiseLinear::new(pieces).unwrap().into(),
        LinkLaw::Measured(MeasuredSizes::new(measured).unwrap()),
        line(5200.0, 520.0, 1.0),
        line(5200.0, 5200.0, 0.0),
        line(0.0, 0.0, 0.0),
    ];
    for (distribution, processes) in
        Distribution::published().flat_map(|one| [1, 2, 3, 60, 250].map(|p| (one, p)))
    {
        let parameters = DistributionParameters::new(processes, 1000);
        let sizes = distribution.sizes(parameters, Randomness::default()).unwrap();
        for links in &laws {
            for (root, effort) in [(0, Effort::Least), (processes / 2, Effort::Light)] {
                let law = TickLaw::new(links, 1e-11, sizes.total()).unwrap();
                agreed(&sizes, &law, Root::Given(root), effort);
            }
        }
    }
    let nothing = BlockSizes::new([0; 9]).unwrap();
    let law = TickLaw::new(&laws[2], 0.0, 0).unwrap();
    assert_eq!(agreed(&nothing, &law, Root::Given(4), Effort::Least).degree(4), 8);
    assert_eq!(agreed(&nothing, &law, Root::Best, Effort::Least).root(), 0);
}

#[test]
fn ticks_lose_next_to_nothing_against_floating_point() {
    let mut ratios = Vec::new();
    for distribution in Distribution::published() {
        for (share, mean) in [(0.0, 8), (0.5, 1000), (0.9, 20_000)] {
            let parameters = DistributionParameters::new(200, mean);
            let sizes = distribution.sizes(parameters, Randomness::default()).unwrap();
            let (alpha, gamma, root): (f64, f64, Rank) = (5.2e-6, 4e-11, 70);
            let links = line(alpha, alpha * (1.0 - share), 8e-11);
            let floating = BySize {
                sizes: &sizes,
                port: |bytes| links.times(bytes).1,
                latency: |bytes| links.times(bytes).0,
                copy: |bytes| gamma * bytes as f64,
            };
            let (class, root) = (Class::Consecutive, Root::Given(root));
            let floating = deadline_tree_by_size(&floating, class, root, Effort::Light).unwrap();
            let law = TickLaw::new(&links, gamma, sizes.total()).unwrap();
            let ticks = deadline_tree_in_ticks(&sizes, &law, root, Effort::Light).unwrap();
            let costs = tuwtree_model::Homogeneous::new(alpha, 8e-11, gamma).unwrap();
            let costs = costs.with_overhead(alpha * (1.0 - share)).unwrap();
            let problem = Problem::gather(&sizes, costs).unwrap().with_root(root).unwrap();
            let time = |tree: &Tree| completion_time(tree, &problem).unwrap().units();
            ratios.push(time(&ticks) / time(&floating));
        }
    }
    // One time rounded otherwise may change a tree.
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    assert!((0.995..1.005).contains(&mean), "{mean} {ratios:?}");
    assert!(ratios.iter().all(|ratio| (0.9..1.1).contains(ratio)), "{ratios:?}");
}
