//! The MPI library's own collective for a role and its buffers.

use super::{Buffers, ExecutionError, Own, Place, Reduction};
use tuwtree_binding::{Arguments, Communicator};
use tuwtree_model::{Operation, Rank};
use tuwtree_schedule::{Buffer, Role};

impl Buffers {
    /// Performs the operation with the library's own collective: `MPI_Gatherv`, `MPI_Scatterv`,
    /// `MPI_Bcast` or `MPI_Reduce`, this one never in place. Collective.
    ///
    /// # Errors
    /// Buffers that are not those of the role, or that the call cannot take: more than 2^31 - 1
    /// elements, or distances of blocks that are not whole elements; errors of MPI.
    pub fn run_native(
        &self,
        role: &Role,
        communicator: &Communicator,
    ) -> Result<(), ExecutionError> {
        let operation = role.operation;
        super::setup::check_sizes(role, self)?;
        let root = role.root.ok_or(ExecutionError::Rootless { operation })?;
        let (own, all) = match operation {
            Operation::Gather => (&*self.input, &*self.output),
            Operation::Scatter => (&*self.output, &*self.input),
            Operation::Broadcast => return Ok(communicator.native_broadcast(&self.output, root)?),
            Operation::Reduce => return self.reduce_natively(role, root, communicator),
            _ => return Err(ExecutionError::Rootless { operation }),
        };
        let lists = if role.is_root() { Some(all.lists()?) } else { None };
        let own = Some(own).filter(|_| self.own == Own::Apart);
        let all = lists.as_ref().map(|lists| (all, lists));
        let arguments = Arguments::of_places(operation, own, all, root)?;
        Ok(communicator.native(&arguments)?)
    }

    fn reduce_natively(
        &self,
        role: &Role,
        root: Rank,
        communicator: &Communicator,
    ) -> Result<(), ExecutionError> {
        let Reduction { datatype, operator } =
            self.reduction.as_ref().expect("its presence was checked");
        let elements = role.own_bytes / datatype.size().max(1);
        // Not in place: from 2 KiB on, MPICH 4.0.2 reads through MPI_IN_PLACE at a root other than 0.
        let copied = match self.own {
            Own::Apart => None,
            Own::InPlace => Some(self.output.copied()?),
        };
        let given = copied.as_ref().unwrap_or(&*self.input);
        let operation = (datatype, operator, root);
        Ok(communicator.native_reduce(given, &self.output, elements, operation)?)
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
}
