//! Tuning of MPI libraries: the best algorithm by number of ranks and amount of data, and the losses of a library's own
//! rule.
//!
//! All algorithms here are for data that is spread evenly, and take times that are linear in its size
//! ([`LinearTime`]); so for each number of ranks there are finitely many sizes at which the best one changes, and they are
//! found exactly. No library can see in its rules how data is spread: for blocks that differ, schedules are the
//! answer.
//!
//! # Source
//! Times: R. Thakur, R. Rabenseifner, W. Gropp, IJHPCA 19(1), 2005; held against simulations of schedules. Names and
//! numbers: MPICH 4.0 and later, Open MPI 4.1 and later, UCC 1.4, Intel MPI 2021.

mod mpich;
mod open_mpi;
mod own;
mod rules;

pub use own::{Factors, OwnChoice, OwnRules, Regret, mpich_rule, own_rule, regret};
pub use rules::{Function, Rules};

use tuwtree_collective::broadcast::{Gathering, scatter_allgather_time};
use tuwtree_model::{Collective, Homogeneous, Operation, Problem, Root, Vector};

/// The time of an algorithm for one number of ranks, `alphas alpha + n (sent beta + combined kappa + copied gamma)`.
///
/// `n` is the library's size: of an allgather (of both groups, if there are two) and a reduce-scatter all data, of broadcast, reduce and allreduce the
/// vector, of an alltoall one message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinearTime {
    /// Messages one after the other.
    pub alphas: f64,
    /// Bytes sent one after the other, per byte.
    pub sent: f64,
    /// Bytes combined one after the other, per byte.
    pub combined: f64,
    /// Bytes copied besides, per byte.
    pub copied: f64,
}

/// An algorithm of MPI libraries.
#[derive(Debug)]
pub struct LibraryAlgorithm {
    /// Our name for it.
    pub name: &'static str,
    /// MPICH's, behind `MPIR_Allgather_intra_` or the like.
    pub mpich: Option<&'static str>,
    /// Open MPI's number and name.
    pub open_mpi: Option<(u8, &'static str)>,
    /// UCC's name or number.
    pub ucc: Option<&'static str>,
    /// Intel MPI's number.
    pub intel: Option<u8>,
    /// Its time for this many ranks; `None` if it is not for them.
    law: fn(usize) -> Option<LinearTime>,
}

/// A library that reads which algorithm to use, or a form in which it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "kebab-case")]
pub enum Tuning {
    /// MPICH: a JSON file that replaces its own.
    Mpich,
    /// Open MPI: a file of numbers.
    OpenMpi,
    /// Open MPI from 6.0 on: a JSON file.
    OpenMpiJson,
    /// UCC: an environment variable.
    Ucc,
    /// Intel MPI: environment variables.
    Intel,
}

/// From which size on an algorithm is used.
#[derive(Clone, Copy, Debug)]
pub struct SizeRange {
    /// The least size, in the meaning of [`LinearTime`].
    pub from_bytes: u64,
    /// The fastest from there on, up to the next range.
    pub algorithm: &'static LibraryAlgorithm,
}

/// Best algorithms for several numbers of ranks.
#[derive(Clone, Debug)]
pub struct Decision {
    /// The least and the largest number of ranks.
    pub ranks: (usize, usize),
    /// By size, ascending; at least one.
    pub ranges: Vec<SizeRange>,
}

/// Costs of messages and of combining, equal for all pairs.
#[derive(Clone, Copy, Debug)]
pub struct Prices {
    /// Of messages and copies.
    pub costs: Homogeneous,
    /// kappa, the time per byte of combining.
    pub combine: f64,
}

impl LinearTime {
    /// Both, one after the other.
    fn then(self, next: LinearTime) -> LinearTime {
        LinearTime {
            alphas: self.alphas + next.alphas,
            sent: self.sent + next.sent,
            combined: self.combined + next.combined,
            copied: self.copied + next.copied,
        }
    }

