//! Arguments of a collective call, as a program gives them.
//!
//! ```text
//!   parameters of an MPI function, slices, a ByteLayout      nothing is known of their values
//!        |                  \
//!      parse              call_native, init_native, start_native     read by the MPI library
//!        |
//!   Parsed, ParsedRootless: blocks as Places                          read by the executor
//! ```

mod made;

pub use made::{Partition, PartitionMut};

use super::functions::{CountType, Form, Function};
use super::raw::{self, MPI_Aint, MPI_Comm, MPI_Count, MPI_Datatype, MPI_Op, MPI_Request};
use super::{Communicator, Datatype, Handles, MpiError, Operator, Place, PlaceError, calls, check};
use std::any::Any;
use std::ffi::{c_int, c_void};
use std::marker::PhantomData;
use std::rc::Rc;
use tuwtree_model::{BlockSizes, Operation, PayloadKind, Rank};

/// The root of an operation that has none.
const NO_ROOT: c_int = -1;

/// The arguments of one call at one rank, unchecked.
#[derive(Clone, Copy, Debug)]
pub struct Arguments<'a> {
    function: Function,
    /// Data that the rank sends, or all data at a scatter's root.
    given: Side,
    /// Memory that the rank receives into.
    result: Side,
    /// [`NO_ROOT`] where the function has none.
    root: c_int,
    operator: Option<MPI_Op>,
    /// The length of lists, where the caller's type tells it.
    list_length: Option<usize>,
    lifetime: PhantomData<&'a mut [u8]>,
}

/// Send or receive parameters of a call.
#[derive(Clone, Copy, Debug)]
pub struct Side {
    buffer: *mut c_void,
    blocks: BlockLayout,
    datatype: MPI_Datatype,
    /// True for counts in `MPI_Count`.
    is_large: bool,
}

/// Numbers of elements, and positions in the buffer.
#[derive(Clone, Copy, Debug)]
enum BlockLayout {
    /// One block of this many elements.
    One(MPI_Count),
    /// One block of this many elements for each rank, back to back.
    Equal(MPI_Count),
    /// A count for each rank, and its displacement; null where the function takes none.
    Listed { counts: *const c_void, displacements: *const c_void },
}

impl Side {
    /// One block.
    pub fn one<N: CountType>(buffer: impl Buffer, count: N, datatype: MPI_Datatype) -> Side {
        Side::new::<N>(buffer, BlockLayout::One(count.into()), datatype)
    }

    /// A block of `count` elements for each rank.
    pub fn equal<N: CountType>(buffer: impl Buffer, count: N, datatype: MPI_Datatype) -> Side {
        Side::new::<N>(buffer, BlockLayout::Equal(count.into()), datatype)
    }

    /// A block for each rank, with counts and displacements in elements.
    pub fn listed<N: CountType, D>(
        buffer: impl Buffer,
        counts: *const N,
        displacements: *const D,
        datatype: MPI_Datatype,
    ) -> Side {
        let (counts, displacements) = (counts.cast(), displacements.cast());
        Side::new::<N>(buffer, BlockLayout::Listed { counts, displacements }, datatype)
    }

    /// A block for each rank, one after the other.
    pub fn counted<N: CountType>(
        buffer: impl Buffer,
        counts: *const N,
        datatype: MPI_Datatype,
    ) -> Side {
        Side::listed(buffer, counts, std::ptr::null::<c_void>(), datatype)
    }

    fn new<N: CountType>(buffer: impl Buffer, blocks: BlockLayout, datatype: MPI_Datatype) -> Side {
        Side { buffer: buffer.address(), blocks, datatype, is_large: N::IS_LARGE }
    }

    fn is_in_place(&self) -> bool {
        // SAFETY: the shim's constant is only compared with the buffer's address.
        self.buffer == unsafe { raw::TUWTREE_IN_PLACE }
    }

