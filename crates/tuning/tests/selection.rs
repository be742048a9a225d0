//! What is chosen for MPI libraries: times are those of schedules, and changes are where they belong.

use tuwtree_collective::allreduce::Folds;
use tuwtree_collective::broadcast::Gathering;
use tuwtree_collective::intergroup::{self, Inside};
use tuwtree_collective::{
    CollectiveError, allreduce, alltoall, broadcast, bruck, recursive_doubling, reduce,
    reduce_scatter, ring,
};
use tuwtree_model::{
    BlockSizes, ClosedSet, GroupSizes, Homogeneous, MessageSizes, Operation, Operator, Order,
    Payload, Problem, Root, Vector,
};
use tuwtree_schedule::{Schedule, Sends, simulate};
use tuwtree_tuning::{
    Function, Merge, OwnRules, Prices, Regret, Rules, Tuning, algorithms, decide, decisions,
    mpich_rule, own_rule, regret,
};

type ScheduleBuild = fn(&Problem) -> Result<Schedule, CollectiveError>;

fn schedule_of(operation: Operation, name: &str) -> ScheduleBuild {
    match (operation, name) {
        (Operation::Allgather, "ring") => ring,
        (Operation::Allgather, "bruck") => bruck,
        (Operation::Allgather, _) => recursive_doubling,
        (Operation::Broadcast, "binomial") => broadcast::binomial,
        (Operation::Broadcast, "scatter-ring") => {
            |problem| broadcast::scatter_allgather(problem, Gathering::Ring)
        }
        (Operation::Broadcast, _) => {
            |problem| broadcast::scatter_allgather(problem, Gathering::Doubling)
        }
        (Operation::Allreduce, "recursive-doubling") => allreduce::recursive_doubling,
        (Operation::Allreduce, "ring") => allreduce::ring,
        (Operation::Allreduce, "rabenseifner-half") => {
            |problem| allreduce::rabenseifner(problem, Folds::Half)
        }
        (Operation::Allreduce, _) => |problem| allreduce::rabenseifner(problem, Folds::Full),
        (Operation::Reduce, "binomial") => reduce::binomial,
        (Operation::Reduce, "rabenseifner-half") => {
            |problem| reduce::rabenseifner(problem, Folds::Half)
        }
        (Operation::Reduce, _) => |problem| reduce::rabenseifner(problem, Folds::Full),
        (Operation::ReduceScatter, "pairwise") => reduce_scatter::pairwise,
        (Operation::ReduceScatter, _) => reduce_scatter::halving,
        (_, "bruck") => |problem| alltoall::bruck(problem, 2),
        (_, "linear") => alltoall::linear,
        _ => alltoall::pairwise,
    }
}

const CHOSEN: [Operation; 6] = [
    Operation::Allgather,
    Operation::Broadcast,
    Operation::Allreduce,
    Operation::Reduce,
    Operation::ReduceScatter,
    Operation::Alltoall,
];

/// An operation with an operator that is built in, if it has any.
fn built_in(operation: Operation) -> (Operation, Order) {
    (operation, Order::Any)
}

#[test]
fn times_are_those_of_schedules_without_copies() {
    let costs = Homogeneous::new(50.0, 2.0, 0.0).unwrap();
    let prices = Prices { costs, combine: 3.0 };
    for ranks in 2..=33_usize {
        let active = 1_usize << ranks.ilog2();
        for operation in CHOSEN {
            let total = (ranks * active * 8) as u64;
            let block = total / ranks as u64;
            let (payload, bytes): (Payload, u64) = match operation {
                Operation::Allgather | Operation::ReduceScatter => {
                    (BlockSizes::new(vec![block; ranks]).unwrap().into(), total)
                }
                Operation::Alltoall => {
                    let all = vec![block; ranks * ranks];
                    (MessageSizes::new(all).unwrap().into(), block)
                }
                _ => (Vector { ranks, bytes: total }.into(), total),
            };
            let mut problem = Problem::new(operation, payload, costs).unwrap();
            if operation.is_rooted() {
                problem = problem.with_root(Root::Given(0)).unwrap();
            }
            if operation.is_reduction() {
                problem = problem.with_operator(Operator::new(1, 3.0).unwrap()).unwrap();
            }
            // That of scatter and doubling is a bound where ranks are no power of two.
            let is_exact = |name| name != "scatter-doubling" || ranks.is_power_of_two();
            for algorithm in algorithms(operation).iter().filter(|one| is_exact(one.name)) {
                let Some(time) = algorithm.time(ranks, bytes, &prices) else { continue };
                let schedule = schedule_of(operation, algorithm.name)(&problem).unwrap();
                let found = simulate(&schedule, &costs, Sends::Synchronous).unwrap();
                let found = found.completion_time().units();
                let name = algorithm.name;
                assert!((time - found).abs() < 1e-9 * found, "{operation:?} {name}, {ranks}");
            }
        }
    }
}

