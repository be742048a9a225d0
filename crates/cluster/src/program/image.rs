//! Expected memory, byte by byte: data in its places, and another pattern between and around.

use crate::pattern::{Ink, Pattern};
use tuwtree_binding::{Element, compose};
use tuwtree_executor::play::{Execution, ExecutionError};
use tuwtree_model::Rank;
use tuwtree_schedule::Buffer;

/// Bytes before and behind all data that nobody is to touch. A multiple of every element's size.
pub(crate) const GUARD: u64 = 64;

/// Bytes compared at a time.
const CHUNK: usize = 1 << 20;

/// Contents of a part of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// A pattern.
    Bytes(Ink),
    /// A rank's vector of a reduction: bytes to compose, or numbers whose sums are exact.
    Numbers(Rank, Element),
    /// All processes' vectors, combined.
    Reduced {
        /// Number of ranks.
        ranks: usize,
        /// Their elements.
        element: Element,
        /// True if bytes are composed in rank order; else combined by exclusive or.
        is_ordered: bool,
    },
    /// Room to work in: nobody looks at it.
    Scratch,
}

/// Consecutive bytes of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Area {
    /// Start, in bytes from the memory's start.
    pub(crate) at: u64,
    /// Number of bytes.
    pub(crate) bytes: u64,
    /// Expected data.
    pub(crate) content: Content,
    /// Start within these data.
    pub(crate) shift: u64,
    /// The rank whose block this is; 0 in a buffer that has one area.
    pub(crate) block: usize,
}

/// The memory of a buffer.
#[derive(Clone, Debug)]
pub(crate) struct Image {
    size: u64,
    /// In order, apart from each other.
    areas: Vec<Area>,
    /// Rank whose gaps these are.
    rank: Rank,
}

/// A byte that differs from its expected value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WrongByte {
    /// The area's block, or none in a gap.
    pub(crate) block: Option<usize>,
    /// Position of the byte, from the start of the area, or from the start of possible data.
    pub(crate) position: i64,
    pub(crate) found: u8,
    pub(crate) expected: u8,
}

impl Image {
    /// A memory of this size, with gaps around these areas.
    pub(crate) fn new(size: u64, rank: Rank, areas: impl Iterator<Item = Area>) -> Image {
        let mut areas: Vec<Area> = areas.filter(|area| area.bytes > 0).collect();
        areas.sort_unstable_by_key(|area| area.at);
        Image { size, areas, rank }
    }

    /// The size.
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// Puts into the memory what belongs there in this iteration.
    pub(crate) fn write(
        &self,
        execution: &mut Execution,
        buffer: Buffer,
        iteration: u64,
    ) -> Result<(), ExecutionError> {
        let mut bytes = vec![0; CHUNK];
        for at in (0..self.size).step_by(CHUNK) {
            let length = ((self.size - at) as usize).min(CHUNK);
            self.fill(iteration, at, &mut bytes[..length]);
            execution.write(buffer, at, &bytes[..length])?;
        }
        Ok(())
    }

    /// The first byte of the memory that is not what belongs there in this iteration.
    pub(crate) fn compare(
        &self,
        execution: &Execution,
        buffer: Buffer,
        iteration: u64,
    ) -> Result<Option<WrongByte>, ExecutionError> {
        let (mut expected, mut found) = (vec![0; CHUNK], vec![0; CHUNK]);
        for at in (0..self.size).step_by(CHUNK) {
            let length = ((self.size - at) as usize).min(CHUNK);
            let (expected, found) = (&mut expected[..length], &mut found[..length]);
            self.fill(iteration, at, expected);
            execution.read(buffer, at, found)?;
            self.overlook(at, found, expected);
            if expected != found
                && let Some(index) = (0..length).find(|&index| expected[index] != found[index])
            {
                let (expected, found) = (expected[index], found[index]);
                let (block, position) = self.locate(at + index as u64);
                return Ok(Some(WrongByte { block, position, found, expected }));
            }
        }
        Ok(None)
    }

    /// Accepts any contents of scratch areas, from `at` on.
    fn overlook(&self, at: u64, found: &[u8], expected: &mut [u8]) {
        let end = at + found.len() as u64;
        for area in self.areas.iter().filter(|area| area.content == Content::Scratch) {
            let (from, to) = (area.at.max(at), (area.at + area.bytes).min(end));
            if from < to {
                let range = (from - at) as usize..(to - at) as usize;
                expected[range.clone()].copy_from_slice(&found[range]);
            }
        }
    }

    fn locate(&self, at: u64) -> (Option<usize>, i64) {
        let holds = |area: &Area| (area.at..area.at + area.bytes).contains(&at);
        match self.areas.iter().find(|area| holds(area)) {
            Some(area) => (Some(area.block), (at - area.at) as i64),
            None => (None, at as i64 - GUARD as i64),
        }
    }

    /// Fills in the expected bytes from `at` on.
    fn fill(&self, iteration: u64, at: u64, bytes: &mut [u8]) {
        let gaps = Pattern::new(iteration, Ink::Gap(self.rank));
        let end = at + bytes.len() as u64;
        let first = self.areas.partition_point(|area| area.at + area.bytes <= at);
        let mut filled = at;
        for area in self.areas[first..].iter().take_while(|area| area.at < end) {
            let (from, to) = (area.at.max(at), (area.at + area.bytes).min(end));
            let [gap_start, start, stop] = [filled, from, to].map(|place| (place - at) as usize);
            gaps.fill(filled, &mut bytes[gap_start..start]);
            let position = area.shift + from - area.at;
            area.content.fill(iteration, position, &mut bytes[start..stop]);
            filled = to;
        }
        gaps.fill(filled, &mut bytes[(filled - at) as usize..]);
    }
}

impl Content {
    /// The bytes from this position on.
    fn fill(self, iteration: u64, position: u64, bytes: &mut [u8]) {
        let (ranks, element, is_ordered) = match self {
            Content::Scratch => return bytes.fill(0),
            Content::Bytes(ink) => return Pattern::new(iteration, ink).fill(position, bytes),
            Content::Numbers(rank, element) => (rank..rank + 1, element, false),
            Content::Reduced { ranks, element, is_ordered } => (0..ranks, element, is_ordered),
        };
        let joined = if is_ordered { compose } else { |left, right| left ^ right };
        let patterns = || ranks.clone().map(|rank| Pattern::new(iteration, Ink::Data(rank)));
        for (at, byte) in (position..).zip(bytes) {
            *byte = match element {
                Element::Byte => {
                    // An odd factor: nothing is lost when it is combined.
                    let bytes = patterns().map(|pattern| pattern.word(at) as u8 | 0x10);
                    bytes.reduce(joined).unwrap_or(0)
                }
                _ => {
                    let (size, index) = (element.bytes(), at / element.bytes());
                    let numbers = patterns().map(|pattern| (pattern.word(index) % 128) as u32);
                    bytes_of(numbers.sum(), element)[(at % size) as usize]
                }
            };
        }
    }
}

/// The number as an element in memory.
fn bytes_of(number: u32, element: Element) -> [u8; 8] {
    let mut bytes = [0; 8];
    match element {
        Element::Byte => bytes[0] = number as u8,
        Element::Int => bytes[..4].copy_from_slice(&number.to_ne_bytes()),
        Element::Long => bytes.copy_from_slice(&u64::from(number).to_ne_bytes()),
        Element::Float => bytes[..4].copy_from_slice(&(number as f32).to_ne_bytes()),
        Element::Double => bytes.copy_from_slice(&f64::from(number).to_ne_bytes()),
    }
    bytes
}
