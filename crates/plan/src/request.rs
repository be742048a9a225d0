//! What is asked of the catalogue: a problem, settings, and which tree.

use crate::catalogue::{self, LocalSearch, shares_one_law};
use crate::error::{NoTree, PlanError};
use crate::expense::{Effort, Expense, LIMIT_BESIDE_BETTER_SECONDS, LIMIT_SECONDS};
use crate::library::Library;
use crate::plan::Plan;
use tuwtree_dp::{Method, PairMethod, Progress};
use tuwtree_model::quantity::memory;
use tuwtree_model::{
    ClosedSet, Construction, Costs, Hierarchy, Homogeneous, Operation, Order, Problem,
    check_combines_neighbours,
};
use tuwtree_schedule::SimulationError;
use tuwtree_treegen::AdaptiveRule;

/// What constructions are told beside the problem.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Which side sends in the adaptive construction.
    pub adaptive_rule: AdaptiveRule,
    /// How far the local search goes.
    pub local_search: LocalSearch,
    /// How much order may be given up by what is recommended.
    pub order: Order,
    /// The library that plans are measured against; `None` for the fastest.
    pub library: Option<Library>,
    /// Whether the vector of a broadcast or reduction goes along a tree, or in pieces.
    pub vector: VectorUse,
    /// Whether schedules that cut the vector are left out: for operators that must see all of it, and types that
    /// cannot be cut.
    pub keeps_vector_whole: bool,
    /// Whether a comparison keeps what the simulation of schedules said, for those who draw it: as much memory as the
    /// schedules take.
    pub keeps_timelines: bool,
}

/// How the vector of a broadcast or reduction goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum VectorUse {
    /// Whole, along each edge of a tree.
    #[default]
    Whole,
    /// As schedules have it that may cut it into pieces, which take different ways.
    Cut,
}

impl Settings {
    /// The rule that reproduces the published trees, and a short local search.
    pub const DEFAULT: Settings = Settings {
        adaptive_rule: AdaptiveRule::CompletionTime,
        local_search: LocalSearch::DEFAULT,
        order: Order::Ordered,
        library: None,
        vector: VectorUse::Whole,
        keeps_vector_whole: false,
        keeps_timelines: false,
    };
}

impl Default for Settings {
    fn default() -> Settings {
        Settings::DEFAULT
    }
}

/// Somebody who watches long work.
pub trait Watch: Sync {
    /// Work that is called so begins; it is over when what is returned is dropped.
    fn begin(&self, what: &str) -> Box<dyn Progress + '_>;

    /// What comes next takes long, as this says.
    fn announce(&self, estimate: &str);
}

/// Nobody watches.
impl Watch for () {
    fn begin(&self, _: &str) -> Box<dyn Progress + '_> {
        Box::new(())
    }

    fn announce(&self, _: &str) {}
}

/// A problem with all that constructions are told.
pub struct Request<'a> {
    /// The problem; trees are judged by its costs, on its ports.
    pub problem: &'a Problem,
    /// What else constructions are told.
    pub settings: Settings,
    /// The costs by which optimal trees are searched for.
    pub(crate) searched: Searched,
    pub(crate) watch: &'a dyn Watch,
}

/// Costs as the dynamic programs need them: linear, and the problem with them.
#[derive(Clone, Debug)]
pub(crate) enum Searched {
    /// The same everywhere.
    Homogeneous(Homogeneous, Problem),
    /// Linear, but not the same for all pairs of processors.
    PerPair(Problem),
    /// Linear only piece by piece.
    NotLinear(Problem),
    /// Latency overlaps with other work.
    Overlapping(Problem),
}

impl Searched {
    fn new(problem: &Problem) -> Searched {
        if problem.costs().overlaps() {
            return Searched::Overlapping(problem.clone());
        }
        // All messages of a vector have its size: with the costs of that, nothing is lost.
        let linear = match problem.vector() {
            Some(vector) => problem.costs().linearised_at(vector.bytes),
            None => problem.costs().clone(),
        };
        let with = |costs: Costs| problem.with_costs(costs).expect("costs for as many processors");
        match (linear.check_linear(), linear.homogeneous(problem.processors())) {
            (Err(_), _) => Searched::NotLinear(problem.clone()),
            (Ok(()), Some(costs)) => Searched::Homogeneous(costs, with(costs.into())),
            (Ok(()), None) => Searched::PerPair(with(linear)),
        }
    }

