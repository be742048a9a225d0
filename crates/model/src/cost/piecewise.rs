//! Transmission costs that are linear piece by piece in the size of the message.

use super::{LeastCosts, Link, OverheadError, check_overhead, linear};
use crate::{LARGEST_EXACT, Time, TimeError};
use std::ops::RangeInclusive;

/// The cost of a message by its size: `alpha + beta s` for `s > 0` bytes, with an alpha and a beta for
/// each of some ranges of sizes, and 0 for `s = 0`.
///
/// MPI libraries change their protocol with the size of a message (eager, rendezvous), so that
/// one line does not fit all sizes. The pieces need not meet, nor does a larger message need to take
/// longer. One piece is the ordinary linear law.
///
/// What needs linear costs (the dynamic programs, whose bounds and tables rest on them) takes
/// [`linearised_at`](Self::linearised_at), or nothing: this type has no alpha and beta as such.
///
/// # Source
/// OPT section 2.1, discussion: piecewise linear transmission costs.
#[derive(Clone, Debug, PartialEq)]
pub struct PiecewiseLinear {
    /// At least one; the first is from 0 bytes on, the others from more and more.
    pieces: Vec<Piece>,
    /// A line that no message is below: its overhead and beta.
    below: (f64, f64),
}

/// The line that holds from a size up to the next piece.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece {
    /// The least size in bytes that the piece holds for.
    pub from_bytes: u64,
    /// The start-up latency lambda + o, in time units.
    pub alpha: f64,
    /// The part of alpha that occupies ports: alpha in the one-port model.
    pub overhead: f64,
    /// The time per byte, of all bytes and not of those beyond `from_bytes` only.
    pub beta: f64,
}

impl Piece {
    /// The piece of the one-port model: all of alpha occupies ports.
    pub fn one_port(from_bytes: u64, alpha: f64, beta: f64) -> Piece {
        Piece { from_bytes, alpha, overhead: alpha, beta }
    }

    /// The line, whichever sizes it holds for.
    pub fn link(self) -> Link {
        let Piece { alpha, overhead, beta, .. } = self;
        Link { alpha, overhead, beta }
    }
}

/// Pieces that are not a law.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum PieceError {
    /// There is no piece, and so no cost of any message.
    #[error("there are no pieces; at least one is needed")]
    NoPieces,
    /// Small messages have no law.
    #[error("piece 0 is from {from_bytes} bytes on; the first piece must be from 0")]
    First {
        /// The least number of bytes that it is for.
        from_bytes: u64,
    },
    /// Pieces that are not in order.
    #[error(
        "piece {piece} is from {from_bytes} bytes on, the one before it from {before}; pieces must \
         start at larger and larger sizes"
    )]
    Order {
        /// The piece, counted from 0.
        piece: usize,
        /// The least number of bytes that it is for.
        from_bytes: u64,
        /// Start of the piece before it.
        before: u64,
    },
    /// Not a cost.
    #[error("{parameter} of piece {piece} is {value}; costs are finite numbers of at least 0")]
    Cost {
        /// The piece, counted from 0.
        piece: usize,
        /// The parameter: "alpha" or "beta".
        parameter: &'static str,
        /// Negative, infinite or NaN.
        value: f64,
    },
    /// An overhead that is not part of alpha.
    #[error("piece {piece}: {error}")]
    Overhead {
        /// The piece, counted from 0.
        piece: usize,
        /// The allowed values.
        error: OverheadError,
    },
}

impl PiecewiseLinear {
    /// The law with these pieces.
    ///
    /// # Errors
    /// [`PieceError`]: no pieces, pieces out of order, NaN, infinite or negative costs.
    ///
    /// # Example
    /// ```
    /// use tuwtree_model::{Piece, PiecewiseLinear};
    /// let eager = Piece::one_port(0, 1.0, 2.0);
    /// let rendezvous = Piece::one_port(10, 15.0, 1.0);
    /// let law = PiecewiseLinear::new(vec![eager, rendezvous]).unwrap();
    /// assert_eq!(law.piece_for(9).alpha, 1.0);
    /// assert_eq!(law.piece_for(10).alpha, 15.0);
    /// ```
    pub fn new(pieces: Vec<Piece>) -> Result<PiecewiseLinear, PieceError> {
        let first = pieces.first().ok_or(PieceError::NoPieces)?;
        if first.from_bytes != 0 {
            return Err(PieceError::First { from_bytes: first.from_bytes });
        }
        for (piece, pair) in (1..).zip(pieces.windows(2)) {
            let [before, from_bytes] = [pair[0].from_bytes, pair[1].from_bytes];
            if from_bytes <= before {
                return Err(PieceError::Order { piece, from_bytes, before });
            }
        }
        for (piece, &Piece { alpha, overhead, beta, .. }) in pieces.iter().enumerate() {
            for (parameter, value) in [("alpha", alpha), ("beta", beta)] {
                if Time::new(value).is_none() {
                    return Err(PieceError::Cost { piece, parameter, value });
                }
            }
            check_overhead(overhead, alpha)
                .map_err(|error| PieceError::Overhead { piece, error })?;
        }
        let below = line_below(&pieces);
        Ok(PiecewiseLinear { pieces, below })
    }

    /// The pieces, in order of the sizes that they hold for.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// The piece that holds for messages of this size.
    pub fn piece_for(&self, bytes: u64) -> Piece {
        let next = self.pieces.partition_point(|piece| piece.from_bytes <= bytes);
        self.pieces[next - 1]
    }

    /// The only piece, if the law is linear.
    pub fn linear(&self) -> Option<Piece> {
        match self.pieces[..] {
            [piece] => Some(piece),
            _ => None,
        }
    }

