//! Costs of messages, copies and combining: ping-pong between pairs of ranks, many pairs at a time.
//!
//! Pairs meet as in a round-robin tournament. In a meeting, two ranks send a message of each
//! size to and fro several times; half the median round trip is the time of one message. Pairs that
//! are measured at the same time share what there is of a network, as the messages of a tree do;
//! [`CalibrationRequest::at_once`] says how many do.
//!
//! How long all this may take is settled before: a first meeting, timed, tells how many repetitions
//! and rounds there is time for.

use crate::Host;
use std::ffi::c_int;
use std::hint::black_box;
use std::time::Instant;
use tuwtree_binding::{
    Communicator, Datatype, Element, Memory, MpiError, Operator, OutOfMemory, PlaceError,
};
use tuwtree_measure::{
    Line, LocalTimes, Meetings, Model, Observed, PairTimes, Sample, kinds_of_pairs, median,
    meetings, rounds,
};
use tuwtree_model::Rank;

/// Scope and duration of a calibration.
#[derive(Clone, Debug, PartialEq)]
pub struct CalibrationRequest {
    /// Model of the costs: one pair for all, or one for each.
    pub model: Model,
    /// The sizes of messages: ascending, at least two, each below 2^31.
    pub sizes: Vec<u64>,
    /// About how long it may take.
    pub seconds: f64,
    /// Number of pairs measured concurrently.
    pub at_once: usize,
}

/// Extent of a measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeetingPlan {
    /// Number of consecutive meetings.
    pub meetings: usize,
    /// Number of pairs.
    pub pairs: usize,
    /// Round trips of a pair for each size.
    pub repetitions: usize,
    /// Estimated duration, from the first meeting.
    pub seconds: f64,
}

/// Reason for which nothing was measured.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CalibrateError {
    /// MPI failed.
    #[error(transparent)]
    Mpi(#[from] MpiError),
    /// No memory for what ranks do by themselves, or what MPI says of doubles.
    #[error(transparent)]
    Local(#[from] PlaceError),
    /// Nobody to talk to.
    #[error("there is one process; messages need at least two")]
    Alone,
    /// Pairs of one kind only.
    #[error(
        "hierarchical costs need several nodes, one of them with several processes; there are \
             {nodes} nodes with {ranks} processes"
    )]
    OneKind {
        /// Number of nodes.
        nodes: usize,
        /// Number of processes on them.
        ranks: usize,
    },
    /// Too many pairs for the time.
    #[error(
        "{pairs} pairs take about {needed:.1} s, each measured {} times; more than the \
             {seconds:.1} s that there are",
        MeetingPlan::LEAST_REPETITIONS
    )]
    TooManyPairs {
        /// Number of pairs of ranks to measure.
        pairs: usize,
        /// Time needed, in seconds.
        needed: f64,
        /// Time allowed, in seconds.
        seconds: f64,
    },
}

impl MeetingPlan {
    /// The fewest repetitions whose median says something.
    pub const LEAST_REPETITIONS: usize = 5;
    /// More repetitions say little more.
    pub const MOST_REPETITIONS: usize = 100;
    /// More rounds say little more, where pairs have costs in common.
    pub const MOST_ROUNDS: usize = 64;
}

/// Sizes from one byte to this, each four times the one before.
///
/// # Example
/// ```
/// assert_eq!(tuwtree_cluster::calibrate::ladder(100), [1, 4, 16, 64]);
/// ```
pub fn ladder(largest: u64) -> Vec<u64> {
    std::iter::successors(Some(1), |size: &u64| size.checked_mul(4))
        .take_while(|&size| size <= largest)
        .collect()
}

