//! Algorithms of MPI libraries in `MPI_Gatherv` and `MPI_Scatterv`: the baselines of plans.
//!
//! All of them are linear: the root handles a message of each other rank. They differ by version in the
//! order, and in whether all messages are under way at once or each waits for the one before. Which of them
//! were run with this project, and which were only read, [`Library::knowledge`] says.

use tuwtree_model::{
    ClosedSet, Construction, Handling, Operation, Problem, Rank, Root, Service, Step, Time,
    TimeError, Tree, judged_time_as,
};

/// An MPI library, as of a version on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[derive(strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "kebab-case")]
pub enum Library {
    /// MPICH from 4.3 on.
    Mpich,
    /// MPICH 3.4 to 4.2.
    #[strum(serialize = "mpich-4.2")]
    Mpich42,
    /// Open MPI up to 5.0.
    #[strum(serialize = "open-mpi-5")]
    OpenMpi5,
    /// Open MPI from 6 on.
    #[strum(serialize = "open-mpi-6")]
    OpenMpi6,
    /// Intel MPI.
    Intel,
    /// SimGrid's SMPI 3.32, a simulator.
    Smpi,
}

/// Source of the knowledge of a library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[derive(strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "kebab-case")]
pub enum Knowledge {
    /// It was run.
    Run,
    /// Its source was read, and it was not run.
    Read,
    /// Neither: assumed to be as in other libraries.
    Assumed,
}

/// A setting that changes the algorithm of a library's own call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LibrarySetting {
    /// The resulting construction.
    pub construction: Construction,
    /// The setting, as a user writes it.
    pub words: &'static str,
    /// With other numbers of processes the library passes it over.
    is_for_powers_of_two: bool,
    /// True if the setting also affects operators that do not commute, whose results are then wrong.
    pub needs_commutative: bool,
}

impl LibrarySetting {
    /// True if it takes effect with this many processes.
    pub fn is_for(self, ranks: usize) -> bool {
        !self.is_for_powers_of_two || ranks.is_power_of_two()
    }
}

const fn setting(construction: Construction, words: &'static str) -> LibrarySetting {
    LibrarySetting { construction, words, is_for_powers_of_two: false, needs_commutative: false }
}

