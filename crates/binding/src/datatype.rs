//! Datatypes: the library's, the user's, and those made of places in memory.

use super::raw::{self, MPI_Aint, MPI_Datatype};
use super::{MpiError, calls, is_running};
use std::cell::Cell;
use std::ffi::c_int;

/// The largest number of bytes, or elements, that MPI is given as one count; more are several.
pub const LARGEST_COUNT: u64 = 1 << 30;

/// A datatype of MPI, freed when dropped if it is ours.
#[derive(Debug)]
pub struct Datatype {
    raw: MPI_Datatype,
    is_ours: bool,
    measures: Measures,
}

/// A datatype's facts, as MPI states them.
#[derive(Clone, Copy, Debug, Default)]
struct Measures {
    size: u64,
    extent: i64,
    true_lower: i64,
    true_extent: i64,
    is_packed: bool,
}

thread_local! {
    /// The last of the library's own datatypes that a user named, which is always the same: most
    /// programs name few.
    static LAST_NAMED: Cell<Option<(MPI_Datatype, Measures)>> = const { Cell::new(None) };
}

/// The datatypes of the elements that users name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[derive(strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "kebab-case")]
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
    /// The size in bytes.
    pub fn bytes(self) -> u64 {
        match self {
            Element::Byte => 1,
            Element::Int | Element::Float => 4,
            Element::Long | Element::Double => 8,
        }
    }
}

impl Datatype {
    /// Bytes.
    pub fn byte() -> Datatype {
        // SAFETY: a constant of the C shim, set when the library was built.
        let raw = unsafe { raw::TUWTREE_BYTE };
        let (size, extent, true_lower, true_extent) = (1, 1, 0, 1);
        let measures = Measures { size, extent, true_lower, true_extent, is_packed: true };
        Datatype { raw, is_ours: false, measures }
    }

