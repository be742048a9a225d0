//! Where part of the latency overlaps: no schedule is below its bound, and which take the times that are exact where nothing does.

use super::Build;
use proptest::prelude::*;
use tuwtree_bounds::{best_lower_bound, lower_bound_in_pieces};
use tuwtree_collective::allreduce::{self, Folds};
use tuwtree_collective::broadcast::{self, Gathering};
use tuwtree_collective::intergroup::{self, Inside};
use tuwtree_collective::{
    Circulation, Flow, MessagePrice, alltoall, binary_blocks, bruck, bruck_balanced, bruck_postal,
    circulant, circulant_balanced, circulant_in_pieces, overlapped_time, recursive_doubling,
    reduce, reduce_scatter, ring, ring_in_chunks, ring_outline, straight,
};
use tuwtree_model::document::{Date, Machine};
use tuwtree_model::{
    BlockSizes, CostMatrix, Costs, GroupSizes, Hierarchy, Homogeneous, Level, MessageSizes,
    Network, Operation, Operator, Payload, Piece, PiecewiseLinear, Placement, PortKind, Problem,
    Root, StatedCosts, Vector, WireOwner,
};
use tuwtree_schedule::{Sends, simulate};

/// All algorithms of an operation.
fn builds(operation: Operation) -> Vec<Build> {
    match operation {
        Operation::Allgather => vec![
            straight::allgather,
            ring,
            recursive_doubling,
            bruck,
            circulant,
            |problem| bruck_postal(problem, 3),
            |problem| ring_in_chunks(problem, 4),
            |problem| circulant_in_pieces(problem, 3),
            |problem| circulant_balanced(problem, 2),
            |problem| bruck_balanced(problem, 2),
        ],
        Operation::ReduceScatter => vec![
            straight::reduce_scatter,
            reduce_scatter::pairwise,
            reduce_scatter::halving,
            reduce_scatter::recursive_doubling,
            reduce_scatter::circulant,
            |problem| reduce_scatter::circulant_in_pieces(problem, 3),
            |problem| reduce_scatter::circulant_balanced(problem, 2),
        ],
        Operation::Allreduce => vec![
            allreduce::recursive_doubling,
            |problem| allreduce::rabenseifner(problem, Folds::Half),
            |problem| allreduce::rabenseifner(problem, Folds::Full),
            binary_blocks::allreduce,
            allreduce::ring,
            allreduce::circulant,
            allreduce::binomial,
        ],
        Operation::Alltoall => vec![
            alltoall::linear,
            alltoall::pairwise,
            |problem| alltoall::bruck(problem, 2),
            |problem| alltoall::bruck(problem, 3),
            alltoall::open_shop,
        ],
        Operation::IntergroupAllgather => vec![
            |problem| intergroup::paired(problem, Inside::Ring),
            |problem| intergroup::paired(problem, Inside::Pieces(2)),
            |problem| intergroup::shares(problem, Inside::Bruck),
            intergroup::root_mpich,
            intergroup::root_mpich_v,
            |problem| intergroup::root_best(problem, 3),
        ],
        Operation::Broadcast => vec![
            broadcast::binomial,
            |problem| broadcast::scatter_allgather(problem, Gathering::Ring),
            |problem| broadcast::scatter_allgather(problem, Gathering::Doubling),
            |problem| broadcast::circulant_in_pieces(problem, 3),
        ],
        Operation::Reduce => vec![
            reduce::binomial,
            binary_blocks::reduce,
            |problem| reduce::rabenseifner(problem, Folds::Half),
            |problem| reduce::rabenseifner(problem, Folds::Full),
            reduce::ring,
            |problem| reduce::circulant_in_pieces(problem, 3),
        ],
        Operation::Gather | Operation::Scatter => vec![],
    }
}

/// The operations, each with data made of these sizes, for `p` ranks.
fn payloads(sizes: &[u64]) -> Vec<(Operation, Payload)> {
    let p = sizes.len();
    let blocks = BlockSizes::new(sizes.iter().copied()).unwrap();
    let vector = Vector { ranks: p, bytes: blocks.total() };
    let messages = (0..p * p).map(|at| sizes[(at / p + 2 * at) % p]);
    let mut all = vec![
        (Operation::Allgather, blocks.clone().into()),
        (Operation::ReduceScatter, blocks.clone().into()),
        (Operation::Allreduce, vector.into()),
        (Operation::Alltoall, MessageSizes::new(messages).unwrap().into()),
        (Operation::Broadcast, vector.into()),
        (Operation::Reduce, vector.into()),
    ];
    if p > 1 {
        let groups = [&sizes[..p / 2], &sizes[p / 2..]]
            .map(|list| BlockSizes::new(list.iter().copied()).unwrap());
        let groups = GroupSizes::of_groups(&groups[0], &groups[1]).unwrap();
        all.push((Operation::IntergroupAllgather, groups.into()));
    }
    all
}