impl Library {
    /// The settings that change a library's algorithm for an operation on different blocks, if a construction performs
    /// it.
    ///
    /// # Source
    /// The variables `MPIR_CVAR_*` of MPICH 4.0.2 and what `ompi_info --param coll tuned --level 9` of Open MPI 4.1.4 lists:
    /// with each, these libraries, MPICH 5.0.2 and Open MPI 5.0.11 send the messages of the construction
    /// (`tests/other_programs/settings.rs`). Intel MPI's reference of 2021: its k-nomial gather was found, with
    /// powers of two, to be the binomial tree that gathers each group at its first rank, and is taken for the oblivious one,
    /// which does at the last.
    pub fn settings(self, operation: Operation) -> &'static [LibrarySetting] {
        const MPICH_ALLGATHER: [LibrarySetting; 3] = [
            setting(Construction::Ring, "MPIR_CVAR_ALLGATHERV_INTRA_ALGORITHM=ring"),
            setting(Construction::Bruck, "MPIR_CVAR_ALLGATHERV_INTRA_ALGORITHM=brucks"),
            LibrarySetting {
                construction: Construction::RecursiveDoubling,
                words: "MPIR_CVAR_ALLGATHERV_INTRA_ALGORITHM=recursive_doubling",
                is_for_powers_of_two: true,
                needs_commutative: false,
            },
        ];
        const MPICH_REDUCE_SCATTER: [LibrarySetting; 2] = [
            setting(Construction::Pairwise, "MPIR_CVAR_REDUCE_SCATTER_INTRA_ALGORITHM=pairwise"),
            setting(
                Construction::Halving,
                "MPIR_CVAR_REDUCE_SCATTER_INTRA_ALGORITHM=recursive_halving",
            ),
        ];
        const OPEN_MPI_ALLGATHER: [LibrarySetting; 2] = [
            setting(
                Construction::Ring,
                "mpirun --mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_allgatherv_algorithm 3",
            ),
            setting(
                Construction::Bruck,
                "mpirun --mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_allgatherv_algorithm 2",
            ),
        ];
        const OPEN_MPI_REDUCE_SCATTER: [LibrarySetting; 1] = [LibrarySetting {
            construction: Construction::Halving,
            words: "mpirun --mca coll_tuned_use_dynamic_rules 1 --mca coll_tuned_reduce_scatter_algorithm 2",
            is_for_powers_of_two: false,
            needs_commutative: true,
        }];
        const INTEL_GATHER: [LibrarySetting; 1] =
            [setting(Construction::Oblivious, "I_MPI_ADJUST_GATHERV=3")];
        match (self, operation) {
            (Library::Mpich | Library::Mpich42, Operation::Allgather) => &MPICH_ALLGATHER,
            (Library::Mpich | Library::Mpich42, Operation::ReduceScatter) => &MPICH_REDUCE_SCATTER,
            (Library::OpenMpi5 | Library::OpenMpi6, Operation::Allgather) => &OPEN_MPI_ALLGATHER,
            (Library::OpenMpi5 | Library::OpenMpi6, Operation::ReduceScatter) => {
                &OPEN_MPI_REDUCE_SCATTER
            }
            (Library::Intel, Operation::Gather) => &INTEL_GATHER,
            _ => &[],
        }
    }

    /// The library's name, with its version.
    pub fn title(self) -> &'static str {
        match self {
            Library::Mpich => "MPICH from 4.3",
            Library::Mpich42 => "MPICH 3.4 to 4.2",
            Library::OpenMpi5 => "Open MPI up to 5.0",
            Library::OpenMpi6 => "Open MPI from 6",
            Library::Intel => "Intel MPI",
            Library::Smpi => "SMPI 3.32",
        }
    }

    /// Other names of it: earlier versions that do the same, and other spellings.
    pub fn other_names(self) -> &'static [&'static str] {
        match self {
            Library::Mpich => &["mpich-4.3", "mpich-5"],
            Library::Mpich42 => &["mpich-3", "mpich-3.4", "mpich-4", "mpich-4.0", "mpich-4.1"],
            Library::OpenMpi5 => {
                &["open-mpi", "openmpi", "open-mpi-4", "open-mpi-3", "openmpi-4", "openmpi-5"]
            }
            Library::OpenMpi6 => &["openmpi-6"],
            Library::Intel => &["intel-mpi", "impi"],
            Library::Smpi => &["simgrid"],
        }
    }

    /// The library that a text names as the library calls itself, such as the provenance of costs that were measured
    /// with it; `None` if it names none.
    ///
    /// # Example
    /// ```
    /// use tuwtree_plan::Library;
    /// let measured = "Measured with 16 processes, Open MPI v4.1.4, package: Debian OpenMPI";
    /// assert_eq!(Library::named(measured), Some(Library::OpenMpi5));
    /// ```
    pub fn named(text: &str) -> Option<Library> {
        let after = |name: &str| text.split_once(name).map(|(_, rest)| rest);
        let version = |rest: &str| {
            let rest = rest.trim_start_matches(|one: char| !one.is_ascii_digit());
            let mut numbers = rest.split(|one: char| !one.is_ascii_digit());
            let mut next = || numbers.next()?.parse::<u32>().ok();
            Some((next()?, next()?))
        };
        if let Some(rest) = after("Open MPI v") {
            let is_old = version(rest)?.0 <= 5;
            return Some(if is_old { Library::OpenMpi5 } else { Library::OpenMpi6 });
        }
        if let Some(rest) = after("MPICH Version:") {
            let is_old = version(rest)? <= (4, 2);
            return Some(if is_old { Library::Mpich42 } else { Library::Mpich });
        }
        after("Intel(R) MPI").map(|_| Library::Intel)
    }

    /// Its algorithm, in a few words.
    pub fn summary(self) -> &'static str {
        match self {
            Library::Mpich => "all receives posted, plain sends; all sends begun",
            Library::Mpich42 => {
                "all receives posted, synchronous sends from 32 processes on; all sends begun"
            }
            Library::OpenMpi5 => "one receive after the other, one send after the other",
            Library::OpenMpi6 => {
                "all receives posted, from the rank after the root on; one send after the other"
            }
            Library::Intel => "taken to post all receives and to begin all sends",
            Library::Smpi => {
                "all receives posted, all sends begun, empty messages too (a simulator)"
            }
        }
    }

    /// The algorithm of its gather or scatter, in a few words.
    pub fn algorithm(self, operation: Operation) -> &'static str {
        let habits = self.habits(operation.is_outward());
        match (habits.handling.service, operation.is_outward()) {
            (Service::AllPosted, false) => "all receives posted",
            (Service::AllPosted, true) => "all sends begun",
            (Service::OneByOne, false) => "one receive after the other",
            (Service::OneByOne, true) => "one send after the other",
        }
    }

    /// Source of that knowledge.
    ///
    /// # Source
    /// MPICH: `gatherv_allcomm_linear.c` of 3.4, 4.0.2 (run), 4.2.0 and main (since commit 503c7e5708 without
    /// synchronous sends). Open MPI: `coll_basic_gatherv.c` of 4.1.4 (run) to 5.0.9 and main (3aefc86ecc).
    pub fn knowledge(self) -> Knowledge {
        match self {
            Library::Mpich42 | Library::OpenMpi5 | Library::Smpi => Knowledge::Run,
            Library::Mpich | Library::OpenMpi6 => Knowledge::Read,
            Library::Intel => Knowledge::Assumed,
        }
    }

    /// True if programs run on it; false for a simulator.
    fn is_real(self) -> bool {
        match self {
            Library::Smpi => false,
            Library::Mpich
            | Library::Mpich42
            | Library::OpenMpi5
            | Library::OpenMpi6
            | Library::Intel => true,
        }
    }

    /// Message handling of its ranks, and the root's order.
    fn habits(self, is_outward: bool) -> Habits {
        let posted = Service::AllPosted;
        match self {
            Library::Mpich | Library::Mpich42 | Library::Intel => Habits::plain(posted),
            Library::OpenMpi5 => Habits::plain(Service::OneByOne),
            Library::OpenMpi6 if is_outward => Habits::plain(Service::OneByOne),
            Library::OpenMpi6 => Habits { starts_after_root: true, ..Habits::plain(posted) },
            Library::Smpi => Habits {
                handling: Handling { service: posted, sends_empty: true, ignores_window: true },
                starts_after_root: false,
            },
        }
    }
}