#[test]
fn the_fastest_is_chosen_for_each_size() {
    let prices = Prices { costs: Homogeneous::new(1000.0, 1.0, 0.3).unwrap(), combine: 0.2 };
    for operation in CHOSEN {
        for ranks in [2, 3, 7, 8, 12, 16, 33] {
            let ranges = decide(operation, ranks, (1, 40_000), &prices, None);
            for bytes in (1..=40_000).step_by(37) {
                let chosen = ranges.iter().rfind(|range| range.from_bytes <= bytes).unwrap();
                let time = chosen.algorithm.time(ranks, bytes, &prices).unwrap();
                for other in algorithms(operation) {
                    let other = other.time(ranks, bytes, &prices);
                    assert!(other.is_none_or(|other| time <= other), "{operation:?}, {bytes}");
                }
            }
        }
    }
}

#[test]
fn changes_are_at_the_first_byte_at_which_another_is_faster() {
    // Binomial 3 (100 + n), scatter and ring 3 + 7 messages and 2 * 7/8 n; doubling 6 messages.
    let prices = Prices { costs: Homogeneous::new(100.0, 1.0, 1.0).unwrap(), combine: 0.0 };
    let ranges = decide(Operation::Broadcast, 8, (1, 1 << 20), &prices, None);
    let found: Vec<(u64, &str)> =
        ranges.iter().map(|range| (range.from_bytes, range.algorithm.name)).collect();
    // 300 + 3 n > 600 + 1.75 n from n = 241 on.
    assert_eq!(found, [(1, "binomial"), (241, "scatter-doubling")]);
    let merged =
        decisions(Operation::Broadcast, (2, 64), (1, 1 << 20), &prices, (None, Merge::Equal));
    assert_eq!(merged.last().unwrap().ranks.1, 64);
}

#[test]
fn numbers_of_ranks_that_share_a_decision_have_its_sizes_within_a_tenth() {
    let prices = Prices { costs: Homogeneous::new(2e4, 0.8, 1.0).unwrap(), combine: 0.4 };
    let all =
        Operation::all().flat_map(|one| Function::of(one).into_iter().map(move |of| (one, of)));
    for (operation, function) in all {
        for library in [None, Some(Tuning::OpenMpi), Some(Tuning::Ucc), Some(Tuning::Mpich)] {
            let rules = library.and_then(|library| Rules::new(library, function));
            let size = |bytes, p| rules.map_or(bytes, |rules| rules.size(bytes, p));
            let mut counts = Vec::new();
            for (merge, share) in [(Merge::Equal, 0), (Merge::Coarse, 10)] {
                let options = (rules, merge);
                let merged = decisions(operation, (2, 100), (1, 1 << 23), &prices, options);
                counts.push(merged.len());
                for decision in merged {
                    let (first, last) = decision.ranks;
                    for p in first..=last {
                        let own = decide(operation, p, (1, 1 << 23), &prices, rules);
                        assert_eq!(own.len(), decision.ranges.len());
                        for (own, shared) in own.iter().zip(&decision.ranges).skip(1) {
                            let (own, shared) =
                                (size(own.from_bytes, p), size(shared.from_bytes, first));
                            assert!(
                                own.abs_diff(shared) * 100 <= shared * share,
                                "{function:?}, {p}"
                            );
                        }
                    }
                }
            }
            assert!(counts[1] <= counts[0], "{function:?}: {counts:?}");
        }
    }
}

