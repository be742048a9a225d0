//! Span that messages come from and go to: consecutive bytes, and blocks of a user's datatype.

use crate::mpi::raw::{self, MPI_Datatype};
use crate::mpi::{Communicator, MpiError, check};
use std::ffi::{c_int, c_void};
use std::marker::PhantomData;
use std::ops::RangeInclusive;
use tuwtree_model::Rank;

/// Consecutive bytes of memory, of a user or our own, for as long as `'a`.
///
/// Two may overlap; what is read from one while another is written is then unspecified, as in MPI.
#[derive(Clone, Copy, Debug)]
pub struct Span<'a> {
    address: *mut u8,
    bytes: u64,
    lifetime: PhantomData<&'a mut [u8]>,
}

#[allow(unsafe_code)]
impl<'a> Span<'a> {
    /// No memory at all.
    pub const NONE: Span<'static> =
        Span { address: std::ptr::null_mut(), bytes: 0, lifetime: PhantomData };

    /// These bytes.
    pub fn of(bytes: &'a mut [u8]) -> Span<'a> {
        Span { address: bytes.as_mut_ptr(), bytes: bytes.len() as u64, lifetime: PhantomData }
    }

    /// The address of the first byte.
    pub fn address(&self) -> *mut c_void {
        self.address.cast()
    }

    /// How many bytes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Part of these bytes.
    ///
    /// # Panics
    /// If the part is not one.
    #[must_use]
    pub fn part(self, offset: u64, bytes: u64) -> Span<'a> {
        let fits = offset.checked_add(bytes).is_some_and(|end| end <= self.bytes);
        assert!(fits, "{bytes} bytes at {offset} of {}", self.bytes);
        Span { address: self.address.wrapping_add(offset as usize), bytes, ..self }
    }

    /// Copies all bytes from other memory of the same size.
    ///
    /// # Panics
    /// If the sizes differ.
    pub fn copy_from(self, other: Span<'_>) {
        assert_eq!(self.bytes, other.bytes, "a copy into memory of the same size");
        if self.bytes > 0 {
            // SAFETY: both are memory of that size by the promise made when they were made; they
            // may overlap.
            unsafe { std::ptr::copy(other.address, self.address, self.bytes as usize) }
        }
    }
}

/// A datatype of MPI, with what is to be known of it.
#[derive(Clone, Copy, Debug)]
struct Items {
    raw: MPI_Datatype,
    size: u64,
    extent: i64,
    is_dense: bool,
}

#[allow(unsafe_code)]
impl Items {
    /// What is to be known of a datatype.
    ///
    /// # Safety
    /// The handle is one that MPI has given out, or `MPI_DATATYPE_NULL`, which is an error.
    ///
    /// # Errors
    /// `MPI_ERR_TYPE` for no datatype.
    unsafe fn of(raw: MPI_Datatype) -> Result<Items, MpiError> {
        // SAFETY: reading a constant of the C shim.
        if raw == unsafe { raw::RSMPI_DATATYPE_NULL } {
            return Err(MpiError::new("MPI_Type_size", raw::MPI_ERR_TYPE as c_int));
        }
        let (mut size, mut lower, mut extent) = (0, 0, 0);
        // SAFETY: the handle is valid by the caller's promise; results go to local variables.
        unsafe {
            check("MPI_Type_size_x", raw::PMPI_Type_size_x(raw, &mut size))?;
            let code = raw::PMPI_Type_get_extent_x(raw, &mut lower, &mut extent);
            check("MPI_Type_get_extent_x", code)?;
        }
        // SAFETY: as above.
        let is_dense = size == extent && lower == 0 && unsafe { is_in_order(raw) }?;
        Ok(Items { raw, size: size as u64, extent, is_dense })
    }
}

