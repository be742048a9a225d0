//! Layout of a buffer's data in memory.
//!
//! ```text
//!   packed bytes   0........4....6...........12    what actions address: no gaps
//!                  |block 0 |  1 | block 2   |
//!   memory         ....[block 2   ]..[block 0 ][1 ]...   any order, any gaps, and gaps in elements
//! ```

use super::requests::Transfer;
use super::{Datatype, Few, Memory, MpiError, OutOfMemory};
use smallvec::SmallVec;
use std::ffi::c_void;
use std::rc::Rc;
use tuwtree_schedule::Piece;

/// Some elements, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Start, in bytes from the memory's start.
    pub at: i64,
    /// Number of elements.
    pub elements: u64,
}

/// Blocks of elements in memory. Actions address them as if their data were packed, without gaps in
/// and between the blocks.
#[derive(Debug)]
pub struct Place {
    memory: Memory,
    /// Unit of message counts: bytes, if elements lie in memory as in messages.
    unit: Datatype,
    blocks: Few<Block>,
    /// Start of each block among the packed bytes, and the end of the last one.
    starts: SmallVec<[u64; 5]>,
}

/// Reason for which a layout is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlaceError {
    /// An MPI call on the datatype failed.
    #[error(transparent)]
    Mpi(#[from] MpiError),
    /// No memory.
    #[error(transparent)]
    Memory(#[from] OutOfMemory),
    /// A block that begins before the memory, or ends behind it.
    #[error(
        "block {block}, {elements} elements at {at} bytes, is outside of the {bytes} bytes of memory"
    )]
    Outside {
        /// The index of the block.
        block: usize,
        /// Number of elements.
        elements: u64,
        /// Start, in bytes from the memory's start.
        at: i64,
        /// The size of the memory.
        bytes: u64,
    },
    /// More than can be addressed.
    #[error(
        "block {block}, {elements} elements at {at} bytes, is beyond what MPI can address, 2^63 - 1 bytes"
    )]
    TooLarge {
        /// The index of the block.
        block: usize,
        /// Number of elements.
        elements: u64,
        /// Start, in bytes; in extents of the datatype if bytes overflow.
        at: i64,
    },
    /// A count below 0.
    #[error("count {count} of block {block}; at least 0 is allowed")]
    NegativeCount {
        /// The index of the block.
        block: usize,
        /// The count that was given for it, below 0.
        count: i64,
    },
    /// Data without memory.
    #[error("block {block} of {bytes} bytes has no memory: a null pointer")]
    Null {
        /// The index of the block.
        block: usize,
        /// Bytes required, at least 1.
        bytes: u64,
    },
}

/// An action that moves a part of an element whose layout only MPI knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{bytes} bytes at offset {offset} cut an element of {element} bytes in two; only where data is packed can elements be cut"
)]
pub struct CutElement {
    /// Start of the action's piece.
    pub offset: u64,
    /// The size of that piece.
    pub bytes: u64,
    /// The size of an element's data.
    pub element: u64,
}

impl Place {
    /// Blocks of elements of this datatype.
    ///
    /// # Errors
    /// [`PlaceError`].
    ///
    /// # Complexity
    /// O(1) for each block.
    pub fn new(
        memory: Memory,
        datatype: Datatype,
        blocks: impl IntoIterator<Item = Block>,
    ) -> Result<Place, PlaceError> {
        let mut place = Place::empty(memory);
        place.fill(datatype, blocks.into_iter().map(Ok))?;
        Ok(place)
    }

    /// No blocks as yet.
    fn empty(memory: Memory) -> Place {
        Place { memory, unit: Datatype::byte(), blocks: Few::new(), starts: SmallVec::new() }
    }

    /// Has these blocks from now on; to be called once.
    #[inline]
    fn fill(
        &mut self,
        datatype: Datatype,
        blocks: impl Iterator<Item = Result<Block, PlaceError>>,
    ) -> Result<(), PlaceError> {
        self.blocks.reserve(blocks.size_hint().0);
        self.starts.reserve(blocks.size_hint().0 + 1);
        let mut end = 0_u64;
        self.starts.push(0);
        for (index, block) in blocks.enumerate() {
            let block = block?;
            check_block(&self.memory, &datatype, index, block)?;
            let bytes = block.elements * datatype.size();
            let Block { elements, at } = block;
            let too_large = || PlaceError::TooLarge { block: index, elements, at };
            let sum = end.checked_add(bytes).filter(|&end| end <= i64::MAX as u64);
            end = sum.ok_or_else(too_large)?;
            self.blocks.push(block);
            self.starts.push(end);
        }
        if !datatype.is_packed() {
            self.unit = datatype;
        }
        Ok(())
    }

