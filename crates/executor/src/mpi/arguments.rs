//! The arguments of `MPI_Gatherv` and `MPI_Scatterv`, as a program gives them.

use crate::mpi::raw::{self, MPI_Comm, MPI_Datatype, MPI_Request};
use crate::mpi::{Blocks, BlocksError, Communicator, MpiError, check};
use std::ffi::{c_int, c_void};
use std::marker::PhantomData;
use tuwtree_model::{Operation, Rank};

/// The arguments of one call, at one processor. Nothing is known of them yet.
#[derive(Clone, Copy, Debug)]
pub struct Arguments<'a> {
    /// [`Operation::Gather`] or [`Operation::Scatter`].
    operation: Operation,
    /// The processor's own block: what it sends in a gather, where it receives in a scatter.
    own: (*mut c_void, c_int, MPI_Datatype),
    /// All blocks, which matter at the root only.
    all: (*mut c_void, *const c_int, *const c_int, MPI_Datatype),
    root: c_int,
    lifetime: PhantomData<&'a mut [u8]>,
}

/// What arguments mean.
#[derive(Clone, Debug)]
pub struct Parsed<'a> {
    /// The root.
    pub root: Rank,
    /// The own block; `None` at a root whose block stays where it is (`MPI_IN_PLACE`).
    pub own: Option<Blocks<'a>>,
    /// All blocks, at the root.
    pub all: Option<Blocks<'a>>,
}

/// What is wrong with an argument, whatever the others' are.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArgumentError {
    /// No processor.
    #[error("root {root} is outside 0..{processors} ({processors} processors)")]
    Root {
        /// The root given.
        root: c_int,
        /// `p`.
        processors: usize,
    },
    /// `MPI_IN_PLACE` at another processor than the root.
    #[error("MPI_IN_PLACE at processor {rank}, which is not the root {root}")]
    NotInPlace {
        /// The processor.
        rank: Rank,
        /// The root.
        root: Rank,
    },
    /// No list of counts or displacements.
    #[error("a null pointer for {what}")]
    Null {
        /// Which argument.
        what: &'static str,
    },
    /// The processor's own block.
    #[error("the own block: {0}")]
    Own(BlocksError),
    /// The root's blocks.
    #[error("the root's blocks: {0}")]
    All(BlocksError),
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
    /// More than anybody has.
    #[error("the root's blocks are more than 2^63 - 1 bytes together")]
    TooLarge,
}

impl ArgumentError {
    /// The class of MPI's errors that this belongs to.
    pub fn class(&self) -> c_int {
        let class = match self {
            ArgumentError::Root { .. } => raw::MPI_ERR_ROOT,
            ArgumentError::NotInPlace { .. } => raw::MPI_ERR_BUFFER,
            ArgumentError::Null { .. } => raw::MPI_ERR_ARG,
            ArgumentError::Own(error) | ArgumentError::All(error) => match error {
                BlocksError::NegativeCount { .. } | BlocksError::TooFar { .. } => {
                    raw::MPI_ERR_COUNT
                }
                BlocksError::NullBuffer { .. } => raw::MPI_ERR_BUFFER,
                BlocksError::Mpi(error) => return error.class(),
            },
            ArgumentError::RootBlock { .. } | ArgumentError::TooLarge => raw::MPI_ERR_COUNT,
        };
        class as c_int
    }
}