    fn time(self, bytes: u64, prices: &Prices) -> f64 {
        let Prices { costs, combine } = prices;
        let each = self.sent * costs.beta() + self.combined * combine + self.copied * costs.gamma();
        self.alphas * costs.alpha() + bytes as f64 * each
    }
}

impl LibraryAlgorithm {
    /// Its time; `None` if it is not for this many ranks.
    ///
    /// # Example
    /// ```
    /// use tuwtree_model::{Homogeneous, Operation};
    /// use tuwtree_tuning::{algorithms, Prices};
    /// let prices = Prices { costs: Homogeneous::new(10.0, 1.0, 0.0).unwrap(), combine: 0.0 };
    /// let ring = algorithms(Operation::Allgather).iter().find(|one| one.name == "ring").unwrap();
    /// assert_eq!(ring.time(5, 40, &prices), Some(72.0));
    /// ```
    pub fn time(&self, ranks: usize, bytes: u64, prices: &Prices) -> Option<f64> {
        (self.law)(ranks).map(|law| law.time(bytes, prices))
    }

    /// True if a library has it.
    pub fn is_in(&self, tuning: Tuning) -> bool {
        match tuning {
            Tuning::Mpich => self.mpich.is_some(),
            Tuning::OpenMpi | Tuning::OpenMpiJson => self.open_mpi.is_some(),
            Tuning::Ucc => self.ucc.is_some(),
            Tuning::Intel => self.intel.is_some(),
        }
    }
}

/// `ceil(lg p)`.
fn ceil_log(p: usize) -> f64 {
    f64::from(p.next_power_of_two().ilog2())
}

/// All shares except one: `(p - 1)/p`.
fn others(p: usize) -> f64 {
    (p - 1) as f64 / p as f64
}

/// A law without copies.
const fn law(alphas: f64, sent: f64, combined: f64) -> Option<LinearTime> {
    Some(LinearTime { alphas, sent, combined, copied: 0.0 })
}

/// A law for powers of two only.
fn for_powers(p: usize, law: Option<LinearTime>) -> Option<LinearTime> {
    law.filter(|_| p.is_power_of_two())
}

const ALLGATHER: [LibraryAlgorithm; 3] = [
    LibraryAlgorithm {
        name: "recursive-doubling",
        mpich: Some("recursive_doubling"),
        open_mpi: Some((3, "recursive_doubling")),
        ucc: None,
        intel: Some(1),
        law: |p| for_powers(p, law(ceil_log(p), others(p), 0.0)),
    },
    LibraryAlgorithm {
        name: "bruck",
        mpich: Some("brucks"),
        open_mpi: Some((2, "bruck")),
        ucc: Some("bruck"),
        intel: Some(2),
        // At last all blocks are put in order.
        law: |p| law(ceil_log(p), others(p), 0.0).map(|law| LinearTime { copied: 1.0, ..law }),
    },
    LibraryAlgorithm {
        name: "ring",
        mpich: Some("ring"),
        open_mpi: Some((4, "ring")),
        ucc: Some("ring"),
        intel: Some(3),
        law: |p| law((p - 1) as f64, others(p), 0.0),
    },
];

const BROADCAST: [LibraryAlgorithm; 4] = [
    LibraryAlgorithm {
        name: "binomial",
        mpich: Some("binomial"),
        open_mpi: Some((6, "binomial")),
        ucc: Some("0"),
        intel: Some(1),
        law: |p| law(ceil_log(p), ceil_log(p), 0.0),
    },
    LibraryAlgorithm {
        name: "scatter-doubling",
        mpich: Some("scatter_recursive_doubling_allgather"),
        open_mpi: Some((8, "scatter_allgather")),
        ucc: Some("1"),
        intel: Some(2),
        law: |p| for_powers(p, law(2.0 * ceil_log(p), 2.0 * others(p), 0.0)),
    },
    LibraryAlgorithm {
        // MPICH's MPI_Bcast takes it for any p, its MPI_Ibcast does not: no file names it.
        name: "scatter-doubling",
        mpich: None,
        open_mpi: None,
        ucc: None,
        intel: None,
        law: scatter_doubling,
    },
    LibraryAlgorithm {
        name: "scatter-ring",
        mpich: Some("scatter_ring_allgather"),
        open_mpi: Some((9, "scatter_allgather_ring")),
        ucc: None,
        intel: Some(3),
        law: |p| law(ceil_log(p) + (p - 1) as f64, 2.0 * others(p), 0.0),
    },
];

/// `lg` of the largest power of two that is not larger, and that power.
fn floor_log(p: usize) -> (f64, f64) {
    (f64::from(p.ilog2()), (1_usize << p.ilog2()) as f64)
}

/// Rabenseifner's: a power of two of ranks halves the vector and brings the parts together. `rest` is what ranks beyond it
/// add: messages, vectors sent, vectors combined.
fn rabenseifner(p: usize, rest: [f64; 3]) -> Option<LinearTime> {
    let (floor, active) = floor_log(p);
    let [alphas, sent, combined] = if p.is_power_of_two() { [0.0; 3] } else { rest };
    law(2.0 * floor + alphas, sent + 2.0 - 2.0 / active, combined + 1.0 - 1.0 / active)
}

const ALLREDUCE: [LibraryAlgorithm; 4] = [
    LibraryAlgorithm {
        name: "recursive-doubling",
        mpich: Some("recursive_doubling"),
        open_mpi: Some((3, "recursive_doubling")),
        ucc: Some("0"),
        intel: Some(1),
        law: |p| {
            let (floor, _) = floor_log(p);
            match p.is_power_of_two() {
                true => law(floor, floor, floor),
                false => law(floor + 2.0, floor + 2.0, floor + 1.0),
            }
        },
    },
    LibraryAlgorithm {
        name: "rabenseifner-full",
        mpich: Some("reduce_scatter_allgather"),
        open_mpi: None,
        ucc: Some("1"),
        intel: Some(2),
        law: |p| rabenseifner(p, [2.0, 2.0, 1.0]),
    },
    LibraryAlgorithm {
        name: "rabenseifner-half",
        mpich: None,
        open_mpi: Some((6, "rabenseifner")),
        ucc: None,
        intel: None,
        law: |p| rabenseifner(p, [3.0, 2.0, 0.5]),
    },
    LibraryAlgorithm {
        name: "ring",
        // From 4.1 on; older ones refuse a file that names it.
        mpich: None,
        open_mpi: Some((4, "ring")),
        ucc: Some("ring"),
        intel: Some(8),
        law: |p| law(2.0 * (p - 1) as f64, 2.0 * others(p), others(p)),
    },
];

const REDUCE: [LibraryAlgorithm; 3] = [
    LibraryAlgorithm {
        name: "binomial",
        mpich: Some("binomial"),
        open_mpi: Some((5, "binomial")),
        ucc: Some("0"),
        intel: Some(2),
        law: |p| law(ceil_log(p), ceil_log(p), ceil_log(p)),
    },
    LibraryAlgorithm {
        name: "rabenseifner-full",
        mpich: Some("reduce_scatter_gather"),
        open_mpi: None,
        ucc: Some("2"),
        intel: Some(5),
        law: |p| rabenseifner(p, [1.0, 1.0, 1.0]),
    },
    LibraryAlgorithm {
        name: "rabenseifner-half",
        mpich: None,
        open_mpi: Some((7, "rabenseifner")),
        ucc: None,
        intel: None,
        law: |p| rabenseifner(p, [2.0, 1.0, 0.5]),
    },
];

const REDUCE_SCATTER: [LibraryAlgorithm; 2] = [
    LibraryAlgorithm {
        name: "halving",
        mpich: Some("recursive_halving"),
        open_mpi: Some((2, "recursive_halving")),
        ucc: Some("knomial"),
        intel: Some(1),
        law: |p| {
            let (floor, _) = floor_log(p);
            let active = 1_usize << p.ilog2();
            let halves = (1..=p.ilog2()).map(|step| active >> step);
            let sum = p + halves.map(|half| half + half.min(p - active)).sum::<usize>();
            let blocks = |count: usize| count as f64 / p as f64;
            match p.is_power_of_two() {
                true => law(floor, others(p), others(p)),
                false => law(floor + 2.0, blocks(sum + 1), blocks(sum)),
            }
        },
    },
    LibraryAlgorithm {
        name: "pairwise",
        mpich: Some("pairwise"),
        open_mpi: Some((3, "ring")),
        ucc: Some("ring"),
        intel: Some(2),
        law: |p| law((p - 1) as f64, others(p), others(p)),
    },
];

const ALLTOALL: [LibraryAlgorithm; 3] = [
    LibraryAlgorithm {
        name: "bruck",
        mpich: Some("brucks"),
        open_mpi: Some((3, "modified_bruck")),
        ucc: Some("bruck"),
        intel: Some(1),
        // Two rotations, and what is sent is packed and unpacked.
        law: |p| {
            let sent = (0..p).map(usize::count_ones).sum::<u32>().into();
            let copied = 2.0 * (p as f64 + sent);
            law(ceil_log(p), sent, 0.0).map(|law| LinearTime { copied, ..law })
        },
    },
    LibraryAlgorithm {
        name: "linear",
        mpich: Some("scattered"),
        open_mpi: Some((1, "linear")),
        ucc: None,
        intel: Some(2),
        law: |p| law((p - 1) as f64, (p - 1) as f64, 0.0),
    },
    LibraryAlgorithm {
        name: "pairwise",
        mpich: Some("pairwise"),
        open_mpi: Some((2, "pairwise")),
        ucc: Some("pairwise"),
        intel: Some(3),
        law: |p| law((p - 1) as f64, (p - 1) as f64, 0.0),
    },
];

/// The most ranks for which [`scatter_doubling`] is computed.
const MOST_DOUBLING: usize = 4096;

/// The scatter and recursive doubling among ranks whose number is no power of two, of which some hand on what others got:
/// the most messages and the most bytes of any chain. Where two chains have these, an upper bound: for 9 of the 44
/// numbers up to 50, by at most 6.6 %.
fn scatter_doubling(p: usize) -> Option<LinearTime> {
    if p.is_power_of_two() || p > MOST_DOUBLING {
        return None;
    }
    let taken = |alpha, beta| {
        let costs = Homogeneous::new(alpha, beta, 0.0).ok()?;
        let broadcast = Collective::broadcast(Vector { ranks: p, bytes: p as u64 });
        let problem = Problem::of(broadcast, costs).ok()?.with_root(Root::Given(0)).ok()?;
        Some(scatter_allgather_time(&problem, Gathering::Doubling).ok()?.units())
    };
    law(taken(1.0, 0.0)?, taken(0.0, 1.0)? / p as f64, 0.0)
}

/// Of two groups of as many ranks, blocks of one size.
const INTERGROUP_ALLGATHER: [LibraryAlgorithm; 3] = [
    LibraryAlgorithm {
        name: "paired",
        mpich: None,
        open_mpi: None,
        ucc: None,
        intel: None,
        law: |p| of_groups(p, |group, log| [1.0 + log, group]),
    },
    LibraryAlgorithm {
        // Blocks come together, and one group's are sent, scattered and gathered around a ring before the other's.
        name: "root-mpich",
        mpich: Some("local_gather_remote_bcast"),
        open_mpi: None,
        ucc: None,
        intel: None,
        law: |p| of_groups(p, |group, log| [3.0 * log + 2.0 * group, 7.0 * group - 5.0]),
    },
    LibraryAlgorithm {
        // Each root receives the other group's blocks one by one.
        name: "root-mpich-v",
        mpich: Some("remote_gather_local_bcast"),
        open_mpi: None,
        ucc: None,
        intel: None,
        law: |p| of_groups(p, |group, log| [log + 2.0 * group, (log + 2.0) * group]),
    },
];

/// The time of an intergroup allgather from the ranks of a group, and `ceil(lg)` of them: messages, and blocks sent.
fn of_groups(p: usize, time: impl Fn(f64, f64) -> [f64; 2]) -> Option<LinearTime> {
    let group = p / 2;
    let [alphas, blocks] = time(group as f64, ceil_log(group));
    law(alphas, blocks / p as f64, 0.0).filter(|_| p.is_multiple_of(2))
}

/// The algorithms of an operation; none if libraries do not choose by size, or nothing is known of it.
pub fn algorithms(operation: Operation) -> &'static [LibraryAlgorithm] {
    match operation {
        Operation::Allgather => &ALLGATHER,
        Operation::Broadcast => &BROADCAST,
        Operation::Allreduce => &ALLREDUCE,
        Operation::Reduce => &REDUCE,
        Operation::ReduceScatter => &REDUCE_SCATTER,
        Operation::Alltoall => &ALLTOALL,
        Operation::IntergroupAllgather => &INTERGROUP_ALLGATHER,
        Operation::Gather | Operation::Scatter => &[],
    }
}

