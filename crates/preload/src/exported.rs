//! MPI's functions as programs find them here: each call goes to ours, or to the MPI library's where this library
//! stands aside (`aside`).
//!
//! What they take are words. All arguments of these functions are integers or addresses, each of which has a
//! register or a place of eight bytes on the stack to itself, of which whoever is called reads as much as is its
//! own. So a word passes on a handle of any MPI library: MPICH's are `int`, those of others addresses.

use crate::loaded::c_name;
use crate::{aside, loaded};
use std::ffi::{CStr, c_int};
use std::sync::atomic::{AtomicPtr, Ordering};

/// Where the calls of a function go, which is found out at the first one.
pub(crate) struct CallTarget(AtomicPtr<()>);

impl CallTarget {
    pub(crate) const fn unknown() -> CallTarget {
        CallTarget(AtomicPtr::new(std::ptr::null_mut()))
    }

    /// The address of `ours`, or of the next function of this name behind it.
    ///
    /// # Panics
    /// If there is no other, which nobody can have called then.
    pub(crate) fn address(&self, name: &CStr, ours: *const ()) -> *const () {
        let known = self.0.load(Ordering::Relaxed);
        if !known.is_null() {
            return known;
        }
        let found = match aside::stands_aside() {
            false => ours.cast_mut(),
            true => loaded::behind(name).cast(),
        };
        assert!(!found.is_null(), "no MPI library has {name:?}");
        self.0.store(found, Ordering::Relaxed);
        found
    }
}

/// A word for each argument.
macro_rules! word {
    ($argument:ident) => {
        usize
    };
}

macro_rules! exported {
    ($($ours:path: $name:ident($($argument:ident)*);)*) => { $(
        #[doc = concat!("`", stringify!($name), "`.")]
        ///
        /// # Safety
        /// What the MPI standard demands.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: usize),*) -> c_int {
            static TARGET: CallTarget = CallTarget::unknown();
            let address = TARGET.address(c_name!($name), $ours as *const ());
            // SAFETY: a function of this name, so that it takes so many words, and what is in them is what the
            // caller passes to it.
            unsafe {
                let function: unsafe extern "C" fn($(word!($argument)),*) -> c_int =
                    std::mem::transmute(address);
                function($($argument),*)
            }
        }
    )* };
}

#[cfg(has_large_counts)]
const _: () = assert!(
    size_of::<tuwtree_executor::sys::raw::MPI_Count>() <= size_of::<usize>(),
    "large counts do not fit into words"
);

#[rustfmt::skip] // one line a call
mod table {
    use super::*;

