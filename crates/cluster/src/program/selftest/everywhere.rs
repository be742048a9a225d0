//! Random allgathers, each by some algorithm, against the library's own.

use super::dice::Dice;
use crate::job::Job;
use crate::pattern::{Ink, Pattern};
use std::ffi::c_int;
use tuwtree_binding::{Arguments, PartitionMut};
use tuwtree_executor::collective::{CollectiveError, Collectives};
use tuwtree_executor::settings::{Setting, Settings};
use tuwtree_model::{ClosedSet, Distribution, DistributionParameters, Randomness, Rank};

/// A random allgather of numbers.
#[derive(Debug)]
struct RandomAllgather {
    index: u64,
    /// Setting of the algorithm.
    algorithm: String,
    distribution: Distribution,
    counts: Vec<c_int>,
    displacements: Vec<c_int>,
    /// The numbers of all blocks, gaps included.
    room: usize,
    in_place: bool,
    iterations: u64,
}

impl RandomAllgather {
    /// The random problem number `index` for this many processes.
    fn random(seed: u64, index: u64, ranks: usize) -> RandomAllgather {
        let mut dice = Dice::new(seed, &[index, ranks as u64, 1]);
        let distribution = Distribution::ALL[index as usize % Distribution::ALL.len()];
        let mean = dice.one_of(&[1, 5, 100, 3000]);
        let parameters = DistributionParameters::new(ranks, mean);
        let randomness = Randomness::Xoshiro { seed: dice.number() };
        let sizes = distribution.sizes(parameters, randomness).expect("small sizes");
        let empty = dice.one_of(&[u64::MAX, u64::MAX, 3]);
        let count = |size: u64| if dice.once_in(empty) { 0 } else { size as c_int };
        let counts: Vec<c_int> = sizes.iter().map(count).collect();
        let mut order: Vec<Rank> = (0..ranks).collect();
        if dice.once_in(2) {
            dice.shuffle(&mut order);
        }
        // MPICH 4.0.2 writes the block of a single process to the beginning, whatever its displacement.
        let gap = if ranks == 1 { 1 } else { dice.one_of(&[1, 4]) };
        let (mut displacements, mut room) = (vec![0; ranks], 0);
        for rank in order {
            room += dice.below(gap) as c_int;
            displacements[rank] = room;
            room += counts[rank];
        }
        let algorithm = match dice.below(9) {
            0 => "ring".to_owned(),
            1 => "circulant".to_owned(),
            2 => format!("bruck-postal:{}", 1 + dice.below(ranks as u64 + 1)),
            3 => format!("bruck-balanced:{}", 1 + dice.below(ranks as u64 + 1)),
            4 => format!("circulant-balanced:{}", 1 + dice.below(60)),
            5 => "lanes".to_owned(),
            6 => "node-all".to_owned(),
            _ => format!("circulant-pieces:{}", 1 + dice.below(60)),
        };
        RandomAllgather {
            index,
            algorithm,
            distribution,
            counts,
            displacements,
            room: room as usize + 3,
            in_place: dice.once_in(3),
            iterations: dice.one_of(&[1, 3]),
        }
    }

    /// Solves it with both, and says where they differ.
    fn solve(
        &self,
        collectives: &Collectives,
        job: &Job,
    ) -> Result<Result<(), String>, CollectiveError> {
        collectives.set(Setting::Allgather, &self.algorithm)?;
        let rank = job.rank();
        let start = self.displacements[rank] as usize;
        let own = start..start + self.counts[rank] as usize;
        let mut fault = Ok(());
        for iteration in 0..self.iterations {
            let [data, mut found] = [Ink::Data(rank), Ink::Stale(rank)].map(|ink| {
                let pattern = Pattern::new(iteration, ink);
                (0..self.room as u64).map(|at| pattern.word(at)).collect::<Vec<u64>>()
            });
            let given = &data[own.clone()];
            if self.in_place {
                found[own.clone()].copy_from_slice(given);
            }
            let mut expected = found.clone();
            let given = (!self.in_place).then_some(given);
            for (items, is_ours) in [(&mut expected, false), (&mut found, true)] {
                let (counts, displacements) = (&self.counts[..], &self.displacements[..]);
                let all = PartitionMut { items, counts, displacements };
                let arguments = Arguments::allgather(given, all)
                    .map_err(|error| CollectiveError::Argument { rank, error })?;
                match is_ours {
                    true => drop(collectives.run(&arguments)?),
                    false => job.communicator().native(&arguments)?,
                }
            }
            let at = (0..self.room).find(|&at| found[at] != expected[at]);
            fault = fault.and(match at {
                None => Ok(()),
                Some(at) => Err(format!(
                    "rank {rank}, allgather {} ({}, {} blocks, in place: {}), iteration {iteration}: number \
                     {at} of {} is {:#x}, where the library has {:#x}",
                    self.index,
                    self.algorithm,
                    self.distribution.name(),
                    self.in_place,
                    self.room,
                    found[at],
                    expected[at]
                )),
            });
        }
        Ok(fault)
    }
}

/// Solves this many problems; the inner error is the first number that differs. Collective.
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
        let problem = RandomAllgather::random(seed, index, job.size());
        fault = fault.and(problem.solve(&collectives, job)?);
    }
    Ok(fault)
}