/// Differences between linear algorithms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Habits {
    handling: Handling,
    /// Ranks are served from the one after the root on, rather than from 0.
    starts_after_root: bool,
}

impl Habits {
    fn plain(service: Service) -> Habits {
        let handling = Handling { service, sends_empty: false, ignores_window: true };
        Habits { handling, starts_after_root: false }
    }

    /// The star, in the order in which the root serves ranks.
    fn star(self, problem: &Problem, root: Rank) -> Tree {
        let ranks = problem.ranks();
        let start = if self.starts_after_root { root + 1 } else { 0 };
        let mut order: Vec<Rank> = (0..ranks).map(|place| (start + place) % ranks).collect();
        if problem.operation().is_outward() {
            // A scatter performs a tree's steps backwards.
            order.reverse();
        }
        let step = |rank| if rank == root { Step::Copy } else { Step::Receive(rank) };
        let steps = order.into_iter().filter(|_| ranks > 1).map(|rank| (root, step(rank)));
        let steps: Vec<(Rank, Step)> = steps.collect();
        Tree::new(ranks, root, &steps).expect("every other rank sends once")
    }
}

/// Time of a library's own call for a problem.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Baseline {
    /// The library.
    pub library: Library,
    /// The root: the problem's, or the one that was asked for in its place.
    pub root: Rank,
    /// The time, by the judge where latency overlaps.
    pub time: Time,
}