/// The bound on schedules that may cut vectors.
fn bound(problem: &Problem) -> f64 {
    let bound = match problem.operation() {
        Operation::Broadcast | Operation::Reduce => lower_bound_in_pieces(problem),
        _ => best_lower_bound(problem),
    };
    bound.unwrap().units()
}

fn problem(
    operation: Operation,
    payload: Payload,
    costs: impl Into<StatedCosts>,
    combine: f64,
) -> Problem {
    let problem = Problem::new(operation, payload, costs).unwrap();
    let problem = match operation {
        Operation::Broadcast | Operation::Reduce => {
            problem.with_root(Root::Given(problem.ranks() / 2)).unwrap()
        }
        _ => problem,
    };
    match operation {
        Operation::Reduce | Operation::ReduceScatter | Operation::Allreduce => {
            problem.with_operator(Operator::new(1, combine).unwrap()).unwrap()
        }
        _ => problem,
    }
}

/// Costs of all kinds, and whether their sums are exact.
fn costs(ranks: usize) -> impl Strategy<Value = Costs> {
    let whole = (0..30_u32, 0..40_u32, 0..4_u32).prop_map(|(latency, overhead, beta)| {
        let costs = Homogeneous::new((latency + overhead).into(), beta.into(), 0.0).unwrap();
        costs.with_overhead(overhead.into()).unwrap().into()
    });
    let fractional = (0.0..9.0, 0.0..=1.0, 0.0..2.0).prop_map(|(alpha, part, beta)| {
        let costs = Homogeneous::new(alpha, beta, 0.0).unwrap();
        costs.with_overhead(alpha * part).unwrap().into()
    });
    let pairs = prop::collection::vec((0..30_u32, 0..20_u32, 0..4_u32), ranks * ranks);
    let matrix = pairs.prop_map(move |pairs| {
        let of = |from: usize, to: usize| match from == to {
            true => (0, 0, 0),
            false => pairs[from * ranks + to],
        };
        let alpha = |from, to| f64::from(of(from, to).0 + of(from, to).1);
        let beta = |from, to| of(from, to).2.into();
        let costs = CostMatrix::from_fn(ranks, alpha, beta, |_| 0.0).unwrap();
        let row = |from| (0..ranks).map(|to| of(from, to).1.into()).collect();
        let overheads: Vec<Vec<f64>> = (0..ranks).map(row).collect();
        Costs::Matrix(costs.with_overheads(&overheads).unwrap())
    });
    prop_oneof![2 => whole, 1 => fractional, 1 => matrix]
}

/// Machines of two levels whose nodes share a wire.
pub(crate) fn nodes(ranks: usize) -> impl Strategy<Value = StatedCosts> {
    let level = || (0..30_u32, 0..20_u32, 0..4_u32);
    let placement = prop_oneof![Just(Placement::Block), Just(Placement::RoundRobin)];
    let port = prop_oneof![Just(PortKind::Fair), Just(PortKind::FirstInFirstOut)];
    let limit = prop_oneof![Just(None), (0..40_u64).prop_map(Some)];
    let send_overhead = prop_oneof![Just(None), (0..20_u32).prop_map(|most| Some(f64::from(most)))];
    let network = (port, limit, send_overhead).prop_map(|(port, eager_limit, send_overhead)| {
        let wire = WireOwner::Node;
        Network { port, wire, eager_limit, send_overhead, ..Network::default() }
    });
    (1..5_usize, level(), level(), placement, network).prop_map(
        move |(members, inside, between, placement, network)| {
            let level = |name: &str, members, (latency, overhead, beta): (u32, u32, u32)| {
                let (alpha, overhead, beta) =
                    ((latency + overhead).into(), overhead.into(), beta.into());
                let piece = Piece { from_bytes: 0, alpha, overhead, beta };
                let links = PiecewiseLinear::new(vec![piece]).unwrap().into();
                Level { name: name.into(), members, links }
            };
            let nodes = ranks.div_ceil(members);
            let levels = vec![level("node", members, inside), level("network", nodes, between)];
            Machine {
                name: "drawn at random".into(),
                date: Date::parse("2026-11-26").unwrap(),
                provenance: "a law".into(),
                costs: Costs::Hierarchical(Hierarchy::new(levels, placement, 0.0).unwrap()),
                network,
                combine_per_byte: 0.0,
            }
            .into()
        },
    )
}

