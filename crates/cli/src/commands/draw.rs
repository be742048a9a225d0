//! `tuwtree draw`: a tree or a timeline as a picture.

use crate::args::{CostArgs, PayloadArgs, PortArgs, named};
use crate::error::CliError;
use crate::input::{bound_on_schedule, check_sources, problem, stated_costs};
use crate::output::picture;
use clap::Args;
use std::io::IsTerminal;
use std::process::ExitCode;
use tuwtree_bounds::best_lower_bound;
use tuwtree_io::schedule::{self, Document};
use tuwtree_io::{Destination, Source};
use tuwtree_model::document::TreeDocument;
use tuwtree_model::{PayloadKind, Ports, Problem, Root, StatedCosts, Time, Tree};
use tuwtree_picture::{Colouring, Performance, TimelinePicture, TreePicture};
use tuwtree_schedule::{Schedule, Timeline, perform, tree_of};

/// Draw a tree, or the timeline of all processes, as SVG, PNG or PDF.
///
/// Parts that do not fit are summarized: subtrees, runs of children, processes that share a row. In an SVG, details show while the pointer is over a line, a box or a bar.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DrawArgs {
    /// The tree or schedule, or `-` for standard input
    #[arg(value_name = "FILE", value_parser = Source::parse)]
    file: Source,

    /// Picture to draw [default: the tree, or the timeline of a schedule without a tree]
    #[arg(long, value_name = "NAME", value_parser = named(Picture::summary))]
    picture: Option<Picture>,

    /// Meaning of the colours of a tree's lines [default: critical-path]
    #[arg(long, value_name = "NAME", value_parser = named(|one: Colouring| {
        match one {
            Colouring::CriticalPath => "which messages determine the completion time",
            Colouring::Wait => "who waits for whom, and how long",
            Colouring::Volume => "how many bytes are sent",
        }
    }))]
    colour_by: Option<Colouring>,

    /// The most rows, 8 to 2000; what does not fit is summarized
    #[arg(long, value_name = "N", default_value_t = 64,
          value_parser = clap::value_parser!(u16).range(TreePicture::LEAST_ROWS as i64..=2000))]
    rows: u16,

    /// Down to which depth below the root each process is drawn, 1 to 200
    /// [default: 12]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=200))]
    depth: Option<u16>,

    #[command(flatten)]
    payload: PayloadArgs,

    #[command(flatten)]
    costs: CostArgs,

    #[command(flatten)]
    ports: PortArgs,

    /// Write to this file, whose name ends with `.svg`, `.svg.gz`, `.png` or `.pdf`, or SVG to
    /// standard output with `-`
    #[arg(help_heading = "Output", short, long, value_name = "FILE", default_value = "-", value_parser = Destination::parse)]
    output: Destination,
}

const EXAMPLES: &str = "\
Example:
  tuwtree draw tree.json -o tree.svg";

/// Kinds of pictures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "kebab-case")]
enum Picture {
    Tree,
    Timeline,
}

impl Picture {
    fn summary(self) -> &'static str {
        match self {
            Picture::Tree => "who sends to whom; wide lines are large messages",
            Picture::Timeline => "what each process does when, a row for each",
        }
    }
}

/// Runs the command.
///
/// # Errors
/// A file that is neither a valid tree nor schedule; what cannot be drawn of it; an output whose
/// format is unknown or that cannot be written.
pub(crate) fn run(args: &DrawArgs) -> Result<ExitCode, CliError> {
    let format = picture::format_of("--output", &args.output)?;
    if matches!(args.output, Destination::StandardOutput) && std::io::stdout().is_terminal() {
        let message = "an SVG is nothing to read on a terminal: write it to a file, -o tree.svg (`tuwtree show` prints \
                       trees), or pass it on to a program";
        return Err(CliError::Usage(message.into()));
    }
    check_options(args)?;
    check_sources(&args.file, &args.payload, &args.costs)?;
    let output = args.output.open()?;
    let svg = draw(args)?;
    let bytes = picture::bytes(format, svg, "draw fewer --rows, or SVG")?;
    output.write(|file| file.write_all(&bytes))?;
    Ok(ExitCode::SUCCESS)
}

/// Fails with exit code 2 if an option does not go with the picture.
fn check_options(args: &DrawArgs) -> Result<(), CliError> {
    let option = match (args.picture, args.colour_by, args.depth) {
        (Some(Picture::Timeline), Some(_), _) => "--colour-by",
        (Some(Picture::Timeline), _, Some(_)) => "--depth",
        _ => return Ok(()),
    };
    Err(CliError::Usage(format!("{option} is for --picture tree")))
}

