//! What the catalogue builds where latency overlaps.

use tuwtree_dp::PairMethod;
use tuwtree_model::document::{Date, Machine};
use tuwtree_model::{
    BlockSizes, ClosedSet, Construction, CostMatrix, Distribution, DistributionParameters,
    Hierarchy, Homogeneous, Level, LinkLaw, MeasuredSize, MeasuredSizes, Network, Operation, Order,
    Piece, PiecewiseLinear, Placement, Problem, Randomness, Root, StatedCosts, Time, Vector,
    WireOwner, completion_time, judged_time,
};
use tuwtree_plan::{
    Comparison, Effort, Optimality, Outcome, Request, Search, Settings, Skipped, Wanted, compare,
};
use tuwtree_schedule::{Schedule, Sends, simulate};

fn compared(problem: &Problem, order: Order) -> Comparison {
    let settings = Settings { order, ..Settings::DEFAULT };
    let request = Request::new(problem, settings, &());
    compare(&request, &request.suitable(order, Effort::Moderate), false).unwrap()
}

fn time(comparison: &Comparison, construction: Construction) -> f64 {
    let built = comparison.outcomes.iter().find(|one| one.construction == construction);
    let missing = || panic!("{} is missing: {:?}", construction.name(), comparison.skipped);
    built.unwrap_or_else(missing).time().units()
}

/// The completion time by the planner.
fn planned(comparison: &Comparison, construction: Construction) -> Time {
    let built = comparison.outcomes.iter().find(|one| one.construction == construction);
    built.unwrap_or_else(|| panic!("{} is missing", construction.name())).planned
}

fn blocks(distribution: Distribution, ranks: usize, mean: u64) -> BlockSizes {
    let scale = DistributionParameters::new(ranks, mean);
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
        combine_per_byte: 0.0,
    })
}

#[test]
fn recommended_trees_come_near_the_bound_that_none_is_below() {
    for distribution in Distribution::published() {
        for root in [Root::Given(0), Root::Given(50), Root::Best] {
            let sizes = blocks(distribution, 100, 1000);
            let problem = Problem::gather(&sizes, cluster()).unwrap().with_root(root).unwrap();
            let comparison = compared(&problem, Order::Ordered);
            let bound = comparison.bound.units();
            for outcome in &comparison.outcomes {
                assert!(bound <= outcome.time().units(), "{:?}", outcome.construction);
                assert!(outcome.time() <= outcome.planned, "{:?}", outcome.construction);
            }
            let recommended = comparison.recommended().time().units();
            assert!(
                recommended <= 1.25 * bound,
                "{distribution:?} {root:?}: {recommended} {bound}"
            );
        }
    }
}

#[test]
fn no_class_of_trees_is_said_to_have_its_optimum_where_the_planner_found_it() {
    let sizes = blocks(Distribution::Skewed, 60, 1000);
    let problem = Problem::gather(&sizes, cluster()).unwrap();
    let comparison = compared(&problem, Order::Ordered);
    let optimal = |construction| {
        let found = comparison.outcomes.iter().find(|one| one.construction == construction);
        comparison.optimality(found.unwrap())
    };
    assert!(matches!(optimal(Construction::Optimal), None | Some(Optimality::AmongAll)));
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
    let built_alike = [Construction::Linear, Construction::Oblivious, Construction::Adaptive];
    for construction in built_alike {
        let of = |all: &Comparison| {
            let found = all.outcomes.iter().find(|one| one.construction == construction);
            found.map(|one| one.planned)
        };
        assert_eq!(of(&gather), of(&scatter));
    }
    let times = |all: &Comparison| all.outcomes.iter().map(Outcome::time).collect::<Vec<_>>();
    assert_ne!(times(&gather), times(&scatter));
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
        assert_eq!(judged_time(tree, &problem).unwrap().units(), least);
        let deadline = time(&comparison, Construction::Deadline);
        assert!(deadline <= 1.3 * least, "{mean}: {deadline} {least}");
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
        found.unwrap().time().units()
    };
    let recommended = comparison.recommended().time().units();
    assert!(1.5 * judged(Construction::TwoLevel) < judged(Construction::Linear));
    assert!(recommended <= 1.02 * judged(Construction::TwoLevel));
    assert!(recommended <= 1.02 * judged(Construction::CopyFirst));
}

