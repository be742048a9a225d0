//! Symbols of the libraries that are loaded.

use std::ffi::{CStr, c_char, c_void};

unsafe extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// The handle that asks libraries behind the one that asks: -1 in glibc and musl.
const NEXT: *mut c_void = std::ptr::without_provenance_mut(usize::MAX);

/// Whether any library has this symbol.
pub(crate) fn has(name: &CStr) -> bool {
    // SAFETY: the null handle asks all libraries that are loaded; the name ends with a zero.
    !unsafe { dlsym(std::ptr::null_mut(), name.as_ptr()) }.is_null()
}

/// The address of this symbol in the next library behind this one that has it, or null.
pub(crate) fn behind(name: &CStr) -> *mut c_void {
    // SAFETY: a handle that the system knows; the name ends with a zero.
    unsafe { dlsym(NEXT, name.as_ptr()) }
}