    /// The null list, in words.
    fn missing(&self) -> Option<&'static str> {
        match self.blocks {
            BlockLayout::Listed { counts, .. } if counts.is_null() => Some("the counts"),
            BlockLayout::Listed { displacements, .. } if displacements.is_null() => {
                Some("the displacements")
            }
            _ => None,
        }
    }

    /// The count of a block.
    ///
    /// # Safety
    /// A list has a number at this index.
    unsafe fn count(&self, at: usize) -> MPI_Count {
        match self.blocks {
            BlockLayout::One(count) | BlockLayout::Equal(count) => count,
            // SAFETY: the caller's promise.
            BlockLayout::Listed { counts, .. } => unsafe {
                match self.is_large {
                    true => *counts.cast::<MPI_Count>().add(at),
                    false => (*counts.cast::<c_int>().add(at)).into(),
                }
            },
        }
    }

    /// The displacement of a block in elements, which saturates.
    ///
    /// # Safety
    /// A list has a number at this index.
    unsafe fn displacement(&self, at: usize) -> i64 {
        match self.blocks {
            BlockLayout::One(_) => 0,
            BlockLayout::Equal(count) => (at as i64).saturating_mul(count),
            // SAFETY: the caller's promise.
            BlockLayout::Listed { displacements, .. } => unsafe {
                match self.is_large {
                    #[allow(clippy::unnecessary_cast, reason = "an isize in some headers")]
                    true => *displacements.cast::<MPI_Aint>().add(at) as i64,
                    false => (*displacements.cast::<c_int>().add(at)).into(),
                }
            },
        }
    }

    /// Place of the blocks: a kept place if the layout matches, else a new one.
    ///
    /// # Safety
    /// As [`Place::of_user`], and [`Datatype::of_user`]; lists have a number for each of `ranks` ranks.
    unsafe fn place(
        &self,
        ranks: usize,
        handles: Handles,
        kept: Option<&Rc<Place>>,
    ) -> Result<Rc<Place>, PlaceError> {
        let number = if let BlockLayout::One(_) = self.blocks { 1 } else { ranks };
        // SAFETY: the caller's promises.
        unsafe {
            let blocks = (0..number).map(|at| (self.count(at), self.displacement(at)));
            let datatype = Datatype::of_user(self.datatype, handles)?;
            if let Some(kept) = kept
                && kept.move_to_user(self.buffer, blocks.clone(), &datatype)
            {
                return Ok(Rc::clone(kept));
            }
            Place::of_user(self.buffer, blocks, datatype)
        }
    }

    /// Copies both lists; the blocks then point to the copies.
    ///
    /// # Safety
    /// Each list that is not null has a number for each of `ranks` ranks.
    unsafe fn own_lists(&mut self, ranks: usize) -> Vec<Box<dyn Any>> {
        /// # Safety
        /// Copy of a list of this many numbers.
        unsafe fn owned<T: Copy + 'static>(
            list: &mut *const c_void,
            length: usize,
        ) -> Box<dyn Any> {
            // SAFETY: the caller's promise.
            let copy = unsafe { std::slice::from_raw_parts(list.cast::<T>(), length) }.to_vec();
            *list = copy.as_ptr().cast();
            Box::new(copy)
        }
        let BlockLayout::Listed { counts, displacements } = &mut self.blocks else {
            return Vec::new();
        };
        let mut kept = Vec::new();
        // SAFETY: the caller's promise.
        unsafe {
            if !counts.is_null() {
                kept.push(match self.is_large {
                    true => owned::<MPI_Count>(counts, ranks),
                    false => owned::<c_int>(counts, ranks),
                });
            }
            if !displacements.is_null() {
                kept.push(match self.is_large {
                    true => owned::<MPI_Aint>(displacements, ranks),
                    false => owned::<c_int>(displacements, ranks),
                });
            }
        }
        kept
    }

    fn for_shim(&self) -> ShimSide {
        let (count, counts, displacements) = match self.blocks {
            BlockLayout::One(count) | BlockLayout::Equal(count) => {
                (count, std::ptr::null(), std::ptr::null())
            }
            BlockLayout::Listed { counts, displacements } => (0, counts, displacements),
        };
        ShimSide { buffer: self.buffer, count, counts, displacements, datatype: self.datatype }
    }
}

/// A side as `shim.c` takes it.
#[repr(C)]
struct ShimSide {
    buffer: *mut c_void,
    count: MPI_Count,
    counts: *const c_void,
    displacements: *const c_void,
    datatype: MPI_Datatype,
}

unsafe extern "C" {
    fn tuwtree_collective(
        function: c_int,
        form: c_int,
        is_large: c_int,
        given: *const ShimSide,
        result: *const ShimSide,
        operator: MPI_Op,
        root: c_int,
        comm: MPI_Comm,
        request: *mut MPI_Request,
    ) -> c_int;
}

