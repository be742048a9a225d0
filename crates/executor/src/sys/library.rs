//! The library's own gather and scatter, to be compared with.

use crate::sys::blocking::{address, address_mut, int};
use crate::sys::raw::{self, MPI_Request};
use crate::sys::{Arguments, Communicator, MpiError, check};
use std::ffi::c_int;
use std::marker::PhantomData;
use tuwtree_model::{Operation, Rank};

/// Where the blocks of all processors lie, one after the other, as MPI's irregular operations take it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    counts: Vec<c_int>,
    displacements: Vec<c_int>,
    total: usize,
}

impl Layout {
    /// The layout of blocks of these sizes; `None` if they have 2^31 bytes or more in all.
    pub fn new(sizes: impl IntoIterator<Item = u64>) -> Option<Layout> {
        let mut layout = Layout { counts: Vec::new(), displacements: Vec::new(), total: 0 };
        for size in sizes {
            layout.counts.push(c_int::try_from(size).ok()?);
            layout.displacements.push(c_int::try_from(layout.total).ok()?);
            layout.total += size as usize;
        }
        c_int::try_from(layout.total).is_ok().then_some(layout)
    }

    /// The size of a processor's block.
    pub fn block(&self, rank: Rank) -> usize {
        self.counts[rank] as usize
    }

    /// Where in all blocks a processor's block lies.
    pub fn range(&self, rank: Rank) -> std::ops::Range<usize> {
        let start = self.displacements[rank] as usize;
        start..start + self.block(rank)
    }

    /// The size of all blocks.
    pub fn total(&self) -> usize {
        self.total
    }

    /// The arguments of a gather or scatter of these blocks at a processor, for our own collectives.
    ///
    /// # Panics
    /// For buffers that are not as large as the layout says; for other operations.
    #[allow(unsafe_code)]
    pub fn arguments<'a>(
        &'a self,
        operation: Operation,
        input: &'a [u8],
        output: &'a mut [u8],
        (rank, root): (Rank, Rank),
    ) -> Arguments<'a> {
        assert!(Operation::IRREGULAR.contains(&operation), "a gather or scatter");
        let (own, all) = match operation.is_outward() {
            true => (output.len(), input.len()),
            false => (input.len(), output.len()),
        };
        assert_eq!(own, self.block(rank), "the own block");
        assert!(rank != root || all == self.total, "all blocks at the root");
        let (counts, displacements) = (self.counts.as_ptr(), self.displacements.as_ptr());
        let (input, output) = (address(input), address_mut(output));
        // SAFETY: the buffers, borrowed for as long as the arguments, are as large as is checked
        // above; the lists have a number for each processor; bytes are MPI's own datatype.
        unsafe {
            let byte = raw::TUWTREE_BYTE;
            match operation.is_outward() {
                true => Arguments::scatterv(
                    (input, counts, displacements, byte),
                    (output, int(own), byte),
                    int(root),
                ),
                false => Arguments::gatherv(
                    (input, int(own), byte),
                    (output, counts, displacements, byte),
                    int(root),
                ),
            }
        }
    }
}

/// A persistent operation of the library, bound to memory.
#[derive(Debug)]
pub struct Persistent<'a> {
    request: MPI_Request,
    /// Input and layout are read, the output is written, as long as this lives.
    bound: PhantomData<(&'a [u8], &'a mut [u8], &'a Communicator)>,
}

#[allow(unsafe_code)]
impl Persistent<'_> {
    /// Performs the operation once. Collective.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn perform(&mut self) -> Result<(), MpiError> {
        // SAFETY: the request is persistent, not active, and its memory is borrowed.
        check("MPI_Start", unsafe { raw::PMPI_Start(&mut self.request) })?;
        // SAFETY: the request is active; no status is asked for.
        let code = unsafe { raw::PMPI_Wait(&mut self.request, raw::RSMPI_STATUS_IGNORE) };
        check("MPI_Wait", code)
    }
}

