//! Request to the catalogue: a problem, settings, and a construction.

use crate::catalogue::{self, CatalogueRow, LocalSearch, shares_one_law};
use crate::error::{NoTree, PlanError};
use crate::expense::{Effort, Expense, LIMIT_BESIDE_BETTER_SECONDS, LIMIT_SECONDS};
use crate::library::Library;
use crate::plan::Plan;
use tuwtree_bounds::lower_bound_below;
use tuwtree_collective::CollectiveError;
use tuwtree_dp::{Method, PairMethod, Progress};
use tuwtree_model::quantity::memory;
use tuwtree_model::{
    ClosedSet, Construction, Costs, Hierarchy, Homogeneous, Operation, Order, Problem, Time, Tree,
    check_combines_neighbours, judged_time, planned_problems,
};
use tuwtree_schedule::{Schedule, Sends, SimulationError, simulate, simulate_on};
use tuwtree_treegen::AdaptiveRule;

/// Settings of constructions, beside the problem.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Direction rule of the adaptive construction.
    pub adaptive_rule: AdaptiveRule,
    /// Extent of the local search.
    pub local_search: LocalSearch,
    /// Order that a recommended plan may give up.
    pub order: Order,
    /// The library that plans are measured against; `None` for the fastest.
    pub library: Option<Library>,
    /// The vector of a broadcast or reduction goes along a tree, or in pieces.
    pub vector: VectorUse,
    /// True if schedules that cut the vector are left out: for operators that must see all of it, and types that cannot
    /// be cut.
    pub keeps_vector_whole: bool,
    /// True if a comparison keeps the simulated timelines of schedules, for drawing: as much memory as the schedules
    /// take.
    pub keeps_timelines: bool,
    /// True if a comparison leaves out a construction wanted at any effort that cannot be built, and says why.
    pub leaves_out_refused: bool,
}

/// Use of the vector of a broadcast or reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum VectorUse {
    /// Whole, along each edge of a tree.
    #[default]
    Whole,
    /// Cut into pieces on different paths, as schedules may do.
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
        leaves_out_refused: false,
    };
}

impl Default for Settings {
    fn default() -> Settings {
        Settings::DEFAULT
    }
}

/// Somebody who watches long work.
pub trait Watch: Sync {
    /// Begins work of this name; it is over when the returned guard is dropped.
    fn begin(&self, what: &str) -> Box<dyn Progress + '_>;

    /// Announces long work, with this estimate.
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
#[derive(Clone)]
pub struct Request<'a> {
    /// The problem; trees are judged by its costs, on its ports.
    pub problem: &'a Problem,
    /// Settings of the construction.
    pub settings: Settings,
    /// The costs of searches for optimal trees.
    pub(crate) searched: Searched,
    pub(crate) watch: &'a dyn Watch,
    /// Time and construction of the fastest plan so far, in a comparison.
    pub(crate) rival: Option<(Time, Construction)>,
    /// The tree that a local search improves, if not the best of those that it builds itself.
    pub(crate) start: Option<&'a Tree>,
    /// The tree that is compared as it is.
    pub(crate) given: Option<&'a Tree>,
}

/// Costs as the dynamic programs need them: linear, and the problem with them.
#[derive(Clone, Debug)]
pub(crate) enum Searched {
    /// Equal costs everywhere.
    Homogeneous(Homogeneous, Problem),
    /// Linear, but not the same for all pairs of ranks.
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
        let with = |costs: Costs| problem.with_costs(costs).expect("costs for as many ranks");
        match (linear.check_linear(), linear.homogeneous(problem.ranks())) {
            (Err(_), _) => Searched::NotLinear(problem.clone()),
            (Ok(()), Some(costs)) => Searched::Homogeneous(costs, with(costs.into())),
            (Ok(()), None) => Searched::PerPair(with(linear)),
        }
    }

    /// The problem with the costs to search with.
    ///
    /// # Errors
    /// [`NoTree`] for missing blocks.
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

    /// True if all costs are integers, and hence all times exact integers.
    pub(crate) fn is_integral(&self) -> bool {
        match self {
            Searched::Homogeneous(costs, _) => costs.is_integral(),
            Searched::PerPair(problem) => problem.costs().is_integral(),
            // Searched for in floating point.
            Searched::NotLinear(_) | Searched::Overlapping(_) => false,
        }
    }
}

/// Search for an optimal tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Search {
    /// For homogeneous costs.
    Homogeneous(Method),
    /// For costs of each pair of ranks.
    PerPair(PairMethod),
    /// A binary tree, for costs of each pair of ranks.
    BinaryPerPair,
    /// A binary tree, for latency that overlaps and costs that all pairs share.
    BinaryBySize,
    /// A consecutive or copy-first tree, for costs that all pairs share, whether latency overlaps or not.
    Wider(WiderMethod),
    /// For the levels of a machine, whatever their laws.
    Levels,
}

