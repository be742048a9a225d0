//! How arguments are made: of what a call in C has, and of slices.

use super::{ArgumentError, Arguments, Lists, NO_ROOT, Source, Target};
use crate::sys::raw::{self, MPI_Aint, MPI_Count, MPI_Datatype};
use ::mpi::datatype::{Equivalence, SystemDatatype};
use ::mpi::raw::AsRaw;
use std::ffi::{c_int, c_void};
use std::marker::PhantomData;
use tuwtree_model::{Operation, Rank};

/// All blocks of a gather's root: a slice, and for each processor how many items of it are its, and
/// where they start.
#[derive(Debug)]
pub struct PartitionMut<'a, T> {
    /// The elements of all blocks, gaps between blocks included.
    pub items: &'a mut [T],
    /// How many are each processor's.
    pub counts: &'a [c_int],
    /// Where each block starts, in items from the first.
    pub displacements: &'a [c_int],
}

/// All blocks of a scatter's root, in the same way.
#[derive(Clone, Copy, Debug)]
pub struct Partition<'a, T> {
    /// The elements of all blocks, gaps between blocks included.
    pub items: &'a [T],
    /// How many are each processor's.
    pub counts: &'a [c_int],
    /// Where each block starts, in items from the first.
    pub displacements: &'a [c_int],
}

impl<'a> Arguments<'a> {
    /// The arguments of `MPI_Gatherv`.
    ///
    /// # Safety
    /// What the MPI standard demands of the call: where an argument matters, buffers have memory for
    /// what counts, displacements and datatypes describe, for as long as `'a`; lists, a number
    /// for each processor; handles are such that MPI has given out.
    pub unsafe fn gatherv(
        own: (*const c_void, c_int, MPI_Datatype),
        all: Target<c_int, c_int>,
        root: c_int,
    ) -> Arguments<'a> {
        let own = (own.0.cast_mut(), own.1, own.2);
        Arguments::of_lists(Operation::Gather, own, all, (Lists::Int, root))
    }

    /// The arguments of `MPI_Scatterv`.
    ///
    /// # Safety
    /// As [`gatherv`](Self::gatherv).
    pub unsafe fn scatterv(
        all: Source<c_int, c_int>,
        own: (*mut c_void, c_int, MPI_Datatype),
        root: c_int,
    ) -> Arguments<'a> {
        let all = (all.0.cast_mut(), all.1, all.2, all.3);
        Arguments::of_lists(Operation::Scatter, own, all, (Lists::Int, root))
    }

    /// The arguments of `MPI_Gatherv_c`.
    ///
    /// # Safety
    /// As [`gatherv`](Self::gatherv).
    pub unsafe fn gatherv_c(
        own: (*const c_void, MPI_Count, MPI_Datatype),
        all: Target<MPI_Count, MPI_Aint>,
        root: c_int,
    ) -> Arguments<'a> {
        let own = (own.0.cast_mut(), own.1, own.2);
        Arguments::of_lists(Operation::Gather, own, all, (Lists::Large, root))
    }

    /// The arguments of `MPI_Scatterv_c`.
    ///
    /// # Safety
    /// As [`gatherv`](Self::gatherv).
    pub unsafe fn scatterv_c(
        all: Source<MPI_Count, MPI_Aint>,
        own: (*mut c_void, MPI_Count, MPI_Datatype),
        root: c_int,
    ) -> Arguments<'a> {
        let all = (all.0.cast_mut(), all.1, all.2, all.3);
        Arguments::of_lists(Operation::Scatter, own, all, (Lists::Large, root))
    }

    /// Those of an operation with lists of this kind.
    fn of_lists<C: Into<MPI_Count>, D>(
        operation: Operation,
        (own, count, own_type): (*mut c_void, C, MPI_Datatype),
        (all, counts, displacements, all_type): Target<C, D>,
        (lists, root): (fn(*const C, *const D) -> Lists, c_int),
    ) -> Arguments<'a> {
        Arguments {
            operation,
            own: (own, count.into(), own_type),
            all: (all, lists(counts, displacements), all_type),
            root,
            list_length: None,
            lifetime: PhantomData,
        }
    }

    /// The arguments of `MPI_Allgatherv`.
    ///
    /// # Safety
    /// As [`gatherv`](Self::gatherv).
    pub unsafe fn allgatherv(
        own: (*const c_void, c_int, MPI_Datatype),
        all: Target<c_int, c_int>,
    ) -> Arguments<'a> {
        // SAFETY: the caller's promise.
        let gather = unsafe { Arguments::gatherv(own, all, NO_ROOT) };
        Arguments { operation: Operation::Allgather, ..gather }
    }

    /// The arguments of `MPI_Allgatherv_c`.
    ///
    /// # Safety
    /// As [`gatherv`](Self::gatherv).
    pub unsafe fn allgatherv_c(
        own: (*const c_void, MPI_Count, MPI_Datatype),
        all: Target<MPI_Count, MPI_Aint>,
    ) -> Arguments<'a> {
        // SAFETY: the caller's promise.
        let gather = unsafe { Arguments::gatherv_c(own, all, NO_ROOT) };
        Arguments { operation: Operation::Allgather, ..gather }
    }

    /// The arguments of an allgather of slices: the own items, or `None` if they are in their place among all.
    ///
    /// # Errors
    /// As [`gather`](Self::gather).
    pub fn allgather<T: Equivalence<Out = SystemDatatype>>(
        own: Option<&'a [T]>,
        all: PartitionMut<'a, T>,
    ) -> Result<Arguments<'a>, ArgumentError> {
        let gather = Arguments::gather(own, Some(all), 0)?;
        Ok(Arguments { operation: Operation::Allgather, root: NO_ROOT, ..gather })
    }

    /// The arguments of a gather of slices: the own items, or at the root `None` if they are in their
    /// place among all; all items, at the root.
    ///
    /// # Errors
    /// [`ArgumentError::Partition`]; more items than MPI counts.
    pub fn gather<T: Equivalence<Out = SystemDatatype>>(
        own: Option<&'a [T]>,
        all: Option<PartitionMut<'a, T>>,
        root: Rank,
    ) -> Result<Arguments<'a>, ArgumentError> {
        let own = own.map(|own| (own.as_ptr().cast_mut(), own.len()));
        let all = all.map(|all| {
            let PartitionMut { items, counts, displacements } = all;
            (items.as_mut_ptr(), items.len(), counts, displacements)
        });
        Arguments::of_slices(Operation::Gather, own, all, root)
    }

    /// The arguments of a scatter of slices: where the own items go, or at the root `None` if they
    /// stay in their place among all; all items, at the root.
    ///
    /// # Errors
    /// As [`gather`](Self::gather).
    pub fn scatter<T: Equivalence<Out = SystemDatatype>>(
        all: Option<Partition<'a, T>>,
        own: Option<&'a mut [T]>,
        root: Rank,
    ) -> Result<Arguments<'a>, ArgumentError> {
        let own = own.map(|own| (own.as_mut_ptr(), own.len()));
        let all = all.map(|all| {
            let Partition { items, counts, displacements } = all;
            (items.as_ptr().cast_mut(), items.len(), counts, displacements)
        });
        Arguments::of_slices(Operation::Scatter, own, all, root)
    }

    fn of_slices<T: Equivalence<Out = SystemDatatype>>(
        operation: Operation,
        own: Option<(*mut T, usize)>,
        all: Option<(*mut T, usize, &'a [c_int], &'a [c_int])>,
        root: Rank,
    ) -> Result<Arguments<'a>, ArgumentError> {
        let datatype = T::equivalent_datatype().as_raw();
        let count = |length: usize| {
            let reason = "more than 2^31 - 1 items";
            c_int::try_from(length).map_err(|_| ArgumentError::Partition { block: 0, reason })
        };
        let own = match own {
            Some((items, length)) => (items.cast(), count(length)?.into(), datatype),
            // SAFETY: the shim's address that stands for `MPI_IN_PLACE` is never written; it is not
            // followed here.
            None => (unsafe { raw::TUWTREE_IN_PLACE }, 0, datatype),
        };
        let mut list_length = None;
        let all = match all {
            Some((items, length, counts, displacements)) => {
                check_partition(length, counts, displacements, operation)?;
                list_length = Some(counts.len());
                (items.cast(), Lists::Int(counts.as_ptr(), displacements.as_ptr()), datatype)
            }
            None => {
                let nowhere = Lists::Int(std::ptr::null(), std::ptr::null());
                (std::ptr::null_mut(), nowhere, datatype)
            }
        };
        let (root, lifetime) = (count(root)?, PhantomData);
        Ok(Arguments { operation, own, all, root, list_length, lifetime })
    }
}

