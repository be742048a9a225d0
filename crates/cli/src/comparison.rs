//! Several constructions for one problem, side by side: what `optimize` and `compare` have in
//! common.

use crate::args::{
    CostArgs, PayloadArgs, check_root, default_processors, named, operation_parser, parse_root,
};
use crate::construction::{
    BuildError, Built, Certificate, Construction, Effort, Plan, Search, Searched, Task,
};
use crate::error::CliError;
use crate::input::check_one_standard_input;
use crate::output::text;
use clap::Args;
use clap::builder::TypedValueParser;
use std::io::Write;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use tuwtree_dp::Method;
use tuwtree_model::document::Problem;
use tuwtree_model::{
    Completion, Costs, Operation, Root, Time, TimeError, check_combines_neighbours, check_ordered,
    completion, joins_adjacent_ranges, lower_bound, lower_bound_any_root,
};
use tuwtree_treegen::AdaptiveRule;

/// The problem, and the constructions to be compared.
#[derive(Args, Debug)]
#[command(group = clap::ArgGroup::new("payload").args(["dist", "sizes", "vector"]).required(true))]
pub(crate) struct ComparisonArgs {
    #[command(flatten)]
    pub(crate) payload: PayloadArgs,

    #[command(flatten)]
    costs: CostArgs,

    /// The root: a rank, or `best` for one that each construction chooses
    #[arg(long, value_name = "RANK|best", default_value = "best", value_parser = parse_root,
          allow_hyphen_values = true)]
    root: Root,

    /// The operation. Gather and scatter, and broadcast and reduce, take the same time where costs are
    /// the same in both directions
    ///
    /// Gather and scatter have a block for each processor (--dist or --sizes), broadcast and reduce one
    /// vector (--vector). A reduction combines vectors in rank order; constructions that do not keep it
    /// are left out unless they are named, and then are for operators that commute.
    #[arg(long, value_name = "NAME", default_value = "gather", value_parser = operation_parser())]
    op: Operation,

    /// The constructions to compare, separated by commas or spaces
    #[arg(long, value_name = "NAME", num_args = 1.., value_delimiter = ',', default_value = "all",
          value_parser = algorithm_parser())]
    algorithm: Vec<Algorithm>,

    /// Which side sends in the adaptive construction
    #[arg(long, value_name = "NAME", default_value = "completion-time",
          value_parser = adaptive_rule_parser())]
    adaptive_rule: AdaptiveRule,

    /// Search with the linear costs of messages of this size, where the machine's are linear only
    /// piece by piece; trees are judged by the true costs
    #[arg(long, value_name = "BYTES", requires = "machine",
          conflicts_with_all = ["certify", "vector"])]
    linearise_at: Option<u64>,

    /// Prove the optimal tree's time by another route: the lower bound or another method
    #[arg(long)]
    certify: bool,
}

/// What `--algorithm` names: all constructions, one, or one by a method of choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Algorithm {
    All,
    One(Construction),
    By(Construction, Method),
}

impl Algorithm {
    const ALL: [Algorithm; 16] = [
        Algorithm::All,
        Algorithm::One(Construction::Linear),
        Algorithm::One(Construction::Oblivious),
        Algorithm::One(Construction::Adaptive),
        Algorithm::One(Construction::MinimumFirst),
        Algorithm::One(Construction::MaximumFirst),
        Algorithm::One(Construction::Graceful),
        Algorithm::One(Construction::ModelGraceful),
        Algorithm::One(Construction::TwoLevel),
        Algorithm::One(Construction::Binary),
        Algorithm::One(Construction::Optimal),
        Algorithm::By(Construction::Binary, Method::Dense),
        Algorithm::By(Construction::Binary, Method::Plain),
        Algorithm::By(Construction::Optimal, Method::Runs),
        Algorithm::By(Construction::Optimal, Method::Dense),
        Algorithm::By(Construction::Optimal, Method::Plain),
    ];

