//! One receiver's table, and the batches of clocks in which it is filled.
//!
//! ```text
//!  senders on the right of r; on the left, the same mirrored
//!
//!  ranks          i ....... r-1  r  r+1 .... near-1  near ........... far
//!                 <-- across -->                     <-- w senders -->
//!                 <---- r has these: the clock ---->
//!                 <---- the result: r has all of these -------------->
//!
//!  table          across:  0 ... due ......... due+s-1 ... across_most
//!  outward 0
//!     ...
//!     near - 1                  [ clocks        ]
//!     ...                           |  one envelope of the w senders lowers
//!     far                       [ results       ]          s at once
//!     ...
//!     outward_most
//! ```
//!
//! A batch is due with the ranges of `far + due` ranks beside `r`: its first result is one.
//!
//! `C(i,j,r)` is the least, over the ranges `[a..b]` next to `r`'s part, of an [`Envelope`] at the clock that this part
//! sets: `C(i,a-1,r)` if `[a..b]` lies on the right, where it ends at `b = j`, `C(b+1,j,r)` if it lies on the left and
//! starts at `a = i`. In distances from `r` both read alike: for senders from `near` to `far` on one side, and a
//! receiver with the ranks up to `across` on the other, `C(near - 1, across)` is the clock and `C(far, across)` is the
//! result.
//!
//! One envelope serves all `across`. Building it takes up to `w = far - near + 1` steps, so that it
//! is to be evaluated for some `w` clocks at once; but not for all, because ranges become known in
//! the order of their length. Clocks are taken in aligned blocks of `s` values of `across`, `s` the
//! largest power of two up to `w`, each when its first result is due. All its clocks are known by
//! then: they span at most `(near - 1) + across + (s - 1)` ranks beside `r`, fewer than the
//! `far + across` of the result, since `s <= w`.
//!
//! Each length would then read the whole table of each root once. Wide ranges have slack: with blocks of up to `w / 2`
//! their batches may be done up to `w / 2` lengths before they are due. They are done for a band of lengths together,
//! except for senders that become known only within the band, which occur in the block at 0 alone: in all others,
//! senders are at least a block, hence a band, shorter than the result.

use super::hinge::{Envelope, RangeMessage};
use super::links::Links;
use super::senders::SortedSenders;
use crate::DpError;
use crate::table::zeros;
use std::ops::{Range, RangeInclusive};
use tuwtree_model::Rank;

/// `C(i,j,r)` of one root `r` for all `first <= i <= r <= j <= last`, while and after it is filled.
#[derive(Clone, Debug)]
pub(crate) struct HingeReceiver {
    root: Rank,
    from_left: SideTimes,
    from_right: SideTimes,
    envelope: Envelope,
}

/// The times of all ranges with a root, by distances: those up to `outward` on the side from which
/// this half of the recurrence receives, up to `across` on the other.
///
/// Finished times, and, for ranges not yet due, the best of the candidates so far.
#[derive(Clone, Debug)]
struct SideTimes {
    senders: Senders,
    outward_most: usize,
    across_most: usize,
    /// `(outward_most + 1) (across_most + 1)` entries, all `across` of an `outward` together.
    times: Vec<f64>,
}

/// On which side of the root the senders are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Senders {
    Left,
    Right,
}

/// Input of one half of the recurrence.
#[derive(Clone, Copy)]
struct Given<'a> {
    links: &'a Links,
    root: Rank,
    senders: &'a SortedSenders,
}

impl HingeReceiver {
    /// The table of a root within `first..=last` with no range but its own.
    ///
    /// # Errors
    /// [`DpError::OutOfMemory`].
    pub(crate) fn new(
        links: &Links,
        root: Rank,
        (first, last): (Rank, Rank),
    ) -> Result<HingeReceiver, DpError> {
        let (before, after) = (root - first, last - root);
        // A lone root copies while it waits for a message from its right (OPT eq. 5), but only after
        // one from its left (eq. 6), which it is ready for at once, unless everybody copies first.
        let before_left = if links.copies_first() { links.copy(root) } else { 0.0 };
        Ok(HingeReceiver {
            root,
            from_left: SideTimes::new(Senders::Left, (before, after), before_left)?,
            from_right: SideTimes::new(Senders::Right, (after, before), links.copy(root))?,
            envelope: Envelope::default(),
        })
    }

    /// `C(i,j,r)` for `i < j`.
    #[inline]
    pub(crate) fn get(&self, i: Rank, j: Rank) -> f64 {
        self.from_left.get(self.root - i, j - self.root)
    }

    /// Finishes the ranges of `length + 1` ranks, given all shorter ones: of this root, and, as
    /// `left` and `right`, of the ranks on either side.
    pub(crate) fn advance(
        &mut self,
        links: &Links,
        length: usize,
        (left, right): (&SortedSenders, &SortedSenders),
    ) {
        let HingeReceiver { root, from_left, from_right, envelope } = self;
        from_left.advance(Given { links, root: *root, senders: left }, length, envelope);
        from_right.advance(Given { links, root: *root, senders: right }, length, envelope);
        let least_before = length.saturating_sub(from_right.outward_most);
        for before in least_before..=length.min(from_left.outward_most) {
            let after = length - before;
            let time = from_left.get(before, after).min(from_right.get(after, before));
            from_left.set(before, after, time);
            from_right.set(after, before, time);
        }
    }
}

