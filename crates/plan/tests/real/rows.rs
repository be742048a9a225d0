//! Times of collectives on supercomputers (`data/real`), and predictions of these.

use std::collections::HashMap;
use tuwtree_model::document::Machine;
use tuwtree_model::{
    BlockSizes, Collective, Construction, Operation, Problem, Root, Time, Vector, judged_time,
};
use tuwtree_plan::{Library, Plan, Request, Settings, Wanted, baselines};
use tuwtree_schedule::{Sends, simulate};

/// A row of `data/real/pico.csv.gz`: an algorithm that is known here.
#[derive(Clone, Debug, serde::Deserialize)]
pub(crate) struct Row {
    pub(crate) machine: String,
    pub(crate) ranks: usize,
    pub(crate) ranks_per_node: usize,
    pub(crate) operation: String,
    /// Of a rank's block, or of the vector.
    pub(crate) bytes: u64,
    pub(crate) construction: String,
    pub(crate) median_us: f64,
}

/// The operation, the number of ranks, the bytes, and the algorithm of a row.
type Key = (Operation, usize, u64, String);

impl Row {
    fn key(&self) -> Key {
        let operation = self.operation.parse().expect("an operation");
        (operation, self.ranks, self.bytes, self.construction.clone())
    }

    fn problem(&self, machine: &Machine) -> Problem {
        let operation: Operation = self.operation.parse().expect("an operation");
        let vector = Vector { ranks: self.ranks, bytes: self.bytes };
        let sizes = || BlockSizes::new(vec![self.bytes; self.ranks]).expect("some blocks");
        let collective = match operation {
            Operation::Gather => Collective::gather(&sizes()),
            Operation::Scatter => Collective::scatter(&sizes()),
            Operation::Allgather => Collective::allgather(&sizes()),
            Operation::Broadcast => Collective::broadcast(vector),
            Operation::Reduce => Collective::reduce(vector),
            other => unreachable!("{other:?} is left out"),
        };
        let problem = Problem::of(collective, machine.clone()).expect("a problem");
        match operation.is_rooted() {
            true => problem.with_root(Root::Given(0)).expect("a rank"),
            false => problem,
        }
    }
}

/// All rows of a machine with one rank on each node, of rooted operations and allgathers along known algorithms.
pub(crate) fn rows(machine: &str) -> Vec<Row> {
    let text =
        flate2::read::GzDecoder::new(&include_bytes!("../../../../data/real/pico.csv.gz")[..]);
    let rows = csv::Reader::from_reader(text).into_deserialize::<Row>().map(Result::unwrap);
    let is_used = |row: &Row| {
        let operations = ["gather", "scatter", "broadcast", "reduce", "allgather"];
        // Rings of hundreds of ranks take long.
        let is_long = row.construction == "ring" && row.ranks > 64;
        row.machine == machine
            && row.ranks_per_node == 1
            && operations.contains(&row.operation.as_str())
            && !row.construction.is_empty()
            && row.construction != "scatter-ring"
            && !is_long
    };
    rows.filter(is_used).collect()
}

/// Plans that have been made.
#[derive(Default)]
pub(crate) struct Plans(HashMap<Key, Plan>);

impl Plans {
    /// The predicted time of a row, in microseconds.
    pub(crate) fn predicted(&mut self, row: &Row, machine: &Machine) -> f64 {
        let problem = row.problem(machine);
        let time = match row.construction.as_str() {
            "library:open-mpi-5" => {
                let all = baselines(&problem, 0).expect("times");
                all.iter().find(|one| one.library == Library::OpenMpi5).expect("known").time
            }
            name => self.planned(row, &problem, name.parse().expect("a construction")),
        };
        time.units() * 1e6
    }

    fn planned(&mut self, row: &Row, problem: &Problem, construction: Construction) -> Time {
        let plan = self.0.entry(row.key()).or_insert_with(|| {
            let request = Request::new(problem, Settings::DEFAULT, &());
            let Ok(built) = request.build(Wanted::named(construction)) else {
                panic!("{row:?} has a plan");
            };
            built.plan
        });
        match plan {
            Plan::Tree(tree) => judged_time(tree, problem).expect("a time"),
            Plan::Programs(schedule) => {
                let timeline = simulate(schedule, problem.costs(), Sends::Synchronous);
                timeline.expect("a time").completion_time()
            }
        }
    }
}

/// Measured time over the least one, of the algorithm of a gather or scatter that is predicted to be fastest, for each
/// problem with several.
pub(crate) fn losses(rows: &[Row], plans: &mut Plans, machine: &Machine) -> Vec<f64> {
    let mut cells: HashMap<_, Vec<(f64, f64)>> = HashMap::new();
    for row in rows.iter().filter(|row| ["gather", "scatter"].contains(&row.operation.as_str())) {
        let cell = cells.entry((row.operation.as_str(), row.ranks, row.bytes)).or_default();
        cell.push((plans.predicted(row, machine), row.median_us));
    }
    let several = cells.into_values().filter(|cell| cell.len() > 1);
    let loss = |cell: Vec<(f64, f64)>| {
        let chosen = cell.iter().min_by(|one, other| one.0.total_cmp(&other.0)).expect("two").1;
        chosen / cell.iter().map(|one| one.1).fold(f64::INFINITY, f64::min)
    };
    let mut losses: Vec<f64> = several.map(loss).collect();
    losses.sort_by(f64::total_cmp);
    losses
}
