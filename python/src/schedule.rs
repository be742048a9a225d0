//! Trees, what each rank does, and when.

use crate::error::{invalid, wrong};
use crate::machine::Machine;
use crate::problem::Problem;
use crate::watch::interruptible;
use pyo3::prelude::*;
use std::sync::Arc;
use tuwtree::model::StatedCosts;
use tuwtree::model::document::TreeDocument;
use tuwtree::schedule::{Deed, Handover, Timeline, document};
use tuwtree::{ClosedSet, Homogeneous};
use tuwtree_cli::front_end::{Simulated, timeline_picture};
use tuwtree_io::Source;
use tuwtree_io::schedule::{Document, read as read_document};
use tuwtree_picture::{Colouring, Performance, TreePicture};

/// Who sends to whom, with the problem that the tree was made for.
#[pyclass(frozen, module = "tuwtree._native")]
pub(crate) struct Tree(pub(crate) TreeDocument);

/// What each rank does.
#[pyclass(frozen, module = "tuwtree._native")]
pub(crate) struct Schedule(pub(crate) Arc<tuwtree::Schedule>);

/// When each rank does it.
#[pyclass(frozen, module = "tuwtree._native")]
pub(crate) struct Simulation {
    schedule: Arc<tuwtree::Schedule>,
    costs: StatedCosts,
    timeline: Timeline,
    document: String,
    text: String,
}

/// What the actions of a schedule are, a column each: rank, kind, to, from (-1 for none), bytes, and when a rank is
/// ready for it, starts and ends it.
type Columns =
    (Vec<usize>, Vec<&'static str>, Vec<i64>, Vec<i64>, Vec<u64>, Vec<f64>, Vec<f64>, Vec<f64>);

/// The tree or the schedule in a file, the other `None`.
#[pyfunction]
pub(crate) fn read(path: &str) -> PyResult<(Option<Tree>, Option<Schedule>)> {
    let source = Source::parse(path).map_err(|error| wrong("path", error))?;
    Ok(match read_document(&source).map_err(|error| wrong("path", error))? {
        Document::Tree(tree) => (Some(Tree(tree)), None),
        Document::Schedule(schedule) => (None, Some(Schedule(Arc::new(schedule)))),
    })
}

/// One of a closed set by its name.
fn named<T: ClosedSet>(argument: &str, name: &str) -> PyResult<T> {
    name.parse().map_err(|_| invalid(argument, format!("{name:?}"), T::names()))
}

/// So many rows of a picture.
fn rows_of(rows: usize) -> PyResult<usize> {
    match (TreePicture::LEAST_ROWS..=2000).contains(&rows) {
        true => Ok(rows),
        false => Err(invalid("rows", rows, format!("{} to 2000", TreePicture::LEAST_ROWS))),
    }
}

/// The schedule, simulated at these costs.
#[pyfunction]
#[pyo3(signature = (schedule, machine, sends, posts))]
pub(crate) fn simulate(
    py: Python<'_>,
    schedule: &Schedule,
    machine: Option<&Machine>,
    sends: &str,
    posts: &str,
) -> PyResult<Simulation> {
    let handover = Handover { sends: named("sends", sends)?, posts: named("posts", posts)? };
    let schedule = schedule.0.clone();
    let costs = match (machine, &schedule.task().costs) {
        (Some(machine), _) => machine.0.clone(),
        (None, Some(costs)) => costs.clone(),
        (None, None) => Homogeneous::new(100.0, 1.0, 1.0).expect("costs").into(),
    };
    let check = costs.costs().check_ranks(schedule.ranks());
    check.map_err(|error| wrong("machine", error))?;
    let simulated = interruptible(py, |_| {
        let simulated = Simulated::new(&schedule, costs.clone(), handover)?;
        Ok((simulated.document().to_string(), simulated.text(), simulated.into_timeline()))
    })?;
    let (document, text, timeline) =
        simulated.map_err(|error: tuwtree::schedule::SimulationError| wrong("schedule", error))?;
    Ok(Simulation { schedule, costs, timeline, document, text })
}

#[pymethods]
impl Tree {
    /// The tree of a problem, whose schedule can be made.
    fn with_problem(&self, problem: &Problem) -> PyResult<Tree> {
        let (tree, problem) = (self.0.tree.clone(), problem.0.clone());
        let (ranks, blocks) = (tree.ranks(), problem.ranks());
        match ranks == blocks {
            true => Ok(Tree(TreeDocument { tree, problem: Some(problem) })),
            false => Err(wrong("problem", format!("{blocks} ranks, but the tree has {ranks}"))),
        }
    }

    /// The document that `tuwtree optimize -o` writes.
    fn document(&self) -> PyResult<String> {
        serde_json::to_string(&self.0).map_err(|error| wrong("tree", error))
    }

    /// The number of ranks.
    fn processes(&self) -> usize {
        self.0.tree.ranks()
    }

    /// The root's rank.
    fn root(&self) -> usize {
        self.0.tree.root()
    }

    /// Messages on the longest way to the root.
    fn depth(&self) -> usize {
        self.0.tree.depth()
    }

    /// The parent of each rank; -1 for the root.
    fn parents(&self) -> Vec<i64> {
        let tree = &self.0.tree;
        (0..tree.ranks()).map(|rank| tree.parent(rank).map_or(-1, |one| one as i64)).collect()
    }

    /// The children of a rank, in the order in which they are served.
    fn children(&self, rank: usize) -> PyResult<Vec<usize>> {
        let tree = &self.0.tree;
        match rank < tree.ranks() {
            true => Ok(tree.children(rank).collect()),
            false => Err(invalid("rank", rank, format!("0 to {}", tree.ranks() - 1))),
        }
    }

    /// The completion time, in time units of the costs.
    fn completion_time(&self) -> PyResult<f64> {
        let problem = self.problem()?;
        let time = tuwtree::completion_time(&self.0.tree, problem);
        time.map(|time| time.units()).map_err(|error| wrong("tree", error))
    }

    /// What each rank does along the tree.
    fn schedule(&self, py: Python<'_>) -> PyResult<Schedule> {
        let problem = self.problem()?;
        let made = interruptible(py, |_| tuwtree::Schedule::of_tree(&self.0.tree, problem))?;
        Ok(Schedule(Arc::new(made.map_err(|error| wrong("tree", error))?)))
    }

    /// A picture, as SVG.
    fn svg(&self, py: Python<'_>, colour: &str, rows: usize, depth: usize) -> PyResult<String> {
        let (colour, rows): (Colouring, usize) = (named("colour", colour)?, rows_of(rows)?);
        if !(1..=200).contains(&depth) {
            return Err(invalid("depth", depth, "1 to 200"));
        }
        let tree = &self.0.tree;
        let Some(problem) = &self.0.problem else {
            return Ok(TreePicture::new(tree, None).coloured(colour).within(rows, depth).svg());
        };
        let costs = problem.stated_costs();
        let schedule = self.schedule(py)?.0;
        let drawn = interruptible(py, |_| {
            let timeline = tuwtree::schedule::perform(&schedule, costs)?;
            let performance = Performance { schedule: &schedule, timeline: &timeline, costs };
            let picture = TreePicture::new(tree, Some(performance));
            Ok(picture.coloured(colour).within(rows, depth).svg())
        })?;
        drawn.map_err(|error: tuwtree::schedule::SimulationError| wrong("tree", error))
    }
}

impl Tree {
    fn problem(&self) -> PyResult<&tuwtree::Problem> {
        let missing = "it holds no block sizes; give them with with_problem";
        self.0.problem.as_ref().ok_or_else(|| wrong("tree", missing))
    }
}

#[pymethods]
impl Schedule {
    /// The document that `tuwtree export --format json` writes.
    fn document(&self) -> PyResult<String> {
        let mut text = Vec::new();
        document::write(&self.0, &mut text).map_err(|error| wrong("schedule", error))?;
        String::from_utf8(text).map_err(|error| wrong("schedule", error))
    }

    /// The number of ranks.
    fn processes(&self) -> usize {
        self.0.ranks()
    }

    /// The operation's name.
    fn operation(&self) -> &'static str {
        self.0.task().operation.name()
    }

    /// The most actions of a rank.
    fn most_actions(&self) -> usize {
        self.0.most_actions()
    }

    /// Nothing if the schedule does what its operation asks for, else what is wrong with it.
    fn fault(&self, py: Python<'_>) -> PyResult<Option<String>> {
        let schedule = &self.0;
        interruptible(py, |_| tuwtree::verify(schedule).err().map(|fault| fault.to_string()))
    }
}

