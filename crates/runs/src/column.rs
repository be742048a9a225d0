//! A column's candidates in which the right part receives.
//!
//! ```text
//!  row r   E(r, j)    column j, before the cell of row i is found
//!
//!  i          ?
//!  i + 1      9       read from the row below where the stack is empty
//!  i + 2      9
//!  i + 3      6       entry (i + 3, 6), the back: pushed when row i + 2 rose above it
//!  i + 4      8       never an entry: row i + 3 fell below it
//!  i + 5      4       entry (i + 5, 4), the front: the best, and of the longest left part
//!  i + 6      4       same run as row i + 5, which stands for it
//!  i + 7      2       was an entry; now idle, since C(i, i + 6) > C(i + 7, j)
//! ```
//!
//! For a fixed row `r` of column `j` the candidate is `E(r, j)` while its left part `[i..r-1]` is
//! not the later one, and `C(i,r-1) - S(r,j)` from then on. Of a run of equal `E(., j)` the least
//! row is the best in all rows above, and of those left only rows with less excess than all above
//! them matter. So each column has a stack of entries `(r, e)`: from the back, where they are added,
//! to the front, rows rise and excesses fall. The front is the best; it is also the first to be
//! dropped, as its left part is the longest. The one dropped last is *idle*: of all whose left part
//! is the later one it is best.
//!
//! Fronts are compared with their neighbours', so that the sweep can pass over columns with equal
//! fronts; columns that need a look of their own are marked in the same sets.

use super::events::Events;
use super::kept::KeptBlocks;
use super::run::Excess;
use super::zeros::Shadow;
use std::collections::BTreeMap;
use std::ops::Range;

/// No row.
pub(super) const NONE: u32 = u32::MAX;

/// A finished run of a column: its least row and its excess.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry<E> {
    pub(super) row: u32,
    pub(super) excess: E,
}

/// The entries of one column.
#[derive(Clone, Debug)]
struct Stack<E> {
    /// From `head` on: rows fall, excesses rise.
    entries: Vec<Entry<E>>,
    head: u32,
}

/// The column holds entries.
const FILLED: u8 = 1;
/// The column's cell must be looked at in the row at hand.
const AWAKE: u8 = 2;
/// The column's rank may be the root of the range that it ends.
const SPECIAL: u8 = 4;
/// The column's shadow cells are to be found: see [`zeros`](super::zeros).
const SHADOW: u8 = 8;
/// The front differs from that of the column before.
const STEP: u8 = 16;
/// The front plus `w` differs from that of the column before, or `w` falls.
const BEND: u8 = 32;

/// The columns of one tile, which passes them on to the tile above.
#[derive(Debug)]
pub(super) struct TileColumns<E> {
    /// The column that entry 0 of all lists is for.
    first: usize,
    /// For each column the bits that apply.
    flags: Vec<u8>,
    /// For each column its front entry, if it has one.
    front: Vec<Entry<E>>,
    stacks: Vec<Stack<E>>,
    /// For each column the row of its idle entry, or `NONE`.
    idle: Vec<u32>,
    /// For each column the row in which it wakes, or `NONE`.
    timer: Vec<u32>,
    /// The columns that need a look or whose front is another than that of the column before.
    steps: Events,
    /// The columns that need a look or whose front does not continue a falling run.
    bends: Events,
    /// The columns with entries.
    filled: Events,
    /// For each `a` how many runs of the right parts from `a` on were within reach when last asked.
    /// Only left parts that end with `a - 1` ask, and their time only grows (L).
    hints: Vec<u32>,
    /// The candidates of shadowed columns.
    pub(super) shadows: BTreeMap<usize, Shadow>,
}

