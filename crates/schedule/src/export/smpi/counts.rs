//! The counts by which SMPI sends messages, and their scale.
//!
//! A link has one latency and one bandwidth. With costs of exchanges it has the cheaper ones, and a dearer message is
//! sent with more bytes: `alpha' + beta' s` is `alpha + beta (s + (alpha' - alpha + (beta' - beta) s) / beta)`.

use super::{ENVELOPE_BYTES, LARGEST_COUNT, Link, ReplayError};
use crate::export::exchanges::ExchangedMessages;
use crate::schedule::Schedule;
use tuwtree_model::Homogeneous;

/// Unit of SMPI's counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DataUnit {
    Bytes,
    /// Eight bytes each, for larger messages.
    Doubles,
}

impl DataUnit {
    fn bytes(self) -> u64 {
        match self {
            DataUnit::Bytes => 1,
            DataUnit::Doubles => 8,
        }
    }

    /// The nearest whole number of bytes that is counted.
    pub(super) fn rounded(self, bytes: f64) -> u64 {
        self.bytes() * (bytes / self.bytes() as f64).round() as u64
    }

    /// Count and type of this many bytes in SMPI: type 6 is MPI_BYTE, 0 is MPI_DOUBLE.
    pub(super) fn counted(self, bytes: u64) -> String {
        match self {
            DataUnit::Bytes => format!("{bytes} 6"),
            DataUnit::Doubles => format!("{} 0", bytes / 8),
        }
    }

    /// The most bytes that are counted.
    fn most(self) -> u64 {
        self.bytes() * LARGEST_COUNT
    }
}

/// Exchanges that have costs of their own.
#[derive(Clone, Debug)]
pub(super) struct Exchanges {
    messages: ExchangedMessages,
    costs: Homogeneous,
    /// Costs of the links.
    least: Homogeneous,
}

impl Exchanges {
    /// Costs of a schedule's exchanges, beside those of the links; `None` where they cost as much as other messages.
    ///
    /// # Errors
    /// A message with one end only.
    pub(super) fn of(
        schedule: &Schedule,
        costs: Option<&Homogeneous>,
    ) -> Result<Option<Exchanges>, ReplayError> {
        let Some(&costs) = costs.filter(|costs| costs.has_exchange_costs()) else {
            return Ok(None);
        };
        let messages = ExchangedMessages::new(schedule)?;
        Ok(Some(Exchanges { messages, costs, least: costs.cheapest() }))
    }

    /// True if an action's send belongs to an exchange; actions are counted over all ranks.
    pub(super) fn is_sent(&self, action: usize) -> bool {
        self.messages.is_sent(action)
    }

    /// True if an action's receive belongs to an exchange.
    pub(super) fn is_received(&self, action: usize) -> bool {
        self.messages.is_received(action)
    }

    /// The bytes, not always whole, that take as long on a link as a message does.
    pub(super) fn bytes_on_link(&self, bytes: u64, is_exchanged: bool) -> f64 {
        let Exchanges { costs, least, .. } = self;
        let (alpha, beta) = match is_exchanged {
            true => (costs.exchange_alpha(), costs.exchange_beta()),
            false => (costs.alpha(), costs.beta()),
        };
        let more = alpha - least.alpha() + (beta - least.beta()) * bytes as f64;
        bytes as f64 + more / least.beta()
    }

    /// The largest time of this many bytes.
    pub(super) fn most_time(&self, bytes: u64) -> f64 {
        let Exchanges { costs, .. } = self;
        let lone = costs.alpha() + costs.beta() * bytes as f64;
        lone.max(costs.exchange_alpha() + costs.exchange_beta() * bytes as f64)
    }

    /// The unit and the factor, a power of two, with which all messages are whole units: the least that [`scale`]
    /// allows, or if none makes them whole, the largest, whose error is half a unit at most.
    pub(super) fn scale(
        &self,
        links: &[Link],
        schedule: &Schedule,
    ) -> Result<(DataUnit, u64), ReplayError> {
        let programs = schedule.programs();
        let mut sizes: Vec<(u64, bool)> = (0..programs.len())
            .filter_map(|index| {
                let send = programs.action(index).send()?;
                Some((send.from.bytes(), self.is_sent(index)))
            })
            .collect();
        sizes.sort_unstable();
        sizes.dedup();
        let counted: Vec<f64> =
            sizes.iter().map(|&(bytes, is)| self.bytes_on_link(bytes, is)).collect();
        let largest = counted.iter().copied().fold(0.0, f64::max);
        let least = least_factor(links);
        let too_large = || ReplayError::TooLarge {
            bytes: sizes.last().map_or(0, |&(bytes, _)| bytes),
            factor: least.unwrap_or(LARGEST_COUNT),
        };
        let least = least.ok_or_else(too_large)?;
        for unit in [DataUnit::Bytes, DataUnit::Doubles] {
            let fits = |factor: &u64| largest * *factor as f64 <= unit.most() as f64;
            let factors = std::iter::successors(Some(least), |factor| factor.checked_mul(2));
            let mut last = None;
            for factor in factors.take_while(fits) {
                let is_whole = |bytes: &f64| {
                    let units = bytes * factor as f64 / unit.bytes() as f64;
                    (units - units.round()).abs() <= 1e-12 * units
                };
                last = Some(factor);
                if counted.iter().all(is_whole) {
                    break;
                }
            }
            if let Some(factor) = last {
                return Ok((unit, factor));
            }
        }
        Err(too_large())
    }
}

