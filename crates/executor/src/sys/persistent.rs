//! The MPI library's own persistent gather and scatter.

use crate::sys::raw::{self, MPI_Request};
use crate::sys::{Arguments, Communicator, MpiError, check};
use std::ffi::c_int;
use std::rc::Rc;

/// The MPI library's own operation, started as often as one likes: a persistent collective request,
/// or where the library has none, a nonblocking operation each time.
#[derive(Debug)]
pub struct NativeRequest<'a> {
    request: MPI_Request,
    /// Whether the request outlives what it performs.
    is_persistent: bool,
    is_under_way: bool,
    arguments: Arguments<'a>,
    /// The counts and displacements that the arguments point to, for as long as the request lives.
    _lists: [Vec<c_int>; 2],
    communicator: Rc<Communicator>,
}

#[allow(unsafe_code)]
impl<'a> NativeRequest<'a> {
    /// The operation with these arguments. Collective.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn new(
        arguments: &Arguments<'a>,
        communicator: &Rc<Communicator>,
    ) -> Result<NativeRequest<'a>, MpiError> {
        let mut arguments = *arguments;
        let lists = arguments.own_lists(communicator.rank(), communicator.size());
        // SAFETY: a communicator that lives; a constant of the C shim.
        let (made, null) =
            unsafe { (arguments.init_native(communicator.raw())?, raw::RSMPI_REQUEST_NULL) };
        Ok(NativeRequest {
            request: made.unwrap_or(null),
            is_persistent: made.is_some(),
            is_under_way: false,
            arguments,
            _lists: lists,
            communicator: Rc::clone(communicator),
        })
    }

    /// Starts the operation, which is not under way.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn start(&mut self) -> Result<(), MpiError> {
        if self.is_persistent {
            // SAFETY: a persistent request's handle.
            check("MPI_Start", unsafe { raw::PMPI_Start(&mut self.request) })?;
        } else {
            // SAFETY: a communicator that lives, and lists that we keep.
            self.request = unsafe { self.arguments.start_native(self.communicator.raw()) }?;
        }
        self.is_under_way = true;
        Ok(())
    }

    /// Waits until the operation has ended here.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn wait(&mut self) -> Result<(), MpiError> {
        // MPICH 4.0.2 waits for ever for a persistent collective that is not under way.
        if !std::mem::take(&mut self.is_under_way) {
            return Ok(());
        }
        // SAFETY: our own request.
        check("MPI_Wait", unsafe { raw::PMPI_Wait(&mut self.request, raw::RSMPI_STATUS_IGNORE) })
    }

    /// Whether the operation has ended here, or is not under way.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn test(&mut self) -> Result<bool, MpiError> {
        let mut flag = 0;
        if !self.is_under_way {
            return Ok(true);
        }
        // SAFETY: our own request, and a local flag.
        check("MPI_Test", unsafe {
            raw::PMPI_Test(&mut self.request, &mut flag, raw::RSMPI_STATUS_IGNORE)
        })?;
        self.is_under_way = flag == 0;
        Ok(flag != 0)
    }

    /// Whether it has been started, and has not been seen to end.
    pub fn is_under_way(&self) -> bool {
        self.is_under_way
    }
}

#[allow(unsafe_code)]
impl Drop for NativeRequest<'_> {
    fn drop(&mut self) {
        let mut finalized = 0;
        // SAFETY: MPI_Finalized may be called at any time; the request is ours, and freed once. A
        // nonblocking collective operation cannot be freed: it is waited for.
        unsafe {
            raw::PMPI_Finalized(&mut finalized);
            if finalized == 0 && self.is_under_way {
                raw::PMPI_Wait(&mut self.request, raw::RSMPI_STATUS_IGNORE);
            }
            if finalized == 0 && self.is_persistent {
                raw::PMPI_Request_free(&mut self.request);
            }
        }
    }
}