proptest! {
    #[test]
    fn shared_wires_make_no_schedule_faster_and_none_is_below_its_bound(
        (sizes, costs) in prop::collection::vec(prop_oneof![1 => Just(0), 3 => 0..60_u64], 1..14)
            .prop_flat_map(|sizes| (Just(sizes.clone()), nodes(sizes.len()))),
        combine in 0..3_u32,
    ) {
        for (operation, payload) in payloads(&sizes) {
            let problem = problem(operation, payload, costs.clone(), combine.into());
            let bound = bound(&problem);
            for build in builds(operation) {
                let Ok(schedule) = build(&problem) else { continue };
                for sends in [Sends::Synchronous, Sends::Eager] {
                    let time = |costs: &StatedCosts| {
                        let timeline = simulate(&schedule, costs, sends).unwrap();
                        timeline.completion_time().units()
                    };
                    let found = time(&costs);
                    prop_assert!(found >= time(&costs.costs().into()));
                    prop_assert!(
                        found * (1.0 + 1e-12) >= bound,
                        "{:?}: {} is below {}", operation, found, bound
                    );
                }
            }
        }
    }

    #[test]
    fn figures_of_a_ring_through_nodes_in_block_placement_are_those_of_its_schedule(
        (sizes, costs) in prop::collection::vec(prop_oneof![1 => Just(0), 3 => 0..60_u64], 1..14)
            .prop_flat_map(|sizes| (Just(sizes.clone()), nodes(sizes.len()))),
        duplex in any::<bool>(),
    ) {
        prop_assume!(*costs.costs().hierarchy().unwrap().placement() == Placement::Block);
        let blocks = BlockSizes::new(sizes.iter().map(|bytes| bytes + u64::from(duplex))).unwrap();
        let problem = Problem::allgather(&blocks, costs.clone()).unwrap().with_duplex(duplex);
        let outline = ring_outline(&problem).unwrap();
        let schedule = ring(&problem).unwrap();
        let simulated = simulate(&schedule, &costs, Sends::Synchronous).unwrap();
        prop_assert_eq!(outline.time, simulated.completion_time());
        prop_assert_eq!(outline.most_actions, schedule.most_actions());
        prop_assert_eq!(outline.most_bytes_sent, schedule.most_bytes_sent());
    }

    #[test]
    fn no_schedule_is_below_its_bound_whatever_part_of_the_latency_overlaps(
        (sizes, costs) in prop::collection::vec(prop_oneof![1 => Just(0), 3 => 0..9_u64], 1..14)
            .prop_flat_map(|sizes| (Just(sizes.clone()), costs(sizes.len()))),
        combine in 0..3_u32,
    ) {
        for (operation, payload) in payloads(&sizes) {
            let problem = problem(operation, payload, costs.clone(), combine.into());
            let bound = bound(&problem);
            for build in builds(operation) {
                let Ok(schedule) = build(&problem) else { continue };
                for sends in [Sends::Synchronous, Sends::Eager] {
                    let timeline = simulate(&schedule, problem.costs(), sends).unwrap();
                    let found = timeline.completion_time().units();
                    prop_assert!(
                        found * (1.0 + 1e-12) >= bound,
                        "{:?}: {} is below {}", operation, found, bound
                    );
                }
            }
        }
    }
}

/// What a formula says for so many ranks, at alpha, beta 1 and kappa 1; `None` where it says nothing.
type Formula = fn(&Equal) -> Option<f64>;

/// Equal data for so many ranks.
struct Equal {
    p: usize,
    /// Of a vector; a block has a p-th of it.
    bytes: u64,
    alpha: f64,
}

impl Equal {
    fn new(p: usize, alpha: f64) -> Equal {
        // Divided by p and by the largest power of two in it.
        Equal { p, bytes: ((p << p.ilog2()) * 16) as u64, alpha }
    }

