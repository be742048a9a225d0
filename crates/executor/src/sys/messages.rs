//! Messages of bytes between two processors, and the few collective operations that agreements take.

use crate::sys::raw::{self, MPI_Datatype, MPI_Request, MPI_Status};
use crate::sys::{Communicator, MpiError, Span, check};
use std::ffi::c_int;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use tuwtree_model::Rank;

/// So many items of a datatype that stand for a number of bytes, which may exceed MPI's counts.
struct Bytes {
    count: c_int,
    datatype: MPI_Datatype,
    is_own: bool,
}

/// The size of the units in which large messages are counted.
const UNIT: u64 = 1 << 20;

#[allow(unsafe_code)]
impl Bytes {
    fn new(bytes: u64) -> Result<Bytes, MpiError> {
        // SAFETY: reading a constant of the C shim.
        let byte = unsafe { raw::TUWTREE_BYTE };
        if let Ok(count) = c_int::try_from(bytes) {
            return Ok(Bytes { count, datatype: byte, is_own: false });
        }
        let too_many = || MpiError::new("MPI_Type_contiguous", raw::MPI_ERR_COUNT as c_int);
        let units = c_int::try_from(bytes / UNIT).map_err(|_| too_many())?;
        let lengths = [units, (bytes % UNIT) as c_int];
        let places = [0, (bytes - bytes % UNIT) as raw::MPI_Aint];
        let mut own = Bytes { count: 1, datatype: byte, is_own: true };
        // SAFETY: datatypes are made of MPI_BYTE, in local variables; the unit is freed, which does
        // not touch what was made of it.
        unsafe {
            let mut unit = byte;
            let code = raw::PMPI_Type_contiguous(UNIT as c_int, byte, &mut unit);
            check("MPI_Type_contiguous", code)?;
            let parts = [unit, byte];
            let code = raw::PMPI_Type_create_struct(
                2,
                lengths.as_ptr(),
                places.as_ptr(),
                parts.as_ptr(),
                &mut own.datatype,
            );
            check("MPI_Type_free", raw::PMPI_Type_free(&mut unit))?;
            check("MPI_Type_create_struct", code)?;
            check("MPI_Type_commit", raw::PMPI_Type_commit(&mut own.datatype))?;
        }
        Ok(own)
    }
}

#[allow(unsafe_code)]
impl Drop for Bytes {
    fn drop(&mut self) {
        if self.is_own {
            // SAFETY: our own datatype; messages under way keep what they need of it.
            unsafe { raw::PMPI_Type_free(&mut self.datatype) };
        }
    }
}

/// A message under way, to or from memory that lives as long as `'a`. Dropped, it is waited for.
#[derive(Debug)]
#[must_use]
pub struct Pending<'a> {
    request: MPI_Request,
    /// Whether the status, when the message has ended, says how long it was.
    is_received: bool,
    memory: PhantomData<Span<'a>>,
}

#[allow(unsafe_code)]
impl Pending<'_> {
    /// Waits until the message has arrived, or its memory may be used again: the size in bytes of one
    /// that was received, 0 for one that was sent.
    ///
    /// # Errors
    /// What MPI returns, `MPI_ERR_TRUNCATE` for a message that is too long.
    pub fn wait(mut self) -> Result<u64, MpiError> {
        let mut status = MaybeUninit::uninit();
        // SAFETY: our own request, and a local status that MPI_Wait fills.
        unsafe {
            check("MPI_Wait", raw::PMPI_Wait(&mut self.request, status.as_mut_ptr()))?;
            // Of a message that was sent, MPI says nothing in the status.
            if self.is_received { received(&status.assume_init()) } else { Ok(0) }
        }
    }
}

#[allow(unsafe_code)]
impl Drop for Pending<'_> {
    fn drop(&mut self) {
        // SAFETY: our own request; a null one is nothing to wait for.
        unsafe {
            if self.request != raw::RSMPI_REQUEST_NULL {
                raw::PMPI_Wait(&mut self.request, raw::RSMPI_STATUS_IGNORE);
            }
        }
    }
}

