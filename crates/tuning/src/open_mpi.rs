//! Open MPI's own choice.

use super::{
    ALLGATHER, ALLREDUCE, ALLTOALL, BROADCAST, LibraryAlgorithm, LinearTime, OwnChoice, REDUCE,
    REDUCE_SCATTER, floor_log, law, others,
};
use tuwtree_model::{Operation, Order};

/// Below how many ranks, and then below which size, which of Open MPI's numbers is chosen.
type Rules = &'static [(usize, &'static [(u64, u8)])];

/// Below the size of whatever is larger.
const ANY: u64 = u64::MAX;

/// By the block of a rank.
const ALLGATHER_RULES: Rules = &[
    (3, &[(ANY, 6)]),
    (32, &[(ANY, 3)]),
    (64, &[(1024, 3), (65_536, 5), (ANY, 4)]),
    (128, &[(512, 3), (65_536, 5), (ANY, 4)]),
    (256, &[(512, 3), (131_072, 5), (524_288, 4), (1_048_576, 5), (ANY, 4)]),
    (512, &[(32, 3), (128, 2), (1024, 3), (131_072, 5), (524_288, 4), (1_048_576, 5), (ANY, 4)]),
    (1024, &[(64, 3), (256, 2), (2048, 3), (ANY, 5)]),
    (2048, &[(4, 3), (8, 2), (16, 3), (32, 2), (256, 3), (512, 2), (4096, 3), (ANY, 5)]),
    (4096, &[(32, 2), (128, 3), (512, 2), (4096, 3), (ANY, 5)]),
    (usize::MAX, &[(2, 3), (8, 2), (16, 3), (512, 2), (4096, 3), (ANY, 5)]),
];

/// By the vector.
const ALLREDUCE_RULES: Rules = &[
    (4, &[(8, 4), (4096, 3), (8192, 4), (16_384, 3), (65_536, 4), (262_144, 5), (ANY, 6)]),
    (8, &[(16, 4), (8192, 3), (ANY, 6)]),
    (16, &[(8192, 3), (ANY, 6)]),
    (32, &[(64, 5), (4096, 3), (ANY, 6)]),
    (64, &[(128, 5), (ANY, 6)]),
    (128, &[(262_144, 3), (ANY, 6)]),
    (256, &[(131_072, 2), (262_144, 3), (ANY, 6)]),
    (512, &[(4096, 2), (ANY, 6)]),
    (2048, &[(2048, 2), (16_384, 3), (ANY, 6)]),
    (4096, &[(2048, 2), (4096, 5), (16_384, 3), (ANY, 6)]),
    (usize::MAX, &[(2048, 2), (16_384, 5), (32_768, 3), (ANY, 6)]),
];

/// By one message.
const ALLTOALL_RULES: Rules = &[
    (
        3,
        &[
            (2, 2),
            (4, 5),
            (16, 2),
            (64, 5),
            (256, 2),
            (4096, 5),
            (32_768, 2),
            (262_144, 4),
            (1_048_576, 5),
            (ANY, 2),
        ],
    ),
    (8, &[(8192, 4), (16_384, 1), (65_536, 4), (524_288, 1), (1_048_576, 2), (ANY, 1)]),
    (16, &[(262_144, 4), (ANY, 1)]),
    (32, &[(4, 4), (512, 3), (8192, 4), (32_768, 1), (262_144, 4), (524_288, 1), (ANY, 4)]),
    (64, &[(512, 3), (524_288, 1), (ANY, 4)]),
    (128, &[(1024, 3), (2048, 1), (4096, 4), (262_144, 1), (ANY, 2)]),
    (256, &[(1024, 3), (2048, 4), (262_144, 1), (ANY, 2)]),
    (512, &[(1024, 3), (8192, 4), (32_768, 1), (ANY, 2)]),
    (1024, &[(512, 3), (8192, 4), (16_384, 1), (131_072, 4), (262_144, 1), (ANY, 2)]),
    (2048, &[(512, 3), (1024, 4), (2048, 1), (16_384, 4), (262_144, 1), (ANY, 4)]),
    (4096, &[(1024, 3), (4096, 4), (8192, 1), (131_072, 4), (ANY, 1)]),
    (usize::MAX, &[(2048, 3), (8192, 4), (16_384, 1), (32_768, 4), (65_536, 1), (ANY, 4)]),
];

