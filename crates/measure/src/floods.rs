//! Costs of messages by size: latency and occupancy, from ping-pong and floods.
//!
//! A flood is several messages at once to one process that has posted all its receives. Latencies
//! overlap in it, occupancies add up: n messages of s bytes take `lambda(s) + n f(s)`. So
//! `f(s) = (T(n, s) - T(1, s)) / (n - 1)` and `lambda(s) = T(1, s) - f(s)`, where `T(1, s)` is half a
//! round trip, which needs no common clock. A smaller flood tells how far off this is.
//!
//! Sizes are measured pass after pass, so that a disturbance hits one sample of several sizes rather
//! than all of one; medians count. Then the middle between two sizes is measured, and where it is off the
//! straight line, the middles of both halves, the worst first, as long as there is time: that is how
//! changes of protocol are found.

use crate::statistics::median;
use std::collections::BTreeMap;

/// A measuring device for messages of one level.
pub trait Laboratory {
    /// Failure of a measurement.
    type Error;

    /// Halves of this many round trips of a message, in seconds.
    ///
    /// # Errors
    /// Why they cannot be measured.
    fn one_way(&mut self, bytes: u64, times: usize) -> Result<Vec<f64>, Self::Error>;

    /// Seconds until this many messages, sent at once to one process, have arrived.
    ///
    /// # Errors
    /// Why that cannot be measured.
    fn flood(&mut self, bytes: u64, messages: usize) -> Result<f64, Self::Error>;

    /// Seconds on a clock.
    fn now(&self) -> f64;
}

/// Request for a measurement.
#[derive(Clone, Debug, PartialEq)]
pub struct FloodRequest {
    /// Sizes that are measured in any case, ascending, from 1 byte on; at least two.
    pub sizes: Vec<u64>,
    /// About how many seconds it may take.
    pub seconds: f64,
}

/// Costs of messages of one size, in seconds, and their uncertainty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SizeCosts {
    /// The size of the messages.
    pub bytes: u64,
    /// `lambda`.
    pub latency: f64,
    /// `f`.
    pub occupancy: f64,
    /// The median deviation of samples from their median, relative to it: of one message or a flood,
    /// whichever is larger.
    pub spread: f64,
    /// Difference of a smaller flood from `lambda + n f`, relative to its time.
    pub deviation: f64,
}

/// Costs of messages of one level.
#[derive(Clone, Debug, PartialEq)]
pub struct LevelCosts {
    /// By ascending size.
    pub sizes: Vec<SizeCosts>,
    /// The largest deviation from a straight line found in the middle of two sizes that are still
    /// neighbours, with the larger of these; none if all are below [`LevelCosts::STRAIGHT`].
    pub bent: Option<(u64, f64)>,
    /// Number of pairs of sizes that lack of time left unexamined.
    pub unseen: usize,
}

impl LevelCosts {
    /// A deviation that is taken for straight.
    pub const STRAIGHT: f64 = 0.03;
}

/// The messages of a large and of a smaller flood.
const FLOODS: (usize, usize) = (16, 4);
/// Sizes of floods that take long.
const LONG_FLOODS: (usize, usize) = (5, 2);
/// Share of the time that is too long for a large flood.
const LONG: f64 = 0.02;
/// Passes, whose medians are taken; one before warms up.
const PASSES: std::ops::RangeInclusive<usize> = 3..=25;
/// Samples of a middle.
const MIDDLE_SAMPLES: usize = 3;
/// Round trips for each pass.
const ROUND_TRIPS: usize = 3;
/// A median is certain enough if the spread over the root of the samples is below this.
const CERTAIN: f64 = 0.005;

/// All samples of one size.
#[derive(Clone, Debug)]
struct Samples {
    bytes: u64,
    /// Numbers of messages in the floods.
    floods: (usize, usize),
    one: Vec<f64>,
    large: Vec<f64>,
    small: Vec<f64>,
}

impl Samples {
    fn new(bytes: u64) -> Samples {
        Samples { bytes, floods: FLOODS, one: Vec::new(), large: Vec::new(), small: Vec::new() }
    }

    fn take<L: Laboratory>(&mut self, laboratory: &mut L) -> Result<(), L::Error> {
        self.one.extend(laboratory.one_way(self.bytes, ROUND_TRIPS)?);
        self.large.push(laboratory.flood(self.bytes, self.floods.0)?);
        self.small.push(laboratory.flood(self.bytes, self.floods.1)?);
        Ok(())
    }