#[test]
fn mpich_s_rule_is_never_faster_than_the_best_of_its_algorithms() {
    let prices = Prices { costs: Homogeneous::new(2000.0, 0.1, 0.05).unwrap(), combine: 0.1 };
    for operation in CHOSEN {
        assert!(mpich_rule(operation, 9, 1000).is_some());
        let regret =
            regret(OwnRules::Mpich, built_in(operation), (2, 100), (1, 1 << 23), &prices).unwrap();
        let Regret { own, any_library } = regret;
        assert!(own.worst >= own.mean && own.mean >= 1.0, "{operation:?}: {own:?}");
        assert!(any_library.worst >= own.worst, "{operation:?}: {any_library:?}");
    }
    assert!(mpich_rule(Operation::Gather, 9, 1000).is_none());
    // Thresholds: < for total sizes, <= for those of vectors.
    let name = |operation, p, bytes| mpich_rule(operation, p, bytes).unwrap().name;
    assert_eq!(name(Operation::Allgather, 6, 81_919), "bruck");
    assert_eq!(name(Operation::Allgather, 6, 81_920), "ring");
    assert_eq!(name(Operation::Broadcast, 8, 12_288), "binomial");
    assert_eq!(name(Operation::Broadcast, 8, 12_289), "scatter-doubling");
}

#[test]
fn open_mpi_s_own_allgather_is_as_its_source_says() {
    let name = |p: usize, block: u64| {
        own_rule(OwnRules::OpenMpi, built_in(Operation::Allgather), p, block * p as u64)
            .unwrap()
            .name
    };
    assert_eq!(
        [name(2, 9), name(16, 9), name(5, 9)],
        ["recursive-doubling", "recursive-doubling", "bruck"]
    );
    assert_eq!([name(40, 1024), name(41, 1024), name(40, 65_536)], ["neighbor", "ring", "ring"]);
    assert_eq!(
        [name(300, 100), name(256, 31), name(6000, 4096)],
        ["bruck", "recursive-doubling", "neighbor"]
    );
}

#[test]
fn open_mpi_s_own_rules_of_other_operations_are_as_its_source_says() {
    let name = |operation, p, bytes| {
        own_rule(OwnRules::OpenMpi, built_in(operation), p, bytes).unwrap().name
    };
    for (operation, p, bytes, expected) in [
        (Operation::Broadcast, 3, 31, "chain"),
        (Operation::Broadcast, 7, 8192, "linear"),
        (Operation::Broadcast, 7, 1 << 20, "chain"),
        (Operation::Broadcast, 16, 4095, "knomial"),
        (Operation::Broadcast, 31, 1 << 19, "binomial"),
        (Operation::Broadcast, 1023, 16_384, "split-binary-tree"),
        (Operation::Broadcast, 1024, 1 << 19, "scatter-doubling"),
        (Operation::Reduce, 8, 8191, "binary-tree"),
        (Operation::Reduce, 8, 8192, "binomial"),
        (Operation::Reduce, 511, 8192, "in-order-binary-tree"),
        (Operation::Reduce, 7, 1 << 20, "linear"),
        (Operation::Allreduce, 8, 8192, "rabenseifner-half"),
        (Operation::Allreduce, 255, 1024, "reduce-and-broadcast"),
        (Operation::ReduceScatter, 64, 255, "reduce-and-scatter"),
        (Operation::ReduceScatter, 64, 4096, "butterfly"),
        (Operation::ReduceScatter, 31, 262_144, "pairwise"),
        (Operation::Alltoall, 31, 511, "bruck"),
        (Operation::Alltoall, 15, 511, "linear"),
        (Operation::Alltoall, 127, 262_144, "pairwise"),
    ] {
        assert_eq!(name(operation, p, bytes), expected, "{operation:?}, {p}, {bytes}");
    }
    assert!(own_rule(OwnRules::OpenMpi, built_in(Operation::Broadcast), 1025, 1 << 19).is_none());
    assert!(own_rule(OwnRules::OpenMpi, built_in(Operation::Gather), 9, 9).is_none());
    let prices = Prices { costs: Homogeneous::new(1000.0, 1.0, 1.0).unwrap(), combine: 0.5 };
    for operation in CHOSEN {
        let found = regret(OwnRules::OpenMpi, built_in(operation), (2, 100), (1, 1 << 23), &prices)
            .unwrap();
        let own = found.own;
        assert!(own.mean >= 1.0 && own.worst >= own.mean, "{operation:?}: {own:?}");
    }
    assert!(
        regret(OwnRules::OpenMpi, built_in(Operation::Gather), (2, 9), (1, 9), &prices).is_none()
    );
}

