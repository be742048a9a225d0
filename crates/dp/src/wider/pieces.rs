//! Laws by size in straight pieces, for the dense engine: a law that rises with size as it is, any other
//! between two that do.
//!
//! ```text
//! f(s)                        /        The greatest rising law that is nowhere above `f` takes the least of
//!           /|     .---------/         all that follows; the least one that is nowhere below it, the most of
//!          / |    /|                   all that came before. A tree takes no less by a greater law: so the best
//!         /..|.../ below               tree by the one below takes no more than the best by `f`.
//!        /   |__/
//! ```

use super::Receiving;
use crate::DpError;
use tuwtree_model::{BlockSizes, LinkLaw, MeasuredSize, Rank, Scalar};

/// A time by size: `fixed + rate s`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct AffineTime {
    pub(super) fixed: f64,
    pub(super) rate: f64,
}

impl AffineTime {
    fn constant(time: f64) -> AffineTime {
        AffineTime { fixed: time, rate: 0.0 }
    }

    fn through(one: (u64, f64), rate: f64) -> AffineTime {
        AffineTime { fixed: one.1 - rate * one.0 as f64, rate }
    }

    fn at(self, bytes: u64) -> f64 {
        self.fixed + self.rate * bytes as f64
    }
}

/// A law from a size on, up to the next one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LawPiece {
    pub(super) from: u64,
    /// lambda.
    pub(super) latency: AffineTime,
    /// The port's time.
    pub(super) port: AffineTime,
}

/// Side of a rising law that replaces a law that need not rise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StandIn {
    /// The greatest that is nowhere above.
    Below,
    /// The least that is nowhere below.
    Above,
}

/// A law that rises with size, in place of that of these links: the same if that does.
pub(super) fn rising(links: &LinkLaw, side: StandIn) -> Vec<LawPiece> {
    let (latency, port) = match links {
        LinkLaw::Pieces(pieces) => {
            let lines = |line: fn(f64, f64, f64) -> AffineTime| {
                let pieces = pieces.pieces().iter();
                pieces
                    .map(|one| (one.from_bytes, line(one.link().latency(), one.overhead, one.beta)))
                    .collect()
            };
            let port = |_, overhead, beta| AffineTime { fixed: overhead, rate: beta };
            (lines(|latency, _, _| AffineTime::constant(latency)), lines(port))
        }
        LinkLaw::Measured(table) => {
            let of = |cost| between(table.sizes(), cost);
            (of(|size| size.latency), of(|size| size.occupancy))
        }
    };
    merged(&rising_lines(&latency, side), &rising_lines(&port, side))
}

/// Lines, each from a size on.
type Lines = Vec<(u64, AffineTime)>;

/// The lines between measured sizes, and before and behind them, as [`MeasuredSizes`] has them.
///
/// [`MeasuredSizes`]: tuwtree_model::MeasuredSizes
fn between(sizes: &[MeasuredSize], cost: fn(&MeasuredSize) -> f64) -> Lines {
    let mut lines = vec![(0, AffineTime::constant(cost(&sizes[0])))];
    let mut last = 0.0_f64;
    for pair in sizes.windows(2) {
        last = (cost(&pair[1]) - cost(&pair[0])) / (pair[1].bytes - pair[0].bytes) as f64;
        lines.push((pair[0].bytes, AffineTime::through((pair[0].bytes, cost(&pair[0])), last)));
    }
    if let [.., end] = sizes {
        lines.push((end.bytes, AffineTime::through((end.bytes, cost(end)), last.max(0.0))));
    }
    lines
}

