//! Messages along kept trees ([`super::seats`]): the sizes of a subtree's blocks, followed by their data, or with the
//! data in a later message if it exceeds the seat's room.
//!
//! ```text
//!   width in bytes (8 bytes) | a size in so many bytes for each rank, filled up to 8 | data
//!   0                        | the size of all, in 8 bytes                           | data
//! ```

use super::seats::WORD;
use super::{CollectiveError, tag};
use crate::play::Strictness;
use std::ffi::c_int;
use std::rc::Rc;
use tuwtree_binding::{
    Communicator, Direction, Move, MpiError, Place, PlaceError, Requests, SentContent, Transfer,
    copy_by_message,
};
use tuwtree_model::Rank;
use tuwtree_schedule::Piece;

/// Piece size of discarded data, for which memory is lacking.
const SCRAP: u64 = 1 << 14;

/// In place of the size of a block that does not come, since something is wrong.
pub(super) const ABSENT: u64 = u64::MAX;

/// The shortest message with sizes, in bytes; a shorter one says that something is wrong.
const LEAST_HEADER: usize = 2 * WORD as usize;

/// Maximal bytes of the sizes of this many blocks.
pub(super) fn header_room(ranks: usize) -> u64 {
    WORD * (ranks as u64 + 1)
}

/// The sizes of at least one block, as a message begins with them.
pub(super) fn header_of(lengths: &[u64]) -> Vec<u8> {
    let first = lengths[0];
    if lengths.iter().all(|&length| length == first) {
        return [0, first].map(u64::to_ne_bytes).concat();
    }
    let largest = lengths.iter().copied().filter(|&length| length != ABSENT).max().unwrap_or(0);
    // The largest number of the width stands for a block that does not come.
    let fits = |width: &u64| *width == WORD || largest < (1 << (8 * width)) - 1;
    let width = [1, 2, 4, WORD].into_iter().find(fits).expect("a word has room for all");
    let mut header = width.to_ne_bytes().to_vec();
    for length in lengths {
        header.extend(&length.to_le_bytes()[..width as usize]);
    }
    header.resize(header.len().next_multiple_of(WORD as usize), 0);
    header
}

/// Sizes of blocks, and their bytes at the beginning of the message; `None` if it is too short.
pub(super) fn lengths_of(message: &[u8], ranks: usize) -> Option<(Vec<u64>, u64)> {
    if message.len() < LEAST_HEADER {
        return None;
    }
    let (words, rest) = message.split_at(WORD as usize);
    let word = |bytes: &[u8]| u64::from_ne_bytes(bytes.try_into().expect("8 bytes"));
    let width = word(words) as usize;
    if width == 0 {
        return Some((vec![word(&rest[..WORD as usize]); ranks], LEAST_HEADER as u64));
    }
    let length = |bytes: &[u8]| {
        let mut all = [0; WORD as usize];
        all[..width].copy_from_slice(bytes);
        match bytes.iter().all(|&byte| byte == u8::MAX) {
            true => ABSENT,
            false => u64::from_le_bytes(all),
        }
    };
    let lengths: Vec<u64> = rest.get(..width * ranks)?.chunks_exact(width).map(length).collect();
    Some((lengths, WORD + (width * ranks).next_multiple_of(WORD as usize) as u64))
}

/// Like [`lengths_of`], for a message in memory of our own.
pub(super) fn lengths_at(
    (place, offset): (&Rc<Place>, u64),
    bytes: u64,
    ranks: usize,
) -> Option<(Vec<u64>, u64)> {
    let mut header = vec![0; bytes.min(header_room(ranks)) as usize];
    place.memory().read(offset, &mut header);
    lengths_of(&header, ranks)
}

/// Some bytes of a place.
#[derive(Clone, Debug)]
pub(super) struct Stretch {
    pub(super) place: Rc<Place>,
    pub(super) piece: Piece,
}

impl Stretch {
    /// A stretch of this many bytes from an offset on.
    pub(super) fn new(place: &Rc<Place>, offset: u64, bytes: u64) -> Stretch {
        Stretch { place: Rc::clone(place), piece: Piece { offset, bytes } }
    }

    /// All data of a place.
    pub(super) fn whole(place: &Rc<Place>) -> Stretch {
        Stretch::new(place, 0, place.packed_bytes())
    }

    /// Starts to send it.
    ///
    /// # Errors
    /// What MPI returns.
    pub(super) fn send(&self, sent: &mut Requests, to: (Rank, c_int)) -> Result<(), MpiError> {
        let pieces = [self.piece];
        let data = self.place.stretches(&pieces[..usize::from(self.piece.bytes > 0)]);
        let data = data.expect("whole blocks, or bytes");
        let index = sent.add(Direction::Out, data.transfer(), to)?;
        sent.start(index, SentContent::Data)
    }