/// The operations with an operator that does not commute.
const ORDERED: [(Operation, Order); 3] = [
    (Operation::Reduce, Order::Ordered),
    (Operation::Allreduce, Order::Ordered),
    (Operation::ReduceScatter, Order::Ordered),
];

#[test]
fn mpich_s_algorithms_for_operators_that_do_not_commute_take_the_times_of_schedules_that_keep_order()
 {
    for (alpha, beta, combine) in [(50.0, 2.0, 3.0), (1000.0, 1.0, 0.0), (1.0, 10.0, 1000.0)] {
        let costs = Homogeneous::new(alpha, beta, 0.0).unwrap();
        let prices = Prices { costs, combine };
        for p in 2..=70_usize {
            for (operation, order) in ORDERED {
                let bytes = 8 * p as u64;
                let (payload, build): (Payload, ScheduleBuild) = match operation {
                    Operation::ReduceScatter => (
                        BlockSizes::new(vec![8; p]).unwrap().into(),
                        match p.is_power_of_two() {
                            true => reduce_scatter::butterfly,
                            false => reduce_scatter::recursive_doubling,
                        },
                    ),
                    Operation::Reduce => (Vector { ranks: p, bytes }.into(), reduce::binomial),
                    _ => (Vector { ranks: p, bytes }.into(), allreduce::recursive_doubling),
                };
                let problem = Problem::new(operation, payload, costs).unwrap();
                let problem = match operation.is_rooted() {
                    true => problem.with_root(Root::Given(0)).unwrap(),
                    false => problem,
                };
                let problem = problem.with_operator(Operator::new(1, combine).unwrap()).unwrap();
                let schedule = build(&problem).unwrap();
                assert_eq!(schedule.task().order, Order::Ordered);
                let found = simulate(&schedule, &costs, Sends::Synchronous).unwrap();
                let found = found.completion_time().units();
                let own = own_rule(OwnRules::Mpich, (operation, order), p, bytes).unwrap();
                let time = own.time(bytes, &prices);
                assert!((time - found).abs() < 1e-9 * found, "{}, {p}: {time}, {found}", own.name);
            }
        }
    }
}

#[test]
fn mpich_reduces_and_scatters_what_does_not_commute_as_was_counted() {
    // Five messages and 19 blocks at five processes; a butterfly, 3 and 7, at eight.
    let time = |p, alpha, beta| {
        let prices = Prices { costs: Homogeneous::new(alpha, beta, 0.0).unwrap(), combine: 0.0 };
        let own =
            own_rule(OwnRules::Mpich, (Operation::ReduceScatter, Order::Ordered), p, p as u64);
        own.map(|own| (own.name, own.time(p as u64, &prices))).unwrap()
    };
    assert_eq!(time(5, 1.0, 0.0), ("recursive-doubling", 5.0));
    assert_eq!(time(5, 0.0, 1.0), ("recursive-doubling", 19.0));
    assert_eq!([time(8, 1.0, 0.0), time(8, 0.0, 1.0)], [("butterfly", 3.0), ("butterfly", 7.0)]);
    // Vectors go whole, whatever their size.
    for bytes in [1, 1 << 20] {
        for (operation, name) in
            [(Operation::Reduce, "binomial"), (Operation::Allreduce, "recursive-doubling")]
        {
            let own = own_rule(OwnRules::Mpich, (operation, Order::Ordered), 12, bytes);
            assert_eq!(own.unwrap().name, name);
        }
    }
}

