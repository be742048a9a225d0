//! A communicator of our own.

use super::raw::{self, MPI_Comm};
use super::{MpiError, calls};
use std::ffi::c_int;
use std::mem::ManuallyDrop;
use tuwtree_model::Rank;

/// A duplicate of a communicator, freed when dropped. It carries no attributes, so that no callback of the user's is
/// called. Its errors are returned, not fatal: the caller decides, by the error handler of the original.
///
/// Messages on it meet nobody else's, on the same ranks or not.
#[derive(Debug)]
pub struct Communicator {
    raw: MPI_Comm,
    rank: Rank,
    size: usize,
    /// The largest tag that messages may have, at least 32767.
    largest_tag: u32,
}

/// Reason for which ranks do not go on together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused<E> {
    /// This rank has a fault.
    #[error("{fault}")]
    Here {
        /// The fault at this rank.
        fault: E,
        /// The rank of least rank that has one.
        first: Rank,
    },
    /// Others have one, the one of least rank being this.
    #[error("rank {rank} has failed")]
    Elsewhere {
        /// The lowest rank that has failed.
        rank: Rank,
    },
    /// They could not even agree.
    #[error("{0}")]
    Mpi(MpiError),
}

impl Communicator {
    /// A communicator of the same ranks. Collective: all of them call it. The error handler of the
    /// given one is not called, whatever fails.
    ///
    /// # Safety
    /// MPI is initialized, and `comm` is a handle that MPI has given out (or `MPI_COMM_NULL`, which
    /// is an error).
    ///
    /// # Errors
    /// What MPI returns; an inter-communicator, which has no ranks of its own.
    pub unsafe fn duplicate(comm: MPI_Comm) -> Result<Communicator, MpiError> {
        // SAFETY: `comm` is a communicator's handle by the caller's promise, or null, which is not
        // asked; all results are written to local variables.
        unsafe {
            if comm == raw::RSMPI_COMM_NULL || is_inter(comm)? {
                return Err(MpiError::new("MPI_Comm_create", raw::MPI_ERR_COMM as c_int));
            }
            let made = without_handler(comm, || of_the_same(comm))?;
            let mut own = Communicator { raw: made, rank: 0, size: 0, largest_tag: 32767 };
            calls::comm_set_errhandler(made, raw::RSMPI_ERRORS_RETURN)?;
            own.look()?;
            Ok(own)
        }
    }

    /// Runs `work` on the program's own communicator; its error handler is not called meanwhile.
    ///
    /// # Safety
    /// As [`duplicate`](Self::duplicate). Nobody else uses the communicator meanwhile: it is a collective
    /// call's.
    ///
    /// # Errors
    /// As [`duplicate`](Self::duplicate).
    pub unsafe fn lent<T>(
        comm: MPI_Comm,
        work: impl FnOnce(&Communicator) -> T,
    ) -> Result<T, MpiError> {
        // SAFETY: as in `duplicate`.
        unsafe {
            if comm == raw::RSMPI_COMM_NULL || is_inter(comm)? {
                return Err(MpiError::new("MPI_Comm_size", raw::MPI_ERR_COMM as c_int));
            }
            // Not ours to be freed.
            let mut lent =
                ManuallyDrop::new(Communicator { raw: comm, rank: 0, size: 0, largest_tag: 32767 });
            without_handler(comm, || {
                lent.look()?;
                Ok(work(&lent))
            })
        }
    }

    /// Reads the communicator's facts.
    ///
    /// # Safety
    /// The handle is a communicator's.
    unsafe fn look(&mut self) -> Result<(), MpiError> {
        // SAFETY: the caller's promise; results are written to local variables.
        unsafe {
            self.rank = rank_in(self.raw)?;
            self.size = size_of(self.raw)?;
            // A pointer to an int, which is MPI's; it is promised for the world's communicator only.
            let key = raw::MPI_TAG_UB as c_int;
            if let Some(tag) = attribute::<c_int>(raw::RSMPI_COMM_WORLD, key)? {
                self.largest_tag = u32::try_from(*tag).unwrap_or(0);
            }
            Ok(())
        }
    }

