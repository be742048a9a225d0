//! Fastest algorithm over a grid of problems, of operations whose schedules follow no tree.

use crate::catalogue;
use crate::comparison::compare;
use crate::error::PlanError;
use crate::expense::Effort;
use crate::request::{Request, Settings, VectorUse};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};
use tuwtree_dp::Progress;
use tuwtree_model::{
    ClosedSet, Construction, Homogeneous, Operation, Operator, Order, Payload, PayloadKind,
    Problem, Time,
};
use tuwtree_tuning::mpich_rule;

/// A grid of problems of one operation: payloads against latencies.
#[derive(Clone, Debug)]
pub struct AlgorithmGrid {
    /// One without a root, or a broadcast or reduction, whose vector is then cut.
    pub operation: Operation,
    /// The label and the payload of each row, of the kind that the operation moves.
    pub rows: Vec<(String, Payload)>,
    /// Latencies, in the time that a byte takes.
    pub alphas: Vec<f64>,
    /// gamma in units of beta, which is 1.
    pub gamma: f64,
    /// The time per byte of combining, in units of beta; 0 but in reductions.
    pub combine: f64,
    /// The overhead as a share of alpha, from 0 to 1: 1 is the one-port model.
    pub overhead_share: f64,
}

/// One problem of a grid with the times of its algorithms.
#[derive(Clone, Debug)]
pub struct AlgorithmCell {
    /// The index of the row.
    pub row: usize,
    /// The latency, in the time that a byte takes.
    pub alpha: f64,
    /// The built constructions, in order; at least one.
    pub times: Vec<(Construction, Time)>,
    /// No schedule completes earlier.
    pub bound: Time,
    /// MPICH's own choice, if it was built.
    pub library: Option<Construction>,
}

impl AlgorithmCell {
    /// The time of an algorithm, if it was built.
    pub fn time(&self, construction: Construction) -> Option<Time> {
        self.times.iter().find(|(one, _)| *one == construction).map(|&(_, time)| time)
    }

    /// The first algorithm that takes at most this share longer than the fastest.
    pub fn choice(&self, tolerance: f64) -> Construction {
        let least = self.times.iter().map(|(_, time)| time.units()).fold(f64::INFINITY, f64::min);
        let fits = |time: Time| time.units() <= least * (1.0 + tolerance);
        let first = self.times.iter().find(|&&(_, time)| fits(time));
        first.expect("the fastest fits").0
    }

    /// Ratio of the time of MPICH's own choice to the chosen algorithm's, if it was built.
    pub fn library_over(&self, chosen: Construction) -> Option<f64> {
        let library = self.time(self.library?)?;
        match self.time(chosen)?.units() {
            0.0 => Some(1.0),
            time => Some(library.units() / time),
        }
    }
}

impl AlgorithmGrid {
    /// The algorithms that may be in its cells, in their order.
    pub fn algorithms(&self) -> Vec<Construction> {
        let goes_along_trees =
            |one: &Construction| self.operation.is_rooted() && one.builds_trees();
        let is_shown = |one: &Construction| {
            let row = catalogue::row(*one);
            let has_messages = self.operation.payload_kind() == PayloadKind::Messages;
            let is_straight = *one == Construction::Linear && !has_messages;
            // All ranks pay the same here.
            let is_common = !(row.is_special || row.is_for_nodes);
            is_common && (!(row.is_for_overlap || is_straight) || self.overhead_share < 1.0)
        };
        Construction::all()
            .filter(|one| one.performs(self.operation) && !goes_along_trees(one))
            .filter(is_shown)
            .collect()
    }

    /// All problems with their times, row by row, for each row from the first latency to the last. The same whatever the
    /// number of threads.
    ///
    /// # Errors
    /// Times that cannot be stated; [`PlanError::Misused`] for costs that are none, or a payload that is not one of the
    /// operation; an interrupt.
    ///
    /// # Complexity
    /// That of all algorithms for each problem.
    pub fn cells(&self, progress: &dyn Progress) -> Result<Vec<AlgorithmCell>, PlanError> {
        let width = self.alphas.len();
        let total = self.rows.len() * width;
        let done = AtomicU64::new(0);
        (0..total)
            .into_par_iter()
            .map(|index| {
                let cell = self.cell(index / width, self.alphas[index % width])?;
                let done = 1 + done.fetch_add(1, Ordering::Relaxed);
                match progress.advance(done, total as u64).is_break() {
                    true => Err(PlanError::Interrupted),
                    false => Ok(cell),
                }
            })
            .collect()
    }

