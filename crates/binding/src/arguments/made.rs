//! Arguments made of slices.

use super::{ArgumentError, Arguments, Side};
use crate::raw;
use ::mpi::datatype::{Equivalence, SystemDatatype};
use ::mpi::raw::AsRaw;
use std::ffi::{c_int, c_void};
use tuwtree_model::{Operation, Rank};

/// All blocks of a gather's root: a slice, and for each rank how many items of it are its, and
/// where they start.
#[derive(Debug)]
pub struct PartitionMut<'a, T> {
    /// The elements of all blocks, gaps between blocks included.
    pub items: &'a mut [T],
    /// Number of items of each rank.
    pub counts: &'a [c_int],
    /// Start of each block, in items from the first.
    pub displacements: &'a [c_int],
}

/// All blocks of a scatter's root, in the same way.
#[derive(Clone, Copy, Debug)]
pub struct Partition<'a, T> {
    /// The elements of all blocks, gaps between blocks included.
    pub items: &'a [T],
    /// Number of items of each rank.
    pub counts: &'a [c_int],
    /// Start of each block, in items from the first.
    pub displacements: &'a [c_int],
}

impl<'a> Arguments<'a> {
    /// Arguments of a gather of slices: the own items, or at the root `None` if they are in their place among all; all
    /// items, at the root.
    ///
    /// # Errors
    /// [`ArgumentError::Partition`]; more items than MPI counts.
    pub fn gather<T: Equivalence<Out = SystemDatatype>>(
        own: Option<&'a [T]>,
        all: Option<PartitionMut<'a, T>>,
        root: Rank,
    ) -> Result<Arguments<'a>, ArgumentError> {
        let (all, length) = match all {
            Some(all) => side_of_all(written(all), Operation::Gather)?,
            None => nothing::<T>(),
        };
        let own = side_of_own(own.map(|own| (own.as_ptr().cast_mut(), own.len())))?;
        // SAFETY: the buffers are borrowed for as long as the arguments, and the lists describe parts of them.
        let arguments = unsafe { Arguments::gatherv(own, all, int(root)?) };
        Ok(Arguments { list_length: length, ..arguments })
    }

    /// Arguments of a scatter of slices: room for the own items, or at the root `None` if they stay in their place
    /// among all; all items, at the root.
    ///
    /// # Errors
    /// As [`gather`](Self::gather).
    pub fn scatter<T: Equivalence<Out = SystemDatatype>>(
        all: Option<Partition<'a, T>>,
        own: Option<&'a mut [T]>,
        root: Rank,
    ) -> Result<Arguments<'a>, ArgumentError> {
        let (all, length) = match all {
            Some(all) => side_of_all(read(&all), Operation::Scatter)?,
            None => nothing::<T>(),
        };
        let own = side_of_own(own.map(|own| (own.as_mut_ptr(), own.len())))?;
        // SAFETY: as for a gather.
        let arguments = unsafe { Arguments::scatterv(all, own, int(root)?) };
        Ok(Arguments { list_length: length, ..arguments })
    }

    /// Arguments of an allgather of slices: the own items, or `None` if they are in their place among all.
    ///
    /// # Errors
    /// As [`gather`](Self::gather).
    pub fn allgather<T: Equivalence<Out = SystemDatatype>>(
        own: Option<&'a [T]>,
        all: PartitionMut<'a, T>,
    ) -> Result<Arguments<'a>, ArgumentError> {
        let (all, list_length) = side_of_all(written(all), Operation::Gather)?;
        let own = side_of_own(own.map(|own| (own.as_ptr().cast_mut(), own.len())))?;
        // SAFETY: as for a gather.
        Ok(Arguments { list_length, ..unsafe { Arguments::allgatherv(own, all) } })
    }

    /// Arguments of an alltoall of slices: the items for all ranks, or `None` if they lie in the result.
    ///
    /// # Errors
    /// [`ArgumentError::Partition`].
    pub fn alltoall_of<T: Equivalence<Out = SystemDatatype>>(
        given: Option<&Partition<'a, T>>,
        result: PartitionMut<'a, T>,
    ) -> Result<Arguments<'a>, ArgumentError> {
        let (result, list_length) = side_of_all(written(result), Operation::Gather)?;
        let given = match given {
            Some(given) => {
                let (given, length) = side_of_all(read(given), Operation::Scatter)?;
                if length != list_length {
                    let reason = "there are lists for another number of processes";
                    let block = length.expect("it has lists");
                    return Err(ArgumentError::Partition { block, reason });
                }
                given
            }
            // SAFETY: the shim's address that stands for `MPI_IN_PLACE` is never written; it is not followed here.
            None => Side { buffer: unsafe { raw::TUWTREE_IN_PLACE }, ..result },
        };
        // SAFETY: as for a gather.
        Ok(Arguments { list_length, ..unsafe { Arguments::alltoall(given, result) } })
    }
}

/// Items of all ranks: address, length, counts, displacements.
type Items<'a, T> = (*mut T, usize, &'a [c_int], &'a [c_int]);

fn read<'a, T>(partition: &Partition<'a, T>) -> Items<'a, T> {
    let Partition { items, counts, displacements } = *partition;
    (items.as_ptr().cast_mut(), items.len(), counts, displacements)
}

fn written<'a, T>(partition: PartitionMut<'a, T>) -> Items<'a, T> {
    let PartitionMut { items, counts, displacements } = partition;
    (items.as_mut_ptr(), items.len(), counts, displacements)
}

/// The side of all blocks, and the length of its lists.
fn side_of_all<T: Equivalence<Out = SystemDatatype>>(
    (items, length, counts, displacements): Items<'_, T>,
    operation: Operation,
) -> Result<(Side, Option<usize>), ArgumentError> {
    check_partition(length, counts, displacements, operation)?;
    let datatype = T::equivalent_datatype().as_raw();
    let items: *mut c_void = items.cast();
    let side = Side::listed(items, counts.as_ptr(), displacements.as_ptr(), datatype);
    Ok((side, Some(counts.len())))
}

/// The side of all blocks at a rank that is not the root.
fn nothing<T: Equivalence<Out = SystemDatatype>>() -> (Side, Option<usize>) {
    let list: *const c_int = std::ptr::null();
    let nowhere: *mut c_void = std::ptr::null_mut();
    (Side::listed(nowhere, list, list, T::equivalent_datatype().as_raw()), None)
}

/// The side of the own items, or of items in place.
fn side_of_own<T: Equivalence<Out = SystemDatatype>>(
    own: Option<(*mut T, usize)>,
) -> Result<Side, ArgumentError> {
    let datatype = T::equivalent_datatype().as_raw();
    Ok(match own {
        Some((items, length)) => Side::one(items.cast::<c_void>(), int(length)?, datatype),
        // SAFETY: the shim's address that stands for `MPI_IN_PLACE` is never written; it is not followed here.
        None => Side::one(unsafe { raw::TUWTREE_IN_PLACE }, 0, datatype),
    })
}

fn int(number: usize) -> Result<c_int, ArgumentError> {
    let reason = "more than 2^31 - 1 items";
    c_int::try_from(number).map_err(|_| ArgumentError::Partition { block: 0, reason })
}

/// Checks that the blocks lie within `items` items and, if written, do not overlap.
fn check_partition(
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
