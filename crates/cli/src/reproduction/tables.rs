//! The published tables, and their problems solved again: by the published program's rules and
//! truly.
//!
//! # Source
//! J. L. Träff, "On Optimal Trees for Irregular Gather and Scatter Collectives" (OPT), Tables 1
//! to 3. The rules of the program behind them are inferred from its results.

use crate::error::CliError;
use tuwtree_dp::published;
use tuwtree_model::{
    BlockSizes, ClosedSet, Construction, Distribution, DistributionParameters, Homogeneous,
    Problem, Randomness, Rank, Root, ScaledSizes, Tree, completion_time,
};
use tuwtree_plan::{NoTree, Request, Settings, Wanted};
use tuwtree_treegen::{linear, linear_times, oblivious, oblivious_times, published_root};

/// `data/published_tables.csv`.
pub const TABLES: &str = include_str!("../../data/published_tables.csv");

/// The constructions of the tables, in the order of their columns.
pub(crate) const CONSTRUCTIONS: [Construction; 5] = [
    Construction::Linear,
    Construction::Oblivious,
    Construction::Adaptive,
    Construction::Binary,
    Construction::Adjacent,
];

/// The tables' name of a construction: the best of the adjacent trees is optimal there.
pub(crate) fn published_name(construction: Construction) -> &'static str {
    match construction {
        Construction::Adjacent => Construction::Optimal.name(),
        other => other.name(),
    }
}

/// The externally given root of all tables, `p/2`.
const FIXED_ROOT: Rank = 1000;

/// One problem of the tables: two rows, one with a fixed root and one with a chosen one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PublishedProblem {
    pub(crate) table: u32,
    pub(crate) alpha: u32,
    pub(crate) gamma: u32,
    pub(crate) distribution: Distribution,
}

/// Chooser of the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "kebab-case")]
pub(crate) enum RootMode {
    Fixed,
    Chosen,
}

/// A published number.
#[derive(Clone, Debug)]
pub(crate) struct PublishedCell {
    problem: PublishedProblem,
    root_mode: RootMode,
    construction: Construction,
    total_size: u64,
    time: u64,
    root: Option<Rank>,
}

/// One row of a table.
#[derive(Clone, Debug)]
pub(crate) struct PublishedRow {
    pub(crate) problem: PublishedProblem,
    pub(crate) root_mode: RootMode,
    pub(crate) total_size: u64,
    /// One for each construction, in the order of [`CONSTRUCTIONS`].
    pub(crate) cells: Vec<Cell>,
}

/// One number of a table with its root: as published, as the published program's rules give it, and
/// as it truly is. Roots are those chosen; `None` where the root is fixed.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    pub(crate) published_time: u64,
    pub(crate) published_root: Option<Rank>,
    pub(crate) recomputed_time: u64,
    pub(crate) recomputed_root: Option<Rank>,
    pub(crate) true_time: u64,
    pub(crate) true_root: Option<Rank>,
    /// A note on the published number.
    pub(crate) note: Option<Note>,
}

/// A published number that is not the claimed one, or does not come out as printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "kebab-case")]
pub(crate) enum Note {
    /// Linear and oblivious trees, chosen root.
    LastBetterRoot,
    /// Optimal trees, chosen root.
    LastRankMissing,
    /// A root that differs, and is as good.
    Tie,
    /// None of these.
    Unexplained,
}

impl Note {
    /// Mark in front of the published number.
    pub(crate) fn mark(self) -> &'static str {
        match self {
            Note::LastBetterRoot => "*",
            Note::LastRankMissing => "+",
            Note::Tie => "=",
            Note::Unexplained => "?",
        }
    }

    /// The footnote.
    pub(crate) fn explanation(self) -> &'static str {
        match self {
            Note::LastBetterRoot => {
                "not the least over all roots; the published program kept the last root that is \
                 better than root 0, not the best one"
            }
            Note::LastRankMissing => {
                "not the optimum; the published program never made the last rank of a range \
                 its root (equation 6 of the paper)"
            }
            Note::Tie => {
                "the published root and the recomputed one differ, and both attain the published \
                 time"
            }
            Note::Unexplained => "does not come out as printed",
        }
    }
}

