//! The arguments of `MPI_Alltoallv`, as a program gives them.

use super::arguments::{Lists, OwnLists, Source, Target, check_partition, listed_place};
use super::raw::{self, MPI_Aint, MPI_Comm, MPI_Count, MPI_Datatype, MPI_Request};
use super::{
    ArgumentError, Communicator, Handles, MpiError, Partition, PartitionMut, Place, calls,
};
use ::mpi::datatype::{Equivalence, SystemDatatype};
use ::mpi::raw::AsRaw;
use std::ffi::{c_int, c_void};
use std::marker::PhantomData;
use std::rc::Rc;
use tuwtree_model::Operation;

/// The arguments of one call, at one processor. Nothing is known of them yet.
#[derive(Clone, Copy, Debug)]
pub struct AlltoallArguments<'a> {
    given: (*mut c_void, Lists, MPI_Datatype),
    result: (*mut c_void, Lists, MPI_Datatype),
    /// How long the lists are, if that is known.
    list_length: Option<usize>,
    lifetime: PhantomData<&'a mut [u8]>,
}

/// What they mean.
#[derive(Debug)]
pub(crate) struct ParsedAlltoall {
    /// The messages for all; none if they are where the received ones go (`MPI_IN_PLACE`).
    pub(crate) given: Option<Rc<Place>>,
    /// Where those from all go.
    pub(crate) result: Rc<Place>,
}

