//! Fortran names of MPI's functions, for libraries whose Fortran interface calls C's `PMPI_` names: a preloaded C
//! function would miss calls from Fortran there, and a collective call of C and Fortran ranks would never complete.
//! Open MPI calls `PMPI_` in all functions; MPICH does so from `mpi_f08` in functions without buffers, and otherwise
//! calls C's `MPI_` names.
//!
//! Compilers add no underscore to a name, or one, or two, or use capitals; `mpi_f08` has names of its own.
//! What a call does is in `shim/fortran.c`: all arguments are addresses.

use crate::exported::CallTarget;
use crate::loaded::c_name;
use std::ffi::{CStr, c_void};

macro_rules! fortran {
    ($($shim:ident($($argument:ident)*) = $($name:ident)*;)*) => {
        unsafe extern "C" {
            $(fn $shim($($argument: *mut c_void),*);)*
        }
        $(fortran!(@names $shim($($argument)*) = $($name)*);)*
    };
    (@address $argument:ident) => {
        *mut c_void
    };
    (@names $shim:ident $arguments:tt = $($name:ident)*) => {
        $(fortran!(@name $shim $arguments = $name);)*
    };
    (@name $shim:ident($($argument:ident)*) = $name:ident) => {
        #[doc = concat!("`", stringify!($name), "`, as Fortran calls it.")]
        ///
        /// # Safety
        /// Safety: as the MPI standard demands; arguments are Fortran's, by address.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: *mut c_void),*) {
            static TARGET: CallTarget = CallTarget::unknown();
            let name = c_name!($name);
            let address = TARGET.address(name, $shim as *const ());
            // SAFETY: the shim, or the MPI library's function of this name: each demands the same addresses in the
            // same order.
            unsafe {
                let function: unsafe extern "C" fn($(fortran!(@address $argument)),*) =
                    std::mem::transmute(address);
                function($($argument),*)
            }
        }
    };
}

#[cfg(fortran_calls_pmpi)]
#[rustfmt::skip] // one line a call
mod table {
    use super::*;