    /// Blocks in the user's memory, given as counts and displacements: each as many extents of the datatype
    /// behind `buffer` as its displacement says.
    ///
    /// # Safety
    /// As long as this lives, the buffer has memory where the counts and displacements say, to read
    /// and to write as the operation needs it ([`Memory::of_user`]).
    ///
    /// # Errors
    /// [`PlaceError`].
    #[inline]
    pub unsafe fn of_user(
        buffer: *mut c_void,
        blocks: impl Iterator<Item = (i64, i64)>,
        datatype: Datatype,
    ) -> Result<Rc<Place>, PlaceError> {
        let extent = datatype.extent();
        let blocks = blocks.enumerate().map(|(block, (count, at))| {
            let elements =
                u64::try_from(count).map_err(|_| PlaceError::NegativeCount { block, count })?;
            let at = at.checked_mul(extent).ok_or(PlaceError::TooLarge { block, elements, at })?;
            Ok(Block { at, elements })
        });
        // Filled where it stays.
        // SAFETY: the buffer has memory for all blocks by the caller's promise.
        let mut place = Rc::new(Place::empty(unsafe { Memory::of_user(buffer) }));
        Rc::get_mut(&mut place).expect("nobody else has it yet").fill(datatype, blocks)?;
        Ok(place)
    }

    /// Elements one after the other from the memory's start.
    ///
    /// # Errors
    /// [`PlaceError`].
    pub fn of_elements(
        memory: Memory,
        datatype: Datatype,
        elements: u64,
    ) -> Result<Place, PlaceError> {
        Place::new(memory, datatype, [Block { at: 0, elements }])
    }

    /// Allocates a place of this many bytes, all 0.
    ///
    /// # Errors
    /// No memory.
    pub fn of_bytes(bytes: u64) -> Result<Place, PlaceError> {
        Place::of_elements(Memory::zeroed(bytes)?, Datatype::byte(), bytes)
    }

    /// No data.
    ///
    /// # Errors
    /// What MPI says of bytes.
    pub fn nothing() -> Result<Place, PlaceError> {
        Place::of_bytes(0)
    }

    /// The size of all data, packed.
    pub fn packed_bytes(&self) -> u64 {
        self.starts.last().copied().unwrap_or(0)
    }

    /// The memory.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// The memory, if it is our own and has these bytes.
    pub fn own(&self, offset: u64, bytes: u64) -> Option<&Memory> {
        let end = offset.checked_add(bytes)?;
        (end <= self.memory.bytes()?).then_some(&self.memory)
    }

    /// Unit of message counts.
    pub fn unit(&self) -> &Datatype {
        &self.unit
    }

