//! Messages of exchanges: one of their ends is an action that both sends and receives.
//!
//! Costs may charge them otherwise than lone messages; which format can say so, the formats themselves know.

use crate::action::{Action, Deed};
use crate::schedule::Schedule;
use crate::simulate::{Matching, Unmatched};

/// Messages of exchanges in a schedule.
#[derive(Clone, Debug)]
pub struct ExchangedMessages {
    /// For each action of all ranks: true if its send belongs to an exchange, and likewise its
    /// receive.
    of_actions: Vec<(bool, bool)>,
    /// Number of messages of exchanges.
    pub exchanged: usize,
    /// Number of messages.
    pub all: usize,
}

impl ExchangedMessages {
    /// The messages of exchanges of a schedule.
    ///
    /// # Errors
    /// A message with one end only.
    ///
    /// # Complexity
    /// O(n log n) for n actions.
    pub fn new(schedule: &Schedule) -> Result<ExchangedMessages, Unmatched> {
        let programs = schedule.programs();
        let matching = Matching::new(programs)?;
        let is_exchange = |action: Action<'_>| matches!(action.deed, Deed::Exchange(..));
        let exchanges: Vec<bool> =
            (0..programs.len()).map(|index| is_exchange(programs.action(index))).collect();
        let of_end = |own: usize, other: Option<usize>| {
            other.is_some_and(|other| exchanges[own] || exchanges[other])
        };
        let of_actions: Vec<(bool, bool)> = (0..exchanges.len())
            .map(|index| {
                let (receiver, sender) = (matching.receiver_of(index), matching.sender_to(index));
                (of_end(index, receiver), of_end(index, sender))
            })
            .collect();
        let all = (0..exchanges.len()).filter(|&index| matching.receiver_of(index).is_some());
        Ok(ExchangedMessages {
            exchanged: of_actions.iter().filter(|(sent, _)| *sent).count(),
            all: all.count(),
            of_actions,
        })
    }

    /// True if an action's send belongs to an exchange; actions are counted over all ranks.
    pub(super) fn is_sent(&self, action: usize) -> bool {
        self.of_actions[action].0
    }

    /// True if an action's receive belongs to an exchange.
    pub(super) fn is_received(&self, action: usize) -> bool {
        self.of_actions[action].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_with_an_exchange_at_one_end_is_one_of_an_exchange() {
        let text = r#"{"format":"tuwtree-schedule","version":3,"operation":"allreduce","processors":3,"order":"any",
            "ports":1,"vector_bytes":4,"segment_bytes":[0,0,0],"actions":[
            [{"send":1,"from":["output",0,4],"receive":2,"into":["output",0,4],"combine":"right"}],
            [{"receive":0,"into":["output",0,4],"combine":"left"},{"send":2,"from":["output",0,4]}],
            [{"send":0,"from":["output",0,4]},{"receive":1,"into":["output",0,4]}]]}"#;
        let schedule = crate::document::read(text.as_bytes()).unwrap();
        let messages = ExchangedMessages::new(&schedule).unwrap();
        assert_eq!((messages.exchanged, messages.all), (2, 3));
        assert!(messages.is_sent(0) && messages.is_received(0));
        assert!(messages.is_received(1) && !messages.is_sent(2));
        assert!(messages.is_sent(3) && !messages.is_received(4));
    }
}