impl SideTimes {
    fn new(
        senders: Senders,
        (outward_most, across_most): (usize, usize),
        lone: f64,
    ) -> Result<SideTimes, DpError> {
        let mut times = zeros::<f64>((outward_most + 1) * (across_most + 1))?;
        times.fill(f64::INFINITY);
        times[0] = lone;
        Ok(SideTimes { senders, outward_most, across_most, times })
    }

    #[inline(always)]
    fn get(&self, outward: usize, across: usize) -> f64 {
        self.times[outward * (self.across_most + 1) + across]
    }

    #[inline(always)]
    fn set(&mut self, outward: usize, across: usize, time: f64) {
        self.times[outward * (self.across_most + 1) + across] = time;
    }

    /// All batches whose first result is due at this length, and those of wide ranges in the whole
    /// band of lengths that begins with it.
    fn advance(&mut self, given: Given<'_>, length: usize, envelope: &mut Envelope) {
        let band = length - length % BAND;
        if length == band {
            // Band by band and block by block, what is read stays in the cache.
            for due in (0..=self.across_most).step_by(BAND) {
                let from = band.saturating_sub(due).max(WIDE);
                for far in from..=(band + BAND - 1).saturating_sub(due).min(self.outward_most) {
                    let known = if due == 0 { far.min(band) } else { far };
                    let widths = WIDE..=known.min(widest(due, 4));
                    self.receive_up_to(given, (far, due), widths, envelope);
                }
            }
        }
        let first_far = length.saturating_sub(self.across_most).max(1);
        for far in first_far..=length.min(self.outward_most) {
            let due = length - far;
            let narrow = 1..=far.min(widest(due, 2)).min(WIDE - 1);
            self.receive_up_to(given, (far, due), narrow, envelope);
            if due == 0 {
                // These became known within the band.
                self.receive_up_to(given, (far, 0), band.max(WIDE - 1) + 1..=far, envelope);
            }
        }
    }

    /// Batches for senders from this many ranks, `far` the last, whose blocks begin at `due`.
    fn receive_up_to(
        &mut self,
        given: Given<'_>,
        (far, due): (usize, usize),
        widths: RangeInclusive<usize>,
        envelope: &mut Envelope,
    ) {
        if widths.is_empty() {
            return;
        }
        let links = given.links.to(given.root).expect("hinges are for linear costs");
        let mut least = (f64::INFINITY, f64::INFINITY, f64::INFINITY);
        let firsts = match self.senders {
            Senders::Left => given.senders.earliest_from(given.root - far),
            Senders::Right => given.senders.earliest_to(given.root + far),
        };
        for (width, &first) in (1..=*widths.end()).zip(firsts) {
            let near = far + 1 - width;
            let (a, b) = self.ranks(given.root, (near, far));
            let nearest = if self.senders == Senders::Right { a } else { b };
            least.0 = least.0.min(links.overhead[nearest]);
            least.1 = least.1.min(links.rate[nearest]);
            least.2 = least.2.min(links.latency.map_or(0.0, |latency| latency[nearest]));
            if width < *widths.start() {
                continue;
            }
            let bytes = given.links.bytes(a, b);
            let (fastest, soonest) = match bytes == 0.0 {
                true => (0.0, 0.0),
                false => (least.0 + least.1 * bytes, least.2),
            };
            let message = RangeMessage { links, bytes, fastest, soonest };
            let senders = || given.senders.of(a, b);
            let mut block = due..(due + block(width)).min(self.across_most + 1);
            let copies_later = self.senders == Senders::Left && !given.links.copies_first();
            if near == 1 && due == 0 && copies_later {
                // OPT eq. 6: the copy has to wait.
                let mut received = [f64::INFINITY];
                envelope.lower((&[0.0], &mut received), first, senders, message);
                let time = received[0] + given.links.copy(given.root);
                self.set(far, 0, self.get(far, 0).min(time));
                block.start = 1;
            }
            // The recurrence: OPT eqs. 3 to 5 for a block of ranges.
            envelope.lower(self.rows((near - 1, far), block), first, senders, message);
        }
    }

    /// The range of the senders at these distances.
    #[inline(always)]
    fn ranks(&self, root: Rank, (near, far): (usize, usize)) -> (Rank, Rank) {
        match self.senders {
            Senders::Left => (root - far, root - near),
            Senders::Right => (root + near, root + far),
        }
    }

    /// A block of clocks and the block of their results; none if the block is empty.
    #[inline(always)]
    fn rows(
        &mut self,
        (clock, result): (usize, usize),
        block: Range<usize>,
    ) -> (&[f64], &mut [f64]) {
        let stride = self.across_most + 1;
        let end = block.end.max(block.start);
        let (clocks, results) = self.times.split_at_mut(result * stride);
        let clocks = &clocks[clock * stride..(clock + 1) * stride];
        (&clocks[block.start.min(end)..end], &mut results[block.start..end])
    }
}

/// Least number of ranks of a wide range.
const WIDE: usize = 2 * BAND;

/// Number of lengths in a band.
const BAND: usize = 16;

/// The most senders of whom a block of clocks begins at `due`, if blocks are powers of two and
/// begin at their multiples, and there are fewer than `ratio` senders for each clock of a full block.
fn widest(due: usize, ratio: usize) -> usize {
    match due {
        0 => usize::MAX,
        _ => (ratio << due.trailing_zeros()) - 1,
    }
}

/// Clocks per block for this many senders: the largest power of two up to it, or, for wide ranges, up to half of it.
fn block(senders: usize) -> usize {
    let most = if senders < WIDE { senders } else { senders / 2 };
    1 << most.ilog2()
}