    fn n(&self) -> f64 {
        self.bytes as f64
    }

    fn block(&self) -> f64 {
        self.n() / self.p as f64
    }

    fn others(&self) -> f64 {
        (self.p - 1) as f64
    }

    /// ceil(lg p) and floor(lg p).
    fn rounds(&self) -> f64 {
        self.p.next_power_of_two().ilog2().into()
    }

    fn floor(&self) -> f64 {
        self.p.ilog2().into()
    }

    /// What is left of a vector in one of the powers of two's pieces.
    fn rest(&self) -> f64 {
        self.n() / f64::from(1_u32 << self.p.ilog2())
    }

    /// (p - 1)/p n.
    fn share(&self) -> f64 {
        self.block() * self.others()
    }

    fn is_power(&self) -> bool {
        self.p.is_power_of_two()
    }

    fn payload(&self, operation: Operation) -> Payload {
        let block = self.bytes / self.p as u64;
        let vector = Vector { ranks: self.p, bytes: self.bytes };
        match operation {
            Operation::Allgather | Operation::ReduceScatter => {
                BlockSizes::new(vec![block; self.p]).unwrap().into()
            }
            Operation::Alltoall => MessageSizes::new(vec![block; self.p * self.p]).unwrap().into(),
            _ => vector.into(),
        }
    }

    fn time(&self, operation: Operation, build: Build, overhead: f64) -> Option<f64> {
        let costs = Homogeneous::new(self.alpha, 1.0, 0.0).unwrap();
        let costs: Costs = costs.with_overhead(overhead).unwrap().into();
        let problem = problem(operation, self.payload(operation), &costs, 1.0);
        let schedule = build(&problem).ok()?;
        let timeline = simulate(&schedule, problem.costs(), Sends::Synchronous).unwrap();
        Some(timeline.completion_time().units())
    }
}

/// Where a formula is the time if part of alpha overlaps; elsewhere it takes less.
#[derive(Clone, Copy)]
enum Holds {
    Always,
    ForPowersOfTwo,
    AsBound,
}

