//! What is to be compared: the arguments, and what they mean.

use crate::args::{
    CostArgs, PayloadArgs, PortArgs, check_root, default_processors, named, operation_parser,
    parse_root,
};
use crate::construction::{Construction, Effort, LocalSearch, Plan, Search, Task};
use crate::error::CliError;
use crate::input::check_one_standard_input;
use clap::Args;
use clap::builder::TypedValueParser;
use std::time::Duration;
use tuwtree_dp::Method;
use tuwtree_model::document::Problem;
use tuwtree_model::quantity::parse_bytes;
use tuwtree_model::{Operation, Order, Ports, Root};
use tuwtree_treegen::AdaptiveRule;

/// The problem, and the constructions to be compared.
#[derive(Args, Debug)]
#[command(group = clap::ArgGroup::new("payload").args(["dist", "sizes", "vector"]).required(true))]
pub(crate) struct ComparisonArgs {
    #[command(flatten)]
    pub(crate) payload: PayloadArgs,

    #[command(flatten)]
    costs: CostArgs,

    /// The operation. Gather and scatter, and broadcast and reduce, take the same time where costs are
    /// the same in both directions
    ///
    /// Gather and scatter have a block for each processor (--dist or --sizes), broadcast and reduce one
    /// vector (--vector). A reduction combines vectors in rank order; constructions that do not keep it
    /// are left out unless they are named, and then are for operators that commute.
    #[arg(long, value_name = "NAME", default_value = "gather", value_parser = operation_parser())]
    op: Operation,

    #[command(flatten)]
    pub(crate) choice: Choice,
}

/// Which trees are compared for a problem.
#[derive(Args, Clone, Debug)]
pub(crate) struct Choice {
    /// The root: a rank, or `best` for one that each construction chooses
    #[arg(long, value_name = "RANK|best", default_value = "best", value_parser = parse_root,
          allow_hyphen_values = true)]
    pub(crate) root: Root,

    /// The constructions to compare, separated by commas or spaces
    #[arg(long, value_name = "NAME", num_args = 1.., value_delimiter = ',', default_value = "all",
          value_parser = algorithm_parser())]
    pub(crate) algorithm: Vec<Algorithm>,

    /// Which trees `--algorithm all` compares, where blocks are gathered or scattered
    ///
    /// What a tree does not keep in rank order, the root has to put into it: see
    /// docs/beyond-ordered-trees.md. Without this, those in rank order; `advise` compares all.
    #[arg(long, value_name = "NAME", value_parser = named(Order::ALL, Order::name, |order| match order {
              Order::Ordered => "those that keep blocks in rank order",
              Order::Direct => "also those in which large blocks go straight to the root",
              Order::Any => "also those that keep no order",
          }))]
    pub(crate) order: Option<Order>,

    #[command(flatten)]
    pub(crate) ports: PortArgs,

    /// Which side sends in the adaptive construction
    #[arg(long, value_name = "NAME", default_value = "completion-time",
          value_parser = adaptive_rule_parser())]
    pub(crate) adaptive_rule: AdaptiveRule,

    /// Search with the linear costs of messages of this size, where the machine's are linear only
    /// piece by piece; trees are judged by the true costs
    #[arg(long, value_name = "BYTES", requires = "machine", value_parser = parse_bytes,
          conflicts_with_all = ["certify", "vector"])]
    pub(crate) linearise_at: Option<u64>,

    /// Prove the optimal tree's time by another route: the lower bound or another method
    #[arg(long)]
    pub(crate) certify: bool,

    #[command(flatten)]
    search: SearchArgs,
}

/// How far the local search of `searched` goes.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Local search (searched)")]
struct SearchArgs {
    /// Try so many orders of the processors, at most 1000000 [default: 100, or 1000000 with
    /// --search-seconds]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=MOST_STEPS as i64))]
    search_steps: Option<u32>,

    /// Which orders: any number; the same one finds the same tree
    #[arg(long, value_name = "N", default_value_t = 1)]
    search_seed: u64,

    /// End after so many seconds; what is found then depends on the machine
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds,
          allow_negative_numbers = true)]
    search_seconds: Option<Duration>,
}

/// The most steps of a local search.
const MOST_STEPS: u32 = 1_000_000;