/// Times of each library's own call for a gather or scatter on one port, in the order of
/// [`Library::ALL`](ClosedSet::ALL); none for other operations. An open root of the problem is this one.
///
/// # Errors
/// [`TimeError`]: a rank without a link to the root, times that cannot be stated.
///
/// # Complexity
/// O(p log p).
pub fn baselines(problem: &Problem, root: Rank) -> Result<Vec<Baseline>, TimeError> {
    if problem.blocks().is_none() || problem.ports() != tuwtree_model::Ports::ONE {
        return Ok(Vec::new());
    }
    let root = match problem.root() {
        Root::Given(root) => root,
        Root::Best => root,
        Root::None => return Ok(Vec::new()),
    };
    let is_outward = problem.operation().is_outward();
    let mut known: Vec<(Habits, Time)> = Vec::new();
    let mut all = Vec::new();
    for library in Library::all() {
        let habits = library.habits(is_outward);
        let time = match known.iter().find(|(other, _)| *other == habits) {
            Some(&(_, time)) => time,
            None => judged_time_as(&habits.star(problem, root), problem, habits.handling)?,
        };
        known.push((habits, time));
        all.push(Baseline { library, root, time });
    }
    Ok(all)
}

/// The baseline of the named library, or else of the fastest real one; among equally fast ones, up to rounding, the
/// first.
pub(crate) fn chosen(all: &[Baseline], named: Option<Library>) -> Option<Baseline> {
    match named {
        Some(library) => all.iter().copied().find(|one| one.library == library),
        None => {
            let mut real = all.iter().copied().filter(|one| one.library.is_real());
            let least = real.clone().map(|one| one.time).min()?;
            real.find(|one| one.time.units() <= least.units() * (1.0 + 1e-9))
        }
    }
}