    /// Another communicator of the same ranks. Collective.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn duplicate_again(&self) -> Result<Communicator, MpiError> {
        // SAFETY: the communicator that is duplicated lives as long as `self`.
        unsafe { Communicator::duplicate(self.raw) }
    }

    /// The ranks that can share memory with this one: those on its node, in rank order.
    /// Collective.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn of_node(&self) -> Result<Communicator, MpiError> {
        // SAFETY: the communicator lives; the new handle is written to a local variable, used while
        // it is valid, and freed once.
        unsafe {
            let mut on_node: MPI_Comm = raw::RSMPI_COMM_NULL;
            let (kind, no_hints) = (raw::RSMPI_COMM_TYPE_SHARED, raw::RSMPI_INFO_NULL);
            calls::comm_split_type(self.raw, kind, 0, no_hints, &mut on_node)?;
            let duplicate = Communicator::duplicate(on_node);
            calls::comm_free(&mut on_node)?;
            duplicate
        }
    }

    /// A communicator of all ranks. Collective.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn world(_initialized: &mpi::environment::Universe) -> Result<Communicator, MpiError> {
        // SAFETY: the universe is MPI's being initialized; the world's handle is MPI's own.
        unsafe { Communicator::duplicate(raw::RSMPI_COMM_WORLD) }
    }

    /// A communicator of this rank alone.
    ///
    /// # Safety
    /// MPI is initialized.
    ///
    /// # Errors
    /// What MPI returns.
    pub unsafe fn alone() -> Result<Communicator, MpiError> {
        // SAFETY: the caller's promise; the handle is MPI's own.
        unsafe { Communicator::duplicate(raw::RSMPI_COMM_SELF) }
    }

    /// The largest tag that messages may have, at least 32767.
    pub fn largest_tag(&self) -> u32 {
        self.largest_tag
    }

    /// The value, if all ranks have one; otherwise the own fault, or who has one. Collective:
    /// nobody goes on alone.
    ///
    /// # Errors
    /// [`Refused`] at all ranks, if any has a fault.
    pub fn agree<T, E>(&self, own: Result<T, E>) -> Result<T, Refused<E>> {
        let rank = match &own {
            Ok(_) => self.size,
            Err(_) => self.rank,
        };
        let first = self.least(rank as u64).map_err(Refused::Mpi)? as Rank;
        match own {
            Ok(value) if first == self.size => Ok(value),
            Ok(_) => Err(Refused::Elsewhere { rank: first }),
            Err(fault) => Err(Refused::Here { fault, first }),
        }
    }

    /// This rank's rank, in `0..size`.
    pub fn rank(&self) -> Rank {
        self.rank
    }

    /// The number of ranks, `p >= 1`.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The handle. It stays ours: not to be freed, and no longer used than this lives.
    pub fn raw(&self) -> MPI_Comm {
        self.raw
    }
}

impl Drop for Communicator {
    fn drop(&mut self) {
        if is_running() {
            // SAFETY: a communicator that only this has the handle of; it is dropped once, and MPI
            // still runs. Failures have nobody to hear of them.
            let _ = unsafe { calls::comm_free(&mut self.raw) };
        }
    }
}

/// A communicator of the same ranks, without attributes. (`MPI_Comm_dup` copies them, and
/// `MPI_Comm_create_group` talks on the given communicator, where a receive of the user's from anybody
/// may be posted.)
///
/// # Safety
/// `comm` is a communicator's handle, of one group.
unsafe fn of_the_same(comm: MPI_Comm) -> Result<MPI_Comm, MpiError> {
    // SAFETY: a communicator by the caller's promise; handles are written to local variables, and the
    // group is freed once.
    unsafe {
        let (mut made, mut group) = (raw::RSMPI_COMM_NULL, raw::RSMPI_GROUP_NULL);
        calls::comm_group(comm, &mut group)?;
        let created = calls::comm_create(comm, group, &mut made);
        let freed = calls::group_free(&mut group);
        created.and(freed).map(|()| made)
    }
}