/// The longest time limit of a local search: a year.
const LONGEST_SEARCH_SECONDS: f64 = 31_536_000.0;

impl Default for Choice {
    /// All constructions that keep rank order, each with the root it chooses.
    fn default() -> Choice {
        Choice {
            root: Root::Best,
            algorithm: vec![Algorithm::All],
            order: None,
            ports: PortArgs::default(),
            adaptive_rule: AdaptiveRule::CompletionTime,
            linearise_at: None,
            certify: false,
            search: SearchArgs { search_seed: 1, ..SearchArgs::default() },
        }
    }
}

impl Choice {
    /// How far the local search goes.
    pub(super) fn local_search(&self) -> LocalSearch {
        let SearchArgs { search_steps, search_seed, search_seconds } = self.search;
        let default = match search_seconds {
            Some(_) => MOST_STEPS as usize,
            None => LocalSearch::default().steps,
        };
        LocalSearch {
            steps: search_steps.map_or(default, |steps| steps as usize),
            seed: search_seed,
            limit: search_seconds,
        }
    }

    /// The plans of all names together, in the order of the constructions; what is both named and
    /// among all, or is to be certified, is tried as hard as what is named.
    ///
    /// # Errors
    /// A certificate for an optimal tree that is not among them, or is one for one port only.
    pub(super) fn plans(&self, task: &Task<'_>) -> Result<Vec<Plan>, CliError> {
        let plans = self
            .algorithm
            .iter()
            .flat_map(|one| one.plans(task, self.order.unwrap_or(Order::Ordered)));
        let mut plans: Vec<Plan> = plans.map(|plan| plan.settled(task)).collect();
        for plan in &mut plans {
            if self.certify && plan.construction == Construction::Optimal {
                plan.effort = Effort::Any;
            }
        }
        if self.certify && plans.iter().all(|plan| plan.construction != Construction::Optimal) {
            let message = "--certify proves optimal trees, and --algorithm names none";
            return Err(CliError::Usage(message.into()));
        }
        if self.certify && task.ports != Ports::ONE {
            let message = "--certify proves optimal trees, which are so for one port only";
            return Err(CliError::Usage(message.into()));
        }
        plans.sort_by_key(|plan| (plan.construction, plan.search.map(Search::name), plan.effort));
        plans.dedup_by_key(|plan| (plan.construction, plan.search));
        Ok(plans)
    }
}

/// What `--algorithm` names: all constructions, one, or one by a method of choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Algorithm {
    All,
    One(Construction),
    By(Construction, Method),
}

impl Algorithm {
    const ALL: [Algorithm; 25] = [
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
        Algorithm::One(Construction::Direct),
        Algorithm::One(Construction::TwoBlock),
        Algorithm::One(Construction::Doubling),
        Algorithm::One(Construction::Greedy),
        Algorithm::One(Construction::Sorted),
        Algorithm::One(Construction::Searched),
        Algorithm::One(Construction::Knomial),
        Algorithm::One(Construction::Hybrid),
        Algorithm::One(Construction::Exact),
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
            Algorithm::All => "all constructions that suit --order, costs, memory and patience",
            Algorithm::One(construction) => construction.summary(),
            Algorithm::By(_, method) => method.summary(),
        }
    }

    /// What to build for this, and how hard to try.
    fn plans(self, task: &Task<'_>, order: Order) -> Vec<Plan> {
        let plan = |construction, search, effort| Plan { construction, search, effort };
        match self {
            Algorithm::All => Construction::ALL
                .into_iter()
                .filter(|one| one.is_compared(task, order))
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

/// What `--search-seconds` means.
fn parse_seconds(argument: &str) -> Result<Duration, String> {
    match argument.parse::<f64>() {
        Ok(seconds) if (0.0..=LONGEST_SEARCH_SECONDS).contains(&seconds) => {
            Ok(Duration::from_secs_f64(seconds))
        }
        _ => Err(format!("a number of seconds from 0 to {LONGEST_SEARCH_SECONDS}")),
    }
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
        check_root(self.choice.root, payload.processors())?;
        Problem::new(self.op, payload, costs).map_err(|error| {
            CliError::Usage(format!(
                "--op: {error}; --vector is for broadcast and reduce, --dist and --sizes are for \
                 gather and scatter"
            ))
        })
    }
}