    /// The datatype of such elements.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn of(element: Element) -> Result<Datatype, MpiError> {
        // SAFETY: constants of the C shims, which are handles of datatypes of the library's own.
        unsafe {
            let datatype = match element {
                Element::Byte => return Ok(Datatype::byte()),
                Element::Int => raw::RSMPI_INT32_T,
                Element::Long => raw::RSMPI_INT64_T,
                Element::Float => raw::RSMPI_FLOAT,
                Element::Double => raw::RSMPI_DOUBLE,
            };
            Datatype::measured(datatype, false)
        }
    }

    /// Numbers of 8 bits, with which the library can calculate.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn small_number() -> Result<Datatype, MpiError> {
        // SAFETY: a constant of the C shim, which is the handle of a datatype of the library's own.
        unsafe { Datatype::measured(raw::RSMPI_UINT8_T, false) }
    }

    /// Another handle of this datatype, alive as long as this one.
    pub fn again(&self) -> Datatype {
        Datatype { raw: self.raw, is_ours: false, measures: self.measures }
    }

    /// The user's datatype.
    ///
    /// # Safety
    /// MPI is initialized, and `datatype` is a handle that MPI has given out, and committed (or
    /// `MPI_DATATYPE_NULL`, which is an error). If it is [`Handles::Lent`], it is not freed as long as
    /// this lives; else it may be as soon as this returns.
    ///
    /// # Errors
    /// What MPI returns.
    pub unsafe fn of_user(datatype: MPI_Datatype, handles: Handles) -> Result<Datatype, MpiError> {
        if let Some((raw, measures)) = LAST_NAMED.get()
            && raw == datatype
        {
            return Ok(Datatype { raw, is_ours: false, measures });
        }
        // SAFETY: a datatype's handle, by the caller's promise, or null, which is not looked at.
        unsafe {
            if datatype == raw::RSMPI_DATATYPE_NULL {
                return Err(MpiError::new("MPI_Type_dup", raw::MPI_ERR_TYPE as c_int));
            }
            if is_named(datatype)? {
                let named = Datatype::measured(datatype, false)?;
                LAST_NAMED.set(Some((datatype, named.measures)));
                return Ok(named);
            }
            if handles == Handles::Lent {
                return Datatype::measured(datatype, false);
            }
            let mut copy = raw::RSMPI_DATATYPE_NULL;
            calls::type_dup(datatype, &mut copy)?;
            Datatype::measured(copy, true)
        }
    }

    /// `blocks` of `count` elements each, the starts of two being `stride` elements apart.
    ///
    /// # Errors
    /// What MPI returns, and more than it can count.
    pub fn strided(&self, blocks: u64, count: u64, stride: u64) -> Result<Datatype, MpiError> {
        let [blocks, count, stride] = [blocks, count, stride].map(c_int::try_from);
        let (Ok(blocks), Ok(count), Ok(stride)) = (blocks, count, stride) else {
            return Err(MpiError::new("MPI_Type_vector", raw::MPI_ERR_COUNT as c_int));
        };
        // SAFETY: the element's handle is valid; the new one is committed, and ours.
        unsafe {
            let mut made = raw::RSMPI_DATATYPE_NULL;
            calls::type_vector(blocks, count, stride, self.raw, &mut made)?;
            let mut made = Datatype::measured(made, true)?;
            calls::type_commit(&mut made.raw)?;
            Ok(made)
        }
    }

    /// Elements at these places: offsets in bytes, and numbers of elements.
    ///
    /// # Errors
    /// What MPI returns, and more places than it can count.
    pub fn at_places(&self, places: &[(i64, u64)]) -> Result<Datatype, MpiError> {
        let (offsets, lengths) = counted_places(places, self.extent(), LARGEST_COUNT);
        let count = c_int::try_from(lengths.len())
            .map_err(|_| MpiError::new("MPI_Type_create_hindexed", raw::MPI_ERR_COUNT as c_int))?;
        // SAFETY: both lists have `count` entries; the new type is committed, and ours.
        unsafe {
            let mut made = raw::RSMPI_DATATYPE_NULL;
            let (lengths, offsets) = (lengths.as_ptr(), offsets.as_ptr());
            calls::type_create_hindexed(count, lengths, offsets, self.raw, &mut made)?;
            let mut made = Datatype::unmeasured(made, true);
            calls::type_commit(&mut made.raw)?;
            Ok(made)
        }
    }

    /// The size of an element's data in bytes, without gaps.
    pub fn size(&self) -> u64 {
        self.measures.size
    }

    /// Bytes from the start of one element to the start of the next.
    pub fn extent(&self) -> i64 {
        self.measures.extent
    }

    /// Offset of the first byte of an element's data from the element's start.
    pub fn true_lower(&self) -> i64 {
        self.measures.true_lower
    }

    /// Bytes from the first to the last byte of an element's data.
    pub fn true_extent(&self) -> i64 {
        self.measures.true_extent
    }

    /// True if elements lie in memory as in a message, back to back; false if unknown.
    pub fn is_packed(&self) -> bool {
        self.measures.is_packed
    }

    /// The handle. It stays ours.
    pub fn raw(&self) -> MPI_Datatype {
        self.raw
    }

    fn unmeasured(raw: MPI_Datatype, is_ours: bool) -> Datatype {
        Datatype { raw, is_ours, measures: Measures::default() }
    }

    /// # Safety
    /// `datatype` is a datatype's handle, and ours to free if `is_ours`.
    unsafe fn measured(datatype: MPI_Datatype, is_ours: bool) -> Result<Datatype, MpiError> {
        // Whose handle is freed if a call fails.
        let mut made = Datatype::unmeasured(datatype, is_ours);
        let Measures { extent, true_lower, true_extent, .. } = &mut made.measures;
        let (mut size, mut lower) = (0, 0);
        // SAFETY: the handle is a datatype's; all results are written to local variables.
        unsafe {
            calls::type_size_x(datatype, &mut size)?;
            calls::type_get_extent_x(datatype, &mut lower, extent)?;
            calls::type_get_true_extent_x(datatype, true_lower, true_extent)?;
        }
        if size < 0 {
            return Err(MpiError::new("MPI_Type_size_x", raw::MPI_ERR_TYPE as c_int));
        }
        let has_no_gaps = (*extent, *true_lower, *true_extent) == (size, 0, size) && size > 0;
        made.measures.size = size as u64;
        // SAFETY: the handle is a datatype's, by the caller's promise.
        made.measures.is_packed = has_no_gaps && unsafe { is_in_order(datatype)? };
        Ok(made)
    }
}

impl Drop for Datatype {
    fn drop(&mut self) {
        if self.is_ours && is_running() {
            // SAFETY: a datatype that was made here; MPI keeps it for messages under way. Failures
            // have nobody to hear of them.
            let _ = unsafe { calls::type_free(&mut self.raw) };
        }
    }
}

/// Lifetime of the user's handles, relative to objects made of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handles {
    /// They do: an operation that is performed at once.
    Lent,
    /// They may be freed before: an operation that is set up.
    Copied,
}