/// The times that docs/collectives.md states.
const FORMULAS: [(&str, Operation, Build, Formula, Holds); 26] = [
    ("ring", Operation::Allgather, ring, |e| Some(e.others() * e.alpha + e.share()), Holds::Always),
    (
        "recursive-doubling",
        Operation::Allgather,
        recursive_doubling,
        |e| e.is_power().then_some(e.rounds() * e.alpha + e.share()),
        Holds::Always,
    ),
    (
        "bruck",
        Operation::Allgather,
        bruck,
        |e| Some(e.rounds() * e.alpha + e.share()),
        Holds::Always,
    ),
    (
        "circulant",
        Operation::Allgather,
        circulant,
        |e| Some(e.rounds() * e.alpha + e.share()),
        Holds::Always,
    ),
    (
        "binomial",
        Operation::Broadcast,
        broadcast::binomial,
        |e| Some(e.rounds() * (e.alpha + e.n())),
        Holds::ForPowersOfTwo,
    ),
    (
        "scatter-ring",
        Operation::Broadcast,
        |problem| broadcast::scatter_allgather(problem, Gathering::Ring),
        |e| Some((e.rounds() + e.others()) * e.alpha + 2.0 * e.share()),
        Holds::ForPowersOfTwo,
    ),
    (
        "scatter-doubling",
        Operation::Broadcast,
        |problem| broadcast::scatter_allgather(problem, Gathering::Doubling),
        |e| e.is_power().then_some(2.0 * e.rounds() * e.alpha + 2.0 * e.share()),
        Holds::Always,
    ),
    (
        "pieces",
        Operation::Broadcast,
        |problem| broadcast::circulant_in_pieces(problem, 2),
        |e| Some((1.0 + e.rounds()) * (e.alpha + e.n() / 2.0)),
        Holds::AsBound,
    ),
    (
        "binomial",
        Operation::Reduce,
        reduce::binomial,
        |e| Some(e.rounds() * (e.alpha + 2.0 * e.n())),
        Holds::ForPowersOfTwo,
    ),
    (
        "half",
        Operation::Reduce,
        |problem| reduce::rabenseifner(problem, Folds::Half),
        |e| {
            Some(match e.is_power() {
                true => 2.0 * e.floor() * e.alpha + 3.0 * e.share(),
                false => (2.0 * e.floor() + 2.0) * e.alpha + 4.5 * e.n() - 3.0 * e.rest(),
            })
        },
        Holds::Always,
    ),
    (
        "full",
        Operation::Reduce,
        |problem| reduce::rabenseifner(problem, Folds::Full),
        |e| {
            Some(match e.is_power() {
                true => 2.0 * e.floor() * e.alpha + 3.0 * e.share(),
                false => (2.0 * e.floor() + 1.0) * e.alpha + 5.0 * e.n() - 3.0 * e.rest(),
            })
        },
        Holds::Always,
    ),
    (
        "ring",
        Operation::Reduce,
        reduce::ring,
        |e| Some(2.0 * e.others() * e.alpha + 3.0 * e.share()),
        Holds::AsBound,
    ),
    (
        "pieces",
        Operation::Reduce,
        |problem| reduce::circulant_in_pieces(problem, 2),
        |e| Some((1.0 + e.rounds()) * (e.alpha + e.n())),
        Holds::AsBound,
    ),
    (
        "pairwise",
        Operation::ReduceScatter,
        reduce_scatter::pairwise,
        |e| Some(e.others() * e.alpha + 2.0 * e.share()),
        Holds::Always,
    ),
    (
        "recursive-doubling",
        Operation::ReduceScatter,
        reduce_scatter::recursive_doubling,
        |e| {
            let volume = (e.n() * e.floor() - e.share()) * 2.0;
            e.is_power().then_some(e.floor() * e.alpha + volume)
        },
        Holds::Always,
    ),
    (
        "halving",
        Operation::ReduceScatter,
        reduce_scatter::halving,
        |e| {
            let active = 1_usize << e.p.ilog2();
            let rest = e.p - active;
            let halves = std::iter::successors(Some(active / 2), |half| Some(half / 2));
            let volume: usize =
                halves.take_while(|&half| half > 0).map(|half| half + half.min(rest)).sum();
            let blocks = (e.p + volume) as f64;
            Some(match e.is_power() {
                true => e.floor() * e.alpha + 2.0 * e.share(),
                false => (e.floor() + 2.0) * e.alpha + (2.0 * blocks + 1.0) * e.block(),
            })
        },
        Holds::ForPowersOfTwo,
    ),
    (
        "circulant",
        Operation::ReduceScatter,
        reduce_scatter::circulant,
        |e| Some(e.rounds() * e.alpha + 2.0 * e.share()),
        Holds::Always,
    ),
    (
        "ring",
        Operation::Allreduce,
        allreduce::ring,
        |e| Some(2.0 * e.others() * e.alpha + 3.0 * e.share()),
        Holds::Always,
    ),
    (
        "recursive-doubling",
        Operation::Allreduce,
        allreduce::recursive_doubling,
        |e| {
            Some(match e.is_power() {
                true => e.floor() * (e.alpha + 2.0 * e.n()),
                false => (e.floor() + 2.0) * (e.alpha + e.n()) + (e.floor() + 1.0) * e.n(),
            })
        },
        Holds::Always,
    ),
    (
        "half",
        Operation::Allreduce,
        |problem| allreduce::rabenseifner(problem, Folds::Half),
        |e| {
            Some(match e.is_power() {
                true => 2.0 * e.floor() * e.alpha + 3.0 * e.share(),
                false => (2.0 * e.floor() + 3.0) * e.alpha + 5.5 * e.n() - 3.0 * e.rest(),
            })
        },
        Holds::Always,
    ),
    (
        "full",
        Operation::Allreduce,
        |problem| allreduce::rabenseifner(problem, Folds::Full),
        |e| {
            Some(match e.is_power() {
                true => 2.0 * e.floor() * e.alpha + 3.0 * e.share(),
                false => (2.0 * e.floor() + 2.0) * e.alpha + 6.0 * e.n() - 3.0 * e.rest(),
            })
        },
        Holds::Always,
    ),
    (
        "circulant",
        Operation::Allreduce,
        allreduce::circulant,
        |e| Some(2.0 * e.rounds() * e.alpha + 3.0 * e.share()),
        Holds::Always,
    ),
    (
        "pairwise",
        Operation::Alltoall,
        alltoall::pairwise,
        |e| Some(e.others() * e.alpha + e.share()),
        Holds::Always,
    ),
    (
        "bruck",
        Operation::Alltoall,
        |problem| alltoall::bruck(problem, 2),
        |e| {
            let ones: u32 = (0..e.p).map(usize::count_ones).sum();
            Some(e.rounds() * e.alpha + f64::from(ones) * e.block())
        },
        Holds::Always,
    ),
    (
        "linear",
        Operation::Alltoall,
        alltoall::linear,
        |e| Some(e.others() * e.alpha + e.share()),
        Holds::AsBound,
    ),
    (
        "open-shop",
        Operation::Alltoall,
        alltoall::open_shop,
        |e| Some(e.others() * e.alpha + e.share()),
        Holds::AsBound,
    ),
];

