//! `tuwtree optimize`: the constructions side by side for one problem, and the best tree.

use crate::args::{
    BlockArgs, CostArgs, check_root, default_processors, named, operation_parser, parse_root,
};
use crate::construction::{
    BuildError, Built, Certificate, Construction, Effort, Plan, Search, Searched, Task,
};
use crate::error::CliError;
use crate::input::check_one_standard_input;
use crate::output::drawing::Drawing;
use crate::output::file::{Destination, Opened};
use crate::output::text;
use clap::Args;
use clap::builder::TypedValueParser;
use serde_json::json;
use std::io::Write;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use tuwtree_dp::Method;
use tuwtree_model::document::{Problem, StatedCosts, TreeDocument};
use tuwtree_model::{
    BlockSizes, Completion, Costs, Homogeneous, Operation, Root, Time, TimeError, check_ordered,
    completion, lower_bound, lower_bound_any_root,
};
use tuwtree_treegen::AdaptiveRule;

/// Compare constructions for one problem, recommend one, and write its tree.
///
/// Without other arguments than --dist: 2000 processors, mean block 1000 bytes, alpha 100,
/// beta = gamma = 1, the root chosen by each construction, as in the papers. With --machine, the
/// machine's costs: linear and oblivious know nothing of them but the best root, adaptive compares
/// both directions of each join, optimal searches.
#[derive(Args, Debug)]
#[command(group = clap::ArgGroup::new("blocks").args(["dist", "sizes"]).required(true))]
pub(crate) struct OptimizeArgs {
    #[command(flatten)]
    blocks: BlockArgs,

    #[command(flatten)]
    costs: CostArgs,

