//! One clock for all processes, and starts at moments on which they agree.
//!
//! Processes leave a barrier at different times, some of them when others have been at work for as long
//! as a gather takes: a time that begins there says little. Here rank 0 plays ping-pong with every
//! other rank; where a round trip is shortest, the other's clock was read in the middle of it. Rank 0 then
//! names a moment a little ahead, and everybody begins at it.
//!
//! Clocks drift apart by some microseconds a second, so that this is repeated, and the drift found
//! between the first and the latest time is counted in.
//!
//! # Source
//! F. Cristian, "Probabilistic clock synchronization", Distributed Computing 3, 1989; for measuring MPI: S.
//! Hunold and A. Carpen-Amarie, "On the impact of synchronizing clocks and processes on benchmarking MPI
//! collectives", EuroMPI 2015.

use std::ffi::c_int;
use std::rc::Rc;
use std::time::{Duration, Instant};
use tuwtree_binding::{Communicator, MpiError};

/// The clock of rank 0, as far as this process can tell.
#[derive(Debug)]
struct SharedClock {
    begin: Instant,
    /// First comparison of clocks: own time, and the lead of rank 0's clock.
    first: Option<(f64, f64)>,
    /// Last comparison, likewise.
    last: (f64, f64),
    /// Difference of the last comparison from its extrapolation.
    surprise: f64,
}

/// Round trips of a comparison.
const ROUND_TRIPS: usize = 10;
/// Seconds between comparisons of clocks.
const SYNCHRONIZED: f64 = 2.0;
/// The tag of all messages here; nobody else's meet them.
const TAG: c_int = 0;

impl SharedClock {
    /// A clock that is not compared yet.
    fn new() -> SharedClock {
        SharedClock { begin: Instant::now(), first: None, last: (0.0, 0.0), surprise: 0.0 }
    }

    fn own(&self) -> f64 {
        self.begin.elapsed().as_secs_f64()
    }

    /// Lead of rank 0's clock at a moment of the own clock.
    fn ahead(&self, own: f64) -> f64 {
        let (last, now) = self.last;
        let (first, then) = self.first.unwrap_or(self.last);
        let drift = if last - first > SYNCHRONIZED { (now - then) / (last - first) } else { 0.0 };
        now + drift * (own - last)
    }

    /// Seconds on the clock of rank 0.
    fn now(&self) -> f64 {
        let own = self.own();
        own + self.ahead(own)
    }

    /// Compares clocks. Collective.
    fn synchronize(&mut self, communicator: &Communicator) -> Result<(), MpiError> {
        let found = match communicator.rank() {
            0 => {
                for other in 1..communicator.size() {
                    self.ask(communicator, other)?;
                }
                (self.own(), 0.0)
            }
            _ => self.answer(communicator)?,
        };
        match self.first {
            None => self.first = Some(found),
            Some(_) => self.surprise = (self.ahead(found.0) - found.1).abs(),
        }
        self.last = found;
        Ok(())
    }

    /// Rank 0's side: sends and receives, and says at the end which answer came back soonest, and what its
    /// own clock showed half-way.
    fn ask(&self, communicator: &Communicator, other: usize) -> Result<(), MpiError> {
        let mut best = (f64::INFINITY, 0, 0.0);
        let mut nothing = [0];
        for turn in 0..ROUND_TRIPS {
            let sent = self.own();
            communicator.send(&nothing, other, TAG)?;
            communicator.receive(&mut nothing, other, TAG)?;
            let back = self.own();
            if back - sent < best.0 {
                best = (back - sent, turn, sent.midpoint(back));
            }
        }
        let (_, turn, middle) = best;
        let mut told = [0; 16];
        told[..8].copy_from_slice(&(turn as u64).to_ne_bytes());
        told[8..].copy_from_slice(&middle.to_ne_bytes());
        communicator.send(&told, other, TAG)
    }

    /// Answers rank 0's round trips: returns a moment of the own clock, and the lead of rank 0's.
    fn answer(&self, communicator: &Communicator) -> Result<(f64, f64), MpiError> {
        let mut read = [0.0; ROUND_TRIPS];
        let mut nothing = [0];
        for moment in &mut read {
            communicator.receive(&mut nothing, 0, TAG)?;
            *moment = self.own();
            communicator.send(&nothing, 0, TAG)?;
        }
        let mut told = [0; 16];
        communicator.receive(&mut told, 0, TAG)?;
        let (turn, middle) = told.split_at(8);
        let turn = u64::from_ne_bytes(turn.try_into().expect("8 bytes")) as usize;
        let middle = f64::from_ne_bytes(middle.try_into().expect("8 bytes"));
        Ok((read[turn], middle - read[turn]))
    }

    /// Sleeps while there is time, then watches the clock, letting others run: where processes share a
    /// core, all of them have then woken up in time.
    fn wait_until(&self, moment: f64) {
        const WATCHED: f64 = 1e-3;
        if moment - self.now() > 1.5 * WATCHED {
            self.sleep_until(moment - WATCHED);
        }
        while self.now() < moment {
            std::thread::yield_now();
        }
    }

    fn sleep_until(&self, moment: f64) {
        if let Ok(left) = Duration::try_from_secs_f64(moment - self.now()) {
            std::thread::sleep(left);
        }
    }
}