impl PublishedProblem {
    /// The 66 problems in the order of the tables.
    pub(crate) fn all() -> impl Iterator<Item = PublishedProblem> {
        [(1, 100), (2, 1), (3, 1000)].into_iter().flat_map(|(table, alpha)| {
            [1, 0].into_iter().flat_map(move |gamma| {
                Distribution::published().map(move |distribution| PublishedProblem {
                    table,
                    alpha,
                    gamma,
                    distribution,
                })
            })
        })
    }

    /// Common parameters of one half of a table.
    pub(crate) fn heading(&self) -> (u32, u32) {
        (self.table, self.gamma)
    }

    fn sizes(&self) -> BlockSizes {
        let parameters = DistributionParameters::new(2000, 1000);
        let sizes = self.distribution.sizes(parameters, Randomness::default());
        sizes.expect("the published parameters are in range")
    }

    fn costs(&self) -> Homogeneous {
        let costs = Homogeneous::new(self.alpha.into(), 1.0, self.gamma.into());
        costs.expect("the published costs are in range")
    }
}

impl PublishedRow {
    /// The cell of this construction.
    pub(crate) fn cell(&self, construction: Construction) -> &Cell {
        let index = CONSTRUCTIONS.iter().position(|&other| other == construction);
        &self.cells[index.expect("the tables have these constructions")]
    }
}

/// All published numbers.
pub(crate) fn published_rows() -> Vec<PublishedCell> {
    let mut reader = csv::Reader::from_reader(TABLES.as_bytes());
    reader
        .records()
        .map(|record| {
            let record = record.expect("the published tables are a CSV file");
            let number = |column: usize| record[column].parse().expect("a number");
            PublishedCell {
                problem: PublishedProblem {
                    table: number(0) as u32,
                    alpha: number(1) as u32,
                    gamma: number(3) as u32,
                    distribution: by_name(Distribution::ALL, Distribution::name, &record[4]),
                },
                total_size: number(5),
                root_mode: by_name(
                    &[RootMode::Fixed, RootMode::Chosen],
                    RootMode::name,
                    &record[6],
                ),
                construction: by_name(&CONSTRUCTIONS, published_name, &record[7]),
                time: number(8),
                root: (!record[9].is_empty()).then(|| number(9) as Rank),
            }
        })
        .collect()
}

fn by_name<T: Copy>(all: &[T], name: fn(T) -> &'static str, wanted: &str) -> T {
    let found = all.iter().copied().find(|&value| name(value) == wanted);
    found.expect("a name of the published tables")
}

/// Both rows of a problem, recomputed.
///
/// # Errors
/// Errors of the constructions; none for the published problems.
pub(crate) fn recompute(
    problem: &PublishedProblem,
    published: &[PublishedCell],
) -> Result<Vec<PublishedRow>, CliError> {
    let solver = Solver::new(problem);
    [RootMode::Fixed, RootMode::Chosen]
        .into_iter()
        .map(|root_mode| {
            let cells = CONSTRUCTIONS
                .into_iter()
                .map(|construction| {
                    let printed = published
                        .iter()
                        .find(|cell| {
                            (cell.problem, cell.root_mode, cell.construction)
                                == (*problem, root_mode, construction)
                        })
                        .expect("the tables are complete");
                    assert_eq!(printed.total_size, solver.sizes.total(), "{problem:?}");
                    solver.cell(printed)
                })
                .collect::<Result<_, _>>()?;
            let total_size = solver.sizes.total();
            Ok(PublishedRow { problem: *problem, root_mode, total_size, cells })
        })
        .collect()
}

/// One problem's blocks and costs.
struct Solver {
    sizes: BlockSizes,
    costs: Homogeneous,
    /// With an open root.
    problem: Problem,
}