    /// The root: a rank, or `best` for one that each construction chooses
    #[arg(long, value_name = "RANK|best", default_value = "best", value_parser = parse_root,
          allow_hyphen_values = true)]
    root: Root,

    /// The operation; both take the same time where costs are the same in both directions
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
    #[arg(long, value_name = "BYTES", requires = "machine", conflicts_with = "certify")]
    linearise_at: Option<u64>,

    /// Write the recommended tree to this file as JSON (`-`: standard output, and nothing else)
    #[arg(short, long, value_name = "FILE", value_parser = Destination::parse)]
    output: Option<Destination>,

    /// Prove the optimal tree's time by another route: the lower bound or another method
    #[arg(long)]
    certify: bool,

    /// Print the comparison as JSON (see docs/formats.md)
    #[arg(long)]
    json: bool,
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
fn plans(args: &OptimizeArgs, task: &Task<'_>) -> Vec<Plan> {
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
struct Outcome {
    construction: Construction,
    built: Built,
    completion: Completion,
    build_time: Duration,
    /// What proves that the time is the optimum, if that was asked for.
    certificate: Option<Certificate>,
}

/// A construction that was left out, and why.
struct Skipped {
    construction: Construction,
    reason: String,
}

/// The problem, its bound, and all outcomes.
struct Comparison {
    problem: Problem,
    root: Root,
    bound: Time,
    outcomes: Vec<Outcome>,
    skipped: Vec<Skipped>,
}

/// Runs the command.
///
/// # Errors
/// A problem that cannot be read or is out of range; a construction asked for by name that cannot
/// be built; an output that cannot be written.
pub(crate) fn run(args: &OptimizeArgs, output: &mut dyn Write) -> Result<ExitCode, CliError> {
    check_one_standard_input(&[
        ("--sizes", args.blocks.sizes.as_ref()),
        ("--machine", args.costs.machine.as_ref()),
    ])?;
    let costs = args.costs.costs(None)?;
    let sizes = args.blocks.load(default_processors(&costs.costs()))?;
    let sizes = sizes.expect("clap requires --dist or --sizes");
    args.costs.check_processors(&costs, sizes.processors())?;
    check_root(args.root, sizes.processors())?;
    let to_standard_output = matches!(args.output, Some(Destination::StandardOutput));
    if to_standard_output && args.json {
        let message = "--json and --output - both write to standard output";
        return Err(CliError::Usage(message.into()));
    }
    let file = args.output.as_ref().map(Destination::open).transpose()?;
    let comparison = compare(args, sizes, costs)?;
    if let Some(file) = file {
        write_tree(&comparison, file)?;
    }
    match args.json {
        _ if to_standard_output => {}
        true => comparison.write_json(output)?,
        false => comparison.write_text(output)?,
    }
    let uncertified = |outcome: &Outcome| matches!(outcome.certificate, Some(Err(_)));
    Ok(match comparison.outcomes.iter().any(uncertified) {
        true => ExitCode::FAILURE,
        false => ExitCode::SUCCESS,
    })
}

/// Builds and times all trees that were asked for.
fn compare(
    args: &OptimizeArgs,
    sizes: BlockSizes,
    costs: StatedCosts,
) -> Result<Comparison, CliError> {
    let problem = Problem { operation: args.op, sizes, costs };
    let costs = problem.costs.costs();
    let task = Task {
        problem: problem.collective(),
        sizes: &problem.sizes,
        costs: &costs,
        searched: Searched::new(&costs, problem.sizes.processors(), args.linearise_at),
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
    args: &OptimizeArgs,
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

fn write_tree(comparison: &Comparison, file: Opened) -> Result<(), CliError> {
    let document = TreeDocument {
        tree: comparison.recommended().built.tree.clone(),
        problem: Some(comparison.problem.clone()),
    };
    file.write(|output| {
        serde_json::to_writer(&mut *output, &document)?;
        writeln!(output)
    })
}

impl Outcome {
    fn time(&self) -> Time {
        self.completion.ready[self.built.tree.root()]
    }
}

impl Comparison {
    /// The outcome with the least completion time; of several, the simplest construction's.
    fn recommended(&self) -> &Outcome {
        let least = self.outcomes.iter().min_by_key(|outcome| outcome.time());
        least.expect("linear, or a construction asked for by name, was built")
    }

    /// How far a time is above the bound, in percent; `None` if the bound is 0 and the time is not.
    fn gap_percent(&self, time: Time) -> Option<f64> {
        let gap = time.units() - self.bound.units();
        match self.bound == Time::ZERO {
            true => (gap == 0.0).then_some(0.0),
            false => Some(100.0 * gap / self.bound.units()),
        }
    }

    /// How far a time is above the bound, in start-ups; `None` if these cost nothing or differ.
    fn gap_alphas(&self, time: Time) -> Option<f64> {
        let costs = self.problem.costs.costs().homogeneous(self.problem.sizes.processors());
        let alpha = costs.map_or(0.0, |costs| costs.alpha());
        (alpha > 0.0).then(|| (time.units() - self.bound.units()) / alpha)
    }

    fn write_text(&self, output: &mut dyn Write) -> Result<(), CliError> {
        let Problem { operation, sizes, costs } = &self.problem;
        let root = match self.root {
            Root::Given(root) => format!("root {root}"),
            Root::Best => "best root".to_owned(),
        };
        writeln!(
            output,
            "{} of {} bytes over {} processors, {root}; {}",
            operation.name(),
            sizes.total(),
            sizes.processors(),
            text::costs(costs),
        )?;
        let which = match self.root {
            Root::Given(root) => format!("any tree with root {root}"),
            Root::Best => "any tree".to_owned(),
        };
        writeln!(output, "lower bound on {which}: {}\n", text::time(self.bound))?;
        writeln!(output, "{}", self.table().trim_fmt())?;
        for Skipped { construction, reason } in &self.skipped {
            writeln!(output, "{} is left out: {reason}", construction.name())?;
        }
        for outcome in &self.outcomes {
            let name = outcome.construction.name();
            match &outcome.certificate {
                Some(Ok(route)) => writeln!(output, "\n{name} is certified: {route}")?,
                Some(Err(reason)) => writeln!(output, "\n{name} is not certified: {reason}")?,
                None => {}
            }
        }
        writeln!(output, "\n{}\n", self.recommendation())?;
        let recommended = self.recommended();
        let drawing = Drawing {
            tree: &recommended.built.tree,
            operation: *operation,
            completion: Some(&recommended.completion),
        };
        Ok(drawing.write(output)?)
    }

    fn table(&self) -> comfy_table::Table {
        let mut table = text::table(&[
            "construction",
            "completion time",
            "root",
            "above bound %",
            "in alphas",
            "root degree",
            "depth",
            "built in",
        ]);
        let cell = |value: Option<f64>, decimals: usize| match value {
            Some(value) => format!("{value:.decimals$}"),
            None => "-".to_owned(),
        };
        for outcome in &self.outcomes {
            let tree = &outcome.built.tree;
            let time = outcome.time();
            table.add_row([
                outcome.construction.name().to_owned(),
                text::time(time),
                tree.root().to_string(),
                cell(self.gap_percent(time), 3),
                cell(self.gap_alphas(time), 2),
                tree.degree(tree.root()).to_string(),
                tree.depth().to_string(),
                match outcome.built.search {
                    Some(method) => {
                        format!("{} ({})", text::duration(outcome.build_time), method.name())
                    }
                    None => text::duration(outcome.build_time),
                },
            ]);
        }
        table
    }

    /// Which construction to use, in a sentence.
    fn recommendation(&self) -> String {
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
            true if check_ordered(&best.built.tree).is_err() => {
                "\nIts tree is not in rank order: what permuting the blocks may cost is not counted."
            }
            true => {
                "\nIt is no join of adjacent ranges, which is what optimal is the best of: see the README."
            }
            false => "",
        }
    }

    fn write_json(&self, output: &mut dyn Write) -> Result<(), CliError> {
        let Problem { operation, sizes, costs } = &self.problem;
        let constructions: Vec<_> = self
            .outcomes
            .iter()
            .map(|outcome| {
                let tree = &outcome.built.tree;
                let time = outcome.time();
                json!({
                    "construction": outcome.construction.name(),
                    "root": tree.root(),
                    "completion_time": text::json_time(time),
                    "gap_percent": self.gap_percent(time),
                    "gap_alphas": self.gap_alphas(time),
                    "root_degree": tree.degree(tree.root()),
                    "depth": tree.depth(),
                    "method": outcome.built.search.map(|method| method.name()),
                    "certificate": outcome.certificate.as_ref().and_then(|one| one.as_ref().ok()),
                    "not_certified_because":
                        outcome.certificate.as_ref().and_then(|one| one.as_ref().err()),
                })
            })
            .collect();
        let skipped: Vec<_> = self
            .skipped
            .iter()
            .map(|Skipped { construction, reason }| {
                json!({ "construction": construction.name(), "reason": reason })
            })
            .collect();
        let parameter = |parameter: fn(&Homogeneous) -> f64| match costs {
            StatedCosts::Parameters(costs) => Some(text::json_number(parameter(costs))),
            StatedCosts::Machine(_) => None,
        };
        let document = json!({
            "format": "tuwtree-comparison",
            "version": 1,
            "operation": operation.name(),
            "processors": sizes.processors(),
            "total_bytes": sizes.total(),
            "root": match self.root {
                Root::Given(root) => json!(root),
                Root::Best => json!("best"),
            },
            "alpha": parameter(Homogeneous::alpha),
            "beta_per_byte": parameter(Homogeneous::beta),
            "gamma_per_byte": parameter(Homogeneous::gamma),
            "machine": costs.machine().map(|machine| &machine.name),
            "lower_bound": text::json_time(self.bound),
            "constructions": constructions,
            "skipped": skipped,
            "recommended": self.recommended().construction.name(),
            "recommended_method": self.recommended().built.search.map(Search::name),
        });
        serde_json::to_writer_pretty(&mut *output, &document).map_err(std::io::Error::from)?;
        Ok(writeln!(output)?)
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