    /// The problem with the costs to search with.
    ///
    /// # Errors
    /// [`NoTree`] if there are none.
    pub(crate) fn problem(&self, effort: Effort) -> Result<&Problem, NoTree> {
        match self {
            Searched::Homogeneous(_, problem)
            | Searched::PerPair(problem)
            | Searched::Overlapping(problem) => Ok(problem),
            Searched::NotLinear(_) => {
                Err(effort.refused("it is for costs that are linear in the size of a message"))
            }
        }
    }

    /// Whether all costs are integers, and hence all times exact integers.
    pub(crate) fn is_integral(&self) -> bool {
        match self {
            Searched::Homogeneous(costs, _) => costs.is_integral(),
            Searched::PerPair(problem) => problem.costs().is_integral(),
            // Searched for in floating point.
            Searched::NotLinear(_) | Searched::Overlapping(_) => false,
        }
    }
}

/// How an optimal tree is searched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Search {
    /// For homogeneous costs.
    Homogeneous(Method),
    /// For costs of each pair of processors.
    PerPair(PairMethod),
    /// A binary tree, for costs of each pair of processors.
    BinaryPerPair,
    /// A binary tree, for latency that overlaps and costs that all pairs share.
    BinaryBySize,
    /// A consecutive or copy-first tree, for costs that all pairs share, whether latency overlaps or not.
    Wider(WiderMethod),
    /// For the levels of a machine, whatever their laws.
    Levels,
}

/// How an optimal consecutive or copy-first tree is searched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WiderMethod {
    /// Split by split, at any costs that all pairs share.
    Plain,
    /// With monotone queues, at linear ones and at those that are so piece by piece.
    Dense,
}

impl Search {
    /// The name by which users and documents call the method.
    pub fn name(self) -> &'static str {
        match self {
            Search::Homogeneous(method) => method.name(),
            Search::PerPair(method) => method.name(),
            Search::BinaryPerPair => "pairs",
            Search::BinaryBySize => "plain",
            Search::Wider(WiderMethod::Plain) => "plain",
            Search::Wider(WiderMethod::Dense) => "dense",
            Search::Levels => "levels",
        }
    }

    /// About how long it takes, as measured on a common machine with two cores; for consecutive trees
    /// that depends on more than the number of processors, and this is the least.
    pub(crate) fn estimated_seconds(self, processors: usize) -> f64 {
        let processors = processors as f64;
        match self {
            Search::Homogeneous(Method::Plain) => processors.powi(3) * 1e-10,
            Search::Homogeneous(Method::Dense) => processors.powi(2) * 2e-8,
            Search::Homogeneous(Method::Runs) => processors * 3e-5,
            Search::PerPair(PairMethod::Plain) => processors.powi(5) * 1.5e-11,
            Search::PerPair(PairMethod::Hinges) => processors.powi(4) * 7e-10,
            Search::BinaryPerPair => processors.powi(4) * 2e-10,
            Search::BinaryBySize => processors.powi(3) * 1.2e-9,
            Search::Wider(WiderMethod::Plain) => processors.powi(3) * 1e-9,
            Search::Levels => processors.powi(3) * 1e-8,
            Search::Wider(WiderMethod::Dense) => processors.powi(2) * 5e-8,
        }
    }
}

/// About how long the recurrence for pairs takes on the levels of a machine.
pub(crate) fn seconds_on_levels(machine: &Hierarchy, processors: usize) -> f64 {
    machine.levels().len() as f64 * (processors as f64).powi(4) * 4e-10
}

/// A tree that is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The construction to be used.
    pub construction: Construction,
    /// By which method, if it searches; `None` for the fastest.
    pub search: Option<Search>,
    /// How much may be spent on it.
    pub effort: Effort,
}

