//! Gather and scatter along a tree that the processors have built, each knowing its own place.
//!
//! Inner processors hold the packed data of their subtrees in rank order; leaves send from, and
//! receive into, the user's memory where its data is consecutive, and so does the root. The root
//! compares what its children state with its own counts. Where these differ, it still receives all
//! that is sent, and forgets it, or sends empty messages in place of data: nobody is left waiting, and
//! nobody takes the wrong data for the right.

use super::CollectiveError;
use crate::play::Mode;
use crate::sys::{Blocks, Communicator, MpiError, Parsed, Span};
use crate::tree::{Child, Fault, Node, digest};
use std::ffi::c_int;
use tuwtree_model::Rank;

/// Whether messages without data are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Empty {
    /// They are not: both sides know that there is nothing.
    Skipped,
    /// They are, since only the sender knows.
    Sent,
}

/// One processor's part in an operation along a tree.
pub(super) struct Along<'a> {
    pub(super) comm: &'a Communicator,
    pub(super) tag: c_int,
    pub(super) mode: Mode,
    pub(super) empty: Empty,
    pub(super) node: &'a Node,
    /// What went wrong when the tree was built, if this processor heard of it.
    pub(super) fault: Option<Fault>,
    /// What the arguments mean; `None` if they are invalid.
    pub(super) parsed: Option<&'a Parsed<'a>>,
}

/// Remembers the first of several errors: work goes on after an error, so that nobody waits.
#[derive(Default)]
struct First(Option<CollectiveError>);

impl First {
    fn note<T>(&mut self, result: Result<T, impl Into<CollectiveError>>) -> Option<T> {
        result.map_err(|error| self.0.get_or_insert_with(|| error.into())).ok()
    }

    fn is_none(&self) -> bool {
        self.0.is_none()
    }

    fn result(self) -> Result<(), CollectiveError> {
        self.0.map_or(Ok(()), Err)
    }
}

/// Gather.
impl<'a> Along<'a> {
    /// Gathers all blocks at the root.
    ///
    /// # Errors
    /// The first that is found here.
    pub(super) fn gather(&self) -> Result<(), CollectiveError> {
        match self.node.parent {
            Some(parent) if self.node.children.is_empty() => self.gather_leaf(parent),
            Some(parent) => self.gather_inner(parent),
            None => self.gather_root(),
        }
    }

    fn gather_leaf(&self, parent: Rank) -> Result<(), CollectiveError> {
        if !self.moves(self.node.block) {
            return Ok(());
        }
        let mut scratch = Vec::new();
        let memory = match self.own() {
            // Invalid arguments: the root hears of it by the size.
            None => Span::NONE,
            Some(own) => match own.consecutive(0, 0) {
                Some(memory) => memory,
                None => {
                    let packed = room(&mut scratch, own.bytes(0));
                    own.pack(0, packed, self.comm)?;
                    packed
                }
            },
        };
        Ok(self.comm.send(memory, parent, self.tag)?)
    }

    fn gather_inner(&self, parent: Rank) -> Result<(), CollectiveError> {
        let Node { rank, block, bytes, ref children, .. } = *self.node;
        let mut first = First::default();
        let mut scratch = Vec::new();
        let segment = room(&mut scratch, bytes);
        let places: Vec<_> = children.iter().map(|child| self.place(segment, child)).collect();
        let own_place = segment.part(self.offset(rank), block);
        let copy = || self.own().map_or(Ok(()), |own| own.pack(0, own_place, self.comm));
        self.receive_all(&places, copy, &mut first);
        if self.moves(bytes) {
            first.note(self.comm.send(segment, parent, self.tag));
        }
        first.result()
    }

    fn gather_root(&self) -> Result<(), CollectiveError> {
        let Node { rank, ref children, .. } = *self.node;
        let mut first = First::default();
        first.note(check_sizes(self.node, self.fault, self.all()));
        let all = self.all().filter(|_| first.is_none());
        let mut scratch = vec![Vec::new(); children.len()];
        let consecutive =
            |child: &Child| all.and_then(|all| all.consecutive(child.first, child.last));
        let places: Vec<_> = children
            .iter()
            .zip(&mut scratch)
            .map(|(child, scratch)| {
                consecutive(child).unwrap_or_else(|| room(scratch, child.bytes))
            })
            .collect();
        let copy = || match self.own().zip(all) {
            Some((own, all)) => own.copy_to(0, (all, rank), self.comm),
            None => Ok(()),
        };
        self.receive_all(&places, copy, &mut first);
        if let Some(all) = all.filter(|_| first.is_none()) {
            for (child, &place) in children.iter().zip(&places) {
                if consecutive(child).is_none() {
                    first.note(all.unpack_all(child.first..=child.last, place, self.comm));
                }
            }
        }
        first.result()
    }