    fn name(self) -> &'static str {
        match self {
            Algorithm::All => "all",
            Algorithm::One(construction) => construction.name(),
            Algorithm::By(Construction::Binary, Method::Dense) => "binary-dense",
            Algorithm::By(Construction::Binary, _) => "binary-plain",
            Algorithm::By(_, Method::Runs) => "optimal-runs",
            Algorithm::By(_, Method::Dense) => "optimal-dense",
            Algorithm::By(_, Method::Plain) => "optimal-plain",
        }
    }

    fn summary(self) -> &'static str {
        match self {
            Algorithm::All => "all constructions that suit the costs, memory and patience",
            Algorithm::One(construction) => construction.summary(),
            Algorithm::By(_, method) => method.summary(),
        }
    }

    /// What to build for this, and how hard to try.
    fn plans(self, task: &Task<'_>) -> Vec<Plan> {
        let plan = |construction, search, effort| Plan { construction, search, effort };
        match self {
            Algorithm::All => Construction::ALL
                .into_iter()
                .filter(|one| one.is_compared(task))
                .map(|one| plan(one, None, Effort::Moderate))
                .collect(),
            Algorithm::One(construction) => vec![plan(construction, None, Effort::Any)],
            Algorithm::By(construction, method) => {
                let search = Search::Homogeneous(method);
                vec![plan(construction, Some(search), Effort::Any)]
            }
        }
    }
}

/// The plans of all names together, in the order of the constructions; what is both named and among
/// all, or is to be certified, is tried as hard as what is named.
fn plans(args: &ComparisonArgs, task: &Task<'_>) -> Vec<Plan> {
    let plans = args.algorithm.iter().flat_map(|one| one.plans(task));
    let mut plans: Vec<Plan> = plans.map(|plan| plan.settled(task)).collect();
    for plan in &mut plans {
        if args.certify && plan.construction == Construction::Optimal {
            plan.effort = Effort::Any;
        }
    }
    plans.sort_by_key(|plan| (plan.construction, plan.search.map(Search::name), plan.effort));
    plans.dedup_by_key(|plan| (plan.construction, plan.search));
    plans
}

fn algorithm_parser() -> impl TypedValueParser<Value = Algorithm> {
    named(Algorithm::ALL, Algorithm::name, Algorithm::summary)
}

fn adaptive_rule_parser() -> impl TypedValueParser<Value = AdaptiveRule> {
    named(AdaptiveRule::ALL, AdaptiveRule::name, |rule| match rule {
        AdaptiveRule::CompletionTime => "the direction that completes first, as in the tables",
        AdaptiveRule::GatherTime => "the side with the smaller gather time (Träff 2018, Lemma 1)",
        AdaptiveRule::DataSize => "the side with less data (Träff 2018, Lemma 4)",
    })
}

/// A construction's tree with what there is to say about it.
pub(crate) struct Outcome {
    pub(crate) construction: Construction,
    pub(crate) built: Built,
    pub(crate) completion: Completion,
    build_time: Duration,
    /// What proves that the time is the optimum, if that was asked for.
    pub(crate) certificate: Option<Certificate>,
}

/// A construction that was left out, and why.
pub(crate) struct Skipped {
    pub(crate) construction: Construction,
    pub(crate) reason: String,
}

/// The headings of the table, but for the one column that tells how long the program took.
pub(crate) const HEADINGS: [&str; 7] = [
    "construction",
    "completion time",
    "root",
    "above bound %",
    "in alphas",
    "root degree",
    "depth",
];

/// The problem, its bound, and all outcomes.
pub(crate) struct Comparison {
    pub(crate) problem: Problem,
    pub(crate) root: Root,
    pub(crate) bound: Time,
    pub(crate) outcomes: Vec<Outcome>,
    pub(crate) skipped: Vec<Skipped>,
}