/// Address of a buffer that is read or written.
pub trait Buffer {
    /// The address, as MPI's own functions take both kinds.
    fn address(self) -> *mut c_void;
}

impl Buffer for *const c_void {
    fn address(self) -> *mut c_void {
        self.cast_mut()
    }
}

impl Buffer for *mut c_void {
    fn address(self) -> *mut c_void {
        self
    }
}

/// Copies of lists, alive as long as arguments point to them.
pub(crate) type OwnLists = Vec<Box<dyn Any>>;

/// Meaning of the arguments of an operation with a root.
#[derive(Debug)]
pub struct Parsed<'a> {
    /// The root.
    pub root: Rank,
    /// The own block; `None` at a root whose block stays in place (`MPI_IN_PLACE`).
    pub own: Option<Rc<Place>>,
    /// All blocks, at the root.
    pub all: Option<Rc<Place>>,
    lifetime: PhantomData<&'a mut [u8]>,
}

impl Parsed<'_> {
    /// At a root whose block is apart from all blocks: its size there, and among all.
    fn root_block(&self) -> Option<(u64, u64)> {
        let (own, all) = self.own.as_ref().zip(self.all.as_ref())?;
        Some((own.packed_bytes(), all.block_bytes(self.root)))
    }
}

/// Places of an operation without a root.
#[derive(Clone, Debug)]
pub struct RootlessPlaces {
    /// The own block, vector or messages; `None` if they lie in the result (`MPI_IN_PLACE`).
    pub given: Option<Rc<Place>>,
    /// Blocks or messages of all ranks; in a reduce-scatter the own block of the result.
    pub result: Rc<Place>,
}

/// Meaning of the arguments of a reduce-scatter.
#[derive(Debug)]
pub struct ParsedReduction {
    /// The vector, and the own block of the result.
    pub places: RootlessPlaces,
    /// Block sizes in bytes.
    pub sizes: Vec<u64>,
    /// The elements, and their operator.
    pub combining: (Datatype, Operator),
    /// True if elements lie one after the other and the operator commutes.
    pub may_be_reordered: bool,
}

/// Places of an earlier call, reused where blocks lie likewise.
#[derive(Clone, Copy, Debug, Default)]
pub struct Kept<'k> {
    /// For the own block.
    pub own: Option<&'k Rc<Place>>,
    /// For all blocks.
    pub all: Option<&'k Rc<Place>>,
}

/// An invalid argument.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArgumentError {
    /// The root is no rank.
    #[error("root {root} is outside 0..{ranks} ({ranks} processes)")]
    Root {
        /// The root as the caller gave it; may be negative.
        root: c_int,
        /// The size of the communicator; the root is to be below it.
        ranks: usize,
    },
    /// `MPI_IN_PLACE` at a rank other than the root.
    #[error("MPI_IN_PLACE at rank {rank}, which is not the root {root}")]
    NotInPlace {
        /// The rank that gave it.
        rank: Rank,
        /// The only rank that may give it.
        root: Rank,
    },
    /// No list of counts or displacements.
    #[error("a null pointer for {what}")]
    Null {
        /// The argument that is null, in words.
        what: &'static str,
    },
    /// The rank's own block.
    #[error("the own block: {0}")]
    Own(PlaceError),
    /// The root's blocks.
    #[error("the root's blocks: {0}")]
    All(PlaceError),
    /// Lists of another length, or blocks outside of the items.
    #[error("block {block}: {reason}")]
    Partition {
        /// The first invalid block.
        block: usize,
        /// The fault in words.
        reason: &'static str,
    },
    /// The own block differs from the count that every rank states for it.
    #[error("the own block has {own} bytes, but the counts say {counted}")]
    OwnBlock {
        /// The size of the own block.
        own: u64,
        /// Its size by the counts.
        counted: u64,
    },
    /// The root's own block differs from its count.
    #[error("the root {root} has a block of {own} bytes, but its counts say {counted}")]
    RootBlock {
        /// The root.
        root: Rank,
        /// The size of its own block.
        own: u64,
        /// The size of the block at its place among all.
        counted: u64,
    },
}

