//! The constructions to compare: the arguments, and their meaning.

mod few;

use crate::args::{
    CostArgs, PayloadArgs, PortArgs, check_root, default_ranks, named, one_of, parse_root,
};
use crate::error::CliError;
use crate::input::check_one_standard_input;
use crate::output::progress::Terminal;
use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use std::borrow::Cow;
use std::time::Duration;
use tuwtree_dp::Method;
use tuwtree_io::Source;
use tuwtree_measure::RecordedCall;
use tuwtree_model::quantity;
use tuwtree_model::quantity::{Cost, parse_bytes, parse_time_per_byte};
use tuwtree_model::{
    ClosedSet, Construction, MessageSizes, Operation, Operator, Order, PayloadKind, Ports, Problem,
    ProblemError, Root, StatedCosts, Tree,
};
use tuwtree_plan::{
    Comparison, Effort, Library, LocalSearch, Outcome, Request, Search, Settings, VectorUse,
    Wanted, Watch, WiderMethod, beyond_order, catalogue, compare,
};
use tuwtree_treegen::AdaptiveRule;

/// The problem, and the constructions to be compared.
#[derive(Args, Debug)]
#[command(group = clap::ArgGroup::new("payload").args(["dist", "bytes", "sizes", "vector", "matrix"]).required(true))]
pub(crate) struct ComparisonArgs {
    #[command(flatten)]
    pub(crate) payload: PayloadArgs,

    #[command(flatten)]
    pub(crate) costs: CostArgs,

    /// The operation
    ///
    /// Gather, scatter, allgather and reduce-scatter have a block for each process (--dist or --sizes); broadcast, reduce
    /// and allreduce one vector (--vector); alltoalls messages (--matrix, or a block for all others). Reductions keep
    /// rank order with --order ordered.
    #[arg(long, help_heading = "Comparison", value_name = "NAME", default_value = "gather",
          value_parser = few::stated_operation_parser())]
    op: few::StatedOperation,

    /// Ranks that alone receive (--op all-to-few) or send (few-to-all), separated by commas
    #[arg(
        long,
        help_heading = "Comparison",
        hide_short_help = true,
        value_name = "RANKS",
        value_delimiter = ','
    )]
    roots: Vec<usize>,

    #[command(flatten)]
    operator: OperatorArgs,

    #[command(flatten)]
    pub(crate) choice: Choice,
}

/// Properties of the operator of a reduction.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Operator (reductions)")]
struct OperatorArgs {
    /// Time per byte of combining two vectors, as for --beta [default: that of the machine, by a usual operator such as
    /// a sum of doubles, or 0]
    #[arg(long, hide_short_help = true, value_name = "TIME", allow_negative_numbers = true,
          value_parser = parse_time_per_byte)]
    combine: Option<Cost>,

    /// Bytes of an element: vectors are cut between elements only [default: 1]
    #[arg(long, hide_short_help = true, value_name = "BYTES", value_parser = parse_bytes)]
    element: Option<u64>,
}

impl OperatorArgs {
    /// The problem with the operator.
    ///
    /// # Errors
    /// [`CliError::Usage`]: an operation without one, parts of elements, times out of range or in another
    /// unit than the costs.
    fn apply(&self, problem: &Problem, costs: &CostArgs, cut: bool) -> Result<Problem, CliError> {
        let operation = problem.operation();
        // Times of trees are those of operators that take none.
        let has_one = operation.is_reduction() && (cut || !operation.is_rooted());
        let machine = problem.stated_costs().machine().filter(|_| has_one);
        let time = match self.combine {
            None => machine.map_or(0.0, |machine| machine.combine_per_byte),
            Some(combine) => costs.combine_time(combine, problem.stated_costs())?,
        };
        let operator = Operator::new(self.element.unwrap_or(1), time);
        let given = match (self.combine, self.element) {
            (Some(_), _) => "--combine",
            (None, _) => "--element",
        };
        operator
            .map_err(ProblemError::from)
            .and_then(|operator| problem.with_operator(operator))
            .map_err(|error| CliError::Usage(format!("{given}: {error}")))
    }
}