    fn forget(&mut self) {
        self.one.clear();
        self.large.clear();
        self.small.clear();
    }

    /// Chooses floods of moderate duration, by the time of one message.
    fn choose_floods<L: Laboratory>(
        &mut self,
        laboratory: &mut L,
        seconds: f64,
    ) -> Result<(), L::Error> {
        let one = laboratory.one_way(self.bytes, 1)?[0];
        if FLOODS.0 as f64 * one > LONG * seconds {
            self.floods = LONG_FLOODS;
        }
        Ok(())
    }

    fn is_certain(&self) -> bool {
        let certain = |samples: &[f64]| spread(samples) < CERTAIN * (samples.len() as f64).sqrt();
        self.large.len() > 4 && certain(&self.one) && certain(&self.large)
    }

    fn costs(&self) -> SizeCosts {
        let middle = |samples: &[f64]| median(samples).expect("every size has samples");
        let (one, large, small) = (middle(&self.one), middle(&self.large), middle(&self.small));
        let (most, some) = self.floods;
        let occupancy = ((large - one) / (most - 1) as f64).clamp(0.0, one);
        let latency = one - occupancy;
        let expected = latency + some as f64 * occupancy;
        SizeCosts {
            bytes: self.bytes,
            latency,
            occupancy,
            spread: spread(&self.one).max(spread(&self.large)),
            deviation: (expected - small).abs() / small,
        }
    }
}

/// The median deviation of some values from their median, relative to it.
fn spread(values: &[f64]) -> f64 {
    let middle = median(values).expect("every size has samples");
    let deviations: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
    median(&deviations).expect("as many as values") / middle
}

/// Costs of messages at the requested sizes, and at sizes where the costs bend.
///
/// # Errors
/// What the laboratory returns.
///
/// # Panics
/// For fewer than two sizes.
pub fn floods<L: Laboratory>(
    laboratory: &mut L,
    request: &FloodRequest,
) -> Result<LevelCosts, L::Error> {
    assert!(request.sizes.len() > 1, "at least two sizes");
    let begin = laboratory.now();
    let mut all: Vec<Samples> = request.sizes.iter().map(|&bytes| Samples::new(bytes)).collect();
    for one in &mut all {
        one.choose_floods(laboratory, request.seconds)?;
        one.take(laboratory)?;
        one.forget();
    }
    for pass in 0..*PASSES.end() {
        let is_over = laboratory.now() - begin > 0.5 * request.seconds;
        if pass >= *PASSES.start() && is_over || all.iter().all(Samples::is_certain) {
            break;
        }
        for one in all.iter_mut().filter(|one| !one.is_certain()) {
            one.take(laboratory)?;
        }
    }
    let known = all.iter().map(|one| (one.bytes, one.costs())).collect();
    let mut refinement = Refinement::new(known, &request.sizes);
    while let Some((low, high)) = refinement.next() {
        if laboratory.now() - begin > request.seconds {
            break;
        }
        let mut middle = Samples::new(low.midpoint(high));
        middle.choose_floods(laboratory, request.seconds)?;
        for _ in 0..MIDDLE_SAMPLES {
            middle.take(laboratory)?;
        }
        refinement.add(low, high, middle.costs());
    }
    Ok(refinement.result())
}

/// Sizes between which costs are looked at.
struct Refinement {
    known: BTreeMap<u64, SizeCosts>,
    /// Neighbours, each with the deviation that made them so; infinite where nobody has looked.
    open: Vec<(f64, u64, u64)>,
}

impl Refinement {
    fn new(known: BTreeMap<u64, SizeCosts>, sizes: &[u64]) -> Refinement {
        let open = sizes.windows(2).filter(|pair| Refinement::has_middle(pair[0], pair[1]));
        Refinement { known, open: open.map(|pair| (f64::INFINITY, pair[0], pair[1])).collect() }
    }

    /// True if some size lies far enough between two others.
    fn has_middle(low: u64, high: u64) -> bool {
        high - low > (high / 64).max(16)
    }

    /// The neighbours that are to be looked between: the smallest that nobody has, which take least, then
    /// the worst.
    fn next(&self) -> Option<(u64, u64)> {
        let worst = self
            .open
            .iter()
            .max_by(|one, other| one.0.total_cmp(&other.0).then(other.2.cmp(&one.2)));
        worst.map(|&(_, low, high)| (low, high))
    }

