//! Optimal trees, which are searched for: by which method, and with which.

use super::effort::Watched;
use super::{BuildError, Built, Construction, Effort, Searched, Task};
use crate::error::CliError;
use crate::output::progress::Progress;
use crate::output::text;
use std::borrow::Cow;
use tuwtree_dp::{
    DpError, Method, OptimalTree, Optimum, PairMethod, PairTrees, default_binary_method,
    default_method, memory_needed, memory_needed_per_pair, most_processors_per_pair,
    optimal_binary_per_pair, optimal_broadcast, optimal_per_pair,
};
use tuwtree_model::{BlockSizes, Collective, Costs, Homogeneous, Root, Tree, completion_time};

/// What to build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) construction: Construction,
    /// By which method, if it searches; `None` for the fastest.
    pub(crate) search: Option<Search>,
    pub(crate) effort: Effort,
}

/// How an optimal tree is searched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Search {
    /// For homogeneous costs.
    Homogeneous(Method),
    /// For costs of each pair of processors.
    PerPair(PairMethod),
    /// A binary tree, for costs of each pair of processors.
    BinaryPerPair,
}

impl Search {
    /// The name by which users and documents call the method.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Search::Homogeneous(method) => method.name(),
            Search::PerPair(method) => method.name(),
            Search::BinaryPerPair => "pairs",
        }
    }

    /// About how long it takes, as measured on a common machine with two cores.
    pub(super) fn estimated_seconds(self, processors: usize) -> f64 {
        let processors = processors as f64;
        match self {
            Search::Homogeneous(Method::Plain) => processors.powi(3) * 1e-10,
            Search::Homogeneous(Method::Dense) => processors.powi(2) * 2e-8,
            Search::Homogeneous(Method::Runs) => processors * 3e-5,
            Search::PerPair(PairMethod::Plain) => processors.powi(5) * 1.5e-11,
            Search::PerPair(PairMethod::Hinges) => processors.powi(4) * 7e-10,
            Search::BinaryPerPair => processors.powi(4) * 2e-10,
        }
    }
}

impl Plan {
    /// The plan with its method settled: the fastest where none is named.
    pub(crate) fn settled(self, task: &Task<'_>) -> Plan {
        let fastest = match (self.construction, &task.searched) {
            (Construction::Binary, Searched::Homogeneous(costs)) => match task.problem.blocks() {
                Some(_) => Some(Search::Homogeneous(default_binary_method(costs))),
                None => Some(Search::BinaryPerPair),
            },
            (Construction::Binary, Searched::PerPair(_)) => Some(Search::BinaryPerPair),
            (Construction::Optimal, Searched::Homogeneous(costs)) => {
                let method = |sizes| Search::Homogeneous(default_method(sizes, costs));
                task.problem.blocks().map(method)
            }
            (Construction::Optimal, Searched::PerPair(_)) => {
                Some(Search::PerPair(PairMethod::Hinges))
            }
            _ => None,
        };
        Plan { search: self.search.or(fastest), ..self }
    }

    /// What it means that a search ended without a tree.
    pub(super) fn stopped(self, error: DpError) -> BuildError {
        let search = self.search.map_or("chosen", Search::name);
        match error {
            DpError::GammaExceedsBeta { .. } => BuildError::Failed(CliError::Usage(format!(
                "--algorithm {}-{search}: {error}",
                self.construction.name(),
            ))),
            DpError::Cancelled => BuildError::Failed(CliError::Interrupted),
            DpError::MemoryExhausted { allowed } => self.effort.refused(format!(
                "needs more than {}, which is what is available",
                text::memory(allowed)
            )),
            DpError::DoesNotFit { .. } | DpError::NoTree(_) | DpError::NoOrderedTree { .. } => {
                self.effort.refused(error.to_string())
            }
            error => BuildError::failed(error),
        }
    }
}