/// Least rising function above lines of which the last does not fall, or the greatest below.
fn rising_lines(lines: &Lines, side: StandIn) -> Lines {
    let end = |at: usize| lines.get(at + 1).map_or(u64::MAX, |next| next.0);
    let mut rising = Vec::with_capacity(2 * lines.len());
    match side {
        StandIn::Above => {
            let mut most = f64::NEG_INFINITY;
            for (at, &(from, line)) in lines.iter().enumerate() {
                let (first, last) = (line.at(from), line.at(end(at) - 1));
                let falls = line.rate < 0.0 || last <= most;
                if falls {
                    most = most.max(first);
                    rising.push((from, AffineTime::constant(most)));
                    continue;
                }
                // From where on it is above all that came before.
                let above = first_size(from..end(at), |bytes| line.at(bytes) >= most);
                if above > from {
                    rising.push((from, AffineTime::constant(most)));
                }
                rising.push((above, line));
                most = last;
            }
        }
        StandIn::Below => {
            let mut least = f64::INFINITY;
            for (at, &(from, line)) in lines.iter().enumerate().rev() {
                let (first, last) = (line.at(from), line.at(end(at) - 1));
                if line.rate < 0.0 || first >= least {
                    least = least.min(last);
                    rising.push((from, AffineTime::constant(least)));
                    continue;
                }
                // From where on it is no longer below all that follows.
                let above = first_size(from..end(at), |bytes| line.at(bytes) > least);
                if above < end(at) {
                    rising.push((above, AffineTime::constant(least)));
                }
                rising.push((from, line));
                least = first;
            }
            rising.reverse();
        }
    }
    rising
}

/// The first of some sizes from which on something holds; their end if it never does.
fn first_size(sizes: std::ops::Range<u64>, holds: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (sizes.start, sizes.end);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) { high = middle } else { low = middle + 1 }
    }
    low
}

/// Both functions in the pieces that they have in common.
fn merged(latency: &Lines, port: &Lines) -> Vec<LawPiece> {
    let mut from: Vec<u64> = latency.iter().chain(port).map(|&(from, _)| from).collect();
    from.sort_unstable();
    from.dedup();
    let of = |lines: &Lines, from: u64| lines[lines.partition_point(|one| one.0 <= from) - 1].1;
    let piece = |from| LawPiece { from, latency: of(latency, from), port: of(port, from) };
    from.into_iter().map(piece).collect()
}

/// A problem under a law in pieces that rises with size, turned into time, in which no copy takes longer than its
/// own message.
#[derive(Clone, Debug)]
pub(super) struct Pieced<T> {
    sizes: BlockSizes,
    /// Piece of the least size with each number of binary digits.
    piece_of_digits: Vec<usize>,
    pub(super) pieces: Vec<PieceTimes<T>>,
    copy: Vec<T>,
    earliest: T,
}

/// The times of one piece.
#[derive(Clone, Debug)]
pub(super) struct PieceTimes<T> {
    /// The sizes that it holds for: from this one on,
    pub(super) from: u64,
    /// and below this one.
    pub(super) end: u64,
    latency: (T, f64),
    /// The port's time for no bytes.
    pub(super) fixed: T,
    /// By rank: what the bytes of all before it take.
    sent: Vec<T>,
}

impl<T: Scalar> PieceTimes<T> {
    /// lambda of a message of this many bytes.
    #[inline(always)]
    fn latency(&self, bytes: u64) -> T {
        let (fixed, rate) = self.latency;
        if rate == 0.0 { fixed } else { fixed + T::scaled(rate, bytes) }
    }

    /// Time for which the bytes of some blocks occupy a port.
    #[inline(always)]
    pub(super) fn volume(&self, first: Rank, last: Rank) -> T {
        self.sent[last + 1] - self.sent[first]
    }
}