#[allow(unsafe_code)]
impl Drop for Persistent<'_> {
    fn drop(&mut self) {
        // SAFETY: the request is ours, not active, and freed once. Nobody is left to be told of a
        // failure.
        unsafe { raw::PMPI_Request_free(&mut self.request) };
    }
}

#[allow(unsafe_code)]
impl Communicator {
    /// Whether the library has persistent irregular operations.
    pub fn has_persistent() -> bool {
        // SAFETY: reading a constant of the C shim.
        unsafe { raw::TUWTREE_HAS_GATHERV_INIT != 0 }
    }

    /// `MPI_Gather`: everybody's input, of the same size, to the root's output. Collective.
    ///
    /// # Errors
    /// What MPI returns.
    ///
    /// # Panics
    /// At the root, for an output that is not `p` times as large as the input; for 2^31 bytes.
    pub fn gather_equal(
        &self,
        input: &[u8],
        output: &mut [u8],
        root: Rank,
    ) -> Result<(), MpiError> {
        assert!(self.rank() != root || output.len() == self.size() * input.len());
        // SAFETY: the input is valid for its length, and so is, at the root, the output for p of
        // them; elsewhere it is not looked at.
        let code = unsafe {
            raw::PMPI_Gather(
                address(input),
                int(input.len()),
                raw::TUWTREE_BYTE,
                address_mut(output),
                int(input.len()),
                raw::TUWTREE_BYTE,
                int(root),
                self.raw(),
            )
        };
        check("MPI_Gather", code)
    }

    /// `MPI_Scatter`: the root's input, cut into equal blocks, to everybody's output. Collective.
    ///
    /// # Errors
    /// What MPI returns.
    ///
    /// # Panics
    /// At the root, for an input that is not `p` times as large as the output; for 2^31 bytes.
    pub fn scatter_equal(
        &self,
        input: &[u8],
        output: &mut [u8],
        root: Rank,
    ) -> Result<(), MpiError> {
        assert!(self.rank() != root || input.len() == self.size() * output.len());
        // SAFETY: the output is valid for its length, and so is, at the root, the input for p of
        // them; elsewhere it is not looked at.
        let code = unsafe {
            raw::PMPI_Scatter(
                address(input),
                int(output.len()),
                raw::TUWTREE_BYTE,
                address_mut(output),
                int(output.len()),
                raw::TUWTREE_BYTE,
                int(root),
                self.raw(),
            )
        };
        check("MPI_Scatter", code)
    }

    /// `MPI_Gatherv`: everybody's block to the root's output. Collective.
    ///
    /// # Errors
    /// What MPI returns.
    ///
    /// # Panics
    /// For an input or, at the root, an output that is not as large as the layout says.
    pub fn gatherv(
        &self,
        input: &[u8],
        output: &mut [u8],
        layout: &Layout,
        root: Rank,
    ) -> Result<(), MpiError> {
        self.check_blocks(input.len(), output.len(), layout, root);
        // SAFETY: input and, at the root, output are as large as counts and displacements say;
        // elsewhere the output is not looked at.
        let code = unsafe {
            raw::PMPI_Gatherv(
                address(input),
                int(input.len()),
                raw::TUWTREE_BYTE,
                address_mut(output),
                layout.counts.as_ptr(),
                layout.displacements.as_ptr(),
                raw::TUWTREE_BYTE,
                int(root),
                self.raw(),
            )
        };
        check("MPI_Gatherv", code)
    }

