//! Upper bound on the data received by ports, on a grid of times.
//!
//! A port receives one message after the other. Its data at `t` is its data when the last message began, at `a`, plus
//! that message: no more than the sender had a latency before `a`, and no more than fits into `t - a`. So
//!
//! ```text
//! E(t) = max over messages' kinds k and starts a <= t of
//!            E(a) + min(has_k(a - lambda_k), (t - a - o_k) / beta_k)
//! ```
//!
//! where `has_k` is what a sender can have at most, which other ports decide. Parts of messages count.
//!
//! # The grid
//! Entry `i` of a row is at least the value at `i d`. A start in `[j d, (j + 1) d)` is given the later end
//! of the step for what sender and receiver had, and its earlier end for the time that is left. In the second
//! of the two terms the receiver's part grows during a step by at most `d / beta_min`, which is
//! added as such: of links with `beta_min`, nothing is lost by rounding.
//!
//! For each kind, `has_k` rises with `j` and what fits falls: so starts up to some `j`, which never falls,
//! are counted by the first, and all later ones by the second. Whichever `j` that is, the result is an upper
//! bound.

use std::collections::VecDeque;

/// By how much a row may be too large, so that no rounding makes it too small.
const SLACK: f64 = 1e-12;

/// Least cost of a kind of message, in grid steps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GrowingMessage {
    /// Before this no message starts.
    pub(crate) earliest: f64,
    /// A sender has had its data for so long when its message starts.
    pub(crate) latency: f64,
    pub(crate) overhead: f64,
    pub(crate) per_unit: f64,
    /// Row with the data of the sender.
    pub(crate) from: usize,
}

/// A port: its possible messages, and the time from which it is free.
pub(crate) struct Port {
    free_from: f64,
    kinds: Vec<Kind>,
    /// The least of the kinds' time per unit.
    fastest: f64,
    /// Most data that it may have.
    all: f64,
    /// Entry `i`: how much it can have received by step `i`.
    received: Vec<f64>,
}

/// The starts of a kind of message.
struct Kind {
    message: GrowingMessage,
    /// Starts before this step are counted by what the sender has.
    by_sender: usize,
    /// The most that these bring.
    most: f64,
    /// Starts from there on up to this step wait in the queue.
    queued: usize,
    /// Later starts that may be best: step, and what the port had less the time that had passed.
    queue: VecDeque<(usize, f64)>,
}

impl Port {
    /// A port that is free from a step on, in fractions, and has nothing to receive beyond `all`.
    pub(crate) fn new(free_from: f64, messages: Vec<GrowingMessage>, all: f64) -> Port {
        let fastest = messages.iter().map(|message| message.per_unit).fold(f64::INFINITY, f64::min);
        let kind =
            |message| Kind { message, by_sender: 0, most: 0.0, queued: 0, queue: VecDeque::new() };
        let kinds = messages.into_iter().map(kind).collect();
        Port { free_from, kinds, fastest, all, received: vec![0.0] }
    }

    /// Data received by each grid step.
    pub(crate) fn received(&self) -> &[f64] {
        &self.received
    }

    /// Adds the next step. `rows` are known up to the step before.
    pub(crate) fn advance(&mut self, rows: &[Vec<f64>]) {
        let step = self.received.len();
        let mut most = self.received[step - 1];
        for kind in &mut self.kinds {
            most = most.max(kind.most_by(step, self.free_from, self.fastest, &self.received, rows));
        }
        self.received.push(most.min(self.all));
    }
}

impl Kind {
    /// The most that a port can have by `step`, if its last message is of this kind.
    fn most_by(
        &mut self,
        step: usize,
        free_from: f64,
        fastest: f64,
        received: &[f64],
        rows: &[Vec<f64>],
    ) -> f64 {
        let GrowingMessage { earliest, latency, overhead, per_unit, from } = self.message;
        let overhead = overhead * (1.0 - SLACK);
        let room = |start: usize| (step - start) as f64 - overhead;
        let is_too_early = |start: usize| {
            let end = (start + 1) as f64;
            end <= earliest * (1.0 - SLACK) || end <= free_from * (1.0 - SLACK)
        };
        // What a port had at the start of a step, and what that grows by in it.
        let in_step = (1.0 / fastest - 1.0 / per_unit).max(0.0);
        let had = |start: usize| match fastest > 0.0 {
            true => Some(received[start] + in_step),
            false => received.get(start + 1).copied(),
        };
        while self.by_sender + 1 < step {
            let start = self.by_sender;
            if !is_too_early(start) {
                let then = ((start + 1) as f64 - latency * (1.0 - SLACK)).max(0.0).ceil() as usize;
                let sent = rows[from].get(then).filter(|_| then < step);
                let (Some(sent), Some(had)) = (sent, had(start)) else { break };
                let by_sender = received[start + 1] + sent;
                if room(start) <= 0.0 || by_sender > had + room(start) / per_unit {
                    break;
                }
                self.most = self.most.max(by_sender);
            }
            self.by_sender += 1;
        }
        self.queued = self.queued.max(self.by_sender);
        while self.queued < step && room(self.queued) > 0.0 {
            let start = self.queued;
            if !is_too_early(start) {
                let beyond = match had(start) {
                    Some(had) if per_unit > 0.0 => had - start as f64 / per_unit,
                    _ => f64::INFINITY,
                };
                while self.queue.back().is_some_and(|&(_, other)| other <= beyond) {
                    self.queue.pop_back();
                }
                self.queue.push_back((start, beyond));
            }
            self.queued += 1;
        }
        while self.queue.front().is_some_and(|&(start, _)| start < self.by_sender) {
            self.queue.pop_front();
        }
        match self.queue.front() {
            Some(&(_, beyond)) => self.most.max(beyond + (step as f64 - overhead) / per_unit),
            None => self.most,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a port can have by some steps if all have the same: a byte each at first.
    fn doubled(latency: f64, overhead: f64, per_unit: f64, steps: usize) -> Vec<f64> {
        let message = GrowingMessage { earliest: latency, latency, overhead, per_unit, from: 0 };
        let mut port = Port::new(0.0, vec![message], f64::MAX);
        let mut rows = vec![vec![1.0]];
        for _ in 0..steps {
            port.advance(&rows);
            rows[0].push(1.0 + port.received().last().unwrap());
        }
        rows.swap_remove(0)
    }

    #[test]
    fn ports_that_have_the_same_double_it_with_every_message() {
        let counts = doubled(0.0, 100.0, 1e-3, 1000);
        for (messages, exact) in [(1, 2.0), (2, 4.0), (3, 8.0), (4, 16.0), (5, 32.0)] {
            let at = |percent: usize| counts[messages * percent];
            assert!(at(95) < exact && at(105) >= exact, "{messages}: {} {}", at(95), at(105));
        }
    }

    #[test]
    fn what_takes_no_time_is_there_at_once() {
        assert_eq!(doubled(0.0, 0.0, 0.0, 2), [1.0, f64::MAX, f64::MAX]);
        // By volume alone, a byte a step.
        let counts = doubled(0.0, 0.0, 1.0, 9);
        assert!(counts.iter().enumerate().all(|(step, &count)| count == 1.0 + step as f64));
    }
}
