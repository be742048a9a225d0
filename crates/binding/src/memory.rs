//! Memory that messages are sent from and received into.

use super::{Datatype, MpiError, Operator, calls};
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

/// Bytes in memory: our own, or the user's, who answers for them.
///
/// No references into it are handed out: data is copied in and out, so that MPI may write to it at
/// any time.
#[derive(Debug)]
pub struct Memory {
    start: Cell<*mut u8>,
    /// `None` for the user's.
    own: Option<Layout>,
}

/// Memory that the system does not give.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no memory for {bytes} bytes")]
pub struct OutOfMemory {
    /// Requested size.
    pub bytes: u64,
}

/// The alignment of our own memory: a cache line, and enough for every element.
const ALIGNMENT: usize = 64;

impl Memory {
    /// Allocates this many bytes, all 0.
    ///
    /// # Errors
    /// [`OutOfMemory`].
    pub fn zeroed(bytes: u64) -> Result<Memory, OutOfMemory> {
        let size = usize::try_from(bytes).map_err(|_| OutOfMemory { bytes })?;
        let layout = Layout::from_size_align(size, ALIGNMENT).map_err(|_| OutOfMemory { bytes })?;
        if size == 0 {
            return Ok(Memory { start: Cell::new(null_mut()), own: Some(layout) });
        }
        // SAFETY: the layout's size is not 0.
        let start = unsafe { alloc_zeroed(layout) };
        if start.is_null() {
            Err(OutOfMemory { bytes })
        } else {
            Ok(Memory { start: Cell::new(start), own: Some(layout) })
        }
    }

    /// The user's memory from `start` on, as MPI calls take it: its size is not known.
    ///
    /// # Safety
    /// Until this, and all that is made from it, is dropped or lets go of its address, every byte that is addressed through it
    /// belongs to the user's memory; it can be written if it is written to, and nobody else uses it
    /// while messages or copies that use it are under way.
    pub unsafe fn of_user(start: *mut c_void) -> Memory {
        Memory { start: Cell::new(start.cast()), own: None }
    }

    /// Points to the user's memory from `start` on. Returns false for memory of our own.
    ///
    /// # Safety
    /// As [`of_user`](Self::of_user), from now on.
    pub unsafe fn move_to_user(&self, start: *mut c_void) -> bool {
        if self.own.is_none() {
            self.start.set(start.cast());
        }
        self.own.is_none()
    }

    /// Forgets the user's memory.
    pub fn let_go(&self) {
        if self.own.is_none() {
            self.start.set(null_mut());
        }
    }

    /// The size in bytes, if it is known: of our own memory it is.
    pub fn bytes(&self) -> Option<u64> {
        self.own.map(|layout| layout.size() as u64)
    }

    /// True for a null pointer.
    pub fn is_null(&self) -> bool {
        self.start.get().is_null()
    }

    /// The address at this offset, as MPI calls take it.
    pub fn at(&self, offset: i64) -> *mut c_void {
        self.start.get().wrapping_offset(offset as isize).cast()
    }

    /// Copies these bytes to `offset`.
    ///
    /// # Panics
    /// If they are not all inside of our own memory.
    pub fn write(&self, offset: u64, bytes: &[u8]) {
        self.check_inside(offset as i64, bytes.len() as u64);
        // SAFETY: inside of our own memory, or of the user's by whose promise; `bytes` is a
        // reference, and no reference into this memory is ever handed out.
        unsafe {
            self.at(offset as i64)
                .cast::<u8>()
                .copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
        }
    }

    /// Copies the bytes at `offset` into the slice.
    ///
    /// # Panics
    /// If they are not all inside of our own memory.
    pub fn read(&self, offset: u64, bytes: &mut [u8]) {
        self.check_inside(offset as i64, bytes.len() as u64);
        // SAFETY: inside of our own memory, or of the user's by whose promise; `bytes` is a unique
        // reference, and no reference into this memory is ever handed out.
        unsafe {
            bytes.as_mut_ptr().copy_from_nonoverlapping(self.at(offset as i64).cast(), bytes.len());
        }
    }

    /// Copies bytes from one place to another, which may overlap.
    ///
    /// # Panics
    /// If they are not all inside of our own memory.
    pub fn copy(from: (&Memory, i64), into: (&Memory, i64), bytes: u64) {
        from.0.check_inside(from.1, bytes);
        into.0.check_inside(into.1, bytes);
        // SAFETY: inside of our own memory, or of the user's by whose promise.
        unsafe {
            let (from, into) = (from.0.at(from.1), into.0.at(into.1));
            std::ptr::copy(from.cast::<u8>(), into.cast::<u8>(), bytes as usize);
        }
    }

    /// Combines elements: `inout` becomes `left` op `inout`.
    ///
    /// # Errors
    /// What MPI returns.
    ///
    /// # Panics
    /// If they are not all inside of our own memory.
    pub fn combine(
        operator: &Operator,
        datatype: &Datatype,
        left: (&Memory, i64),
        inout: (&Memory, i64),
        bytes: u64,
    ) -> Result<(), MpiError> {
        left.0.check_inside(left.1, bytes);
        inout.0.check_inside(inout.1, bytes);
        let size = datatype.size();
        let mut done = 0;
        while done < bytes {
            let count = ((bytes - done) / size).min(c_int::MAX as u64);
            let (from, into) = (left.0.at(left.1 + done as i64), inout.0.at(inout.1 + done as i64));
            // SAFETY: the elements lie inside of our own memory, or of the user's by whose promise.
            unsafe {
                calls::reduce_local(from, into, count as c_int, datatype.raw(), operator.raw())?;
            }
            done += count * size;
        }
        Ok(())
    }

    fn check_inside(&self, offset: i64, bytes: u64) {
        let end = i128::from(offset) + i128::from(bytes);
        let size = self.bytes().unwrap_or(i64::MAX as u64);
        assert!(
            self.own.is_none() || (offset >= 0 && end <= i128::from(size)),
            "{bytes} bytes at {offset} of {size}"
        );
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if let Some(layout) = self.own
            && !self.is_null()
        {
            // SAFETY: allocated with this layout, and freed once.
            unsafe { dealloc(self.start.get(), layout) };
        }
    }
}
