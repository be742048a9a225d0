//! Lower bounds on the costs of messages over any link.

use super::Homogeneous;

/// Lower bounds on the costs of all messages between any two ranks, by size.
#[derive(Clone, Debug, PartialEq)]
pub struct LeastCosts {
    /// The least lambda, in time units.
    latency: f64,
    /// Occupancies at some sizes. Those at other sizes are on or above straight lines between two of
    /// them, of a smaller and a larger size.
    occupancies: Vec<(u64, f64)>,
}

/// A line that no occupancy is below, in time units: `overhead + beta bytes`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LineBelow {
    /// At least 0.
    pub overhead: f64,
    /// At least 0.
    pub beta: f64,
}

impl LineBelow {
    /// The homogeneous costs with this line, if they can be stated.
    pub fn costs(self, latency: f64, copy_rate: f64) -> Option<Homogeneous> {
        let costs = Homogeneous::new(self.overhead + latency, self.beta, copy_rate).ok()?;
        costs.with_overhead(self.overhead).ok()
    }
}

impl LeastCosts {
    /// The costs of one law: its least lambda, and its occupancies at the ends of straight pieces.
    pub fn new(latency: f64, occupancies: Vec<(u64, f64)>) -> LeastCosts {
        LeastCosts { latency, occupancies }
    }

    /// Lower bounds on both kinds of messages.
    pub(super) fn or(mut self, mut other: LeastCosts) -> LeastCosts {
        self.latency = self.latency.min(other.latency);
        self.occupancies.append(&mut other.occupancies);
        self
    }

    /// The least lambda, in time units.
    pub fn latency(&self) -> f64 {
        self.latency
    }

    /// Occupancies less this overhead, in time units.
    pub fn beyond(&self, overhead: f64) -> LeastCosts {
        let left = |&(bytes, time): &(u64, f64)| (bytes, (time - overhead).max(0.0));
        LeastCosts { occupancies: self.occupancies.iter().map(left).collect(), ..*self }
    }

    /// The least occupancy of any size, in time units.
    pub fn least_occupancy(&self) -> f64 {
        self.occupancies.iter().map(|&(_, time)| time).fold(f64::INFINITY, f64::min)
    }

    /// The lines that no occupancy is below and that are highest at the smallest size, at the largest, and
    /// between the two; each once. None if some occupancy is not finite.
    ///
    /// # Complexity
    /// O(m log m) time for `m` occupancies.
    pub fn lines_below(&self) -> Vec<LineBelow> {
        if self.occupancies.iter().any(|(_, time)| !time.is_finite()) {
            return vec![];
        }
        let points = cheapest_by_size(&self.occupancies);
        let [(first, _), .., (last, _)] = points[..] else {
            let only = points.iter().map(|&(_, time)| LineBelow { overhead: time, beta: 0.0 });
            return only.collect();
        };
        let origin = points.iter().map(|&(bytes, time)| time / bytes).fold(f64::INFINITY, f64::min);
        let steepest = LineBelow { overhead: 0.0, beta: origin * KEPT };
        let corners = lower_corners(&points);
        let edges = corners.windows(2).map(|pair| slope(pair[0], pair[1]));
        // Of lines that are equally high but for rounding, the last is chosen: an edge, if there is one.
        let slopes = std::iter::once(0.0).chain(edges);
        let below = slopes.filter_map(|beta| line_below(&points, beta));
        let lines: Vec<LineBelow> = std::iter::once(steepest).chain(below).collect();
        let highest_at = |bytes: f64| {
            let at = |line: &LineBelow| line.overhead + line.beta * bytes;
            let most = lines.iter().map(at).fold(0.0, f64::max);
            let high = |line: &&LineBelow| at(line) >= most * KEPT;
            *lines.iter().rfind(high).expect("there is a line")
        };
        let mut chosen = vec![];
        for bytes in [first, (first * last).sqrt(), last] {
            let line = highest_at(bytes);
            if !chosen.contains(&line) {
                chosen.push(line);
            }
        }
        chosen
    }
}