/// By the vector.
const BROADCAST_RULES: Rules = &[
    (
        4,
        &[
            (32, 3),
            (256, 5),
            (512, 3),
            (1024, 7),
            (32_768, 1),
            (131_072, 5),
            (262_144, 2),
            (524_288, 1),
            (1_048_576, 6),
            (ANY, 5),
        ],
    ),
    (8, &[(64, 5), (128, 6), (2048, 5), (8192, 6), (1_048_576, 1), (ANY, 2)]),
    (16, &[(8, 7), (64, 5), (4096, 7), (16_384, 5), (32_768, 6), (ANY, 1)]),
    (32, &[(4096, 7), (1_048_576, 6), (ANY, 8)]),
    (64, &[(2048, 6), (ANY, 7)]),
    (128, &[(ANY, 7)]),
    (256, &[(2, 6), (16_384, 5), (32_768, 1), (65_536, 5), (ANY, 7)]),
    (1024, &[(16_384, 7), (32_768, 4), (ANY, 7)]),
    (2048, &[(524_288, 7), (ANY, 8)]),
    (4096, &[(262_144, 7), (ANY, 8)]),
    (usize::MAX, &[(8192, 7), (16_384, 5), (262_144, 7), (ANY, 8)]),
];

/// By the vector.
const REDUCE_RULES: Rules = &[
    (4, &[(8, 7), (16, 4), (32, 3), (262_144, 1), (524_288, 3), (1_048_576, 2), (ANY, 3)]),
    (8, &[(4096, 4), (65_536, 2), (262_144, 5), (524_288, 1), (1_048_576, 5), (ANY, 1)]),
    (16, &[(8192, 4), (ANY, 5)]),
    (32, &[(4096, 4), (ANY, 5)]),
    (256, &[(ANY, 5)]),
    (512, &[(8192, 5), (16_384, 6), (ANY, 5)]),
    (2048, &[(ANY, 5)]),
    (4096, &[(512, 5), (1024, 6), (8192, 5), (16_384, 6), (ANY, 5)]),
    (usize::MAX, &[(16, 5), (32, 6), (1024, 5), (2048, 6), (8192, 5), (16_384, 6), (ANY, 5)]),
];

/// By all blocks together.
const REDUCE_SCATTER_RULES: Rules = &[
    (4, &[(65_536, 3), (131_072, 4), (ANY, 3)]),
    (8, &[(8, 1), (262_144, 2), (ANY, 3)]),
    (32, &[(262_144, 2), (ANY, 3)]),
    (64, &[(64, 1), (2048, 2), (524_288, 4), (ANY, 3)]),
    (128, &[(256, 1), (512, 2), (2048, 4), (4096, 2), (ANY, 4)]),
    (256, &[(256, 1), (512, 2), (ANY, 4)]),
    (512, &[(256, 1), (1024, 2), (ANY, 4)]),
    (1024, &[(512, 1), (2048, 2), (8192, 4), (16_384, 2), (ANY, 4)]),
    (2048, &[(512, 1), (4096, 2), (16_384, 4), (32_768, 2), (ANY, 4)]),
    (4096, &[(512, 1), (4096, 2), (ANY, 4)]),
    (usize::MAX, &[(1024, 1), (8192, 2), (ANY, 4)]),
];

/// By the vector, with operators that do not commute.
const ORDERED_ALLREDUCE_RULES: Rules = &[
    (4, &[(131_072, 3), (ANY, 1)]),
    (8, &[(ANY, 3)]),
    (16, &[(1_048_576, 3), (ANY, 2)]),
    (128, &[(ANY, 3)]),
    (256, &[(131_072, 2), (524_288, 3), (ANY, 2)]),
    (512, &[(4096, 2), (524_288, 3), (ANY, 2)]),
    (usize::MAX, &[(2048, 2), (ANY, 3)]),
];

/// By the vector, with operators that do not commute.
const ORDERED_REDUCE_RULES: Rules = &[
    (4, &[(8, 6), (ANY, 1)]),
    (8, &[(ANY, 1)]),
    (16, &[(1024, 6), (8192, 1), (16_384, 6), (262_144, 1), (ANY, 6)]),
    (128, &[(ANY, 6)]),
    (256, &[(512, 6), (1024, 1), (ANY, 6)]),
    (usize::MAX, &[(ANY, 6)]),
];

/// With operators that do not commute.
const ORDERED_REDUCE_SCATTER_RULES: Rules = &[(usize::MAX, &[(ANY, 1)])];