    /// The linear law that agrees with this one for messages of this size: for smaller and larger
    /// ones it goes on with the alpha and beta of that piece.
    #[must_use]
    pub fn linearised_at(&self, bytes: u64) -> PiecewiseLinear {
        let piece = Piece { from_bytes: 0, ..self.piece_for(bytes) };
        PiecewiseLinear { pieces: vec![piece], below: (piece.overhead, piece.beta) }
    }

    /// True if all alphas, overheads and betas are integers.
    pub(super) fn is_integral(&self) -> bool {
        let costs = self.pieces.iter().flat_map(|piece| [piece.alpha, piece.overhead, piece.beta]);
        costs.into_iter().all(|cost| cost.fract() == 0.0)
    }

    /// Time that a message of `bytes > 0` occupies a port; exact if `integral`, which requires integer costs.
    #[inline]
    pub(super) fn transmission(&self, integral: bool, bytes: u64) -> Result<Time, TimeError> {
        let piece = match self.pieces[..] {
            [piece] => piece,
            _ => self.piece_for(bytes),
        };
        piece.link().occupancy(integral, bytes)
    }

    /// Lower bounds on all messages of these sizes, at least 1.
    pub(super) fn least_costs(&self, bytes: RangeInclusive<u64>) -> LeastCosts {
        let (least, most) = bytes.into_inner();
        let ends = self.pieces.iter().skip(1).map(|piece| piece.from_bytes - 1).chain([u64::MAX]);
        self.pieces
            .iter()
            .zip(ends)
            .map(|(piece, end)| (piece, piece.from_bytes.max(least)..=end.min(most)))
            .filter(|(_, sizes)| !sizes.is_empty())
            .map(|(piece, sizes)| piece.link().least_costs(sizes))
            .reduce(LeastCosts::or)
            .expect("some piece holds for each size")
    }

    /// A lower bound on how long any number of messages of `bytes > 0` together occupy a port.
    pub(super) fn least_in_all(&self, integral: bool, bytes: u64) -> Result<Time, TimeError> {
        let (overhead, beta) = self.below;
        linear(integral, overhead, beta, bytes)
    }
}

/// A line that no message of at least one byte is below: the least beta of all pieces, and the
/// largest overhead that goes with it. Integers for integer costs; the law itself if there is one piece.
fn line_below(pieces: &[Piece]) -> (f64, f64) {
    let beta = pieces.iter().map(|piece| piece.beta).fold(f64::INFINITY, f64::min);
    let overheads = pieces.iter().map(|piece| {
        // Above the line by the least at the piece's smallest message.
        let steeper = (piece.beta - beta) * piece.from_bytes.max(1) as f64;
        let overhead = if steeper > 0.0 { piece.overhead + steeper } else { piece.overhead };
        // Rounding must not lift the line.
        match overhead > LARGEST_EXACT as f64 {
            true => piece.overhead,
            false => overhead,
        }
    });
    (overheads.fold(f64::INFINITY, f64::min), beta)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn law(pieces: &[(u64, f64, f64)]) -> Result<PiecewiseLinear, PieceError> {
        let piece = |&(from_bytes, alpha, beta)| Piece::one_port(from_bytes, alpha, beta);
        PiecewiseLinear::new(pieces.iter().map(piece).collect())
    }

    fn time(law: &PiecewiseLinear, bytes: u64) -> f64 {
        law.transmission(law.is_integral(), bytes).unwrap().units()
    }

    #[test]
    fn each_size_pays_its_own_piece_for_all_its_bytes() {
        let law = law(&[(0, 1.0, 2.0), (10, 15.0, 1.0), (100, 0.0, 3.0)]).unwrap();
        assert_eq!([1, 9, 10, 99, 100].map(|bytes| time(&law, bytes)), [3., 19., 25., 114., 300.]);
        assert_eq!(law.linear(), None);
        let linear = law.linearised_at(50);
        assert_eq!(linear.linear().map(|piece| (piece.alpha, piece.beta)), Some((15.0, 1.0)));
        assert_eq!(time(&linear, 50), time(&law, 50));
    }

    #[test]
    fn no_split_into_messages_is_below_the_bound() {
        let law = law(&[(0, 5.0, 2.0), (4, 1.0, 1.0), (8, 20.0, 1.0)]).unwrap();
        // least[s]: the least time of messages of s bytes in all.
        let mut least = vec![0.0; 41];
        for bytes in 1..least.len() {
            let splits = (1..=bytes).map(|last| least[bytes - last] + time(&law, last as u64));
            least[bytes] = splits.fold(f64::INFINITY, f64::min);
            let bound = law.least_in_all(true, bytes as u64).unwrap().units();
            assert!(bound <= least[bytes], "{bytes}: {bound} > {}", least[bytes]);
        }
        assert_eq!(law.least_in_all(true, 4).unwrap().units(), least[4]);
    }

    #[test]
    fn what_is_no_law_is_refused_with_place_and_value() {
        for (pieces, message) in [
            (&[][..], "no pieces"),
            (&[(1, 0.0, 0.0)], "piece 0 is from 1 bytes on; the first piece must be from 0"),
            (&[(0, 0.0, 0.0), (0, 1.0, 1.0)], "piece 1 is from 0 bytes on, the one before it"),
            (&[(0, 0.0, f64::NAN)], "beta of piece 0 is NaN"),
            (&[(0, 0.0, 0.0), (3, f64::INFINITY, 1.0)], "alpha of piece 1 is inf"),
        ] {
            let error = law(pieces).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }
}