/// Judged time of the named library's own call, in time units; `None` for a library without known rules, without a
/// given root, or where the time cannot be stated.
pub fn judged_library(problem: &Problem, name: &str) -> Option<f64> {
    let library = Library::named(name)?;
    let Root::Given(root) = problem.root() else { return None };
    let all = baselines(problem, root).ok()?;
    all.iter().find(|one| one.library == library).map(|one| one.time.units())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tuwtree_model::document::{Date, Machine};
    use tuwtree_model::{BlockSizes, Homogeneous, Network, StatedCosts};

    /// alpha = 8 + 2, beta = 1, no copies; messages beyond the limit wait for their turn.
    fn problem(operation: Operation, blocks: &[u64], eager_limit: Option<u64>) -> Problem {
        let costs = Homogeneous::new(10.0, 1.0, 0.0).unwrap().with_overhead(2.0).unwrap();
        let machine = StatedCosts::from(Machine {
            name: "five".into(),
            date: Date::parse("2026-11-22").unwrap(),
            provenance: "made up".into(),
            costs: costs.into(),
            network: Network { eager_limit, ..Network::default() },
            combine_per_byte: 0.0,
        });
        Problem::new(operation, BlockSizes::new(blocks.iter().copied()).unwrap(), machine).unwrap()
    }

    #[test]
    fn libraries_are_known_by_what_they_call_themselves() {
        for (name, library) in [
            ("Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4", Some(Library::OpenMpi5)),
            ("Open MPI v6.1.0a1", Some(Library::OpenMpi6)),
            ("MPICH Version:      4.0.2", Some(Library::Mpich42)),
            ("MPICH Version:\t4.3.0\nMPICH Release date", Some(Library::Mpich)),
            ("Intel(R) MPI Library 2021.9", Some(Library::Intel)),
            ("MVAPICH2 Version: 2.3", None),
        ] {
            assert_eq!(Library::named(name), library, "{name}");
        }
    }

    #[test]
    fn settings_are_of_constructions_for_their_operation() {
        for library in Library::all() {
            for operation in Operation::all() {
                for setting in library.settings(operation) {
                    assert!(setting.construction.performs(operation), "{setting:?}");
                }
            }
        }
    }

    #[test]
    fn a_setting_for_powers_of_two_is_not_named_for_other_numbers_of_processes() {
        for library in [Library::Mpich, Library::Mpich42] {
            let named = |ranks: usize| -> Vec<Construction> {
                let settings = library.settings(Operation::Allgather).iter();
                let named = settings.filter(|setting| setting.is_for(ranks));
                named.map(|setting| setting.construction).collect()
            };
            let always = [Construction::Ring, Construction::Bruck];
            assert_eq!(named(6), always);
            assert_eq!(named(8), [&always[..], &[Construction::RecursiveDoubling]].concat());
        }
    }

    fn judged(problem: &Problem, library: Library) -> f64 {
        let all = baselines(problem, 0).unwrap();
        all.iter().find(|one| one.library == library).unwrap().time.units()
    }

    #[test]
    fn equal_blocks_cost_one_latency_where_receives_are_posted_and_one_each_where_they_are_not() {
        let eager = problem(Operation::Gather, &[0, 3, 3, 3, 3], None);
        let late = problem(Operation::Gather, &[0, 3, 3, 3, 3], Some(0));
        for library in Library::all() {
            assert_eq!(judged(&eager, library), 8.0 + 4.0 * 5.0, "{}", library.title());
        }
        assert_eq!(judged(&late, Library::Mpich), 8.0 + 4.0 * 5.0);
        assert_eq!(judged(&late, Library::OpenMpi6), 8.0 + 4.0 * 5.0);
        assert_eq!(judged(&late, Library::OpenMpi5), 4.0 * (8.0 + 5.0));
    }

    #[test]
    fn a_simulator_sends_empty_messages_and_libraries_do_not() {
        let empty = problem(Operation::Gather, &[0, 0, 0, 7, 0], None);
        assert_eq!(judged(&empty, Library::Mpich), 8.0 + 9.0);
        assert!(judged(&empty, Library::Smpi) > 8.0 + 9.0);
    }

    #[test]
    fn scatters_begin_all_sends_at_once_or_wait_for_each() {
        let late = problem(Operation::Scatter, &[0, 3, 3, 3, 3], Some(0));
        // A send is begun every 3, the overhead of a byte; the four share the wire, on which each needs 5.
        assert_eq!(judged(&late, Library::Mpich), 8.0 + 4.0 * 5.0);
        for library in [Library::OpenMpi5, Library::OpenMpi6] {
            assert_eq!(judged(&late, library), 4.0 * (8.0 + 5.0));
        }
    }

    #[test]
    fn in_the_one_port_model_all_libraries_take_what_the_star_takes() {
        let sizes = BlockSizes::new([4, 0, 2, 9]).unwrap();
        let costs = Homogeneous::new(10.0, 1.0, 1.0).unwrap();
        for operation in Operation::irregular() {
            let Ok(problem) = Problem::new(operation, sizes.clone(), costs) else { continue };
            for one in baselines(&problem, 2).unwrap() {
                assert_eq!(one.time.units(), 10.0 + 4.0 + 2.0 + 10.0 + 9.0, "{:?}", one.library);
            }
        }
    }

    #[test]
    fn gains_are_said_against_the_fastest_library_that_programs_run_on_or_the_one_named() {
        let late = problem(Operation::Gather, &[0, 3, 3, 3, 3], Some(0));
        let all = baselines(&late, 0).unwrap();
        let library = |named| chosen(&all, named).map(|one| one.library);
        assert_eq!(library(None), Some(Library::Mpich));
        assert_eq!(library(Some(Library::OpenMpi5)), Some(Library::OpenMpi5));
        assert_eq!(chosen(&[], None), None);
    }
}
