//! What the catalogue builds where latency overlaps.

use tuwtree_model::document::{Date, Machine};
use tuwtree_model::{
    BlockSizes, ClosedSet, Construction, Distribution, DistributionParameters, Hierarchy,
    Homogeneous, Level, LinkLaw, MeasuredSize, MeasuredSizes, Network, Operation, Order, Placement,
    Problem, Randomness, Root, StatedCosts, WireOwner, completion_time,
};
use tuwtree_plan::{Comparison, Effort, Optimality, Request, Settings, compare};

fn compared(problem: &Problem, order: Order) -> Comparison {
    let settings = Settings { order, ..Settings::DEFAULT };
    let request = Request::new(problem, settings, &());
    compare(&request, &request.suitable(order, Effort::Moderate), false).unwrap()
}

fn time(comparison: &Comparison, construction: Construction) -> f64 {
    let built = comparison.outcomes.iter().find(|one| one.construction == construction);
    built.unwrap_or_else(|| panic!("{} is missing", construction.name())).time().units()
}

fn blocks(distribution: Distribution, processors: usize, mean: u64) -> BlockSizes {
    let scale = DistributionParameters::new(processors, mean);
    distribution.sizes(scale, Randomness::default()).unwrap()
}

/// The costs of a fast cluster in units of 10 ps: 4.5 us that overlap, 0.4 us that do not.
fn cluster() -> Homogeneous {
    Homogeneous::new(490_000.0, 10.0, 5.0).unwrap().with_overhead(40_000.0).unwrap()
}

/// Costs by size, with a protocol that changes: latency jumps, and occupancy falls.
fn law(latency: f64) -> LinkLaw {
    let size = |bytes, latency, occupancy| MeasuredSize { bytes, latency, occupancy };
    LinkLaw::Measured(
        MeasuredSizes::new(vec![
            size(1, latency, 4e-7),
            size(1500, 0.8 * latency, 6e-7),
            size(65_535, 1.7 * latency, 6e-6),
            size(65_536, 5.0 * latency, 5.6e-6),
            size(1 << 20, 5.0 * latency, 9e-5),
        ])
        .unwrap(),
    )
}

fn machine(levels: Vec<(usize, LinkLaw)>, wire: WireOwner) -> StatedCosts {
    let levels = (0..).zip(levels).map(|(index, (members, links)): (usize, _)| Level {
        name: format!("level {index}"),
        members,
        links,
    });
    StatedCosts::from(Machine {
        name: "measured".into(),
        date: Date::parse("2026-11-22").unwrap(),
        provenance: "made up".into(),
        costs: tuwtree_model::Costs::Hierarchical(
            Hierarchy::new(levels.collect(), Placement::Block, 1e-11).unwrap(),
        ),
        network: Network { wire, eager_limit: Some(65_535), ..Network::default() },
    })
}

#[test]
fn the_optimum_beats_all_others_and_deadline_trees_come_near() {
    for distribution in Distribution::published() {
        for root in [Root::Given(0), Root::Given(50), Root::Best] {
            let sizes = blocks(distribution, 100, 1000);
            let problem = Problem::gather(&sizes, cluster()).unwrap().with_root(root).unwrap();
            let comparison = compared(&problem, Order::Ordered);
            let least = time(&comparison, Construction::Optimal);
            assert!(comparison.bound.units() <= least, "{distribution:?} {root:?}");
            for outcome in &comparison.outcomes {
                assert!(least <= outcome.time().units(), "{:?}", outcome.construction);
                assert!(outcome.judged <= outcome.time(), "{:?}", outcome.construction);
            }
            let deadline = time(&comparison, Construction::Deadline);
            assert!(deadline <= 1.08 * least, "{distribution:?} {root:?}: {deadline} {least}");
        }
    }
}

#[test]
fn an_optimal_tree_is_said_to_be_the_best_of_all_in_rank_order() {
    let sizes = blocks(Distribution::Skewed, 60, 1000);
    let problem = Problem::gather(&sizes, cluster()).unwrap();
    let comparison = compared(&problem, Order::Ordered);
    let optimal = |construction| {
        let found = comparison.outcomes.iter().find(|one| one.construction == construction);
        comparison.optimality(found.unwrap())
    };
    assert!(matches!(
        optimal(Construction::Optimal),
        Some(Optimality::AmongOrdered | Optimality::AmongAll)
    ));
    assert_eq!(optimal(Construction::Linear), None);
}

#[test]
fn scatters_take_as_long_by_the_planner_as_gathers_and_have_a_judge_of_their_own() {
    let sizes = blocks(Distribution::Random, 64, 20_000);
    let of = |operation| {
        let problem = Problem::new(operation, sizes.clone(), cluster()).unwrap();
        compared(&problem.with_root(Root::Given(3)).unwrap(), Order::Ordered)
    };
    let (gather, scatter) = (of(Operation::Gather), of(Operation::Scatter));
    for (one, other) in gather.outcomes.iter().zip(&scatter.outcomes) {
        assert_eq!((one.construction, one.time()), (other.construction, other.time()));
    }
    let judged = |all: &Comparison| all.outcomes.iter().map(|one| one.judged).collect::<Vec<_>>();
    assert_ne!(judged(&gather), judged(&scatter));
}

#[test]
fn tables_by_size_have_optimal_and_deadline_trees() {
    let costs = machine(vec![(64, law(4e-6))], WireOwner::Rank);
    for mean in [8, 1000, 10_000, 100_000] {
        let sizes = blocks(Distribution::Spikes, 64, mean);
        let problem = Problem::gather(&sizes, costs.clone()).unwrap();
        let problem = problem.with_root(Root::Given(32)).unwrap();
        let comparison = compared(&problem, Order::Ordered);
        let least = time(&comparison, Construction::Optimal);
        let optimal =
            comparison.outcomes.iter().find(|one| one.construction == Construction::Optimal);
        let tree = optimal.unwrap().tree().unwrap();
        assert_eq!(completion_time(tree, &problem).unwrap().units(), least);
        let deadline = time(&comparison, Construction::Deadline);
        assert!(least <= deadline && deadline <= 1.3 * least, "{mean}: {deadline} {least}");
    }
}

#[test]
fn where_nodes_share_a_wire_trees_that_spare_it_beat_the_star() {
    let costs = machine(vec![(8, law(1e-6)), (16, law(4e-6))], WireOwner::Node);
    let sizes = blocks(Distribution::Same, 128, 1000);
    let problem = Problem::gather(&sizes, costs).unwrap().with_root(Root::Given(0)).unwrap();
    let comparison = compared(&problem, Order::Ordered);
    let judged = |construction| {
        let found = comparison.outcomes.iter().find(|one| one.construction == construction);
        found.unwrap().judged.units()
    };
    let recommended = comparison.recommended().judged.units();
    assert!(1.5 * judged(Construction::TwoLevel) < judged(Construction::Linear));
    assert!(recommended <= 1.02 * judged(Construction::TwoLevel));
    assert!(recommended <= 1.02 * judged(Construction::CopyFirst));
}

#[test]
fn what_is_recommended_keeps_rank_order_unless_the_order_asked_for_allows_more() {
    let costs = machine(vec![(8, law(1e-6)), (16, law(4e-6))], WireOwner::Rank);
    for mean in [8, 1000, 10_000] {
        for distribution in [Distribution::Random, Distribution::Skewed] {
            let sizes = blocks(distribution, 128, mean);
            let problem = Problem::gather(&sizes, costs.clone()).unwrap();
            assert_eq!(compared(&problem, Order::Ordered).recommended().order, Order::Ordered);
        }
    }
}
