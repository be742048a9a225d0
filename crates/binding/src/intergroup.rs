//! A communicator between two groups.

use super::raw::{self, MPI_Comm};
use super::{Arguments, Communicator, MpiError, calls, is_running};
use std::ffi::c_int;
use tuwtree_model::Rank;

/// A communicator between the first ranks of a communicator and all others, freed when dropped. Its errors are
/// returned.
#[derive(Debug)]
pub struct Intercommunicator {
    raw: MPI_Comm,
}

impl Intercommunicator {
    /// Makes an intercommunicator of the first `first` ranks and the rest, at least one each. Collective.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn between(first: usize, communicator: &Communicator) -> Result<Self, MpiError> {
        const TAG: c_int = 0;
        let is_first = communicator.rank() < first;
        // The first rank of the other group.
        let leader: Rank = if is_first { first } else { 0 };
        // SAFETY: the communicator lives; new handles are written to local variables, and the one of the own group is
        // freed once.
        unsafe {
            let (mut own, mut made) = (raw::RSMPI_COMM_NULL, raw::RSMPI_COMM_NULL);
            let rank = communicator.rank() as c_int;
            calls::comm_split(communicator.raw(), c_int::from(is_first), rank, &mut own)?;
            let place = (communicator.raw(), leader as c_int);
            let created = calls::intercomm_create(own, 0, place.0, place.1, TAG, &mut made);
            calls::comm_free(&mut own)?;
            created?;
            let made = Intercommunicator { raw: made };
            calls::comm_set_errhandler(made.raw, raw::RSMPI_ERRORS_RETURN)?;
            Ok(made)
        }
    }

    /// The library's own allgather of a group's blocks to all of the other. Collective.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn native(&self, arguments: &Arguments<'_>) -> Result<(), MpiError> {
        // SAFETY: the communicator lives, and is collective over both groups.
        unsafe { arguments.call_native(self.raw) }
    }
}

impl Drop for Intercommunicator {
    fn drop(&mut self) {
        if is_running() {
            // SAFETY: only this has the handle; it is dropped once, and MPI still runs. Failures have nobody to hear of
            // them.
            let _ = unsafe { calls::comm_free(&mut self.raw) };
        }
    }
}
