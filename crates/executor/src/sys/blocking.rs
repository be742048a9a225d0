//! Blocking messages and collectives of bytes and numbers, as measuring needs them.

use crate::sys::raw::{self, MPI_Comm};
use crate::sys::{Communicator, MpiError, check};
use std::ffi::{CStr, c_char, c_int, c_void};
use tuwtree_model::Rank;

/// The tag of all messages here; nobody else's meet them.
const TAG: c_int = 0;

#[allow(unsafe_code)]
impl Communicator {
    /// Sends bytes to a processor.
    ///
    /// # Errors
    /// What MPI returns.
    ///
    /// # Panics
    /// For 2^31 bytes and more.
    pub fn send_bytes(&self, bytes: &[u8], to: Rank) -> Result<(), MpiError> {
        // SAFETY: the buffer is valid for its length; the communicator is ours.
        let code = unsafe {
            let data = address(bytes);
            raw::PMPI_Send(data, int(bytes.len()), raw::TUWTREE_BYTE, int(to), TAG, self.raw())
        };
        check("MPI_Send", code)
    }

    /// Receives exactly so many bytes, or fewer, from a processor.
    ///
    /// # Errors
    /// What MPI returns; a longer message.
    ///
    /// # Panics
    /// For 2^31 bytes and more.
    pub fn receive_bytes(&self, bytes: &mut [u8], from: Rank) -> Result<(), MpiError> {
        // SAFETY: the buffer is valid for its length and ours alone; no status is asked for.
        let code = unsafe {
            raw::PMPI_Recv(
                address_mut(bytes),
                int(bytes.len()),
                raw::TUWTREE_BYTE,
                int(from),
                TAG,
                self.raw(),
                raw::RSMPI_STATUS_IGNORE,
            )
        };
        check("MPI_Recv", code)
    }

    /// For each place the greatest number that any processor has there. Collective; all processors
    /// have equally many numbers.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn greatest(&self, numbers: &[f64]) -> Result<Vec<f64>, MpiError> {
        let mut greatest = vec![0.0; numbers.len()];
        // SAFETY: both buffers are valid for `numbers.len()` numbers and do not overlap.
        let code = unsafe {
            raw::PMPI_Allreduce(
                numbers.as_ptr().cast(),
                greatest.as_mut_ptr().cast(),
                int(numbers.len()),
                raw::RSMPI_DOUBLE,
                raw::RSMPI_MAX,
                self.raw(),
            )
        };
        check("MPI_Allreduce", code).map(|()| greatest)
    }

    /// The greatest size that any processor has. Collective.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn greatest_size(&self, size: u64) -> Result<u64, MpiError> {
        let mut greatest = 0_u64;
        // SAFETY: both buffers are single numbers, and apart.
        let code = unsafe {
            raw::PMPI_Allreduce(
                (&raw const size).cast(),
                (&raw mut greatest).cast(),
                1,
                raw::RSMPI_UINT64_T,
                raw::RSMPI_MAX,
                self.raw(),
            )
        };
        check("MPI_Allreduce", code).map(|()| greatest)
    }

    /// Every processor's number, in rank order. Collective.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn all_numbers(&self, number: u64) -> Result<Vec<u64>, MpiError> {
        let mut all = vec![0_u64; self.size()];
        // SAFETY: one number goes out, room for one of each processor is there.
        let code = unsafe {
            raw::PMPI_Allgather(
                (&raw const number).cast(),
                1,
                raw::RSMPI_UINT64_T,
                all.as_mut_ptr().cast(),
                1,
                raw::RSMPI_UINT64_T,
                self.raw(),
            )
        };
        check("MPI_Allgather", code).map(|()| all)
    }

    /// At processor 0, the numbers of all processors, one after the other in rank order; empty at all
    /// others. Collective; processors may have different counts of numbers.
    ///
    /// # Errors
    /// What MPI returns.
    ///
    /// # Panics
    /// For 2^31 numbers and more in all.
    pub fn collected(&self, numbers: &[f64]) -> Result<Vec<f64>, MpiError> {
        let counts: Vec<c_int> =
            self.all_numbers(numbers.len() as u64)?.into_iter().map(|n| int(n as usize)).collect();
        let mut total = 0_usize;
        let displacements: Vec<c_int> = counts
            .iter()
            .map(|&count| {
                total += count as usize;
                int(total - count as usize)
            })
            .collect();
        let mut all = vec![0.0; if self.rank() == 0 { total } else { 0 }];
        // SAFETY: at processor 0 there is room for the sum of all counts; elsewhere the receive
        // arguments are not looked at.
        let code = unsafe {
            raw::PMPI_Gatherv(
                numbers.as_ptr().cast(),
                int(numbers.len()),
                raw::RSMPI_DOUBLE,
                all.as_mut_ptr().cast(),
                counts.as_ptr(),
                displacements.as_ptr(),
                raw::RSMPI_DOUBLE,
                0,
                self.raw(),
            )
        };
        check("MPI_Gatherv", code).map(|()| all)
    }

    /// The text that processor 0 has; what others give does not count. Collective.
    ///
    /// # Errors
    /// What MPI returns.
    ///
    /// # Panics
    /// For 2^31 bytes and more.
    pub fn told(&self, text: &str) -> Result<String, MpiError> {
        let length = self.all_numbers(text.len() as u64)?[0] as usize;
        let mut bytes = match self.rank() {
            0 => text.as_bytes().to_vec(),
            _ => vec![0; length],
        };
        // SAFETY: everybody has a buffer of the length that processor 0 sends.
        let code = unsafe {
            let data = address_mut(&mut bytes);
            raw::PMPI_Bcast(data, int(length), raw::TUWTREE_BYTE, 0, self.raw())
        };
        check("MPI_Bcast", code)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The processors that can share memory with this one: those on its node, in rank order.
    /// Collective.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn of_node(&self) -> Result<Communicator, MpiError> {
        // SAFETY: the communicator is ours; the new handle is written to a local variable, used while
        // it is valid, and freed once.
        unsafe {
            let mut on_node: MPI_Comm = raw::RSMPI_COMM_NULL;
            let code = raw::PMPI_Comm_split_type(
                self.raw(),
                raw::RSMPI_COMM_TYPE_SHARED,
                0,
                raw::RSMPI_INFO_NULL,
                &mut on_node,
            );
            check("MPI_Comm_split_type", code)?;
            let duplicate = Communicator::duplicate(on_node);
            check("MPI_Comm_free", raw::PMPI_Comm_free(&mut on_node))?;
            duplicate
        }
    }
}