#[test]
fn rounds_that_wait_for_each_other_take_alpha_each_whatever_part_overlaps() {
    for (name, operation, build, formula, holds) in FORMULAS {
        let mut are_less = false;
        for p in 2..=33 {
            let equal = Equal::new(p, 4096.0);
            let Some(stated) = formula(&equal) else { continue };
            let place = format!("{operation:?} {name}, {p} ranks");
            assert_eq!(equal.time(operation, build, 4096.0), Some(stated), "{place}");
            for overhead in [4000.0, 1024.0, 0.0] {
                let found = equal.time(operation, build, overhead).unwrap();
                let is_exact = match holds {
                    Holds::Always => true,
                    Holds::ForPowersOfTwo => p.is_power_of_two(),
                    Holds::AsBound => false,
                };
                assert!(found <= stated, "{place}, overhead {overhead}: {found} above {stated}");
                assert!(found == stated || !is_exact, "{place}, overhead {overhead}: {found}");
                are_less |= found < stated;
            }
        }
        assert_eq!(are_less, !matches!(holds, Holds::Always), "{operation:?} {name}");
    }
}

#[test]
fn equal_messages_that_go_straight_pay_the_latency_once() {
    for p in 2..=33 {
        let equal = Equal::new(p, 4096.0);
        for overhead in [4096.0, 1024.0, 0.0] {
            let once = 4096.0 - overhead + equal.others() * overhead + equal.share();
            for build in [alltoall::linear, alltoall::open_shop] {
                assert_eq!(equal.time(Operation::Alltoall, build, overhead), Some(once));
            }
        }
    }
}

/// As many steps as there are, each for the bytes of its message, and the latency once.
#[test]
fn equal_blocks_in_windows_of_the_postal_model_pay_the_latency_once_if_it_is_a_delay_less_one() {
    const DELAYS: [Build; 5] = [
        |problem| bruck_postal(problem, 1),
        |problem| bruck_postal(problem, 2),
        |problem| bruck_postal(problem, 3),
        |problem| bruck_postal(problem, 4),
        |problem| bruck_postal(problem, 5),
    ];
    for p in 2..=33 {
        let equal = Equal { p, bytes: 4 * p as u64, alpha: 4096.0 };
        for (delay, build) in (1..).zip(DELAYS) {
            for overhead in [4096.0, 3000.0, 2048.0, 1024.0, 816.0, 500.0] {
                let (mut had, mut steps) = (vec![1], 0.0);
                while had[had.len() - 1] < p {
                    let last = had[had.len() - 1];
                    had.push(last + had[had.len().saturating_sub(delay)].min(p - last));
                    steps += 1.0;
                }
                let latency = 4096.0 - overhead;
                let once = steps * overhead + equal.share() + latency;
                let found = equal.time(Operation::Allgather, build, overhead).unwrap();
                match latency <= (delay - 1) as f64 * (overhead + equal.block()) {
                    true => assert_eq!(found, once, "{p} ranks, delay {delay}, {overhead}"),
                    false => assert!(found >= once, "{p} ranks, delay {delay}, {overhead}"),
                }
                // What a rank finds that works out its own rounds.
                let sizes = BlockSizes::new(vec![4; p]).unwrap();
                let price = |bytes: u64| MessagePrice {
                    latency: latency as u128,
                    occupancy: overhead as u128 + u128::from(bytes),
                };
                let kind = Circulation::Postal(delay);
                let own = overlapped_time(&sizes, 1, kind, Flow::Spread, price);
                assert_eq!(own as f64, found, "{p} ranks, delay {delay}, overhead {overhead}");
            }
        }
    }
}