/// Search for an optimal consecutive or copy-first tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WiderMethod {
    /// Split by split, at any costs that all pairs share.
    Plain,
    /// With monotone queues, at linear and piecewise linear costs.
    Dense,
}

impl Search {
    /// The method's name in options and documents.
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
    /// that depends on more than the number of ranks, and this is the least.
    pub(crate) fn estimated_seconds(self, ranks: usize) -> f64 {
        let ranks = ranks as f64;
        match self {
            Search::Homogeneous(Method::Plain) => ranks.powi(3) * 1e-10,
            Search::Homogeneous(Method::Dense) => ranks.powi(2) * 2e-8,
            Search::Homogeneous(Method::Runs) => ranks * 3e-5,
            Search::PerPair(PairMethod::Plain) => ranks.powi(5) * 1.5e-11,
            Search::PerPair(PairMethod::Hinges) => ranks.powi(4) * 7e-10,
            Search::BinaryPerPair => ranks.powi(4) * 2e-10,
            Search::BinaryBySize => ranks.powi(3) * 1.2e-9,
            Search::Wider(WiderMethod::Plain) => ranks.powi(3) * 1e-9,
            Search::Levels => ranks.powi(3) * 1e-8,
            Search::Wider(WiderMethod::Dense) => ranks.powi(2) * 5e-8,
        }
    }
}

/// About how long the recurrence for pairs takes on the levels of a machine.
pub(crate) fn seconds_on_levels(machine: &Hierarchy, ranks: usize) -> f64 {
    machine.levels().len() as f64 * (ranks as f64).powi(4) * 4e-10
}

/// A tree that is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The construction to be used.
    pub construction: Construction,
    /// Its method, if it searches; `None` for the fastest.
    pub search: Option<Search>,
    /// Effort allowed for it.
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
    /// A tree over all ranks of the problem, or their programs.
    pub plan: Plan,
    /// Method of its search.
    pub search: Option<Search>,
    /// In how many pieces every block is sent, if that was chosen.
    pub pieces: Option<usize>,
    /// No tree of the class that was searched takes less, in time units; `None` if the tree is a best
    /// one, or nothing was searched.
    pub at_least: Option<f64>,
    /// Radix of distances, if chosen.
    pub radix: Option<usize>,
    /// Number of steps after which sent data has come, if chosen.
    pub delay: Option<usize>,
    /// Messages of more bytes go straight, if it was found that some are to.
    pub threshold: Option<u64>,
    /// Simulated time of a plan without a tree, if the search has needed it.
    pub time: Option<Time>,
    /// The time with the other kind of ports, if known.
    pub otherwise: Option<Time>,
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
            time: None,
            otherwise: None,
        }
    }
}

/// Time of a schedule with the other kind of ports than the problem's, given that with its own; `None` without one.
pub(crate) fn time_otherwise(problem: &Problem, schedule: &Schedule, time: Time) -> Option<Time> {
    match !problem.duplex() {
        // Made for these ports, whatever those of the problem are.
        other if other == schedule.task().duplex => Some(time),
        other => simulate_on(schedule, other, problem.stated_costs(), Sends::Synchronous)
            .ok()
            .map(|timeline| timeline.completion_time()),
    }
}

/// Ratio of a time to the bound with which no other costs are planned by.
pub(crate) const ENOUGH: f64 = 1.01;

/// Up to this many ranks, every way of planning is tried.
pub(crate) const FEW: usize = 256;

