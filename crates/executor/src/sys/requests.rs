//! Persistent requests: set up once, started many times.

use crate::sys::datatype::{Datatype, LARGEST_COUNT};
use crate::sys::memory::Memory;
use crate::sys::raw::{self, MPI_Request, MPI_Status};
use crate::sys::{Communicator, MpiError, check};
use std::ffi::c_int;
use std::rc::Rc;
use tuwtree_model::Rank;

/// What a message carries, in memory: elements at some places.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transfer<'a> {
    pub(crate) memory: &'a Rc<Memory>,
    pub(crate) datatype: &'a Datatype,
    /// Offsets in bytes, and numbers of elements.
    pub(crate) places: &'a [(i64, u64)],
}

/// Whether to wait for something to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    /// Wait until something has.
    Stay,
    /// Look, and go on.
    Leave,
}

/// Persistent requests, by index, with the memory that they use.
///
/// If any of them is under way when all are dropped, the memory is given up for lost, since MPI may
/// still write to it.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    all: Vec<MPI_Request>,
    memory: Vec<Rc<Memory>>,
    /// Those that have been started and not ended: their handles, and their indices.
    active: Vec<MPI_Request>,
    indices: Vec<u32>,
    /// Room for what has ended: the places in `active`, and how.
    ended: Vec<c_int>,
    statuses: Vec<MPI_Status>,
}

#[allow(unsafe_code)]
impl Requests {
    /// Adds a message to this processor; returns the request's index.
    ///
    /// # Errors
    /// What MPI returns.
    pub(crate) fn add_send(
        &mut self,
        communicator: &Communicator,
        transfer: Transfer<'_>,
        (to, tag): (Rank, c_int),
    ) -> Result<u32, MpiError> {
        let prepared = Prepared::new(transfer)?;
        // SAFETY: reading a constant of the C shim.
        let mut request = unsafe { raw::RSMPI_REQUEST_NULL };
        // SAFETY: the transfer's memory is kept as long as the request.
        check("MPI_Send_init", unsafe {
            raw::PMPI_Send_init(
                transfer.memory.at(prepared.start),
                prepared.count,
                prepared.datatype().raw(),
                to as c_int,
                tag,
                communicator.raw(),
                &mut request,
            )
        })?;
        Ok(self.add(request, transfer.memory))
    }

    /// Adds a message from this processor; returns the request's index.
    ///
    /// # Errors
    /// What MPI returns.
    pub(crate) fn add_receive(
        &mut self,
        communicator: &Communicator,
        transfer: Transfer<'_>,
        (from, tag): (Rank, c_int),
    ) -> Result<u32, MpiError> {
        let prepared = Prepared::new(transfer)?;
        // SAFETY: reading a constant of the C shim.
        let mut request = unsafe { raw::RSMPI_REQUEST_NULL };
        // SAFETY: the transfer's memory is kept as long as the request.
        check("MPI_Recv_init", unsafe {
            raw::PMPI_Recv_init(
                transfer.memory.at(prepared.start),
                prepared.count,
                prepared.datatype().raw(),
                from as c_int,
                tag,
                communicator.raw(),
                &mut request,
            )
        })?;
        Ok(self.add(request, transfer.memory))
    }

    fn add(&mut self, request: MPI_Request, memory: &Rc<Memory>) -> u32 {
        self.all.push(request);
        self.memory.push(Rc::clone(memory));
        self.all.len() as u32 - 1
    }

    /// Starts a request that is not under way.
    ///
    /// # Errors
    /// What MPI returns.
    pub(crate) fn start(&mut self, index: u32) -> Result<(), MpiError> {
        let request = &mut self.all[index as usize];
        // SAFETY: a persistent request's handle, which MPI does not change.
        check("MPI_Start", unsafe { raw::PMPI_Start(request) })?;
        self.active.push(*request);
        self.indices.push(index);
        Ok(())
    }

    /// How many requests are under way.
    pub(crate) fn under_way(&self) -> usize {
        self.active.len()
    }