/// Whether the datatype's data lies in memory in the order in which it is sent: true for MPI's own
/// datatypes and rows of such, false for all that are not plainly so.
///
/// # Safety
/// A valid handle.
#[allow(unsafe_code)]
unsafe fn is_in_order(datatype: MPI_Datatype) -> Result<bool, MpiError> {
    let (mut integers, mut addresses, mut datatypes, mut combiner) = (0, 0, 0, 0);
    // SAFETY: the handle is valid; results go to local variables.
    let code = unsafe {
        raw::PMPI_Type_get_envelope(
            datatype,
            &mut integers,
            &mut addresses,
            &mut datatypes,
            &mut combiner,
        )
    };
    check("MPI_Type_get_envelope", code)?;
    // SAFETY: constants of the C shim.
    let (named, dup, contiguous) = unsafe {
        (raw::TUWTREE_COMBINER_NAMED, raw::TUWTREE_COMBINER_DUP, raw::TUWTREE_COMBINER_CONTIGUOUS)
    };
    if combiner == named {
        return Ok(true);
    }
    if combiner != dup && combiner != contiguous {
        return Ok(false);
    }
    let mut counts = vec![0; integers as usize];
    let mut places = vec![0; addresses as usize];
    // SAFETY: reading a constant; the lists have the lengths that the envelope states.
    let element = unsafe {
        let mut elements = vec![raw::RSMPI_DATATYPE_NULL; datatypes as usize];
        let code = raw::PMPI_Type_get_contents(
            datatype,
            integers,
            addresses,
            datatypes,
            counts.as_mut_ptr(),
            places.as_mut_ptr(),
            elements.as_mut_ptr(),
        );
        check("MPI_Type_get_contents", code)?;
        elements[0]
    };
    // SAFETY: MPI has just given out the element's handle.
    let (known, is_named) = unsafe { (Items::of(element), is_named(element)) };
    if !is_named? {
        let mut element = element;
        // SAFETY: a handle to a derived datatype from MPI_Type_get_contents is ours to free.
        unsafe { check("MPI_Type_free", raw::PMPI_Type_free(&mut element)) }?;
    }
    Ok(known?.is_dense)
}

/// # Safety
/// A valid handle.
#[allow(unsafe_code)]
unsafe fn is_named(datatype: MPI_Datatype) -> Result<bool, MpiError> {
    let (mut integers, mut addresses, mut datatypes, mut combiner) = (0, 0, 0, 0);
    // SAFETY: the handle is valid; the constant is the C shim's.
    unsafe {
        let code = raw::PMPI_Type_get_envelope(
            datatype,
            &mut integers,
            &mut addresses,
            &mut datatypes,
            &mut combiner,
        );
        check("MPI_Type_get_envelope", code)?;
        Ok(combiner == raw::TUWTREE_COMBINER_NAMED)
    }
}

/// Where a block lies: so many items, so many bytes behind the buffer's address.
#[derive(Clone, Copy, Debug)]
struct Block {
    offset: i64,
    count: c_int,
}

/// Blocks of one datatype in a user's buffer, for as long as `'a`.
#[derive(Clone, Debug)]
pub struct Blocks<'a> {
    address: *mut u8,
    datatype: Items,
    blocks: Vec<Block>,
    lifetime: PhantomData<&'a mut [u8]>,
}

/// Why a buffer, counts and a datatype are not blocks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BlocksError {
    /// A count below 0.
    #[error("count {count} of block {rank}; at least 0 is allowed")]
    NegativeCount {
        /// The block.
        rank: Rank,
        /// Its count.
        count: c_int,
    },
    /// Data at address 0, and a datatype that holds no addresses.
    #[error("a null buffer for {bytes} bytes of data")]
    NullBuffer {
        /// How many.
        bytes: u64,
    },
    /// A block that nobody can address.
    #[error("block {rank} lies beyond 2^63 - 1 bytes from its buffer")]
    TooFar {
        /// The block.
        rank: Rank,
    },
    /// Whatever MPI says.
    #[error(transparent)]
    Mpi(#[from] MpiError),
}