impl Task<'_> {
    /// An optimal tree: found by a dynamic program, or known.
    ///
    /// Its value and the tree's completion time, found independently, are compared.
    pub(super) fn search(&self, plan: Plan) -> Result<Built, BuildError> {
        let (OptimalTree { tree, value }, costs) = match &self.searched {
            Searched::NotLinear(error) => {
                return Err(plan.effort.refused(format!("{error} with --linearise-at")));
            }
            Searched::Homogeneous(costs) => {
                let optimum = self.search_homogeneous(costs, plan)?;
                (optimum, Cow::Owned(Costs::Homogeneous(*costs)))
            }
            Searched::PerPair(costs) => (self.search_per_pair(costs, plan)?, Cow::Borrowed(costs)),
        };
        let time = completion_time(&tree, self.problem, &*costs).map_err(BuildError::failed)?;
        if self.searched.is_integral() && time.units() != value {
            return Err(BuildError::failed(format!(
                "the {} method found {value}, but its tree takes {time}; please report this problem",
                plan.search.map_or("chosen", Search::name),
            )));
        }
        Ok(Built { tree, search: plan.search })
    }

    /// An optimal tree where costs are the same everywhere. That of a broadcast or reduction is known,
    /// if it need not be binary.
    fn search_homogeneous(
        &self,
        costs: &Homogeneous,
        plan: Plan,
    ) -> Result<OptimalTree, BuildError> {
        match (self.problem, plan.search) {
            (
                Collective::Gather(sizes) | Collective::Scatter(sizes),
                Some(Search::Homogeneous(method)),
            ) => self.search_ranges((sizes, costs), method, plan),
            (Collective::Broadcast(vector) | Collective::Reduce(vector), None) => {
                optimal_broadcast(vector, costs, self.root).map_err(|error| plan.stopped(error))
            }
            (_, Some(Search::PerPair(_) | Search::BinaryPerPair)) => {
                self.search_per_pair(&Costs::Homogeneous(*costs), plan)
            }
            (problem, search) => Err(plan.effort.refused(format!(
                "the {} method is for gather and scatter; `{}` finds trees for a {}",
                search.map_or("chosen", Search::name),
                plan.construction.name(),
                problem.operation().name()
            ))),
        }
    }

    fn search_ranges(
        &self,
        (sizes, costs): (&BlockSizes, &Homogeneous),
        method: Method,
        plan: Plan,
    ) -> Result<OptimalTree, BuildError> {
        let root = self.root;
        let needed = memory_needed(sizes, costs, root, method).map_err(BuildError::failed)?;
        self.expense(needed, plan).check(plan.effort, |_| String::new())?;
        let progress = Watched(Progress::new(plan.construction.name()));
        let optimize = match plan.construction {
            Construction::Binary => tuwtree_dp::optimal_binary_with,
            _ => tuwtree_dp::optimal_with,
        };
        optimize(sizes, costs, root, method, &progress)
            .map(|Optimum { tree, value, .. }| OptimalTree { tree, value })
            .map_err(|error| plan.stopped(error))
    }

    fn search_per_pair(&self, costs: &Costs, plan: Plan) -> Result<OptimalTree, BuildError> {
        let Task { problem, root, .. } = *self;
        let processors = problem.processors();
        let trees = match plan.search {
            Some(Search::PerPair(method)) => PairTrees::AnyDegree(method),
            Some(Search::BinaryPerPair) => PairTrees::Binary,
            search => {
                return Err(plan.effort.refused(format!(
                    "the {} method needs the same costs for all pairs of processors",
                    search.map_or("chosen", Search::name)
                )));
            }
        };
        let needed = memory_needed_per_pair(processors, root, trees);
        self.expense(needed, plan).check(plan.effort, |available| {
            let most = most_processors_per_pair(available, root, trees);
            format!(
                "; {most} processors would fit, and linear, oblivious and adaptive trees need no tables"
            )
        })?;
        let matrix = costs.matrix(processors);
        let costs = &matrix.map_err(|error| plan.effort.refused(error.to_string()))?;
        let progress = Watched(Progress::new(plan.construction.name()));
        match trees {
            PairTrees::AnyDegree(method) => {
                optimal_per_pair(problem, costs, root, method, &progress)
            }
            PairTrees::Binary => optimal_binary_per_pair(problem, costs, root, &progress),
        }
        .map_err(|error| plan.stopped(error))
    }
}

/// An optimal tree for homogeneous costs, by the fastest method.
pub(super) fn optimal_tree(
    problem: Collective<'_>,
    costs: &Homogeneous,
    root: Root,
) -> Result<Tree, BuildError> {
    match problem {
        Collective::Gather(sizes) | Collective::Scatter(sizes) => {
            let optimum = tuwtree_dp::optimal(sizes, costs, root, default_method(sizes, costs));
            optimum.map(|optimum| optimum.tree)
        }
        Collective::Broadcast(vector) | Collective::Reduce(vector) => {
            optimal_broadcast(vector, costs, root).map(|optimum| optimum.tree)
        }
    }
    .map_err(BuildError::failed)
}
