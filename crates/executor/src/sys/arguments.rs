//! The arguments of `MPI_Gatherv`, `MPI_Scatterv` and `MPI_Allgatherv`, as a program gives them.
//!
//! ```text
//!   C's arguments, slices, a ByteLayout      unread: nothing is known of them
//!        |                 \\
//!      parse             call_native, init_native, start_native     the MPI library reads them
//!        |
//!   Parsed: own and all blocks as Places                            the executor has read them
//!
//!   gather:   own = what is sent         all = where the root receives
//!   scatter:  own = what is received     all = what the root sends
//!   allgather: own = what is sent        all = where everybody receives
//! ```

mod made;

pub(super) use made::check_partition;
pub use made::{Partition, PartitionMut};

use super::raw::{self, MPI_Aint, MPI_Count, MPI_Datatype};
use super::{
    Communicator, Datatype, Handles, MpiError, Place, PlaceError, ReduceScatterArguments, calls,
};
use std::ffi::{c_int, c_void};
use std::marker::PhantomData;
use std::rc::Rc;
use tuwtree_model::{BlockSizes, Operation, Rank};

/// The root of an operation that has none.
const NO_ROOT: c_int = -1;

/// The arguments of one call, at one processor. Nothing is known of them yet.
#[derive(Clone, Copy, Debug)]
pub struct Arguments<'a> {
    /// [`Operation::Gather`], [`Operation::Scatter`] or [`Operation::Allgather`].
    pub(super) operation: Operation,
    /// The processor's own block: what it sends in a gather, where it receives in a scatter.
    pub(super) own: (*mut c_void, MPI_Count, MPI_Datatype),
    /// All blocks, which matter at the root only, if there is one.
    pub(super) all: (*mut c_void, Lists, MPI_Datatype),
    pub(super) root: c_int,
    /// How long the lists are, if that is known.
    list_length: Option<usize>,
    lifetime: PhantomData<&'a mut [u8]>,
}

/// Where a program has all blocks or messages that it sends: memory, counts, displacements, datatype.
pub(super) type Source<C, D> = (*const c_void, *const C, *const D, MPI_Datatype);

/// Where it wants all that it receives.
pub(super) type Target<C, D> = (*mut c_void, *const C, *const D, MPI_Datatype);

/// A program's counts and displacements.
#[derive(Clone, Copy, Debug)]
pub(super) enum Lists {
    /// As `MPI_Gatherv` takes them.
    Int(*const c_int, *const c_int),
    /// As `MPI_Gatherv_c` takes them.
    Large(*const MPI_Count, *const MPI_Aint),
}

impl Lists {
    /// Copies of both lists, which are there, to which these then point.
    ///
    /// # Safety
    /// Each has a number for each processor.
    pub(super) unsafe fn own(&mut self, processors: usize) -> Box<dyn std::any::Any> {
        // SAFETY: the caller's promise.
        unsafe {
            match *self {
                Lists::Int(counts, places) => {
                    let counts = std::slice::from_raw_parts(counts, processors).to_vec();
                    let places = std::slice::from_raw_parts(places, processors).to_vec();
                    *self = Lists::Int(counts.as_ptr(), places.as_ptr());
                    Box::new((counts, places))
                }
                Lists::Large(counts, places) => {
                    let counts = std::slice::from_raw_parts(counts, processors).to_vec();
                    let places = std::slice::from_raw_parts(places, processors).to_vec();
                    *self = Lists::Large(counts.as_ptr(), places.as_ptr());
                    Box::new((counts, places))
                }
            }
        }
    }

    /// The list that is not there, in words.
    pub(super) fn missing(self) -> Option<&'static str> {
        let (counts, displacements) = match self {
            Lists::Int(counts, displacements) => (counts.is_null(), displacements.is_null()),
            Lists::Large(counts, displacements) => (counts.is_null(), displacements.is_null()),
        };
        match (counts, displacements) {
            (true, _) => Some("the counts"),
            (_, true) => Some("the displacements"),
            _ => None,
        }
    }
}