#[allow(unsafe_code)]
impl<'a> Blocks<'a> {
    /// Blocks with these counts, each as many extents of the datatype behind `buffer` as its
    /// displacement says.
    ///
    /// # Safety
    /// For as long as `'a`, the buffer has memory where the counts and displacements say, to
    /// read and to write as the operation needs it, and the datatype is committed and not freed.
    ///
    /// # Errors
    /// [`BlocksError`].
    ///
    /// # Panics
    /// If there are not as many displacements as counts.
    pub unsafe fn new(
        buffer: *mut c_void,
        counts: &[c_int],
        displacements: &[c_int],
        datatype: MPI_Datatype,
    ) -> Result<Blocks<'a>, BlocksError> {
        assert_eq!(counts.len(), displacements.len(), "a displacement for each count");
        if let Some((rank, &count)) = counts.iter().enumerate().find(|&(_, &count)| count < 0) {
            return Err(BlocksError::NegativeCount { rank, count });
        }
        // SAFETY: a handle by the caller's promise.
        let datatype = unsafe { Items::of(datatype) }?;
        let mut blocks = Vec::with_capacity(counts.len());
        for (rank, (&count, &displacement)) in counts.iter().zip(displacements).enumerate() {
            let extent = datatype.extent;
            let offset = i64::from(displacement).checked_mul(extent);
            let end = i64::from(count).checked_mul(extent).zip(offset);
            let is_near = end.is_some_and(|(length, offset)| offset.checked_add(length).is_some());
            let offset = offset.filter(|_| is_near).ok_or(BlocksError::TooFar { rank })?;
            blocks.push(Block { offset, count });
        }
        let blocks = Blocks { address: buffer.cast(), datatype, blocks, lifetime: PhantomData };
        let bytes = (0..counts.len()).map(|rank| blocks.bytes(rank)).max().unwrap_or(0);
        // A derived datatype may hold absolute addresses, and its buffer be MPI_BOTTOM.
        if buffer.is_null() && bytes > 0 && datatype.is_dense {
            return Err(BlocksError::NullBuffer { bytes });
        }
        Ok(blocks)
    }

    /// The size of a block's data in bytes.
    pub fn bytes(&self, rank: Rank) -> u64 {
        // Both below 2^63, and in any sensible case far below: what saturates is refused as a total.
        (self.blocks[rank].count as u64).saturating_mul(self.datatype.size)
    }

    /// The sizes of all blocks in bytes.
    pub fn sizes(&self) -> impl ExactSizeIterator<Item = u64> + '_ {
        (0..self.blocks.len()).map(|rank| self.bytes(rank))
    }

    /// The blocks of these ranks as consecutive bytes, if that is what they are in memory.
    pub fn consecutive(&self, first: Rank, last: Rank) -> Option<Span<'a>> {
        if !self.datatype.is_dense {
            return None;
        }
        let mut run: Option<(i64, u64)> = None;
        for rank in first..=last {
            let (offset, bytes) = (self.blocks[rank].offset, self.bytes(rank));
            run = match run {
                _ if bytes == 0 => run,
                None => Some((offset, bytes)),
                Some((start, length)) if start + length as i64 == offset => {
                    Some((start, length + bytes))
                }
                Some(_) => return None,
            };
        }
        let Some((start, bytes)) = run else { return Some(Span::NONE) };
        let address = self.address.wrapping_offset(start as isize);
        Some(Span { address, bytes, lifetime: PhantomData })
    }

    /// Writes a block's data to memory of its size.
    ///
    /// # Errors
    /// What MPI returns; an item of 2^31 bytes or more.
    pub fn pack(&self, rank: Rank, into: Span<'_>, comm: &Communicator) -> Result<(), MpiError> {
        if let Some(memory) = self.consecutive(rank, rank) {
            into.copy_from(memory);
            return Ok(());
        }
        self.convert(rank, into, |item, count, packed, bytes| {
            let mut position = 0;
            // SAFETY: the user's memory by the promise made in `new`, ours of the size stated.
            let code = unsafe {
                raw::PMPI_Pack(
                    item,
                    count,
                    self.datatype.raw,
                    packed,
                    bytes,
                    &mut position,
                    comm.raw(),
                )
            };
            check("MPI_Pack", code).map(|()| position)
        })
    }

    /// Reads a block's data from memory of its size.
    ///
    /// # Errors
    /// As [`pack`](Self::pack).
    pub fn unpack(&self, rank: Rank, from: Span<'_>, comm: &Communicator) -> Result<(), MpiError> {
        if let Some(memory) = self.consecutive(rank, rank) {
            memory.copy_from(from);
            return Ok(());
        }
        self.convert(rank, from, |item, count, packed, bytes| {
            let mut position = 0;
            // SAFETY: as in `pack`.
            let code = unsafe {
                raw::PMPI_Unpack(
                    packed,
                    bytes,
                    &mut position,
                    item,
                    count,
                    self.datatype.raw,
                    comm.raw(),
                )
            };
            check("MPI_Unpack", code).map(|()| position)
        })
    }

    /// Writes the data of these blocks, one after the other, to memory of their size.
    ///
    /// # Errors
    /// As [`pack`](Self::pack).
    pub fn pack_all(
        &self,
        ranks: RangeInclusive<Rank>,
        into: Span<'_>,
        comm: &Communicator,
    ) -> Result<(), MpiError> {
        self.for_each_part(ranks, into, |rank, part| self.pack(rank, part, comm))
    }

    /// Reads the data of these blocks, one after the other, from memory of their size.
    ///
    /// # Errors
    /// As [`pack`](Self::pack).
    pub fn unpack_all(
        &self,
        ranks: RangeInclusive<Rank>,
        from: Span<'_>,
        comm: &Communicator,
    ) -> Result<(), MpiError> {
        self.for_each_part(ranks, from, |rank, part| self.unpack(rank, part, comm))
    }

    fn for_each_part(
        &self,
        ranks: RangeInclusive<Rank>,
        memory: Span<'_>,
        mut convert: impl FnMut(Rank, Span<'_>) -> Result<(), MpiError>,
    ) -> Result<(), MpiError> {
        let mut offset = 0;
        for rank in ranks {
            let bytes = self.bytes(rank);
            convert(rank, memory.part(offset, bytes))?;
            offset += bytes;
        }
        Ok(())
    }

    /// Copies a block to one of the same size among others.
    ///
    /// # Errors
    /// As [`pack`](Self::pack).
    ///
    /// # Panics
    /// If their sizes differ.
    pub fn copy_to(
        &self,
        rank: Rank,
        (others, other): (&Blocks<'_>, Rank),
        comm: &Communicator,
    ) -> Result<(), MpiError> {
        match (self.consecutive(rank, rank), others.consecutive(other, other)) {
            (Some(from), Some(into)) => {
                into.copy_from(from);
                Ok(())
            }
            _ => {
                let mut packed = vec![0; self.bytes(rank) as usize];
                let packed = Span::of(&mut packed);
                self.pack(rank, packed, comm)?;
                others.unpack(other, packed, comm)
            }
        }
    }

    /// Converts as many items at a time as MPI's counts of bytes allow.
    fn convert(
        &self,
        rank: Rank,
        packed: Span<'_>,
        mut convert: impl FnMut(*mut c_void, c_int, *mut c_void, c_int) -> Result<c_int, MpiError>,
    ) -> Result<(), MpiError> {
        let Block { offset, count } = self.blocks[rank];
        let Items { size, extent, .. } = self.datatype;
        assert_eq!(packed.bytes, self.bytes(rank), "packed memory of the block's size");
        if packed.bytes == 0 {
            return Ok(());
        }
        let most = (c_int::MAX as u64 / size) as c_int;
        if most == 0 {
            return Err(MpiError::new("MPI_Pack", raw::MPI_ERR_COUNT as c_int));
        }
        let mut done = 0;
        while done < count {
            let items = (count - done).min(most);
            let place = offset.wrapping_add(i64::from(done).wrapping_mul(extent));
            let item = self.address.wrapping_offset(place as isize);
            let part = packed.part(done as u64 * size, items as u64 * size);
            let position = convert(item.cast(), items, part.address(), part.bytes as c_int)?;
            if position as u64 != part.bytes {
                return Err(MpiError::new("MPI_Pack", raw::MPI_ERR_INTERN as c_int));
            }
            done += items;
        }
        Ok(())
    }
}
