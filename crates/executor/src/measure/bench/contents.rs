//! What ranks send, and whether it has arrived.

use super::{BenchError, MeasuredData, MeasuredProblem};
use crate::sys::ByteLayout;
use std::ops::Range;
use tuwtree_measure::Algorithm;
use tuwtree_model::{Operation, Rank};

impl MeasuredProblem {
    /// A processor's input, filled, and its output, which has what it holds from the start.
    pub(super) fn buffers(&self, layout: &ByteLayout, rank: Rank) -> (Vec<u8>, Vec<u8>) {
        let processors = self.problem.processors();
        let all = || (0..processors).flat_map(|rank| self.data(layout, rank)).collect();
        let room = |bytes: usize| vec![0; bytes];
        let total = layout.total();
        let at_root = if rank == self.root { total } else { 0 };
        let own = || self.data(layout, rank).collect();
        let vector = |of: Rank| -> Vec<u8> { self.vector(of, 0..total).collect() };
        match self.operation {
            Operation::Scatter if rank == self.root => (all(), room(layout.block(rank))),
            Operation::Scatter => (Vec::new(), room(layout.block(rank))),
            Operation::Gather => (own(), room(at_root)),
            Operation::Allgather => (own(), room(total)),
            Operation::ReduceScatter => (vector(rank), room(layout.block(rank))),
            Operation::Broadcast if rank == self.root => (Vec::new(), vector(rank)),
            Operation::Broadcast => (Vec::new(), room(total)),
            Operation::Reduce => (vector(rank), room(at_root)),
            Operation::Allreduce => (vector(rank), room(total)),
            Operation::Alltoall => {
                let row = (0..processors).flat_map(|to| self.message((rank, to)));
                (row.collect(), room(total))
            }
            Operation::IntergroupAllgather => {
                (own(), room(self.others(rank).map(|of| layout.block(of)).sum()))
            }
        }
    }

    /// Where in a plan's output of so many bytes the result is.
    pub(super) fn result(&self, rank: Rank, bytes: usize) -> Range<usize> {
        match self.operation {
            Operation::ReduceScatter => self.layout.range(rank),
            Operation::Alltoall => 0..self.layout.total(),
            _ => 0..bytes,
        }
    }

    /// The ranks of the group that this one is not in, if there are groups.
    pub(super) fn others(&self, rank: Rank) -> Range<Rank> {
        let MeasuredData::Groups(sizes) = &self.data else { return 0..0 };
        let other = sizes.other_group(rank);
        other.first..other.first + other.ranks
    }

    /// What a processor contributes or is to have, different at each.
    fn data(&self, layout: &ByteLayout, rank: Rank) -> impl Iterator<Item = u8> + use<> {
        let seed = (rank as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (0..layout.block(rank) as u64)
            .map(move |at| (seed.wrapping_add(at.wrapping_mul(0xd134_2543_de82_ef95)) >> 56) as u8)
    }

    /// What a processor sends to each in an alltoall, one after the other.
    pub(super) fn row(&self, rank: Rank) -> ByteLayout {
        let block = match self.operation {
            Operation::Alltoall => self.layout.block(rank) as u64,
            _ => 0,
        };
        let row = ByteLayout::new(std::iter::repeat_n(block, self.problem.processors()));
        row.expect("blocks have a layout that are all as large as the largest")
    }

    /// What the first processor sends to the second in an alltoall, different for any two.
    fn message(&self, (from, to): (Rank, Rank)) -> impl Iterator<Item = u8> + use<> {
        let shift = (to as u8).wrapping_mul(0x9d) ^ (to >> 8) as u8;
        self.data(&self.layout, from).map(move |byte| byte.wrapping_add(shift))
    }

    /// What a processor contributes to these numbers of a reduction.
    fn vector(&self, rank: Rank, range: Range<usize>) -> impl Iterator<Item = u8> + use<> {
        let seed = (rank as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        range.map(move |at| {
            (seed.wrapping_add((at as u64).wrapping_mul(0xd134_2543_de82_ef95)) >> 56) as u8
        })
    }

    /// Fails unless the output is what all have contributed to these numbers, combined.
    fn check_combined(
        &self,
        algorithm: Algorithm,
        (output, numbers): (&[u8], Range<usize>),
        rank: Rank,
    ) -> Result<(), BenchError> {
        let mut combined = vec![0_u8; output.len()];
        for from in 0..self.problem.processors() {
            for (one, number) in combined.iter_mut().zip(self.vector(from, numbers.clone())) {
                *one ^= number;
            }
        }
        same(algorithm, rank, combined.into_iter(), output)
    }

    /// Fails unless the output is what belongs there.
    pub(super) fn check(
        &self,
        algorithm: Algorithm,
        layout: &ByteLayout,
        output: &[u8],
        rank: Rank,
    ) -> Result<(), BenchError> {
        let block = |of: Rank, range: Range<usize>| {
            same(algorithm, of, self.data(layout, of), &output[range])
        };
        let mut all = 0..self.problem.processors();
        match self.operation {
            Operation::Gather | Operation::Reduce if rank != self.root => Ok(()),
            Operation::Scatter => block(rank, 0..output.len()),
            Operation::Gather | Operation::Allgather => {
                all.try_for_each(|of| block(of, layout.range(of)))
            }
            Operation::Alltoall => all.try_for_each(|of| {
                same(algorithm, of, self.message((of, rank)), &output[layout.range(of)])
            }),
            Operation::ReduceScatter => {
                self.check_combined(algorithm, (output, layout.range(rank)), rank)
            }
            Operation::Reduce | Operation::Allreduce => {
                self.check_combined(algorithm, (output, 0..layout.total()), rank)
            }
            Operation::Broadcast => {
                same(algorithm, self.root, self.vector(self.root, 0..layout.total()), output)
            }
            Operation::IntergroupAllgather => {
                let mut others = self.others(rank);
                let start = layout.range(others.start).start;
                others.try_for_each(|of| {
                    let range = layout.range(of);
                    block(of, range.start - start..range.end - start)
                })
            }
        }
    }
}

/// Fails unless these are the bytes that are expected of a rank's data.
fn same(
    algorithm: Algorithm,
    rank: Rank,
    expected: impl Iterator<Item = u8>,
    found: &[u8],
) -> Result<(), BenchError> {
    let mut pairs = expected.zip(found);
    match pairs.position(|(expected, &found)| expected != found) {
        Some(at) => Err(BenchError::Wrong { algorithm: algorithm.name().into_owned(), rank, at }),
        None => Ok(()),
    }
}