#[test]
fn open_mpi_s_own_rules_for_operators_that_do_not_commute_are_as_its_source_says() {
    for (operation, p, bytes, expected) in [
        (Operation::Reduce, 3, 7, "in-order-binary-tree"),
        (Operation::Reduce, 3, 8, "linear"),
        (Operation::Reduce, 7, 1 << 20, "linear"),
        (Operation::Reduce, 8, 1023, "in-order-binary-tree"),
        (Operation::Reduce, 15, 1024, "linear"),
        (Operation::Reduce, 15, 8192, "in-order-binary-tree"),
        (Operation::Reduce, 15, 16_384, "linear"),
        (Operation::Reduce, 15, 262_144, "in-order-binary-tree"),
        (Operation::Reduce, 128, 512, "linear"),
        (Operation::Reduce, 256, 512, "in-order-binary-tree"),
        (Operation::Allreduce, 3, 131_071, "recursive-doubling"),
        (Operation::Allreduce, 3, 131_072, "linear"),
        (Operation::Allreduce, 8, 1 << 20, "reduce-and-broadcast"),
        (Operation::Allreduce, 127, 1 << 20, "recursive-doubling"),
        (Operation::Allreduce, 128, 131_071, "reduce-and-broadcast"),
        (Operation::Allreduce, 512, 2048, "recursive-doubling"),
        (Operation::ReduceScatter, 2, 8, "reduce-and-scatter"),
        (Operation::ReduceScatter, 500, 1 << 20, "reduce-and-scatter"),
    ] {
        let own = own_rule(OwnRules::OpenMpi, (operation, Order::Ordered), p, bytes).unwrap();
        assert_eq!(own.name, expected, "{operation:?}, {p}, {bytes}");
    }
}

#[test]
fn what_keeps_order_is_judged_beside_what_keeps_it() {
    let prices = Prices { costs: Homogeneous::new(1000.0, 1.0, 0.0).unwrap(), combine: 0.5 };
    for reduction in ORDERED {
        for rules in [OwnRules::Mpich, OwnRules::OpenMpi] {
            let found = regret(rules, reduction, (2, 100), (1, 1 << 23), &prices).unwrap();
            let Regret { own, any_library } = found;
            assert!(own.mean >= 1.0 && any_library.worst >= own.worst, "{reduction:?}: {found:?}");
            // MPICH has nothing else for them; 8 MiB in halves would take a third of the time and less.
            let is_mpich = rules == OwnRules::Mpich;
            assert!(!is_mpich || own.worst == 1.0, "{reduction:?}: {own:?}");
            assert!(!is_mpich || any_library.worst > 3.0, "{reduction:?}: {any_library:?}");
        }
    }
    // Open MPI's butterfly beside its reduction to rank 0, in order: 7 messages of all, and 7 of an eighth, against 3 of
    // half, a quarter and an eighth, and one of an eighth to its owner.
    let (p, bytes) = (8, 8000);
    let free = Prices { costs: Homogeneous::new(0.0, 1.0, 0.0).unwrap(), combine: 0.0 };
    let reduction = (Operation::ReduceScatter, Order::Ordered);
    let found = regret(OwnRules::OpenMpi, reduction, (p, p), (bytes, bytes), &free).unwrap();
    assert_eq!(found.own.worst, (7.0 * 8000.0 + 7000.0) / 8000.0);
}

#[test]
fn scatter_and_doubling_is_chosen_for_numbers_of_ranks_that_are_no_powers_of_two() {
    let costs = Homogeneous::new(100_000.0, 1.0, 0.0).unwrap();
    let prices = Prices { costs, combine: 0.0 };
    let bytes = 481_152;
    let all = decide(Operation::Broadcast, 12, (bytes, bytes), &prices, None);
    assert_eq!(all[0].algorithm.name, "scatter-doubling");
    assert_eq!(all[0].algorithm.time(12, bytes, &prices), Some(2_102_880.0));
}