/// Constructions that are compared for a problem.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Comparison")]
pub(crate) struct Choice {
    /// The root: a rank, or `best` for one that each construction chooses [default: best]
    #[arg(long, value_name = "RANK|best", value_parser = parse_root, allow_hyphen_values = true)]
    pub(crate) root: Option<Root>,

    /// Constructions to compare, separated by commas or spaces; --help lists them by operation
    #[arg(long, value_name = "NAME", num_args = 1.., value_delimiter = ',', default_value = "all",
          hide_possible_values = true, value_parser = algorithm_parser(), long_help = algorithm_help())]
    pub(crate) algorithm: Vec<AlgorithmChoice>,

    /// Method by which the named constructions search for their trees [default: the fastest]
    #[arg(long, hide_short_help = true, value_name = "NAME", value_parser = method_parser())]
    method: Option<String>,

    /// Order of the blocks in trees of `--algorithm all`, and of operands in reductions without a root
    ///
    /// With `ordered`, reductions are for operators that do not commute. The root puts blocks out of order into it (see
    /// docs/beyond-ordered-trees.md). Default: trees in rank order.
    #[arg(long, value_name = "NAME", value_parser = named(|order: Order| match order {
              Order::Ordered => "those that keep blocks in rank order",
              Order::Direct => "also those in which large blocks go straight to the root",
              Order::Any => "also those that keep no order",
          }))]
    pub(crate) order: Option<Order>,

    /// Short for --order ordered
    #[arg(long, hide_short_help = true, conflicts_with = "order")]
    pub(crate) ordered: bool,

    /// For broadcast and reduce, compare schedules that may cut the vector, in place of trees
    #[arg(long, hide_short_help = true)]
    pub(crate) cut: bool,

    /// For broadcast, reduce and allreduce, leave out schedules that cut the vector
    #[arg(long, hide_short_help = true)]
    pub(crate) whole_vector: bool,

    #[command(flatten)]
    pub(crate) ports: PortArgs,

    /// Sending side in the adaptive construction
    #[arg(long, hide_short_help = true, value_name = "NAME", default_value = "completion-time",
          value_parser = adaptive_rule_parser())]
    pub(crate) adaptive_rule: AdaptiveRule,

    /// MPI library to compare with [default: the machine's, else the fastest for the problem]
    #[arg(long, value_name = "NAME", value_parser = one_of(Library::ALL.to_vec(), |library| {
              PossibleValue::new(library.name()).help(library.summary()).aliases(library.other_names())
          }))]
    pub(crate) library: Option<Library>,

    /// Prove the optimal tree's time in another way: by the lower bound or another method
    #[arg(long, hide_short_help = true)]
    pub(crate) certify: bool,

    #[command(flatten)]
    search: SearchArgs,
}

/// Extent of the local search of `searched`.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Local search (searched)")]
struct SearchArgs {
    /// Try this many orders of the ranks, at most 1000000 [default: 100, or 1000000 with
    /// --search-seconds]
    #[arg(long, hide_short_help = true, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=MOST_STEPS as i64))]
    search_steps: Option<u32>,

    /// Seed of the random orders; the same seed finds the same tree [default: 1]
    #[arg(
        long,
        hide_short_help = true,
        hide_default_value = true,
        value_name = "N",
        default_value_t = 1
    )]
    search_seed: u64,

    /// End after this many seconds, also as 500ms; the result then depends on the machine's speed
    #[arg(long, hide_short_help = true, value_name = "SECONDS", value_parser = parse_seconds,
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
            root: None,
            algorithm: vec![AlgorithmChoice::All],
            method: None,
            order: None,
            ordered: false,
            cut: false,
            whole_vector: false,
            ports: PortArgs::default(),
            adaptive_rule: AdaptiveRule::CompletionTime,
            library: None,
            certify: false,
            search: SearchArgs { search_seed: 1, ..SearchArgs::default() },
        }
    }
}