fn draw(args: &DrawArgs) -> Result<String, CliError> {
    match schedule::read(&args.file)? {
        Document::Tree(document) => draw_tree_document(args, &document),
        Document::Schedule(schedule) => {
            args.ports.check_not_given(&args.file)?;
            let schedule = args.ports.on(schedule);
            if args.payload.load(schedule.ranks())?.is_some() {
                let message = format!(
                    "{}: a schedule has its data; --sizes, --dist and --vector are for trees",
                    args.file
                );
                return Err(CliError::Usage(message));
            }
            let costs = stated_costs(&schedule, &args.file, &args.costs)?;
            let timeline = simulated(args, &schedule, &costs)?;
            let is_of_tree = args.colour_by.is_some() || args.depth.is_some();
            let tree = match args.picture {
                Some(Picture::Timeline) => None,
                None if !is_of_tree => tree_of(&schedule),
                None | Some(Picture::Tree) => Some(tree_of(&schedule).ok_or_else(|| {
                    let reason =
                        "the schedule is not along a tree; draw it with --picture timeline";
                    args.file.failure(&reason)
                })?),
            };
            let performance =
                Performance { schedule: &schedule, timeline: &timeline, costs: &costs };
            Ok(svg(args, tree.as_ref(), performance))
        }
    }
}

fn draw_tree_document(args: &DrawArgs, document: &TreeDocument) -> Result<String, CliError> {
    let problem = problem(document, &args.file, &args.payload, &args.costs)?;
    let Some(problem) = problem else {
        return match (args.picture, args.colour_by) {
            (None | Some(Picture::Tree), None) => {
                Ok(tree_picture(args, &document.tree, None).svg())
            }
            _ => Err(CliError::Usage(format!(
                "{}: the tree file holds no block sizes; give them with --sizes or --dist, or --vector",
                args.file
            ))),
        };
    };
    let problem = problem.with_ports(args.ports.for_tree(problem.operation())?);
    let schedule =
        Schedule::of_tree(&document.tree, &problem).map_err(|error| args.file.failure(&error))?;
    let costs = problem.stated_costs();
    let timeline = simulated(args, &schedule, costs)?;
    let performance = Performance { schedule: &schedule, timeline: &timeline, costs };
    let tree = (args.picture != Some(Picture::Timeline)).then_some(&document.tree);
    Ok(svg(args, tree, performance))
}

fn simulated(
    args: &DrawArgs,
    schedule: &Schedule,
    costs: &StatedCosts,
) -> Result<Timeline, CliError> {
    perform(schedule, costs).map_err(|error| args.file.failure(&error).into())
}

/// The picture of the tree if there is one to be drawn, else of the timeline.
fn svg(args: &DrawArgs, tree: Option<&Tree>, performance: Performance<'_>) -> String {
    match tree {
        Some(tree) => tree_picture(args, tree, Some(performance)).svg(),
        None => timeline_picture(performance, args.rows.into()),
    }
}

/// The timeline on this many rows, with the lower bound.
pub(crate) fn timeline_picture(performance: Performance<'_>, rows: usize) -> String {
    let bound = lower_bound(performance);
    TimelinePicture::new(performance).within(rows).bounded(bound).svg()
}

/// A lower bound on the completion time of all trees if the schedule is along one, else of all schedules; that of
/// the picture of a gather along none is left out.
fn lower_bound(performance: Performance<'_>) -> Option<Time> {
    let Performance { schedule, costs, .. } = performance;
    let task = schedule.task();
    if tree_of(schedule).is_none() {
        let is_bounded =
            !task.operation.is_rooted() || task.operation.payload_kind() == PayloadKind::Vector;
        return is_bounded.then(|| bound_on_schedule(schedule, costs).ok()).flatten();
    }
    let ports = Ports::new(task.ports)?;
    let problem = Problem::new(task.operation, task.payload.clone(), costs.clone()).ok()?;
    let problem = problem.with_root(Root::Given(task.root?)).ok()?;
    best_lower_bound(&problem.with_ports(ports).with_operator(task.operator).ok()?).ok()
}

fn tree_picture<'a>(
    args: &DrawArgs,
    tree: &'a Tree,
    performance: Option<Performance<'a>>,
) -> TreePicture<'a> {
    TreePicture::new(tree, performance)
        .coloured(args.colour_by.unwrap_or_default())
        .within(args.rows.into(), args.depth.unwrap_or(12).into())
}
