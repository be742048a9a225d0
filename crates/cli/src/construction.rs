//! All constructions that users can ask for, by name.

use crate::error::CliError;
use crate::output::progress::Progress;
use crate::output::text;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::ops::ControlFlow;
use tuwtree_dp::{
    DpError, Method, OptimalTree, Optimum, PairMethod, PairTrees, default_binary_method,
    default_method, memory_needed, memory_needed_per_pair, most_processors_per_pair,
    optimal_binary_per_pair, optimal_broadcast, optimal_per_pair,
};
use tuwtree_model::{
    BlockSizes, Collective, Costs, CostsError, Hierarchy, Homogeneous, Operation, Payload, Rank,
    Root, Time, TimeError, Tree, Vector, check_combines_neighbours, completion_time,
};
use tuwtree_treegen::{
    AdaptiveRule, ConstructionError, Filling, adaptive, best_root, graceful, linear,
    linear_outwards, linear_root, linear_times, model_binomial, model_graceful, oblivious,
    oblivious_root, two_level,
};

/// A way to build a tree. In the order of the published tables' columns, but with the cheaper ones
/// first: of equally fast trees, the first is recommended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Construction {
    Linear,
    Oblivious,
    Adaptive,
    MinimumFirst,
    MaximumFirst,
    Graceful,
    ModelGraceful,
    TwoLevel,
    Binary,
    Optimal,
}

/// What a construction works on.
#[derive(Clone, Debug)]
pub(crate) struct Task<'a> {
    pub(crate) problem: Collective<'a>,
    /// The costs by which all trees are judged.
    pub(crate) costs: &'a Costs,
    /// The costs by which optimal trees are searched for.
    pub(crate) searched: Searched,
    pub(crate) root: Root,
    pub(crate) adaptive_rule: AdaptiveRule,
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
    fn is_integral(&self) -> bool {
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
    fn estimated_seconds(self, processors: usize) -> f64 {
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

/// Why there is no tree.
#[derive(Debug)]
pub(crate) enum BuildError {
    /// It takes more memory or time than is spent on what was not asked for by name.
    Skipped(String),
    /// It cannot be built.
    Failed(CliError),
}

impl Construction {
    /// All constructions.
    pub(crate) const ALL: [Construction; 10] = [
        Construction::Linear,
        Construction::Oblivious,
        Construction::Adaptive,
        Construction::MinimumFirst,
        Construction::MaximumFirst,
        Construction::Graceful,
        Construction::ModelGraceful,
        Construction::TwoLevel,
        Construction::Binary,
        Construction::Optimal,
    ];

    /// Those of the published tables.
    pub(crate) const PUBLISHED: [Construction; 5] = [
        Construction::Linear,
        Construction::Oblivious,
        Construction::Adaptive,
        Construction::Binary,
        Construction::Optimal,
    ];

    /// Whether a comparison of all constructions shows it: those made for costs that differ are
    /// shown where they do.
    pub(crate) fn is_compared(self, task: &Task<'_>) -> bool {
        let differ = !matches!(task.searched, Searched::Homogeneous(_));
        match self {
            Construction::TwoLevel => differ && matches!(task.costs, Costs::Hierarchical(_)),
            _ => differ || Construction::PUBLISHED.contains(&self),
        }
    }

    /// The name by which users, documents and tests call the construction.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Construction::Linear => "linear",
            Construction::Oblivious => "oblivious",
            Construction::Adaptive => "adaptive",
            Construction::MinimumFirst => Filling::MinimumFirst.name(),
            Construction::MaximumFirst => Filling::MaximumFirst.name(),
            Construction::Graceful => "graceful",
            Construction::ModelGraceful => "model-graceful",
            Construction::TwoLevel => "two-level",
            Construction::Binary => "binary",
            Construction::Optimal => "optimal",
        }
    }

    /// The construction in a line.
    pub(crate) fn summary(self) -> &'static str {
        match self {
            Construction::Linear => "star: the root receives from all others, as MPI libraries do",
            Construction::Oblivious => "rank-ordered binomial tree, whatever the blocks",
            Construction::Adaptive => "binomial tree in which the larger side receives",
            Construction::MinimumFirst => {
                "binomial tree, places filled with the nearest first; not in rank order"
            }
            Construction::MaximumFirst => {
                "binomial tree, places filled with the farthest first; not in rank order"
            }
            Construction::Graceful => {
                "sets of growing weight, largest block first (Träff 2004); not in rank order"
            }
            Construction::ModelGraceful => {
                "sets of growing message times, slowest first; not in rank order"
            }
            Construction::TwoLevel => {
                "optimal trees within the nodes of a hierarchical machine and among their leaders"
            }
            Construction::Binary => "best tree with at most two children everywhere, in rank order",
            Construction::Optimal => "best tree of all that join adjacent ranges",
        }
    }
}