/// The counts of all blocks, as the root has given them.
#[derive(Clone, Copy, Debug)]
pub enum RootCounts<'a> {
    /// As `MPI_Gatherv` takes them.
    Int(&'a [c_int]),
    /// As `MPI_Gatherv_c` takes them.
    Large(&'a [MPI_Count]),
}

/// Copies of lists, which live as long as somebody points to them.
pub(crate) type OwnLists = Option<Box<dyn std::any::Any>>;

/// What arguments mean.
#[derive(Debug)]
pub(crate) struct Parsed<'a> {
    pub(crate) root: Rank,
    /// The own block; `None` at a root whose block stays where it is (`MPI_IN_PLACE`).
    pub(crate) own: Option<Rc<Place>>,
    /// All blocks, at the root.
    pub(crate) all: Option<Rc<Place>>,
    lifetime: PhantomData<&'a mut [u8]>,
}

impl Parsed<'_> {
    /// At a root whose block is apart from all, its size there and among all.
    fn root_block(&self) -> Option<(u64, u64)> {
        let (own, all) = self.own.as_ref().zip(self.all.as_ref())?;
        Some((own.packed_bytes(), all.block_bytes(self.root)))
    }
}

/// Places of a call before, which are taken again where blocks lie as they did then.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Kept<'k> {
    /// For the own block.
    pub(crate) own: Option<&'k Rc<Place>>,
    /// For all blocks.
    pub(crate) all: Option<&'k Rc<Place>>,
}