#[test]
fn leaders_and_relays_come_near_what_a_node_s_wire_lets_through() {
    let costs = machine(vec![(8, law(1e-6)), (16, law(4e-6))], WireOwner::Node);
    let sizes = blocks(Distribution::Random, 128, 5000);
    let problem = Problem::gather(&sizes, costs).unwrap().with_root(Root::Given(0)).unwrap();
    let comparison = compared(&problem, Order::Any);
    let bound = comparison.bound.units();
    for construction in [Construction::Leaders, Construction::Relays] {
        let mut outcomes = comparison.outcomes.iter();
        let judged = outcomes.find(|one| one.construction == construction).unwrap().time().units();
        assert!(bound <= judged && judged <= 1.5 * bound, "{construction:?}: {bound} {judged}");
    }
}

#[test]
fn trees_for_many_ranks_of_levels_take_what_their_schedules_take() {
    let line = |latency: f64| {
        let piece = Piece { from_bytes: 0, alpha: latency, overhead: 0.2 * latency, beta: 1e-10 };
        LinkLaw::from(PiecewiseLinear::new(vec![piece]).unwrap())
    };
    let levels = vec![(8, line(1e-6)), (10, line(4e-6)), (8, line(9e-6))];
    let sizes = blocks(Distribution::Random, 510, 1000);
    for wire in [WireOwner::Rank, WireOwner::Node] {
        for operation in [Operation::Gather, Operation::Scatter] {
            let costs = machine(levels.clone(), wire);
            let problem = Problem::new(operation, sizes.clone(), costs).unwrap();
            let problem = problem.with_root(Root::Given(0)).unwrap();
            let settings = Settings { order: Order::Any, ..Settings::DEFAULT };
            let request = Request::new(&problem, settings, &());
            let all = [
                Construction::Leaders,
                Construction::Grids,
                Construction::Rotated,
                Construction::Relays,
            ];
            let wanted =
                all.map(|one| Wanted { construction: one, search: None, effort: Effort::Moderate });
            let comparison = compare(&request, &wanted, false).unwrap();
            assert_eq!(comparison.outcomes.len(), all.len(), "{:?}", comparison.skipped);
            for outcome in &comparison.outcomes {
                let schedule = Schedule::of_tree(outcome.tree().unwrap(), &problem).unwrap();
                let timeline = simulate(&schedule, problem.costs(), Sends::Synchronous).unwrap();
                let [simulated, planned] =
                    [timeline.completion_time(), outcome.planned].map(Time::units);
                assert!((simulated - planned).abs() <= 1e-12 * planned);
                let is_ordered = outcome.order == Order::Ordered;
                match outcome.construction {
                    Construction::Rotated => assert!(!is_ordered),
                    // Of trees of leaders, perhaps.
                    Construction::Relays => {}
                    one => assert!(is_ordered, "{}", one.name()),
                }
            }
            if wire == WireOwner::Rank {
                let [leaders, grids, rotated] =
                    [all[0], all[1], all[2]].map(|one| time(&comparison, one));
                assert!(grids <= leaders, "{leaders} {grids} {rotated}");
                assert!(rotated <= 1.01 * grids, "{leaders} {grids} {rotated}");
            }
        }
    }
}

/// Whether what is recommended, and what is advised, keeps rank order.
fn keeps_order(comparison: &Comparison) -> bool {
    let recommended = comparison.recommended();
    let advised = comparison.simplest();
    let keeps = |outcome: &Outcome| outcome.order == Order::Ordered;
    keeps(recommended) && keeps(advised)
}

#[test]
fn what_is_recommended_keeps_rank_order_unless_the_order_asked_for_allows_more() {
    let costs = machine(vec![(8, law(1e-6)), (16, law(4e-6))], WireOwner::Rank);
    for mean in [8, 1000, 10_000] {
        for distribution in [Distribution::Random, Distribution::Skewed] {
            let sizes = blocks(distribution, 128, mean);
            let problem = Problem::gather(&sizes, costs.clone()).unwrap();
            assert!(keeps_order(&compared(&problem, Order::Ordered)));
        }
    }
}

