//! The same operation on the same buffers by the MPI library's own collective.

use super::place::Place;
use super::{Buffers, ExecutionError, Own};
use crate::sys::native::{self, Blocks, Elements};
use crate::sys::raw;
use crate::sys::{Communicator, Datatype, Memory, MpiError};
use std::ffi::c_int;
use tuwtree_model::Operation;
use tuwtree_schedule::{Buffer, Role};

impl Buffers {
    /// Performs the operation with the library's own collective: `MPI_Gatherv`, `MPI_Scatterv`,
    /// `MPI_Bcast` or `MPI_Reduce`, this one never in place. Collective.
    ///
    /// # Errors
    /// Buffers that are not those of the role, or that the call cannot take: more than 2^31 - 1
    /// elements, or blocks whose distances are not whole elements; what MPI returns.
    pub fn run_native(
        &self,
        role: &Role,
        communicator: &Communicator,
    ) -> Result<(), ExecutionError> {
        super::setup::check_sizes(role, self)?;
        let root = role.root;
        match role.operation {
            Operation::Gather => {
                let own = self.unless_in_place(&self.input)?;
                let lists = if role.is_root() { Some(lists(&self.output)?) } else { None };
                let blocks = lists.as_ref().map(|lists| self.output.all(lists));
                native::gatherv(communicator, root, own, blocks)?;
            }
            Operation::Scatter => {
                let own = self.unless_in_place(&self.output)?;
                let lists = if role.is_root() { Some(lists(&self.input)?) } else { None };
                let blocks = lists.as_ref().map(|lists| self.input.all(lists));
                native::scatterv(communicator, root, own, blocks)?;
            }
            Operation::Broadcast => {
                native::broadcast(communicator, root, self.output.elements(None)?)?;
            }
            Operation::Reduce => {
                let reduction = self.reduction.as_ref().expect("its presence was checked");
                let datatype = Some(&reduction.datatype);
                // Not in place: from 2 KiB on, MPICH 4.0.2 reads through MPI_IN_PLACE at a root
                // other than 0.
                let copied = match self.own {
                    Own::Apart => None,
                    Own::InPlace => Some(self.output.copied()?),
                };
                let given = copied.as_ref().unwrap_or(&self.input).elements(datatype)?;
                let mut result = self.output.elements(datatype)?;
                result.count = (role.own_bytes / reduction.datatype.size().max(1)) as c_int;
                native::reduce(communicator, root, given, result, &reduction.operator)?;
            }
        }
        Ok(())
    }

    /// The memory of a buffer.
    fn place(&self, buffer: Buffer) -> Option<&Place> {
        match buffer {
            Buffer::Input => Some(&self.input),
            Buffer::Output => Some(&self.output),
            Buffer::Segment => None,
        }
    }

    /// The size of a buffer's memory, gaps included, if it is ours.
    pub fn memory_bytes(&self, buffer: Buffer) -> Option<u64> {
        self.place(buffer)?.memory().bytes()
    }

    /// Copies bytes into the memory of a buffer, gaps included.
    ///
    /// # Errors
    /// [`ExecutionError::NotOurs`].
    pub fn write(
        &mut self,
        buffer: Buffer,
        offset: u64,
        bytes: &[u8],
    ) -> Result<(), ExecutionError> {
        let fault = ExecutionError::NotOurs { buffer, offset, bytes: bytes.len() as u64 };
        let memory = self.place(buffer).and_then(|place| place.own(offset, bytes.len() as u64));
        memory.ok_or(fault)?.write(offset, bytes);
        Ok(())
    }

    /// Copies bytes from the memory of a buffer, gaps included.
    ///
    /// # Errors
    /// [`ExecutionError::NotOurs`].
    pub fn read(
        &self,
        buffer: Buffer,
        offset: u64,
        bytes: &mut [u8],
    ) -> Result<(), ExecutionError> {
        let fault = ExecutionError::NotOurs { buffer, offset, bytes: bytes.len() as u64 };
        let memory = self.place(buffer).and_then(|place| place.own(offset, bytes.len() as u64));
        memory.ok_or(fault)?.read(offset, bytes);
        Ok(())
    }

    fn unless_in_place<'a>(
        &self,
        place: &'a Place,
    ) -> Result<Option<Elements<'a>>, ExecutionError> {
        match self.own {
            Own::Apart => Ok(Some(place.elements(None)?)),
            Own::InPlace => Ok(None),
        }
    }
}

/// Counts and displacements as MPI takes them.
struct Lists {
    counts: Vec<c_int>,
    displacements: Vec<c_int>,
}

fn int(number: i64) -> Result<c_int, ExecutionError> {
    let error = || MpiError::new("a collective of the library", raw::MPI_ERR_COUNT as c_int);
    Ok(c_int::try_from(number).map_err(|_| error())?)
}

fn lists(place: &Place) -> Result<Lists, ExecutionError> {
    let mut lists = Lists { counts: Vec::new(), displacements: Vec::new() };
    let (base, extent) = (place.base(), place.unit().extent());
    for (at, units) in place.in_units() {
        let distance = if units == 0 { 0 } else { at - base };
        if distance % extent != 0 {
            let error = MpiError::new("a collective of the library", raw::MPI_ERR_ARG as c_int);
            return Err(error.into());
        }
        lists.counts.push(int(units as i64)?);
        lists.displacements.push(int(distance / extent)?);
    }
    Ok(lists)
}

impl Place {
    /// Where displacements are counted from: the first block that has elements.
    fn base(&self) -> i64 {
        self.in_units().find(|&(_, units)| units > 0).map_or(0, |(at, _)| at)
    }

    /// The same bytes elsewhere.
    fn copied(&self) -> Result<Place, ExecutionError> {
        let bytes = self.packed_bytes();
        let copied = Place::of_bytes(bytes)?;
        Memory::copy((self.memory(), self.base()), (copied.memory(), 0), bytes);
        Ok(copied)
    }

    fn all<'a>(&'a self, lists: &'a Lists) -> Blocks<'a> {
        let Lists { counts, displacements } = lists;
        Blocks {
            memory: self.memory(),
            datatype: self.unit(),
            at: self.base(),
            counts,
            displacements,
        }
    }

    /// All elements, which are one block; counted in this datatype, if one is given.
    fn elements<'a>(
        &'a self,
        datatype: Option<&'a Datatype>,
    ) -> Result<Elements<'a>, ExecutionError> {
        let units = self.in_units().map(|(_, units)| units).sum::<u64>();
        let (count, datatype) = match datatype {
            Some(datatype) => (self.packed_bytes() / datatype.size().max(1), datatype),
            None => (units, self.unit()),
        };
        let count = int(count as i64)?;
        Ok(Elements { memory: self.memory(), datatype, at: self.base(), count })
    }
}
