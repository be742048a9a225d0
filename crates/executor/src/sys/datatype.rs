//! Datatypes: the library's, the user's, and those made of places in memory.

use crate::sys::raw::{self, MPI_Aint, MPI_Datatype};
use crate::sys::{MpiError, check};
use std::ffi::c_int;

/// The largest number of bytes, or elements, that MPI is given as one count; more are several.
pub const LARGEST_COUNT: u64 = 1 << 30;

/// A datatype of MPI, freed when dropped if it is ours.
#[derive(Debug)]
pub struct Datatype {
    raw: MPI_Datatype,
    is_ours: bool,
    size: u64,
    extent: i64,
    true_lower: i64,
    true_extent: i64,
    is_packed: bool,
}

/// The datatypes of the elements that users name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Element {
    /// `MPI_BYTE`, 1 byte.
    #[default]
    Byte,
    /// `MPI_INT32_T`, 4 bytes.
    Int,
    /// `MPI_INT64_T`, 8 bytes.
    Long,
    /// `MPI_FLOAT`, 4 bytes.
    Float,
    /// `MPI_DOUBLE`, 8 bytes.
    Double,
}

impl Element {
    /// All elements.
    pub const ALL: [Element; 5] =
        [Element::Byte, Element::Int, Element::Long, Element::Float, Element::Double];

    /// The name by which users call the element.
    pub fn name(self) -> &'static str {
        match self {
            Element::Byte => "byte",
            Element::Int => "int",
            Element::Long => "long",
            Element::Float => "float",
            Element::Double => "double",
        }
    }

    /// The size in bytes.
    pub fn bytes(self) -> u64 {
        match self {
            Element::Byte => 1,
            Element::Int | Element::Float => 4,
            Element::Long | Element::Double => 8,
        }
    }
}

