//! What ranks send, and whether it has arrived.

use super::{BenchError, MeasuredProblem};
use crate::sys::ByteLayout;
use std::ops::Range;
use tuwtree_measure::Algorithm;
use tuwtree_model::{Operation, Rank};

impl MeasuredProblem {
    /// A processor's input, filled, and its output.
    pub(super) fn buffers(&self, layout: &ByteLayout, rank: Rank) -> (Vec<u8>, Vec<u8>) {
        let all = || (0..self.sizes.processors()).flat_map(|rank| self.data(layout, rank));
        let has_all = rank == self.root || !self.operation.is_rooted();
        let all_bytes = if has_all { layout.total() } else { 0 };
        match self.operation {
            Operation::Scatter if rank == self.root => {
                (all().collect(), vec![0; layout.block(rank)])
            }
            Operation::Scatter => (Vec::new(), vec![0; layout.block(rank)]),
            Operation::ReduceScatter => {
                (self.vector(rank, 0..layout.total()).collect(), vec![0; layout.block(rank)])
            }
            Operation::Alltoall => {
                let receivers = 0..self.sizes.processors();
                (
                    receivers.flat_map(|to| self.message((rank, to))).collect(),
                    vec![0; layout.total()],
                )
            }
            _ => (self.data(layout, rank).collect(), vec![0; all_bytes]),
        }
    }

    /// What a processor contributes or is to have, different at each.
    fn data(&self, layout: &ByteLayout, rank: Rank) -> impl Iterator<Item = u8> + use<> {
        let seed = (rank as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (0..layout.block(rank) as u64)
            .map(move |at| (seed.wrapping_add(at.wrapping_mul(0xd134_2543_de82_ef95)) >> 56) as u8)
    }

    /// What a processor sends to each in an alltoall, one after the other.
    pub(super) fn row(&self, rank: Rank) -> ByteLayout {
        let block = self.layout.block(rank) as u64;
        let row = ByteLayout::new(std::iter::repeat_n(block, self.sizes.processors()));
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

    /// Fails unless the output is what all have contributed to the own block, combined.
    fn check_combined(
        &self,
        algorithm: Algorithm,
        output: &[u8],
        rank: Rank,
    ) -> Result<(), BenchError> {
        let mut combined = vec![0_u8; output.len()];
        for from in 0..self.sizes.processors() {
            let numbers = self.vector(from, self.layout.range(rank));
            for (one, number) in combined.iter_mut().zip(numbers) {
                *one ^= number;
            }
        }
        match combined.iter().zip(output).position(|(expected, found)| expected != found) {
            Some(at) => {
                Err(BenchError::Wrong { algorithm: algorithm.name().into_owned(), rank, at })
            }
            None => Ok(()),
        }
    }

    /// Fails unless the output is what belongs there.
    pub(super) fn check(
        &self,
        algorithm: Algorithm,
        layout: &ByteLayout,
        output: &[u8],
        rank: Rank,
    ) -> Result<(), BenchError> {
        let check = |of: Rank, range: Range<usize>| {
            let data: Box<dyn Iterator<Item = u8>> = match self.operation {
                Operation::Alltoall => Box::new(self.message((of, rank))),
                _ => Box::new(self.data(layout, of)),
            };
            let mut pairs = data.zip(&output[range]);
            match pairs.position(|(expected, &found)| expected != found) {
                Some(at) => {
                    let algorithm = algorithm.name().into_owned();
                    Err(BenchError::Wrong { algorithm, rank: of, at })
                }
                None => Ok(()),
            }
        };
        match self.operation {
            Operation::Scatter => check(rank, 0..output.len()),
            Operation::ReduceScatter => self.check_combined(algorithm, output, rank),
            operation if operation.is_rooted() && rank != self.root => Ok(()),
            _ => (0..self.sizes.processors()).try_for_each(|of| check(of, layout.range(of))),
        }
    }
}