#[pymethods]
impl Simulation {
    /// When the last rank has ended, in time units of the costs.
    fn completion_time(&self) -> f64 {
        self.timeline.completion_time().units()
    }

    /// The document that `tuwtree simulate --json` prints.
    fn document(&self) -> &str {
        &self.document
    }

    /// The times in words.
    fn text(&self) -> &str {
        &self.text
    }

    /// All actions, rank after rank.
    fn columns(&self) -> Columns {
        let mut columns = Columns::default();
        for rank in 0..self.schedule.ranks() {
            let times = self.timeline.actions(rank);
            for (action, times) in self.schedule.programs().actions(rank).zip(times) {
                let kind = match action.deed {
                    Deed::Copy { .. } if action.combines().is_some() => "combine",
                    Deed::Copy { .. } => "copy",
                    Deed::Send(_) => "send",
                    Deed::Receive(_) => "receive",
                    Deed::Exchange(..) => "exchange",
                };
                let bytes = action.reads().or(action.writes()).map_or(0, |region| region.bytes());
                columns.0.push(rank);
                columns.1.push(kind);
                columns.2.push(action.send().map_or(-1, |send| send.to as i64));
                columns.3.push(action.receive().map_or(-1, |receive| receive.from as i64));
                columns.4.push(bytes);
                columns.5.push(times.ready.units());
                columns.6.push(times.start.units());
                columns.7.push(times.end.units());
            }
        }
        columns
    }

    /// The timeline as SVG.
    fn svg(&self, py: Python<'_>, rows: usize) -> PyResult<String> {
        let rows = rows_of(rows)?;
        let Simulation { schedule, costs, timeline, .. } = self;
        let performance = Performance { schedule, timeline, costs };
        interruptible(py, |_| timeline_picture(performance, rows))
    }
}
