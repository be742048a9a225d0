//! Random reduce-scatters and alltoalls, each by some algorithm, against the library's own.

use super::dice::Dice;
use crate::job::Job;
use crate::pattern::{Ink, Pattern};
use std::ffi::c_int;
use tuwtree_binding::{Arguments, ByteLayout, Partition, PartitionMut};
use tuwtree_executor::collective::{CollectiveError, Collectives};
use tuwtree_executor::settings::{Setting, Settings};
use tuwtree_model::{ClosedSet, Distribution, DistributionParameters, Randomness, Rank};

/// Solves this many problems of both kinds; the inner error is the first number that differs. Collective.
///
/// # Errors
/// What MPI returns.
pub(super) fn solve(
    (seed, problems): (u64, u64),
    job: &Job,
) -> Result<Result<(), String>, CollectiveError> {
    let own = job.communicator().duplicate_again()?;
    let collectives = Collectives::with(own, Settings::default());
    let mut fault = Ok(());
    for index in 0..problems {
        let mut dice = Dice::new(seed, &[index, job.size() as u64, 2]);
        fault = fault.and(combine(index, &mut dice, (&collectives, job))?);
        let exchange = Exchange::random(&mut dice, job);
        fault = fault.and(exchange.solve(index, (&collectives, job))?);
    }
    Ok(fault)
}

/// A reduce-scatter of bytes.
fn combine(
    index: u64,
    dice: &mut Dice,
    (collectives, job): (&Collectives, &Job),
) -> Result<Result<(), String>, CollectiveError> {
    let (rank, ranks) = (job.rank(), job.size());
    let distribution = Distribution::ALL[index as usize % Distribution::ALL.len()];
    let parameters = DistributionParameters::new(ranks, dice.one_of(&[1, 5, 100, 3000]));
    let randomness = Randomness::Xoshiro { seed: dice.number() };
    let sizes = distribution.sizes(parameters, randomness).expect("small sizes");
    let empty = dice.one_of(&[u64::MAX, 3]);
    let sizes: Vec<u64> =
        sizes.iter().map(|size| if dice.once_in(empty) { 0 } else { size }).collect();
    let algorithm = match dice.below(4) {
        0 => "circulant".to_owned(),
        1 => format!("circulant-balanced:{}", 1 + dice.below(60)),
        _ => format!("circulant-pieces:{}", 1 + dice.below(60)),
    };
    collectives.set(Setting::ReduceScatter, &algorithm)?;
    let layout = ByteLayout::new(sizes).expect("small sizes");
    let mut fault = Ok(());
    for iteration in 0..dice.one_of(&[1, 3]) {
        let mut data = vec![0; layout.total()];
        Pattern::new(iteration, Ink::Data(rank)).fill(0, &mut data);
        let [mut expected, mut found] = [0, 0].map(|byte: u8| vec![byte; layout.block(rank)]);
        job.communicator().native(&layout.exclusive_or(&data, &mut expected, rank))?;
        collectives.run(&layout.exclusive_or(&data, &mut found, rank))?;
        let what = format!("reduce-scatter {index} ({algorithm}, {})", distribution.name());
        fault = fault.and(compared((rank, &what, iteration), &found, &expected));
    }
    Ok(fault)
}

/// A message of numbers from each to each.
#[derive(Debug)]
struct Exchange {
    /// Setting of the algorithm.
    algorithm: String,
    /// Numbers from each rank to each other, by sender.
    counts: Vec<Vec<c_int>>,
    /// Numbers between two messages.
    gap: c_int,
    in_place: bool,
    iterations: u64,
    /// True if set up once, and then started twice in each iteration.
    is_set_up: bool,
}

