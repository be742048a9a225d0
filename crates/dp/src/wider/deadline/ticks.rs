//! Costs in ticks: whole numbers, so that processes that compute by themselves agree bit by bit.
//!
//! A tick is a power of two of a time unit, so small that no tree of the problem takes less than some 2^40 of
//! them, and so large that none takes 2^62. Each cost is rounded to it once; between the sizes at which costs
//! change, straight lines are followed in integers.

use crate::DpError;
use tuwtree_model::{LinkLaw, MeasuredSize, Piece, Scalar};

/// Costs that all pairs share, in ticks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TickLaw {
    /// From 0 bytes on, with rising sizes.
    lines: Vec<TickLines>,
    copy: TickLine,
}

/// The lines of messages from a size on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TickLines {
    from: u64,
    latency: TickLine,
    port: TickLine,
}

/// A line: `at + slope beyond / 2^shift`, rounded down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TickLine {
    at: u64,
    /// Ticks per byte, times 2^`shift`: less than 2^62.
    slope: i64,
    shift: u32,
}

impl TickLine {
    /// The line with this value at its start, and a slope in ticks per byte.
    fn new(at: u64, slope: f64) -> TickLine {
        let digits = (slope.abs().to_bits() >> 52) as i32 - 1022;
        let shift = (62 - digits).clamp(0, MOST_SHIFT);
        TickLine {
            at,
            slope: (slope * (1_u64 << shift) as f64).round() as i64,
            shift: shift as u32,
        }
    }

    fn value(&self, beyond: u64) -> u64 {
        let rise = (i128::from(self.slope) * i128::from(beyond)) >> self.shift;
        let value = rise + i128::from(self.at);
        u64::try_from(value.max(0)).unwrap_or(u64::MAX)
    }
}

/// Approximate ticks of the longest act: far below 2^64, since times are added up and doubled.
const MOST: f64 = (1_u64 << 50) as f64;

/// Largest shift of a slope: its resolution, in bits of a tick per byte.
const MOST_SHIFT: i32 = 32;

impl TickLaw {
    /// Costs of these links, and of copies, for blocks of `total` bytes in all.
    ///
    /// # Errors
    /// [`DpError::TooLarge`] if times might not be finite.
    ///
    /// # Complexity
    /// The number of lines.
    pub fn new(links: &LinkLaw, gamma: f64, total: u64) -> Result<TickLaw, DpError> {
        let starts: Vec<u64> = match links {
            LinkLaw::Pieces(law) => law.pieces().iter().map(|piece| piece.from_bytes).collect(),
            LinkLaw::Measured(law) => law.sizes().iter().map(|size| size.bytes).collect(),
        };
        // Lines are highest at one of their ends.
        let ends = starts.iter().flat_map(|&start| [start.saturating_sub(1), start]);
        let times = ends.chain([1, total]).filter(|&bytes| bytes <= total.max(1)).map(|bytes| {
            let (latency, port) = links.times(bytes);
            latency + port
        });
        let most = times.fold(0.0, f64::max) + gamma * total as f64;
        if most.is_nan() || most >= <f64 as Scalar>::LIMIT {
            return Err(DpError::TooLarge { total });
        }
        let scale = Scale::new(most);
        let lines = match links {
            LinkLaw::Pieces(law) => law.pieces().iter().map(|piece| scale.piece(piece)).collect(),
            LinkLaw::Measured(law) => scale.measured(law.sizes()),
        };
        Ok(TickLaw { lines, copy: scale.line(0.0, gamma) })
    }

    /// lambda of a message of this many bytes, and for how long it occupies a port, in ticks.
    pub(super) fn times(&self, bytes: u64) -> (u64, u64) {
        // Most messages are on the last lines.
        let lines = self.lines.iter().rfind(|lines| lines.from <= bytes);
        let lines = lines.expect("the first line starts at 0");
        let beyond = bytes - lines.from;
        (lines.latency.value(beyond), lines.port.value(beyond))
    }

    /// The time of a copy, in ticks.
    pub(super) fn copy(&self, bytes: u64) -> u64 {
        self.copy.value(bytes)
    }
}

/// Ticks per time unit: a power of two.
struct Scale(f64);

impl Scale {
    fn new(most: f64) -> Scale {
        // The power of two not above it; 0 for what is next to nothing.
        let power = f64::from_bits(most.to_bits() & f64::INFINITY.to_bits());
        Scale(if power > 0.0 { (MOST / power).min(f64::MAX / MOST / MOST) } else { 1.0 })
    }