    /// Notes what messages cost in the middle of two sizes.
    fn add(&mut self, low: u64, high: u64, middle: SizeCosts) {
        self.open.retain(|&(_, one, other)| (one, other) != (low, high));
        let (below, above) = (self.known[&low], self.known[&high]);
        let share = (middle.bytes - low) as f64 / (high - low) as f64;
        let off = |cost: fn(&SizeCosts) -> f64| {
            let line = cost(&below) + share * (cost(&above) - cost(&below));
            (line - cost(&middle)).abs() / cost(&middle)
        };
        // One message alone, and many: what is added up in plans.
        let off = off(|one| one.latency + one.occupancy)
            .max(off(|one| one.latency + 16.0 * one.occupancy));
        let noise = 3.0 * below.spread.max(above.spread).max(middle.spread);
        if off > LevelCosts::STRAIGHT.max(noise) {
            for (low, high) in [(low, middle.bytes), (middle.bytes, high)] {
                if Refinement::has_middle(low, high) {
                    self.open.push((off, low, high));
                }
            }
        }
        self.known.insert(middle.bytes, middle);
    }

    fn result(self) -> LevelCosts {
        let (unseen, bent): (Vec<_>, Vec<_>) =
            self.open.into_iter().partition(|(off, _, _)| off.is_infinite());
        let worst = bent.into_iter().max_by(|one, other| one.0.total_cmp(&other.0));
        LevelCosts {
            sizes: self.known.into_values().collect(),
            bent: worst.map(|(off, _, high)| (high, off)),
            unseen: unseen.len(),
        }
    }
}