impl<T: Scalar> Pieced<T> {
    /// The problem with these pieces, of which the first is from 0 on. A copy takes as long as given, or as its own
    /// message if that is less, except for a given root's.
    ///
    /// # Errors
    /// [`DpError::TooLarge`] if times might leave the range in which `T` is exact.
    ///
    /// # Complexity
    /// O(p) time and space for each piece.
    pub(super) fn new(
        sizes: &BlockSizes,
        pieces: &[LawPiece],
        root: Option<Rank>,
        copy: impl Fn(u64) -> f64,
    ) -> Result<Pieced<T>, DpError> {
        let (p, total) = (sizes.ranks(), sizes.total());
        let pieces = &pieces[..pieces.partition_point(|piece| piece.from <= total)];
        let of_all: f64 = sizes.iter().map(&copy).sum();
        let end = pieces[pieces.len() - 1];
        let most = p as f64 * (end.latency.at(total).abs() + end.port.at(total).abs()) + of_all;
        let rates = pieces.iter().map(|piece| piece.port.rate.abs() * total as f64);
        let largest = rates.fold(most, f64::max);
        // No sum of two leaves it, either.
        if !largest.is_finite() || 4.0 * largest > T::LIMIT {
            return Err(DpError::TooLarge { total });
        }
        let ends = pieces.iter().skip(1).map(|piece| piece.from).chain([u64::MAX]);
        let times = pieces.iter().zip(ends).map(|(piece, end)| PieceTimes {
            from: piece.from,
            end,
            latency: (T::from_units(piece.latency.fixed), piece.latency.rate),
            fixed: T::from_units(piece.port.fixed),
            sent: (0..=p).map(|rank| T::scaled(piece.port.rate, sizes.before(rank))).collect(),
        });
        let least_size = |digits: u32| if digits == 0 { 0 } else { 1_u64 << (digits - 1) };
        let piece_of = |bytes| pieces.partition_point(|piece| piece.from <= bytes) - 1;
        let mut law = Pieced {
            sizes: sizes.clone(),
            piece_of_digits: (0..=u64::BITS).map(|digits| piece_of(least_size(digits))).collect(),
            pieces: times.collect(),
            copy: Vec::new(),
            earliest: T::ZERO,
        };
        law.copy = (0..p)
            .map(|rank| match (T::from_units(copy(sizes.block(rank))), root == Some(rank)) {
                (copied, true) => copied,
                (copied, false) => copied.least(law.received(T::ZERO, T::ZERO, rank, rank)),
            })
            .collect();
        let senders = (0..p).filter(|&rank| root != Some(rank) && sizes.block(rank) > 0);
        let latencies = senders.map(|rank| law.latency(rank, rank));
        law.earliest = latencies.reduce(T::least).unwrap_or(T::ZERO);
        Ok(law)
    }

    /// Bytes of some blocks.
    #[inline(always)]
    pub(super) fn bytes(&self, first: Rank, last: Rank) -> u64 {
        self.sizes.range(first, last)
    }

    /// lambda of the message of some blocks, which are not all empty.
    #[inline(always)]
    pub(super) fn latency(&self, first: Rank, last: Rank) -> T {
        let bytes = self.bytes(first, last);
        self.piece(bytes).latency(bytes)
    }

    /// Arrival of such a message, ready at `ready`, at a receiver that waits for it.
    #[inline(always)]
    pub(super) fn awaited(&self, ready: T, first: Rank, last: Rank) -> T {
        let bytes = self.bytes(first, last);
        let piece = self.piece(bytes);
        ready + piece.latency(bytes) + (piece.fixed + piece.volume(first, last))
    }

    #[inline(always)]
    fn piece(&self, bytes: u64) -> &PieceTimes<T> {
        let mut at = self.piece_of_digits[(u64::BITS - bytes.leading_zeros()) as usize];
        while bytes >= self.pieces[at].end {
            at += 1;
        }
        &self.pieces[at]
    }
}

impl<T: Scalar> Receiving<T> for Pieced<T> {
    fn ranks(&self) -> usize {
        self.sizes.ranks()
    }

    #[inline(always)]
    fn copy(&self, rank: Rank) -> T {
        self.copy[rank]
    }

    #[inline(always)]
    fn received(&self, clock: T, ready: T, first: Rank, last: Rank) -> T {
        let bytes = self.bytes(first, last);
        if bytes == 0 {
            return clock.most(ready);
        }
        let piece = self.piece(bytes);
        clock.most(ready + piece.latency(bytes)) + (piece.fixed + piece.volume(first, last))
    }
}

impl<T: Scalar> super::lanes::DenseLaw<T> for Pieced<T> {
    type Row = super::piece_lanes::PieceRow<T>;
    type Column = super::piece_lanes::PieceColumn<T>;

    #[inline(always)]
    fn earliest(&self) -> T {
        self.earliest
    }

    fn is_empty(&self, rank: Rank) -> bool {
        self.sizes.block(rank) == 0
    }

    fn everything(&self) -> T {
        let all = (0, self.ranks() - 1);
        let piece = self.piece(self.sizes.total());
        piece.fixed + piece.volume(all.0, all.1)
    }
}
