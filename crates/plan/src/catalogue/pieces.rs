//! Collectives whose data travels in pieces around a circulant graph.

use super::rootless::{SEARCH_SECONDS, expense};
use crate::error::NoTree;
use crate::expense::Effort;
use crate::request::{Built, Request, Wanted};
use tuwtree_collective::{broadcast, reduce, reduce_scatter};
use tuwtree_model::{Construction, CostModel, Operation, Problem, Time};

/// The fastest of schedules in some numbers of pieces, of equally fast ones the one with fewest. If the
/// construction was not asked for by name, no more numbers are tried than some seconds allow.
pub(super) fn in_pieces(request: &Request<'_>, wanted: Wanted) -> Result<Built, NoTree> {
    let problem = request.problem;
    let (likely, most) = likely_pieces(problem);
    let affordable = |pieces| {
        let (p, rounds) = (problem.ranks() as u64, pieces as u64 + 64);
        let expense = expense(wanted, p.saturating_mul(rounds), pieces_in_a_message(problem));
        expense.check(wanted.effort, request.watch, |_| String::new())
    };
    affordable(likely)?;
    let mut search = PieceSearch { request, wanted, seconds: 0.0, best: None, tried: Vec::new() };
    search.attempt(likely)?;
    let mut width = WIDEST;
    while width > 0 {
        let center = search.pieces() as f64;
        for step in [-width, width] {
            let pieces = center * (f64::from(step) / STEPS_TO_DOUBLE).exp2();
            search.attempt((pieces.round() as usize).clamp(1, most))?;
        }
        if search.pieces() as f64 == center {
            width /= 2;
        }
    }
    for pieces in 1..=FEW.min(most) {
        search.attempt(pieces)?;
    }
    let pieces = search.pieces();
    affordable(pieces)?;
    let is_balanced = wanted.construction == Construction::CirculantBalanced;
    let schedule = match problem.operation() {
        Operation::ReduceScatter if is_balanced => {
            reduce_scatter::circulant_balanced(problem, pieces)
        }
        Operation::ReduceScatter => reduce_scatter::circulant_in_pieces(problem, pieces),
        _ if is_balanced => tuwtree_collective::circulant_balanced(problem, pieces),
        Operation::Broadcast => broadcast::circulant_in_pieces(problem, pieces),
        Operation::Reduce => reduce::circulant_in_pieces(problem, pieces),
        _ => tuwtree_collective::circulant_in_pieces(problem, pieces),
    };
    let schedule = schedule.map_err(NoTree::failed)?;
    Ok(Built { pieces: Some(pieces), ..Built::without_search(schedule) })
}

/// Candidates tried so far.
struct PieceSearch<'a> {
    request: &'a Request<'a>,
    wanted: Wanted,
    /// Its estimated duration.
    seconds: f64,
    best: Option<(Time, usize)>,
    tried: Vec<usize>,
}

impl PieceSearch<'_> {
    /// The best number of pieces so far.
    fn pieces(&self) -> usize {
        self.best.map_or(1, |(_, pieces)| pieces)
    }

    /// Tries a number of pieces, once, if there is time for it.
    fn attempt(&mut self, pieces: usize) -> Result<(), NoTree> {
        let problem = self.request.problem;
        let rounds = problem.ranks().next_power_of_two().ilog2() as usize + pieces - 1;
        let messages = problem.ranks() as f64 * rounds as f64;
        let seconds = messages * pieces_in_a_message(problem) as f64 * SECONDS_A_SHARE;
        let is_named = self.wanted.effort == Effort::Any;
        let is_late = !is_named && self.seconds + seconds > SEARCH_SECONDS;
        if self.tried.contains(&pieces) || (self.best.is_some() && is_late) {
            return Ok(());
        }
        self.tried.push(pieces);
        self.seconds += seconds;
        let is_balanced = self.wanted.construction == Construction::CirculantBalanced;
        let time = match problem.operation() {
            Operation::ReduceScatter if is_balanced => {
                reduce_scatter::balanced_time(problem, pieces)
            }
            Operation::ReduceScatter => reduce_scatter::time_in_pieces(problem, pieces),
            _ if is_balanced => tuwtree_collective::balanced_time(problem, pieces),
            Operation::Broadcast => broadcast::time_in_pieces(problem, pieces),
            Operation::Reduce => reduce::time_in_pieces(problem, pieces),
            _ => tuwtree_collective::time_in_pieces(problem, pieces),
        };
        let time = time.map_err(|error| self.wanted.untimed(error))?;
        if self.best.is_none_or(|best| (time, pieces) < best) {
            self.best = Some((time, pieces));
        }
        Ok(())
    }
}

/// Number of pieces in a round's message: of every block, or of the vector.
fn pieces_in_a_message(problem: &Problem) -> u64 {
    problem.blocks().map_or(1, |sizes| sizes.ranks() as u64)
}

/// The number of pieces for which the rounds take least if every message has its share of all blocks, and
/// the largest number that is looked at.
fn likely_pieces(problem: &Problem) -> (usize, usize) {
    let p = problem.ranks();
    let rounds = p.next_power_of_two().ilog2() as usize;
    let total = problem.payload().total();
    let message = |bytes: u64| match p {
        1 => 0.0,
        _ => problem.costs().exchange_between(0, 1, bytes).map_or(0.0, Time::units),
    };
    let estimate =
        |pieces: usize| (pieces - 1 + rounds) as f64 * message(total.div_ceil(pieces as u64));
    let most = usize::try_from(total).unwrap_or(usize::MAX).clamp(1, MOST_PIECES);
    let all = (0..).map(|step| (f64::from(step) / STEPS_TO_DOUBLE).exp2() as usize);
    let all = all.take_while(|&pieces| pieces <= most);
    let likely = all.min_by(|&one, &other| estimate(one).total_cmp(&estimate(other)));
    (likely.expect("one piece is among all"), most)
}

/// Approximate time of adding up one block's share in a message.
const SECONDS_A_SHARE: f64 = 1e-9;

/// More pieces are not tried.
const MOST_PIECES: usize = 1 << 20;

/// Up to how many pieces all numbers are tried.
const FEW: usize = 8;

/// Numbers of pieces from one to its double.
const STEPS_TO_DOUBLE: f64 = 8.0;

/// Distance of the first candidates from the likely one, in such steps.
const WIDEST: i32 = 8;