    /// Start of each block, and its number of units.
    pub fn in_units(&self) -> impl Iterator<Item = (i64, u64)> + '_ {
        let bytes = self.starts.windows(2).map(|pair| pair[1] - pair[0]);
        let size = self.unit.size().max(1);
        self.blocks.iter().zip(bytes).map(move |(block, bytes)| (block.at, bytes / size))
    }

    /// True if messages count bytes.
    pub fn is_packed(&self) -> bool {
        self.unit.is_packed()
    }

    /// The number of blocks.
    pub fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// Moves the place to the user's memory behind `buffer`, if the blocks are packed and laid out alike; returns true
    /// if moved.
    ///
    /// # Safety
    /// As [`of_user`](Self::of_user), from now on.
    pub unsafe fn move_to_user(
        &self,
        buffer: *mut c_void,
        blocks: impl ExactSizeIterator<Item = (i64, i64)>,
        datatype: &Datatype,
    ) -> bool {
        let are_packed = self.is_packed() && datatype.is_packed() && !buffer.is_null();
        let are_as_many = self.blocks.len() == blocks.len();
        let (size, extent) = (datatype.size(), datatype.extent());
        let lies_alike = |((block, piece), (count, at)): ((&Block, &[u64]), (i64, i64))| {
            let bytes = u64::try_from(count).ok().and_then(|count| count.checked_mul(size));
            bytes == Some(piece[1] - piece[0]) && at.checked_mul(extent) == Some(block.at)
        };
        let known = self.blocks.iter().zip(self.starts.windows(2));
        are_packed
            && are_as_many
            && known.zip(blocks).all(lies_alike)
            // SAFETY: the caller's promise.
            && unsafe { self.memory.move_to_user(buffer) }
    }

    /// Start of a block among the packed bytes.
    ///
    /// # Panics
    /// If there is no such block.
    pub fn block_start(&self, index: usize) -> u64 {
        self.starts[index]
    }

    /// The block's packed bytes, if there is such a block.
    pub fn block(&self, index: usize) -> Option<Piece> {
        let (start, end) = (*self.starts.get(index)?, *self.starts.get(index + 1)?);
        Some(Piece { offset: start, bytes: end - start })
    }

    /// The size of a block in packed bytes.
    ///
    /// # Panics
    /// If there is no such block.
    pub fn block_bytes(&self, index: usize) -> u64 {
        self.starts[index + 1] - self.starts[index]
    }

    /// Positions of packed bytes.
    ///
    /// # Errors
    /// [`CutElement`].
    ///
    /// # Panics
    /// If the place has fewer bytes.
    ///
    /// # Complexity
    /// O(log p) for each piece and O(1) for each block that it meets.
    pub fn stretches(self: &Rc<Place>, pieces: &[Piece]) -> Result<Stretches, CutElement> {
        let mut places = StretchList::new();
        for piece in pieces {
            self.push_places(*piece, &mut places)?;
        }
        Ok(Stretches { place: Rc::clone(self), stretches: places })
    }

    fn push_places(&self, piece: Piece, places: &mut StretchList) -> Result<(), CutElement> {
        let is_packed = self.unit.is_packed();
        let (size, extent) = match is_packed {
            true => (1, 1),
            false => (self.unit.size(), self.unit.extent()),
        };
        let Piece { offset, bytes } = piece;
        // How many units they are, if they are whole ones. (Division takes long.)
        let units = |bytes: u64| match is_packed {
            true => Some(bytes),
            false => bytes.is_multiple_of(size).then(|| bytes / size),
        };
        let mut at = offset;
        // The last block that starts at or before the piece; empty ones come first.
        let mut index = self.starts.partition_point(|&start| start <= offset) - 1;
        while at < piece.end() {
            let end = self.starts[index + 1].min(piece.end());
            let Some((within, count)) = units(at - self.starts[index]).zip(units(end - at)) else {
                return Err(CutElement { offset, bytes, element: size });
            };
            if end > at {
                let from = self.blocks[index].at + within as i64 * extent;
                match places.last_mut() {
                    Some((start, before)) if *start + *before as i64 * extent == from => {
                        *before += count;
                    }
                    _ => places.push((from, count)),
                }
            }
            at = end;
            index += 1;
        }
        Ok(())
    }
}

/// Checks that a block is addressable.
fn check_block(
    memory: &Memory,
    datatype: &Datatype,
    index: usize,
    block: Block,
) -> Result<(), PlaceError> {
    let Block { at, elements } = block;
    if elements == 0 || datatype.size() == 0 {
        return Ok(());
    }
    let too_large = || PlaceError::TooLarge { block: index, elements, at };
    let (start, end) = span(datatype, block).ok_or_else(too_large)?;
    match memory.bytes() {
        Some(bytes) if start < 0 || end as u64 > bytes => {
            Err(PlaceError::Outside { block: index, elements, at, bytes })
        }
        // With absolute addresses in the datatype, the null pointer is MPI_BOTTOM.
        None if memory.is_null() && datatype.is_packed() => {
            Err(PlaceError::Null { block: index, bytes: elements * datatype.size() })
        }
        _ => Ok(()),
    }
}

/// Start and end of the data of a non-empty block, if addressable.
fn span(datatype: &Datatype, block: Block) -> Option<(i64, i64)> {
    let Block { at, elements } = block;
    let bytes = i64::try_from(elements.checked_mul(datatype.size())?).ok()?;
    let (start, end) = if datatype.is_packed() {
        (at, at.checked_add(bytes)?)
    } else {
        // From the first element's first byte, or the last one's if the extent is negative.
        let last = i128::from(datatype.extent()) * i128::from(elements - 1);
        let start = i128::from(at) + i128::from(datatype.true_lower()) + last.min(0);
        let length = last.abs() + i128::from(datatype.true_extent());
        (i64::try_from(start).ok()?, i64::try_from(start + length).ok()?)
    };
    (start > i64::MIN).then_some((start, end))
}

/// Offsets in bytes, and numbers of units.
type StretchList = SmallVec<[(i64, u64); 1]>;

/// Some of the data of a place: stretches of memory, or of elements.
#[derive(Clone, Debug)]
pub struct Stretches {
    place: Rc<Place>,
    stretches: StretchList,
}

impl Stretches {
    /// True if messages count bytes.
    pub fn is_packed(&self) -> bool {
        self.place.is_packed()
    }

    /// The memory, and the stretches in it.
    pub fn in_memory(&self) -> (&Memory, &[(i64, u64)]) {
        (&self.place.memory, &self.stretches)
    }

    /// The data as messages take it.
    pub fn transfer(&self) -> Transfer<'_> {
        Transfer { place: &self.place, stretches: &self.stretches }
    }
}

