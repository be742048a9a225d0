//! Trees for a task: what each construction is given, and what becomes of it.

use super::{Construction, Effort, LocalSearch, Plan, Search};
use crate::error::CliError;
use tuwtree_model::{
    Collective, Costs, CostsError, Homogeneous, Operation, Ports, Rank, Root, Time, Tree,
    check_combines_neighbours, completion_time,
};
use tuwtree_treegen::{
    AdaptiveRule, ConstructionError, Filling, adaptive, best_root, graceful, knomial, linear,
    linear_outwards, linear_root, linear_times, model_binomial, model_graceful, oblivious,
    oblivious_root,
};

/// What a construction works on.
#[derive(Clone, Debug)]
pub(crate) struct Task<'a> {
    pub(crate) problem: Collective<'a>,
    /// The costs by which all trees are judged.
    pub(crate) costs: &'a Costs,
    /// The costs by which optimal trees are searched for.
    pub(crate) searched: Searched,
    pub(crate) root: Root,
    /// By which all trees are judged. Only those that say so are made for several.
    pub(crate) ports: Ports,
    pub(crate) adaptive_rule: AdaptiveRule,
    pub(crate) local_search: LocalSearch,
}

/// Costs as the dynamic programs need them: linear.
#[derive(Clone, Debug)]
pub(crate) enum Searched {
    /// The same everywhere.
    Homogeneous(Homogeneous),
    /// Linear, but not the same for all pairs of processors.
    PerPair(Costs),
    /// Linear only piece by piece.
    NotLinear(CostsError),
}

impl Searched {
    /// Whether all costs are integers, and hence all times exact integers.
    pub(super) fn is_integral(&self) -> bool {
        match self {
            Searched::Homogeneous(costs) => costs.is_integral(),
            Searched::PerPair(costs) => costs.is_integral(),
            Searched::NotLinear(_) => false,
        }
    }

    /// These costs for so many processors, linearised at a message size if one is given.
    pub(crate) fn new(costs: &Costs, processors: usize, linearise_at: Option<u64>) -> Searched {
        let linear = match linearise_at {
            Some(bytes) => costs.linearised_at(bytes),
            None => costs.clone(),
        };
        match (linear.check_linear(), linear.homogeneous(processors)) {
            (Err(error), _) => Searched::NotLinear(error),
            (Ok(()), Some(costs)) => Searched::Homogeneous(costs),
            (Ok(()), None) => Searched::PerPair(linear),
        }
    }
}

/// A tree, and how it was found if there was a choice.
pub(crate) struct Built {
    pub(crate) tree: Tree,
    pub(crate) search: Option<Search>,
}