/// The times of messages, copies and sums, at rank 0; `None` at the others. Rank 0 calls `announce`
/// once it is known what will be measured. Collective.
///
/// # Errors
/// [`CalibrateError`], all but `Mpi` and `Local` at all ranks alike.
pub fn calibrate(
    communicator: &Communicator,
    host: &Host,
    request: &CalibrationRequest,
    announce: impl FnOnce(MeetingPlan),
) -> Result<Option<Observed>, CalibrateError> {
    let ranks = communicator.size();
    if ranks < 2 {
        return Err(CalibrateError::Alone);
    }
    let kinds = kinds_of_pairs(&host.nodes);
    if request.model == Model::Hierarchical && kinds.len() < 2 {
        return Err(CalibrateError::OneKind { nodes: host.node_count(), ranks });
    }
    let kind = |i: Rank, j: Rank| host.nodes[i] == host.nodes[j];
    let chosen = |most| meetings(ranks, most, request.at_once, &kinds, kind);
    let one = repetition_seconds(communicator, request, &chosen(1))?;
    let all = match request.model {
        Model::PerPair => rounds(ranks),
        Model::Homogeneous | Model::Hierarchical => rounds(ranks).min(MeetingPlan::MOST_ROUNDS),
    };
    let (meetings, plan) = planned(request, one, all, chosen)?;
    if communicator.rank() == 0 {
        announce(plan);
    }
    let mut mine = Vec::new();
    for pairs in &meetings {
        let seconds = meet(communicator, &request.sizes, pairs, plan.repetitions)?;
        mine.extend(seconds);
    }
    let local = local_times(communicator, &request.sizes)?;
    observed(communicator, host, request, &mine, local)
}

/// Lines fitted to the times of local copies of these sizes, and of sums of doubles up to the largest; rank 0 returns
/// those of all ranks in rank order, others none. All ranks copy at once, and then all add. Collective.
///
/// A sum is `MPI_Reduce_local` with `MPI_SUM` of `MPI_DOUBLE`.
///
/// # Errors
/// No memory; what MPI returns.
///
/// # Panics
/// For fewer than two sizes.
pub fn local_times(communicator: &Communicator, sizes: &[u64]) -> Result<LocalTimes, PlaceError> {
    let largest = *sizes.last().expect("there are sizes");
    let copies = collected_lines(communicator, &copy_line(sizes)?)?;
    let sums = collected_lines(communicator, &sum_line(&sizes_of_sums(largest))?)?;
    Ok(LocalTimes { copies, sums })
}

/// The lines of all ranks, at rank 0; at the others none. Collective.
fn collected_lines(communicator: &Communicator, own: &Line) -> Result<Vec<Line>, MpiError> {
    let words = [own.alpha_seconds, own.beta_seconds_per_byte, own.median_relative_deviation];
    let words = communicator.collected(&words, TAG)?;
    let line = |words: &[f64]| Line {
        alpha_seconds: words[0],
        beta_seconds_per_byte: words[1],
        median_relative_deviation: words[2],
    };
    Ok(match communicator.rank() {
        0 => words.chunks_exact(3).map(line).collect(),
        _ => Vec::new(),
    })
}

/// Time of one repetition of all sizes in a meeting: the slowest pair of the slowest of these
/// meetings, in a second pass, as the first opens connections.
fn repetition_seconds(
    communicator: &Communicator,
    request: &CalibrationRequest,
    meetings: &[Meetings],
) -> Result<f64, MpiError> {
    let mut slowest = 0.0_f64;
    // Enough to tell: with few pairs at once, a round has many meetings.
    for pairs in meetings.iter().take(3) {
        meet(communicator, &request.sizes, pairs, 1)?;
        let start = Instant::now();
        meet(communicator, &request.sizes, pairs, 1)?;
        // Warming up is a repetition, too.
        let seconds = start.elapsed().as_secs_f64() / 2.0;
        slowest = slowest.max(communicator.greatest(&[seconds])?[0]);
    }
    Ok(slowest.max(1e-9))
}

