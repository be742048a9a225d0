//! Random machines whose costs are not the same everywhere.

use proptest::prelude::*;
use tuwtree_model::{
    CostMatrix, Hierarchy, Level, LinkLaw, Piece, PiecewiseLinear, Placement, Rank,
};

/// Integer costs of each pair, one link in `missing` of them missing (0: none).
pub fn matrix(processors: usize, missing: u32) -> impl Strategy<Value = CostMatrix> {
    let entries = processors * processors;
    let alpha = prop_oneof![0..5_u32, 0..100_u32];
    let table = move |cost: BoxedStrategy<u32>| prop::collection::vec(cost, entries);
    (
        table(alpha.boxed()),
        table((0..4_u32).boxed()),
        table((0..missing.max(1)).boxed()),
        prop::collection::vec(0..4_u32, processors),
    )
        .prop_map(move |(alpha, beta, link, gamma)| {
            let at = |table: &[u32], from: Rank, to: Rank| f64::from(table[from * processors + to]);
            let latency = |from, to| match missing > 0 && at(&link, from, to) == 0.0 {
                true => f64::INFINITY,
                false => at(&alpha, from, to),
            };
            let gamma = |rank: Rank| f64::from(gamma[rank]);
            CostMatrix::from_fn(processors, latency, |i, j| at(&beta, i, j), gamma).unwrap()
        })
}

/// Integer laws of one to three pieces.
fn law() -> impl Strategy<Value = LinkLaw> {
    let piece = (1..40_u64, 0..100_u32, 0..4_u32);
    prop::collection::vec(piece, 1..=3).prop_map(|pieces| {
        let mut from_bytes = 0;
        let pieces = pieces.into_iter().enumerate().map(|(index, (gap, alpha, beta))| {
            from_bytes += if index == 0 { 0 } else { gap };
            Piece::one_port(from_bytes, alpha.into(), beta.into())
        });
        PiecewiseLinear::new(pieces.collect()).unwrap().into()
    })
}

/// Machines of one to three levels with room for at least `processors`, linear or not.
pub fn hierarchy(processors: usize) -> impl Strategy<Value = Hierarchy> {
    let levels = prop::collection::vec((1..5_usize, law()), 1..=3);
    let placement = (0..3_u8, prop::collection::vec(any::<prop::sample::Index>(), processors));
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
        levels.last_mut().unwrap().members = processors.div_ceil(inside);
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
