//! Operators of reductions.

use super::{Operation, Payload};
use crate::{ClosedSet, Time, TimeError};

/// Properties of the operator of a reduction.
///
/// # Source
/// R. Thakur, R. Rabenseifner, W. Gropp, IJHPCA 19(1), 2005, section 3; their gamma is kappa here, since gamma is the
/// time of a copy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Operator {
    /// At least 1.
    element_bytes: u64,
    /// kappa, finite, at least 0.
    combine_per_byte: f64,
}

/// Invalid operator.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum OperatorError {
    /// Elements of no bytes.
    #[error("elements of 0 bytes; they have at least 1")]
    NoElement,
    /// Not a cost.
    #[error("combining a byte takes {value}; costs are finite numbers of at least 0")]
    Combine {
        /// Negative, infinite or NaN.
        value: f64,
    },
    /// An operator where nothing is combined.
    #[error("{} has no operator with elements and a time; reductions have", operation.name())]
    Unused {
        /// The operation that is performed.
        operation: Operation,
    },
    /// Data that is not made of whole elements.
    #[error("{bytes} bytes are no whole number of elements of {element_bytes}")]
    PartOfElement {
        /// The size of a block or of the vector.
        bytes: u64,
        /// The size of an element.
        element_bytes: u64,
    },
}

impl Operator {
    /// Of single bytes, and of no time.
    pub const FREE: Operator = Operator { element_bytes: 1, combine_per_byte: 0.0 };

    /// The operator that combines elements of this many bytes, in this much time a byte of the result. Vectors are cut
    /// between elements only.
    ///
    /// # Errors
    /// [`OperatorError::NoElement`], [`OperatorError::Combine`].
    pub fn new(element_bytes: u64, combine_per_byte: f64) -> Result<Operator, OperatorError> {
        match Time::new(combine_per_byte) {
            _ if element_bytes == 0 => Err(OperatorError::NoElement),
            None => Err(OperatorError::Combine { value: combine_per_byte }),
            Some(_) => Ok(Operator { element_bytes, combine_per_byte }),
        }
    }

    /// The size of an element in bytes, at least 1.
    pub fn element_bytes(&self) -> u64 {
        self.element_bytes
    }

    /// kappa: the time per byte of combining two vectors.
    pub fn combine_per_byte(&self) -> f64 {
        self.combine_per_byte
    }

    /// The time of combining this many bytes with as many others.
    ///
    /// # Errors
    /// [`TimeError::NotFinite`].
    pub fn combine(&self, bytes: u64) -> Result<Time, TimeError> {
        Time::new(self.combine_per_byte * bytes as f64).ok_or(TimeError::NotFinite)
    }

    /// Fails unless an operation has such an operator, and its data whole elements.
    ///
    /// # Errors
    /// [`OperatorError::Unused`], [`OperatorError::PartOfElement`].
    pub fn check(&self, operation: Operation, payload: &Payload) -> Result<(), OperatorError> {
        if *self == Operator::FREE {
            return Ok(());
        }
        if !operation.is_reduction() {
            return Err(OperatorError::Unused { operation });
        }
        let element_bytes = self.element_bytes;
        let is_cut = |bytes: &u64| !bytes.is_multiple_of(element_bytes);
        let cut = match payload {
            Payload::Blocks(sizes) => sizes.iter().find(is_cut),
            Payload::Vector(vector) => Some(vector.bytes).filter(is_cut),
            Payload::Messages(sizes) => sizes.iter().find(is_cut),
            Payload::Groups(sizes) => sizes.blocks().iter().find(is_cut),
        };
        match cut {
            Some(bytes) => Err(OperatorError::PartOfElement { bytes, element_bytes }),
            None => Ok(()),
        }
    }
}

impl Default for Operator {
    fn default() -> Operator {
        Operator::FREE
    }
}