/// The least factor, a power of two, with which the remaining latency beside the envelope is at least half of alpha on
/// every link; `None` if there is none.
fn least_factor(links: &[Link]) -> Option<u64> {
    let wanted = |link: &Link| 2.0 * ENVELOPE_BYTES * link.beta / link.alpha;
    let wanted = links.iter().map(wanted).fold(1.0, f64::max);
    (wanted <= LARGEST_COUNT as f64).then(|| (wanted.ceil() as u64).next_power_of_two())
}

/// The unit and the least factor, a power of two, with which the latency that is left beside the
/// envelope is at least half of alpha on every link, and all messages are whole units.
pub(super) fn scale(links: &[Link], sizes: &[u64]) -> Result<(DataUnit, u64), ReplayError> {
    let largest = sizes.iter().copied().max().unwrap_or(0);
    let too_large = |factor| ReplayError::TooLarge { bytes: largest, factor };
    let fits =
        |factor: u64, most: u64| largest.checked_mul(factor).is_some_and(|scaled| scaled <= most);
    let factor = least_factor(links).ok_or_else(|| too_large(LARGEST_COUNT))?;
    if fits(factor, DataUnit::Bytes.most()) {
        return Ok((DataUnit::Bytes, factor));
    }
    let powers_of_two = sizes.iter().map(|bytes| bytes.trailing_zeros()).min().unwrap_or(0);
    let factor = factor.max(8 >> powers_of_two.min(3));
    match fits(factor, DataUnit::Doubles.most()) {
        true => Ok((DataUnit::Doubles, factor)),
        false => Err(too_large(factor)),
    }
}

/// The largest factor, a power of two up to 2^20, with which SMPI counts all messages in bytes; with 16 or
/// more only a message of one byte is less than its envelope.
pub(super) fn scale_apart(sizes: &[u64]) -> Result<u64, ReplayError> {
    let largest = sizes.iter().copied().max().unwrap_or(0);
    let fits =
        |factor: &u64| largest.checked_mul(*factor).is_some_and(|most| most <= LARGEST_COUNT);
    let factors = (4..=20).rev().map(|exponent| 1 << exponent);
    let least = ENVELOPE_BYTES as u64;
    factors.into_iter().find(fits).ok_or(ReplayError::TooLarge { bytes: largest, factor: least })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scaled(alpha: f64, beta: f64, exchange: (f64, f64)) -> (DataUnit, u64, Vec<f64>) {
        let both = |peer: u32, bytes: u32| {
            format!(
                r#"{{"send":{peer},"from":["output",0,{bytes}],"receive":{peer},"into":["output",0,{bytes}],"combine":"right"}}"#
            )
        };
        let text = format!(
            r#"{{"format":"tuwtree-schedule","version":3,"operation":"allreduce","processors":2,"order":"any",
            "ports":1,"vector_bytes":40,"segment_bytes":[0,0],"actions":[
            [{},{{"send":1,"from":["output",0,10]}}],[{},{{"receive":0,"into":["output",0,10]}}]]}}"#,
            both(1, 40),
            both(0, 40)
        );
        let schedule = crate::document::read(text.as_bytes()).unwrap();
        let costs = Homogeneous::new(alpha, beta, 0.0).unwrap();
        let costs = costs.with_exchange(exchange.0, exchange.1).unwrap();
        let exchanges = Exchanges::of(&schedule, Some(&costs)).unwrap().unwrap();
        let (alpha, beta) = (costs.cheapest().alpha(), costs.cheapest().beta());
        let link = Link { sender: 0, receiver: 1, alpha, beta };
        let (unit, factor) = exchanges.scale(&[link], &schedule).unwrap();
        let counts = vec![exchanges.bytes_on_link(10, false), exchanges.bytes_on_link(40, true)];
        (unit, factor, counts)
    }

    #[test]
    fn a_dearer_message_is_as_many_more_bytes_as_make_it_so() {
        // 10 bytes alone; 40 in an exchange take 150 + 60 instead of 100 + 40.
        assert_eq!(scaled(100.0, 1.0, (150.0, 1.5)), (DataUnit::Bytes, 1, vec![10.0, 110.0]));
        // Exchanges that are cheaper: a lone message is 50 bytes more, and each of its bytes counts twice.
        assert_eq!(scaled(100.0, 2.0, (50.0, 1.0)), (DataUnit::Bytes, 1, vec![70.0, 40.0]));
        // A quarter of a byte more: sizes are multiplied by four.
        assert_eq!(scaled(100.0, 4.0, (101.0, 4.0)), (DataUnit::Bytes, 4, vec![10.0, 40.25]));
        // No power of two makes a third of a byte whole: the largest that SMPI counts with.
        let (unit, factor, counts) = scaled(100.0, 3.0, (101.0, 3.0));
        assert_eq!(unit, DataUnit::Bytes);
        assert!(counts[1] * factor as f64 > LARGEST_COUNT as f64 / 2.0, "{factor}");
    }
}