impl<E: Excess> TileColumns<E> {
    /// Columns without cells.
    pub(super) fn new(range: Range<usize>) -> TileColumns<E> {
        let (first, count) = (range.start, range.len());
        TileColumns {
            first,
            flags: vec![0; count],
            front: vec![Entry { row: NONE, excess: E::pack(0) }; count],
            stacks: vec![Stack { entries: Vec::new(), head: 0 }; count],
            idle: vec![NONE; count],
            timer: vec![NONE; count],
            steps: Events::new(count),
            bends: Events::new(count),
            filled: Events::new(count),
            hints: vec![0; range.end],
            shadows: BTreeMap::new(),
        }
    }

    #[inline(always)]
    pub(super) fn first(&self) -> usize {
        self.first
    }

    /// One more than the last column.
    #[inline(always)]
    pub(super) fn end(&self) -> usize {
        self.first + self.flags.len()
    }

    pub(super) fn range(&self) -> Range<usize> {
        self.first..self.end()
    }

    /// Start of a search in the row of right parts from `a` on.
    #[inline(always)]
    pub(super) fn hint(&mut self, a: usize) -> &mut u32 {
        &mut self.hints[a]
    }

    /// True if the column has entries.
    #[inline(always)]
    pub(super) fn is_filled(&self, j: usize) -> bool {
        self.flags[j - self.first] & FILLED != 0
    }

    /// True if entries may have to be dropped.
    #[inline(always)]
    pub(super) fn is_awake(&self, j: usize) -> bool {
        self.flags[j - self.first] & AWAKE != 0
    }

    /// True if the column's rank may be the root.
    #[inline(always)]
    pub(super) fn is_special(&self, j: usize) -> bool {
        self.flags[j - self.first] & SPECIAL != 0
    }

    /// True if the column's shadow cell is to be found.
    #[inline(always)]
    pub(super) fn is_shadowed(&self, j: usize) -> bool {
        self.flags[j - self.first] & SHADOW != 0
    }

    /// True if the column's cell needs no search of its own.
    #[inline(always)]
    pub(super) fn is_quiet(&self, j: usize) -> bool {
        self.flags[j - self.first] & (AWAKE | SPECIAL | SHADOW) == 0
    }

    /// The excess of the front entry.
    #[inline(always)]
    pub(super) fn front(&self, j: usize) -> i64 {
        self.front[j - self.first].excess.value()
    }

    /// The front entry.
    #[inline(always)]
    pub(super) fn front_entry(&self, j: usize) -> Option<Entry<E>> {
        self.is_filled(j).then(|| self.front[j - self.first])
    }

    #[inline(always)]
    pub(super) fn idle(&self, j: usize) -> u32 {
        self.idle[j - self.first]
    }

    #[inline(always)]
    pub(super) fn set_idle(&mut self, j: usize, row: u32) {
        self.idle[j - self.first] = row;
    }

    #[inline(always)]
    pub(super) fn timer(&self, j: usize) -> u32 {
        self.timer[j - self.first]
    }

    #[inline(always)]
    pub(super) fn set_timer(&mut self, j: usize, row: u32) {
        self.timer[j - self.first] = row;
    }

    /// The next column from `from` on at which the fronts change level or that needs a look.
    #[inline(always)]
    pub(super) fn next_step(&self, from: usize) -> usize {
        self.steps.next(from - self.first).saturating_add(self.first)
    }

    /// The next column from `from` on at which front plus `w` changes or that needs a look.
    #[inline(always)]
    pub(super) fn next_bend(&self, from: usize) -> usize {
        self.bends.next(from - self.first).saturating_add(self.first)
    }

    /// The next column from `from` on that holds entries.
    #[inline(always)]
    pub(super) fn next_filled(&self, from: usize) -> usize {
        self.filled.next(from - self.first).saturating_add(self.first)
    }

    pub(super) fn set_awake(&mut self, j: usize, awake: bool) {
        self.set(j, AWAKE, awake);
    }

    pub(super) fn set_special(&mut self, j: usize, special: bool) {
        self.set(j, SPECIAL, special);
    }

    pub(super) fn set_shadowed(&mut self, j: usize, shadowed: bool) {
        self.set(j, SHADOW, shadowed);
    }

