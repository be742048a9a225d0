//! A communicator of our own.

use crate::sys::raw::{self, MPI_Comm};
use crate::sys::{MpiError, check};
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

/// Why processors do not go on together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused<E> {
    /// This processor has a fault.
    #[error("{fault}")]
    Here {
        /// The fault.
        fault: E,
        /// The processor of least rank that has one.
        first: Rank,
    },
    /// Others have one, the one of least rank being this.
    #[error("processor {rank} has failed")]
    Elsewhere {
        /// Its rank.
        rank: Rank,
    },
    /// They could not even agree.
    #[error("{0}")]
    Mpi(MpiError),
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

    /// A communicator of this processor alone.
    ///
    /// # Errors
    /// What MPI returns.
    pub(crate) fn alone() -> Result<Communicator, MpiError> {
        // SAFETY: the handle is MPI's own; whoever has a communicator has initialized MPI.
        unsafe { Communicator::duplicate(raw::RSMPI_COMM_SELF) }
    }

    /// The largest tag that messages may have, at least 32767.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn largest_tag(&self) -> Result<u32, MpiError> {
        let (mut value, mut is_there) = (std::ptr::null_mut::<c_int>(), 0);
        // SAFETY: the attribute is a pointer to an int, which is MPI's and stays; it is promised for
        // the world's communicator only.
        unsafe {
            let place: *mut *mut c_int = &mut value;
            let key = raw::MPI_TAG_UB as c_int;
            check(
                "MPI_Comm_get_attr",
                raw::PMPI_Comm_get_attr(raw::RSMPI_COMM_WORLD, key, place.cast(), &mut is_there),
            )?;
            let is_there = is_there != 0 && !value.is_null();
            Ok(if is_there { u32::try_from(*value).unwrap_or(0) } else { 32767 })
        }
    }

    /// The least of the numbers that the processors give. Collective.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn least(&self, number: i32) -> Result<i32, MpiError> {
        let mut least: c_int = 0;
        let given: *const c_int = &number;
        let result: *mut c_int = &mut least;
        // SAFETY: one number each of the type that is named.
        check("MPI_Allreduce", unsafe {
            raw::PMPI_Allreduce(
                given.cast(),
                result.cast(),
                1,
                raw::RSMPI_INT32_T,
                raw::RSMPI_MIN,
                self.raw,
            )
        })?;
        Ok(least)
    }

    /// The largest of the times that the processors give. Collective.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn longest(&self, seconds: f64) -> Result<f64, MpiError> {
        let mut longest = 0.0;
        let given: *const f64 = &seconds;
        let result: *mut f64 = &mut longest;
        // SAFETY: one number each of the type that is named.
        check("MPI_Allreduce", unsafe {
            raw::PMPI_Allreduce(
                given.cast(),
                result.cast(),
                1,
                raw::RSMPI_DOUBLE,
                raw::RSMPI_MAX,
                self.raw,
            )
        })?;
        Ok(longest)
    }

    /// Waits until all processors have called this. Collective.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn barrier(&self) -> Result<(), MpiError> {
        // SAFETY: the communicator is valid.
        check("MPI_Barrier", unsafe { raw::PMPI_Barrier(self.raw) })
    }

    /// The value, if all processors have one; otherwise the own fault, or who has one. Collective:
    /// nobody goes on alone.
    ///
    /// # Errors
    /// [`Refused`] at all processors, if any has a fault.
    pub fn agree<T, E>(&self, own: Result<T, E>) -> Result<T, Refused<E>> {
        let rank = match &own {
            Ok(_) => self.size,
            Err(_) => self.rank,
        };
        let first = self.least(rank as i32).map_err(Refused::Mpi)? as Rank;
        match own {
            Ok(value) if first == self.size => Ok(value),
            Ok(_) => Err(Refused::Elsewhere { rank: first }),
            Err(fault) => Err(Refused::Here { fault, first }),
        }
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

/// Ends this processor with this exit code, and all others of the job as far as the system can.
#[allow(unsafe_code)]
pub fn abort_all(code: c_int) -> ! {
    let (mut initialized, mut finalized) = (0, 0);
    // SAFETY: the questions may be asked at any time, and the world is there between the two.
    unsafe {
        raw::PMPI_Initialized(&mut initialized);
        raw::PMPI_Finalized(&mut finalized);
        if initialized != 0 && finalized == 0 {
            raw::PMPI_Abort(raw::RSMPI_COMM_WORLD, code);
        }
    }
    std::process::exit(code)
}