/// The rules of an operation, and the numbers of its algorithms, on request only those that keep the order of operands;
/// `None` if Open MPI does not choose for it by size, or its rules are unknown.
fn rules(operation: Operation, order: Order) -> Option<(Rules, &'static [u8])> {
    match (operation, order) {
        (Operation::Allreduce, Order::Ordered) => Some((ORDERED_ALLREDUCE_RULES, &[1, 2, 3])),
        (Operation::Reduce, Order::Ordered) => Some((ORDERED_REDUCE_RULES, &[1, 6])),
        (Operation::ReduceScatter, Order::Ordered) => Some((ORDERED_REDUCE_SCATTER_RULES, &[1, 4])),
        (Operation::Allgather, _) => Some((ALLGATHER_RULES, &[2, 3, 4, 5])),
        (Operation::Allreduce, _) => Some((ALLREDUCE_RULES, &[1, 2, 3, 4, 5, 6])),
        (Operation::Alltoall, _) => Some((ALLTOALL_RULES, &[1, 2, 3, 4, 5])),
        (Operation::Broadcast, _) => Some((BROADCAST_RULES, &[1, 2, 3, 4, 5, 6, 7, 8, 9])),
        (Operation::Reduce, _) => Some((REDUCE_RULES, &[1, 2, 3, 4, 5, 6, 7])),
        (Operation::ReduceScatter, _) => Some((REDUCE_SCATTER_RULES, &[1, 2, 3, 4])),
        (Operation::Gather | Operation::Scatter | Operation::IntergroupAllgather, _) => None,
    }
}

/// The choice of Open MPI 4.1.4 to 5.0 for an operation on this much data, in the meaning of [`LinearTime`]; with
/// [`Order::Ordered`], for an operator that does not commute, else one that does. Elements have 8 bytes: with fewer of
/// them than some algorithms cut vectors into, Open MPI takes others. `None` if the choice or its time is unknown.
///
/// # Source
/// `coll_tuned_decision_fixed.c`, the same in 4.1.4 and 5.0.9, and `ompi/mca/coll/base`: read, and not run. In 5.0 the
/// component `han` comes before these rules where nodes have several processes.
pub(super) fn choice(
    operation: Operation,
    order: Order,
    p: usize,
    bytes: u64,
) -> Option<OwnChoice> {
    let (rules, _) = rules(operation, order)?;
    let (_, steps) = rules.iter().find(|(ranks, _)| p < *ranks).unwrap_or(&rules[rules.len() - 1]);
    let size = match operation {
        Operation::Allgather => bytes / p as u64,
        _ => bytes,
    };
    let step = steps.iter().find(|(below, _)| size < *below).unwrap_or(&steps[steps.len() - 1]);
    numbered((operation, order), step.1, p, bytes)
}

/// All algorithms of Open MPI for an operation on this much data, if their times are known.
pub(super) fn all(
    operation: Operation,
    order: Order,
    p: usize,
    bytes: u64,
) -> impl Iterator<Item = OwnChoice> {
    let numbers = rules(operation, order).map_or(&[][..], |(_, numbers)| numbers);
    numbers.iter().filter_map(move |&number| numbered((operation, order), number, p, bytes))
}

