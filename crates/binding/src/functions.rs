//! Table of MPI functions: collective operations whose blocks may differ in size, and their variants with equal blocks.
//!
//! The entry points of the preloaded library and of the library for C, and the words of logs and recordings, are made
//! from these rows.

use std::ffi::c_int;
use tuwtree_model::Operation;

/// Passes all rows to a macro: function, form, width of counts, MPI's names, names in the library for C.
///
/// Forms are `once`, `start` (nonblocking), `init` (persistent) and `knowing` (every rank gives all counts). Counts are
/// C's `int`, or `large`: `MPI_Count`, with displacements in `MPI_Aint`. Open MPI 4 has persistent functions by their
/// `MPIX_` names.
#[macro_export]
#[rustfmt::skip]
macro_rules! mpi_functions {
    ($rows:ident) => { $rows! {
        Gatherv once int [MPI_Gatherv] [tuwtree_gatherv];
        Gatherv once large [MPI_Gatherv_c] [tuwtree_gatherv_c];
        Gatherv start int [MPI_Igatherv] [];
        Gatherv start large [MPI_Igatherv_c] [];
        Gatherv init int [MPI_Gatherv_init MPIX_Gatherv_init] [tuwtree_gatherv_init];
        Gatherv init large [MPI_Gatherv_init_c] [tuwtree_gatherv_init_c];
        Gatherv knowing int [] [tuwtree_gatherv_all_counts];
        Gatherv knowing large [] [tuwtree_gatherv_all_counts_c];
        Scatterv once int [MPI_Scatterv] [tuwtree_scatterv];
        Scatterv once large [MPI_Scatterv_c] [tuwtree_scatterv_c];
        Scatterv start int [MPI_Iscatterv] [];
        Scatterv start large [MPI_Iscatterv_c] [];
        Scatterv init int [MPI_Scatterv_init MPIX_Scatterv_init] [tuwtree_scatterv_init];
        Scatterv init large [MPI_Scatterv_init_c] [tuwtree_scatterv_init_c];
        Scatterv knowing int [] [tuwtree_scatterv_all_counts];
        Scatterv knowing large [] [tuwtree_scatterv_all_counts_c];
        Allgatherv once int [MPI_Allgatherv] [tuwtree_allgatherv];
        Allgatherv once large [MPI_Allgatherv_c] [tuwtree_allgatherv_c];
        Allgatherv init int [MPI_Allgatherv_init MPIX_Allgatherv_init] [tuwtree_allgatherv_init];
        Allgatherv init large [MPI_Allgatherv_init_c] [tuwtree_allgatherv_init_c];
        ReduceScatter once int [MPI_Reduce_scatter] [tuwtree_reduce_scatter];
        ReduceScatter once large [MPI_Reduce_scatter_c] [tuwtree_reduce_scatter_c];
        ReduceScatter init int [MPI_Reduce_scatter_init MPIX_Reduce_scatter_init] [tuwtree_reduce_scatter_init];
        ReduceScatter init large [MPI_Reduce_scatter_init_c] [tuwtree_reduce_scatter_init_c];
        ReduceScatterBlock once int [MPI_Reduce_scatter_block] [tuwtree_reduce_scatter_block];
        ReduceScatterBlock once large [MPI_Reduce_scatter_block_c] [tuwtree_reduce_scatter_block_c];
        ReduceScatterBlock init int [MPI_Reduce_scatter_block_init MPIX_Reduce_scatter_block_init] [tuwtree_reduce_scatter_block_init];
        ReduceScatterBlock init large [MPI_Reduce_scatter_block_init_c] [tuwtree_reduce_scatter_block_init_c];
        Alltoall once int [MPI_Alltoall] [tuwtree_alltoall];
        Alltoall once large [MPI_Alltoall_c] [tuwtree_alltoall_c];
        Alltoall init int [] [tuwtree_alltoall_init];
        Alltoall init large [] [tuwtree_alltoall_init_c];
        Alltoallv once int [MPI_Alltoallv] [tuwtree_alltoallv];
        Alltoallv once large [MPI_Alltoallv_c] [tuwtree_alltoallv_c];
        Alltoallv init int [MPI_Alltoallv_init MPIX_Alltoallv_init] [tuwtree_alltoallv_init];
        Alltoallv init large [MPI_Alltoallv_init_c] [tuwtree_alltoallv_init_c];
    } };
}