impl Choice {
    /// The planner's settings beside the problem.
    fn settings(&self, problem: &Problem) -> Settings {
        Settings {
            adaptive_rule: self.adaptive_rule,
            local_search: self.local_search(),
            order: self.order_for(problem),
            library: self.library_for(problem.stated_costs()),
            vector: if self.cut { VectorUse::Cut } else { VectorUse::Whole },
            keeps_vector_whole: self.whole_vector,
            ..Settings::DEFAULT
        }
    }

    /// Order that may be given up: none unless the option says so, and any in a reduction without a tree, as most
    /// operators commute.
    fn order_for(&self, problem: &Problem) -> Order {
        let operation = problem.operation();
        let default = match operation.is_reduction() && (self.cut || !operation.is_rooted()) {
            true => Order::Any,
            false => Order::Ordered,
        };
        let short = self.ordered.then_some(Order::Ordered);
        self.order.or(short).unwrap_or(default)
    }

    /// The library that gains are said against, if it is known: the one that is named, else the one that the costs were
    /// measured with.
    pub(crate) fn library_for(&self, costs: &StatedCosts) -> Option<Library> {
        let measured = || Library::named(&costs.machine()?.provenance);
        self.library.or_else(measured)
    }

    /// Extent of the local search.
    fn local_search(&self) -> LocalSearch {
        let SearchArgs { search_steps, search_seed, search_seconds } = self.search;
        let default = match search_seconds {
            Some(_) => MOST_STEPS as usize,
            None => LocalSearch::DEFAULT.steps,
        };
        LocalSearch {
            steps: search_steps.map_or(default, |steps| steps as usize),
            seed: search_seed,
            limit: search_seconds,
        }
    }

    /// All trees that are named, built and timed for a problem.
    ///
    /// # Errors
    /// A construction asked for by name that cannot be built; times that cannot be stated; as for
    /// [`wanted`](Self::wanted).
    pub(crate) fn compare(&self, problem: &Problem) -> Result<Comparison, CliError> {
        self.compare_watched(problem, &Terminal)
    }

    /// Compares, and leaves out a construction asked for by name that cannot be built.
    ///
    /// # Errors
    /// No construction that can be built; as for [`compare`](Self::compare).
    pub(crate) fn compare_leniently(&self, problem: &Problem) -> Result<Comparison, CliError> {
        let settings = Settings { leaves_out_refused: true, ..self.settings(problem) };
        self.compare_by(&Request::new(problem, settings, &Terminal))
    }

    /// Compares the named constructions, and a given tree; with `keeps_timelines`, keeps schedules' timelines for drawing.
    ///
    /// # Errors
    /// As for [`compare`](Self::compare).
    pub(crate) fn compare_with(
        &self,
        problem: &Problem,
        tree: Option<&Tree>,
        keeps_timelines: bool,
    ) -> Result<Comparison, CliError> {
        let settings = Settings { keeps_timelines, ..self.settings(problem) };
        self.compare_by(&Request::new(problem, settings, &Terminal).with_tree(tree))
    }

    /// Compares with another observer than the terminal.
    ///
    /// # Errors
    /// As for [`compare`](Self::compare).
    pub(crate) fn compare_watched(
        &self,
        problem: &Problem,
        watch: &dyn Watch,
    ) -> Result<Comparison, CliError> {
        self.compare_by(&Request::new(problem, self.settings(problem), watch))
    }

    fn compare_by(&self, request: &Request<'_>) -> Result<Comparison, CliError> {
        let wanted = self.wanted(request)?;
        Ok(compare(request, &wanted, self.certify)?)
    }

