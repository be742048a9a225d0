//! Arrival of the best message of a range at a receiver, as a function of the time at which it is
//! free.
//!
//! A sender that is ready at `C` and whose message takes `A` is done at `max(x, C) + A`, if the receiver is free from
//! `x` on: constant up to `x = C`, rising from there, a hinge. The best of a range's senders is the lower envelope of
//! such hinges. Written `max(x + A, B)` with `B = C + A`, a hinge is superfluous if another has neither a larger `A`
//! nor a larger `B`. Among the rest, the smaller `A` goes with the larger `B`; in that order the rising parts fall and
//! the constant parts rise, and the envelope at `x` is found at their crossing.
//!
//! ```text
//! arrival |                      /
//!         |                     /  x + A_2
//!     B_2 |        ____________/
//!         |       /
//!         |      / x + A_1           A_1 > A_2, B_1 < B_2
//!     B_1 |_____/
//!         +-----+-------------+---- x: from when on the receiver is free
//!              C_1           C_2
//! ```

use super::links::LinksTo;
use tuwtree_model::Rank;

/// The roots of a finished range: when each is ready, in ascending order, ties by rank.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Senders<'a> {
    pub(crate) ready: &'a [f64],
    pub(crate) rank: &'a [u16],
}

/// The first of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sender {
    pub(crate) ready: f64,
    pub(crate) rank: u16,
}

/// The message of a range.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RangeMessage<'a> {
    /// The costs from each sender to the one receiver.
    pub(crate) links: LinksTo<'a>,
    pub(crate) bytes: f64,
    /// A lower bound on how long any sender's message occupies the receiver.
    pub(crate) fastest: f64,
    /// A lower bound on any sender's lambda.
    pub(crate) soonest: f64,
}

impl RangeMessage<'_> {
    /// Hinge of a sender that is ready at `ready`.
    #[inline(always)]
    fn hinge(&self, rank: Rank, ready: f64) -> Hinge {
        let latency = self.links.latency(rank, self.bytes);
        Hinge::new(ready + latency, self.links.message(rank, self.bytes))
    }
}

/// One sender.
#[derive(Clone, Copy, Debug)]
struct Hinge {
    /// `A`: how long its message occupies the receiver.
    message: f64,
    /// `B`: when the message arrives if the receiver is free in time.
    earliest: f64,
}

/// The envelope; messages fall and earliest arrivals rise.
#[derive(Clone, Debug, Default)]
pub(crate) struct Envelope {
    hinges: Vec<Hinge>,
}

/// Most hinges tried one by one, side by side for many clocks.
const FEW: usize = 12;

/// Number of clocks compared side by side.
const LANES: usize = 8;