/// Algorithm of one of Open MPI's numbers.
fn numbered(
    (operation, order): (Operation, Order),
    number: u8,
    p: usize,
    bytes: u64,
) -> Option<OwnChoice> {
    let (pairs, elements) = ((p - 1) as f64, (bytes / ELEMENT_BYTES).max(1));
    let of = |all: &[LibraryAlgorithm], name: &'static str| named(all, name, p);
    let (floor, active) = floor_log(p);
    match (operation, number) {
        (Operation::Allgather, 3 | 6) if p.is_power_of_two() => {
            of(&ALLGATHER, "recursive-doubling")
        }
        (Operation::Allgather, 2 | 3) => of(&ALLGATHER, "bruck"),
        // Pairs of neighbours that exchange two blocks a round.
        (Operation::Allgather, 5) if p.is_multiple_of(2) => {
            own("neighbor", law(p as f64 / 2.0, others(p), 0.0))
        }
        (Operation::Allgather, _) => of(&ALLGATHER, "ring"),
        (Operation::Alltoall, 3) => of(&ALLTOALL, "bruck"),
        (Operation::Alltoall, 2) => of(&ALLTOALL, "pairwise"),
        (Operation::Alltoall, _) => of(&ALLTOALL, "linear"),
        (Operation::Broadcast, 1) => own("linear", law(pairs, pairs, 0.0)),
        (Operation::Broadcast, 2 | 3) => own("chain", law(pairs, pairs, 0.0)),
        (Operation::Broadcast, 4) => {
            // Halves go down the tree, and pairs exchange them.
            let steps = broadcast_steps_of_binary_tree(p) + 1.0;
            own("split-binary-tree", law(steps, steps / 2.0, 0.0))
        }
        (Operation::Broadcast, 5) => {
            let steps = broadcast_steps_of_binary_tree(p);
            own("binary-tree", law(steps, steps, 0.0))
        }
        (Operation::Broadcast, 6) => of(&BROADCAST, "binomial"),
        (Operation::Broadcast, 7) => {
            let steps = broadcast_steps_of_knomial_tree(p);
            own("knomial", law(steps, steps, 0.0))
        }
        (Operation::Broadcast, 8) => of(&BROADCAST, "scatter-doubling"),
        (Operation::Broadcast, _) => of(&BROADCAST, "scatter-ring"),
        (Operation::Reduce, 7) if elements < active as u64 => {
            numbered((operation, order), LINEAR, p, bytes)
        }
        (Operation::Reduce, 1) => own("linear", law(pairs, pairs, pairs)),
        (Operation::Reduce, 2 | 3) => own("chain", law(pairs, pairs, pairs)),
        (Operation::Reduce, 4) => {
            let steps = reduce_steps_of_binary_tree(p);
            own("binary-tree", law(steps, steps, steps))
        }
        (Operation::Reduce, 5) => of(&REDUCE, "binomial"),
        (Operation::Reduce, 6) => {
            // The result goes from the last rank to the root.
            let steps = reduce_steps_in_order(p);
            own("in-order-binary-tree", law(steps + 1.0, steps + 1.0, steps))
        }
        (Operation::Reduce, _) => of(&REDUCE, "rabenseifner-half"),
        (Operation::Allreduce, 6) if elements < active as u64 => {
            numbered((operation, order), LINEAR, p, bytes)
        }
        (Operation::Allreduce, 4 | 5) if elements < p as u64 => {
            of(&ALLREDUCE, "recursive-doubling")
        }
        (Operation::Allreduce, 1) => own("linear", law(2.0 * pairs, 2.0 * pairs, pairs)),
        (Operation::Allreduce, 2) => {
            let reduced = choice(Operation::Reduce, order, p, bytes)?.linear_time()?;
            let told = choice(Operation::Broadcast, order, p, bytes)?.linear_time()?;
            own("reduce-and-broadcast", Some(reduced.then(told)))
        }
        (Operation::Allreduce, 3) => of(&ALLREDUCE, "recursive-doubling"),
        (Operation::Allreduce, 4 | 5) => of(&ALLREDUCE, "ring"),
        (Operation::Allreduce, _) => of(&ALLREDUCE, "rabenseifner-half"),
        (Operation::ReduceScatter, 1) => {
            let scattered = law(pairs, others(p), 0.0)?;
            let reduced = choice(Operation::Reduce, order, p, bytes)?.linear_time()?;
            own("reduce-and-scatter", Some(reduced.then(scattered)))
        }
        (Operation::ReduceScatter, 2) => of(&REDUCE_SCATTER, "halving"),
        (Operation::ReduceScatter, 3) => of(&REDUCE_SCATTER, "pairwise"),
        (Operation::ReduceScatter, _) => {
            // As halving, but that blocks are moved once more: to those who rest, and to their owners.
            let halving = named(&REDUCE_SCATTER, "halving", p)?.linear_time()?;
            let more = match p as f64 - active {
                0.0 if floor < 2.0 => 0.0,
                0.0 => 1.0,
                // With those who rest one was counted.
                rest if rest < 2.0 => 0.0,
                _ => 1.0,
            };
            let law = LinearTime {
                alphas: halving.alphas + more,
                sent: halving.sent + more / p as f64,
                ..halving
            };
            own("butterfly", Some(law))
        }
        (Operation::Gather | Operation::Scatter | Operation::IntergroupAllgather, _) => None,
    }
}

/// Of a double.
const ELEMENT_BYTES: u64 = 8;

/// Number of the algorithms that send direct messages one by one.
const LINEAR: u8 = 1;

fn own(name: &'static str, law: Option<LinearTime>) -> Option<OwnChoice> {
    OwnChoice::linear(name, law)
}