    exported! {
        crate::MPI_Init: MPI_Init(a b);
        crate::MPI_Init_thread: MPI_Init_thread(a b c d);
        crate::MPI_Gatherv: MPI_Gatherv(a b c d e f g h i);
        crate::MPI_Scatterv: MPI_Scatterv(a b c d e f g h i);
        crate::MPI_Allgatherv: MPI_Allgatherv(a b c d e f g h);
        crate::MPI_Igatherv: MPI_Igatherv(a b c d e f g h i j);
        crate::MPI_Iscatterv: MPI_Iscatterv(a b c d e f g h i j);
        crate::MPI_Gatherv_init: MPI_Gatherv_init(a b c d e f g h i j k);
        crate::MPI_Scatterv_init: MPI_Scatterv_init(a b c d e f g h i j k);
        crate::MPI_Allgatherv_init: MPI_Allgatherv_init(a b c d e f g h i j);
        crate::MPIX_Gatherv_init: MPIX_Gatherv_init(a b c d e f g h i j k);
        crate::MPIX_Scatterv_init: MPIX_Scatterv_init(a b c d e f g h i j k);
        crate::MPIX_Allgatherv_init: MPIX_Allgatherv_init(a b c d e f g h i j);
        crate::MPI_Finalize: MPI_Finalize();
        crate::persistent::MPI_Start: MPI_Start(a);
        crate::persistent::MPI_Startall: MPI_Startall(a b);
        crate::persistent::MPI_Wait: MPI_Wait(a b);
        crate::persistent::MPI_Waitall: MPI_Waitall(a b c);
        crate::persistent::MPI_Waitany: MPI_Waitany(a b c d);
        crate::persistent::MPI_Waitsome: MPI_Waitsome(a b c d e);
        crate::persistent::MPI_Test: MPI_Test(a b c);
        crate::persistent::MPI_Testall: MPI_Testall(a b c d);
        crate::persistent::MPI_Testany: MPI_Testany(a b c d e);
        crate::persistent::MPI_Testsome: MPI_Testsome(a b c d e);
        crate::persistent::MPI_Request_get_status: MPI_Request_get_status(a b c);
        crate::persistent::MPI_Request_free: MPI_Request_free(a);
        crate::reduce_scatter::MPI_Reduce_scatter: MPI_Reduce_scatter(a b c d e f);
        crate::reduce_scatter::MPI_Reduce_scatter_block: MPI_Reduce_scatter_block(a b c d e f);
        crate::reduce_scatter::MPI_Reduce_scatter_init: MPI_Reduce_scatter_init(a b c d e f g h);
        crate::reduce_scatter::MPIX_Reduce_scatter_init: MPIX_Reduce_scatter_init(a b c d e f g h);
        crate::reduce_scatter::MPI_Reduce_scatter_block_init: MPI_Reduce_scatter_block_init(a b c d e f g h);
        crate::reduce_scatter::MPIX_Reduce_scatter_block_init: MPIX_Reduce_scatter_block_init(a b c d e f g h);
        crate::alltoall::MPI_Alltoallv: MPI_Alltoallv(a b c d e f g h i);
        crate::alltoall::MPI_Alltoall: MPI_Alltoall(a b c d e f g);
        crate::alltoall::MPI_Alltoallv_init: MPI_Alltoallv_init(a b c d e f g h i j k);
        crate::alltoall::MPIX_Alltoallv_init: MPIX_Alltoallv_init(a b c d e f g h i j k);
    }

    #[cfg(has_large_counts)]
    exported! {
        crate::reduce_scatter::MPI_Reduce_scatter_c: MPI_Reduce_scatter_c(a b c d e f);
        crate::reduce_scatter::MPI_Reduce_scatter_block_c: MPI_Reduce_scatter_block_c(a b c d e f);
        crate::reduce_scatter::MPI_Reduce_scatter_init_c: MPI_Reduce_scatter_init_c(a b c d e f g h);
        crate::reduce_scatter::MPI_Reduce_scatter_block_init_c: MPI_Reduce_scatter_block_init_c(a b c d e f g h);
        crate::alltoall::MPI_Alltoallv_c: MPI_Alltoallv_c(a b c d e f g h i);
        crate::large::MPI_Gatherv_c: MPI_Gatherv_c(a b c d e f g h i);
        crate::large::MPI_Igatherv_c: MPI_Igatherv_c(a b c d e f g h i j);
        crate::large::MPI_Gatherv_init_c: MPI_Gatherv_init_c(a b c d e f g h i j k);
        crate::large::MPI_Scatterv_c: MPI_Scatterv_c(a b c d e f g h i);
        crate::large::MPI_Iscatterv_c: MPI_Iscatterv_c(a b c d e f g h i j);
        crate::large::MPI_Scatterv_init_c: MPI_Scatterv_init_c(a b c d e f g h i j k);
        crate::large::MPI_Allgatherv_c: MPI_Allgatherv_c(a b c d e f g h);
        crate::large::MPI_Allgatherv_init_c: MPI_Allgatherv_init_c(a b c d e f g h i j);
        crate::alltoall::MPI_Alltoall_c: MPI_Alltoall_c(a b c d e f g);
        crate::alltoall::MPI_Alltoallv_init_c: MPI_Alltoallv_init_c(a b c d e f g h i j k);
    }
}

pub use table::*;