    /// Copies it to an equal or larger stretch. Bytes beyond its length stay unchanged.
    ///
    /// # Errors
    /// What MPI returns.
    pub(super) fn copy(&self, comm: &Communicator, into: &Stretch) -> Result<(), MpiError> {
        let bytes = self.piece.bytes;
        if bytes == 0 {
            return Ok(());
        }
        let from = self.place.stretches(&[self.piece]).expect("a whole block, or bytes");
        let room = match into.place.is_packed() {
            true => Piece { bytes, ..into.piece },
            false => into.piece,
        };
        let into = into.place.stretches(&[room]).expect("whole blocks, or bytes");
        if from.is_packed() && into.is_packed() {
            Move::new(&from, &into).perform();
            return Ok(());
        }
        copy_by_message(comm, from.transfer(), into.transfer())
    }

    /// Starts to receive at most as much, and at least as much as the strictness allows.
    ///
    /// # Errors
    /// What MPI returns.
    pub(super) fn receive(
        &self,
        received: &mut Requests,
        from: (Rank, c_int),
        strictness: Strictness,
    ) -> Result<u32, MpiError> {
        let pieces = [self.piece];
        let room = self.place.stretches(&pieces[..usize::from(self.piece.bytes > 0)]);
        let room = room.expect("whole blocks, or bytes");
        let index = received.add_room(room.transfer(), from, strictness.least(self.piece.bytes))?;
        received.start(index, SentContent::Data)?;
        Ok(index)
    }
}

/// Starts to receive data that comes after its size: where, or why there is no memory for it. It is received
/// nevertheless, so that nobody waits in vain. (A receive that is too short for a large message has Open MPI 4.1.4
/// write beyond it.)
///
/// # Errors
/// What MPI returns.
pub(super) fn receive_late(
    late: &mut Requests,
    bytes: u64,
    (from, scrap): (Rank, &Rc<Place>),
) -> Result<Result<Rc<Place>, CollectiveError>, MpiError> {
    let from = (from, tag::OVERFLOW);
    match Place::of_bytes(bytes) {
        Ok(place) => {
            let place = Rc::new(place);
            Stretch::whole(&place).receive(late, from, Strictness::Exact)?;
            Ok(Ok(place))
        }
        Err(error) => {
            throw_away(late, bytes, from, scrap)?;
            Ok(Err(error.into()))
        }
    }
}

/// Memory for data that nobody wants.
///
/// # Errors
/// No memory.
pub(super) fn scrap() -> Result<Rc<Place>, PlaceError> {
    Ok(Rc::new(Place::of_bytes(SCRAP)?))
}

/// Starts to receive data that nobody wants: one piece over the other.
///
/// # Errors
/// What MPI returns.
pub(super) fn throw_away(
    requests: &mut Requests,
    bytes: u64,
    from: (Rank, c_int),
    scrap: &Rc<Place>,
) -> Result<(), MpiError> {
    let mut stretches = vec![(0, SCRAP); (bytes / SCRAP) as usize];
    stretches.push((0, bytes % SCRAP));
    let over = Transfer { place: scrap, stretches: &stretches };
    let index = requests.add(Direction::In, over, from)?;
    requests.start(index, SentContent::Data)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tuwtree_model::Randomness;

    #[test]
    fn sizes_are_read_as_they_were_written_and_take_no_more_than_their_room() {
        let numbers = Randomness::Xoshiro { seed: 3 }.numbers(4000);
        for (seed, number) in numbers.iter().enumerate() {
            let ranks = 1 + (number % 9) as usize;
            let all = Randomness::Xoshiro { seed: seed as u64 }.numbers(ranks);
            let bits = number >> 8 & 63;
            let kind = number >> 16 & 3;
            let length = |one: &u64| match kind {
                0 => *number,
                1 if one & 1 == 0 => ABSENT,
                2 => (1 << bits) - (one & 1),
                _ => one >> bits,
            };
            let lengths: Vec<u64> = all.iter().map(length).collect();
            let mut message = header_of(&lengths);
            let header = message.len() as u64;
            assert!(header <= header_room(ranks), "{lengths:?}");
            message.extend([255; 20]);
            assert_eq!(lengths_of(&message, ranks), Some((lengths, header)));
            assert_eq!(lengths_of(&message[..LEAST_HEADER - 1], ranks), None);
        }
    }

    #[test]
    fn sizes_of_small_blocks_take_a_byte_each() {
        assert_eq!(header_of(&[8; 1000]).len(), 16);
        assert_eq!(header_of(&[0, 8, 254, 3, 9, ABSENT, 7, 1]).len(), 16);
        assert_eq!(header_of(&[0, 255]).len(), 16);
        assert_eq!(header_of(&[0; 64].map(|zero| zero + 1000)).len(), 16);
    }
}
