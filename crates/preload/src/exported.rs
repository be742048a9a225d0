//! MPI's functions as programs find them here: each call goes to ours, or to the MPI library's where this library
//! stands aside (`aside`).
//!
//! Arguments are words. All arguments of these functions are integers or addresses, each in its own register or eight
//! bytes of the stack, of which the called function reads as much as it needs. A word therefore passes on a handle of
//! any MPI library: MPICH's are `int`, others are addresses.

use crate::loaded::c_name;
use crate::{aside, loaded};
use std::ffi::{CStr, c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};
#[cfg(has_large_counts)]
use tuwtree_binding::raw::{MPI_Aint, MPI_Count};
use tuwtree_binding::raw::{MPI_Comm, MPI_Datatype, MPI_Info, MPI_Op, MPI_Request, MPI_SUCCESS};
use tuwtree_binding::{Arguments, Side};
use tuwtree_binding::{mpi_functions, mpi_signature};

/// Destination of a function's calls, found at the first one.
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
    ($($name:ident($($argument:ident)*) = $ours:expr;)*) => { $(
        #[doc = concat!("`", stringify!($name), "`.")]
        ///
        /// # Safety
        /// Safety: as the MPI standard demands.
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

/// A collective function of the table: its name for programs, and our function with its parameters.
macro_rules! collective {
    (($name:ident once $said:ident) ($($argument:ident: $type:ty),*) ($arguments:expr)) => {
        collective! { @ $name $said perform ($($argument: $type),*) ($arguments) (comm) (comm: MPI_Comm) }
    };
    (($name:ident start $said:ident) ($($argument:ident: $type:ty),*) ($arguments:expr)) => {
        collective! { @ $name $said start ($($argument: $type),*) ($arguments) ((comm, request))
            (comm: MPI_Comm, request: *mut MPI_Request) }
    };
    (($name:ident init $said:ident) ($($argument:ident: $type:ty),*) ($arguments:expr)) => {
        collective! { @ $name $said set_up ($($argument: $type),*) ($arguments) ((comm, request))
            (comm: MPI_Comm, _info: MPI_Info, request: *mut MPI_Request) }
    };
    (@ $name:ident $said:ident $work:ident ($($argument:ident: $type:ty),*) ($arguments:expr) ($target:expr)
        ($($further:ident: $further_type:ty),*)) => {
        exported! { $name($($argument)* $($further)*) = {
            unsafe extern "C" fn ours($($argument: $type,)* $($further: $further_type),*) -> c_int {
                // SAFETY: buffers and lists are as the program has to give them to this function.
                unsafe { crate::$work(stringify!($said), &$arguments, $target) }
            }
            ours
        }; }
    };
}

/// The rows of the table that programs call by MPI's names; logs and recordings have the first name of a row.
macro_rules! rows {
    ($($function:ident $form:ident $width:ident [$($name:ident)*] [$($c_name:ident)*];)*) => {
        $(rows! { $width $function $form [$($name)*] })*
    };
    ($width:ident $function:ident $form:ident []) => {};
    (int $function:ident $form:ident [$name:ident $($alias:ident)?]) => {
        mpi_signature! { $function int collective ($name $form $name) }
        $(mpi_signature! { $function int collective ($alias $form $name) })?
    };
    (large $function:ident $form:ident [$name:ident]) => {
        #[cfg(has_large_counts)]
        mpi_signature! { $function large collective ($name $form $name) }
    };
}

mpi_functions! { rows }

/// Writes calls that were recorded, before MPI ends: for the component of Open MPI, which opens this library in place of
/// preloading it.
///
/// # Safety
/// MPI has been initialized, and not finalized.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn MPIX_Tuwtree_finish() -> c_int {
    crate::record::write();
    MPI_SUCCESS as c_int
}

#[cfg(has_large_counts)]
const _: () =
    assert!(size_of::<MPI_Count>() <= size_of::<usize>(), "large counts do not fit into words");

#[rustfmt::skip] // one line a call
mod table {
    use super::*;

    exported! {
        MPI_Init(a b) = crate::MPI_Init;
        MPI_Init_thread(a b c d) = crate::MPI_Init_thread;
        MPI_Finalize() = crate::MPI_Finalize;
        MPI_Start(a) = crate::persistent::MPI_Start;
        MPI_Startall(a b) = crate::persistent::MPI_Startall;
        MPI_Wait(a b) = crate::persistent::MPI_Wait;
        MPI_Waitall(a b c) = crate::persistent::MPI_Waitall;
        MPI_Waitany(a b c d) = crate::persistent::MPI_Waitany;
        MPI_Waitsome(a b c d e) = crate::persistent::MPI_Waitsome;
        MPI_Test(a b c) = crate::persistent::MPI_Test;
        MPI_Testall(a b c d) = crate::persistent::MPI_Testall;
        MPI_Testany(a b c d e) = crate::persistent::MPI_Testany;
        MPI_Testsome(a b c d e) = crate::persistent::MPI_Testsome;
        MPI_Request_get_status(a b c) = crate::persistent::MPI_Request_get_status;
        MPI_Request_free(a) = crate::persistent::MPI_Request_free;
    }
}

pub use table::*;
