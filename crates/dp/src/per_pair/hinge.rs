//! When a receiver has what the best sender of a range sends, as a function of when it is free.
//!
//! A sender that is ready at `C` and whose message takes `A` is done at `max(x, C) + A`, if the
//! receiver is free from `x` on: level up to `x = C`, rising from there, a hinge. The best of a
//! range's senders is the lower envelope of such hinges. Written `max(x + A, B)` with `B = C + A`, a
//! hinge is of no use if another has neither a larger `A` nor a larger `B`. Of those that remain,
//! the smaller `A` goes with the larger `B`; ordered so, the rising parts fall and the level parts
//! rise, and the envelope at `x` is found where they cross.

use super::links::LinksTo;
use tuwtree_model::Rank;

/// The roots of a finished range: when each is ready, in ascending order, ties by rank.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Senders<'a> {
    pub(crate) ready: &'a [f64],
    pub(crate) rank: &'a [u16],
}

/// One sender.
#[derive(Clone, Copy, Debug)]
struct Hinge {
    /// `A`: the time of its message.
    message: f64,
    /// `B`: when the message arrives if the receiver is free in time.
    earliest: f64,
}

/// The envelope; messages fall and earliest arrivals rise.
#[derive(Clone, Debug, Default)]
pub(crate) struct Envelope {
    hinges: Vec<Hinge>,
}

/// Up to so many hinges are tried one by one, side by side for many clocks.
const FEW: usize = 12;

/// How many clocks are compared side by side.
const LANES: usize = 8;

impl Envelope {
    /// For each clock, lowers the arrival to that of the best sender if that is earlier:
    /// `arrival[n] = min(arrival[n], min over q of max(clock[n], C_q) + comm_q(bytes))`.
    ///
    /// `fastest` is a lower bound on the time of any sender's message.
    ///
    /// # Complexity
    /// O(q + n log q) for `q` senders and `n` clocks, the logarithm only where more than a few
    /// hinges make up the envelope. Senders are read in the order in which they are ready, and no
    /// further than one might help.
    pub(crate) fn lower(
        &mut self,
        clocks: &[f64],
        arrivals: &mut [f64],
        senders: Senders<'_>,
        (links, bytes, fastest): (LinksTo<'_>, f64, f64),
    ) {
        let (earliest_clock, latest_clock, latest_arrival) = bounds(clocks, arrivals);
        if earliest_clock + fastest >= latest_arrival {
            return;
        }
        self.collect(senders, (links, bytes, fastest), (latest_clock, latest_arrival));
        if self.hinges.len() <= FEW {
            for hinge in &self.hinges {
                lower_by_one(clocks, arrivals, *hinge);
            }
        } else {
            for (&clock, arrival) in clocks.iter().zip(arrivals) {
                *arrival = arrival.min(self.at(clock));
            }
        }
    }

    /// The envelope of those senders that may bring a clock of at most `latest_clock` an arrival
    /// before `useful`.
    fn collect(
        &mut self,
        senders: Senders<'_>,
        (links, bytes, fastest): (LinksTo<'_>, f64, f64),
        (latest_clock, useful): (f64, f64),
    ) {
        self.hinges.clear();
        // What the latest clock already gets; nobody gets more.
        let mut known = useful;
        let mut least = f64::INFINITY;
        for (&ready, &sender) in senders.ready.iter().zip(senders.rank) {
            if ready + fastest >= known {
                break;
            }
            let message = links.message(Rank::from(sender), bytes);
            // Ready later than all before it, it helps only by a faster message.
            if message >= least {
                continue;
            }
            least = message;
            let hinge = Hinge { message, earliest: ready + message };
            while self.hinges.last().is_some_and(|last| last.earliest >= hinge.earliest) {
                self.hinges.pop();
            }
            self.hinges.push(hinge);
            known = known.min(hinge.at(latest_clock));
            if message <= fastest {
                break;
            }
        }
    }

    /// The envelope's value at a clock, infinite without senders.
    fn at(&self, clock: f64) -> f64 {
        let level = self.hinges.partition_point(|hinge| clock + hinge.message > hinge.earliest);
        let rising = match level {
            0 => f64::INFINITY,
            _ => clock + self.hinges[level - 1].message,
        };
        self.hinges.get(level).map_or(rising, |hinge| rising.min(hinge.earliest))
    }
}

impl Hinge {
    /// When the message has arrived.
    #[inline(always)]
    fn at(self, clock: f64) -> f64 {
        most(clock + self.message, self.earliest)
    }
}

/// Lowers each arrival to that by one hinge.
#[inline]
fn lower_by_one(clocks: &[f64], arrivals: &mut [f64], hinge: Hinge) {
    for (&clock, arrival) in clocks.iter().zip(arrivals) {
        *arrival = least(*arrival, hinge.at(clock));
    }
}

/// The earliest and the latest clock, and the latest arrival.
#[inline]
fn bounds(clocks: &[f64], arrivals: &[f64]) -> (f64, f64, f64) {
    let (chunks, rest) = clocks.as_chunks::<LANES>();
    let (arrival_chunks, arrival_rest) = arrivals.as_chunks::<LANES>();
    let mut low = [f64::INFINITY; LANES];
    let mut high = [0.0; LANES];
    let mut latest = [0.0; LANES];
    for (chunk, arrivals) in chunks.iter().zip(arrival_chunks) {
        for lane in 0..LANES {
            low[lane] = least(low[lane], chunk[lane]);
            high[lane] = most(high[lane], chunk[lane]);
            latest[lane] = most(latest[lane], arrivals[lane]);
        }
    }
    for (&clock, &arrival) in rest.iter().zip(arrival_rest) {
        low[0] = least(low[0], clock);
        high[0] = most(high[0], clock);
        latest[0] = most(latest[0], arrival);
    }
    (
        low.into_iter().fold(f64::INFINITY, least),
        high.into_iter().fold(0.0, most),
        latest.into_iter().fold(0.0, most),
    )
}

#[inline(always)]
fn least(a: f64, b: f64) -> f64 {
    if b < a { b } else { a }
}

#[inline(always)]
fn most(a: f64, b: f64) -> f64 {
    if b > a { b } else { a }
}
