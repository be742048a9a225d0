//! What memory holds, byte by byte: data in its places, and something else between and around.

use crate::pattern::{Ink, Pattern};
use tuwtree_executor::play::{Execution, ExecutionError};
use tuwtree_executor::sys::{Element, compose};
use tuwtree_model::Rank;
use tuwtree_schedule::Buffer;

/// Bytes before and behind all data that nobody is to touch. A multiple of every element's size.
pub(crate) const GUARD: u64 = 64;

/// How many bytes are looked at in one go.
const CHUNK: usize = 1 << 20;

/// What lies in a part of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// A pattern.
    Bytes(Ink),
    /// A rank's vector of a reduction: bytes to compose, or numbers whose sums are exact.
    Numbers(Rank, Element),
    /// All processes' vectors, combined.
    Reduced(usize, Element),
}

/// Consecutive bytes of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Area {
    /// Where they start, in bytes from the memory's start.
    pub(crate) at: u64,
    /// How many they are.
    pub(crate) bytes: u64,
    /// Whose data they have to be.
    pub(crate) content: Content,
    /// The rank whose block this is; 0 in a buffer that has one area.
    pub(crate) block: usize,
}

/// The memory of a buffer.
#[derive(Clone, Debug)]
pub(crate) struct Image {
    size: u64,
    /// In order, apart from each other.
    areas: Vec<Area>,
    /// Whose gaps these are.
    rank: Rank,
}

/// A byte that is not what it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WrongByte {
    /// The area's block, or none in a gap.
    pub(crate) block: Option<usize>,
    /// Where the byte is, from the start of the area, or from where data may start.
    pub(crate) position: i64,
    pub(crate) found: u8,
    pub(crate) expected: u8,
}

impl Image {
    /// A memory of this size, all of it gaps but for these areas.
    pub(crate) fn new(size: u64, rank: Rank, areas: impl Iterator<Item = Area>) -> Image {
        let mut areas: Vec<Area> = areas.filter(|area| area.bytes > 0).collect();
        areas.sort_unstable_by_key(|area| area.at);
        Image { size, areas, rank }
    }

    /// The same memory with other content in all areas.
    pub(crate) fn with(&self, content: impl Fn(usize) -> Content) -> Image {
        let areas = self.areas.iter();
        let areas = areas.map(|area| Area { content: content(area.block), ..*area }).collect();
        Image { areas, ..*self }
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

    fn locate(&self, at: u64) -> (Option<usize>, i64) {
        let holds = |area: &Area| (area.at..area.at + area.bytes).contains(&at);
        match self.areas.iter().find(|area| holds(area)) {
            Some(area) => (Some(area.block), (at - area.at) as i64),
            None => (None, at as i64 - GUARD as i64),
        }
    }

    /// What belongs into the bytes from `at` on.
    fn fill(&self, iteration: u64, at: u64, bytes: &mut [u8]) {
        let gaps = Pattern::new(iteration, Ink::Gap(self.rank));
        let end = at + bytes.len() as u64;
        let first = self.areas.partition_point(|area| area.at + area.bytes <= at);
        let mut filled = at;
        for area in self.areas[first..].iter().take_while(|area| area.at < end) {
            let (from, to) = (area.at.max(at), (area.at + area.bytes).min(end));
            let [gap_start, start, stop] = [filled, from, to].map(|place| (place - at) as usize);
            gaps.fill(filled, &mut bytes[gap_start..start]);
            area.content.fill(iteration, from - area.at, &mut bytes[start..stop]);
            filled = to;
        }
        gaps.fill(filled, &mut bytes[(filled - at) as usize..]);
    }
}

impl Content {
    /// The bytes from this position on.
    fn fill(self, iteration: u64, position: u64, bytes: &mut [u8]) {
        let (ranks, element) = match self {
            Content::Bytes(ink) => return Pattern::new(iteration, ink).fill(position, bytes),
            Content::Numbers(rank, element) => (rank..rank + 1, element),
            Content::Reduced(processors, element) => (0..processors, element),
        };
        let patterns = || ranks.clone().map(|rank| Pattern::new(iteration, Ink::Data(rank)));
        for (at, byte) in (position..).zip(bytes) {
            *byte = match element {
                Element::Byte => {
                    // An odd factor: nothing is lost when it is combined.
                    let bytes = patterns().map(|pattern| pattern.word(at) as u8 | 0x10);
                    bytes.reduce(compose).unwrap_or(0)
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