/// The largest size from 1 to `most` for which `is_so` holds, if it holds up to some size and not beyond: by doubling,
/// then by halving; `None` if it does not hold for 1.
///
/// # Errors
/// What `is_so` returns.
///
/// # Example
/// ```
/// let limit = |most| tuwtree_measure::largest_size(most, |bytes| Ok::<_, ()>(bytes <= 4096));
/// assert_eq!((limit(1 << 20), limit(100)), (Ok(Some(4096)), Ok(Some(100))));
/// ```
pub fn largest_size<E>(
    most: u64,
    mut is_so: impl FnMut(u64) -> Result<bool, E>,
) -> Result<Option<u64>, E> {
    let (mut holds, mut fails) = (0, most + 1);
    let mut next = 1;
    while next <= most {
        if !is_so(next)? {
            fails = next;
            break;
        }
        holds = next;
        next = if next == most { most + 1 } else { (2 * next).min(most) };
    }
    while fails - holds > 1 && holds > 0 {
        let middle = holds.midpoint(fails);
        if is_so(middle)? { holds = middle } else { fails = middle }
    }
    Ok(Some(holds).filter(|&holds| holds > 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A network with these costs, whose every n-th time is far too long, and all a little.
    struct Simulated<F: Fn(u64) -> (f64, f64)> {
        costs: F,
        clock: f64,
        taken: u64,
        disturbed: u64,
    }

    impl<F: Fn(u64) -> (f64, f64)> Simulated<F> {
        fn noisy(&mut self, seconds: f64) -> f64 {
            self.taken += 1;
            let jitter = 1.0 + 0.004 * ((self.taken * 7919) % 100) as f64 / 100.0;
            let factor = if self.taken.is_multiple_of(self.disturbed) { 20.0 } else { jitter };
            self.clock += 3.0 * seconds * factor;
            seconds * factor
        }
    }

    impl<F: Fn(u64) -> (f64, f64)> Laboratory for Simulated<F> {
        type Error = std::convert::Infallible;

        fn one_way(&mut self, bytes: u64, times: usize) -> Result<Vec<f64>, Self::Error> {
            let (latency, occupancy) = (self.costs)(bytes);
            Ok((0..times).map(|_| self.noisy(latency + occupancy)).collect())
        }

        fn flood(&mut self, bytes: u64, messages: usize) -> Result<f64, Self::Error> {
            let (latency, occupancy) = (self.costs)(bytes);
            Ok(self.noisy(latency + messages as f64 * occupancy))
        }

        fn now(&self) -> f64 {
            self.clock
        }
    }

    const SIZES: [u64; 11] = [1, 16, 64, 256, 1024, 4096, 16384, 65536, 131_072, 262_144, 1 << 20];

    fn measured(costs: impl Fn(u64) -> (f64, f64), seconds: f64, disturbed: u64) -> LevelCosts {
        let mut laboratory = Simulated { costs, clock: 0.0, taken: 0, disturbed };
        floods(&mut laboratory, &FloodRequest { sizes: SIZES.into(), seconds }).unwrap()
    }

    fn at(costs: &LevelCosts, bytes: u64) -> (f64, f64) {
        let next = costs.sizes.iter().position(|one| one.bytes >= bytes).unwrap();
        let (high, low) = (costs.sizes[next], costs.sizes[next.saturating_sub(1)]);
        if next == 0 || high.bytes == bytes {
            return (high.latency, high.occupancy);
        }
        let share = (bytes - low.bytes) as f64 / (high.bytes - low.bytes) as f64;
        let on_line = |low: f64, high: f64| low + share * (high - low);
        (on_line(low.latency, high.latency), on_line(low.occupancy, high.occupancy))
    }

    /// Protocol steps: at 1000 bytes occupancy doubles, at 50000 latency does.
    fn with_steps(bytes: u64) -> (f64, f64) {
        let latency = if bytes > 50_000 { 80e-6 } else { 40e-6 };
        let start = if bytes > 1000 { 20e-6 } else { 10e-6 };
        (latency, start + 1e-9 * bytes as f64)
    }

    #[test]
    fn latency_and_occupancy_are_found_apart_however_one_time_in_nine_is_wrong() {
        let costs = measured(|bytes| (50e-6, 10e-6 + 1e-9 * bytes as f64), 60.0, 9);
        for one in &costs.sizes {
            let occupancy = 10e-6 + 1e-9 * one.bytes as f64;
            assert!((one.occupancy / occupancy - 1.0).abs() < 0.02, "{one:?}");
            assert!((one.latency - 50e-6).abs() < 0.02 * (50e-6 + occupancy), "{one:?}");
            assert!(one.deviation < 0.02 && one.spread < 0.02, "{one:?}");
        }
        assert_eq!((costs.bent, costs.unseen), (None, 0));
    }

    #[test]
    fn protocol_steps_are_found_between_the_sizes() {
        let costs = measured(with_steps, 60.0, 1000);
        assert!(costs.sizes.len() > SIZES.len());
        for bytes in [1, 700, 950, 1050, 1500, 30_000, 48_000, 52_000, 100_000, 1 << 20] {
            let (latency, occupancy) = at(&costs, bytes);
            let (exact, port) = with_steps(bytes);
            for messages in [1.0, 16.0] {
                let ratio = (latency + messages * occupancy) / (exact + messages * port);
                assert!((ratio - 1.0).abs() < 0.04, "{bytes} bytes, {messages}: {ratio}");
            }
        }
    }

    #[test]
    fn time_that_is_short_is_kept_and_what_was_not_looked_at_is_said() {
        let mut laboratory = Simulated { costs: with_steps, clock: 0.0, taken: 0, disturbed: 1000 };
        let request = FloodRequest { sizes: SIZES.into(), seconds: 0.2 };
        let costs = floods(&mut laboratory, &request).unwrap();
        assert!(costs.unseen > 0, "{costs:?}");
        assert!(laboratory.clock < 0.7, "{}", laboratory.clock);
    }

    #[test]
    fn messages_that_crowd_each_other_show_as_a_deviation() {
        struct Crowded(f64);
        impl Laboratory for Crowded {
            type Error = std::convert::Infallible;
            fn one_way(&mut self, _: u64, times: usize) -> Result<Vec<f64>, Self::Error> {
                Ok(vec![1e-5; times])
            }
            fn flood(&mut self, _: u64, messages: usize) -> Result<f64, Self::Error> {
                self.0 += 1e-3;
                Ok(if messages > 8 { 0.2 } else { 1e-5 + 1e-6 * messages as f64 })
            }
            fn now(&self) -> f64 {
                self.0
            }
        }
        let request = FloodRequest { sizes: vec![1, 1024], seconds: 1.0 };
        let costs = floods(&mut Crowded(0.0), &request).unwrap();
        assert!(costs.sizes.iter().all(|one| one.deviation > 0.5), "{costs:?}");
    }

    #[test]
    fn limits_are_found_to_the_byte() {
        for limit in [0, 1, 2, 3, 65_535, 65_536, 1 << 20] {
            let found = largest_size(1 << 20, |bytes| Ok::<_, ()>(bytes <= limit)).unwrap();
            assert_eq!(found, Some(limit).filter(|&limit| limit > 0));
        }
    }
}
