//! A communicator of our own.

use crate::mpi::raw::{self, MPI_Comm};
use crate::mpi::{MpiError, check};
use std::ffi::c_int;
use tuwtree_model::Rank;

/// A duplicate of a communicator, freed when dropped. Its errors are returned, not fatal: whoever
/// calls decides, by the error handler of the communicator that was given.
///
/// Messages on it meet nobody else's, on the same processors or not.
#[derive(Debug)]
pub struct Communicator {
    raw: MPI_Comm,
    rank: Rank,
    size: usize,
}

#[allow(unsafe_code)]
impl Communicator {
    /// A duplicate of this communicator. Collective: all its processors call it.
    ///
    /// # Safety
    /// MPI is initialized, and `comm` is a handle that MPI has given out (or `MPI_COMM_NULL`, which
    /// is an error).
    ///
    /// # Errors
    /// What MPI returns; an inter-communicator, which has no ranks of its own.
    pub unsafe fn duplicate(comm: MPI_Comm) -> Result<Communicator, MpiError> {
        let invalid = || MpiError::new("MPI_Comm_dup", raw::MPI_ERR_COMM as c_int);
        // SAFETY: reading a constant of the C shim.
        if comm == unsafe { raw::RSMPI_COMM_NULL } {
            return Err(invalid());
        }
        let mut inter = 0;
        // SAFETY: `comm` is a communicator's handle by the caller's promise.
        check("MPI_Comm_test_inter", unsafe { raw::PMPI_Comm_test_inter(comm, &mut inter) })?;
        if inter != 0 {
            return Err(invalid());
        }
        // SAFETY: reading a constant of the C shim.
        let mut duplicate = unsafe { raw::RSMPI_COMM_NULL };
        // SAFETY: as above; the duplicate's handle is written to a local variable.
        check("MPI_Comm_dup", unsafe { raw::PMPI_Comm_dup(comm, &mut duplicate) })?;
        let mut own = Communicator { raw: duplicate, rank: 0, size: 0 };
        let (mut rank, mut size) = (0, 0);
        // SAFETY: the duplicate is a valid communicator, the constant is the C shim's.
        unsafe {
            let handler = raw::RSMPI_ERRORS_RETURN;
            check("MPI_Comm_set_errhandler", raw::PMPI_Comm_set_errhandler(duplicate, handler))?;
            check("MPI_Comm_rank", raw::PMPI_Comm_rank(duplicate, &mut rank))?;
            check("MPI_Comm_size", raw::PMPI_Comm_size(duplicate, &mut size))?;
        }
        own.rank = rank as Rank;
        own.size = size as usize;
        Ok(own)
    }

    /// A duplicate of all processors' communicator. Collective.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn world(_initialized: &mpi::environment::Universe) -> Result<Communicator, MpiError> {
        // SAFETY: the universe is MPI's being initialized; the world's handle is MPI's own.
        unsafe { Communicator::duplicate(raw::RSMPI_COMM_WORLD) }
    }

    /// This processor's rank, in `0..size`.
    pub fn rank(&self) -> Rank {
        self.rank
    }

    /// The number of processors, `p >= 1`.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The handle. It stays ours: not to be freed, and no longer used than this lives.
    pub fn raw(&self) -> MPI_Comm {
        self.raw
    }
}

#[allow(unsafe_code)]
impl Drop for Communicator {
    fn drop(&mut self) {
        let mut finalized = 0;
        // SAFETY: MPI_Finalized may be called at any time; the handle is ours, and freed once.
        unsafe {
            raw::PMPI_Finalized(&mut finalized);
            if finalized == 0 {
                raw::PMPI_Comm_free(&mut self.raw);
            }
        }
    }
}