    fn cell(&self, row: usize, alpha: f64) -> Result<AlgorithmCell, PlanError> {
        let misused = |error: &dyn ToString| PlanError::Misused(error.to_string());
        let overhead = if self.overhead_share < 1.0 { self.overhead_share * alpha } else { alpha };
        let costs = Homogeneous::new(alpha, 1.0, self.gamma)
            .map_err(|error| misused(&error))?
            .with_overhead(overhead)
            .map_err(|error| misused(&error))?;
        let payload = self.rows[row].1.clone();
        let problem =
            Problem::new(self.operation, payload, costs).map_err(|error| misused(&error))?;
        let problem = match self.operation.is_reduction() {
            true => Operator::new(1, self.combine)
                .map_err(|error| misused(&error))
                .and_then(|one| problem.with_operator(one).map_err(|error| misused(&error)))?,
            false => problem,
        };
        let settings = Settings { order: Order::Any, vector: VectorUse::Cut, ..Settings::DEFAULT };
        let request = Request::new(&problem, settings, &());
        let comparison = compare(&request, &request.suitable(Order::Any, Effort::Moderate), false)?;
        let outcomes = comparison.outcomes.iter();
        let times: Vec<(Construction, Time)> =
            outcomes.map(|outcome| (outcome.construction, outcome.time())).collect();
        let library = mpich(&problem).filter(|one| times.iter().any(|(built, _)| built == one));
        Ok(AlgorithmCell { row, alpha, times, bound: comparison.bound, library })
    }
}

/// MPICH's own choice: with different blocks or messages it goes by their total, or by none; `None` if unknown.
///
/// # Source
/// The default selection of MPICH 4.0 to 4.3, and `allgatherv_intra_ring.c`, `alltoallv`.
fn mpich(problem: &Problem) -> Option<Construction> {
    let (operation, bytes) = (problem.operation(), problem.payload().total());
    match operation.payload_kind() {
        PayloadKind::Messages => return Some(Construction::Linear),
        PayloadKind::Groups => return Some(Construction::RootMpichV),
        PayloadKind::Blocks | PayloadKind::Vector => {}
    }
    let rule = mpich_rule(operation, problem.ranks(), bytes)?;
    // Larger blocks go around its ring in chunks.
    let has_large = problem.blocks().is_some_and(|sizes| sizes.iter().any(|bytes| bytes > 32_768));
    match (operation, rule.name) {
        (Operation::Allgather, "ring") if has_large => Some(Construction::RingChunks),
        (_, name) => name.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tuwtree_model::BlockSizes;

    #[test]
    fn one_large_block_goes_in_pieces_where_latency_is_low_and_in_few_rounds_where_it_is_high() {
        let sizes = BlockSizes::new([1, 1, 10_000, 1, 1]).unwrap();
        let grid = AlgorithmGrid {
            operation: Operation::Allgather,
            rows: vec![("one".to_owned(), sizes.into())],
            alphas: vec![1.0, 1e6],
            gamma: 1.0,
            combine: 0.0,
            overhead_share: 1.0,
        };
        let cells = grid.cells(&()).unwrap();
        let choices: Vec<Construction> = cells.iter().map(|cell| cell.choice(0.02)).collect();
        assert_eq!(choices, [Construction::CirculantPieces, Construction::Bruck]);
        // Bruck's algorithm in MPICH, too: three rounds with the large block in each, against 1.05 of it.
        assert_eq!(cells[0].library, Some(Construction::Bruck));
        assert!(cells[0].library_over(choices[0]).unwrap() > 2.5, "{cells:?}");
        assert_eq!(cells[1].library_over(choices[1]), Some(1.0));
        assert!(cells.iter().all(|cell| cell.bound <= cell.time(cell.choice(0.0)).unwrap()));
    }
}