impl LeastCosts {
    /// The rising edges of the greatest convex function that no occupancy is below: lines, of which those of large sizes may
    /// be below 0 at 0 bytes. Of one size, the line through the origin.
    ///
    /// # Complexity
    /// O(m log m) time for `m` occupancies.
    pub fn edges(&self) -> Vec<(f64, f64)> {
        let corners = lower_corners(&cheapest_by_size(&self.occupancies));
        match corners[..] {
            [(bytes, time)] if bytes > 0.0 => vec![(0.0, time / bytes * KEPT)],
            _ => {
                let edge = |pair: &[(f64, f64)]| {
                    let beta = slope(pair[0], pair[1]) * KEPT;
                    (beta >= 0.0).then(|| (pair[0].1 * KEPT - beta * pair[0].0, beta))
                };
                corners.windows(2).filter_map(edge).collect()
            }
        }
    }
}

/// Safety factor of a line, for rounding of slopes, products and differences: several units in the last place.
const KEPT: f64 = 1.0 - 16.0 * f64::EPSILON;

/// The highest line of a slope that no point is below, if it is a line of costs.
fn line_below(points: &[(f64, f64)], beta: f64) -> Option<LineBelow> {
    let heights = points.iter().map(|&(bytes, time)| time - beta * bytes);
    let overhead = heights.fold(f64::INFINITY, f64::min);
    let kept = if beta > 0.0 { KEPT } else { 1.0 };
    (beta >= 0.0 && overhead >= 0.0)
        .then_some(LineBelow { overhead: overhead * kept, beta: beta * kept })
}

/// The least time for each size, by ascending size.
fn cheapest_by_size(occupancies: &[(u64, f64)]) -> Vec<(f64, f64)> {
    let mut sorted: Vec<(f64, f64)> =
        occupancies.iter().map(|&(bytes, time)| (bytes as f64, time)).collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    sorted.dedup_by_key(|(bytes, _)| *bytes);
    sorted
}

/// The corners of the largest convex function that no point is below.
fn lower_corners(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut corners: Vec<(f64, f64)> = vec![];
    for &point in points {
        while let [.., before, last] = corners[..] {
            if slope(before, point) < slope(last, point) {
                break;
            }
            corners.pop();
        }
        corners.push(point);
    }
    corners
}

/// Time per byte from one point to another.
fn slope(from: (f64, f64), to: (f64, f64)) -> f64 {
    (to.1 - from.1) / (to.0 - from.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(occupancies: &[(u64, f64)]) -> Vec<(f64, f64)> {
        let lines = LeastCosts::new(0.0, occupancies.to_vec()).lines_below();
        lines.iter().map(|line| (line.overhead, line.beta / KEPT)).collect()
    }

    #[test]
    fn lines_go_below_all_and_start_nowhere_below_nothing() {
        // One size: a constant.
        assert_eq!(lines(&[(7, 3.0), (7, 4.0)]), [(3.0, 0.0)]);
        // A straight line is itself.
        let [(overhead, beta)] = lines(&[(1, 6.0), (11, 26.0)])[..] else { panic!() };
        assert!((3.999..=4.0).contains(&overhead) && beta == 2.0);
        // Falling, then rising steeply, so that the line to the last would start below 0.
        assert_eq!(lines(&[(1, 9.0), (4, 3.0), (8, 11.0)]), [(3.0, 0.0), (0.0, 0.75)]);
        assert_eq!(lines(&[(1, 9.0), (4, f64::INFINITY)]), []);
    }

    #[test]
    fn no_line_is_above_what_it_stands_for() {
        for seed in 1..2000_u64 {
            let mut state = seed;
            let mut random = |most: u64| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state >> 33) % most
            };
            let points: Vec<(u64, f64)> =
                (0..1 + random(9)).map(|_| (1 + random(60), random(900) as f64 / 7.0)).collect();
            let lines = LeastCosts::new(0.0, points.clone()).lines_below();
            for line in lines {
                for &(bytes, time) in &points {
                    assert!(line.overhead + line.beta * bytes as f64 <= time, "{points:?}");
                }
            }
        }
    }
}