/// Its law is an upper bound, and exact but for few numbers of ranks.
#[test]
fn the_law_of_scatter_and_doubling_is_no_less_than_the_simulation() {
    let mut above = Vec::new();
    for ranks in (3..=50_usize).filter(|ranks| !ranks.is_power_of_two()) {
        for alpha in [0.0, 100.0, 1000.0, 10_000.0] {
            let costs = Homogeneous::new(alpha, 1.0, 0.0).unwrap();
            let vector = Vector { ranks, bytes: 1000 * ranks as u64 };
            let problem = Problem::new(Operation::Broadcast, vector, costs).unwrap();
            let problem = problem.with_root(Root::Given(0)).unwrap();
            let schedule = broadcast::scatter_allgather(&problem, Gathering::Doubling).unwrap();
            let simulated = simulate(&schedule, problem.costs(), Sends::Synchronous).unwrap();
            let simulated = simulated.completion_time().units();
            let all = algorithms(Operation::Broadcast).iter();
            let known = all.filter(|one| one.name == "scatter-doubling");
            let prices = Prices { costs, combine: 0.0 };
            let said = known.filter_map(|one| one.time(ranks, vector.bytes, &prices)).next();
            let factor = said.unwrap() / simulated;
            assert!((1.0 - 1e-12..1.066).contains(&factor), "{ranks}: {factor}");
            above.extend((factor > 1.0 + 1e-12).then_some(ranks));
        }
    }
    above.dedup();
    assert_eq!(above.len(), 9, "{above:?}");
}

#[test]
fn the_rules_of_2005_are_those_of_the_paper() {
    let name = |operation, p, bytes| {
        own_rule(OwnRules::Mpich2005, built_in(operation), p, bytes).unwrap().name
    };
    for (operation, p, bytes, expected) in [
        (Operation::Allgather, 8, 524_287, "recursive-doubling"),
        (Operation::Allgather, 8, 524_288, "ring"),
        (Operation::Allgather, 7, 81_919, "bruck"),
        (Operation::Allgather, 7, 81_920, "ring"),
        (Operation::Broadcast, 7, 1 << 20, "binomial"),
        (Operation::Broadcast, 8, 12_287, "binomial"),
        (Operation::Broadcast, 8, 12_288, "scatter-doubling"),
        (Operation::Broadcast, 8, 524_288, "scatter-ring"),
        (Operation::Alltoall, 4, 256, "bruck"),
        (Operation::Alltoall, 4, 257, "linear"),
        (Operation::Alltoall, 4, 32_769, "pairwise"),
        (Operation::ReduceScatter, 5, 524_287, "halving"),
        (Operation::ReduceScatter, 5, 524_288, "pairwise"),
        (Operation::Reduce, 5, 2_048, "binomial"),
        (Operation::Reduce, 5, 2_049, "rabenseifner-full"),
        (Operation::Allreduce, 5, 2_048, "recursive-doubling"),
        (Operation::Allreduce, 5, 2_049, "rabenseifner-full"),
    ] {
        assert_eq!(name(operation, p, bytes), expected, "{operation:?} {p} {bytes}");
    }
    for (bytes, expected) in [(511, "recursive-doubling"), (512, "pairwise")] {
        let reduction = (Operation::ReduceScatter, Order::Ordered);
        let own = own_rule(OwnRules::Mpich2005, reduction, 6, bytes).unwrap();
        assert_eq!(own.name, expected);
    }
}

#[test]
fn laws_of_intergroup_allgathers_are_those_of_schedules() {
    for group in [1_usize, 2, 3, 5, 8, 12] {
        let blocks = BlockSizes::new(vec![100; 2 * group]).unwrap();
        let groups = GroupSizes::new(blocks, group).unwrap();
        let costs = Homogeneous::new(300.0, 1.0, 0.0).unwrap();
        let problem = Problem::new(Operation::IntergroupAllgather, groups, costs).unwrap();
        let prices = Prices { costs, combine: 0.0 };
        for algorithm in algorithms(Operation::IntergroupAllgather) {
            let schedule = match algorithm.name {
                "paired" => intergroup::paired(&problem, Inside::Circulant),
                "root-mpich" => intergroup::root_mpich(&problem),
                _ => intergroup::root_mpich_v(&problem),
            };
            let found = simulate(&schedule.unwrap(), &costs, Sends::Synchronous).unwrap();
            let bytes = 200 * group as u64;
            let said = algorithm.time(2 * group, bytes, &prices).unwrap();
            let found = found.completion_time().units();
            assert!((said - found).abs() < 1e-9 * found, "{} {group}", algorithm.name);
        }
    }
    let prices = Prices { costs: Homogeneous::new(1.0, 1.0, 0.0).unwrap(), combine: 0.0 };
    let odd = decide(Operation::IntergroupAllgather, 5, (1, 9), &prices, None);
    assert!(odd.is_empty());
}
