//! The calls with large counts: `MPI_Count` and `MPI_Aint` in place of `int`, for libraries that have them.

use crate::{nonblocking, perform, set_up};
use std::ffi::{c_int, c_void};
use tuwtree_executor::sys::Arguments;
use tuwtree_executor::sys::raw::{
    MPI_Aint, MPI_Comm, MPI_Count, MPI_Datatype, MPI_Info, MPI_Request,
};

/// `MPI_Gatherv_c`.
///
/// # Safety
/// What the MPI standard demands.
pub unsafe extern "C" fn MPI_Gatherv_c(
    sendbuf: *const c_void,
    sendcount: MPI_Count,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: *const MPI_Count,
    displs: *const MPI_Aint,
    recvtype: MPI_Datatype,
    root: c_int,
    comm: MPI_Comm,
) -> c_int {
    let (own, all) = ((sendbuf, sendcount, sendtype), (recvbuf, recvcounts, displs, recvtype));
    // SAFETY: what the program gives to `MPI_Gatherv_c` it keeps until this returns.
    unsafe { perform("MPI_Gatherv_c", &Arguments::gatherv_c(own, all, root), comm) }
}

/// `MPI_Igatherv_c`.
///
/// # Safety
/// What the MPI standard demands.
pub unsafe extern "C" fn MPI_Igatherv_c(
    sendbuf: *const c_void,
    sendcount: MPI_Count,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: *const MPI_Count,
    displs: *const MPI_Aint,
    recvtype: MPI_Datatype,
    root: c_int,
    comm: MPI_Comm,
    request: *mut MPI_Request,
) -> c_int {
    let (own, all) = ((sendbuf, sendcount, sendtype), (recvbuf, recvcounts, displs, recvtype));
    // SAFETY: what the program gives to `MPI_Igatherv_c` it keeps until the request has ended.
    unsafe {
        nonblocking::start("MPI_Igatherv_c", &Arguments::gatherv_c(own, all, root), (comm, request))
    }
}

/// `MPI_Gatherv_init_c`.
///
/// # Safety
/// What the MPI standard demands.
pub unsafe extern "C" fn MPI_Gatherv_init_c(
    sendbuf: *const c_void,
    sendcount: MPI_Count,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: *const MPI_Count,
    displs: *const MPI_Aint,
    recvtype: MPI_Datatype,
    root: c_int,
    comm: MPI_Comm,
    _info: MPI_Info,
    request: *mut MPI_Request,
) -> c_int {
    let (own, all) = ((sendbuf, sendcount, sendtype), (recvbuf, recvcounts, displs, recvtype));
    // SAFETY: what the program gives to `MPI_Gatherv_init_c` it keeps until it frees the request.
    unsafe { set_up("MPI_Gatherv_init_c", &Arguments::gatherv_c(own, all, root), (comm, request)) }
}

/// `MPI_Scatterv_c`.
///
/// # Safety
/// What the MPI standard demands.
pub unsafe extern "C" fn MPI_Scatterv_c(
    sendbuf: *const c_void,
    sendcounts: *const MPI_Count,
    displs: *const MPI_Aint,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: MPI_Count,
    recvtype: MPI_Datatype,
    root: c_int,
    comm: MPI_Comm,
) -> c_int {
    let (all, own) = ((sendbuf, sendcounts, displs, sendtype), (recvbuf, recvcount, recvtype));
    // SAFETY: what the program gives to `MPI_Scatterv_c` it keeps until this returns.
    unsafe { perform("MPI_Scatterv_c", &Arguments::scatterv_c(all, own, root), comm) }
}

/// `MPI_Iscatterv_c`.
///
/// # Safety
/// What the MPI standard demands.
pub unsafe extern "C" fn MPI_Iscatterv_c(
    sendbuf: *const c_void,
    sendcounts: *const MPI_Count,
    displs: *const MPI_Aint,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: MPI_Count,
    recvtype: MPI_Datatype,
    root: c_int,
    comm: MPI_Comm,
    request: *mut MPI_Request,
) -> c_int {
    let (all, own) = ((sendbuf, sendcounts, displs, sendtype), (recvbuf, recvcount, recvtype));
    // SAFETY: what the program gives to `MPI_Iscatterv_c` it keeps until the request has ended.
    unsafe {
        nonblocking::start(
            "MPI_Iscatterv_c",
            &Arguments::scatterv_c(all, own, root),
            (comm, request),
        )
    }
}

/// `MPI_Scatterv_init_c`.
///
/// # Safety
/// What the MPI standard demands.
pub unsafe extern "C" fn MPI_Scatterv_init_c(
    sendbuf: *const c_void,
    sendcounts: *const MPI_Count,
    displs: *const MPI_Aint,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcount: MPI_Count,
    recvtype: MPI_Datatype,
    root: c_int,
    comm: MPI_Comm,
    _info: MPI_Info,
    request: *mut MPI_Request,
) -> c_int {
    let (all, own) = ((sendbuf, sendcounts, displs, sendtype), (recvbuf, recvcount, recvtype));
    // SAFETY: what the program gives to `MPI_Scatterv_init_c` it keeps until it frees the request.
    unsafe {
        set_up("MPI_Scatterv_init_c", &Arguments::scatterv_c(all, own, root), (comm, request))
    }
}

/// `MPI_Allgatherv_c`.
///
/// # Safety
/// What the MPI standard demands.
pub unsafe extern "C" fn MPI_Allgatherv_c(
    sendbuf: *const c_void,
    sendcount: MPI_Count,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: *const MPI_Count,
    displs: *const MPI_Aint,
    recvtype: MPI_Datatype,
    comm: MPI_Comm,
) -> c_int {
    let (own, all) = ((sendbuf, sendcount, sendtype), (recvbuf, recvcounts, displs, recvtype));
    // SAFETY: what the program gives to `MPI_Allgatherv_c` it keeps until this returns.
    unsafe { perform("MPI_Allgatherv_c", &Arguments::allgatherv_c(own, all), comm) }
}

/// `MPI_Allgatherv_init_c`. Hints are not passed on.
///
/// # Safety
/// What the MPI standard demands.
pub unsafe extern "C" fn MPI_Allgatherv_init_c(
    sendbuf: *const c_void,
    sendcount: MPI_Count,
    sendtype: MPI_Datatype,
    recvbuf: *mut c_void,
    recvcounts: *const MPI_Count,
    displs: *const MPI_Aint,
    recvtype: MPI_Datatype,
    comm: MPI_Comm,
    _info: MPI_Info,
    request: *mut MPI_Request,
) -> c_int {
    let (own, all) = ((sendbuf, sendcount, sendtype), (recvbuf, recvcounts, displs, recvtype));
    // SAFETY: what the program gives to `MPI_Allgatherv_init_c` it keeps until it frees the request.
    unsafe { set_up("MPI_Allgatherv_init_c", &Arguments::allgatherv_c(own, all), (comm, request)) }
}