    /// `MPI_Scatterv`: the root's blocks to everybody's output. Collective.
    ///
    /// # Errors
    /// What MPI returns.
    ///
    /// # Panics
    /// For an output or, at the root, an input that is not as large as the layout says.
    pub fn scatterv(
        &self,
        input: &[u8],
        output: &mut [u8],
        layout: &Layout,
        root: Rank,
    ) -> Result<(), MpiError> {
        self.check_blocks(output.len(), input.len(), layout, root);
        // SAFETY: output and, at the root, input are as large as counts and displacements say;
        // elsewhere the input is not looked at.
        let code = unsafe {
            raw::PMPI_Scatterv(
                address(input),
                layout.counts.as_ptr(),
                layout.displacements.as_ptr(),
                raw::TUWTREE_BYTE,
                address_mut(output),
                int(output.len()),
                raw::TUWTREE_BYTE,
                int(root),
                self.raw(),
            )
        };
        check("MPI_Scatterv", code)
    }

    /// [`gatherv`](Self::gatherv) to be performed again and again. Collective.
    ///
    /// # Errors
    /// What MPI returns; a library without persistent collectives.
    ///
    /// # Panics
    /// As `gatherv`.
    pub fn gatherv_init<'a>(
        &'a self,
        input: &'a [u8],
        output: &'a mut [u8],
        layout: &'a Layout,
        root: Rank,
    ) -> Result<Persistent<'a>, MpiError> {
        self.check_blocks(input.len(), output.len(), layout, root);
        // SAFETY: as in `gatherv`; the borrows last as long as the request.
        unsafe {
            let mut request = raw::RSMPI_REQUEST_NULL;
            let code = raw::tuwtree_native_gatherv_init(
                address(input),
                int(input.len()),
                raw::TUWTREE_BYTE,
                address_mut(output),
                layout.counts.as_ptr(),
                layout.displacements.as_ptr(),
                raw::TUWTREE_BYTE,
                int(root),
                self.raw(),
                &mut request,
            );
            check("MPI_Gatherv_init", code)?;
            Ok(Persistent { request, bound: PhantomData })
        }
    }

    /// [`scatterv`](Self::scatterv) to be performed again and again. Collective.
    ///
    /// # Errors
    /// What MPI returns; a library without persistent collectives.
    ///
    /// # Panics
    /// As `scatterv`.
    pub fn scatterv_init<'a>(
        &'a self,
        input: &'a [u8],
        output: &'a mut [u8],
        layout: &'a Layout,
        root: Rank,
    ) -> Result<Persistent<'a>, MpiError> {
        self.check_blocks(output.len(), input.len(), layout, root);
        // SAFETY: as in `scatterv`; the borrows last as long as the request.
        unsafe {
            let mut request = raw::RSMPI_REQUEST_NULL;
            let code = raw::tuwtree_native_scatterv_init(
                address(input),
                layout.counts.as_ptr(),
                layout.displacements.as_ptr(),
                raw::TUWTREE_BYTE,
                address_mut(output),
                int(output.len()),
                raw::TUWTREE_BYTE,
                int(root),
                self.raw(),
                &mut request,
            );
            check("MPI_Scatterv_init", code)?;
            Ok(Persistent { request, bound: PhantomData })
        }
    }

    /// Fails unless everybody has a block, and the root all of them.
    fn check_blocks(&self, own: usize, all: usize, layout: &Layout, root: Rank) {
        assert_eq!(layout.counts.len(), self.size(), "a block for each processor");
        assert_eq!(own, layout.block(self.rank()), "the own block");
        assert!(self.rank() != root || all == layout.total(), "all blocks at the root");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_lie_one_after_the_other() {
        let layout = Layout::new([2, 0, 3]).unwrap();
        assert_eq!((0..3).map(|rank| layout.range(rank)).collect::<Vec<_>>(), [0..2, 2..2, 2..5]);
        assert_eq!((layout.total(), layout.block(2)), (5, 3));
    }

    #[test]
    fn what_exceeds_the_counts_of_mpi_has_no_layout() {
        let most = (1 << 31) - 1;
        assert_eq!(Layout::new([most]).unwrap().total(), most as usize);
        assert_eq!(Layout::new([most, 1]), None);
        assert_eq!(Layout::new([1 << 31]), None);
        assert_eq!(Layout::new([u64::MAX]), None);
    }
}