/// What is wrong with an argument, whatever the others' are.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArgumentError {
    /// No processor.
    #[error("root {root} is outside 0..{processors} ({processors} processes)")]
    Root {
        /// The root as the caller gave it; may be negative.
        root: c_int,
        /// The size of the communicator; the root is to be below it.
        processors: usize,
    },
    /// `MPI_IN_PLACE` at another processor than the root.
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
    /// The processor's own block.
    #[error("the own block: {0}")]
    Own(PlaceError),
    /// The root's blocks.
    #[error("the root's blocks: {0}")]
    All(PlaceError),
    /// Lists of another length, or blocks outside of the items.
    #[error("block {block}: {reason}")]
    Partition {
        /// The first block that is not right.
        block: usize,
        /// What is wrong with the lists, in words.
        reason: &'static str,
    },
    /// What a process gives, where every process states all counts.
    #[error("the own block has {own} bytes, but the counts say {counted}")]
    OwnBlock {
        /// The size of what it gives.
        own: u64,
        /// The size of its block by its counts.
        counted: u64,
    },
    /// What the root sends itself, or more than it wants.
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
    /// The class of MPI's errors that this belongs to.
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
    /// Gather, scatter or allgather.
    pub fn operation(&self) -> Operation {
        self.operation
    }

    /// The root, if there is one, of these processors.
    pub fn root(&self, processors: usize) -> Option<Rank> {
        Rank::try_from(self.root).ok().filter(|&root| root < processors)
    }

    /// What the arguments mean at this one of the processors. Places that are kept have to let go of
    /// the user's memory when the call has ended, whatever this returns.
    ///
    /// # Errors
    /// [`ArgumentError`].
    pub(crate) fn parse(
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

    /// The same for a call that is performed once, where the root may have room for more of its own block than it gives:
    /// in a scatter, where that has no room for more then.
    ///
    /// # Errors
    /// [`ArgumentError`].
    pub(crate) fn parse_loosely(&self, place: (Rank, usize)) -> Result<Parsed<'a>, ArgumentError> {
        let mut parsed = self.parse_apart(place, Handles::Lent, Kept::default())?;
        let Some((own, counted)) = parsed.root_block() else { return Ok(parsed) };
        let is_outward = self.operation.is_outward();
        let (given, room) = if is_outward { (counted, own) } else { (own, counted) };
        let refused = ArgumentError::RootBlock { root: parsed.root, own, counted };
        if given > room {
            return Err(refused);
        }
        if is_outward && given < room {
            let (buffer, count, datatype) = self.own;
            // Elements that are not whole are beyond us.
            let scaled = i128::from(count) * i128::from(given);
            let count = i64::try_from(scaled / i128::from(room)).expect("no more than before");
            if scaled % i128::from(room) != 0 {
                return Err(refused);
            }
            // SAFETY: the promise made when the arguments were, for more elements.
            let own = unsafe {
                self::place((buffer, std::iter::once((count, 0)), datatype), Handles::Lent, None)
            };
            parsed.own = Some(own.map_err(ArgumentError::Own)?);
        }
        Ok(parsed)
    }

    /// The same, whatever the root's own block is like.
    fn parse_apart(
        &self,
        (rank, processors): (Rank, usize),
        handles: Handles,
        kept: Kept<'_>,
    ) -> Result<Parsed<'a>, ArgumentError> {
        let root =
            self.root(processors).ok_or(ArgumentError::Root { root: self.root, processors })?;
        let (buffer, count, datatype) = self.own;
        // SAFETY: the shim's constant is only compared with the buffer's address.
        let is_in_place = buffer == unsafe { raw::TUWTREE_IN_PLACE };
        let own = match is_in_place {
            true if rank == root => None,
            true => return Err(ArgumentError::NotInPlace { rank, root }),
            false => {
                // SAFETY: the promise made when the arguments were: memory, and a datatype's handle.
                let own = unsafe {
                    place((buffer, std::iter::once((count, 0)), datatype), handles, kept.own)
                };
                Some(own.map_err(ArgumentError::Own)?)
            }
        };
        let lifetime = PhantomData;
        if rank != root {
            return Ok(Parsed { root, own, all: None, lifetime });
        }
        let all = self.all_blocks(processors, handles, kept.all)?;
        Ok(Parsed { root, own, all: Some(all), lifetime })
    }

    /// What the arguments of an operation without a root mean at this one of the processors: the own block, or none
    /// if it is in its place (`MPI_IN_PLACE`), and all blocks. As [`parse`](Self::parse).
    ///
    /// # Errors
    /// [`ArgumentError`].
    pub(crate) fn parse_rootless(
        &self,
        processors: usize,
        handles: Handles,
        kept: Kept<'_>,
    ) -> Result<(Option<Rc<Place>>, Rc<Place>), ArgumentError> {
        let (buffer, count, datatype) = self.own;
        let all = self.all_blocks(processors, handles, kept.all)?;
        // SAFETY: the shim's constant is only compared with the buffer's address.
        if buffer == unsafe { raw::TUWTREE_IN_PLACE } {
            return Ok((None, all));
        }
        // SAFETY: the promise made when the arguments were: memory, and a datatype's handle.
        let own =
            unsafe { place((buffer, std::iter::once((count, 0)), datatype), handles, kept.own) };
        Ok((Some(own.map_err(ArgumentError::Own)?), all))
    }

    fn all_blocks(
        &self,
        processors: usize,
        handles: Handles,
        kept: Option<&Rc<Place>>,
    ) -> Result<Rc<Place>, ArgumentError> {
        if let Some(what) = self.all.1.missing() {
            return Err(ArgumentError::Null { what });
        }
        if let Some(block) = self.list_length.filter(|&length| length != processors) {
            let reason = "there are lists for another number of processes";
            return Err(ArgumentError::Partition { block, reason });
        }
        // SAFETY: the promise made when the arguments were: lists of p numbers, memory, and a
        // datatype's handle.
        unsafe { listed_place(self.all, processors, handles, kept) }.map_err(ArgumentError::All)
    }

    /// The counts at the root, of so many processors, and the size of what they count.
    ///
    /// # Errors
    /// No list, or no datatype of which MPI knows the size.
    pub fn root_counts(&self, processors: usize) -> Option<(RootCounts<'_>, u64)> {
        let (_, lists, datatype) = self.all;
        let mut size = 0;
        // SAFETY: the promise made when the arguments were: at the root, lists of p numbers, and a datatype's
        // handle; null ones are not looked at.
        unsafe {
            if lists.missing().is_some() || datatype == raw::RSMPI_DATATYPE_NULL {
                return None;
            }
            calls::type_size_x(datatype, &mut size).ok()?;
            let counts = match lists {
                Lists::Int(counts, _) => {
                    RootCounts::Int(std::slice::from_raw_parts(counts, processors))
                }
                Lists::Large(counts, _) => {
                    RootCounts::Large(std::slice::from_raw_parts(counts, processors))
                }
            };
            Some((counts, u64::try_from(size).ok()?))
        }
    }

    /// The sizes of all blocks in bytes, of which each processor has the counts.
    ///
    /// # Safety
    /// Besides what was promised when the arguments were made, the counts and the datatype that they count are given at
    /// this processor, too, whether it is the root or not.
    ///
    /// # Errors
    /// No counts, negative ones, or too many bytes; what MPI returns.
    pub unsafe fn all_sizes(&self, processors: usize) -> Result<BlockSizes, ArgumentError> {
        let (_, lists, datatype) = self.all;
        let is_missing = match lists {
            Lists::Int(counts, _) => counts.is_null(),
            Lists::Large(counts, _) => counts.is_null(),
        };
        if is_missing {
            return Err(ArgumentError::Null { what: "the counts" });
        }
        let mut element = 0;
        // SAFETY: a datatype's handle, and a list of p numbers that is there, by the caller's promise.
        let counts: Vec<MPI_Count> = unsafe {
            calls::type_size_x(datatype, &mut element)
                .map_err(|error| ArgumentError::All(error.into()))?;
            match lists {
                Lists::Int(counts, _) => {
                    let counts = std::slice::from_raw_parts(counts, processors);
                    counts.iter().map(|&count| count.into()).collect()
                }
                Lists::Large(counts, _) => std::slice::from_raw_parts(counts, processors).to_vec(),
            }
        };
        let partition = |block, reason| ArgumentError::Partition { block, reason };
        let mut sizes = Vec::with_capacity(processors);
        for (block, count) in counts.into_iter().enumerate() {
            let negative = |_| ArgumentError::All(PlaceError::NegativeCount { block, count });
            let count = u64::try_from(count).map_err(negative)?;
            let bytes = count.checked_mul(u64::try_from(element).unwrap_or(u64::MAX));
            sizes.push(bytes.ok_or_else(|| partition(block, "more than 2^64 - 1 bytes"))?);
        }
        BlockSizes::new(sizes)
            .map_err(|_| partition(processors - 1, "more than 2^64 - 1 bytes in all"))
    }

    /// Whether the MPI library has a call for such arguments: one of before MPI 4 has none for large counts.
    pub fn are_for_library(&self) -> bool {
        // SAFETY: a number of the shim, fixed when it was compiled for this library.
        matches!(self.all.1, Lists::Int(..)) || unsafe { raw::TUWTREE_HAS_LARGE_COUNTS != 0 }
    }

    /// Copies the lists of the root, or of any process if there is none, and has the arguments point to the copies, which the caller keeps.
    pub(crate) fn own_lists(&mut self, rank: Rank, processors: usize) -> OwnLists {
        let is_list_holder = self.root == NO_ROOT || self.root == rank as c_int;
        let lists = &mut self.all.1;
        let is_other_length = self.list_length.is_some_and(|length| length != processors);
        if !is_list_holder || is_other_length || lists.missing().is_some() {
            return None;
        }
        // SAFETY: the promise made when the arguments were: at the root, p numbers.
        Some(unsafe { lists.own(processors) })
    }
}