impl ComparisonArgs {
    /// The problem.
    ///
    /// # Errors
    /// Blocks or a machine that cannot be read, anything out of range.
    pub(crate) fn load(&self) -> Result<Problem, CliError> {
        check_one_standard_input(&[
            ("--sizes", self.payload.sizes.as_ref()),
            ("--machine", self.costs.machine.as_ref()),
        ])?;
        let costs = self.costs.costs(None)?;
        let payload = self.payload.load(default_processors(&costs.costs()))?;
        let payload = payload.expect("clap requires --dist, --sizes or --vector");
        self.costs.check_processors(&costs, payload.processors())?;
        check_root(self.root, payload.processors())?;
        Problem::new(self.op, payload, costs).map_err(|error| {
            CliError::Usage(format!(
                "--op: {error}; --vector is for broadcast and reduce, --dist and --sizes are for \
                 gather and scatter"
            ))
        })
    }
}

/// Builds and times all trees that were asked for.
///
/// # Errors
/// A construction asked for by name that cannot be built; times that cannot be stated.
pub(crate) fn compare(args: &ComparisonArgs, problem: Problem) -> Result<Comparison, CliError> {
    let costs = problem.costs().costs();
    let collective = problem.collective();
    // All messages of a vector have its size: with the costs of that, nothing is lost.
    let linearise_at = args.linearise_at.or(collective.vector().map(|vector| vector.bytes));
    let task = Task {
        problem: collective,
        costs: &costs,
        searched: Searched::new(&costs, collective.processors(), linearise_at),
        root: args.root,
        adaptive_rule: args.adaptive_rule,
    };
    if let Costs::Matrix(matrix) = task.costs {
        let enough = matrix.check_links(task.problem, args.root);
        enough.map_err(|cut| CliError::Failure(cut.to_string()))?;
    }
    let bound = match args.root {
        Root::Given(root) => lower_bound(root, task.problem, task.costs),
        Root::Best => lower_bound_any_root(task.problem, task.costs),
    };
    let plans = plans(args, &task);
    if args.certify && plans.iter().all(|plan| plan.construction != Construction::Optimal) {
        let message = "--certify proves optimal trees, and --algorithm names none";
        return Err(CliError::Usage(message.into()));
    }
    let mut outcomes = Vec::new();
    let mut skipped = Vec::new();
    for plan in plans {
        match outcome(args, &task, plan, &bound) {
            Ok(outcome) => outcomes.push(outcome),
            Err(BuildError::Skipped(reason)) => {
                skipped.push(Skipped { construction: plan.construction, reason });
            }
            Err(BuildError::Failed(error)) => return Err(error),
        }
    }
    if outcomes.is_empty() {
        let reasons = skipped.iter().map(|Skipped { construction, reason }| {
            format!("\n  {}: {reason}", construction.name())
        });
        let reasons: String = reasons.collect();
        return Err(CliError::Failure(format!("no construction has a tree:{reasons}")));
    }
    let bound = bound?;
    drop(task);
    drop(costs);
    Ok(Comparison { problem, root: args.root, bound, outcomes, skipped })
}

/// One tree, built, timed and judged.
fn outcome(
    args: &ComparisonArgs,
    task: &Task<'_>,
    plan: Plan,
    bound: &Result<Time, TimeError>,
) -> Result<Outcome, BuildError> {
    let construction = plan.construction;
    let started = Instant::now();
    let built = task.build(plan)?;
    let build_time = started.elapsed();
    let completion = completion(&built.tree, task.problem, task.costs)
        .map_err(|error| plan.effort.unlinked(error))?;
    let certificate = match (args.certify, construction, bound) {
        (true, Construction::Optimal, Ok(bound)) => {
            let time = completion.ready[built.tree.root()];
            Some(task.certify(&built, time, *bound).map_err(BuildError::Failed)?)
        }
        _ => None,
    };
    Ok(Outcome { construction, built, completion, build_time, certificate })
}

impl Outcome {
    /// The completion time.
    pub(crate) fn time(&self) -> Time {
        self.completion.ready[self.built.tree.root()]
    }
}