impl<'a> Request<'a> {
    /// A request for trees for this problem.
    ///
    /// # Complexity
    /// O(1), with a matrix O(p^2).
    pub fn new(problem: &'a Problem, settings: Settings, watch: &'a dyn Watch) -> Request<'a> {
        let searched = Searched::new(problem);
        Request { problem, settings, searched, watch, rival: None, start: None, given: None }
    }

    /// The request with a tree over the problem's ranks, which [`Construction::Given`] compares as it is.
    pub fn with_tree(self, tree: Option<&'a Tree>) -> Request<'a> {
        Request { given: tree, ..self }
    }

    /// Reason for a construction to be left out that was not asked for by name: it takes at least this floor, longer than
    /// the fastest so far or, of later constructions, as long.
    pub(crate) fn beaten(&self, wanted: Wanted, floor: Option<Time>) -> Option<String> {
        let (rival, floor) = (self.rival?, floor?);
        let is_beaten = wanted.effort != Effort::Any && (floor, wanted.construction) > rival;
        let name = rival.1.name();
        is_beaten
            .then(|| format!("not faster than {name}, as is known beforehand; name it to build it"))
    }

    /// True if a tree was given.
    pub fn has_tree(&self) -> bool {
        self.given.is_some()
    }

    /// True if costs differ from pair to pair, or are linear only piece by piece.
    pub(crate) fn costs_differ(&self) -> bool {
        match &self.searched {
            Searched::Homogeneous(..) => false,
            Searched::PerPair(_) | Searched::NotLinear(_) => true,
            Searched::Overlapping(problem) => !shares_one_law(problem),
        }
    }

    /// The suitable constructions that a comparison of all trees of this order builds.
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

    /// True if a vector's use agrees with the settings.
    fn uses_vector_so(&self, construction: Construction) -> bool {
        let operation = self.problem.operation();
        if self.settings.keeps_vector_whole && catalogue::row(construction).cuts_vector(operation) {
            return false;
        }
        let is_cut = self.settings.vector == VectorUse::Cut && self.problem.vector().is_some();
        !operation.is_rooted() || construction.builds_trees() != is_cut
    }

    /// True if a schedule is for any operator; trees are checked once built.
    fn keeps_operands_in_order(&self, construction: Construction) -> bool {
        construction.builds_trees()
            || catalogue::row(construction).keeps_operands_in_order(self.problem)
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
        let built = match wanted.search {
            // At the problem's own costs.
            Some(_) => (catalogue::row(wanted.construction).build)(self, wanted)?,
            None => self.soonest(wanted)?,
        };
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

    /// The plan of a construction: of those at costs that suit the judge and at the problem's own, the first that is
    /// judged to be done first. None is tried any more once one is within [`ENOUGH`] of the bound.
    ///
    /// Dynamic programs have their messages ready just in time, and fair wires then hold up gathers of many ranks: these
    /// are planned at the problem's own costs alone, and other large problems in one way.
    fn soonest(&self, wanted: Wanted) -> Result<Built, NoTree> {
        let CatalogueRow { build, plans, is_best_of_class, .. } =
            *catalogue::row(wanted.construction);
        let untimed = |error| wanted.effort.unlinked(error);
        let is_large = is_best_of_class && self.problem.ranks() > FEW;
        let plans = match is_large {
            true if self.problem.operation().is_outward() => plans.min(1),
            true => 0,
            false => plans,
        };
        let problems = match plans > 0 {
            true => planned_problems(self.problem).map_err(untimed)?,
            false => Vec::new(),
        };
        if problems.is_empty() {
            return build(self, self.settled(wanted));
        }
        let planned = problems.iter().take(plans).map(|problem| {
            let request = Request::new(problem, self.settings, self.watch);
            build(&request, request.settled(wanted))
        });
        let own =
            std::iter::once_with(|| build(self, self.settled(wanted))).take(usize::from(!is_large));
        let (mut best, mut refused): (Option<(Time, Built)>, _) = (None, None);
        for built in planned.chain(own) {
            let built = match built {
                Ok(built) => Built { at_least: None, ..built },
                Err(NoTree::Failed(PlanError::Interrupted)) => {
                    return Err(NoTree::Failed(PlanError::Interrupted));
                }
                Err(error) => {
                    refused = Some(error);
                    continue;
                }
            };
            let tree = built.plan.tree().map_err(NoTree::failed)?;
            let time = judged_time(tree, self.problem).map_err(untimed)?;
            if best.as_ref().is_some_and(|(least, _)| time >= *least) {
                continue;
            }
            let bound = lower_bound_below(self.problem, time).map_err(untimed)?;
            best = Some((time, built));
            if time.units() <= ENOUGH * bound.units() {
                break;
            }
        }
        match (best, refused) {
            (Some((_, built)), _) => Ok(built),
            (None, Some(error)) => Err(error),
            (None, None) => unreachable!("there is a way of planning"),
        }
    }

    /// True if a plan is a tree for a reduction, and for one by a commutative operator only.
    fn needs_commutative(&self, plan: &Plan) -> bool {
        let is_reduction = self.problem.operation() == Operation::Reduce;
        is_reduction && plan.tree().is_ok_and(|tree| check_combines_neighbours(tree).is_err())
    }

    /// Expense of the tables of a search with this many bytes.
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
                    seconds_on_levels(machine, problem.ranks())
                }
                _ => search.estimated_seconds(self.problem.ranks()),
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
    /// Simulated time of a schedule.
    pub(crate) fn time_of(self, schedule: &Schedule, problem: &Problem) -> Result<Time, NoTree> {
        let timeline = simulate(schedule, problem.stated_costs(), Sends::Synchronous);
        timeline.map(|timeline| timeline.completion_time()).map_err(|error| self.unsimulated(error))
    }

    /// Error for figures that are found without a schedule.
    pub(crate) fn untimed(self, error: CollectiveError) -> NoTree {
        match error {
            CollectiveError::Time(error) => self.effort.unlinked(error),
            error => NoTree::failed(error),
        }
    }

    /// Error for a schedule without times.
    pub(crate) fn unsimulated(self, error: SimulationError) -> NoTree {
        match error {
            SimulationError::Time(error) => self.effort.unlinked(error),
            SimulationError::Unmatched(_) | SimulationError::Deadlock { .. } => {
                NoTree::failed(error)
            }
        }
    }

    /// Error for a dynamic program without a tree.
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