/// Bytes that go from one memory to another.
#[derive(Debug)]
pub struct Move {
    from: Rc<Place>,
    into: Rc<Place>,
    /// From where, where to, how many.
    moves: SmallVec<[(i64, i64, u64); 1]>,
}

impl Move {
    /// The move between places that are packed, and have as many bytes.
    pub fn new(from: &Stretches, into: &Stretches) -> Move {
        let moves = moves(&from.stretches, &into.stretches);
        Move { from: Rc::clone(&from.place), into: Rc::clone(&into.place), moves }
    }

    /// Moves the bytes.
    pub fn perform(&self) {
        for &(from, into, bytes) in &self.moves {
            Memory::copy((&self.from.memory, from), (&self.into.memory, into), bytes);
        }
    }
}

/// Each stretch that lies in one of the first and in one of the second, which have as many bytes.
fn moves(from: &[(i64, u64)], into: &[(i64, u64)]) -> SmallVec<[(i64, i64, u64); 1]> {
    let mut moves = SmallVec::new();
    let (mut sources, mut targets) = (from.iter(), into.iter());
    let ((mut from, mut given), (mut to, mut room)) = ((0, 0), (0, 0));
    loop {
        if given == 0 {
            let Some(&next) = sources.next() else { return moves };
            (from, given) = next;
        }
        if room == 0 {
            let Some(&next) = targets.next() else { return moves };
            (to, room) = next;
        }
        let bytes: u64 = u64::min(given, room);
        moves.push((from, to, bytes));
        from += bytes as i64;
        to += bytes as i64;
        given -= bytes;
        room -= bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks of bytes in this memory.
    fn place(memory: &mut [u8], blocks: &[(i64, i64)]) -> Rc<Place> {
        let buffer = memory.as_mut_ptr().cast();
        // SAFETY: nothing is read or written.
        unsafe { Place::of_user(buffer, blocks.iter().copied(), Datatype::byte()) }.unwrap()
    }

    /// Whether the place moves to other memory with such blocks; if so, its data is there.
    fn moves(place: &Place, blocks: &[(i64, i64)]) -> bool {
        let mut memory = [0_u8; 20];
        let buffer: *mut c_void = memory.as_mut_ptr().cast();
        place.memory.let_go();
        // SAFETY: nothing is read or written.
        let moves =
            unsafe { place.move_to_user(buffer, blocks.iter().copied(), &Datatype::byte()) };
        assert_eq!(moves, place.memory.at(0) == buffer);
        moves
    }

    #[test]
    fn a_place_moves_to_blocks_that_lie_as_its_own_do_only() {
        let mut memory = [0_u8; 20];
        let place = place(&mut memory, &[(3, 5), (0, 0), (4, 8)]);
        assert!(moves(&place, &[(3, 5), (0, 0), (4, 8)]));
        for blocks in [
            [(3, 5), (0, 0), (5, 8)],
            [(3, 5), (1, 0), (4, 8)],
            [(3, 5), (0, 0), (4, 9)],
            [(3, 5), (0, 0), (-4, 8)],
        ] {
            assert!(!moves(&place, &blocks), "{blocks:?}");
        }
        assert!(!moves(&place, &[(3, 5), (0, 0)]) && !moves(&place, &[]));
        assert!(!moves(&Place::of_bytes(4).unwrap(), &[(4, 0)]), "memory of our own stays");
    }

    #[test]
    fn a_place_without_the_users_memory_has_none_until_it_is_given_some() {
        let mut memory = [0_u8; 4];
        let (place, block) = (place(&mut memory, &[(4, 0)]), [(4, 0)]);
        place.memory.let_go();
        assert!(place.memory.is_null());
        let nowhere = std::ptr::null_mut();
        // SAFETY: there is no memory to be used.
        let moved = unsafe { place.move_to_user(nowhere, block.into_iter(), &Datatype::byte()) };
        assert!(!moved && moves(&place, &block));
    }

    #[test]
    fn blocks_beyond_what_can_be_addressed_are_too_large() {
        let most = i64::MAX as u64;
        let new = |at, elements| {
            let place = Place::new(
                // SAFETY: nothing is read or written.
                unsafe { Memory::of_user(std::ptr::dangling_mut::<u8>().cast()) },
                Datatype::byte(),
                [Block { at, elements }],
            );
            place.map(|place| place.packed_bytes())
        };
        assert_eq!((new(0, most), new(-8, most)), (Ok(most), Ok(most)));
        for (at, elements) in [(1, most), (0, most + 1), (i64::MIN, 1), (i64::MAX, 1)] {
            assert_eq!(new(at, elements), Err(PlaceError::TooLarge { block: 0, elements, at }));
        }
    }
}