/// The fastest algorithms of an operation for this many ranks, from the least to the largest size; among equally fast
/// ones the first. With rules, those of their library. Empty if there are none.
///
/// # Panics
/// For no ranks.
///
/// # Complexity
/// O(log(largest size)) for each range.
pub fn decide(
    operation: Operation,
    ranks: usize,
    (least, largest): (u64, u64),
    prices: &Prices,
    rules: Option<Rules>,
) -> Vec<SizeRange> {
    let known: Vec<(&'static LibraryAlgorithm, LinearTime)> = algorithms(operation)
        .iter()
        .filter(|one| rules.is_none_or(|rules| rules.compare(one)))
        .filter_map(|one| (one.law)(ranks).map(|law| (one, law)))
        .collect();
    if known.is_empty() {
        return Vec::new();
    }
    let best = |bytes: u64| {
        let times = known.iter().map(|(_, law)| law.time(bytes, prices));
        let least = times.enumerate().min_by(|(_, one), (_, other)| one.total_cmp(other));
        least.expect("there are some").0
    };
    let mut ranges = vec![SizeRange { from_bytes: least, algorithm: known[best(least)].0 }];
    let mut from = least;
    // Each is best on one range of sizes, since the least of linear times is concave.
    while from < largest && best(from) != best(largest) {
        let (mut same, mut other) = (from, largest);
        while other - same > 1 {
            let middle = same + (other - same) / 2;
            match best(middle) == best(from) {
                true => same = middle,
                false => other = middle,
            }
        }
        ranges.push(SizeRange { from_bytes: other, algorithm: known[best(other)].0 });
        from = other;
    }
    ranges
}

/// Distance of the sizes at which numbers of ranks change their algorithm, up to which they share one decision: with
/// rules, the sizes by which the library chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Merge {
    /// Equal sizes.
    Equal,
    /// Within 10 per cent of the sizes of the least number of ranks.
    Coarse,
}