    /// Receives from all children into these places, and copies the own block in between.
    fn receive_all(
        &self,
        places: &[Span<'_>],
        copy: impl Fn() -> Result<(), MpiError>,
        first: &mut First,
    ) {
        let Node { children, received_before_copy, .. } = self.node;
        let messages = || children.iter().zip(places).filter(|(child, _)| self.moves(child.bytes));
        match self.mode {
            Mode::Strict => {
                // A message without data is as good as received.
                let is_early = |child: &Child| {
                    children[..*received_before_copy].iter().any(|one| one.rank == child.rank)
                };
                let receive = |(child, place): (&Child, &Span<'_>)| {
                    self.check_received(child, self.comm.receive(*place, child.rank, self.tag))
                };
                for message in messages().filter(|(child, _)| is_early(child)) {
                    first.note(receive(message));
                }
                first.note(copy());
                for message in messages().filter(|(child, _)| !is_early(child)) {
                    first.note(receive(message));
                }
            }
            Mode::Eager => {
                let started: Vec<_> = messages()
                    .map(|(child, place)| {
                        (child, self.comm.start_receive(*place, child.rank, self.tag))
                    })
                    .collect();
                first.note(copy());
                for (child, message) in started {
                    let received = message.and_then(|message| message.wait());
                    first.note(self.check_received(child, received));
                }
            }
        }
    }

    fn check_received(
        &self,
        child: &Child,
        received: Result<u64, MpiError>,
    ) -> Result<(), CollectiveError> {
        self.check_message(child.rank, received?, child.bytes)
    }
}

/// Scatter.
impl Along<'_> {
    /// Scatters the root's blocks.
    ///
    /// # Errors
    /// The first that is found here.
    pub(super) fn scatter(&self) -> Result<(), CollectiveError> {
        match self.node.parent {
            Some(parent) if self.node.children.is_empty() => self.scatter_leaf(parent),
            Some(parent) => self.scatter_inner(parent),
            None => self.scatter_root(),
        }
    }

    fn scatter_leaf(&self, parent: Rank) -> Result<(), CollectiveError> {
        if !self.moves(self.node.block) {
            return Ok(());
        }
        let Some(own) = self.own() else {
            // Invalid arguments, which the caller has noted.
            self.comm.receive_and_forget(parent, self.tag)?;
            return Ok(());
        };
        if let Some(memory) = own.consecutive(0, 0) {
            return self.receive_from_parent(memory, parent);
        }
        let mut scratch = Vec::new();
        let packed = room(&mut scratch, own.bytes(0));
        self.receive_from_parent(packed, parent)?;
        Ok(own.unpack(0, packed, self.comm)?)
    }

    fn scatter_inner(&self, parent: Rank) -> Result<(), CollectiveError> {
        let Node { rank, block, bytes, ref children, .. } = *self.node;
        let mut first = First::default();
        let mut scratch = Vec::new();
        let segment = room(&mut scratch, bytes);
        if self.moves(bytes) {
            first.note(self.receive_from_parent(segment, parent));
        }
        let sound = first.is_none();
        let place = |child| if sound { self.place(segment, child) } else { Span::NONE };
        let places: Vec<_> = children.iter().map(place).collect();
        let own_place = segment.part(self.offset(rank), block);
        let copy = || match self.own().filter(|_| sound) {
            Some(own) => own.unpack(0, own_place, self.comm),
            None => Ok(()),
        };
        self.send_all(&places, copy, &mut first);
        first.result()
    }

    fn scatter_root(&self) -> Result<(), CollectiveError> {
        let Node { rank, ref children, .. } = *self.node;
        let mut first = First::default();
        first.note(check_sizes(self.node, self.fault, self.all()));
        let all = self.all().filter(|_| first.is_none());
        let mut scratch = vec![Vec::new(); children.len()];
        let mut places = Vec::with_capacity(children.len());
        for (child, scratch) in children.iter().zip(&mut scratch) {
            let Some(all) = all else {
                places.push(Span::NONE);
                continue;
            };
            places.push(all.consecutive(child.first, child.last).unwrap_or_else(|| {
                let place = room(scratch, child.bytes);
                let packed = all.pack_all(child.first..=child.last, place, self.comm);
                first.note(packed).map_or(Span::NONE, |()| place)
            }));
        }
        let copy = || match self.own().zip(all) {
            Some((own, all)) => all.copy_to(rank, (own, 0), self.comm),
            None => Ok(()),
        };
        self.send_all(&places, copy, &mut first);
        first.result()
    }