/// Meetings of at most `rounds` rounds and repetitions for which there is time.
fn planned(
    request: &CalibrationRequest,
    repetition: f64,
    rounds: usize,
    chosen: impl Fn(usize) -> Vec<Meetings>,
) -> Result<(Vec<Meetings>, MeetingPlan), CalibrateError> {
    let plan = |meetings: &[Meetings], repetitions: usize| MeetingPlan {
        meetings: meetings.len(),
        pairs: meetings.iter().map(Vec::len).sum(),
        repetitions,
        seconds: meetings.len() as f64 * (repetitions + 1) as f64 * repetition,
    };
    let mut meetings = chosen(rounds);
    let least = plan(&meetings, MeetingPlan::LEAST_REPETITIONS);
    if least.seconds > request.seconds {
        if request.model == Model::PerPair {
            let (pairs, needed, seconds) = (least.pairs, least.seconds, request.seconds);
            return Err(CalibrateError::TooManyPairs { pairs, needed, seconds });
        }
        let share = request.seconds / least.seconds;
        meetings = chosen((rounds as f64 * share).max(1.0) as usize);
    }
    let affordable = request.seconds / (meetings.len() as f64 * repetition) - 1.0;
    let repetitions =
        (affordable as usize).clamp(MeetingPlan::LEAST_REPETITIONS, MeetingPlan::MOST_REPETITIONS);
    let plan = plan(&meetings, repetitions);
    Ok((meetings, plan))
}

/// One meeting: the pair's times if this rank is the first of a pair. Collective.
fn meet(
    communicator: &Communicator,
    sizes: &[u64],
    pairs: &Meetings,
    repetitions: usize,
) -> Result<Option<PairTimes>, MpiError> {
    communicator.barrier()?;
    let rank = communicator.rank();
    let Some(&pair) = pairs.iter().find(|(i, j)| *i == rank || *j == rank) else {
        return Ok(None);
    };
    let (first, second) = pair;
    let mut buffer = vec![1_u8; *sizes.last().expect("there are sizes") as usize];
    let mut seconds = Vec::with_capacity(sizes.len());
    for &size in sizes {
        let message = &mut buffer[..size as usize];
        let mut trips = Vec::with_capacity(repetitions + 1);
        for _ in 0..=repetitions {
            let start = Instant::now();
            if rank == first {
                communicator.send(message, second, TAG)?;
                communicator.receive(message, second, TAG)?;
            } else {
                communicator.receive(message, first, TAG)?;
                communicator.send(message, first, TAG)?;
            }
            trips.push(start.elapsed().as_secs_f64());
        }
        // The first warms up.
        let trip = median(&trips[1..]).expect("there is a repetition");
        // A clock that is too coarse for the trip counts its own step.
        seconds.push((trip / 2.0).max(CLOCK_STEP));
    }
    Ok((rank == first).then_some(PairTimes { pair, seconds }))
}

/// The tag of all messages here; nobody else's meet them.
const TAG: c_int = 0;

/// Resolution of a clock of nanoseconds.
const CLOCK_STEP: f64 = 1e-9;

/// The times of local copies of these sizes as a line.
fn copy_line(sizes: &[u64]) -> Result<Line, MpiError> {
    let largest = *sizes.last().expect("there are sizes") as usize;
    let from = vec![1_u8; largest];
    let mut to = vec![2_u8; largest];
    local_line(sizes, |bytes| {
        let from = black_box(&from[..bytes as usize]);
        black_box(&mut to[..bytes as usize]).copy_from_slice(from);
        Ok(())
    })
}

/// The sizes of vectors of doubles: from one double on, each four times the one before, up to this, several at least.
fn sizes_of_sums(largest: u64) -> Vec<u64> {
    let double = Element::Double.bytes();
    ladder((largest / double).max(4)).into_iter().map(|doubles| doubles * double).collect()
}

/// The times of sums of vectors of doubles, of these sizes in bytes, as a line.
fn sum_line(sizes: &[u64]) -> Result<Line, PlaceError> {
    let largest = *sizes.last().expect("there are sizes");
    let (operator, datatype) = (Operator::sum(), Datatype::of(Element::Double)?);
    let [left, inout] = [ones(largest)?, ones(largest)?];
    let line = local_line(sizes, |bytes| {
        Memory::combine(&operator, &datatype, (&left, 0), (&inout, 0), bytes)
    })?;
    Ok(line)
}

/// Doubles, all 1, in this many bytes. Written, as untouched pages share one page in the cache.
fn ones(bytes: u64) -> Result<Memory, OutOfMemory> {
    let memory = Memory::zeroed(bytes)?;
    let one = 1.0_f64.to_ne_bytes();
    (0..bytes).step_by(one.len()).for_each(|offset| memory.write(offset, &one));
    Ok(memory)
}

