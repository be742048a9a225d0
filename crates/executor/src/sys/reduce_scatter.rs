//! The arguments of `MPI_Reduce_scatter`, as a program gives them.

use super::raw::{self, MPI_Comm, MPI_Datatype, MPI_Op};
use super::{ArgumentError, Datatype, Handles, MpiError, Operator, Place, calls};
use std::ffi::{c_int, c_void};
use std::marker::PhantomData;
use std::rc::Rc;
use tuwtree_model::Rank;

/// The arguments of one call, at one processor. Nothing is known of them yet.
#[derive(Clone, Copy, Debug)]
pub struct ReduceScatterArguments<'a> {
    given: *const c_void,
    result: *mut c_void,
    counts: *const c_int,
    datatype: MPI_Datatype,
    operator: MPI_Op,
    lifetime: PhantomData<&'a mut [u8]>,
}

/// What they mean.
#[derive(Debug)]
pub(crate) struct ParsedReduction {
    /// The own vector.
    pub(crate) given: Rc<Place>,
    /// Where the own block of the result goes.
    pub(crate) result: Rc<Place>,
    /// The sizes of all blocks in bytes.
    pub(crate) sizes: Vec<u64>,
    /// The elements, and what combines them.
    pub(crate) combining: (Datatype, Operator),
    /// Whether elements lie one after the other, and may be combined in any order.
    pub(crate) may_be_reordered: bool,
}

impl<'a> ReduceScatterArguments<'a> {
    /// The arguments of `MPI_Reduce_scatter`.
    ///
    /// # Safety
    /// What the MPI standard demands of the call: buffers have memory for what counts and datatype describe, for as
    /// long as `'a`; the list has a number for each processor; handles are such that MPI has given out.
    pub unsafe fn new(
        (sendbuf, recvbuf): (*const c_void, *mut c_void),
        recvcounts: *const c_int,
        (datatype, operator): (MPI_Datatype, MPI_Op),
    ) -> ReduceScatterArguments<'a> {
        ReduceScatterArguments {
            given: sendbuf,
            result: recvbuf,
            counts: recvcounts,
            datatype,
            operator,
            lifetime: PhantomData,
        }
    }

    /// What the arguments mean at this one of the processors.
    ///
    /// # Errors
    /// [`ArgumentError`].
    pub(crate) fn parse(
        &self,
        (rank, processors): (Rank, usize),
    ) -> Result<ParsedReduction, ArgumentError> {
        if self.counts.is_null() {
            return Err(ArgumentError::Null { what: "the counts" });
        }
        // SAFETY: the promise made when the arguments were: p numbers, memory, and handles.
        unsafe {
            let counts = std::slice::from_raw_parts(self.counts, processors);
            let own = |error: MpiError| ArgumentError::Own(error.into());
            let datatype = || Datatype::of_user(self.datatype, Handles::Lent).map_err(own);
            let negative = counts.iter().position(|&count| count < 0);
            if let Some(block) = negative {
                return Err(ArgumentError::Partition { block, reason: "its count is below 0" });
            }
            let total: i64 = counts.iter().map(|&count| i64::from(count)).sum();
            let given = match self.given == raw::TUWTREE_IN_PLACE.cast_const() {
                true => self.result,
                false => self.given.cast_mut(),
            };
            let place = |memory, count: i64| {
                let blocks = std::iter::once((count, 0));
                Place::of_user(memory, blocks, datatype()?).map_err(ArgumentError::Own)
            };
            let (given, result) = (place(given, total)?, place(self.result, counts[rank].into())?);
            let elements = datatype()?;
            let size = elements.size();
            let sizes = counts.iter().map(|&count| count as u64 * size).collect();
            let mut commutes = 0;
            calls::op_commutative(self.operator, &mut commutes).map_err(own)?;
            let may_be_reordered = commutes != 0 && elements.is_packed() && size > 0;
            let combining = (elements, Operator::of_user(self.operator));
            Ok(ParsedReduction { given, result, sizes, combining, may_be_reordered })
        }
    }

    /// Has the MPI library do it. Errors go to the error handler of `comm`.
    ///
    /// # Safety
    /// MPI is initialized, and `comm` is a handle that MPI has given out.
    ///
    /// # Errors
    /// What MPI returns.
    pub unsafe fn call_native(&self, comm: MPI_Comm) -> Result<(), MpiError> {
        let ReduceScatterArguments { given, result, counts, datatype, operator, .. } = *self;
        // SAFETY: buffers and lists are as promised when the arguments were made; the communicator
        // is the caller's promise.
        unsafe { calls::reduce_scatter(given, result, counts, datatype, operator, comm) }
    }
}
