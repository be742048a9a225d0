//! Operators of reductions.

use super::raw::{self, MPI_Datatype, MPI_Op};
use super::{MpiError, calls, is_running};
use std::ffi::{c_int, c_void};

/// An operator of MPI, freed when dropped if it is ours.
#[derive(Debug)]
pub struct Operator {
    raw: MPI_Op,
    is_ours: bool,
}

impl Operator {
    /// The sum.
    pub fn sum() -> Operator {
        // SAFETY: a predefined operator: it needs no initialization, and is never freed.
        Operator { raw: unsafe { raw::RSMPI_SUM }, is_ours: false }
    }

    /// Bit by bit, whether the number of ones is odd.
    pub fn exclusive_or() -> Operator {
        // SAFETY: a predefined operator: it needs no initialization, and is never freed.
        Operator { raw: unsafe { raw::RSMPI_BXOR }, is_ours: false }
    }

    /// An operator on bytes that tells left from right: [`compose`] of each two.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn composition() -> Result<Operator, MpiError> {
        // SAFETY: the function is of the type that MPI asks for, and lives as long as the program.
        unsafe {
            let mut raw = raw::RSMPI_SUM;
            calls::op_create(Some(compose_all), 0, &mut raw)?;
            Ok(Operator { raw, is_ours: true })
        }
    }

    /// The user's operator.
    ///
    /// # Safety
    /// `operator` is a handle that MPI has given out, and stays valid as long as this is used.
    pub unsafe fn of_user(operator: MPI_Op) -> Operator {
        Operator { raw: operator, is_ours: false }
    }

    /// Another handle of this operator, alive as long as this one.
    pub fn again(&self) -> Operator {
        Operator { raw: self.raw, is_ours: false }
    }

    /// The handle. It stays ours.
    pub fn raw(&self) -> MPI_Op {
        self.raw
    }
}

impl Drop for Operator {
    fn drop(&mut self) {
        if self.is_ours && is_running() {
            // SAFETY: `composition` has made the operator, and nobody else has its handle. Failures
            // have nobody to hear of them.
            let _ = unsafe { calls::op_free(&mut self.raw) };
        }
    }
}

/// The composition of two functions `x -> a x + b` on 0..16, a byte having `a` in its upper and `b`
/// in its lower half: first `right`, then `left`. Associative, not commutative.
pub fn compose(left: u8, right: u8) -> u8 {
    let [(a, b), (c, d)] = [left, right].map(|byte| (byte >> 4, byte & 15));
    (a.wrapping_mul(c) << 4) | (a.wrapping_mul(d).wrapping_add(b) & 15)
}

/// [`compose`] for all bytes of two lists, as MPI calls it.
unsafe extern "C" fn compose_all(
    left: *mut c_void,
    inout: *mut c_void,
    count: *mut c_int,
    _datatype: *mut MPI_Datatype,
) {
    // SAFETY: MPI gives two lists of as many bytes as it says.
    unsafe {
        for index in 0..*count as usize {
            let right = inout.cast::<u8>().add(index);
            *right = compose(*left.cast::<u8>().add(index), *right);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::compose;

    #[test]
    fn composition_is_associative_and_tells_left_from_right() {
        let bytes = || (0..=255_u8).step_by(7);
        for (a, b) in bytes().flat_map(|a| bytes().map(move |b| (a, b))) {
            for c in bytes() {
                assert_eq!(compose(compose(a, b), c), compose(a, compose(b, c)), "{a} {b} {c}");
            }
        }
        assert_ne!(compose(0x31, 0x53), compose(0x53, 0x31));
    }
}
