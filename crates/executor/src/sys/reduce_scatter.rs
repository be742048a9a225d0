//! The arguments of `MPI_Reduce_scatter` and `MPI_Reduce_scatter_block`, as a program gives them.

use super::arguments::OwnLists;
use super::raw::{self, MPI_Comm, MPI_Count, MPI_Datatype, MPI_Op, MPI_Request};
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
    counts: BlockCounts,
    datatype: MPI_Datatype,
    operator: MPI_Op,
    lifetime: PhantomData<&'a mut [u8]>,
}

/// How many elements blocks have.
#[derive(Clone, Copy, Debug)]
enum BlockCounts {
    /// As `MPI_Reduce_scatter` takes them.
    Int(*const c_int),
    /// As `MPI_Reduce_scatter_c` takes them.
    Large(*const MPI_Count),
    /// All as many, as `MPI_Reduce_scatter_block` takes them.
    Same(c_int),
    /// As `MPI_Reduce_scatter_block_c` takes them.
    SameLarge(MPI_Count),
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
    /// long as `'a`; the list has a number for each processor; handles are such that MPI has given out, and an
    /// operator lives as long as what is set up with it.
    pub unsafe fn new(
        buffers: (*const c_void, *mut c_void),
        recvcounts: *const c_int,
        combining: (MPI_Datatype, MPI_Op),
    ) -> ReduceScatterArguments<'a> {
        ReduceScatterArguments::of(buffers, BlockCounts::Int(recvcounts), combining)
    }

    /// The arguments of `MPI_Reduce_scatter_c`.
    ///
    /// # Safety
    /// As [`new`](Self::new).
    pub unsafe fn large(
        buffers: (*const c_void, *mut c_void),
        recvcounts: *const MPI_Count,
        combining: (MPI_Datatype, MPI_Op),
    ) -> ReduceScatterArguments<'a> {
        ReduceScatterArguments::of(buffers, BlockCounts::Large(recvcounts), combining)
    }

    /// The arguments of `MPI_Reduce_scatter_block`.
    ///
    /// # Safety
    /// As [`new`](Self::new), but that there is no list.
    pub unsafe fn block(
        buffers: (*const c_void, *mut c_void),
        recvcount: c_int,
        combining: (MPI_Datatype, MPI_Op),
    ) -> ReduceScatterArguments<'a> {
        ReduceScatterArguments::of(buffers, BlockCounts::Same(recvcount), combining)
    }

    /// The arguments of `MPI_Reduce_scatter_block_c`.
    ///
    /// # Safety
    /// As [`block`](Self::block).
    pub unsafe fn block_large(
        buffers: (*const c_void, *mut c_void),
        recvcount: MPI_Count,
        combining: (MPI_Datatype, MPI_Op),
    ) -> ReduceScatterArguments<'a> {
        ReduceScatterArguments::of(buffers, BlockCounts::SameLarge(recvcount), combining)
    }

    fn of(
        (given, result): (*const c_void, *mut c_void),
        counts: BlockCounts,
        (datatype, operator): (MPI_Datatype, MPI_Op),
    ) -> ReduceScatterArguments<'a> {
        ReduceScatterArguments { given, result, counts, datatype, operator, lifetime: PhantomData }
    }

    /// The counts of all blocks.
    ///
    /// # Errors
    /// No list; a negative count.
    fn all_counts(&self, processors: usize) -> Result<Vec<i64>, ArgumentError> {
        let null = ArgumentError::Null { what: "the counts" };
        // SAFETY: the promise made when the arguments were: p numbers, where there is a list.
        let counts: Vec<i64> = unsafe {
            match self.counts {
                BlockCounts::Int(counts) if counts.is_null() => return Err(null),
                BlockCounts::Large(counts) if counts.is_null() => return Err(null),
                BlockCounts::Int(counts) => {
                    let counts = std::slice::from_raw_parts(counts, processors);
                    counts.iter().map(|&count| count.into()).collect()
                }
                BlockCounts::Large(counts) => {
                    std::slice::from_raw_parts(counts, processors).to_vec()
                }
                BlockCounts::Same(count) => vec![count.into(); processors],
                BlockCounts::SameLarge(count) => vec![count; processors],
            }
        };
        match counts.iter().position(|&count| count < 0) {
            Some(block) => Err(ArgumentError::Partition { block, reason: "its count is below 0" }),
            None => Ok(counts),
        }
    }

    /// What the arguments mean at this one of the processors.
    ///
    /// # Errors
    /// [`ArgumentError`].
    pub(crate) fn parse(
        &self,
        (rank, processors): (Rank, usize),
        handles: Handles,
    ) -> Result<ParsedReduction, ArgumentError> {
        let counts = self.all_counts(processors)?;
        let too_many = |block| ArgumentError::Partition {
            block,
            reason: "more than 2^63 - 1 elements in all",
        };
        let mut total = 0_i64;
        for (block, &count) in counts.iter().enumerate() {
            total = total.checked_add(count).ok_or_else(|| too_many(block))?;
        }
        // SAFETY: the promise made when the arguments were: memory, and handles.
        unsafe {
            let own = |error: MpiError| ArgumentError::Own(error.into());
            let datatype = || Datatype::of_user(self.datatype, handles).map_err(own);
            let given = match self.given == raw::TUWTREE_IN_PLACE.cast_const() {
                true => self.result,
                false => self.given.cast_mut(),
            };
            let place = |memory, count: i64| {
                let blocks = std::iter::once((count, 0));
                Place::of_user(memory, blocks, datatype()?).map_err(ArgumentError::Own)
            };
            let (given, result) = (place(given, total)?, place(self.result, counts[rank])?);
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

    /// What each block has in bytes, as far as the arguments say it: for whoever writes down calls.
    pub fn block_bytes(&self, processors: usize) -> Option<Vec<u64>> {
        let mut size = 0;
        // SAFETY: a datatype's handle by the promise made when the arguments were; a null one is not looked at.
        unsafe {
            if self.datatype == raw::RSMPI_DATATYPE_NULL {
                return None;
            }
            calls::type_size_x(self.datatype, &mut size).ok()?;
        }
        let size = u64::try_from(size).ok()?;
        let counts = self.all_counts(processors).ok()?;
        Some(counts.into_iter().map(|count| (count as u64).saturating_mul(size)).collect())
    }

    /// Whether the MPI library has a call for such arguments: one of before MPI 4 has none for counts beyond an int.
    pub(crate) fn are_for_library(&self, processors: usize) -> bool {
        // SAFETY: a number of the shim, fixed when it was compiled for this library.
        let has_large = unsafe { raw::TUWTREE_HAS_LARGE_COUNTS != 0 };
        let is_int = |counts: Vec<i64>| counts.iter().all(|&count| c_int::try_from(count).is_ok());
        has_large || self.all_counts(processors).map_or(true, is_int)
    }

    /// The counts as the library takes them, and the list that these point to if it is not the program's.
    ///
    /// # Safety
    /// `comm` is a communicator's handle.
    ///
    /// # Errors
    /// Counts that the library cannot take.
    unsafe fn for_library(&self, comm: MPI_Comm) -> Result<(BlockCounts, OwnLists), MpiError> {
        let too_large = || MpiError::new("MPI_Reduce_scatter_c", raw::MPI_ERR_COUNT as c_int);
        let int = |count: MPI_Count| c_int::try_from(count).map_err(|_| too_large());
        // SAFETY: a number of the shim; a communicator by the caller's promise; p numbers by that of the arguments.
        unsafe {
            match self.counts {
                counts if raw::TUWTREE_HAS_LARGE_COUNTS != 0 => Ok((counts, None)),
                BlockCounts::Large(counts) if !counts.is_null() => {
                    let counts = std::slice::from_raw_parts(counts, super::size_of(comm)?);
                    let counts: Result<Vec<c_int>, MpiError> =
                        counts.iter().copied().map(int).collect();
                    let counts = counts?;
                    Ok((BlockCounts::Int(counts.as_ptr()), Some(Box::new(counts))))
                }
                BlockCounts::Large(_) => Ok((BlockCounts::Int(std::ptr::null()), None)),
                BlockCounts::SameLarge(count) => Ok((BlockCounts::Same(int(count)?), None)),
                counts => Ok((counts, None)),
            }
        }
    }

    /// Has the MPI library do it. Errors go to the error handler of `comm`. A library of before MPI 4 gets large counts
    /// as small ones, where they are.
    ///
    /// # Safety
    /// MPI is initialized, and `comm` is a handle that MPI has given out.
    ///
    /// # Errors
    /// What MPI returns; `MPI_ERR_COUNT` for counts that the library cannot take.
    pub unsafe fn call_native(&self, comm: MPI_Comm) -> Result<(), MpiError> {
        let (from, into) = (self.given, self.result);
        let (datatype, op) = (self.datatype, self.operator);
        // SAFETY: buffers and lists are as promised when the arguments were made; the communicator
        // is the caller's promise.
        unsafe {
            let (counts, _lists) = self.for_library(comm)?;
            match counts {
                BlockCounts::Int(counts) => {
                    calls::reduce_scatter(from, into, counts, datatype, op, comm)
                }
                BlockCounts::Same(count) => {
                    calls::reduce_scatter_block(from, into, count, datatype, op, comm)
                }
                BlockCounts::Large(counts) => {
                    calls::reduce_scatter_c((from, into), counts, (datatype, op), comm)
                }
                BlockCounts::SameLarge(count) => {
                    calls::reduce_scatter_block_c((from, into), count, (datatype, op), comm)
                }
            }
        }
    }

    /// Writes a persistent request of the MPI library to `request`.
    ///
    /// # Safety
    /// As [`call_native`](Self::call_native); the counts live until the request is freed; `request` is a place for one.
    ///
    /// # Errors
    /// What MPI returns; `MPI_ERR_OTHER` from a library that has none.
    pub unsafe fn init_native(
        &self,
        comm: MPI_Comm,
        request: *mut MPI_Request,
    ) -> Result<(), MpiError> {
        let (buffers, what) = ((self.given, self.result), (self.datatype, self.operator));
        // SAFETY: as for a single call, but that the caller keeps all this until the request is freed.
        unsafe {
            match self.counts {
                BlockCounts::Int(counts) => {
                    calls::reduce_scatter_init(buffers, counts, what, comm, request)
                }
                BlockCounts::Same(count) => {
                    calls::reduce_scatter_block_init(buffers, count, what, comm, request)
                }
                BlockCounts::Large(counts) => {
                    calls::reduce_scatter_init_c(buffers, counts, what, comm, request)
                }
                BlockCounts::SameLarge(count) => {
                    calls::reduce_scatter_block_init_c(buffers, count, what, comm, request)
                }
            }
        }
    }

    /// Starts the MPI library's nonblocking operation, and writes its request.
    ///
    /// # Safety
    /// As [`call_native`](Self::call_native); the counts live until the operation has ended; `request` is a place for
    /// one.
    ///
    /// # Errors
    /// What MPI returns; `MPI_ERR_OTHER` where the library has no such call.
    pub(crate) unsafe fn start_native(
        &self,
        comm: MPI_Comm,
        request: *mut MPI_Request,
    ) -> Result<(), MpiError> {
        let ((from, into), datatype) = ((self.given, self.result), self.datatype);
        let op = self.operator;
        // SAFETY: the promise made when the arguments were, and the caller's.
        unsafe {
            match self.counts {
                BlockCounts::Int(counts) => {
                    calls::ireduce_scatter(from, into, counts, datatype, op, comm, request)
                }
                BlockCounts::Same(count) => {
                    calls::ireduce_scatter_block(from, into, count, datatype, op, comm, request)
                }
                BlockCounts::Large(_) | BlockCounts::SameLarge(_) => {
                    let code = raw::MPI_ERR_OTHER as c_int;
                    Err(MpiError::new("MPI_Ireduce_scatter_c", code))
                }
            }
        }
    }

    /// Copies the counts, as the library takes them, and has the arguments point to the copies, which the caller keeps.
    ///
    /// # Safety
    /// `comm` is a communicator's handle.
    ///
    /// # Errors
    /// Counts that the library cannot take.
    pub(crate) unsafe fn own_lists(&mut self, comm: MPI_Comm) -> Result<OwnLists, MpiError> {
        // SAFETY: the communicator's handle by the caller's promise; p numbers by that of the arguments.
        unsafe {
            let (counts, lists) = self.for_library(comm)?;
            self.counts = counts;
            if lists.is_some() {
                return Ok(lists);
            }
            let processors = super::size_of(comm)?;
            Ok(match self.counts {
                BlockCounts::Int(counts) if !counts.is_null() => {
                    let counts = std::slice::from_raw_parts(counts, processors).to_vec();
                    self.counts = BlockCounts::Int(counts.as_ptr());
                    Some(Box::new(counts))
                }
                BlockCounts::Large(counts) if !counts.is_null() => {
                    let counts = std::slice::from_raw_parts(counts, processors).to_vec();
                    self.counts = BlockCounts::Large(counts.as_ptr());
                    Some(Box::new(counts))
                }
                _ => None,
            })
        }
    }
}
