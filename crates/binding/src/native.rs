//! The MPI library's own collectives: of a program's arguments, once, persistent or nonblocking, and on [`Place`]s.

use super::arguments::OwnLists;
use super::raw::{self, MPI_Request};
use super::{
    Arguments, Communicator, Datatype, Memory, MpiError, Operator, Place, PlaceError, Side,
    address, address_mut, calls, is_running,
};
use std::ffi::{c_int, c_void};
use std::rc::Rc;
use tuwtree_model::{Operation, Rank};

/// The MPI library's own operation, started as often as one likes: a persistent collective request,
/// or where the library has none, a nonblocking operation each time.
#[derive(Debug)]
pub struct NativeRequest<'a> {
    request: MPI_Request,
    /// True if the request outlives one performance.
    is_persistent: bool,
    is_under_way: bool,
    arguments: Arguments<'a>,
    /// The counts and displacements that the arguments point to, for as long as the request lives.
    _lists: OwnLists,
    communicator: Rc<Communicator>,
}

impl<'a> NativeRequest<'a> {
    /// The operation with these arguments. Collective.
    ///
    /// # Errors
    /// An error of MPI.
    pub fn new(
        arguments: &Arguments<'a>,
        communicator: &Rc<Communicator>,
    ) -> Result<NativeRequest<'a>, MpiError> {
        let mut arguments = *arguments;
        let lists = arguments.own_lists(communicator.rank(), communicator.size())?;
        let is_persistent = Communicator::has_persistent();
        // SAFETY: the null request is a handle that the shim has copied from the library's header.
        let mut request = unsafe { raw::RSMPI_REQUEST_NULL };
        if is_persistent {
            // SAFETY: a communicator that lives, lists that we keep, and a local request.
            unsafe { arguments.init_native(communicator.raw(), &mut request)? };
        }
        Ok(NativeRequest {
            request,
            is_persistent,
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
            // SAFETY: a persistent request's handle; the operation is not under way.
            unsafe { calls::start(&mut self.request)? };
        } else {
            // SAFETY: a communicator that lives, and lists that we keep.
            unsafe { self.arguments.start_native(self.communicator.raw(), &mut self.request)? };
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
        unsafe { calls::wait(&mut self.request, raw::RSMPI_STATUS_IGNORE) }
    }

    /// Tests for completion; true also if not started.
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

    /// True from the start until completion was seen.
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
pub struct PlaceLists {
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
    pub fn lists(&self) -> Result<PlaceLists, MpiError> {
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

    /// Origin of the displacements: the first block with elements.
    fn base(&self) -> i64 {
        self.in_units().find(|&(_, units)| units > 0).map_or(0, |(at, _)| at)
    }

    fn start(&self) -> *mut c_void {
        self.memory().at(self.base())
    }

    fn units(&self) -> Result<c_int, MpiError> {
        int(self.in_units().map(|(_, units)| units).sum::<u64>() as i64)
    }

    /// Copy of the bytes elsewhere.
    ///
    /// # Errors
    /// No memory.
    pub fn copied(&self) -> Result<Place, PlaceError> {
        let bytes = self.packed_bytes();
        let copied = Place::of_bytes(bytes)?;
        Memory::copy((self.memory(), self.base()), (copied.memory(), 0), bytes);
        Ok(copied)
    }
}

impl<'a> Arguments<'a> {
    /// The arguments of a gather or scatter of these places; without an own one, the root's block is
    /// in its place among all. Only the root has all blocks.
    ///
    /// # Errors
    /// More than MPI counts.
    pub fn of_places(
        operation: Operation,
        own: Option<&'a Place>,
        all: Option<(&'a Place, &'a PlaceLists)>,
        root: Rank,
    ) -> Result<Arguments<'a>, MpiError> {
        // SAFETY: constants of the C shim; places have memory for their blocks, which the lists
        // state, as long as they are borrowed.
        unsafe {
            let own = match own {
                Some(own) => Side::one(own.start(), own.units()?, own.unit().raw()),
                None => Side::one(raw::TUWTREE_IN_PLACE, 0, raw::TUWTREE_BYTE),
            };
            let all = match all {
                Some((all, PlaceLists { counts, displacements })) => {
                    let (counts, displacements) = (counts.as_ptr(), displacements.as_ptr());
                    Side::listed(all.start(), counts, displacements, all.unit().raw())
                }
                None => {
                    let (nowhere, list) =
                        (std::ptr::null_mut::<c_void>(), std::ptr::null::<c_int>());
                    Side::listed(nowhere, list, list, raw::TUWTREE_BYTE)
                }
            };
            let root = int(root as i64)?;
            Ok(match operation.is_outward() {
                false => Arguments::gatherv(own, all, root),
                true => Arguments::scatterv(all, own, root),
            })
        }
    }
}

impl Communicator {
    /// `MPI_Bcast` of a place's elements, which are one block. Collective.
    ///
    /// # Errors
    /// What MPI returns; more than it counts.
    pub fn native_broadcast(&self, vector: &Place, root: Rank) -> Result<(), MpiError> {
        let (start, count, datatype) = (vector.start(), vector.units()?, vector.unit().raw());
        // SAFETY: the elements lie in their memory.
        unsafe { calls::bcast(start, count, datatype, root as c_int, self.raw()) }
    }

    /// `MPI_Bcast` of bytes. Collective.
    ///
    /// # Errors
    /// What MPI returns; more than it counts.
    pub fn broadcast_bytes(&self, vector: &mut [u8], root: Rank) -> Result<(), MpiError> {
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
    pub fn combine_bytes(
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

    /// `MPI_Reduce` of `count` elements. Only the root's `result` counts. Collective.
    ///
    /// # Errors
    /// What MPI returns; more than it counts.
    pub fn native_reduce(
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