impl Envelope {
    /// For each clock, lowers the arrival to that of the best sender if that is earlier:
    /// `arrival[n] = min(arrival[n], min over q of max(clock[n], C_q + lambda_q(bytes)) + comm_q(bytes))`.
    ///
    /// # Shapes
    /// As many arrivals as clocks. `first` is the first of `senders`, which are asked for only if it
    /// is not the best of all for all clocks.
    ///
    /// # Complexity
    /// O(q + n log q) for `q` senders and `n` clocks, the logarithm only where more than a few
    /// hinges make up the envelope. Senders are read in the order in which they are ready, and no
    /// further than one might help.
    #[inline]
    pub(crate) fn lower<'a>(
        &mut self,
        (clocks, arrivals): (&[f64], &mut [f64]),
        first: Sender,
        senders: impl FnOnce() -> Senders<'a>,
        message: RangeMessage<'_>,
    ) {
        let hinge = message.hinge(Rank::from(first.rank), first.ready);
        let latency = message.links.latency(Rank::from(first.rank), message.bytes);
        if hinge.message <= message.fastest && latency <= message.soonest {
            // Nobody is ready earlier, and nobody sends faster.
            lower_by_one(clocks, arrivals, hinge);
            return;
        }
        let (earliest_clock, latest_clock, latest_arrival) = bounds(clocks, arrivals);
        let soonest = first.ready + message.soonest;
        if most(earliest_clock, soonest) + message.fastest >= latest_arrival {
            return;
        }
        match message.links.latency {
            None => self.collect(senders(), message, (latest_clock, latest_arrival)),
            Some(_) => self.collect_apart(senders(), message, (latest_clock, latest_arrival)),
        }
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
        RangeMessage { links, bytes, fastest, .. }: RangeMessage<'_>,
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
            let hinge = Hinge::new(ready, message);
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

    /// Hinges with overlapping latency: a sender that is ready later may arrive sooner.
    fn collect_apart(
        &mut self,
        senders: Senders<'_>,
        message: RangeMessage<'_>,
        (latest_clock, useful): (f64, f64),
    ) {
        self.hinges.clear();
        // What the latest clock already gets; nobody gets more.
        let mut known = useful;
        for (&ready, &sender) in senders.ready.iter().zip(senders.rank) {
            if ready + message.soonest + message.fastest >= known {
                break;
            }
            let hinge = message.hinge(Rank::from(sender), ready);
            if hinge.message.is_finite() {
                known = known.min(hinge.at(latest_clock));
                self.hinges.push(hinge);
            }
        }
        // Of those that remain, messages rise and earliest arrivals fall.
        let by_message = |one: &Hinge, other: &Hinge| {
            let messages = one.message.total_cmp(&other.message);
            messages.then(one.earliest.total_cmp(&other.earliest))
        };
        self.hinges.sort_unstable_by(by_message);
        let mut earliest = f64::INFINITY;
        self.hinges.retain(|hinge| {
            let helps = hinge.earliest < earliest;
            earliest = earliest.min(hinge.earliest);
            helps
        });
        self.hinges.reverse();
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
    /// The hinge of a message that may begin at `ready`.
    #[inline(always)]
    fn new(ready: f64, message: f64) -> Hinge {
        Hinge { message, earliest: ready + message }
    }

    /// Arrival of the message.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Lowers `arrivals` for clocks `0, step, …` and compares with all senders tried one by one.
    fn check(ready: &[f64], latency: &[f64], step: f64) -> usize {
        let rate = vec![0.0; latency.len()];
        let links = LinksTo { overhead: latency, rate: &rate, latency: None };
        let fastest = latency.iter().copied().fold(f64::INFINITY, f64::min) - 1.0;
        let mut rank: Vec<u16> = (0..ready.len() as u16).collect();
        rank.sort_by(|&a, &b| ready[usize::from(a)].total_cmp(&ready[usize::from(b)]));
        let ready_in_order: Vec<f64> = rank.iter().map(|&rank| ready[usize::from(rank)]).collect();
        let clocks: Vec<f64> = (0..50).map(|n| f64::from(n) * step).collect();
        let mut arrivals = vec![f64::INFINITY; clocks.len()];
        let mut envelope = Envelope::default();
        envelope.lower(
            (&clocks, &mut arrivals),
            Sender { ready: ready_in_order[0], rank: rank[0] },
            || Senders { ready: &ready_in_order, rank: &rank },
            RangeMessage { links, bytes: 1.0, fastest, soonest: 0.0 },
        );
        for (&clock, arrival) in clocks.iter().zip(arrivals) {
            let each =
                ready.iter().zip(latency).map(|(&ready, latency)| clock.max(ready) + latency);
            assert_eq!(arrival, each.fold(f64::INFINITY, f64::min));
        }
        envelope.hinges.len()
    }

    #[test]
    fn an_envelope_of_one_few_or_many_hinges_is_the_best_of_all_senders() {
        assert_eq!(check(&[5.0, 0.0, 7.0], &[9.0, 4.0, 4.0], 1.0), 1);
        assert_eq!(check(&[0.0, 10.0, 20.0], &[30.0, 21.0, 12.0], 1.0), 3);
        // The later, the faster, and each arrives a little later than the one before.
        let ready: Vec<f64> = (0..40).map(|n| f64::from(10 * n)).collect();
        let latency: Vec<f64> = (0..40).map(|n| f64::from(1000 - 9 * n)).collect();
        assert_eq!(check(&ready, &latency, 10.0), 40);
        assert!(check(&ready, &latency, 3.0) < 40, "none beyond the latest clock");
    }

    #[test]
    fn who_has_no_link_does_not_send() {
        assert_eq!(check(&[0.0, 3.0], &[f64::INFINITY, 2.0], 1.0), 1);
        assert_eq!(check(&[f64::INFINITY, f64::INFINITY], &[1.0, 2.0], 1.0), 0);
    }
}