    /// Fails with exit code 2 if an option is not for this operation.
    pub(crate) fn check_operation(&self, operation: Operation) -> Result<(), CliError> {
        check_cut(self.cut, operation)?;
        let moves_vector = operation.payload_kind() == PayloadKind::Vector;
        if self.whole_vector && !moves_vector {
            let message =
                "--whole-vector is for broadcast, reduce and allreduce, which move one vector";
            return Err(CliError::Usage(message.into()));
        }
        let cuts = |one: &AlgorithmChoice| match *one {
            AlgorithmChoice::One(construction) => {
                catalogue::row(construction).cuts_vector(operation).then_some(construction)
            }
            _ => None,
        };
        match self.algorithm.iter().find_map(cuts).filter(|_| self.whole_vector) {
            Some(construction) => Err(CliError::Usage(format!(
                "--algorithm: {} cuts the vector, which --whole-vector does not allow",
                construction.name()
            ))),
            None => Ok(()),
        }
    }

    /// Trees that all constructions leave out of a comparison because they do not keep rank order, if they are worth
    /// lines.
    pub(crate) fn beyond_order(&self, problem: &Problem) -> Vec<Outcome> {
        match self.algorithm.contains(&AlgorithmChoice::All) {
            true => beyond_order(&Request::new(problem, self.settings(problem), &Terminal)),
            false => Vec::new(),
        }
    }

    /// The named constructions, by the method of --method if they have it.
    ///
    /// # Errors
    /// [`CliError::Usage`]: a method that none of them has.
    fn by_method(&self) -> Result<Vec<AlgorithmChoice>, CliError> {
        let Some(method) = &self.method else { return Ok(self.algorithm.clone()) };
        let searched = |one: AlgorithmChoice| {
            AlgorithmChoice::all().find(|by| by.name() == format!("{}-{method}", one.name()))
        };
        match self.algorithm.iter().any(|&one| searched(one).is_some()) {
            true => Ok(self.algorithm.iter().map(|&one| searched(one).unwrap_or(one)).collect()),
            false => {
                let have: Vec<Cow<'_, str>> = AlgorithmChoice::all()
                    .filter(|&one| searched(one).is_some())
                    .map(AlgorithmChoice::name)
                    .collect();
                Err(CliError::Usage(format!(
                    "--method {method}: --algorithm names none of {}",
                    have.join(", ")
                )))
            }
        }
    }

    /// The trees of all names together, in the order of the constructions; a construction that is
    /// both named and among all, or to be certified, gets the effort of a named one.
    ///
    /// # Errors
    /// A certificate for an optimal tree that is not among them, or is one for one port only.
    fn wanted(&self, request: &Request<'_>) -> Result<Vec<Wanted>, CliError> {
        let order = self.order_for(request.problem);
        let algorithms = self.by_method()?;
        let mut wanted: Vec<Wanted> =
            algorithms.iter().flat_map(|one| one.wanted(request, order)).collect();
        wanted.extend(request.has_tree().then(|| Wanted::named(Construction::Given)));
        for one in &mut wanted {
            // Consecutive trees of many ranks, and the best of all trees, take too long for whoever did not name them.
            let takes_long = [Construction::Optimal, Construction::Exact];
            let is_affordable = !takes_long.contains(&one.construction);
            if self.certify && is_affordable && catalogue::row(one.construction).is_best_of_class {
                one.effort = Effort::Any;
            }
        }
        if self.certify
            && !wanted.iter().any(|one| catalogue::row(one.construction).is_best_of_class)
        {
            let message = "--certify proves optimal trees, and --algorithm names none";
            return Err(CliError::Usage(message.into()));
        }
        if self.certify && request.problem.ports() != Ports::ONE {
            let message = "--certify proves optimal trees, which are so for one port only";
            return Err(CliError::Usage(message.into()));
        }
        let method = |one: &Wanted| request.settled(*one).search;
        wanted.sort_by_key(|one| (one.construction, method(one).map(Search::name), one.effort));
        wanted.dedup_by_key(|one| (one.construction, method(one)));
        Ok(wanted)
    }
}