#[allow(unsafe_code)]
impl Datatype {
    /// The datatype of such elements.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn of(element: Element) -> Result<Datatype, MpiError> {
        // SAFETY: constants of the C shims, which are handles of datatypes.
        unsafe {
            Datatype::named(match element {
                Element::Byte => raw::TUWTREE_BYTE,
                Element::Int => raw::RSMPI_INT32_T,
                Element::Long => raw::RSMPI_INT64_T,
                Element::Float => raw::RSMPI_FLOAT,
                Element::Double => raw::RSMPI_DOUBLE,
            })
        }
    }

    /// Numbers of 8 bits, with which the library can calculate.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn small_number() -> Result<Datatype, MpiError> {
        // SAFETY: a constant of the C shim, which is a datatype's handle.
        unsafe { Datatype::named(raw::RSMPI_UINT8_T) }
    }

    /// The user's datatype, which the user may free as soon as this returns.
    ///
    /// # Safety
    /// MPI is initialized, and `datatype` is a handle that MPI has given out, and committed (or
    /// `MPI_DATATYPE_NULL`, which is an error).
    ///
    /// # Errors
    /// What MPI returns.
    pub unsafe fn of_user(datatype: MPI_Datatype) -> Result<Datatype, MpiError> {
        // SAFETY: reading a constant of the C shim.
        if datatype == unsafe { raw::RSMPI_DATATYPE_NULL } {
            return Err(MpiError::new("MPI_Type_dup", raw::MPI_ERR_TYPE as c_int));
        }
        // SAFETY: a datatype's handle, by the caller's promise.
        unsafe {
            if is_named(datatype)? {
                return Datatype::named(datatype);
            }
            let mut copy = raw::RSMPI_DATATYPE_NULL;
            check("MPI_Type_dup", raw::PMPI_Type_dup(datatype, &mut copy))?;
            Datatype::measured(copy, true)
        }
    }

    /// `blocks` of `count` elements each, the starts of two being `stride` elements apart.
    ///
    /// # Errors
    /// What MPI returns, and more than it can count.
    pub fn strided(&self, blocks: u64, count: u64, stride: u64) -> Result<Datatype, MpiError> {
        let call = "MPI_Type_vector";
        let [blocks, count, stride] = [blocks, count, stride].map(c_int::try_from);
        let (Ok(blocks), Ok(count), Ok(stride)) = (blocks, count, stride) else {
            return Err(MpiError::new(call, raw::MPI_ERR_COUNT as c_int));
        };
        // SAFETY: the element's handle is valid; the new one is committed, and ours.
        unsafe {
            let mut made = raw::RSMPI_DATATYPE_NULL;
            check(call, raw::PMPI_Type_vector(blocks, count, stride, self.raw, &mut made))?;
            let mut made = Datatype::measured(made, true)?;
            check("MPI_Type_commit", raw::PMPI_Type_commit(&mut made.raw))?;
            Ok(made)
        }
    }

    /// Elements at these places: offsets in bytes, and numbers of elements.
    ///
    /// # Errors
    /// What MPI returns, and more places than it can count.
    pub(crate) fn at_places(&self, places: &[(i64, u64)]) -> Result<Datatype, MpiError> {
        let call = "MPI_Type_create_hindexed";
        let (mut offsets, mut lengths): (Vec<MPI_Aint>, Vec<c_int>) = (Vec::new(), Vec::new());
        for &(at, count) in places {
            for done in (0..count).step_by(LARGEST_COUNT as usize) {
                offsets.push((at + done as i64 * self.extent) as MPI_Aint);
                lengths.push((count - done).min(LARGEST_COUNT) as c_int);
            }
        }
        let count = c_int::try_from(lengths.len())
            .map_err(|_| MpiError::new(call, raw::MPI_ERR_COUNT as c_int))?;
        // SAFETY: both lists have `count` entries; the new type is committed, and ours.
        unsafe {
            let mut made = raw::RSMPI_DATATYPE_NULL;
            let (lengths, offsets) = (lengths.as_ptr(), offsets.as_ptr());
            let code = raw::PMPI_Type_create_hindexed(count, lengths, offsets, self.raw, &mut made);
            check(call, code)?;
            let mut made = Datatype::unmeasured(made, true);
            check("MPI_Type_commit", raw::PMPI_Type_commit(&mut made.raw))?;
            Ok(made)
        }
    }

    /// The size of an element's data in bytes, without gaps.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// How many bytes lie from the start of an element to that of the next.
    pub fn extent(&self) -> i64 {
        self.extent
    }

    /// Where the first byte of an element's data lies, from its start.
    pub fn true_lower(&self) -> i64 {
        self.true_lower
    }

    /// How many bytes lie from the first to the last of an element's data.
    pub fn true_extent(&self) -> i64 {
        self.true_extent
    }

    /// Whether elements in memory are the same bytes as in a message, one after the other. `false`
    /// if that is not known for sure.
    pub fn is_packed(&self) -> bool {
        self.is_packed
    }

    /// The handle. It stays ours.
    pub fn raw(&self) -> MPI_Datatype {
        self.raw
    }

    /// # Safety
    /// `datatype` is the handle of one of the library's own datatypes.
    unsafe fn named(datatype: MPI_Datatype) -> Result<Datatype, MpiError> {
        // SAFETY: by the caller's promise.
        unsafe { Datatype::measured(datatype, false) }
    }

    fn unmeasured(raw: MPI_Datatype, is_ours: bool) -> Datatype {
        let (size, extent, true_lower, true_extent) = (0, 0, 0, 0);
        Datatype { raw, is_ours, size, extent, true_lower, true_extent, is_packed: false }
    }

    /// # Safety
    /// `datatype` is a datatype's handle, and ours to free if `is_ours`.
    unsafe fn measured(datatype: MPI_Datatype, is_ours: bool) -> Result<Datatype, MpiError> {
        let mut made = Datatype::unmeasured(datatype, is_ours);
        let (mut size, mut lower) = (0, 0);
        // SAFETY: the handle is a datatype's; all results are written to local variables.
        unsafe {
            check("MPI_Type_size_x", raw::PMPI_Type_size_x(datatype, &mut size))?;
            check(
                "MPI_Type_get_extent_x",
                raw::PMPI_Type_get_extent_x(datatype, &mut lower, &mut made.extent),
            )?;
            check(
                "MPI_Type_get_true_extent_x",
                raw::PMPI_Type_get_true_extent_x(
                    datatype,
                    &mut made.true_lower,
                    &mut made.true_extent,
                ),
            )?;
        }
        if size < 0 {
            return Err(MpiError::new("MPI_Type_size_x", raw::MPI_ERR_TYPE as c_int));
        }
        made.size = size as u64;
        let has_no_gaps =
            made.extent == size && made.true_lower == 0 && made.true_extent == size && size > 0;
        // SAFETY: as above.
        made.is_packed = has_no_gaps && unsafe { is_in_order(datatype)? };
        Ok(made)
    }
}