/// Best algorithms for each number of ranks, neighbours with one decision together; empty if nothing is known. The
/// sizes of a decision are those of its least number of ranks.
///
/// # Complexity
/// That of [`decide`] for each number of ranks.
pub fn decisions(
    operation: Operation,
    (first, last): (usize, usize),
    bytes: (u64, u64),
    prices: &Prices,
    (rules, merge): (Option<Rules>, Merge),
) -> Vec<Decision> {
    let mut all: Vec<Decision> = Vec::new();
    for ranks in first..=last {
        let ranges = decide(operation, ranks, bytes, prices, rules);
        let decision = Decision { ranks: (ranks, ranks), ranges };
        match all.last_mut() {
            Some(before) if are_alike(before, &decision, (rules, merge)) => {
                before.ranks.1 = ranks;
            }
            _ if decision.ranges.is_empty() => {}
            _ => all.push(decision),
        }
    }
    all
}

fn are_alike(one: &Decision, other: &Decision, (rules, merge): (Option<Rules>, Merge)) -> bool {
    let is_near = |one: u64, other: u64| match merge {
        Merge::Equal => one == other,
        Merge::Coarse => one.abs_diff(other) <= one / 10,
    };
    let size = |decision: &Decision, range: &SizeRange| {
        rules.map_or(range.from_bytes, |rules| rules.size(range.from_bytes, decision.ranks.0))
    };
    let mut pairs = one.ranges.iter().zip(&other.ranges).enumerate();
    one.ranges.len() == other.ranges.len()
        && pairs.all(|(index, (first, second))| {
            // All begin with the least size.
            let is_same = index == 0 || is_near(size(one, first), size(other, second));
            first.algorithm.name == second.algorithm.name && is_same
        })
}