#[test]
fn where_nothing_overlaps_what_is_recommended_keeps_rank_order_as_well() {
    let line = |alpha, beta| -> LinkLaw {
        PiecewiseLinear::new(vec![Piece::one_port(0, alpha, beta)]).unwrap().into()
    };
    let levels = vec![(16, line(6e-7, 1e-10)), (250, line(1.5e-6, 3e-10))];
    let costs = machine(levels, WireOwner::Rank);
    let sizes = blocks(Distribution::Random, 256, 1000);
    let problem = Problem::gather(&sizes, costs).unwrap().with_root(Root::Given(0)).unwrap();
    let of = |order| {
        let settings = Settings { order, ..Settings::DEFAULT };
        let request = Request::new(&problem, settings, &());
        let trees = [Construction::Adaptive, Construction::ModelGraceful, Construction::Leaders];
        compare(&request, &trees.map(Wanted::named), false).unwrap()
    };
    let ordered = of(Order::Ordered);
    assert_eq!(ordered.recommended().construction, Construction::Leaders);
    let passed_over = ordered.passed_over().map(|one| one.construction);
    assert_eq!(passed_over, Some(Construction::ModelGraceful));
    assert!(keeps_order(&ordered));
    let any = of(Order::Any);
    assert_eq!(any.recommended().construction, Construction::ModelGraceful);
    assert!(any.passed_over().is_none());
}

#[test]
fn where_groups_are_adjacent_linear_levels_are_searched_by_the_levels_program() {
    let line = |alpha| -> LinkLaw {
        PiecewiseLinear::new(vec![Piece::one_port(0, alpha, 1.0)]).unwrap().into()
    };
    let costs = machine(vec![(4, line(10.0)), (8, line(300.0))], WireOwner::Rank);
    for root in [Root::Given(3), Root::Given(17), Root::Best] {
        let sizes = blocks(Distribution::Random, 30, 20);
        let problem = Problem::gather(&sizes, costs.clone()).unwrap().with_root(root).unwrap();
        let request = Request::new(&problem, Settings::DEFAULT, &());
        let wanted = Wanted::named(Construction::Adjacent);
        let comparison = compare(&request, &[wanted], true).unwrap();
        let outcome = &comparison.outcomes[0];
        assert_eq!(outcome.built.search, Some(Search::Levels));
        let certificate = outcome.certificate.clone().unwrap().unwrap();
        assert_eq!(certificate, "the hinges method finds the same completion time");
        let by = Wanted { search: Some(Search::PerPair(PairMethod::Hinges)), ..wanted };
        let pairs = compare(&request, &[by], false).unwrap();
        let times = [outcome.time(), pairs.outcomes[0].time()].map(Time::units);
        assert!((times[0] - times[1]).abs() <= 1e-12 * times[0], "{times:?}");
    }
}

/// Costs of each pair of ranks, most of whose latency overlaps.
fn pairs(ranks: usize) -> tuwtree_model::Costs {
    let apart = |one: usize, other: usize| (one / 4).abs_diff(other / 4) as f64;
    let costs = CostMatrix::from_fn(
        ranks,
        |one, other| if one == other { 0.0 } else { 100.0 + 50.0 * apart(one, other) },
        |one, other| if one == other { 0.0 } else { 1.0 + apart(one, other).min(2.0) },
        |_| 1.0,
    );
    let row = |one| (0..ranks).map(|other| if one == other { 0.0 } else { 7.0 }).collect();
    let overheads: Vec<Vec<f64>> = (0..ranks).map(row).collect();
    tuwtree_model::Costs::Matrix(costs.unwrap().with_overheads(&overheads).unwrap())
}

#[test]
fn costs_of_each_pair_have_copy_first_binary_and_exact_trees() {
    let sizes = blocks(Distribution::Spikes, 12, 100);
    for operation in [Operation::Gather, Operation::Scatter] {
        for root in [Root::Given(5), Root::Best] {
            let problem = Problem::new(operation, sizes.clone(), pairs(12)).unwrap();
            let comparison = compared(&problem.with_root(root).unwrap(), Order::Any);
            // Such costs are planned with as they are, without regard to the judge.
            let least = planned(&comparison, Construction::Exact);
            for outcome in &comparison.outcomes {
                assert!(least <= outcome.planned, "{:?}", outcome.construction);
                assert!(comparison.bound <= outcome.time());
                let is_proven = comparison.optimality(outcome) == Some(Optimality::AmongAll);
                assert!(!is_proven || outcome.time() <= comparison.recommended().time());
            }
            for other in [Construction::Linear, Construction::Oblivious, Construction::Adaptive] {
                assert!(
                    planned(&comparison, Construction::CopyFirst) <= planned(&comparison, other)
                );
            }
        }
    }
}