/// Passes a function's parameters before the communicator, and the [`Arguments`](crate::Arguments) made of these,
/// to a macro: `mpi_signature!(Gatherv int then (passed on))` expands to `then! { (passed on) (parameters) (arguments) }`.
#[macro_export]
#[rustfmt::skip]
macro_rules! mpi_signature {
    ($function:ident int $($then:tt)*) => { $crate::mpi_signature! { @ $function c_int c_int $($then)* } };
    ($function:ident large $($then:tt)*) => { $crate::mpi_signature! { @ $function MPI_Count MPI_Aint $($then)* } };
    (@ Gatherv $n:ident $d:ident $then:ident $passed:tt) => { $then! { $passed
        (sendbuf: *const c_void, sendcount: $n, sendtype: MPI_Datatype,
         recvbuf: *mut c_void, recvcounts: *const $n, displs: *const $d, recvtype: MPI_Datatype, root: c_int)
        (Arguments::gatherv(Side::one(sendbuf, sendcount, sendtype), Side::listed(recvbuf, recvcounts, displs, recvtype), root))
    } };
    (@ Scatterv $n:ident $d:ident $then:ident $passed:tt) => { $then! { $passed
        (sendbuf: *const c_void, sendcounts: *const $n, displs: *const $d, sendtype: MPI_Datatype,
         recvbuf: *mut c_void, recvcount: $n, recvtype: MPI_Datatype, root: c_int)
        (Arguments::scatterv(Side::listed(sendbuf, sendcounts, displs, sendtype), Side::one(recvbuf, recvcount, recvtype), root))
    } };
    (@ Allgatherv $n:ident $d:ident $then:ident $passed:tt) => { $then! { $passed
        (sendbuf: *const c_void, sendcount: $n, sendtype: MPI_Datatype,
         recvbuf: *mut c_void, recvcounts: *const $n, displs: *const $d, recvtype: MPI_Datatype)
        (Arguments::allgatherv(Side::one(sendbuf, sendcount, sendtype), Side::listed(recvbuf, recvcounts, displs, recvtype)))
    } };
    (@ ReduceScatter $n:ident $d:ident $then:ident $passed:tt) => { $then! { $passed
        (sendbuf: *const c_void, recvbuf: *mut c_void, recvcounts: *const $n, datatype: MPI_Datatype, op: MPI_Op)
        (Arguments::reduce_scatter(sendbuf, Side::counted(recvbuf, recvcounts, datatype), op))
    } };
    (@ ReduceScatterBlock $n:ident $d:ident $then:ident $passed:tt) => { $then! { $passed
        (sendbuf: *const c_void, recvbuf: *mut c_void, recvcount: $n, datatype: MPI_Datatype, op: MPI_Op)
        (Arguments::reduce_scatter(sendbuf, Side::equal(recvbuf, recvcount, datatype), op))
    } };
    (@ Alltoall $n:ident $d:ident $then:ident $passed:tt) => { $then! { $passed
        (sendbuf: *const c_void, sendcount: $n, sendtype: MPI_Datatype,
         recvbuf: *mut c_void, recvcount: $n, recvtype: MPI_Datatype)
        (Arguments::alltoall(Side::equal(sendbuf, sendcount, sendtype), Side::equal(recvbuf, recvcount, recvtype)))
    } };
    (@ Alltoallv $n:ident $d:ident $then:ident $passed:tt) => { $then! { $passed
        (sendbuf: *const c_void, sendcounts: *const $n, sdispls: *const $d, sendtype: MPI_Datatype,
         recvbuf: *mut c_void, recvcounts: *const $n, rdispls: *const $d, recvtype: MPI_Datatype)
        (Arguments::alltoall(Side::listed(sendbuf, sendcounts, sdispls, sendtype), Side::listed(recvbuf, recvcounts, rdispls, recvtype)))
    } };
}

/// An MPI function, in any form and with any width of counts. (The numbers are those of `shim.c`.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Function {
    /// `MPI_Gatherv`.
    Gatherv,
    /// `MPI_Scatterv`.
    Scatterv,
    /// `MPI_Allgatherv`.
    Allgatherv,
    /// `MPI_Reduce_scatter`.
    ReduceScatter,
    /// `MPI_Reduce_scatter_block`.
    ReduceScatterBlock,
    /// `MPI_Alltoall`.
    Alltoall,
    /// `MPI_Alltoallv`.
    Alltoallv,
}

impl Function {
    /// The operation that the function performs.
    pub fn operation(self) -> Operation {
        match self {
            Function::Gatherv => Operation::Gather,
            Function::Scatterv => Operation::Scatter,
            Function::Allgatherv => Operation::Allgather,
            Function::ReduceScatter | Function::ReduceScatterBlock => Operation::ReduceScatter,
            Function::Alltoall | Function::Alltoallv => Operation::Alltoall,
        }
    }

    /// The MPI standard's name of the blocking function.
    pub fn name(self) -> &'static str {
        match self {
            Function::Gatherv => "MPI_Gatherv",
            Function::Scatterv => "MPI_Scatterv",
            Function::Allgatherv => "MPI_Allgatherv",
            Function::ReduceScatter => "MPI_Reduce_scatter",
            Function::ReduceScatterBlock => "MPI_Reduce_scatter_block",
            Function::Alltoall => "MPI_Alltoall",
            Function::Alltoallv => "MPI_Alltoallv",
        }
    }
}

/// The form of a call. (The numbers are those of `shim.c`.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Blocking.
    Once = 0,
    /// Nonblocking.
    Start = 1,
    /// Persistent.
    Init = 2,
}

/// Type of MPI's counts: C's `int`, or `MPI_Count`.
pub trait CountType: Into<i64> {
    /// True for `MPI_Count`.
    const IS_LARGE: bool;
}

impl CountType for c_int {
    const IS_LARGE: bool = false;
}

impl CountType for super::raw::MPI_Count {
    const IS_LARGE: bool = true;
}
