//! Blocks of bytes one after the other, as gather and scatter are measured with.

use super::{Arguments, Operator, Side, address, address_mut, int, raw};
use std::ffi::{c_int, c_void};
use tuwtree_model::{Operation, Rank};

/// Positions of the blocks of all ranks, back to back, in the form of MPI's irregular operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ByteLayout {
    counts: Vec<c_int>,
    displacements: Vec<c_int>,
    total: usize,
}

impl ByteLayout {
    /// The layout of blocks of these sizes; `None` if they have 2^31 bytes or more in all.
    pub fn new(sizes: impl IntoIterator<Item = u64>) -> Option<ByteLayout> {
        let mut layout = ByteLayout { counts: Vec::new(), displacements: Vec::new(), total: 0 };
        for size in sizes {
            layout.counts.push(c_int::try_from(size).ok()?);
            layout.displacements.push(c_int::try_from(layout.total).ok()?);
            layout.total += size as usize;
        }
        c_int::try_from(layout.total).is_ok().then_some(layout)
    }

    /// The size of a rank's block.
    pub fn block(&self, rank: Rank) -> usize {
        self.counts[rank] as usize
    }

    /// Byte range of a rank's block.
    pub fn range(&self, rank: Rank) -> std::ops::Range<usize> {
        let start = self.displacements[rank] as usize;
        start..start + self.block(rank)
    }

    /// The size of the largest block.
    pub fn largest(&self) -> usize {
        self.counts.iter().max().map_or(0, |&count| count as usize)
    }

    /// The size of all blocks.
    pub fn total(&self) -> usize {
        self.total
    }

    /// The arguments of a gather, scatter or allgather of these blocks at a rank, for the library's or our own collectives.
    ///
    /// # Panics
    /// For buffers that are not as large as the layout says; for other operations.
    pub fn arguments<'a>(
        &'a self,
        operation: Operation,
        input: &'a [u8],
        output: &'a mut [u8],
        (rank, root): (Rank, Rank),
    ) -> Arguments<'a> {
        let is_moving = operation.is_irregular() && !operation.is_reduction();
        assert!(is_moving, "a gather, scatter or allgather");
        let (own, all) = match operation.is_outward() {
            true => (output.len(), input.len()),
            false => (input.len(), output.len()),
        };
        assert_eq!(own, self.block(rank), "the own block");
        let has_all = rank == root || operation == Operation::Allgather;
        assert!(!has_all || all == self.total, "all blocks at the root, or everywhere");
        let (input, output) = (address(input), address_mut(output));
        // SAFETY: the buffers, borrowed for as long as the arguments, are as large as is checked
        // above; the lists have a number for each rank; bytes are MPI's own datatype.
        unsafe {
            let own = |buffer: *mut c_void| Side::one(buffer, int(own), raw::TUWTREE_BYTE);
            match operation {
                Operation::Allgather => {
                    Arguments::allgatherv(own(input.cast_mut()), self.side(output))
                }
                Operation::Scatter => {
                    Arguments::scatterv(self.side(input.cast_mut()), own(output), int(root))
                }
                _ => Arguments::gatherv(own(input.cast_mut()), self.side(output), int(root)),
            }
        }
    }

    /// All blocks in this buffer.
    fn side(&self, buffer: *mut c_void) -> Side {
        let (counts, displacements) = (self.counts.as_ptr(), self.displacements.as_ptr());
        // SAFETY: a constant of the C shim.
        Side::listed(buffer, counts, displacements, unsafe { raw::TUWTREE_BYTE })
    }

    /// The arguments of a reduce-scatter of a vector of such blocks at a rank, whose bytes are combined by exclusive or.
    /// (Sums of bytes are not the same everywhere: Open MPI 4.1's stop at 255 where vector instructions add them.)
    ///
    /// # Panics
    /// For buffers that are not as large as the layout says.
    pub fn exclusive_or<'a>(
        &'a self,
        input: &'a [u8],
        output: &'a mut [u8],
        rank: Rank,
    ) -> Arguments<'a> {
        assert_eq!((input.len(), output.len()), (self.total, self.block(rank)), "vector and block");
        // SAFETY: the buffers, borrowed for as long as the arguments, are as large as is checked above; the list has a
        // number for each rank; datatype and operator are MPI's own.
        unsafe {
            let counts = self.counts.as_ptr();
            let result = Side::counted(address_mut(output), counts, raw::RSMPI_UINT8_T);
            Arguments::reduce_scatter(address(input), result, Operator::exclusive_or().raw())
        }
    }

    /// Arguments of an allgather between two groups at a rank whose remote group has these blocks.
    ///
    /// # Panics
    /// For an output that is not as large as the layout says, an input of 2^31 bytes or more.
    pub fn from_others<'a>(&'a self, input: &'a [u8], output: &'a mut [u8]) -> Arguments<'a> {
        assert_eq!(output.len(), self.total, "the blocks of the other group");
        let own = c_int::try_from(input.len()).expect("a block that MPI can count");
        let (input, output) = (address(input), address_mut(output));
        // SAFETY: the output, borrowed for as long as the arguments, is as large as is checked above; the lists have a
        // number for each rank of the other group; bytes are MPI's own datatype.
        unsafe {
            let own = Side::one(input, own, raw::TUWTREE_BYTE);
            Arguments::allgatherv(own, self.side(output))
        }
    }

    /// The arguments of an alltoall at a rank, in which these are the messages from all, and `sent` those for all.
    ///
    /// # Panics
    /// For buffers that are not as large as the layouts say.
    pub fn exchange<'a>(
        &'a self,
        (sent, input): (&'a ByteLayout, &'a [u8]),
        output: &'a mut [u8],
    ) -> Arguments<'a> {
        assert_eq!(
            (input.len(), output.len()),
            (sent.total, self.total),
            "messages for and from all"
        );
        let (input, output) = (address(input), address_mut(output));
        // SAFETY: the buffers, borrowed for as long as the arguments, are as large as is checked above; the lists have a
        // number for each rank; bytes are MPI's own datatype.
        unsafe { Arguments::alltoall(sent.side(input.cast_mut()), self.side(output)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_lie_one_after_the_other() {
        let layout = ByteLayout::new([2, 0, 3]).unwrap();
        assert_eq!((0..3).map(|rank| layout.range(rank)).collect::<Vec<_>>(), [0..2, 2..2, 2..5]);
        assert_eq!((layout.total(), layout.block(2)), (5, 3));
    }

    #[test]
    fn what_exceeds_the_counts_of_mpi_has_no_layout() {
        let most = (1 << 31) - 1;
        assert_eq!(ByteLayout::new([most]).unwrap().total(), most as usize);
        assert_eq!(ByteLayout::new([most, 1]), None);
        assert_eq!(ByteLayout::new([1 << 31]), None);
        assert_eq!(ByteLayout::new([u64::MAX]), None);
    }
}