    fortran! {
        tuwtree_fortran_gatherv(a b c d e f g h i j) = mpi_gatherv mpi_gatherv_ mpi_gatherv__ MPI_GATHERV mpi_gatherv_f08_;
        tuwtree_fortran_scatterv(a b c d e f g h i j) = mpi_scatterv mpi_scatterv_ mpi_scatterv__ MPI_SCATTERV mpi_scatterv_f08_;
        tuwtree_fortran_allgatherv(a b c d e f g h i) = mpi_allgatherv mpi_allgatherv_ mpi_allgatherv__ MPI_ALLGATHERV mpi_allgatherv_f08_;
        tuwtree_fortran_alltoall(a b c d e f g h) = mpi_alltoall mpi_alltoall_ mpi_alltoall__ MPI_ALLTOALL mpi_alltoall_f08_;
        tuwtree_fortran_alltoallv(a b c d e f g h i j) = mpi_alltoallv mpi_alltoallv_ mpi_alltoallv__ MPI_ALLTOALLV mpi_alltoallv_f08_;
        tuwtree_fortran_alltoallv_init(a b c d e f g h i j k l) = mpi_alltoallv_init mpi_alltoallv_init_ mpi_alltoallv_init__ MPI_ALLTOALLV_INIT mpi_alltoallv_init_f08_ mpix_alltoallv_init mpix_alltoallv_init_ mpix_alltoallv_init__ MPIX_ALLTOALLV_INIT mpix_alltoallv_init_f08_;
        tuwtree_fortran_reduce_scatter(a b c d e f g) = mpi_reduce_scatter mpi_reduce_scatter_ mpi_reduce_scatter__ MPI_REDUCE_SCATTER mpi_reduce_scatter_f08_;
        tuwtree_fortran_reduce_scatter_block(a b c d e f g) = mpi_reduce_scatter_block mpi_reduce_scatter_block_ mpi_reduce_scatter_block__ MPI_REDUCE_SCATTER_BLOCK mpi_reduce_scatter_block_f08_;
        tuwtree_fortran_reduce_scatter_init(a b c d e f g h i) = mpi_reduce_scatter_init mpi_reduce_scatter_init_ mpi_reduce_scatter_init__ MPI_REDUCE_SCATTER_INIT mpi_reduce_scatter_init_f08_ mpix_reduce_scatter_init mpix_reduce_scatter_init_ mpix_reduce_scatter_init__ MPIX_REDUCE_SCATTER_INIT mpix_reduce_scatter_init_f08_;
        tuwtree_fortran_reduce_scatter_block_init(a b c d e f g h i) = mpi_reduce_scatter_block_init mpi_reduce_scatter_block_init_ mpi_reduce_scatter_block_init__ MPI_REDUCE_SCATTER_BLOCK_INIT mpi_reduce_scatter_block_init_f08_ mpix_reduce_scatter_block_init mpix_reduce_scatter_block_init_ mpix_reduce_scatter_block_init__ MPIX_REDUCE_SCATTER_BLOCK_INIT mpix_reduce_scatter_block_init_f08_;
        tuwtree_fortran_igatherv(a b c d e f g h i j k) = mpi_igatherv mpi_igatherv_ mpi_igatherv__ MPI_IGATHERV mpi_igatherv_f08_;
        tuwtree_fortran_iscatterv(a b c d e f g h i j k) = mpi_iscatterv mpi_iscatterv_ mpi_iscatterv__ MPI_ISCATTERV mpi_iscatterv_f08_;
        tuwtree_fortran_gatherv_init(a b c d e f g h i j k l) = mpi_gatherv_init mpi_gatherv_init_ mpi_gatherv_init__ MPI_GATHERV_INIT mpi_gatherv_init_f08_ mpix_gatherv_init mpix_gatherv_init_ mpix_gatherv_init__ MPIX_GATHERV_INIT mpix_gatherv_init_f08_;
        tuwtree_fortran_scatterv_init(a b c d e f g h i j k l) = mpi_scatterv_init mpi_scatterv_init_ mpi_scatterv_init__ MPI_SCATTERV_INIT mpi_scatterv_init_f08_ mpix_scatterv_init mpix_scatterv_init_ mpix_scatterv_init__ MPIX_SCATTERV_INIT mpix_scatterv_init_f08_;
        tuwtree_fortran_allgatherv_init(a b c d e f g h i j k) = mpi_allgatherv_init mpi_allgatherv_init_ mpi_allgatherv_init__ MPI_ALLGATHERV_INIT mpi_allgatherv_init_f08_ mpix_allgatherv_init mpix_allgatherv_init_ mpix_allgatherv_init__ MPIX_ALLGATHERV_INIT mpix_allgatherv_init_f08_;
        tuwtree_fortran_start(a b) = mpi_start mpi_start_ mpi_start__ MPI_START mpi_start_f08_;
        tuwtree_fortran_startall(a b c) = mpi_startall mpi_startall_ mpi_startall__ MPI_STARTALL mpi_startall_f08_;
        tuwtree_fortran_wait(a b c) = mpi_wait mpi_wait_ mpi_wait__ MPI_WAIT mpi_wait_f08_;
        tuwtree_fortran_waitall(a b c d) = mpi_waitall mpi_waitall_ mpi_waitall__ MPI_WAITALL mpi_waitall_f08_;
        tuwtree_fortran_waitany(a b c d e) = mpi_waitany mpi_waitany_ mpi_waitany__ MPI_WAITANY mpi_waitany_f08_;
        tuwtree_fortran_waitsome(a b c d e f) = mpi_waitsome mpi_waitsome_ mpi_waitsome__ MPI_WAITSOME mpi_waitsome_f08_;
        tuwtree_fortran_test(a b c d) = mpi_test mpi_test_ mpi_test__ MPI_TEST mpi_test_f08_;
        tuwtree_fortran_testall(a b c d e) = mpi_testall mpi_testall_ mpi_testall__ MPI_TESTALL mpi_testall_f08_;
        tuwtree_fortran_testany(a b c d e f) = mpi_testany mpi_testany_ mpi_testany__ MPI_TESTANY mpi_testany_f08_;
        tuwtree_fortran_testsome(a b c d e f) = mpi_testsome mpi_testsome_ mpi_testsome__ MPI_TESTSOME mpi_testsome_f08_;
        tuwtree_fortran_request_get_status(a b c d) = mpi_request_get_status mpi_request_get_status_ mpi_request_get_status__ MPI_REQUEST_GET_STATUS mpi_request_get_status_f08_;
        tuwtree_fortran_request_free(a b) = mpi_request_free mpi_request_free_ mpi_request_free__ MPI_REQUEST_FREE mpi_request_free_f08_;
        tuwtree_fortran_finalize(a) = mpi_finalize mpi_finalize_ mpi_finalize__ MPI_FINALIZE mpi_finalize_f08_;
    }
}

#[cfg(not(fortran_calls_pmpi))]
#[rustfmt::skip] // one line a call
mod table {
    use super::*;

    fortran! {
        tuwtree_fortran_start(a b) = mpi_start_f08_;
        tuwtree_fortran_startall(a b c) = mpi_startall_f08_;
        tuwtree_fortran_wait(a b c) = mpi_wait_f08_;
        tuwtree_fortran_waitall(a b c d) = mpi_waitall_f08_;
        tuwtree_fortran_waitany(a b c d e) = mpi_waitany_f08_;
        tuwtree_fortran_waitsome(a b c d e f) = mpi_waitsome_f08_;
        tuwtree_fortran_test(a b c d) = mpi_test_f08_;
        tuwtree_fortran_testall(a b c d e) = mpi_testall_f08_;
        tuwtree_fortran_testany(a b c d e f) = mpi_testany_f08_;
        tuwtree_fortran_testsome(a b c d e f) = mpi_testsome_f08_;
        tuwtree_fortran_request_get_status(a b c d) = mpi_request_get_status_f08_;
        tuwtree_fortran_request_free(a b) = mpi_request_free_f08_;
        tuwtree_fortran_finalize(a) = mpi_finalize_f08_;
    }
}

pub use table::*;
