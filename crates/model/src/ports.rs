//! Number of simultaneous transmissions of a rank.

use crate::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt;
use std::num::NonZeroU16;

/// The number of ports of every rank: how many transmissions and copies it does at once.
///
/// A message holds one port of the sender and one of the receiver from its start to its end, a copy of
/// the own block one port. `docs/ports.md` has the convention.
///
/// # Source
/// OPT section 2.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ports(NonZeroU16);

impl Ports {
    /// One port, as nearly everywhere in the papers.
    pub const ONE: Ports = Ports(NonZeroU16::MIN);

    /// This many ports; `None` for 0.
    pub const fn new(number: u16) -> Option<Ports> {
        match NonZeroU16::new(number) {
            Some(number) => Some(Ports(number)),
            None => None,
        }
    }

    /// The number of ports, at least 1.
    pub const fn get(self) -> u16 {
        self.0.get()
    }
}

impl Default for Ports {
    fn default() -> Ports {
        Ports::ONE
    }
}

impl fmt::Display for Ports {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

/// Times at which the ports of one rank are free.
pub(crate) struct Deal {
    /// The ports that have been used, each with when it is free.
    used: BinaryHeap<Reverse<(Time, u16)>>,
    ports: u16,
    last: Time,
}

impl Deal {
    /// Unused ports.
    pub(crate) fn new(ports: Ports) -> Deal {
        Deal { used: BinaryHeap::new(), ports: ports.get(), last: Time::ZERO }
    }

    /// Makes all ports free from the start.
    pub(crate) fn restart(&mut self) {
        self.used.clear();
        self.last = Time::ZERO;
    }

    /// Takes the port that is free first, of several the one of lowest number, and says from when.
    ///
    /// Unused ports are free from the start. Only ports that were held for no time are equally
    /// good, and such ports have lower numbers.
    pub(crate) fn take(&mut self) -> (Time, u16) {
        // Ports come into use in the order of their numbers, and none is out while another is taken.
        let unused = self.used.len() as u16;
        match self.used.peek() {
            Some(&Reverse((free, _))) if unused == self.ports || free == Time::ZERO => {
                self.used.pop().expect("it was just seen").0
            }
            _ => (Time::ZERO, unused),
        }
    }

    /// Gives a port back that is free again from then on.
    pub(crate) fn give(&mut self, port: u16, free: Time) {
        self.last = self.last.later(free);
        self.used.push(Reverse((free, port)));
    }

    /// Time at which all ports are free.
    pub(crate) fn end(&self) -> Time {
        self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_go_to_the_port_that_is_free_first_and_of_several_to_the_lowest() {
        let mut deal = Deal::new(Ports::new(3).unwrap());
        let mut held = |units| {
            let (free, port) = deal.take();
            deal.give(port, Time::new(free.units() + units).unwrap());
            (free.units(), port)
        };
        assert_eq!(held(0.0), (0.0, 0));
        assert_eq!(held(5.0), (0.0, 0));
        assert_eq!(held(3.0), (0.0, 1));
        assert_eq!(held(5.0), (0.0, 2));
        assert_eq!(held(2.0), (3.0, 1));
        assert_eq!([held(1.0), held(1.0), held(1.0)], [(5.0, 0), (5.0, 1), (5.0, 2)]);
        assert_eq!(deal.end().units(), 6.0);
        deal.restart();
        assert_eq!((deal.end(), deal.take()), (Time::ZERO, (Time::ZERO, 0)));
    }

    #[test]
    fn there_is_at_least_one_port() {
        assert_eq!(Ports::new(0), None);
        assert_eq!((Ports::default(), Ports::ONE.get()), (Ports::ONE, 1));
    }
}