/// The MPI library's name for itself, its first line.
///
/// # Errors
/// What MPI returns.
#[allow(unsafe_code)]
pub fn library_version() -> Result<String, MpiError> {
    // SAFETY: a constant of rsmpi's shim.
    let room = unsafe { raw::RSMPI_MAX_LIBRARY_VERSION_STRING };
    // SAFETY: the buffer has the room that MPI asks for, and a final zero.
    let text = text("MPI_Get_library_version", room, |buffer, length| unsafe {
        raw::PMPI_Get_library_version(buffer, length)
    })?;
    // MPICH separates name and number with white space of several kinds; Open MPI ends with a zero.
    let words: Vec<&str> = text.lines().next().unwrap_or_default().split_whitespace().collect();
    Ok(words.join(" "))
}

/// The name of the computer that this processor is on.
///
/// # Errors
/// What MPI returns.
#[allow(unsafe_code)]
pub fn processor_name() -> Result<String, MpiError> {
    // SAFETY: a constant of rsmpi's shim.
    let room = unsafe { raw::RSMPI_MAX_PROCESSOR_NAME };
    // SAFETY: the buffer has the room that MPI asks for, and a final zero.
    text("MPI_Get_processor_name", room, |buffer, length| unsafe {
        raw::PMPI_Get_processor_name(buffer, length)
    })
}

/// The text that a call writes to a buffer with so much room.
#[allow(unsafe_code)]
fn text(
    call: &'static str,
    room: c_int,
    write: impl FnOnce(*mut c_char, *mut c_int) -> c_int,
) -> Result<String, MpiError> {
    let mut buffer = vec![0 as c_char; room as usize + 1];
    let mut length = 0;
    check(call, write(buffer.as_mut_ptr(), &mut length))?;
    // SAFETY: the last character is a zero that no call may overwrite.
    Ok(unsafe { CStr::from_ptr(buffer.as_ptr()) }.to_string_lossy().into_owned())
}

/// Where bytes are. None are at a byte of our own: the pointer of an empty slice may have any value,
/// and 1 is `MPI_IN_PLACE` in Open MPI.
pub(crate) fn address(bytes: &[u8]) -> *const c_void {
    static NOTHING: u8 = 0;
    if bytes.is_empty() { (&raw const NOTHING).cast() } else { bytes.as_ptr().cast() }
}

/// As [`address`], for bytes that MPI may write. Where there are none, it writes none.
pub(crate) fn address_mut(bytes: &mut [u8]) -> *mut c_void {
    if bytes.is_empty() { address(bytes).cast_mut() } else { bytes.as_mut_ptr().cast() }
}

/// A count as MPI takes it.
pub(crate) fn int(count: usize) -> c_int {
    c_int::try_from(count).expect("fewer than 2^31")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_not_taken_for_in_place() {
        let mut none = Vec::new();
        let some = [1_u8, 2];
        #[allow(unsafe_code)]
        // SAFETY: reading a constant of the C shim.
        let in_place = unsafe { raw::TUWTREE_IN_PLACE };
        assert!(address_mut(&mut none) != in_place && address(&none) != in_place.cast_const());
        assert_eq!(address(&some), some.as_ptr().cast());
    }
}
