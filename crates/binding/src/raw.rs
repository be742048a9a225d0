//! The C interface itself: rsmpi's bindings, and what its shim lacks.

pub use mpi::ffi::*;

unsafe extern "C" {
    /// `MPI_BYTE`.
    pub static TUWTREE_BYTE: MPI_Datatype;
    /// `MPI_IN_PLACE`.
    pub static TUWTREE_IN_PLACE: *mut std::ffi::c_void;
    /// Combiner of a named (predefined) datatype.
    pub static TUWTREE_COMBINER_NAMED: std::ffi::c_int;
    /// Combiner of a duplicate.
    pub static TUWTREE_COMBINER_DUP: std::ffi::c_int;
    /// Combiner of a contiguous sequence.
    pub static TUWTREE_COMBINER_CONTIGUOUS: std::ffi::c_int;
    /// 1 if the library has persistent gatherv and scatterv, else 0.
    pub static TUWTREE_HAS_GATHERV_INIT: std::ffi::c_int;
    /// 1 if the library has calls with large counts, else 0.
    pub static TUWTREE_HAS_LARGE_COUNTS: std::ffi::c_int;
}
