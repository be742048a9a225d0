//! Steps that use common bytes, at least one writing.

use smallvec::SmallVec;
use std::collections::BTreeMap;
use tuwtree_binding::Few;
use tuwtree_model::ClosedSet;
use tuwtree_schedule::{Buffer, Piece};

/// Accesses to each byte of a rank's buffers so far: the last writer, and the readers since.
#[derive(Default)]
pub(super) struct Touched {
    /// For each buffer, disjoint ranges by their starts.
    ranges: [BTreeMap<u64, Use>; 3],
}

#[derive(Clone)]
struct Use {
    end: u64,
    writer: Option<u32>,
    readers: SmallVec<[u32; 2]>,
}

impl Touched {
    /// Notes that `step` reads this; adds to `after` the steps that wrote it.
    ///
    /// # Complexity
    /// O(log n) amortized for each piece, and O(1) for each range that it meets.
    pub(super) fn read(
        &mut self,
        buffer: Buffer,
        pieces: &[Piece],
        step: u32,
        after: &mut Few<u32>,
    ) {
        let ranges = self.ranges(buffer);
        for piece in pieces {
            split(ranges, piece.offset);
            split(ranges, piece.end());
            let mut gaps: Few<(u64, u64)> = Few::new();
            let mut at = piece.offset;
            for (&start, used) in ranges.range_mut(piece.offset..piece.end()) {
                if at < start {
                    gaps.push((at, start));
                }
                after.extend(used.writer);
                used.readers.push(step);
                at = used.end;
            }
            if at < piece.end() {
                gaps.push((at, piece.end()));
            }
            for (start, end) in gaps {
                ranges.insert(
                    start,
                    Use { end, writer: None, readers: SmallVec::from_elem(step, 1) },
                );
            }
        }
    }

    /// Notes that `step` writes this; adds to `after` the steps that wrote or read it.
    ///
    /// # Complexity
    /// O(log n) amortized for each piece and each step that is added.
    pub(super) fn write(
        &mut self,
        buffer: Buffer,
        pieces: &[Piece],
        step: u32,
        after: &mut Few<u32>,
    ) {
        let ranges = self.ranges(buffer);
        for piece in pieces {
            split(ranges, piece.offset);
            split(ranges, piece.end());
            while let Some((&start, _)) = ranges.range(piece.offset..piece.end()).next() {
                let used = ranges.remove(&start).expect("the range was just found");
                after.extend(used.writer);
                after.extend(used.readers);
            }
            let used = Use { end: piece.end(), writer: Some(step), readers: SmallVec::new() };
            ranges.insert(piece.offset, used);
        }
    }

    fn ranges(&mut self, buffer: Buffer) -> &mut BTreeMap<u64, Use> {
        let place = Buffer::ALL.iter().position(|&known| known == buffer);
        &mut self.ranges[place.expect("ALL has all buffers")]
    }
}

/// Makes two of the range that has this offset inside.
fn split(ranges: &mut BTreeMap<u64, Use>, offset: u64) {
    if let Some((_, used)) = ranges.range_mut(..offset).next_back()
        && used.end > offset
    {
        let behind = used.clone();
        used.end = offset;
        ranges.insert(offset, behind);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(offset: u64, bytes: u64) -> [Piece; 1] {
        [Piece { offset, bytes }]
    }

    #[test]
    fn readers_wait_for_writers_and_writers_for_both() {
        let mut touched = Touched::default();
        let mut after = |step, reads: bool, offset, bytes| {
            let mut after = Few::new();
            match reads {
                true => touched.read(Buffer::Segment, &pieces(offset, bytes), step, &mut after),
                false => touched.write(Buffer::Segment, &pieces(offset, bytes), step, &mut after),
            }
            after.sort_unstable();
            after.dedup();
            after.to_vec()
        };
        assert!(after(0, false, 0, 8).is_empty());
        assert!(after(1, false, 8, 8).is_empty());
        assert_eq!(after(2, true, 4, 8), [0, 1]);
        assert_eq!(after(3, true, 0, 4), [0]);
        assert_eq!(after(4, false, 6, 1), [0, 2]);
        assert_eq!(after(5, false, 0, 16), [0, 1, 2, 3, 4]);
        assert_eq!(after(6, true, 14, 4), [5]);
        assert_eq!(after(7, false, 17, 1), [6]);
        assert_eq!(after(8, true, 0, 1), [5]);
    }

    #[test]
    fn buffers_have_nothing_to_do_with_each_other() {
        let mut touched = Touched::default();
        let mut after = Few::new();
        touched.write(Buffer::Segment, &pieces(0, 4), 0, &mut after);
        touched.read(Buffer::Output, &pieces(0, 4), 1, &mut after);
        assert!(after.is_empty());
    }
}