impl Wanted {
    /// The tree of a construction, whatever it takes.
    pub fn named(construction: Construction) -> Wanted {
        Wanted { construction, search: None, effort: Effort::Any }
    }
}

/// A plan, and how it was found if there was a choice.
#[derive(Clone, Debug, PartialEq)]
pub struct Built {
    /// A tree over all processors of the problem, or their programs.
    pub plan: Plan,
    /// By which method it was searched for.
    pub search: Option<Search>,
    /// In how many pieces every block is sent, if that was chosen.
    pub pieces: Option<usize>,
    /// No tree of the class that was searched takes less, in time units; `None` if the tree is a best
    /// one, or nothing was searched.
    pub at_least: Option<f64>,
    /// In which radix distances are written, if that was chosen.
    pub radix: Option<usize>,
    /// After how many steps what is sent has come, if that was chosen.
    pub delay: Option<usize>,
    /// Messages of more bytes go straight, if it was found that some are to.
    pub threshold: Option<u64>,
}

impl Built {
    pub(crate) fn without_search(plan: impl Into<Plan>) -> Built {
        Built {
            plan: plan.into(),
            search: None,
            pieces: None,
            at_least: None,
            radix: None,
            delay: None,
            threshold: None,
        }
    }
}

impl<'a> Request<'a> {
    /// A request for trees for this problem.
    ///
    /// # Complexity
    /// O(1), with a matrix O(p^2).
    pub fn new(problem: &'a Problem, settings: Settings, watch: &'a dyn Watch) -> Request<'a> {
        let searched = Searched::new(problem);
        Request { problem, settings, searched, watch }
    }

    /// Whether costs differ from pair to pair, or are linear only piece by piece.
    pub(crate) fn costs_differ(&self) -> bool {
        match &self.searched {
            Searched::Homogeneous(..) => false,
            Searched::PerPair(_) | Searched::NotLinear(_) => true,
            Searched::Overlapping(problem) => !shares_one_law(problem),
        }
    }

    /// What a comparison of all trees of this order builds: every construction that suits.
    pub fn suitable(&self, order: Order, effort: Effort) -> Vec<Wanted> {
        Construction::all()
            .filter(|&one| one.performs(self.problem.operation()))
            .filter(|&one| self.uses_vector_so(one))
            .filter(|&one| order == Order::Any || self.keeps_operands_in_order(one))
            .filter(|&one| (catalogue::row(one).suits)(self, order))
            .filter(|&one| effort != Effort::Quick || !catalogue::row(one).is_long)
            .map(|construction| Wanted { construction, search: None, effort })
            .collect()
    }

    /// Whether a vector goes as the settings say, if one goes.
    fn uses_vector_so(&self, construction: Construction) -> bool {
        let operation = self.problem.operation();
        if self.settings.keeps_vector_whole && construction.cuts_vector(operation) {
            return false;
        }
        let is_cut = self.settings.vector == VectorUse::Cut && self.problem.vector().is_some();
        !operation.is_rooted() || construction.builds_trees() != is_cut
    }

    /// Whether a schedule is for any operator; of trees, those that were built tell.
    fn keeps_operands_in_order(&self, construction: Construction) -> bool {
        construction.builds_trees()
            || catalogue::keeps_operands_in_order(construction, self.problem)
    }

    /// A tree that is wanted, with its method settled: the fastest where none is named.
    pub fn settled(&self, wanted: Wanted) -> Wanted {
        let fastest = || (catalogue::row(wanted.construction).search)(self);
        Wanted { search: wanted.search.or_else(fastest), ..wanted }
    }

    /// The tree that is wanted, if the effort allows it.
    ///
    /// # Errors
    /// [`NoTree`].
    pub fn build(&self, wanted: Wanted) -> Result<Built, NoTree> {
        if !wanted.construction.performs(self.problem.operation()) {
            let (one, name) = (wanted.construction.name(), self.problem.operation().name());
            let all = Operation::all().filter(|&operation| wanted.construction.performs(operation));
            let all: Vec<&str> = all.map(Operation::name).collect();
            return Err(wanted.effort.refused(match wanted.construction.builds_trees() {
                true => format!("{one} builds trees, and {name} goes along none"),
                false => format!("{one} is for {}, and not for {name}", all.join(", ")),
            }));
        }
        let is_of_reduce = self.problem.operation() == Operation::Reduce;
        let takes_time = self.problem.operator().combine_per_byte() > 0.0;
        if wanted.construction.builds_trees() && is_of_reduce && takes_time {
            return Err(wanted.effort.refused(
                "its times are those of operators that take none; --cut has schedules for others",
            ));
        }
        let wanted = self.settled(wanted);
        let built = (catalogue::row(wanted.construction).build)(self, wanted)?;
        match wanted.effort {
            Effort::Moderate | Effort::Quick if self.needs_commutative(&built.plan) => {
                Err(NoTree::Skipped(format!(
                    "its tree does not keep rank order, as operators that do not commute need it; \
                     --algorithm {} takes it all the same",
                    wanted.construction.name()
                )))
            }
            Effort::Any | Effort::Moderate | Effort::Quick => Ok(built),
        }
    }

    /// Whether a plan is a tree for a reduction, and for one by a commutative operator only.
    fn needs_commutative(&self, plan: &Plan) -> bool {
        let is_reduction = self.problem.operation() == Operation::Reduce;
        is_reduction && plan.tree().is_ok_and(|tree| check_combines_neighbours(tree).is_err())
    }

    /// What the tables of a search take, which have so many bytes.
    pub(crate) fn expense(&self, bytes: u64, search: Search) -> Expense {
        Expense {
            what: format!("the {} method", search.name()),
            bytes,
            seconds: match (search, self.problem.costs().hierarchy(), &self.searched) {
                (
                    Search::PerPair(PairMethod::Plain),
                    Some(machine),
                    Searched::NotLinear(problem) | Searched::Overlapping(problem),
                ) if problem.costs().check_linear().is_err() => {
                    seconds_on_levels(machine, problem.processors())
                }
                _ => search.estimated_seconds(self.problem.processors()),
            },
            limit_seconds: match (search, &self.searched, self.problem.vector()) {
                (Search::BinaryBySize, ..) | (_, Searched::Homogeneous(..), Some(_)) => {
                    LIMIT_BESIDE_BETTER_SECONDS
                }
                _ => LIMIT_SECONDS,
            },
        }
    }
}