impl Task<'_> {
    /// The tree of a construction for this task, if the effort allows it.
    ///
    /// # Errors
    /// [`BuildError`].
    pub(crate) fn build(&self, plan: Plan) -> Result<Built, BuildError> {
        let Task { problem, costs, root, adaptive_rule, .. } = *self;
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
            Construction::Adaptive => {
                let tree = adaptive(problem, costs, root, adaptive_rule);
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

    /// Optimal trees within the nodes, and among their leaders.
    fn two_level(&self, plan: Plan) -> Result<Built, BuildError> {
        let machine = match &self.searched {
            Searched::PerPair(Costs::Hierarchical(machine)) => machine,
            Searched::NotLinear(error) => {
                return Err(plan.effort.refused(format!("{error} with --linearise-at")));
            }
            Searched::Homogeneous(_) | Searched::PerPair(_) => {
                let reason = match self.costs {
                    Costs::Hierarchical(_) => {
                        "all these processors pay the same for each other, so \
                                               that there are no levels"
                    }
                    _ => "two-level trees need a machine of several levels (hierarchical)",
                };
                return Err(plan.effort.refused(reason.to_owned()));
            }
        };
        let mut nodes: BTreeMap<usize, Vec<Rank>> = BTreeMap::new();
        for rank in 0..self.problem.processors() {
            nodes.entry(machine.node(rank)).or_default().push(rank);
        }
        let (ids, nodes): (Vec<usize>, Vec<Vec<Rank>>) = nodes.into_iter().unzip();
        let link = machine.levels()[0].links.linear().expect("linear costs are searched with");
        let inner = Homogeneous::new(link.alpha, link.beta, machine.gamma());
        let inner = inner.map_err(BuildError::failed)?;
        let inside = |ranks: &[Rank], root| {
            let own = self.payload_of(ranks.iter().map(std::slice::from_ref))?;
            optimal_tree(self.moved(&own), &inner, root)
        };
        let among = |_: &[Rank], root| {
            let joint = self.payload_of(nodes.iter().map(Vec::as_slice))?;
            match machine.of_nodes(&ids) {
                Some(leaders) => self.among_leaders(self.moved(&joint), leaders, root),
                // One node, and nobody to talk to.
                None => linear(1, 0).map_err(BuildError::failed),
            }
        };
        two_level(&nodes, self.root, inside, among).map(Built::without_search)
    }

    /// The data of parties that each stand for some ranks: for each the blocks of these, or the vector.
    fn payload_of<'b>(
        &self,
        parties: impl ExactSizeIterator<Item = &'b [Rank]>,
    ) -> Result<Payload, BuildError> {
        let sizes = match self.problem {
            Collective::Gather(sizes) | Collective::Scatter(sizes) => sizes,
            Collective::Broadcast(vector) | Collective::Reduce(vector) => {
                return Ok(Payload::Vector(Vector { processors: parties.len(), ..vector }));
            }
        };
        let sum = |ranks: &[Rank]| ranks.iter().map(|&rank| sizes.block(rank)).sum::<u64>();
        BlockSizes::new(parties.map(sum)).map(Payload::Blocks).map_err(BuildError::failed)
    }

    /// The task's operation with data of the same kind.
    fn moved<'b>(&self, payload: &'b Payload) -> Collective<'b> {
        payload.moved_by(self.problem.operation()).expect("data of the same kind")
    }

    /// The tree among the leaders: optimal if their costs are the same for all pairs or they are few,
    /// else adaptive.
    fn among_leaders(
        &self,
        problem: Collective<'_>,
        leaders: Hierarchy,
        root: Root,
    ) -> Result<Tree, BuildError> {
        let costs = Costs::Hierarchical(leaders);
        if let Some(costs) = costs.homogeneous(problem.processors()) {
            return optimal_tree(problem, &costs, root);
        }
        if problem.processors() <= MOST_LEADERS {
            let matrix = costs.matrix(problem.processors()).map_err(BuildError::failed)?;
            let optimum = optimal_per_pair(problem, &matrix, root, PairMethod::Hinges, &());
            return optimum.map(|optimum| optimum.tree).map_err(BuildError::failed);
        }
        adaptive(problem, &costs, root, AdaptiveRule::CompletionTime).map_err(BuildError::failed)
    }

    /// An optimal tree: found by a dynamic program, or known.
    ///
    /// Its value and the tree's completion time, found independently, are compared.
    fn search(&self, plan: Plan) -> Result<Built, BuildError> {
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
        self.check_effort(needed, plan, |_| String::new())?;
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
        self.check_effort(needed, plan, |available| {
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

    /// What proves an optimal tree's completion time to be the least over all joins of adjacent
    /// ranges, by another route than the one it was found by: it meets the lower bound, or the
    /// fastest of the other methods finds the same. Or else why nothing does.
    ///
    /// # Errors
    /// An interrupt, or a method that disagrees.
    pub(crate) fn certify(
        &self,
        built: &Built,
        time: Time,
        bound: Time,
    ) -> Result<Certificate, CliError> {
        if time == bound {
            return Ok(Ok("it meets the lower bound".to_owned()));
        }
        let other = match &self.searched {
            Searched::Homogeneous(costs) => Method::ALL
                .into_iter()
                .rev()
                .filter(|method| self.problem.blocks().is_some() && method.admits(costs))
                .map(Search::Homogeneous)
                .find(|&search| Some(search) != built.search),
            Searched::PerPair(_) | Searched::NotLinear(_) => {
                let methods = PairMethod::ALL.into_iter().rev().map(Search::PerPair);
                methods.into_iter().find(|&search| Some(search) != built.search)
            }
        };
        let Some(other) = other else {
            let found = built.search.map_or("no", Search::name);
            return Ok(Err(format!("only the {found} method admits these costs")));
        };
        let plan =
            Plan { construction: Construction::Optimal, search: Some(other), effort: Effort::Any };
        let again = match self.build(plan) {
            Ok(again) => again,
            Err(BuildError::Failed(CliError::Interrupted)) => return Err(CliError::Interrupted),
            Err(BuildError::Skipped(reason)) => return Ok(Err(reason)),
            Err(BuildError::Failed(error)) => {
                return Ok(Err(format!("the {} method: {error}", other.name())));
            }
        };
        let found = completion_time(&again.tree, self.problem, self.costs)?;
        let same = match &self.searched {
            searched if searched.is_integral() => found == time,
            Searched::Homogeneous(costs) => {
                let volume = costs
                    .transmission(self.problem.segment(0, self.problem.processors() - 1))?
                    .units();
                (found.units() - time.units()).abs() <= ROUNDING * (volume + time.units())
            }
            Searched::PerPair(_) | Searched::NotLinear(_) => {
                (found.units() - time.units()).abs() <= ROUNDING * time.units()
            }
        };
        match same {
            true => Ok(Ok(format!("the {} method finds the same completion time", other.name()))),
            false => Err(CliError::Failure(format!(
                "--certify: {time} by one method, but {found} by the {} method; please report this \
                 problem",
                other.name()
            ))),
        }
    }

    /// Fails if tables of `needed` bytes do not fit into memory, or take longer to fill than the
    /// effort allows. `advice` says what to do about too little memory, given how much there is.
    fn check_effort(
        &self,
        needed: u64,
        plan: Plan,
        advice: impl FnOnce(u64) -> String,
    ) -> Result<(), BuildError> {
        if let Some(available) = available_memory().filter(|&available| needed > available) {
            return Err(plan.effort.refused(format!(
                "needs {}, {} available{}",
                text::memory(needed),
                text::memory(available),
                advice(available)
            )));
        }
        let search = plan.search.expect("only what is searched for takes effort");
        let seconds = search.estimated_seconds(self.problem.processors());
        let estimate = format!("the {} method takes about {seconds:.0} s", search.name());
        let patience = match (&self.searched, self.problem.vector()) {
            (Searched::Homogeneous(_), Some(_)) => PATIENCE_WITH_WHAT_IS_KNOWN_SECONDS,
            _ => PATIENCE_SECONDS,
        };
        if plan.effort == Effort::Moderate && seconds > patience {
            let advice = "name it with --algorithm to wait for it";
            return Err(plan.effort.refused(format!("{estimate}; {advice}")));
        }
        if seconds > ANNOUNCED_SECONDS && io::stderr().is_terminal() {
            // Nobody is worse off if this cannot be written.
            let _ = writeln!(anstream::stderr(), "note: {estimate} (Ctrl-C ends it)");
        }
        Ok(())
    }
}

/// An optimal tree for homogeneous costs, by the fastest method.
fn optimal_tree(
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

/// What to build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) construction: Construction,
    /// By which method, if it searches; `None` for the fastest.
    pub(crate) search: Option<Search>,
    pub(crate) effort: Effort,
}

/// What proves an optimum, or why nothing does.
pub(crate) type Certificate = Result<String, String>;

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
    fn stopped(self, error: DpError) -> BuildError {
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

/// How much may be spent on a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Effort {
    /// Whatever it takes.
    Any,
    /// What nobody waits for: constructions that were not asked for by name.
    Moderate,
}

impl Effort {
    /// What it means that memory or time do not suffice.
    fn refused(self, reason: String) -> BuildError {
        match self {
            Effort::Moderate => BuildError::Skipped(reason),
            Effort::Any => BuildError::Failed(CliError::Failure(reason)),
        }
    }

    /// What it means that a tree has no completion time: without a link, there may be other trees.
    pub(crate) fn unlinked(self, error: TimeError) -> BuildError {
        match error {
            TimeError::NoLink { .. } | TimeError::Isolated { .. } => {
                self.refused(error.to_string())
            }
            TimeError::NotExact | TimeError::NotFinite => BuildError::failed(error),
        }
    }
}

/// The most processors whose stars are all timed for the best root, which takes O(p^2).
const MOST_STARS: usize = 10_000;

/// The most processors that are all tried as roots of trees which take O(p^2) each.
const MOST_ROOTS: usize = 256;

/// The most node leaders for whom an optimal tree is searched for pair by pair.
const MOST_LEADERS: usize = 128;

/// How far two methods may be apart where costs are not integers, relative to the time and that of
/// sending everything once: sizes of ranges are differences of prefix sums.
const ROUNDING: f64 = 1e-12;

/// The longest that a construction may take that was not asked for by name.
const PATIENCE_SECONDS: f64 = 35.0;

/// The same where an optimal tree is known without search.
const PATIENCE_WITH_WHAT_IS_KNOWN_SECONDS: f64 = 1.0;

/// From how long on the time is announced before it begins, on a terminal.
const ANNOUNCED_SECONDS: f64 = 10.0;

impl Built {
    /// A tree that a construction returned right away.
    fn directly(tree: Result<Tree, impl std::fmt::Display>) -> Result<Built, BuildError> {
        tree.map(Built::without_search).map_err(BuildError::failed)
    }

    fn without_search(tree: Tree) -> Built {
        Built { tree, search: None }
    }
}

impl BuildError {
    fn failed(error: impl std::fmt::Display) -> BuildError {
        BuildError::Failed(CliError::Failure(error.to_string()))
    }
}

/// A progress bar that a dynamic program moves.
struct Watched(Progress);

impl tuwtree_dp::Progress for Watched {
    fn advance(&self, done: u64, total: u64) -> ControlFlow<()> {
        self.0.advance(done, total)
    }

    fn memory_allowed(&self) -> u64 {
        // The rest is for the tree, and for everybody else.
        available_memory().map_or(u64::MAX, |available| available / 10 * 9)
    }
}

/// The memory in bytes that can be used without swapping, where the system tells: what the machine
/// has left, or the control group's limit if that is less.
fn available_memory() -> Option<u64> {
    let number = |text: &str| text.trim().parse::<u64>().ok();
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let available = 1024 * number(line.trim_end_matches("kB"))?;
    let group = |name: &str| fs::read_to_string(format!("/sys/fs/cgroup/{name}")).ok();
    let limit = group("memory.max").and_then(|text| number(&text));
    let used = group("memory.current").and_then(|text| number(&text));
    match (limit, used) {
        (Some(limit), Some(used)) => Some(available.min(limit.saturating_sub(used))),
        _ => Some(available),
    }
}
