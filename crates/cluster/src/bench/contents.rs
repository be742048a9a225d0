//! Sent data, and the check of its arrival.

use super::{BenchError, MeasuredData, MeasuredProblem};
use std::ops::Range;
use tuwtree_binding::ByteLayout;
use tuwtree_measure::Algorithm;
use tuwtree_model::{Extent, PayloadKind, Rank};

impl MeasuredProblem {
    /// A rank's input, filled, and its output, with its initial contents.
    pub(super) fn buffers(&self, layout: &ByteLayout, rank: Rank) -> (Vec<u8>, Vec<u8>) {
        let at_root = rank == self.root;
        let input = match self.operation.input() {
            Extent::Nothing => Vec::new(),
            Extent::TotalAtRoot if !at_root => Vec::new(),
            Extent::TotalAtRoot => {
                (0..self.problem.ranks()).flat_map(|of| self.data(layout, of)).collect()
            }
            Extent::Own | Extent::Total => self.contribution(layout, rank),
        };
        let holds_vector = at_root && self.operation.input() == Extent::Nothing;
        let output = match holds_vector {
            true => self.vector(rank, 0..layout.total()).collect(),
            false => vec![0; self.result_bytes(layout, rank)],
        };
        (input, output)
    }

    /// Data that a rank gives: its vector, its messages to all, or its block.
    fn contribution(&self, layout: &ByteLayout, rank: Rank) -> Vec<u8> {
        match self.operation.payload_kind() {
            _ if self.operation.is_reduction() => self.vector(rank, 0..layout.total()).collect(),
            PayloadKind::Messages => {
                (0..self.problem.ranks()).flat_map(|to| self.message((rank, to))).collect()
            }
            PayloadKind::Blocks | PayloadKind::Vector | PayloadKind::Groups => {
                self.data(layout, rank).collect()
            }
        }
    }

    /// Bytes of a rank's result.
    fn result_bytes(&self, layout: &ByteLayout, rank: Rank) -> usize {
        match (self.operation.output(), self.operation.payload_kind()) {
            (Extent::TotalAtRoot, _) if rank != self.root => 0,
            (_, PayloadKind::Groups) => self.others(rank).map(|of| layout.block(of)).sum(),
            (Extent::Own, PayloadKind::Blocks) => layout.block(rank),
            (_, PayloadKind::Blocks) if self.operation.is_reduction() => layout.block(rank),
            _ => layout.total(),
        }
    }

    /// Range of the result in a plan's output of this many bytes.
    pub(super) fn result(&self, rank: Rank, bytes: usize) -> Range<usize> {
        match self.operation.payload_kind() {
            PayloadKind::Blocks if self.operation.is_reduction() => self.layout.range(rank),
            PayloadKind::Messages => 0..self.layout.total(),
            _ => 0..bytes,
        }
    }

    /// The ranks of the group that this one is not in, if there are groups.
    pub(super) fn others(&self, rank: Rank) -> Range<Rank> {
        let MeasuredData::Groups(sizes) = &self.data else { return 0..0 };
        let other = sizes.other_group(rank);
        other.first..other.first + other.ranks
    }

    /// A rank's contribution or result, different at each rank.
    fn data(&self, layout: &ByteLayout, rank: Rank) -> impl Iterator<Item = u8> + use<> {
        let seed = (rank as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (0..layout.block(rank) as u64)
            .map(move |at| (seed.wrapping_add(at.wrapping_mul(0xd134_2543_de82_ef95)) >> 56) as u8)
    }

    /// Layout of a rank's messages in an alltoall, back to back.
    pub(super) fn row(&self, rank: Rank) -> ByteLayout {
        let block = match self.operation.payload_kind() {
            PayloadKind::Messages => self.layout.block(rank) as u64,
            _ => 0,
        };
        let row = ByteLayout::new(std::iter::repeat_n(block, self.problem.ranks()));
        row.expect("blocks have a layout that are all as large as the largest")
    }

    /// Contents of a message in an alltoall, different for any two pairs.
    fn message(&self, (from, to): (Rank, Rank)) -> impl Iterator<Item = u8> + use<> {
        let shift = (to as u8).wrapping_mul(0x9d) ^ (to >> 8) as u8;
        self.data(&self.layout, from).map(move |byte| byte.wrapping_add(shift))
    }

    /// A rank's contribution to these numbers of a reduction.
    fn vector(&self, rank: Rank, range: Range<usize>) -> impl Iterator<Item = u8> + use<> {
        let seed = (rank as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        range.map(move |at| {
            (seed.wrapping_add((at as u64).wrapping_mul(0xd134_2543_de82_ef95)) >> 56) as u8
        })
    }

    /// Checks that the output is the combination of all contributions to these numbers.
    fn check_combined(
        &self,
        algorithm: Algorithm,
        (output, numbers): (&[u8], Range<usize>),
        rank: Rank,
    ) -> Result<(), BenchError> {
        let mut combined = vec![0_u8; output.len()];
        for from in 0..self.problem.ranks() {
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
        let mut all = 0..self.problem.ranks();
        let kind = self.operation.payload_kind();
        match (self.operation.output(), kind) {
            (Extent::TotalAtRoot, _) if rank != self.root => Ok(()),
            (_, PayloadKind::Blocks) if self.operation.is_reduction() => {
                self.check_combined(algorithm, (output, layout.range(rank)), rank)
            }
            _ if self.operation.is_reduction() => {
                self.check_combined(algorithm, (output, 0..layout.total()), rank)
            }
            (_, PayloadKind::Vector) => {
                same(algorithm, self.root, self.vector(self.root, 0..layout.total()), output)
            }
            (Extent::Own, _) => block(rank, 0..output.len()),
            (_, PayloadKind::Blocks) => all.try_for_each(|of| block(of, layout.range(of))),
            (_, PayloadKind::Messages) => all.try_for_each(|of| {
                same(algorithm, of, self.message((of, rank)), &output[layout.range(of)])
            }),
            (_, PayloadKind::Groups) => {
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
