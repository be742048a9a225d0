//! MPICH's own choice for operators that do not commute.

use super::{ALLREDUCE, LibraryAlgorithm, OwnChoice, Prices, REDUCE, ceil_log, law, others};
use tuwtree_model::Operation;

/// The choice of MPICH 4.0 to 4.3 for a reduction whose operands keep rank order, with equal blocks and root 0; `None`
/// for other operations. Such operators are the user's own, for which MPICH never cuts vectors.
///
/// # Source
/// `maint/tuning/coll/mpir/generic.json`: `is_commutative=no`, and `is_op_built_in=no`.
pub(super) fn ordered_choice(operation: Operation, p: usize) -> Option<OwnChoice> {
    ordered(operation, p).next()
}

/// The choice of MPICH in 2005 for such a reduction.
///
/// # Source
/// R. Thakur, R. Rabenseifner, W. Gropp, IJHPCA 19(1), 2005, sections 4.4 and 4.5.
pub(super) fn ordered_choice_of_2005(
    operation: Operation,
    p: usize,
    bytes: u64,
) -> Option<OwnChoice> {
    let all: Vec<OwnChoice> = ordered_of_2005(operation, p).collect();
    let is_long = operation == Operation::ReduceScatter && bytes >= 512;
    if is_long { all.last().copied() } else { all.first().copied() }
}

/// All algorithms of MPICH in 2005 for such a reduction: that for little data first, that for much last.
pub(super) fn ordered_of_2005(operation: Operation, p: usize) -> impl Iterator<Item = OwnChoice> {
    let pairwise = law((p - 1) as f64, others(p), others(p));
    let scatters = || {
        let doubling = OwnChoice::doubling("recursive-doubling", p);
        [Some(doubling), OwnChoice::linear("pairwise", pairwise)]
    };
    let all = match operation {
        Operation::ReduceScatter => scatters(),
        _ => [ordered_choice(operation, p), None],
    };
    all.into_iter().flatten()
}

/// All algorithms of MPICH for such a reduction, its first choice first: its other algorithms are for operators that
/// commute, or that are built in.
pub(super) fn ordered(operation: Operation, p: usize) -> impl Iterator<Item = OwnChoice> {
    let named = |all: &[LibraryAlgorithm], name| {
        let known = all.iter().find(|one| one.name == name).expect("an algorithm of this name");
        OwnChoice::linear(known.name, (known.law)(p))
    };
    let [first, second] = match operation {
        Operation::Reduce => [named(&REDUCE, "binomial"), None],
        Operation::Allreduce => [named(&ALLREDUCE, "recursive-doubling"), None],
        Operation::ReduceScatter => {
            // Messages of one piece, since blocks lie where their numbers read backwards in binary say.
            let butterfly = p.is_power_of_two().then(|| law(ceil_log(p), others(p), others(p)));
            let doubling = OwnChoice::doubling("recursive-doubling", p);
            [butterfly.and_then(|law| OwnChoice::linear("butterfly", law)), Some(doubling)]
        }
        _ => [None, None],
    };
    first.into_iter().chain(second)
}

/// The time of a reduce-scatter by recursive doubling, of equal blocks of this many bytes in all.
///
/// In each subtree except the last all ranks are done at once. The last one, of fewer ranks, lasts until the later of
/// it and its partner has met the other, which then passes on the received data, halving distances, and combines it
/// last.
///
/// # Complexity
/// O(log p).
pub(super) fn doubling_time(p: usize, bytes: u64, prices: &Prices) -> f64 {
    let block = bytes as f64 / p as f64;
    let (alpha, beta) = (prices.costs.alpha(), prices.costs.beta() * block);
    let combine = prices.combine * block;
    let round = |blocks: usize, messages: u32| {
        let blocks = blocks as f64;
        f64::from(messages) * (alpha + beta * blocks) + combine * blocks
    };
    // When complete subtrees are done, and the last one, which is not, and how many ranks that has.
    let (mut complete, mut last, mut ranks) = (0.0, 0.0, 0_usize);
    let mut mask = 1_usize;
    while mask < p {
        if p & mask != 0 {
            last = match ranks {
                0 => complete,
                _ => {
                    let handed_on = mask.ilog2() - ranks.ilog2();
                    f64::max(complete, last) + round(p - ranks, 1 + handed_on)
                }
            };
            ranks += mask;
        }
        complete += round(p - mask, 1);
        mask *= 2;
    }
    if mask == p { complete } else { last }
}