impl<'a> AlltoallArguments<'a> {
    /// The arguments of `MPI_Alltoallv`.
    ///
    /// # Safety
    /// What the MPI standard demands of the call: buffers have memory for what counts, displacements and datatypes
    /// describe, for as long as `'a`; lists, a number for each processor; handles are such that MPI has given out.
    pub unsafe fn new(
        given: Source<c_int, c_int>,
        result: Target<c_int, c_int>,
    ) -> AlltoallArguments<'a> {
        AlltoallArguments::of(given, result, Lists::Int)
    }

    /// The arguments of `MPI_Alltoallv_c`.
    ///
    /// # Safety
    /// As [`new`](Self::new).
    pub unsafe fn large(
        given: Source<MPI_Count, MPI_Aint>,
        result: Target<MPI_Count, MPI_Aint>,
    ) -> AlltoallArguments<'a> {
        AlltoallArguments::of(given, result, Lists::Large)
    }

    fn of<C, D>(
        (sendbuf, sendcounts, sdispls, sendtype): Source<C, D>,
        (recvbuf, recvcounts, rdispls, recvtype): Target<C, D>,
        lists: fn(*const C, *const D) -> Lists,
    ) -> AlltoallArguments<'a> {
        AlltoallArguments {
            given: (sendbuf.cast_mut(), lists(sendcounts, sdispls), sendtype),
            result: (recvbuf, lists(recvcounts, rdispls), recvtype),
            list_length: None,
            lifetime: PhantomData,
        }
    }

    /// The arguments of an alltoall of slices: the items for all, or `None` if they are where those from all go.
    ///
    /// # Errors
    /// [`ArgumentError::Partition`].
    pub fn of_slices<T: Equivalence<Out = SystemDatatype>>(
        given: Option<&Partition<'a, T>>,
        result: PartitionMut<'a, T>,
    ) -> Result<AlltoallArguments<'a>, ArgumentError> {
        let datatype = T::equivalent_datatype().as_raw();
        let PartitionMut { items, counts, displacements } = result;
        check_partition(items.len(), counts, displacements, Operation::Gather)?;
        let list_length = Some(counts.len());
        let lists = Lists::Int(counts.as_ptr(), displacements.as_ptr());
        let result = (items.as_mut_ptr().cast(), lists, datatype);
        let given = match given {
            Some(&Partition { items, counts, displacements }) => {
                check_partition(items.len(), counts, displacements, Operation::Scatter)?;
                if Some(counts.len()) != list_length {
                    let reason = "there are lists for another number of processes";
                    return Err(ArgumentError::Partition { block: counts.len(), reason });
                }
                let lists = Lists::Int(counts.as_ptr(), displacements.as_ptr());
                (items.as_ptr().cast_mut().cast(), lists, datatype)
            }
            // SAFETY: the shim's address that stands for `MPI_IN_PLACE` is never written; it is not followed here.
            None => (unsafe { raw::TUWTREE_IN_PLACE }, lists, datatype),
        };
        Ok(AlltoallArguments { given, result, list_length, lifetime: PhantomData })
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
        if let Some(what) = self.result.1.missing() {
            return Err(ArgumentError::Null { what });
        }
        if let Some(block) = self.list_length.filter(|&length| length != processors) {
            let reason = "there are lists for another number of processes";
            return Err(ArgumentError::Partition { block, reason });
        }
        // SAFETY: the promise made when the arguments were: lists of p numbers, memory, and datatypes' handles; the
        // shim's constant is only compared with the buffer's address.
        unsafe {
            let place = |blocks| listed_place(blocks, processors, handles, None);
            let result = place(self.result).map_err(ArgumentError::All)?;
            if self.is_in_place() {
                return Ok(ParsedAlltoall { given: None, result });
            }
            if let Some(what) = self.given.1.missing() {
                return Err(ArgumentError::Null { what });
            }
            let given = Some(place(self.given).map_err(ArgumentError::Own)?);
            Ok(ParsedAlltoall { given, result })
        }
    }

    fn is_in_place(&self) -> bool {
        // SAFETY: the shim's constant is only compared with the buffer's address.
        self.given.0 == unsafe { raw::TUWTREE_IN_PLACE }
    }

    /// How many bytes this processor sends to each, and receives from each, as far as the arguments say it: for whoever
    /// writes down calls.
    pub fn row_and_column(&self, processors: usize) -> Option<[Vec<u64>; 2]> {
        let ParsedAlltoall { given, result } = self.parse(processors, Handles::Lent).ok()?;
        let bytes = |place: &Place| (0..processors).map(|at| place.block_bytes(at)).collect();
        Some([bytes(given.as_ref().unwrap_or(&result)), bytes(&result)])
    }

    /// Whether the MPI library has a call for such arguments: one of before MPI 4 has none for large counts.
    pub(crate) fn are_for_library(&self) -> bool {
        // SAFETY: a number of the shim, fixed when it was compiled for this library.
        matches!(self.result.1, Lists::Int(..)) || unsafe { raw::TUWTREE_HAS_LARGE_COUNTS != 0 }
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
        let from = from.cast_const();
        // SAFETY: buffers and lists are as promised when the arguments were made; the communicator
        // is the caller's promise.
        unsafe {
            match (sent, received) {
                (Lists::Int(counts, starts), Lists::Int(room, places)) => calls::alltoallv(
                    from,
                    counts,
                    starts,
                    sent_type,
                    into,
                    room,
                    places,
                    received_type,
                    comm,
                ),
                (Lists::Large(counts, starts), Lists::Large(room, places)) => calls::alltoallv_c(
                    (from, counts, starts, sent_type),
                    (into, room, places, received_type),
                    comm,
                ),
                _ => unreachable!("lists of one kind"),
            }
        }
    }

    /// Writes a persistent request of the MPI library to `request`.
    ///
    /// # Safety
    /// As [`call_native`](Self::call_native); the lists live until the request is freed; `request` is a place for one.
    ///
    /// # Errors
    /// What MPI returns; `MPI_ERR_OTHER` from a library that has none.
    pub unsafe fn init_native(
        &self,
        comm: MPI_Comm,
        request: *mut MPI_Request,
    ) -> Result<(), MpiError> {
        let ((from, sent, sent_type), (into, received, received_type)) = (self.given, self.result);
        let from = from.cast_const();
        // SAFETY: as for a single call, but that the caller keeps all this until the request is freed.
        unsafe {
            match (sent, received) {
                (Lists::Int(counts, starts), Lists::Int(room, places)) => calls::alltoallv_init(
                    (from, counts, starts, sent_type),
                    (into, room, places, received_type),
                    comm,
                    request,
                ),
                (Lists::Large(counts, starts), Lists::Large(room, places)) => {
                    calls::alltoallv_init_c(
                        (from, counts, starts, sent_type),
                        (into, room, places, received_type),
                        comm,
                        request,
                    )
                }
                _ => unreachable!("lists of one kind"),
            }
        }
    }

    /// Starts the MPI library's nonblocking operation, and writes its request.
    ///
    /// # Safety
    /// As [`call_native`](Self::call_native); the lists live until the operation has ended; `request` is a place for
    /// one.
    ///
    /// # Errors
    /// What MPI returns; `MPI_ERR_OTHER` for large counts.
    pub(crate) unsafe fn start_native(
        &self,
        comm: MPI_Comm,
        request: *mut MPI_Request,
    ) -> Result<(), MpiError> {
        let ((from, sent, sent_type), (into, received, received_type)) = (self.given, self.result);
        let from = from.cast_const();
        // SAFETY: the promise made when the arguments were, and the caller's.
        unsafe {
            match (sent, received) {
                (Lists::Int(counts, starts), Lists::Int(room, places)) => calls::ialltoallv(
                    from,
                    counts,
                    starts,
                    sent_type,
                    into,
                    room,
                    places,
                    received_type,
                    comm,
                    request,
                ),
                // Only a library without persistent operations is asked for these, and none of those has large counts.
                _ => Err(MpiError::new("MPI_Ialltoallv_c", raw::MPI_ERR_OTHER as c_int)),
            }
        }
    }

    /// Copies the lists, and has the arguments point to the copies, which the caller keeps.
    pub(crate) fn own_lists(&mut self, processors: usize) -> OwnLists {
        let is_in_place = self.is_in_place();
        let copied = |lists: &mut Lists| match lists.missing() {
            Some(_) => None,
            // SAFETY: the promise made when the arguments were: p numbers.
            None => Some(unsafe { lists.own(processors) }),
        };
        let result = copied(&mut self.result.1);
        let given = match is_in_place {
            // Nothing of them counts.
            true => {
                self.given.1 = self.result.1;
                None
            }
            false => copied(&mut self.given.1),
        };
        Some(Box::new((given, result)))
    }
}

impl Communicator {
    /// Has the MPI library perform an alltoall on this communicator. Collective.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn native_alltoall(&self, arguments: &AlltoallArguments<'_>) -> Result<(), MpiError> {
        // SAFETY: our communicator lives at least as long as this call.
        unsafe { arguments.call_native(self.raw()) }
    }
}
