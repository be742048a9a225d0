//! Span that messages come from and go to: consecutive bytes, and blocks of a user's datatype.

use crate::play::{self, Place, PlaceError};
use crate::sys::raw::{self, MPI_Datatype};
use crate::sys::{Communicator, Datatype, Memory, MpiError, check};
use std::ffi::{c_int, c_void};
use std::marker::PhantomData;
use std::ops::RangeInclusive;
use std::rc::Rc;
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
    datatype: Rc<Datatype>,
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
        let datatype = Rc::new(unsafe { Datatype::of_user(datatype) }?);
        let mut blocks = Vec::with_capacity(counts.len());
        for (rank, (&count, &displacement)) in counts.iter().zip(displacements).enumerate() {
            let extent = datatype.extent();
            let offset = i64::from(displacement).checked_mul(extent);
            let end = i64::from(count).checked_mul(extent).zip(offset);
            let is_near = end.is_some_and(|(length, offset)| offset.checked_add(length).is_some());
            let offset = offset.filter(|_| is_near).ok_or(BlocksError::TooFar { rank })?;
            blocks.push(Block { offset, count });
        }
        let blocks = Blocks { address: buffer.cast(), datatype, blocks, lifetime: PhantomData };
        let bytes = (0..counts.len()).map(|rank| blocks.bytes(rank)).max().unwrap_or(0);
        // A derived datatype may hold absolute addresses, and its buffer be MPI_BOTTOM.
        if buffer.is_null() && bytes > 0 && blocks.datatype.is_packed() {
            return Err(BlocksError::NullBuffer { bytes });
        }
        Ok(blocks)
    }

    /// The size of a block's data in bytes.
    pub fn bytes(&self, rank: Rank) -> u64 {
        // Both below 2^63, and in any sensible case far below: what saturates is refused as a total.
        (self.blocks[rank].count as u64).saturating_mul(self.datatype.size())
    }

    /// The sizes of all blocks in bytes.
    pub fn sizes(&self) -> impl ExactSizeIterator<Item = u64> + '_ {
        (0..self.blocks.len()).map(|rank| self.bytes(rank))
    }

    /// The blocks of these ranks as consecutive bytes, if that is what they are in memory.
    pub fn consecutive(&self, first: Rank, last: Rank) -> Option<Span<'a>> {
        if !self.datatype.is_packed() {
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
                    self.datatype.raw(),
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
                    self.datatype.raw(),
                    comm.raw(),
                )
            };
            check("MPI_Unpack", code).map(|()| position)
        })
    }

    /// The blocks as the engine takes them. What is made of them lives no longer than `'a`.
    ///
    /// # Errors
    /// [`PlaceError`].
    pub(crate) fn place(&self) -> Result<Place, PlaceError> {
        let block = |block: &Block| play::Block { at: block.offset, elements: block.count as u64 };
        let blocks = self.blocks.iter().map(block).collect();
        // SAFETY: the promises made in `new`; the engine's user sees to it that they still hold.
        let (memory, datatype) = unsafe {
            (Memory::of_user(self.address.cast()), Datatype::of_user(self.datatype.raw())?)
        };
        Place::new(memory, datatype, blocks)
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
        let (size, extent) = (self.datatype.size(), self.datatype.extent());
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