impl Solver {
    fn new(published: &PublishedProblem) -> Solver {
        let (sizes, costs) = (published.sizes(), published.costs());
        let problem = Problem::gather(&sizes, costs).expect("homogeneous costs");
        Solver { sizes, costs, problem }
    }

    fn with_root(&self, root: Root) -> Problem {
        self.problem.with_root(root).expect("the roots of the tables are ranks")
    }
}

/// A completion time and the root that has it.
type TimeAndRoot = (u64, Rank);

impl Solver {
    fn cell(&self, published: &PublishedCell) -> Result<Cell, CliError> {
        let PublishedCell { construction, root_mode, time, root, .. } = *published;
        let (truth, recomputed) = match root_mode {
            RootMode::Fixed => {
                let truth = self.solve(construction, Root::Given(FIXED_ROOT))?;
                (truth, truth)
            }
            RootMode::Chosen => {
                let truth = self.solve(construction, Root::Best)?;
                (truth, self.as_published(construction, truth)?)
            }
        };
        let chosen = |root| (root_mode == RootMode::Chosen).then_some(root);
        let mut cell = Cell {
            published_time: time,
            published_root: root,
            recomputed_time: recomputed.0,
            recomputed_root: chosen(recomputed.1),
            true_time: truth.0,
            true_root: chosen(truth.1),
            note: None,
        };
        cell.note = self.note(construction, &cell)?;
        Ok(cell)
    }

    /// The true solution.
    fn solve(&self, construction: Construction, root: Root) -> Result<TimeAndRoot, CliError> {
        let problem = self.with_root(root);
        let request = Request::new(&problem, Settings::default(), &());
        match request.build(Wanted::named(construction)) {
            Ok(built) => self.timed(built.plan.tree()?),
            Err(NoTree::Failed(error)) => Err(error.into()),
            Err(NoTree::Skipped(reason)) => Err(CliError::Failure(reason)),
        }
    }

    /// The solution with a chosen root by the published program's rule; `truth` where that is the
    /// same.
    fn as_published(
        &self,
        construction: Construction,
        truth: TimeAndRoot,
    ) -> Result<TimeAndRoot, CliError> {
        match construction {
            Construction::Linear => {
                let root = published_root(&linear_times(&self.problem)?);
                self.timed(&failing(linear(&self.with_root(Root::Given(root))))?)
            }
            Construction::Oblivious => {
                let root = published_root(&oblivious_times(&self.problem)?);
                self.timed(&failing(oblivious(&self.with_root(Root::Given(root))))?)
            }
            Construction::Adjacent => {
                let scaled: ScaledSizes<i32> = ScaledSizes::new(&self.costs, &self.sizes)
                    .expect("published times fit 32 bits");
                let (root, time) = failing(published::optimal_root_and_time(&scaled))?;
                Ok((time as u64, root))
            }
            _ => Ok(truth),
        }
    }

    fn timed(&self, tree: &Tree) -> Result<TimeAndRoot, CliError> {
        let time = completion_time(tree, &self.problem)?;
        Ok((time.units() as u64, tree.root()))
    }

    /// A note on the published number, if there is one.
    fn note(&self, construction: Construction, cell: &Cell) -> Result<Option<Note>, CliError> {
        if cell.published_time != cell.recomputed_time {
            return Ok(Some(Note::Unexplained));
        }
        if cell.published_time != cell.true_time {
            return Ok(Some(match construction {
                Construction::Linear | Construction::Oblivious => Note::LastBetterRoot,
                Construction::Adjacent => Note::LastRankMissing,
                _ => Note::Unexplained,
            }));
        }
        let Some(root) =
            cell.published_root.filter(|_| cell.published_root != cell.recomputed_root)
        else {
            return Ok(None);
        };
        let (time, _) = self.solve(construction, Root::Given(root))?;
        Ok(Some(if time == cell.published_time { Note::Tie } else { Note::Unexplained }))
    }
}

fn failing<T, E: std::fmt::Display>(result: Result<T, E>) -> Result<T, CliError> {
    result.map_err(|error| CliError::Failure(error.to_string()))
}