impl Wanted {
    /// What it means that a schedule has no times.
    pub(crate) fn unsimulated(self, error: SimulationError) -> NoTree {
        match error {
            SimulationError::Time(error) => self.effort.unlinked(error),
            SimulationError::Unmatched(_) | SimulationError::Deadlock { .. } => {
                NoTree::failed(error)
            }
        }
    }

    /// What it means that a dynamic program ended without a tree.
    pub(crate) fn stopped(self, error: tuwtree_dp::DpError) -> NoTree {
        use tuwtree_dp::DpError;
        let search = self.search.map_or("chosen", Search::name);
        match error {
            DpError::GammaExceedsBeta { .. } => NoTree::Failed(PlanError::Misused(format!(
                "--algorithm {}-{search}: {error}",
                self.construction.name(),
            ))),
            DpError::Cancelled => NoTree::Failed(PlanError::Interrupted),
            DpError::MemoryExhausted { allowed } => self.effort.refused(format!(
                "needs more than {}, which is what is available",
                memory(allowed)
            )),
            DpError::DoesNotFit { .. }
            | DpError::NoTree(_)
            | DpError::NoOrderedTree { .. }
            | DpError::NeedsBlocks { .. }
            | DpError::Rootless { .. }
            | DpError::NeedsVector { .. }
            | DpError::NotHomogeneous
            | DpError::NotHierarchical
            | DpError::NotContiguous { .. }
            | DpError::Overlaps
            | DpError::Costs(_) => self.effort.refused(error),
            DpError::TooLarge { .. }
            | DpError::RootOutOfRange { .. }
            | DpError::NotForBinaryTrees { .. }
            | DpError::OutOfMemory { .. } => NoTree::failed(error),
        }
    }
}