/// A value of `--algorithm`: all constructions, one, or one by a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AlgorithmChoice {
    All,
    One(Construction),
    By(Construction, Method),
    /// Of a class that has engines of its own.
    ByWider(Construction, WiderMethod),
}

impl AlgorithmChoice {
    /// Everything that can be named.
    fn all() -> impl Iterator<Item = AlgorithmChoice> {
        let by = |construction, methods: fn(&Method) -> bool| {
            let methods = Method::all().rev().filter(methods);
            methods.map(move |method| AlgorithmChoice::By(construction, method))
        };
        std::iter::once(AlgorithmChoice::All)
            .chain(Construction::all().map(AlgorithmChoice::One))
            .chain(by(Construction::Binary, |method| method.finds_binary_trees()))
            .chain(by(Construction::Adjacent, |_| true))
            .chain([Construction::Optimal, Construction::CopyFirst].into_iter().flat_map(|one| {
                let methods = [WiderMethod::Dense, WiderMethod::Plain];
                methods.map(|method| AlgorithmChoice::ByWider(one, method))
            }))
    }

    fn name(self) -> Cow<'static, str> {
        match self {
            AlgorithmChoice::All => "all".into(),
            AlgorithmChoice::One(construction) => construction.name().into(),
            AlgorithmChoice::By(construction, method) => {
                format!("{}-{}", construction.name(), method.name()).into()
            }
            AlgorithmChoice::ByWider(construction, method) => {
                format!("{}-{}", construction.name(), Search::Wider(method).name()).into()
            }
        }
    }

    fn summary(self) -> &'static str {
        match self {
            AlgorithmChoice::All => {
                "all constructions that suit --order, costs, memory and time limits"
            }
            AlgorithmChoice::One(construction) => catalogue::row(construction).summary,
            AlgorithmChoice::By(_, method) => method.summary(),
            AlgorithmChoice::ByWider(_, WiderMethod::Plain) => {
                "the recurrence split by split, O(p^3) and more; any costs that all pairs share"
            }
            AlgorithmChoice::ByWider(_, WiderMethod::Dense) => {
                "every range in O(1), O(p^2) and more; gamma <= beta, or costs by size"
            }
        }
    }

    /// The constructions to build for this, and their effort.
    fn wanted(self, request: &Request<'_>, order: Order) -> Vec<Wanted> {
        match self {
            AlgorithmChoice::All => request.suitable(order, Effort::Moderate),
            AlgorithmChoice::One(construction) => vec![Wanted::named(construction)],
            AlgorithmChoice::By(construction, method) => vec![Wanted {
                search: Some(Search::Homogeneous(method)),
                ..Wanted::named(construction)
            }],
            AlgorithmChoice::ByWider(construction, method) => {
                vec![Wanted { search: Some(Search::Wider(method)), ..Wanted::named(construction) }]
            }
        }
    }
}

fn algorithm_parser() -> impl TypedValueParser<Value = AlgorithmChoice> {
    one_of(AlgorithmChoice::all().collect(), |one| {
        let is_method = matches!(one, AlgorithmChoice::By(..) | AlgorithmChoice::ByWider(..));
        let is_hidden = is_method || one == AlgorithmChoice::One(Construction::Given);
        PossibleValue::new(one.name()).help(one.summary()).hide(is_hidden)
    })
}

