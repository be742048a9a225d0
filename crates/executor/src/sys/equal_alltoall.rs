//! The arguments of `MPI_Alltoall`, as a program gives them.

use super::raw::{self, MPI_Aint, MPI_Comm, MPI_Count, MPI_Datatype, MPI_Request};
use super::{
    AlltoallArguments, ArgumentError, Communicator, Handles, MpiError, ParsedAlltoall, calls,
};
use std::ffi::{c_int, c_void};
use std::marker::PhantomData;

/// The arguments of one call, at one processor. Nothing is known of them yet.
#[derive(Clone, Copy, Debug)]
pub struct EqualAlltoallArguments<'a> {
    given: (*const c_void, MPI_Count, MPI_Datatype),
    result: (*mut c_void, MPI_Count, MPI_Datatype),
    /// Whether counts are those of `MPI_Alltoall_c`.
    is_large: bool,
    lifetime: PhantomData<&'a mut [u8]>,
}

impl<'a> EqualAlltoallArguments<'a> {
    /// The arguments of `MPI_Alltoall`.
    ///
    /// # Safety
    /// What the MPI standard demands of the call: buffers have memory for what counts and datatypes describe, for as long
    /// as `'a`; handles are such that MPI has given out.
    pub unsafe fn new(
        (sendbuf, sendcount, sendtype): (*const c_void, c_int, MPI_Datatype),
        (recvbuf, recvcount, recvtype): (*mut c_void, c_int, MPI_Datatype),
    ) -> EqualAlltoallArguments<'a> {
        EqualAlltoallArguments {
            given: (sendbuf, sendcount.into(), sendtype),
            result: (recvbuf, recvcount.into(), recvtype),
            is_large: false,
            lifetime: PhantomData,
        }
    }

    /// The arguments of `MPI_Alltoall_c`.
    ///
    /// # Safety
    /// As [`new`](Self::new).
    pub unsafe fn large(
        given: (*const c_void, MPI_Count, MPI_Datatype),
        result: (*mut c_void, MPI_Count, MPI_Datatype),
    ) -> EqualAlltoallArguments<'a> {
        EqualAlltoallArguments { given, result, is_large: true, lifetime: PhantomData }
    }

    /// What the arguments mean.
    ///
    /// # Errors
    /// [`ArgumentError`].
    pub(crate) fn parse(
        &self,
        processors: usize,
        handles: Handles,
    ) -> Result<ParsedAlltoall, ArgumentError> {
        let ((from, sent, sent_type), (into, received, received_type)) = (self.given, self.result);
        let too_far = |block| ArgumentError::Partition { block, reason: "it is too far away" };
        let starts = |count: MPI_Count| -> Result<Vec<MPI_Aint>, ArgumentError> {
            let start = |at: usize| (at as MPI_Aint).checked_mul(count as MPI_Aint);
            (0..processors).map(|at| start(at).ok_or_else(|| too_far(at))).collect()
        };
        // In place what is sent does not count.
        // SAFETY: the shim's constant is only compared with the buffer's address.
        let sent = if from == unsafe { raw::TUWTREE_IN_PLACE } { received } else { sent };
        let (starts, places) = (starts(sent)?, starts(received)?);
        let (counts, room) = (vec![sent; processors], vec![received; processors]);
        // SAFETY: buffers by the promise made when the arguments were; lists of so many numbers, looked at here only.
        unsafe {
            let arguments = AlltoallArguments::large(
                (from, counts.as_ptr(), starts.as_ptr(), sent_type),
                (into, room.as_ptr(), places.as_ptr(), received_type),
            );
            arguments.parse(processors, handles)
        }
    }

    /// How many bytes this processor sends to each, as far as the arguments say it: for whoever writes down calls.
    pub fn row(&self, processors: usize) -> Option<Vec<u64>> {
        let ParsedAlltoall { given, result } = self.parse(processors, Handles::Lent).ok()?;
        let given = given.as_ref().unwrap_or(&result);
        Some((0..processors).map(|at| given.block_bytes(at)).collect())
    }

    /// Whether the MPI library has a call for such arguments: one of before MPI 4 has none for large counts.
    pub(crate) fn are_for_library(&self) -> bool {
        // SAFETY: a number of the shim, fixed when it was compiled for this library.
        !self.is_large || unsafe { raw::TUWTREE_HAS_LARGE_COUNTS != 0 }
    }

    /// Has the MPI library do it. Errors go to the error handler of `comm`.
    ///
    /// # Safety
    /// MPI is initialized, and `comm` is a handle that MPI has given out.
    ///
    /// # Errors
    /// What MPI returns; `MPI_ERR_OTHER` where the library has no such call.
    pub unsafe fn call_native(&self, comm: MPI_Comm) -> Result<(), MpiError> {
        let ((from, sent, sent_type), (into, received, received_type)) = (self.given, self.result);
        // SAFETY: buffers are as promised when the arguments were made; the communicator is the caller's promise.
        unsafe {
            match self.is_large {
                true => calls::alltoall_c(self.given, self.result, comm),
                // They were made of such numbers.
                false => calls::alltoall(
                    from,
                    sent as c_int,
                    sent_type,
                    into,
                    received as c_int,
                    received_type,
                    comm,
                ),
            }
        }
    }

    /// Writes a persistent request of the MPI library to `request`.
    ///
    /// # Safety
    /// As [`call_native`](Self::call_native); `request` is a place for one.
    ///
    /// # Errors
    /// What MPI returns; `MPI_ERR_OTHER` from a library that has none.
    pub unsafe fn init_native(
        &self,
        comm: MPI_Comm,
        request: *mut MPI_Request,
    ) -> Result<(), MpiError> {
        let ((from, sent, sent_type), (into, received, received_type)) = (self.given, self.result);
        // SAFETY: as for a single call, but that the caller keeps all this until the request is freed.
        unsafe {
            match self.is_large {
                true => calls::alltoall_init_c(self.given, self.result, comm, request),
                // They were made of such numbers.
                false => calls::alltoall_init(
                    (from, sent as c_int, sent_type),
                    (into, received as c_int, received_type),
                    comm,
                    request,
                ),
            }
        }
    }

    /// Starts the MPI library's nonblocking operation, and writes its request.
    ///
    /// # Safety
    /// As [`call_native`](Self::call_native); `request` is a place for one.
    ///
    /// # Errors
    /// What MPI returns; `MPI_ERR_OTHER` for large counts.
    pub(crate) unsafe fn start_native(
        &self,
        comm: MPI_Comm,
        request: *mut MPI_Request,
    ) -> Result<(), MpiError> {
        let ((from, sent, sent_type), (into, received, received_type)) = (self.given, self.result);
        if self.is_large {
            // Only a library without persistent operations is asked for these, and none of those has large counts.
            return Err(MpiError::new("MPI_Ialltoall_c", raw::MPI_ERR_OTHER as c_int));
        }
        // SAFETY: the promise made when the arguments were, and the caller's; they were made of such numbers.
        unsafe {
            calls::ialltoall(
                from,
                sent as c_int,
                sent_type,
                into,
                received as c_int,
                received_type,
                comm,
                request,
            )
        }
    }
}

impl Communicator {
    /// Has the MPI library perform an alltoall of messages of one size on this communicator. Collective.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn native_equal_alltoall(
        &self,
        arguments: &EqualAlltoallArguments<'_>,
    ) -> Result<(), MpiError> {
        // SAFETY: our communicator lives at least as long as this call.
        unsafe { arguments.call_native(self.raw()) }
    }
}