/// Why there is no tree.
#[derive(Debug)]
pub(crate) enum BuildError {
    /// It takes more memory or time than is spent on what was not asked for by name.
    Skipped(String),
    /// It cannot be built.
    Failed(CliError),
}
impl Task<'_> {
    /// The tree of a construction for this task, if the effort allows it.
    ///
    /// # Errors
    /// [`BuildError`].
    pub(crate) fn build(&self, plan: Plan) -> Result<Built, BuildError> {
        let Task { problem, costs, root, ports, adaptive_rule, .. } = *self;
        let processors = problem.processors();
        let built = match plan.construction {
            Construction::Linear => {
                let root = self.root_by(|| self.linear_root(plan.effort))?;
                Built::directly(match problem.vector() {
                    Some(_) => linear_outwards(processors, root),
                    None => linear(processors, root),
                })?
            }
            Construction::Oblivious => {
                let root = self.root_by(|| {
                    oblivious_root(problem, costs).map_err(|error| plan.effort.unlinked(error))
                })?;
                Built::directly(oblivious(processors, root))?
            }
            Construction::Adaptive | Construction::Knomial => {
                let tree = match plan.construction {
                    Construction::Adaptive => adaptive(problem, costs, root, adaptive_rule),
                    _ => knomial(problem, costs, root, ports),
                };
                tree.map(Built::without_search).map_err(|error| match error {
                    ConstructionError::Time(error) => plan.effort.unlinked(error),
                    ConstructionError::Tree(error) => BuildError::failed(error),
                })?
            }
            Construction::MinimumFirst | Construction::MaximumFirst => {
                let filling = match plan.construction {
                    Construction::MinimumFirst => Filling::MinimumFirst,
                    _ => Filling::MaximumFirst,
                };
                self.best_of_roots(plan, |root| model_binomial(problem, costs, root, filling))?
            }
            Construction::Graceful if problem.vector().is_some() => {
                let reason = "its sets are of growing weight, and all vectors weigh the same";
                return Err(plan.effort.refused(reason.to_owned()));
            }
            Construction::Graceful => {
                self.best_of_roots(plan, |root| Ok(graceful(problem, root)?))?
            }
            Construction::ModelGraceful => {
                self.best_of_roots(plan, |root| model_graceful(problem, costs, root))?
            }
            Construction::TwoLevel => self.two_level(plan)?,
            Construction::Binary | Construction::Optimal => self.search(plan)?,
            Construction::Direct
            | Construction::TwoBlock
            | Construction::Doubling
            | Construction::Greedy
            | Construction::Sorted
            | Construction::Searched
            | Construction::Hybrid
            | Construction::Exact => self.non_ordered(plan)?,
        };
        match plan.effort {
            Effort::Moderate if self.needs_commutative(&built.tree) => {
                Err(BuildError::Skipped(format!(
                    "its tree does not keep rank order, as operators that do not commute need it; \
                     --algorithm {} takes it all the same",
                    plan.construction.name()
                )))
            }
            _ => Ok(built),
        }
    }

    /// Whether a tree is for a reduction, and for one by a commutative operator only.
    fn needs_commutative(&self, tree: &Tree) -> bool {
        self.problem.operation() == Operation::Reduce && check_combines_neighbours(tree).is_err()
    }

    /// The given root, or the one that is found best.
    fn root_by(&self, find: impl FnOnce() -> Result<Rank, BuildError>) -> Result<Rank, BuildError> {
        match self.root {
            Root::Given(root) => Ok(root),
            Root::Best => find(),
        }
    }

    /// The best root of a star.
    fn linear_root(&self, effort: Effort) -> Result<Rank, BuildError> {
        let Task { problem, costs, .. } = *self;
        let processors = problem.processors();
        if let Some(costs) = costs.homogeneous(processors) {
            // As many vectors of the same size go to every root.
            let Some(sizes) = problem.blocks() else { return Ok(0) };
            let times = linear_times(sizes, &costs).map_err(BuildError::failed)?;
            return Ok(best_root(&times));
        }
        if processors > MOST_STARS {
            return Err(effort.refused(format!(
                "the best root of a star is looked for among at most {MOST_STARS} processors, since \
                 these costs are not the same everywhere; name one with --root"
            )));
        }
        linear_root(problem, costs).map_err(|error| effort.unlinked(error))
    }

    /// The tree with the given root, or the fastest of those with every root.
    fn best_of_roots(
        &self,
        plan: Plan,
        build: impl Fn(Rank) -> Result<Tree, ConstructionError>,
    ) -> Result<Built, BuildError> {
        let Task { problem, costs, .. } = *self;
        let processors = problem.processors();
        let roots = match self.root {
            Root::Given(root) => root..root + 1,
            Root::Best if processors <= MOST_ROOTS => 0..processors,
            Root::Best => {
                return Err(plan.effort.refused(format!(
                    "the best root is looked for among at most {MOST_ROOTS} processors; name one \
                     with --root"
                )));
            }
        };
        let mut best: Option<(Time, Tree)> = None;
        let mut unlinked = None;
        for root in roots {
            let timed = build(root).and_then(|tree| {
                let time = completion_time(&tree, problem, costs)?;
                Ok((time, tree))
            });
            match timed {
                Ok((time, tree)) if best.as_ref().is_none_or(|(least, _)| time < *least) => {
                    best = Some((time, tree));
                }
                Ok(_) => {}
                Err(ConstructionError::Time(error)) => unlinked = unlinked.or(Some(error)),
                Err(ConstructionError::Tree(error)) => return Err(BuildError::failed(error)),
            }
        }
        match (best, unlinked) {
            (Some((_, tree)), _) => Ok(Built::without_search(tree)),
            (None, Some(error)) => Err(plan.effort.unlinked(error)),
            (None, None) => unreachable!("a problem has at least one processor"),
        }
    }
}

/// The most processors whose stars are all timed for the best root, which takes O(p^2).
const MOST_STARS: usize = 10_000;

/// The most processors that are all tried as roots of trees which take O(p^2) each.
const MOST_ROOTS: usize = 256;

impl Built {
    /// A tree that a construction returned right away.
    pub(super) fn directly(
        tree: Result<Tree, impl std::fmt::Display>,
    ) -> Result<Built, BuildError> {
        tree.map(Built::without_search).map_err(BuildError::failed)
    }

    pub(super) fn without_search(tree: Tree) -> Built {
        Built { tree, search: None }
    }
}

impl BuildError {
    pub(super) fn failed(error: impl std::fmt::Display) -> BuildError {
        BuildError::Failed(CliError::Failure(error.to_string()))
    }
}
