//! The calls of MPI that wait. In work that goes on bit by bit ([`super::strand`]), and where such work is to go on
//! meanwhile, they look again and again instead.
//!
//! Messages meet whether one end waits or looks. Collective operations do not: theirs are nonblocking only inside
//! of such work, where all processes are.

#![expect(clippy::too_many_arguments, reason = "they are MPI's")]

use super::raw::{self, MPI_Comm, MPI_Datatype, MPI_Op, MPI_Request, MPI_Status};
use super::{MpiError, calls, strand};
use std::ffi::{c_int, c_void};

/// `MPI_Wait`.
///
/// # Safety
/// What the MPI standard demands.
pub(super) unsafe fn wait(
    request: *mut MPI_Request,
    status: *mut MPI_Status,
) -> Result<(), MpiError> {
    // SAFETY: the caller's promise; `MPI_Test` demands no more.
    unsafe {
        if !strand::is_shared() {
            return calls::wait(request, status);
        }
        loop {
            let mut has_ended = 0;
            calls::test(request, &mut has_ended, status)?;
            if has_ended != 0 {
                return Ok(());
            }
            strand::pause();
        }
    }
}

/// `MPI_Waitsome`.
///
/// # Safety
/// What the MPI standard demands.
pub(super) unsafe fn waitsome(
    count: c_int,
    requests: *mut MPI_Request,
    ended: *mut c_int,
    indices: *mut c_int,
    statuses: *mut MPI_Status,
) -> Result<(), MpiError> {
    // SAFETY: the caller's promise; `MPI_Testsome` demands no more, and writes `ended`.
    unsafe {
        if !strand::is_shared() {
            return calls::waitsome(count, requests, ended, indices, statuses);
        }
        loop {
            calls::testsome(count, requests, ended, indices, statuses)?;
            if *ended != 0 {
                return Ok(());
            }
            strand::pause();
        }
    }
}

/// `MPI_Send`.
///
/// # Safety
/// What the MPI standard demands.
pub(super) unsafe fn send(
    buf: *const c_void,
    count: c_int,
    datatype: MPI_Datatype,
    dest: c_int,
    tag: c_int,
    comm: MPI_Comm,
) -> Result<(), MpiError> {
    // SAFETY: the caller's promise; the data stays until the request has ended.
    unsafe {
        if !strand::is_shared() {
            return calls::send(buf, count, datatype, dest, tag, comm);
        }
        let mut request = raw::RSMPI_REQUEST_NULL;
        calls::isend(buf, count, datatype, dest, tag, comm, &mut request)?;
        wait(&mut request, raw::RSMPI_STATUS_IGNORE)
    }
}

/// `MPI_Recv`.
///
/// # Safety
/// What the MPI standard demands.
pub(super) unsafe fn recv(
    buf: *mut c_void,
    count: c_int,
    datatype: MPI_Datatype,
    source: c_int,
    tag: c_int,
    comm: MPI_Comm,
    status: *mut MPI_Status,
) -> Result<(), MpiError> {
    // SAFETY: the caller's promise; the memory stays until the request has ended.
    unsafe {
        if !strand::is_shared() {
            return calls::recv(buf, count, datatype, source, tag, comm, status);
        }
        let mut request = raw::RSMPI_REQUEST_NULL;
        calls::irecv(buf, count, datatype, source, tag, comm, &mut request)?;
        wait(&mut request, status)
    }
}

/// `MPI_Probe`.
///
/// # Safety
/// What the MPI standard demands.
pub(super) unsafe fn probe(
    source: c_int,
    tag: c_int,
    comm: MPI_Comm,
    status: *mut MPI_Status,
) -> Result<(), MpiError> {
    // SAFETY: the caller's promise; the flag is local.
    unsafe {
        if !strand::is_shared() {
            return calls::probe(source, tag, comm, status);
        }
        loop {
            let mut is_there = 0;
            calls::iprobe(source, tag, comm, &mut is_there, status)?;
            if is_there != 0 {
                return Ok(());
            }
            strand::pause();
        }
    }
}

/// `MPI_Sendrecv`.
///
/// # Safety
/// What the MPI standard demands.
pub(super) unsafe fn sendrecv(
    sendbuf: *const c_void,
    sendcount: c_int,
    sendtype: MPI_Datatype,
    dest: c_int,
    sendtag: c_int,
    recvbuf: *mut c_void,
    recvcount: c_int,
    recvtype: MPI_Datatype,
    source: c_int,
    recvtag: c_int,
    comm: MPI_Comm,
    status: *mut MPI_Status,
) -> Result<(), MpiError> {
    // SAFETY: the caller's promise; data and memory stay until both requests have ended, or the one that
    // is not matched is taken back.
    unsafe {
        if !strand::is_shared() {
            return calls::sendrecv(
                sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source,
                recvtag, comm, status,
            );
        }
        let [mut sent, mut received] = [raw::RSMPI_REQUEST_NULL; 2];
        calls::irecv(recvbuf, recvcount, recvtype, source, recvtag, comm, &mut received)?;
        let started = calls::isend(sendbuf, sendcount, sendtype, dest, sendtag, comm, &mut sent);
        if let Err(error) = started {
            calls::cancel(&mut received)?;
            calls::wait(&mut received, raw::RSMPI_STATUS_IGNORE)?;
            return Err(error);
        }
        let arrived = wait(&mut received, status);
        wait(&mut sent, raw::RSMPI_STATUS_IGNORE).and(arrived)
    }
}

/// `MPI_Bcast`.
///
/// # Safety
/// What the MPI standard demands.
pub(super) unsafe fn bcast(
    buffer: *mut c_void,
    count: c_int,
    datatype: MPI_Datatype,
    root: c_int,
    comm: MPI_Comm,
) -> Result<(), MpiError> {
    // SAFETY: the caller's promise; the memory stays until the request has ended.
    unsafe {
        if !strand::is_inside() {
            return calls::bcast(buffer, count, datatype, root, comm);
        }
        let mut request = raw::RSMPI_REQUEST_NULL;
        calls::ibcast(buffer, count, datatype, root, comm, &mut request)?;
        wait(&mut request, raw::RSMPI_STATUS_IGNORE)
    }
}

/// `MPI_Allreduce`.
///
/// # Safety
/// What the MPI standard demands.
pub(super) unsafe fn allreduce(
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    count: c_int,
    datatype: MPI_Datatype,
    op: MPI_Op,
    comm: MPI_Comm,
) -> Result<(), MpiError> {
    // SAFETY: the caller's promise; data and memory stay until the request has ended.
    unsafe {
        if !strand::is_inside() {
            return calls::allreduce(sendbuf, recvbuf, count, datatype, op, comm);
        }
        let mut request = raw::RSMPI_REQUEST_NULL;
        calls::iallreduce(sendbuf, recvbuf, count, datatype, op, comm, &mut request)?;
        wait(&mut request, raw::RSMPI_STATUS_IGNORE)
    }
}