impl Comparison {
    /// The outcome with the least completion time; of several, the simplest construction's.
    pub(crate) fn recommended(&self) -> &Outcome {
        let least = self.outcomes.iter().min_by_key(|outcome| outcome.time());
        least.expect("linear, or a construction asked for by name, was built")
    }

    /// Success, or failure if a certificate was asked for and there is none.
    pub(crate) fn exit_code(&self) -> ExitCode {
        let uncertified = |outcome: &Outcome| matches!(outcome.certificate, Some(Err(_)));
        match self.outcomes.iter().any(uncertified) {
            true => ExitCode::FAILURE,
            false => ExitCode::SUCCESS,
        }
    }

    /// Whether a construction was built by more than one method.
    pub(crate) fn has_several_of(&self, construction: Construction) -> bool {
        self.outcomes.iter().filter(|outcome| outcome.construction == construction).count() > 1
    }

    /// How far a time is above the bound, in percent; `None` if the bound is 0 and the time is not.
    pub(crate) fn gap_percent(&self, time: Time) -> Option<f64> {
        let gap = time.units() - self.bound.units();
        match self.bound == Time::ZERO {
            true => (gap == 0.0).then_some(0.0),
            false => Some(100.0 * gap / self.bound.units()),
        }
    }

    /// How far a time is above the bound, in start-ups; `None` if these cost nothing or differ.
    pub(crate) fn gap_alphas(&self, time: Time) -> Option<f64> {
        let processors = self.problem.payload().processors();
        let costs = self.problem.costs().costs().homogeneous(processors);
        let alpha = costs.map_or(0.0, |costs| costs.alpha());
        (alpha > 0.0).then(|| (time.units() - self.bound.units()) / alpha)
    }

    /// Writes the problem, the table, what was left out, and the recommendation.
    ///
    /// # Errors
    /// Those of `output`.
    pub(crate) fn write_text(&self, output: &mut dyn Write) -> Result<(), CliError> {
        writeln!(output, "{}; {}", self.title(), text::costs(self.problem.costs()))?;
        writeln!(output, "{}: {}\n", self.bound_name(), text::time(self.bound))?;
        writeln!(output, "{}", self.table().trim_fmt())?;
        for note in self.notes() {
            writeln!(output, "{note}")?;
        }
        for outcome in &self.outcomes {
            let name = outcome.construction.name();
            match &outcome.certificate {
                Some(Ok(route)) => writeln!(output, "\n{name} is certified: {route}")?,
                Some(Err(reason)) => writeln!(output, "\n{name} is not certified: {reason}")?,
                None => {}
            }
        }
        Ok(writeln!(output, "\n{}", self.recommendation())?)
    }

    /// What there is to say about constructions beside their figures: why some are left out, and
    /// what others are not for.
    pub(crate) fn notes(&self) -> Vec<String> {
        let skipped = self.skipped.iter().map(|Skipped { construction, reason }| {
            format!("{} is left out: {reason}", construction.name())
        });
        let unordered = self.outcomes.iter().filter(|outcome| {
            self.problem.operation() == Operation::Reduce
                && self.keeps_rank_order(outcome) == Some(false)
        });
        let commutative = unordered.map(|outcome| {
            let name = outcome.construction.name();
            format!("{name} does not keep rank order: it is for operators that commute")
        });
        skipped.chain(commutative).collect()
    }

    /// Whether vectors are joined with those of neighbouring ranks only; `None` if blocks are moved.
    pub(crate) fn keeps_rank_order(&self, outcome: &Outcome) -> Option<bool> {
        let vector = self.problem.collective().vector();
        vector.map(|_| check_combines_neighbours(&outcome.built.tree).is_ok())
    }

    /// The problem in a line, without its costs.
    pub(crate) fn title(&self) -> String {
        let payload = self.problem.payload();
        let root = match self.root {
            Root::Given(root) => format!("root {root}"),
            Root::Best => "best root".to_owned(),
        };
        format!(
            "{} of {} over {} processors, {root}",
            self.problem.operation().name(),
            text::payload(payload),
            payload.processors()
        )
    }