/// The algorithm of this name, among the algorithms that several libraries have.
fn named(all: &[LibraryAlgorithm], name: &'static str, p: usize) -> Option<OwnChoice> {
    let known = all.iter().find(|one| one.name == name).expect("an algorithm of this name");
    own(name, (known.law)(p))
}

/// Depth of Open MPI's binary tree, and number of ranks on its last level. Level `l` has `2^l` ranks; the ranks below a
/// first child are those of even places, so that both children have equally many, or one more.
fn last_level(p: usize) -> (u32, usize) {
    let levels = p.ilog2();
    (levels, p + 1 - (1 << levels))
}

/// The messages one after the other that reach the last rank from the root of Open MPI's binary tree.
fn broadcast_steps_of_binary_tree(p: usize) -> f64 {
    // The first child has it a message later than its parent, the second two.
    steps_of_binary_tree(p, |first, second| (first + 1).max(second.map_or(0, |second| second + 2)))
}

/// The messages one after the other that bring everything to the root of Open MPI's binary tree.
fn reduce_steps_of_binary_tree(p: usize) -> f64 {
    // The first child is waited for before the second.
    steps_of_binary_tree(p, |first, second| match second {
        Some(second) => (first + 1).max(second) + 1,
        None => first + 1,
    })
}

/// Steps of the root of the binary tree, from those of a rank's one or two children; a leaf has none.
fn steps_of_binary_tree(p: usize, join: impl Fn(u32, Option<u32>) -> u32) -> f64 {
    let (levels, last) = last_level(p);
    if levels == 0 {
        return 0.0;
    }
    // The subtrees of a level have either of two numbers of ranks on the last level, which differ by one.
    let least = |level: u32| last >> level;
    let mut steps = [0, 0];
    for level in (0..levels).rev() {
        let below = |count: usize| steps[usize::from(count > least(level + 1))];
        let of = |count: usize| match (level + 1 == levels, count) {
            (true, 0) => 0,
            (true, 1) => join(0, None),
            (true, _) => join(0, Some(0)),
            (false, _) => join(below(count.div_ceil(2)), Some(below(count / 2))),
        };
        steps = [of(least(level)), of(least(level) + 1)];
    }
    f64::from(steps[0])
}

/// The messages one after the other that reach the last rank from the root of Open MPI's 4-nomial tree.
fn broadcast_steps_of_knomial_tree(p: usize) -> f64 {
    const RADIX: usize = 4;
    let span = std::iter::successors(Some(1_usize), |span| Some(span * RADIX));
    let span = span.take_while(|&span| span < p).last().unwrap_or(0);
    f64::from(knomial_steps(p, span, RADIX))
}

/// Steps of a subtree of this many ranks, whose children are `distance` apart at first.
fn knomial_steps(ranks: usize, mut distance: usize, radix: usize) -> u32 {
    let (mut sent, mut last) = (0, 0);
    while distance > 0 {
        for child in (1..radix).map(|place| place * distance).take_while(|&child| child < ranks) {
            sent += 1;
            let below = match ranks - child {
                // A whole one: at each level the last child is the last.
                more if more >= distance => (radix as u32 - 1) * distance.ilog(radix),
                less => knomial_steps(less, distance / radix, radix),
            };
            last = last.max(sent + below);
        }
        distance /= radix;
    }
    last
}

/// The messages one after the other that bring everything to the last rank of Open MPI's binary tree that keeps the order
/// of ranks: the parent's left child is before it, and leads half of the others; the right one leads the lowest half.
fn reduce_steps_in_order(p: usize) -> f64 {
    // Two numbers of ranks at each level, the larger one and one less.
    let larger = std::iter::successors(Some(p), |ranks| Some(ranks / 2));
    let larger: Vec<usize> = larger.take_while(|&ranks| ranks > 0).collect();
    let mut steps = [0, 0];
    let mut of_larger = 0;
    for ranks in larger.into_iter().rev() {
        let below = |count: usize| steps[usize::from(count < of_larger)];
        let of = |ranks: usize| match ranks {
            0 | 1 => 0,
            2 => 1,
            _ => (below(ranks.div_ceil(2) - 1) + 1).max(below(ranks / 2)) + 1,
        };
        steps = [of(ranks), of(ranks.saturating_sub(1))];
        of_larger = ranks;
    }
    f64::from(steps[0])
}

#[cfg(test)]
mod tests;
