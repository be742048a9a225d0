//! The libraries' own choices, and their losses.

use super::{LibraryAlgorithm, LinearTime, Prices, Tuning, algorithms, mpich, open_mpi};
use tuwtree_model::{ClosedSet, Operation, Order};

/// Rules by which libraries choose by themselves, as far as they are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "kebab-case")]
pub enum OwnRules {
    /// MPICH in 2005, as the paper on its algorithms states them.
    #[strum(serialize = "mpich-2005")]
    Mpich2005,
    /// MPICH 4.0 to 4.3.
    Mpich,
    /// Open MPI 4.1.4 to 5.0.
    OpenMpi,
}

impl OwnRules {
    /// The library, in words.
    pub fn title(self) -> &'static str {
        match self {
            OwnRules::Mpich2005 => "MPICH 2005",
            OwnRules::Mpich => "MPICH",
            OwnRules::OpenMpi => "Open MPI",
        }
    }
}

/// Loss of a library's own rule against the best of its algorithms, and against the best of all libraries'.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Regret {
    /// Against the best algorithm of the library.
    pub own: Factors,
    /// Than the best of all, that any library has.
    pub any_library: Factors,
}

/// Ratios to the best of several algorithms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Factors {
    /// The largest factor.
    pub worst: f64,
    /// Ranks and bytes of the worst case.
    pub at: (usize, u64),
    /// The mean of all factors.
    pub mean: f64,
}

/// MPICH's own rule, for built-in operators and enough elements; `None` if unknown.
///
/// # Source
/// The default selection of MPICH 4.0 to 4.3, `maint/tuning/coll/mpir/generic.json`.
pub fn mpich_rule(operation: Operation, p: usize, bytes: u64) -> Option<&'static LibraryAlgorithm> {
    let is_power = p.is_power_of_two();
    let name = match operation {
        Operation::Allgather => match (is_power, bytes) {
            (true, ..524_288) => "recursive-doubling",
            (false, ..81_920) => "bruck",
            _ => "ring",
        },
        Operation::Broadcast => match bytes {
            _ if p < 8 => "binomial",
            ..=12_288 => "binomial",
            ..=524_288 if is_power => "scatter-doubling",
            _ => "scatter-ring",
        },
        Operation::Allreduce if bytes <= 8 => "recursive-doubling",
        Operation::Reduce if bytes <= 2_048 => "binomial",
        Operation::Allreduce | Operation::Reduce => "rabenseifner-full",
        Operation::ReduceScatter if bytes < 524_288 => "halving",
        Operation::ReduceScatter => "pairwise",
        Operation::Alltoall => match bytes {
            ..=256 if p >= 8 => "bruck",
            ..=32_768 => "linear",
            _ => "pairwise",
        },
        Operation::IntergroupAllgather => "root-mpich",
        Operation::Gather | Operation::Scatter => return None,
    };
    algorithms(operation).iter().find(|one| one.name == name)
}

/// MPICH's rule in 2005 for built-in operators, where it differs from [`mpich_rule`].
///
/// # Source
/// R. Thakur, R. Rabenseifner, W. Gropp, IJHPCA 19(1), 2005, section 4. It gives no size for allreduces: that for reductions.
fn rule_of_2005(operation: Operation, p: usize, bytes: u64) -> Option<&'static LibraryAlgorithm> {
    let name = match (operation, bytes) {
        (Operation::Allreduce, ..=2_048) => "recursive-doubling",
        (Operation::Alltoall, ..=256) => "bruck",
        // Of 12 KB a vector is long.
        (Operation::Broadcast, 12_288) => return mpich_rule(operation, p, bytes + 1),
        (Operation::Broadcast, 524_288) => "scatter-ring",
        (Operation::IntergroupAllgather, _) => return None,
        _ => return mpich_rule(operation, p, bytes),
    };
    algorithms(operation).iter().find(|one| one.name == name)
}

/// A library's own choice for a number of ranks and size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OwnChoice {
    /// Our name for the algorithm, or the library's.
    pub name: &'static str,
    law: AlgorithmTime,
}

/// Law of an algorithm's time.
#[derive(Clone, Copy, Debug, PartialEq)]
enum AlgorithmTime {
    /// On sums of prices.
    Linear(LinearTime),
    /// The longer of two paths, again and again: a reduce-scatter by recursive doubling among this many ranks.
    Doubling(usize),
}

impl OwnChoice {
    pub(super) fn linear(name: &'static str, law: Option<LinearTime>) -> Option<OwnChoice> {
        law.map(|law| OwnChoice { name, law: AlgorithmTime::Linear(law) })
    }

    pub(super) fn doubling(name: &'static str, ranks: usize) -> OwnChoice {
        OwnChoice { name, law: AlgorithmTime::Doubling(ranks) }
    }

    /// The sums of prices that its time is, if it is one.
    pub(super) fn linear_time(self) -> Option<LinearTime> {
        match self.law {
            AlgorithmTime::Linear(law) => Some(law),
            AlgorithmTime::Doubling(_) => None,
        }
    }

    /// Its time.
    pub fn time(&self, bytes: u64, prices: &Prices) -> f64 {
        match self.law {
            AlgorithmTime::Linear(law) => law.time(bytes, prices),
            AlgorithmTime::Doubling(ranks) => mpich::doubling_time(ranks, bytes, prices),
        }
    }
}

