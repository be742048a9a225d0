//! The MPI library's own collectives: of a program's arguments, once, persistent or nonblocking, and on [`Place`]s.

use super::arguments::{Lists, OwnLists};
use super::raw::{self, MPI_Comm, MPI_Request};
use super::{
    AlltoallArguments, Arguments, Communicator, Datatype, EqualAlltoallArguments, Memory, MpiError,
    Operator, Place, PlaceError, ReduceScatterArguments, address, address_mut, calls, is_running,
    patient, strand,
};
use std::ffi::{c_int, c_void};
use std::rc::Rc;
use tuwtree_model::{Operation, Rank};

/// A call of the MPI library that can be set up.
#[derive(Clone, Copy, Debug)]
pub enum NativeCall<'a> {
    /// Gather, scatter or allgather.
    Moving(Arguments<'a>),
    /// Reduce-scatter.
    Combining(ReduceScatterArguments<'a>),
    /// Alltoall.
    Exchanging(AlltoallArguments<'a>),
    /// Alltoall of messages of one size.
    ExchangingEqual(EqualAlltoallArguments<'a>),
}

impl<'a> From<&AlltoallArguments<'a>> for NativeCall<'a> {
    fn from(arguments: &AlltoallArguments<'a>) -> NativeCall<'a> {
        NativeCall::Exchanging(*arguments)
    }
}

impl<'a> From<&EqualAlltoallArguments<'a>> for NativeCall<'a> {
    fn from(arguments: &EqualAlltoallArguments<'a>) -> NativeCall<'a> {
        NativeCall::ExchangingEqual(*arguments)
    }
}

impl<'a> From<&Arguments<'a>> for NativeCall<'a> {
    fn from(arguments: &Arguments<'a>) -> NativeCall<'a> {
        NativeCall::Moving(*arguments)
    }
}

impl<'a> From<&ReduceScatterArguments<'a>> for NativeCall<'a> {
    fn from(arguments: &ReduceScatterArguments<'a>) -> NativeCall<'a> {
        NativeCall::Combining(*arguments)
    }
}

/// The MPI library's own operation, started as often as one likes: a persistent collective request,
/// or where the library has none, a nonblocking operation each time.
#[derive(Debug)]
pub struct NativeRequest<'a> {
    request: MPI_Request,
    /// Whether the request outlives what it performs.
    is_persistent: bool,
    is_under_way: bool,
    call: NativeCall<'a>,
    /// The counts and displacements that the arguments point to, for as long as the request lives.
    _lists: OwnLists,
    communicator: Rc<Communicator>,
}

impl<'a> NativeRequest<'a> {
    /// The operation with these arguments. Collective.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn new(
        call: impl Into<NativeCall<'a>>,
        communicator: &Rc<Communicator>,
    ) -> Result<NativeRequest<'a>, MpiError> {
        let mut call = call.into();
        let lists = match &mut call {
            NativeCall::Moving(arguments) => {
                arguments.own_lists(communicator.rank(), communicator.size())
            }
            // SAFETY: our communicator lives.
            NativeCall::Combining(arguments) => unsafe { arguments.own_lists(communicator.raw())? },
            NativeCall::Exchanging(arguments) => arguments.own_lists(communicator.size()),
            NativeCall::ExchangingEqual(_) => None,
        };
        let is_persistent = Communicator::has_persistent();
        // SAFETY: the null request is a handle that the shim has copied from the library's header.
        let mut request = unsafe { raw::RSMPI_REQUEST_NULL };
        if is_persistent {
            // SAFETY: a communicator that lives, lists that we keep, and a local request.
            unsafe {
                match &call {
                    NativeCall::Moving(arguments) => {
                        arguments.init_native(communicator.raw(), &mut request)?;
                    }
                    NativeCall::Combining(arguments) => {
                        arguments.init_native(communicator.raw(), &mut request)?;
                    }
                    NativeCall::Exchanging(arguments) => {
                        arguments.init_native(communicator.raw(), &mut request)?;
                    }
                    NativeCall::ExchangingEqual(arguments) => {
                        arguments.init_native(communicator.raw(), &mut request)?;
                    }
                }
            }
        }
        Ok(NativeRequest {
            request,
            is_persistent,
            is_under_way: false,
            call,
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
            // SAFETY: a persistent request's handle; the operation is not under way.
            unsafe { calls::start(&mut self.request)? };
        } else {
            // SAFETY: a communicator that lives, and lists that we keep.
            unsafe {
                let (comm, request) = (self.communicator.raw(), &mut self.request);
                match &self.call {
                    NativeCall::Moving(arguments) => arguments.start_native(comm, request)?,
                    NativeCall::Combining(arguments) => arguments.start_native(comm, request)?,
                    NativeCall::Exchanging(arguments) => arguments.start_native(comm, request)?,
                    NativeCall::ExchangingEqual(arguments) => {
                        arguments.start_native(comm, request)?;
                    }
                }
            }
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
        // SAFETY: our own request, which is under way; no status is asked for.
        unsafe { patient::wait(&mut self.request, raw::RSMPI_STATUS_IGNORE) }
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
        // SAFETY: our own request, and a local flag; no status is asked for.
        unsafe { calls::test(&mut self.request, &mut flag, raw::RSMPI_STATUS_IGNORE)? };
        self.is_under_way = flag == 0;
        Ok(flag != 0)
    }

    /// Whether it has been started, and has not been seen to end.
    pub fn is_under_way(&self) -> bool {
        self.is_under_way
    }
}

impl Drop for NativeRequest<'_> {
    fn drop(&mut self) {
        if !is_running() {
            return;
        }
        // A nonblocking collective operation cannot be freed: it is waited for. Nobody is left to be
        // told of a failure.
        let _ = self.wait();
        if self.is_persistent {
            // SAFETY: the request is ours, not under way, and freed once.
            let _ = unsafe { calls::request_free(&mut self.request) };
        }
    }
}

/// Counts and displacements as MPI takes them.
#[derive(Debug)]
pub(crate) struct PlaceLists {
    counts: Vec<c_int>,
    displacements: Vec<c_int>,
}

fn int(number: i64) -> Result<c_int, MpiError> {
    let error = |_| MpiError::new("a collective of the library", raw::MPI_ERR_COUNT as c_int);
    c_int::try_from(number).map_err(error)
}

impl Place {
    /// The blocks in units, from the first that has any.
    ///
    /// # Errors
    /// More than MPI counts; distances that are not whole units.
    pub(crate) fn lists(&self) -> Result<PlaceLists, MpiError> {
        let mut lists = PlaceLists { counts: Vec::new(), displacements: Vec::new() };
        let (base, extent) = (self.base(), self.unit().extent());
        for (at, units) in self.in_units() {
            let distance = if units == 0 { 0 } else { at - base };
            if distance % extent != 0 {
                let code = raw::MPI_ERR_ARG as c_int;
                return Err(MpiError::new("a collective of the library", code));
            }
            lists.counts.push(int(units as i64)?);
            lists.displacements.push(int(distance / extent)?);
        }
        Ok(lists)
    }

    /// Where displacements are counted from: the first block that has elements.
    fn base(&self) -> i64 {
        self.in_units().find(|&(_, units)| units > 0).map_or(0, |(at, _)| at)
    }

    fn start(&self) -> *mut c_void {
        self.memory().at(self.base())
    }

    fn units(&self) -> Result<c_int, MpiError> {
        int(self.in_units().map(|(_, units)| units).sum::<u64>() as i64)
    }

    /// The same bytes elsewhere.
    ///
    /// # Errors
    /// No memory.
    pub(crate) fn copied(&self) -> Result<Place, PlaceError> {
        let bytes = self.packed_bytes();
        let copied = Place::of_bytes(bytes)?;
        Memory::copy((self.memory(), self.base()), (copied.memory(), 0), bytes);
        Ok(copied)
    }
}

impl Arguments<'_> {
    /// Has the MPI library do it: inside of work that goes on bit by bit by its nonblocking operation. Errors go to the error handler of `comm`.
    ///
    /// # Safety
    /// MPI is initialized, and `comm` is a handle that MPI has given out.
    ///
    /// # Errors
    /// What MPI returns; `MPI_ERR_OTHER` where the library has no such call.
    pub unsafe fn call_native(&self, comm: MPI_Comm) -> Result<(), MpiError> {
        if strand::is_inside() {
            // SAFETY: the caller's promise; buffers and lists live longer than the request, which ends here.
            unsafe {
                let mut request = raw::RSMPI_REQUEST_NULL;
                self.start_native(comm, &mut request)?;
                return patient::wait(&mut request, raw::RSMPI_STATUS_IGNORE);
            }
        }
        let ((own, count, own_type), (all, lists, all_type)) = (self.own, self.all);
        let root = self.root;
        // SAFETY: buffers and lists are as promised when the arguments were made; the communicator
        // is the caller's promise.
        unsafe {
            match (self.operation, lists) {
                (Operation::Allgather, Lists::Int(counts, places)) => {
                    let count = count as c_int;
                    calls::allgatherv(own, count, own_type, all, counts, places, all_type, comm)
                }
                (Operation::Allgather, Lists::Large(counts, places)) => {
                    let all = (all, counts, places, all_type);
                    calls::allgatherv_c((own, count, own_type), all, comm)
                }
                (Operation::Gather, Lists::Int(counts, places)) => {
                    let count = count as c_int;
                    calls::gatherv(own, count, own_type, all, counts, places, all_type, root, comm)
                }
                (_, Lists::Int(counts, places)) => {
                    let count = count as c_int;
                    calls::scatterv(all, counts, places, all_type, own, count, own_type, root, comm)
                }
                (Operation::Gather, Lists::Large(counts, places)) => {
                    let all = (all, counts, places, all_type);
                    calls::gatherv_c((own, count, own_type), all, (root, comm))
                }
                (_, Lists::Large(counts, places)) => {
                    let all = (all.cast_const(), counts, places, all_type);
                    calls::scatterv_c(all, (own, count, own_type), (root, comm))
                }
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
        let ((own, count, own_type), (all, lists, all_type)) = (self.own, self.all);
        let place = (self.root, comm);
        // SAFETY: as for a single call, but that the caller keeps all this until the request is
        // freed; there is a place for one by its promise.
        unsafe {
            match (self.operation, lists) {
                (Operation::Allgather, Lists::Int(counts, places)) => {
                    let all = (all, counts, places, all_type);
                    calls::allgatherv_init((own, count as c_int, own_type), all, comm, request)
                }
                (Operation::Allgather, Lists::Large(counts, places)) => {
                    let all = (all, counts, places, all_type);
                    calls::allgatherv_init_c((own, count, own_type), all, comm, request)
                }
                (Operation::Gather, Lists::Int(counts, places)) => {
                    let all = (all, counts, places, all_type);
                    calls::gatherv_init((own, count as c_int, own_type), all, place, request)
                }
                (_, Lists::Int(counts, places)) => {
                    let all = (all.cast_const(), counts, places, all_type);
                    calls::scatterv_init(all, (own, count as c_int, own_type), place, request)
                }
                (Operation::Gather, Lists::Large(counts, places)) => {
                    let all = (all, counts, places, all_type);
                    calls::gatherv_init_c((own, count, own_type), all, place, request)
                }
                (_, Lists::Large(counts, places)) => {
                    let all = (all.cast_const(), counts, places, all_type);
                    calls::scatterv_init_c(all, (own, count, own_type), place, request)
                }
            }
        }
    }

    /// Starts the MPI library's nonblocking operation, and writes its request.
    ///
    /// # Safety
    /// As [`call_native`](Self::call_native); the lists live until the operation has ended; `request` is
    /// a place for one.
    ///
    /// # Errors
    /// What MPI returns; `MPI_ERR_OTHER` where the library has no such call.
    pub unsafe fn start_native(
        &self,
        comm: MPI_Comm,
        request: *mut MPI_Request,
    ) -> Result<(), MpiError> {
        let ((own, count, own_type), (all, lists, all_type)) = (self.own, self.all);
        let (root, to) = (self.root, request);
        // SAFETY: the promise made when the arguments were, and the caller's.
        unsafe {
            match (self.operation, lists) {
                (Operation::Allgather, Lists::Int(counts, places)) => {
                    let count = count as c_int;
                    calls::iallgatherv(
                        own, count, own_type, all, counts, places, all_type, comm, to,
                    )
                }
                (Operation::Allgather, Lists::Large(counts, places)) => {
                    let all = (all, counts, places, all_type);
                    calls::iallgatherv_c((own, count, own_type), all, comm, to)
                }
                (Operation::Gather, Lists::Int(counts, places)) => {
                    let count = count as c_int;
                    calls::igatherv(
                        own, count, own_type, all, counts, places, all_type, root, comm, to,
                    )
                }
                (_, Lists::Int(counts, places)) => {
                    let count = count as c_int;
                    calls::iscatterv(
                        all, counts, places, all_type, own, count, own_type, root, comm, to,
                    )
                }
                (Operation::Gather, Lists::Large(counts, places)) => {
                    let all = (all, counts, places, all_type);
                    calls::igatherv_c((own, count, own_type), all, (root, comm), to)
                }
                (_, Lists::Large(counts, places)) => {
                    let all = (all.cast_const(), counts, places, all_type);
                    calls::iscatterv_c(all, (own, count, own_type), (root, comm), to)
                }
            }
        }
    }
}

impl<'a> Arguments<'a> {
    /// The arguments of a gather or scatter of these places; without an own one, the root's block is
    /// in its place among all. Only the root has all blocks.
    ///
    /// # Errors
    /// More than MPI counts.
    pub(crate) fn of_places(
        operation: Operation,
        own: Option<&'a Place>,
        all: Option<(&'a Place, &'a PlaceLists)>,
        root: Rank,
    ) -> Result<Arguments<'a>, MpiError> {
        // SAFETY: constants of the C shim; places have memory for their blocks, which the lists
        // state, as long as they are borrowed.
        unsafe {
            let own = match own {
                Some(own) => (own.start(), own.units()?, own.unit().raw()),
                None => (raw::TUWTREE_IN_PLACE, 0, raw::TUWTREE_BYTE),
            };
            let all = match all {
                Some((all, PlaceLists { counts, displacements })) => {
                    (all.start(), counts.as_ptr(), displacements.as_ptr(), all.unit().raw())
                }
                None => {
                    let nothing = (std::ptr::null_mut(), std::ptr::null(), std::ptr::null());
                    (nothing.0, nothing.1, nothing.2, raw::TUWTREE_BYTE)
                }
            };
            let root = int(root as i64)?;
            Ok(match operation.is_outward() {
                false => Arguments::gatherv((own.0.cast_const(), own.1, own.2), all, root),
                true => Arguments::scatterv((all.0.cast_const(), all.1, all.2, all.3), own, root),
            })
        }
    }
}

impl Communicator {
    /// `MPI_Bcast` of a place's elements, which are one block. Collective.
    ///
    /// # Errors
    /// What MPI returns; more than it counts.
    pub(crate) fn native_broadcast(&self, vector: &Place, root: Rank) -> Result<(), MpiError> {
        let (start, count, datatype) = (vector.start(), vector.units()?, vector.unit().raw());
        // SAFETY: the elements lie in their memory.
        unsafe { calls::bcast(start, count, datatype, root as c_int, self.raw()) }
    }

    /// `MPI_Bcast` of bytes. Collective.
    ///
    /// # Errors
    /// What MPI returns; more than it counts.
    pub(crate) fn broadcast_bytes(&self, vector: &mut [u8], root: Rank) -> Result<(), MpiError> {
        let count = int(vector.len() as i64)?;
        let start = address_mut(vector);
        // SAFETY: the bytes are borrowed for as long as the call.
        unsafe { calls::bcast(start, count, raw::TUWTREE_BYTE, root as c_int, self.raw()) }
    }

    /// `MPI_Reduce` of bytes to the root, or `MPI_Allreduce` without one, by exclusive or. Collective.
    ///
    /// # Errors
    /// What MPI returns; more than it counts.
    ///
    /// # Panics
    /// Where the output is less than the input at a rank that gets the result.
    pub(crate) fn combine_bytes(
        &self,
        input: &[u8],
        output: &mut [u8],
        root: Option<Rank>,
    ) -> Result<(), MpiError> {
        let has_result = root.is_none_or(|root| root == self.rank());
        assert!(!has_result || output.len() >= input.len(), "room for the result");
        let count = int(input.len() as i64)?;
        let (from, into) = (address(input), address_mut(output));
        let operator = Operator::exclusive_or().raw();
        // SAFETY: the bytes are borrowed for as long as the call, and there is room for them where the result goes.
        unsafe {
            let datatype = raw::RSMPI_UINT8_T;
            match root {
                Some(root) => {
                    let root = root as c_int;
                    calls::reduce(from, into, count, datatype, operator, root, self.raw())
                }
                None => calls::allreduce(from, into, count, datatype, operator, self.raw()),
            }
        }
    }

    /// `MPI_Reduce` of so many elements. Only the root's `result` counts. Collective.
    ///
    /// # Errors
    /// What MPI returns; more than it counts.
    pub(crate) fn native_reduce(
        &self,
        given: &Place,
        result: &Place,
        elements: u64,
        (datatype, operator, root): (&Datatype, &Operator, Rank),
    ) -> Result<(), MpiError> {
        let (from, into, count) = (given.start(), result.start(), int(elements as i64)?);
        let (datatype, operator, root) = (datatype.raw(), operator.raw(), root as c_int);
        // SAFETY: the elements lie in their memories, and are as many everywhere.
        unsafe { calls::reduce(from, into, count, datatype, operator, root, self.raw()) }
    }
}