#[allow(unsafe_code)]
impl Drop for Datatype {
    fn drop(&mut self) {
        let mut finalized = 0;
        // SAFETY: MPI_Finalized may be called at any time; the handle is ours, and freed once.
        unsafe {
            raw::PMPI_Finalized(&mut finalized);
            if self.is_ours && finalized == 0 {
                raw::PMPI_Type_free(&mut self.raw);
            }
        }
    }
}

/// How a datatype was made: its combiner, and the numbers of what it was made with.
///
/// # Safety
/// `datatype` is a datatype's handle.
#[allow(unsafe_code)]
unsafe fn envelope(datatype: MPI_Datatype) -> Result<(c_int, [c_int; 3]), MpiError> {
    let ([mut integers, mut addresses, mut datatypes], mut combiner) = ([0; 3], 0);
    // SAFETY: a datatype's handle; the results are written to local variables.
    check("MPI_Type_get_envelope", unsafe {
        raw::PMPI_Type_get_envelope(
            datatype,
            &mut integers,
            &mut addresses,
            &mut datatypes,
            &mut combiner,
        )
    })?;
    Ok((combiner, [integers, addresses, datatypes]))
}

/// # Safety
/// `datatype` is a datatype's handle.
#[allow(unsafe_code)]
unsafe fn is_named(datatype: MPI_Datatype) -> Result<bool, MpiError> {
    // SAFETY: by the caller's promise; reading a constant of the C shim.
    unsafe { Ok(envelope(datatype)?.0 == raw::TUWTREE_COMBINER_NAMED) }
}

/// Whether the datatype's parts follow each other in memory as in a message, whatever gaps there
/// are: so it is for the library's own, their duplicates and sequences. Others may reorder.
///
/// # Safety
/// `datatype` is a datatype's handle.
#[allow(unsafe_code)]
unsafe fn is_in_order(datatype: MPI_Datatype) -> Result<bool, MpiError> {
    // SAFETY: by the caller's promise; reading constants of the C shim.
    let ((combiner, counts), named, sequences) = unsafe {
        let sequences = [raw::TUWTREE_COMBINER_DUP, raw::TUWTREE_COMBINER_CONTIGUOUS];
        (envelope(datatype)?, raw::TUWTREE_COMBINER_NAMED, sequences)
    };
    if combiner == named {
        return Ok(true);
    }
    if !sequences.contains(&combiner) {
        return Ok(false);
    }
    let [integers, addresses, datatypes] = counts;
    let mut integer_list = vec![0; integers as usize];
    let mut address_list = vec![0; addresses as usize];
    // SAFETY: the lists are as long as the envelope says; what the call returns are handles, ours to
    // free unless they are the library's own.
    unsafe {
        let mut parts = vec![raw::RSMPI_DATATYPE_NULL; datatypes as usize];
        check(
            "MPI_Type_get_contents",
            raw::PMPI_Type_get_contents(
                datatype,
                integers,
                addresses,
                datatypes,
                integer_list.as_mut_ptr(),
                address_list.as_mut_ptr(),
                parts.as_mut_ptr(),
            ),
        )?;
        let mut all = true;
        for part in parts {
            let is_ours = !is_named(part)?;
            let part = Datatype::unmeasured(part, is_ours);
            all &= is_in_order(part.raw)?;
        }
        Ok(all)
    }
}
