//! Random machines whose costs are not the same everywhere.

use crate::problems::{overheads, overlapping_costs};
use proptest::prelude::*;
use tuwtree_model::document::{Date, Machine};
use tuwtree_model::{
    CostMatrix, Costs, Hierarchy, Level, LinkLaw, MeasuredSize, MeasuredSizes, Network, Piece,
    PiecewiseLinear, Placement, PortKind, Rank, StatedCosts, WireOwner,
};

/// Integer costs of each pair, one link in `missing` of them missing (0: none).
pub fn matrix(ranks: usize, missing: u32) -> impl Strategy<Value = CostMatrix> {
    let entries = ranks * ranks;
    let alpha = prop_oneof![0..5_u32, 0..100_u32];
    let table = move |cost: BoxedStrategy<u32>| prop::collection::vec(cost, entries);
    (
        table(alpha.boxed()),
        table((0..4_u32).boxed()),
        table((0..missing.max(1)).boxed()),
        prop::collection::vec(0..4_u32, ranks),
    )
        .prop_map(move |(alpha, beta, link, gamma)| {
            let at = |table: &[u32], from: Rank, to: Rank| f64::from(table[from * ranks + to]);
            let latency = |from, to| match missing > 0 && at(&link, from, to) == 0.0 {
                true => f64::INFINITY,
                false => at(&alpha, from, to),
            };
            let gamma = |rank: Rank| f64::from(gamma[rank]);
            CostMatrix::from_fn(ranks, latency, |i, j| at(&beta, i, j), gamma).unwrap()
        })
}

/// The same kind of costs, with any parts of alpha as overheads.
pub fn overlapping_matrix(ranks: usize, missing: u32) -> impl Strategy<Value = CostMatrix> {
    let parts = prop::collection::vec(overheads(), ranks * ranks);
    (matrix(ranks, missing), parts).prop_map(move |(costs, parts)| {
        let entry = |sender: Rank, receiver: Rank| match sender == receiver {
            true => 0.0,
            false => match costs.alpha(sender, receiver) {
                f64::INFINITY => f64::INFINITY,
                alpha => (alpha * parts[sender * ranks + receiver]).floor(),
            },
        };
        let row = |sender| (0..ranks).map(|receiver| entry(sender, receiver)).collect();
        let overheads: Vec<Vec<f64>> = (0..ranks).map(row).collect();
        costs.with_overheads(&overheads).unwrap()
    })
}

/// Integer laws of one to three pieces, whose overheads are such parts of alpha.
fn law(overheads: impl Strategy<Value = f64>) -> impl Strategy<Value = LinkLaw> {
    let piece = (1..40_u64, 0..100_u32, overheads, 0..4_u32);
    prop::collection::vec(piece, 1..=3).prop_map(|pieces| {
        let mut from_bytes = 0;
        let pieces = pieces.into_iter().enumerate().map(|(index, (gap, alpha, part, beta))| {
            from_bytes += if index == 0 { 0 } else { gap };
            let alpha = f64::from(alpha);
            Piece { from_bytes, alpha, overhead: (alpha * part).floor(), beta: beta.into() }
        });
        PiecewiseLinear::new(pieces.collect()).unwrap().into()
    })
}

/// Tables of one to five measured sizes, in which latency and occupancy rise and fall.
pub fn table() -> impl Strategy<Value = MeasuredSizes> {
    let size = (1..200_u64, prop_oneof![1 => Just(0.0), 4 => 0.0..50.0], 0.0..40.0);
    prop::collection::vec(size, 1..=5).prop_map(|sizes| {
        let mut bytes = 0;
        let sizes = sizes.into_iter().map(|(gap, latency, occupancy)| {
            bytes += gap;
            MeasuredSize { bytes, latency, occupancy }
        });
        MeasuredSizes::new(sizes.collect()).unwrap()
    })
}

/// Machines of one to three levels with room for at least `ranks`, linear or not.
pub fn hierarchy(ranks: usize) -> impl Strategy<Value = Hierarchy> {
    of_levels(ranks, law(Just(1.0)))
}

/// The same kind of machines, with any parts of alpha as overheads.
pub fn overlapping_hierarchy(ranks: usize) -> impl Strategy<Value = Hierarchy> {
    of_levels(ranks, law(overheads()))
}