/// Fails unless the blocks lie among so many items, and if they are written, apart.
pub(in crate::sys) fn check_partition(
    items: usize,
    counts: &[c_int],
    displacements: &[c_int],
    operation: Operation,
) -> Result<(), ArgumentError> {
    if counts.len() != displacements.len() {
        let block = counts.len().min(displacements.len());
        return Err(ArgumentError::Partition { block, reason: "it has no count or no place" });
    }
    let mut ranges = Vec::with_capacity(counts.len());
    for (block, (&count, &start)) in counts.iter().zip(displacements).enumerate() {
        let range = usize::try_from(start).ok().zip(usize::try_from(count).ok());
        match range.map(|(start, count)| (start, start.saturating_add(count))) {
            Some((start, end)) if end <= items => ranges.push((start, end, block)),
            _ => {
                return Err(ArgumentError::Partition {
                    block,
                    reason: "it is not among the items",
                });
            }
        }
    }
    ranges.retain(|&(start, end, _)| start < end);
    ranges.sort_unstable();
    let overlap = ranges.windows(2).find(|pair| pair[0].1 > pair[1].0);
    match overlap.filter(|_| operation == Operation::Gather) {
        Some(pair) => {
            Err(ArgumentError::Partition { block: pair[1].2, reason: "it overlaps another block" })
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_among_the_items_and_apart() {
        let check = |counts: &[c_int], displacements: &[c_int], operation| {
            check_partition(5, counts, displacements, operation)
        };
        assert_eq!(
            check(&[2, 0, 3], &[3, 9, 0], Operation::Gather).unwrap_err().to_string(),
            "block 1: it is not among the items"
        );
        assert_eq!(check(&[2, 3], &[3, 0], Operation::Gather), Ok(()));
        assert!(check(&[2, 4], &[3, 0], Operation::Gather).is_err());
        assert_eq!(check(&[2, 4], &[3, 0], Operation::Scatter), Ok(()));
        assert!(check(&[2], &[-1], Operation::Scatter).is_err());
        assert!(check(&[2, 1], &[0], Operation::Scatter).is_err());
    }
}
