//! Random problems on which the laws are checked: adversarial sizes and costs, small enough that
//! every time is an exact integer.

use proptest::prelude::*;
use tuwtree_model::{
    BlockSizes, Collective, Homogeneous, Ports, Problem, Rank, Root, StatedCosts, Vector,
};

/// Block sizes of up to `most` ranks: all kinds that have broken an algorithm before.
pub fn sizes(most: usize) -> impl Strategy<Value = BlockSizes> {
    let block = prop_oneof![
        3 => 0..4_u64,
        2 => 1..30_u64,
        1 => Just(0),
        1 => 500..1000_u64,
    ];
    let uniform = (0..20_u64, 1..=most).prop_map(|(size, p)| vec![size; p]);
    let mixed = prop::collection::vec(block, 1..=most);
    let sorted = prop::collection::vec(0..50_u64, 1..=most).prop_map(|mut sizes| {
        sizes.sort_unstable();
        sizes
    });
    let spiky = prop::collection::vec(prop_oneof![4 => Just(1_u64), 1 => Just(100)], 1..=most);
    prop_oneof![4 => mixed, 1 => uniform, 1 => sorted.clone(), 1 => sorted.prop_map(|mut sizes| {
        sizes.reverse();
        sizes
    }), 2 => spiky]
    .prop_map(|sizes| BlockSizes::new(sizes).expect("small sizes"))
}

/// Integer costs: alpha zero, small or huge; beta zero or small; gamma anything from 0 to above beta.
pub fn costs() -> impl Strategy<Value = Homogeneous> {
    let alpha = prop_oneof![Just(0_u32), 1..4_u32, 5..50_u32, Just(10_000)];
    (alpha, 0..4_u32, 0..6_u32).prop_map(|(alpha, beta, gamma)| homogeneous(alpha, beta, gamma))
}

/// The same kind of costs, with any part of alpha as overhead: nothing, all, or something between.
pub fn overlapping_costs() -> impl Strategy<Value = Homogeneous> {
    (costs(), overheads()).prop_map(|(costs, part)| {
        let overhead = (costs.alpha() * part).floor();
        costs.with_overhead(overhead).expect("a part of alpha")
    })
}

/// Parts of alpha that are overhead, from 0 to 1.
pub(crate) fn overheads() -> impl Strategy<Value = f64> {
    prop_oneof![1 => Just(0.0), 1 => Just(1.0), 4 => 0.0..1.0]
}

/// Integer costs as a [`Homogeneous`].
pub fn homogeneous(alpha: u32, beta: u32, gamma: u32) -> Homogeneous {
    Homogeneous::new(alpha.into(), beta.into(), gamma.into()).expect("small costs")
}

/// The problem of gathering these blocks at such a root.
pub fn gather(sizes: &BlockSizes, costs: impl Into<StatedCosts>, root: Root) -> Problem {
    rooted(&Problem::gather(sizes, costs).expect("costs for as many ranks"), root)
}

/// The problem with another root.
pub fn rooted(problem: &Problem, root: Root) -> Problem {
    problem.with_root(root).expect("the root is a rank")
}

/// The problem with every root that can be asked for, the open one last.
pub fn with_each_root(problem: &Problem) -> impl Iterator<Item = Problem> {
    let given = (0..problem.ranks()).map(Root::Given);
    given.chain([Root::Best]).map(|root| rooted(problem, root))
}

/// The problems of gathering and of scattering these blocks.
pub fn irregular(sizes: &BlockSizes, costs: impl Into<StatedCosts>) -> [Problem; 2] {
    let costs = costs.into();
    [Collective::gather(sizes), Collective::scatter(sizes)]
        .map(|collective| of(collective, costs.clone()))
}

/// The problems of all operations, in their order, with these blocks or a vector of so many bytes.
pub fn of_each_operation(
    sizes: &BlockSizes,
    bytes: u64,
    costs: impl Into<StatedCosts>,
) -> [Problem; 4] {
    let costs = costs.into();
    let vector = Vector { ranks: sizes.ranks(), bytes };
    [
        Collective::gather(sizes),
        Collective::scatter(sizes),
        Collective::broadcast(vector),
        Collective::reduce(vector),
    ]
    .map(|collective| of(collective, costs.clone()))
}

fn of(collective: Collective, costs: StatedCosts) -> Problem {
    Problem::of(collective, costs).expect("costs for as many ranks")
}

/// So many ports, at least one.
pub fn ports(number: u16) -> Ports {
    Ports::new(number).expect("at least one port")
}

/// The open root, or a rank whatever the number.
pub fn root_of(root: Option<Rank>, sizes: &BlockSizes) -> Root {
    root.map_or(Root::Best, |root| Root::Given(root % sizes.ranks()))
}