/// Common starts of all processes. Equal at all processes, except for the clock.
#[derive(Debug)]
pub struct Starts {
    communicator: Rc<Communicator>,
    clock: SharedClock,
    /// Lead of a named moment: longer after it passed before some process was told, then shorter and shorter.
    lead: f64,
    least_lead: f64,
}

/// Duration of an act that all processes began at one moment. Equal at all processes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// From that moment until the last process was done; above 0.
    pub seconds: f64,
    /// Delay of the last process's beginning after that moment.
    pub late: f64,
}

impl Span {
    /// True if a process began so late that the time says little: by a twentieth of it.
    pub fn is_late(&self) -> bool {
        self.late > 0.05 * self.seconds
    }
}

impl Starts {
    /// The furthest ahead that a moment is named as a rule, in seconds.
    const MOST_LEAD: f64 = 0.1;
    /// The longest that anybody keeps quiet, in seconds.
    const MOST_QUIET: f64 = 10.0;

    /// Clocks that have been compared. Collective.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn new(communicator: &Rc<Communicator>) -> Result<Starts, MpiError> {
        let communicator = Rc::clone(communicator);
        // Opens connections.
        communicator.told_number(0, 0)?;
        communicator.greatest(&[0.0])?;
        let mut starts =
            Starts { communicator, clock: SharedClock::new(), lead: 0.0, least_lead: 0.0 };
        starts.clock.synchronize(&starts.communicator)?;
        let mut seconds = f64::INFINITY;
        for _ in 0..3 {
            starts.communicator.barrier()?;
            let begin = Instant::now();
            starts.communicator.told_number(0, 0)?;
            let own = begin.elapsed().as_secs_f64();
            seconds = seconds.min(starts.communicator.greatest(&[own])?[0]);
        }
        starts.least_lead = (2.0 * seconds + 1e-3).min(Starts::MOST_LEAD);
        starts.lead = starts.least_lead;
        Ok(starts)
    }

    /// Duration of a call that all processes begin at one moment, about `expected` seconds long: a process that is done
    /// earlier sends nothing until then, as it would disturb the others. Collective.
    ///
    /// # Errors
    /// What the call returns; what MPI returns.
    pub fn timed<E: From<MpiError>>(
        &mut self,
        expected: f64,
        call: impl FnOnce() -> Result<(), E>,
    ) -> Result<Span, E> {
        self.timed_late(expected, 0.0, call).map(|(span, _)| span)
    }

    /// Like [`timed`](Self::timed), with this process beginning later by this many seconds, in which it calls nothing
    /// of MPI; also returns the end at this process after the common start. Collective.
    ///
    /// # Errors
    /// As [`timed`](Self::timed).
    pub fn timed_late<E: From<MpiError>>(
        &mut self,
        expected: f64,
        delay: f64,
        call: impl FnOnce() -> Result<(), E>,
    ) -> Result<(Span, f64), E> {
        let start = self.agree()?;
        let told = self.clock.now() - start;
        self.clock.wait_until(start);
        let late = self.clock.now() - start;
        self.clock.wait_until(start + delay);
        call()?;
        let seconds = self.clock.now() - start;
        self.clock.sleep_until(start + expected.min(Starts::MOST_QUIET));
        let greatest = self.communicator.greatest(&[seconds.max(1e-9), late, told])?;
        self.lead = match greatest[2] > 0.0 {
            true => 2.0 * self.least_lead,
            false => (0.9 * self.lead).max(self.least_lead),
        };
        Ok((Span { seconds: greatest[0], late: greatest[1] }, seconds))
    }

    /// A moment on rank 0's clock, a little ahead. Collective.
    fn agree(&mut self) -> Result<f64, MpiError> {
        loop {
            let is_stale = self.clock.own() - self.clock.last.0 > SYNCHRONIZED;
            let named = if is_stale { f64::NAN } else { self.clock.now() + self.lead };
            let start = f64::from_bits(self.communicator.told_number(named.to_bits(), 0)?);
            if !start.is_nan() {
                return Ok(start);
            }
            self.clock.synchronize(&self.communicator)?;
        }
    }

    /// Largest difference of a clock from its extrapolation at the last comparison; 0 after a single comparison.
    /// Collective.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn surprise(&self) -> Result<f64, MpiError> {
        Ok(self.communicator.greatest(&[self.clock.surprise])?[0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drift_is_counted_in_once_it_can_be_told() {
        let mut clock = SharedClock::new();
        (clock.first, clock.last) = (Some((1.0, 0.5)), (1.5, 0.6));
        assert_eq!(clock.ahead(9.0), 0.6);
        clock.last = (11.0, 0.6);
        assert!((clock.ahead(21.0) - 0.7).abs() < 1e-12);
    }

    #[test]
    fn nobody_begins_before_the_moment() {
        let clock = SharedClock::new();
        let moment = clock.now() + 1e-3;
        clock.wait_until(moment);
        assert!(clock.now() >= moment);
    }

    #[test]
    fn a_start_is_late_by_a_twentieth_of_the_time() {
        assert!(!Span { seconds: 1.0, late: 0.05 }.is_late());
        assert!(Span { seconds: 1.0, late: 0.06 }.is_late());
    }
}