/// Long help of `--algorithm`: the constructions by operation.
fn algorithm_help() -> String {
    let mut help = "Constructions to compare, separated by commas or spaces; docs/constructions.md and docs/collectives.md describe them\n\n- all: \
                    all that suit --order, costs, memory and time limits\n"
        .to_owned();
    let names = |suits: &dyn Fn(Construction) -> bool| -> String {
        let names: Vec<&str> =
            Construction::all().filter(|&one| suits(one)).map(|one| one.name()).collect();
        names.join(", ")
    };
    let trees = names(&|one| one.builds_trees() && one != Construction::Given);
    help += &format!("- trees, for operations with a root: {trees}\n");
    for operation in Operation::all() {
        let is_tree = |one: Construction| one.builds_trees() && operation.is_rooted();
        let of_operation = |one: Construction| one.performs(operation) && !is_tree(one);
        let names = names(&of_operation);
        let cut = if operation.is_rooted() { " --cut" } else { "" };
        if !names.is_empty() {
            help += &format!("- {}{cut}: {names}\n", operation.name());
        }
    }
    help.trim_end().to_owned()
}

/// Parser of `--method`.
fn method_parser() -> impl TypedValueParser<Value = String> {
    PossibleValuesParser::new(
        Method::all().map(|method| PossibleValue::new(method.name()).help(method.summary())),
    )
}

fn adaptive_rule_parser() -> impl TypedValueParser<Value = AdaptiveRule> {
    named(|rule: AdaptiveRule| match rule {
        AdaptiveRule::CompletionTime => "the direction that completes first, as in the tables",
        AdaptiveRule::GatherTime => "the side with the smaller gather time (Träff 2018, Lemma 1)",
        AdaptiveRule::DataSize => "the side with less data (Träff 2018, Lemma 4)",
    })
}

/// Value of `--search-seconds`.
fn parse_seconds(argument: &str) -> Result<Duration, String> {
    match quantity::parse_seconds(argument) {
        Ok(seconds) if (0.0..=LONGEST_SEARCH_SECONDS).contains(&seconds) => {
            Ok(Duration::from_secs_f64(seconds))
        }
        _ => Err(format!(
            "a number of seconds from 0 to {LONGEST_SEARCH_SECONDS} is needed, or a time such as 2s or 500ms"
        )),
    }
}

/// Fails with exit code 2 if a vector is to be cut of an operation that moves none from or to a root.
pub(crate) fn check_cut(cut: bool, operation: Operation) -> Result<(), CliError> {
    if cut && !matches!(operation, Operation::Broadcast | Operation::Reduce) {
        let message = "--cut is for broadcast and reduce, which move one vector from or to a root";
        return Err(CliError::Usage(message.into()));
    }
    Ok(())
}

impl ComparisonArgs {
    /// The problem of a recorded call, or the reason for having none with these costs.
    ///
    /// # Errors
    /// A machine that cannot be read, costs out of range.
    pub(crate) fn recorded(
        &self,
        call: &RecordedCall,
    ) -> Result<Result<Problem, String>, CliError> {
        let costs = self.costs.costs(None)?;
        let operation = call.operation;
        if operation.payload_kind() == PayloadKind::Messages {
            if call.matrix_bytes.is_empty() {
                let reason = "of an alltoall, each rank records its own messages: all ranks' recordings of equally many \
                              calls are needed (FILE*)";
                return Ok(Err(reason.to_owned()));
            }
            let sizes = MessageSizes::new(call.matrix_bytes.iter().copied());
            let problem = sizes.map_err(|error| error.to_string()).and_then(|sizes| {
                costs.costs().check_ranks(sizes.ranks()).map_err(|error| error.to_string())?;
                Problem::new(operation, sizes, costs).map_err(|error| error.to_string())
            });
            let duplex = self.choice.ports.duplex();
            return Ok(problem.map(|problem| problem.with_duplex(duplex)));
        }
        let ports = match operation.is_rooted() {
            true => self.choice.ports.for_tree(operation)?,
            false => Ports::ONE,
        };
        let problem = call.sizes().map_err(|error| error.to_string()).and_then(|sizes| {
            let ranks = sizes.ranks();
            costs.costs().check_ranks(ranks).map_err(|error| error.to_string())?;
            let problem =
                Problem::new(operation, sizes, costs).map_err(|error| error.to_string())?;
            match operation.is_rooted() {
                true => {
                    problem.with_root(Root::Given(call.root)).map_err(|error| error.to_string())
                }
                false => Ok(problem),
            }
        });
        let duplex = self.choice.ports.duplex();
        Ok(problem.map(|problem| problem.with_ports(ports).with_duplex(duplex)))
    }

