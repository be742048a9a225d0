//! The MPI library's own call of an operation on bytes, to measure others against.

use tuwtree_binding::{ByteLayout, Communicator, Intercommunicator, MpiError};
use tuwtree_model::{Operation, PayloadKind, Rank};

/// The library's own call of an operation at a rank, and where its data lies.
#[derive(Debug)]
pub struct LibraryCall {
    operation: Operation,
    rank: Rank,
    /// Of an operation without a root any rank.
    root: Rank,
    layout: CallLayout,
}

/// Layout of a call's bytes.
#[derive(Debug)]
pub enum CallLayout {
    /// The blocks of all ranks, one after the other: of a gather, a scatter, an allgather or a reduce-scatter.
    Blocks(ByteLayout),
    /// Of an alltoall: the messages to all, and those from all.
    Messages(ByteLayout, ByteLayout),
    /// A vector of any size.
    Vector,
    /// The blocks of the other group, and the communicator between the groups.
    Groups(ByteLayout, Intercommunicator),
}

impl LibraryCall {
    /// The call of this operation by a rank.
    ///
    /// # Panics
    /// For a layout that is another operation's.
    pub fn new(
        operation: Operation,
        (rank, root): (Rank, Rank),
        layout: CallLayout,
    ) -> LibraryCall {
        let fits = match &layout {
            CallLayout::Blocks(_) => operation.is_irregular(),
            CallLayout::Messages(..) => operation.payload_kind() == PayloadKind::Messages,
            CallLayout::Vector => operation.payload_kind() == PayloadKind::Vector,
            CallLayout::Groups(..) => operation.payload_kind() == PayloadKind::Groups,
        };
        assert!(fits, "the layout of {operation:?}");
        LibraryCall { operation, rank, root, layout }
    }

    /// Makes the call, on buffers as large as the layout says: of a broadcast the output alone counts, of a reduction the
    /// root's. Bytes are combined by exclusive or. Collective.
    ///
    /// # Errors
    /// What MPI returns.
    ///
    /// # Panics
    /// For buffers of other sizes.
    pub fn run(
        &self,
        input: &[u8],
        output: &mut [u8],
        communicator: &Communicator,
    ) -> Result<(), MpiError> {
        let LibraryCall { operation, rank, root, .. } = *self;
        match &self.layout {
            CallLayout::Blocks(layout) if operation.is_reduction() => {
                communicator.native(&layout.exclusive_or(input, output, rank))
            }
            CallLayout::Blocks(layout) => {
                communicator.native(&layout.arguments(operation, input, output, (rank, root)))
            }
            CallLayout::Messages(sent, received) => {
                communicator.native(&received.exchange((sent, input), output))
            }
            CallLayout::Vector if !operation.is_reduction() => {
                communicator.broadcast_bytes(output, root)
            }
            CallLayout::Vector => {
                let root = Some(root).filter(|_| operation.is_rooted());
                communicator.combine_bytes(input, output, root)
            }
            CallLayout::Groups(layout, between) => {
                between.native(&layout.from_others(input, output))
            }
        }
    }
}