/// Machines with a table of measured sizes for each level, or pieces.
pub fn measured_hierarchy(ranks: usize) -> impl Strategy<Value = Hierarchy> {
    let law = prop_oneof![3 => table().prop_map(LinkLaw::Measured), 1 => law(overheads())];
    of_levels(ranks, law)
}

/// Integer costs of any kind, part of whose latency overlaps with other work.
pub fn overlapping(ranks: usize) -> impl Strategy<Value = Costs> {
    prop_oneof![
        overlapping_costs().prop_map(Costs::from),
        overlapping_matrix(ranks, 0).prop_map(Costs::Matrix),
        overlapping_hierarchy(ranks).prop_map(Costs::Hierarchical),
    ]
}

/// Costs with what is known of a network beside them.
pub fn on(network: Network, costs: Costs) -> StatedCosts {
    Machine {
        name: "drawn at random".into(),
        date: Date::parse("2026-11-21").unwrap(),
        provenance: "a law".into(),
        costs,
        network,
        combine_per_byte: 0.0,
    }
    .into()
}

/// A machine of nodes with a wire each; inside 1 us, 0.1 us of it overhead, 50 GB/s, between 4 us, 0.2 us and 20 GB/s.
pub fn nodes_with_a_wire(members: usize) -> Machine {
    let level = |name: &str, members, (alpha, overhead, beta)| {
        let piece = Piece { from_bytes: 0, alpha, overhead, beta };
        let links = PiecewiseLinear::new(vec![piece]).unwrap().into();
        Level { name: name.into(), members, links }
    };
    let levels = vec![
        level("node", members, (1e-6, 1e-7, 2e-11)),
        level("network", 1 << 20, (4e-6, 2e-7, 5e-11)),
    ];
    let levels = Hierarchy::new(levels, Placement::Block, 0.0).unwrap();
    Machine {
        name: "nodes".into(),
        date: Date::parse("2026-11-28").unwrap(),
        provenance: "stated".into(),
        combine_per_byte: 0.0,
        network: Network { wire: WireOwner::Node, ..Network::default() },
        costs: Costs::Hierarchical(levels),
    }
}

/// Networks on which each rank has a wire of its own.
pub fn networks() -> impl Strategy<Value = Network> {
    let port = prop_oneof![Just(PortKind::Fair), Just(PortKind::FirstInFirstOut)];
    let limit = prop_oneof![Just(None), (0..300_u64).prop_map(Some)];
    let send_overhead = prop_oneof![Just(None), (0..20_u32).prop_map(|most| Some(f64::from(most)))];
    let small = prop_oneof![Just(None), (0..300_u64).prop_map(Some)];
    let window = prop_oneof![Just(None), (0..300_u64).prop_map(Some)];
    (port, limit, small, send_overhead, window).prop_map(
        |(port, eager_limit, small, send_overhead, window)| Network {
            port,
            fair_beyond: small.filter(|_| port == PortKind::Fair),
            eager_limit,
            send_overhead,
            wire: WireOwner::Rank,
            window,
            ..Network::default()
        },
    )
}

fn of_levels(
    ranks: usize,
    law: impl Strategy<Value = LinkLaw>,
) -> impl Strategy<Value = Hierarchy> {
    let levels = prop::collection::vec((1..5_usize, law), 1..=3);
    let placement = (0..3_u8, prop::collection::vec(any::<prop::sample::Index>(), ranks));
    (levels, placement, 0..4_u32).prop_map(move |(levels, (placement, places), gamma)| {
        let mut levels: Vec<Level> = (0..)
            .zip(levels)
            .map(|(index, (members, links)): (usize, _)| Level {
                name: format!("level {index}"),
                members,
                links,
            })
            .collect();
        let inside: usize = levels[..levels.len() - 1].iter().map(|level| level.members).product();
        levels.last_mut().unwrap().members = ranks.div_ceil(inside);
        let room = levels[0].members;
        let nodes: usize = levels[1..].iter().map(|level| level.members).product();
        let placement = match placement {
            0 => Placement::Block,
            1 => Placement::RoundRobin,
            _ => {
                // Any order of the places that there are.
                let mut free: Vec<usize> = (0..nodes * room).map(|place| place / room).collect();
                let taken = places.iter().map(|place| free.swap_remove(place.index(free.len())));
                Placement::Listed(taken.collect())
            }
        };
        Hierarchy::new(levels, placement, gamma.into()).unwrap()
    })
}