    /// The problem.
    ///
    /// # Errors
    /// Blocks or a machine that cannot be read, anything out of range.
    pub(crate) fn load(&self) -> Result<Problem, CliError> {
        check_one_standard_input(&[
            ("--sizes", self.payload.sizes.as_ref()),
            ("--sizes-remote", self.payload.sizes_remote.as_ref()),
            ("--matrix", self.payload.matrix.as_ref()),
            ("--machine", self.costs.machine.as_ref()),
        ])?;
        let op = self.op.operation;
        let costs = match self.choice.cut || !op.is_rooted() {
            true => self.costs.costs_of_schedules(None)?,
            false => self.costs.costs(None)?,
        };
        let payload = self.payload.load(default_ranks(costs.costs()))?;
        let payload = payload.expect("clap requires --dist, --sizes or --vector");
        self.costs.check_ranks(&costs, payload.ranks())?;
        if let Some(root) = self.choice.root {
            check_root(root, payload.ranks())?;
        }
        let kind = op.payload_kind();
        match payload.kind() {
            PayloadKind::Messages if kind != PayloadKind::Messages => {
                return Err(CliError::Usage(format!(
                    "--matrix: {} needs {}; messages of all pairs are for alltoall",
                    op.name(),
                    match kind {
                        PayloadKind::Vector => "one vector size (--vector)",
                        PayloadKind::Groups => "block sizes of two groups",
                        PayloadKind::Blocks | PayloadKind::Messages => "block sizes",
                    }
                )));
            }
            PayloadKind::Groups if kind != PayloadKind::Groups => {
                return Err(CliError::Usage(format!(
                    "--sizes-remote: {} has one group; two are for intergroup-allgather",
                    op.name()
                )));
            }
            _ => {}
        }
        let payload = self.op.few(&self.roots, payload)?;
        let payload = payload
            .adapted_to(op)
            .map_err(|error| CliError::Usage(format!("--op {}: {error}", op.name())))?;
        let problem = Problem::new(op, payload, costs).map_err(|error| {
            CliError::Usage(format!(
                "--op: {error}; --vector is for broadcast, reduce and allreduce, --dist and --sizes are \
                 for gather, scatter, allgather and reduce-scatter, --matrix is for alltoall, --sizes with \
                 --sizes-remote for intergroup-allgather"
            ))
        })?;
        self.choice.check_operation(op)?;
        let problem = self.operator.apply(&problem, &self.costs, self.choice.cut)?;
        let ports = match self.choice.cut {
            true => self.choice.ports.for_operation(op)?,
            false => self.choice.ports.for_tree(op)?,
        };
        let problem = match self.choice.root {
            Some(root) => problem
                .with_root(root)
                .map_err(|error| CliError::Usage(format!("--root: {error}")))?,
            None => problem,
        };
        if self.payload.dist.is_none() {
            self.costs.note_assumed();
        }
        self.costs.note_warnings(problem.stated_costs());
        Ok(problem.with_ports(ports).with_duplex(self.choice.ports.duplex()))
    }

    /// The machine whose costs are taken, if one is given.
    pub(crate) fn machine(&self) -> Option<&Source> {
        self.costs.machine.as_ref()
    }

    /// Says what the provenance of the machine warns of, if one is given.
    ///
    /// # Errors
    /// A machine that cannot be read, costs out of range.
    pub(crate) fn note_warnings(&self) -> Result<(), CliError> {
        self.costs.costs(None).map(|costs| self.costs.note_warnings(&costs))
    }
}