/// Line fitted to the times of an act on these sizes.
fn local_line(
    sizes: &[u64],
    mut act: impl FnMut(u64) -> Result<(), MpiError>,
) -> Result<Line, MpiError> {
    const REPETITIONS: usize = 15;
    let mut samples = Vec::with_capacity(sizes.len());
    for &bytes in sizes {
        // Small ones are too fast for the clock, one by one.
        let times = (4096 / bytes).max(1);
        let mut trials = Vec::with_capacity(REPETITIONS);
        for _ in 0..REPETITIONS {
            let start = Instant::now();
            for _ in 0..times {
                act(bytes)?;
            }
            trials.push(start.elapsed().as_secs_f64() / times as f64);
        }
        let seconds = median(&trials).expect("there are repetitions");
        samples.push(Sample { bytes, seconds: seconds.max(CLOCK_STEP / times as f64) });
    }
    Ok(Line::fit(&samples).expect("several sizes, and times above 0"))
}

/// All that was measured, at rank 0.
fn observed(
    communicator: &Communicator,
    host: &Host,
    request: &CalibrationRequest,
    mine: &[PairTimes],
    local: LocalTimes,
) -> Result<Option<Observed>, CalibrateError> {
    let words: Vec<f64> = mine
        .iter()
        .flat_map(|PairTimes { pair: (i, j), seconds }| {
            [*i as f64, *j as f64].into_iter().chain(seconds.iter().copied())
        })
        .collect();
    let words = communicator.collected(&words, TAG)?;
    if communicator.rank() != 0 {
        return Ok(None);
    }
    let pair = |words: &[f64]| PairTimes {
        pair: (words[0] as Rank, words[1] as Rank),
        seconds: words[2..].to_vec(),
    };
    Ok(Some(Observed {
        sizes: request.sizes.clone(),
        nodes: host.nodes.clone(),
        pairs: words.chunks_exact(2 + request.sizes.len()).map(pair).collect(),
        local,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(model: Model, seconds: f64) -> CalibrationRequest {
        CalibrationRequest { model, sizes: ladder(1 << 20), seconds, at_once: 100 }
    }

    fn plan_for(
        model: Model,
        seconds: f64,
        repetition: f64,
    ) -> Result<MeetingPlan, CalibrateError> {
        let chosen = |most| meetings(16, most, 100, &[()], |_, _| ());
        planned(&request(model, seconds), repetition, 15, chosen).map(|(_, plan)| plan)
    }

    #[test]
    fn time_is_spent_on_repetitions_and_then_on_rounds() {
        let plan = plan_for(Model::Homogeneous, 10.0, 0.01).unwrap();
        assert_eq!((plan.meetings, plan.pairs, plan.repetitions), (15, 120, 65));
        assert!(plan.seconds <= 10.0);
        let rich = plan_for(Model::Homogeneous, 10.0, 1e-6).unwrap();
        assert_eq!((rich.meetings, rich.repetitions), (15, MeetingPlan::MOST_REPETITIONS));
        let poor = plan_for(Model::Homogeneous, 10.0, 0.5).unwrap();
        assert_eq!((poor.meetings, poor.repetitions), (3, 5));
        // At least one round, whatever it takes.
        let none = plan_for(Model::Homogeneous, 10.0, 50.0).unwrap();
        assert_eq!((none.meetings, none.seconds), (1, 300.0));
    }

    #[test]
    fn all_pairs_are_measured_or_none() {
        assert_eq!(plan_for(Model::PerPair, 10.0, 0.1).unwrap().pairs, 120);
        let error = plan_for(Model::PerPair, 10.0, 0.5).unwrap_err().to_string();
        assert_eq!(
            error,
            "120 pairs take about 45.0 s, each measured 5 times; more than the 10.0 s that there are"
        );
    }

    #[test]
    fn a_copy_has_a_cost() {
        let line = copy_line(&ladder(1 << 16)).unwrap();
        assert!(line.beta_seconds_per_byte.is_finite() && line.alpha_seconds.is_finite());
    }

    #[test]
    fn sums_are_of_whole_doubles_and_of_several_sizes() {
        assert_eq!(sizes_of_sums(4), [8, 32]);
        assert_eq!(sizes_of_sums(1000), [8, 32, 128, 512]);
    }
}