    fn ticks(&self, time: f64) -> u64 {
        (time * self.0).round() as u64
    }

    /// The line with this value at its start, and this slope.
    fn line(&self, at: f64, slope: f64) -> TickLine {
        TickLine::new(self.ticks(at), slope * self.0)
    }

    fn piece(&self, piece: &Piece) -> TickLines {
        let Piece { from_bytes, overhead, beta, .. } = *piece;
        TickLines {
            from: from_bytes,
            latency: self.line(piece.link().latency(), 0.0),
            port: self.line(overhead + beta * from_bytes as f64, beta),
        }
    }

    fn measured(&self, sizes: &[MeasuredSize]) -> Vec<TickLines> {
        let latencies = self.measured_lines(sizes, |size| size.latency);
        let ports = self.measured_lines(sizes, |size| size.occupancy);
        let starts = std::iter::once(0).chain(sizes.iter().map(|size| size.bytes));
        let lines = starts.zip(latencies.into_iter().zip(ports));
        lines.map(|(from, (latency, port))| TickLines { from, latency, port }).collect()
    }

    /// Of each size, after the first one for all below.
    fn measured_lines(
        &self,
        sizes: &[MeasuredSize],
        cost: impl Fn(&MeasuredSize) -> f64,
    ) -> Vec<TickLine> {
        let ticks: Vec<u64> = sizes.iter().map(|size| self.ticks(cost(size))).collect();
        let rises = sizes.windows(2).zip(ticks.windows(2)).map(|(sizes, ticks)| {
            (ticks[1] as f64 - ticks[0] as f64) / (sizes[1].bytes - sizes[0].bytes) as f64
        });
        let mut slopes: Vec<f64> = rises.collect();
        slopes.push(slopes.last().map_or(0.0, |slope| slope.max(0.0)));
        let lines = ticks.iter().zip(slopes).map(|(&at, slope)| TickLine::new(at, slope));
        std::iter::once(TickLine::new(ticks[0], 0.0)).chain(lines).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tuwtree_model::{MeasuredSizes, PiecewiseLinear};

    /// How far ticks are from the times that they stand for, as a share of the longest.
    fn error(links: &LinkLaw, total: u64) -> f64 {
        let law = TickLaw::new(links, 0.0, total).unwrap();
        let sizes = (0..64).map(|bits| total >> bits).take_while(|&bytes| bytes > 0);
        let both = |bytes| links.times(bytes).0 + links.times(bytes).1;
        let most = sizes.clone().map(both).fold(0.0, f64::max);
        let both = |bytes| law.times(bytes).0 + law.times(bytes).1;
        let most_ticks = sizes.clone().map(both).max().unwrap() as f64;
        let error = |bytes| {
            let (latency, port) = links.times(bytes);
            let of = |time: f64, ticks: u64| (time / most - ticks as f64 / most_ticks).abs();
            of(latency, law.times(bytes).0).max(of(port, law.times(bytes).1))
        };
        sizes.map(error).fold(0.0, f64::max)
    }

    #[test]
    fn ticks_are_the_times_but_for_a_billionth() {
        let piece = |from_bytes, alpha, overhead, beta| Piece { from_bytes, alpha, overhead, beta };
        let pieces = vec![piece(0, 5e-6, 1e-6, 8e-11), piece(4096, 9e-6, 1e-7, 7e-11)];
        let pieces = LinkLaw::from(PiecewiseLinear::new(pieces).unwrap());
        let size = |bytes, latency, occupancy| MeasuredSize { bytes, latency, occupancy };
        let sizes = vec![size(1, 4.0, 1.0), size(1000, 3.0, 11.0), size(5000, 9.0, 7.0)];
        let measured = LinkLaw::Measured(MeasuredSizes::new(sizes).unwrap());
        for links in [pieces, measured] {
            for total in [1, 5000, 1 << 20, 1 << 50] {
                assert!(error(&links, total) < 1e-9, "{links:?} {total} {}", error(&links, total));
            }
        }
    }

    #[test]
    fn costs_of_nothing_and_of_next_to_nothing_are_costs() {
        for beta in [0.0, 5e-324, 1e-300, 1e200] {
            let pieces = PiecewiseLinear::new(vec![Piece::one_port(0, 0.0, beta)]).unwrap();
            let law = TickLaw::new(&pieces.into(), 0.0, 1 << 40).unwrap();
            assert!(law.times(1 << 40).1 <= 1 << 52 && law.times(7).0 == 0);
        }
    }
}
