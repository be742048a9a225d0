//! Costs of messages by size, as whole numbers.

use tuwtree_collective::MessagePrice;
use tuwtree_model::{CostModel, Costs, Rank, Time, TimeError};

/// Costs of messages of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PriceTable {
    /// Of messages of `2^k` bytes.
    pub(super) powers: Vec<u64>,
    /// The part of that in which a port can do nothing else.
    pub(super) occupied: Vec<u64>,
}

/// The largest message with a price of its own has `2^40` bytes; larger ones cost as much for each byte more.
pub(super) const POWERS: u32 = 40;

/// No message costs more: eleven days, so that sums stay in 128 bits.
const DEAREST: f64 = 1e18;

impl PriceTable {
    /// The prices of messages over the dearest of these links, which occupy ports for so long, and whether they are the same
    /// for all.
    ///
    /// # Complexity
    /// O(n) for n links.
    pub(super) fn of<L: Iterator<Item = (Rank, Rank)>>(
        costs: &Costs,
        links: impl Fn() -> L,
        occupies: impl Fn(&Costs, Rank, Rank, u64) -> Result<Time, TimeError>,
    ) -> (PriceTable, bool) {
        let seconds = |(from, to): (Rank, Rank), bytes: u64| {
            let times = (costs.latency_between(from, to, bytes), occupies(costs, from, to, bytes));
            match times {
                (Ok(latency), Ok(occupied)) => (latency.units(), occupied.units()),
                _ => (0.0, 0.0),
            }
        };
        let mut are_everywhere = true;
        let table = PriceTable::by_size(|bytes| {
            let all = links().map(|link| seconds(link, bytes));
            let mut all = all.map(|(latency, occupied)| (latency + occupied, occupied));
            let first = all.next().unwrap_or((0.0, 0.0));
            all.fold(first, |one, other| {
                are_everywhere &= other == first;
                if other.0 > one.0 { other } else { one }
            })
        });
        (table, are_everywhere)
    }

    /// The prices of messages that take so long, and occupy a port for so long, in seconds by size.
    pub(super) fn by_size(mut price: impl FnMut(u64) -> (f64, f64)) -> PriceTable {
        let picoseconds = |time: f64| (time * 1e12).round().clamp(0.0, DEAREST) as u64;
        let of = |power| {
            let (whole, occupied) = price(1_u64 << power);
            (picoseconds(whole), picoseconds(occupied))
        };
        let (powers, occupied) = (0..=POWERS).map(of).unzip();
        PriceTable { powers, occupied }
    }

    /// The prices of lone messages or exchanges over the dearest of these links, whichever are higher.
    ///
    /// # Complexity
    /// O(n) for n links.
    pub(super) fn dearest<L: Iterator<Item = (Rank, Rank)>>(
        costs: &Costs,
        links: impl Fn() -> L,
    ) -> PriceTable {
        let (lone, _) = PriceTable::of(costs, &links, Costs::transmission_between);
        let (exchanged, _) = PriceTable::of(costs, &links, Costs::exchange_between);
        lone.with(&exchanged, u64::max)
    }

    /// The prices where this many ranks send over one wire at once.
    pub(super) fn at_least(mut self, wire: &PriceTable, ranks: u64) -> PriceTable {
        let own = self.powers.iter_mut().zip(&mut self.occupied);
        for ((whole, occupied), wire) in own.zip(&wire.occupied) {
            let waiting = wire.saturating_mul(ranks).saturating_sub(*occupied);
            *whole = whole.saturating_add(waiting).min(DEAREST as u64);
            *occupied = occupied.saturating_add(waiting).min(DEAREST as u64);
        }
        self
    }

    /// For each size what `choose` takes of both.
    pub(super) fn with(&self, other: &PriceTable, choose: fn(u64, u64) -> u64) -> PriceTable {
        let chosen = |one: &[u64], other: &[u64]| {
            one.iter().zip(other).map(|(&one, &other)| choose(one, other)).collect()
        };
        PriceTable {
            powers: chosen(&self.powers, &other.powers),
            occupied: chosen(&self.occupied, &other.occupied),
        }
    }

    /// Cost of a message; 0 for an empty one.
    pub fn message(&self, bytes: u64) -> u128 {
        between(&self.powers, bytes)
    }

    /// For how long it occupies a port.
    pub fn occupancy(&self, bytes: u64) -> u128 {
        between(&self.occupied, bytes)
    }

    /// Both: for how long it is under way, and for how long it occupies ports.
    pub(super) fn parts(&self, bytes: u64) -> MessagePrice {
        let (whole, occupancy) = (self.message(bytes), self.occupancy(bytes));
        MessagePrice { latency: whole - occupancy, occupancy }
    }
}

/// Interpolates between powers of two.
fn between(powers: &[u64], bytes: u64) -> u128 {
    let Some(power) = bytes.checked_ilog2() else { return 0 };
    let index = (power as usize).min(powers.len() - 2);
    let [low, high] = [powers[index], powers[index + 1]].map(u128::from);
    let (start, beyond) = (1_u128 << index, u128::from(bytes) - (1 << index));
    low + high.saturating_sub(low) * beyond / start
}