impl Arguments<'_> {
    /// Has the arguments hold datatypes of our own where they matter, at this one of the processors: the program
    /// may free its own before the operation has ended. The caller keeps them. Those that MPI does not know
    /// stay as they are.
    pub(crate) fn own_datatypes(&mut self, rank: Rank) -> [Option<Datatype>; 2] {
        let is_root = self.root == rank as c_int;
        // SAFETY: the shim's constant is only compared with the buffer's address.
        let is_in_place = self.own.0 == unsafe { raw::TUWTREE_IN_PLACE };
        let copied = |datatype: &mut MPI_Datatype, matters: bool| {
            // SAFETY: a datatype's handle where it matters: the promise made when the arguments were.
            let copy = matters.then(|| unsafe { Datatype::of_user(*datatype, Handles::Copied) });
            let copy = copy.and_then(Result::ok);
            *datatype = copy.as_ref().map_or(*datatype, Datatype::raw);
            copy
        };
        [copied(&mut self.own.2, !(is_root && is_in_place)), copied(&mut self.all.2, is_root)]
    }

    /// The same arguments, of whatever lifetime.
    ///
    /// # Safety
    /// They are used no longer than the promise holds that was made when they were.
    pub(crate) unsafe fn prolonged<'b>(self) -> Arguments<'b> {
        Arguments { lifetime: PhantomData, ..self }
    }
}