/// Offsets in bytes and numbers of elements, none above `most`, for these places.
fn counted_places(places: &[(i64, u64)], extent: i64, most: u64) -> (Vec<MPI_Aint>, Vec<c_int>) {
    let parts = places.iter().flat_map(|&(at, count)| {
        (0..count).step_by(most as usize).map(move |done| {
            ((at + done as i64 * extent) as MPI_Aint, (count - done).min(most) as c_int)
        })
    });
    parts.unzip()
}

/// Elements in the form of MPI's calls: a number of elements of a datatype, from an offset on.
#[derive(Debug)]
pub(crate) struct Counted<'a> {
    pub(crate) start: i64,
    pub(crate) count: c_int,
    pub(crate) datatype: MaybeMade<'a>,
}

/// A datatype that is there, or one that was made for a message.
#[derive(Debug)]
pub(crate) enum MaybeMade<'a> {
    There(&'a Datatype),
    /// One element of several places, or of more than MPI counts.
    Made(Datatype),
}

impl MaybeMade<'_> {
    pub(crate) fn raw(&self) -> MPI_Datatype {
        match self {
            MaybeMade::There(datatype) => datatype.raw,
            MaybeMade::Made(datatype) => datatype.raw,
        }
    }

    /// The datatype, if it was made.
    pub(crate) fn into_made(self) -> Option<Datatype> {
        match self {
            MaybeMade::There(_) => None,
            MaybeMade::Made(datatype) => Some(datatype),
        }
    }
}

impl<'a> Counted<'a> {
    /// Elements of this datatype at these places: offsets in bytes, and numbers of elements.
    ///
    /// # Errors
    /// What MPI returns, and more places than it can count.
    pub(crate) fn new(
        datatype: &'a Datatype,
        places: &[(i64, u64)],
    ) -> Result<Counted<'a>, MpiError> {
        Ok(match *places {
            [] => Counted { start: 0, count: 0, datatype: MaybeMade::There(datatype) },
            [(start, count)] if count <= LARGEST_COUNT => {
                Counted { start, count: count as c_int, datatype: MaybeMade::There(datatype) }
            }
            _ => {
                let made = MaybeMade::Made(datatype.at_places(places)?);
                Counted { start: 0, count: 1, datatype: made }
            }
        })
    }

    /// The first `bytes` bytes; `byte` is [`Datatype::byte`].
    ///
    /// # Errors
    /// What MPI returns.
    pub(crate) fn of_bytes(byte: &'a Datatype, bytes: usize) -> Result<Counted<'a>, MpiError> {
        Counted::new(byte, &[(0, bytes as u64)])
    }
}

/// Construction of a datatype: its combiner, and the numbers it was made with.
///
/// # Safety
/// `datatype` is a datatype's handle.
unsafe fn envelope(datatype: MPI_Datatype) -> Result<(c_int, [c_int; 3]), MpiError> {
    let ([mut integers, mut addresses, mut datatypes], mut combiner) = ([0; 3], 0);
    let (integer, address, part) = (&mut integers, &mut addresses, &mut datatypes);
    // SAFETY: a datatype's handle; the results are written to local variables.
    unsafe { calls::type_get_envelope(datatype, integer, address, part, &mut combiner)? };
    Ok((combiner, [integers, addresses, datatypes]))
}

/// # Safety
/// `datatype` is a datatype's handle.
unsafe fn is_named(datatype: MPI_Datatype) -> Result<bool, MpiError> {
    // SAFETY: by the caller's promise; reading a constant of the C shim.
    unsafe { Ok(envelope(datatype)?.0 == raw::TUWTREE_COMBINER_NAMED) }
}

/// True if the datatype's parts follow each other in memory as in a message, with or without gaps:
/// the library's own types, their duplicates and sequences. Other types may reorder.
///
/// # Safety
/// `datatype` is a datatype's handle.
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
        let (integer_list, address_list) = (integer_list.as_mut_ptr(), address_list.as_mut_ptr());
        calls::type_get_contents(
            datatype,
            integers,
            addresses,
            datatypes,
            integer_list,
            address_list,
            parts.as_mut_ptr(),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_more_elements_than_mpi_counts_are_several() {
        let counted = |places: &[(i64, u64)]| counted_places(places, 4, 10);
        assert_eq!(counted(&[(8, 10), (100, 3)]), (vec![8, 100], vec![10, 3]));
        assert_eq!(counted(&[(-8, 25), (200, 0)]), (vec![-8, 32, 72], vec![10, 10, 5]));
        assert_eq!(counted(&[]), (vec![], vec![]));
    }
}