#[allow(unsafe_code)]
impl<'a> Arguments<'a> {
    /// The arguments of `MPI_Gatherv`.
    ///
    /// # Safety
    /// What the MPI standard demands of the call: where an argument matters, buffers have memory for
    /// what counts, displacements and datatypes describe, for as long as `'a`; lists, a number
    /// for each processor; handles are such that MPI has given out.
    pub unsafe fn gatherv(
        (sendbuf, sendcount, sendtype): (*const c_void, c_int, MPI_Datatype),
        (recvbuf, recvcounts, displs, recvtype): (
            *mut c_void,
            *const c_int,
            *const c_int,
            MPI_Datatype,
        ),
        root: c_int,
    ) -> Arguments<'a> {
        Arguments {
            operation: Operation::Gather,
            own: (sendbuf.cast_mut(), sendcount, sendtype),
            all: (recvbuf, recvcounts, displs, recvtype),
            root,
            lifetime: PhantomData,
        }
    }

    /// The arguments of `MPI_Scatterv`.
    ///
    /// # Safety
    /// As [`gatherv`](Self::gatherv).
    pub unsafe fn scatterv(
        (sendbuf, sendcounts, displs, sendtype): (
            *const c_void,
            *const c_int,
            *const c_int,
            MPI_Datatype,
        ),
        (recvbuf, recvcount, recvtype): (*mut c_void, c_int, MPI_Datatype),
        root: c_int,
    ) -> Arguments<'a> {
        Arguments {
            operation: Operation::Scatter,
            own: (recvbuf, recvcount, recvtype),
            all: (sendbuf.cast_mut(), sendcounts, displs, sendtype),
            root,
            lifetime: PhantomData,
        }
    }

    /// Gather or scatter.
    pub fn operation(&self) -> Operation {
        self.operation
    }

    /// The root, if it is one of these processors.
    pub fn root(&self, processors: usize) -> Option<Rank> {
        Rank::try_from(self.root).ok().filter(|&root| root < processors)
    }

    /// What the arguments mean at this one of the processors.
    ///
    /// # Errors
    /// [`ArgumentError`].
    pub fn parse(&self, rank: Rank, processors: usize) -> Result<Parsed<'a>, ArgumentError> {
        let root =
            self.root(processors).ok_or(ArgumentError::Root { root: self.root, processors })?;
        let (buffer, count, datatype) = self.own;
        // SAFETY: reading a constant of the C shim.
        let is_in_place = buffer == unsafe { raw::TUWTREE_IN_PLACE };
        let own = match is_in_place {
            true if rank == root => None,
            true => return Err(ArgumentError::NotInPlace { rank, root }),
            // SAFETY: the promise made when the arguments were.
            false => Some(unsafe { Blocks::new(buffer, &[count], &[0], datatype) })
                .transpose()
                .map_err(ArgumentError::Own)?,
        };
        if rank != root {
            return Ok(Parsed { root, own, all: None });
        }
        let all = self.all_blocks(processors)?;
        let total = all.sizes().try_fold(0_u64, u64::checked_add);
        if total.is_none_or(|total| total > i64::MAX as u64) {
            return Err(ArgumentError::TooLarge);
        }
        let counted = all.bytes(root);
        match own.as_ref().map(|own| own.bytes(0)) {
            Some(own) if own != counted => Err(ArgumentError::RootBlock { root, own, counted }),
            _ => Ok(Parsed { root, own, all: Some(all) }),
        }
    }

    fn all_blocks(&self, processors: usize) -> Result<Blocks<'a>, ArgumentError> {
        let (buffer, counts, displacements, datatype) = self.all;
        for (list, what) in [(counts, "the counts"), (displacements, "the displacements")] {
            if list.is_null() {
                return Err(ArgumentError::Null { what });
            }
        }
        // SAFETY: the promise made when the arguments were: lists of p numbers, and memory.
        unsafe {
            let counts = std::slice::from_raw_parts(counts, processors);
            let displacements = std::slice::from_raw_parts(displacements, processors);
            Blocks::new(buffer, counts, displacements, datatype)
        }
        .map_err(ArgumentError::All)
    }

    /// Has the MPI library do it. Errors go to the error handler of `comm`.
    ///
    /// # Safety
    /// MPI is initialized, and `comm` is a handle that MPI has given out.
    ///
    /// # Errors
    /// What MPI returns.
    pub unsafe fn call_native(&self, comm: MPI_Comm) -> Result<(), MpiError> {
        let (own, count, own_type) = self.own;
        let (all, counts, displacements, all_type) = self.all;
        match self.operation.is_outward() {
            // SAFETY: the promise made when the arguments were, and the caller's.
            false => check("MPI_Gatherv", unsafe {
                raw::PMPI_Gatherv(
                    own,
                    count,
                    own_type,
                    all,
                    counts,
                    displacements,
                    all_type,
                    self.root,
                    comm,
                )
            }),
            // SAFETY: as above.
            true => check("MPI_Scatterv", unsafe {
                raw::PMPI_Scatterv(
                    all,
                    counts,
                    displacements,
                    all_type,
                    own,
                    count,
                    own_type,
                    self.root,
                    comm,
                )
            }),
        }
    }

    /// A persistent request of the MPI library, if it has such; otherwise `None`.
    ///
    /// # Safety
    /// As [`call_native`](Self::call_native).
    ///
    /// # Errors
    /// What MPI returns.
    pub unsafe fn init_native(&self, comm: MPI_Comm) -> Result<Option<MPI_Request>, MpiError> {
        let (own, count, own_type) = self.own;
        let (all, counts, displacements, all_type) = self.all;
        // SAFETY: reading constants of the C shim.
        let mut request = unsafe {
            if raw::TUWTREE_HAS_GATHERV_INIT == 0 {
                return Ok(None);
            }
            raw::RSMPI_REQUEST_NULL
        };
        match self.operation.is_outward() {
            // SAFETY: as in `call_native`.
            false => check("MPI_Gatherv_init", unsafe {
                raw::tuwtree_native_gatherv_init(
                    own,
                    count,
                    own_type,
                    all,
                    counts,
                    displacements,
                    all_type,
                    self.root,
                    comm,
                    &mut request,
                )
            }),
            // SAFETY: as in `call_native`.
            true => check("MPI_Scatterv_init", unsafe {
                raw::tuwtree_native_scatterv_init(
                    all,
                    counts,
                    displacements,
                    all_type,
                    own,
                    count,
                    own_type,
                    self.root,
                    comm,
                    &mut request,
                )
            }),
        }?;
        Ok(Some(request))
    }

    /// Copies the root's lists, and has the arguments point to the copies, which the caller keeps.
    pub(crate) fn own_lists(&mut self, rank: Rank, processors: usize) -> [Vec<c_int>; 2] {
        let (_, counts, displacements, _) = &mut self.all;
        let is_root = self.root == rank as c_int;
        [counts, displacements].map(|list| {
            if !is_root || list.is_null() {
                return Vec::new();
            }
            // SAFETY: the promise made when the arguments were: at the root, p numbers.
            let copy = unsafe { std::slice::from_raw_parts(*list, processors) }.to_vec();
            *list = copy.as_ptr();
            copy
        })
    }

    /// Starts the MPI library's nonblocking operation.
    ///
    /// # Safety
    /// As [`call_native`](Self::call_native); the lists live until the operation has ended.
    ///
    /// # Errors
    /// What MPI returns.
    pub(crate) unsafe fn start_native(&self, comm: MPI_Comm) -> Result<MPI_Request, MpiError> {
        let (own, count, own_type) = self.own;
        let (all, counts, displacements, all_type) = self.all;
        // SAFETY: reading a constant of the C shim.
        let mut request = unsafe { raw::RSMPI_REQUEST_NULL };
        match self.operation.is_outward() {
            // SAFETY: as in `call_native`.
            false => check("MPI_Igatherv", unsafe {
                raw::PMPI_Igatherv(
                    own,
                    count,
                    own_type,
                    all,
                    counts,
                    displacements,
                    all_type,
                    self.root,
                    comm,
                    &mut request,
                )
            }),
            // SAFETY: as in `call_native`.
            true => check("MPI_Iscatterv", unsafe {
                raw::PMPI_Iscatterv(
                    all,
                    counts,
                    displacements,
                    all_type,
                    own,
                    count,
                    own_type,
                    self.root,
                    comm,
                    &mut request,
                )
            }),
        }?;
        Ok(request)
    }
}

#[allow(unsafe_code)]
impl Communicator {
    /// Has the MPI library perform the operation on this communicator. Collective.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn native(&self, arguments: &Arguments<'_>) -> Result<(), MpiError> {
        // SAFETY: a communicator that lives.
        unsafe { arguments.call_native(self.raw()) }
    }
}