/// Runs `work` while errors on the communicator are returned, not given to its handler.
///
/// # Safety
/// `comm` is a communicator's handle.
unsafe fn without_handler<T>(
    comm: MPI_Comm,
    work: impl FnOnce() -> Result<T, MpiError>,
) -> Result<T, MpiError> {
    // SAFETY: a communicator by the caller's promise; the handler that it had is set again, and our
    // handle of it freed once.
    unsafe {
        let mut handler = raw::RSMPI_ERRORS_RETURN;
        calls::comm_get_errhandler(comm, &mut handler)?;
        calls::comm_set_errhandler(comm, raw::RSMPI_ERRORS_RETURN)?;
        let done = work();
        calls::comm_set_errhandler(comm, handler)?;
        calls::errhandler_free(&mut handler)?;
        done
    }
}

/// True between `MPI_Init` and `MPI_Finalize`.
pub fn is_running() -> bool {
    let (mut initialized, mut finalized) = (0, 0);
    // SAFETY: these two questions may be asked at any time.
    let asked = unsafe {
        calls::initialized(&mut initialized).and_then(|()| calls::finalized(&mut finalized))
    };
    asked.is_ok() && initialized != 0 && finalized == 0
}

/// The rank of this rank.
///
/// # Safety
/// `comm` is a communicator's handle.
///
/// # Errors
/// What MPI returns.
pub unsafe fn rank_in(comm: MPI_Comm) -> Result<Rank, MpiError> {
    let mut rank = 0;
    // SAFETY: `comm` is a communicator by the caller's promise; the rank is written to a local
    // variable.
    unsafe { calls::comm_rank(comm, &mut rank)? };
    Ok(rank as Rank)
}

/// Number of ranks of the communicator; of an intercommunicator, of the local group.
///
/// # Safety
/// `comm` is a communicator's handle.
///
/// # Errors
/// What MPI returns.
pub unsafe fn size_of(comm: MPI_Comm) -> Result<usize, MpiError> {
    let mut size = 0;
    // SAFETY: `comm` is a communicator by the caller's promise; the size is written to a local
    // variable.
    unsafe { calls::comm_size(comm, &mut size)? };
    Ok(size as usize)
}

/// True for an intercommunicator.
///
/// # Safety
/// `comm` is a communicator's handle.
///
/// # Errors
/// What MPI returns.
pub unsafe fn is_inter(comm: MPI_Comm) -> Result<bool, MpiError> {
    let mut inter = 0;
    // SAFETY: `comm` is a communicator by the caller's promise; the answer is written to a local
    // variable.
    unsafe { calls::comm_test_inter(comm, &mut inter)? };
    Ok(inter != 0)
}

/// Value of the communicator's attribute under this key, if set.
///
/// # Safety
/// `comm` is a communicator's handle, and the attribute is a pointer to a `T`.
///
/// # Errors
/// What MPI returns.
pub(crate) unsafe fn attribute<T>(comm: MPI_Comm, key: c_int) -> Result<Option<*mut T>, MpiError> {
    let (mut value, mut is_there) = (std::ptr::null_mut::<T>(), 0);
    // SAFETY: the caller's promise: MPI writes a pointer to where `value` is.
    unsafe { calls::comm_get_attr(comm, key, (&raw mut value).cast(), &mut is_there)? };
    Ok(Some(value).filter(|value| is_there != 0 && !value.is_null()))
}

/// Ends this rank with this exit code, and all others of the job as far as the system can.
pub fn abort_all(code: c_int) -> ! {
    if is_running() {
        // SAFETY: MPI is initialized, so that the world is there. If this fails, the exit is left.
        let _ = unsafe { calls::abort(raw::RSMPI_COMM_WORLD, code) };
    }
    std::process::exit(code)
}