impl ArgumentError {
    /// MPI's error class.
    pub fn class(&self) -> c_int {
        let class = match self {
            ArgumentError::Root { .. } => raw::MPI_ERR_ROOT,
            ArgumentError::NotInPlace { .. } => raw::MPI_ERR_BUFFER,
            ArgumentError::Null { .. } | ArgumentError::Partition { .. } => raw::MPI_ERR_ARG,
            ArgumentError::Own(error) | ArgumentError::All(error) => match error {
                PlaceError::NegativeCount { .. } | PlaceError::TooLarge { .. } => {
                    raw::MPI_ERR_COUNT
                }
                PlaceError::Null { .. } | PlaceError::Outside { .. } => raw::MPI_ERR_BUFFER,
                PlaceError::Memory(_) => raw::MPI_ERR_NO_MEM,
                PlaceError::Mpi(error) => return error.class(),
            },
            ArgumentError::RootBlock { .. } | ArgumentError::OwnBlock { .. } => raw::MPI_ERR_COUNT,
        };
        class as c_int
    }
}

impl<'a> Arguments<'a> {
    /// Arguments of `MPI_Gatherv`: one block given, listed blocks in the result.
    ///
    /// # Safety
    /// As the MPI standard demands of the call: where an argument matters, buffers have memory for the elements that
    /// counts, displacements and datatypes describe, for as long as `'a`; lists, a number for each rank; handles come
    /// from MPI.
    pub unsafe fn gatherv(given: Side, result: Side, root: c_int) -> Arguments<'a> {
        Arguments { root, ..Arguments::new(Function::Gatherv, given, result) }
    }

    /// Arguments of `MPI_Scatterv`: listed blocks given, one block in the result.
    ///
    /// # Safety
    /// As [`gatherv`](Self::gatherv).
    pub unsafe fn scatterv(given: Side, result: Side, root: c_int) -> Arguments<'a> {
        Arguments { root, ..Arguments::new(Function::Scatterv, given, result) }
    }

    /// Arguments of `MPI_Allgatherv`: one block given, listed blocks in the result.
    ///
    /// # Safety
    /// As [`gatherv`](Self::gatherv).
    pub unsafe fn allgatherv(given: Side, result: Side) -> Arguments<'a> {
        Arguments::new(Function::Allgatherv, given, result)
    }

    /// Arguments of `MPI_Reduce_scatter`, or with equal blocks of `MPI_Reduce_scatter_block`.
    ///
    /// # Safety
    /// As [`gatherv`](Self::gatherv); the operator lives as long as operations that are set up with it.
    pub unsafe fn reduce_scatter(
        vector: *const c_void,
        result: Side,
        operator: MPI_Op,
    ) -> Arguments<'a> {
        let function = match result.blocks {
            BlockLayout::Listed { .. } => Function::ReduceScatter,
            BlockLayout::One(_) | BlockLayout::Equal(_) => Function::ReduceScatterBlock,
        };
        let given = Side { buffer: vector.cast_mut(), ..result };
        Arguments { operator: Some(operator), ..Arguments::new(function, given, result) }
    }

    /// Arguments of `MPI_Alltoallv`, or with equal blocks of `MPI_Alltoall`.
    ///
    /// # Safety
    /// As [`gatherv`](Self::gatherv).
    pub unsafe fn alltoall(given: Side, result: Side) -> Arguments<'a> {
        let function = match result.blocks {
            BlockLayout::Listed { .. } => Function::Alltoallv,
            BlockLayout::One(_) | BlockLayout::Equal(_) => Function::Alltoall,
        };
        Arguments::new(function, given, result)
    }

    fn new(function: Function, given: Side, result: Side) -> Arguments<'a> {
        let (root, operator, list_length, lifetime) = (NO_ROOT, None, None, PhantomData);
        Arguments { function, given, result, root, operator, list_length, lifetime }
    }

    /// The MPI function.
    pub fn function(&self) -> Function {
        self.function
    }

    /// The operation.
    pub fn operation(&self) -> Operation {
        self.function.operation()
    }

    /// True for functions with an operator.
    pub fn is_reduction(&self) -> bool {
        self.operator.is_some()
    }

    /// The root, if it is a rank below `ranks`.
    pub fn root(&self, ranks: usize) -> Option<Rank> {
        Rank::try_from(self.root).ok().filter(|&root| root < ranks)
    }

    /// The side of the rank's own block, of an operation with a root.
    fn own(&self) -> &Side {
        if self.operation().is_outward() { &self.result } else { &self.given }
    }

    /// The side of all blocks.
    fn all(&self) -> &Side {
        if self.operation().is_outward() { &self.given } else { &self.result }
    }

    /// Reads the arguments of one call at `place`, a rank and the number of ranks. Kept places must let go of the
    /// user's memory when the call has ended, also after an error.
    ///
    /// # Errors
    /// [`ArgumentError`].
    pub fn parse(
        &self,
        place: (Rank, usize),
        handles: Handles,
        kept: Kept<'_>,
    ) -> Result<Parsed<'a>, ArgumentError> {
        let parsed = self.parse_apart(place, handles, kept)?;
        match parsed.root_block() {
            Some((own, counted)) if own != counted => {
                Err(ArgumentError::RootBlock { root: parsed.root, own, counted })
            }
            _ => Ok(parsed),
        }
    }

    /// Like [`parse`](Self::parse), for a call performed once, whose root may have more room for its own block than it
    /// gives; a scatter then cuts the room to the block.
    ///
    /// # Errors
    /// [`ArgumentError`].
    pub fn parse_loosely(&self, place: (Rank, usize)) -> Result<Parsed<'a>, ArgumentError> {
        let mut parsed = self.parse_apart(place, Handles::Lent, Kept::default())?;
        let Some((own, counted)) = parsed.root_block() else { return Ok(parsed) };
        let is_outward = self.operation().is_outward();
        let (given, room) = if is_outward { (counted, own) } else { (own, counted) };
        let refused = ArgumentError::RootBlock { root: parsed.root, own, counted };
        if given > room {
            return Err(refused);
        }
        if is_outward && given < room {
            // SAFETY: the own block is one block, which has no list.
            let count = unsafe { self.own().count(0) };
            // Parts of elements cannot be received.
            let scaled = i128::from(count) * i128::from(given);
            if scaled % i128::from(room) != 0 {
                return Err(refused);
            }
            let count = i64::try_from(scaled / i128::from(room)).expect("no more than before");
            let cut = Side { blocks: BlockLayout::One(count), ..*self.own() };
            // SAFETY: the promise made when the arguments were, for more elements.
            let own = unsafe { cut.place(1, Handles::Lent, None) };
            parsed.own = Some(own.map_err(ArgumentError::Own)?);
        }
        Ok(parsed)
    }

    /// Like [`parse`](Self::parse), with any size of the root's own block.
    fn parse_apart(
        &self,
        (rank, ranks): (Rank, usize),
        handles: Handles,
        kept: Kept<'_>,
    ) -> Result<Parsed<'a>, ArgumentError> {
        let root = self.root(ranks).ok_or(ArgumentError::Root { root: self.root, ranks })?;
        let own = match self.own().is_in_place() {
            true if rank == root => None,
            true => return Err(ArgumentError::NotInPlace { rank, root }),
            false => {
                // SAFETY: the promise made when the arguments were: memory, and a datatype's handle.
                let own = unsafe { self.own().place(1, handles, kept.own) };
                Some(own.map_err(ArgumentError::Own)?)
            }
        };
        let all = match rank == root {
            true => Some(self.listed(self.all(), ranks, handles, kept.all)?),
            false => None,
        };
        Ok(Parsed { root, own, all, lifetime: PhantomData })
    }

    /// Places of an allgather or alltoall. As [`parse`](Self::parse).
    ///
    /// # Errors
    /// [`ArgumentError`].
    pub fn parse_rootless(
        &self,
        ranks: usize,
        handles: Handles,
        kept: Kept<'_>,
    ) -> Result<RootlessPlaces, ArgumentError> {
        let result = self.listed(&self.result, ranks, handles, kept.all)?;
        if self.given.is_in_place() {
            return Ok(RootlessPlaces { given: None, result });
        }
        if let Some(what) = self.given.missing() {
            return Err(ArgumentError::Null { what });
        }
        // SAFETY: the promise made when the arguments were: lists of p numbers, memory, and a datatype's handle.
        let given = unsafe { self.given.place(ranks, handles, kept.own) };
        Ok(RootlessPlaces { given: Some(given.map_err(ArgumentError::Own)?), result })
    }

    /// The place of blocks of all ranks.
    fn listed(
        &self,
        side: &Side,
        ranks: usize,
        handles: Handles,
        kept: Option<&Rc<Place>>,
    ) -> Result<Rc<Place>, ArgumentError> {
        if let Some(what) = side.missing() {
            return Err(ArgumentError::Null { what });
        }
        if let Some(block) = self.list_length.filter(|&length| length != ranks) {
            let reason = "there are lists for another number of processes";
            return Err(ArgumentError::Partition { block, reason });
        }
        if let BlockLayout::Equal(count) = side.blocks
            && (ranks as i64).checked_mul(count).is_none()
        {
            return Err(ArgumentError::Partition {
                block: ranks - 1,
                reason: "it is too far away",
            });
        }
        // SAFETY: the promise made when the arguments were: lists of p numbers, memory, and a datatype's handle.
        unsafe { side.place(ranks, handles, kept) }.map_err(ArgumentError::All)
    }

    /// Reads the arguments of a reduce-scatter at a rank.
    ///
    /// # Errors
    /// [`ArgumentError`].
    pub fn parse_reduction(
        &self,
        (rank, ranks): (Rank, usize),
        handles: Handles,
    ) -> Result<ParsedReduction, ArgumentError> {
        let counts = self.counts(&self.result, ranks)?;
        let too_many = |block| ArgumentError::Partition {
            block,
            reason: "more than 2^63 - 1 elements in all",
        };
        let mut total = 0_i64;
        for (block, &count) in counts.iter().enumerate() {
            total = total.checked_add(count).ok_or_else(|| too_many(block))?;
        }
        let operator = self.operator.expect("a reduce-scatter has an operator");
        let own = |error: MpiError| ArgumentError::Own(error.into());
        let vector = if self.given.is_in_place() { &self.result } else { &self.given };
        let place = |side: &Side, count| {
            // SAFETY: the promise made when the arguments were: memory, and handles.
            let place = unsafe {
                Side { blocks: BlockLayout::One(count), ..*side }.place(1, handles, None)
            };
            place.map_err(ArgumentError::Own)
        };
        let places = RootlessPlaces {
            given: Some(place(vector, total)?),
            result: place(&self.result, counts[rank])?,
        };
        // SAFETY: as above.
        unsafe {
            let elements = Datatype::of_user(self.result.datatype, handles).map_err(own)?;
            let size = elements.size();
            let sizes = counts.iter().map(|&count| count as u64 * size).collect();
            let mut commutes = 0;
            calls::op_commutative(operator, &mut commutes).map_err(own)?;
            let may_be_reordered = commutes != 0 && elements.is_packed() && size > 0;
            let combining = (elements, Operator::of_user(operator));
            Ok(ParsedReduction { places, sizes, combining, may_be_reordered })
        }
    }

    /// Counts of one side for all ranks.
    ///
    /// # Errors
    /// No list; a negative count.
    fn counts(&self, side: &Side, ranks: usize) -> Result<Vec<MPI_Count>, ArgumentError> {
        if side.missing() == Some("the counts") {
            return Err(ArgumentError::Null { what: "the counts" });
        }
        // SAFETY: the promise made when the arguments were: p numbers, where there is a list.
        let counts: Vec<MPI_Count> = (0..ranks).map(|at| unsafe { side.count(at) }).collect();
        match counts.iter().position(|&count| count < 0) {
            Some(block) => Err(ArgumentError::Partition { block, reason: "its count is below 0" }),
            None => Ok(counts),
        }
    }

    /// Block sizes in bytes, where the rank is the one that records the call: the root, without a root the first, in
    /// an alltoall each with its messages. `None` also for arguments that tell no sizes.
    pub fn recorded_blocks(&self, rank: Rank, ranks: usize) -> Option<Vec<u64>> {
        let (recorder, side) = match self.operation() {
            operation if operation.payload_kind() == PayloadKind::Messages => {
                let is_in_place = self.given.is_in_place();
                (Some(rank), if is_in_place { &self.result } else { &self.given })
            }
            operation if operation.is_rooted() => (self.root(ranks), self.all()),
            _ => (Some(0), &self.result),
        };
        if recorder != Some(rank) || side.missing() == Some("the counts") {
            return None;
        }
        let size = self.element_bytes(side)?;
        // SAFETY: the promise made when the arguments were: lists of p numbers.
        let count = |at| u64::try_from(unsafe { side.count(at) }).unwrap_or(0);
        Some((0..ranks).map(|at| count(at).saturating_mul(size)).collect())
    }

    /// The size of a side's elements; `None` for no datatype, or one that MPI does not know.
    fn element_bytes(&self, side: &Side) -> Option<u64> {
        let mut size = 0;
        // SAFETY: a datatype's handle by the promise made when the arguments were; a null one is not looked at.
        unsafe {
            if side.datatype == raw::RSMPI_DATATYPE_NULL {
                return None;
            }
            calls::type_size_x(side.datatype, &mut size).ok()?;
        }
        u64::try_from(size).ok()
    }

    /// Block sizes in bytes, of a call in which every rank has the counts.
    ///
    /// # Safety
    /// Besides the promise made when the arguments were, the counts and their datatype are given at this rank too, root
    /// or not.
    ///
    /// # Errors
    /// No counts, negative ones, or too many bytes; an error of MPI.
    pub unsafe fn all_sizes(&self, ranks: usize) -> Result<BlockSizes, ArgumentError> {
        let side = self.all();
        if side.missing() == Some("the counts") {
            return Err(ArgumentError::Null { what: "the counts" });
        }
        let mut element = 0;
        // SAFETY: a datatype's handle by the caller's promise.
        unsafe { calls::type_size_x(side.datatype, &mut element) }
            .map_err(|error| ArgumentError::All(error.into()))?;
        let partition = |block, reason| ArgumentError::Partition { block, reason };
        let mut sizes = Vec::with_capacity(ranks);
        for block in 0..ranks {
            // SAFETY: a list of p numbers by the caller's promise.
            let count = unsafe { side.count(block) };
            let negative = |_| ArgumentError::All(PlaceError::NegativeCount { block, count });
            let count = u64::try_from(count).map_err(negative)?;
            let bytes = count.checked_mul(u64::try_from(element).unwrap_or(u64::MAX));
            sizes.push(bytes.ok_or_else(|| partition(block, "more than 2^64 - 1 bytes"))?);
        }
        BlockSizes::new(sizes).map_err(|_| partition(ranks - 1, "more than 2^64 - 1 bytes in all"))
    }

    /// True if the MPI library has a call for such arguments: libraries before MPI 4 lack large counts.
    pub fn are_for_library(&self, ranks: usize) -> bool {
        if has_large_counts() || !self.result.is_large {
            return true;
        }
        let is_int = |counts: Vec<i64>| counts.iter().all(|&count| c_int::try_from(count).is_ok());
        // All ranks know the counts of a reduce-scatter, so that all of them find the same.
        self.is_reduction() && self.counts(&self.result, ranks).map_or(true, is_int)
    }

    /// A reduce-scatter with large counts as one with counts in `int`, where the library has no others.
    ///
    /// # Errors
    /// Counts beyond an `int`.
    fn narrowed(&self, ranks: usize) -> Result<(Arguments<'a>, OwnLists), MpiError> {
        let mut narrow = *self;
        let is_narrowed = self.is_reduction() && self.result.is_large && !has_large_counts();
        if !is_narrowed {
            return Ok((narrow, Vec::new()));
        }
        let int = |count: MPI_Count| {
            let too_large = |_| MpiError::new(self.function.name(), raw::MPI_ERR_COUNT as c_int);
            c_int::try_from(count).map_err(too_large)
        };
        let mut kept: OwnLists = Vec::new();
        match self.result.blocks {
            BlockLayout::Listed { counts, .. } if !counts.is_null() => {
                // SAFETY: the promise made when the arguments were: p numbers.
                let counts = (0..ranks).map(|at| int(unsafe { self.result.count(at) }));
                let counts: Vec<c_int> = counts.collect::<Result<_, _>>()?;
                let displacements = std::ptr::null();
                narrow.result.blocks =
                    BlockLayout::Listed { counts: counts.as_ptr().cast(), displacements };
                kept.push(Box::new(counts));
            }
            BlockLayout::Listed { .. } => {}
            BlockLayout::One(count) | BlockLayout::Equal(count) => drop(int(count)?),
        }
        narrow.result.is_large = false;
        Ok((narrow, kept))
    }

    /// Copies the lists that this rank reads, and lets the arguments point to the copies, which the caller keeps.
    ///
    /// # Errors
    /// Counts that the library cannot take.
    pub fn own_lists(&mut self, rank: Rank, ranks: usize) -> Result<OwnLists, MpiError> {
        let (narrow, mut kept) = self.narrowed(ranks)?;
        *self = narrow;
        let is_reader = self.root == NO_ROOT || self.root == rank as c_int;
        let is_other_length = self.list_length.is_some_and(|length| length != ranks);
        if !is_reader || is_other_length || !kept.is_empty() {
            return Ok(kept);
        }
        let is_in_place = self.given.is_in_place();
        // SAFETY: the promise made when the arguments were: p numbers in the lists that matter here.
        unsafe {
            kept.extend(self.result.own_lists(ranks));
            match is_in_place {
                // Nothing of them counts.
                true => self.given.blocks = self.result.blocks,
                false => kept.extend(self.given.own_lists(ranks)),
            }
        }
        Ok(kept)
    }

    /// Calls the MPI library. Errors go to the error handler of `comm`.
    ///
    /// # Safety
    /// MPI is initialized, `comm` comes from MPI, `request` is a place for a request where the form has one, and lists
    /// live as long as this.
    unsafe fn call(
        &self,
        form: Form,
        comm: MPI_Comm,
        request: *mut MPI_Request,
    ) -> Result<(), MpiError> {
        let Arguments { function, given, result, root, .. } = *self;
        // SAFETY: the caller's promise, and the one made when the arguments were.
        let code = unsafe {
            let operator = self.operator.unwrap_or(raw::RSMPI_SUM);
            let is_large = c_int::from(result.is_large);
            tuwtree_collective(
                function as c_int,
                form as c_int,
                is_large,
                &given.for_shim(),
                &result.for_shim(),
                operator,
                root,
                comm,
                request,
            )
        };
        check(function.name(), code)
    }

    /// Performs the MPI library's own call. Errors go to the error handler of `comm`. A library before MPI 4 gets a
    /// reduce-scatter's large counts as `int`, where they fit.
    ///
    /// # Safety
    /// MPI is initialized, and `comm` comes from MPI.
    ///
    /// # Errors
    /// An error of MPI; `MPI_ERR_OTHER` where the library has no such call, `MPI_ERR_COUNT` for counts that it cannot
    /// take.
    pub unsafe fn call_native(&self, comm: MPI_Comm) -> Result<(), MpiError> {
        let ranks = match self.result.is_large && self.is_reduction() {
            // SAFETY: the caller's promise.
            true => unsafe { super::size_of(comm)? },
            false => 0,
        };
        let (narrow, _kept) = self.narrowed(ranks)?;
        // SAFETY: the caller's promise; a blocking call writes no request.
        unsafe { narrow.call(Form::Once, comm, std::ptr::null_mut()) }
    }

    /// Writes a persistent request of the MPI library to `request`.
    ///
    /// # Safety
    /// As [`call_native`](Self::call_native); lists live until the request is freed; `request` is a place for one.
    ///
    /// # Errors
    /// An error of MPI; `MPI_ERR_OTHER` from a library without such requests.
    pub unsafe fn init_native(
        &self,
        comm: MPI_Comm,
        request: *mut MPI_Request,
    ) -> Result<(), MpiError> {
        // SAFETY: the caller's promise.
        unsafe { self.call(Form::Init, comm, request) }
    }

    /// Starts the MPI library's nonblocking operation, and writes its request.
    ///
    /// # Safety
    /// As [`call_native`](Self::call_native); lists live until the operation has ended; `request` is a place for one.
    ///
    /// # Errors
    /// An error of MPI; `MPI_ERR_OTHER` where the library has no such call.
    pub unsafe fn start_native(
        &self,
        comm: MPI_Comm,
        request: *mut MPI_Request,
    ) -> Result<(), MpiError> {
        // SAFETY: the caller's promise.
        unsafe { self.call(Form::Start, comm, request) }
    }
}

fn has_large_counts() -> bool {
    // SAFETY: a number of the shim, fixed when it was compiled for this library.
    unsafe { raw::TUWTREE_HAS_LARGE_COUNTS != 0 }
}

impl Communicator {
    /// Performs the MPI library's own call on this communicator. Collective.
    ///
    /// # Errors
    /// An error of MPI.
    pub fn native(&self, arguments: &Arguments<'_>) -> Result<(), MpiError> {
        // SAFETY: our communicator lives at least as long as this call.
        unsafe { arguments.call_native(self.raw()) }
    }

    /// True if the library has persistent irregular operations.
    pub fn has_persistent() -> bool {
        // SAFETY: a number of the shim, fixed when it was compiled for this library.
        unsafe { raw::TUWTREE_HAS_GATHERV_INIT != 0 }
    }
}
