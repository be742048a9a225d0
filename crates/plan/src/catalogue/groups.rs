//! Schedules of intergroup allgathers.

use super::CatalogueRow;
use super::rootless::{expense, messages_of_all_pairs, row, whole};
use crate::error::NoTree;
use crate::expense::Effort;
use crate::request::{Built, Request, Wanted};
use tuwtree_collective::CollectiveError;
use tuwtree_collective::intergroup::{self, Inside};
use tuwtree_model::{Problem, Time};
use tuwtree_schedule::Schedule;

pub(super) const PAIRED: CatalogueRow = row(
    "each rank of the smaller group exchanges with some of the larger, then each group gathers",
    |request, wanted| inside(request, wanted, intergroup::paired),
);

pub(super) const SHARES: CatalogueRow = row(
    "each rank gets an equal share of the other group's data, then each group gathers",
    |request, wanted| inside(request, wanted, intergroup::shares),
);

pub(super) const ROOT_BEST: CatalogueRow = row(
    "two roots gather, exchange, and broadcast in the number of pieces that is found best",
    |request, wanted| {
        let attempts = pieces(request.problem).map(|pieces| (pieces, pieces as u64));
        fastest(request, wanted, attempts, |problem, pieces| {
            intergroup::root_best(problem, pieces).map(|schedule| (schedule, Some(pieces)))
        })
    },
);

pub(super) const ROOT_MPICH: CatalogueRow = row(
    "two roots gather; one sends and its receiver broadcasts, then the other, as in MPICH",
    |request, wanted| {
        let messages = messages_of_all_pairs(request.problem);
        whole(request, wanted, messages, intergroup::root_mpich)
    },
);

pub(super) const ROOT_MPICH_V: CatalogueRow = row(
    "two roots receive from all of the other group and broadcast, as in MPICH for blocks that differ",
    |request, wanted| {
        let messages = 4 * request.problem.ranks() as u64;
        whole(request, wanted, messages, intergroup::root_mpich_v)
    },
);

/// The fastest with one of the allgathers inside.
fn inside(
    request: &Request<'_>,
    wanted: Wanted,
    build: fn(&Problem, Inside) -> Result<Schedule, CollectiveError>,
) -> Result<Built, NoTree> {
    let one_pass = [Inside::Circulant, Inside::Bruck, Inside::Ring].map(|inside| (inside, 1));
    let in_pieces =
        pieces(request.problem).skip(1).map(|pieces| (Inside::Pieces(pieces), pieces as u64));
    fastest(request, wanted, one_pass.into_iter().chain(in_pieces), |problem, inside| {
        let pieces = match inside {
            Inside::Pieces(pieces) => Some(pieces),
            Inside::Ring | Inside::Bruck | Inside::Circulant => None,
        };
        build(problem, inside).map(|schedule| (schedule, pieces))
    })
}

/// Numbers of pieces that are tried: each about half as large again as the one before, up to one byte a piece.
fn pieces(problem: &Problem) -> impl Iterator<Item = usize> + use<> {
    let largest = usize::try_from(problem.payload().total()).unwrap_or(usize::MAX);
    let numbers =
        std::iter::successors(Some(1_usize), |&pieces| Some((pieces + 1).max(pieces * 3 / 2)));
    numbers.take_while(move |&pieces| pieces <= largest.clamp(1, MOST_PIECES))
}

/// More pieces are not tried.
const MOST_PIECES: usize = 1 << 12;

/// Most numbers of pieces in a row that may be slower than the best.
const PATIENCE: usize = 3;

/// Estimated seconds of trying parameters that the user did not set.
const SEARCH_SECONDS: f64 = 10.0;

/// The fastest of attempts, of equally fast ones the first. Attempts have a number of pieces; when some in a row
/// were no better, the search ends.
fn fastest<A: Copy>(
    request: &Request<'_>,
    wanted: Wanted,
    attempts: impl Iterator<Item = (A, u64)>,
    build: impl Fn(&Problem, A) -> Result<(Schedule, Option<usize>), CollectiveError>,
) -> Result<Built, NoTree> {
    let problem = request.problem;
    let p = problem.ranks() as u64;
    let mut best: Option<(Time, Schedule, Option<usize>)> = None;
    let (mut seconds, mut failures) = (0.0, 0);
    for (attempt, pieces) in attempts {
        let messages = messages_of_all_pairs(problem).saturating_add(p * (pieces + 64));
        let cost = expense(wanted, messages, if pieces > 1 { p } else { 2 });
        seconds += cost.seconds;
        let is_late = wanted.effort != Effort::Any && seconds > SEARCH_SECONDS;
        if best.is_some() && (is_late || failures > PATIENCE) {
            break;
        }
        cost.check(wanted.effort, request.watch, |_| String::new())?;
        let (schedule, pieces) = build(problem, attempt).map_err(NoTree::failed)?;
        let time = wanted.time_of(&schedule, problem)?;
        match &best {
            Some((least, ..)) if time >= *least => failures += usize::from(pieces.is_some()),
            _ => {
                best = Some((time, schedule, pieces));
                failures = 0;
            }
        }
    }
    let (time, schedule, pieces) = best.expect("one was tried");
    Ok(Built { pieces, time: Some(time), ..Built::without_search(schedule) })
}