    /// Adds the indices of requests that have ended to the list.
    ///
    /// # Errors
    /// What MPI returns for the call, or for the first message that failed.
    pub(crate) fn take_ended(
        &mut self,
        patience: Patience,
        list: &mut Vec<u32>,
    ) -> Result<(), MpiError> {
        let under_way = self.active.len();
        if under_way == 0 {
            return Ok(());
        }
        self.ended.resize(under_way, 0);
        // SAFETY: a status is numbers, for which all zeros will do.
        self.statuses.resize(under_way, unsafe { std::mem::zeroed() });
        let (call, some): (_, unsafe extern "C" fn(_, _, _, _, _) -> _) = match patience {
            Patience::Stay => ("MPI_Waitsome", raw::PMPI_Waitsome),
            Patience::Leave => ("MPI_Testsome", raw::PMPI_Testsome),
        };
        let mut count: c_int = 0;
        // SAFETY: all lists have as many entries as requests are under way.
        let code = unsafe {
            some(
                under_way as c_int,
                self.active.as_mut_ptr(),
                &mut count,
                self.ended.as_mut_ptr(),
                self.statuses.as_mut_ptr(),
            )
        };
        if code != raw::MPI_SUCCESS as c_int {
            return Err(self.first_error(call, code, count));
        }
        let ended = &mut self.ended[..count.max(0) as usize];
        // From behind, so that what takes an ended one's place has not ended itself.
        ended.sort_unstable_by(|one, other| other.cmp(one));
        for &mut place in ended {
            self.active.swap_remove(place as usize);
            list.push(self.indices.swap_remove(place as usize));
        }
        Ok(())
    }

    fn first_error(&self, call: &'static str, code: c_int, count: c_int) -> MpiError {
        let error = MpiError::new(call, code);
        if error.class() != raw::MPI_ERR_IN_STATUS as c_int {
            return error;
        }
        let codes = self.statuses.iter().take(count.max(0) as usize).map(|status| status.MPI_ERROR);
        let failed = |&code: &c_int| code != raw::MPI_SUCCESS as c_int;
        codes.into_iter().find(failed).map_or(error, |code| MpiError::new(call, code))
    }
}

#[allow(unsafe_code)]
impl Drop for Requests {
    fn drop(&mut self) {
        let mut finalized = 0;
        // SAFETY: MPI_Finalized may be called at any time; the handles are ours, and freed once.
        unsafe {
            raw::PMPI_Finalized(&mut finalized);
            if finalized == 0 {
                for request in &mut self.all {
                    raw::PMPI_Request_free(request);
                }
            }
        }
        if self.under_way() > 0 {
            std::mem::forget(std::mem::take(&mut self.memory));
        }
    }
}

/// A transfer as MPI takes it.
struct Prepared<'a> {
    start: i64,
    count: c_int,
    elements: &'a Datatype,
    /// One element of several places.
    made: Option<Datatype>,
}

impl<'a> Prepared<'a> {
    fn new(transfer: Transfer<'a>) -> Result<Prepared<'a>, MpiError> {
        let Transfer { datatype, places, .. } = transfer;
        match *places {
            [(start, count)] if count <= LARGEST_COUNT => {
                Ok(Prepared { start, count: count as c_int, elements: datatype, made: None })
            }
            _ => {
                let made = Some(datatype.at_places(places)?);
                Ok(Prepared { start: 0, count: 1, elements: datatype, made })
            }
        }
    }

    fn datatype(&self) -> &Datatype {
        self.made.as_ref().unwrap_or(self.elements)
    }
}

/// Copies elements from some places to others through a message to oneself, for datatypes that only
/// MPI can read.
///
/// # Errors
/// What MPI returns.
#[allow(unsafe_code)]
pub(crate) fn copy_by_message(
    alone: &Communicator,
    from: Transfer<'_>,
    into: Transfer<'_>,
) -> Result<(), MpiError> {
    let (sent, received) = (Prepared::new(from)?, Prepared::new(into)?);
    // SAFETY: both transfers lie in their memories; the communicator is this processor's alone.
    check("MPI_Sendrecv", unsafe {
        raw::PMPI_Sendrecv(
            from.memory.at(sent.start),
            sent.count,
            sent.datatype().raw(),
            0,
            0,
            into.memory.at(received.start),
            received.count,
            received.datatype().raw(),
            0,
            0,
            alone.raw(),
            raw::RSMPI_STATUS_IGNORE,
        )
    })
}