    /// Sends these places to all children, the last of a gather first, and copies in between.
    fn send_all(
        &self,
        places: &[Span<'_>],
        copy: impl Fn() -> Result<(), MpiError>,
        first: &mut First,
    ) {
        let Node { children, received_before_copy, .. } = self.node;
        let is_late = |child: &Child| {
            children[..*received_before_copy].iter().any(|one| one.rank == child.rank)
        };
        let messages =
            || children.iter().zip(places).rev().filter(|(child, _)| self.moves(child.bytes));
        match self.mode {
            Mode::Strict => {
                let send = |(child, place): (&Child, &Span<'_>)| {
                    self.comm.send(*place, child.rank, self.tag)
                };
                for message in messages().filter(|(child, _)| !is_late(child)) {
                    first.note(send(message));
                }
                first.note(copy());
                for message in messages().filter(|(child, _)| is_late(child)) {
                    first.note(send(message));
                }
            }
            Mode::Eager => {
                let started: Vec<_> = messages()
                    .map(|(child, place)| self.comm.start_send(*place, child.rank, self.tag))
                    .collect();
                first.note(copy());
                for message in started {
                    first.note(message.and_then(|message| message.wait()));
                }
            }
        }
    }

    fn receive_from_parent(&self, memory: Span<'_>, parent: Rank) -> Result<(), CollectiveError> {
        let received = self.comm.receive(memory, parent, self.tag)?;
        if self.empty == Empty::Skipped && received == 0 && memory.bytes() > 0 {
            return Err(CollectiveError::GivenUp { rank: self.node.rank });
        }
        self.check_message(parent, received, memory.bytes())
    }
}

impl<'a> Along<'a> {
    /// Whether a message for so many bytes is sent.
    fn moves(&self, bytes: u64) -> bool {
        bytes > 0 || self.empty == Empty::Sent
    }

    fn own(&self) -> Option<&'a Blocks<'a>> {
        self.parsed?.own.as_ref()
    }

    /// The root's blocks, at the root.
    fn all(&self) -> Option<&'a Blocks<'a>> {
        self.parsed?.all.as_ref()
    }

    fn check_message(&self, from: Rank, bytes: u64, expected: u64) -> Result<(), CollectiveError> {
        let to = self.node.rank;
        match bytes == expected {
            true => Ok(()),
            false => Err(CollectiveError::Message { from, to, bytes, expected }),
        }
    }

    /// A child's part of the segment.
    fn place<'s>(&self, segment: Span<'s>, child: &Child) -> Span<'s> {
        segment.part(self.offset(child.first), child.bytes)
    }

    /// Where the data of the subtree that starts with `first`, or the own block, lies in the
    /// segment: behind everything of lower ranks.
    fn offset(&self, first: Rank) -> u64 {
        let Node { rank, block, .. } = *self.node;
        let own = if rank < first { block } else { 0 };
        let before = self.node.children.iter().filter(|child| child.first < first);
        own + before.map(|child| child.bytes).sum::<u64>()
    }
}

/// Fails if the tree has a fault, or at the root, if its counts are not what others state.
pub(super) fn check_sizes(
    node: &Node,
    fault: Option<Fault>,
    all: Option<&Blocks<'_>>,
) -> Result<(), CollectiveError> {
    if let Some(fault) = fault {
        return Err(fault.into());
    }
    let Some(all) = all else { return Ok(()) };
    for &Child { first, last, bytes, digest: stated, .. } in &node.children {
        let expected: u64 = (first..=last).map(|rank| all.bytes(rank)).sum();
        let digests = (first..=last).map(|rank| digest(rank, all.bytes(rank)));
        if (bytes, stated) != (expected, digests.fold(0, u64::wrapping_add)) {
            return Err(CollectiveError::Sizes { first, last, stated: bytes, expected });
        }
    }
    Ok(())
}

/// As many bytes of scratch memory.
fn room(scratch: &mut Vec<u8>, bytes: u64) -> Span<'_> {
    *scratch = vec![0; bytes as usize];
    Span::of(scratch)
}