impl Exchange {
    fn random(dice: &mut Dice, job: &Job) -> Exchange {
        let (ranks, most) = (job.size(), dice.one_of(&[1, 4, 100, 2000]));
        let (kind, in_place) = (dice.below(4), dice.once_in(4));
        let hot = dice.below(ranks as u64) as Rank;
        let mut count = |from: Rank, to: Rank| match kind {
            0 => most,
            1 => {
                if dice.once_in(5) {
                    most
                } else {
                    0
                }
            }
            2 if from == hot || to == hot => 5 * most,
            _ => dice.below(most + 1),
        };
        let mut counts: Vec<Vec<c_int>> = Vec::with_capacity(ranks);
        for from in 0..ranks {
            let row = (0..ranks).map(|to| match counts.get(to) {
                // In place as many go back.
                Some(other) if in_place => other[from],
                _ => count(from, to) as c_int,
            });
            let row = row.collect();
            counts.push(row);
        }
        let algorithm = match dice.below(5) {
            0 => "linear".to_owned(),
            1 => "bruck".to_owned(),
            2 => "node-pairs".to_owned(),
            _ => format!("bruck:{}", 2 + dice.below(7)),
        };
        let (gap, iterations) = (dice.below(3) as c_int, dice.one_of(&[1, 2]));
        let is_set_up = dice.once_in(2);
        Exchange { algorithm, counts, gap, in_place, iterations, is_set_up }
    }

    /// Solves it with both, and says where they differ.
    fn solve(
        &self,
        index: u64,
        (collectives, job): (&Collectives, &Job),
    ) -> Result<Result<(), String>, CollectiveError> {
        collectives.set(Setting::Alltoall, &self.algorithm)?;
        let rank = job.rank();
        let given = self.counts[rank].clone();
        let came: Vec<c_int> = self.counts.iter().map(|row| row[rank]).collect();
        let (starts, room) = self.places(&given);
        let (places, space) = self.places(&came);
        let mut fault = Ok(());
        for iteration in 0..self.iterations {
            let numbers = |ink, room| {
                let pattern = Pattern::new(iteration, ink);
                (0..room as u64).map(|at| pattern.word(at)).collect::<Vec<u64>>()
            };
            let data = numbers(Ink::Data(rank), room);
            let mut found = numbers(Ink::Stale(rank), space);
            let mut expected = found.clone();
            for (items, is_ours) in [(&mut expected, false), (&mut found, true)] {
                let all = PartitionMut { items, counts: &came, displacements: &places };
                let sent = Partition { items: &data, counts: &given, displacements: &starts };
                let sent = (!self.in_place).then_some(&sent);
                let arguments = Arguments::alltoall_of(sent, all)
                    .map_err(|error| CollectiveError::Argument { rank, error })?;
                match (is_ours, self.is_set_up) {
                    (true, true) => {
                        let mut persistent = collectives.init(&arguments)?;
                        persistent.run()?;
                        persistent.start()?;
                        while !persistent.test()? {
                            std::thread::yield_now();
                        }
                    }
                    (true, false) => drop(collectives.run(&arguments)?),
                    (false, is_set_up) => {
                        for _ in 0..1 + u8::from(is_set_up) {
                            job.communicator().native(&arguments)?;
                        }
                    }
                }
            }
            let what = format!(
                "alltoall {index} ({}, in place: {}, set up: {})",
                self.algorithm, self.in_place, self.is_set_up
            );
            fault = fault.and(compared((rank, &what, iteration), &found, &expected));
        }
        Ok(fault)
    }

    /// Starts of messages of these sizes, and their total with the gaps.
    fn places(&self, counts: &[c_int]) -> (Vec<c_int>, usize) {
        let mut end = 0;
        let starts = counts.iter().map(|count| {
            end += self.gap;
            let start = end;
            end += count;
            start
        });
        (starts.collect(), end as usize + 1)
    }
}

/// Fails with the first number that is not as the library left it.
fn compared<T: PartialEq + std::fmt::LowerHex>(
    (rank, what, iteration): (Rank, &str, u64),
    found: &[T],
    expected: &[T],
) -> Result<(), String> {
    match (0..found.len()).find(|&at| found[at] != expected[at]) {
        None => Ok(()),
        Some(at) => Err(format!(
            "rank {rank}, {what}, iteration {iteration}: number {at} of {} is {:#x}, where the library has {:#x}",
            found.len(),
            found[at],
            expected[at]
        )),
    }
}
