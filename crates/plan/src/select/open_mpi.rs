//! What Open MPI chooses by itself for an allgather.

use super::{ALLGATHER, LibraryAlgorithm, law, others};

/// Pairs of neighbours that exchange two blocks a round; for an even number of ranks.
const NEIGHBOR: LibraryAlgorithm = LibraryAlgorithm {
    name: "neighbor",
    mpich: None,
    open_mpi: Some((5, "neighbor")),
    ucc: None,
    intel: None,
    law: |p| match p % 2 {
        0 => law(p as f64 / 2.0, others(p), 0.0),
        _ => None,
    },
};

/// Up to which size of a rank's block, exclusively, which of Open MPI's numbers is chosen; the last is for all larger ones.
type Steps = &'static [(u64, u8)];

const ANY: u64 = u64::MAX;

/// Below how many ranks which steps hold; two ranks exchange.
const RULES: [(usize, Steps); 9] = [
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

/// What Open MPI 4.1 to 5.0 chooses for an allgather of so many bytes in all. Where its recursive doubling is not for
/// so many ranks it takes Bruck's algorithm, and the ring in place of exchanges of neighbours.
///
/// # Source
/// `coll_tuned_decision_fixed.c`, `coll_base_allgather.c`: read, and not run.
pub(super) fn allgather(p: usize, bytes: u64) -> &'static LibraryAlgorithm {
    let named = |name: &str| {
        let known = ALLGATHER.iter().find(|one| one.name == name);
        known.expect("an allgather of this name")
    };
    // Two ranks exchange their blocks, as in recursive doubling.
    let (_, steps) = RULES.iter().find(|(ranks, _)| p < *ranks).unwrap_or(&RULES[RULES.len() - 1]);
    let block = bytes / p as u64;
    let step = steps.iter().find(|(below, _)| block < *below).unwrap_or(&steps[steps.len() - 1]);
    match step.1 {
        3 if p.is_power_of_two() => named("recursive-doubling"),
        2 | 3 => named("bruck"),
        5 if p.is_multiple_of(2) => &NEIGHBOR,
        _ => named("ring"),
    }
}

/// All that it may choose.
pub(super) fn allgathers() -> impl Iterator<Item = &'static LibraryAlgorithm> {
    ALLGATHER.iter().chain(std::iter::once(&NEIGHBOR))
}