#[test]
fn groups_of_ranks_that_are_not_adjacent_have_copy_first_trees_of_their_own() {
    let levels = vec![(2, law(1e-6)), (8, law(4e-6))];
    let costs = machine(levels, WireOwner::Rank);
    let tuwtree_model::Costs::Hierarchical(block) = costs.costs() else { panic!("no levels") };
    let dealt = Hierarchy::new(block.levels().to_vec(), Placement::RoundRobin, block.gamma());
    let sizes = blocks(Distribution::Random, 16, 1000);
    let problem = Problem::gather(&sizes, tuwtree_model::Costs::Hierarchical(dealt.unwrap()));
    let comparison = compared(&problem.unwrap(), Order::Ordered);
    let least = time(&comparison, Construction::CopyFirst);
    for other in [Construction::Linear, Construction::Oblivious, Construction::Adaptive] {
        assert!(least <= time(&comparison, other));
    }
    // Nobody waits for more than two, whatever the ranks that share a node.
    assert!(time(&comparison, Construction::Binary) >= least);
}

#[test]
fn broadcasts_and_reductions_have_optimal_trees_where_latency_overlaps() {
    let of_all = (tuwtree_model::Costs::from(cluster()), Construction::Optimal);
    for (costs, best) in [of_all, (pairs(40), Construction::Adjacent)] {
        for operation in [Operation::Broadcast, Operation::Reduce] {
            let vector = Vector { ranks: 40, bytes: 1000 };
            let problem = Problem::new(operation, vector, &costs).unwrap();
            let comparison = compared(&problem.with_root(Root::Given(17)).unwrap(), Order::Ordered);
            // At costs of each pair by the planner, who knows no others.
            let of = |outcome: &Outcome| match best {
                Construction::Optimal => outcome.time(),
                _ => outcome.planned,
            };
            let found = comparison.outcomes.iter().find(|one| one.construction == best).unwrap();
            for outcome in &comparison.outcomes {
                assert!(of(found) <= of(outcome), "{:?}", outcome.construction);
            }
        }
    }
}

#[test]
fn where_latency_overlaps_only_the_bound_certifies() {
    let certificate = |ranks, costs: tuwtree_model::Costs| {
        let sizes = blocks(Distribution::Skewed, ranks, 100);
        let problem = Problem::gather(&sizes, costs).unwrap().with_root(Root::Given(1)).unwrap();
        let request = Request::new(&problem, Settings::DEFAULT, &());
        let trees = [Wanted::named(Construction::CopyFirst)];
        compare(&request, &trees, true).unwrap().outcomes[0].certificate.clone().unwrap()
    };
    assert_eq!(certificate(2, pairs(2)).unwrap(), "it meets the lower bound");
    let unknown = certificate(16, pairs(16)).unwrap_err();
    assert!(unknown.starts_with("where latency overlaps, the lower bound alone"), "{unknown}");
}