/// A library's own choice; with [`Order::Ordered`] for operators that do not commute, whose operands keep rank order,
/// else for built-in ones. `None` if the choice or its time is unknown: for Open MPI the broadcast by scatter and
/// recursive doubling if `p` is no power of two. Roots are 0, blocks equal; MPICH's vectors have enough elements to be
/// cut, Open MPI's elements 8 bytes.
///
/// # Source
/// [`mpich_rule`]; the paper on MPICH's algorithms. Open MPI 4.1.4 to 5.0, `coll_tuned_decision_fixed.c` and
/// `ompi/mca/coll/base`: read, and not run.
pub fn own_rule(
    rules: OwnRules,
    (operation, order): (Operation, Order),
    p: usize,
    bytes: u64,
) -> Option<OwnChoice> {
    let is_ordered = asks_for_order(operation, order);
    let linear = |one: &LibraryAlgorithm| OwnChoice::linear(one.name, (one.law)(p));
    match rules {
        OwnRules::Mpich2005 if is_ordered => mpich::ordered_choice_of_2005(operation, p, bytes),
        OwnRules::Mpich if is_ordered => mpich::ordered_choice(operation, p),
        OwnRules::Mpich2005 => linear(rule_of_2005(operation, p, bytes)?),
        OwnRules::Mpich => linear(mpich_rule(operation, p, bytes)?),
        OwnRules::OpenMpi => open_mpi::choice(operation, order, p, bytes),
    }
}

/// True if operands must be combined in rank order.
fn asks_for_order(operation: Operation, order: Order) -> bool {
    operation.is_reduction() && order == Order::Ordered
}

/// All algorithms of a library with known rules, for operators of this order.
fn own_algorithms(
    rules: OwnRules,
    (operation, order): (Operation, Order),
    (p, bytes): (usize, u64),
) -> Vec<OwnChoice> {
    match rules {
        OwnRules::OpenMpi => open_mpi::all(operation, order, p, bytes).collect(),
        OwnRules::Mpich2005 if asks_for_order(operation, order) => {
            mpich::ordered_of_2005(operation, p).collect()
        }
        OwnRules::Mpich if asks_for_order(operation, order) => {
            mpich::ordered(operation, p).collect()
        }
        OwnRules::Mpich2005 | OwnRules::Mpich => {
            let own = algorithms(operation).iter().filter(|one| one.is_in(Tuning::Mpich));
            own.filter_map(|one| OwnChoice::linear(one.name, (one.law)(p))).collect()
        }
    }
}

/// True if the algorithm combines operands in rank order, with root 0.
fn keeps_order(algorithm: &LibraryAlgorithm) -> bool {
    let kept = ["binomial", "recursive-doubling", "rabenseifner-full", "rabenseifner-half"];
    kept.contains(&algorithm.name)
}

/// All algorithms of all libraries with known rules, and those of [`algorithms`], for operators of this order.
fn all_algorithms(
    (operation, order): (Operation, Order),
    (p, bytes): (usize, u64),
) -> Vec<OwnChoice> {
    let keeps = |one: &&LibraryAlgorithm| !asks_for_order(operation, order) || keeps_order(one);
    let known = algorithms(operation).iter().filter(keeps);
    let known = known.filter_map(|one| OwnChoice::linear(one.name, (one.law)(p)));
    let own =
        OwnRules::all().flat_map(|rules| own_algorithms(rules, (operation, order), (p, bytes)));
    known.chain(own).collect()
}

/// Loss of a library's own rule against the best algorithms for operators of this order, over all numbers of ranks and
/// powers of two as sizes for which [`own_rule`] is known; `None` without any.
///
/// # Complexity
/// O(ranks log(largest size) log(ranks)).
pub fn regret(
    rules: OwnRules,
    (operation, order): (Operation, Order),
    (first, last): (usize, usize),
    (least, largest): (u64, u64),
    prices: &Prices,
) -> Option<Regret> {
    let sizes = (0..u64::BITS).map(|power| 1_u64 << power);
    let sizes: Vec<u64> =
        sizes.filter(|size| (least..=largest).contains(size)).chain([least, largest]).collect();
    let none = Factors { worst: 1.0, at: (first, least), mean: 0.0 };
    let mut regret = Regret { own: none, any_library: none };
    let mut count = 0.0;
    for ranks in first..=last {
        for &bytes in &sizes {
            let reduction = (operation, order);
            let Some(chosen) = own_rule(rules, reduction, ranks, bytes) else { continue };
            let time = chosen.time(bytes, prices);
            let at = (ranks, bytes);
            count += 1.0;
            regret.own.add(time, &own_algorithms(rules, reduction, at), at, prices);
            regret.any_library.add(time, &all_algorithms(reduction, at), at, prices);
        }
    }
    regret.own.mean /= count;
    regret.any_library.mean /= count;
    (count > 0.0).then_some(regret)
}

impl Factors {
    /// Counts a time beside those of other algorithms at one number of ranks and size; the mean is still a sum.
    fn add(&mut self, time: f64, others: &[OwnChoice], at: (usize, u64), prices: &Prices) {
        let times = others.iter().map(|one| one.time(at.1, prices));
        let best = times.fold(f64::INFINITY, f64::min);
        let factor = if time == best { 1.0 } else { time / best };
        self.mean += factor;
        if factor > self.worst {
            (self.worst, self.at) = (factor, at);
        }
    }
}