/// Where the user's blocks lie, by lists that are there, of a number for each processor.
///
/// # Safety
/// As [`Place::of_user`], and [`Datatype::of_user`].
pub(super) unsafe fn listed_place(
    (buffer, lists, datatype): (*mut c_void, Lists, MPI_Datatype),
    processors: usize,
    handles: Handles,
    kept: Option<&Rc<Place>>,
) -> Result<Rc<Place>, PlaceError> {
    // SAFETY: the caller's promises.
    unsafe {
        match lists {
            Lists::Int(counts, displacements) => {
                let counts = std::slice::from_raw_parts(counts, processors).iter();
                let displacements = std::slice::from_raw_parts(displacements, processors);
                let widened = |(&count, &at): (&c_int, &c_int)| (count.into(), at.into());
                let blocks = counts.zip(displacements).map(widened);
                place((buffer, blocks, datatype), handles, kept)
            }
            Lists::Large(counts, displacements) => {
                let counts = std::slice::from_raw_parts(counts, processors).iter();
                let displacements = std::slice::from_raw_parts(displacements, processors);
                #[allow(clippy::unnecessary_cast, reason = "an isize in some headers")]
                let blocks = counts.zip(displacements).map(|(&count, &at)| (count, at as i64));
                place((buffer, blocks, datatype), handles, kept)
            }
        }
    }
}

/// Where the user's blocks lie: the place that is kept, if they lie so, or one of their own.
///
/// # Safety
/// As [`Place::of_user`], and [`Datatype::of_user`].
unsafe fn place(
    (buffer, blocks, datatype): (
        *mut c_void,
        impl ExactSizeIterator<Item = (i64, i64)> + Clone,
        MPI_Datatype,
    ),
    handles: Handles,
    kept: Option<&Rc<Place>>,
) -> Result<Rc<Place>, PlaceError> {
    // SAFETY: the caller's promises.
    unsafe {
        let datatype = Datatype::of_user(datatype, handles)?;
        if let Some(kept) = kept
            && kept.move_to_user(buffer, blocks.clone(), &datatype)
        {
            return Ok(Rc::clone(kept));
        }
        Place::of_user(buffer, blocks, datatype)
    }
}

impl Communicator {
    /// Has the MPI library perform the operation on this communicator. Collective.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn native(&self, arguments: &Arguments<'_>) -> Result<(), MpiError> {
        // SAFETY: our communicator lives at least as long as this call.
        unsafe { arguments.call_native(self.raw()) }
    }

    /// The same for a reduce-scatter. Collective.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn native_reduce_scatter(
        &self,
        arguments: &ReduceScatterArguments<'_>,
    ) -> Result<(), MpiError> {
        // SAFETY: our communicator lives at least as long as this call.
        unsafe { arguments.call_native(self.raw()) }
    }

    /// Whether the library has persistent irregular operations.
    pub fn has_persistent() -> bool {
        // SAFETY: a number of the shim, fixed when it was compiled for this library.
        unsafe { raw::TUWTREE_HAS_GATHERV_INIT != 0 }
    }
}