    /// What the bound is a bound on.
    pub(crate) fn bound_name(&self) -> String {
        match self.root {
            Root::Given(root) => format!("lower bound on any tree with root {root}"),
            Root::Best => "lower bound on any tree".to_owned(),
        }
    }

    fn table(&self) -> comfy_table::Table {
        let headings: Vec<&str> = HEADINGS.into_iter().chain(["built in"]).collect();
        let mut table = text::table(&headings);
        for outcome in &self.outcomes {
            let time = text::duration(outcome.build_time);
            let built_in = match outcome.built.search {
                Some(method) => format!("{time} ({})", method.name()),
                None => time,
            };
            table.add_row(self.cells(outcome).into_iter().chain([built_in]));
        }
        table
    }

    /// What the table says about an outcome, below [`HEADINGS`].
    pub(crate) fn cells(&self, outcome: &Outcome) -> [String; HEADINGS.len()] {
        let cell = |value: Option<f64>, decimals: usize| match value {
            Some(value) => format!("{value:.decimals$}"),
            None => "-".to_owned(),
        };
        let tree = &outcome.built.tree;
        let time = outcome.time();
        [
            outcome.construction.name().to_owned(),
            text::time(time),
            tree.root().to_string(),
            cell(self.gap_percent(time), 3),
            cell(self.gap_alphas(time), 2),
            tree.degree(tree.root()).to_string(),
            tree.depth().to_string(),
        ]
    }

    /// Which construction to use, in a sentence.
    pub(crate) fn recommendation(&self) -> String {
        let best = self.recommended();
        let name = best.construction.name();
        let method = match best.built.search {
            Some(method) => format!(" (found by the {} method)", method.name()),
            None => String::new(),
        };
        let others: Vec<String> = self
            .outcomes
            .iter()
            .filter(|outcome| outcome.time() > best.time())
            .map(|outcome| {
                let factor = outcome.time().units() / best.time().units();
                let more = match factor {
                    _ if !factor.is_finite() => "takes longer".to_owned(),
                    _ if factor < 2.0 => format!("takes {} % longer", percent(factor - 1.0)),
                    _ => format!("takes {factor:.1} times as long"),
                };
                format!("{} {more}", outcome.construction.name())
            })
            .collect();
        match others.is_empty() {
            true if self.outcomes.len() == 1 => format!("Recommended: {name}{method}."),
            true => format!("Recommended: {name}{method}; none of the others is faster."),
            false => {
                format!("Recommended: {name}{method}.\n{}.{}", others.join(", "), self.caveat())
            }
        }
    }

    /// Why an optimal tree is not the fastest, where that is so.
    fn caveat(&self) -> &'static str {
        let best = self.recommended();
        let beaten = |outcome: &Outcome| {
            outcome.construction == Construction::Optimal && outcome.time() > best.time()
        };
        match self.outcomes.iter().any(beaten) {
            true if self.keeps_rank_order(best) == Some(false) => {
                "\nIts tree is not in rank order, and optimal is the best of those that are."
            }
            true if check_ordered(&best.built.tree).is_err() => {
                "\nIts tree is not in rank order: what permuting the blocks may cost is not counted."
            }
            true if joins_adjacent_ranges(&best.built.tree) => {
                "\nIt beats optimal, which was searched for with costs that differ from those it is judged by."
            }
            true => {
                "\nIt is no join of adjacent ranges, which is what optimal is the best of: see the README."
            }
            false => "",
        }
    }
}

/// A share in percent, with two significant digits where it is not tiny.
fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    match percent {
        _ if percent >= 10.0 => format!("{percent:.0}"),
        _ if percent >= 1.0 => format!("{percent:.1}"),
        _ if percent >= 0.1 => format!("{percent:.2}"),
        _ if percent >= 0.001 => format!("{percent:.3}"),
        _ => "less than 0.001".to_owned(),
    }
}