/// Machines on which nothing may be left out because its program knows other costs only.
fn of_all_kinds(ranks: usize) -> Vec<StatedCosts> {
    let level = |members, links| (members, links);
    let of_pairs = |overlap: f64| {
        let alpha = |one: usize, other: usize| 1e-6 * (1 + (7 * one + 3 * other) % 5) as f64;
        let beta = |one: usize, other: usize| 1e-10 * (1 + (one + 2 * other) % 3) as f64;
        let costs = CostMatrix::from_fn(ranks, alpha, beta, |_| 1e-10).unwrap();
        let overhead = |one, other| if one == other { 0.0 } else { overlap * alpha(one, other) };
        let row = |one| (0..ranks).map(|other| overhead(one, other)).collect();
        let overheads: Vec<Vec<f64>> = (0..ranks).map(row).collect();
        StatedCosts::from(tuwtree_model::Costs::Matrix(costs.with_overheads(&overheads).unwrap()))
    };
    let scattered = |links: fn(f64) -> LinkLaw| {
        let levels = [(4, 1e-6), (ranks, 5e-6)];
        let levels = (0..).zip(levels).map(|(index, (members, latency)): (usize, _)| Level {
            name: format!("level {index}"),
            members,
            links: links(latency),
        });
        let machine = Hierarchy::new(levels.collect(), Placement::RoundRobin, 1e-11).unwrap();
        StatedCosts::from(tuwtree_model::Costs::Hierarchical(machine))
    };
    let pieces = |latency: f64| {
        let piece = |from_bytes, alpha, beta| Piece::one_port(from_bytes, alpha, beta);
        let pieces = vec![piece(0, latency, 1e-9), piece(1000, 3.0 * latency, 5e-10)];
        LinkLaw::from(PiecewiseLinear::new(pieces).unwrap())
    };
    vec![
        machine(vec![level(64, law(4e-6))], WireOwner::Rank),
        machine(vec![level(4, law(1e-6)), level(16, law(4e-6))], WireOwner::Node),
        machine(vec![level(64, pieces(4e-6))], WireOwner::Rank),
        machine(vec![level(4, pieces(1e-6)), level(16, pieces(4e-6))], WireOwner::Rank),
        scattered(law),
        scattered(pieces),
        of_pairs(1.0),
        of_pairs(0.3),
        StatedCosts::from(cluster()),
        StatedCosts::from(Homogeneous::new(100.0, 1.0, 3.0).unwrap()),
    ]
}

#[test]
fn nothing_is_left_out_at_any_costs_but_what_takes_too_long_and_levels_where_there_are_none() {
    let sizes = blocks(Distribution::Random, 20, 1000);
    for costs in of_all_kinds(20) {
        for operation in [Operation::Gather, Operation::Scatter] {
            for root in [Root::Given(7), Root::Best] {
                let problem = Problem::new(operation, sizes.clone(), costs.clone()).unwrap();
                let problem = problem.with_root(root).unwrap();
                let comparison = compared(&problem, Order::Any);
                for Skipped { construction, reason } in &comparison.skipped {
                    let is_known = match construction {
                        Construction::Exact => reason.contains("steps, more than"),
                        Construction::TwoLevel => reason.contains("there are no levels"),
                        _ => false,
                    };
                    assert!(is_known, "{}: {reason}", construction.name());
                }
                for one in [
                    Construction::Direct,
                    Construction::Greedy,
                    Construction::Sorted,
                    Construction::Searched,
                    Construction::Binary,
                ] {
                    time(&comparison, one);
                }
                for outcome in &comparison.outcomes {
                    let tree = outcome.tree().unwrap();
                    assert_eq!(completion_time(tree, &problem).unwrap(), outcome.planned);
                    assert_eq!(judged_time(tree, &problem).unwrap(), outcome.time());
                    assert!(comparison.bound <= outcome.time());
                    let schedule = Schedule::of_tree(tree, &problem).unwrap();
                    let timeline = simulate(&schedule, problem.costs(), Sends::Synchronous);
                    let [simulated, planned] =
                        [timeline.unwrap().completion_time(), outcome.planned].map(Time::units);
                    assert!((simulated - planned).abs() <= 1e-12 * planned, "{tree:?}");
                }
            }
        }
    }
}

#[test]
fn broadcasts_and_reductions_have_two_level_trees_where_latency_overlaps() {
    let costs = machine(vec![(4, law(1e-6)), (16, law(4e-6))], WireOwner::Rank);
    for operation in [Operation::Broadcast, Operation::Reduce] {
        let vector = Vector { ranks: 24, bytes: 1000 };
        let problem = Problem::new(operation, vector, costs.clone()).unwrap();
        let comparison = compared(&problem.with_root(Root::Given(5)).unwrap(), Order::Ordered);
        let (two_level, linear) =
            (time(&comparison, Construction::TwoLevel), time(&comparison, Construction::Linear));
        assert!(time(&comparison, Construction::Adjacent) <= two_level && two_level < linear);
    }
}
