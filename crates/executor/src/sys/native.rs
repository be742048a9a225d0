//! The library's own collectives, to compare with.

use crate::sys::datatype::Datatype;
use crate::sys::memory::Memory;
use crate::sys::operator::Operator;
use crate::sys::raw;
use crate::sys::{Communicator, MpiError, check};
use std::ffi::{c_int, c_void};
use std::ptr::{null, null_mut};
use tuwtree_model::Rank;

/// Elements in memory, one after the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Elements<'a> {
    pub(crate) memory: &'a Memory,
    pub(crate) datatype: &'a Datatype,
    pub(crate) at: i64,
    pub(crate) count: c_int,
}

/// A block of elements for each processor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Blocks<'a> {
    pub(crate) memory: &'a Memory,
    pub(crate) datatype: &'a Datatype,
    pub(crate) at: i64,
    /// As many entries as there are processors.
    pub(crate) counts: &'a [c_int],
    /// As many entries as there are processors, in extents from `at`.
    pub(crate) displacements: &'a [c_int],
}

impl Elements<'_> {
    fn start(&self) -> *mut c_void {
        self.memory.at(self.at)
    }
}

/// What MPI takes for elements: a pointer, a count and a datatype. Those that there are not are in
/// place.
#[allow(unsafe_code)]
fn own(elements: Option<Elements<'_>>) -> (*mut c_void, c_int, raw::MPI_Datatype) {
    match elements {
        Some(own) => (own.start(), own.count, own.datatype.raw()),
        // SAFETY: reading constants of the C shims.
        None => unsafe { (raw::TUWTREE_IN_PLACE, 0, raw::TUWTREE_BYTE) },
    }
}

/// What MPI takes for blocks; those that there are not, no matter what.
#[allow(unsafe_code)]
fn all(blocks: Option<Blocks<'_>>) -> (*mut c_void, *const c_int, *const c_int, raw::MPI_Datatype) {
    match blocks {
        Some(all) => (
            all.memory.at(all.at),
            all.counts.as_ptr(),
            all.displacements.as_ptr(),
            all.datatype.raw(),
        ),
        // SAFETY: reading a constant of the C shim.
        None => (null_mut(), null(), null(), unsafe { raw::TUWTREE_BYTE }),
    }
}

/// `MPI_Gatherv`; without `sent`, the root's own block is in place. Only the root has `blocks`.
///
/// # Errors
/// What MPI returns.
#[allow(unsafe_code)]
pub(crate) fn gatherv(
    communicator: &Communicator,
    root: Rank,
    sent: Option<Elements<'_>>,
    blocks: Option<Blocks<'_>>,
) -> Result<(), MpiError> {
    let (start, count, datatype) = own(sent);
    let (into, counts, displacements, elements) = all(blocks);
    let comm = communicator.raw();
    // SAFETY: elements and blocks lie in their memories, with a block for each processor.
    check("MPI_Gatherv", unsafe {
        raw::PMPI_Gatherv(
            start,
            count,
            datatype,
            into,
            counts,
            displacements,
            elements,
            root as c_int,
            comm,
        )
    })
}

/// `MPI_Scatterv`; without `received`, the root's own block stays in place. Only the root has
/// `blocks`.
///
/// # Errors
/// What MPI returns.
#[allow(unsafe_code)]
pub(crate) fn scatterv(
    communicator: &Communicator,
    root: Rank,
    received: Option<Elements<'_>>,
    blocks: Option<Blocks<'_>>,
) -> Result<(), MpiError> {
    let (start, count, datatype) = own(received);
    let (from, counts, displacements, elements) = all(blocks);
    let comm = communicator.raw();
    // SAFETY: elements and blocks lie in their memories, with a block for each processor.
    check("MPI_Scatterv", unsafe {
        raw::PMPI_Scatterv(
            from,
            counts,
            displacements,
            elements,
            start,
            count,
            datatype,
            root as c_int,
            comm,
        )
    })
}

/// `MPI_Bcast`.
///
/// # Errors
/// What MPI returns.
#[allow(unsafe_code)]
pub(crate) fn broadcast(
    communicator: &Communicator,
    root: Rank,
    vector: Elements<'_>,
) -> Result<(), MpiError> {
    let (start, count, datatype) = own(Some(vector));
    // SAFETY: the elements lie in their memory.
    check("MPI_Bcast", unsafe {
        raw::PMPI_Bcast(start, count, datatype, root as c_int, communicator.raw())
    })
}

/// `MPI_Reduce`. Only the root's `result` counts.
///
/// # Errors
/// What MPI returns.
#[allow(unsafe_code)]
pub(crate) fn reduce(
    communicator: &Communicator,
    root: Rank,
    given: Elements<'_>,
    result: Elements<'_>,
    operator: &Operator,
) -> Result<(), MpiError> {
    let (from, ..) = own(Some(given));
    let (into, count, datatype) = own(Some(result));
    let (operator, comm) = (operator.raw(), communicator.raw());
    // SAFETY: the elements lie in their memories, and are as many everywhere.
    check("MPI_Reduce", unsafe {
        raw::PMPI_Reduce(from, into, count, datatype, operator, root as c_int, comm)
    })
}