/// How many bytes a message had.
#[allow(unsafe_code)]
fn received(status: &MPI_Status) -> Result<u64, MpiError> {
    let mut count = 0;
    // SAFETY: a status that MPI has filled.
    let code = unsafe { raw::PMPI_Get_elements_x(status, raw::TUWTREE_BYTE, &mut count) };
    check("MPI_Get_elements_x", code).map(|()| u64::try_from(count).unwrap_or(0))
}

#[allow(unsafe_code)]
impl Communicator {
    /// Another duplicate. Collective.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn duplicate_again(&self) -> Result<Communicator, MpiError> {
        // SAFETY: a communicator that lives.
        unsafe { Communicator::duplicate(self.raw()) }
    }

    /// Sends these bytes; done when the memory may be used again.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn send(&self, memory: Span<'_>, to: Rank, tag: c_int) -> Result<(), MpiError> {
        let bytes = Bytes::new(memory.bytes())?;
        // SAFETY: memory of that size.
        let code = unsafe {
            raw::PMPI_Send(
                memory.address(),
                bytes.count,
                bytes.datatype,
                to as c_int,
                tag,
                self.raw(),
            )
        };
        check("MPI_Send", code)
    }

    /// Receives a message of at most these bytes: how many it has.
    ///
    /// # Errors
    /// What MPI returns, `MPI_ERR_TRUNCATE` for a message that is too long.
    pub fn receive(&self, memory: Span<'_>, from: Rank, tag: c_int) -> Result<u64, MpiError> {
        let bytes = Bytes::new(memory.bytes())?;
        let mut status = MaybeUninit::uninit();
        // SAFETY: memory of that size, and a local status that MPI_Recv fills.
        unsafe {
            let code = raw::PMPI_Recv(
                memory.address(),
                bytes.count,
                bytes.datatype,
                from as c_int,
                tag,
                self.raw(),
                status.as_mut_ptr(),
            );
            check("MPI_Recv", code)?;
            received(&status.assume_init())
        }
    }

    /// Receives a message of any size and forgets it: how many bytes it had.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn receive_and_forget(&self, from: Rank, tag: c_int) -> Result<u64, MpiError> {
        let mut status = MaybeUninit::uninit();
        // SAFETY: a local status that MPI_Probe fills.
        let bytes = unsafe {
            let code = raw::PMPI_Probe(from as c_int, tag, self.raw(), status.as_mut_ptr());
            check("MPI_Probe", code)?;
            received(&status.assume_init())?
        };
        self.receive(Span::of(&mut vec![0; bytes as usize]), from, tag)
    }

    /// Starts to send these bytes.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn start_send<'a>(
        &self,
        memory: Span<'a>,
        to: Rank,
        tag: c_int,
    ) -> Result<Pending<'a>, MpiError> {
        let bytes = Bytes::new(memory.bytes())?;
        // SAFETY: memory of that size, which lives until the message is done.
        unsafe {
            let mut request = raw::RSMPI_REQUEST_NULL;
            let code = raw::PMPI_Isend(
                memory.address(),
                bytes.count,
                bytes.datatype,
                to as c_int,
                tag,
                self.raw(),
                &mut request,
            );
            check("MPI_Isend", code)?;
            Ok(Pending { request, is_received: false, memory: PhantomData })
        }
    }

    /// Starts to receive a message of at most these bytes.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn start_receive<'a>(
        &self,
        memory: Span<'a>,
        from: Rank,
        tag: c_int,
    ) -> Result<Pending<'a>, MpiError> {
        let bytes = Bytes::new(memory.bytes())?;
        // SAFETY: memory of that size, which lives until the message is done.
        unsafe {
            let mut request = raw::RSMPI_REQUEST_NULL;
            let code = raw::PMPI_Irecv(
                memory.address(),
                bytes.count,
                bytes.datatype,
                from as c_int,
                tag,
                self.raw(),
                &mut request,
            );
            check("MPI_Irecv", code)?;
            Ok(Pending { request, is_received: true, memory: PhantomData })
        }
    }

    /// Sends a message to a processor and receives one of the same size from it.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn exchange<const N: usize>(
        &self,
        message: [u8; N],
        with: Rank,
        tag: c_int,
    ) -> Result<[u8; N], MpiError> {
        let mut answer = [0; N];
        // SAFETY: two local arrays of N bytes.
        let code = unsafe {
            raw::PMPI_Sendrecv(
                message.as_ptr().cast(),
                N as c_int,
                raw::TUWTREE_BYTE,
                with as c_int,
                tag,
                answer.as_mut_ptr().cast(),
                N as c_int,
                raw::TUWTREE_BYTE,
                with as c_int,
                tag,
                self.raw(),
                raw::RSMPI_STATUS_IGNORE,
            )
        };
        check("MPI_Sendrecv", code).map(|()| answer)
    }

    /// What `root` says; the others' words are ignored. Collective.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn broadcast(&self, words: &mut [u64], root: Rank) -> Result<(), MpiError> {
        let count = words.len() as c_int;
        // SAFETY: a list of that length.
        let code = unsafe {
            raw::PMPI_Bcast(
                words.as_mut_ptr().cast(),
                count,
                raw::RSMPI_UINT64_T,
                root as c_int,
                self.raw(),
            )
        };
        check("MPI_Bcast", code)
    }

    /// The text of `root`; the others' is ignored. Collective.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn broadcast_text(&self, text: &str, root: Rank) -> Result<String, MpiError> {
        let mut length = [text.len().min(c_int::MAX as usize) as u64];
        self.broadcast(&mut length, root)?;
        let mut bytes = text.as_bytes().to_vec();
        bytes.resize(length[0] as usize, 0);
        // SAFETY: a list of that length, which fits a count.
        let code = unsafe {
            raw::PMPI_Bcast(
                bytes.as_mut_ptr().cast(),
                bytes.len() as c_int,
                raw::TUWTREE_BYTE,
                root as c_int,
                self.raw(),
            )
        };
        check("MPI_Bcast", code)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The least of all processors' words. Collective.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn least_word(&self, word: u64) -> Result<u64, MpiError> {
        let mut least = 0_u64;
        // SAFETY: two local words.
        let code = unsafe {
            raw::PMPI_Allreduce(
                (&raw const word).cast(),
                (&raw mut least).cast(),
                1,
                raw::RSMPI_UINT64_T,
                raw::RSMPI_MIN,
                self.raw(),
            )
        };
        check("MPI_Allreduce", code).map(|()| least)
    }

    /// At `root`, all processors' words in rank order; nothing elsewhere. Collective.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn gather(&self, word: u64, root: Rank) -> Result<Vec<u64>, MpiError> {
        let mut words = vec![0_u64; if self.rank() == root { self.size() } else { 0 }];
        // SAFETY: a local word, and at the root a list with room for all.
        let code = unsafe {
            raw::PMPI_Gather(
                (&raw const word).cast(),
                1,
                raw::RSMPI_UINT64_T,
                words.as_mut_ptr().cast(),
                1,
                raw::RSMPI_UINT64_T,
                root as c_int,
                self.raw(),
            )
        };
        check("MPI_Gather", code).map(|()| words)
    }

    /// The list that `root` has for this processor; `lists` is the root's, in rank order.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn distribute(
        &self,
        lists: Option<&[Vec<u64>]>,
        root: Rank,
        tag: c_int,
    ) -> Result<Vec<u64>, MpiError> {
        let as_bytes = |words: &[u64]| words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let Some(lists) = lists.filter(|_| self.rank() == root) else {
            let mut length = [0; 8];
            self.receive(Span::of(&mut length), root, tag)?;
            let mut bytes = vec![0_u8; u64::from_le_bytes(length) as usize * 8];
            self.receive(Span::of(&mut bytes), root, tag)?;
            let words = bytes.chunks_exact(8).map(|word| word.try_into().expect("chunks of 8"));
            return Ok(words.map(u64::from_le_bytes).collect());
        };
        for (rank, words) in lists.iter().enumerate().filter(|&(rank, _)| rank != root) {
            self.send(Span::of(&mut (words.len() as u64).to_le_bytes()), rank, tag)?;
            let mut bytes: Vec<u8> = as_bytes(words);
            self.send(Span::of(&mut bytes), rank, tag)?;
        }
        Ok(lists[root].clone())
    }
}