    /// Sets or clears a flag.
    #[inline]
    fn set(&mut self, j: usize, flag: u8, on: bool) {
        let flags = &mut self.flags[j - self.first];
        *flags = if on { *flags | flag } else { *flags & !flag };
        self.publish(j - self.first);
    }

    /// Makes the searchable sets agree with the flags of a column.
    #[inline]
    fn publish(&mut self, at: usize) {
        let flags = self.flags[at];
        if flags & (AWAKE | SPECIAL | SHADOW | STEP) != 0 {
            self.steps.insert(at);
        } else {
            self.steps.remove(at);
        }
        if flags & (AWAKE | SPECIAL | SHADOW | BEND) != 0 {
            self.bends.insert(at);
        } else {
            self.bends.remove(at);
        }
    }

    /// Drops the front entry; the next one. Must be followed by [`refresh`](Self::refresh).
    #[inline]
    pub(super) fn drop_front(&mut self, j: usize) -> Option<Entry<E>> {
        let stack = &mut self.stacks[j - self.first];
        stack.head += 1;
        if stack.head as usize == stack.entries.len() {
            stack.entries.clear();
            stack.head = 0;
        }
        stack.entries.get(stack.head as usize).copied()
    }

    /// Adds an entry at the back, of more excess than the others; whether it is the front.
    #[inline]
    pub(super) fn push(&mut self, j: usize, row: usize, excess: i64) -> bool {
        let stack = &mut self.stacks[j - self.first];
        if stack.entries.len() == stack.entries.capacity() && stack.head > 0 {
            stack.entries.drain(..stack.head as usize);
            stack.head = 0;
        }
        stack.entries.push(Entry { row: row as u32, excess: E::pack(excess) });
        stack.entries.len() == 1
    }

    /// Drops entries from the back while their excess is at least `excess`; whether none is left.
    #[inline]
    pub(super) fn drop_dominated(&mut self, j: usize, excess: i64) -> bool {
        let stack = &mut self.stacks[j - self.first];
        while stack.entries.len() > stack.head as usize
            && stack.entries[stack.entries.len() - 1].excess.value() >= excess
        {
            stack.entries.pop();
        }
        if stack.entries.len() == stack.head as usize {
            stack.entries.clear();
            stack.head = 0;
            return true;
        }
        false
    }

    /// Brings front, boundaries and searchable sets up to date after the entries of column `j`
    /// have changed.
    #[inline]
    pub(super) fn refresh(&mut self, j: usize, kept: &KeptBlocks) {
        let at = j - self.first;
        let stack = &self.stacks[at];
        match stack.entries.get(stack.head as usize) {
            Some(entry) => {
                self.front[at] = *entry;
                if self.flags[at] & FILLED == 0 {
                    self.flags[at] |= FILLED;
                    self.filled.insert(at);
                }
            }
            None => {
                if self.flags[at] & FILLED != 0 {
                    self.flags[at] &= !FILLED;
                    self.filled.remove(at);
                }
            }
        }
        self.mark_boundary(at, kept);
        if at + 1 < self.flags.len() {
            self.mark_boundary(at + 1, kept);
        }
    }

    /// Compares a column's front with that of the column before.
    #[inline]
    fn mark_boundary(&mut self, at: usize, kept: &KeptBlocks) {
        if at == 0 {
            return;
        }
        let (before, here) = (self.flags[at - 1] & FILLED, self.flags[at] & FILLED);
        let mut flags = self.flags[at] & !(STEP | BEND);
        if before != here {
            flags |= STEP | BEND;
        } else if here != 0 {
            let (v0, v1) = (self.front[at - 1].excess.value(), self.front[at].excess.value());
            let j = self.first + at;
            let (w0, w1) = (kept.lead(j - 1), kept.lead(j));
            if v0 != v1 {
                flags |= STEP;
            }
            if w1 < w0 || v0 + w0 != v1 + w1 {
                flags |= BEND;
            }
        }
        if flags != self.flags[at] {
            self.flags[at] = flags;
            self.publish(at);
        }
    }
}
