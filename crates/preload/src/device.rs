//! Detection of buffers in device memory, which no process may touch: CUDA's, HIP's or Level Zero's.
//!
//! Whether a buffer is, only its own process can ask, and all have to go the same way without asking each other
//! in each call. So it is decided once for each communicator: where a process of it has the library of a
//! device loaded when the first call comes, all calls are the MPI library's own, unless that process says
//! that it gives MPI no such buffers (`TUWTREE_DEVICE=0`).

use crate::loaded;
use std::ffi::CStr;

/// Symbols found only in libraries of devices.
const SYMBOLS: [&CStr; 4] =
    [c"cuPointerGetAttribute", c"cudaPointerGetAttributes", c"hipPointerGetAttributes", c"zeInit"];

/// Reason for which this process leaves calls to the MPI library: possible buffers in device
/// memory.
pub(crate) fn obstacle() -> Option<&'static str> {
    if std::env::var_os("TUWTREE_DEVICE").is_some_and(|value| value == "0") {
        return None;
    }
    SYMBOLS.iter().find(|name| loaded::has(name)).map(|_| {
        "buffers may be in device memory, since a library of devices is loaded; TUWTREE_DEVICE=0 says that \
         none are"
    })
}
